//! Lists, and what texts and maps have in common with them.

use std::collections::BTreeSet;

use crate::cell::{Cell, Key};
use crate::error::Result;
use crate::functions::{Call, Function, count};

/// Items that a range may have.
const RANGE_ITEMS_MAX: i128 = 1_000_000;

pub(super) const TABLE: &[Function] = &[
    Function::new("coll.distinct", (1, 1), "coll.distinct(list): each item once", distinct),
    Function::new("coll.flatten", (1, 1), "coll.flatten(list): as flatten(list)", flatten),
    Function::new(
        "coll.indexOf",
        (2, 2),
        "coll.indexOf(list, x): the place of the first item that is x, from 0; -1 if none is",
        index_of,
    ),
    Function::new(
        "coll.max",
        (1, 1),
        "coll.max(list): the last item in the order of sort",
        |call| Ok(present(call)?.max_by(|a, b| a.order(b)).cloned().unwrap_or(Cell::Null)),
    ),
    Function::new(
        "coll.min",
        (1, 1),
        "coll.min(list): the first item in the order of sort",
        |call| Ok(present(call)?.min_by(|a, b| a.order(b)).cloned().unwrap_or(Cell::Null)),
    ),
    Function::new("coll.sort", (1, 1), "coll.sort(list): as sort(list)", sort),
    Function::new(
        "flatten",
        (1, 1),
        "flatten(list): with the items of the lists in it in their place, one level deep",
        flatten,
    ),
    Function::new("head", (1, 1), "head(list): the first item; null if it is empty", |call| {
        Ok(call.list(0)?.first().cloned().unwrap_or(Cell::Null))
    }),
    Function::new(
        "isEmpty",
        (1, 1),
        "isEmpty(x): whether a list, a text or a map has nothing in it",
        |call| Ok(Cell::Bool(length(call)? == 0)),
    ),
    Function::new("last", (1, 1), "last(list): the last item; null if it is empty", |call| {
        Ok(call.list(0)?.last().cloned().unwrap_or(Cell::Null))
    }),
    Function::new(
        "percentileCont",
        (2, 2),
        "percentileCont(collect(x), p): between two numbers of the list, p from 0 to 1",
        percentile_between,
    ),
    Function::new(
        "percentileDisc",
        (2, 2),
        "percentileDisc(collect(x), p): the number of the list that p of them reach, p from 0 to 1",
        percentile_of,
    ),
    Function::new(
        "range",
        (2, 3),
        "range(a, b[, step]): the whole numbers from a to b, both in it; at most 1,000,000",
        range,
    ),
    Function::new("reverse", (1, 1), "reverse(x): a list or a text from its end", reverse),
    Function::new(
        "size",
        (1, 1),
        "size(x): the items of a list, the letters of a text, the entries of a map",
        |call| Ok(count(length(call)?)),
    ),
    Function::new(
        "sort",
        (1, 1),
        "sort(list): in the order of ORDER BY, nulls last; reverse(sort(list)) for the other",
        sort,
    ),
    Function::new("tail", (1, 1), "tail(list): all but the first item", |call| {
        Ok(Cell::list(call.list(0)?.get(1..).unwrap_or_default().to_vec()))
    }),
];

fn length(call: &Call<'_>) -> Result<usize> {
    match call.argument(0) {
        Cell::List(items) => Ok(items.len()),
        Cell::String(text) => Ok(text.chars().count()),
        Cell::Map(entries) => Ok(entries.len()),
        // A pattern is a boolean by the time it comes here.
        Cell::Bool(_) => Err(call
            .fail(format!("{} takes a list, a string or a map, not a boolean", call.function.name))
            .help("write COUNT { (a)-->(b) } for the number of ways that a pattern fits")
            .execute()),
        _ => Err(call.takes("a list, a string or a map", 0)),
    }
}

/// The items of a list, each of which is looked at.
fn items<'a>(call: &'a Call<'_>) -> Result<&'a [Cell]> {
    let items = call.list(0)?;
    call.context.work(items.len())?;
    Ok(items)
}

/// The items that are not null.
fn present<'a>(call: &'a Call<'_>) -> Result<impl Iterator<Item = &'a Cell>> {
    Ok(items(call)?.iter().filter(|item| **item != Cell::Null))
}

fn distinct(call: &Call<'_>) -> Result<Cell> {
    let mut seen = BTreeSet::new();
    let first = |item: &&Cell| seen.insert(Key(vec![(*item).clone()]));
    Ok(Cell::list(items(call)?.iter().filter(first).cloned().collect()))
}

fn flatten(call: &Call<'_>) -> Result<Cell> {
    let mut flat = Vec::new();
    for item in items(call)? {
        match item {
            Cell::List(inner) => {
                call.context.work(inner.len())?;
                flat.extend_from_slice(inner);
            }
            item => flat.push(item.clone()),
        }
    }
    Ok(Cell::list(flat))
}

fn index_of(call: &Call<'_>) -> Result<Cell> {
    let place = items(call)?.iter().position(|item| item.equals(call.argument(1)) == Some(true));
    Ok(place.map_or(Cell::Int(-1), count))
}

fn reverse(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::String(text) => Ok(Cell::text(&text.chars().rev().collect::<String>())),
        Cell::List(_) => Ok(Cell::list(items(call)?.iter().rev().cloned().collect())),
        _ => Err(call.takes("a list or a string", 0)),
    }
}

fn sort(call: &Call<'_>) -> Result<Cell> {
    let sorted = call.context.sorted(items(call)?.to_vec(), &Cell::whole_bytes, &Cell::order)?;
    Ok(Cell::list(sorted))
}

fn range(call: &Call<'_>) -> Result<Cell> {
    let (from, to) = (call.whole(0)?, call.whole(1)?);
    let step = if call.arguments.len() > 2 { call.whole(2)? } else { 1 };
    if step == 0 {
        return Err(call.fail("the step of a range is never 0").execute());
    }
    let length = range_items(from, to, step);
    if length > RANGE_ITEMS_MAX {
        let message = format!("a range has at most {RANGE_ITEMS_MAX} items, not {length}");
        return Err(call.fail(message).execute());
    }
    let length = usize::try_from(length).unwrap_or(0);
    call.context.work(length)?;
    let numbers = std::iter::successors(Some(from), |at| at.checked_add(step)).take(length);
    Ok(Cell::list(numbers.map(Cell::Int).collect()))
}

/// How many numbers lie from one to another, both counted; 0 if the step leads away.
fn range_items(from: i64, to: i64, step: i64) -> i128 {
    let steps = (i128::from(to) - i128::from(from)) / i128::from(step);
    let leads_away = (to < from && step > 0) || (to > from && step < 0);
    if leads_away { 0 } else { steps + 1 }
}

/// The numbers of a list in order, nulls left out, and the share that is asked for.
fn ranked<'a>(call: &'a Call<'_>) -> Result<(Vec<&'a Cell>, f64)> {
    let name = call.function.name;
    if !matches!(call.argument(0), Cell::List(_)) {
        let message = format!("{name} takes a list, not {}", call.argument(0).kind());
        let help = format!("gather the values of the rows: {name}(collect(x), 0.5)");
        return Err(call.fail(message).help(help).execute());
    }
    let mut numbers: Vec<&Cell> = present(call)?.collect();
    if let Some(other) = numbers.iter().find(|item| item.number().is_none()) {
        let message = format!("{name} takes a list of numbers, and {} is in it", other.kind());
        return Err(call.fail(message).execute());
    }
    numbers.sort_by(|a, b| a.order(b));
    let share = call.number(1)?;
    if !(0.0..=1.0).contains(&share) {
        let message = format!("{name} takes a share from 0 to 1, not {share}");
        return Err(call.fail(message).execute());
    }
    Ok((numbers, share))
}

fn percentile_between(call: &Call<'_>) -> Result<Cell> {
    let (numbers, share) = ranked(call)?;
    let place = share * numbers.len().saturating_sub(1) as f64;
    let at = |place: f64| numbers.get(place as usize).and_then(|number| number.number());
    match (at(place.floor()), at(place.ceil())) {
        // Each is weighed by itself: their difference might not be finite. What is rounded stays between them.
        (Some(a), Some(b)) => {
            call.finite((a * (1.0 - place.fract()) + b * place.fract()).clamp(a, b))
        }
        _ => Ok(Cell::Null),
    }
}

fn percentile_of(call: &Call<'_>) -> Result<Cell> {
    let (numbers, share) = ranked(call)?;
    let exact = share * numbers.len() as f64;
    // 0.55 of a hundred is 55.00000000000001 in binary.
    let is_whole = (exact - exact.round()).abs() <= exact * 4.0 * f64::EPSILON;
    let reached = if is_whole { exact.round() } else { exact.ceil() } as usize;
    Ok(numbers.get(reached.saturating_sub(1)).map_or(Cell::Null, |number| (*number).clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_ranges() {
        for (from, to, step, items) in [
            (0, 10, 1, 11),
            (0, 10, 3, 4),
            (10, 0, -3, 4),
            (3, 3, 1, 1),
            (3, 3, -7, 1),
            (0, 10, -1, 0),
            (10, 0, 1, 0),
            (-2, 2, 5, 1),
            (i64::MIN, i64::MAX, 1, 1 << 64),
            (i64::MIN, i64::MAX, i64::MAX, 3),
            (i64::MAX, i64::MIN, i64::MIN, 2),
        ] {
            assert_eq!(range_items(from, to, step), items, "{from} {to} {step}");
        }
    }
}
