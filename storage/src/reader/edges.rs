//! The edges of a node: through what was read lately where that will do, and by the disk, so that they
//! are kept.
//!
//! It never keeps what is not committed, nor what is no longer believed.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::Reader;
use super::part::{Begin, EdgeMark, Part, last_begin};
use crate::adjacency;
use crate::edges::{Gathered, Near, NearEdges};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Edge, EdgeFilter, Interval, NodeId, RelationId, Side, SystemScope};
use crate::kept::KeptReads;
use crate::key;

/// Nodes whose facts are asked of the memory at once.
const NODES_AHEAD: usize = 32;
/// Who reads on past so many edges of a node will read the others too.
const FEW_EDGES: usize = 256;
/// Called with each edge that is asked for, until it breaks.
type VisitEdge<'v> = &'v mut dyn FnMut(Edge) -> ControlFlow<()>;

impl Reader<'_> {
    /// Calls `visit` on every edge of a node on one side that the filter keeps, in order of
    /// relation and valid_from, until it breaks. What is no longer believed comes after what is.
    pub fn edges(
        &self,
        near: NodeId,
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
        visit: VisitEdge<'_>,
    ) -> Result<()> {
        self.edges_after(near, side, relation, filter, None, visit)
    }

    /// Calls `visit` on the node at the far end of every edge of these nodes that the filter keeps, in
    /// the order of [`Self::edges`], until it breaks.
    pub fn far_nodes(
        &self,
        nodes: &[NodeId],
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>,
    ) -> Result<()> {
        let (current, _) = families_of(side);
        let kept = self.kept.filter(|_| filter.system == SystemScope::Current);
        for some in nodes.chunks(NODES_AHEAD) {
            let whole = match kept {
                Some(kept) => kept.all_edges(some, side, self.now),
                None => vec![None; some.len()],
            };
            let of = |(node, whole): (&NodeId, Option<NearEdges>)| {
                let near = Near { node: *node, side, relation };
                let kept = kept.filter(|_| !self.changes(current, *node));
                let own = kept.and_then(|kept| kept.edges(&relation.map(|_| near)?, self.now));
                let held = own.or(whole.filter(|_| kept.is_some()));
                (near, held.filter(NearEdges::is_complete))
            };
            let held: Vec<(Near, Option<NearEdges>)> = some.iter().zip(whole).map(of).collect();
            if relation.is_some() {
                NearEdges::touch(held.iter().filter_map(|(_, edges)| edges.as_ref()));
            }
            for (near, edges) in held {
                if self.far_nodes_of(near, edges, filter, visit)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The same of one node, by its edges if they are held.
    fn far_nodes_of(
        &self,
        near: Near,
        held: Option<NearEdges>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let Some(edges) = held else {
            let visit = &mut |edge: Edge| visit(edge.far(near.side));
            return self.each_edge(near, filter, None, visit);
        };
        let (family, _) = families_of(near.side);
        let to = last_begin(near.relation, filter.valid);
        let places = Part { near, family, filter, from: Begin::Start, to }.places(&edges);
        let (end, flow) = edges.visit_far(places.clone(), filter, visit);
        self.view.count_scan(end.saturating_sub(places.start), adjacency::COUNTED)?;
        Ok(flow)
    }

    /// Goes on with [`Self::edges`] after the edge of `after`, wherever it was left; nothing is
    /// held in between, and what was passed is not read again.
    pub fn edges_after(
        &self,
        near: NodeId,
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
        after: Option<&EdgeMark>,
        visit: VisitEdge<'_>,
    ) -> Result<()> {
        self.each_edge(Near { node: near, side, relation }, filter, after, visit).map(drop)
    }

    fn each_edge(
        &self,
        near: Near,
        filter: &EdgeFilter,
        after: Option<&EdgeMark>,
        visit: VisitEdge<'_>,
    ) -> Result<ControlFlow<()>> {
        let to = last_begin(near.relation, filter.valid);
        let passed = |family: &Family| after.is_some_and(|mark| mark.family != *family);
        for family in families_read(near.side, filter).skip_while(passed) {
            let from = match after.filter(|mark| mark.family == family) {
                Some(mark) => Begin::Behind(mark),
                None => Begin::Start,
            };
            if self.some_edges(&Part { near, family, filter, from, to }, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The relations of the edges of a node on one side that the filter keeps, each once: a seek for
    /// each relation, and what it has there up to the first edge that the filter keeps.
    pub fn relations(
        &self,
        near: NodeId,
        side: Side,
        filter: &EdgeFilter,
    ) -> Result<BTreeSet<RelationId>> {
        let mut relations = BTreeSet::new();
        let whole = adjacency::prefix(near, None);
        let end = key::after_prefix(&whole);
        for family in families_read(side, filter) {
            let mut from = Some(whole.clone());
            while let Some(start) = from.take() {
                let mut first = None;
                self.scan_side((family, side), &start, end.as_deref(), &mut |edge| {
                    first = filter.keeps(&edge).then_some(edge.relation);
                    Ok(if first.is_some() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    })
                })?;
                let Some(relation) = first else { break };
                relations.insert(relation);
                from = key::after_prefix(&adjacency::prefix(near, Some(relation)));
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
        visit: VisitEdge<'_>,
    ) -> Result<()> {
        let near = Near { node: near, side, relation: Some(relation) };
        let from = Begin::Begun(begun.from);
        let to = Some(begun.to).filter(|to| *to != Interval::MAX);
        for family in families_read(side, filter) {
            if self.some_edges(&Part { near, family, filter, from, to }, visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn some_edges(&self, part: &Part<'_>, visit: VisitEdge<'_>) -> Result<ControlFlow<()>> {
        let is_current = matches!(part.family, Family::Out | Family::In);
        if let Some(kept) =
            self.kept.filter(|_| is_current && !self.changes(part.family, part.near.node))
            && let Some(flow) = self.kept_edges(kept, part, visit)?
        {
            return Ok(flow);
        }
        self.visit_stored(part, visit)
    }

    /// Whether anything between a node and others is not committed.
    fn changes(&self, family: Family, near: NodeId) -> bool {
        self.view.has_changes() && self.view.changes_within(family, &adjacency::prefix(near, None))
    }

    /// The edges of a part by the disk.
    fn visit_stored(&self, part: &Part<'_>, visit: VisitEdge<'_>) -> Result<ControlFlow<()>> {
        let (from, to) = part.keys();
        let mut flow = ControlFlow::Continue(());
        self.scan_side((part.family, part.near.side), &from, to.as_deref(), &mut |edge| {
            if part.filter.keeps(&edge) {
                flow = visit(edge);
            }
            Ok(flow)
        })?;
        Ok(flow)
    }

    /// The believed edges by what was read lately, or by the disk so that they are kept. None if
    /// neither will do.
    fn kept_edges(
        &self,
        kept: &KeptReads,
        part: &Part<'_>,
        visit: VisitEdge<'_>,
    ) -> Result<Option<ControlFlow<()>>> {
        let edges = match self.held_edges(kept, part.near) {
            Some(edges) => edges,
            // Who asks for the first ones may need no more: they are kept as they are read, if all
            // are read.
            None if matches!(part.from, Begin::Start) => {
                return self.keep_while_read(kept, part, visit).map(Some);
            }
            None => return self.keep_if_many(kept, part, visit).map(Some),
        };
        if !edges.is_complete() {
            return Ok(None);
        }
        self.visit_kept(&edges, part, visit).map(Some)
    }

    /// Edges that are kept: of the relation, or of all.
    fn held_edges(&self, kept: &KeptReads, near: Near) -> Option<NearEdges> {
        let whole = || kept.edges(&Near { relation: None, ..near }, self.now);
        kept.edges(&near, self.now).or_else(|| near.relation.and_then(|_| whole()))
    }

    fn visit_kept(
        &self,
        edges: &NearEdges,
        part: &Part<'_>,
        visit: VisitEdge<'_>,
    ) -> Result<ControlFlow<()>> {
        let places = part.places(edges);
        let (end, flow) = edges.visit(&part.near, places.clone(), part.filter, visit);
        self.view.count_scan(end.saturating_sub(places.start), adjacency::COUNTED)?;
        Ok(flow)
    }

    /// Reads edges from the middle on. Who goes on past a few gets all that there are, and they are
    /// kept.
    fn keep_if_many(
        &self,
        kept: &KeptReads,
        part: &Part<'_>,
        visit: VisitEdge<'_>,
    ) -> Result<ControlFlow<()>> {
        let near = part.near;
        let (mut few, mut last, mut flow) = (FEW_EDGES, None, ControlFlow::Continue(()));
        let (from, to) = part.keys();
        self.scan_side((part.family, near.side), &from, to.as_deref(), &mut |edge| {
            if few == 0 {
                return Ok(ControlFlow::Break(()));
            }
            few -= 1;
            last = Some(edge);
            if part.filter.keeps(&edge) {
                flow = visit(edge);
            }
            Ok(flow)
        })?;
        let Some(last) = last.filter(|_| few == 0 && flow.is_continue()) else { return Ok(flow) };
        let mark = EdgeMark::of(&last, near.side);
        let rest = Part { from: Begin::Behind(&mark), ..*part };
        let mut edges = Gathered::new(near.side);
        self.scan_all(part, &mut |edge| edges.push(&edge))?;
        let edges = edges.finish();
        kept.keep_edges(near, self.now, edges.clone());
        if edges.is_complete() {
            return self.visit_kept(&edges, &rest, visit);
        }
        self.visit_stored(&rest, visit)
    }

    /// Reads edges from the first on. If none is left out, they are kept; those that begin too late
    /// for the question are read as well then.
    fn keep_while_read(
        &self,
        kept: &KeptReads,
        part: &Part<'_>,
        visit: VisitEdge<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut edges = Gathered::new(part.near.side);
        let mut flow = ControlFlow::Continue(());
        self.scan_all(part, &mut |edge| {
            let goes_on = edges.push(&edge);
            let asked = part.to.is_none_or(|to| edge.valid.from < to);
            if asked && part.filter.keeps(&edge) {
                flow = visit(edge);
            }
            if asked { flow } else { goes_on }
        })?;
        if flow.is_continue() {
            kept.keep_edges(part.near, self.now, edges.finish());
        }
        Ok(flow)
    }

    /// All edges of the node and relation of a part by the disk, wherever it begins and ends.
    fn scan_all(&self, part: &Part<'_>, visit: VisitEdge<'_>) -> Result<()> {
        let Near { node, side, relation } = part.near;
        let from = adjacency::prefix(node, relation);
        let to = key::after_prefix(&from);
        self.scan_side((part.family, side), &from, to.as_deref(), &mut |edge| Ok(visit(edge)))
    }

    /// Calls `visit` on every edge of an adjacency family, in the order of its keys, until it
    /// breaks.
    pub(crate) fn all_edges(
        &self,
        family: Family,
        side: Side,
        visit: &mut dyn FnMut(Edge) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.scan_side((family, side), &[], None, visit)
    }

    /// Calls `visit` on every believed edge from that of a node and relation on, in the order of the
    /// keys, until it breaks.
    pub(crate) fn edges_from(
        &self,
        side: Side,
        near: NodeId,
        relation: RelationId,
        visit: VisitEdge<'_>,
    ) -> Result<()> {
        let (current, _) = families_of(side);
        let from = adjacency::prefix(near, Some(relation));
        self.scan_side((current, side), &from, None, &mut |edge| Ok(visit(edge)))
    }

    /// Whether any edge is no longer believed.
    pub(crate) fn has_past(&self) -> Result<bool> {
        let mut any = false;
        self.all_edges(Family::OutPast, Side::Out, &mut |_| {
            any = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(any)
    }

    /// Calls `visit` on every edge from a head by a relation that is no longer believed.
    pub(crate) fn past_from(
        &self,
        head: NodeId,
        relation: RelationId,
        visit: &mut dyn FnMut(Edge),
    ) -> Result<()> {
        let from = adjacency::prefix(head, Some(relation));
        let to = key::after_prefix(&from);
        self.scan_side((Family::OutPast, Side::Out), &from, to.as_deref(), &mut |edge| {
            visit(edge);
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// What is believed, and what was.
pub(crate) fn families_of(side: Side) -> (Family, Family) {
    match side {
        Side::Out => (Family::Out, Family::OutPast),
        Side::In => (Family::In, Family::InPast),
    }
}

/// The families that a filter lets be read: what is believed first.
fn families_read(side: Side, filter: &EdgeFilter) -> impl Iterator<Item = Family> + use<> {
    let (current, past) = families_of(side);
    let with_past = filter.system != SystemScope::Current;
    [Some(current), with_past.then_some(past)].into_iter().flatten()
}

pub(crate) fn edge_of(family: Family, side: Side, key: &[u8], value: &[u8]) -> Result<Edge> {
    adjacency::decode(side, key, value)
        .ok_or_else(|| StorageError::corrupt(family.name(), key, "no edge"))
}

#[cfg(test)]
mod tests;
