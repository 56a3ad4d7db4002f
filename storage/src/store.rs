//! The store: one folder, one writer at a time, any number of readers.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::catalog::Catalog;
use crate::engine::{Durability, Engine, EngineSnapshot};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Interval, Time};
use crate::lock::{LOCK_FILE, WriterLock};
use crate::overlay::{Overlay, View};
use crate::reader::Reader;
use crate::stamp::restamp;
use crate::transaction::Transaction;

/// The format that this version reads and writes.
pub const FORMAT: u32 = 1;

const FORMAT_KEY: &[u8] = b"format";
const COUNTERS_KEY: &[u8] = b"counters";

/// Numbers that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counters {
    pub(crate) next_node: u64,
    pub(crate) next_fact: u64,
    /// The system time of the last commit.
    pub(crate) clock: Time,
}

impl Counters {
    pub(crate) fn put(&self, overlay: &mut Overlay) {
        let value =
            [self.next_node.to_be_bytes(), self.next_fact.to_be_bytes(), self.clock.to_be_bytes()];
        overlay.put(Family::Meta, COUNTERS_KEY, value.concat());
    }

    fn read(view: View<'_>) -> Result<Self> {
        let Some(bytes) = view.get(Family::Meta, COUNTERS_KEY)? else {
            return Ok(Self::default());
        };
        let (parts, rest) = bytes.as_chunks();
        match (parts, rest) {
            ([node, fact, clock], []) => Ok(Self {
                next_node: u64::from_be_bytes(*node),
                next_fact: u64::from_be_bytes(*fact),
                clock: Time::from_be_bytes(*clock),
            }),
            _ => Err(StorageError::corrupt(Family::Meta.name(), COUNTERS_KEY, "no counters")),
        }
    }
}

/// What readers and the writer agree on.
struct Published {
    catalog: Arc<Catalog>,
    /// The latest instant that was given to a commit or told to a reader.
    clock: Time,
    /// The instant of a commit that is being written; no reader is told it, or a later one.
    committing: Option<Time>,
}

/// An open database folder.
pub struct Store {
    engine: Engine,
    writer: Mutex<Counters>,
    published: Mutex<Published>,
    path: PathBuf,
    /// None in a read-only store.
    lock: Option<WriterLock>,
}

/// A state of the database that does not change while it is held.
pub struct Snapshot<'s> {
    engine: EngineSnapshot<'s>,
    catalog: Arc<Catalog>,
    now: Time,
}

impl Snapshot<'_> {
    /// Typed reads of this state.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(View::new(&self.engine, None), &self.catalog, self.now)
    }
}

/// How much a column family holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyStats {
    /// The family.
    pub family: Family,
    /// Its keys.
    pub keys: u64,
    /// Bytes of its keys and values.
    pub bytes: u64,
    /// Bytes of its tables on disk; what is still in the log is not in them.
    pub table_bytes: u64,
}

impl Store {
    /// Opens the database in a folder for writing, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory => {
                not_a_database(path, "it is a file")
            }
            _ => StorageError::Io { path: path.to_owned(), source },
        })?;
        check_folder(path)?;
        let lock = WriterLock::take(path)?;
        let engine = Engine::open(path)?;
        Self::load(engine, path, Some(lock))
    }

    /// Opens the database in a folder for reading, beside a writer or not.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(StorageError::Missing { path: path.to_owned() });
        }
        check_folder(path)?;
        if !path.join("CURRENT").exists() {
            return Err(not_a_database(path, "nothing has been stored in it yet"));
        }
        Self::load(Engine::open_read_only(path)?, path, None)
    }

    fn load(engine: Engine, path: &Path, lock: Option<WriterLock>) -> Result<Self> {
        let snapshot = engine.snapshot();
        let view = View::new(&snapshot, None);
        match view.get(Family::Meta, FORMAT_KEY)? {
            Some(bytes) => check_format(&bytes)?,
            None if lock.is_some() => {
                let mut overlay = Overlay::default();
                overlay.put(Family::Meta, FORMAT_KEY, FORMAT.to_be_bytes().to_vec());
                engine.write(&overlay, Durability::Sync)?;
            }
            None => return Err(not_a_database(path, "it was never finished")),
        }
        let counters = Counters::read(view)?;
        let catalog = Arc::new(Catalog::read(view)?);
        drop(snapshot);
        Ok(Self {
            engine,
            writer: Mutex::new(counters),
            published: Mutex::new(Published { catalog, clock: counters.clock, committing: None }),
            path: path.to_owned(),
            lock,
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.lock.is_none()
    }

    /// The state as it stands; `wall` is what the clock on the wall says.
    ///
    /// Invariant: a commit that the state does not hold has a later instant than the state.
    pub fn snapshot(&self, wall: Time) -> Snapshot<'_> {
        let mut published = self.published.lock();
        let now = match published.committing {
            Some(commit) => wall.max(published.clock).min(commit - 1),
            None => wall.max(published.clock),
        };
        published.clock = published.clock.max(now);
        Snapshot { engine: self.engine.snapshot(), catalog: Arc::clone(&published.catalog), now }
    }

    /// Begins a transaction, once no other one is open; `wall` is what the clock on the wall says.
    pub fn begin(&self, wall: Time) -> Result<Transaction<'_>> {
        if self.is_read_only() {
            return Err(StorageError::ReadOnly);
        }
        let counters = self.writer.lock();
        let (catalog, clock) = {
            let published = self.published.lock();
            (Arc::clone(&published.catalog), published.clock)
        };
        Ok(Transaction::new(self, counters, self.engine.snapshot(), catalog, after(clock, wall)?))
    }

    /// Commits the changes that are marked with `mark`; called with the writer's lock held. Gives
    /// the counters as they are then.
    pub(crate) fn publish(
        &self,
        overlay: &mut Overlay,
        counters: Counters,
        catalog: &Arc<Catalog>,
        mark: Time,
        (durability, wall): (Durability, Time),
    ) -> Result<Counters> {
        let (before, commit) = {
            let mut published = self.published.lock();
            let commit = after(published.clock, wall)?;
            published.committing = Some(commit);
            (std::mem::replace(&mut published.catalog, Arc::clone(catalog)), commit)
        };
        let counters = Counters { clock: commit, ..counters };
        let written = restamp(overlay, mark, commit).and_then(|()| {
            counters.put(overlay);
            self.engine.write(overlay, durability)
        });
        let mut published = self.published.lock();
        published.committing = None;
        match written {
            Ok(()) => {
                published.clock = commit;
                Ok(counters)
            }
            Err(error) => {
                published.catalog = before;
                Err(error)
            }
        }
    }

    /// Counts every key of every family, one scan each.
    pub fn stats(&self) -> Result<Vec<FamilyStats>> {
        let snapshot = self.engine.snapshot();
        Family::ALL
            .into_iter()
            .map(|family| {
                let (mut keys, mut bytes) = (0, 0);
                snapshot.scan(family, &[], None, &mut |key, value| {
                    keys += 1;
                    bytes += (key.len() + value.len()) as u64;
                    Ok(ControlFlow::Continue(()))
                })?;
                let table_bytes = self.engine.table_bytes(family)?;
                Ok(FamilyStats { family, keys, bytes, table_bytes })
            })
            .collect()
    }
}

/// An instant behind `clock`, by the clock on the wall unless that stood still or went back.
fn after(clock: Time, wall: Time) -> Result<Time> {
    let next = clock.checked_add(1).filter(|next| *next < Interval::MAX);
    Ok(wall.max(next.ok_or(StorageError::Exhausted("system time"))?))
}

fn check_format(bytes: &[u8]) -> Result<()> {
    let found = bytes
        .try_into()
        .map(u32::from_be_bytes)
        .map_err(|_| StorageError::corrupt(Family::Meta.name(), FORMAT_KEY, "no format number"))?;
    match found {
        FORMAT => Ok(()),
        found => Err(StorageError::Format { found, known: FORMAT }),
    }
}

/// An empty folder or one of ours; anything else is left alone. The lock file is made before
/// anything else, so a folder that has one is ours, however far its making came.
fn check_folder(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Err(not_a_database(path, "it is a file"));
    }
    if path.join(LOCK_FILE).exists() {
        return Ok(());
    }
    let io = |source| StorageError::Io { path: path.to_owned(), source };
    if path.join("CURRENT").exists() {
        let families = Engine::families(path)?;
        return match families.iter().any(|family| family == Family::Meta.name()) {
            true => Ok(()),
            false => Err(not_a_database(path, "it is a RocksDB database of something else")),
        };
    }
    match std::fs::read_dir(path).map_err(io)?.next() {
        // Another process may have begun to make the database just now.
        Some(_) if path.join(LOCK_FILE).exists() => Ok(()),
        Some(entry) => {
            let name = entry.map_err(io)?.file_name();
            Err(not_a_database(path, &format!("it holds {}", name.to_string_lossy())))
        }
        None => Ok(()),
    }
}

fn not_a_database(path: &Path, reason: &str) -> StorageError {
    StorageError::NotADatabase { path: path.to_owned(), reason: reason.to_owned() }
}
