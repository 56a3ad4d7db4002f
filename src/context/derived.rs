//! Steps that follow by a rule: they stand in paths like facts, and are none.
//!
//! Each has an id of the running statement, beyond those of facts, and is gone when the statement
//! ends: nothing derived is ever stored.

use engraph_storage::graph::FactId;

use crate::retrieval::rules::Family;

/// The first id of a derived step: no fact of a store has one this large.
pub(crate) const FIRST: u64 = 1 << 63;

/// Why a derived step is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Derivation {
    pub(crate) relation: String,
    /// The name of the rule.
    pub(crate) rule: String,
    pub(crate) family: Option<Family>,
    /// The versions of the facts that it follows from.
    pub(crate) facts: Vec<(FactId, u32)>,
}

/// Whether an id is that of a derived step.
pub(crate) fn is_derived(fact: FactId) -> bool {
    fact.0 >= FIRST
}
