//! Graph algorithms for `CALL algo`: ranks, components, communities and shortest paths of a
//! network of nodes and weighted edges.
//!
//! Knows ids and numbers alone; never a query, a row, the disk or the clock. Nodes and edges are
//! sorted before anything is counted, so an answer depends on the network, and never on the order
//! in which it was told. Answers by node stand in ascending order of the node.

use std::cmp::Reverse;

use engraph_storage::graph::NodeId;
use petgraph::graph::{DiGraph, NodeIndex};

mod communities;
mod components;
mod pagerank;
mod shortest;
#[cfg(test)]
mod tests;

/// Called with the number of edges just looked at. Its error ends the algorithm, which returns it.
///
/// It is called once for a node or for some thousand edges, so it should be cheap.
pub(crate) type Proceed<'a, E> = dyn FnMut(usize) -> Result<(), E> + 'a;

/// Edges looked at between two calls of [`Proceed`], where they are not counted by node.
const EDGES_PER_CALL: usize = 4096;

/// Which edge it is, by a number of whoever fills the network; of equal ways the one with the least numbers is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EdgeNumber(pub(crate) u64);

/// Why there is no network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NetworkError {
    /// The weight of an edge is below zero or not finite.
    Weight {
        /// Of which edge.
        number: EdgeNumber,
        /// Its weight.
        weight: f64,
    },
    /// More nodes or edges than 32 bits can number.
    Size,
}

/// Nodes and edges on their way to a network, in any order.
#[derive(Debug, Default)]
pub(crate) struct NetworkBuilder {
    nodes: Vec<NodeId>,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: NodeId,
    to: NodeId,
    link: Link,
}

/// What an edge of the network carries.
#[derive(Clone, Copy, Debug)]
struct Link {
    number: EdgeNumber,
    weight: f64,
}

impl NetworkBuilder {
    /// Adds a node; one that is there already stays as it is.
    pub(crate) fn node(&mut self, node: NodeId) {
        self.nodes.push(node);
    }

    /// Adds an edge and its two nodes. There may be several between the same two.
    pub(crate) fn edge(&mut self, from: NodeId, to: NodeId, number: EdgeNumber, weight: f64) {
        self.edges.push(Edge { from, to, link: Link { number, weight } });
    }

    /// The network. Fails if a weight is not a finite number of zero or more.
    pub(crate) fn finish(mut self) -> Result<Network, NetworkError> {
        let good = |weight: f64| weight.is_finite() && weight >= 0.0;
        if let Some(bad) = self.edges.iter().find(|edge| !good(edge.link.weight)) {
            let Link { number, weight } = bad.link;
            return Err(NetworkError::Weight { number, weight });
        }
        self.edges.sort_unstable_by(|a, b| {
            let ids = |edge: &Edge| (edge.from, edge.to, edge.link.number);
            ids(a).cmp(&ids(b)).then(a.link.weight.total_cmp(&b.link.weight))
        });
        self.nodes.extend(self.edges.iter().flat_map(|edge| [edge.from, edge.to]));
        self.nodes.sort_unstable();
        self.nodes.dedup();
        Network::sorted(self.nodes, self.edges)
    }
}

/// A directed graph with weighted edges, about 32 bytes an edge and 16 a node.
///
/// Invariant: nodes ascend by id, edges by their two nodes, their number and the weight. Weights are
/// finite and not negative.
#[derive(Debug)]
pub(crate) struct Network {
    graph: DiGraph<NodeId, Link>,
}

impl Network {
    /// An empty network to fill.
    pub(crate) fn builder() -> NetworkBuilder {
        NetworkBuilder::default()
    }

    fn sorted(nodes: Vec<NodeId>, edges: Vec<Edge>) -> Result<Self, NetworkError> {
        let mut network = Self { graph: DiGraph::with_capacity(nodes.len(), edges.len()) };
        for node in nodes {
            network.graph.try_add_node(node).map_err(|_| NetworkError::Size)?;
        }
        for Edge { from, to, link } in edges {
            if let (Some(from), Some(to)) = (network.index(from), network.index(to)) {
                network.graph.try_add_edge(from, to, link).map_err(|_| NetworkError::Size)?;
            }
        }
        Ok(network)
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.graph.node_count()
    }

    fn index(&self, node: NodeId) -> Option<NodeIndex> {
        let nodes = self.graph.raw_nodes();
        nodes.binary_search_by_key(&node, |held| held.weight).ok().map(NodeIndex::new)
    }

    /// Each node with its value, given by index.
    fn by_node<T>(&self, values: impl IntoIterator<Item = T>) -> Vec<(NodeId, T)> {
        self.graph.node_weights().copied().zip(values).collect()
    }

    /// Each node with the number of its group. The labels are indices of nodes.
    ///
    /// Groups are numbered from 0: the larger first, of equal ones the one with the smallest node.
    fn numbered(&self, labels: &[u32]) -> Vec<(NodeId, usize)> {
        let mut sizes = vec![(0_usize, usize::MAX); self.len()];
        for (index, &label) in labels.iter().enumerate() {
            let (size, first) = &mut sizes[label as usize];
            *size += 1;
            *first = index.min(*first);
        }
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_unstable_by_key(|&label| (Reverse(sizes[label].0), sizes[label].1));
        let mut numbers = vec![0; order.len()];
        for (number, label) in order.into_iter().enumerate() {
            numbers[label] = number;
        }
        self.by_node(labels.iter().map(|&label| numbers[label as usize]))
    }
}
