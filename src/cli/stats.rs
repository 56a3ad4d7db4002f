//! `engraph stats`: how much each column family holds.
//!
//! It opens the database for reading only, beside a writer or not.

use engraph::{FamilyStats, Options, Rows, Value};

use super::Result;
use super::args::{Format, Stats, StatsFormat};
use super::output::{Output, terminal_width};

/// Prints the column families, and for a person their total.
pub(super) fn run(stats: &Stats, output: &mut Output) -> Result<()> {
    let families = Options::new().open_read_only(&stats.db)?.stats()?;
    let columns = ["family", "keys", "bytes", "table_bytes"].map(str::to_owned).to_vec();
    let mut rows = Rows { columns, ..Rows::default() };
    rows.rows.extend(families.iter().map(|family| row(family.family.name(), &counts(family))));
    match stats.format {
        StatsFormat::Json => output.rows(&rows, Format::Json, None)?,
        StatsFormat::Table => {
            rows.rows.push(row("total", &total(&families)));
            output.table(&rows, terminal_width())?;
        }
    }
    Ok(())
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
