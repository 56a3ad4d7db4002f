//! Which operators brought what is in a row, for `TRACE`.
//!
//! Each row carries one cell more, after its slots: the last step that made it. A step knows the
//! steps before it, so rows share what they have in common, and an operator that puts rows together
//! joins what brought them. Nothing of this is there when nobody traces.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::Edge;

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::context::derived::is_derived;
use crate::context::held::Held;
use crate::context::lineage::{Lineage, Step, Traced};
use crate::error::Result;
use crate::plan::expr::Slot;
use crate::plan::retrieval::Retrieval;
use crate::plan::{BoundQuery, LogicalPlan};
use crate::rows::{Rows, Value};

/// The columns of a trace. They stay as they are: what is new comes after them.
const COLUMNS: [&str; 7] =
    ["row", "operator", "evidence", "found", "fact", "sources", "system_time"];

impl Lineage {
    /// Of the operators of a query.
    pub(crate) fn of(query: &BoundQuery) -> Self {
        let mut operators = Vec::new();
        collect(&query.plan, &mut operators);
        Self::new(operators, query.names.len())
    }

    /// The operator at a place of the plan has made these rows.
    pub(super) fn append(
        &self,
        place: usize,
        chunk: &mut [Row],
        context: &Context<'_>,
    ) -> Result<()> {
        let operator = self.operators.get(place).filter(|operator| !operator.slots.is_empty());
        let Some(operator) = operator else { return Ok(()) };
        for row in chunk {
            let cells = operator.slots.iter().map(|slot| (*slot, &row[*slot]));
            let brought = cells
                .filter(|(_, cell)| **cell != Cell::Null)
                .filter(|(_, cell)| !(operator.only_values && is_evidence(cell)));
            let found: Vec<(Slot, Cell)> =
                brought.map(|(slot, cell)| (slot, cell.clone())).collect();
            if !found.is_empty() {
                let before = self.step_of(row).into_iter().collect();
                self.add(row, Step { operator: Some(place), before, found }, context)?;
            }
        }
        Ok(())
    }

    fn add(&self, row: &mut Row, step: Step, context: &Context<'_>) -> Result<()> {
        self.hold(step.bytes(), context)?;
        let mut steps = self.steps.borrow_mut();
        if let (Some(cell), Ok(at)) = (row.get_mut(self.slot), i64::try_from(steps.len())) {
            *cell = Cell::Int(at);
            steps.push(step);
        }
        Ok(())
    }

    fn hold(&self, bytes: usize, context: &Context<'_>) -> Result<()> {
        context.hold_more(&mut self.held.borrow_mut(), bytes)
    }
}

/// Rows that are put together: what brought each of them.
#[derive(Clone, Default)]
pub(super) struct Joined(Vec<usize>);

impl Joined {
    /// Adds a row. Gives the bytes that this takes.
    pub(super) fn add(&mut self, row: &Row, context: &Context<'_>) -> usize {
        let step = context.run.lineage().and_then(|lineage| lineage.step_of(row));
        self.0.extend(step);
        step.map_or(0, |_| size_of::<usize>())
    }

    /// The row is what the rows were put together to, and has what brought it besides.
    pub(super) fn finish(mut self, row: &mut Row, context: &Context<'_>) -> Result<()> {
        let Some(lineage) = context.run.lineage() else { return Ok(()) };
        self.0.extend(lineage.step_of(row));
        self.0.sort_unstable();
        self.0.dedup();
        if self.0.is_empty() {
            return Ok(());
        }
        let step = Step { operator: None, before: self.0, found: Vec::new() };
        lineage.add(row, step, context)
    }
}

/// A row that was given on already, to which others are found to be equal.
#[derive(Clone, Copy)]
pub(super) struct Kept(Option<usize>);

impl Kept {
    /// The row is given on.
    pub(super) fn new(row: &mut Row, context: &Context<'_>) -> Result<Self> {
        Joined::default().finish(row, context)?;
        Ok(Self(context.run.lineage().and_then(|lineage| lineage.step_of(row))))
    }

    /// This row is equal to it, and goes no further.
    pub(super) fn add(self, row: &Row, context: &Context<'_>) -> Result<()> {
        let (Some(kept), Some(lineage)) = (self.0, context.run.lineage()) else { return Ok(()) };
        let Some(step) = lineage.step_of(row) else { return Ok(()) };
        lineage.hold(size_of::<usize>(), context)?;
        if let Some(kept) = lineage.steps.borrow_mut().get_mut(kept) {
            kept.before.push(step);
        }
        Ok(())
    }
}

/// The operators of a plan by their places: the plan read from the top, inputs first.
fn collect(plan: &LogicalPlan, operators: &mut Vec<Traced>) {
    let only_values = matches!(plan, LogicalPlan::Project { .. } | LogicalPlan::Aggregate { .. });
    operators.push(Traced { name: plan.name(), slots: brings(plan), only_values });
    plan.inputs().into_iter().for_each(|input| collect(input, operators));
}

/// The slots of what an operator brings, or finds something out about.
fn brings(plan: &LogicalPlan) -> Vec<Slot> {
    match plan {
        // They pass on what others have brought.
        LogicalPlan::Apply { .. } | LogicalPlan::Union { .. } | LogicalPlan::BindPath { .. } => {
            Vec::new()
        }
        LogicalPlan::Retrieve { clause, .. } => {
            let about = match &**clause {
                Retrieval::Rerank(rerank) => Some(rerank.item),
                other => other.node(),
            };
            let mut slots = clause.binds();
            // Its shares of the score say in few numbers what the signals say in many.
            if let Retrieval::Signals(signals) = &**clause {
                slots.retain(|slot| *slot != signals.signals);
            }
            slots.extend(about.filter(|about| !slots.contains(about)));
            slots
        }
        other => other.binds(),
    }
}

fn is_evidence(cell: &Cell) -> bool {
    match cell {
        Cell::Node(_) | Cell::Fact(_) | Cell::Path(_) => true,
        Cell::List(items) => items.first().is_some_and(is_evidence),
        _ => false,
    }
}

/// The pieces of evidence of a step: its facts, each once, or else its nodes.
#[derive(Default)]
struct Evidence {
    facts: Vec<Edge>,
    nodes: Vec<NodeRef>,
}

impl Evidence {
    fn add(&mut self, cell: &Cell) {
        match cell {
            Cell::Node(node) if !self.nodes.iter().any(|held| held.id == node.id) => {
                self.nodes.push(*node);
            }
            Cell::Fact(edge) => self.add_fact(edge),
            Cell::Path(path) => {
                path.facts.iter().for_each(|edge| self.add_fact(edge));
                path.nodes.first().into_iter().for_each(|node| self.add(&Cell::Node(*node)));
            }
            Cell::List(items) => items.iter().for_each(|item| self.add(item)),
            _ => {}
        }
    }

    fn add_fact(&mut self, edge: &Edge) {
        if !self.facts.iter().any(|held| (held.fact, held.version) == (edge.fact, edge.version)) {
            self.facts.push(*edge);
        }
    }

    /// The columns `evidence`, `fact` and `sources` of each piece.
    fn columns(&self, context: &Context<'_>, held: &mut Held) -> Result<Vec<[Value; 3]>> {
        if !self.facts.is_empty() {
            return self.facts.iter().map(|edge| fact(edge, context, held)).collect();
        }
        if self.nodes.is_empty() {
            return Ok(vec![[Value::Null, Value::Null, Value::Null]]);
        }
        let node = |node: &NodeRef| {
            let node = context.bare_node(*node, held)?;
            Ok([Value::Node(Box::new(node)), Value::Null, Value::Null])
        };
        self.nodes.iter().map(node).collect()
    }
}

fn fact(edge: &Edge, context: &Context<'_>, held: &mut Held) -> Result<[Value; 3]> {
    let fact = context.whole_fact(edge, held)?;
    let id = match is_derived(edge.fact) {
        true => Value::Null,
        false => Value::Int(edge.fact.0.cast_signed()),
    };
    let rule = fact.derived.iter().map(|derived| format!("rule {}", derived.rule));
    let sources = rule.chain(fact.sources.iter().cloned()).map(Value::String).collect();
    Ok([Value::Fact(Box::new(fact)), id, Value::List(sources)])
}

/// What brought each row of an answer, of which the last steps are given.
pub(crate) fn table(ends: &[Value], query: &BoundQuery, context: &Context<'_>) -> Result<Rows> {
    let Some(lineage) = context.run.lineage() else { return Ok(Rows::default()) };
    let read_at = Value::Timestamp(context.now());
    let (mut rows, mut held) = (Vec::new(), Held::default());
    for (number, end) in (1..).zip(ends) {
        let last = match end {
            Value::Int(step) => usize::try_from(*step).ok(),
            _ => None,
        };
        let before = last.map_or_else(BTreeSet::new, |last| lineage.all_before(last));
        context.work(before.len() + 1)?;
        let first = rows.len();
        for at in before {
            let lines = lineage.lines(at, query, context, &mut held)?;
            for [operator, evidence, found, fact, sources] in lines {
                let system_time = read_at.clone();
                let number = Value::Int(number);
                rows.push(vec![number, operator, evidence, found, fact, sources, system_time]);
            }
            context.rows(rows.len())?;
        }
        if rows.len() == first {
            // Nothing was bound: the row is what the last operator makes of nothing.
            let operator = Value::from(query.plan.name());
            let none = || Value::Null;
            let found = Value::Map(BTreeMap::new());
            let number = Value::Int(number);
            rows.push(vec![number, operator, none(), found, none(), none(), read_at.clone()]);
        }
    }
    let columns = COLUMNS.map(str::to_owned).to_vec();
    Ok(Rows { columns, rows, warnings: Vec::new() })
}

impl Lineage {
    /// The lines of a step, one for each piece of evidence: operator, evidence, what was found, the
    /// id of a fact, and its sources. `held` has what they take.
    fn lines(
        &self,
        at: usize,
        query: &BoundQuery,
        context: &Context<'_>,
        held: &mut Held,
    ) -> Result<Vec<[Value; 5]>> {
        let steps = self.steps.borrow();
        let Some(step) = steps.get(at) else { return Ok(Vec::new()) };
        let operator = step.operator.and_then(|place| self.operators.get(place));
        let Some(operator) = operator else { return Ok(Vec::new()) };
        let mut evidence = Evidence::default();
        let (mut found, mut bytes) = (BTreeMap::new(), size_of::<[Value; 7]>());
        for (slot, cell) in &step.found {
            let name = query.names.get(*slot).map_or("", |name| name.trim_start());
            match is_evidence(cell) {
                true => evidence.add(cell),
                // No facts, of a relation pattern without a name.
                false if name.is_empty() => {}
                false => {
                    bytes = bytes.saturating_add(name.len() + cell.whole_bytes());
                    found.insert(name.to_owned(), context.materialise(cell, held)?);
                }
            }
        }
        let mut lines = Vec::new();
        for [evidence, fact, sources] in evidence.columns(context, held)? {
            context.hold_more(held, bytes)?;
            let found = Value::Map(found.clone());
            lines.push([Value::from(operator.name), evidence, found, fact, sources]);
        }
        Ok(lines)
    }
}
