//! Patterns: nodes, relations, paths and how they are searched.

use pest::iterators::Pair;

use super::expr::{expression, map, sum};
use super::{
    Result, amount, children, incomplete, name, next, number, once, only, says, span, unexpected,
};
use crate::ast::{
    Amount, AmountKind, Direction, Hops, Name, NodePattern, PathMode, PathPattern, PathSearch,
    PathTime, RelationPattern, Span,
};
use crate::error::SyntaxError;
use crate::rules::Rule;

pub(super) fn path_pattern(pair: Pair<'_, Rule>) -> Result<PathPattern> {
    let whole = span(&pair);
    let (mut variable, mut search, mut mode, mut time) = (None, None, None, None);
    let mut chain = None;
    let mut parts = Vec::new();
    for pair in children(pair) {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::variable => variable = Some(name(pair)?),
            Rule::path_search => once(&mut search, path_search(only(pair)?)?, at)?,
            Rule::path_mode => once(&mut mode, path_mode(&pair), at)?,
            Rule::path_time => once(&mut time, path_time(&pair), at)?,
            Rule::shortest_call => {
                once(&mut search, shortest_call(&pair), at)?;
                chain = Some(nodes_and_relations(children(pair), at)?);
            }
            _ => parts.push(pair),
        }
    }
    let (start, steps) = match chain {
        Some(chain) => chain,
        None => nodes_and_relations(parts.into_iter(), whole)?,
    };
    Ok(PathPattern { variable, search, mode, time, span: whole, start, steps })
}

/// A node, and each relation with the node after it.
type Chain = (NodePattern, Vec<(RelationPattern, NodePattern)>);

/// A pattern within an expression.
pub(super) fn path_value(pair: Pair<'_, Rule>) -> Result<PathPattern> {
    let whole = span(&pair);
    let (start, steps) = nodes_and_relations(children(pair), whole)?;
    Ok(PathPattern {
        variable: None,
        search: None,
        mode: None,
        time: None,
        span: whole,
        start,
        steps,
    })
}

fn nodes_and_relations<'i>(
    mut parts: impl Iterator<Item = Pair<'i, Rule>>,
    whole: Span,
) -> Result<Chain> {
    let start = node_pattern(next(&mut parts, whole)?)?;
    let mut steps = Vec::new();
    while let Some(relation) = parts.next() {
        steps.push((relation_pattern(relation)?, node_pattern(next(&mut parts, whole)?)?));
    }
    Ok((start, steps))
}

fn path_search(pair: Pair<'_, Rule>) -> Result<PathSearch> {
    let (rule, at) = (pair.as_rule(), span(&pair));
    let (mut count, mut cost) = (None, None);
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::amount => count = Some(amount(pair)?),
            _ => cost = Some(Box::new(sum(pair)?)),
        }
    }
    let count = count.unwrap_or(Amount { kind: AmountKind::Literal(1), span: at });
    Ok(match (rule, cost) {
        (Rule::cheapest, Some(cost)) => PathSearch::Cheapest(count, cost),
        (Rule::all_shortest | Rule::shortest_groups, _) => PathSearch::Groups(count),
        (Rule::any_shortest | Rule::shortest, _) => PathSearch::Shortest(count),
        (Rule::any_paths, _) => PathSearch::Any(count),
        _ => PathSearch::All,
    })
}

fn shortest_call(pair: &Pair<'_, Rule>) -> PathSearch {
    let one = Amount { kind: AmountKind::Literal(1), span: span(pair) };
    match says(pair, Rule::k_shortest_path) {
        true => PathSearch::Shortest(one),
        false => PathSearch::Groups(one),
    }
}

fn path_mode(pair: &Pair<'_, Rule>) -> PathMode {
    match () {
        () if says(pair, Rule::k_walk) => PathMode::Walk,
        () if says(pair, Rule::k_acyclic) => PathMode::Acyclic,
        () if says(pair, Rule::k_simple) => PathMode::Simple,
        () => PathMode::Trail,
    }
}

fn path_time(pair: &Pair<'_, Rule>) -> PathTime {
    match says(pair, Rule::k_chronological) {
        true => PathTime::Chronological,
        false => PathTime::Simultaneous,
    }
}

pub(super) fn node_pattern(pair: Pair<'_, Rule>) -> Result<NodePattern> {
    let mut node = NodePattern {
        variable: None,
        labels: Vec::new(),
        key: None,
        properties: Vec::new(),
        condition: None,
        span: span(&pair),
    };
    for pair in children(pair) {
        match pair.as_rule() {
            Rule::variable => node.variable = Some(name(pair)?),
            Rule::label_filter => node.labels = label_filter(pair)?,
            Rule::node_key => node.key = Some(sum(only(pair)?)?),
            Rule::map => node.properties = map(pair)?,
            Rule::where_clause => node.condition = Some(Box::new(expression(only(pair)?)?)),
            _ => return Err(unexpected(&pair)),
        }
    }
    Ok(node)
}

pub(super) fn label_filter(pair: Pair<'_, Rule>) -> Result<Vec<Name>> {
    children(pair).map(name).collect()
}

fn relation_pattern(pair: Pair<'_, Rule>) -> Result<RelationPattern> {
    let mut relation = RelationPattern {
        variable: None,
        relations: Vec::new(),
        direction: Direction::Both,
        hops: None,
        properties: Vec::new(),
        condition: None,
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
            Rule::where_clause => relation.condition = Some(Box::new(expression(only(pair)?)?)),
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
