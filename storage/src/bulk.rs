//! Many new facts at once: the plain ones among them are written as sorted tables beside the
//! database, and taken into it in one step.
//!
//! ```text
//! facts ──plain?──▶ sorted tables in `bulk/`, on the disk ──commit with a mark──▶ taken in ──mark gone
//!           └─no──▶ given back, for a transaction
//! ```
//!
//! A fact is plain if the update rule would insert it as it is, or close the one before it: nothing is
//! held of its head and relation that it meets, and nothing of them in the same load needs more. The
//! rule itself is not here; what is not plain goes to it.
//!
//! Invariant: all of a load has one instant, and no reader is told that instant or a later one before
//! it sees all of it. A crash behind the commit leaves the mark and the tables; the next opening for
//! writing takes them in.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::catalog::Catalog;
use crate::commit::{Counters, Durability, Writer};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, EdgeFilter, FactId, Intent, Interval, NodeId, RelationId, RelationRule,
    Side, Time, VersionRecord,
};
use crate::key;
use crate::overlay::Overlay;
use crate::reader::Reader;
use crate::record;
use crate::store::Store;
use crate::update::THETA_STABLE;

/// Set from the commit of a load until its tables are taken in.
pub(crate) const BULK_KEY: &[u8] = b"bulk";
/// Where the tables wait, in the folder of the database.
const FOLDER: &str = "bulk";
/// Fewer facts are asserted one by one: three tables are not worth it.
const FACTS_MIN: usize = if cfg!(test) { 4 } else { 4_096 };
/// The families that a load fills.
const FAMILIES: [Family; 3] = [Family::Versions, Family::Out, Family::In];

/// A fact between nodes that are there, from one source.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkFact {
    /// The head.
    pub head: NodeId,
    /// The relation.
    pub relation: RelationId,
    /// The tail.
    pub tail: NodeId,
    /// When it holds in the world.
    pub valid: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for.
    pub intent: Intent,
    /// Where it comes from.
    pub source: Box<str>,
}

/// What became of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bulk {
    /// Facts that are stored.
    pub stored: usize,
    /// The places of the others, in order: they are to be asserted one by one, behind these.
    pub left: Vec<usize>,
}

impl Store {
    /// Stores the plain ones of many facts, as if each had been asserted, in this order, in one
    /// transaction. The names of relations must be known. `wall` is what the clock on the wall says.
    ///
    /// # Errors
    ///
    /// As [`crate::Transaction::commit`].
    pub fn load_facts(
        &self,
        facts: &[BulkFact],
        durability: Durability,
        wall: Time,
    ) -> Result<Bulk> {
        if self.is_read_only() {
            return Err(StorageError::ReadOnly);
        }
        let mut writer = self.commits.writer()?;
        let (plain, left) = {
            let snapshot = self.snapshot(wall);
            plain(facts, snapshot.reader())?
        };
        if plain.len() < FACTS_MIN {
            return Ok(Bulk { stored: 0, left: (0..facts.len()).collect() });
        }
        self.take_in_all(&mut writer, &plain, durability, wall)?;
        drop(writer);
        // So that the next opening has no long log to read.
        self.engine.flush()?;
        Ok(Bulk { stored: plain.len(), left })
    }

    fn take_in_all(
        &self,
        writer: &mut Writer,
        plain: &[Plain<'_>],
        durability: Durability,
        wall: Time,
    ) -> Result<()> {
        let folder = self.path().join(FOLDER);
        make_empty(&folder)?;
        let first = writer.counters.next_fact;
        let count = plain.len() as u64;
        let next_fact = first.checked_add(count).ok_or(StorageError::Exhausted("fact"))?;
        let commit = self.commits.begin_load(wall)?;
        let done = (|| {
            self.stage(&folder, plain, FactId(first), commit)?;
            let mut overlay = Overlay::default();
            let counters = Counters { next_fact, clock: commit, ..writer.counters };
            counters.put(&mut overlay);
            overlay.put(Family::Meta, BULK_KEY, commit.to_be_bytes().to_vec());
            let number = self.commits.write(&self.engine, writer, &overlay)?;
            writer.counters = counters;
            // The tables are on the disk already: their mark is too before they go.
            if durability == Durability::Sync {
                self.commits.sync(&self.engine, number)?;
            }
            // Half taken in, nobody may build on it before the next opening finishes it.
            self.take_in(writer).inspect_err(|_| self.commits.poison())
        })();
        self.commits.end_load(done.is_ok().then_some(commit));
        done
    }

    /// Takes the tables of a load in, and its mark away. Again, if a crash came in between.
    pub(crate) fn take_in(&self, writer: &mut Writer) -> Result<()> {
        let folder = self.path().join(FOLDER);
        for family in FAMILIES {
            let table = table(&folder, family);
            if table.exists() {
                self.engine.take_in(family, &table)?;
            }
        }
        let mut overlay = Overlay::default();
        overlay.delete(Family::Meta, BULK_KEY);
        self.commits.write(&self.engine, writer, &overlay)?;
        remove(&folder)
    }

    /// Writes the tables of a load, each in the order of its keys.
    fn stage(&self, folder: &Path, plain: &[Plain<'_>], first: FactId, commit: Time) -> Result<()> {
        let system = Interval { from: commit, to: Interval::MAX };
        let id = |place: u32| FactId(first.0 + u64::from(place));
        let versions = |(place, plain): (usize, &Plain<'_>)| {
            Ok((key::version(id(place as u32), 0), record::encode(&plain.version(system))?))
        };
        let edges = |side: Side, place: u32| {
            let plain = &plain[place as usize];
            let edge = plain.edge(id(place), system);
            Ok((key::Adjacency::of(side, &edge).encode(), record::encode_edge(&edge)))
        };
        // What is compared stands together: sorting places alone would look all over the memory.
        let ordered = |side: Side| {
            let places = plain.iter().enumerate();
            let mut orders: Vec<Order> =
                places.map(|(place, plain)| plain.order(side, place as u32)).collect();
            orders.sort_unstable();
            orders
        };
        let engine = &self.engine;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let entries = plain.iter().enumerate().map(versions);
                engine.stage(Family::Versions, &table(folder, Family::Versions), entries)?;
                let entries = ordered(Side::In).into_iter().map(|order| edges(Side::In, order.4));
                engine.stage(Family::In, &table(folder, Family::In), entries)
            });
            let entries = ordered(Side::Out).into_iter().map(|order| edges(Side::Out, order.4));
            let own = engine.stage(Family::Out, &table(folder, Family::Out), entries);
            let other = other.join().map_err(|_| {
                StorageError::Engine("the thread that writes tables came to an end".to_owned())
            })?;
            own.and(other)
        })
    }
}

/// What a key is ordered by, and the place of its fact.
type Order = (NodeId, RelationId, Time, NodeId, u32);

/// A fact that is stored as it is, but for its end.
struct Plain<'f> {
    fact: &'f BulkFact,
    /// When it ends, as a later one of the load may say.
    to: Time,
}

impl Plain<'_> {
    fn valid(&self) -> Interval {
        Interval { from: self.fact.valid.from, to: self.to }
    }

    fn version(&self, system: Interval) -> VersionRecord {
        let fact = self.fact;
        let belief = Belief {
            tail: fact.tail,
            valid: self.valid(),
            confidence: fact.confidence,
            intent: fact.intent,
            uncertain: false,
            sources: vec![fact.source.to_string()],
            properties: crate::graph::Properties::new(),
            evidence: Vec::new(),
        };
        let (head, relation) = (fact.head, fact.relation);
        VersionRecord { head, relation, belief, system, mirror: None }
    }

    fn edge(&self, id: FactId, system: Interval) -> crate::graph::Edge {
        let fact = self.fact;
        crate::graph::Edge {
            fact: id,
            version: 0,
            head: fact.head,
            relation: fact.relation,
            tail: fact.tail,
            valid: self.valid(),
            system,
            confidence: fact.confidence,
            intent: fact.intent,
            uncertain: false,
            two_way: false,
        }
    }

    /// What its key on a side is ordered by.
    fn order(&self, side: Side, place: u32) -> Order {
        let fact = self.fact;
        let (near, far) = match side {
            Side::Out => (fact.head, fact.tail),
            Side::In => (fact.tail, fact.head),
        };
        (near, fact.relation, fact.valid.from, far, place)
    }
}

/// The plain ones, in the order of the load, and the places of the others.
fn plain<'f>(facts: &'f [BulkFact], reader: Reader<'_>) -> Result<(Vec<Plain<'f>>, Vec<usize>)> {
    let places = facts.iter().enumerate();
    let mut order: Vec<(NodeId, RelationId, u32)> =
        places.map(|(place, fact)| (fact.head, fact.relation, place as u32)).collect();
    order.sort_unstable();
    let mut ends: Vec<Option<Time>> = vec![None; facts.len()];
    let is_first = !reader.has_facts()?;
    let mut own: Vec<&BulkFact> = Vec::new();
    for group in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        own.clear();
        own.extend(group.iter().map(|(.., place)| &facts[*place as usize]));
        let Some(fact) = own.first() else { continue };
        let rule = rule(reader.catalog(), fact.relation);
        let Some(rule) = rule.filter(|_| own.iter().all(|fact| is_sound(fact))) else { continue };
        let held = if is_first { Vec::new() } else { held(reader, fact)? };
        let to = ends_of(&own, &held, &rule).unwrap_or_default();
        for ((.., place), to) in group.iter().zip(to) {
            ends[*place as usize] = Some(to);
        }
    }
    let mut left = Vec::new();
    let mut plain = Vec::with_capacity(facts.len());
    for (place, (fact, end)) in facts.iter().zip(ends).enumerate() {
        match end {
            Some(to) => plain.push(Plain { fact, to }),
            None => left.push(place),
        }
    }
    Ok((plain, left))
}

/// The rule of a relation; none if its facts are found from both ends.
fn rule(catalog: &Catalog, relation: RelationId) -> Option<RelationRule> {
    Some(catalog.rule(relation)).filter(|rule| rule.mirror.is_none())
}

/// Whether it may be asserted at all: else a transaction says what is wrong.
fn is_sound(fact: &BulkFact) -> bool {
    fact.confidence > 0.0
        && fact.confidence <= 1.0
        && Interval::new(fact.valid.from, fact.valid.to).is_some()
}

/// The tails that are held of a head and relation.
fn held(reader: Reader<'_>, fact: &BulkFact) -> Result<Vec<NodeId>> {
    let mut held = Vec::new();
    let (head, relation) = (fact.head, Some(fact.relation));
    reader.edges(head, Side::Out, relation, &EdgeFilter::CURRENT, &mut |edge| {
        held.push(edge.tail);
        ControlFlow::Continue(())
    })?;
    Ok(held)
}

/// When each fact of a head and relation ends, if all are plain.
fn ends_of(own: &[&BulkFact], held: &[NodeId], rule: &RelationRule) -> Option<Vec<Time>> {
    if rule.cardinality != Cardinality::One {
        return are_new(own, held).then(|| own.iter().map(|fact| fact.valid.to).collect());
    }
    // Each closes the one before it: it begins later, has no end, and no gate is in its way. What
    // came still earlier has ended by then.
    let closes = |pair: &[&BulkFact]| {
        let [before, next] = pair else { return true };
        let is_gated = next.confidence < rule.threshold && before.confidence >= THETA_STABLE;
        before.valid.from < next.valid.from && before.tail != next.tail && !is_gated
    };
    let open = own.iter().all(|fact| fact.valid.to == Interval::MAX);
    let plain = held.is_empty() && open && own.windows(2).all(closes);
    let later = own.iter().skip(1).map(|next| next.valid.from);
    plain.then(|| later.chain([Interval::MAX]).collect())
}

/// Whether each fact has a tail of its own, and none that is held.
fn are_new(own: &[&BulkFact], held: &[NodeId]) -> bool {
    if let ([_], []) = (own, held) {
        return true;
    }
    let mut tails: HashSet<NodeId> = held.iter().copied().collect();
    own.iter().all(|fact| tails.insert(fact.tail))
}

fn table(folder: &Path, family: Family) -> PathBuf {
    folder.join(format!("{}.sst", family.name()))
}

fn make_empty(folder: &Path) -> Result<()> {
    remove(folder)?;
    fs::create_dir(folder).map_err(|source| StorageError::Io { path: folder.to_owned(), source })
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(StorageError::Io { path: folder.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
