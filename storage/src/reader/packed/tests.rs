//! Whatever loads and changes led to them, edges by head are what the versions say, in order, from
//! wherever they are read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::catalog::Catalog;
use crate::graph::{
    BulkFact, Cardinality, EdgeFilter, Intent, Interval, RelationId, RelationRule, SystemScope,
};
use crate::reader::EdgeMark;
use crate::{Durability, Memory, Store, Transaction};

/// Head, relation, tail, valid_from; some end.
type Drawn = (usize, usize, usize, i64);

#[derive(Clone, Debug)]
enum Act {
    Load(Vec<Drawn>),
    Assert(Drawn),
    Retract(u64),
    ForgetFact(u64),
    ForgetNode(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let drawn = || (0..4_usize, 0..2_usize, 0..6_usize, 0..40_i64);
    let act = prop_oneof![
        4 => prop::collection::vec(drawn(), 4..24).prop_map(Act::Load),
        3 => drawn().prop_map(Act::Assert),
        2 => (0..40_u64).prop_map(Act::Retract),
        1 => (0..40_u64).prop_map(Act::ForgetFact),
        1 => (0..6_usize).prop_map(Act::ForgetNode),
    ];
    prop::collection::vec(act, 1..9)
}

struct World {
    store: Store,
    nodes: Vec<NodeId>,
    relations: [RelationId; 2],
}

impl World {
    fn new(folder: &std::path::Path) -> Self {
        let store = Store::open(folder, Memory::default()).unwrap();
        let mut begin = store.begin(1).unwrap();
        let names = ["a", "b", "c", "d", "e", "f"];
        // What is said of a node keeps it when its facts go.
        let said = BTreeMap::from([("said".to_owned(), crate::graph::Value::Bool(true))]);
        let nodes = names.map(|name| begin.put_node("Entity", name, &said).unwrap()).to_vec();
        let relations = ["one", "many"].map(|name| begin.relation(name).unwrap());
        for (name, cardinality) in [("one", Cardinality::One), ("many", Cardinality::Many)] {
            let rule = RelationRule { cardinality, ..RelationRule::default() };
            begin.define_relation(name, rule).unwrap();
        }
        begin.commit(Durability::Buffered, 1).unwrap();
        Self { store, nodes, relations }
    }

    fn fact(&self, (head, relation, tail, from): Drawn) -> BulkFact<'static> {
        BulkFact {
            head: self.nodes[head],
            relation: self.relations[relation],
            tail: self.nodes[tail],
            valid: Interval { from, to: if from % 5 == 3 { from + 4 } else { Interval::MAX } },
            confidence: 0.7,
            intent: Intent::Fact,
            source: "file",
        }
    }

    fn load(&self, drawn: &[Drawn]) {
        let mut load = self.store.begin_load().unwrap();
        let known =
            drawn.iter().filter(|drawn| self.is_there(self.nodes[drawn.0], self.nodes[drawn.2]));
        for (place, drawn) in (0..).zip(known) {
            load.add(place, self.fact(*drawn)).unwrap();
        }
        load.finish(5, &mut |_, _| ()).unwrap();
    }

    fn is_there(&self, head: NodeId, tail: NodeId) -> bool {
        let snapshot = self.store.snapshot(0);
        let is = |node| snapshot.reader().node(node, SystemScope::Current).unwrap().is_some();
        is(head) && is(tail)
    }

    fn write(&self, act: &Act, write: &mut Transaction<'_>) {
        match act {
            Act::Assert(drawn) => {
                let fact = self.fact(*drawn);
                if self.is_there(fact.head, fact.tail) {
                    write.assert_fact(fact.head, fact.relation, &fact.belief()).unwrap();
                }
            }
            Act::Retract(fact) => _ = write.retract(FactId(*fact)).unwrap(),
            Act::ForgetFact(fact) => _ = write.forget(&[], &[FactId(*fact)]).unwrap(),
            Act::ForgetNode(node) => _ = write.forget(&[self.nodes[*node]], &[]).unwrap(),
            Act::Load(_) => {}
        }
    }
}

/// The same of what is committed, by what is kept in memory and by the disk alone.
fn assert_all_right(world: &World) {
    let snapshot = world.store.snapshot(9);
    assert_right(world, snapshot.reader());
    let catalog = Arc::new(Catalog::read(snapshot.view()).unwrap());
    assert_right(world, Reader::new(snapshot.view(), &catalog, snapshot.reader().now()));
}

/// Holds every way to read edges by their head against what the versions say.
fn assert_right(world: &World, reader: Reader<'_>) {
    let mut versions = Vec::new();
    let mut visit = |fact, number, version: crate::graph::VersionRecord| {
        assert_eq!(reader.version(fact, number).unwrap(), version);
        versions.extend(version.edges(fact, number));
        Ok(ControlFlow::Continue(()))
    };
    reader.all_versions(&mut visit).unwrap();
    let place = |edge: &Edge| {
        let [(family, key), _] = crate::adjacency::places(edge);
        (family, key.as_ref().to_vec())
    };
    versions.sort_by_key(place);
    let current = |edge: &&Edge| edge.system.to == Interval::MAX;
    let believed: Vec<Edge> = versions.iter().filter(current).copied().collect();
    let mut all = Vec::new();
    let mut keep = |edge| {
        all.push(edge);
        Ok(ControlFlow::Continue(()))
    };
    reader.all_edges(Family::Out, Side::Out, &mut keep).unwrap();
    assert_eq!(all, believed);
    for head in &world.nodes {
        let of_head = |edge: &&Edge| edge.head == *head;
        let expected: Vec<Edge> = versions.iter().filter(of_head).copied().collect();
        assert_eq!(read(reader, *head, None, &EdgeFilter::EVERYTHING, None), expected);
        let believed: Vec<Edge> = believed.iter().filter(of_head).copied().collect();
        let met: BTreeSet<RelationId> = believed.iter().map(|edge| edge.relation).collect();
        assert_eq!(reader.relations(*head, Side::Out, &EdgeFilter::CURRENT).unwrap(), met);
        for (place, edge) in believed.iter().enumerate() {
            let mark = EdgeMark::of(edge, Side::Out);
            let rest = read(reader, *head, None, &EdgeFilter::CURRENT, Some(&mark));
            assert_eq!(rest, believed[place + 1..]);
        }
        for relation in world.relations {
            assert_relation(reader, (*head, relation), &believed);
        }
    }
}

fn assert_relation(reader: Reader<'_>, (head, relation): (NodeId, RelationId), of_head: &[Edge]) {
    let of = |edge: &&Edge| edge.relation == relation;
    let expected: Vec<Edge> = of_head.iter().filter(of).copied().collect();
    assert_eq!(read(reader, head, Some(relation), &EdgeFilter::CURRENT, None), expected);
    for time in [3, 17, 40] {
        let filter = EdgeFilter::valid_at(time);
        let holds: Vec<Edge> = expected.iter().filter(|edge| filter.keeps(edge)).copied().collect();
        assert_eq!(read(reader, head, Some(relation), &filter, None), holds);
        for begun in
            [Interval { from: time, to: Interval::MAX }, Interval { from: time, to: time + 9 }]
        {
            let mut found = Vec::new();
            let mut visit = |edge| {
                found.push(edge);
                ControlFlow::Continue(())
            };
            let side = (head, Side::Out, relation);
            reader.edges_begun(side, begun, &EdgeFilter::CURRENT, &mut visit).unwrap();
            let begins = |edge: &&Edge| begun.contains(edge.valid.from);
            assert_eq!(found, expected.iter().filter(begins).copied().collect::<Vec<_>>());
        }
    }
    let mut first = None;
    let mut visit = |edge: Edge| {
        first = Some(edge);
        ControlFlow::Break(())
    };
    reader.edges(head, Side::Out, Some(relation), &EdgeFilter::CURRENT, &mut visit).unwrap();
    assert_eq!(first, expected.first().copied());
    let mut from = Vec::new();
    let mut visit = |edge: Edge| {
        from.push(edge);
        ControlFlow::Continue(())
    };
    reader.edges_from(Side::Out, head, relation, &mut visit).unwrap();
    assert!(from.is_sorted_by_key(|edge| (edge.head, edge.relation)));
    let here = |edge: &&Edge| edge.head == head && edge.relation >= relation;
    let expected = of_head.iter().filter(|edge| edge.relation >= relation);
    assert!(from.iter().filter(here).eq(expected));
    assert!(from.iter().all(|edge| (edge.head, edge.relation) >= (head, relation)));
}

fn read(
    reader: Reader<'_>,
    head: NodeId,
    relation: Option<RelationId>,
    filter: &EdgeFilter,
    after: Option<&EdgeMark>,
) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut visit = |edge| {
        edges.push(edge);
        ControlFlow::Continue(())
    };
    reader.edges_after(head, Side::Out, relation, filter, after, &mut visit).unwrap();
    edges
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edges_by_head_are_what_the_versions_say(acts in acts()) {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(folder.path());
        for act in &acts {
            if let Act::Load(drawn) = act {
                world.load(drawn);
            } else {
                let mut write = world.store.begin(7).unwrap();
                world.write(act, &mut write);
                assert_right(&world, write.reader());
                write.commit(Durability::Buffered, 7).unwrap();
            }
            assert_all_right(&world);
        }
        let mut violations = Vec::new();
        world.store.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
        prop_assert_eq!(violations, Vec::new());
    }
}

/// A head with many packs is read from each of its edges on, also where packs are gone.
#[test]
fn a_head_with_many_packs_is_read_from_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    let drawn: Vec<Drawn> =
        (0..60).map(|place| (0, 1, 1 + place % 5, 3 + 5 * place as i64)).collect();
    world.load(&drawn);
    assert_all_right(&world);
    // Two whole packs, and parts of others.
    for gone in [24..33, 8..9, 50..51] {
        let mut write = world.store.begin(7).unwrap();
        let facts: Vec<FactId> = gone.map(FactId).collect();
        assert_eq!(write.forget(&[], &facts).unwrap().facts, facts.len() as u64);
        write.commit(Durability::Buffered, 7).unwrap();
        assert_all_right(&world);
    }
}

#[test]
fn a_pack_of_several_heads_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    // Two facts of each of three heads, and many of a fourth.
    let few = (0..3).flat_map(|head| (0..2).map(move |at| (head, 1, 5, 3 + 5 * at)));
    let many = (0..90).map(|at| (3, 1, 5, 3 + 5 * at));
    world.load(&few.chain(many).collect::<Vec<_>>());
    let (snapshot, meter) = (world.store.snapshot(9), crate::meter::Meter::new());
    let (reader, mut edges) = (snapshot.reader().metered(&meter), 0);
    let mut visit = |_| {
        edges += 1;
        Ok(ControlFlow::Continue(()))
    };
    reader.all_edges(Family::Out, Side::Out, &mut visit).unwrap();
    // At most four in each pack: the first has facts of two heads, the second and the last have two facts.
    assert_eq!((edges, meter.counts().seeks), (96, 1 + 25), "the scan and each pack");
}
