//! `PACK`: the evidence in all rows as one text within a budget of tokens.
//!
//! A path is a line (REAL, eq. 9), so is a fact; a node reads as its text, with its speaker and its
//! time. A node without a text says nothing and is left out.

use engraph_storage::graph::{Edge, Interval, NodeId};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::context::derived::is_derived;
use crate::error::{Diagnostic, Error, Result};
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
    let mut found = Found::default();
    // The row of each item.
    let mut places = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        context.work(1)?;
        for slot in &clause.items {
            found.collect(&row[*slot], context)?;
        }
        places.resize(found.items.len(), place);
    }
    let packed = pack::pack(&found.items, budget, |text| {
        context.work(1)?;
        Ok::<_, Error>(context.models.count_tokens_up_to(text, budget))
    })?;
    if let Some(item) = packed.best_left_out {
        context.run.warn(too_long(clause, budget, &found.sources(item, context)?));
    }
    let mut row = begin.clone();
    row[clause.text] = Cell::text(&packed.text);
    row[clause.tokens] = whole(packed.tokens);
    row[clause.pieces] = whole(packed.taken.len());
    let sources = packed.taken.iter().map(|item| found.sources(*item, context));
    row[clause.sources] = Cell::list(sources.collect::<Result<_>>()?);
    let mut joined = Joined::default();
    for item in packed.taken {
        joined.add(&rows[places[item]], context);
    }
    joined.finish(&mut row, context)?;
    Ok(vec![row])
}

/// Says that the best of the evidence is longer than the whole budget.
fn too_long(clause: &Pack, budget: usize, sources: &Cell) -> Diagnostic {
    let of = match sources {
        Cell::List(keys) if !keys.is_empty() => format!("; it is of {sources}"),
        _ => String::new(),
    };
    let message = format!(
        "the best evidence is left out, as it alone has more than {budget} tokens with its time{of}"
    );
    Diagnostic::at(clause.budget.span, message)
        .help("give more tokens, or ask without PACK and BUDGET for its text")
}

fn whole(number: usize) -> Cell {
    Cell::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Evidence as it was found.
#[derive(Default)]
struct Found {
    items: Vec<Item>,
    /// The facts of each item.
    facts: Vec<Vec<Edge>>,
}

impl Found {
    fn add(&mut self, item: Item, facts: &[Edge]) {
        self.items.push(item);
        self.facts.push(facts.to_vec());
    }

    /// Adds the evidence in a cell.
    fn collect(&mut self, cell: &Cell, context: &Context<'_>) -> Result<()> {
        match cell {
            Cell::Node(node) => self.node(*node, context)?,
            Cell::Fact(edge) => self.add(line(edge.head, &[*edge], context)?, &[*edge]),
            Cell::Path(path) => match (path.facts.is_empty(), path.nodes.first()) {
                (true, Some(node)) => self.node(*node, context)?,
                (false, Some(node)) => {
                    self.add(line(node.id, &path.facts, context)?, &path.facts);
                }
                (_, None) => {}
            },
            Cell::String(text) => {
                let text = text.to_string();
                let item = Item { source: Source::Text, text, time: None, place: 0 };
                self.add(item, &[]);
            }
            Cell::List(cells) => {
                for cell in cells.iter() {
                    self.collect(cell, context)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn node(&mut self, node: NodeRef, context: &Context<'_>) -> Result<()> {
        if let Some(item) = turn(node, context)? {
            self.add(item, &[]);
        }
        Ok(())
    }

    /// What bears out an item: the key of its node, or the sources of its facts, each once.
    fn sources(&self, item: usize, context: &Context<'_>) -> Result<Cell> {
        let mut keys: Vec<Cell> = Vec::new();
        if let Source::Turn(node) = self.items[item].source {
            keys.push(Cell::text(&context.called(node)?));
        }
        for edge in &self.facts[item] {
            if let Cell::List(sources) = context.fact_property(edge, "sources")? {
                for source in sources.iter() {
                    if !keys.contains(source) {
                        keys.push(source.clone());
                    }
                }
            }
        }
        Ok(Cell::list(keys))
    }
}

/// A node with a text, such as a turn: `Caroline: ...`.
fn turn(node: NodeRef, context: &Context<'_>) -> Result<Option<Item>> {
    let Some(text) = context.passage(node)? else { return Ok(None) };
    let time = match context.node_property(node, "at")? {
        Cell::Timestamp(at) => Some(at),
        _ => None,
    };
    let place = match context.node_property(node, "position")? {
        Cell::Int(position) => position,
        _ => 0,
    };
    Ok(Some(Item { source: Source::Turn(node.id), text: text.to_string(), time, place }))
}

/// Facts from a node on as a line.
fn line(start: NodeId, facts: &[Edge], context: &Context<'_>) -> Result<Item> {
    let relations: Vec<String> = facts.iter().map(|edge| context.relation_of(edge)).collect();
    let mut at = start;
    let mut names = vec![context.called(at)?];
    let mut forward = Vec::new();
    for edge in facts {
        forward.push(edge.head == at);
        at = edge.beyond(at);
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
    Ok(Item { source, text: path_text(&names[0], &hops), time: begun.max(), place: 0 })
}
