//! The recipes that are built in, on a small memory: each runs, keeps to what all of them promise,
//! and each of its switches changes the plan or the answer.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use engraph::neural::{KeyWriter, Logits};
use engraph::{Engraph, FixedEmbedder, KeyModel, NeuralError, Options, Params, Value};

use crate::{folder, open};

const QUESTION: &str = "When did Nora move to Porto with the dog?";
const BUILT_IN: [&str; 10] = [
    "bm25", "dense", "engraph", "gam", "hybrid", "mragent", "real", "rerank", "scg_mem", "xmemory",
];
/// A beam that has room for one path, and holds none that is not the question to be good.
const ONE_PATH: &str = "beam: 1, expand: 1, relevance: 1.0, fill: false";
/// A recipe, what is switched off, what makes a difference visible on so small a memory, and a
/// question.
const SWITCHES: [(&str, &str, &str, &str); 38] = [
    ("engraph", "weights: {words: 1.0}", "", QUESTION),
    ("engraph", "without: ['speaker', 'first_speaker']", "", QUESTION),
    ("gam", "topic_network: false", "topics: 1, fill: false", QUESTION),
    ("gam", "neighbours: false", "topics: 1, topic_network: false, fill: false", QUESTION),
    ("gam", "event_graph: false", "fill: false", QUESTION),
    ("gam", "multi_factor: false", "", QUESTION),
    ("gam", "neighbours: false", "topics: 1, fill: false", QUESTION),
    ("gam", "boost_role: 1.0", "", QUESTION),
    ("gam", "boost_time: 1.0", "", QUESTION),
    ("gam", "fill: false", "topics: 1, neighbours: false", QUESTION),
    ("mragent", "reverse: false", "", QUESTION),
    ("mragent", "tags: false", "", QUESTION),
    ("mragent", "topics: false", "", QUESTION),
    ("mragent", "semantics: false", "", QUESTION),
    ("mragent", "time: false", "", QUESTION),
    ("mragent", "context: false", "", QUESTION),
    ("mragent", "route: false", "", QUESTION),
    ("mragent", "state: false", "", QUESTION),
    ("scg_mem", "constraint: false", "activation: false, fill: false, weight: 1.0", QUESTION),
    ("scg_mem", "activation: false", "beam: 1, fill: false, weight: 1.0", QUESTION),
    ("scg_mem", "weight: 0.0", "", QUESTION),
    ("scg_mem", "fill: false", "beam: 1, concepts: 1", QUESTION),
    ("xmemory", "admit: false", "threshold: 0.5, fill: false", QUESTION),
    ("xmemory", "admit: false", "threshold: 0.5, whole_episodes: false, fill: false", QUESTION),
    ("xmemory", "alpha: 0.0", "semantics: 2, fill: false", QUESTION),
    ("xmemory", "weight: 0.0", "", QUESTION),
    ("xmemory", "fill: false", "semantics: 1, episodes: 1", QUESTION),
    ("real", "time: false", "fill: false", "Where did Nora live?"),
    ("real", "confidence: 0.0", "fill: false", "Does Nora own a boat?"),
    ("real", "stratified: false", "fill: false", "Does Nora own a boat?"),
    ("real", "evaluator: false", "fill: false", QUESTION),
    ("real", "depth: 1", "fill: false", QUESTION),
    ("real", "hedges: false", "fill: false", "Does Nora maybe own a boat?"),
    ("real", "intent: false", "beam: 1, expand: 1, fill: false", "Why does Nora like bread?"),
    ("real", "repair: false", ONE_PATH, "Nora works in country Portugal"),
    ("real", "weight: 0.0", "", QUESTION),
    ("real", "fill: false", "", QUESTION),
    ("real", "expand: 1", "fill: false", QUESTION),
];
/// Facts for the beam of `real`: one that is over, one that is unsure, two of other intents, and one
/// that only a rule leads to.
const FACTS: &str = "
    REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Lisbon')
      VALID FROM DATE '2019-09-01' TO DATE '2025-06-01' SOURCE 't0';
    REMEMBER (:Person 'Nora')-[owns]->(:Thing 'boat') VALID FROM null CONFIDENCE 0.5 SOURCE 't5';
    REMEMBER (:Person 'Nora')-[likes]->(:Thing 'rye bread') VALID FROM null SOURCE 't1';
    REMEMBER (:Person 'Nora')-[bakes]->(:Thing 'dough') VALID FROM null INTENT causal SOURCE 't4';
    REMEMBER (:Person 'Nora')-[works_in]->(:City 'Faro') VALID FROM null SOURCE 't5';
    REMEMBER (:Country 'Portugal')-[has]->(:City 'Faro') VALID FROM null SOURCE 't4';
    DEFINE RULE abroad (p)-[works_in]->(c)<-[has]-(d) IMPLIES (p)-[works_in_country]->(d)
    FAMILY hyponymy CONFIDENCE 0.9";

/// Two conversations of two sessions each.
static MEMORY: LazyLock<(tempfile::TempDir, Engraph)> = LazyLock::new(|| {
    let folder = folder();
    let db = open(folder.path());
    let said = [
        ("s1", "Nora", "My flat in Lisbon has a bread oven and a green door."),
        ("s1", "Otto", "I like the market bread of my street, and green tea."),
        ("s1", "Nora", "I want to move away with the dog in June 2025."),
        ("s2", "Nora", "I moved to Porto with the dog yesterday."),
        ("s2", "Otto", "The market of Porto sells green tea and bread."),
        ("s2", "Nora", "My sister Tilda works at a bakery in Faro."),
        ("s3", "Ida", "I moved to Ghent with my cello on 3 May 2024."),
        ("s3", "Luis", "Maybe I like the cello more than the violin."),
        ("s4", "Ida", "The violin was sold at the market of Ghent."),
        ("s4", "Luis", "I work at a bakery and I bake rye bread."),
    ];
    // Those of a day are one episode.
    let days = [0, 1, 1, 3, 3, 5, 6, 6, 8, 8];
    for (place, (session, speaker, text)) in said.into_iter().enumerate() {
        let day = days[place];
        let conversation = if matches!(session, "s1" | "s2") { "one" } else { "two" };
        let observe = format!(
            "OBSERVE SESSION '{session}' TURN {{id: 't{place}', speaker: '{speaker}', text: '{text}',
             conversation: '{conversation}', at: TIMESTAMP '2025-06-11 09:00' + duration('P1D') * {day}
               + duration('PT1M') * {place}}}"
        );
        db.query(&observe, ()).expect("heard");
    }
    db.consolidate(None).expect("consolidated");
    db.execute(FACTS, ()).expect("remembered");
    db.execute("DEFINE INDEX FOR (t:Turn) ON (t.text, t.speaker) FULLTEXT", ()).expect("indexed");
    (folder, db)
});

fn found(recipe: &str, parameters: &str) -> Vec<(String, f64)> {
    found_for(QUESTION, recipe, parameters)
}

fn found_for(question: &str, recipe: &str, parameters: &str) -> Vec<(String, f64)> {
    let text = format!("RECALL $q USING {recipe} {{{parameters}}} RETURN t.key, score");
    let rows = MEMORY.1.query(&text, [("q", question)]).unwrap_or_else(|e| panic!("{recipe}: {e}"));
    let row = |row: Vec<Value>| match (&row[0], &row[1]) {
        (Value::String(key), Value::Float(score)) => (key.clone(), *score),
        other => panic!("{recipe}: {other:?}"),
    };
    rows.rows.into_iter().map(row).collect()
}

fn keys(found: &[(String, f64)]) -> Vec<&str> {
    found.iter().map(|(key, _)| key.as_str()).collect()
}

#[test]
fn each_is_listed_shown_and_explained() {
    let rows = MEMORY.1.query("SHOW RECIPES", ()).expect("shown");
    let names: Vec<String> = rows.rows.iter().map(|row| row[0].to_string()).collect();
    assert_eq!(names, BUILT_IN);
    for recipe in BUILT_IN {
        let text = MEMORY.1.query(&format!("SHOW RECIPE {recipe}"), ()).expect("shown");
        assert!(text.rows[0][0].to_string().contains(&format!("DEFINE RECIPE {recipe} {{")));
        let plan = format!("EXPLAIN RECALL $q USING {recipe} RETURN t.key");
        assert!(MEMORY.1.query(&plan, [("q", QUESTION)]).expect(recipe).len() > 2);
    }
}

#[test]
fn each_gives_turns_best_first_each_once_and_no_more_than_wanted() {
    for recipe in BUILT_IN {
        let all = found(recipe, "");
        assert!(keys(&all).contains(&"t3"), "{recipe}: {all:?}");
        assert!(all.is_sorted_by(|a, b| a.1 >= b.1), "{recipe}: {all:?}");
        let once: BTreeSet<&str> = keys(&all).into_iter().collect();
        assert_eq!(once.len(), all.len(), "{recipe}: {all:?}");
        assert_eq!(found(recipe, "k: 2").len(), 2, "{recipe}");
    }
}

#[test]
fn without_activation_nothing_is_passed_on() {
    let few = "beam: 3, fill: false, weight: 1.0";
    let turns = |more: &str| -> BTreeSet<String> {
        found("scg_mem", &format!("{few}{more}")).into_iter().map(|turn| turn.0).collect()
    };
    let (on, off, seeds) = (turns(""), turns(", activation: false"), turns(", hops: 0"));
    assert_eq!(off, seeds);
    assert!(off.is_subset(&on) && off != on, "{off:?} {on:?}");
}

/// Would write this, a byte at a time, whatever it is asked.
struct Writes(&'static str);

impl KeyModel for Writes {
    fn id(&self) -> &str {
        "writes"
    }

    fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError> {
        Ok(key.bytes().map(u32::from).collect())
    }

    fn text(&self, tokens: &[u32]) -> Result<String, NeuralError> {
        Ok(tokens.iter().filter_map(|token| char::from_u32(*token)).collect())
    }

    fn start<'m>(&'m self, _question: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        Ok(Box::new(Self(self.0)))
    }
}

impl KeyWriter for Writes {
    fn next(&mut self, prefixes: &[&[u32]]) -> Result<Vec<Logits>, NeuralError> {
        let logits = |prefix: &&[u32]| {
            let mut logits = Logits { tokens: vec![0.0; 256], end: 0.0 };
            match self.0.as_bytes().get(prefix.len()) {
                Some(byte) => logits.tokens[usize::from(*byte)] = 9.0,
                None => logits.end = 9.0,
            }
            logits
        };
        Ok(prefixes.iter().map(logits).collect())
    }
}

#[test]
fn a_model_writes_keys_that_exist_and_without_the_constraint_what_it_likes() {
    let options = Options::new().embedder(Arc::new(FixedEmbedder));
    let options = options.key_model("writes", Arc::new(Writes("violet bakery")));
    let db = options.open_read_only(MEMORY.0.path()).expect("opens");
    let asked = |text: &str| -> BTreeSet<String> {
        let rows = db.query(text, [("q", QUESTION)]).expect("found");
        rows.rows.into_iter().map(|row| row[0].to_string()).collect()
    };
    let turns = |parameters: &str| {
        let given = format!("{{beam: 1, hops: 0, fill: false, {parameters}}}");
        asked(&format!("RECALL $q USING scg_mem {given} RETURN t.key"))
    };
    let of = |key: &str| asked(&format!("MATCH (:Concept '{key}')-[]->(t:Turn) RETURN t.key"));
    assert_eq!(turns("model: 'writes'"), of("violin"));
    assert_eq!(
        asked("RETURN free_keys($q, 1, 'writes') = ['violet bakery']"),
        ["true".into()].into()
    );
    // What it wrote is no key: the one that is nearest is found.
    assert_eq!(turns("model: 'writes', constraint: false"), of("bakery"));
    let nearest = turns("model: null");
    assert!(![of("violin"), of("bakery")].contains(&nearest), "{nearest:?}");
    // The embedder writes what is nearest.
    assert_eq!(turns("model: null, constraint: false"), nearest);
}

#[test]
fn without_the_event_graph_topics_are_ranked_and_nothing_of_their_turns() {
    let whole = "fill: false, event_graph: false";
    let others = "boost_time: 2.0, boost_role: 3.0, sharpness: 1.0";
    let turns = found("gam", whole);
    assert_eq!(turns, found("gam", &format!("{whole}, {others}")));
    let scores: BTreeSet<String> = turns.iter().map(|turn| turn.1.to_string()).collect();
    assert!(scores.len() < turns.len(), "{turns:?}");
    // Turns of the same topic stand as they were said, which their keys tell.
    let same = |pair: &[(String, f64)]| pair[0].1 != pair[1].1 || pair[0].0 < pair[1].0;
    assert!(turns.windows(2).all(same), "{turns:?}");
    let neither = found("gam", "topic_network: false, event_graph: false");
    assert!(!neither.is_empty());
}

#[test]
fn a_scope_is_a_conversation_or_a_session() {
    for recipe in BUILT_IN {
        let session = found(recipe, "scope: 's2'");
        let other = keys(&session).into_iter().find(|key| !["t3", "t4", "t5"].contains(key));
        assert_eq!(other, None, "{recipe}: {session:?}");
        let conversation = found(recipe, "scope: 'two'");
        assert!(!conversation.is_empty(), "{recipe}");
        let other = keys(&conversation).into_iter().find(|key| *key < "t6");
        assert_eq!(other, None, "{recipe}: {conversation:?}");
        assert_eq!(found(recipe, "scope: 'nowhere'"), [], "{recipe}");
    }
}

#[test]
fn each_switch_changes_the_answer() {
    let same = |(recipe, switch, beside, question): &(&str, &str, &str, &str)| {
        let comma = if beside.is_empty() { "" } else { ", " };
        let without = format!("{beside}{comma}{switch}");
        found_for(question, recipe, beside) == found_for(question, recipe, &without)
    };
    let same: Vec<_> = SWITCHES.into_iter().filter(same).collect();
    assert!(same.is_empty(), "these change nothing: {same:#?}");
}

#[test]
fn a_topic_that_its_turns_do_not_bear_out_lends_them_no_boost() {
    let folder = folder();
    let db = open(folder.path());
    let topics = "
        REMEMBER (:Topic 'told' {text: 'Nora bakes rye bread'})
          -[EVIDENCE]->(:Episode 'e1' {text: 'Nora bakes rye bread'}) VALID FROM null;
        REMEMBER (:Episode 'e1')-[CONTAINS]->(:Turn 't1' {text: 'I bake rye bread'}) VALID FROM null;
        REMEMBER (:Topic 'invented' {text: 'Otto sells a boat in Greenland'})
          -[EVIDENCE]->(:Episode 'e2' {text: 'Otto bakes rye bread'}) VALID FROM null;
        REMEMBER (:Episode 'e2')-[CONTAINS]->(:Turn 't2' {text: 'I bake rye bread'}) VALID FROM null";
    db.execute(topics, ()).expect("remembered");
    let scores = |boost: f64| {
        let text = "RECALL 'Who bakes rye bread?' USING gam {boost_confidence: $boost, fill: false}
                    RETURN t.key, score ORDER BY t.key";
        let rows = db.query(text, [("boost", boost)]).expect("recalled").rows;
        let score = |row: &Vec<Value>| match row[1] {
            Value::Float(score) => score,
            _ => panic!("{row:?}"),
        };
        rows.iter().map(score).collect::<Vec<f64>>()
    };
    let times: Vec<f64> =
        scores(1.2).iter().zip(scores(1.0)).map(|(with, without)| with / without).collect();
    assert!((times[0] - 1.2).abs() < 1e-9 && (times[1] - 1.0).abs() < 1e-9, "{times:?}");
}

#[test]
fn without_whole_episodes_only_what_is_admitted_itself_is_taken() {
    let folder = folder();
    let db = open(folder.path());
    let turns = [
        "My flat in Lisbon has a bread oven and a green door.",
        "The market of Porto sells rye bread on Sundays.",
        "The cello is out of tune.",
        "I painted the kitchen yellow.",
    ];
    for (place, text) in turns.into_iter().enumerate() {
        let observe = format!(
            "OBSERVE SESSION 's' TURN {{id: 't{place}', speaker: 'Nora', text: '{text}',
             at: TIMESTAMP '2025-06-11 09:00' + duration('PT1M') * {place}}}"
        );
        db.query(&observe, ()).expect("heard");
    }
    db.consolidate(None).expect("consolidated");
    let found = |given: &str| {
        let text = format!(
            "RECALL 'Who sells rye bread at the market of Porto?'
             USING xmemory {{semantics: 1, fill: false{given}}} RETURN t.key ORDER BY t.key"
        );
        db.query(&text, ()).expect("recalled").to_json()
    };
    let keys = |keys: &[&str]| {
        let each = keys.iter().map(|key| format!(r#"{{"t.key":"{key}"}}"#));
        format!("[{}]", each.collect::<Vec<_>>().join(","))
    };
    // The uncertainty falls enough for the whole episode, by some of its turns.
    assert_eq!(found(", threshold: 0.001"), keys(&["t0", "t1", "t2", "t3"]));
    let own = ", whole_episodes: false, threshold";
    assert_eq!(found(&format!("{own}: 0.001")), keys(&["t0", "t1", "t2"]));
    assert_eq!(found(&format!("{own}: 0.01")), keys(&["t1"]));
    assert_eq!(found(&format!("{own}: 0.01, admit: false")), keys(&["t0", "t1", "t2", "t3"]));
}

#[test]
fn the_default_recipe_takes_a_time_and_a_budget() {
    let ask = |text: &str| MEMORY.1.query(text, [("q", QUESTION)]).expect(text);
    let by_name = found("engraph", "");
    let rows = ask("RECALL $q RETURN t.key, score");
    assert_eq!(rows.rows.len(), by_name.len());
    assert_eq!(rows.rows[0][0].to_string(), by_name[0].0);
    // Nobody had said anything by then, and then only the first.
    let early = ask("RECALL $q FOR VALID_TIME AS OF DATE '2025-06-01' RETURN t.key");
    assert!(early.is_empty(), "{}", early.to_json());
    let first = ask("RECALL $q FOR VALID_TIME AS OF TIMESTAMP '2025-06-12 00:00' RETURN t.key");
    assert_eq!(first.to_json(), r#"[{"t.key":"t0"}]"#);
    let packed = ask("RECALL $q BUDGET 30 TOKENS RETURN tokens <= 30 AS fits, pieces > 0 AS found");
    assert_eq!(packed.to_json(), r#"[{"fits":true,"found":true}]"#);
    let outside = "LET day = DATE '2025-06-01' \
                   RECALL $q USING hybrid FOR VALID_TIME AS OF day RETURN count(*) AS n";
    assert_eq!(ask(outside).to_json(), r#"[{"n":0}]"#);
}

#[test]
fn a_recipe_of_the_database_goes_before_one_that_is_built_in() {
    let folder = folder();
    let db = open(folder.path());
    let run = |text: &str| db.query(text, Params::new()).map(|rows| rows.to_json());
    run("DEFINE RECIPE hybrid {k: 2} AS UNWIND range(1, $k) AS n RETURN n").expect("defined");
    assert_eq!(run("RECALL '' USING hybrid RETURN n").unwrap(), r#"[{"n":1},{"n":2}]"#);
    let listed = run("SHOW RECIPES").unwrap();
    assert_eq!(listed.matches(r#""recipe":"hybrid""#).count(), 1);
    run("DROP RECIPE hybrid").expect("dropped");
    assert!(run("SHOW RECIPE hybrid").unwrap().contains("reciprocal rank fusion"));
    let refused = run("DROP RECIPE hybrid").unwrap_err().to_string();
    assert!(refused.contains("the recipe `hybrid` is built in"), "{refused}");
}
