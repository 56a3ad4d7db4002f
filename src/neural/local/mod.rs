//! Models that run in this process, on candle: the feature `models`.
//!
//! ```text
//!   texts ──tokens──▶ sequences ──batches: sort, pack──▶ Encoder ──▶ (tokens, hidden)
//!         ──pooling──▶ one vector a text         SentenceModel::embed
//!         ──two rows──▶ one vector a token       SentenceModel::embed_tokens ──▶ max_sim
//!         ──head──▶ one score a text             CrossEncoder::score
//!
//!   sentence.rs   the sentence models       tokens.rs    from a text to ids
//!   cross.rs      the cross-encoders        allowed.rs   what a tokenizer's file may hold
//!   causal/       a language model          batches.rs   batches, and the threads they run on
//!   train/        what is trained here      config.rs    families and sizes
//!   folder.rs     reading files without     encoder.rs   from ids to one row for each token
//!                 trusting them             product.rs   its linear layers
//!   beams.rs      what is kept for each     fused.rs     what stands between them
//!                 prefix of a key           attention.rs of each sequence to itself
//!                                           pooling.rs   from rows to a vector
//! ```
//!
//! No candle and no tokenizer type leaves this folder. It never fetches a model: one that is not
//! there is an error that says how to install it.

mod allowed;
mod attention;
mod batches;
mod beams;
mod causal;
mod config;
mod cross;
mod encoder;
mod folder;
mod fused;
mod pooling;
mod product;
mod sentence;
#[cfg(test)]
mod tiny;
mod tokens;
mod train;

use super::{
    Embedder, NeuralError, Reranker, TokenVectors, WithTokens, cut, keys, max_sim, model_folder,
};

pub(crate) use causal::Prefix;
#[cfg(test)]
pub(crate) use causal::tests::tiny_folder;
pub use causal::{CausalLm, LocalReader};
pub use cross::CrossEncoder;
pub use sentence::SentenceModel;
pub use train::{Allowed, KeyDecoder, Scorer, TrainedKeys};
