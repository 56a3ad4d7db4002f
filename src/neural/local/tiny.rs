//! Tiny models with made-up weights, and what they have to give, for tests.
//!
//! The reference is written out in plain loops over `f64`, one sequence at a time, with the names
//! that each family has for its weights, and shares nothing with what it judges.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::config::Family;

pub(super) const HIDDEN: usize = 8;
const HEADS: usize = 2;
const INNER: usize = 12;
const LAYERS: usize = 2;
const VOCAB: usize = 64;
/// The tokens of the longest sequence.
pub(super) const LENGTH: usize = 30;
const BUCKETS: usize = 8;
const EPS: f64 = 1e-5;

/// A tensor by its shape and its numbers.
type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// A model in a folder of its own.
pub(super) struct Tiny {
    pub(super) folder: TempDir,
    family: Family,
    prefix: &'static str,
    pub(super) tensors: Tensors,
    seed: u64,
}

impl Tiny {
    /// A model of a family, whose weights are called `prefix` and what the family calls them.
    pub(super) fn new(family: Family, prefix: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut tiny = Self { folder, family, prefix, tensors: Tensors::new(), seed: 7 };
        let words = format!("{prefix}embeddings.word_embeddings.weight");
        tiny.add(&words, &[VOCAB, HIDDEN]);
        let places = format!("{prefix}embeddings.position_embeddings.weight");
        tiny.add(&places, &[LENGTH + tiny.first(), HIDDEN]);
        match family {
            Family::Bert => tiny.add_types(2),
            Family::Roberta => tiny.add_types(1),
            Family::DistilBert => {}
            Family::MpNet => {
                let name = format!("{prefix}encoder.relative_attention_bias.weight");
                tiny.add(&name, &[BUCKETS, HEADS]);
            }
        }
        tiny.add_pair(&format!("{prefix}embeddings.LayerNorm"), &[HIDDEN]);
        for layer in 0..LAYERS {
            let [q, k, v, o, norm, up, down, last] = tiny.names(layer);
            for name in [q, k, v, o] {
                tiny.add_pair(&name, &[HIDDEN, HIDDEN]);
            }
            tiny.add_pair(&norm, &[HIDDEN]);
            tiny.add_pair(&up, &[INNER, HIDDEN]);
            tiny.add_pair(&down, &[HIDDEN, INNER]);
            tiny.add_pair(&last, &[HIDDEN]);
        }
        tiny
    }

    fn add_types(&mut self, types: usize) {
        let name = format!("{}embeddings.token_type_embeddings.weight", self.prefix);
        self.add(&name, &[types, HIDDEN]);
    }

    /// Adds a tensor of made-up numbers from -1 to 1.
    pub(super) fn add(&mut self, name: &str, shape: &[usize]) {
        let count = shape.iter().product();
        let mut next = || {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.seed >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let values = (0..count).map(|_| next()).collect();
        self.tensors.insert(name.to_string(), (shape.to_vec(), values));
    }

    /// Adds a weight of this shape and its bias.
    pub(super) fn add_pair(&mut self, name: &str, shape: &[usize]) {
        self.add(&format!("{name}.weight"), shape);
        self.add(&format!("{name}.bias"), &shape[..1]);
    }

    fn first(&self) -> usize {
        if matches!(self.family, Family::Roberta | Family::MpNet) { 2 } else { 0 }
    }

    /// Query, key, value, output and its norm, up, down and its norm.
    fn names(&self, layer: usize) -> [String; 8] {
        let (folder, names) = match self.family {
            Family::Bert | Family::Roberta => (
                "encoder",
                [
                    "attention.self.query",
                    "attention.self.key",
                    "attention.self.value",
                    "attention.output.dense",
                    "attention.output.LayerNorm",
                    "intermediate.dense",
                    "output.dense",
                    "output.LayerNorm",
                ],
            ),
            Family::DistilBert => (
                "transformer",
                [
                    "attention.q_lin",
                    "attention.k_lin",
                    "attention.v_lin",
                    "attention.out_lin",
                    "sa_layer_norm",
                    "ffn.lin1",
                    "ffn.lin2",
                    "output_layer_norm",
                ],
            ),
            Family::MpNet => (
                "encoder",
                [
                    "attention.attn.q",
                    "attention.attn.k",
                    "attention.attn.v",
                    "attention.attn.o",
                    "attention.LayerNorm",
                    "intermediate.dense",
                    "output.dense",
                    "output.LayerNorm",
                ],
            ),
        };
        names.map(|name| format!("{}{folder}.layer.{layer}.{name}", self.prefix))
    }

    /// Writes the files and gives the folder.
    pub(super) fn save(&self) -> &Path {
        let config = match self.family {
            Family::DistilBert => json!({
                "model_type": "distilbert", "dim": HIDDEN, "n_heads": HEADS, "n_layers": LAYERS,
                "hidden_dim": INNER, "vocab_size": VOCAB, "max_position_embeddings": LENGTH,
                "layer_norm_eps": EPS
            }),
            family => json!({
                "model_type": match family {
                    Family::Bert => "bert",
                    Family::Roberta => "xlm-roberta",
                    _ => "mpnet",
                },
                "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
                "intermediate_size": INNER, "vocab_size": VOCAB, "layer_norm_eps": EPS,
                "max_position_embeddings": LENGTH + self.first(), "pad_token_id": 1,
                "type_vocab_size": if family == Family::Bert { 2 } else { 1 },
                "relative_attention_num_buckets": BUCKETS
            }),
        };
        self.write("config.json", config.to_string().as_bytes());
        self.write("model.safetensors", &safetensors(&self.tensors));
        let tokenizer = match self.family {
            Family::Roberta => unigram(),
            Family::MpNet => byte_pairs(),
            _ => word_pieces(),
        };
        self.write("tokenizer.json", tokenizer.to_string().as_bytes());
        self.folder.path()
    }

    /// Writes a file below the folder.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        let file = self.folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }

    /// The numbers of a tensor, in rows.
    pub(super) fn rows(&self, name: &str) -> Vec<Vec<f64>> {
        let (shape, values) = &self.tensors[name];
        let width = *shape.last().unwrap();
        values.chunks(width).map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect()
    }

    /// Weight times row plus bias.
    pub(super) fn linear(&self, name: &str, row: &[f64]) -> Vec<f64> {
        let bias = self.rows(&format!("{name}.bias")).concat();
        let mut outputs = Vec::new();
        for (weights, bias) in self.rows(&format!("{name}.weight")).iter().zip(bias) {
            let mut sum = bias;
            for (weight, x) in weights.iter().zip(row) {
                sum += weight * x;
            }
            outputs.push(sum);
        }
        outputs
    }

    fn norm(&self, name: &str, row: &[f64]) -> Vec<f64> {
        let scale = self.rows(&format!("{name}.weight")).concat();
        let shift = self.rows(&format!("{name}.bias")).concat();
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
        let root = (variance + EPS).sqrt();
        (0..row.len()).map(|i| (row[i] - mean) / root * scale[i] + shift[i]).collect()
    }

    /// What the encoder has to give for one sequence: a row for each token.
    pub(super) fn encode(&self, ids: &[u32], types: &[u32]) -> Vec<Vec<f64>> {
        self.encode_by(LAYERS, ids, types)
    }

    /// What stands for the tokens after the first layers.
    fn encode_by(&self, layers: usize, ids: &[u32], types: &[u32]) -> Vec<Vec<f64>> {
        let prefix = self.prefix;
        let words = self.rows(&format!("{prefix}embeddings.word_embeddings.weight"));
        let places = self.rows(&format!("{prefix}embeddings.position_embeddings.weight"));
        let types_name = format!("{prefix}embeddings.token_type_embeddings.weight");
        let mut xs = Vec::new();
        for (place, id) in ids.iter().enumerate() {
            let mut row = words[*id as usize].clone();
            row = plus(&row, &places[place + self.first()]);
            if self.tensors.contains_key(&types_name) {
                let of_type = if self.family == Family::Bert { types[place] } else { 0 };
                row = plus(&row, &self.rows(&types_name)[of_type as usize]);
            }
            xs.push(self.norm(&format!("{prefix}embeddings.LayerNorm"), &row));
        }
        for layer in 0..layers {
            xs = self.layer(layer, &xs);
        }
        xs
    }

    fn layer(&self, layer: usize, xs: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let [query, key, value, output, norm, up, down, last] = self.names(layer);
        let each = |name: &str| xs.iter().map(|x| self.linear(name, x)).collect::<Vec<_>>();
        let (queries, keys, values) = (each(&query), each(&key), each(&value));
        let size = HIDDEN / HEADS;
        let mut ys = Vec::new();
        for i in 0..xs.len() {
            let mut attended = vec![0.0; HIDDEN];
            for head in 0..HEADS {
                let own = head * size..(head + 1) * size;
                let mut scores = Vec::new();
                for (j, key) in keys.iter().enumerate() {
                    let product = own.clone().map(|at| queries[i][at] * key[at]).sum::<f64>();
                    scores.push(product / (size as f64).sqrt() + self.bias(i, j, head));
                }
                let sum: f64 = scores.iter().map(|score| score.exp()).sum();
                for at in own {
                    for j in 0..xs.len() {
                        attended[at] += scores[j].exp() / sum * values[j][at];
                    }
                }
            }
            let attended = self.norm(&norm, &plus(&self.linear(&output, &attended), &xs[i]));
            let inner: Vec<f64> = self.linear(&up, &attended).into_iter().map(gelu).collect();
            ys.push(self.norm(&last, &plus(&self.linear(&down, &inner), &attended)));
        }
        ys
    }

    /// What MPNet adds to the score of token `i` for token `j`.
    fn bias(&self, i: usize, j: usize, head: usize) -> f64 {
        let name = format!("{}encoder.relative_attention_bias.weight", self.prefix);
        if !self.tensors.contains_key(&name) {
            return 0.0;
        }
        // Four rows for each side: distances 0 and 1, and from there on by logarithm to 128.
        let distance = i.abs_diff(j);
        let row = match distance {
            0 | 1 => distance,
            _ => 2 + ((distance as f64 / 2.0).ln() / 64_f64.ln() * 2.0) as usize,
        };
        let row = row.min(3) + if j > i { 4 } else { 0 };
        self.rows(&name)[row][head]
    }
}

fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// x * P(N <= x), with the series of the error function.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    x * 0.5 * (1.0 + sum * std::f64::consts::FRAC_2_SQRT_PI)
}

/// The bytes of a safetensors file.
pub(super) fn safetensors(tensors: &Tensors) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, (shape, values)) in tensors {
        let start = data.len();
        values.iter().for_each(|value| data.extend_from_slice(&value.to_le_bytes()));
        let tensor = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] });
        header.insert(name.clone(), tensor);
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

fn letters() -> impl Iterator<Item = String> {
    ('a'..='z').map(String::from)
}

/// The letters, alone and inside of a word, as BERT has them.
fn word_pieces() -> Value {
    let marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(String::from);
    let inside = letters().map(|letter| format!("##{letter}"));
    let vocab: BTreeMap<String, usize> =
        marks.into_iter().chain(letters()).chain(inside).zip(0..).collect();
    let mark =
        |name: &str, of_type: u8| json!({ "SpecialToken": { "id": name, "type_id": of_type } });
    let text = |name: &str, of_type: u8| json!({ "Sequence": { "id": name, "type_id": of_type } });
    let [cls, sep] = [("[CLS]", 2), ("[SEP]", 3)]
        .map(|(name, id)| json!({ "id": name, "ids": [id], "tokens": [name] }));
    json!({
        "version": "1.0",
        "model": {
            "type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]",
            "continuing_subword_prefix": "##", "max_input_chars_per_word": 100
        },
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [mark("[CLS]", 0), text("A", 0), mark("[SEP]", 0)],
            "pair": [
                mark("[CLS]", 0), text("A", 0), mark("[SEP]", 0), text("B", 1), mark("[SEP]", 1)
            ],
            "special_tokens": { "[CLS]": cls, "[SEP]": sep }
        },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true }
    })
}

/// Pieces by likelihood with a mark for a space, as XLM-RoBERTa has them.
fn unigram() -> Value {
    let marks = ["<s>", "<pad>", "</s>", "<unk>"].map(|mark| (mark.to_string(), 0.0));
    let pieces = ["▁", "▁the", "an", "in", "er"].map(|piece| (piece.to_string(), -2.5));
    let letters = letters().map(|letter| (letter, -4.0));
    let vocab: Vec<(String, f64)> = marks.into_iter().chain(pieces).chain(letters).collect();
    json!({
        "version": "1.0",
        "model": { "type": "Unigram", "unk_id": 3, "vocab": vocab, "byte_fallback": false },
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                { "type": "NFKC" }, { "type": "Lowercase" },
                { "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": " " }
            ]
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                { "type": "WhitespaceSplit" },
                {
                    "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                    "split": true
                }
            ]
        },
        "post_processor": {
            "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0],
            "trim_offsets": true, "add_prefix_space": true
        }
    })
}

/// Letters and pairs of them, with a letter for a space, as RoBERTa has them.
fn byte_pairs() -> Value {
    let marks = ["<s>", "<pad>", "</s>", "<unk>", "Ġ", "th", "the", "Ġthe"].map(String::from);
    let vocab: BTreeMap<String, usize> = marks.into_iter().chain(letters()).zip(0..).collect();
    json!({
        "version": "1.0",
        "model": {
            "type": "BPE", "vocab": vocab, "unk_token": "<unk>",
            "merges": [["t", "h"], ["th", "e"], ["Ġ", "the"]]
        },
        "normalizer": null,
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true },
        "post_processor": {
            "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0],
            "trim_offsets": true, "add_prefix_space": true
        }
    })
}

mod tests {
    use super::super::tokens::{Sequence, TextTokenizer};
    use super::super::{Embedder, NeuralError, SentenceModel};
    use super::*;

    const FAMILIES: [(Family, &str); 4] = [
        (Family::Bert, "bert."),
        (Family::Roberta, ""),
        (Family::DistilBert, "distilbert."),
        (Family::MpNet, ""),
    ];
    const TEXTS: [&str; 4] =
        ["the ann and bob", "x", "", "a long text that is read to its end only once"];

    fn unit(row: &[f64]) -> Vec<f64> {
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter().map(|x| x / norm).collect()
    }

    fn assert_near(ours: &[f32], exact: &[f64], what: &str) {
        assert_eq!(ours.len(), exact.len(), "{what}");
        for (x, y) in ours.iter().zip(exact) {
            assert!((f64::from(*x) - y).abs() < 1e-4, "{what}: {ours:?} is not {exact:?}");
        }
    }

    fn tokenizer(tiny: &Tiny) -> TextTokenizer {
        TextTokenizer::load(tiny.folder.path(), LENGTH, VOCAB).unwrap()
    }

    #[test]
    fn each_family_gives_what_its_reference_gives() {
        for (family, prefix) in FAMILIES {
            let tiny = Tiny::new(family, prefix);
            let model = SentenceModel::load(tiny.save()).unwrap();
            let sequences = tokenizer(&tiny).sequences(&TEXTS).unwrap();
            assert_eq!(sequences[3].ids.len(), LENGTH, "{family:?} cuts");
            let together = model.embed(&TEXTS).unwrap();
            let tokens = model.embed_tokens(&TEXTS).unwrap().unwrap();
            for (i, sequence) in sequences.iter().enumerate() {
                let rows = tiny.encode(&sequence.ids, &sequence.types);
                let sum = rows.iter().fold(vec![0.0; HIDDEN], |sum, row| plus(&sum, row));
                let what = format!("{family:?} {:?}", TEXTS[i]);
                assert_near(&together[i], &unit(&sum), &what);
                assert_near(&model.embed(&TEXTS[i..=i]).unwrap()[0], &unit(&sum), &what);
                let windows = tokenizer(&tiny).windows(&TEXTS[i..=i]).unwrap().remove(0);
                let expected: Vec<Vec<f64>> =
                    windows.iter().flat_map(|window| token_rows(&tiny, window)).collect();
                assert_eq!(tokens[i].len(), expected.len(), "{what}");
                for (token, expected) in tokens[i].rows().zip(&expected) {
                    assert_near(token, expected, &what);
                }
            }
        }
    }

    /// The vectors of the tokens of a window. The first and the last row belong to marks.
    fn token_rows(tiny: &Tiny, window: &Sequence) -> Vec<Vec<f64>> {
        let rows = tiny.encode(&window.ids, &window.types);
        let middle = tiny.encode_by(1, &window.ids, &window.types);
        let both = middle.iter().zip(&rows).skip(1).take(rows.len() - 2);
        both.map(|(middle, row)| {
            let half = unit(middle).into_iter().map(|x| x / 2.0);
            unit(&half.chain(unit(row)).collect::<Vec<f64>>())
        })
        .collect()
    }

    #[test]
    fn the_folder_says_how_rows_become_a_vector_and_how_many_are_read() {
        let tiny = Tiny::new(Family::Bert, "");
        tiny.save();
        tiny.write("sentence_bert_config.json", br#"{"max_seq_length":6,"do_lower_case":false}"#);
        let ids = [2, 4, 5, 6, 7, 3];
        let rows = tiny.encode(&ids, &[0; 6]);
        let max = |at: usize| rows.iter().map(|row| row[at]).fold(f64::NEG_INFINITY, f64::max);
        for (mode, exact) in
            [("cls", unit(&rows[0])), ("max", unit(&(0..HIDDEN).map(max).collect::<Vec<_>>()))]
        {
            let pooling = json!({
                "pooling_mode_mean_tokens": false, "pooling_mode_cls_token": mode == "cls",
                "pooling_mode_max_tokens": mode == "max"
            });
            tiny.write("1_Pooling/config.json", pooling.to_string().as_bytes());
            let model = SentenceModel::load(tiny.folder.path()).unwrap();
            assert!(model.id().ends_with(&format!(":{mode}")), "{}", model.id());
            assert_near(&model.embed(&["a b c d e f g h"]).unwrap()[0], &exact, mode);
        }
    }

    #[test]
    fn each_kind_of_tokenizer_gives_all_ids_without_marks() {
        for (family, text, ids) in [
            (Family::Bert, "Bob, a", vec![5, 44, 31, 1, 4]),
            (Family::Roberta, "the Ann", vec![5, 4, 6, 22]),
            (Family::MpNet, "the ab", vec![7, 4, 8, 9]),
        ] {
            let tiny = Tiny::new(family, "");
            let model = SentenceModel::load(tiny.save()).unwrap();
            assert_eq!(model.tokenize(text).unwrap(), ids, "{family:?}");
            assert!(model.tokenize("").unwrap().is_empty());
            // Far more than the model reads, and more than is taken at once.
            let long = "ab ".repeat(30_000);
            assert!(model.tokenize(&long).unwrap().len() >= 60_000, "{family:?}");
            assert_eq!(model.embed(&[&long]).unwrap().len(), 1);
            // A file with another byte is another tokenizer.
            let id = model.tokenizer_id().to_string();
            let file = tiny.folder.path().join("tokenizer.json");
            let bytes = [fs::read(&file).unwrap().as_slice(), b" "].concat();
            tiny.write("tokenizer.json", &bytes);
            assert_ne!(SentenceModel::load(tiny.folder.path()).unwrap().tokenizer_id(), id);
        }
    }

    #[test]
    fn texts_of_any_script_and_size_have_vectors() {
        let long = "Straße 東京 עברית 🦀\u{0}\u{fffd} e\u{301}\n".repeat(30_000);
        assert!(long.len() > 1_000_000);
        let texts = ["", " \n\t", "\u{0}", "東京 москва عربى", "🦀🦀", "[CLS] <s> </s>", &long];
        for (family, prefix) in FAMILIES {
            let tiny = Tiny::new(family, prefix);
            let model = SentenceModel::load(tiny.save()).unwrap();
            let vectors = model.embed(&texts).unwrap();
            assert!(vectors.iter().flatten().all(|x| x.is_finite()), "{family:?}");
            assert_eq!(model.embed_tokens(&texts).unwrap().unwrap().len(), texts.len());
        }
    }

    #[test]
    fn weights_that_do_not_fit_their_config_are_damaged() {
        for (family, prefix) in FAMILIES {
            let names: Vec<String> = Tiny::new(family, prefix).tensors.into_keys().collect();
            for name in names.iter().step_by(5) {
                let mut tiny = Tiny::new(family, prefix);
                tiny.tensors.remove(name);
                assert_damaged(tiny.save(), name);
                tiny.add(name, &[3, 3]);
                assert_damaged(tiny.save(), name);
            }
            let mut tiny = Tiny::new(family, prefix);
            let name = format!("{}.bias", tiny.names(0)[5]);
            tiny.tensors.get_mut(&name).unwrap().1[0] = f32::NAN;
            assert_damaged(tiny.save(), "NaN");
        }
    }

    fn assert_damaged(folder: &Path, what: &str) {
        match SentenceModel::load(folder) {
            Err(NeuralError::Damaged { reason, .. }) => {
                assert!(!reason.is_empty() && !reason.contains('\n'), "{what}: {reason}");
            }
            Err(error) => panic!("{what}: another error: {error}"),
            Ok(_) => panic!("{what}: it loads"),
        }
    }
}
