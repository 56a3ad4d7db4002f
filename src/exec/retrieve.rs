//! A retrieval clause over all rows of its input: what it does is in `retrieval`.

use std::sync::Arc;

use crate::cell::Row;
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator, Ready, drain, hold, retrieval};
use crate::plan::retrieval::Retrieval;

pub(crate) struct Retrieve {
    /// Taken once it is read to its end.
    input: Option<Box<dyn Operator>>,
    clause: Arc<Retrieval>,
    /// The row that the plan begins with.
    begin: Row,
    ready: Ready,
    /// Bytes of the rows that it holds.
    held: usize,
}

impl Retrieve {
    pub(crate) fn new(input: Box<dyn Operator>, clause: Arc<Retrieval>, begin: Row) -> Self {
        Self { input: Some(input), clause, begin, ready: Ready::default(), held: 0 }
    }
}

impl Operator for Retrieve {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        if let Some(mut input) = self.input.take() {
            let rows: Vec<Row> = drain(&mut *input, context, &mut self.held)?;
            let found = retrieval::run(&self.clause, rows, &self.begin, context)?;
            context.rows(found.len())?;
            context.hold(&mut self.held, 0)?;
            hold(&found, &mut self.held, context)?;
            self.ready = Ready::new(found);
        }
        Ok(self.ready.next(want))
    }
}
