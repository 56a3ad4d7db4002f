//! `engraph query`: one script, its answers, done.
//!
//! A script that only reads never takes the writer's lock.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use engraph::{Engraph, Params, Rows, Session, TEXT_BYTES_MAX, Value, only_reads};

use super::args::{Format, Query};
use super::output::{Output, terminal_width};
use super::table::Cut;
use super::{BYTE_ORDER_MARK, Failure, ROLLED_BACK, Result, open_read_only, options};

/// Runs the script that was asked for.
pub(super) fn run(query: &Query, output: &mut Output) -> Result<()> {
    let script = query.script.as_ref().or(query.argument.as_ref());
    let mut text = match (script, &query.file) {
        (Some(script), _) => script.clone(),
        (None, Some(file)) if file.as_os_str() != "-" => read_file(file)?,
        (None, _) => read_stdin()?,
    };
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    let params = params(&query.params)?;
    let db = open(query, &text, output)?;
    match query.format {
        format @ (Format::Table | Format::Box | Format::Line) => {
            each(&db, &text, &params, format, output)
        }
        format => last(&db, &text, &params, format, output),
    }
}

/// The parameters, each said once.
fn params(given: &[(String, Value)]) -> Result<Params> {
    let mut names = BTreeSet::new();
    match given.iter().find(|(name, _)| !names.insert(name)) {
        Some((twice, _)) => Err(Failure::Usage(format!("--param {twice} is given twice"))),
        None => Ok(given.iter().cloned().collect()),
    }
}

/// For reading where that is enough, so that a writer beside it is not in the way.
fn open(query: &Query, text: &str, output: &mut Output) -> Result<Engraph> {
    let options = options(query.timeout);
    match only_reads(text)? {
        true => open_read_only(&query.db, options, output),
        false => super::open(&query.db, options, output),
    }
}

/// Prints each answer as it comes.
fn each(
    db: &Engraph,
    text: &str,
    params: &Params,
    format: Format,
    output: &mut Output,
) -> Result<()> {
    let cut = Cut { width: terminal_width(), rows: None };
    let mut printed = Ok(());
    let mut session = db.session();
    session.execute_each(text, params, &mut |rows| {
        // A full disk under stdout must not stop a script halfway through its writes.
        if printed.is_ok() {
            printed = output.rows(&rows, format, cut);
        }
        Ok(())
    })?;
    printed?;
    ended(&session)
}

/// A script that breaks off within a transaction has not done what it says.
fn ended(session: &Session<'_>) -> Result<()> {
    match session.in_transaction() {
        true => Err(Failure::Other(ROLLED_BACK.to_owned())),
        false => Ok(()),
    }
}

/// Prints the last answer, for another program; the warnings of all.
fn last(
    db: &Engraph,
    text: &str,
    params: &Params,
    format: Format,
    output: &mut Output,
) -> Result<()> {
    let mut last = Rows::default();
    let mut session = db.session();
    session.execute_each(text, params, &mut |mut rows| {
        output.warnings(&std::mem::take(&mut rows.warnings));
        last = rows;
        Ok(())
    })?;
    ended(&session)?;
    Ok(output.rows(&last, format, Cut::default())?)
}

fn read_file(path: &Path) -> Result<String> {
    let failed = |error| Failure::of_file(path, &error);
    read(std::fs::File::open(path).map_err(failed)?).map_err(failed)
}

fn read_stdin() -> Result<String> {
    read(std::io::stdin().lock()).map_err(|error| Failure::of_file(Path::new("stdin"), &error))
}

/// The text of a script, or as much of it as is too long: it is refused with its limit then.
fn read(from: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    // A mark at its beginning does not count.
    let most = TEXT_BYTES_MAX + BYTE_ORDER_MARK.len_utf8();
    from.take(most as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > most;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // The cut may be within a character.
        Err(error) if is_cut => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        Err(error) => Err(std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error())),
    }
}
