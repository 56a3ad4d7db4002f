//! Active reconstruction (MRAgent, section 4 and algorithm 1): evidence for a question is gathered
//! step by step, and what was found says what is asked next.
//!
//! ```text
//!            ┌── Policy::select (eq. 10) ──▶ operations ───Tools──▶ findings (eq. 11) ──┐
//!   state Z, H                                                                          │
//!            └── Policy::is_sufficient ◀── state ◀── Policy::route (eq. 12) ◀───────────┘
//!
//!   operation.rs  the toolkit: operations and what they find      state.rs     Z, H and the log
//!                 (exec/retrieval/toolkit.rs runs them)            run.rs       the loop
//!   tools.rs      operations as functions that a model calls
//!   policy.rs     what decides      by_score.rs  without a model   score.rs     what a turn amounts to
//!   model/        what decides with a language model
//! ```
//!
//! Nothing is written to the database. Everything that is found is brought down to turns.

mod by_score;
mod model;
mod operation;
mod policy;
mod run;
mod score;
mod state;
mod tools;

pub use by_score::ByScore;
pub use model::ModelPolicy;
pub(crate) use operation::{Answer, KEYS_MAX, Tools};
pub use operation::{Finding, Kind, Mechanism, Operation};
pub use policy::{Policy, Selection};
pub use run::Outcome;
pub use state::{Active, Budget, Call, Ended, Evidence, Reconstruction, Step, Through};

#[cfg(test)]
mod tests;
