//! Facts by their tails, on their way from the tables of heads into those of tails. The bytes of one sort
//! like its key in `in`.
//!
//! ```text
//! [tail 8][relation 4][valid_from 8][head 8][fact 8][valid_to 8][confidence 8][version 4][intent 1][flags 1]
//! ```

use crate::graph::{Edge, FactId, Intent, Interval, NodeId, RelationId, Time};
use crate::key;

/// Bytes of a fact.
pub(super) const BYTES: usize = 58;
const UNCERTAIN: u8 = 1;
const TWO_WAY: u8 = 2;

/// A fact of a load as bytes; when it is believed is the same for all.
pub(super) fn encode(edge: &Edge) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&edge.tail.0.to_be_bytes());
    bytes[8..12].copy_from_slice(&edge.relation.0.to_be_bytes());
    bytes[12..20].copy_from_slice(&key::time(edge.valid.from));
    bytes[20..28].copy_from_slice(&edge.head.0.to_be_bytes());
    bytes[28..36].copy_from_slice(&edge.fact.0.to_be_bytes());
    bytes[36..44].copy_from_slice(&edge.valid.to.to_le_bytes());
    bytes[44..52].copy_from_slice(&edge.confidence.to_le_bytes());
    bytes[52..56].copy_from_slice(&edge.version.to_le_bytes());
    bytes[56] = edge.intent as u8;
    let flags = [(edge.uncertain, UNCERTAIN), (edge.two_way, TWO_WAY)];
    bytes[57] = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum();
    bytes
}

/// The places of facts in the order of their bytes; none if a place has no number of 32 bits.
pub(super) fn order(facts: &[[u8; BYTES]]) -> Option<Vec<usize>> {
    // By their tails and relations first: numbers are put in order faster than what they stand for.
    let key = |(fact, at): (&[u8; BYTES], u32)| {
        let [tail_and_relation @ .., _, _, _, _] = *fact.first_chunk::<16>()?;
        let mut key = [0; 16];
        key[..12].copy_from_slice(&tail_and_relation);
        key[12..].copy_from_slice(&at.to_be_bytes());
        Some(u128::from_be_bytes(key))
    };
    u32::try_from(facts.len()).ok()?;
    let mut keys = facts.iter().zip(0..).map(key).collect::<Option<Vec<u128>>>()?;
    keys.sort_unstable();
    let place = |key: &u128| *key as u32 as usize;
    for same in keys.chunk_by_mut(|a, b| a >> 32 == b >> 32).filter(|same| same.len() > 1) {
        same.sort_unstable_by_key(|key| &facts[place(key)]);
    }
    Some(keys.iter().map(place).collect())
}

/// The fact of some bytes, believed at those times; none if it has no intent.
pub(super) fn decode(bytes: &[u8; BYTES], system: Interval) -> Option<Edge> {
    let (tail, rest) = bytes.split_first_chunk()?;
    let (relation, rest) = rest.split_first_chunk()?;
    let (valid_from, rest) = rest.split_first_chunk()?;
    let (head, rest) = rest.split_first_chunk()?;
    let (fact, rest) = rest.split_first_chunk()?;
    let (valid_to, rest) = rest.split_first_chunk()?;
    let (confidence, rest) = rest.split_first_chunk()?;
    let (version, rest) = rest.split_first_chunk()?;
    let [intent, flags] = rest.try_into().ok()?;
    Some(Edge {
        fact: FactId(u64::from_be_bytes(*fact)),
        version: u32::from_le_bytes(*version),
        head: NodeId(u64::from_be_bytes(*head)),
        relation: RelationId(u32::from_be_bytes(*relation)),
        tail: NodeId(u64::from_be_bytes(*tail)),
        valid: Interval { from: key::time_from(*valid_from), to: Time::from_le_bytes(*valid_to) },
        system,
        confidence: f64::from_le_bytes(*confidence),
        intent: *Intent::ALL.get(usize::from(intent))?,
        uncertain: flags & UNCERTAIN != 0,
        two_way: flags & TWO_WAY != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjacency::Adjacency;
    use crate::graph::Side;

    #[test]
    fn a_fact_is_what_was_written_and_stands_where_its_key_does() {
        let system = Interval { from: 3, to: Interval::MAX };
        let numbers = [0, 1, 255, 256, 1 << 40];
        let edge = |place: usize| {
            // Each part takes every number, beside every number of the part before it.
            let part = |by: usize| numbers[place / 5_usize.pow(by as u32) % 5];
            Edge {
                fact: FactId(part(0)),
                version: 2,
                head: NodeId(part(1)),
                relation: RelationId(part(3) as u32),
                tail: NodeId(part(4)),
                valid: Interval { from: part(2).cast_signed() - 5, to: Interval::MAX },
                system,
                confidence: 0.3,
                intent: Intent::Evolution,
                uncertain: place.is_multiple_of(2),
                two_way: place.is_multiple_of(3),
            }
        };
        let edges: Vec<Edge> = (0..5_usize.pow(5)).map(edge).collect();
        assert!(edges.iter().all(|edge| decode(&encode(edge), system) == Some(*edge)));
        let bytes: Vec<_> = edges.iter().map(encode).collect();
        let order = order(&bytes).expect("few enough");
        assert!(order.is_sorted_by_key(|at| bytes[*at]));
        let by_bytes: Vec<Edge> = order.iter().map(|at| edges[*at]).collect();
        let mut by_key = edges.clone();
        by_key.sort_by_key(|edge| Adjacency::of(Side::In, edge).encode().as_ref().to_vec());
        let place = |edge: &Edge| Adjacency::of(Side::In, edge);
        assert!(by_bytes.iter().map(place).eq(by_key.iter().map(place)));
        let mut unknown = encode(&edges[0]);
        unknown[56] = 5;
        assert_eq!(decode(&unknown, system), None);
    }
}
