//! From a text to the ids of its tokens, with the marks a model wants around them.
//!
//! The tokenizer is a file like the others and not trusted: `allowed.rs` says what passes. It never
//! pads, and it cuts only where a model cannot read further.

use std::path::Path;

use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationDirection};

use super::NeuralError;
use super::allowed::checked;
use super::folder::{self, damaged, failed, first_line, guarded};

/// The longest text that is given to the tokenizer at once, in bytes. A model reads far less, but
/// the tokenizer would go through all of it before it is cut.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 10;

/// The parts of a text, each as long as a model can read, of whose tokens there are vectors.
pub(super) const WINDOWS_MAX: usize = 4;

/// What a model reads at once: a text, or a question and a text, with marks.
#[derive(Debug, PartialEq)]
pub(super) struct Sequence {
    pub(super) ids: Vec<u32>,
    /// Which of the two texts a token is of, where the model wants to know.
    pub(super) types: Vec<u32>,
    /// Whether a token is a mark and no part of a text.
    pub(super) marks: Vec<bool>,
}

/// A tokenizer and how much of a text its model reads.
pub(super) struct TextTokenizer {
    id: String,
    tokenizer: Tokenizer,
    tokens_max: usize,
}

impl TextTokenizer {
    /// Loads the tokenizer of a model that knows `vocab_size` tokens and reads `tokens_max` at
    /// once.
    pub(super) fn load(
        folder: &Path,
        tokens_max: usize,
        vocab_size: usize,
    ) -> Result<Self, NeuralError> {
        let file = folder.join(folder::TOKENIZER);
        let bytes = folder::read_tokenizer(folder)?;
        let load = || Tokenizer::from_bytes(checked(&bytes)?).map_err(first_line);
        let tokenizer =
            guarded(load).and_then(|loaded| loaded).map_err(|reason| damaged(&file, reason))?;
        let id_max = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
        if id_max as usize >= vocab_size {
            let reason = format!("token {id_max} is not among the {vocab_size} of the model");
            return Err(damaged(&file, reason));
        }
        let id = format!("tokenizer:{}", folder::short_hash(&bytes));
        let tokenizer = Self { id, tokenizer, tokens_max };
        match tokenizer.room(false) {
            Ok(_) => Ok(tokenizer),
            Err(reason) => Err(damaged(&file, reason)),
        }
    }

    /// Changes when the ids of a text would.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The ids of the whole text, without marks.
    pub(super) fn tokenize(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        let mut ids = Vec::new();
        for part in parts(text) {
            ids.extend_from_slice(self.encode(part)?.get_ids());
        }
        Ok(ids)
    }

    /// Each text as the model reads it: with its marks, and cut after what the model can read.
    pub(super) fn sequences(&self, texts: &[&str]) -> Result<Vec<Sequence>, NeuralError> {
        Ok(self.parts_of(texts, 1)?.into_iter().flatten().collect())
    }

    /// Each text in parts that the model can read, the first ones: each with its marks.
    pub(super) fn windows(&self, texts: &[&str]) -> Result<Vec<Vec<Sequence>>, NeuralError> {
        self.parts_of(texts, WINDOWS_MAX)
    }

    fn parts_of(&self, texts: &[&str], most: usize) -> Result<Vec<Vec<Sequence>>, NeuralError> {
        let room = self.room(false).map_err(failed)?;
        let parts = |text: &&str| {
            let mut first = self.encode(first_part(text))?;
            first.truncate(room, 0, TruncationDirection::Right);
            let others = first.take_overflowing();
            let all = std::iter::once(first).chain(others).take(most);
            all.map(|encoding| self.finish(encoding, None)).collect()
        };
        texts.iter().map(parts).collect()
    }

    /// Each text after the question. What is too long is cut off the text; of the question no more
    /// is read than half of what the model can read.
    pub(super) fn pairs(
        &self,
        question: &str,
        texts: &[&str],
    ) -> Result<Vec<Sequence>, NeuralError> {
        let room = self.room(true).map_err(failed)?;
        let mut question = self.encode(first_part(question))?;
        cut(&mut question, room.div_ceil(2));
        let room = room - question.len();
        let pair = |text: &&str| {
            let mut encoding = self.encode(first_part(text))?;
            cut(&mut encoding, room);
            encoding.set_type_ids(vec![1; encoding.len()]);
            self.finish(question.clone(), Some(encoding))
        };
        texts.iter().map(pair).collect()
    }

    /// The tokens beside the marks.
    fn room(&self, is_pair: bool) -> Result<usize, String> {
        let processor = self.tokenizer.get_post_processor();
        let marks = processor.map_or(0, |processor| processor.added_tokens(is_pair));
        let room = self.tokens_max.checked_sub(marks).filter(|room| *room >= 2);
        room.ok_or_else(|| format!("{marks} marks leave no room for a text"))
    }

    fn encode(&self, text: &str) -> Result<Encoding, NeuralError> {
        self.guarded(|| self.tokenizer.encode_fast(text, false))
    }

    fn finish(&self, encoding: Encoding, pair: Option<Encoding>) -> Result<Sequence, NeuralError> {
        let encoding = self.guarded(|| self.tokenizer.post_process(encoding, pair, true))?;
        match encoding.len() {
            0 => return Err(failed("the tokenizer gives no token")),
            length if length > self.tokens_max => {
                return Err(failed(format!("the tokenizer gives {length} tokens")));
            }
            _ => {}
        }
        Ok(Sequence {
            ids: encoding.get_ids().to_vec(),
            types: encoding.get_type_ids().to_vec(),
            marks: encoding.get_special_tokens_mask().iter().map(|mask| *mask != 0).collect(),
        })
    }

    fn guarded(
        &self,
        run: impl FnOnce() -> tokenizers::Result<Encoding>,
    ) -> Result<Encoding, NeuralError> {
        guarded(run).map_err(failed)?.map_err(failed)
    }
}

/// Keeps the first tokens and nothing of the others.
fn cut(encoding: &mut Encoding, tokens: usize) {
    encoding.truncate(tokens, 0, TruncationDirection::Right);
    drop(encoding.take_overflowing());
}

/// The beginning of a text, at most [`TEXT_BYTES_MAX`] long and ending between two characters.
fn first_part(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

/// The whole text in parts of at most [`TEXT_BYTES_MAX`], which end after a space where one is.
fn parts(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut part = first_part(text);
        if part.len() < text.len() {
            let space = part.rfind(char::is_whitespace).filter(|space| *space > 0);
            part = &part[..space.unwrap_or(part.len())];
        }
        text = &text[part.len()..];
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_text() {
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(first_part(&long).len(), TEXT_BYTES_MAX);
        assert_eq!(first_part(&format!("a{long}")).len(), TEXT_BYTES_MAX - 1);
        assert_eq!(first_part("short"), "short");
        assert_eq!(parts("").count(), 0);
        assert_eq!(parts("a b").collect::<Vec<_>>(), ["a b"]);
        let words = "some words ".repeat(20_000);
        for text in [long.as_str(), &words, &" ".repeat(3 * TEXT_BYTES_MAX)] {
            let parts: Vec<&str> = parts(text).collect();
            assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= TEXT_BYTES_MAX));
            assert_eq!(parts.concat(), text);
        }
        assert!(parts(&words).all(|part| part.trim().ends_with("some")
            || part.ends_with("words ")
            || part.trim().ends_with("words")));
    }
}
