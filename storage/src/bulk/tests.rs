use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::graph::ConfidencePolicy;
use crate::{Memory, Store};

/// A store with these nodes and two relations, of which the first takes one value at a time.
fn store(folder: &Path) -> (Store, Vec<NodeId>, [RelationId; 2]) {
    let store = Store::open(folder, Memory::default()).unwrap();
    let mut begin = store.begin(1).unwrap();
    let node = |key: &str, begin: &mut crate::Transaction<'_>| {
        begin.put_node("Entity", key, &BTreeMap::new()).unwrap()
    };
    let nodes = ["a", "b", "c", "d", "e"].map(|key| node(key, &mut begin)).to_vec();
    let relations = ["one", "many"].map(|name| begin.relation(name).unwrap());
    let rule = RelationRule {
        cardinality: Cardinality::One,
        policy: ConfidencePolicy::NoisyOr,
        ..RelationRule::default()
    };
    begin.define_relation("one", rule).unwrap();
    begin.commit(Durability::Buffered, 1).unwrap();
    (store, nodes, relations)
}

fn belief(fact: &BulkFact) -> Belief {
    Belief {
        tail: fact.tail,
        valid: fact.valid,
        confidence: fact.confidence,
        intent: fact.intent,
        uncertain: false,
        sources: vec![fact.source.to_string()],
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

/// Asserts facts one by one in a transaction.
fn assert_each<'f>(store: &Store, facts: impl Iterator<Item = &'f BulkFact>) {
    let mut write = store.begin(5).unwrap();
    for fact in facts {
        write.assert_fact(fact.head, fact.relation, &belief(fact)).unwrap();
    }
    write.commit(Durability::Buffered, 5).unwrap();
}

/// What is believed, in some order, without the numbers and instants that a store gives.
fn believed(store: &Store, nodes: &[NodeId]) -> Vec<String> {
    let snapshot = store.snapshot(9);
    let reader = snapshot.reader();
    let mut facts = Vec::new();
    for node in nodes {
        for side in [Side::Out, Side::In] {
            reader
                .edges(*node, side, None, &EdgeFilter::CURRENT, &mut |edge| {
                    let version = reader.version(edge.fact, edge.version).unwrap();
                    assert_eq!(version.belief.valid, edge.valid);
                    facts
                        .push(format!("{node:?} {side:?} {:?} {:?}", version.head, version.belief));
                    ControlFlow::Continue(())
                })
                .unwrap();
        }
    }
    facts.sort_unstable();
    facts
}

fn facts(
    nodes: &[NodeId],
    relations: [RelationId; 2],
    drawn: &[(usize, usize, usize, i64, u8)],
) -> Vec<BulkFact> {
    drawn
        .iter()
        .enumerate()
        .map(|(place, (head, relation, tail, from, sure))| BulkFact {
            head: nodes[*head],
            relation: relations[*relation],
            tail: nodes[*tail],
            valid: Interval {
                from: *from,
                to: if from % 7 == 3 { from + 5 } else { Interval::MAX },
            },
            confidence: f64::from(*sure) / 10.0,
            intent: Intent::Fact,
            source: format!("file:{place}").into_boxed_str(),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A load leaves what asserting each fact would have left, into an empty graph and into one that
    /// has facts.
    #[test]
    fn a_load_is_as_one_by_one(
        before in prop::collection::vec((0..5_usize, 0..2_usize, 0..5_usize, 0..40_i64, 1..=10_u8), 0..4),
        drawn in prop::collection::vec((0..5_usize, 0..2_usize, 0..5_usize, 0..40_i64, 1..=10_u8), 1..24),
    ) {
        let (one, all) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (slow, nodes, relations) = store(one.path());
        let (fast, ..) = store(all.path());
        let before = facts(&nodes, relations, &before);
        let new = facts(&nodes, relations, &drawn);
        for store in [&slow, &fast] {
            assert_each(store, before.iter());
        }
        assert_each(&slow, new.iter());
        let bulk = fast.load_facts(&new, Durability::Buffered, 5).unwrap();
        prop_assert_eq!(bulk.stored + bulk.left.len(), new.len());
        assert_each(&fast, bulk.left.iter().map(|place| &new[*place]));
        prop_assert_eq!(believed(&fast, &nodes), believed(&slow, &nodes));
        let mut violations = Vec::new();
        fast.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
        prop_assert_eq!(violations, Vec::new());
    }
}

#[test]
fn a_reader_sees_all_of_a_load_or_nothing_and_it_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, relations) = store(folder.path());
    let drawn: Vec<_> = (0..5).map(|tail| (0, 1, tail, 10, 9)).collect();
    let new = facts(&nodes, relations, &drawn);
    let before = store.snapshot(4);
    let bulk = store.load_facts(&new, Durability::Buffered, 5).unwrap();
    assert_eq!(bulk, Bulk { stored: 5, left: Vec::new() });
    assert!(!before.reader().has_facts().unwrap());
    let all = believed(&store, &nodes);
    assert_eq!(all.len(), 10);
    drop(before);
    assert!(!folder.path().join(FOLDER).exists());
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert_eq!(believed(&store, &nodes), all);
}

#[test]
fn a_load_that_a_crash_left_behind_its_commit_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, relations) = store(folder.path());
    let drawn: Vec<_> = (0..5).map(|tail| (0, 1, tail, 10, 9)).collect();
    let new = facts(&nodes, relations, &drawn);
    let plain: Vec<Plain<'_>> = new.iter().map(|fact| Plain { fact, to: fact.valid.to }).collect();
    {
        // As `take_in_all`, but the process ends once one of the tables is taken in.
        let bulk = folder.path().join(FOLDER);
        make_empty(&bulk).unwrap();
        let mut writer = store.commits.writer().unwrap();
        let commit = store.commits.begin_load(5).unwrap();
        store.stage(&bulk, &plain, FactId(0), commit).unwrap();
        let mut overlay = Overlay::default();
        Counters { next_fact: 5, clock: commit, ..writer.counters }.put(&mut overlay);
        overlay.put(Family::Meta, BULK_KEY, commit.to_be_bytes().to_vec());
        store.commits.write(&store.engine, &mut writer, &overlay).unwrap();
        store.engine.take_in(Family::Out, &table(&bulk, Family::Out)).unwrap();
    }
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert_eq!(believed(&store, &nodes).len(), 10);
    assert!(!folder.path().join(FOLDER).exists());
    let mut violations = Vec::new();
    store.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
    assert_eq!(violations, Vec::new());
}
