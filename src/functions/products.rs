//! The dot product of two lists of numbers, such as a vector that is kept as a property and another
//! one.
//!
//! A list of a node's property is read as it is stored: made a list of the query first, it would take
//! far longer than the product.

use std::sync::Arc;

use engraph_grammar::ast::Span;
use engraph_storage::graph::{NodeRecord, PropertyId, Value};

use crate::cell::{Cell, Row};
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::eval;
use crate::functions::{Call, Function};
use crate::plan::expr::{Expr, ExprKind};

/// Its name.
pub(crate) const DOT: &str = "dot";

pub(super) const TABLE: &[Function] = &[Function::new(
    DOT,
    (2, 2),
    "dot(a, b): the sum of the products of two lists of numbers",
    |call| {
        let side = |place| Side::of(call.argument(place).clone());
        product(&side(0), &side(1), call)
    },
)];

/// One of the two lists, or what stands in its place.
enum Side {
    Cells(Arc<Vec<Cell>>),
    Stored(Arc<NodeRecord>, PropertyId),
    Other(Cell),
}

/// The product of what the two expressions give.
pub(crate) fn dot(
    function: &'static Function,
    arguments: &[Expr],
    (row, span): (&Row, Span),
    context: &Context<'_>,
) -> Result<Cell> {
    let [left, right] = arguments else { return Ok(Cell::Null) };
    let (left, right) = (Side::eval(left, row, context)?, Side::eval(right, row, context)?);
    product(&left, &right, &Call { function, arguments: &[], span, context })
}

impl Side {
    fn of(cell: Cell) -> Self {
        match cell {
            Cell::List(items) => Self::Cells(items),
            other => Self::Other(other),
        }
    }

    fn eval(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Self> {
        if let ExprKind::Property(inner, name) = &expr.kind
            && let Some(property) = context.reader.catalog().property(name)
            && let Cell::Node(node) = eval::eval(inner, row, context)?
        {
            let record = context.node(node)?;
            if matches!(record.properties.get(&property), Some(Value::List(_))) {
                return Ok(Self::Stored(record, property));
            }
        }
        eval::eval(expr, row, context).map(Self::of)
    }

    fn stored(&self) -> &[Value] {
        match self {
            Self::Stored(record, property) => match record.properties.get(property) {
                Some(Value::List(items)) => items,
                _ => &[],
            },
            _ => &[],
        }
    }
}

/// A number of a list; none if it is something else.
trait Number {
    fn number(&self) -> Option<f64>;
}

impl Number for Cell {
    fn number(&self) -> Option<f64> {
        Cell::number(self)
    }
}

impl Number for Value {
    fn number(&self) -> Option<f64> {
        match self {
            // As in every arithmetic of mixed numbers.
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }
}

fn product(left: &Side, right: &Side, call: &Call<'_>) -> Result<Cell> {
    match (left, right) {
        (Side::Other(Cell::Null), _) | (_, Side::Other(Cell::Null)) => Ok(Cell::Null),
        (Side::Other(_), _) | (_, Side::Other(_)) => {
            Err(call.fail("dot takes two lists of numbers").execute())
        }
        (Side::Cells(left), Side::Cells(right)) => sum(left, right, call),
        (Side::Cells(left), right) => sum(left, right.stored(), call),
        (left, Side::Cells(right)) => sum(left.stored(), right, call),
        (left, right) => sum(left.stored(), right.stored(), call),
    }
}

fn sum<L: Number, R: Number>(left: &[L], right: &[R], call: &Call<'_>) -> Result<Cell> {
    if left.len() != right.len() {
        let message =
            format!("dot takes two lists of one length, not {} and {}", left.len(), right.len());
        return Err(call.fail(message).execute());
    }
    let mut sum = 0.0;
    for (left, right) in left.iter().zip(right) {
        match (left.number(), right.number()) {
            (Some(left), Some(right)) => sum += left * right,
            _ => return Err(call.fail("dot takes two lists of numbers").execute()),
        }
    }
    call.finite(sum)
}
