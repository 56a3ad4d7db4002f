//! The update rule by itself, writes up to the commit, and reads of the disk and of what is kept.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput};
use engraph_storage::graph::{
    Belief, Cardinality, EdgeFilter, FactId, Intent, Interval, NodeId, RelationId, RelationRule,
    Side, SystemScope,
};
use engraph_storage::update::{Act, Held, resolve};
use engraph_storage::{BulkFact, Durability, Memory, Store};

use super::{Result, draw};

/// Nodes of the graph; each has `FACTS` facts, the first one `HUB_FACTS` more.
const NODES: u64 = 2_000;
const FACTS: u64 = 10;
const HUB_FACTS: u64 = 1_000;
const DAY: i64 = 86_400_000_000;

pub(crate) fn run(criterion: &mut Criterion) -> Result<()> {
    rule(criterion);
    writes(criterion)?;
    let folder = tempfile::tempdir()?;
    let (nodes, relation) = fill(folder.path())?;
    for (name, reads) in [("of the disk's cache", 0), ("of what is kept", 64 << 20)] {
        let memory = Memory { reads, ..Memory::default() };
        let store = Store::open(folder.path(), memory)?;
        self::reads(criterion, &store, name, (&nodes, relation))?;
    }
    Ok(())
}

fn belief(tail: NodeId, from: i64) -> Belief {
    Belief {
        tail,
        valid: Interval { from, to: Interval::MAX },
        confidence: 0.9,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec!["bench".to_owned()],
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

/// A value that closes the last one of so many.
fn rule(criterion: &mut Criterion) {
    let rule = RelationRule { cardinality: Cardinality::One, ..RelationRule::default() };
    for count in [1_u64, 100] {
        let held: Vec<Held> = (0..count)
            .map(|fact| {
                let mut belief = belief(NodeId(fact), fact as i64 * DAY);
                if fact + 1 < count {
                    belief.valid.to = (fact as i64 + 1) * DAY;
                }
                Held { fact: FactId(fact), same: false, belief }
            })
            .collect();
        let act = Act::Assert(belief(NodeId(count), count as i64 * DAY));
        criterion.bench_function(&format!("storage, update rule, {count} held"), |bench| {
            bench.iter(|| resolve(black_box(&act), black_box(&held), &rule));
        });
    }
}

fn writes(criterion: &mut Criterion) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (nodes, relation) = fill(folder.path())?;
    let store = Store::open(folder.path(), Memory::default())?;
    let mut group = criterion.benchmark_group("storage, 100 facts");
    group.throughput(Throughput::Elements(100));
    let assert = |round: u64| -> engraph_storage::Result<()> {
        let mut write = store.begin(2)?;
        for fact in 0..100 {
            let at = |salt| nodes[(draw(round * 1_000 + fact * 2 + salt) % NODES) as usize];
            write.assert_fact(at(0), relation, &belief(at(1), DAY))?;
        }
        write.commit(Durability::Buffered, 2)
    };
    let mut round = 0;
    group.bench_function("asserted and committed", |bench| {
        bench.iter(|| {
            round += 1;
            assert(round)
        });
    });
    group.finish();
    let sources: Vec<String> = (0..20_000).map(|place| format!("bench:{place}")).collect();
    let load = |store: &Store| {
        let mut load = store.begin_load()?;
        for (place, source) in (0..).zip(&sources) {
            load.add(place, bulk_fact(place, &nodes, relation, source))?;
        }
        load.finish(2, &mut |_, _| ()).map(|loaded| loaded.stored)
    };
    let mut group = criterion.benchmark_group("storage, 20,000 facts");
    group.throughput(Throughput::Elements(20_000)).sample_size(10);
    let empty = || {
        let folder = tempfile::tempdir().ok()?;
        fill_nodes(folder.path()).ok()?;
        Some((Store::open(folder.path(), Memory::default()).ok()?, folder))
    };
    group.bench_function("loaded", |bench| {
        let load = |store: Option<(Store, tempfile::TempDir)>| {
            let loaded = store.as_ref().map(|(store, _)| load(store));
            assert!(matches!(loaded, Some(Ok(20_000))), "not all were loaded: {loaded:?}");
            store
        };
        bench.iter_batched(empty, load, BatchSize::PerIteration);
    });
    group.finish();
    Ok(())
}

fn bulk_fact<'s>(
    place: u64,
    nodes: &[NodeId],
    relation: RelationId,
    source: &'s str,
) -> BulkFact<'s> {
    let from = place as i64;
    // Each tail is new to its head.
    let (head, tail) = (place % NODES, (place + 1 + place / NODES) % NODES);
    BulkFact {
        head: nodes[head as usize],
        relation,
        tail: nodes[tail as usize],
        valid: Interval { from, to: Interval::MAX },
        confidence: 0.9,
        intent: Intent::Fact,
        source,
    }
}

fn fill_nodes(folder: &Path) -> Result<(Vec<NodeId>, RelationId)> {
    let store = Store::open(folder, Memory::default())?;
    let mut write = store.begin(1)?;
    let relation = write.relation("knows")?;
    let nodes = (0..NODES)
        .map(|key| write.put_node("Person", &format!("p{key}"), &BTreeMap::new()))
        .collect::<engraph_storage::Result<Vec<NodeId>>>()?;
    write.commit(Durability::Buffered, 1)?;
    Ok((nodes, relation))
}

fn fill(folder: &Path) -> Result<(Vec<NodeId>, RelationId)> {
    let (nodes, relation) = fill_nodes(folder)?;
    let store = Store::open(folder, Memory::default())?;
    let hub = (0..HUB_FACTS).map(|fact| (0, 1 + fact % (NODES - 1), fact));
    let others = (0..NODES * FACTS).map(|fact| (fact / FACTS, draw(fact) % NODES, fact));
    let facts: Vec<(u64, u64, u64)> = hub.chain(others).collect();
    for facts in facts.chunks(5_000) {
        let mut write = store.begin(1)?;
        for (head, tail, from) in facts {
            let belief = belief(nodes[*tail as usize], *from as i64 * DAY);
            write.assert_fact(nodes[*head as usize], relation, &belief)?;
        }
        write.commit(Durability::Buffered, 1)?;
    }
    Ok((nodes, relation))
}

fn reads(
    criterion: &mut Criterion,
    store: &Store,
    name: &str,
    (nodes, relation): (&[NodeId], RelationId),
) -> Result<()> {
    let snapshot = store.snapshot(3);
    let reader = snapshot.reader();
    let mut next = 0;
    let mut node = || {
        next += 1;
        nodes[(1 + draw(next) % (NODES - 1)) as usize]
    };
    criterion.bench_function(&format!("storage, a node's facts {name}"), |bench| {
        bench.iter(|| count(&reader, node(), relation));
    });
    criterion.bench_function(&format!("storage, the hub's facts {name}"), |bench| {
        bench.iter(|| count(&reader, nodes[0], relation));
    });
    criterion.bench_function(&format!("storage, a node {name}"), |bench| {
        bench.iter(|| reader.node(node(), SystemScope::Current));
    });
    if name.ends_with("cache") {
        let mut fact = 0;
        criterion.bench_function("storage, a version, read and decoded", |bench| {
            bench.iter(|| {
                fact += 1;
                reader.version(FactId(draw(fact) % NODES), 0)
            });
        });
    }
    Ok(())
}

fn count(
    reader: &engraph_storage::Reader<'_>,
    node: NodeId,
    relation: RelationId,
) -> engraph_storage::Result<usize> {
    let mut count = 0;
    reader.edges(node, Side::Out, Some(relation), &EdgeFilter::CURRENT, &mut |_| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
