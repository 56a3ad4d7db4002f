//! Answers on stdout, everything else on stderr.
//!
//! A stored text never reaches a terminal as it is: control characters are escaped in all that is
//! made for a person. A reader that goes away is no error, and the work goes on without it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stderr, Stdout, Write};
use std::path::{Path, PathBuf};

use engraph::{Diagnostic, Error, Rows, Severity, Value};

use super::args::Format;
use super::evidence::Evidence;
use super::table::{Cut, Lines};
use super::visible::{lines_visible, visible};
use super::{Failure, dot, line, markdown, svg, table};

/// A file that each folder of a database has.
const LOCK_FILE: &str = "engraph.lock";

/// A file that is written must not be one of a database's own.
///
/// # Errors
///
/// One of the kind [`ErrorKind::InvalidInput`] where the file would stand in the folder of a database.
pub(super) fn check_place(file: &Path) -> Result {
    match file.parent() {
        Some(folder) if folder.join(LOCK_FILE).exists() => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "this is the folder of a database, whose files are its own; write to another one",
        )),
        _ => Ok(()),
    }
}

/// Where a link leads, though nothing may be there yet; else the file itself.
fn led_to(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| match std::fs::read_link(file) {
        Ok(to) => file.parent().unwrap_or(Path::new("")).join(to),
        Err(_) => file.to_owned(),
    })
}

/// Where a command prints.
pub(super) struct Output {
    stdout: BufWriter<Patient<Stdout>>,
    /// Where answers go instead of stdout.
    file: Option<BufWriter<File>>,
    stderr: Patient<Stderr>,
    colour: bool,
}

impl Output {
    /// The process's own streams; colours where a person looks on and wants them.
    pub(super) fn new() -> Self {
        Self {
            stdout: BufWriter::new(Patient(io::stdout())),
            file: None,
            stderr: Patient(io::stderr()),
            colour: wants_colour(io::stderr().is_terminal()),
        }
    }

    /// From now on answers go to a new file, or back to stdout. What was there is replaced.
    pub(super) fn redirect(&mut self, file: Option<&Path>) -> Result {
        if let Some(file) = file {
            check_place(&led_to(file))?;
        }
        let file = file.map(File::create).transpose()?;
        self.flush()?;
        self.file = file.map(BufWriter::new);
        Ok(())
    }

    /// Answers go to stdout again, and what the file could not take is dropped.
    pub(super) fn leave_file(&mut self) {
        if let Some(file) = self.file.take() {
            drop(file.into_parts());
        }
    }

    /// Whether answers go to a file.
    pub(super) fn is_redirected(&self) -> bool {
        self.file.is_some()
    }

    fn answers(&mut self) -> &mut dyn Write {
        match &mut self.file {
            Some(file) => file,
            None => &mut self.stdout,
        }
    }

    /// Prints an answer, with its warnings before it. Forms for other programs are never cut.
    pub(super) fn rows(&mut self, rows: &Rows, format: Format, cut: Cut) -> Result {
        self.warnings(&rows.warnings);
        let out = self.answers();
        match format {
            Format::Table => table::write(rows, Lines::Between, cut, out),
            Format::Box => table::write(rows, Lines::Around, cut, out),
            Format::Line => line::write(rows, cut, out),
            Format::Json => writeln!(out, "{}", rows.to_json()),
            Format::Jsonl => rows.to_json_lines().try_for_each(|line| writeln!(out, "{line}")),
            Format::Csv => csv(rows, out),
            Format::Markdown => markdown::write(rows, out),
            Format::Dot => self.picture(rows, dot::graph),
            Format::Svg => self.picture(rows, svg::graph),
        }
    }

    /// Prints the picture of what is found in an answer.
    fn picture(&mut self, rows: &Rows, draw: impl Fn(&Evidence<'_>) -> String) -> Result {
        let evidence = Evidence::of(rows);
        if !rows.rows.is_empty() && evidence.nodes.is_empty() {
            self.note("warning: no column is a node, a fact or a path, so nothing is drawn; RETURN them whole");
        }
        write!(self.answers(), "{}", draw(&evidence))
    }

    /// Prints a table without counting its rows.
    pub(super) fn table(&mut self, rows: &Rows, width: Option<u16>) -> Result {
        let text = table::shown(rows, Lines::Between, width);
        writeln!(self.answers(), "{text}")
    }

    /// Prints one line of an answer.
    pub(super) fn line(&mut self, text: &str) -> Result {
        writeln!(self.answers(), "{text}")
    }

    /// Prints one line about the work.
    pub(super) fn note(&mut self, text: &str) {
        self.tell(&visible(text));
    }

    /// Prints a failure with the place in the text underlined, unless it has been shown.
    pub(super) fn failure(&mut self, failure: &Failure) {
        let report = match failure {
            Failure::Database(error) => self.report(error),
            Failure::Other(message) | Failure::Usage(message) => {
                format!("error: {}", visible(message))
            }
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
            let report = warning.render(Severity::Warning, false);
            let report = match lines_visible(&report) {
                Cow::Borrowed(_) => warning.render(Severity::Warning, self.colour),
                Cow::Owned(report) => report,
            };
            self.tell(&report);
        }
    }

    /// Hands on everything that was printed.
    pub(super) fn flush(&mut self) -> Result {
        self.stdout.flush()?;
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
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

/// Whether a person looks on who wants colours; `is_terminal` says whether anybody does.
pub(super) fn wants_colour(is_terminal: bool) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !is_set("NO_COLOR") && !is_dumb
}

fn csv(rows: &Rows, out: &mut dyn Write) -> Result {
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
        Value::String(text) | Value::Duration(text) => text.clone(),
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
