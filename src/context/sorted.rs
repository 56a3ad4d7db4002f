//! Putting things in order within the time of a statement.

use std::cmp::Ordering;

use super::Context;
use crate::error::Result;

/// Things from so many bytes on take long to compare: the clock is looked at between them.
const LARGE_BYTES: usize = 4 << 10;

impl Context<'_> {
    /// The things in order; equals stay as they came. `bytes` says how much a comparison may have to
    /// look through.
    pub(crate) fn sorted<T>(
        &self,
        mut things: Vec<T>,
        bytes: &impl Fn(&T) -> usize,
        order: &impl Fn(&T, &T) -> Ordering,
    ) -> Result<Vec<T>> {
        if things.iter().any(|thing| bytes(thing) >= LARGE_BYTES) {
            return self.merged(things, bytes, order);
        }
        things.sort_by(order);
        Ok(things)
    }

    /// By merging halves, which can end between two comparisons when the time is up.
    fn merged<T>(
        &self,
        mut things: Vec<T>,
        bytes: &impl Fn(&T) -> usize,
        order: &impl Fn(&T, &T) -> Ordering,
    ) -> Result<Vec<T>> {
        if things.len() < 2 {
            return Ok(things);
        }
        let behind = things.split_off(things.len() / 2);
        let mut left = self.merged(things, bytes, order)?.into_iter().peekable();
        let mut right = self.merged(behind, bytes, order)?.into_iter().peekable();
        let mut merged = Vec::with_capacity(left.len() + right.len());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            self.passed(bytes(a).min(bytes(b)))?;
            let next = if order(a, b).is_gt() { &mut right } else { &mut left };
            merged.extend(next.next());
        }
        merged.extend(left.chain(right));
        Ok(merged)
    }
}
