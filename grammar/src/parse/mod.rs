//! Pest pairs to the tree: one function per rule, of the same name.
//!
//! No pest type leaves this folder but the rules, which `words` names in messages.

mod define;
pub(crate) mod expr;
mod pattern;
mod query;
mod retrieval;

use pest::Parser as _;
use pest::iterators::Pair;

use crate::ast::{
    Amount, AmountKind, Explain, Expr, Name, Show, Span, Statement, StatementKind, Times,
};
use crate::error::SyntaxError;
use crate::rules::{MemQl, Rule};
use crate::walk::{self, Visit};
use crate::words::{is_mark, syntax_error};
use define::{
    alias, define_index, define_recipe, define_relation, define_rule, dropped, forget_heard,
    observe, remember, split,
};
use expr::{string, sum};
use query::{query, session_set};
use retrieval::train_scorer;

pub(crate) type Result<T> = std::result::Result<T, SyntaxError>;

/// The whole text.
pub(crate) fn script(text: &str) -> Result<Vec<Statement>> {
    let pairs = MemQl::parse(Rule::script, text).map_err(|error| syntax_error(&error, text))?;
    pairs
        .flat_map(Pair::into_inner)
        .filter(|pair| pair.as_rule() != Rule::EOI)
        .map(|pair| shallow(statement(pair)?))
        .collect()
}

/// The statement, unless its expressions nest too deep, those of the queries within them included:
/// whoever walks the tree descends once per level.
fn shallow(mut statement: Statement) -> Result<Statement> {
    let mut levels = Levels { open: 0, too_deep: None };
    levels.statement(&mut statement);
    match levels.too_deep {
        Some(at) => Err(expr::too_deep(at)),
        None => Ok(statement),
    }
}

/// How many expressions are open.
struct Levels {
    open: usize,
    too_deep: Option<Span>,
}

impl Visit for Levels {
    fn expr(&mut self, expr: &mut Expr) {
        if self.open == expr::DEPTH_MAX {
            self.too_deep = Some(expr.span);
            return;
        }
        self.open += 1;
        walk::expr(self, expr);
        self.open -= 1;
    }
}

fn statement(pair: Pair<'_, Rule>) -> Result<Statement> {
    let span = span(&pair);
    let kind = match pair.as_rule() {
        Rule::explain => StatementKind::Explain(explain(pair)?),
        Rule::trace => StatementKind::Trace(query(only(pair)?)?),
        Rule::query => StatementKind::Query(query(pair)?),
        Rule::define_relation => StatementKind::DefineRelation(define_relation(pair)?),
        Rule::define_rule => StatementKind::DefineRule(define_rule(pair)?),
        Rule::define_recipe => StatementKind::DefineRecipe(define_recipe(pair)?),
        Rule::define_index => StatementKind::DefineIndex(define_index(pair)?),
        Rule::train_scorer => StatementKind::TrainScorer(Box::new(train_scorer(pair)?)),
        Rule::drop => StatementKind::Drop(dropped(pair)?),
        Rule::show => StatementKind::Show(show(pair)?),
        Rule::session_set => StatementKind::SessionSet(session_set(pair)?),
        Rule::session_reset => StatementKind::SessionSet(Times::default()),
        Rule::remember => StatementKind::Remember(Box::new(remember(pair)?)),
        Rule::alias => StatementKind::Alias(alias(pair)?),
        Rule::split => StatementKind::Split(split(pair)?),
        Rule::observe => StatementKind::Observe(observe(pair)?),
        Rule::forget_heard => StatementKind::ForgetHeard(forget_heard(pair)?),
        Rule::consolidate => {
            StatementKind::Consolidate(children(pair).next().map(sum).transpose()?)
        }
        Rule::begin => StatementKind::Begin,
        Rule::commit => StatementKind::Commit,
        Rule::rollback => StatementKind::Rollback,
        _ => return Err(unexpected(&pair)),
    };
    Ok(Statement { kind, span })
}

fn explain(pair: Pair<'_, Rule>) -> Result<Explain> {
    let whole = span(&pair);
    let mut explain = (false, false, false);
    for word in pair.clone().into_inner() {
        match word.as_rule() {
            Rule::k_profile => explain.0 = true,
            Rule::k_rules => explain.1 = true,
            Rule::k_json => explain.2 = true,
            _ => {}
        }
    }
    let (profile, rules, json) = explain;
    Ok(Explain { profile, rules, json, query: query(next(&mut children(pair), whole)?)? })
}

fn show(pair: Pair<'_, Rule>) -> Result<Show> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let what = name(next(&mut parts, whole)?)?;
    Ok(Show { what, name: parts.next().map(name).transpose()? })
}

pub(crate) fn amount(pair: Pair<'_, Rule>) -> Result<Amount> {
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
        Rule::variable | Rule::name | Rule::quoted_name | Rule::function_name => name(only(pair)?),
        Rule::plain_name | Rule::dotted_name => {
            Ok(Name { text: pair.as_str().to_owned(), span: span(&pair) })
        }
        Rule::quoted_part => Ok(Name { text: pair.as_str().replace("``", "`"), span: span(&pair) }),
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

/// The pairs inside, keywords and signs left out.
pub(crate) fn children(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    pair.into_inner().filter(|pair| !is_mark(pair.as_rule()))
}

/// The first pair inside that is no keyword and no sign.
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

/// Whether a keyword stands directly inside.
pub(crate) fn says(pair: &Pair<'_, Rule>, keyword: Rule) -> bool {
    pair.clone().into_inner().any(|pair| pair.as_rule() == keyword)
}

/// Sets what may be said once.
pub(crate) fn once<T>(slot: &mut Option<T>, value: T, span: Span) -> Result<()> {
    if slot.is_some() {
        return Err(SyntaxError::new("this is said twice", span.start, span.end)
            .help("keep one of the two"));
    }
    *slot = Some(value);
    Ok(())
}

// The grammar rules out both of these; an error is kinder than a panic should it ever be changed.
pub(crate) fn incomplete(span: Span) -> SyntaxError {
    SyntaxError::new("this is incomplete", span.start, span.end)
}

pub(crate) fn unexpected(pair: &Pair<'_, Rule>) -> SyntaxError {
    let at = span(pair);
    SyntaxError::new("this is not expected here", at.start, at.end)
}
