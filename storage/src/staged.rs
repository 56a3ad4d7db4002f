//! Sorted tables that wait in the folder of a database until a load takes them in.
//!
//! It knows files and families, and nothing of what the tables hold or of the mark that says that they
//! are to be taken in.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::Builder;

use crate::engine::Engine;
use crate::error::{Result, StorageError};
use crate::families::Family;

/// The families that a load fills.
pub(crate) const FAMILIES: [Family; 5] =
    [Family::Versions, Family::Out, Family::In, Family::OutPast, Family::InPast];

/// Where the tables of a database wait.
pub(crate) fn folder(path: &Path) -> PathBuf {
    path.join("bulk")
}

/// The table of a family and a part, in their folder.
pub(crate) fn table(folder: &Path, family: Family, part: usize) -> PathBuf {
    folder.join(format!("{}-{part:04}.sst", family.name()))
}

/// The tables of a family; their keys do not overlap.
pub(crate) fn tables(folder: &Path, family: Family) -> Result<Vec<PathBuf>> {
    let failed = StorageError::io(folder);
    let begin = format!("{}-", family.name());
    let mut tables = Vec::new();
    let entries = match fs::read_dir(folder) {
        // All were taken in.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(tables),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().starts_with(&begin) {
            tables.push(entry.path());
        }
    }
    tables.sort_unstable();
    Ok(tables)
}

/// Makes the folder of a database's tables, without any.
pub(crate) fn begin(path: &Path) -> Result<()> {
    remove(path)?;
    let folder = folder(path);
    fs::create_dir(&folder).map_err(|source| StorageError::Io { path: folder, source })
}

/// Takes the tables of a database in, those of all families at once, since each waits for the disk. Again, if
/// a crash came in between.
pub(crate) fn take_in(engine: &Engine, path: &Path) -> Result<()> {
    let folder = folder(path);
    // All are listed before the first one is moved away.
    let tables = FAMILIES.map(|family| Ok((family, tables(&folder, family)?)));
    let mut waiting = tables.into_iter().collect::<Result<Vec<_>>>()?;
    waiting.retain(|(_, tables)| !tables.is_empty());
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (family, tables) in &waiting {
            match Builder::new().spawn_scoped(scope, || engine.take_in(*family, tables)) {
                Ok(thread) => threads.push(thread),
                // Half of a load is no state, so what has no thread is done on this one.
                Err(_) => engine.take_in(*family, tables)?,
            }
        }
        let panicked = |_| Err(StorageError::Engine("a table was not taken in".to_owned()));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
    })
}

/// Removes the tables of a database that were not taken in, and their folder.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let folder = folder(path);
    match fs::remove_dir_all(&folder) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(StorageError::Io { path: folder, source })
        }
        _ => Ok(()),
    }
}
