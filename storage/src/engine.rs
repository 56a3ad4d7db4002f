//! The key-value engine: the one module that names RocksDB.
//!
//! It knows families, keys and bytes, and nothing of what they mean. Another ordered key-value
//! engine with snapshots and atomic batches could stand here.

use std::path::Path;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType, Options,
    ReadOptions, WriteBatch, WriteOptions,
};

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::overlay::{Overlay, Visit};

/// Memory for blocks that were read, shared by all families.
const BLOCK_CACHE_BYTES: usize = 64 << 20;
/// Memory for writes not yet in a table, over all families.
const WRITE_BUFFERS_BYTES: usize = 64 << 20;
/// Memory for the writes of one family.
const WRITE_BUFFER_BYTES: usize = 16 << 20;
/// The most log a restart has to replay.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// Files kept open by a writer.
const OPEN_FILES_MAX: i32 = 256;
/// Times that a reader beside a writer tries again when files moved under it.
const READ_ONLY_ATTEMPTS: usize = 8;

/// How long a commit waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Until the log is on the disk: survives a crash of the machine.
    #[default]
    Sync,
    /// Until the system has the log: survives a crash of the process, and may lose the last
    /// commits when the machine stops.
    Buffered,
}

/// An open engine.
pub(crate) struct Engine {
    db: DB,
}

impl Engine {
    /// Opens for writing, and creates what is missing.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let options = database_options(OPEN_FILES_MAX);
        let db = DB::open_cf_descriptors(&options, path, descriptors()).map_err(engine_error)?;
        Ok(Self { db })
    }

    /// Opens beside a writer: the state as it stands at this moment.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self> {
        // All files stay open, so that the writer may delete them meanwhile.
        let mut options = database_options(-1);
        options.create_if_missing(false);
        options.create_missing_column_families(false);
        let open = || DB::open_cf_descriptors_read_only(&options, path, descriptors(), false);
        let mut attempt = open();
        for _ in 1..READ_ONLY_ATTEMPTS {
            if attempt.is_ok() {
                break;
            }
            attempt = open();
        }
        Ok(Self { db: attempt.map_err(engine_error)? })
    }

    /// The names of the families in a folder.
    pub(crate) fn families(path: &Path) -> Result<Vec<String>> {
        DB::list_cf(&Options::default(), path).map_err(engine_error)
    }

    /// Applies all changes, or none.
    pub(crate) fn write(&self, changes: &Overlay, durability: Durability) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (family, key, value) in changes.iter() {
            let family = handle(&self.db, family)?;
            match value {
                Some(value) => batch.put_cf(family, key, value),
                None => batch.delete_cf(family, key),
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(durability == Durability::Sync);
        self.db.write_opt(batch, &options).map_err(engine_error)
    }

    /// The state as it stands, for as long as it is held.
    pub(crate) fn snapshot(&self) -> EngineSnapshot<'_> {
        EngineSnapshot { db: &self.db, snapshot: self.db.snapshot() }
    }

    /// Bytes of a family's tables on disk.
    pub(crate) fn table_bytes(&self, family: Family) -> Result<u64> {
        let property = "rocksdb.total-sst-files-size";
        let bytes = self.db.property_int_value_cf(handle(&self.db, family)?, property);
        Ok(bytes.map_err(engine_error)?.unwrap_or(0))
    }
}

/// A state of the engine that does not change.
pub(crate) struct EngineSnapshot<'e> {
    db: &'e DB,
    snapshot: rocksdb::Snapshot<'e>,
}

impl EngineSnapshot<'_> {
    /// The value of a key.
    pub(crate) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.snapshot.get_cf(handle(self.db, family)?, key).map_err(engine_error)
    }

    /// Calls `visit` on every key in `from..to` in order, until it breaks.
    pub(crate) fn scan(
        &self,
        family: Family,
        from: &[u8],
        to: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<()> {
        let mut options = ReadOptions::default();
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
}

fn handle(db: &DB, family: Family) -> Result<&ColumnFamily> {
    db.cf_handle(family.name())
        .ok_or_else(|| StorageError::Engine(format!("family {} is missing", family.name())))
}

fn engine_error(error: rocksdb::Error) -> StorageError {
    StorageError::Engine(error.into_string())
}

fn database_options(open_files: i32) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_max_open_files(open_files);
    options.set_max_total_wal_size(LOG_BYTES_MAX);
    options.set_db_write_buffer_size(WRITE_BUFFERS_BYTES);
    options.set_keep_log_file_num(5);
    options.set_max_log_file_size(4 << 20);
    options
}

fn descriptors() -> Vec<ColumnFamilyDescriptor> {
    let cache = Cache::new_lru_cache(BLOCK_CACHE_BYTES);
    Family::ALL
        .into_iter()
        .map(|family| ColumnFamilyDescriptor::new(family.name(), family_options(family, &cache)))
        .collect()
}

fn family_options(family: Family, cache: &Cache) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    if family.is_point_read() {
        blocks.set_bloom_filter(10.0, false);
    }
    let mut options = Options::default();
    options.set_block_based_table_factory(&blocks);
    options.set_write_buffer_size(WRITE_BUFFER_BYTES);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    options
}
