//! The newest version of each fact that is read.

use std::collections::HashMap;

use engraph_storage::graph::{Edge, FactId};

/// Facts as they are read, each once: one that holds both ways is met from both sides, and over all of system time a
/// fact has several versions, of which the newest counts.
#[derive(Default)]
pub(super) struct Newest {
    pub(super) edges: Vec<Edge>,
    places: HashMap<FactId, usize>,
}

impl Newest {
    pub(super) fn push(&mut self, edge: Edge) {
        let place = *self.places.entry(edge.fact).or_insert(self.edges.len());
        match self.edges.get_mut(place) {
            Some(held) if held.version < edge.version => *held = edge,
            Some(_) => {}
            None => self.edges.push(edge),
        }
    }
}
