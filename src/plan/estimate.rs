//! How many rows an operator is expected to give, from a sample of the nodes.
//!
//! An estimate chooses between plans and is shown by `EXPLAIN`; it never changes an answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use engraph_grammar::ast::BinaryOp;
use engraph_storage::graph::{RelationId, Side};
use engraph_storage::{Degree, Sample};

use crate::cell::Cell;
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::retrieval::{Retrieval, Wanted};
use crate::plan::scope::{SystemTime, ValidTime};
use crate::plan::{Cut, IndexBound, Labels, LogicalPlan, LookupBy, PathSearch, Step, Walk};

/// Hops of a pattern without an end that are taken into account.
const HOPS_MAX: u32 = 8;
/// Nodes that a retrieval clause is expected to find if it does not say.
const RETRIEVED: f64 = 10.0;
/// The turns that a reconstruction is expected to find.
const RECONSTRUCTED: f64 = 100.0;
/// No estimate is larger.
const ROWS_MAX: f64 = 1e15;

/// What is known of the nodes and facts of a database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    sample: Arc<Sample>,
}

impl Statistics {
    pub(crate) fn new(sample: Sample) -> Self {
        Self { sample: Arc::new(sample) }
    }

    /// Nodes of the labels.
    pub(crate) fn nodes(&self, labels: &Labels) -> f64 {
        match labels {
            None => self.sample.nodes,
            Some(labels) => {
                labels.iter().filter_map(|label| self.sample.labels.get(label)).sum::<f64>()
            }
        }
    }

    /// Facts that one step leads along from a node of the labels.
    pub(crate) fn steps(&self, step: &Step, labels: &Labels) -> f64 {
        let label = match labels.as_deref() {
            Some([label]) => Some(*label),
            _ => None,
        };
        let degrees = &self.sample.degrees;
        let count = |degree: &Degree| match step.scope.valid {
            ValidTime::AsOf(_) if step.scope.system == SystemTime::Current => degree.now,
            _ => degree.mean,
        };
        let of = |relation: &RelationId| -> f64 {
            let sides =
                step.sides.iter().filter_map(|side| degrees.get(&(label, *relation, *side)));
            sides.map(count).sum()
        };
        let facts: f64 = match &step.relations {
            Some(relations) => relations.iter().collect::<BTreeSet<_>>().into_iter().map(of).sum(),
            None => {
                let all =
                    (label, RelationId(0), Side::Out)..=(label, RelationId(u32::MAX), Side::In);
                let own = degrees.range(all).filter(|((.., side), _)| step.sides.contains(side));
                own.map(|(_, degree)| count(degree)).sum()
            }
        };
        let confident = if step.scope.confidence.is_some() { 0.5 } else { 1.0 };
        let of_intent = if step.scope.intent.is_some() { 0.3 } else { 1.0 };
        let each = if step.each.is_some() { 0.3 } else { 1.0 };
        facts * confident * of_intent * each
    }

    /// The rows of a plan that is begun once.
    pub(crate) fn rows(&self, plan: &LogicalPlan) -> f64 {
        self.after(plan, plan.input().map_or(1.0, |input| self.rows(input)))
    }

    /// The rows of an operator whose input gives so many.
    fn after(&self, plan: &LogicalPlan, rows: f64) -> f64 {
        let each = match plan {
            LogicalPlan::NodeScan { labels, .. } => self.nodes(labels),
            LogicalPlan::NodeLookup { by: LookupBy::KeyIn | LookupBy::IdIn, key, .. } => items(key),
            LogicalPlan::NodeLookup { .. } => 1.0,
            LogicalPlan::IndexScan { label, lookup, .. } => {
                let equal = lookup.bounds.iter().any(|bound| bound.0 == IndexBound::Equal);
                self.nodes(&Some(vec![*label])) * if equal { 0.01 } else { 0.3 }
            }
            LogicalPlan::Expand { step, closes, .. } => {
                self.steps(step, &None) / if *closes { self.nodes(&None).max(1.0) } else { 1.0 }
            }
            LogicalPlan::Walk { walk, .. } => self.walked(walk),
            LogicalPlan::Filter { condition, .. } => share(condition),
            LogicalPlan::Retrieve { clause, .. } => return retrieved(clause, rows),
            LogicalPlan::Beam { search, .. } => number(&search.width).unwrap_or(5.0),
            LogicalPlan::Unwind { list, .. } => items(list),
            LogicalPlan::Apply { inner, optional, .. } => {
                let inner = self.rows(inner);
                if optional.is_some() { inner.max(1.0) } else { inner }
            }
            LogicalPlan::Call { .. } => self.sample.nodes,
            LogicalPlan::Union { inputs, .. } => {
                return inputs.iter().map(|input| self.rows(&input.0)).sum();
            }
            LogicalPlan::Aggregate { keys, .. } if keys.is_empty() => return 1.0,
            LogicalPlan::Aggregate { .. } => return rows.sqrt().max(rows.min(1.0)),
            LogicalPlan::Distinct { .. } => return rows.min(rows.sqrt() * 4.0),
            LogicalPlan::Slice { cut, .. } => return cut_to(rows, cut),
            LogicalPlan::Sort { first: Some(cut), .. } => {
                let skipped = cut.skip.as_ref().and_then(number).unwrap_or(0.0);
                let limit = cut.limit.as_ref().and_then(number);
                return limit.map_or(rows, |limit| rows.min(skipped + limit));
            }
            LogicalPlan::Once
            | LogicalPlan::Match { .. }
            | LogicalPlan::BindPath { .. }
            | LogicalPlan::Project { .. }
            | LogicalPlan::Sort { .. } => 1.0,
        };
        (rows * each).min(ROWS_MAX)
    }

    fn walked(&self, walk: &Walk) -> f64 {
        let nodes = self.nodes(&None).max(1.0);
        let paths = walk.legs.iter().fold(1.0, |paths, leg| {
            let facts = self.steps(&leg.step, &None);
            let (min, max) = leg.step.hops.unwrap_or((1, 1));
            let max = max.min(min.saturating_add(HOPS_MAX));
            let lengths: f64 = (min..=max).map(|hops| facts.powf(f64::from(hops))).sum();
            paths * lengths * leg.condition.as_ref().map_or(1.0, share)
        });
        let closes = walk.legs.last().is_some_and(|leg| leg.closes);
        let ends = if closes { 1.0 } else { nodes };
        let paths = if closes { paths / nodes } else { paths };
        match &walk.search {
            PathSearch::All => paths,
            PathSearch::Shortest(count)
            | PathSearch::Groups(count)
            | PathSearch::Cheapest(count, _) => paths.min(ends * number(count).unwrap_or(1.0)),
        }
    }
}

/// The rows that a retrieval clause makes of so many.
fn retrieved(clause: &Retrieval, rows: f64) -> f64 {
    let asked = |expr: Option<&Expr>| expr.and_then(number);
    match clause {
        Retrieval::Search(search) if search.bound => {
            asked(Some(&search.top)).unwrap_or(rows).min(rows)
        }
        Retrieval::Search(search) => rows * asked(Some(&search.top)).unwrap_or(RETRIEVED),
        Retrieval::Signals(clause) if clause.bound => {
            asked(Some(&clause.top)).unwrap_or(rows).min(rows)
        }
        Retrieval::Signals(clause) => rows * asked(Some(&clause.top)).unwrap_or(RETRIEVED),
        Retrieval::Generate(generate) => rows * asked(Some(&generate.width)).unwrap_or(RETRIEVED),
        Retrieval::Anchor(anchor) => rows * asked(anchor.top.as_ref()).unwrap_or(1.0),
        Retrieval::Activate(activate) => match &activate.wanted {
            Wanted::All => rows * RETRIEVED,
            Wanted::Top(count) | Wanted::Sample(count, _) => {
                asked(Some(count)).unwrap_or(RETRIEVED)
            }
        },
        Retrieval::Represent(represent) => {
            asked(represent.budget.as_ref()).unwrap_or(rows).min(rows)
        }
        Retrieval::Rerank(rerank) => asked(Some(&rerank.top)).unwrap_or(rows).min(rows),
        Retrieval::Reconstruct(_) => rows * RECONSTRUCTED,
        // Some of them, and some of their turns.
        Retrieval::Admit(_) => rows,
        Retrieval::Pack(_) => 1.0,
    }
}

/// The share of rows that are guessed to have a value, and to lie in a range.
pub(crate) const OF_VALUE: f64 = 0.1;
pub(crate) const OF_RANGE: f64 = 0.3;

/// The share of rows for which a condition is expected to be true.
fn share(condition: &Expr) -> f64 {
    match &condition.kind {
        ExprKind::And(parts) => parts.iter().map(share).product(),
        ExprKind::Or(parts) => parts.iter().map(share).sum::<f64>().min(1.0),
        ExprKind::HasKey(..) | ExprKind::Binary(BinaryOp::Equal, ..) => OF_VALUE,
        ExprKind::HasLabel(..) => 0.5,
        _ => OF_RANGE,
    }
}

fn cut_to(rows: f64, cut: &Cut) -> f64 {
    let rows = (rows - cut.skip.as_ref().and_then(number).unwrap_or(0.0)).max(0.0);
    cut.limit.as_ref().and_then(number).map_or(rows, |limit| rows.min(limit))
}

/// The items of a list; a guess where they are not known before the plan runs.
pub(crate) fn items(list: &Expr) -> f64 {
    match &list.kind {
        ExprKind::List(items) => items.len() as f64,
        ExprKind::Constant(Cell::List(items)) => items.len() as f64,
        _ => 5.0,
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Constant(cell) => cell.number(),
        _ => None,
    }
}
