//! Expressions.

use super::{Name, Query, Span};

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The expressions of MemQL.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A value as written.
    Literal(Literal),
    /// `$name`.
    Parameter(String),
    /// A bound name.
    Variable(String),
    /// `e.name`.
    Property(Box<Expr>, Name),
    /// `e[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `e[from..to]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// `e:Label|Other`.
    HasLabel(Box<Expr>, Vec<Name>),
    /// `name(...)`.
    Call(Call),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// All of them, in order: a chain of `AND`, kept flat so that long ones are not deep.
    And(Vec<Expr>),
    /// Any of them, in order: a chain of `OR`.
    Or(Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{name: a}`.
    Map(Vec<(Name, Expr)>),
    /// `CASE ... END`.
    Case(Case),
    /// `EXISTS { ... }`, and a pattern that stands for whether it fits.
    Exists(Box<Query>),
    /// `COUNT { ... }`.
    Count(Box<Query>),
    /// `COLLECT { ... }`, and a pattern comprehension.
    Collect(Box<Query>),
    /// `[x IN list WHERE c | e]`.
    Comprehension(Box<Comprehension>),
    /// `all(x IN list WHERE c)`.
    Quantified(Quantifier, Box<Comprehension>),
    /// `reduce(total = 0, x IN list | e)`.
    Reduce(Box<Reduce>),
}

/// `CASE operand WHEN c THEN a ... ELSE b END`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What each branch is compared with; without it, each is a condition.
    pub operand: Option<Box<Expr>>,
    /// The branches in order.
    pub branches: Vec<(Expr, Expr)>,
    /// What it is when no branch fits; null if not said.
    pub otherwise: Option<Box<Expr>>,
}

/// `x IN list WHERE condition | item`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The name of each item.
    pub variable: Name,
    /// The list.
    pub list: Expr,
    /// Which items.
    pub condition: Option<Expr>,
    /// What becomes of each; the item itself if not said.
    pub item: Option<Expr>,
}

/// Of how many items a condition must be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Of all.
    All,
    /// Of at least one.
    Any,
    /// Of none.
    None,
    /// Of exactly one.
    Single,
}

/// `reduce(total = first, x IN list | next)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce {
    /// The name of what is gathered.
    pub total: Name,
    /// What it begins with.
    pub first: Expr,
    /// The name of each item.
    pub variable: Name,
    /// The list.
    pub list: Expr,
    /// What is gathered after each item.
    pub next: Expr,
}

/// A function call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub function: Name,
    /// `DISTINCT` before the arguments.
    pub distinct: bool,
    /// `*` in place of the arguments.
    pub star: bool,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    String(String),
    /// `DATE '...'`; what it means is for the binder.
    Date(String),
    /// `TIMESTAMP '...'`; what it means is for the binder.
    Timestamp(String),
    /// `DURATION '...'`; what it means is for the binder.
    Duration(String),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `NOT`.
    Not,
    /// `-`.
    Negate,
    /// `IS NULL`.
    IsNull,
    /// `IS NOT NULL`.
    IsNotNull,
    /// `IS TRUE`.
    IsTrue,
    /// `IS FALSE`.
    IsFalse,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `XOR`.
    Xor,
    /// `=`.
    Equal,
    /// `<>`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `STARTS WITH`.
    StartsWith,
    /// `ENDS WITH`.
    EndsWith,
    /// `CONTAINS`, of texts and of periods.
    Contains,
    /// `=~`.
    Like,
    /// `OVERLAPS`.
    Overlaps,
    /// `EQUALS`.
    Equals,
    /// `PRECEDES`.
    Precedes,
    /// `SUCCEEDS`.
    Succeeds,
    /// `IMMEDIATELY PRECEDES`.
    ImmediatelyPrecedes,
    /// `IMMEDIATELY SUCCEEDS`.
    ImmediatelySucceeds,
    /// `IN`.
    In,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `^`.
    Power,
    /// `||`.
    Concat,
}
