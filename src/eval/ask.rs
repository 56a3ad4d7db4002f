//! Asks a recipe the questions of a conversation, and keeps what it found and what that took.

use std::time::{Duration, Instant};

use engraph_grammar::ast::Span;
use engraph_grammar::closest;

use super::brought::Origin;
use super::samples::{Question, Sample};
use super::variants::Variant;
use crate::context::run::Cost;
use crate::database::Engraph;
use crate::error::{Diagnostic, Error, Result};
use crate::recipes::{self, Recipe};
use crate::rows::{Params, Value};

/// A question that is not of the file: it loads the model.
const FIRST: &str = "Is anybody there?";

/// What a recipe found for one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The conversation.
    pub sample_id: String,
    /// The place of the question in it, from 0.
    pub question_index: usize,
    /// Of which kind the question is, from 1 to 5.
    pub category: u64,
    /// The ids of the turns that it found, best first.
    pub retrieved: Vec<String>,
    /// What brought each of them, where the recipe tells it.
    pub origins: Vec<Origin>,
    /// What it took.
    pub taken: Taken,
}

/// What a question took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// From the question to the last row.
    pub time: Duration,
    /// How often a model was asked.
    pub model_calls: u64,
    /// How many texts it was given.
    pub texts: u64,
    /// Nodes at the ends of paths that were judged.
    pub nodes: u64,
    /// Embeddings that were looked at.
    pub vectors: u64,
    /// Keys that were read.
    pub keys: u64,
}

impl Taken {
    fn of(cost: Cost, time: Duration) -> Self {
        Self {
            time,
            model_calls: cost.model_calls,
            texts: cost.model_texts,
            nodes: cost.visited,
            vectors: cost.vectors,
            keys: cost.reads.keys,
        }
    }
}

/// Asks all questions of a sample.
///
/// # Errors
///
/// Any [`Error`] of the recipe; it names the question.
pub(super) fn ask(
    db: &Engraph,
    sample: &Sample,
    variant: &Variant,
    (k, scope): (usize, Option<&str>),
    done: &mut dyn FnMut(),
) -> Result<Vec<Answer>> {
    let found = recipe(db, &variant.recipe)?;
    let (text, params) = variant.statement(&found, k, scope);
    // A recipe that reconstructs tells of each turn which step and operations brought it.
    let asks = |returns: &str| format!("{text}{returns} LIMIT {k}");
    let told = asks(", step, shares");
    let explained = db.query(&format!("EXPLAIN {told}"), params.clone().with("q", FIRST));
    let text = if explained.is_ok() { told } else { asks("") };
    let one = |question: &str| one(db, &text, params.clone().with("q", question));
    one(FIRST)?;
    let mut answers = Vec::new();
    for question in &sample.questions {
        let (keys, origins, taken) =
            one(&question.text).map_err(|error| of_question(&error, sample, question))?;
        answers.push(Answer {
            sample_id: sample.id.clone(),
            question_index: question.index,
            category: question.category,
            retrieved: keys.iter().map(|key| bare(key, &sample.id)).collect(),
            origins,
            taken,
        });
        done();
    }
    Ok(answers)
}

/// The keys that one question finds, and what brought them if that is told.
fn one(db: &Engraph, text: &str, params: Params) -> Result<(Vec<String>, Vec<Origin>, Taken)> {
    let begun = Instant::now();
    let mut session = db.session();
    let mut cursor = session.stream(text, params)?;
    let (mut keys, mut origins) = (Vec::new(), Vec::new());
    for row in cursor.by_ref() {
        let row = row?;
        let Some(Value::String(key)) = row.first() else { continue };
        keys.push(key.clone());
        origins.extend(Origin::of(&row[1..]));
    }
    // All turns have one, or none says anything.
    origins.truncate(if origins.len() == keys.len() { keys.len() } else { 0 });
    Ok((keys, origins, Taken::of(cursor.run().cost(), begun.elapsed())))
}

/// The id of a turn within its conversation; turns of other conversations keep theirs.
pub(super) fn bare(key: &str, sample: &str) -> String {
    let own = key.strip_prefix(sample).and_then(|rest| rest.strip_prefix('/'));
    own.unwrap_or(key).to_owned()
}

pub(super) fn of_question(error: &Error, sample: &Sample, question: &Question) -> Error {
    let text = format!("{}, question {}: {error}", sample.id, question.index);
    Diagnostic::new(text).execute()
}

/// The recipe of that name in a store.
pub(super) fn recipe(db: &Engraph, name: &str) -> Result<Recipe> {
    let snapshot = db.store.snapshot(crate::time::wall());
    let catalog = snapshot.reader().catalog();
    let nowhere = Span { start: 0, end: 0 };
    Recipe::find(name, nowhere, catalog).map_err(|_| {
        let own = catalog.recipes().map(|recipe| recipe.name.as_str());
        let known: Vec<&str> = own.chain(recipes::BUILT_IN.iter().map(|one| one.0)).collect();
        let error = Diagnostic::new(format!("there is no recipe `{name}`"));
        error
            .meant(closest(name, known.iter().copied()), format!("there are {}", known.join(", ")))
            .bind()
    })
}
