//! The tokenizer that a GGUF file has in its metadata, for a file that has no `tokenizer.json` beside it.
//!
//! It is written as such a file would say it, and then read as one, so the same checks hold. What
//! splits words is known by its name in llama.cpp; a name that is not known is refused, since a text
//! that is split in another way than in the training is read wrongly without any error.

use serde_json::{Map, Value, json};

use super::gguf::{MERGES, Metadata, TOKEN_TYPES, TOKENS};
use super::tokens::PATTERNS;

/// The kinds of a mark, of a token that users have added, and of an id without a token, whose text
/// only fills its place.
const MARK: i64 = 3;
const ADDED: i64 = 4;
const UNUSED: i64 = 5;

/// The contents of the `tokenizer.json` that says the same.
///
/// # Errors
///
/// In words, if there is no tokenizer, or one that is not known.
pub(super) fn tokenizer_json(metadata: &Metadata) -> Result<Value, String> {
    let tokens = metadata.texts(TOKENS).ok_or_else(|| lacking("it has no tokens"))?;
    let model = metadata.text("tokenizer.ggml.model").unwrap_or_default();
    if model != "gpt2" {
        return Err(lacking(&format!("its tokenizer {model:?} is not byte pairs (gpt2)")));
    }
    let merges = metadata.texts(MERGES).ok_or_else(|| lacking("it has no merges"))?;
    let pre = metadata.text("tokenizer.ggml.pre").unwrap_or("gpt-2");
    let (normalizer, split, is_llama) = split(pre)?;
    let types = metadata.wholes(TOKEN_TYPES).unwrap_or_default();
    let is_added = |kind: &i64| [MARK, ADDED].contains(kind);
    let added = tokens.iter().zip(types).enumerate().filter(|(_, (_, kind))| is_added(kind));
    let added = added.map(|(id, (text, kind))| {
        json!({
            "id": id, "content": text, "special": *kind == MARK, "normalized": false,
            "single_word": false, "lstrip": false, "rstrip": false
        })
    });
    let is_used = |id: usize| types.get(id) != Some(&UNUSED);
    let used = tokens.iter().enumerate().filter(|(id, _)| is_used(*id));
    let vocab: Map<String, Value> =
        used.clone().map(|(id, text)| (text.clone(), id.into())).collect();
    if vocab.len() < used.count() {
        return Err(lacking("two of its tokens are the same"));
    }
    Ok(json!({
        "version": "1.0",
        "added_tokens": added.collect::<Vec<_>>(),
        "normalizer": normalizer,
        "pre_tokenizer": split,
        "post_processor": mark_of_beginning(metadata, tokens, is_llama),
        "model": { "type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": is_llama },
    }))
}

/// What is done to a text and how it is split, and whether it is a Llama 3.
fn split(pre: &str) -> Result<(Value, Value, bool), String> {
    let bytes = |own_words: bool| json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": own_words });
    let pattern = |regex: &str| {
        let split = json!({
            "type": "Split", "pattern": { "Regex": regex }, "behavior": "Isolated", "invert": false
        });
        json!({ "type": "Sequence", "pretokenizers": [split, bytes(false)] })
    };
    let [_, llama, qwen] = PATTERNS;
    Ok(match pre {
        "gpt-2" => (Value::Null, bytes(true), false),
        "smollm" => {
            let digits = json!({ "type": "Digits", "individual_digits": true });
            let both = json!({ "type": "Sequence", "pretokenizers": [digits, bytes(true)] });
            (Value::Null, both, false)
        }
        "llama-bpe" => (Value::Null, pattern(llama), true),
        "qwen2" => (json!({ "type": "NFC" }), pattern(qwen), false),
        other => return Err(lacking(&format!("it splits words as {other:?} does"))),
    })
}

/// The mark that goes before a text, if the model wants one.
fn mark_of_beginning(metadata: &Metadata, tokens: &[String], is_llama: bool) -> Value {
    let wants = metadata.truth("tokenizer.ggml.add_bos_token").unwrap_or(is_llama);
    let id = metadata.token("tokenizer.ggml.bos_token_id").filter(|_| wants);
    let Some((id, mark)) = id.and_then(|id| Some((id, tokens.get(id as usize)?))) else {
        return Value::Null;
    };
    let text = |name: &str| json!({ "Sequence": { "id": name, "type_id": 0 } });
    let begin = json!({ "SpecialToken": { "id": mark, "type_id": 0 } });
    json!({
        "type": "TemplateProcessing",
        "single": [begin, text("A")],
        "pair": [begin, text("A"), text("B")],
        "special_tokens": { mark: { "id": mark, "ids": [id], "tokens": [mark] } }
    })
}

fn lacking(reason: &str) -> String {
    format!("{reason}; put the tokenizer.json of the model beside it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::local::causal::gguf::Entry;

    /// Metadata of a small tokenizer, but for what is changed.
    fn metadata(changed: &[(&str, Entry)]) -> Metadata {
        let texts = |texts: &[&str]| Entry::Texts(texts.iter().map(|t| (*t).to_string()).collect());
        let mut metadata = Metadata::default();
        for (key, value) in [
            (TOKENS, texts(&["<s>", "a", "b", "ab", "<tool>"])),
            (MERGES, texts(&["a b"])),
            (TOKEN_TYPES, Entry::Wholes(vec![3, 1, 1, 1, 4])),
            ("tokenizer.ggml.model", Entry::Text("gpt2".to_string())),
            ("tokenizer.ggml.bos_token_id", Entry::Whole(0)),
        ] {
            metadata.insert(key, value);
        }
        changed.iter().for_each(|(key, value)| metadata.insert(key, value.clone()));
        metadata
    }

    fn pre(name: &str) -> (&str, Entry) {
        ("tokenizer.ggml.pre", Entry::Text(name.to_string()))
    }

    #[test]
    fn words_are_split_as_the_name_says() {
        let of = |name: &str| tokenizer_json(&metadata(&[pre(name)])).unwrap();
        let regex =
            |json: &Value| json.pointer("/pre_tokenizer/pretokenizers/0/pattern/Regex").cloned();
        assert_eq!(of("gpt-2")["pre_tokenizer"]["use_regex"], true);
        assert_eq!(of("smollm")["pre_tokenizer"]["pretokenizers"][0]["individual_digits"], true);
        assert_eq!(regex(&of("llama-bpe")), Some(PATTERNS[1].into()));
        assert_eq!(regex(&of("qwen2")), Some(PATTERNS[2].into()));
        assert_eq!(of("qwen2")["normalizer"]["type"], "NFC");
        // A Llama 3 begins with a mark unless the file says otherwise, others only if it does.
        let mark = |json: Value| json["post_processor"]["special_tokens"]["<s>"]["ids"][0].clone();
        assert_eq!(mark(of("llama-bpe")), 0);
        assert_eq!(mark(of("qwen2")), Value::Null);
        let wants = ("tokenizer.ggml.add_bos_token", Entry::Truth(true));
        assert_eq!(mark(tokenizer_json(&metadata(&[pre("qwen2"), wants])).unwrap()), 0);
        let added = of("qwen2")["added_tokens"].clone();
        let special = |at: usize| (added[at]["content"].clone(), added[at]["special"].clone());
        assert_eq!(special(0), ("<s>".into(), true.into()));
        assert_eq!(special(1), ("<tool>".into(), false.into()));
    }

    #[test]
    fn what_is_not_known_says_what_to_do() {
        let llama = ("tokenizer.ggml.model", Entry::Text("llama".to_string()));
        for (changed, word) in [
            (vec![pre("tekken")], "as \"tekken\" does"),
            (vec![llama], "\"llama\" is not byte pairs"),
            (vec![(TOKENS, Entry::Other)], "no tokens"),
            (vec![(TOKENS, Entry::Texts(vec!["a".to_string(); 2]))], "two of its tokens"),
            (vec![(MERGES, Entry::Whole(7))], "no merges"),
        ] {
            let error = tokenizer_json(&metadata(&changed)).unwrap_err();
            assert!(error.contains(word) && error.contains("tokenizer.json"), "{error}");
        }
    }
}
