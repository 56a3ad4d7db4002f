//! Plans to rows: one small operator a file, pulled by the one above it, a chunk at a time.
//!
//! ```text
//! LogicalPlan ──lower──▶ Operator ──next──▶ Chunk ──next──▶ Chunk ... ──▶ Rows
//! ```
//!
//! An operator reads one state of the database through its [`Context`] and never writes.

mod aggregate;
mod beam;
mod bind_path;
pub(crate) mod context;
mod distinct;
pub(crate) mod eval;
mod expand;
mod filter;
mod lower;
mod node_lookup;
mod node_scan;
mod once;
mod project;
mod search;
mod slice;
mod sort;

use crate::cell::Row;
use crate::error::Result;
use crate::exec::context::Context;
use crate::plan::expr::Slot;
use crate::plan::{BoundQuery, LogicalPlan};
use crate::rows::Rows;

/// Rows that travel together, so that a model sees many inputs at once. Never empty.
pub(crate) type Chunk = Vec<Row>;

/// The number of rows that an operator gathers before it gives them on.
const CHUNK_ROWS: usize = 256;

/// A step of a running query.
pub(crate) trait Operator {
    /// The next rows; none when there are no more.
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>>;
}

/// Calls `visit` on every row of a plan.
pub(crate) fn run(
    query: &BoundQuery,
    plan: &LogicalPlan,
    context: &Context<'_>,
    visit: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let mut operator = lower::lower(plan, query.names.len());
    while let Some(chunk) = operator.next(context)? {
        for row in chunk {
            visit(row)?;
        }
    }
    Ok(())
}

/// The answer of a plan, with everything looked up.
pub(crate) fn answer(
    query: &BoundQuery,
    plan: &LogicalPlan,
    columns: &[(String, Slot)],
    context: &Context<'_>,
) -> Result<Rows> {
    let mut rows = Vec::new();
    run(query, plan, context, &mut |row| {
        let values = columns.iter().map(|(_, slot)| context.materialise(&row[*slot]));
        rows.push(values.collect::<Result<_>>()?);
        context.rows(rows.len())
    })?;
    let columns = columns.iter().map(|column| column.0.clone()).collect();
    Ok(Rows { columns, rows, warnings: Vec::new() })
}

/// Every row of an input; an error if there are too many to hold.
fn drain(input: &mut dyn Operator, context: &Context<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    while let Some(chunk) = input.next(context)? {
        rows.extend(chunk);
        context.rows(rows.len())?;
    }
    Ok(rows)
}

/// Rows made at once, given on in chunks.
#[derive(Default)]
struct Ready {
    rows: std::vec::IntoIter<Row>,
}

impl Ready {
    fn new(rows: Vec<Row>) -> Self {
        Self { rows: rows.into_iter() }
    }

    fn next(&mut self) -> Option<Chunk> {
        let chunk: Chunk = self.rows.by_ref().take(CHUNK_ROWS).collect();
        (!chunk.is_empty()).then_some(chunk)
    }
}
