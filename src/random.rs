//! Numbers that look random and depend on a seed alone, on every machine: for training, simulations and
//! structures that are to be the same each time.
//!
//! They are no secrets, and nothing of an answer hangs on chance.

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mixed(self.0)
    }

    /// A number above 0 and at most 1, in steps of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A number from 0 to `end` less one, `end` being small and not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A number from -1 to 1, never 1 itself.
    pub(crate) fn signed(&mut self) -> f32 {
        // 24 bits are what an f32 holds exactly.
        (self.next() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// So many numbers from -`size` to `size`.
    pub(crate) fn uniform(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| self.signed() * size).collect()
    }

    /// Puts the items into any order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

/// What the state grows by.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last step: every bit of a number counts for every bit of what comes out.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_reference_implementation() {
        let mut random = SplitMix64::new(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn units_lie_above_zero_and_at_most_at_one() {
        let mut random = SplitMix64::new(0);
        let units: Vec<f64> = (0..1000).map(|_| random.unit()).collect();
        assert!(units.iter().all(|unit| *unit > 0.0 && *unit <= 1.0));
        let mean = units.iter().sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..100).collect();
        SplitMix64::new(1).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        assert!(SplitMix64::new(2).uniform(1_000, 0.5).iter().all(|x| x.abs() <= 0.5));
    }
}
