//! Each input row with each row of a procedure's answer: the facts of the scope become a network,
//! on which `algo` counts.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, RelationId, Side};

use crate::algo::{EdgeNumber, Network, NetworkBuilder, NetworkError};
use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Diagnostic, Error, Result};
use crate::exec::scope::Scoped;
use crate::exec::{Chunk, Operator, Ready, Taken, eval};
use crate::plan::expr::{Expr, Slot};
use crate::plan::procedure::Procedure;
use crate::plan::scope::Scope;

pub(crate) struct Call {
    input: Taken,
    procedure: Procedure,
    arguments: Vec<Expr>,
    scope: Scope,
    filter: Scoped,
    slots: Vec<Option<Slot>>,
    ready: Ready,
}

/// What a procedure is asked for beside its nodes.
struct Options {
    labels: Option<Vec<String>>,
    relations: Option<Vec<RelationId>>,
    weight: Option<String>,
    directed: bool,
    damping: f64,
    iterations: usize,
    resolution: f64,
}

impl Call {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        procedure: Procedure,
        arguments: Vec<Expr>,
        scope: Scope,
        slots: Vec<Option<Slot>>,
    ) -> Self {
        let (input, filter) = (Taken::new(input), Scoped::new(&scope));
        Self { input, procedure, arguments, scope, filter, slots, ready: Ready::default() }
    }

    /// The rows of an answer, and the memory that they hold.
    fn rows(&mut self, row: &Row, context: &Context<'_>) -> Result<(Vec<Row>, Held)> {
        let filter = self.filter.filter(&self.scope, row, context)?;
        let cells: Vec<Cell> = self
            .arguments
            .iter()
            .map(|expr| eval::eval(expr, row, context))
            .collect::<Result<_>>()?;
        let nodes = self.procedure.signature().map_or(0, |signature| signature.nodes);
        let mut ends = Vec::new();
        for (cell, expr) in cells.iter().zip(&self.arguments).take(nodes) {
            match cell {
                Cell::Node(node) => ends.push(node.id),
                Cell::Null => return Ok((Vec::new(), Held::default())),
                other => {
                    let message = format!("expected a node, not {}", other.kind());
                    return Err(Diagnostic::at(expr.span, message).execute());
                }
            }
        }
        let options = self.options(cells.get(nodes), context)?;
        let mut held = Held::default();
        let (network, edges) = network(&options, &filter, &mut held, context)?;
        let answer = self.answer(&network, &ends, &options, &edges, &filter, context)?;
        let bind = |cells: Vec<Cell>| {
            let mut row = row.clone();
            for (slot, cell) in self.slots.iter().zip(cells) {
                if let Some(slot) = slot {
                    row[*slot] = cell;
                }
            }
            row
        };
        let mut rows = Vec::with_capacity(answer.len());
        for cells in answer {
            rows.push(bind(cells));
        }
        let row_bytes = rows.iter().flatten().map(Cell::bytes).sum();
        context.hold(&mut held, row_bytes)?;
        Ok((rows, held))
    }

    fn answer(
        &self,
        network: &Network,
        ends: &[NodeId],
        options: &Options,
        edges: &[Edge],
        filter: &EdgeFilter,
        context: &Context<'_>,
    ) -> Result<Vec<Vec<Cell>>> {
        let mut proceed = |edges: usize| context.work(edges);
        let node = |id| Cell::Node(NodeRef { id, system: filter.system });
        let numbered = |groups: Vec<(NodeId, usize)>| {
            let number = |at: usize| Cell::Int(i64::try_from(at).unwrap_or(i64::MAX));
            groups.into_iter().map(|(id, group)| vec![node(id), number(group)]).collect()
        };
        let scored = |scores: Vec<(NodeId, f64)>| {
            scores.into_iter().map(|(id, score)| vec![node(id), Cell::Float(score)]).collect()
        };
        Ok(match self.procedure {
            Procedure::PageRank => {
                let (damping, rounds) = (options.damping, options.iterations);
                scored(network.pagerank(damping, rounds, 1e-9, &mut proceed)?)
            }
            Procedure::Components => numbered(network.components(&mut proceed)?),
            Procedure::StrongComponents => numbered(network.strong_components(&mut proceed)?),
            Procedure::Communities => {
                numbered(network.communities(options.resolution, &mut proceed)?)
            }
            Procedure::Distances => match ends {
                [from, ..] => {
                    let found = network.distances(*from, options.directed, &mut proceed)?;
                    found.iter().try_for_each(|(_, cost)| check_cost(*cost))?;
                    scored(found)
                }
                [] => Vec::new(),
            },
            Procedure::Shortest => match ends {
                [from, to, ..] => {
                    let found = network.shortest(*from, *to, options.directed, &mut proceed)?;
                    found.iter().try_for_each(|(cost, _)| check_cost(*cost))?;
                    found
                        .map(|(cost, steps)| {
                            let path = path(*from, &steps, edges, filter);
                            vec![Cell::Path(Arc::new(path)), Cell::Float(cost)]
                        })
                        .into_iter()
                        .collect()
                }
                _ => Vec::new(),
            },
        })
    }

    fn options(&self, cell: Option<&Cell>, context: &Context<'_>) -> Result<Options> {
        let span = self.arguments.last().map_or_else(Default::default, |expr| expr.span);
        let empty = std::collections::BTreeMap::new();
        let entries = match cell {
            None | Some(Cell::Null) => &empty,
            Some(Cell::Map(entries)) => entries,
            Some(other) => {
                let message = format!("the options are a map, not {}", other.kind());
                let error = Diagnostic::at(span, message);
                return Err(error.help("write {relations: ['likes']}").execute());
            }
        };
        if let Some(signature) = self.procedure.signature() {
            signature.check_options(entries.keys().map(String::as_str), span)?;
        }
        let fail = |name: &str, what: &str| {
            Diagnostic::at(span, format!("`{name}` takes {what}")).execute()
        };
        let names = |name: &str| match entries.get(name) {
            None | Some(Cell::Null) => Ok(None),
            Some(Cell::String(text)) => Ok(Some(vec![text.to_string()])),
            Some(Cell::List(items)) => {
                let text = |item: &Cell| match item {
                    Cell::String(text) => Some(text.to_string()),
                    _ => None,
                };
                match items.iter().map(text).collect() {
                    Some(names) => Ok(Some(names)),
                    None => Err(fail(name, "a list of names")),
                }
            }
            Some(_) => Err(fail(name, "a list of names")),
        };
        let number = |name: &str, otherwise: f64, from: f64, to: f64| match entries.get(name) {
            None | Some(Cell::Null) => Ok(otherwise),
            Some(cell) => match cell.number().filter(|number| (from..=to).contains(number)) {
                Some(number) => Ok(number),
                None => Err(fail(name, &format!("a number from {from} to {to}"))),
            },
        };
        let catalog = context.reader.catalog();
        let relations = names("relations")?.map(|relations: Vec<String>| {
            let known = relations.iter().filter_map(|relation| catalog.relation(relation));
            // One that is named twice is one.
            Vec::from_iter(BTreeSet::from_iter(known))
        });
        Ok(Options {
            labels: names("labels")?,
            relations,
            weight: match entries.get("weight") {
                None | Some(Cell::Null) => None,
                Some(Cell::String(name)) => Some(name.to_string()),
                Some(_) => return Err(fail("weight", "the name of a property of facts")),
            },
            directed: match entries.get("directed") {
                None | Some(Cell::Null) => true,
                Some(Cell::Bool(directed)) => *directed,
                Some(_) => return Err(fail("directed", "true or false")),
            },
            damping: number("damping", 0.85, 0.0, 1.0)?,
            // Bounded above, so the cast keeps it.
            iterations: number("iterations", 100.0, 1.0, 10_000.0)? as usize,
            resolution: number("resolution", 1.0, 1e-9, 1e9)?,
        })
    }
}

/// What a node and a fact take while there is a network: the fact itself, and what the network has of
/// either, once as it is built and once as it is.
const NODE_BYTES: usize = 2 * size_of::<NodeId>() + 32;
const EDGE_BYTES: usize = size_of::<Edge>() + 40 + 32;

/// The facts of the scope as a network.
fn network(
    options: &Options,
    filter: &EdgeFilter,
    held: &mut Held,
    context: &Context<'_>,
) -> Result<(Network, Vec<Edge>)> {
    let catalog = context.reader.catalog();
    let mut nodes = Vec::new();
    for (label, name) in catalog.labels() {
        if options.labels.as_ref().is_some_and(|labels| !labels.iter().any(|own| own == name)) {
            continue;
        }
        let most = (context.limits().rows_max - nodes.len()).saturating_add(1);
        nodes.extend(context.reader.first_in(label, most, filter.system)?);
        context.rows(nodes.len())?;
    }
    nodes.sort_unstable();
    let relations: Vec<Option<RelationId>> = match &options.relations {
        Some(relations) => relations.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut builder: NetworkBuilder = Network::builder();
    let mut edges: Vec<Edge> = Vec::new();
    for id in &nodes {
        if context.reader.node(*id, filter.system)?.is_none() {
            continue;
        }
        builder.node(*id);
        let first = edges.len();
        for relation in &relations {
            context.reader.edges(*id, Side::Out, *relation, filter, &mut |edge| {
                if nodes.binary_search(&edge.tail).is_ok() {
                    edges.push(edge);
                }
                match edges.len() <= context.limits().rows_max {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        context.work(edges.len() - first + 1)?;
        context.rows(edges.len())?;
        context.hold(held, nodes.len() * NODE_BYTES + edges.len() * EDGE_BYTES)?;
    }
    edges.sort_by_key(|edge| (edge.fact, edge.version));
    // A fact may be there in several versions, so the network knows each by its place here.
    for (edge, place) in edges.iter().zip(0..) {
        builder.edge(edge.head, edge.tail, EdgeNumber(place), weight(edge, options, context)?);
    }
    match builder.finish() {
        Ok(network) => Ok((network, edges)),
        Err(error) => Err(unfit(error, &edges)),
    }
}

/// The edge that a network knows by a number.
fn numbered(edges: &[Edge], number: EdgeNumber) -> Option<&Edge> {
    edges.get(usize::try_from(number.0).ok()?)
}

fn weight(edge: &Edge, options: &Options, context: &Context<'_>) -> Result<f64> {
    let Some(name) = &options.weight else { return Ok(1.0) };
    match context.fact_property(edge, name)? {
        Cell::Null => Ok(1.0),
        cell => cell.number().ok_or_else(|| {
            let message = format!("the weight `{name}` of a fact is {}", cell.kind());
            Diagnostic::new(message).help("name a property that holds numbers").execute()
        }),
    }
}

/// An error if the weights along a way are beyond all numbers.
fn check_cost(cost: f64) -> Result<()> {
    match cost.is_finite() {
        true => Ok(()),
        false => {
            let message = "the weights along a path add up to more than a number holds";
            Err(Diagnostic::new(message).execute())
        }
    }
}

fn unfit(error: NetworkError, edges: &[Edge]) -> Error {
    match error {
        NetworkError::Weight { number, weight } => {
            let fact = numbered(edges, number);
            let fact =
                fact.map_or_else(|| "a fact".to_owned(), |edge| format!("fact {}", edge.fact.0));
            Diagnostic::new(format!("the weight {weight} of {fact} is below 0")).execute()
        }
        NetworkError::Size => Diagnostic::new("there are too many facts for one network").execute(),
    }
}

/// The path along the facts that were found.
fn path(
    from: NodeId,
    steps: &[(NodeId, EdgeNumber)],
    edges: &[Edge],
    filter: &EdgeFilter,
) -> PathRef {
    let node = |id| NodeRef { id, system: filter.system };
    let mut path = PathRef { nodes: vec![node(from)], facts: Vec::new() };
    for (far, number) in steps {
        path.facts.extend(numbered(edges, *number).copied());
        path.nodes.push(node(*far));
    }
    path
}

impl Operator for Call {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        loop {
            if let Some(chunk) = self.ready.next(want, context)? {
                return Ok(Some(chunk));
            }
            let Some(row) = self.input.next(context)? else { return Ok(None) };
            let (rows, held) = self.rows(&row, context)?;
            self.ready = Ready::new(rows, held);
        }
    }
}
