//! `engraph import`: a file into the database, with its progress shown.
//!
//! What was stored goes to stdout, what was refused to stderr. It never looks into the file
//! itself; the library does. An export of a whole database becomes a database of its own.

use std::fs::File;
use std::path::Path;

use engraph::import::{self, CsvOptions, Progress, Report};
use engraph::{Engraph, Family, FamilyStats, Options};

use super::args::{Csv, Import, Kind};
use super::output::Output;
use super::progress::bar;
use super::{Failure, Result, open};

/// Imports the file and says what came of it.
pub(super) fn run(command: &Import, output: &mut Output) -> Result<()> {
    let file = file(&command.kind);
    // A mistyped file must not leave an empty database behind. A pipe can be opened once.
    let found = file.metadata().and_then(|found| match found.is_file() {
        true => File::open(file).map(drop),
        false => Ok(()),
    });
    found.map_err(|error| Failure::of_file(file, &error))?;
    let whole = matches!(command.kind, Kind::Jsonl { .. }) && import::is_export(file)?;
    let is_new = !command.db.exists();
    let db = if whole { None } else { Some(open(&command.db, Options::new(), output)?) };
    let bar = bar();
    let progress: Progress<'_> = &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let report = match &db {
        Some(db) => call(db, (&command.kind, file), progress).and_then(|report| {
            // Or whoever opens it next has to.
            db.settle()?;
            Ok(report)
        }),
        None => import::whole(&command.db, file, progress),
    };
    // Also after a failure, or its text would stand after the bar.
    bar.finish_and_clear();
    let has_stored = report.as_ref().is_ok_and(Report::has_stored);
    let left = match db.filter(|_| is_new && !has_stored) {
        Some(db) => leave_nothing(db, &command.db),
        None => Ok(()),
    };
    let report = report?;
    left?;
    show(&report, file, output)?;
    let has_drawn = |(what, count): &(&str, u64)| *what == "facts drawn" && *count > 0;
    if is_new && report.stored.iter().any(has_drawn) {
        UNDEFINED.iter().for_each(|line| output.note(line));
    }
    Ok(())
}

/// What is not known of relations that a new database was told.
const UNDEFINED: [&str; 2] = [
    "note: nothing is defined of relations yet, so two homes may hold at one time; told before the first import,",
    "DEFINE RELATION lives_in CARDINALITY ONE lets a later one end the one before",
];

/// Takes away a database that was made for an import of which nothing was stored.
fn leave_nothing(db: Engraph, path: &Path) -> Result<()> {
    let holds = [Family::Nodes, Family::Versions, Family::Buffer];
    let holds = |one: &FamilyStats| one.keys > 0 && holds.contains(&one.family);
    if db.stats()?.iter().any(holds) {
        return Ok(());
    }
    drop(db);
    std::fs::remove_dir_all(path).map_err(|error| Failure::of_file(path, &error))
}

fn call(
    db: &Engraph,
    (kind, file): (&Kind, &Path),
    progress: Progress<'_>,
) -> engraph::Result<Report> {
    match kind {
        Kind::Jsonl { .. } => import::jsonl(db, file, progress),
        Kind::Turns { .. } => import::turns(db, file, progress),
        Kind::Messages { .. } => import::messages(db, file, progress),
        Kind::Locomo { sample, observations, .. } => {
            import::locomo(db, file, sample.as_deref(), *observations, progress)
        }
        Kind::Csv(csv) => import::csv(db, file, &options(csv), progress),
    }
}

/// What is imported.
fn file(kind: &Kind) -> &Path {
    match named(kind) {
        file if file.as_os_str() == "-" => Path::new("/dev/stdin"),
        file => file,
    }
}

fn named(kind: &Kind) -> &Path {
    match kind {
        Kind::Jsonl { file }
        | Kind::Turns { file }
        | Kind::Messages { file }
        | Kind::Locomo { file, .. } => file,
        Kind::Csv(csv) => &csv.file,
    }
}

/// Lines that are named of a file of which nothing could be stored.
const TOLD_MAX: usize = 5;

fn options(csv: &Csv) -> CsvOptions {
    CsvOptions {
        delimiter: csv.delimiter,
        columns: csv.columns.clone(),
        head_label: csv.head_label.clone(),
        tail_label: csv.tail_label.clone(),
        names: csv.names.clone(),
        relation_names: csv.relation_names.clone(),
        inclusive_ends: csv.inclusive_ends,
    }
}

fn show(report: &Report, file: &Path, output: &mut Output) -> Result<()> {
    for (kind, count) in &report.stored {
        output.line(&format!("{kind} {count}"))?;
    }
    // A script must notice a file of which nothing could be used.
    let is_used = report.has_stored();
    // Of a file of another kind each line is wrong in the same way.
    let told = if is_used { report.refused.len() } else { TOLD_MAX };
    for refused in report.refused.iter().take(told) {
        // A file that does not go by lines has no number to name.
        let place = match refused.line {
            0 => file.display().to_string(),
            line => format!("{}:{line}", file.display()),
        };
        output.note(&format!("{place}: {}", refused.reason));
    }
    match report.refused.len() {
        0 => {}
        1 => output.note("1 line was refused"),
        count if count > told => {
            output.note(&format!(
                "{count} lines were refused, and none was stored: is it of another kind?"
            ));
        }
        count => output.note(&format!("{count} lines were refused")),
    }
    // What else is counted of a file that stored nothing is what was skipped.
    if !is_used && !report.stored.is_empty() && report.refused.is_empty() {
        output.note("nothing was stored: no message is of somebody who speaks and has a text");
    }
    match !is_used && !report.refused.is_empty() {
        true => Err(Failure::Shown),
        false => Ok(()),
    }
}
