//! The vectors of the workload: 100,000 of 384 components, asked for the ten nearest a thousand times.
//!
//! Texts stand for them, and an embedder that knows the texts makes them, so that they come in and are
//! asked for as any text is. The right answers are computed here, from every product.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engraph::{Durability, Embedder, Engraph, NeuralError, Options, Value, import};
use serde_json::{Value as Json, json};

use super::machine;
use super::numbers::{Checksum, draw, hash};
use super::stats::Stats;
use crate::cli::args::BenchVectors;
use crate::cli::eval::kept_or_temporary;
use crate::cli::output::{Output, terminal_width};
use crate::cli::progress::named_bar;
use crate::cli::{Failure, Result};

const DIMENSIONS: usize = 384;
const BASE: u64 = 100_000;
const QUERIES: u64 = 1_000;
const TOP: usize = 10;
const CLUSTERS: u64 = 256;
const FACTORS: u64 = 24;
/// Times that each question is asked; the least counts.
const PASSES: usize = 3;
/// The thread that builds the graph over vectors.
const BUILDER: &str = "engraph-vectors";
/// The wrapping sums of the bits of all components, and the checksum of the exact answers.
const BASE_BITS: u64 = 0x011e_8ebc_2a5f_bc6a;
const QUERY_BITS: u64 = 0x0002_dd56_d4e6_2152;
const ANSWERS: u64 = 0xf19f_1a30_7e67_f28d;
const SEARCH: &str = "SEARCH n:Item FOR $q BY VECTOR TOP 10 RETURN n.key";

/// One of the two sets of vectors, each made from seeds of its own.
#[derive(Clone, Copy)]
struct Kind {
    letter: char,
    count: u64,
    weights: u64,
    errors: u64,
    clusters: u64,
}

const BASES: Kind =
    Kind { letter: 'b', count: BASE, weights: 384_003, errors: 384_004, clusters: 384_005 };
const ASKED: Kind =
    Kind { letter: 'q', count: QUERIES, weights: 384_013, errors: 384_014, clusters: 384_015 };

/// What all vectors are mixed from.
struct Mixture {
    clusters: Vec<i64>,
    factors: Vec<i64>,
}

impl Mixture {
    fn new() -> Self {
        let d = DIMENSIONS as u64;
        let signed = |seed: u64, n: u64| (draw(seed, n) % 257) as i64 - 128;
        Self {
            clusters: (0..CLUSTERS * d).map(|n| signed(384_001, n)).collect(),
            factors: (0..FACTORS * d).map(|n| signed(384_002, n)).collect(),
        }
    }

    /// The vector of that number, of length 1.
    fn vector(&self, kind: Kind, i: u64) -> Vec<f32> {
        let cluster = (draw(kind.clusters, i) % CLUSTERS) as usize * DIMENSIONS;
        let error =
            |d: usize| (draw(kind.errors, DIMENSIONS as u64 * i + d as u64) % 129) as i64 - 64;
        let mut x: Vec<i64> =
            (0..DIMENSIONS).map(|d| 64 * self.clusters[cluster + d] + 16 * error(d)).collect();
        for (f, factor) in self.factors.chunks_exact(DIMENSIONS).enumerate() {
            let weight = (draw(kind.weights, FACTORS * i + f as u64) % 33) as i64 - 16;
            x.iter_mut().zip(factor).for_each(|(x, factor)| *x += weight * factor);
        }
        let norm = (x.iter().map(|x| x * x).sum::<i64>() as f64).sqrt();
        x.into_iter().map(|x| (x as f64 / norm) as f32).collect()
    }

    fn all(&self, kind: Kind) -> Vec<Vec<f32>> {
        (0..kind.count).map(|i| self.vector(kind, i)).collect()
    }
}

/// The embedder of the texts `b0`, `b1`, ... and `q0`, `q1`, ... What is asked for is made before, so
/// that the time of a search is not that of making its vector.
struct Made {
    mixture: Mixture,
    asked: Vec<Vec<f32>>,
}

impl Embedder for Made {
    fn id(&self) -> &str {
        "workload"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, NeuralError> {
        let number = |text: &str, kind: Kind| text.strip_prefix(kind.letter)?.parse::<u64>().ok();
        let vector = |text: &&str| {
            let asked = number(text, ASKED).and_then(|i| self.asked.get(i as usize).cloned());
            let base = || Some(self.mixture.vector(BASES, number(text, BASES)?));
            let failed = || NeuralError::Failed { reason: format!("{text} has no vector") };
            asked.or_else(base).ok_or_else(failed)
        };
        texts.iter().map(vector).collect()
    }
}

/// Makes, stores and asks for them, and checks each answer against the exact one.
pub(super) fn run(command: &BenchVectors, output: &mut Output) -> Result<()> {
    let (folder, _gone) = kept_or_temporary(command.keep.as_deref(), "engraph-bench-")?;
    fs::create_dir_all(&folder).map_err(|error| Failure::of_file(&folder, &error))?;
    let bar = named_bar();
    bar.set_length(4);
    let step = |name: &'static str| {
        bar.set_message(name);
        bar.inc(1);
    };
    step("exact answers");
    let mixture = Mixture::new();
    let (bases, asked) = (mixture.all(BASES), mixture.all(ASKED));
    check(bits(&bases) == BASE_BITS && bits(&asked) == QUERY_BITS, "the vectors")?;
    let exact = exact(&bases, &asked);
    check(checksum(&exact) == ANSWERS, "the exact answers")?;
    if command.keep.is_some() {
        write(&folder, &bases, &asked, &exact)?;
    }
    drop(bases);
    step("load");
    let store = folder.join("vectors.engraph");
    let db = Options::new()
        .durability(Durability::Buffered)
        .embedder(Arc::new(Made { mixture, asked }))
        .open(&store)?;
    let start = Instant::now();
    load(&db, &folder)?;
    let loaded = start.elapsed().as_secs_f64();
    step("search by scan");
    let prepared = db.prepare(SEARCH)?;
    let ask = |number: usize| prepared.query([("q", format!("q{number}"))]);
    let begun = Instant::now();
    ask(0)?;
    let scanned = point("scan", &ask, &exact, 100)?;
    step("search by graph");
    while is_running(BUILDER) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let built = begun.elapsed().as_secs_f64();
    let walked = point("graph", &ask, &exact, exact.len())?;
    bar.finish_and_clear();
    let report = json!({ "vec": {
        "vectors_per_s": (BASE as f64 / (loaded + built)).round(),
        "loaded_s": loaded,
        "built_s": built,
        "disk": machine::folder_bytes(&store),
        "rss": machine::resident_peak(),
        "points": [scanned, walked],
    }});
    if let Some(file) = &command.json {
        fs::write(file, format!("{report:#}\n")).map_err(|error| Failure::of_file(file, &error))?;
    }
    Ok(output.table(&table(&report["vec"]), terminal_width())?)
}

fn check(is_right: bool, what: &str) -> Result<()> {
    match is_right {
        true => Ok(()),
        false => Err(Failure::Other(format!("{what} are not those of the specification"))),
    }
}

fn bits(vectors: &[Vec<f32>]) -> u64 {
    let bits = vectors.iter().flatten().map(|x| u64::from(x.to_bits()));
    bits.fold(0, u64::wrapping_add)
}

fn checksum(answers: &[Vec<u64>]) -> u64 {
    let mut all = Checksum::default();
    for answer in answers {
        let sum = answer.iter().map(|id| hash(&[*id])).fold(0, u64::wrapping_add);
        all.add(answer.len() as u64, sum);
    }
    all.sum
}

/// The nearest of each question by every product, the best first, on all cores.
fn exact(bases: &[Vec<f32>], asked: &[Vec<f32>]) -> Vec<Vec<u64>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let nearest = |asked: &Vec<f32>| {
        let mut hits: Vec<(f32, u64)> =
            bases.iter().zip(0..).map(|(base, id)| (product(asked, base), id)).collect();
        let order = |a: &(f32, u64), b: &(f32, u64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        hits.select_nth_unstable_by(TOP, order);
        hits.truncate(TOP);
        hits.sort_unstable_by(order);
        hits.into_iter().map(|hit| hit.1).collect()
    };
    std::thread::scope(|scope| {
        let parts = asked.chunks(asked.len().div_ceil(cores));
        let nearest = &nearest;
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(nearest).collect::<Vec<Vec<u64>>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

/// The dot product, in sums side by side.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// The vectors and the exact answers for other libraries, little-endian.
fn write(folder: &Path, bases: &[Vec<f32>], asked: &[Vec<f32>], exact: &[Vec<u64>]) -> Result<()> {
    let floats = |all: &[Vec<f32>]| all.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let ids = exact.iter().flatten().flat_map(|id| id.to_le_bytes()).collect();
    let files: [(&str, Vec<u8>); 3] =
        [("base.f32", floats(bases)), ("queries.f32", floats(asked)), ("exact.u64", ids)];
    for (name, bytes) in files {
        let file = folder.join(name);
        fs::write(&file, bytes).map_err(|error| Failure::of_file(&file, &error))?;
    }
    Ok(())
}

fn load(db: &Engraph, folder: &Path) -> Result<()> {
    let file = folder.join("items.jsonl");
    let item = |i: u64| {
        let text = format!("{}{i}", BASES.letter);
        let node = json!({ "label": "Item", "key": i.to_string(), "properties": { "text": text } });
        json!({ "node": node }).to_string()
    };
    let lines: Vec<String> = (0..BASE).map(item).collect();
    fs::write(&file, lines.join("\n")).map_err(|error| Failure::of_file(&file, &error))?;
    let report = import::jsonl(db, &file, &mut |_, _| ())?;
    match report.refused.first() {
        Some(refused) => Err(Failure::Other(refused.reason.clone())),
        None => Ok(()),
    }
}

/// How fast and how exact the first questions are answered.
fn point(
    way: &str,
    ask: &dyn Fn(usize) -> engraph::Result<engraph::Rows>,
    exact: &[Vec<u64>],
    questions: usize,
) -> Result<Json> {
    let mut least = vec![Duration::MAX; questions];
    let mut found = 0;
    for pass in 0..PASSES {
        for (number, (right, least)) in exact.iter().zip(&mut least).enumerate() {
            let start = Instant::now();
            let rows = ask(number)?;
            *least = start.elapsed().min(*least);
            if pass == 0 {
                let is_right = |row: &&Vec<Value>| match row.first() {
                    Some(Value::String(key)) => key.parse().is_ok_and(|id| right.contains(&id)),
                    _ => false,
                };
                found += rows.rows.iter().filter(is_right).count();
            }
        }
    }
    let mut json = Stats::new(&least).json();
    json["way"] = json!(way);
    json["recall"] = json!(found as f64 / (questions * TOP) as f64);
    Ok(json)
}

/// Whether a thread of this process has that name; never, where the system does not say.
fn is_running(thread: &str) -> bool {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm"));
    tasks.filter_map(|task| name(task).ok()).any(|name| name.trim_end() == thread)
}

fn table(vec: &Json) -> engraph::Rows {
    let number = |json: &Json, digits: usize| {
        Value::String(json.as_f64().map_or_else(String::new, |number| format!("{number:.digits$}")))
    };
    let points = vec["points"].as_array().into_iter().flatten();
    let rows = points.map(|point| {
        let way = Value::String(point["way"].as_str().unwrap_or_default().to_owned());
        let times = ["p50", "p95", "p99", "mean"].map(|figure| number(&point[figure], 1));
        [way].into_iter().chain(times).chain([number(&point["recall"], 4)]).collect()
    });
    let columns = ["µs", "p50", "p95", "p99", "mean", "recall@10"].map(str::to_owned).to_vec();
    engraph::Rows { columns, rows: rows.collect(), warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_those_of_the_specification() {
        let mixture = Mixture::new();
        let first = mixture.vector(BASES, 0);
        assert_eq!(first[..3], [-0.043_012_846, -0.022_124_31, 0.050_156_403]);
        assert_eq!(bits(&mixture.all(ASKED)), QUERY_BITS);
    }

    #[test]
    fn the_nearest_are_found_by_every_product() {
        let unit = |place: usize| {
            let mut vector = vec![0.0; DIMENSIONS];
            vector[place] = 1.0;
            vector[place + 1] = place as f32 / 100.0;
            vector
        };
        let bases: Vec<Vec<f32>> = (0..20).map(|place| unit(place * 2)).collect();
        let answers = exact(&bases, &[unit(14), unit(4)]);
        assert_eq!(answers.iter().map(|all| all[0]).collect::<Vec<_>>(), [7, 2]);
        assert!(answers.iter().all(|all| all.len() == TOP));
    }
}
