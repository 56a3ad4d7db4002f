//! What is told again changes nothing, whatever became of it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use proptest::prelude::*;

use crate::graph::{
    Belief, Cardinality, EdgeFilter, Intent, Interval, NodeId, Properties, RelationId,
    RelationRule, Side, Time, VersionRecord,
};
use crate::{Durability, Memory, Store};

const HEADS: usize = 2;
const TAILS: usize = 4;

/// A head, a relation of two, a tail, when and how long it holds, and how sure it is in tenths.
type Told = (usize, usize, usize, Time, Option<Time>, u8);

struct Graph {
    store: Store,
    nodes: Vec<NodeId>,
    relations: [RelationId; 2],
}

impl Graph {
    fn new(folder: &std::path::Path) -> Self {
        let store = Store::open(folder, Memory::default()).unwrap();
        let mut begin = store.begin(1).unwrap();
        for (name, cardinality) in [("one", Cardinality::One), ("many", Cardinality::Many)] {
            let rule = RelationRule { cardinality, ..RelationRule::default() };
            begin.define_relation(name, rule).unwrap();
        }
        let nodes = (0..HEADS + TAILS)
            .map(|n| begin.put_node("N", &n.to_string(), &BTreeMap::new()).unwrap())
            .collect();
        let relations = ["one", "many"].map(|name| begin.relation(name).unwrap());
        begin.commit(Durability::Buffered, 1).unwrap();
        Self { store, nodes, relations }
    }

    /// Tells facts one by one, each from a source of its own.
    fn tell(&self, told: &[Told]) {
        for (place, (head, relation, tail, from, length, sure)) in told.iter().enumerate() {
            let belief = Belief {
                tail: self.nodes[HEADS + tail],
                valid: Interval {
                    from: *from,
                    to: length.map_or(Interval::MAX, |length| from + length),
                },
                confidence: f64::from(*sure) / 10.0,
                intent: Intent::Fact,
                uncertain: false,
                sources: vec![format!("file:{place}")],
                properties: Properties::new(),
                evidence: Vec::new(),
            };
            let mut write = self.store.begin(5).unwrap();
            write.assert_new_fact(self.nodes[*head], self.relations[*relation], &belief).unwrap();
            write.commit(Durability::Buffered, 5).unwrap();
        }
    }

    /// Every version that there is.
    fn versions(&self) -> Vec<VersionRecord> {
        let snapshot = self.store.snapshot(9);
        let (reader, mut found) = (snapshot.reader(), Vec::new());
        for node in &self.nodes[..HEADS] {
            let mut edges = Vec::new();
            reader
                .edges(*node, Side::Out, None, &EdgeFilter::EVERYTHING, &mut |edge| {
                    edges.push(edge);
                    ControlFlow::Continue(())
                })
                .unwrap();
            found.extend(edges.iter().map(|edge| reader.version(edge.fact, edge.version).unwrap()));
        }
        found
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_told_again_changes_nothing(
        told in prop::collection::vec(
            (0..HEADS, 0..2_usize, 0..TAILS, 0..12_i64, prop::option::of(1..6_i64), 1..=9_u8),
            1..12,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let graph = Graph::new(folder.path());
        graph.tell(&told);
        let before = graph.versions();
        graph.tell(&told);
        prop_assert_eq!(graph.versions(), before);
    }
}
