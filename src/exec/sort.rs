//! The input rows in order, or the first of them; rows that are equal stay as they came.

use std::cmp::Ordering;

use crate::cell::{Cell, Row};
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Ready, eval};
use crate::plan::SortKey;
use crate::plan::expr::Expr;

pub(crate) struct Sort {
    /// Taken once it is read to its end.
    pub(crate) input: Option<Box<dyn Operator>>,
    pub(crate) ready: Ready,
    pub(crate) keys: Vec<SortKey>,
    /// Rows that will be asked for; the rest is not kept.
    pub(crate) first: Option<usize>,
}

impl Sort {
    fn sorted(&self, input: &mut dyn Operator, context: &Context<'_>) -> Result<Vec<Row>> {
        let exprs: Vec<&Expr> = self.keys.iter().map(|key| &key.expr).collect();
        let mut rows: Vec<(Vec<Cell>, Row)> = Vec::new();
        while let Some(chunk) = input.next(context)? {
            eval::warm(&exprs, chunk.iter(), context)?;
            for row in chunk {
                let key = exprs.iter().map(|expr| eval::eval(expr, &row, context));
                rows.push((key.collect::<Result<_>>()?, row));
            }
            if let Some(first) = self.first
                && rows.len() > first.saturating_add(CHUNK_ROWS).saturating_mul(2)
            {
                rows.sort_by(|a, b| self.order(&a.0, &b.0));
                rows.truncate(first);
            }
            context.rows(rows.len())?;
        }
        rows.sort_by(|a, b| self.order(&a.0, &b.0));
        rows.truncate(self.first.unwrap_or(usize::MAX));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn order(&self, a: &[Cell], b: &[Cell]) -> Ordering {
        let orders = self.keys.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| {
            let order = a.order(b);
            if key.descending { order.reverse() } else { order }
        });
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl Operator for Sort {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>> {
        if let Some(mut input) = self.input.take() {
            self.ready = Ready::new(self.sorted(&mut *input, context)?);
        }
        Ok(self.ready.next())
    }
}
