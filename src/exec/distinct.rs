//! The input rows, those that are equal in the slots once; the first one stays.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::cell::{Cell, Key};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::lineage::Kept;
use crate::exec::{Asking, Chunk, Operator};
use crate::plan::expr::Slot;

pub(crate) struct Distinct {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) seen: BTreeMap<Key, Kept>,
    /// Bytes of what has been seen.
    pub(crate) held: Held,
}

impl Operator for Distinct {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let mut asking = Asking::new(want);
        while let Some(rows) = self.input.next(context, asking.rows())? {
            let mut bytes = self.held.bytes();
            let mut chunk = Vec::new();
            for mut row in rows {
                let key: Vec<Cell> = self.slots.iter().map(|slot| row[*slot].clone()).collect();
                let size: usize = key.iter().map(Cell::bytes).sum();
                match self.seen.entry(Key(key)) {
                    Entry::Occupied(first) => first.get().add(&row, context)?,
                    Entry::Vacant(place) => {
                        place.insert(Kept::new(&mut row, context)?);
                        bytes += size;
                        chunk.push(row);
                    }
                }
            }
            context.hold(&mut self.held, bytes)?;
            context.rows(self.seen.len())?;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
