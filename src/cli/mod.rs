//! The command line: what is asked, what is called, and how it ends.
//!
//! ```text
//! args ──▶ shell   lines ───────▶ script ──▶ output: table, box, line, markdown,
//!      ──▶ query   text, file ──▶ script ──▶         json, jsonl, csv, dot, svg
//!      ──▶ import  file ────────▶ what was stored, what was refused
//!      ──▶ export  ─────────────▶ a file of the whole database
//!      ──▶ check   ─────────────▶ what is wrong: text, json
//!      ──▶ backup, restore ─────▶ a copy of the whole database
//!      ──▶ repair  ─────────────▶ upgrade, recover
//!      ──▶ embed   ─────────────▶ embeddings by the model that is installed
//!      ──▶ stats   ─────────────▶ output: table, json
//!      ──▶ eval    file ────────▶ recipes ──▶ tables, run files
//!      ──▶ bench   ─────────────▶ figures: table, json
//! ```
//!
//! Answers go to stdout and everything else to stderr. It exits with 0, with 1 if the work failed
//! and with 2 if the command is not understood; it never panics because a reader went away.

mod args;
mod backup;
mod bench;
mod check;
mod dot;
mod embed;
mod eval;
mod evidence;
mod export;
mod import;
mod layers;
mod layout;
mod line;
mod markdown;
mod output;
mod progress;
mod query;
mod repair;
mod shell;
mod stats;
mod svg;
mod table;
mod timeline;
mod visible;
mod whole;

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use engraph::{Engraph, Limits, Options, Torn};

use args::{Args, Command};
use output::Output;

/// Runs the command that the process was started with.
pub(crate) fn run() -> ExitCode {
    let args = Args::parse();
    let mut output = Output::new();
    let done = match &args.command {
        Command::Shell(shell) => shell::run(shell, &mut output),
        Command::Query(query) => query::run(query, &mut output),
        Command::Import(import) => import::run(import, &mut output),
        Command::Export(export) => export::run(export, &mut output),
        Command::Check(check) => check::run(check, &mut output),
        Command::Backup(command) => backup::backup(command, &mut output),
        Command::Restore(command) => backup::restore(command, &mut output),
        Command::Upgrade(command) => repair::upgrade(command, &mut output),
        Command::Recover(command) => repair::recover(command, &mut output),
        Command::Embed(command) => embed::run(command, &mut output),
        Command::Stats(stats) => stats::run(stats, &mut output),
        Command::Eval(command) => eval::run(command, &mut output),
        Command::Bench(command) => bench::run(command, &mut output),
    };
    match done.and_then(|()| Ok(output.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            match failure {
                Failure::Usage(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// How a database is opened whose statements may take so many seconds.
fn options(timeout: Option<u32>) -> Options {
    let limits = Limits::default();
    let timeout = timeout.map_or(limits.timeout, |seconds| Duration::from_secs(seconds.into()));
    Options::new().limits(Limits { timeout, ..limits })
}

/// Opens a database for writing, and says what a crash has cost.
fn open(path: &Path, options: Options, output: &mut Output) -> Result<Engraph> {
    let db = options.open(path)?;
    tell_torn(&db, "was dropped", output);
    if let Some(reason) = db.not_purged() {
        output.note(&format!("warning: what was forgotten is in the files yet: {reason}"));
    }
    Ok(db)
}

/// Opens a database for reading, beside a writer or not, and says what a crash has cost.
fn open_read_only(path: &Path, options: Options, output: &mut Output) -> Result<Engraph> {
    let db = options.open_read_only(path)?;
    tell_torn(&db, "is passed over", output);
    if db.has_purge_left()? {
        output.note(
            "warning: FORGET was stopped, and bytes of what was forgotten may be in the files yet; \
             the next opening for writing takes them out: `engraph shell` or any query that writes",
        );
    }
    Ok(db)
}

fn tell_torn(db: &Engraph, done: &str, output: &mut Output) {
    if let Some(Torn { file, offset, bytes, .. }) = db.torn() {
        output.note(&format!(
            "warning: an unfinished write at the end of the log {done} ({file}, byte {offset}, {bytes} bytes)"
        ));
    }
}

/// Some editors write it at the beginning of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a process gives back that Ctrl-C ended.
const ENDED: i32 = 130;

/// What becomes of a transaction that a script does not end.
const ROLLED_BACK: &str =
    "the script ended within a transaction, which was rolled back; end it with COMMIT";

/// The result of a command.
type Result<T> = std::result::Result<T, Failure>;

/// Why a command ends with exit code 1, or 2.
#[derive(Debug)]
enum Failure {
    /// The database said no.
    Database(engraph::Error),
    /// Something around it did, in words.
    Other(String),
    /// It was not called as it has to be, which clap cannot tell: exit code 2.
    Usage(String),
    /// It has been shown already.
    Shown,
}

impl Failure {
    /// What went wrong with a file.
    fn of_file(path: &Path, error: &dyn Display) -> Self {
        Self::Other(format!("{}: {error}", path.display()))
    }
}

impl From<engraph::Error> for Failure {
    fn from(error: engraph::Error) -> Self {
        Self::Database(error)
    }
}

/// Reading and writing files name the path; what is left is stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(format!("the answer cannot be written: {error}"))
    }
}
