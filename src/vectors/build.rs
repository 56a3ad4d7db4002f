//! Graphs are built behind the searches that could use them: by one thread a database, which reads
//! the codes a few at a time, so that nobody waits for it. It ends with the database.
//!
//! A graph is in memory alone; after the database was opened it is built again when a search could
//! use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::Slot;
use super::graph::{Graph, Visited};
use super::label::LabelIndex;

/// From so many embeddings on that stand, a graph finds them sooner than a scan.
pub(super) const GRAPH_MIN: usize = 50_000;
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

/// Whether a graph would find what stands sooner, or is far behind.
pub(super) fn is_worth_it(index: &LabelIndex, graph_min: usize) -> bool {
    let known = index.graph.as_ref().map_or(0, |graph| graph.len());
    let new = index.entries.len() - known.min(index.entries.len());
    let is_behind = known == 0 || new >= (known / 8).max(graph_min / 4);
    index.is_unit && index.standing >= graph_min && is_behind
}

/// Goes on from the graph that the index has, up to all of its entries.
fn build(slot: &Slot, stop: &AtomicBool) {
    let begun = slot.index.read().as_ref().map(|index| {
        let graph = index.graph.as_ref().map_or_else(Graph::default, |graph| (**graph).clone());
        (Arc::clone(&index.identity), graph)
    });
    let Some((identity, mut graph)) = begun else { return };
    let is_same = |index: &LabelIndex| Arc::ptr_eq(&index.identity, &identity);
    let mut visited = Visited::default();
    loop {
        let held = slot.index.read();
        let Some(index) = held.as_ref().filter(|index| is_same(index)) else { return };
        if graph.len() >= index.entries.len() {
            break;
        }
        for entry in index.entries.iter().skip(graph.len()).take(BATCH) {
            graph.insert(&index.codes, entry.name(), &mut visited);
        }
        drop(held);
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
    if let Some(index) = slot.index.write().as_mut().filter(|index| is_same(index)) {
        index.graph = Some(Arc::new(graph));
    }
}
