//! A small decoder that is trained inside the database to write the keys of a text.
//!
//! It begins from the embedding of a text and says, token by token, how likely each continuation
//! is. It learns from texts and their keys, and only among the continuations that the schema
//! allows: what cannot follow takes no share of the probability (SCG-MEM, eq. 5-6, in the loss).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use candle_core::{Device, Result as CandleResult, Tensor};
use candle_nn::ops::log_softmax;
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use sha2::{Digest, Sha256};

use super::gru::{self, Gru};
use crate::neural::bytes::{Reader, Writer};
use crate::neural::local::beams::Beams;
use crate::neural::local::folder::{first_line, guarded};
use crate::neural::{Embedder, KeyModel, KeyWriter, Logits, NeuralError};
use crate::random::SplitMix64;
use crate::text;

/// The most pairs that are learned from.
const PAIRS_MAX: usize = 1_000_000;
/// The most different tokens in the keys.
const TOKENS_MAX: usize = 1 << 17;
/// The longest key that is learned, in tokens.
const KEY_TOKENS_MAX: usize = 64;
/// The most numbers in an embedding.
const WIDTH_MAX: usize = 1 << 14;
/// The largest weight, above any that a training gives.
const WEIGHT_MAX: f32 = 1e6;
/// How many pairs a step looks at, and how often all pairs are gone through; but never more than
/// so many steps.
const BATCH: usize = 32;
const EPOCHS: usize = 20;
const STEPS_MAX: usize = 5_000;
/// The length of the first step; it falls to nothing with the last.
const RATE: f64 = 2e-3;
const WEIGHT_DECAY: f64 = 0.01;
/// Added to the score of what may not follow.
const FORBIDDEN: f32 = -1e9;
/// What a stored decoder begins with: its name and the version of the form.
const MAGIC: &[u8; 5] = b"EGKD\x01";

/// What may follow a prefix in the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowed {
    /// The tokens.
    pub tokens: Vec<u32>,
    /// Whether the prefix is a key.
    pub end: bool,
}

/// A decoder that was trained.
pub struct KeyDecoder {
    id: String,
    /// How many numbers the embedding of a text has.
    width: usize,
    /// The tokens that are known, in order; each is a column, and the last column is the end.
    tokens: Vec<u32>,
    gru: Gru,
    /// The cross-entropy of the last round, in nats a token.
    loss: f32,
}

impl KeyDecoder {
    /// Learns from embeddings and the token ids of the keys that belong to them. `allowed` says
    /// what may follow a prefix in the schema, which must hold every one of the keys.
    ///
    /// The same pairs and seed give the same decoder to the last bit on one machine.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Training`] if there is no pair or more than a million, if a key is empty,
    /// longer than 64 tokens or not allowed, or if the embeddings are not finite or not of one
    /// length.
    pub fn train(
        pairs: &[(&[f32], &[u32])],
        allowed: &dyn Fn(&[u32]) -> Allowed,
        seed: u64,
    ) -> Result<Self, NeuralError> {
        let failed = |reason| NeuralError::Training { reason };
        let width = check(pairs).map_err(failed)?;
        let mut tokens: Vec<u32> = pairs.iter().flat_map(|(_, key)| *key).copied().collect();
        tokens.sort_unstable();
        tokens.dedup();
        if tokens.len() > TOKENS_MAX {
            return Err(failed(format!("{} tokens are above {TOKENS_MAX}", tokens.len())));
        }
        let masks = Masks::new(pairs, &tokens, allowed).map_err(failed)?;
        let train = || train(pairs, &tokens, &masks, width, seed);
        let trained = guarded(train).and_then(|done| done.map_err(first_line));
        let (gru, loss) = trained.map_err(failed)?;
        Self::new(width, tokens, gru, loss).map_err(failed)
    }

    fn new(width: usize, tokens: Vec<u32>, gru: Gru, loss: f32) -> Result<Self, String> {
        let mut decoder = Self { id: String::new(), width, tokens, gru, loss };
        let numbers = decoder.gru.numbers().map_err(first_line)?;
        let sound = numbers.iter().flatten().all(|x| x.abs() <= WEIGHT_MAX);
        if !sound || !loss.is_finite() {
            return Err("a weight is too large".to_string());
        }
        let hash = Sha256::digest(decoder.bytes(&numbers));
        decoder.id = format!("decoder:{}", text::hex(&hash[..6]));
        Ok(decoder)
    }

    /// The cross-entropy of the last round of the training, in nats a token.
    pub fn loss(&self) -> f32 {
        self.loss
    }

    /// The decoder as bytes, to be stored.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if its weights cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NeuralError> {
        Ok(self.bytes(&self.gru.numbers().map_err(failed)?))
    }

    fn bytes(&self, numbers: &[Vec<f32>]) -> Vec<u8> {
        let mut out = Writer::new(MAGIC);
        out.u32(self.width as u32);
        out.u32(self.tokens.len() as u32);
        self.tokens.iter().for_each(|token| out.u32(*token));
        numbers.iter().flatten().for_each(|x| out.f32(*x));
        out.f32(self.loss);
        out.done()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) made.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Stored`] if the bytes are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NeuralError> {
        read(bytes).map_err(|reason| NeuralError::Stored { reason: format!("decoder: {reason}") })
    }

    /// The scores of what comes after each state, (rows, STATE).
    fn logits(&self, state: &Tensor) -> Result<Vec<Logits>, NeuralError> {
        let scores = guarded(|| self.gru.scores(state)?.to_vec2::<f32>());
        let rows = scores.map_err(failed)?.map_err(failed)?;
        let size = self.tokens.last().map_or(0, |token| *token as usize + 1);
        let logits = |row: Vec<f32>| {
            let (end, known) = row.split_last()?;
            // A token it has not met may come, but is never the likeliest.
            let least = known.iter().copied().fold(f32::INFINITY, f32::min);
            let mut tokens = vec![least; size];
            for (token, score) in self.tokens.iter().zip(known) {
                *tokens.get_mut(*token as usize)? = *score;
            }
            Some(Logits { tokens, end: *end })
        };
        let rows: Option<_> = rows.into_iter().map(logits).collect();
        rows.ok_or_else(|| failed("no scores came out"))
    }
}

impl fmt::Debug for KeyDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyDecoder").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A decoder as a writer of keys, with what it needs for it.
pub struct TrainedKeys {
    /// The decoder.
    pub decoder: KeyDecoder,
    /// Embeds the questions, as it did the texts of the training.
    pub embedder: Arc<dyn Embedder>,
    /// Takes the keys apart, as it did in the training.
    pub tokens: Arc<dyn KeyModel>,
}

impl fmt::Debug for TrainedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrainedKeys").field("decoder", &self.decoder).finish_non_exhaustive()
    }
}

impl KeyModel for TrainedKeys {
    fn id(&self) -> &str {
        &self.decoder.id
    }

    fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError> {
        self.tokens.tokenize(key)
    }

    fn text(&self, tokens: &[u32]) -> Result<String, NeuralError> {
        self.tokens.text(tokens)
    }

    fn start<'m>(&'m self, question: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        let vector = self.embedder.embed(&[question])?.into_iter().next().unwrap_or_default();
        let (decoder, width) = (&self.decoder, vector.len());
        if width != decoder.width {
            let reason = format!("an embedding of {width} numbers, not {}", decoder.width);
            return Err(failed(reason));
        }
        let begin = || decoder.gru.begin(&Tensor::from_vec(vector, (1, width), &Device::Cpu)?);
        let begin = guarded(begin).map_err(failed)?.map_err(failed)?;
        Ok(Box::new(AtWork { decoder, state: begin.clone(), begin, beams: Beams::new() }))
    }
}

/// The decoder at work on one question.
struct AtWork<'m> {
    decoder: &'m KeyDecoder,
    /// The state before the first token, (1, STATE).
    begin: Tensor,
    /// The states after the prefixes of the last step.
    state: Tensor,
    beams: Beams,
}

impl KeyWriter for AtWork<'_> {
    fn next(&mut self, prefixes: &[&[u32]]) -> Result<Vec<Logits>, NeuralError> {
        if prefixes.first().is_none_or(|prefix| prefix.is_empty()) {
            (self.state, self.beams) = (self.begin.clone(), Beams::new());
            let logits = self.decoder.logits(&self.state)?;
            return Ok(logits.into_iter().cycle().take(prefixes.len()).collect());
        }
        let (parents, tokens) = self.beams.parents(prefixes)?;
        // A token it has not met counts as the end, which it has never gone on from.
        let known = &self.decoder.tokens;
        let column = |token: &u32| known.binary_search(token).unwrap_or(known.len()) as u32;
        let columns: Vec<u32> = tokens.iter().map(column).collect();
        let run = || {
            let parents = Tensor::new(parents.as_slice(), &Device::Cpu)?;
            self.decoder.gru.next(&self.state.index_select(&parents, 0)?, &columns)
        };
        let state = guarded(run).map_err(failed)?.map_err(failed)?;
        let logits = self.decoder.logits(&state)?;
        self.state = state;
        self.beams.step(prefixes);
        Ok(logits)
    }
}

fn failed(reason: impl ToString) -> NeuralError {
    NeuralError::Failed { reason: first_line(reason) }
}

fn read(bytes: &[u8]) -> Result<KeyDecoder, String> {
    let mut input = Reader::new(bytes, MAGIC)?;
    let width = input.size("the size of an embedding", 1, WIDTH_MAX)?;
    let count = input.size("the number of tokens", 1, TOKENS_MAX)?;
    let tokens = (0..count).map(|_| input.u32()).collect::<Result<Vec<_>, _>>()?;
    // The scores of a step are as many as the largest id.
    if !tokens.is_sorted_by(|a, b| a < b) || tokens.iter().any(|id| *id > 1 << 24) {
        return Err("the tokens are not in order".to_string());
    }
    let shapes = gru::shapes(width, count + 1);
    let weights = shapes.map(|(inputs, outputs)| input.f32s(inputs * outputs));
    let weights = weights.into_iter().collect::<Result<Vec<_>, _>>()?;
    let loss = input.f32()?;
    input.done()?;
    let gru = guarded(|| Gru::with(width, count + 1, weights))?.map_err(first_line)?;
    KeyDecoder::new(width, tokens, gru, loss)
}

/// Checks the pairs and gives the size of the embeddings.
fn check(pairs: &[(&[f32], &[u32])]) -> Result<usize, String> {
    let width = pairs.first().map_or(0, |(vector, _)| vector.len());
    if !(1..=PAIRS_MAX).contains(&pairs.len()) {
        return Err(format!("{} pairs are not within 1 and {PAIRS_MAX}", pairs.len()));
    }
    if !(1..=WIDTH_MAX).contains(&width) {
        return Err(format!("an embedding of {width} numbers is not within 1 and {WIDTH_MAX}"));
    }
    for (number, (vector, key)) in pairs.iter().enumerate() {
        if vector.len() != width || vector.iter().any(|x| !x.is_finite()) {
            return Err(format!("embedding {number} is not {width} finite numbers"));
        }
        if !(1..=KEY_TOKENS_MAX).contains(&key.len()) {
            return Err(format!("key {number} is not of 1 to {KEY_TOKENS_MAX} tokens"));
        }
        if key.iter().any(|id| *id > 1 << 24) {
            return Err(format!("key {number} holds a token above {}", 1 << 24));
        }
    }
    Ok(width)
}

/// The columns that may follow each prefix of the keys.
struct Masks {
    columns: HashMap<Vec<u32>, Vec<u32>>,
    /// How many columns there are.
    width: usize,
}

impl Masks {
    fn new(
        pairs: &[(&[f32], &[u32])],
        tokens: &[u32],
        allowed: &dyn Fn(&[u32]) -> Allowed,
    ) -> Result<Self, String> {
        let mut columns = HashMap::new();
        for (number, (_, key)) in pairs.iter().enumerate() {
            for length in 0..=key.len() {
                let prefix = &key[..length];
                let open: &Vec<u32> = columns.entry(prefix.to_vec()).or_insert_with(|| {
                    let allowed = allowed(prefix);
                    // Tokens of keys that nothing is learned about have no column.
                    let known =
                        allowed.tokens.iter().filter_map(|id| tokens.binary_search(id).ok());
                    let end = allowed.end.then_some(tokens.len());
                    let mut open: Vec<u32> = known.chain(end).map(|column| column as u32).collect();
                    open.sort_unstable();
                    open
                });
                if open.binary_search(&column_of(key, length, tokens)).is_err() {
                    return Err(format!("key {number} is not allowed"));
                }
            }
        }
        Ok(Self { columns, width: tokens.len() + 1 })
    }

    /// 0 in the columns that may follow, else [`FORBIDDEN`].
    fn row(&self, prefix: &[u32]) -> Vec<f32> {
        let mut row = vec![FORBIDDEN; self.width];
        for column in self.columns.get(prefix).into_iter().flatten() {
            row[*column as usize] = 0.0;
        }
        row
    }
}

/// The column of the token of a key at a place; after the key it is the end.
fn column_of(key: &[u32], place: usize, tokens: &[u32]) -> u32 {
    let column = key.get(place).and_then(|id| tokens.binary_search(id).ok());
    column.unwrap_or(tokens.len()) as u32
}

fn train(
    pairs: &[(&[f32], &[u32])],
    tokens: &[u32],
    masks: &Masks,
    width: usize,
    seed: u64,
) -> CandleResult<(Gru, f32)> {
    let mut random = SplitMix64::new(seed);
    let gru = Gru::new(width, masks.width, &mut random)?;
    let config = ParamsAdamW { lr: RATE, weight_decay: WEIGHT_DECAY, ..ParamsAdamW::default() };
    let mut optimizer = AdamW::new(gru.vars(), config)?;
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let steps = (EPOCHS * pairs.len().div_ceil(BATCH)).min(STEPS_MAX);
    let mut losses = Vec::new();
    for step in 0..steps {
        let place = step % pairs.len().div_ceil(BATCH);
        if place == 0 {
            random.shuffle(&mut order);
            losses.clear();
        }
        let end = order.len().min((place + 1) * BATCH);
        let batch: Vec<_> = order[place * BATCH..end].iter().map(|i| pairs[*i]).collect();
        optimizer.set_learning_rate(RATE * (1.0 - step as f64 / steps as f64));
        let loss = batch_loss(&gru, &batch, tokens, masks, width)?;
        optimizer.backward_step(&loss)?;
        losses.push(loss.to_scalar::<f32>()?);
    }
    Ok((gru, losses.iter().sum::<f32>() / losses.len() as f32))
}

/// The mean cross-entropy of all the tokens of a batch and the ends of its keys.
fn batch_loss(
    gru: &Gru,
    batch: &[(&[f32], &[u32])],
    tokens: &[u32],
    masks: &Masks,
    width: usize,
) -> CandleResult<Tensor> {
    let rows = batch.len();
    let questions: Vec<f32> = batch.iter().flat_map(|(vector, _)| *vector).copied().collect();
    let mut state = gru.begin(&Tensor::from_vec(questions, (rows, width), &Device::Cpu)?)?;
    let longest = batch.iter().map(|(_, key)| key.len()).max().unwrap_or(0);
    let mut sum = Tensor::zeros((), candle_core::DType::F32, &Device::Cpu)?;
    let mut count = 0;
    for place in 0..=longest {
        // A key that has ended goes on with its end, and counts no more.
        let next: Vec<u32> = batch.iter().map(|(_, key)| column_of(key, place, tokens)).collect();
        let mask = batch.iter().flat_map(|(_, key)| masks.row(&key[..place.min(key.len())]));
        let mask = Tensor::from_vec(mask.collect(), (rows, masks.width), &Device::Cpu)?;
        let shares = log_softmax(&(gru.scores(&state)? + mask)?, 1)?;
        let targets = Tensor::from_slice(&next, (rows, 1), &Device::Cpu)?;
        let live: Vec<f32> =
            batch.iter().map(|(_, key)| f32::from(u8::from(place <= key.len()))).collect();
        count += batch.iter().filter(|(_, key)| place <= key.len()).count();
        let live = Tensor::from_vec(live, (rows, 1), &Device::Cpu)?;
        sum = (sum - (shares.gather(&targets, 1)? * live)?.sum_all()?)?;
        state = gru.next(&state, &next)?;
    }
    sum / count as f64
}

#[cfg(test)]
mod tests;
