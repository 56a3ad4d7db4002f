//! What stands again once what contradicted it is forgotten: what another value had taken the place of, and
//! what was held as uncertain beside it.
//!
//! It cuts nothing that is certain, but to make room for what would have had it.

use std::collections::HashSet;

use super::goes_on::{Had, Regaining, cut, is_between};
use crate::error::{Result, StorageError};
use crate::evidence::deny;
use crate::facts::Believed;
use crate::graph::{Belief, Denial, Edge, FactId, Interval, VersionRecord};
use crate::transaction::Transaction;
use crate::update::{is_gated, prevails};

impl Transaction<'_> {
    /// What another value took the place of is believed again since then. Where yet another one was told, it is
    /// up to then, and after that with what this left of it.
    pub(super) fn resume(
        &mut self,
        (fact, mut number): (FactId, u32),
        version: VersionRecord,
    ) -> Result<()> {
        let Some(stored) = self.reader().find_version(fact, number)? else { return Ok(()) };
        let system = Interval { to: Interval::MAX, ..version.system };
        let mut version = VersionRecord { system, ..version };
        let valid = version.belief.valid;
        let mut rivals = self.certain_rivals(fact, &version)?;
        rivals.retain(|rival| !is_between(rival, &version) && rival.valid.overlaps(&valid));
        let since = rivals.iter().map(|rival| rival.system.from).min();
        if since.is_some_and(|since| since <= version.system.from) {
            return Ok(());
        }
        self.delete_record(fact, number, &stored)?;
        if let Some(since) = since {
            let mut before = version.clone();
            before.system.to = since;
            let (left, denials) = self.left_beside(valid, &rivals)?;
            denials.into_iter().for_each(|denial| deny(&mut version.belief, denial));
            let Some(left) = left else {
                // Who took all of its time is known, should they be forgotten too.
                before.belief.evidence = version.belief.evidence;
                return self.put_record(fact, number, &before);
            };
            self.put_record(fact, number, &before)?;
            number = number.checked_add(1).ok_or(StorageError::Exhausted("version"))?;
            version.system.from = since;
            cut(&mut version.belief, left);
        }
        let number = self.absorb((fact, number), &mut version)?;
        self.put_record(fact, number, &version)
    }

    /// What is uncertain and contradicts nothing certain any more is certain, in the version that is held: as if
    /// nobody had told what it contradicted. Gives how many facts are.
    pub(super) fn settle_uncertain(
        &mut self,
        gone: &[VersionRecord],
        rest: &[Regaining],
    ) -> Result<u64> {
        let (mut uncertain, mut seen) = (Vec::new(), HashSet::new());
        for version in gone {
            self.check_goes_on()?;
            let tail = version.mirror.map(|_| version.belief.tail);
            if seen.insert((version.head, version.relation, tail)) {
                let rivals = self.rivals(version, Interval::ALL)?.into_iter();
                let is_held = |edge: &Edge| edge.uncertain && edge.system.to == Interval::MAX;
                uncertain.extend(rivals.filter(is_held));
            }
        }
        // The surest stays, and of equals the newest, as if they had been told one after the other.
        uncertain.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(b.fact.cmp(&a.fact)));
        uncertain.dedup_by_key(|edge| edge.fact);
        let mut settled = 0;
        for edge in uncertain {
            settled += u64::from(self.settle(edge.fact, rest)?);
        }
        Ok(settled)
    }

    /// Makes a fact certain, if it is not and nothing contradicts it, up to the next value of what has no end,
    /// nor is there a stable one among those that have yet to go on. Says whether it did.
    fn settle(&mut self, fact: FactId, rest: &[Regaining]) -> Result<bool> {
        let Some(Believed { number, version, .. }) = self.believed(fact)? else { return Ok(false) };
        if !version.belief.uncertain {
            return Ok(false);
        }
        let mut certain = version.clone();
        certain.belief.uncertain = false;
        let valid = certain.belief.valid;
        if rest.iter().any(|one| self.outweighs(one, &certain)) {
            return Ok(false);
        }
        let mut rivals = self.certain_rivals(fact, &certain)?;
        // What resumes beside it makes room for it.
        let resumes = |rival: &Edge| {
            let is_it = |one: &Regaining| one.place == (rival.fact, rival.version);
            rest.iter().any(|one| matches!(one.had, Had::All) && is_it(one))
        };
        rivals.retain(|rival| {
            !is_between(rival, &certain) && rival.valid.overlaps(&valid) && !resumes(rival)
        });
        if let Some(next) = rivals.first() {
            let left = Interval::new(valid.from, next.valid.from);
            let Some(left) = left.filter(|_| valid.to == Interval::MAX) else { return Ok(false) };
            let sources = self.reader().version(next.fact, next.version)?.belief.sources;
            cut(&mut certain.belief, left);
            let denied = Interval { from: left.to, to: Interval::MAX };
            deny(&mut certain.belief, Denial { sources, valid: denied, is_end: false });
        }
        self.delete_record(fact, number, &version)?;
        let number = self.absorb((fact, number), &mut certain)?;
        self.put_record(fact, number, &certain)?;
        Ok(true)
    }

    /// Whether a version would not be held as certain beside one that has yet to go on.
    fn outweighs(&self, one: &Regaining, version: &VersionRecord) -> bool {
        let (rule, other) = (self.rule_of(version.relation), &one.version);
        let is_rival = other.head == version.head
            && other.relation == version.relation
            && other.belief.tail != version.belief.tail
            && other.belief.valid.overlaps(&version.belief.valid)
            && !other.belief.uncertain;
        let is_open = |belief: &Belief| belief.valid.to == Interval::MAX;
        let (old, new) = (&other.belief, &version.belief);
        is_rival
            && match one.had {
                Had::All if other.system.from <= version.system.from => {
                    prevails(old, new, is_open(new), &rule)
                }
                Had::All => !prevails(new, old, is_open(old), &rule),
                Had::Part(_) => other.system.to == Interval::MAX && is_gated(new, old, &rule),
                Had::Nothing => false,
            }
    }
}
