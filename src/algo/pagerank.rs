//! PageRank by power iteration (Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking",
//! 1999). The iteration is our own, for petgraph's ignores weights and takes quadratic time.

use std::iter::zip;

use engraph_storage::graph::NodeId;

use crate::algo::{EDGES_PER_CALL, Network, Proceed};

impl Network {
    /// The chance to meet a walker at each node; all of them sum to 1.
    ///
    /// With the chance `damping` (0 to 1, which the caller checks) the walker follows an edge of
    /// its node, chosen by weight, else it jumps to any node. Where no edge has a weight above
    /// zero it always jumps. Ends after so many iterations, or when the ranks together change by
    /// no more than `tolerance`.
    pub(crate) fn pagerank<E>(
        &self,
        damping: f64,
        iterations: usize,
        tolerance: f64,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<(NodeId, f64)>, E> {
        let shares = self.shares();
        let mut ranks = vec![1.0 / self.len() as f64; self.len()];
        for _ in 0..iterations {
            let next = self.spread(&ranks, &shares, damping, proceed)?;
            let change: f64 = zip(&ranks, &next).map(|(old, new)| (old - new).abs()).sum();
            ranks = next;
            if change <= tolerance {
                break;
            }
        }
        Ok(self.by_node(ranks))
    }

    /// The weight of each edge as a part of all that leaves its node.
    fn shares(&self) -> Vec<f64> {
        let edges = self.graph.raw_edges();
        let mut shares = Vec::with_capacity(edges.len());
        for edges in edges.chunk_by(|a, b| a.source() == b.source()) {
            let weights = edges.iter().map(|edge| edge.weight.weight);
            // The sum of the weights themselves could overflow.
            let largest = weights.clone().fold(0.0, f64::max);
            let total: f64 = weights.clone().map(|weight| weight / largest).sum();
            shares.extend(weights.map(|weight| match weight > 0.0 {
                true => weight / largest / total,
                false => 0.0,
            }));
        }
        shares
    }

    /// The ranks one step later.
    fn spread<E>(
        &self,
        ranks: &[f64],
        shares: &[f64],
        damping: f64,
        proceed: &mut Proceed<'_, E>,
    ) -> Result<Vec<f64>, E> {
        // A network without edges has iterations, too.
        proceed(0)?;
        let mut next = vec![0.0; ranks.len()];
        let edges = self.graph.raw_edges().chunks(EDGES_PER_CALL);
        for (edges, shares) in zip(edges, shares.chunks(EDGES_PER_CALL)) {
            for (edge, share) in zip(edges, shares) {
                next[edge.target().index()] += ranks[edge.source().index()] * share;
            }
            proceed(edges.len())?;
        }
        // All who followed no edge jump, be it for damping or for the want of one.
        let jump = (1.0 - damping * next.iter().sum::<f64>()) / ranks.len() as f64;
        for rank in &mut next {
            *rank = damping * *rank + jump;
        }
        Ok(next)
    }
}
