//! Logical operators to physical ones, one to one; but where nobody watches what each costs, nodes
//! that are asked for once are found once.

use std::sync::Arc;

use crate::cell::Row;
use crate::exec::aggregate::Aggregate;
use crate::exec::apply::Apply;
use crate::exec::beam::Beam;
use crate::exec::bind_path::BindPath;
use crate::exec::call::Call;
use crate::exec::distinct::Distinct;
use crate::exec::expand::Expand;
use crate::exec::filter::Filter;
use crate::exec::index_scan::IndexScan;
use crate::exec::metered::Metered;
use crate::exec::node_lookup::NodeLookup;
use crate::exec::node_scan::NodeScan;
use crate::exec::once::Once;
use crate::exec::project::Project;
use crate::exec::reach::{self, Reach, Reached, Source};
use crate::exec::retrieve::Retrieve;
use crate::exec::slice::Slice;
use crate::exec::sort::Sort;
use crate::exec::union::Union;
use crate::exec::unwind::Unwind;
use crate::exec::walk::WalkPaths;
use crate::exec::{Operator, Taken};
use crate::plan::expr::Slot;
use crate::plan::{LogicalPlan, Step, order};

/// The number of operators of a plan, those of inner plans included.
pub(crate) fn operators(plan: &LogicalPlan) -> usize {
    1 + plan.inputs().into_iter().map(operators).sum::<usize>()
}

/// The operators of a plan that begins with a row. With a place, each keeps account of what it
/// costs: an operator's place is its number in the plan read from the top, inputs first.
pub(super) fn lower(plan: &LogicalPlan, row: &Row, place: Option<usize>) -> Box<dyn Operator> {
    match place {
        Some(at) => Box::new(Metered { inner: operator(plan, row, place), place: at }),
        None => reaching(plan, row).unwrap_or_else(|| operator(plan, row, place)),
    }
}

/// What finds each node of the plan's rows once, if that is all that is asked.
fn reaching(plan: &LogicalPlan, row: &Row) -> Option<Box<dyn Operator>> {
    match plan {
        LogicalPlan::Distinct { input, slots } => {
            let (below, step, project) = reach::distinct(input, slots)?;
            let reach = Box::new(reach_from(below, step, row));
            Some(match project {
                Some(LogicalPlan::Project { items, .. }) => {
                    Box::new(Project { input: reach, items: Arc::clone(items) })
                }
                _ => reach,
            })
        }
        LogicalPlan::Aggregate { .. } => {
            let (below, step, slot) = reach::counted(plan)?;
            let reach = reach_from(below, step, row).without_rows();
            Some(Box::new(Reached { reach, slot, is_given: false }))
        }
        _ => None,
    }
}

/// The nodes of a step; where it goes on from nodes that are found the same way, without rows.
pub(super) fn reach_from(input: &LogicalPlan, step: &Arc<Step>, row: &Row) -> Reach {
    let before = match input {
        LogicalPlan::Distinct { input, slots } => reach::distinct(input, slots),
        _ => None,
    };
    let source = match before {
        Some((below, first, None)) if first.to == step.from => {
            Source::Nodes(Box::new(reach_from(below, first, row)))
        }
        _ => Source::Rows(Taken::new(lower(input, row, None))),
    };
    Reach::new(source, Arc::clone(step), row.clone())
}

/// Plans are deep: what each kind of operator needs to be made is not on the stack meanwhile.
fn operator(plan: &LogicalPlan, row: &Row, place: Option<usize>) -> Box<dyn Operator> {
    match plan {
        // `order` leaves none after in a plan that is run.
        LogicalPlan::Match { .. } => operator(&order::as_written(plan.clone()), row, place),
        LogicalPlan::Union { inputs, slots } => {
            Box::new(Union { inputs: union(inputs, row, place), slots: slots.clone(), at: 0 })
        }
        _ => match plan.input() {
            Some(input) => {
                let input = lower(input, row, place.map(|place| place + 1));
                above(plan, input, row, place)
            }
            None => Box::new(Once { row: Some(row.clone()) }),
        },
    }
}

/// The operator of a plan with its input.
fn above(
    plan: &LogicalPlan,
    input: Box<dyn Operator>,
    row: &Row,
    place: Option<usize>,
) -> Box<dyn Operator> {
    match plan {
        LogicalPlan::Once | LogicalPlan::Match { .. } | LogicalPlan::Union { .. } => input,
        LogicalPlan::NodeScan { node, labels, system, .. } => {
            Box::new(NodeScan::new(input, *node, labels.clone(), system.clone()))
        }
        LogicalPlan::NodeLookup { node, labels, by, key, system, .. } => {
            let (node, by) = ((*node, labels.clone()), (*by, key.clone()));
            Box::new(NodeLookup::new(input, node, by, system.clone()))
        }
        LogicalPlan::IndexScan { node, label, lookup, .. } => {
            Box::new(IndexScan::new(input, *node, *label, lookup.clone()))
        }
        LogicalPlan::Expand { step, closes, distinct_from, .. } => {
            let step = Arc::clone(step);
            Box::new(Expand::new(input, step, *closes, distinct_from.clone()))
        }
        LogicalPlan::Walk { walk, .. } => Box::new(WalkPaths::new(input, Arc::clone(walk))),
        LogicalPlan::BindPath { path, start, steps, system, .. } => {
            let (steps, system) = (steps.clone(), system.clone());
            Box::new(BindPath { input, path: *path, start: *start, steps, system })
        }
        LogicalPlan::Filter { condition, tentative, .. } => {
            Box::new(Filter { input, condition: condition.clone(), tentative: *tentative })
        }
        LogicalPlan::Retrieve { clause, .. } => {
            Box::new(Retrieve::new(input, Arc::clone(clause), row.clone()))
        }
        LogicalPlan::Beam { step, path, score, search, .. } => {
            let (step, search) = (Arc::clone(step), Arc::clone(search));
            Box::new(Beam::new(input, step, *path, *score, search))
        }
        LogicalPlan::Project { items, .. } => Box::new(Project { input, items: Arc::clone(items) }),
        LogicalPlan::Unwind { list, item, .. } => Box::new(Unwind::new(input, list.clone(), *item)),
        LogicalPlan::Apply { input: before, inner, optional } => {
            let at = place.map(|place| place + 1 + operators(before));
            Box::new(Apply::new(input, inner.as_ref().clone(), at, optional.clone()))
        }
        LogicalPlan::Call { procedure, arguments, scope, slots, .. } => Box::new(Call::new(
            input,
            *procedure,
            arguments.clone(),
            scope.as_ref().clone(),
            slots.clone(),
        )),
        LogicalPlan::Aggregate { keys, aggregates, .. } => Box::new(Aggregate {
            input: Some(input),
            ready: super::Ready::default(),
            keys: keys.clone(),
            aggregates: aggregates.clone(),
            row: row.clone(),
        }),
        LogicalPlan::Distinct { slots, .. } => Box::new(Distinct {
            input,
            slots: slots.clone(),
            seen: Default::default(),
            held: Default::default(),
        }),
        LogicalPlan::Sort { keys, first, .. } => Box::new(Sort {
            input: Some(input),
            ready: super::Ready::default(),
            keys: keys.clone(),
            first: first.clone(),
        }),
        LogicalPlan::Slice { cut, .. } => Box::new(Slice::new(input, cut.clone())),
    }
}

fn union(
    inputs: &[(LogicalPlan, Vec<Slot>)],
    row: &Row,
    place: Option<usize>,
) -> Vec<(Box<dyn Operator>, Vec<Slot>)> {
    let mut at = place.map(|place| place + 1);
    let mut lowered = Vec::new();
    for (input, from) in inputs {
        lowered.push((lower(input, row, at), from.clone()));
        at = at.map(|at| at + operators(input));
    }
    lowered
}
