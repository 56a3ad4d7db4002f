//! Versions of facts, their four adjacency families, and that ONE means one.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use super::nodes::wrong;
use super::{Check, Verdict, damage};
use crate::adjacency::{self, places};
use crate::error::Result;
use crate::evidence::claims;
use crate::families::Family;
use crate::graph::{
    Cardinality, Edge, EdgeFilter, Evidence, FactId, Interval, NodeId, RelationId, Side,
    VersionRecord,
};
use crate::key;
use crate::pack::{InOrder, in_pack, runs};
use crate::reader::edge_of;

/// The versions that are looked at, in the order of facts and numbers.
#[derive(Default)]
pub(super) struct Versions {
    in_order: InOrder,
    /// When the last one that was looked at is believed.
    before: Option<(FactId, Interval)>,
}

impl Check<'_> {
    /// A key that is of one version or of several; what is wrong with a version is told of its own key.
    pub(super) fn versions(
        &mut self,
        key: &[u8],
        value: &[u8],
        versions: &mut Versions,
    ) -> Result<Verdict> {
        let Versions { in_order, before } = versions;
        let flow = in_order.next(key, value, &mut |fact, number, version| {
            self.version((fact, number), &version, before);
            Ok(ControlFlow::Continue(()))
        });
        flow.map(|_| Ok(()))
    }

    /// Those after which no key came.
    pub(super) fn last_versions(&mut self, versions: Versions) {
        let Versions { in_order, mut before } = versions;
        let rest = in_order.finish(&mut |fact, number, version| {
            self.version((fact, number), &version, &mut before);
            Ok(ControlFlow::Continue(()))
        });
        if let Err(error) = rest {
            self.violated("D", Family::Versions, &[], error.to_string());
        }
    }

    fn version(
        &mut self,
        place: (FactId, u32),
        version: &VersionRecord,
        before: &mut Option<(FactId, Interval)>,
    ) {
        let before = before.replace((place.0, version.system));
        let verdict = self.verdict(place, version, before);
        if let Err((invariant, reason)) = verdict.unwrap_or_else(|error| Err(damage(&error))) {
            let key = key::version(place.0, place.1);
            self.violated(invariant, Family::Versions, &key, reason);
        }
    }

    fn verdict(
        &self,
        (fact, number): (FactId, u32),
        version: &VersionRecord,
        before: Option<(FactId, Interval)>,
    ) -> Result<Verdict> {
        if let Err(wrong) = self.times(fact, version, before) {
            return Ok(Err(wrong));
        }
        if let Err(wrong) = self.ids(fact, version)? {
            return Ok(Err(wrong));
        }
        for edge in version.edges(fact, number) {
            let value = adjacency::encode(&edge);
            for (family, key) in places(&edge) {
                let found = self.view.get(family, key.as_ref())?;
                let stands = match &found {
                    Some(found) => found.as_slice() == value.as_ref(),
                    None => family == Family::Out && self.is_in_run(&edge)?,
                };
                if !stands {
                    return Ok(Err(("I3", format!("{} does not hold it", family.name()))));
                }
            }
        }
        Ok(Ok(()))
    }

    fn times(
        &self,
        fact: FactId,
        version: &VersionRecord,
        before: Option<(FactId, Interval)>,
    ) -> Verdict {
        let (belief, system) = (&version.belief, version.system);
        let sure = |confidence: f64| confidence > 0.0 && confidence <= 1.0;
        let holds = |interval: Interval| Interval::new(interval.from, interval.to).is_some();
        let told = belief.evidence.iter().filter_map(Evidence::valid);
        if !holds(belief.valid) || !told.into_iter().all(holds) {
            return wrong("I4", "its valid time holds no instant");
        }
        if !sure(belief.confidence) || !claims(belief).all(|claim| sure(claim.confidence)) {
            return wrong("I4", "its confidence is not above 0 and at most 1");
        }
        let by = |part: &Evidence| match part {
            Evidence::Confirmed(by) | Evidence::Doubted(by) => sure(*by),
            Evidence::Claim(_) | Evidence::Denied(_) => true,
        };
        if !belief.evidence.iter().all(by) {
            return wrong("I4", "it was confirmed or doubted by what is not above 0 and at most 1");
        }
        let known: HashSet<&String> = belief.sources.iter().collect();
        if !claims(belief).flat_map(|claim| &claim.sources).all(|source| known.contains(source)) {
            return wrong("I4", "a claim has a source that the fact does not have");
        }
        if !holds(system) {
            return wrong("I4", "its system time holds no instant");
        }
        let clock = self.counters.clock;
        if system.from > clock || (system.to != Interval::MAX && system.to > clock) {
            return wrong("I2", "it begins or ends after the last commit");
        }
        match before {
            Some((other, earlier)) if other == fact && earlier.to > system.from => {
                wrong("I2", "the version before it was still believed")
            }
            _ => Ok(()),
        }
    }

    fn ids(&self, fact: FactId, version: &VersionRecord) -> Result<Verdict> {
        if fact.0 >= self.counters.next_fact {
            return Ok(wrong("I4", "an id that was never given"));
        }
        let relations = [Some(version.relation), version.mirror];
        if !relations.into_iter().flatten().all(|relation| self.catalog.has_relation(relation)) {
            return Ok(wrong("I4", "its relation is not there"));
        }
        let of_claims = claims(&version.belief).flat_map(|claim| claim.properties.keys());
        if !version
            .belief
            .properties
            .keys()
            .chain(of_claims)
            .all(|property| self.catalog.has_property(*property))
        {
            return Ok(wrong("I4", "a property has no name"));
        }
        for (node, end) in [(version.head, "head"), (version.belief.tail, "tail")] {
            let held = match version.system.to {
                Interval::MAX => self.node_now(node)?,
                _ => self.node_ever(node)?,
            };
            if held.is_none() {
                return Ok(Err(("I4", format!("its {end} is not there"))));
            }
        }
        Ok(Ok(()))
    }

    /// Whether an edge stands in a pack to which the runs of its head lead.
    fn is_in_run(&self, edge: &Edge) -> Result<bool> {
        let is_packed = edge.version == 0 && self.reader.packed_version(edge.fact)?.is_some();
        Ok(is_packed
            && self.reader.packed_runs(edge.head)?.iter().any(|run| run.contains(&edge.fact.0)))
    }

    /// The runs of a head lead to facts of that head alone, in order.
    fn runs(&self, head: NodeId, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let mut end = 0;
        for mut run in runs::decode(key, value)? {
            if run.end > self.counters.next_fact {
                return Ok(wrong("I4", "an id that was never given"));
            }
            if run.start < end {
                return Ok(wrong("I3", "it leads to a fact twice"));
            }
            end = run.end;
            let mut last = None;
            while !run.is_empty() {
                let some = in_pack(&run);
                run.start = some.end;
                let edges = self.reader.packed_edges(&some)?;
                for (key, edge) in edges.iter().rev() {
                    if edge.head != head {
                        return Ok(wrong("I3", "it leads to a fact of another head"));
                    }
                    if last.is_some_and(|last: adjacency::Key| last.as_ref() >= key.as_ref()) {
                        return Ok(wrong("I3", "its facts are not in order"));
                    }
                    last = Some(*key);
                }
            }
        }
        Ok(Ok(()))
    }

    pub(super) fn edge(&mut self, family: Family, key: &[u8], value: &[u8]) -> Result<Verdict> {
        if let Some(head) = runs::head_of(key).filter(|_| family == Family::Out) {
            return self.runs(head, key, value);
        }
        let side = match family {
            Family::Out | Family::OutPast => Side::Out,
            _ => Side::In,
        };
        let edge = edge_of(family, side, key, value)?;
        let Some(version) = self.reader.find_version(edge.fact, edge.version)? else {
            return Ok(wrong("I3", "there is no such version"));
        };
        let stands = version.edges(edge.fact, edge.version).any(|other| other == edge)
            && places(&edge).iter().any(|(place, at)| *place == family && at.as_ref() == key);
        Ok(if stands { Ok(()) } else { wrong("I3", "the version says something else") })
    }

    /// I1: of each head in each ONE relation.
    pub(super) fn one_tail(&mut self) {
        for family in [Family::Out, Family::OutPast] {
            let mut group = None;
            self.each(family, &mut |check, key, value| {
                check.keys -= 1;
                if let Some(head) = runs::head_of(key) {
                    return check.one_tail_of_runs(head, key, value);
                }
                let edge = edge_of(family, Side::Out, key, value)?;
                let same =
                    group.replace((edge.head, edge.relation)) == Some((edge.head, edge.relation));
                let rule = check.catalog.rule(edge.relation);
                match same || rule.cardinality != Cardinality::One {
                    true => Ok(Ok(())),
                    false => check.one_tail_of(edge.head, edge.relation, rule.since),
                }
            });
        }
    }

    /// Of each relation that a head has facts of in packs.
    fn one_tail_of_runs(&self, head: NodeId, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let mut relations = BTreeSet::new();
        for mut run in runs::decode(key, value)? {
            while !run.is_empty() {
                let some = in_pack(&run);
                run.start = some.end;
                relations
                    .extend(self.reader.packed_edges(&some)?.iter().map(|(_, edge)| edge.relation));
            }
        }
        for relation in relations {
            let rule = self.catalog.rule(relation);
            if rule.cardinality == Cardinality::One {
                let verdict = self.one_tail_of(head, relation, rule.since)?;
                if verdict.is_err() {
                    return Ok(verdict);
                }
            }
        }
        Ok(Ok(()))
    }

    fn one_tail_of(&self, head: NodeId, relation: RelationId, since: i64) -> Result<Verdict> {
        let mut edges: Vec<Edge> = Vec::new();
        self.reader.edges(
            head,
            Side::Out,
            Some(relation),
            &EdgeFilter::EVERYTHING,
            &mut |edge| {
                if !edge.uncertain && edge.system.to > since {
                    edges.push(edge);
                }
                ControlFlow::Continue(())
            },
        )?;
        edges.sort_by_key(|edge| edge.valid.from);
        let mut open: Vec<Edge> = Vec::new();
        for edge in edges {
            open.retain(|other| other.valid.to > edge.valid.from);
            let believed_from = |edge: &Edge| edge.system.from.max(since);
            let clash = open.iter().find(|other| {
                other.tail != edge.tail
                    && believed_from(other) < edge.system.to
                    && believed_from(&edge) < other.system.to
            });
            if let Some(other) = clash {
                return Ok(Err((
                    "I1",
                    format!("facts {} and {} hold at the same time", other.fact.0, edge.fact.0),
                )));
            }
            open.push(edge);
        }
        Ok(Ok(()))
    }
}
