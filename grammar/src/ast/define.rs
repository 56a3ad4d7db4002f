//! Definitions and writes.

use super::{Direction, Expr, Name, NodePattern, Query, Span};

/// `DEFINE RULE name body IMPLIES head FAMILY f CONFIDENCE x`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineRule {
    /// Its name, if it is given one.
    pub name: Option<Name>,
    /// What must hold.
    pub body: RulePath,
    /// What follows.
    pub head: RulePath,
    /// The kind of rule that it is, if said.
    pub family: Option<Name>,
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
    /// Each relation, its direction and the node after it.
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

/// `DEFINE RECIPE name {k: 5} AS query`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineRecipe {
    /// The recipe.
    pub name: Name,
    /// What its parameters are unless something else is said.
    pub defaults: Vec<(Name, Expr)>,
    /// What it runs.
    pub query: Query,
}

/// `DEFINE INDEX name FOR (n:Label) ON (n.title WEIGHT 2, n.text) FULLTEXT`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineIndex {
    /// Its name, if it is given one.
    pub name: Option<Name>,
    /// The label.
    pub label: Name,
    /// The properties, each with its weight, if said.
    pub properties: Vec<(Name, Option<Expr>)>,
    /// Whether it is one of their words.
    pub fulltext: bool,
    /// Where the whole stands.
    pub span: Span,
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
    /// A way to find nodes by their properties.
    Index,
    /// A score that was learned.
    Scorer,
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

/// `FORGET TURN e`, `FORGET SESSION e`.
#[derive(Clone, Debug, PartialEq)]
pub struct ForgetHeard {
    /// Whether it is a whole session.
    pub session: bool,
    /// Its id.
    pub id: Expr,
}

/// `SPLIT e FROM (:Label 'key')`.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The name that does not mean it.
    pub name: Expr,
    /// The node that it was taken for.
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
