//! Looks through RocksDB's list of tables before RocksDB does.
//!
//! The list has the form of a log. RocksDB takes a length that points after its end for the end
//! itself, so one flipped bit can hide all that stands after; and it reads a header of a recycled
//! file again and again without an end. Neither is to be met: the list is refused where a record
//! stands whole after a place that has none, and where such a place could keep RocksDB. A record
//! that is not finished at the very end is left to RocksDB: it drops one that is cut short, and
//! refuses one with a wrong checksum.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use super::edits::flushed_before;
use super::records::{Event, Records};
use crate::error::{Result, StorageError};

/// The file that names the list.
const CURRENT: &str = "CURRENT";
/// The most bytes that are read of it.
const CURRENT_BYTES_MAX: u64 = 64;

/// Refuses a list of tables that RocksDB would read wrongly. A folder without one is a new one.
///
/// Gives the first log that the family needs whose tables reach furthest; 0 if there are no tables. What is damaged in
/// a log before that is not the end of an unfinished write: a log is synced before tables take its place.
pub(crate) fn check_manifest(folder: &Path) -> Result<u64> {
    let Some(name) = current(folder)? else { return Ok(0) };
    let path = folder.join(&name);
    let damaged =
        |reason: &str| StorageError::DamagedFile { file: name.clone(), reason: reason.to_owned() };
    let io = StorageError::io(&path);
    let file = match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(damaged("the file CURRENT names it, and it is missing"));
        }
        file => file.map_err(io)?,
    };
    let (mut records, mut is_broken, mut newest) = (Records::new(file), false, 0);
    let mut is_empty = true;
    while let Some(event) = records.next().map_err(io)? {
        match event {
            Event::Bad(_) => is_broken = true,
            Event::Whole(_) | Event::Tail(_) if is_broken => {
                return Err(damaged("bytes that are no record, before records"));
            }
            Event::Tail(_) => return Err(damaged("a record without its beginning")),
            Event::Whole(_) => {
                is_empty = false;
                newest = newest.max(flushed_before(records.record()).unwrap_or(0));
            }
        }
    }
    // It has its name once it has a record.
    if is_empty {
        return Err(damaged("it has no record"));
    }
    match records.has_recycled() {
        true => Err(damaged("bytes of a recycled file, which it never is")),
        false => Ok(newest),
    }
}

/// The list of tables as it stands, its name and its length; each change makes it longer, or another.
pub(crate) fn manifest_length(folder: &Path) -> Result<Option<(String, u64)>> {
    let Some(name) = current(folder)? else { return Ok(None) };
    let path = folder.join(&name);
    match path.metadata() {
        Ok(seen) => Ok(Some((name, seen.len()))),
        Err(source) => Err(StorageError::io(&path)(source)),
    }
}

/// The name of the list; none if there is no file that says it.
fn current(folder: &Path) -> Result<Option<String>> {
    let path = folder.join(CURRENT);
    let mut text = Vec::new();
    let read =
        File::open(&path).and_then(|file| file.take(CURRENT_BYTES_MAX).read_to_end(&mut text));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StorageError::io(&path)(source)),
    }
    let text = String::from_utf8(text).unwrap_or_default();
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_suffix('\n') {
        Some(name) if name.strip_prefix("MANIFEST-").is_some_and(is_number) => {
            Ok(Some(name.to_owned()))
        }
        _ => Err(StorageError::DamagedFile {
            file: CURRENT.to_owned(),
            reason: "it does not name a list of tables".to_owned(),
        }),
    }
}
