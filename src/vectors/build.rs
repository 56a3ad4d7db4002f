//! Graphs are built after the searches that could use them: by one thread a database, which reads
//! the codes a few at a time, so that nobody waits for it. It ends with the database.
//!
//! A graph is in memory alone; after the database was opened it is built again when a search could
//! use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::codes::Query;
use super::graph::{Graph, Visited};
use super::label::LabelIndex;
use super::{Slot, TAKEN_PART};

/// From so many embeddings on that stand, a graph finds them sooner than a scan.
pub(super) const GRAPH_MIN: usize = 100_000;
/// How many vectors a walk may keep: `ef` of the paper.
pub(super) const BREADTHS: [usize; 5] = [64, 150, 300, 600, 1_200];
/// The part of the nearest that walks from entries have to find. Questions lie further from what is
/// held, and theirs find less.
const RECALL: f64 = 0.995;
/// Entries that try a graph before they come into it.
const SAMPLES: usize = if cfg!(test) { 4 } else { 50 };
/// Entries that a graph takes in while nobody can change the index.
const BATCH: usize = 32;

/// The thread, if there is one.
#[derive(Default)]
pub(super) struct Builder {
    stop: Arc<AtomicBool>,
    running: Mutex<Option<JoinHandle<()>>>,
}

impl Builder {
    /// Begins to build the graph of an index that is worth it, unless another is being built.
    pub(super) fn start(&self, slot: &Arc<Slot>) {
        let mut running = self.running.lock();
        if running.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (slot, stop) = (Arc::clone(slot), Arc::clone(&self.stop));
        let thread = std::thread::Builder::new().name("engraph-vectors".to_owned());
        // Without a thread there is no graph, and searches scan.
        *running = thread.spawn(move || build(&slot, &stop)).ok();
    }

    /// Waits until nothing is being built.
    #[cfg(test)]
    pub(super) fn wait(&self) {
        if let Some(thread) = self.running.lock().take() {
            thread.join().expect("it does not panic");
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.running.get_mut().take() {
            // What it had to say has been lost with it.
            thread.join().unwrap_or_default();
        }
    }
}

/// Whether a graph would find what stands sooner, or is far after.
pub(super) fn is_worth_it(index: &LabelIndex, graph_min: usize) -> bool {
    let known = index.graph.as_ref().map_or(0, |graph| graph.len());
    let new = index.entries.len() - known.min(index.entries.len());
    let is_behind = known == 0 || new >= (known / 8).max(graph_min / 4);
    index.is_unit && index.standing >= graph_min && is_behind
}

/// Goes on from the graph that the index has, up to all of its entries. The last ones try it first.
fn build(slot: &Slot, stop: &AtomicBool) {
    let begun = slot.index.read().as_ref().map(|index| {
        let graph = index.graph.as_ref().map_or_else(Graph::default, |graph| (**graph).clone());
        (Arc::clone(&index.identity), graph)
    });
    let Some((identity, mut graph)) = begun else { return };
    let work = Work { slot, identity, stop };
    if work.grow(&mut graph, SAMPLES).is_none() {
        return;
    }
    let Some(breadth) = work.breadth(&graph) else { return };
    graph.breadth = breadth;
    if work.grow(&mut graph, 0).is_some() {
        let mut held = slot.index.write();
        if let Some(index) = held.as_mut().filter(|index| work.is_same(index)) {
            index.graph = Some(Arc::new(graph));
        }
    }
}

/// A graph that is being built. What it does ends with none if it is not wanted any more.
struct Work<'w> {
    slot: &'w Slot,
    identity: Arc<()>,
    stop: &'w AtomicBool,
}

impl Work<'_> {
    fn is_same(&self, index: &LabelIndex) -> bool {
        Arc::ptr_eq(&index.identity, &self.identity)
    }

    /// Does a little with the index, while nobody can change it.
    fn step<T>(&self, work: impl FnOnce(&LabelIndex) -> T) -> Option<T> {
        let held = self.slot.index.read();
        let index = held.as_ref().filter(|index| self.is_same(index))?;
        (!self.stop.load(Ordering::Relaxed)).then(|| work(index))
    }

    /// Adds all entries but so many.
    fn grow(&self, graph: &mut Graph, left: usize) -> Option<()> {
        let mut visited = Visited::default();
        loop {
            let is_done = self.step(|index| {
                let end = index.entries.len().saturating_sub(left);
                let new = index.entries.get(graph.len()..end).unwrap_or_default();
                for entry in new.iter().take(BATCH) {
                    graph.insert(&index.codes, entry.name(), &mut visited);
                }
                new.len() <= BATCH
            })?;
            if is_done {
                return Some(());
            }
        }
    }

    /// The least breadth with which walks from entries that are not in the graph find nearly all of
    /// the nearest, as far as what they find is taken. How far a graph leads depends on the vectors.
    fn breadth(&self, graph: &Graph) -> Option<Option<usize>> {
        let (mut hits, mut all) = ([0; BREADTHS.len()], 0);
        for place in graph.len()..graph.len() + SAMPLES {
            self.step(|index| {
                if place >= index.entries.len() {
                    return;
                }
                let query = Query::of(&index.codes, place);
                let nearest = graph.scan(&index.codes, &query, BREADTHS[0] / TAKEN_PART);
                let Some(last) = nearest.last() else { return };
                all += nearest.len();
                for (hits, breadth) in hits.iter_mut().zip(BREADTHS) {
                    let walk = graph.search(&index.codes, &query, breadth, usize::MAX, &|_| true);
                    let found = walk.found.iter().take(nearest.len());
                    *hits += found.filter(|near| near.score >= last.score).count();
                }
            })?;
        }
        let is_enough = |at: &usize| hits[*at] as f64 >= RECALL * all as f64;
        Some((0..BREADTHS.len()).find(is_enough).map(|at| BREADTHS[at]))
    }
}
