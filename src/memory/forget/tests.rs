//! A database that forgot a turn against one that never heard it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::memory::boundary::Heard;
use crate::memory::{BoundaryDetector, HeardTurn};
use crate::{Durability, Embedder, Engraph, NeuralError, Options, Value};

/// Sessions: who said what, a minute apart.
const SESSIONS: [&[(&str, &str)]; 4] = [
    &[
        ("Nora", "I moved to Porto in June and I work at Forno Studio now."),
        ("Ben", "Congratulations! Where did you move from?"),
        ("Nora", "From Lisbon. I love the sourdough class at the bakery school."),
        ("Ben", "My sister Tilda took a sourdough class too. She works at a bakery."),
        ("Nora", "I plan to open a bakery with my friend Rui next year."),
    ],
    &[
        ("Ben", "I ran the river marathon yesterday and my knee hurts."),
        ("Nora", "Was it the marathon by the river? I hope the knee gets better."),
        ("Ben", "Yes. I went to the doctor and I stopped running because of the knee."),
        ("Nora", "My brother and a jazz band of friends meet on Fridays."),
    ],
    &[
        ("Nora", "The bakery school asked me to teach the sourdough class."),
        ("Ben", "That is great news! I bought a guitar last week."),
        ("Nora", "At last my friend Rui found a shop for the bakery near the river."),
        ("Ben", "I want to play the guitar in a jazz band."),
        ("Nora", "We painted the shop and baked the first bread on Sunday."),
    ],
    &[
        ("Ben", "My knee is fine again and I swim in the river every morning."),
        ("Nora", "We opened the bakery in March. My family came from Lisbon."),
        ("Ben", "The jazz band played at the opening of the bakery."),
    ],
];

/// A session is one episode.
struct Whole;

impl BoundaryDetector for Whole {
    fn id(&self) -> &str {
        "whole"
    }

    fn boundaries(&self, _turns: &[Heard<'_>]) -> Vec<usize> {
        Vec::new()
    }
}

/// Texts are near if they share words, and no two words are near: which concept a word becomes
/// depends on no other then.
struct Words;

impl Embedder for Words {
    fn id(&self) -> &str {
        "words"
    }

    fn dimensions(&self) -> usize {
        1_024
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let embedded = |text: &&str| {
            let mut vector = vec![0.0_f32; 1_024];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
                let hash = word.bytes().fold(2_166_136_261, step);
                vector[hash as usize % 1_024] += 1.0;
            }
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.into_iter().map(|x| x / length).collect()
        };
        Ok(texts.iter().map(embedded).collect())
    }
}

fn open() -> (tempfile::TempDir, Engraph) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().embedder(Arc::new(Words)).boundaries(Arc::new(Whole));
    let db = options.durability(Durability::Buffered).open(folder.path()).unwrap();
    (folder, db)
}

fn key(session: usize, turn: usize) -> String {
    format!("D{}:{}", session + 1, turn + 1)
}

/// A database that has heard all sessions, but for some turns.
fn heard(without: &[String]) -> (tempfile::TempDir, Engraph) {
    let (folder, db) = open();
    for (session, turns) in SESSIONS.iter().enumerate() {
        for (turn, (speaker, text)) in turns.iter().enumerate() {
            let key = key(session, turn);
            if without.contains(&key) {
                continue;
            }
            let minutes = (session * 1_000 + turn) as i64;
            let at = 1_740_940_800_000_000 + minutes * 60_000_000;
            let heard = HeardTurn::new(*speaker, *text).at(at).id(key);
            db.observe(&format!("s{session}"), &heard).unwrap();
        }
        db.consolidate(Some(&format!("s{session}"))).unwrap();
    }
    (folder, db)
}

/// What a database holds, a line for each node and fact, but for themes and topics: which of them a
/// statement or an episode has come to depends on what came before.
fn held(db: &Engraph) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let nodes = "MATCH (n) WHERE n.label <> 'Theme' AND n.label <> 'Topic'
                 RETURN n.label AS label, n.key AS key, n.text AS text, n.title AS title,
                        n.began AS began, n.ended AS ended";
    let facts =
        "MATCH (a)-[f]->(b) FOR VALID_TIME ALL WHERE a.label <> 'Theme' AND a.label <> 'Topic'
                 RETURN a.label AS a, a.key AS head, f.relation AS relation, b.label AS b,
                        b.key AS tail, f.valid_from AS start, f.valid_to AS end,
                        f.confidence AS confidence, f.intent AS intent, f.sources AS sources";
    for query in [nodes, facts] {
        for row in db.query(query, ()).unwrap().rows {
            lines.insert(format!("{row:?}"));
        }
    }
    lines
}

fn strings(db: &Engraph, query: &str) -> BTreeSet<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => format!("{other:?}"),
    };
    db.query(query, ()).unwrap().rows.iter().map(|row| text(&row[0])).collect()
}

/// Every statement is in one theme, and each theme says what one of its members says.
fn themes_hold(db: &Engraph) {
    let statements = strings(db, "MATCH (s:Semantic) RETURN s.key AS key");
    let members = "MATCH (:Theme)-[:INCLUDES]->(s:Semantic) RETURN s.key AS key";
    assert_eq!(db.query(members, ()).unwrap().rows.len(), statements.len());
    assert_eq!(strings(db, members), statements);
    let odd = "MATCH (t:Theme) WHERE t.text IS NOT NULL AND NOT EXISTS {
                   MATCH (t)-[:INCLUDES]->(s:Semantic) WHERE s.text = t.text }
               RETURN t.key AS key";
    assert_eq!(strings(db, odd), BTreeSet::new());
}

/// Every episode is evidence of one topic, and each topic says what one of its episodes says.
fn topics_hold(db: &Engraph) {
    let episodes = "MATCH (e:Episode) RETURN e.key AS key";
    let evidence = "MATCH (:Topic)-[:EVIDENCE]->(e:Episode) RETURN e.key AS key";
    let count = |query| db.query(query, ()).unwrap().rows.len();
    assert_eq!(count(evidence), count(episodes));
    assert_eq!(strings(db, evidence), strings(db, episodes));
    let odd = "MATCH (t:Topic) WHERE NOT EXISTS {
                   MATCH (t)-[:EVIDENCE]->(e:Episode) WHERE e.text = t.text }
               RETURN t.key AS key";
    assert_eq!(strings(db, odd), BTreeSet::new());
}

fn differences(forgot: &BTreeSet<String>, never: &BTreeSet<String>) -> String {
    let lines = |a: &BTreeSet<String>, b: &BTreeSet<String>, sign: &str| {
        a.difference(b).map(|line| format!("{sign} {line}\n")).collect::<String>()
    };
    lines(forgot, never, "only after forgetting:") + &lines(never, forgot, "only if never heard:")
}

#[test]
fn a_forgotten_turn_leaves_what_there_would_be_without_it() {
    for (session, turns) in SESSIONS.iter().enumerate() {
        for turn in 0..turns.len() {
            let key = key(session, turn);
            let (_a, never) = heard(std::slice::from_ref(&key));
            let (_b, forgot) = heard(&[]);
            let forget = "MATCH (t:Turn {key: $key}) FORGET t";
            forgot.query(forget, [("key", key.as_str())]).unwrap();
            let (left, right) = (held(&forgot), held(&never));
            assert!(left == right, "without {key}:\n{}", differences(&left, &right));
            themes_hold(&forgot);
            topics_hold(&forgot);
        }
    }
}

#[test]
fn the_buffer_forgets_a_session_of_which_nothing_is_left() {
    let (_folder, db) = heard(&[]);
    let is_known = || db.store.snapshot(0).reader().session_buffer("s1").unwrap().is_some();
    db.query("MATCH (t:Turn 'D2:1') FORGET t", ()).unwrap();
    assert!(is_known());
    db.query("MATCH (s:Session 's1')-[:CONTAINS]->(t) FORGET s, t", ()).unwrap();
    assert!(!is_known());
}

#[test]
fn what_is_told_again_is_not_counted_as_forgotten() {
    let (_folder, db) = heard(&[]);
    let count = "MATCH (n) RETURN count(*) AS nodes";
    let nodes = |query| match db.query(query, ()).unwrap().rows[0][0] {
        Value::Int(count) => count,
        ref other => panic!("{other:?} is no number"),
    };
    let before = nodes(count);
    let forgotten = nodes("MATCH (t:Turn 'D1:4') FORGET t");
    assert_eq!(before - nodes(count), forgotten);
}

#[test]
fn a_forgotten_session_leaves_nothing() {
    let all: Vec<String> = (0..SESSIONS[1].len()).map(|turn| key(1, turn)).collect();
    let (_a, never) = heard(&all);
    let (_b, forgot) = heard(&[]);
    forgot.query("MATCH (t:Turn) WHERE t.session = 's1' FORGET t", ()).unwrap();
    let (left, mut right) = (held(&forgot), held(&never));
    // The node of the session is there in the one, for nobody asked to forget it.
    right.extend(
        left.iter().filter(|line| line.contains("String(\"Session\"), String(\"s1\")")).cloned(),
    );
    assert!(left == right, "{}", differences(&left, &right));
}

/// No model: who asks it is told so.
struct Missing;

impl Embedder for Missing {
    fn id(&self) -> &str {
        "missing"
    }

    fn dimensions(&self) -> usize {
        1_024
    }

    fn embed(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        Err(NeuralError::Failed { reason: "there is no model".into() })
    }
}

/// Though the other episode of its topic becomes a topic of its own.
#[test]
fn a_whole_session_is_forgotten_without_a_model() {
    let (folder, db) = open();
    for session in ["s0", "s1"] {
        for (turn, (speaker, text)) in SESSIONS[0].iter().enumerate() {
            let heard = HeardTurn::new(*speaker, *text).id(format!("{session}:{turn}"));
            db.observe(session, &heard).unwrap();
        }
        db.consolidate(Some(session)).unwrap();
    }
    assert_eq!(strings(&db, "MATCH (t:Topic) RETURN t.key AS key").len(), 1);
    drop(db);
    let options = Options::new().embedder(Arc::new(Missing)).boundaries(Arc::new(Whole));
    let db = options.open(folder.path()).unwrap();
    // Where an episode keeps turns it is told anew.
    assert!(db.query("FORGET TURN 's1:2'", ()).is_err());
    db.query("FORGET SESSION 's0'", ()).unwrap();
    assert_eq!(strings(&db, "MATCH (e:Episode) RETURN e.key AS key").len(), 1);
    topics_hold(&db);
}
