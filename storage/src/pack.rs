//! Facts of a load: the first versions of up to 128 with numbers next to each other in one value, by columns, and where
//! they stand by their heads, in place of 128 records and as many edges.
//!
//! ```text
//! key    [first fact 8], a multiple of 128
//! value  [encoding 1][checksum 4][left 16][facts 1], unless there are 128 their places [place 1 each], then columns:
//!        heads, relations, tails, valid_from, lengths or 0 without an end, kinds of confidence and these, intents,
//!        since when all are believed, sources
//! ```
//!
//! All in a pack are believed, come from one source each, and are of one load, which numbers them in the order
//! of their edges by head. One that changes leaves its pack: it has a record and edges of its own from then
//! on, and what it was stays in the columns, so that the others are found. One that is forgotten is
//! taken out. It never reads or writes the disk.

mod column;
pub(crate) mod runs;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use crate::adjacency::{self, Adjacency};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    BulkFact, Edge, FactId, Intent, Interval, NodeId, RelationId, Side, Time, VersionRecord,
};
use crate::key;
use crate::record;
use column::{Numbers, Texts, put_number, take_number};

/// Facts of a pack.
pub(crate) const FACTS: usize = if cfg!(test) { 4 } else { 128 };
/// The most bytes of the sources of a pack; facts with more have records.
const SOURCES_MAX: usize = 32 << 10;
/// The first byte of every pack.
const ENCODING: u8 = 1;
/// Bytes in front of what is checked: the encoding and the checksum of the rest.
const HEADER: usize = 5;
/// Bytes with a bit for each place whose fact has left.
const LEFT: usize = FACTS.div_ceil(8);
/// What a confidence with up to six decimals is a whole number of.
const MILLIONTH: f64 = 1e6;
/// Confidences are numbers of millionths.
const DECIMAL: u8 = 0;
/// Confidences are the bits of 64-bit floats.
const FLOAT: u8 = 1;

/// Called with each version of a scan, until it breaks.
pub(crate) type VisitVersion<'v> =
    &'v mut dyn FnMut(FactId, u32, VersionRecord) -> Result<ControlFlow<()>>;

/// A key of a pack.
pub(crate) type Key = [u8; 8];

/// The key of the pack that a fact would be in, and its place there.
pub(crate) fn place_of(fact: FactId) -> (Key, u8) {
    let place = fact.0 % FACTS as u64;
    ((fact.0 - place).to_be_bytes(), place as u8)
}

/// The number of the pack of a fact.
pub(crate) fn pack_of(fact: u64) -> u64 {
    fact / FACTS as u64
}

/// The first facts of a run that are in one pack.
pub(crate) fn in_pack(facts: &Range<u64>) -> Range<u64> {
    let end = pack_of(facts.start).saturating_add(1).saturating_mul(FACTS as u64);
    facts.start..facts.end.min(end)
}

/// Whether a key in `versions` is that of a pack.
pub(crate) fn is_key(key: &[u8]) -> bool {
    key.len() == size_of::<Key>()
}

/// A pack of facts with these places, believed from that instant on; none if their sources are too long.
pub(crate) fn encode(facts: &[(u8, BulkFact<'_>)], since: Time) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(FACTS * 20);
    bytes.resize(HEADER + LEFT, 0);
    bytes.push(facts.len() as u8);
    if facts.len() < FACTS {
        bytes.extend(facts.iter().map(|(place, _)| place));
    }
    let mut numbers = Vec::with_capacity(FACTS);
    let mut column = |bytes: &mut Vec<u8>, number: &dyn Fn(&BulkFact<'_>) -> u64| {
        numbers.clear();
        numbers.extend(facts.iter().map(|(_, fact)| number(fact)));
        Numbers::encode(&numbers, bytes);
    };
    column(&mut bytes, &|fact| fact.head.0);
    column(&mut bytes, &|fact| fact.relation.0.into());
    column(&mut bytes, &|fact| fact.tail.0);
    column(&mut bytes, &|fact| ordered(fact.valid.from));
    column(&mut bytes, &|fact| length(fact.valid));
    let are_decimal = facts.iter().all(|(_, fact)| decimal(fact.confidence).is_some());
    bytes.push(if are_decimal { DECIMAL } else { FLOAT });
    column(&mut bytes, &|fact| match are_decimal {
        true => decimal(fact.confidence).unwrap_or_default(),
        false => fact.confidence.to_bits(),
    });
    column(&mut bytes, &|fact| fact.intent as u64);
    put_number(&mut bytes, ordered(since));
    let sources: Vec<&[u8]> = facts.iter().map(|(_, fact)| fact.source.as_bytes()).collect();
    if sources.iter().map(|source| source.len()).sum::<usize>() > SOURCES_MAX {
        return None;
    }
    Texts::encode(&sources, &mut bytes);
    seal(&mut bytes);
    Some(bytes)
}

/// Puts the encoding and the checksum in front.
fn seal(bytes: &mut [u8]) {
    let checksum = crc32c::crc32c(&bytes[HEADER..]);
    bytes[0] = ENCODING;
    bytes[1..HEADER].copy_from_slice(&checksum.to_le_bytes());
}

/// Says in the pack of a key that the facts at these places have left it: what they were stays, so that the
/// others are found. False, and nothing changes, unless any of them was there.
///
/// # Errors
///
/// As [`Pack::decode`].
pub(crate) fn leave(key: Key, bytes: &mut [u8], places: &[u8]) -> Result<bool> {
    let pack = Pack::decode(&key, bytes)?;
    let are_in: Vec<u8> = places.iter().copied().filter(|place| pack.has_held(*place)).collect();
    let mut any = false;
    for place in are_in {
        let (byte, bit) = (HEADER + usize::from(place / 8), 1 << (place % 8));
        any |= bytes[byte] & bit == 0;
        bytes[byte] |= bit;
    }
    if any {
        seal(bytes);
    }
    Ok(any)
}

/// A pack, to be read fact by fact.
pub(crate) struct Pack<'b> {
    key: &'b [u8],
    first: FactId,
    left: &'b [u8],
    count: usize,
    /// None if all are there.
    places: &'b [u8],
    heads: Numbers<'b>,
    relations: Numbers<'b>,
    tails: Numbers<'b>,
    begins: Numbers<'b>,
    lengths: Numbers<'b>,
    are_decimal: bool,
    confidences: Numbers<'b>,
    intents: Numbers<'b>,
    since: Time,
    sources: Texts<'b>,
}

impl<'b> Pack<'b> {
    /// The pack of a key and its value.
    ///
    /// # Errors
    ///
    /// [`StorageError::Corrupt`] if they are not what was written.
    pub(crate) fn decode(key: &'b [u8], bytes: &'b [u8]) -> Result<Self> {
        let corrupt = |reason| StorageError::corrupt(Family::Versions.name(), key, reason);
        let (checksum, rest) = match bytes {
            [ENCODING, a, b, c, d, rest @ ..] => ([*a, *b, *c, *d], rest),
            [_, ..] => return Err(corrupt("unknown encoding of a pack")),
            [] => return Err(corrupt("the pack is cut short")),
        };
        if crc32c::crc32c(rest) != u32::from_le_bytes(checksum) {
            return Err(corrupt("the checksum does not fit"));
        }
        Self::columns(key, rest).ok_or_else(|| corrupt("no pack of facts"))
    }

    fn columns(key: &'b [u8], mut bytes: &'b [u8]) -> Option<Self> {
        let first = u64::from_be_bytes(key.try_into().ok()?);
        let rest = &mut bytes;
        let left = rest.split_off(..LEFT)?;
        let count = usize::from(*rest.split_off_first()?);
        let places = if count < FACTS { rest.split_off(..count)? } else { &[] };
        let ascending = places.is_sorted_by(|a, b| a < b);
        let is_last_within = places.last().is_none_or(|last| usize::from(*last) < FACTS);
        let is_sound = count > 0 && count <= FACTS && ascending && is_last_within;
        (is_sound && first.is_multiple_of(FACTS as u64)).then_some(())?;
        let mut numbers = || Numbers::take(rest, count);
        let (heads, relations, tails) = (numbers()?, numbers()?, numbers()?);
        let (begins, lengths) = (numbers()?, numbers()?);
        let are_decimal = match *rest.split_off_first()? {
            DECIMAL => true,
            FLOAT => false,
            _ => return None,
        };
        let mut numbers = || Numbers::take(rest, count);
        let (confidences, intents) = (numbers()?, numbers()?);
        let since = unordered(take_number(rest)?);
        let sources = Texts::take(rest, count)?;
        rest.is_empty().then_some(Self {
            key,
            first: FactId(first),
            left,
            count,
            places,
            heads,
            relations,
            tails,
            begins,
            lengths,
            are_decimal,
            confidences,
            intents,
            since,
            sources,
        })
    }

    /// The version of the fact at a place; none if there is none.
    pub(crate) fn version(&self, place: u8) -> Result<Option<VersionRecord>> {
        self.place(place).filter(|at| self.is_there(*at)).map(|at| self.at(at)).transpose()
    }

    /// Whether the fact of a place is in the pack, or was.
    pub(crate) fn has_held(&self, place: u8) -> bool {
        self.place(place).is_some()
    }

    fn place(&self, place: u8) -> Option<usize> {
        match self.count == FACTS {
            true => Some(usize::from(place)),
            false => self.places.binary_search(&place).ok(),
        }
    }

    /// All versions, by their facts.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Result<(FactId, VersionRecord)>> {
        let there = (0..self.count).filter(|at| self.is_there(*at));
        there.map(|at| Ok((self.fact(at), self.at(at)?)))
    }

    /// The edges of some facts with the same head whose keys by that are in `from..to`, with these, the
    /// last one first.
    pub(crate) fn edges(
        &self,
        facts: &Range<u64>,
        from: &[u8],
        to: Option<&[u8]>,
    ) -> Result<Vec<(adjacency::Key, Edge)>> {
        let some = self.some(facts);
        let (mut begin, mut end) = (some.start, some.end);
        while begin < end {
            let middle = begin + (end - begin) / 2;
            match self.edge(middle)?.0.as_ref() < from {
                true => begin = middle + 1,
                false => end = middle,
            }
        }
        let mut edges = Vec::new();
        for at in begin..some.end {
            let edge = self.edge(at)?;
            if to.is_some_and(|to| edge.0.as_ref() >= to) {
                break;
            }
            if self.is_there(at) {
                edges.push(edge);
            }
        }
        edges.reverse();
        Ok(edges)
    }

    /// The last key by their head of some facts with the same one, of those that have left too; none if
    /// all of them were taken out.
    pub(crate) fn last_key(&self, facts: &Range<u64>) -> Result<Option<adjacency::Key>> {
        let last = self.some(facts).last();
        last.map(|at| Ok(self.edge(at)?.0)).transpose()
    }

    /// Where some facts stand.
    fn some(&self, facts: &Range<u64>) -> Range<usize> {
        let at = |fact: u64| {
            let place = fact.saturating_sub(self.first.0).min(FACTS as u64) as usize;
            match self.count == FACTS {
                true => place,
                false => self.places.partition_point(|other| usize::from(*other) < place),
            }
        };
        at(facts.start)..at(facts.end)
    }

    fn fact(&self, at: usize) -> FactId {
        let place = self.places.get(at).copied().unwrap_or(at as u8);
        FactId(self.first.0 + u64::from(place))
    }

    /// Whether what stands there has not left.
    fn is_there(&self, at: usize) -> bool {
        let place = self.fact(at).0 - self.first.0;
        self.left.get(place as usize / 8).is_some_and(|byte| byte & (1 << (place % 8)) == 0)
    }

    /// The bytes of a pack of those that have not left but one; none if nothing is left.
    pub(crate) fn without(&self, place: u8) -> Result<Option<Vec<u8>>> {
        let left = self.versions().filter(|version| {
            let fact = version.as_ref().ok().map(|(fact, _)| *fact);
            fact.is_none_or(|fact| fact != FactId(self.first.0 + u64::from(place)))
        });
        let left = left.collect::<Result<Vec<_>>>()?;
        if left.is_empty() {
            return Ok(None);
        }
        let facts = left.iter().filter_map(|(fact, version)| {
            let place = (fact.0 - self.first.0) as u8;
            Some((place, plain(version)?))
        });
        let facts: Vec<_> = facts.collect();
        let bytes = encode(&facts, self.since);
        bytes.map(Some).ok_or_else(|| self.corrupt())
    }

    fn at(&self, at: usize) -> Result<VersionRecord> {
        let version = || {
            let source = self.sources.at(at)?;
            Some(BulkFact { source: &source, ..self.plain(at)? }.version(self.since))
        };
        version().ok_or_else(|| self.corrupt())
    }

    fn edge(&self, at: usize) -> Result<(adjacency::Key, Edge)> {
        let fact = self.plain(at).ok_or_else(|| self.corrupt())?;
        let edge = fact.edge(self.fact(at), self.since);
        Ok((Adjacency::of(Side::Out, &edge).encode(), edge))
    }

    /// A fact without its source.
    fn plain(&self, at: usize) -> Option<BulkFact<'static>> {
        let valid_from = unordered(self.begins.at(at)?);
        let valid_to = match self.lengths.at(at)? {
            0 => Interval::MAX,
            length => valid_from.wrapping_add(length.cast_signed()),
        };
        let confidence = match self.are_decimal {
            true => self.confidences.at(at)? as f64 / MILLIONTH,
            false => f64::from_bits(self.confidences.at(at)?),
        };
        Some(BulkFact {
            head: NodeId(self.heads.at(at)?),
            relation: RelationId(self.relations.at(at)?.try_into().ok()?),
            tail: NodeId(self.tails.at(at)?),
            valid: Interval::new(valid_from, valid_to)?,
            confidence,
            intent: *Intent::ALL.get(usize::try_from(self.intents.at(at)?).ok()?)?,
            source: "",
        })
    }

    fn corrupt(&self) -> StorageError {
        StorageError::corrupt(Family::Versions.name(), self.key, "no pack of facts")
    }
}

/// The fact of a version in a pack.
fn plain(version: &VersionRecord) -> Option<BulkFact<'_>> {
    let VersionRecord { head, relation, belief, .. } = version;
    Some(BulkFact {
        head: *head,
        relation: *relation,
        tail: belief.tail,
        valid: belief.valid,
        confidence: belief.confidence,
        intent: belief.intent,
        source: belief.sources.first()?,
    })
}

/// Versions in the order of facts and numbers, of the keys of `versions` in their order.
#[derive(Default)]
pub(crate) struct InOrder {
    /// Those of a pack that are still to come, the last one first.
    waiting: Vec<(FactId, VersionRecord)>,
}

impl InOrder {
    /// Takes the next key with its value, and calls `visit` on what is in front of all that may follow.
    pub(crate) fn next(
        &mut self,
        key: &[u8],
        value: &[u8],
        visit: VisitVersion<'_>,
    ) -> Result<ControlFlow<()>> {
        if is_key(key) {
            if self.before(FactId(u64::MAX), visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.waiting = Pack::decode(key, value)?.versions().collect::<Result<_>>()?;
            self.waiting.reverse();
            return Ok(ControlFlow::Continue(()));
        }
        let (fact, number) = key::version_from(key)
            .ok_or_else(|| StorageError::corrupt(Family::Versions.name(), key, "no version"))?;
        if self.before(fact, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.waiting.pop_if(|(waiting, _)| *waiting == fact).is_some() {
            let reason = "the fact has not left its pack";
            return Err(StorageError::corrupt(Family::Versions.name(), key, reason));
        }
        visit(fact, number, record::decode(Family::Versions, key, value)?)
    }

    /// Calls `visit` on what is left when there are no more keys.
    pub(crate) fn finish(mut self, visit: VisitVersion<'_>) -> Result<()> {
        self.before(FactId(u64::MAX), visit).map(drop)
    }

    fn before(&mut self, end: FactId, visit: VisitVersion<'_>) -> Result<ControlFlow<()>> {
        while let Some((fact, version)) = self.waiting.pop_if(|(fact, _)| *fact < end) {
            if visit(fact, 0, version)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// An instant as a number that sorts like it.
fn ordered(time: Time) -> u64 {
    time.cast_unsigned() ^ (1 << 63)
}

fn unordered(number: u64) -> Time {
    (number ^ (1 << 63)).cast_signed()
}

/// How long an interval is in microseconds; 0 without an end.
fn length(valid: Interval) -> u64 {
    match valid.to {
        Interval::MAX => 0,
        to => to.wrapping_sub(valid.from).cast_unsigned(),
    }
}

/// A confidence in millionths, if that is what it is.
fn decimal(confidence: f64) -> Option<u64> {
    let millionths = (confidence * MILLIONTH).round();
    (millionths / MILLIONTH).to_bits().eq(&confidence.to_bits()).then_some(millionths as u64)
}
