//! Relations: setting their rules, and what their facts look like.
//!
//! A rule is set only if the facts that are held keep to it. It never ends a belief: which of two
//! facts is the right one is not for a definition to say.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Cardinality, Edge, FactId, NodeId, RelationId, RelationRule, Side, SystemScope,
};
use crate::reader::Reader;
use crate::transaction::Transaction;

/// The most facts that a definition writes anew, so that its transaction stays small.
const REWRITTEN_MAX: usize = 100_000;

/// What the believed facts of a relation look like; uncertain ones are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Facts.
    pub facts: u64,
    /// Heads.
    pub heads: u64,
    /// Heads with several tails at one valid instant.
    pub crowded: u64,
}

impl Observed {
    /// The cardinality that the facts keep to.
    pub fn cardinality(&self) -> Cardinality {
        match (self.facts, self.crowded) {
            (0, _) => Cardinality::Unknown,
            (_, 0) => Cardinality::One,
            _ => Cardinality::Many,
        }
    }
}

impl Reader<'_> {
    /// What the facts of each relation that has some look like; one scan over all facts.
    pub fn observed(&self) -> Result<BTreeMap<RelationId, Observed>> {
        let mut observed = BTreeMap::<RelationId, Observed>::new();
        let mut sweep = Sweep::default();
        self.certain_edges(&mut |edge| {
            let seen = observed.entry(edge.relation).or_default();
            seen.facts += 1;
            seen.heads += u64::from(sweep.begins(&edge));
            let was_crowded = sweep.crowded.is_some();
            sweep.add(edge);
            seen.crowded += u64::from(!was_crowded && sweep.crowded.is_some());
            ControlFlow::Continue(())
        })?;
        Ok(observed)
    }

    /// A head with two tails at one valid instant in one of these relations, and its two facts.
    fn crowd(&self, relations: &[RelationId]) -> Result<Option<(Edge, Edge)>> {
        let mut sweep = Sweep::default();
        self.certain_edges(&mut |edge| {
            if relations.contains(&edge.relation) {
                sweep.begins(&edge);
                sweep.add(edge);
            }
            if sweep.crowded.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(sweep.crowded)
    }

    fn certain_edges(&self, visit: &mut dyn FnMut(Edge) -> ControlFlow<()>) -> Result<()> {
        self.all_edges(Family::Out, Side::Out, &mut |edge| {
            Ok(if edge.uncertain { ControlFlow::Continue(()) } else { visit(edge) })
        })
    }

    fn name_of(&self, node: NodeId) -> Result<String> {
        let record = self.node(node, SystemScope::Current)?;
        Ok(record.map_or_else(|| format!("node {}", node.0), |record| record.key.clone()))
    }
}

/// Edges in order of head, relation and valid_from, of which those are kept that may still overlap
/// a later one.
#[derive(Default)]
struct Sweep {
    group: Option<(NodeId, RelationId)>,
    open: Vec<Edge>,
    /// Two edges of the group that overlap and have different tails.
    crowded: Option<(Edge, Edge)>,
}

impl Sweep {
    /// Whether the edge is the first one of its head and relation.
    fn begins(&mut self, edge: &Edge) -> bool {
        let group = Some((edge.head, edge.relation));
        let begins = self.group != group;
        if begins {
            *self = Self { group, ..Self::default() };
        }
        begins
    }

    fn add(&mut self, edge: Edge) {
        if self.crowded.is_none() {
            self.open.retain(|open| open.valid.to > edge.valid.from);
            let other = self.open.iter().find(|open| open.tail != edge.tail);
            self.crowded = other.map(|other| (*other, edge));
            self.open.push(edge);
        }
    }
}

impl Transaction<'_> {
    /// Sets the rule of a relation, and with a mirror that of the mirror too: it is found from the
    /// other end by this one. `since` is set here, and a mirror that it has stays.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if the facts that are held do not keep to it, or if it has another
    /// mirror already.
    pub fn define_relation(&mut self, name: &str, rule: RelationRule) -> Result<()> {
        if !(0.0..=1.0).contains(&rule.threshold) {
            return Err(invalid(format!("threshold {} is not between 0 and 1", rule.threshold)));
        }
        let relation = self.relation(name)?;
        let held = self.catalog.rule(relation);
        let rule = RelationRule { mirror: rule.mirror.or(held.mirror), ..rule };
        if rule == (RelationRule { since: rule.since, ..held }) {
            return Ok(());
        }
        let mirrored = rule.mirror.filter(|_| rule.mirror != held.mirror);
        let restricts = mirrored.is_some() || rule.cardinality != held.cardinality;
        let since = if restricts { self.now } else { held.since };
        if let Some(mirror) = mirrored {
            self.check_mirror(relation, mirror)?;
        }
        self.set_rule(relation, RelationRule { since, ..rule })?;
        if let Some(mirror) = mirrored {
            let other = self.catalog.rule(mirror);
            self.set_rule(mirror, RelationRule { mirror: Some(relation), since, ..other })?;
            self.put_all_again(&[relation, mirror])?;
        }
        if restricts { self.check_crowds(relation, rule.mirror) } else { Ok(()) }
    }

    fn set_rule(&mut self, relation: RelationId, rule: RelationRule) -> Result<()> {
        std::sync::Arc::make_mut(&mut self.catalog).define(relation, rule, &mut self.overlay)
    }

    /// A relation has one mirror, for good.
    fn check_mirror(&self, relation: RelationId, mirror: RelationId) -> Result<()> {
        for (one, other) in [(relation, mirror), (mirror, relation)] {
            if let Some(known) = self.catalog.rule(one).mirror.filter(|known| *known != other) {
                let one = self.catalog.relation_name(one);
                return Err(invalid(match self.catalog.relation_name(known) {
                    known if known == one => format!("`{one}` is symmetric already"),
                    known => format!("`{one}` is the inverse of `{known}` already"),
                }));
            }
        }
        Ok(())
    }

    /// Writes the believed facts of these relations anew, so that they are found from both ends.
    fn put_all_again(&mut self, relations: &[RelationId]) -> Result<()> {
        let mut facts: Vec<FactId> = Vec::new();
        self.reader().all_edges(Family::Out, Side::Out, &mut |edge| {
            if relations.contains(&edge.relation) && !edge.two_way {
                facts.push(edge.fact);
            }
            let more = facts.len() <= REWRITTEN_MAX;
            Ok(if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if facts.len() > REWRITTEN_MAX {
            return Err(invalid(format!(
                "the relation has over {REWRITTEN_MAX} facts already; define it before they are \
                 stored"
            )));
        }
        facts.into_iter().try_for_each(|fact| self.put_again(fact))
    }

    /// Where one tail is allowed, no head may have two.
    fn check_crowds(&self, relation: RelationId, mirror: Option<RelationId>) -> Result<()> {
        let mut ones: Vec<RelationId> = [Some(relation), mirror].into_iter().flatten().collect();
        ones.retain(|one| self.catalog.rule(*one).cardinality == Cardinality::One);
        if ones.is_empty() {
            return Ok(());
        }
        let reader = self.reader();
        let Some((a, b)) = reader.crowd(&ones)? else { return Ok(()) };
        Err(invalid(format!(
            "`{}` cannot be ONE: '{}' has '{}' (fact {}) and '{}' (fact {}) at the same time; CLOSE \
             the one that ended, or RETRACT what was never so",
            self.catalog.relation_name(a.relation),
            reader.name_of(a.head)?,
            reader.name_of(a.tail)?,
            a.fact.0,
            reader.name_of(b.tail)?,
            b.fact.0,
        )))
    }
}

fn invalid(message: String) -> StorageError {
    StorageError::Invalid(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_stored_is_unknown() {
        assert_eq!(Observed::default().cardinality(), Cardinality::Unknown);
        assert_eq!(Observed { facts: 2, heads: 1, crowded: 0 }.cardinality(), Cardinality::One);
        assert_eq!(Observed { facts: 2, heads: 1, crowded: 1 }.cardinality(), Cardinality::Many);
    }
}
