//! The tables of a load: every key of its facts and of the held ones that they close, in order.
//!
//! Facts of a stretch of heads are in packs alone by their heads, with what leads to them; few that are left over
//! have records and edges, as have those of heads that many packs are of already. A held fact that ends
//! gets a new version, and its old one is stored again as past and leaves its pack. Between its nodes the new
//! version stands at the key of the old one, so nothing has to be deleted.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::parts::{Parts, PartsWriter};
use super::plan::{Closing, Plan};
use super::spool::Row;
use super::tails;
use crate::adjacency::{self, Adjacency};
use crate::engine::{Engine, NewTable};
use crate::error::{Result, StorageError};
use crate::evidence::cut_by;
use crate::families::Family;
use crate::graph::{Denial, Edge, FactId, Interval, NodeId, Side, Time, VersionRecord};
use crate::key;
use crate::pack::{self, runs};
use crate::reader::Reader;
use crate::record;
use crate::staged;

/// Runs of a head from which on the few facts that a load has of it are alone: who scans the head has a
/// pack to read for each run, and with many loads there would be many.
pub(super) const RUNS_MAX: usize = if cfg!(test) { 3 } else { 16 };

/// Facts that are worth a pack.
const PACKED_MIN: usize = if cfg!(test) { 2 } else { 16 };
/// Facts that are asked for together.
const TOGETHER: usize = 64;

/// See the module.
pub(super) struct Tables<'l> {
    pub(super) engine: &'l Engine,
    pub(super) folder: &'l Path,
    /// What stands at the tails, by these.
    pub(super) tails: &'l Parts,
    /// When everything of the load is believed.
    pub(super) commit: Time,
}

/// Facts of a part with consecutive numbers from `first` on, which one pack has or would have.
struct Block<'p, 'b> {
    first: FactId,
    rows: &'p [Row<'b>],
    /// The pack, if any are in it; the others have a record each.
    pack: Option<Vec<u8>>,
    /// A bit for each row that is in it.
    packed: u128,
}

impl<'p, 'b> Block<'p, 'b> {
    /// The rows that are in the pack, or those that are not, each with its number.
    fn rows(&self, packed: bool) -> impl Iterator<Item = (&'p Row<'b>, u64)> + use<'p, 'b> {
        let (bits, first) = (self.packed, self.first.0);
        let all = self.rows.iter().enumerate();
        let wanted = all.filter(move |(at, _)| (bits >> at & 1 == 1) == packed);
        wanted.map(move |(at, row)| (row, first + at as u64))
    }
}

/// The heads of a stretch, and where the facts of each are that are packed already.
type Held = BTreeMap<NodeId, Vec<Range<u64>>>;

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

/// What stands at the heads of a part, on its way into tables.
pub(super) struct HeadTables<'t, 'l, 'o> {
    tables: &'t Tables<'l>,
    reader: Reader<'t>,
    /// The number of the next fact, the first of a pack.
    next: FactId,
    out: &'t mut NewTable<'o>,
    versions: &'t mut NewTable<'o>,
    tails: PartsWriter<'t>,
}

impl HeadTables<'_, '_, '_> {
    /// Adds the facts of some heads, which come after those that were added before. They get numbers in the order of
    /// the keys.
    pub(super) fn add(&mut self, plan: &Plan<'_>) -> Result<()> {
        if plan.plain.is_empty() {
            return Ok(());
        }
        let Self { tables, reader, next: first, .. } = *self;
        let ended = plan.closings.iter().map(|closing| tables.ended_edge(closing));
        let edge = |(row, number): (&Row<'_>, u64)| row.fact.edge(FactId(number), tables.commit);
        for edge in ended.clone().chain(plan.plain.iter().zip(first.0..).map(edge)) {
            let written = self.tails.write(edge.tail, &tails::encode(&edge));
            written.map_err(StorageError::io(tables.folder))?;
        }
        let held = held(&plan.plain, reader)?;
        let blocks = tables.blocks(&plan.plain, first, &held);
        let alone = blocks.iter().flat_map(|block| block.rows(false)).map(edge);
        let entry = |edge: Edge| {
            let key = Adjacency::of(Side::Out, &edge).encode();
            (key.as_ref().to_vec(), adjacency::encode(&edge).as_ref().to_vec())
        };
        let mut out: Vec<Entry> = ended.chain(alone).map(entry).collect();
        out.extend(runs(&blocks, held));
        out.sort_unstable();
        out.iter().try_for_each(|(key, value)| self.out.put(key, value))?;
        for block in blocks {
            for entry in tables.stored(block) {
                let (key, value) = entry?;
                self.versions.put(key, value)?;
            }
        }
        let numbers = (plan.plain.len() as u64).next_multiple_of(pack::FACTS as u64);
        self.next = FactId(first.0 + numbers);
        Ok(())
    }
}

impl Tables<'_> {
    /// Writes what stands at the heads of a part, which `add` adds, and its versions. Its facts get numbers from
    /// `first` on, with which a pack begins. What stands at their tails is kept for [`Self::tails`].
    pub(super) fn heads(
        &self,
        part: usize,
        first: FactId,
        reader: Reader<'_>,
        add: impl FnOnce(&mut HeadTables<'_, '_, '_>) -> Result<()>,
    ) -> Result<()> {
        let files = [Family::Out, Family::Versions].map(|family| self.file(family, part));
        self.engine.stage(files, |[out, versions]| {
            let tails = self.tails.writer();
            let mut heads = HeadTables { tables: self, reader, next: first, out, versions, tails };
            add(&mut heads)?;
            heads.tails.finish().map_err(StorageError::io(self.folder))
        })
    }

    /// Rows that get numbers from `first` on, in packs if they are enough.
    fn blocks<'p, 'b>(
        &self,
        rows: &'p [Row<'b>],
        first: FactId,
        held: &Held,
    ) -> Vec<Block<'p, 'b>> {
        let firsts = (first.0..).step_by(pack::FACTS);
        rows.chunks(pack::FACTS)
            .zip(firsts)
            .map(|(rows, first)| self.block(rows, first, held))
            .collect()
    }

    fn block<'p, 'b>(&self, rows: &'p [Row<'b>], first: u64, held: &Held) -> Block<'p, 'b> {
        let mut block = Block { first: FactId(first), rows, pack: None, packed: 0 };
        if rows.len() < PACKED_MIN {
            return block;
        }
        let mut at = 0;
        for same in rows.chunk_by(|a, b| a.fact.head == b.fact.head) {
            let runs = same.first().and_then(|row| held.get(&row.fact.head));
            if same.len() == pack::FACTS || runs.is_none_or(|runs| runs.len() < RUNS_MAX) {
                (at..at + same.len()).for_each(|at| block.packed |= 1 << at);
            }
            at += same.len();
        }
        let facts = block.rows(true).map(|(row, number)| ((number - first) as u8, row.fact));
        let facts: Vec<_> = facts.collect();
        let pack = || pack::encode(&facts, self.commit);
        block.pack = (!facts.is_empty()).then(pack).flatten();
        if block.pack.is_none() {
            block.packed = 0;
        }
        block
    }

    /// The keys and values of the versions of a block.
    fn stored(&self, block: Block<'_, '_>) -> Vec<Result<Entry>> {
        let record = |(row, number): (&Row<'_>, u64)| {
            let version = record::encode(&row.fact.version(self.commit))?;
            Ok((key::version(FactId(number), 0).to_vec(), version))
        };
        let alone = block.rows(false).map(record);
        let pack = block.pack.map(|pack| Ok((pack::place_of(block.first).0.to_vec(), pack)));
        pack.into_iter().chain(alone).collect()
    }

    /// Writes what stands at the tails of a part, once the parts of all heads are written.
    pub(super) fn tails(&self, part: usize) -> Result<()> {
        let bytes = self.tails.take(part).map_err(StorageError::io(self.folder))?;
        let damaged = || {
            StorageError::io(self.folder)(std::io::Error::other("a part of the load is damaged"))
        };
        let (facts, rest) = bytes.as_chunks::<{ tails::BYTES }>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        if facts.is_empty() {
            return Ok(());
        }
        let entry = |at: usize| {
            let edge = tails::decode(&facts[at], self.system()).ok_or_else(damaged)?;
            Ok((Adjacency::of(Side::In, &edge).encode(), adjacency::encode(&edge)))
        };
        let order = tails::order(facts).ok_or_else(damaged)?;
        // Asked for before they are used: they lie far from each other.
        let touched = order.chunks(TOGETHER).flat_map(|places| {
            black_box(places.iter().fold(0, |all, at| all ^ facts[*at][0] ^ facts[*at][57]));
            places
        });
        self.stage(Family::In, part, touched.map(|at| entry(*at)))
    }

    /// Writes the versions of what ends, and what was believed of it until now, as the part of that
    /// number.
    pub(super) fn closings(
        &self,
        part: usize,
        mut closings: Vec<Closing>,
        reader: Reader<'_>,
    ) -> Result<()> {
        if closings.is_empty() {
            return Ok(());
        }
        closings.sort_unstable_by_key(|closing| closing.edge.fact);
        let pack_of = |closing: &Closing| pack::place_of(closing.edge.fact).0;
        let packs = closings.chunk_by(|a, b| pack_of(a) == pack_of(b));
        let versions = packs.flat_map(|some| match self.closed(some, reader) {
            Ok(entries) => entries.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        self.stage(Family::Versions, part, versions)?;
        for (side, family) in [(Side::Out, Family::OutPast), (Side::In, Family::InPast)] {
            closings.sort_unstable_by_key(|closing| Adjacency::of(side, &closing.edge));
            let entry = |closing: &Closing| {
                let system = Interval { to: self.commit, ..closing.edge.system };
                let edge = Edge { system, ..closing.edge };
                let [out, back] = adjacency::places(&edge);
                let (_, key) = if side == Side::Out { out } else { back };
                Ok((key, adjacency::encode(&edge)))
            };
            self.stage(family, part, closings.iter().map(entry))?;
        }
        Ok(())
    }

    /// The versions of what ends among the facts of a pack, and the pack that these leave.
    fn closed(&self, closings: &[Closing], reader: Reader<'_>) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let firsts = closings.iter().filter(|closing| closing.edge.version == 0);
        let places: Vec<u8> = firsts.map(|closing| pack::place_of(closing.edge.fact).1).collect();
        if let Some(closing) = closings.first()
            && let Some((key, mut pack)) = reader.pack_bytes(closing.edge.fact)?
            && pack::leave(key, &mut pack, &places)?
        {
            entries.push((key.to_vec(), pack));
        }
        for closing in closings {
            let Edge { fact, version: number, .. } = closing.edge;
            let held = reader.version(fact, number)?;
            let ended = self.ended(&held, closing);
            for (number, version) in [(number, self.past(held)), (number + 1, ended)] {
                entries.push((key::version(fact, number).to_vec(), record::encode(&version)?));
            }
        }
        Ok(entries)
    }

    fn stage<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        family: Family,
        part: usize,
        entries: impl Iterator<Item = Result<(K, V)>>,
    ) -> Result<()> {
        self.engine.stage([self.file(family, part)], |[table]| {
            for entry in entries {
                let (key, value) = entry?;
                table.put(key, value)?;
            }
            Ok(())
        })
    }

    fn file(&self, family: Family, part: usize) -> (Family, PathBuf) {
        (family, staged::table(self.folder, family, part))
    }

    /// A version of a closed fact that is believed no more.
    fn past(&self, held: VersionRecord) -> VersionRecord {
        VersionRecord { system: Interval { to: self.commit, ..held.system }, ..held }
    }

    /// What is believed of a closed fact instead.
    fn ended(&self, held: &VersionRecord, closing: &Closing) -> VersionRecord {
        let mut belief = held.belief.clone();
        let valid = Interval { from: closing.to, ..belief.valid };
        let left = Interval { to: closing.to, ..belief.valid };
        let sources = vec![closing.source.clone()];
        cut_by(&mut belief, left, Denial { sources, valid, is_end: false });
        VersionRecord { belief, system: self.system(), ..*held }
    }

    fn ended_edge(&self, closing: &Closing) -> Edge {
        let edge = closing.edge;
        Edge {
            version: edge.version + 1,
            valid: Interval { to: closing.to, ..edge.valid },
            system: self.system(),
            ..edge
        }
    }

    /// When everything of the load is believed.
    fn system(&self) -> Interval {
        Interval { from: self.commit, to: Interval::MAX }
    }
}

/// Where the facts of the heads of rows are that are packed already.
fn held(rows: &[Row<'_>], reader: Reader<'_>) -> Result<Held> {
    if !reader.has_facts()? {
        return Ok(Held::new());
    }
    let heads = rows.chunk_by(|a, b| a.fact.head == b.fact.head).filter_map(<[_]>::first);
    heads.map(|row| Ok((row.fact.head, reader.packed_runs(row.fact.head)?))).collect()
}

/// What leads from the heads of packed facts to these, beside what leads to those that are held.
fn runs(blocks: &[Block<'_, '_>], mut held: Held) -> Vec<Entry> {
    let mut all: Vec<(NodeId, Vec<Range<u64>>)> = Vec::new();
    for block in blocks.iter().filter(|block| block.pack.is_some()) {
        let mut at = 0;
        for same in block.rows.chunk_by(|a, b| a.fact.head == b.fact.head) {
            let begin = block.first.0 + at as u64;
            let is_packed = block.packed >> at & 1 == 1;
            at += same.len();
            let Some(head) = same.first().filter(|_| is_packed).map(|row| row.fact.head) else {
                continue;
            };
            let run = begin..begin + same.len() as u64;
            match all.last_mut().filter(|(last, _)| *last == head) {
                Some((_, runs)) => join(runs, run),
                None => all.push((head, vec![run])),
            }
        }
    }
    let entry = |(head, new): (NodeId, Vec<Range<u64>>)| {
        // Those of two loads stay apart, for they are in no order together.
        let held = held.remove(&head).unwrap_or_default();
        (runs::key(head), runs::encode(&[held, new].concat()))
    };
    all.into_iter().map(entry).collect()
}

/// Adds a run, to the last one if it is next to it.
fn join(runs: &mut Vec<Range<u64>>, run: Range<u64>) {
    match runs.last_mut().filter(|last| last.end == run.start) {
        Some(last) => last.end = run.end,
        None => runs.push(run),
    }
}
