//! The update rule: what a new belief does to the held ones (REAL, section III-A, made exact).
//!
//! A pure function: no disk, no clock, no ids of its own, and nothing that it is given is changed.
//! It looks only at the versions of one head and relation that are believed now.
//!
//! ```text
//! same tail, intervals touch            one fact over both intervals; confidence moves by policy
//! ONE, another tail, intervals overlap
//!   new is open-ended, starts later     the old one is closed where the new one starts
//!   new is open-ended, starts earlier   the new one ends where the old one starts (late arrival)
//!   both start together                 a correction: the surer one stays, the newer one of equals
//!   new has an end                      the old one keeps what is left on both sides
//!   new is under the threshold and
//!   the old one is stable               the new one is held beside it as uncertain
//! MANY, UNKNOWN                         a parallel fact
//! ```

use crate::graph::{Belief, Cardinality, ConfidencePolicy, FactId, Interval, RelationRule};

/// From this confidence on, a fact is stable: a fact under the relation's threshold cannot close it.
pub const THETA_STABLE: f64 = 0.8;

/// A version that is believed now.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Its fact.
    pub fact: FactId,
    /// What it says.
    pub belief: Belief,
}

/// One change to what is believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A new fact.
    Insert(Belief),
    /// The fact's believed version goes to history, and this one takes its place.
    Replace(FactId, Belief),
    /// The fact's believed version goes to history.
    Retire(FactId),
}

/// What became of the new belief itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is a fact of its own.
    Inserted,
    /// It is part of a fact that was held before.
    Merged,
    /// It is held beside a stable fact that it contradicts.
    HeldAsUncertain,
    /// It said nothing new.
    Unchanged,
}

/// What a new belief does.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// What became of it.
    pub effect: Effect,
    /// The changes; the one that carries the new belief comes last.
    pub changes: Vec<Change>,
    /// The held fact that it is part of now, if it is part of one.
    pub same: Option<FactId>,
    /// Facts that now end where it begins.
    pub closed: Vec<FactId>,
    /// Facts that made room for it in the middle or at the start.
    pub split: Vec<FactId>,
    /// Facts that it replaced.
    pub superseded: Vec<FactId>,
    /// Weak facts that it made uncertain.
    pub unsettled: Vec<FactId>,
}

/// Applies the rule.
pub fn resolve(new: &Belief, held: &[Held], rule: &RelationRule) -> Resolution {
    let mut candidate = new.clone();
    let mut resolution = Resolution {
        effect: Effect::Inserted,
        changes: Vec::new(),
        same: None,
        closed: Vec::new(),
        split: Vec::new(),
        superseded: Vec::new(),
        unsettled: Vec::new(),
    };
    let mut merged = Vec::new();
    if rule.cardinality == Cardinality::One {
        // Uncertain versions first: together with the new one they may pass the gate.
        absorb(&mut candidate, &mut merged, held, rule, true);
        let open_ended = candidate.valid.to == Interval::MAX;
        let others: Vec<&Held> = held
            .iter()
            .filter(|held| held.belief.tail != new.tail && !held.belief.uncertain)
            .collect();
        make_room(&mut candidate, &others, rule, &mut resolution);
        candidate.uncertain =
            others.iter().any(|other| prevails(&other.belief, &candidate, open_ended, rule));
        if candidate.uncertain {
            candidate.valid = merged_interval(new, &merged);
            resolution.changes.clear();
            resolution.unsettled.clear();
        } else {
            for other in others {
                give_way(other, &candidate, open_ended, &mut resolution);
            }
        }
    }
    if !candidate.uncertain {
        absorb(&mut candidate, &mut merged, held, rule, false);
    }
    settle(candidate, &merged, &mut resolution);
    resolution
}

/// Merges the held versions of the same tail that the candidate touches into it.
fn absorb<'h>(
    candidate: &mut Belief,
    merged: &mut Vec<&'h Held>,
    held: &'h [Held],
    rule: &RelationRule,
    uncertain: bool,
) {
    for other in held {
        let old = &other.belief;
        if old.tail == candidate.tail
            && old.uncertain == uncertain
            && old.valid.touches(&candidate.valid)
        {
            candidate.valid = candidate.valid.hull(&old.valid);
            candidate.confidence = upgraded(old, candidate, rule.policy);
            let mut sources = old.sources.clone();
            sources.extend(candidate.sources.drain(..).filter(|new| !old.sources.contains(new)));
            candidate.sources = sources;
            let mut properties = old.properties.clone();
            properties.append(&mut candidate.properties);
            candidate.properties = properties;
            merged.push(other);
        }
    }
}

/// The confidence after both; a source that is heard again is not new evidence.
fn upgraded(old: &Belief, new: &Belief, policy: ConfidencePolicy) -> f64 {
    let heard = !new.sources.is_empty() && new.sources.iter().all(|s| old.sources.contains(s));
    match policy {
        ConfidencePolicy::Latest => new.confidence,
        ConfidencePolicy::Max => old.confidence.max(new.confidence),
        ConfidencePolicy::NoisyOr if heard => old.confidence.max(new.confidence),
        ConfidencePolicy::NoisyOr => {
            let both = 1.0 - (1.0 - old.confidence) * (1.0 - new.confidence);
            // Rounding must not take a tiny confidence to nothing.
            both.max(old.confidence).max(new.confidence)
        }
    }
}

/// Late arrival: an open-ended candidate ends where the next fact starts, unless that one is too
/// weak to close it, in which case that one becomes uncertain.
fn make_room(
    candidate: &mut Belief,
    others: &[&Held],
    rule: &RelationRule,
    resolution: &mut Resolution,
) {
    if candidate.valid.to != Interval::MAX {
        return;
    }
    for other in others.iter().filter(|other| other.belief.valid.from > candidate.valid.from) {
        if is_gated(&other.belief, candidate, rule) {
            let belief = Belief { uncertain: true, ..other.belief.clone() };
            resolution.changes.push(Change::Replace(other.fact, belief));
            resolution.unsettled.push(other.fact);
        } else {
            candidate.valid.to = candidate.valid.to.min(other.belief.valid.from);
        }
    }
}

/// The conflict gate: too weak to close a stable fact.
fn is_gated(weak: &Belief, stable: &Belief, rule: &RelationRule) -> bool {
    weak.confidence < rule.threshold && stable.confidence >= THETA_STABLE
}

/// Whether the held belief stays as it is, so that the candidate can only stand beside it.
fn prevails(old: &Belief, candidate: &Belief, open_ended: bool, rule: &RelationRule) -> bool {
    let corrects = open_ended && old.valid.from == candidate.valid.from;
    let covers = candidate.valid.from <= old.valid.from && old.valid.to <= candidate.valid.to;
    old.valid.overlaps(&candidate.valid)
        && !is_gated(old, candidate, rule)
        && (is_gated(candidate, old, rule)
            || ((corrects || covers) && candidate.confidence < old.confidence))
}

/// What is left of a held fact of another tail once the candidate holds.
fn give_way(other: &Held, candidate: &Belief, open_ended: bool, resolution: &mut Resolution) {
    let (old, new) = (other.belief.valid, candidate.valid);
    if resolution.unsettled.contains(&other.fact) || !old.overlaps(&new) {
        return;
    }
    let part = |interval| Belief { valid: interval, ..other.belief.clone() };
    let before = Interval::new(old.from, new.from);
    let after = Interval::new(new.to, old.to).filter(|_| !open_ended);
    match (before, after) {
        (Some(before), Some(after)) => {
            resolution.changes.push(Change::Replace(other.fact, part(before)));
            resolution.changes.push(Change::Insert(part(after)));
            resolution.split.push(other.fact);
        }
        (Some(before), None) => {
            resolution.changes.push(Change::Replace(other.fact, part(before)));
            resolution.closed.push(other.fact);
        }
        (None, Some(after)) => {
            resolution.changes.push(Change::Replace(other.fact, part(after)));
            resolution.split.push(other.fact);
        }
        (None, None) => {
            resolution.changes.push(Change::Retire(other.fact));
            resolution.superseded.push(other.fact);
        }
    }
}

/// What the candidate says when nothing makes room for it.
fn merged_interval(new: &Belief, merged: &[&Held]) -> Interval {
    merged.iter().fold(new.valid, |interval, held| interval.hull(&held.belief.valid))
}

/// Adds the change that carries the candidate: under the id of the first fact it was merged with.
fn settle(candidate: Belief, merged: &[&Held], resolution: &mut Resolution) {
    let Some((first, rest)) = merged.split_first() else {
        if candidate.uncertain {
            resolution.effect = Effect::HeldAsUncertain;
        }
        resolution.changes.push(Change::Insert(candidate));
        return;
    };
    resolution.same = Some(first.fact);
    if rest.is_empty() && resolution.changes.is_empty() && first.belief == candidate {
        resolution.effect = Effect::Unchanged;
        return;
    }
    resolution.effect = if candidate.uncertain { Effect::HeldAsUncertain } else { Effect::Merged };
    resolution.changes.extend(rest.iter().map(|held| Change::Retire(held.fact)));
    resolution.changes.push(Change::Replace(first.fact, candidate));
}

#[cfg(test)]
mod tests {
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
        }
    }

    fn one() -> RelationRule {
        RelationRule { cardinality: Cardinality::One, ..RelationRule::default() }
    }

    /// Applies changes to a list, as the store does.
    fn apply(held: &mut Vec<Held>, resolution: &Resolution, next: &mut u64) {
        for change in &resolution.changes {
            match change {
                Change::Insert(belief) => {
                    *next += 1;
                    held.push(Held { fact: FactId(*next), belief: belief.clone() });
                }
                Change::Replace(fact, belief) => {
                    for other in held.iter_mut().filter(|other| other.fact == *fact) {
                        other.belief = belief.clone();
                    }
                }
                Change::Retire(fact) => held.retain(|other| other.fact != *fact),
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
                let resolution = resolve(&new, &held, &one());
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
            let held = vec![Held { fact: FactId(1), belief: belief(9, 5, Interval::MAX, 0.9) }];
            let mut new = belief(tail, from, Interval::MAX, f64::from(tenths) / 10.0);
            new.sources = vec!["D1:3".to_owned()];
            let (mut held, mut next) = (held, 1);
            let first = resolve(&new, &held, &one());
            apply(&mut held, &first, &mut next);
            prop_assert_eq!(resolve(&new, &held, &one()).effect, Effect::Unchanged);
        }
    }

    #[test]
    fn many_holds_parallel_facts() {
        let held = [Held { fact: FactId(1), belief: belief(1, 0, Interval::MAX, 0.9) }];
        let resolution =
            resolve(&belief(2, 0, Interval::MAX, 0.9), &held, &RelationRule::default());
        assert_eq!(resolution.effect, Effect::Inserted);
        assert_eq!(resolution.changes.len(), 1);
    }

    #[test]
    fn a_weak_fact_passes_the_gate_once_it_is_confirmed() {
        let stable = Held { fact: FactId(1), belief: belief(1, 0, Interval::MAX, 0.9) };
        let weak = belief(2, 5, Interval::MAX, 0.4);
        let gated = resolve(&weak, std::slice::from_ref(&stable), &one());
        assert_eq!(gated.effect, Effect::HeldAsUncertain);
        let (mut held, mut next) = (vec![stable], 1);
        apply(&mut held, &gated, &mut next);
        let released = resolve(&weak, &held, &one());
        assert_eq!((released.effect, released.closed), (Effect::Merged, vec![FactId(1)]));
    }
}
