//! Looks through RocksDB's write-ahead logs before RocksDB does.
//!
//! Recovery stops at the first bad byte of a log and drops the rest without a word. That is right
//! for a write which a power failure cut short, and wrong for a disk that lost bits. The scan
//! tells them apart: commits say which commits before them were on the disk already, so one that
//! stands whole after the bad bytes can prove that acknowledged work was there. It also holds the
//! logs against what the tables say, and so finds logs that are missing, older than the tables, or
//! another database's, and tables that are older than the logs.
//!
//! ```text
//! batch    sequence 8 · count 4 · changes · commit record        little-endian, as RocksDB has it
//! commit record, a put into `meta`:
//!          0x05 · family 1 · 0x06 · "commit" · 0x14 · number 8 · synced 8 · chain 4    big-endian
//! ```
//!
//! The logs go on where the tables end. They may begin before, for a log stays until every family
//! has its part of it in tables; then they must pass the last commit of the tables, as it is there,
//! and what is damaged before that is rot: RocksDB syncs a log before any table takes its place.
//!
//! A batch of format 1 has no commit record, and nothing is known of it. A batch without changes
//! is RocksDB's own, written after a recovery.
//!
//! What no log can tell: whether its very last write was torn or damaged, whether buffered commits
//! were lost together with the synced one that came right after them, and whether it was exchanged
//! for an older log of the same database that ends exactly where the tables end.
//!
//! It never writes, never needs RocksDB, and never trusts a length.

mod edits;
mod manifest;
mod records;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{Result, StorageError};
pub(crate) use manifest::{check_manifest, manifest_length};
use records::{Event, Records};

/// Bytes of a commit record as it stands in a batch.
const TRAILER_BYTES: usize = 10 + Commit::BYTES;
/// RocksDB refuses a greater sequence number.
const SEQUENCE_MAX: u64 = (1 << 56) - 1;

/// The commit record at the end of every batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Counts commits without a gap; 0 made the database.
    pub(crate) number: u64,
    /// So many commits, from number 0 on, were on the disk when this one was written.
    pub(crate) synced: u64,
    /// The [`chain`] over the changes of this commit and all before it.
    pub(crate) chain: u32,
}

impl Commit {
    /// Bytes of its value.
    pub(crate) const BYTES: usize = 20;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (number, rest) = bytes.split_at_mut(8);
        let (synced, chain) = rest.split_at_mut(8);
        number.copy_from_slice(&self.number.to_be_bytes());
        synced.copy_from_slice(&self.synced.to_be_bytes());
        chain.copy_from_slice(&self.chain.to_be_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (number, rest) = bytes.split_first_chunk()?;
        let (synced, rest) = rest.split_first_chunk()?;
        Some(Self {
            number: u64::from_be_bytes(*number),
            synced: u64::from_be_bytes(*synced),
            chain: u32::from_be_bytes(rest.try_into().ok()?),
        })
    }

    /// The commit record at the end of `entries`, and the changes before it.
    fn split(entries: &[u8]) -> Option<(&[u8], Self)> {
        let (changes, trailer) = entries.split_last_chunk::<TRAILER_BYTES>()?;
        match trailer {
            [0x05, 0..=0x7f, 0x06, b'c', b'o', b'm', b'm', b'i', b't', 0x14, value @ ..] => {
                Some((changes, Self::decode(value)?))
            }
            _ => None,
        }
    }
}

/// The checksum that ties the changes of a batch, its bytes between header and commit record, to
/// those of all commits before it. The chain before number 0 is the writer's choice.
pub(crate) fn chain(previous: u32, changes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&previous.to_be_bytes()), changes)
}

/// What the tables of a folder say, without any log. The default is that of a new database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tables {
    /// Their last commit; other families may be ahead of `meta`, which has it.
    pub(crate) commit: Option<Commit>,
    /// The last sequence number that was given away when they were last changed.
    pub(crate) sequence: u64,
    /// The first log that may hold something which they do not. Older ones are leftovers.
    pub(crate) oldest_log: u64,
    /// Some family has all that logs before this one hold in tables.
    pub(crate) flushed_log: u64,
}

/// What the logs of a folder hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LogScan {
    /// The last commit, in the logs or else in the tables: the one that recovery has to reach. None
    /// if the tables were not asked either.
    pub(crate) last: Option<Commit>,
    /// What is not to be recovered, if anything.
    pub(crate) torn: Option<Torn>,
}

/// The end of a log that was never finished.
///
/// Recovery does not always stop here by itself: it passes over zeros up to the end of a block, and
/// over a commit that is missing at the end of a file. To be sure, delete the later logs, newest
/// first, and then cut this one at `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torn {
    /// The name of the log file.
    pub file: String,
    /// Where in the file the first record begins that is not whole.
    pub offset: u64,
    /// Bytes from there to the end of the last log.
    pub bytes: u64,
}

/// A log of a folder.
pub(crate) struct LogFile {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Reads the logs in `folder` that the tables need. Where there are none, or no folder, there is
/// nothing to say.
pub(crate) fn scan(folder: &Path, tables: &Tables) -> Result<LogScan> {
    let mut judge = Judge { tables: *tables, ..Judge::default() };
    for log in logs(folder)?.into_iter().filter(|log| log.number >= tables.oldest_log) {
        let io = StorageError::io(&log.path);
        match File::open(&log.path) {
            Ok(file) => judge.read((log.name.clone(), log.number), file, io)?,
            // A writer beside this reader deletes logs that it no longer needs.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
    }
    judge.finish()
}

/// Whether nothing at all stands in any log.
pub(crate) fn are_empty(folder: &Path) -> Result<bool> {
    for log in logs(folder)? {
        match log.path.metadata() {
            Ok(file) if file.len() == 0 => {}
            Ok(_) => return Ok(false),
            // A writer beside this reader deletes logs that it no longer needs.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(StorageError::Io { path: log.path, source }),
        }
    }
    Ok(true)
}

/// The logs, in the order in which they were begun.
pub(crate) fn logs(folder: &Path) -> Result<Vec<LogFile>> {
    let io = StorageError::io(folder);
    let entries = match folder.read_dir() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io)?,
    };
    let mut logs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let digits = |stem: &&str| stem.bytes().all(|byte| byte.is_ascii_digit());
        let number = name.strip_suffix(".log").filter(digits).and_then(|stem| stem.parse().ok());
        if let Some(number) = number {
            logs.push(LogFile { number, name, path: entry.path() });
        }
    }
    logs.sort_by_key(|log| log.number);
    Ok(logs)
}

/// A batch as RocksDB logs it.
struct Batch<'b> {
    sequence: u64,
    /// The sequence number of the batch after it.
    next_sequence: u64,
    entries: &'b [u8],
}

impl<'b> Batch<'b> {
    fn parse(record: &'b [u8]) -> Option<Self> {
        let (sequence, rest) = record.split_first_chunk()?;
        let (count, entries) = rest.split_first_chunk()?;
        let sequence = u64::from_le_bytes(*sequence);
        let next_sequence = sequence.checked_add(u32::from_le_bytes(*count).into())?;
        (sequence <= SEQUENCE_MAX).then_some(Self { sequence, next_sequence, entries })
    }
}

/// What is known while the logs are read.
#[derive(Default)]
struct Judge {
    tables: Tables,
    /// The last commit of the logs that recovery reaches.
    last: Option<Commit>,
    /// Whether the commits were seen to go with those of the tables.
    fits: bool,
    /// The sequence number that recovery expects; unknown before the first batch.
    next_sequence: Option<u64>,
    /// Where the first batch begins.
    start: Option<(String, u64)>,
    damage: Option<Damage>,
    /// The log being read, and its number.
    file: String,
    number: u64,
    /// Logs before it.
    files_before: u64,
    /// Bytes of the logs before it.
    bytes_before: u64,
    /// Whether something stood in it before this.
    begun: bool,
}

/// How a commit goes with what is known.
enum Fit {
    Follows,
    /// Commits before it are missing.
    Ahead,
    Foreign,
}

/// Where recovery has to stop, and what stands after.
struct Damage {
    file: String,
    offset: u64,
    /// The offset over all logs together.
    position: u64,
    /// Whether a whole commit stands here that comes too early.
    is_gap: bool,
    /// The number of the first commit after it, and whether all of its batch is there.
    witness: Option<(u64, bool)>,
    /// The greatest `synced` after it.
    synced: u64,
    /// Whether something stands after it that is in the tables.
    has_flushed: bool,
    /// Whether batches of format 1 stand after it.
    has_old: bool,
}

impl Judge {
    fn read(
        &mut self,
        (name, number): (String, u64),
        file: File,
        io: impl Fn(std::io::Error) -> StorageError,
    ) -> Result<()> {
        let mut records = Records::new(file);
        (self.file, self.number, self.begun) = (name, number, false);
        while let Some(event) = records.next().map_err(&io)? {
            match event {
                Event::Whole(offset) => self.record(offset, records.record())?,
                Event::Tail(offset) => {
                    self.bad(offset);
                    if let Some((_, commit)) = Commit::split(records.record()) {
                        self.witness(commit, false);
                    }
                }
                Event::Bad(offset) => self.bad(offset),
            }
            self.begun = true;
        }
        self.bytes_before += records.bytes();
        self.files_before += 1;
        Ok(())
    }

    fn record(&mut self, offset: u64, record: &[u8]) -> Result<()> {
        let Some(batch) = Batch::parse(record) else {
            self.bad(offset);
            return Ok(());
        };
        // RocksDB's own rule: a log that begins where recovery stopped was written after that
        // recovery, so whatever was dropped then was given up knowingly.
        if !self.begun && self.next_sequence == Some(batch.sequence) {
            self.damage = None;
        }
        if self.damage.is_none() {
            return self.follow(offset, &batch);
        }
        // A power failure may leave blocks of deleted logs after the end.
        let is_stale = self.next_sequence.is_some_and(|next| batch.sequence < next);
        match Commit::split(batch.entries) {
            _ if is_stale || batch.entries.is_empty() => {}
            Some((_, commit)) => self.witness(commit, true),
            None => self.damage.iter_mut().for_each(|damage| damage.has_old = true),
        }
        Ok(())
    }

    /// A batch that recovery replays, unless commits are missing before it.
    fn follow(&mut self, offset: u64, batch: &Batch<'_>) -> Result<()> {
        // The tables know that this log was begun, so its name lasts; its contents may not.
        let is_first = self.next_sequence.is_none() && self.files_before == 0;
        if is_first && batch.sequence > self.tables.sequence.saturating_add(1) {
            let reason = "it begins after the end of the tables; a log is missing, \
                          or the tables are of another time";
            return Err(self.unfit(offset, reason, None));
        }
        if let Some((changes, commit)) = Commit::split(batch.entries) {
            match self.fit(changes, commit) {
                Fit::Follows => {}
                Fit::Ahead => {
                    self.bad(offset);
                    // At the beginning of a log it is the one before that is not whole.
                    let is_before = !self.begun && self.number <= self.tables.flushed_log;
                    if let Some(damage) = &mut self.damage {
                        damage.is_gap = true;
                        damage.has_flushed |= is_before;
                    }
                    self.witness(commit, true);
                    return Ok(());
                }
                Fit::Foreign => {
                    let reason = "a commit that does not follow from the one before it; \
                                  the log is another database's, or a part is missing";
                    return Err(self.unfit(offset, reason, None));
                }
            }
            self.fits |= self.tables.commit.is_none_or(|flushed| flushed.number <= commit.number);
            self.last = Some(commit);
        }
        self.start.get_or_insert_with(|| (self.file.clone(), offset));
        self.next_sequence = Some(batch.next_sequence);
        Ok(())
    }

    fn fit(&self, changes: &[u8], commit: Commit) -> Fit {
        let flushed = self.tables.commit;
        let before = self.last.or(flushed.filter(|flushed| flushed.number < commit.number));
        let expected = match before {
            Some(before) => before.number.saturating_add(1),
            None if flushed.is_none() => 0,
            // The first of the logs is in the tables already.
            None => commit.number,
        };
        let is_chained = before.is_none_or(|before| commit.chain == chain(before.chain, changes));
        let is_other =
            |flushed: Commit| flushed.number == commit.number && flushed.chain != commit.chain;
        match commit.number {
            number if number > expected => Fit::Ahead,
            number if number < expected => Fit::Foreign,
            _ if is_chained && !flushed.is_some_and(is_other) => Fit::Follows,
            _ => Fit::Foreign,
        }
    }

    /// Logs that do not go with the tables: from `offset` on, if what is before that was seen to.
    fn unfit(
        &self,
        offset: u64,
        reason: &'static str,
        lost: Option<RangeInclusive<u64>>,
    ) -> StorageError {
        let (file, offset) = match &self.start {
            Some((file, offset)) if !self.fits => (file.clone(), *offset),
            _ => (self.file.clone(), offset),
        };
        StorageError::DamagedLog { file, offset, reason, lost }
    }

    fn bad(&mut self, offset: u64) {
        self.damage.get_or_insert_with(|| Damage {
            file: self.file.clone(),
            offset,
            position: self.bytes_before + offset,
            is_gap: false,
            witness: None,
            synced: 0,
            has_flushed: self.number < self.tables.flushed_log,
            has_old: false,
        });
    }

    /// A commit after the damage.
    fn witness(&mut self, commit: Commit, is_whole: bool) {
        let Some(damage) = &mut self.damage else { return };
        if self.last.is_some_and(|last| commit.number <= last.number) {
            return;
        }
        let flushed = self.tables.commit;
        damage.has_flushed |= flushed.is_some_and(|flushed| commit.number <= flushed.number);
        damage.witness.get_or_insert((commit.number, is_whole));
        damage.synced = damage.synced.max(commit.synced);
    }

    fn finish(mut self) -> Result<LogScan> {
        let flushed = self.tables.commit;
        let last = [self.last, flushed].into_iter().flatten().max_by_key(|commit| commit.number);
        let ends_early =
            self.last.is_some_and(|own| last.is_some_and(|last| own.number < last.number));
        let torn = match self.damage.take() {
            Some(damage) => Some(damage.torn(last, ends_early, self.bytes_before)?),
            None if ends_early => {
                let reason = "it ends before the tables do; it is an older one";
                return Err(self.unfit(0, reason, None));
            }
            None => None,
        };
        Ok(LogScan { last, torn })
    }
}

impl Damage {
    /// The damage as the end of an unfinished write, if it can be one. `last` is the last commit
    /// that is known without what stands after, and the logs may end before it.
    fn torn(self, last: Option<Commit>, ends_early: bool, bytes: u64) -> Result<Torn> {
        let Some((reason, lost)) = self.proof(last, ends_early) else {
            return Ok(Torn { file: self.file, offset: self.offset, bytes: bytes - self.position });
        };
        Err(StorageError::DamagedLog { file: self.file, offset: self.offset, reason, lost })
    }

    /// Why it cannot be the end of an unfinished write, and which commits were surely on the disk.
    fn proof(
        &self,
        last: Option<Commit>,
        ends_early: bool,
    ) -> Option<(&'static str, Option<RangeInclusive<u64>>)> {
        let from = last.map_or(0, |last| last.number.saturating_add(1));
        let lost = (self.synced > from).then(|| from..=self.synced - 1);
        if self.has_old {
            return Some(("bytes that are no record, before batches of an older format", None));
        }
        if ends_early || self.has_flushed {
            return Some(("bytes that are no record, before commits of the tables", lost));
        }
        if lost.is_some() {
            let reason = match self.is_gap {
                true => {
                    "a commit that does not follow from the one before it; synced commits are \
                         missing"
                }
                false => "bytes that are no record, before synced commits",
            };
            return Some((reason, lost));
        }
        // Nothing writes to a log after a write of its own that failed.
        (self.witness == Some((from, true)))
            .then_some(("bytes that are no record and no lost commit, before commits", None))
    }
}
