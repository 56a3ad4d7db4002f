//! The input rows for which the condition is true.

use crate::error::{Error, Result};
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator, eval};
use crate::plan::expr::Expr;

pub(crate) struct Filter {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) condition: Expr,
    /// Rows for which the condition fails pass.
    pub(crate) tentative: bool,
}

impl Operator for Filter {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>> {
        while let Some(input) = self.input.next(context)? {
            if !self.tentative {
                eval::warm(&[&self.condition], input.iter(), context)?;
            }
            let mut chunk = Vec::new();
            for row in input {
                match eval::holds(&self.condition, &row, context) {
                    Ok(true) => chunk.push(row),
                    Ok(false) => {}
                    Err(Error::Execute(_)) if self.tentative => chunk.push(row),
                    Err(error) => return Err(error),
                }
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
