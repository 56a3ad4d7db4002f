//! Names that are looked up together.

use std::collections::BTreeMap;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::meter::Meter;
use crate::store::Store;

#[test]
fn names_looked_up_together_are_found_as_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut begin = store.begin(1).expect("begins");
    for (label, key) in [("Person", "nora"), ("City", "porto"), ("Person", "ada")] {
        begin.put_node(label, key, &BTreeMap::new()).expect("puts");
    }
    begin.put_alias(NodeId(0), "norinha").expect("puts");
    begin.commit(Durability::Buffered, 1).expect("commits");
    store.engine.flush().expect("flushes");
    let (person, city) = (LabelId(0), LabelId(1));
    let names = [
        (city, "porto"),
        (person, "norinha"),
        (person, "porto"),
        (person, "nora"),
        (city, ""),
        (LabelId(9), "nora"),
        (person, "ada"),
        (person, "nora"),
    ];
    let expected = [Some(1), Some(0), None, Some(0), None, None, Some(2), Some(0)];
    let expected = expected.map(|node| node.map(NodeId));

    let snapshot = store.snapshot(2);
    assert_eq!(snapshot.reader().find_nodes(&names).expect("reads"), expected);
    assert_eq!(snapshot.reader().find_nodes(&[]).expect("reads"), []);
    let meter = Meter::new();
    assert_eq!(snapshot.reader().metered(&meter).find_nodes(&names).expect("reads"), expected);
    assert_eq!((meter.counts().seeks, meter.counts().keys), (8, 5));

    let mut transaction = store.begin(2).expect("begins");
    let new = transaction.put_node("Person", "bea", &BTreeMap::new()).expect("puts");
    let names = [(person, "bea"), (person, "ada")];
    let found = transaction.reader().find_nodes(&names).expect("reads");
    assert_eq!(found, [Some(new), Some(NodeId(2))]);
    // Who began before sees nothing of it.
    transaction.commit(Durability::Buffered, 2).expect("commits");
    assert_eq!(snapshot.reader().find_nodes(&names).expect("reads"), [None, Some(NodeId(2))]);
}

#[test]
fn names_are_found_however_far_they_are_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut begin = store.begin(1).expect("begins");
    for number in (0..400).step_by(2) {
        begin.put_node("Person", &format!("n{number:03}"), &BTreeMap::new()).expect("puts");
    }
    begin.commit(Durability::Buffered, 1).expect("commits");
    // Next to each other, few and many names apart, between names, before all and after all; in no order.
    let numbers = [399, 398, 0, 2, 1, 4, 30, 200, 201, 202, 390, 90, 44, 46, 45];
    let keys: Vec<String> = numbers.iter().map(|number| format!("n{number:03}")).collect();
    let names: Vec<_> = keys.iter().map(|key| (LabelId(0), key.as_str())).collect();
    let names = [&[(LabelId(0), "a"), (LabelId(0), "z")], &names[..]].concat();
    let expected = numbers.map(|number| (number % 2 == 0).then_some(NodeId(number / 2)));
    let expected = [&[None, None], &expected[..]].concat();
    for _ in 0..2 {
        let snapshot = store.snapshot(2);
        assert_eq!(snapshot.reader().find_nodes(&names).expect("reads"), expected);
        // By tables as by the memory.
        store.engine.flush().expect("flushes");
    }
}
