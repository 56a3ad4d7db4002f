//! The system time of a transaction, set when it commits.
//!
//! While it is open, a transaction marks its changes with an instant of its own. Readers come and
//! go meanwhile and are told later instants; so at the commit every mark is moved to an instant
//! after all of them, and what was seen as of any instant stays as it was seen.

use crate::adjacency;
use crate::catalog;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{NodeRecord, RelationRule, Time, VersionRecord};
use crate::key;
use crate::overlay::Overlay;
use crate::pack::{self, runs};
use crate::record;
use crate::turns;

/// Moves every mark `from` in the changes to `to`.
pub(crate) fn restamp(overlay: &mut Overlay, from: Time, to: Time) -> Result<()> {
    if from == to {
        return Ok(());
    }
    overlay.rewrite(|family, key, value| {
        match family {
            // What is in a pack was committed before, and so was what leads to it.
            Family::Versions if pack::is_key(key) => {}
            Family::Out if runs::head_of(key).is_some() => {}
            Family::Versions => {
                let mut version: VersionRecord = record::decode(family, key, value)?;
                for bound in [&mut version.system.from, &mut version.system.to] {
                    move_mark(bound, from, to);
                }
                *value = record::encode(&version)?;
            }
            Family::Out | Family::In | Family::OutPast | Family::InPast => {
                adjacency::restamp(value, |bound| move_mark(bound, from, to))
                    .ok_or_else(|| StorageError::corrupt(family.name(), key, "no edge"))?;
            }
            Family::Vectors => {
                record::restamp_vector(value, |bound| move_mark(bound, from, to))
                    .ok_or_else(|| StorageError::corrupt(family.name(), key, "no embedding"))?;
            }
            Family::Nodes => {
                let mut node: NodeRecord = record::decode(family, key, value)?;
                for bound in [&mut node.created, &mut node.system_from] {
                    move_mark(bound, from, to);
                }
                *value = record::encode(&node)?;
            }
            Family::NodesPast | Family::VectorsPast => {
                if let Some((_, end)) = key.split_last_chunk_mut() {
                    let mut bound = key::time_from(*end);
                    move_mark(&mut bound, from, to);
                    *end = key::time(bound);
                }
            }
            Family::SchemaKeys => {
                let mut created = record::created_of(value)
                    .ok_or_else(|| StorageError::corrupt(family.name(), key, "no time"))?;
                move_mark(&mut created, from, to);
                *value = created.to_be_bytes().to_vec();
            }
            Family::Meta if catalog::is_rule(key) => {
                let mut rule: RelationRule = record::decode(family, key, value)?;
                move_mark(&mut rule.since, from, to);
                *value = record::encode(&rule)?;
            }
            Family::Text | Family::TextPast => {
                restamp_text(family, key, value, |bound| move_mark(bound, from, to))?;
            }
            Family::Buffer => turns::restamp(key, value, |bound| move_mark(bound, from, to))?,
            Family::Meta
            | Family::Symbols
            | Family::NodeKeys
            | Family::TokenCodes
            | Family::Values => {}
        }
        Ok(())
    })
}

/// Applies `mark` to the instants of a document or posting; a count has none.
fn restamp_text(
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

fn move_mark(bound: &mut Time, from: Time, to: Time) {
    if *bound == from {
        *bound = to;
    }
}
