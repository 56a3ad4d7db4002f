//! Values of indexed properties: as bytes that sort like them, and the nodes that have them.
//!
//! ```text
//! instant  [1][time 8]
//! text     [2][UTF-8, each 0 as 0 255][0][0]     of its first 512 bytes
//! boolean  [3][0 or 1]
//! number   [4][float 8][rest 2]                  the number is float + rest
//! ```
//!
//! Each kind is encoded in full or with an end, so no value's bytes begin with those of another one.
//! Kinds stand in the order of `ORDER BY`. What is null, a list or a map is in no index.
//!
//! An index never misses a node. Of long texts it may give one too many, so the property is to be
//! looked at again.

use std::ops::ControlFlow;

use crate::definitions::Kind;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Definition, IndexDefinition, LabelId, NodeId, NodeRecord, PropertyId, Value};
use crate::key;
use crate::reader::Reader;

/// The bytes of a text that are indexed.
pub const INDEXED_BYTES_MAX: usize = 512;

const TIMESTAMP: u8 = 1;
const TEXT: u8 = 2;
const BOOL: u8 = 3;
const NUMBER: u8 = 4;

/// A value as bytes that sort like values; none if it is not indexed.
fn encode(value: &Value) -> Option<Vec<u8>> {
    Some(match value {
        Value::Timestamp(time) => [&[TIMESTAMP][..], &key::time(*time)].concat(),
        Value::String(text) => [&text_prefix(text)[..], &[0, 0]].concat(),
        Value::Bool(value) => vec![BOOL, u8::from(*value)],
        Value::Int(whole) => {
            let (float, rest) = split(*whole);
            number(float, rest)
        }
        Value::Float(float) => number(*float, 0),
        Value::Null | Value::List(_) | Value::Map(_) => return None,
    })
}

/// What the encoding of every text begins with that begins with this one.
fn text_prefix(text: &str) -> Vec<u8> {
    let mut bytes = vec![TEXT];
    key::escape(text.bytes().take(INDEXED_BYTES_MAX), &mut bytes);
    bytes
}

fn number(float: f64, rest: u16) -> Vec<u8> {
    // Adding zero makes the two zeros one.
    let bits = (float + 0.0).to_bits();
    let sortable = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    [&[NUMBER][..], &sortable.to_be_bytes(), &rest.to_be_bytes()].concat()
}

/// The greatest float that is not above a whole number, and the rest: less than 1024, for so far
/// apart are floats below 2^63 at most.
fn split(whole: i64) -> (f64, u16) {
    let nearest = whole as f64;
    let exact = |float: f64| i128::from(whole) - float as i128;
    let float = if exact(nearest) < 0 { nearest.next_down() } else { nearest };
    (float, u16::try_from(exact(float)).unwrap_or(u16::MAX))
}

/// The first bytes after everything that begins with these.
fn behind(prefix: &[u8]) -> Vec<u8> {
    // No kind is 255, so that is after all of them.
    key::after_prefix(prefix).unwrap_or_else(|| vec![u8::MAX])
}

/// Which values an index is asked for. All of them are of one kind, as those are that a comparison
/// holds for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRange {
    /// The first encoded value that is in it.
    from: Vec<u8>,
    /// The first encoded value after it.
    to: Vec<u8>,
}

impl ValueRange {
    /// Values that are equal to this one. None if it is null, a list or a map: such values are not
    /// in an index.
    pub fn equal(value: &Value) -> Option<Self> {
        let from = encode(value)?;
        Some(Self { to: behind(&from), from })
    }

    /// Values of its kind from this one on; none as with [`Self::equal`].
    pub fn at_least(value: &Value) -> Option<Self> {
        let from = encode(value)?;
        Some(Self { to: behind(&from[..1]), from })
    }

    /// Values of its kind above this one; none as with [`Self::equal`].
    pub fn above(value: &Value) -> Option<Self> {
        let equal = Self::equal(value)?;
        // Longer texts stand where a text of that length does.
        let from = if is_long(value) { equal.from } else { equal.to };
        Some(Self { to: behind(&from[..1]), from })
    }

    /// Values of its kind up to this one; none as with [`Self::equal`].
    pub fn at_most(value: &Value) -> Option<Self> {
        let Self { from, to } = Self::equal(value)?;
        Some(Self { from: from[..1].to_vec(), to })
    }

    /// Values of its kind below this one; none as with [`Self::equal`].
    pub fn below(value: &Value) -> Option<Self> {
        let Self { from, to } = Self::equal(value)?;
        let kind = from[..1].to_vec();
        // Shorter texts stand where a text of that length does.
        Some(Self { from: kind, to: if is_long(value) { to } else { from } })
    }

    /// Texts that begin with this one.
    pub fn prefix(text: &str) -> Self {
        let from = text_prefix(text);
        Self { to: behind(&from), from }
    }

    /// Values that are in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    /// Whether no value is in it.
    pub fn is_empty(&self) -> bool {
        self.from >= self.to
    }
}

/// Whether other values may stand where it does.
fn is_long(value: &Value) -> bool {
    matches!(value, Value::String(text) if text.len() >= INDEXED_BYTES_MAX)
}

/// A place in an index, to go on after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueMark(Vec<u8>);

impl IndexDefinition {
    /// The key of a node in `values`; none if it is not in the index.
    pub(crate) fn key(&self, node: NodeId, record: &NodeRecord) -> Option<Vec<u8>> {
        let property = self.property().filter(|_| self.label == record.label)?;
        let value = record.properties.get(&property)?;
        let prefix = key::value_prefix(self.label, property);
        Some([&prefix[..], &encode(value)?, &key::node(node)].concat())
    }
}

/// The label, property and node of a key; none if it is too short.
pub(crate) fn parts(key: &[u8]) -> Option<(LabelId, PropertyId, NodeId)> {
    let (label, rest) = key.split_first_chunk()?;
    let (property, rest) = rest.split_first_chunk()?;
    let (_, node) = rest.split_last_chunk()?;
    Some((
        LabelId(u32::from_be_bytes(*label)),
        PropertyId(u32::from_be_bytes(*property)),
        NodeId(u64::from_be_bytes(*node)),
    ))
}

impl<'r> Reader<'r> {
    /// The index of a label by the values of a property; none if this state has no such one.
    pub fn index(
        &self,
        label: LabelId,
        property: PropertyId,
    ) -> Result<Option<&'r IndexDefinition>> {
        let of_it =
            |index: &&IndexDefinition| index.label == label && index.property() == Some(property);
        let Some(index) = self.catalog().indexes().find(of_it) else { return Ok(None) };
        Ok(self.has_index(index)?.then_some(index))
    }

    /// Whether this state has the keys of an index: the catalogue may be newer.
    pub(crate) fn has_index(&self, index: &IndexDefinition) -> Result<bool> {
        let key = Kind::Index.key(&index.name);
        let Some(value) = self.view().get(Family::Meta, &key)? else { return Ok(false) };
        Ok(matches!(Definition::decode(&key, &value)?, Definition::Index(held) if held == *index))
    }

    /// Calls `visit` on every node whose value is in the range, in order of value and then of node,
    /// until it breaks. Gives the place where it did, to go on from with `after`; none at the end.
    /// Texts are in order of their first [`INDEXED_BYTES_MAX`] bytes, and those that are longer may
    /// be outside of the range.
    ///
    /// Nothing is visited unless there is such an [`Self::index`]. It knows values as they are now
    /// and nothing of history.
    pub fn nodes_by_value(
        &self,
        label: LabelId,
        property: PropertyId,
        range: &ValueRange,
        after: Option<&ValueMark>,
        visit: &mut dyn FnMut(NodeId) -> ControlFlow<()>,
    ) -> Result<Option<ValueMark>> {
        let prefix = key::value_prefix(label, property);
        let mut from = [&prefix[..], &range.from].concat();
        if let Some(ValueMark(mark)) = after {
            from = from.max([&mark[..], &[0]].concat());
        }
        let to = [&prefix[..], &range.to].concat();
        if from >= to {
            return Ok(None);
        }
        let mut stopped = None;
        self.view().scan(Family::Values, &from, Some(&to), &mut |key, _| {
            let damaged = || StorageError::corrupt(Family::Values.name(), key, "no value and node");
            let (_, _, node) = parts(key).ok_or_else(damaged)?;
            let flow = visit(node);
            if flow.is_break() {
                stopped = Some(ValueMark(key.to_vec()));
            }
            Ok(flow)
        })?;
        Ok(stopped)
    }
}

#[cfg(test)]
mod tests;
