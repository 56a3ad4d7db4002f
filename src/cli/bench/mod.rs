//! `engraph bench workload`: the work of an agent's memory, measured and checked; `vectors` beside it.
//!
//! ```text
//! numbers ──▶ facts ──▶ load ──▶ open ──▶ ask ──▶ write ──▶ report: table, JSON
//!                 └────▶ questions ──▶ answer, checked against the specification
//! ```
//!
//! Facts, questions and the checksums of the answers are fixed, so that figures of different systems
//! can be put side by side. Each phase is a process of its own. No figure is shown whose answers are
//! wrong.

mod answer;
mod ask;
mod beam;
mod facts;
mod load;
mod machine;
mod numbers;
mod open;
mod overhead;
mod peers;
mod questions;
mod report;
mod stats;
mod vectors;
mod write;

use std::path::Path;
use std::process::{Command, Stdio};

use engraph::{Durability, Engraph, Options};
use serde_json::{Value as Json, json};

use super::args::{Bench, BenchKind, BenchWorkload, Phase};
use super::eval::kept_or_temporary;
use super::output::Output;
use super::progress::named_bar;
use super::{Failure, Result, whole};
use facts::Facts;
use questions::Question;

/// The database of all phases, in their folder.
const STORE: &str = "facts.engraph";

/// Runs all phases, or the one that the process was started for.
pub(super) fn run(command: &Bench, output: &mut Output) -> Result<()> {
    let command = match &command.kind {
        BenchKind::Workload(command) => command,
        BenchKind::Vectors(command) => return vectors::run(command, output),
    };
    match command.phase {
        Some(phase) => Ok(output.line(&phase_of(command, phase)?.to_string())?),
        None => all(command, output),
    }
}

fn all(command: &BenchWorkload, output: &mut Output) -> Result<()> {
    let (folder, _gone) = kept_or_temporary(command.keep.as_deref(), "engraph-bench-")?;
    std::fs::create_dir_all(&folder).map_err(|error| Failure::of_file(&folder, &error))?;
    let bar = named_bar();
    bar.set_length(Phase::ALL.len() as u64);
    let mut report = json!({ "facts": command.facts });
    for phase in Phase::ALL {
        bar.set_message(phase.name());
        let load = machine::load_average();
        let mut part = match phase {
            Phase::Open => open::median(&folder.join(STORE), || child(command, &folder, phase))?,
            _ => child(command, &folder, phase)?,
        };
        part["load_average"] = json!([load, machine::load_average()]);
        report::merge(&mut report, phase, part);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let wrong = report::wrong(&report);
    if !wrong.is_empty() {
        return Err(Failure::Other(format!("wrong answers: {}", wrong.join(", "))));
    }
    if let Some(file) = &command.json {
        whole::write(file, format!("{report:#}\n").as_bytes())?;
    }
    Ok(output.table(&report::table(&report), super::output::terminal_width())?)
}

/// Runs one phase in a process of its own, so that its memory and caches are its own.
fn child(command: &BenchWorkload, folder: &Path, phase: Phase) -> Result<Json> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::Other(format!("{}: {error}", phase.name()));
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let done = Command::new(program)
        .args(["bench", "workload", "--facts", &command.facts.to_string()])
        .args(["--phase", phase.name(), "--keep"])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(&error))?;
    if !done.status.success() {
        return Err(failed(&done.status));
    }
    serde_json::from_slice(&done.stdout).map_err(|error| failed(&error))
}

fn phase_of(command: &BenchWorkload, phase: Phase) -> Result<Json> {
    let folder = command.keep.as_deref().unwrap_or(Path::new("."));
    let (store, table) = (folder.join(STORE), folder.join("facts.csv"));
    match phase {
        Phase::Open => return open::open(&store, command.facts),
        Phase::Overhead => return overhead::overhead(&folder.join("overhead.engraph")),
        _ => {}
    }
    let mut facts = Facts::new(command.facts);
    let buffered = || Options::new().durability(Durability::Buffered).open(&store);
    Ok(match phase {
        Phase::Table => {
            check(&facts)?;
            load::write_table(&facts, &table)?;
            peers::write(&mut facts, folder)?;
            json!({ "bytes": machine::folder_bytes(folder) })
        }
        Phase::Load => load::load(&store, &table, &facts)?,
        Phase::Open | Phase::Overhead => json!({}),
        Phase::Ask => ask_all(&Engraph::open(&store)?, &facts)?,
        Phase::Durable => {
            let disk = machine::fdatasync(folder).map_err(|e| Failure::of_file(folder, &e))?;
            let mut round = write::round(&Engraph::open(&store)?, &mut facts, 0)?;
            round["fdatasync"] = disk.json();
            round
        }
        Phase::Fast => write::round(&buffered()?, &mut facts, 1_100)?,
        Phase::Dump => {
            let mut dump = write::dump(&Engraph::open(&store)?, &facts, true)?;
            dump["disk_after"] = json!(machine::folder_bytes(&store));
            dump
        }
    })
}

/// An error if the facts are not those of the specification, where it says which they are.
fn check(facts: &Facts) -> Result<()> {
    let made = (facts.rows.len() as u64, facts.checksum());
    match questions::expected_facts(made.0, false) {
        Some(expected) if expected != made => {
            Err(Failure::Other("the facts are not those of the specification".to_owned()))
        }
        _ => Ok(()),
    }
}

fn ask_all(db: &Engraph, facts: &Facts) -> Result<Json> {
    let asker = ask::Asker::new(db, facts)?;
    let mut report = json!({ "noop": asker.nothing()?.json() });
    report["loaded"] = write::dump(db, facts, false)?;
    for question in Question::ALL {
        report[question.name()] = asker.all(question, ask::Way::Memql)?;
        report["library"][question.name()] = asker.all(question, ask::Way::Library)?;
    }
    report["rss"] = json!(machine::resident_peak());
    Ok(report)
}
