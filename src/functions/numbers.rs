//! Numbers.

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};

pub(super) const TABLE: &[Function] = &[
    Function::new("abs", (1, 1), "abs(x): without its sign", abs),
    Function::new(
        "round",
        (1, 1),
        "round(x): the nearest whole number, halves away from zero",
        round,
    ),
];

fn abs(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Int(value) => value
            .checked_abs()
            .map(Cell::Int)
            .ok_or_else(|| call.fail("the result is beyond 64-bit whole numbers").execute()),
        Cell::Float(value) => Ok(Cell::Float(value.abs())),
        _ => Err(call.takes("a number", 0)),
    }
}

fn round(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Int(value) => Ok(Cell::Int(*value)),
        Cell::Float(value) => Ok(Cell::Float(value.round())),
        _ => Err(call.takes("a number", 0)),
    }
}
