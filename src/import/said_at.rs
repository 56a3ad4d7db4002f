//! When something was said, as files of chats write it.
//!
//! It reads the time of a turn, of a message or of a list of them, and never guesses one: what it cannot tell it refuses.

use engraph_storage::graph::Time;
use serde_json::{Map, Value as Json};

use crate::import::facts::instant;
use crate::import::turns::take;
use crate::time;

pub(super) const SECOND: Time = 1_000_000;

/// Where the time stands; the first one of these that is there.
pub(super) const NAMES: [&str; 10] = [
    "at",
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "sent_at",
    "datetime",
    "date",
    "time",
    "ts",
];
/// Digits that seconds since 1970 have since 1973: fewer may be a date, or seconds since something began.
const DIGITS_MIN: usize = 9;
/// Seconds since 1970 of any time that is likely meant: up to the year 2100.
const SECONDS_LIKELY: f64 = 4_102_444_800.0;
/// Digits of `202403081840`.
const DATE_WITH_CLOCK: usize = 12;
/// The first year that is likely meant.
const YEAR_MIN: i16 = 1000;

/// When something was said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SaidAt {
    pub(super) at: Time,
    /// How far the clock of that time is ahead of UTC, such as `-08:00`, if it is told.
    pub(super) offset: Option<String>,
}

/// Takes the time out of the fields of an object. A clock beside a day (`"date": "2024-03-08", "time": "18:40"`) is of it.
pub(super) fn take_time(
    fields: &mut Map<String, Json>,
) -> std::result::Result<Option<SaidAt>, String> {
    let Some(mut text) = take(fields, &NAMES)? else { return Ok(None) };
    let is_day = !text.contains(':') && instant(&text).is_ok();
    if let Some(Json::String(clock)) = fields.get("time").filter(|_| is_day)
        && let Some((hour, _)) = clock.trim().split_once(':')
    {
        let zero = if hour.len() == 1 { "0" } else { "" };
        text = format!("{}T{zero}{}", text.trim(), clock.trim());
        fields.remove("time");
    }
    Ok(Some(SaidAt { at: moment(&text)?, offset: time::offset(&text) }))
}

/// The instant of a text, or of a number of seconds since 1970.
fn moment(text: &str) -> std::result::Result<Time, String> {
    let reason = match instant(text) {
        Ok(at) if is_year_written(text, at) => return Ok(at),
        Ok(_) => {
            return Err(format!(
                "'{text}' is of a year before 1000; write its year with four digits"
            ));
        }
        Err(reason) => reason,
    };
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let Some(seconds) = text.parse::<f64>().ok().filter(|_| digits >= DIGITS_MIN) else {
        return Err(reason);
    };
    if seconds < SECONDS_LIKELY {
        return Ok((seconds * SECOND as f64).round() as Time);
    }
    if digits == DATE_WITH_CLOCK {
        return Err(format!(
            "{text} is no number of seconds since 1970; write a date as 2024-03-08T18:40"
        ));
    }
    let units = [(1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")];
    let likely = units.iter().find(|(scale, _)| (1e8..SECONDS_LIKELY).contains(&(seconds / scale)));
    let hint = likely.map_or(String::new(), |(_, unit)| format!(", but of {unit}"));
    Err(format!("{text} is no number of seconds since 1970{hint}"))
}

/// Whether the year is one that people have chatted in, or is written with four digits: `08-03-24` is not of the year 8.
fn is_year_written(text: &str, at: Time) -> bool {
    let is_late = time::civil(at).is_some_and(|civil| civil.year() >= YEAR_MIN);
    is_late || text.trim().bytes().take(4).all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> std::result::Result<Option<(String, Option<String>)>, String> {
        let mut fields: Map<String, Json> = serde_json::from_str(json).expect("is an object");
        let found = take_time(&mut fields)?;
        assert!(!fields.contains_key("time"), "{json}");
        Ok(found.map(|found| (time::rfc3339(found.at).expect("has a year"), found.offset)))
    }

    #[test]
    fn times_are_texts_or_seconds() {
        for (json, expected) in [
            (r#"{"at":"2025-05-01T12:03:00Z"}"#, "2025-05-01T12:03:00Z"),
            (r#"{"at":1746100920.75}"#, "2025-05-01T12:02:00.75Z"),
            (r#"{"ts":"1746100920"}"#, "2025-05-01T12:02:00Z"),
            (r#"{"date":"20240308"}"#, "2024-03-08T00:00:00Z"),
            (r#"{"date":"2024-03-08","time":"18:40"}"#, "2024-03-08T18:40:00Z"),
            (r#"{"date":"2024-03-08","time":"18:40:05"}"#, "2024-03-08T18:40:05Z"),
            (r#"{"date":"2024-03-08","time":"9:05"}"#, "2024-03-08T09:05:00Z"),
            (r#"{"created_at":null,"time":"0012-05-01"}"#, "0012-05-01T00:00:00Z"),
        ] {
            let (at, offset) = told(json).expect(json).expect("has one");
            assert_eq!((at.as_str(), offset), (expected, None), "{json}");
        }
        let there = told(r#"{"at":"2024-03-02T23:30:00-05:00"}"#).expect("is read");
        assert_eq!(there, Some(("2024-03-03T04:30:00Z".to_owned(), Some("-05:00".to_owned()))));
        assert_eq!(told(r#"{"text":"Hi!"}"#), Ok(None));
    }

    #[test]
    fn what_may_be_another_time_is_refused() {
        for text in
            ["2025", "0", "3.2", "-1", "42", "08-03-24", "202403081840", "soon", "nan", "inf"]
        {
            assert!(moment(text).is_err(), "{text}");
        }
        let parts: &str = r#"{"date":"2024-03-08","time":"6:40 PM"}"#;
        assert!(told(parts).is_err(), "{parts}");
        let reason = moment("1746100860000").expect_err("is no number of seconds");
        assert!(reason.ends_with("but of milliseconds"), "{reason}");
    }
}
