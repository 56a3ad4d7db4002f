//! `SEARCH`: the nodes nearest to a text by their words, by their meaning, or by both.
//!
//! Conditions hold inside the search: a node that fails them takes no place among the best.

use std::collections::HashMap;
use std::sync::Arc;

use engraph_grammar::ast::{SearchMode, Span};
use engraph_storage::graph::{IndexDefinition, LabelId, NodeId};

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Error, Result};
use crate::exec::retrieval::finding::{Gate, Listed, groups, question, vector, warm};
use crate::exec::{candidates, eval};
use crate::neural::dot;
use crate::plan::retrieval::Search;
use crate::retrieval::fusion::{Contribution, Fused, Leg, reciprocal_rank, weighted};

/// What each leg of a hybrid search finds before the two are fused: so many times what is wanted,
/// and no fewer than this.
const POOL: (usize, usize) = (4, 100);
const WORD: &str = "SEARCH";

pub(super) fn search(clause: &Search, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
    let top = candidates(&clause.top, "TOP", context)?;
    if clause.mode != SearchMode::Text {
        warm(&clause.finding.question, WORD, rows, context)?;
    }
    if clause.bound {
        return among(clause, rows, top, context);
    }
    let mut found = Vec::new();
    for row in rows {
        let asked = Asked::new(clause, row, context)?;
        let fused = asked.fused(clause, top)?;
        let before = found.len();
        for hit in fused {
            if found.len() - before == top {
                break;
            }
            found.extend(asked.row(hit.id, &hit.legs, hit.score)?);
        }
        context.rows(found.len())?;
    }
    Ok(found)
}

/// The search of one row.
struct Asked<'a> {
    clause: &'a Search,
    row: &'a Row,
    context: &'a Context<'a>,
    text: Arc<str>,
    gate: Gate<'a>,
    /// The only nodes that may count, where indexes name them.
    listed: Option<Listed>,
}

impl<'a> Asked<'a> {
    fn new(clause: &'a Search, row: &'a Row, context: &'a Context<'a>) -> Result<Self> {
        let text = question(&clause.finding.question, WORD, row, context)?;
        let mut own = vec![clause.score];
        own.extend(clause.legs);
        let gate = match clause.bound {
            true => Gate::of_one(&clause.finding, &own, row, context)?,
            false => Gate::new(&clause.finding, &own, row, context)?,
        };
        // Words are looked up in an index of their own.
        let listed = match clause.bound || clause.mode == SearchMode::Text {
            true => None,
            false => gate.listed()?,
        };
        Ok(Self { clause, row, context, text, gate, listed })
    }

    /// What is found, best first. Where something is asked of the scores, that is asked of as many
    /// as a search may find, and of a hybrid one's pool.
    fn fused(&self, clause: &Search, top: usize) -> Result<Vec<Fused<NodeId>>> {
        let pool = top.saturating_mul(POOL.0).max(POOL.1);
        let top = match self.gate.asks_what_is_found() {
            true => self.context.limits().candidates_max,
            false => top,
        };
        match clause.mode {
            SearchMode::Text => Ok(alone(0, self.by_words(top)?)),
            SearchMode::Vector => Ok(alone(1, self.by_meaning(top)?)),
            SearchMode::Hybrid => {
                let legs = [self.by_words(pool)?, self.by_meaning(pool)?];
                Ok(fuse(weights(clause, self.row, self.context)?, legs))
            }
        }
    }

    fn by_words(&self, top: usize) -> Result<Vec<(NodeId, f64)>> {
        let (reader, system) = (self.context.reader, self.gate.filter.system);
        let mut hits = Vec::new();
        for index in indexes(self.clause, self.context)? {
            let is_listed =
                |node: &NodeId| self.listed.as_ref().is_none_or(|all| all.contains_key(node));
            let mut accept =
                |node| if is_listed(&node) { self.gate.admits(node) } else { Ok(false) };
            hits.extend(reader.search_text(index, &self.text, system, top, &mut accept)?);
        }
        Ok(hits.into_iter().map(|(score, node)| (node, score)).collect())
    }

    fn by_meaning(&self, top: usize) -> Result<Vec<(NodeId, f64)>> {
        let question = vector(&self.text, self.context)?;
        let system = self.gate.filter.system;
        let mut accept = |node| self.gate.admits(node);
        let hits = match &self.listed {
            Some(listed) => {
                let nodes = listed.iter().map(|(node, label)| (*node, *label));
                self.context.nearest_of(nodes, system, &question, top, &mut accept)?
            }
            None => {
                let labels = self.clause.finding.labels.as_deref();
                self.context.nearest(labels, system, &question, top, &mut accept)?
            }
        };
        Ok(hits.into_iter().map(|(score, node)| (node, f64::from(score))).collect())
    }

    /// The row with a node and what was found out about it, if that is what is asked for.
    fn row(&self, node: NodeId, legs: &[Option<Contribution>], score: f64) -> Result<Option<Row>> {
        let mut row = self.row.clone();
        row[self.clause.finding.node] = self.gate.node(node);
        fill(self.clause, &mut row, legs, score)?;
        Ok(self.gate.keeps(&row)?.then_some(row))
    }
}

/// What one leg alone has found.
fn alone<I: Copy + Ord>(leg: usize, hits: Vec<(I, f64)>) -> Vec<Fused<I>> {
    let mut fused = reciprocal_rank(&[Leg { hits, weight: 1.0 }]);
    for hit in &mut fused {
        let own = hit.legs.pop().flatten();
        hit.score = own.as_ref().map_or(0.0, |own| own.score);
        hit.legs = vec![None, None];
        hit.legs[leg] = own;
    }
    fused
}

/// Both legs as one list.
fn fuse<I: Copy + Ord>(
    weights: Option<(f64, f64)>,
    [words, meaning]: [Vec<(I, f64)>; 2],
) -> Vec<Fused<I>> {
    let (by_words, by_meaning) = weights.unwrap_or((1.0, 1.0));
    let legs = [Leg { hits: words, weight: by_words }, Leg { hits: meaning, weight: by_meaning }];
    if weights.is_some() { weighted(&legs) } else { reciprocal_rank(&legs) }
}

/// What each leg counts, if the clause says so.
fn weights(clause: &Search, row: &Row, context: &Context<'_>) -> Result<Option<(f64, f64)>> {
    let weight = |expr| {
        let cell = eval::eval(expr, row, context)?;
        cell.number().filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
            Diagnostic::at(expr.span, "a weight is a number that is not negative").execute()
        })
    };
    let said = clause.weights.as_ref();
    said.map(|(words, meaning)| Ok((weight(words)?, weight(meaning)?))).transpose()
}

/// Fills the slots of what was found.
fn fill(clause: &Search, row: &mut Row, legs: &[Option<Contribution>], score: f64) -> Result<()> {
    let weighed = clause.weights.as_ref().map(|(words, _)| words.span);
    let span = weighed.unwrap_or(clause.finding.question.span);
    row[clause.score] = eval::finite(score, span)?;
    let [text_score, vector_score, text_rank, vector_rank] = clause.legs;
    for (leg, score, rank) in [(0, text_score, text_rank), (1, vector_score, vector_rank)] {
        let found = legs.get(leg).and_then(Option::as_ref);
        row[score] = found.map_or(Cell::Null, |found| Cell::Float(found.score));
        let place = found.and_then(|found| i64::try_from(found.rank).ok());
        row[rank] = place.map_or(Cell::Null, Cell::Int);
    }
    Ok(())
}

/// The best of nodes that are bound already, over all rows of which the legs count alike.
fn among(clause: &Search, rows: &[Row], top: usize, context: &Context<'_>) -> Result<Vec<Row>> {
    let mut found = Vec::new();
    for (weights, places) in groups(rows, |row| weights(clause, row, context), context)? {
        let [words, meaning] = legs_of(clause, rows, &places, context)?;
        let fused = match clause.mode {
            SearchMode::Text => alone(0, words),
            SearchMode::Vector => alone(1, meaning),
            SearchMode::Hybrid => fuse(weights, [words, meaning]),
        };
        let before = found.len();
        for hit in fused {
            if found.len() - before == top {
                break;
            }
            let mut row = rows[hit.id].clone();
            fill(clause, &mut row, &hit.legs, hit.score)?;
            let keeps = Asked::new(clause, &rows[hit.id], context)?.gate.keeps(&row)?;
            found.extend(keeps.then_some(row));
        }
    }
    Ok(found)
}

/// What each leg gives for the nodes of these rows.
fn legs_of(
    clause: &Search,
    rows: &[Row],
    places: &[usize],
    context: &Context<'_>,
) -> Result<[Vec<(usize, f64)>; 2]> {
    let indexes = match clause.mode {
        _ if places.is_empty() => Vec::new(),
        SearchMode::Vector => Vec::new(),
        SearchMode::Text | SearchMode::Hybrid => indexes(clause, context)?,
    };
    let mut legs = [Vec::new(), Vec::new()];
    // A question is read once for all nodes that it is asked of.
    let mut by_words: HashMap<_, Vec<(usize, NodeId)>> = HashMap::new();
    for place in places.iter().copied() {
        let Cell::Node(node) = rows[place][clause.finding.node] else { continue };
        let asked = Asked::new(clause, &rows[place], context)?;
        if !asked.gate.admits(node.id)? {
            continue;
        }
        let label = context.node(node)?.label;
        if indexes.iter().any(|index| index.label == label) {
            let question = (Arc::clone(&asked.text), asked.gate.filter.system, label);
            by_words.entry(question).or_default().push((place, node.id));
        }
        if clause.mode != SearchMode::Text {
            let question = vector(&asked.text, context)?;
            legs[1].extend(asked.cosine(&question, node.id, label)?.map(|score| (place, score)));
        }
    }
    for ((text, system, label), asked) in by_words {
        let nodes: Vec<NodeId> = asked.iter().map(|(_, node)| *node).collect();
        let Some(index) = indexes.iter().find(|index| index.label == label) else { continue };
        let scores = context.reader.score_text(index, &text, system, &nodes)?;
        let scored = asked.iter().zip(scores).filter(|(_, score)| *score > 0.0);
        legs[0].extend(scored.map(|((place, _), score)| (*place, score)));
    }
    legs[0].sort_unstable_by_key(|(place, _)| *place);
    Ok(legs)
}

impl Asked<'_> {
    /// How near the meaning of a node is; none if it has no embedding.
    fn cosine(&self, question: &[f32], node: NodeId, label: LabelId) -> Result<Option<f64>> {
        let held = self.context.reader.vector(label, node, self.gate.filter.system)?;
        let Some(held) = held else { return Ok(None) };
        let span = self.clause.finding.question.span;
        match question.len() == held.len() {
            true => Ok(Some(f64::from(dot(question, &held)))),
            false => Err(other_length(span, question.len(), held.len())),
        }
    }
}

/// The full-text indexes of the labels.
fn indexes<'c>(clause: &Search, context: &Context<'c>) -> Result<Vec<&'c IndexDefinition>> {
    let reader = &context.reader;
    let Some(labels) = &clause.finding.labels else {
        let mut indexes = Vec::new();
        for index in reader.catalog().indexes().filter(|index| index.text_fields().is_some()) {
            indexes.extend(reader.text_index(index.label)?);
        }
        return match indexes.is_empty() {
            true => Err(no_index(clause, "Label")),
            false => Ok(indexes),
        };
    };
    let index = |label: &LabelId| {
        let index = reader.text_index(*label)?;
        index.ok_or_else(|| no_index(clause, reader.catalog().label_name(*label)))
    };
    labels.iter().map(index).collect()
}

fn no_index(clause: &Search, label: &str) -> Error {
    let what = match clause.finding.labels {
        Some(_) => format!("the words of {label} are not indexed"),
        None => "no words are indexed".to_owned(),
    };
    Diagnostic::at(clause.finding.question.span, what)
        .help(format!("DEFINE INDEX FOR (n:{label}) ON (n.text) FULLTEXT; or search BY VECTOR"))
        .execute()
}

fn other_length(span: Span, question: usize, held: usize) -> Error {
    let message = format!("the query has {question} dimensions, and an embedding {held}");
    Diagnostic::at(span, message)
        .help("open the database with the model that made its embeddings")
        .execute()
}
