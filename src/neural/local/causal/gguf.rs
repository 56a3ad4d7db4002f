//! The header of a GGUF file: what the model is, and where its tensors lie.
//!
//! Every count, length and offset in the file is held against what is there before anything is
//! made of it, and arrays are only stepped over, but for those of the tokenizer. So the header costs
//! little more memory than it is long. Layout: the GGUF specification of ggml, versions 2 and 3,
//! little-endian.

use std::collections::HashMap;

use candle_core::quantized::GgmlDType;

use super::place::Place;

/// The largest header that is read, in bytes; a vocabulary of 150,000 tokens takes some 9 MB.
pub(super) const HEADER_BYTES_MAX: u64 = 64 << 20;
/// The most metadata or tensors that are read.
const COUNT_MAX: u64 = 1 << 16;
/// The arrays that are kept, and the most items of each.
const KEPT: [&str; 3] = [TOKENS, MERGES, TOKEN_TYPES];
const ITEMS_MAX: u64 = 1 << 20;
/// The texts of the tokens by their ids, how they are merged, and which of them are marks.
pub(super) const TOKENS: &str = "tokenizer.ggml.tokens";
pub(super) const MERGES: &str = "tokenizer.ggml.merges";
pub(super) const TOKEN_TYPES: &str = "tokenizer.ggml.token_type";
/// The kind of an array.
const ARRAY: u32 = 9;
/// Where a tensor begins, unless the file says otherwise: at a multiple of so many bytes.
const ALIGNMENT: u64 = 32;

/// A header that was read.
pub(super) struct Header {
    pub(super) metadata: Metadata,
    /// Where each tensor lies, by the name it has in a safetensors file.
    pub(super) tensors: HashMap<String, Place>,
}

/// What a GGUF file says about its model.
#[cfg_attr(test, derive(Default))]
pub(super) struct Metadata(HashMap<String, Entry>);

#[cfg_attr(test, derive(Clone))]
pub(super) enum Entry {
    Whole(u64),
    Number(f64),
    Text(String),
    Truth(bool),
    Texts(Vec<String>),
    Wholes(Vec<i64>),
    /// A number below zero or another array; none of these is asked for.
    Other,
}

impl Metadata {
    #[cfg(test)]
    pub(super) fn insert(&mut self, key: &str, value: Entry) {
        self.0.insert(key.to_string(), value);
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            Entry::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn size(&self, key: &str) -> Option<usize> {
        self.whole(key).and_then(|number| usize::try_from(number).ok())
    }

    pub(super) fn token(&self, key: &str) -> Option<u32> {
        self.whole(key).and_then(|number| u32::try_from(number).ok())
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        match self.0.get(key)? {
            Entry::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn truth(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Entry::Truth(truth) => Some(*truth),
            _ => None,
        }
    }

    pub(super) fn texts(&self, key: &str) -> Option<&[String]> {
        match self.0.get(key)? {
            Entry::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    pub(super) fn wholes(&self, key: &str) -> Option<&[i64]> {
        match self.0.get(key)? {
            Entry::Wholes(numbers) => Some(numbers),
            _ => None,
        }
    }

    fn whole(&self, key: &str) -> Option<u64> {
        match self.0.get(key)? {
            Entry::Whole(number) => Some(*number),
            _ => None,
        }
    }
}

/// Reads the header out of the beginning of a file that is `file_bytes` long.
pub(super) fn read_header(start: &[u8], file_bytes: u64) -> Result<Header, String> {
    let mut cursor = Cursor { bytes: start, at: 0 };
    if cursor.take(4)? != b"GGUF" {
        return Err("it does not begin with GGUF".to_string());
    }
    let version = cursor.u32()?;
    if !(2..=3).contains(&version) {
        return Err(format!("version {version} of GGUF is not known"));
    }
    let (tensors, pairs) = (cursor.count("tensors")?, cursor.count("metadata")?);
    let mut metadata = HashMap::new();
    for _ in 0..pairs {
        let key = cursor.text()?.to_string();
        let kind = cursor.u32()?;
        let value = match kind {
            ARRAY if KEPT.contains(&key.as_str()) => cursor.kept_array(&key)?,
            kind => cursor.value(kind)?,
        };
        metadata.insert(key, value);
    }
    let metadata = Metadata(metadata);
    let mut places = Vec::new();
    for _ in 0..tensors {
        places.push(cursor.tensor()?);
    }
    let alignment = metadata.whole("general.alignment").unwrap_or(ALIGNMENT);
    if !alignment.is_power_of_two() || alignment > 1 << 16 {
        return Err(format!("tensors cannot be aligned to {alignment} bytes"));
    }
    let data = (cursor.at as u64).next_multiple_of(alignment);
    let mut tensors = HashMap::new();
    for (name, mut place) in places {
        let begin = data.checked_add(place.start);
        let end = begin.and_then(|begin| begin.checked_add(place.bytes));
        match (begin, end) {
            (Some(begin), Some(end)) if end <= file_bytes => place.start = begin,
            _ => return Err(format!("tensor {name} lies beyond the end of the file")),
        }
        tensors.insert(safetensors_name(&name), place);
    }
    Ok(Header { metadata, tensors })
}

/// A place in the header; reading moves it on and fails at the end.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8], String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let taken = taken.ok_or_else(|| match self.bytes.len() as u64 {
            HEADER_BYTES_MAX => format!("its header is above the limit {HEADER_BYTES_MAX}"),
            _ => "it ends within its header".to_string(),
        })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let taken = self.take(N as u64)?;
        taken.try_into().map_err(|_| "it ends within its header".to_string())
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self, what: &str) -> Result<u64, String> {
        match self.u64()? {
            count if count > COUNT_MAX => Err(format!("{count} {what} are above {COUNT_MAX}")),
            count => Ok(count),
        }
    }

    fn text(&mut self) -> Result<&'a str, String> {
        let length = self.u64()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| "a name in its header is not text".to_string())
    }

    fn value(&mut self, kind: u32) -> Result<Entry, String> {
        Ok(match kind {
            0 => Entry::Whole(self.array().map(u8::from_le_bytes)?.into()),
            2 => Entry::Whole(self.array().map(u16::from_le_bytes)?.into()),
            4 => Entry::Whole(self.u32()?.into()),
            10 => Entry::Whole(self.u64()?),
            1 => signed(self.array().map(i8::from_le_bytes)?),
            3 => signed(self.array().map(i16::from_le_bytes)?),
            5 => signed(self.array().map(i32::from_le_bytes)?),
            11 => signed(self.array().map(i64::from_le_bytes)?),
            6 => Entry::Number(self.array().map(f32::from_le_bytes)?.into()),
            12 => Entry::Number(self.array().map(f64::from_le_bytes)?),
            8 => {
                let length = self.u64()?;
                Entry::Text(String::from_utf8_lossy(self.take(length)?).into_owned())
            }
            7 => Entry::Truth(self.take(1)? != [0]),
            ARRAY => {
                self.skip_array()?;
                Entry::Other
            }
            kind => return Err(format!("metadata of kind {kind} is not known")),
        })
    }

    /// An array of texts, or of whole numbers of four bytes.
    fn kept_array(&mut self, key: &str) -> Result<Entry, String> {
        let (kind, count) = (self.u32()?, self.u64()?);
        if count > ITEMS_MAX {
            return Err(format!("{count} items of {key} are above {ITEMS_MAX}"));
        }
        match kind {
            4 => (0..count)
                .map(|_| self.u32().map(i64::from))
                .collect::<Result<_, _>>()
                .map(Entry::Wholes),
            5 => {
                let number = |cursor: &mut Self| cursor.array().map(i32::from_le_bytes);
                let numbers = (0..count).map(|_| number(self).map(i64::from));
                numbers.collect::<Result<_, _>>().map(Entry::Wholes)
            }
            8 => {
                let texts = (0..count).map(|_| self.text().map(str::to_owned));
                texts.collect::<Result<_, _>>().map(Entry::Texts)
            }
            kind => Err(format!("{key} is an array of kind {kind}")),
        }
    }

    fn skip_array(&mut self) -> Result<(), String> {
        let (kind, count) = (self.u32()?, self.u64()?);
        let size = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            8 => {
                // Each takes at least the eight bytes of its length, so this ends.
                for _ in 0..count {
                    let length = self.u64()?;
                    self.take(length)?;
                }
                return Ok(());
            }
            kind => return Err(format!("an array of kind {kind} is not known")),
        };
        self.take(count.saturating_mul(size)).map(|_| ())
    }

    /// A tensor's name and place, counted from the beginning of the data.
    fn tensor(&mut self) -> Result<(String, Place), String> {
        let name = self.text()?.to_string();
        let dimensions = self.u32()?;
        if !(1..=4).contains(&dimensions) {
            return Err(format!("tensor {name} has {dimensions} dimensions"));
        }
        // The file counts from the innermost dimension.
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            let size = self.u64()?;
            shape.insert(0, usize::try_from(size).unwrap_or(usize::MAX));
        }
        let kind = self.u32()?;
        let dtype = dtype(kind).ok_or_else(|| format!("tensor {name} is of kind {kind}"))?;
        let start = self.u64()?;
        let place = Place::new(dtype, shape, start).map_err(|e| format!("tensor {name}: {e}"))?;
        Ok((name, place))
    }
}

fn signed(number: impl Into<i64>) -> Entry {
    u64::try_from(number.into()).map_or(Entry::Other, Entry::Whole)
}

/// The kinds of numbers that candle multiplies with.
fn dtype(kind: u32) -> Option<GgmlDType> {
    Some(match kind {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}

/// The name that a tensor of a GGUF file has in a safetensors file.
fn safetensors_name(name: &str) -> String {
    let (layer, rest) = match name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
        Some((layer, rest)) => (format!("model.layers.{layer}."), rest),
        None => (String::new(), name),
    };
    let (part, kind) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let known = NAMES.iter().find(|(gguf, _)| *gguf == part);
    format!("{layer}{}.{kind}", known.map_or(part, |(_, name)| name))
}

/// Names in a GGUF file, and in a safetensors file.
pub(super) const NAMES: [(&str, &str); 14] = [
    ("token_embd", "model.embed_tokens"),
    ("output_norm", "model.norm"),
    ("output", "lm_head"),
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_q_norm", "self_attn.q_norm"),
    ("attn_k_norm", "self_attn.k_norm"),
    ("attn_output", "self_attn.o_proj"),
    ("ffn_norm", "post_attention_layernorm"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_safetensors() {
        for (gguf, name) in [
            ("token_embd.weight", "model.embed_tokens.weight"),
            ("output.weight", "lm_head.weight"),
            ("blk.12.attn_q.bias", "model.layers.12.self_attn.q_proj.bias"),
            ("blk.0.ffn_norm.weight", "model.layers.0.post_attention_layernorm.weight"),
            ("rope_freqs.weight", "rope_freqs.weight"),
        ] {
            assert_eq!(safetensors_name(gguf), name);
        }
    }

    /// A header with so many tensors and metadata, and what follows.
    fn header(tensors: u64, pairs: u64, rest: &[u8]) -> Vec<u8> {
        let start = [&b"GGUF"[..], &3_u32.to_le_bytes(), &tensors.to_le_bytes()].concat();
        [&start, &pairs.to_le_bytes()[..], rest].concat()
    }

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
    }

    fn error(bytes: &[u8]) -> String {
        read_header(bytes, bytes.len() as u64).err().unwrap()
    }

    #[test]
    fn counts_and_lengths_are_not_trusted() {
        let array = |kind: u32, count: u64| {
            let key = [text("k"), 9_u32.to_le_bytes().to_vec()].concat();
            header(0, 1, &[&key, &kind.to_le_bytes()[..], &count.to_le_bytes()].concat())
        };
        let tensor = |sizes: &[u64], kind: u32, start: u64| {
            let mut bytes = [text("t"), (sizes.len() as u32).to_le_bytes().to_vec()].concat();
            sizes.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
            header(1, 0, &[&bytes, &kind.to_le_bytes()[..], &start.to_le_bytes()].concat())
        };
        for (bytes, word) in [
            (vec![], "ends within"),
            (b"GGUX\x03\0\0\0".to_vec(), "begin with"),
            (b"GGUF\x01\0\0\0".to_vec(), "version 1"),
            (b"GGUF\0\0\0\x03".to_vec(), "version"),
            (header(u64::MAX, 0, &[]), "tensors are above"),
            (header(0, u64::MAX, &[]), "metadata are above"),
            (header(0, 1, &u64::MAX.to_le_bytes()), "ends within"),
            (header(0, 1, &[&text("k")[..], &[99, 0, 0, 0]].concat()), "kind 99"),
            (array(0, u64::MAX), "ends within"),
            (array(12, u64::MAX / 4), "ends within"),
            (array(8, u64::MAX), "ends within"),
            (array(9, 1), "array of kind 9"),
            (tensor(&[], 0, 0), "0 dimensions"),
            (tensor(&[1; 9], 0, 0), "9 dimensions"),
            (tensor(&[0, 4], 0, 0), "empty"),
            (tensor(&[u64::MAX, u64::MAX], 0, 0), "too large"),
            (tensor(&[33], 2, 0), "blocks"),
            (tensor(&[4], 99, 0), "kind 99"),
            (tensor(&[4], 0, u64::MAX), "beyond the end"),
            (tensor(&[1 << 40], 0, 0), "beyond the end"),
        ] {
            let error = error(&bytes);
            assert!(error.contains(word), "{word}: {error}");
        }
    }

    #[test]
    fn alignment_is_checked() {
        for alignment in [0_u32, 3, 1 << 20] {
            let pair = [text("general.alignment"), 4_u32.to_le_bytes().to_vec()].concat();
            let bytes = header(0, 1, &[&pair, &alignment.to_le_bytes()[..]].concat());
            assert!(error(&bytes).contains("aligned"), "{alignment}");
        }
    }
}
