//! Facts between their nodes as the formats 1 to 6 had them: all parts in their full width.
//!
//! ```text
//! key     [near 8][relation 4][valid_from 8][far 8][fact 8], then [version 4] in the past
//! value   [valid_to 8][confidence 8][intent 1][flags 1][version 4][system_from 8][system_to 8]
//! ```

use crate::adjacency;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Edge, FactId, Intent, Interval, NodeId, RelationId, Side, Time};
use crate::key;
use crate::overlay::Overlay;
use crate::view::View;

/// Bytes of a value. With a key as long as an old one a new value has fewer: else ids would be 2^48 or more,
/// and they are counted from 0.
const VALUE: usize = 38;
const UNCERTAIN: u8 = 1;
const TWO_WAY: u8 = 2;

/// Puts a fact as it is since format 7 in the place of an old one.
pub(super) fn renew(
    _: Time,
    _: View<'_>,
    (family, key, value): (Family, &[u8], &[u8]),
    overlay: &mut Overlay,
) -> Result<()> {
    let (side, length) = match family {
        Family::Out => (Side::Out, 36),
        Family::OutPast => (Side::Out, 40),
        Family::In => (Side::In, 36),
        _ => (Side::In, 40),
    };
    if (key.len(), value.len()) != (length, VALUE) {
        return Ok(());
    }
    let damaged = || StorageError::corrupt(family.name(), key, "no edge");
    let edge = decode(side, key, value).ok_or_else(damaged)?;
    let places = adjacency::places(&edge);
    let (_, renewed) = places.iter().find(|(other, _)| *other == family).ok_or_else(damaged)?;
    overlay.delete(family, key);
    overlay.put(family, renewed.as_ref(), adjacency::encode(&edge).as_ref().to_vec());
    Ok(())
}

fn decode(side: Side, key: &[u8], value: &[u8]) -> Option<Edge> {
    let (near, rest) = key.split_first_chunk()?;
    let (relation, rest) = rest.split_first_chunk()?;
    let (valid_from, rest) = rest.split_first_chunk()?;
    let (far, rest) = rest.split_first_chunk()?;
    let (fact, _) = rest.split_first_chunk()?;
    let (valid_to, rest) = value.split_first_chunk()?;
    let (confidence, rest) = rest.split_first_chunk()?;
    let ([intent, flags], rest) = rest.split_first_chunk()?;
    let (version, rest) = rest.split_first_chunk()?;
    let (system_from, system_to) = rest.split_first_chunk()?;
    let [near, far] = [near, far].map(|node| NodeId(u64::from_be_bytes(*node)));
    let (head, tail) = if side == Side::Out { (near, far) } else { (far, near) };
    let system_to = Time::from_le_bytes(system_to.try_into().ok()?);
    Some(Edge {
        fact: FactId(u64::from_be_bytes(*fact)),
        version: u32::from_le_bytes(*version),
        head,
        relation: RelationId(u32::from_be_bytes(*relation)),
        tail,
        valid: Interval::new(key::time_from(*valid_from), Time::from_le_bytes(*valid_to))?,
        system: Interval::new(Time::from_le_bytes(*system_from), system_to)?,
        confidence: f64::from_le_bytes(*confidence),
        intent: *Intent::ALL.get(usize::from(*intent))?,
        uncertain: flags & UNCERTAIN != 0,
        two_way: flags & TWO_WAY != 0,
    })
}
