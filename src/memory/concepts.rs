//! Which concept of the graph a drawn one is: one that is there already (assimilation, SCG-MEM,
//! eq. 7), or a new one (accommodation, eq. 8-9). Nothing is written here.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::{Cardinality, SystemScope};
use engraph_storage::{CONCEPT, Reader};

use super::extract::{Entity, Extraction};
use super::means::Means;
use super::resolve::{Held, Merge, held};
use crate::error::Result;
use crate::vectors::Search;

/// The least cosine at which two keys are one concept. What is said in few words is near to much, so
/// it is high: of the nearest pairs of 3,000 keys of real conversations, those above it are spellings
/// and numbers of one thing.
const SAME: f32 = 0.9;

/// What is known of the concepts of an extraction.
pub(super) struct Known {
    /// The key of the concept in the graph, by the key that was drawn; what has none is left out.
    pub(super) keys: BTreeMap<String, String>,
    /// Those that the graph has under another key, by the key that was drawn.
    pub(super) merges: BTreeMap<String, Merge>,
    /// How many are new.
    pub(super) new: u64,
    /// The tags that are relations of which each head has one value: a concept may not have them of several turns.
    pub(super) single: BTreeSet<String>,
}

/// Finds the concepts of an extraction in the graph: by key or alias, else by meaning. What is not
/// found is new, and goes by its own key. Where nothing is assimilated, what is found has no key.
pub(super) fn known(
    extraction: &Extraction,
    means: Means<'_>,
    reader: Reader<'_>,
) -> Result<Known> {
    let drawn = extraction.concepts.iter().map(|concept| &concept.key);
    let also = extraction.semantics.iter().flat_map(|semantic| &semantic.concepts);
    let drawn: BTreeSet<&String> = drawn.chain(also).filter(|key| !key.is_empty()).collect();
    let is_single = |tag: &&String| {
        let takes_one = |tag| reader.catalog().rule(tag).cardinality == Cardinality::One;
        let relation = reader.catalog().relation(tag);
        relation.is_some_and(|tag| {
            takes_one(tag) || reader.catalog().rule(tag).mirror.is_some_and(takes_one)
        })
    };
    let tags = extraction.concepts.iter().map(|concept| &concept.tag);
    let single = tags.filter(is_single).cloned().collect();
    let mut known = Known { keys: BTreeMap::new(), merges: BTreeMap::new(), new: 0, single };
    let mut unknown = Vec::new();
    for key in drawn {
        let concept = Entity { label: CONCEPT.to_owned(), name: key.clone() };
        match held(reader, &concept)? {
            Held::Itself | Held::Refers(_) if !means.construction.assimilates => {}
            Held::Itself => drop(known.keys.insert(key.clone(), key_of(reader, key)?)),
            Held::Refers(merge) => known.merge(key, merge),
            Held::Unknown { split } => unknown.push((key, split)),
        }
    }
    let texts: Vec<&str> = unknown.iter().map(|(key, _)| key.as_str()).collect();
    let vectors = match reader.catalog().label(CONCEPT) {
        Some(_) => means.models.embed(&texts)?,
        None => Vec::new(),
    };
    let mut vectors = vectors.into_iter();
    for (key, split) in unknown {
        let near = match vectors.next() {
            Some(vector) => nearest(key, &vector, &split, means, reader)?,
            None => None,
        };
        match near {
            Some(_) if !means.construction.assimilates => {}
            Some(merge) => known.merge(key, merge),
            None => {
                known.new += 1;
                known.keys.insert(key.clone(), key.clone());
            }
        }
    }
    Ok(known)
}

impl Known {
    fn merge(&mut self, key: &str, merge: Merge) {
        self.keys.insert(key.to_owned(), merge.into.name.clone());
        self.merges.insert(key.to_owned(), merge);
    }
}

/// The key of a concept that a key or alias leads to.
fn key_of(reader: Reader<'_>, key: &str) -> Result<String> {
    let node = reader.find(CONCEPT, key)?;
    let record = node.map(|node| reader.node(node, SystemScope::Current)).transpose()?.flatten();
    Ok(record.map_or_else(|| key.to_owned(), |record| record.key.clone()))
}

/// The concept of the same meaning, but for those that the key was split from.
fn nearest(
    key: &str,
    vector: &[f32],
    split: &BTreeSet<String>,
    means: Means<'_>,
    reader: Reader<'_>,
) -> Result<Option<Merge>> {
    let Some(label) = reader.catalog().label(CONCEPT) else { return Ok(None) };
    let search = Search {
        reader,
        labels: Some(&[label]),
        system: SystemScope::Current,
        query: vector,
        top: 1 + split.len(),
    };
    let found = means.indexes.vectors.search(&search, &mut |_, _| Ok(true))?;
    for (score, node) in found.nodes.into_iter().filter(|(score, _)| *score >= SAME) {
        let Some(record) = reader.node(node, SystemScope::Current)? else { continue };
        if !split.contains(&record.key) {
            let concept = |name: &str| Entity { label: CONCEPT.to_owned(), name: name.to_owned() };
            return Ok(Some(Merge {
                said: concept(key),
                into: concept(&record.key),
                how: Some(format!("meaning {score:.2}")),
                likeness: f64::from(score).min(1.0),
            }));
        }
    }
    Ok(None)
}
