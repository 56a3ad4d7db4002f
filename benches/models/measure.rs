//! Time, memory, and tables of them.

use std::fs;
use std::time::Instant;

use engraph::{Engraph, Params, Prepared};
use serde_json::Value as Json;

/// What a bench gives, or why it cannot run.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How large the databases are.
pub(crate) struct Sizes {
    /// The most that is not named.
    pub(crate) most: u64,
    /// Those that are named; then there are no others.
    pub(crate) named: Vec<u64>,
}

impl Sizes {
    /// Those of a part, of which these are the usual ones.
    pub(crate) fn of(&self, usual: &[u64]) -> Vec<u64> {
        match self.named.is_empty() {
            true => usual.iter().copied().filter(|size| *size <= self.most).collect(),
            false => self.named.clone(),
        }
    }
}

/// How long things took, in milliseconds, the shortest first.
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// The times of so many runs, each with its number.
    pub(crate) fn of<T>(runs: usize, mut run: impl FnMut(usize) -> Result<T>) -> Result<Self> {
        let mut times = Vec::with_capacity(runs);
        for number in 0..runs {
            let start = Instant::now();
            run(number)?;
            times.push(millis(start));
        }
        times.sort_by(f64::total_cmp);
        Ok(Self(times))
    }

    /// The times of a statement with each of the questions as `$q`.
    pub(crate) fn of_questions(statement: &Prepared<'_>, questions: &[String]) -> Result<Self> {
        Self::of(questions.len(), |number| Ok(statement.query(question(&questions[number]))?))
    }

    /// The time that a part of the runs took at most.
    fn quantile(&self, part: f64) -> f64 {
        let place = (self.0.len() as f64 * part) as usize;
        let last = self.0.len().saturating_sub(1);
        self.0.get(place.min(last)).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn least(&self) -> f64 {
        self.quantile(0.0)
    }

    pub(crate) fn middle(&self) -> f64 {
        self.quantile(0.5)
    }

    pub(crate) fn median(&self) -> String {
        short(self.middle())
    }

    pub(crate) fn p95(&self) -> String {
        short(self.quantile(0.95))
    }
}

/// Milliseconds since then.
pub(crate) fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A number with three digits, or all of it if it has more before the point.
pub(crate) fn short(number: f64) -> String {
    match number {
        _ if number >= 100.0 => format!("{number:.0}"),
        _ if number >= 10.0 => format!("{number:.1}"),
        _ if number >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// The parameters of a question.
pub(crate) fn question(text: &str) -> Params {
    Params::from([("q", text)])
}

/// A table in Markdown; its rows are printed as they come.
pub(crate) struct Table;

impl Table {
    pub(crate) fn begin(title: &str, columns: &[&str]) -> Self {
        println!("\n{title}\n\n| {} |", columns.join(" | "));
        println!("|{}", " --- |".repeat(columns.len()));
        Self
    }

    pub(crate) fn row(&self, cells: &[&str]) {
        println!("| {} |", cells.join(" | "));
    }
}

/// What a profile says of a statement: the sum over its operators.
pub(crate) fn profiled(db: &Engraph, query: &str, params: Params, what: &str) -> Result<u64> {
    let rows = db.query(&format!("PROFILE JSON {query}"), params)?;
    let Some(engraph::Value::String(text)) = rows.get(0, "plan") else {
        return Err("a profile is a text".into());
    };
    Ok(sum(&serde_json::from_str(text)?, what))
}

fn sum(json: &Json, what: &str) -> u64 {
    match json {
        Json::Array(items) => items.iter().map(|item| sum(item, what)).sum(),
        Json::Object(fields) => {
            let inner = fields.values().map(|field| sum(field, what)).sum::<u64>();
            inner + fields.get(what).and_then(Json::as_u64).unwrap_or_default()
        }
        _ => 0,
    }
}

/// Whether a thread of that name runs in this process.
pub(crate) fn is_running(thread: &str) -> bool {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm"));
    tasks.filter_map(|task| name(task).ok()).any(|name| name.trim_end() == thread)
}

/// The memory of this process, in MB.
pub(crate) fn memory() -> String {
    field("/proc/self/status", "VmRSS")
        .and_then(|size| size.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(String::new, |kilobytes| (kilobytes / 1024).to_string())
}

/// The processor, its cores, and how busy it is.
pub(crate) fn machine() -> String {
    let name = field("/proc/cpuinfo", "model name").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores, load average {}", load())
}

/// The load average of the last minute.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
