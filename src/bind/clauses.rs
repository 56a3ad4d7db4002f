//! The clauses between the patterns: `WITH`, `LET`, `UNWIND`, orders and subqueries.

use engraph_grammar::ast;

use crate::bind::expr::Wanted;
use crate::bind::scope::Kind;
use crate::bind::{Binder, Column, Place};
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{Answer, Expr, ExprKind, Slot, Subquery};
use crate::plan::{Cut, LogicalPlan, SortKey};

impl Binder<'_> {
    pub(super) fn with(&mut self, plan: LogicalPlan, clause: &ast::With) -> Result<LogicalPlan> {
        let (plan, filled) = self.columns(plan, &clause.columns)?;
        let mut plan = self.ordered(plan, &clause.columns, &filled)?;
        let columns = filled.columns;
        // As in Cypher, the condition still knows the names of before, if rows were not joined.
        if filled.is_joined {
            self.only(&columns);
        }
        for (name, slot, kind) in &columns {
            self.scope.bind(name, *slot, *kind);
        }
        if let Some(condition) = &clause.condition {
            let condition = self.expr(condition, Place::Row)?;
            plan = LogicalPlan::Filter { input: Box::new(plan), condition, tentative: false };
        }
        self.only(&columns);
        Ok(plan)
    }

    /// From here on only these names can be said.
    fn only(&mut self, columns: &[Column]) {
        self.scope.forget_names();
        for (name, slot, kind) in columns {
            self.scope.bind(name, *slot, *kind);
        }
    }

    pub(super) fn let_clause(
        &mut self,
        mut plan: LogicalPlan,
        items: &[(ast::Name, ast::Expr)],
    ) -> Result<LogicalPlan> {
        for (name, expr) in items {
            self.step_at(name.span)?;
            let expr = self.expr(expr, Place::Row)?;
            let kind = self.kind_of(&expr);
            let slot = self.fresh(name, kind)?;
            if let ExprKind::Slot(same, _) = &expr.kind {
                self.scope.attach_as(*same, slot);
            }
            plan = LogicalPlan::Project { input: Box::new(plan), items: [(slot, expr)].into() };
        }
        Ok(plan)
    }

    /// What a name stands for that is bound to an expression.
    pub(super) fn kind_of(&self, expr: &Expr) -> Kind {
        match &expr.kind {
            ExprKind::Slot(slot, name) => match self.scope.get(name) {
                Some((held, kind)) if held == *slot => kind,
                _ => Kind::Value,
            },
            _ => Kind::Value,
        }
    }

    pub(super) fn unwind(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Unwind,
    ) -> Result<LogicalPlan> {
        let list = self.expr(&clause.list, Place::Row)?;
        let item = self.fresh(&clause.variable, Kind::Value)?;
        Ok(LogicalPlan::Unwind { input: Box::new(plan), list, item })
    }

    /// `ORDER BY`, `SKIP` and `LIMIT` as a clause.
    pub(super) fn order(
        &mut self,
        mut plan: LogicalPlan,
        ordering: &ast::Ordering,
    ) -> Result<LogicalPlan> {
        if !ordering.keys.is_empty() {
            let mut keys = Vec::new();
            for item in &ordering.keys {
                let expr = self.expr(&item.expr, Place::Row)?;
                keys.push(sort_key(expr, item));
            }
            plan = LogicalPlan::Sort { input: Box::new(plan), keys, first: None };
        }
        self.sliced(plan, ordering)
    }

    /// `SKIP` and `LIMIT`.
    pub(super) fn sliced(
        &mut self,
        plan: LogicalPlan,
        ordering: &ast::Ordering,
    ) -> Result<LogicalPlan> {
        if ordering.skip.is_none() && ordering.limit.is_none() {
            return Ok(plan);
        }
        let skip = self.optional_amount(ordering.skip.as_ref())?;
        let limit = self.optional_amount(ordering.limit.as_ref())?;
        Ok(LogicalPlan::Slice { input: Box::new(plan), cut: Cut { skip, limit } })
    }

    pub(super) fn subquery(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Subquery,
    ) -> Result<LogicalPlan> {
        let held = self.scope.held();
        if let Some(imports) = &clause.imports {
            let mut columns = Vec::new();
            for name in imports {
                let found = self.scope.get(&name.text);
                let (slot, kind) = found.ok_or_else(|| self.unknown_name(&name.text, name.span))?;
                columns.push((name.text.clone(), slot, kind));
            }
            self.only(&columns);
        }
        let first = self.scope.len();
        let inner = self.inner(&clause.query);
        self.scope.restore(held);
        let (inner, columns) = inner?;
        let (inner, columns) = self.own_slots(inner, columns, first);
        // A column that is a name from around it says nothing new.
        let new = columns
            .into_iter()
            .filter(|column| self.scope.get(&column.0).is_none_or(|(slot, _)| slot != column.1));
        let new: Vec<Column> = new.collect();
        for (name, slot, kind) in &new {
            if self.scope.get(name).is_some() {
                let message = format!("the subquery returns `{name}`, which is bound already");
                return Err(Diagnostic::at(clause.span, message)
                    .help("give the column another name with AS")
                    .bind());
            }
            self.scope.bind(name, *slot, *kind);
        }
        let slots: Vec<Slot> = new.iter().map(|column| column.1).collect();
        let (input, inner) = (Box::new(plan), Box::new(inner));
        Ok(LogicalPlan::Apply { input, inner, optional: clause.optional.then_some(slots) })
    }

    /// Columns that are a name from around the query under another name get slots of their own.
    fn own_slots(
        &mut self,
        inner: LogicalPlan,
        columns: Vec<Column>,
        first: Slot,
    ) -> (LogicalPlan, Vec<Column>) {
        let mut items = Vec::new();
        let mut own = Vec::new();
        for (name, slot, kind) in columns {
            let is_held = self.scope.get(&name).is_some_and(|held| held.0 == slot);
            if slot >= first || is_held {
                own.push((name, slot, kind));
                continue;
            }
            let fresh = self.scope.anonymous(&name);
            items.push((fresh, Expr::new(ExprKind::Slot(slot, name.clone()), Default::default())));
            own.push((name, fresh, kind));
        }
        match items.is_empty() {
            true => (inner, own),
            false => (LogicalPlan::Project { input: Box::new(inner), items: items.into() }, own),
        }
    }

    /// A query within an expression.
    pub(super) fn subquery_expr(&mut self, query: &ast::Query, answer: Wanted) -> Result<ExprKind> {
        let (plan, columns) = self.inner(query)?;
        let answer = match answer {
            Wanted::Exists => Answer::Exists,
            Wanted::Count => Answer::Count,
            Wanted::Collect => match columns.as_slice() {
                [(_, slot, _)] => Answer::Collect(*slot),
                columns => {
                    let message = format!("COLLECT takes one column, not {}", columns.len());
                    return Err(Diagnostic::at(query.span, message).bind());
                }
            },
        };
        let mut reads = plan.free_slots();
        if let Answer::Collect(slot) = answer
            && !plan.all_binds().contains(&slot)
        {
            reads.push(slot);
        }
        let width = self.scope.len();
        Ok(ExprKind::Subquery(Box::new(Subquery { plan, answer, reads, width })))
    }
}

/// A sort key with its direction; nulls are the largest unless something else is said.
pub(super) fn sort_key(expr: Expr, item: &ast::SortItem) -> SortKey {
    let descending = item.descending;
    SortKey { expr, descending, nulls_first: item.nulls_first.unwrap_or(descending) }
}
