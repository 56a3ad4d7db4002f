//! What is kept in memory of a database beside its disk: embeddings to be searched, and keys to be
//! written. All of it is made of what is stored, and follows the commits.

use std::sync::Arc;

use engraph_storage::graph::{LabelId, NodeId, Time};
use engraph_storage::{Changes, KeyTokenizer, Store, TokenizerError};

use crate::models::Models;
use crate::schema::Schemas;
use crate::vectors::VectorIndexes;

/// The indexes of an open database, shared by its sessions.
pub(crate) struct Indexes {
    pub(crate) vectors: VectorIndexes,
    pub(crate) schemas: Schemas,
    changes: Arc<Changes>,
}

impl Indexes {
    pub(crate) fn new(store: &Store) -> Self {
        let changes = Arc::clone(store.changes());
        Self { vectors: VectorIndexes::new(&changes), schemas: Schemas::default(), changes }
    }

    /// The concepts that commits behind an instant changed, and when; none if nobody knows.
    pub(crate) fn changed_concepts(
        &self,
        label: Option<LabelId>,
        time: Time,
    ) -> Option<Vec<(Time, NodeId)>> {
        let changed = self.changes.since(time)?.into_iter();
        let of_it = changed.filter(|(_, changed)| Some(changed.label) == label);
        Some(of_it.map(|(time, changed)| (time, changed.node)).collect())
    }
}

/// Takes the keys of concepts apart with the embedder's tokenizer.
pub(crate) struct KeyTokens(pub(crate) Arc<Models>);

impl KeyTokenizer for KeyTokens {
    fn id(&self) -> Result<String, TokenizerError> {
        Ok(self.0.tokenizer_id()?)
    }

    fn tokenize(&self, key: &str) -> Result<Vec<u32>, TokenizerError> {
        Ok(self.0.tokenize(key)?)
    }
}
