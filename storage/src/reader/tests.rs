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
