//! The update rule: what an act does to the held beliefs (REAL, section III-A, made exact).
//!
//! A pure function: no disk, no clock, no ids of its own, and nothing that it is given is changed.
//! It looks only at the facts that the act can touch and that are believed now: those of the same
//! head and relation and, where facts are found from both ends, those of the tail. Its cases are a
//! table in `docs/time.md`.
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
//! confirmed, doubted                    confidence moves; an uncertain fact that is confirmed is
//!                                       asserted anew
//! retracted                             belief ends
//! closed                                the fact ends at the instant, if it held longer
//! ```

use crate::evidence::{cut, cut_by, denied, deny, has_claimed, merge, revise, simplify};
use crate::graph::{
    Belief, Cardinality, ConfidencePolicy, Denial, Evidence, FactId, Interval, RelationRule, Time,
};

/// From this confidence on, a fact is stable: a fact under the relation's threshold cannot close it.
pub const THETA_STABLE: f64 = 0.8;

/// A version that is believed now.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Its fact.
    pub fact: FactId,
    /// Whether it is between the same two nodes as what the act is about.
    pub same: bool,
    /// What it says.
    pub belief: Belief,
}

/// What is done to beliefs.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A fact is asserted.
    Assert(Belief),
    /// A held fact is confirmed: confidence `1 - (1 - c)(1 - x)`, `x` in (0, 1].
    Confirm(FactId, f64),
    /// A held fact is doubted: confidence `c (1 - x)`, `x` in (0, 1).
    Doubt(FactId, f64),
    /// The belief in a held fact ends.
    Retract(FactId),
    /// A held fact ended at an instant, after its beginning, as these sources say.
    Close(FactId, Time, Vec<String>),
}

/// One change to what is believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A new fact between the nodes of the act.
    Insert(Belief),
    /// A new fact between the nodes of this one: what is left of it after another.
    Remainder(FactId, Belief),
    /// The fact's believed version goes to history, and this one takes its place.
    Replace(FactId, Belief),
    /// The fact says what it said, and rests on more: its believed version has this evidence as well.
    Rest(FactId, Belief),
    /// The fact's believed version goes to history.
    Retire(FactId),
    /// The same, as this: with who told another value of all its time.
    Supersede(FactId, Belief),
}

/// What became of the belief that the act is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is a fact of its own.
    Inserted,
    /// It is part of a fact that was held before.
    Merged,
    /// It is held beside a fact that it contradicts.
    HeldAsUncertain,
    /// It said nothing new.
    Unchanged,
    /// It is surer than before.
    Confirmed,
    /// It is surer than before, and still held beside a fact that it contradicts.
    ConfirmedAsUncertain,
    /// It is less sure than before.
    Doubted,
    /// It is not believed any more.
    Retracted,
    /// It ends where it was said to.
    Closed,
    /// It was not believed to begin with.
    NotBelieved,
}

/// What an act does.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// What became of the belief that the act is about.
    pub effect: Effect,
    /// The changes; the one that carries that belief comes last.
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

impl Resolution {
    fn new(effect: Effect) -> Self {
        Self {
            effect,
            changes: Vec::new(),
            same: None,
            closed: Vec::new(),
            split: Vec::new(),
            superseded: Vec::new(),
            unsettled: Vec::new(),
        }
    }

    fn replacing(effect: Effect, fact: FactId, belief: Belief) -> Self {
        let changes = vec![Change::Replace(fact, belief)];
        Self { changes, same: Some(fact), ..Self::new(effect) }
    }
}

/// Applies the rule.
pub fn resolve(act: &Act, held: &[Held], rule: &RelationRule) -> Resolution {
    let target = |fact: &FactId| held.iter().find(|held| held.fact == *fact);
    match act {
        Act::Assert(belief) => assert(belief.clone(), Vec::new(), held.iter().collect(), rule),
        Act::Confirm(fact, by) => target(fact)
            .map_or(Resolution::new(Effect::NotBelieved), |target| {
                confirm(target, *by, held, rule)
            }),
        Act::Doubt(fact, by) => {
            target(fact).map_or(Resolution::new(Effect::NotBelieved), |target| {
                let mut belief = target.belief.clone();
                revise(&mut belief, Evidence::Doubted(*by), rule.policy);
                match belief.confidence == target.belief.confidence {
                    true => unchanged(*fact),
                    false => Resolution::replacing(Effect::Doubted, *fact, belief),
                }
            })
        }
        Act::Close(fact, at, sources) => target(fact)
            .map_or(Resolution::new(Effect::NotBelieved), |target| close(target, *at, sources)),
        Act::Retract(fact) => match target(fact) {
            Some(_) => Resolution {
                changes: vec![Change::Retire(*fact)],
                same: Some(*fact),
                ..Resolution::new(Effect::Retracted)
            },
            None => Resolution::new(Effect::NotBelieved),
        },
    }
}

/// What holds longer ends at the instant. What does not, or has not begun by then, stays as it is; but
/// that it is said to be over is kept.
fn close(target: &Held, at: Time, sources: &[String]) -> Resolution {
    let held = &target.belief;
    let denied = held.evidence.iter().filter_map(denied).map(|denied| denied.to);
    let until = denied.fold(held.valid.to, Time::max);
    let mut belief = held.clone();
    if let Some(left) = Interval::new(held.valid.from, at.min(held.valid.to))
        && let Some(valid) = Interval::new(at, until)
    {
        let denial = Denial { sources: sources.to_vec(), valid, is_end: true };
        cut_by(&mut belief, left, denial);
    }
    match belief.valid == held.valid {
        false => Resolution::replacing(Effect::Closed, target.fact, belief),
        true if belief != *held => Resolution {
            changes: vec![Change::Rest(target.fact, belief)],
            ..unchanged(target.fact)
        },
        true => unchanged(target.fact),
    }
}

fn unchanged(fact: FactId) -> Resolution {
    Resolution { same: Some(fact), ..Resolution::new(Effect::Unchanged) }
}

/// A certain fact becomes surer. An uncertain one is asserted anew, with the confidence it has then.
fn confirm(target: &Held, by: f64, held: &[Held], rule: &RelationRule) -> Resolution {
    let mut belief = target.belief.clone();
    revise(&mut belief, Evidence::Confirmed(by), rule.policy);
    if !target.belief.uncertain {
        return match belief.confidence == target.belief.confidence {
            true => unchanged(target.fact),
            false => Resolution::replacing(Effect::Confirmed, target.fact, belief),
        };
    }
    belief.uncertain = false;
    let others = held.iter().filter(|held| held.fact != target.fact).collect();
    let resolution = assert(belief, vec![target], others, rule);
    let effect = match resolution.effect {
        Effect::HeldAsUncertain => Effect::ConfirmedAsUncertain,
        Effect::Unchanged => Effect::Unchanged,
        _ => Effect::Confirmed,
    };
    Resolution { effect, ..resolution }
}

/// What a belief does that has taken in the `merged` facts already.
fn assert<'h>(
    new: Belief,
    mut merged: Vec<&'h Held>,
    held: Vec<&'h Held>,
    rule: &RelationRule,
) -> Resolution {
    let alone = new.valid;
    // What is confirmed is asserted anew with all that it rests on.
    let own = merged.is_empty().then(|| new.clone());
    let mut candidate = new;
    let mut resolution = Resolution::new(Effect::Inserted);
    // Uncertain versions first: together with the new one they may pass the gate.
    absorb(&mut candidate, &mut merged, &held, rule, true);
    if rule.cardinality == Cardinality::One {
        let open_ended = candidate.valid.to == Interval::MAX;
        let others: Vec<&Held> =
            held.iter().copied().filter(|held| !held.same && !held.belief.uncertain).collect();
        let denial = make_room(&mut candidate, &others, rule, &mut resolution);
        candidate.uncertain =
            others.iter().any(|other| prevails(&other.belief, &candidate, open_ended, rule));
        if candidate.uncertain {
            candidate.valid = hull(alone, &merged);
            simplify(&mut candidate);
            resolution.changes.clear();
            resolution.unsettled.clear();
        } else {
            for other in others {
                give_way(other, &candidate, open_ended, &mut resolution);
            }
            if let Some(denial) = denial {
                deny(&mut candidate, denial);
            }
        }
    }
    if !candidate.uncertain {
        absorb(&mut candidate, &mut merged, &held, rule, false);
    }
    settle(candidate, own.as_ref(), &merged, rule.policy, &mut resolution);
    resolution
}

/// Merges the held versions between the same nodes that the candidate touches into it.
fn absorb<'h>(
    candidate: &mut Belief,
    merged: &mut Vec<&'h Held>,
    held: &[&'h Held],
    rule: &RelationRule,
    uncertain: bool,
) {
    let may_merge = |other: &&Held| other.same && other.belief.uncertain == uncertain;
    let mut rest: Vec<&Held> = held.iter().copied().filter(may_merge).collect();
    let mut valid = candidate.valid;
    let mut told: Option<Belief> = None;
    // What is merged may reach further facts, before or after it.
    while let Some(place) = rest.iter().position(|other| other.belief.valid.touches(&valid)) {
        let other = rest.remove(place);
        let mut all = other.belief.clone();
        if let Some(told) = &told {
            merge(&mut all, told, rule.policy);
        }
        valid = valid.hull(&all.valid);
        told = Some(all);
        merged.push(other);
    }
    if let Some(told) = told {
        merge(candidate, &told, rule.policy);
    }
}

/// Late arrival: an open-ended candidate ends where the next fact starts, which denies the rest of it,
/// unless that one is too weak to close it, in which case that one becomes uncertain.
fn make_room(
    candidate: &mut Belief,
    others: &[&Held],
    rule: &RelationRule,
    resolution: &mut Resolution,
) -> Option<Denial> {
    if candidate.valid.to != Interval::MAX {
        return None;
    }
    let later = others.iter().filter(|other| other.belief.valid.from > candidate.valid.from);
    let (weak, strong): (Vec<&Held>, Vec<&Held>) =
        later.partition(|other| is_gated(other.belief.confidence, candidate.confidence, rule));
    let next = strong.into_iter().map(|other| &other.belief).min_by_key(|next| next.valid.from);
    let denial = next.and_then(|next| {
        let valid = Interval::new(next.valid.from, Interval::MAX)?;
        Some(Denial { sources: next.sources.clone(), valid, is_end: false })
    });
    if let Some(next) = next {
        cut(candidate, Interval { to: next.valid.from, ..candidate.valid });
    }
    for other in weak.into_iter().filter(|other| other.belief.valid.from < candidate.valid.to) {
        let belief = Belief { uncertain: true, ..other.belief.clone() };
        resolution.changes.push(Change::Replace(other.fact, belief));
        resolution.unsettled.push(other.fact);
    }
    denial
}

/// The conflict gate: what is so sure is too weak to close a stable fact.
pub(crate) fn is_gated(weak: f64, stable: f64, rule: &RelationRule) -> bool {
    weak < rule.threshold && stable >= THETA_STABLE
}

/// Whether the held belief stays as it is, so that the candidate can only stand beside it.
fn prevails(old: &Belief, candidate: &Belief, open_ended: bool, rule: &RelationRule) -> bool {
    let corrects = open_ended && old.valid.from == candidate.valid.from;
    let covers = candidate.valid.from <= old.valid.from && old.valid.to <= candidate.valid.to;
    let (new, held) = (candidate.confidence, old.confidence);
    let is_less_sure = (corrects || covers) && new < held;
    old.valid.overlaps(&candidate.valid)
        && (is_gated(new, held, rule) || (is_less_sure && !is_gated(held, new, rule)))
}

/// What is left of a held fact of another tail once the candidate holds, which its sources tell: those too of what
/// was uncertain and is a part of it now.
fn give_way(other: &Held, candidate: &Belief, open_ended: bool, resolution: &mut Resolution) {
    let (old, new) = (other.belief.valid, candidate.valid);
    if resolution.unsettled.contains(&other.fact) || !old.overlaps(&new) {
        return;
    }
    let part = |valid, denied| {
        let mut part = other.belief.clone();
        let denial = Denial { sources: candidate.sources.clone(), valid: denied, is_end: false };
        cut_by(&mut part, valid, denial);
        part
    };
    let after = Interval::new(new.to, old.to).filter(|_| !open_ended);
    let before = Interval::new(old.from, new.from);
    // Of two parts that are left each may be closed or retracted since: neither has time of the other.
    let taken = match before.is_some() && after.is_some() {
        true => [new, new],
        false => [Interval { from: new.from, to: old.to }, Interval { from: old.from, to: new.to }],
    };
    let before = before.map(|valid| part(valid, taken[0]));
    let after = after.map(|valid| part(valid, taken[1]));
    let (change, told) = match (before, after) {
        (Some(before), Some(after)) => {
            resolution.changes.push(Change::Replace(other.fact, before));
            (Change::Remainder(other.fact, after), &mut resolution.split)
        }
        (Some(before), None) => (Change::Replace(other.fact, before), &mut resolution.closed),
        (None, Some(after)) => (Change::Replace(other.fact, after), &mut resolution.split),
        (None, None) => (Change::Supersede(other.fact, part(old, old)), &mut resolution.superseded),
    };
    resolution.changes.push(change);
    told.push(other.fact);
}

/// What the candidate says when nothing makes room for it.
fn hull(alone: Interval, merged: &[&Held]) -> Interval {
    merged.iter().fold(alone, |interval, held| interval.hull(&held.belief.valid))
}

/// Adds the change that carries the candidate: under the id of the first fact it was merged with.
/// `own` is what was asserted, if that is new.
fn settle(
    candidate: Belief,
    own: Option<&Belief>,
    merged: &[&Held],
    policy: ConfidencePolicy,
    resolution: &mut Resolution,
) {
    let Some((first, rest)) = merged.split_first() else {
        if candidate.uncertain {
            resolution.effect = Effect::HeldAsUncertain;
        }
        resolution.changes.push(Change::Insert(candidate));
        return;
    };
    resolution.same = Some(first.fact);
    // What its own sources have said before is not recorded as evidence either.
    let held = &first.belief;
    let said = Belief { tail: held.tail, evidence: held.evidence.clone(), ..candidate.clone() };
    if rest.is_empty() && resolution.changes.is_empty() && *held == said {
        resolution.effect = Effect::Unchanged;
        if own.is_some_and(|own| !has_claimed(held, own, policy)) {
            resolution.changes.push(Change::Rest(first.fact, candidate));
        }
        return;
    }
    resolution.effect = if candidate.uncertain { Effect::HeldAsUncertain } else { Effect::Merged };
    resolution.changes.extend(rest.iter().map(|held| Change::Retire(held.fact)));
    resolution.changes.push(Change::Replace(first.fact, candidate));
}

#[cfg(test)]
mod tests;
