//! Logs that RocksDB itself wrote, and what it makes of torn ones.

use super::*;
use crate::recovery::look;

/// A database of RocksDB's own making, with commit records in its batches.
struct Rocks {
    db: rocksdb::DB,
    last: Option<Commit>,
    is_synced: bool,
}

impl Rocks {
    fn open(folder: &Path, last: Option<Commit>) -> Self {
        let mut options = rocksdb::Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let db = rocksdb::DB::open_cf(&options, folder, ["default", "meta"]).unwrap();
        Self { db, last, is_synced: true }
    }

    fn commit(&mut self, bytes: usize) {
        let meta = self.db.cf_handle("meta").unwrap();
        let mut batch = rocksdb::WriteBatch::default();
        batch.put_cf(meta, b"key", vec![7; bytes]);
        batch.delete(b"another");
        let number = self.last.map_or(0, |last| last.number + 1);
        let previous = self.last.map_or(0, |last| last.chain);
        let chain = chain(previous, &batch.data()[12..]);
        let synced = if self.is_synced { number } else { 0 };
        let commit = Commit { number, synced, chain };
        batch.put_cf(meta, b"commit", commit.encode());
        self.db.write(batch).unwrap();
        self.last = Some(commit);
    }

    /// The last commit that it has.
    fn read(&self) -> Option<Commit> {
        let meta = self.db.cf_handle("meta").unwrap();
        Commit::decode(&self.db.get_cf(meta, b"commit").unwrap().unwrap())
    }
}

fn logs_in(folder: &Path) -> Vec<PathBuf> {
    logs(folder).unwrap().into_iter().map(|log| log.path).collect()
}

#[test]
fn logs_of_rocksdb_are_read() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut rocks = Rocks::open(folder, None);
    for bytes in [0, 10, 32_700, 100_000, 5, 32_000, 700, 60_000] {
        rocks.commit(bytes);
    }
    let last = rocks.last;
    drop(rocks);
    assert_eq!(look(folder).unwrap(), LogScan { last, torn: None });

    let [log] = &logs_in(folder)[..] else { panic!("not one log") };
    let mut bytes = std::fs::read(log).unwrap();
    bytes[60_000] ^= 1;
    std::fs::write(log, &bytes).unwrap();
    assert!(matches!(look(folder), Err(StorageError::DamagedLog { .. })));
}

/// What is in the log when a database is opened is in tables then, so the new log is empty: the tables
/// need not be opened to be held against it.
#[test]
fn tables_are_not_asked_about_an_empty_log() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut rocks = Rocks::open(folder, None);
    rocks.commit(10);
    let last = rocks.last;
    drop(rocks);
    assert_eq!(look(folder).unwrap(), LogScan { last, torn: None });
    assert_eq!(Rocks::open(folder, None).read(), last);
    assert_eq!(look(folder).unwrap(), LogScan::default());
}

/// The last commit is torn, recovered from, and its log comes back beside the next one.
#[test]
fn logs_of_rocksdb_after_a_recovery_are_read() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut rocks = Rocks::open(folder, None);
    rocks.commit(10);
    rocks.commit(100);
    let last = rocks.last;
    rocks.commit(50_000);
    drop(rocks);
    let old = logs_in(folder).pop().unwrap();
    let mut torn = std::fs::read(&old).unwrap();
    torn.truncate(torn.len() - 100);
    std::fs::write(&old, &torn).unwrap();
    let found = look(folder).unwrap();
    assert_eq!(found.last, last);
    assert!(found.torn.is_some_and(|torn| torn.bytes > 49_000));

    let mut rocks = Rocks::open(folder, last);
    assert_eq!(rocks.read(), last);
    rocks.commit(10);
    let last = rocks.last;
    drop(rocks);
    assert!(!old.exists());
    std::fs::write(&old, &torn).unwrap();
    assert_eq!(logs_in(folder).len(), 2);
    assert_eq!(look(folder).unwrap(), LogScan { last, torn: None });
}

/// Recovery passes over zeros that end with a block and then reads on, past a commit that is lost:
/// the one case in which it does not stop by itself, so the log has to be cut before it is opened.
#[test]
fn a_torn_log_of_rocksdb_is_cut_before_it_is_opened() {
    for is_cut in [false, true] {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let mut rocks = Rocks::open(folder, None);
        rocks.is_synced = false;
        let bytes = || std::fs::metadata(&logs_in(folder)[0]).unwrap().len() as usize;
        rocks.commit(1000);
        let (first, from) = (rocks.last, bytes());
        rocks.commit(1000);
        let more_bytes = bytes() - from - 1000;
        // The second record and this one fill the block, but for less than a header.
        rocks.commit(BLOCK - 3 - bytes() - more_bytes - 1);
        let to = bytes();
        assert!((BLOCK - 6..=BLOCK).contains(&to), "{to}");
        rocks.commit(10);
        let fourth = rocks.last;
        drop(rocks);
        let log = logs_in(folder).pop().unwrap();
        let mut bytes = std::fs::read(&log).unwrap();
        bytes[from..to].fill(0);
        std::fs::write(&log, &bytes).unwrap();

        let found = look(folder).unwrap();
        let torn = found.torn.unwrap();
        assert_eq!((found.last, torn.offset), (first, from as u64));
        if is_cut {
            File::options().write(true).open(&log).unwrap().set_len(torn.offset).unwrap();
        }
        let expected = if is_cut { first } else { fourth };
        assert_eq!(Rocks::open(folder, None).read(), expected);
    }
}
