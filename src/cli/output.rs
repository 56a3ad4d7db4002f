//! Answers on stdout, everything else on stderr.
//!
//! A stored text never reaches a terminal as it is: control characters are escaped in all that is
//! made for a person. A reader that goes away is no error, and the work goes on without it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stderr, Stdout, Write};

use annotate_snippets::Level;
use comfy_table::{
    CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle,
};
use engraph::{Diagnostic, Error, Rows, Value};

use super::args::Format;
use super::{Failure, dot};

/// Where a command prints.
pub(super) struct Output {
    stdout: BufWriter<Patient<Stdout>>,
    stderr: Patient<Stderr>,
    colour: bool,
}

impl Output {
    /// The process's own streams; colours where a person looks on and wants them.
    pub(super) fn new() -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            stdout: BufWriter::new(Patient(io::stdout())),
            stderr: Patient(io::stderr()),
            colour: io::stderr().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
        }
    }

    /// Prints an answer, with its warnings before it.
    pub(super) fn rows(&mut self, rows: &Rows, format: Format, width: Option<u16>) -> Result {
        self.warnings(&rows.warnings);
        match format {
            Format::Table => {
                let noun = if rows.len() == 1 { "row" } else { "rows" };
                self.table(rows, width)?;
                writeln!(self.stdout, "({} {noun})", rows.len())
            }
            Format::Json => writeln!(self.stdout, "{}", rows.to_json()),
            Format::Jsonl => {
                rows.to_json_lines().try_for_each(|line| writeln!(self.stdout, "{line}"))
            }
            Format::Csv => csv(rows, &mut self.stdout),
            Format::Dot => write!(self.stdout, "{}", dot::graph(rows)),
        }
    }

    /// Prints a table, no wider than given.
    pub(super) fn table(&mut self, rows: &Rows, width: Option<u16>) -> Result {
        writeln!(self.stdout, "{}", table(rows, width).trim_fmt())
    }

    /// Prints one line of an answer.
    pub(super) fn line(&mut self, text: &str) -> Result {
        writeln!(self.stdout, "{text}")
    }

    /// Prints one line about the work.
    pub(super) fn note(&mut self, text: &str) {
        self.tell(&visible(text));
    }

    /// Prints a failure with the place in the text underlined, unless it has been shown.
    pub(super) fn failure(&mut self, failure: &Failure) {
        let report = match failure {
            Failure::Database(error) => self.report(error),
            Failure::Other(message) => format!("error: {}", visible(message)),
            Failure::Shown => return,
        };
        self.tell(&report);
    }

    fn tell(&mut self, text: &str) {
        // What was printed so far is about what came before. Where stdout fails, whoever printed
        // learns of it; where stderr fails, nobody can be told.
        self.stdout.flush().unwrap_or_default();
        writeln!(self.stderr, "{text}").unwrap_or_default();
    }

    fn report(&self, error: &Error) -> String {
        let report = error.report(false);
        // A message may quote a stored text; such a one is shown without colour.
        match lines_visible(&report) {
            Cow::Borrowed(_) => error.report(self.colour),
            Cow::Owned(report) => report,
        }
    }

    /// Shows what is probably not meant.
    pub(super) fn warnings(&mut self, warnings: &[Diagnostic]) {
        for warning in warnings {
            let report = warning.render(Level::WARNING, false);
            let report = match lines_visible(&report) {
                Cow::Borrowed(_) => warning.render(Level::WARNING, self.colour),
                Cow::Owned(report) => report,
            };
            self.tell(&report);
        }
    }

    /// Hands on everything that was printed.
    pub(super) fn flush(&mut self) -> Result {
        self.stdout.flush()
    }
}

type Result = io::Result<()>;

/// A stream whose reader may go away: what is written then is lost, and nothing fails.
struct Patient<W>(W);

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> Result {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// How wide an answer may be, if it goes to a terminal.
pub(super) fn terminal_width() -> Option<u16> {
    match io::stdout().is_terminal() {
        true => rustyline::DefaultEditor::new().ok()?.dimensions().map(|(columns, _)| columns),
        false => None,
    }
}

/// Lines between columns and under the header, none around: it reads well and pastes well.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction('│'))
    .header_separator(LineStyle::none().fill('─').junction('┼'))
    .content_lines(ContentLineStyle::none().junction('│'));

fn table(rows: &Rows, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table.set_header(rows.columns.iter().map(|name| visible(name).into_owned()));
    for row in &rows.rows {
        table.add_row(row.iter().map(|value| visible(&value.to_string()).into_owned()));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if is_numeric(rows, index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn is_numeric(rows: &Rows, column: usize) -> bool {
    let is_number =
        |row: &Vec<Value>| matches!(row.get(column), Some(Value::Int(_) | Value::Float(_)));
    !rows.is_empty() && rows.rows.iter().all(is_number)
}

/// The text with everything escaped that could act on a terminal or reorder what it shows.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// The same, but lines stay lines.
fn lines_visible(text: &str) -> Cow<'_, str> {
    escaped(text, |character| acts(character) && character != '\n')
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match acts(character) {
            true => write!(out, "{}", character.escape_default()).unwrap_or_default(),
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

fn acts(character: char) -> bool {
    let reorders = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(character, '\u{2028}' | '\u{2029}');
    character.is_control() || reorders || breaks
}

fn csv(rows: &Rows, out: &mut impl Write) -> Result {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    // An answer without columns has no header, and a record has at least one field.
    if !rows.columns.is_empty() {
        writer.write_record(&rows.columns)?;
    }
    for row in &rows.rows {
        writer.write_record(row.iter().map(field))?;
    }
    writer.flush()
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // An instant is a JSON text or null; its quotes are no part of it.
        Value::Timestamp(_) => match serde_json::to_value(value) {
            Ok(serde_json::Value::String(text)) => text,
            _ => String::new(),
        },
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(visible("plain, ünïcode, 日本"), "plain, ünïcode, 日本");
        assert_eq!(visible("\u{1b}[2J\n\t\u{7f}\u{9b}"), "\\u{1b}[2J\\n\\t\\u{7f}\\u{9b}");
        assert_eq!(visible("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert_eq!(lines_visible("a\nb\r"), "a\nb\\r");
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> Result {
                Err(ErrorKind::BrokenPipe.into())
            }
        }
        let mut out = BufWriter::new(Patient(Gone));
        assert!(out.write_all(b"text").and_then(|()| out.flush()).is_ok());
    }
}
