//! Measures recipes on a file of LoCoMo's form: which of the turns that answer a question they
//! find, and what that takes.
//!
//! ```text
//! file ──samples──▶ questions, gold turns
//!      ──stores───▶ a database of each conversation, or of all ──ask──▶ ranked turns ──metrics──▶
//!        bootstrap ──tables──▶ Rows
//! ```
//!
//! Apart from the times, the same file and recipes give the same figures. It never changes what a
//! recipe finds.

mod ask;
mod bootstrap;
mod brought;
mod metrics;
mod samples;
mod stores;
mod tables;
mod train;
mod unbuilt;
mod variants;

use std::path::PathBuf;

pub use ask::{Answer, Taken};
pub use bootstrap::{Mean, mean};
pub use brought::{Brought, Origin};
pub use metrics::{ALL_AT, BUDGETS, Metrics, RECALL_AT, TOKENS_AT, tokens};
pub use tables::{Table, ablation, tables};
pub use train::{Training, train};

use crate::database::Options;
use crate::error::Result;
use crate::import::Progress;
use crate::recipes::{DEFAULT, TRAINED_ON};
use crate::rows::Value;
use brought::brought;
use metrics::score;
use samples::{Question, Sample};
use stores::{Making, copied};
use variants::{Variant, variants};

/// What is measured.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// A file of LoCoMo's form.
    pub file: PathBuf,
    /// The conversations; none stands for all.
    pub samples: Vec<String>,
    /// The recipes; none stands for all that are built in.
    pub recipes: Vec<String>,
    /// Values of their parameters, by name.
    pub set: Vec<(String, Value)>,
    /// MemQL that every store is given, such as recipes of your own.
    pub define: Vec<String>,
    /// The most turns of a question.
    pub k: usize,
    /// All conversations in one store as well, asked with a scope and without.
    pub pooled: bool,
    /// So many copies of each conversation are in the pooled store.
    pub copies: usize,
    /// The observations that the data set ships are memory as well.
    pub observations: bool,
    /// Each recipe also without each of its switches; and those that are built in with memories that are
    /// made without each mechanism that their papers leave out, each conversation in a store of its own.
    pub ablate: bool,
    /// A file of the same form whose conversations the query adapter learns from first; they are never
    /// tested.
    pub lessons: Option<PathBuf>,
    /// Where the stores are made, and found again.
    pub folder: PathBuf,
}

/// Whose memory is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// A store of the conversation alone.
    Own,
    /// A store of all conversations, of which that of the question counts.
    Scoped,
    /// A store of all conversations.
    Unscoped,
}

impl Setting {
    /// How it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "each conversation in a store of its own",
            Self::Scoped => "all conversations in one store, asked by conversation",
            Self::Unscoped => "all conversations in one store, asked without saying which",
        }
    }

    /// How it is called in the names of files.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::Scoped => ".pooled",
            Self::Unscoped => ".unscoped",
        }
    }
}

/// What one recipe found in one setting.
#[derive(Clone, Debug)]
pub struct Run {
    /// The recipe.
    pub recipe: String,
    /// What was left out.
    pub without: Option<String>,
    /// Whose memory was asked.
    pub setting: Setting,
    /// The most turns of a question: deeper in the list nothing was measured.
    pub k: usize,
    /// The recipe, the values that it was given and what was left out.
    pub name: String,
    /// An answer for each question, those that have no gold turns too.
    pub answers: Vec<Answer>,
    /// The metrics of each answer whose question has gold turns, with its place among the answers.
    pub scores: Vec<(usize, Metrics)>,
    /// What brought the gold turns of each of these, where the recipe tells it.
    pub brought: Vec<(usize, Brought)>,
}

impl Run {
    /// The run in the form of the scorer of LoCoMo runs: a JSON object a line.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.answers.iter().map(|answer| {
            serde_json::json!({
                "sample_id": answer.sample_id,
                "question_index": answer.question_index,
                "retrieved": answer.retrieved,
            })
            .to_string()
        })
    }
}

/// What is being done, for a bar.
pub struct Watch<'w> {
    /// A new piece of work begins.
    pub begin: &'w mut dyn FnMut(&str),
    /// So much of it is done, of so much.
    pub progress: Progress<'w>,
    /// The figures of a recipe say something else than they seem to.
    pub warn: &'w mut dyn FnMut(String),
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// Asks every question of every recipe.
///
/// # Errors
///
/// [`Error::Import`](crate::Error::Import) if the file is not of the form of LoCoMo, or has no such
/// sample; [`Error::Bind`](crate::Error::Bind) if there is no such recipe or parameter; any other
/// error of an import or a recipe.
pub fn locomo(settings: &Settings, options: &Options, watch: &mut Watch<'_>) -> Result<Vec<Run>> {
    let samples = samples::read(&settings.file, &settings.samples)?;
    if let Some(what) = unscored(&samples) {
        (watch.warn)(what);
    }
    let making = Making::new(settings, options);
    let whole = own_stores(&making, &samples, watch)?;
    let pool = settings.pooled.then(|| copied(&samples, settings.copies));
    let pool = pool.map(|all| {
        (watch.begin)("import all");
        let ids: Vec<&str> = samples.iter().map(|sample| sample.id.as_str()).collect();
        let name = format!("pooled-{}-{}", ids.join("-"), settings.copies.max(1));
        making.store(&name, &all, watch)
    });
    let pool = pool.transpose()?;
    let Some(first) = whole.first() else { return Ok(Vec::new()) };
    let variants = variants(settings, &making.open(first)?)?;
    let mut runs = Vec::new();
    for variant in &variants {
        let built = match variant.unbuilt() {
            Some(unbuilt) => {
                let options = unbuilt.options(options);
                let making = Making { options: &options, unbuilt: Some(unbuilt), ..making };
                &own_stores(&making, &samples, watch)?
            }
            None => &whole,
        };
        if let Some(what) = is_trained_on(&samples)
            .filter(|_| variant.recipe == DEFAULT && variant.without.is_none())
        {
            (watch.warn)(format!("{}: {what}", variant.name()));
        }
        (watch.begin)(&variant.name());
        let mut folders = built.iter();
        let asked = |setting| Asked { variant, setting, k: settings.k };
        runs.push(run(asked(Setting::Own), &samples, watch, &mut |sample, done| {
            let Some(folder) = folders.next() else { return Ok(Vec::new()) };
            // Each recipe begins with empty caches.
            let db = making.open(folder)?;
            ask::ask(&db, sample, variant, (settings.k, None), done)
        })?);
        if variant.unbuilt().is_some() {
            continue;
        }
        for setting in [Setting::Scoped, Setting::Unscoped] {
            let Some(pool) = &pool else { continue };
            if setting == Setting::Scoped && !variant.is_scoped {
                let what = "it takes no parameter `scope`, so it is not asked by conversation";
                (watch.warn)(format!("{}: {what}", variant.name()));
                continue;
            }
            (watch.begin)(&format!("{}{}", variant.name(), setting.suffix()));
            let db = making.open(pool)?;
            runs.push(run(asked(setting), &samples, watch, &mut |sample, done| {
                let scope = (setting == Setting::Scoped).then_some(sample.id.as_str());
                ask::ask(&db, sample, variant, (settings.k, scope), done)
            })?);
        }
    }
    Ok(runs)
}

/// A store of each sample, in their order.
fn own_stores(
    making: &Making<'_>,
    samples: &[Sample],
    watch: &mut Watch<'_>,
) -> Result<Vec<PathBuf>> {
    let mut stores = Vec::new();
    for sample in samples {
        let without =
            making.unbuilt.map_or(String::new(), |part| format!(" without {}", part.name()));
        (watch.begin)(&format!("import {}{without}", sample.id));
        let json = std::slice::from_ref(&sample.json);
        stores.push(making.store(&sample.id, json, watch)?);
    }
    Ok(stores)
}

/// What is asked, of whose memory, and how many turns of a question.
#[derive(Clone, Copy)]
struct Asked<'v> {
    variant: &'v Variant,
    setting: Setting,
    k: usize,
}

/// Asks the questions of one sample, and says when one is done.
type Ask<'a> = dyn FnMut(&Sample, &mut dyn FnMut()) -> Result<Vec<Answer>> + 'a;

fn run(
    Asked { variant, setting, k }: Asked<'_>,
    samples: &[Sample],
    watch: &mut Watch<'_>,
    ask: &mut Ask<'_>,
) -> Result<Run> {
    let total = samples.iter().map(|sample| sample.questions.len() as u64).sum();
    let (mut answers, mut scores, mut told, mut done) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for sample in samples {
        let found = ask(sample, &mut || {
            done += 1;
            (watch.progress)(done, total);
        })?;
        for (question, answer) in sample.questions.iter().zip(found) {
            if !question.gold.is_empty() {
                let scored =
                    score(&answer.retrieved, &question.gold, |id| sample.turn(samples, id));
                scores.push((answers.len(), scored));
                told.push((answers.len(), brought(&answer, &question.gold)));
            }
            answers.push(answer);
        }
    }
    let without = variant.without.as_ref().map(|off| off.label().to_owned());
    let (recipe, name) = (variant.recipe.clone(), variant.name());
    if let Some(what) = amiss(samples, &answers) {
        (watch.warn)(format!("{name}{}: {what}", setting.suffix()));
    }
    Ok(Run { recipe, without, setting, k, name, answers, scores, brought: told })
}

/// That the default recipe was trained on some of these questions, if it was.
fn is_trained_on(samples: &[Sample]) -> Option<String> {
    let mut ids = samples.iter().map(|sample| sample.id.as_str());
    let known = ids.find(|id| TRAINED_ON.contains(id))?;
    Some(format!(
        "it was trained on questions of {known}, so its figures say little of others; --cross-validate trains on the \
         other conversations"
    ))
}

/// How many questions are in no figure, and why, if there are any but those without evidence.
fn unscored(samples: &[Sample]) -> Option<String> {
    let all = samples.iter().flat_map(|sample| sample.questions.iter().map(move |q| (sample, q)));
    let why = |question: &Question| match question.gold.is_empty() {
        true if question.names_evidence && question.text.trim().is_empty() => Some("it is blank"),
        true if question.names_evidence => Some("its evidence names no turn"),
        false if !(1..=5).contains(&question.category) => Some("its category is none of 1 to 5"),
        _ => None,
    };
    let found: Vec<_> = all.filter_map(|(sample, q)| Some((sample, q, why(q)?))).collect();
    let total: usize = samples.iter().map(|sample| sample.questions.len()).sum();
    let is_scored =
        |question: &Question| !question.gold.is_empty() && (1..=4).contains(&question.category);
    if !samples.iter().flat_map(|sample| &sample.questions).any(is_scored) {
        return Some(format!(
            "of {total} questions none is of the categories 1 to 4 and has evidence that is a turn: their figures are of nothing"
        ));
    }
    let (sample, question, why) = found.first()?;
    let first = format!("{}, question {}: {why}", sample.id, question.index);
    Some(format!("{} of {total} questions are in no figure; the first is {first}", found.len()))
}

/// Why answers are worth nothing, where all of them are.
fn amiss(samples: &[Sample], answers: &[Answer]) -> Option<&'static str> {
    let finds_turns = |answer: &Answer| {
        let sample = samples.iter().find(|sample| sample.id == answer.sample_id);
        let is_turn = |key| sample.is_some_and(|sample| sample.turns.contains_key(key));
        answer.retrieved.iter().any(is_turn)
    };
    match answers.iter().all(|answer| answer.retrieved.is_empty()) {
        true if !answers.is_empty() => Some("it finds nothing for any question"),
        false if !answers.iter().any(finds_turns) => Some(
            "nothing that it finds is a turn of a conversation; its column `t` has to be turns",
        ),
        _ => None,
    }
}
