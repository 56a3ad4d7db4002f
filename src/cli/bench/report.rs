//! All figures of a run as one JSON text and as a table.

use engraph::{Rows, Value};
use serde_json::{Value as Json, json};

use super::questions::Question;
use crate::cli::args::Phase;

/// Puts the figures of a phase where the specification wants them.
pub(super) fn merge(report: &mut Json, phase: Phase, part: Json) {
    match (phase, part) {
        (Phase::Ask, Json::Object(part)) => {
            for (name, value) in part {
                report[name] = value;
            }
        }
        (phase, part) => report[phase.name()] = part,
    }
    if phase == Phase::Table
        && let Some(report) = report.as_object_mut()
    {
        report.remove(phase.name());
    }
}

/// What was answered wrongly.
pub(super) fn wrong(report: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    for question in Question::ALL {
        let name = question.name();
        for (way, answers) in [("MemQL", &report[name]), ("library", &report["library"][name])] {
            if answers["wrong"] == json!(true) {
                wrong.push(format!("{name} by {way}"));
            }
        }
    }
    for phase in ["loaded", "dump"] {
        if report[phase]["ok"] == json!(false) {
            wrong.push(format!("the facts ({phase})"));
        }
    }
    wrong
}

/// A line for each question and each kind of write, in microseconds.
pub(super) fn table(report: &Json) -> Rows {
    let mut rows = Vec::new();
    let mut line = |name: &str, stats: &Json, library: &Json| {
        let number = |json: &Json| match json.as_f64() {
            Some(number) => Value::String(format!("{number:.1}")),
            None => Value::String(String::new()),
        };
        let mut row = vec![Value::String(name.to_owned())];
        row.extend(["p50", "p95", "p99", "mean"].map(|figure| number(&stats[figure])));
        row.extend(["p50", "mean"].map(|figure| number(&library[figure])));
        row.extend(["rows", "seeks", "keys"].map(|count| match library[count].as_i64() {
            Some(count) => Value::Int(count),
            None => Value::String(String::new()),
        }));
        rows.push(row);
    };
    line("no-op", &report["noop"], &Json::Null);
    for question in Question::ALL {
        let (name, title) = (question.name(), question.title());
        let wrong = [&report[name], &report["library"][name]].map(|by| by["wrong"] == json!(true));
        let shown =
            |place: usize, stats: &Json| if wrong[place] { Json::Null } else { stats.clone() };
        let library = shown(1, &report["library"][name]);
        line(&format!("{name} {title}"), &shown(0, &report[name]), &library);
    }
    for (phase, title) in [("durable", "synced"), ("fast", "not synced")] {
        line(&format!("w2 insert, {title}"), &report[phase]["w2"], &Json::Null);
        line(&format!("w3 read, {title}"), &report[phase]["w3"]["read"], &Json::Null);
        line(&format!("w3 write, {title}"), &report[phase]["w3"]["write"], &Json::Null);
    }
    for (title, kind) in [("none ended", "none"), ("a hundred ended", "ended")] {
        let by = |way: &str| report["overhead"][way][kind].clone();
        line(&format!("value now, {title}"), &by("memql"), &by("library"));
    }
    line("append and fdatasync", &report["durable"]["fdatasync"], &Json::Null);
    let sizes = [
        ("load, facts/s", &report["load"]["facts_per_s"]),
        ("the same load again, facts/s", &report["load"]["again_per_s"]),
        ("disk, bytes", &report["load"]["disk"]),
        ("memory, bytes", &report["rss"]),
        ("cold open to first answer, ms", &report["open"]["first_ms"]),
    ];
    for (name, figure) in sizes {
        line(name, &json!({ "p50": figure }), &Json::Null);
    }
    let columns =
        ["µs", "p50", "p95", "p99", "mean", "library p50", "library mean", "rows", "seeks", "keys"];
    Rows { columns: columns.map(str::to_owned).to_vec(), rows, warnings: Vec::new() }
}
