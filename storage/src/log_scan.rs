//! Looks through RocksDB's write-ahead logs before RocksDB does.
//!
//! Recovery stops at the first bad byte of a log and drops the rest without a word. That is right
//! for a write which a power failure cut short, and wrong for a disk that lost bits. The scan
//! tells them apart: commits say which commits before them were on the disk already, so one that
//! stands whole behind the bad bytes can prove that acknowledged work was there. It also finds a
//! log of another database, and a log that is missing.
//!
//! ```text
//! batch    sequence 8 · count 4 · changes · commit record        little-endian, as RocksDB has it
//! commit record, a put into `meta`:
//!          0x05 · family 1 · 0x06 · "commit" · 0x14 · number 8 · synced 8 · chain 4    big-endian
//! ```
//!
//! A batch of format 1 has no commit record, and nothing is known of it. A batch without changes
//! is RocksDB's own, written after a recovery.
//!
//! What no log can tell: whether its very last write was torn or damaged, and whether buffered
//! commits were lost together with the synced one that came right after them.
//!
//! It never writes, never needs RocksDB, and never trusts a length.

mod records;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{Result, StorageError};
use records::{Event, Records};

/// Bytes of a batch before its changes.
const BATCH_HEADER_BYTES: usize = 12;
/// Bytes of a commit record as it stands in a batch.
const TRAILER_BYTES: usize = 10 + Commit::BYTES;
/// Bytes in the log of the smallest batch with a commit record.
const COMMIT_BYTES_MIN: u64 = (7 + BATCH_HEADER_BYTES + TRAILER_BYTES) as u64;
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

/// What the logs of a folder hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LogScan {
    /// The last commit that recovery may reach.
    pub(crate) last: Option<Commit>,
    /// What recovery drops, if anything.
    pub(crate) torn: Option<Torn>,
    /// The first place where commits are missing between two files, if any.
    pub(crate) gap: Option<Gap>,
}

/// The end of a log that was never finished.
///
/// Recovery stops here by itself, unless zeros stand here up to the end of a block: it passes over
/// those. To be sure, delete the later logs, newest first, and then cut this one at `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The name of the log file.
    pub file: String,
    /// Where in the file the first record begins that is not whole.
    pub offset: u64,
    /// Bytes from there to the end of the last log.
    pub bytes: u64,
}

/// Commits that are in no log: flushed, if the file before is a leftover, and lost if it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The file that begins too late.
    pub(crate) file: String,
    /// The commit that comes after the file before.
    pub(crate) expected: u64,
    /// The commit that it begins with.
    pub(crate) found: u64,
}

/// Reads all logs in `folder`. Where there are none, or no folder, there is nothing to say.
pub(crate) fn scan(folder: &Path) -> Result<LogScan> {
    let mut judge = Judge::default();
    for (name, path) in logs(folder)? {
        let io = |source| StorageError::Io { path: path.clone(), source };
        match File::open(&path) {
            Ok(file) => judge.read(name, file, io)?,
            // A writer beside this reader deletes logs that it no longer needs.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
    }
    judge.finish()
}

/// Names and paths of the logs, in the order in which they were begun.
pub(crate) fn logs(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let io = |source| StorageError::Io { path: folder.to_owned(), source };
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
            logs.push((number, name, entry.path()));
        }
    }
    logs.sort_by_key(|(number, ..): &(u64, _, _)| *number);
    Ok(logs.into_iter().map(|(_, name, path)| (name, path)).collect())
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
    /// The commit that recovery has reached.
    last: Option<Commit>,
    /// The sequence number that recovery expects; unknown before the first batch.
    next_sequence: Option<u64>,
    gap: Option<Gap>,
    damage: Option<Damage>,
    /// The log being read.
    file: String,
    /// Bytes of the logs before it.
    bytes_before: u64,
    /// Whether something stood in it before this.
    begun: bool,
    /// Whether a commit stood in it before this.
    has_commit: bool,
}

/// Where recovery stops, and what stands behind.
struct Damage {
    file: String,
    offset: u64,
    /// The offset over all logs together.
    position: u64,
    /// The first commit behind it.
    witness: Option<Witness>,
    /// The greatest `synced` behind it.
    synced: u64,
    /// Whether batches of format 1 stand behind it.
    has_old: bool,
}

/// A commit that stands behind damage.
struct Witness {
    number: u64,
    /// Bytes between damage and commit.
    distance: u64,
    /// Whether all of its batch is there.
    is_whole: bool,
}

impl Judge {
    fn read(
        &mut self,
        name: String,
        file: File,
        io: impl Fn(std::io::Error) -> StorageError,
    ) -> Result<()> {
        let mut records = Records::new(file);
        (self.file, self.begun, self.has_commit) = (name, false, false);
        while let Some(event) = records.next().map_err(&io)? {
            match event {
                Event::Whole(offset) => self.record(offset, records.record())?,
                Event::Tail(offset) => {
                    self.bad(offset);
                    if let Some((_, commit)) = Commit::split(records.record()) {
                        self.witness(offset, commit, false);
                    }
                }
                Event::Bad(offset) => self.bad(offset),
            }
            self.begun = true;
        }
        self.bytes_before += records.bytes();
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
        // A power failure may leave blocks of deleted logs behind the end.
        let is_stale = self.next_sequence.is_some_and(|next| batch.sequence < next);
        match Commit::split(batch.entries) {
            _ if is_stale || batch.entries.is_empty() => {}
            Some((_, commit)) => self.witness(offset, commit, true),
            None => self.damage.iter_mut().for_each(|damage| damage.has_old = true),
        }
        Ok(())
    }

    /// A batch that recovery replays.
    fn follow(&mut self, offset: u64, batch: &Batch<'_>) -> Result<()> {
        self.next_sequence = Some(batch.next_sequence);
        let Some((changes, commit)) = Commit::split(batch.entries) else { return Ok(()) };
        if let Some(last) = self.last {
            let expected = last.number.saturating_add(1);
            if commit.number > expected && !self.has_commit {
                let (file, found) = (self.file.clone(), commit.number);
                self.gap.get_or_insert(Gap { file, expected, found });
            } else if commit.number != expected || commit.chain != chain(last.chain, changes) {
                return Err(StorageError::DamagedLog {
                    file: self.file.clone(),
                    offset,
                    reason: "a commit that does not follow from the one before it; \
                             the log is another database's, or a part is missing",
                    lost: None,
                });
            }
        }
        (self.last, self.has_commit) = (Some(commit), true);
        Ok(())
    }

    fn bad(&mut self, offset: u64) {
        self.damage.get_or_insert_with(|| Damage {
            file: self.file.clone(),
            offset,
            position: self.bytes_before + offset,
            witness: None,
            synced: 0,
            has_old: false,
        });
    }

    /// A commit behind the damage.
    fn witness(&mut self, offset: u64, commit: Commit, is_whole: bool) {
        let Some(damage) = &mut self.damage else { return };
        if self.last.is_some_and(|last| commit.number <= last.number) {
            return;
        }
        let distance = self.bytes_before + offset - damage.position;
        damage.witness.get_or_insert(Witness { number: commit.number, distance, is_whole });
        damage.synced = damage.synced.max(commit.synced);
    }

    fn finish(self) -> Result<LogScan> {
        let torn = match self.damage {
            Some(damage) => Some(damage.torn(self.last, self.bytes_before)?),
            None => None,
        };
        Ok(LogScan { last: self.last, torn, gap: self.gap })
    }
}

impl Damage {
    /// The damage as the end of an unfinished write, if it can be one.
    fn torn(self, last: Option<Commit>, bytes: u64) -> Result<Torn> {
        let Some((reason, lost)) = self.proof(last) else {
            return Ok(Torn { file: self.file, offset: self.offset, bytes: bytes - self.position });
        };
        Err(StorageError::DamagedLog { file: self.file, offset: self.offset, reason, lost })
    }

    /// Why it cannot be the end of an unfinished write, and which commits were surely on the disk.
    fn proof(&self, last: Option<Commit>) -> Option<(&'static str, Option<RangeInclusive<u64>>)> {
        if self.has_old {
            return Some(("bytes that are no record, before batches of an older format", None));
        }
        let witness = self.witness.as_ref()?;
        // Where no commit is known before the damage, the lost ones are as many as had room in
        // it: one too many refuses a log that was torn, one too few would lose a commit.
        let lost = match last {
            Some(last) => last.number.saturating_add(1),
            None => witness.number.saturating_sub(witness.distance / COMMIT_BYTES_MIN),
        };
        if self.synced > lost {
            let to = self.synced - 1;
            let from = if last.is_some() { lost } else { witness.number.min(to) };
            return Some(("bytes that are no record, before synced commits", Some(from..=to)));
        }
        // Nothing writes to a log behind a write of its own that failed.
        (witness.is_whole && witness.number == lost)
            .then_some(("bytes that are no record and no lost commit, before commits", None))
    }
}
