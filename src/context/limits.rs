//! What a statement may use, and the error of one that takes more.

use std::time::Duration;

use crate::context::run::Interrupt;
use crate::error::{Diagnostic, Error, Limit};

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
