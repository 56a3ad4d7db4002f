//! Each input row with each node of the labels, in order of label and key.
//!
//! It holds no cursor between chunks: it goes on after the last key it gave.

use std::ops::ControlFlow;

use engraph_storage::graph::{LabelId, NodeId, SystemScope};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Asking, Chunk, Operator, Taken, scope};
use crate::plan::Labels;
use crate::plan::expr::Slot;
use crate::plan::scope::SystemTime;

pub(crate) struct NodeScan {
    input: Taken,
    node: Slot,
    labels: Labels,
    system: SystemTime,
    place: Option<Place>,
}

/// Where a scan for one input row stands.
struct Place {
    row: Row,
    system: SystemScope,
    labels: Vec<LabelId>,
    after: Option<String>,
}

impl NodeScan {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        node: Slot,
        labels: Labels,
        system: SystemTime,
    ) -> Self {
        Self { input: Taken::new(input), node, labels, system, place: None }
    }

    /// The next input row's scan; false when there is none.
    fn advance(&mut self, context: &Context<'_>) -> Result<bool> {
        let Some(row) = self.input.next(context)? else { return Ok(false) };
        let system = scope::system(&self.system, &row, context)?;
        let mut labels = match &self.labels {
            Some(labels) => labels.clone(),
            None => context.reader.catalog().labels().map(|(label, _)| label).collect(),
        };
        labels.reverse();
        self.place = Some(Place { row, system, labels, after: None });
        Ok(true)
    }
}

impl Operator for NodeScan {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let mut asking = Asking::new(want);
        loop {
            let Some(place) = &mut self.place else {
                if self.advance(context)? {
                    continue;
                }
                return Ok(None);
            };
            let Some(label) = place.labels.last().copied() else {
                self.place = None;
                continue;
            };
            let mut found = Vec::new();
            let mut last = None;
            let asked = asking.rows();
            let after = place.after.as_deref();
            let mut visit = |key: &str, ids: &[NodeId]| {
                found.extend(ids);
                if found.len() < asked {
                    return ControlFlow::Continue(());
                }
                last = Some(key.to_owned());
                ControlFlow::Break(())
            };
            match place.system {
                SystemScope::Current => {
                    context
                        .reader
                        .nodes_of_label(label, after, &mut |key, id| visit(key, &[id]))?;
                }
                _ => context.reader.nodes_ever_of_label(label, after, &mut visit)?,
            }
            context.work(found.len())?;
            if last.is_none() {
                place.labels.pop();
            }
            place.after = last;
            let mut chunk = Vec::new();
            for id in found {
                if place.system == SystemScope::Current
                    || context.reader.node(id, place.system)?.is_some()
                {
                    let mut row = place.row.clone();
                    row[self.node] = Cell::Node(NodeRef { id, system: place.system });
                    chunk.push(row);
                }
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
    }
}
