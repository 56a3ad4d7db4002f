//! The syntax tree of MemQL: types and spans, nothing else.
//!
//! It knows no ids, no parameters' values and no types: names are the text that was written.

use std::ops::Range;

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
    /// Prints the plan of a query.
    Explain(Query),
    /// `DEFINE RELATION`.
    DefineRelation(DefineRelation),
    /// `SHOW RELATIONS`.
    ShowRelations,
    /// `REMEMBER`.
    Remember(Box<Remember>),
    /// `ALIAS 'Caro' OF (:Person 'Caroline')`.
    Alias(Alias),
    /// `OBSERVE SESSION 's1' TURN {...}`.
    Observe(Observe),
    /// `BEGIN`.
    Begin,
    /// `COMMIT`.
    Commit,
    /// `ROLLBACK`.
    Rollback,
}

/// A pipeline of clauses.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The times that hold where a clause names none.
    pub times: Times,
    /// The clauses that bind names, in order.
    pub clauses: Vec<Clause>,
    /// What becomes of the bindings.
    pub end: QueryEnd,
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

/// A clause that binds names.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// `MATCH`.
    Match(Match),
    /// `SEARCH`.
    Search(Search),
}

/// `MATCH pattern, ...` with what stands behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The patterns, all of which must fit.
    pub patterns: Vec<PathPattern>,
    /// `BEAM k`, if it is a beam search.
    pub beam: Option<Beam>,
    /// Its own times.
    pub times: Times,
    /// `CONFIDENCE >= x`.
    pub confidence: Option<Expr>,
    /// `INTENT x`.
    pub intent: Option<Name>,
    /// `WHERE`.
    pub condition: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// `BEAM k ... EXPAND m ... SCORE BY e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Paths kept after each step.
    pub width: Amount,
    /// Continuations kept of each path, if said.
    pub expand: Option<Amount>,
    /// What orders the paths; larger is better.
    pub score: Expr,
}

/// `SEARCH n:Label FOR e BY VECTOR TOP k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The name that the nodes are bound to.
    pub variable: Name,
    /// The labels to search, or all of them.
    pub labels: Vec<Name>,
    /// The text to search for.
    pub query: Expr,
    /// How many nodes.
    pub top: Amount,
    /// Its own times.
    pub times: Times,
    /// `WHERE`, which holds inside the search.
    pub condition: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
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

/// `p = (a)-[f]->(b)...`.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPattern {
    /// The name of the whole path.
    pub variable: Option<Name>,
    /// The first node.
    pub start: NodePattern,
    /// Each relation with the node behind it.
    pub steps: Vec<(RelationPattern, NodePattern)>,
}

/// `(n:Label 'key' {property: value})`.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePattern {
    /// The name it is bound to.
    pub variable: Option<Name>,
    /// Any of these labels; none stands for all.
    pub labels: Vec<Name>,
    /// The key straight behind the label.
    pub key: Option<Expr>,
    /// Properties that must be equal.
    pub properties: Vec<(Name, Expr)>,
    /// Where it stands.
    pub span: Span,
}

/// `-[f:relation {property: value}]->{1,3}`.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationPattern {
    /// The name it is bound to.
    pub variable: Option<Name>,
    /// Any of these relations; none stands for all.
    pub relations: Vec<Name>,
    /// Which way the arrow points.
    pub direction: Direction,
    /// How often it repeats, if it may.
    pub hops: Option<Hops>,
    /// Properties that must be equal.
    pub properties: Vec<(Name, Expr)>,
    /// Where it stands.
    pub span: Span,
}

/// The direction of a relation pattern, read from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `-[]->`.
    Out,
    /// `<-[]-`.
    In,
    /// `-[]-`.
    Both,
}

/// How often a relation pattern repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hops {
    /// The least.
    pub min: u32,
    /// The most, if there is one.
    pub max: Option<u32>,
}

/// What becomes of the bindings of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryEnd {
    /// `RETURN`.
    Return(Return),
    /// `RETRACT f, g`.
    Retract(Vec<Name>),
    /// `CONFIRM f, g BY e`.
    Confirm {
        /// The facts.
        names: Vec<Name>,
        /// By how much.
        by: Expr,
    },
    /// `DOUBT f, g BY e`.
    Doubt {
        /// The facts.
        names: Vec<Name>,
        /// By how much.
        by: Expr,
    },
    /// `FORGET n, f`.
    Forget(Vec<Name>),
}

/// `RETURN [DISTINCT] ... ORDER BY ... SKIP ... LIMIT ...`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Return {
    /// Whether equal rows are returned once.
    pub distinct: bool,
    /// The columns; none stands for every bound name.
    pub items: Vec<ReturnItem>,
    /// The sort keys, the first one first.
    pub order: Vec<SortItem>,
    /// Rows left out at the start.
    pub skip: Option<Amount>,
    /// The most rows.
    pub limit: Option<Amount>,
}

/// One column of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ReturnItem {
    /// Its value.
    pub expr: Expr,
    /// Its name: what `AS` says, or the text of the expression.
    pub name: String,
}

/// One sort key.
#[derive(Clone, Debug, PartialEq)]
pub struct SortItem {
    /// Its value.
    pub expr: Expr,
    /// Largest first.
    pub descending: bool,
}

/// `DEFINE RELATION name ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineRelation {
    /// The relation.
    pub name: Name,
    /// `CARDINALITY`, if said.
    pub cardinality: Option<Cardinality>,
    /// `INTENT`, if said.
    pub intent: Option<Name>,
    /// `CONFIDENCE policy`, if said.
    pub policy: Option<Name>,
    /// `THRESHOLD x`, if said.
    pub threshold: Option<Expr>,
    /// Whether it says `SYMMETRIC`; never together with an inverse.
    pub symmetric: bool,
    /// `INVERSE OF relation`, if said.
    pub inverse: Option<Name>,
}

/// How many tails a head may have at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One.
    One,
    /// Any number.
    Many,
    /// Not known; acts as many.
    Unknown,
    /// To be seen from the facts.
    Observed,
}

/// `REMEMBER (head)-[relation]->(tail) ...`, or a node alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Remember {
    /// The node, or the head of the fact.
    pub head: NodePattern,
    /// The relation, its properties and the tail.
    pub fact: Option<FactPattern>,
    /// `VALID FROM`.
    pub valid_from: Option<Expr>,
    /// `VALID TO`.
    pub valid_to: Option<Expr>,
    /// `CONFIDENCE`.
    pub confidence: Option<Expr>,
    /// `INTENT`.
    pub intent: Option<Name>,
    /// `SOURCE`.
    pub sources: Vec<Expr>,
}

/// `-[relation {property: value}]->(tail)`.
#[derive(Clone, Debug, PartialEq)]
pub struct FactPattern {
    /// The relation.
    pub relation: Name,
    /// Its properties.
    pub properties: Vec<(Name, Expr)>,
    /// The tail.
    pub tail: NodePattern,
}

/// `ALIAS e OF (:Label 'key')`.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The second key.
    pub alias: Expr,
    /// The node that gets it.
    pub node: NodePattern,
}

/// `OBSERVE SESSION e TURN {...}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Observe {
    /// The session's key.
    pub session: Expr,
    /// The turn's fields.
    pub turn: Vec<(Name, Expr)>,
    /// Where the fields stand.
    pub turn_span: Span,
}

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
    /// `CONTAINS`.
    Contains,
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
}
