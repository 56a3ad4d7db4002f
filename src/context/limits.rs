//! What a statement may use, and the error of one that takes more.

use std::time::{Duration, Instant};

use engraph_storage::{StorageError, Store, Transaction};

use crate::context::run::Interrupt;
use crate::error::{Diagnostic, Error, Limit, Result};
use crate::time;

/// What one statement may use; the same for every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows of an answer, and rows held by any one operator.
    pub rows_max: usize,
    /// Nodes, facts and vectors looked at.
    pub work_max: u64,
    /// Bytes that the rows, groups and paths of its operators may take together, and the properties in an answer that is
    /// not streamed, roughly.
    pub memory_max: usize,
    /// Paths kept by a beam, continuations of one path, and nodes found by a search.
    pub candidates_max: usize,
    /// Time. That in which whoever streams the rows does something else does not count.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows_max: 1_000_000,
            work_max: 20_000_000,
            memory_max: 512 << 20,
            candidates_max: 10_000,
            timeout: Duration::from_secs(30),
        }
    }
}

/// What ends a statement before it is done: its limits, and whoever asks for it.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) limits: Limits,
    pub(crate) interrupt: Interrupt,
}

impl From<Limits> for Allowance {
    /// Nobody ends it.
    fn from(limits: Limits) -> Self {
        Self { limits, interrupt: Interrupt::default() }
    }
}

impl Allowance {
    /// How long a statement waits for others.
    pub(crate) fn patience(&self) -> Patience<'_> {
        Patience { timeout: self.limits.timeout, interrupt: Some(&self.interrupt) }
    }
}

/// How long a call waits for others that write, from when it begins to wait.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'p> {
    timeout: Duration,
    interrupt: Option<&'p Interrupt>,
}

impl Patience<'_> {
    /// Of a thread that has nothing else to do.
    pub(crate) const ENDLESS: Self = Self { timeout: Duration::MAX, interrupt: None };

    /// Until somebody interrupts it.
    pub(crate) fn until(interrupt: &Interrupt) -> Patience<'_> {
        Patience { interrupt: Some(interrupt), ..Patience::ENDLESS }
    }

    /// As long as a statement of these limits.
    pub(crate) fn of(limits: Limits) -> Self {
        Self { timeout: limits.timeout, interrupt: None }
    }

    /// Begins a transaction, once no other one is open.
    ///
    /// # Errors
    ///
    /// Of a limit, [`Limit::Writer`], or [`Error::Interrupted`], if another one is open until then.
    pub(crate) fn begin<'s>(&self, store: &'s Store) -> Result<Transaction<'s>> {
        let begun = Instant::now();
        store.begin_while(time::wall(), &|| self.lasts(begun)).map_err(|error| match error {
            StorageError::Stopped => self.gone(),
            error => error.into(),
        })
    }

    /// Whether it lasts yet, of who waits since then.
    fn lasts(&self, begun: Instant) -> bool {
        !self.is_interrupted() && begun.elapsed() < self.timeout
    }

    /// The error of who has waited for too long.
    fn gone(&self) -> Error {
        if self.is_interrupted() {
            return Error::Interrupted;
        }
        let message = format!("others have been writing for more than {:?}", self.timeout);
        Diagnostic::new(message)
            .help("COMMIT or ROLLBACK it, or raise Options::limits in Rust")
            .of_limit(Limit::Writer)
    }

    /// Whether somebody has asked it to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_asked)
    }
}

/// The error of a statement that takes more than it may.
pub(crate) fn narrow(message: String) -> Error {
    Diagnostic::new(message)
        .help("narrow the pattern, or raise Options::limits in Rust")
        .of_limit(Limit::Size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_no_matter_of_a_value() {
        assert!(!narrow("too many rows".to_owned()).is_about_value());
        assert!(Diagnostic::new("no number").execute().is_about_value());
        assert!(!Error::Interrupted.is_about_value());
    }
}
