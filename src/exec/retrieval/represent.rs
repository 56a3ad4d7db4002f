//! `REPRESENT`: the nodes that stand for the others, by coverage of a graph of neighbours.
//!
//! Nodes are compared by their embeddings; one without stands for itself alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use engraph_storage::graph::NodeId;

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::retrieval::finding::{groups, said};
use crate::exec::{candidates, eval, share};
use crate::neural::dot;
use crate::plan::retrieval::Represent;
use crate::retrieval::represent::{ALPHA, Aim, CANDIDATES_MAX, NEIGHBOURS, Pick, represent_by};

/// A node that may stand for others.
struct Candidate {
    /// The first row that has it.
    row: usize,
    relevance: f64,
    vector: Option<Arc<[f32]>>,
}

pub(super) fn represent(
    clause: &Represent,
    rows: Vec<Row>,
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    let budget = clause.budget.as_ref();
    let budget = budget.map(|budget| candidates(budget, "BUDGET", context)).transpose()?;
    if let Some(relevance) = &clause.relevance {
        eval::warm(&[relevance], rows.iter(), context)?;
    }
    let neighbours = clause.neighbours.as_ref();
    let neighbours =
        neighbours.map_or(Ok(NEIGHBOURS), |amount| candidates(amount, "NEIGHBOURS", context))?;
    let shares = |row: &Row| {
        let alpha = clause.alpha.as_ref();
        let alpha = alpha.map_or(Ok(ALPHA), |alpha| share(alpha, "ALPHA", row, context))?;
        Ok((share(&clause.coverage, "COVERAGE", row, context)?, alpha))
    };
    let mut chosen = Vec::new();
    for ((coverage, alpha), places) in groups(&rows, shares, context)? {
        let aim = Aim { coverage, budget, alpha, neighbours };
        let found = collect(clause, &rows, &places, context)?;
        chosen.extend(choose(&found, &aim, context)?.into_iter().map(|pick| {
            let mut row = rows[found[pick.index].row].clone();
            row[clause.node] = row[clause.from].clone();
            row[clause.covered] = Cell::Float(pick.coverage);
            row
        }));
    }
    Ok(chosen)
}

fn choose(found: &[Candidate], aim: &Aim, context: &Context<'_>) -> Result<Vec<Pick>> {
    let relevance: Vec<f64> = found.iter().map(|candidate| candidate.relevance).collect();
    context.work(found.len())?;
    let similarity = |a: usize, b: usize| match (&found[a].vector, &found[b].vector) {
        (Some(a), Some(b)) if a.len() == b.len() => dot(a, b),
        _ => 0.0,
    };
    represent_by(&relevance, aim, similarity, &|| context.in_time())
}

/// Each node once, with the best relevance that a row gives it; of too many, the most relevant.
fn collect(
    clause: &Represent,
    rows: &[Row],
    places: &[usize],
    context: &Context<'_>,
) -> Result<Vec<Candidate>> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut known: BTreeMap<NodeId, usize> = BTreeMap::new();
    for place in places.iter().copied() {
        let row = &rows[place];
        let Cell::Node(node) = &row[clause.from] else { continue };
        let relevance = match &clause.relevance {
            Some(expr) => said(expr, row, context)?.unwrap_or(0.0),
            None => 1.0,
        };
        match known.get(&node.id) {
            Some(held) => found[*held].relevance = found[*held].relevance.max(relevance),
            None => {
                known.insert(node.id, found.len());
                found.push(Candidate { row: place, relevance, vector: None });
            }
        }
    }
    if found.len() > CANDIDATES_MAX {
        found.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
        found.truncate(CANDIDATES_MAX);
        found.sort_by_key(|candidate| candidate.row);
    }
    for candidate in &mut found {
        candidate.vector = context.stored_vector(&rows[candidate.row][clause.from])?;
    }
    Ok(found)
}
