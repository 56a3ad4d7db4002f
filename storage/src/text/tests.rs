//! Searches against a look at every text of every node, in every state that there is.

mod limits;
mod naive;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::graph::{SystemScope, Time, Value};
use crate::reader::Reader;
use crate::store::Store;
use crate::transaction::Transaction;
use naive::{assert_like_naive, found};

const FIELDS: [(&str, f32); 2] = [("title", 2.5), ("text", 1.0)];

fn open() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    (folder, store)
}

fn commit(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> Result<()>) {
    let mut transaction = store.begin(0).expect("begins");
    work(&mut transaction).expect("works");
    transaction.commit(Durability::Buffered, 0).expect("commits");
}

fn text(text: &str) -> BTreeMap<String, Value> {
    BTreeMap::from([("text".to_owned(), Value::String(text.to_owned()))])
}

fn violations(store: &Store) -> Vec<String> {
    let mut found = Vec::new();
    store.check(&mut |violation| found.push(violation.to_string()), &mut |_| {}).expect("checks");
    found
}

/// How many keys the index has, of now and of the past.
fn keys(store: &Store) -> [u64; 2] {
    let stats = store.stats().expect("reads");
    [Family::Text, Family::TextPast].map(|family| {
        stats.iter().find(|stats| stats.family == family).map_or(0, |stats| stats.keys)
    })
}

/// The keys of the nodes that a query finds, the best first.
fn names(reader: Reader<'_>, query: &str, system: SystemScope) -> Vec<String> {
    let Some(label) = reader.catalog().label("Turn") else { return Vec::new() };
    let Some(index) = reader.text_index(label).expect("reads") else { return Vec::new() };
    let name = |(_, node): (f64, NodeId)| {
        reader.node(node, SystemScope::Current).expect("reads").expect("is there").key.clone()
    };
    found(reader, index, query, system, 100).into_iter().map(name).collect()
}

/// One change: what, of which node, with which texts.
type Act = (u8, u8, String, Option<String>);

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "cat", "cats", "dog", "run", "running", "runs", "runner", "the", "of", "blue", "sky",
        "Sky", "café", "cafe", "42", "東京",
    ]);
    prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "))
}

fn act() -> impl Strategy<Value = Act> {
    (0u8..16, 0u8..8, words(), prop::option::of(words()))
}

fn query() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        words(),
        words().prop_map(|words| format!("\"{words}\"")),
        prop::sample::select(vec!["run*", "ca*", "running*", "s*", "*", "\"", "x*", "東*"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(" "))
}

fn perform(transaction: &mut Transaction<'_>, (kind, node, words, title): &Act) -> Result<()> {
    let key = format!("n{node}");
    let value = |text: &str| Value::String(text.to_owned());
    let texts = BTreeMap::from([
        ("text".to_owned(), value(words)),
        ("title".to_owned(), title.as_ref().map_or(Value::Null, |title| value(title))),
    ]);
    match kind {
        0 => {
            let none = ["text", "title"].map(|name| (name.to_owned(), Value::Null));
            transaction.put_node("Turn", &key, &BTreeMap::from(none)).map(drop)
        }
        1 => transaction.put_node("Other", &key, &texts).map(drop),
        2 => {
            let number = BTreeMap::from([("size".to_owned(), Value::Int(i64::from(*node)))]);
            transaction.put_node("Turn", &key, &number).map(drop)
        }
        3 => {
            let list = Value::List(vec![value(words)]);
            transaction.put_node("Turn", &key, &BTreeMap::from([("text".to_owned(), list)]))?;
            transaction.put_node("Turn", &key, &texts).map(drop)
        }
        4 => {
            let node = transaction.put_node("Turn", &key, &texts)?;
            transaction.forget(&[node], &[]).map(drop)
        }
        5 => transaction.drop_index("i").map(drop),
        6 | 7 => match transaction.reader().catalog().index("i") {
            Some(_) => Ok(()),
            None => transaction.define_text_index("i", "Turn", &FIELDS),
        },
        8 => {
            let failed: Result<()> = transaction.whole(|transaction| {
                transaction.put_node("Turn", &key, &texts)?;
                transaction.drop_index("i")?;
                Err(StorageError::Exhausted("patience"))
            });
            assert!(failed.is_err());
            Ok(())
        }
        9 => {
            // There and back again.
            let before = transaction.reader().catalog().label("Turn");
            let node = before.and_then(|label| transaction.reader().find_node(label, &key).ok()?);
            let Some(node) = node else { return Ok(()) };
            let record = transaction.current_node(node)?;
            let title = transaction.property("text")?;
            let back = record.properties.get(&title).cloned().unwrap_or(Value::Null);
            transaction.put_node("Turn", &key, &text(words))?;
            transaction.put_node("Turn", &key, &BTreeMap::from([("text".to_owned(), back)]))?;
            Ok(())
        }
        _ => transaction.put_node("Turn", &key, &texts).map(drop),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_search_gives_what_a_look_at_every_text_gives(
        acts in prop::collection::vec(act(), 1..60),
        queries in prop::collection::vec(query(), 1..4),
    ) {
        let (_folder, store) = open();
        commit(&store, |transaction| transaction.define_text_index("i", "Turn", &FIELDS));
        let early = store.snapshot(0);
        for (number, acts) in acts.chunks(5).enumerate() {
            let mut transaction = store.begin(0).expect("begins");
            for act in acts {
                perform(&mut transaction, act).expect("performs");
                assert_like_naive(transaction.reader(), &queries, SystemScope::Current);
            }
            assert_like_naive(transaction.reader(), &queries, SystemScope::AsOf(number as Time));
            if number % 3 == 2 {
                continue;
            }
            // What was forgotten leaves only once nobody holds an early state, as is held here.
            if acts.iter().all(|act| act.0 != 4) {
                transaction.commit(Durability::Buffered, 0).expect("commits");
            }
        }
        let snapshot = store.snapshot(0);
        let reader = snapshot.reader();
        assert_like_naive(reader, &queries, SystemScope::All);
        for instant in -1..=reader.now() + 1 {
            assert_like_naive(reader, &queries, SystemScope::AsOf(instant));
        }
        assert_like_naive(early.reader(), &queries, SystemScope::Current);
        prop_assert_eq!(violations(&store), Vec::<String>::new());
    }
}

proptest! {
    // Bytes leave the files with every case.
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_forgotten_was_never_there(
        acts in prop::collection::vec(act(), 10..40),
        queries in prop::collection::vec(query(), 1..3),
    ) {
        let (_folder, store) = open();
        for acts in acts.chunks(10) {
            commit(&store, |transaction| {
                transaction.define_text_index("i", "Turn", &FIELDS).unwrap_or_default();
                let kept = acts.iter().filter(|act| act.0 != 4);
                kept.for_each(|act| perform(transaction, act).expect("performs"));
                Ok(())
            });
        }
        commit(&store, |transaction| {
            let Some(label) = transaction.reader().catalog().label("Turn") else { return Ok(()) };
            match transaction.reader().find_node(label, "n1")? {
                Some(node) => transaction.forget(&[node], &[]).map(drop),
                None => Ok(()),
            }
        });
        let snapshot = store.snapshot(0);
        for instant in 0..=snapshot.reader().now() {
            assert_like_naive(snapshot.reader(), &queries, SystemScope::AsOf(instant));
        }
        prop_assert_eq!(violations(&store), Vec::<String>::new());
    }
}

#[test]
fn words_phrases_and_beginnings_are_found() {
    let (_folder, store) = open();
    commit(&store, |transaction| {
        transaction.define_text_index("i", "Turn", &FIELDS)?;
        let turns = [
            ("hike", "Nora hikes in the mountains"),
            ("hiked", "We hiked to a mountain hut, a red one"),
            ("swim", "Swimming in the red sea"),
            ("art", "The state of the art"),
            ("state", "The art state"),
        ];
        turns
            .iter()
            .try_for_each(|(key, words)| transaction.put_node("Turn", key, &text(words)).map(drop))
    });
    let snapshot = store.snapshot(0);
    for (query, expected) in [
        ("hiking", &["hike", "hiked"][..]),
        ("MOUNTAIN sea", &["swim", "hike", "hiked"]),
        ("\"state of the art\"", &["art"]),
        ("\"art state\"", &["state"]),
        ("\"red sea\" \"red one\"", &["swim", "hiked"]),
        ("\"mountains nora\"", &[]),
        ("\"red sea", &["swim", "hiked"]),
        ("mou*", &["hike", "hiked"]),
        ("swimming*", &["swim"]),
        ("the of in", &[]),
        ("nothing", &[]),
        ("", &[]),
    ] {
        assert_eq!(names(snapshot.reader(), query, SystemScope::Current), expected, "{query}");
    }
}

#[test]
fn an_index_is_made_of_what_is_and_was_there_and_taken_away_whole() {
    let (_folder, store) = open();
    let put = |key: &str, words: &str| {
        commit(&store, |transaction| transaction.put_node("Turn", key, &text(words)).map(drop));
    };
    put("a", "red");
    put("b", "red green");
    put("a", "blue");
    put("a", "blue!");
    put("b", "...");
    let old = store.snapshot(0);
    commit(&store, |transaction| transaction.define_text_index("i", "Turn", &FIELDS));
    assert_eq!(violations(&store), Vec::<String>::new());
    // Of now: all documents, one document, one term with its posting.
    assert_eq!(keys(&store), [4, 5]);
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let at = |query: &str, instant| names(reader, query, SystemScope::AsOf(instant));
    assert_eq!(at("red", 0), Vec::<String>::new());
    assert_eq!(at("red", 1), ["a"]);
    assert_eq!(at("red", 2), ["a", "b"]);
    assert_eq!(at("red blue", 3), ["blue", "red"].map(|word| at(word, 3)).concat());
    assert_eq!(at("blue", 4), ["a"]);
    assert_eq!(names(reader, "red green", SystemScope::Current), Vec::<String>::new());
    // What has the names of a later state lacks the keys.
    let ahead = Reader::new(old.view(), reader.shared_catalog(), 0);
    let label = reader.catalog().label("Turn").expect("known");
    assert_eq!(ahead.text_index(label).expect("reads"), None);
    commit(&store, |transaction| {
        let error = transaction.define_text_index("j", "Turn", &FIELDS).expect_err("is there");
        assert_eq!(error.to_string(), "the index 'i' has the texts of Turn already");
        transaction.define_index("by_text", "Turn", "text")?;
        assert!(transaction.drop_index("i")?);
        Ok(())
    });
    assert_eq!(keys(&store), [0, 0]);
    assert_eq!(names(store.snapshot(0).reader(), "blue", SystemScope::Current), [""; 0]);
    assert_eq!(names(snapshot.reader(), "blue", SystemScope::Current), ["a"]);
}

#[test]
fn forgotten_words_leave_every_file() {
    let (folder, store) = open();
    let secrets = ["zzsecretnow", "zzsecretpast"];
    let mut node = NodeId(0);
    for words in ["zzsecretpast and more", "zzsecretnow"] {
        commit(&store, |transaction| {
            transaction.define_text_index("i", "Turn", &FIELDS).unwrap_or_default();
            transaction.put_node("Turn", "other", &text("more"))?;
            node = transaction.put_node("Turn", "subject", &text(words))?;
            Ok(())
        });
    }
    let holding = |secret: &str| {
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        let files = entries.map(|entry| std::fs::read(entry.expect("an entry").path()));
        let has = |bytes: &Vec<u8>| memchr::memmem::find(bytes, secret.as_bytes()).is_some();
        files.filter(|bytes| bytes.as_ref().is_ok_and(has)).count()
    };
    assert!(secrets.iter().all(|secret| holding(secret) > 0));
    commit(&store, |transaction| transaction.forget(&[node], &[]).map(drop));
    assert_eq!(secrets.map(holding), [0, 0]);
    assert_eq!(keys(&store), [4, 0]);
    assert_eq!(violations(&store), Vec::<String>::new());
}

#[test]
fn who_is_not_to_go_on_makes_and_drops_no_index() {
    let (_folder, store) = open();
    commit(&store, |transaction| transaction.put_node("Turn", "t", &text("words")).map(drop));
    let stopped = |work: &dyn Fn(&mut Transaction<'_>) -> Result<()>| {
        let mut transaction = store.begin(0).expect("begins");
        transaction.stop_unless(|| false);
        let result = work(&mut transaction);
        assert!(matches!(result, Err(StorageError::Stopped)), "{result:?}");
    };
    let define_texts = |transaction: &mut Transaction<'_>| {
        transaction.define_text_index("words", "Turn", &[("text", 1.0)])
    };
    let define_values =
        |transaction: &mut Transaction<'_>| transaction.define_index("texts", "Turn", "text");
    stopped(&define_texts);
    stopped(&define_values);
    commit(&store, define_texts);
    commit(&store, define_values);
    for name in ["words", "texts"] {
        stopped(&|transaction| transaction.drop_index(name).map(drop));
    }
    assert_eq!(violations(&store), [""; 0]);
}
