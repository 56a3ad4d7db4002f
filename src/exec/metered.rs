//! An operator with what it costs, for `PROFILE`. It changes nothing that passes through.

use std::time::Instant;

use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator};

pub(crate) struct Metered {
    pub(crate) inner: Box<dyn Operator>,
    /// Its place in the plan.
    pub(crate) place: usize,
}

impl Operator for Metered {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let (before, begun) = (context.run.cost(), Instant::now());
        let next = self.inner.next(context, want);
        let rows = next.as_ref().ok().and_then(Option::as_ref).map_or(0, Vec::len);
        context.run.add_cost(self.place, rows, begun.elapsed(), before);
        next
    }
}
