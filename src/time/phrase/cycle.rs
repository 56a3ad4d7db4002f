//! Periods that recur: weekdays, months, seasons, holidays and calendar units.
//!
//! Everything is asked of the occurrences around an instant, so that "last", "next", "the one
//! before" and "the first of" mean the same for all of them.

use engraph_storage::graph::{Interval, Time};
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use crate::time::duration::{DAY, Duration, HOUR};
use crate::time::field::{Unit, field};
use crate::time::{civil, from_date};

/// A period that recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cycle {
    /// Each unit of the calendar.
    Unit(Unit),
    /// Each season.
    AnySeason,
    /// The season that begins with this month.
    Season(i8),
    /// The quarter of this number.
    Quarter(i8),
    /// The month of this number.
    Month(i8),
    /// The day of this month and number.
    MonthDay(i8, i8),
    /// The day of this number in each month that has it.
    DayOfMonth(i8),
    /// The day of the week; Monday is 0.
    Weekday(i64),
    /// Saturday and Sunday.
    Weekend,
    /// A part of each day.
    Part(Part),
    /// A time of day and how long it lasts, in microseconds.
    Clock(i64, i64),
    Holiday(Holiday),
}

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// 06:00 to 12:00.
    Morning,
    /// 12:00 to 18:00.
    Afternoon,
    /// 18:00 to 24:00.
    Evening,
    /// 18:00 to 06:00 of the next day.
    Night,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holiday {
    /// A month and a day.
    Fixed(i8, i8),
    /// Days after Easter Sunday.
    Easter(i64),
    /// Days after the fourth Thursday of November, as in the United States.
    Thanksgiving(i64),
}

impl Part {
    /// Where in a day it lies.
    pub(super) fn of(self, day: Interval) -> Option<Interval> {
        let (from, to) = match self {
            Self::Morning => (6, 12),
            Self::Afternoon => (12, 18),
            Self::Evening => (18, 24),
            Self::Night => (18, 30),
        };
        Interval::new(day.from.checked_add(from * HOUR)?, day.from.checked_add(to * HOUR)?)
    }
}

impl Cycle {
    /// The latest occurrence that has begun at an instant.
    pub(super) fn begun(self, time: Time) -> Option<Interval> {
        self.around(time).into_iter().rfind(|one| one.from <= time)
    }

    /// The occurrence that an instant lies in.
    pub(super) fn holding(self, time: Time) -> Option<Interval> {
        self.around(time).into_iter().find(|one| one.contains(time))
    }

    /// The latest occurrence that has ended at an instant.
    pub(super) fn before(self, time: Time) -> Option<Interval> {
        self.around(time).into_iter().rfind(|one| one.to <= time)
    }

    /// The first occurrence that begins at an instant or later.
    pub(super) fn after(self, time: Time) -> Option<Interval> {
        self.around(time).into_iter().find(|one| one.from >= time)
    }

    /// The occurrence of this number, from 1, among those that begin in a period.
    pub(super) fn nth_in(self, period: Interval, number: usize) -> Option<Interval> {
        if !(1..=NUMBER_MAX).contains(&number) {
            return None;
        }
        let mut one = self.after(period.from)?;
        for _ in 1..number {
            one = self.after(one.from.checked_add(1)?).filter(|one| period.contains(one.from))?;
        }
        period.contains(one.from).then_some(one)
    }

    /// The last occurrence that begins in a period.
    pub(super) fn last_in(self, period: Interval) -> Option<Interval> {
        self.around(period.to).into_iter().rfind(|one| period.contains(one.from))
    }

    /// The unit of the calendar in which "this" one is sought.
    pub(super) fn frame(self) -> Cycle {
        match self {
            Self::Weekday(_) | Self::Weekend => Self::Unit(Unit::Week),
            Self::DayOfMonth(_) => Self::Unit(Unit::Month),
            Self::Part(_) | Self::Clock(..) => Self::Unit(Unit::Day),
            _ => Self::Unit(Unit::Year),
        }
    }

    /// The occurrences around an instant, in order; some on each side, where the calendar has any.
    fn around(self, time: Time) -> Vec<Interval> {
        match self {
            Self::Unit(unit) => units(unit, time),
            Self::AnySeason => seasons(time),
            Self::Weekday(day) => parts_of(Unit::Week, time, day * DAY, (day + 1) * DAY),
            Self::Weekend => parts_of(Unit::Week, time, 5 * DAY, 7 * DAY),
            Self::Clock(from, length) => parts_of(Unit::Day, time, from, from + length),
            Self::Part(part) => {
                units(Unit::Day, time).into_iter().filter_map(|day| part.of(day)).collect()
            }
            Self::DayOfMonth(day) => {
                let months = units(Unit::Month, time).into_iter();
                months.filter_map(|month| day_of(month.from, day)).collect()
            }
            _ => {
                let Some(year) = civil(time).map(|civil| civil.year()) else { return Vec::new() };
                let years = year.saturating_sub(YEARS)..=year.saturating_add(YEARS);
                years.filter_map(|year| self.in_year(year)).collect()
            }
        }
    }

    /// The occurrence that begins in a year, of what recurs by the year.
    fn in_year(self, year: i16) -> Option<Interval> {
        match self {
            Self::Month(month) => months(year, month, 1),
            Self::Season(month) => months(year, month, 3),
            Self::Quarter(number) => months(year, number * 3 - 2, 3),
            Self::MonthDay(month, day) => whole_day(Date::new(year, month, day).ok()?),
            Self::Holiday(holiday) => whole_day(holiday.date(year)?),
            _ => None,
        }
    }
}

/// So many years on each side hold a 29 February: 1896 and 1904 are neighbours.
const YEARS: i16 = 9;
/// The largest number of an occurrence that is counted up to.
const NUMBER_MAX: usize = 1_000;
/// So many units on each side.
const UNITS: i64 = 6;

impl Holiday {
    fn date(self, year: i16) -> Option<Date> {
        match self {
            Self::Fixed(month, day) => Date::new(year, month, day).ok(),
            Self::Easter(days) => easter(year)?.checked_add(days.days()).ok(),
            Self::Thanksgiving(days) => {
                let day = Date::new(year, 11, 1).ok()?;
                day.nth_weekday_of_month(4, Weekday::Thursday).ok()?.checked_add(days.days()).ok()
            }
        }
    }
}

/// Easter Sunday of the Gregorian calendar (J. Meeus, "Astronomical Algorithms", chapter 8).
fn easter(year: i16) -> Option<Date> {
    let y = i32::from(year);
    let (a, b, c) = (y.rem_euclid(19), y.div_euclid(100), y.rem_euclid(100));
    let (d, e) = (b.div_euclid(4), b.rem_euclid(4));
    let g = (b - (b + 8).div_euclid(25) + 1).div_euclid(3);
    let h = (19 * a + b - d - g + 15).rem_euclid(30);
    let l = (32 + 2 * e + 2 * (c / 4) - h - c % 4).rem_euclid(7);
    let m = (a + 11 * h + 22 * l) / 451;
    let n = h + l - 7 * m + 114;
    Date::new(year, i8::try_from(n / 31).ok()?, i8::try_from(n % 31 + 1).ok()?).ok()
}

/// A day as a period.
pub(super) fn whole_day(date: Date) -> Option<Interval> {
    let from = from_date(date)?;
    Interval::new(from, from.checked_add(DAY)?)
}

/// A year as a period.
pub(super) fn whole_year(year: i64) -> Option<Interval> {
    months(i16::try_from(year).ok()?, 1, 12)
}

/// Some months as a period.
pub(super) fn months(year: i16, month: i8, count: i64) -> Option<Interval> {
    let from = from_date(Date::new(year, month, 1).ok()?)?;
    Interval::new(from, Duration::new(count, 0, 0).add_to(from)?)
}

/// The day of a month that begins at an instant.
fn day_of(month: Time, day: i8) -> Option<Interval> {
    let first = civil(month)?.date();
    whole_day(Date::new(first.year(), first.month(), day).ok()?)
}

/// The units around an instant.
fn units(unit: Unit, time: Time) -> Vec<Interval> {
    let length = match unit {
        Unit::Century => Duration::new(1200, 0, 0),
        Unit::Decade => Duration::new(120, 0, 0),
        Unit::Year => Duration::new(12, 0, 0),
        Unit::Quarter => Duration::new(3, 0, 0),
        Unit::Month => Duration::new(1, 0, 0),
        Unit::Week => Duration::new(0, 7, 0),
        Unit::Day => Duration::new(0, 1, 0),
        Unit::Hour => Duration::new(0, 0, HOUR),
        Unit::Minute => Duration::new(0, 0, HOUR / 60),
        Unit::Second => Duration::new(0, 0, HOUR / 3600),
        _ => Duration::new(0, 0, 1000),
    };
    unit.floor(time).map_or_else(Vec::new, |floor| steps(floor, length))
}

/// The seasons around an instant: quarters that begin a month earlier.
fn seasons(time: Time) -> Vec<Interval> {
    let month = |count| Duration::new(count, 0, 0);
    let floor = Unit::Month
        .floor(time)
        .and_then(|first| month(1).add_to(first))
        .and_then(|moved| Unit::Quarter.floor(moved))
        .and_then(|quarter| month(-1).add_to(quarter));
    floor.map_or_else(Vec::new, |floor| steps(floor, month(3)))
}

/// Periods of a length on both sides of the one that begins at an instant.
fn steps(floor: Time, length: Duration) -> Vec<Interval> {
    let step = |count| length.times(count)?.add_to(floor);
    (-UNITS..=UNITS).filter_map(|count| Interval::new(step(count)?, step(count + 1)?)).collect()
}

/// The same part of each unit around an instant, by its distance from the beginning.
fn parts_of(unit: Unit, time: Time, from: i64, to: i64) -> Vec<Interval> {
    let part =
        |unit: Interval| Interval::new(unit.from.checked_add(from)?, unit.from.checked_add(to)?);
    units(unit, time).into_iter().filter_map(part).collect()
}

/// The year an instant lies in.
pub(super) fn year_of(time: Time) -> Option<i64> {
    field(time, "year")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn easter_sundays() {
        for (year, month, day) in [
            (1818, 3, 22),
            (1943, 4, 25),
            (1961, 4, 2),
            (2000, 4, 23),
            (2019, 4, 21),
            (2023, 4, 9),
            (2024, 3, 31),
            (2038, 4, 25),
        ] {
            assert_eq!(easter(year), Date::new(year, month, day).ok(), "{year}");
        }
        assert!((-9999..=9999).all(|year| easter(year).is_some()));
    }
}
