//! Which nodes and relations the names of a table lead to: each is looked up once, alone or among all that there are,
//! and made if it is not there.
//!
//! A table of a million names does not fit into the processor's caches, so some names are first guessed by their
//! tags, then what they may be is touched, and then they are compared: the first two wait for many at once.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::ops::ControlFlow;

use compact_str::CompactString;
use engraph_storage::Reader;
use engraph_storage::graph::{Intent, NodeId, RelationId};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::context::limits::Patience;
use crate::database::Engraph;
use crate::error::Result;
use crate::time;

/// The label and the key of a node.
pub(super) type Name<'n> = (&'n str, &'n str);

/// One that is held; what names something is short as a rule, and needs no memory of its own.
type Held = (CompactString, CompactString);

/// The most bytes of names that are read before any row.
const NAMES_BYTES: usize = 16 << 20;
/// A guess that leads nowhere.
const UNKNOWN: u32 = u32::MAX;

/// Nodes by label and key, and relations with their intents, each with its place.
#[derive(Default)]
pub(super) struct Names {
    /// The tag of each node's name, and its place.
    node_places: HashTable<(u32, u32)>,
    node_names: Vec<Held>,
    /// Those of the first names; the others are not looked for yet.
    nodes: Vec<NodeId>,
    relation_places: FxHashMap<CompactString, u32>,
    relation_names: Vec<CompactString>,
    /// Those of the first names, as of nodes.
    relations: Vec<(RelationId, Intent)>,
}

/// A number by which a name is guessed; others may have it too.
pub(super) fn tag(name: Name<'_>) -> u32 {
    (FxBuildHasher.hash_one(name) >> 32) as u32
}

impl Names {
    /// With the names of all nodes, if there are so many at the most and the names are short: to read them in order
    /// takes a third of what it takes to look for each. Aliases are left out.
    pub(super) fn of_all(db: &Engraph, most: u64) -> Result<Self> {
        let mut names = Self::default();
        let snapshot = db.store.snapshot(time::wall());
        let reader = snapshot.reader();
        if reader.nodes_made()? > most {
            return Ok(names);
        }
        let mut bytes = 0;
        for (label, name) in reader.catalog().labels() {
            reader.nodes_of_label(label, None, &mut |key, node| {
                bytes += name.len() + key.len();
                if bytes > NAMES_BYTES {
                    return ControlFlow::Break(());
                }
                names.add((name, key), tag((name, key)));
                names.nodes.push(node);
                ControlFlow::Continue(())
            })?;
        }
        // Those that were read are no harm, and the others are looked for.
        Ok(names)
    }

    /// The places of nodes whose names have these tags, to be told by [`Self::node`], which finds what it
    /// compares in the nearest cache then.
    pub(super) fn guess(&self, tags: &[u32], guesses: &mut [u32]) {
        for (tag, guess) in tags.iter().zip(&mut *guesses) {
            let found = self.node_places.find(hash_of(*tag), |(other, _)| other == tag);
            *guess = found.map_or(UNKNOWN, |(_, place)| *place);
        }
        let name = |guess: &u32| self.node_names.get(*guess as usize);
        let touch =
            |(label, key): &Held| label.as_bytes().first().copied().unwrap_or(0) ^ key.len() as u8;
        black_box(guesses.iter().filter_map(name).fold(0, |all, name| all ^ touch(name)));
    }

    /// The place of a node, by the tag of its name and where it may be.
    pub(super) fn node(&mut self, name: Name<'_>, tag: u32, guess: u32) -> u32 {
        let is_name = |held: &Held| held.1 == name.1 && held.0 == name.0;
        if self.node_names.get(guess as usize).is_some_and(is_name) {
            return guess;
        }
        let names = &self.node_names;
        let is_it = |(other, place): &(u32, u32)| *other == tag && is_name(&names[*place as usize]);
        if let Some((_, place)) = self.node_places.find(hash_of(tag), is_it) {
            return *place;
        }
        self.add(name, tag)
    }

    /// Adds a name that is not there.
    fn add(&mut self, name: Name<'_>, tag: u32) -> u32 {
        let place = self.node_names.len() as u32;
        self.node_names.push((name.0.into(), name.1.into()));
        self.node_places.insert_unique(hash_of(tag), (tag, place), |(tag, _)| hash_of(*tag));
        place
    }

    /// The place of a relation.
    pub(super) fn relation(&mut self, name: &str) -> u32 {
        if let Some(place) = self.relation_places.get(name) {
            return *place;
        }
        let place = self.relation_names.len() as u32;
        self.relation_names.push(name.into());
        self.relation_places.insert(name.into(), place);
        place
    }

    /// The node of a place, once [`Self::make`] has found it.
    pub(super) fn found_node(&self, place: u32) -> NodeId {
        self.nodes[place as usize]
    }

    /// The relation of a place and its intent, once [`Self::make`] has found it.
    pub(super) fn found_relation(&self, place: u32) -> (RelationId, Intent) {
        self.relations[place as usize]
    }

    /// Finds the new ones, and makes what is not there, in the order of the file.
    pub(super) fn make(&mut self, db: &Engraph) -> Result<()> {
        let new = &self.node_names[self.nodes.len()..];
        let new_relations = &self.relation_names[self.relations.len()..];
        if new.is_empty() && new_relations.is_empty() {
            return Ok(());
        }
        let held = {
            let snapshot = db.store.snapshot(time::wall());
            held(snapshot.reader(), new)?
        };
        let mut transaction = Patience::of(db.limits()).begin(&db.store)?;
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
fn held(reader: Reader<'_>, names: &[Held]) -> Result<Vec<Option<NodeId>>> {
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
    use super::*;

    fn guesses(names: &Names, tags: &[u32]) -> Vec<u32> {
        let mut guesses = vec![0; tags.len()];
        names.guess(tags, &mut guesses);
        guesses
    }

    #[test]
    fn names_with_one_tag_are_told_apart() {
        let mut names = Names::default();
        let all = [("Person", "Nora"), ("Person", "Luis"), ("City", "Nora")];
        for _ in 0..2 {
            for (place, name) in (0..).zip(all) {
                assert_eq!(names.node(name, 7, guesses(&names, &[7])[0]), place);
            }
        }
        assert_eq!(names.node(all[1], 7, UNKNOWN), 1);
        assert_eq!(guesses(&names, &[8, 7]), [UNKNOWN, 0]);
        assert_eq!(names.node(("City", "Porto"), 8, UNKNOWN), 3);
    }

    #[test]
    fn the_names_of_all_nodes_are_there_before_any_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = Engraph::open(folder.path()).expect("opens");
        for statement in [
            "REMEMBER (:Person 'Nora')",
            "REMEMBER (:City 'Porto')",
            "ALIAS 'N.' OF (:Person 'Nora')",
        ] {
            db.execute(statement, ()).expect("runs");
        }
        let all = [("Person", "Nora"), ("City", "Porto"), ("Person", "N.")];
        let found = |names: &mut Names| {
            let places = all.map(|name| names.node(name, tag(name), UNKNOWN));
            names.make(&db).expect("are found");
            places.map(|place| names.found_node(place))
        };
        let mut held = Names::of_all(&db, 2).expect("are read");
        assert_eq!(held.nodes.len(), 2);
        let nodes = found(&mut held);
        assert_eq!((held.nodes.len(), nodes[0]), (3, nodes[2]));
        // Of more nodes than are asked for none is read, and each is looked for.
        let mut none = Names::of_all(&db, 1).expect("are read");
        assert!(none.nodes.is_empty());
        assert_eq!(found(&mut none), nodes);
    }

    #[test]
    fn a_name_is_found_among_many() {
        let mut names = Names::default();
        let keys: Vec<String> = (0..5_000).map(|key| format!("e{key}")).collect();
        let all: Vec<Name<'_>> = keys.iter().map(|key| ("Entity", key.as_str())).collect();
        for _ in 0..2 {
            let tags: Vec<u32> = all.iter().copied().map(tag).collect();
            for ((place, name), guess) in (0..).zip(all.iter().copied()).zip(guesses(&names, &tags))
            {
                assert_eq!(names.node(name, tag(name), guess), place);
            }
        }
    }
}
