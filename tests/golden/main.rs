//! The one test binary: each further one would link RocksDB and candle again.

mod api;
mod cli;
mod docs;
mod eval;
mod examples;
mod guidelines;
mod history;
mod isolation;
mod limits;
mod memory;
mod model;
mod naive;
mod pictures;
mod readme;
mod recipes;
mod retrieval;
mod rooms;
mod scripts;
mod sessions;
mod shared_data;
mod shell;
mod short;
mod shortest;
mod streams;
mod trace;
mod whole;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use engraph::{Durability, Engraph, FixedEmbedder, Options, Rows, Value};

/// A database that needs no model and waits for no disk.
fn open(folder: &Path) -> Engraph {
    Options::new()
        .durability(Durability::Buffered)
        .embedder(Arc::new(FixedEmbedder))
        .open(folder)
        .expect("opens")
}

/// A folder that goes with the test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// An answer as scripts and docs show it: warnings, columns, then a line a row.
fn table(rows: &Rows, indent: &str, out: &mut String) {
    for warning in &rows.warnings {
        writeln!(out, "warning: {warning}").expect("a string");
    }
    writeln!(out, "{}", rows.columns.join(" | ")).expect("a string");
    for row in &rows.rows {
        let cells: Vec<String> = row.iter().map(Value::to_string).collect();
        writeln!(out, "{indent}{}", cells.join(" | ")).expect("a string");
    }
}
