//! Typed reads of one state of the database: a snapshot, or a transaction's own state.
//!
//! It never writes, never blocks, and gives damage back as an error.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::commit::Counters;
use crate::edges::{self, NearEdges};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Edge, EdgeFilter, FactId, Interval, LabelId, NodeId, NodeRecord, PropertyId, RelationId, Side,
    SystemScope, Time, ValidScope, VersionRecord,
};
use crate::kept::{KeptNode, KeptReads, Near};
use crate::key::places;
use crate::key::{self, Adjacency};
use crate::meter::Meter;
use crate::numbers::Numbers;
use crate::record;
use crate::view::View;

/// Who reads on past so many edges of a node will read the others too.
const FEW_EDGES: usize = 256;
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
    /// What was read lately of the committed states; none where the disk itself is to be read.
    kept: Option<&'r KeptReads>,
}

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

    /// A node as it stands in the scope; none if it did not exist.
    pub fn node(&self, node: NodeId, system: SystemScope) -> Result<Option<Arc<NodeRecord>>> {
        let Some(current) = self.node_now(node)? else { return Ok(None) };
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

    /// A list of numbers that a node has now as a property; none if it has no such list.
    pub fn numbers(&self, node: NodeId, property: PropertyId) -> Result<Option<Arc<Numbers>>> {
        let key = key::node(node);
        let reads = self.kept.filter(|_| !self.view.changes(Family::Nodes, &key));
        if let Some(numbers) = reads.and_then(|kept| kept.numbers(node, property, self.now)) {
            self.view.count_look_up(key.len() + numbers.bytes())?;
            return Ok(Some(numbers));
        }
        // The record itself is not kept: whoever multiplies wants nothing else of it.
        let Some((record, _)) = self.stored_node(node)? else { return Ok(None) };
        let Some(numbers) = record.properties.get(&property).and_then(Numbers::of) else {
            return Ok(None);
        };
        let numbers = Arc::new(numbers);
        if let Some(kept) = reads {
            kept.keep_numbers(node, property, self.now, Arc::clone(&numbers));
        }
        Ok(Some(numbers))
    }

    /// A node that something leads to.
    pub(crate) fn current_node(&self, node: NodeId) -> Result<Arc<NodeRecord>> {
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
        let to = last_begin(relation, filter.valid);
        let near = Near { node: near, side, relation };
        let (current, past) = families_of(side);
        let reached = after.map(|mark| mark.family);
        for family in [current, past] {
            let passed = family == current && reached == Some(past);
            let skipped = family == past && filter.system == SystemScope::Current;
            if passed || skipped {
                continue;
            }
            let from = match after.filter(|mark| mark.family == family) {
                Some(mark) => Begin::Behind(mark),
                None => Begin::Start,
            };
            if self.some_edges(family, &Part { near, from, to }, filter, visit)?.is_break() {
                break;
            }
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
        let near = Near { node: near, side, relation: Some(relation) };
        let part = Part {
            near,
            from: Begin::Begun(begun.from),
            to: Some(begun.to).filter(|to| *to != Interval::MAX),
        };
        let (current, past) = families_of(side);
        for family in [current, past] {
            let skipped = family == past && filter.system == SystemScope::Current;
            if !skipped && self.some_edges(family, &part, filter, visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The edges of one family.
    fn some_edges(
        &self,
        family: Family,
        part: &Part<'_>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let is_current = matches!(family, Family::Out | Family::In);
        let prefix = key::adjacency_prefix(part.near.node, None);
        let keeps = is_current && !self.view.changes_within(family, &prefix);
        if let Some(kept) = self.kept.filter(|_| keeps)
            && let Some(flow) = self.kept_edges(kept, family, part, filter, visit)?
        {
            return Ok(flow);
        }
        self.visit_stored(family, part, filter, visit)
    }

    /// The edges of one family by the disk.
    fn visit_stored(
        &self,
        family: Family,
        part: &Part<'_>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut flow = ControlFlow::Continue(());
        let (from, to) = part.keys();
        self.scan_edges(family, part.near.side, &from, to.as_deref(), filter, &mut |edge| {
            flow = visit(edge);
            flow
        })?;
        Ok(flow)
    }

    /// The believed edges by what was read lately, or by the disk so that they are kept. None if
    /// neither will do.
    fn kept_edges(
        &self,
        kept: &KeptReads,
        family: Family,
        part: &Part<'_>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<Option<ControlFlow<()>>> {
        let near = part.near;
        let whole = Near { relation: None, ..near };
        let found = kept
            .edges(&near, self.now)
            .or_else(|| near.relation.and_then(|_| kept.edges(&whole, self.now)));
        let edges = match found {
            Some(edges) => edges,
            // Who asks for the first ones may need no more: they are kept as they are read, if all
            // are read.
            None if matches!(part.from, Begin::Start) => {
                return self.keep_while_read(kept, family, part, filter, visit).map(Some);
            }
            None => return self.keep_if_many(kept, family, part, filter, visit).map(Some),
        };
        if !edges.is_complete() {
            return Ok(None);
        }
        self.visit_kept(&edges, part, filter, visit).map(Some)
    }

    fn visit_kept(
        &self,
        edges: &NearEdges,
        part: &Part<'_>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let places = part.places(edges);
        let mut flow = ControlFlow::Continue(());
        let end = edges.visit(places.clone(), filter, &mut |edge| {
            flow = visit(edge);
            flow
        });
        self.view.count_scan(end.saturating_sub(places.start), edges::KEY_BYTES)?;
        Ok(flow)
    }

    /// Reads edges from the middle on. Who goes on past a few gets all that there are, and they are
    /// kept.
    fn keep_if_many(
        &self,
        kept: &KeptReads,
        family: Family,
        part: &Part<'_>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let near = part.near;
        let (mut few, mut last, mut flow) = (FEW_EDGES, None, ControlFlow::Continue(()));
        let (from, to) = part.keys();
        let everything = &EdgeFilter::EVERYTHING;
        self.scan_edges(family, near.side, &from, to.as_deref(), everything, &mut |edge| {
            if few == 0 {
                return ControlFlow::Break(());
            }
            few -= 1;
            last = Some(edge);
            if filter.keeps(&edge) {
                flow = visit(edge);
            }
            flow
        })?;
        let Some(last) = last.filter(|_| few == 0 && flow.is_continue()) else { return Ok(flow) };
        let mark = EdgeMark::of(&last, near.side);
        let part = Part { near, from: Begin::Behind(&mark), to: part.to };
        let edges = Arc::new(self.read_edges(family, near)?);
        kept.keep_edges(near, self.now, Arc::clone(&edges));
        if edges.is_complete() {
            return self.visit_kept(&edges, &part, filter, visit);
        }
        self.visit_stored(family, &part, filter, visit)
    }

    /// All edges of a node from the disk, for those that come back for more.
    fn read_edges(&self, family: Family, near: Near) -> Result<NearEdges> {
        let mut edges = NearEdges::new(near.node, near.side);
        let prefix = key::adjacency_prefix(near.node, near.relation);
        let to = key::after_prefix(&prefix);
        let all = &EdgeFilter::CURRENT;
        self.scan_edges(family, near.side, &prefix, to.as_deref(), all, &mut |edge| {
            edges.push(&edge)
        })?;
        Ok(edges.finish())
    }

    /// Reads edges from the first on. If none is left out, they are kept; those that begin too late
    /// for the question are read as well then.
    fn keep_while_read(
        &self,
        kept: &KeptReads,
        family: Family,
        part: &Part<'_>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let near = part.near;
        let mut edges = NearEdges::new(near.node, near.side);
        let prefix = key::adjacency_prefix(near.node, near.relation);
        let to = key::after_prefix(&prefix);
        let mut flow = ControlFlow::Continue(());
        let everything = &EdgeFilter::EVERYTHING;
        self.scan_edges(family, near.side, &prefix, to.as_deref(), everything, &mut |edge| {
            let goes_on = edges.push(&edge);
            let asked = part.to.is_none_or(|to| edge.valid.from < to);
            if asked && filter.keeps(&edge) {
                flow = visit(edge);
            }
            if flow.is_break() || (!asked && goes_on.is_break()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if flow.is_continue() {
            kept.keep_edges(near, self.now, Arc::new(edges.finish()));
        }
        Ok(flow)
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

    /// Calls `visit` on every believed edge from that of a node and relation on, in the order of the
    /// keys, until it breaks.
    pub(crate) fn edges_from(
        &self,
        side: Side,
        near: NodeId,
        relation: RelationId,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<()> {
        let family = if side == Side::Out { Family::Out } else { Family::In };
        let from = key::adjacency_prefix(near, Some(relation));
        self.view.scan(family, &from, None, &mut |key, value| {
            Ok(visit(edge_of(family, side, key, value)?))
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

    /// The parts of its key, if it is at an edge that is believed.
    fn place(&self) -> Option<Adjacency> {
        Adjacency::decode(&self.key)
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

/// Some of the edges of a node, in the order of their keys.
struct Part<'m> {
    near: Near,
    from: Begin<'m>,
    /// Edges that begin here or later are left out; only with a relation.
    to: Option<Time>,
}

/// Where a part begins.
enum Begin<'m> {
    Start,
    Behind(&'m EdgeMark),
    /// With those that begin at this instant; only with a relation.
    Begun(Time),
}

impl Part<'_> {
    /// The first key, and the first one behind the last.
    fn keys(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let prefix = key::adjacency_prefix(self.near.node, self.near.relation);
        let from = match self.from {
            Begin::Start => prefix.clone(),
            // A mark of another node leads to nothing that is not of this one.
            Begin::Behind(mark) => mark.behind().max(prefix.clone()),
            Begin::Begun(time) => [&prefix[..], &key::time(time)].concat(),
        };
        let to = match self.to {
            Some(time) => Some([&prefix[..], &key::time(time)].concat()),
            None => key::after_prefix(&prefix),
        };
        (from, to)
    }

    /// The same among edges in memory, which may be those of more relations.
    fn places(&self, edges: &NearEdges) -> Range<usize> {
        let all = match self.near.relation {
            Some(relation) => edges.of_relation(relation),
            None => 0..edges.len(),
        };
        let end = self.to.map_or(all.end, |time| edges.begun(all.clone(), time));
        let start = match self.from {
            Begin::Start => all.start,
            Begin::Behind(mark) => match mark.place() {
                Some(place) if place.near == self.near.node => edges.behind(&place),
                // As by their keys.
                Some(place) if place.near > self.near.node => end,
                _ => all.start,
            },
            Begin::Begun(time) => edges.begun(all.clone(), time),
        };
        start.max(all.start)..end.max(start)
    }
}

/// With one relation, keys are in order of valid_from, and facts that begin after the time asked for
/// need not be read: the first instant of those.
fn last_begin(relation: Option<RelationId>, valid: ValidScope) -> Option<Time> {
    relation?;
    match valid {
        ValidScope::AsOf(time) => time.checked_add(1),
        ValidScope::Within(interval) if interval.to != Interval::MAX => Some(interval.to),
        _ => None,
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
