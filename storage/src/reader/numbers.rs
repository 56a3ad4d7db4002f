//! Lists of numbers that nodes have as properties, as they are multiplied.

use super::Reader;
use crate::error::Result;
use crate::families::Family;
use crate::graph::{NodeId, PropertyId};
use crate::key;
use crate::numbers::Numbers;

impl Reader<'_> {
    /// A list of numbers that a node has now as a property; none if it has no such list.
    pub fn numbers(&self, node: NodeId, property: PropertyId) -> Result<Option<Numbers>> {
        Ok(self.all_numbers(&[node], property)?.pop().flatten())
    }

    /// The same of several nodes, which are asked of the memory at once.
    pub fn all_numbers(
        &self,
        nodes: &[NodeId],
        property: PropertyId,
    ) -> Result<Vec<Option<Numbers>>> {
        let mut all = match self.kept {
            Some(kept) => kept.numbers(nodes, property, self.now),
            None => vec![None; nodes.len()],
        };
        for (held, node) in all.iter_mut().zip(nodes) {
            let key = key::node(*node);
            match held {
                Some(numbers) if !self.view.changes(Family::Nodes, &key) => {
                    self.view.count_look_up(key.len() + numbers.bytes())?;
                }
                held => *held = self.stored_numbers(*node, property)?,
            }
        }
        Ok(all)
    }

    /// A list from the disk, which is kept then. The record itself is not: whoever multiplies wants
    /// nothing else of it.
    fn stored_numbers(&self, node: NodeId, property: PropertyId) -> Result<Option<Numbers>> {
        let Some((record, _)) = self.stored_node(node)? else { return Ok(None) };
        let numbers = record.properties.get(&property).and_then(Numbers::of);
        let kept = self.kept.filter(|_| !self.view.changes(Family::Nodes, &key::node(node)));
        if let (Some(kept), Some(numbers)) = (kept, &numbers) {
            kept.keep_numbers(node, property, self.now, numbers.clone());
        }
        Ok(numbers)
    }
}
