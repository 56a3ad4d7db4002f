//! Graph elements as plain sentences, for a model to read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use engraph_storage::graph::Value;
use engraph_storage::{TERM_BYTES_MAX, folded};
use sha2::{Digest, Sha256};

/// A fact as a sentence: `Nora works at Forno Studio.`
pub(crate) fn sentence(head: &str, relation: &str, tail: &str) -> String {
    format!("{head} {} {tail}.", relation.replace('_', " ").to_lowercase())
}

/// A name in lower case and without accents, as an index of words has it: `jose maria` for `José María`. A long one as
/// it is.
pub(crate) fn unaccented(name: &str) -> Cow<'_, str> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    match is_plain || name.len() > TERM_BYTES_MAX {
        true => Cow::Borrowed(name),
        false => Cow::Owned(folded(name)),
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Whether a question has no letter and no digit, and so asks for nothing.
pub(crate) fn is_blank(question: &str) -> bool {
    !question.contains(char::is_alphanumeric)
}

/// The properties that make up the text of a node.
pub(crate) const PROPERTIES: [&str; 3] = ["text", "speaker", "caption"];

/// What is embedded of a node: its text, with the speaker before and the picture's caption after.
/// A node with neither a text nor a caption is not embedded.
pub(crate) fn of_node(properties: &BTreeMap<String, Value>) -> Option<String> {
    let field = |name: &str| match properties.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    };
    let (text, caption) = (field("text"), field("caption"));
    text.or(caption)?;
    let speaker = field("speaker").unwrap_or_default();
    Some(joined(speaker, text.unwrap_or_default(), caption.unwrap_or_default()))
}

/// A text with its speaker and its caption, where there are some.
pub(crate) fn joined(speaker: &str, text: &str, caption: &str) -> String {
    let speaker = if speaker.is_empty() { String::new() } else { format!("{speaker}: ") };
    let blank = if text.is_empty() { "" } else { " " };
    match caption.is_empty() {
        true => format!("{speaker}{text}"),
        false => format!("{speaker}{text}{blank}[image: {caption}]"),
    }
}

/// The tokens of a text, by its length, where they need not be exact.
pub(crate) fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// The first bytes of the SHA-256 of a text.
pub(crate) fn hash(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    hash.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
/// A text without the byte order mark that it may begin with.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
