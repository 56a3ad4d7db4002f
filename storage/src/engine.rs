//! The key-value engine: the one module that names RocksDB.
//!
//! It knows families, keys and bytes, and nothing of what they mean. Another ordered key-value
//! engine with snapshots and atomic batches could stand here.

mod options;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::{
    BottommostLevelCompaction, Cache, ColumnFamily, CompactOptions, DB, ErrorKind, FlushOptions,
    IngestExternalFileOptions, Options, ReadOptions, SstFileWriter, WaitForCompactOptions,
    WriteBatch, WriteOptions,
};

use crate::error::{Result, StorageError, shown};
use crate::families::Family;
use crate::key;
use crate::overlay::Overlay;
use crate::place::Place;
use crate::snapshots::{Pin, Snapshots};
use options::{database_options, descriptors, staged_options};

/// Files kept open by a writer.
const OPEN_FILES_MAX: i32 = 256;
/// Files kept open by a reader: all, so that the writer may delete them meanwhile.
const ALL_FILES: i32 = -1;
/// Keys that a cursor passes on its way to the next one before it seeks.
const STEPS_MAX: usize = 16;
/// Bytes of a write batch in front of its changes.
const BATCH_HEADER: usize = 12;

/// Called with each key and value of a scan, until it breaks.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>;

/// Bytes that are put into a new database at once.
pub(crate) const LOAD_BYTES: usize = 4 << 20;

/// How much memory an open database may hold on to.
///
/// Beside these, each open reader and writer has what its statement needs, and every open table a
/// few kilobytes; the models of a database and its indexes in memory are not counted here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes for blocks that were read, with the indexes and filters of tables; write buffers are
    /// charged to it.
    pub cache: usize,
    /// Bytes for writes that are not in a table yet, over all families.
    pub write_buffers: usize,
    /// Bytes for facts, nodes and embeddings that were read lately, ready to be read again.
    pub reads: usize,
}

impl Default for Memory {
    /// 128 MiB, of which at most 48 MiB for writes, and 160 MiB for reads.
    fn default() -> Self {
        Self { cache: 128 << 20, write_buffers: 48 << 20, reads: 160 << 20 }
    }
}

/// An open engine.
pub(crate) struct Engine {
    db: DB,
    /// Where it writes, until it is closed; none if it only reads.
    place: Option<Place>,
    snapshots: Snapshots,
    cache: Cache,
    memory: Memory,
    /// Whether tables of a load were taken in and others were not, which is no state to read.
    is_half_loaded: AtomicBool,
}

impl Engine {
    /// Opens for writing, and creates what is missing.
    pub(crate) fn open(path: &Path, memory: Memory) -> Result<Self> {
        let cache = Cache::new_lru_cache(memory.cache);
        let options = database_options(OPEN_FILES_MAX, &cache, memory)?;
        let families = descriptors(&Family::ALL, &cache, memory);
        let place = Place::hold(path)?;
        let db = DB::open_cf_descriptors(&options, place.lasting(), families);
        let db = db.map_err(engine_error)?;
        check_tables(&db, place.lasting())?;
        Ok(Self::new(db, Some(place), cache, memory))
    }

    fn new(db: DB, place: Option<Place>, cache: Cache, memory: Memory) -> Self {
        Self {
            db,
            place,
            snapshots: Snapshots::default(),
            cache,
            memory,
            is_half_loaded: AtomicBool::new(false),
        }
    }

    /// The path of its folder that it writes by, see [`Place::lasting`]; none if it only reads.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.place.as_ref().map(Place::lasting)
    }

    /// [`StorageError::Moved`] if its folder is not any more where it was opened.
    pub(crate) fn check_place(&self) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), Place::check)
    }

    /// Opens some of the families for reading, beside a writer or not: the state as it stands at
    /// this moment. With `logs`, the logs in that folder are recovered instead of its own.
    pub(crate) fn open_read_only(
        path: &Path,
        memory: Memory,
        families: &[Family],
        logs: Option<&Path>,
    ) -> Result<Self> {
        let cache = Cache::new_lru_cache(memory.cache);
        let mut options = database_options(ALL_FILES, &cache, memory)?;
        options.create_if_missing(false);
        options.create_missing_column_families(false);
        if let Some(logs) = logs {
            options.set_wal_dir(logs);
        }
        let families = descriptors(families, &cache, memory);
        let db = DB::open_cf_descriptors_read_only(&options, path, families, false);
        let db = db.map_err(engine_error)?;
        Ok(Self::new(db, None, cache, memory))
    }

    /// The names of the families in a folder.
    pub(crate) fn families(path: &Path) -> Result<Vec<String>> {
        DB::list_cf(&Options::default(), path).map_err(engine_error)
    }

    /// Applies all changes, or none, and last of all the key and value that `seal` makes of their
    /// bytes. They survive a crash of the process, and one of the machine after [`Self::sync`].
    pub(crate) fn write(
        &self,
        changes: &Overlay,
        seal: impl FnOnce(&[u8]) -> (Family, &'static [u8], Vec<u8>),
    ) -> Result<()> {
        self.check_place()?;
        let mut batch = self.batch(changes.iter())?;
        let (family, key, value) = seal(batch.data().get(BATCH_HEADER..).unwrap_or_default());
        batch.put_cf(handle(&self.db, family)?, key, value);
        self.db.write_opt(batch, &WriteOptions::default()).map_err(engine_error)
    }

    fn batch<'c>(
        &self,
        changes: impl Iterator<Item = (Family, &'c [u8], Option<&'c [u8]>)>,
    ) -> Result<WriteBatch> {
        let mut batch = WriteBatch::default();
        for (family, key, value) in changes {
            let family = handle(&self.db, family)?;
            match value {
                Some(value) => batch.put_cf(family, key, value),
                None => batch.delete_cf(family, key),
            }
        }
        Ok(batch)
    }

    /// Puts everything that was written until now on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.db.flush_wal(true).map_err(engine_error)
    }

    /// Puts keys into a new database without a log; they last from the next [`Self::flush`] on.
    pub(crate) fn load(&self, family: Family, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        let changes =
            entries.iter().map(|(key, value)| (family, key.as_slice(), Some(value.as_slice())));
        let mut options = WriteOptions::default();
        options.disable_wal(true);
        self.db.write_opt(self.batch(changes)?, &options).map_err(engine_error)
    }

    /// Writes tables beside the others, and puts those on the disk that have anything.
    pub(crate) fn stage<const N: usize>(
        &self,
        tables: [(Family, PathBuf); N],
        write: impl FnOnce(&mut [NewTable<'_>; N]) -> Result<()>,
    ) -> Result<()> {
        let options =
            tables.each_ref().map(|(family, _)| staged_options(*family, &self.cache, self.memory));
        let new = |at: usize| NewTable {
            writer: SstFileWriter::create(&options[at]),
            path: &tables[at].1,
            is_open: false,
        };
        let mut new = std::array::from_fn(new);
        write(&mut new)?;
        new.into_iter().try_for_each(NewTable::finish)
    }

    /// Takes tables in whose keys do not overlap, which moves them into the folder of the engine. If that
    /// fails, other tables of the load may have been taken in, so nothing is read any more.
    pub(crate) fn take_in(&self, family: Family, tables: &[PathBuf]) -> Result<()> {
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        let family = handle(&self.db, family)?;
        self.db
            .ingest_external_file_cf_opts(family, &options, tables.to_vec())
            .inspect_err(|_| self.is_half_loaded.store(true, Ordering::Release))
            .map_err(engine_error)
    }

    /// Writes all tables, so that no log is needed any more.
    pub(crate) fn flush(&self) -> Result<()> {
        self.flush_and(true)
    }

    /// The same beside what goes on, which does not wait for it.
    pub(crate) fn begin_flush(&self) -> Result<()> {
        self.flush_and(false)
    }

    fn flush_and(&self, wait: bool) -> Result<()> {
        let mut options = FlushOptions::default();
        options.set_wait(wait);
        for family in Family::ALL {
            self.db.flush_cf_opt(handle(&self.db, family)?, &options).map_err(engine_error)?;
        }
        Ok(())
    }

    /// Writes all tables, and waits until they are merged as far as they are to be.
    pub(crate) fn settle(&self) -> Result<()> {
        self.flush()?;
        // When the oldest snapshot ends, tables are written anew that nothing lies below.
        drop(self.snapshot());
        self.db.wait_for_compact(&WaitForCompactOptions::default()).map_err(engine_error)
    }

    /// Writes every table anew without what was deleted or replaced.
    pub(crate) fn compact(&self) -> Result<()> {
        self.flush()?;
        let newest = self.tables()?.last().copied();
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        options.set_exclusive_manual_compaction(true);
        for family in Family::ALL {
            let family = handle(&self.db, family)?;
            self.db.compact_range_cf_opt(family, None::<&[u8]>, None::<&[u8]>, &options);
        }
        self.settle()?;
        // The calls above do not say whether they failed.
        match (self.tables()?.first(), newest) {
            (Some(oldest), Some(newest)) if *oldest <= newest => {
                Err(StorageError::Engine("a table could not be written anew".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The numbers of all tables, in order.
    fn tables(&self) -> Result<Vec<u64>> {
        let files = self.db.live_files().map_err(engine_error)?;
        let number = |name: &str| name.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
        let mut numbers: Vec<u64> = files.iter().filter_map(|file| number(&file.name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Deletes every file that is not needed any more, and returns when they are gone.
    pub(crate) fn delete_files(&self) -> Result<()> {
        // The first waits for deletions under way, the second looks for everything left.
        self.db.disable_file_deletions().map_err(engine_error)?;
        self.db.enable_file_deletions().map_err(engine_error)
    }

    /// The state as it stands, for as long as it is held.
    pub(crate) fn snapshot(&self) -> EngineSnapshot<'_> {
        let pin = self.snapshots.pin();
        let is_half_loaded = &self.is_half_loaded;
        EngineSnapshot { db: &self.db, is_half_loaded, snapshot: self.db.snapshot(), _pin: pin }
    }

    /// The snapshots that are held.
    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }

    /// The number of the oldest log that holds something which no table does.
    pub(crate) fn oldest_log_needed(&self) -> Result<u64> {
        let needed = self.db.property_int_value("rocksdb.min-log-number-to-keep");
        Ok(needed.map_err(engine_error)?.unwrap_or(0))
    }

    /// The last sequence number that was given away.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.db.latest_sequence_number()
    }
}

/// A table that is written by itself.
pub(crate) struct NewTable<'o> {
    writer: SstFileWriter<'o>,
    path: &'o Path,
    is_open: bool,
}

impl NewTable<'_> {
    /// Adds a key, which comes after those that were added before.
    pub(crate) fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        if !self.is_open {
            self.writer.open(self.path).map_err(engine_error)?;
            self.is_open = true;
        }
        self.writer.put(key, value).map_err(engine_error)
    }

    fn finish(mut self) -> Result<()> {
        match self.is_open {
            true => self.writer.finish().map_err(engine_error),
            false => Ok(()),
        }
    }
}

/// A state of the engine that does not change.
pub(crate) struct EngineSnapshot<'e> {
    db: &'e DB,
    is_half_loaded: &'e AtomicBool,
    // In this order: the pin says that the snapshot is gone.
    snapshot: rocksdb::Snapshot<'e>,
    _pin: Pin<'e>,
}

impl EngineSnapshot<'_> {
    /// An error if it may be half of a load.
    fn check_whole(&self) -> Result<()> {
        match self.is_half_loaded.load(Ordering::Acquire) {
            true => Err(StorageError::HalfLoaded),
            false => Ok(()),
        }
    }

    /// Bytes of a family's tables on disk.
    pub(crate) fn table_bytes(&self, family: Family) -> Result<u64> {
        let property = "rocksdb.total-sst-files-size";
        let bytes = self.db.property_int_value_cf(handle(self.db, family)?, property);
        Ok(bytes.map_err(engine_error)?.unwrap_or(0))
    }

    /// The value of a key.
    pub(crate) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.check_whole()?;
        self.snapshot.get_cf(handle(self.db, family)?, key).map_err(engine_error)
    }

    /// The values of many keys, which takes less than one after the other: a cursor goes from each to the
    /// next one that is asked for.
    pub(crate) fn get_all(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.check_whole()?;
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by(|a, b| keys[*a].cmp(&keys[*b]));
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let mut cursor = self.snapshot.raw_iterator_cf_opt(handle(self.db, family)?, options);
        let mut values = vec![None; keys.len()];
        for at in order {
            let key = keys[at].as_slice();
            let mut steps = 0;
            while steps < STEPS_MAX && cursor.key().is_some_and(|other| other < key) {
                cursor.next();
                steps += 1;
            }
            if cursor.key().is_none_or(|other| other < key) {
                cursor.seek(key);
            }
            let found = cursor.item().filter(|(found, _)| *found == key);
            values[at] = found.map(|(_, value)| value.to_vec());
            cursor.status().map_err(engine_error)?;
        }
        Ok(values)
    }

    /// Calls `visit` on every key in `from..to` in order, until it breaks.
    pub(crate) fn scan(
        &self,
        family: Family,
        from: &[u8],
        to: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<()> {
        self.check_whole()?;
        let mut options = ReadOptions::default();
        // Only then a filter of prefixes may say that there is nothing.
        options.set_total_order_seek(!has_one_prefix(family, from, to));
        if let Some(to) = to {
            options.set_iterate_upper_bound(to);
        }
        let mut cursor = self.snapshot.raw_iterator_cf_opt(handle(self.db, family)?, options);
        cursor.seek(from);
        while let Some((key, value)) = cursor.item() {
            if visit(key, value)?.is_break() {
                return Ok(());
            }
            cursor.next();
        }
        cursor.status().map_err(engine_error)
    }

    /// Calls `visit` on every key of a family, the last one first, until it breaks.
    pub(crate) fn scan_back(&self, family: Family, visit: Visit<'_>) -> Result<()> {
        self.check_whole()?;
        let mut cursor = self.snapshot.raw_iterator_cf(handle(self.db, family)?);
        cursor.seek_to_last();
        while let Some((key, value)) = cursor.item() {
            if visit(key, value)?.is_break() {
                return Ok(());
            }
            cursor.prev();
        }
        cursor.status().map_err(engine_error)
    }
}

/// Whether all keys in `from..to` begin with the same prefix of the family.
fn has_one_prefix(family: Family, from: &[u8], to: Option<&[u8]>) -> bool {
    let prefix = key::shared_bytes(family).and_then(|bytes| from.get(..bytes));
    let (Some(prefix), Some(to)) = (prefix, to) else { return false };
    to.starts_with(prefix) || key::after_prefix(prefix).as_deref() == Some(to)
}

/// That every table which the list names is there with all of its bytes: a writer opens most of them only when they
/// are read, and would go on to write what leads into them.
fn check_tables(db: &DB, folder: &Path) -> Result<()> {
    for (file, reason) in odd_tables(db, folder)? {
        // Tables may have been merged meanwhile, and then the list names it no more.
        if odd_tables(db, folder)?.iter().any(|(other, _)| *other == file) {
            return Err(StorageError::DamagedFile { file, reason: reason.to_owned() });
        }
    }
    Ok(())
}

/// The tables that are not as the list of tables says, and what is odd about each.
fn odd_tables(db: &DB, folder: &Path) -> Result<Vec<(String, &'static str)>> {
    let mut odd = Vec::new();
    for table in db.live_files().map_err(engine_error)? {
        let name = table.name.trim_start_matches('/').to_owned();
        match folder.join(&name).metadata() {
            Ok(seen) if seen.len() == table.size as u64 => {}
            Ok(_) => odd.push((name, "it has another length than the list of tables says")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                odd.push((name, "the list of tables names it, and it is missing"));
            }
            Err(source) => return Err(StorageError::Io { path: folder.join(name), source }),
        }
    }
    Ok(odd)
}

fn handle(db: &DB, family: Family) -> Result<&ColumnFamily> {
    db.cf_handle(family.name())
        .ok_or_else(|| StorageError::Engine(format!("family {} is missing", family.name())))
}

fn engine_error(error: rocksdb::Error) -> StorageError {
    let text = shown(error.as_ref());
    match error.kind() {
        ErrorKind::Corruption => StorageError::DamagedTables(text),
        _ => StorageError::Engine(text),
    }
}

#[cfg(test)]
mod tests;
