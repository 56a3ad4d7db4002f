//! Order-preserving keys. All integers are big-endian; signed ones have their sign bit flipped, so
//! that byte order is number order.
//!
//! ```text
//! node        [node 8]
//! node past   [node 8][system_to 8]
//! node key    [label 4][key ...] and [label 4][name ...][node 8]      in the second the highest bit of the
//!                                 label is set: a name that the node had
//! version     [fact 8][version 4]                                     those of packs: see `pack`
//! vector      [label 4][node 8]
//! vector past [label 4][node 8][system_to 8]
//! value       [label 4][property 4][value ...][node 8]               value: see `values`
//! text        [label 4][term ...][0] and [label 4][term ...][0][node 8]   the term is empty, or has
//! text past   [label 4][term ...][0][node 8][system_to 8]                 no byte 0
//! symbol      [kind 1][0][name ...] and [kind 1][1][id 4]
//! buffer      [0][session ...], [1][session ...][0][0][position 8] and [2][turn key ...]
//!                                 in the second each 0 in the session's name is 0 255
//! ```
//!
//! Those of facts between their nodes are in `adjacency` and `pack`.

use crate::families::Family;
use crate::graph::{FactId, LabelId, NodeId, PropertyId, Time};

/// What the key of a session's head in the buffer begins with.
pub(crate) const SESSION: u8 = 0;
/// What the key of a turn's place in the buffer begins with.
pub(crate) const TURN: u8 = 1;
/// What the key that finds a turn in the buffer begins with.
pub(crate) const TURN_KEY: u8 = 2;

/// A time as bytes that sort like times.
pub(crate) fn time(time: Time) -> [u8; 8] {
    (time.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

/// The time that [`time`] encoded.
pub(crate) fn time_from(bytes: [u8; 8]) -> Time {
    (u64::from_be_bytes(bytes) ^ (1 << 63)).cast_signed()
}

pub(crate) fn node(node: NodeId) -> [u8; 8] {
    node.0.to_be_bytes()
}

pub(crate) fn node_past(node: NodeId, system_to: Time) -> Vec<u8> {
    [node.0.to_be_bytes(), time(system_to)].concat()
}

pub(crate) fn node_key(label: LabelId, key: &str) -> Vec<u8> {
    [&label.0.to_be_bytes()[..], key.as_bytes()].concat()
}

/// The highest bit of the label of a name that was lost; no label has it.
const LOST: u32 = 1 << 31;

/// What the keys of names that nodes of a label lost begin with, of those that begin so.
pub(crate) fn former_names(label: LabelId, name: &str) -> Vec<u8> {
    node_key(LabelId(label.0 | LOST), name)
}

/// The key of a name that a node lost.
pub(crate) fn former_name(label: LabelId, name: &str, node: NodeId) -> Vec<u8> {
    [&former_names(label, name)[..], &node.0.to_be_bytes()].concat()
}

/// What the keys of all names that were lost begin with, or come after.
pub(crate) fn all_former_names() -> [u8; 4] {
    LOST.to_be_bytes()
}

/// The label, the name and the node of a key of [`former_name`]; none if it is another key.
pub(crate) fn former_from(key: &[u8]) -> Option<(LabelId, &str, NodeId)> {
    let (label, rest) = key.split_first_chunk()?;
    let label = u32::from_be_bytes(*label);
    let (name, node) = rest.split_last_chunk()?;
    let name = std::str::from_utf8(name).ok()?;
    (label & LOST != 0).then(|| (LabelId(label & !LOST), name, NodeId(u64::from_be_bytes(*node))))
}

pub(crate) fn version(fact: FactId, version: u32) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&fact.0.to_be_bytes());
    key[8..].copy_from_slice(&version.to_be_bytes());
    key
}

/// The node of its key; none if that has another length.
pub(crate) fn node_from(key: &[u8]) -> Option<NodeId> {
    Some(NodeId(u64::from_be_bytes(key.try_into().ok()?)))
}

/// The fact and number of a version's key; none if it has another length.
pub(crate) fn version_from(key: &[u8]) -> Option<(FactId, u32)> {
    let (fact, number) = key.split_first_chunk()?;
    let number: [u8; 4] = number.try_into().ok()?;
    Some((FactId(u64::from_be_bytes(*fact)), u32::from_be_bytes(number)))
}

pub(crate) fn vector(label: LabelId, node: NodeId) -> Vec<u8> {
    [&label.0.to_be_bytes()[..], &node.0.to_be_bytes()].concat()
}

/// The label and the node of a key of [`vector`].
pub(crate) fn vector_from(key: &[u8]) -> Option<(LabelId, NodeId)> {
    let (label, node) = key.split_first_chunk()?;
    let node = node.try_into().ok()?;
    Some((LabelId(u32::from_be_bytes(*label)), NodeId(u64::from_be_bytes(node))))
}

pub(crate) fn vector_past(label: LabelId, node: NodeId, system_to: Time) -> Vec<u8> {
    [&vector(label, node)[..], &time(system_to)].concat()
}

/// What the keys of an index begin with.
pub(crate) fn value_prefix(label: LabelId, property: PropertyId) -> Vec<u8> {
    [label.0.to_be_bytes(), property.0.to_be_bytes()].concat()
}

/// The key of a term's count, which the keys of its postings begin with. That of the empty term
/// is of all documents.
pub(crate) fn term(label: LabelId, term: &str) -> Vec<u8> {
    [&label.0.to_be_bytes()[..], term.as_bytes(), &[0]].concat()
}

/// The key of a term's posting; of the empty term, that of a document.
pub(crate) fn posting(label: LabelId, term: &str, node: NodeId) -> Vec<u8> {
    let mut key = self::term(label, term);
    key.extend(node.0.to_be_bytes());
    key
}

pub(crate) fn posting_past(label: LabelId, term: &str, node: NodeId, system_to: Time) -> Vec<u8> {
    let mut key = posting(label, term, node);
    key.extend(time(system_to));
    key
}

/// The label and term of a key of the texts, and what is after it; none if it has no end.
pub(crate) fn term_from(key: &[u8]) -> Option<(LabelId, &str, &[u8])> {
    let (label, rest) = key.split_first_chunk()?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (term, rest) = rest.split_at(end);
    let term = std::str::from_utf8(term).ok()?;
    Some((LabelId(u32::from_be_bytes(*label)), term, rest.get(1..)?))
}

/// The key of the head of a session in the buffer.
pub(crate) fn session(name: &str) -> Vec<u8> {
    [&[SESSION][..], name.as_bytes()].concat()
}

/// What the keys of all turns of a session in the buffer begin with, and no other ones.
pub(crate) fn session_turns(session: &str) -> Vec<u8> {
    let mut key = vec![TURN];
    escape(session.bytes(), &mut key);
    key.extend([0, 0]);
    key
}

/// The key of a turn in the buffer.
pub(crate) fn turn(session: &str, position: u64) -> Vec<u8> {
    [&session_turns(session)[..], &position.to_be_bytes()].concat()
}

/// The session and position of a turn in the buffer; none if it is no such key.
pub(crate) fn turn_from(key: &[u8]) -> Option<(String, u64)> {
    let (session, position) = key.strip_prefix(&[TURN])?.split_last_chunk()?;
    let mut name = Vec::new();
    let mut bytes = session.strip_suffix(&[0, 0])?.iter();
    while let Some(byte) = bytes.next() {
        if *byte == 0 && bytes.next() != Some(&u8::MAX) {
            return None;
        }
        name.push(*byte);
    }
    Some((String::from_utf8(name).ok()?, u64::from_be_bytes(*position)))
}

/// The key by which a turn in the buffer is found.
pub(crate) fn turn_key(key: &str) -> Vec<u8> {
    [&[TURN_KEY][..], key.as_bytes()].concat()
}

/// Adds the bytes so that two zeros may end them and the order stays: each 0 is 0 255.
pub(crate) fn escape(bytes: impl Iterator<Item = u8>, to: &mut Vec<u8>) {
    for byte in bytes {
        to.push(byte);
        if byte == 0 {
            to.push(u8::MAX);
        }
    }
}

/// The first key after every key with this prefix; none if there is no such key.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// Bytes that all keys of a scan share as a rule, where a family is asked for what is not there: a node
/// and a relation.
pub(crate) fn shared_bytes(family: Family) -> Option<usize> {
    matches!(family, Family::Out | Family::In | Family::OutPast | Family::InPast).then_some(12)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn turns_sort_like_their_sessions_and_positions(
            a in ("[\0-b]{0,4}", any::<u64>()),
            b in ("[\0-b]{0,4}", any::<u64>()),
        ) {
            prop_assert_eq!(a.cmp(&b), turn(&a.0, a.1).cmp(&turn(&b.0, b.1)));
            prop_assert_eq!(turn(&a.0, b.1).starts_with(&session_turns(&b.0)), a.0 == b.0);
            prop_assert_eq!(turn_from(&turn(&a.0, a.1)), Some(a));
        }

        #[test]
        fn nothing_with_the_prefix_is_behind_its_end(
            prefix in prop::collection::vec(any::<u8>(), 1..6),
            rest in prop::collection::vec(any::<u8>(), 0..6),
        ) {
            let key = [prefix.clone(), rest].concat();
            if let Some(end) = after_prefix(&prefix) {
                prop_assert!(key < end);
            }
        }
    }
}
