//! The rows of several inputs, one input after the other.

use crate::cell::Cell;
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator};
use crate::plan::expr::Slot;

pub(crate) struct Union {
    pub(crate) inputs: Vec<(Box<dyn Operator>, Vec<Slot>)>,
    pub(crate) slots: Vec<Slot>,
    /// The input that is read.
    pub(crate) at: usize,
}

impl Operator for Union {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        while let Some((input, from)) = self.inputs.get_mut(self.at) {
            let Some(mut chunk) = input.next(context, want)? else {
                self.at += 1;
                continue;
            };
            for row in &mut chunk {
                let cells: Vec<Cell> = from.iter().map(|slot| row[*slot].clone()).collect();
                for (slot, cell) in self.slots.iter().zip(cells) {
                    row[*slot] = cell;
                }
            }
            return Ok(Some(chunk));
        }
        Ok(None)
    }
}
