//! What can go wrong below the language.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A failure of storage. The text says where and, where it can, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The folder cannot be read or written. Mend the path or its permissions.
    #[error("{path}: {source}", path = shown(&path.display().to_string()))]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The path leads to another folder than when the database was opened, or to none: it was moved, replaced
    /// or deleted meanwhile. Open it where it is now.
    #[error(
        "{path} is no longer the folder that was opened: it was moved, replaced or deleted meanwhile; \
         nothing was written; open the database where it is now",
        path = path.display()
    )]
    Moved {
        /// Where it was opened.
        path: PathBuf,
    },
    /// Another handle has the database open for writing. Close it, or open read-only.
    #[error(
        "{path} is open for writing in {}",
        holder(pid, *is_own),
        path = path.display()
    )]
    Locked {
        /// The database.
        path: PathBuf,
        /// The process that holds it, as far as it said.
        pid: String,
        /// Whether it is this one.
        is_own: bool,
    },
    /// There is no database to read.
    #[error("there is no database at {path}; `engraph shell` and `engraph import` make one, as `Engraph::open` does", path = path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// There is something already where a database was to be made. Nothing was changed.
    #[error("{path} is there already; name a folder that is not", path = path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The path holds something else. Nothing was changed.
    #[error("{path} is no Engraph database: {reason}", path = path.display())]
    NotADatabase {
        /// The path.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A newer version of Engraph wrote the database. Open it with that version.
    #[error(
        "the database has format {found}, and this version knows formats up to {known}; open it \
         with a newer version of Engraph"
    )]
    TooNew {
        /// The format on disk.
        found: u32,
        /// The format of this version.
        known: u32,
    },
    /// An older version of Engraph wrote the database. Upgrade it in place.
    #[error(
        "the database has format {found}, and this version reads format {known}; bring it to that \
         with `engraph upgrade {path}`",
        path = path.display()
    )]
    TooOld {
        /// The database.
        path: PathBuf,
        /// The format on disk.
        found: u32,
        /// The format of this version.
        known: u32,
    },
    /// A file of the database is not what was written. Restore a backup.
    #[error("the database is damaged: {file}: {reason}; restore a backup")]
    DamagedFile {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A key or record on disk is not what was written. Restore a backup.
    #[error("the database is damaged: {family}, key {key}: {reason}; restore a backup")]
    Corrupt {
        /// The column family.
        family: &'static str,
        /// The key, in hexadecimal.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// The write-ahead log is not what was written: opening the database would lose commits without
    /// a word. Nothing was changed. Restore a backup, or let `engraph recover` drop them.
    #[error(
        "the write-ahead log is damaged at byte {offset} of {file}: {reason}; opening would lose \
         {lost}; restore a backup, or run `engraph recover`",
        lost = lost_commits(lost.as_ref())
    )]
    DamagedLog {
        /// The name of the log file.
        file: String,
        /// Where in the file.
        offset: u64,
        /// What stands there.
        reason: &'static str,
        /// The commits that are surely lost, first and last, as far as the log tells.
        lost: Option<RangeInclusive<u64>>,
    },
    /// The key-value engine found bytes that are not what it wrote, or missed a file. Restore a backup.
    #[error("the database is damaged: {0}; restore a backup")]
    DamagedTables(String),
    /// The key-value engine failed. Whether a commit that failed so lasts is known when the
    /// database is opened again.
    #[error("the storage engine failed: {0}")]
    Engine(String),
    /// This thread has a transaction open, for whose end its own write would wait.
    #[error(
        "this thread has a transaction open, and a write beside it would wait for itself: write through \
         the transaction, or end it first"
    )]
    OwnTransaction,
    /// A write failed before, so nobody knows what the disk holds. Open the database again.
    #[error(
        "an earlier write to the disk failed, so this handle writes nothing more; mend the cause and \
         open the database again"
    )]
    Poisoned,
    /// What was forgotten is deleted, and its bytes are still in files, because a reader or a
    /// transaction that began before has not ended. They leave with the next opening for writing.
    #[error(
        "what was forgotten is deleted, but its bytes stay in the files: somebody reads or writes \
         for long; they leave when the database is next opened for writing"
    )]
    StillRead,
    /// What was forgotten is deleted, and its bytes are still in files, because the disk refused to write
    /// the files without them. They leave with the next opening for writing. Mend the disk.
    #[error(
        "what was forgotten is deleted, but its bytes stay in the files: {0}; mend that, and they leave \
         when the database is next opened for writing"
    )]
    NotPurged(#[source] Box<StorageError>),
    /// The embeddings are being made anew by the model that is named, and were not finished. Finish
    /// that with the same model.
    #[error(
        "the embeddings are being made anew by {0}, and that was not finished; run `engraph embed`, or \
         `Engraph::reembed`, to finish it"
    )]
    Unfinished(String),
    /// A load of many facts is being taken in, or was cut off there. Try again, or let a writer finish
    /// it.
    #[error(
        "a load of facts is being taken in; try again in a moment, or, if whoever loaded them is gone, \
         open the database for writing, which finishes it"
    )]
    HalfLoaded,
    /// A writer changed the list of tables each time that a reader opened the database. Try again.
    #[error(
        "the database is being changed too fast to be opened beside its writer; try again in a moment"
    )]
    Overtaken,
    /// The database was opened read-only.
    #[error("the database is open read-only; open it for writing")]
    ReadOnly,
    /// What was asked to be stored breaks a rule of the data model. Mend it.
    #[error("{0}")]
    Invalid(String),
    /// A concept was written, and the store knows no tokenizer. Open it with one.
    #[error(
        "the key of a Concept is stored by its tokens, and no tokenizer was given; open the database \
         with a model that has one"
    )]
    NoTokenizer,
    /// The tokenizer could not take the key of a concept apart; its own text says why.
    #[error("the key of a Concept cannot be taken apart: {0}")]
    Tokenizer(crate::tokenizer::TokenizerError),
    /// The gate of the read's [`Meter`](crate::Meter) ended it; who set the gate knows why.
    #[error("the read was stopped")]
    Stopped,
    /// Every id of this kind is used.
    #[error("no {0} ids are left")]
    Exhausted(&'static str),
}

impl StorageError {
    /// The error of a file or a folder, as `map_err` takes it.
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn corrupt(family: &'static str, key: &[u8], reason: impl Into<String>) -> Self {
        Self::Corrupt { family, key: hex(key), reason: reason.into() }
    }

    /// The folder holds less of a database than was written.
    pub(crate) fn lost(reason: &str) -> Self {
        Self::DamagedFile { file: "the folder".to_owned(), reason: reason.to_owned() }
    }

    pub(crate) fn not_a_database(path: &Path, reason: &str) -> Self {
        Self::NotADatabase { path: path.to_owned(), reason: reason.to_owned() }
    }
}

/// Where Linux has the files that a process holds open.
pub(crate) const OPEN_FILES: &str = "/proc/self/fd/";

/// A text with the names of files as they are in a folder that is held open.
pub(crate) fn shown(text: &str) -> String {
    let mut parts = text.split(OPEN_FILES);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        let name = part.trim_start_matches(|c: char| c.is_ascii_digit());
        shown + name.strip_prefix('/').unwrap_or(name)
    })
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Who has a database open, and what to do about it.
fn holder(pid: &str, is_own: bool) -> String {
    match is_own {
        true => "this process already; share that handle, or open it read-only".to_owned(),
        false => format!(
            "process {pid}; close it there, or read it beside that: by `engraph query`, or opened read-only"
        ),
    }
}

fn lost_commits(lost: Option<&RangeInclusive<u64>>) -> String {
    match lost {
        Some(lost) if lost.start() == lost.end() => {
            format!("commit {}, which had been acknowledged", lost.start())
        }
        Some(lost) => {
            format!("commits {} to {}, which had been acknowledged", lost.start(), lost.end())
        }
        None => "commits that may have been acknowledged".to_owned(),
    }
}

/// The result of storage.
pub type Result<T> = std::result::Result<T, StorageError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_engine_name_files_of_the_folder() {
        let text = "While open a file for random read: /proc/self/fd/12/000013.sst: No such file";
        assert_eq!(shown(text), "While open a file for random read: 000013.sst: No such file");
        assert_eq!(shown("no path"), "no path");
    }
}
