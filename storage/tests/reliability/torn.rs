//! D6: the newest log ends anywhere, or in bytes that nobody wrote, as after a loss of power. The
//! database opens, and holds exactly the transactions that are whole before that.

use std::collections::BTreeSet;

use engraph_storage::Durability;

use crate::audit::{self, audit};
use crate::child::look_at;
use crate::folder::{self, Prepared};
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::workload::{Sizes, Workload};

/// Where the log begins a new block; a record never crosses the edge in one piece.
const BLOCK: u64 = 32 << 10;
/// The part of the log that is cut at most of its bytes.
const TAIL: u64 = 2 << 10;

/// The smallest part of a file that a disk writes.
const PAGE: usize = 4096;
/// Openings that do not end before the row gives up, as each takes its time.
const HANGS_MAX: u64 = 2;

/// Every byte of the tail and the edges of blocks, or so many of them.
fn places(prepared: &Prepared, length: u64, count: u64, rng: &mut Rng) -> Vec<u64> {
    let near = |place: u64| place.saturating_sub(3)..=(place + 9).min(length);
    let edges = (1..=length / BLOCK).flat_map(|block| near(block * BLOCK));
    let ends = prepared.ends.iter().rev().take(3).flat_map(|(_, end)| near(*end));
    let mut places: BTreeSet<u64> = edges.chain(ends).chain([0, 1, 7, length]).collect();
    while places.len() as u64 > count * 3 / 5 {
        let place = *rng.pick(&places.iter().copied().collect::<Vec<u64>>());
        places.remove(&place);
    }
    // In a soak there may be more places than the tail has bytes.
    let tail = TAIL.max(count * 2).min(length);
    while (places.len() as u64) < count.min(tail) {
        places.insert(rng.between(length - tail, length));
    }
    places.into_iter().collect()
}

#[test]
fn cut_logs() {
    let mut row = Row::begin("D6");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Mixed };
    let prepared = Prepared::make(root.path(), "prepared", workload, &[10, 60]);
    let bytes = folder::read(&prepared.path.join(&prepared.log));
    let places = places(&prepared, bytes.len() as u64, lane::count(200, 60_000), &mut rng);
    let database = root.path().join("db");
    let (mut failures, mut shorter) = (Vec::new(), 0);
    for place in &places {
        folder::copy(&prepared.path, &database);
        folder::write(&database.join(&prepared.log), &bytes[..*place as usize]);
        let expected = prepared.last_within(*place);
        shorter += u64::from(expected < prepared.last);
        let found = folder::open(&database)
            .map_err(audit::Finding::from)
            .and_then(|store| audit(&store, &prepared.workload));
        match found {
            Ok(last) if last == expected => {}
            Ok(last) => failures.push(format!("cut at {place}: {last} instead of {expected}")),
            Err(finding) => failures.push(format!("cut at {place}: {}", finding.line())),
        }
    }
    row.figure("cuts", places.len()).figure("shorter", shorter).figure("log_bytes", bytes.len());
    if places.len() < 200 {
        failures.push("too few cuts".to_owned());
    }
    row.end(&failures);
}

/// Behind the last record stand bytes that could begin another one, with each kind in turn: the
/// engine must neither believe them nor stumble over them.
#[test]
fn tails_of_garbage() {
    let mut row = Row::begin("D6_garbage");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Small };
    let prepared = Prepared::make(root.path(), "prepared", workload, &[5, 10]);
    let bytes = folder::read(&prepared.path.join(&prepared.log));
    let kinds: Vec<u8> = match lane::count(0, 1) {
        0 => (0..=13).chain(127..=135).chain([255]).collect(),
        _ => (0..=255).collect(),
    };
    let database = root.path().join("db");
    let (mut failures, mut hung) = (Vec::new(), 0);
    for kind in &kinds {
        let mut tail = rng.bytes(200);
        tail[4..7].copy_from_slice(&[40, 0, *kind]);
        folder::copy(&prepared.path, &database);
        folder::write(&database.join(&prepared.log), &[&bytes[..], &tail].concat());
        match look_at(&database, &workload, "write", &[]) {
            Ok(last) if last == prepared.last => {}
            Ok(last) => failures.push(format!("kind {kind}: {last} of {}", prepared.last)),
            Err(line) => {
                hung += u64::from(line.starts_with("hangs"));
                failures.push(format!("kind {kind}: {line}"));
            }
        }
        if hung == HANGS_MAX {
            break;
        }
    }
    row.figure("kinds", kinds.len()).figure("hung", hung);
    row.end(&failures);
}

/// A page of the newest log was never written, and those after it were: a loss of power does that
/// to commits that were not synced. Those before the page are there, and nothing is refused.
#[test]
fn missing_pages() {
    let mut row = Row::begin("D6_pages");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Small };
    let prepared = Prepared::make(root.path(), "before", workload, &[5, 10]);
    let prepared = prepared.later(root.path(), "prepared", &[40], Durability::Buffered);
    let bytes = folder::read(&prepared.path.join(&prepared.log));
    let database = root.path().join("db");
    let (mut failures, mut pages) = (Vec::new(), 0);
    for page in (0..bytes.len()).step_by(PAGE) {
        let mut bytes = bytes.clone();
        let end = (page + PAGE).min(bytes.len());
        bytes[page..end].fill(0);
        folder::copy(&prepared.path, &database);
        folder::write(&database.join(&prepared.log), &bytes);
        let expected = prepared.last_within(page as u64);
        match look_at(&database, &workload, "write", &[]) {
            Ok(last) if last == expected => {}
            Ok(last) => failures.push(format!("page at {page}: {last} instead of {expected}")),
            Err(line) => failures.push(format!("page at {page}, {expected} before it: {line}")),
        }
        pages += 1;
    }
    row.figure("pages", pages);
    row.end(&failures);
}
