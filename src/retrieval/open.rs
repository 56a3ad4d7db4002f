//! What evidence leaves open of a question, without a model: how uncertain a reader is (xMemory,
//! stage II).
//!
//! Half of it are the words of the question that no evidence has, each with its weight; half is
//! what is left of the question's embedding once the directions of the evidence are taken out of it
//! (matching pursuit: Mallat and Zhang 1993). What says nothing new so lowers nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::words::content;

/// Pieces in a row that lower the uncertainty too little before no more are looked at.
const FAILURES_MAX: usize = 3;

/// A piece of evidence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    words: BTreeSet<String>,
    /// Its embedding, of length 1.
    vector: Option<std::sync::Arc<[f32]>>,
}

impl Piece {
    pub(crate) fn new(text: &str, vector: Option<std::sync::Arc<[f32]>>) -> Self {
        Self { words: content(text).into_iter().collect(), vector }
    }
}

/// What is open of a question.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// The words that no evidence has.
    words: BTreeMap<String, f64>,
    /// The weight of all words.
    weight: f64,
    /// What is left of the embedding.
    rest: Vec<f32>,
}

impl Open {
    /// All of a question. A word weighs more, the fewer of the pieces have it.
    pub(crate) fn new(question: &str, vector: &[f32], among: &[Piece]) -> Self {
        let weight = |word: &String| {
            let with = among.iter().filter(|piece| piece.words.contains(word)).count();
            (1.0 + among.len().max(1) as f64 / with.max(1) as f64).ln()
        };
        let words: BTreeMap<String, f64> =
            content(question).into_iter().map(|word| (word.clone(), weight(&word))).collect();
        let weight = words.values().sum();
        Self { words, weight, rest: vector.to_vec() }
    }

    /// The share that is open, from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        let rest = square(&self.rest).clamp(0.0, 1.0);
        match self.weight > 0.0 {
            true => 0.5 * self.words.values().sum::<f64>() / self.weight + 0.5 * rest,
            false => rest,
        }
    }

    /// What would be open with this piece as well.
    pub(crate) fn with(&self, piece: &Piece) -> Self {
        let mut open = self.clone();
        open.words.retain(|word, _| !piece.words.contains(word));
        let vector = piece.vector.as_deref().filter(|vector| vector.len() == open.rest.len());
        if let Some(vector) = vector {
            let shared = product(&open.rest, vector).max(0.0);
            open.rest.iter_mut().zip(vector).for_each(|(rest, x)| *rest -= (shared as f32) * x);
        }
        open
    }
}

fn square(vector: &[f32]) -> f64 {
    product(vector, vector)
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    let product = f64::from(crate::neural::dot(a, b));
    if product.is_finite() { product } else { 0.0 }
}

/// Decides what is admitted: what lowers the uncertainty by a share of the first one.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    least: f64,
    now: f64,
    failures: usize,
}

impl Gate {
    /// Before the first piece.
    pub(crate) fn new(first: f64, threshold: f64) -> Self {
        Self { least: threshold * first, now: first, failures: 0 }
    }

    /// How uncertain the reader is.
    pub(crate) fn now(&self) -> f64 {
        self.now
    }

    /// By how much a piece lowers the uncertainty, if it is admitted.
    pub(crate) fn admit(&mut self, after: f64) -> Option<f64> {
        let gain = self.now - after;
        if gain > 0.0 && gain >= self.least {
            self.now = after;
            self.failures = 0;
            return Some(gain);
        }
        self.failures += 1;
        None
    }

    /// Whether so much was in vain that nothing more is looked at.
    pub(crate) fn is_over(&self) -> bool {
        self.failures >= FAILURES_MAX
    }

    /// The failures so far no longer count.
    pub(crate) fn again(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, vector: &[f32]) -> Piece {
        Piece::new(text, Some(vector.into()))
    }

    #[test]
    fn words_and_meaning_are_half_each() {
        let open = Open::new("Who bakes bread?", &[1.0, 0.0], &[]);
        assert_eq!(open.share(), 1.0);
        let words = open.with(&piece("the bread was baked", &[0.0, 1.0]));
        assert_eq!(words.share(), 0.5);
        let meaning = open.with(&piece("a loaf", &[0.6, 0.8]));
        assert!((meaning.share() - 0.5 - 0.5 * 0.64).abs() < 1e-6);
        assert!(words.with(&piece("", &[1.0, 0.0])).share().abs() < 1e-6);
        // Without words that say something, the meaning is all.
        let silent = Open::new("What of it?", &[1.0, 0.0], &[]);
        assert!(silent.with(&piece("", &[1.0, 0.0])).share() < 1e-6);
    }

    #[test]
    fn a_repeat_lowers_nothing() {
        let open = Open::new("Who bakes bread?", &[0.6, 0.8], &[]);
        let once = open.with(&piece("Nora bakes", &[1.0, 0.0]));
        assert!(once.share() < open.share());
        let twice = once.with(&piece("Nora bakes", &[1.0, 0.0]));
        assert!((once.share() - twice.share()).abs() < 1e-9);
        // Nor does what speaks against it, or another model's vector.
        assert_eq!(once.with(&piece("Nora", &[0.0, -1.0])).share(), once.share());
        assert_eq!(once.with(&piece("Nora", &[1.0])).share(), once.share());
        assert_eq!(once.with(&Piece::new("Nora", None)).share(), once.share());
    }

    #[test]
    fn rare_words_weigh_more() {
        let texts = ["Nora sells tea", "Nora sleeps", "Nora bakes"];
        let among = texts.map(|text| Piece::new(text, None));
        let open = Open::new("Does Nora bake?", &[], &among);
        let name = open.with(&among[1]).share();
        let rare = open.with(&piece("somebody bakes", &[])).share();
        assert!(rare < name && name < open.share(), "{rare} {name}");
    }

    #[test]
    fn what_lowers_too_little_is_left_out_and_ends_it() {
        let mut gate = Gate::new(2.0, 0.1);
        assert_eq!(gate.admit(1.9), None);
        assert_eq!(gate.admit(1.75), Some(0.25));
        assert_eq!(gate.now(), 1.75);
        for _ in 0..FAILURES_MAX {
            assert!(!gate.is_over());
            assert_eq!(gate.admit(1.8), None);
        }
        assert!(gate.is_over());
        gate.again();
        assert!(!gate.is_over());
        assert_eq!(gate.admit(f64::NAN), None);
    }
}
