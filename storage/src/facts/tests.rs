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

/// A head, a relation of four, a tail, when and how long it holds, and how sure it is in tenths.
type Told = (usize, usize, usize, Time, Option<Time>, u8);

struct Graph {
    store: Store,
    nodes: Vec<NodeId>,
    /// The fourth is that before it, told from the other end; the last two are another such pair, of which the first
    /// takes one value.
    relations: [RelationId; 6],
}

impl Graph {
    fn new(folder: &std::path::Path) -> Self {
        let store = Store::open(folder, Memory::default()).unwrap();
        let mut begin = store.begin(1).unwrap();
        let all = ["one", "many", "led_by", "leads", "employs", "works_at"];
        for name in all {
            let cardinality = match name {
                "one" | "led_by" | "works_at" => Cardinality::One,
                _ => Cardinality::Many,
            };
            let mirror = match name {
                "leads" => Some("led_by"),
                "works_at" => Some("employs"),
                _ => None,
            };
            let mirror = mirror.map(|mirror| begin.relation(mirror).unwrap());
            let rule = RelationRule { cardinality, mirror, ..RelationRule::default() };
            begin.define_relation(name, rule).unwrap();
        }
        let nodes = (0..HEADS + TAILS)
            .map(|n| begin.put_node("N", &n.to_string(), &BTreeMap::new()).unwrap())
            .collect();
        let relations = all.map(|name| begin.relation(name).unwrap());
        begin.commit(Durability::Buffered, 1).unwrap();
        Self { store, nodes, relations }
    }

    /// Tells facts one by one, each from a source of its own.
    fn tell(&self, told: &[Told]) {
        self.tell_by(told, |place| format!("file:{place}"), true);
    }

    /// The same from these sources, or whatever was told before.
    fn tell_by(&self, told: &[Told], source: impl Fn(usize) -> String, is_new: bool) {
        for (place, (head, relation, tail, from, length, sure)) in told.iter().enumerate() {
            let (head, tail) = match relation {
                3 => (self.nodes[HEADS + tail], self.nodes[*head]),
                _ => (self.nodes[*head], self.nodes[HEADS + tail]),
            };
            let belief = Belief {
                tail,
                valid: Interval {
                    from: *from,
                    to: length.map_or(Interval::MAX, |length| from + length),
                },
                confidence: f64::from(*sure) / 10.0,
                intent: Intent::Fact,
                uncertain: false,
                sources: vec![source(place)],
                properties: Properties::new(),
                evidence: Vec::new(),
            };
            let mut write = self.store.begin(5).unwrap();
            let relation = self.relations[*relation];
            match is_new {
                true => drop(write.assert_new_fact(head, relation, &belief).unwrap()),
                false => drop(write.assert_fact(head, relation, &belief).unwrap()),
            }
            write.commit(Durability::Buffered, 5).unwrap();
        }
    }

    /// What is believed: head, tail, when, how sure, and whether it is uncertain.
    fn held(&self) -> Vec<String> {
        let versions = self.versions().into_iter();
        let held = versions.filter(|version| version.system.to == Interval::MAX).map(|version| {
            let Belief { tail, valid, confidence, uncertain, .. } = version.belief;
            format!(
                "{:?} {:?} {tail:?} {valid:?} {confidence} {uncertain}",
                version.head, version.relation
            )
        });
        let mut held: Vec<String> = held.collect();
        held.sort();
        held
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

/// What is held where one source tells this as what is new, and where all of it is asserted.
fn new_and_all(told: &[Told]) -> [Vec<String>; 2] {
    [true, false].map(|is_new| {
        let folder = tempfile::tempdir().unwrap();
        let graph = Graph::new(folder.path());
        graph.tell_by(told, |_| "hr".to_owned(), is_new);
        graph.held()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_told_again_changes_nothing(
        told in prop::collection::vec(
            (0..HEADS, 0..6_usize, 0..TAILS, 0..12_i64, prop::option::of(1..6_i64), 1..=9_u8),
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

    /// What one source tells in the order of time is new each time: a value may come back.
    #[test]
    fn what_comes_later_is_new(
        mut told in prop::collection::vec(
            (
                0..HEADS,
                prop::sample::select(vec![0_usize, 1, 3, 4, 5]),
                0..TAILS,
                0..40_i64,
                prop::option::of(1..6_i64),
                5..=9_u8,
            ),
            1..12,
        ),
    ) {
        told.sort_by_key(|told| told.3);
        told.dedup_by_key(|told| told.3);
        let [new, all] = new_and_all(&told);
        prop_assert_eq!(new, all);
    }
}

/// A colleague is no other value of where somebody works.
#[test]
fn what_is_told_of_a_colleague_is_of_no_one_else() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Graph::new(folder.path());
    let sources = ["nora", "bob", "nora"].map(str::to_owned);
    let told = [(0, 5, 0, 20, Some(2), 9), (1, 5, 0, 21, None, 9), (0, 5, 0, 20, None, 9)];
    graph.tell_by(&told, |place| sources[place].clone(), true);
    let mut open: Vec<NodeId> = graph
        .versions()
        .iter()
        .filter(|version| version.system.to == Interval::MAX)
        .filter(|version| version.belief.valid.to == Interval::MAX)
        .map(|version| version.head)
        .collect();
    open.sort_unstable();
    assert_eq!(open, graph.nodes[..2]);
}

/// Who leads several teams, each of which is led by one, ends none of them by leading another.
#[test]
fn another_tail_of_an_inverse_is_no_other_value() {
    let told = [(0, 4, 0, 20, Some(2), 9), (0, 4, 1, 21, None, 9), (0, 4, 0, 20, None, 9)];
    let [new, all] = new_and_all(&told);
    assert_eq!(new, all);
}

#[test]
fn who_ends_what_it_told_itself_overrules_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Graph::new(folder.path());
    let mut write = graph.store.begin(5).unwrap();
    let belief = Belief {
        tail: graph.nodes[HEADS],
        valid: Interval { from: 1, to: Interval::MAX },
        confidence: 1.0,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec!["file:1".to_owned()],
        properties: Properties::new(),
        evidence: Vec::new(),
    };
    let fact = write.assert_fact(graph.nodes[0], graph.relations[1], &belief).unwrap().fact;
    assert!(!write.has_overruled_own());
    write.close(fact, 5, &["file:2".to_owned()]).unwrap();
    assert!(write.has_overruled_own());
}
