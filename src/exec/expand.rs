//! Each input row with each way to follow one relation pattern: one prefix scan a node, with the
//! filters inside the scan.
//!
//! A pattern that repeats is walked depth first as a trail: no fact twice on one way.

use std::collections::HashSet;
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, FactId, NodeId, Side};

use crate::cell::{Cell, NodeRef, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::context::Context;
use crate::exec::{CHUNK_ROWS, Chunk, Operator};
use crate::plan::Step;
use crate::plan::expr::Slot;

/// Facts in a list that count as one row of memory.
const FACTS_PER_ROW: usize = 8;

pub(crate) struct Expand {
    input: Box<dyn Operator>,
    step: Step,
    closes: bool,
    distinct_from: Vec<Slot>,
    rows: std::vec::IntoIter<Row>,
}

impl Expand {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        step: Step,
        closes: bool,
        distinct_from: Vec<Slot>,
    ) -> Self {
        Self { input, step, closes, distinct_from, rows: Vec::new().into_iter() }
    }

    fn follow(&self, row: &Row, context: &Context<'_>, chunk: &mut Chunk) -> Result<()> {
        let Cell::Node(from) = row[self.step.from] else { return Ok(()) };
        let met = self.met(row);
        match self.step.hops {
            None => {
                for (edge, far) in edges_of(from.id, &self.step, context)? {
                    if !met.contains(&edge.fact) {
                        self.reach(row, Cell::Fact(edge), far, chunk);
                    }
                }
                Ok(())
            }
            Some((min, max)) => self.walk(row, from.id, (min, max), &met, context, chunk),
        }
    }

    /// The facts of the same clause that the row holds already.
    fn met(&self, row: &Row) -> Vec<FactId> {
        let mut met = Vec::new();
        for slot in &self.distinct_from {
            match &row[*slot] {
                Cell::Fact(edge) => met.push(edge.fact),
                Cell::List(items) => met.extend(items.iter().filter_map(|item| match item {
                    Cell::Fact(edge) => Some(edge.fact),
                    _ => None,
                })),
                _ => {}
            }
        }
        met
    }

    /// Adds the row that reaches `far`, unless another node is asked for.
    fn reach(&self, row: &Row, fact: Cell, far: NodeId, chunk: &mut Chunk) {
        if self.closes {
            match row[self.step.to] {
                Cell::Node(node) if node.id == far => {}
                _ => return,
            }
        }
        let mut row = row.clone();
        row[self.step.fact] = fact;
        if !self.closes {
            row[self.step.to] = Cell::Node(NodeRef { id: far, system: self.step.filter.system });
        }
        chunk.push(row);
    }

    /// Every trail of `min` to `max` facts, depth first, on a stack of our own.
    fn walk(
        &self,
        row: &Row,
        from: NodeId,
        (min, max): (u32, u32),
        met: &[FactId],
        context: &Context<'_>,
        chunk: &mut Chunk,
    ) -> Result<()> {
        let mut trail: Vec<Edge> = Vec::new();
        let mut on_trail = HashSet::new();
        let mut held = 0;
        if min == 0 {
            self.reach(row, self.list(&[]), from, chunk);
        }
        let first = if max == 0 { Vec::new() } else { edges_of(from, &self.step, context)? };
        let mut stack = vec![first.into_iter()];
        while let Some(level) = stack.last_mut() {
            let Some((edge, far)) = level.next() else {
                stack.pop();
                if let Some(edge) = trail.pop() {
                    on_trail.remove(&edge.fact);
                }
                continue;
            };
            if met.contains(&edge.fact) || !on_trail.insert(edge.fact) {
                continue;
            }
            trail.push(edge);
            let depth = u32::try_from(trail.len()).unwrap_or(u32::MAX);
            if depth >= min {
                let before = chunk.len();
                self.reach(row, self.list(&trail), far, chunk);
                // Facts in lists take memory as rows do.
                if chunk.len() > before && self.step.keeps_facts {
                    held += trail.len();
                }
                context.work(trail.len())?;
                context.rows(chunk.len() + held / FACTS_PER_ROW)?;
            }
            let deeper = if depth < max { edges_of(far, &self.step, context)? } else { Vec::new() };
            stack.push(deeper.into_iter());
        }
        Ok(())
    }

    /// The facts in the order in which the pattern is written; none where nobody asks for them.
    fn list(&self, trail: &[Edge]) -> Cell {
        if !self.step.keeps_facts {
            return Cell::Null;
        }
        let facts = trail.iter().copied().map(Cell::Fact);
        Cell::List(if self.step.against { facts.rev().collect() } else { facts.collect() })
    }
}

/// The facts that a step may take from a node, each with the node at its other end.
pub(crate) fn edges_of(
    near: NodeId,
    step: &Step,
    context: &Context<'_>,
) -> Result<Vec<(Edge, NodeId)>> {
    let mut found = Vec::new();
    let mut met = HashSet::new();
    for side in step.sides {
        let mut visit = |edge: Edge| {
            let far = if *side == Side::Out { edge.tail } else { edge.head };
            // A fact from a node to itself, and one that is found from both its ends, is met once,
            // not once a side.
            if step.sides.len() == 1 || met.insert((edge.fact, edge.version)) {
                found.push((edge, far));
            }
            if found.len() <= context.limits.rows_max {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        match &step.relations {
            None => context.reader.edges(near, *side, None, &step.filter, &mut visit)?,
            Some(relations) => {
                for relation in relations {
                    let only = Some(*relation);
                    context.reader.edges(near, *side, only, &step.filter, &mut visit)?;
                }
            }
        }
    }
    if found.len() > context.limits.rows_max {
        return Err(Diagnostic::new("one node has more facts than rows are allowed").execute());
    }
    context.work(found.len() + 1)?;
    Ok(found)
}

impl Operator for Expand {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Chunk>> {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK_ROWS {
            let row = match self.rows.next() {
                Some(row) => row,
                None => match self.input.next(context)? {
                    Some(rows) => {
                        self.rows = rows.into_iter();
                        continue;
                    }
                    None => break,
                },
            };
            self.follow(&row, context, &mut chunk)?;
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
