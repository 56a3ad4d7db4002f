//! The input rows for which the condition is true.

use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator, eval};
use crate::plan::expr::Expr;

pub(crate) struct Filter {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) condition: Expr,
}

impl Operator for Filter {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>> {
        while let Some(input) = self.input.next(context)? {
            eval::warm(&[&self.condition], &input, context)?;
            let mut chunk = Vec::new();
            for row in input {
                if eval::holds(&self.condition, &row, context)? {
                    chunk.push(row);
                }
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
