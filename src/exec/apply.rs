//! Each input row with each row of an inner plan that begins with it.

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::lower::lower;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken};
use crate::plan::LogicalPlan;
use crate::plan::expr::Slot;

pub(crate) struct Apply {
    input: Taken,
    inner: LogicalPlan,
    /// Where the inner plan stands in the whole one, if that is profiled.
    place: Option<usize>,
    optional: Option<Vec<Slot>>,
    running: Option<Running>,
}

/// The inner plan of one input row.
struct Running {
    row: Row,
    operator: Box<dyn Operator>,
    gave: bool,
}

impl Apply {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        inner: LogicalPlan,
        place: Option<usize>,
        optional: Option<Vec<Slot>>,
    ) -> Self {
        Self { input: Taken::new(input), inner, place, optional, running: None }
    }

    /// The row with nulls where the inner plan gave nothing.
    fn missing(&self, running: Running) -> Option<Row> {
        let slots = self.optional.as_ref().filter(|_| !running.gave)?;
        let mut row = running.row;
        for slot in slots {
            row[*slot] = Cell::Null;
        }
        Some(row)
    }
}

impl Operator for Apply {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let want = want.clamp(1, CHUNK_ROWS);
        let mut chunk = Vec::new();
        while chunk.len() < want {
            let Some(running) = &mut self.running else {
                let Some(row) = self.input.next(context)? else { break };
                let operator = lower(&self.inner, &row, self.place);
                self.running = Some(Running { row, operator, gave: false });
                continue;
            };
            match running.operator.next(context, want - chunk.len())? {
                Some(rows) => {
                    running.gave = true;
                    chunk.extend(rows);
                }
                None => {
                    context.work(1)?;
                    let done = self.running.take();
                    chunk.extend(done.and_then(|running| self.missing(running)));
                }
            }
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
