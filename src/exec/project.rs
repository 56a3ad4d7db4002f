//! Each input row with the values of the expressions.

use std::sync::Arc;

use crate::cell::Cell;
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::weighed::Weighed;
use crate::exec::{Chunk, Operator, eval};
use crate::plan::expr::{Expr, Slot};

pub(crate) struct Project {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) items: Arc<[(Slot, Expr)]>,
}

impl Operator for Project {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.input.next(context, want)? else { return Ok(None) };
        let exprs: Vec<&Expr> = self.items.iter().map(|item| &item.1).collect();
        eval::warm(&exprs, chunk.iter(), context)?;
        // Values are made here, so the rows of a chunk are weighed here, with what they had before.
        let (mut held, mut bytes) = (Held::default(), 0);
        for row in &mut chunk {
            let mut weighed = Weighed::default();
            for (slot, expr) in self.items.iter() {
                row[*slot] = weighed.eval(expr, row, context)?;
            }
            drop(weighed);
            let large = row.iter().filter(|cell| cell.is_large());
            bytes += large.map(Cell::bytes).sum::<usize>();
            context.hold(&mut held, bytes)?;
        }
        Ok(Some(chunk))
    }
}
