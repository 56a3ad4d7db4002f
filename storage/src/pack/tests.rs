//! Packs are what was written, and say so where they are not.

use proptest::prelude::*;

use super::*;

const NAMES: [&str; 5] = ["", "chat", "facts.csv:7", "facts.csv:12", "día"];

fn facts() -> impl Strategy<Value = Vec<(u8, BulkFact<'static>)>> {
    let times =
        (prop_oneof![Just(Interval::MIN), -9..9_i64], prop_oneof![Just(Interval::MAX), 10..20_i64]);
    let confidence = prop_oneof![Just(1.0), Just(0.37), 0.000_001..1.0];
    let fact = (0..4_u64, 0..3_u32, any::<u64>(), times, confidence, 0..4_usize, 0..NAMES.len());
    let fact =
        fact.prop_map(|(head, relation, tail, (from, to), confidence, intent, source)| BulkFact {
            head: NodeId(head),
            relation: RelationId(relation),
            tail: NodeId(tail),
            valid: Interval { from, to },
            confidence,
            intent: Intent::ALL[intent],
            source: NAMES[source],
        });
    let places = prop::sample::subsequence((0..FACTS as u8).collect::<Vec<_>>(), 1..=FACTS);
    (places, prop::collection::vec(fact, FACTS))
        .prop_map(|(places, facts)| places.into_iter().zip(facts).collect())
}

proptest! {
    #[test]
    fn a_pack_has_what_was_written_and_loses_what_is_taken_out(
        facts in facts(),
        since in -5..5_i64,
        gone in 0..FACTS as u8,
    ) {
        let (key, _) = place_of(FactId(8));
        let bytes = encode(&facts, since).expect("small");
        let pack = Pack::decode(&key, &bytes).expect("a pack");
        for place in 0..FACTS as u8 {
            let written = facts.iter().find(|(other, _)| *other == place);
            let version = written.map(|(_, fact)| fact.version(since));
            prop_assert_eq!(pack.version(place).expect("reads"), version);
        }
        let left: Vec<_> = facts.iter().filter(|(place, _)| *place != gone).copied().collect();
        let without = pack.without(gone).expect("reads");
        prop_assert_eq!(without.is_none(), left.is_empty());
        // What was never in it does not leave it, and nothing leaves twice.
        let (mut behind, is_in) = (bytes.clone(), facts.len() > left.len());
        prop_assert_eq!(leave(key, &mut behind, &[gone]).expect("reads"), is_in);
        prop_assert_eq!(behind != bytes, is_in);
        prop_assert!(!leave(key, &mut behind, &[gone]).expect("reads"));
        if let Some(bytes) = without {
            let versions = Pack::decode(&key, &bytes).expect("a pack").versions().collect::<Result<Vec<_>>>();
            let left = left.iter().map(|(place, fact)| (FactId(8 + u64::from(*place)), fact.version(since)));
            prop_assert_eq!(versions.expect("reads"), left.collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_bytes_are_too_wrong_to_be_told(bytes in prop::collection::vec(0..20_u8, 0..80), first in 0..9_u64) {
        let key = first.to_be_bytes();
        prop_assert!(Pack::decode(&key, &bytes).is_err());
        // With a checksum that fits.
        let bytes = [&[ENCODING][..], &crc32c::crc32c(&bytes).to_le_bytes(), &bytes].concat();
        if let Ok(pack) = Pack::decode(&key, &bytes) {
            let _ = pack.versions().count();
            let _ = pack.version(1);
        }
    }
}

#[test]
fn a_changed_byte_is_told() {
    let fact = BulkFact {
        head: NodeId(1),
        relation: RelationId(2),
        tail: NodeId(3),
        valid: Interval { from: 4, to: Interval::MAX },
        confidence: 0.5,
        intent: Intent::Fact,
        source: "chat",
    };
    let (key, _) = place_of(FactId(0));
    let bytes = encode(&[(1, fact)], 6).expect("small");
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(Pack::decode(&key, &changed).is_err(), "byte {place}");
    }
    let long = "x".repeat(SOURCES_MAX + 1);
    assert_eq!(encode(&[(1, BulkFact { source: &long, ..fact })], 6), None);
}
