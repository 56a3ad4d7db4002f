//! Lists and maps, and functions of any value.

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function, count};

pub(super) const TABLE: &[Function] = &[
    Function {
        takes_null: true,
        ..Function::new(
            "coalesce",
            (1, 100),
            "coalesce(a, b, ...): the first that is not null",
            coalesce,
        )
    },
    Function::new(
        "size",
        (1, 1),
        "size(x): the items of a list, the letters of a text, the entries of a map",
        size,
    ),
];

fn coalesce(call: &Call<'_>) -> Result<Cell> {
    let first = call.arguments.iter().find(|cell| **cell != Cell::Null);
    Ok(first.cloned().unwrap_or(Cell::Null))
}

fn size(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::List(items) => Ok(count(items.len())),
        Cell::String(text) => Ok(count(text.chars().count())),
        Cell::Map(entries) => Ok(count(entries.len())),
        _ => Err(call.takes("a list or a string", 0)),
    }
}
