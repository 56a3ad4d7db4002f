//! Plans to rows: one small operator a file, pulled by the one above it, a chunk at a time.
//!
//! ```text
//! LogicalPlan ──lower──▶ Operator ──next──▶ Chunk ──next──▶ Chunk ... ──▶ Rows
//! ```
//!
//! An operator reads one state of the database through its [`Context`] and never writes. It holds
//! no cursor of the disk between two chunks, so a run can be left at any time.

mod aggregate;
mod apply;
mod beam;
mod bind_path;
mod call;
mod distinct;
pub(crate) mod eval;
mod expand;
mod filter;
mod hop;
mod index_scan;
pub(crate) mod lineage;
mod lower;
mod metered;
mod newest;
mod node_lookup;
mod node_scan;
mod once;
mod project;
mod reach;
pub(crate) mod retrieval;
mod retrieve;
pub(crate) mod scope;
pub(crate) mod short;
mod slice;
mod sort;
pub(crate) mod subquery;
mod union;
mod unwind;
mod walk;
mod weighed;

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::context::run::Watch;
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::{BoundQuery, LogicalPlan};

use lower::lower;
pub(crate) use lower::operators;

/// Rows that travel together, so that a model sees many inputs at once. Never empty.
pub(crate) type Chunk = Vec<Row>;

/// The number of rows that an operator gathers before it gives them on.
pub(crate) const CHUNK_ROWS: usize = 256;

/// A step of a running query.
pub(crate) trait Operator: Send {
    /// The next rows; none when there are no more. It reads as little as it takes to give `want`
    /// rows, and may give more or fewer, but at least one.
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>>;
}

/// The operators of a query, which begin with a row in which nothing is bound. Watched ones keep
/// account of what they cost, or of what they bring; for that a row has a cell more.
pub(crate) fn start(query: &BoundQuery, watch: Watch) -> Box<dyn Operator> {
    let cells = query.names.len() + usize::from(watch == Watch::Lineage);
    lower(&query.plan, &vec![Cell::Null; cells], (watch != Watch::Nothing).then_some(0))
}

/// Calls `visit` on every row of a query.
pub(crate) fn run(
    query: &BoundQuery,
    context: &Context<'_>,
    visit: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let mut operator = start(query, Watch::Nothing);
    while let Some(chunk) = operator.next(context, CHUNK_ROWS)? {
        for row in chunk {
            visit(row)?;
        }
    }
    Ok(())
}

/// Every row of an input; an error if there are too many to hold.
fn drain(input: &mut dyn Operator, context: &Context<'_>, held: &mut Held) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    while let Some(chunk) = input.next(context, CHUNK_ROWS)? {
        hold(&chunk, held, context)?;
        rows.extend(chunk);
        context.rows(rows.len())?;
    }
    Ok(rows)
}

/// Counts the memory of rows that are kept.
fn hold(rows: &[Row], held: &mut Held, context: &Context<'_>) -> Result<()> {
    context.hold_more(held, bytes(rows))
}

/// Roughly the bytes of rows.
fn bytes(rows: &[Row]) -> usize {
    rows.iter().flatten().map(Cell::bytes).sum()
}

/// A number of things from 0 on; the plan says where it stands.
fn amount(expr: &Expr, context: &Context<'_>) -> Result<usize> {
    match eval::eval(expr, &Row::new(), context)? {
        Cell::Int(value) if value >= 0 => Ok(usize::try_from(value).unwrap_or(usize::MAX)),
        _ => {
            let message = "expected a whole number that is not negative";
            Err(Diagnostic::at(expr.span, message).bind())
        }
    }
}

/// A number of candidates: from 1 up to the limit.
fn candidates(expr: &Expr, word: &str, context: &Context<'_>) -> Result<usize> {
    let (value, max) = (amount(expr, context)?, context.limits().candidates_max);
    if (1..=max).contains(&value) {
        return Ok(value);
    }
    let message = format!("{word} takes a number from 1 to {max}");
    Err(Diagnostic::at(expr.span, message).bind())
}

/// A part of a whole: from 0 to 1.
fn share(expr: &Expr, word: &str, row: &Row, context: &Context<'_>) -> Result<f64> {
    let share = eval::eval(expr, row, context)?.number();
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        Diagnostic::at(expr.span, format!("{word} takes a number from 0 to 1")).execute()
    })
}

/// Rows made at once, given on in chunks. Those that leave are held by whoever takes them.
#[derive(Default)]
struct Ready {
    rows: std::vec::IntoIter<Row>,
    held: Held,
}

impl Ready {
    fn new(rows: Vec<Row>, held: Held) -> Self {
        Self { rows: rows.into_iter(), held }
    }

    fn next(&mut self, want: usize, context: &Context<'_>) -> Result<Option<Chunk>> {
        // Rows that were gathered wait for nothing that looks at the clock.
        context.in_time()?;
        let chunk: Chunk = self.rows.by_ref().take(want.clamp(1, CHUNK_ROWS)).collect();
        if chunk.is_empty() {
            context.hold(&mut self.held, 0)?;
            return Ok(None);
        }
        let left = self.held.bytes().saturating_sub(bytes(&chunk));
        context.hold(&mut self.held, left)?;
        Ok(Some(chunk))
    }
}

/// The rows of an input one by one; it asks for few at first, and for more the more are taken.
struct Taken {
    input: Box<dyn Operator>,
    rows: std::vec::IntoIter<Row>,
    ask: usize,
}

impl Taken {
    fn new(input: Box<dyn Operator>) -> Self {
        Self { input, rows: Vec::new().into_iter(), ask: 1 }
    }

    fn next(&mut self, context: &Context<'_>) -> Result<Option<Row>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            let Some(chunk) = self.input.next(context, self.ask)? else { return Ok(None) };
            self.ask = (self.ask * 2).min(CHUNK_ROWS);
            self.rows = chunk.into_iter();
        }
    }
}

/// How many rows an operator asks for that drops some: the fewer it keeps, the more at once.
struct Asking(usize);

impl Asking {
    fn new(want: usize) -> Self {
        Self(want.clamp(1, CHUNK_ROWS))
    }

    fn rows(&mut self) -> usize {
        let asked = self.0;
        self.0 = (asked * 2).min(CHUNK_ROWS);
        asked
    }
}

/// Checks what can be said before the first row.
pub(crate) fn check(plan: &LogicalPlan, context: &Context<'_>) -> Result<()> {
    let mut result = Ok(());
    plan.exprs(&mut |expr| {
        expr.walk(&mut |part| match &part.kind {
            _ if result.is_err() => {}
            ExprKind::Parameter(name) => {
                result = context.parameter_at(name, part.span).map(drop);
            }
            ExprKind::Subquery(subquery) => result = check(&subquery.plan, context),
            _ => {}
        });
    });
    result?;
    plan.inputs().into_iter().try_for_each(|input| check(input, context))
}
