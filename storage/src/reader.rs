//! Typed reads of one state of the database: a snapshot, or a transaction's own state.
//!
//! It never writes, never blocks, and gives damage back as an error.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::commit::Counters;
use crate::error::{Result, StorageError};
use crate::facts::places;
use crate::families::Family;
use crate::graph::{
    Edge, EdgeFilter, FactId, Interval, LabelId, NodeId, NodeRecord, RelationId, Side, SystemScope,
    Time, ValidScope, VersionRecord,
};
use crate::key::{self, Adjacency};
use crate::meter::Meter;
use crate::overlay::View;
use crate::record;

/// The key of the embedding model's identity in `meta`.
pub(crate) const MODEL: &[u8] = b"model";

/// Called with each version of a scan, until it breaks.
type VisitVersion<'v> = &'v mut dyn FnMut(FactId, u32, VersionRecord) -> Result<ControlFlow<()>>;

/// Called with each key of an adjacency family and its edge, until it breaks.
type VisitEdge<'v> = &'v mut dyn FnMut(&[u8], Edge) -> Result<ControlFlow<()>>;

/// Typed reads; cheap to copy.
#[derive(Clone, Copy)]
pub struct Reader<'r> {
    view: View<'r>,
    catalog: &'r Arc<Catalog>,
    now: Time,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(view: View<'r>, catalog: &'r Arc<Catalog>, now: Time) -> Self {
        Self { view, catalog, now }
    }

    /// The same reads; what they cost is counted, and the meter's gate may end them with
    /// [`StorageError::Stopped`].
    pub fn metered(self, meter: &'r Meter) -> Self {
        Self { view: self.view.metered(meter), ..self }
    }

    /// Names and rules.
    pub fn catalog(&self) -> &'r Catalog {
        self.catalog
    }

    /// The same, to be held on to: as long as it is the same one, so are all names and rules.
    pub fn shared_catalog(&self) -> &'r Arc<Catalog> {
        self.catalog
    }

    /// The instant of this state: at or behind every commit that it holds.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The instant of the last commit that this state holds. It holds every earlier one too, and
    /// may be told an instant that is earlier or later than this.
    pub fn last_commit(&self) -> Result<Time> {
        Ok(Counters::read(self.view)?.clock)
    }

    /// Whether it is that of a transaction with changes of its own.
    pub fn has_changes(&self) -> bool {
        self.view.has_changes()
    }

    /// The node with that label and key or alias.
    pub fn find_node(&self, label: LabelId, key: &str) -> Result<Option<NodeId>> {
        let key = key::node_key(label, key);
        match self.view.get(Family::NodeKeys, &key)? {
            Some(value) => node_of(Family::NodeKeys, &key, &value).map(Some),
            None => Ok(None),
        }
    }

    /// A node as it stands in the scope; none if it did not exist.
    pub fn node(&self, node: NodeId, system: SystemScope) -> Result<Option<NodeRecord>> {
        let key = key::node(node);
        let Some(bytes) = self.view.get(Family::Nodes, &key)? else { return Ok(None) };
        let current: NodeRecord = record::decode(Family::Nodes, &key, &bytes)?;
        match system {
            SystemScope::AsOf(time) if time < current.created => Ok(None),
            SystemScope::AsOf(time) if time < current.system_from => self.past_node(node, time),
            _ => Ok(Some(current)),
        }
    }

    /// A node that something leads to.
    pub(crate) fn current_node(&self, node: NodeId) -> Result<NodeRecord> {
        self.node(node, SystemScope::Current)?.ok_or_else(|| {
            StorageError::corrupt(Family::Nodes.name(), &key::node(node), "a key leads nowhere")
        })
    }

    fn past_node(&self, node: NodeId, time: Time) -> Result<Option<NodeRecord>> {
        let mut found = None;
        let from = key::node_past(node, time.saturating_add(1));
        let to = key::after_prefix(&key::node(node));
        self.view.scan(Family::NodesPast, &from, to.as_deref(), &mut |key, value| {
            found = Some(record::decode(Family::NodesPast, key, value)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Calls `visit` on every node of a label in order of its key, from behind `after`, until it
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

    /// Calls `visit` on every edge of a node on one side that the filter keeps, in order of
    /// relation and valid_from, until it breaks. What is no longer believed comes behind what is.
    pub fn edges(
        &self,
        near: NodeId,
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<()> {
        self.edges_after(near, side, relation, filter, None, visit)
    }

    /// Goes on with [`Self::edges`] behind the edge of `after`, wherever it was left; nothing is
    /// held in between, and what was passed is not read again.
    pub fn edges_after(
        &self,
        near: NodeId,
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
        after: Option<&EdgeMark>,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<()> {
        let prefix = key::adjacency_prefix(near, relation);
        let to = edges_end(&prefix, relation, filter.valid);
        let (current, past) = families_of(side);
        let reached = after.map(|mark| mark.family);
        let mut stopped = false;
        for family in [current, past] {
            let passed = family == current && reached == Some(past);
            let skipped = family == past && filter.system == SystemScope::Current;
            if stopped || passed || skipped {
                continue;
            }
            let mark = after.filter(|mark| mark.family == family);
            // A mark of another node leads to nothing that is not of this one.
            let from = mark.map_or(Vec::new(), EdgeMark::behind).max(prefix.clone());
            self.scan_edges(family, side, &from, to.as_deref(), filter, &mut |edge| {
                let flow = visit(edge);
                stopped = flow.is_break();
                flow
            })?;
        }
        Ok(())
    }

    /// The relations of the edges of a node on one side that the filter keeps, each once: a seek for
    /// each relation, however many edges it has there.
    pub fn relations(
        &self,
        near: NodeId,
        side: Side,
        filter: &EdgeFilter,
    ) -> Result<BTreeSet<RelationId>> {
        let mut relations = BTreeSet::new();
        let (current, past) = families_of(side);
        let whole = key::adjacency_prefix(near, None);
        let end = key::after_prefix(&whole);
        for family in [current, past] {
            let mut from =
                (family == current || filter.system != SystemScope::Current).then(|| whole.clone());
            while let Some(start) = from.take() {
                let mut first = None;
                self.scan_edges(family, side, &start, end.as_deref(), filter, &mut |edge| {
                    first = Some(edge.relation);
                    ControlFlow::Break(())
                })?;
                let Some(relation) = first else { break };
                relations.insert(relation);
                from = key::after_prefix(&key::adjacency_prefix(near, Some(relation)));
            }
        }
        Ok(relations)
    }

    /// Calls `visit` on every edge of a node and a relation that begins to hold within an interval
    /// and that the filter keeps, the earliest first, until it breaks: what began before is not read.
    pub fn edges_begun(
        &self,
        (near, side, relation): (NodeId, Side, RelationId),
        begun: Interval,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<()> {
        let prefix = key::adjacency_prefix(near, Some(relation));
        let from = [&prefix[..], &key::time(begun.from)].concat();
        let to = match begun.to {
            Interval::MAX => key::after_prefix(&prefix),
            to => Some([&prefix[..], &key::time(to)].concat()),
        };
        let (current, past) = families_of(side);
        let mut stopped = false;
        for family in [current, past] {
            if stopped || (family == past && filter.system == SystemScope::Current) {
                continue;
            }
            self.scan_edges(family, side, &from, to.as_deref(), filter, &mut |edge| {
                let flow = visit(edge);
                stopped = flow.is_break();
                flow
            })?;
        }
        Ok(())
    }

    fn scan_edges(
        &self,
        family: Family,
        side: Side,
        from: &[u8],
        to: Option<&[u8]>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<()> {
        self.view.scan(family, from, to, &mut |key, value| {
            let edge = edge_of(family, side, key, value)?;
            Ok(if filter.keeps(&edge) { visit(edge) } else { ControlFlow::Continue(()) })
        })
    }

    /// The full record of a version.
    pub fn version(&self, fact: FactId, version: u32) -> Result<VersionRecord> {
        let key = key::version(fact, version);
        let bytes = self.view.get(Family::Versions, &key)?.ok_or_else(|| {
            StorageError::corrupt(Family::Versions.name(), &key, "an edge has no version")
        })?;
        record::decode(Family::Versions, &key, &bytes)
    }

    /// The newest version of a fact; none if there is no such fact.
    pub fn last_version(&self, fact: FactId) -> Result<Option<(u32, VersionRecord)>> {
        Ok(self.versions(fact)?.pop())
    }

    /// All versions of a fact with their numbers, the oldest first.
    pub fn versions(&self, fact: FactId) -> Result<Vec<(u32, VersionRecord)>> {
        let prefix = fact.0.to_be_bytes();
        let mut versions = Vec::new();
        self.scan_versions(&prefix, &mut |_, number, version| {
            versions.push((number, version));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(versions)
    }

    /// Calls `visit` on every version of every fact in order, until it breaks.
    pub(crate) fn all_versions(&self, visit: VisitVersion<'_>) -> Result<()> {
        self.scan_versions(&[], visit)
    }

    fn scan_versions(&self, prefix: &[u8], visit: VisitVersion<'_>) -> Result<()> {
        let end = key::after_prefix(prefix);
        self.view.scan(Family::Versions, prefix, end.as_deref(), &mut |key, value| {
            let (fact, number) = key::version_from(key)
                .ok_or_else(|| StorageError::corrupt(Family::Versions.name(), key, "no version"))?;
            visit(fact, number, record::decode(Family::Versions, key, value)?)
        })
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
    ) -> Result<Option<Vec<f32>>> {
        let current = self.current_vector(label, node)?;
        let SystemScope::AsOf(time) = system else { return Ok(current.map(|(_, vector)| vector)) };
        if let Some((_, vector)) = current.filter(|(system_from, _)| *system_from <= time) {
            return Ok(Some(vector));
        }
        let mut found = None;
        let from = key::vector_past(label, node, time.saturating_add(1));
        let to = key::after_prefix(&key::vector(label, node));
        self.view.scan(Family::VectorsPast, &from, to.as_deref(), &mut |key, value| {
            let mut vector = Vec::new();
            let (_, system_from) = vector_of(Family::VectorsPast, key, value, &mut vector)?;
            found = (system_from <= time).then_some(vector);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The embedding of a node as it is now, and since when.
    pub(crate) fn current_vector(
        &self,
        label: LabelId,
        node: NodeId,
    ) -> Result<Option<(Time, Vec<f32>)>> {
        let key = key::vector(label, node);
        let Some(bytes) = self.view.get(Family::Vectors, &key)? else { return Ok(None) };
        let mut vector = Vec::new();
        let (_, system_from) = vector_of(Family::Vectors, &key, &bytes, &mut vector)?;
        Ok(Some((system_from, vector)))
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
        let end = key::after_prefix(&prefix);
        let mut vector = Vec::new();
        self.view.scan(Family::Vectors, &prefix, end.as_deref(), &mut |key, value| {
            let (node, system_from) = vector_of(Family::Vectors, key, value, &mut vector)?;
            if past.is_none_or(|time| system_from <= time) {
                visit(node, &vector);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let Some(time) = past else { return Ok(()) };
        self.view.scan(Family::VectorsPast, &prefix, end.as_deref(), &mut |key, value| {
            let (node, system_from) = vector_of(Family::VectorsPast, key, value, &mut vector)?;
            let system_to = key.last_chunk().map_or(Interval::MIN, |end| key::time_from(*end));
            if system_from <= time && time < system_to {
                visit(node, &vector);
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Calls `visit` on every edge of an adjacency family, in the order of its keys, until it
    /// breaks.
    pub(crate) fn all_edges(&self, family: Family, side: Side, visit: VisitEdge<'_>) -> Result<()> {
        self.view.scan(family, &[], None, &mut |key, value| {
            visit(key, edge_of(family, side, key, value)?)
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

/// Where a read of a node's edges stands, so that it can go on there: see [`Reader::edges_after`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeMark {
    family: Family,
    key: Vec<u8>,
}

impl EdgeMark {
    /// At an edge that was read on that side. If what is believed changes in between, an edge that
    /// was read as believed may be met again as one that was.
    pub fn of(edge: &Edge, side: Side) -> Self {
        let [by_head, by_tail] = places(edge);
        let (family, key) = match side {
            Side::Out => by_head,
            Side::In => by_tail,
        };
        Self { family, key }
    }

    /// The first key behind it.
    fn behind(&self) -> Vec<u8> {
        [&self.key[..], &[0]].concat()
    }
}

/// What is believed, and what was.
pub(crate) fn families_of(side: Side) -> (Family, Family) {
    match side {
        Side::Out => (Family::Out, Family::OutPast),
        Side::In => (Family::In, Family::InPast),
    }
}

pub(crate) fn edge_of(family: Family, side: Side, key: &[u8], value: &[u8]) -> Result<Edge> {
    key.get(..key::ADJACENCY)
        .and_then(Adjacency::decode)
        .and_then(|parts| record::decode_edge(side, &parts, value))
        .ok_or_else(|| StorageError::corrupt(family.name(), key, "no edge"))
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

/// Where a scan ends: with one relation, keys are in order of valid_from, and facts that begin
/// after the time asked for need not be read.
fn edges_end(prefix: &[u8], relation: Option<RelationId>, valid: ValidScope) -> Option<Vec<u8>> {
    let last = match (relation, valid) {
        (Some(_), ValidScope::AsOf(time)) => time.checked_add(1),
        (Some(_), ValidScope::Within(interval)) if interval.to != Interval::MAX => {
            Some(interval.to)
        }
        _ => None,
    };
    match last {
        Some(time) => Some([prefix, &key::time(time)].concat()),
        None => key::after_prefix(prefix),
    }
}

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
