//! One row in which nothing is bound.

use crate::cell::Cell;
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator};

pub(crate) struct Once {
    row: Option<Chunk>,
}

impl Once {
    pub(crate) fn new(width: usize) -> Self {
        Self { row: Some(vec![vec![Cell::Null; width]]) }
    }
}

impl Operator for Once {
    fn next(&mut self, _context: &Context<'_>) -> Result<Option<Chunk>> {
        Ok(self.row.take())
    }
}
