//! Periods told by the calendar: dates, months, quarters, seasons, years, decades, centuries.

use engraph_storage::graph::{Interval, Time};
use jiff::civil::Date;

use super::cycle::{Cycle, months, whole_day, whole_year, year_of};
use super::range::period;
use super::relative::directed;
use super::tokens::{Ending, Number};
use super::words::{DECADES, HOLIDAYS, MEASURES, MONTHS, ORDINALS, SEASONS, TENS, WEEKDAYS};
use super::{Period, Reader};
use crate::time::duration::{DAY, Duration};
use crate::time::{civil, from_date};

/// A period that recurs, by its name or as a unit: "May", "Friday", "week".
pub(super) fn cycle(r: &mut Reader<'_>) -> Option<Cycle> {
    r.attempt(named_cycle).or_else(|| r.named(MEASURES).map(|measure| measure.cycle))
}

fn named_cycle(r: &mut Reader<'_>) -> Option<Cycle> {
    let rules: [fn(&mut Reader<'_>) -> Option<Cycle>; 6] =
        [month_day, quarter, holiday, month, season, weekday];
    rules.into_iter().find_map(|rule| r.attempt(rule))
}

fn month(r: &mut Reader<'_>) -> Option<Cycle> {
    r.dotted(MONTHS).map(Cycle::Month)
}

fn season(r: &mut Reader<'_>) -> Option<Cycle> {
    r.named(SEASONS).map(Cycle::Season)
}

fn weekday(r: &mut Reader<'_>) -> Option<Cycle> {
    if r.word(&["weekend"]).is_some() {
        return Some(Cycle::Weekend);
    }
    r.dotted(WEEKDAYS).map(Cycle::Weekday)
}

fn holiday(r: &mut Reader<'_>) -> Option<Cycle> {
    let (_, holiday) = HOLIDAYS.iter().find(|(words, _)| r.words(words).is_some())?;
    Some(Cycle::Holiday(*holiday))
}

/// "Q2", "the second quarter".
fn quarter(r: &mut Reader<'_>) -> Option<Cycle> {
    let number = if r.word(&["q"]).is_some() {
        r.plain()?.value
    } else {
        let number = ordinal(r)?;
        r.word(&["quarter"])?;
        number
    };
    (1..=4).contains(&number).then_some(Cycle::Quarter(i8::try_from(number).ok()?))
}

/// "8 May", "the 8th of May", "May 8th", "Monday, 8 May".
fn month_day(r: &mut Reader<'_>) -> Option<Cycle> {
    weekday_of_date(r);
    if let Some(month) = r.dotted(MONTHS) {
        let _ = r.word(&["the"]);
        return Some(Cycle::MonthDay(month, day(r)?));
    }
    let day = day(r)?;
    let _ = r.word(&["of"]);
    r.dotted(MONTHS).map(|month| Cycle::MonthDay(month, day))
}

/// The weekday that a date repeats; the date alone counts.
fn weekday_of_date(r: &mut Reader<'_>) {
    if r.attempt(weekday).is_some() {
        let _ = r.mark(',');
    }
    let _ = r.word(&["the"]);
}

/// The number of a day.
fn day(r: &mut Reader<'_>) -> Option<i8> {
    let number = match r.attempt(ordinal) {
        Some(number) => number,
        None => r.plain().filter(|number| number.digits <= 2)?.value,
    };
    day_number(number)
}

fn day_number(number: i64) -> Option<i8> {
    i8::try_from(number).ok().filter(|day| (1..=31).contains(day))
}

/// "8th", "first", "twenty-first".
pub(super) fn ordinal(r: &mut Reader<'_>) -> Option<i64> {
    if let Some(number) = r.digits(&[Ending::Ordinal]) {
        return Some(number.value);
    }
    if let Some(number) = r.named(ORDINALS) {
        return Some(number);
    }
    let tens = r.named(TENS)?;
    let _ = r.mark('-');
    r.named(ORDINALS).filter(|small| *small < 10).map(|small| tens + small)
}

/// A named period with or without its year: "May", "8 May 2023", "the summer of last year".
pub(super) fn recurring(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let cycle = named_cycle(r)?;
    in_frame(r, cycle)
}

/// "the 1st", "Monday the 8th", "the 5th of last month".
pub(super) fn day_of_month(r: &mut Reader<'_>) -> Option<Period> {
    weekday_of_date(r);
    let number = r.digits(&[Ending::Ordinal])?.value;
    in_frame(r, Cycle::DayOfMonth(day_number(number)?))
}

/// The occurrence in the longer period that follows, or else the one a bare name means.
fn in_frame(r: &mut Reader<'_>, cycle: Cycle) -> Option<Period> {
    if let Some(span) = r.attempt(|r| cycle.nth_in(frame(r)?, 1)) {
        return Some(Period::anchored(span));
    }
    let span = if r.is_ahead { cycle.after(r.reference) } else { cycle.begun(r.reference) };
    Some(Period { span: span?, is_anchored: false })
}

/// The longer period that a named one lies in: ", 2023", "of last year", "this week".
fn frame(r: &mut Reader<'_>) -> Option<Interval> {
    let _ = r.mark(',');
    let told = r.word(&["of", "in"]).is_some();
    if let Some(span) = r.attempt(|r| whole_year(four_digits(r)?)) {
        return Some(span);
    }
    if !told {
        return Some(r.inner(directed)?.span);
    }
    Some(the_unit(r).or_else(|| r.inner(period))?.span)
}

/// "last year in May": the named period within the one just read.
pub(super) fn held_in(r: &mut Reader<'_>, span: Interval) -> Option<Interval> {
    r.attempt(|r| {
        let _ = r.mark(',');
        let _ = r.word(&["in", "on", "at"]);
        let _ = r.word(&["the"]);
        named_cycle(r)?.nth_in(span, 1)
    })
}

/// "the first week of May", "the last Friday of 2022".
pub(super) fn nth(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let number = if r.word(&["last"]).is_some() { None } else { Some(ordinal(r)?) };
    let cycle = cycle(r)?;
    r.word(&["of", "in"])?;
    let unit = the_unit(r);
    let _ = r.word(&["the"]);
    let frame = unit.or_else(|| r.inner(period))?;
    let span = match number {
        None => cycle.last_in(frame.span),
        Some(number) => cycle.nth_in(frame.span, usize::try_from(number).ok()?),
    };
    Some(Period { span: span?, ..frame })
}

/// "2023-05-08", "2023/05/08", "2023-05", "13/5/2023"; "3/4/2023" is from the earlier of the two days that it may be to
/// the later one.
pub(super) fn written_date(r: &mut Reader<'_>) -> Option<Period> {
    let first = r.plain()?;
    let mark = ['-', '/', '.'].into_iter().find(|mark| r.mark(*mark).is_some())?;
    let second = r.plain().filter(|number| number.digits <= 2)?;
    let third = r.attempt(|r| {
        r.mark(mark)?;
        r.plain()
    });
    let span = match (first.digits, third) {
        (4, None) if mark == '-' && second.digits == 2 => {
            months(i16::try_from(first.value).ok()?, i8::try_from(second.value).ok()?, 1)
        }
        (4, Some(day)) if day.digits <= 2 => date(first.value, second.value, day.value),
        (1 | 2, Some(year)) if year.digits == 4 => {
            let (a, b) = (first.value, second.value);
            match (a > 12, b > 12) {
                (true, false) => date(year.value, b, a),
                (false, true) => date(year.value, a, b),
                // Either of two days: what holds both.
                _ => {
                    let (one, other) = (date(year.value, a, b), date(year.value, b, a));
                    one.zip(other).map(|(one, other)| one.hull(&other))
                }
            }
        }
        _ => None,
    };
    Some(Period::anchored(span?))
}

fn date(year: i64, month: i64, day: i64) -> Option<Interval> {
    let (year, month) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?);
    whole_day(Date::new(year, month, i8::try_from(day).ok()?).ok()?)
}

/// A year of four digits that does not begin with 0.
fn four_digits(r: &mut Reader<'_>) -> Option<i64> {
    r.plain().filter(|year| year.digits == 4 && year.value >= 1000).map(|year| year.value)
}

/// "2019", "the year 2019".
pub(super) fn year(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let _ = r.word(&["year"]);
    Some(Period::anchored(whole_year(four_digits(r)?)?))
}

/// "the 1990s", "the 90s", "the nineties"; "the 1800s" is a century, "the 2000s" a decade.
pub(super) fn decade(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let first = match r.digits(&[Ending::Plural]) {
        Some(number) if number.digits == 4 => Some(number.value),
        Some(number) if number.digits == 2 => short_decade(number.value, r.reference),
        Some(_) => None,
        None => short_decade(r.named(DECADES)?, r.reference),
    };
    let first = first.filter(|year| year % 10 == 0)?;
    let years = if first % 100 == 0 && first != 2000 { 100 } else { 10 };
    Some(Period::anchored(months(i16::try_from(first).ok()?, 1, 12 * years)?))
}

/// The latest decade of these two digits that has begun.
fn short_decade(digits: i64, now: Time) -> Option<i64> {
    let year = year_of(now)?;
    let first = year - year.rem_euclid(100) + digits;
    Some(if first > year { first - 100 } else { first })
}

/// "the 19th century".
pub(super) fn century(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let number = ordinal(r).filter(|number| (1..=99).contains(number))?;
    let _ = r.mark('-');
    r.word(&["century"])?;
    Some(Period::anchored(months(i16::try_from((number - 1) * 100).ok()?, 1, 1200)?))
}

/// A third or a half of a period.
#[derive(Clone, Copy)]
enum Piece {
    /// The third of this number, from 0.
    Third(i64),
    Half(i64),
}

/// "early May 2023", "mid-2022", "the end of 2022", "the first half of last year".
pub(super) fn part_of_period(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let piece = piece(r)?;
    let _ = r.word(&["the"]);
    let whole = r.attempt(this_unit).or_else(|| r.inner(period))?;
    Some(Period { span: cut(whole.span, piece)?, ..whole })
}

/// "the end of the year": the year of the reference.
fn this_unit(r: &mut Reader<'_>) -> Option<Period> {
    let unit = r.named(MEASURES)?;
    Some(Period::anchored(unit.cycle.holding(r.reference)?))
}

/// "the month", behind "of".
fn the_unit(r: &mut Reader<'_>) -> Option<Period> {
    r.attempt(|r| {
        r.word(&["the"])?;
        this_unit(r)
    })
}

fn piece(r: &mut Reader<'_>) -> Option<Piece> {
    if let Some(word) = r.word(&["early", "mid", "middle", "late"]) {
        let _ = r.mark('-');
        let _ = r.word(&["of", "in"]);
        return Some(Piece::Third(match word {
            "early" => 0,
            "late" => 2,
            _ => 1,
        }));
    }
    if let Some(word) = r.word(&["beginning", "start", "end"]) {
        r.word(&["of"])?;
        return Some(Piece::Third(if word == "end" { 2 } else { 0 }));
    }
    let number = ordinal(r).filter(|number| (1..=2).contains(number))?;
    r.word(&["half"])?;
    r.word(&["of"])?;
    Some(Piece::Half(number - 1))
}

/// A piece of a period: in whole months where they divide it, in days for a month or a week.
fn cut(span: Interval, piece: Piece) -> Option<Interval> {
    let (number, pieces) = match piece {
        Piece::Third(number) => (number, 3),
        Piece::Half(number) => (number, 2),
    };
    let edge = |number: i64| match number {
        0 => Some(span.from),
        number if number == pieces => Some(span.to),
        number => inner_edge(span, number, pieces),
    };
    Interval::new(edge(number)?, edge(number + 1)?)
}

/// Where a piece of this number begins within a period.
fn inner_edge(span: Interval, number: i64, pieces: i64) -> Option<Time> {
    let length = Duration::between(span.from, span.to);
    let months = length.component("months")?;
    if length == Duration::new(months, 0, 0) && months % pieces == 0 {
        return Duration::new(months / pieces * number, 0, 0).add_to(span.from);
    }
    let length = span.to.checked_sub(span.from)?;
    let days = match (length / DAY, pieces) {
        (28..=31, 3) => 10 * number,
        (28..=31, 2) => 15,
        (7, 3) => 3 * number - 1,
        _ => return span.from.checked_add(length / pieces * number),
    };
    span.from.checked_add(days * DAY)
}

/// "May 8-10, 2023".
pub(super) fn month_and_days(r: &mut Reader<'_>) -> Option<Period> {
    let month = r.dotted(MONTHS)?;
    let first = day(r)?;
    if r.mark('-').is_none() {
        r.word(&["to", "until", "till", "through", "and"])?;
    }
    let last = Cycle::MonthDay(month, day(r)?);
    let year = r.attempt(|r| {
        let _ = r.mark(',');
        whole_year(four_digits(r)?)
    });
    let last = match year {
        Some(year) => last.nth_in(year, 1)?,
        None => last.begun(r.reference)?,
    };
    let from = Cycle::MonthDay(month, first).begun(last.from)?.from;
    Some(Period { span: Interval::new(from, last.to)?, is_anchored: year.is_some() })
}

/// From one year to another, both included.
pub(super) fn years(first: Number, last: Number) -> Option<Interval> {
    if first.digits != 4 || last.digits != 4 {
        return None;
    }
    Interval::new(whole_year(first.value)?.from, whole_year(last.value)?.to)
}

/// The day of this number in the month of a day.
pub(super) fn same_month(day: Interval, number: Number) -> Option<Time> {
    if day.to.checked_sub(day.from) != Some(DAY) {
        return None;
    }
    let last = civil(day.from)?.date();
    let first = Date::new(last.year(), last.month(), day_number(number.value)?).ok()?;
    from_date(first)
}
