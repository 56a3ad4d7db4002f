//! How a new topic is linked to those before it (GAM, algorithm 3).
//!
//! ```text
//!   new summary, the five nearest topics ──Linker──▶ a relation and a confidence for each
//!     ──confidence > 0.5──▶ edges
//! ```
//!
//! It neither looks for the candidates nor writes the edges. [`CueLinker`] decides by cues, without
//! a model; what any linker says is checked before it is believed.

mod cues;
mod model;
mod sentence;

use std::collections::BTreeSet;

use engraph_storage::graph::Time;

use self::cues::{cause_parts, is_opposed};
use self::sentence::{Sentence, sentences};
use super::vector::dot;
use crate::neural::NeuralError;

pub use self::model::ModelLinker;

/// The nearest topics that a new one is held against; only these are scored.
pub const CANDIDATES: usize = 5;
/// What the confidence of an edge is above (tau).
pub const TAU: f64 = 0.5;

/// A topic, as a linker sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Topic<'a> {
    /// Its summary.
    pub text: &'a str,
    /// The vector of the summary, of length 1.
    pub vector: &'a [f32],
    /// The concepts and entities that it speaks of, without those who speak.
    pub concepts: &'a [String],
    /// When it was spoken of, in microseconds since 1970, UTC.
    pub at: Option<Time>,
}

/// How two topics relate (GAM, appendix E.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopicRelation {
    /// One says what bears out the other.
    Support,
    /// One says the opposite of the other.
    Contradict,
    /// One led to the other.
    Causal,
    /// Both speak of the same thing or event.
    Coreference,
    /// Both mean something like it.
    Semantic,
    /// They have nothing to do with each other.
    Unrelated,
}

impl TopicRelation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Support,
        Self::Contradict,
        Self::Causal,
        Self::Coreference,
        Self::Semantic,
        Self::Unrelated,
    ];

    /// Its name in the graph; `UNRELATED` is never an edge.
    pub fn name(self) -> &'static str {
        match self {
            Self::Support => "SUPPORT",
            Self::Contradict => "CONTRADICT",
            Self::Causal => "CAUSAL",
            Self::Coreference => "COREFERENCE",
            Self::Semantic => "SEMANTIC",
            Self::Unrelated => "UNRELATED",
        }
    }

    /// Whether the two ends of the edge are not the same.
    pub fn is_directed(self) -> bool {
        matches!(self, Self::Support | Self::Contradict | Self::Causal)
    }
}

/// What a linker says of the new topic and one candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// How they relate.
    pub relation: TopicRelation,
    /// How sure that is, in [0, 1].
    pub confidence: f64,
    /// Whether the edge goes from the candidate to the new topic: from the cause to its effect.
    /// Otherwise, and without a direction, it goes from the new topic to the candidate.
    pub is_reversed: bool,
}

/// An edge of the new topic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The place of the other topic among the candidates.
    pub candidate: usize,
    /// What it is, with its confidence as the weight.
    pub verdict: Verdict,
}

/// What says how topics relate: cues, or a model.
pub trait Linker: Send + Sync {
    /// Names the linker; stored with the edges.
    fn id(&self) -> &str;

    /// One verdict for each candidate, in their order.
    ///
    /// # Errors
    ///
    /// Those of the model, if there is one.
    fn relate(
        &self,
        new: &Topic<'_>,
        candidates: &[Topic<'_>],
    ) -> Result<Vec<Verdict>, NeuralError>;
}

/// The edges of a new topic to its candidates, of which the first five are looked at: those that
/// are not unrelated and whose confidence is above 0.5 (GAM, algorithm 3).
///
/// A confidence above 1 counts as 1, and one that is not a number as none. A relation without a
/// direction goes from the new topic.
///
/// # Errors
///
/// Those of the linker, and [`NeuralError::Failed`] if it does not give one verdict for each
/// candidate.
pub fn links(
    linker: &dyn Linker,
    new: &Topic<'_>,
    candidates: &[Topic<'_>],
) -> Result<Vec<Link>, NeuralError> {
    let candidates = &candidates[..candidates.len().min(CANDIDATES)];
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let verdicts = linker.relate(new, candidates)?;
    if verdicts.len() != candidates.len() {
        let (given, asked) = (verdicts.len(), candidates.len());
        let reason = format!("{} gave {given} relations for {asked} topics", linker.id());
        return Err(NeuralError::Failed { reason });
    }
    let is_edge = |verdict: &Verdict| {
        verdict.relation != TopicRelation::Unrelated && verdict.confidence > TAU
    };
    let link = |(candidate, verdict): (usize, Verdict)| Link {
        candidate,
        verdict: Verdict {
            confidence: verdict.confidence.min(1.0),
            is_reversed: verdict.is_reversed && verdict.relation.is_directed(),
            ..verdict
        },
    };
    let numbered = verdicts.into_iter().enumerate();
    Ok(numbered.filter(|(_, verdict)| is_edge(verdict)).map(link).collect())
}

/// Relates topics by their similarity, the words and concepts that they share, and cues. English
/// only.
///
/// With `s` the cosine of the two vectors, or 0 if it is negative; `o` the largest overlap of the
/// content words of a sentence of the one and a sentence of the other, where two or more are
/// shared; `n` the overlap of the concepts, both as `2 |A and B| / (|A| + |B|)` (Dice); and `r` the
/// share of a cause's content words that the earlier topic has too:
///
/// | relation | if | confidence |
/// | --- | --- | --- |
/// | contradict | `o > 0.5`, and the one sentence negates a word of the other or has its opposite | `(o + s) / 2` |
/// | causal | the later topic names a cause (`because`, `so she`, `led to`) with `r > 0.5` | `(r + s) / 2` |
/// | support | `o > 0.5`, and neither | `(o + s) / 2` |
/// | coreference | they share a concept | `(n + s) / 2` |
/// | semantic | always | `s` |
///
/// The first in this order whose confidence is above 0.5 is the relation. If there is none they are
/// unrelated, as sure as `1 - s`. A cause is earlier than its effect; without times the candidate
/// is the earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CueLinker;

impl Linker for CueLinker {
    fn id(&self) -> &str {
        "cues:1"
    }

    fn relate(
        &self,
        new: &Topic<'_>,
        candidates: &[Topic<'_>],
    ) -> Result<Vec<Verdict>, NeuralError> {
        let read = Read::of(*new);
        Ok(candidates.iter().map(|candidate| verdict(&read, &Read::of(*candidate))).collect())
    }
}

/// A topic that was read.
struct Read<'a> {
    topic: Topic<'a>,
    sentences: Vec<Sentence>,
    concepts: BTreeSet<String>,
}

impl<'a> Read<'a> {
    fn of(topic: Topic<'a>) -> Self {
        let concepts = topic.concepts.iter().map(|concept| concept.to_lowercase()).collect();
        Self { topic, sentences: sentences(topic.text), concepts }
    }
}

fn verdict(new: &Read<'_>, candidate: &Read<'_>) -> Verdict {
    let similarity = f64::from(dot(new.topic.vector, candidate.topic.vector));
    let similarity = if similarity.is_finite() { similarity.clamp(0.0, 1.0) } else { 0.0 };
    let is_late = new.topic.at.zip(candidate.topic.at).is_some_and(|(new, old)| new < old);
    let (later, earlier) = if is_late { (candidate, new) } else { (new, candidate) };
    let said = nearest_sentences(new, candidate);
    let overlap = |opposed: bool| {
        said.filter(|said| said.is_opposed == opposed).map_or(0.0, |said| said.overlap)
    };
    let above = |least: f64, part: f64| {
        if part > least { f64::midpoint(part, similarity) } else { 0.0 }
    };
    let ways = [
        (TopicRelation::Contradict, above(0.5, overlap(true))),
        (TopicRelation::Causal, above(0.5, cause(later, earlier))),
        (TopicRelation::Support, above(0.5, overlap(false))),
        (TopicRelation::Coreference, above(0.0, shared_concepts(new, candidate))),
        (TopicRelation::Semantic, similarity),
    ];
    let unrelated = (TopicRelation::Unrelated, 1.0 - similarity);
    let (relation, confidence) =
        ways.into_iter().find(|(_, confidence)| *confidence > TAU).unwrap_or(unrelated);
    let is_reversed = relation == TopicRelation::Causal && !is_late;
    Verdict { relation, confidence, is_reversed }
}

/// Two sentences that say most nearly the same, or its opposite.
#[derive(Clone, Copy)]
struct Said {
    overlap: f64,
    is_opposed: bool,
}

/// The sentences that overlap most, the first of equals; none if no two share two words.
fn nearest_sentences(a: &Read<'_>, b: &Read<'_>) -> Option<Said> {
    let pairs = a.sentences.iter().flat_map(|x| b.sentences.iter().map(move |y| (x, y)));
    let said = pairs.filter_map(|(x, y)| {
        let (is_opposed, opposites) = is_opposed(x, y);
        let shared = x.content.intersection(&y.content).count() + opposites;
        let overlap = dice(shared, x.content.len(), y.content.len());
        (shared >= 2).then_some(Said { overlap, is_opposed })
    });
    said.reduce(|held, next| if next.overlap > held.overlap { next } else { held })
}

/// The largest share of a cause, named in the later topic, that the earlier one speaks of; 0 if it
/// names none.
fn cause(later: &Read<'_>, earlier: &Read<'_>) -> f64 {
    let known: BTreeSet<&String> = earlier.sentences.iter().flat_map(|s| &s.content).collect();
    let share = |cause: BTreeSet<String>| {
        let found = cause.iter().filter(|word| known.contains(word)).count();
        found as f64 / cause.len().max(1) as f64
    };
    cause_parts(&later.sentences).into_iter().map(share).fold(0.0, f64::max)
}

fn shared_concepts(a: &Read<'_>, b: &Read<'_>) -> f64 {
    let shared = a.concepts.intersection(&b.concepts).count();
    dice(shared, a.concepts.len(), b.concepts.len())
}

/// The overlap of two sets by the number of what they share and of what they have (Dice); 0 if both
/// are empty.
fn dice(shared: usize, a: usize, b: usize) -> f64 {
    (2.0 * shared as f64 / (a + b).max(1) as f64).min(1.0)
}

#[cfg(test)]
mod tests;
