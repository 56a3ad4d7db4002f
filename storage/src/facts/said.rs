//! What a source has said before: a file that is read again says it again.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Ends;
use crate::error::{Result, StorageError};
use crate::evidence::{claim_of, claimed};
use crate::graph::{
    Belief, Cardinality, Edge, EdgeFilter, FactId, Interval, NodeId, RelationId, RelationRule,
    Side, Time,
};
use crate::transaction::Transaction;

impl Transaction<'_> {
    /// Whether the sources of a belief have said it, if it has any: what was overruled or retracted since is
    /// not told again by a file that is read again. Of what they said of a relation with one value no more
    /// than what is left may be kept, where another value holds or held: they have said the rest as well.
    pub fn has_said(&self, head: NodeId, relation: RelationId, belief: &Belief) -> Result<bool> {
        if belief.sources.is_empty() {
            return Ok(false);
        }
        let ends = Ends { head, relation, tail: belief.tail };
        let (rule, valid) = (self.rule_of(relation), belief.valid);
        let edges = self.edges_between(ends, &EdgeFilter::EVERYTHING)?;
        // Where another value may end what a source said, that may have been of any time.
        let may_say =
            |edge: &Edge| rule.cardinality == Cardinality::One || edge.valid.overlaps(&valid);
        let facts: HashSet<FactId> =
            edges.into_iter().filter(may_say).map(|edge| edge.fact).collect();
        let claim = claim_of(belief);
        // What is left of each claim, behind when that begins.
        let mut left: Vec<(Time, Interval)> = Vec::new();
        for fact in facts {
            for (_, version) in self.reader().versions(fact)? {
                let belief = &version.belief;
                if !ends.are_of(&version) {
                    continue;
                }
                // What another value has taken of a claim may be told anew, but by who tells all of it again.
                let of = |told: Interval| match told == valid {
                    true => Some((told.from, told)),
                    false => Some((told.from, told.common(&belief.valid)?)),
                };
                left.extend(claimed(belief, &claim, rule.policy).filter_map(of));
            }
        }
        left.retain(|(_, told)| told.overlaps(&valid));
        let mut said: Vec<Interval> = left.iter().map(|(_, told)| *told).collect();
        if said.is_empty() || rule.cardinality != Cardinality::One || said.contains(&valid) {
            return Ok(valid.is_within(&said));
        }
        let beside = self.values_beside(ends, &rule)?;
        let first = left.iter().map(|(from, _)| *from).min().unwrap_or(Interval::MAX);
        if let Some(last) = self.last_told_beside(&beside, belief, first)? {
            left.retain(|(from, _)| *from >= last);
            said = left.into_iter().map(|(_, told)| told).collect();
        }
        // What begins later ends it for good; what began before does not.
        if said.iter().any(|told| told.from == valid.from) {
            let later = beside.iter().filter(|other| other.valid.from >= valid.from);
            said.extend(later.map(|other| Interval { to: Interval::MAX, ..other.valid }));
        }
        Ok(valid.is_within(&said))
    }

    /// The other values that a relation with one value does not allow beside this one, now or then.
    fn values_beside(&self, ends: Ends, rule: &RelationRule) -> Result<Vec<Edge>> {
        let Ends { head, relation, tail } = ends;
        let of = |node, relation, but: NodeId| {
            let is_other = move |edge: &Edge| edge.tail != but && !edge.uncertain;
            let all = &EdgeFilter::EVERYTHING;
            Ok::<_, StorageError>(
                self.edges_of((node, Side::Out), relation, all, usize::MAX, is_other)?.0,
            )
        };
        let mut beside = match self.takes_one(relation) {
            true => of(head, relation, tail)?,
            false => Vec::new(),
        };
        if let Some(mirror) = rule.mirror.filter(|mirror| self.takes_one(*mirror)) {
            beside.extend(of(tail, mirror, head)?);
        }
        Ok(beside)
    }

    /// When the last other value began, up to the beginning of a belief, that the same sources told: there
    /// ends what they told of an earlier time. None if it is before the `first` that they said.
    fn last_told_beside(
        &self,
        beside: &[Edge],
        belief: &Belief,
        first: Time,
    ) -> Result<Option<Time>> {
        let matters =
            |other: &&Edge| other.valid.from > first && other.valid.from <= belief.valid.from;
        let mut earlier: Vec<&Edge> = beside.iter().filter(matters).collect();
        earlier.sort_unstable_by_key(|other| Reverse(other.valid.from));
        for other in earlier {
            let version = self.reader().version(other.fact, other.version)?;
            if version.belief.sources == belief.sources {
                return Ok(Some(other.valid.from));
            }
        }
        Ok(None)
    }
}
