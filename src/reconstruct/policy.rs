//! What decides in a reconstruction: what to ask next (MRAgent, eq. 10), what of the answers to go on
//! from (eq. 12), and whether it is enough.

use super::operation::{Finding, Operation};
use super::state::Reconstruction;
use crate::neural::NeuralError;

/// What is to be asked next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The operations, the most wanted first. None says that nothing more is to be asked.
    pub operations: Vec<Operation>,
    /// What could not be understood of a model's answer, in words.
    pub refused: Vec<String>,
}

/// What decides. It sees the state and never the database; what it names that is not there is
/// refused, and told in the log.
///
/// One comes along without a model, [`ByScore`](super::ByScore), and one with a language model,
/// [`ModelPolicy`](super::ModelPolicy). Where that fails, [`ByScore`](super::ByScore) decides.
pub trait Policy: Send + Sync {
    /// Names it and its version; kept in the log.
    fn id(&self) -> &str;

    /// What to ask next.
    ///
    /// # Errors
    ///
    /// Those of the model that it asks.
    fn select(&self, state: &Reconstruction) -> Result<Selection, NeuralError>;

    /// Which of the findings of this step go on, by their places, and how promising each is, from 0
    /// to 1. Turns that do not are not kept as evidence.
    ///
    /// # Errors
    ///
    /// Those of the model that it asks.
    fn route(
        &self,
        state: &Reconstruction,
        findings: &[Finding],
    ) -> Result<Vec<(usize, f64)>, NeuralError>;

    /// Whether the evidence is enough.
    ///
    /// # Errors
    ///
    /// Those of the model that it asks.
    fn is_sufficient(&self, state: &Reconstruction) -> Result<bool, NeuralError>;
}
