//! The input rows, those that are equal in the slots once; the first one stays.

use std::collections::BTreeSet;

use crate::cell::Key;
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator};
use crate::plan::expr::Slot;

pub(crate) struct Distinct {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) seen: BTreeSet<Key>,
}

impl Operator for Distinct {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>> {
        while let Some(mut chunk) = self.input.next(context)? {
            chunk.retain(|row| {
                let key = self.slots.iter().map(|slot| row[*slot].clone()).collect();
                self.seen.insert(Key(key))
            });
            context.rows(self.seen.len())?;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
