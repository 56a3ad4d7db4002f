//! The nodes that one relation pattern leads to from all input rows, each once: what `DISTINCT` or
//! `count(DISTINCT n)` right after the pattern ask for.
//!
//! It stands in the place of an `Expand` and what tells the nodes apart above it, where nobody asks
//! what each of them costs or brings. A row is made of each node, and not of each fact.

use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{EdgeFilter, NodeId, SystemScope};
use rustc_hash::FxHashSet;

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::Result;
use crate::exec::expand::scans_of;
use crate::exec::lower::reach_from;
use crate::exec::scope::Scoped;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken};
use crate::plan::expr::{AggregateFunction, ExprKind, Slot};
use crate::plan::{BoundQuery, End, LogicalPlan, Step};
use crate::rows::Value;

/// The most nodes that are followed at once.
const NODES: usize = 32;
/// Bytes that a node takes which was met.
const NODE_BYTES: usize = 3 * size_of::<(NodeId, SystemScope)>();

/// Where a walk comes from.
pub(super) enum Source {
    Rows(Taken),
    /// Nodes that were found the same way: no row is made of them.
    Nodes(Box<Reach>),
}

pub(super) struct Reach {
    source: Source,
    step: Arc<Step>,
    scope: Scoped,
    /// With nothing bound but what a whole query begins with.
    row: Row,
    /// The same with the node that is followed, where that came without a row.
    from: Row,
    /// Those that are followed now, as they came and alone.
    some: Vec<(NodeId, SystemScope)>,
    nodes: Vec<NodeId>,
    seen: FxHashSet<NodeId>,
    /// Found, and not given on yet.
    found: Vec<(NodeId, SystemScope)>,
    given: usize,
    held: Held,
    /// Whether rows are made of them, of which there may be so many.
    gives_rows: bool,
}

impl Reach {
    pub(super) fn new(source: Source, step: Arc<Step>, row: Row) -> Self {
        let scope = Scoped::new(&step.scope);
        let (some, nodes, from) = (Vec::new(), Vec::new(), row.clone());
        let (seen, found) = (FxHashSet::default(), Vec::new());
        Self {
            source,
            step,
            scope,
            row,
            from,
            some,
            nodes,
            seen,
            found,
            given: 0,
            held: Held::default(),
            gives_rows: true,
        }
    }

    /// The same, of which no rows are made: they are counted.
    pub(super) fn without_rows(self) -> Self {
        Self { gives_rows: false, ..self }
    }

    /// How many nodes may be held.
    fn nodes_max(&self, context: &Context<'_>) -> usize {
        let limits = context.limits();
        if self.gives_rows { limits.rows_max } else { limits.memory_max / NODE_BYTES }
    }

    /// Follows what comes next, of nodes as many as are wanted; whether there was something.
    fn more(&mut self, context: &Context<'_>, want: usize) -> Result<bool> {
        match &mut self.source {
            Source::Rows(rows) => {
                let Some(row) = rows.next(context)? else { return Ok(false) };
                self.follow(&row, context)?;
            }
            Source::Nodes(nodes) => {
                let mut some = std::mem::take(&mut self.some);
                nodes.next_nodes(&mut some, context, want)?;
                let followed = self.follow_all(&some, context);
                let is_end = some.is_empty();
                self.some = some;
                followed?;
                return Ok(!is_end);
            }
        }
        Ok(true)
    }

    /// The next nodes; none at the end.
    fn next_nodes(
        &mut self,
        to: &mut Vec<(NodeId, SystemScope)>,
        context: &Context<'_>,
        want: usize,
    ) -> Result<()> {
        to.clear();
        while self.given == self.found.len() {
            if !self.more(context, want)? {
                return Ok(());
            }
        }
        to.extend(self.found.iter().skip(self.given).take(want.min(NODES)));
        self.given += to.len();
        Ok(())
    }

    /// Finds what nodes lead to: of all of them at once, where the filter is the same for all.
    fn follow_all(&mut self, nodes: &[(NodeId, SystemScope)], context: &Context<'_>) -> Result<()> {
        if self.scope.is_constant() {
            self.nodes.clear();
            self.nodes.extend(nodes.iter().map(|node| node.0));
            let filter = self.scope.filter(&self.step.scope, &self.from, context)?;
            return self.find(&filter, context);
        }
        for (id, system) in nodes {
            let mut row = std::mem::take(&mut self.from);
            row[self.step.from] = Cell::Node(NodeRef { id: *id, system: *system });
            let followed = self.follow(&row, context);
            self.from = row;
            followed?;
        }
        Ok(())
    }

    /// Finds what the node of one row leads to.
    fn follow(&mut self, row: &Row, context: &Context<'_>) -> Result<()> {
        let Cell::Node(from) = row[self.step.from] else { return Ok(()) };
        let filter = self.scope.filter(&self.step.scope, row, context)?;
        self.nodes.clear();
        self.nodes.push(from.id);
        self.find(&filter, context)
    }

    /// Finds what these nodes lead to, as each of them for itself.
    fn find(&mut self, filter: &EdgeFilter, context: &Context<'_>) -> Result<()> {
        let (mut met, nodes_max) = (0, self.nodes_max(context));
        // What several scans find of a node stands together.
        let together = if scans_of(&self.step).nth(1).is_some() { 1 } else { NODES };
        for nodes in self.nodes.chunks(together) {
            for (side, relation) in scans_of(&self.step) {
                context.reader.far_nodes(nodes, side, relation, filter, &mut |far| {
                    met += 1;
                    if self.seen.insert(far) {
                        self.found.push((far, filter.system));
                    }
                    match self.seen.len() > nodes_max {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                })?;
            }
        }
        context.work(met + self.nodes.len())?;
        context.hold(&mut self.held, self.seen.len() * NODE_BYTES)?;
        if self.gives_rows { context.rows(self.seen.len()) } else { Ok(()) }
    }
}

impl Operator for Reach {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let want = want.clamp(1, CHUNK_ROWS);
        while self.found.len() - self.given < want && self.more(context, want)? {}
        let next = self.found.iter().skip(self.given).take(want);
        let chunk: Chunk = next
            .map(|(id, system)| {
                let mut row = self.row.clone();
                row[self.step.to] = Cell::Node(NodeRef { id: *id, system: *system });
                row
            })
            .collect();
        self.given += chunk.len();
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

/// Whether a query is `RETURN DISTINCT id(n)` of what is reached.
pub(super) fn returns_ids(query: &BoundQuery) -> bool {
    let End::Return(columns) = &query.end else { return false };
    let ([(_, column)], LogicalPlan::Distinct { input, slots }) = (columns.as_slice(), &query.plan)
    else {
        return false;
    };
    let is_id = distinct(input, slots).is_some_and(|(.., project)| project.is_some());
    is_id && slots.as_slice() == [*column]
}

/// The answer of such a query: the numbers go into it without rows. See
/// [`Short::rows`](super::short::Short::rows).
pub(super) fn ids(query: &BoundQuery, context: &Context<'_>) -> Result<Option<Vec<Vec<Value>>>> {
    let LogicalPlan::Distinct { input, slots } = &query.plan else { return Ok(None) };
    let Some((below, step, _)) = distinct(input, slots) else { return Ok(None) };
    if super::check(&query.plan, context).is_err() {
        return Ok(None);
    }
    let mut reach = reach_from(below, step, &vec![Cell::Null; query.names.len()]);
    while reach.more(context, NODES)? {}
    let id = |(id, _): &(NodeId, SystemScope)| vec![Value::Int(id.0.cast_signed())];
    let fits = reach.found.len() <= context.limits().rows_max;
    Ok(fits.then(|| reach.found.iter().map(id).collect()))
}

/// One row with the number of nodes that are reached.
pub(super) struct Reached {
    pub(super) reach: Reach,
    pub(super) slot: Slot,
    pub(super) is_given: bool,
}

impl Operator for Reached {
    fn next(&mut self, context: &Context<'_>, _: usize) -> Result<Option<Chunk>> {
        if self.is_given {
            return Ok(None);
        }
        self.is_given = true;
        while self.reach.more(context, NODES)? {}
        let mut row = self.reach.row.clone();
        row[self.slot] = Cell::Int(self.reach.seen.len() as i64);
        Ok(Some(vec![row]))
    }
}

/// The step whose ends are asked for once, and what stands below it: of a plan above which its far
/// node alone is known.
pub(super) fn reached(plan: &LogicalPlan, to: Slot) -> Option<(&LogicalPlan, &Arc<Step>)> {
    let LogicalPlan::Expand { input, step, closes: false, distinct_from } = plan else {
        return None;
    };
    let plain = step.hops.is_none() && step.each.is_none() && distinct_from.is_empty();
    (plain && step.to == to && step.from != to).then_some((input, step))
}

/// The same below a `Distinct` over these slots; with the projection in between, if there is one.
pub(super) fn distinct<'p>(
    input: &'p LogicalPlan,
    slots: &[Slot],
) -> Option<(&'p LogicalPlan, &'p Arc<Step>, Option<&'p LogicalPlan>)> {
    let [slot] = slots else { return None };
    if let LogicalPlan::Project { input: below, items } = input
        && let [(own, expr)] = items.as_ref()
        && own == slot
        && let ExprKind::Call(function, arguments) = &expr.kind
        && function.name == "id"
        && let [of] = arguments.as_slice()
        && let ExprKind::Slot(node, _) = of.kind
    {
        return reached(below, node).map(|(below, step)| (below, step, Some(input)));
    }
    reached(input, *slot).map(|(below, step)| (below, step, None))
}

/// The same below a count of distinct nodes, which then need not be told apart again; and where the
/// count stands.
pub(super) fn counted(plan: &LogicalPlan) -> Option<(&LogicalPlan, &Arc<Step>, Slot)> {
    let LogicalPlan::Aggregate { input, keys, aggregates } = plan else { return None };
    let [aggregate] = aggregates.as_slice() else { return None };
    let counts = aggregate.function == AggregateFunction::Count && aggregate.distinct;
    let Some(ExprKind::Slot(node, _)) = aggregate.argument.as_ref().map(|of| &of.kind) else {
        return None;
    };
    let (below, step) = reached(input, *node).filter(|_| counts && keys.is_empty())?;
    Some((below, step, aggregate.slot))
}
