//! How much a row does, by which seed, and the line that it leaves.
//!
//! `ENGRAPH_SOAK=1` runs the long counts, another number so many times them. `ENGRAPH_SEED` sets
//! the seed. `ENGRAPH_RECORD` names a file to which every line is added.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::rng::Rng;

/// One row of the table of promises, as it runs.
pub(crate) struct Row {
    name: &'static str,
    /// What the row's choices follow from.
    pub(crate) seed: u64,
    begun: Instant,
    line: String,
}

impl Row {
    /// Begins a row.
    pub(crate) fn begin(name: &'static str) -> Self {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos());
        let seed = match std::env::var("ENGRAPH_SEED") {
            Ok(seed) => seed.parse().expect("ENGRAPH_SEED is a number"),
            Err(_) => Rng::new(clock() as u64).next() >> 32,
        };
        Self { name, seed, begun: Instant::now(), line: format!("row={name}") }
    }

    /// Adds a figure to its line.
    pub(crate) fn figure(&mut self, name: &str, value: impl Display) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = write!(self.line, " {name}={value}");
        self
    }

    /// Prints its line; the failures, if there are any, end the test.
    pub(crate) fn end(mut self, failures: &[String]) {
        let (seed, seconds) = (self.seed, self.begun.elapsed().as_secs_f32());
        self.figure("failures", failures.len());
        let line = format!("{} seed={seed} seconds={seconds:.1}\n", self.line);
        // Written past the capture of the test runner, so that the record is always there.
        let _ = std::io::stderr().write_all(line.as_bytes());
        if let Ok(path) = std::env::var("ENGRAPH_RECORD") {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the record is kept");
        }
        let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
        assert!(failures.is_empty(), "{}: {line}{}", self.name, shown.join("\n"));
    }
}

/// How often: `short` by default, `long` in a soak.
pub(crate) fn count(short: u64, long: u64) -> u64 {
    match std::env::var("ENGRAPH_SOAK") {
        Ok(factor) if !factor.is_empty() => {
            let factor: f64 = factor.parse().expect("ENGRAPH_SOAK is a number");
            ((long as f64 * factor) as u64).max(short)
        }
        _ => short,
    }
}

/// A folder that is gone after the row, in memory where the system has such a place: what is
/// tested is the order of calls and not the disk.
pub(crate) fn scratch() -> TempDir {
    let memory = PathBuf::from("/dev/shm");
    let within = |folder: PathBuf| tempfile::Builder::new().prefix("engraph-").tempdir_in(folder);
    within(memory)
        .or_else(|_| within(std::env::temp_dir()))
        .expect("a folder for temporary files can be written")
}
