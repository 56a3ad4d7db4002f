//! Expressions, with the brackets that binding strength asks for and no others.

use std::fmt::{self, Display, Formatter};

use super::clause::braces;
use super::pattern::labels;
use super::{
    Text, commas, is_plain, is_reserved, optional, quoted, quoted_variable, variable, word,
};
use crate::ast::{
    BinaryOp, Call, Case, Comprehension, Expr, ExprKind, Literal, Name, Quantifier, Reduce,
    Strength, UnaryOp,
};

/// The expression by itself.
pub(super) fn any(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    bare(f, expr)
}

/// An expression of sums, where a logical operator would end it.
pub(super) struct Sum<'a>(pub(super) &'a Expr);

impl Display for Sum<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        least(f, self.0, Strength::Concat)
    }
}

/// An expression before a pattern, whose bracket must not become that of a call.
pub(super) struct Cost<'a>(pub(super) &'a Expr);

impl Display for Cost<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use ExprKind::{Call, Literal, Parameter, Property};
        match self.0.kind {
            Call(_) | Literal(_) | Parameter(_) | Property(..) => bare(f, self.0),
            _ => brackets(f, self.0),
        }
    }
}

/// The expression, between brackets if it binds weaker.
fn least(f: &mut Formatter<'_>, expr: &Expr, strength: Strength) -> fmt::Result {
    match strength_of(expr) >= strength {
        true => bare(f, expr),
        false => brackets(f, expr),
    }
}

fn brackets(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    f.write_str("(")?;
    bare(f, expr)?;
    f.write_str(")")
}

fn strength_of(expr: &Expr) -> Strength {
    match &expr.kind {
        ExprKind::Or(_) => Strength::Or,
        ExprKind::And(_) => Strength::And,
        ExprKind::Unary(UnaryOp::Not, inner) if truth(inner).is_some() => Strength::Test,
        ExprKind::Unary(op, _) => op.strength(),
        ExprKind::Binary(op, ..) => op.strength(),
        ExprKind::Property(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::HasLabel(..) => Strength::Postfix,
        _ => Strength::Primary,
    }
}

/// The expression as it is; the stack grows with how deep it nests.
fn bare(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    stacker::maybe_grow(STACK_PER_LEVEL, 32 * STACK_PER_LEVEL, || kind(f, expr))
}

/// What printing one level of expressions may need, with the query around it, in bytes.
const STACK_PER_LEVEL: usize = 64 << 10;

fn kind(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    match &expr.kind {
        ExprKind::Literal(value) => literal(f, value),
        ExprKind::Parameter(name) => write!(f, "${}", quoted(name)),
        ExprKind::Variable(name) => quoted_variable(name).fmt(f),
        ExprKind::Property(of, name) => {
            least(f, of, Strength::Postfix)?;
            write!(f, ".{}", word(name))
        }
        ExprKind::Index(of, place) => {
            least(f, of, Strength::Postfix)?;
            write!(f, "[{place}]")
        }
        ExprKind::Slice(of, from, to) => {
            least(f, of, Strength::Postfix)?;
            f.write_str("[")?;
            optional(f, "", from.as_ref())?;
            f.write_str("..")?;
            optional(f, "", to.as_ref())?;
            f.write_str("]")
        }
        ExprKind::HasLabel(of, names) => {
            least(f, of, Strength::Postfix)?;
            labels(f, names)
        }
        ExprKind::Call(function) => call(f, function),
        ExprKind::Unary(op, operand) => unary(f, *op, operand),
        ExprKind::Binary(op, left, right) => {
            let (before, behind) = op.sides();
            least(f, left, before)?;
            write!(f, " {} ", op.sign())?;
            least(f, right, behind)
        }
        ExprKind::And(parts) => chain(f, parts, " AND ", Strength::And),
        ExprKind::Or(parts) => chain(f, parts, " OR ", Strength::Or),
        ExprKind::List(items) => list(f, items),
        ExprKind::Map(entries) => map(f, entries),
        ExprKind::Case(choice) => case(f, choice),
        ExprKind::Exists(query) => {
            f.write_str("EXISTS")?;
            braces(f, query, true)
        }
        ExprKind::Count(query) => {
            f.write_str("COUNT")?;
            braces(f, query, true)
        }
        ExprKind::Collect(query) => {
            f.write_str("COLLECT")?;
            braces(f, query, false)
        }
        ExprKind::Comprehension(each) => {
            f.write_str("[")?;
            comprehension(f, each)?;
            f.write_str("]")
        }
        ExprKind::Quantified(quantifier, each) => {
            f.write_str(match quantifier {
                Quantifier::All => "all(",
                Quantifier::Any => "any(",
                Quantifier::None => "none(",
                Quantifier::Single => "single(",
            })?;
            comprehension(f, each)?;
            f.write_str(")")
        }
        ExprKind::Reduce(fold) => reduce(f, fold),
    }
}

fn literal(f: &mut Formatter<'_>, value: &Literal) -> fmt::Result {
    match value {
        Literal::Null => f.write_str("null"),
        Literal::Bool(yes) => yes.fmt(f),
        Literal::Int(number) => number.fmt(f),
        // The shortest digits that give the number back, with a point or an exponent.
        Literal::Float(number) => write!(f, "{number:?}"),
        Literal::String(text) => Text(text).fmt(f),
        Literal::Date(text) => write!(f, "DATE {}", Text(text)),
        Literal::Timestamp(text) => write!(f, "TIMESTAMP {}", Text(text)),
        Literal::Duration(text) => write!(f, "DURATION {}", Text(text)),
    }
}

fn unary(f: &mut Formatter<'_>, op: UnaryOp, operand: &Expr) -> fmt::Result {
    let behind = match op {
        UnaryOp::Not => {
            if let Some((inner, word)) = truth(operand) {
                least(f, inner, Strength::Test)?;
                return write!(f, " IS NOT {word}");
            }
            f.write_str("NOT ")?;
            return least(f, operand, Strength::Not);
        }
        UnaryOp::Negate => return negated(f, operand),
        UnaryOp::IsNull => " IS NULL",
        UnaryOp::IsNotNull => " IS NOT NULL",
        UnaryOp::IsTrue => " IS TRUE",
        UnaryOp::IsFalse => " IS FALSE",
    };
    least(f, operand, Strength::Test)?;
    f.write_str(behind)
}

/// A minus; the least integer has one of its own, and two need a blank between.
fn negated(f: &mut Formatter<'_>, operand: &Expr) -> fmt::Result {
    f.write_str("-")?;
    match &operand.kind {
        ExprKind::Literal(Literal::Int(..0)) => brackets(f, operand),
        ExprKind::Unary(UnaryOp::Negate, _) => write!(f, " {operand}"),
        _ => least(f, operand, Strength::Negate),
    }
}

/// The operand and the word of `IS TRUE` and `IS FALSE`.
fn truth(expr: &Expr) -> Option<(&Expr, &'static str)> {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::IsTrue, inner) => Some((inner, "TRUE")),
        ExprKind::Unary(UnaryOp::IsFalse, inner) => Some((inner, "FALSE")),
        _ => None,
    }
}

fn chain(f: &mut Formatter<'_>, parts: &[Expr], sign: &str, strength: Strength) -> fmt::Result {
    for (n, part) in parts.iter().enumerate() {
        f.write_str(if n > 0 { sign } else { "" })?;
        least(f, part, strength.above())?;
    }
    Ok(())
}

/// A list, whose first item must not look like the beginning of a comprehension.
fn list(f: &mut Formatter<'_>, items: &[Expr]) -> fmt::Result {
    f.write_str("[")?;
    let mut is_first = true;
    commas(f, items, |f, item| {
        match std::mem::replace(&mut is_first, false) && begins_with_member(item) {
            true => brackets(f, item),
            false => bare(f, item),
        }
    })?;
    f.write_str("]")
}

/// Whether the text begins with a name and `IN`.
fn begins_with_member(expr: &Expr) -> bool {
    let begins =
        |first: &Expr, least: Strength| strength_of(first) >= least && begins_with_member(first);
    match &expr.kind {
        ExprKind::Binary(BinaryOp::In, left, _) if is_variable(left) => true,
        ExprKind::Binary(op, left, _) => begins(left, op.sides().0),
        ExprKind::Unary(UnaryOp::Not, inner) => {
            truth(inner).is_some_and(|(first, _)| begins(first, Strength::Test))
        }
        ExprKind::Unary(UnaryOp::Negate, _) => false,
        ExprKind::Unary(_, first) => begins(first, Strength::Test),
        ExprKind::And(parts) => parts.first().is_some_and(|part| begins(part, Strength::Not)),
        ExprKind::Or(parts) => parts.first().is_some_and(|part| begins(part, Strength::Xor)),
        _ => false,
    }
}

fn is_variable(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Variable(_))
}

/// `{name: value}`; what no name can be is text.
pub(super) fn map(f: &mut Formatter<'_>, entries: &[(Name, Expr)]) -> fmt::Result {
    f.write_str("{")?;
    commas(f, entries, |f, (key, value)| match key.text.is_empty() {
        true => write!(f, "'': {value}"),
        false => write!(f, "{}: {value}", word(key)),
    })?;
    f.write_str("}")
}

fn case(f: &mut Formatter<'_>, case: &Case) -> fmt::Result {
    f.write_str("CASE")?;
    optional(f, " ", case.operand.as_ref())?;
    for (when, then) in &case.branches {
        write!(f, " WHEN {when} THEN {then}")?;
    }
    optional(f, " ELSE ", case.otherwise.as_ref())?;
    f.write_str(" END")
}

/// `x IN list WHERE condition | item`.
fn comprehension(f: &mut Formatter<'_>, each: &Comprehension) -> fmt::Result {
    write!(f, "{} IN {}", variable(&each.variable), each.list)?;
    optional(f, " WHERE ", each.condition.as_ref())?;
    optional(f, " | ", each.item.as_ref())
}

fn reduce(f: &mut Formatter<'_>, fold: &Reduce) -> fmt::Result {
    write!(f, "reduce({} = {}, ", variable(&fold.total), fold.first)?;
    write!(f, "{} IN {} | {})", variable(&fold.variable), fold.list, fold.next)
}

fn call(f: &mut Formatter<'_>, call: &Call) -> fmt::Result {
    function(f, &call.function.text)?;
    f.write_str("(")?;
    f.write_str(if call.star { "*" } else { "" })?;
    f.write_str(if call.distinct { "DISTINCT" } else { "" })?;
    f.write_str(if call.distinct && !call.arguments.is_empty() { " " } else { "" })?;
    commas(f, &call.arguments, bare)?;
    f.write_str(")")
}

/// A function's name, points and all; the words of the grammar's own forms need back quotes.
fn function(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    const FORMS: [&str; 5] = ["all", "any", "none", "single", "reduce"];
    let is_form = FORMS.iter().any(|form| form.eq_ignore_ascii_case(name));
    let first = name.split('.').next().unwrap_or_default();
    match name.split('.').all(is_plain) && !is_reserved(first) && !is_form {
        true => f.write_str(name),
        false => write!(f, "`{}`", name.replace('`', "``")),
    }
}
