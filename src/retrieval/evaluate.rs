//! How relevant, coherent and sufficient paths are for a question (REAL, section III-B2), and an
//! evaluator that needs no language model.
//!
//! All paths of a step are judged in one call. It never walks a graph, and an evaluator never sees
//! more of a path than its names, times and confidences, and the embeddings that are stored of its
//! nodes. `steps.rs` adds vectors up.

mod model;
mod steps;

use std::collections::HashSet;
use std::sync::Arc;

use engraph_storage::graph::Interval;

use steps::{Part, Step, Vectors, cosine};

pub use model::ModelEvaluator;

use super::words::{Word, content, is_stop_word, stem, words};
use crate::neural::NeuralError;
use crate::text;

/// A path as an evaluator sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathText {
    /// The names of its nodes, from the root on; one more than there are relations. The root is called by its key,
    /// others by their text if they have one.
    pub nodes: Vec<String>,
    /// How many of its nodes it has met before.
    pub met_again: usize,
    /// The names of its relations, in order.
    pub relations: Vec<String>,
    /// The whole path as text.
    pub sentence: String,
    /// When each step holds, in microseconds since the Unix epoch.
    pub valid: Vec<Interval>,
    /// How sure each step is, in (0, 1].
    pub confidence: Vec<f64>,
    /// The embedding that is stored of each node, if it has one; by the model of the database. What
    /// is left out at the end has none.
    pub vectors: Vec<Option<Arc<[f32]>>>,
}

impl PathText {
    /// Each step as a sentence.
    fn steps(&self) -> impl Iterator<Item = String> {
        let ends = self.nodes.iter().zip(self.nodes.iter().skip(1));
        ends.zip(&self.relations)
            .map(|((head, tail), relation)| text::sentence(head, relation, tail))
    }
}

/// Judges paths through the graph on the way to an answer.
///
/// Every call gets all paths of a step and gives one number from 0 to 1 for each, in their order.
pub trait Evaluator: Send + Sync {
    /// How much each path has to do with the question. From 0.5 on it counts as relevant.
    ///
    /// # Errors
    ///
    /// [`NeuralError`] if a model fails; then no path is judged.
    fn relevance(&self, question: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError>;

    /// How well the steps of each path hang together. From 0.5 on it counts as coherent.
    ///
    /// # Errors
    ///
    /// [`NeuralError`] if a model fails; then no path is judged.
    fn coherence(&self, paths: &[PathText]) -> Result<Vec<f32>, NeuralError>;

    /// How much of what the question wants to know of the root, which it names, each path from
    /// there holds.
    ///
    /// # Errors
    ///
    /// [`NeuralError`] if a model fails; then no path is judged.
    fn sufficiency(
        &self,
        question: &str,
        root: &str,
        paths: &[PathText],
    ) -> Result<Vec<f32>, NeuralError>;
}

/// The name of a relation as words.
fn spoken(relation: &str) -> String {
    relation.replace('_', " ").to_lowercase()
}

/// A cosine as a number from 0 to 1, by a logistic curve.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// The cosine that is 0.5.
    middle: f32,
    /// How far from there the number is 0.73.
    width: f32,
}

impl Curve {
    fn at(self, cosine: f32) -> f32 {
        // A cosine that is no number has nothing in common with anything.
        if cosine.is_nan() {
            return 0.0;
        }
        1.0 / (1.0 + ((self.middle - cosine) / self.width).exp())
    }
}

/// Of a question and a path, both [`masked`].
///
/// Calibrated with all-MiniLM-L6-v2 on two sets, of 44 and 20 pairs of a question and a path about
/// the same person, half of them related. The middle parts 41 and 20 of them rightly, and the area
/// under the ROC curve is 0.99 and 1.0. With the name in place, no middle parts more than 38 and
/// 20, and the area is 0.94 and 1.0. Middle and mask were chosen with both sets in sight, so on
/// other pairs they will do worse.
const RELEVANCE: Curve = Curve { middle: 0.21, width: 0.06 };

/// Of two steps that follow each other. With all-MiniLM-L6-v2, ten pairs that go on from each other
/// had 0.43 to 0.62, and three without a common node -0.02 to 0.08. Pairs that have a node and
/// little else in common lie anywhere from 0.22 to 0.69: the curve does not know those.
const COHERENCE: Curve = Curve { middle: 0.35, width: 0.08 };

/// What stands for the name of the root.
const ANYBODY: &str = "someone";

/// What is left of coherence for each node met again, and for each two steps that are at no time
/// both true.
const JUMP: f32 = 0.5;

/// How much of sufficiency each part is.
const COVERED: f32 = 0.35;
const TYPED: f32 = 0.25;
const MEANT: f32 = 0.4;

/// Judges paths by the vectors of their steps, by the words of the question that they hold, and by
/// their times.
///
/// A path is as long as a beam makes it, and nearly each is a new text. What it is made of, nodes,
/// relations and steps, is met again and again: only that is embedded, and a path is the sum of it.
///
/// `embed` gives a vector of length 1 for each text, and should keep those that it has made. The
/// confidences of a path do not count: what is not sure enough is filtered before.
pub(crate) struct VectorEvaluator<F> {
    embed: F,
    /// Whether the embeddings that are stored of nodes are of the same model.
    uses_stored: bool,
}

impl<F> VectorEvaluator<F>
where
    F: Fn(&[&str]) -> Result<Vec<Arc<[f32]>>, NeuralError> + Send + Sync,
{
    pub(crate) fn new(embed: F, uses_stored: bool) -> Self {
        Self { embed, uses_stored }
    }

    /// The embedding that is stored of a node of a path.
    fn stored(&self, path: &PathText, node: usize) -> Option<Part> {
        let vector = path.vectors.get(node).filter(|_| self.uses_stored)?;
        vector.clone().map(Part::Vector)
    }

    /// What each step of a path says of its root: its relation and its end, if the embedding of the
    /// end is stored; else the sentence of the step without the root's name. A path without steps
    /// says what its root is.
    fn said(&self, path: &PathText, name: &HashSet<String>) -> Vec<Step> {
        if path.relations.is_empty() {
            return vec![vec![Part::Text(masked(&path.sentence, name))]];
        }
        let steps = path.steps().zip(&path.relations).zip(1..);
        let said = steps.map(|((sentence, relation), end)| match self.stored(path, end) {
            Some(vector) => vec![Part::Text(spoken(relation)), vector],
            None => vec![Part::Text(masked(&sentence, name))],
        });
        said.collect()
    }

    /// What each step of a path is made of: a node, a relation and a node.
    fn made(&self, path: &PathText) -> Vec<Step> {
        let node = |at: usize, name: &String| {
            self.stored(path, at).unwrap_or_else(|| Part::Text(name.clone()))
        };
        let nodes: Vec<Part> = path.nodes.iter().enumerate().map(|(at, n)| node(at, n)).collect();
        let steps = nodes.windows(2).zip(&path.relations);
        let made = steps.map(|(ends, relation)| {
            vec![ends[0].clone(), Part::Text(spoken(relation)), ends[1].clone()]
        });
        made.collect()
    }

    /// The vectors of texts, each of which goes through the model once.
    fn vectors<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t String>,
    ) -> Result<Vectors, NeuralError> {
        Vectors::new(texts, &self.embed)
    }
}

impl<F> Evaluator for VectorEvaluator<F>
where
    F: Fn(&[&str]) -> Result<Vec<Arc<[f32]>>, NeuralError> + Send + Sync,
{
    /// The cosine of the question and the sum of what the path's steps say, both without the root's
    /// name, on a logistic curve: "the degree of semantic correlation between the path and the
    /// query" (section III-B2). An embedding of the whole sentence is a mean over its words, and so
    /// is about the mean of its steps; a step off the topic lowers it.
    fn relevance(&self, question: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let pair = |path: &PathText| {
            let name = common_name(question, path.nodes.first().map_or("", String::as_str));
            (masked(question, &name), self.said(path, &name))
        };
        let pairs: Vec<(String, Vec<Step>)> = paths.iter().map(pair).collect();
        let texts = pairs.iter().flat_map(|(asked, steps)| {
            std::iter::once(asked).chain(steps.iter().flatten().filter_map(Part::text))
        });
        let vectors = self.vectors(texts)?;
        let one = |(asked, steps): &(String, Vec<Step>)| {
            RELEVANCE.at(cosine(vectors.of(asked), vectors.path(steps).as_deref()))
        };
        Ok(pairs.iter().map(one).collect())
    }

    /// The weakest pair of neighbouring steps: the cosine of the sums of their nodes and relations on
    /// a logistic curve, halved if they are at no time both true. Halved again for each node met
    /// twice. A path of one step or none has no pair, and is 1.
    fn coherence(&self, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        let steps: Vec<Vec<Step>> = paths.iter().map(|path| self.made(path)).collect();
        let compared = steps.iter().filter(|steps| steps.len() > 1).flatten();
        let vectors = self.vectors(compared.flatten().filter_map(Part::text))?;
        let one = |(path, steps): (&PathText, &Vec<Step>)| {
            let weakest = (1..steps.len()).map(|at| {
                let [before, after] = [at - 1, at].map(|at| vectors.step(&steps[at]));
                let meaning = COHERENCE.at(cosine(before.as_deref(), after.as_deref()));
                meaning * if touch(path, at) { 1.0 } else { JUMP }
            });
            let again = i32::try_from(path.met_again).unwrap_or(i32::MAX);
            weakest.fold(1.0, f32::min) * JUMP.powi(again)
        };
        Ok(paths.iter().zip(&steps).map(one).collect())
    }

    /// The sum of three parts.
    ///
    /// - 0.35 times the share of the question's content words, without those of the root, that
    ///   stand in the path, by stem.
    /// - 0.25 if the path holds what the question's first question word asks for: a time for
    ///   `when`, another name for `who`, a number for `how many`, and so on.
    /// - 0.4 times the best cosine of the question and what a step says, both without the root's
    ///   name, on the curve of relevance.
    ///
    /// Where the question has no other content words, or does not tell what it wants, that part is
    /// taken from the cosine. No part falls when a path grows, and none grows by its length alone:
    /// a step that adds nothing leaves the number as it was, so that the search stops (eq. 7). A
    /// path without steps is 0.
    fn sufficiency(
        &self,
        question: &str,
        root: &str,
        paths: &[PathText],
    ) -> Result<Vec<f32>, NeuralError> {
        if paths.iter().all(|path| path.relations.is_empty()) {
            return Ok(vec![0.0; paths.len()]);
        }
        let name = common_name(question, root);
        let steps: Vec<Vec<Step>> = paths.iter().map(|path| self.said(path, &name)).collect();
        let asked = masked(question, &name);
        let texts = steps.iter().flatten().flatten().filter_map(Part::text);
        let vectors = self.vectors(std::iter::once(&asked).chain(texts))?;
        let wanted = Wanted::of(question, root);
        let one = |(path, steps): (&PathText, &Vec<Step>)| {
            if path.relations.is_empty() {
                return 0.0;
            }
            let near = |step| cosine(vectors.of(&asked), vectors.step(step).as_deref());
            let meant = steps.iter().map(|step| RELEVANCE.at(near(step))).fold(0.0, f32::max);
            let covered = wanted.covered(path).unwrap_or(meant);
            let typed = wanted.typed(path).map_or(meant, |typed| f32::from(u8::from(typed)));
            COVERED * covered + TYPED * typed + MEANT * meant
        };
        Ok(paths.iter().zip(&steps).map(one).collect())
    }
}

/// The words of a root's name, in lower case, if the question names it.
fn common_name(question: &str, root: &str) -> HashSet<String> {
    let says_something = |word: &Word| !is_stop_word(&word.lower);
    let lower = |text: &str| -> HashSet<String> {
        words(text).into_iter().filter(says_something).map(|word| word.lower).collect()
    };
    let name = lower(root);
    if name.is_disjoint(&lower(question)) { HashSet::new() } else { name }
}

/// A text with "someone" for each run of words of a name. What is asked of a person is the same
/// whoever it is, and a name that both texts hold makes them alike whatever they say.
fn masked(text: &str, name: &HashSet<String>) -> String {
    let mut masked = String::with_capacity(text.len());
    // The end of what was copied or left out, and of a name that goes on there.
    let (mut at, mut name_end) = (0, None);
    for word in words(text).iter().filter(|word| name.contains(&word.lower)) {
        let between = text.get(at..word.range.start).unwrap_or_default();
        if name_end != Some(at) || !between.trim().is_empty() {
            masked += between;
            masked += ANYBODY;
        }
        at = word.range.end;
        name_end = Some(at);
    }
    masked + text.get(at..).unwrap_or_default()
}

/// Whether a step and the one before it are at some time both true, or one begins where the other
/// ends.
fn touch(path: &PathText, step: usize) -> bool {
    match (path.valid.get(step - 1), path.valid.get(step)) {
        (Some(before), Some(after)) => before.touches(after),
        _ => true,
    }
}

/// What kind of answer a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerType {
    Person,
    Time,
    Place,
    Number,
    Cause,
}

/// What a question wants to know of a root.
struct Wanted {
    /// Stems of its content words, without those of the root.
    words: HashSet<String>,
    answer: Option<AnswerType>,
}

impl Wanted {
    fn of(question: &str, root: &str) -> Self {
        let named: HashSet<String> = words(root).iter().map(|word| stem(&word.lower)).collect();
        let mut words: HashSet<String> = content(question).into_iter().collect();
        words.retain(|word| !named.contains(word));
        Self { words, answer: answer_type(question) }
    }

    /// The share of the words that stand in the path; none if there are no words.
    fn covered(&self, path: &PathText) -> Option<f32> {
        if self.words.is_empty() {
            return None;
        }
        let names = path.nodes.iter().chain(&path.relations);
        let held: HashSet<String> =
            names.flat_map(|name| content(&name.replace('_', " "))).collect();
        let found = self.words.intersection(&held).count();
        Some(found as f32 / self.words.len() as f32)
    }

    /// Whether the path holds an answer of the kind that is wanted; none if any kind is.
    fn typed(&self, path: &PathText) -> Option<bool> {
        let root = path.nodes.first();
        let others = || path.nodes.iter().filter(move |node| Some(*node) != root);
        let any_word = |names: &[String], known: &[&str]| {
            let spoken = |name: &String| words(&name.replace('_', " "));
            names.iter().flat_map(spoken).any(|word| known.contains(&word.lower.as_str()))
        };
        let has_digit = |name: &String| name.contains(|c: char| c.is_ascii_digit());
        let is_dated = |valid: &Interval| *valid != Interval::ALL;
        Some(match self.answer? {
            AnswerType::Person => others().any(|node| node.starts_with(char::is_uppercase)),
            AnswerType::Time => path.valid.iter().any(is_dated) || others().any(has_digit),
            AnswerType::Place => any_word(&path.relations, PLACE_WORDS),
            AnswerType::Number => {
                others().any(has_digit) || any_word(path.nodes.get(1..).unwrap_or(&[]), NUMBERS)
            }
            AnswerType::Cause => any_word(&path.relations, CAUSE_WORDS),
        })
    }
}

/// The kind of answer that the first question word asks for.
fn answer_type(question: &str) -> Option<AnswerType> {
    let words = words(question);
    let asks = |word: &Word| QUESTION_WORDS.contains(&word.lower.as_str());
    let at = words.iter().position(asks)?;
    let next = words.get(at + 1).map_or("", |word| word.lower.as_str());
    match (words[at].lower.as_str(), next) {
        ("who" | "whom" | "whose", _) => Some(AnswerType::Person),
        ("when", _)
        | ("how", "long" | "soon")
        | ("what" | "which", "time" | "date" | "day" | "month" | "year") => Some(AnswerType::Time),
        ("where", _) | ("what" | "which", "city" | "country" | "place" | "town") => {
            Some(AnswerType::Place)
        }
        ("how", "many" | "much" | "old" | "often") => Some(AnswerType::Number),
        ("why", _) | ("how", "come") => Some(AnswerType::Cause),
        _ => None,
    }
}

/// Behind the first of them any other one joins clauses: "what does she like when she is tired?".
const QUESTION_WORDS: &[&str] =
    &["who", "whom", "whose", "when", "where", "why", "how", "what", "which"];

const PLACE_WORDS: &[&str] = &[
    "in",
    "at",
    "to",
    "from",
    "near",
    "lives",
    "lived",
    "located",
    "location",
    "moved",
    "visited",
    "visits",
    "born",
    "works",
    "worked",
    "studied",
    "studies",
    "stayed",
    "travelled",
    "traveled",
    "home",
    "place",
    "city",
    "country",
    "capital",
    "held",
];

const CAUSE_WORDS: &[&str] = &[
    "because",
    "cause",
    "causes",
    "caused",
    "reason",
    "led",
    "leads",
    "due",
    "motivated",
    "motivates",
    "inspired",
    "explains",
    "explained",
    "resulted",
    "results",
    "for",
    "prompted",
];

const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "once", "twice",
    "dozen", "hundred", "thousand", "million",
];

#[cfg(test)]
mod tests;
