//! Which parts a tokenizer file may name, and how large they may be.
//!
//! A tokenizer comes from anywhere and its file is a program of sorts: regular expressions that run
//! for ever, rules that make a text a million times longer, tables whose size is only claimed. So
//! only what the sentence models need passes here, and it passes by name:
//!
//! ```text
//!   model           WordPiece, BPE, Unigram
//!   normalizer      BertNormalizer, NFC, NFD, NFKC, NFKD, Nmt, Lowercase, Strip, StripAccents,
//!                   Prepend, Replace (no longer than what it replaces), Precompiled
//!   pre_tokenizer   BertPreTokenizer, ByteLevel, Metaspace, Whitespace, WhitespaceSplit,
//!                   Punctuation, Digits
//!   post_processor  TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel
//! ```
//!
//! and a `Sequence` of those. A regular expression of the file's own never passes, but for the one
//! for several spaces. The decoder is not needed and is taken out, as are truncation and padding.

use serde_json::{Map, Value};

/// The longest word or piece that a tokenizer may look up piece by piece, in bytes, as that takes
/// the square of its length.
const PIECE_BYTES_MAX: usize = 1_000;
/// The longest text that a tokenizer may add to each word, in bytes.
const AFFIX_BYTES_MAX: usize = 16;
/// The parts a sequence may have.
const PARTS_MAX: usize = 16;
/// The largest table of replaced characters, in bytes of base64, and what one may become.
const CHARSMAP_BYTES_MAX: usize = 4 << 20;
const CHARSMAP_TEXT_BYTES_MAX: usize = 64;
/// The expression of XLM-RoBERTa for more than one space.
const SPACES: &str = " {2,}";

const NORMALIZERS: &[&str] = &[
    "BertNormalizer",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Nmt",
    "Lowercase",
    "Strip",
    "StripAccents",
    "Prepend",
    "Replace",
    "Precompiled",
];
const PRE_TOKENIZERS: &[&str] = &[
    "BertPreTokenizer",
    "ByteLevel",
    "Metaspace",
    "Whitespace",
    "WhitespaceSplit",
    "Punctuation",
    "Digits",
];
const POST_PROCESSORS: &[&str] =
    &["TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel"];

/// Gives the bytes of a tokenizer that holds nothing but what was checked. The parser never sees
/// the file itself: it may read a key that is there twice in another way.
pub(super) fn checked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let json: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Value::Object(mut json) = json else { return Err("it is not an object".to_string()) };
    for unneeded in ["decoder", "truncation", "padding"] {
        json.remove(unneeded);
    }
    check_model(json.get("model").unwrap_or(&Value::Null))?;
    check_parts(&json, "normalizer", NORMALIZERS, "normalizers")?;
    check_parts(&json, "pre_tokenizer", PRE_TOKENIZERS, "pretokenizers")?;
    check_parts(&json, "post_processor", POST_PROCESSORS, "processors")?;
    serde_json::to_vec(&json).map_err(|error| error.to_string())
}

fn check_model(model: &Value) -> Result<(), String> {
    for affix in ["continuing_subword_prefix", "end_of_word_suffix"] {
        if model[affix].as_str().is_some_and(|text| text.len() > AFFIX_BYTES_MAX) {
            return Err(format!("model/{affix} is longer than {AFFIX_BYTES_MAX} bytes"));
        }
    }
    match model["type"].as_str() {
        Some("WordPiece") => {
            let chars = model["max_input_chars_per_word"].as_u64();
            chars.filter(|chars| *chars <= PIECE_BYTES_MAX as u64).map(|_| ()).ok_or_else(|| {
                format!("model/max_input_chars_per_word is not within {PIECE_BYTES_MAX}")
            })
        }
        // With dropout a text would have other tokens each time.
        Some("BPE") if !model["dropout"].is_null() => Err("model/dropout is set".to_string()),
        Some("BPE") => Ok(()),
        Some("Unigram") => {
            let pieces = model["vocab"].as_array().map_or(&[][..], Vec::as_slice);
            let long = |piece: &Value| piece[0].as_str().map_or(0, str::len) > PIECE_BYTES_MAX;
            let long = pieces.iter().position(long);
            long.map_or(Ok(()), |at| {
                Err(format!("piece {at} is longer than {PIECE_BYTES_MAX} bytes"))
            })
        }
        _ => Err("model is not WordPiece, BPE or Unigram".to_string()),
    }
}

/// Checks one part of the pipeline, which may be absent, or a sequence of others under `list`.
fn check_parts(
    json: &Map<String, Value>,
    place: &str,
    allowed: &[&str],
    list: &str,
) -> Result<(), String> {
    let part = match json.get(place) {
        None | Some(Value::Null) => return Ok(()),
        Some(part) => part,
    };
    if part["type"] != "Sequence" {
        return check_part(place, part, allowed);
    }
    match part[list].as_array() {
        Some(parts) if parts.len() <= PARTS_MAX => {
            parts.iter().try_for_each(|part| check_part(place, part, allowed))
        }
        _ => Err(format!("{place} has no list of at most {PARTS_MAX} {list}")),
    }
}

fn check_part(place: &str, part: &Value, allowed: &[&str]) -> Result<(), String> {
    let name = part["type"].as_str().unwrap_or("without a type");
    if !allowed.contains(&name) {
        let name: String = name.chars().take(32).collect();
        return Err(format!("{place} {name} is not one of {}", allowed.join(", ")));
    }
    match name {
        "Prepend" => match part["prepend"].as_str() {
            Some(text) if text.len() <= AFFIX_BYTES_MAX => Ok(()),
            _ => Err(format!("{place} Prepend adds more than {AFFIX_BYTES_MAX} bytes")),
        },
        "Replace" => check_replace(&part["pattern"], part["content"].as_str().unwrap_or_default()),
        "Precompiled" => check_charsmap(part["precompiled_charsmap"].as_str().unwrap_or_default())
            .ok_or_else(|| format!("{place} Precompiled holds no table of characters")),
        _ => Ok(()),
    }
}

/// Many rules in a row could make a text longer and longer, so none may.
fn check_replace(pattern: &Value, content: &str) -> Result<(), String> {
    let space = |content: &str| content.len() <= 1 || content == "▁";
    let fits = match (pattern["String"].as_str(), pattern["Regex"].as_str()) {
        (Some(" "), None) => space(content),
        (Some(text), None) => !text.is_empty() && content.len() <= text.len(),
        (None, Some(SPACES)) => space(content),
        _ => false,
    };
    if fits { Ok(()) } else { Err("normalizer Replace is not a plain, short text".to_string()) }
}

/// A table of replaced characters in base64: the length of a trie in bytes as four of its own,
/// little-endian, the trie, and the texts, each with a zero after it. Its parser believes the
/// length, and whatever lies between two zeros may take the place of any character.
fn check_charsmap(base64: &str) -> Option<()> {
    if base64.len() > CHARSMAP_BYTES_MAX {
        return None;
    }
    let bytes = from_base64(base64)?;
    let length = u32::from_le_bytes(*bytes.first_chunk::<4>()?) as usize;
    let texts = bytes.get(length.checked_add(4)?..)?;
    let short = texts.split(|byte| *byte == 0).all(|text| text.len() <= CHARSMAP_TEXT_BYTES_MAX);
    short.then_some(())
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for byte in chunk {
            bits = bits << 6 | u32::from(digit(*byte)?);
        }
        let [_, first, second, third] = (bits << (6 * (4 - chunk.len()))).to_be_bytes();
        bytes.extend_from_slice(&[first, second, third][..chunk.len().saturating_sub(1)]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(json: &Value) -> Result<(), String> {
        checked(json.to_string().as_bytes()).map(|_| ())
    }

    fn bert() -> Value {
        json!({
            "model": { "type": "WordPiece", "max_input_chars_per_word": 100 },
            "normalizer": { "type": "BertNormalizer" },
            "pre_tokenizer": { "type": "BertPreTokenizer" },
            "post_processor": { "type": "TemplateProcessing" },
        })
    }

    #[test]
    fn a_tokenizer_with_other_parts_is_refused() {
        assert_eq!(check(&bert()), Ok(()));
        for (part, to, reason) in [
            ("model", json!({ "type": "WordLevel" }), "model is not WordPiece, BPE or Unigram"),
            ("model", json!({ "type": "BPE", "dropout": 0.1 }), "model/dropout is set"),
            (
                "model",
                json!({ "type": "WordPiece", "max_input_chars_per_word": 100_000 }),
                "model/max_input_chars_per_word is not within 1000",
            ),
            (
                "model",
                json!({ "type": "BPE", "end_of_word_suffix": "x".repeat(17) }),
                "model/end_of_word_suffix is longer than 16 bytes",
            ),
            (
                "model",
                json!({ "type": "Unigram", "vocab": [["a", 0.0], ["x".repeat(1_001), 0.0]] }),
                "piece 1 is longer than 1000 bytes",
            ),
            (
                "post_processor",
                json!({ "type": "Other" }),
                "post_processor Other is not one of TemplateProcessing, BertProcessing, \
                 RobertaProcessing, ByteLevel",
            ),
            (
                "normalizer",
                json!({ "type": "Prepend", "prepend": "▁".repeat(6) }),
                "normalizer Prepend adds more than 16 bytes",
            ),
            (
                "normalizer",
                json!({ "type": "Sequence", "normalizers": vec![json!({ "type": "NFC" }); 17] }),
                "normalizer has no list of at most 16 normalizers",
            ),
        ] {
            let mut json = bert();
            json[part] = to;
            assert_eq!(check(&json), Err(reason.to_string()));
        }
    }

    #[test]
    fn expressions_of_the_files_own_are_refused_wherever_they_stand() {
        let split = json!({ "type": "Split", "pattern": { "Regex": "(a+)+$" } });
        let replace = |pattern: Value, content: &str| {
            let kind = "Replace";
            json!({ "type": kind, "pattern": pattern, "content": content })
        };
        for (part, hostile) in [
            ("pre_tokenizer", split.clone()),
            ("pre_tokenizer", json!({ "type": "Sequence", "pretokenizers": [split] })),
            ("normalizer", replace(json!({ "Regex": "(a+)+$" }), "")),
            ("normalizer", replace(json!({ "String": "a" }), "aa")),
            ("normalizer", replace(json!({ "String": "" }), "")),
            ("normalizer", replace(json!({ "Regex": " {2,}" }), "long")),
        ] {
            let mut json = bert();
            json[part] = hostile;
            assert!(check(&json).is_err(), "{json}");
        }
        for plain in [
            replace(json!({ "Regex": " {2,}" }), " "),
            replace(json!({ "String": " " }), "▁"),
            replace(json!({ "String": "``" }), "\""),
        ] {
            let mut json = bert();
            json["normalizer"] = json!({ "type": "Sequence", "normalizers": [plain] });
            assert_eq!(check(&json), Ok(()));
        }
    }

    #[test]
    fn a_part_hidden_behind_its_own_name_is_gone() {
        let hidden = r#"{"normalizer":{"type":"Evil"},"normalizer":null,"decoder":{"type":"Evil"},
            "model":{"type":"BPE"}}"#;
        let kept = String::from_utf8(checked(hidden.as_bytes()).unwrap()).unwrap();
        assert!(!kept.contains("Evil"), "{kept}");
    }

    #[test]
    fn tables_of_characters_are_no_longer_than_they_say() {
        assert_eq!(from_base64("TWFueSBoYW5kcw==").unwrap(), b"Many hands");
        assert_eq!(from_base64("TWE=").unwrap(), b"Ma");
        assert_eq!(from_base64(""), Some(vec![]));
        assert_eq!(from_base64("a b"), None);
        // A trie of no entries and the text "a".
        assert_eq!(check_charsmap("AAAAAGEA"), Some(()));
        // A trie of 2^32 - 1 bytes, which are not there.
        assert_eq!(check_charsmap("/////w=="), None);
        assert_eq!(check_charsmap("AA=="), None);
        // 69 bytes without a zero.
        assert_eq!(check_charsmap(&format!("AAAA{}", "AGFh".repeat(23))), Some(()));
        assert_eq!(check_charsmap(&format!("AAAAAGFh{}", "YWFh".repeat(23))), None);
    }
}
