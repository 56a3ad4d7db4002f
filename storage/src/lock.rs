//! One writer at a time: a lock file that names the process which holds the database, and a mark of
//! it, since two containers may have processes of one number.
//!
//! The system releases the lock when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use crate::error::{Result, StorageError};

/// The name of the lock file within the folder.
pub(crate) const LOCK_FILE: &str = "engraph.lock";

/// What only this process writes into a lock file: 64 random bits, in hexadecimal.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("{:016x}", RandomState::new().build_hasher().finish()));

/// How long a writer waits for readers that look whether there is one: they hold the lock for an instant.
const MOMENT: Duration = Duration::from_millis(50);

/// Whether a writer has the database in `folder` open. It is not known of one that opens it just now.
pub(crate) fn is_held(folder: &Path) -> bool {
    // Without the file there was no writer since the database was copied.
    let Ok(file) = File::open(folder.join(LOCK_FILE)) else { return false };
    let is_free = file.try_lock_shared().is_ok();
    // See the writer's lock.
    let _ = file.unlock();
    !is_free
}

/// The right to write, for as long as it lives.
pub(crate) struct WriterLock {
    file: File,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing the file would leave it locked as long as a process that another thread has just
        // forked has it open too. An error leaves that, which ends by itself.
        let _ = self.file.unlock();
    }
}

impl WriterLock {
    /// Takes the lock of the database in `folder`.
    pub(crate) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK_FILE);
        let io = StorageError::io(&path);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io)?;
        let locked = file.try_lock().or_else(|_| {
            thread::sleep(MOMENT);
            file.try_lock()
        });
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Whatever is readable helps; an empty file is a writer that has just begun.
                let _ = file.read_to_string(&mut text);
                let mut words = text.split_whitespace();
                let pid = words.next().unwrap_or("unknown").chars().take(20).collect();
                let is_own = words.next() == Some(&**MARK);
                return Err(StorageError::Locked { path: folder.to_owned(), pid, is_own });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        writeln!(file, "{} {}", std::process::id(), *MARK).map_err(io)?;
        Ok(Self { file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_even_where_the_file_is_still_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = WriterLock::take(folder.path()).expect("takes it");
        let as_in_a_fork = lock.file.try_clone().expect("a second handle");
        let error = WriterLock::take(folder.path()).err();
        assert!(matches!(error, Some(StorageError::Locked { .. })));
        drop(lock);
        WriterLock::take(folder.path()).expect("takes it again");
        drop(as_in_a_fork);
    }

    #[test]
    fn a_process_of_the_same_number_is_another_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let _lock = WriterLock::take(folder.path()).expect("takes it");
        let own = || match WriterLock::take(folder.path()).err() {
            Some(StorageError::Locked { pid, is_own, .. }) => (pid, is_own),
            other => panic!("{other:?}"),
        };
        let pid = std::process::id().to_string();
        assert_eq!(own(), (pid.clone(), true));
        for text in [pid.clone(), format!("{pid} 0123456789abcdef")] {
            std::fs::write(folder.path().join(LOCK_FILE), text).expect("writable");
            assert_eq!(own(), (pid.clone(), false));
        }
    }
}
