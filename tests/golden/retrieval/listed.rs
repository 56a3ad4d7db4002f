//! A search asks an index which nodes count, where its condition names values: it finds the same, and
//! looks at no other embedding.

use engraph::{Engraph, Value};
use serde_json::Value as Json;

use super::first_column;
use crate::{folder, open};

/// Forty notes of four kinds in two places, with the words of all indexed.
fn notes(db: &Engraph) {
    for i in 0..40 {
        let (kind, place) = (["recipe", "letter", "list", "idea"][i % 4], ["home", "work"][i / 20]);
        let text = format!("bread {i} with {} seeds", i * 7 % 11);
        let note = format!(
            "(:Note 'n{i}' {{kind: '{kind}', place: '{place}', tags: ['{kind}', '{place}'], text: '{text}'}})"
        );
        db.execute(&format!("REMEMBER {note}"), ()).expect("writes");
    }
    db.execute("DEFINE INDEX words FOR (n:Note) ON (n.text) FULLTEXT", ()).expect("defines");
}

/// How many embeddings the operator of a query that is called so has looked at.
pub(super) fn looked(db: &Engraph, text: &str, name: &str) -> u64 {
    let rows = db.query(&format!("PROFILE JSON {text}"), ()).expect(text);
    let Value::String(json) = &rows.rows[0][0] else { panic!("a text") };
    let profile: Json = serde_json::from_str(json).expect("is JSON");
    let operators = profile["operators"].as_array().expect("operators");
    let is_it = |line: &&Json| line["operator"].as_str().is_some_and(|text| text.starts_with(name));
    let operator = operators.iter().find(is_it).expect(name);
    operator["vectors"].as_u64().unwrap_or(0)
}

const CONDITIONS: [(&str, u64); 12] = [
    ("n.kind = 'recipe'", 10),
    ("n.kind IN ['recipe', 'idea'] AND n.text CONTAINS '3'", 20),
    ("'idea' IN [n.kind, n.place]", 10),
    ("n.kind = 'letter' OR 'work' = n.place", 25),
    ("n.kind = 'letter' AND n.place = 'home'", 10),
    // No index has lists.
    ("n.tags = ['recipe', 'home']", 40),
    ("n.kind = 'poem'", 0),
    // What says which nodes do not count names none, and what need not hold either.
    ("n.kind <> 'letter'", 40),
    ("NOT n.kind = 'letter'", 40),
    ("n.kind = 'idea' OR n.text CONTAINS '3'", 40),
    ("NOT (n.kind = 'idea' OR n.place = 'home')", 40),
    ("false AND n.kind <> 'letter'", 0),
];

#[test]
fn what_an_index_names_is_all_that_is_looked_at() {
    let folder = folder();
    let db = open(folder.path());
    notes(&db);
    let query = |mode: &str, condition: &str| {
        format!(
            "SEARCH n:Note FOR 'bread with seeds' BY {mode} TOP 7 WHERE {condition} RETURN n.key"
        )
    };
    let mut before = Vec::new();
    for (condition, _) in CONDITIONS {
        for mode in ["VECTOR", "TEXT", "HYBRID"] {
            before.push(first_column(&db, &query(mode, condition), ()));
        }
    }
    assert_eq!(before[0].len(), 7);
    db.execute(
        "DEFINE INDEX FOR (n:Note) ON (n.kind); DEFINE INDEX FOR (n:Note) ON (n.place);
                DEFINE INDEX FOR (n:Note) ON (n.tags)",
        (),
    )
    .expect("defines");
    let mut before = before.into_iter();
    for (condition, count) in CONDITIONS {
        for mode in ["VECTOR", "TEXT", "HYBRID"] {
            let found = first_column(&db, &query(mode, condition), ());
            assert_eq!(Some(found), before.next(), "{mode} {condition}");
        }
        assert_eq!(looked(&db, &query("VECTOR", condition), "Search"), count, "{condition}");
    }
    // As of a past instant an index says nothing.
    let past = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 7 FOR SYSTEM_TIME AS OF now()
                WHERE n.kind = 'idea'";
    assert_eq!(looked(&db, past, "Search"), 40);
}

#[test]
fn what_a_transaction_has_changed_is_found_by_an_index() {
    let folder = folder();
    let db = open(folder.path());
    notes(&db);
    db.execute("DEFINE INDEX FOR (n:Note) ON (n.kind)", ()).expect("defines");
    let text = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 3 WHERE n.kind = 'poem' RETURN n.key";
    let mut session = db.session();
    session.execute("BEGIN; REMEMBER (:Note 'n3' {kind: 'poem'})", ()).expect("writes");
    let found = session.execute(text, ()).expect("finds");
    assert_eq!(found[0].rows, [[Value::String("n3".to_owned())]]);
    session.execute("ROLLBACK", ()).expect("rolls back");
    assert!(session.execute(text, ()).expect("finds")[0].is_empty());
}

#[test]
fn many_names_or_nodes_are_not_looked_up() {
    let folder = folder();
    let db = open(folder.path());
    notes(&db);
    db.execute("DEFINE INDEX FOR (n:Note) ON (n.kind)", ()).expect("defines");
    let query = |kinds: &[String]| {
        format!(
            "SEARCH n:Note FOR 'bread' BY VECTOR TOP 50 WHERE n.kind IN [{}] RETURN n.key",
            kinds.join(", ")
        )
    };
    let mut kinds: Vec<String> = (0..5_000).map(|i| format!("'kind {i}'")).collect();
    kinds[0] = "'idea'".to_owned();
    let few = first_column(&db, &query(&kinds), ());
    assert_eq!((few.len(), looked(&db, &query(&kinds), "Search")), (10, 10));
    kinds.push("'one more'".to_owned());
    assert_eq!(first_column(&db, &query(&kinds), ()), few);
    assert_eq!(looked(&db, &query(&kinds), "Search"), 40);
    // Without a text they have no embedding, and count among the nodes of the index.
    let ideas = |from: usize, to: usize| {
        let idea = |i| format!("REMEMBER (:Note 'bare {i}' {{kind: 'idea'}});");
        let text = format!("BEGIN; {} COMMIT", (from..to).map(idea).collect::<String>());
        db.execute(&text, ()).map_err(|error| error.to_string()).expect("writes");
    };
    ideas(0, 4_990);
    assert_eq!(looked(&db, &query(&kinds[..1]), "Search"), 10);
    ideas(4_990, 4_991);
    assert_eq!(looked(&db, &query(&kinds[..1]), "Search"), 40);
    assert_eq!(first_column(&db, &query(&kinds[..1]), ()), few);
}

#[test]
fn each_label_needs_its_index_and_a_forgotten_node_leaves_it() {
    let folder = folder();
    let db = open(folder.path());
    notes(&db);
    db.execute("REMEMBER (:Card 'c' {kind: 'idea', text: 'bread'})", ()).expect("writes");
    db.execute("DEFINE INDEX FOR (n:Note) ON (n.kind)", ()).expect("defines");
    let text = "SEARCH n:Note|Card FOR 'bread' BY VECTOR TOP 50 WHERE n.kind = 'idea' RETURN n.key";
    assert_eq!((first_column(&db, text, ()).len(), looked(&db, text, "Search")), (11, 41));
    db.execute("DEFINE INDEX FOR (n:Card) ON (n.kind)", ()).expect("defines");
    assert_eq!((first_column(&db, text, ()).len(), looked(&db, text, "Search")), (11, 11));
    db.execute("MATCH (n:Note 'n3') FORGET n", ()).expect("forgets");
    assert_eq!((first_column(&db, text, ()).len(), looked(&db, text, "Search")), (10, 10));
}

#[test]
fn a_condition_that_is_no_truth_is_an_error_with_an_index_too() {
    let folder = folder();
    let db = open(folder.path());
    notes(&db);
    let ask = || {
        let text = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 3 WHERE $p RETURN n.key";
        db.query(text, [("p", Value::Int(1))]).expect_err("no truth").to_string()
    };
    let before = ask();
    db.execute("DEFINE INDEX FOR (n:Note) ON (n.kind)", ()).expect("defines");
    assert_eq!(ask(), before);
}

#[test]
fn what_is_linked_with_what_an_index_names_is_all_that_is_looked_at() {
    let folder = folder();
    let db = open(folder.path());
    notes(&db);
    for i in 0..40 {
        let (room, house) = (["attic", "cellar", "hall", "n4"][i / 10], i % 2);
        let text = format!(
            "REMEMBER (:Note 'n{i}')-[lies_in]->(:Box 'b{i}' {{room: '{room}'}}) VALID FROM null;
             REMEMBER (:Box 'b{i}')-[stands_in]->(:House 'h{house}' {{town: 't{house}'}}) VALID FROM null"
        );
        db.execute(&text, ()).expect("writes");
    }
    let query = |condition: &str| {
        format!(
            "SEARCH n:Note FOR 'bread with seeds' BY VECTOR TOP 50 WHERE {condition} RETURN n.key"
        )
    };
    let conditions = [
        ("EXISTS { MATCH (n)-[]->(b:Box) WHERE b.room = 'attic' }", 10),
        ("EXISTS { MATCH (b:Box)<-[:lies_in]-(n) WHERE b.room IN ['hall', 'shed'] }", 10),
        ("null IS NOT NULL OR EXISTS { MATCH (n)-[]-(b:Box) WHERE b.room = 'attic' }", 10),
        ("EXISTS { MATCH (n)-[]->(:Box)-[]->(h:House) WHERE h.town = 't1' }", 20),
        ("EXISTS { MATCH (n)-[f]->(b:Box) WHERE b.room = 'attic' AND type(f) = 'lies_in' }", 10),
        ("EXISTS { MATCH (n)-[]->(b:Box) WHERE b.room = 'shed' }", 0),
        ("EXISTS { MATCH (n)-[:stands_in]->(b:Box) WHERE b.room = 'attic' }", 0),
        (
            "EXISTS { MATCH (n)-[]->(b:Box), (x:House) WHERE b.room = 'attic' AND x.town = 't1' }",
            10,
        ),
        ("EXISTS { MATCH (n)-[]->(b:Box), (x:House) WHERE x.town = 't1' }", 40),
        (
            "EXISTS { MATCH (n)-[]->(b:Box)-[g]->(:House), (n)-[h]->(x) WHERE b.room = 'attic' AND h.confidence > 0.1 }",
            40,
        ),
        // What asks something of the note as well, of no box alone or of none says nothing.
        ("EXISTS { MATCH (n)-[]->(b:Box) WHERE b.room = n.key }", 40),
        ("NOT EXISTS { MATCH (n)-[]->(b:Box) WHERE b.room = 'attic' }", 40),
        ("EXISTS { MATCH (n)-[]->(b) WHERE b.room = 'attic' }", 40),
        ("EXISTS { MATCH (n)-[]->(b:Box) WHERE 'attic' IN [b.room, b.text] }", 40),
        ("n.kind = 'list' OR EXISTS { MATCH (n)-[]->(b:Box) WHERE b.room = 'attic' }", 40),
        (
            "EXISTS { MATCH (b:Box) FOR SYSTEM_TIME AS OF now() MATCH (n)-[]->(b) WHERE b.room = 'attic' }",
            40,
        ),
        ("EXISTS { MATCH (n)-[]->(b:Box) FOR SYSTEM_TIME AS OF now() WHERE b.room = 'attic' }", 40),
    ];
    let before: Vec<_> =
        conditions.iter().map(|(one, _)| first_column(&db, &query(one), ())).collect();
    assert_eq!((before[0].len(), before[3].len(), before[10].len()), (10, 20, 0));
    db.execute("DEFINE INDEX FOR (b:Box) ON (b.room); DEFINE INDEX FOR (h:House) ON (h.town)", ())
        .expect("defines");
    for ((condition, count), before) in conditions.into_iter().zip(before) {
        assert_eq!(first_column(&db, &query(condition), ()), before, "{condition}");
        assert_eq!(looked(&db, &query(condition), "Search"), count, "{condition}");
    }
    let mut session = db.session();
    session.execute("BEGIN; REMEMBER (:Box 'b39' {room: 'attic'})", ()).expect("writes");
    let found = session.execute(&query(conditions[0].0), ()).expect("finds");
    assert_eq!(found[0].len(), 11);
}
