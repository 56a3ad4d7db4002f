//! Which facts of a load are plain, and which held ones they close.
//!
//! A fact is plain if the update rule would insert it as it is, or close the one before it: nothing else
//! that is held of its head and relation meets it, and nothing of them in the same load needs more.

use std::ops::ControlFlow;

use super::BulkFact;
use super::spool::Row;
use crate::catalog::Catalog;
use crate::error::{Result, StorageError};
use crate::graph::{Cardinality, Edge, Interval, NodeId, RelationId, RelationRule, Side, Time};
use crate::reader::Reader;
use crate::update::THETA_STABLE;

/// Held facts that are passed over to reach the next group, rather than looking for it.
const PASSED_MAX: usize = 64;

/// What is to become of a part of a load: of all facts of its heads.
pub(super) struct Plan<'b> {
    /// The plain ones as they are stored, in the order of their keys.
    pub(super) plain: Vec<BulkFact<'b>>,
    /// The held facts that end where one of these begins, in the order of their keys.
    pub(super) closings: Vec<Closing>,
    /// The places of the facts that are not plain.
    pub(super) left: Vec<u64>,
}

/// A held fact that ends where one of the load begins.
pub(super) struct Closing {
    /// As it is believed until now.
    pub(super) edge: Edge,
    pub(super) to: Time,
}

/// What becomes of the facts of a head and a relation.
enum Fate {
    /// They are not plain.
    Left,
    /// They are stored as they are.
    AsTheyAre,
    /// Each ends where the next one begins.
    OneAfterAnother,
}

impl<'b> Plan<'b> {
    pub(super) fn of(mut rows: Vec<Row<'b>>, reader: Reader<'_>) -> Result<Self> {
        rows.sort_unstable_by_key(|row| (row.fact.head, row.fact.relation, row.place));
        let mut fates: Vec<(usize, Fate)> = Vec::new();
        let mut closings: Vec<Closing> = Vec::new();
        let mut tails: Vec<NodeId> = Vec::new();
        each_group(reader, &rows, &mut |group, held| {
            let (fate, closing) = fate(group, held, reader.catalog(), &mut tails);
            let from = group.first().map(|row| row.fact.valid.from);
            closings.extend(closing.zip(from).map(|(edge, to)| Closing { edge: *edge, to }));
            fates.push((group.len(), fate));
        })?;
        if closings.iter().any(|closing| closing.edge.version == u32::MAX) {
            return Err(StorageError::Exhausted("version"));
        }
        let (plain, left) = settled(rows, fates);
        Ok(Self { plain, closings, left })
    }
}

/// The plain facts with their ends, and the places of the others.
fn settled<'b>(mut rows: Vec<Row<'b>>, fates: Vec<(usize, Fate)>) -> (Vec<BulkFact<'b>>, Vec<u64>) {
    let (mut plain, mut left) = (Vec::with_capacity(rows.len()), Vec::new());
    let mut rest = rows.as_mut_slice();
    for (length, fate) in fates {
        let (group, behind) = rest.split_at_mut(length);
        rest = behind;
        match fate {
            Fate::Left => {
                left.extend(group.iter().map(|row| row.place));
                continue;
            }
            Fate::AsTheyAre => {
                group.sort_unstable_by_key(|row| (row.fact.valid.from, row.fact.tail));
            }
            Fate::OneAfterAnother => {
                for place in 1..group.len() {
                    group[place - 1].fact.valid.to = group[place].fact.valid.from;
                }
            }
        }
        plain.extend(group.iter().map(|row| row.fact));
    }
    (plain, left)
}

/// Calls `decide` with the facts of each head and relation, and what is held of them.
fn each_group(
    reader: Reader<'_>,
    rows: &[Row<'_>],
    decide: &mut dyn FnMut(&[Row<'_>], &[Edge]),
) -> Result<()> {
    let key = |row: &Row<'_>| (row.fact.head, row.fact.relation);
    let of = |group: &[Row<'_>]| group.first().map(key);
    let mut groups = rows.chunk_by(|a, b| key(a) == key(b)).peekable();
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

/// What becomes of a group, and the held fact that its first one closes. `tails` is where tails are
/// compared.
fn fate<'h>(
    group: &[Row<'_>],
    held: &'h [Edge],
    catalog: &Catalog,
    tails: &mut Vec<NodeId>,
) -> (Fate, Option<&'h Edge>) {
    let rule = catalog.rule(group.first().map_or(RelationId(0), |row| row.fact.relation));
    // What is found from both ends meets the facts of its tails too.
    if rule.mirror.is_some() || !group.iter().all(|row| is_sound(&row.fact)) {
        return (Fate::Left, None);
    }
    match rule.cardinality {
        Cardinality::One => match one_after_another(group, held, &rule) {
            Some(closing) => (Fate::OneAfterAnother, closing),
            None => (Fate::Left, None),
        },
        _ if are_new(group, held, tails) => (Fate::AsTheyAre, None),
        _ => (Fate::Left, None),
    }
}

/// Whether it may be asserted at all: else a transaction says what is wrong.
fn is_sound(fact: &BulkFact<'_>) -> bool {
    fact.confidence > 0.0
        && fact.confidence <= 1.0
        && Interval::new(fact.valid.from, fact.valid.to).is_some()
}

/// Each closes the one before it: it begins later, has no end, and no gate is in its way. What came
/// still earlier has ended by then.
fn one_after_another<'h>(
    group: &[Row<'_>],
    held: &'h [Edge],
    rule: &RelationRule,
) -> Option<Option<&'h Edge>> {
    let is_gated = |confidence: f64, next: &BulkFact<'_>| {
        next.confidence < rule.threshold && confidence >= THETA_STABLE
    };
    let closes = |pair: &[Row<'_>]| {
        let [Row { fact: before, .. }, Row { fact: next, .. }] = pair else { return true };
        before.valid.from < next.valid.from
            && before.tail != next.tail
            && !is_gated(before.confidence, next)
    };
    let open = group.iter().all(|row| row.fact.valid.to == Interval::MAX);
    if !open || !group.windows(2).all(closes) {
        return None;
    }
    let first = &group.first()?.fact;
    let from = first.valid.from;
    let stays = |edge: &Edge| {
        edge.valid.from < from
            && !edge.uncertain
            && !(edge.tail == first.tail && edge.valid.touches(&first.valid))
    };
    let mut current = held.iter().filter(|edge| edge.valid.to > from);
    let (closing, more) = (current.next(), current.next());
    let gated = closing.is_some_and(|edge| is_gated(edge.confidence, first));
    (!gated && more.is_none() && held.iter().all(stays)).then_some(closing)
}

/// Whether each fact has a tail of its own, and none that is held.
fn are_new(group: &[Row<'_>], held: &[Edge], tails: &mut Vec<NodeId>) -> bool {
    if let ([_], []) = (group, held) {
        return true;
    }
    tails.clear();
    tails.extend(group.iter().map(|row| row.fact.tail));
    tails.sort_unstable();
    let is_twice = |pair: &[NodeId]| matches!(pair, [a, b] if a == b);
    !tails.windows(2).any(is_twice)
        && !held.iter().any(|edge| tails.binary_search(&edge.tail).is_ok())
}
