//! Ctrl-C while an input runs: once it asks the statement to end, and twice it ends the process.
//!
//! At the prompt the terminal hands Ctrl-C over as a key, and this hears nothing of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use engraph::Interrupt;
use parking_lot::Mutex;

use crate::cli::{ENDED, Failure, Result};

/// Whether Ctrl-C was pressed: statements of a file may each be over before they hear of it.
static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the running statement to end, and ends the process if that was asked already: a copy of a
/// database or a scan for its counts hears of nothing, and what is committed lasts.
pub(super) fn listen() -> Result<()> {
    ctrlc::set_handler(cancel)
        .map_err(|error| Failure::Other(format!("Ctrl-C cannot be listened to: {error}")))
}

/// What ends the statement of the session that is open.
fn session() -> &'static Mutex<Interrupt> {
    static SESSION: OnceLock<Mutex<Interrupt>> = OnceLock::new();
    SESSION.get_or_init(Mutex::default)
}

/// From now on Ctrl-C is about this session.
pub(super) fn about(interrupt: Interrupt) {
    *session().lock() = interrupt;
}

/// Asks the running statement to end, and the file that it is in.
fn cancel() {
    if ASKED.swap(true, Ordering::Relaxed) {
        std::process::exit(ENDED);
    }
    session().lock().interrupt();
}

/// Whether Ctrl-C was pressed since this was asked last.
pub(super) fn was_asked() -> bool {
    ASKED.swap(false, Ordering::Relaxed)
}
