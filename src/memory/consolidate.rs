//! `CONSOLIDATE`: buffered turns become episodes, each in one transaction with everything that was
//! drawn from it, so that a crash leaves an episode there whole or its turns in the buffer.
//!
//! ```text
//! buffer ──vectors──▶ boundaries ──▶ blocks of turns
//!   block ──Extractor──▶ extraction ──concepts, entities──▶ inputs ──vectors──▶ one transaction
//! ```
//!
//! No model runs while the writer's lock is held.

use std::collections::BTreeSet;

use engraph_storage::graph::{LabelId, SystemScope, Value};
use engraph_storage::{BufferedTurn, Reader};

use super::boundary::Heard;
use super::concepts;
use super::episode::Episode;
use super::extract::{Entity, Extraction, KnownEntities, SourceTurn};
use crate::database::Engraph;
use crate::error::Result;
use crate::graph_names::LAYERS;
use crate::text;
use crate::time;
use crate::write::{self, Input, TurnInput};

/// An episode that turns have become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
}

/// Which turns of a session are consolidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// All: the session has ended, or has paused.
    End,
    /// All but the last block, which may go on.
    LastBoundary,
}

/// A block of turns on its way.
struct Block {
    positions: Vec<u64>,
    turns: Vec<TurnInput>,
}

/// Consolidates what is buffered of a session, an episode at a time; `each` hears of every episode.
pub(crate) fn consolidate(
    db: &Engraph,
    session: &str,
    until: Until,
    each: &mut dyn FnMut(&Consolidated),
) -> Result<()> {
    let _alone = db.consolidating.lock();
    for block in blocks(db, session, until)? {
        if let Some(done) = consolidate_block(db, session, block)? {
            each(&done);
        }
    }
    Ok(())
}

/// The buffered turns in order of time, cut into blocks.
fn blocks(db: &Engraph, session: &str, until: Until) -> Result<Vec<Block>> {
    let mut held = db.store.snapshot(time::wall()).reader().buffered(session)?;
    held.sort_by_key(|(position, turn)| (turn.at, *position));
    let mut turns: Vec<(u64, TurnInput)> =
        held.into_iter().map(|(position, turn)| (position, input(session, turn))).collect();
    embed_turns(db, &mut turns)?;
    let heard: Vec<_> = turns.iter().map(|(_, turn)| heard(turn)).collect();
    let mut ends = db.boundaries().boundaries(&heard);
    drop(heard);
    if until == Until::End {
        ends.push(turns.len());
    }
    let mut rest = turns.into_iter();
    let mut blocks = Vec::new();
    let mut from = 0;
    for end in ends {
        let (positions, turns) = rest.by_ref().take(end.saturating_sub(from)).unzip();
        from = from.max(end);
        blocks.push(Block { positions, turns });
    }
    blocks.retain(|block| !block.turns.is_empty());
    Ok(blocks)
}

/// Gives the turns their embeddings, all in one go.
fn embed_turns(db: &Engraph, turns: &mut [(u64, TurnInput)]) -> Result<()> {
    let mut inputs: Vec<Input> =
        turns.iter().map(|(_, turn)| Input::Turn(turn.clone())).collect();
    let snapshot = db.store.snapshot(time::wall());
    write::embed(&mut inputs, &db.models, snapshot.reader())?;
    for ((_, turn), input) in turns.iter_mut().zip(inputs) {
        if let Input::Turn(embedded) = input {
            *turn = embedded;
        }
    }
    Ok(())
}

fn heard(turn: &TurnInput) -> Heard<'_> {
    let text = text::of_node(&turn.properties).unwrap_or_default();
    Heard { at: turn.at, vector: turn.vector(), tokens: tokens(&text) }
}

/// The tokens of a text, by its length: what a boundary is tested by need not be exact.
pub(crate) fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// One transaction; none if the turns are not in the buffer any more.
fn consolidate_block(db: &Engraph, session: &str, block: Block) -> Result<Option<Consolidated>> {
    let extractor = db.extractor();
    let prepared = {
        let snapshot = db.store.snapshot(time::wall());
        let reader = snapshot.reader();
        let sources: Vec<SourceTurn> = block.turns.iter().map(source).collect();
        let extraction = extractor.extract(&sources, &Entities::new(reader))?;
        let known = concepts::known(&extraction, db, reader)?;
        let key = free_key(reader, session)?;
        let episode = Episode {
            key: &key,
            session,
            turns: &block.turns,
            extraction: &extraction,
            concepts: &known.keys,
            extractor: extractor.id(),
        };
        let mut inputs = episode.inputs();
        write::embed(&mut inputs, &db.models, reader)?;
        let done = counted(&key, &block, &extraction, &known);
        Prepared { inputs, done }
    };
    let mut transaction = db.store.begin(time::wall())?;
    let taken = transaction.take_buffered(session, &block.positions)?;
    if taken.len() != block.positions.len() {
        return Ok(None);
    }
    for input in &prepared.inputs {
        write::put(&mut transaction, input, &db.models)?;
    }
    transaction.commit(db.durability(), time::wall())?;
    Ok(Some(prepared.done))
}

struct Prepared {
    inputs: Vec<Input>,
    done: Consolidated,
}

fn counted(
    key: &str,
    block: &Block,
    extraction: &Extraction,
    known: &concepts::Known,
) -> Consolidated {
    let met: BTreeSet<&String> = known.keys.values().collect();
    Consolidated {
        episode: key.to_owned(),
        title: extraction.title.clone(),
        turns: block.turns.len() as u64,
        concepts: met.len() as u64,
        concepts_new: known.new,
        semantics: extraction.semantics.len() as u64,
        facts: extraction.facts.len() as u64,
    }
}

/// The first key of the form `session#number` that no episode has.
fn free_key(reader: Reader<'_>, session: &str) -> Result<String> {
    let Some(label) = reader.catalog().label("Episode") else { return Ok(format!("{session}#1")) };
    let mut number = 1_u64;
    loop {
        let key = format!("{session}#{number}");
        if reader.find_node(label, &key)?.is_none() {
            return Ok(key);
        }
        number += 1;
    }
}

/// A buffered turn as what becomes a node.
fn input(session: &str, turn: BufferedTurn) -> TurnInput {
    let mut properties = turn.properties;
    properties.insert("text".to_owned(), Value::String(turn.text));
    TurnInput {
        session: session.to_owned(),
        key: Some(turn.key),
        speaker: turn.speaker.unwrap_or_default(),
        at: turn.at,
        properties,
        embedding: None,
    }
}

/// A turn as an extractor reads it.
fn source(turn: &TurnInput) -> SourceTurn {
    let mut properties = turn.properties.clone();
    properties.remove("speaker");
    SourceTurn {
        key: turn.key.clone().unwrap_or_default(),
        speaker: Some(turn.speaker.clone()).filter(|speaker| !speaker.is_empty()),
        at: turn.at,
        text: text::of_node(&properties).unwrap_or_default(),
    }
}

/// The entities of the graph: nodes of all labels but the layers.
struct Entities<'r> {
    reader: Reader<'r>,
    labels: Vec<(LabelId, String)>,
}

impl<'r> Entities<'r> {
    fn new(reader: Reader<'r>) -> Self {
        let is_entity = |name: &str| !LAYERS.contains(&name) && !NO_ENTITIES.contains(&name);
        let labels = reader.catalog().labels();
        let labels = labels.filter(|(_, name)| is_entity(name));
        let labels = labels.map(|(label, name)| (label, name.to_owned())).collect();
        Self { reader, labels }
    }

    fn found(&self, name: &str) -> Result<Option<Entity>> {
        let mut found = None;
        for (label, label_name) in &self.labels {
            let Some(node) = self.reader.find_node(*label, name)? else { continue };
            let Some(record) = self.reader.node(node, SystemScope::Current)? else { continue };
            if found.is_some() {
                return Ok(None);
            }
            found = Some(Entity { label: label_name.clone(), name: record.key });
        }
        Ok(found)
    }
}

/// Labels beside the layers that name no entity.
const NO_ENTITIES: [&str; 2] = ["Concept", "Conversation"];

impl KnownEntities for Entities<'_> {
    fn find(&self, name: &str) -> Option<Entity> {
        // What cannot be read is not known; writing will say so.
        self.found(name).ok().flatten()
    }
}
