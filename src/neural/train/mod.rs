//! Models that are trained inside the database, from what is in it.
//!
//! A training is the same for a seed, to the last bit, on machines of one kind: the random numbers
//! are our own, and nothing is summed by several threads in an order that may change.
//!
//! ```text
//!   scorer.rs    how good a row of numbers is, from feedback
//!   bytes.rs     a trained model as bytes
//!   random.rs    random numbers
//! ```

mod bytes;
mod random;
mod scorer;

pub(super) use random::SplitMix64;
pub use scorer::{Scorer, Training};
