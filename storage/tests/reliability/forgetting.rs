//! Row S1_kill: a process that forgets is killed, also while the bytes leave the files. What it said
//! it has forgotten is gone, from every read, the log and the list of tables; the rest is whole. And a disk
//! without room for a purge does not keep a database from being opened.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use engraph_storage::graph::{Belief, Intent, Interval, SystemScope, Value};
use engraph_storage::{Durability, Memory, Store};

use crate::child::{self, Child, PATIENCE, rest, say};
use crate::folder;
use crate::lane::{Row, count, scratch};
use crate::rng::Rng;
use crate::shim;
use crate::workload::{Sizes, Workload};

const FOLDER: &str = "ENGRAPH_FORGETTING_FOLDER";
/// Cycles on one folder.
const CYCLES_OF_FOLDER: u64 = 8;

/// A key with letters of its own, as far as the files tell it from others.
pub(crate) fn mark(n: u64) -> String {
    let mut rng = Rng::new(n);
    (0..24).map(|_| char::from(b'a' + (rng.next() % 26) as u8)).collect()
}

#[test]
fn killed_while_it_forgets() {
    let mut row = Row::begin("S1_kill");
    let mut rng = Rng::new(row.seed);
    let (cycles, mut forgotten, mut failures) = (count(24, 1_000), 0, Vec::new());
    let mut folder = scratch();
    for cycle in 0..cycles {
        if cycle % CYCLES_OF_FOLDER == 0 {
            folder = scratch();
        }
        let path = folder.path().join("db");
        let said = run_and_kill(&path, Duration::from_millis(rng.next() % 1_200));
        forgotten += said.len();
        failures
            .extend(audit(&path, &said).into_iter().map(|what| format!("cycle {cycle}: {what}")));
    }
    row.figure("cycles", cycles).figure("forgotten", forgotten);
    if forgotten == 0 {
        failures.push("nothing was forgotten in time".to_owned());
    }
    row.end(&failures);
}

/// Runs the child for so long, and gives the marks that it said it has forgotten.
fn run_and_kill(path: &Path, time: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("a test knows its binary"))
        .args(["--exact", "forgetting::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    std::thread::sleep(time);
    child.kill().expect("is killed");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let said = lines.map_while(Result::ok);
    let said = said.filter_map(|line| line.strip_prefix("forgot ").map(str::to_owned)).collect();
    child.wait().expect("has ended");
    said
}

/// What is wrong in the database, which is opened and so finishes what was interrupted.
fn audit(path: &Path, said: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let store = match Store::open(path, Memory::default()) {
        Ok(store) => store,
        Err(error) => return vec![error.to_string()],
    };
    let checked = store.check(&mut |violation| wrong.push(violation.to_string()), &mut |_| {});
    checked.expect("checks");
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    if let Some(label) = reader.catalog().label("Subject") {
        for mark in said {
            if reader.find_node(label, mark).expect("reads").is_some() {
                wrong.push(format!("{mark} is still there"));
            }
        }
    }
    drop(snapshot);
    drop(store);
    for entry in std::fs::read_dir(path).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Tables are compressed; a unit test looks into tables that are not.
        if name.ends_with(".log") || name.starts_with("MANIFEST") || name.starts_with("LOG") {
            let bytes = std::fs::read(entry.path()).expect("reads");
            for mark in said {
                if bytes.windows(mark.len()).any(|window| window == mark.as_bytes()) {
                    wrong.push(format!("{mark} is in {name}"));
                }
            }
        }
    }
    wrong
}

/// The process that is killed; does nothing unless it is asked to.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let store = Store::open(Path::new(&folder), Memory::default()).expect("opens");
    loop {
        // The next node's id, which no earlier process has used.
        let mut transaction = store.begin(0).expect("begins");
        let number = transaction.put_node("Counter", "n", &BTreeMap::new()).expect("puts");
        let known = transaction.reader().node(number, SystemScope::Current).expect("reads");
        let property = transaction.property("n").expect("a name");
        let next = match known.and_then(|node| node.properties.get(&property).cloned()) {
            Some(Value::Int(n)) => n + 1,
            _ => 0,
        };
        let counted = BTreeMap::from([("n".to_owned(), Value::Int(next))]);
        transaction.put_node("Counter", "n", &counted).expect("counts");
        let mark = mark(next.cast_unsigned());
        let text = BTreeMap::from([("text".to_owned(), Value::String(mark.clone()))]);
        let subject = transaction.put_node("Subject", &mark, &text).expect("puts");
        let relation = transaction.relation("tells").expect("a relation");
        let belief = Belief {
            tail: number,
            valid: Interval::ALL,
            confidence: 1.0,
            intent: Intent::Fact,
            uncertain: false,
            sources: vec![mark.clone()],
            properties: BTreeMap::new(),
            evidence: Vec::new(),
        };
        transaction.assert_fact(subject, relation, &belief).expect("asserts");
        transaction.commit(Durability::Sync, 0).expect("commits");
        let mut transaction = store.begin(0).expect("begins");
        transaction.forget(&[subject], &[]).expect("forgets");
        transaction.commit(Durability::Sync, 0).expect("commits");
        println!("\nforgot {mark}");
    }
}

/// What a child does: opens, says whether the purge that was left is done, and writes.
pub(crate) fn purge_job() {
    match folder::open(&child::folder()) {
        Ok(store) => {
            say(store
                .not_purged()
                .map_or("purged".to_owned(), |reason| format!("unpurged {reason}"))
                .as_str());
            let mut transaction = store.begin(0).expect("begins");
            transaction.put_node("Subject", "small", &BTreeMap::new()).expect("puts");
            say(&match transaction.commit(Durability::Sync, 0) {
                Ok(_) => "written".to_owned(),
                Err(error) => format!("unwritten {error}"),
            });
        }
        Err(error) => say(&format!("unopened {error}")),
    }
}

#[test]
fn a_database_without_room_for_a_purge_opens_and_purges_later() {
    let root = scratch();
    let path = root.path().join("db");
    let subject = {
        let store = folder::open(&path).expect("opens");
        let mut rng = Rng::new(7);
        let mut transaction = store.begin(0).expect("begins");
        let mut nodes = (0..64).map(|n| {
            let text: String =
                (0..96 << 10).map(|_| char::from(b'0' + (rng.next() % 64) as u8)).collect();
            let text = BTreeMap::from([("text".to_owned(), Value::String(text))]);
            transaction.put_node("Subject", &n.to_string(), &text).expect("puts")
        });
        let first = nodes.next().expect("there are 64");
        assert_eq!(nodes.count(), 63);
        transaction.commit(Durability::Sync, 0).expect("commits");
        let reading = store.snapshot(0);
        let mut transaction = store.begin(0).expect("begins");
        transaction.forget(&[first], &[]).expect("forgets");
        transaction.commit(Durability::Sync, 0).expect_err("somebody reads it yet");
        drop(reading);
        first
    };
    let settings = |budget: u64| {
        let workload = Workload { seed: 0, sizes: Sizes::Small };
        let mut settings = child::settings(&path, &workload);
        settings.extend(shim::settings(&path));
        settings.push(("ENGRAPH_SHIM_BUDGET", budget.to_string()));
        settings
    };
    let said = |budget: u64| {
        let ended = Child::start("purge", &settings(budget)).finish(PATIENCE);
        ended.map(|ended| ended.lines).unwrap_or_else(|ended| panic!("{}", ended.story()))
    };
    let lines = said(1 << 20);
    assert!(lines.iter().any(|line| rest(line, "unpurged").is_some()), "{lines:?}");
    let lines = said(1 << 30);
    assert!(lines.iter().any(|line| line == "purged"), "{lines:?}");
    assert!(lines.iter().any(|line| line == "written"), "{lines:?}");
    let store = folder::open(&path).expect("opens");
    let node = store.snapshot(0).reader().node(subject, SystemScope::Current).expect("reads");
    assert_eq!(node, None);
}
