//! Vectors in a byte a component, and how far a score by them may be off.
//!
//! A vector `v` is kept as whole numbers `c` in -127..=127 and a scale, so that `v ≈ scale * c`
//! with the same scale for all components (symmetric scalar quantisation). A query has 16 bits a
//! component or fewer, as many as its sums leave room for. Products are summed exactly in 32 bits.
//!
//! ```text
//! |q·v - q'·v'| = |(q - q')·v + q'·(v - v')| <= |q - q'| |v| + |q'| |v - v'|      (Cauchy, Schwarz)
//! ```
//!
//! where `q'` and `v'` are what the codes stand for. `|v|` and `|v - v'|` are kept with the codes,
//! so every score comes with a bound of its error: what is ruled out by it is ruled out for sure.
//!
//! It knows nothing of nodes or of the disk.

use std::hint::black_box;

use pulp::{Arch, Simd, WithSimd};

/// The largest code.
const CODE_MAX: f32 = 127.0;
/// A row of codes is filled up with zeros to a multiple of this, so that registers are full.
const ROW: usize = 32;
/// Bytes that the processor fetches from memory at once.
const LINE: usize = 64;
/// The most components; the sums of more would not fit.
pub(crate) const DIMENSIONS_MAX: usize = 1 << 16;

/// What goes with the codes of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scale {
    /// What a code of 1 stands for.
    scale: f32,
    /// The length of the vector.
    norm: f32,
    /// The length of what the codes leave out.
    error: f32,
}

impl Scale {
    /// Whether the vector has nearly the length 1, so that products are cosines.
    pub(crate) fn is_unit(&self) -> bool {
        (self.norm - 1.0).abs() < 0.01
    }
}

/// Vectors as rows of codes, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    dimensions: usize,
    row: usize,
    codes: Vec<i8>,
    scales: Vec<Scale>,
}

impl Codes {
    /// No vectors yet, of so many components each.
    pub(crate) fn new(dimensions: usize) -> Self {
        let row = dimensions.next_multiple_of(ROW).max(ROW);
        Self { dimensions, row, codes: Vec::new(), scales: Vec::new() }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn scale(&self, at: usize) -> Scale {
        self.scales.get(at).copied().unwrap_or_default()
    }

    /// Adds a vector of finite numbers.
    pub(crate) fn push(&mut self, vector: &[f32]) {
        let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = largest / CODE_MAX;
        let begin = self.codes.len();
        self.codes.extend(vector.iter().take(self.dimensions).map(|x| code(*x, scale)));
        self.codes.resize(begin + self.row, 0);
        let (mut norm, mut error) = (0.0_f64, 0.0_f64);
        for (x, code) in vector.iter().zip(&self.codes[begin..]) {
            let left = f64::from(*x) - f64::from(scale) * f64::from(*code);
            norm += f64::from(*x) * f64::from(*x);
            error += left * left;
        }
        self.scales.push(Scale { scale, norm: norm.sqrt() as f32, error: error.sqrt() as f32 });
    }

    /// Overwrites a vector with zeros.
    pub(crate) fn erase(&mut self, at: usize) {
        let begin = at.saturating_mul(self.row);
        if let Some(row) = self.codes.get_mut(begin..begin.saturating_add(self.row)) {
            row.fill(0);
        }
        if let Some(scale) = self.scales.get_mut(at) {
            *scale = Scale::default();
        }
    }

    /// The codes of a vector.
    pub(crate) fn row(&self, at: usize) -> &[i8] {
        let begin = at.saturating_mul(self.row);
        self.codes.get(begin..begin.saturating_add(self.row)).unwrap_or_default()
    }

    /// The codes of a run of vectors.
    fn rows(&self, from: usize, to: usize) -> &[i8] {
        let [from, to] = [from, to].map(|at| at.saturating_mul(self.row));
        self.codes.get(from..to).unwrap_or_default()
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.codes.capacity() + self.scales.capacity() * size_of::<Scale>()
    }
}

fn code(x: f32, scale: f32) -> i8 {
    if scale > 0.0 { (x / scale).round().clamp(-CODE_MAX, CODE_MAX) as i8 } else { 0 }
}

/// A score by codes, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounded {
    pub(crate) score: f32,
    pub(crate) error: f32,
}

/// What vectors are compared with.
pub(crate) struct Query {
    dimensions: usize,
    codes: Vec<i16>,
    scale: f32,
    /// The length of what the codes stand for.
    norm: f32,
    /// What `|v|` is multiplied by in the bound.
    per_norm: f32,
    arch: Arch,
}

impl Query {
    /// A query of finite numbers.
    pub(crate) fn new(query: &[f32]) -> Self {
        // No sum of products may pass 32 bits.
        let room = i32::MAX as usize / (CODE_MAX as usize * query.len().max(1));
        let code_max = room.min(i16::MAX as usize) as f32;
        let largest = query.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = largest / code_max;
        let whole = |x: &f32| match scale > 0.0 {
            true => (x / scale).round().clamp(-code_max, code_max) as i16,
            false => 0,
        };
        let mut codes: Vec<i16> = query.iter().map(whole).collect();
        codes.resize(query.len().next_multiple_of(ROW).max(ROW), 0);
        let (mut norm, mut left) = (0.0_f64, 0.0_f64);
        for (x, code) in query.iter().zip(&codes) {
            let stands_for = f64::from(scale) * f64::from(*code);
            norm += stands_for * stands_for;
            left += (f64::from(*x) - stands_for).powi(2);
        }
        let (norm, left) = (norm.sqrt() as f32, left.sqrt() as f32);
        // What is exact is a sum in 32-bit floats: each of its steps rounds.
        let rounding = (query.len() + 16) as f32 * f32::EPSILON * (norm + left);
        let (dimensions, per_norm) = (query.len(), left + rounding);
        Self { dimensions, codes, scale, norm, per_norm, arch: Arch::new() }
    }

    /// The vector at a place as a query. Its scores are without a bound.
    pub(crate) fn of(codes: &Codes, at: usize) -> Self {
        let wide = codes.row(at).iter().copied().map(i16::from).collect();
        let Scale { scale, norm, .. } = codes.scale(at);
        let dimensions = codes.dimensions;
        Self { dimensions, codes: wide, scale, norm, per_norm: 0.0, arch: Arch::new() }
    }

    /// Whether these vectors have the same number of components.
    pub(crate) fn fits(&self, codes: &Codes) -> bool {
        self.dimensions == codes.dimensions
    }

    /// The sums of the vectors `from..to`, one after the other, into `sums`.
    pub(crate) fn sums(&self, codes: &Codes, from: usize, to: usize, sums: &mut Vec<i32>) {
        sums.clear();
        sums.resize(to.saturating_sub(from), 0);
        self.arch.dispatch(Run { query: &self.codes, codes: codes.rows(from, to), sums });
    }

    /// The scores of the vectors at these places, into `scores`.
    pub(crate) fn scores(&self, codes: &Codes, places: &[u32], scores: &mut Vec<f32>) {
        scores.clear();
        scores.resize(places.len(), 0.0);
        self.arch.dispatch(Scattered { query: self, codes, places, scores });
    }

    /// The score of a vector that has this sum.
    pub(crate) fn bounded(&self, sum: i32, scale: Scale) -> Bounded {
        self.with_error(sum as f32 * (self.scale * scale.scale), scale)
    }

    /// How far that score of a vector may be off.
    pub(crate) fn with_error(&self, score: f32, scale: Scale) -> Bounded {
        let error = self.norm * scale.error + self.per_norm * scale.norm + f32::MIN_POSITIVE;
        match score.is_finite() && error.is_finite() {
            true => Bounded { score, error },
            false => Bounded { score: 0.0, error: f32::INFINITY },
        }
    }

    /// Whether some vector of `kept` is nearer to the query than that.
    pub(crate) fn has_nearer(&self, codes: &Codes, kept: &[u32], than: f32) -> bool {
        self.arch.dispatch(Nearer { query: self, codes, kept, than })
    }

    /// The score of the vector at a place.
    pub(crate) fn score(&self, codes: &Codes, at: usize) -> Bounded {
        let mut sum = [0];
        self.arch.dispatch(Run { query: &self.codes, codes: codes.row(at), sums: &mut sum });
        self.bounded(sum[0], codes.scale(at))
    }
}

/// A loop that is compiled for each set of instructions: the compiler makes of it what no loop in
/// other words was faster than.
#[inline(always)]
fn product(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

struct Run<'r> {
    query: &'r [i16],
    codes: &'r [i8],
    sums: &'r mut [i32],
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (row, sum) in self.codes.chunks_exact(self.query.len()).zip(self.sums) {
            *sum = product(self.query, row);
        }
    }
}

/// Touches what is far from each other before it is multiplied: the processor fetches many lines at
/// once, where it would wait for each in turn.
#[inline(always)]
fn fetch(codes: &Codes, places: &[u32]) {
    let touched = places.iter().fold(0, |all, place| {
        let place = *place as usize;
        let row = codes.row(place);
        let lines = row.iter().step_by(LINE).chain(row.last());
        lines.fold(all, |all, code| all | *code) | codes.scale(place).scale.to_bits() as i8
    });
    black_box(touched);
}

struct Scattered<'s> {
    query: &'s Query,
    codes: &'s Codes,
    places: &'s [u32],
    scores: &'s mut [f32],
}

impl WithSimd for Scattered<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        fetch(self.codes, self.places);
        for (place, score) in self.places.iter().zip(self.scores) {
            let place = *place as usize;
            let sum = product(&self.query.codes, self.codes.row(place));
            *score = sum as f32 * (self.query.scale * self.codes.scale(place).scale);
        }
    }
}

struct Nearer<'n> {
    query: &'n Query,
    codes: &'n Codes,
    kept: &'n [u32],
    than: f32,
}

impl WithSimd for Nearer<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        self.kept.iter().any(|place| {
            let place = *place as usize;
            let sum = product(&self.query.codes, self.codes.row(place));
            sum as f32 * (self.query.scale * self.codes.scale(place).scale) > self.than
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::neural::dot;

    proptest! {
        #[test]
        fn no_score_is_further_off_than_its_bound(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 1..200),
            scale in prop::sample::select(vec![0.0_f32, 1e-20, 1e-3, 1.0, 1e6]),
        ) {
            let (query, vector): (Vec<f32>, Vec<f32>) =
                pairs.into_iter().map(|(a, b)| (a, b * scale)).unzip();
            let mut codes = Codes::new(query.len());
            codes.push(&vector);
            let bounded = Query::new(&query).score(&codes, 0);
            let off = (bounded.score - dot(&query, &vector)).abs();
            prop_assert!(off <= bounded.error, "{} > {}", off, bounded.error);
            prop_assert!(bounded.error <= 0.01 * (query.len() as f32) * scale.max(1e-30));
        }
    }

    #[test]
    fn sums_of_the_longest_vectors_fit() {
        for dimensions in [1, 384, 4096, DIMENSIONS_MAX] {
            let vector = vec![-1.0_f32; dimensions];
            let mut codes = Codes::new(dimensions);
            codes.push(&vector);
            let bounded = Query::new(&vector).score(&codes, 0);
            let off = (bounded.score - dimensions as f32).abs();
            assert!(off <= bounded.error, "{dimensions}: {off} > {}", bounded.error);
        }
    }

    #[test]
    fn what_is_erased_is_zero() {
        let mut codes = Codes::new(2);
        codes.push(&[0.6, 0.8]);
        assert!(codes.row(0).iter().any(|code| *code != 0));
        codes.erase(0);
        assert!(codes.row(0).iter().all(|code| *code == 0));
        assert_eq!(codes.scale(0), Scale::default());
    }
}
