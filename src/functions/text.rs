//! Texts, counted in letters (Unicode scalar values), never in bytes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::cell::Cell;
use crate::context::held::Held;
use crate::error::Result;
use crate::functions::{Call, Function, count, values};

/// Bytes that a text may take which is put together of others.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// What a part of a text takes beside its letters.
const PART_BYTES: usize = size_of::<Cell>() + 32;

pub(super) const TABLE: &[Function] = &[
    Function::new("btrim", (1, 2), "btrim(s[, letters]): as trim(s)", |call| {
        trim(call, true, true)
    }),
    Function::new("char_length", (1, 1), "char_length(s): its letters", letters),
    Function::new("character_length", (1, 1), "character_length(s): its letters", letters),
    Function::new(
        "join",
        (2, 2),
        "join(list, separator): the items as one text, nulls left out",
        join,
    ),
    Function::new("left", (2, 2), "left(s, n): the first n letters", |call| {
        Ok(Cell::text(cut(call.text(0)?, 0, Some(call.amount(1)?))))
    }),
    Function::new("lower", (1, 1), "lower(s): in small letters", lower),
    Function::new(
        "ltrim",
        (1, 2),
        "ltrim(s[, letters]): without blanks, or those letters, at its start",
        |call| trim(call, true, false),
    ),
    Function::new(
        "replace",
        (3, 3),
        "replace(s, part, other): with the other text in place of each part",
        replace,
    ),
    Function::new("right", (2, 2), "right(s, n): the last n letters", right),
    Function::new(
        "rtrim",
        (1, 2),
        "rtrim(s[, letters]): without blanks, or those letters, at its end",
        |call| trim(call, false, true),
    ),
    Function::new(
        "split",
        (2, 2),
        "split(s, separator): what stands between the separators, letter by letter if it is ''",
        split,
    ),
    Function::new(
        "substring",
        (2, 3),
        "substring(s, from[, n]): n letters, or the rest, after the first `from` letters",
        |call| {
            let length = if call.arguments.len() > 2 { Some(call.amount(2)?) } else { None };
            Ok(Cell::text(cut(call.text(0)?, call.amount(1)?, length)))
        },
    ),
    Function::new("toLower", (1, 1), "toLower(s): as lower(s)", lower),
    Function::new("toUpper", (1, 1), "toUpper(s): as upper(s)", upper),
    Function::new(
        "trim",
        (1, 2),
        "trim(s[, letters]): without blanks, or those letters, at both ends",
        |call| trim(call, true, true),
    ),
    Function::new("upper", (1, 1), "upper(s): in capital letters", upper),
];

fn lower(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::text(&call.text(0)?.to_lowercase()))
}

fn upper(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::text(&call.text(0)?.to_uppercase()))
}

fn letters(call: &Call<'_>) -> Result<Cell> {
    Ok(count(call.text(0)?.chars().count()))
}

fn trim(call: &Call<'_>, start: bool, end: bool) -> Result<Cell> {
    let set: Option<HashSet<char>> = match call.arguments.len() > 1 {
        true => Some(call.text(1)?.chars().collect()),
        false => None,
    };
    let goes = |letter: char| match &set {
        Some(set) => set.contains(&letter),
        None => letter.is_whitespace(),
    };
    let mut text: &str = call.text(0)?;
    if start {
        text = text.trim_start_matches(goes);
    }
    if end {
        text = text.trim_end_matches(goes);
    }
    Ok(Cell::text(text))
}

fn right(call: &Call<'_>) -> Result<Cell> {
    let text = call.text(0)?;
    let letters = text.chars().count();
    Ok(Cell::text(cut(text, letters.saturating_sub(call.amount(1)?), None)))
}

/// So many letters, or all, from the letter at a place on.
fn cut(text: &str, from: usize, length: Option<usize>) -> &str {
    let after = |text: &str, letters: usize| {
        text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at)
    };
    let rest = text.get(after(text, from)..).unwrap_or_default();
    length.map_or(rest, |length| rest.get(..after(rest, length)).unwrap_or_default())
}

fn split(call: &Call<'_>) -> Result<Cell> {
    let (text, separator) = (call.text(0)?, call.text(1)?);
    let parts = parts(text, separator);
    let count = parts.clone().count();
    call.context.work(count)?;
    // Before they are made; each is a text of its own.
    call.context.hold(&mut Held::default(), count.saturating_mul(PART_BYTES) + text.len())?;
    Ok(Cell::list(parts.into_iter().map(Cell::text).collect()))
}

/// What stands between the separators; each letter if the separator is empty.
fn parts<'t>(text: &'t str, separator: &'t str) -> impl Iterator<Item = &'t str> + Clone {
    // Without a separator there would be an empty part at either end.
    text.split(separator).filter(move |part| !separator.is_empty() || !part.is_empty())
}

fn join(call: &Call<'_>) -> Result<Cell> {
    let (list, separator) = (call.list(0)?, call.text(1)?);
    call.context.work(list.len())?;
    let mut parts: Vec<Arc<str>> = Vec::new();
    for item in list.iter().filter(|item| **item != Cell::Null) {
        match values::written(item, call.context)? {
            Some(text) => parts.push(text),
            None => {
                let message = format!("join takes a list of strings, not of {}", item.kind());
                let help = "make them texts before: join([x IN list | x.key], ', ')";
                return Err(call.fail(message).help(help).execute());
            }
        }
    }
    let bytes = parts.iter().map(|part| part.len().saturating_add(separator.len()));
    fits(call, bytes.fold(0, usize::saturating_add))?;
    Ok(Cell::text(&parts.join(separator)))
}

fn replace(call: &Call<'_>) -> Result<Cell> {
    let (text, part, other) = (call.text(0)?, call.text(1)?, call.text(2)?);
    if part.is_empty() {
        return Ok(Cell::String(Arc::clone(text)));
    }
    let met = text.matches(&**part).count();
    fits(call, met.saturating_mul(other.len()).saturating_add(text.len()))?;
    Ok(Cell::text(&text.replace(&**part, other)))
}

/// An error if a text would take too many bytes.
fn fits(call: &Call<'_>, bytes: usize) -> Result<()> {
    if bytes <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let name = call.function.name;
    let message = format!("the result of {name} takes more than {} MiB", TEXT_BYTES_MAX >> 20);
    Err(call.fail(message).execute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_by_letters() {
        for (from, length, expected) in [
            (0, None, "häß🦀"),
            (1, None, "äß🦀"),
            (1, Some(2), "äß"),
            (3, Some(1), "🦀"),
            (3, Some(9), "🦀"),
            (4, None, ""),
            (9, Some(1), ""),
            (0, Some(0), ""),
            (1, Some(usize::MAX), "äß🦀"),
        ] {
            assert_eq!(cut("häß🦀", from, length), expected, "{from} {length:?}");
        }
    }

    #[test]
    fn parts_between_separators() {
        assert_eq!(parts("a,b,,c", ",").collect::<Vec<_>>(), ["a", "b", "", "c"]);
        assert_eq!(parts(",", ",").collect::<Vec<_>>(), ["", ""]);
        assert_eq!(parts("", ",").collect::<Vec<_>>(), [""]);
        assert_eq!(parts("äß🦀", "").collect::<Vec<_>>(), ["ä", "ß", "🦀"]);
        assert_eq!(parts("", "").collect::<Vec<_>>(), [""; 0]);
    }
}
