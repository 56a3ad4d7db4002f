//! `engraph embed`: all embeddings by the model that is installed.
//!
//! It can be ended at any time, and goes on when it is run again.

use engraph::Options;

use super::args::Embed;
use super::output::Output;
use super::progress::bar;
use super::{Result, open};

/// Makes the embeddings anew and says how many that were.
pub(super) fn run(command: &Embed, output: &mut Output) -> Result<()> {
    // A database that is not there is not made.
    drop(Options::new().open_read_only(&command.db)?);
    let db = open(&command.db, Options::new(), output)?;
    let bar = bar();
    let made = db.reembed(&mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    // Also after a failure, or its text would stand after the bar.
    bar.finish_and_clear();
    Ok(output.line(&format!("embeddings made {}", made?))?)
}
