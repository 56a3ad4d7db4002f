//! The bytes of a fact between its nodes, in as few as it takes: its key, which sorts like its parts, and
//! its value, which holds what a filter looks at and the key does not say.
//!
//! ```text
//! key     [near 8][relation 4][valid_from 6, 8 or 9][far 1 to 9][fact 1 to 9]     near = head in `out`,
//! past    the same, then [version 4]                                              tail in `in`
//! value   [kinds 1][what 1][system_from 8][confidence 1 to 8][valid_to 0, 4 or 8][version 0 or 4][system_to 0 or 8]
//! ```
//!
//! It never reads or writes the disk, and knows nothing of the records of versions, which say all else.

use crate::families::Family;
use crate::graph::{Edge, FactId, Intent, Interval, NodeId, RelationId, Side, Time};

/// The bytes that a key and its value count as, wherever they are read: on the disk they differ by a few.
pub(crate) const COUNTED: usize = 40;
/// The most bytes of a key.
const KEY_MAX: usize = 43;
/// The most bytes of a value.
const VALUE_MAX: usize = 38;
/// Microseconds.
const SECOND: Time = 1_000_000;
/// Added to the seconds of an instant, so that those near the epoch sort like bytes; half of what five
/// bytes hold.
const EPOCH: i64 = 1 << 39;
/// What is added to the microseconds within a second, so that their first byte is not 0.
const WITHIN: u32 = 1 << 16;

/// How an end of valid time is written.
const OPEN: u8 = 0;
/// Seconds since the epoch in 4 bytes with a sign.
const SECONDS: u8 = 1;
/// Microseconds since the epoch in 8 bytes.
const MICROSECONDS: u8 = 2;
/// The bits of the kinds that say how the end is written.
const END: u8 = 3;
/// A version other than the first.
const LATER: u8 = 4;
/// What is no longer believed.
const ENDED: u8 = 8;

/// The bits of the second byte that are the intent.
const INTENT: u8 = 7;
const UNCERTAIN: u8 = 8;
const TWO_WAY: u8 = 16;
/// Where the number of bytes of the confidence stands in it, less one.
const SURE: u8 = 5;

/// Some bytes, with room for `N`.
#[derive(Clone, Copy)]
pub(crate) struct Short<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

/// The bytes of a key.
pub(crate) type Key = Short<KEY_MAX>;
/// The bytes of a value.
pub(crate) type Value = Short<VALUE_MAX>;

impl<const N: usize> Short<N> {
    fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    fn push(&mut self, more: &[u8]) {
        let end = self.length + more.len();
        self.bytes[self.length..end].copy_from_slice(more);
        self.length = end;
    }
}

impl<const N: usize> AsRef<[u8]> for Short<N> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The parts of a key, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Adjacency {
    pub(crate) near: NodeId,
    pub(crate) relation: RelationId,
    pub(crate) valid_from: Time,
    pub(crate) far: NodeId,
    pub(crate) fact: FactId,
}

impl Adjacency {
    /// Where an edge stands on a side.
    pub(crate) fn of(side: Side, edge: &Edge) -> Self {
        let (near, far) = match side {
            Side::Out => (edge.head, edge.tail),
            Side::In => (edge.tail, edge.head),
        };
        let Edge { relation, fact, .. } = *edge;
        Self { near, relation, valid_from: edge.valid.from, far, fact }
    }

    pub(crate) fn encode(&self) -> Key {
        let mut key = Key::new();
        key.push(&self.near.0.to_be_bytes());
        key.push(&self.relation.0.to_be_bytes());
        push_time(&mut key, self.valid_from);
        push_number(&mut key, self.far.0);
        push_number(&mut key, self.fact.0);
        key
    }

    /// The parts of a key, and what is after them; none if it is no such key.
    pub(crate) fn decode(key: &[u8]) -> Option<(Self, &[u8])> {
        let (near, rest) = key.split_first_chunk()?;
        let (relation, mut rest) = rest.split_first_chunk()?;
        let valid_from = take_time(&mut rest)?;
        let (far, fact) = (NodeId(take_number(&mut rest)?), FactId(take_number(&mut rest)?));
        let (near, relation) =
            (NodeId(u64::from_be_bytes(*near)), RelationId(u32::from_be_bytes(*relation)));
        Some((Self { near, relation, valid_from, far, fact }, rest))
    }
}

/// What the keys of a node's facts begin with, of one relation or of all.
pub(crate) fn prefix(near: NodeId, relation: Option<RelationId>) -> Vec<u8> {
    let mut prefix = near.0.to_be_bytes().to_vec();
    if let Some(relation) = relation {
        prefix.extend(relation.0.to_be_bytes());
    }
    prefix
}

/// Behind every key of a node and a relation whose fact begins before an instant, and before those of all
/// others.
pub(crate) fn begun(near: NodeId, relation: Option<RelationId>, time: Time) -> Vec<u8> {
    let mut begun = Short::<9>::new();
    push_time(&mut begun, time);
    [prefix(near, relation).as_slice(), begun.as_ref()].concat()
}

/// Where an edge is stored, by its head and by its tail.
pub(crate) fn places(edge: &Edge) -> [(Family, Key); 2] {
    let believed = edge.system.to == Interval::MAX;
    let families = match believed {
        true => [(Family::Out, Side::Out), (Family::In, Side::In)],
        false => [(Family::OutPast, Side::Out), (Family::InPast, Side::In)],
    };
    families.map(|(family, side)| {
        let mut key = Adjacency::of(side, edge).encode();
        if !believed {
            key.push(&edge.version.to_be_bytes());
        }
        (family, key)
    })
}

/// The part of an edge that its key does not hold.
pub(crate) fn encode(edge: &Edge) -> Value {
    let mut value = Value::new();
    let end = match edge.valid.to {
        Interval::MAX => OPEN,
        to if to % SECOND == 0 && i32::try_from(to / SECOND).is_ok() => SECONDS,
        _ => MICROSECONDS,
    };
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let is_ended = edge.system.to != Interval::MAX;
    let kinds = end | flag(edge.version > 0, LATER) | flag(is_ended, ENDED);
    let sure = edge.confidence.to_be_bytes();
    // A number that is not 0 has a last byte.
    let last = sure.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    let flags = flag(edge.uncertain, UNCERTAIN) | flag(edge.two_way, TWO_WAY);
    value.push(&[kinds, edge.intent as u8 | flags | (last as u8) << SURE]);
    value.push(&edge.system.from.to_le_bytes());
    value.push(&sure[..=last]);
    match end {
        OPEN => {}
        SECONDS => value.push(&((edge.valid.to / SECOND) as i32).to_le_bytes()),
        _ => value.push(&edge.valid.to.to_le_bytes()),
    }
    if edge.version > 0 {
        value.push(&edge.version.to_le_bytes());
    }
    if is_ended {
        value.push(&edge.system.to.to_le_bytes());
    }
    value
}

/// The edge of a key and its value; none if either is not what was written.
pub(crate) fn decode(side: Side, key: &[u8], value: &[u8]) -> Option<Edge> {
    let (key, behind) = Adjacency::decode(key)?;
    let ([kinds, what], mut rest) = value.split_first_chunk()?;
    let system_from = Time::from_le_bytes(take(&mut rest)?);
    let (sure, after_sure) = rest.split_at_checked(usize::from(what >> SURE) + 1)?;
    rest = after_sure;
    let mut confidence = [0; 8];
    confidence[..sure.len()].copy_from_slice(sure);
    let valid_to = match kinds & END {
        OPEN => Interval::MAX,
        SECONDS => Time::from(i32::from_le_bytes(take(&mut rest)?)) * SECOND,
        MICROSECONDS => Time::from_le_bytes(take(&mut rest)?),
        _ => return None,
    };
    let version = match kinds & LATER {
        0 => 0,
        _ => u32::from_le_bytes(take(&mut rest)?),
    };
    let system_to = match kinds & ENDED {
        0 => Interval::MAX,
        _ => Time::from_le_bytes(take(&mut rest)?),
    };
    let (head, tail) = match side {
        Side::Out => (key.near, key.far),
        Side::In => (key.far, key.near),
    };
    let is_past = kinds & ENDED != 0;
    let stands = match is_past {
        true => behind == version.to_be_bytes(),
        false => behind.is_empty(),
    };
    (stands && rest.is_empty() && kinds >> 4 == 0).then_some(())?;
    Some(Edge {
        fact: key.fact,
        version,
        head,
        relation: key.relation,
        tail,
        valid: Interval::new(key.valid_from, valid_to)?,
        system: Interval::new(system_from, system_to)?,
        confidence: f64::from_be_bytes(confidence),
        intent: *Intent::ALL.get(usize::from(what & INTENT))?,
        uncertain: what & UNCERTAIN != 0,
        two_way: what & TWO_WAY != 0,
    })
}

/// Applies `mark` to both bounds of the system time in a value; none if it is no value.
pub(crate) fn restamp(value: &mut [u8], mark: impl Fn(&mut Time)) -> Option<()> {
    let is_ended = value.first()? & ENDED != 0;
    let move_mark = |bound: &mut [u8; 8]| {
        let mut time = Time::from_le_bytes(*bound);
        mark(&mut time);
        *bound = time.to_le_bytes();
    };
    move_mark(value.get_mut(2..)?.first_chunk_mut()?);
    if is_ended {
        move_mark(value.get_mut(10..)?.last_chunk_mut()?);
    }
    Some(())
}

/// An instant as bytes that sort like instants: whole seconds in five, then a byte 0, or the microseconds
/// within the second in three. Far from the epoch, some 17,000 years, it is a byte 0 or 255 and its
/// microseconds in eight.
fn push_time<const N: usize>(to: &mut Short<N>, time: Time) {
    let (second, within) = (time.div_euclid(SECOND), time.rem_euclid(SECOND) as u32);
    let [0, 0, 0, bytes @ ..] = second.wrapping_add(EPOCH).to_be_bytes() else {
        return push_far_time(to, time);
    };
    if matches!(bytes[0], 0 | u8::MAX) {
        return push_far_time(to, time);
    }
    to.push(&bytes);
    match within {
        0 => to.push(&[0]),
        within => to.push(&(within + WITHIN).to_be_bytes()[1..]),
    }
}

fn push_far_time<const N: usize>(to: &mut Short<N>, time: Time) {
    to.push(&[if time < 0 { 0 } else { u8::MAX }]);
    to.push(&crate::key::time(time));
}

/// The instant that [`push_time`] wrote; none if the bytes are cut short. That each is written in one way
/// alone is for `check` to say.
fn take_time(bytes: &mut &[u8]) -> Option<Time> {
    let time = match bytes.first()? {
        0 | &u8::MAX => {
            let [_, far @ ..] = take::<9>(bytes)?;
            crate::key::time_from(far)
        }
        _ => {
            let [a, b, c, d, e] = take(bytes)?;
            let second = i64::from_be_bytes([0, 0, 0, a, b, c, d, e]) - EPOCH;
            let within = match take(bytes)? {
                [0] => 0,
                [first] => {
                    let [b, c] = take(bytes)?;
                    u32::from_be_bytes([0, first, b, c]).checked_sub(WITHIN)?
                }
            };
            second * SECOND + Time::from(within)
        }
    };
    Some(time)
}

/// A number as bytes that sort like numbers: how many there are, then those without zeros in front.
fn push_number<const N: usize>(to: &mut Short<N>, number: u64) {
    let zeros = number.leading_zeros() as usize / 8;
    to.push(&[8 - zeros as u8]);
    to.push(&number.to_be_bytes()[zeros..]);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let [length] = take(bytes)?;
    let (number, rest) = bytes.split_at_checked(usize::from(length))?;
    *bytes = rest;
    let zeros = 8_usize.checked_sub(number.len())?;
    let mut all = [0; 8];
    all[zeros..].copy_from_slice(number);
    (number.first() != Some(&0)).then(|| u64::from_be_bytes(all))
}

/// The next bytes, taken off.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests;
