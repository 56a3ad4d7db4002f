//! Logical operators to physical ones, one to one.

use crate::exec::Operator;
use crate::exec::aggregate::Aggregate;
use crate::exec::beam::Beam;
use crate::exec::bind_path::BindPath;
use crate::exec::distinct::Distinct;
use crate::exec::expand::Expand;
use crate::exec::filter::Filter;
use crate::exec::node_lookup::NodeLookup;
use crate::exec::node_scan::NodeScan;
use crate::exec::once::Once;
use crate::exec::project::Project;
use crate::exec::search::Search;
use crate::exec::slice::Slice;
use crate::exec::sort::Sort;
use crate::plan::LogicalPlan;

/// The operator of a plan whose rows have `width` slots.
pub(crate) fn lower(plan: &LogicalPlan, width: usize) -> Box<dyn Operator> {
    let below = |input: &LogicalPlan| lower(input, width);
    match plan.clone() {
        LogicalPlan::Once => Box::new(Once::new(width)),
        LogicalPlan::NodeScan { input, node, labels, system } => {
            Box::new(NodeScan::new(below(&input), node, labels, system))
        }
        LogicalPlan::NodeLookup { input, node, labels, key, system } => {
            Box::new(NodeLookup { input: below(&input), node, labels, key, system })
        }
        LogicalPlan::Expand { input, step, closes, distinct_from } => {
            Box::new(Expand::new(below(&input), step, closes, distinct_from))
        }
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
            query,
            top,
            condition,
            system,
        }),
        LogicalPlan::Beam { input, step, path, score, search } => {
            Box::new(Beam { input: below(&input), step, path, score, search })
        }
        LogicalPlan::Project { input, items } => Box::new(Project { input: below(&input), items }),
        LogicalPlan::Aggregate { input, keys, aggregates } => Box::new(Aggregate {
            input: Some(below(&input)),
            ready: super::Ready::default(),
            keys,
            aggregates,
            width,
        }),
        LogicalPlan::Distinct { input, slots } => {
            Box::new(Distinct { input: below(&input), slots, seen: Default::default() })
        }
        LogicalPlan::Sort { input, keys, first } => Box::new(Sort {
            input: Some(below(&input)),
            ready: super::Ready::default(),
            keys,
            first,
        }),
        LogicalPlan::Slice { input, skip, limit } => {
            Box::new(Slice { input: below(&input), skip, left: limit.unwrap_or(usize::MAX) })
        }
    }
}
