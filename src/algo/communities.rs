//! Communities by modularity: Louvain (Blondel et al., "Fast unfolding of communities in large
//! networks", 2008) with two changes for what Traag et al. ("From Louvain to Leiden", 2019) found
//! amiss. Only nodes whose neighbours moved are visited again, and a community that lost the node
//! which held it together is split, which never lowers modularity.
//!
//! Nothing is drawn at random: nodes are visited in order, and ties go to the smaller label.

use std::collections::VecDeque;
use std::ops::Range;

use engraph_storage::graph::NodeId;
use petgraph::unionfind::UnionFind;

use crate::algo::{Network, Proceed};

/// Rounds of moving and merging; each makes the network smaller, most end within ten.
const ROUNDS_MAX: usize = 50;

/// Visits in one round, for each of its nodes; most need a few.
const VISITS_MAX: usize = 100;

/// The least gain worth a move, as a part of the node's weight. Below it is rounding.
const GAIN_MIN: f64 = 1e-12;

impl Network {
    /// The number of each node's community: nodes with more weight between them than chance would
    /// put there. Directions do not count; weights of edges between the same two nodes add up.
    ///
    /// A `resolution` above 1 finds smaller communities, below 1 larger ones (Reichardt and
    /// Bornholdt 2006); the caller checks that it is a number above zero. Every community hangs
    /// together. Numbered as [`Network::components`].
    pub(crate) fn communities<E>(
        &self,
        resolution: f64,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<(NodeId, usize)>, E> {
        let mut level = self.level();
        let mut labels: Vec<u32> = (0..self.len() as u32).collect();
        for _ in 0..ROUNDS_MAX {
            let moved = level.moved(resolution, proceed)?;
            let (pieces, count) = level.pieces(&moved);
            if count == level.len() {
                break;
            }
            for label in &mut labels {
                *label = pieces[*label as usize];
            }
            level = level.merged(&pieces, count);
        }
        Ok(self.numbered(&labels))
    }

    fn level(&self) -> Level {
        let edges = self.graph.raw_edges();
        let largest = edges.iter().map(|edge| edge.weight.weight).fold(0.0, f64::max);
        let mut strengths = vec![0.0; self.len()];
        let mut halves = Vec::with_capacity(edges.len().saturating_mul(2));
        for edge in edges.iter().filter(|edge| edge.weight.weight > 0.0) {
            let (from, to) = (edge.source().index(), edge.target().index());
            // Scaled, as the sum of the weights themselves could overflow.
            let weight = edge.weight.weight / largest;
            strengths[from] += weight;
            strengths[to] += weight;
            if from != to {
                halves.push((from as u32, to as u32, weight));
                halves.push((to as u32, from as u32, weight));
            }
        }
        Level::new(strengths, halves)
    }
}

/// An undirected network in compressed rows, each edge in the rows of both ends, without loops.
struct Level {
    /// Where the row of each node begins, and where the last one ends.
    starts: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// The weight at each node, that of its loops twice.
    strengths: Vec<f64>,
}

impl Level {
    /// From the edges as seen from either end. Equal ones become one.
    fn new(strengths: Vec<f64>, mut halves: Vec<(u32, u32, f64)>) -> Self {
        halves.sort_by_key(|&(near, far, _)| (near, far));
        let mut starts = vec![0; strengths.len() + 1];
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        for equal in halves.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (near, far, _) = equal[0];
            targets.push(far);
            weights.push(equal.iter().map(|(.., weight)| weight).sum());
            starts[near as usize + 1] = targets.len();
        }
        // A node without edges begins where the one before it ends.
        let mut end = 0;
        for start in &mut starts {
            end = end.max(*start);
            *start = end;
        }
        Self { starts, targets, weights, strengths }
    }

    fn len(&self) -> usize {
        self.strengths.len()
    }

    fn row(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    /// A label for each node, after every node that gains by it moved to a neighbour's label.
    fn moved<E>(&self, resolution: f64, proceed: &mut Proceed<'_, E>) -> Result<Vec<u32>, E> {
        let mut moving = Moving::new(self, resolution);
        let mut queue: VecDeque<usize> = (0..self.len()).collect();
        let mut queued = vec![true; self.len()];
        for _ in 0..self.len().saturating_mul(VISITS_MAX) {
            let Some(node) = queue.pop_front() else { break };
            queued[node] = false;
            proceed(self.row(node).len())?;
            if !moving.visit(node) {
                continue;
            }
            for &far in &self.targets[self.row(node)] {
                let far = far as usize;
                if moving.labels[far] != moving.labels[node] && !queued[far] {
                    queued[far] = true;
                    queue.push_back(far);
                }
            }
        }
        Ok(moving.labels)
    }

    /// The connected pieces of each label, numbered from 0 by their first node, and their count.
    fn pieces(&self, labels: &[u32]) -> (Vec<u32>, usize) {
        let mut sets = UnionFind::<u32>::new(self.len());
        for node in 0..self.len() {
            for &far in &self.targets[self.row(node)] {
                if labels[node] == labels[far as usize] {
                    sets.union(node as u32, far);
                }
            }
        }
        let mut numbers = vec![None; self.len()];
        let mut count = 0;
        let number = |label: u32| {
            *numbers[label as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        };
        let pieces = sets.into_labeling().into_iter().map(number).collect();
        (pieces, count as usize)
    }

    /// The network with every piece as a node.
    fn merged(&self, pieces: &[u32], count: usize) -> Self {
        let mut strengths = vec![0.0; count];
        let mut halves = Vec::new();
        for (node, &near) in pieces.iter().enumerate() {
            strengths[near as usize] += self.strengths[node];
            for edge in self.row(node) {
                let far = pieces[self.targets[edge] as usize];
                if near != far {
                    halves.push((near, far, self.weights[edge]));
                }
            }
        }
        Self::new(strengths, halves)
    }
}

/// One round of moving nodes between labels.
struct Moving<'a> {
    level: &'a Level,
    /// The resolution over the weight of the whole network.
    scale: f64,
    labels: Vec<u32>,
    /// The strength of each label's nodes together.
    strengths: Vec<f64>,
    /// The weight between the visited node and each label; zero between visits.
    weights: Vec<f64>,
    /// The labels around the visited node.
    around: Vec<u32>,
}

impl<'a> Moving<'a> {
    fn new(level: &'a Level, resolution: f64) -> Self {
        Self {
            level,
            scale: resolution / level.strengths.iter().sum::<f64>(),
            labels: (0..level.len() as u32).collect(),
            strengths: level.strengths.clone(),
            weights: vec![0.0; level.len()],
            around: Vec::new(),
        }
    }

    /// Gives the node the label that adds most to modularity; whether it is another one.
    fn visit(&mut self, node: usize) -> bool {
        self.look_around(node);
        let (own, strength) = (self.labels[node], self.level.strengths[node]);
        self.strengths[own as usize] -= strength;
        let mut best = (own, self.gain(own, strength) + GAIN_MIN * strength);
        for &label in &self.around {
            let gain = self.gain(label, strength);
            if gain > best.1 {
                best = (label, gain);
            }
        }
        self.strengths[best.0 as usize] += strength;
        self.labels[node] = best.0;
        for label in self.around.drain(..) {
            self.weights[label as usize] = 0.0;
        }
        best.0 != own
    }

    /// What a label would add: the weight to it, less what chance would put there.
    fn gain(&self, label: u32, strength: f64) -> f64 {
        let label = label as usize;
        self.weights[label] - self.scale * strength * self.strengths[label]
    }

    fn look_around(&mut self, node: usize) {
        for edge in self.level.row(node) {
            let label = self.labels[self.level.targets[edge] as usize];
            self.around.push(label);
            self.weights[label as usize] += self.level.weights[edge];
        }
        self.around.sort_unstable();
        self.around.dedup();
    }
}
