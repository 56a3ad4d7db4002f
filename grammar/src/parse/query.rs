//! Queries: pipelines, their clauses and how they end.

use pest::iterators::Pair;

use super::expr::{expression, map, sum};
use super::pattern::path_pattern;
use super::retrieval::{
    BeamParts, activate, admit, anchor, generate, pack, reconstruct, represent, rerank, search,
};
use super::{Result, amount, children, incomplete, name, next, once, only, says, span, unexpected};
use crate::ast::{
    Clause, Expr, ExprKind, IntentFilter, Match, Name, Ordering, Pipeline, ProcedureCall, Query,
    QueryEnd, Recall, Return, ReturnItem, SortItem, Span, Subquery, SystemTime, Times, Union,
    Unwind, ValidTime, ValidTimeKind, With,
};
use crate::error::SyntaxError;
use crate::rules::Rule;
use crate::scan;

pub(super) fn query(pair: Pair<'_, Rule>) -> Result<Query> {
    let whole = span(&pair);
    let mut times = Times::default();
    let (mut first, mut unions, mut union) = (None, Vec::new(), None);
    for pair in children(pair) {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::valid_time | Rule::system_time => time(pair, &mut times)?,
            Rule::union => union = Some((says(&pair, Rule::k_all), at)),
            Rule::pipeline => match union.take() {
                None => first = Some(pipeline(pair)?),
                Some((all, span)) => unions.push(Union { all, pipeline: pipeline(pair)?, span }),
            },
            _ => return Err(unexpected(&pair)),
        }
    }
    let pipeline = first.ok_or_else(|| incomplete(whole))?;
    Ok(Query { times, pipeline, unions, span: whole })
}

fn pipeline(pair: Pair<'_, Rule>) -> Result<Pipeline> {
    let mut pipeline = Pipeline { clauses: Vec::new(), end: None, span: span(&pair) };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::return_clause => pipeline.end = Some(QueryEnd::Return(columns(only(pair)?)?)),
            Rule::retract_clause => pipeline.end = Some(QueryEnd::Retract(variables(pair)?)),
            Rule::confirm_clause => {
                let (names, by) = variables_by(pair)?;
                pipeline.end = Some(QueryEnd::Confirm { names, by });
            }
            Rule::close_clause => {
                let (names, at) = variables_by(pair)?;
                pipeline.end = Some(QueryEnd::Close { names, at });
            }
            Rule::doubt_clause => {
                let (names, by) = variables_by(pair)?;
                pipeline.end = Some(QueryEnd::Doubt { names, by });
            }
            Rule::forget_clause => pipeline.end = Some(QueryEnd::Forget(variables(pair)?)),
            _ => pipeline.clauses.push(clause(pair)?),
        }
    }
    Ok(pipeline)
}

fn clause(pair: Pair<'_, Rule>) -> Result<Clause> {
    Ok(match pair.as_rule() {
        Rule::match_clause => Clause::Match(match_clause(pair)?),
        Rule::search_clause => Clause::Search(search(pair)?),
        Rule::generate_clause => Clause::Generate(generate(pair)?),
        Rule::anchor_clause => Clause::Anchor(anchor(pair)?),
        Rule::activate_clause => Clause::Activate(activate(pair)?),
        Rule::represent_clause => Clause::Represent(represent(pair)?),
        Rule::rerank_clause => Clause::Rerank(rerank(pair)?),
        Rule::reconstruct_clause => Clause::Reconstruct(reconstruct(pair)?),
        Rule::admit_clause => Clause::Admit(admit(pair)?),
        Rule::pack_clause => Clause::Pack(pack(pair)?),
        Rule::with_clause => Clause::With(with_clause(pair)?),
        Rule::let_clause => Clause::Let(children(pair).map(let_item).collect::<Result<_>>()?),
        Rule::filter_clause => Clause::Filter(expression(only(pair)?)?),
        Rule::unwind_clause => Clause::Unwind(unwind(pair)?),
        Rule::procedure_call => Clause::Call(procedure_call(pair)?),
        Rule::subquery_call => Clause::Subquery(subquery(pair)?),
        Rule::recall_clause => Clause::Recall(recall(pair)?),
        Rule::ordering => Clause::Order(ordering(pair)?),
        _ => return Err(unexpected(&pair)),
    })
}

fn variables(pair: Pair<'_, Rule>) -> Result<Vec<Name>> {
    children(pair).map(name).collect()
}

/// `f, g BY e`.
fn variables_by(pair: Pair<'_, Rule>) -> Result<(Vec<Name>, Expr)> {
    let whole = span(&pair);
    let (names, by): (Vec<_>, Vec<_>) =
        children(pair).partition(|pair| pair.as_rule() == Rule::variable);
    let names = names.into_iter().map(name).collect::<Result<_>>()?;
    Ok((names, sum(next(&mut by.into_iter(), whole)?)?))
}

fn match_clause(pair: Pair<'_, Rule>) -> Result<Match> {
    let mut beam = BeamParts::default();
    let mut clause = empty_match(span(&pair));
    clause.optional = says(&pair, Rule::k_optional);
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::beam_width
            | Rule::expand_width
            | Rule::beam_depth
            | Rule::score_by
            | Rule::repair => {
                beam.take(pair)?;
            }
            _ => match_part(pair, &mut clause)?,
        }
    }
    clause.beam = beam.whole(clause.span)?;
    Ok(clause)
}

fn empty_match(span: Span) -> Match {
    Match {
        optional: false,
        patterns: Vec::new(),
        beam: None,
        times: Times::default(),
        confidence: None,
        intent: None,
        condition: None,
        span,
    }
}

/// A pattern of a `MATCH`, or what may follow it.
fn match_part(pair: Pair<'_, Rule>, clause: &mut Match) -> Result<()> {
    let at = span(&pair);
    match pair.as_rule() {
        Rule::path_pattern => clause.patterns.push(path_pattern(pair)?),
        Rule::valid_time | Rule::system_time => time(pair, &mut clause.times)?,
        Rule::confidence_floor => once(&mut clause.confidence, sum(only(pair)?)?, at)?,
        Rule::intent_filter => once(&mut clause.intent, intent_filter(pair)?, at)?,
        Rule::where_clause => once(&mut clause.condition, expression(only(pair)?)?, at)?,
        _ => return Err(unexpected(&pair)),
    }
    Ok(())
}

fn intent_filter(pair: Pair<'_, Rule>) -> Result<IntentFilter> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let preferred = parts.next_if(|pair| pair.as_rule() == Rule::preferred).is_some();
    Ok(IntentFilter { preferred, intent: sum(next(&mut parts, whole)?)? })
}

/// What stands between the braces of `EXISTS` and `COUNT`.
pub(super) fn inner(pair: Pair<'_, Rule>) -> Result<Query> {
    if pair.as_rule() == Rule::query {
        return query(pair);
    }
    let whole = span(&pair);
    let mut clause = empty_match(whole);
    for pair in children(pair) {
        match_part(pair, &mut clause)?;
    }
    Ok(matching(clause, None))
}

/// A query of one `MATCH`.
pub(super) fn matching(clause: Match, end: Option<QueryEnd>) -> Query {
    let span = clause.span;
    let pipeline = Pipeline { clauses: vec![Clause::Match(clause)], end, span };
    Query { times: Times::default(), pipeline, unions: Vec::new(), span }
}

/// A `MATCH` of one pattern.
pub(super) fn match_of(pattern: crate::ast::PathPattern, condition: Option<Expr>) -> Match {
    let span = pattern.span;
    Match { patterns: vec![pattern], condition, ..empty_match(span) }
}

fn with_clause(pair: Pair<'_, Rule>) -> Result<With> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let columns = columns(next(&mut parts, whole)?)?;
    for item in &columns.items {
        let at = item.expr.span;
        if !item.named && !matches!(item.expr.kind, ExprKind::Variable(_)) {
            return Err(SyntaxError::new("a column of WITH has a name", at.start, at.end)
                .help("name it with AS, so that what follows can ask for it"));
        }
    }
    let condition = parts.next().map(|pair| expression(only(pair)?)).transpose()?;
    Ok(With { columns, condition, span: whole })
}

fn let_item(pair: Pair<'_, Rule>) -> Result<(Name, Expr)> {
    let whole = span(&pair);
    let mut parts = children(pair);
    Ok((name(next(&mut parts, whole)?)?, expression(next(&mut parts, whole)?)?))
}

fn unwind(pair: Pair<'_, Rule>) -> Result<Unwind> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let list = expression(next(&mut parts, whole)?)?;
    Ok(Unwind { list, variable: name(next(&mut parts, whole)?)? })
}

fn procedure_call(pair: Pair<'_, Rule>) -> Result<ProcedureCall> {
    let whole = span(&pair);
    let mut call = ProcedureCall {
        procedure: Name { text: String::new(), span: whole },
        arguments: Vec::new(),
        yields: Vec::new(),
        condition: None,
        span: whole,
    };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::procedure_name => call.procedure = procedure_name(pair)?,
            Rule::yields => yields(pair, &mut call)?,
            _ => call.arguments.push(expression(pair)?),
        }
    }
    Ok(call)
}

fn procedure_name(pair: Pair<'_, Rule>) -> Result<Name> {
    let span = span(&pair);
    let parts: Vec<String> =
        children(pair).map(|part| Ok(name(part)?.text)).collect::<Result<_>>()?;
    Ok(Name { text: parts.join("."), span })
}

fn yields(pair: Pair<'_, Rule>, call: &mut ProcedureCall) -> Result<()> {
    for pair in children(pair) {
        if pair.as_rule() == Rule::where_clause {
            call.condition = Some(expression(only(pair)?)?);
            continue;
        }
        let whole = span(&pair);
        let mut names = children(pair).map(name);
        let column = names.next().unwrap_or_else(|| Err(incomplete(whole)))?;
        let shown = names.next().transpose()?.unwrap_or_else(|| column.clone());
        call.yields.push((column, shown));
    }
    Ok(())
}

fn subquery(pair: Pair<'_, Rule>) -> Result<Subquery> {
    let whole = span(&pair);
    let optional = says(&pair, Rule::k_optional);
    let mut parts = children(pair).peekable();
    let imports = parts
        .next_if(|pair| pair.as_rule() == Rule::import_list)
        .map(|list| children(list).map(name).collect::<Result<_>>())
        .transpose()?;
    Ok(Subquery { optional, imports, query: query(next(&mut parts, whole)?)?, span: whole })
}

fn recall(pair: Pair<'_, Rule>) -> Result<Recall> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let question = sum(next(&mut parts, whole)?)?;
    let (mut recipe, mut parameters, mut budget) = (None, Vec::new(), None);
    let mut times = Times::default();
    for pair in parts {
        match pair.as_rule() {
            Rule::name => recipe = Some(name(pair)?),
            Rule::map => parameters = map(pair)?,
            Rule::valid_time => time(pair, &mut times)?,
            _ => budget = Some(amount(only(pair)?)?),
        }
    }
    Ok(Recall { question, recipe, parameters, valid: times.valid, budget, span: whole })
}

pub(super) fn session_set(pair: Pair<'_, Rule>) -> Result<Times> {
    let pair = only(pair)?;
    let mut times = Times::default();
    time(pair, &mut times)?;
    Ok(times)
}

pub(super) fn time(pair: Pair<'_, Rule>, times: &mut Times) -> Result<()> {
    let whole = span(&pair);
    let is_valid = matches!(pair.as_rule(), Rule::valid_time | Rule::session_valid);
    let form = only(pair)?;
    if is_valid {
        once(&mut times.valid, ValidTime { kind: valid_time_kind(form)?, span: whole }, whole)
    } else {
        let as_of = match form.as_rule() {
            Rule::all_time => None,
            _ => Some(sum(only(form)?)?),
        };
        once(&mut times.system, SystemTime { as_of, span: whole }, whole)
    }
}

fn valid_time_kind(pair: Pair<'_, Rule>) -> Result<ValidTimeKind> {
    let (rule, whole) = (pair.as_rule(), span(&pair));
    let mut bounds = children(pair).map(sum);
    let mut bound = || bounds.next().unwrap_or_else(|| Err(incomplete(whole)));
    match rule {
        Rule::as_of => Ok(ValidTimeKind::AsOf(bound()?)),
        Rule::from_to => Ok(ValidTimeKind::From(bound()?, bound()?)),
        Rule::between => Ok(ValidTimeKind::Between(bound()?, bound()?)),
        _ => Ok(ValidTimeKind::All),
    }
}

fn columns(pair: Pair<'_, Rule>) -> Result<Return> {
    let mut columns = Return { distinct: says(&pair, Rule::k_distinct), ..Return::default() };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::all_columns => columns.star = true,
            Rule::return_item => columns.items.push(return_item(pair)?),
            _ => columns.ordering = ordering(pair)?,
        }
    }
    Ok(columns)
}

fn ordering(pair: Pair<'_, Rule>) -> Result<Ordering> {
    let mut ordering = Ordering::default();
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::order_by => {
                ordering.keys = children(pair).map(sort_item).collect::<Result<_>>()?;
            }
            Rule::skip_rows => ordering.skip = Some(amount(only(pair)?)?),
            _ => ordering.limit = Some(amount(only(pair)?)?),
        }
    }
    Ok(ordering)
}

pub(super) fn return_item(pair: Pair<'_, Rule>) -> Result<ReturnItem> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let value = next(&mut parts, whole)?;
    let text = scan::without_comments(value.as_str());
    let expr = expression(value)?;
    let (name, named) = match (parts.next(), &expr.kind) {
        (Some(alias), _) => (name(alias)?.text, true),
        (None, ExprKind::Variable(variable)) => (variable.clone(), false),
        (None, _) => (text, false),
    };
    Ok(ReturnItem { expr, name, named })
}

fn sort_item(pair: Pair<'_, Rule>) -> Result<SortItem> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let expr = expression(next(&mut parts, whole)?)?;
    let (mut descending, mut nulls_first) = (false, None);
    for pair in parts {
        match pair.as_rule() {
            Rule::descending => descending = true,
            Rule::nulls_first => nulls_first = Some(true),
            Rule::nulls_last => nulls_first = Some(false),
            _ => {}
        }
    }
    Ok(SortItem { expr, descending, nulls_first })
}
