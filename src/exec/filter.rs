//! The input rows for which a condition is true.

use crate::context::Context;
use crate::error::Result;
use crate::exec::{Asking, Chunk, Operator, eval};
use crate::plan::expr::Expr;

pub(crate) struct Filter {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) condition: Expr,
    /// Rows for which the condition fails pass.
    pub(crate) tentative: bool,
}

impl Operator for Filter {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let mut asking = Asking::new(want);
        while let Some(input) = self.input.next(context, asking.rows())? {
            if !self.tentative {
                eval::warm(&[&self.condition], input.iter(), context)?;
            }
            let mut chunk = Vec::with_capacity(input.len());
            for row in input {
                let keeps = match eval::holds(&self.condition, &row, context) {
                    Err(error) if self.tentative && error.is_about_value() => true,
                    keeps => keeps?,
                };
                if keeps {
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
