//! L1: loads of many facts are killed, or the machine stops under them.
//!
//! A load that returned is there, at most the one that was under way is there as well, and no part of
//! one ever is. Each load gives each head a home, which ends the one before, and a thing of its own.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engraph_storage::graph::{
    Cardinality, EdgeFilter, Intent, Interval, NodeId, RelationRule, Side, Time,
};
use engraph_storage::{BulkFact, Durability, StorageError, Store};

use crate::audit::{self, Finding};
use crate::child::{self, Child, PATIENCE, say};
use crate::folder;
use crate::kill::misbehaved;
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::shim::{self, Journal, Tail};

/// Two facts for each of them are enough for a load to be one.
const HEADS: u64 = 2_100;
/// Deaths of one folder.
const LIFE_SPAN: u64 = 4;
/// The longest that a child loads before it is killed.
const WORK_MICROS_MAX: u64 = 400_000;
/// And after it said that its tables are written, or a load returned.
const END_MICROS_MAX: u64 = 10_000;

/// One head of so many is looked at by a reader that has to be quick.
const HEADS_OF_A_READER: usize = 50;

const HOME: &str = "home";
const OWNS: &str = "owns";

/// A database with its nodes and relations, before the first load.
fn begin(path: &Path) {
    let store = folder::open(path).expect("a new folder");
    let mut begin = store.begin(1).expect("nobody else writes");
    for head in 0..HEADS {
        begin.put_node("N", &head.to_string(), &Default::default()).expect("can be stored");
    }
    begin.relation(OWNS).expect("can be stored");
    let one = RelationRule { cardinality: Cardinality::One, ..RelationRule::default() };
    begin.define_relation(HOME, one).expect("can be stored");
    begin.commit(Durability::Sync, 1).expect("a whole disk can be written");
}

/// The load of that number, from 1 on.
fn load(store: &Store, number: u64) -> engraph_storage::Result<u64> {
    let snapshot = store.snapshot(1);
    let catalog = snapshot.reader().shared_catalog().clone();
    drop(snapshot);
    let mut load = store.begin_load()?;
    let mut place = 0;
    for head in 0..HEADS {
        for name in [HOME, OWNS] {
            let fact = BulkFact {
                head: NodeId(head),
                relation: catalog.relation(name).expect("was defined"),
                tail: NodeId((head + number) % HEADS),
                valid: Interval { from: number as Time, to: Interval::MAX },
                confidence: 0.9,
                intent: Intent::Fact,
                source: "load",
            };
            load.add(place, fact)?;
            place += 1;
        }
    }
    let told = &mut |done, parts| {
        if done == parts {
            say("staged");
        }
    };
    load.finish(1, told).map(|loaded| loaded.stored)
}

/// How many loads there are, if each is there as a whole; one head of so many is looked at.
fn count(store: &Store, of: usize) -> Result<u64, String> {
    let snapshot = store.snapshot(1);
    let reader = snapshot.reader();
    let mut loads = None;
    for head in (0..HEADS).step_by(of) {
        for name in [HOME, OWNS] {
            let relation = reader.catalog().relation(name);
            let (mut facts, mut open) = (0, 0);
            let visit = &mut |edge: engraph_storage::graph::Edge| {
                facts += 1;
                open += u64::from(edge.valid.to == Interval::MAX);
                ControlFlow::Continue(())
            };
            let node = NodeId(head);
            let read = reader.edges(node, Side::Out, relation, &EdgeFilter::CURRENT, visit);
            read.map_err(|error| Finding::from(error).line())?;
            let expected = if name == HOME { facts.min(1) } else { facts };
            if open != expected || *loads.get_or_insert(facts) != facts {
                return Err(format!("half: {head} has {facts} facts {name}, {open} of them open"));
            }
        }
    }
    Ok(loads.unwrap_or(0))
}

/// What a child does: loads on and on.
pub(crate) fn job() {
    say("opening");
    let opened = folder::open(&child::folder()).map_err(|error| Finding::from(error).line());
    let (store, last) = match opened.and_then(|store| Ok((count(&store, 1)?, store))) {
        Ok((last, store)) => (store, last),
        Err(line) => return say(&format!("unready {line}")),
    };
    say(&format!("ready {last}"));
    for number in last + 1.. {
        match load(&store, number) {
            Ok(stored) if stored == 2 * HEADS => say(&format!("ack {number}")),
            Ok(stored) => return say(&format!("failed {number} stored {stored}")),
            Err(error) => {
                return say(&format!("failed {number} {}", audit::one_line(&error)));
            }
        }
    }
}

/// What a child does: looks at all of it.
pub(crate) fn look() {
    let found = folder::open(&child::folder()).map_err(|error| Finding::from(error).line());
    let found = found.and_then(|store| {
        let mut violations = Vec::new();
        store
            .check(&mut |violation| violations.push(format!("{violation:?}")), &mut |_| {})
            .map_err(|error| Finding::from(error).line())?;
        match violations.first() {
            Some(first) => Err(format!("violations {}: {first}", violations.len())),
            None => count(&store, 1),
        }
    });
    say(&match found {
        Ok(last) => format!("found {last}"),
        Err(line) => format!("found {line}"),
    });
}

/// A folder that lives through some deaths.
struct Life {
    root: tempfile::TempDir,
    database: PathBuf,
    acked: u64,
}

#[derive(Default)]
struct Tally {
    acked: u64,
    finished_at_open: u64,
    names: u64,
    bytes: u64,
    failures: Vec<String>,
}

impl Tally {
    /// One death; false if the database is beyond use.
    fn end(&mut self, life: &mut Life, power: bool, rng: &mut Rng) -> bool {
        let journal = Journal::begin(&life.root.path().join("journal"), &life.database);
        let mut settings = vec![("ENGRAPH_CHILD_FOLDER", life.database.display().to_string())];
        if power {
            settings.extend(shim::settings(life.root.path()));
            settings.extend(journal.settings());
        }
        let mut child = Child::start("load", &settings);
        let ready = child.wait_for(&["ready", "unready"], PATIENCE).is_some();
        // Most of the time goes into the tables; what matters most is what comes after them.
        let word = *rng.pick(&["ready", "staged", "staged", "ack"]);
        if word != "ready" {
            child.wait_for(&[word, "failed"], PATIENCE);
        }
        let most = if word == "ready" { WORK_MICROS_MAX } else { END_MICROS_MAX };
        std::thread::sleep(Duration::from_micros(rng.below(most)));
        let ended = child.kill();
        self.failures.extend(misbehaved(&ended));
        if !ready {
            self.failures.push(format!("the open hangs for {PATIENCE:?}"));
        }
        if let Some(last) = ended.last("ready") {
            self.note(life, last);
        }
        if let Some(last) = ended.last("ack") {
            self.acked += ended.count("ack");
            life.acked = last;
        }
        if power {
            let damage = journal.lose_power(*rng.pick(&Tail::ALL), rng);
            self.names += damage.names;
            self.bytes += damage.bytes;
        }
        if life.database.join("bulk").exists() {
            self.finished_at_open += 1;
        }
        match child::told(Child::start("loaded", &settings[..1])) {
            Ok(last) => self.note(life, last),
            Err(line) => {
                self.failures.push(format!("behind load {}: {line}", life.acked));
                return false;
            }
        }
        true
    }

    fn note(&mut self, life: &mut Life, last: u64) {
        if last < life.acked || last > life.acked + 1 {
            self.failures.push(format!("{last} loads are there, and {} returned", life.acked));
        }
        life.acked = last;
    }
}

#[test]
fn loads_are_whole() {
    let mut row = Row::begin("L1");
    let mut rng = Rng::new(row.seed);
    let count = lane::count(16, 1_000);
    let mut tally = Tally::default();
    let (mut life, mut left) = (None::<Life>, 0);
    for cycle in 0..count {
        if left == 0 {
            let root = lane::scratch();
            let database = root.path().join("db");
            begin(&database);
            (life, left) = (Some(Life { root, database, acked: 0 }), LIFE_SPAN);
        }
        left -= 1;
        let alive = life.as_mut().expect("one was begun");
        if !tally.end(alive, cycle % 4 != 0, &mut rng) {
            left = 0;
        }
    }
    row.figure("cycles", count).figure("acked", tally.acked);
    row.figure("under_way", tally.finished_at_open);
    row.figure("names_undone", tally.names).figure("bytes_lost", tally.bytes);
    let mut failures = tally.failures;
    if tally.acked == 0 || tally.finished_at_open == 0 {
        failures.push("no load was cut off, or none returned".to_owned());
    }
    row.end(&failures);
}

/// Readers come and go beside a writer that loads on and on: each sees as many loads as the last commit
/// that it knows, and none before those that had returned when it came.
#[test]
fn readers_beside_loads() {
    let mut row = Row::begin("L1_readers");
    let readers = lane::count(400, 10_000);
    let root = lane::scratch();
    let path = root.path().join("db");
    begin(&path);
    let first = last_commit(&folder::open_read_only(&path).expect("nobody writes"));
    let mut writer = Child::start("load", &[("ENGRAPH_CHILD_FOLDER", path.display().to_string())]);
    let mut failures = Vec::new();
    if writer.wait_for(&["ack"], PATIENCE).is_none() {
        failures.push("no load returns".to_owned());
    }
    let (mut read, mut refused) = (0, 0);
    let begun = writer.latest("ack");
    while read < readers && failures.is_empty() {
        let acked = writer.latest("ack").unwrap_or(0);
        let told = match folder::open_read_only(&path) {
            // It came at a bad moment each time that it tried.
            Err(StorageError::HalfLoaded | StorageError::Overtaken) => {
                refused += 1;
                if refused > readers {
                    failures.push("most readers are refused".to_owned());
                }
                continue;
            }
            Err(error) => Err(Finding::from(error).line()),
            Ok(store) => {
                count(&store, HEADS_OF_A_READER).map(|loads| (loads, last_commit(&store) - first))
            }
        };
        match told {
            Ok((loads, commits)) if loads >= acked && commits == loads.cast_signed() => {}
            told => failures.push(format!("{told:?} beside a writer that had returned {acked}")),
        }
        read += 1;
    }
    if writer.latest("ack") == begun {
        failures.push("no load returned beside the readers".to_owned());
    }
    failures.extend(misbehaved(&writer.kill()));
    row.figure("readers", read).figure("refused", refused);
    row.end(&failures);
}

fn last_commit(store: &Store) -> Time {
    store.snapshot(1).reader().last_commit().expect("a whole file can be read")
}
