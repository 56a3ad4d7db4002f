//! `ACTIVATE`: activation that spreads from nodes to their neighbours.
//!
//! The weight of an edge is the `weight` of its fact; without one it is how strongly two concepts
//! are coupled that occur together, and the confidence of any other fact.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, Side};

use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Diagnostic, Result};
use crate::exec::newest::Newest;
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
    for ((spread, filter), places) in groups(rows, asked, context)? {
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
    let seeds = seeds(clause, rows, (places, filter), context)?;
    let start: Vec<(NodeId, f64)> = seeds.iter().map(|(node, seed)| (*node, seed.weight)).collect();
    let coupling = Coupling::new(filter.system, context);
    let is_traced = context.run.lineage().is_some();
    let mut ways = Ways::new(start.iter().map(|seed| seed.0), is_traced);
    let mut held = Held::default();
    let concepts = activate::activate(&start, spread, |node| {
        let edges = weighted(clause, node, (filter, &coupling), context)?;
        ways.reach(node, &edges);
        context.hold(&mut held, ways.bytes())?;
        let neighbours = edges.iter().map(|(edge, weight)| (edge.beyond(node), *weight));
        Ok::<_, crate::Error>(neighbours.collect())
    })?;
    let row = |concept: &activate::Concept| {
        let seed = seeds.get(&ways.origin(concept.node))?;
        let mut row = rows[seed.row].clone();
        let node = NodeRef { id: concept.node, system: filter.system };
        row[clause.node] = Cell::Node(node);
        row[clause.activation] = Cell::Float(concept.activation);
        row[clause.way] = ways.path(node);
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
        Wanted::All => (context.limits().candidates_max, Choice::Top),
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

/// The nodes that activation begins with, as far as they were known at the time of the clause. One that stands in
/// several rows counts as often.
fn seeds(
    clause: &Activate,
    rows: &[Row],
    (places, filter): (&[usize], &EdgeFilter),
    context: &Context<'_>,
) -> Result<BTreeMap<NodeId, Seed>> {
    let mut seeds: BTreeMap<NodeId, Seed> = BTreeMap::new();
    for place in places.iter().copied() {
        let row = &rows[place];
        let Cell::Node(node) = row[clause.from] else { continue };
        if !context.is_known(node, filter.system)? {
            continue;
        }
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

/// The edges of a node with their weights.
fn weighted(
    clause: &Activate,
    node: NodeId,
    (filter, coupling): (&EdgeFilter, &Coupling<'_>),
    context: &Context<'_>,
) -> Result<Vec<(Edge, f64)>> {
    let mut newest = Newest::default();
    for side in [Side::Out, Side::In] {
        for relation in &clause.relations {
            context.reader.edges(node, side, Some(*relation), filter, &mut |edge| {
                newest.push(edge);
                ControlFlow::Continue(())
            })?;
        }
    }
    let edges = newest.edges;
    context.work(edges.len() + 1)?;
    let weigh = |edge: Edge| {
        let weight = match context.fact_property(&edge, "weight")?.number() {
            Some(weight) => Some(weight),
            None => coupling.weight(&edge)?,
        };
        Ok((edge, weight.unwrap_or(edge.confidence)))
    };
    edges.into_iter().map(weigh).collect()
}

/// How each node was reached first.
struct Ways {
    /// From which seed.
    origins: BTreeMap<NodeId, NodeId>,
    /// By which edge, if somebody asks; none of the seeds.
    edges: Option<BTreeMap<NodeId, Edge>>,
}

impl Ways {
    fn new(seeds: impl Iterator<Item = NodeId>, is_traced: bool) -> Self {
        let edges = is_traced.then(BTreeMap::new);
        Self { origins: seeds.map(|seed| (seed, seed)).collect(), edges }
    }

    fn reach(&mut self, node: NodeId, edges: &[(Edge, f64)]) {
        let origin = self.origin(node);
        for (edge, _) in edges {
            if let Entry::Vacant(new) = self.origins.entry(edge.beyond(node)) {
                if let Some(edges) = &mut self.edges {
                    edges.insert(*new.key(), *edge);
                }
                new.insert(origin);
            }
        }
    }

    fn origin(&self, node: NodeId) -> NodeId {
        self.origins.get(&node).copied().unwrap_or(node)
    }

    /// Roughly what it takes.
    fn bytes(&self) -> usize {
        let edges = self.edges.as_ref().map_or(0, BTreeMap::len);
        self.origins.len() * size_of::<[NodeId; 2]>() + edges * size_of::<(NodeId, Edge)>()
    }

    /// The facts from the seed of a node to it; null for a seed, and where nobody asks.
    fn path(&self, node: NodeRef) -> Cell {
        let (mut nodes, mut facts) = (vec![node], Vec::new());
        let mut at = node.id;
        while let Some(edge) = self.edges.as_ref().and_then(|edges| edges.get(&at)) {
            at = edge.beyond(at);
            facts.push(*edge);
            nodes.push(NodeRef { id: at, ..node });
        }
        if facts.is_empty() {
            return Cell::Null;
        }
        nodes.reverse();
        facts.reverse();
        Cell::Path(Arc::new(PathRef { nodes, facts }))
    }
}
