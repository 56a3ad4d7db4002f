//! How relevant, coherent and sufficient paths are for a question (REAL, section III-B2), and what
//! a scorer has learned.
//!
//! The evaluator judges many paths in one call; a function by itself asks for one.

use std::collections::BTreeMap;
use std::sync::Arc;

use engraph_grammar::ast::Span;
use engraph_grammar::closest;

use crate::cell::{Cell, PathRef};
use crate::context::{Context, blocks};
use crate::error::{Diagnostic, Result};
use crate::functions::{Call, Function};
use crate::retrieval::evaluate::{Evaluator, PathText};

pub(super) const TABLE: &[Function] = &[
    Function {
        asks_model: true,
        ..Function::new(
            "coherence",
            (1, 1),
            "coherence(p): how well the steps of a path hang together, from 0 to 1",
            one,
        )
    },
    Function {
        asks_model: true,
        ..Function::new(
            "relevance",
            (2, 2),
            "relevance(p, q): how much a path has to do with a question, from 0 to 1",
            one,
        )
    },
    Function {
        asks_model: true,
        ..Function::new(
            "sufficiency",
            (3, 3),
            "sufficiency(p, q, e): how much of what a question asks of e a path holds, from 0 to 1",
            one,
        )
    },
    Function::new(
        "scorer",
        (2, 2),
        "scorer('name', {x: 1.5}): what a scorer gives for numbers by name, from 0 to 1",
        scored,
    ),
];

/// Whether a function is judged by the evaluator.
pub(crate) fn judges(function: &Function) -> bool {
    function.asks_model && TABLE.contains(function)
}

fn one(call: &Call<'_>) -> Result<Cell> {
    let judged = judge(call.function, &[call.arguments.to_vec()], call.span, call.context)?;
    Ok(judged.into_iter().next().flatten().map_or(Cell::Null, Cell::Float))
}

/// What a scorer has learned to give for numbers by name; a number that is left out counts as the
/// mean of those that it was trained on.
fn scored(call: &Call<'_>) -> Result<Cell> {
    let name = call.text(0)?;
    let Cell::Map(entries) = call.argument(1) else { return Err(call.takes("a map", 1)) };
    let Some(scorer) = call.context.scorer(name)? else {
        let known = call.context.reader.catalog().scorers().map(|scorer| scorer.name.as_str());
        let error = call.fail(format!("there is no scorer `{name}`"));
        return Err(error
            .meant(closest(name, known), "SHOW SCORERS lists them; TRAIN SCORER adds one")
            .execute());
    };
    if let Some(other) = entries.keys().find(|key| !scorer.names().contains(key)) {
        let message = format!("the scorer was not trained on `{other}`");
        let help = format!("it knows {}", scorer.names().join(", "));
        return Err(call.fail(message).help(help).execute());
    }
    let number = |name: &String| match entries.get(name) {
        None | Some(Cell::Null) => Ok(f32::NAN),
        Some(Cell::Bool(value)) => Ok(f32::from(u8::from(*value))),
        Some(cell) => cell.number().map(|number| number as f32).ok_or_else(|| {
            call.fail(format!("`{name}` is {}, not a number", cell.kind())).execute()
        }),
    };
    let features: Vec<f32> = scorer.names().iter().map(number).collect::<Result<_>>()?;
    call.finite(f64::from(scorer.score(&features)))
}

/// What a function gives for the arguments of many calls; the evaluator is asked about many paths at once for each
/// question. Null where an argument is null.
pub(crate) fn judge(
    function: &'static Function,
    calls: &[Vec<Cell>],
    span: Span,
    context: &Context<'_>,
) -> Result<Vec<Option<f64>>> {
    let mut by_question: BTreeMap<(Arc<str>, Arc<str>), Vec<usize>> = BTreeMap::new();
    let mut paths: Vec<PathText> = Vec::with_capacity(calls.len());
    for (place, arguments) in calls.iter().enumerate() {
        let call = Call { function, arguments, span, context };
        if arguments.contains(&Cell::Null) {
            paths.push(PathText::default());
            continue;
        }
        paths.push(path(&call)?);
        let (question, root) = (text(&call, 1)?, text(&call, 2)?);
        by_question.entry((question, root)).or_default().push(place);
    }
    let mut judged = vec![None; calls.len()];
    for ((question, root), places) in by_question {
        let asked: Vec<PathText> = places.iter().map(|place| paths[*place].clone()).collect();
        let mut scores = Vec::with_capacity(asked.len());
        for asked in blocks(&asked, |path| path.sentence.len()) {
            let ask = |evaluator: &dyn Evaluator| match function.name {
                "relevance" => evaluator.relevance(&question, asked),
                "coherence" => evaluator.coherence(asked),
                _ => evaluator.sufficiency(&question, &root, asked),
            };
            scores.extend(context.judge(asked.len(), ask)?);
        }
        if scores.len() != places.len() || scores.iter().any(|score| !score.is_finite()) {
            let message = format!("the evaluator gave no {} for each path", function.name);
            return Err(Diagnostic::at(span, message).execute());
        }
        for (place, score) in places.into_iter().zip(scores) {
            judged[place] = Some(f64::from(score));
        }
    }
    Ok(judged)
}

/// The path that is judged.
fn path(call: &Call<'_>) -> Result<PathText> {
    let path = match call.argument(0) {
        Cell::Path(path) => Arc::clone(path),
        Cell::Fact(edge) => {
            let [head, tail] = [edge.head, edge.tail].map(|id| call.context.seen_now(id));
            Arc::new(PathRef { nodes: vec![head, tail], facts: vec![*edge] })
        }
        _ => return Err(call.takes("a path or a fact", 0)),
    };
    call.context.path_text(&path)
}

/// The question or the root; empty where the function takes none.
fn text(call: &Call<'_>, place: usize) -> Result<Arc<str>> {
    match call.arguments.get(place) {
        None => Ok(Arc::from("")),
        Some(Cell::Node(node)) => Ok(Arc::from(call.context.node(*node)?.key.as_str())),
        Some(_) => call.text(place).cloned(),
    }
}
