//! An interval in as few bytes as it takes: most bounds are whole seconds, or open.
//!
//! ```text
//! [kind of from, 16 times the kind of to: 1] [from 0, 4 or 8] [to 0, 4 or 8]
//! ```
//!
//! It never asks whether an interval holds an instant: that is for whoever made it.

use bincode::de::read::Reader;
use bincode::de::{BorrowDecode, BorrowDecoder, Decode, Decoder};
use bincode::enc::write::Writer;
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};

use super::{Interval, Time};

/// How a record was written that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is written now.
    Current,
    /// An interval is two integers.
    Plain,
}

/// Microseconds.
const SECOND: Time = 1_000_000;

/// How a bound is written, by its number.
const OPEN_FROM: u8 = 0;
const OPEN_TO: u8 = 1;
/// Seconds since the epoch in 4 bytes with a sign, little-endian: until January 2038.
const SECONDS: u8 = 2;
/// Microseconds since the epoch in 8 bytes, little-endian.
const MICROSECONDS: u8 = 3;

fn kind(bound: Time) -> u8 {
    match bound {
        Interval::MIN => OPEN_FROM,
        Interval::MAX => OPEN_TO,
        _ if bound % SECOND == 0 && i32::try_from(bound / SECOND).is_ok() => SECONDS,
        _ => MICROSECONDS,
    }
}

fn write(bound: Time, writer: &mut impl Writer) -> Result<(), EncodeError> {
    match kind(bound) {
        OPEN_FROM | OPEN_TO => Ok(()),
        SECONDS => writer.write(&((bound / SECOND) as i32).to_le_bytes()),
        _ => writer.write(&bound.to_le_bytes()),
    }
}

fn read<D: Decoder>(kind: u8, decoder: &mut D) -> Result<Time, DecodeError> {
    match kind {
        OPEN_FROM => Ok(Interval::MIN),
        OPEN_TO => Ok(Interval::MAX),
        SECONDS => Ok(Time::from(i32::from_le_bytes(bytes(decoder)?)) * SECOND),
        MICROSECONDS => Ok(Time::from_le_bytes(bytes(decoder)?)),
        _ => Err(DecodeError::Other("a bound of an interval is of no known kind")),
    }
}

fn bytes<const N: usize>(decoder: &mut impl Decoder) -> Result<[u8; N], DecodeError> {
    decoder.claim_bytes_read(N)?;
    let mut bytes = [0; N];
    decoder.reader().read(&mut bytes)?;
    Ok(bytes)
}

impl Encode for Interval {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        (kind(self.from) | kind(self.to) << 4).encode(encoder)?;
        write(self.from, encoder.writer())?;
        write(self.to, encoder.writer())
    }
}

impl Decode<Form> for Interval {
    fn decode<D: Decoder<Context = Form>>(decoder: &mut D) -> Result<Self, DecodeError> {
        if *decoder.context() == Form::Plain {
            return Ok(Self { from: Time::decode(decoder)?, to: Time::decode(decoder)? });
        }
        let kinds = u8::decode(decoder)?;
        Ok(Self { from: read(kinds & 15, decoder)?, to: read(kinds >> 4, decoder)? })
    }
}

impl<'de> BorrowDecode<'de, Form> for Interval {
    fn borrow_decode<D: BorrowDecoder<'de, Context = Form>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}
