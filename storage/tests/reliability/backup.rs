//! D9: backups are taken while a writer commits. Each opens, its check is clean, and it is the state
//! after a transaction that was the last at some moment while it was taken.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engraph_storage::{Durability, Store};

use crate::audit::{self, audit};
use crate::folder;
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::workload::{Sizes, Workload};

/// Backups of one database; then a new one begins, as each backup reads all of it.
const SPAN: u64 = 20;
/// Transactions before the first backup.
const BEFORE: u64 = 30;

/// Transactions beside a backup at most, so that the databases stay small.
const BESIDE: u64 = 40;

/// How far the writer has come and may go.
struct Writer {
    /// The transaction that returned last.
    acked: AtomicU64,
    /// The last one that it may write for now.
    until: AtomicU64,
    ends: AtomicBool,
}

impl Writer {
    fn run(&self, store: &Store, workload: &Workload) {
        for n in self.acked.load(Ordering::Acquire) + 1.. {
            while n > self.until.load(Ordering::Acquire) {
                if self.ends.load(Ordering::Acquire) {
                    return;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            let durability = if n % 8 == 0 { Durability::Sync } else { Durability::Buffered };
            workload.write(store, n, durability).expect("a whole disk can be written");
            self.acked.store(n, Ordering::Release);
        }
    }
}

#[derive(Default)]
struct Tally {
    backups: u64,
    beside: u64,
    commits: u64,
    failures: Vec<String>,
}

impl Tally {
    /// One backup, and what is in it.
    fn back_up(&mut self, store: &Store, workload: &Workload, writer: &Writer) {
        let root = lane::scratch();
        let path = root.path().join("backup");
        let before = writer.acked.load(Ordering::Acquire);
        writer.until.store(before + BESIDE, Ordering::Release);
        let taken = store.backup(&path, &mut |_| {});
        let after = writer.acked.load(Ordering::Acquire);
        self.backups += 1;
        self.beside += u64::from(after > before);
        let found = taken
            .and_then(|()| folder::open(&path))
            .map_err(audit::Finding::from)
            .and_then(|copy| audit(&copy, workload));
        match found {
            // One more may be there than has returned.
            Ok(last) if (before..=after + 1).contains(&last) => {}
            Ok(last) => self.failures.push(format!("{last} is in it of {before} to {after}")),
            Err(finding) => self.failures.push(finding.line()),
        }
    }

    fn churn(&mut self, workload: &Workload, count: u64) {
        let root = lane::scratch();
        let store = folder::open(&root.path().join("db")).expect("a new database opens");
        for n in 1..=BEFORE {
            let written = workload.write(&store, n, Durability::Buffered);
            written.expect("a whole disk can be written");
        }
        let (acked, until) = (AtomicU64::new(BEFORE), AtomicU64::new(BEFORE));
        let writer = Writer { acked, until, ends: AtomicBool::new(false) };
        std::thread::scope(|scope| {
            scope.spawn(|| writer.run(&store, workload));
            for _ in 0..count {
                self.back_up(&store, workload, &writer);
            }
            writer.ends.store(true, Ordering::Release);
        });
        self.commits += writer.acked.into_inner();
    }
}

#[test]
fn backups_beside_a_writer() {
    let mut row = Row::begin("D9");
    let mut rng = Rng::new(row.seed);
    let (count, mut tally) = (lane::count(20, 2000), Tally::default());
    while tally.backups < count {
        let sizes = *rng.pick(&[Sizes::Small, Sizes::Mixed]);
        let workload = Workload { seed: rng.next(), sizes };
        tally.churn(&workload, SPAN.min(count - tally.backups));
    }
    row.figure("backups", tally.backups).figure("beside_commits", tally.beside);
    row.figure("commits", tally.commits);
    let mut failures = tally.failures;
    if tally.beside < count / 2 {
        failures.push("too few of the backups had commits beside them".to_owned());
    }
    row.end(&failures);
}
