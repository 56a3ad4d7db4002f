//! The functions of MemQL over one row: a table by name, a file a subject.
//!
//! A function sees values and the state that is read; it never writes, and knows no plan.

mod graph;
mod lists;
mod numbers;
mod text;
mod times;

use std::fmt;

use engraph_grammar::ast::Span;

use crate::cell::Cell;
use crate::error::{Diagnostic, Error, Result};
use crate::exec::context::Context;

pub(crate) use graph::{IS_NODE, OTHER_INTENTS};

/// A function of one row.
pub(crate) struct Function {
    /// How it is called, in any letter case.
    pub(crate) name: &'static str,
    /// The least and the most arguments.
    pub(crate) arguments: (usize, usize),
    /// How it is written and what it gives, in one line.
    pub(crate) usage: &'static str,
    /// Whether it is called where an argument is null; else it is null then.
    pub(crate) takes_null: bool,
    /// Whether it asks the embedding model.
    pub(crate) asks_model: bool,
    pub(crate) run: fn(&Call<'_>) -> Result<Cell>,
}

impl Function {
    /// A function that is null where an argument is null, and asks no model.
    const fn new(
        name: &'static str,
        arguments: (usize, usize),
        usage: &'static str,
        run: fn(&Call<'_>) -> Result<Cell>,
    ) -> Self {
        Self { name, arguments, usage, takes_null: false, asks_model: false, run }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// One call: its arguments' values, and where it stands.
pub(crate) struct Call<'a> {
    pub(crate) function: &'static Function,
    pub(crate) arguments: &'a [Cell],
    pub(crate) span: Span,
    pub(crate) context: &'a Context<'a>,
}

impl Call<'_> {
    /// The value of a call.
    pub(crate) fn run(&self) -> Result<Cell> {
        if !self.function.takes_null && self.arguments.contains(&Cell::Null) {
            return Ok(Cell::Null);
        }
        (self.function.run)(self)
    }

    /// An argument; null where it is left out.
    fn argument(&self, place: usize) -> &Cell {
        self.arguments.get(place).unwrap_or(&Cell::Null)
    }

    /// An error: the argument at a place is of another kind.
    fn takes(&self, expected: &str, place: usize) -> Error {
        let (name, found) = (self.function.name, self.argument(place).kind());
        Diagnostic::at(self.span, format!("{name} takes {expected}, not {found}")).execute()
    }

    /// An error in the function's own words.
    fn fail(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.span, message)
    }
}

/// Every function, by subject.
const TABLES: [&[Function]; 5] =
    [graph::TABLE, lists::TABLE, numbers::TABLE, text::TABLE, times::TABLE];

/// Every function.
pub(crate) fn all() -> impl Iterator<Item = &'static Function> {
    TABLES.iter().copied().flatten()
}

/// The function of that name, in any letter case.
pub(crate) fn by_name(name: &str) -> Option<&'static Function> {
    all().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name)
}

/// A length as a value.
fn count(length: usize) -> Cell {
    Cell::Int(i64::try_from(length).unwrap_or(i64::MAX))
}
