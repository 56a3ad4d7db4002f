//! The input rows, those that are equal in the slots once; the first one stays.

use std::collections::BTreeSet;

use crate::cell::{Cell, Key};
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator};
use crate::plan::expr::Slot;

pub(crate) struct Distinct {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) seen: BTreeSet<Key>,
    /// Bytes of what has been seen.
    pub(crate) held: usize,
}

impl Operator for Distinct {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        while let Some(mut chunk) = self.input.next(context, want)? {
            let mut bytes = self.held;
            chunk.retain(|row| {
                let key: Vec<Cell> = self.slots.iter().map(|slot| row[*slot].clone()).collect();
                let size: usize = key.iter().map(Cell::bytes).sum();
                let is_new = self.seen.insert(Key(key));
                bytes += if is_new { size } else { 0 };
                is_new
            });
            context.hold(&mut self.held, bytes)?;
            context.rows(self.seen.len())?;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
