//! The input rows in order, or the first of them; rows that are equal stay as they came.

use std::cmp::Ordering;

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Ready, amount, eval};
use crate::plan::expr::Expr;
use crate::plan::{Cut, SortKey};

pub(crate) struct Sort {
    /// Taken once it is read to its end.
    pub(crate) input: Option<Box<dyn Operator>>,
    pub(crate) ready: Ready,
    pub(crate) keys: Vec<SortKey>,
    /// Rows that will be asked for; the rest is not kept.
    pub(crate) first: Option<Cut>,
}

/// The values of the keys, and the row.
type Keyed = (Vec<Cell>, Row);

fn bytes_of((key, row): &Keyed) -> usize {
    key.iter().chain(row).map(Cell::bytes).sum()
}

/// All that a comparison may have to look through.
fn key_bytes((key, _): &Keyed) -> usize {
    key.iter().map(Cell::whole_bytes).fold(0, usize::saturating_add)
}

impl Sort {
    fn sorted(&self, input: &mut dyn Operator, context: &Context<'_>) -> Result<Ready> {
        let first = self.first(context)?;
        let (mut bytes, mut held) = (0, Held::default());
        let exprs: Vec<&Expr> = self.keys.iter().map(|key| &key.expr).collect();
        let mut rows: Vec<Keyed> = Vec::new();
        while let Some(chunk) = input.next(context, CHUNK_ROWS)? {
            eval::warm(&exprs, chunk.iter(), context)?;
            for row in chunk {
                let key = exprs.iter().map(|expr| eval::eval(expr, &row, context));
                let row = (key.collect::<Result<_>>()?, row);
                bytes += bytes_of(&row);
                rows.push(row);
                context.hold(&mut held, bytes)?;
            }
            if let Some(first) = first
                && rows.len() > first.saturating_add(CHUNK_ROWS).saturating_mul(2)
            {
                rows = self.in_order(rows, context)?;
                rows.truncate(first);
                bytes = rows.iter().map(bytes_of).sum();
                context.hold(&mut held, bytes)?;
            }
            context.rows(rows.len())?;
        }
        rows = self.in_order(rows, context)?;
        rows.truncate(first.unwrap_or(usize::MAX));
        let bytes = rows.iter().flat_map(|(_, row)| row.iter().map(Cell::bytes)).sum();
        context.hold(&mut held, bytes)?;
        Ok(Ready::new(rows.into_iter().map(|(_, row)| row).collect(), held))
    }

    fn in_order(&self, rows: Vec<Keyed>, context: &Context<'_>) -> Result<Vec<Keyed>> {
        context.sorted(rows, &key_bytes, &|a: &Keyed, b: &Keyed| self.order(&a.0, &b.0))
    }

    /// How many rows will be asked for, if that is known.
    fn first(&self, context: &Context<'_>) -> Result<Option<usize>> {
        let Some(cut) = &self.first else { return Ok(None) };
        let number =
            |expr: &Option<Expr>| expr.as_ref().map(|expr| amount(expr, context)).transpose();
        let (skip, limit) = (number(&cut.skip)?.unwrap_or(0), number(&cut.limit)?);
        Ok(limit.map(|limit| skip.saturating_add(limit)))
    }

    fn order(&self, a: &[Cell], b: &[Cell]) -> Ordering {
        let orders = self.keys.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| {
            match (a == &Cell::Null, b == &Cell::Null) {
                (true, true) => Ordering::Equal,
                (true, false) if key.nulls_first => Ordering::Less,
                (true, false) => Ordering::Greater,
                (false, true) if key.nulls_first => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) if key.descending => b.order(a),
                (false, false) => a.order(b),
            }
        });
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl Operator for Sort {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        if let Some(mut input) = self.input.take() {
            self.ready = self.sorted(&mut *input, context)?;
        }
        self.ready.next(want, context)
    }
}
