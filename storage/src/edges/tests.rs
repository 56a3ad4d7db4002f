//! Facts in columns against the list that they were made of.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

fn edge(number: u64) -> impl Strategy<Value = Edge> {
    let times = (0..50_i64, prop::option::of(1..20_i64), 0..6_i64);
    let rest = (0..3_u32, 0..9_u64, 0..4_u32, 0..5_usize, any::<[bool; 2]>(), 0..5_u8);
    (times, rest).prop_map(move |((from, length, system), rest)| {
        let (relation, far, version, intent, [uncertain, two_way], sure) = rest;
        Edge {
            fact: FactId((number % 2) << (FACT_BITS - 1) | number),
            version,
            head: NodeId(7),
            relation: RelationId(relation),
            tail: NodeId(far),
            valid: Interval { from, to: length.map_or(Interval::MAX, |length| from + length) },
            system: Interval { from: system, to: Interval::MAX },
            confidence: f64::from(sure) / 4.0,
            intent: Intent::ALL[intent],
            uncertain,
            two_way,
        }
    })
}

/// Facts of one head, in the order of their keys.
fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let all = (0..70_usize).prop_flat_map(|count| (0..count as u64).map(edge).collect::<Vec<_>>());
    all.prop_map(|mut edges| {
        edges.sort_by_key(|edge| Adjacency::of(Side::Out, edge));
        edges
    })
}

/// Which valid times are asked for.
pub(crate) fn valid() -> impl Strategy<Value = ValidScope> {
    prop_oneof![
        Just(ValidScope::All),
        (0..60_i64).prop_map(ValidScope::AsOf),
        (0..50_i64, 1..20_i64)
            .prop_map(|(from, length)| ValidScope::Within(Interval { from, to: from + length })),
    ]
}

fn filter() -> impl Strategy<Value = EdgeFilter> {
    let system = prop_oneof![
        Just(SystemScope::Current),
        Just(SystemScope::All),
        (0..7_i64).prop_map(SystemScope::AsOf),
    ];
    let intent = prop::option::of((0..5_usize).prop_map(|intent| Intent::ALL[intent]));
    (valid(), system, 0..5_u8, intent).prop_map(|(valid, system, sure, intent)| EdgeFilter {
        valid,
        system,
        confidence: f64::from(sure) / 4.0,
        intent,
    })
}

proptest! {
    /// A part of the facts, whole or broken off, is what a look at each of them gives.
    #[test]
    fn columns_give_what_the_list_gives(
        edges in edges(),
        filter in filter(),
        (start, length, most) in (0..70_usize, 0..70_usize, 1..80_usize),
    ) {
        let near = Near { node: NodeId(7), side: Side::Out, relation: None };
        let mut gathered = Gathered::new(Side::Out);
        for edge in &edges {
            prop_assert!(gathered.push(edge).is_continue());
        }
        let columns = gathered.finish();
        prop_assert_eq!((columns.len(), columns.is_complete()), (edges.len(), true));
        let start = start.min(edges.len());
        let places = start..(start + length).min(edges.len());
        let part = || edges[places.clone()].iter().filter(|edge| filter.keeps(edge)).take(most);
        let (mut found, mut far) = (Vec::new(), Vec::new());
        let by_edge = columns.visit(&near, places.clone(), &filter, &mut |edge| {
            found.push(edge);
            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        prop_assert_eq!(by_edge.1.is_break(), found.len() == most);
        prop_assert_eq!(found, part().copied().collect::<Vec<_>>());
        let by_node = columns.visit_far(places.clone(), &filter, &mut |node| {
            far.push(node);
            if far.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        prop_assert_eq!(by_node, by_edge);
        prop_assert_eq!(far, part().map(|edge| edge.tail).collect::<Vec<_>>());
        let relation = RelationId(1);
        let of_it = edges.iter().filter(|edge| edge.relation == relation);
        prop_assert_eq!(columns.of_relation(relation).len(), of_it.count());
        if let Some(last) = edges.get(start) {
            let behind = columns.behind(&near, &Adjacency::of(Side::Out, last));
            prop_assert_eq!(behind, start + 1);
        }
    }
}

#[test]
fn of_too_many_facts_none_is_kept() {
    let mut runner = TestRunner::deterministic();
    let one = edge(0).new_tree(&mut runner).unwrap().current();
    let mut gathered = Gathered::new(Side::Out);
    for _ in 0..FACTS_MAX {
        assert!(gathered.push(&one).is_continue());
    }
    assert!(gathered.push(&one).is_break());
    let none = gathered.finish();
    assert_eq!((none.len(), none.is_complete()), (0, false));
}

#[test]
fn a_fact_of_a_number_with_too_many_bits_is_not_kept() {
    let mut runner = TestRunner::deterministic();
    let one = edge(0).new_tree(&mut runner).unwrap().current();
    let mut gathered = Gathered::new(Side::Out);
    assert!(gathered.push(&one).is_continue());
    assert!(gathered.push(&Edge { fact: FactId(1 << FACT_BITS), ..one }).is_break());
    assert!(!gathered.finish().is_complete());
}
