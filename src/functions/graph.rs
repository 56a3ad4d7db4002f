//! Nodes, facts and paths, and how near texts are in meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engraph_storage::graph::{Edge, Properties};

use crate::cell::{Cell, Entries, PathRef};
use crate::error::{Diagnostic, Result};
use crate::functions::{Call, Function, count};
use crate::graph_names::intent_named;
use crate::neural::dot;

pub(super) const TABLE: &[Function] = &[
    Function::new(
        "confidence",
        (1, 2),
        "confidence(p[, 'product' | 'min' | 'noisy_or']): of a fact, a path or a list of facts",
        confidence,
    ),
    Function::new("elementId", (1, 1), "elementId(n): id(n) as text", |call| {
        Ok(Cell::text(&number(call)?.to_string()))
    }),
    Function::new("endNode", (1, 1), "endNode(f): the tail of a fact", |call| {
        end_node(call, false)
    }),
    Function::new("facts", (1, 1), "facts(p): the facts of a path in order", facts),
    Function::new("id", (1, 1), "id(n): the number of a node or fact", |call| {
        Ok(Cell::Int(number(call)?.cast_signed()))
    }),
    Function::new("keys", (1, 1), "keys(n): the names of properties(n), in order", keys),
    Function::new("label", (1, 1), "label(n): the label of a node", label),
    Function::new("labels", (1, 1), "labels(n): the label of a node, in a list", labels),
    Function::new("length", (1, 1), "length(p): the number of facts of a path", length),
    Function::new("nodes", (1, 1), "nodes(p): the nodes of a path in order", nodes),
    Function::new(
        "properties",
        (1, 1),
        "properties(n): what was given to a node or fact beside its key, as a map",
        |call| Ok(Cell::Map(properties(call)?)),
    ),
    Function::new("relationships", (1, 1), "relationships(p): as facts(p)", facts),
    Function {
        asks_model: true,
        ..Function::new(
            "similarity",
            (2, 2),
            "similarity(a, b): the cosine of two embeddings, from -1 to 1",
            similarity,
        )
    },
    Function::new(
        "sources",
        (1, 1),
        "sources(f): where a fact, or the facts of a path or list, come from, each once",
        sources,
    ),
    Function::new("startNode", (1, 1), "startNode(f): the head of a fact", |call| {
        end_node(call, true)
    }),
    Function::new("type", (1, 1), "type(f): the relation of a fact", relation),
];

/// How many of the facts have another intent; what `INTENT ~ x` orders by.
pub(crate) static OTHER_INTENTS: Function = Function {
    name: "other_intents",
    arguments: (1, usize::MAX),
    usage: "other_intents(intent, f, ...)",
    takes_null: true,
    asks_model: false,
    run: other_intents,
};

/// That what is bound already can stand for a node of a pattern.
pub(crate) static IS_NODE: Function = Function {
    name: "is_node",
    arguments: (1, 1),
    usage: "is_node(n)",
    takes_null: false,
    asks_model: false,
    run: |call| match call.argument(0) {
        Cell::Node(_) => Ok(Cell::Bool(true)),
        other => {
            let message = format!("a node stands here, and not {}", other.kind());
            Err(call.fail(message).help("unwind a list first: UNWIND nodes(p) AS n").execute())
        }
    },
};

fn other_intents(call: &Call<'_>) -> Result<Cell> {
    let [named, found @ ..] = call.arguments else { return Ok(Cell::Null) };
    // Nobody prefers one.
    if *named == Cell::Null {
        return Ok(Cell::Int(0));
    }
    let Cell::String(name) = named else {
        let message = format!("INTENT ~ takes the name of an intent, not {}", named.kind());
        return Err(call.fail(message).execute());
    };
    let intent = intent_named(name, call.span).map_err(Diagnostic::execute)?;
    let other = |cell: &Cell| match cell {
        Cell::Fact(edge) => usize::from(edge.intent != intent),
        Cell::List(items) => items
            .iter()
            .filter(|item| matches!(item, Cell::Fact(edge) if edge.intent != intent))
            .count(),
        _ => 0,
    };
    Ok(count(found.iter().map(other).sum()))
}

/// The confidence of a path out of those of its facts (design: confidence is an algebra on paths).
fn confidence(call: &Call<'_>) -> Result<Cell> {
    let confidences = edges(call)?.into_iter().map(|edge| edge.confidence);
    let algebra = if call.arguments.len() > 1 { call.text(1)? } else { "product" };
    Ok(Cell::Float(match algebra {
        "product" => confidences.product(),
        "min" => confidences.fold(1.0, f64::min),
        "noisy_or" => 1.0 - confidences.map(|one| 1.0 - one).product::<f64>(),
        other => {
            return Err(call
                .fail(format!("there is no way `{other}` to join confidences"))
                .help("write 'product', 'min' or 'noisy_or'")
                .execute());
        }
    }))
}

fn sources(call: &Call<'_>) -> Result<Cell> {
    let mut seen = BTreeSet::new();
    let mut sources = Vec::new();
    for edge in edges(call)? {
        for source in call.context.version(edge)?.belief.sources {
            if seen.insert(source.clone()) {
                sources.push(Cell::text(&source));
            }
        }
    }
    Ok(Cell::list(sources))
}

/// The facts of a path, of a list of facts, or a fact alone.
fn edges<'a>(call: &'a Call<'_>) -> Result<Vec<&'a Edge>> {
    let edges = match call.argument(0) {
        Cell::Fact(edge) => Some(vec![edge]),
        Cell::Path(path) => Some(path.facts.iter().collect()),
        Cell::List(items) => items.iter().map(edge_of).collect(),
        _ => None,
    };
    edges.ok_or_else(|| call.takes("a fact, a path or a list of facts", 0))
}

fn edge_of(cell: &Cell) -> Option<&Edge> {
    match cell {
        Cell::Fact(edge) => Some(edge),
        _ => None,
    }
}

fn path<'a>(call: &'a Call<'_>) -> Result<&'a Arc<PathRef>> {
    match call.argument(0) {
        Cell::Path(path) => Ok(path),
        _ => Err(call.takes("a path", 0)),
    }
}

fn fact<'a>(call: &'a Call<'_>) -> Result<&'a Edge> {
    match call.argument(0) {
        Cell::Fact(edge) => Ok(edge),
        _ => Err(call.takes("a fact", 0)),
    }
}

fn facts(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::list(path(call)?.facts.iter().copied().map(Cell::Fact).collect()))
}

fn nodes(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::list(path(call)?.nodes.iter().copied().map(Cell::Node).collect()))
}

fn length(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Path(path) => Ok(count(path.facts.len())),
        Cell::List(items) => Ok(count(items.len())),
        Cell::String(_) => {
            let error = call.fail("length takes a path, not a string");
            Err(error.help("size(s) counts letters").execute())
        }
        _ => Err(call.takes("a path", 0)),
    }
}

fn end_node(call: &Call<'_>, head: bool) -> Result<Cell> {
    Ok(call.context.end_of(fact(call)?, head))
}

/// The number of a node or of a fact.
fn number(call: &Call<'_>) -> Result<u64> {
    match call.argument(0) {
        Cell::Node(node) => Ok(node.id.0),
        Cell::Fact(edge) => Ok(edge.fact.0),
        _ => Err(call.takes("a node or a fact", 0)),
    }
}

fn keys(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::list(properties(call)?.keys().map(|name| Cell::text(name)).collect()))
}

fn properties(call: &Call<'_>) -> Result<Arc<Entries>> {
    let catalog = call.context.reader.catalog();
    let named = |properties: &Properties| {
        let named = properties.iter().map(|(property, value)| {
            (catalog.property_name(*property).to_owned(), Cell::from(value))
        });
        Arc::new(Entries::from(named.collect::<BTreeMap<_, _>>()))
    };
    match call.argument(0) {
        Cell::Map(entries) => Ok(Arc::clone(entries)),
        Cell::Node(node) => Ok(named(&call.context.node(*node)?.properties)),
        Cell::Fact(edge) => {
            let version = call.context.version(edge)?;
            Ok(named(&version.belief.properties))
        }
        _ => Err(call.takes("a node, a fact or a map", 0)),
    }
}

fn label(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Node(node) => call.context.node_property(*node, "label"),
        _ => Err(call.takes("a node", 0)),
    }
}

fn labels(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::list(vec![label(call)?]))
}

fn relation(call: &Call<'_>) -> Result<Cell> {
    call.context.fact_property(fact(call)?, "relation")
}

/// The cosine of the two embeddings, in [-1, 1].
fn similarity(call: &Call<'_>) -> Result<Cell> {
    let vector = |place: usize| {
        let cell = call.argument(place);
        if let Some(vector) = call.context.stored_vector(cell)? {
            return Ok(vector);
        }
        let Some(text) = call.context.text(cell)? else {
            return Err(call.takes("texts, nodes, facts or paths", place));
        };
        let vectors = call.context.embed(&[&text])?;
        vectors.into_iter().next().ok_or_else(|| call.fail("no embedding").execute())
    };
    let (a, b) = (vector(0)?, vector(1)?);
    if a.len() != b.len() {
        let message = format!("embeddings of {} and {} dimensions", a.len(), b.len());
        return Err(call.fail(message).execute());
    }
    let cosine = f64::from(dot(&a, &b));
    match cosine.is_finite() {
        // Of two equal vectors it may be rounded to a little more than 1.
        true => Ok(Cell::Float(cosine.clamp(-1.0, 1.0))),
        false => Err(call.fail("the embeddings are not finite").execute()),
    }
}
