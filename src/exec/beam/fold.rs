//! A beam whose one score is a fold over the facts of its paths:
//! `reduce(s = 0.0, f IN facts(p) | s + f.confidence * dot(endNode(f).v, $q))`.
//!
//! The fold of a longer path goes on where that of the shorter one ended, so each fact is looked at
//! once, and only the paths of the answer are made.

use std::cmp::Ordering;

use engraph_storage::graph::{Edge, NodeId, Time};

use super::candidate::Candidate;
use super::{Answer, Asked, Beam};
use crate::cell::{Cell, PathRef, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::bind_path::extend;
use crate::exec::context::Context;
use crate::exec::eval;
use crate::exec::expand::edges_of;
use crate::plan::expr::{ExprKind, Reduce, Slot};
use crate::plan::{BeamScore, BeamSearch, Step};

/// See the module.
pub(super) struct Fold {
    reduce: Reduce,
    score: Slot,
}

/// A path: the one that it continues, and its last fact.
#[derive(Clone)]
struct Hop {
    total: Cell,
    score: f64,
    /// Its place among the paths that are one fact shorter.
    before: usize,
    edge: Edge,
    end: NodeId,
}

impl Fold {
    /// The fold that a beam is ordered by, if it is ordered by nothing else.
    pub(super) fn of(search: &BeamSearch, step: &Step, path: Slot) -> Option<Self> {
        let [BeamScore { expr, slot }] = search.scores.as_slice() else { return None };
        let ExprKind::Reduce(reduce) = &expr.kind else { return None };
        let ExprKind::Call(function, arguments) = &reduce.list.kind else { return None };
        let of_path = |slot: &ExprKind| matches!(slot, ExprKind::Slot(slot, _) if *slot == path);
        let over_facts = matches!(function.name, "facts" | "relationships")
            && arguments.iter().all(|argument| of_path(&argument.kind));
        // What changes from hop to hop may be seen through its facts alone.
        let moving = [path, step.to, step.fact, *slot];
        let sees =
            |expr: &crate::plan::expr::Expr| expr.slots().iter().any(|slot| moving.contains(slot));
        let alone = !sees(&reduce.first) && !sees(&reduce.next);
        let plain = search.repair.is_none() && search.prefers.is_none();
        (over_facts && alone && plain)
            .then(|| Self { reduce: reduce.as_ref().clone(), score: *slot })
    }

    /// The best paths from the node of a row.
    pub(super) fn search(
        &self,
        beam: &Beam,
        row: &Row,
        asked: &Asked,
        context: &Context<'_>,
    ) -> Result<Vec<Row>> {
        let Cell::Node(start) = row[beam.step.from] else { return Ok(Vec::new()) };
        let (min, max) = beam.step.hops.unwrap_or((1, 1));
        let mut scratch = row.clone();
        let first = eval::eval(&self.reduce.first, &scratch, context)?;
        let mut answer = Answer { most: asked.width, paths: Vec::new() };
        if min == 0 {
            let root = PathRef { nodes: vec![start], facts: Vec::new() };
            let score = self.number(&first)?;
            let whole = self.bound(beam, row, root, score, asked);
            answer.add(beam.accepted(&[whole], context)?);
        }
        let mut layers: Vec<Vec<Hop>> = Vec::new();
        for depth in 1..=max {
            let mut pool = Vec::new();
            let shorter = layers.last().map_or(1, Vec::len);
            for place in 0..shorter {
                let (end, total) = match layers.last() {
                    Some(layer) => (layer[place].end, &layer[place].total),
                    None => (start.id, &first),
                };
                let mut next = Vec::new();
                for (edge, far) in edges_of(end, &beam.step, &asked.filter, context)? {
                    if far == start.id || visits(&layers, place, far) {
                        continue;
                    }
                    if !beam.follows(row, edge, context)? {
                        continue;
                    }
                    scratch[self.reduce.slot] = Cell::Fact(edge);
                    scratch[self.reduce.total] = total.clone();
                    let total = eval::eval(&self.reduce.next, &scratch, context)?;
                    let score = self.number(&total)?;
                    next.push(Hop { total, score, before: place, edge, end: far });
                }
                best(&mut next, asked.expand, |a, b| mark(&a.edge).cmp(&mark(&b.edge)));
                pool.extend(next);
                context.rows(pool.len())?;
            }
            context.run.visited(pool.len());
            best(&mut pool, asked.width, |a, b| marks(&layers, a).cmp(&marks(&layers, b)));
            if pool.is_empty() {
                break;
            }
            if depth >= min {
                let paths: Vec<Candidate> = pool
                    .iter()
                    .map(|hop| {
                        let mut path = PathRef { nodes: vec![start], facts: Vec::new() };
                        facts(&layers, hop).into_iter().for_each(|edge| extend(&mut path, edge));
                        self.bound(beam, row, path, hop.score, asked)
                    })
                    .collect();
                answer.add(beam.accepted(&paths, context)?);
            }
            layers.push(pool);
        }
        Ok(answer.paths.into_iter().map(|candidate| candidate.row).collect())
    }

    /// What a total counts as a score; nothing is the last.
    fn number(&self, total: &Cell) -> Result<f64> {
        match total {
            Cell::Null => Ok(f64::NEG_INFINITY),
            total => total.number().ok_or_else(|| {
                let message = format!("SCORE BY takes a number, not {}", total.kind());
                Diagnostic::at(self.reduce.next.span, message).execute()
            }),
        }
    }

    fn bound(&self, beam: &Beam, row: &Row, path: PathRef, score: f64, asked: &Asked) -> Candidate {
        let slots = [beam.step.to, beam.step.fact, beam.path];
        let system = asked.filter.system;
        let mut candidate = Candidate::bound(row, (path, 0), (slots, beam.search.single), system);
        let shown = if score.is_finite() { Cell::Float(score) } else { Cell::Null };
        candidate.score = score;
        candidate.row[self.score] = shown.clone();
        candidate.row[beam.score] = shown;
        candidate
    }
}

/// Keeps the best so many, best first; ties go as `tie` says.
fn best(hops: &mut Vec<Hop>, most: usize, tie: impl Fn(&Hop, &Hop) -> Ordering) {
    let order = |a: &Hop, b: &Hop| b.score.total_cmp(&a.score).then_with(|| tie(a, b));
    if hops.len() > most {
        hops.select_nth_unstable_by(most, order);
        hops.truncate(most);
    }
    hops.sort_by(order);
}

fn mark(edge: &Edge) -> (Time, u64) {
    (edge.valid.from, edge.fact.0)
}

/// Where the facts of a path begin, in order.
fn marks(layers: &[Vec<Hop>], hop: &Hop) -> Vec<(Time, u64)> {
    facts(layers, hop).iter().map(mark).collect()
}

/// The facts of a path that continues one of the last layer.
fn facts(layers: &[Vec<Hop>], hop: &Hop) -> Vec<Edge> {
    let mut facts = vec![hop.edge];
    let mut before = hop.before;
    for layer in layers.iter().rev() {
        let hop = &layer[before];
        facts.push(hop.edge);
        before = hop.before;
    }
    facts.reverse();
    facts
}

/// Whether a node is on the path at that place of the last layer, behind its start.
fn visits(layers: &[Vec<Hop>], place: usize, node: NodeId) -> bool {
    let mut at = place;
    layers.iter().rev().any(|layer| {
        let hop = &layer[at];
        at = hop.before;
        hop.end == node
    })
}
