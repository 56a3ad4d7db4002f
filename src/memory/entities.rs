//! The entities that the graph has, as extractors ask for them.
//!
//! Nothing is written here.

use engraph_storage::Reader;
use engraph_storage::graph::{LabelId, SystemScope};

use super::extract::{Entity, KnownEntities};
use crate::error::Result;
use crate::graph_names::LAYERS;

/// Labels beside the layers that name no entity.
const NO_ENTITIES: [&str; 2] = ["Concept", "Conversation"];

/// The entities of a state: nodes of all labels but the layers.
pub(super) struct Entities<'r> {
    reader: Reader<'r>,
    labels: Vec<(LabelId, String)>,
}

impl<'r> Entities<'r> {
    pub(super) fn new(reader: Reader<'r>) -> Self {
        let is_entity = |name: &str| !LAYERS.contains(&name) && !NO_ENTITIES.contains(&name);
        let labels = reader.catalog().labels();
        let labels = labels.filter(|(_, name)| is_entity(name));
        let labels = labels.map(|(label, name)| (label, name.to_owned())).collect();
        Self { reader, labels }
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
        Ok(found)
    }
}

impl KnownEntities for Entities<'_> {
    fn find(&self, name: &str) -> Option<Entity> {
        // What cannot be read is not known; writing will say so.
        self.found(name).ok().flatten()
    }
}
