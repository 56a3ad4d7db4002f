//! The time axis under an evidence graph: which instants are named, and where they lie.
//!
//! It only counts; drawing is elsewhere.

use engraph::Interval;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// How many instants are named at most.
const TICKS_MAX: i64 = 8;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The instants between two ends, in microseconds, that an axis shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    from: i64,
    to: i64,
}

/// What lies between two ticks.
#[derive(Clone, Copy)]
enum Step {
    Microseconds(i64),
    Months(i64),
}

/// From fine to coarse.
const STEPS: &[Step] = &[
    Step::Microseconds(SECOND),
    Step::Microseconds(10 * SECOND),
    Step::Microseconds(MINUTE),
    Step::Microseconds(10 * MINUTE),
    Step::Microseconds(HOUR),
    Step::Microseconds(6 * HOUR),
    Step::Microseconds(DAY),
    Step::Microseconds(2 * DAY),
    Step::Microseconds(5 * DAY),
    Step::Microseconds(10 * DAY),
    Step::Months(1),
    Step::Months(3),
    Step::Months(6),
    Step::Months(12),
    Step::Months(24),
    Step::Months(60),
    Step::Months(120),
    Step::Months(240),
    Step::Months(600),
    Step::Months(1200),
    Step::Months(6000),
    Step::Months(12_000),
];

impl Axis {
    /// An axis that shows all bounds of these intervals, with room for open ends; none if every
    /// end is open.
    pub(super) fn over(intervals: impl Iterator<Item = Interval>) -> Option<Self> {
        let bounds = intervals.flat_map(|valid| [valid.from, valid.to]);
        let known = bounds.filter(|bound| !matches!(*bound, Interval::MIN | Interval::MAX));
        let ends = known.fold(None, |ends: Option<(i64, i64)>, bound| match ends {
            Some((from, to)) => Some((from.min(bound), to.max(bound))),
            None => Some((bound, bound)),
        });
        let (from, to) = ends?;
        let room = (to.saturating_sub(from) / 10).max(if from == to { 30 * DAY } else { 1 });
        Some(Self { from: from.saturating_sub(room), to: to.saturating_add(room) })
    }

    /// The first and the last instant that it shows.
    pub(super) fn ends(&self) -> (i64, i64) {
        (self.from, self.to)
    }

    /// Where an instant lies, from 0 to 1; what is beyond an end lies on it.
    pub(super) fn at(&self, time: i64) -> f64 {
        let span = i128::from(self.to) - i128::from(self.from);
        let passed = i128::from(time) - i128::from(self.from);
        (passed as f64 / span.max(1) as f64).clamp(0.0, 1.0)
    }

    /// Round instants within, each with its name; none where the calendar ends.
    pub(super) fn ticks(&self) -> Vec<(i64, String)> {
        let span = self.to.saturating_sub(self.from);
        let is_enough = |step: &&Step| span / step.length() <= TICKS_MAX;
        let Some(&step) = STEPS.iter().find(is_enough) else { return Vec::new() };
        let Some(first) = step.first(self.from) else { return Vec::new() };
        let ticks = (0..=TICKS_MAX).map_while(|count| step.time(first.checked_add(count)?));
        let within = ticks.filter(|time| (self.from..=self.to).contains(time));
        within.filter_map(|time| Some((time, step.name(time)?))).collect()
    }
}

impl Step {
    /// About how long it is, in microseconds.
    fn length(self) -> i64 {
        match self {
            Self::Microseconds(length) => length,
            Self::Months(count) => count * 30 * DAY,
        }
    }

    /// How many steps lie before the first tick at or after a time, counted from a fixed one.
    fn first(self, time: i64) -> Option<i64> {
        match self {
            Self::Microseconds(length) => Some(time.div_euclid(length) + 1),
            Self::Months(count) => {
                let date = date(time)?;
                let months = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
                Some(months.div_euclid(count) + 1)
            }
        }
    }

    fn time(self, steps: i64) -> Option<i64> {
        match self {
            Self::Microseconds(length) => steps.checked_mul(length),
            Self::Months(count) => {
                let months = steps.checked_mul(count)?;
                let year = i16::try_from(months.div_euclid(12)).ok()?;
                let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
                let zoned = Date::new(year, month, 1).ok()?.to_zoned(TimeZone::UTC).ok()?;
                Some(zoned.timestamp().as_microsecond())
            }
        }
    }

    /// No finer than the step.
    fn name(self, time: i64) -> Option<String> {
        let date = date(time)?;
        let (year, month, day) = (date.year(), date.month(), date.day());
        let second = time.rem_euclid(DAY) / SECOND;
        let clock = format!("{:02}:{:02}", second / 3600, second / 60 % 60);
        Some(match self {
            Self::Months(count) if count % 12 == 0 => format!("{year}"),
            Self::Months(_) => format!("{year}-{month:02}"),
            Self::Microseconds(DAY..) => format!("{year}-{month:02}-{day:02}"),
            Self::Microseconds(MINUTE..) => format!("{month:02}-{day:02} {clock}"),
            Self::Microseconds(_) => format!("{clock}:{:02}", second % 60),
        })
    }
}

fn date(time: i64) -> Option<Date> {
    let instant = Timestamp::from_microsecond(time).ok()?;
    Some(instant.to_zoned(TimeZone::UTC).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> i64 {
        text.parse::<Timestamp>().expect("an instant").as_microsecond()
    }

    fn names(from: &str, to: &str) -> String {
        let axis = Axis { from: time(from), to: time(to) };
        let names: Vec<_> = axis.ticks().into_iter().map(|(_, name)| name).collect();
        names.join(" ")
    }

    #[test]
    fn ticks_are_round_and_few() {
        let years = names("2018-02-01T00:00:00Z", "2026-05-01T00:00:00Z");
        assert_eq!(years, "2019 2020 2021 2022 2023 2024 2025 2026");
        let months = names("2023-01-15T00:00:00Z", "2023-06-15T00:00:00Z");
        assert_eq!(months, "2023-02 2023-03 2023-04 2023-05 2023-06");
        let days = names("2023-01-30T12:00:00Z", "2023-02-02T12:00:00Z");
        assert_eq!(days, "2023-01-31 2023-02-01 2023-02-02");
        let hours = names("2023-01-30T11:30:00Z", "2023-01-30T14:30:00Z");
        assert_eq!(hours, "01-30 12:00 01-30 13:00 01-30 14:00");
        let seconds = names("2023-01-30T11:30:00Z", "2023-01-30T11:30:03Z");
        assert_eq!(seconds, "11:30:01 11:30:02 11:30:03");
        let early = names("-000423-01-01T00:00:00Z", "-000400-01-01T00:00:00Z");
        assert_eq!(early, "-420 -415 -410 -405 -400");
    }

    #[test]
    fn any_axis_is_bounded() {
        let whole = Axis { from: i64::MIN + 1, to: i64::MAX - 1 };
        assert!(whole.ticks().len() <= 9);
        assert_eq!(whole.at(i64::MIN), 0.0);
        assert_eq!(whole.at(i64::MAX), 1.0);
        assert!(Axis { from: 0, to: 1 }.ticks().len() <= 1);
    }

    #[test]
    fn an_axis_shows_all_bounds() {
        let open = Interval { from: Interval::MIN, to: Interval::MAX };
        assert_eq!(Axis::over([open].into_iter()), None);
        let half = Interval { from: 100, to: Interval::MAX };
        let axis = Axis::over([open, half].into_iter()).expect("a bound");
        assert!(axis.from < 100 && axis.to > 100);
        let closed = Interval { from: 0, to: 1000 };
        let axis = Axis::over([half, closed].into_iter()).expect("bounds");
        assert_eq!((axis.from, axis.to), (-100, 1100));
        assert_eq!((axis.at(-100), axis.at(500), axis.at(i64::MAX)), (0.0, 0.5, 1.0));
    }
}
