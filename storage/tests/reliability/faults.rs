//! D4: the n-th call to the system fails, once or from then on.
//!
//! The process neither aborts nor panics nor hangs: it gets an error. What was acknowledged stays.
//! After a commit failed the handle takes no further one (`StorageError::Poisoned`), and the folder opens well when the disk is
//! well again.

use std::path::Path;

use engraph_storage::{Durability, Store};

use crate::audit;
use crate::child::{self, Child, Ended, PATIENCE, look_at, say};
use crate::folder::{self, Prepared};
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::shim;
use crate::workload::{Sizes, Workload};

/// The kinds in the order of the points: those that commits call are met more often.
const ORDER: [usize; 12] = [0, 2, 3, 0, 2, 4, 1, 0, 2, 5, 6, 7];
/// Times that the child opens the database.
const SESSIONS: u64 = 2;
/// The kinds of calls, as the shim numbers them from 1.
const OPS: [&str; 8] =
    ["write", "fsync", "fdatasync", "rename", "open", "fallocate", "unlink", "read"];
/// Those that may do less than they were asked to.
const SHORT: [&str; 2] = ["write", "read"];

/// What fails: the name, the error's number or 0 for a short write.
const FAULTS: [(&str, i32); 5] =
    [("EIO", 5), ("ENOSPC", 28), ("EDQUOT", 122), ("short", 0), ("EINTR", 4)];

/// What a child does: writes and closes, twice, and goes on after a failure as a careless caller.
pub(crate) fn job() {
    let workload = child::workload();
    let count = child::number("ENGRAPH_CHILD_SESSION");
    for _ in 0..SESSIONS {
        let Some((store, last)) = child::open(&child::folder()) else { continue };
        session(&store, &workload, last, count);
        drop(store);
        say("closed");
    }
    say("done");
}

fn session(store: &Store, workload: &Workload, last: u64, count: u64) {
    for n in last + 1..=last + count {
        let durability = if n % 4 == 0 { Durability::Buffered } else { Durability::Sync };
        let Err(error) = workload.write(store, n, durability) else {
            say(&format!("ack {n}"));
            continue;
        };
        say(&format!("failed {n} {} {}", audit::variant(&error), audit::one_line(&error)));
        // The same number again: it may be there or not, as the commit failed.
        return match workload.write(store, n, Durability::Sync) {
            Ok(()) => say(&format!("again {n}")),
            Err(error) => say(&format!("refused {n} {}", audit::variant(&error))),
        };
    }
}

#[derive(Default)]
struct Tally {
    fired: u64,
    failed: u64,
    unready: u64,
    again: u64,
    /// Writes that were refused because of a failed one.
    poisoned: u64,
    fired_in: [u64; OPS.len()],
    failures: Vec<String>,
}

/// What one run is about.
#[derive(Clone, Copy)]
struct Point {
    /// Which call of the kind, from 1.
    at: u64,
    /// The kind, an index of [`OPS`].
    op: usize,
    /// What it gets, an index of [`FAULTS`].
    fault: usize,
    sticky: bool,
    fresh: bool,
}

impl Point {
    fn setting(&self) -> String {
        let Self { at, op, fault, sticky, .. } = *self;
        format!("{at} {} {} {}", FAULTS[fault].1, u8::from(sticky), op + 1)
    }

    fn story(&self) -> String {
        let Self { at, op, fault, sticky, fresh } = *self;
        let (name, op) = (FAULTS[fault].0, OPS[op]);
        let often = if sticky { "on and on" } else { "once" };
        let place = if fresh { "a new folder" } else { "an old one" };
        format!("{name} {often} at {op} {at} of {place}")
    }
}

struct Scene<'s> {
    root: &'s Path,
    prepared: &'s Prepared,
    /// Transactions of a session.
    session: u64,
}

/// What the shim counted: faults, the kind of the first, calls, calls of each kind.
type Counts = [u64; 3 + OPS.len()];

impl Scene<'_> {
    /// Runs the child over a copy or a new folder.
    fn run(&self, point: Option<Point>, fresh: bool) -> (Result<Ended, Ended>, Counts) {
        let (database, counter) = (self.root.join("db"), self.root.join("counter"));
        // The ones of the last run.
        let _ = std::fs::remove_dir_all(&database);
        let _ = std::fs::remove_file(&counter);
        if !fresh {
            folder::copy(&self.prepared.path, &database);
        }
        let mut settings = child::settings(&database, &self.prepared.workload);
        settings.extend(shim::settings(&database));
        settings.push(("ENGRAPH_CHILD_SESSION", self.session.to_string()));
        settings.push(("ENGRAPH_SHIM_COUNTER", counter.display().to_string()));
        if let Some(point) = point {
            settings.push(("ENGRAPH_SHIM_FAULT", point.setting()));
        }
        let ended = Child::start("faults", &settings).finish(PATIENCE);
        let bytes = folder::read(&counter);
        let mut counts = Counts::default();
        for (count, bytes) in counts.iter_mut().zip(bytes.as_chunks().0) {
            *count = u64::from_le_bytes(*bytes);
        }
        (ended, counts)
    }
}

impl Tally {
    fn judge(&mut self, scene: &Scene<'_>, point: Option<Point>, ended: Result<Ended, Ended>) {
        let about = point.map_or("no fault".to_owned(), |point| point.story());
        let hangs = ended.is_err();
        let (Ok(ended) | Err(ended)) = ended;
        if hangs {
            self.failures.push(format!("{about}: hangs after {:?}", ended.lines.last()));
        } else if !ended.is_clean() {
            self.failures.push(format!("{about}: {}", ended.story()));
        }
        self.failed += u64::from(ended.count("failed") > 0);
        self.unready += u64::from(ended.count("unready") > 0);
        let reads = point.is_some_and(|point| OPS[point.op] == "read");
        if ended.count("again") > 0 && !reads {
            self.again += 1;
            let failed = ended.lines.iter().find(|line| child::rest(line, "failed").is_some());
            self.failures.push(format!("{about}: a handle wrote again after {failed:?}"));
        }
        // A failed read fails nothing but itself; after any other the handle says what it is.
        let refused = ended.lines.iter().filter_map(|line| child::rest(line, "refused"));
        for line in refused.filter(|line| !reads && !line.ends_with(" Poisoned")) {
            self.failures.push(format!("{about}: the next write was refused with {line}"));
        }
        self.poisoned +=
            ended.lines.iter().filter(|line| line.ends_with(" Poisoned")).count() as u64;
        let fresh = point.is_some_and(|point| point.fresh);
        let before = if fresh { 0 } else { scene.prepared.last };
        let said = ["ready", "ack", "again"].into_iter().filter_map(|word| ended.last(word));
        let acked = said.fold(before, u64::max);
        match look_at(&scene.root.join("db"), &scene.prepared.workload, "write", &[]) {
            Ok(last) if last == acked || last == acked + 1 => {}
            Ok(last) => self.failures.push(format!("{about}: {last} is there of {acked}")),
            Err(line) => self.failures.push(format!("{about}: afterwards {line}")),
        }
    }
}

fn sweep(row: &mut Row, scene: &Scene<'_>, points: u64, rng: &mut Rng) -> Tally {
    let mut tally = Tally::default();
    let calls = [false, true].map(|fresh| {
        let (ended, counts) = scene.run(None, fresh);
        let ended = ended.unwrap_or_else(|ended| ended);
        let whole = ended.is_clean() && ended.count("ack") == scene.session * SESSIONS;
        assert!(whole, "without a fault: {} {:?}", ended.story(), ended.lines);
        counts
    });
    for point in 0..points {
        let (op, round) = (ORDER[point as usize % ORDER.len()], point / ORDER.len() as u64);
        let fault = (point / 3 + round) as usize % FAULTS.len();
        // A read or write may be short; for the others that is no fault.
        let fault = if FAULTS[fault].1 == 0 && !SHORT.contains(&OPS[op]) { 0 } else { fault };
        let (sticky, fresh) = (rng.once_in(2), rng.once_in(4));
        // From the first to the last, with a little chance so that other runs meet other calls.
        let total = calls[usize::from(fresh)][3 + op].max(1);
        let at = 1 + (point * total / points + rng.below(total / 10 + 1)) % total;
        let point = Point { at, op, fault, sticky, fresh };
        let (ended, [fired, ..]) = scene.run(Some(point), fresh);
        tally.fired += u64::from(fired > 0);
        tally.fired_in[op] += u64::from(fired > 0);
        tally.judge(scene, Some(point), ended);
    }
    row.figure("points", points).figure("calls", calls[0][2]).figure("calls_new", calls[1][2]);
    row.figure("fired", tally.fired).figure("commits_failed", tally.failed);
    row.figure("opens_failed", tally.unready).figure("written_again", tally.again);
    row.figure("poisoned", tally.poisoned);
    if tally.poisoned == 0 {
        tally.failures.push("no handle was poisoned".to_owned());
    }
    for (name, count) in OPS.iter().zip(tally.fired_in) {
        row.figure(name, count);
    }
    if tally.fired < points * 7 / 10 {
        tally.failures.push("too few of the faults happened".to_owned());
    }
    tally
}

#[test]
fn the_nth_call_fails() {
    let mut row = Row::begin("D4");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Small };
    let prepared = &Prepared::make(root.path(), "prepared", workload, &[20, 20]);
    let scene = Scene { root: root.path(), prepared, session: 24 };
    let tally = sweep(&mut row, &scene, lane::count(200, 20_000), &mut rng);
    row.end(&tally.failures);
}

/// With texts so long that the engine writes tables after the back of the commits.
#[test]
fn the_nth_call_of_a_flush_fails() {
    let mut row = Row::begin("D4_flush");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Large };
    let prepared = &Prepared::make(root.path(), "prepared", workload, &[10, 10]);
    let scene = Scene { root: root.path(), prepared, session: 320 };
    let tally = sweep(&mut row, &scene, lane::count(24, 2000), &mut rng);
    row.end(&tally.failures);
}
