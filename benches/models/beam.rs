//! `MATCH BEAM` with the real model over a graph of 10,000 facts.

use engraph::{Engraph, Params};
use serde_json::json;

use super::made_up::{Random, load as load_lines};
use super::measure::{Result, Table, Times, load, profiled, short};
use super::sentences::{self, Counted};

const FACTS: u64 = 10_000;
/// Labels, with how many nodes they have and how these are called.
const ENDS: [(&str, u64, &str); 4] = [
    ("Person", 2_500, "Nora Otto Luis Mary Ines Paul Anna Tom Eva Hugo Rosa Karl Emma Leo Ada Max"),
    ("City", 300, "Port Lake North South East West Old New Upper Lower Stone Green White Black"),
    ("Company", 500, "Forno Atlas Delta Solar Blue Prime Metro Ocean Nova Pixel Terra Vector"),
    ("Thing", 700, "bread oven bicycle camera guitar boat garden piano coffee tea chess football"),
];
const ENDINGS: &str = "Silva Costa Lund Weber Rossi Moreau Novak Berg Hall Stone Hill Field Wood \
                       Brook Marsh Ford Dale Park Ridge Grove Bay Cliff Moor Glen Heath Shore";
/// Relations, with the places in [`ENDS`] of their head and tail.
const RELATIONS: [(&str, usize, usize); 10] = [
    ("knows", 0, 0),
    ("lives_in", 0, 1),
    ("works_at", 0, 2),
    ("likes", 0, 3),
    ("born_in", 0, 1),
    ("married_to", 0, 0),
    ("based_in", 2, 1),
    ("sells", 2, 3),
    ("near", 1, 1),
    ("famous_for", 1, 3),
];
const ASKED: [&str; 5] = [
    "In which city does {} work?",
    "What does the company of {} sell?",
    "Who does the husband of {} know?",
    "What is the home town of {} famous for?",
    "What do the friends of {} like?",
];
const QUESTIONS: u64 = 20;

pub(crate) fn run() -> Result<()> {
    let model = Counted::load()?;
    let folder = tempfile::tempdir()?;
    load_lines(&sentences::open(folder.path(), &model)?, (0..FACTS).map(fact))?;
    let table = Table::begin(
        "MATCH BEAM 5 EXPAND 5 to depth 3, 10,000 facts, by relevance, coherence and sufficiency",
        &[
            "pattern",
            "question",
            "median, ms",
            "p95, ms",
            "calls of the model",
            "texts embedded",
            "paths and texts judged",
            "keys read",
            "load",
        ],
    );
    for pattern in ["(e)-[f]->{1,3}(x)", "(e)-[f]-{1,3}(x)"] {
        let db = sentences::open(folder.path(), &model)?;
        beam(&db, &model, pattern, &table)?;
    }
    Ok(())
}

fn beam(db: &Engraph, model: &Counted, pattern: &str, table: &Table) -> Result<()> {
    let query = format!(
        "MATCH (e:Person {{key: $who}}) MATCH BEAM 5 p = {pattern} EXPAND 5 \
         SCORE BY relevance(p, $q), coherence(p), sufficiency(p, $q, e) RETURN p"
    );
    let statement = db.prepare(&query)?;
    let mut judged = (0, 0);
    for number in 0..QUESTIONS {
        judged.0 += profiled(db, &query, asked(QUESTIONS + number), "model_texts")?;
        judged.1 += profiled(db, &query, asked(QUESTIONS + number), "keys")?;
    }
    let mean = |count: u64| short(count as f64 / QUESTIONS as f64);
    for round in ["new", "the same again"] {
        model.counts();
        let ask = |number| Ok(statement.query(asked(number as u64))?);
        let times = Times::of(QUESTIONS as usize, ask)?;
        let (calls, texts) = model.counts();
        table.row(&[
            &format!("`{pattern}`"),
            round,
            &times.median(),
            &times.p95(),
            &mean(calls),
            &mean(texts),
            &mean(judged.0),
            &mean(judged.1),
            &load(),
        ]);
    }
    Ok(())
}

/// The parameters of a question about a person.
fn asked(number: u64) -> Params {
    let who = name(ENDS[0].2, number * 17 % ENDS[0].1);
    let question = ASKED[(number % ASKED.len() as u64) as usize].replace("{}", &who);
    Params::from([("who", who), ("q", question)])
}

fn fact(number: u64) -> String {
    let mut random = Random(number);
    let relation = RELATIONS[(random.below(10)) as usize];
    let mut end = |place: usize| {
        let (label, count, names) = ENDS[place];
        json!({ "label": label, "key": name(names, random.below(count)) })
    };
    let (head, tail) = (end(relation.1), end(relation.2));
    json!({ "head": head, "relation": relation.0, "tail": tail }).to_string()
}

/// The name of that number; from some hundred on, it has a number itself.
fn name(names: &str, number: u64) -> String {
    let pick = |words: &str, number: u64| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let count = words.len() as u64;
        (words[(number % count) as usize].to_owned(), number / count)
    };
    let (first, rest) = pick(names, number);
    let (second, rest) = pick(ENDINGS, rest);
    match rest {
        0 => format!("{first} {second}"),
        rest => format!("{first} {second} {}", rest + 1),
    }
}
