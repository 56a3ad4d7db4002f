//! Which facts of a load say nothing new, as when a file is loaded again.
//!
//! It asks the update rule, with as much of what is held as that would look at, and decides nothing
//! itself. A fact that it is in doubt of is not known, and is asserted.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::error::Result;
use crate::evidence::{claim_of, claimed};
use crate::graph::{
    Belief, BulkFact, Cardinality, Edge, FactId, Interval, NodeId, Properties, RelationId,
    RelationRule, VersionRecord,
};
use crate::pack;
use crate::reader::Reader;
use crate::update::{self, Act, Effect};

/// Held facts with one tail that each new one with it is held against; if there are more, it is asserted.
const SAME_MAX: usize = 1_024;

/// Beliefs of held facts. Those that are asked for after each other mostly are of one pack, which is read
/// once.
pub(super) struct Beliefs<'r> {
    reader: Reader<'r>,
    last: RefCell<LastPack>,
}

/// A pack and what is in it.
type LastPack = Option<(pack::Key, Vec<(FactId, VersionRecord)>)>;

impl<'r> Beliefs<'r> {
    pub(super) fn new(reader: Reader<'r>) -> Self {
        Self { reader, last: RefCell::default() }
    }

    /// What is believed, by the edge of it.
    fn of(&self, edge: &Edge) -> Result<Belief> {
        let version = match edge.version {
            0 => self.packed(edge.fact)?,
            _ => None,
        };
        match version {
            Some(belief) => Ok(belief),
            None => Ok(self.reader.version(edge.fact, edge.version)?.belief),
        }
    }

    /// What is believed of a fact whose first version is, if that is in a pack: it has no record then.
    fn packed(&self, fact: FactId) -> Result<Option<Belief>> {
        let (key, _) = pack::place_of(fact);
        let mut last = self.last.borrow_mut();
        let versions = match &mut *last {
            Some((held, versions)) if *held == key => versions,
            last => &mut last.insert((key, self.reader.packed_versions(fact)?)).1,
        };
        let place = versions.binary_search_by_key(&fact, |(other, _)| *other);
        Ok(place.ok().map(|place| versions[place].1.belief.clone()))
    }
}

/// The tails of what was believed of a head and a relation, and is no longer believed in that form.
pub(super) struct Past<'r> {
    /// None if there is nothing past at all.
    reader: Option<Reader<'r>>,
    tails: HashSet<NodeId>,
}

impl<'r> Past<'r> {
    pub(super) fn new(reader: Reader<'r>) -> Result<Self> {
        let reader = reader.has_past()?.then_some(reader);
        Ok(Self { reader, tails: HashSet::new() })
    }

    /// Reads those of a head and a relation, in place of the ones before.
    pub(super) fn read(&mut self, head: NodeId, relation: RelationId) -> Result<()> {
        let Some(reader) = self.reader else { return Ok(()) };
        self.tails.clear();
        reader.past_from(head, relation, &mut |edge| {
            self.tails.insert(edge.tail);
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tails.is_empty()
    }

    pub(super) fn has(&self, tail: NodeId) -> bool {
        self.tails.contains(&tail)
    }
}

/// What is held of a head and a relation without a mirror.
pub(super) struct HeldFacts<'h> {
    beliefs: &'h Beliefs<'h>,
    rule: &'h RelationRule,
    /// In the order of their keys, so by when they begin.
    all: &'h [Edge],
    /// Those with a tail that is asked for, by tail and then by when they begin.
    by_tail: Vec<Edge>,
}

impl<'h> HeldFacts<'h> {
    /// Of edges in the order of their keys; `is_asked` says which tails are asked for.
    pub(super) fn new(
        all: &'h [Edge],
        is_asked: impl Fn(NodeId) -> bool,
        rule: &'h RelationRule,
        beliefs: &'h Beliefs<'h>,
    ) -> Self {
        let mut by_tail: Vec<Edge> =
            all.iter().filter(|edge| is_asked(edge.tail)).copied().collect();
        by_tail.sort_unstable_by_key(|edge| (edge.tail, edge.valid.from, edge.fact));
        Self { beliefs, rule, all, by_tail }
    }

    /// Whether anything is held with the tail of this fact at its time or next to it.
    pub(super) fn meets(&self, fact: &BulkFact<'_>) -> bool {
        self.with_tail(fact.tail).iter().any(|edge| edge.valid.touches(&fact.valid))
    }

    /// Whether nothing would change if this fact was asserted.
    pub(super) fn knows(&self, fact: &BulkFact<'_>) -> Result<bool> {
        let same = self.with_tail(fact.tail);
        if same.len() > SAME_MAX {
            return Ok(false);
        }
        let (met, hull) = met(same, fact.valid);
        if met.is_empty() {
            return Ok(false);
        }
        let full = met.into_iter().map(|edge| {
            let belief = self.beliefs.of(edge)?;
            Ok(update::Held { fact: edge.fact, same: true, belief })
        });
        let mut held = full.collect::<Result<Vec<_>>>()?;
        held.extend(self.others(fact, hull).map(|edge| update::Held {
            fact: edge.fact,
            same: false,
            belief: outline(edge),
        }));
        held.sort_by_key(|held| (held.belief.valid.from, held.fact));
        let act = Act::Assert(fact.belief());
        let resolution = update::resolve(&act, &held, self.rule);
        Ok(resolution.effect == Effect::Unchanged && resolution.changes.is_empty())
    }

    /// Whether the source of this fact may have said it before, for all that the facts with its tail rest on:
    /// of a relation with one value that may be of a time at which they do not hold.
    pub(super) fn may_rest_on(&self, fact: &BulkFact<'_>) -> Result<bool> {
        let same = self.with_tail(fact.tail);
        if same.len() > SAME_MAX {
            return Ok(true);
        }
        let claim = claim_of(&fact.belief());
        for edge in same {
            let belief = self.beliefs.of(edge)?;
            if claimed(&belief, &claim, self.rule.policy).any(|told| told.overlaps(&fact.valid)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn with_tail(&self, tail: NodeId) -> &[Edge] {
        let begin = self.by_tail.partition_point(|edge| edge.tail < tail);
        let end = self.by_tail.partition_point(|edge| edge.tail <= tail);
        &self.by_tail[begin..end]
    }

    /// Of a relation with one value, the certain ones beside which a fact would stand, with what it would
    /// be merged with: up to the first one that begins after it. Either it ends there, and meets none that
    /// come later, or something changes. No two of them hold at the same time.
    fn others(&self, fact: &BulkFact<'_>, hull: Interval) -> impl Iterator<Item = &Edge> {
        let BulkFact { tail, valid, .. } = *fact;
        let all = if self.rule.cardinality == Cardinality::One { self.all } else { &[] };
        let begun = all.partition_point(|edge| edge.valid.from < hull.from);
        // The last one before may reach into it.
        let first = all[..begun].iter().rposition(|edge| !edge.uncertain).unwrap_or(begun);
        let mut is_behind = false;
        let near = all[first..].iter().filter(|edge| !edge.uncertain).take_while(move |edge| {
            let is_in = !is_behind && edge.valid.from <= hull.to;
            is_behind = edge.tail != tail && edge.valid.from > valid.from;
            is_in
        });
        near.filter(move |edge| edge.tail != tail)
    }
}

/// The held facts that one at this time may become one with, and the time of all of them.
fn met(same: &[Edge], valid: Interval) -> (Vec<&Edge>, Interval) {
    let (mut met, mut hull) = (Vec::new(), valid);
    let mut rest: Vec<&Edge> = same.iter().collect();
    loop {
        let (near, far): (Vec<&Edge>, Vec<&Edge>) =
            rest.into_iter().partition(|edge| edge.valid.touches(&hull));
        if near.is_empty() {
            return (met, hull);
        }
        hull = near.iter().fold(hull, |hull, edge| hull.hull(&edge.valid));
        met.extend(near);
        rest = far;
    }
}

/// What an edge says of a belief: what the rule looks at in one with another tail.
fn outline(edge: &Edge) -> Belief {
    Belief {
        tail: edge.tail,
        valid: edge.valid,
        confidence: edge.confidence,
        intent: edge.intent,
        uncertain: edge.uncertain,
        sources: Vec::new(),
        properties: Properties::new(),
        evidence: Vec::new(),
    }
}
