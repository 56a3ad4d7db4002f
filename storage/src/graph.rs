//! The graph's data: ids, values, intervals, nodes, facts, relations, and what is defined by name.
//!
//! Plain data without I/O. Records on disk are these types, encoded by `record`.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

mod bulk_fact;
mod definition;
mod fact;
mod filter;
mod interval;
mod node_bytes;

pub use bulk_fact::BulkFact;
pub use definition::{
    Definition, IndexDefinition, IndexKind, RecipeDefinition, RuleDefinition, ScorerDefinition,
};
pub use fact::{Belief, Claim, Denial, Edge, Evidence, VersionRecord};
pub use filter::{EdgeFilter, Side, SystemScope, ValidScope};
pub(crate) use interval::Form;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
        pub struct $name(pub $inner);
    };
}

id!(
    /// A node.
    NodeId(u64)
);
id!(
    /// A fact, the same through all its versions.
    FactId(u64)
);
id!(
    /// An interned label.
    LabelId(u32)
);
id!(
    /// An interned relation.
    RelationId(u32)
);
id!(
    /// An interned property name.
    PropertyId(u32)
);

/// Microseconds since the Unix epoch, UTC; [`Interval::MIN`] and [`Interval::MAX`] are open ends.
pub type Time = i64;

/// A value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// Text.
    String(String),
    /// An instant.
    Timestamp(Time),
    /// Values in order.
    List(Vec<Value>),
    /// Values by name.
    Map(BTreeMap<String, Value>),
}

macro_rules! from {
    ($($from:ty => $value:ident;)*) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self { Self::$value(value.into()) }
        })*
    };
}

from! {
    bool => Bool;
    i64 => Int;
    i32 => Int;
    f64 => Float;
    &str => String;
    String => String;
    &String => String;
}

/// Properties by name id.
pub type Properties = BTreeMap<PropertyId, Value>;

/// Instants from `from`, before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The first instant, or [`Interval::MIN`].
    pub from: Time,
    /// The first instant that is no longer in it, or [`Interval::MAX`].
    pub to: Time,
}

impl Interval {
    /// No beginning.
    pub const MIN: Time = Time::MIN;
    /// No end.
    pub const MAX: Time = Time::MAX;
    /// All of time.
    pub const ALL: Self = Self { from: Self::MIN, to: Self::MAX };

    /// The interval, if it holds an instant.
    pub fn new(from: Time, to: Time) -> Option<Self> {
        (from < to && to != Self::MIN && from != Self::MAX).then_some(Self { from, to })
    }

    /// Whether the instant is in it.
    pub fn contains(&self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    /// Whether some instant is in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.from < other.to && other.from < self.to
    }

    /// Whether they overlap, or one begins where the other ends.
    pub fn touches(&self, other: &Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }

    /// The smallest interval that holds both.
    pub fn hull(&self, other: &Self) -> Self {
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    /// The time of both; none if there is none.
    pub fn common(&self, other: &Self) -> Option<Self> {
        Self::new(self.from.max(other.from), self.to.min(other.to))
    }

    /// The parts of it before and after another one.
    pub fn beside(&self, other: &Self) -> [Option<Self>; 2] {
        match self.overlaps(other) {
            true => [Self::new(self.from, other.from), Self::new(other.to, self.to)],
            false => [Some(*self), None],
        }
    }

    /// Whether each instant of it is in one of these.
    pub fn is_within(&self, others: &[Self]) -> bool {
        let mut others: Vec<&Self> = others.iter().filter(|other| other.overlaps(self)).collect();
        others.sort_unstable_by_key(|other| other.from);
        let mut from = self.from;
        for other in others {
            if other.from > from {
                return false;
            }
            from = from.max(other.to);
        }
        from >= self.to
    }
}

/// What retrieval a fact is good for (REAL, section III-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Intent {
    /// What is so.
    #[default]
    Fact,
    /// Why it is so.
    Causal,
    /// When it is so.
    Temporal,
    /// What it is compared with.
    Contrast,
    /// How it came to change.
    Evolution,
}

impl Intent {
    /// Every intent, in the order of its number on disk.
    pub const ALL: [Self; 5] =
        [Self::Fact, Self::Causal, Self::Temporal, Self::Contrast, Self::Evolution];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Causal => "causal",
            Self::Temporal => "temporal",
            Self::Contrast => "contrast",
            Self::Evolution => "evolution",
        }
    }

    /// The intent of that name, in any letter case.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.name().eq_ignore_ascii_case(name))
    }
}

/// How many tails a head may have in a relation at any valid instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum Cardinality {
    /// At most one stable tail.
    One,
    /// Any number.
    Many,
    /// Nobody has said; acts as many.
    #[default]
    Unknown,
}

/// How confidence moves when a held fact is asserted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum ConfidencePolicy {
    /// `1 - (1 - c1)(1 - c2)`: independent evidence adds up.
    #[default]
    NoisyOr,
    /// The larger of the two.
    Max,
    /// The newer of the two.
    Latest,
}

impl ConfidencePolicy {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::NoisyOr, Self::Max, Self::Latest];

    /// Its name in MemQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoisyOr => "noisy_or",
            Self::Max => "max",
            Self::Latest => "latest",
        }
    }

    /// The policy of that name, in any letter case.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name().eq_ignore_ascii_case(name))
    }
}

/// What `DEFINE RELATION` says of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct RelationRule {
    /// How many tails at a time.
    pub cardinality: Cardinality,
    /// The intent of facts that name none.
    pub intent: Intent,
    /// How confidence moves.
    pub policy: ConfidencePolicy,
    /// A fact less sure than this never closes a stable one.
    pub threshold: f64,
    /// The relation under which each fact is also found from its tail to its head: the inverse, or
    /// the relation itself if it is symmetric.
    pub mirror: Option<RelationId>,
    /// Since when the cardinality holds, in system time; [`Interval::MIN`] is always.
    pub since: Time,
}

impl Default for RelationRule {
    fn default() -> Self {
        Self {
            cardinality: Cardinality::default(),
            intent: Intent::default(),
            policy: ConfidencePolicy::default(),
            threshold: 0.5,
            mirror: None,
            since: Interval::MIN,
        }
    }
}

/// A node as it is stored.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct NodeRecord {
    /// Its label.
    pub label: LabelId,
    /// Its key, unique within the label.
    pub key: String,
    /// Other keys that lead to it.
    pub aliases: Vec<String>,
    /// Its properties.
    pub properties: Properties,
    /// When the node came to be, in system time.
    pub created: Time,
    /// When this state of it came to be, in system time.
    pub system_from: Time,
}

impl NodeRecord {
    /// Its key and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.key).chain(&self.aliases)
    }
}
