//! Steps that follow by a rule: they stand in paths like facts, and are none.
//!
//! Each has an id of the running statement, beyond those of facts, and is gone when the statement
//! ends: nothing derived is ever stored.

use std::sync::Arc;

use engraph_storage::graph::{Belief, Edge, FactId, Intent, Interval, RelationId, VersionRecord};

use crate::error::Result;
use crate::exec::context::Context;
use crate::retrieval::rules::{Derived, Family};

/// The first id of a derived step: no fact of a store has one this large.
const FIRST: u64 = 1 << 63;

/// Why a derived step is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Derivation {
    pub(crate) relation: String,
    /// The name of the rule.
    pub(crate) rule: String,
    pub(crate) family: Option<Family>,
    /// The facts that it follows from.
    pub(crate) facts: Vec<FactId>,
}

/// Whether an id is that of a derived step.
pub(crate) fn is_derived(fact: FactId) -> bool {
    fact.0 >= FIRST
}

impl Context<'_> {
    /// The step as a path holds it.
    ///
    /// # Errors
    ///
    /// If there are more of them than rows are allowed.
    pub(crate) fn derived(&self, step: Derived) -> Result<Edge> {
        let catalog = self.reader.catalog();
        let known = catalog.relation(&step.relation);
        let intent = known.map_or_else(Intent::default, |relation| catalog.rule(relation).intent);
        let (head, tail, valid, confidence) = (step.from, step.to, step.valid, step.confidence);
        let Derived { relation, rule, family, facts, .. } = step;
        let derivation = Derivation { relation, rule, family, facts };
        let place = self.run.hold_derivation(Arc::new(derivation));
        self.rows(place)?;
        Ok(Edge {
            fact: FactId(FIRST.saturating_add(place as u64)),
            version: 0,
            head,
            relation: known.unwrap_or(RelationId(u32::MAX)),
            tail,
            valid,
            system: Interval { from: self.now(), to: Interval::MAX },
            confidence,
            intent,
            uncertain: true,
            two_way: false,
        })
    }

    /// Why a step is there, if it is derived.
    pub(crate) fn derivation(&self, fact: FactId) -> Option<Arc<Derivation>> {
        let place = fact.0.checked_sub(FIRST)?;
        self.run.held_derivation(usize::try_from(place).ok()?)
    }

    /// The name of the relation of a fact or a derived step.
    pub(crate) fn relation_of(&self, edge: &Edge) -> String {
        match self.derivation(edge.fact) {
            Some(derivation) => derivation.relation.clone(),
            None => self.reader.catalog().relation_name(edge.relation).to_owned(),
        }
    }

    /// The version of a fact; of a derived step, one with the sources of what it follows from.
    pub(crate) fn version(&self, edge: &Edge) -> Result<VersionRecord> {
        let Some(derivation) = self.derivation(edge.fact) else {
            return Ok(self.reader.version(edge.fact, edge.version)?);
        };
        let mut sources: Vec<String> = Vec::new();
        for fact in &derivation.facts {
            let version = self.reader.last_version(*fact)?;
            for source in version.map_or_else(Vec::new, |(_, version)| version.belief.sources) {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        let belief = Belief {
            tail: edge.tail,
            valid: edge.valid,
            confidence: edge.confidence,
            intent: edge.intent,
            uncertain: edge.uncertain,
            sources,
            properties: Default::default(),
            evidence: Vec::new(),
        };
        let (head, relation, system) = (edge.head, edge.relation, edge.system);
        Ok(VersionRecord { head, relation, belief, system, mirror: None })
    }
}
