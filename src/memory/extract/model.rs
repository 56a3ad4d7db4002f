//! An extractor that asks a language model: from a folder, or behind an HTTP endpoint.
//!
//! What the model says is believed no more than what anybody says: it is read item by item, and what cannot be so is
//! left out.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Extraction, Extractor, KnownEntities, SourceTurn, answer, json, prompt};
#[cfg(feature = "http")]
use crate::neural::TokenUsage;
use crate::neural::{JsonModel, LanguageModel, NeuralError};

/// The longest answer, in tokens.
const TOKENS_MAX: u32 = 4_096;

/// An [`Extractor`] that asks a language model.
///
/// Of the turns it is shown 16 KiB at most, and 4 KiB of each; longer ones are cut, the longest first. A model from a
/// folder writes 4,096 tokens at most, and begins no statement that may not fit into them; the same turns give the same
/// answer. It may be shared between threads.
#[derive(Debug)]
pub struct ModelExtractor {
    model: JsonModel,
    left_out: AtomicU64,
}

impl ModelExtractor {
    /// Asks this model.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if it cannot run.
    pub fn new(model: LanguageModel) -> Result<Self, NeuralError> {
        Self::with(model, TOKENS_MAX)
    }

    fn with(model: LanguageModel, tokens_max: u32) -> Result<Self, NeuralError> {
        let model = JsonModel::new(model, (prompt::ID, prompt::TASK), tokens_max)?;
        Ok(Self { model, left_out: AtomicU64::new(0) })
    }

    /// The tokens spent so far behind an endpoint, on answers that could not be used too.
    #[cfg(feature = "http")]
    pub fn usage(&self) -> TokenUsage {
        self.model.usage()
    }

    /// How many items of the answers so far were left out, for they named a turn that is not there, a day that no
    /// calendar has, a confidence above 1, or the like.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// What is read of the answer about these turns.
    fn ask<T>(
        &self,
        turns: &[SourceTurn],
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, NeuralError> {
        let grammar = json::grammar(turns.len().min(prompt::TURNS_MAX));
        self.model.ask(&prompt::turns(turns), &grammar, read)
    }
}

impl Extractor for ModelExtractor {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        if turns.is_empty() {
            return Ok(Extraction::default());
        }
        let answer = self.ask(turns, |text| answer::read(text, turns, known))?;
        self.left_out.fetch_add(answer.left_out, Ordering::Relaxed);
        Ok(answer.extraction)
    }
}

#[cfg(test)]
mod tests;
