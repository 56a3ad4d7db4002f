//! The plan of a query: data, built by `bind`, rewritten by `optimize`, run by `exec`.
//!
//! Every variant names the physical operator of the same name in `exec`; its doc is its meaning.

pub(crate) mod explain;
pub(crate) mod expr;
pub(crate) mod optimize;

use std::fmt;

use engraph_storage::graph::{EdgeFilter, LabelId, RelationId, Side, SystemScope};

use crate::plan::expr::{AggregateFunction, Expr, Slot};

/// An operator and its inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LogicalPlan {
    /// One row in which nothing is bound.
    Once,
    /// Each input row with each node of the labels bound to the slot.
    NodeScan { input: Box<LogicalPlan>, node: Slot, labels: Labels, system: SystemScope },
    /// Each input row with each node of the labels that has this key or alias bound to the slot.
    NodeLookup {
        input: Box<LogicalPlan>,
        node: Slot,
        labels: Labels,
        key: Expr,
        system: SystemScope,
    },
    /// Each input row with each way to follow the step bound to its slots.
    Expand {
        input: Box<LogicalPlan>,
        step: Step,
        /// The far node is bound already and must be the one that is reached.
        closes: bool,
        /// Facts of the same clause, none of which may be met again.
        distinct_from: Vec<Slot>,
    },
    /// Each input row with the path along these facts bound to the slot.
    BindPath { input: Box<LogicalPlan>, path: Slot, start: Slot, facts: Vec<Slot> },
    /// The input rows for which the condition is true. A tentative one lets rows pass for which it
    /// fails: it stands below the same condition, which will fail for them if they get there.
    Filter { input: Box<LogicalPlan>, condition: Expr, tentative: bool },
    /// Each input row with the nodes nearest to the query bound to the slot, best first; if the
    /// slot is bound already, the input rows whose node is nearest.
    Search {
        input: Box<LogicalPlan>,
        node: Slot,
        score: Slot,
        bound: bool,
        labels: Labels,
        query: Expr,
        top: usize,
        condition: Option<Expr>,
        system: SystemScope,
    },
    /// Each input row with the best paths that a beam search from its node keeps, best first
    /// (REAL, section III-B2, with the score given by the query).
    Beam { input: Box<LogicalPlan>, step: Step, path: Slot, score: Slot, search: BeamSearch },
    /// Each input row with the values of the expressions bound to their slots.
    Project { input: Box<LogicalPlan>, items: Vec<(Slot, Expr)> },
    /// One row for each value of the keys, with the aggregates over its input rows.
    Aggregate { input: Box<LogicalPlan>, keys: Vec<(Slot, Expr)>, aggregates: Vec<Aggregate> },
    /// The input rows, those that are equal in the slots once.
    Distinct { input: Box<LogicalPlan>, slots: Vec<Slot> },
    /// The input rows in order, or the first of them.
    Sort { input: Box<LogicalPlan>, keys: Vec<SortKey>, first: Option<usize> },
    /// The input rows without the first `skip`, at most `limit` of them.
    Slice { input: Box<LogicalPlan>, skip: usize, limit: Option<usize> },
}

/// Which labels a node may have; none stands for all, an empty list for no node.
pub(crate) type Labels = Option<Vec<LabelId>>;

/// One relation pattern, in the direction in which it is walked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) from: Slot,
    pub(crate) to: Slot,
    pub(crate) fact: Slot,
    /// Which relations; none stands for all, an empty list for no fact.
    pub(crate) relations: Option<Vec<RelationId>>,
    /// Which sides of a node to follow.
    pub(crate) sides: &'static [Side],
    /// The filter that is pushed into the scan.
    pub(crate) filter: EdgeFilter,
    /// How often it repeats; none for exactly once, which binds a fact and not a list.
    pub(crate) hops: Option<(u32, u32)>,
    /// Whether anything asks for the facts of one that repeats.
    pub(crate) keeps_facts: bool,
    /// It is walked against the order in which it is written, so a list of facts is turned round.
    pub(crate) against: bool,
}

/// The numbers of a beam search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BeamSearch {
    /// Paths kept after each step, and in the answer.
    pub(crate) width: usize,
    /// Continuations kept of each path.
    pub(crate) expand: usize,
    /// What orders the paths; larger is better.
    pub(crate) order: Expr,
    /// What a path in the answer must fulfil.
    pub(crate) condition: Option<Expr>,
}

/// One aggregate of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregate {
    pub(crate) slot: Slot,
    pub(crate) function: AggregateFunction,
    pub(crate) distinct: bool,
    /// None for `count(*)`.
    pub(crate) argument: Option<Expr>,
}

/// As it is written.
impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        let argument = self.argument.as_ref().map_or("*".to_owned(), ToString::to_string);
        write!(f, "{}({distinct}{argument})", self.function.name())
    }
}

/// One sort key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SortKey {
    pub(crate) expr: Expr,
    pub(crate) descending: bool,
}

/// A plan and what becomes of its rows.
#[derive(Clone, Debug)]
pub(crate) struct BoundQuery {
    pub(crate) plan: LogicalPlan,
    /// The columns of the answer, or what to change.
    pub(crate) end: End,
    /// The name of every slot; the anonymous ones begin with a blank.
    pub(crate) names: Vec<String>,
    /// The rules that have changed the plan.
    pub(crate) rules: Vec<&'static str>,
}

/// What becomes of the rows of a plan.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// They are the answer, with these names and slots.
    Return(Vec<(String, Slot)>),
    /// The nodes and facts in these slots are changed.
    Change { change: Change, slots: Vec<Slot> },
}

/// What is done to nodes and facts that a query found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    /// The belief in the facts ends.
    Retract,
    /// The confidence of the facts is raised, by a number above 0 and at most 1.
    Confirm { by: f64 },
    /// The confidence of the facts is lowered, by a number above 0 and below 1.
    Doubt { by: f64 },
    /// Nothing is left of the nodes and facts.
    Forget,
}

impl LogicalPlan {
    /// The input of the operator; none for the one that has none.
    pub(crate) fn input(&self) -> Option<&LogicalPlan> {
        match self {
            Self::Once => None,
            Self::NodeScan { input, .. }
            | Self::NodeLookup { input, .. }
            | Self::Expand { input, .. }
            | Self::BindPath { input, .. }
            | Self::Filter { input, .. }
            | Self::Search { input, .. }
            | Self::Beam { input, .. }
            | Self::Project { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Slice { input, .. } => Some(input),
        }
    }

    /// The same, to be replaced.
    pub(crate) fn input_mut(&mut self) -> Option<&mut LogicalPlan> {
        match self {
            Self::Once => None,
            Self::NodeScan { input, .. }
            | Self::NodeLookup { input, .. }
            | Self::Expand { input, .. }
            | Self::BindPath { input, .. }
            | Self::Filter { input, .. }
            | Self::Search { input, .. }
            | Self::Beam { input, .. }
            | Self::Project { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Slice { input, .. } => Some(input),
        }
    }

    /// The slots that this operator binds, its inputs aside.
    pub(crate) fn binds(&self) -> Vec<Slot> {
        match self {
            Self::NodeScan { node, .. } | Self::NodeLookup { node, .. } => vec![*node],
            Self::Expand { step, .. } => vec![step.fact, step.to],
            Self::BindPath { path, .. } => vec![*path],
            Self::Search { node, score, .. } => vec![*node, *score],
            Self::Beam { step, path, score, .. } => vec![step.fact, step.to, *path, *score],
            Self::Project { items, .. } => items.iter().map(|item| item.0).collect(),
            Self::Aggregate { keys, aggregates, .. } => {
                let keys = keys.iter().map(|key| key.0);
                keys.chain(aggregates.iter().map(|aggregate| aggregate.slot)).collect()
            }
            Self::Once
            | Self::Filter { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Slice { .. } => Vec::new(),
        }
    }
}
