//! A retrieval clause over all rows of its input: what it does is in `retrieval`.

use std::sync::Arc;

use crate::cell::Row;
use crate::context::Context;
use crate::context::held::Held;
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
}

impl Retrieve {
    pub(crate) fn new(input: Box<dyn Operator>, clause: Arc<Retrieval>, begin: Row) -> Self {
        Self { input: Some(input), clause, begin, ready: Ready::default() }
    }
}

impl Operator for Retrieve {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        if let Some(mut input) = self.input.take() {
            let mut held = Held::default();
            let rows: Vec<Row> = drain(&mut *input, context, &mut held)?;
            let found = retrieval::run(&self.clause, rows, &self.begin, context)?;
            context.rows(found.len())?;
            context.hold(&mut held, 0)?;
            hold(&found, &mut held, context)?;
            self.ready = Ready::new(found, held);
        }
        self.ready.next(want, context)
    }
}
