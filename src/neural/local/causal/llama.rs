//! The decoder of Llama, Qwen2 and Qwen3: token ids in, the scores of the next token out.
//!
//! ```text
//!   ids ─table─▶ xs ─▶ [ norm ─ attention ─ + ─ norm ─ SwiGLU ─ + ] x layers ─ norm ─▶ scores
//! ```
//!
//! Several beams run at once. What they have in common, the prompt, is kept once: its keys and
//! values are the [`Shared`] part, and each beam's own tokens are the [`Own`] part. Attention looks
//! at both and takes the softmax over the two together, so a beam costs no copy of the prompt.
//! Matrices are plain or quantised; everything between them is `f32`.

use candle_core::quantized::QMatMul;
use candle_core::{D, Device, Module, Result, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::{rope, rope_i};

use super::config::{Config, Family};
use super::weights::Weights;
use crate::neural::NeuralError;

/// The decoder with its weights.
pub(super) struct Llama {
    config: Config,
    tokens: QMatMul,
    layers: Vec<Layer>,
    norm: Tensor,
    /// The output layer, unless it is the table of the tokens.
    output: Option<QMatMul>,
}

/// Keys and values of tokens that every beam begins with; for each layer (kv_heads, length,
/// head_size).
#[derive(Clone, Default)]
pub(super) struct Shared {
    length: usize,
    layers: Vec<(Tensor, Tensor)>,
}

/// Keys and values of the beams' own tokens; for each layer (beams, kv_heads, length, head_size).
#[derive(Clone, Default)]
pub(super) struct Own {
    length: usize,
    layers: Vec<(Tensor, Tensor)>,
}

impl Shared {
    /// These tokens and after them those of the only beam of `own`.
    pub(super) fn with(&self, own: &Own) -> Result<Self> {
        let join = |(number, (keys, values)): (usize, &(Tensor, Tensor))| {
            let (keys, values) = (keys.squeeze(0)?, values.squeeze(0)?);
            match self.layers.get(number) {
                Some((k, v)) => Ok((Tensor::cat(&[k, &keys], 1)?, Tensor::cat(&[v, &values], 1)?)),
                None => Ok((keys, values)),
            }
        };
        let layers = own.layers.iter().enumerate().map(join).collect::<Result<_>>()?;
        Ok(Self { length: self.length + own.length, layers })
    }
}

impl Own {
    /// The beams at these places, each as often as its place is named.
    pub(super) fn select(&self, places: &[u32]) -> Result<Self> {
        let places = Tensor::new(places, &Device::Cpu)?;
        let pick = |(keys, values): &(Tensor, Tensor)| {
            Ok((keys.index_select(&places, 0)?, values.index_select(&places, 0)?))
        };
        let layers = self.layers.iter().map(pick).collect::<Result<_>>()?;
        Ok(Self { length: self.length, layers })
    }
}

impl Llama {
    /// Takes the weights, by the names they have in safetensors files.
    pub(super) fn load(
        weights: &mut Weights,
        config: Config,
    ) -> std::result::Result<Self, NeuralError> {
        let (vocab, hidden) = (config.vocab_size, config.hidden_size);
        let tokens = weights.matrix("model.embed_tokens.weight", vocab, hidden)?;
        let layers = (0..config.layers).map(|i| Layer::load(weights, &config, i));
        let layers = layers.collect::<std::result::Result<_, NeuralError>>()?;
        let norm = weights.vector("model.norm.weight", hidden)?;
        let output = match config.tied {
            true => None,
            false => Some(weights.matrix("lm_head.weight", vocab, hidden)?),
        };
        Ok(Self { config, tokens, layers, norm, output })
    }

    pub(super) fn vocab_size(&self) -> usize {
        self.config.vocab_size
    }

    /// Runs `ids`, as many for each beam, after what the beams have had; their keys and values
    /// are added to `own`. The answer is one row of scores for each beam, (beams, vocab_size):
    /// those of what comes after its last token.
    pub(super) fn forward(
        &self,
        ids: &[u32],
        beams: usize,
        shared: &Shared,
        own: &Own,
    ) -> Result<(Tensor, Own)> {
        let count = ids.len() / beams;
        let start = shared.length + own.length;
        let step = Step {
            beams,
            count,
            turn: self.turn(start, count)?,
            mask: (count > 1).then(|| mask(own.length, count)).transpose()?,
        };
        // (beams * count, hidden)
        let mut xs = self.tokens.embedding(&Tensor::new(ids, &Device::Cpu)?)?;
        let mut layers = Vec::with_capacity(self.layers.len());
        for (number, layer) in self.layers.iter().enumerate() {
            let (shared, own) = (shared.layers.get(number), own.layers.get(number));
            let (out, kept) = layer.forward(&xs, &step, shared, own, &self.config)?;
            xs = out;
            layers.push(kept);
        }
        let last = xs.reshape((beams, count, self.config.hidden_size))?;
        let last = last.narrow(1, count - 1, 1)?.squeeze(1)?.contiguous()?;
        let last = rms_norm(&last, &self.norm, self.config.norm_eps)?;
        let scores = self.output.as_ref().unwrap_or(&self.tokens).forward(&last)?;
        Ok((scores, Own { length: own.length + count, layers }))
    }

    /// Cosine and sine of the angles at the places from `start` on, each (count, head_size / 2).
    fn turn(&self, start: usize, count: usize) -> Result<(Tensor, Tensor)> {
        let turns = &self.config.turns;
        let angle = |place: usize| turns.iter().map(move |turn| place as f64 * turn);
        let angles: Vec<f64> = (start..start + count).flat_map(angle).collect();
        let table = |of: fn(f64) -> f64| {
            let values: Vec<f32> = angles.iter().map(|angle| of(*angle) as f32).collect();
            Tensor::from_vec(values, (count, turns.len()), &Device::Cpu)
        };
        Ok((table(f64::cos)?, table(f64::sin)?))
    }
}

/// What all layers have in common when so many tokens of each beam are run.
struct Step {
    beams: usize,
    count: usize,
    turn: (Tensor, Tensor),
    /// Keeps a token from seeing those after it, (count, own length + count).
    mask: Option<Tensor>,
}

/// Zero where a token may look, else minus infinity. `before` tokens come before all of them.
fn mask(before: usize, count: usize) -> Result<Tensor> {
    let width = before + count;
    let seen = |row: usize| {
        (0..width).map(move |column| if column <= before + row { 0.0 } else { f32::NEG_INFINITY })
    };
    let values: Vec<f32> = (0..count).flat_map(seen).collect();
    Tensor::from_vec(values, (count, width), &Device::Cpu)
}

/// A matrix and what is added after it.
struct Linear {
    matrix: QMatMul,
    bias: Option<Tensor>,
}

impl Linear {
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let xs = self.matrix.forward(xs)?;
        match &self.bias {
            Some(bias) => xs.broadcast_add(bias),
            None => Ok(xs),
        }
    }
}

/// One layer: attention and a feed-forward part, each on a normed input and added to it.
struct Layer {
    attention_norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    /// The norms of each head of the query and the key.
    head_norms: Option<(Tensor, Tensor)>,
    attended: QMatMul,
    forward_norm: Tensor,
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
}

impl Layer {
    fn load(
        weights: &mut Weights,
        config: &Config,
        number: usize,
    ) -> std::result::Result<Self, NeuralError> {
        let name = |part: &str| format!("model.layers.{number}.{part}");
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let (query, key) = (config.heads * config.head_size, config.kv_heads * config.head_size);
        let mut linear = |part: &str, outputs: usize| {
            let matrix = weights.matrix(&name(&format!("{part}.weight")), outputs, hidden)?;
            let bias = match config.family {
                Family::Qwen2 => Some(weights.vector(&name(&format!("{part}.bias")), outputs)?),
                Family::Llama | Family::Qwen3 => None,
            };
            Ok::<_, NeuralError>(Linear { matrix, bias })
        };
        let (query_part, key_part, value_part) = (
            linear("self_attn.q_proj", query)?,
            linear("self_attn.k_proj", key)?,
            linear("self_attn.v_proj", key)?,
        );
        let head_norms = match config.family {
            Family::Qwen3 => Some((
                weights.vector(&name("self_attn.q_norm.weight"), config.head_size)?,
                weights.vector(&name("self_attn.k_norm.weight"), config.head_size)?,
            )),
            Family::Llama | Family::Qwen2 => None,
        };
        Ok(Self {
            attention_norm: weights.vector(&name("input_layernorm.weight"), hidden)?,
            query: query_part,
            key: key_part,
            value: value_part,
            head_norms,
            attended: weights.matrix(&name("self_attn.o_proj.weight"), hidden, query)?,
            forward_norm: weights.vector(&name("post_attention_layernorm.weight"), hidden)?,
            gate: weights.matrix(&name("mlp.gate_proj.weight"), inner, hidden)?,
            up: weights.matrix(&name("mlp.up_proj.weight"), inner, hidden)?,
            down: weights.matrix(&name("mlp.down_proj.weight"), hidden, inner)?,
        })
    }

    /// (beams * count, hidden) to the same, and the keys and values of all the beams' own tokens.
    fn forward(
        &self,
        xs: &Tensor,
        step: &Step,
        shared: Option<&(Tensor, Tensor)>,
        own: Option<&(Tensor, Tensor)>,
        config: &Config,
    ) -> Result<(Tensor, (Tensor, Tensor))> {
        let normed = rms_norm(xs, &self.attention_norm, config.norm_eps)?;
        let heads =
            |linear: &Linear, heads: usize| split_heads(&linear.forward(&normed)?, step, heads);
        let mut query = heads(&self.query, config.heads)?;
        let mut key = heads(&self.key, config.kv_heads)?;
        let mut value = heads(&self.value, config.kv_heads)?;
        if let Some((query_norm, key_norm)) = &self.head_norms {
            query = rms_norm(&query, query_norm, config.norm_eps)?;
            key = rms_norm(&key, key_norm, config.norm_eps)?;
        }
        let rotate = if config.neighbours_turn { rope_i } else { rope };
        let (cos, sin) = &step.turn;
        let query = (rotate(&query, cos, sin)? / (config.head_size as f64).sqrt())?;
        key = rotate(&key, cos, sin)?;
        if let Some((keys, values)) = own {
            key = Tensor::cat(&[keys, &key], 2)?;
            value = Tensor::cat(&[values, &value], 2)?;
        }
        let kept = (key, value);
        let attended = attention(&query, step, shared, &kept)?;
        let xs = (xs + self.attended.forward(&attended)?)?;
        let normed = rms_norm(&xs, &self.forward_norm, config.norm_eps)?;
        let inner = (silu(&self.gate.forward(&normed)?)? * self.up.forward(&normed)?)?;
        Ok(((xs + self.down.forward(&inner)?)?, kept))
    }
}

/// (beams * count, heads * size) -> (beams, heads, count, size)
fn split_heads(xs: &Tensor, step: &Step, heads: usize) -> Result<Tensor> {
    let size = xs.dim(D::Minus1)? / heads;
    xs.reshape((step.beams, step.count, heads, size))?.transpose(1, 2)?.contiguous()
}

/// Each of the query's heads looks at the keys of its group: first those that all beams share,
/// then the beam's own. (beams, heads, count, size) -> (beams * count, heads * size)
fn attention(
    query: &Tensor,
    step: &Step,
    shared: Option<&(Tensor, Tensor)>,
    own: &(Tensor, Tensor),
) -> Result<Tensor> {
    let (beams, heads, count, size) = query.dims4()?;
    let (_, kv_heads, own_length, _) = own.0.dims4()?;
    // The heads of a group lie beside each other, so they are rows of one matrix product.
    let rows = heads / kv_heads * count;
    let query = query.reshape((beams, kv_heads, rows, size))?;
    let mut scores = query.matmul(&own.0.t()?)?;
    if let Some(mask) = &step.mask {
        let grouped = scores.reshape((beams, heads, count, own_length))?;
        scores = grouped.broadcast_add(mask)?.reshape((beams, kv_heads, rows, own_length))?;
    }
    let Some((keys, values)) = shared else {
        let shares = softmax_last_dim(&scores)?;
        return join_heads(&shares.matmul(&own.1)?, heads, count);
    };
    let shared_length = keys.dim(1)?;
    // (beams, kv_heads, rows, n) and back: all beams are rows of one product with the shared part.
    let stack = |xs: &Tensor, width: usize| {
        xs.transpose(0, 1)?.contiguous()?.reshape((kv_heads, beams * rows, width))
    };
    let unstack = |xs: &Tensor, width: usize| {
        xs.reshape((kv_heads, beams, rows, width))?.transpose(0, 1)?.contiguous()
    };
    let before = unstack(&stack(&query, size)?.matmul(&keys.t()?)?, shared_length)?;
    let shares = softmax_last_dim(&Tensor::cat(&[&before, &scores], 3)?)?;
    let before = stack(&shares.narrow(3, 0, shared_length)?, shared_length)?.matmul(values)?;
    let behind = shares.narrow(3, shared_length, own_length)?.contiguous()?.matmul(&own.1)?;
    join_heads(&(unstack(&before, size)? + behind)?, heads, count)
}

/// (beams, kv_heads, rows, size) -> (beams * count, heads * size)
fn join_heads(xs: &Tensor, heads: usize, count: usize) -> Result<Tensor> {
    let (beams, _, _, size) = xs.dims4()?;
    let xs = xs.reshape((beams, heads, count, size))?.transpose(1, 2)?;
    xs.contiguous()?.reshape((beams * count, heads * size))
}
