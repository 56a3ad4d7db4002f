//! A causal language model: Llama, SmolLM, Qwen2, Qwen2.5 or Qwen3, on the CPU. It writes keys, and
//! answers that are held to a grammar.
//!
//! For a key it is asked as SCG-MEM asks it: a short text with examples, the question, and then
//! the place where the key would stand. The text is the same for every question but for the
//! question, so its beginning is run once, when the model is loaded, and the question once for
//! all beams; a step of the search then costs one token for each beam.
//!
//! ```text
//!   config.rs    the sizes of a model
//!   weights.rs   its tensors, from safetensors or GGUF
//!   gguf.rs      the header of a GGUF file
//!   tokens.rs    its tokenizer, from `tokenizer.json`
//!   gguf_tokenizer.rs   or from a GGUF file
//!   llama.rs     the decoder
//!   session.rs   at work on another text than a question
//!   reader.rs    how uncertain it is of an answer
//! ```
//!
//! Whatever the files hold, the answer is a model or a [`NeuralError`]. The model only says how
//! likely each token is, and a trie or a grammar which may come; what it writes without either is
//! never more than a text to search by.

mod config;
mod gguf;
mod gguf_tokenizer;
mod llama;
mod place;
mod reader;
mod session;
mod tokens;
mod weights;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::path::Path;

use candle_core::Tensor;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;

use self::llama::{Llama, Own, Shared};
pub use self::reader::LocalReader;
pub(crate) use self::session::Prefix;
use self::weights::Weights;
use super::beams::Beams;
use super::folder::{self, damaged, first_line, guarded};
use super::keys::{KeyModel, KeyWriter, Logits};
use super::{NeuralError, cut};
use crate::text;

/// What the model reads before the question. A key follows after `Key:` and a space, and a line
/// ends it.
const PROMPT: &str = "\
Each memory is filed under a short key: the name or the keyword it is about. \
For each question, this is the key of the memory that answers it.

Question: Where does Maria's brother work now?
Key: Maria's brother

Question: Which film did we see in the summer of 2019?
Key: film

Question: How is Tom's knee since the operation?
Key: knee operation

Question:";
/// What it reads after the question.
const PROMPT_END: &str = "\nKey:";
/// The longest question that is read, in bytes; what lies after is not.
const QUESTION_BYTES_MAX: usize = 2 << 10;
/// The longest key that is taken apart, in bytes.
const KEY_BYTES_MAX: usize = 64 << 10;
/// How many tokens of a prompt are run at once; attention takes memory by the square of them.
const CHUNK_TOKENS: usize = 256;

/// A causal language model on the CPU, as a writer of keys and of what is drawn from turns.
///
/// It may be shared between threads. Weights that are not quantised are held as `f32`.
pub struct CausalLm {
    id: String,
    tokenizer: Tokenizer,
    model: Llama,
    /// The tokens that end a key.
    ends: Vec<u32>,
    /// [`PROMPT`], run.
    prompt: Shared,
}

impl CausalLm {
    /// Loads a model of the families Llama, Qwen2 or Qwen3 from a folder that holds one `.gguf`
    /// file, or `tokenizer.json`, `config.json` and `model.safetensors` (or
    /// `model.safetensors.index.json` and the files it names). A `tokenizer.json` beside a `.gguf`
    /// file goes before the tokenizer in it.
    ///
    /// Its id is the name of the folder and the first 12 hex digits of a SHA-256 over its files.
    /// Weights of 16 GiB at most are read; those of 16 bits take twice as much memory as on disk.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Damaged`] if a file is not what it should be, or asks for something that is
    /// not supported, and [`NeuralError::Unreadable`] if one is not there or cannot be read.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        let mut weights = Weights::open(folder)?;
        let config = weights.read_config(folder)?;
        let (tokenizer, tokenizer_bytes) =
            tokens::read_tokenizer(folder, &weights, config.vocab_size)?;
        let ends = tokens::end_tokens(&tokenizer, &config.ends, config.vocab_size);
        if ends.is_empty() {
            let file = folder.join(folder::TOKENIZER);
            return Err(damaged(&file, "it has no token for the end of a line or a text"));
        }
        let model = Llama::load(&mut weights, config)?;
        let main = weights.main().to_path_buf();
        let hash = short_hash(&weights.hash(), &tokenizer_bytes);
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let id = format!("{}:{hash}", name.unwrap_or_else(|| "model".to_string()));
        let mut loaded = Self { id, tokenizer, model, ends, prompt: Shared::default() };
        // Parts that do not fit together are found here.
        let blame = |reason: String| damaged(&main, reason);
        let ids = tokens::encode(&loaded.tokenizer, PROMPT, true).map_err(blame)?;
        let (prompt, _) = loaded.read(Shared::default(), &ids).map_err(blame)?;
        loaded.prompt = prompt;
        Ok(loaded)
    }

    /// Runs the tokens after the shared ones and gives the scores of what comes next.
    fn read(&self, mut shared: Shared, ids: &[u32]) -> Result<(Shared, Logits), String> {
        let mut last = None;
        for chunk in ids.chunks(CHUNK_TOKENS) {
            let run = || self.model.forward(chunk, 1, &shared, &Own::default());
            let (scores, own) = guarded(run)?.map_err(first_line)?;
            shared = guarded(|| shared.with(&own))?.map_err(first_line)?;
            last = Some(scores);
        }
        let scores = last.ok_or("the tokenizer gives no token")?;
        let logits = self.logits(&scores)?.into_iter().next();
        Ok((shared, logits.ok_or("no scores came out")?))
    }

    /// A row of scores for each beam: (beams, vocab_size).
    fn logits(&self, scores: &Tensor) -> Result<Vec<Logits>, String> {
        let rows: Vec<Vec<f32>> = scores.to_vec2().map_err(first_line)?;
        if rows.iter().flatten().any(|score| !score.is_finite()) {
            return Err("what comes out is not finite".to_string());
        }
        let logits = |tokens: Vec<f32>| {
            let ends = self.ends.iter().filter_map(|id| tokens.get(*id as usize)).copied();
            Logits { end: log_sum_exp(ends), tokens }
        };
        Ok(rows.into_iter().map(logits).collect())
    }
}

impl fmt::Debug for CausalLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CausalLm").field("id", &self.id).finish_non_exhaustive()
    }
}

impl KeyModel for CausalLm {
    fn id(&self) -> &str {
        &self.id
    }

    fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError> {
        if key.len() > KEY_BYTES_MAX {
            let length = key.len();
            return Err(failed(format!("a key of {length} bytes is above {KEY_BYTES_MAX}")));
        }
        // In the prompt a key stands after a space.
        tokens::encode(&self.tokenizer, &format!(" {key}"), false).map_err(failed)
    }

    fn text(&self, ids: &[u32]) -> Result<String, NeuralError> {
        Ok(tokens::text(&self.tokenizer, ids))
    }

    fn start<'m>(&'m self, question: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        let words: Vec<&str> = cut(question, QUESTION_BYTES_MAX).split_whitespace().collect();
        let text = format!(" {}{PROMPT_END}", words.join(" "));
        let ids = tokens::encode(&self.tokenizer, &text, false).map_err(failed)?;
        let (prompt, first) = self.read(self.prompt.clone(), &ids).map_err(failed)?;
        let (beams, own) = (Beams::new(), Own::default());
        Ok(Box::new(Writer { model: self, prompt, first, beams, own }))
    }
}

/// The model at work on one question.
struct Writer<'m> {
    model: &'m CausalLm,
    /// The prompt and the question.
    prompt: Shared,
    /// What comes after them.
    first: Logits,
    /// The places of the prefixes in `own`.
    beams: Beams,
    own: Own,
}

impl KeyWriter for Writer<'_> {
    fn next(&mut self, prefixes: &[&[u32]]) -> Result<Vec<Logits>, NeuralError> {
        let Some(length) = prefixes.first().map(|prefix| prefix.len()) else {
            return Ok(Vec::new());
        };
        if length == 0 {
            self.beams = Beams::new();
            self.own = Own::default();
            return Ok(vec![self.first.clone(); prefixes.len()]);
        }
        let (parents, ids) = self.beams.parents(prefixes)?;
        if ids.iter().any(|id| *id as usize >= self.model.model.vocab_size()) {
            return Err(failed("a token is not one of the model's"));
        }
        let run = || {
            let own = self.own.select(&parents)?;
            self.model.model.forward(&ids, ids.len(), &self.prompt, &own)
        };
        let (scores, own) = guarded(run).and_then(|run| run.map_err(first_line)).map_err(failed)?;
        let logits = self.model.logits(&scores).map_err(failed)?;
        self.own = own;
        self.beams.step(prefixes);
        Ok(logits)
    }
}

fn failed(reason: impl Into<String>) -> NeuralError {
    NeuralError::Failed { reason: reason.into() }
}

/// The score of one of several tokens being next.
fn log_sum_exp(scores: impl Iterator<Item = f32> + Clone) -> f32 {
    let max = scores.clone().fold(f32::NEG_INFINITY, f32::max);
    if max == f32::NEG_INFINITY {
        max
    } else {
        max + scores.map(|x| (x - max).exp()).sum::<f32>().ln()
    }
}

fn short_hash(weights: &str, tokenizer: &[u8]) -> String {
    let hash = Sha256::new().chain_update(weights).chain_update(tokenizer).finalize();
    text::hex(&hash[..6])
}
