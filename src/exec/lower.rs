//! Logical operators to physical ones, one to one.

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
use crate::exec::search::Search;
use crate::exec::slice::Slice;
use crate::exec::sort::Sort;
use crate::exec::union::Union;
use crate::exec::unwind::Unwind;
use crate::exec::walk::WalkPaths;
use crate::plan::LogicalPlan;

/// The number of operators of a plan, those of inner plans included.
pub(crate) fn operators(plan: &LogicalPlan) -> usize {
    1 + plan.inputs().into_iter().map(operators).sum::<usize>()
}

/// The operators of a plan that begins with a row. An operator's place is its number in the plan
/// read from the top, inputs first.
pub(crate) fn lower(plan: &LogicalPlan, row: &Row) -> Box<dyn Operator> {
    lower_at(plan, row, 0)
}

/// The same for a part of a plan that stands at a place.
pub(super) fn lower_at(plan: &LogicalPlan, row: &Row, place: usize) -> Box<dyn Operator> {
    let below = |input: &LogicalPlan| lower_at(input, row, place + 1);
    let inner: Box<dyn Operator> = match plan.clone() {
        LogicalPlan::Once => Box::new(Once { row: Some(row.clone()) }),
        // `order` leaves none behind; without it the pattern is walked as it is written.
        LogicalPlan::Match { .. } => {
            return lower_at(&crate::plan::order::as_written(plan.clone()), row, place);
        }
        LogicalPlan::NodeScan { input, node, labels, system } => {
            Box::new(NodeScan::new(below(&input), node, labels, system))
        }
        LogicalPlan::NodeLookup { input, node, labels, key, system } => {
            Box::new(NodeLookup { input: below(&input), node, labels, key, system })
        }
        LogicalPlan::IndexScan { input, node, label, lookup } => {
            Box::new(IndexScan::new(below(&input), node, label, lookup))
        }
        LogicalPlan::Expand { input, step, closes, distinct_from } => {
            Box::new(Expand::new(below(&input), *step, closes, distinct_from))
        }
        LogicalPlan::Walk { input, walk } => Box::new(WalkPaths::new(below(&input), *walk)),
        LogicalPlan::BindPath { input, path, start, facts } => {
            Box::new(BindPath { input: below(&input), path, start, facts })
        }
        LogicalPlan::Filter { input, condition, tentative } => {
            Box::new(Filter { input: below(&input), condition, tentative })
        }
        LogicalPlan::Search {
            input,
            node,
            score,
            bound,
            labels,
            query,
            top,
            condition,
            system,
        } => Box::new(Search {
            input: Some(below(&input)),
            ready: super::Ready::default(),
            node,
            score,
            bound,
            labels,
            query: *query,
            top,
            condition: condition.map(|condition| *condition),
            system,
            held: 0,
        }),
        LogicalPlan::Beam { input, step, path, score, search } => {
            Box::new(Beam::new(below(&input), *step, path, score, *search))
        }
        LogicalPlan::Project { input, items } => Box::new(Project { input: below(&input), items }),
        LogicalPlan::Unwind { input, list, item } => {
            Box::new(Unwind::new(below(&input), list, item))
        }
        LogicalPlan::Apply { input, inner, optional } => {
            let inner_place = place + 1 + operators(&input);
            Box::new(Apply::new(below(&input), *inner, inner_place, optional))
        }
        LogicalPlan::Union { inputs, slots } => {
            let mut at = place + 1;
            let mut lowered = Vec::new();
            for (input, from) in inputs {
                lowered.push((lower_at(&input, row, at), from));
                at += operators(&input);
            }
            Box::new(Union { inputs: lowered, slots, at: 0 })
        }
        LogicalPlan::Call { input, procedure, arguments, scope, slots } => {
            Box::new(Call::new(below(&input), procedure, arguments, *scope, slots))
        }
        LogicalPlan::Aggregate { input, keys, aggregates } => Box::new(Aggregate {
            input: Some(below(&input)),
            ready: super::Ready::default(),
            keys,
            aggregates,
            row: row.clone(),
            held: 0,
        }),
        LogicalPlan::Distinct { input, slots } => {
            Box::new(Distinct { input: below(&input), slots, seen: Default::default(), held: 0 })
        }
        LogicalPlan::Sort { input, keys, first } => Box::new(Sort {
            input: Some(below(&input)),
            ready: super::Ready::default(),
            keys,
            first,
            held: 0,
        }),
        LogicalPlan::Slice { input, cut } => Box::new(Slice::new(below(&input), cut)),
    };
    Box::new(Metered { inner, place })
}
