//! How strongly two concepts are coupled (SCG-MEM, eq. 10): a sum over the turns that they occur in
//! together of `IDF(u) IDF(v)`, with `IDF = ln(N / df)`, N the turns and df those with a concept.
//!
//! Counts are kept and weights derived, so nothing has to be made anew when a turn is forgotten.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, LabelId, NodeId, RelationId, Side, SystemScope};

use crate::cell::NodeRef;
use crate::context::Context;
use crate::error::Result;
use crate::graph_names::{CO_OCCURS, TURN};

/// What is known of the concepts of one statement.
pub(super) struct Coupling<'c> {
    context: &'c Context<'c>,
    /// The state of which it is asked.
    system: SystemScope,
    co_occurs: Option<RelationId>,
    turn: Option<LabelId>,
    turns: OnceCell<u64>,
    rarity: RefCell<HashMap<NodeId, f64>>,
}

impl<'c> Coupling<'c> {
    pub(super) fn new(system: SystemScope, context: &'c Context<'c>) -> Self {
        let catalog = context.reader.catalog();
        let (co_occurs, turn) = (catalog.relation(CO_OCCURS), catalog.label(TURN));
        let (turns, rarity) = (OnceCell::new(), RefCell::default());
        Self { context, system, co_occurs, turn, turns, rarity }
    }

    /// The weight of a fact that says that two concepts occur together in its sources; none for
    /// another fact.
    pub(super) fn weight(&self, edge: &Edge) -> Result<Option<f64>> {
        if self.co_occurs != Some(edge.relation) {
            return Ok(None);
        }
        let together = self.context.version(edge)?.belief.sources.len();
        if together == 0 {
            return Ok(None);
        }
        Ok(Some(together as f64 * self.idf(edge.head)? * self.idf(edge.tail)?))
    }

    fn idf(&self, concept: NodeId) -> Result<f64> {
        if let Some(known) = self.rarity.borrow().get(&concept) {
            return Ok(*known);
        }
        let all = self.turns()?.max(1) as f64;
        let idf = (all / (self.turns_with(concept)?.max(1) as f64)).ln().max(0.0);
        self.rarity.borrow_mut().insert(concept, idf);
        Ok(idf)
    }

    fn turns(&self) -> Result<u64> {
        if let Some(known) = self.turns.get() {
            return Ok(*known);
        }
        let count = match self.turn {
            Some(label) if self.system == SystemScope::Current => self.context.count(label)?,
            Some(label) => self.turns_then(label)?,
            None => 0,
        };
        Ok(*self.turns.get_or_init(|| count))
    }

    /// How many turns there were.
    fn turns_then(&self, label: LabelId) -> Result<u64> {
        let all = self.context.reader.all_of_label(label)?;
        self.context.work(all.len())?;
        let mut count = 0;
        for node in all {
            count += u64::from(self.context.reader.node(node, self.system)?.is_some());
        }
        Ok(count)
    }

    /// The turns that a concept is a cue of.
    fn turns_with(&self, concept: NodeId) -> Result<usize> {
        let mut tagged = BTreeSet::new();
        let filter = EdgeFilter { system: self.system, ..EdgeFilter::CURRENT };
        self.context.reader.edges(concept, Side::Out, None, &filter, &mut |edge| {
            if self.co_occurs != Some(edge.relation) {
                tagged.insert(edge.tail);
            }
            ControlFlow::Continue(())
        })?;
        self.context.work(tagged.len() + 1)?;
        let mut count = 0;
        for node in tagged {
            let node = NodeRef { id: node, system: self.system };
            count += usize::from(Some(self.context.node(node)?.label) == self.turn);
        }
        Ok(count)
    }
}
