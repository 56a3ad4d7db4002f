//! What stands again once what contradicted it is forgotten: what another value had taken the place of, and
//! what was held as uncertain beside it.
//!
//! It takes no time from anything that is certain.

use std::collections::{BTreeSet, HashSet};

use super::goes_on::{Had, Regaining};
use crate::error::Result;
use crate::evidence::{cut, cut_by, denied, deny};
use crate::facts::Believed;
use crate::graph::{Belief, Denial, Edge, FactId, Interval, SystemScope, VersionRecord};
use crate::transaction::Transaction;

impl Transaction<'_> {
    /// What another value took the place of is believed again since then. Where yet another one was told after
    /// it, it is up to then, and after that with what this left of it. It stays as it is where what has yet to go
    /// on may be of that time, or one of its nodes has ended.
    pub(super) fn resume(
        &mut self,
        (fact, mut number): (FactId, u32),
        version: VersionRecord,
        rest: &[Regaining],
    ) -> Result<()> {
        let ended = version.system.to;
        let system = Interval { to: Interval::MAX, ..version.system };
        let mut version = VersionRecord { system, ..version };
        let valid = version.belief.valid;
        // What ended where this begins does so still.
        let ends_there = |one: &Regaining| {
            matches!(one.had, Had::Part(had) if had.to == valid.from)
                && valid.to == Interval::MAX
                && one.version.belief.tail != version.belief.tail
        };
        for node in [version.head, version.belief.tail] {
            if self.reader().node(node, SystemScope::Current)?.is_none() {
                return Ok(());
            }
        }
        let is_other = |one: &&Regaining| one.place != (fact, number) && !ends_there(one);
        if rest.iter().filter(is_other).any(|one| may_meet(&one.version, &version)) {
            return Ok(());
        }
        let rivals = self.other_values(fact, &version)?;
        let since = rivals.iter().map(|rival| rival.system.from).min();
        let Some(stored) = self.reader().find_version(fact, number)? else { return Ok(()) };
        if since.is_some_and(|since| since < ended) {
            return Ok(());
        }
        self.delete_record(fact, number, &stored)?;
        if let Some(since) = since {
            let (left, denials) = self.left_beside(valid, &rivals, ends_by_itself)?;
            let before = version.clone();
            denials.into_iter().for_each(|denial| deny(&mut version.belief, denial));
            let Some(left) = left else {
                // Who took all of its time is known, should they be forgotten too.
                return self.put_until((fact, number), &version, since).map(drop);
            };
            number = self.put_until((fact, number), &before, since)?;
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

    /// Makes a fact certain, if it is not and nothing contradicts it, up to the next value of what has no end. Says
    /// whether it did. It stays as it is where what has yet to go on may be of that time.
    fn settle(&mut self, fact: FactId, rest: &[Regaining]) -> Result<bool> {
        let Some(Believed { number, version, .. }) = self.believed(fact)? else { return Ok(false) };
        if !version.belief.uncertain {
            return Ok(false);
        }
        let mut certain = version.clone();
        certain.belief.uncertain = false;
        let valid = certain.belief.valid;
        if rest.iter().any(|one| may_meet(&one.version, &certain)) {
            return Ok(false);
        }
        if let Some(next) = self.other_values(fact, &certain)?.first() {
            let left = Interval::new(valid.from, next.valid.from);
            let Some(left) = left.filter(|_| valid.to == Interval::MAX) else { return Ok(false) };
            let sources = self.reader().version(next.fact, next.version)?.belief.sources;
            let denied = Interval { from: left.to, to: Interval::MAX };
            cut_by(&mut certain.belief, left, Denial { sources, valid: denied, is_end: false });
        }
        self.delete_record(fact, number, &version)?;
        let number = self.absorb((fact, number), &mut certain)?;
        self.put_record(fact, number, &certain)?;
        Ok(true)
    }
}

/// Whether a belief has an end that was told with it, and not one that another value made.
fn ends_by_itself(belief: &Belief) -> bool {
    let valid = belief.valid;
    let mut denials = belief.evidence.iter().filter_map(denied);
    let is_cut = denials.any(|denied| denied.touches(&valid) && denied.from >= valid.to);
    valid.to != Interval::MAX && !is_cut
}

/// Whether two versions of a relation, of any system time, may be of the same time or become one. Other values
/// that only touch hold one after the other.
fn may_meet(one: &VersionRecord, other: &VersionRecord) -> bool {
    let ends = |version: &VersionRecord| BTreeSet::from([version.head, version.belief.tail]);
    let (a, b) = (one.belief.valid, other.belief.valid);
    one.relation == other.relation && (a.overlaps(&b) || a.touches(&b) && ends(one) == ends(other))
}
