//! Cross-encoders: models that read a question and a text as one sequence and give one number.
//!
//! The first row that the encoder gives stands for the pair. A head that was trained with it makes
//! the number: perhaps a layer of its own, then the product with one row, or with two, for "does
//! not answer" and "answers", whose difference is the score.

use std::fmt;
use std::path::Path;

use candle_core::{Result as CandleResult, bail};
use candle_nn::VarBuilder;

use super::batches;
use super::config::{Config, Family};
use super::encoder::{Encoder, base, linear};
use super::folder::{self, damaged};
use super::max_sim::dot;
use super::pooling::read_tokens_max;
use super::sentence::{load_parts, try_out};
use super::tokens::TextTokenizer;
use super::{NeuralError, Reranker};
use crate::threads::cores;

/// What a model reads of a question and a text together if the folder does not say, in tokens.
const TOKENS_DEFAULT: usize = 512;

/// A [`Reranker`] on the CPU: a cross-encoder of the families BERT, RoBERTa, XLM-RoBERTa,
/// DistilBERT and MPNet with one output, or with two.
///
/// A score is the model's output as it is, a number without a unit and without bounds; only the
/// order means something. Of a pair that is too long the end of the text is not read; of a question
/// no more is read than fills half of what the model reads. It may be shared between threads.
pub struct CrossEncoder {
    id: String,
    tokenizer: TextTokenizer,
    encoder: Encoder,
    head: Head,
}

impl CrossEncoder {
    /// Loads the model from a folder that holds `model.safetensors`, `tokenizer.json` and
    /// `config.json`.
    ///
    /// Its id is the name of the folder and the first 12 hex digits of the SHA-256 of the weights.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Damaged`] if a file is absent or not what it should be, such as weights
    /// without a head, and [`NeuralError::Unreadable`] if it cannot be read.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        Self::load_present(folder).map_err(|error| match error {
            NeuralError::Missing { folder } => damaged(&folder, "weights or tokenizer are absent"),
            error => error,
        })
    }

    fn load_present(folder: &Path) -> Result<Self, NeuralError> {
        let weights = folder::read_weights(folder)?;
        let config = folder::read_config(folder)?;
        let tokens_max = read_tokens_max(folder, config.sequence_max(), TOKENS_DEFAULT)?;
        let load = |vb: &VarBuilder<'_>| {
            let head = Head::load(vb, &config)?;
            Ok((Encoder::load(&base(vb, config.model_type), &config)?, head))
        };
        let parts = load_parts(folder, &weights, &config, tokens_max, load)?;
        let name = folder::name_of(folder).unwrap_or_default();
        let (encoder, head) = parts.model;
        let id = format!("{name}:{}", parts.hash);
        let model = Self { id, tokenizer: parts.tokenizer, encoder, head };
        try_out(folder, || model.score("", &[""]).map(|_| ()))?;
        Ok(model)
    }

    fn score_on(
        &self,
        threads: usize,
        question: &str,
        texts: &[&str],
    ) -> Result<Vec<f32>, NeuralError> {
        let sequences = self.tokenizer.pairs(question, texts)?;
        batches::run(&self.encoder, &sequences, threads, |_, rows| {
            let first = rows.last.get(..self.encoder.width())?;
            Some(self.head.score(first)).filter(|score| score.is_finite())
        })
    }
}

impl fmt::Debug for CrossEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrossEncoder").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Reranker for CrossEncoder {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, question: &str, texts: &[&str]) -> Result<Vec<f32>, NeuralError> {
        self.score_on(cores(), question, texts)
    }
}

/// A function that a layer ends with. Both keep NaN.
type Activation = fn(f32) -> f32;
const TANH: Activation = f32::tanh;
const RELU: Activation = |x| if x < 0.0 { 0.0 } else { x };

/// What makes a score of a row.
struct Head {
    /// A layer before the last, with the function after it.
    layer: Option<(Rows, Activation)>,
    /// One row, or two whose difference counts.
    outputs: Rows,
}

/// The rows of a matrix and the number that is added to the product with each.
struct Rows {
    rows: Vec<Vec<f32>>,
    bias: Vec<f32>,
}

impl Head {
    /// Takes the head out of the weights, by the names that its family has for it.
    fn load(vb: &VarBuilder, config: &Config) -> CandleResult<Self> {
        let width = config.hidden_size;
        let pooler = base(vb, config.model_type).pp("pooler.dense");
        let layer = |vb: &VarBuilder, function| {
            Ok::<_, candle_core::Error>(Some((Rows::load_square(vb, width)?, function)))
        };
        let (layer, last) = if vb.contains_tensor("classifier.out_proj.weight") {
            (layer(&vb.pp("classifier.dense"), TANH)?, "classifier.out_proj")
        } else if vb.contains_tensor("classifier.weight") {
            match config.model_type {
                Family::DistilBert => (layer(&vb.pp("pre_classifier"), RELU)?, "classifier"),
                _ => (layer(&pooler, TANH)?, "classifier"),
            }
        } else if vb.contains_tensor("score.weight") {
            let pooled = pooler.contains_tensor("weight");
            (if pooled { layer(&pooler, TANH)? } else { None }, "score")
        } else {
            bail!("the weights hold no head that scores a pair");
        };
        Ok(Self { layer, outputs: Rows::load_last(&vb.pp(last), width)? })
    }

    fn score(&self, row: &[f32]) -> f32 {
        let outputs = match &self.layer {
            None => self.outputs.times(row),
            Some((layer, function)) => {
                let hidden: Vec<f32> = layer.times(row).into_iter().map(function).collect();
                self.outputs.times(&hidden)
            }
        };
        match outputs[..] {
            [output] => output,
            [not, yes] => yes - not,
            _ => f32::NAN,
        }
    }
}

impl Rows {
    fn load_square(vb: &VarBuilder, width: usize) -> CandleResult<Self> {
        let (weight, bias) = linear(vb, width, width)?;
        Ok(Self { rows: weight.to_vec2()?, bias: bias.to_vec1()? })
    }

    /// The last layer, which may have no bias, and one output or two.
    fn load_last(vb: &VarBuilder, width: usize) -> CandleResult<Self> {
        let outputs = vb.get_unchecked("weight")?.dim(0)?;
        if !(1..=2).contains(&outputs) {
            bail!("a head with {outputs} outputs gives no score");
        }
        let bias = match vb.contains_tensor("bias") {
            true => vb.get(outputs, "bias")?.to_vec1()?,
            false => vec![0.0; outputs],
        };
        Ok(Self { rows: vb.get((outputs, width), "weight")?.to_vec2()?, bias })
    }

    fn times(&self, row: &[f32]) -> Vec<f32> {
        self.rows.iter().zip(&self.bias).map(|(own, bias)| dot(own, row) + bias).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tiny::{HIDDEN, LENGTH, Tiny};
    use super::*;

    const QUESTION: &str = "who is ann";
    const TEXTS: [&str; 4] =
        ["ann is bob", "x", "", "a long text that is cut at its end and not read"];

    /// A head by the name of its family: its layers, of which the last has so many outputs.
    fn with_head(family: Family, outputs: usize) -> (Tiny, &'static str, &'static str) {
        let (prefix, layer, last) = match family {
            Family::Bert => ("bert.", "bert.pooler.dense", "classifier"),
            Family::Roberta => ("roberta.", "classifier.dense", "classifier.out_proj"),
            Family::DistilBert => ("distilbert.", "pre_classifier", "classifier"),
            Family::MpNet => ("mpnet.", "classifier.dense", "classifier.out_proj"),
        };
        let mut tiny = Tiny::new(family, prefix);
        tiny.add_pair(layer, &[HIDDEN, HIDDEN]);
        tiny.add_pair(last, &[outputs, HIDDEN]);
        (tiny, layer, last)
    }

    /// The score of a pair by the reference.
    fn reference(tiny: &Tiny, sequence: &super::super::tokens::Sequence, names: [&str; 2]) -> f64 {
        let first = tiny.encode(&sequence.ids, &sequence.types).swap_remove(0);
        let relu = names[0] == "pre_classifier";
        let function = |x: f64| if relu { x.max(0.0) } else { x.tanh() };
        let hidden: Vec<f64> = tiny.linear(names[0], &first).into_iter().map(function).collect();
        let outputs = tiny.linear(names[1], &hidden);
        if outputs.len() == 2 { outputs[1] - outputs[0] } else { outputs[0] }
    }

    #[test]
    fn each_family_scores_as_its_reference() {
        for family in [Family::Bert, Family::Roberta, Family::DistilBert, Family::MpNet] {
            for outputs in [1, 2] {
                let (tiny, layer, last) = with_head(family, outputs);
                let model = CrossEncoder::load(tiny.save()).unwrap();
                let scores = model.score(QUESTION, &TEXTS).unwrap();
                let pairs = model.tokenizer.pairs(QUESTION, &TEXTS).unwrap();
                for (i, pair) in pairs.iter().enumerate() {
                    let exact = reference(&tiny, pair, [layer, last]);
                    let alone = model.score(QUESTION, &TEXTS[i..=i]).unwrap()[0];
                    for score in [scores[i], alone] {
                        let error = (f64::from(score) - exact).abs();
                        assert!(error < 1e-3, "{family:?} {outputs} {i}: {score} is not {exact}");
                    }
                }
                assert!(scores[0] != scores[1], "{family:?}");
            }
        }
    }

    #[test]
    fn a_score_may_come_right_from_the_first_row() {
        let mut tiny = Tiny::new(Family::Bert, "");
        tiny.add("score.weight", &[1, HIDDEN]);
        let model = CrossEncoder::load(tiny.save()).unwrap();
        let pair = model.tokenizer.pairs(QUESTION, &TEXTS[..1]).unwrap().swap_remove(0);
        let first = tiny.encode(&pair.ids, &pair.types).swap_remove(0);
        let weights = tiny.rows("score.weight").swap_remove(0);
        let exact: f64 = weights.iter().zip(first).map(|(w, x)| w * x).sum();
        let score = model.score(QUESTION, &TEXTS[..1]).unwrap()[0];
        assert!((f64::from(score) - exact).abs() < 1e-4, "{score} is not {exact}");
    }

    #[test]
    fn pairs_are_cut_on_the_side_of_the_text() {
        let (tiny, ..) = with_head(Family::Bert, 1);
        let model = CrossEncoder::load(tiny.save()).unwrap();
        let pair = |question: &str, text: &str| {
            model.tokenizer.pairs(question, &[text]).unwrap().swap_remove(0)
        };
        let short = pair("a b", "c");
        assert_eq!(short.ids, [2, 4, 5, 3, 6, 3]);
        assert_eq!(short.types, [0, 0, 0, 0, 1, 1]);
        assert_eq!(short.marks, [true, false, false, true, false, true]);
        let cut = pair("a b", &"c ".repeat(1_000));
        assert_eq!(cut.ids.len(), LENGTH);
        assert_eq!(cut.ids[..4], [2, 4, 5, 3]);
        assert_eq!(cut.ids[LENGTH - 2..], [6, 3]);
        // Half of what lies between the marks is left for the text.
        let long = pair(&"a ".repeat(1_000), &"c ".repeat(1_000));
        assert_eq!(long.ids.len(), LENGTH);
        assert_eq!(long.ids.iter().filter(|id| **id == 4).count(), (LENGTH - 3).div_ceil(2));
    }

    #[test]
    fn no_texts_and_long_ones_have_their_scores() {
        let (tiny, ..) = with_head(Family::Roberta, 1);
        let model = CrossEncoder::load(tiny.save()).unwrap();
        assert!(model.score("a", &[]).unwrap().is_empty());
        let long = "東京 straße ".repeat(70_000);
        let scores = model.score(&long, &["", &long, "\u{0}", "🦀"]).unwrap();
        assert!(scores.len() == 4 && scores.iter().all(|score| score.is_finite()));
        assert!(model.id().contains(':') && format!("{model:?}").contains(model.id()));
    }

    #[test]
    fn what_has_no_head_is_no_cross_encoder() {
        let reason = |tiny: &Tiny| match CrossEncoder::load(tiny.save()) {
            Err(NeuralError::Damaged { reason, .. }) => reason,
            Err(error) => panic!("another error: {error}"),
            Ok(_) => panic!("it loads"),
        };
        let none = Tiny::new(Family::Bert, "");
        assert_eq!(reason(&none), "the weights hold no head that scores a pair");
        let (three, ..) = with_head(Family::Bert, 3);
        assert_eq!(reason(&three), "a head with 3 outputs gives no score");
        let (mut layerless, layer, _) = with_head(Family::Bert, 1);
        layerless.tensors.remove(&format!("{layer}.weight"));
        assert!(reason(&layerless).contains("bert.pooler.dense.weight"));
        for value in [f32::NAN, f32::INFINITY] {
            let (mut tiny, _, last) = with_head(Family::MpNet, 1);
            tiny.tensors.get_mut(&format!("{last}.bias")).unwrap().1[0] = value;
            assert_eq!(reason(&tiny), "what the model made of text 0 is not finite");
        }
        let folder = tempfile::tempdir().unwrap();
        let error = CrossEncoder::load(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("weights or tokenizer are absent"), "{error}");
    }
}
