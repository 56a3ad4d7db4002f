//! Which facts of a load are plain, and which held ones they close.
//!
//! A fact is plain if the update rule would insert it as it is, or close the one before it: nothing else
//! that is held of its head and relation meets it, and nothing of them in the same load needs more.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::BulkFact;
use crate::catalog::Catalog;
use crate::error::Result;
use crate::graph::{
    Cardinality, Edge, FactId, Interval, NodeId, RelationId, RelationRule, Side, Time,
    VersionRecord,
};
use crate::reader::Reader;
use crate::update::THETA_STABLE;

/// Held facts that are passed over to reach the next group, rather than looking for it.
const PASSED_MAX: usize = 64;

/// What is to become of a load.
pub(super) struct Plan<'f> {
    /// The plain ones, in the order of the load.
    pub(super) plain: Vec<Plain<'f>>,
    /// The held facts that end where one of these begins, in the order of their numbers.
    pub(super) closings: Vec<Closing>,
    /// The places of the facts that are not plain.
    pub(super) left: Vec<usize>,
}

/// A fact that is stored as it is, but for its end.
pub(super) struct Plain<'f> {
    pub(super) fact: &'f BulkFact,
    /// When it ends, as a later one of the load may say.
    pub(super) to: Time,
}

/// A held fact that ends where one of the load begins.
pub(super) struct Closing {
    pub(super) fact: FactId,
    /// The number of the version that is believed.
    pub(super) number: u32,
    pub(super) version: VersionRecord,
    pub(super) to: Time,
}

/// A head, a relation, and the place of a fact.
type Place = (NodeId, RelationId, u32);

/// When each fact of a group ends, and the held one that the first of them closes.
type Ends<'h> = (Vec<Time>, Option<&'h Edge>);

impl<'f> Plan<'f> {
    pub(super) fn of(facts: &'f [BulkFact], reader: Reader<'_>) -> Result<Self> {
        let places = facts.iter().enumerate();
        let mut order: Vec<Place> =
            places.map(|(place, fact)| (fact.head, fact.relation, place as u32)).collect();
        order.sort_unstable();
        let mut ends: Vec<Option<Time>> = vec![None; facts.len()];
        let mut closed: Vec<(FactId, u32, Time)> = Vec::new();
        let mut own: Vec<&BulkFact> = Vec::new();
        each_group(reader, &order, &mut |group, held| {
            own.clear();
            own.extend(group.iter().map(|(.., place)| &facts[*place as usize]));
            let Some(first) = own.first() else { return };
            let Some((to, closing)) = group_ends(&own, held, reader.catalog()) else { return };
            closed.extend(closing.map(|edge| (edge.fact, edge.version, first.valid.from)));
            for ((.., place), to) in group.iter().zip(to) {
                ends[*place as usize] = Some(to);
            }
        })?;
        let (mut plain, mut left) = (Vec::with_capacity(facts.len()), Vec::new());
        for (place, (fact, end)) in facts.iter().zip(ends).enumerate() {
            match end {
                Some(to) => plain.push(Plain { fact, to }),
                None => left.push(place),
            }
        }
        Ok(Self { plain, closings: read_closings(reader, closed)?, left })
    }
}

/// Reads them in the order of their numbers, in which they stand on the disk.
fn read_closings(reader: Reader<'_>, mut closed: Vec<(FactId, u32, Time)>) -> Result<Vec<Closing>> {
    closed.sort_unstable();
    let read = |(fact, number, to)| {
        Ok(Closing { fact, number, version: reader.version(fact, number)?, to })
    };
    closed.into_iter().map(read).collect()
}

/// Calls `decide` with the places of each head and relation, and what is held of them.
fn each_group(
    reader: Reader<'_>,
    order: &[Place],
    decide: &mut dyn FnMut(&[Place], &[Edge]),
) -> Result<()> {
    let of = |group: &[Place]| group.first().map(|(head, relation, _)| (*head, *relation));
    let mut groups = order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).peekable();
    let mut held: Vec<Edge> = Vec::new();
    let is_first = !reader.has_facts()?;
    // From a group on, as long as the next ones are near.
    while let Some((head, relation)) = groups.peek().copied().filter(|_| !is_first).and_then(of) {
        let mut passed = 0;
        let mut is_end = true;
        reader.edges_from(Side::Out, head, relation, &mut |edge| {
            let here = Some((edge.head, edge.relation));
            while let Some(group) = groups.next_if(|group| of(group) < here) {
                decide(group, &held);
                held.clear();
            }
            match groups.peek() {
                Some(group) if of(group) == here => {
                    held.push(edge);
                    passed = 0;
                }
                Some(_) => passed += 1,
                None => passed = PASSED_MAX,
            }
            is_end = passed < PASSED_MAX;
            if is_end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if is_end {
            break;
        }
    }
    for group in groups {
        decide(group, &held);
        held.clear();
    }
    Ok(())
}

/// None if one of the group is not plain.
fn group_ends<'h>(own: &[&BulkFact], held: &'h [Edge], catalog: &Catalog) -> Option<Ends<'h>> {
    let rule = catalog.rule(own.first()?.relation);
    // What is found from both ends meets the facts of its tails too.
    if rule.mirror.is_some() || !own.iter().all(|fact| is_sound(fact)) {
        return None;
    }
    match rule.cardinality {
        Cardinality::One => one_after_another(own, held, &rule),
        _ => are_new(own, held).then(|| (own.iter().map(|fact| fact.valid.to).collect(), None)),
    }
}

/// Whether it may be asserted at all: else a transaction says what is wrong.
fn is_sound(fact: &BulkFact) -> bool {
    fact.confidence > 0.0
        && fact.confidence <= 1.0
        && Interval::new(fact.valid.from, fact.valid.to).is_some()
}

/// Each closes the one before it: it begins later, has no end, and no gate is in its way. What came
/// still earlier has ended by then.
fn one_after_another<'h>(
    own: &[&BulkFact],
    held: &'h [Edge],
    rule: &RelationRule,
) -> Option<Ends<'h>> {
    let is_gated = |confidence: f64, next: &BulkFact| {
        next.confidence < rule.threshold && confidence >= THETA_STABLE
    };
    let closes = |pair: &[&BulkFact]| {
        let [before, next] = pair else { return true };
        before.valid.from < next.valid.from
            && before.tail != next.tail
            && !is_gated(before.confidence, next)
    };
    let open = own.iter().all(|fact| fact.valid.to == Interval::MAX);
    if !open || !own.windows(2).all(closes) {
        return None;
    }
    let first = own.first()?;
    let from = first.valid.from;
    let stays = |edge: &Edge| {
        edge.valid.from < from
            && !edge.uncertain
            && !(edge.tail == first.tail && edge.valid.touches(&first.valid))
    };
    let mut current = held.iter().filter(|edge| edge.valid.to > from);
    let (closing, more) = (current.next(), current.next());
    let gated = closing.is_some_and(|edge| is_gated(edge.confidence, first));
    if gated || more.is_some() || !held.iter().all(stays) {
        return None;
    }
    let later = own.iter().skip(1).map(|next| next.valid.from);
    Some((later.chain([Interval::MAX]).collect(), closing))
}

/// Whether each fact has a tail of its own, and none that is held.
fn are_new(own: &[&BulkFact], held: &[Edge]) -> bool {
    if let ([_], []) = (own, held) {
        return true;
    }
    let mut tails: HashSet<NodeId> = held.iter().map(|edge| edge.tail).collect();
    own.iter().all(|fact| tails.insert(fact.tail))
}
