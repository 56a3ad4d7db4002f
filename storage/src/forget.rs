//! Forgetting: the one act that destroys. It takes out nodes and facts with their history, and what
//! rests on them alone; what rests on others too stays, as if these had never spoken.
//!
//! What a forgotten fact had closed goes on (`goes_on`), and what it had taken the place of or made
//! uncertain stands again (`resume`).
//!
//! It writes deletions like any other change, in one transaction. That the bytes leave the files is
//! the work of `Store::purge`, after the commit.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

mod goes_on;
mod names;
mod resume;

use crate::error::Result;
use crate::evidence::without;
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, Claim, ConfidencePolicy, EdgeFilter, Evidence, FactId, NodeId, NodeRecord,
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

impl Transaction<'_> {
    /// Forgets nodes and facts: everything that says something of these nodes, everything that only
    /// they are the source of, and nodes that stood in nothing else. What held until one of these facts
    /// goes on. Scans all versions once, and once more where nodes are left alone, which may be sources themselves.
    pub fn forget(&mut self, nodes: &[NodeId], facts: &[FactId]) -> Result<Forgotten> {
        self.forgotten = true;
        let mut loss = Loss::default();
        for fact in facts {
            self.forget_fact(*fact, &mut loss)?;
        }
        let mut nodes: BTreeSet<NodeId> = nodes.iter().copied().collect();
        nodes.extend(self.became(&nodes)?);
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

    /// Takes back those of these nodes that this transaction has made, say nothing and are in no fact: what was told of
    /// them has been overruled before it was committed. That forgets nothing.
    pub fn take_back(&mut self, nodes: &BTreeSet<NodeId>) -> Result<()> {
        for node in self.left_alone(nodes)? {
            let record = self.reader().node(node, SystemScope::Current)?;
            if record.is_some_and(|record| record.created == self.now) {
                self.forget_node(node, &mut Loss::default())?;
            }
        }
        Ok(())
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
        let Some(record) = self.reader().node(node, SystemScope::All)? else {
            return Ok(Vec::new());
        };
        self.index_node(node, Some(&record), None)?;
        self.forget_schema_key(node, &record)?;
        let mut names: Vec<String> = record.names().cloned().collect();
        // The names of one that has ended lead to another one, which nobody has asked to forget.
        if self.reader().node(node, SystemScope::Current)?.is_some() {
            for name in &names {
                self.overlay.delete(Family::NodeKeys, key::node_key(record.label, name));
                self.forget_lent_name(record.label, name)?;
            }
        } else {
            let reader = self.reader();
            let mut own = Vec::new();
            for name in names {
                if reader.find_node(record.label, &name)?.is_none() {
                    own.push(name);
                }
            }
            names = own;
        }
        self.forget_former_names(node, record.label)?;
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
        self.view().scan_prefix(family, prefix, &mut |key, _| {
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
        let left = |version: &VersionRecord, policy| without(&version.belief, &names, policy);
        self.derive_again(told, &left, loss)
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
        let left = |version: &VersionRecord, policy| without(&version.belief, &names, policy);
        self.derive_again(versions, &left, &mut loss)?;
        Ok(loss.counts)
    }

    /// Forgets claims of these versions of facts, and nothing else; a version that rests on no other is taken out, and
    /// what the claims had closed goes on. Nodes that are in no fact any more stay.
    pub fn forget_told(
        &mut self,
        told: Vec<(FactId, u32)>,
        is_gone: &dyn Fn(&VersionRecord, &Claim) -> bool,
    ) -> Result<Forgotten> {
        self.forgotten = true;
        let mut loss = Loss::default();
        for (fact, number) in &told {
            let version = self.reader().version(*fact, *number)?;
            let rule = self.rule_of(version.relation);
            if rule.cardinality == Cardinality::One {
                let goes =
                    |part: &Evidence| part.claim().is_none_or(|claim| is_gone(&version, claim));
                let gone = version.belief.resting_on(goes, rule.policy).into_iter();
                loss.gone.extend(gone.map(|belief| VersionRecord { belief, ..version.clone() }));
            }
        }
        let left = |version: &VersionRecord, policy| {
            let stays = |part: &Evidence| part.claim().is_none_or(|claim| !is_gone(version, claim));
            version.belief.resting_on(stays, policy)
        };
        self.derive_again(told, &left, &mut loss)?;
        self.reopen(&mut loss)?;
        Ok(loss.counts)
    }

    /// Derives versions again as what is left of their beliefs.
    fn derive_again(
        &mut self,
        told: Vec<(FactId, u32)>,
        left: &dyn Fn(&VersionRecord, ConfidencePolicy) -> Vec<Belief>,
        loss: &mut Loss,
    ) -> Result<()> {
        let (mut facts, mut regaining, mut contested) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (fact, number) in told {
            self.check_goes_on()?;
            let version = self.reader().version(fact, number)?;
            facts.insert(fact);
            self.delete_record(fact, number, &version)?;
            let rule = self.rule_of(version.relation);
            let left = left(&version, rule.policy);
            match left.is_empty() {
                true => {
                    loss.counts.versions += 1;
                    loss.touched.extend([version.head, version.belief.tail]);
                }
                false => loss.counts.derived += 1,
            }
            regaining.extend(self.put_parts((fact, number), &version, left)?);
            if rule.cardinality == Cardinality::One {
                contested.push(version);
            }
        }
        loss.counts.derived += self.give_back(regaining, &contested)?;
        for fact in facts {
            loss.counts.facts += u64::from(self.reader().versions(fact)?.is_empty());
        }
        Ok(())
    }

    /// Those nodes that are in no fact any more and say nothing themselves.
    fn left_alone(&self, nodes: &BTreeSet<NodeId>) -> Result<BTreeSet<NodeId>> {
        let reader = self.reader();
        let mut alone = BTreeSet::new();
        for node in nodes {
            let says_nothing =
                |record: &NodeRecord| record.properties.is_empty() && record.aliases.is_empty();
            if let Some(record) = reader.node(*node, SystemScope::All)?
                && says_nothing(&record)
                && record.created == record.system_from
                && !has_facts(reader, *node, &EdgeFilter::EVERYTHING)?
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

/// Whether a node is in any fact that a filter keeps.
pub(crate) fn has_facts(reader: Reader<'_>, node: NodeId, filter: &EdgeFilter) -> Result<bool> {
    let mut has = false;
    for side in [Side::Out, Side::In] {
        reader.edges(node, side, None, filter, &mut |_| {
            has = true;
            ControlFlow::Break(())
        })?;
        if has {
            break;
        }
    }
    Ok(has)
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
