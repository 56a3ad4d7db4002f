//! Expressions over one row: three-valued logic as in GQL, errors at the place in the text.

mod operators;

use std::collections::BTreeMap;
use std::sync::Arc;

use engraph_grammar::ast::{Quantifier, Span};
use engraph_storage::graph::SystemScope;

use self::operators::{binary, unary};
pub(in crate::exec) use self::operators::{finite, mismatch};
use crate::cell::{Cell, Items, Row, Slot};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Diagnostic, Limit, Result};
use crate::exec::subquery;
use crate::exec::weighed::Weighed;
use crate::functions;
use crate::functions::products::{self, Side};
use crate::plan::expr::{Each, Expr, ExprKind, Reduce};
use crate::time;

/// That a value stands for all rows, or for none.
pub(crate) const NO_QUERY: &str = "a query cannot stand here, only a value";

/// Items of a list between two looks at the clock.
const TIMED_ITEMS: usize = 16;

/// Lists and maps within each other; deeper ones would exhaust the stack.
const DEPTH_MAX: usize = 256;

/// The value of an expression, which is no larger than all that a statement may hold.
pub(crate) fn eval(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Cell> {
    let cell = value(expr, row, context)?;
    if !cell.is_large() {
        return Ok(cell);
    }
    // Whatever is made of it takes a time that grows with it.
    let bytes = cell.whole_bytes();
    context.passed(bytes)?;
    match expr.kind {
        ExprKind::Constant(_)
        | ExprKind::Parameter(_)
        | ExprKind::Given(_)
        | ExprKind::Slot(..) => Ok(cell),
        _ => of_size(cell, bytes, expr.span, context),
    }
}

/// The value, unless it takes more memory than all rows may, or nests too deep.
pub(crate) fn bounded(cell: Cell, span: Span, context: &Context<'_>) -> Result<Cell> {
    let bytes = cell.whole_bytes();
    of_size(cell, bytes, span, context)
}

fn of_size(cell: Cell, bytes: usize, span: Span, context: &Context<'_>) -> Result<Cell> {
    if cell.depth() > DEPTH_MAX {
        let message = format!("lists and maps nest deeper than the limit of {DEPTH_MAX}");
        return Err(Diagnostic::at(span, message).execute());
    }
    fits(bytes, span, context)?;
    Ok(cell)
}

fn fits(bytes: usize, span: Span, context: &Context<'_>) -> Result<()> {
    let most = context.limits().memory_max;
    if bytes <= most {
        return Ok(());
    }
    let message = format!("a value takes more than {} MiB", most >> 20);
    Err(Diagnostic::at(span, message)
        .help("make it smaller, or raise Options::limits in Rust")
        .of_limit(Limit::Size))
}

fn value(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Cell> {
    match &expr.kind {
        ExprKind::Constant(cell) => Ok(cell.clone()),
        ExprKind::Parameter(name) => context.parameter_at(name, expr.span),
        ExprKind::Now => Ok(Cell::Timestamp(context.now())),
        ExprKind::Slot(slot, name) => row.get(*slot).cloned().ok_or_else(|| {
            let message = format!("`{name}` is a name, and a value must stand here");
            Diagnostic::at(expr.span, message).bind()
        }),
        ExprKind::Property(inner, name) => {
            property(&eval(inner, row, context)?, name, expr.span, context)
        }
        ExprKind::Index(list, index) => {
            let (list, index) = (eval(list, row, context)?, eval(index, row, context)?);
            item(&list, &index, expr.span, context)
        }
        ExprKind::Slice(list, from, to) => {
            let list = eval(list, row, context)?;
            let bound = |bound: &Option<Box<Expr>>| {
                bound.as_ref().map(|bound| eval(bound, row, context)).transpose()
            };
            slice(&list, bound(from)?, bound(to)?, expr.span)
        }
        ExprKind::HasLabel(node, labels) => match eval(node, row, context)? {
            Cell::Node(node) => {
                let label = context.node(node)?.label;
                let name = context.reader.catalog().label_name(label);
                Ok(Cell::Bool(labels.iter().any(|label| label == name)))
            }
            Cell::Null => Ok(Cell::Null),
            other => Err(mismatch(expr.span, "a label", "a node", &other)),
        },
        ExprKind::HasKey(node, key) => {
            has_key(&eval(node, row, context)?, &self::key(key, row, context)?, context)
        }
        ExprKind::Call(function, arguments) if function.name == products::DOT => {
            dot(function, arguments, (row, expr.span), context)
        }
        ExprKind::Call(function, arguments) => {
            let mut weighed = Weighed::default();
            let arguments = arguments.iter().map(|part| weighed.eval(part, row, context));
            let arguments: Vec<Cell> = arguments.collect::<Result<_>>()?;
            functions::Call { function, arguments: &arguments, span: expr.span, context }.run()
        }
        ExprKind::Unary(op, inner) => unary(*op, &eval(inner, row, context)?, expr.span),
        ExprKind::Binary(op, left, right) => {
            let mut weighed = Weighed::default();
            let left = weighed.eval(left, row, context)?;
            let right = weighed.eval(right, row, context)?;
            binary(*op, &left, &right, expr.span, context)
        }
        ExprKind::And(parts) => logic(parts, false, row, context),
        ExprKind::Or(parts) => logic(parts, true, row, context),
        ExprKind::List(items) => {
            let mut weighed = Weighed::default();
            let items = items.iter().map(|item| weighed.eval(item, row, context));
            Ok(Cell::list(items.collect::<Result<_>>()?))
        }
        ExprKind::Map(entries) => {
            let mut weighed = Weighed::default();
            let entries = entries
                .iter()
                .map(|(name, value)| Ok((name.clone(), weighed.eval(value, row, context)?)));
            Ok(Cell::map(entries.collect::<Result<BTreeMap<_, _>>>()?))
        }
        ExprKind::Given(given) => match given.checked(eval(&given.value, row, context)?)? {
            Some(value) => Ok(value),
            None => eval(&given.default, row, context),
        },
        ExprKind::Case(branches, otherwise) => {
            for (condition, value) in branches {
                if holds(condition, row, context)? {
                    return eval(value, row, context);
                }
            }
            otherwise.as_ref().map_or(Ok(Cell::Null), |value| eval(value, row, context))
        }
        ExprKind::Comprehension(each) => comprehension(each, row, context),
        ExprKind::Quantified(quantifier, each) => quantified(*quantifier, each, row, context),
        ExprKind::Reduce(reduce) => gathered(reduce, row, context),
        ExprKind::Subquery(subquery) if row.len() < subquery.width => {
            Err(Diagnostic::at(expr.span, NO_QUERY).bind())
        }
        ExprKind::Subquery(subquery) => subquery::answer(subquery, row, context),
    }
}

/// Whether a condition is true; null and false are not.
pub(crate) fn holds(condition: &Expr, row: &Row, context: &Context<'_>) -> Result<bool> {
    match eval(condition, row, context)? {
        Cell::Bool(value) => Ok(value),
        Cell::Null => Ok(false),
        other => Err(mismatch(condition.span, "a condition", "true or false", &other)),
    }
}

/// Embeds, many at once, every text that `similarity` in these expressions will ask for.
pub(crate) fn warm<'r>(
    exprs: &[&Expr],
    rows: impl Iterator<Item = &'r Row> + Clone,
    context: &Context<'_>,
) -> Result<()> {
    let mut arguments = Vec::new();
    for expr in exprs {
        expr.walk(&mut |inner| {
            if let ExprKind::Call(function, parts) = &inner.kind
                && function.asks_model
            {
                arguments.extend(parts.clone());
            }
        });
    }
    let mut texts = Vec::new();
    let pairs = arguments.iter().flat_map(|part| rows.clone().map(move |row| (part, row)));
    for (argument, row) in pairs {
        // What fails may never be asked for: it is told where it is.
        let cell = match eval(argument, row, context) {
            Err(error) if error.is_about_value() => continue,
            cell => cell?,
        };
        if context.stored_vector(&cell)?.is_none()
            && let Some(text) = context.text(&cell)?
        {
            texts.push(text);
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    context.embed(&texts).map(drop)
}

/// The product of two lists. A property of a node is read as it is stored.
fn dot(
    function: &'static functions::Function,
    arguments: &[Expr],
    (row, span): (&Row, Span),
    context: &Context<'_>,
) -> Result<Cell> {
    let [left, right] = arguments else { return Ok(Cell::Null) };
    let (left, right) = (side(left, row, context)?, side(right, row, context)?);
    products::product(&left, &right, &functions::Call { function, arguments: &[], span, context })
}

fn side(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Side> {
    if let ExprKind::Property(inner, name) = &expr.kind
        && let Some(stored) = context.reader.catalog().property(name)
    {
        let holder = eval(inner, row, context)?;
        if let Cell::Node(node) = holder
            && node.system == SystemScope::Current
            && let Some(numbers) = context.reader.numbers(node.id, stored)?
        {
            context.passed(numbers.len() * size_of::<f64>())?;
            return Ok(Side::Stored(numbers));
        }
        return property(&holder, name, expr.span, context).map(|cell| Side::of(&cell));
    }
    eval(expr, row, context).map(|cell| Side::of(&cell))
}

/// The key that a pattern asks for. What is no text equals no key; but a parameter that has a number was
/// meant to be text.
pub(crate) fn key(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Cell> {
    let key = eval(expr, row, context)?;
    match &expr.kind {
        ExprKind::Parameter(name) if !matches!(key, Cell::String(_) | Cell::Null) => {
            let message = format!("a key is a string, and ${name} is {}", key.kind());
            let help = match key {
                Cell::Int(_) | Cell::Float(_) | Cell::Bool(_) => {
                    format!("in the shell a text is given as --param {name}='\"{key}\"'")
                }
                _ => format!("of several keys, write n.key IN ${name}"),
            };
            Err(Diagnostic::at(expr.span, message).help(help).bind())
        }
        _ => Ok(key),
    }
}

fn has_key(node: &Cell, key: &Cell, context: &Context<'_>) -> Result<Cell> {
    match (node, key) {
        (Cell::Node(node), Cell::String(key)) => {
            let record = context.node(*node)?;
            let is_alias = record.aliases.iter().any(|alias| **alias == **key);
            Ok(Cell::Bool(*record.key == **key || is_alias))
        }
        (_, Cell::Null) | (Cell::Null, _) => Ok(Cell::Null),
        _ => Ok(Cell::Bool(false)),
    }
}

fn property(cell: &Cell, name: &str, span: Span, context: &Context<'_>) -> Result<Cell> {
    match cell {
        Cell::Null => Ok(Cell::Null),
        Cell::Node(node) => context.node_property(*node, name),
        Cell::Fact(edge) => context.fact_property(edge, name),
        Cell::Map(entries) => Ok(entries.get(name).cloned().unwrap_or(Cell::Null)),
        Cell::Timestamp(instant) => match time::field(*instant, name) {
            Some(value) => Ok(Cell::Int(value)),
            None => Err(no_field("an instant", name, time::FIELDS.iter().copied(), span)),
        },
        Cell::Duration(duration) => match duration.component(name) {
            Some(value) => Ok(Cell::Int(value)),
            None => {
                let known = ["years", "months", "days", "hours", "minutes", "seconds"];
                Err(no_field("a duration", name, known.into_iter(), span))
            }
        },
        Cell::Period(period) => match name {
            "from" => Ok(Cell::instant(period.from)),
            "to" => Ok(Cell::instant(period.to)),
            _ => Err(no_field("a period", name, ["from", "to"].into_iter(), span)),
        },
        Cell::List(_) if matches!(name, "length" | "size" | "count") => {
            let error = Diagnostic::at(span, format!("a list has no property {name}"));
            Err(error.help("write size(x)").execute())
        }
        Cell::List(_) => Err(Diagnostic::at(span, format!("a list has no property {name}"))
            .help("a relation pattern with a number of hops binds a list of facts; write f[0] or facts(p)")
            .execute()),
        other => {
            Err(Diagnostic::at(span, format!("{} has no property {name}", other.kind())).execute())
        }
    }
}

fn no_field<'n>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    span: Span,
) -> crate::Error {
    let error = Diagnostic::at(span, format!("{what} has no `{name}`"));
    match engraph_grammar::closest(name, known.clone()) {
        Some(known) => error.help(format!("did you mean {known}?")),
        None => error.help(format!("it has {}", known.collect::<Vec<_>>().join(", "))),
    }
    .execute()
}

/// The items from the first place up to the second; places count from the end if negative.
fn slice(list: &Cell, from: Option<Cell>, to: Option<Cell>, span: Span) -> Result<Cell> {
    if *list == Cell::Null || from == Some(Cell::Null) || to == Some(Cell::Null) {
        return Ok(Cell::Null);
    }
    let Cell::List(items) = list else {
        return Err(mismatch(span, "`[ .. ]`", "a list", list));
    };
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let place = |bound: Option<Cell>, otherwise: i64| match bound {
        None => Ok(otherwise),
        Some(Cell::Int(at)) if at < 0 => Ok(length.saturating_add(at).max(0)),
        Some(Cell::Int(at)) => Ok(at.min(length)),
        Some(other) => Err(mismatch(span, "`[ .. ]`", "whole numbers", &other)),
    };
    let (from, to) = (place(from, 0)?, place(to, length)?);
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    Ok(Cell::list(items.get(place(from)..place(to)).unwrap_or_default().to_vec()))
}

/// The items of a list; none if it is null.
fn items(list: &Expr, row: &Row, context: &Context<'_>) -> Result<Option<Arc<Items>>> {
    match eval(list, row, context)? {
        Cell::Null => Ok(None),
        Cell::List(items) => {
            context.work(items.len())?;
            Ok(Some(items))
        }
        other => Err(mismatch(list.span, "IN", "a list", &other)),
    }
}

/// The row with room for a name that is bound within an expression: what stands outside of a query has no row.
fn with_slots(row: &Row, last: Slot) -> Row {
    let mut row = row.clone();
    row.resize(row.len().max(last + 1), Cell::Null);
    row
}

/// An error if time is up; asked of some of many items.
fn in_time(place: usize, context: &Context<'_>) -> Result<()> {
    if place.is_multiple_of(TIMED_ITEMS) { context.in_time() } else { Ok(()) }
}

fn comprehension(each: &Each, row: &Row, context: &Context<'_>) -> Result<Cell> {
    let Some(items) = items(&each.list, row, context)? else { return Ok(Cell::Null) };
    let mut row = with_slots(row, each.slot);
    let (mut made, mut bytes, mut held) = (Vec::new(), 0_usize, Held::default());
    for (place, item) in items.iter().enumerate() {
        in_time(place, context)?;
        row[each.slot] = item.clone();
        if let Some(condition) = &each.condition
            && !holds(condition, &row, context)?
        {
            continue;
        }
        let item = match &each.item {
            Some(item) => eval(item, &row, context)?,
            None => item.clone(),
        };
        bytes = bytes.saturating_add(item.bytes());
        context.hold(&mut held, bytes)?;
        made.push(item);
    }
    Ok(Cell::list(made))
}

/// Of how many items the condition is true; null where items for which it is null decide.
fn quantified(
    quantifier: Quantifier,
    each: &Each,
    row: &Row,
    context: &Context<'_>,
) -> Result<Cell> {
    let (Some(items), Some(condition)) = (items(&each.list, row, context)?, &each.condition) else {
        return Ok(Cell::Null);
    };
    let mut row = with_slots(row, each.slot);
    let (mut yes, mut no, mut open) = (0, 0, 0);
    for (place, item) in items.iter().enumerate() {
        in_time(place, context)?;
        row[each.slot] = item.clone();
        match eval(condition, &row, context)? {
            Cell::Bool(true) => yes += 1,
            Cell::Bool(false) => no += 1,
            Cell::Null => open += 1,
            other => {
                return Err(mismatch(condition.span, "a condition", "true or false", &other));
            }
        }
        let is_decided = match quantifier {
            Quantifier::All => no > 0,
            Quantifier::Any | Quantifier::None => yes > 0,
            Quantifier::Single => yes > 1,
        };
        if is_decided {
            break;
        }
    }
    let known = match quantifier {
        Quantifier::All if no > 0 => Some(false),
        Quantifier::Any if yes > 0 => Some(true),
        Quantifier::None if yes > 0 => Some(false),
        Quantifier::Single if yes > 1 => Some(false),
        _ if open > 0 => None,
        Quantifier::All | Quantifier::None => Some(true),
        Quantifier::Any => Some(false),
        Quantifier::Single => Some(yes == 1),
    };
    Ok(known.map_or(Cell::Null, Cell::Bool))
}

fn gathered(reduce: &Reduce, row: &Row, context: &Context<'_>) -> Result<Cell> {
    let Some(items) = items(&reduce.list, row, context)? else { return Ok(Cell::Null) };
    let mut row = with_slots(row, reduce.total.max(reduce.slot));
    row[reduce.total] = eval(&reduce.first, &row, context)?;
    let mut held = Held::default();
    for (place, item) in items.iter().enumerate() {
        in_time(place, context)?;
        row[reduce.slot] = item.clone();
        let total = eval(&reduce.next, &row, context)?;
        context.hold(&mut held, total.bytes())?;
        row[reduce.total] = total;
    }
    Ok(std::mem::replace(&mut row[reduce.total], Cell::Null))
}

/// An item of a list by its place, or a property by its name.
fn item(list: &Cell, index: &Cell, span: Span, context: &Context<'_>) -> Result<Cell> {
    match (list, index) {
        (Cell::Null, _) | (_, Cell::Null) => Ok(Cell::Null),
        (Cell::List(items), Cell::Int(index)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let at = if *index < 0 { length.saturating_add(*index) } else { *index };
            let found = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(found.cloned().unwrap_or(Cell::Null))
        }
        (Cell::List(_), _) => Err(mismatch(span, "`[ ]` of a list", "a whole number", index)),
        (Cell::Map(_) | Cell::Node(_) | Cell::Fact(_), Cell::String(name)) => {
            property(list, name, span, context)
        }
        (Cell::Map(_) | Cell::Node(_) | Cell::Fact(_), _) => {
            Err(mismatch(span, &format!("`[ ]` of {}", list.kind()), "a string", index))
        }
        _ => Err(mismatch(span, "`[ ]`", "a list, a map, a node or a fact", list)),
    }
}

/// `AND` (decided by false) and `OR` (decided by true) over many parts.
fn logic(parts: &[Expr], decisive: bool, row: &Row, context: &Context<'_>) -> Result<Cell> {
    let mut unknown = false;
    for part in parts {
        match eval(part, row, context)? {
            Cell::Bool(value) if value == decisive => return Ok(Cell::Bool(decisive)),
            Cell::Bool(_) => {}
            Cell::Null => unknown = true,
            other => {
                let name = if decisive { "OR" } else { "AND" };
                return Err(mismatch(part.span, name, "true or false", &other));
            }
        }
    }
    Ok(if unknown { Cell::Null } else { Cell::Bool(!decisive) })
}
