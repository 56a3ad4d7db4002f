//! Calendar durations: months, days and time of day, as in ISO 8601 and openCypher.
//!
//! The three are kept apart because months and days differ in length: a month added to 31 January
//! is 28 February. A day is 24 hours here, as UTC has no clock changes. Nothing reads the clock.

use std::fmt;

use engraph_storage::graph::Time;
use jiff::civil::{Date, DateTime};

pub(super) const SECOND: i64 = 1_000_000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// The average month of the Gregorian calendar: 30.436875 days, openCypher's rule.
const MONTH: i64 = 2_629_746 * SECOND;
const MONTH_DAYS: f64 = 30.436_875;

/// A length of time in months, days and microseconds, each with its own sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Duration {
    months: i64,
    days: i64,
    micros: i64,
}

impl Duration {
    pub(crate) const fn new(months: i64, days: i64, micros: i64) -> Self {
        Self { months, days, micros }
    }

    /// The duration that a text of ISO 8601 names: `P1Y2M10DT2H30M1.5S`, `P2W`, `-P3D`, `P-3D`.
    ///
    /// The last component may have a fraction, which is carried down: a month is 30.436875 days, a
    /// day 24 hours. What is smaller than a microsecond is dropped. None if it is no such text, or
    /// larger than the three numbers hold.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (sign, rest) = signed(text.trim());
        let rest = rest.strip_prefix(['P', 'p'])?;
        let mut total = Total::default();
        match rest.split_once(['T', 't']) {
            None => total.read(rest, &DATE)?,
            Some((date, time)) => {
                if !date.is_empty() {
                    total.read(date, &DATE)?;
                }
                total.read(time, &TIME)?;
            }
        }
        let whole = |value: i128| i64::try_from(sign * value).ok();
        Some(Self::new(whole(total.months)?, whole(total.days)?, whole(total.micros)?))
    }

    /// The instant this long after another, UTC: months first, where the day is cut to the end of
    /// its month, then days, then the rest. None outside the years -9999 to 9999.
    pub(crate) fn add_to(self, time: Time) -> Option<Time> {
        let civil = super::civil(time)?;
        let start = match self.months {
            0 => time,
            months => super::from_civil(move_months(civil, months)?)?,
        };
        let rest = i128::from(self.days) * i128::from(DAY) + i128::from(self.micros);
        let moved = i64::try_from(i128::from(start) + rest).ok()?;
        super::civil(moved).map(|_| moved)
    }

    /// As long, the other way; none if a number overflows.
    pub(crate) fn negated(self) -> Option<Self> {
        self.times(-1)
    }

    /// The sum, part by part; none if a part overflows.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        Some(Self::new(
            self.months.checked_add(other.months)?,
            self.days.checked_add(other.days)?,
            self.micros.checked_add(other.micros)?,
        ))
    }

    /// The difference, part by part; none if a part overflows.
    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        Some(Self::new(
            self.months.checked_sub(other.months)?,
            self.days.checked_sub(other.days)?,
            self.micros.checked_sub(other.micros)?,
        ))
    }

    /// A whole multiple, part by part; none if a part overflows.
    pub(crate) fn times(self, factor: i64) -> Option<Self> {
        Some(Self::new(
            self.months.checked_mul(factor)?,
            self.days.checked_mul(factor)?,
            self.micros.checked_mul(factor)?,
        ))
    }

    /// A multiple whose fractions are carried down, from months to days to microseconds; none if
    /// the factor is no number or a part overflows.
    pub(crate) fn scaled(self, factor: f64) -> Option<Self> {
        if factor.fract() == 0.0
            && let Some(factor) = whole(factor)
        {
            return self.times(factor);
        }
        let (months, rest) = split(self.months as f64 * factor);
        let (days, rest) = split(self.days as f64 * factor + rest * MONTH_DAYS);
        let micros = self.micros as f64 * factor + rest * DAY as f64;
        Some(Self::new(whole(months)?, whole(days)?, whole(micros.round())?))
    }

    /// A part of it, whose fractions are carried down as by [`Self::scaled`], and exact for a whole
    /// divisor; none if the divisor is zero or no number, or a part overflows.
    pub(crate) fn divided(self, divisor: f64) -> Option<Self> {
        let whole = whole(divisor).filter(|_| divisor.fract() == 0.0);
        let Some(whole) = whole else { return self.scaled(1.0 / divisor) };
        let by = i128::from(whole);
        let (months, rest) = (i128::from(self.months), i128::from(MONTH));
        let days = i128::from(self.days) * i128::from(DAY) + months.checked_rem(by)? * rest;
        let day = by * i128::from(DAY);
        let micros = divided_to_nearest(i128::from(self.micros) + days % day, by)?;
        let part = |value: i128| i64::try_from(value).ok();
        Some(Self::new(part(months / by)?, part(days / day)?, part(micros)?))
    }

    /// From one instant to another: whole months, then whole days, then the rest, all of one sign
    /// (`duration.between` of openCypher). Added to the first it gives the second. Instants outside
    /// the years -9999 to 9999 are days apart, not months.
    pub(crate) fn between(from: Time, to: Time) -> Self {
        let months = whole_months(from, to).unwrap_or(0);
        let start = Self::new(months, 0, 0).add_to(from).unwrap_or(from);
        let rest = to.saturating_sub(start);
        Self::new(months, rest / DAY, rest % DAY)
    }

    /// The whole months from one instant to another (`duration.inMonths`).
    pub(crate) fn in_months(from: Time, to: Time) -> Self {
        Self::new(whole_months(from, to).unwrap_or(0), 0, 0)
    }

    /// The whole days from one instant to another (`duration.inDays`).
    pub(crate) fn in_days(from: Time, to: Time) -> Self {
        Self::new(0, to.saturating_sub(from) / DAY, 0)
    }

    /// The time from one instant to another, to the microsecond (`duration.inSeconds`).
    pub(crate) fn in_seconds(from: Time, to: Time) -> Self {
        Self::new(0, 0, to.saturating_sub(from))
    }

    /// A component by its openCypher name in any letter case, towards zero; `days` never counts
    /// months, nor `hours` days. None if there is no such component.
    pub(crate) fn component(&self, name: &str) -> Option<i64> {
        Some(match name.to_ascii_lowercase().as_str() {
            "years" => self.months / 12,
            "quarters" => self.months / 3,
            "months" => self.months,
            "weeks" => self.days / 7,
            "days" => self.days,
            "hours" => self.micros / HOUR,
            "minutes" => self.micros / MINUTE,
            "seconds" => self.micros / SECOND,
            "milliseconds" => self.micros / 1000,
            "microseconds" => self.micros,
            "quartersofyear" => self.months / 3 % 4,
            "monthsofyear" => self.months % 12,
            "monthsofquarter" => self.months % 3,
            "daysofweek" => self.days % 7,
            "minutesofhour" => self.micros / MINUTE % 60,
            "secondsofminute" => self.micros / SECOND % 60,
            "millisecondsofsecond" => self.micros / 1000 % 1000,
            "microsecondsofsecond" => self.micros % SECOND,
            _ => return None,
        })
    }

    /// The average length in microseconds, by which durations are ordered; two different durations
    /// may be as long.
    pub(crate) fn approximate_micros(self) -> i128 {
        i128::from(self.months) * i128::from(MONTH)
            + i128::from(self.days) * i128::from(DAY)
            + i128::from(self.micros)
    }
}

impl fmt::Display for Duration {
    /// ISO 8601: `P1Y2M10DT2H30M1.5S`, `PT0S` for none, a sign on each negative component.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::new(0, 0, 0) {
            return f.write_str("PT0S");
        }
        f.write_str("P")?;
        part(f, self.months / 12, 'Y')?;
        part(f, self.months % 12, 'M')?;
        part(f, self.days, 'D')?;
        if self.micros == 0 {
            return Ok(());
        }
        f.write_str("T")?;
        part(f, self.micros / HOUR, 'H')?;
        part(f, self.micros / MINUTE % 60, 'M')?;
        let rest = self.micros % MINUTE;
        if rest == 0 {
            return Ok(());
        }
        let (seconds, micros) = (rest.abs() / SECOND, rest.abs() % SECOND);
        let shown = format!("{seconds}.{micros:06}");
        let sign = if rest < 0 { "-" } else { "" };
        write!(f, "{sign}{}S", shown.trim_end_matches('0').trim_end_matches('.'))
    }
}

fn part(f: &mut fmt::Formatter<'_>, value: i64, unit: char) -> fmt::Result {
    if value == 0 { Ok(()) } else { write!(f, "{value}{unit}") }
}

/// What one of a unit is.
#[derive(Clone, Copy)]
enum Size {
    Months(i128),
    Days(i128),
    Micros(i128),
}

const DATE: [(char, Size); 4] =
    [('Y', Size::Months(12)), ('M', Size::Months(1)), ('W', Size::Days(7)), ('D', Size::Days(1))];
const TIME: [(char, Size); 3] = [
    ('H', Size::Micros(HOUR as i128)),
    ('M', Size::Micros(MINUTE as i128)),
    ('S', Size::Micros(SECOND as i128)),
];

/// The components read so far; wide enough that no text of bounded digits overflows.
#[derive(Default)]
struct Total {
    months: i128,
    days: i128,
    micros: i128,
    /// A fraction was read: no component may follow.
    ended: bool,
}

impl Total {
    /// Reads components in the order of the units, one at least.
    fn read(&mut self, mut text: &str, units: &[(char, Size)]) -> Option<()> {
        let mut units = units.iter();
        loop {
            if self.ended {
                return None;
            }
            let (sign, rest) = signed(text);
            let end = rest.find(|c: char| !matches!(c, '0'..='9' | '.' | ','))?;
            let (number, rest) = rest.split_at_checked(end)?;
            let unit = rest.chars().next()?.to_ascii_uppercase();
            let (_, size) = units.find(|(name, _)| *name == unit)?;
            self.add(sign, number, *size)?;
            text = rest.get(1..)?;
            if text.is_empty() {
                return Some(());
            }
        }
    }

    fn add(&mut self, sign: i128, number: &str, size: Size) -> Option<()> {
        let (whole, fraction) = match number.split_once(['.', ',']) {
            None => (number, None),
            Some((whole, fraction)) => (whole, Some(fraction)),
        };
        if whole.is_empty() || whole.len() > 20 {
            return None;
        }
        let whole = sign * whole.parse::<i128>().ok()?;
        match size {
            Size::Months(months) => self.months += whole * months,
            Size::Days(days) => self.days += whole * days,
            Size::Micros(micros) => self.micros += whole * micros,
        }
        if let Some(digits) = fraction {
            self.ended = true;
            self.carry(sign, digits, size)?;
        }
        Some(())
    }

    /// Adds a fraction of a unit, carried down to the units below it.
    fn carry(&mut self, sign: i128, digits: &str, size: Size) -> Option<()> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.get(..18).unwrap_or(digits);
        let base = 10_i128.pow(u32::try_from(digits.len()).ok()?);
        let numerator = digits.parse::<i128>().ok()?;
        let (day, month) = (i128::from(DAY), i128::from(MONTH));
        let (months, days, micros) = match size {
            Size::Months(unit) => {
                let rest = numerator * unit % base * month / base;
                (numerator * unit / base, rest / day, rest % day)
            }
            Size::Days(unit) => (0, numerator * unit / base, numerator * unit % base * day / base),
            Size::Micros(unit) => (0, 0, numerator * unit / base),
        };
        self.months += sign * months;
        self.days += sign * days;
        self.micros += sign * micros;
        Some(())
    }
}

fn signed(text: &str) -> (i128, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The nearest whole number to a quotient, away from zero where two are as near.
fn divided_to_nearest(value: i128, by: i128) -> Option<i128> {
    let (quotient, rest) = (value.checked_div(by)?, value.checked_rem(by)?);
    let is_up = 2 * rest.abs() >= by.abs();
    Some(quotient + if is_up { value.signum() * by.signum() } else { 0 })
}

/// A number towards zero and what is left; an error of the last bits does not lose a whole.
fn split(value: f64) -> (f64, f64) {
    let nearest = value.round();
    if (value - nearest).abs() < 1e-12 {
        return (nearest, 0.0);
    }
    (value.trunc(), value.fract())
}

fn whole(value: f64) -> Option<i64> {
    (value.abs() < i64::MAX as f64).then_some(value as i64)
}

/// Some months later, the day cut to the end of its month.
fn move_months(civil: DateTime, months: i64) -> Option<DateTime> {
    let date = civil.date();
    let month = month_number(date).checked_add(months)?;
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    let first = Date::new(year, i8::try_from(month.rem_euclid(12) + 1).ok()?, 1).ok()?;
    let day = date.day().min(first.days_in_month());
    let moved = Date::new(first.year(), first.month(), day).ok()?;
    Some(moved.to_datetime(civil.time()))
}

/// Months since January of the year 0.
fn month_number(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// The whole months between two instants: a month is whole once its day and time of day are
/// reached. The end is first moved to the time of day of the start, so that the rest has one sign.
fn whole_months(from: Time, to: Time) -> Option<i64> {
    super::civil(to)?;
    let aligned = to - to.rem_euclid(DAY) + from.rem_euclid(DAY);
    let aligned = match to {
        to if to >= from && aligned > to => aligned - DAY,
        to if to < from && aligned < to => aligned + DAY,
        _ => aligned,
    };
    let (from, to) = (super::civil(from)?.date(), super::civil(aligned)?.date());
    let months = month_number(to) - month_number(from);
    Some(match months {
        1.. if to.day() < from.day() => months - 1,
        ..=-1 if to.day() > from.day() => months + 1,
        _ => months,
    })
}

#[cfg(test)]
mod tests;
