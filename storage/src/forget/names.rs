//! Names that are forgotten while what was told under another one stays: a node gets that one, in all that is stored
//! of it, as if it had never had its own.
//!
//! Its facts keep their history, for they name it by its number.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::Result;
use crate::families::Family;
use crate::graph::{LabelId, NodeId, NodeRecord, PropertyId, SystemScope, Value};
use crate::key;
use crate::record;
use crate::transaction::Transaction;

impl Transaction<'_> {
    /// Gives a node another key, and takes out its own with its embedding; texts that are the key become the other
    /// one too. False, and nothing is done, if another node of its label has that name, or if it was ever changed.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`](crate::StorageError::Invalid) for a key that no node can have, and those of the tokenizer for one of a concept.
    pub fn rename(&mut self, node: NodeId, name: &str) -> Result<bool> {
        let Some(old) = self.reader().node(node, SystemScope::Current)? else { return Ok(false) };
        let is_taken = self.reader().find_node(old.label, name)?.is_some();
        if is_taken || old.created != old.system_from || !old.aliases.is_empty() {
            return Ok(false);
        }
        self.forgotten = true;
        let mut new = NodeRecord { key: name.to_owned(), ..(*old).clone() };
        for value in new.properties.values_mut().filter(|value| is_text(value, &old.key)) {
            *value = Value::String(name.to_owned());
        }
        let tokens = self.check_name(old.label, name)?;
        self.forget_schema_key(node, &old)?;
        if let Some(tokens) = tokens {
            self.put_schema_key(&tokens, node, old.created)?;
        }
        self.overlay.delete(Family::NodeKeys, key::node_key(old.label, &old.key));
        self.put_node_key(old.label, name, node, crate::reader::KEY);
        self.reindex_node(node, &old, &new)?;
        self.overlay.put(Family::Nodes, key::node(node), record::encode(&new)?);
        self.overlay.delete(Family::Vectors, key::vector(old.label, node));
        self.overlay.delete(Family::TokenCodes, key::vector(old.label, node));
        self.delete_prefix(Family::VectorsPast, &key::vector(old.label, node))?;
        Ok(true)
    }

    /// Puts other texts in the place of these in the lists that the nodes of a label have as a property, in what they
    /// are and in what they were. Lists are in no index.
    pub fn replace_in_lists(
        &mut self,
        label: LabelId,
        property: PropertyId,
        texts: &BTreeMap<String, String>,
    ) -> Result<()> {
        let mut nodes = Vec::new();
        self.reader().nodes_of_label(label, None, &mut |_, node| {
            nodes.push(node);
            ControlFlow::Continue(())
        })?;
        let mut records = Vec::new();
        for node in nodes {
            self.check_goes_on()?;
            for family in [Family::Nodes, Family::NodesPast] {
                let prefix = key::node(node);
                self.view().scan_prefix(family, &prefix, &mut |key, value| {
                    let mut record: NodeRecord = record::decode(family, key, value)?;
                    if replace(record.properties.get_mut(&property), texts) {
                        records.push((family, key.to_vec(), record));
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
        }
        for (family, key, record) in records {
            self.forgotten = true;
            self.overlay.put(family, key, record::encode(&record)?);
        }
        Ok(())
    }

    /// Indexes a node that was never changed as another record of the same time.
    fn reindex_node(&mut self, node: NodeId, old: &NodeRecord, new: &NodeRecord) -> Result<()> {
        let catalog = Arc::clone(&self.catalog);
        for index in catalog.indexes() {
            if let Some(fields) = index.text_fields() {
                self.reindex_text(index.label, fields, node, new)?;
                continue;
            }
            self.index_value(index, node, Some(old), Some(new));
        }
        Ok(())
    }
}

/// Replaces texts of a list; whether there was one of them.
fn replace(list: Option<&mut Value>, texts: &BTreeMap<String, String>) -> bool {
    let Some(Value::List(items)) = list else { return false };
    let mut is_changed = false;
    for item in items {
        if let Value::String(held) = item
            && let Some(new) = texts.get(held)
        {
            *held = new.clone();
            is_changed = true;
        }
    }
    is_changed
}

fn is_text(value: &Value, text: &str) -> bool {
    matches!(value, Value::String(held) if held == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durability, Memory, Store};

    fn text(text: &str) -> BTreeMap<String, Value> {
        BTreeMap::from([("text".to_owned(), Value::String(text.to_owned()))])
    }

    #[test]
    fn a_node_has_never_had_the_name_that_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Memory::default()).unwrap();
        let mut write = store.begin(0).unwrap();
        let label = write.label("Thing").unwrap();
        let property = write.property("text").unwrap();
        write.define_index("texts", "Thing", "text").unwrap();
        write.define_text_index("words", "Thing", &[("text", 1.0)]).unwrap();
        let node = write.put_node("Thing", "Quintessa tea", &text("Quintessa tea")).unwrap();
        write.put_vector(node, "m", &[1.0]).unwrap();
        let other = write.put_node("Thing", "tea", &BTreeMap::new()).unwrap();
        write.commit(Durability::Buffered, 0).unwrap();
        let before = store.snapshot(0).reader().last_commit().unwrap();

        let mut write = store.begin(0).unwrap();
        assert!(!write.rename(node, "tea").unwrap(), "another one has that name");
        assert!(write.rename(node, "green tea").unwrap());
        assert_eq!(write.reader().find("Thing", "Quintessa tea").unwrap(), None);
        write.commit(Durability::Buffered, 0).unwrap();
        let snapshot = store.snapshot(0);
        let reader = snapshot.reader();
        assert_eq!(reader.find("Thing", "green tea").unwrap(), Some(node));
        for system in [SystemScope::Current, SystemScope::AsOf(before)] {
            let record = reader.node(node, system).unwrap().unwrap();
            assert_eq!(record.key, "green tea");
            assert_eq!(record.properties[&property], Value::String("green tea".to_owned()));
        }
        let found = |query: &str| {
            let index = reader.text_index(label).unwrap().unwrap();
            let scores = reader.score_text(index, query, SystemScope::Current, &[node, other]);
            scores.unwrap().iter().map(|score| *score > 0.0).collect::<Vec<_>>()
        };
        assert_eq!((found("green"), found("Quintessa")), (vec![true, false], vec![false, false]));
        assert!(reader.vector(label, node, SystemScope::Current).unwrap().is_none());
        drop(snapshot);
        store.check(&mut |violation| panic!("{violation}"), &mut |_| {}).unwrap();
    }

    #[test]
    fn lists_never_had_the_text_that_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Memory::default()).unwrap();
        let list = |items: &[&str]| {
            let items = items.iter().map(|item| Value::String((*item).to_owned())).collect();
            BTreeMap::from([("of".to_owned(), Value::List(items))])
        };
        let mut times = Vec::new();
        for items in [&["a", "Quintessa"][..], &["Quintessa", "b"]] {
            let mut write = store.begin(0).unwrap();
            write.put_node("Topic", "t", &list(items)).unwrap();
            write.commit(Durability::Buffered, 0).unwrap();
            times.push(store.snapshot(0).reader().last_commit().unwrap());
        }
        let mut write = store.begin(0).unwrap();
        let (label, property) = (write.label("Topic").unwrap(), write.property("of").unwrap());
        let texts = BTreeMap::from([("Quintessa".to_owned(), "q".to_owned())]);
        write.replace_in_lists(label, property, &texts).unwrap();
        write.commit(Durability::Buffered, 0).unwrap();
        let snapshot = store.snapshot(0);
        let node = snapshot.reader().find("Topic", "t").unwrap().unwrap();
        for (time, items) in times.into_iter().zip([&["a", "q"][..], &["q", "b"]]) {
            let record = snapshot.reader().node(node, SystemScope::AsOf(time)).unwrap().unwrap();
            assert_eq!(record.properties[&property], list(items)["of"]);
        }
        store.check(&mut |violation| panic!("{violation}"), &mut |_| {}).unwrap();
    }
}
