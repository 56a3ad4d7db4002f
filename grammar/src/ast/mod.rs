//! The syntax tree of MemQL: types and spans, nothing else.
//!
//! It knows no ids, no parameters' values and no types: names are the text that was written.

mod define;
mod expr;
mod pattern;
mod query;
mod retrieval;
mod strength;

use std::ops::Range;

pub use define::*;
pub use expr::*;
pub use pattern::*;
pub use query::*;
pub use retrieval::*;
pub use strength::*;

/// Where something stands in the text, in bytes, half-open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span as a range, for slicing the text.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A name and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name, without back quotes.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// The statements of MemQL.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// Reads, and may end by changing what it read.
    Query(Query),
    /// `EXPLAIN` and `PROFILE`.
    Explain(Explain),
    /// `TRACE query`.
    Trace(Query),
    /// `DEFINE RELATION`.
    DefineRelation(DefineRelation),
    /// `DEFINE RULE`.
    DefineRule(DefineRule),
    /// `DEFINE RECIPE`.
    DefineRecipe(DefineRecipe),
    /// `DEFINE INDEX`.
    DefineIndex(DefineIndex),
    /// `TRAIN SCORER`.
    TrainScorer(Box<TrainScorer>),
    /// `DROP RULE`, `DROP RECIPE`, `DROP INDEX` or `DROP SCORER`.
    Drop(Drop),
    /// `SHOW what [name]`.
    Show(Show),
    /// `REMEMBER`.
    Remember(Box<Remember>),
    /// `ALIAS 'Caro' OF (:Person 'Caroline')`.
    Alias(Alias),
    /// `SPLIT 'Caro' FROM (:Person 'Caroline')`.
    Split(Split),
    /// `OBSERVE SESSION 's1' TURN {...}`.
    Observe(Observe),
    /// `CONSOLIDATE SESSION 's1'`; without a session, of all sessions.
    Consolidate(Option<Expr>),
    /// `FORGET TURN 'D1:3'`, or `FORGET SESSION 's1'`.
    ForgetHeard(ForgetHeard),
    /// `SESSION SET`; `SESSION RESET` sets none.
    SessionSet(Times),
    /// `BEGIN`.
    Begin,
    /// `COMMIT`.
    Commit,
    /// `ROLLBACK`.
    Rollback,
}

/// `EXPLAIN [RULES] [JSON] query`, or `PROFILE` in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// Whether the query is run.
    pub profile: bool,
    /// Whether the rules that changed the plan are listed.
    pub rules: bool,
    /// Whether it is printed as JSON.
    pub json: bool,
    /// The query.
    pub query: Query,
}

/// The time clauses of a statement or of one clause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// `FOR VALID_TIME`.
    pub valid: Option<ValidTime>,
    /// `FOR SYSTEM_TIME`.
    pub system: Option<SystemTime>,
}

/// `FOR VALID_TIME ...`: the world's time.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidTime {
    /// Which part of the time line.
    pub kind: ValidTimeKind,
    /// Where the clause stands.
    pub span: Span,
}

/// The forms of `FOR VALID_TIME`.
#[derive(Clone, Debug, PartialEq)]
pub enum ValidTimeKind {
    /// One instant.
    AsOf(Expr),
    /// Every instant from the first, before the second.
    From(Expr, Expr),
    /// Every instant from the first through the second.
    Between(Expr, Expr),
    /// All of time.
    All,
}

/// `FOR SYSTEM_TIME ...`: the database's time.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemTime {
    /// The instant, or none for `ALL`.
    pub as_of: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// A model that a clause asks.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelName {
    /// A name or a parameter.
    pub kind: ModelNameKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of the name of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelNameKind {
    /// As written.
    Name(String),
    /// `$name`, whose value is the name, or null for the default model.
    Parameter(String),
}

/// A number of things.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    /// A literal or a parameter.
    pub kind: AmountKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a number of things.
#[derive(Clone, Debug, PartialEq)]
pub enum AmountKind {
    /// As written.
    Literal(u64),
    /// `$name`.
    Parameter(String),
}

/// `SHOW what [name]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// What: `RELATIONS`, `SCHEMA` and so on.
    pub what: Name,
    /// Which of them, if said.
    pub name: Option<Name>,
}
