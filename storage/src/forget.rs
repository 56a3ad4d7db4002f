//! Forgetting: the one act that destroys. It takes out nodes and facts with their history, and what
//! rests on them alone; what rests on others too stays, as if these had never spoken.
//!
//! It writes deletions like any other change, in one transaction. That the bytes leave the files is
//! the work of `Store::purge`, after the commit.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use crate::error::{Result, StorageError};
use crate::evidence::{deny, merge, undenied, without};
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, Denial, Edge, EdgeFilter, Evidence, FactId, Interval, NodeId, NodeRecord,
    Side, SystemScope, VersionRecord,
};
use crate::key;
use crate::pack::runs;
use crate::reader::Reader;
use crate::transaction::Transaction;

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Nodes, with their history, text and embeddings.
    pub nodes: u64,
    /// Facts of which nothing is left.
    pub facts: u64,
    /// Versions of facts that were taken out.
    pub versions: u64,
    /// Versions that were derived again from the sources that are left.
    pub derived: u64,
}

impl Forgotten {
    /// Counts what another act forgot too.
    pub fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.facts += other.facts;
        self.versions += other.versions;
        self.derived += other.derived;
    }
}

/// What an act forgets, and what it has to look at after it.
#[derive(Default)]
struct Loss {
    counts: Forgotten,
    /// Nodes at the ends of what went.
    touched: BTreeSet<NodeId>,
    /// Versions of facts of which nothing is left.
    gone: Vec<VersionRecord>,
}

/// A version that may get time back, as it would be with all of it, and what it had of that before. If
/// nothing, it is a part that stands apart from the version at that place.
struct Regaining {
    place: (FactId, u32),
    version: VersionRecord,
    had: Option<Interval>,
}

impl Transaction<'_> {
    /// Forgets nodes and facts: everything that says something of these nodes, everything that only
    /// they are the source of, and nodes that stood in nothing else. What held until one of these facts
    /// goes on. Scans all versions once, and once more where a node that is left alone was a source itself.
    pub fn forget(&mut self, nodes: &[NodeId], facts: &[FactId]) -> Result<Forgotten> {
        self.forgotten = true;
        let mut loss = Loss::default();
        for fact in facts {
            self.forget_fact(*fact, &mut loss)?;
        }
        let mut nodes: BTreeSet<NodeId> = nodes.iter().copied().collect();
        nodes.extend(self.left_alone(&loss.touched)?);
        while !nodes.is_empty() {
            let mut names = HashSet::new();
            loss.touched.clear();
            for node in std::mem::take(&mut nodes) {
                names.extend(self.forget_node(node, &mut loss)?);
            }
            self.forget_sources(&names, &mut loss)?;
            nodes = self.left_alone(&loss.touched)?;
        }
        self.reopen(&mut loss)?;
        Ok(loss.counts)
    }

    /// Forgets nodes that are the source of nothing: those that were drawn from others. What names
    /// them as a source stays, for it means something else by that name. Nodes that are in no fact
    /// any more stay too.
    pub fn forget_drawn(&mut self, nodes: &[NodeId]) -> Result<Forgotten> {
        self.forgotten = true;
        let mut loss = Loss::default();
        for node in nodes {
            self.forget_node(*node, &mut loss)?;
        }
        Ok(loss.counts)
    }

    /// Takes out a fact with all its versions.
    fn forget_fact(&mut self, fact: FactId, loss: &mut Loss) -> Result<()> {
        let versions = self.reader().versions(fact)?;
        loss.counts.facts += u64::from(!versions.is_empty());
        for (number, version) in versions {
            loss.touched.extend([version.head, version.belief.tail]);
            self.delete_record(fact, number, &version)?;
            loss.counts.versions += 1;
            if self.rule_of(version.relation).cardinality == Cardinality::One {
                loss.gone.push(version);
            }
        }
        Ok(())
    }

    /// Takes out a node with all its facts and gives the names by which it was a source.
    fn forget_node(&mut self, node: NodeId, loss: &mut Loss) -> Result<Vec<String>> {
        for fact in facts_of(self.reader(), node)? {
            self.check_goes_on()?;
            self.forget_fact(fact, loss)?;
        }
        loss.touched.remove(&node);
        let Some(record) = self.reader().node(node, SystemScope::Current)? else {
            return Ok(Vec::new());
        };
        self.index_node(node, Some(&record), None)?;
        self.forget_schema_key(node, &record)?;
        let names: Vec<String> =
            std::iter::once(&record.key).chain(&record.aliases).cloned().collect();
        for name in &names {
            self.overlay.delete(Family::NodeKeys, key::node_key(record.label, name));
        }
        self.overlay.delete(Family::Nodes, key::node(node));
        if self.view().get(Family::Out, &runs::key(node))?.is_some() {
            self.overlay.delete(Family::Out, runs::key(node));
        }
        self.overlay.delete(Family::Vectors, key::vector(record.label, node));
        self.overlay.delete(Family::TokenCodes, key::vector(record.label, node));
        self.delete_prefix(Family::NodesPast, &key::node(node))?;
        self.delete_prefix(Family::VectorsPast, &key::vector(record.label, node))?;
        loss.counts.nodes += 1;
        Ok(names)
    }

    pub(crate) fn delete_prefix(&mut self, family: Family, prefix: &[u8]) -> Result<()> {
        let mut keys = Vec::new();
        let end = key::after_prefix(prefix);
        self.view().scan(family, prefix, end.as_deref(), &mut |key, _| {
            self.check_goes_on()?;
            keys.push(key.to_vec());
            Ok(ControlFlow::Continue(()))
        })?;
        keys.into_iter().for_each(|key| self.overlay.delete(family, key));
        Ok(())
    }

    /// Derives every version again that these names have said anything of; one that has no other source is
    /// taken out.
    fn forget_sources(&mut self, names: &HashSet<String>, loss: &mut Loss) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let mut told: Vec<(FactId, u32)> = Vec::new();
        self.reader().told_by(names, &mut |fact, number, _| told.push((fact, number)))?;
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        self.forget_claims_of(told, &names, loss)
    }

    /// Forgets what these sources said of a fact, and nothing else. Nodes that are in no fact any
    /// more stay.
    pub fn forget_claims(&mut self, fact: FactId, sources: &[&str]) -> Result<Forgotten> {
        self.forgotten = true;
        let names: HashSet<&str> = sources.iter().copied().collect();
        let versions = self.reader().versions(fact)?.into_iter();
        let versions = versions
            .filter(|(_, version)| version.belief.witnesses().any(|name| names.contains(name)));
        let versions = versions.map(|(number, _)| (fact, number)).collect();
        let mut loss = Loss::default();
        self.forget_claims_of(versions, &names, &mut loss)?;
        self.reopen(&mut loss)?;
        Ok(loss.counts)
    }

    /// Derives versions again without these sources.
    fn forget_claims_of(
        &mut self,
        told: Vec<(FactId, u32)>,
        names: &HashSet<&str>,
        loss: &mut Loss,
    ) -> Result<()> {
        let (mut facts, mut regaining) = (BTreeSet::new(), Vec::new());
        for (fact, number) in told {
            self.check_goes_on()?;
            let version = self.reader().version(fact, number)?;
            facts.insert(fact);
            self.delete_record(fact, number, &version)?;
            let rule = self.rule_of(version.relation);
            let left = without(&version.belief, names, rule.policy);
            match left.is_empty() {
                true => {
                    loss.counts.versions += 1;
                    loss.touched.extend([version.head, version.belief.tail]);
                }
                false => loss.counts.derived += 1,
            }
            regaining.extend(self.put_parts((fact, number), &version, left)?);
        }
        self.give_back(regaining)?;
        for fact in facts {
            loss.counts.facts += u64::from(self.reader().versions(fact)?.is_empty());
        }
        Ok(())
    }

    /// Stores the parts of a version for the time that it had before, each but the first as a fact of its
    /// own, and gives those of which there is more.
    fn put_parts(
        &mut self,
        place: (FactId, u32),
        version: &VersionRecord,
        parts: Vec<Belief>,
    ) -> Result<Vec<Regaining>> {
        let had = version.belief.valid;
        let (mut regaining, mut is_first) = (Vec::new(), true);
        for belief in parts {
            let common = belief.valid.common(&had);
            let version = VersionRecord { belief, ..version.clone() };
            let Some(valid) = common else {
                regaining.push(Regaining { place, version, had: None });
                continue;
            };
            let place = if is_first { place } else { (self.new_fact()?, 0) };
            is_first = false;
            let belief = Belief { valid, ..version.belief.clone() };
            let is_whole = belief.valid == version.belief.valid;
            self.put_record(place.0, place.1, &VersionRecord { belief, ..version.clone() })?;
            if !is_whole {
                regaining.push(Regaining { place, version, had: common });
            }
        }
        Ok(regaining)
    }

    /// What the facts that went had closed goes on: nothing denies it any more where one of them began or
    /// ended.
    fn reopen(&mut self, loss: &mut Loss) -> Result<()> {
        for gone in std::mem::take(&mut loss.gone) {
            self.check_goes_on()?;
            let (sources, valid) = (&gone.belief.sources, gone.belief.valid);
            let is_its = |denial: &Denial| {
                !denial.is_end
                    && denial.sources.is_empty() == sources.is_empty()
                    && denial.sources.iter().all(|source| sources.contains(source))
                    && (denial.valid.from == valid.from
                        || denial.valid.to == valid.to && valid.to != Interval::MAX)
            };
            let policy = self.rule_of(gone.relation).policy;
            let rivals: BTreeSet<FactId> =
                self.rivals(&gone, Interval::ALL)?.into_iter().map(|edge| edge.fact).collect();
            let mut regaining = Vec::new();
            for fact in rivals {
                for (number, version) in self.reader().versions(fact)? {
                    let Some(parts) = undenied(&version.belief, is_its, policy) else { continue };
                    self.delete_record(fact, number, &version)?;
                    let found = self.put_parts((fact, number), &version, parts)?;
                    loss.counts.derived += u64::from(!found.is_empty());
                    regaining.extend(found);
                }
            }
            self.give_back(regaining)?;
        }
        Ok(())
    }

    /// Gives versions their time back: first those that go on where they were, then those that have it apart.
    fn give_back(&mut self, mut regaining: Vec<Regaining>) -> Result<()> {
        regaining.sort_by_key(|one| (one.had.is_none(), Reverse(one.version.belief.valid.from)));
        regaining.into_iter().try_for_each(|one| self.put_beside_rivals(one))
    }

    /// Stores a version that gets time back, up to another value that it may not hold beside: that one denies
    /// the rest. What is held of the same value and touches it becomes one with it.
    fn put_beside_rivals(&mut self, regaining: Regaining) -> Result<()> {
        let Regaining { place: (fact, mut number), mut version, had } = regaining;
        let Some(had) = had else { return self.put_apart((fact, number), version) };
        self.check_goes_on()?;
        // It may have become one with another one in the meantime, or have ended with that.
        let Some(stored) = self.stored(fact, number)? else { return Ok(()) };
        version.system = stored.system;
        self.delete_record(fact, number, &stored)?;
        if version.system.to == Interval::MAX {
            let rivals = self.certain_rivals(fact, &version)?;
            let is_past = |rival: &&Edge| {
                rival.tail != version.belief.tail && rival.system.to != Interval::MAX
            };
            // What is not believed any more ends nothing that is.
            if let Some(since) = rivals.iter().filter(is_past).map(|rival| rival.system.to).max() {
                let mut before = version.clone();
                before.system.to = since;
                self.bound(fact, &mut before, had)?;
                self.put_record(fact, number, &before)?;
                number = number.checked_add(1).ok_or(StorageError::Exhausted("version"))?;
                version.system.from = since;
            }
        }
        self.bound(fact, &mut version, had)?;
        let is_longer = version.system.to == Interval::MAX && version.belief.valid != had;
        let number = if is_longer { self.absorb((fact, number), &mut version)? } else { number };
        self.put_record(fact, number, &version)
    }

    /// Cuts a version where other values hold, on the sides of the time that it had before.
    fn bound(&self, fact: FactId, version: &mut VersionRecord, had: Interval) -> Result<()> {
        for rival in self.certain_rivals(fact, version)? {
            let valid = version.belief.valid;
            if rival.tail == version.belief.tail || !valid.overlaps(&rival.valid) {
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
            cut(&mut version.belief, left);
            deny(&mut version.belief, Denial { sources, valid: denied, is_end: false });
        }
        Ok(())
    }

    /// Merges what is believed of the same value and touches a version into it, since both are believed.
    /// Gives the number of the version then.
    fn absorb(
        &mut self,
        (fact, mut number): (FactId, u32),
        version: &mut VersionRecord,
    ) -> Result<u32> {
        let policy = self.rule_of(version.relation).policy;
        for same in self.certain_rivals(fact, version)? {
            let is_same = same.tail == version.belief.tail && same.head == version.head;
            if !is_same
                || same.system.to != Interval::MAX
                || !same.valid.touches(&version.belief.valid)
            {
                continue;
            }
            let held = self.reader().version(same.fact, same.version)?;
            let since = held.system.from.max(version.system.from);
            self.delete_record(same.fact, same.version, &held)?;
            let until = |whole: &VersionRecord| VersionRecord {
                system: Interval { to: since, ..whole.system },
                ..whole.clone()
            };
            if held.system.from < since {
                self.put_record(same.fact, same.version, &until(&held))?;
            }
            if version.system.from < since {
                self.put_record(fact, number, &until(version))?;
                number = number.checked_add(1).ok_or(StorageError::Exhausted("version"))?;
                version.system.from = since;
            }
            let mut both = held.belief;
            merge(&mut both, &version.belief, policy);
            version.belief = both;
        }
        Ok(number)
    }

    /// Stores a part that stands apart from what a version had, as far as no other value holds there. What
    /// does denies it of that version.
    fn put_apart(
        &mut self,
        (fact, number): (FactId, u32),
        mut version: VersionRecord,
    ) -> Result<()> {
        // Of what was believed once it is enough that what is left of it goes on.
        if version.system.to != Interval::MAX {
            return Ok(());
        }
        let mut denials = Vec::new();
        let mut left = Some(version.belief.valid);
        for rival in self.certain_rivals(fact, &version)? {
            let Some(denied) = rival.valid.common(&version.belief.valid) else { continue };
            let sources = self.reader().version(rival.fact, rival.version)?.belief.sources;
            denials.push(Denial { sources, valid: denied, is_end: false });
            left = left.and_then(|left| {
                let [before, after] = left.beside(&rival.valid);
                before.or(after)
            });
        }
        let place = self.stored(fact, number)?;
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
        self.put_record(fact, 0, &version)
    }

    fn stored(&self, fact: FactId, number: u32) -> Result<Option<VersionRecord>> {
        let versions = self.reader().versions(fact)?.into_iter();
        Ok(versions.filter(|(held, _)| *held == number).map(|(_, version)| version).next())
    }

    /// The certain facts that a version may not hold beside, but its own.
    fn certain_rivals(&self, fact: FactId, version: &VersionRecord) -> Result<Vec<Edge>> {
        if version.belief.uncertain {
            return Ok(Vec::new());
        }
        let mut rivals = self.rivals(version, version.belief.valid)?;
        rivals.retain(|edge| {
            edge.fact != fact && !edge.uncertain && edge.system.overlaps(&version.system)
        });
        Ok(rivals)
    }

    /// Those nodes that are in no fact any more and say nothing themselves.
    fn left_alone(&self, nodes: &BTreeSet<NodeId>) -> Result<BTreeSet<NodeId>> {
        let reader = self.reader();
        let mut alone = BTreeSet::new();
        for node in nodes {
            let says_nothing =
                |record: &NodeRecord| record.properties.is_empty() && record.aliases.is_empty();
            if let Some(record) = reader.node(*node, SystemScope::Current)?
                && says_nothing(&record)
                && record.created == record.system_from
                && facts_of(reader, *node)?.is_empty()
            {
                alone.insert(*node);
            }
        }
        Ok(alone)
    }
}

impl Reader<'_> {
    /// Calls `visit` on every version of every fact that one of these names has said anything of, for it or
    /// against it. Scans all versions.
    pub fn told_by(
        &self,
        names: &HashSet<String>,
        visit: &mut dyn FnMut(FactId, u32, &VersionRecord),
    ) -> Result<()> {
        self.all_versions(&mut |fact, number, version| {
            if version.belief.witnesses().any(|name| names.contains(name)) {
                visit(fact, number, &version);
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// Cuts a belief, and a claim that was as long as it.
fn cut(belief: &mut Belief, left: Interval) {
    let had = std::mem::replace(&mut belief.valid, left);
    for part in &mut belief.evidence {
        if let Evidence::Claim(claim) = part
            && claim.valid == had
        {
            claim.valid = left;
        }
    }
}

/// Every fact that a node is or was an end of.
fn facts_of(reader: Reader<'_>, node: NodeId) -> Result<BTreeSet<FactId>> {
    let mut facts = BTreeSet::new();
    for side in [Side::Out, Side::In] {
        reader.edges(node, side, None, &EdgeFilter::EVERYTHING, &mut |edge| {
            facts.insert(edge.fact);
            ControlFlow::Continue(())
        })?;
    }
    Ok(facts)
}

#[cfg(test)]
mod tests;
