//! `engraph export`: everything a database holds, into a file or to stdout.
//!
//! A file gets its name when it is whole, so what has the name can be imported; one that is there
//! already is left alone unless it is to be replaced.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use engraph::{Engraph, Error, Options};

use super::args::Export;
use super::output::{Output, check_place};
use super::progress::bar;
use super::{Failure, Result, open_read_only, whole};

/// Exports the database and says how many lines that made.
pub(super) fn run(command: &Export, output: &mut Output) -> Result<()> {
    if command.file.as_os_str() == "-" {
        let db = open_read_only(&command.db, Options::new(), output)?;
        return to_stdout(&db);
    }
    check_free(&command.file, command.force)?;
    let db = open_read_only(&command.db, Options::new(), output)?;
    let lines = to_file(&db, &command.file, command.force)?;
    Ok(output.line(&format!("lines {lines}"))?)
}

/// A reader that goes away wants no more of it.
fn to_stdout(db: &Engraph) -> Result<()> {
    match db.export(io::stdout().lock(), &mut |_, _| {}) {
        Err(Error::Export(error)) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        Ok(_) | Err(Error::Export(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn to_file(db: &Engraph, path: &Path, force: bool) -> Result<u64> {
    let part = whole::part(path);
    let file = create(&part, force)?;
    let bar = bar();
    let exported = db.export(&file, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    // Also after a failure, or its text would stand after the bar.
    bar.finish_and_clear();
    let named = exported.map_err(Failure::from).and_then(|lines| {
        file.sync_all().map_err(|error| Failure::of_file(&part, &error))?;
        check_free(path, force)?;
        std::fs::rename(&part, path).map_err(|error| Failure::of_file(path, &error))?;
        Ok(lines)
    });
    if named.is_err() {
        // It is of no use, and that it stays is no worse than the failure.
        std::fs::remove_file(&part).unwrap_or_default();
    }
    named
}

/// Makes the file, which no other export may write at the same time.
fn create(part: &Path, force: bool) -> Result<File> {
    let mut options = File::options();
    options.write(true);
    let opened = match force {
        true => options.create(true).truncate(false).open(part),
        false => options.create_new(true).open(part),
    };
    let file = opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Other(format!(
            "{} is there already: another export is under way, or was cut off; --force writes over \
             it",
            part.display()
        )),
        _ => Failure::of_file(part, &error),
    })?;
    match file.try_lock() {
        Ok(()) if is_there(part, &file) => {}
        // It has been written meanwhile, and has its name.
        Ok(()) | Err(TryLockError::WouldBlock) => {
            let message = "another export writes it; try again when that is done";
            return Err(Failure::Other(format!("{}: {message}", part.display())));
        }
        Err(TryLockError::Error(error)) => return Err(Failure::of_file(part, &error)),
    }
    file.set_len(0).map_err(|error| Failure::of_file(part, &error))?;
    Ok(file)
}

/// Whether a file is the one that has the name now.
fn is_there(path: &Path, file: &File) -> bool {
    let own = file.metadata().map(|own| (own.dev(), own.ino()));
    let named = std::fs::metadata(path).map(|named| (named.dev(), named.ino()));
    own.ok().zip(named.ok()).is_some_and(|(own, named)| own == named)
}

/// Only a file may be replaced, and only if that was asked for.
fn check_free(path: &Path, force: bool) -> Result<()> {
    check_place(path).map_err(|error| Failure::of_file(path, &error))?;
    let failed = |reason: &str| Err(Failure::Other(format!("{}: {reason}", path.display())));
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::of_file(path, &error)),
        Ok(metadata) if !metadata.is_file() => failed("it is there already and is no file"),
        Ok(_) if !force => failed("it is there already; --force replaces it"),
        Ok(_) => Ok(()),
    }
}
