//! A file or a pipe as statements and commands, each with the line that it begins in.

use std::io::{BufRead, Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

use engraph::{TEXT_BYTES_MAX, Unfinished};

use super::command::is_command;
use crate::cli::{BYTE_ORDER_MARK, Failure, Result};

/// What is left to run of a file or pipe.
pub(super) struct Script {
    from: Box<dyn BufRead>,
    /// What errors call it.
    name: PathBuf,
    /// The lines read so far.
    lines: usize,
    /// The line in which the last input began.
    begun: usize,
}

impl Script {
    pub(super) fn new(from: impl BufRead + 'static, name: &Path) -> Self {
        Self { from: Box::new(from), name: name.to_owned(), lines: 0, begun: 1 }
    }

    /// The next command or whole statements; nothing at the end.
    pub(super) fn input(&mut self) -> Result<Option<String>> {
        let (mut text, mut unfinished) = (String::new(), Unfinished::default());
        loop {
            let is_first = text.is_empty();
            let read = self.line(&mut text);
            let read = read.map_err(|error| Failure::of_file(&self.name, &error))?;
            if self.lines == 0 && text.starts_with(BYTE_ORDER_MARK) {
                text.remove(0);
            }
            let is_blank = text.trim().is_empty();
            if read == 0 {
                return Ok((!is_blank).then_some(text));
            }
            self.lines += 1;
            if is_blank {
                text.clear();
                continue;
            }
            if is_first {
                self.begun = self.lines;
            }
            // What is too long is so however it goes on.
            if text.len() > TEXT_BYTES_MAX || is_command(&text) || !unfinished.is(&text) {
                return Ok(Some(text));
            }
        }
    }

    /// Puts the next line behind a text, or as much of it as makes that too long; gives how many bytes that is.
    fn line(&mut self, text: &mut String) -> std::io::Result<usize> {
        // A mark at the beginning does not count.
        let mark = if self.lines == 0 { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let room = (TEXT_BYTES_MAX + mark + 1).saturating_sub(text.len());
        let mut line = Vec::new();
        (&mut self.from).take(room as u64).read_until(b'\n', &mut line)?;
        match std::str::from_utf8(&line) {
            Ok(line) => text.push_str(line),
            // The cut may be within a character.
            Err(_) if line.len() == room => text.push_str(&String::from_utf8_lossy(&line)),
            Err(error) => return Err(Error::new(ErrorKind::InvalidData, error)),
        }
        Ok(line.len())
    }

    /// Where a failure of the last input lies.
    pub(super) fn place(&self, failure: &Failure) -> String {
        use engraph::Error::{Bind, Execute, Syntax};
        let position = match failure {
            Failure::Database(Syntax(error) | Bind(error) | Execute(error)) => error.position(),
            _ => None,
        };
        let (name, begun) = (self.name.display(), self.begun);
        match begun + position.map_or(0, |(line, _)| line.saturating_sub(1)) {
            line if line == begun => format!("{name}: line {line}"),
            line => format!("{name}: line {line}, in the statement that begins in line {begun}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_know_their_lines() {
        let text = "\n\nRETURN 1;\n.mode csv\n\nRETURN\n\n  2; RETURN 3\n;\n-- end";
        let mut script = Script::new(text.as_bytes(), Path::new("x"));
        let mut inputs = Vec::new();
        while let Some(input) = script.input().expect("readable") {
            inputs.push((script.begun, input.trim().to_owned()));
        }
        let expected =
            [(3, "RETURN 1;"), (4, ".mode csv"), (6, "RETURN\n\n  2; RETURN 3\n;"), (10, "-- end")];
        assert_eq!(inputs, expected.map(|(line, text)| (line, text.to_owned())));
    }

    /// A quote that is never closed takes no more than a text may have.
    #[test]
    fn what_never_ends_is_given_up() {
        let text = format!("RETURN 'it;\n{}", "RETURN 1;\n".repeat(TEXT_BYTES_MAX / 5));
        let mut script = Script::new(std::io::Cursor::new(text), Path::new("x"));
        let first = script.input().expect("readable").expect("an input");
        assert!((TEXT_BYTES_MAX..TEXT_BYTES_MAX + 20).contains(&first.len()), "{}", first.len());
    }
}
