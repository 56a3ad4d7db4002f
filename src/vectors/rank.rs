//! The best nodes by their exact scores, of candidates of which only the most is known.
//!
//! ```text
//! candidates, the most promising first ──read, score──▶ heap ──the best, if none left can
//!                                                            be better──▶ accepted? ──▶ found
//! ```
//!
//! This is the threshold algorithm (Fagin, Lotem and Naor 2001) with one list: what is found is
//! exactly what all scores in order would have given, and as few candidates as possible are read
//! and asked about.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};

use engraph_storage::graph::NodeId;

use super::gather::{Candidate, Gathered, larger};
use crate::error::Result;

/// Whether a node counts, with its score; it may read much to know.
pub(crate) type Accept<'a> = dyn FnMut(NodeId, f32) -> Result<bool> + 'a;

/// A node with its exact score.
#[derive(Clone, Copy, Debug)]
struct Scored {
    score: f32,
    node: NodeId,
    /// Whether it was accepted before.
    accepted: bool,
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(Reverse(self.node).cmp(&Reverse(other.node)))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best nodes so far.
pub(super) struct Ranking {
    top: usize,
    open: BinaryHeap<Scored>,
    seen: HashSet<NodeId>,
    found: Vec<(f32, NodeId)>,
}

impl Ranking {
    pub(super) fn new(top: usize) -> Self {
        Self { top, open: BinaryHeap::new(), seen: HashSet::new(), found: Vec::new() }
    }

    /// Goes through candidates in order until the best are found. True then; false if it takes more
    /// candidates.
    pub(super) fn take(
        &mut self,
        gathered: &Gathered,
        score: &mut dyn FnMut(&Candidate) -> Result<Option<f32>>,
        accept: &mut Accept<'_>,
    ) -> Result<bool> {
        for candidate in &gathered.candidates {
            // Of one label there may be candidates that are worse than what is left of another.
            if self.settle(larger(Some(candidate.most), gathered.rest), accept)? {
                return Ok(true);
            }
            if self.is_new(candidate.node)
                && let Some(score) = score(candidate)?
            {
                self.offer(score, candidate.node);
            }
        }
        Ok(self.settle(gathered.rest, accept)? || gathered.rest.is_none())
    }

    /// Whether a node has not been looked at.
    pub(super) fn is_new(&mut self, node: NodeId) -> bool {
        self.seen.insert(node)
    }

    /// Adds a node that is new.
    pub(super) fn offer(&mut self, score: f32, node: NodeId) {
        self.open.push(Scored { score, node, accepted: false });
    }

    /// Asks about all nodes that are better than everything left, which scores no more than `most`;
    /// about all if nothing is left. True if enough are found.
    pub(super) fn settle(&mut self, most: Option<f32>, accept: &mut Accept<'_>) -> Result<bool> {
        while self.found.len() < self.top {
            let is_best = |scored: &Scored| most.is_none_or(|most| scored.score > most);
            let Some(best) = self.open.peek().copied().filter(is_best) else { return Ok(false) };
            self.open.pop();
            if best.accepted || accept(best.node, best.score)? {
                self.found.push((best.score, best.node));
            }
        }
        Ok(true)
    }

    /// What was found may not be the best: further candidates come. Nobody is asked twice.
    pub(super) fn reopen(&mut self) {
        let again = |(score, node)| Scored { score, node, accepted: true };
        self.open.extend(self.found.drain(..).map(again));
    }

    /// How many were found.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// What was found, the best first, ties by the older node.
    pub(super) fn finish(self) -> Vec<(f32, NodeId)> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use engraph_storage::graph::LabelId;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_all_scores_in_order_give(
            scores in prop::collection::vec((0_u8..20, 0_u8..5), 0..40),
            top in 1_usize..10,
            every in 1_u64..4,
            cut in 0_usize..50,
        ) {
            let exact = |node: NodeId| f32::from(scores[node.0 as usize].0);
            let candidate = |(node, (score, slack)): (usize, &(u8, u8))| Candidate {
                most: f32::from(*score) + f32::from(*slack),
                label: LabelId(0),
                node: NodeId(node as u64),
            };
            let all = || Gathered {
                candidates: scores.iter().enumerate().map(candidate).collect(),
                ..Gathered::default()
            };
            let mut ranking = Ranking::new(top);
            let mut asked = Vec::new();
            for count in [cut, usize::MAX] {
                let mut gathered = all();
                gathered.keep(count);
                let accept = &mut |node: NodeId, score: f32| {
                    assert_eq!(score, exact(node));
                    asked.push(node);
                    Ok(node.0.is_multiple_of(every))
                };
                let score = &mut |candidate: &Candidate| Ok(Some(exact(candidate.node)));
                if ranking.take(&gathered, score, accept)? {
                    break;
                }
            }
            let found = ranking.finish();
            let mut nodes: Vec<NodeId> = (0..scores.len() as u64).map(NodeId).collect();
            nodes.sort_by(|a, b| exact(*b).total_cmp(&exact(*a)).then(a.cmp(b)));
            let wanted: Vec<_> = nodes.iter().filter(|node| node.0.is_multiple_of(every)).copied()
                .take(top).map(|node| (exact(node), node)).collect();
            // Only those up to the last one that was found are asked about, and once.
            let last = match wanted.get(top - 1) {
                Some((_, last)) => nodes.iter().position(|node| node == last).unwrap_or(0) + 1,
                None => nodes.len(),
            };
            prop_assert_eq!(&asked[..], &nodes[..last]);
            prop_assert_eq!(found, wanted);
        }
    }
}
