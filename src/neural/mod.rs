//! Text to vectors: the one place where a neural model runs.
//!
//! The rest of the database sees a text go in and a vector of `f32` come out, through
//! [`Embedder`]. Two kinds exist: [`MiniLm`], a sentence model that runs on the CPU, and
//! [`FixedEmbedder`], a stand-in without weights that measures shared words only.
//!
//! ```text
//!   texts ──tokenizer──▶ token ids ──sort, batch──▶ packed batches ──Bert──▶ (tokens, hidden)
//!         ──mean over the tokens of each text──▶ ──to length 1──▶ one vector a text
//!
//!   minilm.rs   the way above, and the threads it runs on
//!   bert.rs     the encoder: from token ids to one row for each token
//!   folder.rs   where the model lies, and reading its files without trusting them
//!   fixed.rs    the stand-in for tests
//!   keys.rs     what a model has to do that writes keys
//!   rerank.rs   what a model has to do that holds texts against a question
//!   beams.rs    what such models keep for each prefix of a search
//!   causal/     a language model from a folder, as a writer of keys
//!   train/      models that are trained inside the database
//! ```
//!
//! No candle and no tokenizer type leaves this folder, and nothing in it knows of a graph, of the
//! database on disk or of a query. It never fetches anything: a model that is not there is an
//! error that says how to install it. A vector that comes out is finite and of length 1.

mod beams;
mod bert;
mod causal;
mod fixed;
mod folder;
mod keys;
mod minilm;
mod rerank;
mod train;

use std::path::PathBuf;

pub use causal::CausalLm;
pub use fixed::FixedEmbedder;
pub use folder::model_folder;
pub use keys::{KeyModel, KeyWriter, Logits};
pub use minilm::MiniLm;
pub use rerank::Reranker;
pub use train::{Allowed, KeyDecoder, Scorer, TrainedKeys, Training};

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
    /// the Euclidean length 1, so that the dot product of two is their cosine. No texts give no
    /// vectors. An empty text has a vector too. The same text gives nearly the same vector alone
    /// and among others, but not to the last bit.
    ///
    /// # Errors
    ///
    /// [`NeuralError::NotFinite`] if the model made something other than numbers of a text, and
    /// [`NeuralError::Failed`] if it could not run. Then no vector is given at all.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError>;
}

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
    #[error("the embedding of text {text} is not finite")]
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
    /// a bug in Engraph.
    #[error("the embedding model failed: {reason}")]
    Failed {
        /// What went wrong, in one line.
        reason: String,
    },
}
