//! What goes on once who denied it is forgotten: versions that get time back, up to what else holds.
//!
//! It never takes anything out but a fact that becomes one with another.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Loss;
use crate::error::Result;
use crate::evidence::{cut, cut_by, deny, is_superseded, merge, undenied};
use crate::facts::next_number;
use crate::graph::{Belief, Denial, Edge, FactId, Interval, Time, VersionRecord};
use crate::transaction::Transaction;

/// A version that may get time back, as it would be with all of it.
pub(super) struct Regaining {
    pub(super) place: (FactId, u32),
    pub(super) version: VersionRecord,
    pub(super) had: Had,
}

/// What a version had that gets time back.
#[derive(Clone, Copy)]
pub(super) enum Had {
    /// All of it, until another value took its place.
    All,
    /// This part of it.
    Part(Interval),
    /// Nothing: it stands apart from the version at its place.
    Nothing,
}

impl Transaction<'_> {
    /// Stores the parts of a version for the time that it had before, each but the first as a fact of its
    /// own, and gives those of which there is more.
    pub(super) fn put_parts(
        &mut self,
        place: (FactId, u32),
        version: &VersionRecord,
        parts: Vec<Belief>,
    ) -> Result<Vec<Regaining>> {
        let (had, was_superseded) = (version.belief.valid, is_superseded(&version.belief));
        let (mut regaining, mut is_first) = (Vec::new(), true);
        for belief in parts {
            let common = belief.valid.common(&had);
            let version = VersionRecord { belief, ..version.clone() };
            let Some(valid) = common else {
                regaining.push(Regaining { place, version, had: Had::Nothing });
                continue;
            };
            let place = if is_first { place } else { (self.new_fact()?, 0) };
            is_first = false;
            let belief = Belief { valid, ..version.belief.clone() };
            let is_whole = belief.valid == version.belief.valid;
            let resumes = was_superseded && !is_superseded(&version.belief);
            self.put_record(place.0, place.1, &VersionRecord { belief, ..version.clone() })?;
            if resumes {
                regaining.push(Regaining { place, version, had: Had::All });
            } else if !is_whole {
                regaining.push(Regaining { place, version, had: Had::Part(valid) });
            }
        }
        Ok(regaining)
    }

    /// What the facts that went had closed goes on: nothing denies it any more where one of them began or
    /// ended.
    pub(super) fn reopen(&mut self, loss: &mut Loss) -> Result<()> {
        for gone in std::mem::take(&mut loss.gone) {
            self.check_goes_on()?;
            let (sources, valid) = (&gone.belief.sources, gone.belief.valid);
            let took = |denied: Interval, of: &Belief| {
                denied.from == valid.from
                    || denied.to == valid.to && valid.to != Interval::MAX
                    || is_superseded(of) && denied.hull(&valid) == valid
            };
            // It may have become one of what was told with sources and without.
            let is_unsourced = gone.belief.claims().any(|claim| claim.sources.is_empty());
            let is_its = |denial: &Denial, of: &Belief| {
                !denial.is_end
                    && (!denial.sources.is_empty() || is_unsourced)
                    && denial.sources.iter().all(|source| sources.contains(source))
                    && took(denial.valid, of)
            };
            let policy = self.rule_of(gone.relation).policy;
            let rivals: BTreeSet<FactId> =
                self.rivals(&gone, Interval::ALL)?.into_iter().map(|edge| edge.fact).collect();
            let mut regaining = Vec::new();
            for fact in rivals {
                for (number, version) in self.reader().versions(fact)? {
                    let belief = &version.belief;
                    let found = undenied(belief, |denial| is_its(denial, belief), policy);
                    let Some(parts) = found else { continue };
                    self.delete_record(fact, number, &version)?;
                    let found = self.put_parts((fact, number), &version, parts)?;
                    loss.counts.derived += u64::from(!found.is_empty());
                    regaining.extend(found);
                }
            }
            loss.counts.derived += self.give_back(regaining, std::slice::from_ref(&gone))?;
        }
        Ok(())
    }

    /// Gives versions their time back: first those that another value took the place of, then those that go on
    /// where they were, then those that have it apart. Before all of them and after, what is uncertain beside something
    /// that is `gone` may be certain; how many facts are is the answer.
    pub(super) fn give_back(
        &mut self,
        mut regaining: Vec<Regaining>,
        gone: &[VersionRecord],
    ) -> Result<u64> {
        let settled = self.settle_uncertain(gone, &regaining)?;
        let rank = |had| match had {
            Had::All => 0,
            Had::Part(_) => 1,
            Had::Nothing => 2,
        };
        regaining.sort_by_key(|one| (rank(one.had), Reverse(one.version.belief.valid.from)));
        let whole = regaining.iter().take_while(|one| matches!(one.had, Had::All)).count();
        for one in &regaining[..whole] {
            self.check_goes_on()?;
            self.resume(one.place, one.version.clone(), &regaining)?;
        }
        for Regaining { place, version, had } in regaining.into_iter().skip(whole) {
            self.check_goes_on()?;
            match had {
                Had::Part(had) => self.put_beside_rivals(place, version, had)?,
                Had::All | Had::Nothing => self.put_apart(place, version)?,
            }
        }
        Ok(settled + self.settle_uncertain(gone, &[])?)
    }

    /// Stores a version that gets time back, up to another value that it may not hold beside: that one denies
    /// the rest. What is held of the same value and touches it becomes one with it.
    fn put_beside_rivals(
        &mut self,
        (fact, mut number): (FactId, u32),
        mut version: VersionRecord,
        had: Interval,
    ) -> Result<()> {
        // It may have become one with another one in the meantime, or have ended with that.
        let Some(stored) = self.reader().find_version(fact, number)? else { return Ok(()) };
        version.system = stored.system;
        self.delete_record(fact, number, &stored)?;
        if version.system.to == Interval::MAX {
            let rivals = self.certain_rivals(fact, &version)?;
            let is_past =
                |rival: &&Edge| !is_between(rival, &version) && rival.system.to != Interval::MAX;
            // What is not believed any more ends nothing that is.
            if let Some(since) = rivals.iter().filter(is_past).map(|rival| rival.system.to).max() {
                let mut before = version.clone();
                before.system.to = since;
                self.bound(fact, &mut before, had)?;
                number = self.put_until((fact, number), &before, since)?;
                version.system.from = since;
            }
        }
        self.bound(fact, &mut version, had)?;
        let is_longer = version.system.to == Interval::MAX && version.belief.valid != had;
        let number = if is_longer { self.absorb((fact, number), &mut version)? } else { number };
        self.put_record(fact, number, &version)
    }

    /// Stores a version as it was believed until an instant, and gives the number of what is believed then.
    pub(super) fn put_until(
        &mut self,
        (fact, number): (FactId, u32),
        version: &VersionRecord,
        since: Time,
    ) -> Result<u32> {
        let system = Interval { to: since, ..version.system };
        self.put_record(fact, number, &VersionRecord { system, ..version.clone() })?;
        next_number(number)
    }

    /// Cuts a version where other values hold, on the sides of the time that it had before.
    fn bound(&self, fact: FactId, version: &mut VersionRecord, had: Interval) -> Result<()> {
        for rival in self.certain_rivals(fact, version)? {
            let valid = version.belief.valid;
            if is_between(&rival, version) || !valid.overlaps(&rival.valid) {
                continue;
            }
            let [before, after] = valid.beside(&rival.valid);
            let (left, denied) = match rival.valid.from >= had.to {
                true => (before, Interval { from: rival.valid.from, ..valid }),
                false => (after, Interval { to: rival.valid.to, ..valid }),
            };
            let Some(left) = left else {
                version.belief.uncertain = true;
                break;
            };
            let sources = self.reader().version(rival.fact, rival.version)?.belief.sources;
            let denial = Denial { sources, valid: denied, is_end: false };
            cut_by(&mut version.belief, left, denial);
        }
        Ok(())
    }

    /// Merges what is believed of the same value and touches a version into it, since both are believed.
    /// Gives the number of the version then.
    pub(super) fn absorb(
        &mut self,
        (fact, mut number): (FactId, u32),
        version: &mut VersionRecord,
    ) -> Result<u32> {
        let policy = self.rule_of(version.relation).policy;
        for same in self.certain_rivals(fact, version)? {
            if !is_between(&same, version)
                || same.system.to != Interval::MAX
                || !same.valid.touches(&version.belief.valid)
            {
                continue;
            }
            let held = self.reader().version(same.fact, same.version)?;
            let since = held.system.from.max(version.system.from);
            self.delete_record(same.fact, same.version, &held)?;
            if held.system.from < since {
                self.put_until((same.fact, same.version), &held, since)?;
            }
            if version.system.from < since {
                number = self.put_until((fact, number), version, since)?;
                version.system.from = since;
            }
            // It may be found from its other end.
            let mut both = Belief { tail: version.belief.tail, ..held.belief };
            merge(&mut both, &version.belief, policy);
            version.belief = both;
        }
        Ok(number)
    }

    /// Stores a part that stands apart from what a version had, as far as no other value holds there, as one with what
    /// is believed of the same value beside it. What holds there denies it of that version.
    fn put_apart(
        &mut self,
        (fact, number): (FactId, u32),
        mut version: VersionRecord,
    ) -> Result<()> {
        // Of what was believed once it is enough that what is left of it goes on.
        if version.system.to != Interval::MAX {
            return Ok(());
        }
        let rivals = self.other_values(fact, &version)?;
        let (left, denials) = self.left_beside(version.belief.valid, &rivals, |_| true)?;
        let place = self.reader().find_version(fact, number)?;
        if let Some(left) = left {
            cut(&mut version.belief, left);
        }
        if let Some(mut whole) = place {
            let is_next = left.is_some_and(|left| left.touches(&whole.belief.valid));
            if is_next || !denials.is_empty() {
                self.delete_record(fact, number, &whole)?;
                if is_next {
                    let policy = self.rule_of(version.relation).policy;
                    merge(&mut whole.belief, &version.belief, policy);
                }
                denials.into_iter().for_each(|denial| deny(&mut whole.belief, denial));
                let number =
                    if is_next { self.absorb((fact, number), &mut whole)? } else { number };
                self.put_record(fact, number, &whole)?;
            }
            if is_next {
                return Ok(());
            }
        }
        if left.is_none() {
            return Ok(());
        }
        let fact = self.new_fact()?;
        let number = self.absorb((fact, 0), &mut version)?;
        self.put_record(fact, number, &version)
    }

    /// The first part of a time that rivals leave, and what they deny of it: one that `has_end` its own time, and
    /// any other all that comes behind it too.
    pub(super) fn left_beside(
        &self,
        valid: Interval,
        rivals: &[Edge],
        has_end: impl Fn(&Belief) -> bool,
    ) -> Result<(Option<Interval>, Vec<Denial>)> {
        let (mut left, mut denials) = (Some(valid), Vec::new());
        for rival in rivals {
            let Some(mut denied) = rival.valid.common(&valid) else { continue };
            let other = self.reader().version(rival.fact, rival.version)?.belief;
            let ends = has_end(&other);
            denied.to = if ends { denied.to } else { valid.to };
            denials.push(Denial { sources: other.sources, valid: denied, is_end: false });
            left = left.and_then(|left| {
                let [before, after] = left.beside(&rival.valid);
                before.or(after.filter(|_| ends))
            });
        }
        Ok((left, denials))
    }

    /// The certain facts of other values that are of the time of a version.
    pub(super) fn other_values(&self, fact: FactId, version: &VersionRecord) -> Result<Vec<Edge>> {
        let mut rivals = self.certain_rivals(fact, version)?;
        let valid = version.belief.valid;
        rivals.retain(|rival| !is_between(rival, version) && rival.valid.overlaps(&valid));
        Ok(rivals)
    }

    /// The certain facts that a version may not hold beside, but its own.
    pub(super) fn certain_rivals(
        &self,
        fact: FactId,
        version: &VersionRecord,
    ) -> Result<Vec<Edge>> {
        if version.belief.uncertain {
            return Ok(Vec::new());
        }
        let mut rivals = self.rivals(version, version.belief.valid)?;
        rivals.retain(|edge| {
            edge.fact != fact && !edge.uncertain && edge.system.overlaps(&version.system)
        });
        // What is found from both ends is met twice.
        rivals.sort_by_key(|edge| (edge.valid.from, edge.fact, edge.version));
        rivals.dedup_by_key(|edge| (edge.fact, edge.version));
        Ok(rivals)
    }
}

/// Whether an edge is between the two nodes of a version, seen from either.
pub(super) fn is_between(edge: &Edge, version: &VersionRecord) -> bool {
    let (head, tail) = (version.head, version.belief.tail);
    [(head, tail), (tail, head)].contains(&(edge.head, edge.tail))
}
