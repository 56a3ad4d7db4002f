//! Edges read in pages are the edges read at once, wherever a page ends; so are those that begin in
//! an interval, and relations are those of the edges.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::graph::{Belief, Intent, RelationRule, Time, ValidScope};
use crate::store::Store;
use crate::transaction::Transaction;

const NODES: u64 = 4;
/// A plain one, a symmetric one, and two that are each other's inverse.
const RELATIONS: [&str; 4] = ["likes", "wed", "owns", "owned_by"];

/// Asserts a fact, or ends the belief in it.
#[derive(Clone, Copy, Debug)]
struct Act {
    head: u64,
    relation: usize,
    tail: u64,
    from: Time,
    retract: bool,
}

fn act() -> impl Strategy<Value = Act> {
    (0..NODES, 0..RELATIONS.len(), 0..NODES, 0..3_i64, prop::bool::weighted(0.3)).prop_map(
        |(head, relation, tail, from, retract)| Act { head, relation, tail, from, retract },
    )
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut transaction = store.begin(1).expect("begins");
    for node in 0..NODES {
        let id = transaction.put_node("Node", &node.to_string(), &BTreeMap::new()).expect("puts");
        assert_eq!(id, NodeId(node));
    }
    for (number, name) in (0..).zip(RELATIONS) {
        assert_eq!(transaction.relation(name).expect("interns"), RelationId(number));
    }
    for (name, mirror) in [("wed", 1), ("owns", 3)] {
        let rule = RelationRule { mirror: Some(RelationId(mirror)), ..RelationRule::default() };
        transaction.define_relation(name, rule).expect("defines");
    }
    transaction.commit(Durability::Buffered, 1).expect("commits");
    (folder, store)
}

fn perform(transaction: &mut Transaction<'_>, act: Act) {
    let belief = Belief {
        tail: NodeId(act.tail),
        valid: Interval { from: act.from * 10, to: act.from * 10 + 15 },
        confidence: 0.5,
        intent: Intent::Fact,
        uncertain: false,
        sources: Vec::new(),
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    };
    let relation = transaction.relation(RELATIONS[act.relation]).expect("interns");
    let fact = transaction.assert_fact(NodeId(act.head), relation, &belief).expect("asserts").fact;
    if act.retract {
        transaction.retract(fact).expect("retracts");
    }
}

fn filters() -> Vec<EdgeFilter> {
    let systems = [
        SystemScope::Current,
        SystemScope::AsOf(1_000),
        SystemScope::AsOf(2_000),
        SystemScope::All,
    ];
    let within = ValidScope::Within(Interval { from: 5, to: 12 });
    let valids = [ValidScope::All, ValidScope::AsOf(12), within];
    let mut filters = Vec::new();
    for system in systems {
        filters.extend(valids.map(|valid| EdgeFilter { system, valid, ..EdgeFilter::CURRENT }));
    }
    filters
}

/// The edges in pages of that size.
fn pages(
    reader: Reader<'_>,
    (near, side, relation): (NodeId, Side, Option<RelationId>),
    filter: &EdgeFilter,
    size: usize,
) -> Vec<Vec<Edge>> {
    let mut pages: Vec<Vec<Edge>> = Vec::new();
    loop {
        let last = pages.last().and_then(|page| page.last());
        let after = last.map(|edge| EdgeMark::of(edge, side));
        let mut page = Vec::new();
        let read = reader.edges_after(near, side, relation, filter, after.as_ref(), &mut |edge| {
            page.push(edge);
            if page.len() < size { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        read.expect("reads");
        if page.is_empty() {
            return pages;
        }
        assert!(after.is_none_or(|mark| mark != EdgeMark::of(&page[0], side)), "it goes on");
        assert!(pages.len() < 1_000, "it ends");
        pages.push(page);
    }
}

fn whole(
    reader: Reader<'_>,
    (near, side, relation): (NodeId, Side, Option<RelationId>),
    filter: &EdgeFilter,
) -> Vec<Edge> {
    let mut edges = Vec::new();
    let read = reader.edges(near, side, relation, filter, &mut |edge| {
        edges.push(edge);
        ControlFlow::Continue(())
    });
    read.expect("reads");
    edges
}

/// Compares what begins within an interval with what does of the whole.
fn begun(
    reader: Reader<'_>,
    place: (NodeId, Side, RelationId),
    filter: &EdgeFilter,
    whole: &[Edge],
) {
    for (from, to) in [(Interval::MIN, Interval::MAX), (0, 10), (10, 21), (11, 20)] {
        let mut read = Vec::new();
        let interval = Interval { from, to };
        let visit = &mut |edge| {
            read.push(edge);
            ControlFlow::Continue(())
        };
        reader.edges_begun(place, interval, filter, visit).expect("reads");
        let is_begun = |edge: &&Edge| interval.contains(edge.valid.from);
        let expected: Vec<Edge> = whole.iter().filter(is_begun).copied().collect();
        assert_eq!(read, expected, "{place:?} {filter:?} {interval:?}");
    }
}

/// Compares every read of every node, and gives how many edges there were.
fn compare(reader: Reader<'_>) -> usize {
    let mut edges = 0;
    let relations = [None].into_iter().chain((0..4).map(|number| Some(RelationId(number))));
    for (relation, filter) in relations.flat_map(|one| filters().into_iter().map(move |f| (one, f)))
    {
        for (node, side) in (0..NODES).flat_map(|node| [(node, Side::Out), (node, Side::In)]) {
            let read = (NodeId(node), side, relation);
            let expected = whole(reader, read, &filter);
            edges += expected.len();
            for size in 1..=5 {
                let pages = pages(reader, read, &filter, size);
                let full = pages.iter().rev().skip(1).all(|page| page.len() == size);
                assert!(full, "{read:?} {filter:?}");
                assert_eq!(pages.concat(), expected, "{read:?} {filter:?} by {size}");
            }
            match relation {
                None => {
                    let own: BTreeSet<_> = expected.iter().map(|edge| edge.relation).collect();
                    let read = reader.relations(NodeId(node), side, &filter).expect("reads");
                    assert_eq!(read, own, "{node} {side:?} {filter:?}");
                }
                Some(relation) => begun(reader, (NodeId(node), side, relation), &filter, &expected),
            }
        }
    }
    edges
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn pages_are_the_whole(
        acts in prop::collection::vec(prop::collection::vec(act(), 0..12), 3..4),
        open in prop::collection::vec(act(), 0..8),
    ) {
        let (_folder, store) = store();
        for (acts, wall) in acts.into_iter().zip([500, 1_500, 2_500]) {
            let mut transaction = store.begin(wall).expect("begins");
            acts.into_iter().for_each(|act| perform(&mut transaction, act));
            transaction.commit(Durability::Buffered, wall).expect("commits");
        }
        compare(store.snapshot(3_000).reader());
        let mut transaction = store.begin(3_500).expect("begins");
        open.into_iter().for_each(|act| perform(&mut transaction, act));
        compare(transaction.reader());
    }
}

#[test]
fn both_families_and_mirrors_are_paged() {
    let (_folder, store) = store();
    for (wall, retract) in [(500, false), (1_500, true)] {
        let mut transaction = store.begin(wall).expect("begins");
        for relation in 0..RELATIONS.len() {
            perform(&mut transaction, Act { head: 0, relation, tail: 1, from: 0, retract });
            perform(&mut transaction, Act { head: 0, relation, tail: 1, from: 2, retract: false });
        }
        transaction.commit(Durability::Buffered, wall).expect("commits");
    }
    let snapshot = store.snapshot(3_000);
    assert!(compare(snapshot.reader()) > 0);
    let read = (NodeId(1), Side::Out, None);
    let edges = whole(snapshot.reader(), read, &EdgeFilter::EVERYTHING);
    assert!(edges.iter().all(|edge| edge.two_way) && !edges.is_empty());
    let current = edges.iter().filter(|edge| edge.system.to == Interval::MAX).count();
    assert!(0 < current && current < edges.len());
}

#[test]
fn the_edge_of_a_mark_may_go() {
    let (_folder, store) = store();
    let mut transaction = store.begin(500).expect("begins");
    for tail in 0..3 {
        perform(&mut transaction, Act { head: 0, relation: 0, tail, from: 0, retract: false });
    }
    let read = (NodeId(0), Side::Out, None);
    let edges = whole(transaction.reader(), read, &EdgeFilter::CURRENT);
    transaction.retract(edges[1].fact).expect("retracts");
    let (filter, mark) = (EdgeFilter::CURRENT, EdgeMark::of(&edges[1], Side::Out));
    let mut rest = Vec::new();
    let reader = transaction.reader();
    let read = reader.edges_after(NodeId(0), Side::Out, None, &filter, Some(&mark), &mut |edge| {
        rest.push(edge);
        ControlFlow::Continue(())
    });
    read.expect("reads");
    assert_eq!(rest, edges[2..]);
}

#[test]
fn a_mark_of_another_node_leaves_the_node() {
    let (_folder, store) = store();
    let mut transaction = store.begin(500).expect("begins");
    for (head, tail) in [(0, 2), (0, 3), (1, 3), (2, 3)] {
        perform(&mut transaction, Act { head, relation: 0, tail, from: 0, retract: false });
    }
    let reader = transaction.reader();
    let of = |node| whole(reader, (NodeId(node), Side::Out, None), &EdgeFilter::CURRENT);
    for (other, expected) in [(0, of(1)), (2, Vec::new())] {
        let (filter, mark) = (EdgeFilter::CURRENT, EdgeMark::of(&of(other)[0], Side::Out));
        let mut found = Vec::new();
        let visit = &mut |edge| {
            found.push(edge);
            ControlFlow::Continue(())
        };
        let read = reader.edges_after(NodeId(1), Side::Out, None, &filter, Some(&mark), visit);
        read.expect("reads");
        assert_eq!(found, expected);
    }
}
