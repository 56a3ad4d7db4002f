//! Records come back as they went, and bytes that nobody wrote are damage: never an abort, never
//! more memory than a record may have.

use super::*;
use crate::graph::{
    Belief, Claim, Evidence, Intent, Interval, NodeId, NodeRecord, PropertyId, RelationId,
    RelationRule, VersionRecord,
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
    let bomb = sealed(ENCODING, &[0xff; 8]);
    let trailing = sealed(ENCODING, &[&good[HEADER..], b"z"].concat());
    let old = [&[ENCODING_1][..], &good[1..]].concat();
    for bytes in [&[][..], &[9; 9], &good[..good.len() - 1], &long, &bomb, &trailing, &old] {
        let error = decode::<Value>(Family::Nodes, b"k", bytes).expect_err("is damaged");
        assert!(matches!(error, StorageError::Corrupt { family: "nodes", .. }));
    }
}

#[test]
fn numbers_of_one_kind_are_one_part() {
    let list = |items: &[Value]| Value::List(items.to_vec());
    let (int, float) = (Value::Int(-125), Value::Float(0.5));
    let rest = |value: &Value| {
        let bytes = encode(value).expect("encodes");
        assert_eq!(&decode::<Value>(Family::Nodes, b"k", &bytes).expect("decodes"), value);
        bytes[HEADER..].to_vec()
    };
    // One token: so many integers, each of a byte.
    assert_eq!(rest(&list(&[int.clone(), Value::Int(125)])), [1, 8, 2, 249, 250]);
    assert_eq!(rest(&list(std::slice::from_ref(&float)))[..3], [1, 9, 1]);
    // Three tokens: a list of two, and what is in it.
    assert_eq!(rest(&list(&[int, float]))[..4], [3, 6, 2, 2]);
    // As they were written before.
    let old = sealed(ENCODING_PLAIN, &[3, 6, 2, 2, 249, 2, 250]);
    let read: Value = decode(Family::Nodes, b"k", &old).expect("decodes");
    assert_eq!(read, list(&[Value::Int(-125), Value::Int(125)]));
}

#[test]
fn what_cannot_be_read_is_not_written() {
    let list = |item: &Value, count| Value::List(vec![item.clone(); count]);
    for item in [Value::Null, Value::Int(1), Value::Float(0.5)] {
        let most = list(&item, PARTS_MAX - 1);
        let bytes = encode(&most).expect("encodes");
        assert_eq!(decode::<Value>(Family::Nodes, b"k", &bytes).expect("decodes"), most);
        let error = encode(&list(&item, PARTS_MAX)).expect_err("is too large").to_string();
        assert!(error.contains("the record has too many parts to be read"), "{error}");
    }
    assert_eq!(PARTS_MAX, 699_050, "docs/storage-format.md says so");
    // Nor is it read, if somebody wrote it.
    let count = (PARTS_MAX as u32).to_le_bytes();
    let hostile = [&[1, 8, 252][..], &count, &[2].repeat(PARTS_MAX)].concat();
    let error = decode::<Value>(Family::Nodes, b"k", &sealed(ENCODING, &hostile));
    assert!(matches!(error, Err(StorageError::Corrupt { .. })));
}

/// A list as long as it could be before lists of numbers were one part.
#[test]
fn long_lists_of_before_are_read() {
    let count = 690_000_u32;
    let long = Value::List(vec![Value::Int(1); count as usize]);
    let tokens = count + 1;
    // So many tokens, a list, and an integer each, in few bytes and in full width.
    let few = [&[252][..], &tokens.to_le_bytes(), &[6, 252], &count.to_le_bytes()];
    let few = [&few.concat()[..], &[2, 2].repeat(count as usize)].concat();
    let head = [&u64::from(tokens).to_le_bytes()[..], &[6, 0, 0, 0], &count.to_le_bytes()].concat();
    let one = [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    let full = [&head[..], &one.repeat(count as usize)].concat();
    for (encoding, rest) in [(ENCODING_PLAIN, few), (ENCODING_FIXED, full)] {
        let read: Value = decode(Family::Nodes, b"k", &sealed(encoding, &rest)).expect("decodes");
        assert_eq!(read, long);
    }
}

#[test]
fn a_bound_takes_what_it_needs() {
    const SECOND: i64 = 1_000_000;
    let last = i64::from(i32::MAX) * SECOND;
    let cases = [
        (Interval::ALL, 1),
        (Interval { from: 5 * SECOND, to: Interval::MAX }, 5),
        (Interval { from: -5 * SECOND, to: last }, 9),
        (Interval { from: -1, to: last + SECOND }, 17),
        (Interval { from: Interval::MIN + 1, to: Interval::MAX - 1 }, 17),
        (Interval { from: i64::from(i32::MIN) * SECOND, to: 0 }, 9),
    ];
    for (interval, length) in cases {
        let bytes = encode(&interval).expect("encodes");
        assert_eq!(bytes.len() - HEADER, length, "{interval:?}");
        let read: Interval = decode(Family::Versions, b"k", &bytes).expect("decodes");
        assert_eq!(read, interval);
    }
    for kinds in [4, 4 << 4] {
        let bytes = sealed(ENCODING, &[&[kinds][..], &[0; 16]].concat());
        assert!(decode::<Interval>(Family::Versions, b"k", &bytes).is_err());
    }
}

/// A version as it was written with integers in few bytes and in full width.
const OLD: [(u8, &str); 2] = [
    (
        ENCODING_PLAIN,
        "010203090e000000000000e83f0101020444313a330444313a340203060601060106010601060102\
         020401000200020444313a330444313a34090e000000000000e03f01020306060106010601060106\
         01020204010001000000000000e03f02040102",
    ),
    (
        ENCODING_FIXED,
        "0100000000000000020000000300000000000000fbffffffffffffff070000000000000000000000\
         0000e83f01000000010200000000000000040000000000000044313a33040000000000000044313a\
         34020000000000000003000000060000000000000006000000010000000600000001000000060000\
         00010000000600000001000000060000000100000002000000010000000000000004000000010000\
         0000000000000000000200000000000000000000000200000000000000040000000000000044313a\
         33040000000000000044313a34fbffffffffffffff0700000000000000000000000000e03f010000\
         00020000000000000003000000060000000000000006000000010000000600000001000000060000\
         00010000000600000001000000060000000100000002000000010000000000000004000000010000\
         00000000000000000001000000000000000000e03f01000000000000000200000000000000010200\
         0000",
    ),
];

#[test]
fn records_of_before_are_read() {
    let new = version();
    let bytes = encode(&new).expect("encodes");
    for (encoding, hex) in OLD {
        let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("text"));
        let rest: Vec<u8> =
            pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect();
        let read: VersionRecord =
            decode(Family::Versions, b"k", &sealed(encoding, &rest)).expect("decodes");
        assert_eq!(read, new);
        // Each is what its first byte says.
        for bytes in [sealed(ENCODING, &rest), sealed(encoding, &bytes[HEADER..])] {
            let read = decode::<VersionRecord>(Family::Versions, b"k", &bytes);
            assert!(read.is_err_and(|error| matches!(error, StorageError::Corrupt { .. })));
        }
    }
}

/// A record with a checksum that fits.
fn sealed(encoding: u8, rest: &[u8]) -> Vec<u8> {
    [&[encoding][..], &crc32c::crc32c(rest).to_le_bytes(), rest].concat()
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
        let hostile = sealed(ENCODING, &rest);
        match decode::<VersionRecord>(Family::Versions, b"k", &hostile) {
            Ok(_) => decoded += 1,
            Err(StorageError::Corrupt { .. }) => corrupt += 1,
            Err(other) => panic!("{other}"),
        }
        for old in [ENCODING_PLAIN, ENCODING_FIXED] {
            let _ = decode::<VersionRecord>(Family::Versions, b"k", &sealed(old, &rest));
        }
        let old = [&[ENCODING_1][..], &rest].concat();
        let _ = decode_format_1::<VersionRecord>(Family::Versions, b"k", &old);
        let _ = decode::<NodeRecord>(Family::Nodes, b"k", &hostile);
        let _ = decode::<RelationRule>(Family::Meta, b"k", &hostile);
        let mut vector = Vec::new();
        let _ = decode_vector(&rest, &mut vector);
    }
    assert!(decoded > 100 && corrupt > 1_000, "{decoded} decoded, {corrupt} corrupt");
}
