//! The tables of a load: every key of its facts and of the held ones that they close, in order.
//!
//! Facts of a part that fill packs are there alone by their heads, with what leads to them; the others have
//! records and edges. A held fact that ends gets a new version, and its old one is stored again as past and
//! leaves its pack. Between its nodes the new version stands at the key of the old one, so nothing has to be
//! deleted.

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;

use super::parts::Parts;
use super::plan::{Closing, Plan};
use super::spool::Row;
use super::tails;
use crate::adjacency::{self, Adjacency};
use crate::engine::Engine;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Belief, Edge, FactId, Interval, NodeId, Side, Time, VersionRecord};
use crate::key;
use crate::pack::{self, in_pack, runs};
use crate::reader::Reader;
use crate::record;
use crate::staged;

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
    /// None if each has a record.
    pack: Option<Vec<u8>>,
}

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

impl Tables<'_> {
    /// Writes what stands at the heads of a part, and its versions. Its facts get numbers from `first`
    /// on, in the order of the keys. What stands at their tails is kept for [`Self::tails`].
    pub(super) fn heads(
        &self,
        part: usize,
        plan: &Plan<'_>,
        first: FactId,
        reader: Reader<'_>,
    ) -> Result<()> {
        if plan.plain.is_empty() {
            return Ok(());
        }
        let ended = plan.closings.iter().map(|closing| self.ended_edge(closing));
        let mut writer = self.tails.writer();
        let numbered = plan.plain.iter().zip(first.0..);
        let new = numbered.map(|(row, number)| row.fact.edge(FactId(number), self.commit));
        for edge in ended.clone().chain(new) {
            writer.write(edge.tail, &tails::encode(&edge)).map_err(|source| self.failed(source))?;
        }
        writer.finish().map_err(|source| self.failed(source))?;
        let blocks = self.blocks(&plan.plain, first);
        let alone = blocks.iter().filter(|block| block.pack.is_none());
        let alone = alone.flat_map(|block| block.rows.iter().zip(block.first.0..));
        let alone = alone.map(|(row, number)| row.fact.edge(FactId(number), self.commit));
        let entry = |edge: Edge| {
            let key = Adjacency::of(Side::Out, &edge).encode();
            (key.as_ref().to_vec(), adjacency::encode(&edge).as_ref().to_vec())
        };
        let mut out: Vec<Entry> = ended.chain(alone).map(entry).collect();
        out.extend(self.runs(&blocks, reader)?);
        out.sort_unstable();
        self.stage(Family::Out, part, out.into_iter().map(Ok))?;
        self.stage(Family::Versions, part, blocks.into_iter().flat_map(|block| self.stored(block)))
    }

    /// Rows that get numbers from `first` on, in packs if they fill them.
    fn blocks<'p, 'b>(&self, rows: &'p [Row<'b>], first: FactId) -> Vec<Block<'p, 'b>> {
        let (mut blocks, mut rest) = (Vec::new(), first.0..first.0 + rows.len() as u64);
        while !rest.is_empty() {
            let some = in_pack(&rest);
            let place = |fact: u64| (fact - first.0) as usize;
            let rows = &rows[place(some.start)..place(some.end)];
            touch_sources(rows);
            let facts = || (0..).zip(rows.iter().map(|row| row.fact)).collect::<Vec<_>>();
            let is_full = rows.len() == pack::FACTS;
            let pack = is_full.then(|| pack::encode(&facts(), self.commit)).flatten();
            blocks.push(Block { first: FactId(some.start), rows, pack });
            rest.start = some.end;
        }
        blocks
    }

    /// What leads from the heads of packed facts to these, beside what leads to those that are held.
    fn runs(&self, blocks: &[Block<'_, '_>], reader: Reader<'_>) -> Result<Vec<Entry>> {
        let mut all: Vec<(NodeId, Vec<Range<u64>>)> = Vec::new();
        for block in blocks.iter().filter(|block| block.pack.is_some()) {
            let mut begin = block.first.0;
            for same in block.rows.chunk_by(|a, b| a.fact.head == b.fact.head) {
                let run = begin..begin + same.len() as u64;
                begin = run.end;
                let Some(head) = same.first().map(|row| row.fact.head) else { continue };
                match all.last_mut() {
                    Some((last, runs)) if *last == head => join(runs, run),
                    _ => all.push((head, vec![run])),
                }
            }
        }
        let is_first = !reader.has_facts()?;
        let entry = |(head, new): (NodeId, Vec<Range<u64>>)| {
            let held = if is_first { Vec::new() } else { reader.packed_runs(head)? };
            Ok((runs::key(head), runs::encode(&[held, new].concat())))
        };
        all.into_iter().map(entry).collect()
    }

    /// The keys and values of the versions of a block.
    fn stored(&self, block: Block<'_, '_>) -> Vec<Result<Entry>> {
        let Block { first, rows, pack } = block;
        if let Some(pack) = pack {
            return vec![Ok((pack::place_of(first).0.to_vec(), pack))];
        }
        let record = |(row, number): (&Row<'_>, u64)| {
            let version = record::encode(&row.fact.version(self.commit))?;
            Ok((key::version(FactId(number), 0).to_vec(), version))
        };
        rows.iter().zip(first.0..).map(record).collect()
    }

    /// Writes what stands at the tails of a part, once the parts of all heads are written.
    pub(super) fn tails(&self, part: usize) -> Result<()> {
        let mut bytes = self.tails.take(part).map_err(|source| self.failed(source))?;
        let damaged = || self.failed(std::io::Error::other("a part of the load is damaged"));
        let (facts, rest) = bytes.as_chunks_mut::<{ tails::BYTES }>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        if facts.is_empty() {
            return Ok(());
        }
        facts.sort_unstable();
        let entry = |fact: &[u8; tails::BYTES]| {
            let edge = tails::decode(fact, self.system()).ok_or_else(damaged)?;
            Ok((Adjacency::of(Side::In, &edge).encode(), adjacency::encode(&edge)))
        };
        self.stage(Family::In, part, facts.iter().map(entry))
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
            let ended = self.ended(&held, closing.to);
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
        self.engine.stage(family, &staged::table(self.folder, family, part), entries)
    }

    fn failed(&self, source: std::io::Error) -> StorageError {
        StorageError::Io { path: self.folder.to_owned(), source }
    }

    /// A version of a closed fact that is believed no more.
    fn past(&self, held: VersionRecord) -> VersionRecord {
        VersionRecord { system: Interval { to: self.commit, ..held.system }, ..held }
    }

    /// What is believed of a closed fact instead.
    fn ended(&self, held: &VersionRecord, to: Time) -> VersionRecord {
        let valid = Interval { to, ..held.belief.valid };
        let belief = Belief { valid, ..held.belief.clone() };
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

/// Asks the memory for the sources of facts, which lie far from each other, before any of them is used.
fn touch_sources(rows: &[Row<'_>]) {
    let first = |row: &Row<'_>| row.fact.source.as_bytes().first().copied().unwrap_or(0);
    black_box(rows.iter().fold(0, |all, row| all ^ first(row)));
}

/// Adds a run, to the last one if it is next to it.
fn join(runs: &mut Vec<Range<u64>>, run: Range<u64>) {
    match runs.last_mut().filter(|last| last.end == run.start) {
        Some(last) => last.end = run.end,
        None => runs.push(run),
    }
}
