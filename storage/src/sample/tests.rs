//! The sample of a small database is exact, that of a large one is near, and both are the same
//! again.

use std::collections::BTreeSet;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::graph::{Belief, Edge, EdgeFilter, Intent, Interval, VersionRecord};
use crate::meter::Meter;
use crate::store::Store;
use crate::transaction::Transaction;

const LABELS: [&str; 3] = ["Person", "City", "Note"];

fn open() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    (folder, store)
}

fn put_node(transaction: &mut Transaction<'_>, label: &str, number: u64) -> NodeId {
    transaction.put_node(label, &number.to_string(), &BTreeMap::new()).expect("puts")
}

/// Puts a fact that holds now, or did once.
fn put_fact(
    transaction: &mut Transaction<'_>,
    head: NodeId,
    relation: u32,
    tail: NodeId,
    holds: bool,
) {
    let valid = Interval { from: 0, to: if holds { Interval::MAX } else { 1 } };
    let belief = Belief {
        tail,
        valid,
        confidence: 0.5,
        intent: Intent::Fact,
        uncertain: false,
        sources: Vec::new(),
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    };
    let system = Interval { from: transaction.now, to: Interval::MAX };
    let relation = RelationId(relation);
    let version = VersionRecord { head, relation, belief, system, mirror: None };
    let fact = transaction.new_fact().expect("an id");
    transaction.put_record(fact, 0, &version).expect("puts");
}

/// A database with nodes of three labels and random facts of two relations.
fn fill(transaction: &mut Transaction<'_>, nodes: u64) {
    let mut random = 0;
    let mut below = move |limit: u64| {
        random += 1;
        scatter(random << 20) % limit
    };
    for relation in ["knows", "wrote"] {
        transaction.relation(relation).expect("interns");
    }
    for number in 0..nodes {
        // They come in turns, as nodes often do.
        let label = LABELS[[0, 1, 0, 2][(number % 4) as usize]];
        assert_eq!(put_node(transaction, label, number), NodeId(number));
    }
    for head in 0..nodes {
        for (relation, facts_max) in [(0, 13), (1, 9)] {
            for _ in 0..below(facts_max) {
                let (tail, holds) = (NodeId(below(nodes)), below(4) > 0);
                put_fact(transaction, NodeId(head), relation, tail, holds);
            }
        }
    }
}

/// The sample, by reading everything.
fn truth(reader: Reader<'_>) -> Sample {
    let mut nodes = Vec::new();
    for (label, _) in reader.catalog().labels() {
        let visited = reader.nodes_of_label(label, None, &mut |_, node| {
            nodes.push((label, node));
            ControlFlow::Continue(())
        });
        visited.expect("reads");
    }
    let mut sample = Sample { nodes: nodes.len() as f64, ..Sample::default() };
    let mut ends: BTreeMap<_, Vec<(NodeId, Edge)>> = BTreeMap::new();
    for (label, node) in nodes {
        *sample.labels.entry(label).or_default() += 1.0;
        for side in [Side::Out, Side::In] {
            let visited = reader.edges(node, side, None, &EdgeFilter::CURRENT, &mut |edge| {
                ends.entry((Some(label), edge.relation, side)).or_default().push((node, edge));
                ends.entry((None, edge.relation, side)).or_default().push((node, edge));
                ControlFlow::Continue(())
            });
            visited.expect("reads");
        }
    }
    for (place, ends) in ends {
        let nodes = place.0.map_or(sample.nodes, |label| sample.labels[&label]);
        let holds = |(_, edge): &&(NodeId, Edge)| edge.valid.contains(reader.now());
        let some: BTreeSet<NodeId> = ends.iter().map(|(node, _)| *node).collect();
        let degree = Degree {
            mean: ends.len() as f64 / nodes,
            now: ends.iter().filter(holds).count() as f64 / nodes,
            share: some.len() as f64 / nodes,
        };
        sample.degrees.insert(place, degree);
    }
    sample
}

fn near(found: f64, truth: f64) -> bool {
    (found - truth).abs() <= 0.2 * truth
}

#[test]
fn nothing_has_an_empty_sample() {
    let (_folder, store) = open();
    assert_eq!(store.snapshot(1).reader().sample(100).expect("reads"), Sample::default());
}

#[test]
fn the_sample_of_a_few_nodes_is_exact() {
    let (_folder, store) = open();
    let mut transaction = store.begin(1).expect("begins");
    fill(&mut transaction, 60);
    transaction.commit(Durability::Buffered, 1).expect("commits");
    let mut transaction = store.begin(2).expect("begins");
    let forgotten: Vec<NodeId> = (0..60).step_by(7).map(NodeId).chain([NodeId(59)]).collect();
    transaction.forget(&forgotten, &[]).expect("forgets");
    put_node(&mut transaction, "Person", 60);
    let expected = truth(transaction.reader());
    let last = |transaction: &Transaction<'_>| transaction.view().last_key(Family::Nodes);
    assert_eq!(last(&transaction).expect("reads"), Some(key::node(NodeId(60)).to_vec()));
    assert_eq!(expected.nodes, 51.0);
    assert_eq!(expected.degrees.len(), 16);
    for nodes_max in [51, 60, 1_000, usize::MAX] {
        assert_eq!(transaction.reader().sample(nodes_max).expect("reads"), expected);
    }
    transaction.commit(Durability::Buffered, 2).expect("commits");
    let mut transaction = store.begin(2).expect("begins");
    transaction.forget(&[NodeId(60)], &[]).expect("forgets");
    assert_eq!(last(&transaction).expect("reads"), Some(key::node(NodeId(58)).to_vec()));
    drop(transaction);
    let snapshot = store.snapshot(2);
    assert_eq!(snapshot.reader().sample(51).expect("reads"), expected);
    assert!(near(snapshot.reader().sample(50).expect("reads").nodes, 51.0));
    assert!(snapshot.reader().sample(0).expect("reads").nodes <= 61.0);
}

#[test]
fn the_sample_of_many_nodes_is_near() {
    let (_folder, store) = open();
    let mut transaction = store.begin(1).expect("begins");
    fill(&mut transaction, 20_000);
    let meter = Meter::new();
    let sample = transaction.reader().metered(&meter).sample(500).expect("reads");
    assert!(meter.counts().seeks <= 3 * 500 + 2, "{:?}", meter.counts());
    assert_eq!(transaction.reader().sample(500).expect("reads"), sample);
    let expected = truth(transaction.reader());
    assert!(near(sample.nodes, expected.nodes));
    assert_eq!(sample.labels.len(), LABELS.len());
    for (label, nodes) in &expected.labels {
        assert!(near(sample.labels[label], *nodes), "{label:?}: {} {nodes}", sample.labels[label]);
    }
    for (place, degree) in &expected.degrees {
        let found = sample.degrees[place];
        let all = [(found.mean, degree.mean), (found.now, degree.now), (found.share, degree.share)];
        assert!(all.iter().all(|(found, truth)| near(*found, *truth)), "{place:?}: {all:?}");
    }
}

#[test]
fn many_facts_of_one_node_are_not_all_read() {
    let (_folder, store) = open();
    let mut transaction = store.begin(1).expect("begins");
    for relation in ["knows", "lives_in", "wrote"] {
        transaction.relation(relation).expect("interns");
    }
    let people: Vec<NodeId> =
        (0..2_000).map(|number| put_node(&mut transaction, "Person", number)).collect();
    let city = put_node(&mut transaction, "City", 0);
    for (number, person) in people.iter().enumerate() {
        put_fact(&mut transaction, *person, 1, city, number % 2 == 0);
    }
    put_fact(&mut transaction, people[0], 2, city, true);
    put_fact(&mut transaction, people[1], 0, city, true);
    let meter = Meter::new();
    let reader = transaction.reader().metered(&meter);
    let runs = reader.runs(city, Side::In).expect("reads");
    let facts: Vec<(u64, bool)> = runs.values().map(|run| (run.facts, run.cut)).collect();
    assert_eq!(facts, [(1, false), (FACTS_MAX - 1, true), (1, false)]);
    assert_eq!((meter.counts().seeks, meter.counts().keys), (2, FACTS_MAX + 2));
    let sample = reader.sample(3_000).expect("reads");
    let label = reader.catalog().label("City");
    let degree = sample.degrees[&(label, RelationId(1), Side::In)];
    assert!(near(degree.mean, 2_000.0) && near(degree.now, 1_000.0), "{degree:?}");
    assert_eq!(degree.share, 1.0);
    assert_eq!(sample.degrees[&(None, RelationId(1), Side::Out)].mean, 2_000.0 / 2_001.0);
    assert_eq!(sample.degrees[&(label, RelationId(2), Side::In)].mean, 1.0);
}
