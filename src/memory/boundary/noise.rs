//! Boundaries made worse on purpose, to see how well a memory stands it (GAM, appendix C.3).
//!
//! For experiments and tests; nothing else uses it.

use super::{BoundaryDetector, Heard};

/// How often a boundary goes wrong, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The share of the boundaries that are missed.
    pub miss: f64,
    /// The share of those found that are one or two turns off, to either side.
    pub shift: f64,
    /// How many are found for each true one where there is none, at random places.
    pub extra: f64,
}

impl Noise {
    /// All three at one level, as GAM has it: 0 to 0.4 there.
    pub fn level(level: f64) -> Self {
        Self { miss: level, shift: level, extra: level }
    }
}

/// A detector whose boundaries are missed, shifted and made up at random.
///
/// What goes wrong depends on the seed and the turns alone, so that the same turns are always cut
/// the same. The limits of turns and tokens need not hold any more.
#[derive(Clone, Debug)]
pub struct Noisy<D> {
    inner: D,
    noise: Noise,
    seed: u64,
    id: String,
}

impl<D: BoundaryDetector> Noisy<D> {
    /// A detector with noise.
    pub fn new(inner: D, noise: Noise, seed: u64) -> Self {
        let Noise { miss, shift, extra } = noise;
        let id = format!("{} miss {miss} shift {shift} extra {extra} seed {seed}", inner.id());
        Self { inner, noise, seed, id }
    }
}

impl<D: BoundaryDetector> BoundaryDetector for Noisy<D> {
    fn id(&self) -> &str {
        &self.id
    }

    fn boundaries(&self, turns: &[Heard<'_>]) -> Vec<usize> {
        let last = turns.len().saturating_sub(1);
        let mut random = Random::of(self.seed, turns);
        let mut boundaries = Vec::new();
        for place in self.inner.boundaries(turns) {
            let is_missed = random.is(self.noise.miss);
            let is_shifted = random.is(self.noise.shift);
            if !is_missed && is_shifted {
                let off = random.below(4);
                let place = if off < 2 { place + 1 + off } else { place.saturating_sub(off - 1) };
                boundaries.push(place.clamp(1, last.max(1)));
            } else if !is_missed {
                boundaries.push(place);
            }
            if random.is(self.noise.extra) {
                boundaries.push(1 + random.below(last.max(1)));
            }
        }
        boundaries.sort_unstable();
        boundaries.dedup();
        boundaries
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
struct Random(u64);

impl Random {
    /// Numbers that depend on a seed, and on the times and lengths of the turns.
    fn of(seed: u64, turns: &[Heard<'_>]) -> Self {
        let mut random = Self(seed);
        for turn in turns {
            let at = turn.at.unwrap_or_default().cast_unsigned();
            random.0 ^= at.rotate_left(17) ^ turn.tokens as u64;
            random.0 = random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn is(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64 / (1_u64 << 53) as f64) < probability
    }

    /// A number from 0 to `end` less one, `end` being small and not 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}
