//! What a condition asks of one node: a key, an id, a value or a range of one, whichever side it is written on.
//!
//! It never looks at what is stored: whether an index answers is told elsewhere.

use engraph_grammar::ast::BinaryOp;

use crate::plan::estimate::{OF_RANGE, OF_VALUE, items};
use crate::plan::expr::{Expr, ExprKind, Slot};

/// Nodes that a look-up of a key is taken to find: a little cheaper than a scan of one node.
const ONE_BY_KEY: f64 = 0.9;

/// What a condition asks of a node.
pub(crate) enum Asked<'e> {
    Key(&'e Expr),
    KeyIn(&'e Expr),
    Id(&'e Expr),
    IdIn(&'e Expr),
    Value(&'e Expr),
    Range(&'e Expr),
}

impl<'e> Asked<'e> {
    /// What it compares with.
    pub(super) fn value(&self) -> &'e Expr {
        match self {
            Self::Key(value)
            | Self::KeyIn(value)
            | Self::Id(value)
            | Self::IdIn(value)
            | Self::Value(value)
            | Self::Range(value) => value,
        }
    }

    /// How many of so many nodes it is expected to leave.
    pub(super) fn of(&self, nodes: f64) -> f64 {
        match self {
            Self::Key(_) | Self::Id(_) => nodes.min(ONE_BY_KEY),
            Self::KeyIn(list) | Self::IdIn(list) => nodes.min(items(list)),
            Self::Value(_) => nodes * OF_VALUE,
            Self::Range(_) => nodes * OF_RANGE,
        }
    }
}

/// What a condition asks of the node in a slot, where it compares one with something else.
pub(crate) fn asked(condition: &Expr, node: Slot) -> Option<Asked<'_>> {
    let is_node = |expr: &Expr| matches!(expr.kind, ExprKind::Slot(slot, _) if slot == node);
    match &condition.kind {
        ExprKind::HasKey(inner, key) if is_node(inner) => Some(Asked::Key(key)),
        _ => {
            let (name, op, value) = compared(condition, node)?;
            Some(match (name, op) {
                (Compared::Id, BinaryOp::Equal) => Asked::Id(value),
                (Compared::Id, BinaryOp::In) => Asked::IdIn(value),
                (Compared::Id, _) => return None,
                (Compared::Property("key"), BinaryOp::Equal) => Asked::Key(value),
                (Compared::Property("key"), BinaryOp::In) => Asked::KeyIn(value),
                (_, BinaryOp::Equal) => Asked::Value(value),
                (
                    _,
                    BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual
                    | BinaryOp::StartsWith,
                ) => Asked::Range(value),
                _ => return None,
            })
        }
    }
}

/// What of a node is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared<'e> {
    Id,
    Property(&'e str),
}

/// What of the node in a slot a condition compares, how, and with what: whichever side it is written on.
pub(crate) fn compared(condition: &Expr, node: Slot) -> Option<(Compared<'_>, BinaryOp, &Expr)> {
    let ExprKind::Binary(op, left, right) = &condition.kind else { return None };
    let (of, op, value) = match part_of(left, node) {
        Some(of) => (of, *op, right),
        None => (part_of(right, node)?, turned(*op)?, left),
    };
    (!value.slots().contains(&node)).then_some((of, op, value))
}

/// What an expression is of the node in a slot.
fn part_of(expr: &Expr, node: Slot) -> Option<Compared<'_>> {
    let is_node = |expr: &Expr| matches!(expr.kind, ExprKind::Slot(slot, _) if slot == node);
    match &expr.kind {
        ExprKind::Property(of, name) if is_node(of) => Some(Compared::Property(name)),
        ExprKind::Call(function, of) if function.name == "id" && of.iter().all(is_node) => {
            Some(Compared::Id)
        }
        _ => None,
    }
}

/// The comparison with its sides changed.
pub(crate) fn turned(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        BinaryOp::Equal | BinaryOp::Overlaps => op,
        _ => return None,
    })
}
