//! What a scan of facts keeps, by both times, confidence and intent.

use super::{Edge, Intent, Interval, Time};

/// Which direction a traversal takes from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// To tails: facts that have the node as head.
    Out,
    /// To heads: facts that have the node as tail.
    In,
}

impl Side {
    /// The side on which the nodes at the other ends have the same facts.
    pub fn other(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
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
