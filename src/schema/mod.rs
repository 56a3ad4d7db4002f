//! `GENERATE`: keys of concepts written under the constraint of the schema (SCG-MEM, section 3).
//!
//! Whatever model says which keys fit a question, only keys of concepts come out that the state and
//! the instant asked for know and that the filter accepts. Nothing here writes to the database.
//!
//! ```text
//!   Reader ──follow──▶ Known: the concepts, tries by tokenizer, embeddings
//!          question ──Embedder──▶ cosines ──softmax──▶ keys            marginal.rs, exact
//!          question ──KeyModel──▶ logits ──trie──▶ beams ──▶ keys      search.rs
//!
//!   known.rs    what is known of the concepts, kept up with commits
//!   trie.rs     keys by their tokens
//!   vectors.rs  embeddings, and their cosines to one vector
//!   live.rs     which keys count
//!   free.rs     keys without the schema, to measure it by
//! ```

mod free;
mod known;
mod live;
mod marginal;
mod search;
#[cfg(test)]
mod tests;
mod trie;
mod vectors;

use std::sync::Arc;

use engraph_storage::Reader;
use engraph_storage::graph::{NodeId, SystemScope, Time};
use parking_lot::Mutex;

use crate::error::Result;
use crate::neural::KeyModel;
use crate::threads;
pub(crate) use free::free_keys;
use known::Known;
pub(crate) use live::Accept;
use live::Live;
use vectors::Vectors;

/// Gives a vector for each text.
pub(crate) type Embed<'a> = &'a dyn Fn(&[&str]) -> Result<Vec<Arc<[f32]>>>;

/// The concepts that were written or forgotten after an instant, or the embeddings of which were,
/// and when; none if nobody knows.
pub(crate) type Changes<'a> = &'a dyn Fn(Time) -> Option<Vec<(Time, NodeId)>>;

/// What says which keys fit a question.
pub(crate) enum By<'a> {
    /// How near they are in meaning: exact, and without a model but the embedder of that id.
    Meaning { embedder: &'a str, embed: Embed<'a> },
    /// A model that writes keys, and the id of its tokenizer.
    Model { model: &'a dyn KeyModel, tokenizer: &'a str },
}

/// What keys are asked for.
pub(crate) struct Asking<'a> {
    pub(crate) reader: Reader<'a>,
    /// With `SystemScope::All`, as it is now.
    pub(crate) system: SystemScope,
    pub(crate) question: &'a str,
    /// The most keys that are given.
    pub(crate) beams: usize,
    /// Without one, every concept of the state counts.
    pub(crate) accept: Option<Accept<'a>>,
    pub(crate) changes: Changes<'a>,
    pub(crate) by: By<'a>,
}

/// A concept whose key was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Generated {
    pub(crate) node: NodeId,
    /// The natural logarithm of its probability among the keys that count.
    pub(crate) logprob: f64,
}

/// The schema of a database in memory, read when it is first asked for.
#[derive(Default)]
pub(crate) struct Schemas {
    known: Mutex<Option<Known>>,
}

impl Schemas {
    /// The likeliest keys, the likeliest first; fewer than asked for only if there are fewer that
    /// count, or if the model calls the others impossible.
    ///
    /// # Errors
    ///
    /// Those of the model, of the filter and of the reader.
    pub(crate) fn generate(&self, asking: &Asking<'_>) -> Result<Vec<Generated>> {
        match asking.by {
            By::Meaning { embedder, embed } => {
                let Some(question) = embed(&[asking.question])?.pop() else {
                    return Ok(Vec::new());
                };
                let is_stored = asking.reader.model()?.as_deref() == Some(embedder);
                let empty = Vectors::new(embedder, question.len(), is_stored);
                let (known, state) = self.known(
                    asking,
                    &|known, live| known.has_vectors(&empty, live),
                    &|known, reader, live| known.embed(reader, empty.clone(), live, embed),
                )?;
                let live = asking.live(&known.concepts, state);
                match &known.vectors {
                    Some(vectors) => marginal::best(vectors, &live, &question, asking.beams),
                    None => Ok(Vec::new()),
                }
            }
            By::Model { model, tokenizer } => {
                let (mut known, state) = self.known(
                    asking,
                    &|known, _| known.has_trie(tokenizer),
                    &|known, reader, _| known.trie(reader, tokenizer, model).map(drop),
                )?;
                let concepts = Arc::clone(&known.concepts);
                let live = asking.live(&concepts, state);
                let trie = known.trie(asking.reader, tokenizer, model)?;
                let mut writer = model.start(asking.question)?;
                search::beam_search(trie, &live, &mut *writer, asking.beams)
            }
        }
    }

    /// What is known of the state asked for, with what is needed of it, and the instant by which it
    /// knows what is visible.
    fn known(
        &self,
        asking: &Asking<'_>,
        has: &dyn Fn(&Known, &Live<'_>) -> bool,
        make: &dyn Fn(&mut Known, Reader<'_>, &Live<'_>) -> Result<()>,
    ) -> Result<(Known, Time)> {
        let committed = asking.reader.committed();
        let state = committed.last_commit()?;
        let ready = |known: &mut Known, reader, state| {
            let concepts = Arc::clone(&known.concepts);
            let live = asking.live(&concepts, state);
            if has(known, &live) { Ok(()) } else { make(known, reader, &live) }
        };
        let known = {
            // Another question may be reading all concepts.
            let mut held = threads::locked(&self.known, || committed.in_time())?;
            let known = up_to(&mut held, committed, state, asking.changes)?;
            let is_whole = || has(known, &asking.live(&known.concepts, state));
            if known.until == state || (known.knows(state) && is_whole()) {
                ready(known, committed, state)?;
                known.clone()
            } else {
                // A state from before what is known: for this question alone.
                let mut own = Known::read(committed, Some(known))?;
                ready(&mut own, committed, state)?;
                own
            }
        };
        let Some(nodes) = asking.reader.uncommitted() else { return Ok((known, state)) };
        let mut own = known.with_changes(asking.reader, nodes)?;
        let now = asking.reader.now();
        ready(&mut own, asking.reader, now)?;
        Ok((own, now))
    }
}

/// What is held, brought to a state if that is newer.
fn up_to<'k>(
    held: &'k mut Option<Known>,
    reader: Reader<'_>,
    state: Time,
    changes: Changes<'_>,
) -> Result<&'k mut Known> {
    // After an error it is read again.
    let known = match held.take() {
        Some(known) if state <= known.until => known,
        Some(mut known) => {
            let followed = match changes(known.until) {
                Some(changed) => known.follow(reader, &changed)?,
                None => false,
            };
            if followed { known } else { Known::read(reader, Some(&known))? }
        }
        None => Known::read(reader, None)?,
    };
    Ok(held.insert(known))
}

impl<'a> Asking<'a> {
    fn live<'l>(&self, concepts: &'l [live::Concept], state: Time) -> Live<'l>
    where
        'a: 'l,
    {
        let at = match self.system {
            SystemScope::AsOf(time) => time,
            SystemScope::Current | SystemScope::All => Time::MAX,
        };
        Live::new(concepts, state, at, self.accept)
    }
}
