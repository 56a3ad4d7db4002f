//! Engraph: an embedded graph database for the long-term memory of LLM agents, with its own query
//! language, MemQL.
//!
//! Facts carry valid time, system time, confidence and intent, and are never overwritten: a
//! changed fact closes an interval and opens another, and every past belief stays readable.
//!
//! ```text
//! The way of a query
//!   text ──grammar::parse──▶ ast ──bind──▶ LogicalPlan ──plan::optimize──▶ LogicalPlan
//!        ──exec::lower──▶ operators ──storage::Reader──▶ chunks of rows ──▶ Rows
//!
//! The way of a write
//!   text ──parse, bind──▶ Write ──neural, if there is a text──▶ vectors
//!        ──storage::Transaction, update::resolve──▶ changes ──commit, once──▶ column families
//! ```
//!
//! Start at [`Engraph::open`].

#![warn(missing_debug_implementations)]

mod algo;
mod bind;
mod cell;
mod context;
mod cursor;
mod database;
mod error;
pub mod eval;
mod exec;
mod export;
mod functions;
mod graph_names;
pub mod import;
mod indexes;
pub mod memory;
mod models;
pub mod neural;
mod plan;
mod plans;
mod random;
mod reading;
mod recipes;
pub mod reconstruct;
mod retrieval;
mod rows;
mod schema;
mod session;
mod show;
mod signals;
mod snapshot;
mod statement;
mod text;
mod threads;
mod time;
mod vectors;
mod write;

pub use context::Limits;
pub use context::run::Interrupt;
pub use cursor::Cursor;
pub use database::{Engraph, Options, upgrade};
pub use engraph_grammar::ast::Span;
pub use engraph_grammar::{
    SyntaxError, TEXT_BYTES_MAX, Token, TokenKind, Unfinished, is_unfinished, keywords, quote,
    statement_keywords, tokens,
};
pub use engraph_storage::graph::Interval;
pub use engraph_storage::{
    Counts, Durability, FORMAT, Family, FamilyStats, Memory, StorageError, Torn, Violation,
};
pub use error::{Diagnostic, Error, Limit, Result, Severity};
#[cfg(feature = "http")]
pub use neural::HttpEmbedder;
pub use neural::{
    CrossEncoder, Embedder, FixedEmbedder, KeyModel, LanguageModel, NeuralError, QueryAdapter,
    ReaderModel, Reranker, SentenceModel, TokenVectors, WithTokens,
};
pub use reading::only_reads;
pub use retrieval::anchor::{Anchorer, ModelAnchorer, Root};
pub use retrieval::evaluate::{Evaluator, ModelEvaluator, PathText};
pub use rows::{Derivation, Fact, Node, Params, Path, Rows, Value};
pub use session::{Prepared, Session, Transaction};
pub use snapshot::Snapshot;

/// What the graph is made of, for reads by [`Snapshot`].
pub mod graph {
    pub use engraph_storage::graph::{
        Edge, EdgeFilter, FactId, Intent, Interval, NodeId, RelationId, Side, SystemScope, Time,
        ValidScope,
    };
}

/// The names of all functions, as they are written.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    let aggregates = plan::expr::AggregateFunction::TABLE.iter().map(|row| row.0);
    functions::names().chain(aggregates).chain(["now"])
}

/// The names that every node or fact answers to, beside the properties given to it.
pub fn property_names() -> impl Iterator<Item = &'static str> {
    graph_names::NODE_PROPERTIES.into_iter().chain(graph_names::FACT_PROPERTIES)
}

/// The programs of these pages, which are compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/library.md")]
struct Pages;
