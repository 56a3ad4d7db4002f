//! Definitions and writes.

use pest::iterators::Pair;

use super::expr::{map, sum};
use super::pattern::{label_filter, node_pattern};
use super::query::query;
use super::{Result, children, name, next, once, only, says, span, unexpected};
use crate::ast::{
    Alias, Cardinality, DefineIndex, DefineRecipe, DefineRelation, DefineRule, Definition,
    Direction, Drop, Expr, FactPattern, ForgetHeard, Name, Observe, Remember, RuleNode, RulePath,
    Split,
};
use crate::error::SyntaxError;
use crate::rules::Rule;

pub(super) fn define_relation(pair: Pair<'_, Rule>) -> Result<DefineRelation> {
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

pub(super) fn remember(pair: Pair<'_, Rule>) -> Result<Remember> {
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

pub(super) fn alias(pair: Pair<'_, Rule>) -> Result<Alias> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let alias = sum(next(&mut parts, whole)?)?;
    Ok(Alias { alias, node: node_pattern(next(&mut parts, whole)?)? })
}

pub(super) fn forget_heard(pair: Pair<'_, Rule>) -> Result<ForgetHeard> {
    let whole = span(&pair);
    let session = says(&pair, Rule::k_session);
    Ok(ForgetHeard { session, id: sum(next(&mut children(pair), whole)?)? })
}

pub(super) fn split(pair: Pair<'_, Rule>) -> Result<Split> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let name = sum(next(&mut parts, whole)?)?;
    Ok(Split { name, node: node_pattern(next(&mut parts, whole)?)? })
}

pub(super) fn observe(pair: Pair<'_, Rule>) -> Result<Observe> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let session = sum(next(&mut parts, whole)?)?;
    let turn = next(&mut parts, whole)?;
    let turn_span = span(&turn);
    Ok(Observe { session, turn: map(turn)?, turn_span })
}

pub(super) fn define_rule(pair: Pair<'_, Rule>) -> Result<DefineRule> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let named = parts.next_if(|pair| pair.as_rule() == Rule::name).map(name).transpose()?;
    let body = rule_path(next(&mut parts, whole)?)?;
    let head = rule_path(next(&mut parts, whole)?)?;
    let family = parts.next_if(|pair| pair.as_rule() == Rule::rule_family);
    let family = family.map(|pair| name(only(pair)?)).transpose()?;
    let confidence = parts.next().map(sum).transpose()?;
    Ok(DefineRule { name: named, body, head, family, confidence, span: whole })
}

fn rule_path(pair: Pair<'_, Rule>) -> Result<RulePath> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let start = rule_node(next(&mut parts, whole)?)?;
    let mut steps = Vec::new();
    while let Some(link) = parts.next() {
        let (relation, direction) = rule_link(link)?;
        steps.push((relation, direction, rule_node(next(&mut parts, whole)?)?));
    }
    Ok(RulePath { start, steps, span: whole })
}

fn rule_node(pair: Pair<'_, Rule>) -> Result<RuleNode> {
    let whole = span(&pair);
    let mut parts = children(pair);
    let variable = name(next(&mut parts, whole)?)?;
    let labels = parts.next().map(label_filter).transpose()?.unwrap_or_default();
    Ok(RuleNode { variable, labels })
}

fn rule_link(pair: Pair<'_, Rule>) -> Result<(Name, Direction)> {
    let whole = span(&pair);
    let text = pair.as_str();
    let direction = match (text.starts_with("<-"), text.ends_with("->")) {
        (true, false) => Direction::In,
        (false, true) => Direction::Out,
        _ => Direction::Both,
    };
    let relation = children(pair).find(|pair| pair.as_rule() == Rule::name);
    Ok((name(next(&mut relation.into_iter(), whole)?)?, direction))
}

pub(super) fn define_recipe(pair: Pair<'_, Rule>) -> Result<DefineRecipe> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let recipe = name(next(&mut parts, whole)?)?;
    let defaults = parts.next_if(|pair| pair.as_rule() == Rule::map).map(map).transpose()?;
    let query = query(next(&mut parts, whole)?)?;
    Ok(DefineRecipe { name: recipe, defaults: defaults.unwrap_or_default(), query })
}

pub(super) fn define_index(pair: Pair<'_, Rule>) -> Result<DefineIndex> {
    let whole = span(&pair);
    let fulltext = says(&pair, Rule::k_fulltext);
    let mut parts = children(pair).peekable();
    let named = parts.next_if(|pair| pair.as_rule() == Rule::name).map(name).transpose()?;
    let node = name(next(&mut parts, whole)?)?;
    let label = name(next(&mut parts, whole)?)?;
    let properties = parts.map(|pair| indexed(pair, &node)).collect::<Result<Vec<_>>>()?;
    if let (false, [_, (second, _), ..]) = (fulltext, properties.as_slice()) {
        let message = "an index of values is one of a single property";
        return Err(SyntaxError::new(message, second.span.start, second.span.end)
            .help("define one for each, or add FULLTEXT for one of their words"));
    }
    let weight = properties.iter().find_map(|(_, weight)| weight.as_ref());
    if let (false, Some(weight)) = (fulltext, weight) {
        let message = "only an index of words has weights";
        return Err(SyntaxError::new(message, weight.span.start, weight.span.end)
            .help("add FULLTEXT, or leave WEIGHT out"));
    }
    Ok(DefineIndex { name: named, label, properties, fulltext, span: whole })
}

/// A property of the index's node, and its weight.
fn indexed(pair: Pair<'_, Rule>, node: &Name) -> Result<(Name, Option<Expr>)> {
    let at = span(&pair);
    let mut parts = children(pair);
    let of = name(next(&mut parts, at)?)?;
    if of.text != node.text {
        let message = format!("`{}` is not the node of the index", of.text);
        return Err(SyntaxError::new(message, of.span.start, of.span.end)
            .help(format!("write ({}.property)", node.text)));
    }
    Ok((name(next(&mut parts, at)?)?, parts.next().map(sum).transpose()?))
}

pub(super) fn dropped(pair: Pair<'_, Rule>) -> Result<Drop> {
    let kind = match () {
        () if says(&pair, Rule::k_rule) => Definition::Rule,
        () if says(&pair, Rule::k_recipe) => Definition::Recipe,
        () if says(&pair, Rule::k_scorer) => Definition::Scorer,
        () => Definition::Index,
    };
    Ok(Drop { kind, name: name(only(pair)?)? })
}
