//! Rules that move what is asked into the scans and walks that find it.
//!
//! What is moved stays true of every row that comes out; where it may also fail or be a value that
//! a scan does not take, the condition stays on top as well.

use std::sync::Arc;

use engraph_grammar::ast::BinaryOp;
use engraph_storage::Catalog;
use engraph_storage::graph::{Intent, Interval, LabelId, RelationId, Time};

use crate::cell::Cell;
use crate::plan::asked::{Compared, compared, turned};
use crate::plan::expr::{Expr, ExprKind, Slot, conjuncts_of};
use crate::plan::scope::{SystemTime, ValidTime};
use crate::plan::{Cut, IndexBound, IndexLookup, LogicalPlan, PathSearch, SortKey, Step};
use crate::time;

/// `WHERE n:Label` becomes the label of the scan.
pub(super) fn by_label(plan: LogicalPlan, catalog: &Catalog) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative } => {
            let Some((node, labels)) = label_asked(&condition) else {
                return LogicalPlan::Filter { input, condition, tentative };
            };
            let mut ids: Vec<LabelId> =
                labels.iter().filter_map(|label| catalog.label(label)).collect();
            // A label that is said twice is scanned once.
            ids.sort_unstable();
            ids.dedup();
            match labelled(*input, node, ids) {
                (plan, true) => plan,
                (input, false) => {
                    LogicalPlan::Filter { input: Box::new(input), condition, tentative }
                }
            }
        }
        other => other,
    })
}

fn label_asked(condition: &Expr) -> Option<(Slot, &[String])> {
    match &condition.kind {
        ExprKind::HasLabel(of, labels) => match &of.kind {
            ExprKind::Slot(slot, _) => Some((*slot, labels)),
            _ => None,
        },
        _ => None,
    }
}

/// The plan with the labels in the scan of the node, if that stands under conditions alone.
fn labelled(plan: LogicalPlan, wanted: Slot, ids: Vec<LabelId>) -> (LogicalPlan, bool) {
    match plan {
        LogicalPlan::NodeScan { input, node, labels: None, system } if node == wanted => {
            (LogicalPlan::NodeScan { input, node, labels: Some(ids), system }, true)
        }
        LogicalPlan::NodeLookup { input, node, labels: None, by, key, system }
            if node == wanted =>
        {
            (LogicalPlan::NodeLookup { input, node, labels: Some(ids), by, key, system }, true)
        }
        LogicalPlan::Filter { input, condition, tentative } => {
            let (input, done) = labelled(*input, wanted, ids);
            (LogicalPlan::Filter { input: Box::new(input), condition, tentative }, done)
        }
        other => (other, false),
    }
}

/// `WHERE type(f) = 'x'`, `f.confidence >= x`, `f.intent = 'x'` and `f.valid CONTAINS t` become part
/// of the scan that finds the fact.
pub(super) fn filter_facts(plan: LogicalPlan, catalog: &Catalog) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative } => {
            let mut input = *input;
            for part in conjuncts_of(&condition) {
                if let Some(asked) = fact_asked(part, catalog) {
                    narrow(&mut input, &asked);
                }
            }
            LogicalPlan::Filter { input: Box::new(input), condition, tentative }
        }
        other => other,
    })
}

/// What a condition asks of a single fact.
struct FactAsked {
    fact: Slot,
    what: What,
}

enum What {
    Relation(Option<RelationId>),
    Confidence(Expr),
    Intent(Expr),
    ValidAt(Expr),
    ValidWithin(Expr, Expr),
}

fn fact_asked(condition: &Expr, catalog: &Catalog) -> Option<FactAsked> {
    let ExprKind::Binary(op, left, right) = &condition.kind else { return None };
    if let (BinaryOp::Equal, Some((fact, "relation"))) = (op, fact_property(left)) {
        let relation = relation_named(right, catalog)?;
        return Some(FactAsked { fact, what: What::Relation(relation) });
    }
    let ((fact, name), op, value) = match fact_property(left) {
        Some(property) => (property, *op, right),
        None => (fact_property(right)?, turned(*op)?, left),
    };
    let what = match (name, op) {
        ("confidence", BinaryOp::GreaterEqual | BinaryOp::Greater) if value.is_constant() => {
            What::Confidence(value.as_ref().clone())
        }
        ("intent", BinaryOp::Equal) => {
            let ExprKind::Constant(Cell::String(name)) = &value.kind else { return None };
            Intent::parse(name).filter(|intent| intent.name() == &**name)?;
            What::Intent(value.as_ref().clone())
        }
        ("valid", BinaryOp::Contains)
            if matches!(&value.kind, ExprKind::Now | ExprKind::Constant(Cell::Timestamp(_))) =>
        {
            What::ValidAt(value.as_ref().clone())
        }
        ("valid", BinaryOp::Overlaps) => {
            let ExprKind::Call(function, bounds) = &value.kind else { return None };
            let [from, to] = bounds.as_slice() else { return None };
            // One that ends before it begins is wrong, and the condition says so where it is asked.
            let period = Interval::new(constant_instant(from)?, constant_instant(to)?);
            if function.name != "period" || period.is_none() {
                return None;
            }
            What::ValidWithin(from.clone(), to.clone())
        }
        _ => return None,
    };
    Some(FactAsked { fact, what })
}

/// The fact and the property in `f.property`; `type(f)` is its relation.
fn fact_property(expr: &Expr) -> Option<(Slot, &str)> {
    match &expr.kind {
        ExprKind::Property(of, name) => match of.kind {
            ExprKind::Slot(fact, _) => Some((fact, name)),
            _ => None,
        },
        ExprKind::Call(function, arguments) if function.name == "type" => {
            match arguments.as_slice() {
                [Expr { kind: ExprKind::Slot(fact, _), .. }] => Some((*fact, "relation")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// An instant that is known before the plan runs, by itself or as text, which [`period`](crate::functions) takes.
fn constant_instant(expr: &Expr) -> Option<Time> {
    match &expr.kind {
        ExprKind::Constant(Cell::Timestamp(instant)) => Some(*instant),
        ExprKind::Constant(Cell::String(text)) => time::parse(text),
        _ => None,
    }
}

/// The relation of that name; an outer none if the name is open, an inner one if there is none.
fn relation_named(expr: &Expr, catalog: &Catalog) -> Option<Option<RelationId>> {
    match &expr.kind {
        ExprKind::Constant(Cell::String(name)) => Some(catalog.relation(name)),
        _ => None,
    }
}

/// Puts what is asked into the step that finds the fact, where nothing is asked there yet.
fn narrow(plan: &mut LogicalPlan, asked: &FactAsked) {
    match plan {
        LogicalPlan::Expand { step, .. } if step.fact == asked.fact => {
            narrow_step(Arc::make_mut(step), &asked.what);
        }
        // What is asked of rows after these must not reach facts that they leave out.
        LogicalPlan::Filter { input, .. }
        | LogicalPlan::Expand { input, .. }
        | LogicalPlan::Walk { input, .. }
        | LogicalPlan::NodeScan { input, .. }
        | LogicalPlan::NodeLookup { input, .. }
        | LogicalPlan::BindPath { input, .. }
        | LogicalPlan::Unwind { input, .. } => narrow(input, asked),
        _ => {}
    }
}

fn narrow_step(step: &mut Step, what: &What) {
    let scope = &mut step.scope;
    match what {
        // In a pattern without an arrow a fact may be met as that of the inverse relation.
        What::Relation(_) if step.sides.len() > 1 => {}
        What::Relation(relation) => match &mut step.relations {
            None => step.relations = Some(relation.iter().copied().collect()),
            Some(relations) => relations.retain(|own| Some(*own) == *relation),
        },
        What::Confidence(floor) if scope.floor.is_none() => scope.floor = Some(floor.clone()),
        What::Intent(intent) if scope.intent.is_none() => scope.intent = Some(intent.clone()),
        What::ValidAt(instant) if scope.valid == ValidTime::All => {
            scope.valid = ValidTime::AsOf(instant.clone());
        }
        What::ValidWithin(from, to) if scope.valid == ValidTime::All => {
            scope.valid = ValidTime::From(from.clone(), to.clone(), from.span);
        }
        _ => {}
    }
}

/// `WHERE confidence(p) >= x` ends a walk where the product falls below.
pub(super) fn prune_paths(plan: LogicalPlan) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Filter { input, condition, tentative } => {
            let mut input = *input;
            for part in conjuncts_of(&condition) {
                if let Some((path, floor)) = least_confidence(part) {
                    prune(&mut input, path, &floor);
                }
            }
            LogicalPlan::Filter { input: Box::new(input), condition, tentative }
        }
        other => other,
    })
}

fn least_confidence(condition: &Expr) -> Option<(Slot, Expr)> {
    let ExprKind::Binary(op, left, right) = &condition.kind else { return None };
    let is_floor = matches!(op, BinaryOp::GreaterEqual | BinaryOp::Greater);
    let path = confidence_of(left).filter(|_| is_floor && right.is_constant())?;
    Some((path, right.as_ref().clone()))
}

/// The path in `confidence(p)`.
fn confidence_of(expr: &Expr) -> Option<Slot> {
    match &expr.kind {
        ExprKind::Call(function, arguments) if function.name == "confidence" => {
            match arguments.as_slice() {
                [Expr { kind: ExprKind::Slot(path, _), .. }] => Some(*path),
                _ => None,
            }
        }
        _ => None,
    }
}

fn prune(plan: &mut LogicalPlan, path: Slot, floor: &Expr) {
    match plan {
        // Of the shortest or cheapest paths, an unsure one may keep others out.
        LogicalPlan::Walk { walk, .. }
            if walk.path == Some(path)
                && walk.floor.is_none()
                && walk.search == PathSearch::All =>
        {
            Arc::make_mut(walk).floor = Some(floor.clone());
        }
        LogicalPlan::Walk { walk, .. } if walk.path == Some(path) => {}
        LogicalPlan::Filter { input, .. }
        | LogicalPlan::Expand { input, .. }
        | LogicalPlan::Walk { input, .. }
        | LogicalPlan::BindPath { input, .. }
        | LogicalPlan::Unwind { input, .. } => prune(input, path, floor),
        _ => {}
    }
}

/// `ORDER BY confidence(p) DESC LIMIT n` asks a walk for its most confident paths alone.
pub(super) fn most_confident(plan: LogicalPlan) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Sort { input, keys, first: Some(cut) } => {
            let input = match ordered_path(&input, &keys) {
                Some(path) => Box::new(first_of(*input, path, &cut)),
                None => input,
            };
            LogicalPlan::Sort { input, keys, first: Some(cut) }
        }
        other => other,
    })
}

/// The path by whose confidence rows are sorted, largest first, and by nothing else.
fn ordered_path(input: &LogicalPlan, keys: &[SortKey]) -> Option<Slot> {
    let [key] = keys else { return None };
    if !key.descending {
        return None;
    }
    let ExprKind::Slot(slot, _) = key.expr.kind else { return confidence_of(&key.expr) };
    let mut next = Some(input);
    while let Some(LogicalPlan::Project { items, input }) = next {
        if let Some((_, expr)) = items.iter().find(|item| item.0 == slot) {
            return confidence_of(expr);
        }
        next = Some(input);
    }
    None
}

/// The plan with the walk of the path cut, if nothing but conditions stands above it.
fn first_of(plan: LogicalPlan, path: Slot, cut: &Cut) -> LogicalPlan {
    match plan {
        LogicalPlan::Project { input, items } => {
            LogicalPlan::Project { input: Box::new(first_of(*input, path, cut)), items }
        }
        LogicalPlan::Filter { input, condition, tentative: false } => match *input {
            LogicalPlan::Walk { input, mut walk } if may_cut(&walk, path) => {
                let asked = Arc::make_mut(&mut walk);
                asked.most_confident = Some(cut.clone());
                asked.accept = Some(condition);
                LogicalPlan::Walk { input, walk }
            }
            other => LogicalPlan::Filter { input: Box::new(other), condition, tentative: false },
        },
        LogicalPlan::Walk { input, mut walk } if may_cut(&walk, path) => {
            Arc::make_mut(&mut walk).most_confident = Some(cut.clone());
            LogicalPlan::Walk { input, walk }
        }
        other => other,
    }
}

fn may_cut(walk: &crate::plan::Walk, path: Slot) -> bool {
    // Walked from its end, a product comes out otherwise in its last digits, and ties with it.
    let against = walk.legs.iter().any(|leg| leg.step.against);
    !against && walk.path == Some(path) && walk.search == PathSearch::All && walk.accept.is_none()
}

/// Whether an index, which knows only the present, may serve a scan.
fn is_current(system: &SystemTime) -> bool {
    *system == SystemTime::Current
}

/// A scan of a label becomes a scan of an index on a property that conditions compare.
pub(super) fn by_index(plan: LogicalPlan, catalog: &Catalog) -> LogicalPlan {
    match catalog.indexes().next() {
        Some(_) => indexed(plan, &mut Vec::new(), catalog),
        None => plan,
    }
}

/// The plan with its scans replaced; `above` are the conditions straight above it, each seen once however many
/// there are.
fn indexed(mut plan: LogicalPlan, above: &mut Vec<Expr>, catalog: &Catalog) -> LogicalPlan {
    let before = above.len();
    if let LogicalPlan::Filter { condition, .. } = &plan {
        let compares = |part: &&Expr| matches!(part.kind, ExprKind::Binary(..));
        above.extend(conjuncts_of(condition).into_iter().filter(compares).cloned());
    } else {
        plan = by_lookup(plan, above, catalog);
        above.clear();
    }
    for input in plan.inputs_mut() {
        let inner = std::mem::replace(input, LogicalPlan::Once);
        *input = indexed(inner, above, catalog);
    }
    above.truncate(before);
    plan
}

/// A scan of one label under these conditions as that of an index, if there is one that serves it.
fn by_lookup(plan: LogicalPlan, above: &[Expr], catalog: &Catalog) -> LogicalPlan {
    match plan {
        LogicalPlan::NodeScan { input, node, labels: Some(labels), system }
            if is_current(&system) && labels.len() == 1 =>
        {
            let label = labels[0];
            match lookup(label, node, above, catalog) {
                Some(lookup) => LogicalPlan::IndexScan { input, node, label, lookup },
                None => LogicalPlan::NodeScan { input, node, labels: Some(labels), system },
            }
        }
        other => other,
    }
}

/// What the conditions ask of an index of the label; one of equality before one of a range.
fn lookup(label: LabelId, node: Slot, parts: &[Expr], catalog: &Catalog) -> Option<IndexLookup> {
    let mut best: Option<IndexLookup> = None;
    for index in catalog.indexes().filter(|index| index.label == label) {
        let Some(property) = index.property() else { continue };
        let name = catalog.property_name(property);
        let bounds: Vec<(IndexBound, Expr)> =
            parts.iter().filter_map(|part| bound(part, node, name)).collect();
        let is_equal =
            |bounds: &[(IndexBound, Expr)]| bounds.iter().any(|bound| bound.0 == IndexBound::Equal);
        if bounds.is_empty() || best.as_ref().is_some_and(|best| is_equal(&best.bounds)) {
            continue;
        }
        if best.is_none() || is_equal(&bounds) {
            best = Some(IndexLookup { property, name: name.to_owned(), bounds });
        }
    }
    best
}

/// What a condition asks of a property of the node.
fn bound(condition: &Expr, node: Slot, name: &str) -> Option<(IndexBound, Expr)> {
    let (of, op, value) = compared(condition, node)?;
    if of != Compared::Property(name) {
        return None;
    }
    let bound = match op {
        BinaryOp::Equal => IndexBound::Equal,
        BinaryOp::Greater => IndexBound::Above,
        BinaryOp::GreaterEqual => IndexBound::AtLeast,
        BinaryOp::Less => IndexBound::Below,
        BinaryOp::LessEqual => IndexBound::AtMost,
        BinaryOp::StartsWith => IndexBound::Prefix,
        _ => return None,
    };
    Some((bound, value.clone()))
}
