//! Random choices that come back from their seed, and how many of them a test makes.

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number under `end`.
    pub(super) fn under(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Once in so many.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.under(times) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.under(from.len())]
    }
}

/// How many cases: `short` by default, `long` times `ENGRAPH_SOAK` where that is set.
pub(super) fn count(short: u64, long: u64) -> u64 {
    match std::env::var("ENGRAPH_SOAK") {
        Ok(factor) if !factor.is_empty() => {
            let factor: f64 = factor.parse().expect("ENGRAPH_SOAK is a number");
            ((long as f64 * factor) as u64).max(short)
        }
        _ => short,
    }
}

/// The first seed: `ENGRAPH_SEED`, or always the same.
pub(super) fn seed() -> u64 {
    std::env::var("ENGRAPH_SEED").map_or(1, |seed| seed.parse().expect("ENGRAPH_SEED is a number"))
}
