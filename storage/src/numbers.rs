//! Lists of numbers, as they are multiplied: one after the other, as narrow as they can be.
//!
//! It knows nothing of where they are stored.

use std::hint::black_box;
use std::sync::Arc;

use crate::ahead;
use crate::graph::Value;

/// Cache lines of a list that are worth asking for ahead.
const LINES_AHEAD: usize = 8;

/// A list of numbers. Which width it has changes nothing about their values.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// All of them are floats of 32 bits.
    Narrow(Arc<[f32]>),
    /// Floats of 64 bits.
    Wide(Arc<[f64]>),
}

impl Numbers {
    /// The list of a value; none if it is something else, or holds something else.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let Value::List(items) = value else { return None };
        let wide: Arc<[f64]> = items.iter().map(number).collect::<Option<_>>()?;
        let narrow = |wide: &f64| Some(*wide as f32).filter(|narrow| f64::from(*narrow) == *wide);
        let all: Option<Arc<[f32]>> = wide.iter().map(narrow).collect();
        Some(all.map_or(Self::Wide(wide), Self::Narrow))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(narrow) => narrow.len(),
            Self::Wide(wide) => wide.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Asks the memory for all of several lists at once, so that it does not have to be waited for at
    /// each.
    pub(crate) fn touch<'n>(all: impl Iterator<Item = &'n Self>) {
        let bits = |numbers: &Self| match numbers {
            Self::Narrow(narrow) => {
                ahead::lines(narrow, LINES_AHEAD).fold(0, |all, x| all ^ u64::from(x.to_bits()))
            }
            Self::Wide(wide) => ahead::lines(wide, LINES_AHEAD).fold(0, |all, x| all ^ x.to_bits()),
        };
        black_box(all.fold(0, |all, numbers| all ^ bits(numbers)));
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(narrow) => size_of_val::<[f32]>(narrow),
            Self::Wide(wide) => size_of_val::<[f64]>(wide),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        // As in every arithmetic of mixed numbers.
        Value::Int(whole) => Some(*whole as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_as_narrow_as_their_numbers_allow() {
        let of = |items: &[Value]| Numbers::of(&Value::List(items.to_vec()));
        let narrow = of(&[Value::Int(-127), Value::Float(0.5)]);
        assert_eq!(narrow, Some(Numbers::Narrow([-127.0, 0.5].into())));
        let wide = of(&[Value::Float(0.1), Value::Int(1)]);
        assert_eq!(wide, Some(Numbers::Wide([0.1, 1.0].into())));
        let large = of(&[Value::Int((1 << 24) + 1)]);
        assert_eq!(large, Some(Numbers::Wide([16_777_217.0].into())));
        assert_eq!(of(&[Value::Int(1), Value::Null]), None);
        assert_eq!(Numbers::of(&Value::Int(1)), None);
    }
}
