//! The one test binary: each further one would link RocksDB and candle again.

mod api;
mod cli;
mod docs;
mod history;
mod scripts;
mod shared_data;

use std::path::Path;
use std::sync::Arc;

use engraph::{Durability, Engraph, FixedEmbedder, Options};

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
