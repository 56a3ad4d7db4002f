//! `engraph shell`: statements line by line, from a person or a pipe.
//!
//! An error never ends a person's shell, and always ends a pipe's. What was typed is kept in a
//! history that only its owner can read; if it cannot be kept, the shell works without.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};

use engraph::{Params, Session, is_unfinished};
use rustyline::DefaultEditor;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;

use super::args::{Format, Shell};
use super::output::{Output, terminal_width};
use super::{Failure, Result, open};

/// The most inputs that the history keeps.
const HISTORY_MAX: usize = 1000;

const HELP: &str = "\
A statement may run over several lines and ends with a semicolon:
  REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14';
  MATCH (p:Person)-[f]->(x) RETURN p.key, f, x.key;
  EXPLAIN MATCH (p:Person) RETURN p.key;
  BEGIN; ... COMMIT; or ROLLBACK;

.let n = e   lets $n stand for the value of an expression, as in .let before = now()
.read FILE   runs the statements of a file
.help        shows this
.quit        leaves, as Ctrl-D does; Ctrl-C drops what was typed";

/// Runs the shell until its input ends.
pub(super) fn run(shell: &Shell, output: &mut Output) -> Result<()> {
    let db = open(&shell.db, output)?;
    let mut shell =
        Repl { session: db.session(), params: Params::new(), output, width: terminal_width() };
    match std::io::stdin().is_terminal() {
        true => shell.person()?,
        false => shell.lines(std::io::stdin().lock(), Path::new("stdin"), Commands::Obeyed)?,
    }
    shell.leave();
    Ok(())
}

/// Whether lines such as `.help` mean something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commands {
    Obeyed,
    /// A file that reads itself would never end.
    Unknown,
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Input,
    Leave,
}

/// Read, evaluate, print, loop.
struct Repl<'d, 'o> {
    params: Params,
    session: Session<'d>,
    output: &'o mut Output,
    width: Option<u16>,
}

impl Repl<'_, '_> {
    fn person(&mut self) -> Result<()> {
        let mut editor = Keyboard::new()?;
        if std::io::stdout().is_terminal() {
            let version = env!("CARGO_PKG_VERSION");
            self.output
                .line(&format!("Engraph {version}. Type .help for help, .quit to leave."))?;
            self.output.flush()?;
        }
        while let Some(text) = editor.input(self.session.in_transaction())? {
            // The window may have been resized.
            self.width = terminal_width();
            match self.input(&text) {
                Ok(Next::Leave) => break,
                Ok(Next::Input) => {}
                Err(failure) => self.output.failure(&failure),
            }
            self.output.flush()?;
        }
        editor.save();
        Ok(())
    }

    /// Runs all statements of a file or pipe, up to the first error.
    fn lines(&mut self, mut from: impl BufRead, name: &Path, commands: Commands) -> Result<()> {
        let (mut text, mut begun, mut number) = (String::new(), 1, 0);
        loop {
            let read = from.read_line(&mut text).map_err(|error| Failure::reading(name, &error))?;
            number += 1;
            let is_blank = text.trim().is_empty();
            if is_blank {
                text.clear();
                begun = number + 1;
            }
            let is_command = commands == Commands::Obeyed && is_command(&text);
            if read > 0 && (is_blank || (is_unfinished(&text) && !is_command)) {
                continue;
            }
            let done = match is_command {
                true => self.input(text.trim()),
                false => self.statements(&text).map(|()| Next::Input),
            };
            match done {
                Err(failure) => return Err(self.shown(&failure, name, begun)),
                Ok(Next::Leave) => return Ok(()),
                Ok(Next::Input) if read == 0 => return Ok(()),
                Ok(Next::Input) => {}
            }
            self.output.flush()?;
            text.clear();
            begun = number + 1;
        }
    }

    /// The place in a text counts from the first line of its statement; this counts the rest.
    fn shown(&mut self, failure: &Failure, name: &Path, begun: usize) -> Failure {
        self.output.failure(failure);
        if begun > 1 && !matches!(failure, Failure::Shown) {
            let name = name.display();
            self.output.note(&format!("{name}: the statement begins in line {begun}"));
        }
        Failure::Shown
    }

    /// Runs a command or statements.
    fn input(&mut self, text: &str) -> Result<Next> {
        let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        match word.trim_end_matches(';') {
            _ if !is_command(text) => self.statements(text)?,
            ".help" | "help" => self.output.line(HELP)?,
            ".let" => self.bind(rest)?,
            ".read" => self.read(rest.trim())?,
            ".quit" | ".exit" | "quit" | "exit" => return Ok(Next::Leave),
            unknown => {
                let message = format!("there is no command {unknown}; .help lists them");
                return Err(Failure::Other(message));
            }
        }
        Ok(Next::Input)
    }

    /// Gives a parameter the value of an expression.
    fn bind(&mut self, text: &str) -> Result<()> {
        let usage = || Failure::Other(".let needs a name and a value, as in .let n = 5".to_owned());
        let (name, expression) = text.split_once('=').ok_or_else(usage)?;
        let (name, expression) = (name.trim(), expression.trim().trim_end_matches(';'));
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(usage());
        }
        let query = format!("RETURN {expression} AS value");
        let answers = self.session.execute(&query, self.params.clone())?;
        let value = answers.first().and_then(|rows| rows.get(0, "value")).ok_or_else(usage)?;
        self.output.line(&format!("${name} = {value}"))?;
        self.params = std::mem::take(&mut self.params).with(name, value.clone());
        Ok(())
    }

    fn read(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Err(Failure::Other(".read needs a file, as in .read facts.memql".to_owned()));
        }
        let path = Path::new(name);
        let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
        self.lines(BufReader::new(file), path, Commands::Unknown)
    }

    fn statements(&mut self, text: &str) -> Result<()> {
        let (output, width) = (&mut *self.output, self.width);
        let mut printed = Ok(());
        self.session.execute_each(text, &self.params, &mut |rows| {
            if printed.is_ok() {
                printed = output.rows(&rows, Format::Table, width);
            }
            Ok(())
        })?;
        Ok(printed?)
    }

    fn leave(&mut self) {
        if self.session.in_transaction() {
            self.output.note("the open transaction was rolled back");
        }
    }
}

/// Whether a whole input is for the shell itself. No statement begins with a point or is one of
/// these words alone.
fn is_command(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('.') || matches!(text.trim_end_matches(';'), "exit" | "quit" | "help")
}

/// A person's input, with its history.
struct Keyboard {
    editor: DefaultEditor,
    history: Option<PathBuf>,
}

impl Keyboard {
    fn new() -> Result<Self> {
        let mut editor = DefaultEditor::new().map_err(unreadable)?;
        // Neither can fail for the history of a file; if it did, the defaults do as well.
        editor.set_max_history_size(HISTORY_MAX).unwrap_or_default();
        editor.set_history_ignore_space(true);
        let history = history_path();
        if let Some(path) = &history {
            // The first time there is no file yet.
            editor.load_history(path).unwrap_or_default();
        }
        Ok(Self { editor, history })
    }

    /// The next command or whole statements; nothing if the person leaves.
    fn input(&mut self, in_transaction: bool) -> Result<Option<String>> {
        let first = if in_transaction { "engraph*> " } else { "engraph> " };
        let mut text = String::new();
        loop {
            let prompt = if text.is_empty() { first } else { "      -> " };
            match self.editor.readline(prompt) {
                Ok(line) => text.push_str(&line),
                Err(ReadlineError::Interrupted) => text.clear(),
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(unreadable(error)),
            }
            match text.trim().is_empty() {
                true => text.clear(),
                false if is_command(&text) || !is_unfinished(&text) => break,
                false => text.push('\n'),
            }
        }
        self.remember(text.trim_end());
        Ok(Some(text))
    }

    fn remember(&mut self, text: &str) {
        // A history that cannot be kept is not worth a word to somebody at work.
        if self.editor.add_history_entry(text).is_ok() {
            self.save();
        }
    }

    /// Saved after every input, so that nothing is lost with the terminal.
    fn save(&mut self) {
        if let Some(path) = &self.history {
            self.editor.append_history(path).unwrap_or_default();
        }
    }
}

fn unreadable(error: ReadlineError) -> Failure {
    Failure::Other(format!("the terminal cannot be read: {error}"))
}

/// Where the history is, by the XDG rules; its folder is made. Rustyline makes the file itself
/// readable by its owner alone.
fn history_path() -> Option<PathBuf> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    let folder = state.join("engraph");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
