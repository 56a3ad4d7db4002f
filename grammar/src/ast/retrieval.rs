//! The retrieval clauses: what a model does inside a query.

use super::{Amount, Expr, ModelName, Name, Query, Span, Times};

/// `SEARCH n:Label FOR e BY HYBRID TOP k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The name that the nodes are bound to.
    pub variable: Name,
    /// The labels to search, or all of them.
    pub labels: Vec<Name>,
    /// The text to search for.
    pub query: Expr,
    /// How, if said.
    pub mode: Option<SearchMode>,
    /// `WEIGHTS`, of a hybrid search.
    pub weights: Vec<(Name, Expr)>,
    /// `BY SIGNALS`, in place of a mode.
    pub signals: Option<BySignals>,
    /// How many nodes.
    pub top: Amount,
    /// Which nodes count.
    pub among: Among,
    /// Where the clause stands.
    pub span: Span,
}

/// How nodes are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// By their words.
    Text,
    /// By their meaning.
    Vector,
    /// By both.
    Hybrid,
}

/// `BY SIGNALS WEIGHTS $map WITHOUT $list`: by all that is known of turns, weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct BySignals {
    /// What each signal counts, if said: a map.
    pub weights: Option<Expr>,
    /// The signals that are left out, if said: a list.
    pub without: Option<Expr>,
}

/// Which nodes count in a clause that finds nodes. It holds inside, before the best are taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Among {
    /// Nodes of which a fact holds then.
    pub times: Times,
    /// Nodes of which a fact is that sure.
    pub confidence: Option<Expr>,
    /// `WHERE`.
    pub condition: Option<Expr>,
}

/// `GENERATE k:Label FOR e BEAM b MODEL m`.
#[derive(Clone, Debug, PartialEq)]
pub struct Generate {
    /// The name that the nodes are bound to.
    pub variable: Name,
    /// Their label, if said.
    pub labels: Vec<Name>,
    /// The question.
    pub question: Expr,
    /// How many keys.
    pub width: Amount,
    /// The model, if said.
    pub model: Option<ModelName>,
    /// Which nodes count.
    pub among: Among,
    /// Where the clause stands.
    pub span: Span,
}

/// `ANCHOR e:Label FOR q TOP k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The name that the entities are bound to.
    pub variable: Name,
    /// Their labels, or all of them.
    pub labels: Vec<Name>,
    /// The question.
    pub question: Expr,
    /// The most entities, if said.
    pub top: Option<Amount>,
    /// Which nodes count.
    pub among: Among,
    /// Where the clause stands.
    pub span: Span,
}

/// `ACTIVATE c FROM k BY e VIA r HOPS h TEMPERATURE t TOP n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Activate {
    /// The name that the active nodes are bound to.
    pub variable: Name,
    /// The name of the nodes that it begins with.
    pub from: Name,
    /// What says how much each of them counts, if said.
    pub weight: Option<Expr>,
    /// The relations along which it spreads.
    pub relations: Vec<Name>,
    /// How far, if said.
    pub hops: Option<Amount>,
    /// How evenly, if said.
    pub temperature: Option<Expr>,
    /// How many nodes are drawn, and the seed.
    pub sample: Option<(Amount, Amount)>,
    /// How many nodes are wanted, the most active first.
    pub top: Option<Amount>,
    /// Which facts count.
    pub times: Times,
    /// How sure they are.
    pub confidence: Option<Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// `REPRESENT s FROM c BY e COVERAGE a ALPHA x NEIGHBOURS k BUDGET n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Represent {
    /// The name that the representatives are bound to.
    pub variable: Name,
    /// The name of the nodes that they stand for.
    pub from: Name,
    /// What says how relevant a node is, if said.
    pub relevance: Option<Expr>,
    /// The share of the nodes that is to be covered.
    pub coverage: Expr,
    /// How much coverage counts beside relevance, if said.
    pub alpha: Option<Expr>,
    /// How many nearest neighbours a node stands for, if said.
    pub neighbours: Option<Amount>,
    /// The most nodes, if said.
    pub budget: Option<Amount>,
    /// Where the clause stands.
    pub span: Span,
}

/// `RERANK x FOR q MODEL m BOOST time 1.4 TOP k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rerank {
    /// The name of what is ranked.
    pub variable: Name,
    /// The question.
    pub question: Expr,
    /// The model, if said.
    pub model: Option<ModelName>,
    /// Factors for what the question asks for.
    pub boosts: Vec<(Name, Expr)>,
    /// How many rows go on.
    pub top: Amount,
    /// Where the clause stands.
    pub span: Span,
}

/// `RECONSTRUCT h FOR q TURNS t CALLS c MODEL m WITHOUT list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconstruct {
    /// The name that the evidence is bound to.
    pub variable: Name,
    /// The question.
    pub question: Expr,
    /// The most steps, if said.
    pub turns: Option<Amount>,
    /// The most operations of one step, if said.
    pub calls: Option<Amount>,
    /// The model, if said.
    pub model: Option<ModelName>,
    /// The mechanisms that it does without, if said.
    pub without: Option<Expr>,
    /// Which nodes count.
    pub among: Among,
    /// Where the clause stands.
    pub span: Span,
}

/// `ADMIT x FROM e GIVEN s FOR q WHILE UNCERTAIN MODEL m THRESHOLD t BUDGET n TOKENS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Admit {
    /// The name that what is admitted is bound to.
    pub variable: Name,
    /// The name of the nodes that may be admitted.
    pub from: Name,
    /// The names of what the reader has before.
    pub given: Vec<Name>,
    /// The question.
    pub question: Expr,
    /// The model, if said.
    pub model: Option<ModelName>,
    /// By what share the uncertainty has to fall, if said.
    pub threshold: Option<Expr>,
    /// The most tokens, if said.
    pub budget: Option<Amount>,
    /// Where the clause stands.
    pub span: Span,
}

/// `PACK p, t BUDGET n TOKENS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    /// The names of the evidence; none stands for all that is some.
    pub names: Vec<Name>,
    /// The most tokens.
    pub budget: Amount,
    /// Where the clause stands.
    pub span: Span,
}

/// `BEAM k ... EXPAND m DEPTH d SCORE BY a, b REPAIR ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Paths kept after each step.
    pub width: Amount,
    /// Continuations kept of each path, if said.
    pub expand: Option<Amount>,
    /// The most facts of a path, if fewer than the pattern has, if said.
    pub depth: Option<Amount>,
    /// What orders the paths; larger is better.
    pub scores: Vec<Expr>,
    /// What is done where no continuation is good.
    pub repair: Option<Repair>,
}

/// `REPAIR USING a, b WHEN condition`.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The rules or families of rules; none stands for all.
    pub rules: Vec<Name>,
    /// When, if said.
    pub when: Option<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// `TRAIN SCORER name FROM query SEED n`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainScorer {
    /// The scorer.
    pub name: Name,
    /// The examples: numbers by name, and the `label` that is to be learned.
    pub query: Query,
    /// What makes it repeatable, if said.
    pub seed: Option<Amount>,
    /// Where the whole stands.
    pub span: Span,
}
