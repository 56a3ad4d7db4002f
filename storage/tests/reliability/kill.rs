//! D1 and D2: a process is killed at any microsecond, and the next one while it recovers.
//!
//! What returned from a commit is there, in either durability; at most the commit that was under
//! way is there as well, whole; nothing else is.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use engraph_storage::Durability;
use tempfile::TempDir;

use crate::audit::audit;
use crate::child::{self, Child, Ended, PATIENCE};
use crate::folder;
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::workload::{Sizes, Workload};

/// The longest that a recovery may take.
const OPEN_MAX: Duration = Duration::from_secs(5);
/// The longest that a child writes before it is killed.
const WORK_MICROS_MAX: u64 = 40_000;

/// How long things take here, learned on the way.
pub(crate) struct Pace {
    open_micros: u64,
}

impl Pace {
    /// A guess.
    pub(crate) fn new() -> Self {
        Self { open_micros: 30_000 }
    }

    fn learn(&mut self, open: Duration) {
        self.open_micros = (3 * self.open_micros + open.as_micros() as u64) / 4;
    }
}

/// Starts a child that writes, and kills it: once in three times while it opens. An open that does
/// not end is a line of its own.
pub(crate) fn run_and_kill(
    settings: &[(&'static str, String)],
    rng: &mut Rng,
    pace: &mut Pace,
) -> Ended {
    let mut child = Child::start("write", settings);
    let early = rng.once_in(3);
    child.wait_for(&["opening"], PATIENCE);
    let begun = Instant::now();
    let micros = if early {
        rng.below(pace.open_micros.max(1))
    } else {
        if child.wait_for(&["ready"], PATIENCE).is_some() {
            pace.learn(begun.elapsed());
        }
        rng.below(WORK_MICROS_MAX)
    };
    let hangs = begun.elapsed() >= PATIENCE;
    std::thread::sleep(Duration::from_micros(micros));
    let mut ended = child.kill();
    if hangs {
        ended.lines.push(format!("unready hangs: the open hangs for {PATIENCE:?}"));
    }
    ended
}

/// Why a child is not as a killed one should be.
pub(crate) fn misbehaved(ended: &Ended) -> Option<String> {
    let says = ["failed", "unready"];
    let said = ended.lines.iter().find(|line| says.iter().any(|s| child::rest(line, s).is_some()));
    match said {
        Some(line) => Some(line.clone()),
        None if ended.status.signal() == Some(9) => None,
        None => Some(ended.story()),
    }
}

/// A folder that lives through many deaths.
pub(crate) struct Life {
    /// Holds the database and what is known of it.
    pub(crate) root: TempDir,
    /// The folder of the database.
    pub(crate) database: PathBuf,
    /// What is written to it.
    pub(crate) workload: Workload,
    /// The last transaction that has to be there.
    pub(crate) acked: u64,
}

impl Life {
    /// A new one.
    pub(crate) fn begin(rng: &mut Rng, sizes: Sizes) -> Self {
        let root = lane::scratch();
        let database = root.path().join("db");
        Self { root, database, workload: Workload { seed: rng.next(), sizes }, acked: 0 }
    }

    /// The settings of a child that writes.
    pub(crate) fn settings(&self, durability: Durability) -> Vec<(&'static str, String)> {
        let mut settings = child::settings(&self.database, &self.workload);
        settings.push(child::durability_setting(durability));
        settings
    }

    /// Takes note of a state that was found: how many transactions are lost, and whether there are
    /// more than there can be.
    pub(crate) fn found(&mut self, last: u64) -> (u64, bool) {
        let lost = self.acked.saturating_sub(last);
        let invented = last > self.acked + 1;
        self.acked = last;
        (lost, invented)
    }
}

#[derive(Default)]
struct Tally {
    kills: u64,
    kills_in_open: u64,
    double: u64,
    acked: u64,
    lost: u64,
    half: u64,
    open_max: Duration,
    failures: Vec<String>,
}

impl Tally {
    fn kill(&mut self, life: &mut Life, rng: &mut Rng, pace: &mut Pace) {
        let durability = *rng.pick(&[Durability::Sync, Durability::Buffered]);
        let ended = run_and_kill(&life.settings(durability), rng, pace);
        self.kills += 1;
        self.failures.extend(misbehaved(&ended));
        match ended.last("ready") {
            Some(last) => self.note(life, last),
            None => self.kills_in_open += 1,
        }
        if let Some(last) = ended.last("ack") {
            self.acked += ended.count("ack");
            life.acked = last;
        }
    }

    fn note(&mut self, life: &mut Life, last: u64) {
        let before = life.acked;
        let (lost, invented) = life.found(last);
        self.lost += lost;
        if lost > 0 || invented {
            self.failures.push(format!("{last} is there, and {before} was acknowledged"));
        }
    }

    fn audit(&mut self, life: &mut Life) {
        let begun = Instant::now();
        let store = match folder::open(&life.database) {
            Ok(store) => store,
            Err(error) => return self.failures.push(format!("after a kill: {error}")),
        };
        self.open_max = self.open_max.max(begun.elapsed());
        match audit(&store, &life.workload) {
            Ok(last) => self.note(life, last),
            Err(finding) => {
                self.half += 1;
                self.failures.push(finding.line());
            }
        }
    }
}

#[test]
fn kills() {
    let mut row = Row::begin("D1");
    let mut rng = Rng::new(row.seed);
    let cycles = lane::count(300, 10_000);
    let (mut tally, mut pace) = (Tally::default(), Pace::new());
    let (mut life, mut left, mut lives) = (None::<Life>, 0, 0);
    for _ in 0..cycles {
        if left == 0 {
            // Large ones are few, as reading them all takes its time.
            lives += 1;
            let (sizes, span) = if lives % 4 == 0 { (Sizes::Large, 6) } else { (Sizes::Mixed, 25) };
            (life, left) = (Some(Life::begin(&mut rng, sizes)), span);
        }
        let life = life.as_mut().expect("one was begun");
        left -= 1;
        tally.kill(life, &mut rng, &mut pace);
        if rng.once_in(3) {
            // Without an audit between: the next one recovers, and is killed while it does.
            tally.double += 1;
            tally.kill(life, &mut rng, &mut pace);
        }
        tally.audit(life);
    }
    let open_max = tally.open_max;
    row.figure("cycles", cycles).figure("kills", tally.kills).figure("lives", lives);
    row.figure("D2_double", tally.double).figure("D2_killed_in_open", tally.kills_in_open);
    row.figure("acked", tally.acked).figure("lost", tally.lost).figure("half", tally.half);
    row.figure("open_ms_max", open_max.as_millis());
    let mut failures = tally.failures;
    if tally.kills_in_open < cycles / 10 || tally.double < cycles / 10 {
        failures.push("too few of the kills were early ones".to_owned());
    }
    if tally.acked < cycles {
        failures.push("too few commits for so many kills".to_owned());
    }
    if open_max > OPEN_MAX {
        failures.push(format!("a recovery took {open_max:?}"));
    }
    row.end(&failures);
}
