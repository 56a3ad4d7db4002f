//! D7: bytes of a file change. The answer is right, or an error; never wrong, a panic, an abort or
//! more than ten seconds of silence.
//!
//! A shorter state is right only if the damage reaches the last record of the log: that cannot be
//! told from commits that were never finished.

use std::path::Path;
use std::time::Duration;

use engraph_storage::Store;

use crate::audit::{self, audit};
use crate::child::{self, Child, say};
use crate::folder::{self, Kind, Prepared};
use crate::lane::{self, Row};
use crate::rng::{Rng, mix};
use crate::workload::{Sizes, Workload};

/// How long a case may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Cases of one child.
const BATCH: u64 = 25;
/// The unit of larger damage.
const BLOCK: usize = 4096;
/// What is damaged in turn.
const KINDS: [Kind; 9] = [
    Kind::Table,
    Kind::Log,
    Kind::Manifest,
    Kind::Log,
    Kind::Current,
    Kind::Table,
    Kind::Log,
    Kind::Identity,
    Kind::Options,
];

/// What a child does: case after case, it copies, damages, and looks in both ways.
pub(crate) fn job() {
    let (workload, prepared) = (child::workload(), child::folder());
    let place = std::path::PathBuf::from(child::setting("ENGRAPH_ROT_PLACE"));
    let seed = child::number("ENGRAPH_ROT_SEED");
    for case in child::number("ENGRAPH_ROT_FROM")..child::number("ENGRAPH_ROT_TO") {
        folder::copy(&prepared, &place);
        let mut rng = Rng::new(mix(seed, case));
        let damage = match child::setting("ENGRAPH_ROT_WHAT").as_str() {
            "lengths" => damage_length(&place, case as usize),
            "kinds" => damage_kind(&place, case as usize),
            _ => damage(&place, KINDS[(case % KINDS.len() as u64) as usize], &mut rng),
        };
        say(&format!("case {case} {damage}"));
        say(&format!("read {case} {}", look(folder::open_read_only(&place), &workload)));
        say(&format!("write {case} {}", look(folder::open(&place), &workload)));
    }
}

fn look(store: engraph_storage::Result<Store>, workload: &Workload) -> String {
    match store.map_err(audit::Finding::from).and_then(|store| audit(&store, workload)) {
        Ok(last) => last.to_string(),
        Err(finding) => finding.line(),
    }
}

/// Makes one record of the manifest seem longer than the file: by one bit, and a reader that takes
/// this for an unfinished end drops all that stands after.
fn damage_length(folder: &Path, case: usize) -> String {
    let path = folder::of_kind(folder, Kind::Manifest).pop().expect("there is one");
    let mut bytes = folder::read(&path);
    let headers = folder::headers(&bytes);
    let at = headers[case % headers.len()] + 5;
    bytes[at] ^= 0x80;
    folder::write(&path, &bytes);
    format!("Manifest {} {at} {at} length", folder::name(&path))
}

/// Makes one record of the manifest one of a kind that only logs in reuse have: RocksDB 11.8 reads
/// such a header again and again without an end.
fn damage_kind(folder: &Path, case: usize) -> String {
    let path = folder::of_kind(folder, Kind::Manifest).pop().expect("there is one");
    let mut bytes = folder::read(&path);
    let headers = folder::headers(&bytes);
    let at = headers[1 + case * 7 % (headers.len() - 1)] + 6;
    bytes[at] |= 4;
    folder::write(&path, &bytes);
    format!("Manifest {} {at} {at} kind", folder::name(&path))
}

/// Damages a file of the kind; gives its name, the first and last byte that changed, and what was
/// done.
fn damage(folder: &Path, kind: Kind, rng: &mut Rng) -> String {
    let files = folder::of_kind(folder, kind);
    let full: Vec<_> = files.iter().filter(|path| !folder::read(path).is_empty()).collect();
    let path = *rng.pick(&full);
    let whole = folder::read(path);
    loop {
        let mut bytes = whole.clone();
        let what = hurt(folder, &mut bytes, rng);
        let changed = |at: &usize| whole[*at] != bytes[*at];
        // What is 0 can be made 0 without harm: then something else.
        let Some(first) = (0..whole.len()).find(changed) else { continue };
        let last = (first..whole.len()).rfind(changed).unwrap_or(first);
        folder::write(path, &bytes);
        return format!("{kind:?} {} {first} {last} {what}", folder::name(path));
    }
}

fn hurt(folder: &Path, bytes: &mut [u8], rng: &mut Rng) -> &'static str {
    let length = bytes.len();
    let at = rng.below(length as u64) as usize;
    let unit = BLOCK.min(length.div_ceil(2));
    let block = at / unit * unit;
    let end = (block + unit).min(length);
    match rng.below(6) {
        0 => {
            // Where the log and the manifest say what comes next.
            let headers = folder::headers(bytes);
            let at = match headers.is_empty() {
                true => at,
                false => *rng.pick(&headers) + rng.below(7) as usize,
            };
            bytes[at] ^= 1 << rng.below(8);
            "header"
        }
        1 => {
            bytes[at] ^= 1 << rng.below(8);
            "bit"
        }
        2 => {
            bytes[at] = rng.next() as u8;
            "byte"
        }
        3 => {
            bytes[block..end].fill(0);
            "zeroed"
        }
        4 => {
            let other = rng.below((length / unit) as u64) as usize * unit;
            for offset in 0..unit.min(length - block).min(length - other) {
                bytes.swap(block + offset, other + offset);
            }
            "swapped"
        }
        _ => {
            let (path, _) = rng.pick(&folder::files(folder)).clone();
            let source = folder::read(&path);
            let from = rng.below(source.len().max(1) as u64) as usize / BLOCK * BLOCK;
            for (byte, other) in bytes[block..end].iter_mut().zip(&source[from..]) {
                *byte = *other;
            }
            "foreign"
        }
    }
}

#[derive(Default)]
struct Tally {
    right: u64,
    refused: u64,
    torn: u64,
    silent: u64,
    wrong: u64,
    crashed: u64,
    hung: u64,
    done: u64,
    about: String,
    failures: Vec<String>,
}

impl Tally {
    /// Takes note of a line of the child; gives the case that is done with it.
    fn hear(&mut self, prepared: &Prepared, line: &str) {
        if let Some(about) = child::rest(line, "case") {
            self.about = about.to_owned();
        }
        for access in ["read", "write"] {
            let answer = child::rest(line, access).and_then(|rest| rest.split_once(' '));
            if let Some((_, answer)) = answer {
                self.judge(prepared, access, answer);
                self.done += u64::from(access == "write");
            }
        }
    }

    fn judge(&mut self, prepared: &Prepared, access: &str, answer: &str) {
        // The number of the case, the kind, the name, the first byte, the last byte, and what.
        let words: Vec<&str> = self.about.split(' ').collect();
        let place = |word: usize| words.get(word).and_then(|word| word.parse::<u64>().ok());
        let torn = match (words.get(2), place(3), place(4)) {
            (Some(name), Some(first), Some(last))
                if *name == prepared.log && last >= prepared.final_record() =>
            {
                Some(prepared.last_within(first))
            }
            _ => None,
        };
        match answer.parse::<u64>() {
            Ok(last) if last == prepared.last => self.right += 1,
            Ok(last) if Some(last) == torn => self.torn += 1,
            Ok(last) => {
                self.silent += 1;
                let text = format!("{last} of {} without an error", prepared.last);
                self.failures.push(format!("{} ({access}): {text}", self.about));
            }
            Err(_) if answer.starts_with("refused") => self.refused += 1,
            Err(_) => {
                self.wrong += 1;
                // The worst comes first.
                self.failures.insert(0, format!("{} ({access}): {answer}", self.about));
            }
        }
    }
}

/// Cases of one row.
struct Rot<'r> {
    prepared: &'r Prepared,
    place: &'r Path,
    what: &'static str,
    seed: u64,
}

fn batch(rot: &Rot<'_>, (from, to): (u64, u64), tally: &mut Tally) {
    let Rot { prepared, place, what, seed } = *rot;
    let mut settings = child::settings(&prepared.path, &prepared.workload);
    settings.push(("ENGRAPH_ROT_PLACE", place.display().to_string()));
    settings.push(("ENGRAPH_ROT_WHAT", what.to_owned()));
    settings.push(("ENGRAPH_ROT_SEED", seed.to_string()));
    settings.push(("ENGRAPH_ROT_FROM", from.to_string()));
    settings.push(("ENGRAPH_ROT_TO", to.to_string()));
    let before = tally.done;
    let ended = Child::start("rot", &settings).finish(PATIENCE);
    let (hung, ended) = match ended {
        Ok(ended) => (false, ended),
        Err(ended) => (true, ended),
    };
    ended.lines.iter().for_each(|line| tally.hear(prepared, line));
    let done = tally.done - before;
    if done < to - from {
        // The case that it was at is to blame; the next child begins after it.
        tally.hung += u64::from(hung);
        tally.crashed += u64::from(!hung);
        let end = if hung { "hangs".to_owned() } else { ended.story() };
        tally.failures.insert(0, format!("{}: {end}", tally.about));
        tally.done += 1;
    }
}

fn run(mut row: Row, what: &'static str, cases: impl Fn(&Prepared) -> u64) {
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Small };
    let prepared = &Prepared::make(root.path(), "prepared", workload, &[40, 40, 40]);
    let (cases, place) = (cases(prepared), &root.path().join("db"));
    let rot = Rot { prepared, place, what, seed: row.seed };
    let mut tally = Tally::default();
    while tally.done < cases {
        batch(&rot, (tally.done, (tally.done + BATCH).min(cases)), &mut tally);
    }
    row.figure("cases", tally.done).figure("right", tally.right).figure("refused", tally.refused);
    row.figure("final_record", tally.torn).figure("silent", tally.silent);
    row.figure("wrong", tally.wrong).figure("crashed", tally.crashed).figure("hung", tally.hung);
    let mut failures = tally.failures;
    if tally.refused < cases / 4 {
        failures.push("too little of the damage was met".to_owned());
    }
    row.end(&failures);
}

#[test]
fn rotten_bytes() {
    run(Row::begin("D7"), "any", |_| lane::count(300, 50_000));
}

#[test]
fn rotten_lengths() {
    run(Row::begin("D7_lengths"), "lengths", |prepared| {
        let manifest = folder::of_kind(&prepared.path, Kind::Manifest).pop().expect("there is one");
        folder::headers(&folder::read(&manifest)).len() as u64
    });
}

#[test]
fn rotten_kinds() {
    // Few, as each takes its time while it fails.
    run(Row::begin("D7_kinds"), "kinds", |_| lane::count(2, 100));
}
