//! The numbers of the workload: splitmix64 addressed by position, and the hash of rows.
//!
//! Everything that the workload makes or checks comes from here, so it is the same on every machine.

/// Unix seconds of the first instant of the workload, 2020-01-01.
pub(super) const BEGIN: u64 = 1_577_836_800;
/// Seconds of a year, as the workload counts.
pub(super) const YEAR: u64 = 31_536_000;
/// Seconds from the first instant to the last.
pub(super) const SPAN: u64 = 5 * YEAR;
/// The instant of questions about now.
pub(super) const NOW: u64 = BEGIN + SPAN;
/// What stands for no end.
pub(super) const OPEN: u64 = 253_402_300_799;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The n-th output of splitmix64 with that seed.
pub(super) fn draw(seed: u64, n: u64) -> u64 {
    mix(seed.wrapping_add(n.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// The numbers of one thing that is made of eight.
pub(super) fn eight(seed: u64, thing: u64) -> [u64; 8] {
    std::array::from_fn(|place| draw(seed, 8 * thing + place as u64))
}

/// The hash of a row of numbers.
pub(super) fn hash(row: &[u64]) -> u64 {
    row.iter().fold(0, |hash, column| mix((hash ^ column).wrapping_add(GOLDEN)))
}

/// The checksum of a question's answers, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksum {
    /// Rows of all answers.
    pub(super) rows: u64,
    pub(super) sum: u64,
}

impl Checksum {
    /// Adds the next answer: how many rows it has, and the sum of their hashes.
    pub(super) fn add(&mut self, rows: u64, hashes: u64) {
        self.rows += rows;
        self.sum = mix((self.sum ^ rows).wrapping_add(GOLDEN));
        self.sum = mix((self.sum ^ hashes).wrapping_add(GOLDEN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_specification() {
        let first = [0, 1, 2].map(|n| draw(1, n));
        assert_eq!(first, [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67, 0xf893_a2ee_fb32_555e]);
        assert_eq!(hash(&[1, 2, 3]), 0xd073_4750_fde3_62b3);
    }
}
