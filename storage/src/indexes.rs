//! Indexes: made, kept with every change of a node, and taken away. What is in one of texts is for
//! `text` to say.
//!
//! Invariant: an index of values holds each node of its label that has a value that can be indexed,
//! once, and nothing else.

use std::sync::Arc;

use crate::definitions::Kind;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Definition, IndexDefinition, IndexKind, NodeId, NodeRecord};
use crate::key;
use crate::transaction::Transaction;

/// The most nodes of a label that an index is made of, so that its transaction stays small.
const INDEXED_MAX: usize = if cfg!(test) { 1_000 } else { 1_000_000 };

impl Transaction<'_> {
    /// Makes an index of the nodes of a label by a property, with those that there are.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if there is one of that name, or one of the same label and
    /// property, or if the label has too many nodes already.
    pub fn define_index(&mut self, name: &str, label: &str, property: &str) -> Result<()> {
        let label = self.label(label)?;
        let kind = IndexKind::Values { property: self.property(property)? };
        let index = IndexDefinition { name: name.to_owned(), label, kind };
        self.check_new(&index)?;
        let nodes = self.nodes_to_index(&index)?;
        self.define(Definition::Index(index.clone()))?;
        for node in nodes {
            self.check_goes_on()?;
            let record = self.current_node(node)?;
            if let Some(key) = index.key(node, &record) {
                self.overlay.put(Family::Values, key, Vec::new());
            }
        }
        Ok(())
    }

    pub(crate) fn check_new(&self, index: &IndexDefinition) -> Result<()> {
        if self.catalog.index(&index.name).is_some() {
            return Err(StorageError::Invalid(format!(
                "there is an index '{}' already; drop it first, or take another name",
                index.name
            )));
        }
        let Some(twin) = self.catalog.indexes().find(|other| other.is_twin(index)) else {
            return Ok(());
        };
        let what = match index.property() {
            Some(property) => format!("`{}`", self.catalog.property_name(property)),
            None => "the texts".to_owned(),
        };
        Err(StorageError::Invalid(format!(
            "the index '{}' has {what} of {} already",
            twin.name,
            self.catalog.label_name(index.label)
        )))
    }

    pub(crate) fn nodes_to_index(&self, index: &IndexDefinition) -> Result<Vec<NodeId>> {
        let nodes = self.reader().first_of_label(index.label, INDEXED_MAX + 1)?;
        match nodes.len() <= INDEXED_MAX {
            true => Ok(nodes),
            false => Err(StorageError::Invalid(format!(
                "{} has over {INDEXED_MAX} nodes already; define the index before they are stored",
                self.catalog.label_name(index.label)
            ))),
        }
    }

    /// Takes an index away. False if there is none of that name.
    pub fn drop_index(&mut self, name: &str) -> Result<bool> {
        let Some(index) = self.catalog.index(name) else { return Ok(false) };
        let label = index.label;
        match index.property() {
            Some(property) => {
                self.delete_prefix(Family::Values, &key::value_prefix(label, property))?;
            }
            None => {
                for family in [Family::Text, Family::TextPast] {
                    self.delete_prefix(family, &label.0.to_be_bytes())?;
                }
            }
        }
        Ok(self.undefine(Kind::Index, name))
    }

    /// Keeps the indexes when a node changes, comes or goes.
    pub(crate) fn index_node(
        &mut self,
        node: NodeId,
        old: Option<&NodeRecord>,
        new: Option<&NodeRecord>,
    ) -> Result<()> {
        let catalog = Arc::clone(&self.catalog);
        for index in catalog.indexes() {
            if let Some(fields) = index.text_fields() {
                self.index_text(index.label, fields, node, old, new)?;
                continue;
            }
            self.index_value(index, node, old, new);
        }
        Ok(())
    }

    /// The same in one index of values.
    pub(crate) fn index_value(
        &mut self,
        index: &IndexDefinition,
        node: NodeId,
        old: Option<&NodeRecord>,
        new: Option<&NodeRecord>,
    ) {
        let [old, new] = [old, new].map(|record| record.and_then(|r| index.key(node, r)));
        if old == new {
            return;
        }
        if let Some(key) = old {
            self.overlay.delete(Family::Values, key);
        }
        if let Some(key) = new {
            self.overlay.put(Family::Values, key, Vec::new());
        }
    }
}

impl IndexDefinition {
    /// Whether both would have the same keys.
    pub(crate) fn is_twin(&self, other: &Self) -> bool {
        (self.label, self.property()) == (other.label, other.property())
    }
}
