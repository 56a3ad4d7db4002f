//! `PACK`: the evidence in all rows as one text within a budget of tokens.
//!
//! A path is a line (REAL, eq. 9), so is a fact; a node reads as its text, with its speaker and its
//! time. A node without a text says nothing and is left out.

use std::sync::Arc;

use engraph_storage::graph::{Edge, Interval, NodeId};

use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::context::Context;
use crate::context::derived::is_derived;
use crate::error::{Error, Result};
use crate::exec::amount;
use crate::exec::lineage::Joined;
use crate::plan::retrieval::Pack;
use crate::retrieval::pack::{self, Hop, Item, Source, path_text};

pub(super) fn pack(
    clause: &Pack,
    rows: &[Row],
    begin: &Row,
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    let budget = amount(&clause.budget, context)?;
    let mut items = Vec::new();
    // The row of each item.
    let mut places = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        context.work(1)?;
        for slot in &clause.items {
            collect(&row[*slot], &mut items, context)?;
        }
        places.resize(items.len(), place);
    }
    let packed = pack::pack(&items, budget, |text| {
        context.work(1)?;
        Ok::<_, Error>(context.models.count_tokens(text))
    })?;
    let mut row = begin.clone();
    row[clause.text] = Cell::text(&packed.text);
    row[clause.tokens] = whole(packed.tokens);
    row[clause.pieces] = whole(packed.taken.len());
    let mut joined = Joined::default();
    for item in packed.taken {
        joined.add(&rows[places[item]], context);
    }
    joined.finish(&mut row, context)?;
    Ok(vec![row])
}

fn whole(number: usize) -> Cell {
    Cell::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The evidence in a cell.
fn collect(cell: &Cell, items: &mut Vec<Item>, context: &Context<'_>) -> Result<()> {
    match cell {
        Cell::Node(node) => items.extend(turn(*node, context)?),
        Cell::Fact(edge) => items.push(line(edge.head, &[*edge], context)?),
        Cell::Path(path) => items.extend(walked(path, context)?),
        Cell::String(text) => {
            items.push(Item { source: Source::Text, text: text.to_string(), time: None });
        }
        Cell::List(cells) => {
            for cell in cells.iter() {
                collect(cell, items, context)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A node with a text, such as a turn: `Caroline: ...`.
fn turn(node: NodeRef, context: &Context<'_>) -> Result<Option<Item>> {
    let Some(text) = context.passage(node)? else { return Ok(None) };
    let time = match context.node_property(node, "at")? {
        Cell::Timestamp(at) => Some(at),
        _ => None,
    };
    Ok(Some(Item { source: Source::Turn(node.id), text: text.to_string(), time }))
}

fn walked(path: &Arc<PathRef>, context: &Context<'_>) -> Result<Option<Item>> {
    match (path.facts.is_empty(), path.nodes.first()) {
        (true, Some(node)) => turn(*node, context),
        (false, Some(node)) => line(node.id, &path.facts, context).map(Some),
        (_, None) => Ok(None),
    }
}

/// Facts from a node on as a line.
fn line(start: NodeId, facts: &[Edge], context: &Context<'_>) -> Result<Item> {
    let relations: Vec<String> = facts.iter().map(|edge| context.relation_of(edge)).collect();
    let mut at = start;
    let mut names = vec![context.called(at)?];
    let mut forward = Vec::new();
    for edge in facts {
        forward.push(edge.head == at);
        at = if edge.head == at { edge.tail } else { edge.head };
        names.push(context.called(at)?);
    }
    let hops: Vec<Hop<'_>> = facts
        .iter()
        .zip(&forward)
        .zip(&names[1..])
        .zip(&relations)
        .map(|(((edge, is_forward), node), relation)| Hop {
            relation,
            is_forward: *is_forward,
            valid: edge.valid,
            confidence: edge.confidence,
            is_derived: is_derived(edge.fact),
            node,
        })
        .collect();
    let source = match facts {
        [edge] => Source::Fact(edge.fact),
        facts => Source::Path(facts.iter().map(|edge| edge.fact).collect()),
    };
    let begun = facts.iter().map(|edge| edge.valid.from).filter(|from| *from != Interval::MIN);
    Ok(Item { source, text: path_text(&names[0], &hops), time: begun.max() })
}
