//! Shortest paths by weight (Dijkstra 1959). The search is our own, for petgraph's returns no
//! edges, breaks no ties and cannot be stopped.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use engraph_storage::graph::NodeId;
use petgraph::Direction::{self, Incoming, Outgoing};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use crate::algo::{EdgeNumber, Link, Network, Proceed};

/// The total weight of a path, and each further node with the edge that leads to it.
pub(crate) type WeightedPath = (f64, Vec<(NodeId, EdgeNumber)>);

/// The length of a path: less weight is shorter, then fewer hops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Length {
    total: f64,
    hops: u32,
}

impl Length {
    fn plus(self, weight: f64) -> Self {
        Self { total: self.total + weight, hops: self.hops.saturating_add(1) }
    }
}

impl Eq for Length {}

impl Ord for Length {
    fn cmp(&self, other: &Self) -> Ordering {
        self.total.total_cmp(&other.total).then(self.hops.cmp(&other.hops))
    }
}

impl PartialOrd for Length {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Network {
    /// The path of least total weight, or none if there is no way or no such node.
    ///
    /// Of equal totals the one with fewer hops, then the one whose nodes come first when compared
    /// one by one, then whose edges do. The path from a node to itself is empty. Undirected, edges
    /// are walked both ways. Totals are sums of floats, taken from the end of the path.
    pub(crate) fn shortest<E>(
        &self,
        from: NodeId,
        to: NodeId,
        directed: bool,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Option<WeightedPath>, E> {
        let (Some(from), Some(to)) = (self.index(from), self.index(to)) else { return Ok(None) };
        // The search goes from the end, so that the path can be read from its start.
        let lengths = self.lengths(to, Some(from), along(Incoming, directed), proceed)?;
        let Some(length) = lengths[from.index()] else { return Ok(None) };
        let mut path = Vec::with_capacity(length.hops as usize);
        let mut here = from;
        while here != to {
            let Some((next, edge)) = self.step(here, &lengths, along(Outgoing, directed)) else {
                return Ok(None);
            };
            path.push((self.graph[next], edge));
            here = next;
        }
        Ok(Some((length.total, path)))
    }

    /// The least total weight from a node to every node it reaches, itself among them.
    pub(crate) fn distances<E>(
        &self,
        from: NodeId,
        directed: bool,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<(NodeId, f64)>, E> {
        let Some(from) = self.index(from) else { return Ok(Vec::new()) };
        let lengths = self.lengths(from, None, along(Outgoing, directed), proceed)?;
        let reached = self.by_node(lengths).into_iter();
        Ok(reached.filter_map(|(node, length)| Some((node, length?.total))).collect())
    }

    /// The least length from the start to each node, as far as the search came. It ends at the
    /// goal; by then every node that is nearer than the goal has its least length.
    fn lengths<E>(
        &self,
        start: NodeIndex,
        goal: Option<NodeIndex>,
        along: &'static [Direction],
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<Option<Length>>, E> {
        let mut lengths = vec![None; self.len()];
        lengths[start.index()] = Some(Length::default());
        let mut open = BinaryHeap::from([Reverse((Length::default(), start))]);
        while let Some(Reverse((length, node))) = open.pop() {
            if lengths[node.index()] != Some(length) {
                continue;
            }
            if goal == Some(node) {
                break;
            }
            let mut edges = 0;
            for (far, link) in self.links(node, along) {
                let longer = length.plus(link.weight);
                if lengths[far.index()].is_none_or(|held| longer < held) {
                    lengths[far.index()] = Some(longer);
                    open.push(Reverse((longer, far)));
                }
                edges += 1;
            }
            proceed(edges)?;
        }
        Ok(lengths)
    }

    /// The next node of the path and the edge that leads there.
    ///
    /// Every step has a hop less to go, so no node comes twice, whatever the weights.
    fn step(
        &self,
        here: NodeIndex,
        lengths: &[Option<Length>],
        along: &'static [Direction],
    ) -> Option<(NodeIndex, EdgeNumber)> {
        let length = lengths[here.index()];
        self.links(here, along)
            .filter(|(far, link)| {
                let rest = lengths[far.index()];
                rest.is_some_and(|rest| Some(rest.plus(link.weight)) == length)
            })
            .map(|(far, link)| (far, link.number))
            .min()
    }

    /// The edges at a node, each with its other end.
    fn links(
        &self,
        node: NodeIndex,
        along: &'static [Direction],
    ) -> impl Iterator<Item = (NodeIndex, Link)> {
        let edges = along.iter().flat_map(move |&way| self.graph.edges_directed(node, way));
        edges.map(move |edge| match edge.source() == node {
            true => (edge.target(), *edge.weight()),
            false => (edge.source(), *edge.weight()),
        })
    }
}

/// The one direction, or both if directions do not count.
fn along(way: Direction, directed: bool) -> &'static [Direction] {
    match (directed, way) {
        (false, _) => &[Outgoing, Incoming],
        (true, Outgoing) => &[Outgoing],
        (true, Incoming) => &[Incoming],
    }
}
