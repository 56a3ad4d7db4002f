//! What the past costs: reading the value that holds now, with a hundred after it that have ended, and
//! with none.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use engraph::graph::{EdgeFilter, Side};
use engraph::{Durability, Engraph, Options, Value};
use serde_json::{Value as Json, json};

use super::ask::micros;
use super::numbers::{BEGIN, NOW};
use super::stats::Stats;
use crate::cli::{Failure, Result};

/// Values that have ended.
const ENDED: u64 = 100;
/// Reads of each kind.
const READS: usize = 10_000;

/// Reads both in turn, by MemQL and through the library.
pub(super) fn overhead(folder: &Path) -> Result<Json> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| Failure::of_file(folder, &error))?;
    }
    let db = Options::new().durability(Durability::Buffered).open(folder)?;
    db.execute("DEFINE RELATION value CARDINALITY ONE THRESHOLD 0", ())?;
    (0..=ENDED).try_for_each(|day| put(&db, "many", day))?;
    put(&db, "one", ENDED)?;
    let state = db.snapshot();
    let node = |key| {
        let node = state.node("Entity", key)?;
        node.ok_or_else(|| Failure::Other(format!("there is no entity {key}")))
    };
    let nodes = [node("one")?, node("many")?];
    let value = state.relation("value");
    let query = db.prepare(
        "MATCH (a)-[f:value]->(b) FOR VALID_TIME AS OF $t WHERE id(a) = $h \
         RETURN id(b), f.confidence",
    )?;
    let filter = EdgeFilter::valid_at(micros(NOW));
    let (mut memql, mut library) =
        (<[Vec<Duration>; 2]>::default(), <[Vec<Duration>; 2]>::default());
    for read in 0..READS * 2 {
        let (which, begin) = (read % 2, Instant::now());
        let h = Value::Int(nodes[which].0.cast_signed());
        black_box(query.query([("h", h), ("t", Value::Timestamp(micros(NOW)))])?);
        memql[which].push(begin.elapsed());
        let begin = Instant::now();
        black_box(db.snapshot().edges(nodes[which], Side::Out, value, &filter)?);
        library[which].push(begin.elapsed());
    }
    let of = |latencies: &[Vec<Duration>; 2]| {
        let [none, ended] = [Stats::new(&latencies[0]), Stats::new(&latencies[1])];
        json!({ "none": none.json(), "ended": ended.json(), "ratio": ended.p50 / none.p50 })
    };
    Ok(json!({ "memql": of(&memql), "library": of(&library) }))
}

/// A value from a day on, which ends the one before it.
fn put(db: &Engraph, head: &str, day: u64) -> Result<()> {
    let from = Value::Timestamp(micros(BEGIN + day * 86_400));
    let given = [("h", Value::from(head)), ("t", Value::String(format!("t{day}"))), ("from", from)];
    db.execute("REMEMBER (:Entity $h)-[value]->(:Entity $t) VALID FROM $from", given)?;
    Ok(())
}
