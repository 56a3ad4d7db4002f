//! A query that has been run before may be answered a shorter way: with the same answer, or the same
//! refusal, as the first time and as a stream.

use engraph::{Engraph, Limits, Options, Params, Value};

use crate::{folder, open};

/// Queries of the shapes that have a shorter way, and some that nearly have one.
const TEXTS: [&str; 13] = [
    "MATCH (a:Person {key: $key})-[f:knows]->(b) RETURN id(b), f.confidence, f.valid_from",
    "MATCH (a)-[f]->(b) WHERE id(a) = $id RETURN type(f), id(b), f.intent",
    "MATCH (a {key: $key})-[f:knows]->(b) RETURN f.valid_from ORDER BY f.valid_from",
    "MATCH (a:Person {key: $key}) MATCH (a)-[f:knows]->(b) FOR VALID_TIME AS OF a.since RETURN id(b)",
    "MATCH (a)<-[f:knows]-(b) WHERE id(a) = $id RETURN id(b), f.valid_to ORDER BY f.valid_from",
    "MATCH (a)-[f:knows]->(b) FOR VALID_TIME AS OF $t WHERE id(a) = $id RETURN id(b)",
    "MATCH (a:Person {key: $key})-[f]->(b) RETURN DISTINCT id(b)",
    "MATCH (a)-[f]->(b) FOR VALID_TIME AS OF $t WHERE id(a) = $id RETURN DISTINCT id(b)",
    "MATCH (a)-[f]->(b) WHERE id(a) = $id WITH DISTINCT b MATCH (b)-[g]->(c) RETURN DISTINCT id(c)",
    "MATCH (a)-[f]->(b) WHERE id(a) = $id WITH DISTINCT b MATCH (b)<-[g]-(c) RETURN DISTINCT id(c)",
    "MATCH (a:Person)-[f]->(b) RETURN DISTINCT id(b) AS other",
    "MATCH (a)-[f]->(b) WHERE id(a) = $id RETURN DISTINCT id(b) ORDER BY id(b) LIMIT 1",
    "MATCH (a)-[f]->(b) WHERE id(a) = $id WITH DISTINCT b MATCH (b)-[g]->(c) RETURN count(DISTINCT c)",
];

fn graph(db: &Engraph) {
    let text = "DEFINE RELATION knows CARDINALITY MANY;
        REMEMBER (:Person 'Ann')-[knows]->(:Person 'Bob') VALID FROM DATE '2024-01-01';
        REMEMBER (:Person 'Ann')-[knows]->(:Person 'Cy') VALID FROM DATE '2025-01-01' CONFIDENCE 0.5;
        REMEMBER (:Person 'Bob')-[knows]->(:Person 'Ann');
        REMEMBER (:Person 'Bob')-[knows]->(:Person 'Cy');
        REMEMBER (:Person 'Cy')-[likes]->(:Person 'Ann');
        REMEMBER (:Person 'Ann')-[likes]->(:Person 'Cy');
        REMEMBER (:Person 'Ann' {since: TIMESTAMP '2024-06-01T00:00:00Z'});
        REMEMBER (:Person 'Bob' {since: TIMESTAMP '2024-06-01T00:00:00Z'});
        REMEMBER (:Person 'Cy' {since: TIMESTAMP '2024-06-01T00:00:00Z'});
        REMEMBER (:Cat 'Ann')-[knows]->(:Person 'Bob') VALID FROM DATE '2023-01-01';
        REMEMBER (:Cat 'Ann')-[knows]->(:Person 'Cy') VALID FROM DATE '2026-01-01';";
    db.execute(text, ()).expect("is stored");
}

fn params(db: &Engraph, key: &str) -> Params {
    let rows = db.query("MATCH (a:Person {key: $key}) RETURN id(a)", [("key", key)]).expect("runs");
    let id = rows.rows.first().map_or(Value::Int(99), |row| row[0].clone());
    let t = db.query("RETURN TIMESTAMP '2024-06-01T00:00:00Z'", ()).expect("an instant");
    Params::from([("key", Value::from(key)), ("id", id), ("t", t.rows[0][0].clone())])
}

/// The answer, or why there is none.
fn asked(db: &Engraph, text: &str, params: &Params) -> String {
    match db.query(text, params.clone()) {
        Ok(rows) => format!("{:?} {:?}", rows.columns, rows.rows),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_shorter_way_gives_the_same() {
    let folder = folder();
    let db = open(folder.path());
    graph(&db);
    let mut rows = 0;
    for text in TEXTS {
        for key in ["Ann", "Bob", "Cy", "nobody"] {
            let params = params(&db, key);
            let mut session = db.session();
            let stream = session.stream(text, params.clone()).expect(text);
            let all: Vec<Vec<Value>> = stream.map(|row| row.expect(text)).collect();
            rows += all.len();
            let twice = [asked(&db, text, &params), asked(&db, text, &params)];
            for answer in twice {
                assert!(answer.ends_with(&format!("{all:?}")), "{text} of {key}: {answer}");
            }
        }
    }
    assert!(rows > 30, "{rows} rows");
}

#[test]
fn the_shorter_way_refuses_the_same() {
    let folder = folder();
    graph(&open(folder.path()));
    let limits = Limits { rows_max: 1, ..Limits::default() };
    let small = Options::new().limits(limits).open_read_only(folder.path()).expect("opens");
    for text in TEXTS {
        let given = params(&small, "Ann");
        let first = asked(&small, text, &given);
        assert_eq!(asked(&small, text, &given), first, "{text}");
        let first = asked(&small, text, &Params::new());
        assert!(first.contains('$') || !text.contains('$'), "{text}: {first}");
        assert_eq!(asked(&small, text, &Params::new()), first, "{text}");
    }
}
