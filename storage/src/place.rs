//! The folder of a database that is open: whether its path still leads to it.
//!
//! The engine works by path for as long as it is open, also in the background. Where the folder was moved
//! meanwhile and another one put in its place, it would write into that one, and delete what it does not know
//! there. So on Linux it is given a path that leads to the folder wherever it is. This looks, and moves nothing.
//! It also brings the names within a folder to the disk.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{OPEN_FILES, Result, StorageError};

/// A folder, held so that no other one can be taken for it.
pub(crate) struct Place {
    path: PathBuf,
    lasting: PathBuf,
    number: Option<(u64, u64)>,
    /// As long as it is open, no other folder has its number.
    _folder: File,
}

impl Place {
    /// The folder that a path leads to now.
    pub(crate) fn hold(path: &Path) -> Result<Self> {
        let io = StorageError::io(path);
        // The process may go to another folder.
        let path = std::path::absolute(path).map_err(io)?;
        let folder = File::open(&path).map_err(io)?;
        let number = number_of(&folder.metadata().map_err(io)?);
        let leads_there = |lasting: &PathBuf| {
            std::fs::metadata(lasting).is_ok_and(|found| number_of(&found) == number)
        };
        let lasting = by_number(&folder).filter(leads_there).unwrap_or_else(|| path.clone());
        Ok(Self { path, lasting, number, _folder: folder })
    }

    /// [`StorageError::Moved`] if the path leads to another folder now, or to none.
    pub(crate) fn check(&self) -> Result<()> {
        let path = || self.path.clone();
        match std::fs::metadata(&self.path) {
            Ok(found) if number_of(&found) == self.number => Ok(()),
            Err(source)
                if !matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Err(StorageError::Io { path: path(), source })
            }
            Ok(_) | Err(_) => Err(StorageError::Moved { path: path() }),
        }
    }

    /// A path that leads to the folder for as long as it is held, wherever it is moved; the one by which it was
    /// found where the system has no such.
    pub(crate) fn lasting(&self) -> &Path {
        &self.lasting
    }
}

/// Brings the names of what is in a folder to the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(StorageError::io(path))
}

/// What tells a folder from all others, where the system says it.
#[cfg(unix)]
fn number_of(found: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number_of(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(unix)]
fn by_number(folder: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    Some(PathBuf::from(format!("{OPEN_FILES}{}", folder.as_raw_fd())))
}

#[cfg(not(unix))]
fn by_number(_: &File) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::Durability;
    use crate::engine::Memory;
    use std::collections::BTreeMap;

    use crate::store::Store;

    fn put(store: &Store, key: &str) -> Result<()> {
        let mut transaction = store.begin(0)?;
        transaction.put_node("N", key, &BTreeMap::new())?;
        transaction.commit(Durability::Buffered, 0).map(drop)
    }

    /// The keys of a database that is sound.
    fn keys(path: &Path) -> Vec<String> {
        let store = Store::open(path, Memory::default()).expect("opens");
        let mut violations = Vec::new();
        store.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("checks");
        assert_eq!(violations, []);
        let snapshot = store.snapshot(0);
        let reader = snapshot.reader();
        let label = reader.catalog().label("N").expect("is known");
        let mut keys = Vec::new();
        let mut visit = |key: &str, _| {
            keys.push(key.to_owned());
            std::ops::ControlFlow::Continue(())
        };
        reader.nodes_of_label(label, None, &mut visit).expect("reads");
        keys
    }

    #[test]
    fn a_folder_in_the_place_of_one_that_was_moved_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let [ours, other, aside] = ["ours", "other", "aside"].map(|name| folder.path().join(name));
        let open = |path: &Path| Store::open(path, Memory::default()).expect("opens");
        put(&open(&other), "other").expect("writes");
        put(&open(&ours), "first").expect("writes");
        let store = open(&ours);
        put(&store, "second").expect("writes");
        std::fs::rename(&ours, &aside).expect("moves");
        assert!(matches!(put(&store, "lost"), Err(StorageError::Moved { .. })));
        std::fs::rename(&other, &ours).expect("moves");
        assert!(matches!(put(&store, "lost"), Err(StorageError::Moved { .. })));
        store.settle().expect("merges its own tables");
        // The other one is not ours to close, and can be opened beside it.
        assert_eq!(keys(&ours), ["other"]);
        drop(store);
        assert_eq!(keys(&ours), ["other"]);
        assert_eq!(keys(&aside), ["first", "second"]);
    }

    #[test]
    fn a_folder_that_came_back_is_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let [ours, aside] = ["ours", "aside"].map(|name| folder.path().join(name));
        let store = Store::open(&ours, Memory::default()).expect("opens");
        put(&store, "first").expect("writes");
        std::fs::rename(&ours, &aside).expect("moves");
        put(&store, "lost").expect_err("is moved");
        std::fs::rename(&aside, &ours).expect("moves");
        put(&store, "second").expect("writes");
        drop(store);
        assert_eq!(keys(&ours), ["first", "second"]);
    }
}
