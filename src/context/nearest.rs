//! The nodes nearest to a vector: of labels, by the indexes of vectors, or of some that are at hand.

use engraph_storage::graph::{LabelId, NodeId, SystemScope};

use super::Context;
use crate::error::Result;
use crate::neural::dot;
use crate::vectors::{Search, Way, check_dimensions};

impl Context<'_> {
    /// The `top` nodes of the labels nearest to a vector, of those that are accepted, best first.
    pub(crate) fn nearest(
        &self,
        labels: Option<&[LabelId]>,
        system: SystemScope,
        query: &[f32],
        top: usize,
        accept: &mut dyn FnMut(NodeId) -> Result<bool>,
    ) -> Result<Vec<(f32, NodeId)>> {
        let search = Search { reader: self.reader, labels, system, query, top };
        let found = self.indexes.vectors.search(&search, &mut |node, _| accept(node))?;
        self.run.looked(found.looked, found.way == Way::Graph);
        self.work(found.looked)?;
        Ok(found.nodes)
    }

    /// The same of these nodes only, each of whose vectors is read; those without one are passed over, and one of
    /// another length is an error there too.
    pub(crate) fn nearest_of(
        &self,
        nodes: impl IntoIterator<Item = (NodeId, LabelId)>,
        system: SystemScope,
        query: &[f32],
        top: usize,
        accept: &mut dyn FnMut(NodeId) -> Result<bool>,
    ) -> Result<Vec<(f32, NodeId)>> {
        let mut scored = Vec::new();
        for (node, label) in nodes {
            if let Some(vector) = self.reader.vector(label, node, system)? {
                check_dimensions(query, vector.len())?;
                scored.push((dot(query, &vector), node));
            }
        }
        self.run.looked(scored.len(), false);
        self.work(scored.len())?;
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut found = Vec::new();
        for (near, node) in scored {
            if found.len() == top {
                break;
            }
            found.extend(accept(node)?.then_some((near, node)));
        }
        Ok(found)
    }
}
