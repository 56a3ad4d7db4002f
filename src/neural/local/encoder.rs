//! An encoder of the BERT family: token ids in, one row for each token out.
//!
//! It computes what the references do, in another shape. The sequences of a batch are packed:
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
//! BERT, RoBERTa, XLM-RoBERTa, DistilBERT and MPNet differ only in what is read here: the names of
//! their weights, the first position, the token types, and the bias by distance that MPNet adds in
//! attention. It never pads and never trains.

use candle_core::{Result, Tensor, bail};
use candle_nn::VarBuilder;

use super::attention::{Attention, Distances};
use super::config::{Config, Family};
use super::fused::{AddNorm, BiasGelu};
use super::product::Weight;

/// Token types that are told apart: those of a question and a text.
const TYPES_MAX: usize = 2;

/// What the weights of a layer are called.
struct Names {
    layers: &'static str,
    query: &'static str,
    key: &'static str,
    value: &'static str,
    attended: &'static str,
    attended_norm: &'static str,
    up: &'static str,
    down: &'static str,
    down_norm: &'static str,
}

const BERT: Names = Names {
    layers: "encoder.layer",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    attended: "attention.output.dense",
    attended_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    down_norm: "output.LayerNorm",
};
const DISTIL_BERT: Names = Names {
    layers: "transformer.layer",
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    attended: "attention.out_lin",
    attended_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    down_norm: "output_layer_norm",
};
const MPNET: Names = Names {
    query: "attention.attn.q",
    key: "attention.attn.k",
    value: "attention.attn.v",
    attended: "attention.attn.o",
    attended_norm: "attention.LayerNorm",
    ..BERT
};

impl Family {
    fn names(self) -> &'static Names {
        match self {
            Self::Bert | Self::Roberta => &BERT,
            Self::DistilBert => &DISTIL_BERT,
            Self::MpNet => &MPNET,
        }
    }

    /// Stands before the names of the weights if a head was trained on top.
    fn prefix(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Roberta => "roberta",
            Self::DistilBert => "distilbert",
            Self::MpNet => "mpnet",
        }
    }

    fn has_types(self) -> bool {
        matches!(self, Self::Bert | Self::Roberta)
    }
}

/// Where the weights of the encoder lie: below the name of its family, or at the top.
pub(super) fn base<'v>(vb: &VarBuilder<'v>, family: Family) -> VarBuilder<'v> {
    let below = vb.pp(family.prefix());
    let is_below = below.contains_tensor("embeddings.word_embeddings.weight");
    if is_below { below } else { vb.clone() }
}

/// The encoder with its weights.
pub(super) struct Encoder {
    width: usize,
    /// A row for each token of the vocabulary.
    words: Tensor,
    /// A row for each place in a sequence, once for each token type, whose row is added in.
    places: Tensor,
    /// The longest sequence, in tokens, and so the rows of `places` for each type.
    sequence_max: usize,
    types: usize,
    norm: AddNorm,
    layers: Vec<Layer>,
    distances: Option<Distances>,
}

impl Encoder {
    /// Takes the weights out of `vb`, where they have the names of the reference.
    pub(super) fn load(vb: &VarBuilder, config: &Config) -> Result<Self> {
        let (family, hidden) = (config.model_type, config.hidden_size);
        let table = |rows, name: &str| vb.get((rows, hidden), &format!("embeddings.{name}.weight"));
        let positions = table(config.max_position_embeddings, "position_embeddings")?;
        let positions = positions.narrow(0, config.first_position(), config.sequence_max())?;
        let places = if family.has_types() {
            let types = table(config.type_vocab_size, "token_type_embeddings")?;
            let of_type = |i| positions.broadcast_add(&types.narrow(0, i, 1)?);
            let types = config.type_vocab_size.min(TYPES_MAX);
            (0..types).map(of_type).collect::<Result<Vec<_>>>()?
        } else {
            vec![positions]
        };
        let names = family.names();
        let layers = (0..config.num_hidden_layers)
            .map(|i| Layer::load(&vb.pp(format!("{}.{i}", names.layers)), names, config));
        Ok(Self {
            width: hidden,
            words: table(config.vocab_size, "word_embeddings")?,
            types: places.len(),
            places: Tensor::cat(&places, 0)?,
            sequence_max: config.sequence_max(),
            norm: AddNorm::load(None, &vb.pp("embeddings.LayerNorm"), config)?,
            layers: layers.collect::<Result<_>>()?,
            distances: match family {
                Family::MpNet => Some(Distances::load(&vb.pp("encoder"), config)?),
                _ => None,
            },
        })
    }

    /// How many numbers the row of a token has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Runs a packed batch: `ids` holds the token ids of all its sequences, one sequence after
    /// another, `types` the type of each token, and `lengths` how many tokens each sequence has.
    pub(super) fn forward(&self, ids: &[u32], types: &[u32], lengths: &[usize]) -> Result<Hidden> {
        if let Some(length) = lengths.iter().find(|length| **length > self.sequence_max) {
            bail!("{length} tokens are above the limit {}", self.sequence_max);
        }
        let device = self.words.device();
        let last_type = self.types.saturating_sub(1) as u32;
        let places: Vec<u32> = lengths
            .iter()
            .flat_map(|length| 0..*length as u32)
            .zip(types)
            .map(|(place, of_type)| place + self.sequence_max as u32 * last_type.min(*of_type))
            .collect();
        let places = self.places.index_select(&Tensor::new(places, device)?, 0)?;
        // (tokens) -> (tokens, hidden)
        let mut xs = self.words.index_select(&Tensor::new(ids, device)?, 0)?;
        xs.inplace_op2(&places, &self.norm)?;
        let mut middle = xs.clone();
        let last_of_middle = two_thirds(self.layers.len());
        for (layer, done) in self.layers.iter().zip(1..) {
            xs = layer.forward(&xs, lengths, self.distances.as_ref())?;
            if done == last_of_middle {
                middle = xs.clone();
            }
        }
        Ok(Hidden { middle, last: xs })
    }
}

/// Behind how many layers the rows are the middle ones.
fn two_thirds(layers: usize) -> usize {
    layers * 2 / 3
}

/// What stands for the tokens of a batch, (tokens, hidden) each.
pub(super) struct Hidden {
    /// Behind two thirds of the layers.
    pub(super) middle: Tensor,
    pub(super) last: Tensor,
}

/// One layer: attention and a feed-forward part, each added to its input and normed.
struct Layer {
    /// Query, key and value below each other in one matrix, (3 * hidden, hidden). The query's
    /// part is already divided by the root of the size of a head.
    qkv: Weight,
    attention: Attention,
    attended: Weight,
    attended_norm: AddNorm,
    up: Weight,
    gelu: BiasGelu,
    down: Weight,
    down_norm: AddNorm,
}

impl Layer {
    fn load(vb: &VarBuilder, names: &Names, config: &Config) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let scale = 1.0 / ((hidden / config.num_attention_heads) as f64).sqrt();
        let [(q, q_bias), (k, k_bias), (v, v_bias)] = [
            linear(&vb.pp(names.query), hidden, hidden)?,
            linear(&vb.pp(names.key), hidden, hidden)?,
            linear(&vb.pp(names.value), hidden, hidden)?,
        ];
        let (q, q_bias) = ((q * scale)?, (q_bias * scale)?);
        let (attended, attended_bias) = linear(&vb.pp(names.attended), hidden, hidden)?;
        let (up, up_bias) = linear(&vb.pp(names.up), hidden, inner)?;
        let (down, down_bias) = linear(&vb.pp(names.down), inner, hidden)?;
        let norm = |bias: &Tensor, name| AddNorm::load(Some(bias), &vb.pp(name), config);
        Ok(Self {
            qkv: Weight::new(&Tensor::cat(&[q, k, v], 0)?)?,
            attention: Attention::new(
                config.num_attention_heads,
                &Tensor::cat(&[q_bias, k_bias, v_bias], 0)?,
            )?,
            attended: Weight::new(&attended)?,
            attended_norm: norm(&attended_bias, names.attended_norm)?,
            up: Weight::new(&up)?,
            gelu: BiasGelu::new(&up_bias)?,
            down: Weight::new(&down)?,
            down_norm: norm(&down_bias, names.down_norm)?,
        })
    }

    fn forward(
        &self,
        xs: &Tensor,
        lengths: &[usize],
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        // (tokens, hidden) -> (tokens, 3 * hidden)
        let qkv = self.qkv.product(xs)?;
        let attended = self.attention.forward(&qkv, lengths, distances)?;
        let attended = self.attended.product(&attended)?;
        attended.inplace_op2(xs, &self.attended_norm)?;
        // (tokens, hidden) -> (tokens, intermediate) -> (tokens, hidden)
        let up = self.up.product(&attended)?;
        up.inplace_op1(&self.gelu)?;
        let down = self.down.product(&up)?;
        down.inplace_op2(&attended, &self.down_norm)?;
        Ok(down)
    }
}

/// The weight (outputs, inputs) and the bias (outputs) of a linear layer.
pub(super) fn linear(vb: &VarBuilder, inputs: usize, outputs: usize) -> Result<(Tensor, Tensor)> {
    Ok((vb.get((outputs, inputs), "weight")?, vb.get(outputs, "bias")?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_middle_is_behind_two_thirds_of_the_layers() {
        assert_eq!([1, 2, 6, 12].map(super::two_thirds), [0, 1, 4, 8]);
    }
}
