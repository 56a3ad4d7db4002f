//! Writes of facts: what is held is read, the update rule decides, and its changes fill every family
//! that they touch.
//!
//! It never decides itself; that is `update`.

use std::collections::HashSet;
use std::ops::ControlFlow;

mod said;

use crate::adjacency;
use crate::error::{Result, StorageError};
use crate::evidence::keeps_claims;
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, Edge, EdgeFilter, FactId, Interval, NodeId, RelationId, RelationRule,
    Side, SystemScope, Time, ValidScope, VersionRecord,
};
use crate::key;
use crate::pack::{self, Pack};
use crate::record;
use crate::transaction::{Transaction, check_value};
use crate::update::{self, Act, Change, Held, Resolution};

/// Edges of a tail that are looked at before its head is.
const FEW_EDGES: usize = 64;

/// What an act on a fact did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The fact that the act was about, as it is held now.
    pub fact: FactId,
    /// What became of it and of the others.
    pub resolution: Resolution,
}

/// A fact that is believed now.
pub(crate) struct Believed {
    fact: FactId,
    pub(crate) number: u32,
    pub(crate) version: VersionRecord,
}

/// The two nodes and the relation that an act is about.
#[derive(Clone, Copy)]
struct Ends {
    head: NodeId,
    relation: RelationId,
    tail: NodeId,
}

impl Transaction<'_> {
    /// Asserts a fact under the update rule of its relation.
    pub fn assert_fact(
        &mut self,
        head: NodeId,
        relation: RelationId,
        belief: &Belief,
    ) -> Result<Outcome> {
        check_belief(belief)?;
        for (property, value) in &belief.properties {
            check_value(self.catalog.property_name(*property), value)?;
        }
        let ends = Ends { head, relation, tail: belief.tail };
        let mut belief = belief.clone();
        let mut named = HashSet::new();
        belief.sources.retain(|source| named.insert(source.clone()));
        self.act(ends, &Act::Assert(belief))
    }

    /// The same, unless its sources have said all of it before. None then.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if a node of it is not there: it may have been forgotten since it was found.
    pub fn assert_new_fact(
        &mut self,
        head: NodeId,
        relation: RelationId,
        belief: &Belief,
    ) -> Result<Option<Outcome>> {
        for (node, what) in [(head, "head"), (belief.tail, "tail")] {
            if self.reader().node(node, SystemScope::Current)?.is_none() {
                let message = format!("the {what} of the fact is not there any more");
                return Err(StorageError::Invalid(message));
            }
        }
        match self.has_said(head, relation, belief)? {
            true => Ok(None),
            false => self.assert_fact(head, relation, belief).map(Some),
        }
    }

    /// Makes a held fact surer, by `by` in (0, 1].
    pub fn confirm(&mut self, fact: FactId, by: f64) -> Result<Outcome> {
        match by > 0.0 && by <= 1.0 {
            true => self.act_on(fact, &Act::Confirm(fact, by)),
            false => Err(invalid(format!("{by} is not above 0 and at most 1"))),
        }
    }

    /// Makes a held fact less sure, by `by` in (0, 1).
    pub fn doubt(&mut self, fact: FactId, by: f64) -> Result<Outcome> {
        match by > 0.0 && by < 1.0 {
            true => self.act_on(fact, &Act::Doubt(fact, by)),
            false => Err(invalid(format!("{by} is not between 0 and 1"))),
        }
    }

    /// Ends the belief in a fact; its history stays.
    pub fn retract(&mut self, fact: FactId) -> Result<Outcome> {
        self.act_on(fact, &Act::Retract(fact))
    }

    /// Ends a held fact at an instant, as these sources say; if they are forgotten, it goes on. One that has
    /// ended by then, or begins no earlier, stays as it is.
    pub fn close(&mut self, fact: FactId, at: Time, sources: &[String]) -> Result<Outcome> {
        self.act_on(fact, &Act::Close(fact, at, sources.to_vec()))
    }

    fn act_on(&mut self, fact: FactId, act: &Act) -> Result<Outcome> {
        match self.believed(fact)? {
            Some(Believed { version, .. }) => {
                let tail = version.belief.tail;
                self.act(Ends { head: version.head, relation: version.relation, tail }, act)
            }
            None => Ok(Outcome { fact, resolution: update::resolve(act, &[], &<_>::default()) }),
        }
    }

    fn act(&mut self, ends: Ends, act: &Act) -> Result<Outcome> {
        let rule = self.rule_of(ends.relation);
        let believed = self.touched(ends, &rule, act)?;
        let held: Vec<Held> = believed
            .iter()
            .map(|believed| Held {
                fact: believed.fact,
                same: ends.are_of(&believed.version),
                belief: believed.version.belief.clone(),
            })
            .collect();
        let resolution = update::resolve(act, &held, &rule);
        let mut fact = resolution.same;
        for change in &resolution.changes {
            fact = self.change(ends, change, &believed)?.or(fact);
        }
        let fact = fact.ok_or_else(|| invalid("nothing was asserted".to_owned()))?;
        Ok(Outcome { fact, resolution })
    }

    /// The rule that an act meets: that a relation's mirror takes one tail is its rule as well.
    pub(crate) fn rule_of(&self, relation: RelationId) -> RelationRule {
        let rule = self.catalog.rule(relation);
        match rule.mirror.map(|mirror| self.catalog.rule(mirror).cardinality) {
            Some(Cardinality::One) => RelationRule { cardinality: Cardinality::One, ..rule },
            _ => rule,
        }
    }

    /// Does one change, and gives the fact that carries it.
    fn change(
        &mut self,
        ends: Ends,
        change: &Change,
        believed: &[Believed],
    ) -> Result<Option<FactId>> {
        let find = |fact: &FactId| {
            believed
                .iter()
                .find(|believed| believed.fact == *fact)
                .ok_or_else(|| invalid(format!("fact {} is not held", fact.0)))
        };
        if let Change::Replace(fact, _) | Change::Retire(fact) | Change::Supersede(fact, _) = change
        {
            let old = &find(fact)?.version;
            let keeps = || match change {
                Change::Replace(_, new) if ends.are_of(old) => {
                    new.valid.hull(&old.belief.valid) == new.valid
                        && keeps_claims(new, &old.belief, self.rule_of(ends.relation).policy)
                }
                _ => ends.are_of(old),
            };
            self.overruled_own = self.overruled_own || (old.system.from == self.now && !keeps());
        }
        match change {
            Change::Insert(belief) => {
                let fact = self.new_fact()?;
                self.put_version(fact, 0, ends.head, ends.relation, belief)?;
                Ok(Some(fact))
            }
            Change::Remainder(of, belief) => {
                let version = &find(of)?.version;
                let fact = self.new_fact()?;
                self.put_version(fact, 0, version.head, version.relation, belief)?;
                Ok(None)
            }
            Change::Replace(fact, belief) => {
                let old = find(fact)?;
                let number = self.end_version(old)?;
                let belief = Belief { tail: old.version.belief.tail, ..belief.clone() };
                self.put_version(*fact, number, old.version.head, old.version.relation, &belief)?;
                Ok(Some(*fact))
            }
            Change::Rest(fact, belief) => {
                let old = find(fact)?;
                if old.number == 0 {
                    self.leave_pack(*fact)?;
                }
                let belief = Belief { tail: old.version.belief.tail, ..belief.clone() };
                self.put_record(
                    *fact,
                    old.number,
                    &VersionRecord { belief, ..old.version.clone() },
                )?;
                Ok(Some(*fact))
            }
            Change::Retire(fact) => {
                self.end_version(find(fact)?)?;
                Ok(None)
            }
            Change::Supersede(fact, belief) => {
                let Believed { number, version, .. } = find(fact)?;
                let belief = Belief { tail: version.belief.tail, ..belief.clone() };
                let version = VersionRecord { belief, ..version.clone() };
                self.end_version(&Believed { fact: *fact, number: *number, version })?;
                Ok(None)
            }
        }
    }

    /// The believed version of a fact; none if it is not believed.
    pub(crate) fn believed(&self, fact: FactId) -> Result<Option<Believed>> {
        let last = self.reader().last_version(fact)?;
        let last = last.filter(|(_, version)| version.system.to == Interval::MAX);
        Ok(last.map(|(number, version)| Believed { fact, number, version }))
    }

    /// The believed facts that the rule may look at: those between the same nodes and, where only
    /// one is allowed, those that the head has, and those that the tail has by the mirror.
    fn touched(&self, ends: Ends, rule: &RelationRule, act: &Act) -> Result<Vec<Believed>> {
        // These look at no other fact.
        if let Act::Retract(fact) | Act::Doubt(fact, _) | Act::Close(fact, ..) = act {
            return Ok(self.believed(*fact)?.into_iter().collect());
        }
        let mut edges = self.among(ends, rule, &EdgeFilter::CURRENT)?;
        if let (Act::Assert(belief), None) = (act, rule.mirror) {
            keep_met(&mut edges, ends.tail, belief.valid);
        }
        edges.sort_by_key(|edge| (edge.valid.from, edge.fact));
        edges.dedup_by_key(|edge| edge.fact);
        let reader = self.reader();
        edges
            .into_iter()
            .map(|edge| {
                let version = reader.version(edge.fact, edge.version)?;
                Ok(Believed { fact: edge.fact, number: edge.version, version })
            })
            .collect()
    }

    /// What a version may not hold beside of a time and what touches it, now or then, itself included: the
    /// facts between its nodes and, where only one is allowed, the others of its head or, by the mirror, of
    /// its tail.
    pub(crate) fn rivals(&self, version: &VersionRecord, within: Interval) -> Result<Vec<Edge>> {
        let VersionRecord { head, relation, .. } = *version;
        let ends = Ends { head, relation, tail: version.belief.tail };
        let from = within.from.saturating_sub(1);
        let valid = ValidScope::Within(Interval { from, to: within.to.saturating_add(1) });
        let filter = EdgeFilter { valid, ..EdgeFilter::EVERYTHING };
        self.among(ends, &self.rule_of(relation), &filter)
    }

    /// The edges that a filter keeps of those that the rule may look at.
    fn among(&self, ends: Ends, rule: &RelationRule, filter: &EdgeFilter) -> Result<Vec<Edge>> {
        let all = |node, relation| {
            self.edges_of((node, Side::Out), relation, filter, usize::MAX, |_| true)
        };
        let mut edges = match self.takes_one(ends.relation) {
            true => all(ends.head, ends.relation)?.0,
            false => self.edges_between(ends, filter)?,
        };
        if let Some(mirror) = rule.mirror.filter(|mirror| self.takes_one(*mirror)) {
            edges.extend(all(ends.tail, mirror)?.0);
        }
        Ok(edges)
    }

    /// Whether a head has one value of a relation at a time.
    fn takes_one(&self, relation: RelationId) -> bool {
        self.catalog.rule(relation).cardinality == Cardinality::One
    }

    /// The edges between two nodes that a filter keeps. A node with many facts of a relation mostly has
    /// them with nodes that have few, so the tail's side is tried first.
    fn edges_between(&self, ends: Ends, filter: &EdgeFilter) -> Result<Vec<Edge>> {
        let Ends { head, relation, tail } = ends;
        let from_head = |edge: &Edge| edge.head == head;
        match self.edges_of((tail, Side::In), relation, filter, FEW_EDGES, from_head)? {
            (edges, true) => Ok(edges),
            (_, false) => {
                let to_tail = |edge: &Edge| edge.tail == tail;
                Ok(self.edges_of((head, Side::Out), relation, filter, usize::MAX, to_tail)?.0)
            }
        }
    }

    /// The edges of a node that a filter keeps and that fit, of the first `limit` ones, and whether these
    /// are all.
    fn edges_of(
        &self,
        (near, side): (NodeId, Side),
        relation: RelationId,
        filter: &EdgeFilter,
        limit: usize,
        fits: impl Fn(&Edge) -> bool,
    ) -> Result<(Vec<Edge>, bool)> {
        let (mut edges, mut seen) = (Vec::new(), 0);
        self.reader().edges(near, side, Some(relation), filter, &mut |edge| {
            seen += 1;
            if fits(&edge) {
                edges.push(edge);
            }
            if seen < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok((edges, seen < limit))
    }

    pub(crate) fn new_fact(&mut self) -> Result<FactId> {
        let fact = FactId(self.pending.next_fact);
        self.pending.next_fact = fact.0.checked_add(1).ok_or(StorageError::Exhausted("fact"))?;
        Ok(fact)
    }

    fn put_version(
        &mut self,
        fact: FactId,
        number: u32,
        head: NodeId,
        relation: RelationId,
        belief: &Belief,
    ) -> Result<()> {
        let system = Interval { from: self.now, to: Interval::MAX };
        let mirror = self.catalog.rule(relation).mirror;
        let version = VersionRecord { head, relation, belief: belief.clone(), system, mirror };
        self.put_record(fact, number, &version)
    }

    /// Puts a version into every family that holds it, current or past as its system time says.
    pub(crate) fn put_record(
        &mut self,
        fact: FactId,
        number: u32,
        version: &VersionRecord,
    ) -> Result<()> {
        self.overlay.put(Family::Versions, key::version(fact, number), record::encode(version)?);
        for edge in version.edges(fact, number) {
            let value = adjacency::encode(&edge);
            for (family, key) in adjacency::places(&edge) {
                self.overlay.put(family, key.as_ref(), value.as_ref().to_vec());
            }
        }
        Ok(())
    }

    /// Takes a version out of every family that holds it.
    pub(crate) fn delete_record(
        &mut self,
        fact: FactId,
        number: u32,
        version: &VersionRecord,
    ) -> Result<()> {
        self.overlay.delete(Family::Versions, key::version(fact, number));
        self.delete_edges(fact, number, version);
        if number == 0 { self.take_from_pack(fact) } else { Ok(()) }
    }

    /// Says in its pack that a fact has left it, if it is in any: it is about to have a record.
    fn leave_pack(&mut self, fact: FactId) -> Result<()> {
        let Some((key, mut bytes)) = self.reader().pack_bytes(fact)? else { return Ok(()) };
        if pack::leave(key, &mut bytes, &[pack::place_of(fact).1])? {
            self.overlay.put(Family::Versions, key, bytes);
        }
        Ok(())
    }

    /// Takes what a load stored of a fact out of the pack that it is in, if it is in any.
    fn take_from_pack(&mut self, fact: FactId) -> Result<()> {
        let Some((key, bytes)) = self.reader().pack_bytes(fact)? else { return Ok(()) };
        let (pack, (_, place)) = (Pack::decode(&key, &bytes)?, pack::place_of(fact));
        if !pack.has_held(place) {
            return Ok(());
        }
        match pack.without(place)? {
            Some(left) => self.overlay.put(Family::Versions, key, left),
            None => self.overlay.delete(Family::Versions, key),
        }
        Ok(())
    }

    fn delete_edges(&mut self, fact: FactId, number: u32, version: &VersionRecord) {
        for edge in version.edges(fact, number) {
            for (family, key) in adjacency::places(&edge) {
                self.overlay.delete(family, key.as_ref());
            }
        }
    }

    /// Moves a version to history and gives the number of the next one. A version of this same
    /// transaction is taken away, for it was never believed at any instant.
    fn end_version(&mut self, believed: &Believed) -> Result<u32> {
        let Believed { fact, number, version } = believed;
        self.delete_edges(*fact, *number, version);
        if version.system.from == self.now {
            self.overlay.delete(Family::Versions, key::version(*fact, *number));
            return Ok(*number);
        }
        if *number == 0 {
            self.leave_pack(*fact)?;
        }
        let system = Interval { from: version.system.from, to: self.now };
        self.put_record(*fact, *number, &VersionRecord { system, ..version.clone() })?;
        next_number(*number)
    }

    /// Puts a version that is believed anew as the next one of its fact, found from both ends as
    /// its relation now says.
    pub(crate) fn put_again(&mut self, fact: FactId) -> Result<()> {
        let Some(believed) = self.believed(fact)? else { return Ok(()) };
        let number = self.end_version(&believed)?;
        let VersionRecord { head, relation, belief, .. } = believed.version;
        self.put_version(fact, number, head, relation, &belief)
    }
}

/// The number of the version that comes after one.
pub(crate) fn next_number(number: u32) -> Result<u32> {
    number.checked_add(1).ok_or(StorageError::Exhausted("version"))
}

/// Leaves out what an assertion cannot meet, so that their versions need not be read: facts at other times than
/// it and what it may be merged with.
fn keep_met(edges: &mut Vec<Edge>, tail: NodeId, valid: Interval) {
    let mut hull = valid;
    loop {
        let same = edges.iter().filter(|edge| edge.tail == tail && edge.valid.touches(&hull));
        let wider = same.fold(hull, |hull, edge| hull.hull(&edge.valid));
        if wider == hull {
            break;
        }
        hull = wider;
    }
    edges.retain(|edge| edge.valid.touches(&hull));
}

impl Ends {
    /// Whether a version is between these two nodes, in its own relation or seen from its tail.
    fn are_of(&self, version: &VersionRecord) -> bool {
        let edges = version.edges(FactId(0), 0);
        edges.into_iter().any(|edge| {
            (edge.head, edge.relation, edge.tail) == (self.head, self.relation, self.tail)
        })
    }
}

fn check_belief(belief: &Belief) -> Result<()> {
    // NaN fails this comparison, as it should.
    if !(belief.confidence > 0.0 && belief.confidence <= 1.0) {
        return Err(invalid(format!(
            "confidence {} is not above 0 and at most 1",
            belief.confidence
        )));
    }
    if Interval::new(belief.valid.from, belief.valid.to).is_none() {
        return Err(invalid("the fact ends before it begins".to_owned()));
    }
    Ok(())
}

fn invalid(message: String) -> StorageError {
    StorageError::Invalid(message)
}

#[cfg(test)]
mod tests;
