//! Durations, periods and phrases of time.

use std::collections::BTreeMap;

use engraph_grammar::closest;
use engraph_storage::graph::{Interval, Time};

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::time::{self, Allen, Duration};

/// Letters of a text in which phrases are looked for.
const TEXT_LETTERS_MAX: usize = 10_000;

/// The entries of a duration.
const UNITS: [(&str, Duration); 10] = [
    ("years", Duration::new(12, 0, 0)),
    ("quarters", Duration::new(3, 0, 0)),
    ("months", Duration::new(1, 0, 0)),
    ("weeks", Duration::new(0, 7, 0)),
    ("days", Duration::new(0, 1, 0)),
    ("hours", Duration::new(0, 0, 3_600_000_000)),
    ("minutes", Duration::new(0, 0, 60_000_000)),
    ("seconds", Duration::new(0, 0, 1_000_000)),
    ("milliseconds", Duration::new(0, 0, 1000)),
    ("microseconds", Duration::new(0, 0, 1)),
];

pub(super) const TABLE: &[Function] = &[
    Function::new(
        "allen",
        (2, 2),
        "allen(p, q): how two periods lie, as in 'before' or 'during'",
        allen,
    ),
    Function::new(
        "duration",
        (1, 1),
        "duration('P3D' | {days: 3, hours: 2}): months, days and time of day",
        duration,
    ),
    Function::new(
        "duration.between",
        (2, 2),
        "duration.between(a, b): whole months, then days, then the rest",
        |call| between(call, Duration::between),
    ),
    Function::new(
        "duration.inDays",
        (2, 2),
        "duration.inDays(a, b): the whole days from a to b",
        |call| between(call, Duration::in_days),
    ),
    Function::new(
        "duration.inMonths",
        (2, 2),
        "duration.inMonths(a, b): the whole months from a to b",
        |call| between(call, Duration::in_months),
    ),
    Function::new(
        "duration.inSeconds",
        (2, 2),
        "duration.inSeconds(a, b): the time from a to b, without months and days",
        |call| between(call, Duration::in_seconds),
    ),
    Function::new(
        "find_times",
        (1, 2),
        "find_times(s[, reference]): the phrases of time in a text, a list of {text, from, to}",
        find_times,
    ),
    Function::new(
        "intersection",
        (2, 2),
        "intersection(p, q): the instants that are in both periods; null if none is",
        intersection,
    ),
    Function {
        takes_null: true,
        ..Function::new(
            "period",
            (2, 2),
            "period(from, to): the instants from the first, before the second; null is an open end",
            period,
        )
    },
    Function::new(
        "when",
        (1, 2),
        "when('last month'[, reference]): the period that a phrase names, seen from then or now",
        when,
    ),
];

fn duration(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Duration(duration) => Ok(Cell::Duration(*duration)),
        Cell::Map(entries) => from_map(call, entries),
        Cell::String(text) => match Duration::parse(text) {
            Some(duration) => Ok(Cell::Duration(duration)),
            None => Err(call
                .fail(format!("'{text}' is no duration"))
                .help("write it as in ISO 8601: P3D, P1Y2M, PT2H30M")
                .execute()),
        },
        _ => Err(call.takes("a string or a map", 0)),
    }
}

fn from_map(call: &Call<'_>, entries: &BTreeMap<String, Cell>) -> Result<Cell> {
    let mut sum = Duration::new(0, 0, 0);
    for (name, cell) in entries {
        let Some((_, unit)) = UNITS.iter().find(|unit| unit.0.eq_ignore_ascii_case(name)) else {
            let error = call.fail(format!("a duration has no `{name}`"));
            let names = UNITS.map(|unit| unit.0);
            return Err(error
                .meant(closest(name, names), format!("it has {}", names.join(", ")))
                .execute());
        };
        let part = match cell {
            Cell::Null => return Ok(Cell::Null),
            Cell::Int(value) => unit.times(*value),
            Cell::Float(value) => unit.scaled(*value),
            other => {
                let message = format!("{name} takes a number, not {}", other.kind());
                return Err(call.fail(message).execute());
            }
        };
        sum = part
            .and_then(|part| sum.plus(part))
            .ok_or_else(|| call.fail("the duration is too long").execute())?;
    }
    Ok(Cell::Duration(sum))
}

fn between(call: &Call<'_>, measure: fn(Time, Time) -> Duration) -> Result<Cell> {
    Ok(Cell::Duration(measure(call.instant(0)?, call.instant(1)?)))
}

fn period(call: &Call<'_>) -> Result<Cell> {
    let bound = |place: usize, open| match call.argument(place) {
        Cell::Null => Ok(open),
        _ => call.instant(place),
    };
    let (from, to) = (bound(0, Interval::MIN)?, bound(1, Interval::MAX)?);
    Interval::new(from, to).map(Cell::Period).ok_or_else(|| {
        call.fail("the period ends before it begins, or is empty")
            .help("write the earlier bound first; the second one is not in the period")
            .execute()
    })
}

fn periods(call: &Call<'_>) -> Result<(Interval, Interval)> {
    match (call.argument(0), call.argument(1)) {
        (Cell::Period(a), Cell::Period(b)) => Ok((*a, *b)),
        (Cell::Period(_), _) => Err(call.takes("two periods", 1)),
        _ => Err(call.takes("two periods", 0)),
    }
}

fn allen(call: &Call<'_>) -> Result<Cell> {
    let (a, b) = periods(call)?;
    Ok(Cell::text(Allen::of(a, b).name()))
}

fn intersection(call: &Call<'_>) -> Result<Cell> {
    let (a, b) = periods(call)?;
    Ok(a.common(&b).map_or(Cell::Null, Cell::Period))
}

/// The instant from which a phrase is seen.
fn reference(call: &Call<'_>) -> Result<Time> {
    if call.arguments.len() > 1 { call.instant(1) } else { Ok(call.context.now()) }
}

fn when(call: &Call<'_>) -> Result<Cell> {
    let (phrase, reference) = (call.text(0)?, reference(call)?);
    Ok(time::when(phrase, reference).map_or(Cell::Null, Cell::Period))
}

fn find_times(call: &Call<'_>) -> Result<Cell> {
    let (text, reference) = (call.text(0)?, reference(call)?);
    if text.chars().count() > TEXT_LETTERS_MAX {
        let message = format!("find_times reads at most {TEXT_LETTERS_MAX} letters");
        return Err(call.fail(message).help("cut it, as in left(s, 10000)").execute());
    }
    call.context.work(text.len())?;
    let found = time::find(text, reference).into_iter().map(|(range, period)| {
        let phrase = text.get(range).unwrap_or_default();
        let entries = [
            ("text", Cell::text(phrase)),
            ("from", Cell::instant(period.from)),
            ("to", Cell::instant(period.to)),
        ];
        Cell::map(entries.map(|(name, cell)| (name.to_owned(), cell)).into())
    });
    Ok(Cell::list(found.collect()))
}
