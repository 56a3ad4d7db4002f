//! Dates with unknown parts, as YAGO writes them: `1952-##-##`, `19##-##-##`, `-431-##-##`.

use engraph_storage::graph::{Interval, Time};
use jiff::civil::Date;

use crate::time;

/// When a date with unknown parts may be: from its first instant, before the instant after its
/// last. None if it is no such date or wholly unknown.
pub(super) fn period(text: &str) -> Option<(Time, Time)> {
    if time::has_short_year(text) {
        return None;
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let parts: Vec<&str> = digits.split('-').collect();
    let (year, month, day) = match *parts.as_slice() {
        [year, month, day] => (year, month, day),
        // `20240131` is a day too.
        [day] if day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()) => {
            (&day[..4], &day[4..6], &day[6..])
        }
        _ => return None,
    };
    let (first, last) = years(sign, year)?;
    let month: i8 = if month == "##" { 0 } else { month.parse().ok()? };
    let day: i8 = if day == "##" { 0 } else { day.parse().ok()? };
    let begin = Date::new(first, month.max(1), day.max(1)).ok()?;
    let end = match (month, day) {
        (0, _) => Date::new(last, 12, 31).ok()?,
        (_, 0) => Date::new(last, month, 1).ok()?.last_of_month(),
        (_, _) => Date::new(last, month, day).ok()?,
    };
    let behind = time::from_date(end)?.checked_add(time::DAY)?;
    // Behind the last day of the years there is no date.
    let behind = if time::civil(behind).is_some() { behind } else { Interval::MAX };
    Some((time::from_date(begin)?, behind))
}

/// The first and last year that a year with unknown last digits may be.
fn years(sign: i16, year: &str) -> Option<(i16, i16)> {
    let known = year.trim_end_matches('#');
    let unknown = u32::try_from(year.len() - known.len()).ok()?;
    if known.is_empty() || !known.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let span = 10_i16.checked_pow(unknown)?;
    let low = known.parse::<i16>().ok()?.checked_mul(span)?;
    let high = low.checked_add(span - 1)?;
    Some(if sign > 0 { (low, high) } else { (-high, -low) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<(String, String)> {
        period(text).map(|(from, to)| (time::short(from), time::short(to)))
    }

    #[test]
    fn unknown_parts_widen_the_period() {
        let pair = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(shown("1945-11-07"), pair("1945-11-07", "1945-11-08"));
        assert_eq!(shown("19451107"), pair("1945-11-07", "1945-11-08"));
        assert_eq!(shown("1952-12-##"), pair("1952-12-01", "1953-01-01"));
        assert_eq!(shown("1952-##-##"), pair("1952-01-01", "1953-01-01"));
        assert_eq!(shown("19##-##-##"), pair("1900-01-01", "2000-01-01"));
        assert_eq!(shown("360-##-##"), pair("0360-01-01", "0361-01-01"));
        assert_eq!(shown("9999-##-##"), pair("9999-01-01", "∞"));
        assert_eq!(shown("-431-##-##"), pair("-000431-01-01", "-000430-01-01"));
    }

    #[test]
    fn what_is_no_such_date() {
        for text in
            ["####-##-##", "", "1952", "1952-13-01", "x-##-##", "1952-01-01-01", "99999-##-##"]
        {
            assert_eq!(period(text), None, "{text}");
        }
    }
}
