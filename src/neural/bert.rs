//! A BERT encoder: token ids in, one row for each token out.
//!
//! It computes what the reference does, in another shape. The sequences of a batch are packed:
//! they lie one after another in a single matrix with a row for each token, without padding, so
//! that each linear layer is one matrix product with no wasted row. Only attention looks at one
//! sequence at a time.
//!
//! ```text
//!   ids of "a b" and "c"   [CLS] a b [SEP] [CLS] c [SEP]
//!   lengths                [4, 3]
//!   xs                     7 rows of hidden_size numbers
//! ```
//!
//! What stands between the products (bias, GELU, softmax, layer norm) would take longer than they
//! do if it ran as one candle operation after another. It is fused into three operations that work
//! in place on plain slices. They are written without branches, so that the compiler can use
//! vector instructions, and keep NaN as NaN, so that damaged weights are seen in the output.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, Tensor, bail};
use candle_nn::VarBuilder;
use serde::Deserialize;

/// The sizes of a model, as `config.json` has them; by default those of all-MiniLM-L6-v2.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Config {
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    /// The longest sequence, in tokens.
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    /// Added to the variance in each layer norm.
    pub(super) layer_norm_eps: f32,
    /// Which kind of model the file speaks of; only `bert` is known here.
    pub(super) model_type: String,
    /// The function between the two products of a feed-forward part; only `gelu` is known here.
    pub(super) hidden_act: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            vocab_size: 30_522,
            hidden_size: 384,
            num_hidden_layers: 6,
            num_attention_heads: 12,
            intermediate_size: 1_536,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            model_type: "bert".to_string(),
            hidden_act: "gelu".to_string(),
        }
    }
}

impl Config {
    /// Says in words what keeps a model of these sizes from being built.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        /// Above every BERT there is; sums and products of such sizes cannot overflow.
        const SIZE_MAX: usize = 1 << 20;
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size),
        ];
        if let Some((name, size)) = sizes.iter().find(|(_, size)| !(1..=SIZE_MAX).contains(size)) {
            return Err(format!("{name} {size} is not within 1 and {SIZE_MAX}"));
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let (size, heads) = (self.hidden_size, self.num_attention_heads);
            return Err(format!("hidden_size {size} cannot be split into {heads} heads"));
        }
        for (name, value, known) in
            [("model_type", &self.model_type, "bert"), ("hidden_act", &self.hidden_act, "gelu")]
        {
            if value != known {
                return Err(format!("{name} is not {known}"));
            }
        }
        Ok(())
    }
}

/// The encoder with its weights.
pub(super) struct Bert {
    /// A row for each token of the vocabulary.
    words: Tensor,
    /// A row for each place in a sequence. The row of token type 0 is added in, as every token
    /// here has that type.
    positions: Tensor,
    norm: AddNorm,
    layers: Vec<Layer>,
}

impl Bert {
    /// Takes the weights out of `vb`, where they have the names of the reference.
    pub(super) fn load(vb: &VarBuilder, config: &Config) -> Result<Self> {
        let hidden = config.hidden_size;
        let table = |rows, name: &str| vb.get((rows, hidden), &format!("embeddings.{name}.weight"));
        let types = table(config.type_vocab_size, "token_type_embeddings")?.narrow(0, 0, 1)?;
        let positions = table(config.max_position_embeddings, "position_embeddings")?;
        let layers = (0..config.num_hidden_layers)
            .map(|i| Layer::load(&vb.pp(format!("encoder.layer.{i}")), config));
        Ok(Self {
            words: table(config.vocab_size, "word_embeddings")?,
            positions: positions.broadcast_add(&types)?,
            norm: AddNorm::load(None, &vb.pp("embeddings.LayerNorm"), config)?,
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// Runs a packed batch: `ids` holds the token ids of all its sequences, one sequence after
    /// another, and `lengths` how many each of them has. The answer is (tokens, hidden).
    pub(super) fn forward(&self, ids: &[u32], lengths: &[usize]) -> Result<Tensor> {
        let device = self.words.device();
        let places: Vec<u32> = lengths.iter().flat_map(|length| 0..*length as u32).collect();
        let places = self.positions.index_select(&Tensor::new(places, device)?, 0)?;
        // (tokens) -> (tokens, hidden)
        let mut xs = self.words.index_select(&Tensor::new(ids, device)?, 0)?;
        xs.inplace_op2(&places, &self.norm)?;
        for layer in &self.layers {
            xs = layer.forward(&xs, lengths)?;
        }
        Ok(xs)
    }
}

/// One layer: attention and a feed-forward part, each added to its input and normed.
struct Layer {
    heads: usize,
    /// Query, key and value beside each other in one matrix, (hidden, 3 * hidden). The query's
    /// part is already divided by the root of the size of a head.
    qkv: Tensor,
    qkv_bias: Tensor,
    attended: Tensor,
    attended_norm: AddNorm,
    up: Tensor,
    gelu: BiasGelu,
    down: Tensor,
    down_norm: AddNorm,
}

impl Layer {
    fn load(vb: &VarBuilder, config: &Config) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let scale = 1.0 / ((hidden / config.num_attention_heads) as f64).sqrt();
        let own = vb.pp("attention.self");
        let [(q, q_bias), (k, k_bias), (v, v_bias)] = [
            linear(&own.pp("query"), hidden, hidden)?,
            linear(&own.pp("key"), hidden, hidden)?,
            linear(&own.pp("value"), hidden, hidden)?,
        ];
        let (q, q_bias) = ((q * scale)?, (q_bias * scale)?);
        let (attended, attended_bias) = linear(&vb.pp("attention.output.dense"), hidden, hidden)?;
        let (up, up_bias) = linear(&vb.pp("intermediate.dense"), hidden, inner)?;
        let (down, down_bias) = linear(&vb.pp("output.dense"), inner, hidden)?;
        let attended_norm = vb.pp("attention.output.LayerNorm");
        Ok(Self {
            heads: config.num_attention_heads,
            qkv: Tensor::cat(&[q, k, v], 0)?.t()?,
            qkv_bias: Tensor::cat(&[q_bias, k_bias, v_bias], 0)?,
            attended: attended.t()?,
            attended_norm: AddNorm::load(Some(&attended_bias), &attended_norm, config)?,
            up: up.t()?,
            gelu: BiasGelu { bias: up_bias.to_vec1()? },
            down: down.t()?,
            down_norm: AddNorm::load(Some(&down_bias), &vb.pp("output.LayerNorm"), config)?,
        })
    }

    fn forward(&self, xs: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        // (tokens, hidden) -> (tokens, 3 * hidden)
        let qkv = xs.matmul(&self.qkv)?.broadcast_add(&self.qkv_bias)?;
        let attended = attention(&qkv, lengths, self.heads)?.matmul(&self.attended)?;
        attended.inplace_op2(xs, &self.attended_norm)?;
        // (tokens, hidden) -> (tokens, intermediate) -> (tokens, hidden)
        let up = attended.matmul(&self.up)?;
        up.inplace_op1(&self.gelu)?;
        let down = up.matmul(&self.down)?;
        down.inplace_op2(&attended, &self.down_norm)?;
        Ok(down)
    }
}

/// The weight (outputs, inputs) and the bias (outputs) of a linear layer.
fn linear(vb: &VarBuilder, inputs: usize, outputs: usize) -> Result<(Tensor, Tensor)> {
    Ok((vb.get((outputs, inputs), "weight")?, vb.get(outputs, "bias")?))
}

/// Attention of each sequence to itself: (tokens, 3 * hidden) -> (tokens, hidden).
fn attention(qkv: &Tensor, lengths: &[usize], heads: usize) -> Result<Tensor> {
    let (tokens, width) = qkv.dims2()?;
    let qkv = qkv.reshape((tokens, 3, heads, width / 3 / heads))?;
    let mut start = 0;
    let mut rows = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let own = qkv.narrow(0, start, length)?;
        // Views, nothing is copied: (length, 3, heads, size) -> (heads, length, size)
        let part = |i| own.narrow(1, i, 1)?.squeeze(1)?.transpose(0, 1);
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        // (heads, length, length)
        let scores = q.matmul(&k.t()?)?;
        scores.inplace_op1(&Softmax)?;
        // (heads, length, size) -> (length, hidden)
        rows.push(scores.matmul(&v)?.transpose(0, 1)?.reshape((length, width / 3))?);
        start += length;
    }
    Tensor::cat(&rows, 0)
}

/// Adds a bias to each row and takes the GELU of it, the exact one with the error function.
struct BiasGelu {
    bias: Vec<f32>,
}

impl InplaceOp1 for BiasGelu {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        for row in values_mut(storage, layout)?.chunks_exact_mut(self.bias.len()) {
            for (x, bias) in row.iter_mut().zip(&self.bias) {
                *x = gelu(*x + bias);
            }
        }
        Ok(())
    }
}

/// x * P(N <= x) for a normal N, within 1e-6.
///
/// With z = |x| / sqrt(2), Abramowitz and Stegun 7.1.28 gives 1 - erf(z) as a polynomial to the
/// power of -16, within 3e-7.
#[inline]
fn gelu(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 6] =
        [4.306_38e-5, 2.765_672e-4, 1.520_143e-4, 9.270_527e-3, 4.228_201e-2, 7.052_308e-2];
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let base = 1.0 + z * COEFFICIENTS.iter().fold(0.0, |sum, c| sum * z + c);
    let square = base * base;
    let fourth = square * square;
    let eighth = fourth * fourth;
    x.max(0.0) - 0.5 * x.abs() / (eighth * eighth)
}

/// Turns each row of the last dimension into shares that sum to one.
struct Softmax;

impl InplaceOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let width = layout.dims().last().copied().unwrap_or(1);
        for row in values_mut(storage, layout)?.chunks_exact_mut(width) {
            let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|x| *x = exp(*x - max));
            let share = 1.0 / sum(row);
            row.iter_mut().for_each(|x| *x *= share);
        }
        Ok(())
    }
}

/// e to the power of x for x <= 0, within a few units of the last place.
///
/// x is split into n * ln 2 + r with |r| <= ln 2 / 2; e^r is its Taylor series and 2^n is put
/// together from bits.
#[inline]
fn exp(x: f32) -> f32 {
    /// Adding it leaves the sum rounded to a whole number, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts: the first has few bits, so that its product with n is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const SERIES: [f32; 7] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    // Below this 2^n is not a normal number. Written so that NaN stays, which `max` would hide.
    let x = if x < -87.0 { -87.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN_2[0] - n * LN_2[1];
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    SERIES.iter().fold(0.0, |sum, c| sum * r + c) * power
}

/// Adds a bias and a second tensor to each row, then norms it: mean 0 and variance 1, and
/// a learned scale and shift on top.
struct AddNorm {
    bias: Vec<f32>,
    scale: Vec<f32>,
    shift: Vec<f32>,
    eps: f32,
}

impl AddNorm {
    fn load(bias: Option<&Tensor>, vb: &VarBuilder, config: &Config) -> Result<Self> {
        let hidden = config.hidden_size;
        Ok(Self {
            bias: bias.map_or_else(|| Ok(vec![0.0; hidden]), Tensor::to_vec1)?,
            scale: vb.get(hidden, "weight")?.to_vec1()?,
            shift: vb.get(hidden, "bias")?.to_vec1()?,
            eps: config.layer_norm_eps,
        })
    }

    fn norm_row(&self, row: &mut [f32], added: &[f32]) {
        for ((x, y), bias) in row.iter_mut().zip(added).zip(&self.bias) {
            *x += y + bias;
        }
        let width = row.len() as f32;
        let mean = sum(row) / width;
        row.iter_mut().for_each(|x| *x -= mean);
        let factor = 1.0 / (sum_of_squares(row) / width + self.eps).sqrt();
        for ((x, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *x = *x * factor * scale + shift;
        }
    }
}

impl InplaceOp2 for AddNorm {
    fn name(&self) -> &'static str {
        "add-norm"
    }

    fn cpu_fwd(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        added: &CpuStorage,
        added_layout: &Layout,
    ) -> Result<()> {
        let width = self.bias.len();
        let added = values(added, added_layout)?.chunks_exact(width);
        for (row, added) in values_mut(storage, layout)?.chunks_exact_mut(width).zip(added) {
            self.norm_row(row, added);
        }
        Ok(())
    }
}

/// The numbers of a tensor that lie in order and without gaps.
fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&values[start..end]),
        _ => bail!("the tensor is not f32 without gaps"),
    }
}

/// The same, to be written to.
fn values_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&mut values[start..end]),
        _ => bail!("the tensor is not f32 without gaps"),
    }
}

/// The sum of a row in several partial sums, which a vector unit can add side by side.
fn sum(row: &[f32]) -> f32 {
    fold_lanes(row, |lane, x| lane + x)
}

fn sum_of_squares(row: &[f32]) -> f32 {
    fold_lanes(row, |lane, x| lane + x * x)
}

#[inline]
fn fold_lanes(row: &[f32], add: impl Fn(f32, f32) -> f32) -> f32 {
    const LANES: usize = 16;
    let mut lanes = [0.0_f32; LANES];
    let mut chunks = row.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = add(*lane, *x);
        }
    }
    let rest = chunks.remainder().iter().fold(0.0, |lane, x| add(lane, *x));
    lanes.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_near_the_library_and_keeps_nan() {
        for i in 0..8_700 {
            let x = -(i as f32) / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 1e-6, "exp({x}) is off by {error}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn gelu_is_near_the_exact_one_and_keeps_nan() {
        // P(N <= x) to ten digits, from tables of the normal distribution.
        for (x, share) in [
            (0.0_f64, 0.5),
            (0.1, 0.539_827_837_3),
            (0.5, 0.691_462_461_3),
            (1.0, 0.841_344_746_1),
            (2.0, 0.977_249_868_1),
            (3.0, 0.998_650_102_0),
            (5.0, 0.999_999_713_3),
        ] {
            let near = |y: f32, exact: f64| (f64::from(y) - exact).abs() < 2e-6;
            assert!(near(gelu(x as f32), x * share), "gelu({x}) is {}", gelu(x as f32));
            assert!(near(gelu(-x as f32), -x * (1.0 - share)), "gelu(-{x})");
        }
        assert_eq!(gelu(100.0), 100.0);
        assert_eq!(gelu(-100.0), 0.0);
        assert!(gelu(f32::NAN).is_nan());
    }

    #[test]
    fn lanes_add_up_to_the_sum() {
        let row: Vec<f32> = (1..=37).map(|i| i as f32).collect();
        assert_eq!(sum(&row), 703.0);
        assert_eq!(sum_of_squares(&row), 17_575.0);
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn sizes_that_fit_no_model_are_refused() {
        let default = Config::default;
        assert_eq!(default().check(), Ok(()));
        for bad in [
            Config { num_attention_heads: 0, ..default() },
            Config { num_attention_heads: 7, ..default() },
            Config { hidden_size: usize::MAX, ..default() },
            Config { model_type: "llama".to_string(), ..default() },
            Config { hidden_act: "relu".to_string(), ..default() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
