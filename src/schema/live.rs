//! Which keys count: those of concepts that the state and the instant asked for know, and that a
//! filter accepts (SCG-MEM, eq. 5). The filter is asked once for each concept at most, and only for
//! those that a search comes to.

use std::cell::RefCell;

use engraph_storage::graph::{NodeId, Time};

use super::trie::{Layers, Place};
use crate::error::Result;

/// A concept: when it came to be, and when it was forgotten, in system time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Concept {
    pub(super) node: NodeId,
    pub(super) created: Time,
    pub(super) removed: Time,
}

/// Whether a concept is accepted.
pub(crate) type Accept<'a> = &'a dyn Fn(NodeId) -> Result<bool>;

/// What counts for one question.
pub(super) struct Live<'l> {
    concepts: &'l [Concept],
    /// The last commit of the state, and the instant asked for.
    state: Time,
    at: Time,
    accept: Option<Accept<'l>>,
    /// What the filter said of each concept.
    said: RefCell<Vec<Option<bool>>>,
}

impl<'l> Live<'l> {
    pub(super) fn new(
        concepts: &'l [Concept],
        state: Time,
        at: Time,
        accept: Option<Accept<'l>>,
    ) -> Self {
        let said = RefCell::new(vec![None; if accept.is_some() { concepts.len() } else { 0 }]);
        Self { concepts, state, at, accept, said }
    }

    /// The instant for which what changes is read.
    pub(super) fn at(&self) -> Time {
        self.at.min(self.state)
    }

    pub(super) fn concepts(&self) -> &'l [Concept] {
        self.concepts
    }

    pub(super) fn has_filter(&self) -> bool {
        self.accept.is_some()
    }

    /// Whether the state and the instant know the concept of that number.
    pub(super) fn is_visible(&self, concept: u32) -> bool {
        let known = self.concepts.get(concept as usize);
        known.is_some_and(|known| known.created <= self.at() && self.state < known.removed)
    }

    /// Whether it is visible and accepted.
    pub(super) fn counts(&self, concept: u32) -> Result<bool> {
        if !self.is_visible(concept) {
            return Ok(false);
        }
        let Some(accept) = self.accept else { return Ok(true) };
        let index = concept as usize;
        if let Some(said) = self.said.borrow()[index] {
            return Ok(said);
        }
        let said = accept(self.concepts[index].node)?;
        self.said.borrow_mut()[index] = Some(said);
        Ok(said)
    }

    /// Whether some key counts that ends at a place or below.
    pub(super) fn leads_on(&self, layers: &Layers, place: Place) -> Result<bool> {
        for concept in layers.below(place) {
            if self.counts(concept)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The nodes whose keys end at a place and count, in order.
    pub(super) fn ends(&self, layers: &Layers, place: Place) -> Result<Vec<NodeId>> {
        let mut nodes = Vec::new();
        for concept in layers.ends(place) {
            if self.counts(concept)? {
                nodes.push(self.concepts[concept as usize].node);
            }
        }
        nodes.sort_unstable();
        Ok(nodes)
    }
}
