//! A walk from the node of one row: what it has found and has yet to follow, and what that takes in memory.

use std::collections::{BinaryHeap, HashMap, VecDeque};

use engraph_storage::graph::{EdgeFilter, FactId, Interval, NodeId, ValidScope};

use super::frontier::{Frontier, Ranked, Visit};
use super::pruned::{Place, Seen, may_turn};
use super::{ROUNDING, WalkPaths};
use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::amount;
use crate::exec::expand::met;
use crate::exec::scope::floor_of;
use crate::plan::PathSearch;

/// The walk from the node of one row.
pub(super) struct Searching {
    pub(super) row: Row,
    pub(super) start: NodeRef,
    pub(super) filters: Vec<EdgeFilter>,
    /// Facts that the row holds already.
    pub(super) met: Vec<FactId>,
    pub(super) visits: Vec<Visit>,
    pub(super) frontier: Frontier,
    /// The facts of all ways in the frontier.
    pub(super) ways: usize,
    /// What was found of each last node: how many, and of how many lengths.
    pub(super) found: HashMap<NodeId, Found>,
    /// The paths that have come to a place, where others need not be walked.
    pub(super) seen: HashMap<Place, Vec<Seen>>,
    /// How many these are.
    pub(super) kept: usize,
    /// Paths or lengths wanted of each last node.
    pub(super) count: usize,
    /// Whether a fact can be followed back to where it was followed from.
    pub(super) turns: bool,
    /// Paths still wanted of this row.
    pub(super) left: usize,
    pub(super) floor: f64,
    pub(super) held: Held,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) paths: usize,
    pub(super) lengths: usize,
    pub(super) longest: u32,
}

impl WalkPaths {
    pub(super) fn begin(&mut self, row: Row, context: &Context<'_>) -> Result<Option<Searching>> {
        let Some(first) = self.walk.legs.first() else { return Ok(None) };
        let Cell::Node(start) = row[first.step.from] else { return Ok(None) };
        let filters: Vec<EdgeFilter> = self
            .scopes
            .iter_mut()
            .zip(&self.walk.legs)
            .map(|(held, leg)| held.filter(&leg.step.scope, &row, context))
            .collect::<Result<_>>()?;
        let (count, left) = self.wanted(context)?;
        let floor = match &self.walk.floor {
            None => 0.0,
            Some(floor) => floor_of(floor, &row, context)? * ROUNDING,
        };
        let window = match filters[0].valid {
            ValidScope::Within(window) => window,
            _ => Interval::ALL,
        };
        let root = Visit::root(start.id, window, first.step.against);
        let frontier = self.frontier();
        let met = met(&row, &self.walk.distinct_from);
        let turns = self.walk.legs.iter().any(|leg| may_turn(&leg.step, context));
        Ok(Some(Searching {
            row,
            start,
            filters,
            met,
            visits: vec![root],
            frontier,
            ways: 0,
            found: HashMap::new(),
            seen: HashMap::new(),
            kept: 0,
            count,
            turns,
            left,
            floor,
            held: Held::default(),
        }))
    }

    /// How many paths, groups or lengths of them a search gives, and of how many rows at most.
    pub(super) fn wanted(&self, context: &Context<'_>) -> Result<(usize, usize)> {
        let count = match &self.walk.search {
            PathSearch::All => usize::MAX,
            PathSearch::Shortest(count)
            | PathSearch::Groups(count)
            | PathSearch::Cheapest(count, _) => amount(count, context)?,
        };
        let Some(cut) = &self.walk.most_confident else { return Ok((count, usize::MAX)) };
        let number = |expr| amount(expr, context);
        let skip = cut.skip.as_ref().map(number).transpose()?.unwrap_or(0);
        let limit = cut.limit.as_ref().map(number).transpose()?.unwrap_or(usize::MAX);
        Ok((count, skip.saturating_add(limit)))
    }

    /// What is gone on with next, beginning with the root.
    pub(super) fn frontier(&self) -> Frontier {
        match (&self.walk.search, &self.walk.most_confident) {
            (PathSearch::All, None) => Frontier::Last(vec![0]),
            (PathSearch::Shortest(_) | PathSearch::Groups(_), _) => {
                Frontier::First(VecDeque::from([0]))
            }
            _ => {
                let root = Ranked { merit: f64::INFINITY, way: Vec::new(), visit: 0 };
                Frontier::Best(BinaryHeap::from([root]))
            }
        }
    }

    /// Counts what a search has in memory.
    pub(super) fn hold(&self, searching: &mut Searching, context: &Context<'_>) -> Result<()> {
        let bytes = searching.visits.len() * (size_of::<Visit>() + 8)
            + searching.frontier.len() * size_of::<Ranked>()
            + searching.ways * size_of::<u32>()
            + searching.kept * size_of::<(Place, Seen)>()
            + searching.found.len() * size_of::<(NodeId, Found)>();
        context.hold(&mut searching.held, bytes)?;
        context.rows(searching.visits.len() / 8)
    }
}
