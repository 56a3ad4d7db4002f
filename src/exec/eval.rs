//! Expressions over one row: three-valued logic as in GQL, errors at the place in the text.

use std::collections::BTreeMap;
use std::sync::Arc;

use engraph_grammar::ast::{BinaryOp, Span, UnaryOp};

use crate::cell::{Cell, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::context::Context;
use crate::models;
use crate::plan::expr::{Expr, ExprKind, Function, sign};
use crate::time;

/// Texts that a model sees at once; between two calls the time limit is looked at.
const TEXTS_PER_CALL: usize = 256;

/// The value of an expression.
pub(crate) fn eval(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Cell> {
    match &expr.kind {
        ExprKind::Constant(cell) => Ok(cell.clone()),
        ExprKind::Slot(slot, _) => Ok(row[*slot].clone()),
        ExprKind::Property(inner, name) => {
            property(&eval(inner, row, context)?, name, expr.span, context)
        }
        ExprKind::Index(list, index) => {
            let (list, index) = (eval(list, row, context)?, eval(index, row, context)?);
            item(&list, &index, expr.span)
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
            has_key(&eval(node, row, context)?, &eval(key, row, context)?, context)
        }
        ExprKind::Call(function, arguments) => {
            let arguments: Vec<Cell> =
                arguments.iter().map(|part| eval(part, row, context)).collect::<Result<_>>()?;
            call(*function, &arguments, expr.span, context)
        }
        ExprKind::Unary(op, inner) => unary(*op, &eval(inner, row, context)?, expr.span),
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (eval(left, row, context)?, eval(right, row, context)?);
            binary(*op, &left, &right, expr.span)
        }
        ExprKind::And(parts) => logic(parts, false, row, context),
        ExprKind::Or(parts) => logic(parts, true, row, context),
        ExprKind::List(items) => {
            let items = items.iter().map(|item| eval(item, row, context));
            Ok(Cell::List(items.collect::<Result<_>>()?))
        }
        ExprKind::Map(entries) => {
            let entries =
                entries.iter().map(|(name, value)| Ok((name.clone(), eval(value, row, context)?)));
            Ok(Cell::Map(entries.collect::<Result<BTreeMap<_, _>>>()?))
        }
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
            if let ExprKind::Call(Function::Similarity, parts) = &inner.kind {
                arguments.extend(parts.clone());
            }
        });
    }
    let mut texts = Vec::new();
    let pairs = arguments.iter().flat_map(|part| rows.clone().map(move |row| (part, row)));
    for (argument, row) in pairs {
        let cell = eval(argument, row, context)?;
        if context.stored_vector(&cell)?.is_none()
            && let Some(text) = context.text(&cell)?
        {
            texts.push(text);
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    for block in texts.chunks(TEXTS_PER_CALL) {
        context.embed(block)?;
    }
    Ok(())
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
        Cell::List(_) => Err(Diagnostic::at(span, format!("a list has no property {name}"))
            .help("a relation pattern with a number of hops binds a list of facts; write f[0] or facts(p)")
            .execute()),
        other => {
            Err(Diagnostic::at(span, format!("{} has no property {name}", other.kind())).execute())
        }
    }
}

fn item(list: &Cell, index: &Cell, span: Span) -> Result<Cell> {
    match (list, index) {
        (Cell::Null, _) | (_, Cell::Null) => Ok(Cell::Null),
        (Cell::List(items), Cell::Int(index)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let at = if *index < 0 { length.saturating_add(*index) } else { *index };
            let found = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(found.cloned().unwrap_or(Cell::Null))
        }
        (Cell::Map(entries), Cell::String(name)) => {
            Ok(entries.get(&**name).cloned().unwrap_or(Cell::Null))
        }
        (list, _) => Err(mismatch(span, "`[ ]`", "a list and a number", list)),
    }
}

fn unary(op: UnaryOp, cell: &Cell, span: Span) -> Result<Cell> {
    match (op, cell) {
        (UnaryOp::IsNull, cell) => Ok(Cell::Bool(*cell == Cell::Null)),
        (UnaryOp::IsNotNull, cell) => Ok(Cell::Bool(*cell != Cell::Null)),
        (_, Cell::Null) => Ok(Cell::Null),
        (UnaryOp::Not, Cell::Bool(value)) => Ok(Cell::Bool(!value)),
        (UnaryOp::Negate, Cell::Int(value)) => {
            value.checked_neg().map(Cell::Int).ok_or_else(|| overflow(span))
        }
        (UnaryOp::Negate, Cell::Float(value)) => Ok(Cell::Float(-value)),
        (UnaryOp::Not, cell) => Err(mismatch(span, "NOT", "true or false", cell)),
        (UnaryOp::Negate, cell) => Err(mismatch(span, "`-`", "a number", cell)),
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

fn binary(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Cell> {
    if let (BinaryOp::In, Cell::List(items)) = (op, right) {
        return Ok(contained(left, items));
    }
    if *left == Cell::Null || *right == Cell::Null {
        return Ok(Cell::Null);
    }
    match op {
        BinaryOp::Equal => Ok(Cell::Bool(left.same(right))),
        BinaryOp::NotEqual => Ok(Cell::Bool(!left.same(right))),
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            compare(op, left, right, span)
        }
        BinaryOp::Xor => match (left, right) {
            (Cell::Bool(a), Cell::Bool(b)) => Ok(Cell::Bool(a != b)),
            _ => Err(mismatch_two(op, left, right, span)),
        },
        BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains => match (left, right) {
            (Cell::String(a), Cell::String(b)) => Ok(Cell::Bool(match op {
                BinaryOp::StartsWith => a.starts_with(&**b),
                BinaryOp::EndsWith => a.ends_with(&**b),
                _ => a.contains(&**b),
            })),
            _ => Err(mismatch_two(op, left, right, span)),
        },
        BinaryOp::In => Err(mismatch(span, "IN", "a list on its right", right)),
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder => arithmetic(op, left, right, span),
    }
}

fn contained(needle: &Cell, items: &[Cell]) -> Cell {
    if *needle == Cell::Null {
        return Cell::Null;
    }
    if items.iter().any(|item| item.same(needle)) {
        return Cell::Bool(true);
    }
    if items.contains(&Cell::Null) { Cell::Null } else { Cell::Bool(false) }
}

fn compare(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Cell> {
    if left.kind() != right.kind() || matches!(left, Cell::Node(_) | Cell::Fact(_) | Cell::Path(_))
    {
        return Err(mismatch_two(op, left, right, span));
    }
    let order = left.order(right);
    Ok(Cell::Bool(match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn arithmetic(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> Result<Cell> {
    match (op, left, right) {
        (BinaryOp::Add, Cell::String(a), Cell::String(b)) => Ok(Cell::text(&format!("{a}{b}"))),
        (BinaryOp::Add, Cell::List(a), Cell::List(b)) => Ok(Cell::List([&a[..], b].concat())),
        (_, Cell::Int(a), Cell::Int(b)) => {
            if *b == 0 && matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
                return Err(Diagnostic::at(span, "division by zero").execute());
            }
            let result = match op {
                BinaryOp::Add => a.checked_add(*b),
                BinaryOp::Subtract => a.checked_sub(*b),
                BinaryOp::Multiply => a.checked_mul(*b),
                BinaryOp::Divide => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            result.map(Cell::Int).ok_or_else(|| overflow(span))
        }
        _ => match (left.number(), right.number()) {
            (Some(a), Some(b)) => {
                let result = match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Subtract => a - b,
                    BinaryOp::Multiply => a * b,
                    BinaryOp::Divide => a / b,
                    _ => a % b,
                };
                finite(result, span)
            }
            _ => Err(mismatch_two(op, left, right, span)),
        },
    }
}

fn finite(value: f64, span: Span) -> Result<Cell> {
    if value.is_finite() {
        return Ok(Cell::Float(value));
    }
    Err(Diagnostic::at(span, "the result is not a finite number").execute())
}

fn call(function: Function, arguments: &[Cell], span: Span, context: &Context<'_>) -> Result<Cell> {
    if function == Function::Coalesce {
        return Ok(arguments
            .iter()
            .find(|cell| **cell != Cell::Null)
            .cloned()
            .unwrap_or(Cell::Null));
    }
    let [first, rest @ ..] = arguments else { return Ok(Cell::Null) };
    if arguments.contains(&Cell::Null) {
        return Ok(Cell::Null);
    }
    let fail = |expected: &str| Err(mismatch(span, function.name(), expected, first));
    match (function, first) {
        (Function::Abs, Cell::Int(value)) => {
            value.checked_abs().map(Cell::Int).ok_or_else(|| overflow(span))
        }
        (Function::Abs, Cell::Float(value)) => Ok(Cell::Float(value.abs())),
        (Function::Round, Cell::Int(value)) => Ok(Cell::Int(*value)),
        (Function::Round, Cell::Float(value)) => Ok(Cell::Float(value.round())),
        (Function::Abs | Function::Round, _) => fail("a number"),
        (Function::Confidence, Cell::Fact(edge)) => Ok(Cell::Float(edge.confidence)),
        (Function::Confidence, Cell::Path(path)) => {
            // The product over the path (design: confidence is an algebra on paths).
            Ok(Cell::Float(path.facts.iter().map(|edge| edge.confidence).product()))
        }
        (Function::Confidence, _) => fail("a path or a fact"),
        (Function::Facts, Cell::Path(path)) => {
            Ok(Cell::List(path.facts.iter().copied().map(Cell::Fact).collect()))
        }
        (Function::Nodes, Cell::Path(path)) => {
            Ok(Cell::List(path.nodes.iter().copied().map(Cell::Node).collect()))
        }
        (Function::Length, Cell::Path(path)) => Ok(Cell::Int(count(path.facts.len()))),
        (Function::Facts | Function::Nodes | Function::Length, _) => fail("a path"),
        (Function::Size, Cell::List(items)) => Ok(Cell::Int(count(items.len()))),
        (Function::Size, Cell::String(text)) => Ok(Cell::Int(count(text.chars().count()))),
        (Function::Size, _) => fail("a list or a string"),
        (Function::Id, Cell::Node(node)) => Ok(Cell::Int(node.id.0.cast_signed())),
        (Function::Id, Cell::Fact(edge)) => Ok(Cell::Int(edge.fact.0.cast_signed())),
        (Function::Id, _) => fail("a node or a fact"),
        (Function::Label, Cell::Node(node)) => context.node_property(*node, "label"),
        (Function::Label, _) => fail("a node"),
        (Function::Type, Cell::Fact(edge)) => context.fact_property(edge, "relation"),
        (Function::Type, _) => fail("a fact"),
        (Function::Lower, Cell::String(text)) => Ok(Cell::text(&text.to_lowercase())),
        (Function::Upper, Cell::String(text)) => Ok(Cell::text(&text.to_uppercase())),
        (Function::Lower | Function::Upper, _) => fail("a string"),
        (Function::ToString, Cell::String(text)) => Ok(Cell::String(Arc::clone(text))),
        (Function::ToString, other) => Ok(Cell::text(&context.materialise(other)?.to_string())),
        (Function::Timestamp, Cell::Timestamp(instant)) => Ok(Cell::Timestamp(*instant)),
        (Function::Timestamp, Cell::String(text)) => time::parse(text).map_or_else(
            || {
                Err(Diagnostic::at(span, format!("'{text}' is no instant"))
                    .help(time::FORMS)
                    .execute())
            },
            |instant| Ok(Cell::Timestamp(instant)),
        ),
        (Function::Timestamp, _) => fail("a string"),
        (Function::Similarity, _) => match rest {
            [second] => similarity(first, second, span, context),
            _ => Ok(Cell::Null),
        },
        (Function::Coalesce, _) => Ok(Cell::Null),
    }
}

/// The cosine of the two embeddings, in [-1, 1].
fn similarity(a: &Cell, b: &Cell, span: Span, context: &Context<'_>) -> Result<Cell> {
    let vector = |cell: &Cell| {
        if let Some(vector) = context.stored_vector(cell)? {
            return Ok(vector);
        }
        let Some(text) = context.text(cell)? else {
            return Err(mismatch(span, "similarity", "texts, nodes, facts or paths", cell));
        };
        let vectors = context.embed(&[&text])?;
        vectors.into_iter().next().ok_or_else(|| Diagnostic::at(span, "no embedding").execute())
    };
    let (a, b) = (vector(a)?, vector(b)?);
    if a.len() != b.len() {
        let message = format!("embeddings of {} and {} dimensions", a.len(), b.len());
        return Err(Diagnostic::at(span, message).execute());
    }
    finite(models::dot(&a, &b).into(), span)
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn overflow(span: Span) -> crate::Error {
    Diagnostic::at(span, "the result is beyond 64-bit whole numbers").execute()
}

fn mismatch(span: Span, what: &str, expected: &str, found: &Cell) -> crate::Error {
    Diagnostic::at(span, format!("{what} takes {expected}, not {}", found.kind())).execute()
}

fn mismatch_two(op: BinaryOp, left: &Cell, right: &Cell, span: Span) -> crate::Error {
    let message = format!("`{}` does not take {} and {}", sign(op), left.kind(), right.kind());
    let error = Diagnostic::at(span, message);
    match (left, right) {
        (Cell::Timestamp(_), Cell::String(_)) | (Cell::String(_), Cell::Timestamp(_)) => {
            error.help("write the instant as DATE '2023-05-08' or TIMESTAMP '2023-05-08 13:56'")
        }
        _ => error,
    }
    .execute()
}
