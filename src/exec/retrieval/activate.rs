//! `ACTIVATE`: activation that spreads from nodes to their neighbours.
//!
//! The weight of an edge is the `weight` of its fact; without one it is how strongly two concepts
//! are coupled that occur together, and the confidence of any other fact.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, Side};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::retrieval::coupling::Coupling;
use crate::exec::retrieval::finding::{groups, said};
use crate::exec::{amount, candidates, eval, scope};
use crate::plan::expr::Expr;
use crate::plan::retrieval::{Activate, SeedWeight, Wanted};
use crate::retrieval::activate::{self, Choice, Spread};

/// Edges between a seed and what it activates, if nothing is said (SCG-MEM, section 4.7).
const HOPS: usize = 1;
/// The farthest that activation spreads.
const HOPS_MAX: usize = 64;
/// T, if nothing is said.
const TEMPERATURE: f64 = 1.0;

pub(super) fn activate(clause: &Activate, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
    if let Some((_, weight)) = &clause.weight {
        eval::warm(&[weight], rows.iter(), context)?;
    }
    let asked = |row: &Row| {
        Ok((spread(clause, row, context)?, scope::filter(&clause.scope, row, context)?))
    };
    let mut active = Vec::new();
    for ((spread, filter), places) in groups(rows, asked)? {
        active.extend(activate_from(clause, rows, &places, (&spread, &filter), context)?);
    }
    Ok(active)
}

/// The nodes to which activation spreads from some of the rows.
fn activate_from(
    clause: &Activate,
    rows: &[Row],
    places: &[usize],
    (spread, filter): (&Spread, &EdgeFilter),
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    let seeds = seeds(clause, rows, places, context)?;
    let start: Vec<(NodeId, f64)> = seeds.iter().map(|(node, seed)| (*node, seed.weight)).collect();
    let coupling = Coupling::new(filter.system, context);
    let mut origins = Origins::new(start.iter().map(|seed| seed.0));
    let concepts = activate::activate(&start, spread, |node| {
        let neighbours = neighbours(clause, node, (filter, &coupling), context)?;
        origins.reach(node, &neighbours);
        Ok::<_, crate::Error>(neighbours)
    })?;
    let row = |concept: &activate::Concept| {
        let seed = seeds.get(&origins.of(concept.node))?;
        let mut row = rows[seed.row].clone();
        let id = concept.node;
        row[clause.node] = Cell::Node(NodeRef { id, system: filter.system });
        row[clause.activation] = Cell::Float(concept.activation);
        Some(row)
    };
    Ok(concepts.iter().filter_map(row).collect())
}

fn spread(clause: &Activate, row: &Row, context: &Context<'_>) -> Result<Spread> {
    let hops = clause.hops.as_ref().map_or(Ok(HOPS), |hops| amount(hops, context))?;
    if let Some(expr) = clause.hops.as_ref().filter(|_| hops > HOPS_MAX) {
        let message = format!("HOPS takes a number up to {HOPS_MAX}");
        return Err(Diagnostic::at(expr.span, message).bind());
    }
    let temperature = clause.temperature.as_ref();
    let temperature = temperature.map_or(Ok(TEMPERATURE), |expr| above_zero(expr, row, context))?;
    let (count, choice) = match &clause.wanted {
        Wanted::All => (context.limits.candidates_max, Choice::Top),
        Wanted::Top(top) => (candidates(top, "TOP", context)?, Choice::Top),
        Wanted::Sample(size, seed) => {
            let seed = amount(seed, context)? as u64;
            (candidates(size, "SAMPLE", context)?, Choice::Sample { seed })
        }
    };
    Ok(Spread { hops, temperature, count, choice })
}

fn above_zero(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<f64> {
    let number = eval::eval(expr, row, context)?.number();
    number
        .filter(|number| *number > 0.0 && number.is_finite())
        .ok_or_else(|| Diagnostic::at(expr.span, "TEMPERATURE takes a number above 0").execute())
}

/// A node that activation begins with.
struct Seed {
    weight: f64,
    /// The first row that has it.
    row: usize,
}

/// The nodes that activation begins with. One that stands in several rows counts as often.
fn seeds(
    clause: &Activate,
    rows: &[Row],
    places: &[usize],
    context: &Context<'_>,
) -> Result<BTreeMap<NodeId, Seed>> {
    let mut seeds: BTreeMap<NodeId, Seed> = BTreeMap::new();
    for place in places.iter().copied() {
        let row = &rows[place];
        let Cell::Node(node) = row[clause.from] else { continue };
        let weight = weight(clause, row, context)?;
        seeds.entry(node.id).or_insert(Seed { weight: 0.0, row: place }).weight += weight;
    }
    Ok(seeds)
}

/// What a row says of how much its node counts.
fn weight(clause: &Activate, row: &Row, context: &Context<'_>) -> Result<f64> {
    let Some((kind, expr)) = &clause.weight else { return Ok(1.0) };
    Ok(match (kind, said(expr, row, context)?) {
        (SeedWeight::Logprob, Some(logprob)) => logprob.exp(),
        (SeedWeight::Score | SeedWeight::Said, Some(score)) => score.max(0.0),
        (SeedWeight::Said, None) => 0.0,
        (_, None) => 1.0,
    })
}

/// The neighbours of a node with the weights of the edges to them.
fn neighbours(
    clause: &Activate,
    node: NodeId,
    (filter, coupling): (&EdgeFilter, &Coupling<'_>),
    context: &Context<'_>,
) -> Result<Vec<(NodeId, f64)>> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut met = BTreeSet::new();
    for side in [Side::Out, Side::In] {
        for relation in &clause.relations {
            context.reader.edges(node, side, Some(*relation), filter, &mut |edge| {
                // A fact that holds both ways is met from both sides; over all of time, the newest
                // version of it counts.
                if met.insert(edge.fact) {
                    edges.push(edge);
                }
                ControlFlow::Continue(())
            })?;
        }
    }
    context.work(edges.len() + 1)?;
    let mut neighbours = Vec::with_capacity(edges.len());
    for edge in edges {
        let far = if edge.head == node { edge.tail } else { edge.head };
        let weight = match context.fact_property(&edge, "weight")?.number() {
            Some(weight) => Some(weight),
            None => coupling.weight(&edge)?,
        };
        neighbours.push((far, weight.unwrap_or(edge.confidence)));
    }
    Ok(neighbours)
}

/// From which seed each node was reached first.
struct Origins(BTreeMap<NodeId, NodeId>);

impl Origins {
    fn new(seeds: impl Iterator<Item = NodeId>) -> Self {
        Self(seeds.map(|seed| (seed, seed)).collect())
    }

    fn reach(&mut self, node: NodeId, neighbours: &[(NodeId, f64)]) {
        let origin = self.of(node);
        for (far, _) in neighbours {
            self.0.entry(*far).or_insert(origin);
        }
    }

    fn of(&self, node: NodeId) -> NodeId {
        self.0.get(&node).copied().unwrap_or(node)
    }
}
