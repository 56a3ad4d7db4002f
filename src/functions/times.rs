//! Instants, durations and periods.

use engraph_storage::graph::Interval;

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::time::{self, Allen, Duration};

pub(super) const TABLE: &[Function] = &[
    Function::new(
        "allen",
        (2, 2),
        "allen(p, q): how two periods lie, as in 'before' or 'during'",
        allen,
    ),
    Function::new("date", (1, 1), "date('2023-05-08'): an instant", timestamp),
    Function::new("datetime", (1, 1), "datetime('2023-05-08T13:56'): an instant", timestamp),
    Function::new("duration", (1, 1), "duration('P3D')", duration),
    Function {
        takes_null: true,
        ..Function::new(
            "period",
            (2, 2),
            "period(from, to): the instants from the first, before the second; null is an open end",
            period,
        )
    },
    Function::new("timestamp", (1, 1), "timestamp('2023-05-08 13:56'): an instant", timestamp),
    Function::new(
        "when",
        (1, 2),
        "when('last month', now()): the period that a phrase names",
        when,
    ),
];

fn timestamp(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Timestamp(instant) => Ok(Cell::Timestamp(*instant)),
        Cell::String(text) => match time::parse(text) {
            Some(instant) => Ok(Cell::Timestamp(instant)),
            None => Err(call.fail(format!("'{text}' is no instant")).help(time::FORMS).execute()),
        },
        _ => Err(call.takes("a string", 0)),
    }
}

fn duration(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Duration(duration) => Ok(Cell::Duration(*duration)),
        Cell::String(text) => match Duration::parse(text) {
            Some(duration) => Ok(Cell::Duration(duration)),
            None => Err(call
                .fail(format!("'{text}' is no duration"))
                .help("write it as in ISO 8601: P3D, P1Y2M, PT2H30M")
                .execute()),
        },
        _ => Err(call.takes("a string", 0)),
    }
}

fn period(call: &Call<'_>) -> Result<Cell> {
    let bound = |place: usize, open| match call.argument(place) {
        Cell::Null => Ok(open),
        Cell::Timestamp(instant) => Ok(*instant),
        Cell::String(text) => time::parse(text).ok_or_else(|| {
            call.fail(format!("'{text}' is no instant")).help(time::FORMS).execute()
        }),
        _ => Err(call.takes("instants", place)),
    };
    let (from, to) = (bound(0, Interval::MIN)?, bound(1, Interval::MAX)?);
    Interval::new(from, to).map(Cell::Period).ok_or_else(|| {
        call.fail("the period ends before it begins, or is empty")
            .help("write the earlier bound first; the second one is not in the period")
            .execute()
    })
}

fn allen(call: &Call<'_>) -> Result<Cell> {
    match (call.argument(0), call.argument(1)) {
        (Cell::Period(a), Cell::Period(b)) => Ok(Cell::text(Allen::of(*a, *b).name())),
        (Cell::Period(_), _) => Err(call.takes("two periods", 1)),
        _ => Err(call.takes("two periods", 0)),
    }
}

fn when(call: &Call<'_>) -> Result<Cell> {
    let Cell::String(phrase) = call.argument(0) else { return Err(call.takes("a phrase", 0)) };
    let reference = match call.arguments.get(1) {
        None => call.context.now(),
        Some(Cell::Timestamp(instant)) => *instant,
        Some(_) => return Err(call.takes("an instant", 1)),
    };
    Ok(time::when(phrase, reference).map_or(Cell::Null, Cell::Period))
}
