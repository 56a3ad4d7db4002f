//! Which nodes and relations the names of a table lead to: each is looked up once, and made if it is not
//! there.
//!
//! A table of a million names does not fit into the processor's caches, so some names are first guessed by their
//! tags, then what they may be is touched, and then they are compared: the first two wait for many at once.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::hint::black_box;

use compact_str::CompactString;
use engraph_storage::Reader;
use engraph_storage::graph::{Intent, NodeId, RelationId};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::database::Engraph;
use crate::error::Result;
use crate::import::bulk::Row;
use crate::time;

/// The label and the key of a node; what names something is short as a rule, and needs no memory of its own.
pub(super) type Name = (CompactString, CompactString);

/// The places of a head, a relation and a tail among the names.
pub(super) type Places = [u32; 3];

/// The place of what is not known.
const UNKNOWN: u32 = u32::MAX;

/// Names of nodes, by label and key, and of relations, each with its place.
#[derive(Default)]
pub(super) struct Names {
    /// The tag of each node's name, and its place.
    node_places: HashTable<(u32, u32)>,
    nodes: Vec<Name>,
    relation_places: FxHashMap<CompactString, u32>,
    relations: Vec<CompactString>,
}

/// What names lead to, by their places.
#[derive(Default)]
pub(super) struct Found {
    nodes: Vec<NodeId>,
    relations: Vec<(RelationId, Intent)>,
}

/// A number by which a name is guessed; others may have it too.
pub(super) fn tag(name: &Name) -> u32 {
    (FxBuildHasher.hash_one(name) >> 32) as u32
}

/// Whether one of the places is not known.
pub(super) fn is_unknown(places: &Places) -> bool {
    places.contains(&UNKNOWN)
}

impl Names {
    /// The places of what rows name, with the tags of their nodes, as far as they are known.
    pub(super) fn known(&self, rows: &[Row], tags: &[[u32; 2]], places: &mut Vec<Places>) {
        let guesses = self.guess(tags);
        places.extend(rows.iter().zip(tags).zip(guesses).map(|((row, tags), guesses)| {
            let head = self.node(&row.head, tags[0], guesses[0]);
            let relation = self.relation_places.get(&row.relation).copied();
            let tail = self.node(&row.tail, tags[1], guesses[1]);
            [head, relation.unwrap_or(UNKNOWN), tail]
        }));
    }

    /// The places of what a row names, which is added where it is not known.
    pub(super) fn added(&mut self, row: &Row, tags: [u32; 2]) -> Places {
        let head = self.added_node(&row.head, tags[0]);
        let relation = self.added_relation(&row.relation);
        [head, relation, self.added_node(&row.tail, tags[1])]
    }

    /// Where nodes whose names have these tags may be, to be told by [`Self::node`], which finds what it compares in
    /// the nearest cache then.
    fn guess(&self, tags: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let guess = |tag: u32| {
            let found = self.node_places.find(hash_of(tag), |(other, _)| *other == tag);
            found.map_or(UNKNOWN, |(_, place)| *place)
        };
        let guesses: Vec<_> = tags.iter().map(|tags| tags.map(guess)).collect();
        let name = |guess: &u32| self.nodes.get(*guess as usize);
        let touch =
            |(label, key): &Name| label.as_bytes().first().copied().unwrap_or(0) ^ key.len() as u8;
        let names = guesses.as_flattened().iter().filter_map(name);
        black_box(names.fold(0, |all, name| all ^ touch(name)));
        guesses
    }

    /// The place of a node, by the tag of its name and where it may be.
    fn node(&self, name: &Name, tag: u32, guess: u32) -> u32 {
        if self.nodes.get(guess as usize) == Some(name) {
            return guess;
        }
        let is_it =
            |(other, place): &(u32, u32)| *other == tag && self.nodes[*place as usize] == *name;
        self.node_places.find(hash_of(tag), is_it).map_or(UNKNOWN, |(_, place)| *place)
    }

    fn added_node(&mut self, name: &Name, tag: u32) -> u32 {
        let known = self.node(name, tag, UNKNOWN);
        if known != UNKNOWN {
            return known;
        }
        let place = self.nodes.len() as u32;
        self.nodes.push(name.clone());
        self.node_places.insert_unique(hash_of(tag), (tag, place), |(tag, _)| hash_of(*tag));
        place
    }

    fn added_relation(&mut self, name: &CompactString) -> u32 {
        if let Some(place) = self.relation_places.get(name) {
            return *place;
        }
        let place = self.relations.len() as u32;
        self.relations.push(name.clone());
        self.relation_places.insert(name.clone(), place);
        place
    }
}

impl Found {
    /// The node of a place.
    pub(super) fn node(&self, place: u32) -> NodeId {
        self.nodes[place as usize]
    }

    /// The relation of a place and its intent.
    pub(super) fn relation(&self, place: u32) -> (RelationId, Intent) {
        self.relations[place as usize]
    }

    /// Finds what new names lead to, and makes what is not there, in the order of the names.
    pub(super) fn follow(&mut self, names: &Names, db: &Engraph) -> Result<()> {
        let new = &names.nodes[self.nodes.len()..];
        let new_relations = &names.relations[self.relations.len()..];
        if new.is_empty() && new_relations.is_empty() {
            return Ok(());
        }
        let held = {
            let snapshot = db.store.snapshot(time::wall());
            held(snapshot.reader(), new)?
        };
        let mut transaction = db.store.begin(time::wall())?;
        for ((label, key), held) in new.iter().zip(held) {
            self.nodes.push(match held {
                Some(node) => node,
                None => transaction.put_node(label, key, &BTreeMap::new())?,
            });
        }
        for name in new_relations {
            let relation = transaction.relation(name)?;
            self.relations.push((relation, transaction.reader().catalog().rule(relation).intent));
        }
        Ok(transaction.commit(db.durability(), time::wall())?)
    }
}

/// The nodes with those labels and keys, as far as they are there.
fn held(reader: Reader<'_>, names: &[Name]) -> Result<Vec<Option<NodeId>>> {
    let label = |name: &CompactString| reader.catalog().label(name);
    let known = names.iter().filter_map(|(name, key)| Some((label(name)?, key.as_str())));
    let mut found = reader.find_nodes(&known.collect::<Vec<_>>())?.into_iter();
    Ok(names.iter().map(|(name, _)| label(name).and_then(|_| found.next()?)).collect())
}

/// Where a tag stands in the table, which goes by the first and the last bits.
fn hash_of(tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(tag)
}

#[cfg(test)]
mod tests {
    use engraph_storage::graph::Interval;

    use super::*;

    fn name(label: &str, key: &str) -> Name {
        (label.into(), key.into())
    }

    fn row(head: &Name, tail: &Name) -> Row {
        Row {
            line: 1,
            head: head.clone(),
            relation: "knows".into(),
            tail: tail.clone(),
            valid: Interval::ALL,
            confidence: 1.0,
            intent: None,
            source: None,
        }
    }

    fn known(names: &Names, row: Row, tags: [u32; 2]) -> Places {
        let mut places = Vec::new();
        names.known(&[row], &[tags], &mut places);
        places[0]
    }

    #[test]
    fn names_with_one_tag_are_told_apart() {
        let mut names = Names::default();
        let all = [name("Person", "Nora"), name("Person", "Luis"), name("City", "Nora")];
        assert_eq!(known(&names, row(&all[0], &all[1]), [7, 7]), [UNKNOWN; 3]);
        for _ in 0..2 {
            for (place, name) in (0..).zip(&all) {
                assert_eq!(names.added(&row(name, name), [7, 7]), [place, 0, place]);
            }
        }
        assert_eq!(known(&names, row(&all[1], &all[2]), [7, 7]), [1, 0, 2]);
        let new = name("City", "Porto");
        assert_eq!(known(&names, row(&new, &all[0]), [7, 7]), [UNKNOWN, 0, 0]);
        assert_eq!(known(&names, row(&all[0], &new), [7, 8]), [0, 0, UNKNOWN]);
        assert!(is_unknown(&[0, 0, UNKNOWN]) && !is_unknown(&[0, 0, 1]));
        assert_eq!(names.added(&row(&new, &all[0]), [8, 7]), [3, 0, 0]);
    }

    #[test]
    fn a_name_is_found_among_many() {
        let mut names = Names::default();
        let all: Vec<Name> = (0..5_000).map(|key| name("Entity", &format!("e{key}"))).collect();
        for (place, name) in (0..).zip(&all) {
            assert_eq!(names.added(&row(name, name), [tag(name); 2]), [place, 0, place]);
        }
        for (place, name) in (0..).zip(&all) {
            assert_eq!(known(&names, row(name, name), [tag(name); 2]), [place, 0, place]);
        }
    }
}
