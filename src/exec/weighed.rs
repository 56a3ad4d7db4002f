//! Values that one row makes one after another, weighed together: each alone may take as much memory as all rows may.

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::eval;
use crate::plan::expr::Expr;

/// What is less is not worth to be counted.
const COUNTED_BYTES: usize = 64 << 10;

/// The values that were made so far; they count as long as it lives.
#[derive(Default)]
pub(crate) struct Weighed {
    bytes: usize,
    held: Held,
}

impl Weighed {
    /// One value more.
    ///
    /// # Errors
    ///
    /// Those of the expression, and one if all that the statement holds is too much with it.
    pub(crate) fn eval(&mut self, expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Cell> {
        let cell = eval::eval(expr, row, context)?;
        if cell.is_large() {
            self.bytes = self.bytes.saturating_add(cell.bytes());
            if self.bytes > COUNTED_BYTES {
                context.hold(&mut self.held, self.bytes)?;
            }
        }
        Ok(cell)
    }
}
