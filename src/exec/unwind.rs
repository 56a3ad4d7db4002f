//! Each input row with each item of a list.

use crate::cell::{Cell, Row};
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken, eval};
use crate::plan::expr::{Expr, Slot};

pub(crate) struct Unwind {
    input: Taken,
    list: Expr,
    item: Slot,
    row: Row,
    items: std::vec::IntoIter<Cell>,
}

impl Unwind {
    pub(crate) fn new(input: Box<dyn Operator>, list: Expr, item: Slot) -> Self {
        Self {
            input: Taken::new(input),
            list,
            item,
            row: Row::new(),
            items: Vec::new().into_iter(),
        }
    }
}

impl Operator for Unwind {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let mut chunk = Vec::new();
        while chunk.len() < want.clamp(1, CHUNK_ROWS) {
            if let Some(item) = self.items.next() {
                let mut row = self.row.clone();
                row[self.item] = item;
                chunk.push(row);
                continue;
            }
            let Some(row) = self.input.next(context)? else { break };
            // As in GQL and Cypher: null has no items, and what is no list is one item.
            let items = match eval::eval(&self.list, &row, context)? {
                Cell::List(items) => items,
                Cell::Null => Vec::new(),
                other => vec![other],
            };
            context.work(items.len())?;
            (self.row, self.items) = (row, items.into_iter());
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
