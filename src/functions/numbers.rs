//! Numbers. Every result is finite, and a whole number stays one where it can.

use std::f64::consts;

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};

/// A float at or beyond it has no digits after the point.
const WHOLE_FROM: f64 = 9_007_199_254_740_992.0;

pub(super) const TABLE: &[Function] = &[
    Function::new("abs", (1, 1), "abs(x): without its sign", abs),
    Function::new("acos", (1, 1), "acos(x): the angle of that cosine, in radians", |call| {
        real(call, f64::acos)
    }),
    Function::new("asin", (1, 1), "asin(x): the angle of that sine, in radians", |call| {
        real(call, f64::asin)
    }),
    Function::new("atan", (1, 1), "atan(x): the angle of that tangent, in radians", |call| {
        real(call, f64::atan)
    }),
    Function::new(
        "atan2",
        (2, 2),
        "atan2(y, x): the angle of the point (x, y), in radians",
        |call| call.finite(call.number(0)?.atan2(call.number(1)?)),
    ),
    Function::new("ceil", (1, 1), "ceil(x): the nearest whole number from x up", |call| {
        stepped(call, f64::ceil)
    }),
    Function::new("ceiling", (1, 1), "ceiling(x): as ceil(x)", |call| stepped(call, f64::ceil)),
    Function::new("cos", (1, 1), "cos(x): the cosine of an angle in radians", |call| {
        real(call, f64::cos)
    }),
    Function::new("degrees", (1, 1), "degrees(x): an angle in radians, in degrees", |call| {
        real(call, f64::to_degrees)
    }),
    Function::new("e", (0, 0), "e(): the base of natural logarithms, 2.718...", |_| {
        Ok(Cell::Float(consts::E))
    }),
    Function::new("exp", (1, 1), "exp(x): e to the power of x", |call| real(call, f64::exp)),
    Function::new("floor", (1, 1), "floor(x): the nearest whole number from x down", |call| {
        stepped(call, f64::floor)
    }),
    Function::new("ln", (1, 1), "ln(x): as log(x)", |call| real(call, f64::ln)),
    Function::new("log", (1, 1), "log(x): the natural logarithm", |call| real(call, f64::ln)),
    Function::new("log10", (1, 1), "log10(x): the logarithm to the base 10", |call| {
        real(call, f64::log10)
    }),
    Function::new("mod", (2, 2), "mod(a, b): what is left of a / b, with the sign of a", modulo),
    Function::new("pi", (0, 0), "pi(): 3.14159...", |_| Ok(Cell::Float(consts::PI))),
    Function::new("power", (2, 2), "power(a, b): a to the power of b, as a ^ b", |call| {
        call.finite(call.number(0)?.powf(call.number(1)?))
    }),
    Function::new("radians", (1, 1), "radians(x): an angle in degrees, in radians", |call| {
        real(call, f64::to_radians)
    }),
    Function::new(
        "round",
        (1, 2),
        "round(x[, digits]): to so many digits after the point (0), halves away from zero",
        round,
    ),
    Function::new("sign", (1, 1), "sign(x): -1, 0 or 1", sign),
    Function::new("sin", (1, 1), "sin(x): the sine of an angle in radians", |call| {
        real(call, f64::sin)
    }),
    Function::new("sqrt", (1, 1), "sqrt(x): the square root", |call| real(call, f64::sqrt)),
    Function::new("tan", (1, 1), "tan(x): the tangent of an angle in radians", |call| {
        real(call, f64::tan)
    }),
];

/// A function of real numbers.
fn real(call: &Call<'_>, function: fn(f64) -> f64) -> Result<Cell> {
    call.finite(function(call.number(0)?))
}

/// A function to whole numbers, each of which it leaves as it is.
fn stepped(call: &Call<'_>, function: fn(f64) -> f64) -> Result<Cell> {
    match call.argument(0) {
        Cell::Int(value) => Ok(Cell::Int(*value)),
        _ => real(call, function),
    }
}

fn abs(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Int(value) => value.checked_abs().map(Cell::Int).ok_or_else(|| call.overflow()),
        _ => real(call, f64::abs),
    }
}

fn sign(call: &Call<'_>) -> Result<Cell> {
    let value = call.number(0)?;
    Ok(Cell::Int(i64::from(value > 0.0) - i64::from(value < 0.0)))
}

fn modulo(call: &Call<'_>) -> Result<Cell> {
    if call.number(1)? == 0.0 {
        return Err(call.fail("division by zero").execute());
    }
    match (call.argument(0), call.argument(1)) {
        // Of the least number and -1 nothing is left, though their quotient is none.
        (Cell::Int(a), Cell::Int(b)) => Ok(Cell::Int(a.wrapping_rem(*b))),
        _ => call.finite(call.number(0)? % call.number(1)?),
    }
}

fn round(call: &Call<'_>) -> Result<Cell> {
    let digits = match call.arguments.len() {
        1 => 0,
        _ => call.amount(1)?,
    };
    match call.argument(0) {
        Cell::Int(value) => Ok(Cell::Int(*value)),
        _ => call.finite(rounded(call.number(0)?, digits)),
    }
}

/// A number to so many digits after the point, as it is written: 1.005 becomes 1.01, though the
/// float is a little less.
fn rounded(value: f64, digits: usize) -> f64 {
    match moved(value, i64::try_from(digits).unwrap_or(i64::MAX)) {
        Some(moved_up) if moved_up.abs() < WHOLE_FROM => {
            let digits = i64::try_from(digits).unwrap_or(i64::MAX);
            moved(moved_up.round(), digits.saturating_neg()).unwrap_or(value)
        }
        _ => value,
    }
}

/// A number with its point moved by so many digits, in decimal: times 10 to that power.
fn moved(value: f64, digits: i64) -> Option<f64> {
    let text = format!("{value:e}");
    let (digits_of, exponent) = text.split_once('e')?;
    let exponent = exponent.parse::<i64>().ok()?.checked_add(digits)?;
    format!("{digits_of}e{exponent}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_decimal() {
        for (value, digits, expected) in [
            (1.005, 2, 1.01),
            (2.675, 2, 2.68),
            (-1.55, 1, -1.6),
            (2.5, 0, 3.0),
            (-2.5, 0, -3.0),
            (0.499_999_999_999_999_94, 0, 0.0),
            (1234.5678, 3, 1234.568),
            (1e300, 5, 1e300),
            (1e-300, 5, 0.0),
            (0.1, 400, 0.1),
            (5e-324, usize::MAX, 5e-324),
            (0.0, 2, 0.0),
        ] {
            assert_eq!(rounded(value, digits), expected, "{value} {digits}");
        }
    }
}
