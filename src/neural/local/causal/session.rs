//! A language model at work on one text, token after token: for writing that is held to a grammar.

use super::llama::{Own, Shared};
use super::{CHUNK_TOKENS, CausalLm, failed, tokens};
use crate::neural::NeuralError;
use crate::neural::local::folder::{first_line, guarded};

/// The beginning of texts, run once for all of them.
pub(crate) struct Prefix(Shared);

/// A text that was read, and what was written after it.
pub(crate) struct Session<'m> {
    model: &'m CausalLm,
    read: Shared,
    written: Own,
    scores: Vec<f32>,
}

impl CausalLm {
    /// The name of the folder and a hash of its files.
    pub(crate) fn name(&self) -> &str {
        &self.id
    }

    /// The bytes that each token writes, by its id; none for marks, and for ids without a token.
    pub(crate) fn token_bytes(&self) -> Vec<Vec<u8>> {
        tokens::token_bytes(&self.tokenizer, self.model.vocab_size())
    }

    /// Reads the beginning of texts, with the mark that the model wants before it.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run.
    pub(crate) fn run_prefix(&self, text: &str) -> Result<Prefix, NeuralError> {
        let ids = tokens::encode(&self.tokenizer, text, true).map_err(failed)?;
        let (read, _) = self.read(Shared::default(), &ids).map_err(failed)?;
        Ok(Prefix(read))
    }

    /// Reads a text after a prefix; it must not be empty.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run.
    pub(crate) fn session(&self, prefix: &Prefix, text: &str) -> Result<Session<'_>, NeuralError> {
        let ids = tokens::encode(&self.tokenizer, text, false).map_err(failed)?;
        let (read, logits) = self.read(prefix.0.clone(), &ids).map_err(failed)?;
        Ok(Session { model: self, read, written: Own::default(), scores: logits.tokens })
    }
}

impl Session<'_> {
    /// How likely each token comes next, by its id.
    pub(crate) fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// Writes tokens.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if an id is none of the model's, or it cannot run. Then the session
    /// is of no further use.
    pub(crate) fn push(&mut self, ids: &[u32]) -> Result<(), NeuralError> {
        if ids.iter().any(|id| *id as usize >= self.model.model.vocab_size()) {
            return Err(failed("a token is not one of the model's"));
        }
        for chunk in ids.chunks(CHUNK_TOKENS) {
            let run = || self.model.model.forward(chunk, 1, &self.read, &self.written);
            let run = guarded(run).and_then(|run| run.map_err(first_line));
            let (scores, written) = run.map_err(failed)?;
            let logits = self.model.logits(&scores).map_err(failed)?.into_iter().next();
            self.scores = logits.ok_or_else(|| failed("no scores came out"))?.tokens;
            self.written = written;
        }
        Ok(())
    }
}
