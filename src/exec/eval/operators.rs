//! Operators over values: predicates, comparison, arithmetic. A null makes what depends on it null.

use std::cmp::Ordering;

use engraph_grammar::ast::{BinaryOp, Span, UnaryOp};
use engraph_storage::graph::Interval;

use super::fits;
use crate::cell::Cell;
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::time::{self, PeriodPredicate};

/// Bytes of values that are compared or joined for the work of one node or fact.
const COMPARED_BYTES: usize = 16 * size_of::<Cell>();

pub(super) fn unary(op: UnaryOp, cell: &Cell, span: Span) -> Result<Cell> {
    match (op, cell) {
        (UnaryOp::IsNull, cell) => Ok(Cell::Bool(*cell == Cell::Null)),
        (UnaryOp::IsNotNull, cell) => Ok(Cell::Bool(*cell != Cell::Null)),
        (UnaryOp::IsTrue, cell) => Ok(Cell::Bool(*cell == Cell::Bool(true))),
        (UnaryOp::IsFalse, cell) => Ok(Cell::Bool(*cell == Cell::Bool(false))),
        (_, Cell::Null) => Ok(Cell::Null),
        (UnaryOp::Not, Cell::Bool(value)) => Ok(Cell::Bool(!value)),
        (UnaryOp::Negate, Cell::Int(value)) => {
            value.checked_neg().map(Cell::Int).ok_or_else(|| overflow(span))
        }
        (UnaryOp::Negate, Cell::Float(value)) => Ok(Cell::Float(-value)),
        (UnaryOp::Not, cell) => Err(mismatch(span, "NOT", "true or false", cell)),
        (UnaryOp::Negate, Cell::Duration(value)) => {
            value.negated().map(Cell::Duration).ok_or_else(|| too_long(false, span))
        }
        (UnaryOp::Negate, cell) => Err(mismatch(span, "`-`", "a number", cell)),
    }
}

pub(super) fn binary(
    op: BinaryOp,
    left: &Cell,
    right: &Cell,
    span: Span,
    context: &Context<'_>,
) -> Result<Cell> {
    if let (BinaryOp::In, Cell::List(items)) = (op, right) {
        context.work(right.whole_bytes() / COMPARED_BYTES)?;
        return Ok(contained(left, items));
    }
    if *left == Cell::Null || *right == Cell::Null {
        return Ok(Cell::Null);
    }
    if left.is_large() && right.is_large() {
        let (left, right) = (left.whole_bytes(), right.whole_bytes());
        if matches!(op, BinaryOp::Add | BinaryOp::Concat) {
            fits(left.saturating_add(right), span, context)?;
        }
        context.work(left.min(right) / COMPARED_BYTES)?;
    }
    match op {
        BinaryOp::Equal => Ok(left.equals(right).map_or(Cell::Null, Cell::Bool)),
        BinaryOp::NotEqual => Ok(left.equals(right).map_or(Cell::Null, |same| Cell::Bool(!same))),
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            compare(op, left, right, span)
        }
        BinaryOp::Xor => match (left, right) {
            (Cell::Bool(a), Cell::Bool(b)) => Ok(Cell::Bool(a != b)),
            _ => Err(mismatch_two(op, left, right, span)),
        },
        BinaryOp::Contains if matches!(left, Cell::Period(_) | Cell::Timestamp(_)) => {
            periods(PeriodPredicate::Contains, op, left, right, span)
        }
        BinaryOp::Overlaps => periods(PeriodPredicate::Overlaps, op, left, right, span),
        BinaryOp::Equals => periods(PeriodPredicate::Equals, op, left, right, span),
        BinaryOp::Precedes => periods(PeriodPredicate::Precedes, op, left, right, span),
        BinaryOp::Succeeds => periods(PeriodPredicate::Succeeds, op, left, right, span),
        BinaryOp::ImmediatelyPrecedes => {
            periods(PeriodPredicate::ImmediatelyPrecedes, op, left, right, span)
        }
        BinaryOp::ImmediatelySucceeds => {
            periods(PeriodPredicate::ImmediatelySucceeds, op, left, right, span)
        }
        BinaryOp::Like => match (left, right) {
            (Cell::String(text), Cell::String(expression)) => {
                let fits = context.run.fits(text, expression);
                fits.map(Cell::Bool).map_err(|unfit| unfit.told(span).execute())
            }
            _ => Err(mismatch_two(op, left, right, span)),
        },
        BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains => match (left, right) {
            (Cell::String(a), Cell::String(b)) => Ok(Cell::Bool(match op {
                BinaryOp::StartsWith => a.starts_with(&**b),
                BinaryOp::EndsWith => a.ends_with(&**b),
                _ => a.contains(&**b),
            })),
            _ => Err(mismatch_two(op, left, right, span)),
        },
        BinaryOp::In => Err(mismatch(span, "IN", "a list on its right", right)),
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::Power
        | BinaryOp::Concat => arithmetic(op, left, right, span),
    }
}

/// A predicate of SQL:2011 over two periods; an instant is a period of its own.
fn periods(
    predicate: PeriodPredicate,
    op: BinaryOp,
    left: &Cell,
    right: &Cell,
    span: Span,
) -> Result<Cell> {
    let period = |cell: &Cell| match cell {
        Cell::Period(period) => Some(*period),
        Cell::Timestamp(at) => Interval::new(*at, at.saturating_add(1)),
        _ => None,
    };
    match (period(left), period(right)) {
        (Some(a), Some(b)) => Ok(Cell::Bool(predicate.holds(a, b))),
        _ => Err(mismatch_two(op, left, right, span)),
    }
}

fn contained(needle: &Cell, items: &[Cell]) -> Cell {
    if *needle == Cell::Null && !items.is_empty() {
        return Cell::Null;
    }
    let mut open = false;
    for item in items {
        match item.equals(needle) {
            Some(true) => return Cell::Bool(true),
            Some(false) => {}
            None => open = true,
        }
    }
    if open { Cell::Null } else { Cell::Bool(false) }
}

fn compare(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Cell> {
    let Some(order) = ordered(op, left, right, span)? else { return Ok(Cell::Null) };
    Ok(Cell::Bool(match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

/// How two values lie, lists item by item; none where a null leaves it open.
fn ordered(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Option<Ordering>> {
    match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => Ok(None),
        (Cell::List(a), Cell::List(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match ordered(op, a, b, span)? {
                    Some(Ordering::Equal) => {}
                    decided => return Ok(decided),
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        (Cell::Node(_) | Cell::Fact(_) | Cell::Path(_), _) => {
            Err(mismatch_two(op, left, right, span))
        }
        _ if left.kind() != right.kind() => Err(mismatch_two(op, left, right, span)),
        _ => Ok(Some(left.order(right))),
    }
}

fn arithmetic(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Cell> {
    match (op, left, right) {
        (BinaryOp::Add | BinaryOp::Concat, Cell::String(a), Cell::String(b)) => {
            Ok(Cell::text(&format!("{a}{b}")))
        }
        (BinaryOp::Add | BinaryOp::Concat, Cell::List(a), Cell::List(b)) => {
            Ok(Cell::list([&a[..], b].concat()))
        }
        (BinaryOp::Add, Cell::List(a), item) => {
            Ok(Cell::list([&a[..], std::slice::from_ref(item)].concat()))
        }
        (BinaryOp::Add, item, Cell::List(b)) => {
            Ok(Cell::list([std::slice::from_ref(item), &b[..]].concat()))
        }
        (BinaryOp::Concat, ..) => Err(mismatch_two(op, left, right, span)),
        (_, Cell::Timestamp(_) | Cell::Duration(_), _) | (_, _, Cell::Duration(_)) => {
            durations(op, left, right, span)
        }
        (BinaryOp::Power, ..) => match (left.number(), right.number()) {
            (Some(a), Some(b)) => finite(a.powf(b), span),
            _ => Err(mismatch_two(op, left, right, span)),
        },
        (_, Cell::Int(a), Cell::Int(b)) => {
            if *b == 0 && matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
                return Err(Diagnostic::at(span, "division by zero").execute());
            }
            let result = match op {
                BinaryOp::Add => a.checked_add(*b),
                BinaryOp::Subtract => a.checked_sub(*b),
                BinaryOp::Multiply => a.checked_mul(*b),
                BinaryOp::Divide => a.checked_div(*b),
                // Of the least number by -1 too, whose quotient there is no room for.
                _ => Some(a.wrapping_rem(*b)),
            };
            result.map(Cell::Int).ok_or_else(|| overflow(span))
        }
        _ => match (left.number(), right.number()) {
            (Some(a), Some(b)) => {
                let result = match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Subtract => a - b,
                    BinaryOp::Multiply => a * b,
                    BinaryOp::Divide => a / b,
                    _ => a % b,
                };
                finite(result, span)
            }
            _ => Err(mismatch_two(op, left, right, span)),
        },
    }
}

/// A number as a value; an error if it is none.
pub(in crate::exec) fn finite(value: f64, span: Span) -> Result<Cell> {
    if value.is_finite() {
        return Ok(Cell::Float(value));
    }
    Err(Diagnostic::at(span, "the result is not a finite number").execute())
}

/// Instants and durations: an instant moves by a duration, two instants are a duration apart.
fn durations(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Cell> {
    use BinaryOp::{Add, Divide, Multiply, Subtract};
    let moved = match (op, left, right) {
        (Add, Cell::Timestamp(at), Cell::Duration(by))
        | (Add, Cell::Duration(by), Cell::Timestamp(at)) => by.add_to(*at).map(Cell::Timestamp),
        (Subtract, Cell::Timestamp(at), Cell::Duration(by)) => {
            by.negated().and_then(|by| by.add_to(*at)).map(Cell::Timestamp)
        }
        (Subtract, Cell::Timestamp(a), Cell::Timestamp(b)) => a.checked_sub(*b).map(|apart| {
            Cell::Duration(time::Duration::new(0, apart / time::DAY, apart % time::DAY))
        }),
        (Add, Cell::Duration(a), Cell::Duration(b)) => a.plus(*b).map(Cell::Duration),
        (Subtract, Cell::Duration(a), Cell::Duration(b)) => a.minus(*b).map(Cell::Duration),
        (Multiply, Cell::Duration(by), factor) | (Multiply, factor, Cell::Duration(by)) => {
            match factor {
                Cell::Int(factor) => by.times(*factor).map(Cell::Duration),
                Cell::Float(factor) => by.scaled(*factor).map(Cell::Duration),
                _ => return Err(mismatch_two(op, left, right, span)),
            }
        }
        (Divide, Cell::Duration(by), divisor) => match divisor.number() {
            Some(0.0) => return Err(Diagnostic::at(span, "division by zero").execute()),
            Some(divisor) => by.divided(divisor).map(Cell::Duration),
            None => return Err(mismatch_two(op, left, right, span)),
        },
        _ => return Err(mismatch_two(op, left, right, span)),
    };
    let is_instant = [left, right].iter().any(|cell| matches!(cell, Cell::Timestamp(_)));
    moved.ok_or_else(|| too_long(is_instant, span))
}

fn too_long(is_instant: bool, span: Span) -> crate::Error {
    let message = match is_instant {
        true => "the result is beyond the years -9999 to 9999",
        false => "the result is too long for a duration",
    };
    Diagnostic::at(span, message).execute()
}

fn overflow(span: Span) -> crate::Error {
    Diagnostic::at(span, "the result is beyond 64-bit whole numbers").execute()
}

pub(in crate::exec) fn mismatch(
    span: Span,
    what: &str,
    expected: &str,
    found: &Cell,
) -> crate::Error {
    Diagnostic::at(span, format!("{what} takes {expected}, not {}", found.kind())).execute()
}

fn mismatch_two(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> crate::Error {
    let message = format!("`{}` does not take {} and {}", op.sign(), left.kind(), right.kind());
    let error = Diagnostic::at(span, message);
    match (left, right) {
        (Cell::Timestamp(_), Cell::String(_)) | (Cell::String(_), Cell::Timestamp(_)) => error
            .help("write an instant as DATE '2023-05-08', and a length of time as DURATION 'P3D'"),
        (Cell::String(_), _) | (_, Cell::String(_)) if op == BinaryOp::Add => {
            error.help("join texts: toString makes one of any value")
        }
        _ => error,
    }
    .execute()
}
