//! The store: one folder, one writer at a time, any number of readers.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::Catalog;
use crate::changes::Changes;
use crate::commit::{self, Commits, Counters};
use crate::engine::{Engine, EngineSnapshot, Memory};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::Time;
use crate::identity::{IDENTITY_FILE, Identity};
use crate::kept::KeptReads;
use crate::lock::{LOCK_FILE, WriterLock};
use crate::log_scan::{self, Commit, Torn};
use crate::overlay::Overlay;
use crate::place::sync_folder;
use crate::reader::Reader;
use crate::recovery;
use crate::staged;
use crate::stats::FamilyStats;
use crate::tokenizer::KeyTokenizer;
use crate::view::View;

/// The format that this version reads and writes.
pub const FORMAT: u32 = 10;

pub(crate) const FORMAT_KEY: &[u8] = b"format";
/// The id of the database, also in the identity file.
pub(crate) const ID_KEY: &[u8] = b"id";
/// Set from the moment that something is forgotten until its bytes have left the files.
pub(crate) const PURGE_KEY: &[u8] = b"purge";

/// Set from the commit of a load until its tables are taken in.
pub(crate) const BULK_KEY: &[u8] = b"bulk";

/// How long forgetting waits for readers that began before.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// An open database folder.
pub struct Store {
    pub(crate) engine: Engine,
    pub(crate) commits: Commits,
    path: PathBuf,
    /// None in a read-only store.
    lock: Option<WriterLock>,
    identity: Identity,
    /// The last commit when it was opened.
    recovered: Commit,
    torn: Option<Torn>,
    /// Why what was forgotten is in the files yet.
    not_purged: Option<Box<StorageError>>,
    /// The last instant that readers are told.
    read_at: Option<Time>,
    pub(crate) tokenizer: Option<Arc<dyn KeyTokenizer>>,
}

/// A state of the database that does not change while it is held.
pub struct Snapshot<'s> {
    engine: EngineSnapshot<'s>,
    catalog: Arc<Catalog>,
    now: Time,
    kept: &'s KeptReads,
}

impl Snapshot<'_> {
    /// Typed reads of this state.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self.view(), &self.catalog, self.now).keeping(self.kept)
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.engine, None)
    }
}

impl Store {
    /// Opens the database in a folder for writing, and makes it if there is none.
    ///
    /// Its files are looked through first: bytes that a crash left unfinished at the end of the log
    /// are dropped and told by [`Self::torn`]; damage before acknowledged commits, and files of
    /// another time or database, are an error, and nothing is changed.
    pub fn open(path: &Path, memory: Memory) -> Result<Self> {
        make_folder(path)?;
        check_folder(path)?;
        let lock = WriterLock::take(path)?;
        let identity = check_identity(path)?;
        let scan = recovery::prepare(path)?;
        let store = Self::load((Engine::open(path, memory)?, memory), path, Some(lock), identity)?;
        recovery::check(&scan, store.recovered)?;
        store.complete(scan.torn)
    }

    /// Opens a database whose log is damaged for writing: everything after the damage is dropped,
    /// acknowledged or not, and told by [`Self::torn`]. A log that does not go with the tables is
    /// dropped as a whole.
    pub fn recover(path: &Path, memory: Memory) -> Result<Self> {
        check_is_database(path)?;
        let lock = WriterLock::take(path)?;
        let identity = check_identity(path)?;
        let torn = recovery::cut_damage(path)?;
        Self::load((Engine::open(path, memory)?, memory), path, Some(lock), identity)?
            .complete(torn)
    }

    /// Opens the database in a folder for reading, beside a writer or not.
    pub fn open_read_only(path: &Path, memory: Memory) -> Result<Self> {
        recovery::beside_writer(path, || {
            check_is_database(path)?;
            let identity = check_identity(path)?;
            let (engine, scan) = recovery::open_read_only(path, memory)?;
            let mut store = Self::load((engine, memory), path, None, identity)?;
            recovery::check_beside_writer(path, &scan, store.recovered)?;
            store.torn = recovery::left_behind(path, scan.torn)?;
            match store.meta(BULK_KEY)? {
                Some(_) => Err(StorageError::HalfLoaded),
                None => Ok(store),
            }
        })
    }

    fn load(
        (engine, memory): (Engine, Memory),
        path: &Path,
        lock: Option<WriterLock>,
        identity: Option<Identity>,
    ) -> Result<Self> {
        let snapshot = engine.snapshot();
        let identity = read_or_make(&engine, View::new(&snapshot, None), path, &lock, identity)?;
        drop(snapshot);
        let snapshot = engine.snapshot();
        let view = View::new(&snapshot, None);
        let recovered = commit::read_commit(view)?
            .ok_or_else(|| StorageError::lost("it has no commit record"))?;
        let commits =
            Commits::new(Counters::read(view)?, recovered, Catalog::read(view)?, memory.reads);
        drop(snapshot);
        let path = path.to_owned();
        Ok(Self {
            engine,
            commits,
            path,
            lock,
            identity,
            recovered,
            torn: None,
            not_purged: None,
            read_at: None,
            tokenizer: None,
        })
    }

    /// Finishes what a crash interrupted.
    fn complete(mut self, torn: Option<Torn>) -> Result<Self> {
        self.torn = torn;
        if Identity::read(&self.path)?.is_none() {
            self.engine.sync()?;
            self.identity.write(&self.path)?;
        }
        match self.meta(BULK_KEY)? {
            Some(_) => self.take_in(&mut *self.commits.writer()?)?,
            None => staged::remove(self.folder())?,
        }
        if let Some(mark) = self.purge_mark()? {
            match self.purge(&mark, self.engine.snapshots().next()) {
                // Whoever cannot write has to be able to make room.
                Err(StorageError::NotPurged(reason)) => self.not_purged = Some(reason),
                purged => purged?,
            }
        }
        Ok(self)
    }

    /// Why the bytes of what was forgotten are in the files yet, if they could not be taken out when it was
    /// opened: there is no room to write tables anew, mostly. The next opening tries again.
    pub fn not_purged(&self) -> Option<&StorageError> {
        self.not_purged.as_deref()
    }

    /// Whether the bytes of what was forgotten may be in the files yet: whoever forgot it was stopped before they
    /// were taken out, which the next opening for writing does. Not known beside a writer, which may be at it.
    pub fn has_purge_left(&self) -> Result<bool> {
        Ok(self.purge_mark()?.is_some() && !crate::lock::is_held(&self.path))
    }

    /// The same store, whose readers are told no later instant than this one, which has to be before the store
    /// was opened: for a store that is only read, beside a writer whose commits it does not see.
    pub fn read_at(mut self, instant: Time) -> Self {
        self.read_at = Some(instant);
        self
    }

    /// What an unfinished write had left at the end of the log: opening for writing dropped it, opening
    /// for reading passed over it. Beside a writer, which may be in the middle of it, none.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path by which files are written into the folder, wherever it was moved.
    pub(crate) fn folder(&self) -> &Path {
        self.engine.folder().unwrap_or(&self.path)
    }

    /// Whether it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.lock.is_none()
    }

    /// A number that grows with every key that is written.
    pub fn written(&self) -> u64 {
        self.engine.last_sequence()
    }

    /// Which nodes its commits changed lately, to be held on to.
    pub fn changes(&self) -> &Arc<Changes> {
        self.commits.changes()
    }

    /// The state as it stands; `wall` is what the clock on the wall says.
    pub fn snapshot(&self, wall: Time) -> Snapshot<'_> {
        let wall = self.read_at.map_or(wall, |instant| wall.min(instant));
        let (engine, catalog, now) = self.commits.observe(wall, || self.engine.snapshot());
        Snapshot { engine, catalog, now, kept: self.commits.kept() }
    }

    /// Takes the bytes of what was deleted or replaced out of every file of the folder, once the
    /// snapshots before that number have ended, which may hold them. The mark is that of its own commit: that of
    /// a later one stays for whoever made it.
    ///
    /// # Errors
    ///
    /// [`StorageError::StillRead`] and [`StorageError::NotPurged`]; the next opening goes on with it.
    pub(crate) fn purge(&self, mark: &[u8], before: u64) -> Result<()> {
        self.purge_files(mark, before).map_err(|error| match error {
            StorageError::StillRead => error,
            // Another transaction is open for as long.
            StorageError::Stopped => StorageError::StillRead,
            other => StorageError::NotPurged(Box::new(other)),
        })
    }

    fn purge_files(&self, mark: &[u8], before: u64) -> Result<()> {
        self.wait_for_readers(before)?;
        self.engine.compact()?;
        // Readers that began meanwhile may hold on to the old tables.
        self.wait_for_readers(self.engine.snapshots().next())?;
        self.engine.delete_files()?;
        let begun = Instant::now();
        let mut writer = self.commits.writer_while(&|| begun.elapsed() < PATIENCE)?;
        // The list of tables is written anew with the change that follows, and with it what it
        // knew of the old ones leaves.
        let mut overlay = Overlay::default();
        match self.purge_mark()? {
            // Something was forgotten since; its own purge goes on.
            Some(later) if later != mark => overlay.put(Family::Meta, PURGE_KEY, later),
            _ => overlay.delete(Family::Meta, PURGE_KEY),
        }
        let number = self.commits.write(&self.engine, &mut writer, &overlay)?;
        drop(writer);
        self.commits.sync(&self.engine, number)?;
        self.engine.flush()?;
        self.engine.delete_files()
    }

    fn wait_for_readers(&self, before: u64) -> Result<()> {
        match self.engine.snapshots().wait_for(before, PATIENCE) {
            true => Ok(()),
            false => Err(StorageError::StillRead),
        }
    }

    /// Which forgetting has not left the files yet.
    fn purge_mark(&self) -> Result<Option<Vec<u8>>> {
        self.meta(PURGE_KEY)
    }

    fn meta(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let snapshot = self.engine.snapshot();
        View::new(&snapshot, None).get(Family::Meta, key)
    }

    /// Brings what was written from the log into tables, and waits until they are merged into larger
    /// ones.
    ///
    /// # Errors
    ///
    /// [`StorageError::Engine`] if a table cannot be written.
    pub fn settle(&self) -> Result<()> {
        match self.is_read_only() {
            true => Ok(()),
            false => self.engine.settle(),
        }
    }

    /// See [`Reader::stats`].
    pub fn stats(&self) -> Result<Vec<FamilyStats>> {
        self.snapshot(0).reader().stats()
    }
}

/// What the database says it is, and the folder; a new one is made.
fn read_or_make(
    engine: &Engine,
    view: View<'_>,
    path: &Path,
    lock: &Option<WriterLock>,
    identity: Option<Identity>,
) -> Result<Identity> {
    match (view.get(Family::Meta, FORMAT_KEY)?, identity) {
        (Some(bytes), identity) => {
            known_format(path, format_of(&bytes)?)?;
            check_same(view, identity)
        }
        (None, None) if lock.is_some() => make(engine, path),
        (None, None) => Err(StorageError::not_a_database(path, recovery::UNFINISHED)),
        (None, Some(_)) => Err(StorageError::lost("it has lost its contents")),
    }
}

/// A new database in an empty engine.
fn make(engine: &Engine, path: &Path) -> Result<Identity> {
    let identity = Identity::new(FORMAT);
    let mut overlay = Overlay::default();
    overlay.put(Family::Meta, FORMAT_KEY, FORMAT.to_be_bytes().to_vec());
    overlay.put(Family::Meta, ID_KEY, identity.id.clone().into_bytes());
    engine.write(&overlay, |changes| {
        let chain = log_scan::chain(log_scan::chain(0, identity.id.as_bytes()), changes);
        let first = Commit { number: 0, synced: 0, chain };
        (Family::Meta, commit::COMMIT_KEY, first.encode().to_vec())
    })?;
    engine.sync()?;
    identity.write(path)?;
    Ok(identity)
}

/// Makes a folder, and those above it that are missing, for nobody but their owner: a memory is private.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A folder for a database, made if it is missing. Its name is on the disk before it has contents.
fn make_folder(path: &Path) -> Result<()> {
    let is_ours = path.join(LOCK_FILE).exists();
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    private_folder(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory => {
            StorageError::not_a_database(path, "it is a file")
        }
        _ => StorageError::Io { path: path.to_owned(), source },
    })?;
    if !is_ours && missing.is_empty() {
        // Perhaps one of our own that came no further. One of somebody else may be in a place that
        // cannot be opened, and is theirs to sync.
        let _ = sync_name(path);
    }
    missing.into_iter().rev().try_for_each(sync_name)
}

/// Puts the name of a folder on the disk.
fn sync_name(folder: &Path) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => return Ok(()),
    };
    sync_folder(parent)
}

/// A folder that holds a database already.
pub(crate) fn check_is_database(path: &Path) -> Result<()> {
    if !path.exists() {
        return Err(StorageError::Missing { path: path.to_owned() });
    }
    check_folder(path)?;
    check_current(path)?;
    match path.join("CURRENT").exists() {
        true => Ok(()),
        false => Err(StorageError::not_a_database(path, "nothing has been stored in it yet")),
    }
}

/// RocksDB makes a new database where its file CURRENT is missing, and takes away tables that the
/// new one does not know. So there must be nothing yet to lose.
fn check_current(path: &Path) -> Result<()> {
    if path.join("CURRENT").exists() {
        return Ok(());
    }
    let io = StorageError::io(path);
    for entry in std::fs::read_dir(path).map_err(io)? {
        let name = entry.map_err(io)?.file_name().to_string_lossy().into_owned();
        if name == IDENTITY_FILE || name.ends_with(".sst") || name.ends_with(".log") {
            return Err(StorageError::lost("the file CURRENT is missing"));
        }
    }
    Ok(())
}

/// What the folder says it is, which must be something that this version reads, with its log.
fn check_identity(path: &Path) -> Result<Option<Identity>> {
    check_current(path)?;
    let Some(identity) = Identity::read(path)? else {
        return match format_without_identity(path)? {
            Some(format) => known_format(path, format).map(|()| None),
            None => Ok(None),
        };
    };
    known_format(path, identity.format)?;
    match log_scan::logs(path)?.is_empty() {
        true => Err(StorageError::lost("the write-ahead log is missing")),
        false => Ok(Some(identity)),
    }
}

/// The format of a database without an identity file: one of format 1, or one that a crash
/// interrupted while it was made, and that may not say.
pub(crate) fn format_without_identity(path: &Path) -> Result<Option<u32>> {
    let Some(engine) = recovery::open_meta(path)? else { return Ok(None) };
    let snapshot = engine.snapshot();
    match View::new(&snapshot, None).get(Family::Meta, FORMAT_KEY)? {
        Some(bytes) => format_of(&bytes).map(Some),
        None => Ok(None),
    }
}

/// The database must say what the folder says. A database from before there was such a file says
/// it alone.
pub(crate) fn check_same(view: View<'_>, identity: Option<Identity>) -> Result<Identity> {
    let id = view.get(Family::Meta, ID_KEY)?.and_then(|id| String::from_utf8(id).ok());
    let id = id.ok_or_else(|| StorageError::lost("it has no id"))?;
    match identity {
        Some(identity) if identity.id != id => Err(StorageError::DamagedFile {
            file: IDENTITY_FILE.to_owned(),
            reason: "it is that of another database".to_owned(),
        }),
        _ => Ok(Identity { format: FORMAT, id }),
    }
}

pub(crate) fn format_of(bytes: &[u8]) -> Result<u32> {
    bytes
        .try_into()
        .map(u32::from_be_bytes)
        .map_err(|_| StorageError::corrupt(Family::Meta.name(), FORMAT_KEY, "no format number"))
}

fn known_format(path: &Path, found: u32) -> Result<()> {
    match found.cmp(&FORMAT) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(StorageError::TooNew { found, known: FORMAT }),
        Ordering::Less => Err(StorageError::TooOld { path: path.to_owned(), found, known: FORMAT }),
    }
}

/// An empty folder or one of ours; anything else is left alone. The lock file is made before
/// anything else, so a folder that has one is ours, however far its making came.
fn check_folder(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Err(StorageError::not_a_database(path, "it is a file"));
    }
    if path.join(LOCK_FILE).exists() {
        return Ok(());
    }
    let io = StorageError::io(path);
    if path.join("CURRENT").exists() {
        log_scan::check_manifest(path)?;
        let families = Engine::families(path)?;
        return match families.iter().any(|family| family == Family::Meta.name()) {
            true => Ok(()),
            false => Err(StorageError::not_a_database(
                path,
                "it is a RocksDB database of something else",
            )),
        };
    }
    match std::fs::read_dir(path).map_err(io)?.next() {
        // Another process may have begun to make the database just now.
        Some(_) if path.join(LOCK_FILE).exists() => Ok(()),
        Some(entry) => {
            let name = entry.map_err(io)?.file_name();
            Err(StorageError::not_a_database(path, &format!("it holds {}", name.to_string_lossy())))
        }
        None => Ok(()),
    }
}
