//! MemQL, the memory query language: text to a typed tree.
//!
//! ```text
//! text ──scan──▶ brackets and quotes pair up ──memql.pest──▶ pairs ──parse──▶ ast::Statement
//! ```
//!
//! Parsing is a function of the text alone: no parameters, clock or catalogue go in. This crate
//! never knows ids, disk or models, and no pest type leaves it. Patterns and expressions follow
//! ISO GQL and openCypher, times follow SQL:2011.
//!
//! ```
//! let script = engraph_grammar::parse("MATCH (p:Person) RETURN p.key;").unwrap();
//! assert_eq!(script.len(), 1);
//! let error = engraph_grammar::parse("MATCH (p:Person RETURN p.key;").unwrap_err();
//! assert_eq!(error.message, "this `(` is never closed");
//! ```

pub mod ast;
mod error;
mod mends;
mod parse;
mod print;
mod rules;
mod scan;
mod suggest;
#[cfg(test)]
mod tests;
mod tokens;
mod walk;
mod words;

pub use error::SyntaxError;
pub use print::without_spans;
pub use scan::{NESTING_MAX, TEXT_BYTES_MAX};
pub use suggest::closest;
pub use tokens::{Token, TokenKind, Unfinished, tokens};
pub use walk::{parameters, parameters_of, place};

/// Parses a script: statements separated by `;`.
pub fn parse(text: &str) -> Result<Vec<ast::Statement>, SyntaxError> {
    let stack = (scan::check(text)? + 1) * STACK_PER_BRACKET;
    stacker::maybe_grow(stack, stack * 2, || parse::script(text))
}

/// What the parser's stack may need for each bracket that is open, in bytes.
const STACK_PER_BRACKET: usize = 128 << 10;

/// Every keyword of MemQL, in capitals, in no particular order.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    words::keywords()
}

/// The keywords that a statement begins with, in capitals, in no particular order.
pub fn statement_keywords() -> impl Iterator<Item = &'static str> {
    words::STATEMENTS.into_iter()
}

/// Whether the text may go on: a quote or comment is open, or no `;` ends it. A shell asks for
/// another line then. No `;` can stand within brackets, so one that is left open there is an error.
pub fn is_unfinished(text: &str) -> bool {
    Unfinished::default().is(text)
}

/// A name as MemQL writes it: between back quotes where it is no plain word. A label, a relation or a property
/// cannot be a parameter; with this, one that comes from elsewhere stands in a text as itself and nothing else.
/// (Of an empty name, which nothing can have, comes a text that is no MemQL.)
///
/// ```
/// use engraph_grammar::{parse, quote};
///
/// assert_eq!(quote("lives_in"), "lives_in");
/// assert_eq!(quote("is in"), "`is in`");
/// let hostile = "x`]->() FORGET n; //";
/// let text = format!("MATCH (n)-[:{}]->(m) RETURN m", quote(hostile));
/// assert_eq!(parse(&text).unwrap().len(), 1);
/// ```
pub fn quote(name: &str) -> String {
    print::quote(name)
}

/// The program of the page, which is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Page;
