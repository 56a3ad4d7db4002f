//! Bound expressions: names are slots, literals and parameters are cells, functions are known.

use std::fmt;

use engraph_grammar::ast::{BinaryOp, Span, UnaryOp};

use crate::cell::Cell;

/// The place of a bound name in a row.
pub(crate) type Slot = usize;

/// An expression and the place in the text that it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    /// A literal or parameter.
    Constant(Cell),
    /// What is bound in a slot, and the name it has there.
    Slot(Slot, String),
    /// A property of a node, fact or map.
    Property(Box<Expr>, String),
    /// An item of a list, from 0; from the end if negative.
    Index(Box<Expr>, Box<Expr>),
    /// Whether the node in the expression has one of the labels.
    HasLabel(Box<Expr>, Vec<String>),
    /// Whether the node in the first has the second as its key or an alias.
    HasKey(Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    List(Vec<Expr>),
    Map(Vec<(String, Expr)>),
}

/// A function of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Coalesce,
    Confidence,
    Facts,
    Id,
    Label,
    Length,
    Lower,
    Nodes,
    Round,
    Similarity,
    Size,
    Timestamp,
    ToString,
    Type,
    Upper,
}

impl Function {
    /// Name, function, least and most arguments; Cypher's names stand beside ours.
    pub(crate) const TABLE: &[(&str, Self, usize, usize)] = &[
        ("abs", Self::Abs, 1, 1),
        ("coalesce", Self::Coalesce, 1, 100),
        ("confidence", Self::Confidence, 1, 1),
        ("date", Self::Timestamp, 1, 1),
        ("datetime", Self::Timestamp, 1, 1),
        ("facts", Self::Facts, 1, 1),
        ("id", Self::Id, 1, 1),
        ("label", Self::Label, 1, 1),
        ("length", Self::Length, 1, 1),
        ("lower", Self::Lower, 1, 1),
        ("nodes", Self::Nodes, 1, 1),
        ("relationships", Self::Facts, 1, 1),
        ("round", Self::Round, 1, 1),
        ("similarity", Self::Similarity, 2, 2),
        ("size", Self::Size, 1, 1),
        ("timestamp", Self::Timestamp, 1, 1),
        ("toLower", Self::Lower, 1, 1),
        ("toString", Self::ToString, 1, 1),
        ("toUpper", Self::Upper, 1, 1),
        ("type", Self::Type, 1, 1),
        ("upper", Self::Upper, 1, 1),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::TABLE.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }
}

/// A function of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AggregateFunction {
    Avg,
    Collect,
    Count,
    Max,
    Min,
    Sum,
}

impl AggregateFunction {
    pub(crate) const TABLE: &[(&str, Self)] = &[
        ("avg", Self::Avg),
        ("collect", Self::Collect),
        ("count", Self::Count),
        ("max", Self::Max),
        ("min", Self::Min),
        ("sum", Self::Sum),
    ];

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::TABLE.iter().find(|row| row.0.eq_ignore_ascii_case(name)).map(|row| row.1)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::TABLE.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }
}

impl Expr {
    /// Calls `visit` on this expression and every one inside.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Slot(..) => {}
            ExprKind::Property(inner, _)
            | ExprKind::HasLabel(inner, _)
            | ExprKind::Unary(_, inner) => inner.walk(visit),
            ExprKind::Index(left, right)
            | ExprKind::HasKey(left, right)
            | ExprKind::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            ExprKind::Call(_, parts)
            | ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::List(parts) => parts.iter().for_each(|part| part.walk(visit)),
            ExprKind::Map(entries) => entries.iter().for_each(|(_, part)| part.walk(visit)),
        }
    }

    /// All conditions as one; none if there are none.
    pub(crate) fn all(mut conditions: Vec<Expr>, span: Span) -> Option<Expr> {
        match conditions.len() {
            0 | 1 => conditions.pop(),
            _ => Some(Expr { kind: ExprKind::And(conditions), span }),
        }
    }

    /// The slots that it reads.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.walk(&mut |expr| {
            if let ExprKind::Slot(slot, _) = expr.kind {
                slots.push(slot);
            }
        });
        slots
    }
}

/// As it would be written in MemQL; shown by `EXPLAIN`.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Constant(cell) => write!(f, "{cell}"),
            ExprKind::Slot(_, name) => f.write_str(name),
            ExprKind::Property(inner, name) => write!(f, "{inner}.{name}"),
            ExprKind::Index(inner, index) => write!(f, "{inner}[{index}]"),
            ExprKind::HasLabel(inner, labels) => write!(f, "{inner}:{}", labels.join("|")),
            ExprKind::HasKey(node, key) => write!(f, "{node} is {key}"),
            ExprKind::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                join(f, arguments, ", ")?;
                f.write_str(")")
            }
            ExprKind::Unary(op, inner) => match op {
                UnaryOp::Not => write!(f, "NOT {inner}"),
                UnaryOp::Negate => write!(f, "-{inner}"),
                UnaryOp::IsNull => write!(f, "{inner} IS NULL"),
                UnaryOp::IsNotNull => write!(f, "{inner} IS NOT NULL"),
            },
            ExprKind::Binary(op, left, right) => write!(f, "{left} {} {right}", sign(*op)),
            ExprKind::And(parts) => join(f, parts, " AND "),
            ExprKind::Or(parts) => {
                f.write_str("(")?;
                join(f, parts, " OR ")?;
                f.write_str(")")
            }
            ExprKind::List(items) => {
                f.write_str("[")?;
                join(f, items, ", ")?;
                f.write_str("]")
            }
            ExprKind::Map(entries) => {
                f.write_str("{")?;
                for (index, (name, value)) in entries.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn join(f: &mut fmt::Formatter<'_>, parts: &[Expr], between: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if index == 0 { "" } else { between })?;
    }
    Ok(())
}

/// An operator as it is written.
pub(crate) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Xor => "XOR",
        BinaryOp::Equal => "=",
        BinaryOp::NotEqual => "<>",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::StartsWith => "STARTS WITH",
        BinaryOp::EndsWith => "ENDS WITH",
        BinaryOp::Contains => "CONTAINS",
        BinaryOp::In => "IN",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
    }
}
