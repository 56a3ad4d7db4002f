//! Facts: what is believed of two nodes, what that rests on, and what a scan gives of it.

use bincode::{Decode, Encode};

use super::{FactId, Form, Intent, Interval, NodeId, Properties, RelationId, Side};

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
