//! Queries: their times, clauses and ends.

use std::fmt::{self, Display, Formatter};

use super::expr::{Sum, any};
use super::pattern::path;
use super::{commas, optional, own_name, quoted, quoted_variable, retrieval, variable, word};
use crate::ast::{
    Amount, AmountKind, Clause, Expr, Match, ModelName, ModelNameKind, Name, Ordering, Pipeline,
    ProcedureCall, Query, QueryEnd, Recall, Return, ReturnItem, SortItem, Subquery, SystemTime,
    Times, ValidTimeKind, With,
};

/// The query with this between its clauses.
pub(super) fn query(f: &mut Formatter<'_>, query: &Query, between: &str) -> fmt::Result {
    let mut head = Parts { between, first: true };
    if query.times.valid.is_some() || query.times.system.is_some() {
        head.next(f)?;
        f.write_str(times(&query.times).trim_start())?;
    }
    pipeline(f, &query.pipeline, &mut head)?;
    for union in &query.unions {
        head.next(f)?;
        f.write_str(if union.all { "UNION ALL" } else { "UNION" })?;
        pipeline(f, &union.pipeline, &mut head)?;
    }
    Ok(())
}

/// What stands before each part but the first.
struct Parts<'a> {
    between: &'a str,
    first: bool,
}

impl Parts<'_> {
    fn next(&mut self, f: &mut Formatter<'_>) -> fmt::Result {
        let first = std::mem::replace(&mut self.first, false);
        f.write_str(if first { "" } else { self.between })
    }
}

/// What stands between the braces of `EXISTS`, `COUNT` and `COLLECT`; a bare `MATCH` by its pattern.
pub(super) fn braces(f: &mut Formatter<'_>, inner: &Query, bare: bool) -> fmt::Result {
    f.write_str(" { ")?;
    match plain_match(inner) {
        Some(plain) if bare => match_body(f, plain)?,
        _ => query(f, inner, " ")?,
    }
    f.write_str(" }")
}

/// The `MATCH` of a query that is nothing else.
fn plain_match(query: &Query) -> Option<&Match> {
    let is_plain =
        query.times == Times::default() && query.unions.is_empty() && query.pipeline.end.is_none();
    match query.pipeline.clauses.as_slice() {
        [Clause::Match(only)] if is_plain && !only.optional && only.beam.is_none() => Some(only),
        _ => None,
    }
}

fn pipeline(f: &mut Formatter<'_>, pipeline: &Pipeline, head: &mut Parts<'_>) -> fmt::Result {
    for one in &pipeline.clauses {
        head.next(f)?;
        clause(f, one)?;
    }
    if let Some(last) = &pipeline.end {
        head.next(f)?;
        end(f, last)?;
    }
    Ok(())
}

fn clause(f: &mut Formatter<'_>, clause: &Clause) -> fmt::Result {
    match clause {
        Clause::Match(matched) => {
            f.write_str(if matched.optional { "OPTIONAL MATCH " } else { "MATCH " })?;
            if let Some(beam) = &matched.beam {
                write!(f, "BEAM {} ", Count(&beam.width))?;
            }
            match_body(f, matched)
        }
        Clause::Search(found) => retrieval::search(f, found),
        Clause::Generate(found) => retrieval::generate(f, found),
        Clause::Anchor(found) => retrieval::anchor(f, found),
        Clause::Activate(found) => retrieval::activate(f, found),
        Clause::Represent(found) => retrieval::represent(f, found),
        Clause::Rerank(found) => retrieval::rerank(f, found),
        Clause::Reconstruct(found) => retrieval::reconstruct(f, found),
        Clause::Admit(found) => retrieval::admit(f, found),
        Clause::Pack(packed) => retrieval::pack(f, packed),
        Clause::With(with) => with_clause(f, with),
        Clause::Let(items) => {
            f.write_str("LET ")?;
            commas(f, items, |f, (name, value)| write!(f, "{} = {value}", variable(name)))
        }
        Clause::Filter(condition) => write!(f, "FILTER {condition}"),
        Clause::Unwind(unwind) => {
            write!(f, "UNWIND {} AS {}", unwind.list, variable(&unwind.variable))
        }
        Clause::Order(order) => f.write_str(ordering(order).trim_start()),
        Clause::Call(call) => procedure(f, call),
        Clause::Subquery(call) => subquery(f, call),
        Clause::Recall(call) => recall(f, call),
    }
}

/// A `MATCH` after its word.
fn match_body(f: &mut Formatter<'_>, matched: &Match) -> fmt::Result {
    commas(f, &matched.patterns, path)?;
    if let Some(beam) = &matched.beam {
        retrieval::beam(f, beam)?;
    }
    f.write_str(&times(&matched.times))?;
    optional(f, " CONFIDENCE >= ", matched.confidence.as_ref().map(Sum))?;
    if let Some(filter) = &matched.intent {
        let preferred = if filter.preferred { "~ " } else { "" };
        write!(f, " INTENT {preferred}{}", Sum(&filter.intent))?;
    }
    optional(f, " WHERE ", matched.condition.as_ref())
}

fn with_clause(f: &mut Formatter<'_>, with: &With) -> fmt::Result {
    f.write_str("WITH ")?;
    columns(f, &with.columns)?;
    optional(f, " WHERE ", with.condition.as_ref())
}

fn procedure(f: &mut Formatter<'_>, call: &ProcedureCall) -> fmt::Result {
    write!(f, "CALL {}(", Dotted(&call.procedure.text))?;
    commas(f, &call.arguments, any)?;
    f.write_str(")")?;
    f.write_str(if call.yields.is_empty() { "" } else { " YIELD " })?;
    commas(f, &call.yields, |f, (column, shown)| {
        write!(f, "{}", variable(column))?;
        match column.text == shown.text {
            true => Ok(()),
            false => write!(f, " AS {}", variable(shown)),
        }
    })?;
    optional(f, " WHERE ", call.condition.as_ref())
}

fn subquery(f: &mut Formatter<'_>, call: &Subquery) -> fmt::Result {
    f.write_str(if call.optional { "OPTIONAL CALL" } else { "CALL" })?;
    if let Some(imports) = &call.imports {
        f.write_str(" (")?;
        names(f, imports)?;
        f.write_str(")")?;
    }
    braces(f, &call.query, false)
}

fn recall(f: &mut Formatter<'_>, call: &Recall) -> fmt::Result {
    write!(f, "RECALL {}", Sum(&call.question))?;
    if let Some(recipe) = &call.recipe {
        write!(f, " USING {}", word(recipe))?;
        super::pattern::properties(f, " ", &call.parameters)?;
    }
    let valid = call.valid.as_ref().map(|time| Valid(&time.kind));
    optional(f, " FOR VALID_TIME ", valid)?;
    match &call.budget {
        Some(budget) => write!(f, " BUDGET {} TOKENS", Count(budget)),
        None => Ok(()),
    }
}

fn end(f: &mut Formatter<'_>, end: &QueryEnd) -> fmt::Result {
    let (word, list, by): (_, _, Option<(&str, &Expr)>) = match end {
        QueryEnd::Return(clause) => {
            f.write_str("RETURN ")?;
            return columns(f, clause);
        }
        QueryEnd::Retract(list) => ("RETRACT", list, None),
        QueryEnd::Forget(list) => ("FORGET", list, None),
        QueryEnd::Close { names, at } => ("CLOSE", names, Some((" AT ", at))),
        QueryEnd::Confirm { names, by } => ("CONFIRM", names, Some((" BY ", by))),
        QueryEnd::Doubt { names, by } => ("DOUBT", names, Some((" BY ", by))),
    };
    write!(f, "{word} ")?;
    names(f, list)?;
    match by {
        Some((word, by)) => write!(f, "{word}{}", Sum(by)),
        None => Ok(()),
    }
}

pub(super) fn names(f: &mut Formatter<'_>, names: &[Name]) -> fmt::Result {
    commas(f, names, |f, name| write!(f, "{}", variable(name)))
}

fn columns(f: &mut Formatter<'_>, columns: &Return) -> fmt::Result {
    f.write_str(if columns.distinct { "DISTINCT " } else { "" })?;
    f.write_str(if columns.star { "*" } else { "" })?;
    f.write_str(if columns.star && !columns.items.is_empty() { ", " } else { "" })?;
    commas(f, &columns.items, column)?;
    f.write_str(&ordering(&columns.ordering))
}

fn column(f: &mut Formatter<'_>, item: &ReturnItem) -> fmt::Result {
    // Once, for the text of a query within it holds columns as well.
    let text = item.expr.to_string();
    f.write_str(&text)?;
    match !item.named && item.name == own_name(&item.expr, text) {
        true => Ok(()),
        false => write!(f, " AS {}", quoted_variable(&item.name)),
    }
}

/// The order, a blank before it.
fn ordering(order: &Ordering) -> String {
    let mut text = String::new();
    let mut sign = " ORDER BY ";
    for key in &order.keys {
        text.push_str(sign);
        text.push_str(&sort_item(key));
        sign = ", ";
    }
    for (word, amount) in [(" SKIP ", &order.skip), (" LIMIT ", &order.limit)] {
        if let Some(amount) = amount {
            text.push_str(word);
            text.push_str(&Count(amount).to_string());
        }
    }
    text
}

fn sort_item(item: &SortItem) -> String {
    let nulls = match item.nulls_first {
        Some(true) => " NULLS FIRST",
        Some(false) => " NULLS LAST",
        None => "",
    };
    format!("{}{}{nulls}", item.expr, if item.descending { " DESC" } else { "" })
}

/// The times, a blank before each.
pub(super) fn times(times: &Times) -> String {
    let valid = times.valid.as_ref().map(|time| format!(" FOR VALID_TIME {}", Valid(&time.kind)));
    let system = times.system.as_ref().map(|time| format!(" FOR SYSTEM_TIME {}", System(time)));
    valid.into_iter().chain(system).collect()
}

/// A valid time after its word.
pub(super) struct Valid<'a>(pub(super) &'a ValidTimeKind);

impl Display for Valid<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            ValidTimeKind::AsOf(at) => write!(f, "AS OF {}", Sum(at)),
            ValidTimeKind::From(from, to) => write!(f, "FROM {} TO {}", Sum(from), Sum(to)),
            ValidTimeKind::Between(from, to) => {
                write!(f, "BETWEEN {} AND {}", Sum(from), Sum(to))
            }
            ValidTimeKind::All => f.write_str("ALL"),
        }
    }
}

/// A system time after its word.
pub(super) struct System<'a>(pub(super) &'a SystemTime);

impl Display for System<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.as_of {
            Some(at) => write!(f, "AS OF {}", Sum(at)),
            None => f.write_str("ALL"),
        }
    }
}

/// A number of things.
pub(super) struct Count<'a>(pub(super) &'a Amount);

impl Display for Count<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            AmountKind::Literal(count) => count.fmt(f),
            AmountKind::Parameter(name) => write!(f, "${}", quoted(name)),
        }
    }
}

/// A model.
pub(super) struct Model<'a>(pub(super) &'a ModelName);

impl Display for Model<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ModelNameKind::Name(name) => quoted(name).fmt(f),
            ModelNameKind::Parameter(name) => write!(f, "${}", quoted(name)),
        }
    }
}

/// A procedure's name: each part by itself.
struct Dotted<'a>(&'a str);

impl Display for Dotted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.split('.').any(str::is_empty) {
            return quoted_variable(self.0).fmt(f);
        }
        for (n, part) in self.0.split('.').enumerate() {
            match n {
                0 => quoted_variable(part).fmt(f)?,
                _ => write!(f, ".{}", quoted(part))?,
            }
        }
        Ok(())
    }
}
