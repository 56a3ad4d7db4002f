//! Logs that are whole, torn, damaged or from elsewhere, written here as RocksDB would.

mod rocks;
mod tables;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const BLOCK: usize = 32 << 10;

/// Writes logs as RocksDB does. It never splits a commit over two files.
#[derive(Clone, Default)]
struct Logs {
    files: Vec<(u64, Vec<u8>)>,
    last: Option<Commit>,
    sequence: u64,
    /// Every commit, with the file it is in and the bytes of its record there.
    commits: Vec<(Commit, usize, std::ops::Range<usize>)>,
}

impl Logs {
    fn new() -> Self {
        let mut logs = Self { sequence: 1, ..Self::default() };
        logs.begin();
        logs
    }

    /// Begins the next file.
    fn begin(&mut self) {
        let number = self.files.last().map_or(4, |(number, _)| number + 4);
        self.files.push((number, Vec::new()));
    }

    fn file(&mut self) -> &mut Vec<u8> {
        &mut self.files.last_mut().unwrap().1
    }

    fn file_at(&mut self, at: usize) -> &mut Vec<u8> {
        &mut self.files[at].1
    }

    /// Commits a change of `bytes` bytes; `synced` as in the commit record.
    fn commit(&mut self, bytes: usize, synced: u64) {
        let number = self.last.map_or(0, |last| last.number + 1);
        let changes: Vec<u8> = (0..bytes).map(|at| (at as u64 * 7 + number) as u8).collect();
        let previous = self.last.map_or(0, |last| last.chain);
        let commit = Commit { number, synced, chain: chain(previous, &changes) };
        self.write(&[&changes[..], b"\x05\x01\x06commit\x14", &commit.encode()].concat(), 2);
        let (file, range) = self.commits.pop().map(|(_, file, range)| (file, range)).unwrap();
        self.commits.push((commit, file, range));
        self.last = Some(commit);
    }

    /// Commits, each of them on the disk before the next.
    fn synced_commits(&mut self, sizes: &[usize]) {
        for bytes in sizes {
            let number = self.last.map_or(0, |last| last.number + 1);
            self.commit(*bytes, number);
        }
    }

    /// Writes a batch of `count` entries.
    fn write(&mut self, entries: &[u8], count: u32) {
        let header = [&self.sequence.to_le_bytes()[..], &count.to_le_bytes()].concat();
        self.sequence += u64::from(count);
        let from = self.file().len();
        append(self.file(), &[&header, entries].concat());
        let to = self.file().len();
        let none = Commit { number: u64::MAX, synced: 0, chain: 0 };
        self.commits.push((none, self.files.len() - 1, from..to));
    }

    fn scan(&self) -> Result<LogScan> {
        self.scan_after(&Tables::default())
    }

    /// As it is with these tables.
    fn scan_after(&self, tables: &Tables) -> Result<LogScan> {
        let folder = TempDir::new().unwrap();
        for (number, bytes) in &self.files {
            std::fs::write(folder.path().join(format!("{number:06}.log")), bytes).unwrap();
        }
        scan(folder.path(), tables)
    }

    /// What the scan says of torn logs.
    fn torn(&self, file: usize, offset: usize) -> Option<Torn> {
        let (number, _) = self.files[file];
        let total: usize = self.files[file..].iter().map(|(_, bytes)| bytes.len()).sum();
        Some(Torn {
            file: format!("{number:06}.log"),
            offset: offset as u64,
            bytes: (total - offset) as u64,
        })
    }
}

fn append(log: &mut Vec<u8>, record: &[u8]) {
    let (mut rest, mut is_first) = (record, true);
    loop {
        let mut room = BLOCK - log.len() % BLOCK;
        if room < 7 {
            log.resize(log.len() + room, 0);
            room = BLOCK;
        }
        let (payload, left) = rest.split_at(rest.len().min(room - 7));
        let kind = match (is_first, left.is_empty()) {
            (true, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        append_piece(log, kind, payload);
        (rest, is_first) = (left, false);
        if rest.is_empty() {
            return;
        }
    }
}

fn append_piece(log: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    let checksum = crc32c::crc32c(&[&[kind], payload].concat());
    log.extend(records::mask(checksum).to_le_bytes());
    log.extend((payload.len() as u16).to_le_bytes());
    log.push(kind);
    log.extend(payload);
}

#[track_caller]
fn assert_damaged(scan: Result<LogScan>, file: &str, at: usize, lost: Option<(u64, u64)>) {
    match scan {
        Err(StorageError::DamagedLog { file: f, offset, lost: l, .. }) => {
            let l = l.map(RangeInclusive::into_inner);
            assert_eq!((f.as_str(), offset, l), (file, at as u64, lost));
        }
        other => panic!("expected damage, got {other:?}"),
    }
}

#[test]
fn commit_records_are_what_they_were() {
    let commit = Commit { number: 1, synced: 0x0203, chain: 0x0405_0607 };
    let bytes = commit.encode();
    assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 3, 4, 5, 6, 7]);
    assert_eq!(Commit::decode(&bytes), Some(commit));
    assert_eq!(Commit::decode(&bytes[1..]), None);
    assert_eq!(Commit::decode(&[0; 21]), None);
}

#[test]
fn nothing_to_scan() {
    let folder = TempDir::new().unwrap();
    assert_eq!(
        scan(&folder.path().join("missing"), &Tables::default()).unwrap(),
        LogScan::default()
    );
    for name in ["000004.log", "LOG", "x.log", ".log", "-4.log", "engraph.log"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    assert_eq!(scan(folder.path(), &Tables::default()).unwrap(), LogScan::default());
}

#[test]
fn whole_logs_of_any_record_size() {
    let mut logs = Logs::new();
    // Room for a whole header is left at the end of the first block, then for a part of one.
    logs.synced_commits(&[100, BLOCK - 7 - 49 - 149, 40_000, 100_000]);
    assert_eq!(logs.file().len() / BLOCK, 5);
    for room in 0..10 {
        let left = BLOCK - logs.file().len() % BLOCK;
        logs.synced_commits(&[left + BLOCK - 42 - 14 - room]);
        assert_eq!(logs.file().len() % BLOCK, (BLOCK - room) % BLOCK);
        logs.synced_commits(&[1]);
    }
    logs.begin();
    logs.begin();
    logs.synced_commits(&[5]);
    let found = logs.scan().unwrap();
    assert_eq!(found, LogScan { last: logs.last, torn: None });
    // Zeros up to the end are room that was never used.
    logs.file().resize(2 * BLOCK + 5, 0);
    assert_eq!(logs.scan().unwrap(), found);
}

#[test]
fn notes_of_the_log_are_no_records() {
    let mut logs = Logs::new();
    for kind in [9, 10, 130, 200] {
        append_piece(logs.file(), kind, b"note");
        logs.synced_commits(&[10]);
    }
    let found = logs.scan().unwrap();
    assert_eq!(found, LogScan { last: logs.last, torn: None });
    // A kind that nobody knows is damage, even if it is whole.
    append_piece(logs.file(), 77, b"note");
    logs.synced_commits(&[10, 10]);
    assert!(logs.scan().is_err());
}

/// Cuts the last record everywhere, plainly and with zeros for what is cut off.
#[test]
fn a_last_record_may_be_torn_anywhere() {
    for (bytes, step) in [(60, 1), (3 * BLOCK, 701)] {
        let mut logs = Logs::new();
        logs.synced_commits(&[10, BLOCK - 300, bytes]);
        let (_, _, range) = logs.commits[2].clone();
        let last = Some(logs.commits[1].0);
        let edges = (1..8).map(|block| block * BLOCK).filter(|edge| range.contains(edge));
        for cut in range.clone().step_by(step).chain(edges).chain([range.end - 1]) {
            let mut torn = logs.clone();
            torn.file().truncate(cut);
            let expected = (cut > range.start).then(|| torn.torn(0, range.start)).flatten();
            let found = torn.scan().unwrap();
            assert_eq!(found, LogScan { last, torn: expected }, "cut at {cut}");

            // What was cut off may also read as zeros.
            let is_begun = torn.file()[range.start..].iter().any(|byte| *byte != 0);
            torn.file().resize(range.end, 0);
            if is_begun && torn.files != logs.files {
                let torn_zeros = torn.torn(0, range.start);
                let found = torn.scan().unwrap();
                assert_eq!(found, LogScan { last, torn: torn_zeros }, "cut at {cut}");
            }
        }
    }
}

/// Every bit of every record, one at a time.
#[test]
fn no_flipped_bit_loses_a_synced_commit_in_silence() {
    let mut small = Logs::new();
    small.synced_commits(&[3, 50, 0, 200, 50]);
    small.begin();
    small.synced_commits(&[3, 30]);
    let mut large = Logs::new();
    large.synced_commits(&[3, 50_000, 20, 40_000, 30, 30]);
    for (logs, step) in [(small, 1), (large, 1009)] {
        let whole = logs.scan().unwrap();
        for (commit, file, range) in &logs.commits {
            let before = commit.number.checked_sub(1).map(|at| logs.commits[at as usize].0);
            for (at, bit) in range.clone().step_by(step).flat_map(|at| (0..8).map(move |b| (at, b)))
            {
                let mut flipped = logs.clone();
                flipped.files[*file].1[at] ^= 1 << bit;
                let found = flipped.scan();
                match found {
                    // Bytes between the records of two blocks mean nothing.
                    Ok(found) if found == whole => assert!(at < range.start + 7),
                    found if *commit != logs.last.unwrap() => {
                        let is_damage = matches!(found, Err(StorageError::DamagedLog { .. }));
                        assert!(is_damage, "{commit:?}, byte {at}, bit {bit}: {found:?}");
                    }
                    found => {
                        let torn = logs.torn(*file, range.start);
                        assert_eq!(found.unwrap(), LogScan { last: before, torn });
                    }
                }
            }
        }
    }
}

#[test]
fn lost_commits_are_named() {
    let mut logs = Logs::new();
    logs.synced_commits(&[10, 10, 10, 10, 10]);
    let at = logs.commits[2].2.start;
    logs.file()[at + 20] ^= 1;
    assert_damaged(logs.scan(), "000004.log", at, Some((2, 3)));
    let text = logs.scan().unwrap_err().to_string();
    assert_eq!(
        text,
        "the write-ahead log is damaged at byte 118 of 000004.log: bytes that are no record, \
         before synced commits; opening would lose commits 2 to 3, which had been acknowledged; \
         restore a backup, or run `engraph recover`"
    );
    // Without a commit before the damage, those after the tables.
    logs.file()[20] ^= 1;
    assert_damaged(logs.scan(), "000004.log", 0, Some((0, 3)));
    let mut logs = Logs::new();
    logs.synced_commits(&[10, 10]);
    logs.file()[20] ^= 1;
    assert_damaged(logs.scan(), "000004.log", 0, Some((0, 0)));
}

/// Blocks of buffered commits may reach the disk in any order.
#[test]
fn an_unsynced_tail_may_be_torn_out_of_order() {
    let mut logs = Logs::new();
    logs.synced_commits(&[10, 10]);
    logs.commit(50_000, 2);
    logs.commit(10, 2);
    logs.begin();
    logs.commit(50_000, 2);
    let at = logs.commits[2].2.start;
    let found = LogScan { last: Some(logs.commits[1].0), torn: logs.torn(0, at) };
    let whole = logs.clone();
    for byte in [at, at + 20, at + 40_000, at + 50_000] {
        logs.file_at(0)[byte] ^= 1;
        assert_eq!(logs.scan().unwrap(), found);
        logs = whole.clone();
    }
    // Zeros instead of a page that was not written.
    logs.file_at(0)[at..at + 4096].fill(0);
    assert_eq!(logs.scan().unwrap(), found);
    logs = whole.clone();
    logs.file_at(0)[at..BLOCK].fill(0);
    assert_eq!(logs.scan().unwrap(), found);
    // A later commit that knows of them makes it damage.
    logs.commit(10, 5);
    assert_damaged(logs.scan(), "000004.log", at, Some((2, 4)));
}

#[test]
fn the_end_of_a_broken_record_bears_witness_too() {
    let mut logs = Logs::new();
    logs.synced_commits(&[10, 10, 40_000]);
    let at = logs.commits[1].2.start;
    logs.file()[at..at + 4096].fill(0xaa);
    assert_damaged(logs.scan(), "000004.log", at, Some((1, 1)));
}

#[test]
fn old_blocks_behind_a_torn_end_prove_nothing() {
    let mut logs = Logs::new();
    logs.write(b"of format 1", 1);
    logs.synced_commits(&[10, 10, 10]);
    let old = logs.file().clone();
    logs.begin();
    logs.synced_commits(&[10, 50]);
    let (file, range) = (1, logs.commits.last().unwrap().2.clone());
    let torn = range.end - 5;
    logs.file().truncate(torn);
    logs.file().extend(old);
    let last = Some(logs.commits[logs.commits.len() - 2].0);
    let torn = logs.torn(file, range.start);
    assert_eq!(logs.scan().unwrap(), LogScan { last, torn });
}

/// A log that goes on where recovery stopped shows that what it dropped was given up.
#[test]
fn a_torn_log_may_linger_after_its_recovery() {
    let mut logs = Logs::new();
    logs.synced_commits(&[10, 10]);
    let whole = logs.clone();
    logs.synced_commits(&[10]);
    let torn = logs.file().len() - 3;
    logs.file().truncate(torn);
    let mut recovered = Logs { files: logs.files.clone(), ..whole };
    recovered.begin();
    // RocksDB writes an empty batch after a recovery.
    recovered.write(b"", 0);
    recovered.synced_commits(&[20]);
    let expected = LogScan { last: recovered.last, torn: None };
    assert_eq!(recovered.scan().unwrap(), expected);

    // If the empty batch is damaged, recovery drops commits that are whole.
    let mut damaged = recovered.clone();
    damaged.file()[3] ^= 1;
    assert!(matches!(damaged.scan(), Err(StorageError::DamagedLog { .. })));
    damaged.file_at(0).clear();
    assert!(matches!(damaged.scan(), Err(StorageError::DamagedLog { .. })));

    // Without a commit there is nothing to drop.
    let mut empty = Logs::new();
    empty.file().extend([7; 20]);
    empty.begin();
    empty.write(b"", 0);
    assert_eq!(empty.scan().unwrap().torn, empty.torn(0, 0));

    // A log that begins elsewhere does not excuse the damage.
    recovered.files[1].1.clear();
    recovered.sequence += 1;
    recovered.synced_commits(&[20]);
    assert!(matches!(recovered.scan(), Err(StorageError::DamagedLog { .. })));
}

#[test]
fn batches_of_format_1_are_read_and_prove_damage() {
    let mut logs = Logs::new();
    for _ in 0..3 {
        logs.write(b"changes without a commit record, as format 1 has them", 3);
    }
    assert_eq!(logs.scan().unwrap(), LogScan::default());
    let mut torn = logs.clone();
    let at = torn.commits[2].2.start;
    torn.file()[at + 9] ^= 4;
    assert_eq!(torn.scan().unwrap().torn, logs.torn(0, at));
    torn.file()[9] ^= 4;
    assert_damaged(torn.scan(), "000004.log", 0, None);
    // The first commits of format 2 come after them.
    logs.synced_commits(&[10, 10]);
    assert_eq!(logs.scan().unwrap().last, logs.last);
    logs.write(b"too short for a batch", 1);
    append(logs.file(), b"short");
    let end = logs.file().len() - 12;
    assert_eq!(logs.scan().unwrap().torn, logs.torn(0, end));
}

#[test]
fn pieces_of_a_record_stand_together() {
    for pieces in [&[2][..], &[3], &[4], &[2, 3], &[2, 2, 4], &[2, 1], &[2, 9, 4], &[2, 1, 1]] {
        let mut logs = Logs::new();
        logs.synced_commits(&[10]);
        let (last, at) = (logs.last, logs.file().len());
        for kind in pieces {
            append_piece(logs.file(), *kind, b"");
        }
        let torn = logs.torn(0, at);
        assert_eq!(logs.scan().unwrap(), LogScan { last, torn }, "{pieces:?}");
        logs.synced_commits(&[10, 10]);
        assert_damaged(logs.scan(), "000004.log", at, Some((1, 1)));
    }
}

#[test]
fn lengths_that_lie_are_not_believed() {
    let mut log = Vec::new();
    for kind in [1, 2, 3, 4, 9, 130] {
        log.extend([0, 0, 0, 0, 0xff, 0xff, kind]);
        append_piece(&mut log, kind, &[]);
    }
    let logs = Logs { files: vec![(4, log)], ..Logs::default() };
    assert_eq!(logs.scan().unwrap().torn, logs.torn(0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn rubbish_is_a_torn_log(bytes in proptest::collection::vec(any::<u8>(), 1..3000), size in 1..40_usize) {
        let last = bytes[bytes.len() - 1] | 1;
        let log = [&bytes.repeat(size)[..], &[last]].concat();
        let logs = Logs { files: vec![(4, log)], ..Logs::default() };
        prop_assert!(logs.scan().unwrap().torn.is_some());
    }

    /// Whatever is done to good logs, the answer is a state that there was, or damage.
    #[test]
    fn surgery_never_gives_a_state_that_never_was(
        sizes in proptest::collection::vec(0..30_000_usize, 1..8),
        cuts in proptest::collection::vec((0..3_u8, any::<usize>(), any::<usize>(), any::<u8>()), 1..4),
    ) {
        let mut logs = Logs::new();
        for (at, bytes) in sizes.iter().enumerate() {
            if at % 3 == 2 {
                logs.begin();
            }
            logs.commit(*bytes, (at / 2 * 2) as u64);
        }
        for (kind, at, len, value) in cuts {
            let files = logs.files.len();
            let log = &mut logs.files[at % files].1;
            let at = at % (log.len() + 1);
            let to = (at + len % 5000).min(log.len());
            match kind {
                0 => log[at..to].fill(value),
                1 => drop(log.drain(at..to)),
                _ => log.rotate_left(at),
            }
        }
        match logs.scan() {
            Ok(found) => {
                let known = |last| logs.commits.iter().any(|(commit, ..)| *commit == last);
                prop_assert!(found.last.is_none_or(known));
            }
            Err(error) => {
                let is_damage = matches!(error, StorageError::DamagedLog { .. });
                prop_assert!(is_damage);
            }
        }
    }
}
