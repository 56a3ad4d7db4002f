//! The vectors of the tokens of a text, a bit a component, and how near a question's are to them.
//!
//! A bit says whether a component is positive. The question keeps its numbers, in 64 steps, so only
//! one side is coarse (Gao and Long, "RaBitQ", 2024): evidence recall by late interaction falls by
//! less than half a point, at a thirty-second of the bytes.
//!
//! ```text
//! question . sign(text)  =  2 * sum of the components whose bit is set  -  sum of all
//! sum where set          =  low * ones(bits)  +  step * sum over planes p of 2^p * ones(plane & bits)
//! ```

use pulp::{Arch, Simd, WithSimd};

use super::TokenVectors;

/// Bits of a component of the question.
const PLANES: usize = 6;
const STEPS: f32 = ((1 << PLANES) - 1) as f32;
/// Components in a word of the machine.
const WORD: usize = 64;
/// The cosine of a vector and its own signs, if its components are spread as by chance: the root of
/// 2 / pi. A cosine with the signs is as much smaller than the one with the vector; where parts of a
/// vector are longer than others, a little more (0.757 where one half is half as long).
const OF_ITSELF: f32 = 0.797_884_6;

/// The codes of the tokens of a text, one after another.
pub(crate) fn encode(vectors: &TokenVectors) -> Vec<u8> {
    let mut codes = Vec::with_capacity(vectors.len() * code_bytes(vectors.dimensions));
    for row in vectors.rows() {
        codes.extend(row.chunks(8).map(|eight| {
            let bits = eight.iter().enumerate().map(|(bit, x)| u8::from(*x > 0.0) << bit);
            bits.fold(0, |byte, bit| byte | bit)
        }));
    }
    codes
}

/// The bytes of the code of one token.
fn code_bytes(dimensions: usize) -> usize {
    dimensions.div_ceil(8)
}

/// A question, ready to be held against codes.
pub(crate) struct SignQuery {
    dimensions: usize,
    tokens: Vec<Token>,
}

/// A token of a question: its components in steps, a plane of bits for each power of two.
struct Token {
    /// The words of the first plane, then those of the second, and so on.
    planes: Vec<u64>,
    low: f32,
    step: f32,
    sum: f32,
}

impl SignQuery {
    /// A question by the vectors of its tokens.
    pub(crate) fn new(question: &TokenVectors) -> Self {
        let tokens = question.rows().map(Token::new).collect();
        Self { dimensions: question.dimensions, tokens }
    }

    /// The mean over the question's tokens of the largest cosine with a token of the text, as far as
    /// its signs tell, from -1 to 1; 0 where there is nothing to compare. It is about what
    /// [`max_sim`](super::max_sim) gives for the vectors.
    pub(crate) fn max_sim(&self, codes: &[u8]) -> f32 {
        let near = self.nearest(codes);
        let mean = near.iter().sum::<f32>() / near.len().max(1) as f32;
        (mean / OF_ITSELF).clamp(-1.0, 1.0)
    }

    /// For each token of the question, how near the nearest token of the text is, about as a cosine;
    /// 0 for each if the text has no tokens, or codes of another length.
    pub(crate) fn nearest(&self, codes: &[u8]) -> Vec<f32> {
        self.nearest_at(codes).into_iter().map(|(near, _)| near).collect()
    }

    /// The same with the place of that token in the text.
    pub(crate) fn nearest_at(&self, codes: &[u8]) -> Vec<(f32, usize)> {
        let bytes = code_bytes(self.dimensions);
        if bytes == 0 || codes.is_empty() || !codes.len().is_multiple_of(bytes) {
            return vec![(0.0, 0); self.tokens.len()];
        }
        let mut best = vec![(f32::NEG_INFINITY, 0); self.tokens.len()];
        Arch::new().dispatch(Nearest { query: self, codes, bytes, best: &mut best });
        let length = (self.dimensions as f32).sqrt();
        best.iter().map(|(dot, place)| ((dot / length).clamp(-1.0, 1.0), *place)).collect()
    }
}

/// The search for the nearest tokens of a text, with an instruction that counts bits where the
/// processor has one.
struct Nearest<'n> {
    query: &'n SignQuery,
    codes: &'n [u8],
    /// Of the code of a token.
    bytes: usize,
    best: &'n mut [(f32, usize)],
}

impl WithSimd for Nearest<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut words = vec![0; self.query.dimensions.div_ceil(WORD)];
        for (place, code) in self.codes.chunks_exact(self.bytes).enumerate() {
            read_words(code, &mut words);
            let ones = count(words.iter().copied());
            for (token, best) in self.query.tokens.iter().zip(self.best.iter_mut()) {
                let near = token.dot(&words, ones);
                if near > best.0 {
                    *best = (near, place);
                }
            }
        }
    }
}

impl Token {
    fn new(row: &[f32]) -> Self {
        let low = row.iter().copied().fold(f32::INFINITY, f32::min);
        let high = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = if high > low { (high - low) / STEPS } else { 1.0 };
        let words = row.len().div_ceil(WORD);
        let mut planes = vec![0; PLANES * words];
        for (place, x) in row.iter().enumerate() {
            // From 0 to 63, so nothing is lost.
            let steps = ((x - low) / step).round() as u64;
            for plane in 0..PLANES {
                planes[plane * words + place / WORD] |= ((steps >> plane) & 1) << (place % WORD);
            }
        }
        Self { planes, low, step, sum: row.iter().sum() }
    }

    /// The dot product with a text's token of components 1 and -1.
    #[inline(always)]
    fn dot(&self, words: &[u64], ones: u32) -> f32 {
        let mut steps = 0;
        for (plane, bits) in self.planes.chunks_exact(words.len()).enumerate() {
            steps += count(bits.iter().zip(words).map(|(a, b)| a & b)) << plane;
        }
        2.0 * (self.low * ones as f32 + self.step * steps as f32) - self.sum
    }
}

/// How many bits are set.
#[inline(always)]
fn count(words: impl Iterator<Item = u64>) -> u32 {
    words.map(u64::count_ones).sum()
}

/// The bits of a code as words.
#[inline(always)]
fn read_words(code: &[u8], words: &mut [u64]) {
    for (word, bytes) in words.iter_mut().zip(code.chunks(8)) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(eight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::{max_sim, to_unit};

    /// Vectors that look like nothing in particular.
    fn vectors(seed: u64, tokens: usize, dimensions: usize) -> TokenVectors {
        let mut state = seed;
        let mut values: Vec<f32> = (0..tokens * dimensions)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((state >> 40) as f32 / (1 << 24) as f32) - 0.5
            })
            .collect();
        for row in values.chunks_mut(dimensions) {
            to_unit(row);
        }
        TokenVectors { dimensions, values }
    }

    #[test]
    fn the_nearest_token_is_about_as_near_as_its_signs_say() {
        for dimensions in [3, 8, 64, 100, 384] {
            let (question, text) = (vectors(1, 4, dimensions), vectors(2, 9, dimensions));
            let found = SignQuery::new(&question).nearest(&encode(&text));
            for (row, near) in question.rows().zip(found) {
                let dot = |other: &[f32]| -> f32 {
                    let sign = |x: &f32| if *x > 0.0 { 1.0 } else { -1.0 };
                    row.iter().zip(other).map(|(a, b)| a * sign(b)).sum()
                };
                let best = text.rows().map(dot).fold(f32::NEG_INFINITY, f32::max);
                let exact = best / (dimensions as f32).sqrt();
                assert!((near - exact).abs() < 0.02, "{dimensions}: {near} for {exact}");
            }
        }
    }

    #[test]
    fn a_token_is_nearest_to_itself() {
        let text = vectors(3, 20, 384);
        let found = SignQuery::new(&text).nearest(&encode(&text));
        assert!(found.iter().all(|near| *near > 0.7), "{found:?}");
        let other = SignQuery::new(&text).nearest(&encode(&vectors(4, 20, 384)));
        assert!(other.iter().all(|near| *near < 0.3), "{other:?}");
    }

    #[test]
    fn signs_give_about_the_same_as_the_vectors() {
        let question = vectors(6, 5, 384);
        let mut near = vectors(7, 30, 384);
        // Each token of the question has one that is near to it in the text.
        for (place, x) in question.values.iter().enumerate() {
            near.values[place] += x;
        }
        near.values.chunks_mut(384).for_each(|row| assert!(to_unit(row)));
        let query = SignQuery::new(&question);
        for text in [&near, &vectors(8, 30, 384), &question] {
            let (by_signs, exact) = (query.max_sim(&encode(text)), max_sim(&question, text));
            assert!((by_signs - exact).abs() < 0.1, "{by_signs} for {exact}");
        }
        assert_eq!(query.max_sim(&[]), 0.0);
    }

    #[test]
    fn codes_of_another_length_are_far_from_everything() {
        let query = SignQuery::new(&vectors(5, 2, 64));
        assert_eq!(query.nearest(&[]), [0.0, 0.0]);
        assert_eq!(query.nearest(&[1, 2, 3]), [0.0, 0.0]);
    }
}
