//! The folder of a database that is open: whether its path still leads to it.
//!
//! The engine works by path for as long as it is open. Where the folder was moved meanwhile and another
//! one put in its place, it would write into that one, and delete what it does not know there. This looks
//! and never follows a folder to where it went.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Result, StorageError};

/// A folder, held so that no other one can be taken for it.
pub(crate) struct Place {
    path: PathBuf,
    folder: File,
}

impl Place {
    /// The folder that a path leads to now.
    pub(crate) fn hold(path: &Path) -> Result<Self> {
        let io = |source| StorageError::Io { path: path.to_owned(), source };
        Ok(Self { path: path.to_owned(), folder: File::open(path).map_err(io)? })
    }

    /// [`StorageError::Moved`] if the path leads to another folder now, or to none.
    pub(crate) fn check(&self) -> Result<()> {
        match is_same(&self.folder, &self.path) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(StorageError::Moved { path: self.path.clone() }),
        }
    }

    /// Whether the path leads to another folder now.
    pub(crate) fn is_replaced(&self) -> bool {
        is_same(&self.folder, &self.path).is_ok_and(|is_same| !is_same)
    }
}

/// Whether a path leads to a folder that is open: as long as it is, no other one has its number.
#[cfg(unix)]
fn is_same(folder: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (held, found) = (folder.metadata()?, std::fs::metadata(path)?);
    Ok((held.dev(), held.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> std::io::Result<bool> {
    path.try_exists()
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
        std::fs::rename(&ours, &aside).expect("moves");
        assert!(matches!(put(&store, "lost"), Err(StorageError::Moved { .. })));
        std::fs::rename(&other, &ours).expect("moves");
        assert!(matches!(put(&store, "lost"), Err(StorageError::Moved { .. })));
        assert!(matches!(store.settle(), Err(StorageError::Moved { .. })));
        drop(store);
        // As another process finds it, which knows nothing of what this one has open.
        let found = folder.path().join("found");
        std::fs::rename(&ours, &found).expect("moves");
        assert_eq!(keys(&found), ["other"]);
        let refused = |path: &Path| Store::open(path, Memory::default()).err();
        assert!(matches!(refused(&aside), Some(StorageError::Locked { is_own: true, .. })));
        put(&open(&other), "new").expect("writes");
        std::fs::rename(&other, &ours).expect("moves");
        assert!(matches!(refused(&ours), Some(StorageError::StillOpen { .. })));
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
