//! Patterns: nodes, relations, paths and how they are searched.

use super::{Amount, Expr, Name, Span};

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
    /// Each relation with the node after it.
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
    /// The key straight after the label.
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
