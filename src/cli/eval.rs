//! `engraph eval`: how well recipes find what is known to be the evidence.
//!
//! Tables go to stdout, run files and Markdown where it is said. The library measures; here it is
//! only shown. Stores that nobody wants to keep go when it ends.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engraph::eval::{self, Run, Settings, Table, Watch};
use engraph::{Limits, Options};
use tempfile::TempDir;

use super::args::{Eval, EvalKind, EvalLocomo};
use super::output::{Output, terminal_width};
use super::progress::named_bar;
use super::{ENDED, Failure, Result, markdown, whole};

/// How often it is tried to remove a folder in which something is still written.
const REMOVALS_MAX: usize = 100;

/// The longest that one question may take: the first one of a recipe reads the whole memory.
const QUESTION: Duration = Duration::from_secs(600);

/// Bytes of the name of a run, at most, in that of its file.
const NAME_MAX: usize = 150;

/// Why nothing is trained.
const TOO_FEW: &str = "to cross-validate takes three conversations or more, one to test on, one that \
                       the query adapter has not seen and one to learn from";

/// Measures the recipes and shows the figures.
pub(super) fn run(command: &Eval, output: &mut Output) -> Result<()> {
    let EvalKind::Locomo(command) = &command.kind;
    let (folder, _gone) = kept_or_temporary(command.keep.as_deref(), "engraph-eval-")?;
    let settings = settings(command, folder)?;
    // A folder that cannot be made is told before the work, not after.
    make_folders(command)?;
    let options = Options::new().limits(Limits { timeout: QUESTION, ..Limits::default() });
    let bar = named_bar();
    let mut warnings = Vec::new();
    let mut watch = Watch {
        begin: &mut |name| {
            bar.set_position(0);
            bar.set_message(name.to_owned());
        },
        progress: &mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        },
        warn: &mut |what| warnings.push(what),
    };
    // First, for it may find that there is too little to learn from.
    let training = match command.cross_validate {
        true => eval::train(&settings, &options, &mut watch),
        false => Ok(None),
    };
    let is_left_out = command.cross_validate && matches!(training, Ok(None));
    let is_lost = is_left_out && (command.weights.is_some() || command.adapter.is_some());
    let measured = training.map_err(Failure::from).and_then(|training| match is_lost {
        true => Err(Failure::Other(format!("there is nothing to write: {TOO_FEW}"))),
        false => Ok((training, eval::locomo(&settings, &options, &mut watch)?)),
    });
    // Also after a failure, or its text would stand after the bar.
    bar.finish_and_clear();
    let (training, mut runs) = measured?;
    if is_left_out {
        output.note(&format!("warning: {TOO_FEW}; the recipes are measured as they are"));
    }
    for warning in warnings {
        output.note(&format!("warning: {warning}"));
    }
    if let Some(training) = training {
        write_training(command, &training)?;
        runs.extend(training.runs);
    }
    let mut tables = eval::tables(&runs);
    tables.extend(eval::ablation(&runs));
    show(&tables, output)?;
    if let Some(out) = &command.out {
        write_runs(&runs, out)?;
    }
    match &command.markdown {
        Some(file) => whole::write(file, &in_markdown(&tables)?),
        None => Ok(()),
    }
}

fn show(tables: &[Table], output: &mut Output) -> Result<()> {
    for (place, table) in tables.iter().enumerate() {
        if place > 0 {
            output.line("")?;
        }
        output.line(&table.title)?;
        output.line("")?;
        output.table(&table.rows, terminal_width())?;
    }
    Ok(())
}

/// The weights and the adapter that were trained on all conversations, where they are to go.
fn write_training(command: &EvalLocomo, training: &eval::Training) -> Result<()> {
    if let Some(file) = &command.weights {
        whole::write(file, training.weights.as_bytes())?;
    }
    if let Some(file) = &command.adapter {
        whole::write(file, &training.adapter.to_bytes())?;
    }
    Ok(())
}

fn settings(command: &EvalLocomo, folder: PathBuf) -> Result<Settings> {
    let read = |file: &PathBuf| {
        std::fs::read_to_string(file).map_err(|error| Failure::of_file(file, &error))
    };
    let all = command.recipes.iter().any(|name| name == "all");
    Ok(Settings {
        file: command.file.clone(),
        samples: command.samples.clone(),
        recipes: if all { Vec::new() } else { command.recipes.clone() },
        set: command.set.clone(),
        define: command.define.iter().map(read).collect::<Result<_>>()?,
        k: usize::from(command.top),
        pooled: command.pooled,
        copies: usize::from(command.copies),
        observations: command.observations,
        ablate: command.ablate,
        lessons: command.lessons.clone(),
        folder,
    })
}

/// Makes the folders of everything that will be written.
fn make_folders(command: &EvalLocomo) -> Result<()> {
    let parent = |file: &PathBuf| file.parent().map(Path::to_path_buf);
    let several = command.recipes.len() != 1
        || command.recipes.iter().any(|name| name == "all")
        || command.pooled
        || command.ablate
        || command.cross_validate;
    let out = match &command.out {
        Some(out) if is_run_file(out) && several => {
            let what = "there are several runs, and one fits; name a folder, or one --strategy";
            return Err(Failure::Usage(format!("{}: {what}", out.display())));
        }
        Some(out) if is_run_file(out) => parent(out),
        out => out.clone(),
    };
    let files = [&command.markdown, &command.weights, &command.adapter];
    let folders = files.into_iter().flatten().filter_map(parent);
    for folder in out.into_iter().chain(folders) {
        if !folder.as_os_str().is_empty() {
            std::fs::create_dir_all(&folder).map_err(|error| Failure::of_file(&folder, &error))?;
        }
    }
    Ok(())
}

/// Whether a path names the file of one run, and not a folder of several.
fn is_run_file(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension == "jsonl")
}

/// A file for each run, in a folder; or the only one.
fn write_runs(runs: &[Run], out: &Path) -> Result<()> {
    let mut taken = BTreeSet::new();
    for run in runs {
        let file = match is_run_file(out) {
            true => out.to_path_buf(),
            false => out.join(file_name(&run.name, run.setting.suffix(), &mut taken)),
        };
        let lines: String = run.lines().map(|line| format!("{line}\n")).collect();
        whole::write(&file, lines.as_bytes())?;
    }
    Ok(())
}

/// The name of a file for a run, which no other one has taken; now it is.
fn file_name(run: &str, suffix: &str, taken: &mut BTreeSet<String>) -> String {
    // A name is no path.
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let mut name = run.replace(|c| !is_plain(c), "-");
    name.truncate(name.floor_char_boundary(NAME_MAX));
    let mut file = format!("{name}{suffix}.jsonl");
    let mut number = 2;
    while !taken.insert(file.clone()) {
        file = format!("{name}-{number}{suffix}.jsonl");
        number += 1;
    }
    file
}

fn in_markdown(tables: &[Table]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    writeln!(out, "Engraph {}: `{}`", env!("CARGO_PKG_VERSION"), asked())?;
    for table in tables {
        writeln!(out, "\n### {}\n", table.title)?;
        markdown::write(&table.rows, &mut out)?;
    }
    Ok(out)
}

/// The command as it was asked, so that figures say what they are of.
fn asked() -> String {
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "-_./=,:".contains(c));
    let shown = std::env::args_os().skip(1).map(|argument| {
        let argument = argument.to_string_lossy().into_owned();
        match is_plain(&argument) {
            true => argument,
            false => format!("'{}'", argument.replace('\'', "'\\''").replace('`', "'")),
        }
    });
    std::iter::once("engraph".to_owned()).chain(shown).collect::<Vec<_>>().join(" ")
}

/// The folder that is kept, or one that goes with what is given beside it, and with Ctrl-C.
pub(super) fn kept_or_temporary(
    keep: Option<&Path>,
    prefix: &str,
) -> Result<(PathBuf, Option<TempDir>)> {
    if let Some(folder) = keep {
        return Ok((folder.to_owned(), None));
    }
    let made = tempfile::Builder::new().prefix(prefix).tempdir();
    let folder = made.map_err(|error| Failure::of_file(&std::env::temp_dir(), &error))?;
    let path = folder.path().to_owned();
    let leave = move || {
        // The engine may be making a file in it.
        let is_gone = || std::fs::remove_dir_all(&path).is_ok();
        if !(0..REMOVALS_MAX).any(|_| is_gone()) {
            eprintln!("{} is left", path.display());
        }
        std::process::exit(ENDED);
    };
    ctrlc::set_handler(leave)
        .map_err(|error| Failure::Other(format!("Ctrl-C cannot be listened to: {error}")))?;
    Ok((folder.path().to_owned(), Some(folder)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::file_name;

    #[test]
    fn runs_have_files_of_their_own() {
        let mut taken = BTreeSet::new();
        let mut name = |run: &str| file_name(run, ".pooled", &mut taken);
        assert_eq!(name("gam fill=false"), "gam-fill-false.pooled.jsonl");
        assert_eq!(name("gam fill:false"), "gam-fill-false-2.pooled.jsonl");
        assert_eq!(name("../x"), "..-x.pooled.jsonl");
        let long = "ä".repeat(500);
        assert!(name(&long).len() < 200 && name(&long).ends_with("-2.pooled.jsonl"));
    }
}
