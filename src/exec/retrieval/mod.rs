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
//! signals.rs     SEARCH ... BY SIGNALS: everything that is known of turns
//! toolkit.rs     what RECONSTRUCT reads
//! coupling.rs    how strongly concepts are coupled     linked.rs   conditions, told from the other end
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
mod linked;
mod names;
mod pack;
mod reconstruct;
mod represent;
mod rerank;
mod search;
mod signals;
mod toolkit;

pub(crate) use self::toolkit::Toolkit;

use engraph_grammar::ast::Span;

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Error, Result};
use crate::exec::eval;
use crate::models;
use crate::neural::NeuralError;
use crate::plan::expr::Expr;
use crate::plan::retrieval::Retrieval;

/// A model that a clause names, and where.
struct NamedModel {
    name: String,
    span: Span,
}

impl NamedModel {
    /// The model; none for the default one.
    ///
    /// # Errors
    ///
    /// [`Error::Bind`](crate::Error::Bind) if the value is no name.
    fn of(model: Option<&Expr>, context: &Context<'_>) -> Result<Option<Self>> {
        let Some(expr) = model else { return Ok(None) };
        match eval::eval(expr, &Row::new(), context)? {
            Cell::Null => Ok(None),
            Cell::String(name) => Ok(Some(Self { name: name.to_string(), span: expr.span })),
            other => {
                let message =
                    format!("MODEL takes the name of a model or null, not {}", other.kind());
                Err(Diagnostic::at(expr.span, message).bind())
            }
        }
    }

    /// That the model cannot do what it is asked for.
    fn failed(&self, error: &NeuralError) -> Error {
        models::named_failed(self.span, error)
    }
}

/// The rows that a clause makes of these; `begin` is the row that the plan begins with.
pub(super) fn run(
    clause: &Retrieval,
    rows: Vec<Row>,
    begin: &Row,
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    // Nothing is asked of a model or the disk for what a switch has turned off.
    if clause.finding().is_some_and(|finding| finding::is_shut(finding, context)) {
        return Ok(Vec::new());
    }
    let mut rows = rows;
    let question = match clause {
        Retrieval::Rerank(clause) => Some(&clause.question),
        Retrieval::Admit(clause) => Some(&clause.question),
        clause => clause.finding().map(|finding| &finding.question),
    };
    if let Some(question) = question {
        let before = rows.len();
        rows.retain(|row| !finding::is_blank(question, row, context));
        if rows.len() < before {
            let message = "the question has no words, so nothing is found";
            context.run.warn(Diagnostic::at(question.span, message));
        }
    }
    check_kinds(clause, &rows)?;
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

/// An error if a row has something else where the clause takes a node; null is no node, and passed over.
fn check_kinds(clause: &Retrieval, rows: &[Row]) -> Result<()> {
    let (word, slot) = match clause {
        Retrieval::Search(clause) if clause.bound => ("SEARCH", clause.finding.node),
        Retrieval::Signals(clause) if clause.bound => ("SEARCH", clause.finding.node),
        Retrieval::Activate(clause) => ("ACTIVATE", clause.from),
        Retrieval::Represent(clause) => ("REPRESENT", clause.from),
        Retrieval::Admit(clause) => ("ADMIT", clause.from),
        _ => return Ok(()),
    };
    let is_wrong = |cell: &&Cell| !matches!(cell, Cell::Null | Cell::Node(_));
    match rows.iter().map(|row| &row[slot]).find(is_wrong) {
        Some(other) => {
            let message = format!("{word} takes nodes, not {}", other.kind());
            Err(Diagnostic::new(message)
                .help("unwind a list first: UNWIND nodes(p) AS n")
                .execute())
        }
        None => Ok(()),
    }
}
