//! Records come back as they went, and bytes that nobody wrote are damage: never an abort, never
//! more memory than a record may have.

use super::*;
use crate::graph::{
    Belief, Claim, Evidence, FactId, NodeId, NodeRecord, PropertyId, RelationId, RelationRule,
    VersionRecord,
};

fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Int(1), |value, _| Value::List(vec![value]))
}

#[test]
fn values_come_back() {
    let map = BTreeMap::from([("a".to_owned(), nested(3)), ("b".to_owned(), Value::Null)]);
    let value = Value::List(vec![Value::Map(map), Value::Timestamp(-1), Value::Float(0.5)]);
    let bytes = encode(&value).expect("encodes");
    assert_eq!(decode::<Value>(Family::Nodes, b"k", &bytes).expect("decodes"), value);
}

#[test]
fn depth_is_bounded_both_ways() {
    assert!(encode(&nested(VALUE_DEPTH_MAX)).is_ok());
    assert!(encode(&nested(VALUE_DEPTH_MAX + 1)).is_err());
    let tokens: Vec<Token> = (0..10_000).map(|_| Token::List(1)).collect();
    let bytes = encode(&tokens).expect("encodes");
    assert!(decode::<Value>(Family::Nodes, b"k", &bytes).is_err());
}

#[test]
fn bytes_nobody_wrote_are_damage() {
    let good = encode(&Value::String("x".to_owned())).expect("encodes");
    let long = [&good[..], b"z"].concat();
    let sealed =
        |rest: &[u8]| [&[ENCODING][..], &crc32c::crc32c(rest).to_le_bytes(), rest].concat();
    let bomb = sealed(&[0xff; 8]);
    let trailing = sealed(&[&good[HEADER..], b"z"].concat());
    let old = [&[ENCODING_1][..], &good[1..]].concat();
    for bytes in [&[][..], &[9; 9], &good[..good.len() - 1], &long, &bomb, &trailing, &old] {
        let error = decode::<Value>(Family::Nodes, b"k", bytes).expect_err("is damaged");
        assert!(matches!(error, StorageError::Corrupt { family: "nodes", .. }));
    }
}

#[test]
fn small_numbers_take_a_byte() {
    let bytes = encode(&Value::List(vec![Value::Int(-125), Value::Int(125)])).expect("encodes");
    // How many tokens, a list of two, two integers.
    assert_eq!(bytes[HEADER..], [3, 6, 2, 2, 249, 2, 250]);
}

#[test]
fn records_of_full_width_are_read() {
    let old = encode_as(ENCODING_FIXED, FIXED, &version()).expect("encodes");
    let read: VersionRecord = decode(Family::Versions, b"k", &old).expect("decodes");
    assert_eq!(read, version());
    let new = encode(&version()).expect("encodes");
    assert!(new.len() < old.len());
    // Each is what its first byte says.
    for (encoding, rest) in [(ENCODING, &old[1..]), (ENCODING_FIXED, &new[1..])] {
        let bytes = [&[encoding], rest].concat();
        let read = decode::<VersionRecord>(Family::Versions, b"k", &bytes);
        assert!(read.is_err_and(|error| matches!(error, StorageError::Corrupt { .. })));
    }
}

/// Mutated records.
const MUTATIONS: u64 = 10_000;

/// A small generator of random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }
}

fn version() -> VersionRecord {
    let properties = BTreeMap::from([(PropertyId(3), nested(5)), (PropertyId(4), Value::Null)]);
    let valid = Interval { from: -5, to: 7 };
    let sources = vec!["D1:3".to_owned(), "D1:4".to_owned()];
    let claim = Claim {
        sources: sources.clone(),
        valid,
        confidence: 0.5,
        intent: Intent::Causal,
        properties: properties.clone(),
    };
    VersionRecord {
        head: NodeId(1),
        relation: RelationId(2),
        belief: Belief {
            tail: NodeId(3),
            valid,
            confidence: 0.75,
            intent: Intent::Causal,
            uncertain: true,
            sources,
            properties,
            evidence: vec![Evidence::Claim(claim), Evidence::Confirmed(0.5)],
        },
        system: Interval { from: 1, to: 2 },
        mirror: Some(RelationId(2)),
    }
}

/// One to three changes: a bit, a byte, a length of ones, a cut, more bytes, a piece twice.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1));
        let end = (at + 8).min(bytes.len());
        match random.below(7) {
            0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
            3 => bytes[at..end].fill(0xff),
            4 => bytes.truncate(at),
            5 => bytes.extend((0..random.below(20)).map(|byte| byte as u8)),
            _ => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// Without the checksum nothing is decoded; and with a checksum that fits, as a hostile writer would
/// make it, the decoder gives a record or `Corrupt`.
#[test]
fn hostile_records_are_corrupt() {
    let mut random = Random(1);
    let good = encode(&version()).expect("encodes");
    let (mut decoded, mut corrupt) = (0, 0);
    for _ in 0..MUTATIONS {
        let bytes = mutated(&good, &mut random);
        if bytes != good {
            let error = decode::<VersionRecord>(Family::Versions, b"k", &bytes);
            assert!(matches!(error, Err(StorageError::Corrupt { .. })));
        }
        let rest = mutated(&good[HEADER..], &mut random);
        let sealed = [&[ENCODING][..], &crc32c::crc32c(&rest).to_le_bytes(), &rest].concat();
        match decode::<VersionRecord>(Family::Versions, b"k", &sealed) {
            Ok(_) => decoded += 1,
            Err(StorageError::Corrupt { .. }) => corrupt += 1,
            Err(other) => panic!("{other}"),
        }
        let old = [&[ENCODING_1][..], &rest].concat();
        let _ = decode_format_1::<VersionRecord>(Family::Versions, b"k", &old);
        let _ = decode::<NodeRecord>(Family::Nodes, b"k", &sealed);
        let _ = decode::<RelationRule>(Family::Meta, b"k", &sealed);
        let mut vector = Vec::new();
        let _ = decode_vector(&rest, &mut vector);
    }
    assert!(decoded > 100 && corrupt > 1_000, "{decoded} decoded, {corrupt} corrupt");
}

#[test]
fn an_edge_is_what_was_written_or_none() {
    let edges: Vec<Edge> = version().edges(FactId(9), 4).collect();
    assert_eq!(edges.len(), 2);
    for edge in edges {
        let key = Adjacency::new(
            Side::Out,
            edge.head,
            edge.relation,
            edge.valid.from,
            edge.tail,
            edge.fact,
        );
        let bytes = encode_edge(&edge);
        assert_eq!(decode_edge(Side::Out, &key, &bytes), Some(edge));
        assert_eq!(decode_edge(Side::Out, &key, &bytes[1..]), None);
        let mut unknown = bytes;
        unknown[17] = 0x80;
        assert_eq!(decode_edge(Side::Out, &key, &unknown), None);
    }
}
