//! `RERANK` and `PACK` with the real model, `ACTIVATE` and `REPRESENT` with made-up vectors.

use std::fs;

use engraph::{Engraph, import};
use serde_json::json;

use super::made_up::{self, Random};
use super::measure::{Result, Table, Times, load, question, short};
use super::sentences::{self, Counted};

const QUESTIONS: usize = 20;
const TURNS: u64 = 200;
const CONCEPTS: u64 = 10_000;
const CO_OCCURRENCES: u64 = 50_000;
const NOTES: u64 = 10_000;

pub(crate) fn run() -> Result<()> {
    let columns =
        ["statement", "state", "least, ms", "median, ms", "p95, ms", "texts embedded", "load"];
    let table = Table::begin("Other clauses", &columns);
    turns(&table)?;
    graph(&table)
}

/// What runs over the turns of a conversation.
fn turns(table: &Table) -> Result<()> {
    let model = Counted::load()?;
    let folder = tempfile::tempdir()?;
    let db = sentences::open(folder.path(), &model)?;
    let file = folder.path().join("turns.jsonl");
    let turn = |place: u64| {
        let (text, speaker) =
            (sentences::text(place, 2), if place.is_multiple_of(2) { "Nora" } else { "Otto" });
        json!({ "session": "s", "id": format!("t{place}"), "speaker": speaker, "text": text,
                "place": place, "at": format!("2025-03-{:02}T18:40:00Z", place % 28 + 1) })
        .to_string()
    };
    fs::write(&file, (0..TURNS).map(turn).collect::<Vec<_>>().join("\n"))?;
    import::turns(&db, &file, &mut |_, _| {})?;
    drop(db);

    let questions: Vec<String> = (0..=QUESTIONS as u64)
        .map(|number| format!("Is it so that {}", sentences::sentence(TURNS * 2 + number)))
        .collect();
    let query = "MATCH (t:Turn) WHERE t.place < 40 RERANK t FOR $q TOP 10 RETURN t.key";
    let name = "RERANK of 40 turns by late interaction";
    let db = sentences::open(folder.path(), &model)?;
    timed(&db, Some(&model), table, (query, name, "nothing known"), &questions[QUESTIONS..])?;
    let questions = &questions[..QUESTIONS];
    timed(&db, Some(&model), table, (query, name, "turns known, question new"), questions)?;
    timed(&db, Some(&model), table, (query, name, "all known"), questions)?;
    let pack = "MATCH (t:Turn) WHERE t.place < 40 PACK t BUDGET 1500 TOKENS RETURN text";
    timed(&db, Some(&model), table, (pack, "PACK of 40 turns into 1,500 tokens", ""), questions)?;
    let pack = "MATCH (t:Turn) PACK t BUDGET 1500 TOKENS RETURN text";
    timed(&db, Some(&model), table, (pack, "PACK of 200 turns into 1,500 tokens", ""), questions)
}

/// What runs over concepts and notes.
fn graph(table: &Table) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let db = made_up::open(folder.path())?;
    let note = |number| {
        let properties = json!({ "text": made_up::text(number) });
        json!({ "node": { "label": "Note", "key": format!("n{number}"), "properties": properties } })
            .to_string()
    };
    made_up::load(&db, (0..CO_OCCURRENCES).map(co_occurrence).chain((0..NOTES).map(note)))?;
    let questions = made_up::questions(QUESTIONS as u64);
    for hops in [1, 2] {
        let query = format!(
            "GENERATE k:Concept FOR $q BEAM 10 \
             ACTIVATE c FROM k VIA CO_OCCURS HOPS {hops} TOP 35 RETURN c.key, c.activation"
        );
        db.query(&query, question(&questions[0]))?;
        let name = format!("GENERATE BEAM 10, ACTIVATE HOPS {hops} TOP 35");
        timed(&db, None, table, (&query, &name, ""), &questions)?;
    }
    for top in [100, 1_000] {
        let search = format!("SEARCH n:Note FOR $q BY VECTOR TOP {top}");
        let query = format!("{search} RETURN n.key");
        timed(&db, None, table, (&query, &search, ""), &questions)?;
        let query = format!("{search} REPRESENT r FROM n COVERAGE 0.9 BUDGET 20 RETURN r.key");
        let name = "the same, REPRESENT COVERAGE 0.9 BUDGET 20";
        timed(&db, None, table, (&query, name, ""), &questions)?;
    }
    Ok(())
}

/// One fact between two of the concepts.
fn co_occurrence(number: u64) -> String {
    let mut random = Random(number);
    let mut end = || {
        // Some occur far more often than others.
        let place = random.below(CONCEPTS).min(random.below(CONCEPTS));
        json!({ "label": "Concept", "key": made_up::word(place, 3) })
    };
    let (head, tail) = (end(), end());
    let weight = json!({ "weight": random.below(10) + 1 });
    json!({ "head": head, "relation": "CO_OCCURS", "tail": tail, "properties": weight }).to_string()
}

fn timed(
    db: &Engraph,
    model: Option<&Counted>,
    table: &Table,
    (query, name, state): (&str, &str, &str),
    questions: &[String],
) -> Result<()> {
    model.map(Counted::counts);
    let times = Times::of_questions(&db.prepare(query)?, questions)?;
    let texts = |model: &Counted| short(model.counts().1 as f64 / questions.len() as f64);
    let texts = model.map_or_else(String::new, texts);
    let least = short(times.least());
    table.row(&[name, state, &least, &times.median(), &times.p95(), &texts, &load()]);
    Ok(())
}
