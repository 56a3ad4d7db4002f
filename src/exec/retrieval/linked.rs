//! The nodes that a condition lets through by what they are linked with, told from the other end: of
//! `EXISTS { MATCH (c)-[]->(t:Turn) WHERE t.session = 's1' }` those that the turns of an index are linked with.
//!
//! More may be named than the condition lets through, so it still is asked of each of them; what is not named it
//! never lets through. Nothing is named where no index says which ends there are, or where there are many.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engraph_grammar::ast::BinaryOp;
use engraph_storage::graph::{EdgeFilter, LabelId, NodeId, Side, SystemScope};

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::retrieval::finding::{Listed, list};
use crate::exec::{eval, scope};
use crate::plan::expr::{Answer, Expr, ExprKind, Slot, Subquery};
use crate::plan::scope::SystemTime;
use crate::plan::{IndexBound, IndexLookup, LogicalPlan, Step};

/// The most facts that are followed back.
const FOLLOWED_MAX: usize = 100_000;

/// The nodes that conditions on one let through by what it is linked with, if one of them asks for that.
pub(super) fn linked(
    conditions: &[Expr],
    node: Slot,
    row: &Row,
    context: &Context<'_>,
) -> Result<Option<BTreeSet<NodeId>>> {
    for condition in conditions {
        let Some(subquery) = exists(condition, row, context) else { continue };
        let Some(chain) = Chain::of(subquery, node) else { continue };
        let found = chain.beginnings(row, context)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The plan of which a condition asks that it has a row, for it to hold; other alternatives fail.
fn exists<'e>(condition: &'e Expr, row: &Row, context: &Context<'_>) -> Option<&'e Subquery> {
    match &condition.kind {
        ExprKind::Subquery(subquery) if subquery.answer == Answer::Exists => Some(subquery),
        ExprKind::Or(parts) => {
            let fails = |part: &&Expr| {
                let value = || eval::eval(part, row, context);
                part.is_constant() && matches!(value(), Ok(Cell::Bool(false) | Cell::Null))
            };
            let mut open = parts.iter().filter(|part| !fails(part));
            match (open.next(), open.next()) {
                (Some(part), None) => exists(part, row, context),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Steps from a node to one of which a plan asks something.
struct Chain<'p> {
    /// Each with its far node, the last one first.
    steps: Vec<(&'p Step, Slot)>,
    conditions: Vec<Expr>,
    /// What is bound outside of the plan, but for the node at its beginning.
    outer: Vec<Slot>,
    /// The labels of nodes that the plan begins with.
    labels: Vec<(Slot, Vec<LabelId>)>,
}

impl<'p> Chain<'p> {
    /// Of a plan that follows plain steps, one after the other, whatever it begins with.
    fn of(subquery: &'p Subquery, node: Slot) -> Option<Self> {
        let (mut plan, mut steps) = (&subquery.plan, Vec::new());
        let outer = subquery.reads.iter().copied().filter(|slot| *slot != node).collect();
        let (conditions, labels) = (Vec::new(), Vec::new());
        let mut this = Self { steps: Vec::new(), conditions, outer, labels };
        loop {
            plan = match plan {
                LogicalPlan::Filter { input, condition, .. } => {
                    this.conditions.push(condition.clone());
                    input
                }
                LogicalPlan::Expand { input, step, .. } if step.hops.is_none() => {
                    steps.push(&**step);
                    input
                }
                LogicalPlan::NodeScan { input, node, labels, system: SystemTime::Current } => {
                    this.labels.extend(labels.clone().map(|labels| (*node, labels)));
                    input
                }
                LogicalPlan::IndexScan { input, node, label, lookup } => {
                    this.labels.push((*node, vec![*label]));
                    this.conditions.extend(equal(*node, lookup));
                    input
                }
                LogicalPlan::Once => break,
                _ => return None,
            };
        }
        let mut far = node;
        while let Some(place) = steps.iter().position(|step| step.from == far || step.to == far) {
            let step = steps.swap_remove(place);
            far = if step.from == far { step.to } else { step.from };
            this.steps.insert(0, (step, far));
        }
        (!this.steps.is_empty()).then_some(this)
    }

    /// The nodes at its beginning that lead to ends which the conditions may let through.
    fn beginnings(mut self, row: &Row, context: &Context<'_>) -> Result<Option<BTreeSet<NodeId>>> {
        let Some(mut nodes) = self.ends(row, context)? else { return Ok(None) };
        let mut followed = 0;
        for (step, far) in &self.steps {
            if !step.scope.is_constant() {
                return Ok(None);
            }
            let filter = scope::filter(&step.scope, row, context)?;
            if filter.system != SystemScope::Current {
                return Ok(None);
            }
            let mut found = BTreeSet::new();
            for node in nodes {
                followed += back(step, (node, *far), &filter, context, &mut found)?;
                if followed > FOLLOWED_MAX {
                    context.work(followed)?;
                    return Ok(None);
                }
            }
            nodes = found;
        }
        context.work(followed)?;
        Ok(Some(nodes))
    }

    /// The nodes at its end, as indexes name them by the conditions that ask of them alone.
    fn ends(&mut self, row: &Row, context: &Context<'_>) -> Result<Option<BTreeSet<NodeId>>> {
        let Some((_, end)) = self.steps.first().copied() else { return Ok(None) };
        // A node that is bound outside is seen as it was there, which an index does not know.
        if self.outer.contains(&end) {
            return Ok(None);
        }
        // What else is asked of is not bound in the row: it would be null.
        let is_told = |slot: &Slot| *slot == end || self.outer.contains(slot);
        self.conditions.retain(|part| part.slots().iter().all(is_told));
        let Some(labels) = self.labels(end, context) else { return Ok(None) };
        let mut listed = Listed::new();
        for label in labels {
            if !list(label, &self.conditions, (end, row), context, &mut listed)? {
                return Ok(None);
            }
        }
        Ok(Some(listed.into_keys().collect()))
    }

    /// The labels of which a node at its end must have one.
    fn labels(&self, end: Slot, context: &Context<'_>) -> Option<Vec<LabelId>> {
        let catalog = context.reader.catalog();
        let asked = self.conditions.iter().find_map(|condition| match &condition.kind {
            ExprKind::HasLabel(inner, names) => {
                let is_end = matches!(&inner.kind, ExprKind::Slot(slot, _) if *slot == end);
                is_end.then(|| names.iter().filter_map(|name| catalog.label(name)).collect())
            }
            _ => None,
        });
        let scanned = || self.labels.iter().find(|(slot, _)| *slot == end);
        asked.or_else(|| scanned().map(|(_, labels)| labels.clone()))
    }
}

/// What an index was asked for, as a condition, if that is one value.
fn equal(node: Slot, lookup: &IndexLookup) -> Option<Expr> {
    let (_, value) = lookup.bounds.iter().find(|(bound, _)| *bound == IndexBound::Equal)?;
    let of = |kind| Box::new(Expr::new(kind, value.span));
    let slot = of(ExprKind::Slot(node, lookup.name.as_str().into()));
    let property = of(ExprKind::Property(slot, lookup.name.clone()));
    let kind = ExprKind::Binary(BinaryOp::Equal, property, Box::new(value.clone()));
    Some(Expr::new(kind, value.span))
}

/// Adds the nodes from which a step leads to its far node, and says how many facts were followed.
fn back(
    step: &Step,
    (node, far): (NodeId, Slot),
    filter: &EdgeFilter,
    context: &Context<'_>,
    found: &mut BTreeSet<NodeId>,
) -> Result<usize> {
    let mut followed = 0;
    let relations: Vec<_> = match &step.relations {
        Some(relations) => relations.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    for side in step.sides {
        let side = match (side, step.to == far) {
            (Side::Out, true) | (Side::In, false) => Side::In,
            _ => Side::Out,
        };
        for relation in &relations {
            context.reader.edges(node, side, *relation, filter, &mut |edge| {
                followed += 1;
                found.insert(if side == Side::In { edge.head } else { edge.tail });
                match followed > FOLLOWED_MAX {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
        }
    }
    Ok(followed)
}
