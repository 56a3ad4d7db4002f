//! A path of a beam with its scores, as the row that binds it.

use std::cmp::Ordering;
use std::sync::Arc;

use engraph_storage::graph::{NodeId, SystemScope, Time};

use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::plan::expr::Slot;

#[derive(Clone)]
pub(super) struct Candidate {
    /// What orders the paths.
    pub(super) score: f64,
    /// How much of what is asked it holds, if that is a score.
    pub(super) sufficiency: Option<f64>,
    pub(super) path: Arc<PathRef>,
    pub(super) row: Row,
    /// The candidate that it continues, by its place in the beam.
    pub(super) parent: usize,
}

impl Candidate {
    /// A path with its end, its facts and itself in these slots of the row.
    pub(super) fn bound(
        row: &Row,
        (path, parent): (PathRef, usize),
        ([to, fact, whole], single): ([Slot; 3], bool),
        system: SystemScope,
    ) -> Self {
        let path = Arc::new(path);
        let mut row = row.clone();
        let end = path.nodes.last();
        row[to] =
            end.map_or(Cell::Null, |NodeRef { id, .. }| Cell::Node(NodeRef { id: *id, system }));
        row[fact] = match (single, path.facts.first()) {
            (true, only) => only.copied().map_or(Cell::Null, Cell::Fact),
            (false, _) => Cell::list(path.facts.iter().copied().map(Cell::Fact).collect()),
        };
        row[whole] = Cell::Path(Arc::clone(&path));
        Self { score: 0.0, sufficiency: None, path, row, parent }
    }

    /// About what it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.row.iter().map(Cell::bytes).sum()
    }

    /// The node at its end.
    pub(super) fn end(&self) -> Option<NodeId> {
        self.path.nodes.last().map(|node| node.id)
    }

    /// Best first; ties go to the path whose facts began earlier, then to the older facts.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let tie = |path: &PathRef| -> Vec<(Time, u64)> {
            path.facts.iter().map(|edge| (edge.valid.from, edge.fact.0)).collect()
        };
        other.score.total_cmp(&self.score).then_with(|| tie(&self.path).cmp(&tie(&other.path)))
    }
}
