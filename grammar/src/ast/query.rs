//! Queries: pipelines, clauses and how they end.

use super::{
    Activate, Admit, Amount, Anchor, Beam, Expr, Generate, Name, Pack, PathPattern, Reconstruct,
    Represent, Rerank, Search, Span, Times, ValidTime,
};

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

/// A clause that binds names.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// `MATCH`.
    Match(Match),
    /// `SEARCH`.
    Search(Search),
    /// `GENERATE`.
    Generate(Generate),
    /// `ANCHOR`.
    Anchor(Anchor),
    /// `ACTIVATE`.
    Activate(Activate),
    /// `REPRESENT`.
    Represent(Represent),
    /// `RERANK`.
    Rerank(Rerank),
    /// `RECONSTRUCT`.
    Reconstruct(Reconstruct),
    /// `ADMIT`.
    Admit(Admit),
    /// `PACK`.
    Pack(Pack),
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

/// `RECALL $q USING recipe {k: 5} FOR VALID_TIME AS OF t BUDGET n TOKENS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// What is asked: the recipe's `$q`.
    pub question: Expr,
    /// The recipe, if said.
    pub recipe: Option<Name>,
    /// Its other parameters.
    pub parameters: Vec<(Name, Expr)>,
    /// The valid time of what the recipe says no time of.
    pub valid: Option<ValidTime>,
    /// The most tokens of a text of what it finds, if one is wanted.
    pub budget: Option<Amount>,
    /// Where the clause stands.
    pub span: Span,
}

/// `MATCH pattern, ...` with what stands after it.
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
    /// `~`: facts of other intents come after, and are not left out.
    pub preferred: bool,
    /// The intent: its bare name, or an expression.
    pub intent: Expr,
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
    /// `CLOSE f, g AT t`.
    Close {
        /// The facts.
        names: Vec<Name>,
        /// When they ended.
        at: Expr,
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
