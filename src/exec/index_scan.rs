//! Each input row with each node of a label whose property lies in a range, found in an index.
//!
//! The index may give nodes too many, never too few: the condition stays on top. Should the state
//! that is read have no such index, every node of the label is given.

use std::ops::ControlFlow;

use engraph_storage::ValueRange;
use engraph_storage::graph::{LabelId, NodeId, SystemScope};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken, eval};
use crate::plan::expr::Slot;
use crate::plan::{IndexBound, IndexLookup};

pub(crate) struct IndexScan {
    input: Taken,
    node: Slot,
    label: LabelId,
    lookup: IndexLookup,
    place: Option<Place>,
}

/// Where the scan for one row stands.
struct Place {
    row: Row,
    /// None for every node of the label.
    range: Option<ValueRange>,
    mark: Option<engraph_storage::ValueMark>,
    after: Option<String>,
}

impl IndexScan {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        node: Slot,
        label: LabelId,
        lookup: IndexLookup,
    ) -> Self {
        Self { input: Taken::new(input), node, label, lookup, place: None }
    }

    /// The range of a row's values; an outer none if nothing can lie in it.
    fn range(&self, row: &Row, context: &Context<'_>) -> Result<Option<Option<ValueRange>>> {
        if context.reader.index(self.label, self.lookup.property)?.is_none() {
            return Ok(Some(None));
        }
        let mut range: Option<ValueRange> = None;
        for (bound, expr) in &self.lookup.bounds {
            let cell = match eval::eval(expr, row, context) {
                // The condition above may never ask for it.
                Err(error) if error.is_about_value() => return Ok(Some(None)),
                cell => cell?,
            };
            // Nothing compares with null; lists and maps are in no index.
            if cell == Cell::Null {
                return Ok(None);
            }
            let Some(value) = cell.to_property() else { return Ok(Some(None)) };
            let next = match bound {
                IndexBound::Equal => ValueRange::equal(&value),
                IndexBound::Above => ValueRange::above(&value),
                IndexBound::AtLeast => ValueRange::at_least(&value),
                IndexBound::Below => ValueRange::below(&value),
                IndexBound::AtMost => ValueRange::at_most(&value),
                IndexBound::Prefix => match &cell {
                    Cell::String(text) => Some(ValueRange::prefix(text)),
                    _ => None,
                },
            };
            let Some(next) = next else { return Ok(Some(None)) };
            range = Some(match range {
                Some(range) => range.and(next),
                None => next,
            });
        }
        Ok(Some(range))
    }

    fn read(
        &self,
        place: &mut Place,
        context: &Context<'_>,
        want: usize,
    ) -> Result<(Vec<NodeId>, bool)> {
        let mut found = Vec::new();
        let Some(range) = &place.range else {
            let mut last = None;
            let after = place.after.as_deref();
            context.reader.nodes_of_label(self.label, after, &mut |key, id| {
                found.push(id);
                if found.len() < want {
                    return ControlFlow::Continue(());
                }
                last = Some(key.to_owned());
                ControlFlow::Break(())
            })?;
            place.after = last;
            return Ok((found, place.after.is_none()));
        };
        let (property, mark) = (self.lookup.property, place.mark.as_ref());
        place.mark =
            context.reader.nodes_by_value(self.label, property, range, mark, &mut |id| {
                found.push(id);
                if found.len() < want { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        Ok((found, place.mark.is_none()))
    }
}

impl Operator for IndexScan {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        loop {
            let Some(mut place) = self.place.take() else {
                let Some(row) = self.input.next(context)? else { return Ok(None) };
                if let Some(range) = self.range(&row, context)? {
                    self.place = Some(Place { row, range, mark: None, after: None });
                }
                continue;
            };
            let (found, done) = self.read(&mut place, context, want.clamp(1, CHUNK_ROWS))?;
            context.work(found.len() + 1)?;
            let system = SystemScope::Current;
            let row = |id: NodeId| {
                let mut row = place.row.clone();
                row[self.node] = Cell::Node(NodeRef { id, system });
                row
            };
            let chunk: Chunk = found.into_iter().map(row).collect();
            if !done {
                self.place = Some(place);
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
    }
}
