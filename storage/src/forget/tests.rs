//! Forgotten means gone: from every answer, and from every byte of every file.

mod goes_on;

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::error::StorageError;
use crate::families::Family;
use crate::graph::{Belief, Intent, Interval, RelationRule, Time, Value};
use crate::overlay::Overlay;
use crate::store::{PURGE_KEY, Store};
use proptest::prelude::*;

/// Subjects that are forgotten; with `ENGRAPH_SOAK` set, so many more.
const SUBJECTS: usize = 20;
const SUBJECTS_SOAK: usize = 5_000;
/// Subjects that live in one database.
const PER_DATABASE: usize = 20;

/// Everything that a subject leaves behind, each with bytes of its own.
struct Marks {
    number: usize,
}

impl Marks {
    const KINDS: [&'static str; 9] =
        ["key", "alias", "text", "past", "vector", "claim", "tail", "quote", "unsure"];

    fn of(&self, kind: &str) -> String {
        // Wide apart, so that no mark is part of another, and of whole components.
        format!("<{kind:_<8}mark{:06}of{kind:_>8}>    ", self.number)[..32].to_owned()
    }

    fn vector(&self) -> Vec<f32> {
        let mark = self.of("vector");
        mark.as_bytes().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    /// The kinds whose bytes are in some file of the folder.
    fn found_in(&self, folder: &Path) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            // A flush that a write began may delete a file at any moment.
            let Ok(bytes) = std::fs::read(&path) else { continue };
            for kind in Self::KINDS {
                let mark = &self.of(kind).into_bytes()[8..];
                if memchr::memmem::find(&bytes, mark).is_some() {
                    found.push((kind, path.display().to_string()));
                }
            }
        }
        found
    }
}

fn open(folder: &Path) -> Store {
    Store::open(folder, Memory::default()).expect("opens")
}

fn belief(tail: NodeId, source: &str, confidence: f64) -> Belief {
    Belief {
        tail,
        valid: Interval::ALL,
        confidence,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec![source.to_owned()],
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

fn properties(name: &str, text: String) -> BTreeMap<String, Value> {
    BTreeMap::from([(name.to_owned(), Value::String(text))])
}

/// Puts the subject into every family, in several commits so that some of it is history.
fn remember(store: &Store, marks: &Marks) -> NodeId {
    let commit = |work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<()>| {
        let mut transaction = store.begin(0).expect("begins");
        work(&mut transaction).expect("works");
        transaction.commit(Durability::Buffered, 0).expect("commits");
    };
    let key = marks.of("key");
    let mut subject = NodeId(0);
    commit(&mut |transaction| {
        if transaction.reader().catalog().indexes().next().is_none() {
            transaction.define_index("by_text", "Turn", "text")?;
        }
        subject = transaction.put_node("Turn", &key, &properties("text", marks.of("past")))?;
        transaction.put_alias(subject, &marks.of("alias"))?;
        transaction.put_vector(subject, "model", &marks.vector())
    });
    commit(&mut |transaction| {
        transaction.put_node("Turn", &key, &properties("text", marks.of("text")))?;
        transaction.put_vector(subject, "model", &[1.0; 8])
    });
    for (source, confidence) in [(key.as_str(), 0.5), ("another turn", 0.4)] {
        commit(&mut |transaction| {
            let nora = transaction.put_node("Person", "Nora", &BTreeMap::new())?;
            let tea = transaction.put_node("Thing", "tea", &BTreeMap::new())?;
            let likes = transaction.relation("likes")?;
            let quote = transaction.property("quote")?;
            let mut told = belief(tea, source, confidence);
            if source == key {
                told.properties.insert(quote, Value::String(marks.of("claim")));
            }
            transaction.assert_fact(nora, likes, &told).map(drop)
        });
    }
    commit(&mut |transaction| {
        let nora = transaction.put_node("Person", "Nora", &BTreeMap::new())?;
        let secret = transaction.put_node("Thing", &marks.of("tail"), &BTreeMap::new())?;
        let (knows, said) = (transaction.relation("knows")?, transaction.relation("said")?);
        let quote = transaction.property("quote")?;
        let mut told = belief(secret, &key, 0.9);
        told.properties.insert(quote, Value::String(marks.of("quote")));
        let fact = transaction.assert_fact(nora, knows, &told)?.fact;
        transaction.doubt(fact, 0.5)?;
        let mut unsure = belief(subject, "someone", 0.9);
        unsure.properties.insert(quote, Value::String(marks.of("unsure")));
        transaction.assert_fact(nora, said, &unsure).map(drop)
    });
    subject
}

fn forget(store: &Store, subject: NodeId) -> Result<Forgotten> {
    let mut transaction = store.begin(0).expect("begins");
    let forgotten = transaction.forget(&[subject], &[])?;
    transaction.commit(Durability::Buffered, 0)?;
    Ok(forgotten)
}

#[test]
fn forgotten_bytes_are_in_no_file() {
    let subjects =
        if std::env::var_os("ENGRAPH_SOAK").is_some() { SUBJECTS_SOAK } else { SUBJECTS };
    let mut hits = 0;
    for database in 0..subjects / PER_DATABASE {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let marks = |number| Marks { number: database * PER_DATABASE + number };
        let known: Vec<NodeId> = (0..PER_DATABASE)
            .map(|number| {
                if number % 3 == 1 {
                    store.engine.flush().expect("flushes");
                }
                remember(&store, &marks(number))
            })
            .collect();
        if database % 2 == 1 {
            store.engine.compact().expect("compacts");
        }
        for (number, subject) in known.into_iter().enumerate() {
            store.engine.delete_files().expect("deletes");
            let there = marks(number).found_in(folder.path());
            let kinds: BTreeSet<_> = there.iter().map(|(kind, _)| *kind).collect();
            assert_eq!(kinds, BTreeSet::from(Marks::KINDS), "the search finds what is there");
            let forgotten = forget(&store, subject).expect("forgets");
            assert_eq!(forgotten.nodes, 2, "the turn, and what was only told in it");
            assert!(forgotten.derived > 0, "tea is still liked");
            let left = marks(number).found_in(folder.path());
            assert!(left.is_empty(), "{left:?}");
            hits += left.len();
        }
        let mut violations = Vec::new();
        store.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("checks");
        assert_eq!(violations, []);
    }
    eprintln!("row=S1 subjects={subjects} hits={hits}");
}

#[test]
fn what_others_said_too_is_derived_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let marks = Marks { number: 1 };
    let subject = remember(&store, &marks);
    forget(&store, subject).expect("forgets");
    let snapshot = store.snapshot(0);
    let mut left = Vec::new();
    snapshot
        .reader()
        .all_versions(&mut |_, _, version| {
            left.push((version.belief.sources, version.belief.confidence));
            Ok(ControlFlow::Continue(()))
        })
        .expect("reads");
    assert_eq!(left, [(vec!["another turn".to_owned()], 0.4)]);
}

#[test]
fn a_reader_from_before_is_waited_for_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let marks = Marks { number: 1 };
    let subject = remember(&store, &marks);
    let snapshot = store.snapshot(0);
    let error = forget(&store, subject).expect_err("is still read");
    assert!(matches!(error, StorageError::StillRead));
    assert!(!marks.found_in(folder.path()).is_empty());
    drop(snapshot);
    drop(store);
    // What was left undone is done when the database is opened for writing.
    drop(open(folder.path()));
    assert_eq!(marks.found_in(folder.path()), []);
}

#[test]
fn a_disk_that_refuses_says_that_the_deletion_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let marks = Marks { number: 1 };
    let subject = remember(&store, &marks);
    // The log is open already, and no table can be made where a folder has its name.
    let in_the_way: Vec<_> =
        (0..100).map(|number| folder.path().join(format!("{number:06}.sst"))).collect();
    let in_the_way: Vec<_> =
        in_the_way.into_iter().filter(|path| std::fs::create_dir(path).is_ok()).collect();
    let error = forget(&store, subject).expect_err("cannot write tables");
    assert!(matches!(error, StorageError::NotPurged(_)), "{error}");
    let node = store.snapshot(0).reader().node(subject, SystemScope::Current).expect("reads");
    assert_eq!(node, None);
    drop(store);
    in_the_way.iter().for_each(|path| std::fs::remove_dir(path).expect("is empty"));
    assert!(!marks.found_in(folder.path()).is_empty());
    let store = open(folder.path());
    assert!(store.not_purged().is_none());
    drop(store);
    assert_eq!(marks.found_in(folder.path()), []);
}

#[test]
fn who_is_not_to_go_on_stops_and_nothing_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let subject = remember(&store, &Marks { number: 1 });
    let mut transaction = store.begin(0).expect("begins");
    transaction.stop_unless(|| false);
    let error = transaction.forget(&[subject], &[]).expect_err("is stopped");
    assert!(matches!(error, StorageError::Stopped), "{error}");
    drop(transaction);
    assert!(
        store.snapshot(0).reader().node(subject, SystemScope::Current).expect("reads").is_some()
    );
    let mut transaction = store.begin(0).expect("begins");
    transaction.stop_unless(|| true);
    transaction.forget(&[subject], &[]).expect("goes on");
}

#[test]
fn a_rollback_forgets_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let subject = remember(&store, &Marks { number: 1 });
    let mut transaction = store.begin(0).expect("begins");
    transaction.forget(&[subject], &[]).expect("forgets");
    drop(transaction);
    let node = store.snapshot(0).reader().node(subject, SystemScope::Current).expect("reads");
    assert!(node.is_some());
}

/// Where a node is all there is, no later family's compaction renews the list of tables.
#[test]
fn the_list_of_tables_forgets_a_node_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let marks = Marks { number: 1 };
    let mut transaction = store.begin(0).expect("begins");
    let node = transaction.put_node("Turn", &marks.of("key"), &BTreeMap::new()).expect("puts");
    transaction.commit(Durability::Buffered, 0).expect("commits");
    store.engine.flush().expect("flushes");
    let manifest = |(_, file): &(&str, String)| file.contains("MANIFEST");
    assert!(marks.found_in(folder.path()).iter().any(manifest), "keys are in the list");
    forget(&store, node).expect("forgets");
    assert_eq!(marks.found_in(folder.path()), []);
}

/// Who forgets later has their own purge: the mark of it stays until then, also after a crash.
#[test]
fn a_purge_leaves_the_mark_of_a_later_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    let mark = || store.engine.snapshot().get(Family::Meta, PURGE_KEY).unwrap();
    let mut overlay = Overlay::default();
    overlay.put(Family::Meta, PURGE_KEY, b"later".to_vec());
    let mut writer = store.commits.writer().unwrap();
    store.commits.write(&store.engine, &mut writer, &overlay).unwrap();
    drop(writer);
    store.purge(b"earlier", store.engine.snapshots().next()).unwrap();
    assert_eq!(mark().as_deref(), Some(&b"later"[..]));
    store.purge(b"later", store.engine.snapshots().next()).unwrap();
    assert_eq!(mark(), None);
}
