//! Times and parts of the day: "yesterday at noon", "1:56 pm on 8 May, 2023", "Monday morning".

use engraph_storage::graph::Interval;

use super::cycle::Cycle;
use super::range::{period, point};
use super::words::{HOURS, PARTS};
use super::{Period, Reader};
use crate::time::duration::{DAY, HOUR, MINUTE, SECOND};

/// A period; where it is a day, with its part or time of day.
pub(super) fn with_time(r: &mut Reader<'_>) -> Option<Period> {
    r.longest(&[day_then_time, time_then_day, bare_time])
}

fn day_then_time(r: &mut Reader<'_>) -> Option<Period> {
    let mut found = period(r)?;
    if !is_day(found.span) {
        return Some(found);
    }
    let day = found.span;
    if let Some(part) = r.attempt(part_behind) {
        found.span = part.of(day)?;
    }
    if let Some((from, length)) = r.attempt(time_behind) {
        found.span = within(day, from, length)?;
    }
    Some(found)
}

/// "1:56 pm on 8 May, 2023", "the morning of 8 May".
fn time_then_day(r: &mut Reader<'_>) -> Option<Period> {
    let _ = r.word(&["the"]);
    let time = r.attempt(time);
    let part = if time.is_none() { Some(r.named(PARTS)?) } else { None };
    let _ = r.mark(',');
    let joined = r.word(&["on", "of"]).is_some();
    if part.is_some() && !joined {
        return None;
    }
    let day = r.inner(point)?;
    if !is_day(day.span) {
        return None;
    }
    let span = match (time, part) {
        (Some((from, length)), _) => within(day.span, from, length)?,
        (None, part) => part?.of(day.span)?,
    };
    Some(Period { span, ..day })
}

/// The latest such time of day.
fn bare_time(r: &mut Reader<'_>) -> Option<Period> {
    let (from, length) = time(r)?;
    let clock = Cycle::Clock(from, length);
    let span = if r.is_ahead { clock.after(r.reference) } else { clock.begun(r.reference) };
    Some(Period { span: span?, is_anchored: false })
}

fn is_day(span: Interval) -> bool {
    span.to.checked_sub(span.from) == Some(DAY) && span.from.rem_euclid(DAY) == 0
}

fn within(day: Interval, from: i64, length: i64) -> Option<Interval> {
    let from = day.from.checked_add(from)?;
    Interval::new(from, from.checked_add(length)?)
}

fn part_behind(r: &mut Reader<'_>) -> Option<super::cycle::Part> {
    let _ = r.mark(',');
    if r.word(&["in", "during"]).is_some() {
        r.word(&["the"])?;
    } else {
        let _ = r.word(&["at"]);
    }
    r.named(PARTS)
}

fn time_behind(r: &mut Reader<'_>) -> Option<(i64, i64)> {
    let _ = r.mark(',');
    let _ = r.word(&["at", "t", "around", "about"]);
    time(r)
}

/// A time of day and its length, in microseconds.
fn time(r: &mut Reader<'_>) -> Option<(i64, i64)> {
    if let Some(from) = r.named(HOURS) {
        return Some((from, MINUTE));
    }
    let hour = r.plain().filter(|hour| hour.digits <= 2)?.value;
    let minute = r.attempt(sixty);
    let second = minute.and_then(|_| r.attempt(sixty));
    let hour = match r.attempt(meridiem) {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        None if minute.is_some() && hour < 24 => hour,
        _ => return None,
    };
    let _ = r.word(&["z", "utc", "gmt"]);
    let from = hour * HOUR + minute.unwrap_or(0) * MINUTE + second.unwrap_or(0) * SECOND;
    Some((from, if second.is_some() { SECOND } else { MINUTE }))
}

/// `:56`.
fn sixty(r: &mut Reader<'_>) -> Option<i64> {
    r.mark(':')?;
    let number = r.plain()?;
    (number.digits == 2 && number.value < 60).then_some(number.value)
}

/// The hours that "am" or "pm" adds.
fn meridiem(r: &mut Reader<'_>) -> Option<i64> {
    let half = r.word(&["am", "pm", "a", "p"])?;
    if half.len() == 1 {
        r.mark('.')?;
        r.word(&["m"])?;
        let _ = r.mark('.');
    }
    Some(if half.starts_with('a') { 0 } else { 12 })
}
