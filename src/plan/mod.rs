//! The plan of a query: data, built by `bind`, rewritten by `optimize`, run by `exec`.
//!
//! Every variant names the physical operator of the same name in `exec`; its doc is its meaning. A
//! plan knows neither the values of parameters nor the time: the same plan serves every run of a
//! text.

mod asked;
pub(crate) mod estimate;
pub(crate) mod explain;
mod explain_retrieval;
pub(crate) mod expr;
pub(crate) mod given;
pub(crate) mod optimize;
pub(crate) mod order;
pub(crate) mod pattern;
pub(crate) mod procedure;
pub(crate) mod retrieval;
mod scans;
pub(crate) mod scope;
mod tree;

use std::fmt;
use std::sync::Arc;

use engraph_storage::graph::{LabelId, PropertyId, RelationId, Side};

use crate::plan::expr::{AggregateFunction, Expr, Slot};
use crate::plan::pattern::Pattern;
use crate::plan::procedure::Procedure;
use crate::plan::retrieval::Retrieval;
use crate::plan::scope::{Scope, SystemTime};

/// What a node is looked up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupBy {
    /// Its key or an alias, as a pattern asks.
    Key,
    /// Its key alone, for `n.key = value`.
    KeyProperty,
    /// Its key, for `n.key IN list`.
    KeyIn,
    /// What `id(n)` gives.
    Id,
    /// The same, for `id(n) IN list`.
    IdIn,
}

impl LookupBy {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Key | Self::KeyProperty => "key",
            Self::KeyIn => "key IN",
            Self::Id => "id",
            Self::IdIn => "id IN",
        }
    }
}

/// An operator and its inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LogicalPlan {
    /// The row that the plan begins with; nothing is bound in that of a whole query.
    Once,
    /// Each input row with every place where the pattern fits. `order` makes scans and steps of it
    /// before it is run.
    Match { input: Box<LogicalPlan>, pattern: Box<Pattern> },
    /// Each input row with each node of the labels bound to the slot.
    NodeScan { input: Box<LogicalPlan>, node: Slot, labels: Labels, system: SystemTime },
    /// Each input row with each node of the labels that answers to this bound to the slot.
    NodeLookup {
        input: Box<LogicalPlan>,
        node: Slot,
        labels: Labels,
        by: LookupBy,
        key: Expr,
        system: SystemTime,
    },
    /// Each input row with each node of the label whose property is in the range bound to the slot.
    IndexScan { input: Box<LogicalPlan>, node: Slot, label: LabelId, lookup: IndexLookup },
    /// Each input row with each way to follow the step bound to its slots.
    Expand {
        input: Box<LogicalPlan>,
        step: Arc<Step>,
        /// The far node is bound already and must be the one that is reached.
        closes: bool,
        /// Facts of the same clause, none of which may be met again.
        distinct_from: Vec<Slot>,
    },
    /// Each input row with each path of several facts that the walk finds.
    Walk { input: Box<LogicalPlan>, walk: Arc<Walk> },
    /// Each input row with the path along these steps bound to the slot: the facts of each, and the node at
    /// its end. What stands between is seen at the system time.
    BindPath {
        input: Box<LogicalPlan>,
        path: Slot,
        start: Slot,
        steps: Vec<(Slot, Slot)>,
        system: SystemTime,
    },
    /// The input rows for which the condition is true. A tentative one lets rows pass for which it
    /// fails: it stands below the same condition, which will fail for them if they get there.
    Filter { input: Box<LogicalPlan>, condition: Expr, tentative: bool },
    /// The rows that a retrieval clause makes of all input rows.
    Retrieve { input: Box<LogicalPlan>, clause: Arc<Retrieval> },
    /// Each input row with the best paths that a beam search from its node keeps, best first
    /// (REAL, section III-B2, with the score given by the query).
    Beam {
        input: Box<LogicalPlan>,
        step: Arc<Step>,
        path: Slot,
        score: Slot,
        search: Arc<BeamSearch>,
    },
    /// Each input row with the values of the expressions bound to their slots.
    Project { input: Box<LogicalPlan>, items: Arc<[(Slot, Expr)]> },
    /// Each input row with each item of the list bound to the slot.
    Unwind { input: Box<LogicalPlan>, list: Expr, item: Slot },
    /// Each input row with each row of the inner plan that begins with it.
    Apply {
        input: Box<LogicalPlan>,
        inner: Box<LogicalPlan>,
        /// The slots that are null where the inner plan gives nothing; without them, the row ends.
        optional: Option<Vec<Slot>>,
    },
    /// The rows of all inputs, one input after the other, each with its slots moved to `slots`.
    Union { inputs: Vec<(LogicalPlan, Vec<Slot>)>, slots: Vec<Slot> },
    /// Each input row with each row of the procedure's answer bound to the slots.
    Call {
        input: Box<LogicalPlan>,
        procedure: Procedure,
        arguments: Vec<Expr>,
        scope: Box<Scope>,
        slots: Vec<Option<Slot>>,
    },
    /// One row for each value of the keys, with the aggregates over its input rows.
    Aggregate { input: Box<LogicalPlan>, keys: Vec<(Slot, Expr)>, aggregates: Vec<Aggregate> },
    /// The input rows, those that are equal in the slots once.
    Distinct { input: Box<LogicalPlan>, slots: Vec<Slot> },
    /// The input rows in order, or the first of them.
    Sort { input: Box<LogicalPlan>, keys: Vec<SortKey>, first: Option<Cut> },
    /// The input rows without the first ones, at most so many of them.
    Slice { input: Box<LogicalPlan>, cut: Cut },
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
    pub(crate) scope: Scope,
    /// How often it repeats; none for exactly once, which binds a fact and not a list.
    pub(crate) hops: Option<(u32, u32)>,
    /// What each fact of one that repeats must fulfil; it stands in the slot by itself then.
    pub(crate) each: Option<Expr>,
    /// Whether anything asks for the facts of one that repeats.
    pub(crate) keeps_facts: bool,
    /// It is walked against the order in which it is written, so a list of facts is turned round.
    pub(crate) against: bool,
}

/// Paths of several facts from a bound node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Walk {
    /// The steps in the order in which they are walked.
    pub(crate) legs: Vec<Leg>,
    /// Facts of the same clause, none of which may be met again.
    pub(crate) distinct_from: Vec<Slot>,
    /// The slot of the path, if it has a name.
    pub(crate) path: Option<Slot>,
    pub(crate) mode: Mode,
    pub(crate) time: Option<PathTime>,
    pub(crate) search: PathSearch,
    /// The least product of the confidences of its facts (design: confidence is an algebra on
    /// paths): a path can only lose by going on, so what falls below is not walked further.
    pub(crate) floor: Option<Expr>,
    /// Of each input row only so many paths are wanted, the most confident first.
    pub(crate) most_confident: Option<Cut>,
    /// What the row of a path must fulfil, so that it is one of these.
    pub(crate) accept: Option<Expr>,
}

/// One step of a walk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leg {
    pub(crate) step: Step,
    /// What its far node must fulfil.
    pub(crate) condition: Option<Expr>,
    /// The far node is bound already and must be the one that is reached.
    pub(crate) closes: bool,
}

/// What a path may meet more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Walk,
    Trail,
    Acyclic,
    Simple,
}

/// How the times of a path's facts must follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathTime {
    /// There are instants, none before the last, at which they hold one after the other.
    Chronological,
    /// There is an instant at which all hold.
    Simultaneous,
}

/// Which of the paths between two nodes are wanted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathSearch {
    All,
    /// The shortest so many; any so many are these as well.
    Shortest(Expr),
    /// All of the so many least lengths.
    Groups(Expr),
    /// The so many with the least sum of the expression over their facts.
    Cheapest(Expr, Expr),
}

/// What is looked up in an index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexLookup {
    pub(crate) property: PropertyId,
    /// The property's name.
    pub(crate) name: String,
    /// What the values are compared with.
    pub(crate) bounds: Vec<(IndexBound, Expr)>,
}

/// How the values of an index are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexBound {
    Equal,
    Above,
    AtLeast,
    Below,
    AtMost,
    Prefix,
}

impl IndexBound {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Prefix => "STARTS WITH",
        }
    }
}

/// What a beam search is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BeamSearch {
    /// Paths kept after each step, and in the answer.
    pub(crate) width: Expr,
    /// Continuations kept of each path; none for as many as there are.
    pub(crate) expand: Option<Expr>,
    /// The most facts of a path; none for as many as the pattern has.
    pub(crate) depth: Option<Expr>,
    /// A single fact is bound, not a list of facts.
    pub(crate) single: bool,
    /// What orders the paths; larger is better. The score of a path is the mean.
    pub(crate) scores: Vec<BeamScore>,
    /// The intent whose facts come first where continuations are chosen.
    pub(crate) prefers: Option<Expr>,
    /// What is done where no continuation is good.
    pub(crate) repair: Option<BeamRepair>,
    /// What a path in the answer must fulfil.
    pub(crate) condition: Option<Expr>,
}

/// One of the scores of a path, and the slot that holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BeamScore {
    pub(crate) expr: Expr,
    pub(crate) slot: Slot,
}

/// Counterfactual repair (REAL, section III-B2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BeamRepair {
    /// The names of the rules that may be used.
    pub(crate) rules: Vec<String>,
    /// The relations that a step may have; none stands for all. Some are known to rules alone.
    pub(crate) relations: Vec<String>,
    /// Over the slots of the scores: whether a step is not good. None: whether it is over.
    pub(crate) when: Option<Expr>,
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
    pub(crate) nulls_first: bool,
}

/// `SKIP` and `LIMIT`: whole numbers that may be parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) skip: Option<Expr>,
    pub(crate) limit: Option<Expr>,
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

impl BoundQuery {
    /// The names of the columns of the answer; none if there is no answer.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        let named = match &self.end {
            End::Return(named) => named.as_slice(),
            _ => &[],
        };
        named.iter().map(|(name, _)| name.as_str())
    }
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// The belief in the facts ends.
    Retract,
    /// The facts hold no longer from an instant on.
    Close { at: Expr },
    /// The confidence of the facts is raised, by a number above 0 and at most 1.
    Confirm { by: Expr },
    /// The confidence of the facts is lowered, by a number above 0 and below 1.
    Doubt { by: Expr },
    /// Nothing is left of the nodes and facts.
    Forget,
}
