//! The retrieval clauses: each takes a table of rows and gives one, a file a clause.
//!
//! ```text
//! finding.rs     what the clauses share that find nodes: the question, and which nodes count
//! search.rs      SEARCH: by words, by meaning, by both
//! names.rs       the names that a condition asks for
//! generate.rs    GENERATE: keys that a model writes under the schema
//! anchor.rs      ANCHOR: the entities that a question names
//! activate.rs    ACTIVATE: spreading activation
//! represent.rs   REPRESENT: the nodes that stand for the others
//! rerank.rs      RERANK: a closer look, and boosts
//! late.rs        late interaction: a question against the tokens of texts
//! reconstruct.rs RECONSTRUCT: evidence gathered step by step
//! admit.rs       ADMIT: evidence while it lowers the uncertainty
//! pack.rs        PACK: evidence as text, within a budget
//! ```
//!
//! The arithmetic is in `crate::retrieval`, the models are in `crate::neural`.

mod activate;
mod admit;
mod anchor;
mod coupling;
mod finding;
mod generate;
mod late;
mod names;
mod pack;
mod reconstruct;
mod represent;
mod rerank;
mod search;
mod signals;
mod toolkit;

pub(crate) use self::toolkit::Toolkit;

use crate::cell::Row;
use crate::context::Context;
use crate::error::Result;
use crate::plan::retrieval::Retrieval;

/// The rows that a clause makes of these; `begin` is the row that the plan begins with.
pub(super) fn run(
    clause: &Retrieval,
    rows: Vec<Row>,
    begin: &Row,
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    match clause {
        Retrieval::Search(clause) => search::search(clause, &rows, context),
        Retrieval::Signals(clause) => signals::signals(clause, &rows, context),
        Retrieval::Generate(clause) => generate::generate(clause, &rows, context),
        Retrieval::Anchor(clause) => anchor::anchor(clause, &rows, context),
        Retrieval::Activate(clause) => activate::activate(clause, &rows, context),
        Retrieval::Represent(clause) => represent::represent(clause, rows, context),
        Retrieval::Rerank(clause) => rerank::rerank(clause, rows, context),
        Retrieval::Reconstruct(clause) => reconstruct::reconstruct(clause, &rows, context),
        Retrieval::Admit(clause) => admit::admit(clause, &rows, context),
        Retrieval::Pack(clause) => pack::pack(clause, &rows, begin, context),
    }
}
