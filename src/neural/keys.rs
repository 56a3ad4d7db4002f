//! Models that write keys: one token after another, each from the tokens before it.
//!
//! A model never decides which keys exist. The search over the schema trie masks what it says
//! (SCG-MEM, eq. 5-6), so whatever comes out of it, a key that is not there cannot be written.

use super::NeuralError;

/// A model that can say what the next token of a key is.
pub trait KeyModel: Send + Sync {
    /// Names the model and its weights.
    fn id(&self) -> &str;

    /// The token ids of a key, without marks at its beginning and end (SCG-MEM, eq. 3). The same
    /// key always has the same ids.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the tokenizer cannot take the key apart.
    fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError>;

    /// The text of token ids, for keys that are written without the schema (`free_keys` in a query);
    /// nothing else asks for it. A model need not have it.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the tokens have no text. This is so unless a model says otherwise.
    fn text(&self, _tokens: &[u32]) -> Result<String, NeuralError> {
        let reason =
            "it writes keys of the schema alone: it has no text for its tokens (KeyModel::text)";
        Err(NeuralError::Failed { reason: reason.to_string() })
    }

    /// Begins to write keys that fit a question; the question is read once.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run on it.
    fn start<'m>(&'m self, question: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError>;
}

/// A model at work on one question. It may keep what it has computed for a prefix, for the next
/// prefixes continue some of the last ones.
pub trait KeyWriter {
    /// What comes after each of the prefixes. All prefixes of a call have the same length, from 0
    /// on, and each is one of the last call's with one token more.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run.
    fn next(&mut self, prefixes: &[&[u32]]) -> Result<Vec<Logits>, NeuralError>;
}

/// Scores of what may come next; the larger, the likelier. They need not be finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Logits {
    /// That of each token, by its id; ids after the end count as impossible.
    pub tokens: Vec<f32>,
    /// That of the key being at its end.
    pub end: f32,
}
