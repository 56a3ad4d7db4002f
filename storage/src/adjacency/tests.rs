//! Keys sort like their parts, facts come back as they went, and what nobody wrote is none.

use proptest::prelude::*;

use super::*;

/// Numbers of every length.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, by)| number >> by)
}

/// Instants near the epoch and far from it, on whole seconds and off them, open ones among them.
fn time() -> impl Strategy<Value = Time> {
    let edge = EPOCH * SECOND;
    prop_oneof![
        (-200..200_i64).prop_map(|second| second * SECOND),
        -3 * SECOND..3 * SECOND,
        (any::<i64>(), 0..64_u32).prop_map(|(time, by)| time >> by),
        (0..9_i64).prop_map(move |by| by - 4 - edge),
        (0..9_i64).prop_map(move |by| by - 4 + edge),
        prop_oneof![Just(0), Just((1 << 32) * SECOND)].prop_map(move |less| less - edge),
        prop_oneof![Just(1), Just((1 << 32) * SECOND)].prop_map(move |less| edge - less),
        prop_oneof![Just(Interval::MIN), Just(Interval::MIN + 1), Just(Interval::MAX)],
    ]
}

fn adjacency() -> impl Strategy<Value = Adjacency> {
    (0..2_u64, 0..2_u32, time(), number(), number()).prop_map(
        |(near, relation, valid_from, far, fact)| Adjacency {
            near: NodeId(near),
            relation: RelationId(relation),
            valid_from,
            far: NodeId(far),
            fact: FactId(fact),
        },
    )
}

fn interval() -> impl Strategy<Value = Interval> {
    (time(), time()).prop_filter_map("holds no instant", |(a, b)| Interval::new(a.min(b), a.max(b)))
}

fn edge() -> impl Strategy<Value = Edge> {
    let numbers = (number(), number(), number(), any::<u32>(), prop_oneof![Just(0), any::<u32>()]);
    let sure = prop_oneof![Just(1.0), (1..1024_u16).prop_map(|k| f64::from(k) / 1024.0), 0.0..1.0];
    let rest = (sure, 0..5_usize, any::<[bool; 3]>());
    (numbers, interval(), interval(), rest).prop_map(|(numbers, valid, system, rest)| {
        let (head, tail, fact, relation, version) = numbers;
        let (confidence, intent, [uncertain, two_way, believed]) = rest;
        let to = if believed { Interval::MAX } else { system.to };
        Edge {
            fact: FactId(fact),
            version,
            head: NodeId(head),
            relation: RelationId(relation),
            tail: NodeId(tail),
            valid,
            system: Interval { to, ..system },
            confidence,
            intent: Intent::ALL[intent],
            uncertain,
            two_way,
        }
    })
}

proptest! {
    #[test]
    fn keys_sort_like_their_parts(a in adjacency(), b in adjacency()) {
        prop_assert_eq!(a.cmp(&b), a.encode().as_ref().cmp(b.encode().as_ref()));
        let key = a.encode();
        prop_assert_eq!(Adjacency::decode(key.as_ref()), Some((a, &[][..])));
        // Where facts begin that are not before an instant.
        let begun = begun(b.near, Some(b.relation), b.valid_from);
        let before = (a.near, a.relation, a.valid_from) < (b.near, b.relation, b.valid_from);
        prop_assert_eq!(key.as_ref() < begun.as_slice(), before);
    }

    #[test]
    fn an_edge_is_what_was_written_or_none(edge in edge(), at in any::<prop::sample::Index>()) {
        let value = encode(&edge);
        let value = value.as_ref();
        for (side, (_, key)) in [Side::Out, Side::In].into_iter().zip(places(&edge)) {
            let key = key.as_ref();
            prop_assert_eq!(decode(side, key, value), Some(edge));
            prop_assert_eq!(decode(side, &key[..at.index(key.len())], value), None);
            prop_assert_eq!(decode(side, key, &value[..at.index(value.len())]), None);
            prop_assert_eq!(decode(side, &[key, &[0]].concat(), value), None);
            prop_assert_eq!(decode(side, key, &[value, &[0]].concat()), None);
        }
        let other = [&[value[0] | 16], &value[1..]].concat();
        let [(_, key), _] = places(&edge);
        prop_assert_eq!(decode(Side::Out, key.as_ref(), &other), None);
    }

    #[test]
    fn any_bytes_are_an_edge_or_none(
        key in prop::collection::vec(any::<u8>(), 0..50),
        value in prop::collection::vec(any::<u8>(), 0..50),
    ) {
        let _ = (decode(Side::Out, &key, &value), restamp(&mut value.clone(), |_| ()));
    }

    #[test]
    fn a_mark_is_moved_on_both_bounds(edge in edge(), by in 1..9_i64) {
        for mark in [edge.system.from, edge.system.to] {
            let moved = |time: Time| if time == mark { time.wrapping_add(by) } else { time };
            let mut value = encode(&edge).as_ref().to_vec();
            prop_assert_eq!(restamp(&mut value, |time| *time = moved(*time)), Some(()));
            let from = moved(edge.system.from);
            // An open end is no mark.
            let to = match edge.system.to {
                Interval::MAX => Interval::MAX,
                to => moved(to),
            };
            let expected = encode(&Edge { system: Interval { from, to }, ..edge });
            prop_assert_eq!(value.as_slice(), expected.as_ref());
        }
    }
}

#[test]
fn a_fact_of_the_present_takes_few_bytes() {
    let edge = Edge {
        fact: FactId(70_000),
        version: 0,
        head: NodeId(300),
        relation: RelationId(3),
        tail: NodeId(5),
        valid: Interval { from: 1_577_838_083 * SECOND, to: Interval::MAX },
        system: Interval { from: 1_700_000_000_123_456, to: Interval::MAX },
        confidence: 0.75,
        intent: Intent::Fact,
        uncertain: false,
        two_way: false,
    };
    let [(_, out), _] = places(&edge);
    assert_eq!((out.as_ref().len(), encode(&edge).as_ref().len()), (12 + 6 + 2 + 4, 2 + 8 + 2));
}
