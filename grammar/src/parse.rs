//! Pest pairs to the tree: one function per rule, of the same name.
//!
//! No pest type leaves this module but `Rule`, which `words` names in messages.

use pest::Parser as _;
use pest::iterators::Pair;
use pest_derive::Parser;

use crate::ast::{
    Alias, Amount, AmountKind, Beam, Cardinality, Clause, DefineRelation, Direction, Expr,
    FactPattern, Hops, Match, Name, NodePattern, Observe, PathPattern, Query, QueryEnd,
    RelationPattern, Remember, Return, ReturnItem, Search, SortItem, Span, Statement,
    StatementKind, SystemTime, Times, ValidTime, ValidTimeKind,
};
use crate::error::SyntaxError;
use crate::expr::{expression, map, string, sum};
use crate::words::{keyword_text, syntax_error};

/// The generated parser.
#[derive(Parser)]
#[grammar = "memql.pest"]
pub(crate) struct MemQl;

pub(crate) type Result<T> = std::result::Result<T, SyntaxError>;

/// The whole text.
pub(crate) fn script(text: &str) -> Result<Vec<Statement>> {
    let pairs = MemQl::parse(Rule::script, text).map_err(|error| syntax_error(&error, text))?;
    pairs
        .flat_map(Pair::into_inner)
        .filter(|pair| pair.as_rule() != Rule::EOI)
        .map(statement)
        .collect()
}

fn statement(pair: Pair<'_, Rule>) -> Result<Statement> {
    let span = span(&pair);
    let kind = match pair.as_rule() {
        Rule::explain => StatementKind::Explain(query(only(pair)?)?),
        Rule::query => StatementKind::Query(query(pair)?),
        Rule::define_relation => StatementKind::DefineRelation(define_relation(pair)?),
        Rule::show_relations => StatementKind::ShowRelations,
        Rule::remember => StatementKind::Remember(Box::new(remember(pair)?)),
        Rule::alias => StatementKind::Alias(alias(pair)?),
        Rule::observe => StatementKind::Observe(observe(pair)?),
        Rule::begin => StatementKind::Begin,
        Rule::commit => StatementKind::Commit,
        Rule::rollback => StatementKind::Rollback,
        _ => return Err(unexpected(&pair)),
    };
    Ok(Statement { kind, span })
}

fn query(pair: Pair<'_, Rule>) -> Result<Query> {
    let mut query = Query {
        times: Times::default(),
        clauses: Vec::new(),
        end: QueryEnd::Return(Return::default()),
    };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::valid_time | Rule::system_time => time(pair, &mut query.times)?,
            Rule::match_clause => query.clauses.push(Clause::Match(match_clause(pair)?)),
            Rule::search_clause => query.clauses.push(Clause::Search(search_clause(pair)?)),
            Rule::return_clause => query.end = QueryEnd::Return(return_clause(pair)?),
            Rule::retract_clause => query.end = QueryEnd::Retract(variables(pair)?),
            Rule::confirm_clause => {
                let (names, by) = variables_by(pair)?;
                query.end = QueryEnd::Confirm { names, by };
            }
            Rule::doubt_clause => {
                let (names, by) = variables_by(pair)?;
                query.end = QueryEnd::Doubt { names, by };
            }
            Rule::forget_clause => query.end = QueryEnd::Forget(variables(pair)?),
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(query)
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
    let whole = span(&pair);
    let (mut width, mut expand, mut score) = (None, None, None);
    let mut clause = Match {
        patterns: Vec::new(),
        beam: None,
        times: Times::default(),
        confidence: None,
        intent: None,
        condition: None,
        span: whole,
    };
    for pair in children(pair) {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::beam_width => width = Some(amount(only(pair)?)?),
            Rule::path_pattern => clause.patterns.push(path_pattern(pair)?),
            Rule::valid_time | Rule::system_time => time(pair, &mut clause.times)?,
            Rule::confidence_floor => once(&mut clause.confidence, sum(only(pair)?)?, at)?,
            Rule::intent_only => once(&mut clause.intent, name(only(pair)?)?, at)?,
            Rule::expand_width => once(&mut expand, amount(only(pair)?)?, at)?,
            Rule::score_by => once(&mut score, expression(only(pair)?)?, at)?,
            Rule::where_clause => once(&mut clause.condition, expression(only(pair)?)?, at)?,
            _ => return Err(unexpected(&pair)),
        }
    }
    clause.beam = beam(width, expand, score, whole)?;
    Ok(clause)
}

fn beam(
    width: Option<Amount>,
    expand: Option<Amount>,
    score: Option<Expr>,
    whole: Span,
) -> Result<Option<Beam>> {
    let fail = |message: &str, span: Span, help: &str| {
        Err(SyntaxError::new(message, span.start, span.end).help(help))
    };
    match (width, expand, score) {
        (Some(width), expand, Some(score)) => Ok(Some(Beam { width, expand, score })),
        (Some(width), _, None) => fail(
            "BEAM needs a score to order its paths",
            width.span,
            "add SCORE BY similarity(p, $question) behind the pattern",
        ),
        (None, Some(expand), _) => {
            fail("EXPAND belongs to a beam", expand.span, "write MATCH BEAM 5 p = ...")
        }
        (None, None, Some(_)) => {
            fail("SCORE BY belongs to a beam", whole, "write MATCH BEAM 5 p = ...")
        }
        (None, None, None) => Ok(None),
    }
}

fn search_clause(pair: Pair<'_, Rule>) -> Result<Search> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let variable = name(next(&mut parts, whole)?)?;
    let labels = match parts.next_if(|pair| pair.as_rule() == Rule::label_filter) {
        Some(pair) => label_filter(pair)?,
        None => Vec::new(),
    };
    let query = expression(next(&mut parts, whole)?)?;
    let top = amount(next(&mut parts, whole)?)?;
    let mut clause = Search {
        variable,
        labels,
        query,
        top,
        times: Times::default(),
        condition: None,
        span: whole,
    };
    for pair in parts {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::valid_time | Rule::system_time => time(pair, &mut clause.times)?,
            Rule::where_clause => once(&mut clause.condition, expression(only(pair)?)?, at)?,
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(clause)
}

fn time(pair: Pair<'_, Rule>, times: &mut Times) -> Result<()> {
    let whole = span(&pair);
    let is_valid = pair.as_rule() == Rule::valid_time;
    // `ALL` is a keyword, so it leaves no child.
    let form = children(pair).next();
    if is_valid {
        let kind = match form {
            Some(pair) => valid_time_kind(pair)?,
            None => ValidTimeKind::All,
        };
        once(&mut times.valid, ValidTime { kind, span: whole }, whole)
    } else {
        let as_of = form.map(|pair| sum(only(pair)?)).transpose()?;
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
        _ => Ok(ValidTimeKind::Between(bound()?, bound()?)),
    }
}

fn return_clause(pair: Pair<'_, Rule>) -> Result<Return> {
    let mut clause = Return::default();
    for pair in pair.into_inner() {
        match pair.as_rule() {
            Rule::k_distinct => clause.distinct = true,
            Rule::return_item => clause.items.push(return_item(pair)?),
            Rule::order_by => {
                clause.order = children(pair).map(sort_item).collect::<Result<_>>()?;
            }
            Rule::skip_rows => clause.skip = Some(amount(only(pair)?)?),
            Rule::limit_rows => clause.limit = Some(amount(only(pair)?)?),
            _ => {}
        }
    }
    Ok(clause)
}

fn return_item(pair: Pair<'_, Rule>) -> Result<ReturnItem> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let value = next(&mut parts, whole)?;
    let text = value.as_str().trim().to_owned();
    let expr = expression(value)?;
    let name = match parts.next() {
        Some(alias) => name(alias)?.text,
        None => text,
    };
    Ok(ReturnItem { expr, name })
}

fn sort_item(pair: Pair<'_, Rule>) -> Result<SortItem> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let expr = expression(next(&mut parts, whole)?)?;
    let descending = parts.any(|pair| pair.as_rule() == Rule::descending);
    Ok(SortItem { expr, descending })
}

fn path_pattern(pair: Pair<'_, Rule>) -> Result<PathPattern> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let variable = parts.next_if(|pair| pair.as_rule() == Rule::variable).map(name).transpose()?;
    let start = node_pattern(next(&mut parts, whole)?)?;
    let mut steps = Vec::new();
    while let Some(relation) = parts.next() {
        steps.push((relation_pattern(relation)?, node_pattern(next(&mut parts, whole)?)?));
    }
    Ok(PathPattern { variable, start, steps })
}

fn node_pattern(pair: Pair<'_, Rule>) -> Result<NodePattern> {
    let mut node = NodePattern {
        variable: None,
        labels: Vec::new(),
        key: None,
        properties: Vec::new(),
        span: span(&pair),
    };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::variable => node.variable = Some(name(pair)?),
            Rule::label_filter => node.labels = label_filter(pair)?,
            Rule::node_key => node.key = Some(sum(only(pair)?)?),
            Rule::map => node.properties = map(pair)?,
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(node)
}

fn label_filter(pair: Pair<'_, Rule>) -> Result<Vec<Name>> {
    children(pair).map(name).collect()
}

fn relation_pattern(pair: Pair<'_, Rule>) -> Result<RelationPattern> {
    let mut relation = RelationPattern {
        variable: None,
        relations: Vec::new(),
        direction: Direction::Both,
        hops: None,
        properties: Vec::new(),
        span: span(&pair),
    };
    let (mut to_left, mut to_right) = (false, false);
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::left_end => to_left = pair.as_str() == "<-",
            Rule::right_end => to_right = pair.as_str() == "->",
            Rule::relation_filter => relation_filter(pair, &mut relation)?,
            Rule::quantifier => {
                let at = span(&pair);
                once(&mut relation.hops, hops(only(pair)?)?, at)?;
            }
            _ => return Err(unexpected(&pair)),
        }
    }
    relation.direction = match (to_left, to_right) {
        (true, false) => Direction::In,
        (false, true) => Direction::Out,
        _ => Direction::Both,
    };
    Ok(relation)
}

fn relation_filter(pair: Pair<'_, Rule>, relation: &mut RelationPattern) -> Result<()> {
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::variable => relation.variable = Some(name(pair)?),
            Rule::label_filter => relation.relations = label_filter(pair)?,
            Rule::star_range => {
                relation.hops = Some(match children(pair).next() {
                    Some(range) => hops(range)?,
                    None => Hops { min: 1, max: None },
                });
            }
            Rule::map => relation.properties = map(pair)?,
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(())
}

fn hops(pair: Pair<'_, Rule>) -> Result<Hops> {
    let (rule, whole) = (pair.as_rule(), span(&pair));
    let mut numbers = children(pair).map(|pair| number::<u32>(&pair));
    let mut number = || numbers.next().transpose();
    let hops = match rule {
        Rule::any_hops => Hops { min: 0, max: None },
        Rule::some_hops => Hops { min: 1, max: None },
        Rule::optional_hop => Hops { min: 0, max: Some(1) },
        Rule::to_only => Hops { min: 1, max: number()? },
        Rule::to_hops => Hops { min: 0, max: number()? },
        Rule::exactly => {
            let count = number()?.ok_or_else(|| incomplete(whole))?;
            Hops { min: count, max: Some(count) }
        }
        _ => Hops { min: number()?.ok_or_else(|| incomplete(whole))?, max: number()? },
    };
    match hops.max {
        Some(max) if max < hops.min => Err(SyntaxError::new(
            format!("at least {} hops and at most {max} leaves nothing", hops.min),
            whole.start,
            whole.end,
        )
        .help("write the smaller number first")),
        _ => Ok(hops),
    }
}

fn define_relation(pair: Pair<'_, Rule>) -> Result<DefineRelation> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let mut relation = DefineRelation {
        name: name(next(&mut parts, whole)?)?,
        cardinality: None,
        intent: None,
        policy: None,
        threshold: None,
        symmetric: false,
        inverse: None,
    };
    let mut symmetric = None;
    for pair in parts {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::cardinality => once(&mut relation.cardinality, cardinality(pair), at)?,
            Rule::default_intent => once(&mut relation.intent, name(only(pair)?)?, at)?,
            Rule::confidence_policy => once(&mut relation.policy, name(only(pair)?)?, at)?,
            Rule::conflict_threshold => once(&mut relation.threshold, sum(only(pair)?)?, at)?,
            Rule::symmetric => once(&mut symmetric, (), at)?,
            Rule::inverse_of => once(&mut relation.inverse, name(only(pair)?)?, at)?,
            _ => return Err(unexpected(&pair)),
        }
        relation.symmetric = symmetric.is_some();
        if relation.symmetric && relation.inverse.is_some() {
            let message = "a symmetric relation is its own inverse";
            return Err(SyntaxError::new(message, at.start, at.end)
                .help("keep either SYMMETRIC or INVERSE OF"));
        }
    }
    Ok(relation)
}

fn cardinality(pair: Pair<'_, Rule>) -> Cardinality {
    match pair.into_inner().last().map(|pair| pair.as_rule()) {
        Some(Rule::k_one) => Cardinality::One,
        Some(Rule::k_many) => Cardinality::Many,
        Some(Rule::k_observed) => Cardinality::Observed,
        _ => Cardinality::Unknown,
    }
}

fn remember(pair: Pair<'_, Rule>) -> Result<Remember> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let mut remember = Remember {
        head: node_pattern(next(&mut parts, whole)?)?,
        fact: None,
        valid_from: None,
        valid_to: None,
        confidence: None,
        intent: None,
        sources: Vec::new(),
    };
    if let Some(link) = parts.next_if(|pair| pair.as_rule() == Rule::fact_link) {
        remember.fact = Some(fact_link(link, next(&mut parts, whole)?)?);
    }
    for pair in parts {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::fact_validity => fact_validity(pair, &mut remember)?,
            Rule::fact_confidence => once(&mut remember.confidence, sum(only(pair)?)?, at)?,
            Rule::fact_intent => once(&mut remember.intent, name(only(pair)?)?, at)?,
            Rule::fact_source => {
                for source in children(pair) {
                    remember.sources.push(sum(source)?);
                }
            }
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(remember)
}

fn fact_link(link: Pair<'_, Rule>, tail: Pair<'_, Rule>) -> Result<FactPattern> {
    let whole = span(&link);
    let mut parts = children(link);
    let relation = name(next(&mut parts, whole)?)?;
    let properties = parts.find(|pair| pair.as_rule() == Rule::map).map(map).transpose()?;
    let properties = properties.unwrap_or_default();
    Ok(FactPattern { relation, properties, tail: node_pattern(tail)? })
}

fn fact_validity(pair: Pair<'_, Rule>, remember: &mut Remember) -> Result<()> {
    for bound in children(pair) {
        let at = span(&bound);
        if bound.as_rule() == Rule::valid_from {
            once(&mut remember.valid_from, sum(only(bound)?)?, at)?;
        } else {
            once(&mut remember.valid_to, sum(only(bound)?)?, at)?;
        }
    }
    Ok(())
}

fn alias(pair: Pair<'_, Rule>) -> Result<Alias> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let alias = sum(next(&mut parts, whole)?)?;
    Ok(Alias { alias, node: node_pattern(next(&mut parts, whole)?)? })
}

fn observe(pair: Pair<'_, Rule>) -> Result<Observe> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let session = sum(next(&mut parts, whole)?)?;
    let turn = next(&mut parts, whole)?;
    let turn_span = span(&turn);
    Ok(Observe { session, turn: map(turn)?, turn_span })
}

fn amount(pair: Pair<'_, Rule>) -> Result<Amount> {
    let span = span(&pair);
    let inner = only(pair)?;
    let kind = match inner.as_rule() {
        Rule::integer => AmountKind::Literal(number(&inner)?),
        _ => AmountKind::Parameter(name(only(inner)?)?.text),
    };
    Ok(Amount { kind, span })
}

/// A name; `variable` holds one.
pub(crate) fn name(pair: Pair<'_, Rule>) -> Result<Name> {
    match pair.as_rule() {
        Rule::variable | Rule::name | Rule::quoted_name => name(only(pair)?),
        Rule::plain_name | Rule::quoted_part => {
            Ok(Name { text: pair.as_str().to_owned(), span: span(&pair) })
        }
        Rule::string => Ok(Name { span: span(&pair), text: string(pair)? }),
        _ => Err(unexpected(&pair)),
    }
}

/// A whole number that fits its type.
pub(crate) fn number<T: std::str::FromStr>(pair: &Pair<'_, Rule>) -> Result<T> {
    let at = span(pair);
    pair.as_str()
        .parse()
        .map_err(|_| SyntaxError::new("this number is too large", at.start, at.end))
}

/// The pairs inside, keywords left out.
pub(crate) fn children(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    pair.into_inner().filter(|pair| keyword_text(pair.as_rule()).is_none())
}

/// The first pair inside that is no keyword.
pub(crate) fn only(pair: Pair<'_, Rule>) -> Result<Pair<'_, Rule>> {
    let whole = span(&pair);
    next(&mut children(pair), whole)
}

pub(crate) fn next<'i>(
    pairs: &mut impl Iterator<Item = Pair<'i, Rule>>,
    whole: Span,
) -> Result<Pair<'i, Rule>> {
    pairs.next().ok_or_else(|| incomplete(whole))
}

pub(crate) fn span(pair: &Pair<'_, Rule>) -> Span {
    let span = pair.as_span();
    Span { start: span.start(), end: span.end() }
}

/// Sets what may be said once.
fn once<T>(slot: &mut Option<T>, value: T, span: Span) -> Result<()> {
    if slot.is_some() {
        return Err(SyntaxError::new("this is said twice", span.start, span.end)
            .help("keep one of the two"));
    }
    *slot = Some(value);
    Ok(())
}

// The grammar rules out both of these; an error is kinder than a panic should it ever be changed.
fn incomplete(span: Span) -> SyntaxError {
    SyntaxError::new("this is incomplete", span.start, span.end)
}

pub(crate) fn unexpected(pair: &Pair<'_, Rule>) -> SyntaxError {
    let at = span(pair);
    SyntaxError::new("this is not expected here", at.start, at.end)
}
