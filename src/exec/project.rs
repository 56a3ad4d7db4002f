//! Each input row with the values of the expressions.

use std::sync::Arc;

use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator, eval};
use crate::plan::expr::{Expr, Slot};

pub(crate) struct Project {
    input: Box<dyn Operator>,
    items: Arc<[(Slot, Expr)]>,
    /// The bytes of what it made last.
    held: usize,
}

impl Project {
    pub(crate) fn new(input: Box<dyn Operator>, items: &Arc<[(Slot, Expr)]>) -> Self {
        Self { input, items: Arc::clone(items), held: 0 }
    }
}

impl Operator for Project {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        context.hold(&mut self.held, 0)?;
        let Some(mut chunk) = self.input.next(context, want)? else { return Ok(None) };
        let exprs: Vec<&Expr> = self.items.iter().map(|item| &item.1).collect();
        eval::warm(&exprs, chunk.iter(), context)?;
        let mut bytes = 0;
        for row in &mut chunk {
            for (slot, expr) in self.items.iter() {
                row[*slot] = eval::eval(expr, row, context)?;
                if row[*slot].is_large() {
                    bytes += row[*slot].bytes();
                    context.hold(&mut self.held, bytes)?;
                }
            }
        }
        Ok(Some(chunk))
    }
}
