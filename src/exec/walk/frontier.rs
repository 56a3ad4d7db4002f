//! The paths that a walk has found so far, and which of them it goes on with.
//!
//! Paths share their beginnings: each is a fact and the path that it continues.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use engraph_storage::graph::{Edge, Interval, NodeId, Time};

/// A path, as its last fact.
pub(super) struct Visit {
    /// The path that it continues; none for the one without a fact.
    pub(super) parent: Option<usize>,
    pub(super) edge: Option<Edge>,
    /// Where it ends.
    pub(super) node: NodeId,
    /// The step of the pattern that it is in, and how many facts of it it has.
    pub(super) leg: usize,
    pub(super) hops: u32,
    /// All its facts.
    pub(super) length: u32,
    /// The product of their confidences.
    pub(super) confidence: f64,
    /// The sum of their costs.
    pub(super) cost: f64,
    /// The instants at which all its facts hold, or the instant up to which it has come.
    pub(super) window: Interval,
    pub(super) arrival: Time,
}

impl Visit {
    /// The path without a fact, from a node on within a window; against time it comes from the window's end.
    pub(super) fn root(node: NodeId, window: Interval, against: bool) -> Self {
        Self {
            parent: None,
            edge: None,
            node,
            leg: 0,
            hops: 0,
            length: 0,
            confidence: 1.0,
            cost: 0.0,
            window,
            arrival: if against { window.to } else { window.from },
        }
    }
}

/// Which path is gone on with next.
pub(super) enum Frontier {
    /// The one that was found last: depth first, in the order of the pattern.
    Last(Vec<usize>),
    /// The one that was found first, so the shortest.
    First(VecDeque<usize>),
    /// The best by a number, then the one that a depth first walk meets first.
    Best(BinaryHeap<Ranked>),
}

/// A path with what it is ordered by.
pub(super) struct Ranked {
    /// Larger comes first.
    pub(super) merit: f64,
    /// The way to it: at each fact, the how many-th continuation it is.
    pub(super) way: Vec<u32>,
    pub(super) visit: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.merit.total_cmp(&other.merit).then_with(|| other.way.cmp(&self.way))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl Frontier {
    /// The next path, with the way to it where paths are ranked.
    pub(super) fn pop(&mut self) -> Option<(usize, Vec<u32>)> {
        match self {
            Self::Last(visits) => visits.pop().map(|visit| (visit, Vec::new())),
            Self::First(visits) => visits.pop_front().map(|visit| (visit, Vec::new())),
            Self::Best(visits) => visits.pop().map(|ranked| (ranked.visit, ranked.way)),
        }
    }

    /// Paths that are still to be gone on with.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Last(visits) => visits.len(),
            Self::First(visits) => visits.len(),
            Self::Best(visits) => visits.len(),
        }
    }
}
