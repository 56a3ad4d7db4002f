//! `engraph backup` and `engraph restore`: a whole database, copied and checked.
//!
//! Both are the same copy in two directions. Neither writes to what is there already.

use std::path::Path;

use engraph::{Engraph, Options};

use super::args::{Backup, Restore};
use super::output::Output;
use super::progress::FamilyBar;
use super::{Result, open_read_only};

/// Copies the database as it stands, beside a writer or not.
pub(super) fn backup(command: &Backup, output: &mut Output) -> Result<()> {
    copy(&command.db, &command.dir, output)?;
    Ok(output.line("backed up")?)
}

/// Copies a backup to where the database is wanted.
pub(super) fn restore(command: &Restore, output: &mut Output) -> Result<()> {
    copy(&command.dir, &command.db, output)?;
    Ok(output.line("restored")?)
}

fn copy(from: &Path, to: &Path, output: &mut Output) -> Result<()> {
    write(&open_read_only(from, Options::new(), output)?, to)
}

/// Copies an open database, and shows how far it is.
pub(super) fn write(db: &Engraph, to: &Path) -> Result<()> {
    let bar = FamilyBar::new();
    let copied = db.backup(to, &mut |family| bar.begin(family));
    bar.clear();
    Ok(copied?)
}
