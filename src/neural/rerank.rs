//! Models that read a question and a text together and say how well the text answers it.

use super::NeuralError;

/// Something that scores texts against a question.
pub trait Reranker: Send + Sync {
    /// Names the model and its weights.
    fn id(&self) -> &str;

    /// A finite score for each text, in their order; the larger, the better the text fits. It depends on no other text:
    /// of many, 256 are given at a time.
    ///
    /// # Errors
    ///
    /// [`NeuralError::NotFinite`] or [`NeuralError::Failed`]; then no score is given at all.
    fn score(&self, question: &str, texts: &[&str]) -> Result<Vec<f32>, NeuralError>;
}
