//! What holds of the update rule whatever is asserted.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::graph::{Intent, NodeId};

fn belief(tail: u64, from: i64, to: i64, confidence: f64) -> Belief {
    Belief {
        tail: NodeId(tail),
        valid: Interval { from, to },
        confidence,
        intent: Intent::Fact,
        uncertain: false,
        sources: Vec::new(),
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

/// What is held, as an assertion of that tail meets it.
fn seen(held: &[Held], tail: NodeId) -> Vec<Held> {
    let same = |held: &Held| held.belief.tail == tail;
    held.iter().map(|held| Held { same: same(held), ..held.clone() }).collect()
}

fn assert(new: &Belief, held: &[Held], rule: &RelationRule) -> Resolution {
    resolve(&Act::Assert(new.clone()), &seen(held, new.tail), rule)
}

fn one() -> RelationRule {
    RelationRule { cardinality: Cardinality::One, ..RelationRule::default() }
}

/// Applies changes to a list, as the store does.
fn apply(held: &mut Vec<Held>, resolution: &Resolution, next: &mut u64) {
    for change in &resolution.changes {
        match change {
            Change::Insert(belief) | Change::Remainder(_, belief) => {
                *next += 1;
                held.push(Held { fact: FactId(*next), same: false, belief: belief.clone() });
            }
            Change::Replace(fact, belief) | Change::Rest(fact, belief) => {
                for other in held.iter_mut().filter(|other| other.fact == *fact) {
                    other.belief = belief.clone();
                }
            }
            Change::Retire(fact) | Change::Supersede(fact, _) => {
                held.retain(|other| other.fact != *fact);
            }
        }
    }
}

proptest! {
    /// I1: whatever is asserted in whatever order, a ONE relation has at most one stable tail
    /// at any instant; every interval stays non-empty and every confidence in (0, 1].
    #[test]
    fn one_stable_tail_at_a_time(
        assertions in prop::collection::vec(
            (0u64..4, 0i64..20, prop::option::of(1i64..10), 1u32..=10), 1..30),
    ) {
        let (mut held, mut next) = (Vec::new(), 0);
        for (tail, from, length, tenths) in assertions {
            let to = length.map_or(Interval::MAX, |length| from + length);
            let new = belief(tail, from, to, f64::from(tenths) / 10.0);
            let resolution = assert(&new, &held, &one());
            apply(&mut held, &resolution, &mut next);
            for (i, a) in held.iter().enumerate() {
                let a = &a.belief;
                prop_assert!(a.valid.from < a.valid.to);
                prop_assert!(a.confidence > 0.0 && a.confidence <= 1.0);
                for b in held[i + 1..].iter().map(|held| &held.belief) {
                    prop_assert!(
                        a.uncertain || b.uncertain || !a.valid.overlaps(&b.valid),
                        "{a:?} and {b:?}"
                    );
                }
            }
        }
    }

    /// The same assertion from the same source changes nothing the second time.
    #[test]
    fn hearing_a_source_again_changes_nothing(
        tail in 0u64..3, from in 0i64..20, tenths in 1u32..=10,
    ) {
        let held = vec![Held { fact: FactId(1), same: false, belief: belief(9, 5, Interval::MAX, 0.9) }];
        let mut new = belief(tail, from, Interval::MAX, f64::from(tenths) / 10.0);
        new.sources = vec!["D1:3".to_owned()];
        let (mut held, mut next) = (held, 1);
        let first = assert(&new, &held, &one());
        apply(&mut held, &first, &mut next);
        prop_assert_eq!(assert(&new, &held, &one()).effect, Effect::Unchanged);
    }
}

#[test]
fn many_holds_parallel_facts() {
    let held = [Held { fact: FactId(1), same: false, belief: belief(1, 0, Interval::MAX, 0.9) }];
    let resolution = assert(&belief(2, 0, Interval::MAX, 0.9), &held, &RelationRule::default());
    assert_eq!(resolution.effect, Effect::Inserted);
    assert_eq!(resolution.changes.len(), 1);
}

#[test]
fn a_weak_fact_passes_the_gate_once_it_is_confirmed() {
    let stable = Held { fact: FactId(1), same: false, belief: belief(1, 0, Interval::MAX, 0.9) };
    let weak = belief(2, 5, Interval::MAX, 0.4);
    let gated = assert(&weak, std::slice::from_ref(&stable), &one());
    assert_eq!(gated.effect, Effect::HeldAsUncertain);
    let (mut held, mut next) = (vec![stable], 1);
    apply(&mut held, &gated, &mut next);
    let released = assert(&weak, &held, &one());
    assert_eq!((released.effect, released.closed), (Effect::Merged, vec![FactId(1)]));
}
