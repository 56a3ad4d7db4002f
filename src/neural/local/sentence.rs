//! Sentence embeddings with all-MiniLM-L6-v2, or another sentence model of the BERT family.
//!
//! A text becomes tokens, at most as many as the model was trained for, the tokens become rows, and
//! the rows, pooled and brought to length 1, are the vector. What stands for the text as a whole is
//! for search; for late interaction each token has a vector of its own. That one is of two layers: the
//! last one has made of a word what the whole text is about, and after two thirds of the layers it
//! still stands for itself.
//!
//! ```text
//! token   unit(unit(row after two thirds of the layers) / 2, unit(row after the last))
//! ```

use std::fmt;
use std::path::Path;
use std::thread;

use candle_core::{DType, Device};
use candle_nn::VarBuilder;

use super::batches::{self, Rows};
use super::config::Config;
use super::encoder::{Encoder, base};
use super::folder::{self, damaged, failed, first_line, guarded, panic_text};
use super::pooling::{Pooling, read_tokens_max, unit};
use super::tokens::{Sequence, TextTokenizer};
use super::{Embedder, NeuralError, TokenVectors, WithTokens};
use crate::threads::cores;

/// What a model reads if the folder does not say: what all-MiniLM-L6-v2 was trained for, in tokens.
const TOKENS_DEFAULT: usize = 256;
/// The name of the default model, and the weights that are known to be it.
const KNOWN_NAME: &str = "all-MiniLM-L6-v2";
const KNOWN_HASH: &str = "53aa51172d14";
/// How long the part of a token's vector that is after two thirds of the layers is, where the other
/// has length 1.
const MIDDLE: f32 = 0.5;

/// A sentence model on the CPU: all-MiniLM-L6-v2, or another one of the families BERT, RoBERTa,
/// XLM-RoBERTa, DistilBERT and MPNet, as sentence-transformers saves them.
///
/// It may be shared between threads. A text has the same vector, to the last bit, whatever it is
/// embedded with and on however many threads. all-MiniLM-L6-v2 takes some 90 MB of memory, and about
/// as much again for a moment while it loads.
pub struct SentenceModel {
    id: String,
    tokenizer: TextTokenizer,
    encoder: Encoder,
    pooling: Pooling,
}

impl SentenceModel {
    /// Loads the model that [`model_folder`](super::model_folder) names.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), and [`NeuralError::NoFolder`].
    pub fn load_default() -> Result<Self, NeuralError> {
        Self::load(&super::model_folder()?)
    }

    /// Loads the model from a folder that holds `model.safetensors`, `tokenizer.json` and, unless
    /// its sizes are those of all-MiniLM-L6-v2, `config.json`.
    ///
    /// `modules.json` and `1_Pooling/config.json` say how the rows of the tokens become one vector
    /// (their mean, the first, the largest numbers; the mean without the files), and
    /// `sentence_bert_config.json` how many tokens are read of a text (256 without it). A vector
    /// has length 1 whether or not they ask for it. Nothing is put before a text.
    ///
    /// Its id is its name, the first 12 hex digits of the SHA-256 of the weights, and the pooling
    /// if that is not the mean. The name is that of the folder, but weights known to be
    /// all-MiniLM-L6-v2 are called that wherever they lie, so that a moved folder does not make the
    /// stored vectors strangers.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Missing`] without weights or tokenizer, [`NeuralError::Damaged`] if a file
    /// is not what it should be and [`NeuralError::Unreadable`] if it cannot be read.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        let weights = folder::read_weights(folder)?;
        let config = folder::read_config(folder)?;
        let pooling = Pooling::read(folder)?;
        let tokens_max = read_tokens_max(folder, config.sequence_max(), TOKENS_DEFAULT)?;
        let load = |vb: &VarBuilder<'_>| Encoder::load(&base(vb, config.model_type), &config);
        let parts = load_parts(folder, &weights, &config, tokens_max, load)?;
        let name = folder::name_of(folder).filter(|_| parts.hash != KNOWN_HASH);
        let name = name.as_deref().unwrap_or(KNOWN_NAME);
        let id = format!("{name}:{}{}", parts.hash, pooling.suffix());
        let model = Self { id, tokenizer: parts.tokenizer, encoder: parts.model, pooling };
        try_out(folder, || model.embed(&[""]).map(|_| ()))?;
        Ok(model)
    }

    /// Embeds with so many batches at once at most.
    fn embed_on(&self, threads: usize, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let sequences = self.tokenizer.sequences(texts)?;
        let pool =
            |_: &Sequence, rows: Rows<'_>| self.pooling.pool(rows.last, self.encoder.width());
        batches::run(&self.encoder, &sequences, threads, pool)
    }
}

impl fmt::Debug for SentenceModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The weights and the vocabulary would fill a book.
        f.debug_struct("SentenceModel").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Embedder for SentenceModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.encoder.width()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        self.embed_on(cores(), texts)
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<TokenVectors>>, NeuralError> {
        Ok(self.embed_with_tokens(texts)?.1)
    }

    /// A vector is that of the beginning of its text, as far as the model reads at once; the tokens are those of
    /// up to four such parts, each read by itself.
    fn embed_with_tokens(&self, texts: &[&str]) -> Result<WithTokens, NeuralError> {
        let (mut owners, mut sequences) = (Vec::new(), Vec::new());
        for (text, windows) in self.tokenizer.windows(texts)?.into_iter().enumerate() {
            owners.extend(std::iter::repeat_n(text, windows.len()));
            sequences.extend(windows);
        }
        let width = self.encoder.width();
        let both = |sequence: &Sequence, rows: Rows<'_>| {
            Some((self.pooling.pool(rows.last, width)?, token_vectors(sequence, rows, width)?))
        };
        let parts = batches::run(&self.encoder, &sequences, cores(), both);
        let parts = parts.map_err(|error| match error {
            NeuralError::NotFinite { text } => NeuralError::NotFinite { text: owners[text] },
            error => error,
        })?;
        let (mut vectors, mut all) = (Vec::new(), Vec::<TokenVectors>::new());
        for (owner, (vector, tokens)) in owners.into_iter().zip(parts) {
            match all.get_mut(owner) {
                Some(held) => held.values.extend(tokens.values),
                None => {
                    vectors.push(vector);
                    all.push(tokens);
                }
            }
        }
        Ok((vectors, Some(all)))
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        self.tokenizer.tokenize(text)
    }

    fn tokenizer_id(&self) -> &str {
        self.tokenizer.id()
    }
}

/// Of the tokens that are no marks, the rows of both layers one after the other, of length 1.
fn token_vectors(sequence: &Sequence, rows: Rows<'_>, width: usize) -> Option<TokenVectors> {
    let length = MIDDLE.hypot(1.0);
    let mut values = Vec::with_capacity(2 * rows.last.len());
    let of_one = rows.middle.chunks_exact(width).zip(rows.last.chunks_exact(width));
    for ((middle, last), mark) in of_one.zip(&sequence.marks) {
        if !mark {
            values.extend(unit(middle.to_vec())?.into_iter().map(|x| x * MIDDLE / length));
            values.extend(unit(last.to_vec())?.into_iter().map(|x| x / length));
        }
    }
    Some(TokenVectors { dimensions: 2 * width, values })
}

/// What a folder gave: the weights as a model, what they hash to, and the tokenizer.
pub(super) struct Parts<M> {
    pub(super) model: M,
    pub(super) hash: String,
    pub(super) tokenizer: TextTokenizer,
}

/// Loads the tokenizer and makes a model of the weights.
pub(super) fn load_parts<M>(
    folder: &Path,
    weights: &[u8],
    config: &Config,
    tokens_max: usize,
    load: impl FnOnce(&VarBuilder<'_>) -> candle_core::Result<M>,
) -> Result<Parts<M>, NeuralError> {
    // Hashing all the weights takes some 50 ms of one core, so it runs beside the rest if there is a thread.
    thread::scope(|scope| {
        let hash = thread::Builder::new().spawn_scoped(scope, || folder::short_hash(weights));
        let tokenizer = TextTokenizer::load(folder, tokens_max, config.vocab_size)?;
        let load = || load(&VarBuilder::from_slice_safetensors(weights, DType::F32, &Device::Cpu)?);
        let model = guarded(load)
            .and_then(|loaded| loaded.map_err(first_line))
            .map_err(|reason| damaged(&folder.join(folder::WEIGHTS), reason))?;
        let hash = match hash {
            Ok(beside) => beside.join().map_err(|payload| failed(panic_text(payload.as_ref())))?,
            Err(_) => folder::short_hash(weights),
        };
        Ok(Parts { model, hash, tokenizer })
    })
}

/// Runs a model on an empty text, so that parts that do not fit together are found at once.
pub(super) fn try_out(
    folder: &Path,
    run: impl FnOnce() -> Result<(), NeuralError>,
) -> Result<(), NeuralError> {
    run().map_err(|error| match error {
        NeuralError::Failed { reason } => damaged(&folder.join(folder::TOKENIZER), reason),
        error => damaged(&folder.join(folder::WEIGHTS), error.to_string()),
    })
}

#[cfg(test)]
mod tests;
