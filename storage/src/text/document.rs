//! What the texts of a node say, as terms with their places, and its bytes.
//!
//! ```text
//! document    [since 8][fields 1]([length 4] each)([term ...][0] each, in order)
//! posting     [since 8][fields 1]([field 1][length 4][frequency 4] each)([position 4] each)
//! statistics  [documents 8]([documents with the field 8][sum of their lengths 8] each)
//! ```
//!
//! All numbers are little-endian. A posting has the fields that have the term, in order, and their
//! lengths, so that a score needs nothing else of the node.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::analyze;
use crate::definitions::Fields;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{NodeId, NodeRecord, Time, Value};
use crate::key;
use crate::record;
use crate::view::View;

/// Bytes of a field in a posting.
const HEAD: usize = 9;

/// The places of a term in one field.
type Places = (u8, Vec<u32>);

/// The terms of a node's texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// How many terms each field has.
    lengths: Vec<u32>,
    /// Where each term is.
    terms: BTreeMap<String, Vec<Places>>,
}

impl Document {
    /// What an index of these fields has of a node; none if there are no words.
    pub(crate) fn of(fields: Fields<'_>, record: &NodeRecord) -> Option<Self> {
        let mut terms = BTreeMap::<String, Vec<Places>>::new();
        let mut lengths = Vec::with_capacity(fields.len());
        for (field, (property, _)) in (0u8..).zip(fields) {
            let mut length = 0u32;
            if let Some(Value::String(text)) = record.properties.get(property) {
                analyze::terms(text, &mut |position, term| {
                    length = length.saturating_add(1);
                    let places = terms.entry(term).or_default();
                    match places.last_mut() {
                        Some((last, positions)) if *last == field => positions.push(position),
                        _ => places.push((field, vec![position])),
                    }
                });
            }
            lengths.push(length);
        }
        (!terms.is_empty()).then_some(Self { lengths, terms })
    }

    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.keys().map(String::as_str)
    }

    /// Its bytes.
    pub(crate) fn encode(&self, since: Time) -> Vec<u8> {
        let mut bytes = since.to_le_bytes().to_vec();
        bytes.push(count(self.lengths.len()));
        bytes.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        for term in self.terms() {
            bytes.extend(term.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// The bytes of each term's posting.
    pub(crate) fn postings(&self, since: Time) -> impl Iterator<Item = (&str, Vec<u8>)> {
        self.terms.iter().map(move |(term, places)| (term.as_str(), self.posting(since, places)))
    }

    fn posting(&self, since: Time, places: &[Places]) -> Vec<u8> {
        let mut bytes = since.to_le_bytes().to_vec();
        bytes.push(count(places.len()));
        for (field, positions) in places {
            let length = self.lengths.get(usize::from(*field)).copied().unwrap_or_default();
            let frequency = u32::try_from(positions.len()).unwrap_or(u32::MAX);
            bytes.push(*field);
            bytes.extend(length.to_le_bytes());
            bytes.extend(frequency.to_le_bytes());
        }
        let positions = places.iter().flat_map(|(_, positions)| positions);
        bytes.extend(positions.flat_map(|position| position.to_le_bytes()));
        bytes
    }
}

/// A number of fields; there are at most [`FIELDS_MAX`](crate::FIELDS_MAX).
fn count(fields: usize) -> u8 {
    u8::try_from(fields).unwrap_or(u8::MAX)
}

/// A document as it is stored: its terms without their places.
pub(crate) struct Held {
    pub(crate) since: Time,
    pub(crate) lengths: Vec<u32>,
    bytes: Vec<u8>,
    /// Where the terms begin.
    terms: usize,
}

impl Held {
    pub(crate) fn decode(family: Family, key: &[u8], bytes: Vec<u8>) -> Result<Self> {
        let damaged = || StorageError::corrupt(family.name(), key, "no document");
        let (since, lengths, rest) = split_document(&bytes).ok_or_else(damaged)?;
        let terms = bytes.len() - rest.len();
        let is_text = std::str::from_utf8(rest).is_ok() && rest.last().is_none_or(|end| *end == 0);
        match is_text {
            true => Ok(Self { since, lengths, bytes, terms }),
            false => Err(damaged()),
        }
    }

    /// Its terms, in order.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        let terms = self.bytes.get(self.terms..).unwrap_or_default();
        let terms = std::str::from_utf8(terms).unwrap_or_default();
        terms.split_terminator('\0')
    }
}

/// Since when a document stands, its lengths, and the bytes of its terms.
fn split_document(bytes: &[u8]) -> Option<(Time, Vec<u32>, &[u8])> {
    let (since, rest) = bytes.split_first_chunk()?;
    let (fields, rest) = rest.split_first()?;
    let (lengths, rest) = rest.split_at_checked(usize::from(*fields) * 4)?;
    let lengths = lengths.as_chunks().0.iter().map(|length| u32::from_le_bytes(*length));
    Some((Time::from_le_bytes(*since), lengths.collect(), rest))
}

/// A posting as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Posting<'p> {
    pub(crate) since: Time,
    heads: &'p [[u8; HEAD]],
    positions: &'p [[u8; 4]],
}

/// A term in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) field: u8,
    /// How many terms the field has.
    pub(crate) length: u32,
    /// How often it has this one.
    pub(crate) frequency: u32,
}

impl<'p> Posting<'p> {
    /// None if the bytes are no posting.
    pub(crate) fn decode(bytes: &'p [u8]) -> Option<Self> {
        Self::split(bytes).filter(|posting| {
            let frequencies = posting.heads().map(|head| u64::from(head.frequency));
            frequencies.sum::<u64>() == posting.positions.len() as u64
        })
    }

    fn split(bytes: &'p [u8]) -> Option<Self> {
        let (since, rest) = bytes.split_first_chunk()?;
        let (fields, rest) = rest.split_first()?;
        let (heads, positions) = rest.split_at_checked(usize::from(*fields) * HEAD)?;
        let (positions, []) = positions.as_chunks() else { return None };
        Some(Self { since: Time::from_le_bytes(*since), heads: heads.as_chunks().0, positions })
    }

    /// The fields that have the term.
    pub(crate) fn heads(self) -> impl Iterator<Item = Head> {
        self.heads.iter().map(|[field, length @ .., a, b, c, d]| Head {
            field: *field,
            length: u32::from_le_bytes(*length),
            frequency: u32::from_le_bytes([*a, *b, *c, *d]),
        })
    }

    /// The fields that have the term, with its positions in each.
    pub(crate) fn places(self) -> impl Iterator<Item = (Head, &'p [[u8; 4]])> {
        let mut rest = self.positions;
        self.heads().map(move |head| {
            let frequency = usize::try_from(head.frequency).unwrap_or(usize::MAX);
            let (positions, behind) = rest.split_at(frequency.min(rest.len()));
            rest = behind;
            (head, positions)
        })
    }
}

/// What all documents of an index are together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) documents: u64,
    pub(crate) fields: Vec<FieldTotal>,
}

/// What the documents are together that have words in a field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FieldTotal {
    documents: u64,
    length: u64,
}

impl FieldTotal {
    /// How long the field is in a document that has it, on average; 0 if none does.
    pub(crate) fn mean(self) -> f64 {
        self.length as f64 / self.documents.max(1) as f64
    }
}

impl Statistics {
    /// Of no documents.
    pub(crate) fn none(fields: usize) -> Self {
        Self { documents: 0, fields: vec![FieldTotal::default(); fields] }
    }

    pub(crate) fn add(&mut self, lengths: &[u32]) {
        self.documents = self.documents.saturating_add(1);
        for (field, length) in self.fields.iter_mut().zip(lengths) {
            field.documents = field.documents.saturating_add(u64::from(*length > 0));
            field.length = field.length.saturating_add(u64::from(*length));
        }
    }

    pub(crate) fn subtract(&mut self, lengths: &[u32]) {
        self.documents = self.documents.saturating_sub(1);
        for (field, length) in self.fields.iter_mut().zip(lengths) {
            field.documents = field.documents.saturating_sub(u64::from(*length > 0));
            field.length = field.length.saturating_sub(u64::from(*length));
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let fields = self.fields.iter().flat_map(|field| [field.documents, field.length]);
        [self.documents].into_iter().chain(fields).flat_map(u64::to_le_bytes).collect()
    }

    pub(crate) fn decode(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let wrong = || StorageError::corrupt(Family::Text.name(), key, "no statistics");
        let (numbers, []) = bytes.as_chunks() else { return Err(wrong()) };
        let numbers: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
        let [documents, fields @ ..] = &numbers[..] else { return Err(wrong()) };
        let (fields, []) = fields.as_chunks() else { return Err(wrong()) };
        let total =
            |[documents, length]: &[u64; 2]| FieldTotal { documents: *documents, length: *length };
        Ok(Self { documents: *documents, fields: fields.iter().map(total).collect() })
    }
}

/// A document for as long as it stands.
pub(crate) struct Spell {
    pub(crate) since: Time,
    /// None if it still stands.
    pub(crate) until: Option<Time>,
    pub(crate) document: Document,
}

/// Calls `visit` on every document that a node had and has, the oldest first.
pub(crate) fn history(
    view: View<'_>,
    fields: Fields<'_>,
    node: NodeId,
    current: &NodeRecord,
    visit: &mut dyn FnMut(Spell) -> Result<()>,
) -> Result<()> {
    let mut open: Option<Spell> = None;
    let mut add = |record: &NodeRecord, until: Option<Time>| {
        let document = Document::of(fields, record);
        if let Some(before) = &mut open
            && before.until == Some(record.system_from)
            && document.as_ref() == Some(&before.document)
        {
            before.until = until;
            return Ok(());
        }
        let since = record.system_from;
        let next = document.map(|document| Spell { since, until, document });
        std::mem::replace(&mut open, next).map_or(Ok(()), &mut *visit)
    };
    let prefix = key::node(node);
    view.scan_prefix(Family::NodesPast, &prefix, &mut |key, value| {
        let past: NodeRecord = record::decode(Family::NodesPast, key, value)?;
        add(&past, key.last_chunk().map(|until| key::time_from(*until)))?;
        Ok(ControlFlow::Continue(()))
    })?;
    add(current, None)?;
    open.map_or(Ok(()), visit)
}
