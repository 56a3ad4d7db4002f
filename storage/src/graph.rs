//! The graph's data: ids, values, intervals, nodes, facts, relations, and what is defined by name.
//!
//! Plain data without I/O. Records on disk are these types, encoded by `record`.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

mod bulk_fact;
mod definition;
mod interval;
mod node_bytes;

pub use bulk_fact::BulkFact;
pub use definition::{
    Definition, IndexDefinition, IndexKind, RecipeDefinition, RuleDefinition, ScorerDefinition,
};

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

/// What one version of a fact says, beside its head and relation.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[bincode(decode_context = "Form")]
pub struct Belief {
    /// The tail.
    pub tail: NodeId,
    /// When it holds in the world.
    pub valid: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for.
    pub intent: Intent,
    /// Held beside a stable fact that it contradicts without outweighing it.
    pub uncertain: bool,
    /// Where it comes from: node keys or any text.
    pub sources: Vec<String>,
    /// Its properties.
    pub properties: Properties,
    /// What it rests on, in order, so that a part of it can be forgotten. Empty if the belief is
    /// one claim and says no more and no less than that.
    pub evidence: Vec<Evidence>,
}

/// Something that a belief rests on.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[bincode(decode_context = "Form")]
pub enum Evidence {
    /// It was asserted.
    Claim(Claim),
    /// It was confirmed by this much, in (0, 1].
    Confirmed(f64),
    /// It was doubted by this much, in (0, 1].
    Doubted(f64),
    /// It was said not to hold for a time.
    Denied(Denial),
}

impl Evidence {
    /// It, if it was asserted.
    pub fn claim(&self) -> Option<&Claim> {
        match self {
            Self::Claim(claim) => Some(claim),
            Self::Denied(_) | Self::Confirmed(_) | Self::Doubted(_) => None,
        }
    }

    /// It, if it was said not to hold for a time.
    pub fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Denied(denial) => Some(denial),
            Self::Claim(_) | Self::Confirmed(_) | Self::Doubted(_) => None,
        }
    }

    /// The time that it tells of, if it tells of any.
    pub fn valid(&self) -> Option<Interval> {
        let claimed = self.claim().map(|claim| claim.valid);
        claimed.or_else(|| self.denial().map(|denial| denial.valid))
    }
}

/// What was said against a fact: of this time another value was told, or that it was over. It is no part
/// of the claims; it says what a belief gets back without it.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[bincode(decode_context = "Form")]
pub struct Denial {
    /// Who says so; nobody where that is not known.
    pub sources: Vec<String>,
    /// The time that it took.
    pub valid: Interval,
    /// Whether it was said to be over; else another value was told.
    pub is_end: bool,
}

/// What the same sources asserted of a fact.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[bincode(decode_context = "Form")]
pub struct Claim {
    /// Who says so.
    pub sources: Vec<String>,
    /// When it holds in the world.
    pub valid: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for.
    pub intent: Intent,
    /// Its properties.
    pub properties: Properties,
}

/// One version of a fact: a belief and when it was believed.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[bincode(decode_context = "Form")]
pub struct VersionRecord {
    /// The head.
    pub head: NodeId,
    /// The relation.
    pub relation: RelationId,
    /// What it says.
    pub belief: Belief,
    /// When it was believed; `to` is set once, from [`Interval::MAX`] to an instant.
    pub system: Interval,
    /// The relation under which it is also found from its tail to its head.
    pub mirror: Option<RelationId>,
}

/// A fact as a traversal meets it: all that a filter looks at, without a second look-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The fact.
    pub fact: FactId,
    /// Which of its versions.
    pub version: u32,
    /// The head.
    pub head: NodeId,
    /// The relation.
    pub relation: RelationId,
    /// The tail.
    pub tail: NodeId,
    /// When it holds in the world.
    pub valid: Interval,
    /// When it was believed.
    pub system: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for.
    pub intent: Intent,
    /// See [`Belief::uncertain`].
    pub uncertain: bool,
    /// Whether the fact is found from both its ends, see [`VersionRecord::mirror`].
    pub two_way: bool,
}

impl Edge {
    /// The node that it leads to from the one whose edges of that side are read.
    pub fn far(&self, side: Side) -> NodeId {
        match side {
            Side::Out => self.tail,
            Side::In => self.head,
        }
    }

    /// The node at its other end, seen from one of its ends.
    pub fn beyond(&self, node: NodeId) -> NodeId {
        if self.head == node { self.tail } else { self.head }
    }
}

impl VersionRecord {
    /// The fact as a traversal meets it: from its head, and from its tail too if it has a mirror.
    pub fn edges(&self, fact: FactId, version: u32) -> impl Iterator<Item = Edge> {
        let belief = &self.belief;
        let from_head = Edge {
            fact,
            version,
            head: self.head,
            relation: self.relation,
            tail: belief.tail,
            valid: belief.valid,
            system: self.system,
            confidence: belief.confidence,
            intent: belief.intent,
            uncertain: belief.uncertain,
            two_way: self.mirror.is_some(),
        };
        let from_tail = self.mirror.map(|relation| Edge {
            head: from_head.tail,
            relation,
            tail: from_head.head,
            ..from_head
        });
        std::iter::once(from_head).chain(from_tail.filter(move |edge| *edge != from_head))
    }
}

/// Which direction a traversal takes from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// To tails: facts that have the node as head.
    Out,
    /// To heads: facts that have the node as tail.
    In,
}

/// Which part of valid time a read looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidScope {
    /// Facts that hold at the instant.
    AsOf(Time),
    /// Facts that hold at some instant of the interval.
    Within(Interval),
    /// All facts.
    All,
}

/// Which part of system time a read looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemScope {
    /// What is believed now.
    Current,
    /// What was believed at the instant.
    AsOf(Time),
    /// Everything that was ever believed.
    All,
}

/// What a scan keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeFilter {
    /// By valid time.
    pub valid: ValidScope,
    /// By system time.
    pub system: SystemScope,
    /// By confidence, at least this.
    pub confidence: f64,
    /// By intent.
    pub intent: Option<Intent>,
}

impl EdgeFilter {
    /// What is believed now, at any valid time: also of what has ended.
    pub const CURRENT: Self = Self {
        valid: ValidScope::All,
        system: SystemScope::Current,
        confidence: 0.0,
        intent: None,
    };

    /// All that is and ever was believed.
    pub const EVERYTHING: Self = Self { system: SystemScope::All, ..Self::CURRENT };

    /// What is believed now, and valid at the instant.
    pub const fn valid_at(time: Time) -> Self {
        Self { valid: ValidScope::AsOf(time), ..Self::CURRENT }
    }

    /// Whether the edge is kept.
    pub fn keeps(&self, edge: &Edge) -> bool {
        let valid = match self.valid {
            ValidScope::AsOf(time) => edge.valid.contains(time),
            ValidScope::Within(interval) => edge.valid.overlaps(&interval),
            ValidScope::All => true,
        };
        let system = match self.system {
            SystemScope::Current => edge.system.to == Interval::MAX,
            SystemScope::AsOf(time) => edge.system.contains(time),
            SystemScope::All => true,
        };
        valid
            && system
            && edge.confidence >= self.confidence
            && self.intent.is_none_or(|intent| intent == edge.intent)
    }
}
