//! Texts to vectors, scores and keys: the one place where a neural model runs.
//!
//! The rest of the database sees a text go in and numbers come out. [`Embedder`] makes a vector of
//! a text, [`Reranker`] holds texts against a question, [`KeyModel`] writes keys. [`SentenceModel`]
//! and [`CrossEncoder`] run on the CPU, and [`FixedEmbedder`] is a stand-in without weights that
//! measures shared words only.
//!
//! ```text
//!   local/        models in this process: the feature `models`
//!   absent.rs     what stands in their place without it
//!   http.rs       an embedder elsewhere     http_reader.rs  a reader elsewhere
//!   endpoint.rs   asking over HTTP          chat.rs         a language model elsewhere
//!   fixed.rs      the stand-in for tests    keys.rs         what writes keys
//!   rerank.rs     what scores texts         reader.rs       how sure an answer is
//!   max_sim.rs    late interaction          sign_codes.rs   the same by stored signs
//!   adapter/      a question's tokens, moved to where answers are
//!   bytes.rs      trained models as bytes   training.rs     what a training says
//!   model_folder.rs   where models lie       prompt.rs       what a reader is given to read
//!   writer/       answers of a form         json_model.rs   the same, here or elsewhere
//! ```
//!
//! Nothing in this folder knows of a graph, of the database on disk or of a query. A vector that
//! comes out is finite and of length 1.

#[cfg(not(feature = "models"))]
mod absent;
mod adapter;
mod bytes;
#[cfg(feature = "http")]
mod chat;
#[cfg(feature = "http")]
mod endpoint;
mod fixed;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_reader;
mod json_model;
mod keys;
#[cfg(feature = "models")]
mod local;
mod max_sim;
mod model_folder;
#[cfg(any(feature = "models", feature = "http"))]
mod prompt;
mod reader;
mod rerank;
#[cfg(all(test, feature = "http"))]
pub(crate) mod server;
mod sign_codes;
mod training;
pub(crate) mod writer;

use std::path::PathBuf;

#[cfg(not(feature = "models"))]
use absent as local;
pub use adapter::QueryAdapter;
pub(crate) use adapter::{Lesson, Pace, even_shares, fit as fit_adapter, softmax};
#[cfg(all(test, feature = "http"))]
pub(crate) use chat::ANSWER_BYTES_MAX;
#[cfg(feature = "http")]
pub(crate) use chat::Chat;
#[cfg(feature = "http")]
pub use chat::TokenUsage;
#[cfg(feature = "http")]
pub(crate) use endpoint::Endpoint;
pub use fixed::FixedEmbedder;
#[cfg(feature = "http")]
pub use http::HttpEmbedder;
#[cfg(feature = "http")]
pub use http_reader::HttpReader;
pub use json_model::LanguageModel;
pub(crate) use json_model::{BEST, JsonModel, items, json, share};
pub use keys::{KeyModel, KeyWriter, Logits};
pub(crate) use local::Prefix;
#[cfg(all(test, feature = "models"))]
pub(crate) use local::tiny_folder;
#[cfg(feature = "models")]
pub use local::{Allowed, KeyDecoder, TrainedKeys};
pub use local::{CausalLm, CrossEncoder, LocalReader, Scorer, SentenceModel};
pub use max_sim::{TokenVectors, max_sim};
pub(crate) use max_sim::{dot, to_unit};
pub use model_folder::model_folder;
pub use reader::ReaderModel;
pub use rerank::Reranker;
pub(crate) use sign_codes::{SignQuery, encode as encode_signs};
pub use training::Training;

/// The name of a tokenizer that gives the bytes of a text.
pub(crate) const BYTES_TOKENIZER: &str = "bytes";

/// The beginning of a text, at most so many bytes long and ending between two characters.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The beginning of a text on one line, of at most so many bytes, without control characters.
pub(crate) fn line(text: &str, bytes_max: usize) -> String {
    // What is read of a text is bounded too: most of it may be blanks.
    let words = cut(text, 4 * bytes_max).split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    cut(&words.join(" "), bytes_max).to_string()
}

/// Something that turns texts into vectors whose cosine says how near the texts are in meaning.
pub trait Embedder: Send + Sync {
    /// Names the model and its weights, such as `all-MiniLM-L6-v2:53aa51172d14`.
    ///
    /// Vectors may be compared only if they come from embedders of one id, so the id is stored
    /// beside them.
    fn id(&self) -> &str;

    /// How many numbers a vector holds; the same for every text.
    fn dimensions(&self) -> usize;

    /// Embeds the texts and gives one vector for each, in the order of the texts.
    ///
    /// Every vector holds [`dimensions`](Self::dimensions) finite numbers without a unit and has
    /// the Euclidean length 1, so that the dot product of two is their cosine; the database brings
    /// others to it, but for those of zeros, which are near to nothing. No texts give no
    /// vectors. An empty text has a vector too. The same text gives nearly the same vector alone
    /// and among others, but not to the last bit.
    ///
    /// # Errors
    ///
    /// [`NeuralError::NotFinite`] if the model made something other than numbers of a text, and
    /// [`NeuralError::Failed`] if it could not run. Then no vector is given at all.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError>;

    /// Embeds each token of each text, for late interaction with [`max_sim`]; nothing if the model
    /// has no vectors of tokens, which is the default.
    ///
    /// There is one vector of length 1 for each token, without the marks that a model puts around
    /// a text, and as many tokens as [`embed`](Self::embed) reads. An empty text has none. They may be
    /// wider than the vector of the text, but all are as wide, in every call.
    ///
    /// # Errors
    ///
    /// Those of [`embed`](Self::embed).
    fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<TokenVectors>>, NeuralError> {
        let _ = texts;
        Ok(None)
    }

    /// What [`embed`](Self::embed) and [`embed_tokens`](Self::embed_tokens) give, where one run of
    /// the model can give both.
    ///
    /// # Errors
    ///
    /// Those of [`embed`](Self::embed).
    fn embed_with_tokens(&self, texts: &[&str]) -> Result<WithTokens, NeuralError> {
        Ok((self.embed(texts)?, self.embed_tokens(texts)?))
    }

    /// The token ids of a text, without marks and all of them, however much of a text the model
    /// reads. By default they are the bytes of the text in lower case.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the tokenizer cannot take the text apart.
    fn tokenize(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        Ok(text.to_lowercase().bytes().map(u32::from).collect())
    }

    /// Names the tokenizer. It changes when the ids of a text would, so it is stored beside them.
    fn tokenizer_id(&self) -> &str {
        BYTES_TOKENIZER
    }
}

/// A vector for each text, and the vectors of the tokens of each if the model has such.
pub type WithTokens = (Vec<Vec<f32>>, Option<Vec<TokenVectors>>);

/// Why a model could not be loaded, or a text not embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeuralError {
    /// The folder holds no model. Install one, as the text says, and load again.
    #[error(
        "no embedding model in {}: run `make model` in a checkout of Engraph, or set \
         ENGRAPH_MODEL_DIR to a folder that holds model.safetensors, tokenizer.json and \
         config.json",
        folder.display()
    )]
    Missing {
        /// The folder that was looked into.
        folder: PathBuf,
    },

    /// The model runs only in a build with a feature that this one lacks. Build Engraph with it, or
    /// give a model of your own to [`Options`](crate::Options).
    #[error(
        "{what} needs the feature `{feature}`, which this build of Engraph lacks: build it with \
         `--features {feature}`, or give it a model of your own"
    )]
    Feature {
        /// What was asked for.
        what: &'static str,
        /// The feature that it needs.
        feature: &'static str,
    },

    /// The environment names no folder to look into. Set one of the variables and load again.
    #[error(
        "no folder to look for an embedding model in: set ENGRAPH_MODEL_DIR, XDG_CACHE_HOME or \
         HOME"
    )]
    NoFolder,

    /// A file of the model is there but cannot be read. Mend its permissions or its disk.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// A file of the model is not what it should be. Install the model again.
    #[error("{} is damaged or not supported: {reason}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, in one line.
        reason: String,
    },

    /// The model gave something other than finite numbers. The weights are most likely damaged:
    /// install the model again, or leave the text out.
    #[error("what the model made of text {text} is not finite")]
    NotFinite {
        /// The place of the first such text in the call, counted from 0.
        text: usize,
    },

    /// A model cannot be trained on what was given. Mend the rows, as the text says.
    #[error("training failed: {reason}")]
    Training {
        /// What went wrong, in one line.
        reason: String,
    },

    /// A trained model that was stored is damaged. Train it again.
    #[error("a stored model is damaged: {reason}")]
    Stored {
        /// What is wrong with it, in one line.
        reason: String,
    },

    /// The model could not run on these texts. Install the model again; if it still fails it is
    /// a bug in Engraph or in a model of your own.
    #[error("the model failed: {reason}")]
    Failed {
        /// What went wrong, in one line.
        reason: String,
    },

    /// No model goes by this name. Register one with [`Options`](crate::Options), put its folder
    /// beside that of the embedding model, or name another.
    #[error(
        "no {kind} named '{name}': {}",
        match known.as_slice() {
            [] => "there is none".to_string(),
            known => format!("there are {}", known.join(", ")),
        }
    )]
    Unknown {
        /// What was looked for: a reranker, a key model or a reader.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names of those that were registered, and of the folders of models.
        known: Vec<String>,
    },

    /// A model elsewhere did not answer as it should. Look at the address and the key, or retry.
    #[error("{url}: {reason}")]
    Remote {
        /// The address that was asked.
        url: String,
        /// What went wrong, in one line.
        reason: String,
    },
}
