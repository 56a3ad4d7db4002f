//! Components: the nodes that edges connect, without or with regard to their direction.

use engraph_storage::graph::NodeId;
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::unionfind::UnionFind;
use petgraph::visit::{Dfs, DfsPostOrder, Reversed, VisitMap};

use crate::algo::{EDGES_PER_CALL, Network, Proceed};

impl Network {
    /// The number of each node's weakly connected component: one can walk between any two of its
    /// nodes, along edges or against them. The largest is 0; of equal ones the one with the
    /// smallest node comes first. Weights do not count.
    pub(crate) fn components<E>(
        &self,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<(NodeId, usize)>, E> {
        let mut sets = UnionFind::<u32>::new(self.len());
        for edges in self.graph.raw_edges().chunks(EDGES_PER_CALL) {
            for edge in edges {
                sets.union(edge.source().index() as u32, edge.target().index() as u32);
            }
            proceed(edges.len())?;
        }
        Ok(self.numbered(&sets.into_labeling()))
    }

    /// The number of each node's strongly connected component: one can walk along edges from any
    /// of its nodes to any other and back. Numbered as [`Network::components`].
    ///
    /// Kosaraju's two searches (Sharir 1981), without recursion, as a chain may be long.
    pub(crate) fn strong_components<E>(
        &self,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<(NodeId, usize)>, E> {
        let graph = &self.graph;
        let mut labels = vec![0; self.len()];
        let mut search = Dfs::empty(graph);
        for root in self.finished(proceed)?.into_iter().rev() {
            if search.discovered.is_visited(&root) {
                continue;
            }
            search.move_to(root);
            while let Some(node) = search.next(graph) {
                labels[node.index()] = root.index() as u32;
                proceed(graph.edges(node).count())?;
            }
        }
        Ok(self.numbered(&labels))
    }

    /// The nodes in the order in which a search against the edges is done with them.
    fn finished<E>(&self, proceed: &mut Proceed<'_, E>) -> Result<Vec<NodeIndex>, E> {
        let reversed = Reversed(&self.graph);
        let mut finished = Vec::with_capacity(self.len());
        let mut search = DfsPostOrder::empty(reversed);
        for root in self.graph.node_indices() {
            if search.discovered.is_visited(&root) {
                continue;
            }
            search.move_to(root);
            while let Some(node) = search.next(reversed) {
                finished.push(node);
                proceed(self.graph.edges_directed(node, Direction::Incoming).count())?;
            }
        }
        Ok(finished)
    }
}
