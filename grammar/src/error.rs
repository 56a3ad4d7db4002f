//! Syntax errors in the user's words: where, what was expected, and how to mend it.

use crate::ast::Span;

/// A text that is not MemQL. Mend the text; nothing was read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// How to mend it, where that is known.
    pub help: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, start: usize, end: usize) -> Self {
        Self { message: message.into(), span: Span { start, end }, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
