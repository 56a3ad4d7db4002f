//! Where the facts of a head are that stand in packs: in `out`, before all other entries of the head.
//!
//! ```text
//! key    [head 8][0 4]
//! value  [checksum 4], then for each run [first fact][how many], numbers as in a pack
//! ```
//!
//! The facts of a run have consecutive numbers and stand in the order of their keys in `out`. Some may have
//! left their pack; then what is in `out` or nowhere says what became of them.

use std::ops::Range;

use super::column::{put_number, take_number};
use crate::adjacency;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{NodeId, RelationId};

/// Bytes of a key, fewer than those of any fact.
const KEY: usize = 12;
/// Bytes of a checksum, a CRC-32C of what is after it.
const CHECKSUM: usize = 4;

/// Where the runs of a head stand.
pub(crate) fn key(head: NodeId) -> Vec<u8> {
    adjacency::prefix(head, Some(RelationId(0)))
}

/// The head whose runs a key in `out` leads to; none if it is the key of a fact.
pub(crate) fn head_of(key: &[u8]) -> Option<NodeId> {
    let head = key.first_chunk().filter(|_| key.len() == KEY)?;
    Some(NodeId(u64::from_be_bytes(*head)))
}

/// Runs as bytes: the numbers of their facts.
pub(crate) fn encode(runs: &[Range<u64>]) -> Vec<u8> {
    let mut bytes = vec![0; CHECKSUM];
    for run in runs {
        put_number(&mut bytes, run.start);
        put_number(&mut bytes, run.end - run.start);
    }
    let checksum = crc32c::crc32c(&bytes[CHECKSUM..]);
    bytes[..CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The runs of a key and its value.
///
/// # Errors
///
/// [`StorageError::Corrupt`] if they are not what was written.
pub(crate) fn decode(key: &[u8], bytes: &[u8]) -> Result<Vec<Range<u64>>> {
    let corrupt = || StorageError::corrupt(Family::Out.name(), key, "no runs of facts");
    let (checksum, mut bytes) = bytes.split_first_chunk().ok_or_else(corrupt)?;
    if crc32c::crc32c(bytes) != u32::from_le_bytes(*checksum) {
        return Err(StorageError::corrupt(Family::Out.name(), key, "the checksum does not fit"));
    }
    let mut runs = Vec::new();
    while !bytes.is_empty() {
        let run = take_number(&mut bytes).zip(take_number(&mut bytes));
        let run = run.and_then(|(first, count)| Some(first..first.checked_add(count)?));
        runs.push(run.filter(|run| !run.is_empty()).ok_or_else(corrupt)?);
    }
    Ok(runs)
}
