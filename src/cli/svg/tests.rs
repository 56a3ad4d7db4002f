//! Pictures of graphs: what is drawn, and that any text may stand in them.

use engraph::{Path, Rows};

use super::*;

fn node(label: &str, key: &str) -> Node {
    Node { label: label.to_owned(), key: key.to_owned(), properties: BTreeMap::new() }
}

fn fact(id: u64, (head, relation, tail): (&str, &str, &str), valid: Interval) -> Fact {
    Fact {
        id,
        head: node("Person", head),
        relation: relation.to_owned(),
        tail: node("City", tail),
        valid,
        system: Interval { from: 0, to: Interval::MAX },
        confidence: 0.5,
        intent: "fact".to_owned(),
        uncertain: false,
        sources: Vec::new(),
        properties: BTreeMap::new(),
        derived: None,
    }
}

fn drawn(facts: Vec<Fact>) -> String {
    let row = |fact| vec![Value::Fact(Box::new(fact))];
    let rows = Rows { rows: facts.into_iter().map(row).collect(), ..Rows::default() };
    graph(&Evidence::of(&rows))
}

const YEAR: i64 = 365 * 86_400_000_000;
const CLOSED: Interval = Interval { from: 0, to: YEAR };
const OPEN: Interval = Interval { from: YEAR, to: Interval::MAX };

/// Whether every element that is opened is closed, in order.
#[track_caller]
fn check_nesting(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("every tag ends");
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn nodes_facts_and_their_times_are_drawn_once() {
    let one = fact(1, ("Nora", "lives_in", "Lisbon"), CLOSED);
    let two = Fact { uncertain: true, ..fact(2, ("Nora", "lives_in", "Porto"), OPEN) };
    let path = Path { nodes: vec![one.head.clone(), one.tail.clone()], facts: vec![one.clone()] };
    let values = vec![
        Value::List(vec![Value::Path(Box::new(path))]),
        Value::Fact(Box::new(one)),
        Value::Fact(Box::new(two)),
        Value::Node(Box::new(node("Animal", "Rex"))),
    ];
    let rows = Rows { rows: vec![values], ..Rows::default() };
    let svg = graph(&Evidence::of(&rows));
    check_nesting(&svg);
    assert_eq!(svg.matches("class=\"node\"").count(), 4);
    assert_eq!(svg.matches("class=\"fact c0\"").count(), 2);
    assert_eq!(svg.matches("class=\"bar c0\"").count(), 2);
    // Dashed as an arrow and as a bar, and with one open end.
    assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    assert_eq!(svg.matches("url(#engraph-end-0)").count(), 1);
    assert_eq!(svg.matches("url(#engraph-begin-0)").count(), 0);
    assert!(svg.contains(">[1970-01-01, 1971-01-01) 0.5</text>"), "{svg}");
    assert!(svg.contains(">Nora lives_in Lisbon</text>"), "{svg}");
    assert!(svg.contains("stroke-width=\"1.90\""), "{svg}");
}

#[test]
fn a_stored_text_is_no_markup() {
    let svg = drawn(vec![fact(1, ("<script>\"&'\u{1b}\u{ffff}", "a&b", "]]>"), CLOSED)]);
    check_nesting(&svg);
    assert!(!svg.contains("<script") && !svg.contains("a&b"), "{svg}");
    assert!(!svg.contains(['\u{1b}', '\u{ffff}']));
    assert!(svg.contains("&lt;script&gt;&quot;&amp;'"), "{svg}");
}

#[test]
fn without_a_known_time_there_is_no_axis() {
    let always = Interval { from: Interval::MIN, to: Interval::MAX };
    let svg = drawn(vec![fact(1, ("a", "r", "b"), always)]);
    check_nesting(&svg);
    assert_eq!((svg.matches("class=\"bar").count(), svg.matches("fact c0").count()), (0, 1));
    let empty = graph(&Evidence::default());
    check_nesting(&empty);
    assert!(empty.contains(">no nodes or facts</text>"));
}

#[test]
fn thousands_of_facts_are_drawn_in_part_and_said_to_be() {
    let facts = (0..2500).map(|n| {
        let names = (format!("p{}", n % 900), format!("c{}", n % 700));
        fact(n, (&names.0, "r", &names.1), CLOSED)
    });
    let svg = drawn(facts.collect());
    check_nesting(&svg);
    assert_eq!(svg.matches("class=\"fact c0\"").count(), DRAWN_MAX);
    assert!(svg.contains(" and 2000 of 2500 facts</text>"));
    let again = drawn(vec![fact(1, ("a", "r", "b"), CLOSED), fact(2, ("b", "r", "c"), OPEN)]);
    let other = drawn(vec![fact(2, ("b", "r", "c"), OPEN), fact(1, ("a", "r", "b"), CLOSED)]);
    assert_eq!(again, other);
}
