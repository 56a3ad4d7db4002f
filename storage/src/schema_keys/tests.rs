//! The schema holds every concept and nothing else, whatever was written, taken back or forgotten.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::check::Violation;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::tokenizer::TokenizerError;

/// One token for each character, moved by a number.
pub(crate) struct Letters(pub(crate) u32);

impl KeyTokenizer for Letters {
    fn id(&self) -> std::result::Result<String, TokenizerError> {
        Ok(format!("letters-{}", self.0))
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError> {
        match key {
            "unspeakable" => Err("it has no letters".into()),
            key => Ok(key.chars().map(|c| (c as u32).wrapping_add(self.0)).collect()),
        }
    }
}

/// Two tokens for each character.
struct Doubled;

impl KeyTokenizer for Doubled {
    fn id(&self) -> std::result::Result<String, TokenizerError> {
        Ok("doubled".to_owned())
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError> {
        Ok(key.chars().flat_map(|c| [c as u32; 2]).collect())
    }
}

fn open(folder: &tempfile::TempDir, shift: Option<u32>) -> Store {
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    match shift {
        Some(shift) => store.with_tokenizer(Arc::new(Letters(shift))),
        None => store,
    }
}

fn commit<T>(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> Result<T>) -> Result<T> {
    let mut transaction = store.begin(0).expect("begins");
    let result = transaction.whole(work)?;
    transaction.commit(Durability::Buffered, 0).expect("commits");
    Ok(result)
}

fn put(store: &Store, label: &str, key: &str) -> Result<NodeId> {
    commit(store, |transaction| transaction.put_node(label, key, &BTreeMap::new()))
}

fn violations(store: &Store) -> Vec<Violation> {
    let mut found = Vec::new();
    store.check(&mut |violation| found.push(violation), &mut |_| {}).expect("checks");
    found
}

/// The keys of the schema as texts, in its order, with their concepts.
fn schema(reader: Reader<'_>, shift: u32) -> Vec<(String, NodeId, Time)> {
    let mut found = Vec::new();
    let read = reader.schema_keys(&mut |tokens, node, created| {
        let letter = |token: &u32| char::from_u32(token - shift).expect("a letter");
        found.push((tokens.iter().map(letter).collect(), node, created));
        ControlFlow::Continue(())
    });
    read.expect("reads");
    found
}

fn keys(store: &Store, shift: u32) -> Vec<String> {
    keys_of(store.snapshot(0).reader(), shift)
}

fn keys_of(reader: Reader<'_>, shift: u32) -> Vec<String> {
    schema(reader, shift).into_iter().map(|(key, ..)| key).collect()
}

#[test]
fn concepts_and_nothing_else_stand_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0));
    let tea = put(&store, CONCEPT, "tea").expect("puts");
    for key in ["team", "te", "\0", "z"] {
        put(&store, CONCEPT, key).expect("puts");
    }
    put(&store, "Person", "ted").expect("puts");
    put(&store, CONCEPT, "tea").expect("is there already");
    assert_eq!(keys(&store, 0), ["\0", "te", "tea", "team", "z"]);
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let created = reader.current_node(tea).expect("reads").created;
    assert!(schema(reader, 0).contains(&("tea".to_owned(), tea, created)));
    assert_eq!(violations(&store), []);
}

#[test]
fn a_snapshot_and_a_transaction_see_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0));
    let tea = put(&store, CONCEPT, "tea").expect("puts");
    let before = store.snapshot(0);
    put(&store, CONCEPT, "tall").expect("puts");
    let mut transaction = store.begin(0).expect("begins");
    assert_eq!(transaction.reader().uncommitted(), None);
    transaction.put_node(CONCEPT, "tom", &BTreeMap::new()).expect("puts");
    transaction.forget(&[tea], &[]).expect("forgets");
    assert_eq!(keys_of(transaction.reader(), 0), ["tall", "tom"]);
    let changed = transaction.reader().uncommitted().expect("has changed something");
    assert_eq!(changed.into_iter().collect::<BTreeSet<_>>().len(), 2);
    assert_eq!(keys_of(before.reader(), 0), ["tea"]);
    assert!(before.reader().last_commit().expect("reads") < store.snapshot(0).reader().now());
    drop(transaction);
    assert_eq!(keys(&store, 0), ["tall", "tea"]);
    // A reader that is told a later instant meanwhile moves the instant of the commit.
    let mut transaction = store.begin(0).expect("begins");
    transaction.put_node(CONCEPT, "tie", &BTreeMap::new()).expect("puts");
    let later = store.snapshot(1000);
    transaction.commit(Durability::Buffered, 0).expect("commits");
    assert_eq!(keys_of(later.reader(), 0), ["tall", "tea"]);
    assert!(store.snapshot(0).reader().last_commit().expect("reads") > 1000);
    assert_eq!(violations(&store), []);
}

#[test]
fn a_concept_that_cannot_be_taken_apart_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, None);
    let error = put(&store, CONCEPT, "tea").expect_err("has no tokenizer");
    assert!(matches!(error, StorageError::NoTokenizer), "{error}");
    put(&store, "Person", "Nora").expect("needs none");
    drop(store);
    let store = open(&folder, Some(0));
    let error = put(&store, CONCEPT, "unspeakable").expect_err("fails");
    assert!(matches!(error, StorageError::Tokenizer(_)), "{error}");
    let error = put(&store, CONCEPT, &"x".repeat(65)).expect_err("is too long");
    assert!(error.to_string().contains("65 tokens"), "{error}");
    put(&store, CONCEPT, &"x".repeat(64)).expect("is as long as may be");
    drop(store);
    let store = open(&folder, Some(u32::MAX - u32::from('z')));
    let error = put(&store, CONCEPT, "z").expect_err("has a token that cannot be stored");
    assert!(matches!(error, StorageError::Exhausted("token")), "{error}");
    assert_eq!(
        store.snapshot(0).reader().key_tokenizer().expect("reads").as_deref(),
        Some("letters-0")
    );
    assert_eq!(keys(&store, 0), ["x".repeat(64)]);
    assert_eq!(violations(&store), []);
}

#[test]
fn another_tokenizer_makes_it_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0));
    for key in ["tea", "tall"] {
        put(&store, CONCEPT, key).expect("puts");
    }
    drop(store);
    let store = open(&folder, Some(7));
    assert_eq!(
        store.snapshot(0).reader().key_tokenizer().expect("reads").as_deref(),
        Some("letters-0")
    );
    put(&store, CONCEPT, "tom").expect("puts");
    assert_eq!(keys(&store, 7), ["tall", "tea", "tom"]);
    assert_eq!(violations(&store), []);
    drop(store);
    let store = open(&folder, Some(1));
    put(&store, CONCEPT, "tin").expect("puts");
    assert_eq!(keys(&store, 1), ["tall", "tea", "tin", "tom"]);
    // What was forgotten without the tokenizer of its key is gone as well.
    let label = store.snapshot(0).reader().catalog().label(CONCEPT).expect("is there");
    let find = |key| store.snapshot(0).reader().find_node(label, key).expect("reads");
    let tea = find("tea").expect("is there");
    drop(store);
    for shift in [None, Some(3)] {
        let store = open(&folder, shift);
        commit(&store, |transaction| transaction.forget(&[tea], &[])).expect("forgets");
        assert_eq!(keys(&store, 1), ["tall", "tin", "tom"]);
        assert_eq!(violations(&store), []);
    }
}

#[test]
fn a_key_with_more_tokens_by_another_tokenizer_keeps_its_beginning() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0));
    put(&store, CONCEPT, &"x".repeat(KEY_TOKENS_MAX)).expect("puts");
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let store = store.with_tokenizer(Arc::new(Doubled));
    put(&store, CONCEPT, "y").expect("puts beside one that is too long now");
    assert_eq!(keys(&store, 0), ["x".repeat(KEY_TOKENS_MAX), "yy".to_owned()]);
    assert_eq!(violations(&store), []);
}

#[test]
fn concepts_from_before_there_was_one_are_filled_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0));
    put(&store, CONCEPT, "tea").expect("puts");
    let mut overlay = crate::overlay::Overlay::default();
    overlay.delete(Family::Meta, TOKENIZER);
    for (tokens, node, _) in schema(store.snapshot(0).reader(), 0) {
        let tokens: Vec<u32> = tokens.chars().map(u32::from).collect();
        overlay.delete(Family::SchemaKeys, place(&tokens, node).expect("a place"));
    }
    let mut writer = store.commits.writer().expect("a writer");
    store.commits.write(&store.engine, &mut writer, &overlay).expect("writes");
    drop(writer);
    assert_eq!(violations(&store), []);
    let mut found = 0;
    store.snapshot(0).reader().concepts(&mut |_, _| found += 1).expect("reads");
    assert_eq!((found, keys(&store, 0).len()), (1, 0));
    put(&store, CONCEPT, "tall").expect("puts");
    assert_eq!(keys(&store, 0), ["tall", "tea"]);
    assert_eq!(violations(&store), []);
}

#[test]
fn what_is_forgotten_leaves_no_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0x0061_7a00));
    let kept = put(&store, CONCEPT, "kept").expect("puts");
    let node = put(&store, CONCEPT, "secret").expect("puts");
    // Three tokens as they are stored.
    let tokens = Letters(0x0061_7a00).tokenize("cre").expect("tokens");
    let mark = path(&tokens).expect("a path");
    let found = || {
        let files = std::fs::read_dir(folder.path()).expect("a folder");
        files
            .filter_map(|file| std::fs::read(file.expect("an entry").path()).ok())
            .any(|bytes| memchr::memmem::find(&bytes, &mark).is_some())
    };
    assert!(found(), "the search finds what is there");
    store.engine.flush().expect("flushes");
    assert!(found(), "the search finds what is in a table");
    commit(&store, |transaction| transaction.forget(&[node], &[])).expect("forgets");
    assert!(!found());
    let left = schema(store.snapshot(0).reader(), 0x0061_7a00);
    assert_eq!(left.iter().map(|(_, node, _)| *node).collect::<Vec<_>>(), [kept]);
}

#[test]
fn a_schema_that_says_something_else_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Some(0));
    let tea = put(&store, CONCEPT, "tea").expect("puts");
    let nora = put(&store, "Person", "Nora").expect("puts");
    let created = store.snapshot(0).reader().current_node(tea).expect("reads").created;
    let put = |family, key: &[u8], value: Option<Time>| {
        let mut overlay = crate::overlay::Overlay::default();
        match value {
            Some(value) => overlay.put(family, key, value.to_be_bytes().to_vec()),
            None => overlay.delete(family, key),
        }
        let mut writer = store.commits.writer().expect("a writer");
        store.commits.write(&store.engine, &mut writer, &overlay).expect("writes");
    };
    let found = || -> Vec<&str> { violations(&store).iter().map(|v| v.invariant).collect() };
    let at = |tokens: &[u32], node| place(tokens, node).expect("a place");
    let tokens: Vec<u32> = "tea".chars().map(u32::from).collect();
    for (key, value, expected) in [
        (at(&[7], tea), created, "I4"),
        (at(&[7], nora), created, "I4"),
        (at(&[7], NodeId(9)), created, "I4"),
        (vec![0; 11], created, "D"),
        ([&[0; 4][..], &at(&[7], tea)].concat(), created, "D"),
    ] {
        put(Family::SchemaKeys, &key, Some(value));
        assert_eq!(found(), [expected], "{key:?}");
        put(Family::SchemaKeys, &key, None);
    }
    let place = at(&tokens, tea);
    put(Family::SchemaKeys, &place, Some(created + 1));
    assert_eq!(found(), ["I4", "I4"], "another time, so the concept is missing");
    put(Family::SchemaKeys, &place, None);
    assert_eq!(found(), ["I4"], "the concept is missing");
    put(Family::SchemaKeys, &place, Some(created));
    put(Family::Meta, TOKENIZER, None);
    assert_eq!(found(), ["I4"], "the schema has no tokenizer");
}
