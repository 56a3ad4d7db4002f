//! A plan within an expression: run for one row, as far as its answer needs. What it costs is part
//! of the operator around it.

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::lower::lower;
use crate::exec::{CHUNK_ROWS, Operator};
use crate::plan::expr::{Answer, Subquery};

/// The value of a plan within an expression.
pub(crate) fn answer(subquery: &Subquery, row: &Row, context: &Context<'_>) -> Result<Cell> {
    let mut operator: Box<dyn Operator> = lower(&subquery.plan, row, None);
    context.work(1)?;
    match subquery.answer {
        Answer::Exists => Ok(Cell::Bool(operator.next(context, 1)?.is_some())),
        Answer::Count => {
            let mut count = 0;
            while let Some(chunk) = operator.next(context, CHUNK_ROWS)? {
                count += chunk.len();
            }
            Ok(Cell::Int(i64::try_from(count).unwrap_or(i64::MAX)))
        }
        Answer::Collect(slot) => {
            let (mut items, mut bytes, mut held) = (Vec::new(), 0, Held::default());
            while let Some(chunk) = operator.next(context, CHUNK_ROWS)? {
                let from = items.len();
                items.extend(
                    chunk.into_iter().map(|mut row| std::mem::replace(&mut row[slot], Cell::Null)),
                );
                bytes += items[from..].iter().map(Cell::bytes).sum::<usize>();
                context.hold(&mut held, bytes)?;
                context.rows(items.len())?;
            }
            Ok(Cell::list(items))
        }
    }
}
