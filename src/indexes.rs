//! What is kept in memory of a database beside its disk: embeddings to be searched, keys to be
//! written, and names to be found in questions. All of it is made of what is stored, and follows the
//! commits.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use engraph_storage::graph::{LabelId, NodeId, Time};
use engraph_storage::{Changes, KeyTokenizer, Reader, Store, TokenizerError};
use parking_lot::Mutex;

use crate::error::Result;
use crate::models::Models;
use crate::retrieval::anchor::Name;
use crate::schema::Schemas;
use crate::vectors::VectorIndexes;

/// The indexes of an open database, shared by its sessions.
pub(crate) struct Indexes {
    pub(crate) vectors: VectorIndexes,
    pub(crate) schemas: Schemas,
    changes: Arc<Changes>,
    names: Mutex<HashMap<Vec<LabelId>, Names>>,
}

/// The names of the nodes of some labels, as they were at a commit.
struct Names {
    commit: Time,
    names: Arc<Vec<Name>>,
}

/// Sets of labels whose names are kept.
const NAMED_MAX: usize = 16;
/// With more changes than this, names are read anew.
const FOLLOWED_MAX: usize = 1_024;

impl Indexes {
    pub(crate) fn new(store: &Store) -> Self {
        let changes = Arc::clone(store.changes());
        let (vectors, schemas) = (VectorIndexes::new(&changes), Schemas::default());
        Self { vectors, schemas, changes, names: Mutex::default() }
    }

    /// The names of all nodes of these labels in a state; `read` gives those of one label, or of one
    /// node of it, from there.
    pub(crate) fn names(
        &self,
        labels: &[LabelId],
        reader: Reader<'_>,
        read: &dyn Fn(LabelId, Option<NodeId>) -> Result<Vec<Name>>,
    ) -> Result<Arc<Vec<Name>>> {
        let all = || labels.iter().map(|label| read(*label, None)).collect::<Result<Vec<_>>>();
        if reader.has_changes() {
            return Ok(Arc::new(all()?.concat()));
        }
        let commit = reader.last_commit()?;
        let held = self.names.lock().get(labels).map(|held| (held.commit, Arc::clone(&held.names)));
        let names = match held {
            Some((at, names)) if at == commit => return Ok(names),
            Some((at, _)) if at > commit => return Ok(Arc::new(all()?.concat())),
            Some((at, names)) => match self.changed(labels, at, commit) {
                Some(changed) if changed.is_empty() => names,
                Some(changed) => {
                    let is_old =
                        |name: &&Name| changed.iter().any(|(_, node)| *node == name.of.node);
                    let mut kept: Vec<Name> =
                        names.iter().filter(|name| !is_old(name)).cloned().collect();
                    for (label, node) in changed {
                        kept.extend(read(label, Some(node))?);
                    }
                    Arc::new(kept)
                }
                None => Arc::new(all()?.concat()),
            },
            None => Arc::new(all()?.concat()),
        };
        let mut held = self.names.lock();
        if held.len() >= NAMED_MAX {
            held.clear();
        }
        held.insert(labels.to_vec(), Names { commit, names: Arc::clone(&names) });
        Ok(names)
    }

    /// The nodes of these labels that commits behind `from` and up to `to` changed, each once; none
    /// if nobody knows, or if it is faster to read all of them.
    fn changed(
        &self,
        labels: &[LabelId],
        from: Time,
        to: Time,
    ) -> Option<BTreeSet<(LabelId, NodeId)>> {
        let changed = self.changes.since(from)?.into_iter();
        let changed: BTreeSet<(LabelId, NodeId)> = changed
            .filter(|(time, changed)| *time <= to && labels.contains(&changed.label))
            .map(|(_, changed)| (changed.label, changed.node))
            .collect();
        (changed.len() <= FOLLOWED_MAX).then_some(changed)
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
    fn id(&self) -> std::result::Result<String, TokenizerError> {
        Ok(self.0.tokenizer_id()?)
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError> {
        Ok(self.0.tokenize(key)?)
    }
}
