//! `TRACE`: what brought each row of an answer, by which operator, from which facts.

use engraph::{Engraph, Limits, Options, Params, Rows, Value};

use crate::{folder, open, table};

const WORLD: &str = "
    DEFINE RELATION lives_in CARDINALITY ONE;
    REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Lisbon')
      VALID FROM DATE '2019-09-01' CONFIDENCE 0.8 SOURCE 't1', 't2';
    REMEMBER (:Person 'Otto')-[lives_in]->(:City 'Lisbon') VALID FROM DATE '2020-01-01';
    REMEMBER (:City 'Lisbon')-[in_country]->(:Country 'Portugal') VALID FROM null SOURCE 't3';
    REMEMBER (:Turn 't1' {text: 'My flat in Lisbon has an oven', speaker: 'Nora'});
    REMEMBER (:Turn 't2' {text: 'The dog sleeps', speaker: 'Nora'});
    DEFINE RULE resident (p)-[lives_in]->(c)-[in_country]->(d)
      IMPLIES (p)-[resident_of]->(d) FAMILY hyponymy CONFIDENCE 0.5;
    DEFINE RECIPE said AS SEARCH t:Turn FOR $q BY VECTOR TOP 1 RETURN t.key AS turn, t.score AS score;";

fn world() -> (tempfile::TempDir, Engraph) {
    let folder = folder();
    let db = open(folder.path());
    db.execute(WORLD, ()).expect("writes");
    (folder, db)
}

fn trace(db: &Engraph, text: &str) -> Rows {
    db.query(&format!("TRACE {text}"), ()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A trace as a table, the last column left out: it is never the same.
fn shown(db: &Engraph, text: &str) -> String {
    let mut rows = trace(db, text);
    assert_eq!(rows.columns.pop().as_deref(), Some("system_time"));
    rows.rows.iter_mut().for_each(|row| assert!(matches!(row.pop(), Some(Value::Timestamp(_)))));
    let mut out = String::from("\n");
    table(&rows, "", &mut out);
    out
}

/// The row and the operator of each line.
fn brought(db: &Engraph, text: &str) -> Vec<String> {
    let line = |row: &Vec<Value>| match &row[2] {
        Value::Null => format!("{} {}", row[0], row[1]),
        evidence => format!("{} {} {}", row[0], row[1], evidence),
    };
    trace(db, text).rows.iter().map(line).collect()
}

#[test]
fn what_is_activated_says_by_which_facts() {
    let (_folder, db) = world();
    let text = "MATCH (p:Person 'Nora') ACTIVATE a FROM p VIA lives_in|in_country HOPS 2
                RETURN a.key, activation";
    assert_eq!(
        shown(&db, text),
        "
row | operator | evidence | found | fact | sources
1 | NodeLookup | (:Person 'Nora') | {} | null | null
1 | Activate | (:Person 'Nora') | {activation: 1.072615} | null | null
1 | Project | null | {a.key: 'Nora'} | null | null
2 | NodeLookup | (:Person 'Nora') | {} | null | null
2 | Activate | Nora -[lives_in, [2019-09-01, ∞), 0.8]-> Lisbon | {activation: 0.5} | 0 | ['t1', 't2']
2 | Project | null | {a.key: 'Lisbon'} | null | null
3 | NodeLookup | (:Person 'Nora') | {} | null | null
3 | Activate | Nora -[lives_in, [2019-09-01, ∞), 0.8]-> Lisbon | {activation: 0.088692} | 0 | ['t1', 't2']
3 | Activate | Otto -[lives_in, [2020-01-01, ∞), 1]-> Lisbon | {activation: 0.088692} | 1 | []
3 | Project | null | {a.key: 'Otto'} | null | null
4 | NodeLookup | (:Person 'Nora') | {} | null | null
4 | Activate | Nora -[lives_in, [2019-09-01, ∞), 0.8]-> Lisbon | {activation: 0.088692} | 0 | ['t1', 't2']
4 | Activate | Lisbon -[in_country, [-∞, ∞), 1]-> Portugal | {activation: 0.088692} | 2 | ['t3']
4 | Project | null | {a.key: 'Portugal'} | null | null
"
    );
}

#[test]
fn facts_say_their_times_confidence_and_sources() {
    let (_folder, db) = world();
    let text = "MATCH (p:Person 'Nora')-[f:lives_in]->(c) RETURN c.key";
    assert_eq!(
        shown(&db, text),
        "
row | operator | evidence | found | fact | sources
1 | NodeLookup | (:Person 'Nora') | {} | null | null
1 | Expand | Nora -[lives_in, [2019-09-01, ∞), 0.8]-> Lisbon | {} | 0 | ['t1', 't2']
1 | Project | null | {c.key: 'Lisbon'} | null | null
"
    );
    let json = trace(&db, text).to_json();
    for part in [r#""valid_from":"2019-09-01T00:00:00Z""#, r#""confidence":0.8"#, r#""fact":0"#] {
        assert!(json.contains(part), "{json}");
    }
}

#[test]
fn what_has_no_name_and_no_evidence_is_not_shown() {
    let (_folder, db) = world();
    assert_eq!(
        shown(&db, "MATCH (:Person 'Nora')-[:lives_in]->{0,1}(c:Person) RETURN c.key"),
        "
row | operator | evidence | found | fact | sources
1 | NodeLookup | (:Person 'Nora') | {} | null | null
1 | Walk | (:Person 'Nora') | {} | null | null
1 | Project | null | {c.key: 'Nora'} | null | null
"
    );
}

#[test]
fn a_score_of_many_signals_is_told_by_its_shares() {
    let (_folder, db) = world();
    let text = "SEARCH t:Turn FOR 'dog' BY SIGNALS WEIGHTS {phrase: 1, ends_asking: 1} TOP 1";
    let zeros = "adapter: 0, concepts: 0, day: 0, form: 0, meaning: 0, neighbours: 0, speaker: 0, \
                 statements: 0, tokens: 0, tokens_around: 0, words: 0";
    let told = format!("{{score: 0, shares: {{{zeros}}}, through: {{}}}}");
    assert!(shown(&db, text).contains(&told), "{}", shown(&db, text));
    // Of the recipe that is asked by default, they are the whole score.
    let rows = trace(&db, "RECALL 'Where does the dog sleep?' RETURN t.key LIMIT 1");
    let Value::Map(found) = &rows.rows[0][3] else { panic!("{rows}") };
    let number = |value: &Value| match value {
        Value::Float(number) => *number,
        other => panic!("{other}"),
    };
    let Some(Value::Map(shares)) = found.get("shares") else { panic!("{found:?}") };
    let whole = number(&found["score"]);
    let sum: f64 = shares.values().map(number).sum();
    assert!(whole > 1.0 && (sum - whole).abs() < 1e-4, "{sum} {whole}");
    assert!(found.get("signals").is_none() && shares.len() == 11, "{found:?}");
}

/// A share alone does not say which statement it was.
#[test]
fn a_score_of_many_signals_is_told_by_what_led_to_it() {
    let (_folder, db) = world();
    db.execute("OBSERVE SESSION 's' TURN {id: 'u1', speaker: 'Nora', at: TIMESTAMP '2025-03-01 18:40', text: 'I sold my cello.'}; CONSOLIDATE;", ())
        .expect("writes");
    let shown = shown(&db, "RECALL 'Who sold a cello?' RETURN t.key LIMIT 1");
    let through = "through: {concepts: (:Concept 'cello' {text: 'cello'}), \
                   statements: (:Semantic 'u1/1' {text: 'Nora sold Nora''s cello.'})}";
    assert!(shown.contains(through), "{shown}");
}

#[test]
fn scores_are_said_by_the_operator_that_found_them() {
    let (_folder, db) = world();
    let text = "SEARCH t:Turn FOR 'the oven in Lisbon' BY VECTOR TOP 2
                RERANK t FOR 'oven' TOP 1 PACK t BUDGET 100 TOKENS RETURN tokens";
    let rows = trace(&db, text);
    assert_eq!(brought(&db, text), ["1 Search (:Turn 't1')", "1 Rerank (:Turn 't1')", "1 Pack"]);
    let found = |place: usize| match &rows.rows[place][3] {
        Value::Map(found) => found.keys().cloned().collect::<Vec<_>>().join(" "),
        other => panic!("{other} is no map"),
    };
    assert_eq!(found(0), "score vector_rank vector_score");
    assert_eq!(found(1), "relevance score");
    assert_eq!(found(2), "pieces sources text tokens");
}

#[test]
fn a_text_has_what_brought_each_piece_that_it_took() {
    let (_folder, db) = world();
    let text = "MATCH (t:Turn) PACK t BUDGET $n TOKENS RETURN text";
    let ask = |n: i64| {
        let rows = db.query(&format!("TRACE {text}"), Params::new().with("n", n)).expect(text);
        rows.rows.iter().map(|row| format!("{} {}", row[1], row[2])).collect::<Vec<_>>()
    };
    let all = ["NodeScan (:Turn 't1')", "NodeScan (:Turn 't2')", "Pack null"];
    assert_eq!(ask(100), all);
    // What did not fit has brought nothing.
    assert_eq!(ask(8), ["NodeScan (:Turn 't2')", "Pack null"]);
}

#[test]
fn rows_that_are_put_together_have_what_brought_each_of_them() {
    let (_folder, db) = world();
    let lives = |who: &str, from: &str, confidence: &str| {
        format!("1 Expand {who} -[lives_in, [{from}, ∞), {confidence}]-> Lisbon")
    };
    let (nora, otto) = (lives("Nora", "2019-09-01", "0.8"), lives("Otto", "2020-01-01", "1"));
    for (what, operators) in [
        ("RETURN c.key, count(*) AS n", &["Aggregate"][..]),
        ("RETURN DISTINCT c.key", &["Project"]),
        ("WITH c, collect(p) AS people RETURN c.key, size(people)", &["Project"]),
    ] {
        let text = format!("MATCH (p:Person)-[:lives_in]->(c) {what}");
        let found = brought(&db, &text);
        assert!(found.contains(&nora) && found.contains(&otto), "{text}: {found:#?}");
        for operator in operators {
            let one = format!("1 {operator}");
            assert!(found.contains(&one), "{text}: {found:#?}");
        }
        assert!(found.iter().all(|line| line.starts_with("1 ")), "{found:#?}");
    }
    // Equal rows of a union are one, and have been brought by both sides.
    let both = "MATCH (c:City) RETURN c.key AS key UNION
                MATCH (:Person 'Nora')-[:lives_in]->(c) RETURN c.key AS key";
    let found = brought(&db, both);
    assert!(found.contains(&"1 NodeScan (:City 'Lisbon')".to_owned()), "{found:#?}");
    assert!(found.contains(&nora), "{found:#?}");
    // Groups of none have been brought by nothing but the count.
    assert_eq!(brought(&db, "MATCH (n:Person 'x') RETURN count(*)"), ["1 Aggregate"]);
}

#[test]
fn rows_of_inner_plans_have_what_brought_the_outer_ones() {
    let (_folder, db) = world();
    let text =
        "MATCH (p:Person 'Nora') CALL (p) { MATCH (p)-[:lives_in]->(c) RETURN count(c) AS n }
                RETURN n";
    let found = brought(&db, text);
    assert_eq!(found[0], "1 NodeLookup (:Person 'Nora')");
    assert!(found[1].starts_with("1 Expand Nora -[lives_in"), "{found:#?}");
    assert_eq!(found[2], "1 Aggregate");
    let missing = "OPTIONAL MATCH (n:Person 'x') RETURN n";
    assert_eq!(brought(&db, missing), ["1 Apply"]);
    let recalled = "RECALL 'oven' USING said RETURN turn, score";
    let found = brought(&db, recalled);
    assert!(found.contains(&"1 Search (:Turn 't1')".to_owned()), "{found:#?}");
}

#[test]
fn derived_steps_name_their_rule() {
    let (_folder, db) = world();
    let text = "MATCH BEAM 2 p = (:Person 'Nora')-[f:resident_of]->{1,1}(x) EXPAND 2
                SCORE BY relevance(p, 'country') REPAIR RETURN p";
    let rows = trace(&db, text);
    let beam = rows.rows.iter().find(|row| row[1] == Value::from("Beam")).expect("a beam");
    assert_eq!(beam[4], Value::Null);
    let sources = beam[5].to_string();
    assert!(sources.contains("rule resident"), "{sources}");
    assert!(beam[2].to_string().contains("resident_of"), "{}", beam[2]);
}

#[test]
fn the_system_time_replays_it() {
    let (_folder, db) = world();
    let text = "MATCH (p:Person 'Nora')-[f:lives_in]->(c) RETURN c.key";
    let before = trace(&db, text);
    let Some(Value::Timestamp(at)) = before.rows[0].last() else { panic!("an instant") };
    db.execute("MATCH (:Person 'Nora')-[f:lives_in]->() RETRACT f", ()).expect("retracts");
    assert!(trace(&db, text).is_empty());
    let replayed = db.query(
        &format!("TRACE FOR SYSTEM_TIME AS OF $t {text}"),
        Params::new().with("t", Value::Timestamp(*at)),
    );
    let evidence = |rows: &Rows| rows.rows[1][2].to_string();
    assert_eq!(evidence(&replayed.expect("replays")), evidence(&before));
}

#[test]
fn a_trace_counts_to_the_memory_of_its_query() {
    let folder = folder();
    let limits = Limits { memory_max: 1 << 20, ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    let text = "UNWIND range(1, 100) AS a UNWIND range(1, 200) AS i RETURN count(i) AS n";
    assert_eq!(db.query(text, ()).expect("fits").rows[0][0], Value::Int(20_000));
    let error = db.query(&format!("TRACE {text}"), ()).expect_err("is too large").to_string();
    assert!(error.contains("its rows take more than 1 MiB"), "{error}");
}

#[test]
fn what_changes_something_is_not_traced() {
    let (_folder, db) = world();
    let error = db.query("TRACE MATCH ()-[f]->() RETRACT f", ()).expect_err("writes").to_string();
    assert!(error.contains("TRACE runs a query that only reads"), "{error}");
}
