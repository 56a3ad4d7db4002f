//! The believed facts of a node on one side, in memory: in the order of their keys, a cache line each.
//!
//! ```text
//! facts    relation, valid_from, far, fact ...     one after the other, as on the disk
//! blocks   first valid_from, last valid_to         of each 16 facts: does any of them hold then?
//! ```
//!
//! It knows nothing of the disk.

use std::ops::{ControlFlow, Range};

use crate::graph::{
    Edge, EdgeFilter, FactId, Intent, Interval, NodeId, RelationId, Side, SystemScope, Time,
    ValidScope,
};
use crate::key::{self, Adjacency};
use crate::record;

/// Facts of a block.
const BLOCK: usize = 16;
/// A node with more facts is read from the disk each time.
const FACTS_MAX: usize = 1 << 15;
/// Bytes of a fact's key and value on the disk.
pub(crate) const KEY_BYTES: usize = key::ADJACENCY + record::EDGE;

/// A fact without the node that it is a fact of.
#[derive(Clone, Copy, Debug)]
struct Packed {
    far: NodeId,
    fact: FactId,
    valid: Interval,
    confidence: f64,
    system_from: Time,
    relation: RelationId,
    version: u32,
    intent: Intent,
    uncertain: bool,
    two_way: bool,
}

/// When the facts of a block hold.
#[derive(Clone, Copy, Debug)]
struct Block {
    from: Time,
    to: Time,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct NearEdges {
    near: NodeId,
    side: Side,
    facts: Vec<Packed>,
    blocks: Vec<Block>,
    /// Whether there were too many to hold them all.
    over: bool,
}

impl NearEdges {
    pub(crate) fn new(near: NodeId, side: Side) -> Self {
        Self { near, side, facts: Vec::new(), blocks: Vec::new(), over: false }
    }

    /// Adds the next fact; breaks if there are too many. Facts come in the order of their keys, and
    /// are believed.
    pub(crate) fn push(&mut self, edge: &Edge) -> ControlFlow<()> {
        if self.over || self.facts.len() == FACTS_MAX {
            (self.facts, self.blocks, self.over) = (Vec::new(), Vec::new(), true);
            return ControlFlow::Break(());
        }
        if self.facts.len().is_multiple_of(BLOCK) {
            self.blocks.push(Block { from: Interval::MAX, to: Interval::MIN });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.from = block.from.min(edge.valid.from);
            block.to = block.to.max(edge.valid.to);
        }
        self.facts.push(Packed {
            far: if self.side == Side::Out { edge.tail } else { edge.head },
            fact: edge.fact,
            valid: edge.valid,
            confidence: edge.confidence,
            system_from: edge.system.from,
            relation: edge.relation,
            version: edge.version,
            intent: edge.intent,
            uncertain: edge.uncertain,
            two_way: edge.two_way,
        });
        ControlFlow::Continue(())
    }

    /// Whether it has every fact; else it has none.
    pub(crate) fn is_complete(&self) -> bool {
        !self.over
    }

    /// Gives back what was taken ahead.
    pub(crate) fn finish(mut self) -> Self {
        self.facts.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.facts.capacity() * size_of::<Packed>() + self.blocks.capacity() * size_of::<Block>()
    }

    /// Where the facts of a relation stand.
    pub(crate) fn of_relation(&self, relation: RelationId) -> Range<usize> {
        let start = self.facts.partition_point(|fact| fact.relation < relation);
        let end = self.facts.partition_point(|fact| fact.relation <= relation);
        start..end
    }

    /// The first place in a range of one relation whose fact begins at or behind an instant.
    pub(crate) fn begun(&self, range: Range<usize>, time: Time) -> usize {
        let facts = self.facts.get(range.clone()).unwrap_or_default();
        range.start + facts.partition_point(|fact| fact.valid.from < time)
    }

    /// The first place behind that of a key.
    pub(crate) fn behind(&self, key: &Adjacency) -> usize {
        let mark = (key.relation, key.valid_from, key.far, key.fact);
        self.facts
            .partition_point(|fact| (fact.relation, fact.valid.from, fact.far, fact.fact) <= mark)
    }

    /// Calls `visit` on the facts of these places that the filter keeps, until it breaks. Gives the
    /// place behind the last one that was looked at.
    pub(crate) fn visit(
        &self,
        places: Range<usize>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> usize {
        let within = match filter.valid {
            ValidScope::AsOf(time) => Interval { from: time, to: time.saturating_add(1) },
            ValidScope::Within(interval) => interval,
            ValidScope::All => Interval::ALL,
        };
        let all = filter.valid == ValidScope::All;
        let believed = match filter.system {
            SystemScope::AsOf(time) => time,
            SystemScope::Current | SystemScope::All => Interval::MAX,
        };
        let mut place = places.start;
        while place < places.end {
            let block = place / BLOCK;
            let end = places.end.min((block + 1) * BLOCK);
            let holds = |block: &Block| block.from < within.to && within.from < block.to;
            if !all && !self.blocks.get(block).is_some_and(holds) {
                place = end;
                continue;
            }
            for fact in self.facts.get(place..end).unwrap_or_default() {
                place += 1;
                let valid = all || fact.valid.overlaps(&within);
                let kept = valid
                    && fact.system_from <= believed
                    && fact.confidence >= filter.confidence
                    && filter.intent.is_none_or(|intent| intent == fact.intent);
                if kept && visit(self.edge(fact)).is_break() {
                    return place;
                }
            }
        }
        place
    }

    fn edge(&self, fact: &Packed) -> Edge {
        let (head, tail) = match self.side {
            Side::Out => (self.near, fact.far),
            Side::In => (fact.far, self.near),
        };
        Edge {
            fact: fact.fact,
            version: fact.version,
            head,
            relation: fact.relation,
            tail,
            valid: fact.valid,
            system: Interval { from: fact.system_from, to: Interval::MAX },
            confidence: fact.confidence,
            intent: fact.intent,
            uncertain: fact.uncertain,
            two_way: fact.two_way,
        }
    }
}
