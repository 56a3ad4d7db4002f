//! Expressions: names to slots, functions by name, literals to cells.

use std::sync::Arc;

use engraph_grammar::ast::{self, BinaryOp, ExprKind as Ast, Literal, Span};
use engraph_grammar::closest;

use crate::bind::scope::Kind;
use crate::bind::{Binder, unknown};
use crate::cell::{Cell, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::eval;
use crate::functions;
use crate::plan::expr::{AggregateFunction, Each, Expr, ExprKind, Reduce, Slot};
use crate::time;

/// Parts of expressions that stand more than once in a plan, at most.
const COPIES_MAX: usize = 500_000;

/// Where an expression stands, which decides what it may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Over the names bound so far.
    Row,
    /// Where no name is bound: times, keys and values of a write.
    Constant,
    /// Within such a value: over the names that it binds itself, whose slots begin there.
    Items(Slot),
}

impl Place {
    /// The place of what is computed of each item in a slot.
    fn of_items(self, slot: Slot) -> Self {
        if self == Self::Constant { Self::Items(slot) } else { self }
    }

    fn sees(self, slot: Slot) -> bool {
        match self {
            Self::Row => true,
            Self::Constant => false,
            Self::Items(first) => slot >= first,
        }
    }
}

/// What a query within an expression is asked for.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Exists,
    Count,
    Collect,
}

impl Binder<'_> {
    /// An expression.
    pub(crate) fn expr(&mut self, expr: &ast::Expr, place: Place) -> Result<Expr> {
        let span = expr.span;
        let kind = match &expr.kind {
            Ast::Literal(literal) => ExprKind::Constant(self.literal(literal, span)?),
            Ast::Parameter(name) => return self.parameter(name, span),
            Ast::Variable(name) => return self.variable(name, span, place),
            Ast::Property(inner, name) => {
                if let Ast::Variable(variable) = &inner.kind
                    && let Some((slot, kind)) = self.scope.get(variable)
                {
                    if let Some(attached) = self.scope.attached(slot, &name.text) {
                        let shown = format!("{variable}.{}", name.text);
                        return Ok(Expr::new(ExprKind::Slot(attached, shown), span));
                    }
                    self.warn_if_no_property(name, kind);
                }
                ExprKind::Property(Box::new(self.expr(inner, place)?), name.text.clone())
            }
            Ast::Index(inner, index) => {
                let inner = self.expr(inner, place)?;
                ExprKind::Index(Box::new(inner), Box::new(self.expr(index, place)?))
            }
            Ast::Slice(inner, from, to) => {
                let inner = self.expr(inner, place)?;
                let from = self.boxed(from.as_deref(), place)?;
                ExprKind::Slice(Box::new(inner), from, self.boxed(to.as_deref(), place)?)
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
                let right = self.expr(right, place)?;
                if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::In) {
                    self.warn_if_unknown_name(&left, &right);
                    self.warn_if_unknown_name(&right, &left);
                }
                let right = if *op == BinaryOp::In { right.with_constants_as_one() } else { right };
                ExprKind::Binary(*op, Box::new(left), Box::new(right))
            }
            Ast::And(parts) => {
                self.warn_of_joined_comparisons(parts);
                ExprKind::And(self.conditions("AND", parts, place)?)
            }
            Ast::Or(parts) => ExprKind::Or(self.conditions("OR", parts, place)?),
            Ast::List(items) => ExprKind::List(self.exprs(items, place)?),
            Ast::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(name, value)| Ok((name.text.clone(), self.expr(value, place)?)));
                ExprKind::Map(entries.collect::<Result<_>>()?)
            }
            Ast::Case(case) => self.case(case, span, place)?,
            Ast::Exists(query) => self.query_in(query, Wanted::Exists, span, place)?,
            Ast::Count(query) => self.query_in(query, Wanted::Count, span, place)?,
            Ast::Collect(query) => self.query_in(query, Wanted::Collect, span, place)?,
            Ast::Comprehension(each) => ExprKind::Comprehension(Box::new(self.each(each, place)?)),
            Ast::Quantified(quantifier, each) => {
                ExprKind::Quantified(*quantifier, Box::new(self.each(each, place)?))
            }
            Ast::Reduce(reduce) => self.reduce(reduce, place)?,
        };
        Ok(Expr { kind, span })
    }

    /// Warns of `a = 'x' || b = 'y'`, which is `a = ('x' || b) AND ('x' || b) = 'y'`.
    fn warn_of_joined_comparisons(&mut self, parts: &[ast::Expr]) {
        for two in parts.windows(2) {
            if let Ast::Binary(BinaryOp::Equal, _, joined) = &two[0].kind
                && let Ast::Binary(BinaryOp::Concat, ..) = &joined.kind
                && let Ast::Binary(BinaryOp::Equal, again, _) = &two[1].kind
                && again == joined
            {
                let message = "`||` joins texts, and both sides are compared with what it gives";
                self.warnings
                    .push(Diagnostic::at(joined.span, message).help("conditions are joined by OR"));
            }
        }
    }

    /// Warns of a name that no relation or label has, where `type(f)` or `label(n)` is compared with it or with a list
    /// of such.
    fn warn_if_unknown_name(&mut self, of: &Expr, names: &Expr) {
        let ExprKind::Call(function, _) = &of.kind else { return };
        let names = match &names.kind {
            ExprKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(names),
        };
        let catalog = self.reader().catalog();
        for name in names {
            let ExprKind::Constant(Cell::String(text)) = &name.kind else { continue };
            let name = ast::Name { text: text.to_string(), span: name.span };
            let warning = match function.name {
                "type" if catalog.relation(text).is_none() => {
                    unknown("relation", &name, catalog.relations())
                }
                "label" if catalog.label(text).is_none() => {
                    unknown("label", &name, catalog.labels().map(|(_, label)| label))
                }
                _ => continue,
            };
            self.warnings.push(warning);
        }
    }

    fn exprs(&mut self, exprs: &[ast::Expr], place: Place) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr, place)).collect()
    }

    /// The sides of `AND` or `OR`, none of which is a value that is written out.
    fn conditions(&mut self, word: &str, parts: &[ast::Expr], place: Place) -> Result<Vec<Expr>> {
        let parts = self.exprs(parts, place)?;
        for part in &parts {
            if let ExprKind::Constant(value @ (Cell::String(_) | Cell::Int(_) | Cell::Float(_))) =
                &part.kind
            {
                let message = format!("{word} takes true or false, not {}", value.kind());
                return Err(Diagnostic::at(part.span, message)
                    .help(format!("each side compares: x = 1 {word} x = 2, or write x IN [1, 2]"))
                    .bind());
            }
        }
        Ok(parts)
    }

    fn boxed(&mut self, expr: Option<&ast::Expr>, place: Place) -> Result<Option<Box<Expr>>> {
        expr.map(|expr| Ok(Box::new(self.expr(expr, place)?))).transpose()
    }

    fn query_in(
        &mut self,
        query: &ast::Query,
        wanted: Wanted,
        span: Span,
        place: Place,
    ) -> Result<ExprKind> {
        match place {
            Place::Row => self.subquery_expr(query, wanted),
            Place::Constant | Place::Items(_) => Err(Diagnostic::at(span, eval::NO_QUERY).bind()),
        }
    }

    /// `CASE x WHEN v` compares; each branch is a condition in the end.
    fn case(&mut self, case: &ast::Case, span: Span, place: Place) -> Result<ExprKind> {
        let operand = self.boxed(case.operand.as_deref(), place)?;
        let mut branches = Vec::new();
        for (test, value) in &case.branches {
            let test = self.expr(test, place)?;
            let at = test.span;
            let condition = match &operand {
                None => test,
                Some(operand) => {
                    self.count_copy(operand.size(), at)?;
                    let (op, left) = (BinaryOp::Equal, operand.clone());
                    Expr::new(ExprKind::Binary(op, left, Box::new(test)), at)
                }
            };
            branches.push((condition, self.expr(value, place)?));
        }
        if branches.is_empty() {
            return Err(Diagnostic::at(span, "CASE has no branch").bind());
        }
        Ok(ExprKind::Case(branches, self.boxed(case.otherwise.as_deref(), place)?))
    }

    /// The items of a list: their name is known in the condition and what becomes of them alone.
    fn each(&mut self, each: &ast::Comprehension, place: Place) -> Result<Each> {
        let list = self.expr(&each.list, place)?;
        let held = self.scope.held();
        let name = each.variable.text.clone();
        let slot = self.scope.add(&name, Kind::Value);
        let inner = place.of_items(slot);
        let inside = |binder: &mut Self| {
            let condition = each.condition.as_ref().map(|c| binder.expr(c, inner)).transpose()?;
            let item = each.item.as_ref().map(|item| binder.expr(item, inner)).transpose()?;
            Ok(Each { slot, name, list, condition, item })
        };
        let around = self.aggregates.take();
        let bound = inside(self);
        self.aggregates = around;
        self.scope.restore(held);
        bound
    }

    fn reduce(&mut self, reduce: &ast::Reduce, place: Place) -> Result<ExprKind> {
        let first = self.expr(&reduce.first, place)?;
        let list = self.expr(&reduce.list, place)?;
        let held = self.scope.held();
        let total = self.scope.add(&reduce.total.text, Kind::Value);
        let slot = self.scope.add(&reduce.variable.text, Kind::Value);
        let around = self.aggregates.take();
        let next = self.expr(&reduce.next, place.of_items(total));
        self.aggregates = around;
        self.scope.restore(held);
        Ok(ExprKind::Reduce(Arc::new(Reduce { total, first, slot, list, next: next? })))
    }

    /// The value of an expression in which no name is bound.
    pub(crate) fn constant(&mut self, expr: &ast::Expr) -> Result<Cell> {
        let bound = self.expr(expr, Place::Constant)?;
        eval::eval(&bound, &Row::new(), self.context)
    }

    fn literal(&self, literal: &Literal, span: Span) -> Result<Cell> {
        let instant = |text: &str| {
            time::parse(text)
                .map(Cell::Timestamp)
                .ok_or_else(|| Diagnostic::at(span, time::refused(text)).help(time::FORMS).bind())
        };
        Ok(match literal {
            Literal::Null => Cell::Null,
            Literal::Bool(value) => Cell::Bool(*value),
            Literal::Int(value) => Cell::Int(*value),
            Literal::Float(value) => Cell::Float(*value),
            Literal::String(text) => Cell::text(text),
            Literal::Date(text) => match instant(text)? {
                Cell::Timestamp(at) if at % time::DAY != 0 || text.contains(':') => {
                    let message = format!("'{text}' is more than a day");
                    let help = format!("write TIMESTAMP '{text}' for a time of day");
                    return Err(Diagnostic::at(span, message).help(help).bind());
                }
                day => day,
            },
            Literal::Timestamp(text) => instant(text)?,
            Literal::Duration(text) => {
                time::Duration::parse(text).map(Cell::Duration).ok_or_else(|| {
                    Diagnostic::at(span, format!("'{text}' is no duration"))
                        .help("write it as in ISO 8601: P3D, P1Y2M, PT2H30M")
                        .bind()
                })?
            }
        })
    }

    /// A parameter, whose value is looked at when the query runs; within a recipe, what it stands
    /// for.
    pub(crate) fn parameter(&mut self, name: &str, span: Span) -> Result<Expr> {
        let given = self.recipe.iter().find(|parameter| parameter.0 == name);
        let Some(expr) = given.map(|(_, expr)| expr.clone()) else {
            return Ok(Expr::new(ExprKind::Parameter(name.to_owned()), span));
        };
        self.count_copy(expr.size(), span)?;
        Ok(expr)
    }

    /// Counts the parts of an expression that stands once more in the plan than in the text.
    pub(super) fn count_copy(&mut self, parts: usize, span: Span) -> Result<()> {
        self.copied = self.copied.saturating_add(parts);
        if self.copied <= COPIES_MAX {
            return Ok(());
        }
        Err(Diagnostic::at(span, "the query has too many parts, once each stands where it is used")
            .help("bind what is long to a name with LET, or give it as a parameter")
            .bind())
    }

    fn variable(&self, name: &str, span: Span, place: Place) -> Result<Expr> {
        match self.scope.get(name) {
            Some((slot, _)) if place.sees(slot) => {
                Ok(Expr { kind: ExprKind::Slot(slot, name.to_owned()), span })
            }
            _ if place != Place::Row => Err(Diagnostic::at(
                span,
                format!("`{name}` is a name, and a value must stand here"),
            )
            .help(match self.scope.get(name) {
                Some(_) => "one value is for all rows: write it out, or as a parameter".to_owned(),
                None => format!("write '{name}' for text, or ${name} for a parameter"),
            })
            .bind()),
            _ => Err(self.unknown_name(name, span)),
        }
    }

    fn call(&mut self, call: &ast::Call, span: Span, place: Place) -> Result<Expr> {
        let name = &call.function.text;
        if name.eq_ignore_ascii_case("now") {
            if call.star || call.distinct || !call.arguments.is_empty() {
                let message = "now takes no arguments";
                return Err(Diagnostic::at(span, message).help("now(): this instant").bind());
            }
            return Ok(Expr::new(ExprKind::Now, span));
        }
        if let Some(function) = AggregateFunction::by_name(name) {
            return self.aggregate(function, call, span);
        }
        let Some(function) = functions::by_name(name) else {
            return Err(unknown_function(name, call.function.span));
        };
        let (least, most) = function.arguments;
        if call.star || call.distinct || !(least..=most).contains(&call.arguments.len()) {
            let arguments =
                if least == most { format!("{least}") } else { format!("{least} to {most}") };
            let noun = if most == 1 { "argument" } else { "arguments" };
            let message = format!("{name} takes {arguments} {noun}");
            return Err(Diagnostic::at(span, message).help(function.usage).bind());
        }
        // Cypher's older way to ask whether a pattern fits.
        if let (true, [pattern @ ast::Expr { kind: Ast::Exists(_), .. }]) =
            (name.eq_ignore_ascii_case("exists"), call.arguments.as_slice())
        {
            return self.expr(pattern, place);
        }
        let arguments = self.exprs(&call.arguments, place)?;
        Ok(Expr::new(ExprKind::Call(function, arguments), span))
    }
}

fn unknown_function(name: &str, span: Span) -> crate::Error {
    if let Some(help) = functions::foreign(name) {
        return Diagnostic::at(span, format!("MemQL has no {name}")).help(help).bind();
    }
    let known = functions::names().chain(aggregates_names()).chain(["now"]);
    let error = Diagnostic::at(span, format!("there is no function `{name}`"));
    error.meant(closest(name, known), "SHOW FUNCTIONS lists them").bind()
}

/// The names of the aggregates.
fn aggregates_names() -> impl Iterator<Item = &'static str> {
    AggregateFunction::TABLE.iter().map(|row| row.0)
}
