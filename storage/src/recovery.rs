//! What opening does about files that are not whole, and proof that all of the log was recovered.
//!
//! RocksDB recovers up to the first bad byte and says nothing. So the files are looked through
//! before, in this order; each step is safe once those before it found nothing wrong:
//!
//! ```text
//! list of tables   read here                             damage RocksDB would pass over, or never end
//! tables           opened by RocksDB without any log     where they end: commit, sequence number
//! logs             read here, held against that          what is torn, damaged, missing or another's
//! all of it        opened by RocksDB                     the last commit must be the one seen before
//! ```
//!
//! Where all logs are empty, the tables are all there is, and only the list and the last step remain.
//!
//! The unfinished end that a crash left is cut off: of the log itself by a writer, and of a copy by
//! a reader. Nothing is cut that was acknowledged, but by [`cut_damage`], which the user asks for.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::commit::read_commit;
use crate::engine::{Engine, Memory};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::lock;
use crate::log_scan::{self, Commit, LogScan, Tables, Torn};
use crate::place::sync_folder;
use crate::view::View;

/// Times that a reader beside a writer looks again when files changed under it.
const ATTEMPTS: u32 = 16;
/// How long it waits before the second one; before the third twice as long.
const PAUSE: Duration = Duration::from_millis(4);
/// What a folder is in which a database was begun.
pub(crate) const UNFINISHED: &str =
    "its making was not finished; open it for writing, which does that";
/// Memory for a look at the tables.
const LOOK: Memory = Memory { cache: 8 << 20, write_buffers: 8 << 20, reads: 0 };

/// Looks through the files and changes nothing.
pub(crate) fn look(path: &Path) -> Result<LogScan> {
    let flushed_log = log_scan::check_manifest(path)?;
    // To empty logs the tables need not be held: they are opened once less.
    match log_scan::are_empty(path)? {
        true => Ok(LogScan::default()),
        false => log_scan::scan(path, &Tables { flushed_log, ..tables(path)? }),
    }
}

/// Looks through the files and makes the log ready to be recovered.
pub(crate) fn prepare(path: &Path) -> Result<LogScan> {
    let scan = look(path)?;
    if let Some(torn) = &scan.torn {
        cut(path, torn)?;
    }
    Ok(scan)
}

/// Cuts the log where it is torn or damaged, or does not go with the tables, whatever stands
/// after. Gives what was cut.
pub(crate) fn cut_damage(path: &Path) -> Result<Option<Torn>> {
    let torn = end_of_use(path)?;
    // To such a list every log is another's, and what is cut would be lost.
    if torn.is_some() && !has_meta(path)? {
        let reason = "the list of tables does not name the family of commits, and there is a log";
        return Err(StorageError::lost(reason));
    }
    if let Some(torn) = &torn {
        cut(path, torn)?;
    }
    Ok(torn)
}

/// Where the log ends that is of any use, if that is not its end.
fn end_of_use(path: &Path) -> Result<Option<Torn>> {
    match look(path) {
        Ok(scan) => Ok(scan.torn),
        Err(StorageError::DamagedLog { file, offset, .. }) => {
            let bytes = bytes_from(path, &file, offset)?;
            Ok(Some(Torn { file, offset, bytes }))
        }
        Err(error) => Err(error),
    }
}

/// The family of formats and commits, if it was made already, as far as it can be read.
pub(crate) fn open_meta(path: &Path) -> Result<Option<Engine>> {
    log_scan::check_manifest(path)?;
    if !has_meta(path)? {
        return Ok(None);
    }
    let logs = cut_copy(path, end_of_use(path)?.as_ref())?;
    let logs = logs.as_ref().map(TempDir::path);
    Engine::open_read_only(path, LOOK, &[Family::Meta], logs).map(Some)
}

/// Opens beside a writer, which may be busy: an error counts only if no file changed meanwhile. It waits the longer
/// before it looks again the more often files changed: about half a second in all.
pub(crate) fn beside_writer<T>(path: &Path, open: impl Fn() -> Result<T>) -> Result<T> {
    for attempt in 0..ATTEMPTS {
        let before = listing(path);
        match open() {
            Err(_) if listing(path) != before => std::thread::sleep(PAUSE * attempt),
            result => return result,
        }
    }
    Err(StorageError::Overtaken)
}

/// Looks through the files and opens them for reading, without what is torn. RocksDB would pass over
/// some of that, and stumble over some.
///
/// RocksDB reads the list of tables first and the log later, and the log is looked through before. What
/// a writer took out of the log or told in it meanwhile, because it is in tables, would be missing without
/// a word: the list must stay as it is.
pub(crate) fn open_read_only(path: &Path, memory: Memory) -> Result<(Engine, LogScan)> {
    let before = log_scan::manifest_length(path)?;
    let scan = look(path)?;
    let logs = cut_copy(path, scan.torn.as_ref())?;
    // The log is in memory once it is open.
    let logs = logs.as_ref().map(TempDir::path);
    let engine = Engine::open_read_only(path, memory, &Family::ALL, logs).map_err(|error| {
        match has_all_families(path) {
            Ok(false) => StorageError::not_a_database(path, UNFINISHED),
            _ => error,
        }
    })?;
    match log_scan::manifest_length(path)? == before {
        true => Ok((engine, scan)),
        false => Err(StorageError::Overtaken),
    }
}

/// What is torn, if nobody is writing it.
pub(crate) fn left_behind(path: &Path, torn: Option<Torn>) -> Result<Option<Torn>> {
    if torn.is_none() || lock::is_held(path) {
        return Ok(None);
    }
    // A writer that was at it when it was seen has ended by now, and what it wrote is whole.
    Ok(look(path)?.torn.filter(|found| torn.as_ref() == Some(found)))
}

/// What was recovered must be what the tables and the log hold.
pub(crate) fn check(scan: &LogScan, recovered: Commit) -> Result<()> {
    match scan.last {
        Some(last) if last != recovered => Err(unlike(last, recovered)),
        _ => Ok(()),
    }
}

/// Beside a writer it may be more, but no more than the log holds by now.
pub(crate) fn check_beside_writer(path: &Path, before: &LogScan, recovered: Commit) -> Result<()> {
    match before.last {
        Some(last) if last == recovered => return Ok(()),
        Some(last) if last.number >= recovered.number => return Err(unlike(last, recovered)),
        _ => {}
    }
    match look(path)?.last {
        Some(last) if last.number < recovered.number => Err(unlike(last, recovered)),
        _ => Ok(()),
    }
}

fn unlike(last: Commit, recovered: Commit) -> StorageError {
    let (last, recovered) = (last.number, recovered.number);
    StorageError::lost(&format!(
        "its files end with commit {last}, and what was recovered with {recovered}"
    ))
}

/// What the tables say, read without any log; what the list of them says of logs is not among it.
fn tables(path: &Path) -> Result<Tables> {
    if !has_meta(path)? {
        return Ok(Tables::default());
    }
    let no_logs = temporary_folder()?;
    let engine = Engine::open_read_only(path, LOOK, &[Family::Meta], Some(no_logs.path()))?;
    let snapshot = engine.snapshot();
    Ok(Tables {
        commit: read_commit(View::new(&snapshot, None))?,
        sequence: engine.last_sequence(),
        oldest_log: engine.oldest_log_needed()?,
        flushed_log: 0,
    })
}

/// Whether the making of the database has come so far.
fn has_meta(path: &Path) -> Result<bool> {
    let meta = Family::Meta.name();
    Ok(path.join("CURRENT").exists() && Engine::families(path)?.iter().any(|name| name == meta))
}

/// Whether it has come to its last family.
fn has_all_families(path: &Path) -> Result<bool> {
    let made = Engine::families(path)?;
    Ok(Family::ALL.iter().all(|family| made.iter().any(|name| name == family.name())))
}

fn temporary_folder() -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("engraph-").tempdir();
    folder.map_err(|source| StorageError::Io { path: std::env::temp_dir(), source })
}

/// A copy of the logs up to the place where they are torn; none if they are whole.
fn cut_copy(path: &Path, torn: Option<&Torn>) -> Result<Option<TempDir>> {
    let Some(torn) = torn else { return Ok(None) };
    let copy = temporary_folder()?;
    for log in log_scan::logs(path)? {
        let io = StorageError::io(&log.path);
        let to = copy.path().join(&log.name);
        std::fs::copy(&log.path, &to).map_err(io)?;
        if log.name == torn.file {
            let file = OpenOptions::new().write(true).open(&to).map_err(io)?;
            file.set_len(torn.offset).map_err(io)?;
            break;
        }
    }
    Ok(Some(copy))
}

/// Cuts a log, and the logs after it: these first, so that a crash leaves no gap.
fn cut(path: &Path, torn: &Torn) -> Result<()> {
    for log in log_scan::logs(path)?.into_iter().rev() {
        let io = StorageError::io(&log.path);
        if log.name == torn.file {
            let file = OpenOptions::new().write(true).open(&log.path).map_err(io)?;
            file.set_len(torn.offset).and_then(|()| file.sync_all()).map_err(io)?;
            break;
        }
        std::fs::remove_file(&log.path).map_err(io)?;
    }
    sync_folder(path)
}

/// Bytes from a place in a log to the end of the last log.
fn bytes_from(path: &Path, file: &str, offset: u64) -> Result<u64> {
    let mut bytes = 0;
    for log in log_scan::logs(path)?.into_iter().rev() {
        let io = StorageError::io(&log.path);
        bytes += log.path.metadata().map_err(io)?.len();
        if log.name == file {
            break;
        }
    }
    Ok(bytes.saturating_sub(offset))
}

/// A file as it stands: its name, its length and when it changed.
type Listed = (std::ffi::OsString, Option<(u64, Option<SystemTime>)>);

/// The files of a folder.
fn listing(path: &Path) -> Vec<Listed> {
    let Ok(entries) = path.read_dir() else { return Vec::new() };
    let mut files: Vec<Listed> = entries
        .flatten()
        .map(|entry| {
            let seen = entry.metadata().ok().map(|seen| (seen.len(), seen.modified().ok()));
            (entry.file_name(), seen)
        })
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_counts_only_if_no_file_changed_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let missing = || Err::<(), _>(StorageError::lost("a table is missing"));
        let made = std::cell::Cell::new(0);
        let busy = || {
            made.set(made.get() + 1);
            std::fs::write(folder.path().join(format!("{}.sst", made.get())), "").unwrap();
            missing()
        };
        assert!(matches!(beside_writer(folder.path(), busy), Err(StorageError::Overtaken)));
        assert_eq!(made.get(), ATTEMPTS);
        let alone = beside_writer(folder.path(), missing);
        assert!(matches!(alone, Err(StorageError::DamagedFile { .. })));
    }
}
