//! Beam search from the node of each input row (REAL, section III-B2, with the query's score in
//! place of the paper's evaluator): at each depth the best continuations of every path, then the
//! best paths of all; no node twice on one path.
//!
//! The answer holds the best of all paths that were kept at any depth within the pattern's bounds
//! and that fulfil the condition, so a short path stays in it while longer ones are walked.

use std::cmp::Ordering;
use std::sync::Arc;

use engraph_storage::graph::{EdgeFilter, NodeId, Time};

use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::bind_path::extend;
use crate::exec::context::Context;
use crate::exec::expand::edges_of;
use crate::exec::scope::Scoped;
use crate::exec::{Chunk, Operator, candidates, eval};
use crate::plan::expr::Slot;
use crate::plan::{BeamSearch, Step};

pub(crate) struct Beam {
    input: Box<dyn Operator>,
    step: Step,
    path: Slot,
    score: Slot,
    search: BeamSearch,
    scope: Scoped,
    /// Paths kept after each step, and continuations kept of each; known with the first row.
    width: usize,
    expand: usize,
    /// The filter for the row that is searched from.
    filter: EdgeFilter,
}

/// A path with its score, as the row that binds it.
#[derive(Clone)]
struct Candidate {
    score: f64,
    path: Arc<PathRef>,
    row: Row,
    /// The candidate that it continues, by its place in the beam.
    parent: usize,
}

impl Candidate {
    /// Best first; ties go to the path whose facts began earlier, then to the older facts.
    fn order(&self, other: &Self) -> Ordering {
        let tie = |path: &PathRef| -> Vec<(Time, u64)> {
            path.facts.iter().map(|edge| (edge.valid.from, edge.fact.0)).collect()
        };
        other.score.total_cmp(&self.score).then_with(|| tie(&self.path).cmp(&tie(&other.path)))
    }
}

impl Beam {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        step: Step,
        path: Slot,
        score: Slot,
        search: BeamSearch,
    ) -> Self {
        let scope = Scoped::new(step.scope.clone());
        let filter = EdgeFilter::EVERYTHING;
        Self { input, step, path, score, search, scope, width: 0, expand: 0, filter }
    }

    /// Takes what the query says in numbers for one row.
    fn prepare(&mut self, row: &Row, context: &Context<'_>) -> Result<()> {
        self.width = candidates(&self.search.width, "BEAM", context)?;
        self.expand = match &self.search.expand {
            Some(expand) => candidates(expand, "EXPAND", context)?,
            None => context.limits.candidates_max,
        };
        self.filter = self.scope.filter(row, context)?;
        Ok(())
    }

    fn search(&self, row: &Row, context: &Context<'_>) -> Result<Vec<Row>> {
        let Cell::Node(start) = row[self.step.from] else { return Ok(Vec::new()) };
        let (min, max) = self.step.hops.unwrap_or((1, 1));
        let root = PathRef { nodes: vec![start], facts: Vec::new() };
        let mut beam = match min {
            0 => self.scored(row, vec![(root, 0)], context)?,
            // A path that cannot be in the answer needs no score.
            _ => vec![Candidate { score: 0.0, path: Arc::new(root), row: row.clone(), parent: 0 }],
        };
        let mut answer: Vec<Candidate> = Vec::new();
        for depth in 0..=max {
            if depth > 0 {
                let paths = self.continued(&beam, context)?;
                beam = self.keep(self.scored(row, paths, context)?);
            }
            if beam.is_empty() {
                break;
            }
            if depth >= min {
                answer.extend(self.accepted(&beam, context)?);
                answer.sort_by(Candidate::order);
                answer.truncate(self.width);
            }
        }
        Ok(answer.into_iter().map(|candidate| candidate.row).collect())
    }

    /// Every path of the beam with one fact more, and which one it continues.
    fn continued(
        &self,
        beam: &[Candidate],
        context: &Context<'_>,
    ) -> Result<Vec<(PathRef, usize)>> {
        let mut paths = Vec::new();
        for (parent, candidate) in beam.iter().enumerate() {
            let Some(last) = candidate.path.nodes.last() else { continue };
            for (edge, far) in edges_of(last.id, &self.step, &self.filter, context)? {
                if !visits(&candidate.path, far) {
                    let mut path = candidate.path.as_ref().clone();
                    extend(&mut path, edge);
                    paths.push((path, parent));
                }
            }
            context.rows(paths.len())?;
        }
        Ok(paths)
    }

    /// The paths as rows with their scores; the model sees many of them in one call.
    fn scored(
        &self,
        row: &Row,
        paths: Vec<(PathRef, usize)>,
        context: &Context<'_>,
    ) -> Result<Vec<Candidate>> {
        let bind = |(path, parent): (PathRef, usize)| {
            let path = Arc::new(path);
            let mut row = row.clone();
            let end = path.nodes.last().copied();
            row[self.step.to] = end.map_or(Cell::Null, |NodeRef { id, .. }| {
                Cell::Node(NodeRef { id, system: self.filter.system })
            });
            row[self.step.fact] = Cell::list(path.facts.iter().copied().map(Cell::Fact).collect());
            row[self.path] = Cell::Path(Arc::clone(&path));
            (path, parent, row)
        };
        let bound: Vec<(Arc<PathRef>, usize, Row)> = paths.into_iter().map(bind).collect();
        eval::warm(&[&self.search.order], bound.iter().map(|(_, _, row)| row), context)?;
        bound
            .into_iter()
            .map(|(path, parent, mut row)| {
                let score = self.number(eval::eval(&self.search.order, &row, context)?)?;
                row[self.score] = if score.is_finite() { Cell::Float(score) } else { Cell::Null };
                Ok(Candidate { score, path, row, parent })
            })
            .collect()
    }

    fn number(&self, cell: Cell) -> Result<f64> {
        match (&cell, cell.number()) {
            (_, Some(score)) => Ok(score),
            // A path without a score is the last.
            (Cell::Null, _) => Ok(f64::NEG_INFINITY),
            (other, _) => {
                let message = format!("SCORE BY takes a number, not {}", other.kind());
                Err(Diagnostic::at(self.search.order.span, message).execute())
            }
        }
    }

    /// The best continuations of each path, and of those the best of all.
    fn keep(&self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        candidates.sort_by(Candidate::order);
        let mut taken: Vec<usize> = Vec::new();
        candidates.retain(|candidate| {
            if taken.len() <= candidate.parent {
                taken.resize(candidate.parent + 1, 0);
            }
            taken[candidate.parent] += 1;
            taken[candidate.parent] <= self.expand
        });
        candidates.truncate(self.width);
        candidates
    }

    fn accepted(&self, beam: &[Candidate], context: &Context<'_>) -> Result<Vec<Candidate>> {
        let mut accepted = Vec::new();
        for candidate in beam {
            let holds = match &self.search.condition {
                Some(condition) => eval::holds(condition, &candidate.row, context)?,
                None => true,
            };
            if holds {
                accepted.push(candidate.clone());
            }
        }
        Ok(accepted)
    }
}

fn visits(path: &PathRef, node: NodeId) -> bool {
    path.nodes.iter().any(|other| other.id == node)
}

impl Operator for Beam {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        while let Some(input) = self.input.next(context, want)? {
            let mut chunk = Vec::new();
            for row in &input {
                self.prepare(row, context)?;
                chunk.extend(self.search(row, context)?);
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
