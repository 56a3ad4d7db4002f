//! How a query ends: `RETURN`, or a change of what is bound.
//!
//! ```text
//! RETURN   Project or Aggregate ──▶ Distinct ──▶ Sort ──▶ Slice
//! ```

use engraph_grammar::ast::{self, ExprKind as Ast, QueryEnd, Span};

use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{AggregateFunction, Expr, ExprKind, Slot};
use crate::plan::{Aggregate, Change, End, LogicalPlan, SortKey};

/// The columns of an answer and the plan that fills them.
type Returned = (LogicalPlan, Vec<(String, Slot)>);

impl Binder<'_> {
    /// The end of a query, and the plan with what it adds.
    pub(super) fn ending(
        &mut self,
        plan: LogicalPlan,
        end: &QueryEnd,
    ) -> Result<(LogicalPlan, End)> {
        let (change, slots) = match end {
            QueryEnd::Return(clause) => {
                let (plan, columns) = self.return_clause(plan, clause)?;
                return Ok((plan, End::Return(columns)));
            }
            QueryEnd::Retract(names) => {
                (Change::Retract, self.facts(names, "RETRACT ends the belief in facts")?)
            }
            QueryEnd::Confirm { names, by } => {
                let slots = self.facts(names, "CONFIRM raises the confidence of facts")?;
                (Change::Confirm { by: self.confirmed_by(by)? }, slots)
            }
            QueryEnd::Doubt { names, by } => {
                let slots = self.facts(names, "DOUBT lowers the confidence of facts")?;
                (Change::Doubt { by: self.doubted_by(by)? }, slots)
            }
            QueryEnd::Forget(names) => (Change::Forget, self.nodes_and_facts(names)?),
        };
        Ok((plan, End::Change { change, slots }))
    }

    fn facts(&self, names: &[ast::Name], what: &str) -> Result<Vec<Slot>> {
        let slot = |name: &ast::Name| match self.scope.get(&name.text) {
            Some((slot, Kind::Fact | Kind::Facts)) => Ok(slot),
            Some(_) => Err(Diagnostic::at(name.span, format!("`{}` is no fact", name.text))
                .help(format!("{what}: name a relation, as f in -[f]->"))
                .bind()),
            None => Err(self.unknown_name(&name.text, name.span)),
        };
        names.iter().map(slot).collect()
    }

    fn nodes_and_facts(&self, names: &[ast::Name]) -> Result<Vec<Slot>> {
        let slot = |name: &ast::Name| match self.scope.get(&name.text) {
            Some((slot, Kind::Node | Kind::Fact | Kind::Facts)) => Ok(slot),
            Some((_, kind)) => {
                let message = format!("`{}` is {}, not a node or a fact", name.text, kind.words());
                Err(Diagnostic::at(name.span, message)
                    .help("name what is to be forgotten, as n in (n:Label) or f in -[f]->")
                    .bind())
            }
            None => Err(self.unknown_name(&name.text, name.span)),
        };
        names.iter().map(slot).collect()
    }

    fn confirmed_by(&mut self, by: &ast::Expr) -> Result<f64> {
        let cell = self.constant(by)?;
        cell.number().filter(|by| *by > 0.0 && *by <= 1.0).ok_or_else(|| {
            let message = format!("CONFIRM BY takes a number above 0 and at most 1, not {cell}");
            Diagnostic::at(by.span, message).bind()
        })
    }

    fn doubted_by(&mut self, by: &ast::Expr) -> Result<f64> {
        let cell = self.constant(by)?;
        let message = format!("DOUBT BY takes a number above 0 and below 1, not {cell}");
        let error = Diagnostic::at(by.span, message);
        match cell.number() {
            Some(by) if by > 0.0 && by < 1.0 => Ok(by),
            Some(by) if by >= 1.0 => Err(error
                .help("what is not believed at all is not remembered; RETRACT ends a belief")
                .bind()),
            _ => Err(error.bind()),
        }
    }

    fn return_clause(&mut self, plan: LogicalPlan, clause: &ast::Return) -> Result<Returned> {
        let (mut plan, columns) = match clause.items.is_empty() {
            true => self.every_name(plan)?,
            false => self.named_columns(plan, clause)?,
        };
        let grouped = is_grouped(&plan);
        if clause.distinct {
            let slots = columns.iter().map(|column| column.1).collect();
            plan = LogicalPlan::Distinct { input: Box::new(plan), slots };
        }
        if !clause.order.is_empty() {
            for (name, slot) in &columns {
                // A name of the pattern keeps its meaning.
                if self.scope.get(name).is_none() {
                    self.scope.rename(name, *slot);
                }
            }
            let only_columns = grouped || clause.distinct;
            let keys: Result<Vec<SortKey>> = clause
                .order
                .iter()
                .map(|item| self.sort_key(item, clause, &columns, only_columns))
                .collect();
            plan = LogicalPlan::Sort { input: Box::new(plan), keys: keys?, first: None };
        }
        let skip = clause.skip.as_ref().map(|skip| self.amount(skip)).transpose()?;
        let limit = clause.limit.as_ref().map(|limit| self.amount(limit)).transpose()?;
        if skip.is_some() || limit.is_some() {
            let (input, skip) = (Box::new(plan), skip.unwrap_or(0));
            plan = LogicalPlan::Slice { input, skip, limit };
        }
        Ok((plan, columns))
    }

    /// `RETURN *`, and a query without `RETURN`.
    fn every_name(&self, plan: LogicalPlan) -> Result<Returned> {
        let columns: Vec<(String, Slot)> = self
            .scope
            .visible()
            .filter_map(|name| Some((name.to_owned(), self.scope.get(name)?.0)))
            .collect();
        if columns.is_empty() {
            return Err(Diagnostic::new("no name is bound that could be returned")
                .help("name a node or relation, as in MATCH (n) RETURN n.key")
                .bind());
        }
        Ok((plan, columns))
    }

    fn named_columns(&mut self, plan: LogicalPlan, clause: &ast::Return) -> Result<Returned> {
        let mut columns: Vec<(String, Slot)> = Vec::new();
        let (mut plain, mut aggregates, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for item in &clause.items {
            if columns.iter().any(|column| column.0 == item.name) {
                let message = format!("two columns are named `{}`", item.name);
                return Err(Diagnostic::at(item.expr.span, message)
                    .help("give one of them another name with AS")
                    .bind());
            }
            let (expr, own) = self.with_aggregates(&item.expr)?;
            let slot = match (&expr.kind, own.is_empty()) {
                // A bare aggregate fills its column itself.
                (ExprKind::Slot(slot, _), false) => *slot,
                (_, is_plain) => {
                    let slot = self.scope.anonymous(&item.name);
                    if is_plain { &mut plain } else { &mut computed }.push((slot, expr));
                    slot
                }
            };
            columns.push((item.name.clone(), slot));
            aggregates.extend(own);
        }
        let mut plan = plan;
        if aggregates.is_empty() {
            plan = LogicalPlan::Project { input: Box::new(plan), items: plain };
        } else {
            let input = Box::new(plan);
            plan = LogicalPlan::Aggregate { input, keys: plain, aggregates };
            if !computed.is_empty() {
                plan = LogicalPlan::Project { input: Box::new(plan), items: computed };
            }
        }
        Ok((plan, columns))
    }

    /// A column's expression, with the aggregates in it as slots that are filled by group.
    fn with_aggregates(&mut self, expr: &ast::Expr) -> Result<(Expr, Vec<Aggregate>)> {
        self.aggregates = Some(Vec::new());
        let bound = self.expr(expr, Place::Row);
        let own = self.aggregates.take().unwrap_or_default();
        let bound = bound?;
        let is_own = |slot: &Slot| own.iter().any(|aggregate| aggregate.slot == *slot);
        if !own.is_empty() && !bound.slots().iter().all(is_own) {
            return Err(Diagnostic::at(expr.span, "a name stands beside an aggregate")
                .help("make the name a column of its own, which the rows are grouped by")
                .bind());
        }
        Ok((bound, own))
    }

    /// An aggregate as the slot that it fills.
    pub(super) fn aggregate(
        &mut self,
        function: AggregateFunction,
        call: &ast::Call,
        span: Span,
    ) -> Result<Expr> {
        let Some(mut others) = self.aggregates.take() else {
            let name = function.name();
            return Err(Diagnostic::at(span, format!("{name} counts over rows, not within one"))
                .help("an aggregate stands in RETURN, and not within another one")
                .bind());
        };
        let argument = match call.arguments.as_slice() {
            [] if call.star && function == AggregateFunction::Count && !call.distinct => None,
            [argument] if !call.star => Some(self.expr(argument, Place::Row)?),
            _ => {
                let message = format!("{} takes one argument", function.name());
                return Err(Diagnostic::at(span, message).bind());
            }
        };
        let aggregate = Aggregate { slot: 0, function, distinct: call.distinct, argument };
        let name = aggregate.to_string();
        let slot = self.scope.anonymous(&name);
        others.push(Aggregate { slot, ..aggregate });
        self.aggregates = Some(others);
        Ok(Expr { kind: ExprKind::Slot(slot, name), span })
    }

    /// A sort key: a column by its name or its expression, else an expression over the rows.
    fn sort_key(
        &mut self,
        item: &ast::SortItem,
        clause: &ast::Return,
        columns: &[(String, Slot)],
        only_columns: bool,
    ) -> Result<SortKey> {
        let (span, descending) = (item.expr.span, item.descending);
        let column = columns
            .iter()
            .position(|(name, _)| matches!(&item.expr.kind, Ast::Variable(other) if other == name));
        let column = column
            .or_else(|| clause.items.iter().position(|column| same(&column.expr, &item.expr)));
        if let Some((name, slot)) = column.and_then(|index| columns.get(index)) {
            let kind = ExprKind::Slot(*slot, name.clone());
            return Ok(SortKey { expr: Expr { kind, span }, descending });
        }
        let expr = self.expr(&item.expr, Place::Row)?;
        let is_column = |slot: &Slot| columns.iter().any(|column| column.1 == *slot);
        if only_columns && !expr.slots().iter().all(is_column) {
            return Err(Diagnostic::at(
                span,
                "after DISTINCT or an aggregate, ORDER BY takes a column of RETURN",
            )
            .help("name the column with AS and order by that name")
            .bind());
        }
        Ok(SortKey { expr, descending })
    }
}

/// Whether the rows of a plan stand for groups.
fn is_grouped(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate { .. } => true,
        LogicalPlan::Project { input, .. } => is_grouped(input),
        _ => false,
    }
}

/// Whether two expressions are the same but for where they stand.
fn same(a: &ast::Expr, b: &ast::Expr) -> bool {
    match (&a.kind, &b.kind) {
        (Ast::Property(a, a_name), Ast::Property(b, b_name)) => {
            a_name.text == b_name.text && same(a, b)
        }
        (Ast::Variable(a), Ast::Variable(b)) => a == b,
        (Ast::Call(a), Ast::Call(b)) => {
            a.function.text.eq_ignore_ascii_case(&b.function.text)
                && (a.star, a.distinct) == (b.star, b.distinct)
                && a.arguments.len() == b.arguments.len()
                && a.arguments.iter().zip(&b.arguments).all(|(a, b)| same(a, b))
        }
        _ => false,
    }
}
