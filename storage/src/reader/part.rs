//! Some of the edges of a node: where a read of them begins and ends, as keys on the disk and as places
//! among edges in memory, and where it was left.
//!
//! It never reads any.

use std::ops::Range;

use crate::adjacency::{self, Adjacency, places};
use crate::edges::{Near, NearEdges};
use crate::families::Family;
use crate::graph::{Edge, EdgeFilter, Interval, RelationId, Side, Time, ValidScope};
use crate::key;

/// Where a read of a node's edges stands, so that it can go on there: see [`edges_after`](crate::Reader::edges_after).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeMark {
    pub(crate) family: Family,
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
        Self { family, key: key.as_ref().to_vec() }
    }

    /// The first key after it.
    fn behind(&self) -> Vec<u8> {
        [&self.key[..], &[0]].concat()
    }

    /// The parts of its key, if it is at an edge that is believed.
    fn place(&self) -> Option<Adjacency> {
        let (place, behind) = Adjacency::decode(&self.key)?;
        behind.is_empty().then_some(place)
    }
}

/// Some of the edges of a node, in the order of their keys.
#[derive(Clone, Copy)]
pub(crate) struct Part<'m> {
    pub(crate) near: Near,
    /// What is believed on that side, or what was.
    pub(crate) family: Family,
    /// What of them is asked for.
    pub(crate) filter: &'m EdgeFilter,
    pub(crate) from: Begin<'m>,
    /// Edges that begin here or later are left out; only with a relation.
    pub(crate) to: Option<Time>,
}

/// Where a part begins.
#[derive(Clone, Copy)]
pub(crate) enum Begin<'m> {
    Start,
    Behind(&'m EdgeMark),
    /// With those that begin at this instant; only with a relation.
    Begun(Time),
}

impl Part<'_> {
    /// The first key, and the first one after the last.
    pub(crate) fn keys(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let Near { node, relation, .. } = self.near;
        let prefix = adjacency::prefix(node, relation);
        let from = match self.from {
            Begin::Start => prefix.clone(),
            // A mark of another node leads to nothing that is not of this one.
            Begin::Behind(mark) => mark.behind().max(prefix.clone()),
            Begin::Begun(time) => adjacency::begun(node, relation, time),
        };
        let to = match self.to {
            Some(time) => Some(adjacency::begun(node, relation, time)),
            None => key::after_prefix(&prefix),
        };
        (from, to)
    }

    /// The same among edges in memory, which may be those of more relations.
    pub(crate) fn places(&self, edges: &NearEdges) -> Range<usize> {
        let all = match self.near.relation {
            Some(relation) => edges.of_relation(relation),
            None => 0..edges.len(),
        };
        let end = self.to.map_or(all.end, |time| edges.begun(all.clone(), time));
        let start = match self.from {
            Begin::Start => all.start,
            Begin::Behind(mark) => match mark.place() {
                Some(place) if place.near == self.near.node => edges.behind(&self.near, &place),
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
pub(crate) fn last_begin(relation: Option<RelationId>, valid: ValidScope) -> Option<Time> {
    relation?;
    match valid {
        ValidScope::AsOf(time) => time.checked_add(1),
        ValidScope::Within(interval) if interval.to != Interval::MAX => Some(interval.to),
        _ => None,
    }
}
