//! The tokenizer of a language model: byte pairs, read without trusting the file.
//!
//! A tokenizer file can hold any regular expression, and some of them run for ever. So only the
//! parts that the known families have pass, and of the expressions only those that GPT-2, Llama 3
//! and Qwen split words with, letter by letter.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

use crate::neural::NeuralError;
use crate::neural::local::folder::{self, damaged, first_line, guarded};

use super::gguf_tokenizer::tokenizer_json;
use super::weights::{Weights, absent};

/// The largest tokenizer that is read, in bytes.
const TOKENIZER_BYTES_MAX: u64 = 64 << 20;
/// The most tokens that are looked for in a text before it is split.
const ADDED_MAX: usize = 1 << 14;
/// The longest of them, in bytes.
const ADDED_BYTES_MAX: usize = 256;
/// The most pieces a text is put between, such as the mark of its beginning.
const TEMPLATE_MAX: usize = 8;
/// The most parts in a sequence of parts.
const PARTS_MAX: usize = 8;

/// What words are split with, besides the expression built into `ByteLevel`.
pub(super) const PATTERNS: [&str; 3] = [
    // GPT-2 and SmolLM.
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    // Llama 3.
    concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    // Qwen2 and Qwen3.
    concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
];

/// Tokens that end a line or a text, by the names they have in the vocabularies.
const ENDS: [&str; 10] = [
    // A line feed, and two, as GPT-2 writes them; and as Llama 2 does.
    "\u{10a}",
    "\u{10a}\u{10a}",
    "<0x0A>",
    "</s>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
];

/// Reads the tokenizer of a folder whose model has so many tokens, and what the id of the model
/// is made of besides its weights: all of the file. Without `tokenizer.json` it is that of the GGUF file.
pub(super) fn read_tokenizer(
    folder: &Path,
    weights: &Weights,
    vocab_size: usize,
) -> Result<(Tokenizer, Vec<u8>), NeuralError> {
    let file = folder.join(folder::TOKENIZER);
    match (folder::read(&file, TOKENIZER_BYTES_MAX)?, weights.metadata()) {
        (Some(bytes), _) => read(&file, bytes, vocab_size),
        (None, Some(metadata)) => {
            let json = tokenizer_json(metadata);
            let json = json.map_err(|reason| damaged(weights.main(), reason))?;
            read(weights.main(), json.to_string().into_bytes(), vocab_size)
        }
        (None, None) => Err(absent(file)),
    }
}

/// Makes a tokenizer of what `tokenizer.json` says; errors are about `file`.
fn read(
    file: &Path,
    bytes: Vec<u8>,
    vocab_size: usize,
) -> Result<(Tokenizer, Vec<u8>), NeuralError> {
    let blame = |reason: String| damaged(file, reason);
    let mut json: Value =
        serde_json::from_slice(&bytes).map_err(|error| blame(first_line(error)))?;
    check(&json).map_err(blame)?;
    // Nothing is ever turned back into text, and a decoder may hold expressions of its own.
    for unused in ["decoder", "truncation", "padding"] {
        json[unused] = Value::Null;
    }
    let load = || -> tokenizers::Result<Tokenizer> {
        let mut tokenizer = Tokenizer::from_bytes(json.to_string())?;
        // A text that spells out the name of a mark does not write the mark.
        tokenizer.set_encode_special_tokens(true);
        Ok(tokenizer)
    };
    let tokenizer = guarded(load).and_then(|made| made.map_err(first_line)).map_err(blame)?;
    let id_max = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
    if id_max as usize >= vocab_size {
        let reason = format!("token {id_max} is not among the {vocab_size} of the model");
        return Err(blame(reason));
    }
    Ok((tokenizer, bytes))
}

/// The tokens after which a key is at its end: those the model's file names, and a line's end.
pub(super) fn end_tokens(tokenizer: &Tokenizer, named: &[u32], vocab_size: usize) -> Vec<u32> {
    let mut ends = named.to_vec();
    ends.extend(ENDS.iter().filter_map(|name| tokenizer.token_to_id(name)));
    ends.retain(|id| (*id as usize) < vocab_size);
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// The ids of a text, with the mark at its beginning if `marked` and the model wants one.
pub(super) fn encode(tokenizer: &Tokenizer, text: &str, marked: bool) -> Result<Vec<u32>, String> {
    let encoding = guarded(|| tokenizer.encode_fast(text, marked))?.map_err(first_line)?;
    Ok(encoding.get_ids().to_vec())
}

/// The bytes that each token writes, by its id; none for marks, and for ids without a token.
pub(super) fn token_bytes(tokenizer: &Tokenizer, vocab_size: usize) -> Vec<Vec<u8>> {
    let bytes_of = bytes_of(tokenizer);
    let mut tokens = vec![Vec::new(); vocab_size];
    for (name, id) in tokenizer.get_vocab(false) {
        if let Some(token) = tokens.get_mut(id as usize) {
            *token = bytes_of(&name, id);
        }
    }
    tokens
}

/// What these tokens write together; bytes that are no character are marked as such.
pub(super) fn text(tokenizer: &Tokenizer, ids: &[u32]) -> String {
    let bytes_of = bytes_of(tokenizer);
    let names = ids.iter().filter_map(|id| Some((tokenizer.id_to_token(*id)?, *id)));
    let bytes: Vec<u8> = names.flat_map(|(name, id)| bytes_of(&name, id)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The bytes that a token writes, by its name and id; none for marks.
fn bytes_of(tokenizer: &Tokenizer) -> impl Fn(&str, u32) -> Vec<u8> {
    let stand_ins = tokenizer.get_pre_tokenizer().is_some_and(is_byte_level).then(stand_ins);
    let marks = tokenizer.get_added_vocabulary().get_added_tokens_decoder();
    move |name, id| {
        let bytes = match &stand_ins {
            _ if marks.contains_key(&id) => None,
            // A token that is not written in stand-ins writes nothing.
            Some(bytes) => name.chars().map(|c| bytes.get(&c).copied()).collect(),
            None => Some(piece_bytes(name)),
        };
        bytes.unwrap_or_default()
    }
}

fn is_byte_level(part: &PreTokenizerWrapper) -> bool {
    match part {
        PreTokenizerWrapper::ByteLevel(_) => true,
        PreTokenizerWrapper::Sequence(parts) => parts.as_ref().iter().any(is_byte_level),
        _ => false,
    }
}

/// The characters that stand for bytes in a vocabulary, as GPT-2 has them: printable ones for
/// themselves, the others in order from U+0100 on.
fn stand_ins() -> HashMap<char, u8> {
    let is_printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let (printable, others): (Vec<u8>, Vec<u8>) = (0..=u8::MAX).partition(is_printable);
    let printable = printable.into_iter().map(|byte| (char::from(byte), byte));
    printable.chain(('\u{100}'..).zip(others)).collect()
}

/// The bytes of a piece as SentencePiece writes them: `<0x0A>` is a byte, `▁` a blank.
fn piece_bytes(name: &str) -> Vec<u8> {
    let byte = name.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    let byte = byte.filter(|digits| digits.len() == 2).map(|digits| u8::from_str_radix(digits, 16));
    match byte {
        Some(Ok(byte)) => vec![byte],
        _ => name.replace('▁', " ").into_bytes(),
    }
}

/// Lets only the known parts pass.
fn check(json: &Value) -> Result<(), String> {
    if json.pointer("/model/type").and_then(Value::as_str) != Some("BPE") {
        return Err("model/type is not BPE".to_string());
    }
    for unknown in ["dropout", "continuing_subword_prefix", "end_of_word_suffix"] {
        let value = &json["model"][unknown];
        if !value.is_null() && value.as_str() != Some("") {
            return Err(format!("model/{unknown} is not supported"));
        }
    }
    check_parts(&json["normalizer"], "normalizers", &|part| match kind(part) {
        "NFC" => Ok(()),
        name => Err(format!("the normalizer {name:?} is not known")),
    })?;
    check_parts(&json["pre_tokenizer"], "pretokenizers", &check_split)?;
    check_parts(&json["post_processor"], "processors", &check_template)?;
    check_added(&json["added_tokens"])
}

/// Checks a part, or each part of a sequence; no part at all passes.
fn check_parts(
    part: &Value,
    list: &str,
    check: &dyn Fn(&Value) -> Result<(), String>,
) -> Result<(), String> {
    match part[list].as_array() {
        _ if part.is_null() => Ok(()),
        Some(parts) if kind(part) == "Sequence" && parts.len() <= PARTS_MAX => {
            parts.iter().try_for_each(check)
        }
        _ => check(part),
    }
}

fn check_split(part: &Value) -> Result<(), String> {
    match kind(part) {
        "ByteLevel" | "Metaspace" | "Digits" => Ok(()),
        "Split" => {
            let pattern = part.pointer("/pattern/Regex").and_then(Value::as_str);
            let known = pattern.is_some_and(|pattern| PATTERNS.contains(&pattern));
            if known { Ok(()) } else { Err("it splits words in an unknown way".to_string()) }
        }
        name => Err(format!("the pre-tokenizer {name:?} is not known")),
    }
}

fn check_template(part: &Value) -> Result<(), String> {
    match kind(part) {
        "ByteLevel" => Ok(()),
        "TemplateProcessing" => {
            let pieces = part["single"].as_array().map_or(0, Vec::len);
            let marks = part["special_tokens"].as_object();
            let ids = marks.map_or(0, |marks| {
                marks.values().map(|mark| mark["ids"].as_array().map_or(0, Vec::len)).sum()
            });
            if pieces.max(ids) <= TEMPLATE_MAX {
                return Ok(());
            }
            Err(format!("it puts a text between more than {TEMPLATE_MAX} marks"))
        }
        name => Err(format!("the post-processor {name:?} is not known")),
    }
}

fn check_added(tokens: &Value) -> Result<(), String> {
    let tokens = tokens.as_array().map(Vec::as_slice).unwrap_or_default();
    let too_long = |token: &&Value| {
        let content = token["content"].as_str();
        content.is_none_or(|content| content.is_empty() || content.len() > ADDED_BYTES_MAX)
    };
    match tokens.iter().find(too_long) {
        _ if tokens.len() > ADDED_MAX => {
            Err(format!("{} added tokens are above {ADDED_MAX}", tokens.len()))
        }
        Some(_) => Err(format!("an added token is not of 1 to {ADDED_BYTES_MAX} bytes")),
        None => Ok(()),
    }
}

fn kind(part: &Value) -> &str {
    part["type"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_known_parts_pass() {
        let good = json!({
            "model": { "type": "BPE", "dropout": null, "continuing_subword_prefix": "" },
            "normalizer": { "type": "NFC" },
            "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
                { "type": "Split", "pattern": { "Regex": PATTERNS[2] } }, { "type": "ByteLevel" }
            ]},
            "post_processor": { "type": "TemplateProcessing", "single": [] },
            "added_tokens": [{ "content": "</s>" }]
        });
        assert_eq!(check(&good), Ok(()));
        let template = json!({ "type": "TemplateProcessing", "single": vec![json!({}); 9] });
        let marks = json!({
            "type": "TemplateProcessing", "special_tokens": { "a": { "ids": vec![1; 9] } }
        });
        let deep = json!({ "type": "Sequence", "pretokenizers": [
            { "type": "Sequence", "pretokenizers": [{ "type": "ByteLevel" }] }
        ]});
        let hidden = json!({ "type": "Split", "pretokenizers": [] });
        for (place, value, word) in [
            ("/model/type", json!("Unigram"), "BPE"),
            ("/model/dropout", json!(0.5), "dropout"),
            ("/normalizer/type", json!("Replace"), "Replace"),
            ("/pre_tokenizer/pretokenizers/0/pattern/Regex", json!("(a+)+b"), "unknown way"),
            ("/pre_tokenizer/pretokenizers/0/pattern", json!({ "String": "a" }), "unknown way"),
            ("/pre_tokenizer/pretokenizers/1/type", json!("Punctuation"), "Punctuation"),
            ("/pre_tokenizer", deep, "Sequence"),
            ("/pre_tokenizer", hidden, "unknown way"),
            ("/post_processor", template, "marks"),
            ("/post_processor", marks, "marks"),
            ("/post_processor/type", json!("BertProcessing"), "BertProcessing"),
            ("/added_tokens", vec![json!({ "content": "a" }); ADDED_MAX + 1].into(), "above"),
            ("/added_tokens/0/content", json!("a".repeat(257)), "256 bytes"),
            ("/added_tokens/0/content", json!(""), "256 bytes"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value;
            let error = check(&bad).unwrap_err();
            assert!(error.contains(word), "{place}: {error}");
        }
    }
}
