//! Full-text indexes: which nodes of a label have which words in their texts, now and at any instant.
//!
//! ```text
//! text       label, ""             documents, sum of the lengths of each field
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
use crate::graph::{LabelId, NodeId, PropertyId, Time};
use crate::key;
use crate::overlay::View;

pub use analyze::{TERM_BYTES_MAX, TEXT_ANALYZED_MAX};
pub(crate) use document::{Document, Held, Posting, Spell, Statistics, history};
pub(crate) use write::{build, place};

/// The most properties that a full-text index has.
pub const FIELDS_MAX: usize = 16;

/// The term of what is said of all documents.
pub(crate) const DOCUMENT: &str = "";

/// The properties of an index, with their weights.
type Fields<'f> = &'f [(PropertyId, f32)];

/// Whether an index may have these properties and weights.
///
/// # Errors
///
/// [`StorageError::Invalid`] if they are none or too many, if one is there twice, or if a weight is
/// not finite and above 0.
pub(crate) fn check_fields(fields: Fields<'_>) -> Result<()> {
    let invalid = |reason: String| Err(StorageError::Invalid(reason));
    if fields.is_empty() || fields.len() > FIELDS_MAX {
        return invalid(format!(
            "a full-text index has 1 to {FIELDS_MAX} properties, not {}",
            fields.len()
        ));
    }
    if let Some((_, weight)) = fields.iter().find(|(_, w)| !(w.is_finite() && *w > 0.0)) {
        return invalid(format!("the weight {weight} is not finite and above 0"));
    }
    let is_twice = |(place, (property, _)): (usize, &(PropertyId, f32))| {
        fields.iter().take(place).any(|(other, _)| other == property)
    };
    match fields.iter().enumerate().any(is_twice) {
        true => invalid("a property is twice in the index".to_owned()),
        false => Ok(()),
    }
}

/// Applies `mark` to the instants of a document or posting; a count has none.
pub(crate) fn restamp(
    family: Family,
    key: &mut [u8],
    value: &mut [u8],
    mark: impl Fn(&mut Time),
) -> Result<()> {
    let damaged = |key: &[u8]| StorageError::corrupt(family.name(), key, "no term and node");
    let (_, _, rest) = key::term_from(key).ok_or_else(|| damaged(key))?;
    if family == Family::Text && rest.is_empty() {
        return Ok(());
    }
    let since = value.first_chunk_mut().ok_or_else(|| damaged(key))?;
    let mut time = Time::from_le_bytes(*since);
    mark(&mut time);
    *since = time.to_le_bytes();
    if family == Family::TextPast
        && let Some(end) = key.last_chunk_mut()
    {
        let mut until = key::time_from(*end);
        mark(&mut until);
        *end = key::time(until);
    }
    Ok(())
}

/// The document of a node as it is now; none if its texts have no words.
pub(crate) fn document(view: View<'_>, label: LabelId, node: NodeId) -> Result<Option<Held>> {
    let key = key::posting(label, DOCUMENT, node);
    match view.get(Family::Text, &key)? {
        Some(bytes) => Held::decode(Family::Text, &key, bytes).map(Some),
        None => Ok(None),
    }
}

/// How many nodes have a term now.
pub(crate) fn count(view: View<'_>, label: LabelId, term: &str) -> Result<u64> {
    let key = key::term(label, term);
    let Some(bytes) = view.get(Family::Text, &key)? else { return Ok(0) };
    let count = bytes.as_slice().try_into().map(u64::from_le_bytes);
    count.map_err(|_| StorageError::corrupt(Family::Text.name(), &key, "no count"))
}
