//! `CONSOLIDATE`: buffered turns become episodes, each in one transaction with everything that was
//! drawn from it, so that a crash leaves an episode there whole or its turns in the buffer.
//!
//! ```text
//! buffer ──vectors──▶ boundaries ──▶ blocks ──Extractor──▶ extractions ──▶ vectors, all in one go
//!   block, extraction ──concepts, entities──▶ inputs ──▶ one transaction
//! ```
//!
//! No model runs while the writer's lock is held, but where another writer changed in between what an
//! episode was drawn with.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use engraph_storage::graph::Value as Property;
use engraph_storage::{BufferedTurn, Durability, Reader, SessionBuffer, StorageError, Store};
use parking_lot::Mutex;

use super::boundary::{BoundaryDetector, Heard, Occasion, SimilarityBoundaries, closed_episodes};
use super::busy::{Busy, Taken};
use super::draw::{self, Consolidated, draw, extract};
use super::entities::Entities;
use super::extract::{Extraction, Extractor, Rules};
use super::means::{Construction, Means};
use super::theme_graph::Grouping;
use super::topics::{CueLinker, Linker};
use crate::context::limits::Patience;
use crate::error::{Diagnostic, Error, Result};
use crate::graph_names::{EPISODE, TOPIC};
use crate::indexes::Indexes;
use crate::models::Models;
use crate::neural::NeuralError;
use crate::rows::{Rows as Answer, Value};
use crate::text;
use crate::time;
use crate::write::{self, Input, TurnInput};

/// Turns that are drawn at a time, at least.
const WINDOW_TURNS: usize = 128;

/// What makes memory of turns. No two consolidations draw the same turns, and those of other sessions run beside
/// each other.
pub(crate) struct Consolidator {
    extractor: Arc<dyn Extractor>,
    boundaries: Arc<dyn BoundaryDetector>,
    linker: Arc<dyn Linker>,
    construction: Construction,
    busy: Busy,
    /// The themes as the last episode left them. Locked after the writer.
    grouping: Mutex<Option<Grouping>>,
}

impl Consolidator {
    /// The defaults stand in for what is not given.
    pub(crate) fn new(
        extractor: Option<Arc<dyn Extractor>>,
        boundaries: Option<Arc<dyn BoundaryDetector>>,
        linker: Option<Arc<dyn Linker>>,
        construction: Construction,
    ) -> Self {
        Self {
            construction,
            extractor: extractor.unwrap_or_else(|| Arc::new(Rules)),
            boundaries: boundaries.unwrap_or_else(|| Arc::<SimilarityBoundaries>::default()),
            linker: linker.unwrap_or_else(|| Arc::new(CueLinker)),
            busy: Busy::default(),
            grouping: Mutex::new(None),
        }
    }

    /// What memory is made with, beside these models and indexes.
    pub(crate) fn means<'m>(&'m self, models: &'m Models, indexes: &'m Indexes) -> Means<'m> {
        let Self { extractor, linker, construction, .. } = self;
        let construction = *construction;
        Means { extractor: &**extractor, linker: &**linker, models, indexes, construction }
    }
}

/// Where memory is made, and with what.
#[derive(Clone, Copy)]
pub(crate) struct Workshop<'w> {
    pub(crate) store: &'w Store,
    pub(crate) consolidator: &'w Consolidator,
    pub(crate) means: Means<'w>,
    pub(crate) durability: Durability,
    /// How long it waits for others that write, and whether it is to end at all.
    pub(crate) patience: Patience<'w>,
}

/// A block of turns on its way.
struct Block {
    session: String,
    positions: Vec<u64>,
    turns: Vec<TurnInput>,
}

/// Consolidates what is buffered of sessions, an episode at a time; `each` hears of every episode.
///
/// Sessions are taken in windows, in each of which all texts go through the model together. What is
/// drawn knows the entities that are there then, and those that were drawn in the window before.
pub(crate) fn consolidate(
    workshop: Workshop<'_>,
    sessions: &[String],
    occasion: Occasion,
    each: &mut dyn FnMut(Consolidated) -> Result<()>,
) -> Result<()> {
    // Else it would wait for whoever consolidates the same, who waits for this thread's transaction.
    workshop.store.no_own_transaction()?;
    if workshop.store.is_read_only() {
        return Err(StorageError::ReadOnly.into());
    }
    let mut failures = Failures::default();
    let mut waiting = sessions.iter().map(String::as_str).collect();
    while let Some((_taken, blocks)) = window(workshop, &mut waiting, occasion)? {
        let mut blocks = blocks.into_iter();
        while !blocks.as_slice().is_empty() {
            let together = if workshop.means.extractor.is_quick() { usize::MAX } else { 1 };
            let goes_on = |block: &Block| !failures.of.contains(&block.session);
            let next = blocks.by_ref().filter(goes_on).take(together);
            let (drafts, failed) = drafts(workshop, next)?;
            for Draft { block, extraction, left_out } in &drafts {
                if let Some(done) = store_block(workshop, block, extraction)? {
                    each(Consolidated { left_out: *left_out, ..done })?;
                }
            }
            failures.hear(!drafts.is_empty(), failed)?;
        }
    }
    failures.first.map_or(Ok(()), |error| Err(error.into()))
}

/// What could not be drawn: the sessions, whose turns stay in the buffer while others go on, and why.
#[derive(Default)]
struct Failures {
    of: BTreeSet<String>,
    first: Option<NeuralError>,
    in_a_row: usize,
}

impl Failures {
    /// So many sessions fail one after the other where the model itself is gone.
    const IN_A_ROW_MAX: usize = 3;

    /// Takes what has failed, after something else was drawn or not; an error if too much has failed in a row.
    fn hear(&mut self, is_drawn: bool, failed: Option<(String, NeuralError)>) -> Result<()> {
        self.in_a_row = if is_drawn { 0 } else { self.in_a_row };
        let Some((session, error)) = failed else { return Ok(()) };
        self.of.insert(session);
        self.in_a_row += 1;
        let first = self.first.take().unwrap_or(error);
        if self.in_a_row >= Self::IN_A_ROW_MAX {
            return Err(first.into());
        }
        self.first = Some(first);
        Ok(())
    }
}

/// The next sessions that together have so many turns that the model's batches are full, and their blocks; none
/// where nothing waits. Sessions that others consolidate come once they are done.
fn window<'w>(
    workshop: Workshop<'w>,
    waiting: &mut VecDeque<&str>,
    occasion: Occasion,
) -> Result<Option<(Vec<Taken<'w>>, Vec<Block>)>> {
    if waiting.is_empty() {
        return Ok(None);
    }
    let busy = &workshop.consolidator.busy;
    let (mut sessions, mut counts) = (Vec::new(), Vec::new());
    let mut turns: Vec<(u64, TurnInput)> = Vec::new();
    let mut next = Some(busy.take(waiting, workshop.patience)?);
    while let Some(taken) = next {
        let session = taken.session();
        let mut held = workshop.store.snapshot(time::wall()).reader().buffered(session)?;
        held.sort_by_key(|(position, turn)| (turn.at, *position));
        counts.push(held.len());
        turns.extend(held.into_iter().map(|(position, turn)| (position, input(session, turn))));
        sessions.push(taken);
        next = if turns.len() < WINDOW_TURNS { busy.try_take(waiting) } else { None };
    }
    embed_turns(workshop, &mut turns)?;
    let mut turns = turns.into_iter();
    let mut blocks = Vec::new();
    for (taken, count) in sessions.iter().zip(counts) {
        let turns: Vec<(u64, TurnInput)> = turns.by_ref().take(count).collect();
        blocks.extend(cut(workshop, taken.session(), turns, occasion));
    }
    Ok(Some((sessions, blocks)))
}

/// The turns of a session, cut into blocks.
fn cut(
    workshop: Workshop<'_>,
    session: &str,
    turns: Vec<(u64, TurnInput)>,
    occasion: Occasion,
) -> Vec<Block> {
    let heard: Vec<_> = turns.iter().map(|(_, turn)| heard(turn)).collect();
    let episodes = closed_episodes(&*workshop.consolidator.boundaries, &heard, occasion);
    drop(heard);
    let mut turns = turns.into_iter();
    let block = |episode: Range<usize>| {
        let (positions, mut turns): (_, Vec<TurnInput>) =
            turns.by_ref().take(episode.len()).unzip();
        for at in 1..turns.len() {
            turns[at].behind = Some(turns[at - 1].key.clone());
        }
        Block { session: session.to_owned(), positions, turns }
    };
    episodes.into_iter().map(block).collect()
}

/// Gives the turns their embeddings, all in one go.
fn embed_turns(workshop: Workshop<'_>, turns: &mut [(u64, TurnInput)]) -> Result<()> {
    let mut inputs: Vec<Input> = turns.iter().map(|(_, turn)| Input::Turn(turn.clone())).collect();
    let snapshot = workshop.store.snapshot(time::wall());
    write::embed(&mut inputs, workshop.means.models, snapshot.reader())?;
    for ((_, turn), input) in turns.iter_mut().zip(inputs) {
        if let Input::Turn(embedded) = input {
            *turn = embedded;
        }
    }
    Ok(())
}

fn heard(turn: &TurnInput) -> Heard<'_> {
    let said = text::of_node(&turn.properties).unwrap_or_default();
    let text = match turn.properties.get("text") {
        Some(Property::String(text)) => text.as_str(),
        _ => "",
    };
    let (vector, tokens) = (turn.vector(), text::tokens(&said));
    Heard { at: turn.at, vector, tokens, speaker: &turn.speaker, text }
}

/// Blocks with what was drawn from them, and why there is no more of them if an extractor failed.
type Drafts = (Vec<Draft>, Option<(String, NeuralError)>);

/// A block with what was drawn from it, and how many items could not be stored.
struct Draft {
    block: Block,
    extraction: Extraction,
    left_out: u64,
}

/// Draws from blocks, and sends what was drawn through the model in one go.
fn drafts(workshop: Workshop<'_>, blocks: impl Iterator<Item = Block>) -> Result<Drafts> {
    let mut known = Entities::newest(workshop.store);
    let (mut drafts, mut failed) = (Vec::new(), None);
    for block in blocks {
        match extract(&mut known, &block.turns, workshop.means.extractor) {
            Ok((extraction, left_out)) => drafts.push(Draft { block, extraction, left_out }),
            Err(error) => {
                failed = Some((block.session, error));
                break;
            }
        }
    }
    let texts: Vec<&str> = drafts.iter().flat_map(|draft| draft.extraction.texts()).collect();
    workshop.means.models.embed(&texts)?;
    Ok((drafts, failed))
}

/// One transaction; none if the turns are not in the buffer any more.
fn store_block(
    workshop: Workshop<'_>,
    block: &Block,
    extraction: &Extraction,
) -> Result<Option<Consolidated>> {
    let (means, session) = (workshop.means, block.session.as_str());
    let drawn = {
        let snapshot = workshop.store.snapshot(time::wall());
        let key = free_key(snapshot.reader(), session)?;
        draw(snapshot.reader(), (session, &key), &block.turns, (extraction, means))?
    };
    let mut transaction = workshop.patience.begin(workshop.store)?;
    for (turn, position) in block.turns.iter().zip(&block.positions) {
        let place = Some((session.to_owned(), *position));
        if transaction.reader().find_buffered(&turn.key)? != place {
            return Ok(None);
        }
    }
    let taken = transaction.take_buffered(session, &block.positions)?;
    // One that was forgotten and told anew under its key is another turn, which stays where it is.
    let is_same = |turn: &TurnInput| {
        let held = taken.iter().find(|held| held.key == turn.key);
        held.is_some_and(|held| {
            let held = input(session, held.clone());
            held.speaker == turn.speaker && held.at == turn.at && held.properties == turn.properties
        })
    };
    if !block.turns.iter().all(is_same) {
        return Ok(None);
    }
    let mut grouping = workshop.consolidator.grouping.lock();
    let held = grouping.take();
    let held = held.filter(|held| held.is_current(workshop.store, transaction.reader()));
    let themes = || Grouping::of(transaction.reader(), means.construction.themes);
    let mut held = held.map_or_else(themes, Ok)?;
    draw::store(&mut transaction, &drawn, &mut held, means)?;
    transaction.commit(workshop.durability, time::wall())?;
    *grouping = Some(held);
    Ok(Some(drawn.done))
}

/// A key of the form `session#number` that no episode has, and the one before it has one. How often it
/// looks grows with the logarithm of their number.
fn free_key(reader: Reader<'_>, session: &str) -> Result<String> {
    let key = |number: u64| format!("{session}#{number}");
    let Some(label) = reader.catalog().label(EPISODE) else { return Ok(key(1)) };
    let is_taken = |number: u64| reader.find_node(label, &key(number)).map(|found| found.is_some());
    let (mut taken, mut free) = (0, 1);
    while is_taken(free)? {
        (taken, free) = (free, free.saturating_mul(2));
    }
    while free - taken > 1 {
        let middle = taken.midpoint(free);
        match is_taken(middle)? {
            true => taken = middle,
            false => free = middle,
        }
    }
    Ok(key(free))
}

/// A buffered turn as what becomes a node.
fn input(session: &str, turn: BufferedTurn) -> TurnInput {
    let mut properties = turn.properties;
    properties.insert("text".to_owned(), Property::String(turn.text));
    TurnInput {
        session: session.to_owned(),
        key: turn.key,
        behind: None,
        speaker: turn.speaker.unwrap_or_default(),
        at: turn.at,
        properties,
        embedding: None,
    }
}

/// Consolidates a session that has ended, or all of them.
pub(crate) fn consolidate_each(
    workshop: Workshop<'_>,
    session: Option<&str>,
    each: &mut dyn FnMut(Consolidated) -> Result<()>,
) -> Result<()> {
    let sessions = match session {
        Some(session) => vec![session.to_owned()],
        None => buffered(workshop)?.into_iter().map(|(session, _)| session).collect(),
    };
    consolidate(workshop, &sessions, Occasion::SessionEnd, each)
}

/// What the groups of all statements are: how many themes there are, how many statements have changed
/// theme since the database was opened, and how many topics there are.
pub(crate) fn groups(workshop: Workshop<'_>) -> Result<[(&'static str, u64); 3]> {
    let snapshot = workshop.store.snapshot(time::wall());
    let reader = snapshot.reader();
    let topics = reader.catalog().label(TOPIC);
    let topics = topics.map_or(Ok(0), |label| workshop.means.indexes.count(label, reader))?;
    let grouping = workshop.consolidator.grouping.lock();
    let (themes, moved) = grouping.as_ref().map_or((0, 0), Grouping::counts);
    Ok([("themes", themes), ("statements that changed theme", moved), ("topics", topics)])
}

/// The sessions with turns in the buffer, in the order in which they were first heard.
pub(crate) fn buffered(workshop: Workshop<'_>) -> Result<Vec<(String, SessionBuffer)>> {
    buffered_at(workshop.store.snapshot(time::wall()).reader())
}

/// The same, of a state.
pub(crate) fn buffered_at(reader: Reader<'_>) -> Result<Vec<(String, SessionBuffer)>> {
    let mut sessions = reader.buffered_sessions()?;
    sessions.retain(|(_, buffer)| buffer.turns > 0);
    sessions.sort_by_key(|(_, buffer)| (buffer.first_observed, buffer.last_at));
    Ok(sessions)
}

/// The statement: a row for each episode.
pub(crate) fn said(workshop: Workshop<'_>, session: Option<&str>) -> Result<Answer> {
    const COLUMNS: [&str; 7] =
        ["episode", "title", "turns", "concepts", "new", "semantics", "facts"];
    let columns = COLUMNS.map(str::to_owned).to_vec();
    let mut rows = Answer { columns, ..Answer::default() };
    let snapshot = workshop.store.snapshot(time::wall());
    if let Some(session) = session
        && snapshot.reader().session_buffer(session)?.is_none_or(|held| held.turns == 0)
    {
        let message = format!("nothing is buffered of the session '{session}'");
        rows.warnings.push(Diagnostic::new(message));
    }
    drop(snapshot);
    let mut left_out = 0;
    consolidate_each(workshop, session, &mut |done| {
        let count = |count: u64| Value::Int(count.cast_signed());
        left_out += done.left_out;
        rows.rows.push(vec![
            Value::String(done.episode),
            Value::String(done.title),
            count(done.turns),
            count(done.concepts),
            count(done.concepts_new),
            count(done.semantics),
            count(done.facts),
        ]);
        match workshop.patience.is_interrupted() {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    })?;
    if left_out > 0 {
        let id = workshop.means.extractor.id();
        let message = format!("{left_out} of the items that {id} drew cannot be stored");
        rows.warnings.push(Diagnostic::new(message).help("see memory::Extractor for what can"));
    }
    Ok(rows)
}
