//! What is read is counted, kept or not, committed or not; and a gate ends it in time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::families::Family;
use crate::graph::{
    Belief, EdgeFilter, FactId, Intent, Interval, LabelId, NodeId, RelationId, Side, SystemScope,
    VersionRecord,
};
use crate::reader::{EdgeMark, Reader};
use crate::store::Store;

/// Facts of the one node that has some.
const FACTS: u64 = 3_000;
/// What an edge counts as.
const EDGE: u64 = crate::adjacency::COUNTED as u64;
const HUB: NodeId = NodeId(0);
const LABEL: LabelId = LabelId(0);

/// Fact `n` begins at `n` and has confidence 0.9 if `n` is a multiple of 100, else 0.5.
fn version(number: u64) -> VersionRecord {
    let belief = Belief {
        tail: HUB,
        valid: Interval { from: number as i64, to: Interval::MAX },
        confidence: if number.is_multiple_of(100) { 0.9 } else { 0.5 },
        intent: Intent::Fact,
        uncertain: false,
        sources: Vec::new(),
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    };
    let system = Interval { from: 1, to: Interval::MAX };
    VersionRecord { head: HUB, relation: RelationId(0), belief, system, mirror: None }
}

fn filled() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut transaction = store.begin(1).expect("begins");
    transaction.put_node("Hub", "hub", &BTreeMap::new()).expect("puts");
    transaction.relation("knows").expect("interns");
    for number in 0..FACTS {
        let fact = transaction.new_fact().expect("an id");
        assert_eq!(fact, FactId(number));
        transaction.put_record(fact, 0, &version(number)).expect("puts");
    }
    transaction.commit(Durability::Buffered, 1).expect("commits");
    (folder, store)
}

/// How many of the hub's edges are kept, until there are `enough`.
fn edges(reader: Reader<'_>, filter: &EdgeFilter, enough: usize) -> Result<usize> {
    let mut kept = 0;
    reader.edges(HUB, Side::Out, None, filter, &mut |_| {
        kept += 1;
        if kept < enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(kept)
}

fn edge_counts(keys: u64) -> Counts {
    Counts { seeks: 1, keys, bytes: keys * EDGE }
}

#[test]
fn a_scan_counts_what_it_visits() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(2);
    let (meter, sure) = (Meter::new(), EdgeFilter { confidence: 0.8, ..EdgeFilter::CURRENT });
    let reader = snapshot.reader().metered(&meter);
    assert_eq!(edges(reader, &sure, usize::MAX).expect("reads"), 30);
    assert_eq!(meter.counts(), edge_counts(FACTS));
    let before = meter.counts();
    assert_eq!(edges(reader, &EdgeFilter::CURRENT, 10).expect("reads"), 10);
    assert_eq!(meter.counts() - before, edge_counts(10));
    let before = meter.counts();
    edges(snapshot.reader(), &sure, usize::MAX).expect("reads");
    assert_eq!(meter.counts(), before);
}

#[test]
fn a_page_reads_nothing_before_it() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(2);
    let (meter, filter) = (Meter::new(), EdgeFilter::EVERYTHING);
    let reader = snapshot.reader().metered(&meter);
    let mut mark: Option<EdgeMark> = None;
    for page in 1..=5 {
        let after = mark.clone();
        let mut left = 10;
        let visit = &mut |edge| {
            (left, mark) = (left - 1, Some(EdgeMark::of(&edge, Side::In)));
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let read = reader.edges_after(HUB, Side::In, None, &filter, after.as_ref(), visit);
        read.expect("reads");
        assert_eq!((left, meter.counts().seeks, meter.counts().keys), (0, page, 10 * page));
    }
}

#[test]
fn a_look_up_counts() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(2);
    let meter = Meter::new();
    let reader = snapshot.reader().metered(&meter);
    assert_eq!(reader.find_node(LABEL, "nobody").expect("reads"), None);
    assert_eq!(meter.counts(), Counts { seeks: 1, keys: 0, bytes: 0 });
    assert_eq!(reader.find_node(LABEL, "hub").expect("reads"), Some(HUB));
    assert_eq!(meter.counts(), Counts { seeks: 2, keys: 1, bytes: 4 + 3 + 8 + 1 });
    assert!(reader.node(HUB, SystemScope::Current).expect("reads").is_some());
    assert_eq!((meter.counts().seeks, meter.counts().keys), (3, 2));
}

#[test]
fn what_is_not_committed_counts() {
    let (_folder, store) = filled();
    let mut transaction = store.begin(2).expect("begins");
    for number in 0..10 {
        transaction.delete_record(FactId(number), 0, &version(number)).unwrap();
    }
    // One in front of all that is committed, one after.
    for number in [FACTS, FACTS + 1] {
        let mut version = version(number);
        version.belief.valid.from = if number == FACTS { -1 } else { number as i64 };
        let fact = transaction.new_fact().expect("an id");
        transaction.put_record(fact, 0, &version).expect("puts");
    }
    let meter = Meter::new();
    let reader = transaction.reader().metered(&meter);
    let found = edges(reader, &EdgeFilter::CURRENT, usize::MAX).expect("reads");
    assert_eq!(found as u64, FACTS - 10 + 2);
    assert_eq!(meter.counts(), edge_counts(FACTS + 2));
}

#[test]
fn the_gate_ends_a_scan() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(2);
    let meter = Meter::with_gate(Box::new(|counts| counts.keys <= 2_000));
    let reader = snapshot.reader().metered(&meter);
    let read = edges(reader, &EdgeFilter { confidence: 1.0, ..EdgeFilter::CURRENT }, usize::MAX);
    assert!(matches!(read, Err(StorageError::Stopped)));
    assert_eq!(meter.counts().keys, 2_048);
}

#[test]
fn the_gate_ends_look_ups() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(2);
    let meter = Meter::with_gate(Box::new(|_| false));
    let reader = snapshot.reader().metered(&meter);
    let stopped = (1..100).find(|_| reader.find_node(LABEL, "nobody").is_err());
    assert_eq!(stopped, Some(64));
    assert!(reader.find_node(LABEL, "hub").is_ok());
}

#[test]
fn the_gate_ends_a_scan_of_what_is_not_committed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut transaction = store.begin(1).expect("begins");
    for number in 0..FACTS {
        transaction.overlay.delete(Family::Out, number.to_be_bytes());
    }
    let meter = Meter::with_gate(Box::new(|_| false));
    let reader = transaction.reader().metered(&meter);
    let read = reader.all_edges(Family::Out, Side::Out, &mut |_| Ok(ControlFlow::Continue(())));
    assert!(matches!(read, Err(StorageError::Stopped)));
    assert_eq!(meter.counts().keys, 1_024);
}

#[test]
fn the_gate_is_asked_seldom() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(2);
    let asked = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&asked);
    let meter = Meter::with_gate(Box::new(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        true
    }));
    let reader = snapshot.reader().metered(&meter);
    edges(reader, &EdgeFilter::CURRENT, usize::MAX).expect("reads");
    assert_eq!(asked.load(Ordering::Relaxed), FACTS / 1_024);
}
