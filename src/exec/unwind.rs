//! Each input row with each item of a list.

use std::sync::Arc;

use crate::cell::{Cell, Items, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken, eval};
use crate::plan::expr::{Expr, Slot};

pub(crate) struct Unwind {
    input: Taken,
    list: Expr,
    item: Slot,
    row: Row,
    items: Arc<Items>,
    /// The item that comes next.
    at: usize,
}

impl Unwind {
    pub(crate) fn new(input: Box<dyn Operator>, list: Expr, item: Slot) -> Self {
        let (row, items) = (Row::new(), Arc::new(Items::default()));
        Self { input: Taken::new(input), list, item, row, items, at: 0 }
    }
}

impl Operator for Unwind {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let mut chunk = Vec::new();
        while chunk.len() < want.clamp(1, CHUNK_ROWS) {
            if let Some(item) = self.items.get(self.at) {
                self.at += 1;
                let mut row = self.row.clone();
                row[self.item] = item.clone();
                chunk.push(row);
                continue;
            }
            let Some(row) = self.input.next(context)? else { break };
            // As in GQL and Cypher: null has no items, and what is no list is one item.
            let items = match eval::eval(&self.list, &row, context)? {
                Cell::List(items) => items,
                Cell::Null => Arc::new(Items::default()),
                other => Arc::new(vec![other].into()),
            };
            context.work(items.len())?;
            (self.row, self.items, self.at) = (row, items, 0);
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
