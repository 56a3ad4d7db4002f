//! Drawing memory from the turns of an episode, and storing what was drawn.
//!
//! ```text
//! turns ──Extractor──▶ extraction ──concepts, entities──▶ inputs ──vectors──▶ Drawn
//! Drawn ──in one transaction──▶ nodes and facts, then themes, then topics
//! ```
//!
//! What is asked of a model is asked before anything is written.

use std::collections::BTreeSet;

use engraph_storage::graph::{Interval, NodeId, Time, Value};
use engraph_storage::{Reader, Transaction};

use super::concepts;
use super::entities::Entities;
use super::episode::Episode;
use super::extract::{Extraction, Extractor, SourceTurn, keep_sound};
use super::means::Means;
use super::past::{self, Ending};
use super::present;
use super::resolve::resolve;
use super::theme_graph::{Grouping, LazyGrouping};
use super::topic_graph::{self, About};
use crate::error::Result;
use crate::graph_names::{HAS_EPISODE, SEMANTIC, UTC_OFFSET};
use crate::neural::NeuralError;
use crate::text;
use crate::time;
use crate::write::{self, FactInput, Input, TurnInput};

/// An episode that turns have become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consolidated {
    /// The key of the episode.
    pub episode: String,
    /// A few words.
    pub title: String,
    /// Its turns.
    pub turns: u64,
    /// Concepts that were met in it.
    pub concepts: u64,
    /// Of these, new ones (SCG-MEM, accommodation).
    pub concepts_new: u64,
    /// Durable statements.
    pub semantics: u64,
    /// Facts, those held as uncertain among them.
    pub facts: u64,
    /// What the extractor gave that could not be stored.
    pub left_out: u64,
}

impl Consolidated {
    /// Adds the counts of another episode.
    pub(crate) fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.concepts += other.concepts;
        self.concepts_new += other.concepts_new;
        self.semantics += other.semantics;
        self.facts += other.facts;
        self.left_out += other.left_out;
    }
}

/// What was drawn of an episode.
pub(super) struct Drawn {
    /// The episode with its turns, concepts and statements, in the order in which they are to be stored.
    pub(super) inputs: Vec<Input>,
    /// The facts that it tells.
    pub(super) facts: Vec<Input>,
    /// What it says to be over of what is held.
    endings: Vec<Ending>,
    /// The keys of its statements.
    pub(super) semantics: Vec<String>,
    /// The episode as topics see it, and the facts that give it its place among them.
    about: About,
    topics: Vec<FactInput>,
    pub(super) done: Consolidated,
}

/// Draws from the turns of an episode, which are in order of time, what can be stored; and how many items
/// cannot. What it tells is known from then on.
///
/// # Errors
///
/// Those of the extractor's model.
pub(super) fn extract(
    known: &mut Entities<'_>,
    turns: &[TurnInput],
    extractor: &dyn Extractor,
) -> std::result::Result<(Extraction, u64), NeuralError> {
    let ahead: Vec<Time> = turns.iter().map(ahead).collect();
    let sources: Vec<SourceTurn> =
        turns.iter().zip(&ahead).map(|(turn, ahead)| source(turn, *ahead)).collect();
    let mut extraction = extractor.extract(&sources, known)?;
    let left_out = keep_sound(&mut extraction, sources.len());
    let of = |told: &[usize]| told.last().and_then(|turn| ahead.get(*turn)).copied().unwrap_or(0);
    for semantic in &mut extraction.semantics {
        semantic.valid = behind(semantic.valid, of(&semantic.turns));
    }
    for fact in &mut extraction.facts {
        fact.valid = behind(fact.valid, of(&fact.turns));
    }
    for ending in &mut extraction.endings {
        ending.at = ending.at.saturating_sub(of(&ending.turns));
    }
    known.hear(&extraction.facts);
    Ok((extraction, left_out))
}

/// How far the clock of who says a turn is ahead of UTC, in microseconds.
fn ahead(turn: &TurnInput) -> Time {
    match turn.properties.get(UTC_OFFSET) {
        Some(Value::String(offset)) => time::ahead(offset).unwrap_or(0),
        _ => 0,
    }
}

/// An interval by a clock that is so far ahead of UTC, in UTC.
fn behind(valid: Interval, ahead: Time) -> Interval {
    let bound = |time: Time| match time {
        Interval::MIN | Interval::MAX => time,
        time => time.saturating_sub(ahead),
    };
    Interval::new(bound(valid.from), bound(valid.to)).unwrap_or(valid)
}

/// What an episode is stored as, without embeddings and without its place among topics.
pub(super) fn inputs(
    reader: Reader<'_>,
    names: (&str, &str),
    turns: &[TurnInput],
    (extraction, means): (&Extraction, Means<'_>),
) -> Result<Vec<Input>> {
    let known = concepts::known(extraction, means, reader)?;
    let entities = resolve(extraction, turns, means, reader)?;
    let extractor = means.extractor.id();
    let (session, key) = names;
    let (concepts, entities) = (&known, &entities);
    Ok(Episode { key, session, turns, extraction, concepts, entities, extractor }.inputs())
}

/// Makes of what was drawn from turns the episode of that key.
pub(super) fn draw(
    reader: Reader<'_>,
    (session, key): (&str, &str),
    turns: &[TurnInput],
    (extraction, means): (&Extraction, Means<'_>),
) -> Result<Drawn> {
    let known = concepts::known(extraction, means, reader)?;
    let entities = resolve(extraction, turns, means, reader)?;
    let episode = Episode {
        key,
        session,
        turns,
        extraction,
        concepts: &known,
        entities: &entities,
        extractor: means.extractor.id(),
    };
    let (mut inputs, mut facts) = (episode.inputs(), episode.facts());
    write::embed(&mut inputs, means.models, reader)?;
    write::embed(&mut facts, means.models, reader)?;
    let speakers: BTreeSet<String> = turns.iter().map(|turn| turn.speaker.to_lowercase()).collect();
    let met: BTreeSet<String> = known.keys.values().cloned().collect();
    let done = counted(key, turns, extraction, (met.len() as u64, known.new));
    let about = About {
        key: key.to_owned(),
        concepts: met.into_iter().filter(|concept| !speakers.contains(concept)).collect(),
        at: began(turns),
        turns: turns.iter().map(|turn| turn.key.clone()).collect(),
    };
    let topics = match inputs.iter().find_map(said) {
        Some(said) => topic_graph::place(reader, &about, said, means)?,
        None => Vec::new(),
    };
    let (semantics, endings) = (episode.semantic_keys(), episode.endings());
    Ok(Drawn { semantics, inputs, facts, endings, about, topics, done })
}

/// What an episode says, with its embedding.
fn said(input: &Input) -> Option<(&str, &[f32])> {
    match input {
        Input::Fact(fact) if fact.relation == HAS_EPISODE => fact.tail.embedded(),
        _ => None,
    }
}

/// Stores what was drawn, and gives it its place among themes and topics.
pub(super) fn store(
    transaction: &mut Transaction<'_>,
    drawn: &Drawn,
    grouping: &mut Grouping,
    means: Means<'_>,
) -> Result<()> {
    for input in &drawn.inputs {
        write::put(transaction, input, means.models)?;
    }
    for input in &drawn.facts {
        tell(transaction, input, means)?;
    }
    if transaction.has_overruled_own() {
        let nodes = ends(transaction.reader(), &drawn.facts)?;
        transaction.take_back(&nodes)?;
    }
    for ending in &drawn.endings {
        past::end(transaction, ending)?;
    }
    place(transaction, drawn, means, |transaction, statements| {
        grouping.attach(transaction, statements, means.models)
    })
}

/// The nodes that facts are of.
fn ends(reader: Reader<'_>, facts: &[Input]) -> Result<BTreeSet<NodeId>> {
    let mut nodes = BTreeSet::new();
    for input in facts {
        let Input::Fact(fact) = input else { continue };
        for end in [&fact.head, &fact.tail] {
            nodes.extend(reader.find(&end.label, &end.key)?);
        }
    }
    Ok(nodes)
}

/// Stores what was drawn once more, but for its facts: what its turns have said before is not said again,
/// so what was retracted since stays so.
pub(super) fn store_again(
    transaction: &mut Transaction<'_>,
    drawn: &Drawn,
    grouping: &mut LazyGrouping,
    means: Means<'_>,
) -> Result<()> {
    for input in &drawn.inputs {
        match input {
            Input::Fact(fact) => drop(write::put_new_fact(transaction, fact, means.models)?),
            input => write::put(transaction, input, means.models)?,
        }
    }
    place(transaction, drawn, means, |transaction, statements| {
        grouping.attach(transaction, statements, means.models)
    })
}

/// Stores a fact that was drawn.
pub(super) fn tell(
    transaction: &mut Transaction<'_>,
    fact: &Input,
    means: Means<'_>,
) -> Result<()> {
    match fact {
        Input::Fact(fact) if past::is_over(fact) => past::put(transaction, fact, means.models),
        Input::Fact(fact) if present::is_present(fact) => {
            present::put(transaction, fact, means.models)
        }
        input => write::put(transaction, input, means.models),
    }
}

/// Gives what was stored its place among themes, to which `attach` puts statements, and topics.
fn place<'t>(
    transaction: &mut Transaction<'t>,
    drawn: &Drawn,
    means: Means<'_>,
    attach: impl FnOnce(&mut Transaction<'t>, &[NodeId]) -> Result<()>,
) -> Result<()> {
    let statements = nodes(transaction.reader(), SEMANTIC, &drawn.semantics)?;
    attach(transaction, &statements)?;
    topic_graph::put(transaction, &drawn.about, &drawn.topics, means)
}

/// The time of the first turn that has one.
pub(super) fn began(turns: &[TurnInput]) -> Option<Time> {
    turns.iter().filter_map(|turn| turn.at).min()
}

/// Those of these nodes that there are.
pub(super) fn nodes(reader: Reader<'_>, label: &str, keys: &[String]) -> Result<Vec<NodeId>> {
    let mut found = Vec::new();
    for key in keys {
        found.extend(reader.find(label, key)?);
    }
    Ok(found)
}

fn counted(
    key: &str,
    turns: &[TurnInput],
    extraction: &Extraction,
    (concepts, concepts_new): (u64, u64),
) -> Consolidated {
    Consolidated {
        episode: key.to_owned(),
        title: extraction.title.clone(),
        turns: turns.len() as u64,
        concepts,
        concepts_new,
        semantics: extraction.semantics.len() as u64,
        facts: extraction.facts.len() as u64,
        left_out: 0,
    }
}

/// A turn as an extractor reads it, at the time of a clock that is so far ahead of UTC.
fn source(turn: &TurnInput, ahead: Time) -> SourceTurn {
    let mut properties = turn.properties.clone();
    properties.remove("speaker");
    SourceTurn {
        key: turn.key.clone(),
        speaker: Some(turn.speaker.clone()).filter(|speaker| !speaker.is_empty()),
        at: turn.at.map(|at| at.saturating_add(ahead)),
        text: text::of_node(&properties).unwrap_or_default(),
    }
}
