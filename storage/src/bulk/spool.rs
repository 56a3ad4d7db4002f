//! Facts on their way into tables: in memory while they are few, else in files without a name, so that a process
//! that ends leaves nothing of them.
//!
//! ```text
//! [place 8][head 8][tail 8][valid_from 8][valid_to 8][confidence 8][relation 4][intent 1][length 4][source ...]
//! ```

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Error, ErrorKind, Read, Result, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::adjacency::take;
use crate::graph::{BulkFact, Intent, Interval, NodeId, RelationId};

/// Bytes of a fact before its source.
const HEADER: usize = 57;
/// Bytes that are read or written at once.
pub(super) const BUFFER: usize = 1 << 16;
/// The most bytes that wait in memory: new pages of a file take as long as those, and are read again.
pub(super) const MEMORY: usize = if cfg!(test) { 1 << 10 } else { 32 << 20 };
/// Rows that are in memory at once, and those of the same head: what is made of them fits into the processor's cache.
pub(super) const STRETCH: usize = if cfg!(test) { 6 } else { 4_096 };
/// Bytes of a piece of what waits in memory, at least.
const PIECE: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// A fact of a load, and the place that its giver knows it by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row<'s> {
    pub(super) place: u64,
    pub(super) fact: BulkFact<'s>,
}

/// What is written first and read later.
pub(super) struct Spool {
    folder: PathBuf,
    /// Bytes that may be in memory.
    memory: usize,
    bytes: usize,
    /// What is in memory, each piece of whole records.
    pieces: Vec<Vec<u8>>,
    /// Where all is once it is more than that.
    file: Option<BufWriter<File>>,
}

impl Spool {
    /// One of which so many bytes may be in memory; the others go into a file without a name in the folder.
    pub(super) fn new(folder: &Path, memory: usize) -> Self {
        Self { folder: folder.to_owned(), memory, bytes: 0, pieces: Vec::new(), file: None }
    }

    /// One in memory, with room for so many bytes in one piece.
    pub(super) fn with_room(folder: &Path, bytes: usize) -> Self {
        Self { pieces: vec![Vec::with_capacity(bytes)], ..Self::new(folder, usize::MAX) }
    }

    /// Writes whole records.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.room(bytes.len())?.write_all(bytes)
    }

    pub(super) fn write_row(&mut self, row: &Row<'_>) -> Result<()> {
        let Row { place, fact } = row;
        let length = u32::try_from(fact.source.len()).map_err(Error::other)?;
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
        let room = self.room(HEADER + fact.source.len())?;
        room.write_all(&header)?;
        room.write_all(fact.source.as_bytes())
    }

    /// Where the next bytes go, which are so many.
    fn room(&mut self, bytes: usize) -> Result<&mut dyn Write> {
        if self.file.is_none() && self.bytes.saturating_add(bytes) > self.memory {
            let file = tempfile::tempfile_in(&self.folder)?;
            let mut file = BufWriter::with_capacity(BUFFER, file);
            self.pieces.iter().try_for_each(|piece| file.write_all(piece))?;
            (self.file, self.pieces) = (Some(file), Vec::new());
        }
        self.bytes += bytes;
        if let Some(file) = &mut self.file {
            return Ok(file);
        }
        let has_room = |piece: &Vec<u8>| piece.capacity() - piece.len() >= bytes;
        if !self.pieces.last().is_some_and(has_room) {
            self.pieces.push(Vec::with_capacity(bytes.max(PIECE)));
        }
        let last = self.pieces.len() - 1;
        Ok(&mut self.pieces[last])
    }

    /// All that was written, in memory.
    pub(super) fn bytes(mut self) -> Result<Vec<u8>> {
        if let Some(mut file) = self.rewound()? {
            let mut bytes = Vec::with_capacity(file.metadata()?.len() as usize);
            file.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        match self.pieces.len() {
            1 => Ok(self.pieces.swap_remove(0)),
            _ => Ok(self.pieces.concat()),
        }
    }

    /// The records that were written, one after the other.
    pub(super) fn records(mut self) -> Result<Records> {
        let written = match self.rewound()? {
            Some(file) => Bytes::File(BufReader::with_capacity(BUFFER, file), Vec::new()),
            None => Bytes::Memory(self.pieces),
        };
        Ok(Records { written, piece: 0, bytes: 0..0 })
    }

    fn rewound(&mut self) -> Result<Option<File>> {
        let Some(file) = self.file.take() else { return Ok(None) };
        let mut file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Some(file))
    }
}

/// Records one after another, each in the place of the one before.
pub(super) struct Records {
    written: Bytes,
    /// The record in what is in memory: a piece, and its bytes there.
    piece: usize,
    bytes: Range<usize>,
}

enum Bytes {
    Memory(Vec<Vec<u8>>),
    /// With the record that was read.
    File(BufReader<File>, Vec<u8>),
}

impl Records {
    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self.written, Bytes::Memory(_))
    }

    /// What is in memory: pieces of whole records, or nothing if all is in a file.
    pub(super) fn pieces(&self) -> &[Vec<u8>] {
        match &self.written {
            Bytes::Memory(pieces) => pieces,
            Bytes::File(..) => &[],
        }
    }

    /// Goes on to the next record, if there is one.
    pub(super) fn advance(&mut self) -> Result<bool> {
        match &mut self.written {
            Bytes::Memory(pieces) => {
                while pieces.get(self.piece).is_some_and(|piece| piece.len() == self.bytes.end) {
                    (self.piece, self.bytes) = (self.piece + 1, 0..0);
                }
                let Some(piece) = pieces.get(self.piece) else { return Ok(false) };
                let begin = self.bytes.end;
                let record = split(&mut &piece[begin..]).ok_or_else(damaged)?;
                self.bytes = begin..begin + record.len();
            }
            Bytes::File(reader, record) => {
                record.resize(HEADER, 0);
                match reader.read(record)? {
                    0 => return Ok(false),
                    read => reader.read_exact(&mut record[read..])?,
                }
                record.resize(HEADER + source_bytes(record), 0);
                reader.read_exact(&mut record[HEADER..])?;
            }
        }
        Ok(true)
    }

    /// The bytes of the record.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.written {
            Bytes::Memory(pieces) => {
                pieces.get(self.piece).map_or(&[], |piece| &piece[self.bytes.clone()])
            }
            Bytes::File(_, record) => record,
        }
    }

    /// What they say.
    pub(super) fn row(&self) -> Result<Row<'_>> {
        row(self.bytes()).ok_or_else(damaged)
    }

    /// The head of the fact.
    pub(super) fn head(&self) -> Result<NodeId> {
        Ok(head_and_relation(self.bytes()).ok_or_else(damaged)?.0)
    }

    /// From the first record again.
    pub(super) fn rewind(&mut self) -> Result<()> {
        (self.piece, self.bytes) = (0, 0..0);
        match &mut self.written {
            Bytes::Memory(_) => Ok(()),
            Bytes::File(reader, _) => reader.rewind(),
        }
    }
}

/// Rows in the order of their heads and relations, and then as they were written.
pub(super) struct Sorted<'b> {
    records: Vec<&'b [u8]>,
    /// Head, relation, and the place of the record: numbers are put in order faster than what they stand for.
    order: Vec<u128>,
}

impl<'b> Sorted<'b> {
    /// About so many rows of some pieces, those with certain heads.
    pub(super) fn of(
        pieces: &'b [Vec<u8>],
        is_wanted: impl Fn(NodeId) -> bool,
        count: usize,
    ) -> Result<Self> {
        let (mut records, mut order) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for mut piece in pieces.iter().map(Vec::as_slice) {
            while !piece.is_empty() {
                let record = split(&mut piece).ok_or_else(damaged)?;
                let (head, relation) = head_and_relation(record).ok_or_else(damaged)?;
                if is_wanted(head) {
                    let at = u32::try_from(records.len()).map_err(Error::other)?;
                    let below = u64::from(relation.0) << 32 | u64::from(at);
                    order.push(u128::from(head.0) << 64 | u128::from(below));
                    records.push(record);
                }
            }
        }
        order.sort_unstable();
        Ok(Self { records, order })
    }

    /// Asks the memory for records, which lie far from each other, before any of them is used.
    fn touch(&self, keys: &[u128]) {
        let records = keys.iter().filter_map(|key| self.records.get(*key as u32 as usize));
        let ends = records.filter_map(|record| record.first().zip(record.last()));
        black_box(ends.fold(0, |all, (first, last)| all ^ first ^ last));
    }

    /// The rows of some heads after another, so that not all of them have to be in memory.
    pub(super) fn stretches(&self) -> impl Iterator<Item = Result<Vec<Row<'b>>>> {
        let head = |key: &u128| key >> 64;
        let mut rest = self.order.as_slice();
        std::iter::from_fn(move || {
            let last = rest.get(rest.len().min(STRETCH).checked_sub(1)?)?;
            let (keys, later) = rest.split_at(rest.partition_point(|key| head(key) <= head(last)));
            rest = later;
            self.touch(keys);
            let row = |key: &u128| row(self.records[*key as u32 as usize]).ok_or_else(damaged);
            Some(keys.iter().map(row).collect())
        })
    }
}

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "a fact of the load is not what was written")
}

/// The bytes of the source of a record, by its beginning.
fn source_bytes(header: &[u8]) -> usize {
    let length = header.first_chunk().map_or([0; 4], |header: &[u8; HEADER]| {
        let [.., a, b, c, d] = *header;
        [a, b, c, d]
    });
    u32::from_le_bytes(length) as usize
}

/// The first record of some bytes, which go on after it.
fn split<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (record, rest) = bytes.split_at_checked(HEADER + source_bytes(bytes))?;
    *bytes = rest;
    Some(record)
}

fn head_and_relation(record: &[u8]) -> Option<(NodeId, RelationId)> {
    let (mut head, mut relation) = (record.get(8..)?, record.get(48..)?);
    let head = u64::from_le_bytes(take(&mut head)?);
    Some((NodeId(head), RelationId(u32::from_le_bytes(take(&mut relation)?))))
}

/// What a record says.
fn row(mut record: &[u8]) -> Option<Row<'_>> {
    let bytes = &mut record;
    let place = u64::from_le_bytes(take(bytes)?);
    let (head, tail) =
        (NodeId(u64::from_le_bytes(take(bytes)?)), NodeId(u64::from_le_bytes(take(bytes)?)));
    let (from, to) = (i64::from_le_bytes(take(bytes)?), i64::from_le_bytes(take(bytes)?));
    let confidence = f64::from_le_bytes(take(bytes)?);
    let relation = RelationId(u32::from_le_bytes(take(bytes)?));
    let [intent] = take(bytes)?;
    let intent = *Intent::ALL.get(usize::from(intent))?;
    let length = u32::from_le_bytes(take(bytes)?);
    let source = std::str::from_utf8(bytes.get(..length as usize)?).ok()?;
    let valid = Interval { from, to };
    Some(Row { place, fact: BulkFact { head, relation, tail, valid, confidence, intent, source } })
}

#[cfg(test)]
mod tests;
