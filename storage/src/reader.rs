//! Typed reads of one state of the database: a snapshot, or a transaction's own state.
//!
//! It never writes, waits for no writer, and gives damage back as an error.

mod edges;
mod numbers;
mod packed;
mod part;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::adjacency;
use crate::catalog::Catalog;
use crate::commit::Counters;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Edge, FactId, Interval, LabelId, NodeId, NodeRecord, SystemScope, Time, VersionRecord,
};
use crate::kept::{KeptNode, KeptReads, KeptVector};
use crate::key;
use crate::meter::Meter;
use crate::pack::{self, InOrder, Pack, VisitVersion};
use crate::record;
use crate::view::View;
pub(crate) use edges::{edge_of, families_of};
pub use part::EdgeMark;

/// The key of the embedding model's identity in `meta`.
pub(crate) const MODEL: &[u8] = b"model";

/// Typed reads; cheap to copy.
#[derive(Clone, Copy)]
pub struct Reader<'r> {
    view: View<'r>,
    catalog: &'r Arc<Catalog>,
    now: Time,
    /// What was read lately of the committed states; none where the disk itself is to be read.
    kept: Option<&'r KeptReads>,
}

/// Called with the number, the key and the bytes of each version of a fact.
type VisitNumbered<'v> = &'v mut dyn FnMut(u32, &[u8], &[u8]) -> Result<()>;

impl<'r> Reader<'r> {
    pub(crate) fn new(view: View<'r>, catalog: &'r Arc<Catalog>, now: Time) -> Self {
        Self { view, catalog, now, kept: None }
    }

    /// The same reads, through what was read lately.
    pub(crate) fn keeping(self, kept: &'r KeptReads) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// The same reads; what they cost is counted, and the meter's gate may end them with
    /// [`StorageError::Stopped`].
    pub fn metered(self, meter: &'r Meter) -> Self {
        Self { view: self.view.metered(meter), ..self }
    }

    /// Asks the gate of its meter, if it has one: for who waits for something else than a read.
    ///
    /// # Errors
    ///
    /// [`StorageError::Stopped`] if no more may be read.
    pub fn in_time(&self) -> Result<()> {
        self.view.in_time()
    }

    /// Names and rules.
    pub fn catalog(&self) -> &'r Catalog {
        self.catalog
    }

    /// The same, to be held on to: as long as it is the same one, so are all names and rules.
    pub fn shared_catalog(&self) -> &'r Arc<Catalog> {
        self.catalog
    }

    /// The instant that this state is told as; what is written while it begins may be held with an instant after it.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The instant of the last commit that this state holds. It holds every earlier one too, and
    /// may be told an instant that is earlier or later than this.
    pub fn last_commit(&self) -> Result<Time> {
        Ok(Counters::read(self.view)?.clock)
    }

    /// How many nodes were ever made.
    pub fn nodes_made(&self) -> Result<u64> {
        Ok(Counters::read(self.view)?.next_node)
    }

    /// Whether any fact was ever stored.
    pub(crate) fn has_facts(&self) -> Result<bool> {
        Ok(Counters::read(self.view)?.next_fact > 0)
    }

    /// Whether it is that of a transaction with changes of its own.
    pub fn has_changes(&self) -> bool {
        self.view.has_changes()
    }

    /// The node with that label and key or alias.
    pub fn find_node(&self, label: LabelId, key: &str) -> Result<Option<NodeId>> {
        let key = key::node_key(label, key);
        let kept = self.kept.filter(|_| !self.view.changes(Family::NodeKeys, &key));
        if let Some(node) = kept.and_then(|kept| kept.name(&key, self.now)) {
            self.view.count_look_up(key.len() + NODE_KEY_VALUE)?;
            return Ok(Some(node));
        }
        let Some(value) = self.view.get(Family::NodeKeys, &key)? else { return Ok(None) };
        let node = node_of(Family::NodeKeys, &key, &value)?;
        if let Some(kept) = kept {
            kept.keep_name(key, self.now, node);
        }
        Ok(Some(node))
    }

    /// The node with a label of that name and that key or alias.
    pub fn find(&self, label: &str, key: &str) -> Result<Option<NodeId>> {
        match self.catalog().label(label) {
            Some(label) => self.find_node(label, key),
            None => Ok(None),
        }
    }

    /// The nodes with those labels and keys or aliases, many at once. They are not kept for later reads,
    /// unlike that of [`Self::find_node`].
    pub fn find_nodes(&self, names: &[(LabelId, &str)]) -> Result<Vec<Option<NodeId>>> {
        let keys: Vec<_> = names.iter().map(|(label, key)| key::node_key(*label, key)).collect();
        let values = self.view.get_all(Family::NodeKeys, &keys)?;
        let node = |(key, value): (&Vec<u8>, Option<Vec<u8>>)| {
            value.map(|value| node_of(Family::NodeKeys, key, &value)).transpose()
        };
        keys.iter().zip(values).map(node).collect()
    }

    /// A node as it stands in the scope; none if it did not exist. With [`SystemScope::All`] as it is now, or was last.
    pub fn node(&self, node: NodeId, system: SystemScope) -> Result<Option<Arc<NodeRecord>>> {
        let Some(current) = self.node_now(node)? else {
            return Ok(self.ended_node(node, system)?.map(Arc::new));
        };
        match system {
            SystemScope::AsOf(time) if time < current.created => Ok(None),
            SystemScope::AsOf(time) if time < current.system_from => {
                Ok(self.past_node(node, time)?.map(Arc::new))
            }
            _ => Ok(Some(current)),
        }
    }

    fn node_now(&self, node: NodeId) -> Result<Option<Arc<NodeRecord>>> {
        let key = key::node(node);
        let reads = self.kept.filter(|_| !self.view.changes(Family::Nodes, &key));
        if let Some(kept) = reads.and_then(|kept| kept.node(node, self.now)) {
            self.view.count_look_up(key.len() + kept.bytes)?;
            return Ok(Some(kept.record));
        }
        let Some((record, bytes)) = self.stored_node(node)? else { return Ok(None) };
        let record = Arc::new(record);
        if let Some(kept) = reads {
            let record = Arc::clone(&record);
            kept.keep_node(node, self.now, KeptNode { record, bytes });
        }
        Ok(Some(record))
    }

    /// A node from the disk, and how long it is there.
    fn stored_node(&self, node: NodeId) -> Result<Option<(NodeRecord, usize)>> {
        let key = key::node(node);
        let Some(bytes) = self.view.get(Family::Nodes, &key)? else { return Ok(None) };
        Ok(Some((record::decode(Family::Nodes, &key, &bytes)?, bytes.len())))
    }

    /// A node that something leads to.
    pub(crate) fn current_node(&self, node: NodeId) -> Result<Arc<NodeRecord>> {
        self.node(node, SystemScope::Current)?.ok_or_else(|| {
            StorageError::corrupt(Family::Nodes.name(), &key::node(node), "a key leads nowhere")
        })
    }

    pub(crate) fn past_node(&self, node: NodeId, time: Time) -> Result<Option<NodeRecord>> {
        let mut found = None;
        let from = key::node_past(node, time.saturating_add(1));
        let to = key::after_prefix(&key::node(node));
        self.view.scan(Family::NodesPast, &from, to.as_deref(), &mut |key, value| {
            found = Some(record::decode(Family::NodesPast, key, value)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Calls `visit` on every node of a label in order of its key, from after `after`, until it
    /// breaks. Aliases are left out.
    pub fn nodes_of_label(
        &self,
        label: LabelId,
        after: Option<&str>,
        visit: &mut dyn FnMut(&str, NodeId) -> ControlFlow<()>,
    ) -> Result<()> {
        let prefix = key::node_key(label, after.unwrap_or_default());
        let from = if after.is_some() { [&prefix[..], &[0]].concat() } else { prefix };
        let to = key::after_prefix(&label.0.to_be_bytes());
        self.view.scan(Family::NodeKeys, &from, to.as_deref(), &mut |key, value| {
            if is_alias(value) {
                return Ok(ControlFlow::Continue(()));
            }
            let node = node_of(Family::NodeKeys, key, value)?;
            let name = std::str::from_utf8(&key[4..])
                .map_err(|_| StorageError::corrupt(Family::NodeKeys.name(), key, "no text"))?;
            Ok(visit(name, node))
        })
    }

    /// The first nodes of a label in order of their keys, `most` at most. Aliases are left out.
    pub fn first_of_label(&self, label: LabelId, most: usize) -> Result<Vec<NodeId>> {
        let mut nodes = Vec::new();
        if most == 0 {
            return Ok(nodes);
        }
        self.nodes_of_label(label, None, &mut |_, node| {
            nodes.push(node);
            if nodes.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(nodes)
    }

    /// All nodes of a label in order of their keys. Aliases are left out.
    pub fn all_of_label(&self, label: LabelId) -> Result<Vec<NodeId>> {
        self.first_of_label(label, usize::MAX)
    }

    /// The full record of a version.
    pub fn version(&self, fact: FactId, version: u32) -> Result<VersionRecord> {
        self.find_version(fact, version)?.ok_or_else(|| {
            let key = key::version(fact, version);
            StorageError::corrupt(Family::Versions.name(), &key, "an edge has no version")
        })
    }

    /// The full record of a version; none if there is no such version.
    pub(crate) fn find_version(&self, fact: FactId, number: u32) -> Result<Option<VersionRecord>> {
        let key = key::version(fact, number);
        match self.view.get(Family::Versions, &key)? {
            Some(bytes) => record::decode(Family::Versions, &key, &bytes).map(Some),
            None if number == 0 => self.packed_version(fact),
            None => Ok(None),
        }
    }

    /// The first versions in a pack, by their facts, of those that have not left it; none without one.
    pub(crate) fn packed_versions(&self, fact: FactId) -> Result<Vec<(FactId, VersionRecord)>> {
        match self.pack_bytes(fact)? {
            Some((key, bytes)) => Pack::decode(&key, &bytes)?.versions().collect(),
            None => Ok(Vec::new()),
        }
    }

    /// The pack that a fact is in or was, or would be, with its key; none without one.
    pub(crate) fn pack_bytes(&self, fact: FactId) -> Result<Option<(pack::Key, Vec<u8>)>> {
        let (key, _) = pack::place_of(fact);
        Ok(self.view.get(Family::Versions, &key)?.map(|bytes| (key, bytes)))
    }

    /// The edges of some facts of one pack by their head, with their keys by that, the last one first.
    pub(crate) fn packed_edges(&self, facts: &Range<u64>) -> Result<Vec<(adjacency::Key, Edge)>> {
        match self.pack_bytes(FactId(facts.start))? {
            Some((key, bytes)) => Pack::decode(&key, &bytes)?.edges(facts, &[], None),
            None => Ok(Vec::new()),
        }
    }

    /// The first version of a fact that has no record of its own; none if there is no such version.
    pub(crate) fn packed_version(&self, fact: FactId) -> Result<Option<VersionRecord>> {
        let (_, place) = pack::place_of(fact);
        match self.pack_bytes(fact)? {
            Some((key, bytes)) => Pack::decode(&key, &bytes)?.version(place),
            None => Ok(None),
        }
    }

    /// The newest version of a fact; none if there is no such fact.
    pub fn last_version(&self, fact: FactId) -> Result<Option<(u32, VersionRecord)>> {
        let mut last: Option<(u32, Vec<u8>)> = None;
        self.each_version(fact, &mut |number, _, value| {
            let (held, bytes) = last.get_or_insert_default();
            *held = number;
            bytes.clear();
            bytes.extend_from_slice(value);
            Ok(())
        })?;
        Ok(match last {
            Some((number, bytes)) => {
                let key = key::version(fact, number);
                Some((number, record::decode(Family::Versions, &key, &bytes)?))
            }
            None => self.packed_version(fact)?.map(|version| (0, version)),
        })
    }

    /// Calls `visit` on the number, the key and the bytes of every version of a fact that is in no pack, the oldest first.
    fn each_version(&self, fact: FactId, visit: VisitNumbered<'_>) -> Result<()> {
        // Behind the key of its pack, if it is the first there.
        let from = key::version(fact, 0);
        let end = key::after_prefix(&from[..8]);
        self.view.scan(Family::Versions, &from, end.as_deref(), &mut |key, value| {
            let (_, number) = key::version_from(key)
                .ok_or_else(|| StorageError::corrupt(Family::Versions.name(), key, "no version"))?;
            visit(number, key, value)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// All versions of a fact with their numbers, the oldest first.
    pub fn versions(&self, fact: FactId) -> Result<Vec<(u32, VersionRecord)>> {
        let mut versions = Vec::new();
        self.each_version(fact, &mut |number, key, value| {
            versions.push((number, record::decode(Family::Versions, key, value)?));
            Ok(())
        })?;
        if versions.first().is_none_or(|(number, _)| *number > 0)
            && let Some(version) = self.packed_version(fact)?
        {
            versions.insert(0, (0, version));
        }
        Ok(versions)
    }

    /// Calls `visit` on every version of every fact in order, until it breaks.
    pub(crate) fn all_versions(&self, visit: VisitVersion<'_>) -> Result<()> {
        let (mut versions, mut stopped) = (InOrder::default(), false);
        self.view.scan(Family::Versions, &[], None, &mut |key, value| {
            let flow = versions.next(key, value, visit)?;
            stopped = flow.is_break();
            Ok(flow)
        })?;
        if stopped { Ok(()) } else { versions.finish(visit) }
    }

    /// The identity of the model that made the embeddings; none before the first one.
    ///
    /// # Errors
    ///
    /// [`StorageError::Unfinished`] if another model is making them anew, so that some are by one
    /// and some by the other.
    pub fn model(&self) -> Result<Option<String>> {
        if let Some(renewal) = self.renewal()? {
            return Err(StorageError::Unfinished(renewal.model));
        }
        self.former_model()
    }

    /// The embedding of a node as it stands in the scope; that of now for `SystemScope::All`.
    pub fn vector(
        &self,
        label: LabelId,
        node: NodeId,
        system: SystemScope,
    ) -> Result<Option<Arc<[f32]>>> {
        let current = self.current_vector(label, node)?;
        let SystemScope::AsOf(time) = system else { return Ok(current.map(|kept| kept.vector)) };
        if let Some(kept) = current.filter(|kept| kept.system_from <= time) {
            return Ok(Some(kept.vector));
        }
        let mut found = None;
        let from = key::vector_past(label, node, time.saturating_add(1));
        let to = key::after_prefix(&key::vector(label, node));
        self.view.scan(Family::VectorsPast, &from, to.as_deref(), &mut |key, value| {
            let mut vector = Vec::new();
            let (_, system_from) = vector_of(Family::VectorsPast, key, value, &mut vector)?;
            found = (system_from <= time).then(|| Arc::from(vector));
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The embedding of a node as it is now, and since when.
    pub(crate) fn current_vector(
        &self,
        label: LabelId,
        node: NodeId,
    ) -> Result<Option<KeptVector>> {
        let key = key::vector(label, node);
        let reads = self.kept.filter(|_| !self.view.changes(Family::Vectors, &key));
        if let Some(kept) = reads.and_then(|kept| kept.vector(node, self.now)) {
            self.view.count_look_up(key.len() + kept.bytes)?;
            return Ok(Some(kept));
        }
        let Some(bytes) = self.view.get(Family::Vectors, &key)? else { return Ok(None) };
        let mut vector = Vec::new();
        let (_, system_from) = vector_of(Family::Vectors, &key, &bytes, &mut vector)?;
        let read = KeptVector { system_from, vector: Arc::from(vector), bytes: bytes.len() };
        if let Some(kept) = reads {
            kept.keep_vector(node, self.now, read.clone());
        }
        Ok(Some(read))
    }

    /// Calls `visit` on the embedding of every node of a label, or of all nodes, as it was at an
    /// instant or as it is now. With `SystemScope::All` that is now.
    pub fn vectors(
        &self,
        label: Option<LabelId>,
        system: SystemScope,
        visit: &mut dyn FnMut(NodeId, &[f32]),
    ) -> Result<()> {
        let past = match system {
            SystemScope::AsOf(time) => Some(time),
            SystemScope::Current | SystemScope::All => None,
        };
        let prefix = label.map_or(Vec::new(), |label| label.0.to_be_bytes().to_vec());
        let mut vector = Vec::new();
        self.view.scan_prefix(Family::Vectors, &prefix, &mut |key, value| {
            let (node, system_from) = vector_of(Family::Vectors, key, value, &mut vector)?;
            if past.is_none_or(|time| system_from <= time) {
                visit(node, &vector);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let Some(time) = past else { return Ok(()) };
        self.view.scan_prefix(Family::VectorsPast, &prefix, &mut |key, value| {
            let (node, system_from) = vector_of(Family::VectorsPast, key, value, &mut vector)?;
            let system_to = key.last_chunk().map_or(Interval::MIN, |end| key::time_from(*end));
            if system_from <= time && time < system_to {
                visit(node, &vector);
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The state that was there before the open transaction changed it.
    pub fn committed(self) -> Self {
        Self { view: self.view.committed(), ..self }
    }

    pub(crate) fn view(&self) -> View<'r> {
        self.view
    }
}

/// The node of an embedding and since when it stands; `vector` becomes the embedding.
pub(crate) fn vector_of(
    family: Family,
    key: &[u8],
    value: &[u8],
    vector: &mut Vec<f32>,
) -> Result<(NodeId, Time)> {
    let node = key.get(4..12).and_then(<[u8]>::first_chunk);
    match (node, record::decode_vector(value, vector)) {
        (Some(node), Some(system_from)) => Ok((NodeId(u64::from_be_bytes(*node)), system_from)),
        _ => Err(StorageError::corrupt(family.name(), key, "no vector")),
    }
}

/// Bytes of a value in `node_keys`.
const NODE_KEY_VALUE: usize = 9;
/// The last byte of a value in `node_keys`.
pub(crate) const KEY: u8 = 0;
/// See [`KEY`].
pub(crate) const ALIAS: u8 = 1;

pub(crate) fn is_alias(value: &[u8]) -> bool {
    value.last() == Some(&ALIAS)
}

pub(crate) fn node_of(family: Family, key: &[u8], value: &[u8]) -> Result<NodeId> {
    match value.split_first_chunk() {
        Some((node, [KEY | ALIAS])) => Ok(NodeId(u64::from_be_bytes(*node))),
        _ => Err(StorageError::corrupt(family.name(), key, "no node id")),
    }
}

#[cfg(test)]
mod tests;
