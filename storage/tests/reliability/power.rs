//! D3: the machine stops. What was not synced is cut, zeroed, garbage or half there, and names
//! whose folder was not synced are as they were.
//!
//! A commit with `Sync` is never lost. With `Buffered` the last ones may be, and what is left is the
//! state after an earlier one. Two controls show that the harness sees losses: with `Buffered`, and
//! with syncs that do nothing, there must be some.

use engraph_storage::Durability;

use crate::child::{Child, PATIENCE, look_at};
use crate::kill::{Life, Pace, misbehaved, run_and_kill};
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::shim::{self, Damage, Journal, Tail};
use crate::workload::Sizes;

/// Deaths of one folder.
const LIFE_SPAN: u64 = 12;

/// What the disk and the child promise each other.
#[derive(Clone, Copy)]
struct Setting {
    durability: Durability,
    lies: bool,
}

#[derive(Default)]
struct Tally {
    acked: u64,
    lost: u64,
    half: u64,
    refused: u64,
    hung: u64,
    in_open: u64,
    damage: Damage,
    failures: Vec<String>,
}

impl Tally {
    /// A run that ends with the power. False if the database is beyond use.
    fn lose_power(
        &mut self,
        life: &mut Life,
        setting: Setting,
        rng: &mut Rng,
        pace: &mut Pace,
    ) -> bool {
        let journal = Journal::begin(&life.root.path().join("journal"), &life.database);
        let mut settings = life.settings(setting.durability);
        settings.extend(shim::settings(life.root.path()));
        settings.extend(journal.settings());
        if setting.lies {
            settings.push(("ENGRAPH_SHIM_LIE", "1".to_owned()));
        }
        let ended = run_and_kill(&settings, rng, pace);
        let story = misbehaved(&ended);
        let whole = story.is_none();
        match story {
            Some(story) if story.contains("hangs") => self.hang(story),
            Some(story) => self.refuse(story),
            None => {}
        }
        match ended.last("ready") {
            Some(last) => self.note(life, last),
            None => self.in_open += 1,
        }
        if let Some(last) = ended.last("ack") {
            self.acked += ended.count("ack");
            life.acked = last;
        }
        let damage = journal.lose_power(*rng.pick(&Tail::ALL), rng);
        self.damage.names += damage.names;
        self.damage.bytes += damage.bytes;
        whole
    }

    fn refuse(&mut self, story: String) {
        self.refused += 1;
        self.failures.push(story);
    }

    fn note(&mut self, life: &mut Life, last: u64) {
        let before = life.acked;
        let (lost, invented) = life.found(last);
        self.lost += lost;
        if lost > 0 {
            self.failures.push(format!("lost: {last} is there, and {before} was acknowledged"));
        }
        if invented {
            self.half += 1;
            self.failures.push(format!("{last} is there, and {before} was acknowledged"));
        }
    }

    /// False if the database is beyond use.
    fn audit(&mut self, life: &mut Life) -> bool {
        match look_at(&life.database, &life.workload, "write", &[]) {
            Ok(last) => {
                self.note(life, last);
                return true;
            }
            Err(line) if line.starts_with("refused") => {
                self.refuse(format!("after {} commits: {line}", life.acked));
            }
            Err(line) if line.starts_with("hangs") => self.hang(line),
            Err(line) => {
                self.half += 1;
                self.failures.push(line);
            }
        }
        false
    }

    fn hang(&mut self, line: String) {
        self.hung += 1;
        self.failures.push(line);
    }
}

fn cycles(count: u64, setting: Setting, rng: &mut Rng) -> Tally {
    let (mut tally, mut pace) = (Tally::default(), Pace::new());
    let (mut life, mut left) = (None::<Life>, 0);
    for cycle in 0..count {
        if left == 0 {
            let sizes = if cycle / LIFE_SPAN % 4 == 3 { Sizes::Large } else { Sizes::Mixed };
            let fresh = Life::begin(rng, sizes);
            std::fs::create_dir(&fresh.database).expect("a folder can be made");
            (life, left) = (Some(fresh), LIFE_SPAN);
        }
        let alive = life.as_mut().expect("one was begun");
        left -= 1;
        let whole = tally.lose_power(alive, setting, rng, &mut pace);
        // Else the next child recovers, and the power goes again while it does or later.
        let audits = left == 0 || rng.once_in(2);
        if !whole || (audits && !tally.audit(alive)) {
            left = 0;
        }
    }
    tally
}

fn report(row: &mut Row, name: &str, cycles: u64, tally: &Tally) {
    row.figure(&format!("{name}_cycles"), cycles);
    for (figure, value) in [
        ("acked", tally.acked),
        ("lost", tally.lost),
        ("half", tally.half),
        ("refused", tally.refused),
        ("hung", tally.hung),
        ("in_open", tally.in_open),
        ("names_undone", tally.damage.names),
        ("bytes_lost", tally.damage.bytes),
    ] {
        row.figure(&format!("{name}_{figure}"), value);
    }
}

#[test]
fn synced_commits_survive() {
    let mut row = Row::begin("D3");
    let mut rng = Rng::new(row.seed);
    let count = lane::count(300, 10_000);
    let tally = cycles(count, Setting { durability: Durability::Sync, lies: false }, &mut rng);
    report(&mut row, "sync", count, &tally);
    let mut failures = tally.failures;
    if tally.acked < count || tally.damage.bytes == 0 || tally.damage.names == 0 {
        failures.push("the power took nothing".to_owned());
    }
    row.end(&failures);
}

#[test]
fn buffered_commits_are_a_prefix() {
    let mut row = Row::begin("D3_buffered");
    let mut rng = Rng::new(row.seed);
    let count = lane::count(60, 2000);
    let setting = Setting { durability: Durability::Buffered, lies: false };
    let tally = cycles(count, setting, &mut rng);
    report(&mut row, "buffered", count, &tally);
    let mut failures: Vec<String> =
        tally.failures.into_iter().filter(|failure| !failure.starts_with("lost")).collect();
    if tally.lost == 0 {
        failures.push("the control lost nothing, so the harness sees nothing".to_owned());
    }
    row.end(&failures);
}

#[test]
fn syncs_that_lie_are_seen() {
    let mut row = Row::begin("D3_control");
    let mut rng = Rng::new(row.seed);
    let count = lane::count(30, 300);
    let tally = cycles(count, Setting { durability: Durability::Sync, lies: true }, &mut rng);
    report(&mut row, "lying", count, &tally);
    let seen = tally.lost + tally.refused + tally.half + tally.hung;
    let failures = match seen {
        0 => vec!["the control lost nothing, so the harness sees nothing".to_owned()],
        _ => Vec::new(),
    };
    row.end(&failures);
}

/// The entry of a new folder is a name like any other, and is lost unless its parent is synced.
#[test]
fn a_new_folder_lasts() {
    let mut row = Row::begin("D3_folder");
    let mut rng = Rng::new(row.seed);
    let life = Life::begin(&mut rng, Sizes::Small);
    let journal = Journal::begin(&life.root.path().join("journal"), &life.database);
    let mut settings = life.settings(Durability::Sync);
    settings.extend(shim::settings(life.root.path()));
    settings.extend(journal.settings());
    let mut child = Child::start("write", &settings);
    let acked = child.wait_for(&["ack"], PATIENCE);
    let ended = child.kill();
    let mut failures = Vec::new();
    if acked.is_none() {
        failures.push(ended.story());
    } else if !shim::is_folder_durable(&journal) {
        failures.push("a commit returned, and the folder's own name was not synced".to_owned());
    }
    row.figure("acked", ended.count("ack"));
    row.end(&failures);
}
