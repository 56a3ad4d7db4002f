//! `engraph upgrade` and `engraph recover`: what it takes to open a database that opening refuses.
//!
//! Both change the database in place, and only when they are asked to.

use engraph::{FORMAT, Options, upgrade as upgrade_database};

use super::args::{Recover, Upgrade};
use super::output::Output;
use super::{Failure, Result};

/// Brings a database of an older format to this one.
pub(super) fn upgrade(command: &Upgrade, output: &mut Output) -> Result<()> {
    let said = match upgrade_database(&command.db)? {
        FORMAT => format!("format {FORMAT} already"),
        found => format!("upgraded from format {found} to format {FORMAT}"),
    };
    Ok(output.line(&said)?)
}

/// Drops what stands after the damage in a log, and says what that was.
pub(super) fn recover(command: &Recover, output: &mut Output) -> Result<()> {
    let db = Options::new().recover(&command.db)?;
    let said = match db.torn() {
        Some(torn) => format!(
            "dropped {} bytes of {}, from byte {} to its end",
            torn.bytes, torn.file, torn.offset
        ),
        None => "the log is whole; nothing was dropped".to_owned(),
    };
    output.line(&said)?;
    let mut violations = 0_u64;
    if db.torn().is_some() {
        db.check(&mut |_| violations += 1, &mut |_| {})?;
    }
    match violations {
        0 => Ok(()),
        count => Err(Failure::Other(format!(
            "tables hold a part of what was dropped: {count} violations. Restore a backup; without one, read what \
             is there and do not write to it (engraph check lists them)"
        ))),
    }
}
