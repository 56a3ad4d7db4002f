//! The words of English time phrases, as tables.

use super::cycle::{Cycle, Holiday, Part};
use crate::time::duration::{DAY, Duration, HOUR, MINUTE, SECOND};
use crate::time::field::Unit;

/// A unit that periods are counted in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// The period of that unit.
    pub(super) cycle: Cycle,
    /// How long one is.
    pub(super) length: Duration,
    /// The next smaller unit, in which half of it is told.
    pub(super) finer: Unit,
}

const fn measure(unit: Unit, length: Duration, finer: Unit) -> Measure {
    Measure { cycle: Cycle::Unit(unit), length, finer }
}

pub(super) const MEASURES: &[(&str, Measure)] = &[
    ("second", measure(Unit::Second, Duration::new(0, 0, SECOND), Unit::Millisecond)),
    ("sec", measure(Unit::Second, Duration::new(0, 0, SECOND), Unit::Millisecond)),
    ("minute", measure(Unit::Minute, Duration::new(0, 0, MINUTE), Unit::Second)),
    ("min", measure(Unit::Minute, Duration::new(0, 0, MINUTE), Unit::Second)),
    ("hour", measure(Unit::Hour, Duration::new(0, 0, HOUR), Unit::Minute)),
    ("day", measure(Unit::Day, Duration::new(0, 1, 0), Unit::Hour)),
    ("week", measure(Unit::Week, Duration::new(0, 7, 0), Unit::Day)),
    ("fortnight", measure(Unit::Week, Duration::new(0, 14, 0), Unit::Week)),
    ("month", measure(Unit::Month, Duration::new(1, 0, 0), Unit::Day)),
    ("quarter", measure(Unit::Quarter, Duration::new(3, 0, 0), Unit::Month)),
    (
        "season",
        Measure { cycle: Cycle::AnySeason, length: Duration::new(3, 0, 0), finer: Unit::Month },
    ),
    ("year", measure(Unit::Year, Duration::new(12, 0, 0), Unit::Month)),
    ("decade", measure(Unit::Decade, Duration::new(120, 0, 0), Unit::Year)),
    ("century", measure(Unit::Century, Duration::new(1200, 0, 0), Unit::Decade)),
    ("centurie", measure(Unit::Century, Duration::new(1200, 0, 0), Unit::Decade)),
];

pub(super) const MONTHS: &[(&str, i8)] = &[
    ("january", 1),
    ("february", 2),
    ("march", 3),
    ("april", 4),
    ("may", 5),
    ("june", 6),
    ("july", 7),
    ("august", 8),
    ("september", 9),
    ("october", 10),
    ("november", 11),
    ("december", 12),
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("sept", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
];

/// Monday is 0.
pub(super) const WEEKDAYS: &[(&str, i64)] = &[
    ("monday", 0),
    ("tuesday", 1),
    ("wednesday", 2),
    ("thursday", 3),
    ("friday", 4),
    ("saturday", 5),
    ("sunday", 6),
    ("mon", 0),
    ("tue", 1),
    ("tues", 1),
    ("wed", 2),
    ("thu", 3),
    ("thur", 3),
    ("thurs", 3),
    ("fri", 4),
    ("sat", 5),
    ("sun", 6),
];

/// The first month of each season, meteorological and of the northern hemisphere.
pub(super) const SEASONS: &[(&str, i8)] =
    &[("spring", 3), ("summer", 6), ("autumn", 9), ("fall", 9), ("winter", 12)];

pub(super) const PARTS: &[(&str, Part)] = &[
    ("morning", Part::Morning),
    ("afternoon", Part::Afternoon),
    ("evening", Part::Evening),
    ("night", Part::Night),
];

/// Longer names stand before those they begin with.
pub(super) const HOLIDAYS: &[(&[&str], Holiday)] = &[
    (&["christmas", "eve"], Holiday::Fixed(12, 24)),
    (&["christmas", "day"], Holiday::Fixed(12, 25)),
    (&["christmas"], Holiday::Fixed(12, 25)),
    (&["xmas", "eve"], Holiday::Fixed(12, 24)),
    (&["xmas"], Holiday::Fixed(12, 25)),
    (&["boxing", "day"], Holiday::Fixed(12, 26)),
    (&["new", "year", "eve"], Holiday::Fixed(12, 31)),
    (&["new", "years", "eve"], Holiday::Fixed(12, 31)),
    (&["new", "year", "day"], Holiday::Fixed(1, 1)),
    (&["new", "years", "day"], Holiday::Fixed(1, 1)),
    (&["new", "year"], Holiday::Fixed(1, 1)),
    (&["new", "years"], Holiday::Fixed(1, 1)),
    (&["halloween"], Holiday::Fixed(10, 31)),
    (&["valentine", "day"], Holiday::Fixed(2, 14)),
    (&["valentines", "day"], Holiday::Fixed(2, 14)),
    (&["good", "friday"], Holiday::Easter(-2)),
    (&["easter", "sunday"], Holiday::Easter(0)),
    (&["easter", "monday"], Holiday::Easter(1)),
    (&["easter"], Holiday::Easter(0)),
    (&["shrove", "tuesday"], Holiday::Easter(-47)),
    (&["pancake", "tuesday"], Holiday::Easter(-47)),
    (&["ash", "wednesday"], Holiday::Easter(-46)),
    (&["palm", "sunday"], Holiday::Easter(-7)),
    (&["thanksgiving", "day"], Holiday::Thanksgiving(0)),
    (&["thanksgiving", "eve"], Holiday::Thanksgiving(-1)),
    (&["thanksgiving"], Holiday::Thanksgiving(0)),
    (&["black", "friday"], Holiday::Thanksgiving(1)),
    (&["cyber", "monday"], Holiday::Thanksgiving(4)),
];

pub(super) const SMALL: &[(&str, i64)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
];

pub(super) const TENS: &[(&str, i64)] = &[
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

pub(super) const ORDINALS: &[(&str, i64)] = &[
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("eleventh", 11),
    ("twelfth", 12),
    ("thirteenth", 13),
    ("fourteenth", 14),
    ("fifteenth", 15),
    ("sixteenth", 16),
    ("seventeenth", 17),
    ("eighteenth", 18),
    ("nineteenth", 19),
    ("twentieth", 20),
    ("thirtieth", 30),
];

/// The last two digits of the first year of a decade.
pub(super) const DECADES: &[(&str, i64)] = &[
    ("twenties", 20),
    ("thirties", 30),
    ("forties", 40),
    ("fifties", 50),
    ("sixties", 60),
    ("seventies", 70),
    ("eighties", 80),
    ("nineties", 90),
];

/// Days from today.
pub(super) const DAYS: &[(&str, i64)] = &[("yesterday", -1), ("today", 0), ("tomorrow", 1)];

/// Times of day by name, in microseconds since midnight.
pub(super) const HOURS: &[(&str, i64)] = &[("midnight", 0), ("noon", DAY / 2), ("midday", DAY / 2)];

/// What may stand before a period without changing it.
pub(super) const PREPOSITIONS: &[&str] =
    &["in", "on", "at", "during", "over", "throughout", "within", "for", "around", "about"];
