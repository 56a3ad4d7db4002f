//! `engraph stats`: how much each column family holds, or a picture of what is in them.
//!
//! It opens the database for reading only, beside a writer or not.

use std::path::Path;

use engraph::{Engraph, FamilyStats, Options, Rows, Value};

use super::args::{Format, Stats, StatsFormat};
use super::layers::Layers;
use super::output::{Output, terminal_width};
use super::table::Cut;
use super::{Result, open_read_only, whole};

/// Prints the column families, and for a person their total.
pub(super) fn run(stats: &Stats, output: &mut Output) -> Result<()> {
    let db = open_read_only(&stats.db, Options::new(), output)?;
    if stats.html.is_some() || stats.svg.is_some() {
        let layers = Layers::read(&db)?;
        write(stats.html.as_deref(), || layers.html())?;
        return write(stats.svg.as_deref(), || layers.svg());
    }
    match stats.format {
        StatsFormat::Json => output.rows(&families(&db.stats()?), Format::Json, Cut::default())?,
        StatsFormat::Table => output.table(&with_total(&db)?, terminal_width())?,
    }
    Ok(())
}

/// Writes a picture, where one is wanted.
fn write(file: Option<&Path>, picture: impl FnOnce() -> String) -> Result<()> {
    file.map_or(Ok(()), |file| whole::write(file, picture().as_bytes()))
}

/// The column families and their total, for a person.
pub(super) fn with_total(db: &Engraph) -> Result<Rows> {
    let stats = db.stats()?;
    let mut rows = families(&stats);
    rows.rows.push(row("total", &total(&stats)));
    Ok(rows)
}

fn families(stats: &[FamilyStats]) -> Rows {
    let columns = ["family", "keys", "bytes", "table_bytes"].map(str::to_owned).to_vec();
    let rows = stats.iter().map(|family| row(family.family.name(), &counts(family))).collect();
    Rows { columns, rows, ..Rows::default() }
}

fn counts(family: &FamilyStats) -> [u64; 3] {
    [family.keys, family.bytes, family.table_bytes]
}

fn total(families: &[FamilyStats]) -> [u64; 3] {
    families
        .iter()
        .map(counts)
        .fold([0; 3], |sum, family| [sum[0] + family[0], sum[1] + family[1], sum[2] + family[2]])
}

fn row(name: &str, counts: &[u64]) -> Vec<Value> {
    let number = |&count: &u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    std::iter::once(Value::from(name)).chain(counts.iter().map(number)).collect()
}
