//! Makes the database of the workload: entities with their vectors, then the facts from a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use engraph::import::{CsvOptions, csv};
use engraph::{Engraph, Value};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::facts::{Fact, Facts, INTENTS, RELATIONS, SINGLE, key, vector};
use super::machine::{folder_bytes, resident_peak};
use super::numbers::OPEN;
use crate::cli::{Failure, Result};

/// Entities of one transaction.
const BATCH: u64 = 10_000;

/// Loads everything into a new database, and times the facts alone; then the same facts again, which
/// change nothing.
pub(super) fn load(folder: &Path, table: &Path, facts: &Facts) -> Result<Json> {
    let db = Engraph::open(folder)?;
    entities(&db, facts.entities)?;
    db.settle()?;
    let before = folder_bytes(folder);
    let count = facts.rows.len() as u64;
    let seconds = timed(&db, table, "facts inserted", count)?;
    db.settle()?;
    drop(db);
    let (disk, rss) = (folder_bytes(folder), resident_peak());
    let again = timed(&Engraph::open(folder)?, table, "facts unchanged", count)?;
    Ok(json!({
        "facts_per_s": (count as f64 / seconds).round(),
        "seconds": seconds,
        "again_per_s": (count as f64 / again).round(),
        "disk": disk,
        "disk_before": before,
        "rss": rss,
    }))
}

/// The seconds of a load, of whose facts so many are to come to that.
fn timed(db: &Engraph, table: &Path, what: &str, count: u64) -> Result<f64> {
    let start = Instant::now();
    let report = csv(db, table, &CsvOptions::default(), &mut |_, _| ())?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(refused) = report.refused.first() {
        return Err(Failure::Other(format!("line {}: {}", refused.line, refused.reason)));
    }
    match report.stored.contains(&(what, count)) {
        true => Ok(seconds),
        false => Err(Failure::Other(format!("{count} {what} expected, not {:?}", report.stored))),
    }
}

/// The relations, and the entities in order.
fn entities(db: &Engraph, count: u64) -> Result<()> {
    for relation in 0..RELATIONS {
        let cardinality = if relation < SINGLE { "ONE" } else { "MANY" };
        let text = format!("DEFINE RELATION r{relation} CARDINALITY {cardinality} THRESHOLD 0");
        db.execute(&text, ())?;
    }
    for first in (0..count).step_by(BATCH as usize) {
        let mut transaction = db.begin()?;
        for entity in first..count.min(first + BATCH) {
            let numbers = vector(entity).into_iter().map(|x| Value::Int(x as i64)).collect();
            let given = [("k", Value::String(key(entity))), ("v", Value::List(numbers))];
            transaction.execute("REMEMBER (:Entity $k {v: $v})", given)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Writes the facts as a table, in their order.
pub(super) fn write_table(facts: &Facts, file: &Path) -> Result<()> {
    let written = (|| {
        let mut out = BufWriter::new(File::create(file)?);
        writeln!(out, "head,tail,relation,valid_from,valid_to,confidence,intent")?;
        facts.rows.iter().try_for_each(|fact| writeln!(out, "{}", line(fact)))?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    })();
    written.map_err(|error| Failure::of_file(file, &error))
}

fn line(fact: &Fact) -> String {
    let instant = |seconds: u64| {
        Timestamp::from_second(seconds.cast_signed())
            .map_or_else(|_| String::new(), |t| t.to_string())
    };
    // A later fact closes an earlier one of a relation that takes one value: the file does not say so.
    let to = match fact.relation < SINGLE || fact.to == OPEN {
        true => String::new(),
        false => instant(fact.to),
    };
    let sure = fact.confidence as f64 / 1024.0;
    let intent = INTENTS.get(fact.intent as usize).copied().unwrap_or_default();
    let (head, tail) = (fact.head, fact.tail);
    format!("e{head},e{tail},r{},{},{to},{sure:.10},{intent}", fact.relation, instant(fact.from))
}
