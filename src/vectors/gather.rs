//! The best candidates of an index by their codes: of all entries, of those after a graph, or of a
//! set of nodes.
//!
//! A candidate has the most that its exact score can be. So whoever takes candidates in that order
//! knows when none that is left can be better than what he has.

use engraph_storage::graph::{LabelId, NodeId, Time};
use parking_lot::Mutex;

use super::codes::Query;
use super::label::LabelIndex;
use crate::threads::{cores, together};

/// Entries that are scored in one go.
const RUN: usize = 1_024;
/// From so many components on, a scan runs on all cores.
const SHARED_MIN: usize = if cfg!(test) { 64 } else { 1 << 22 };

/// A node that may be among the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// The exact score is no more than this.
    pub(super) most: f32,
    pub(super) label: LabelId,
    pub(super) node: NodeId,
}

/// The best of the candidates.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) candidates: Vec<Candidate>,
    /// The most that one can score that was left out; none if none was.
    pub(super) rest: Option<f32>,
    /// Entries that were scored.
    pub(super) looked: usize,
}

impl Gathered {
    pub(super) fn add(&mut self, other: Self) {
        self.candidates.extend(other.candidates);
        self.rest = larger(self.rest, other.rest);
        self.looked += other.looked;
    }

    /// Keeps the best `count`, in order.
    pub(super) fn keep(&mut self, count: usize) {
        let order = |a: &Candidate, b: &Candidate| b.most.total_cmp(&a.most);
        if count < self.candidates.len() {
            self.candidates.select_nth_unstable_by(count, order);
            self.rest = larger(self.candidates.get(count).map(|first| first.most), self.rest);
            self.candidates.truncate(count);
        }
        self.candidates.sort_unstable_by(|a, b| order(a, b).then(a.node.cmp(&b.node)));
    }
}

/// The larger one of those that are there.
pub(super) fn larger(a: Option<f32>, b: Option<f32>) -> Option<f32> {
    a.into_iter().chain(b).reduce(f32::max)
}

/// The `count` best of the entries from a place on that stand at an instant.
pub(super) fn scan(
    index: &LabelIndex,
    label: LabelId,
    query: &Query,
    time: Time,
    from: usize,
    count: usize,
) -> Gathered {
    let to = if query.fits(&index.codes) { index.entries.len() } else { from };
    let part = |from, to| scan_part(index, label, query, time, (from, to), count);
    let components = to.saturating_sub(from).saturating_mul(index.codes.dimensions());
    if components < SHARED_MIN {
        return part(from, to);
    }
    let threads = cores();
    let step = (to - from).div_ceil(threads).max(1);
    let starts = Mutex::new((from..to).step_by(step));
    let work = || {
        let mut gathered = Gathered::default();
        let next = || starts.lock().next();
        while let Some(start) = next() {
            gathered.add(part(start, (start + step).min(to)));
        }
        gathered
    };
    let mut gathered = Gathered::default();
    together(threads, work).into_iter().for_each(|part| gathered.add(part));
    gathered.keep(count);
    gathered
}

fn scan_part(
    index: &LabelIndex,
    label: LabelId,
    query: &Query,
    time: Time,
    (from, to): (usize, usize),
    count: usize,
) -> Gathered {
    let mut best = Bests::new(count);
    let mut sums = Vec::new();
    for start in (from..to).step_by(RUN) {
        let end = (start + RUN).min(to);
        query.sums(&index.codes, start, end, &mut sums);
        for (place, sum) in (start..end).zip(&sums) {
            let bounded = query.bounded(*sum, index.codes.scale(place));
            best.offer(bounded.score + bounded.error, || {
                let entry = index.entries.get(place)?;
                entry.stands_at(time).then_some((label, entry.node))
            });
        }
    }
    best.finish(to.saturating_sub(from))
}

/// The best of what it is offered. It holds twice as many as it is to give, and drops the worse
/// half when it is full.
struct Bests {
    gathered: Gathered,
    count: usize,
    /// What scores no more than this was left out.
    floor: f32,
}

impl Bests {
    fn new(count: usize) -> Self {
        Self { gathered: Gathered::default(), count: count.max(1), floor: f32::NEG_INFINITY }
    }

    fn offer(&mut self, most: f32, node: impl FnOnce() -> Option<(LabelId, NodeId)>) {
        if most <= self.floor {
            return;
        }
        let Some((label, node)) = node() else { return };
        self.gathered.candidates.push(Candidate { most, label, node });
        if self.gathered.candidates.len() >= self.count.saturating_mul(2) {
            self.gathered.keep(self.count);
            self.floor = self.gathered.rest.unwrap_or(self.floor);
        }
    }

    fn finish(mut self, looked: usize) -> Gathered {
        self.gathered.keep(self.count);
        self.gathered.looked = looked;
        self.gathered
    }
}
