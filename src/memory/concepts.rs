//! Which concept of the graph a drawn one is: one that is there already (assimilation, SCG-MEM,
//! eq. 7), or a new one (accommodation, eq. 8-9). Nothing is written here.

use std::collections::BTreeMap;

use engraph_storage::graph::{LabelId, SystemScope};
use engraph_storage::{CONCEPT, Reader};

use super::draw::Means;
use super::extract::Extraction;
use crate::error::Result;
use crate::vectors::Search;

/// The least cosine at which two keys are one concept. What is said in few words is near to much, so
/// it is high: of the nearest pairs of 3,000 keys of real conversations, those above it are spellings
/// and numbers of one thing.
const SAME: f32 = 0.9;

/// What is known of the concepts of an extraction.
pub(super) struct Known {
    /// The key of the concept in the graph, by the key that was drawn.
    pub(super) keys: BTreeMap<String, String>,
    /// How many are new.
    pub(super) new: u64,
}

/// Finds the concepts of an extraction in the graph: by key or alias, else by meaning. What is not
/// found is new, and goes by its own key.
pub(super) fn known(
    extraction: &Extraction,
    means: Means<'_>,
    reader: Reader<'_>,
) -> Result<Known> {
    let drawn = extraction.concepts.iter().map(|concept| &concept.key);
    let also = extraction.semantics.iter().flat_map(|semantic| &semantic.concepts);
    let mut keys = BTreeMap::new();
    let mut unknown = Vec::new();
    let label = reader.catalog().label(CONCEPT);
    for key in drawn.chain(also).filter(|key| !key.is_empty()) {
        if keys.contains_key(key) {
            continue;
        }
        let held = label.map_or(Ok(None), |label| held(label, key, reader))?;
        if held.is_none() {
            unknown.push(key.as_str());
        }
        keys.insert(key.clone(), held.unwrap_or_else(|| key.clone()));
    }
    let mut new = unknown.len() as u64;
    let Some(label) = label else { return Ok(Known { keys, new }) };
    let vectors = means.models.embed(&unknown)?;
    for (key, vector) in unknown.into_iter().zip(vectors) {
        if let Some(near) = nearest(label, &vector, means, reader)? {
            keys.insert(key.to_owned(), near);
            new -= 1;
        }
    }
    Ok(Known { keys, new })
}

fn held(label: LabelId, key: &str, reader: Reader<'_>) -> Result<Option<String>> {
    let Some(node) = reader.find_node(label, key)? else { return Ok(None) };
    Ok(reader.node(node, SystemScope::Current)?.map(|record| record.key))
}

/// The concept of the same meaning.
fn nearest(
    label: LabelId,
    vector: &[f32],
    means: Means<'_>,
    reader: Reader<'_>,
) -> Result<Option<String>> {
    let search = Search {
        reader,
        labels: Some(&[label]),
        system: SystemScope::Current,
        query: vector,
        top: 1,
    };
    let found = means.indexes.vectors.search(&search, &mut |_, _| Ok(true))?;
    let Some((_, node)) = found.nodes.first().filter(|(score, _)| *score >= SAME) else {
        return Ok(None);
    };
    Ok(reader.node(*node, SystemScope::Current)?.map(|record| record.key))
}
