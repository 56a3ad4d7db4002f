//! Which facts of a load are plain, and which held ones they close.
//!
//! A fact is plain if the update rule would insert it as it is, or close the one before it. One that
//! changes nothing is known already, and is neither stored nor asserted. Where a relation takes one value
//! that is told of all facts of a head together, else of those with the same tail. What was believed once
//! and is told again is never plain: whether its source has said it before is seen where it is asserted.
//! Which row of a load ended another one is not kept: a pack has no room for it.

use std::ops::ControlFlow;

use super::known::{Beliefs, HeldFacts, Past};
use super::spool::Row;
use crate::error::{Result, StorageError};
use crate::graph::BulkFact;
use crate::graph::{Cardinality, Edge, Interval, NodeId, RelationRule, Side, Time};
use crate::reader::Reader;
use crate::update::is_gated;

/// Held facts that are passed over to reach the next group, rather than looking for it.
const PASSED_MAX: usize = 64;

/// What is to become of a stretch of a load: of all facts of its heads.
pub(super) struct Plan<'b> {
    /// The plain ones as they are stored, in the order of their keys.
    pub(super) plain: Vec<Row<'b>>,
    /// The held facts that end where one of these begins, in the order of their keys.
    pub(super) closings: Vec<Closing>,
    /// How many say nothing new.
    pub(super) known: u64,
    /// The places of the others.
    pub(super) left: Vec<u64>,
}

/// A held fact that ends where one of the load begins.
pub(super) struct Closing {
    /// As it is believed until now.
    pub(super) edge: Edge,
    pub(super) to: Time,
    /// Who tells what ends it.
    pub(super) source: String,
}

/// Called with the facts of a head and a relation, and what is held of them.
type Decide<'d, 'b> = &'d mut dyn FnMut(&mut [Row<'b>], &[Edge]) -> Result<()>;

/// What becomes of a fact.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Plain,
    Known,
    Left,
}

impl<'b> Plan<'b> {
    /// That of rows in the order of their heads, relations and places.
    pub(super) fn of(mut rows: Vec<Row<'b>>, reader: Reader<'_>) -> Result<Self> {
        debug_assert!(rows.is_sorted_by_key(|row| (row.fact.head, row.fact.relation, row.place)));
        let (all, closings, tails) = (Vec::with_capacity(rows.len()), Vec::new(), Vec::new());
        let (beliefs, past) = (Beliefs::new(reader), Past::new(reader)?);
        let mut fates = Fates { reader, beliefs, past, all, closings, tails };
        each_group(reader, &mut rows, &mut |group, held| fates.decide(group, held))?;
        let Fates { all, closings, .. } = fates;
        if closings.iter().any(|closing| closing.edge.version == u32::MAX) {
            return Err(StorageError::Exhausted("version"));
        }
        let (mut known, mut left, mut fates) = (0, Vec::new(), all.into_iter());
        rows.retain(|row| match fates.next() {
            Some(Fate::Plain) => true,
            Some(Fate::Known) => {
                known += 1;
                false
            }
            Some(Fate::Left) | None => {
                left.push(row.place);
                false
            }
        });
        Ok(Self { plain: rows, closings, known, left })
    }
}

/// Calls `decide` with the facts of each head and relation, and what is held of them.
fn each_group<'b>(reader: Reader<'_>, rows: &mut [Row<'b>], decide: Decide<'_, 'b>) -> Result<()> {
    let key = |row: &Row<'_>| (row.fact.head, row.fact.relation);
    let of = |group: &[Row<'_>]| group.first().map(key);
    let mut groups = rows.chunk_by_mut(|a, b| key(a) == key(b)).peekable();
    let mut held: Vec<Edge> = Vec::new();
    let is_first = !reader.has_facts()?;
    // From a group on, as long as the next ones are near.
    while let Some((head, relation)) =
        groups.peek().filter(|_| !is_first).and_then(|group| of(group))
    {
        let mut passed = 0;
        let mut end = None;
        reader.edges_from(Side::Out, head, relation, &mut |edge| {
            let here = Some((edge.head, edge.relation));
            while let Some(group) = groups.next_if(|group| of(group) < here) {
                if let Err(error) = decide(group, &held) {
                    end = Some(Err(error));
                    return ControlFlow::Break(());
                }
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
            if passed < PASSED_MAX {
                return ControlFlow::Continue(());
            }
            end = Some(Ok(()));
            ControlFlow::Break(())
        })?;
        match end {
            Some(result) => result?,
            None => break,
        }
    }
    for group in groups {
        decide(group, &held)?;
        held.clear();
    }
    Ok(())
}

/// The fates of facts, in their order, and what they close.
struct Fates<'r> {
    reader: Reader<'r>,
    beliefs: Beliefs<'r>,
    past: Past<'r>,
    all: Vec<Fate>,
    closings: Vec<Closing>,
    /// Where the tails of a group are compared, each with the place of its fact there.
    tails: Vec<(NodeId, usize)>,
}

impl Fates<'_> {
    /// Those of the facts of a head and a relation, which are put into the order and given the ends that
    /// they are stored with.
    fn decide(&mut self, group: &mut [Row<'_>], held: &[Edge]) -> Result<()> {
        let Some(BulkFact { head, relation, .. }) = group.first().map(|row| row.fact) else {
            return Ok(());
        };
        let rule = self.reader.catalog().rule(relation);
        // What is found from both ends meets the facts of its tails too.
        if rule.mirror.is_some() || !group.iter().all(|row| is_sound(&row.fact)) {
            self.add(Fate::Left, group.len());
            return Ok(());
        }
        self.past.read(head, relation)?;
        match rule.cardinality {
            Cardinality::One => self.one(group, held, &rule),
            _ => self.many(group, held, &rule),
        }
    }

    fn add(&mut self, fate: Fate, count: usize) {
        self.all.extend(std::iter::repeat_n(fate, count));
    }

    /// Of a relation with one value: each closes the one before it, after what is known already.
    fn one(&mut self, group: &mut [Row<'_>], held: &[Edge], rule: &RelationRule) -> Result<()> {
        let mut known = 0;
        let mut closing = one_after_another(group, held, rule);
        let facts = HeldFacts::new(held, |_| true, rule, &self.beliefs);
        if closing.is_none() && !held.is_empty() {
            while known < group.len() && facts.knows(&group[known].fact)? {
                known += 1;
            }
            if known > 0 {
                closing = one_after_another(&group[known..], held, rule);
            }
        }
        let are_new = closing.is_some() && self.are_new(&group[known..], &facts)?;
        self.add(Fate::Known, known);
        let new = &mut group[known..];
        let Some(closing) = closing.filter(|_| are_new) else {
            self.add(Fate::Left, new.len());
            return Ok(());
        };
        for place in 1..new.len() {
            new[place - 1].fact.valid.to = new[place].fact.valid.from;
        }
        let first = new.first().map(|row| row.fact);
        let closing = closing.zip(first).map(|(edge, first)| Closing {
            edge: *edge,
            to: first.valid.from,
            source: first.source.to_owned(),
        });
        self.closings.extend(closing);
        self.add(Fate::Plain, new.len());
        Ok(())
    }

    /// Whether nobody can have said any of these before, of a relation with one value.
    fn are_new(&self, rows: &[Row<'_>], held: &HeldFacts<'_>) -> Result<bool> {
        for row in rows {
            if self.past.has(row.fact.tail) || held.may_rest_on(&row.fact)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Of a relation with many values: those with other tails have nothing to do with each other.
    fn many(&mut self, group: &mut [Row<'_>], held: &[Edge], rule: &RelationRule) -> Result<()> {
        group.sort_unstable_by_key(|row| (row.fact.valid.from, row.fact.tail, row.place));
        if group.len() == 1 && held.is_empty() && self.past.is_empty() {
            self.add(Fate::Plain, 1);
            return Ok(());
        }
        self.tails.clear();
        self.tails.extend(group.iter().enumerate().map(|(place, row)| (row.fact.tail, place)));
        self.tails.sort_unstable();
        let is_asked = |tail| self.tails.binary_search_by_key(&tail, |(tail, _)| *tail).is_ok();
        let held = HeldFacts::new(held, is_asked, rule, &self.beliefs);
        let begin = self.all.len();
        self.all.resize(begin + group.len(), Fate::Left);
        let all = &mut self.all[begin..];
        for same in self.tails.chunk_by(|a, b| a.0 == b.0) {
            let is_past = self.past.has(group[same[0].1].fact.tail);
            if !are_apart(same, group, &held, is_past, all)? {
                same.iter().for_each(|(_, place)| all[*place] = Fate::Left);
            }
        }
        Ok(())
    }
}

/// Tells the fates of facts with the same ends, given by their places in the order in which they begin.
/// False, and no fate stands, unless each is known already or apart from what is held and from the others,
/// and new if these ends had a fact in the past.
fn are_apart(
    same: &[(NodeId, usize)],
    group: &[Row<'_>],
    held: &HeldFacts<'_>,
    is_past: bool,
    fates: &mut [Fate],
) -> Result<bool> {
    let mut last: Option<Interval> = None;
    for (_, place) in same {
        let fact = &group[*place].fact;
        fates[*place] = match held.meets(fact) {
            true if held.knows(fact)? => Fate::Known,
            false if !is_past && last.is_none_or(|last| !last.touches(&fact.valid)) => {
                last = Some(fact.valid);
                Fate::Plain
            }
            _ => return Ok(false),
        };
    }
    Ok(true)
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
    let closes = |pair: &[Row<'_>]| {
        let [Row { fact: before, .. }, Row { fact: next, .. }] = pair else { return true };
        before.valid.from < next.valid.from
            && before.tail != next.tail
            && !is_gated(next.confidence, before.confidence, rule)
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
    let gated = closing.is_some_and(|edge| is_gated(first.confidence, edge.confidence, rule));
    (!gated && more.is_none() && held.iter().all(stays)).then_some(closing)
}
