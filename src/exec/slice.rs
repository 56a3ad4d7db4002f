//! The input rows without the first ones, up to a number; it asks for no row after the last.

use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator, amount};
use crate::plan::Cut;

pub(crate) struct Slice {
    input: Box<dyn Operator>,
    cut: Cut,
    /// Rows still to leave out, and still to give; known once the first row is asked for.
    left: Option<(usize, usize)>,
}

impl Slice {
    pub(crate) fn new(input: Box<dyn Operator>, cut: Cut) -> Self {
        Self { input, cut, left: None }
    }
}

impl Operator for Slice {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let (mut skip, mut give) = match self.left {
            Some(left) => left,
            None => {
                let number = |expr| amount(expr, context);
                let skip = self.cut.skip.as_ref().map(number).transpose()?.unwrap_or(0);
                (skip, self.cut.limit.as_ref().map(number).transpose()?.unwrap_or(usize::MAX))
            }
        };
        let mut answer = None;
        while give > 0 {
            let want = want.min(give).saturating_add(skip);
            let Some(mut chunk) = self.input.next(context, want)? else {
                give = 0;
                break;
            };
            let skipped = skip.min(chunk.len());
            chunk.drain(..skipped);
            skip -= skipped;
            chunk.truncate(give);
            give -= chunk.len();
            if !chunk.is_empty() {
                answer = Some(chunk);
                break;
            }
        }
        self.left = Some((skip, give));
        Ok(answer)
    }
}
