//! Reads through what is kept against reads of the disk.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;
use crate::commit::Durability;
use crate::edges::Gathered;
use crate::edges::tests::valid;
use crate::graph::{
    Belief, Edge, EdgeFilter, Intent, Interval, LabelId, RelationId, SystemScope, Value,
};
use crate::reader::{EdgeMark, Reader};
use crate::store::Snapshot;
use crate::{Memory, Store};

/// What happens to the database between two reads.
#[derive(Clone, Debug)]
enum Act {
    Assert {
        head: usize,
        tail: usize,
        relation: usize,
        from: i64,
        to: Option<i64>,
    },
    Retract(u64),
    Rename(usize),
    /// Its embedding is another one, or there is none.
    Embed(usize, Option<u8>),
    /// Another state is held on to.
    Hold,
}

/// What is read, of every state that is held.
#[derive(Clone, Debug)]
struct Asked {
    node: usize,
    side: Side,
    relation: Option<usize>,
    filter: EdgeFilter,
    /// Edges of a page.
    page: usize,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..4_usize, 0..4_usize, 0..2_usize, 0..40_i64, prop::option::of(1..20_i64))
            .prop_map(|(head, tail, relation, from, length)| Act::Assert {
                head, tail, relation, from, to: length.map(|length| from + length),
            }),
        1 => (0..12_u64).prop_map(Act::Retract),
        1 => (0..4_usize).prop_map(Act::Rename),
        2 => (0..4_usize, prop::option::of(0..3_u8)).prop_map(|(node, at)| Act::Embed(node, at)),
        1 => Just(Act::Hold),
    ]
}

fn asked() -> impl Strategy<Value = Asked> {
    let system = prop_oneof![
        3 => Just(SystemScope::Current),
        1 => Just(SystemScope::All),
        1 => (0..60_i64).prop_map(SystemScope::AsOf),
    ];
    let side = prop_oneof![Just(Side::Out), Just(Side::In)];
    let filter = (valid(), system, 0..2_u8).prop_map(|(valid, system, sure)| EdgeFilter {
        valid,
        system,
        confidence: f64::from(sure) * 0.6,
        intent: None,
    });
    (0..4_usize, side, prop::option::of(0..2_usize), filter, 1..6_usize).prop_map(
        |(node, side, relation, filter, page)| Asked { node, side, relation, filter, page },
    )
}

/// The answer in pages, as one that comes back for more reads it.
fn answer(reader: Reader<'_>, nodes: &[NodeId], asked: &Asked) -> Vec<Edge> {
    let relation = asked.relation.map(|relation| RelationId(relation as u32));
    let mut edges: Vec<Edge> = Vec::new();
    let mut mark: Option<EdgeMark> = None;
    loop {
        let before = edges.len();
        let (node, side) = (nodes[asked.node], asked.side);
        reader
            .edges_after(node, side, relation, &asked.filter, mark.as_ref(), &mut |edge| {
                edges.push(edge);
                match edges.len() - before == asked.page {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })
            .unwrap();
        if edges.len() - before < asked.page {
            return edges;
        }
        mark = edges.last().map(|edge| EdgeMark::of(edge, side));
    }
}

/// The far ends of the same edges of all nodes, with the one that is asked for in front.
fn far_nodes(reader: Reader<'_>, nodes: &[NodeId], asked: &Asked) -> Vec<NodeId> {
    let relation = asked.relation.map(|relation| RelationId(relation as u32));
    let nodes: Vec<NodeId> = [&nodes[asked.node..], &nodes[..asked.node]].concat();
    let mut far = Vec::new();
    reader
        .far_nodes(&nodes, asked.side, relation, &asked.filter, &mut |node| {
            far.push(node);
            ControlFlow::Continue(())
        })
        .unwrap();
    far
}

fn bare<'s>(snapshot: &'s Snapshot<'_>) -> Reader<'s> {
    let kept = snapshot.reader();
    Reader::new(snapshot.view(), kept.shared_catalog(), kept.now())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is written and whichever state is read, what was read lately gives the same as the
    /// disk: old states do not see later facts, and new ones see all of them.
    #[test]
    fn what_is_kept_is_what_the_disk_has(
        acts in prop::collection::vec((act(), prop::collection::vec(asked(), 1..4)), 1..16),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Memory::default()).unwrap();
        let mut begin = store.begin(1).unwrap();
        let nodes: Vec<NodeId> = ["a", "b", "c", "d"]
            .iter()
            .map(|key| begin.put_node("Entity", key, &BTreeMap::new()).unwrap())
            .collect();
        let relations = ["r", "s"].map(|name| begin.relation(name).unwrap());
        begin.commit(Durability::Buffered, 1).unwrap();
        let mut held = vec![store.snapshot(2)];
        for (time, (act, questions)) in (3..).zip(acts) {
            let mut write = store.begin(time).unwrap();
            match act {
                Act::Assert { head, tail, relation, from, to } => {
                    let belief = Belief {
                        tail: nodes[tail],
                        valid: Interval { from, to: to.unwrap_or(Interval::MAX) },
                        confidence: if from % 2 == 0 { 0.9 } else { 0.3 },
                        intent: Intent::Fact,
                        uncertain: false,
                        sources: Vec::new(),
                        properties: BTreeMap::new(),
                        evidence: Vec::new(),
                    };
                    write.assert_fact(nodes[head], relations[relation], &belief).unwrap();
                }
                Act::Retract(fact) => {
                    // It may not be there.
                    let _ = write.retract(crate::graph::FactId(fact));
                }
                Act::Rename(node) => {
                    let (age, key) = (Value::Int(time), ["a", "b", "c", "d"][node]);
                    let mut properties = BTreeMap::from([("age".to_owned(), age.clone())]);
                    // Of two lists, now and then one, and not always the same.
                    if let Some(name) = ["v", "w"].get(time as usize % 3) {
                        properties.insert((*name).to_owned(), Value::List(vec![age]));
                    }
                    write.put_node("Entity", key, &properties).unwrap();
                }
                Act::Embed(node, Some(at)) => {
                    write.put_vector(nodes[node], "m", &[f32::from(at), 1.0]).unwrap();
                }
                Act::Embed(node, None) => write.delete_vector(nodes[node]).unwrap(),
                Act::Hold => held.push(store.snapshot(time)),
            }
            write.commit(Durability::Buffered, time).unwrap();
            let newest = store.snapshot(time);
            for snapshot in held.iter().chain([&newest]) {
                for asked in &questions {
                    let kept = answer(snapshot.reader(), &nodes, asked);
                    prop_assert_eq!(&kept, &answer(bare(snapshot), &nodes, asked));
                    let far = far_nodes(snapshot.reader(), &nodes, asked);
                    prop_assert_eq!(&far, &far_nodes(bare(snapshot), &nodes, asked));
                    let end = |edge: &Edge| {
                        edge.far(asked.side)
                    };
                    prop_assert!(far.starts_with(&kept.iter().map(end).collect::<Vec<_>>()));
                }
                for node in &nodes {
                    let kept = snapshot.reader().node(*node, SystemScope::Current).unwrap();
                    let disk = bare(snapshot).node(*node, SystemScope::Current).unwrap();
                    prop_assert_eq!(kept, disk);
                    for name in ["v", "w", "age"] {
                        let Some(property) = snapshot.reader().catalog().property(name) else {
                            continue;
                        };
                        let of = |reader: Reader<'_>| reader.numbers(*node, property).unwrap();
                        prop_assert_eq!(of(snapshot.reader()), of(bare(snapshot)));
                    }
                    for system in [SystemScope::Current, SystemScope::AsOf(time - 2)] {
                        let kept = snapshot.reader().vector(LabelId(0), *node, system).unwrap();
                        let disk = bare(snapshot).vector(LabelId(0), *node, system).unwrap();
                        prop_assert_eq!(kept, disk);
                    }
                }
            }
        }
    }
}

#[test]
fn a_read_that_is_repeated_costs_the_same_in_counts_and_nothing_of_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    let mut write = store.begin(1).unwrap();
    let node = write.put_node("Entity", "a", &BTreeMap::new()).unwrap();
    write.put_vector(node, "m", &[0.6, 0.8]).unwrap();
    write.commit(Durability::Buffered, 1).unwrap();
    let label = store.snapshot(2).reader().catalog().label("Entity").unwrap();
    let count = || {
        let snapshot = store.snapshot(2);
        let meter = crate::Meter::new();
        let reader = snapshot.reader().metered(&meter);
        assert!(reader.node(node, SystemScope::Current).unwrap().is_some());
        assert!(reader.vector(label, node, SystemScope::Current).unwrap().is_some());
        assert!(
            answer(
                reader,
                &[node],
                &Asked {
                    node: 0,
                    side: Side::Out,
                    relation: None,
                    filter: EdgeFilter::CURRENT,
                    page: 4,
                }
            )
            .is_empty()
        );
        meter.counts()
    };
    assert_eq!(count(), count());
    let near = Near { node, side: Side::Out, relation: None };
    let kept = store.commits.kept().edges(&near, 2).map(|edges| edges.len());
    assert_eq!(kept, Some(0));
    assert!(store.commits.kept().vector(node, 2).is_some());
}

#[test]
fn nothing_is_kept_of_a_state_that_a_commit_has_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    let kept = store.commits.kept();
    let near = Near { node: NodeId(7), side: Side::Out, relation: None };
    let edges = || Gathered::new(Side::Out).finish();
    kept.commit(10, &Overlay::default());
    kept.keep_edges(near, 9, edges());
    assert!(kept.edges(&near, 11).is_none());
    kept.keep_edges(near, 10, edges());
    assert!(kept.edges(&near, 10).is_some());
    assert!(kept.edges(&near, 9).is_none());
}

#[test]
fn who_comes_back_for_a_few_reads_a_few_and_who_reads_on_gets_all() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    let mut write = store.begin(1).unwrap();
    let hub = write.put_node("Entity", "hub", &BTreeMap::new()).unwrap();
    let relation = write.relation("r").unwrap();
    for far in 0..1_000 {
        let tail = write.put_node("Entity", &format!("e{far}"), &BTreeMap::new()).unwrap();
        let belief = Belief {
            tail,
            valid: Interval { from: far, to: Interval::MAX },
            confidence: if far % 3 == 0 { 0.9 } else { 0.3 },
            intent: Intent::Fact,
            uncertain: false,
            sources: Vec::new(),
            properties: BTreeMap::new(),
            evidence: Vec::new(),
        };
        write.assert_fact(hub, relation, &belief).unwrap();
    }
    write.commit(Durability::Buffered, 1).unwrap();
    let snapshot = store.snapshot(2);
    let near = Near { node: hub, side: Side::Out, relation: None };
    let filter = EdgeFilter { confidence: 0.5, ..EdgeFilter::CURRENT };
    let read = |reader: Reader<'_>, mark: &EdgeMark, most: usize| {
        let mut edges: Vec<Edge> = Vec::new();
        reader
            .edges_after(hub, Side::Out, None, &filter, Some(mark), &mut |edge| {
                edges.push(edge);
                if edges.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .unwrap();
        edges
    };
    let mut first = None;
    let visit = &mut |edge| {
        first = Some(edge);
        ControlFlow::Break(())
    };
    bare(&snapshot).edges(hub, Side::Out, None, &filter, visit).unwrap();
    let mark = EdgeMark::of(&first.unwrap(), Side::Out);

    let meter = crate::Meter::new();
    let few = read(snapshot.reader().metered(&meter), &mark, 10);
    assert_eq!(few, read(bare(&snapshot), &mark, 10));
    assert!(meter.counts().keys <= 40, "{:?}", meter.counts());
    assert!(store.commits.kept().edges(&near, 2).is_none());

    for most in [200, 1_000] {
        assert_eq!(read(snapshot.reader(), &mark, most), read(bare(&snapshot), &mark, most));
    }
    let kept = store.commits.kept().edges(&near, 2).map(|edges| edges.len());
    assert_eq!(kept, Some(1_000));
    assert_eq!(read(snapshot.reader(), &mark, 1_000).len(), 333);
}
