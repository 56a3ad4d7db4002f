//! Models that are trained inside the database, from what is in it.
//!
//! A training is the same for a seed, to the last bit, on machines of one kind: the random numbers
//! are our own, and nothing is summed by several threads in an order that may change.
//!
//! ```text
//!   scorer.rs    how good a row of numbers is, from feedback
//!   decoder.rs   which key a text has, from the keys of other texts
//!   gru.rs       the layers of the decoder
//! ```

mod decoder;
mod gru;
mod scorer;

pub use decoder::{Allowed, KeyDecoder, TrainedKeys};
pub use scorer::Scorer;
