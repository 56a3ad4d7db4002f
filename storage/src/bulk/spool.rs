//! Facts in files without a name, on their way into tables: a process that ends leaves nothing of them.
//!
//! ```text
//! [place 8][head 8][tail 8][valid_from 8][valid_to 8][confidence 8][relation 4][intent 1][length 4][source ...]
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Error, ErrorKind, Read, Result, Seek, Write};
use std::path::Path;

use crate::adjacency::take;
use crate::graph::{BulkFact, Intent, Interval, NodeId, RelationId};

/// Bytes of a fact before its source.
const HEADER: usize = 57;
/// Bytes that are read or written at once.
pub(super) const BUFFER: usize = 1 << 16;

/// A fact of a load, and the place that its giver knows it by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row<'s> {
    pub(super) place: u64,
    pub(super) fact: BulkFact<'s>,
}

/// What is written first and read later.
pub(super) struct Spool(BufWriter<File>);

impl Spool {
    /// A file without a name in a folder.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        Ok(Self(BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(folder)?)))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes)
    }

    pub(super) fn write_row(&mut self, row: &Row<'_>) -> Result<()> {
        let Row { place, fact } = row;
        let length = u32::try_from(fact.source.len()).map_err(std::io::Error::other)?;
        let mut header = [0; HEADER];
        let mut out = header.as_mut_slice();
        for number in [*place, fact.head.0, fact.tail.0] {
            out.write_all(&number.to_le_bytes())?;
        }
        out.write_all(&fact.valid.from.to_le_bytes())?;
        out.write_all(&fact.valid.to.to_le_bytes())?;
        out.write_all(&fact.confidence.to_le_bytes())?;
        out.write_all(&fact.relation.0.to_le_bytes())?;
        out.write_all(&[fact.intent as u8])?;
        out.write_all(&length.to_le_bytes())?;
        self.0.write_all(&header)?;
        self.0.write_all(fact.source.as_bytes())
    }

    /// All that was written, in memory.
    pub(super) fn bytes(self) -> Result<Vec<u8>> {
        let mut file = self.rewound()?;
        let mut bytes = Vec::with_capacity(file.metadata()?.len() as usize);
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The records that were written, one after the other.
    pub(super) fn records(self) -> Result<Records> {
        let reader = BufReader::with_capacity(BUFFER, self.rewound()?);
        Ok(Records { reader, record: Vec::new() })
    }

    fn rewound(self) -> Result<File> {
        let mut file = self.0.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    }
}

/// Records of a file, each in the place of the one before.
pub(super) struct Records {
    reader: BufReader<File>,
    record: Vec<u8>,
}

impl Records {
    /// Goes on to the next record, if there is one.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.record.resize(HEADER, 0);
        match self.reader.read(&mut self.record)? {
            0 => return Ok(false),
            read => self.reader.read_exact(&mut self.record[read..])?,
        }
        let length = self.record.last_chunk().map_or(0, |length| u32::from_le_bytes(*length));
        self.record.resize(HEADER + length as usize, 0);
        self.reader.read_exact(&mut self.record[HEADER..])?;
        Ok(true)
    }

    /// The bytes of the record.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.record
    }

    /// What they say.
    pub(super) fn row(&self) -> Result<Row<'_>> {
        take_row(&mut self.bytes()).ok_or_else(damaged)
    }

    /// The head of the fact, which stands after its place.
    pub(super) fn head(&self) -> Result<NodeId> {
        let head = self.record.get(8..).and_then(|mut rest| take(&mut rest));
        Ok(NodeId(u64::from_le_bytes(head.ok_or_else(damaged)?)))
    }

    /// From the first record again.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.reader.rewind()
    }
}

/// The rows of some bytes.
pub(super) fn rows(mut bytes: &[u8]) -> Result<Vec<Row<'_>>> {
    let mut rows = Vec::with_capacity(bytes.len() / HEADER);
    while !bytes.is_empty() {
        rows.push(take_row(&mut bytes).ok_or_else(damaged)?);
    }
    Ok(rows)
}

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "a fact of the load is not what was written")
}

/// The first row of some bytes, which go on after it.
fn take_row<'b>(bytes: &mut &'b [u8]) -> Option<Row<'b>> {
    let place = u64::from_le_bytes(take(bytes)?);
    let (head, tail) =
        (NodeId(u64::from_le_bytes(take(bytes)?)), NodeId(u64::from_le_bytes(take(bytes)?)));
    let (from, to) = (i64::from_le_bytes(take(bytes)?), i64::from_le_bytes(take(bytes)?));
    let confidence = f64::from_le_bytes(take(bytes)?);
    let relation = RelationId(u32::from_le_bytes(take(bytes)?));
    let [intent] = take(bytes)?;
    let intent = *Intent::ALL.get(usize::from(intent))?;
    let length = u32::from_le_bytes(take(bytes)?);
    let (source, rest) = bytes.split_at_checked(length as usize)?;
    let source = std::str::from_utf8(source).ok()?;
    *bytes = rest;
    let valid = Interval { from, to };
    Some(Row { place, fact: BulkFact { head, relation, tail, valid, confidence, intent, source } })
}

#[cfg(test)]
mod tests;
