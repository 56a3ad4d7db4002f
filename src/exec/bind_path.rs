//! Each input row with the path along its facts.

use std::sync::Arc;

use engraph_storage::graph::{Edge, SystemScope};

use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator, scope};
use crate::plan::expr::Slot;
use crate::plan::scope::SystemTime;

pub(crate) struct BindPath {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) path: Slot,
    pub(crate) start: Slot,
    /// The facts of each step, and the node at its end.
    pub(crate) steps: Vec<(Slot, Slot)>,
    pub(crate) system: SystemTime,
}

impl BindPath {
    /// The nodes at the ends of steps are those of the row, each as its clause sees it.
    fn path(&self, row: &Row, context: &Context<'_>) -> Result<Cell> {
        let Cell::Node(start) = row[self.start] else { return Ok(Cell::Null) };
        let system = scope::system(&self.system, row, context)?;
        let mut path = PathRef { nodes: vec![start], facts: Vec::new() };
        for (facts, to) in &self.steps {
            let before = path.facts.len();
            match &row[*facts] {
                Cell::Fact(edge) => extend(&mut path, *edge, system),
                Cell::List(items) => items.iter().for_each(|item| {
                    if let Cell::Fact(edge) = item {
                        extend(&mut path, *edge, system);
                    }
                }),
                _ => return Ok(Cell::Null),
            }
            if let (Cell::Node(end), Some(last)) = (&row[*to], path.nodes.last_mut())
                && path.facts.len() > before
            {
                *last = *end;
            }
        }
        Ok(Cell::Path(Arc::new(path)))
    }
}

/// Adds a fact and the node at its other end, as it is in that state.
pub(crate) fn extend(path: &mut PathRef, edge: Edge, system: SystemScope) {
    let Some(last) = path.nodes.last() else { return };
    let id = edge.beyond(last.id);
    let node = NodeRef { id, system };
    path.nodes.push(node);
    path.facts.push(edge);
}

impl Operator for BindPath {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.input.next(context, want)? else { return Ok(None) };
        for row in &mut chunk {
            row[self.path] = self.path(row, context)?;
        }
        Ok(Some(chunk))
    }
}
