//! What a belief rests on: merging what was claimed, and taking a source out again.
//!
//! Pure, like the update rule: no disk, no clock.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use crate::graph::{Belief, Claim, ConfidencePolicy, Denial, Evidence, Interval};

/// The confidence after both; a source that is heard again is not new evidence.
pub(crate) fn upgraded(
    (old, old_sources): (f64, &[String]),
    (new, new_sources): (f64, &[String]),
    policy: ConfidencePolicy,
) -> f64 {
    let heard = !new_sources.is_empty() && new_sources.iter().all(|s| old_sources.contains(s));
    moved(old, new, heard, policy)
}

/// The confidence after both; `heard` if the new one is no new evidence.
fn moved(old: f64, new: f64, heard: bool, policy: ConfidencePolicy) -> f64 {
    match policy {
        ConfidencePolicy::Latest => new,
        ConfidencePolicy::Max => old.max(new),
        ConfidencePolicy::NoisyOr if heard => old.max(new),
        ConfidencePolicy::NoisyOr => either(old, new),
    }
}

/// `1 - (1 - a)(1 - b)`: sure if either is (noisy-or).
pub(crate) fn either(a: f64, b: f64) -> f64 {
    // Rounding must not take a tiny confidence to nothing.
    (1.0 - (1.0 - a) * (1.0 - b)).max(a).max(b)
}

/// `c (1 - x)`, and never nothing.
pub(crate) fn doubted(confidence: f64, by: f64) -> f64 {
    (confidence * (1.0 - by)).max(f64::MIN_POSITIVE)
}

/// Makes `new` say what `old` and `new` say together. Properties that only `old` had stay.
pub(crate) fn merge(new: &mut Belief, old: &Belief, policy: ConfidencePolicy) {
    let valid = new.valid.hull(&old.valid);
    let (known, more) = (evidence_of(old), evidence_of(new));
    let is_new = |part: &Evidence| part.claim().is_none() || !known.contains(part);
    let more: Vec<Evidence> = match adds_by_claims_alone(&known, &more, policy) {
        true => more.into_iter().filter(is_new).collect(),
        false => more,
    };
    let retold = more.iter().filter(|part| is_new(part)).filter_map(claimed_time);
    let told: Vec<Interval> = std::iter::once(valid).chain(retold).collect();
    let mut evidence = Vec::new();
    known.into_iter().for_each(|part| push_beside(&mut evidence, part, &told, policy));
    more.into_iter().for_each(|part| push_beside(&mut evidence, part, &[valid], policy));
    new.evidence = evidence;
    new.valid = valid;
    new.confidence =
        upgraded((old.confidence, &old.sources), (new.confidence, &new.sources), policy);
    let own = std::mem::replace(&mut new.sources, old.sources.clone());
    add_new(&mut new.sources, own);
    let own = std::mem::replace(&mut new.properties, old.properties.clone());
    new.properties.extend(own);
    simplify(new);
}

/// Adds a part at the end, as far as it denies none of the times that were told after all.
fn push_beside(
    evidence: &mut Vec<Evidence>,
    part: Evidence,
    told: &[Interval],
    policy: ConfidencePolicy,
) {
    let Evidence::Denied(denial) = part else { return push(evidence, part, policy) };
    for valid in left_beside(denial.valid, told.iter().copied()) {
        push_denial(evidence, Denial { valid, ..denial.clone() });
    }
}

/// Whether a claim that stands in both says nothing more the second time, wherever it stands, as claims of
/// parts that were one fact do: all are by named sources, of one intent and with the same properties, and
/// nothing but claims moves the confidence.
fn adds_by_claims_alone(known: &[Evidence], more: &[Evidence], policy: ConfidencePolicy) -> bool {
    let all = || known.iter().chain(more);
    let mut claims = all().filter_map(Evidence::claim);
    let Some(first) = claims.clone().next() else { return false };
    policy != ConfidencePolicy::Latest
        && !all().any(|part| matches!(part, Evidence::Confirmed(_) | Evidence::Doubted(_)))
        && claims.all(|claim| {
            !claim.sources.is_empty()
                && claim.intent == first.intent
                && claim.properties == first.properties
        })
}

/// Adds to a belief that it was confirmed or doubted.
pub(crate) fn revise(belief: &mut Belief, part: Evidence, policy: ConfidencePolicy) {
    write_out(belief);
    belief.confidence = match part {
        Evidence::Confirmed(by) => either(belief.confidence, by),
        Evidence::Doubted(by) => doubted(belief.confidence, by),
        Evidence::Claim(_) | Evidence::Denied(_) => belief.confidence,
    };
    push(&mut belief.evidence, part, policy);
}

/// Adds to a belief that a time was denied: one which it no longer holds in, or all that it holds in, of what
/// is not believed any more.
pub(crate) fn deny(belief: &mut Belief, denial: Denial) {
    write_out(belief);
    push_denial(&mut belief.evidence, denial);
}

/// Cuts a belief to what is left of its time. Its claims stay as they were told.
pub(crate) fn cut(belief: &mut Belief, left: Interval) {
    write_out(belief);
    belief.valid = left;
}

/// Cuts a belief to what a denial leaves of its time.
pub(crate) fn cut_by(belief: &mut Belief, left: Interval, denial: Denial) {
    cut(belief, left);
    push_denial(&mut belief.evidence, denial);
}

fn push_denial(evidence: &mut Vec<Evidence>, denial: Denial) {
    let denial = Evidence::Denied(denial);
    if !evidence.contains(&denial) {
        evidence.push(denial);
    }
}

/// The belief without what these sources said; nothing if nobody else said anything. The same belief
/// if they said nothing, and several if only they told of the time between.
///
/// A claim of several sources together stays, with those that are left. What remains holds within
/// the valid time that the belief had, and within what only these sources denied of it.
pub(crate) fn without(
    belief: &Belief,
    forgotten: &HashSet<&str>,
    policy: ConfidencePolicy,
) -> Vec<Belief> {
    let is_gone = |source: &String| forgotten.contains(source.as_str());
    let is_left = |sources: &mut Vec<String>| {
        let told = !sources.is_empty();
        sources.retain(|source| !is_gone(source));
        !told || !sources.is_empty()
    };
    let keep = |part: &mut Evidence| match part {
        Evidence::Claim(claim) => is_left(&mut claim.sources),
        // Of another value it is seen anew for which time it is told.
        Evidence::Denied(denial) if !denial.is_end => !denial.sources.iter().any(is_gone),
        Evidence::Denied(denial) => is_left(&mut denial.sources),
        Evidence::Confirmed(_) | Evidence::Doubted(_) => true,
    };
    match belief.witnesses().any(|source| forgotten.contains(source)) {
        true => left(belief, keep, policy),
        false => vec![belief.clone()],
    }
}

/// The belief without some denials: it holds for what these took from it, perhaps in several parts. None
/// if it has none of them.
pub(crate) fn undenied(
    belief: &Belief,
    is_gone: impl Fn(&Denial) -> bool,
    policy: ConfidencePolicy,
) -> Option<Vec<Belief>> {
    let is_one = |part: &Evidence| matches!(part, Evidence::Denied(denial) if is_gone(denial));
    let found = belief.evidence.iter().any(is_one);
    found.then(|| left(belief, |part| !is_one(part), policy))
}

/// What is left of a belief with a part of what it rests on.
fn left(
    belief: &Belief,
    keep: impl Fn(&mut Evidence) -> bool,
    policy: ConfidencePolicy,
) -> Vec<Belief> {
    let mut told = evidence_of(belief);
    lengthen(&mut told);
    let (mut evidence, mut dropped) = (Vec::new(), Vec::new());
    for mut part in told {
        let denied = denied(&part);
        match keep(&mut part) {
            true => evidence.push(part),
            // What took all of its time at once has cut no claim.
            false => dropped.extend(denied.filter(|denied| !denied.overlaps(&belief.valid))),
        }
    }
    let (mut within, mut apart) = (belief.valid, regained(dropped, &evidence));
    // What touches it may reach the next.
    while let Some(next) = apart.iter().position(|part| part.touches(&within)) {
        within = within.hull(&apart.remove(next));
    }
    let claims = evidence.iter().filter(|part| denied(part).is_none()).cloned();
    let claims: Vec<Evidence> = claims.collect();
    let mut left = within_time(&evidence, within, belief, policy);
    left.extend(apart.into_iter().flat_map(|time| within_time(&claims, time, belief, policy)));
    left
}

/// What evidence says within a time, in a part for each stretch that it covers.
fn within_time(
    evidence: &[Evidence],
    within: Interval,
    belief: &Belief,
    policy: ConfidencePolicy,
) -> Vec<Belief> {
    let parts = stretches(evidence).into_iter().filter_map(|stretch| {
        // What nobody claims any more is denied by nobody either.
        let of_it = |part: &Evidence| match part {
            Evidence::Claim(claim) => stretch.overlaps(&claim.valid).then(|| part.clone()),
            Evidence::Denied(denial) => {
                let valid = denial.valid.common(&stretch)?;
                Some(Evidence::Denied(Denial { valid, ..denial.clone() }))
            }
            Evidence::Confirmed(_) | Evidence::Doubted(_) => Some(part.clone()),
        };
        let mut left = derived(evidence.iter().filter_map(of_it).collect(), belief, policy)?;
        left.valid = left.valid.common(&within)?;
        simplify(&mut left);
        Some(left)
    });
    parts.collect()
}

/// The time that a part of the evidence denies, if it denies any.
pub(crate) fn denied(part: &Evidence) -> Option<Interval> {
    part.denial().map(|denial| denial.valid)
}

/// The parts of a time that other ones leave, in order.
fn left_beside(valid: Interval, others: impl Iterator<Item = Interval>) -> Vec<Interval> {
    others.fold(vec![valid], |parts, other| {
        parts.iter().flat_map(|part| part.beside(&other)).flatten().collect()
    })
}

/// Whether another value was told of all the time of a belief, so that it went to history.
pub(crate) fn is_superseded(belief: &Belief) -> bool {
    let denied: Vec<Interval> = belief.evidence.iter().filter_map(denied).collect();
    belief.valid.is_within(&denied)
}

/// What dropped denials took and no other one denies, what was denied last first: it is the nearest.
fn regained(dropped: Vec<Interval>, evidence: &[Evidence]) -> Vec<Interval> {
    let free = |gone: Interval| left_beside(gone, evidence.iter().filter_map(denied));
    dropped.into_iter().rev().flat_map(free).collect()
}

/// Claims that were cut where a denied time begins or ends reach over it again, unless others do. No claim is
/// cut any more: a database has such of versions before this one.
fn lengthen(evidence: &mut [Evidence]) {
    let claimed = stretches(evidence);
    let denied: Vec<Interval> = evidence.iter().filter_map(denied).collect();
    for part in denied.into_iter().filter(|part| !part.is_within(&claimed)) {
        for told in &mut *evidence {
            if let Evidence::Claim(claim) = told
                && (claim.valid.to == part.from || claim.valid.from == part.to)
            {
                claim.valid = claim.valid.hull(&part);
            }
        }
    }
}

/// The time that a part of the evidence claims, if it claims any.
fn claimed_time(part: &Evidence) -> Option<Interval> {
    part.claim().map(|claim| claim.valid)
}

/// The stretches of time that claims cover without a gap, in order.
fn stretches(evidence: &[Evidence]) -> Vec<Interval> {
    let mut claimed: Vec<Interval> = evidence.iter().filter_map(claimed_time).collect();
    claimed.sort_by_key(|valid| valid.from);
    let mut stretches: Vec<Interval> = Vec::new();
    for valid in claimed {
        match stretches.last_mut().filter(|stretch| stretch.touches(&valid)) {
            Some(stretch) => *stretch = stretch.hull(&valid),
            None => stretches.push(valid),
        }
    }
    stretches
}

/// What the evidence says in order, of the tail and with the standing of `belief`.
fn derived(evidence: Vec<Evidence>, belief: &Belief, policy: ConfidencePolicy) -> Option<Belief> {
    let mut derived: Option<Belief> = None;
    let mut known = HashSet::new();
    for part in &evidence {
        match (part, &mut derived) {
            (Evidence::Claim(claim), None) => {
                known.extend(claim.sources.iter().map(String::as_str));
                derived = Some(Belief {
                    tail: belief.tail,
                    valid: claim.valid,
                    confidence: claim.confidence,
                    intent: claim.intent,
                    uncertain: belief.uncertain,
                    sources: claim.sources.clone(),
                    properties: claim.properties.clone(),
                    evidence: Vec::new(),
                });
            }
            (Evidence::Claim(claim), Some(derived)) => {
                let heard = claim.sources.iter().all(|source| known.contains(source.as_str()))
                    && !claim.sources.is_empty();
                derived.confidence = moved(derived.confidence, claim.confidence, heard, policy);
                derived.valid = derived.valid.hull(&claim.valid);
                derived.intent = claim.intent;
                for source in &claim.sources {
                    if known.insert(source) {
                        derived.sources.push(source.clone());
                    }
                }
                derived.properties.extend(claim.properties.clone());
            }
            (Evidence::Confirmed(by), Some(derived)) => {
                derived.confidence = either(derived.confidence, *by);
            }
            (Evidence::Doubted(by), Some(derived)) => {
                derived.confidence = doubted(derived.confidence, *by);
            }
            // Claims are as long as denials have left them.
            (Evidence::Denied(_), _) => {}
            // It moved the confidence of what is forgotten.
            (Evidence::Confirmed(_) | Evidence::Doubted(_), None) => {}
        }
    }
    derived.map(|derived| Belief { evidence, ..derived })
}

impl Belief {
    /// What it would be of a part of what it rests on: a belief for each stretch of its time that the kept claims
    /// cover, none if no claim is kept. Confidences are moved by the policy, in the order in which it was told.
    pub fn resting_on(
        &self,
        keeps: impl Fn(&Evidence) -> bool,
        policy: ConfidencePolicy,
    ) -> Vec<Self> {
        left(self, |part| keeps(part), policy)
    }

    /// The claims that it rests on: those of its evidence, or what it says itself as the only one.
    pub fn claims(&self) -> impl Iterator<Item = Cow<'_, Claim>> {
        let own = self.evidence.is_empty().then(|| Cow::Owned(claim_of(self)));
        own.into_iter().chain(claims(self).map(Cow::Borrowed))
    }

    /// Who said anything of it: its sources, and who denied a part of its time.
    pub fn witnesses(&self) -> impl Iterator<Item = &str> {
        let denied = self.denials().flat_map(|denial| &denial.sources);
        self.sources.iter().chain(denied).map(String::as_str)
    }

    /// Who said that it does not hold for a part of the time that was claimed. Who told another value of all
    /// its time is not among them: that came after it was believed.
    pub fn deniers(&self) -> impl Iterator<Item = &str> {
        let beside = self.denials().filter(|denial| !denial.valid.overlaps(&self.valid));
        beside.flat_map(|denial| &denial.sources).map(String::as_str)
    }

    fn denials(&self) -> impl Iterator<Item = &Denial> {
        self.evidence.iter().filter_map(Evidence::denial)
    }
}

/// The claims that a belief names beside what it says itself.
pub(crate) fn claims(belief: &Belief) -> impl Iterator<Item = &Claim> {
    belief.evidence.iter().filter_map(Evidence::claim)
}

/// What a belief rests on, written out.
pub(crate) fn evidence_of(belief: &Belief) -> Vec<Evidence> {
    match belief.evidence.is_empty() {
        true => vec![Evidence::Claim(claim_of(belief))],
        false => belief.evidence.clone(),
    }
}

/// Writes out what a belief rests on where it says just that.
fn write_out(belief: &mut Belief) {
    if belief.evidence.is_empty() {
        belief.evidence.push(Evidence::Claim(claim_of(belief)));
    }
}

pub(crate) fn claim_of(belief: &Belief) -> Claim {
    Claim {
        sources: belief.sources.clone(),
        valid: belief.valid,
        confidence: belief.confidence,
        intent: belief.intent,
        properties: belief.properties.clone(),
    }
}

/// Whether the sources of a claim have said all of it before that lies within the time of a belief,
/// so that it adds nothing to what that rests on.
pub(crate) fn has_claimed(belief: &Belief, new: &Belief, policy: ConfidencePolicy) -> bool {
    let within = Interval {
        from: new.valid.from.max(belief.valid.from),
        to: new.valid.to.min(belief.valid.to),
    };
    claimed(belief, &claim_of(new), policy)
        .any(|valid| valid.from <= within.from && valid.to >= within.to)
}

/// Whether a belief still has in its claims all that another one has claimed.
pub(crate) fn keeps_claims(belief: &Belief, of: &Belief, policy: ConfidencePolicy) -> bool {
    let is_kept = |claim: Cow<'_, Claim>| {
        let Interval { from, to } = claim.valid;
        claimed(belief, &claim, policy).any(|valid| valid.from <= from && valid.to >= to)
    };
    // It mostly begins with them.
    let mut own = belief.claims();
    of.claims().all(|claim| own.next().is_some_and(|own| own == claim) || is_kept(claim))
}

/// The times of which the sources of a claim have said what it says.
pub(crate) fn claimed<'b>(
    belief: &'b Belief,
    new: &'b Claim,
    policy: ConfidencePolicy,
) -> impl Iterator<Item = Interval> + 'b {
    let says_it = move |claim: &Cow<'_, Claim>| {
        let is_as_sure = match policy {
            ConfidencePolicy::Latest => claim.confidence == new.confidence,
            ConfidencePolicy::NoisyOr | ConfidencePolicy::Max => claim.confidence >= new.confidence,
        };
        is_as_sure
            && claim.sources == new.sources
            && claim.intent == new.intent
            && new.properties.iter().all(|(name, value)| claim.properties.get(name) == Some(value))
    };
    belief.claims().filter(says_it).map(|claim| claim.valid)
}

/// Adds a part at the end. Claims of the same sources in a row become one where they touch and name the same
/// properties, and so do confirmations and doubts, so that evidence does not grow with every repetition.
fn push(evidence: &mut Vec<Evidence>, part: Evidence, policy: ConfidencePolicy) {
    let joined = match (evidence.last(), part) {
        (Some(Evidence::Confirmed(a)), Evidence::Confirmed(b)) => {
            let both = Evidence::Confirmed(either(*a, b));
            evidence.pop();
            both
        }
        (Some(Evidence::Doubted(a)), Evidence::Doubted(b)) => {
            let both = Evidence::Doubted(either(*a, b));
            evidence.pop();
            both
        }
        (Some(Evidence::Claim(old)), Evidence::Claim(mut claim))
            if old.sources == claim.sources
                && old.valid.touches(&claim.valid)
                && old.properties.keys().eq(claim.properties.keys())
                && is_as_one(old, &claim, policy) =>
        {
            let heard = (old.confidence, old.sources.as_slice());
            claim.confidence = upgraded(heard, (claim.confidence, &claim.sources), policy);
            claim.valid = claim.valid.hull(&old.valid);
            let own = std::mem::replace(&mut claim.properties, old.properties.clone());
            claim.properties.extend(own);
            evidence.pop();
            Evidence::Claim(claim)
        }
        (_, Evidence::Denied(denial)) => return push_denial(evidence, denial),
        (_, part) => part,
    };
    evidence.push(joined);
}

/// Whether two claims of the same sources, one after the other, move a confidence as the joined one does. By
/// noisy-or a source that is heard again and is surer than before raises it to its own confidence at most, and
/// the joined claim would move it by all of that.
fn is_as_one(old: &Claim, new: &Claim, policy: ConfidencePolicy) -> bool {
    policy != ConfidencePolicy::NoisyOr
        || old.sources.is_empty()
        || new.confidence <= old.confidence
}

/// Drops evidence that says just what the belief says.
pub(crate) fn simplify(belief: &mut Belief) {
    if let [Evidence::Claim(claim)] = belief.evidence.as_slice()
        && *claim == claim_of(belief)
    {
        belief.evidence.clear();
    }
}

/// Appends the sources that are not there yet.
fn add_new(sources: &mut Vec<String>, more: Vec<String>) {
    let known: BTreeSet<String> = sources.iter().cloned().collect();
    sources.extend(more.into_iter().filter(|source| !known.contains(source)));
}

#[cfg(test)]
mod tests;
