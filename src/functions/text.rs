//! Texts.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};

pub(super) const TABLE: &[Function] = &[
    Function::new("lower", (1, 1), "lower(s): in small letters", lower),
    Function::new("toLower", (1, 1), "toLower(s): as lower(s)", lower),
    Function::new("toString", (1, 1), "toString(x): the value as text", to_string),
    Function::new("toUpper", (1, 1), "toUpper(s): as upper(s)", upper),
    Function::new("upper", (1, 1), "upper(s): in capital letters", upper),
];

fn text<'a>(call: &'a Call<'_>, place: usize) -> Result<&'a Arc<str>> {
    match call.argument(place) {
        Cell::String(text) => Ok(text),
        _ => Err(call.takes("a string", place)),
    }
}

fn lower(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::text(&text(call, 0)?.to_lowercase()))
}

fn upper(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::text(&text(call, 0)?.to_uppercase()))
}

fn to_string(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::String(text) => Ok(Cell::String(Arc::clone(text))),
        other => Ok(Cell::text(&call.context.materialise(other)?.to_string())),
    }
}
