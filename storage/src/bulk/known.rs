//! Which facts of a load say nothing new, as when a file is loaded again.
//!
//! It asks the update rule, with as much of what is held as that would look at, and decides nothing
//! itself.

use super::BulkFact;
use crate::error::Result;
use crate::graph::{Belief, Edge, Interval, NodeId, Properties, RelationRule};
use crate::reader::Reader;
use crate::update::{self, Act, Effect};

/// Held facts with one tail that are looked through for another one with it; a head with more has its
/// facts asserted.
const SAME_MAX: usize = 64;

/// What is held of a head and a relation without a mirror.
pub(super) struct Held<'h> {
    reader: Reader<'h>,
    rule: &'h RelationRule,
    /// By tail, and then by when they begin.
    by_tail: Vec<Edge>,
    /// What is certain, by when it begins. Of a relation with one value no two hold at the same time.
    certain: Vec<Edge>,
}

impl<'h> Held<'h> {
    /// Of edges in the order of their keys.
    pub(super) fn new(edges: &[Edge], rule: &'h RelationRule, reader: Reader<'h>) -> Self {
        let mut by_tail = edges.to_vec();
        by_tail.sort_unstable_by_key(|edge| (edge.tail, edge.valid.from, edge.fact));
        let certain = edges.iter().filter(|edge| !edge.uncertain).copied().collect();
        Self { reader, rule, by_tail, certain }
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
        held.extend(self.others(fact.tail, hull).map(|edge| update::Held {
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

    /// The certain facts with other tails that one at this time can meet: up to the first one behind its
    /// beginning that no confidence lets it pass over, where it would end.
    fn others(&self, tail: NodeId, valid: Interval) -> impl Iterator<Item = &Edge> {
        // The one before may reach into it.
        let begun = self.certain.partition_point(|edge| edge.valid.from < valid.from);
        let mut is_end = false;
        let near = self.certain[begun.saturating_sub(1)..].iter().take_while(move |edge| {
            let is_in = !is_end && edge.valid.from <= valid.to;
            is_end = edge.tail != tail
                && edge.valid.from > valid.from
                && edge.confidence >= self.rule.threshold;
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
