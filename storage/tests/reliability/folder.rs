//! The files of a database: prepared, copied, told apart, and hurt.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engraph_storage::{Durability, Memory, Result, Store};

use crate::workload::Workload;

/// So little that tables are written often.
const MEMORY: Memory = Memory { cache: 16 << 20, write_buffers: 16 << 20, reads: 8 << 20 };

/// Opens a database for writing.
pub(crate) fn open(path: &Path) -> Result<Store> {
    Store::open(path, MEMORY)
}

/// Opens a database for reading.
pub(crate) fn open_read_only(path: &Path) -> Result<Store> {
    Store::open_read_only(path, MEMORY)
}

/// Opens a database for writing, whatever of its log that costs.
pub(crate) fn recover(path: &Path) -> Result<Store> {
    Store::recover(path, MEMORY)
}

/// What a file is to RocksDB, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Sorted keys.
    Table,
    /// Commits not yet in tables.
    Log,
    /// Which tables there are.
    Manifest,
    /// Which manifest it is.
    Current,
    /// The name of the database.
    Identity,
    /// How it was opened.
    Options,
    /// What the engine tells people, locks, and anything else.
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "CURRENT" => Self::Current,
            "IDENTITY" => Self::Identity,
            _ if name.ends_with(".sst") => Self::Table,
            _ if name.ends_with(".log") => Self::Log,
            _ if name.starts_with("MANIFEST-") => Self::Manifest,
            _ if name.starts_with("OPTIONS-") => Self::Options,
            _ => Self::Other,
        }
    }
}

/// The files of a folder with their kinds, in order of name.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Kind)> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let mut files: Vec<(PathBuf, Kind)> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let kind = Kind::of(&name(&path));
            (path, kind)
        })
        .collect();
    files.sort();
    files
}

/// The files of a kind.
pub(crate) fn of_kind(folder: &Path, kind: Kind) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|(_, found)| *found == kind).map(|(path, _)| path).collect()
}

/// The last part of a path.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Copies a database into a new folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    // Whatever was there before is in the way.
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a folder can be made");
    for (path, _) in files(from) {
        // A file that the engine removes meanwhile is not part of the database any more.
        let _ = fs::copy(&path, to.join(name(&path)));
    }
}

/// Copies a database that is open and at rest, but for what the engine does in the background:
/// again, until nothing has changed meanwhile.
fn copy_alive(from: &Path, to: &Path) {
    let listing = || -> Vec<_> {
        let seen = files(from).into_iter().map(|(path, _)| {
            let seen = fs::metadata(&path).ok().map(|seen| (seen.len(), seen.modified().ok()));
            (path, seen)
        });
        seen.collect()
    };
    for _ in 0..100 {
        let before = listing();
        std::thread::sleep(Duration::from_millis(20));
        if before == listing() {
            copy(from, to);
            if before == listing() {
                return;
            }
        }
    }
    panic!("the database never rests");
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a file can be read")
}

/// Gives a file other bytes.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file can be written");
}

/// A database as a killed process leaves it.
pub(crate) struct Prepared {
    /// The folder.
    pub(crate) path: PathBuf,
    /// What was written.
    pub(crate) workload: Workload,
    /// The last transaction.
    pub(crate) last: u64,
    /// The newest log.
    pub(crate) log: String,
    /// The transactions of that log, and where each of them ends in it.
    pub(crate) ends: Vec<(u64, u64)>,
}

impl Prepared {
    /// Writes so many transactions each time the database is opened. The last time it is not
    /// closed but copied, so that the newest log is alive. Each commit is synced, so damage to it can
    /// be told from a crash.
    pub(crate) fn make(root: &Path, name: &str, workload: Workload, sessions: &[u64]) -> Self {
        let path = root.join(name);
        let empty = Self { path, workload, last: 0, log: String::new(), ends: Vec::new() };
        empty.write(&root.join("alive"), sessions, Durability::Sync)
    }

    /// The same database some time later, in another folder.
    pub(crate) fn later(
        &self,
        root: &Path,
        name: &str,
        sessions: &[u64],
        durability: Durability,
    ) -> Self {
        let scene = root.join("alive");
        copy(&self.path, &scene);
        let (path, log) = (root.join(name), String::new());
        Self { path, log, ends: Vec::new(), ..*self }.write(&scene, sessions, durability)
    }

    fn write(mut self, scene: &Path, sessions: &[u64], durability: Durability) -> Self {
        for (index, count) in sessions.iter().enumerate() {
            let store = open(scene).expect("a whole database opens");
            for _ in 0..*count {
                self.last += 1;
                let written = self.workload.write(&store, self.last, durability);
                written.expect("a whole disk can be written");
                let newest = newest_log(scene);
                if self.log != self::name(&newest) {
                    self.log = self::name(&newest);
                    self.ends.clear();
                }
                let length = fs::metadata(&newest).expect("the log is there").len();
                self.ends.push((self.last, length));
            }
            if index + 1 == sessions.len() {
                copy_alive(scene, &self.path);
            }
        }
        fs::remove_dir_all(scene).expect("a folder can be removed");
        self
    }

    /// The last transaction that is whole when the newest log ends after `length` bytes.
    pub(crate) fn last_within(&self, length: u64) -> u64 {
        let before = self.ends.first().map_or(self.last, |(n, _)| n - 1);
        let whole = self.ends.iter().take_while(|(_, end)| *end <= length);
        whole.last().map_or(before, |(n, _)| *n)
    }

    /// Where the last transaction begins in the newest log.
    pub(crate) fn final_record(&self) -> u64 {
        self.ends.iter().rev().nth(1).map_or(0, |(_, end)| *end)
    }
}

/// The log with the highest number.
pub(crate) fn newest_log(folder: &Path) -> PathBuf {
    of_kind(folder, Kind::Log).pop().expect("an open database has a log")
}

/// Where the records of a log or manifest begin, as far as they can be followed: four bytes of
/// checksum, two of length, one of kind, in blocks of 32 KiB. Other files have hardly any.
pub(crate) fn headers(bytes: &[u8]) -> Vec<usize> {
    const BLOCK: usize = 32 << 10;
    const HEADER: usize = 7;
    let (mut headers, mut at) = (Vec::new(), 0);
    while at + HEADER <= bytes.len() {
        let left = BLOCK - at % BLOCK;
        let length = usize::from(bytes[at + 4]) | usize::from(bytes[at + 5]) << 8;
        let kind = bytes[at + 6];
        if left < HEADER {
            at += left;
        } else if HEADER + length > left.min(bytes.len() - at) || !(1..=4).contains(&kind) {
            break;
        } else {
            headers.push(at);
            at += HEADER + length;
        }
    }
    headers
}
