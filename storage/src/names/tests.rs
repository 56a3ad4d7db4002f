//! Nodes that end: what is read of them then, before and after, and that nothing else leads to them.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::commit::Durability;
use crate::dump::Builder;
use crate::engine::Memory;
use crate::graph::{Belief, Intent, Interval, Value};
use crate::store::Store;

fn open(folder: &Path) -> Store {
    Store::open(folder, Memory::default()).expect("opens")
}

fn text(text: &str) -> BTreeMap<String, Value> {
    BTreeMap::from([("text".to_owned(), Value::String(text.to_owned()))])
}

fn belief(tail: NodeId) -> Belief {
    Belief {
        tail,
        valid: Interval::ALL,
        confidence: 0.9,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec!["t1".to_owned()],
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

fn checked(store: &Store) {
    store.check(&mut |violation| panic!("{violation}"), &mut |_| {}).expect("can be checked");
}

fn last_commit(store: &Store) -> Time {
    store.snapshot(0).reader().last_commit().expect("reads")
}

/// Rob, who says something, has another name and lives somewhere, ends as Robert. Gives both, and the instant before.
fn joined(store: &Store) -> (NodeId, NodeId, Time) {
    let mut write = store.begin(0).unwrap();
    write.define_index("texts", "Person", "text").unwrap();
    write.define_text_index("words", "Person", &[("text", 1.0)]).unwrap();
    let robert = write.put_node("Person", "Robert", &BTreeMap::new()).unwrap();
    let rob = write.put_node("Person", "Rob", &text("plays chess")).unwrap();
    write.put_alias(rob, "Bobby").unwrap();
    write.put_vector(rob, "m", &[1.0]).unwrap();
    let city = write.put_node("City", "Lisbon", &BTreeMap::new()).unwrap();
    let relation = write.relation("lives_in").unwrap();
    let fact = write.assert_fact(rob, relation, &belief(city)).unwrap().fact;
    write.commit(Durability::Buffered, 0).unwrap();
    let before = last_commit(store);
    let mut write = store.begin(0).unwrap();
    let error = write.end_node(rob, robert).unwrap_err();
    assert!(error.to_string().contains("facts of 'Rob' are believed"), "{error}");
    write.retract(fact).unwrap();
    write.assert_fact(robert, relation, &belief(city)).unwrap();
    write.end_node(rob, robert).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    (rob, robert, before)
}

#[test]
fn a_node_that_has_ended_keeps_its_past() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (rob, robert, before) = joined(&store);
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let label = reader.catalog().label("Person").unwrap();
    for name in ["Rob", "Bobby", "Robert"] {
        assert_eq!(reader.find("Person", name).unwrap(), Some(robert), "{name}");
    }
    assert_eq!(reader.former_nodes(label, "Rob").unwrap(), [rob]);
    assert_eq!(reader.former_nodes(label, "Bobby").unwrap(), [rob]);
    assert_eq!(reader.former_nodes(label, "Robert").unwrap(), []);
    assert_eq!(reader.node(rob, SystemScope::Current).unwrap(), None);
    assert_eq!(reader.node(rob, SystemScope::AsOf(last_commit(&store))).unwrap(), None);
    for system in [SystemScope::AsOf(before), SystemScope::All] {
        let record = reader.node(rob, system).unwrap().expect("was there");
        assert_eq!(
            (record.key.as_str(), record.aliases.as_slice()),
            ("Rob", &["Bobby".to_owned()][..])
        );
    }
    assert_eq!(reader.node(rob, SystemScope::AsOf(before - 1)).unwrap(), None);
    let aliases = reader.node(robert, SystemScope::Current).unwrap().unwrap().aliases.clone();
    assert_eq!(aliases, ["Rob", "Bobby"]);
    let index = reader.text_index(label).unwrap().unwrap();
    let found = |system| reader.score_text(index, "chess", system, &[rob]).unwrap()[0] > 0.0;
    assert_eq!((found(SystemScope::Current), found(SystemScope::AsOf(before))), (false, true));
    assert!(reader.vector(label, rob, SystemScope::Current).unwrap().is_none());
    assert!(reader.vector(label, rob, SystemScope::AsOf(before)).unwrap().is_some());
    assert_eq!(reader.all_of_label(label).unwrap(), [robert]);
    drop(snapshot);
    checked(&store);
}

#[test]
fn nodes_that_ended_are_met_among_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut write = store.begin(0).unwrap();
    let nodes = ["a", "b", "c", "d"].map(|key| write.put_node("P", key, &BTreeMap::new()).unwrap());
    write.commit(Durability::Buffered, 0).unwrap();
    let [a, b, c, d] = nodes;
    let mut write = store.begin(0).unwrap();
    for node in [a, b, d] {
        write.end_node(node, c).unwrap();
    }
    assert!(write.drop_alias(c, "b").unwrap());
    assert!(!write.drop_alias(c, "b").unwrap());
    let again = write.put_node("P", "b", &BTreeMap::new()).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    checked(&store);
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let label = reader.catalog().label("P").unwrap();
    let met = |after: Option<&str>, most: usize| {
        let mut met = Vec::new();
        reader
            .nodes_ever_of_label(label, after, &mut |key, nodes| {
                met.push((key.to_owned(), nodes.to_vec()));
                if met.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .unwrap();
        met
    };
    let all = ["a", "b", "c", "d"].map(str::to_owned);
    let expected: Vec<_> =
        all.into_iter().zip([vec![a], vec![b, again], vec![c], vec![d]]).collect();
    assert_eq!(met(None, 9), expected);
    for most in 1..4 {
        assert_eq!(met(None, most), expected[..most]);
    }
    assert_eq!(met(Some("a"), 9), expected[1..]);
    assert_eq!(met(Some("c"), 9), expected[3..]);
}

#[test]
fn what_came_and_went_in_one_transaction_was_never_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut write = store.begin(0).unwrap();
    let robert = write.put_node("Person", "Robert", &BTreeMap::new()).unwrap();
    let rob = write.put_node("Person", "Rob", &text("plays chess")).unwrap();
    write.end_node(rob, robert).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    assert_eq!(reader.node(rob, SystemScope::All).unwrap(), None);
    let label = reader.catalog().label("Person").unwrap();
    assert_eq!(reader.former_nodes(label, "Rob").unwrap(), []);
    drop(snapshot);
    let mut write = store.begin(0).unwrap();
    write.put_alias(robert, "Bert").unwrap();
    write.drop_alias(robert, "Bert").unwrap();
    assert_eq!(write.reader().former_nodes(label, "Bert").unwrap(), []);
    write.commit(Durability::Buffered, 0).unwrap();
    checked(&store);
}

#[test]
fn two_that_cannot_be_one_stay_two() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut write = store.begin(0).unwrap();
    let a = write.put_node("A", "a", &BTreeMap::new()).unwrap();
    let b = write.put_node("B", "b", &BTreeMap::new()).unwrap();
    for (node, heir) in [(a, a), (a, b)] {
        let error = write.end_node(node, heir).unwrap_err();
        assert!(error.to_string().contains("cannot be one"), "{error}");
    }
}

#[test]
fn an_index_made_later_and_an_export_have_what_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("one"));
    let (rob, robert, before) = joined(&store);
    let mut write = store.begin(0).unwrap();
    assert!(write.drop_index("words").unwrap());
    write.define_text_index("words", "Person", &[("text", 1.0)]).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    checked(&store);
    let items = |store: &Store| {
        let mut items = Vec::new();
        let visit = &mut |item| {
            items.push(item);
            Ok::<_, StorageError>(())
        };
        store.snapshot(0).reader().items(visit).unwrap();
        items
    };
    let summary = store.snapshot(0).reader().summary().unwrap();
    let mut builder = Builder::new(&folder.path().join("two"), &summary).unwrap();
    items(&store).iter().for_each(|item| builder.add(item).unwrap());
    builder.finish().unwrap();
    let copy = open(&folder.path().join("two"));
    assert_eq!(items(&copy), items(&store));
    checked(&copy);
    let snapshot = copy.snapshot(0);
    let label = snapshot.reader().catalog().label("Person").unwrap();
    let index = snapshot.reader().text_index(label).unwrap().unwrap();
    let system = SystemScope::AsOf(before);
    let scores = snapshot.reader().score_text(index, "chess", system, &[rob, robert]).unwrap();
    assert!(scores[0] > 0.0 && scores[1] == 0.0, "{scores:?}");
}

#[test]
fn who_is_forgotten_leaves_nothing_of_whom_they_were_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (rob, robert, _) = joined(&store);
    let mut write = store.begin(0).unwrap();
    write.forget(&[robert], &[]).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    checked(&store);
    let snapshot = store.snapshot(0);
    assert_eq!(snapshot.reader().node(rob, SystemScope::All).unwrap(), None);
    for family in Family::ALL {
        let scanned = snapshot.view().scan(family, &[], None, &mut |key, value| {
            for bytes in [key, value] {
                for name in [&b"Rob"[..], b"Bobby", b"chess"] {
                    let found = memchr::memmem::find(bytes, name).is_some();
                    assert!(!found, "{family:?} {}", String::from_utf8_lossy(bytes));
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        scanned.unwrap();
    }
}

/// Of what had taken the place of another fact nothing is left, and who said that has ended.
#[test]
fn nothing_is_believed_again_of_who_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut write = store.begin(0).unwrap();
    let rule = crate::graph::RelationRule {
        cardinality: crate::graph::Cardinality::One,
        ..crate::graph::RelationRule::default()
    };
    write.define_relation("lives_in", rule).unwrap();
    let relation = write.relation("lives_in").unwrap();
    let [robert, rob] =
        ["Robert", "Rob"].map(|key| write.put_node("Person", key, &BTreeMap::new()).unwrap());
    let [lisbon, bonn] =
        ["Lisbon", "Bonn"].map(|key| write.put_node("City", key, &BTreeMap::new()).unwrap());
    write.assert_fact(rob, relation, &belief(lisbon)).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    let mut write = store.begin(0).unwrap();
    let later = Belief { sources: vec!["t2".to_owned()], ..belief(bonn) };
    let second = write.assert_fact(rob, relation, &later).unwrap().fact;
    write.commit(Durability::Buffered, 0).unwrap();
    let mut write = store.begin(0).unwrap();
    write.retract(second).unwrap();
    write.end_node(rob, robert).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    let mut write = store.begin(0).unwrap();
    write.forget(&[], &[second]).unwrap();
    write.commit(Durability::Buffered, 0).unwrap();
    checked(&store);
    let snapshot = store.snapshot(0);
    let mut believed = 0;
    let visit = &mut |_| {
        believed += 1;
        ControlFlow::Continue(())
    };
    snapshot
        .reader()
        .edges(rob, crate::graph::Side::Out, None, &EdgeFilter::CURRENT, visit)
        .unwrap();
    assert_eq!(believed, 0);
}
