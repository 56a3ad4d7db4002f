//! Queries: a table of bindings from clause to clause.

use engraph_grammar::ast::{
    Case, Clause, Comprehension, Expr, ExprKind, Ordering, Pipeline, Query, QueryEnd, Return,
    SortItem, Subquery,
};

use super::eval::{Naive, Place, Result, Row, wrong};
use super::function::AGGREGATES;
use super::pattern::amount;
use super::value::{Value, distinct, same};
use super::window::Windows;

/// The answer to a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
}

/// One row that is on its way through a projection.
struct Projected {
    values: Vec<Value>,
    /// What its sort keys may name.
    names: Row,
}

impl Naive<'_> {
    /// The rows of a query that sees the names of a row around it.
    pub(crate) fn query(&self, query: &Query, outer: &Row, windows: Windows) -> Result<Answer> {
        let windows = self.windows(&query.times, outer, windows)?;
        let mut answer = self.pipeline(&query.pipeline, outer, windows)?;
        for union in &query.unions {
            let other = self.pipeline(&union.pipeline, outer, windows)?;
            if !other.rows.is_empty() && !answer.rows.is_empty() && other.columns != answer.columns
            {
                return wrong("the columns differ");
            }
            if answer.rows.is_empty() {
                answer.columns = other.columns;
            }
            answer.rows.extend(other.rows);
            if !union.all {
                answer.rows = distinct(answer.rows, Vec::clone);
            }
        }
        Ok(answer)
    }

    fn pipeline(&self, pipeline: &Pipeline, outer: &Row, windows: Windows) -> Result<Answer> {
        let mut rows = vec![outer.clone()];
        for clause in &pipeline.clauses {
            rows = self.clause(clause, rows, outer, windows)?;
        }
        match &pipeline.end {
            Some(QueryEnd::Return(columns)) => self.projected(columns, rows, outer, windows),
            None => {
                let all = Return { star: true, ..Return::default() };
                self.projected(&all, rows, outer, windows)
            }
            Some(_) => wrong("not of these tests"),
        }
    }

    fn clause(
        &self,
        clause: &Clause,
        rows: Vec<Row>,
        outer: &Row,
        windows: Windows,
    ) -> Result<Vec<Row>> {
        let place = Place { windows, group: None };
        let mut next = Vec::new();
        match clause {
            Clause::Match(clause) => {
                for row in rows {
                    next.extend(self.matched(clause, &row, windows)?);
                }
            }
            Clause::With(with) => {
                let answer = self.projected(&with.columns, rows, outer, windows)?;
                for values in answer.rows {
                    let mut row = outer.clone();
                    row.extend(answer.columns.iter().cloned().zip(values));
                    let kept = with.condition.as_ref().map(|it| self.holds(it, &row, place));
                    if kept.transpose()? != Some(false) {
                        next.push(row);
                    }
                }
            }
            Clause::Let(items) => {
                for mut row in rows {
                    for (name, value) in items {
                        let value = self.eval(value, &row, place)?;
                        row.insert(name.text.clone(), value);
                    }
                    next.push(row);
                }
            }
            Clause::Filter(condition) => {
                for row in rows {
                    if self.holds(condition, &row, place)? {
                        next.push(row);
                    }
                }
            }
            Clause::Unwind(unwind) => {
                for row in rows {
                    let items = match self.eval(&unwind.list, &row, place)? {
                        Value::Null => Vec::new(),
                        Value::List(items) => items,
                        one => vec![one],
                    };
                    for item in items {
                        self.step()?;
                        let mut row = row.clone();
                        row.insert(unwind.variable.text.clone(), item);
                        next.push(row);
                    }
                }
            }
            Clause::Order(ordering) => {
                let keyed = rows.into_iter().map(|row| (row.clone(), row)).collect();
                next = self.ordered(ordering, keyed, place)?;
            }
            Clause::Subquery(subquery) => {
                for row in rows {
                    next.extend(self.subquery(subquery, row, windows)?);
                }
            }
            Clause::Search(_)
            | Clause::Generate(_)
            | Clause::Anchor(_)
            | Clause::Activate(_)
            | Clause::Represent(_)
            | Clause::Rerank(_)
            | Clause::Reconstruct(_)
            | Clause::Admit(_)
            | Clause::Pack(_)
            | Clause::Call(_)
            | Clause::Recall(_) => {
                return wrong("not of these tests");
            }
        }
        Ok(next)
    }

    fn subquery(&self, subquery: &Subquery, row: Row, windows: Windows) -> Result<Vec<Row>> {
        let mut seen = row.clone();
        if let Some(imports) = &subquery.imports {
            seen.retain(|name, _| imports.iter().any(|import| import.text == *name));
        }
        let answer = self.query(&subquery.query, &seen, windows)?;
        let with = |values: Vec<Value>| {
            let mut row = row.clone();
            row.extend(answer.columns.iter().cloned().zip(values));
            row
        };
        if answer.rows.is_empty() && subquery.optional {
            let mut row = row.clone();
            for name in columns(&subquery.query.pipeline) {
                row.insert(name, Value::Null);
            }
            return Ok(vec![row]);
        }
        Ok(answer.rows.into_iter().map(with).collect())
    }

    /// `RETURN` and `WITH`.
    fn projected(
        &self,
        columns: &Return,
        rows: Vec<Row>,
        outer: &Row,
        windows: Windows,
    ) -> Result<Answer> {
        let place = Place { windows, group: None };
        let mut names: Vec<String> = Vec::new();
        if columns.star {
            let bound = rows.first().into_iter().flat_map(Row::keys);
            names.extend(bound.filter(|name| !outer.contains_key(*name)).cloned());
        }
        let star = names.len();
        names.extend(columns.items.iter().map(|item| item.name.clone()));
        let is_group = columns.items.iter().any(|item| gathers(&item.expr));
        let mut projected = match is_group {
            true => self.grouped(columns, &rows, outer, place)?,
            false => {
                let mut projected = Vec::new();
                for row in rows {
                    let mut values: Vec<Value> =
                        names[..star].iter().map(|name| row[name].clone()).collect();
                    for item in &columns.items {
                        values.push(self.eval(&item.expr, &row, place)?);
                    }
                    projected.push(Projected { values, names: row });
                }
                projected
            }
        };
        if columns.distinct {
            projected = distinct(projected, |row| row.values.clone());
        }
        let keyed = projected.into_iter().map(|mut row| {
            row.names.extend(names.iter().cloned().zip(row.values.clone()));
            (row.names, row.values)
        });
        let rows = self.ordered(&columns.ordering, keyed.collect(), place)?;
        Ok(Answer { columns: names, rows })
    }

    /// A row a group; the columns without an aggregate are the groups.
    fn grouped(
        &self,
        columns: &Return,
        rows: &[Row],
        outer: &Row,
        place: Place<'_>,
    ) -> Result<Vec<Projected>> {
        let keys: Vec<&Expr> =
            columns.items.iter().map(|item| &item.expr).filter(|expr| !gathers(expr)).collect();
        let mut groups: Vec<(Vec<Value>, Vec<Row>)> = Vec::new();
        for row in rows {
            let key = keys.iter().map(|key| self.eval(key, row, place));
            let key = key.collect::<Result<Vec<_>>>()?;
            match groups.iter_mut().find(|(other, _)| same(other, &key)) {
                Some((_, rows)) => rows.push(row.clone()),
                None => groups.push((key, vec![row.clone()])),
            }
        }
        if keys.is_empty() && groups.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        let mut projected = Vec::new();
        for (key, rows) in groups {
            let (mut values, mut key) = (Vec::new(), key.into_iter());
            let place = Place { group: Some(&rows), ..place };
            for item in &columns.items {
                values.push(match gathers(&item.expr) {
                    true => self.eval(&item.expr, rows.first().unwrap_or(outer), place)?,
                    false => key.next().unwrap_or(Value::Null),
                });
            }
            projected.push(Projected { values, names: outer.clone() });
        }
        Ok(projected)
    }

    /// Sorts rows by what their names give, and cuts them.
    fn ordered<T>(
        &self,
        ordering: &Ordering,
        rows: Vec<(Row, T)>,
        place: Place<'_>,
    ) -> Result<Vec<T>> {
        let mut keyed = Vec::new();
        for (names, row) in rows {
            let keys = ordering.keys.iter().map(|key| self.eval(&key.expr, &names, place));
            keyed.push((keys.collect::<Result<Vec<_>>>()?, row));
        }
        keyed.sort_by(|(a, _), (b, _)| {
            let by = ordering.keys.iter().zip(a.iter().zip(b));
            let mut orders = by.map(|(key, (a, b))| order(key, a, b));
            orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        let skip = ordering.skip.as_ref().map_or(Ok(0), amount)?;
        let limit = ordering.limit.as_ref().map_or(Ok(usize::MAX), amount)?;
        Ok(keyed.into_iter().map(|(_, row)| row).skip(skip).take(limit).collect())
    }
}

/// The order by one sort key: nulls come last, or first if it descends, unless it says otherwise.
fn order(key: &SortItem, a: &Value, b: &Value) -> std::cmp::Ordering {
    let first = key.nulls_first.unwrap_or(key.descending);
    match (*a == Value::Null, *b == Value::Null) {
        (false, false) if key.descending => b.order(a),
        (false, false) => a.order(b),
        (a, b) if first => b.cmp(&a),
        (a, b) => a.cmp(&b),
    }
}

/// The columns that a pipeline says.
fn columns(pipeline: &Pipeline) -> Vec<String> {
    match &pipeline.end {
        Some(QueryEnd::Return(columns)) => {
            columns.items.iter().map(|item| item.name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether an aggregate is part of the expression.
fn gathers(expr: &Expr) -> bool {
    let some = |expr: &Option<Box<Expr>>| expr.as_deref().is_some_and(gathers);
    let each = |each: &Comprehension| gathers(&each.list);
    match &expr.kind {
        ExprKind::Call(call) => {
            AGGREGATES.contains(&call.function.text.to_lowercase().as_str())
                || call.arguments.iter().any(gathers)
        }
        ExprKind::Property(inner, _) | ExprKind::HasLabel(inner, _) => gathers(inner),
        ExprKind::Unary(_, inner) => gathers(inner),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => gathers(a) || gathers(b),
        ExprKind::Slice(list, from, to) => gathers(list) || some(from) || some(to),
        ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::List(parts) => {
            parts.iter().any(gathers)
        }
        ExprKind::Map(entries) => entries.iter().any(|(_, value)| gathers(value)),
        ExprKind::Case(Case { operand, branches, otherwise }) => {
            some(operand)
                || some(otherwise)
                || branches.iter().any(|(when, then)| gathers(when) || gathers(then))
        }
        ExprKind::Comprehension(inner) | ExprKind::Quantified(_, inner) => each(inner),
        ExprKind::Reduce(reduce) => gathers(&reduce.list) || gathers(&reduce.first),
        _ => false,
    }
}
