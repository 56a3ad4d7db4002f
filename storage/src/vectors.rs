//! Embeddings with their history: read whole, and made anew when the model changes.
//!
//! An embedding stands for what a node says from one instant to another. Another model makes
//! another embedding of the same text, and it stands for the same time: so it takes the place of
//! the old one, and no history is written.
//!
//! ```text
//! begin_renewal ──▶ renew, renewed_to ... ──▶ finish_renewal
//! model: old       Unfinished                  new
//! ```
//!
//! Invariant: while some are by one model and some by another, `meta` says so, and
//! [`Reader::model`] is an error. What is moved to history meanwhile comes after what is read then,
//! as embeddings that were are renewed after those that are.

use std::ops::ControlFlow;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Interval, LabelId, NodeId, Time};
use crate::key;
use crate::reader::{MODEL, Reader, vector_of};
use crate::record;
use crate::transaction::Transaction;

/// The key in `meta` that is there while embeddings are made anew.
pub(crate) const RENEWAL: &[u8] = b"renewal";

/// How far embeddings have been made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// By which model.
    pub model: String,
    /// The last one that is done.
    pub done: Option<VectorMark>,
}

/// The place of an embedding, in the order in which they are made anew.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VectorMark {
    past: bool,
    key: Vec<u8>,
}

impl VectorMark {
    fn family(&self) -> Family {
        if self.past { Family::VectorsPast } else { Family::Vectors }
    }
}

/// A renewal on the disk: the model; whether the last one that is done is of the past, and its key.
type RenewalRecord = (String, Option<(bool, Vec<u8>)>);

/// An embedding that is stored, without its components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its place.
    pub mark: VectorMark,
    /// The label of its node.
    pub label: LabelId,
    /// Its node.
    pub node: NodeId,
    /// When it stood; up to [`Interval::MAX`] if it still does.
    pub system: Interval,
}

/// Called with the node of each embedding, when it stood, and its components.
type VisitVector<'v> = &'v mut dyn FnMut(NodeId, Interval, &[f32]);

impl Reader<'_> {
    /// Calls `visit` on every embedding of the nodes of a label, those that are and those that were.
    pub fn vector_histories(&self, label: LabelId, visit: VisitVector<'_>) -> Result<()> {
        self.histories(&label.0.to_be_bytes(), visit)
    }

    /// Calls `visit` on every embedding of a node, those that are and those that were.
    pub fn vector_history(
        &self,
        label: LabelId,
        node: NodeId,
        visit: VisitVector<'_>,
    ) -> Result<()> {
        self.histories(&key::vector(label, node), visit)
    }

    fn histories(&self, prefix: &[u8], visit: VisitVector<'_>) -> Result<()> {
        let mut vector = Vec::new();
        for family in [Family::Vectors, Family::VectorsPast] {
            self.view().scan_prefix(family, prefix, &mut |key, value| {
                let stored = stored(family, key, value, &mut vector)?;
                visit(stored.node, stored.system, &vector);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(())
    }

    /// Calls `visit` on every embedding in the order in which they are made anew, from after
    /// `after`, until it breaks.
    pub fn stored_vectors(
        &self,
        after: Option<&VectorMark>,
        visit: &mut dyn FnMut(Stored) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut vector = Vec::new();
        let mut stopped = false;
        for family in [Family::Vectors, Family::VectorsPast] {
            let from = match after {
                Some(mark) if mark.family() == family => [&mark.key[..], &[0]].concat(),
                Some(mark) if mark.family() > family => continue,
                _ => Vec::new(),
            };
            if stopped {
                break;
            }
            self.view().scan(family, &from, None, &mut |key, value| {
                let flow = visit(stored(family, key, value, &mut vector)?);
                stopped = flow.is_break();
                Ok(flow)
            })?;
        }
        Ok(())
    }

    /// How many components the embeddings have; none where there are none.
    pub(crate) fn dimensions(&self) -> Result<Option<usize>> {
        let mut vector = Vec::new();
        for family in [Family::Vectors, Family::VectorsPast] {
            self.view().scan_prefix(family, &[], &mut |key, value| {
                stored(family, key, value, &mut vector)?;
                Ok(ControlFlow::Break(()))
            })?;
            if !vector.is_empty() {
                return Ok(Some(vector.len()));
            }
        }
        Ok(None)
    }

    /// How far embeddings have been made anew by another model; none if that is not under way.
    pub fn renewal(&self) -> Result<Option<Renewal>> {
        let Some(bytes) = self.view().get(Family::Meta, RENEWAL)? else { return Ok(None) };
        let (model, done): RenewalRecord = record::decode(Family::Meta, RENEWAL, &bytes)?;
        Ok(Some(Renewal { model, done: done.map(|(past, key)| VectorMark { past, key }) }))
    }

    /// The identity of the model that made the embeddings that have not been made anew.
    pub fn former_model(&self) -> Result<Option<String>> {
        let Some(bytes) = self.view().get(Family::Meta, MODEL)? else { return Ok(None) };
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| StorageError::corrupt(Family::Meta.name(), MODEL, "no text"))
    }
}

impl Transaction<'_> {
    /// From here on embeddings are made anew by a model: from the beginning, or from where it was
    /// left if it is the same model that did not finish.
    pub fn begin_renewal(&mut self, model: &str) -> Result<()> {
        match self.reader().renewal()? {
            Some(renewal) if renewal.model == model => Ok(()),
            _ => self.put_renewal(Renewal { model: model.to_owned(), done: None }),
        }
    }

    /// Puts another embedding in the place of a stored one, or takes it away. If that has been moved
    /// or forgotten since it was read, nothing is done. False then.
    pub fn renew(&mut self, stored: &Stored, vector: Option<&[f32]>) -> Result<bool> {
        let family = stored.mark.family();
        let key = &stored.mark.key;
        let Some(bytes) = self.view().get(family, key)? else { return Ok(false) };
        let (_, system_from) = vector_of(family, key, &bytes, &mut Vec::new())?;
        if system_from != stored.system.from {
            return Ok(false);
        }
        match vector {
            Some(vector) => {
                record::check_finite(vector)?;
                let bytes = record::encode_vector(system_from, vector);
                self.overlay.put(family, key.clone(), bytes);
            }
            None => self.overlay.delete(family, key.clone()),
        }
        Ok(true)
    }

    /// All embeddings up to this place have been made anew.
    pub fn renewed_to(&mut self, mark: &VectorMark) -> Result<()> {
        match self.reader().renewal()? {
            Some(renewal) => self.put_renewal(Renewal { done: Some(mark.clone()), ..renewal }),
            None => Ok(()),
        }
    }

    /// All embeddings have been made anew: they are those of the new model.
    pub fn finish_renewal(&mut self) -> Result<()> {
        if let Some(renewal) = self.reader().renewal()? {
            self.overlay.put(Family::Meta, MODEL, renewal.model.into_bytes());
            self.overlay.delete(Family::Meta, RENEWAL);
        }
        Ok(())
    }

    fn put_renewal(&mut self, renewal: Renewal) -> Result<()> {
        let done = renewal.done.map(|mark| (mark.past, mark.key));
        let record: RenewalRecord = (renewal.model, done);
        self.overlay.put(Family::Meta, RENEWAL, record::encode(&record)?);
        Ok(())
    }
}

/// The embedding of a key and its value; `vector` becomes its components.
fn stored(family: Family, key: &[u8], value: &[u8], vector: &mut Vec<f32>) -> Result<Stored> {
    let (node, from) = vector_of(family, key, value, vector)?;
    let damaged = || StorageError::corrupt(family.name(), key, "no embedding");
    let label = key.first_chunk().ok_or_else(damaged)?;
    let to = end_of(family, key).filter(|to| from < *to).ok_or_else(damaged)?;
    let mark = VectorMark { past: family == Family::VectorsPast, key: key.to_vec() };
    let label = LabelId(u32::from_be_bytes(*label));
    Ok(Stored { mark, label, node, system: Interval { from, to } })
}

/// Until when an embedding stands, by its key.
fn end_of(family: Family, key: &[u8]) -> Option<Time> {
    match (family, key.get(12..)?) {
        (Family::Vectors, []) => Some(Interval::MAX),
        (Family::VectorsPast, end) => Some(key::time_from(end.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
