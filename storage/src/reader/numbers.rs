//! Lists of numbers that nodes have as properties, as they are multiplied.

use std::borrow::Cow;
use std::sync::Arc;

use super::Reader;
use crate::error::Result;
use crate::families::Family;
use crate::graph::{NodeId, PropertyId};
use crate::kept::KeptReads;
use crate::key;
use crate::numbers::Numbers;
use crate::shelf::Pages;

/// The lists of one property, for many reads: those that were read before are found without a lock.
pub struct AllNumbers<'r> {
    reader: Reader<'r>,
    property: PropertyId,
    held: Option<Arc<Pages<(PropertyId, Numbers)>>>,
}

impl<'r> Reader<'r> {
    /// A list of numbers that a node has now as a property; none if it has no such list.
    pub fn numbers(&self, node: NodeId, property: PropertyId) -> Result<Option<Numbers>> {
        Ok(self.all_numbers(property).get(node)?.map(Cow::into_owned))
    }

    /// The same of many nodes.
    pub fn all_numbers(&self, property: PropertyId) -> AllNumbers<'r> {
        AllNumbers { reader: *self, property, held: self.kept.map(KeptReads::numbers) }
    }
}

impl AllNumbers<'_> {
    /// The list of a node; none if it has no such list now.
    pub fn get(&self, node: NodeId) -> Result<Option<Cow<'_, Numbers>>> {
        let (Reader { view, now, kept, .. }, key) = (self.reader, key::node(node));
        let held = self.held.as_ref().filter(|_| !view.changes(Family::Nodes, &key));
        if let Some((property, numbers)) = held.and_then(|pages| pages.get(node.0, now))
            && *property == self.property
        {
            view.count_look_up(key.len() + numbers.bytes())?;
            return Ok(Some(Cow::Borrowed(numbers)));
        }
        // The record itself is not kept: whoever multiplies wants nothing else of it.
        let Some((record, _)) = self.reader.stored_node(node)? else { return Ok(None) };
        let Some(numbers) = record.properties.get(&self.property).and_then(Numbers::of) else {
            return Ok(None);
        };
        if let Some(kept) = kept.filter(|_| held.is_some()) {
            kept.keep_numbers(node, self.property, now, numbers.clone());
        }
        Ok(Some(Cow::Owned(numbers)))
    }
}
