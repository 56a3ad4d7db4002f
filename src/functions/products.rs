//! The dot product of two lists of numbers, such as a vector that is kept as a property and another
//! one.
//!
//! A list of a node's property comes as it is stored: made a list of the query first, it would take far
//! longer than the product.

use engraph_storage::Numbers;

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};

/// Its name.
pub(crate) const DOT: &str = "dot";

pub(super) const TABLE: &[Function] = &[Function::new(
    DOT,
    (2, 2),
    "dot(a, b): the sum of the products of two lists of numbers",
    |call| {
        let side = |place| Side::of(call.argument(place));
        product(&side(0), &side(1), call)
    },
)];

/// Products are added up in so many sums at once.
const LANES: usize = 8;

/// One of the two lists, or what stands in its place.
pub(crate) enum Side {
    Given(Vec<f64>),
    Stored(Numbers),
    Null,
    Other,
}

impl Side {
    /// What an argument is.
    pub(crate) fn of(cell: &Cell) -> Self {
        match cell {
            Cell::Null => Self::Null,
            cell => numbers(cell).map_or(Self::Other, Self::Given),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Given(numbers) => numbers.len(),
            Self::Stored(numbers) => numbers.len(),
            Self::Null | Self::Other => 0,
        }
    }
}

/// The numbers of a list; none if it is something else, or holds something else.
pub(crate) fn numbers(cell: &Cell) -> Option<Vec<f64>> {
    match cell {
        Cell::List(items) => items.iter().map(Cell::number).collect(),
        _ => None,
    }
}

/// The product of two sides.
pub(crate) fn product(left: &Side, right: &Side, call: &Call<'_>) -> Result<Cell> {
    match (left, right) {
        (Side::Null, _) | (_, Side::Null) => return Ok(Cell::Null),
        (Side::Other, _) | (_, Side::Other) => {
            return Err(call.fail("dot takes two lists of numbers").execute());
        }
        _ if left.len() != right.len() => {
            let message = format!(
                "dot takes two lists of one length, not {} and {}",
                left.len(),
                right.len()
            );
            return Err(call.fail(message).execute());
        }
        _ => {}
    }
    call.finite(match (left, right) {
        (Side::Given(left), Side::Given(right)) => sum(left, right),
        (Side::Given(given), Side::Stored(stored)) | (Side::Stored(stored), Side::Given(given)) => {
            sum_stored(stored, given)
        }
        (Side::Stored(left), Side::Stored(right)) => match right {
            Numbers::Wide(right) => sum_stored(left, right),
            Numbers::Narrow(right) => {
                let wide: Vec<f64> = right.iter().map(|number| f64::from(*number)).collect();
                sum_stored(left, &wide)
            }
        },
        _ => 0.0,
    })
}

/// The product of a stored list and one of the same length.
#[inline(always)]
pub(crate) fn sum_stored(stored: &Numbers, other: &[f64]) -> f64 {
    match stored {
        Numbers::Narrow(stored) => sum(stored, other),
        Numbers::Wide(stored) => sum(stored, other),
    }
}

/// Whichever way lists are stored, their products are added up in the same order.
#[inline(always)]
fn sum<N: Copy + Into<f64>>(left: &[N], right: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((left, left_rest), (right, right_rest)) =
        (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += (*left).into() * right;
        }
    }
    let rest = left_rest.iter().zip(right_rest);
    let rest: f64 = rest.map(|(left, right)| (*left).into() * right).sum();
    sums.iter().sum::<f64>() + rest
}
