//! The functions of MemQL over one row: a table by name, a file a subject.
//!
//! A function sees values and the state that is read; it never writes, and knows no plan.

mod borne_out;
pub(crate) mod evaluation;
mod foreign;
mod graph;
mod instants;
mod keys;
mod lists;
mod numbers;
pub(crate) mod products;
mod retention;
mod text;
mod times;
mod values;

use std::fmt;
use std::sync::Arc;

use engraph_grammar::ast::Span;

use crate::cell::Cell;
use crate::context::Context;
use crate::error::{Diagnostic, Error, Result};

pub(crate) use borne_out::is_borne_out;
pub(crate) use foreign::foreign;
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

    /// An argument that must be text.
    fn text(&self, place: usize) -> Result<&Arc<str>> {
        match self.argument(place) {
            Cell::String(text) => Ok(text),
            _ => Err(self.takes("a string", place)),
        }
    }

    /// An argument that must be a list.
    fn list(&self, place: usize) -> Result<&[Cell]> {
        match self.argument(place) {
            Cell::List(items) => Ok(items),
            _ => Err(self.takes("a list", place)),
        }
    }

    /// An argument that must be a number.
    fn number(&self, place: usize) -> Result<f64> {
        self.argument(place).number().ok_or_else(|| self.takes("a number", place))
    }

    /// An argument that must be a whole number.
    fn whole(&self, place: usize) -> Result<i64> {
        match self.argument(place) {
            Cell::Int(value) => Ok(*value),
            Cell::Float(value) => {
                let message = format!("{} takes a whole number, not {value:?}", self.function.name);
                Err(self.fail(message).execute())
            }
            _ => Err(self.takes("a whole number", place)),
        }
    }

    /// An argument that must be a whole number from 0.
    fn amount(&self, place: usize) -> Result<usize> {
        let value = self.whole(place)?;
        usize::try_from(value).map_err(|_| {
            let message = format!("{} counts from 0, not from {value}", self.function.name);
            self.fail(message).execute()
        })
    }

    /// A result that must be finite, as every number is.
    fn finite(&self, value: f64) -> Result<Cell> {
        if value.is_finite() {
            // Adding zero makes the two zeros one.
            return Ok(Cell::Float(value + 0.0));
        }
        let message = format!("the result of {} is not a finite number", self.function.name);
        Err(self.fail(message).execute())
    }

    /// An error: the result is too large.
    fn overflow(&self) -> Error {
        self.fail("the result is beyond 64-bit whole numbers").execute()
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
const TABLES: [&[Function]; 12] = [
    borne_out::TABLE,
    evaluation::TABLE,
    graph::TABLE,
    instants::TABLE,
    keys::TABLE,
    lists::TABLE,
    numbers::TABLE,
    products::TABLE,
    retention::TABLE,
    text::TABLE,
    times::TABLE,
    values::TABLE,
];

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
