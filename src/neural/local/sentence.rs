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
mod tests {
    use super::super::tokens::WINDOWS_MAX;
    use super::*;
    use std::fs;
    use std::sync::OnceLock;

    /// The installed model. A test that needs it fails without it, and says how to install it.
    fn model() -> &'static SentenceModel {
        static MODEL: OnceLock<Result<SentenceModel, String>> = OnceLock::new();
        let model = MODEL.get_or_init(|| SentenceModel::load_default().map_err(|e| e.to_string()));
        model.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The texts of the reference with the number of their tokens and their vectors.
    fn reference() -> Vec<(String, usize, Vec<f64>)> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/minilm_reference.json");
        let json: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let row = |row: &serde_json::Value| {
            let numbers = row["vector"].as_array().unwrap().iter();
            let vector = numbers.map(|x| x.as_f64().unwrap()).collect();
            let tokens = row["tokens"].as_u64().unwrap() as usize;
            (row["text"].as_str().unwrap().to_string(), tokens, vector)
        };
        json["rows"].as_array().unwrap().iter().map(row).collect()
    }

    fn cosine(ours: &[f32], exact: &[f64]) -> f64 {
        assert_eq!(ours.len(), exact.len());
        ours.iter().zip(exact).map(|(x, y)| f64::from(*x) * y).sum()
    }

    #[test]
    fn vectors_are_those_of_the_reference() {
        let reference = reference();
        let texts: Vec<&str> = reference.iter().map(|(text, ..)| text.as_str()).collect();
        assert!(texts.contains(&"") && reference.iter().any(|(_, tokens, _)| *tokens == 256));
        let together = model().embed(&texts).unwrap();
        for ((text, _, exact), together) in reference.iter().zip(together) {
            let alone = model().embed(&[text]).unwrap().remove(0);
            for vector in [alone, together] {
                let cosine = cosine(&vector, exact);
                assert!(cosine > 0.999_999, "{cosine} for {text:?}");
            }
        }
    }

    #[test]
    fn tokens_are_those_of_the_reference() {
        let reference = reference();
        let texts: Vec<&str> = reference.iter().map(|(text, ..)| text.as_str()).collect();
        let sequences = model().tokenizer.sequences(&texts).unwrap();
        for (sequence, (text, tokens, _)) in sequences.iter().zip(&reference) {
            assert_eq!(sequence.ids.len(), *tokens, "{text:?}");
        }
    }

    #[test]
    fn a_vector_is_the_same_to_the_last_bit_in_any_batch() {
        let texts: Vec<String> = (0..40).map(|i| "word ".repeat(1 + i * 37 % 60) + "end").collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let [one, four] = [1, 4].map(|threads| model().embed_on(threads, &texts).unwrap());
        assert_eq!(one, four);
        for (i, text) in texts.iter().enumerate().step_by(7) {
            assert_eq!(one[i], model().embed(&[text]).unwrap()[0], "text {i}");
        }
    }

    #[test]
    fn no_text_and_empty_texts_have_their_answers() {
        assert!(model().embed(&[]).unwrap().is_empty());
        let vectors = model().embed(&["", "a", ""]).unwrap();
        assert_eq!(vectors.len(), 3);
        for vector in &vectors {
            assert_eq!(vector.len(), model().dimensions());
            let norm: f32 = vector.iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-5);
        }
        let empty: Vec<f64> = vectors[0].iter().map(|x| f64::from(*x)).collect();
        assert!(cosine(&vectors[2], &empty) > 0.999_999);
    }

    #[test]
    fn very_long_texts_are_cut() {
        let long = "word ".repeat(1 << 18);
        let sequences = model().tokenizer.sequences(&[&long]).unwrap();
        assert_eq!(sequences[0].ids.len(), TOKENS_DEFAULT);
        assert_eq!(model().tokenize(&long).unwrap().len(), 1 << 18);
        assert_eq!(model().tokenize("Unfriendliness").unwrap().len(), 5);
    }

    #[test]
    fn the_tokens_of_a_long_text_have_vectors_past_what_its_own_is_of() {
        let (short, long, longest) = ("stone ", "stone ".repeat(600), "stone ".repeat(5_000));
        let texts = [short, &long, &longest];
        let (vectors, tokens) = model().embed_with_tokens(&texts).unwrap();
        let counts: Vec<usize> = tokens.unwrap().iter().map(TokenVectors::len).collect();
        assert_eq!(counts, [1, 600, WINDOWS_MAX * (TOKENS_DEFAULT - 2)]);
        assert_eq!(vectors, model().embed(&texts).unwrap());
    }

    #[test]
    fn tokens_have_vectors_without_marks() {
        let texts = ["ann lives in porto", "", "She moved to Lisbon."];
        let tokens = model().embed_tokens(&texts).unwrap().unwrap();
        for (tokens, text) in tokens.iter().zip(texts) {
            assert_eq!(tokens.len(), model().tokenize(text).unwrap().len(), "{text:?}");
            assert_eq!(tokens.dimensions, 2 * model().dimensions());
            for row in tokens.rows() {
                assert!((row.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
        let question = model().embed_tokens(&["where does ann live"]).unwrap().unwrap();
        let other = model().embed_tokens(&["the price of fish"]).unwrap().unwrap();
        let score = |text| super::super::max_sim(&question[0], text);
        assert!(score(&tokens[0]) > score(&other[0]) + 0.1);
    }

    #[test]
    fn the_id_names_the_model_and_its_weights() {
        assert_eq!(model().id(), "all-MiniLM-L6-v2:53aa51172d14");
        assert_eq!(model().dimensions(), 384);
        assert!(model().tokenizer_id().starts_with("tokenizer:"), "{}", model().tokenizer_id());
    }

    /// A folder with these files; the tokenizer is the installed one if none is given.
    fn folder_with(weights: &[u8], tokenizer: Option<&[u8]>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let tokenizer = tokenizer.map_or_else(installed_tokenizer, <[u8]>::to_vec);
        fs::write(folder.path().join(folder::WEIGHTS), weights).unwrap();
        fs::write(folder.path().join(folder::TOKENIZER), tokenizer).unwrap();
        folder
    }

    fn installed_tokenizer() -> Vec<u8> {
        let folder = crate::neural::model_folder().unwrap();
        fs::read(folder.join(folder::TOKENIZER))
            .unwrap_or_else(|_| panic!("{}", NeuralError::Missing { folder }))
    }

    /// Loading fails and blames the file with this name.
    fn assert_damaged(folder: &Path, name: &str) -> String {
        match SentenceModel::load(folder) {
            Err(NeuralError::Damaged { file, reason }) => {
                assert_eq!(file, folder.join(name), "{reason}");
                reason
            }
            Err(error) => panic!("another error: {error}"),
            Ok(_) => panic!("it loads"),
        }
    }

    /// A safetensors file with this header.
    fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn an_absent_model_says_how_to_install_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = SentenceModel::load(folder.path()).err().unwrap();
        assert!(matches!(error, NeuralError::Missing { .. }));
        let text = format!(
            "no embedding model in {}: run `make model` in a checkout of Engraph, or set \
             ENGRAPH_MODEL_DIR to a folder that holds model.safetensors, tokenizer.json and \
             config.json",
            folder.path().display()
        );
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn hostile_weights_are_damaged() {
        let words = "embeddings.word_embeddings.weight";
        let tensor = |shape: &str, offsets: &str| {
            let header = format!(
                r#"{{"{words}":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#
            );
            safetensors(&header, &[0; 16])
        };
        for (name, weights) in [
            ("nothing", vec![]),
            ("cut short", vec![9; 7]),
            ("garbage", vec![b'x'; 4_096]),
            ("a header of 2^63 bytes", (1_u64 << 63).to_le_bytes().to_vec()),
            ("a header of 100 MB", 100_000_000_u64.to_le_bytes().to_vec()),
            ("a header beyond the end", [&64_u64.to_le_bytes()[..], b"{}"].concat()),
            ("no tensors", safetensors("{}", &[])),
            ("data cut short", tensor("[30522,384]", "[0,46881792]")),
            ("a shape that overflows", tensor("[4294967296,4294967296,16]", "[0,16]")),
            ("a shape unlike its data", tensor("[5]", "[0,16]")),
            ("offsets backwards", tensor("[4]", "[16,0]")),
            ("other sizes", tensor("[4]", "[0,16]")),
            ("deep nesting", safetensors(&"[".repeat(100_000), &[])),
        ] {
            let folder = folder_with(&weights, None);
            let reason = assert_damaged(folder.path(), folder::WEIGHTS);
            assert!(!reason.is_empty() && !reason.contains('\n'), "{name}: {reason}");
        }
    }

    #[test]
    fn a_long_header_is_refused_before_it_is_parsed() {
        let header = format!("{{}}{}", " ".repeat(5 << 20));
        let folder = folder_with(&safetensors(&header, &[]), None);
        let reason = assert_damaged(folder.path(), folder::WEIGHTS);
        assert_eq!(reason, "a header of 5242882 bytes is above the limit 4194304");
    }

    #[test]
    fn hostile_tokenizers_are_damaged() {
        let weights = safetensors("{}", &[]);
        for tokenizer in [
            &b""[..],
            b"\xff\xfe garbage",
            b"{}",
            br#"{"version":"1.0","model":{"type":"BPE","vocab":{},"merges":[["a","b"]]}}"#,
            br#"{"model":{"type":"WordPiece","max_input_chars_per_word":100},
                "normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},
                "post_processor":{"type":"TemplateProcessing"}}"#,
        ] {
            let folder = folder_with(&weights, Some(tokenizer));
            assert_damaged(folder.path(), folder::TOKENIZER);
        }
        let installed = String::from_utf8(installed_tokenizer()).unwrap();
        let cut = &installed.as_bytes()[..installed.len() / 2];
        assert_damaged(folder_with(&weights, Some(cut)).path(), folder::TOKENIZER);
        // With more marks than a sequence may hold, the package computes a length below zero.
        let mut json: serde_json::Value = serde_json::from_str(&installed).unwrap();
        let mark = serde_json::json!({ "SpecialToken": { "id": "[SEP]", "type_id": 0 } });
        json["post_processor"]["single"] = vec![mark; 2 * TOKENS_DEFAULT].into();
        let folder = folder_with(&weights, Some(json.to_string().as_bytes()));
        assert_damaged(folder.path(), folder::TOKENIZER);
    }

    #[test]
    fn hostile_configs_are_damaged() {
        let folder = folder_with(&safetensors("{}", &[]), None);
        for config in ["", "null", r#"{"hidden_size":-1}"#, r#"{"num_attention_heads":0}"#] {
            fs::write(folder.path().join(folder::CONFIG), config).unwrap();
            assert_damaged(folder.path(), folder::CONFIG);
        }
    }

    /// A model of one layer and four dimensions for the installed tokenizer, each weight `value`.
    fn tiny(value: f32, vocab: usize) -> tempfile::TempDir {
        let tables = ["word", "position", "token_type"].map(|name| format!("{name}_embeddings"));
        let mut shapes = vec![
            (format!("embeddings.{}.weight", tables[0]), vec![vocab, 4]),
            (format!("embeddings.{}.weight", tables[1]), vec![512, 4]),
            (format!("embeddings.{}.weight", tables[2]), vec![2, 4]),
        ];
        let layer = "encoder.layer.0";
        for (name, outputs, inputs) in [
            ("attention.self.query", 4, 4),
            ("attention.self.key", 4, 4),
            ("attention.self.value", 4, 4),
            ("attention.output.dense", 4, 4),
            ("intermediate.dense", 8, 4),
            ("output.dense", 4, 8),
        ] {
            shapes.push((format!("{layer}.{name}.weight"), vec![outputs, inputs]));
            shapes.push((format!("{layer}.{name}.bias"), vec![outputs]));
        }
        let norms = ["attention.output", "output"].map(|name| format!("{layer}.{name}"));
        for name in ["embeddings".to_string()].iter().chain(&norms) {
            shapes.push((format!("{name}.LayerNorm.weight"), vec![4]));
            shapes.push((format!("{name}.LayerNorm.bias"), vec![4]));
        }
        let mut header = serde_json::Map::new();
        let mut end = 0;
        for (name, shape) in shapes {
            let start = end;
            end += 4 * shape.iter().product::<usize>();
            let tensor = serde_json::json!({
                "dtype": "F32", "shape": shape, "data_offsets": [start, end]
            });
            header.insert(name, tensor);
        }
        let data = value.to_le_bytes().repeat(end / 4);
        let header = serde_json::Value::Object(header).to_string();
        let folder = folder_with(&safetensors(&header, &data), None);
        let config = serde_json::json!({
            "hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1,
            "intermediate_size": 8, "vocab_size": vocab
        });
        fs::write(folder.path().join(folder::CONFIG), config.to_string()).unwrap();
        folder
    }

    #[test]
    fn another_bert_loads_under_the_name_of_its_folder() {
        let folder = tiny(0.5, 30_522);
        let model = SentenceModel::load(folder.path()).unwrap();
        assert_eq!(model.dimensions(), 4);
        let name = folder.path().file_name().unwrap().to_string_lossy();
        assert!(model.id().starts_with(&format!("{name}:")), "{}", model.id());
        assert_eq!(model.embed(&["some words"]).unwrap()[0].len(), 4);
    }

    #[test]
    fn weights_that_are_not_numbers_are_damaged() {
        for value in [f32::NAN, f32::INFINITY] {
            let folder = tiny(value, 30_522);
            let reason = assert_damaged(folder.path(), folder::WEIGHTS);
            assert_eq!(reason, "what the model made of text 0 is not finite");
        }
    }

    #[test]
    fn a_tokenizer_for_more_words_than_the_model_has_is_damaged() {
        let reason = assert_damaged(tiny(0.5, 30_521).path(), folder::TOKENIZER);
        assert_eq!(reason, "token 30521 is not among the 30521 of the model");
    }
}
