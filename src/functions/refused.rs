//! Functions of Cypher that MemQL has on purpose not: a call says why, and what to write instead.
//!
//! They are in no list of functions.

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};

const REPEATABLE: &str =
    "the same query over the same state has the same answer; give the value as a parameter";

pub(super) const TABLE: &[Function] = &[
    refused("isNaN", "every number is finite, and what would not be is an error"),
    refused("localtime", "there is no time of day without its date; write t.hour and t.minute"),
    refused("point", "there are no points; keep the coordinates as numbers"),
    refused("rand", REPEATABLE),
    refused("randomUUID", REPEATABLE),
    refused("time", "there is no time of day without its date; write t.hour and t.minute"),
];

/// A function that is known and always fails, with the reason in place of its usage.
const fn refused(name: &'static str, reason: &'static str) -> Function {
    Function { takes_null: true, ..Function::new(name, (0, usize::MAX), reason, refuse) }
}

fn refuse(call: &Call<'_>) -> Result<Cell> {
    let message = format!("MemQL has no {}", call.function.name);
    Err(call.fail(message).help(call.function.usage).execute())
}
