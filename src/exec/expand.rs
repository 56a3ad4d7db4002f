//! Each input row with each way to follow one relation pattern: one prefix scan a node, with the
//! filters inside the scan.
//!
//! A node with very many facts is read in pages, so that a run which needs few rows reads few. Between two
//! nodes that are bound the facts of the one that has fewer are read.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::EdgeMark;
use engraph_storage::graph::{Edge, EdgeFilter, FactId, NodeId, RelationId, Side};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::context::limits::narrow;
use crate::error::Result;
use crate::exec::scope::Scoped;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken};
use crate::plan::Step;
use crate::plan::expr::Slot;

pub(crate) struct Expand {
    input: Taken,
    step: Arc<Step>,
    scope: Scoped,
    closes: bool,
    distinct_from: Vec<Slot>,
    reading: Option<Reading>,
    /// The end at which a step that closes last found few facts is the far one, which was bound before the near one.
    from_far: bool,
}

/// Facts that are read of either end before many of one are.
const FEW: usize = 16;

/// Where the facts of one row's node are read.
struct Reading {
    row: Row,
    from: NodeId,
    filter: EdgeFilter,
    /// Facts that the row holds already.
    met: Vec<FactId>,
    /// What is still to be read, the next one last.
    scans: Vec<(Side, Option<RelationId>)>,
    after: Option<EdgeMark>,
    /// Versions that stand on both sides of a node and were found from one, where both are followed.
    both: HashSet<(FactId, u32)>,
}

impl Reading {
    /// The next facts of a node: of that of the row after those that were read, of another from the first on.
    fn some(
        &self,
        near: NodeId,
        side: Side,
        relation: Option<RelationId>,
        want: usize,
        context: &Context<'_>,
    ) -> Result<Vec<Edge>> {
        let mut found = Vec::new();
        let mut visit = |edge: Edge| {
            found.push(edge);
            if found.len() < want { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let after = self.after.as_ref();
        context.reader.edges_after(near, side, relation, &self.filter, after, &mut visit)?;
        context.work(found.len() + 1)?;
        Ok(found)
    }
}

impl Expand {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        step: Arc<Step>,
        closes: bool,
        distinct_from: Vec<Slot>,
    ) -> Self {
        let scope = Scoped::new(&step.scope);
        let input = Taken::new(input);
        Self { input, step, scope, closes, distinct_from, reading: None, from_far: true }
    }

    fn begin(&mut self, row: Row, context: &Context<'_>) -> Result<Option<Reading>> {
        let Cell::Node(from) = row[self.step.from] else { return Ok(None) };
        let filter = self.scope.filter(&self.step.scope, &row, context)?;
        let mut scans: Vec<_> = scans_of(&self.step).collect();
        scans.reverse();
        let met = met(&row, &self.distinct_from);
        let from = from.id;
        Ok(Some(Reading { row, from, filter, met, scans, after: None, both: HashSet::new() }))
    }

    /// The rows of the next facts; none when all were read.
    fn page(
        &mut self,
        reading: &mut Reading,
        context: &Context<'_>,
        want: usize,
    ) -> Result<Option<Chunk>> {
        let Some(&(side, relation)) = reading.scans.last() else { return Ok(None) };
        // Of those between two nodes few are kept.
        let want = if self.closes { CHUNK_ROWS } else { want };
        let to = self.end_of(&reading.row).filter(|_| reading.after.is_none());
        let (found, is_last) = match to {
            Some(to) => self.between(reading, to, (side, relation), context)?,
            None => {
                let found = reading.some(reading.from, side, relation, want, context)?;
                let is_last = found.len() < want;
                (found, is_last)
            }
        };
        match found.last().filter(|_| !is_last) {
            Some(last) => reading.after = Some(EdgeMark::of(last, side)),
            None => {
                reading.scans.pop();
                reading.after = None;
            }
        }
        let two = self.step.sides.len() > 1;
        let mut chunk = Vec::new();
        for edge in found {
            // A fact from a node to itself, and one that is found from both its ends, is met once.
            if reading.met.contains(&edge.fact)
                || two && is_on_both_sides(&edge) && !reading.both.insert((edge.fact, edge.version))
            {
                continue;
            }
            let far = edge.far(side);
            chunk.extend(self.reach(reading, edge, far));
        }
        Ok(Some(chunk))
    }

    /// The facts between the node of a row and another one, and whether these are all: those of the end that has few,
    /// which is looked for where it was last, a few at both before many at one; the first ones of the near end if
    /// both have many.
    fn between(
        &mut self,
        reading: &Reading,
        to: NodeId,
        (side, relation): (Side, Option<RelationId>),
        context: &Context<'_>,
    ) -> Result<(Vec<Edge>, bool)> {
        let mut near = Vec::new();
        let first = self.from_far;
        for (from_far, want) in
            [(first, FEW), (!first, FEW), (first, CHUNK_ROWS), (!first, CHUNK_ROWS)]
        {
            let (node, at) = if from_far { (to, side.other()) } else { (reading.from, side) };
            let mut found = reading.some(node, at, relation, want, context)?;
            if found.len() < want {
                self.from_far = from_far;
                let other = if from_far { reading.from } else { to };
                found.retain(|edge| edge.far(at) == other);
                return Ok((found, true));
            }
            if !from_far {
                near = found;
            }
        }
        Ok((near, false))
    }

    /// The node that the step has to arrive at.
    fn end_of(&self, row: &Row) -> Option<NodeId> {
        match row[self.step.to] {
            Cell::Node(node) if self.closes => Some(node.id),
            _ => None,
        }
    }

    /// The row that reaches `far`, unless another node is asked for.
    fn reach(&self, reading: &Reading, edge: Edge, far: NodeId) -> Option<Row> {
        let row = &reading.row;
        if self.closes && self.end_of(row) != Some(far) {
            return None;
        }
        let mut row = row.clone();
        row[self.step.fact] = Cell::Fact(edge);
        if !self.closes {
            row[self.step.to] = Cell::Node(NodeRef { id: far, system: reading.filter.system });
        }
        Some(row)
    }
}

impl Operator for Expand {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let want = want.clamp(1, CHUNK_ROWS);
        let mut chunk = Vec::new();
        while chunk.len() < want {
            let Some(mut reading) = self.reading.take() else {
                let Some(row) = self.input.next(context)? else { break };
                self.reading = self.begin(row, context)?;
                continue;
            };
            if let Some(rows) = self.page(&mut reading, context, want - chunk.len())? {
                chunk.extend(rows);
                self.reading = Some(reading);
            }
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

/// The facts in these slots of a row.
pub(super) fn met(row: &Row, slots: &[Slot]) -> Vec<FactId> {
    let mut met = Vec::new();
    for slot in slots {
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

/// The sides and relations that a step reads, in order.
pub(super) fn scans_of(step: &Step) -> impl Iterator<Item = (Side, Option<RelationId>)> + '_ {
    step.sides.iter().flat_map(|side| {
        let relations: Vec<Option<RelationId>> = match &step.relations {
            None => vec![None],
            Some(relations) => relations.iter().copied().map(Some).collect(),
        };
        relations.into_iter().map(|relation| (*side, relation))
    })
}

/// The facts that a step may take from a node, each with the node at its other end.
pub(crate) fn edges_of(
    near: NodeId,
    step: &Step,
    filter: &EdgeFilter,
    context: &Context<'_>,
) -> Result<Vec<(Edge, NodeId)>> {
    let mut found = Vec::new();
    let mut met = HashSet::new();
    for (side, relation) in scans_of(step) {
        let mut visit = |edge: Edge| {
            let far = edge.far(side);
            // Met once, not once a side.
            if step.sides.len() == 1
                || !is_on_both_sides(&edge)
                || met.insert((edge.fact, edge.version))
            {
                found.push((edge, far));
            }
            if found.len() <= context.limits().rows_max {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        context.reader.edges(near, side, relation, filter, &mut visit)?;
    }
    if found.len() > context.limits().rows_max {
        let message = format!("a node has more than {} facts", context.limits().rows_max);
        return Err(narrow(message));
    }
    context.work(found.len() + 1)?;
    context.hold(&mut Held::default(), found.len() * size_of::<(Edge, NodeId)>())?;
    Ok(found)
}

/// Whether a node has a fact on both its sides: one from a node to itself, or that is found from both its ends.
fn is_on_both_sides(edge: &Edge) -> bool {
    edge.two_way || edge.head == edge.tail
}
