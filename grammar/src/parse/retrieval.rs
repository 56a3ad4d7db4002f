//! The retrieval clauses, the parts of a beam, and the training of scorers.

use std::iter::Peekable;

use pest::iterators::Pair;

use super::expr::{expression, sum};
use super::pattern::label_filter;
use super::query::{query, time};
use super::{Result, amount, children, name, next, once, only, says, span, unexpected};
use crate::ast::{
    Activate, Admit, Among, Amount, Anchor, Beam, BySignals, Expr, Generate, ModelName,
    ModelNameKind, Name, Pack, Reconstruct, Repair, Represent, Rerank, Search, SearchMode, Span,
    Times, TrainScorer,
};
use crate::error::SyntaxError;
use crate::rules::Rule;

pub(super) fn search(pair: Pair<'_, Rule>) -> Result<Search> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let (variable, labels, query) = finding(&mut parts, whole)?;
    let by = parts.next_if(|pair| pair.as_rule() == Rule::search_by);
    let By { mode, weights, signals } = by.map(search_by).transpose()?.unwrap_or_default();
    let top = amount(next(&mut parts, whole)?)?;
    Ok(Search {
        variable,
        labels,
        query,
        mode,
        weights,
        signals,
        top,
        among: among(parts)?,
        span: whole,
    })
}

/// `n:Label FOR e`: the name, the labels, the text.
fn finding<'i>(
    parts: &mut Peekable<impl Iterator<Item = Pair<'i, Rule>>>,
    whole: Span,
) -> Result<(Name, Vec<Name>, Expr)> {
    let variable = name(next(parts, whole)?)?;
    let labels = parts.next_if(|pair| pair.as_rule() == Rule::label_filter);
    let labels = labels.map(label_filter).transpose()?.unwrap_or_default();
    Ok((variable, labels, expression(next(parts, whole)?)?))
}

/// `MODEL m`, if it is there.
fn by_model<'i>(
    parts: &mut Peekable<impl Iterator<Item = Pair<'i, Rule>>>,
) -> Result<Option<ModelName>> {
    let Some(pair) = parts.next_if(|pair| pair.as_rule() == Rule::by_model) else {
        return Ok(None);
    };
    let inner = only(only(pair)?)?;
    let span = span(&inner);
    let kind = match inner.as_rule() {
        Rule::parameter => ModelNameKind::Parameter(name(only(inner)?)?.text),
        _ => ModelNameKind::Name(name(inner)?.text),
    };
    Ok(Some(ModelName { kind, span }))
}

/// How it searches, and the weights.
#[derive(Default)]
struct By {
    mode: Option<SearchMode>,
    weights: Vec<(Name, Expr)>,
    signals: Option<BySignals>,
}

fn search_by(pair: Pair<'_, Rule>) -> Result<By> {
    let mode = match () {
        () if says(&pair, Rule::k_signals) => {
            return Ok(By { signals: Some(by_signals(pair)?), ..By::default() });
        }
        () if says(&pair, Rule::k_text) => SearchMode::Text,
        () if says(&pair, Rule::k_vector) => SearchMode::Vector,
        () => SearchMode::Hybrid,
    };
    let weights = children(pair).next().map(factors).transpose()?.unwrap_or_default();
    Ok(By { mode: Some(mode), weights, signals: None })
}

fn by_signals(pair: Pair<'_, Rule>) -> Result<BySignals> {
    let mut by = BySignals { weights: None, without: None };
    for part in children(pair) {
        match part.as_rule() {
            Rule::without => by.without = Some(sum(only(part)?)?),
            _ => by.weights = Some(sum(only(part)?)?),
        }
    }
    Ok(by)
}

/// `text 0.4, vector 0.6`.
fn factors(pair: Pair<'_, Rule>) -> Result<Vec<(Name, Expr)>> {
    children(pair)
        .map(|factor| {
            let whole = span(&factor);
            let mut parts = children(factor);
            Ok((name(next(&mut parts, whole)?)?, sum(next(&mut parts, whole)?)?))
        })
        .collect()
}

fn among<'i>(parts: impl Iterator<Item = Pair<'i, Rule>>) -> Result<Among> {
    let mut among = Among::default();
    for pair in parts {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::valid_time | Rule::system_time => time(pair, &mut among.times)?,
            Rule::confidence_floor => once(&mut among.confidence, sum(only(pair)?)?, at)?,
            Rule::where_clause => once(&mut among.condition, expression(only(pair)?)?, at)?,
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(among)
}

pub(super) fn generate(pair: Pair<'_, Rule>) -> Result<Generate> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let (variable, labels, question) = finding(&mut parts, whole)?;
    let width = amount(next(&mut parts, whole)?)?;
    let model = by_model(&mut parts)?;
    Ok(Generate { variable, labels, question, width, model, among: among(parts)?, span: whole })
}

pub(super) fn anchor(pair: Pair<'_, Rule>) -> Result<Anchor> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let (variable, labels, question) = finding(&mut parts, whole)?;
    let top = parts.next_if(|pair| pair.as_rule() == Rule::amount).map(amount).transpose()?;
    Ok(Anchor { variable, labels, question, top, among: among(parts)?, span: whole })
}

pub(super) fn activate(pair: Pair<'_, Rule>) -> Result<Activate> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let mut clause = Activate {
        variable: name(next(&mut parts, whole)?)?,
        from: name(next(&mut parts, whole)?)?,
        weight: None,
        relations: Vec::new(),
        hops: None,
        temperature: None,
        sample: None,
        top: None,
        times: Times::default(),
        confidence: None,
        span: whole,
    };
    for pair in parts {
        activate_part(pair, &mut clause)?;
    }
    match (&clause.sample, &clause.top) {
        (Some(_), Some(top)) => {
            let message = "either the most active nodes are wanted, or some that are drawn";
            Err(SyntaxError::new(message, top.span.start, top.span.end)
                .help("keep either TOP or SAMPLE"))
        }
        _ => Ok(clause),
    }
}

fn activate_part(pair: Pair<'_, Rule>, clause: &mut Activate) -> Result<()> {
    let at = span(&pair);
    match pair.as_rule() {
        Rule::relevance_by => once(&mut clause.weight, expression(only(pair)?)?, at)?,
        Rule::name => clause.relations.push(name(pair)?),
        Rule::hops_count => once(&mut clause.hops, amount(only(pair)?)?, at)?,
        Rule::temperature => once(&mut clause.temperature, sum(only(pair)?)?, at)?,
        Rule::top_count => once(&mut clause.top, amount(only(pair)?)?, at)?,
        Rule::sample_size => {
            let mut parts = children(pair).map(amount);
            let mut part = || parts.next().unwrap_or_else(|| Err(super::incomplete(at)));
            once(&mut clause.sample, (part()?, part()?), at)?;
        }
        Rule::valid_time | Rule::system_time => time(pair, &mut clause.times)?,
        Rule::confidence_floor => once(&mut clause.confidence, sum(only(pair)?)?, at)?,
        _ => return Err(unexpected(&pair)),
    }
    Ok(())
}

pub(super) fn represent(pair: Pair<'_, Rule>) -> Result<Represent> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let variable = name(next(&mut parts, whole)?)?;
    let from = name(next(&mut parts, whole)?)?;
    let relevance = parts.next_if(|pair| pair.as_rule() == Rule::relevance_by);
    let relevance = relevance.map(|pair| expression(only(pair)?)).transpose()?;
    let coverage = sum(next(&mut parts, whole)?)?;
    let alpha = parts.next_if(|pair| pair.as_rule() == Rule::coverage_weight);
    let alpha = alpha.map(|pair| sum(only(pair)?)).transpose()?;
    let neighbours = parts.next_if(|pair| pair.as_rule() == Rule::neighbour_count);
    let neighbours = neighbours.map(|pair| amount(only(pair)?)).transpose()?;
    let budget = parts.next().map(amount).transpose()?;
    Ok(Represent { variable, from, relevance, coverage, alpha, neighbours, budget, span: whole })
}

pub(super) fn rerank(pair: Pair<'_, Rule>) -> Result<Rerank> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let variable = name(next(&mut parts, whole)?)?;
    let question = expression(next(&mut parts, whole)?)?;
    let model = by_model(&mut parts)?;
    let boosts = parts.next_if(|pair| pair.as_rule() == Rule::boosts);
    let boosts = boosts.map(factors).transpose()?.unwrap_or_default();
    let top = amount(next(&mut parts, whole)?)?;
    Ok(Rerank { variable, question, model, boosts, top, span: whole })
}

pub(super) fn reconstruct(pair: Pair<'_, Rule>) -> Result<Reconstruct> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let (variable, _, question) = finding(&mut parts, whole)?;
    let turns = parts.next_if(|pair| pair.as_rule() == Rule::turns_count);
    let turns = turns.map(|pair| amount(only(pair)?)).transpose()?;
    let calls = parts.next_if(|pair| pair.as_rule() == Rule::calls_count);
    let calls = calls.map(|pair| amount(only(pair)?)).transpose()?;
    let model = by_model(&mut parts)?;
    let without = parts.next_if(|pair| pair.as_rule() == Rule::without);
    let without = without.map(|pair| sum(only(pair)?)).transpose()?;
    let among = among(parts)?;
    Ok(Reconstruct { variable, question, turns, calls, model, without, among, span: whole })
}

pub(super) fn admit(pair: Pair<'_, Rule>) -> Result<Admit> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let variable = name(next(&mut parts, whole)?)?;
    let from = name(next(&mut parts, whole)?)?;
    let given = parts.next_if(|pair| pair.as_rule() == Rule::given);
    let given = given.map(|pair| children(pair).map(name).collect()).transpose()?;
    let question = expression(next(&mut parts, whole)?)?;
    let model = by_model(&mut parts)?;
    let threshold = parts.next_if(|pair| pair.as_rule() == Rule::least_fall);
    let threshold = threshold.map(|pair| sum(only(pair)?)).transpose()?;
    let budget = parts.next().map(amount).transpose()?;
    let given = given.unwrap_or_default();
    Ok(Admit { variable, from, given, question, model, threshold, budget, span: whole })
}

pub(super) fn pack(pair: Pair<'_, Rule>) -> Result<Pack> {
    let whole = span(&pair);
    let (names, rest): (Vec<_>, Vec<_>) =
        children(pair).partition(|pair| pair.as_rule() == Rule::variable);
    let names = names.into_iter().map(name).collect::<Result<_>>()?;
    Ok(Pack { names, budget: amount(next(&mut rest.into_iter(), whole)?)?, span: whole })
}

/// What is said of a beam, in any order.
#[derive(Default)]
pub(super) struct BeamParts {
    width: Option<Amount>,
    expand: Option<Amount>,
    depth: Option<Amount>,
    scores: Option<Vec<Expr>>,
    repair: Option<Repair>,
}

impl BeamParts {
    pub(super) fn take(&mut self, pair: Pair<'_, Rule>) -> Result<()> {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::beam_width => once(&mut self.width, amount(only(pair)?)?, at),
            Rule::expand_width => once(&mut self.expand, amount(only(pair)?)?, at),
            Rule::beam_depth => once(&mut self.depth, amount(only(pair)?)?, at),
            Rule::score_by => {
                let scores = children(pair).map(expression).collect::<Result<_>>()?;
                once(&mut self.scores, scores, at)
            }
            _ => once(&mut self.repair, repair(pair)?, at),
        }
    }

    pub(super) fn whole(self, whole: Span) -> Result<Option<Beam>> {
        let fail = |message: &str, span: Span, help: &str| {
            Err(SyntaxError::new(message, span.start, span.end).help(help))
        };
        match (self.width, self.scores) {
            (Some(width), Some(scores)) => {
                let BeamParts { expand, depth, repair, .. } = self;
                Ok(Some(Beam { width, expand, depth, scores, repair }))
            }
            (Some(width), None) => fail(
                "BEAM needs a score to order its paths",
                width.span,
                "add SCORE BY similarity(p, $question) after the pattern",
            ),
            (None, scores) => {
                let said = [
                    ("EXPAND", self.expand.map(|amount| amount.span)),
                    ("DEPTH", self.depth.map(|amount| amount.span)),
                    ("REPAIR", self.repair.map(|repair| repair.span)),
                    ("SCORE BY", scores.map(|_| whole)),
                ];
                match said.into_iter().find_map(|(word, span)| Some((word, span?))) {
                    Some((word, span)) => fail(
                        &format!("{word} belongs to a beam"),
                        span,
                        "write MATCH BEAM 5 p = ...",
                    ),
                    None => Ok(None),
                }
            }
        }
    }
}

fn repair(pair: Pair<'_, Rule>) -> Result<Repair> {
    let mut repair = Repair { rules: Vec::new(), when: None, span: span(&pair) };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::repair_when => repair.when = Some(expression(only(pair)?)?),
            _ => repair.rules.push(name(pair)?),
        }
    }
    Ok(repair)
}

pub(super) fn train_scorer(pair: Pair<'_, Rule>) -> Result<TrainScorer> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let scorer = name(next(&mut parts, whole)?)?;
    let examples = query(next(&mut parts, whole)?)?;
    let seed = parts.next().map(|pair| amount(only(pair)?)).transpose()?;
    Ok(TrainScorer { name: scorer, query: examples, seed, span: whole })
}
