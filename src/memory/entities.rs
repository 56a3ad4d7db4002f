//! The entities that the graph has, and those that were told since, as extractors ask for them.
//!
//! Nothing is written here.

use std::collections::{BTreeSet, HashMap};

use engraph_storage::Reader;
use engraph_storage::graph::{LabelId, SystemScope};

use super::extract::{Entity, ExtractedFact, KnownEntities};
use crate::error::Result;
use crate::graph_names::is_entity;

/// The entities of a state: nodes of all labels but the layers; and those of facts that are not stored yet.
pub(super) struct Entities<'r> {
    reader: Reader<'r>,
    labels: Vec<(LabelId, String)>,
    told: HashMap<String, BTreeSet<Entity>>,
}

impl<'r> Entities<'r> {
    pub(super) fn new(reader: Reader<'r>) -> Self {
        let labels = reader.catalog().labels();
        let labels = labels.filter(|(_, name)| is_entity(name));
        let labels = labels.map(|(label, name)| (label, name.to_owned())).collect();
        Self { reader, labels, told: HashMap::new() }
    }

    /// Takes what facts tell of, as if they were stored.
    pub(super) fn hear(&mut self, facts: &[ExtractedFact]) {
        for entity in facts.iter().flat_map(|fact| [&fact.head, &fact.tail]) {
            self.told.entry(entity.name.clone()).or_default().insert(entity.clone());
        }
    }

    fn found(&self, name: &str) -> Result<Option<Entity>> {
        let mut found = None;
        for (label, label_name) in &self.labels {
            let Some(node) = self.reader.find_node(*label, name)? else { continue };
            let Some(record) = self.reader.node(node, SystemScope::Current)? else { continue };
            if found.is_some() {
                return Ok(None);
            }
            found = Some(Entity { label: label_name.clone(), name: record.key.clone() });
        }
        for told in self.told.get(name).into_iter().flatten() {
            if found.as_ref().is_some_and(|found| found != told) {
                return Ok(None);
            }
            found = Some(told.clone());
        }
        Ok(found)
    }
}

impl KnownEntities for Entities<'_> {
    fn find(&self, name: &str) -> Option<Entity> {
        // What cannot be read is not known; writing will say so.
        self.found(name).ok().flatten()
    }
}
