//! The row that a plan begins with.

use crate::cell::Row;
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator};

pub(crate) struct Once {
    pub(crate) row: Option<Row>,
}

impl Operator for Once {
    fn next(&mut self, _: &Context<'_>, _: usize) -> Result<Option<Chunk>> {
        Ok(self.row.take().map(|row| vec![row]))
    }
}
