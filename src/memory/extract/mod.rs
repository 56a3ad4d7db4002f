//! Drawing from the turns of an episode what is worth to be remembered: a title and a summary, the
//! concepts that it speaks of, durable statements, and facts.
//!
//! An extractor reads text and gives text. It never sees the database, and nothing that it gives is
//! believed because it says so: `memory::validate` holds it against the turns.
//!
//! ```text
//!   turns ──prompt.rs──▶ text ──model.rs──▶ JSON ──answer.rs──▶ Extraction
//!
//!   json.rs      the form of an answer, which a model from a folder is held to
//! ```

mod answer;
pub(crate) mod json;
mod model;
mod prompt;
mod rules;
mod sound;

use engraph_storage::graph::{Intent, Interval, Time};

use crate::neural::NeuralError;

pub use model::ModelExtractor;
pub use rules::Rules;
pub(crate) use sound::keep_sound;

/// A turn of an episode, as an extractor reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceTurn {
    /// The key of its node, such as `D1:3`.
    pub key: String,
    /// Who said it.
    pub speaker: Option<String>,
    /// When, in microseconds since 1970: UTC, or by the clock of who said it if the turn has a `utc_offset`. What
    /// is drawn of it has times by the same clock.
    pub at: Option<Time>,
    /// What was said, and what stood beside it (the caption of a picture).
    pub text: String,
}

/// An entity of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entity {
    /// Its label: `Person`, `Place`, `Organisation`, `Event`, `Thing`, or one of the graph's own.
    pub label: String,
    /// Its name, as the graph has it if it has it.
    pub name: String,
}

/// The entities that the graph has already.
pub trait KnownEntities {
    /// The entity of that name or alias; none if there is none, or more than one.
    fn find(&self, name: &str) -> Option<Entity>;

    /// Whether it is the given name of one person alone of whom somebody of `speakers` has told: "Olaf", after
    /// "My husband is Olaf Berg". By default nobody is known by it.
    fn is_given_name(&self, _name: &str, _speakers: &[&str]) -> bool {
        false
    }
}

/// A concept that a turn speaks of (the cue of MRAgent, the key of SCG-MEM).
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedConcept {
    /// Lower case words, the last one in the singular: `pottery class`.
    pub key: String,
    /// How it stands to the turn (the tag of MRAgent): `mentions`, `names`, `asks_about`, `plans`,
    /// `likes` and the like; a name of a relation.
    pub tag: String,
    /// The place of the turn in the episode, from 0.
    pub turn: usize,
}

/// A statement that will still say something when the conversation is over.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedSemantic {
    /// A sentence that stands alone: names in place of pronouns, dates in place of `yesterday`.
    pub text: String,
    /// When what it says held.
    pub valid: Interval,
    /// How sure whoever said it was, in (0, 1].
    pub confidence: f64,
    /// What kind of statement it is (REAL, eq. 4).
    pub intent: Intent,
    /// The concepts that it speaks of, by their keys.
    pub concepts: Vec<String>,
    /// The turns that say it, by their places in the episode, in order; at least one.
    pub turns: Vec<usize>,
}

/// A fact: head, relation, tail, when, how sure, and of what kind (REAL, eq. 4).
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedFact {
    /// What it is about.
    pub head: Entity,
    /// The name of the relation, in lower case with `_` between words: `lives_in`.
    pub relation: String,
    /// What it says of it.
    pub tail: Entity,
    /// When it holds.
    pub valid: Interval,
    /// How sure whoever said it was, in (0, 1].
    pub confidence: f64,
    /// What kind of fact it is (REAL, eq. 4).
    pub intent: Intent,
    /// The turns that say it, by their places in the episode, in order; at least one.
    pub turns: Vec<usize>,
}

/// That what was held of somebody is over, whatever it was: "I quit my job", "Rex died".
///
/// It ends the one fact of the head and relation that holds at that time, and where there is none, or more than
/// one, nothing. So it may be given without knowing whether anything is held.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedEnding {
    /// Whom it is said of.
    pub head: Entity,
    /// The name of the relation.
    pub relation: String,
    /// The name of what it is of, in any case; none if it was not named.
    pub tail: Option<String>,
    /// Until when it held.
    pub at: Time,
    /// How sure whoever said it was, in (0, 1].
    pub confidence: f64,
    /// The turns that say it, by their places in the episode, in order; at least one.
    pub turns: Vec<usize>,
}

/// What was drawn from an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// A few words.
    pub title: String,
    /// A few sentences.
    pub summary: String,
    /// The concepts of each turn.
    pub concepts: Vec<ExtractedConcept>,
    /// The durable statements.
    pub semantics: Vec<ExtractedSemantic>,
    /// The facts.
    pub facts: Vec<ExtractedFact>,
    /// What is over of what was told before.
    pub endings: Vec<ExtractedEnding>,
}

impl Extraction {
    /// The texts that will be embedded, some more than once.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let concepts = self.concepts.iter().map(|concept| concept.key.as_str());
        let semantics = self.semantics.iter();
        let semantics = semantics.flat_map(|one| {
            [one.text.as_str()].into_iter().chain(one.concepts.iter().map(String::as_str))
        });
        let all = concepts.chain(semantics).chain([self.summary.as_str()]);
        all.filter(|text| !text.is_empty())
    }
}

/// Draws memory from turns.
///
/// Three come along: one by rules, which needs no language model, a local language model, and one
/// behind an endpoint.
pub trait Extractor: Send + Sync {
    /// Names it and its version; kept with what it has drawn.
    fn id(&self) -> &str;

    /// Whether it takes no time worth speaking of. Then many episodes are drawn before the first of
    /// them is stored, so that their texts go through the embedding model together; else each is
    /// stored when it has been drawn.
    fn is_quick(&self) -> bool {
        false
    }

    /// Draws from the turns of one episode, which are in order of time.
    ///
    /// Items that cannot be stored are left out, and counted in [`Consolidated`](super::Consolidated): without
    /// a name, with a confidence that is not in (0, 1], an end before the beginning, or turns that are none of
    /// these. An entity with a label of the memory's own layers, such as `Topic`, becomes a `Thing`.
    ///
    /// # Errors
    ///
    /// Those of the model that it asks. Then the episode stays in the buffer, and is tried again.
    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError>;
}
