//! How storage asks for the tokens of the keys of concepts: whoever opens a store gives it a
//! tokenizer.
//!
//! It never knows a model.

use std::error::Error;

/// Why a tokenizer could not be used.
pub type TokenizerError = Box<dyn Error + Send + Sync>;

/// Takes the keys of concepts apart. It is asked only when a concept is written, so it may load
/// what it needs then.
pub trait KeyTokenizer: Send + Sync {
    /// Names the tokenizer and its vocabulary: two of one name take every key apart alike.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded.
    fn id(&self) -> std::result::Result<String, TokenizerError>;

    /// The token ids of a key, without marks at its beginning and end. The same key always has the
    /// same ones.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded, or the key cannot be taken apart.
    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError>;
}
