//! What a question's tokens become before they are held against the tokens of texts.
//!
//! An embedder is trained to put like texts beside each other, and a question is not like its answer:
//! "Which cities has she been to?" and "Rome was so hot!" share nothing. A query adapter moves each
//! token of a question a little, towards tokens of texts that answered such questions, and says how
//! much each counts. Texts stay as they are stored.
//!
//! ```text
//! x'          unit(x + B A x), with A (rank, dimensions) and B (dimensions, rank)
//! importance  softmax over the question's tokens of  g . x
//! ```
//!
//! (The low-rank form is that of Hu and others, "LoRA", 2021, eq. 3, on the output of a model that is
//! left alone.) It runs without any framework, and it never sees a text.

mod fit;

use std::sync::{Arc, LazyLock};

pub(crate) use fit::{Lesson, Pace, fit};

use super::bytes::{Reader, Writer};
use super::{NeuralError, TokenVectors, dot, to_unit};

/// Trained by `engraph eval locomo FILE --cross-validate --adapter FILE` on conversations 26, 30, 41,
/// 42 and 43 of LoCoMo.
const TRAINED: &[u8] = include_bytes!("trained.bin");
static BUILT_IN: LazyLock<Option<Arc<QueryAdapter>>> =
    LazyLock::new(|| QueryAdapter::from_bytes(TRAINED).ok().map(Arc::new));

/// What a stored adapter begins with: its name and the version of the form.
const MAGIC: &[u8; 5] = b"EGQA\x01";
/// The longest name of a model, in bytes.
const MODEL_BYTES_MAX: usize = 1 << 10;
/// The most numbers of a vector, and the largest rank.
const SIZE_MAX: usize = 1 << 14;

/// Moves the tokens of a question towards those of texts that answer it, and says how much each
/// counts.
///
/// It belongs to one embedder. `engraph eval locomo FILE --cross-validate --adapter FILE` trains one
/// on conversations of your own, and [`Options::query_adapter`](crate::Options::query_adapter) takes
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryAdapter {
    /// The id of the embedder.
    model: String,
    dimensions: usize,
    rank: usize,
    /// A: `rank` rows of `dimensions` numbers.
    down: Vec<f32>,
    /// B, its columns as rows: `rank` rows of `dimensions` numbers.
    up: Vec<f32>,
    /// g: `dimensions` numbers.
    importance: Vec<f32>,
}

impl QueryAdapter {
    /// The one that comes with Engraph, for all-MiniLM-L6-v2.
    pub(crate) fn built_in() -> Option<&'static Arc<Self>> {
        BUILT_IN.as_ref()
    }

    /// The id of the embedder whose tokens it takes.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How many numbers a token has that it takes.
    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The tokens of a question where the adapter puts them, each of length 1, and how much each
    /// counts: shares that sum to 1. Tokens of another width stay as they are and count alike.
    pub(crate) fn apply(&self, question: &TokenVectors) -> (TokenVectors, Vec<f32>) {
        if question.dimensions != self.dimensions {
            return (question.clone(), even_shares(question.len()));
        }
        let mut moved = question.clone();
        for row in moved.values.chunks_exact_mut(self.dimensions) {
            let place: Vec<f32> = row.iter().zip(self.shift(row)).map(|(x, by)| x + by).collect();
            row.copy_from_slice(&place);
            to_unit(row);
        }
        let logits = question.rows().map(|row| dot(&self.importance, row)).collect();
        (moved, softmax(logits))
    }

    /// B A x
    fn shift(&self, x: &[f32]) -> Vec<f32> {
        let mut by = vec![0.0; self.dimensions];
        for (down, up) in self.down.chunks(self.dimensions).zip(self.up.chunks(self.dimensions)) {
            add(&mut by, dot(down, x), up);
        }
        by
    }

    /// The adapter as bytes, for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC);
        writer.text(&self.model);
        writer.u32(self.dimensions as u32);
        writer.u32(self.rank as u32);
        let numbers = [&self.down, &self.up, &self.importance];
        numbers.into_iter().flatten().for_each(|x| writer.f32(*x));
        writer.done()
    }

    /// The adapter that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Stored`] if the bytes are no adapter.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NeuralError> {
        let read = || -> Result<Self, String> {
            let mut reader = Reader::new(bytes, MAGIC)?;
            let model = reader.text(MODEL_BYTES_MAX)?;
            let dimensions = reader.size("the width of a vector", 1, SIZE_MAX)?;
            let rank = reader.size("the rank", 0, SIZE_MAX)?;
            let down = reader.f32s(rank * dimensions)?;
            let up = reader.f32s(rank * dimensions)?;
            let importance = reader.f32s(dimensions)?;
            reader.done()?;
            Ok(Self { model, dimensions, rank, down, up, importance })
        };
        read().map_err(|reason| NeuralError::Stored { reason })
    }
}

/// The same share for each of some tokens.
pub(crate) fn even_shares(tokens: usize) -> Vec<f32> {
    vec![1.0 / tokens.max(1) as f32; tokens]
}

/// The share of each in what their exponentials add up to.
pub(crate) fn softmax(mut logits: Vec<f32>) -> Vec<f32> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f32 = logits.iter().sum();
    logits.iter_mut().for_each(|x| *x /= sum);
    logits
}

/// Adds a multiple of a vector to another.
fn add(to: &mut [f32], times: f32, vector: &[f32]) {
    to.iter_mut().zip(vector).for_each(|(to, x)| *to += times * x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves what lies along the first axis towards the second.
    fn adapter() -> QueryAdapter {
        QueryAdapter {
            model: "test:1".to_owned(),
            dimensions: 2,
            rank: 1,
            down: vec![1.0, 0.0],
            up: vec![0.0, 1.0],
            importance: vec![0.0, 2.0_f32.ln()],
        }
    }

    #[test]
    fn tokens_are_moved_and_weighed() {
        let question = TokenVectors { dimensions: 2, values: vec![1.0, 0.0, 0.0, 1.0] };
        let (moved, importance) = adapter().apply(&question);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        assert_eq!(moved.values, [half, half, 0.0, 1.0]);
        assert!((importance[0] - 1.0 / 3.0).abs() < 1e-6 && importance.len() == 2);
    }

    #[test]
    fn tokens_of_another_model_stay_as_they_are() {
        let question = TokenVectors { dimensions: 3, values: vec![1.0, 0.0, 0.0] };
        assert_eq!(adapter().apply(&question), (question, vec![1.0]));
        let none = TokenVectors { dimensions: 2, values: Vec::new() };
        assert_eq!(adapter().apply(&none), (none, Vec::new()));
    }

    #[test]
    fn bytes_are_read_back_and_others_refused() {
        let bytes = adapter().to_bytes();
        assert_eq!(QueryAdapter::from_bytes(&bytes).unwrap(), adapter());
        for end in 0..bytes.len() {
            assert!(QueryAdapter::from_bytes(&bytes[..end]).is_err(), "{end}");
        }
        let numbers = bytes.len() - 4;
        let broken = [&bytes[..numbers], &f32::NAN.to_le_bytes()].concat();
        assert!(QueryAdapter::from_bytes(&broken).is_err());
        let large = [MAGIC.as_slice(), &u32::MAX.to_le_bytes(), &bytes[9..]].concat();
        assert!(QueryAdapter::from_bytes(&large).is_err());
    }

    #[test]
    fn the_one_that_is_built_in_is_whole() {
        let adapter = QueryAdapter::built_in().unwrap();
        assert_eq!(adapter.model(), "all-MiniLM-L6-v2:53aa51172d14");
        assert_eq!((adapter.dimensions, adapter.to_bytes().as_slice()), (768, TRAINED));
    }
}
