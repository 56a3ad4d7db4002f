//! The input rows without the first ones, up to a number; it asks for no row behind the last.

use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator};

pub(crate) struct Slice {
    pub(crate) input: Box<dyn Operator>,
    /// Rows still to leave out.
    pub(crate) skip: usize,
    /// Rows still to give.
    pub(crate) left: usize,
}

impl Operator for Slice {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>> {
        while self.left > 0 {
            let Some(mut chunk) = self.input.next(context)? else { return Ok(None) };
            let skipped = self.skip.min(chunk.len());
            chunk.drain(..skipped);
            self.skip -= skipped;
            chunk.truncate(self.left);
            self.left -= chunk.len();
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
