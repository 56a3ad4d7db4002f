//! What is known of the concepts of a database, kept up with its commits: one list, and beside it
//! what was made of it, tries by tokenizer and embeddings.
//!
//! The list is in order of the nodes, and concepts have the same numbers for as long as it lives.
//! Each has an instant of its beginning and one of its end, so one list answers all states from the
//! oldest to the newest that it knows; a concept ends only when it is forgotten. Whoever holds a copy
//! is not disturbed when it goes on.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{Interval, LabelId, NodeId, SystemScope, Time};
use engraph_storage::{CONCEPT, KEY_TOKENS_MAX, Reader};

use super::Embed;
use super::live::{Concept, Live};
use super::trie::{Key, Layers};
use super::vectors::Vectors;
use crate::error::Result;
use crate::neural::KeyModel;

/// Forgotten concepts that are kept in the list, if that is more than a quarter of it.
const FORGOTTEN_MIN: usize = if cfg!(test) { 2 } else { 1024 };
/// Keys that go through the embedder in one call.
const KEYS_PER_CALL: usize = 256;

/// The concepts of all states in `from..=until`.
#[derive(Clone)]
pub(super) struct Known {
    from: Time,
    pub(super) until: Time,
    pub(super) concepts: Arc<Vec<Concept>>,
    forgotten: usize,
    tries: BTreeMap<String, Layers>,
    pub(super) vectors: Option<Vectors>,
}

impl Known {
    /// Reads all concepts of a state. What was known of the meaning of their keys stays.
    pub(super) fn read(reader: Reader<'_>, old: Option<&Self>) -> Result<Self> {
        let mut concepts = Vec::new();
        reader.concepts(&mut |node, created| {
            concepts.push(Concept { node, created, removed: Interval::MAX });
        })?;
        concepts.sort_unstable_by_key(|concept| concept.node);
        let until = reader.last_commit()?;
        let mut known = Self {
            from: until,
            until,
            concepts: Arc::new(concepts),
            forgotten: 0,
            tries: BTreeMap::new(),
            vectors: None,
        };
        if let Some((old, vectors)) = old.and_then(|old| Some((old, old.vectors.as_ref()?))) {
            let mut own = Vectors::new(&vectors.embedder, vectors.dimensions, vectors.is_stored);
            own.grow(known.concepts.len());
            own.carry(&known.concepts, vectors, &old.concepts);
            known.vectors = Some(own);
            known.read_vectors(reader)?;
        }
        Ok(known)
    }

    /// Whether it answers a state.
    pub(super) fn knows(&self, state: Time) -> bool {
        (self.from..=self.until).contains(&state)
    }

    /// Goes on to a newer state by the nodes that changed and when. False if it cannot: then the
    /// concepts have to be read again.
    pub(super) fn follow(
        &mut self,
        reader: Reader<'_>,
        changed: &[(Time, NodeId)],
    ) -> Result<bool> {
        let until = reader.last_commit()?;
        let changed = changed.iter().filter(|(time, _)| *time <= until);
        let last: BTreeMap<NodeId, Time> = changed.map(|(time, node)| (*node, *time)).collect();
        for (node, time) in last {
            if !self.change(reader, node, time)? {
                return Ok(false);
            }
        }
        self.until = until;
        Ok(self.forgotten <= FORGOTTEN_MIN.max(self.concepts.len() / 4))
    }

    /// Takes over the changes of an open transaction.
    pub(super) fn with_changes(mut self, reader: Reader<'_>, nodes: Vec<NodeId>) -> Result<Self> {
        let now = reader.now();
        for node in nodes.into_iter().collect::<std::collections::BTreeSet<_>>() {
            if !self.change(reader, node, now)? {
                return Self::read(reader, Some(&self));
            }
        }
        Ok(self)
    }

    /// Takes over the change of a node. False if it would be out of order.
    fn change(&mut self, reader: Reader<'_>, node: NodeId, time: Time) -> Result<bool> {
        let label = reader.catalog().label(CONCEPT);
        let record = reader.node(node, SystemScope::Current)?;
        let found = self.concepts.binary_search_by_key(&node, |concept| concept.node);
        let number = match (record, found) {
            (Some(record), _) if Some(record.label) != label => return Ok(true),
            (Some(record), Err(place)) => {
                if place < self.concepts.len() {
                    return Ok(false);
                }
                let concept = Concept { node, created: record.created, removed: Interval::MAX };
                Arc::make_mut(&mut self.concepts).push(concept);
                place
            }
            (Some(_), Ok(number)) => number,
            (None, Ok(number)) => {
                let concept = &mut Arc::make_mut(&mut self.concepts)[number];
                self.forgotten += usize::from(concept.removed == Interval::MAX);
                concept.removed = concept.removed.min(time);
                return Ok(true);
            }
            (None, Err(_)) => {
                // It came and went since; a state in between may have had it.
                self.from = self.from.max(time);
                return Ok(true);
            }
        };
        if let (Some(mut vectors), Some(label)) = (self.vectors.take(), label) {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            vectors.grow(self.concepts.len());
            vectors.clear_stored(number);
            if vectors.is_stored {
                reader.vector_history(label, node, &mut |_, system, vector| {
                    vectors.add_stored(number, system, vector);
                })?;
            }
            self.vectors = Some(vectors);
        }
        Ok(true)
    }

    /// Whether the trie of a tokenizer is there and whole.
    pub(super) fn has_trie(&self, tokenizer: &str) -> bool {
        self.tries.get(tokenizer).is_some_and(|trie| trie.covered == self.concepts.len())
    }

    /// The trie of a tokenizer, by the newest state that is known. It is read from the database if it
    /// is that of its tokenizer, and else made of the concepts' keys.
    pub(super) fn trie(
        &mut self,
        reader: Reader<'_>,
        tokenizer: &str,
        model: &dyn KeyModel,
    ) -> Result<&Layers> {
        let covered = match self.tries.get(tokenizer) {
            Some(trie) => trie.covered,
            None => 0,
        };
        let keys = match covered {
            0 if reader.key_tokenizer()?.as_deref() == Some(tokenizer) => self.read_keys(reader)?,
            _ => self.tokenized(reader, covered, model)?,
        };
        let all = self.concepts.len();
        let trie = self.tries.entry(tokenizer.to_owned());
        let trie = trie.or_insert_with(|| Layers::new(Vec::new(), 0));
        match covered {
            0 => *trie = Layers::new(keys, all),
            _ => trie.extend(keys, all),
        }
        Ok(trie)
    }

    fn number(&self, node: NodeId) -> Option<u32> {
        let found = self.concepts.binary_search_by_key(&node, |concept| concept.node).ok()?;
        u32::try_from(found).ok()
    }

    fn read_keys(&mut self, reader: Reader<'_>) -> Result<Vec<Key>> {
        // The keys of what was forgotten are gone: states that knew it are not answered any more.
        let ended = self.concepts.iter().map(|concept| concept.removed);
        self.from = ended.filter(|time| *time <= self.until).fold(self.from, Time::max);
        let mut keys = Vec::with_capacity(self.concepts.len());
        reader.schema_keys(&mut |tokens, node, _| {
            keys.extend(self.number(node).map(|number| (tokens.to_vec(), number)));
            ControlFlow::Continue(())
        })?;
        Ok(keys)
    }

    /// The keys of concepts from that number on. One of too many tokens is cut: it still leads to its
    /// concept.
    fn tokenized(
        &mut self,
        reader: Reader<'_>,
        covered: usize,
        model: &dyn KeyModel,
    ) -> Result<Vec<Key>> {
        let mut keys = Vec::with_capacity(self.concepts.len() - covered);
        for (concept, number) in self.concepts.iter().zip(0..).skip(covered) {
            let Some(record) = reader.node(concept.node, SystemScope::Current)? else {
                // Forgotten before it was needed: states that knew it are not answered any more.
                self.from = self.from.max(concept.removed);
                continue;
            };
            let mut tokens = model.tokenize(&record.key)?;
            tokens.truncate(KEY_TOKENS_MAX);
            keys.push((tokens, number));
        }
        Ok(keys)
    }

    /// Whether every concept that is visible has an embedding.
    pub(super) fn has_vectors(&self, like: &Vectors, live: &Live<'_>) -> bool {
        let fits =
            |vectors: &&Vectors| vectors.fits(&like.embedder, like.dimensions, like.is_stored);
        let Some(vectors) = self.vectors.as_ref().filter(fits) else { return false };
        let all = 0..u32::try_from(self.concepts.len()).unwrap_or(u32::MAX);
        all.into_iter().all(|n| !live.is_visible(n) || vectors.row_at(n, live.at()).is_some())
    }

    /// The embeddings of all concepts that are visible: those of the database, if they are of the
    /// same embedder, and for the others those of their keys. `empty` says what they must be.
    pub(super) fn embed(
        &mut self,
        reader: Reader<'_>,
        empty: Vectors,
        live: &Live<'_>,
        embed: Embed<'_>,
    ) -> Result<()> {
        let like = |held: &Vectors| held.fits(&empty.embedder, empty.dimensions, empty.is_stored);
        if !self.vectors.as_ref().is_some_and(like) {
            let old = self.vectors.take();
            let mut own = empty;
            own.grow(self.concepts.len());
            if let Some(old) = old {
                own.carry(&self.concepts, &old, &self.concepts);
            }
            self.vectors = Some(own);
            self.read_vectors(reader)?;
        }
        let Some(vectors) = &mut self.vectors else { return Ok(()) };
        vectors.grow(self.concepts.len());
        let missing: Vec<u32> = (0..u32::try_from(self.concepts.len()).unwrap_or(u32::MAX))
            .filter(|n| live.is_visible(*n) && vectors.row_at(*n, live.at()).is_none())
            .collect();
        for numbers in missing.chunks(KEYS_PER_CALL) {
            let mut keys = Vec::with_capacity(numbers.len());
            for number in numbers {
                let node = self.concepts[*number as usize].node;
                let record = reader.node(node, SystemScope::Current)?;
                keys.push(record.map_or(String::new(), |record| record.key.clone()));
            }
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            for (number, vector) in numbers.iter().zip(embed(&keys)?) {
                vectors.add_key(*number, &vector);
            }
        }
        Ok(())
    }

    /// Reads what the database holds and held.
    fn read_vectors(&mut self, reader: Reader<'_>) -> Result<()> {
        let label: Option<LabelId> = reader.catalog().label(CONCEPT);
        let (Some(mut vectors), Some(label)) = (self.vectors.take(), label) else {
            return Ok(());
        };
        if vectors.is_stored {
            reader.vector_histories(label, &mut |node, system, vector| {
                if let Some(number) = self.number(node) {
                    vectors.add_stored(number, system, vector);
                }
            })?;
        }
        self.vectors = Some(vectors);
        Ok(())
    }
}
