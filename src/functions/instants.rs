//! Instants: from text or from their fields, and cut to a unit of the calendar.

use std::collections::BTreeMap;

use engraph_grammar::closest;
use engraph_storage::graph::Time;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::time;

const SECOND: i64 = 1_000_000;

/// The fields of the time of day: what they stay below, and their microseconds.
const CLOCK: [(&str, i64, i64); 5] = [
    ("hour", 24, 3600 * SECOND),
    ("minute", 60, 60 * SECOND),
    ("second", 60, SECOND),
    ("millisecond", 1000, 1000),
    ("microsecond", SECOND, 1),
];

/// The ways to name a day of a year; one of them is taken at a time.
const DAYS: [&[&str]; 4] =
    [&["month", "day"], &["week", "dayOfWeek"], &["quarter"], &["ordinalDay"]];

const FIELDS_HELP: &str = "write {year: 2023, month: 5, day: 8, hour: 13, minute: 56}; a day is \
    also told by week and dayOfWeek, by quarter or by ordinalDay, an instant by epochMillis";
const UNITS_HELP: &str = "the units are millennium, century, decade, year, weekYear, quarter, \
    month, week, day, hour, minute, second, millisecond and microsecond";

pub(super) const TABLE: &[Function] = &[
    Function::new(
        "date",
        (0, 1),
        "date('2023-05-08' | {year: 2023, month: 5, day: 8} | t): the day's first instant; today",
        |call| Ok(cut("day", &instant(call)?)),
    ),
    Function::new(
        "date.truncate",
        (1, 2),
        "date.truncate('month', t): as truncate('month', t)",
        truncate,
    ),
    Function::new(
        "datetime",
        (0, 1),
        "datetime('2023-05-08T13:56' | {year: 2023, month: 5, hour: 13}): an instant; now",
        instant,
    ),
    Function::new(
        "datetime.truncate",
        (1, 2),
        "datetime.truncate('hour', t): as truncate('hour', t)",
        truncate,
    ),
    Function::new("localdatetime", (0, 1), "localdatetime(x): as datetime(x), in UTC", instant),
    Function::new(
        "localdatetime.truncate",
        (1, 2),
        "localdatetime.truncate('hour', t): as truncate('hour', t)",
        truncate,
    ),
    Function::new("timestamp", (0, 1), "timestamp('2023-05-08 13:56'): as datetime(x)", instant),
    Function::new(
        "truncate",
        (1, 2),
        "truncate('week', t): the first instant of the unit that t, or now, lies in",
        truncate,
    ),
];

impl Call<'_> {
    /// An argument that must be an instant, or text that is one.
    pub(super) fn instant(&self, place: usize) -> Result<Time> {
        match self.argument(place) {
            Cell::Timestamp(instant) => Ok(*instant),
            Cell::String(text) => time::parse(text)
                .ok_or_else(|| self.fail(time::refused(text)).help(time::FORMS).execute()),
            _ => Err(self.takes("an instant", place)),
        }
    }
}

fn instant(call: &Call<'_>) -> Result<Cell> {
    match call.arguments.first() {
        None => Ok(Cell::Timestamp(call.context.now())),
        Some(Cell::Map(entries)) => from_map(call, entries),
        Some(_) => call.instant(0).map(Cell::Timestamp),
    }
}

/// The first instant of the unit; null without an instant.
fn cut(unit: &str, cell: &Cell) -> Cell {
    match cell {
        Cell::Timestamp(instant) => {
            time::truncate(unit, *instant).map_or(Cell::Null, Cell::Timestamp)
        }
        _ => Cell::Null,
    }
}

fn truncate(call: &Call<'_>) -> Result<Cell> {
    let unit = call.text(0)?;
    let at = if call.arguments.len() > 1 { call.instant(1)? } else { call.context.now() };
    match time::truncate(unit, at) {
        Some(instant) => Ok(Cell::Timestamp(instant)),
        None => Err(call
            .fail(format!("`{unit}` is no unit that an instant lies in"))
            .help(UNITS_HELP)
            .execute()),
    }
}

fn from_map(call: &Call<'_>, entries: &BTreeMap<String, Cell>) -> Result<Cell> {
    let mut fields = BTreeMap::new();
    for (name, cell) in entries {
        let known = time::FIELDS.iter().find(|field| field.eq_ignore_ascii_case(name));
        match (known, cell) {
            (Some(_), Cell::Null) => return Ok(Cell::Null),
            (Some(field), Cell::Int(value)) => {
                fields.insert(*field, *value);
            }
            (Some(field), other) => {
                let message = format!("{field} takes a whole number, not {other}");
                return Err(call.fail(message).execute());
            }
            (None, _) => {
                let error = call.fail(format!("an instant has no `{name}`"));
                return Err(error
                    .meant(closest(name, time::FIELDS.iter().copied()), FIELDS_HELP)
                    .execute());
            }
        }
    }
    from_fields(&fields)
        .map(Cell::Timestamp)
        .ok_or_else(|| call.fail("no instant has these fields").help(FIELDS_HELP).execute())
}

/// The instant of fields with the names of [`time::FIELDS`]; what is left out is the first.
fn from_fields(fields: &BTreeMap<&str, i64>) -> Option<Time> {
    let alone = |name, length: i64| {
        let value: &i64 = fields.get(name).filter(|_| fields.len() == 1)?;
        value.checked_mul(length)
    };
    let at = match alone("epochSeconds", SECOND).or_else(|| alone("epochMillis", 1000)) {
        Some(at) => at,
        None => day(fields)?.checked_add(clock(fields)?)?,
    };
    // Outside the years -9999 to 9999 there is none.
    time::field(at, "year").map(|_| at)
}

/// The first instant of the day that the fields name.
fn day(fields: &BTreeMap<&str, i64>) -> Option<Time> {
    let ways = DAYS.iter().filter(|way| way.iter().any(|name| fields.contains_key(name)));
    if ways.count() > 1 || fields.keys().any(|name| name.starts_with("epoch")) {
        return None;
    }
    let year = i16::try_from(*fields.get("year")?).ok()?;
    let small = |name| i8::try_from(*fields.get(name).unwrap_or(&1)).ok();
    if fields.contains_key("week") || fields.contains_key("dayOfWeek") {
        fields.get("week")?;
        let weekday = Weekday::from_monday_one_offset(small("dayOfWeek")?).ok()?;
        return time::from_date(ISOWeekDate::new(year, small("week")?, weekday).ok()?.date());
    }
    if let Some(day) = fields.get("ordinalDay") {
        let first = time::from_date(Date::new(year, 1, 1).ok()?)?;
        let found = first.checked_add(day.checked_sub(1)?.checked_mul(time::DAY)?)?;
        return (time::field(found, "year") == Some(i64::from(year))).then_some(found);
    }
    let month = match fields.contains_key("quarter") {
        true => small("quarter").filter(|quarter| (1..=4).contains(quarter))? * 3 - 2,
        false => small("month")?,
    };
    time::from_date(Date::new(year, month, small("day")?).ok()?)
}

/// The microseconds since the day began.
fn clock(fields: &BTreeMap<&str, i64>) -> Option<i64> {
    let mut sum = 0;
    for (name, limit, length) in CLOCK {
        let value = *fields.get(name).unwrap_or(&0);
        if !(0..limit).contains(&value) {
            return None;
        }
        sum += value * length;
    }
    let fraction = |name| fields.get(name).unwrap_or(&0);
    (fraction("millisecond") * 1000 + fraction("microsecond") < SECOND).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(fields: &[(&'static str, i64)]) -> Option<String> {
        from_fields(&fields.iter().copied().collect()).map(time::short)
    }

    #[test]
    fn from_the_fields() {
        for (fields, expected) in [
            (&[("year", 2023)][..], "2023-01-01"),
            (&[("year", 2024), ("month", 2), ("day", 29)], "2024-02-29"),
            (&[("year", 2023), ("week", 1)], "2023-01-02"),
            (&[("year", 2020), ("week", 53), ("dayOfWeek", 7)], "2021-01-03"),
            (&[("year", 2023), ("quarter", 4)], "2023-10-01"),
            (&[("year", 2024), ("ordinalDay", 366)], "2024-12-31"),
            (&[("year", -423), ("month", 5)], "-000423-05-01"),
            (&[("year", 2023), ("hour", 23), ("microsecond", 5)], "2023-01-01T23:00:00.000005Z"),
            (&[("epochSeconds", -1)], "1969-12-31T23:59:59Z"),
            (&[("epochMillis", 1500)], "1970-01-01T00:00:01.5Z"),
        ] {
            assert_eq!(shown(fields).as_deref(), Some(expected), "{fields:?}");
        }
    }

    #[test]
    fn what_no_instant_has() {
        for fields in [
            &[][..],
            &[("month", 5)],
            &[("year", 2023), ("month", 13)],
            &[("year", 2023), ("month", 0)],
            &[("year", 2023), ("month", 2), ("day", 29)],
            &[("year", 2023), ("month", 300)],
            &[("year", 2023), ("month", 1), ("week", 1)],
            &[("year", 2023), ("quarter", 0)],
            &[("year", 2023), ("quarter", 5)],
            &[("year", 2023), ("ordinalDay", 366)],
            &[("year", 2023), ("ordinalDay", 0)],
            &[("year", 2023), ("ordinalDay", i64::MAX)],
            &[("year", 2023), ("dayOfWeek", 1)],
            &[("year", 2023), ("week", 53)],
            &[("year", 2023), ("hour", 24)],
            &[("year", 2023), ("second", -1)],
            &[("year", 2023), ("millisecond", 999), ("microsecond", 1000)],
            &[("year", 2023), ("epochMillis", 0)],
            &[("year", 10_000)],
            &[("year", i64::MIN)],
            &[("epochSeconds", i64::MAX)],
            &[("epochMillis", i64::MAX / 1000)],
        ] {
            assert_eq!(shown(fields), None, "{fields:?}");
        }
    }
}
