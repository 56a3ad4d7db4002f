//! Ctrl-C while a statement runs.
//!
//! At the prompt the terminal hands Ctrl-C over as a key, and this hears nothing of it.

use std::io::{Write, stderr};

use crate::cli::{Failure, Result};

/// From now on Ctrl-C asks the running statement to end, and never ends the process.
pub(super) fn listen() -> Result<()> {
    ctrlc::set_handler(cancel)
        .map_err(|error| Failure::Other(format!("Ctrl-C cannot be listened to: {error}")))
}

/// Asks the running statement to end.
fn cancel() {
    let message = "a running statement cannot be cancelled yet; Ctrl-\\ ends the shell";
    // Where stderr is gone, nobody can be told.
    writeln!(stderr(), "{message}").unwrap_or_default();
}
