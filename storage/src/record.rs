//! Values on disk: a byte that names the encoding, a checksum, then the record.
//!
//! The one place that knows bincode, beside `graph`, whose types say how they are written. It is
//! asked only for bytes whose size and checksum are right, and even so nothing read from disk can be
//! decoded into more than [`RECORD_BYTES_MAX`], have a property of more than [`PARTS_MAX`] parts,
//! nest without end, or carry bytes that no field claims.

use std::collections::BTreeMap;

use bincode::config::{Config, Configuration, Fixint, Limit, LittleEndian, Varint};
use bincode::de::{BorrowDecode, BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
pub(crate) use bincode::{Decode, Encode};

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Form, Time, Value};

/// The largest record.
pub const RECORD_BYTES_MAX: usize = 16 << 20;
/// How deep lists and maps may nest in a property.
pub const VALUE_DEPTH_MAX: usize = 64;

/// The most parts of a property: values, those that hold others too, and the names of maps. No more of
/// them have room in the limit of a record while it is decoded; where there are texts, fewer have.
const PARTS_MAX: usize = RECORD_BYTES_MAX / PART_BYTES;
/// What a part may take in memory.
const PART_BYTES: usize = 24;

/// The first byte of every record: how the rest is encoded.
const ENCODING: u8 = 4;
/// The encoding before it, whose intervals were two integers.
const ENCODING_PLAIN: u8 = 3;
/// The encoding before that, whose integers were as wide as they can be as well.
const ENCODING_FIXED: u8 = 2;
/// The encoding of format 1, which had no checksum.
const ENCODING_1: u8 = 1;
/// Bytes in front of a record: its encoding and its checksum.
const HEADER: usize = 5;
const CONFIGURATION: Configuration<LittleEndian, Varint, Limit<RECORD_BYTES_MAX>> =
    bincode::config::standard().with_limit::<RECORD_BYTES_MAX>();
const FIXED: Configuration<LittleEndian, Fixint, Limit<RECORD_BYTES_MAX>> =
    CONFIGURATION.with_fixed_int_encoding();

/// A record as bytes: the encoding, a CRC-32C of the rest, the rest.
pub(crate) fn encode<T: Encode + Decode<Form>>(record: &T) -> Result<Vec<u8>> {
    // Most records are no longer than this.
    let mut bytes = Vec::with_capacity(128);
    bytes.resize(HEADER, 0);
    let written =
        bincode::encode_into_std_write(record, &mut bytes, CONFIGURATION).map_err(|error| {
            match error {
                EncodeError::Other(reason) => StorageError::Invalid(reason.to_owned()),
                error => StorageError::Invalid(format!("the record cannot be stored: {error}")),
            }
        })?;
    if written > RECORD_BYTES_MAX {
        return Err(StorageError::Invalid(format!(
            "the record has {written} bytes, more than the limit of {RECORD_BYTES_MAX}"
        )));
    }
    // A part takes a byte at the least, so a smaller record has no more parts than can be read.
    if written > PARTS_MAX {
        decode_exactly::<T>(&bytes[HEADER..], CONFIGURATION, Form::Current).map_err(|_| {
            StorageError::Invalid("the record has too many parts to be read".to_owned())
        })?;
    }
    let checksum = crc32c::crc32c(&bytes[HEADER..]);
    bytes[0] = ENCODING;
    bytes[1..HEADER].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The record that [`encode`] wrote.
pub(crate) fn decode<T: Decode<Form>>(family: Family, key: &[u8], bytes: &[u8]) -> Result<T> {
    let corrupt = |reason: String| StorageError::corrupt(family.name(), key, reason);
    let (encoding, checksum, rest) = match bytes {
        [encoding, a, b, c, d, rest @ ..] => (*encoding, [*a, *b, *c, *d], rest),
        _ => return Err(corrupt("the record is cut short".to_owned())),
    };
    if !(ENCODING_FIXED..=ENCODING).contains(&encoding) {
        return Err(corrupt(format!("unknown record encoding {encoding}")));
    }
    if rest.len() > RECORD_BYTES_MAX {
        return Err(corrupt("the record is too large".to_owned()));
    }
    if crc32c::crc32c(rest) != u32::from_le_bytes(checksum) {
        return Err(corrupt("the checksum does not fit".to_owned()));
    }
    match encoding {
        ENCODING => decode_exactly(rest, CONFIGURATION, Form::Current),
        ENCODING_PLAIN => decode_exactly(rest, CONFIGURATION, Form::Plain),
        _ => decode_exactly(rest, FIXED, Form::Plain),
    }
    .map_err(corrupt)
}

/// Whether the bytes are a record of format 1.
pub(crate) fn is_format_1(bytes: &[u8]) -> bool {
    bytes.first() == Some(&ENCODING_1)
}

/// A record of format 1.
pub(crate) fn decode_format_1<T: Decode<Form>>(
    family: Family,
    key: &[u8],
    bytes: &[u8],
) -> Result<T> {
    decode_exactly(bytes.get(1..).unwrap_or_default(), FIXED, Form::Plain)
        .map_err(|reason| StorageError::corrupt(family.name(), key, reason))
}

/// All of the bytes as one record.
fn decode_exactly<T: Decode<Form>>(
    bytes: &[u8],
    configuration: impl Config,
    form: Form,
) -> std::result::Result<T, String> {
    let (record, read) = bincode::decode_from_slice_with_context(bytes, configuration, form)
        .map_err(|error| error.to_string())?;
    match bytes.len() - read {
        0 => Ok(record),
        more => Err(format!("{more} bytes too many")),
    }
}

/// A value written flat, in pre-order, so that decoding does not recurse.
#[derive(bincode::Encode, bincode::Decode)]
enum Token {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
    Timestamp(i64),
    /// This many values follow.
    List(u32),
    /// This many names follow, each with its value.
    Map(u32),
    /// A list of integers alone.
    Ints(Box<[i64]>),
    /// A list of floats alone.
    Floats(Box<[f64]>),
}

impl Token {
    fn parts(&self) -> usize {
        match self {
            Self::Ints(numbers) => 1 + numbers.len(),
            Self::Floats(numbers) => 1 + numbers.len(),
            _ => 1,
        }
    }
}

/// A larger one would make records of before too large to be read: each counts this much there.
const _: () = assert!(size_of::<Token>() <= PART_BYTES);

impl Encode for Value {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> std::result::Result<(), EncodeError> {
        let mut tokens = Vec::new();
        flatten(self, &mut tokens, 0)?;
        tokens.encode(encoder)
    }
}

fn flatten(
    value: &Value,
    tokens: &mut Vec<Token>,
    depth: usize,
) -> std::result::Result<(), EncodeError> {
    if depth > VALUE_DEPTH_MAX {
        return Err(EncodeError::Other("a property nests too deep"));
    }
    let count = |length: usize| {
        u32::try_from(length).map_err(|_| EncodeError::Other("a property has too many parts"))
    };
    if let Value::List(items) = value
        && depth < VALUE_DEPTH_MAX
        && let Some(numbers) = numbers(items)
    {
        tokens.push(numbers);
        return Ok(());
    }
    tokens.push(match value {
        Value::Null => Token::Null,
        Value::Bool(value) => Token::Bool(*value),
        Value::Int(value) => Token::Int(*value),
        Value::Float(value) => Token::Float(*value),
        Value::String(value) => Token::String(value.clone()),
        Value::Timestamp(value) => Token::Timestamp(*value),
        Value::List(items) => Token::List(count(items.len())?),
        Value::Map(entries) => Token::Map(count(entries.len())?),
    });
    match value {
        Value::List(items) => items.iter().try_for_each(|item| flatten(item, tokens, depth + 1)),
        Value::Map(entries) => entries.iter().try_for_each(|(name, value)| {
            tokens.push(Token::String(name.clone()));
            flatten(value, tokens, depth + 1)
        }),
        _ => Ok(()),
    }
}

/// A list of integers alone, or of floats alone, if it is one.
fn numbers(items: &[Value]) -> Option<Token> {
    let int = |item: &Value| if let Value::Int(int) = item { Some(*int) } else { None };
    let float = |item: &Value| if let Value::Float(float) = item { Some(*float) } else { None };
    let ints = items.iter().map(int).collect::<Option<_>>().map(Token::Ints);
    ints.or_else(|| items.iter().map(float).collect::<Option<_>>().map(Token::Floats))
}

impl<C> Decode<C> for Value {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> std::result::Result<Self, DecodeError> {
        let tokens = Vec::<Token>::decode(decoder)?;
        if tokens.iter().map(Token::parts).sum::<usize>() > PARTS_MAX {
            return Err(DecodeError::Other("a property has too many parts"));
        }
        let mut tokens = tokens.into_iter();
        let value = unflatten(&mut tokens, 0)?;
        match tokens.next() {
            Some(_) => Err(DecodeError::Other("a property has parts too many")),
            None => Ok(value),
        }
    }
}

impl<'de, C> BorrowDecode<'de, C> for Value {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(
        decoder: &mut D,
    ) -> std::result::Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}

fn unflatten(
    tokens: &mut impl Iterator<Item = Token>,
    depth: usize,
) -> std::result::Result<Value, DecodeError> {
    if depth > VALUE_DEPTH_MAX {
        return Err(DecodeError::Other("a property nests too deep"));
    }
    let token = tokens.next().ok_or(DecodeError::Other("a property is cut short"))?;
    Ok(match token {
        Token::Null => Value::Null,
        Token::Bool(value) => Value::Bool(value),
        Token::Int(value) => Value::Int(value),
        Token::Float(value) => Value::Float(value),
        Token::String(value) => Value::String(value),
        Token::Timestamp(value) => Value::Timestamp(value),
        // What is in them lies one deeper.
        Token::Ints(_) | Token::Floats(_) if depth == VALUE_DEPTH_MAX => {
            return Err(DecodeError::Other("a property nests too deep"));
        }
        Token::Ints(numbers) => Value::List(numbers.into_iter().map(Value::Int).collect()),
        Token::Floats(numbers) => Value::List(numbers.into_iter().map(Value::Float).collect()),
        Token::List(count) => {
            let items = (0..count).map(|_| unflatten(tokens, depth + 1));
            Value::List(items.collect::<std::result::Result<_, _>>()?)
        }
        Token::Map(count) => {
            let mut entries = BTreeMap::new();
            for _ in 0..count {
                let Some(Token::String(name)) = tokens.next() else {
                    return Err(DecodeError::Other("a map has an entry without a name"));
                };
                entries.insert(name, unflatten(tokens, depth + 1)?);
            }
            Value::Map(entries)
        }
    })
}

/// The first byte of an embedding; format 1 had none, so its embeddings have other lengths.
const VECTOR: u8 = 2;

/// An embedding and since when it stands, as bytes: the encoding 1, system_from 8, then 4 for each
/// component, little-endian.
pub(crate) fn encode_vector(system_from: Time, vector: &[f32]) -> Vec<u8> {
    let components = vector.iter().flat_map(|component| component.to_le_bytes());
    [VECTOR].into_iter().chain(system_from.to_le_bytes()).chain(components).collect()
}

/// Replaces `vector` by the embedding in `bytes` and gives since when it stands; none if they are
/// no embedding.
pub(crate) fn decode_vector(bytes: &[u8], vector: &mut Vec<f32>) -> Option<Time> {
    let (&VECTOR, bytes) = bytes.split_first()? else { return None };
    let (system_from, components) = bytes.split_first_chunk()?;
    let (components, []) = components.as_chunks() else { return None };
    vector.clear();
    vector.extend(components.iter().map(|component| f32::from_le_bytes(*component)));
    Some(Time::from_le_bytes(*system_from))
}

/// Applies `mark` to the instant since when an embedding stands; none if it is no embedding.
pub(crate) fn restamp_vector(bytes: &mut [u8], mark: impl Fn(&mut i64)) -> Option<()> {
    let system_from = bytes.get_mut(1..)?.first_chunk_mut()?;
    let mut time = Time::from_le_bytes(*system_from);
    mark(&mut time);
    *system_from = time.to_le_bytes();
    Some(())
}

/// Only finite numbers are stored.
pub(crate) fn check_finite(vector: &[f32]) -> Result<()> {
    match vector.iter().position(|component| !component.is_finite()) {
        Some(index) => Err(StorageError::Invalid(format!("component {index} is not finite"))),
        None => Ok(()),
    }
}

/// The time that a value says.
pub(crate) fn created_of(value: &[u8]) -> Option<Time> {
    Some(Time::from_be_bytes(value.try_into().ok()?))
}

#[cfg(test)]
mod tests;
