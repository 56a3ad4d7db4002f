//! Boundaries made worse on purpose, to see how well a memory stands it (GAM, appendix C.3).
//!
//! For experiments and tests; nothing else uses it.

use super::{BoundaryDetector, Heard};
use crate::random::SplitMix64;

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
        let mut random = random_of(self.seed, turns);
        let mut boundaries = Vec::new();
        for place in self.inner.boundaries(turns) {
            let is_missed = happens(&mut random, self.noise.miss);
            let is_shifted = happens(&mut random, self.noise.shift);
            if !is_missed && is_shifted {
                let off = random.below(4);
                let place = if off < 2 { place + 1 + off } else { place.saturating_sub(off - 1) };
                boundaries.push(place.clamp(1, last.max(1)));
            } else if !is_missed {
                boundaries.push(place);
            }
            if happens(&mut random, self.noise.extra) {
                boundaries.push(1 + random.below(last.max(1)));
            }
        }
        boundaries.sort_unstable();
        boundaries.dedup();
        boundaries
    }
}

/// Numbers that depend on a seed, and on the times and lengths of the turns.
fn random_of(seed: u64, turns: &[Heard<'_>]) -> SplitMix64 {
    let seed = turns.iter().fold(seed, |seed, turn| {
        let at = turn.at.unwrap_or_default().cast_unsigned();
        SplitMix64::new(seed ^ at.rotate_left(17) ^ turn.tokens as u64).next()
    });
    SplitMix64::new(seed)
}

/// Whether something happens that has a probability.
fn happens(random: &mut SplitMix64, probability: f64) -> bool {
    random.unit() <= probability
}
