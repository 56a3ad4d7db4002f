//! Periods told by their distance: "two weeks ago", "last May", "the day after tomorrow".

use engraph_storage::graph::{Interval, Time};

use super::calendar::{cycle, held_in};
use super::cycle::{Cycle, Part, whole_day};
use super::range::point;
use super::words::{DAYS, MEASURES, Measure, PARTS, SEASONS, SMALL, TENS, WEEKDAYS};
use super::{Period, Reader};
use crate::time::civil;
use crate::time::duration::Duration;
use crate::time::field::Unit;

/// The instant itself.
pub(super) fn now(r: &mut Reader<'_>) -> Option<Period> {
    let phrases: [&[&str]; 5] =
        [&["now"], &["right", "now"], &["currently"], &["at", "the", "moment"], &["at", "present"]];
    phrases.iter().find_map(|words| r.words(words))?;
    Some(Period::anchored(Interval::new(r.reference, r.reference.checked_add(1)?)?))
}

/// "yesterday", "tonight", "last night".
pub(super) fn day_by_name(r: &mut Reader<'_>) -> Option<Period> {
    if let Some(days) = r.named(DAYS) {
        return Some(Period::anchored(day_away(r.reference, days)?));
    }
    if r.word(&["tonight"]).is_some() {
        return Some(Period::anchored(Part::Night.of(day_away(r.reference, 0)?)?));
    }
    let direction = direction(r)?;
    let part = Cycle::Part(r.named(PARTS)?);
    Some(Period::anchored(toward(part, direction, r.reference)?))
}

/// The whole day so many days from an instant's.
fn day_away(time: Time, days: i64) -> Option<Interval> {
    let moved = Duration::new(0, days, 0).add_to(time)?;
    whole_day(civil(moved)?.date())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Last,
    Past,
    This,
    Next,
    Coming,
}

fn direction(r: &mut Reader<'_>) -> Option<Direction> {
    let _ = r.word(&["the"]);
    let word = r.word(&[
        "last",
        "previous",
        "past",
        "this",
        "current",
        "next",
        "coming",
        "upcoming",
        "following",
    ])?;
    Some(match word {
        "last" | "previous" => Direction::Last,
        "past" => Direction::Past,
        "next" | "following" => Direction::Next,
        "coming" | "upcoming" => Direction::Coming,
        "this" if r.word(&["past", "last"]).is_some() => Direction::Past,
        "this" if r.word(&["coming", "next"]).is_some() => Direction::Coming,
        _ => Direction::This,
    })
}

/// "last week", "this summer", "next Friday", "the past three months".
pub(super) fn directed(r: &mut Reader<'_>) -> Option<Period> {
    let direction = direction(r)?;
    if let Some(period) = r.attempt(|r| rolling(r, direction)) {
        return Some(period);
    }
    let cycle = cycle(r)?;
    let span = toward(cycle, direction, r.reference)?;
    Some(Period::anchored(held_in(r, span).unwrap_or(span)))
}

/// So long, up to the reference or from it on.
fn rolling(r: &mut Reader<'_>, direction: Direction) -> Option<Period> {
    let counted = r.attempt(amount);
    let bare = matches!(direction, Direction::Past | Direction::Coming);
    let length = match counted {
        Some(amount) => amount.length,
        None if bare => r.named(MEASURES)?.length,
        None => return None,
    };
    let now = r.reference;
    let span = match direction {
        Direction::This => return None,
        Direction::Last | Direction::Past => Interval::new(length.negated()?.add_to(now)?, now),
        Direction::Next | Direction::Coming => Interval::new(now, length.add_to(now)?),
    };
    Some(Period::anchored(span?))
}

/// The occurrence in a direction from an instant.
fn toward(cycle: Cycle, direction: Direction, now: Time) -> Option<Interval> {
    let today = day_away(now, 0)?;
    // A unit smaller than a day is seen from the instant, everything else from its day.
    let here = match cycle {
        Cycle::Unit(Unit::Hour | Unit::Minute | Unit::Second) => cycle.holding(now)?,
        _ => today,
    };
    if let Cycle::Part(part) = cycle {
        let days = match direction {
            Direction::Last | Direction::Past => -1,
            Direction::This => 0,
            Direction::Next | Direction::Coming => 1,
        };
        return part.of(day_away(now, days)?);
    }
    match direction {
        Direction::Last | Direction::Past => cycle.before(here.from),
        Direction::Next | Direction::Coming => cycle.after(here.to),
        Direction::This => {
            let same = || cycle.nth_in(cycle.frame().holding(now)?, 1);
            cycle.holding(now).or_else(same)
        }
    }
}

/// "earlier this year", "later today".
pub(super) fn rest_of_unit(r: &mut Reader<'_>) -> Option<Period> {
    let earlier = r.word(&["earlier", "later"])? == "earlier";
    let unit = if r.word(&["today"]).is_some() {
        day_away(r.reference, 0)?
    } else {
        r.word(&["this"])?;
        r.named(MEASURES)?.cycle.holding(r.reference)?
    };
    let (from, to) = if earlier { (unit.from, r.reference) } else { (r.reference, unit.to) };
    Some(Period::anchored(Interval::new(from, to)?))
}

/// A number of units.
#[derive(Clone, Copy)]
struct Amount {
    measure: Measure,
    length: Duration,
    is_whole: bool,
}

/// "two weeks", "half a year", "a couple of days", "a year and a half".
fn amount(r: &mut Reader<'_>) -> Option<Amount> {
    if let Some(years) = r.attempt(quarter_century) {
        return Some(years);
    }
    let halves = count(r)?;
    let measure = r.named(MEASURES).or_else(|| r.plural(MEASURES))?;
    let halves = halves + r.words(&["and", "a", "half"]).map_or(0, |()| 1);
    let is_whole = halves % 2 == 0;
    let length = if is_whole {
        measure.length.times(halves / 2)?
    } else {
        measure.length.scaled(halves as f64 / 2.0)?
    };
    Some(Amount { measure, length, is_whole })
}

/// "a quarter of a century".
fn quarter_century(r: &mut Reader<'_>) -> Option<Amount> {
    let _ = r.word(&["a"]);
    r.words(&["quarter", "of", "a", "century"])?;
    let (_, year) = MEASURES.iter().find(|(name, _)| *name == "year")?;
    Some(Amount { measure: *year, length: year.length.times(25)?, is_whole: true })
}

/// A count, in halves.
fn count(r: &mut Reader<'_>) -> Option<i64> {
    if r.word(&["half"]).is_some() {
        r.word(&["a", "an"])?;
        return Some(if r.word(&["dozen"]).is_some() { 12 } else { 1 });
    }
    let whole = whole_count(r)?;
    let _ = r.word(&["of"]);
    Some(whole * 2 + r.words(&["and", "a", "half"]).map_or(0, |()| 1))
}

/// "7", "a couple", "thirty-five", "two hundred", "three dozen", "a hundred and twenty".
fn whole_count(r: &mut Reader<'_>) -> Option<i64> {
    let first = below_hundred(r)?;
    if r.word(&["dozen"]).is_some() {
        return first.checked_mul(12);
    }
    if r.word(&["hundred"]).is_none() {
        return Some(first);
    }
    let rest = r.attempt(|r| {
        let _ = r.word(&["and"]);
        r.attempt(tens).or_else(|| r.named(SMALL))
    });
    first.checked_mul(100)?.checked_add(rest.unwrap_or(0))
}

/// A count without its hundreds or dozens.
fn below_hundred(r: &mut Reader<'_>) -> Option<i64> {
    if let Some(number) = r.plain() {
        return Some(number.value);
    }
    let article = r.word(&["a", "an"]).is_some();
    if let Some(vague) = r.word(&["couple", "few", "several"]) {
        let _ = r.word(&["of"]);
        return Some(match vague {
            "couple" => 2,
            "few" => 3,
            _ => 5,
        });
    }
    if article {
        return Some(1);
    }
    // "hundreds" are no count, "hundred" is one.
    let is_one = matches!({ *r }.any_word(), Some("hundred" | "dozen"));
    if is_one { Some(1) } else { r.attempt(tens).or_else(|| r.named(SMALL)) }
}

/// "thirty", "thirty-five".
fn tens(r: &mut Reader<'_>) -> Option<i64> {
    let tens = r.named(TENS)?;
    let _ = r.mark('-');
    Some(tens + r.named(SMALL).filter(|small| *small < 10).unwrap_or(0))
}

/// "two weeks ago", "three days earlier", "two weekends ago".
pub(super) fn ago(r: &mut Reader<'_>) -> Option<Period> {
    let is_less = r.words(&["less", "than"]).or_else(|| r.word(&["under"]).map(drop)).is_some();
    let mut is_more = || r.words(&["more", "than"]).or_else(|| r.word(&["over"]).map(drop));
    if !is_less && is_more().is_none() {
        let _ = r.word(&["about", "around"]);
    }
    if let Some(span) = r.attempt(occurrences_ago) {
        return Some(Period::anchored(span));
    }
    let amount = amounts(r)?;
    if r.words(&["before", "now"]).is_none() {
        r.word(&["ago", "earlier", "back"])?;
    }
    let length = amount.length.negated()?;
    if is_less {
        return Some(Period::anchored(Interval::new(length.add_to(r.reference)?, r.reference)?));
    }
    // "a year ago today".
    if let Some(day) = r.word(&["today", "yesterday"]) {
        let base = day_away(r.reference, if day == "today" { 0 } else { -1 })?;
        return Some(Period::anchored(Interval::new(
            length.add_to(base.from)?,
            length.add_to(base.to)?,
        )?));
    }
    away(r.reference, amount, length)
}

/// An amount, or two that add up: "1 year, 2 months", "a year and two months".
fn amounts(r: &mut Reader<'_>) -> Option<Amount> {
    let first = amount(r)?;
    let rest = r.attempt(|r| {
        let is_joined = r.mark(',').is_some() | r.word(&["and"]).is_some();
        amount(r).filter(|_| is_joined)
    });
    let Some(rest) = rest else { return Some(first) };
    Some(Amount { length: first.length.plus(rest.length)?, ..rest })
}

/// "two Fridays ago".
fn occurrences_ago(r: &mut Reader<'_>) -> Option<Interval> {
    let count = whole_count(r).filter(|count| (1..=20).contains(count))?;
    let _ = r.word(&["of"]);
    let recurring = r
        .word(&["weekend", "weekends"])
        .map(|_| Cycle::Weekend)
        .or_else(|| r.dotted(WEEKDAYS).or_else(|| r.plural(WEEKDAYS)).map(Cycle::Weekday))
        .or_else(|| r.named(SEASONS).or_else(|| r.plural(SEASONS)).map(Cycle::Season))?;
    r.word(&["ago"])?;
    let mut span = day_away(r.reference, 0)?;
    for _ in 0..count {
        span = recurring.before(span.from)?;
    }
    Some(span)
}

/// "in two weeks", "two weeks from now", "three days later".
pub(super) fn ahead(r: &mut Reader<'_>) -> Option<Period> {
    let told = r.word(&["in"]).is_some();
    let amount = amount(r)?;
    if !told && r.words(&["from", "now"]).is_none() {
        r.word(&["later", "hence"])?;
    }
    away(r.reference, amount, amount.length)
}

/// The whole unit so far from the reference; a decade or century tells the year.
fn away(now: Time, amount: Amount, length: Duration) -> Option<Period> {
    let cycle = match amount.measure.cycle {
        Cycle::Unit(Unit::Decade | Unit::Century) => Cycle::Unit(Unit::Year),
        _ if !amount.is_whole => Cycle::Unit(amount.measure.finer),
        cycle => cycle,
    };
    Some(Period::anchored(cycle.holding(length.add_to(now)?)?))
}

/// "two weeks before 8 May 2023", "a week from Friday".
pub(super) fn from_period(r: &mut Reader<'_>) -> Option<Period> {
    let amount = amount(r)?;
    let is_before = side(r)?;
    let base = r.inner(point)?.span;
    let length = if is_before { amount.length.negated()? } else { amount.length };
    let unit = amount.measure.length;
    let span = if unit.add_to(base.from)? >= base.to {
        Interval::new(length.add_to(base.from)?, length.add_to(base.to)?)
    } else if is_before {
        let from = length.add_to(base.from)?;
        Interval::new(from, unit.add_to(from)?)
    } else {
        let to = length.add_to(base.to)?;
        Interval::new(unit.negated()?.add_to(to)?, to)
    };
    Some(Period::anchored(span?))
}

/// Whether it is before what follows, or after.
fn side(r: &mut Reader<'_>) -> Option<bool> {
    if r.words(&["prior", "to"]).is_some() {
        return Some(true);
    }
    if r.words(&["later", "than"]).is_some() {
        return Some(false);
    }
    if r.words(&["earlier", "than"]).is_some() {
        return Some(true);
    }
    Some(r.word(&["before", "preceding", "after", "following", "from"])?.starts_with(['b', 'p']))
}

/// "the day before yesterday", "the Friday before 9 June", "the week before last".
pub(super) fn neighbour(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let part = r.named(PARTS).map(Cycle::Part);
    let found = part.or_else(|| cycle(r))?;
    let is_before = side(r)?;
    // "the week before last", and not "the week before last Christmas".
    let (mut near, mut far) = (*r, *r);
    let next = next_to(&mut near, found, is_before);
    let named = far.inner(point).filter(|_| next.is_none() || far.at > near.at);
    *r = if named.is_some() { far } else { near };
    let base = named.or(next)?.span;
    let span = if is_before { found.before(base.from) } else { found.after(base.to) };
    Some(Period::anchored(span?))
}

/// "the week of 23 August 2023", "the weekend of the 8th", "the month of May": the unit that the
/// other period begins in; of weekends, the first that has not ended.
pub(super) fn unit_of(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let weekend = r.word(&["weekend"]).map(|_| Cycle::Weekend);
    let unit = weekend.or_else(|| r.named(MEASURES).map(|measure| measure.cycle))?;
    r.word(&["of"])?;
    let base = r.inner(point)?;
    let span = unit.holding(base.span.from).or_else(|| unit.after(base.span.from))?;
    let length = |span: Interval| span.to.checked_sub(span.from);
    (length(base.span)? <= length(span)?).then_some(Period { span, ..base })
}

/// "the week before last": the one of the same kind.
fn next_to(r: &mut Reader<'_>, cycle: Cycle, is_before: bool) -> Option<Period> {
    r.word(if is_before { &["last"] } else { &["next"] })?;
    let way = if is_before { Direction::Last } else { Direction::Next };
    Some(Period::anchored(toward(cycle, way, r.reference)?))
}
