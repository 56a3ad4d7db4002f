//! What each step and each operation of a reconstruction brings of the evidence (MRAgent, eq. 24), for recipes that
//! tell it of their turns. One that tells nothing has no figures.

use std::collections::{BTreeMap, BTreeSet};

use super::Run;
use super::ask::Answer;
use super::bootstrap::mean;
use crate::rows::{Rows, Value};

/// What a reconstruction tells of a turn that it gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The step that brought it, from 1 on.
    pub step: usize,
    /// The operations that brought it.
    pub operations: Vec<String>,
}

/// The most steps that a recipe is believed to have made.
const STEPS_MAX: usize = 1_000;

impl Origin {
    /// Of a step and a map by operations; none if these are something else.
    pub(super) fn of(values: &[Value]) -> Option<Self> {
        let [Value::Int(step), Value::Map(shares)] = values else { return None };
        let step = usize::try_from(*step).ok().filter(|step| (1..=STEPS_MAX).contains(step))?;
        Some(Self { step, operations: shares.keys().cloned().collect() })
    }
}

/// The shares of the gold turns of one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brought {
    /// That were found by the end of each step.
    pub by_step: Vec<f64>,
    /// That each operation brought, by name.
    pub by_operation: BTreeMap<String, f64>,
}

/// Of an answer; a turn that is given twice counts once.
pub(super) fn brought(answer: &Answer, gold: &[String]) -> Brought {
    let share = 1.0 / gold.len().max(1) as f64;
    let (mut brought, mut seen) = (Brought::default(), BTreeSet::new());
    for (turn, origin) in answer.retrieved.iter().zip(&answer.origins) {
        if !seen.insert(turn) {
            continue;
        }
        let steps = brought.by_step.len().max(origin.step);
        let sofar = brought.by_step.last().copied().unwrap_or(0.0);
        brought.by_step.resize(steps, sofar);
        if gold.contains(turn) {
            let from = origin.step.saturating_sub(1);
            brought.by_step[from..].iter_mut().for_each(|recall| *recall += share);
        }
        for operation in &origin.operations {
            let recall = brought.by_operation.entry(operation.clone()).or_default();
            *recall += if gold.contains(turn) { share } else { 0.0 };
        }
    }
    brought
}

/// The figures of a run of which an answer tells it, by step and by operation, each with its title.
pub(super) fn figures(run: &Run, counts: impl Fn(usize) -> bool) -> Vec<(String, Rows)> {
    let told: Vec<&Brought> =
        run.brought.iter().filter(|one| counts(one.0)).map(|one| &one.1).collect();
    let steps = told.iter().map(|one| one.by_step.len()).max().unwrap_or(0);
    if steps == 0 {
        return Vec::new();
    }
    let share = |values: Vec<f64>| Value::String(format!("{:.1}", 100.0 * mean(&values).mean));
    let row = |first: Value, values| vec![first, share(values)];
    // A reconstruction that ended before has found no more by then.
    let by = |one: &Brought, step: usize| {
        one.by_step.get(step).or(one.by_step.last()).copied().unwrap_or(0.0)
    };
    let by_step = (0..steps).map(|step| {
        let first = Value::Int(i64::try_from(step + 1).unwrap_or(i64::MAX));
        row(first, told.iter().map(|one| by(one, step)).collect())
    });
    let mut names: Vec<&String> = told.iter().flat_map(|one| one.by_operation.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |one: &Brought, name: &String| one.by_operation.get(name).copied().unwrap_or(0.0);
    let by_operation = names.into_iter().map(|name| {
        row(Value::from(name.as_str()), told.iter().map(|one| of(one, name)).collect())
    });
    let table = |what: &str, first: &str, rows: Vec<Vec<Value>>| {
        let columns = [first, "found"].map(str::to_owned).to_vec();
        let title = format!("Evidence that {} finds by {what}, categories 1 to 4", run.name);
        (title, Rows { columns, rows, ..Rows::default() })
    };
    vec![
        table("the end of each step", "step", by_step.collect()),
        table("each operation", "operation", by_operation.collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(turns: &[(&str, usize, &[&str])]) -> Answer {
        let origin = |step, operations: &[&str]| Origin {
            step,
            operations: operations.iter().map(|name| (*name).to_owned()).collect(),
        };
        Answer {
            retrieved: turns.iter().map(|turn| turn.0.to_owned()).collect(),
            origins: turns.iter().map(|turn| origin(turn.1, turn.2)).collect(),
            ..Answer::default()
        }
    }

    #[test]
    fn values_by_hand() {
        let found = answer(&[
            ("a", 3, &["context"]),
            ("a", 1, &["search"]),
            ("b", 1, &["search", "context"]),
            ("x", 4, &["tag"]),
            ("c", 3, &["search"]),
        ]);
        let gold = ["a", "b", "c", "missed"].map(str::to_owned);
        let brought = brought(&found, &gold);
        assert_eq!(brought.by_step, [0.25, 0.25, 0.75, 0.75]);
        let by_operation = [("context", 0.5), ("search", 0.5), ("tag", 0.0)];
        let expected = by_operation.map(|(name, share)| (name.to_owned(), share));
        assert_eq!(brought.by_operation, expected.into());
    }

    #[test]
    fn what_tells_nothing_has_no_figures() {
        let silent = Answer { retrieved: vec!["a".to_owned()], ..Answer::default() };
        assert_eq!(brought(&silent, &["a".to_owned()]), Brought::default());
        let shares = Value::Map(BTreeMap::from([("search".to_owned(), Value::Float(1.0))]));
        let told = Origin { step: 2, operations: vec!["search".to_owned()] };
        assert_eq!(Origin::of(&[Value::Int(2), shares.clone()]), Some(told));
        for step in [Value::Null, Value::Int(0), Value::Int(i64::MAX)] {
            assert_eq!(Origin::of(&[step, shares.clone()]), None);
        }
        assert_eq!(Origin::of(&[]), None);
    }
}
