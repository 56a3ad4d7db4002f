//! Instants: text to microseconds and back.
//!
//! It never reads the clock; that is done once per statement, in `database`.

use engraph_storage::graph::{Interval, Time};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// How an instant may be written.
pub(crate) const FORMS: &str =
    "write 2023-05-08, 2023-05-08 13:56, 2023-05-08T13:56:00Z or with an offset such as +02:00";

/// The instant that a text names: a date (its first instant), a date and a time of day, or either
/// with an offset; UTC where no offset is given.
pub(crate) fn parse(text: &str) -> Option<Time> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.as_microsecond());
    }
    if let Ok(date_time) = text.parse::<DateTime>() {
        return from_civil(date_time);
    }
    text.parse::<Date>()
        .ok()
        .and_then(|date| from_civil(date.to_datetime(jiff::civil::time(0, 0, 0, 0))))
}

/// The instant at which a day begins, UTC.
pub(crate) fn from_date(date: Date) -> Option<Time> {
    from_civil(date.to_datetime(jiff::civil::time(0, 0, 0, 0)))
}

pub(crate) fn from_civil(date_time: DateTime) -> Option<Time> {
    let zoned = date_time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

/// The instant by RFC 3339 in UTC; open ends are none.
pub(crate) fn format(time: Time) -> Option<String> {
    if time == Interval::MIN || time == Interval::MAX {
        return None;
    }
    Some(match Timestamp::from_microsecond(time) {
        Ok(instant) => instant.to_string(),
        Err(_) => format!("{time} microseconds"),
    })
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

/// What the clock on the wall says.
pub(crate) fn wall() -> Time {
    Timestamp::now().as_microsecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_instant() {
        let instant = parse("2023-05-08T13:56:00Z").expect("parses");
        for text in ["2023-05-08 13:56", "2023-05-08T13:56", "2023-05-08T15:56:00+02:00"] {
            assert_eq!(parse(text), Some(instant), "{text}");
        }
        assert_eq!(format(instant).as_deref(), Some("2023-05-08T13:56:00Z"));
        assert_eq!(short(parse("2023-05-08").expect("parses")), "2023-05-08");
    }

    #[test]
    fn what_is_no_instant() {
        for text in ["", "yesterday", "2023-13-01", "2023-02-30", "12"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
