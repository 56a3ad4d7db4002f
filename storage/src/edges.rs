//! The believed facts of a node on one side, in memory: in the order of their keys, column by column,
//! in one piece.
//!
//! ```text
//! blocks    the first valid_from and the last valid_to of each 16 facts: does any of them hold then?
//! columns   valid_from, valid_to, confidence, far: all that most questions look at
//!           fact with intent and flags, system_from, relation and version
//! ```
//!
//! It knows nothing of the disk.

use std::hint::black_box;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::adjacency::Adjacency;
use crate::ahead;
use crate::graph::{
    Edge, EdgeFilter, FactId, Intent, Interval, NodeId, RelationId, Side, SystemScope, Time,
    ValidScope,
};

/// Facts of a block.
const BLOCK: usize = 16;
/// A node with more facts is read from the disk each time.
const FACTS_MAX: usize = 1 << 15;
/// Stands for the number of facts where there are too many.
const TOO_MANY: u64 = u64::MAX;
/// Cache lines of a node that are worth asking for ahead.
const LINES_AHEAD: usize = 6;

/// The facts of a node on one side: of one relation, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Near {
    pub(crate) node: NodeId,
    pub(crate) side: Side,
    pub(crate) relation: Option<RelationId>,
}

/// A column, one word for each fact.
#[derive(Clone, Copy)]
enum Column {
    ValidFrom,
    ValidTo,
    Confidence,
    Far,
    /// Intent and flags in the highest byte.
    Fact,
    SystemFrom,
    /// The relation in the upper half.
    RelationAndVersion,
}

const COLUMNS: usize = Column::RelationAndVersion as usize + 1;
/// Bits of the number of a fact; one that takes more is read from the disk each time.
const FACT_BITS: u32 = 56;
/// Bits of the intent in the byte above, and the flags in that byte.
const INTENT: u64 = 0b111;
const UNCERTAIN: u64 = 1 << 3;
const TWO_WAY: u64 = 1 << 4;
const _: () = assert!(Intent::ALL.len() as u64 <= INTENT + 1);

/// Facts that are gathered to be kept.
pub(crate) struct Gathered {
    side: Side,
    facts: Vec<[u64; COLUMNS]>,
    is_over: bool,
}

impl Gathered {
    pub(crate) fn new(side: Side) -> Self {
        Self { side, facts: Vec::new(), is_over: false }
    }

    /// Adds the next fact; breaks if there are too many. Facts come in the order of their keys, and
    /// are believed.
    pub(crate) fn push(&mut self, edge: &Edge) -> ControlFlow<()> {
        if self.is_over || self.facts.len() == FACTS_MAX || edge.fact.0 >> FACT_BITS != 0 {
            (self.facts, self.is_over) = (Vec::new(), true);
            return ControlFlow::Break(());
        }
        let far = edge.far(self.side);
        let flags = [(edge.uncertain, UNCERTAIN), (edge.two_way, TWO_WAY)];
        let flags = flags.iter().filter(|flag| flag.0).fold(0, |all, flag| all | flag.1);
        self.facts.push([
            edge.valid.from.cast_unsigned(),
            edge.valid.to.cast_unsigned(),
            edge.confidence.to_bits(),
            far.0,
            (edge.intent as u64 | flags) << FACT_BITS | edge.fact.0,
            edge.system.from.cast_unsigned(),
            u64::from(edge.relation.0) << 32 | u64::from(edge.version),
        ]);
        ControlFlow::Continue(())
    }

    pub(crate) fn finish(self) -> NearEdges {
        if self.is_over {
            return NearEdges { words: Arc::new([TOO_MANY]) };
        }
        let time = |fact: &[u64; COLUMNS], column: Column| fact[column as usize].cast_signed();
        let blocks = self.facts.chunks(BLOCK);
        let first = |block: &[[u64; COLUMNS]]| {
            let from = block.iter().map(|fact| time(fact, Column::ValidFrom)).min();
            from.unwrap_or(Interval::MAX).cast_unsigned()
        };
        let last = |block: &[[u64; COLUMNS]]| {
            let to = block.iter().map(|fact| time(fact, Column::ValidTo)).max();
            to.unwrap_or(Interval::MIN).cast_unsigned()
        };
        let mut words = Vec::with_capacity(1 + 2 * blocks.len() + COLUMNS * self.facts.len());
        words.push(self.facts.len() as u64);
        words.extend(blocks.clone().map(first));
        words.extend(blocks.map(last));
        for column in 0..COLUMNS {
            words.extend(self.facts.iter().map(|fact| fact[column]));
        }
        NearEdges { words: words.into() }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct NearEdges {
    /// How many facts, then the blocks, then the columns.
    words: Arc<[u64]>,
}

impl NearEdges {
    /// Whether it has every fact; else it has none.
    pub(crate) fn is_complete(&self) -> bool {
        self.words.first() != Some(&TOO_MANY)
    }

    pub(crate) fn len(&self) -> usize {
        match self.words.first() {
            None | Some(&TOO_MANY) => 0,
            Some(facts) => *facts as usize,
        }
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val::<[u64]>(&self.words)
    }

    /// Where the facts of a relation stand.
    pub(crate) fn of_relation(&self, relation: RelationId) -> Range<usize> {
        let relations = self.column(Column::RelationAndVersion);
        let relation = u64::from(relation.0);
        // Most nodes that are asked for one relation have no other, or only its facts are kept.
        let is_it = |word: Option<&u64>| word.is_some_and(|word| word >> 32 == relation);
        if is_it(relations.first()) && is_it(relations.last()) {
            return 0..relations.len();
        }
        let start = relations.partition_point(|word| word >> 32 < relation);
        let end = relations.partition_point(|word| word >> 32 <= relation);
        start..end
    }

    /// The first place in a range of one relation whose fact begins at or after an instant.
    pub(crate) fn begun(&self, range: Range<usize>, time: Time) -> usize {
        let begun = self.column(Column::ValidFrom).get(range.clone()).unwrap_or_default();
        range.start + begun.partition_point(|from| from.cast_signed() < time)
    }

    /// The first place after that of a key.
    pub(crate) fn behind(&self, near: &Near, key: &Adjacency) -> usize {
        let mark = (key.relation, key.valid_from, key.far, key.fact);
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start.midpoint(end);
            let edge = self.edge(near, middle);
            let far = edge.far(near.side);
            match (edge.relation, edge.valid.from, far, edge.fact) <= mark {
                true => start = middle + 1,
                false => end = middle,
            }
        }
        start
    }

    /// Calls `visit` on the facts of these places that the filter keeps, until it breaks. Gives the
    /// place after the last one that was looked at.
    pub(crate) fn visit(
        &self,
        near: &Near,
        places: Range<usize>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(Edge) -> ControlFlow<()>,
    ) -> (usize, ControlFlow<()>) {
        self.each(places, filter, |place| visit(self.edge(near, place)))
    }

    /// The same with the far nodes alone.
    pub(crate) fn visit_far(
        &self,
        places: Range<usize>,
        filter: &EdgeFilter,
        visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>,
    ) -> (usize, ControlFlow<()>) {
        let far = self.column(Column::Far);
        let node = |place: usize| far.get(place).copied().map(NodeId);
        self.each(places, filter, |place| node(place).map_or(ControlFlow::Break(()), &mut *visit))
    }

    /// Asks the memory for the first facts of several nodes at once, so that it does not have to be
    /// waited for at each.
    pub(crate) fn touch<'e>(all: impl Iterator<Item = &'e Self>) {
        let lines = all.flat_map(|edges| ahead::lines(&edges.words, LINES_AHEAD));
        black_box(lines.fold(0, |all, word| all ^ word));
    }

    /// Calls `visit` on the places in a range whose facts the filter keeps, until it breaks.
    fn each(
        &self,
        places: Range<usize>,
        filter: &EdgeFilter,
        mut visit: impl FnMut(usize) -> ControlFlow<()>,
    ) -> (usize, ControlFlow<()>) {
        let test = Test::of(filter);
        let places = places.start..places.end.min(self.len());
        let (first, last) = (places.start / BLOCK, places.end.div_ceil(BLOCK));
        for (block, (from, to)) in (first..last).zip(self.bounds(first..last)) {
            // No fact of the block holds.
            if from.cast_signed() >= test.within.to || to.cast_signed() <= test.within.from {
                continue;
            }
            let place = places.start.max(block * BLOCK);
            let mut kept = self.kept(place..places.end.min((block + 1) * BLOCK), &test);
            while kept != 0 {
                let at = place + kept.trailing_zeros() as usize;
                kept &= kept - 1;
                if visit(at).is_break() {
                    return (at + 1, ControlFlow::Break(()));
                }
            }
        }
        (places.end, ControlFlow::Continue(()))
    }

    /// The first beginning and the last end in each of some blocks.
    fn bounds(&self, some: Range<usize>) -> impl Iterator<Item = (&u64, &u64)> {
        let behind = |words: usize| words + some.start..words + some.end;
        let part = |words| self.words.get(behind(words)).unwrap_or_default();
        part(1).iter().zip(part(1 + self.blocks()))
    }

    /// Which facts of a part of a block the filter keeps, a bit each.
    fn kept(&self, places: Range<usize>, test: &Test) -> u32 {
        let part = |column| self.column(column).get(places.clone()).unwrap_or_default();
        let (from, to) = (part(Column::ValidFrom), part(Column::ValidTo));
        let mut kept = 0;
        // Without branches: which facts hold and which are sure follows no pattern.
        for (lane, ((from, to), confidence)) in
            from.iter().zip(to).zip(part(Column::Confidence)).enumerate()
        {
            let begins = from.cast_signed() < test.within.to;
            let ends = test.within.from < to.cast_signed();
            let is_sure = f64::from_bits(*confidence) >= test.confidence;
            kept |= u32::from(begins & ends & is_sure) << lane;
        }
        if test.believed != Interval::MAX {
            for (lane, from) in part(Column::SystemFrom).iter().enumerate() {
                kept &= !(u32::from(from.cast_signed() > test.believed) << lane);
            }
        }
        if let Some(intent) = test.intent {
            for (lane, word) in part(Column::Fact).iter().enumerate() {
                kept &= !(u32::from(word >> FACT_BITS & INTENT != intent as u64) << lane);
            }
        }
        kept
    }

    fn blocks(&self) -> usize {
        self.len().div_ceil(BLOCK)
    }

    fn column(&self, column: Column) -> &[u64] {
        let start = 1 + 2 * self.blocks() + self.len() * column as usize;
        self.words.get(start..start + self.len()).unwrap_or_default()
    }

    fn edge(&self, near: &Near, place: usize) -> Edge {
        let word = |column| self.column(column).get(place).copied().unwrap_or_default();
        let time = |column| word(column).cast_signed();
        let (far, relation) = (NodeId(word(Column::Far)), word(Column::RelationAndVersion));
        let (fact, marks) = (word(Column::Fact), word(Column::Fact) >> FACT_BITS);
        let (head, tail) = match near.side {
            Side::Out => (near.node, far),
            Side::In => (far, near.node),
        };
        Edge {
            fact: FactId(fact & !(u64::MAX << FACT_BITS)),
            version: relation as u32,
            head,
            relation: RelationId((relation >> 32) as u32),
            tail,
            valid: Interval { from: time(Column::ValidFrom), to: time(Column::ValidTo) },
            system: Interval { from: time(Column::SystemFrom), to: Interval::MAX },
            confidence: f64::from_bits(word(Column::Confidence)),
            intent: Intent::ALL.get((marks & INTENT) as usize).copied().unwrap_or_default(),
            uncertain: marks & UNCERTAIN != 0,
            two_way: marks & TWO_WAY != 0,
        }
    }
}

/// What a filter asks of each fact.
struct Test {
    within: Interval,
    believed: Time,
    confidence: f64,
    intent: Option<Intent>,
}

impl Test {
    fn of(filter: &EdgeFilter) -> Self {
        let within = match filter.valid {
            ValidScope::AsOf(time) => Interval { from: time, to: time.saturating_add(1) },
            ValidScope::Within(interval) => interval,
            ValidScope::All => Interval::ALL,
        };
        let believed = match filter.system {
            SystemScope::AsOf(time) => time,
            SystemScope::Current | SystemScope::All => Interval::MAX,
        };
        Self { within, believed, confidence: filter.confidence, intent: filter.intent }
    }
}

#[cfg(test)]
pub(crate) mod tests;
