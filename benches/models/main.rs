//! How fast embedding, searching, generating and the other clauses with models are, as tables.
//!
//! ```text
//! make bench-models                            up to 100,000 nodes
//! ENGRAPH_BENCH=1000000 make bench-models      up to 1,000,000 nodes: half an hour, and 1 GB of memory
//! cargo bench --bench models -- search 50000   one part, embed, search, generate, beam, clauses or
//!                                              memory, at one size
//! LOCOMO=locomo10.json cargo bench --bench models -- memory   conversations of the LoCoMo benchmark
//! ```
//!
//! Everything goes through the public interface. Searches and `GENERATE` run on made-up texts with
//! made-up vectors, so that no model has to embed a million of them; the rest runs with
//! all-MiniLM-L6-v2. The same texts come out each time. Memory is told on Linux only.

mod beam;
mod clauses;
mod embed;
mod generate;
mod made_up;
mod measure;
mod memory;
mod search;
mod sentences;

use measure::{Result, Sizes};

/// A part of the bench.
type Part = fn(&Sizes) -> Result<()>;

/// The parts by name, in order.
const PARTS: [(&str, Part); 6] = [
    ("embed", |_| embed::run()),
    ("search", search::run),
    ("generate", generate::run),
    ("beam", |_| beam::run()),
    ("clauses", |_| clauses::run()),
    ("memory", |_| memory::run()),
];

fn main() -> Result<()> {
    let most = std::env::var("ENGRAPH_BENCH").map_or(Ok(100_000), |most| most.parse())?;
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let named: Vec<u64> = asked.iter().filter_map(|asked| asked.parse().ok()).collect();
    let all = asked.len() == named.len();
    println!("{}", measure::machine());
    let sizes = Sizes { most, named };
    for (name, run) in PARTS {
        if all || asked.iter().any(|asked| asked == name) {
            run(&sizes)?;
        }
    }
    Ok(())
}
