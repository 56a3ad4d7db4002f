//! A fact as a load takes it in: plain, from one source.

use super::{
    Belief, Edge, FactId, Intent, Interval, NodeId, Properties, RelationId, Time, VersionRecord,
};

/// A fact between nodes that are there, from one source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BulkFact<'s> {
    /// The head.
    pub head: NodeId,
    /// The relation.
    pub relation: RelationId,
    /// The tail.
    pub tail: NodeId,
    /// When it holds in the world.
    pub valid: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for.
    pub intent: Intent,
    /// Where it comes from.
    pub source: &'s str,
}

impl BulkFact<'_> {
    /// Its first version, believed from that instant on.
    pub(crate) fn version(&self, since: Time) -> VersionRecord {
        VersionRecord {
            head: self.head,
            relation: self.relation,
            belief: self.belief(),
            system: Interval { from: since, to: Interval::MAX },
            mirror: None,
        }
    }

    /// The same between its nodes, as the fact of that number.
    pub(crate) fn edge(&self, number: FactId, since: Time) -> Edge {
        Edge {
            fact: number,
            version: 0,
            head: self.head,
            relation: self.relation,
            tail: self.tail,
            valid: self.valid,
            system: Interval { from: since, to: Interval::MAX },
            confidence: self.confidence,
            intent: self.intent,
            uncertain: false,
            two_way: false,
        }
    }

    /// What is believed of it.
    pub fn belief(&self) -> Belief {
        Belief {
            tail: self.tail,
            valid: self.valid,
            confidence: self.confidence,
            intent: self.intent,
            uncertain: false,
            sources: vec![self.source.to_string()],
            properties: Properties::new(),
            evidence: Vec::new(),
        }
    }
}
