//! The optimizer: a list of rules, each by name, none of which changes the answer.

use crate::plan::LogicalPlan;
use crate::plan::expr::{Expr, ExprKind, Function, Slot};
use engraph_grammar::ast::{BinaryOp, UnaryOp};

/// One rule: a name and a rewriting of a whole plan.
struct Rule {
    name: &'static str,
    apply: fn(LogicalPlan) -> LogicalPlan,
}

/// The rules, in the order in which they are applied.
static RULES: &[Rule] = &[
    Rule { name: "push conditions down", apply: push_conditions },
    Rule { name: "look keys up", apply: look_keys_up },
    Rule { name: "sort only the first rows", apply: sort_first },
];

/// The plan after all rules, and the names of those that changed it.
pub(crate) fn optimize(mut plan: LogicalPlan) -> (LogicalPlan, Vec<&'static str>) {
    let mut applied = Vec::new();
    for rule in RULES {
        let before = plan.clone();
        plan = (rule.apply)(plan);
        if plan != before {
            applied.push(rule.name);
        }
    }
    (plan, applied)
}

/// Rewrites every operator, inputs first.
fn rewrite(mut plan: LogicalPlan, change: &dyn Fn(LogicalPlan) -> LogicalPlan) -> LogicalPlan {
    if let Some(input) = plan.input_mut() {
        let inner = std::mem::replace(input, LogicalPlan::Once);
        *input = rewrite(inner, change);
    }
    change(plan)
}

/// Each part of a condition is tested as soon as all names in it are bound. A part that can fail,
/// as `n.age > 3` does where an age is a text, is tested tentatively, and stays where it was: the
/// parts before it may rule the row out.
fn push_conditions(plan: LogicalPlan) -> LogicalPlan {
    rewrite(plan, &|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative: false } => {
            let span = condition.span;
            let elements = elements(&input);
            let (sure, unsure): (Vec<Expr>, Vec<Expr>) =
                conjuncts(condition).into_iter().partition(|part| cannot_fail(part, &elements));
            let mut plan = sure.into_iter().fold(*input, |plan, part| push(plan, part, false));
            for part in &unsure {
                if passes(&plan, part) && !asks_model(part) {
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

/// Whether testing a condition twice would ask the model twice.
fn asks_model(condition: &Expr) -> bool {
    let mut asks = false;
    condition.walk(&mut |expr| {
        asks |= matches!(expr.kind, ExprKind::Call(Function::Similarity, _));
    });
    asks
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
        LogicalPlan::NodeScan { node, .. }
        | LogicalPlan::NodeLookup { node, .. }
        | LogicalPlan::Search { node, .. } => slots.nodes.push(*node),
        LogicalPlan::Expand { step, .. } | LogicalPlan::Beam { step, .. } => {
            slots.nodes.push(step.to);
            slots.facts.extend(step.hops.is_none().then_some(step.fact));
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
            | ExprKind::Slot(..)
            | ExprKind::HasKey(..)
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Unary(UnaryOp::Not | UnaryOp::IsNull | UnaryOp::IsNotNull, _)
            | ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, ..) => true,
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

fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition.kind {
        ExprKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        kind => vec![Expr { kind, span: condition.span }],
    }
}

/// Puts a condition as far down as its names allow; conditions on one operator stay in order.
fn push(mut plan: LogicalPlan, condition: Expr, tentative: bool) -> LogicalPlan {
    let passes = passes(&plan, &condition);
    match plan.input_mut() {
        Some(input) if passes => {
            let inner = std::mem::replace(input, LogicalPlan::Once);
            *input = push(inner, condition, tentative);
            plan
        }
        _ => LogicalPlan::Filter { input: Box::new(plan), condition, tentative },
    }
}

/// Whether the condition can be tested before this operator, or before what its filters filter.
fn passes(plan: &LogicalPlan, condition: &Expr) -> bool {
    match plan {
        LogicalPlan::Filter { input, .. } => passes(input, condition),
        LogicalPlan::Expand { .. }
        | LogicalPlan::NodeScan { .. }
        | LogicalPlan::NodeLookup { .. }
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
    rewrite(plan, &|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative } => match key_of(&input, &condition) {
            Some((key, keeps)) => {
                let input = into_lookup(*input, key);
                match keeps {
                    true => LogicalPlan::Filter { input: Box::new(input), condition, tentative },
                    false => input,
                }
            }
            None => LogicalPlan::Filter { input, condition, tentative },
        },
        other => other,
    })
}

/// The key that a condition asks of the node just scanned, and whether the condition must stay: a
/// look-up finds aliases too, which `n.key = 'x'` does not.
fn key_of(input: &LogicalPlan, condition: &Expr) -> Option<(Expr, bool)> {
    let LogicalPlan::NodeScan { node, .. } = scan_below(input)? else { return None };
    let is_node = |expr: &Expr| matches!(&expr.kind, ExprKind::Slot(slot, _) if slot == node);
    match &condition.kind {
        ExprKind::HasKey(inner, key) if is_node(inner) && !needs(key, &[*node]) => {
            Some((key.as_ref().clone(), false))
        }
        ExprKind::Binary(BinaryOp::Equal, left, right) => match &left.kind {
            ExprKind::Property(inner, name)
                if name == "key" && is_node(inner) && !needs(right, &[*node]) =>
            {
                Some((right.as_ref().clone(), true))
            }
            _ => None,
        },
        _ => None,
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

fn into_lookup(plan: LogicalPlan, key: Expr) -> LogicalPlan {
    match plan {
        LogicalPlan::NodeScan { input, node, labels, system } => {
            LogicalPlan::NodeLookup { input, node, labels, key, system }
        }
        LogicalPlan::Filter { input, condition, tentative } => {
            let input = Box::new(into_lookup(*input, key));
            LogicalPlan::Filter { input, condition, tentative }
        }
        other => other,
    }
}

/// A limit behind a sort lets the sort keep no more rows than that.
fn sort_first(plan: LogicalPlan) -> LogicalPlan {
    rewrite(plan, &|plan| match plan {
        LogicalPlan::Slice { input, skip, limit: Some(limit) } => {
            let input = match *input {
                LogicalPlan::Sort { input, keys, first: None } => {
                    LogicalPlan::Sort { input, keys, first: Some(skip.saturating_add(limit)) }
                }
                other => other,
            };
            LogicalPlan::Slice { input: Box::new(input), skip, limit: Some(limit) }
        }
        other => other,
    })
}
