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
    /// `EXPLAIN` and `PROFILE`.
    Explain(Explain),
    /// `DEFINE RELATION`.
    DefineRelation(DefineRelation),
    /// `DEFINE RULE`.
    DefineRule(DefineRule),
    /// `DEFINE RECIPE`.
    DefineRecipe(DefineRecipe),
    /// `DEFINE INDEX`.
    DefineIndex(DefineIndex),
    /// `DROP RULE`, `DROP RECIPE` or `DROP INDEX`.
    Drop(Drop),
    /// `SHOW what [name]`.
    Show(Show),
    /// `REMEMBER`.
    Remember(Box<Remember>),
    /// `ALIAS 'Caro' OF (:Person 'Caroline')`.
    Alias(Alias),
    /// `OBSERVE SESSION 's1' TURN {...}`.
    Observe(Observe),
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

/// Pipelines joined by `UNION`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The times that hold where a clause names none.
    pub times: Times,
    /// The first pipeline.
    pub pipeline: Pipeline,
    /// The others.
    pub unions: Vec<Union>,
    /// Where the query stands.
    pub span: Span,
}

/// `UNION [ALL] pipeline`.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// Whether equal rows are all kept.
    pub all: bool,
    /// Its pipeline.
    pub pipeline: Pipeline,
    /// Where the word stands.
    pub span: Span,
}

/// A pipeline of clauses.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// The clauses that bind names, in order.
    pub clauses: Vec<Clause>,
    /// What becomes of the bindings; none returns every name.
    pub end: Option<QueryEnd>,
    /// Where it stands.
    pub span: Span,
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
    /// `WITH`.
    With(With),
    /// `LET`.
    Let(Vec<(Name, Expr)>),
    /// `FILTER`.
    Filter(Expr),
    /// `UNWIND`.
    Unwind(Unwind),
    /// `ORDER BY`, `SKIP` and `LIMIT` by themselves.
    Order(Ordering),
    /// `CALL name(...) YIELD ...`.
    Call(ProcedureCall),
    /// `CALL { ... }`.
    Subquery(Subquery),
    /// `RECALL`.
    Recall(Recall),
}

/// `WITH columns WHERE condition`.
#[derive(Clone, Debug, PartialEq)]
pub struct With {
    /// What goes on.
    pub columns: Return,
    /// Which rows go on.
    pub condition: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// `UNWIND list AS x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unwind {
    /// The list.
    pub list: Expr,
    /// The name of each item.
    pub variable: Name,
}

/// `CALL algo.pagerank(...) YIELD node, score AS rank WHERE ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcedureCall {
    /// The procedure, with its points.
    pub procedure: Name,
    /// The arguments.
    pub arguments: Vec<Expr>,
    /// The columns that are wanted and what each is called; none stands for all.
    pub yields: Vec<(Name, Name)>,
    /// Which rows go on.
    pub condition: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// `[OPTIONAL] CALL (a, b) { query }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// Whether a row without an answer goes on with nulls.
    pub optional: bool,
    /// The names that it sees; none stands for all.
    pub imports: Option<Vec<Name>>,
    /// The query.
    pub query: Query,
    /// Where the clause stands.
    pub span: Span,
}

/// `RECALL $q USING recipe {k: 5}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// What is asked: the recipe's `$q`.
    pub question: Expr,
    /// The recipe.
    pub recipe: Name,
    /// Its other parameters.
    pub parameters: Vec<(Name, Expr)>,
    /// Where the clause stands.
    pub span: Span,
}

/// `MATCH pattern, ...` with what stands behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// `OPTIONAL`: a row for which nothing fits goes on with nulls.
    pub optional: bool,
    /// The patterns, all of which must fit.
    pub patterns: Vec<PathPattern>,
    /// `BEAM k`, if it is a beam search.
    pub beam: Option<Beam>,
    /// Its own times.
    pub times: Times,
    /// `CONFIDENCE >= x`.
    pub confidence: Option<Expr>,
    /// `INTENT x` or `INTENT ~ x`.
    pub intent: Option<IntentFilter>,
    /// `WHERE`.
    pub condition: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// `INTENT x`.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentFilter {
    /// `~`: facts of other intents come behind, and are not left out.
    pub preferred: bool,
    /// The intent: its bare name, or an expression.
    pub intent: Expr,
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
    /// Which of the paths between two nodes, if it is said.
    pub search: Option<PathSearch>,
    /// What a path may meet more than once, if it is said.
    pub mode: Option<PathMode>,
    /// How the times of its facts must follow.
    pub time: Option<PathTime>,
    /// Where the pattern stands.
    pub span: Span,
    /// The first node.
    pub start: NodePattern,
    /// Each relation with the node behind it.
    pub steps: Vec<(RelationPattern, NodePattern)>,
}

/// Which of the paths between two nodes are wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum PathSearch {
    /// All of them.
    All,
    /// Any so many.
    Any(Amount),
    /// The shortest so many.
    Shortest(Amount),
    /// All of the so many least lengths; `ALL SHORTEST` is one.
    Groups(Amount),
    /// The so many with the least sum of the expression over their facts.
    Cheapest(Amount, Box<Expr>),
}

/// What a path may meet more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMode {
    /// Anything.
    Walk,
    /// No fact twice.
    Trail,
    /// No node twice.
    Acyclic,
    /// No node twice, but the first may be the last.
    Simple,
}

/// How the times of a path's facts must follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTime {
    /// Each is valid at or after an instant of the one before.
    Chronological,
    /// All are valid together at some instant.
    Simultaneous,
}

/// `(n:Label 'key' {property: value} WHERE condition)`.
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
    /// `WHERE` within the brackets.
    pub condition: Option<Box<Expr>>,
    /// Where it stands.
    pub span: Span,
}

/// `-[f:relation {property: value} WHERE condition]->{1,3}`.
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
    /// `WHERE` within the brackets; of each fact, if it repeats.
    pub condition: Option<Box<Expr>>,
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

/// `[DISTINCT] ... ORDER BY ... SKIP ... LIMIT ...`, of `RETURN` and `WITH`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Return {
    /// Whether equal rows are returned once.
    pub distinct: bool,
    /// `*`: every bound name comes first.
    pub star: bool,
    /// The columns.
    pub items: Vec<ReturnItem>,
    /// The order of the rows and which of them.
    pub ordering: Ordering,
}

/// `ORDER BY ... SKIP ... LIMIT ...`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ordering {
    /// The sort keys, the first one first.
    pub keys: Vec<SortItem>,
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
    /// Its name: what `AS` says, the variable that it is, or the text of the expression.
    pub name: String,
    /// Whether `AS` says it.
    pub named: bool,
}

/// One sort key.
#[derive(Clone, Debug, PartialEq)]
pub struct SortItem {
    /// Its value.
    pub expr: Expr,
    /// Largest first.
    pub descending: bool,
    /// `NULLS FIRST` or `NULLS LAST`, if said.
    pub nulls_first: Option<bool>,
}

/// `DEFINE RULE name body IMPLIES head CONFIDENCE x`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineRule {
    /// Its name, if it is given one.
    pub name: Option<Name>,
    /// What must hold.
    pub body: RulePath,
    /// What follows.
    pub head: RulePath,
    /// How surely, if said.
    pub confidence: Option<Expr>,
    /// Where the whole stands.
    pub span: Span,
}

/// `(a)-[relation]->(b)...`.
#[derive(Clone, Debug, PartialEq)]
pub struct RulePath {
    /// The first node.
    pub start: RuleNode,
    /// Each relation, its direction and the node behind it.
    pub steps: Vec<(Name, Direction, RuleNode)>,
    /// Where it stands.
    pub span: Span,
}

/// `(a:Label|Other)`.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleNode {
    /// Its name within the rule.
    pub variable: Name,
    /// Any of these labels; none stands for all.
    pub labels: Vec<Name>,
}

/// `DEFINE RECIPE name AS query`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineRecipe {
    /// The recipe.
    pub name: Name,
    /// What it runs.
    pub query: Query,
}

/// `DEFINE INDEX name FOR (n:Label) ON (n.property)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineIndex {
    /// Its name, if it is given one.
    pub name: Option<Name>,
    /// The label.
    pub label: Name,
    /// The property.
    pub property: Name,
}

/// `DROP what name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// What kind of thing.
    pub kind: Definition,
    /// Which.
    pub name: Name,
}

/// What can be defined and dropped by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// What follows from facts.
    Rule,
    /// A query with a name.
    Recipe,
    /// A way to find nodes by a property.
    Index,
}

/// `SHOW what [name]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// What: `RELATIONS`, `SCHEMA` and so on.
    pub what: Name,
    /// Which of them, if said.
    pub name: Option<Name>,
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
