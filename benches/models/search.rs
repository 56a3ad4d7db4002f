//! `SEARCH` by words, by meaning and by both, how exact it is, and what it takes to be ready.

use std::time::{Duration, Instant};

use engraph::{Engraph, Value};
use serde_json::json;

use super::made_up::{self, DIMENSIONS};
use super::measure::{
    Result, Sizes, Table, Times, is_running, load, memory, millis, profiled, question, short,
};

const QUESTIONS: u64 = 100;
const TOP: usize = 10;
/// The thread that builds graphs.
const BUILDER: &str = "engraph-vectors";
/// One node in a hundred has this number as its shard, and a fact that is sure.
const SHARD: u64 = 7;

/// What stands after a search, and how a table calls it.
const FILTERS: [(&str, &str); 3] = [
    ("", "none"),
    ("WHERE n.shard = 7", "property, 1 %"),
    ("CONFIDENCE >= 0.8", "confidence, 1 %"),
];

pub(crate) fn run(sizes: &Sizes) -> Result<()> {
    sizes.of(&[10_000, 100_000, 1_000_000]).into_iter().try_for_each(size)
}

fn size(nodes: u64) -> Result<()> {
    eprintln!("{nodes} nodes");
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    fill(&made_up::open(folder.path())?, nodes)?;
    let loaded = start.elapsed().as_secs_f64();
    eprintln!("  the right answers");
    let questions = made_up::questions(QUESTIONS);
    let right = [nearest(nodes, &questions, |_| true), nearest(nodes, &questions, is_kept)];

    let db = made_up::open(folder.path())?;
    let opened = memory();
    let by_text = first(&db, "TEXT")?;
    let by_vector = first(&db, "VECTOR")?;
    let (with_vectors, building) = (memory(), Instant::now());
    let measure = |by: &str, filter: usize| -> Result<[String; 7]> {
        let (clause, name) = FILTERS[filter];
        eprintln!("  by {by}, filter: {name}");
        let query = search(by, clause);
        let times = Times::of_questions(&db.prepare(&query)?, &questions)?;
        let way = way(&db, &query)?.to_owned();
        let recall = match by {
            "VECTOR" => format!("{:.3}", recall(&db, &query, &questions, &right[filter.min(1)])?),
            _ => String::new(),
        };
        let (by, name) = (by.to_lowercase(), name.to_owned());
        Ok([by, name, way, times.median(), times.p95(), recall, load()])
    };
    let mut scanned = None;
    if is_running(BUILDER) {
        scanned = Some(measure("VECTOR", 0)?);
        while is_running(BUILDER) {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    let built = scanned.as_ref().map(|_| short(building.elapsed().as_secs_f64()));
    ready(
        nodes,
        &[
            &short(loaded),
            &short(by_text),
            &short(by_vector),
            &opened,
            &with_vectors,
            &memory(),
            &built.unwrap_or_default(),
            &load(),
        ],
    );
    let columns = ["by", "filter", "way", "median, ms", "p95, ms", "recall@10", "load"];
    let table = Table::begin(&format!("SEARCH TOP 10 of {nodes} nodes"), &columns);
    if let Some([by, filter, way, median, p95, recall, load]) = &scanned {
        let way = format!("{way}, beside the building of the graph");
        table.row(&[by, filter, &way, median, p95, recall, load]);
    }
    for by in ["TEXT", "VECTOR", "HYBRID"] {
        for filter in 0..FILTERS.len() {
            table.row(&measure(by, filter)?.each_ref().map(String::as_str));
        }
    }
    Ok(())
}

/// Tells what a size took until it was ready.
fn ready(nodes: u64, cells: &[&str]) {
    let columns = [
        "load, s",
        "first by text, ms",
        "first by vector, ms",
        "memory after opening, MB",
        "with vectors, MB",
        "with graph, MB",
        "graph built, s",
        "load",
    ];
    Table::begin(&format!("SEARCH: until {nodes} nodes are ready"), &columns).row(cells);
}

fn fill(db: &Engraph, nodes: u64) -> Result<()> {
    db.query("DEFINE INDEX FOR (n:Note) ON (n.text) FULLTEXT", ())?;
    made_up::load(db, (0..nodes).map(node).chain((0..nodes).filter_map(fact)))
}

/// How long the first search takes, in milliseconds.
fn first(db: &Engraph, by: &str) -> Result<f64> {
    let start = Instant::now();
    db.query(&search(by, ""), question(&made_up::asking(QUESTIONS)))?;
    Ok(millis(start))
}

fn search(by: &str, filter: &str) -> String {
    format!("SEARCH n:Note FOR $q BY {by} TOP {TOP} {filter} RETURN n.key AS key")
}

fn is_kept(node: u64) -> bool {
    node % 100 == SHARD
}

fn node(number: u64) -> String {
    let (key, text) = (format!("n{number}"), made_up::text(number));
    let properties = json!({ "text": text, "shard": number % 100 });
    json!({ "node": { "label": "Note", "key": key, "properties": properties } }).to_string()
}

/// A fact of every fiftieth node: sure of one half of them, unsure of the other.
fn fact(number: u64) -> Option<String> {
    let confidence = match number % 50 {
        SHARD if is_kept(number) => 0.9,
        SHARD => 0.3,
        _ => return None,
    };
    let end = |label: &str, key: String| json!({ "label": label, "key": key });
    let (head, tail) = (end("Note", format!("n{number}")), end("Tag", (number % 97).to_string()));
    let fact =
        json!({ "head": head, "relation": "has_tag", "tail": tail, "confidence": confidence });
    Some(fact.to_string())
}

/// How a search is done.
fn way(db: &Engraph, query: &str) -> Result<&'static str> {
    let asked = |what| profiled(db, query, question(&made_up::asking(0)), what);
    Ok(match (asked("vectors")?, asked("vectors_by_graph")?) {
        (0, _) => "postings",
        (_, 0) => "scan",
        _ => "graph",
    })
}

/// The part of the right answers that is found.
fn recall(db: &Engraph, query: &str, questions: &[String], right: &[Vec<u64>]) -> Result<f64> {
    let (mut hits, mut all) = (0, 0);
    for (text, right) in questions.iter().zip(right) {
        let rows = db.query(query, question(text))?;
        let found = |node: &&u64| {
            let key = Value::String(format!("n{node}"));
            (0..rows.len()).any(|row| rows.get(row, "key") == Some(&key))
        };
        hits += right.iter().filter(found).count();
        all += right.len();
    }
    Ok(hits as f64 / all.max(1) as f64)
}

/// The nodes nearest to each question among those that are kept, by all the products in 32-bit
/// floats.
fn nearest(nodes: u64, questions: &[String], keeps: impl Fn(u64) -> bool + Sync) -> Vec<Vec<u64>> {
    let asked: Vec<Vec<f32>> = questions.iter().map(|text| made_up::vector(text)).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let part = |core: usize| {
        let mut best = vec![Vec::new(); asked.len()];
        for node in (core as u64..nodes).step_by(cores).filter(|node| keeps(*node)) {
            let vector = made_up::vector(&made_up::text(node));
            for (asked, best) in asked.iter().zip(&mut best) {
                offer(best, (product(asked, &vector), node));
            }
        }
        best
    };
    let mut best = vec![Vec::new(); asked.len()];
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|core| scope.spawn(move || part(core))).collect();
        for thread in running {
            for (best, own) in best.iter_mut().zip(thread.join().unwrap_or_default()) {
                own.into_iter().for_each(|hit| offer(best, hit));
            }
        }
    });
    let node = |(_, node): (f32, u64)| node;
    best.into_iter().map(|best: Vec<_>| best.into_iter().map(node).collect()).collect()
}

/// Keeps the best, in order.
fn offer(best: &mut Vec<(f32, u64)>, hit: (f32, u64)) {
    if best.len() == TOP && best.last().is_some_and(|last| last.0 >= hit.0) {
        return;
    }
    let place = best.partition_point(|held| held.0 > hit.0 || (held.0 == hit.0 && held.1 < hit.1));
    best.insert(place, hit);
    best.truncate(TOP);
}

/// The dot product, in sums side by side.
fn product(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    debug_assert!(a.len() == DIMENSIONS && DIMENSIONS.is_multiple_of(LANES));
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}
