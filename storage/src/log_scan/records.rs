//! The records of one log file, in order, and the next of them after bytes that are none.
//!
//! A file is cut into blocks, and a record into pieces, so that no piece crosses a block:
//!
//! ```text
//! block   32 KiB: pieces, then padding where fewer than 7 bytes are left
//! piece   checksum 4 · length 2 · kind 1 · payload        little-endian; the checksum is of
//!                                                         kind and payload, CRC-32C, masked
//! ```
//!
//! It never believes a length: a piece is what lies in its block and has the right checksum. It
//! holds one block and one record, so memory is bounded by what the file has, and never goes
//! back, so a file of rubbish costs a bounded search in each block.

use std::io::{self, Read};

const BLOCK_BYTES: usize = 32 << 10;
const HEADER_BYTES: usize = 7;

/// What stands at an offset of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A whole record; see [`Records::record`].
    Whole(u64),
    /// The last piece of a record that has lost its beginning; see [`Records::record`].
    Tail(u64),
    /// No record, or one that does not end.
    Bad(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full,
    First,
    Middle,
    Last,
    /// Says something of the log, as which compression it has, and is no part of a record.
    Note,
}

impl Kind {
    /// The pieces of recycled files ([`is_recycled`]) are unknown here: Engraph recycles none.
    fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Full),
            2 => Some(Self::First),
            3 => Some(Self::Middle),
            4 => Some(Self::Last),
            9 | 10 | 128..=130 | 132.. => Some(Self::Note),
            _ => None,
        }
    }
}

/// A cursor over the records of a file.
pub(super) struct Records<R> {
    source: R,
    block: Vec<u8>,
    /// Where the block begins in the file.
    block_offset: u64,
    /// Where the next piece begins in the block.
    at: usize,
    record: Vec<u8>,
    /// Where the record begins that is not yet whole.
    unfinished: Option<u64>,
    /// Where the zeros begin that may fill the rest of the file.
    zeros: Option<u64>,
    has_recycled: bool,
}

impl<R: Read> Records<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            block: Vec::new(),
            block_offset: 0,
            at: 0,
            record: Vec::new(),
            unfinished: None,
            zeros: None,
            has_recycled: false,
        }
    }

    /// What stands next; nothing at the end. Zeros up to the end of the file are its end.
    pub(super) fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if self.at < self.block.len() {
                if let Some(event) = self.step() {
                    return Ok(Some(event));
                }
            } else if !self.load()? {
                return Ok(self.unfinished.take().map(Event::Bad));
            }
        }
    }

    /// The bytes of the last [`Event::Whole`] or [`Event::Tail`].
    pub(super) fn record(&self) -> &[u8] {
        &self.record
    }

    /// Whether a place that is no piece says that it is one of a recycled file.
    pub(super) fn has_recycled(&self) -> bool {
        self.has_recycled
    }

    /// Bytes read so far; at the end, the length of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.block_offset + self.block.len() as u64
    }

    /// Reads the next block. The last one may be short.
    fn load(&mut self) -> io::Result<bool> {
        self.block_offset = self.bytes();
        self.block.clear();
        self.at = 0;
        self.source.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut self.block)?;
        Ok(!self.block.is_empty())
    }

    /// Reads one piece, or stays where it is and tells what is wrong with the bytes before.
    fn step(&mut self) -> Option<Event> {
        let offset = self.block_offset + self.at as u64;
        let rest = self.block.get(self.at..).unwrap_or_default();
        if rest.len() < HEADER_BYTES && self.block.len() == BLOCK_BYTES {
            self.at = self.block.len();
            return None;
        }
        if rest.iter().all(|byte| *byte == 0) {
            self.zeros.get_or_insert(offset);
            self.at = self.block.len();
            return self.unfinished.take().map(Event::Bad);
        }
        if let Some(zeros) = self.zeros.take() {
            return Some(Event::Bad(zeros));
        }
        match piece(rest) {
            Some((Kind::Full | Kind::First | Kind::Note, _)) if self.unfinished.is_some() => {
                self.unfinished.take().map(Event::Bad)
            }
            Some((kind, payload)) => {
                let bytes = HEADER_BYTES + payload.len();
                if matches!(kind, Kind::Full | Kind::First) || self.unfinished.is_none() {
                    self.record.clear();
                }
                self.record.extend_from_slice(payload);
                self.at += bytes;
                self.join(kind, offset)
            }
            None => {
                self.has_recycled |= rest.get(6).is_some_and(|kind| is_recycled(*kind));
                self.at = self.next_piece();
                Some(Event::Bad(self.unfinished.take().unwrap_or(offset)))
            }
        }
    }

    /// What a good piece at `offset`, which is in `record` by now, makes of the record.
    fn join(&mut self, kind: Kind, offset: u64) -> Option<Event> {
        match (kind, self.unfinished) {
            (Kind::Full, _) => Some(Event::Whole(offset)),
            (Kind::First, _) => {
                self.unfinished = Some(offset);
                None
            }
            (Kind::Middle, Some(_)) | (Kind::Note, _) => None,
            (Kind::Middle, None) => Some(Event::Bad(offset)),
            (Kind::Last, Some(_)) => self.unfinished.take().map(Event::Whole),
            (Kind::Last, None) => Some(Event::Tail(offset)),
        }
    }

    /// Where the next piece of a record begins in the block, after a place that has none: as far
    /// as the length there says, if it is right, or else wherever there is one.
    fn next_piece(&self) -> usize {
        let is_piece = |at: &usize| {
            let rest = self.block.get(*at..).unwrap_or_default();
            // The kind comes first: it is cheaper than a checksum, and seldom right by chance.
            rest.get(6).is_some_and(|kind| matches!(kind, 1..=4)) && piece(rest).is_some()
        };
        let said = match self.block.get(self.at + 4..self.at + 6) {
            Some([low, high]) => {
                self.at + HEADER_BYTES + usize::from(u16::from_le_bytes([*low, *high]))
            }
            _ => self.at,
        };
        std::iter::once(said)
            .chain(self.at + 1..self.block.len())
            .find(is_piece)
            .unwrap_or(self.block.len())
    }
}

/// A kind that only recycled files have. Where it stands in another file, after its first record,
/// RocksDB 11.8 reads the same header again and again without an end (`ReadPhysicalRecord` in its
/// `db/log_reader.cc`).
fn is_recycled(kind: u8) -> bool {
    matches!(kind, 5..=8 | 11 | 131)
}

/// The piece at the beginning of `bytes`, if there is one.
fn piece(bytes: &[u8]) -> Option<(Kind, &[u8])> {
    let ([c0, c1, c2, c3, low, high, kind], rest) = bytes.split_first_chunk()?;
    let known = Kind::of(*kind)?;
    let payload = rest.get(..usize::from(u16::from_le_bytes([*low, *high])))?;
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&[*kind]), payload);
    (mask(checksum) == u32::from_le_bytes([*c0, *c1, *c2, *c3])).then_some((known, payload))
}

/// A checksum as RocksDB writes it, so that one of bytes which hold checksums is no worse.
pub(super) fn mask(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}
