//! The names that a condition asks for, such as those of conversations and sessions, so that what has
//! them can be looked up. More may have one of the names than the condition lets through; what has
//! none of them it never does.

use std::collections::BTreeSet;
use std::sync::Arc;

use engraph_grammar::ast::BinaryOp;

use crate::cell::Cell;
use crate::plan::expr::{Expr, ExprKind, Slot};

/// Names; what has none of them does not count.
pub(super) type Names = BTreeSet<Arc<str>>;

/// The properties of a node that hold names, and what the rest of a condition is worth.
pub(super) struct Asking<'a> {
    pub(super) node: Slot,
    pub(super) properties: &'a [&'a str],
    /// The value of an expression that does not read the node; none if it has none.
    pub(super) value: &'a dyn Fn(&Expr) -> Option<Cell>,
}

impl Asking<'_> {
    /// The names of which one of the properties must have one, if all of the conditions are to hold;
    /// none if they ask for no names.
    pub(super) fn all(&self, conditions: &[Expr]) -> Option<Names> {
        // Each alone is enough; the fewest names are the least to look up.
        conditions.iter().filter_map(|part| self.one(part)).min_by_key(BTreeSet::len)
    }

    fn one(&self, condition: &Expr) -> Option<Names> {
        if self.is_of_the_row(condition) {
            // What is neither true nor false is an error, which is told where it is asked.
            let fails = matches!((self.value)(condition)?, Cell::Bool(false) | Cell::Null);
            return fails.then(Names::new);
        }
        match &condition.kind {
            ExprKind::And(parts) => self.all(parts),
            ExprKind::Or(parts) => {
                let names: Option<Vec<Names>> = parts.iter().map(|part| self.one(part)).collect();
                Some(names?.into_iter().flatten().collect())
            }
            ExprKind::Binary(BinaryOp::Equal, left, right) => match self.is_name(left) {
                true => self.name_of(right),
                false if self.is_name(right) => self.name_of(left),
                false => None,
            },
            ExprKind::Binary(BinaryOp::In, left, right) => match &right.kind {
                ExprKind::List(items) if items.iter().all(|item| self.is_name(item)) => {
                    self.name_of(left)
                }
                _ if self.is_name(left) => self.names_of(right),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an expression is one of the properties.
    fn is_name(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Property(inner, name)
            if self.properties.contains(&name.as_str())
                && matches!(&inner.kind, ExprKind::Slot(slot, _) if *slot == self.node))
    }

    /// A text as the one name; none if it is anything else.
    fn name_of(&self, expr: &Expr) -> Option<Names> {
        Some(Names::from([name(&self.of_the_row(expr)?)?]))
    }

    /// A list of texts as names; none if it is anything else.
    fn names_of(&self, expr: &Expr) -> Option<Names> {
        match self.of_the_row(expr)? {
            Cell::List(items) => items.iter().map(name).collect(),
            _ => None,
        }
    }

    /// The value of an expression that is the same for all nodes.
    fn of_the_row(&self, expr: &Expr) -> Option<Cell> {
        if self.is_of_the_row(expr) { (self.value)(expr) } else { None }
    }

    /// Whether an expression is the same for all nodes. What calls a function may not be.
    fn is_of_the_row(&self, expr: &Expr) -> bool {
        let mut calls = false;
        expr.walk(&mut |part| calls |= matches!(part.kind, ExprKind::Call(..)));
        !calls && !expr.slots().contains(&self.node)
    }
}

fn name(cell: &Cell) -> Option<Arc<str>> {
    match cell {
        Cell::String(name) => Some(Arc::clone(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use engraph_grammar::ast::Span;

    use super::*;

    const NODE: Slot = 3;

    fn expr(kind: ExprKind) -> Expr {
        Expr::new(kind, Span { start: 0, end: 0 })
    }

    fn property(name: &str) -> Expr {
        expr(ExprKind::Property(Box::new(expr(ExprKind::Slot(NODE, "t".into()))), name.into()))
    }

    fn value(cell: impl Into<Cell>) -> Expr {
        expr(ExprKind::Constant(cell.into()))
    }

    fn text(text: &str) -> Expr {
        value(Cell::String(Arc::from(text)))
    }

    fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        expr(ExprKind::Binary(op, Box::new(left), Box::new(right)))
    }

    fn names(condition: Expr) -> Option<Vec<String>> {
        let value = |expr: &Expr| match &expr.kind {
            ExprKind::Constant(cell) => Some(cell.clone()),
            _ => None,
        };
        let asking = Asking { node: NODE, properties: &["session", "conversation"], value: &value };
        let names = asking.all(&[condition])?;
        Some(names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn what_must_have_a_name_says_which() {
        let is = |name| binary(BinaryOp::Equal, property("session"), text(name));
        assert_eq!(names(is("a")), Some(vec!["a".to_owned()]));
        let either = || {
            let list = vec![property("conversation"), property("session")];
            binary(BinaryOp::In, text("b"), expr(ExprKind::List(list)))
        };
        assert_eq!(names(either()), Some(vec!["b".to_owned()]));
        let or = |first| expr(ExprKind::Or(vec![first, either()]));
        assert_eq!(names(or(value(Cell::Bool(false)))), Some(vec!["b".to_owned()]));
        assert_eq!(names(or(value(Cell::Bool(true)))), None, "all count");
        assert_eq!(names(or(is("a"))), Some(vec!["a".to_owned(), "b".to_owned()]));
        let none = expr(ExprKind::And(vec![is("a"), value(Cell::Null)]));
        assert_eq!(names(none), Some(Vec::new()));
    }

    #[test]
    fn what_may_have_any_name_says_none() {
        assert_eq!(names(binary(BinaryOp::NotEqual, property("session"), text("a"))), None);
        assert_eq!(names(binary(BinaryOp::Equal, property("speaker"), text("a"))), None);
        assert_eq!(names(binary(BinaryOp::Equal, property("session"), value(Cell::Int(1)))), None);
        // A list is one value, and no text is.
        let list = || value(Cell::list(vec![Cell::String("a".into())]));
        assert_eq!(names(binary(BinaryOp::Equal, property("session"), list())), None);
        assert_eq!(
            names(binary(BinaryOp::In, property("session"), list())),
            Some(vec!["a".to_owned()])
        );
        assert_eq!(names(value(Cell::Int(1))), None, "an error");
        let other = binary(BinaryOp::Equal, property("speaker"), text("a"));
        let is = binary(BinaryOp::Equal, text("b"), property("session"));
        assert_eq!(names(expr(ExprKind::Or(vec![is.clone(), other.clone()]))), None);
        let both = expr(ExprKind::And(vec![is, other]));
        assert_eq!(names(both), Some(vec!["b".to_owned()]));
    }
}
