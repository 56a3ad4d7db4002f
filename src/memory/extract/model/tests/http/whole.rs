//! Whole consolidations by a model behind an endpoint: whatever it answers, the memory is good or
//! the turns are where they were.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::extractor;
use crate::memory::{Consolidated, HeardTurn};
use crate::neural::server::{Reply, said, serve};
use crate::{Durability, Engraph, Error, FixedEmbedder, Options};

const TURNS: [(&str, &str); 3] = [
    ("Ann", "I moved to Oslo in May because of my job at the harbour."),
    ("Ben", "Do you still sail?"),
    ("Ann", "Yes, I sail every Sunday."),
];

fn open(replies: Vec<Reply>) -> (tempfile::TempDir, Engraph) {
    let folder = tempfile::tempdir().unwrap();
    let (url, _asked) = serve(replies);
    let options = Options::new().embedder(Arc::new(FixedEmbedder));
    let options = options.extractor(Arc::new(extractor(&url)));
    let db = options.durability(Durability::Buffered).open(folder.path()).unwrap();
    for (number, (speaker, text)) in TURNS.iter().enumerate() {
        let at = 1_740_940_800_000_000 + number as i64 * 60_000_000;
        let turn = HeardTurn::new(*speaker, *text).at(at).id(format!("t{}", number + 1));
        db.observe("s", &turn).unwrap();
    }
    (folder, db)
}

fn answer(content: &Json) -> Reply {
    said(&content.to_string(), 9, 7)
}

fn good() -> Json {
    json!({
        "title": "Ann in Oslo",
        "summary": "Ann moved to Oslo and sails.",
        "concepts": [{ "key": "oslo", "tag": "names", "turn": 1 }, { "key": "harbour", "tag": "mentions", "turn": 1 }],
        "semantics": [{ "text": "Ann sails every Sunday.", "from": null, "to": null, "confidence": 0.9, "intent": "fact",
                        "concepts": ["oslo"], "turns": [2, 3] }],
        "facts": [{ "head": "Ann", "head_label": "Person", "relation": "moved_to", "tail": "Oslo",
                    "tail_label": "Place", "from": "2025-05", "to": null, "confidence": 0.9,
                    "intent": "fact", "turns": [1] }],
    })
}

fn json(db: &Engraph, query: &str) -> String {
    db.query(query, ()).unwrap().to_json()
}

fn violations(db: &Engraph) -> Vec<String> {
    let mut found = Vec::new();
    db.check(&mut |violation| found.push(violation.to_string()), &mut |_| ()).unwrap();
    found
}

/// All turns are in the buffer, and nothing is in the graph.
fn nothing_has_happened(db: &Engraph) {
    let snapshot = db.store.snapshot(crate::time::wall());
    assert_eq!(snapshot.reader().session_buffer("s").unwrap().unwrap().turns, 3);
    assert_eq!(json(db, "MATCH (n) RETURN count(n) AS n"), r#"[{"n":0}]"#);
    assert_eq!(violations(db), Vec::<String>::new());
}

fn consolidated(db: &Engraph) -> Consolidated {
    let mut all = db.consolidate(Some("s")).unwrap();
    assert_eq!(violations(db), Vec::<String>::new());
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn a_model_that_behaves_gives_a_memory() {
    let (_folder, db) = open(vec![answer(&good())]);
    let done = consolidated(&db);
    assert_eq!(
        (done.title.as_str(), done.turns, done.semantics, done.facts),
        ("Ann in Oslo", 3, 1, 1)
    );
    let fact = "MATCH (p:Person)-[f:moved_to]->(c) FOR VALID_TIME ALL
                RETURN p.key AS who, c.key AS city, f.confidence AS sure, f.sources AS sources";
    assert_eq!(json(&db, fact), r#"[{"who":"Ann","city":"Oslo","sure":0.9,"sources":["t1"]}]"#);
    let by = "MATCH (e:Episode) RETURN e.drawn_by AS who";
    assert_eq!(json(&db, by), r#"[{"who":"tiny prompt-1"}]"#);
}

#[test]
fn a_model_that_is_slow_loses_nothing() {
    let (_folder, db) =
        open(vec![Reply::Silence, Reply::Silence, Reply::Silence, Reply::Silence, answer(&good())]);
    assert!(matches!(db.consolidate(Some("s")), Err(Error::Neural(_))));
    nothing_has_happened(&db);
    assert_eq!(consolidated(&db).turns, 3);
}

#[test]
fn a_model_that_lies_is_not_believed() {
    let mut lies = good();
    lies["facts"] = json!([
        { "head": "Ann", "head_label": "Person", "relation": "lives_in", "tail": "Atlantis",
          "tail_label": "Place", "from": null, "to": null, "intent": "fact", "confidence": 1.0, "turns": [1] },
        { "head": "Zeus", "head_label": "Person", "relation": "moved_to", "tail": "Oslo",
          "tail_label": "Place", "from": null, "to": null, "intent": "fact", "confidence": 0.9, "turns": [2] },
        { "head": "Ann", "head_label": "Person", "relation": "sails", "tail": "Oslo",
          "tail_label": "Place", "from": null, "to": null, "intent": "fact", "confidence": 7, "turns": [1] },
        { "head": "Ann", "head_label": "Person", "relation": "sails", "tail": "Oslo",
          "tail_label": "Place", "from": "2025-05", "to": "2024-01", "turns": [1] },
        { "head": "Ann", "head_label": "Person", "relation": "sails", "tail": "Oslo",
          "tail_label": "Place", "turns": [99] },
        { "head": "", "head_label": "Turn", "relation": "NEXT", "tail": "t1", "tail_label": "Turn",
          "from": null, "to": null, "intent": "fact", "confidence": 0.9, "turns": [1] },
    ]);
    let (_folder, db) = open(vec![answer(&lies)]);
    consolidated(&db);
    let sure = "MATCH (a:Person)-[f]->(b:Place) FOR VALID_TIME ALL WHERE f.confidence > 0.4
                RETURN f.relation AS relation, b.key AS tail";
    assert!(!json(&db, sure).contains("Atlantis"), "{}", json(&db, sure));
    let zeus =
        "MATCH (:Person 'Zeus')-[f]->() FOR VALID_TIME ALL WHERE f.confidence > 0.4 RETURN f";
    assert_eq!(json(&db, zeus), "[]");
    let kept =
        "MATCH (:Person 'Ann')-[f:lives_in]->(b) FOR VALID_TIME ALL RETURN f.confidence AS sure";
    assert_eq!(json(&db, kept), r#"[{"sure":0.4}]"#);
}

#[test]
fn a_model_that_stutters_damages_nothing() {
    for broken in ["I'd rather not.", "{\"title\":", "[]", "{\"facts\":{\"a\":[1,{\"b\":null}]}}"] {
        let (_folder, db) = open(vec![said(broken, 1, 1), answer(&good())]);
        match db.consolidate(Some("s")) {
            Err(Error::Neural(_)) => {
                nothing_has_happened(&db);
                assert_eq!(consolidated(&db).turns, 3);
            }
            Ok(_) => assert_eq!(violations(&db), Vec::<String>::new()),
            Err(other) => panic!("{broken}: {other}"),
        }
    }
}
