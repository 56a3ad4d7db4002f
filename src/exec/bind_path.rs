//! Each input row with the path along its facts.

use std::sync::Arc;

use engraph_storage::graph::{Edge, SystemScope};

use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator};
use crate::plan::expr::Slot;

pub(crate) struct BindPath {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) path: Slot,
    pub(crate) start: Slot,
    pub(crate) facts: Vec<Slot>,
}

impl BindPath {
    fn path(&self, row: &Row) -> Cell {
        let Cell::Node(start) = row[self.start] else { return Cell::Null };
        let mut path = PathRef { nodes: vec![start], facts: Vec::new() };
        for slot in &self.facts {
            match &row[*slot] {
                Cell::Fact(edge) => extend(&mut path, *edge, start.system),
                Cell::List(items) => items.iter().for_each(|item| {
                    if let Cell::Fact(edge) = item {
                        extend(&mut path, *edge, start.system);
                    }
                }),
                _ => return Cell::Null,
            }
        }
        Cell::Path(Arc::new(path))
    }
}

/// Adds a fact and the node at its other end, as it is in that state.
pub(crate) fn extend(path: &mut PathRef, edge: Edge, system: SystemScope) {
    let Some(last) = path.nodes.last() else { return };
    let id = if edge.head == last.id { edge.tail } else { edge.head };
    let node = NodeRef { id, system };
    path.nodes.push(node);
    path.facts.push(edge);
}

impl Operator for BindPath {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.input.next(context, want)? else { return Ok(None) };
        for row in &mut chunk {
            row[self.path] = self.path(row);
        }
        Ok(Some(chunk))
    }
}
