//! Functions of any value: what it is, and what it is as another kind.

use std::sync::Arc;

use crate::cell::Cell;
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::time;

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
    Function {
        takes_null: true,
        ..Function::new(
            "exists",
            (1, 1),
            "exists(n.x): whether it is not null, as n.x IS NOT NULL",
            exists,
        )
    },
    Function {
        takes_null: true,
        ..Function::new("nullIf", (2, 2), "nullIf(a, b): null if a = b, else a", null_if)
    },
    Function::new(
        "toBoolean",
        (1, 1),
        "toBoolean(x): of 'true', 'false' or a whole number; null for other text",
        to_boolean,
    ),
    Function::new(
        "toBooleanOrNull",
        (1, 1),
        "toBooleanOrNull(x): as toBoolean(x), and null in place of an error",
        |call| or_null(to_boolean(call)),
    ),
    Function::new(
        "toFloat",
        (1, 1),
        "toFloat(x): a number, or text that is one; null for other text",
        to_float,
    ),
    Function::new(
        "toFloatOrNull",
        (1, 1),
        "toFloatOrNull(x): as toFloat(x), and null in place of an error",
        |call| or_null(to_float(call)),
    ),
    Function::new(
        "toInteger",
        (1, 1),
        "toInteger(x): a number without its fraction, or text that is one; null for other text",
        to_integer,
    ),
    Function::new(
        "toIntegerOrNull",
        (1, 1),
        "toIntegerOrNull(x): as toInteger(x), and null in place of an error",
        |call| or_null(to_integer(call)),
    ),
    Function::new(
        "toString",
        (1, 1),
        "toString(x): a boolean, number, instant, duration or period as text",
        to_string,
    ),
    Function::new(
        "toStringOrNull",
        (1, 1),
        "toStringOrNull(x): as toString(x), and null in place of an error",
        |call| or_null(to_string(call)),
    ),
    Function {
        takes_null: true,
        ..Function::new(
            "valueType",
            (1, 1),
            "valueType(x): its kind, as in 'INTEGER', 'STRING', 'LIST', 'NODE' or 'NULL'",
            |call| Ok(Cell::text(value_type(call.argument(0)))),
        )
    },
];

fn coalesce(call: &Call<'_>) -> Result<Cell> {
    let first = call.arguments.iter().find(|cell| **cell != Cell::Null);
    Ok(first.cloned().unwrap_or(Cell::Null))
}

/// Cypher's old test of a property; the binder makes `EXISTS { ... }` of a pattern.
fn exists(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::Bool(*call.argument(0) != Cell::Null))
}

fn null_if(call: &Call<'_>) -> Result<Cell> {
    let (a, b) = (call.argument(0), call.argument(1));
    Ok(if a.equals(b) == Some(true) { Cell::Null } else { a.clone() })
}

/// Null in place of an error about the value.
fn or_null(result: Result<Cell>) -> Result<Cell> {
    match result {
        Err(error) if error.is_about_value() => Ok(Cell::Null),
        result => result,
    }
}

fn to_boolean(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Bool(value) => Ok(Cell::Bool(*value)),
        Cell::Int(value) => Ok(Cell::Bool(*value != 0)),
        Cell::String(text) => Ok(match text.trim().to_ascii_lowercase().as_str() {
            "true" => Cell::Bool(true),
            "false" => Cell::Bool(false),
            _ => Cell::Null,
        }),
        Cell::Float(_) => call.whole(0).map(|_| Cell::Null),
        _ => Err(call.takes("a boolean, a whole number or a string", 0)),
    }
}

fn to_float(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::String(text) => read(text).map_or(Ok(Cell::Null), |value| call.finite(value)),
        cell => match cell.number() {
            Some(value) => Ok(Cell::Float(value)),
            None => Err(call.takes("a number or a string", 0)),
        },
    }
}

fn to_integer(call: &Call<'_>) -> Result<Cell> {
    let whole = |value: f64| whole(value).map(Cell::Int).ok_or_else(|| call.overflow());
    match call.argument(0) {
        Cell::Int(value) => Ok(Cell::Int(*value)),
        Cell::Float(value) => whole(*value),
        Cell::Bool(value) => Ok(Cell::Int(i64::from(*value))),
        Cell::String(text) => match text.trim().parse() {
            Ok(value) => Ok(Cell::Int(value)),
            Err(_) => read(text).map_or(Ok(Cell::Null), whole),
        },
        _ => Err(call.takes("a number, a boolean or a string", 0)),
    }
}

/// The number that a text is, infinite if it is too large; none if it is no number.
fn read(text: &str) -> Option<f64> {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let text = text.trim();
    if text.bytes().all(is_part) { text.parse().ok() } else { None }
}

/// A number without its fraction, if it lies within 64 bits.
fn whole(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (-LIMIT..LIMIT).contains(&value).then_some(value as i64)
}

fn to_string(call: &Call<'_>) -> Result<Cell> {
    match written(call.argument(0), call.context)? {
        Some(text) => Ok(Cell::String(text)),
        None => Err(call.takes("a boolean, number, string, instant, duration or period", 0)),
    }
}

/// A value as text, every digit of it; none if it is null or made of others.
pub(super) fn written(cell: &Cell, context: &Context<'_>) -> Result<Option<Arc<str>>> {
    Ok(Some(match cell {
        Cell::String(text) => Arc::clone(text),
        Cell::Float(value) => Arc::from(format!("{value:?}")),
        Cell::Timestamp(instant) => Arc::from(time::short(*instant)),
        Cell::Bool(_) | Cell::Int(_) | Cell::Duration(_) | Cell::Period(_) => {
            Arc::from(context.materialise(cell, &mut Held::default())?.to_string())
        }
        Cell::Null
        | Cell::List(_)
        | Cell::Map(_)
        | Cell::Node(_)
        | Cell::Fact(_)
        | Cell::Path(_) => return Ok(None),
    }))
}

fn value_type(cell: &Cell) -> &'static str {
    match cell {
        Cell::Null => "NULL",
        Cell::Bool(_) => "BOOLEAN",
        Cell::Int(_) => "INTEGER",
        Cell::Float(_) => "FLOAT",
        Cell::String(_) => "STRING",
        Cell::Timestamp(_) => "TIMESTAMP",
        Cell::Duration(_) => "DURATION",
        Cell::Period(_) => "PERIOD",
        Cell::List(_) => "LIST",
        Cell::Map(_) => "MAP",
        Cell::Node(_) => "NODE",
        Cell::Fact(_) => "FACT",
        Cell::Path(_) => "PATH",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_number() {
        for (text, value) in [
            ("1", Some(1.0)),
            (" -1.5 ", Some(-1.5)),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("1e999", Some(f64::INFINITY)),
            ("", None),
            ("nan", None),
            ("inf", None),
            ("Infinity", None),
            ("1,5", None),
            ("1 2", None),
            ("0x10", None),
            ("e", None),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
    }

    #[test]
    fn whole_numbers_within_64_bits() {
        assert_eq!(whole(-1.9), Some(-1));
        assert_eq!(whole(-9_223_372_036_854_775_808.0), Some(i64::MIN));
        assert_eq!(whole(9_223_372_036_854_775_808.0), None);
        assert_eq!(whole(f64::INFINITY), None);
    }
}
