//! Nodes, facts and paths, and how near texts are in meaning.

use std::sync::Arc;

use engraph_storage::graph::Edge;

use crate::cell::{Cell, PathRef};
use crate::error::Result;
use crate::functions::{Call, Function, count};
use crate::models;

pub(super) const TABLE: &[Function] = &[
    Function::new(
        "confidence",
        (1, 2),
        "confidence(p) or confidence(p, 'min') of 'product', 'min', 'noisy_or'",
        confidence,
    ),
    Function::new("endNode", (1, 1), "endNode(f): the tail of a fact", |call| {
        end_node(call, false)
    }),
    Function::new("facts", (1, 1), "facts(p): the facts of a path in order", facts),
    Function::new("id", (1, 1), "id(n): the number of a node or fact", id),
    Function::new("label", (1, 1), "label(n): the label of a node", label),
    Function::new("labels", (1, 1), "labels(n): the label of a node, in a list", labels),
    Function::new("length", (1, 1), "length(p): the number of facts of a path", length),
    Function::new("nodes", (1, 1), "nodes(p): the nodes of a path in order", nodes),
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
    let [Cell::String(intent), found @ ..] = call.arguments else {
        return Err(call.takes("the name of an intent", 0));
    };
    let other = |cell: &Cell| match cell {
        Cell::Fact(edge) => usize::from(edge.intent.name() != &**intent),
        Cell::List(items) => items
            .iter()
            .filter(|item| matches!(item, Cell::Fact(edge) if edge.intent.name() != &**intent))
            .count(),
        _ => 0,
    };
    Ok(count(found.iter().map(other).sum()))
}

/// The confidence of a path out of those of its facts (design: confidence is an algebra on paths).
fn confidence(call: &Call<'_>) -> Result<Cell> {
    let facts: Vec<f64> = match call.argument(0) {
        Cell::Fact(edge) => vec![edge.confidence],
        Cell::Path(path) => path.facts.iter().map(|edge| edge.confidence).collect(),
        Cell::List(items) => match items.iter().map(confidence_of).collect() {
            Some(facts) => facts,
            None => return Err(call.takes("a path or facts", 0)),
        },
        _ => return Err(call.takes("a path or facts", 0)),
    };
    let algebra = match call.arguments.get(1) {
        None => "product",
        Some(Cell::String(name)) => name,
        Some(_) => return Err(call.takes("the name of an algebra", 1)),
    };
    Ok(Cell::Float(match algebra {
        "product" => facts.iter().product(),
        "min" => facts.iter().copied().fold(1.0, f64::min),
        "noisy_or" => 1.0 - facts.iter().map(|fact| 1.0 - fact).product::<f64>(),
        other => {
            return Err(call
                .fail(format!("there is no way `{other}` to join confidences"))
                .help("write 'product', 'min' or 'noisy_or'")
                .execute());
        }
    }))
}

fn confidence_of(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Fact(edge) => Some(edge.confidence),
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
    Ok(Cell::List(path(call)?.facts.iter().copied().map(Cell::Fact).collect()))
}

fn nodes(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::List(path(call)?.nodes.iter().copied().map(Cell::Node).collect()))
}

fn length(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Path(path) => Ok(count(path.facts.len())),
        Cell::List(items) => Ok(count(items.len())),
        _ => Err(call.takes("a path", 0)),
    }
}

fn end_node(call: &Call<'_>, head: bool) -> Result<Cell> {
    let edge = fact(call)?;
    call.context.end_of(edge, head)
}

fn id(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Node(node) => Ok(Cell::Int(node.id.0.cast_signed())),
        Cell::Fact(edge) => Ok(Cell::Int(edge.fact.0.cast_signed())),
        _ => Err(call.takes("a node or a fact", 0)),
    }
}

fn label(call: &Call<'_>) -> Result<Cell> {
    match call.argument(0) {
        Cell::Node(node) => call.context.node_property(*node, "label"),
        _ => Err(call.takes("a node", 0)),
    }
}

fn labels(call: &Call<'_>) -> Result<Cell> {
    Ok(Cell::List(vec![label(call)?]))
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
    let cosine = f64::from(models::dot(&a, &b));
    match cosine.is_finite() {
        true => Ok(Cell::Float(cosine)),
        false => Err(call.fail("the embeddings are not finite").execute()),
    }
}
