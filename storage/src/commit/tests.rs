//! Writers that come at once take turns, wait for the disk together, and lose nothing.

use std::collections::BTreeMap;

use super::*;
use crate::engine::Memory;
use crate::graph::{SystemScope, Value};
use crate::store::Store;

const WRITERS: usize = 8;
const COMMITS: usize = 25;

fn counted(n: i64) -> BTreeMap<String, Value> {
    BTreeMap::from([("n".to_owned(), Value::Int(n))])
}

#[test]
fn writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                for n in 0..COMMITS {
                    let mut transaction = store.begin(0).expect("begins");
                    let key = format!("{writer}:{n}");
                    transaction.put_node("N", &key, &counted(n as i64)).expect("puts");
                    transaction.commit(Durability::Sync, 0).expect("commits");
                    let log = store.commits.log.lock();
                    assert!(log.synced <= log.written, "no more than there is");
                }
            });
        }
    });
    let log = store.commits.log.lock();
    let commits = (WRITERS * COMMITS) as u64;
    assert_eq!((log.written, log.synced), (commits + 1, commits + 1));
    drop(log);
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let label = reader.catalog().label("N").expect("a label");
    let mut nodes = 0;
    reader
        .nodes_of_label(label, None, &mut |_, _| {
            nodes += 1;
            std::ops::ControlFlow::Continue(())
        })
        .expect("reads");
    assert_eq!(nodes, WRITERS * COMMITS);
}

/// The clock on the wall stands still, goes back, jumps ahead: commits and what readers are told go
/// on in order, also after a restart.
#[test]
fn system_time_only_grows() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut before = Interval::MIN;
    for (round, walls) in [[50, 50, 20], [-900, 10, 5_000], [4_000, -1, 0]].iter().enumerate() {
        let store = Store::open(folder.path(), Memory::default()).expect("opens");
        for (n, wall) in walls.iter().enumerate() {
            let told = store.snapshot(*wall).reader().now();
            assert!(told >= before, "a reader is told {told} behind {before}");
            let mut transaction = store.begin(*wall).expect("begins");
            let node =
                transaction.put_node("N", "n", &counted((round * 10 + n) as i64)).expect("puts");
            transaction.commit(Durability::Buffered, *wall).expect("commits");
            let snapshot = store.snapshot(*wall);
            let record = snapshot.reader().node(node, SystemScope::Current);
            let from = record.expect("reads").expect("is there").system_from;
            assert!(from > told && from > before, "a commit at {from}, behind {told}");
            before = from;
        }
    }
}

#[test]
fn a_poisoned_store_writes_nothing_and_reads_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut transaction = store.begin(0).expect("begins");
    transaction.put_node("N", "n", &counted(1)).expect("puts");
    transaction.commit(Durability::Sync, 0).expect("commits");
    store.commits.poison();
    assert!(matches!(store.begin(0).err(), Some(StorageError::Poisoned)));
    assert!(matches!(store.commits.sync(&store.engine, 99), Err(StorageError::Poisoned)));
    assert!(store.snapshot(0).reader().catalog().label("N").is_some());
}
