//! `REPRESENT`: the nodes that stand for the others, by coverage of a graph of neighbours.
//!
//! Nodes are compared by their embeddings; one without stands for itself alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use engraph_storage::graph::NodeId;

use crate::cell::{Cell, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::context::Context;
use crate::exec::{candidates, eval};
use crate::models::dot;
use crate::plan::retrieval::Represent;
use crate::retrieval::represent::{Aim, Pick, represent_by};

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
    let Some(first) = rows.first() else { return Ok(rows) };
    let mut aim = Aim::covering(coverage(clause, first, context)?);
    if let Some(budget) = &clause.budget {
        aim.budget = Some(candidates(budget, "BUDGET", context)?);
    }
    let candidates = collect(clause, &rows, context)?;
    let relevance: Vec<f64> = candidates.iter().map(|candidate| candidate.relevance).collect();
    context.work(candidates.len())?;
    let picks = represent_by(&relevance, &aim, |a, b| {
        match (&candidates[a].vector, &candidates[b].vector) {
            (Some(a), Some(b)) if a.len() == b.len() => dot(a, b),
            _ => 0.0,
        }
    });
    let row = |pick: &Pick| {
        let mut row = rows[candidates[pick.index].row].clone();
        row[clause.node] = row[clause.from].clone();
        row[clause.covered] = Cell::Float(pick.coverage);
        row
    };
    Ok(picks.iter().map(row).collect())
}

fn coverage(clause: &Represent, row: &Row, context: &Context<'_>) -> Result<f64> {
    let coverage = eval::eval(&clause.coverage, row, context)?.number();
    coverage.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        Diagnostic::at(clause.coverage.span, "COVERAGE takes a number from 0 to 1").execute()
    })
}

/// Each node once, with the best relevance that a row gives it.
fn collect(clause: &Represent, rows: &[Row], context: &Context<'_>) -> Result<Vec<Candidate>> {
    if let Some(relevance) = &clause.relevance {
        eval::warm(&[relevance], rows.iter(), context)?;
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        let Cell::Node(node) = &row[clause.from] else { continue };
        let relevance = match &clause.relevance {
            Some(expr) => eval::eval(expr, row, context)?.number().unwrap_or(0.0),
            None => 1.0,
        };
        match places.get(&node.id) {
            Some(known) => {
                let known = &mut candidates[*known];
                known.relevance = known.relevance.max(relevance);
            }
            None => {
                places.insert(node.id, candidates.len());
                let vector = context.stored_vector(&row[clause.from])?;
                candidates.push(Candidate { row: place, relevance, vector });
            }
        }
    }
    Ok(candidates)
}
