//! Definitions are seen where they should be, and last.

use super::*;
use crate::catalog::Catalog;
use crate::commit::Durability;
use crate::definitions::{Definitions, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::dump::{Builder, Item};
use crate::engine::Memory;
use crate::error::StorageError;
use crate::graph::PropertyId;
use crate::store::Store;

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    (folder, store)
}

fn rule(name: &str, confidence: f64) -> RuleDefinition {
    let (body, head) = ("(a)-[likes]->(b)".to_owned(), "(a)-[interested_in]->(b)".to_owned());
    RuleDefinition { name: name.to_owned(), body, head, confidence, family: None }
}

fn recipe(name: &str, text: &str) -> RecipeDefinition {
    let parameters = vec!["q".to_owned()];
    RecipeDefinition { name: name.to_owned(), parameters, text: text.to_owned() }
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.definitions().map(Definition::name).collect()
}

#[test]
fn are_seen_by_their_transaction_then_by_all_and_after_opening_again() {
    let (folder, store) = store();
    let before = store.snapshot(0);
    let mut transaction = store.begin(0).expect("begins");
    transaction.define_rule(rule("b", 0.6)).expect("defines");
    transaction.define_rule(rule("a", 1.0)).expect("defines");
    transaction.define_recipe(recipe("a", "RETURN $q")).expect("defines");
    transaction.define_index("a", "Person", "age").expect("defines");
    assert_eq!(names(transaction.reader().catalog()), ["a", "b", "a", "a"]);
    assert_eq!(names(store.snapshot(0).reader().catalog()), [""; 0]);
    transaction.commit(Durability::Buffered, 0).expect("commits");
    assert_eq!(names(before.reader().catalog()), [""; 0]);
    drop(before);
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let snapshot = store.snapshot(0);
    let catalog = snapshot.reader().catalog();
    let rules: Vec<&RuleDefinition> = catalog.rules().collect();
    assert_eq!(rules, [&rule("a", 1.0), &rule("b", 0.6)]);
    assert_eq!(catalog.recipes().count(), 1);
    assert_eq!(catalog.recipe("a"), Some(&recipe("a", "RETURN $q")));
    assert_eq!(catalog.recipe("b"), None);
    let index = catalog.index("a").map(|index| (index.label.0, index.property()));
    assert_eq!(index, Some((0, Some(PropertyId(0)))));
}

#[test]
fn are_replaced_dropped_and_taken_back() {
    let (_folder, store) = store();
    let mut transaction = store.begin(0).expect("begins");
    transaction.define_rule(rule("r", 0.5)).expect("defines");
    transaction.define_rule(rule("r", 0.7)).expect("replaces");
    let failed = transaction.whole(|transaction| {
        transaction.define_rule(rule("other", 0.5))?;
        assert!(transaction.drop_rule("r"));
        transaction.define_rule(rule("wrong", 1.5))
    });
    assert!(matches!(failed, Err(StorageError::Invalid(_))));
    assert_eq!(names(transaction.reader().catalog()), ["r"]);
    transaction.define_recipe(recipe("c", "")).expect("defines");
    transaction.commit(Durability::Buffered, 0).expect("commits");
    let mut dropped = store.begin(0).expect("begins");
    dropped.define_recipe(recipe("gone", "")).expect("defines");
    drop(dropped);
    let mut transaction = store.begin(0).expect("begins");
    assert_eq!(names(transaction.reader().catalog()), ["r", "c"]);
    assert_eq!(transaction.reader().catalog().rules().next(), Some(&rule("r", 0.7)));
    assert!(transaction.drop_rule("r") && transaction.drop_recipe("c"));
    assert!(!transaction.drop_rule("r") && !transaction.drop_recipe("r"));
    assert!(!transaction.drop_index("r").expect("reads"));
    transaction.commit(Durability::Buffered, 0).expect("commits");
    assert_eq!(names(store.snapshot(0).reader().catalog()), [""; 0]);
    let read = Definitions::read(store.snapshot(0).view()).expect("reads");
    assert_eq!(read.iter().count(), 0, "nothing is left in the family either");
}

#[test]
fn what_is_defined_again_alike_changes_nothing() {
    let (_folder, store) = store();
    for _ in 0..2 {
        let mut transaction = store.begin(0).expect("begins");
        transaction.define_rule(rule("r", 0.5)).expect("defines");
        transaction.commit(Durability::Buffered, 0).expect("commits");
    }
    let commit = crate::commit::read_commit(store.snapshot(0).view()).expect("reads");
    assert_eq!(commit.map(|commit| commit.number), Some(1));
}

#[test]
fn what_is_too_long_or_not_sure_is_refused() {
    let (_folder, store) = store();
    let mut transaction = store.begin(0).expect("begins");
    let longest = "n".repeat(NAME_BYTES_MAX);
    let too_long = "n".repeat(NAME_BYTES_MAX + 1);
    transaction.define_recipe(recipe(&longest, "")).expect("is short enough");
    // The name of the parameter counts too.
    let text = "t".repeat(TEXT_BYTES_MAX - 1);
    transaction.define_recipe(recipe("c", &text)).expect("is short enough");
    for refused in [
        transaction.define_recipe(recipe("", "")),
        transaction.define_recipe(recipe(&too_long, "")),
        transaction.define_recipe(recipe("c", &format!("{text}t"))),
        transaction.define_rule(rule("r", 0.0)),
        transaction.define_rule(rule("r", 1.001)),
        transaction.define_rule(rule("r", f64::NAN)),
        transaction.define_index("", "Person", "age"),
    ] {
        assert!(matches!(refused, Err(StorageError::Invalid(_))), "{refused:?}");
    }
    assert_eq!(names(transaction.reader().catalog()), ["c", &longest]);
}

#[test]
fn come_back_from_items() {
    let (folder, store) = store();
    let mut transaction = store.begin(0).expect("begins");
    transaction.define_rule(rule("r", 0.5)).expect("defines");
    transaction.define_recipe(recipe("c", "RETURN 1")).expect("defines");
    transaction.define_index("i", "Person", "age").expect("defines");
    transaction.commit(Durability::Buffered, 0).expect("commits");
    let snapshot = store.snapshot(0);
    let path = folder.path().join("copy");
    let mut builder =
        Builder::new(&path, &snapshot.reader().summary().expect("reads")).expect("begins");
    let mut items = Vec::new();
    let read = snapshot.reader().items(&mut |item| {
        builder.add(&item)?;
        items.push(item);
        Ok::<(), StorageError>(())
    });
    read.expect("reads");
    assert_eq!(items.len(), 3);
    let sure = Item::Definition(Definition::Rule(rule("r", 2.0)));
    assert!(matches!(builder.add(&sure), Err(StorageError::Invalid(_))));
    builder.finish().expect("holds together");
    let copy = Store::open(&path, Memory::default()).expect("opens");
    assert_eq!(names(copy.snapshot(0).reader().catalog()), ["r", "c", "i"]);
}
