//! Periods with two ends or an open one: "from May to July", "since 2019", "before last summer".

use engraph_storage::graph::{Interval, Time};

use super::calendar::{self, month_and_days};
use super::clock;
use super::relative;
use super::tokens::Ending;
use super::words::PREPOSITIONS;
use super::{Period, Reader};

/// Any phrase.
pub(super) fn range(r: &mut Reader<'_>) -> Option<Period> {
    r.longest(&[two_ends, onward, since, until, before, after, days_of_month, numbers, point])
}

/// A single period, with the time of day where it is a day.
pub(super) fn point(r: &mut Reader<'_>) -> Option<Period> {
    r.longest(&[clock::with_time, preposed])
}

/// A period after words that do not change it.
fn preposed(r: &mut Reader<'_>) -> Option<Period> {
    r.word(PREPOSITIONS)?;
    clock::with_time(r)
}

/// A period, without the time of day.
pub(super) fn period(r: &mut Reader<'_>) -> Option<Period> {
    r.longest(&[
        relative::now,
        relative::day_by_name,
        relative::directed,
        relative::ago,
        relative::ahead,
        relative::from_period,
        relative::neighbour,
        relative::unit_of,
        relative::rest_of_unit,
        calendar::recurring,
        calendar::day_of_month,
        calendar::nth,
        calendar::written_date,
        calendar::year,
        calendar::decade,
        calendar::century,
        calendar::part_of_period,
    ])
}

/// "from P to Q", "between P and Q", "P to Q", "P - Q".
fn two_ends(r: &mut Reader<'_>) -> Option<Period> {
    let between = r.word(&["between"]).is_some();
    if !between {
        let _ = r.word(&["from"]);
    }
    let start = *r;
    let left = r.inner(point)?;
    if between {
        r.word(&["and"])?;
    } else if r.mark('-').is_none() {
        r.word(&["to", "until", "till", "through", "thru"])?;
    }
    let right_start = *r;
    let right = r.inner(point)?;
    let (from, to) = if right.is_anchored && !left.is_anchored {
        // "March to May 2022": the latest March before it.
        (seen_from(start, right.span.from, false)?.span, right.span)
    } else if !right.is_anchored {
        // "Monday to Friday": the first Friday after it.
        (left.span, seen_from(right_start, left.span.from, true)?.span)
    } else {
        (left.span, right.span)
    };
    Some(Period { span: Interval::new(from.from, to.to)?, is_anchored: right.is_anchored })
}

/// A point read again, seen from another instant.
fn seen_from(mut reader: Reader<'_>, reference: Time, is_ahead: bool) -> Option<Period> {
    reader.reference = reference;
    reader.is_ahead = is_ahead;
    reader.inner(point)
}

/// "May 8-10, 2023".
fn days_of_month(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["from", "between", "on"]);
    month_and_days(r)
}

/// "2018-2020", "8-10 May 2023", "8 and 9 May".
fn numbers(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["from", "between", "in", "on"]);
    let _ = r.word(&["the"]);
    let first = r.digits(&[Ending::None, Ending::Ordinal])?;
    let joined = r.word(&["and"]).is_some();
    if !joined && r.mark('-').is_none() {
        r.word(&["to", "until", "till", "through"])?;
    }
    if !joined && let Some(span) = r.attempt(|r| calendar::years(first, r.plain()?)) {
        return Some(Period::anchored(span));
    }
    let last = r.inner(point)?;
    let from = calendar::same_month(last.span, first)?;
    Some(Period { span: Interval::new(from, last.span.to)?, is_anchored: last.is_anchored })
}

/// "from May on".
fn onward(r: &mut Reader<'_>) -> Option<Period> {
    r.word(&["from"])?;
    let start = r.inner(point)?.span.from;
    r.word(&["on", "onward", "onwards"])?;
    Some(Period::anchored(Interval::new(start, Interval::MAX)?))
}

fn since(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["ever"]);
    r.word(&["since"])?;
    let start = r.inner(point)?.span.from;
    Some(Period::anchored(Interval::new(start, r.reference)?))
}

fn until(r: &mut Reader<'_>) -> Option<Period> {
    if r.words(&["up", "to"]).is_none() {
        r.word(&["until", "till", "by"])?;
    }
    let end = r.inner(point)?.span.to;
    Some(Period::anchored(Interval::new(Interval::MIN, end)?))
}

fn before(r: &mut Reader<'_>) -> Option<Period> {
    if r.words(&["prior", "to"]).is_none() {
        r.word(&["before"])?;
    }
    let end = r.inner(point)?.span.from;
    Some(Period::anchored(Interval::new(Interval::MIN, end)?))
}

fn after(r: &mut Reader<'_>) -> Option<Period> {
    r.word(&["after"])?;
    let start = r.inner(point)?.span.to;
    Some(Period::anchored(Interval::new(start, Interval::MAX)?))
}
