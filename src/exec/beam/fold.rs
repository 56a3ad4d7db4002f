//! A beam whose one score is a fold over the facts of its paths:
//! `reduce(s = 0.0, f IN facts(p) | s + f.confidence * dot(endNode(f).v, $q))`.
//!
//! The fold of a longer path goes on where that of the shorter one ended, so each fact is looked at
//! once, and only the paths of the answer are made.

use std::cmp::Ordering;
use std::sync::Arc;

use engraph_storage::graph::{Edge, NodeId, Time};

use super::candidate::Candidate;
use super::product::{Along, Product};
use super::{Answer, Asked, Beam};
use crate::cell::{Cell, PathRef, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::bind_path::extend;
use crate::exec::eval;
use crate::exec::expand::edges_of;
use crate::plan::expr::{ExprKind, Reduce, Slot};
use crate::plan::{BeamScore, BeamSearch, Step};

/// See the module.
pub(super) struct Fold {
    reduce: Arc<Reduce>,
    /// What it adds, if that is a product.
    product: Option<Product>,
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

/// The total after one of some facts.
struct Scored {
    score: f64,
    total: Cell,
    edge: usize,
}

trait HasScore {
    fn score(&self) -> f64;
}

impl HasScore for Hop {
    fn score(&self) -> f64 {
        self.score
    }
}

impl HasScore for Scored {
    fn score(&self) -> f64 {
        self.score
    }
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
        (over_facts && alone && plain).then(|| Self {
            reduce: Arc::clone(reduce),
            product: Product::of(reduce),
            score: *slot,
        })
    }

    /// The best paths from the node of a row.
    pub(super) fn search(
        &self,
        beam: &Beam,
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Row>> {
        let row = asked.row;
        let Cell::Node(start) = row[beam.step.from] else { return Ok(Vec::new()) };
        let ((min, _), max) = (beam.step.hops.unwrap_or((1, 1)), asked.depth);
        let mut scratch = row.clone();
        let first = eval::eval(&self.reduce.first, &scratch, context)?;
        let mut answer = Answer { most: asked.width, paths: Vec::new() };
        if min == 0 {
            let root = PathRef { nodes: vec![start], facts: Vec::new() };
            let score = self.number(&first)?;
            let whole = self.bound(beam, root, score, asked);
            answer.add(beam.accepted(&[whole], context)?);
        }
        let along = self.product.as_ref().map(|product| product.along(row, context));
        let along = along.transpose()?.flatten();
        let mut follower = row.clone();
        let mut layers: Vec<Vec<Hop>> = Vec::new();
        for depth in 1..=max {
            let mut pool = Vec::new();
            for place in 0..layers.last().map_or(1, Vec::len) {
                let (end, total) = match layers.last() {
                    Some(layer) => (layer[place].end, &layer[place].total),
                    None => (start.id, &first),
                };
                let mut edges = edges_of(end, &beam.step, &asked.filter, context)?;
                edges.retain(|(_, far)| *far != start.id && !visits(&layers, place, *far));
                if beam.step.each.is_some() {
                    let follows =
                        |(edge, _): &(Edge, NodeId)| beam.follows(&mut follower, *edge, context);
                    edges = kept(edges, follows)?;
                }
                let scored = self.scored(&edges, total, (&mut scratch, along.as_ref()), context)?;
                let hop = |scored: Scored| {
                    let (edge, end) = edges[scored.edge];
                    Hop { total: scored.total, score: scored.score, before: place, edge, end }
                };
                let tie =
                    |a: &Scored, b: &Scored| mark(&edges[a.edge].0).cmp(&mark(&edges[b.edge].0));
                pool.extend(best(scored, asked.expand, tie).into_iter().map(hop));
                context.rows(pool.len())?;
            }
            context.run.visited(pool.len());
            pool = best(pool, asked.width, |a, b| marks(&layers, a).cmp(&marks(&layers, b)));
            if pool.is_empty() {
                break;
            }
            if depth >= min {
                let paths: Vec<Candidate> = pool
                    .iter()
                    .map(|hop| {
                        let mut path = PathRef { nodes: vec![start], facts: Vec::new() };
                        facts(&layers, hop)
                            .into_iter()
                            .for_each(|edge| extend(&mut path, edge, asked.filter.system));
                        self.bound(beam, path, hop.score, asked)
                    })
                    .collect();
                answer.add(beam.accepted(&paths, context)?);
            }
            layers.push(pool);
        }
        Ok(answer.paths.into_iter().map(|candidate| candidate.row).collect())
    }

    /// The totals after each of these facts.
    fn scored(
        &self,
        edges: &[(Edge, NodeId)],
        total: &Cell,
        (scratch, along): (&mut Row, Option<&Along<'_>>),
        context: &Context<'_>,
    ) -> Result<Vec<Scored>> {
        let mut scored = Vec::with_capacity(edges.len());
        let along = along.and_then(|along| Some((along, total.number()?)));
        let products = along.map(|(along, total)| along.next(total, edges, context)).transpose()?;
        let product = |place: usize| products.as_ref().and_then(|all| *all.get(place)?);
        for (place, (edge, _)) in edges.iter().enumerate() {
            if let Some(next) = product(place) {
                scored.push(Scored { score: next, total: Cell::Float(next), edge: place });
                continue;
            }
            scratch[self.reduce.slot] = Cell::Fact(*edge);
            scratch[self.reduce.total] = total.clone();
            let total = eval::eval(&self.reduce.next, scratch, context)?;
            scored.push(Scored { score: self.number(&total)?, total, edge: place });
        }
        Ok(scored)
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

    fn bound(&self, beam: &Beam, path: PathRef, score: f64, asked: &Asked<'_>) -> Candidate {
        let slots = [beam.step.to, beam.step.fact, beam.path];
        let system = asked.filter.system;
        let mut candidate =
            Candidate::bound(asked.row, (path, 0), (slots, beam.search.single), system);
        let shown = if score.is_finite() { Cell::Float(score) } else { Cell::Null };
        candidate.score = score;
        candidate.row[self.score] = shown.clone();
        candidate.row[beam.score] = shown;
        candidate
    }
}

/// The best so many, best first; ties go as `tie` says.
fn best<T: HasScore>(mut all: Vec<T>, most: usize, tie: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let order = |a: &T, b: &T| b.score().total_cmp(&a.score()).then_with(|| tie(a, b));
    if all.len() > most {
        all.select_nth_unstable_by(most, order);
        all.truncate(most);
    }
    all.sort_by(order);
    all
}

/// Those for which it is so.
fn kept<T>(all: Vec<T>, mut is_so: impl FnMut(&T) -> Result<bool>) -> Result<Vec<T>> {
    let mut kept = Vec::with_capacity(all.len());
    for one in all {
        if is_so(&one)? {
            kept.push(one);
        }
    }
    Ok(kept)
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

/// Whether a node is on the path at that place of the last layer, after its start.
fn visits(layers: &[Vec<Hop>], place: usize, node: NodeId) -> bool {
    let mut at = place;
    layers.iter().rev().any(|layer| {
        let hop = &layer[at];
        at = hop.before;
        hop.end == node
    })
}
