//! Instants, text to microseconds and back; durations, periods and phrases of time.
//!
//! Pure arithmetic in UTC: nothing here knows of expressions, plans or the disk.
//! [`wall`] is the one place that reads the clock; it is called by `database`, `session` and
//! `import`, once per statement or batch, and by nothing below them.

mod duration;
mod field;
mod period;
mod phrase;

use std::time::SystemTime;

use engraph_storage::graph::{Interval, Time};
use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Span, Timestamp};

pub(crate) use self::{
    duration::{DAY, Duration},
    field::{FIELDS, field, truncate},
    period::{Allen, PeriodPredicate},
    phrase::{find, is_season, is_weekday, month, number, when},
};

/// The day of the instant 0.
const EPOCH: Date = jiff::civil::date(1970, 1, 1);
/// Days from the first of March of the year -400 to it.
const DAYS_TO_EPOCH: i64 = 146_097 + 719_468;

/// How an instant may be written.
pub(crate) const FORMS: &str =
    "write 2023-05-08, 2023-05-08 13:56, 2023-05-08T13:56:00Z or with an offset such as +02:00";

/// The instant that a text names: a date (its first instant), a date and a time of day, or either
/// with an offset; UTC where no offset is given.
pub(crate) fn parse(text: &str) -> Option<Time> {
    if let Some(instant) = plain(text) {
        return Some(instant);
    }
    let text = text.trim();
    let clock = text.find(['T', 't', ' ']).map_or("", |at| &text[at..]);
    if !is_possible(clock) {
        return None;
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.as_microsecond());
    }
    // An offset, or the name of a time zone, which would be passed over here.
    if clock.contains(['+', '-']) || text.contains('[') {
        return None;
    }
    // Instants of jiff end before the years do, so some in UTC are none of them.
    let local = if clock.is_empty() { text } else { text.strip_suffix('Z').unwrap_or(text) };
    if let Ok(date_time) = local.parse::<DateTime>() {
        return from_civil(date_time);
    }
    text.parse::<Date>().ok().or_else(|| early_date(text)).and_then(from_date)
}

/// The offset that a text with a time of day has, such as `-08:00`; none if it has no other than UTC.
pub(crate) fn offset(text: &str) -> Option<String> {
    let seconds = Pieces::parse(text.trim()).ok()?.to_numeric_offset()?.seconds();
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    (minutes != 0).then(|| format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

/// How many microseconds a clock with an offset such as `-08:00` is ahead of UTC.
pub(crate) fn ahead(offset: &str) -> Option<Time> {
    let (utc, there) = ("1970-01-01T00:00:00", offset.trim());
    is_possible(there).then(|| parse(&format!("{utc}{there}")))?.map(|instant| -instant)
}

/// Whether a time of day has no second 60, which would be another one, and no offset of more than 18
/// hours, which no place on earth has.
fn is_possible(clock: &str) -> bool {
    let (time, offset) = match clock.find(['+', '-']) {
        Some(at) => (&clock[..at], Some(clock[at + 1..].replace(':', ""))),
        None => (clock, None),
    };
    // "13:56:60" and "135660".
    let digits: String = time.chars().filter(char::is_ascii_digit).take(6).collect();
    let minutes = |offset: &String| {
        let part = |at: usize| offset.get(at..at + 2).and_then(|part| part.parse::<u16>().ok());
        Some(60 * part(0)? + part(2).unwrap_or(0))
    };
    digits.get(4..) != Some("60")
        && offset.as_ref().and_then(minutes).is_none_or(|minutes| minutes <= 18 * 60)
}

/// What a text that [`parse`] refuses is not.
pub(crate) fn refused(text: &str) -> String {
    if has_short_year(text) {
        return format!("the year of '{}' is written with four digits", text.trim());
    }
    let day = text.trim().get(..10).unwrap_or_default();
    let is_day = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    match !day.is_empty() && day.bytes().enumerate().all(is_day) && day.parse::<Date>().is_err() {
        true => format!("the calendar has no day {day}"),
        false => format!("'{text}' is no instant"),
    }
}

/// The instant of `2023-05-08T13:56:00Z`, the form in which tables have them by the million.
fn plain(text: &str) -> Option<Time> {
    let text: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    if marks.iter().any(|(at, mark)| text[*at] != *mark) {
        return None;
    }
    let two_digits = |at: usize| {
        let [tens, ones] = [text[at], text[at + 1]].map(|digit| digit.wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then(|| i64::from(10 * tens + ones))
    };
    let year = 100 * two_digits(0)? + two_digits(2)?;
    let day = day_number(year, two_digits(5)?, two_digits(8)?)?;
    let [hour, minute, second] = [two_digits(11)?, two_digits(14)?, two_digits(17)?];
    let is_clock = hour < 24 && minute < 60 && second < 60;
    is_clock.then_some(day * DAY + (3_600 * hour + 60 * minute + second) * duration::SECOND)
}

/// Days from that of the instant 0 to one of the Gregorian calendar, whose year is not negative; none if there is no
/// such day. A year begins in March here, so that the day of leap years is its last one, and 400 years are alike
/// (Hinnant, "chrono-compatible low-level date algorithms", 2013, `days_from_civil`).
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    // From the year -400 on, so that none is negative.
    let (year, month) = if month > 2 { (year + 400, month - 3) } else { (year + 399, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - DAYS_TO_EPOCH)
}

/// Digits of a year after the year 0, at least.
const YEAR_DIGITS_MIN: usize = 3;

/// Whether a text is three numbers as a date has them, of which the first has too few digits for a year.
pub(crate) fn has_short_year(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.as_slice(), [year, ..] if parts.len() == 3 && year.len() < YEAR_DIGITS_MIN)
        && parts.iter().all(is_number)
}

/// A date whose year has three digits, or lies before the year 0: `-423-05-01`.
fn early_date(text: &str) -> Option<Date> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    // A number may have a sign, and a part of a date has none.
    if digits.contains('+') {
        return None;
    }
    // `05-08-23` is hardly of the year 5.
    if sign > 0 && digits.find('-').is_some_and(|year| year < YEAR_DIGITS_MIN) {
        return None;
    }
    let mut parts = digits.split('-').map(str::parse::<i16>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let rest = parts.next();
    let date = Date::new(sign * year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    rest.is_none().then_some(date)
}

/// The instant at which a day begins, UTC.
pub(crate) fn from_date(date: Date) -> Option<Time> {
    from_civil(date.to_datetime(jiff::civil::time(0, 0, 0, 0)))
}

/// The instant of a date and a time of day, UTC.
pub(crate) fn from_civil(date_time: DateTime) -> Option<Time> {
    let days = date_time.date().since(EPOCH).ok()?.get_days();
    let clock = date_time.time().duration_since(jiff::civil::Time::midnight());
    let clock = i64::try_from(clock.as_micros()).ok()?;
    i64::from(days).checked_mul(DAY)?.checked_add(clock)
}

/// The date and time of day of an instant, UTC; none outside the years -9999 to 9999.
pub(crate) fn civil(time: Time) -> Option<DateTime> {
    let days = i32::try_from(time.div_euclid(DAY)).ok()?;
    let date = EPOCH.checked_add(Span::new().try_days(days).ok()?).ok()?;
    let clock = SignedDuration::from_micros(time.rem_euclid(DAY));
    Some(date.to_datetime(jiff::civil::Time::midnight().checked_add(clock).ok()?))
}

/// The instant by RFC 3339 in UTC; open ends are none.
pub(crate) fn format(time: Time) -> Option<String> {
    if time == Interval::MIN || time == Interval::MAX {
        return None;
    }
    Some(rfc3339(time).unwrap_or_else(|| format!("{time} microseconds")))
}

/// The instant by RFC 3339 in UTC, to the microsecond; none if its year has more than four digits.
pub(crate) fn rfc3339(time: Time) -> Option<String> {
    match Timestamp::from_microsecond(time) {
        Ok(instant) => Some(instant.to_string()),
        Err(_) => civil(time).map(|civil| format!("{civil}Z")),
    }
}

/// The instant that [`rfc3339`] wrote; none if the text says less or more.
pub(crate) fn from_rfc3339(text: &str) -> Option<Time> {
    let Ok(instant) = text.parse::<Timestamp>() else {
        let time = from_civil(text.strip_suffix('Z')?.parse().ok()?)?;
        return (rfc3339(time)? == text).then_some(time);
    };
    let time = instant.as_microsecond();
    (Timestamp::from_microsecond(time).ok() == Some(instant)).then_some(time)
}

/// The instant for a person: the date alone at midnight, `-∞` and `∞` for open ends.
pub(crate) fn short(time: Time) -> String {
    match time {
        Interval::MIN => "-∞".to_owned(),
        Interval::MAX => "∞".to_owned(),
        time => {
            let text = format(time).unwrap_or_default();
            text.strip_suffix("T00:00:00Z").unwrap_or(&text).to_owned()
        }
    }
}

/// What is wrong with a fact that holds at no instant.
pub(crate) fn ends_early(from: Time, to: Time) -> String {
    let when = if from == to { "as" } else { "before" };
    format!("the fact ends ({}) {when} it begins ({})", short(to), short(from))
}

/// The minute for who has just read another one: `2023-05-08 13:56` in UTC, the date alone at midnight;
/// of the same day the time of day, and nothing of the same minute.
pub(crate) fn beside(time: Time, before: Option<Time>) -> String {
    let minute = |time: Time| match time {
        Interval::MIN | Interval::MAX => time,
        time => time.saturating_sub(time.rem_euclid(60_000_000)),
    };
    let (time, before) = (minute(time), before.map(minute));
    if before == Some(time) {
        return String::new();
    }
    let text = short(time);
    let Some((day, clock)) = text.strip_suffix('Z').and_then(|text| text.split_once('T')) else {
        return text;
    };
    let clock = clock.strip_suffix(":00").filter(|clock| clock.len() == 5).unwrap_or(clock);
    match before.map(short).is_some_and(|before| before.split('T').next() == Some(day)) {
        true => clock.to_owned(),
        false => format!("{day} {clock}"),
    }
}

/// What the clock on the wall says, whatever year that is.
pub(crate) fn wall() -> Time {
    since_epoch(SystemTime::now())
}

/// The instant that a clock says; the first or the last one where it is beyond these.
pub(crate) fn since_epoch(clock: SystemTime) -> Time {
    let micros = |duration: std::time::Duration| i64::try_from(duration.as_micros());
    match clock.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => micros(since).unwrap_or(Time::MAX),
        Err(before) => micros(before.duration()).map_or(Time::MIN, |micros| -micros),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_say_anything() {
        let epoch = SystemTime::UNIX_EPOCH;
        let year = std::time::Duration::from_secs(366 * 24 * 60 * 60);
        let micros = |years: u32| i64::from(years) * 366 * DAY;
        assert_eq!(since_epoch(epoch + 8_100 * year), micros(8_100));
        assert_eq!(since_epoch(epoch - 50 * year), -micros(50));
        assert_eq!(since_epoch(epoch + 400_000 * year), Time::MAX);
    }

    #[test]
    fn forms_of_one_instant() {
        let instant = parse("2023-05-08T13:56:00Z").expect("parses");
        for text in [
            "2023-05-08 13:56",
            "2023-05-08T13:56",
            "2023-05-08T15:56:00+02:00",
            "2023-05-08T15:56:00+02:00[Europe/Berlin]",
        ] {
            assert_eq!(parse(text), Some(instant), "{text}");
        }
        assert_eq!(format(instant).as_deref(), Some("2023-05-08T13:56:00Z"));
        for text in
            ["2023-05-08T13:56:60Z", "20230508T135660Z", "2023-05-08T13:56+18:30", "2023-+5-8"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in ["2023-05-08T13:56:07Z", "0000-02-29T23:59:59Z", "9999-12-30T00:00:00Z"] {
            let by_jiff = text.parse::<Timestamp>().expect("parses").as_microsecond();
            assert_eq!(plain(text), Some(by_jiff), "{text}");
        }
        let wrong = ["2023-02-29T13:56:07Z", "2023-05-08T24:56:07Z", "2023-05-08T13:5x:07Z"];
        for text in wrong.into_iter().chain(["2023-05-08Tx3:56:07Z", "-423-05-01T00:00:00Z"]) {
            assert_eq!((plain(text), parse(text)), (None, None), "{text}");
        }
        assert_eq!(short(parse("2023-05-08").expect("parses")), "2023-05-08");
    }

    #[test]
    fn days_are_numbered_as_by_jiff() {
        let last = jiff::civil::date(9999, 12, 31);
        let days = jiff::civil::date(0, 1, 1).series(Span::new().days(1));
        let first = from_date(jiff::civil::date(0, 1, 1)).expect("is a day") / DAY;
        for (number, date) in (first..).zip(days.take_while(|date| *date <= last)) {
            let (year, month, day) = (date.year(), date.month(), date.day());
            let found = day_number(year.into(), month.into(), day.into());
            assert_eq!(found, Some(number), "{date}");
        }
        for (year, month, day) in (0..=400).flat_map(|year| {
            (0..=13).flat_map(move |month| (0..=32).map(move |day| (year, month, day)))
        }) {
            let is_day = Date::new(year, month, day).is_ok();
            let found = day_number(year.into(), month.into(), day.into());
            assert_eq!(found.is_some(), is_day, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn an_instant_beside_another() {
        let at = |text: &str| parse(text).expect("parses");
        let noon = at("2023-05-08 12:00");
        let shown = |text: &str, before| beside(at(text), before);
        assert_eq!(beside(noon, Some(noon)), "");
        assert_eq!(shown("2023-05-08 13:56", None), "2023-05-08 13:56");
        assert_eq!(shown("2023-05-08 13:56", Some(noon)), "13:56");
        assert_eq!(shown("2023-05-08 13:56:07.5", Some(noon)), "13:56");
        assert_eq!(shown("2023-05-08 12:00:59.9", Some(noon)), "");
        assert_eq!(shown("2023-05-08 13:00:00", Some(at("2023-05-08"))), "13:00");
        assert_eq!(shown("2023-05-09 12:00", Some(noon)), "2023-05-09 12:00");
        assert_eq!(shown("2023-05-08", Some(noon)), "2023-05-08");
        assert_eq!(shown("-000423-05-01T10:00:00Z", Some(noon)), "-000423-05-01 10:00");
        assert_eq!(beside(Interval::MAX, Some(noon)), "∞");
        assert_eq!(beside(noon, Some(Interval::MIN)), "2023-05-08 12:00");
    }

    #[test]
    fn early_years() {
        let shown = |text: &str| parse(text).map(short);
        assert_eq!(shown("360-01-02").as_deref(), Some("0360-01-02"));
        assert_eq!(shown("-423-05-01").as_deref(), Some("-000423-05-01"));
        assert_eq!(shown("-000423-05-01").as_deref(), Some("-000423-05-01"));
        assert_eq!([shown("05-08-23"), shown("5-5-5")], [None, None]);
        assert_eq!(refused("05-08-23"), "the year of '05-08-23' is written with four digits");
    }

    #[test]
    fn the_first_and_the_last_day_are_days_as_well() {
        for (text, shown) in [
            ("9999-12-31", "9999-12-31"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("9999-12-30 23:00", "9999-12-30T23:00:00Z"),
            ("-9999-01-01", "-009999-01-01"),
        ] {
            let instant = parse(text).expect(text);
            assert_eq!(short(instant), shown);
            assert_eq!(rfc3339(instant).as_deref().and_then(from_rfc3339), Some(instant), "{text}");
        }
        let last = parse("9999-12-31T23:59:59.999999Z").expect("parses");
        assert_eq!((civil(last + 1), rfc3339(last + 1)), (None, None));
        assert_eq!(from_rfc3339("9999-12-31T23:59:59.9999999Z"), None);
    }

    #[test]
    fn what_is_no_instant() {
        for text in [
            "",
            "yesterday",
            "2023-13-01",
            "2024-06-01T12:00:00[Europe/Berlin]",
            "2024-05-08Z",
            "9999-12-31T10:00:00+02:00",
            "-009999-01-01T10:00:00+02:00",
            "2023-02-30",
            "12",
            "1-2-3-4",
            "a-1-1",
            "--1-1-1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
