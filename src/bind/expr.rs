//! Expressions: names to slots, functions by name, literals and parameters to cells.

use engraph_grammar::ast::{self, ExprKind as Ast, Literal, Span};
use engraph_grammar::closest;

use crate::bind::Binder;
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::exec::eval;
use crate::plan::expr::{AggregateFunction, Expr, ExprKind, Function};
use crate::rows::Value;
use crate::time;

/// Where an expression stands, which decides what it may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Over the names bound so far.
    Row,
    /// Where no name is bound: times, keys and values of a write.
    Constant,
}

impl Binder<'_> {
    /// An expression.
    pub(crate) fn expr(&mut self, expr: &ast::Expr, place: Place) -> Result<Expr> {
        let span = expr.span;
        let kind = match &expr.kind {
            Ast::Literal(literal) => ExprKind::Constant(self.literal(literal, span)?),
            Ast::Parameter(name) => ExprKind::Constant(self.parameter(name, span)?),
            Ast::Variable(name) => return self.variable(name, span, place),
            Ast::Property(inner, name) => {
                if let Ast::Variable(variable) = &inner.kind
                    && let Some((_, kind)) = self.scope.get(variable)
                {
                    self.warn_if_no_property(name, kind);
                }
                ExprKind::Property(Box::new(self.expr(inner, place)?), name.text.clone())
            }
            Ast::Index(inner, index) => {
                let inner = self.expr(inner, place)?;
                ExprKind::Index(Box::new(inner), Box::new(self.expr(index, place)?))
            }
            Ast::HasLabel(inner, names) => {
                self.labels(names);
                let labels = names.iter().map(|name| name.text.clone()).collect();
                ExprKind::HasLabel(Box::new(self.expr(inner, place)?), labels)
            }
            Ast::Call(call) => return self.call(call, span, place),
            Ast::Unary(op, inner) => ExprKind::Unary(*op, Box::new(self.expr(inner, place)?)),
            Ast::Binary(op, left, right) => {
                let left = self.expr(left, place)?;
                ExprKind::Binary(*op, Box::new(left), Box::new(self.expr(right, place)?))
            }
            Ast::And(parts) => ExprKind::And(self.exprs(parts, place)?),
            Ast::Or(parts) => ExprKind::Or(self.exprs(parts, place)?),
            Ast::List(items) => ExprKind::List(self.exprs(items, place)?),
            Ast::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(name, value)| Ok((name.text.clone(), self.expr(value, place)?)));
                ExprKind::Map(entries.collect::<Result<_>>()?)
            }
        };
        Ok(Expr { kind, span })
    }

    fn exprs(&mut self, exprs: &[ast::Expr], place: Place) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr, place)).collect()
    }

    /// The value of an expression in which no name is bound.
    pub(crate) fn constant(&mut self, expr: &ast::Expr) -> Result<Cell> {
        let bound = self.expr(expr, Place::Constant)?;
        eval::eval(&bound, &Vec::new(), self.context)
    }

    fn literal(&self, literal: &Literal, span: Span) -> Result<Cell> {
        let instant = |text: &str| {
            time::parse(text).map(Cell::Timestamp).ok_or_else(|| {
                Diagnostic::at(span, format!("'{text}' is no instant")).help(time::FORMS).bind()
            })
        };
        Ok(match literal {
            Literal::Null => Cell::Null,
            Literal::Bool(value) => Cell::Bool(*value),
            Literal::Int(value) => Cell::Int(*value),
            Literal::Float(value) => Cell::Float(*value),
            Literal::String(text) => Cell::text(text),
            Literal::Date(text) | Literal::Timestamp(text) => instant(text)?,
        })
    }

    /// The value of a parameter.
    pub(crate) fn parameter(&self, name: &str, span: Span) -> Result<Cell> {
        let Some(value) = self.params.get(name) else {
            let error = Diagnostic::at(span, format!("the parameter ${name} has no value"));
            return Err(match closest(name, self.params.names()) {
                Some(known) => error.help(format!("did you mean ${known}?")),
                None => error.help(format!("give it one, as in --param {name}=...")),
            }
            .bind());
        };
        Cell::from_parameter(value).ok_or_else(|| {
            let what = match value {
                Value::Float(_) => "no finite number",
                _ => "no scalar, list or map of finite values",
            };
            Diagnostic::at(span, format!("the parameter ${name} is {what}")).bind()
        })
    }

    fn variable(&self, name: &str, span: Span, place: Place) -> Result<Expr> {
        match self.scope.get(name) {
            Some((slot, _)) if place == Place::Row => {
                Ok(Expr { kind: ExprKind::Slot(slot, name.to_owned()), span })
            }
            _ if place == Place::Constant => Err(Diagnostic::at(
                span,
                format!("`{name}` is a name, and a value must stand here"),
            )
            .help(format!("write '{name}' for text, or ${name} for a parameter"))
            .bind()),
            _ => Err(self.unknown_name(name, span)),
        }
    }

    fn call(&mut self, call: &ast::Call, span: Span, place: Place) -> Result<Expr> {
        let name = &call.function.text;
        if name.eq_ignore_ascii_case("now") && call.arguments.is_empty() && !call.star {
            let kind = ExprKind::Constant(Cell::Timestamp(self.now));
            return Ok(Expr { kind, span });
        }
        if let Some(function) = AggregateFunction::by_name(name) {
            return self.aggregate(function, call, span);
        }
        let Some((_, function, least, most)) =
            Function::TABLE.iter().find(|row| row.0.eq_ignore_ascii_case(name)).copied()
        else {
            return Err(unknown_function(name, call.function.span));
        };
        if call.star || call.distinct || !(least..=most).contains(&call.arguments.len()) {
            let arguments =
                if least == most { format!("{least}") } else { format!("{least} to {most}") };
            let message = format!("{name} takes {arguments} arguments");
            return Err(Diagnostic::at(span, message).bind());
        }
        let arguments = self.exprs(&call.arguments, place)?;
        Ok(Expr { kind: ExprKind::Call(function, arguments), span })
    }
}

fn unknown_function(name: &str, span: Span) -> crate::Error {
    let known = Function::TABLE.iter().map(|row| row.0);
    let known = known.chain(AggregateFunction::TABLE.iter().map(|row| row.0)).chain(["now"]);
    let error = Diagnostic::at(span, format!("there is no function `{name}`"));
    match closest(name, known) {
        Some(known) => error.help(format!("did you mean {known}?")),
        None => {
            let names: Vec<&str> = Function::TABLE.iter().map(|row| row.0).collect();
            error.help(format!("the functions are {}", names.join(", ")))
        }
    }
    .bind()
}
