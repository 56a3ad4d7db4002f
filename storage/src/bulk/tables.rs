//! The tables of a load: every key of its facts and of the held ones that they close, in order.
//!
//! A held fact that ends gets a new version, and its old one is stored again as past. Between its nodes
//! the new version stands at the key of the old one, so nothing has to be deleted.

use std::cmp::Ordering;
use std::hint::black_box;
use std::path::Path;

use super::parts::Parts;
use super::plan::{Closing, Plan};
use super::spool::Row;
use super::{BulkFact, tails};
use crate::adjacency::{self, Adjacency};
use crate::engine::Engine;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Belief, Edge, FactId, Interval, Side, Time, VersionRecord};
use crate::key;
use crate::pack;
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

impl Tables<'_> {
    /// Writes what stands at the heads of a part, and its versions. Its facts get numbers from `first`
    /// on, in the order of the keys. What stands at their tails is kept for [`Self::tails`].
    pub(super) fn heads(&self, part: usize, plan: &Plan<'_>, first: FactId) -> Result<()> {
        if plan.plain.is_empty() {
            return Ok(());
        }
        let numbers = || (first.0..).map(FactId);
        let ended = plan.closings.iter().map(|closing| self.ended_edge(closing));
        let new =
            plan.plain.iter().zip(numbers()).map(|(row, number)| self.edge(&row.fact, number));
        let mut writer = self.tails.writer();
        let entry = |edge: Edge| {
            writer.write(edge.tail, &tails::encode(&edge)).map_err(|source| self.failed(source))?;
            Ok((Adjacency::of(Side::Out, &edge).encode(), adjacency::encode(&edge)))
        };
        self.stage(Family::Out, part, merged(ended, new).map(entry))?;
        writer.finish().map_err(|source| self.failed(source))?;
        self.versions(part, &plan.plain, first)
    }

    /// Writes the versions of rows that get numbers from `first` on: packs of those that fill them, and
    /// records of the others.
    fn versions(&self, part: usize, rows: &[Row<'_>], first: FactId) -> Result<()> {
        let (_, place) = pack::place_of(first);
        let (begin, rows) = match place {
            0 => (&rows[..0], rows),
            place => rows.split_at(rows.len().min(pack::FACTS - usize::from(place))),
        };
        let behind = FactId(first.0 + begin.len() as u64);
        let packs = rows.chunks(pack::FACTS).zip((behind.0..).step_by(pack::FACTS).map(FactId));
        let all = std::iter::once((begin, first)).chain(packs);
        self.stage(Family::Versions, part, all.flat_map(|(rows, first)| self.stored(rows, first)))
    }

    /// The keys and values of rows of one pack.
    fn stored(&self, rows: &[Row<'_>], first: FactId) -> Vec<Result<(Vec<u8>, Vec<u8>)>> {
        touch_sources(rows);
        if rows.len() == pack::FACTS {
            let facts: Vec<_> = (0..).zip(rows.iter().map(|row| row.fact)).collect();
            if let Some(bytes) = pack::encode(&facts, self.commit) {
                return vec![Ok((pack::place_of(first).0.to_vec(), bytes))];
            }
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
        let versions = closings.iter().flat_map(|closing| {
            let Edge { fact, version: number, .. } = closing.edge;
            let entry = |number, version: &VersionRecord| {
                Ok((key::version(fact, number), record::encode(version)?))
            };
            match reader.version(fact, number) {
                Ok(held) => {
                    let ended = self.ended(&held, closing.to);
                    [entry(number, &self.past(held)), entry(number + 1, &ended)].map(Some)
                }
                Err(error) => [Some(Err(error)), None],
            }
        });
        self.stage(Family::Versions, part, versions.flatten())?;
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

    fn edge(&self, fact: &BulkFact<'_>, number: FactId) -> Edge {
        Edge {
            fact: number,
            version: 0,
            head: fact.head,
            relation: fact.relation,
            tail: fact.tail,
            valid: fact.valid,
            system: self.system(),
            confidence: fact.confidence,
            intent: fact.intent,
            uncertain: false,
            two_way: false,
        }
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

/// Two orders of keys as one.
fn merged(
    one: impl Iterator<Item = Edge>,
    other: impl Iterator<Item = Edge>,
) -> impl Iterator<Item = Edge> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    let key = |edge: &Edge| (edge.head, edge.relation, edge.valid.from, edge.tail, edge.fact);
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(first), Some(second)) if key(first).cmp(&key(second)) == Ordering::Less => one.next(),
        (Some(_), None) => one.next(),
        _ => other.next(),
    })
}
