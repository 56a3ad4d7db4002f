//! Durations as they are written, what is none, and their arithmetic.

use proptest::prelude::*;

use super::*;

fn duration(text: &str) -> Duration {
    Duration::parse(text).expect(text)
}

fn at(text: &str) -> Time {
    super::super::parse(text).expect(text)
}

#[test]
fn texts() {
    for (text, shown) in [
        ("P3D", "P3D"),
        ("P1Y2M10DT2H30M1.5S", "P1Y2M10DT2H30M1.5S"),
        ("PT0.5S", "PT0.5S"),
        ("P2W", "P14D"),
        ("-P1DT1H", "P-1DT-1H"),
        ("P-1DT1H", "P-1DT1H"),
        ("-P-1D", "P1D"),
        ("p14m", "P1Y2M"),
        ("PT90M", "PT1H30M"),
        ("PT-0.25S", "PT-0.25S"),
        ("PT0,75M", "PT45S"),
        ("P0.75M", "P22DT19H51M49.5S"),
        ("P2.5W", "P17DT12H"),
        ("P1.5Y", "P1Y6M"),
        ("PT0.0000019S", "PT0.000001S"),
        ("P0D", "PT0S"),
        ("PT9223372036854.775807S", "PT2562047788H54.775807S"),
    ] {
        assert_eq!(duration(text).to_string(), shown, "{text}");
    }
}

#[test]
fn what_is_no_duration() {
    for text in [
        "",
        "P",
        "PT",
        "P1DT",
        "1D",
        "P1",
        "P1H",
        "PT1D",
        "P1D1Y",
        "P1.5DT1H",
        "P.5D",
        "P1.D",
        "P1.2.3D",
        "P1Dx",
        "P--1D",
        "PT9223372036854.775808S",
        "P99999999999999999999D",
        "P99999999999999999999999999999999999999Y",
        "P1é",
    ] {
        assert_eq!(Duration::parse(text), None, "{text}");
    }
}

#[test]
fn addition_clamps_the_day_before_it_adds_days() {
    for (time, text, sum) in [
        ("2023-01-31", "P1M", "2023-02-28"),
        ("2024-01-31", "P1M", "2024-02-29"),
        ("2023-01-31", "P1M1D", "2023-03-01"),
        ("2024-02-29", "P1Y", "2025-02-28"),
        ("2023-03-31 10:00", "-P1MT1H", "2023-02-28 09:00"),
        ("0001-01-15", "P-1M", "0000-12-15"),
    ] {
        assert_eq!(duration(text).add_to(at(time)), Some(at(sum)), "{time} + {text}");
    }
    assert_eq!(duration("P9000Y").add_to(at("2023-01-01")), None);
    assert_eq!(Duration::new(i64::MAX, 0, 0).add_to(0), None);
    assert_eq!(Duration::new(0, i64::MAX, i64::MAX).add_to(0), None);
    assert_eq!(duration("P1D").add_to(Time::MAX), None);
}

#[test]
fn between_two_instants() {
    for (from, to, shown) in [
        ("2015-07-21T21:40:32.142", "2015-06-24", "P-27DT-21H-40M-32.142S"),
        ("1984-10-11", "2015-06-24", "P30Y8M13D"),
        ("2023-01-31", "2023-03-01", "P1M1D"),
        ("2023-01-31", "2023-02-28", "P28D"),
        ("2023-03-31 10:00", "2023-02-28 12:00", "P-30DT-22H"),
        ("2023-05-08 13:56", "2024-05-08 13:55", "P11M29DT23H59M"),
        ("2023-05-08", "2023-05-08", "PT0S"),
    ] {
        assert_eq!(Duration::between(at(from), at(to)).to_string(), shown, "{from} {to}");
    }
    let (from, to) = (at("2023-01-01"), at("2024-03-01 12:00"));
    assert_eq!(Duration::in_months(from, to).to_string(), "P1Y2M");
    assert_eq!(Duration::in_days(from, to).to_string(), "P425D");
    assert_eq!(Duration::in_seconds(from, to).to_string(), "PT10212H");
    assert_eq!(Duration::between(Time::MIN, Time::MAX).months, 0);
}

#[test]
fn arithmetic() {
    let (a, b) = (duration("P1M2DT3S"), duration("P1DT1S"));
    assert_eq!(a.plus(b), Some(duration("P1M3DT4S")));
    assert_eq!(a.minus(b), Some(duration("P1M1DT2S")));
    assert_eq!(a.times(3), Some(duration("P3M6DT9S")));
    assert_eq!(a.negated(), Some(duration("-P1M2DT3S")));
    assert_eq!(duration("P1M").scaled(0.75), Some(duration("P0.75M")));
    assert_eq!(duration("P1D").scaled(0.1), Some(duration("PT2H24M")));
    assert_eq!(duration("P558502D").divided(49.0), Some(duration("P11398D")));
    assert_eq!(duration("P1Y").divided(-5.0), Some(duration("-P2.4M")));
    assert_eq!(duration("P1DT1H").divided(2.0), Some(duration("PT12H30M")));
    assert_eq!(duration("PT48H").divided(2.0), Some(duration("PT24H")));
    assert_eq!(duration("PT0.000005S").divided(2.0), Some(duration("PT0.000003S")));
    assert_eq!(duration("-PT0.000005S").divided(2.0), Some(duration("-PT0.000003S")));
    assert_eq!(duration("P3D").divided(1.5), Some(duration("P2D")));
    assert_eq!(duration("P3D").divided(0.0), None);
    assert_eq!(duration("P1Y").scaled(-0.5), Some(duration("-P6M")));
    assert_eq!(duration("P100M").scaled(0.29), Some(duration("P29M")));
    let odd = Duration::new(0, 0, i64::MAX - 1);
    assert_eq!(odd.scaled(1.0), Some(odd));
    for factor in [f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(a.scaled(factor), None);
    }
    assert_eq!(Duration::new(i64::MIN, 0, 0).negated(), None);
    assert_eq!(Duration::new(0, 0, i64::MAX).plus(b), None);
}

#[test]
fn components() {
    let whole = duration("P1Y5M16DT25H3M4.500600S");
    for (name, value) in [
        ("years", 1),
        ("quarters", 5),
        ("months", 17),
        ("weeks", 2),
        ("days", 16),
        ("hours", 25),
        ("minutes", 1503),
        ("seconds", 90_184),
        ("milliseconds", 90_184_500),
        ("microseconds", 90_184_500_600),
        ("quartersOfYear", 1),
        ("monthsOfYear", 5),
        ("MONTHSOFQUARTER", 2),
        ("daysOfWeek", 2),
        ("minutesOfHour", 3),
        ("secondsOfMinute", 4),
        ("millisecondsOfSecond", 500),
        ("microsecondsOfSecond", 500_600),
    ] {
        assert_eq!(whole.component(name), Some(value), "{name}");
    }
    assert_eq!(whole.component("day"), None);
}

#[test]
fn order_is_by_average_length() {
    let length = |text| duration(text).approximate_micros();
    assert!(length("P30D") < length("P1M") && length("P1M") < length("P31D"));
    assert_eq!(length("P1D"), length("PT24H"));
    assert_eq!(length("-P1M"), -length("P1M"));
}

/// Instants of the years -8000 to 8000.
fn instants() -> impl Strategy<Value = Time> {
    -250_000_000_000..190_000_000_000_i64
}

proptest! {
    #[test]
    fn printed_and_read(months: i64, days: i64, micros: i64) {
        let whole = Duration::new(months, days, micros);
        prop_assert_eq!(Duration::parse(&whole.to_string()), Some(whole));
    }

    #[test]
    fn between_is_what_to_add(from in instants(), to in instants(), a in 0..DAY, b in 0..DAY) {
        let (from, to) = (from * SECOND + a, to * SECOND + b);
        let between = Duration::between(from, to);
        prop_assert_eq!(between.add_to(from), Some(to));
        let signs = [between.months, between.days, between.micros].map(i64::signum);
        prop_assert!(!(signs.contains(&1) && signs.contains(&-1)));
    }

    #[test]
    fn any_text(text in "[-+]?[Pp]?[-0-9.,YMWDTHSé]{0,40}") {
        let _ = Duration::parse(&text);
    }

    #[test]
    fn any_numbers(months: i64, days: i64, micros: i64, time: i64, factor: f64) {
        let whole = Duration::new(months, days, micros);
        let _ = (whole.add_to(time), whole.scaled(factor), whole.divided(factor), Duration::between(time, micros));
        let _ = whole.approximate_micros();
    }
}
