//! The evaluator itself, on a graph that can be drawn: what each answer is was worked out by hand.
//!
//! ```text
//!   a -r 1..5-> b -r 3..9-> c -r 7..-> a      a -s 1..-> b (0.5, causal)      c -s 2..4-> c
//! ```

use std::collections::BTreeMap;

use super::eval::{Naive, Row};
use super::run::parsed;
use super::shrink::smaller_texts;
use super::value::Value;
use super::window::Windows;
use super::world::{DAY, Fact, Node, START, World};

fn world() -> World {
    let node = |label, key: &str, age: Option<i64>| Node {
        label,
        key: key.to_owned(),
        properties: age.map(|age| ("age", Value::Int(age))).into_iter().collect(),
    };
    let fact = |id, head, relation, tail, from, to: Option<i64>| Fact {
        id,
        head,
        relation,
        tail,
        valid: (START + from * DAY, to.map_or(i64::MAX, |to| START + to * DAY)),
        system: (0, i64::MAX),
        confidence: if id == 3 { 0.5 } else { 1.0 },
        intent: if id == 3 { "causal" } else { "fact" },
        properties: BTreeMap::from([("w", Value::Int(id as i64))]),
    };
    let nodes = vec![node("A", "a", Some(1)), node("B", "b", Some(2)), node("B", "c", None)];
    let facts = vec![
        fact(0, 0, "r", 1, 0, Some(4)),
        fact(1, 1, "r", 2, 2, Some(8)),
        fact(2, 2, "r", 0, 6, None),
        fact(3, 0, "s", 1, 0, None),
        fact(4, 2, "s", 2, 1, Some(3)),
    ];
    World::new(nodes, facts)
}

/// The rows, each value as a short text.
fn rows(text: &str) -> String {
    let world = world();
    let query = parsed(text).expect(text);
    let answer = Naive::new(&world, 100_000).query(&query, &Row::new(), Windows::default());
    let show = |row: &Vec<Value>| {
        row.iter().map(|value| short(value, &world)).collect::<Vec<_>>().join(" ")
    };
    let answer = answer.expect(text);
    answer.rows.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn short(value: &Value, world: &World) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::String(text) => text.clone(),
        Value::Node(node) => world.nodes[*node].key.clone(),
        Value::Fact(fact) => world.facts[*fact].id.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| short(item, world)).collect();
            format!("[{}]", items.join(" "))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn times_bind_every_hop() {
    for (times, expected) in [
        ("", "[3]"),
        (
            "FOR VALID_TIME ALL",
            "[0], [0 1], [0 1 2], [0 1 2 3], [0 1 4], [0 1 4 2], [0 1 4 2 3], \
             [3], [3 1], [3 1 2], [3 1 2 0], [3 1 4], [3 1 4 2], [3 1 4 2 0]",
        ),
        ("FOR VALID_TIME AS OF DATE '2020-01-03'", "[0], [0 1], [0 1 4], [3], [3 1], [3 1 4]"),
        ("FOR VALID_TIME FROM DATE '2020-01-05' TO DATE '2020-01-07'", "[3], [3 1]"),
        ("FOR VALID_TIME BETWEEN DATE '2020-01-05' AND DATE '2020-01-07'", "[3], [3 1], [3 1 2]"),
    ] {
        let query = format!("MATCH (a:A)-[f]->+(x) {times} RETURN f");
        assert_eq!(rows(&query), expected, "{query}");
    }
}

#[test]
fn patterns_fit_in_every_way() {
    for (query, expected) in [
        ("MATCH (n) RETURN n", "a, b, c"),
        ("MATCH (n:A|C) RETURN n", "a"),
        ("MATCH (n {age: null}) RETURN n", ""),
        ("MATCH (n:B 'c') RETURN n", "c"),
        ("MATCH (a:A)-[f]->(b) FOR VALID_TIME ALL RETURN f, b", "0 b, 3 b"),
        ("MATCH (a:A)<-[f]-(b) FOR VALID_TIME ALL RETURN f, b", "2 c"),
        ("MATCH (a:B 'c')-[f]-(b) FOR VALID_TIME ALL RETURN f", "1, 2, 4"),
        ("MATCH (a:A)-[f]->(b)<-[g]-(c) FOR VALID_TIME ALL RETURN f, g", "0 3, 3 0"),
        ("MATCH (a:A)-[f]->(b), (a)-[g]->(b) FOR VALID_TIME ALL RETURN f, g", "0 3, 3 0"),
        (
            "MATCH (a:A)-[f]->(b), TRAIL (a)-[g]->(b) FOR VALID_TIME ALL RETURN f, g",
            "0 0, 0 3, 3 0, 3 3",
        ),
        ("MATCH (a:A)-[f:r*0..2]->(b) FOR VALID_TIME ALL RETURN f, b", "[] a, [0] b, [0 1] c"),
        ("MATCH (a:A)<-[f:r*]-(b) FOR VALID_TIME ALL RETURN f", "[2], [2 1], [2 1 0]"),
        ("MATCH (a:A)-[f* WHERE f.w < 3]->(b) FOR VALID_TIME ALL RETURN f", "[0], [0 1], [0 1 2]"),
        ("MATCH (a)-[f]->(b) MATCH (c)-[f]->(d) RETURN c, d", "a b, c a"),
        ("MATCH (a)-[f]->(a) FOR VALID_TIME ALL RETURN a", "c"),
        ("MATCH (a:A)-[f]->(b) FOR VALID_TIME ALL CONFIDENCE >= 0.6 RETURN f", "0"),
        ("MATCH (a:A)-[f]->(b) FOR VALID_TIME ALL INTENT causal RETURN f", "3"),
        ("MATCH (a:A)-[f]->(b) FOR VALID_TIME ALL INTENT ~ causal RETURN f", "3, 0"),
    ] {
        assert_eq!(rows(query), expected, "{query}");
    }
}

#[test]
fn modes_and_searches_choose_paths() {
    let all = "FOR VALID_TIME ALL RETURN [x IN facts(p) | x.w] AS w";
    for (pattern, expected) in [
        ("WALK p = (:A)-[:r]->{4}()", "[0 1 2 0]"),
        ("p = (:A)-[:r]->{4}()", ""),
        ("ACYCLIC p = (:A)-[:r]->+()", "[0], [0 1]"),
        ("SIMPLE p = (:A)-[:r]->+()", "[0], [0 1], [0 1 2]"),
        ("SIMPLE p = (:A)-[:r]->{3,}()-->()", ""),
        ("SIMPLE p = ({key: 'c'})-->{2}()", "[2 0], [2 3]"),
        ("CHRONOLOGICAL p = (:A)-[:r]->{2,3}()", "[0 1], [0 1 2]"),
        ("CHRONOLOGICAL p = ({key: 'c'})-[:r]->{2}()", ""),
        ("SIMULTANEOUS p = (:A)-[:r]->{2,3}()", "[0 1]"),
        ("SHORTEST 1 p = (:A)-->+({key: 'c'})", "[0 1]"),
        ("ALL SHORTEST p = (:A)-->+({key: 'c'})", "[0 1], [3 1]"),
        ("SHORTEST 2 GROUPS p = (:A)-->+({key: 'c'})", "[0 1], [3 1], [0 1 4], [3 1 4]"),
        ("CHEAPEST 1 BY 9 - f.w p = (:A)-[f]->+({key: 'c'})", "[3 1]"),
        ("p = allShortestPaths((:A)-[*]-({key: 'c'}))", "[2]"),
    ] {
        let query = format!("MATCH {pattern} {all}");
        assert_eq!(rows(&query), expected, "{query}");
    }
}

#[test]
fn clauses_hand_rows_on() {
    for (query, expected) in [
        ("OPTIONAL MATCH (n:C)-[f]->(m) RETURN n, f, m", "null null null"),
        ("MATCH (n) OPTIONAL MATCH (n)-[f]->() RETURN n, f", "a 3, b null, c 2"),
        ("MATCH (n) WITH n.label AS l, count(*) AS k WHERE k > 1 RETURN l, k", "B 2"),
        ("MATCH (n) RETURN n.age AS age ORDER BY age DESC", "null, 2, 1"),
        ("MATCH (n) RETURN n.age AS age ORDER BY age DESC NULLS LAST SKIP 1 LIMIT 1", "1"),
        ("MATCH (n) RETURN DISTINCT n.label AS l", "A, B"),
        (
            "MATCH (n:C) RETURN count(*), sum(n.age), avg(n.age), min(n.age), collect(n.age)",
            "0 0 null null []",
        ),
        ("MATCH (n) RETURN count(n.age), sum(n.age), avg(n.age), collect(n.age)", "2 3 1.5 [1 2]"),
        ("UNWIND [1, null, 1] AS x RETURN count(x), count(DISTINCT x)", "2 1"),
        ("UNWIND null AS x RETURN x", ""),
        ("UNWIND 3 AS x RETURN x", "3"),
        ("UNWIND [1, 2] AS x LET y = x + 1 FILTER y > 2 RETURN x, y", "2 3"),
        ("RETURN 1 AS x UNION RETURN 1 AS x UNION RETURN 2 AS x", "1, 2"),
        ("RETURN 1 AS x UNION ALL RETURN 1 AS x", "1, 1"),
        ("MATCH (n) CALL { MATCH (n)-[f]->() RETURN count(*) AS k } RETURN n, k", "a 1, b 0, c 1"),
        ("MATCH (n:A) CALL { MATCH (n)-->(m) RETURN m } RETURN m", "b"),
        (
            "UNWIND [1, 2] AS x OPTIONAL CALL (x) { LET y = x FILTER y > 1 RETURN y } RETURN x, y",
            "1 null, 2 2",
        ),
        ("MATCH (n) WHERE EXISTS { (n)-[:s]->() } RETURN n", "a"),
        ("MATCH (n) WHERE (n)-->() RETURN n", "a, c"),
        ("MATCH (n:A) RETURN COUNT { (n)-[f]->() FOR VALID_TIME ALL } AS k", "2"),
        ("MATCH (n:A) RETURN [(n)-[f]->(m) | m.key] AS l", "[b]"),
    ] {
        assert_eq!(rows(query), expected, "{query}");
    }
}

#[test]
fn null_is_unknown() {
    for (expression, expected) in [
        ("null = null", "null"),
        ("[1, null] = [1, 2]", "null"),
        ("[1, null] = [2, 2]", "false"),
        ("[1, null] = [1]", "false"),
        ("3 IN [1, null]", "null"),
        ("1 IN [1, null]", "true"),
        ("null IN []", "false"),
        ("null AND false", "false"),
        ("null OR true", "true"),
        ("NOT null", "null"),
        ("null XOR true", "null"),
        ("null IS NOT TRUE", "true"),
        ("any(x IN [1, null] WHERE x > 1)", "null"),
        ("all(x IN [] WHERE x > 1)", "true"),
        ("none(x IN [1, null] WHERE x > 0)", "false"),
        ("single(x IN [1, 2] WHERE x > 1)", "true"),
        ("[x IN [1, null, 3] WHERE x > 1 | x * 2]", "[6]"),
        ("reduce(s = 0, x IN [1, 2] | s + x)", "3"),
        ("CASE null WHEN null THEN 1 ELSE 2 END", "2"),
        ("[1, 2, 3][-2..]", "[2 3]"),
        ("[1, 2, 3][5]", "null"),
        ("1 = '1'", "false"),
        ("1 = 1.0", "true"),
        ("7 / 2", "3"),
    ] {
        assert_eq!(rows(&format!("RETURN {expression} AS x")), expected, "{expression}");
    }
}

#[test]
fn questions_shrink_by_their_marks() {
    let smaller = smaller_texts("a‹, b«1»›, «f(«2», «null»)»");
    let expected =
        ["a, «f(«2», «null»)»", "a‹, b«1»›, «2»", "a‹, b«1»›, «null»", "a‹, b«1»›, «null»"];
    assert!(expected.iter().all(|text| smaller.contains(&(*text).to_owned())), "{smaller:?}");
    assert_eq!(smaller.len(), 6);
}
