//! The parts of the engine, each alone: the language, the update rule, storage, and the operators of
//! plans. What they make together is measured by `engraph bench workload`.
//!
//! ```text
//! cargo bench --bench parts               all of them; some minutes
//! cargo bench --bench parts -- operator   those with that word in their name
//! ```
//!
//! The graph and all texts are made up, and come out the same each time.

mod language;
mod operators;
mod storage;

use std::error::Error;
use std::time::Duration;

use criterion::Criterion;

/// What a part gives back.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    language::run(&mut criterion)?;
    storage::run(&mut criterion)?;
    operators::run(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

/// Numbers that look random: splitmix64 by position.
fn draw(position: u64) -> u64 {
    let mut z = position.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
