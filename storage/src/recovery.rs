//! What opening does about a log that is not whole, and proof that all of it was recovered.
//!
//! RocksDB recovers up to the first bad byte and says nothing. So the log is looked through before
//! ([`log_scan`]), the unfinished end that a crash left is cut off, and what RocksDB has recovered
//! then is held against what was seen. Nothing is cut that was acknowledged, but by
//! [`cut_damage`], which the user asks for.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::engine::{Engine, Memory};
use crate::error::{Result, StorageError};
use crate::log_scan::{self, Commit, Gap, LogScan, Torn};
use crate::store::lost;

/// Looks through the log and makes it ready to be recovered.
pub(crate) fn prepare(path: &Path, memory: Memory) -> Result<LogScan> {
    let scan = log_scan::scan(path)?;
    if let Some(gap) = &scan.gap {
        check_gap(path, gap, memory)?;
    }
    if let Some(torn) = &scan.torn {
        cut(path, torn)?;
    }
    Ok(scan)
}

/// Cuts the log where it is torn or damaged, whatever stands behind. Gives what was cut.
pub(crate) fn cut_damage(path: &Path) -> Result<Option<Torn>> {
    let torn = match log_scan::scan(path) {
        Ok(scan) => scan.torn,
        Err(StorageError::DamagedLog { file, offset, .. }) => {
            let bytes = bytes_from(path, &file, offset)?;
            Some(Torn { file, offset, bytes })
        }
        Err(error) => return Err(error),
    };
    if let Some(torn) = &torn {
        cut(path, torn)?;
    }
    Ok(torn)
}

/// What was recovered must be what the log holds.
pub(crate) fn check(scan: &LogScan, recovered: Commit) -> Result<()> {
    match scan.last {
        Some(last) if last != recovered => Err(unlike(last, recovered)),
        _ => Ok(()),
    }
}

/// Beside a writer it may be more, but no more than the log holds by now.
pub(crate) fn check_beside_writer(path: &Path, before: &LogScan, recovered: Commit) -> Result<()> {
    if let Some(last) = before.last.filter(|last| last.number > recovered.number) {
        return Err(unlike(last, recovered));
    }
    if before.last == Some(recovered) || before.torn.is_none() {
        return Ok(());
    }
    // A log that was torn already holds no more now, unless somebody writes to it.
    match log_scan::scan(path)?.last {
        Some(last) if last.number < recovered.number => Err(unlike(last, recovered)),
        _ => Ok(()),
    }
}

fn unlike(last: Commit, recovered: Commit) -> StorageError {
    let (last, recovered) = (last.number, recovered.number);
    lost(&format!("the log ends with commit {last}, and what was recovered with {recovered}"))
}

/// Commits that are in no log must be in the tables: no log before the gap may still be needed.
fn check_gap(path: &Path, gap: &Gap, memory: Memory) -> Result<()> {
    let number = |name: &str| name.strip_suffix(".log").and_then(|stem| stem.parse::<u64>().ok());
    let behind = number(&gap.file).unwrap_or(0);
    let logs = log_scan::logs(path)?;
    let before = logs.iter().filter_map(|(name, _)| number(name)).rfind(|log| *log < behind);
    let needed = Engine::open_read_only(path, memory)?.oldest_log_needed()?;
    if before.is_some_and(|before| before < needed) && needed <= behind {
        return Ok(());
    }
    Err(lost(&format!(
        "{} begins with commit {}, and a log with commit {} is missing",
        gap.file, gap.found, gap.expected
    )))
}

/// Cuts a log, and the logs behind it: these first, so that a crash leaves no gap.
fn cut(path: &Path, torn: &Torn) -> Result<()> {
    for (name, log) in log_scan::logs(path)?.into_iter().rev() {
        let io = |source| StorageError::Io { path: log.clone(), source };
        if name == torn.file {
            let file = OpenOptions::new().write(true).open(&log).map_err(io)?;
            file.set_len(torn.offset).and_then(|()| file.sync_all()).map_err(io)?;
            break;
        }
        std::fs::remove_file(&log).map_err(io)?;
    }
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|source| StorageError::Io { path: path.to_owned(), source })
}

/// Bytes from a place in a log to the end of the last log.
fn bytes_from(path: &Path, file: &str, offset: u64) -> Result<u64> {
    let mut bytes = 0;
    for (name, log) in log_scan::logs(path)?.into_iter().rev() {
        let io = |source| StorageError::Io { path: log.clone(), source };
        bytes += log.metadata().map_err(io)?.len();
        if name == file {
            break;
        }
    }
    Ok(bytes.saturating_sub(offset))
}
