//! The rules of `memql.pest` as a parser, generated from it.

use pest_derive::Parser;

/// The generated parser.
#[derive(Parser)]
#[grammar = "memql.pest"]
pub(crate) struct MemQl;
