//! `GENERATE` with the default model of keys.

use std::sync::Arc;
use std::time::Instant;

use engraph::Embedder;
use serde_json::json;

use super::made_up::{self, word};
use super::measure::{Result, Sizes, Table, Times, load, memory, millis, question, short};
use super::sentences::{self, Counted};

const QUESTIONS: u64 = 100;

pub(crate) fn run(sizes: &Sizes) -> Result<()> {
    let model = Counted::load()?;
    let embedding = embedding(&model)?;
    let table = Table::begin(
        "GENERATE BEAM 10, the default model",
        &[
            "keys",
            "load, s",
            "first, ms",
            "median, ms",
            "p95, ms",
            "median with embedding of the question, ms",
            "keys that start with `b`, median, ms",
            "memory, MB",
            "load",
        ],
    );
    for keys in sizes.of(&[1_000, 100_000, 1_000_000]) {
        eprintln!("{keys} keys");
        let folder = tempfile::tempdir()?;
        let db = made_up::open(folder.path())?;
        let start = Instant::now();
        made_up::load(&db, (0..keys).map(concept))?;
        drop(db);
        let loaded = start.elapsed().as_secs_f64();
        let db = made_up::open(folder.path())?;
        let plain = db.prepare("GENERATE k:Concept FOR $q BEAM 10 RETURN k.key, k.logprob")?;
        let start = Instant::now();
        plain.query(question(&made_up::asking(QUESTIONS)))?;
        let first = millis(start);
        let questions = made_up::questions(QUESTIONS);
        let times = Times::of_questions(&plain, &questions)?;
        let filtered = "GENERATE k:Concept FOR $q BEAM 10 WHERE k.key STARTS WITH 'b' RETURN k.key";
        let filtered = Times::of_questions(&db.prepare(filtered)?, &questions[..10])?;
        table.row(&[
            &keys.to_string(),
            &short(loaded),
            &short(first),
            &times.median(),
            &times.p95(),
            &short(times.middle() + embedding),
            &filtered.median(),
            &memory(),
            &load(),
        ]);
    }
    Ok(())
}

/// A concept with a key of two words of a topic and one of its own.
fn concept(number: u64) -> String {
    let text = made_up::text(number);
    let topical: Vec<&str> = text.split(' ').take(2).collect();
    let key = format!("{} {}", topical.join(" "), word(number, 3));
    json!({ "node": { "label": "Concept", "key": key } }).to_string()
}

/// How long the real model takes for a question, in milliseconds.
fn embedding(model: &Arc<Counted>) -> Result<f64> {
    let embed = |number| Ok(model.embed(&[&sentences::sentence(number as u64)])?);
    let times = Times::of(20, embed)?;
    Ok(times.middle())
}
