//! Models that answer questions from evidence, and how uncertain they are of the answer.
//!
//! A reader takes evidence only while it becomes surer by it (xMemory, stage II). It is never asked
//! for the answer itself.

use super::NeuralError;

/// A model that may be asked how uncertain it is.
pub trait ReaderModel: Send + Sync {
    /// Names the model and its weights.
    fn id(&self) -> &str;

    /// How uncertain the model is of its answer when it has read this evidence: the mean entropy of
    /// the tokens with which the answer begins, in nats. It is finite and not negative.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run.
    fn uncertainty(&self, question: &str, evidence: &[&str]) -> Result<f64, NeuralError>;
}
