//! `engraph query`: one script, its answers, done.
//!
//! A script that only reads never takes the writer's lock.

use std::io::Read;
use std::path::Path;

use engraph::{Engraph, Options, Params, Rows, only_reads};

use super::args::{Format, Query};
use super::output::{Output, terminal_width};
use super::table::Cut;
use super::{Failure, Result};

/// Runs the script that was asked for.
pub(super) fn run(query: &Query, output: &mut Output) -> Result<()> {
    let text = match (&query.script, &query.file) {
        (Some(script), _) => script.clone(),
        (None, Some(file)) if file.as_os_str() != "-" => read_file(file)?,
        (None, _) => read_stdin()?,
    };
    let db = open(&query.db, &text, output)?;
    let params: Params = query.params.iter().cloned().collect();
    match query.format {
        format @ (Format::Table | Format::Box | Format::Line) => {
            each(&db, &text, &params, format, output)
        }
        format => last(&db, &text, &params, format, output),
    }
}

/// For reading where that is enough, so that a writer beside it is not in the way.
fn open(path: &Path, text: &str, output: &mut Output) -> Result<Engraph> {
    match only_reads(text)? {
        true => Ok(Options::new().open_read_only(path)?),
        false => super::open(path, output),
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
    db.session().execute_each(text, params, &mut |rows| {
        // A full disk under stdout must not stop a script halfway through its writes.
        if printed.is_ok() {
            printed = output.rows(&rows, format, cut);
        }
        Ok(())
    })?;
    Ok(printed?)
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
    db.session().execute_each(text, params, &mut |mut rows| {
        output.warnings(&std::mem::take(&mut rows.warnings));
        last = rows;
        Ok(())
    })?;
    Ok(output.rows(&last, format, Cut::default())?)
}

fn read_file(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::reading(Path::new("stdin"), &error)),
    }
}
