//! An operator with what it costs, for `PROFILE`, and with what it brings, for `TRACE`. Nothing that
//! passes through is changed, but for the cell of a row that says what brought it.

use std::time::Instant;

use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator};

pub(crate) struct Metered {
    pub(crate) inner: Box<dyn Operator>,
    /// Its place in the plan.
    pub(crate) place: usize,
}

impl Operator for Metered {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let (before, begun) = (context.run.cost(), Instant::now());
        let mut next = self.inner.next(context, want);
        let rows = next.as_ref().ok().and_then(Option::as_ref).map_or(0, Vec::len);
        context.run.add_cost(self.place, rows, begun.elapsed(), before);
        if let (Some(lineage), Ok(Some(chunk))) = (context.run.lineage(), &mut next) {
            lineage.append(self.place, chunk, context)?;
        }
        next
    }
}
