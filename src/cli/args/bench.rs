//! What may be asked of `engraph bench`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// Facts of a workload at most: they begin one after the other within five years, a second apart at the least.
const FACTS_MAX: u64 = 100_000_000;

pub(in crate::cli) const BENCH_EXAMPLES: &str = "\
Examples:
  engraph bench workload --facts 1000000 --json figures.json
  engraph bench vectors";

/// `engraph bench`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Bench {
    #[command(subcommand)]
    pub(in crate::cli) kind: BenchKind,
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BenchKind {
    /// Loads facts, asks questions about them and writes more; checks every answer
    Workload(BenchWorkload),
    /// Stores 100,000 vectors and asks for the nearest of a thousand; tells how many were found
    Vectors(BenchVectors),
}

/// `engraph bench vectors`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BenchVectors {
    /// All figures as JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) json: Option<PathBuf>,
    /// The folder of the database and of the vectors, which stay there
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) keep: Option<PathBuf>,
}

/// `engraph bench workload`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BenchWorkload {
    /// How many facts; the answers are checked with 100,000 and 1,000,000
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1_000..=FACTS_MAX))]
    pub(in crate::cli) facts: u64,
    /// All figures as JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) json: Option<PathBuf>,
    /// The folder of the database, which stays there
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) keep: Option<PathBuf>,
    /// One phase alone; each is run in a process of its own
    #[arg(long, hide = true, requires = "keep")]
    pub(in crate::cli) phase: Option<Phase>,
}

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Phase {
    /// The facts as a file.
    Table,
    /// From the file into a new database.
    Load,
    /// A cold open.
    Open,
    /// All questions.
    Ask,
    /// What closed values cost.
    Overhead,
    /// Writes, each synced.
    Durable,
    /// Writes that are not synced.
    Fast,
    /// Are all facts there?
    Dump,
}

impl Phase {
    /// In the order in which they run.
    pub(in crate::cli) const ALL: [Self; 8] = [
        Self::Table,
        Self::Load,
        Self::Open,
        Self::Ask,
        Self::Overhead,
        Self::Durable,
        Self::Fast,
        Self::Dump,
    ];

    pub(in crate::cli) fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Load => "load",
            Self::Open => "open",
            Self::Ask => "ask",
            Self::Overhead => "overhead",
            Self::Durable => "durable",
            Self::Fast => "fast",
            Self::Dump => "dump",
        }
    }
}
