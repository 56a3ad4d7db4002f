//! A period as the words that stand in a sentence for it.

use engraph_storage::graph::{Interval, Time};

use crate::time::{self, DAY};

/// A period in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// `7 May 2023`.
    Day(String),
    /// `May 2023`.
    Month(String),
    /// `2022`.
    Year(String),
    /// `1 to 7 May 2023`.
    Range(String),
}

impl Written {
    pub(super) fn new(span: Interval) -> Option<Self> {
        if span.from == Interval::MIN || span.to == Interval::MAX {
            let (word, time) = match (span.from, span.to) {
                (Interval::MIN, Interval::MAX) => return None,
                (Interval::MIN, to) => ("until", to.checked_sub(1)?),
                (from, _) => ("since", from),
            };
            return Some(Self::Range(format!("{word} {}", Day::of(time)?.whole())));
        }
        let (first, last) = (Day::of(span.from)?, Day::of(span.to.checked_sub(1)?)?);
        let length = span.to.checked_sub(span.from)?;
        let is_whole = span.from % DAY == 0 && span.to % DAY == 0;
        let is_month = first.day == 1 && is_whole && (28 * DAY..=31 * DAY).contains(&length);
        Some(if first == last || length <= DAY {
            Self::Day(first.whole())
        } else if is_month && first.month == last.month {
            Self::Month(format!("{} {}", first.month, first.year))
        } else if first.year == last.year && is_whole && length >= 365 * DAY {
            Self::Year(first.year.to_string())
        } else if first.year != last.year {
            Self::Range(format!("{} to {}", first.whole(), last.whole()))
        } else if first.month != last.month {
            Self::Range(format!("{} {} to {}", first.day, first.month, last.whole()))
        } else {
            Self::Range(format!("{} to {}", first.day, last.whole()))
        })
    }
}

/// A day by its parts.
#[derive(PartialEq, Eq)]
struct Day {
    day: i8,
    month: &'static str,
    year: i16,
}

impl Day {
    fn of(time: Time) -> Option<Self> {
        let date = time::civil(time)?.date();
        let names = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let month = usize::try_from(date.month()).ok()?.checked_sub(1)?;
        Some(Self { day: date.day(), month: names.get(month)?, year: date.year() })
    }

    fn whole(&self) -> String {
        format!("{} {} {}", self.day, self.month, self.year)
    }
}
