//! Which paths need not be gone on with: what they lead to has been found as often as is wanted, or is
//! found along others that came to the same place before.

use engraph_storage::graph::{FactId, Interval, NodeId, RelationId, Time};

use super::WalkPaths;
use super::searching::Searching;
use crate::cell::Cell;
use crate::context::Context;
use crate::plan::{Mode, PathSearch, PathTime, Step};

/// Where a path stands in the pattern. What can follow depends on nothing else that it has met,
/// unless a mode forbids to meet it again.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Place {
    leg: usize,
    /// The facts of the step so far, up to as many as it needs.
    hops: u32,
    node: NodeId,
    /// Where earlier steps have ended, if a later one may have to come back there.
    ends: Vec<(usize, NodeId)>,
}

/// How a path has come to its place.
#[derive(PartialEq)]
pub(super) struct Seen {
    hops: u32,
    length: u32,
    window: Interval,
    arrival: Time,
    /// The fact by which it left, where paths may come back to their first node.
    first: Option<FactId>,
}

/// Which paths that came to a place before make another one there needless.
#[derive(Clone, Copy, PartialEq)]
enum Dominates {
    None,
    /// As many as are wanted.
    Any,
    /// One that left by the same fact, or two that left by different ones. A path that comes back to
    /// its first node must not do so by the fact it left by: of two such, one does not.
    ByFirst,
}

impl WalkPaths {
    /// Whether nothing that is wanted can follow, where all paths lead to one node.
    pub(super) fn is_done(&self, searching: &Searching, at: usize) -> bool {
        let Some(last) = self.walk.legs.last().filter(|leg| leg.closes) else { return false };
        let Cell::Node(end) = searching.row[last.step.to] else { return false };
        let Some(found) = searching.found.get(&end.id) else { return false };
        match &self.walk.search {
            PathSearch::All => false,
            PathSearch::Shortest(_) | PathSearch::Cheapest(..) => found.paths >= searching.count,
            PathSearch::Groups(_) => {
                found.lengths >= searching.count && searching.visits[at].length > found.longest
            }
        }
    }

    /// Whether every path that continues this one has as many better ones as are wanted along
    /// others that came to its place before: then it is left.
    pub(super) fn is_dominated(&self, searching: &mut Searching, at: usize) -> bool {
        let dominates = self.dominates(searching);
        if dominates == Dominates::None {
            return false;
        }
        let is_by_first = dominates == Dominates::ByFirst;
        let first = is_by_first.then(|| self.first_fact(searching, at)).flatten();
        let (place, count) = (self.place(searching, at), searching.count);
        let visit = &searching.visits[at];
        let (hops, length) = (visit.hops, visit.length);
        let this = Seen { hops, length, window: visit.window, arrival: visit.arrival, first };
        let seen = searching.seen.entry(place).or_default();
        let others =
            seen.iter().filter(|other| other.hops <= hops && self.in_time_too(other, &this));
        let groups = matches!(self.walk.search, PathSearch::Groups(_));
        let better = match groups {
            _ if is_by_first => {
                let others = others.filter(|other| !groups || other.length < length);
                let mut firsts: Vec<_> = others.map(|other| other.first).collect();
                firsts.dedup();
                usize::from(firsts.len() > 1 || firsts.contains(&first))
            }
            false => others.count(),
            true => {
                // They come in order of their lengths.
                let mut lengths: Vec<u32> = others.map(|other| other.length).collect();
                lengths.dedup();
                lengths.retain(|other| *other < length);
                lengths.len()
            }
        };
        if better < count && !(groups && seen.last() == Some(&this)) {
            seen.push(this);
            searching.kept += 1;
        }
        better >= count
    }

    fn place(&self, searching: &Searching, at: usize) -> Place {
        let visit = &searching.visits[at];
        let step = &self.walk.legs[visit.leg].step;
        let (min, _) = step.hops.unwrap_or((1, 1));
        let mut ends = Vec::new();
        if self.walk.legs.iter().any(|leg| leg.closes) {
            let mut leg = visit.leg;
            let mut next = visit.parent.filter(|_| leg > 0);
            while let Some(visit) = next.map(|at| &searching.visits[at]) {
                if visit.leg < leg {
                    ends.push((leg, visit.node));
                    leg = visit.leg;
                }
                next = visit.parent.filter(|_| leg > 0);
            }
        }
        Place { leg: visit.leg, hops: visit.hops.min(min), node: visit.node, ends }
    }

    /// Whether what may follow one path in time may follow another one too.
    fn in_time_too(&self, other: &Seen, this: &Seen) -> bool {
        let against = self.walk.legs.first().is_some_and(|leg| leg.step.against);
        match self.walk.time {
            None => true,
            Some(PathTime::Simultaneous) => {
                other.window.from <= this.window.from && this.window.to <= other.window.to
            }
            Some(PathTime::Chronological) if against => other.arrival >= this.arrival,
            Some(PathTime::Chronological) => other.arrival <= this.arrival,
        }
    }

    fn first_fact(&self, searching: &Searching, at: usize) -> Option<FactId> {
        let mut first = None;
        let mut next = Some(at);
        while let Some(visit) = next.map(|at| &searching.visits[at]) {
            first = visit.edge.map(|edge| edge.fact).or(first);
            next = visit.parent;
        }
        first
    }

    /// Which paths to a place are all that is needed of it. A path that may meet nothing again goes on
    /// otherwise than another one, so there only the first one is looked at.
    fn dominates(&self, searching: &Searching) -> Dominates {
        let legs = self.walk.legs.as_slice();
        match (&self.walk.search, self.walk.mode, legs) {
            (PathSearch::All, ..) => return Dominates::None,
            // The cost of a fact may be told by those of an earlier step.
            (PathSearch::Cheapest(..), Mode::Walk, legs) if legs.len() != 1 => {
                return Dominates::None;
            }
            (_, Mode::Walk, _) => return Dominates::Any,
            _ => {}
        }
        let [leg] = legs else { return Dominates::None };
        let short = leg.step.hops.is_some_and(|(min, _)| min <= 1);
        if searching.count != 1 || !short || self.walk.time.is_some() || !searching.met.is_empty() {
            return Dominates::None;
        }
        let turns = searching.turns;
        let comes_back = match &searching.row[leg.step.to] {
            Cell::Node(end) if leg.closes => end.id == searching.start.id,
            _ => self.walk.mode != Mode::Acyclic,
        };
        match turns && comes_back {
            true => Dominates::ByFirst,
            false => Dominates::Any,
        }
    }
}

/// Whether a fact that a step follows may be followed again from its other end: in a pattern
/// without an arrow, and where the relation or its inverse is the same fact read backwards.
pub(super) fn may_turn(step: &Step, context: &Context<'_>) -> bool {
    let catalog = context.reader.catalog();
    let mirrored = |relation: &RelationId| catalog.rule(*relation).mirror.is_some();
    let by_relation = match &step.relations {
        Some(relations) => relations.iter().any(mirrored),
        None => {
            let mut all = catalog.relations().filter_map(|name| catalog.relation(name));
            all.any(|relation| mirrored(&relation))
        }
    };
    step.sides.len() > 1 || by_relation
}
