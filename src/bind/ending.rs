//! `RETURN`: columns, groups, order and limits.
//!
//! ```text
//! Project or Aggregate ──▶ Distinct ──▶ Sort ──▶ Slice
//! ```

use engraph_grammar::ast::{self, ExprKind as Ast};

use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{AggregateFunction, Expr, ExprKind, Slot};
use crate::plan::{Aggregate, LogicalPlan, SortKey};

/// The columns of an answer and the plan that fills them.
type Returned = (LogicalPlan, Vec<(String, Slot)>);

impl Binder<'_> {
    pub(crate) fn return_clause(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Return,
    ) -> Result<Returned> {
        let (mut plan, columns) = match clause.items.is_empty() {
            true => self.every_name(plan)?,
            false => self.named_columns(plan, clause)?,
        };
        let grouped = matches!(plan, LogicalPlan::Aggregate { .. });
        if clause.distinct {
            let slots = columns.iter().map(|column| column.1).collect();
            plan = LogicalPlan::Distinct { input: Box::new(plan), slots };
        }
        if !clause.order.is_empty() {
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
        let (mut keys, mut aggregates) = (Vec::new(), Vec::new());
        for item in &clause.items {
            if columns.iter().any(|column| column.0 == item.name) {
                let message = format!("two columns are named `{}`", item.name);
                return Err(Diagnostic::at(item.expr.span, message)
                    .help("give one of them another name with AS")
                    .bind());
            }
            let slot = self.scope.anonymous(&item.name);
            columns.push((item.name.clone(), slot));
            match self.aggregate(&item.expr, slot)? {
                Some(aggregate) => aggregates.push(aggregate),
                None => keys.push((slot, self.expr(&item.expr, Place::Row)?)),
            }
        }
        let input = Box::new(plan);
        let plan = match aggregates.is_empty() {
            true => LogicalPlan::Project { input, items: keys },
            false => LogicalPlan::Aggregate { input, keys, aggregates },
        };
        Ok((plan, columns))
    }

    /// The expression as an aggregate, if it is one.
    fn aggregate(&mut self, expr: &ast::Expr, slot: Slot) -> Result<Option<Aggregate>> {
        let Ast::Call(call) = &expr.kind else { return Ok(None) };
        let Some(function) = AggregateFunction::by_name(&call.function.text) else {
            return Ok(None);
        };
        let argument = match call.arguments.as_slice() {
            [] if call.star && function == AggregateFunction::Count && !call.distinct => None,
            [argument] if !call.star => Some(self.expr(argument, Place::Row)?),
            _ => {
                let message = format!("{} takes one argument", function.name());
                return Err(Diagnostic::at(expr.span, message).bind());
            }
        };
        Ok(Some(Aggregate { slot, function, distinct: call.distinct, argument }))
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
        let column = columns.iter().position(|(name, _)| {
            matches!(&item.expr.kind, Ast::Variable(other) if other == name)
        });
        let column = column
            .or_else(|| clause.items.iter().position(|column| same(&column.expr, &item.expr)));
        if let Some((name, slot)) = column.and_then(|index| columns.get(index)) {
            let kind = ExprKind::Slot(*slot, name.clone());
            return Ok(SortKey { expr: Expr { kind, span }, descending });
        }
        if only_columns {
            return Err(Diagnostic::at(
                span,
                "after DISTINCT or an aggregate, ORDER BY takes a column of RETURN",
            )
            .help("name the column with AS and order by that name")
            .bind());
        }
        Ok(SortKey { expr: self.expr(&item.expr, Place::Row)?, descending })
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
