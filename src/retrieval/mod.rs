//! The algorithms after the retrieval clauses: plain data in, plain data out.
//!
//! ```text
//!   fusion.rs     several ranked lists to one
//!   activate.rs   activation that spreads from seeds (SCG-Mem)
//!   represent.rs  few that stand for many (xMemory)
//!   open.rs       what evidence leaves open of a question (xMemory)
//!   pack.rs       evidence within a budget of tokens, and a path as a line (REAL)
//!   anchor.rs     the entities that a question names (REAL)
//!   intent.rs     what a question wants to know
//!   boost.rs      what a score is multiplied for (GAM)
//!   hedge.rs      words that say "I am not sure"
//!   evaluate.rs   how well a path answers a question (REAL)
//!   rules.rs      steps that follow from facts by a rule (REAL)
//!   words.rs      a text as words
//! ```
//!
//! Nothing here knows of plans, rows or operators, reads the disk or the clock, or loads a model:
//! neighbours, names and vectors come through callbacks, and the model that an anchorer or an evaluator asks is its
//! maker's. But for theirs, the same input gives the same output, to the order of equals. No number that is given, NaN and infinities among them, makes it panic.

pub(crate) mod activate;
pub(crate) mod anchor;
pub(crate) mod boost;
pub(crate) mod evaluate;
pub(crate) mod fusion;
pub(crate) mod hedge;
pub(crate) mod intent;
pub(crate) mod open;
pub(crate) mod pack;
pub(crate) mod represent;
pub(crate) mod rules;
pub(crate) mod words;
