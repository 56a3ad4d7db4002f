//! Logical operators to physical ones, one to one; but where nobody watches what each costs, nodes
//! that are asked for once are found once.

use crate::cell::Row;
use crate::exec::Operator;
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
use crate::exec::reach::{self, Reach};
use crate::exec::retrieve::Retrieve;
use crate::exec::slice::Slice;
use crate::exec::sort::Sort;
use crate::exec::union::Union;
use crate::exec::unwind::Unwind;
use crate::exec::walk::WalkPaths;
use crate::plan::expr::Slot;
use crate::plan::{self, LogicalPlan, Step, order};

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
    let reach = |input: &LogicalPlan, step: &Step| {
        Box::new(Reach::new(lower(input, row, None), step.clone(), row.clone()))
    };
    match plan {
        LogicalPlan::Distinct { input, slots } => {
            let (below, step, project) = reach::distinct(input, slots)?;
            let reach = reach(below, step);
            Some(match project {
                Some(LogicalPlan::Project { items, .. }) => {
                    Box::new(Project { input: reach, items: items.clone() })
                }
                _ => reach,
            })
        }
        LogicalPlan::Aggregate { aggregates, .. } => {
            let (below, step) = reach::counted(plan)?;
            let once = |one: &plan::Aggregate| plan::Aggregate { distinct: false, ..one.clone() };
            Some(Box::new(Aggregate {
                input: Some(reach(below, step)),
                ready: super::Ready::default(),
                keys: Vec::new(),
                aggregates: aggregates.iter().map(once).collect(),
                row: row.clone(),
                held: 0,
            }))
        }
        _ => None,
    }
}

fn operator(plan: &LogicalPlan, row: &Row, place: Option<usize>) -> Box<dyn Operator> {
    let below = |input: &LogicalPlan| lower(input, row, place.map(|place| place + 1));
    match plan {
        LogicalPlan::Once => Box::new(Once { row: Some(row.clone()) }),
        // `order` leaves none behind in a plan that is run.
        LogicalPlan::Match { .. } => operator(&order::as_written(plan.clone()), row, place),
        LogicalPlan::NodeScan { input, node, labels, system } => {
            Box::new(NodeScan::new(below(input), *node, labels.clone(), system.clone()))
        }
        LogicalPlan::NodeLookup { input, node, labels, by, key, system } => Box::new(NodeLookup {
            input: below(input),
            node: *node,
            labels: labels.clone(),
            by: *by,
            key: key.clone(),
            system: system.clone(),
        }),
        LogicalPlan::IndexScan { input, node, label, lookup } => {
            Box::new(IndexScan::new(below(input), *node, *label, lookup.clone()))
        }
        LogicalPlan::Expand { input, step, closes, distinct_from } => {
            let step = step.as_ref().clone();
            Box::new(Expand::new(below(input), step, *closes, distinct_from.clone()))
        }
        LogicalPlan::Walk { input, walk } => {
            Box::new(WalkPaths::new(below(input), walk.as_ref().clone()))
        }
        LogicalPlan::BindPath { input, path, start, facts } => Box::new(BindPath {
            input: below(input),
            path: *path,
            start: *start,
            facts: facts.clone(),
        }),
        LogicalPlan::Filter { input, condition, tentative } => Box::new(Filter {
            input: below(input),
            condition: condition.clone(),
            tentative: *tentative,
        }),
        LogicalPlan::Retrieve { input, clause } => {
            Box::new(Retrieve::new(below(input), clause.as_ref().clone(), row.clone()))
        }
        LogicalPlan::Beam { input, step, path, score, search } => {
            let (step, search) = (step.as_ref().clone(), search.as_ref().clone());
            Box::new(Beam::new(below(input), step, *path, *score, search))
        }
        LogicalPlan::Project { input, items } => {
            Box::new(Project { input: below(input), items: items.clone() })
        }
        LogicalPlan::Unwind { input, list, item } => {
            Box::new(Unwind::new(below(input), list.clone(), *item))
        }
        LogicalPlan::Apply { input, inner, optional } => {
            let at = place.map(|place| place + 1 + operators(input));
            Box::new(Apply::new(below(input), inner.as_ref().clone(), at, optional.clone()))
        }
        LogicalPlan::Union { inputs, slots } => {
            Box::new(Union { inputs: union(inputs, row, place), slots: slots.clone(), at: 0 })
        }
        LogicalPlan::Call { input, procedure, arguments, scope, slots } => Box::new(Call::new(
            below(input),
            *procedure,
            arguments.clone(),
            scope.as_ref().clone(),
            slots.clone(),
        )),
        LogicalPlan::Aggregate { input, keys, aggregates } => Box::new(Aggregate {
            input: Some(below(input)),
            ready: super::Ready::default(),
            keys: keys.clone(),
            aggregates: aggregates.clone(),
            row: row.clone(),
            held: 0,
        }),
        LogicalPlan::Distinct { input, slots } => Box::new(Distinct {
            input: below(input),
            slots: slots.clone(),
            seen: Default::default(),
            held: 0,
        }),
        LogicalPlan::Sort { input, keys, first } => Box::new(Sort {
            input: Some(below(input)),
            ready: super::Ready::default(),
            keys: keys.clone(),
            first: first.clone(),
            held: 0,
        }),
        LogicalPlan::Slice { input, cut } => Box::new(Slice::new(below(input), cut.clone())),
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
