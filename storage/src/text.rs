//! Full-text indexes: which nodes of a label have which words in their texts, now and at any instant.
//!
//! ```text
//! text       label, ""             documents, those with each field, sum of its lengths
//!            label, "", node       since when its texts stand, their lengths, its terms
//!            label, term           how many nodes have the term
//!            label, term, node     since when, where in which field: the posting
//! text_past  label, "" or term, node, system_to     as in `text`, until then
//! ```
//!
//! Invariant: what is in there follows from the nodes and their past alone, whenever the index was
//! made: each stretch of time for which the texts of a node had the same words is one document.
//! A node whose texts have no words is not in there.
//!
//! Documents list their terms, so they can be taken out whole even if a later version of Engraph
//! finds other words in a text.

mod analyze;
mod document;
mod query;
mod read;
mod search;
#[cfg(test)]
mod tests;
mod write;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{LabelId, NodeId, SystemScope};
use crate::key;
use crate::view::View;
use read::Scope;

pub use analyze::{TERM_BYTES_MAX, TEXT_ANALYZED_MAX, folded};
pub(crate) use document::{Document, Held, Posting, Spell, Statistics, history};
pub(crate) use write::{build, place};

/// The term of what is said of all documents.
pub(crate) const DOCUMENT: &str = "";

/// The document of a node as it is now; none if its texts have no words.
pub(crate) fn document(view: View<'_>, label: LabelId, node: NodeId) -> Result<Option<Held>> {
    let key = key::posting(label, DOCUMENT, node);
    match view.get(Family::Text, &key)? {
        Some(bytes) => Held::decode(Family::Text, &key, bytes).map(Some),
        None => Ok(None),
    }
}

/// The entry that says what all documents of an index are together, from the documents.
pub(crate) fn renewed_statistics(
    view: View<'_>,
    label: LabelId,
    fields: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let statistics = Scope::new(view, label, SystemScope::Current).counted(fields)?;
    Ok((key::term(label, DOCUMENT), statistics.encode()))
}

/// How many nodes have a term now.
pub(crate) fn count(view: View<'_>, label: LabelId, term: &str) -> Result<u64> {
    let key = key::term(label, term);
    let Some(bytes) = view.get(Family::Text, &key)? else { return Ok(0) };
    let count = bytes.as_slice().try_into().map(u64::from_le_bytes);
    count.map_err(|_| StorageError::corrupt(Family::Text.name(), &key, "no count"))
}
