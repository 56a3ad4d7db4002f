//! The schema: the keys of all concepts as sequences of token ids (SCG-MEM, eq. 3), in a family
//! whose order of keys is the trie (eq. 4).
//!
//! ```text
//! key    [token + 1, 4 bytes] ... [0, 4 bytes] [node 8]      value  [created 8]
//! ```
//!
//! Zero is the mark of an end, so ids are stored with 1 added, and a key stands before those that go
//! on where it ends. The node comes last: concepts whose keys have the same tokens all stand there.
//!
//! Storage knows no model: whoever opens a store gives it a [`KeyTokenizer`]. Its identity stands in
//! `meta` beside the keys; with another one they are made anew before the next concept is written.
//!
//! Invariant: with an identity in `meta`, the family holds each node of the label [`CONCEPT`] once,
//! and nothing else; without one it is empty.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{LabelId, NodeId, NodeRecord, Time};
use crate::reader::Reader;
use crate::record;
use crate::store::Store;
use crate::tokenizer::KeyTokenizer;
use crate::transaction::Transaction;

/// The label of concepts, the nodes whose keys are the schema.
pub const CONCEPT: &str = "Concept";
/// The most tokens that the key of a concept may have.
pub const KEY_TOKENS_MAX: usize = 64;
/// The key of the tokenizer's identity in `meta`.
pub(crate) const TOKENIZER: &[u8] = b"key_tokenizer";

/// Marks an end.
const END: [u8; 4] = [0; 4];

/// The key of a concept in the family.
fn place(tokens: &[u32], node: NodeId) -> Result<Vec<u8>> {
    Ok([&path(tokens)?[..], &END, &node.0.to_be_bytes()].concat())
}

/// What the places of all keys begin with that begin with these tokens.
fn path(tokens: &[u32]) -> Result<Vec<u8>> {
    let mut path = Vec::with_capacity(4 * tokens.len());
    for token in tokens {
        let stored = token.checked_add(1).ok_or(StorageError::Exhausted("token"))?;
        path.extend(stored.to_be_bytes());
    }
    Ok(path)
}

/// The node and the bytes of the tokens of a key in the family; none if it is no such key.
pub(crate) fn parts(key: &[u8]) -> Option<(&[[u8; 4]], NodeId)> {
    let (path, node) = key.split_last_chunk()?;
    let (tokens, []) = path.as_chunks() else { return None };
    let (end, tokens) = tokens.split_last()?;
    let whole = *end == END && !tokens.contains(&END) && tokens.len() <= KEY_TOKENS_MAX;
    whole.then_some((tokens, NodeId(u64::from_be_bytes(*node))))
}

fn damaged(key: &[u8]) -> StorageError {
    StorageError::corrupt(Family::SchemaKeys.name(), key, "no key of a concept")
}

/// Called with the tokens of each key, its concept and when that came to be, until it breaks.
type VisitKey<'v> = &'v mut dyn FnMut(&[u32], NodeId, Time) -> ControlFlow<()>;

impl Reader<'_> {
    /// The identity of the tokenizer that took the keys of the schema apart; none if there are none.
    pub fn key_tokenizer(&self) -> Result<Option<String>> {
        let Some(bytes) = self.view().get(Family::Meta, TOKENIZER)? else { return Ok(None) };
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| StorageError::corrupt(Family::Meta.name(), TOKENIZER, "no text"))
    }

    /// Calls `visit` on every key of the schema in order of its tokens, a key before those that go
    /// on where it ends, until it breaks.
    pub fn schema_keys(&self, visit: VisitKey<'_>) -> Result<()> {
        let mut tokens = Vec::new();
        self.view().scan(Family::SchemaKeys, &[], None, &mut |key, value| {
            let (stored, node) = parts(key).ok_or_else(|| damaged(key))?;
            let created = record::created_of(value).ok_or_else(|| damaged(key))?;
            tokens.clear();
            // No part of a key is zero.
            tokens.extend(stored.iter().map(|token| u32::from_be_bytes(*token).wrapping_sub(1)));
            Ok(visit(&tokens, node, created))
        })
    }

    /// Calls `visit` on every concept and when it came to be, in no order that means anything.
    pub fn concepts(&self, visit: &mut dyn FnMut(NodeId, Time)) -> Result<()> {
        if self.key_tokenizer()?.is_some() {
            return self.schema_keys(&mut |_, node, created| {
                visit(node, created);
                ControlFlow::Continue(())
            });
        }
        for (node, record) in self.concept_records()? {
            visit(node, record.created);
        }
        Ok(())
    }

    fn concept_records(&self) -> Result<Vec<(NodeId, NodeRecord)>> {
        let Some(label) = self.catalog().label(CONCEPT) else { return Ok(Vec::new()) };
        let record = |node| self.current_node(node).map(Arc::unwrap_or_clone);
        self.all_of_label(label)?.into_iter().map(|node| Ok((node, record(node)?))).collect()
    }

    /// The nodes that the open transaction has changed, or the embeddings of which; none if this is
    /// no transaction's own state, or it has changed nothing.
    pub fn uncommitted(&self) -> Option<Vec<NodeId>> {
        let overlay = self.view().overlay()?;
        let node = |bytes: Option<&[u8; 8]>| bytes.map(|bytes| NodeId(u64::from_be_bytes(*bytes)));
        let nodes = overlay.keys(Family::Nodes).map(|key| node(key.first_chunk()));
        let vectors = overlay.keys(Family::Vectors).map(|key| node(key.last_chunk()));
        Some(nodes.chain(vectors).flatten().collect())
    }
}

impl Transaction<'_> {
    /// The tokens of a new node's key, if it is a concept. The schema is brought to the tokenizer
    /// first.
    ///
    /// # Errors
    ///
    /// [`StorageError::NoTokenizer`], [`StorageError::Tokenizer`], and [`StorageError::Invalid`] for
    /// a key of too many tokens.
    pub(crate) fn schema_tokens(&mut self, label: LabelId, key: &str) -> Result<Option<Vec<u32>>> {
        if self.catalog.label(CONCEPT) != Some(label) {
            return Ok(None);
        }
        let tokenizer = self.store.tokenizer.clone().ok_or(StorageError::NoTokenizer)?;
        let tokens = tokens_of(&*tokenizer, key)?;
        if self.reader().key_tokenizer()? != Some(tokenizer.id().map_err(StorageError::Tokenizer)?)
        {
            self.rebuild_schema_keys(&*tokenizer)?;
        }
        Ok(Some(tokens))
    }

    pub(crate) fn put_schema_key(&mut self, tokens: &[u32], node: NodeId, at: Time) -> Result<()> {
        self.overlay.put(Family::SchemaKeys, place(tokens, node)?, at.to_be_bytes().to_vec());
        Ok(())
    }

    /// Takes a concept's key out of the schema. No tokenizer is needed, only slower.
    pub(crate) fn forget_schema_key(&mut self, node: NodeId, record: &NodeRecord) -> Result<()> {
        if self.catalog.label(CONCEPT) != Some(record.label) {
            return Ok(());
        }
        let tokenizer = self.store.tokenizer.clone();
        let expected = tokenizer
            .and_then(|tokenizer| tokens_of(&*tokenizer, &record.key).ok())
            .and_then(|tokens| place(&tokens, node).ok());
        if let Some(place) = expected
            && self.view().get(Family::SchemaKeys, &place)?.is_some()
        {
            self.overlay.delete(Family::SchemaKeys, place);
            return Ok(());
        }
        let mut places = Vec::new();
        self.view().scan(Family::SchemaKeys, &[], None, &mut |key, _| {
            if key.ends_with(&node.0.to_be_bytes()) {
                places.push(key.to_vec());
            }
            Ok(ControlFlow::Continue(()))
        })?;
        places.into_iter().for_each(|place| self.overlay.delete(Family::SchemaKeys, place));
        Ok(())
    }

    /// Makes the schema of all concepts that there are.
    fn rebuild_schema_keys(&mut self, tokenizer: &dyn KeyTokenizer) -> Result<()> {
        let id = tokenizer.id().map_err(StorageError::Tokenizer)?;
        let concepts = self.reader().concept_records()?;
        let mut keys = Vec::with_capacity(concepts.len());
        for (node, record) in &concepts {
            // One that is longer by this tokenizer than it was by the other keeps its beginning.
            let mut tokens = tokenizer.tokenize(&record.key).map_err(StorageError::Tokenizer)?;
            tokens.truncate(KEY_TOKENS_MAX);
            keys.push((tokens_that_fit(tokens)?, *node, record.created));
        }
        self.delete_prefix(Family::SchemaKeys, &[])?;
        for (tokens, node, created) in keys {
            self.put_schema_key(&tokens, node, created)?;
        }
        self.overlay.put(Family::Meta, TOKENIZER, id.into_bytes());
        Ok(())
    }
}

fn tokens_of(tokenizer: &dyn KeyTokenizer, key: &str) -> Result<Vec<u32>> {
    let tokens = tokenizer.tokenize(key).map_err(StorageError::Tokenizer)?;
    if tokens.len() > KEY_TOKENS_MAX {
        return Err(StorageError::Invalid(format!(
            "the key of a {CONCEPT} has {} tokens, and {KEY_TOKENS_MAX} is the most; take a shorter \
             one, and put the text into a property",
            tokens.len()
        )));
    }
    tokens_that_fit(tokens)
}

/// The greatest number ends a key.
fn tokens_that_fit(tokens: Vec<u32>) -> Result<Vec<u32>> {
    match tokens.contains(&u32::MAX) {
        true => Err(StorageError::Exhausted("token")),
        false => Ok(tokens),
    }
}

impl Store {
    /// The same store; concepts go into the schema by the tokens of their keys.
    pub fn with_tokenizer(mut self, tokenizer: Arc<dyn KeyTokenizer>) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }
}

#[cfg(test)]
mod tests;
