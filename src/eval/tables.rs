//! The figures of runs as tables: rows of text, for a terminal or for Markdown.
//!
//! Shares are per cent; after them, in brackets, stands the interval of 95 %.

use super::bootstrap::{Mean, mean};
use super::metrics::{ALL_AT, BUDGETS, Metrics, NDCG_AT, RECALL_AT, TOKENS_AT, total};
use super::{Run, Setting, brought};
use crate::rows::{Rows, Value};

/// The kinds of questions: those that count in the overall figures, and each by itself.
const KINDS: [(&str, &[u64]); 5] = [
    ("1 multi-hop", &[1]),
    ("2 temporal", &[2]),
    ("3 open-domain", &[3]),
    ("4 single-hop", &[4]),
    ("5 adversarial", &[5]),
];
/// The kinds that count in the overall figures.
const OVERALL: &[u64] = &[1, 2, 3, 4];

/// A table with its title.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it is of.
    pub title: String,
    /// Its columns and rows.
    pub rows: Rows,
}

/// The tables of all runs in which nothing was switched off.
pub fn tables(runs: &[Run]) -> Vec<Table> {
    let mut tables = Vec::new();
    for setting in [Setting::Own, Setting::Scoped, Setting::Unscoped] {
        let chosen = |run: &&Run| run.setting == setting && run.without.is_none();
        let runs: Vec<&Run> = runs.iter().filter(chosen).collect();
        if runs.is_empty() {
            continue;
        }
        let name = setting.name();
        let titled = |what: &str, rows| Table { title: format!("{what}: {name}"), rows };
        let count = runs.first().map_or(0, |run| values(run, OVERALL, |found| found.mrr).len());
        let title = format!("Categories 1 to 4, {count} questions");
        tables.push(titled(&title, overall(&runs)));
        tables.push(titled("Intervals, categories 1 to 4", intervals(&runs)));
        tables.push(titled("By category", categories(&runs)));
        let title = "Evidence within a budget of tokens, categories 1 to 4";
        tables.push(titled(title, within(&runs, |metrics, at| metrics.within[at])));
        let title = "Evidence that PACK holds within a budget of tokens, categories 1 to 4";
        tables.push(titled(title, within(&runs, |metrics, at| metrics.packed[at])));
        tables.push(titled("What a question takes", taken(&runs)));
        for run in runs {
            let brought = brought::figures(run, |place| is_of(run, place, OVERALL));
            tables.extend(brought.into_iter().map(|(what, rows)| titled(&what, rows)));
        }
    }
    tables
}

/// What each recipe loses without each of its switches; none if nothing was switched off.
pub fn ablation(runs: &[Run]) -> Option<Table> {
    let mut rows = Vec::new();
    for run in runs.iter().filter(|run| run.setting == Setting::Own) {
        let whole = runs.iter().find(|other| {
            other.recipe == run.recipe && other.setting == run.setting && other.without.is_none()
        });
        let (Some(whole), Some(switch)) = (whole, &run.without) else { continue };
        let mut row = vec![Value::from(run.recipe.as_str()), Value::from(switch.as_str())];
        for (_, figure, depth) in FIGURES {
            row.push(of_depth(run, depth, || difference(run, whole, figure)));
        }
        let same = run.answers.iter().zip(&whole.answers);
        let changed = same.filter(|(one, other)| one.retrieved != other.retrieved).count();
        row.push(Value::Int(i64::try_from(changed).unwrap_or(i64::MAX)));
        rows.push(row);
    }
    let names = FIGURES.map(|figure| figure.0);
    let columns = ["recipe", "without"].into_iter().chain(names).chain(["answers changed"]);
    let columns = columns.map(str::to_owned).collect();
    let title = "Without one part, categories 1 to 4".to_owned();
    (!rows.is_empty()).then(|| Table { title, rows: Rows { columns, rows, ..Rows::default() } })
}

/// A figure without a part, how far that is from the whole, and the interval of that: the same
/// questions are drawn of both.
fn difference(run: &Run, whole: &Run, figure: fn(&Metrics) -> f64) -> String {
    let (without, with) = (values(run, OVERALL, figure), values(whole, OVERALL, figure));
    let each: Vec<f64> = without.iter().zip(&with).map(|(one, other)| one - other).collect();
    let Mean { mean: by, low, high } = mean(&each);
    let without = share(run, OVERALL, figure);
    format!("{without:.1} ({:+.1} [{:+.1}, {:+.1}])", 100.0 * by, 100.0 * low, 100.0 * high)
}

/// What stands for a figure of more turns than were asked for.
const UNKNOWN: &str = "-";

/// A figure with its name, and of how many turns it is.
type Figure = (&'static str, fn(&Metrics) -> f64, usize);

/// The figures that are compared most.
const FIGURES: [Figure; 5] = [
    ("R@5", |found| found.recall[0], 5),
    ("R@10", |found| found.recall[1], 10),
    ("R@20", |found| found.recall[2], 20),
    ("R@50", |found| found.recall[4], 50),
    ("NDCG@10", |found| found.ndcg, NDCG_AT),
];

fn overall(runs: &[&Run]) -> Rows {
    let mut columns = vec!["recipe".to_owned()];
    columns.extend(RECALL_AT.map(|k| format!("R@{k}")));
    columns.extend(ALL_AT.map(|k| format!("all@{k}")));
    columns.extend(["MRR", "NDCG@10"].map(str::to_owned));
    columns.extend(TOKENS_AT.map(|k| format!("tokens@{k}")));
    table(columns, runs, |run| {
        let shown = |depth, figure: &dyn Fn(&Metrics) -> f64| {
            of_depth(run, depth, || format!("{:.1}", share(run, OVERALL, figure)))
        };
        let shares = RECALL_AT.iter().enumerate().map(|(at, k)| shown(*k, &|m| m.recall[at]));
        let all = ALL_AT.iter().enumerate().map(|(at, k)| shown(*k, &|m| m.all[at]));
        let rest = [shown(0, &|m| m.mrr), shown(NDCG_AT, &|m| m.ndcg)];
        let tokens = TOKENS_AT.iter().enumerate().map(|(at, k)| {
            of_depth(run, *k, || {
                format!("{:.0}", mean(&values(run, OVERALL, |m| m.tokens[at])).mean)
            })
        });
        shares.chain(all).chain(rest).chain(tokens).collect()
    })
}

fn intervals(runs: &[&Run]) -> Rows {
    let columns = ["recipe"].into_iter().chain(FIGURES.map(|figure| figure.0));
    table(columns.map(str::to_owned).collect(), runs, |run| {
        FIGURES.map(|figure| figure_of(run, OVERALL, figure)).to_vec()
    })
}

fn categories(runs: &[&Run]) -> Rows {
    let mut columns = ["recipe", "category", "questions"].map(str::to_owned).to_vec();
    columns.extend(FIGURES.map(|figure| figure.0.to_owned()));
    columns.extend(["all@10", "all@20"].map(str::to_owned));
    let mut rows = Vec::new();
    for run in runs {
        for (name, kinds) in KINDS {
            let count = values(run, kinds, |m| m.mrr).len();
            if count == 0 {
                continue;
            }
            let mut row = vec![Value::from(run.name.as_str()), Value::from(name)];
            row.push(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)));
            row.extend(FIGURES.map(|figure| figure_of(run, kinds, figure)));
            row.extend([0, 1].map(|at| {
                of_depth(run, ALL_AT[at], || interval(run, kinds, |m: &Metrics| m.all[at]))
            }));
            rows.push(row);
        }
    }
    Rows { columns, rows, ..Rows::default() }
}

fn within(runs: &[&Run], share: fn(&Metrics, usize) -> f64) -> Rows {
    let mut columns = vec!["recipe".to_owned()];
    columns.extend(BUDGETS.map(|budget| format!("{budget} tokens")));
    table(columns, runs, |run| {
        let within = |at| text(interval(run, OVERALL, |m: &Metrics| share(m, at)));
        (0..BUDGETS.len()).map(within).collect()
    })
}

fn taken(runs: &[&Run]) -> Rows {
    let names =
        ["recipe", "ms", "ms, 95 of 100", "model calls", "texts", "nodes", "vectors", "keys"];
    // What was put in another order afterwards was not asked.
    let is_asked = |run: &&&Run| run.answers.iter().any(|answer| !answer.taken.time.is_zero());
    let runs: Vec<&Run> = runs.iter().filter(is_asked).copied().collect();
    table(names.map(str::to_owned).to_vec(), &runs, |run| {
        let mut times: Vec<f64> =
            run.answers.iter().map(|answer| answer.taken.time.as_secs_f64() * 1000.0).collect();
        times.sort_by(f64::total_cmp);
        let slow = times.get(times.len() * 95 / 100).copied().unwrap_or(0.0);
        let count = run.answers.len().max(1) as f64;
        let average = |of: fn(&super::Taken) -> u64| {
            let sum: u64 = run.answers.iter().map(|answer| of(&answer.taken)).sum();
            text(format!("{:.1}", sum as f64 / count))
        };
        vec![
            text(format!("{:.1}", times.iter().sum::<f64>() / count)),
            text(format!("{slow:.1}")),
            average(|taken| taken.model_calls),
            average(|taken| taken.texts),
            average(|taken| taken.nodes),
            average(|taken| taken.vectors),
            average(|taken| taken.keys),
        ]
    })
}

/// A table with a row a run.
fn table(columns: Vec<String>, runs: &[&Run], row: impl Fn(&Run) -> Vec<Value>) -> Rows {
    let row = |run: &&Run| {
        std::iter::once(Value::from(run.name.as_str())).chain(row(run)).collect::<Vec<Value>>()
    };
    Rows { columns, rows: runs.iter().map(row).collect(), ..Rows::default() }
}

/// A figure of each question of these kinds.
fn values(run: &Run, kinds: &[u64], figure: impl Fn(&Metrics) -> f64) -> Vec<f64> {
    let of_kind = run.scores.iter().filter(|score| is_of(run, score.0, kinds));
    of_kind.map(|score| figure(&score.1)).collect()
}

/// Whether an answer is to a question of these kinds.
fn is_of(run: &Run, place: usize, kinds: &[u64]) -> bool {
    run.answers.get(place).is_some_and(|answer| kinds.contains(&answer.category))
}

/// The mean of a figure, per cent.
fn share(run: &Run, kinds: &[u64], figure: impl Fn(&Metrics) -> f64) -> f64 {
    let values = values(run, kinds, figure);
    100.0 * total(values.iter().copied()) / values.len().max(1) as f64
}

/// The same with its interval.
fn interval(run: &Run, kinds: &[u64], figure: impl Fn(&Metrics) -> f64) -> String {
    let Mean { mean, low, high } = mean(&values(run, kinds, figure));
    format!("{:.1} [{:.1}, {:.1}]", 100.0 * mean, 100.0 * low, 100.0 * high)
}

fn figure_of(run: &Run, kinds: &[u64], (_, figure, depth): Figure) -> Value {
    of_depth(run, depth, || interval(run, kinds, figure))
}

/// A figure of so many turns, if so many were asked for.
fn of_depth(run: &Run, depth: usize, shown: impl FnOnce() -> String) -> Value {
    text(if depth <= run.k { shown() } else { UNKNOWN.to_owned() })
}

fn text(text: String) -> Value {
    Value::String(text)
}
