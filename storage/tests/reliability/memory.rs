//! Memory, open files and log files of a process that loads and reads (part of D12): bounded by
//! what `Memory` says and not by what the database holds.
//!
//! It runs in a process of its own, so that nothing else is counted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use engraph_storage::graph::{
    Belief, EdgeFilter, Intent, Interval, NodeId, Side, SystemScope, ValidScope, Value,
};
use engraph_storage::{Durability, Memory, Store};

use crate::lane::{Row, count, scratch};
use crate::rng::Rng;

const FOLDER: &str = "ENGRAPH_MEMORY_FOLDER";
const FACTS: &str = "ENGRAPH_MEMORY_FACTS";
/// Facts of one commit.
const BATCH: u64 = 1_000;
/// Reads after each commit.
const READS: u64 = 200;
/// Nodes among which the facts are.
const NODES: usize = 50_000;
/// What the process may hold at its worst.
const RESIDENT_MAX: u64 = 512 << 20;
/// What it may have open: the tables' files, the log, and what every process has.
const FILES_MAX: u64 = 320;

#[test]
fn memory_is_bounded() {
    let mut row = Row::begin("D12_memory");
    let facts = count(60_000, 1_000_000);
    let folder = scratch();
    let output = Command::new(std::env::current_exe().expect("a test knows its binary"))
        .args(["--exact", "memory::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path().join("db"))
        .env(FACTS, facts.to_string())
        .env("ENGRAPH_SEED", row.seed.to_string())
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let figure = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|number| number.trim().parse().ok()).unwrap_or(u64::MAX)
    };
    let (resident, files, logs) = (figure("resident "), figure("files "), figure("logs "));
    row.figure("facts", facts).figure("resident_mib", resident >> 20);
    row.figure("files", files).figure("info_logs", logs);
    let mut failures = Vec::new();
    if resident > RESIDENT_MAX || files > FILES_MAX || logs > 0 {
        failures.push(format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    }
    row.end(&failures);
}

/// The process that is measured; does nothing unless it is asked to.
#[test]
fn child() {
    let (Ok(folder), Ok(facts)) = (std::env::var(FOLDER), std::env::var(FACTS)) else { return };
    let seed = std::env::var("ENGRAPH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let path = Path::new(&folder);
    let store = Store::open(path, Memory::default()).expect("opens");
    let mut rng = Rng::new(seed);
    let nodes = make_nodes(&store);
    let facts: u64 = facts.parse().expect("a number");
    for batch in 0..facts / BATCH {
        write(&store, &nodes, &mut rng, batch);
        read(&store, &nodes, &mut rng);
    }
    let names = std::fs::read_dir(path).expect("a folder").flatten().map(|file| file.file_name());
    let logs = names.filter(|name| name.to_string_lossy().starts_with("LOG")).count();
    println!("\nresident {}", resident());
    println!("files {}", std::fs::read_dir("/proc/self/fd").expect("a folder").count());
    println!("logs {logs}");
}

fn make_nodes(store: &Store) -> Vec<NodeId> {
    let mut transaction = store.begin(0).expect("begins");
    let text = Value::String("some text that a turn might have, of no great length".to_owned());
    let properties = BTreeMap::from([("text".to_owned(), text)]);
    let nodes =
        (0..NODES).map(|n| transaction.put_node("Thing", &format!("thing {n}"), &properties));
    let nodes = nodes.collect::<Result<_, _>>().expect("puts");
    transaction.commit(Durability::Buffered, 0).expect("commits");
    nodes
}

fn write(store: &Store, nodes: &[NodeId], rng: &mut Rng, batch: u64) {
    let mut transaction = store.begin(0).expect("begins");
    for n in 0..BATCH {
        let relation = transaction.relation(&format!("relation{}", n % 10)).expect("a relation");
        let pick = |rng: &mut Rng| nodes[(rng.next() % nodes.len() as u64) as usize];
        let (head, from) = (pick(rng), (rng.next() % 1_000_000) as i64);
        let belief = Belief {
            tail: pick(rng),
            valid: Interval { from, to: Interval::MAX },
            confidence: 0.9,
            intent: Intent::Fact,
            uncertain: false,
            sources: vec![format!("D{batch}:{n}")],
            properties: BTreeMap::new(),
            evidence: Vec::new(),
        };
        let asserted = transaction.assert_fact(head, relation, &belief).expect("asserts");
        if n % 20 == 0 {
            transaction.retract(asserted.fact).expect("retracts");
        }
    }
    transaction.commit(Durability::Buffered, 0).expect("commits");
}

fn read(store: &Store, nodes: &[NodeId], rng: &mut Rng) {
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    for _ in 0..READS {
        let node = nodes[(rng.next() % nodes.len() as u64) as usize];
        let system = [SystemScope::Current, SystemScope::All][(rng.next() % 2) as usize];
        let filter = EdgeFilter { valid: ValidScope::All, system, confidence: 0.0, intent: None };
        for side in [Side::Out, Side::In] {
            let mut last = None;
            let each = &mut |edge| {
                last = Some(edge);
                ControlFlow::Continue(())
            };
            reader.edges(node, side, None, &filter, each).expect("reads");
            if let Some(edge) = last {
                reader.version(edge.fact, edge.version).expect("is there");
            }
        }
        reader.node(node, system).expect("reads").expect("is there");
    }
}

/// The most memory that the process had at any time, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("reads");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("is told");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib << 10
}
