//! Fields of an instant and the beginning of the calendar unit it lies in, as in openCypher, UTC.
//!
//! Instants outside the years -9999 to 9999, such as open ends, have no fields.

use engraph_storage::graph::Time;
use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::duration::{DAY, HOUR, MINUTE, SECOND};

/// The names of the fields.
pub(crate) const FIELDS: &[&str] = &[
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "dayOfWeek",
    "ordinalDay",
    "epochSeconds",
    "epochMillis",
];

/// A field of an instant by its name in any letter case. Weeks are ISO 8601's, Monday is day 1 of
/// the week, milliseconds and microseconds are of the second.
pub(crate) fn field(time: Time, name: &str) -> Option<i64> {
    let civil = super::civil(time)?;
    Some(match name.to_ascii_lowercase().as_str() {
        "year" => civil.year().into(),
        "quarter" => ((civil.month() - 1) / 3 + 1).into(),
        "month" => civil.month().into(),
        "week" => civil.date().iso_week_date().week().into(),
        "day" => civil.day().into(),
        "hour" => civil.hour().into(),
        "minute" => civil.minute().into(),
        "second" => civil.second().into(),
        "millisecond" => time.rem_euclid(SECOND) / 1000,
        "microsecond" => time.rem_euclid(SECOND),
        "dayofweek" => civil.weekday().to_monday_one_offset().into(),
        "ordinalday" => civil.day_of_year().into(),
        "epochseconds" => time.div_euclid(SECOND),
        "epochmillis" => time.div_euclid(1000),
        _ => return None,
    })
}

/// The beginning of the unit that an instant lies in: the units of openCypher's
/// `datetime.truncate`, from millennium to microsecond, in any letter case.
pub(crate) fn truncate(unit: &str, time: Time) -> Option<Time> {
    Unit::parse(unit)?.floor(time)
}

/// A unit of the calendar or the clock. Centuries and decades begin with the year that ends in
/// zeros, weeks with Monday, and a week year with the week of its first Thursday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Millennium,
    Century,
    Decade,
    Year,
    WeekYear,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
}

impl Unit {
    fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "millennium" => Self::Millennium,
            "century" => Self::Century,
            "decade" => Self::Decade,
            "year" => Self::Year,
            "weekyear" => Self::WeekYear,
            "quarter" => Self::Quarter,
            "month" => Self::Month,
            "week" => Self::Week,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "minute" => Self::Minute,
            "second" => Self::Second,
            "millisecond" => Self::Millisecond,
            "microsecond" => Self::Microsecond,
            _ => return None,
        })
    }

    /// The beginning of the unit that an instant lies in.
    pub(super) fn floor(self, time: Time) -> Option<Time> {
        let civil = super::civil(time)?;
        let (date, year) = (civil.date(), civil.year());
        let years = |length: i16| Date::new(year.checked_sub(year.rem_euclid(length))?, 1, 1).ok();
        let floor = match self {
            Self::Millennium => years(1000),
            Self::Century => years(100),
            Self::Decade => years(10),
            Self::Year => years(1),
            Self::WeekYear => {
                let year = date.iso_week_date().year();
                ISOWeekDate::new(year, 1, Weekday::Monday).ok().map(ISOWeekDate::date)
            }
            Self::Quarter => Date::new(year, (date.month() - 1) / 3 * 3 + 1, 1).ok(),
            Self::Month => Some(date.first_of_month()),
            Self::Week => date.checked_sub(date.weekday().to_monday_zero_offset().days()).ok(),
            Self::Day => return cut(time, DAY),
            Self::Hour => return cut(time, HOUR),
            Self::Minute => return cut(time, MINUTE),
            Self::Second => return cut(time, SECOND),
            Self::Millisecond => return cut(time, 1000),
            Self::Microsecond => return Some(time),
        };
        super::from_date(floor?)
    }
}

fn cut(time: Time, length: i64) -> Option<Time> {
    time.checked_sub(time.rem_euclid(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNITS: [&str; 14] = [
        "millennium",
        "century",
        "decade",
        "year",
        "weekYear",
        "quarter",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "millisecond",
        "MICROSECOND",
    ];

    fn at(text: &str) -> Time {
        super::super::parse(text).expect(text)
    }

    #[test]
    fn fields() {
        let values = |text: &str| {
            FIELDS.iter().map(|name| field(at(text), name).expect("a field")).collect::<Vec<_>>()
        };
        let expected =
            [2023, 2, 5, 19, 8, 13, 56, 7, 250, 250_001, 1, 128, 1_683_554_167, 1_683_554_167_250];
        assert_eq!(values("2023-05-08T13:56:07.250001"), expected);
        let early = [-1, 4, 12, 52, 31, 23, 59, 59, 999, 999_000, 5, 365];
        assert_eq!(values("-000001-12-31T23:59:59.999")[..12], early);
        assert_eq!(values("1969-12-31T23:59:59.9995")[12..], [-1, -1]);
    }

    #[test]
    fn names_in_any_letter_case() {
        assert_eq!(field(0, "DAYOFWEEK"), Some(4));
        assert_eq!(field(0, "dayofweek"), Some(4));
        assert_eq!(field(0, "weekday"), None);
        assert_eq!(truncate("days", 0), None);
        for end in [Time::MIN, Time::MAX] {
            assert_eq!(field(end, "year"), None);
            assert!(UNITS.iter().all(|unit| truncate(unit, end).is_none()));
        }
    }

    #[test]
    fn truncation() {
        let time = at("2023-05-10T13:56:07.654321");
        for (unit, floor) in UNITS.iter().zip([
            "2000-01-01",
            "2000-01-01",
            "2020-01-01",
            "2023-01-01",
            "2023-01-02",
            "2023-04-01",
            "2023-05-01",
            "2023-05-08",
            "2023-05-10",
            "2023-05-10T13:00",
            "2023-05-10T13:56",
            "2023-05-10T13:56:07",
            "2023-05-10T13:56:07.654",
            "2023-05-10T13:56:07.654321",
        ]) {
            assert_eq!(truncate(unit, time), Some(at(floor)), "{unit}");
        }
        assert_eq!(truncate("decade", at("-000003-06-01")), Some(at("-000010-01-01")));
        assert_eq!(truncate("weekYear", at("2023-01-01")), Some(at("2022-01-03")));
        assert_eq!(truncate("hour", at("1969-12-31T23:30")), Some(at("1969-12-31T23:00")));
    }

    proptest! {
        #[test]
        fn truncation_goes_back_and_stays(second in -377_000_000_000..253_000_000_000_i64) {
            let time = second * SECOND + 654_321;
            for unit in UNITS {
                let Some(floor) = truncate(unit, time) else { continue };
                prop_assert!(floor <= time);
                prop_assert_eq!(truncate(unit, floor), Some(floor));
            }
        }

        #[test]
        fn any_instant(time: i64) {
            for name in FIELDS.iter().chain(&UNITS) {
                let _ = (field(time, name), truncate(name, time));
            }
        }
    }
}
