//! Errors and warnings: the stage, the place in the text underlined, and the mend.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use engraph_grammar::SyntaxError;
use engraph_grammar::ast::Span;
use engraph_storage::StorageError;

use crate::neural::NeuralError;

/// The result of the database.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure, by the stage that met it. The printed form starts with the stage and says the whole cause, so it has no
/// [`source`](std::error::Error::source): who prints a chain of causes would say it again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not MemQL. Mend it at the place shown.
    #[error("syntax: {0}")]
    Syntax(Box<Diagnostic>),
    /// The text is MemQL, but its names, types or times do not fit. Mend it at the place shown.
    #[error("bind: {0}")]
    Bind(Box<Diagnostic>),
    /// The query met a value that it cannot work with, or a limit. Mend or narrow it.
    #[error("execute: {0}")]
    Execute(Box<Diagnostic>),
    /// Somebody ended the statement while it ran; nothing was changed.
    #[error("interrupted")]
    Interrupted,
    /// The data to import is not of its form; nothing of the line that it names was stored.
    #[error("import: {0}")]
    Import(String),
    /// The export cannot be written where it was to go. Make room, or name another place.
    #[error("export: {0}")]
    Export(std::io::Error),
    /// A model is missing or failed. The text says how to install it.
    #[error("model: {0}")]
    Neural(NeuralError),
    /// The store refused or failed. The text says what to do.
    #[error("storage: {0}")]
    Storage(StorageError),
}

impl From<NeuralError> for Error {
    fn from(error: NeuralError) -> Self {
        Self::Neural(error)
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// The longest message, in bytes, but for the marks of what was left out.
const MESSAGE_BYTES_MAX: usize = 2_000;

/// How much a diagnostic says: a statement was not done, or it probably is not what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It was not done.
    Error,
    /// It was done.
    Warning,
}

/// What a statement has met the end of, see [`Limits`](crate::Limits).
///
/// ```
/// use std::time::Duration;
/// use engraph::{Limit, Limits, Options};
///
/// # let folder = tempfile::tempdir()?;
/// let limits = Limits { timeout: Duration::from_millis(10), ..Limits::default() };
/// let db = Options::new().limits(limits).open(folder.path())?;
/// let slow = db.query("RETURN size([a IN range(1, 9000) | size(range(1, 9000))])", ());
/// assert_eq!(slow.unwrap_err().limit(), Some(Limit::Time));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Time. Narrow the query, or give it more.
    Time,
    /// Another transaction was open for as long as a statement may take. The same statement may be done later.
    Writer,
    /// Rows, memory, work or candidates. Narrow the query, or give it more.
    Size,
}

/// What is wrong, where, and how to mend it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// The bytes of the text that it is about.
    pub span: Option<Span>,
    /// How to mend it, where that is known.
    pub help: Option<String>,
    /// The text, once it is known.
    text: String,
    /// What the statement takes more of than it may.
    limit: Option<Limit>,
}

impl Diagnostic {
    /// A message about a place in the text.
    pub(crate) fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), ..Self::new(message) }
    }

    /// A message about no place in particular.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let (message, text) = (visible(shortened(message.into())), String::new());
        Self { message, span: None, help: None, text, limit: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(visible(help.into()));
        self
    }

    /// With the known name that was probably meant as its help; without one, with another help.
    pub(crate) fn meant(self, near: Option<&str>, otherwise: impl Into<String>) -> Self {
        match near {
            Some(near) => self.help(format!("did you mean {near}?")),
            None => self.help(otherwise),
        }
    }

    pub(crate) fn with_text(mut self, text: &str) -> Self {
        if self.text.is_empty() {
            text.clone_into(&mut self.text);
        }
        self
    }

    /// The error of a query that cannot be bound.
    pub(crate) fn bind(self) -> Error {
        Error::Bind(Box::new(self))
    }

    /// The error of a query that cannot go on.
    pub(crate) fn execute(self) -> Error {
        Error::Execute(Box::new(self))
    }

    /// The error of a statement that takes more than it may.
    pub(crate) fn of_limit(self, limit: Limit) -> Error {
        Self { limit: Some(limit), ..self }.execute()
    }

    /// The line and column of its place, both from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        let before = self.text.get(..self.span?.start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Some((line, column))
    }

    /// The message with the place underlined, in colour or without.
    pub fn render(&self, severity: Severity, colour: bool) -> String {
        let level = match severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let title = level.primary_title(self.message.as_str());
        // A place that is not in the text is not shown.
        let is_there =
            |span: &Span| self.text.get(span.range()).is_some_and(|_| !self.text.is_empty());
        let mut group = match self.span.filter(is_there) {
            Some(span) => {
                let mark = AnnotationKind::Primary.span(span.range());
                title.element(Snippet::source(self.text.as_str()).annotation(mark))
            }
            None => Group::with_title(title),
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// A message that quotes a long text says how it begins and ends.
fn shortened(text: String) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text;
    }
    let begin = text.floor_char_boundary(MESSAGE_BYTES_MAX / 2);
    let end = text.ceil_char_boundary(text.len() - MESSAGE_BYTES_MAX / 2);
    format!("{} ... {}", &text[..begin], &text[end..])
}

/// A text that quotes another cannot act on a terminal: what could is escaped.
fn visible(text: String) -> String {
    if !text.contains(acts) {
        return text;
    }
    let shown = |letter: char| match acts(letter) {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Whether a character could act on a terminal, or reorder what it shows.
fn acts(character: char) -> bool {
    let reorders = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || reorders || matches!(character, '\u{2028}' | '\u{2029}')
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        if let Some((line, column)) = self.position() {
            write!(f, " (line {line}, column {column})")?;
        }
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        let mut diagnostic = Diagnostic::at(error.span, error.message);
        diagnostic.help = error.help.map(visible);
        Self::Syntax(Box::new(diagnostic))
    }
}

impl Error {
    /// What the statement took more of than it may; none if that is not what failed.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Execute(diagnostic) => diagnostic.limit,
            _ => None,
        }
    }

    /// Whether it is about a value, and not about what a statement may take.
    pub(crate) fn is_about_value(&self) -> bool {
        matches!(self, Self::Execute(_)) && self.limit().is_none()
    }

    /// The error with the text that it is about.
    pub(crate) fn with_text(self, text: &str) -> Self {
        match self {
            Self::Syntax(diagnostic) => Self::Syntax(Box::new(diagnostic.with_text(text))),
            Self::Bind(diagnostic) => Self::Bind(Box::new(diagnostic.with_text(text))),
            Self::Execute(diagnostic) => Self::Execute(Box::new(diagnostic.with_text(text))),
            other => other,
        }
    }

    /// The error with the text that it is about. If it has no place of its own, or is what the store says of
    /// what it was told, its place is the first line of the statement.
    pub(crate) fn of_statement(self, statement: Span, text: &str) -> Self {
        let line = || {
            let own = text.get(statement.start..statement.end).unwrap_or_default();
            let length = own.lines().next().unwrap_or_default().trim_end().len();
            Span { start: statement.start, end: statement.start + length }
        };
        let placed = |diagnostic: Box<Diagnostic>| match diagnostic.span {
            Some(_) => diagnostic,
            None => Box::new(Diagnostic { span: Some(line()), ..*diagnostic }),
        };
        let error = match self {
            Self::Bind(diagnostic) => Self::Bind(placed(diagnostic)),
            Self::Execute(diagnostic) => Self::Execute(placed(diagnostic)),
            Self::Storage(StorageError::Invalid(reason)) => {
                Diagnostic::at(line(), reason).execute()
            }
            other => other,
        };
        error.with_text(text)
    }

    /// The error of a text within the statement, told at a place of the statement.
    pub(crate) fn within(self, place: &str, span: Span) -> Self {
        let moved = |diagnostic: Box<Diagnostic>| {
            let message = match diagnostic.message.starts_with(place) {
                true => diagnostic.message.clone(),
                false => format!("{place}: {}", diagnostic.message),
            };
            Box::new(Diagnostic { message, span: Some(span), text: String::new(), ..*diagnostic })
        };
        match self {
            Self::Syntax(diagnostic) => Self::Syntax(moved(diagnostic)),
            Self::Bind(diagnostic) => Self::Bind(moved(diagnostic)),
            Self::Execute(diagnostic) => Self::Execute(moved(diagnostic)),
            other => other,
        }
    }

    /// The error for a person: the place in the text underlined, in colour or without.
    pub fn report(&self, colour: bool) -> String {
        let (stage, diagnostic) = match self {
            Self::Syntax(diagnostic) => ("syntax", diagnostic.as_ref().clone()),
            Self::Bind(diagnostic) => ("bind", diagnostic.as_ref().clone()),
            Self::Execute(diagnostic) => ("execute", diagnostic.as_ref().clone()),
            other => ("", Diagnostic::new(other.to_string())),
        };
        let message = match stage {
            "" => diagnostic.message.clone(),
            stage => format!("{stage}: {}", diagnostic.message),
        };
        Diagnostic { message, ..diagnostic }.render(Severity::Error, colour)
    }
}
