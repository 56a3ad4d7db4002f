//! How the engine is set: its log and files, and the blocks, filters and compression of each family.
//!
//! It decides nothing else, and opens nothing.

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType,
    DBRecoveryMode, InfoLogger, LogLevel, Options, SliceTransform, WriteBufferManager,
};

use super::{Memory, engine_error};
use crate::error::Result;
use crate::families::Family;
use crate::key;

/// The most log a restart has to replay.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a block, which is compressed and read as a whole.
const BLOCK_BYTES: usize = 16 << 10;
/// The same of facts, which are read one by one: larger ones are 2 % smaller on the disk.
const FACT_BLOCK_BYTES: usize = 8 << 10;
/// The same of what is mostly one short entry: with larger ones, compressed harder, a loaded database is 2 % smaller
/// and a write takes 15 % more instructions.
const LOOK_UP_BLOCK_BYTES: usize = 4 << 10;
/// Bits of a filter for each key or prefix: one in a hundred that is not there is looked for.
const FILTER_BITS: f64 = 10.0;
/// How hard the last tables are compressed: the third level is 2 % smaller, and takes longer to write. By it LZ4 is
/// LZ4HC.
const LEVEL: i32 = 1;

/// Whether one short entry is looked up, as names are and what leads to the packs of a head.
fn is_looked_up(family: Family) -> bool {
    matches!(family, Family::NodeKeys | Family::Out)
}

pub(super) fn database_options(open_files: i32, cache: &Cache, memory: Memory) -> Result<Options> {
    // The list of tables names the first and last key of each, so what was forgotten stays in it
    // until it is written anew: it is kept short. Only text can say so.
    let mut options = Options::default()
        .get_options_from_string("max_manifest_file_size=1;max_manifest_space_amp_pct=0")
        .map_err(engine_error)?;
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    options.set_max_open_files(open_files);
    // A thread for each table of each family takes longer than its table.
    options.set_max_file_opening_threads(1);
    // What it tells of tables would be read from each of them.
    options.set_skip_stats_update_on_db_open(true);
    options.set_max_total_wal_size(LOG_BYTES_MAX);
    options.set_write_buffer_manager(&WriteBufferManager::new_write_buffer_manager_with_cache(
        memory.write_buffers,
        false,
        cache.clone(),
    ));
    // Its diary of what it does costs a tenth of an opening and 190 KB each time. What fails is returned.
    options.set_info_logger(InfoLogger::new_callback_logger(LogLevel::Fatal, |_, _| ()));
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    // Those that earlier versions left are deleted, but the last one.
    options.set_keep_log_file_num(1);
    Ok(options)
}

pub(super) fn descriptors(
    families: &[Family],
    cache: &Cache,
    memory: Memory,
) -> Vec<ColumnFamilyDescriptor> {
    families
        .iter()
        .map(|family| {
            ColumnFamilyDescriptor::new(family.name(), family_options(*family, cache, memory))
        })
        .collect()
}

/// How tables are compressed that were just written or loaded, and the last ones, which what is merged comes to.
fn compression() -> (DBCompressionType, DBCompressionType) {
    // Tests look for bytes in the files.
    match cfg!(test) {
        true => (DBCompressionType::None, DBCompressionType::None),
        false => (DBCompressionType::Lz4, DBCompressionType::Zstd),
    }
}

fn family_options(family: Family, cache: &Cache, memory: Memory) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_block_size(match family {
        family if is_looked_up(family) => LOOK_UP_BLOCK_BYTES,
        Family::Versions | Family::In | Family::OutPast | Family::InPast => FACT_BLOCK_BYTES,
        _ => BLOCK_BYTES,
    });
    // In parts: whole, the filter of a large table is larger than what a shard of the cache holds, and
    // is read from the disk at each look-up.
    blocks.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    blocks.set_partition_filters(true);
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_top_level_index_and_filter(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    let mut options = Options::default();
    if let Some(bytes) = key::shared_bytes(family) {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(bytes));
        blocks.set_whole_key_filtering(false);
    }
    if family.is_point_read() || key::shared_bytes(family).is_some() {
        blocks.set_bloom_filter(FILTER_BITS, false);
    }
    options.set_block_based_table_factory(&blocks);
    options.set_write_buffer_size(memory.write_buffers / 4);
    let (upper, last) = compression();
    options.set_compression_type(upper);
    // A name, or what leads to a pack, is looked up alone.
    let last = if is_looked_up(family) { upper } else { last };
    options.set_bottommost_compression_type(last);
    let (window, strategy, dictionary) = (0, 0, 0);
    options.set_bottommost_compression_options(window, LEVEL, strategy, dictionary, true);
    options
}

/// Those of a table that is written by itself, as of one that was just written: a load takes less time, and what is
/// merged later less room.
pub(super) fn staged_options(family: Family, cache: &Cache, memory: Memory) -> Options {
    let mut options = family_options(family, cache, memory);
    options.set_bottommost_compression_type(compression().0);
    options.set_bottommost_compression_options(0, 0, 0, 0, false);
    options
}
