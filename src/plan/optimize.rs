//! The optimizer: a list of rules, each by name, none of which changes the answer.

use std::cell::Cell;

use engraph_grammar::ast::{BinaryOp, UnaryOp};
use engraph_storage::Catalog;

use crate::plan::asked::{Asked, asked};
use crate::plan::estimate::Statistics;
use crate::plan::expr::{Expr, ExprKind, Slot, conjuncts};
use crate::plan::{LogicalPlan, LookupBy, order, scans};

/// Conditions of a plan that are moved one by one; more of them stay together where they are.
const PUSHED_MAX: usize = 256;

/// What a rule may ask.
pub(crate) struct Facts<'f> {
    pub(crate) catalog: &'f Catalog,
    pub(crate) statistics: &'f Statistics,
}

/// One rule: a name and a rewriting of a whole plan.
struct Rule {
    name: &'static str,
    apply: fn(LogicalPlan, &Facts<'_>) -> LogicalPlan,
}

/// The rules, in the order in which they are applied.
static RULES: &[Rule] = &[
    Rule {
        name: "begin where the fewest nodes are",
        apply: |plan, facts| order::by_cost(plan, facts.statistics),
    },
    Rule { name: "push conditions down", apply: |plan, _| push_conditions(plan) },
    Rule { name: "look keys up", apply: |plan, _| look_keys_up(plan) },
    Rule { name: "scan by label", apply: |plan, facts| scans::by_label(plan, facts.catalog) },
    Rule { name: "use an index", apply: |plan, facts| scans::by_index(plan, facts.catalog) },
    Rule {
        name: "filter facts in the scan",
        apply: |plan, facts| scans::filter_facts(plan, facts.catalog),
    },
    Rule { name: "prune paths by confidence", apply: |plan, _| scans::prune_paths(plan) },
    Rule { name: "sort only the first rows", apply: |plan, _| sort_first(plan) },
    Rule { name: "most confident paths first", apply: |plan, _| scans::most_confident(plan) },
];

/// The plan after all rules, and the names of those that changed it.
pub(crate) fn optimize(plan: LogicalPlan, facts: &Facts<'_>) -> (LogicalPlan, Vec<&'static str>) {
    let mut applied = Vec::new();
    // Every pattern is ordered: the first rule has changed something if it is not as written.
    let mut before = as_written(plan.clone());
    let mut plan = plan;
    for rule in RULES {
        plan = inside(plan, &|plan| (rule.apply)(plan, facts));
        if plan != before {
            applied.push(rule.name);
            before = plan.clone();
        }
    }
    (plan, applied)
}

/// The plan, and whether it has a pattern: nothing else is planned by what the graph looks like.
pub(crate) fn has_pattern(plan: LogicalPlan) -> (LogicalPlan, bool) {
    let found = Cell::new(false);
    let plan = inside(plan, &|plan| {
        plan.rewrite(&|plan| {
            found.set(found.get() || matches!(plan, LogicalPlan::Match { .. }));
            plan
        })
    });
    (plan, found.get())
}

/// The plan with every pattern as it is written, and no rule applied.
pub(crate) fn as_written(plan: LogicalPlan) -> LogicalPlan {
    inside(plan, &order::as_written)
}

/// Applies a rule to a plan and to every plan within its expressions.
fn inside(plan: LogicalPlan, apply: &dyn Fn(LogicalPlan) -> LogicalPlan) -> LogicalPlan {
    apply(plan).rewrite(&|mut plan| {
        plan.subqueries(&mut |subquery| {
            let inner = std::mem::replace(&mut subquery.plan, LogicalPlan::Once);
            subquery.plan = inside(inner, apply);
        });
        plan
    })
}

/// Each part of a condition is tested as soon as all names in it are bound. A part that can fail,
/// as `n.age > 3` does where an age is a text, is tested tentatively, and stays where it was: the
/// parts before it may rule the row out.
fn push_conditions(plan: LogicalPlan) -> LogicalPlan {
    let pushed = Cell::new(0);
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative: false } => {
            let span = condition.span;
            let parts = conjuncts(condition);
            pushed.set(pushed.get() + parts.len());
            if pushed.get() > PUSHED_MAX {
                let condition = Expr { kind: ExprKind::And(parts), span };
                return LogicalPlan::Filter { input, condition, tentative: false };
            }
            let elements = elements(&input);
            let (sure, unsure): (Vec<Expr>, Vec<Expr>) =
                parts.into_iter().partition(|part| cannot_fail(part, &elements));
            let mut plan = sure.into_iter().fold(*input, |plan, part| push(plan, part, false));
            for part in &unsure {
                if passes(&plan, part) && !is_dear(part) {
                    plan = push(plan, part.clone(), true);
                }
            }
            match Expr::all(unsure, span) {
                Some(condition) => {
                    LogicalPlan::Filter { input: Box::new(plan), condition, tentative: false }
                }
                None => plan,
            }
        }
        other => other,
    })
}

/// Whether testing a condition twice would ask the model, or run a plan, twice.
fn is_dear(condition: &Expr) -> bool {
    let mut dear = false;
    condition.walk(&mut |expr| {
        dear |= match &expr.kind {
            ExprKind::Call(function, _) => function.asks_model,
            ExprKind::Subquery(_) => true,
            _ => false,
        };
    });
    dear
}

/// The slots that hold a node, and those that hold a single fact: each may be asked for any
/// property, and a node for its label.
#[derive(Default)]
struct Elements {
    nodes: Vec<Slot>,
    facts: Vec<Slot>,
}

fn elements(plan: &LogicalPlan) -> Elements {
    let mut slots = plan.input().map_or_else(Elements::default, elements);
    match plan {
        LogicalPlan::NodeScan { node, .. } | LogicalPlan::NodeLookup { node, .. } => {
            slots.nodes.push(*node);
        }
        LogicalPlan::Retrieve { clause, .. } => slots.nodes.extend(clause.node()),
        LogicalPlan::Expand { step, .. } | LogicalPlan::Beam { step, .. } => {
            slots.nodes.push(step.to);
            slots.facts.extend(step.hops.is_none().then_some(step.fact));
        }
        LogicalPlan::Walk { walk, .. } => {
            slots.nodes.extend(walk.legs.iter().map(|leg| leg.step.to));
        }
        _ => {}
    }
    slots
}

/// Whether a condition has a value for every row.
fn cannot_fail(condition: &Expr, elements: &Elements) -> bool {
    let is_node = |slot: &Slot| elements.nodes.contains(slot);
    let mut sure = true;
    condition.walk(&mut |expr| {
        sure &= match &expr.kind {
            ExprKind::Constant(_)
            // That it has a value was seen before the first row.
            | ExprKind::Parameter(_)
            | ExprKind::Now
            | ExprKind::Slot(..)
            | ExprKind::HasKey(..)
            | ExprKind::Unary(UnaryOp::IsNull | UnaryOp::IsNotNull, _)
            | ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, ..) => true,
            ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().all(is_boolean),
            ExprKind::Unary(UnaryOp::Not, inner) => is_boolean(inner),
            // The name itself is a part as well, and asked for here.
            ExprKind::Call(function, arguments) if function.name == "id" => {
                arguments.iter().all(|of| {
                    matches!(&of.kind, ExprKind::Slot(slot, _)
                        if is_node(slot) || elements.facts.contains(slot))
                })
            }
            ExprKind::HasLabel(of, _) => {
                matches!(&of.kind, ExprKind::Slot(slot, _) if is_node(slot))
            }
            ExprKind::Property(of, _) => matches!(
                &of.kind,
                ExprKind::Slot(slot, _) if is_node(slot) || elements.facts.contains(slot)
            ),
            _ => false,
        };
    });
    sure && is_boolean(condition)
}

/// Whether the value can only be true, false or null.
fn is_boolean(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::HasKey(..)
        | ExprKind::HasLabel(..)
        | ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, ..)
        | ExprKind::Unary(UnaryOp::IsNull | UnaryOp::IsNotNull, _) => true,
        ExprKind::Unary(UnaryOp::Not, inner) => is_boolean(inner),
        ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().all(is_boolean),
        _ => false,
    }
}

/// Puts a condition as far down as its names allow; conditions on one operator stay in order.
fn push(plan: LogicalPlan, condition: Expr, tentative: bool) -> LogicalPlan {
    match passes(&plan, &condition) {
        true => plan.map_input(|input| push(input, condition, tentative)),
        false => LogicalPlan::Filter { input: Box::new(plan), condition, tentative },
    }
}

/// Whether the condition can be tested before this operator, or before what its filters filter.
fn passes(plan: &LogicalPlan, condition: &Expr) -> bool {
    match plan {
        LogicalPlan::Filter { input, .. } => passes(input, condition),
        LogicalPlan::Expand { .. }
        | LogicalPlan::NodeScan { .. }
        | LogicalPlan::NodeLookup { .. }
        | LogicalPlan::Walk { .. }
        | LogicalPlan::Unwind { .. }
        | LogicalPlan::Project { .. }
        | LogicalPlan::Apply { .. }
        | LogicalPlan::BindPath { .. } => !needs(condition, &plan.binds()),
        // A search, a beam or a limit gives other rows when rows are taken away before it.
        _ => false,
    }
}

fn needs(condition: &Expr, slots: &[Slot]) -> bool {
    condition.slots().iter().any(|slot| slots.contains(slot))
}

/// A scan for the node with a key becomes a look-up.
fn look_keys_up(plan: LogicalPlan) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative } => match key_of(&input, &condition) {
            Some((by, key)) => into_lookup(*input, by, key),
            None => LogicalPlan::Filter { input, condition, tentative },
        },
        other => other,
    })
}

/// The key or id that a condition asks of the node just scanned.
fn key_of(input: &LogicalPlan, condition: &Expr) -> Option<(LookupBy, Expr)> {
    let LogicalPlan::NodeScan { node, .. } = scan_below(input)? else { return None };
    let (by, key) = match asked(condition, *node)? {
        Asked::Key(key) if matches!(condition.kind, ExprKind::HasKey(..)) => (LookupBy::Key, key),
        Asked::Key(key) => (LookupBy::KeyProperty, key),
        Asked::KeyIn(keys) => (LookupBy::KeyIn, keys),
        Asked::Id(id) => (LookupBy::Id, id),
        Asked::IdIn(ids) => (LookupBy::IdIn, ids),
        Asked::Value(_) | Asked::Range(_) => return None,
    };
    (is_simple(key) && !needs(key, &[*node])).then(|| (by, key.clone()))
}

/// Whether a value is there already: what must be computed might fail where a condition before it
/// would have ruled the row out.
pub(super) fn is_simple(key: &Expr) -> bool {
    match &key.kind {
        ExprKind::Constant(_) | ExprKind::Parameter(_) | ExprKind::Slot(..) => true,
        ExprKind::List(items) => items.iter().all(is_simple),
        ExprKind::Given(given) => is_simple(&given.value) && is_simple(&given.default),
        ExprKind::Property(of, _) => matches!(of.kind, ExprKind::Slot(..)),
        _ => false,
    }
}

/// The node scan under conditions alone.
fn scan_below(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    match plan {
        LogicalPlan::NodeScan { .. } => Some(plan),
        LogicalPlan::Filter { input, .. } => scan_below(input),
        _ => None,
    }
}

fn into_lookup(plan: LogicalPlan, by: LookupBy, key: Expr) -> LogicalPlan {
    match plan {
        LogicalPlan::NodeScan { input, node, labels, system } => {
            LogicalPlan::NodeLookup { input, node, labels, by, key, system }
        }
        LogicalPlan::Filter { input, condition, tentative } => {
            let input = Box::new(into_lookup(*input, by, key));
            LogicalPlan::Filter { input, condition, tentative }
        }
        other => other,
    }
}

/// A limit after a sort lets the sort keep no more rows than that.
fn sort_first(plan: LogicalPlan) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Slice { input, cut } if cut.limit.is_some() => {
            let input = match *input {
                LogicalPlan::Sort { input, keys, first: None } => {
                    LogicalPlan::Sort { input, keys, first: Some(cut.clone()) }
                }
                other => other,
            };
            LogicalPlan::Slice { input: Box::new(input), cut }
        }
        other => other,
    })
}
