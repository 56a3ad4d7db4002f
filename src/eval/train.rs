//! Finds what the signals of `SEARCH ... BY SIGNALS` count, and how well that holds on conversations
//! that were not seen: trained on all but one, tested on that one.

use std::collections::BTreeMap;

use super::ask::{Answer, bare, of_question};
use super::samples::Sample;
use super::stores::Making;
use super::{Run, Setting, Settings, Watch, opened, samples, score};
use crate::database::{Engraph, Options};
use crate::error::Result;
use crate::rows::{Params, Value};
use crate::signals::{Group, NAMES, Signals, Weights, fit};

/// The recipe that is trained.
const RECIPE: &str = "engraph";
/// The categories that are learned from; the questions of the others have no answer.
const LEARNED: std::ops::RangeInclusive<u64> = 1..=4;
/// The best turns of each question, with everything that is known of them.
const POOL: &str = "SEARCH t:Turn FOR $q BY SIGNALS TOP 200 RETURN t.key, t.signals";

/// Signals that are left out together, by what they are of.
const FAMILIES: [(&str, &[&str]); 10] = [
    ("words", &["words", "words_before", "words_around", "words_wide", "coverage", "phrase"]),
    ("meaning", &["meaning", "meaning_raw"]),
    ("tokens", &["tokens", "tokens_even", "tokens_raw"]),
    ("tokens around", &["tokens_before", "tokens_around", "tokens_wide", "tokens_gain"]),
    ("statements", &["statements", "statement_words"]),
    ("concepts", &["concepts"]),
    ("speaker", &["speaker", "first_speaker"]),
    ("day", &["day"]),
    (
        "form",
        &["says_time", "says_name", "says_number", "asks", "ends_asking", "length", "picture"],
    ),
    ("neighbours", &["session", "before", "behind", "first", "rank", "alike"]),
];

/// What came out of a training.
#[derive(Clone, Debug)]
pub struct Training {
    /// How well it ranks: cross-validated, fitted, and cross-validated without each family of
    /// signals if that is wanted.
    pub runs: Vec<Run>,
    /// The weights fitted to all conversations, a line a signal.
    pub weights: String,
}

/// The pools of a conversation's questions.
struct Pools<'s> {
    sample: &'s Sample,
    questions: Vec<Pool>,
}

#[derive(Default)]
struct Pool {
    group: Group,
    keys: Vec<String>,
}

/// Trains on a file of LoCoMo's form, each conversation in a store of its own.
///
/// # Errors
///
/// Those of [`locomo`](super::locomo).
pub fn train(settings: &Settings, options: &Options, watch: &mut Watch<'_>) -> Result<Training> {
    let samples = samples::read(&settings.file, &settings.samples)?;
    let making = Making { options, folder: &settings.folder, observations: settings.observations };
    let mut all = Vec::new();
    for sample in &samples {
        (watch.begin)(&format!("import {}", sample.id));
        let json = std::slice::from_ref(&sample.json);
        let folder = making.store(&sample.id, json, watch.progress)?;
        (watch.begin)(&format!("signals of {}", sample.id));
        let db = opened(&making, &folder, settings)?;
        all.push(pools(&db, sample, watch)?);
    }
    (watch.begin)("training");
    let every = [true; NAMES.len()];
    let fitted = fit(&learned(&all, None), &every);
    let mut runs = vec![
        cross_validated(&all, &every, None, settings.k),
        run(&all, ("fitted", None), settings.k, &|_| fitted.clone()),
    ];
    for (family, names) in FAMILIES.iter().filter(|_| settings.ablate) {
        let wanted = std::array::from_fn(|at| !names.contains(&NAMES[at]));
        runs.push(cross_validated(&all, &wanted, Some(family), settings.k));
    }
    Ok(Training { runs, weights: fitted.to_string() })
}

/// What is known of the best turns of each question.
fn pools<'s>(db: &Engraph, sample: &'s Sample, watch: &mut Watch<'_>) -> Result<Pools<'s>> {
    let total = sample.questions.len() as u64;
    let mut questions = Vec::new();
    for (question, done) in sample.questions.iter().zip(1..) {
        let params = Params::from_iter([("q".to_owned(), Value::from(question.text.as_str()))]);
        let rows = db.query(POOL, params).map_err(|error| of_question(&error, sample, question))?;
        let mut pool = Pool::default();
        for row in &rows.rows {
            let [Value::String(key), Value::Map(known)] = row.as_slice() else { continue };
            let key = bare(key, &sample.id);
            pool.group.gold.push(question.gold.contains(&key));
            pool.group.signals.push(signals(known));
            pool.keys.push(key);
        }
        questions.push(pool);
        (watch.progress)(done, total);
    }
    Ok(Pools { sample, questions })
}

fn signals(known: &BTreeMap<String, Value>) -> Signals {
    NAMES.map(|name| match known.get(name) {
        Some(Value::Float(value)) => *value as f32,
        _ => 0.0,
    })
}

/// The questions to learn from, of all conversations but one.
fn learned<'p>(all: &'p [Pools<'_>], but: Option<&str>) -> Vec<&'p Group> {
    let others = all.iter().filter(|pools| Some(pools.sample.id.as_str()) != but);
    let of_one = |pools: &'p Pools<'_>| {
        let questions = pools.sample.questions.iter().zip(&pools.questions);
        let counts = questions.filter(|(question, _)| LEARNED.contains(&question.category));
        counts.map(|(_, pool)| &pool.group).collect::<Vec<_>>()
    };
    others.flat_map(of_one).collect()
}

/// Each conversation ranked by what the others teach, by all signals or without a family of them.
fn cross_validated(
    all: &[Pools<'_>],
    wanted: &[bool; NAMES.len()],
    without: Option<&str>,
    k: usize,
) -> Run {
    let weights = |sample: &Sample| fit(&learned(all, Some(&sample.id)), wanted);
    run(all, ("cross-validated", without), k, &weights)
}

fn run(
    all: &[Pools<'_>],
    (way, without): (&str, Option<&str>),
    k: usize,
    weights: &dyn Fn(&Sample) -> Weights,
) -> Run {
    let (mut answers, mut scores) = (Vec::new(), Vec::new());
    for Pools { sample, questions } in all {
        let weights = weights(sample);
        for (question, pool) in sample.questions.iter().zip(questions) {
            let mut order: Vec<usize> = (0..pool.keys.len()).collect();
            let score_of = |at: &usize| weights.score(&pool.group.signals[*at]);
            order.sort_by(|a, b| score_of(b).total_cmp(&score_of(a)));
            let retrieved: Vec<String> =
                order.into_iter().take(k).map(|at| pool.keys[at].clone()).collect();
            if !question.gold.is_empty() {
                scores.push((answers.len(), score(&retrieved, &question.gold, &sample.cost)));
            }
            answers.push(Answer {
                sample_id: sample.id.clone(),
                question_index: question.index,
                category: question.category,
                retrieved,
                taken: Default::default(),
            });
        }
    }
    let recipe = format!("{RECIPE} {way}");
    let without = without.map(str::to_owned);
    let name =
        without.as_ref().map_or(recipe.clone(), |family| format!("{recipe} without {family}"));
    Run { recipe, without, setting: Setting::Own, name, answers, scores }
}
