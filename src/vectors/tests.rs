//! Searches against all scores in order, over random histories.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use engraph_storage::{Durability, Memory, Snapshot, Store, Transaction};
use proptest::prelude::*;

use super::*;

const LABELS: [&str; 2] = ["Note", "Turn"];

struct Database {
    _folder: tempfile::TempDir,
    store: Store,
}

fn database() -> Database {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    Database { _folder: folder, store }
}

fn set(transaction: &mut Transaction<'_>, label: &str, key: &str, vector: &[f32]) -> NodeId {
    let node = transaction.put_node(label, key, &BTreeMap::new()).unwrap();
    transaction.put_vector(node, "model", vector).unwrap();
    node
}

fn write<T>(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
    let mut transaction = store.begin(0).unwrap();
    let done = work(&mut transaction);
    transaction.commit(Durability::Buffered, 0).unwrap();
    done
}

/// What all scores in order give.
fn brute_force(search: &Search<'_>, keeps: &dyn Fn(NodeId) -> bool) -> Vec<(f32, NodeId)> {
    let mut all = Vec::new();
    let labels = match search.labels {
        None => vec![None],
        Some(labels) => labels.iter().copied().map(Some).collect(),
    };
    for label in labels {
        let visit = &mut |node, vector: &[f32]| all.push((dot(search.query, vector), node));
        search.reader.vectors(label, search.system, visit).unwrap();
    }
    all.retain(|(_, node)| keeps(*node));
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    all.truncate(search.top);
    all
}

fn search(indexes: &VectorIndexes, what: &Search<'_>, keeps: &dyn Fn(NodeId) -> bool) -> Found {
    let mut asked = BTreeSet::new();
    let accept = &mut |node, _| {
        assert!(asked.insert(node), "{node:?} is asked about twice");
        Ok(keeps(node))
    };
    let found = indexes.search(what, accept).unwrap();
    assert_eq!(found.nodes, brute_force(what, keeps));
    found
}

#[derive(Clone, Debug)]
enum Step {
    Set { label: usize, key: u8, vector: Vec<f32> },
    SetMany(Vec<(u8, Vec<f32>)>),
    Delete { label: usize, key: u8 },
    Forget { label: usize, key: u8 },
    Hold,
    Release,
    Search { held: Option<usize>, own: bool, ago: Option<i64>, ask: Ask },
}

#[derive(Clone, Debug)]
struct Ask {
    labels: Option<Vec<usize>>,
    query: Vec<f32>,
    top: usize,
    every: u64,
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    // Few values, so that scores tie.
    prop::collection::vec((-3_i8..=3).prop_map(|x| f32::from(x) / 3.0), 3)
}

fn ask() -> impl Strategy<Value = Ask> {
    let labels = prop::option::of(prop::sample::select(vec![vec![0], vec![1], vec![0, 1]]));
    (labels, vector(), 0_usize..6, 1_u64..4).prop_map(|(labels, query, top, every)| Ask {
        labels,
        query,
        top,
        every,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let held = prop::option::of(0_usize..3);
    let ago = prop::option::of(0_i64..30);
    prop_oneof![
        4 => (0_usize..2, 0_u8..12, vector())
            .prop_map(|(label, key, vector)| Step::Set { label, key, vector }),
        1 => prop::collection::vec((0_u8..40, vector()), 1..40).prop_map(Step::SetMany),
        1 => (0_usize..2, 0_u8..12).prop_map(|(label, key)| Step::Delete { label, key }),
        1 => (0_usize..2, 0_u8..12).prop_map(|(label, key)| Step::Forget { label, key }),
        1 => Just(Step::Hold),
        1 => Just(Step::Release),
        6 => (held, prop::bool::weighted(0.1), ago, ask())
            .prop_map(|(held, own, ago, ask)| Step::Search { held, own, ago, ask }),
    ]
}

/// The node with that key, if it is there.
fn node(transaction: &Transaction<'_>, label: usize, key: u8) -> Option<NodeId> {
    let reader = transaction.reader();
    let label = reader.catalog().label(LABELS[label])?;
    reader.find_node(label, &key.to_string()).unwrap()
}

fn run_search(indexes: &VectorIndexes, reader: Reader<'_>, ago: Option<i64>, ask: &Ask) -> Way {
    let labels: Option<Vec<LabelId>> = ask.labels.as_ref().map(|labels| {
        labels.iter().filter_map(|label| reader.catalog().label(LABELS[*label])).collect()
    });
    let system = ago
        .map_or(SystemScope::Current, |ago| SystemScope::AsOf(reader.last_commit().unwrap() - ago));
    let what =
        Search { reader, labels: labels.as_deref(), system, query: &ask.query, top: ask.top };
    search(indexes, &what, &|node| node.0 % ask.every == 0).way
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_state_and_instant_is_answered_exactly(
        steps in prop::collection::vec(step(), 20..80),
    ) {
        let database = database();
        let store = &database.store;
        let indexes = VectorIndexes::new(store.changes());
        let mut held: Vec<Snapshot<'_>> = Vec::new();
        for step in steps {
            match step {
                Step::Set { label, key, vector } => {
                    write(store, |t| set(t, LABELS[label], &key.to_string(), &vector));
                }
                Step::SetMany(many) => write(store, |t| {
                    for (key, vector) in many {
                        set(t, LABELS[0], &key.to_string(), &vector);
                    }
                }),
                Step::Delete { label, key } => write(store, |t| {
                    if let Some(node) = node(t, label, key) {
                        t.delete_vector(node).unwrap();
                    }
                }),
                Step::Forget { label, key } => {
                    // It waits for readers.
                    held.clear();
                    write(store, |t| {
                        if let Some(node) = node(t, label, key) {
                            t.forget(&[node], &[]).unwrap();
                        }
                    });
                }
                Step::Hold => held.push(store.snapshot(0)),
                Step::Release => drop(held.pop()),
                Step::Search { own: true, ago, ask, .. } => {
                    let mut transaction = store.begin(0).unwrap();
                    set(&mut transaction, LABELS[0], "own", &ask.query);
                    let way = run_search(&indexes, transaction.reader(), ago, &ask);
                    prop_assert_eq!(way, Way::Disk);
                }
                Step::Search { held: at, ago, ask, .. } => {
                    match at.and_then(|at| held.get(at)) {
                        Some(snapshot) => {
                            run_search(&indexes, snapshot.reader(), ago, &ask);
                        }
                        None => {
                            let way = run_search(&indexes, store.snapshot(0).reader(), ago, &ask);
                            prop_assert_eq!(way, Way::Scan);
                        }
                    }
                }
            }
        }
    }
}

fn current<'s>(snapshot: &'s Snapshot<'_>, query: &'s [f32], top: usize) -> Search<'s> {
    let reader = snapshot.reader();
    Search { reader, labels: None, system: SystemScope::Current, query, top }
}

#[test]
fn an_index_follows_and_does_not_read_anew() {
    let Database { store, _folder } = database();
    let indexes = VectorIndexes::new(store.changes());
    let a = write(&store, |t| set(t, "Note", "a", &[1.0, 0.0]));
    let old = store.snapshot(0);
    let query = [1.0, 0.0];
    assert_eq!(search(&indexes, &current(&old, &query, 3), &|_| true).nodes, [(1.0, a)]);
    let label = old.reader().catalog().label("Note").unwrap();
    let slot = indexes.slot(label);
    let identity = || Arc::clone(&slot.index.read().as_ref().unwrap().identity);
    let first = identity();
    let b = write(&store, |t| {
        set(t, "Note", "a", &[0.0, 1.0]);
        set(t, "Note", "b", &[0.6, 0.8])
    });
    let new = store.snapshot(0);
    let found = search(&indexes, &current(&new, &query, 3), &|_| true);
    assert_eq!(found, Found { nodes: vec![(0.6, b), (0.0, a)], way: Way::Scan, looked: 3 });
    let found = search(&indexes, &current(&old, &query, 3), &|_| true);
    assert_eq!((found.nodes, found.way), (vec![(1.0, a)], Way::Scan));
    assert!(Arc::ptr_eq(&first, &identity()));
    assert!(slot.index.read().as_ref().unwrap().bytes() > 3 * 32);
}

#[test]
fn what_is_forgotten_is_gone_from_memory() {
    let Database { store, _folder } = database();
    let indexes = VectorIndexes::new(store.changes());
    let nodes = write(&store, |t| ["a", "b"].map(|key| set(t, "Note", key, &[0.6, 0.8])));
    let query = [0.6, 0.8];
    let old = store.snapshot(0);
    assert_eq!(search(&indexes, &current(&old, &query, 3), &|_| true).nodes.len(), 2);
    let label = old.reader().catalog().label("Note").unwrap();
    std::thread::scope(|scope| {
        // It waits for the old reader.
        scope.spawn(|| write(&store, |t| t.forget(&nodes[..1], &[]).unwrap()));
        while store.snapshot(0).reader().find_node(label, "a").unwrap().is_some() {
            std::thread::yield_now();
        }
        let new = store.snapshot(0);
        let found = search(&indexes, &current(&new, &query, 3), &|_| true);
        assert_eq!((found.nodes.len(), found.way), (1, Way::Scan));
        drop(new);
        {
            let slot = indexes.slot(label);
            let held = slot.index.read();
            let index = held.as_ref().unwrap();
            let gone = index.entries.iter().position(|entry| entry.node == NodeId(u64::MAX));
            assert!(index.codes.row(gone.unwrap()).iter().all(|code| *code == 0));
        }
        // It sees what it saw, as every other read of that state does.
        let found = search(&indexes, &current(&old, &query, 3), &|_| true);
        assert_eq!((found.nodes.len(), found.way), (2, Way::Disk));
        drop(old);
    });
}

#[test]
fn other_dimensions_are_an_error() {
    let Database { store, _folder } = database();
    let indexes = VectorIndexes::new(store.changes());
    let a = write(&store, |t| set(t, "Note", "a", &[1.0, 0.0]));
    let snapshot = store.snapshot(0);
    let fails = |what: &Search<'_>| {
        indexes.search(what, &mut |_, _| Ok(true)).expect_err("does not fit").to_string()
    };
    let said = fails(&current(&snapshot, &[1.0], 1));
    assert!(said.contains("the query has 1 dimensions, and an embedding 2"), "{said}");
    assert!(said.contains("engraph embed"), "{said}");
    assert!(fails(&current(&snapshot, &[f32::NAN, 0.0], 1)).contains("not finite"));
    let before = Search { system: SystemScope::AsOf(-5), ..current(&snapshot, &[1.0], 1) };
    assert_eq!(indexes.search(&before, &mut |_, _| Ok(true)).unwrap().nodes, []);

    let found = indexes.search(&current(&snapshot, &[1.0, 0.0], 1), &mut |_, _| Ok(true)).unwrap();
    assert_eq!(found.nodes, [(1.0, a)]);
}

#[test]
fn another_model_is_told() {
    let Database { store, _folder } = database();
    write(&store, |t| set(t, "Note", "a", &[1.0, 0.0]));
    let snapshot = store.snapshot(0);
    assert!(check_model(snapshot.reader(), "model").is_ok());
    let said = check_model(snapshot.reader(), "other").expect_err("is another").to_string();
    assert!(said.contains("made by model, and the query by other"), "{said}");
    assert!(said.contains("engraph embed"), "{said}");
}

#[test]
fn an_error_of_the_filter_is_given_on() {
    let Database { store, _folder } = database();
    let indexes = VectorIndexes::new(store.changes());
    write(&store, |t| set(t, "Note", "a", &[1.0, 0.0]));
    let snapshot = store.snapshot(0);
    let accept = &mut |_, _| Err(Error::Interrupted);
    let error = indexes.search(&current(&snapshot, &[1.0, 0.0], 1), accept).expect_err("fails");
    assert!(matches!(error, Error::Interrupted));
}

#[test]
fn readers_search_while_a_writer_commits() {
    let Database { store, _folder } = database();
    let indexes = VectorIndexes::with_graphs_from(store.changes(), 8);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..3_u8 {
            let (store, indexes, done) = (&store, &indexes, &done);
            scope.spawn(move || {
                let query = unit(f32::from(reader));
                while !done.load(Ordering::Relaxed) {
                    let snapshot = store.snapshot(0);
                    let what = current(&snapshot, &query, 4);
                    search(indexes, &what, &|node| node.0 % 3 != u64::from(reader));
                }
            });
        }
        for round in 0..150_u8 {
            let key = (round % 40).to_string();
            write(&store, |t| set(t, "Note", &key, &unit(f32::from(round) * 0.7)));
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn unit(angle: f32) -> Vec<f32> {
    vec![angle.cos(), angle.sin()]
}

/// A walk of so small a graph looks at nearly all of it: what it finds is exact.
#[test]
fn a_graph_is_built_behind_the_searches_and_goes_on_with_them() {
    let Database { store, _folder } = database();
    let indexes = VectorIndexes::with_graphs_from(store.changes(), 64);
    let add = |from: u16, to: u16| {
        write(&store, |t| {
            for key in from..to {
                set(t, "Note", &key.to_string(), &unit(f32::from(key) * 0.01));
            }
        });
    };
    add(0, 300);
    let query = unit(0.5);
    let way_of = |every: u64| {
        let snapshot = store.snapshot(0);
        let keeps = |node: NodeId| node.0.is_multiple_of(every);
        let found = search(&indexes, &current(&snapshot, &query, 5), &keeps);
        indexes.builder.wait();
        found.way
    };
    assert_eq!(way_of(1), Way::Scan, "it is not ready yet");
    let snapshot = store.snapshot(0);
    let label = snapshot.reader().catalog().label("Note").unwrap();
    let slot = indexes.slot(label);
    let graph = || slot.index.read().as_ref().unwrap().graph.as_ref().map(|graph| graph.len());
    assert_eq!(graph(), Some(300));
    add(300, 310);
    assert_eq!(way_of(1), Way::Graph);
    assert_eq!(graph(), Some(300), "so few are scanned beside the graph");
    assert_eq!(way_of(10), Way::Graph, "a second walk takes more than the first");
    assert_eq!(way_of(50), Way::Scan, "a walk finds too few that are kept");
    write(&store, |t| set(t, "Note", "50", &unit(3.0)));
    assert_eq!(way_of(1), Way::Graph, "what stands no longer is walked through");
    add(310, 400);
    way_of(1);
    assert_eq!(graph(), Some(401));
}
