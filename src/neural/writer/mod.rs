//! A language model from a folder that writes texts of a grammar after one task.
//!
//! The likeliest token is taken each time, so the same text gives the same answer. What stands before
//! the text is run once, when the model is loaded.

mod decode;
mod grammar;
pub(crate) mod json;
mod vocabulary;

use std::sync::Arc;

use self::vocabulary::Vocabulary;
use crate::neural::{CausalLm, NeuralError, Prefix};

pub(crate) use self::grammar::{Grammar, Rule};

/// A model with a task, ready to answer.
pub(crate) struct Writer {
    model: Arc<CausalLm>,
    vocabulary: Vocabulary,
    /// What stands before the text, run.
    task: Prefix,
    tokens_max: u32,
}

impl Writer {
    /// A writer of answers of at most so many tokens.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if a character of ASCII is not among the tokens, or the model cannot
    /// run.
    pub(crate) fn new(
        model: Arc<CausalLm>,
        task: &str,
        tokens_max: u32,
    ) -> Result<Self, NeuralError> {
        let vocabulary = Vocabulary::new(model.token_bytes());
        let vocabulary = vocabulary.map_err(|reason| NeuralError::Failed { reason })?;
        let task = model.run_prefix(task)?;
        Ok(Self { model, vocabulary, task, tokens_max })
    }

    /// The answer to a text: one of the grammar.
    pub(crate) fn write(&self, grammar: &Grammar, text: &str) -> Result<String, NeuralError> {
        let mut session = self.model.session(&self.task, text)?;
        let scores = |new: &[u32]| {
            session.push(new)?;
            Ok(session.scores().to_vec())
        };
        let bytes = decode::write(grammar, &self.vocabulary, self.tokens_max, scores)?;
        String::from_utf8(bytes).map_err(|error| NeuralError::Failed { reason: error.to_string() })
    }
}
