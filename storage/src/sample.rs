//! What a typical node looks like: how many nodes there are, of which labels, with how many facts.
//! The planner chooses by it.
//!
//! It reads a bounded number of nodes, whatever the size of the database, and always the same ones:
//! the same state gives the same sample. It never filters, and never says what a node holds.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::adjacency;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{LabelId, NodeId, RelationId, Side, SystemScope};
use crate::key;
use crate::reader::{Reader, families_of};

/// Facts of a node on one side that are counted one by one.
const FACTS_MAX: u64 = 256;
/// Facts of each relation that are counted in any case.
const FACTS_MIN: u64 = 16;

/// What a typical node looks like. Exact if there are no more nodes than were to be read and none of
/// them has very many facts; an estimate otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Nodes.
    pub nodes: f64,
    /// Nodes of each label.
    pub labels: BTreeMap<LabelId, f64>,
    /// Facts of a node of that label, or of any node, of that relation, with the node on that end.
    /// What is not here was not met.
    pub degrees: BTreeMap<(Option<LabelId>, RelationId, Side), Degree>,
}

/// How many facts of a kind a node has that are believed now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degree {
    /// Facts for each node, those without any included.
    pub mean: f64,
    /// Those of them that hold in the world now.
    pub now: f64,
    /// The share of nodes that have any, in (0, 1].
    pub share: f64,
}

impl Reader<'_> {
    /// Looks at `nodes_max` nodes at most, spread evenly over all of them.
    ///
    /// Ids are given in order, so one is picked from each of `nodes_max` stretches of equal length,
    /// as if at random (stratified sampling); ids that were forgotten stand for others. Of a node with very many facts of a relation only the
    /// first are counted; how many there are follows from the other ends of the relation's facts,
    /// for as many facts begin at nodes as end at them.
    pub fn sample(&self, nodes_max: usize) -> Result<Sample> {
        let (picked, weight) = self.pick(nodes_max.max(1))?;
        let mut tallies = Tallies::default();
        for node in picked {
            let Some(record) = self.node(node, SystemScope::Current)? else { continue };
            *tallies.nodes.entry(None).or_default() += 1;
            *tallies.nodes.entry(Some(record.label)).or_default() += 1;
            for side in [Side::Out, Side::In] {
                for (relation, run) in self.runs(node, side)? {
                    tallies.add(record.label, relation, side, run);
                }
            }
        }
        Ok(tallies.sample(weight))
    }

    /// All nodes if there are at most `nodes_max`, else one id of each stretch; and how many ids
    /// each one stands for.
    fn pick(&self, nodes_max: usize) -> Result<(Vec<NodeId>, f64)> {
        let mut nodes = Vec::new();
        self.view().scan(Family::Nodes, &[], None, &mut |key, _| {
            nodes.push(node_of_key(key)?);
            let all = nodes.len() <= nodes_max;
            Ok(if all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if nodes.len() <= nodes_max {
            return Ok((nodes, 1.0));
        }
        let last = self.view().last_key(Family::Nodes)?;
        let last = last.map_or(Ok(NodeId(0)), |key| node_of_key(&key))?;
        let (ids, stretches) = (u128::from(last.0) + 1, nodes_max as u128);
        let first = |stretch: u128| ids * stretch / stretches;
        let pick = |stretch: u128| {
            let length = (first(stretch + 1) - first(stretch)).max(1);
            NodeId((first(stretch) + u128::from(scatter(stretch as u64)) % length) as u64)
        };
        Ok(((0..stretches).map(pick).collect(), ids as f64 / stretches as f64))
    }

    /// The facts of a node on one side that are believed, counted by relation.
    fn runs(&self, node: NodeId, side: Side) -> Result<BTreeMap<RelationId, Run>> {
        let (family, _) = families_of(side);
        let mut runs = BTreeMap::<RelationId, Run>::new();
        let (mut counted, mut limit) = (0, FACTS_MAX);
        let mut from = Some(adjacency::prefix(node, None));
        let to = key::after_prefix(&adjacency::prefix(node, None));
        while let Some(begin) = from.take() {
            self.scan_side((family, side), &begin, to.as_deref(), &mut |edge| {
                let run = runs.entry(edge.relation).or_default();
                if run.facts == 0 {
                    limit = FACTS_MAX.saturating_sub(counted).max(FACTS_MIN);
                }
                if run.facts == limit {
                    // The next relation is one seek away, however many facts are in between.
                    run.cut = true;
                    from = key::after_prefix(&adjacency::prefix(node, Some(edge.relation)));
                    return Ok(ControlFlow::Break(()));
                }
                run.facts += 1;
                run.now += u64::from(edge.valid.contains(self.now()));
                counted += 1;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(runs)
    }
}

/// Facts of a node, of one relation, with the node on one end.
#[derive(Clone, Copy, Default)]
struct Run {
    facts: u64,
    /// Those that hold now.
    now: u64,
    /// Whether there are more than were counted.
    cut: bool,
}

/// Runs of many nodes.
#[derive(Clone, Copy, Default)]
struct Tally {
    facts: u64,
    now: u64,
    nodes: u64,
    /// Of runs that were cut: how many, their facts that were counted, and those that hold now.
    cut: u64,
    cut_facts: u64,
    cut_now: u64,
}

impl Tally {
    fn add(&mut self, run: Run) {
        self.facts += run.facts;
        self.now += run.now;
        self.nodes += 1;
        if run.cut {
            self.cut += 1;
            self.cut_facts += run.facts;
            self.cut_now += run.now;
        }
    }

    /// Over `nodes` nodes, where each run that was cut has `more` facts than were counted, of which
    /// as many hold now as of those.
    fn degree(&self, nodes: u64, more: f64) -> Degree {
        let nodes = nodes as f64;
        let more = self.cut as f64 * more;
        let more_now = match self.cut_facts {
            0 => 0.0,
            facts => more * self.cut_now as f64 / facts as f64,
        };
        Degree {
            mean: (self.facts as f64 + more) / nodes,
            now: (self.now as f64 + more_now) / nodes,
            share: self.nodes as f64 / nodes,
        }
    }
}

/// What was met, by label, and over all labels under none.
#[derive(Default)]
struct Tallies {
    nodes: BTreeMap<Option<LabelId>, u64>,
    runs: BTreeMap<(Option<LabelId>, RelationId, Side), Tally>,
}

impl Tallies {
    fn add(&mut self, label: LabelId, relation: RelationId, side: Side, run: Run) {
        for label in [None, Some(label)] {
            self.runs.entry((label, relation, side)).or_default().add(run);
        }
    }

    fn sample(&self, weight: f64) -> Sample {
        let count = |label: &Option<LabelId>| self.nodes.get(label).copied().unwrap_or(0);
        let labels = self.nodes.iter().filter_map(|(label, nodes)| Some(((*label)?, nodes)));
        let degrees = self.runs.iter().map(|(place, tally)| {
            let (label, relation, side) = place;
            (*place, tally.degree(count(label), self.uncounted(*relation, *side)))
        });
        Sample {
            nodes: count(&None) as f64 * weight,
            labels: labels.map(|(label, nodes)| (label, *nodes as f64 * weight)).collect(),
            degrees: degrees.collect(),
        }
    }

    /// Facts that were not counted, for each run that was cut: what is missing to the facts of the
    /// other side.
    fn uncounted(&self, relation: RelationId, side: Side) -> f64 {
        let of = |side| self.runs.get(&(None, relation, side)).copied().unwrap_or_default();
        let (this, other) = (of(side), of(side.other()));
        other.facts.saturating_sub(this.facts) as f64 / this.cut.max(1) as f64
    }
}

fn node_of_key(key: &[u8]) -> Result<NodeId> {
    key::node_from(key)
        .ok_or_else(|| StorageError::corrupt(Family::Nodes.name(), key, "no node id"))
}

/// A number that looks random, so that what comes again and again in the order of ids is not met
/// again and again: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
fn scatter(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
