//! Which facts of a load say nothing new, as when a file is loaded again.
//!
//! It asks the update rule, with as much of what is held as that would look at, and decides nothing
//! itself. A fact that it is in doubt of is not known, and is asserted.

use super::BulkFact;
use crate::error::Result;
use crate::graph::{Belief, Cardinality, Edge, Interval, NodeId, Properties, RelationRule};
use crate::reader::Reader;
use crate::update::{self, Act, Effect};

/// Held facts with one tail that each new one with it is held against; if there are more, it is asserted.
const SAME_MAX: usize = 1_024;

/// What is held of a head and a relation without a mirror.
pub(super) struct Held<'h> {
    reader: Reader<'h>,
    rule: &'h RelationRule,
    /// By tail, and then by when they begin.
    by_tail: Vec<Edge>,
    /// Of a relation with one value what is certain, by when it begins: no two hold at the same time.
    values: Vec<Edge>,
}

impl<'h> Held<'h> {
    /// Of edges in the order of their keys.
    pub(super) fn new(edges: &[Edge], rule: &'h RelationRule, reader: Reader<'h>) -> Self {
        let mut by_tail = edges.to_vec();
        by_tail.sort_unstable_by_key(|edge| (edge.tail, edge.valid.from, edge.fact));
        let is_value = |edge: &&Edge| rule.cardinality == Cardinality::One && !edge.uncertain;
        let values = edges.iter().filter(is_value).copied().collect();
        Self { reader, rule, by_tail, values }
    }

    /// Whether anything is held with the tail of this fact at its time or next to it.
    pub(super) fn meets(&self, fact: &BulkFact<'_>) -> bool {
        self.with_tail(fact.tail).iter().any(|edge| edge.valid.touches(&fact.valid))
    }

    /// Whether nothing would change if this fact was asserted.
    pub(super) fn knows(&self, fact: &BulkFact<'_>) -> Result<bool> {
        let same = self.with_tail(fact.tail);
        if same.len() > SAME_MAX {
            return Ok(false);
        }
        let (met, hull) = met(same, fact.valid);
        if met.is_empty() {
            return Ok(false);
        }
        let full = met.into_iter().map(|edge| {
            let version = self.reader.version(edge.fact, edge.version)?;
            Ok(update::Held { fact: edge.fact, same: true, belief: version.belief })
        });
        let mut held = full.collect::<Result<Vec<_>>>()?;
        held.extend(self.others(fact, hull).map(|edge| update::Held {
            fact: edge.fact,
            same: false,
            belief: outline(edge),
        }));
        held.sort_by_key(|held| (held.belief.valid.from, held.fact));
        let act = Act::Assert(fact.belief());
        Ok(update::resolve(&act, &held, self.rule).effect == Effect::Unchanged)
    }

    fn with_tail(&self, tail: NodeId) -> &[Edge] {
        let begin = self.by_tail.partition_point(|edge| edge.tail < tail);
        let end = self.by_tail.partition_point(|edge| edge.tail <= tail);
        &self.by_tail[begin..end]
    }

    /// The values beside which a fact would stand, with what it would be merged with: up to the first one
    /// that begins behind it. Either it ends there, and meets none that come later, or something changes.
    fn others(&self, fact: &BulkFact<'_>, hull: Interval) -> impl Iterator<Item = &Edge> {
        let BulkFact { tail, valid, .. } = *fact;
        // The one before may reach into it.
        let begun = self.values.partition_point(|edge| edge.valid.from < hull.from);
        let mut is_behind = false;
        let near = self.values[begun.saturating_sub(1)..].iter().take_while(move |edge| {
            let is_in = !is_behind && edge.valid.from <= hull.to;
            is_behind = edge.tail != tail && edge.valid.from > valid.from;
            is_in
        });
        near.filter(move |edge| edge.tail != tail)
    }
}

/// The held facts that one at this time may become one with, and the time of all of them.
fn met(same: &[Edge], valid: Interval) -> (Vec<&Edge>, Interval) {
    let (mut met, mut hull) = (Vec::new(), valid);
    let mut rest: Vec<&Edge> = same.iter().collect();
    loop {
        let (near, far): (Vec<&Edge>, Vec<&Edge>) =
            rest.into_iter().partition(|edge| edge.valid.touches(&hull));
        if near.is_empty() {
            return (met, hull);
        }
        hull = near.iter().fold(hull, |hull, edge| hull.hull(&edge.valid));
        met.extend(near);
        rest = far;
    }
}

/// What an edge says of a belief: what the rule looks at in one with another tail.
fn outline(edge: &Edge) -> Belief {
    Belief {
        tail: edge.tail,
        valid: edge.valid,
        confidence: edge.confidence,
        intent: edge.intent,
        uncertain: edge.uncertain,
        sources: Vec::new(),
        properties: Properties::new(),
        evidence: Vec::new(),
    }
}
