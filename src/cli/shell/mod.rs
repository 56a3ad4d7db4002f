//! `engraph shell`: statements and commands, from a person or a pipe.
//!
//! ```text
//! keyboard ──▶ highlight, complete ──▶ input ──▶ command ──▶ session ──▶ output
//! pipe, file ──▶ script ─────────────▶
//! ```
//!
//! An error never ends a person's shell, and always ends a pipe's.

mod command;
mod complete;
mod highlight;
mod interrupt;
mod keyboard;
mod names;
mod script;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, IsTerminal, stdin, stdout};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use engraph::{Engraph, Params, Session, Value};

use self::command::{Command, is_command};
use self::keyboard::Keyboard;
use self::script::Script;
use super::args::{Format, Shell};
use super::output::{Output, terminal_width};
use super::table::Cut;
use super::visible::{lines_visible, visible};
use super::{Failure, ROLLED_BACK, Result, backup, open, options, stats};

/// The most rows that a person is shown, unless they ask for more.
const ROWS_SHOWN: usize = 100;

/// How deep files may read each other; one that reads itself would never end.
const READ_DEPTH_MAX: usize = 16;

/// Runs the shell until its input ends.
pub(super) fn run(shell: &Shell, output: &mut Output) -> Result<()> {
    let mut db = Rc::new(open(&shell.db, options(shell.timeout), output)?);
    let mut input = match stdin().is_terminal() {
        true => Input::Person(Box::new(greet(&db, output)?)),
        false => Input::Script(Script::new(BufReader::new(stdin()), Path::new("stdin"))),
    };
    let mut settings = Settings { timeout: shell.timeout, ..Settings::default() };
    while let Some(other) = serve(&db, &mut input, &mut settings, output)? {
        db = other;
        if let Input::Person(keyboard) = &mut input {
            keyboard.use_database(&db);
        }
    }
    Ok(())
}

/// Runs the shell on one database. Gives the one to go on with, if it does.
fn serve(
    db: &Engraph,
    input: &mut Input,
    settings: &mut Settings,
    output: &mut Output,
) -> Result<Option<Rc<Engraph>>> {
    let mut repl = Repl { db, session: db.session(), settings, output, depth: 0 };
    interrupt::about(repl.session.interrupt());
    let next = match input {
        Input::Person(keyboard) => repl.person(keyboard)?,
        Input::Script(script) => repl.script(script)?,
    };
    if repl.session.in_transaction() {
        match input {
            Input::Script(_) => return Err(Failure::Other(ROLLED_BACK.to_owned())),
            Input::Person(_) => repl.output.note("the open transaction was rolled back"),
        }
    }
    Ok(match next {
        Next::Open(other) => Some(other),
        Next::Input | Next::Leave => None,
    })
}

fn greet(db: &Rc<Engraph>, output: &mut Output) -> Result<Keyboard> {
    interrupt::listen()?;
    if stdout().is_terminal() {
        let version = env!("CARGO_PKG_VERSION");
        output.line(&format!("Engraph {version}. Type .help for help, .quit to leave."))?;
        output.flush()?;
    }
    Keyboard::new(db)
}

/// Where inputs come from.
enum Input {
    Person(Box<Keyboard>),
    Script(Script),
}

/// What happens after an input.
enum Next {
    /// The next one.
    Input,
    /// Another database is used.
    Open(Rc<Engraph>),
    Leave,
}

/// What the commands set; it outlives a database.
struct Settings {
    params: BTreeMap<String, Value>,
    format: Format,
    /// The most rows at a terminal.
    rows: Option<usize>,
    /// The width at a terminal, if not its own.
    width: Option<u16>,
    timer: bool,
    /// Seconds that a statement may take, if it was said.
    timeout: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        let (params, format) = (BTreeMap::new(), Format::Table);
        Self { params, format, rows: Some(ROWS_SHOWN), width: None, timer: false, timeout: None }
    }
}

/// Read, evaluate, print, loop, on one database.
struct Repl<'d, 'o> {
    db: &'d Engraph,
    session: Session<'d>,
    settings: &'o mut Settings,
    output: &'o mut Output,
    /// How many files are being read.
    depth: usize,
}

impl Repl<'_, '_> {
    fn person(&mut self, keyboard: &mut Keyboard) -> Result<Next> {
        loop {
            let params = self.settings.params.keys().cloned().collect();
            let Some(text) = keyboard.input(self.session.in_transaction(), params)? else {
                return Ok(Next::Leave);
            };
            // What was pressed before is not about it.
            interrupt::was_asked();
            match self.input(&text) {
                Ok(Next::Input) => {}
                Ok(next) => return Ok(next),
                Err(failure) => self.output.failure(&failure),
            }
            match self.output.flush() {
                // The file is full, and not the terminal.
                Err(error) if self.output.is_redirected() => {
                    self.output.leave_file();
                    self.output.failure(&error.into());
                    self.output.note("answers are shown here again");
                }
                flushed => flushed?,
            }
        }
    }

    /// Runs all of a file or pipe, up to the first error.
    fn script(&mut self, script: &mut Script) -> Result<Next> {
        // What was pressed before is not about it.
        interrupt::was_asked();
        while let Some(text) = script.input()? {
            let done = match self.input(&text) {
                Ok(Next::Input) if interrupt::was_asked() => {
                    Err(Failure::Database(engraph::Error::Interrupted))
                }
                done => done,
            };
            match done {
                Ok(Next::Input) => {}
                Ok(next) => return Ok(next),
                Err(Failure::Shown) => return Err(Failure::Shown),
                Err(failure) => {
                    self.output.failure(&failure);
                    self.output.note(&script.place(&failure));
                    return Err(Failure::Shown);
                }
            }
            self.output.flush()?;
        }
        Ok(Next::Input)
    }

    /// Runs a command or statements.
    fn input(&mut self, text: &str) -> Result<Next> {
        match is_command(text) {
            true => self.command(command::parse(text)?),
            false => self.statements(text).map(|()| Next::Input),
        }
    }

    fn command(&mut self, command: Command) -> Result<Next> {
        match command {
            Command::Schema => self.output.line(&lines_visible(&names::schema(self.db)?))?,
            Command::Relations => self.statements("SHOW RELATIONS")?,
            Command::Stats => {
                let rows = stats::with_total(self.db)?;
                self.output.rows(&rows, self.settings.format, self.cut())?;
            }
            Command::Open(_) if self.depth > 0 => {
                let message = "a file that .read reads cannot open another database";
                return Err(Failure::Other(message.to_owned()));
            }
            Command::Open(path) => {
                let options = options(self.settings.timeout);
                return Ok(Next::Open(Rc::new(open(&path, options, self.output)?)));
            }
            Command::Backup(path) => {
                backup::write(self.db, &path)?;
                self.output.line("backed up")?;
            }
            Command::Read(path) => return self.read(&path),
            Command::Explain(query) => {
                let text = format!("EXPLAIN {query}");
                // What stands behind a semicolon would run.
                let _ = self.db.prepare(&text)?;
                self.statements(&text)?;
            }
            Command::Let(name, expression) => self.bind(&name, &expression)?,
            Command::Params => {
                for (name, value) in &self.settings.params {
                    self.output.line(&visible(&format!("${name} = {value}")))?;
                }
            }
            Command::Timer(timer) => self.settings.timer = timer,
            Command::Mode(format) => self.settings.format = format,
            Command::Output(path) => {
                let path = path.as_deref();
                let name = path.unwrap_or(Path::new("stdout"));
                let redirected = self.output.redirect(path);
                redirected.map_err(|error| Failure::of_file(name, &error))?;
            }
            Command::Rows(rows) => self.settings.rows = rows,
            Command::Width(width) => self.settings.width = width,
            Command::Help(text) => self.output.line(&text)?,
            Command::Quit => return Ok(Next::Leave),
        }
        Ok(Next::Input)
    }

    /// Gives a parameter the value of an expression.
    fn bind(&mut self, name: &str, expression: &str) -> Result<()> {
        // On a line of its own: a comment may stand behind the expression.
        let query = format!("RETURN {expression}\nAS value");
        // One statement, and no more: what stands behind a semicolon would run.
        let rows = self.session.query(&query, self.params())?;
        let value = rows.get(0, "value");
        let none = || Failure::Other(format!("{expression} has no value"));
        let value = value.ok_or_else(none)?.clone();
        self.output.line(&visible(&format!("${name} = {value}")))?;
        self.settings.params.insert(name.to_owned(), value);
        Ok(())
    }

    fn params(&self) -> Params {
        self.settings.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn read(&mut self, path: &Path) -> Result<Next> {
        let file = File::open(path).map_err(|error| Failure::of_file(path, &error))?;
        if self.depth == READ_DEPTH_MAX {
            let message = format!("files read each other more than {READ_DEPTH_MAX} deep");
            return Err(Failure::Other(message));
        }
        self.depth += 1;
        let next = self.script(&mut Script::new(BufReader::new(file), path));
        self.depth -= 1;
        next
    }

    fn statements(&mut self, text: &str) -> Result<()> {
        let (format, cut, params) = (self.settings.format, self.cut(), self.params());
        let output = &mut *self.output;
        let begun = Instant::now();
        let mut printed = Ok(());
        let done = self.session.execute_each(text, &params, &mut |rows| {
            if printed.is_ok() {
                printed = output.rows(&rows, format, cut);
            }
            Ok(())
        });
        if self.settings.timer {
            self.output.note(&format!("{:.1} ms", begun.elapsed().as_secs_f64() * 1e3));
        }
        done?;
        Ok(printed?)
    }

    /// Whole, unless a person looks on.
    fn cut(&self) -> Cut {
        match stdout().is_terminal() && !self.output.is_redirected() {
            true => {
                let width = self.settings.width.or_else(terminal_width);
                Cut { width, rows: self.settings.rows }
            }
            false => Cut::default(),
        }
    }
}
