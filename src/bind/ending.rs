//! The columns of `RETURN` and `WITH`, and how a query changes what is bound.
//!
//! ```text
//! Project or Aggregate ──▶ Distinct ──▶ Sort ──▶ Slice
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use engraph_grammar::ast::{self, QueryEnd, Span};

use crate::bind::clauses::sort_key;
use crate::bind::scope::Kind;
use crate::bind::{Binder, Column, Place};
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{AggregateFunction, Expr, ExprKind, Slot};
use crate::plan::{Aggregate, Change, End, LogicalPlan};

/// A column whose expression has been bound.
struct Item {
    name: String,
    slot: Slot,
    expr: Expr,
    kind: Kind,
    /// Whether an aggregate stands in it.
    grouped: bool,
}

/// The columns of a clause, and what its own rows stand for.
pub(super) struct Filled {
    pub(super) columns: Vec<Column>,
    /// What the columns were computed by.
    shown: Vec<(Slot, Expr)>,
    aggregates: Vec<Aggregate>,
    /// Whether a row stands for several of before: there is an aggregate, or `DISTINCT`.
    pub(super) is_joined: bool,
}

impl Binder<'_> {
    /// What a query does to what is bound.
    pub(super) fn change(&mut self, end: &QueryEnd) -> Result<End> {
        let (change, slots) = match end {
            QueryEnd::Retract(names) => {
                (Change::Retract, self.facts(names, "RETRACT ends the belief in facts")?)
            }
            QueryEnd::Close { names, at } => {
                let slots = self.facts(names, "CLOSE ends the time in which facts hold")?;
                (Change::Close { at: self.expr(at, Place::Constant)? }, slots)
            }
            QueryEnd::Confirm { names, by } => {
                let slots = self.facts(names, "CONFIRM raises the confidence of facts")?;
                (Change::Confirm { by: self.expr(by, Place::Constant)? }, slots)
            }
            QueryEnd::Doubt { names, by } => {
                let slots = self.facts(names, "DOUBT lowers the confidence of facts")?;
                (Change::Doubt { by: self.expr(by, Place::Constant)? }, slots)
            }
            QueryEnd::Forget(names) => (Change::Forget, self.nodes_and_facts(names)?),
            QueryEnd::Return(_) => return Err(Diagnostic::new("RETURN changes nothing").bind()),
        };
        Ok(End::Change { change, slots })
    }

    /// A pattern that any node or fact fits, by a name that is also a label or a relation, is not what is
    /// changed: `-[lives_in]->` is every fact, `-[f:lives_in]->` those that are meant.
    fn check_meant(&self, names: &[ast::Name]) -> Result<()> {
        let meant = |name: &ast::Name| self.meant.iter().find(|(meant, _)| *meant == name.text);
        let Some((name, (text, shown))) = names.iter().find_map(|name| Some((name, meant(name)?)))
        else {
            return Ok(());
        };
        let mend = match *shown {
            "the fact" => format!("-[f:{text}]->, and f here"),
            _ => format!("(n:{text}), and n here"),
        };
        let message = format!("`{text}` only names {shown} in its pattern, and any fits");
        Err(Diagnostic::at(name.span, message).help(format!("write {mend}")).bind())
    }

    fn facts(&self, names: &[ast::Name], what: &str) -> Result<Vec<Slot>> {
        self.check_meant(names)?;
        let slot = |name: &ast::Name| match self.scope.get(&name.text) {
            Some((slot, Kind::Fact | Kind::Facts | Kind::Value)) => Ok(slot),
            Some(_) => Err(Diagnostic::at(name.span, format!("`{}` is no fact", name.text))
                .help(format!("{what}: name a relation, as f in -[f]->"))
                .bind()),
            None => Err(self.unknown_name(&name.text, name.span)),
        };
        names.iter().map(slot).collect()
    }

    fn nodes_and_facts(&self, names: &[ast::Name]) -> Result<Vec<Slot>> {
        self.check_meant(names)?;
        let slot = |name: &ast::Name| match self.scope.get(&name.text) {
            Some((slot, Kind::Node | Kind::Fact | Kind::Facts | Kind::Value)) => Ok(slot),
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

    /// The columns of `RETURN` or `WITH`, and the plan that fills them.
    pub(super) fn columns(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Return,
    ) -> Result<(LogicalPlan, Filled)> {
        let mut columns = if clause.star { self.every_name() } else { Vec::new() };
        if clause.star && columns.is_empty() && clause.items.is_empty() {
            return Err(Diagnostic::new("no name is bound that could be returned")
                .help("name a node or relation, as in MATCH (n) RETURN n.key")
                .bind());
        }
        let mut names: HashSet<String> = columns.iter().map(|(name, ..)| name.clone()).collect();
        let mut items: Vec<Item> = Vec::new();
        let mut aggregates = Vec::new();
        for item in &clause.items {
            let name = &item.name;
            if !names.insert(name.clone()) {
                let message = format!("two columns are named `{name}`");
                return Err(Diagnostic::at(item.expr.span, message)
                    .help("give one of them another name with AS")
                    .bind());
            }
            let (expr, own) = self.with_aggregates(&item.expr)?;
            let kind = self.kind_of(&expr);
            let grouped = !own.is_empty();
            let slot = match &expr.kind {
                // A bare aggregate fills its column itself, and a bare name is there already.
                ExprKind::Slot(slot, _) => *slot,
                _ => self.scope.anonymous(name),
            };
            items.push(Item { name: name.clone(), slot, expr, kind, grouped });
            aggregates.extend(own);
        }
        let is_joined = clause.distinct || !aggregates.is_empty();
        // Only an order of joined rows asks what columns were computed by.
        let is_ordered = is_joined && !clause.ordering.keys.is_empty();
        let let_before = if is_ordered { computed(&plan) } else { Vec::new() };
        let (mut plan, mut shown) = match aggregates.is_empty() {
            true => projected(plan, items.iter().map(|item| (item.slot, item.expr.clone()))),
            false => self.grouped(plan, &columns, &mut items, &aggregates)?,
        };
        columns.extend(items.into_iter().map(|item| (item.name, item.slot, item.kind)));
        if clause.distinct {
            let slots = columns.iter().map(|column| column.1).collect();
            plan = LogicalPlan::Distinct { input: Box::new(plan), slots };
        }
        shown.extend(let_before);
        let slots: HashSet<Slot> = columns.iter().map(|column| column.1).collect();
        shown.retain(|(slot, _)| slots.contains(slot));
        Ok((plan, Filled { columns, shown, aggregates, is_joined }))
    }

    /// Columns with aggregates: the others are what rows are grouped by.
    fn grouped(
        &mut self,
        plan: LogicalPlan,
        held: &[Column],
        items: &mut [Item],
        aggregates: &[Aggregate],
    ) -> Result<(LogicalPlan, Vec<(Slot, Expr)>)> {
        let held = held.iter().map(|(name, slot, _)| {
            (*slot, Expr::new(ExprKind::Slot(*slot, name.clone()), Span::default()))
        });
        let plain = items.iter().filter(|item| !item.grouped);
        let keys: Vec<(Slot, Expr)> =
            held.chain(plain.map(|item| (item.slot, item.expr.clone()))).collect();
        let kept: Vec<Slot> = keys.iter().map(|key| key.0).collect();
        let known: HashSet<Slot> =
            aggregates.iter().map(|aggregate| aggregate.slot).chain(kept.iter().copied()).collect();
        let mut computed = Vec::new();
        for item in items.iter_mut().filter(|item| item.grouped) {
            replace_keys(&mut item.expr, &keys);
            if !item.expr.slots().iter().all(|slot| known.contains(slot)) {
                return Err(Diagnostic::at(item.expr.span, "a name stands beside an aggregate")
                    .help("make the name a column of its own, which the rows are grouped by")
                    .bind());
            }
            if !matches!(item.expr.kind, ExprKind::Slot(..)) {
                computed.push((item.slot, item.expr.clone()));
            }
        }
        self.scope.keep_attached(&kept);
        let (input, aggregates) = (Box::new(plan), aggregates.to_vec());
        let plan = LogicalPlan::Aggregate { input, keys: keys.clone(), aggregates };
        let (plan, computed) = projected(plan, computed.into_iter());
        Ok((plan, computed.into_iter().chain(keys).collect()))
    }

    /// `ORDER BY`, `SKIP` and `LIMIT` after columns.
    pub(super) fn ordered(
        &mut self,
        mut plan: LogicalPlan,
        clause: &ast::Return,
        filled: &Filled,
    ) -> Result<LogicalPlan> {
        let (ordering, columns) = (&clause.ordering, &filled.columns);
        if !ordering.keys.is_empty() {
            let names = self.scope.held();
            // A name that stood for a node before and stands for a number now still says `n.key` of the node.
            let is_hidden = |(name, slot, kind): &&Column| {
                *kind != Kind::Value && self.scope.get(name).is_some_and(|(held, _)| held != *slot)
            };
            let hidden: Vec<&str> =
                columns.iter().filter(is_hidden).map(|column| column.0.as_str()).collect();
            for (name, slot, kind) in columns {
                // As in Cypher, the name of a column hides what it stood for.
                self.scope.bind(name, *slot, *kind);
            }
            let mut keys = Vec::new();
            for item in &ordering.keys {
                let wanted = match &item.expr.kind {
                    ast::ExprKind::Variable(name) => Some(name),
                    _ => None,
                };
                // `ORDER BY a.x` is of the column `a`, if there is one, and not of what `a` was before.
                let is_of_before = hidden.iter().any(|name| mentions(&item.expr, name));
                let shown_as = clause
                    .items
                    .iter()
                    .find(|column| !is_of_before && same(&column.expr, &item.expr));
                let column = |name: Option<&String>| {
                    name.and_then(|name| columns.iter().find(|column| column.0 == *name))
                };
                let named = column(wanted).or_else(|| column(shown_as.map(|item| &item.name)));
                let expr = match named {
                    Some((name, slot, _)) => {
                        Expr::new(ExprKind::Slot(*slot, name.clone()), item.expr.span)
                    }
                    None => self.sort_expr(&item.expr, filled)?,
                };
                self.warn_if_orders_nothing(&expr, columns);
                keys.push(sort_key(expr, item));
            }
            self.scope.restore(names);
            plan = LogicalPlan::Sort { input: Box::new(plan), keys, first: None };
        }
        self.sliced(plan, ordering)
    }

    /// SQL takes a number in `ORDER BY` for the place of a column; here it is the same for all rows.
    fn warn_if_orders_nothing(&mut self, key: &Expr, columns: &[Column]) {
        let ExprKind::Constant(value) = &key.kind else { return };
        let column = match value {
            Cell::Int(place) => usize::try_from(*place).ok().and_then(|place| place.checked_sub(1)),
            _ => None,
        };
        let named = column.and_then(|place| columns.get(place)).map(|column| &column.0);
        let name = named.map_or("and the name of a column", |name| name);
        let warning =
            Diagnostic::at(key.span, "this is the same for every row, and orders nothing");
        self.warnings.push(warning.help(format!("write ORDER BY {name}")));
    }

    fn sort_expr(&mut self, expr: &ast::Expr, filled: &Filled) -> Result<Expr> {
        let Filled { columns, shown, aggregates, is_joined } = filled;
        if !is_joined {
            return self.expr(expr, Place::Row);
        }
        let (mut bound, own) = self.with_aggregates(expr)?;
        // An aggregate that a column has is filled already.
        let held: Vec<(Slot, Expr)> = own
            .iter()
            .filter_map(|one| {
                let same = aggregates.iter().find(|other| same_aggregate(one, other))?;
                let kind = ExprKind::Slot(one.slot, one.to_string());
                Some((same.slot, Expr::new(kind, expr.span)))
            })
            .collect();
        replace_keys(&mut bound, &held);
        replace_keys(&mut bound, shown);
        let is_column = |slot: &Slot| {
            columns.iter().any(|column| column.1 == *slot)
                || held.iter().any(|aggregate| aggregate.0 == *slot)
        };
        if !bound.slots().iter().all(is_column) {
            return Err(Diagnostic::at(
                expr.span,
                "after DISTINCT or an aggregate, ORDER BY takes a column of RETURN",
            )
            .help("name the column with AS and order by that name")
            .bind());
        }
        Ok(bound)
    }

    /// A column's expression, with the aggregates in it as slots that are filled by group.
    fn with_aggregates(&mut self, expr: &ast::Expr) -> Result<(Expr, Vec<Aggregate>)> {
        let around = self.aggregates.replace(Vec::new());
        let bound = self.expr(expr, Place::Row);
        let own = std::mem::replace(&mut self.aggregates, around).unwrap_or_default();
        Ok((bound?, own))
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
                .help("an aggregate stands in RETURN or WITH, and not within another one")
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
        Ok(Expr::new(ExprKind::Slot(slot, name), span))
    }
}

/// What `LET` has computed right before.
fn computed(plan: &LogicalPlan) -> Vec<(Slot, Expr)> {
    match plan {
        LogicalPlan::Project { input, items } => {
            items.iter().cloned().chain(computed(input)).collect()
        }
        _ => Vec::new(),
    }
}

/// A plan with further items, and those that were not there already.
fn projected(
    plan: LogicalPlan,
    items: impl Iterator<Item = (Slot, Expr)>,
) -> (LogicalPlan, Vec<(Slot, Expr)>) {
    let is_there =
        |(slot, expr): &(Slot, Expr)| matches!(expr.kind, ExprKind::Slot(own, _) if own == *slot);
    let items: Vec<(Slot, Expr)> = items.filter(|item| !is_there(item)).collect();
    let plan = match items.is_empty() {
        true => plan,
        false => LogicalPlan::Project { input: Box::new(plan), items: Arc::from(&*items) },
    };
    (plan, items)
}

/// Puts the slot of a key in place of each expression that says the same as it.
fn replace_keys(expr: &mut Expr, keys: &[(Slot, Expr)]) {
    match keys.iter().find(|key| key.1 == *expr) {
        Some((slot, _)) => expr.kind = ExprKind::Slot(*slot, expr.to_string()),
        None => expr.parts_mut(&mut |part| replace_keys(part, keys)),
    }
}

/// Whether two aggregates are the same.
fn same_aggregate(a: &Aggregate, b: &Aggregate) -> bool {
    a.argument == b.argument && a.function == b.function && a.distinct == b.distinct
}

/// Whether two expressions are the same but for where they stand.
fn same(a: &ast::Expr, b: &ast::Expr) -> bool {
    use ast::ExprKind as Ast;
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

/// Whether an expression that may be the [`same`] as another one says a name.
fn mentions(expr: &ast::Expr, name: &str) -> bool {
    match &expr.kind {
        ast::ExprKind::Property(of, _) => mentions(of, name),
        ast::ExprKind::Variable(own) => own == name,
        ast::ExprKind::Call(call) => call.arguments.iter().any(|one| mentions(one, name)),
        _ => false,
    }
}
