//! Sentence embeddings with all-MiniLM-L6-v2, or another BERT in the same form.
//!
//! A text becomes at most 256 tokens, the tokens become rows, and the mean of the rows, brought to
//! length 1, is the vector. Texts are cut into batches by tokens, not by number, since a token is
//! what costs time: a batch is large enough that reading the weights for it pays, and small
//! enough that the cores get equal shares. Each core runs whole batches of its own.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use candle_core::utils::with_threadpool;
use candle_core::{DType, Device};
use candle_nn::VarBuilder;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;

use super::bert::{Bert, Config};
use super::folder::{self, damaged, first_line, guarded, panic_text};
use super::{Embedder, NeuralError};

/// The longest sequence the model was trained for, in tokens; what lies behind is not read.
const TOKENS_MAX: usize = 256;
/// The longest text that is given to the tokenizer, in bytes. 256 tokens are far shorter, but the
/// tokenizer would go through all of it before it cuts.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Where a batch is full, in tokens.
const BATCH_TOKENS: usize = 512;
/// How much of the SHA-256 of the weights stands in the id, in bytes.
const ID_HASH_BYTES: usize = 6;
/// The name of the model this file is written for, and the weights that are known to be it.
const KNOWN_NAME: &str = "all-MiniLM-L6-v2";
const KNOWN_HASH: &str = "53aa51172d14";

/// A sentence model on the CPU: all-MiniLM-L6-v2, or another BERT with a WordPiece tokenizer.
///
/// It may be shared between threads. It takes some 90 MB of memory, and about as much again for a
/// moment while it loads.
pub struct MiniLm {
    id: String,
    dimensions: usize,
    tokenizer: Tokenizer,
    bert: Bert,
}

impl MiniLm {
    /// Loads the model that [`model_folder`](super::model_folder) names.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), and [`NeuralError::NoFolder`].
    pub fn load_default() -> Result<Self, NeuralError> {
        Self::load(&folder::model_folder()?)
    }

    /// Loads the model from a folder that holds `model.safetensors`, `tokenizer.json` and, unless
    /// its sizes are those of all-MiniLM-L6-v2, `config.json`.
    ///
    /// Its id is its name and the first 12 hex digits of the SHA-256 of the weights. The name is
    /// that of the folder, but weights known to be all-MiniLM-L6-v2 are called that wherever they
    /// lie, so that a moved folder does not make the stored vectors strangers.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Missing`] without weights or tokenizer, [`NeuralError::Damaged`] if a file
    /// is not what it should be and [`NeuralError::Unreadable`] if it cannot be read.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        let weights = folder::read_weights(folder)?;
        let config = folder::read_config(folder)?;
        // Hashing all the weights takes some 50 ms of one core, so it runs beside the rest.
        let (hash, parts) = thread::scope(|scope| {
            let hash = scope.spawn(|| short_hash(&weights));
            let parts = load_parts(folder, &weights, &config);
            (hash.join(), parts)
        });
        let (tokenizer, bert) = parts?;
        let hash = hash.map_err(|payload| failed(panic_text(payload.as_ref())))?;
        let id = format!("{}:{hash}", name_of(folder, &hash));
        let model = Self { id, dimensions: config.hidden_size, tokenizer, bert };
        model.try_out(folder)?;
        Ok(model)
    }

    /// Embeds an empty text, so that parts that do not fit together are found at once.
    fn try_out(&self, folder: &Path) -> Result<(), NeuralError> {
        match self.embed(&[""]) {
            Ok(_) => Ok(()),
            Err(NeuralError::Failed { reason }) => {
                Err(damaged(&folder.join(folder::TOKENIZER), reason))
            }
            Err(error) => Err(damaged(&folder.join(folder::WEIGHTS), error.to_string())),
        }
    }

    /// Embeds with so many batches at once at most.
    fn embed_on(&self, threads: usize, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let ids = guarded(|| self.tokenize(texts)).map_err(failed)??;
        let order = longest_first(&ids);
        let batches = cut_batches(&order, &ids);
        let run = |batch: &[usize]| self.run_batch(batch, &ids);
        let mut vectors = vec![Vec::new(); texts.len()];
        for (text, vector) in run_all(&batches, threads, run)? {
            vectors[text] = vector;
        }
        // Invariant: each text has a vector, and its numbers are finite.
        match vectors.iter().position(|v| v.is_empty() || v.iter().any(|x| !x.is_finite())) {
            Some(text) => Err(NeuralError::NotFinite { text }),
            None => Ok(vectors),
        }
    }

    /// The token ids of each text, with the marks at its beginning and end.
    fn tokenize(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, NeuralError> {
        let encode = |text: &&str| {
            let encoding = self.tokenizer.encode_fast(cut_text(text), true).map_err(failed)?;
            match encoding.get_ids() {
                [] => Err(failed("the tokenizer gives no token")),
                ids => Ok(ids.to_vec()),
            }
        };
        texts.iter().map(encode).collect()
    }

    /// The vectors of the texts of one batch, each with the place of its text.
    fn run_batch(&self, batch: &[usize], ids: &[Vec<u32>]) -> Result<Vectors, NeuralError> {
        let lengths: Vec<usize> = batch.iter().map(|text| ids[*text].len()).collect();
        let packed: Vec<u32> = batch.iter().flat_map(|text| &ids[*text]).copied().collect();
        // (tokens, hidden)
        let rows = self.bert.forward(&packed, &lengths).map_err(failed)?;
        let rows: Vec<f32> = rows.flatten_all().and_then(|rows| rows.to_vec1()).map_err(failed)?;
        let mut rest = rows.as_slice();
        let mut vectors = Vec::with_capacity(batch.len());
        for (text, length) in batch.iter().zip(lengths) {
            let (own, after) = rest.split_at(length * self.dimensions);
            vectors.push((*text, pool(own, self.dimensions)));
            rest = after;
        }
        Ok(vectors)
    }
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The weights and the vocabulary would fill a book.
        f.debug_struct("MiniLm").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Embedder for MiniLm {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        self.embed_on(threads, texts)
    }
}

/// Vectors in any order, each with the place of its text.
type Vectors = Vec<(usize, Vec<f32>)>;

fn load_parts(
    folder: &Path,
    weights: &[u8],
    config: &Config,
) -> Result<(Tokenizer, Bert), NeuralError> {
    let tokens_max = TOKENS_MAX.min(config.max_position_embeddings);
    let tokenizer = folder::read_tokenizer(folder, tokens_max)?;
    let id_max = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
    if id_max as usize >= config.vocab_size {
        let reason = format!("token {id_max} is not among the {} of the model", config.vocab_size);
        return Err(damaged(&folder.join(folder::TOKENIZER), reason));
    }
    let load = || {
        let vb = VarBuilder::from_slice_safetensors(weights, DType::F32, &Device::Cpu)?;
        Bert::load(&vb, config)
    };
    let bert = guarded(load)
        .and_then(|loaded| loaded.map_err(first_line))
        .map_err(|reason| damaged(&folder.join(folder::WEIGHTS), reason))?;
    Ok((tokenizer, bert))
}

fn short_hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().take(ID_HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

fn name_of(folder: &Path, hash: &str) -> String {
    let name = folder.file_name().filter(|_| hash != KNOWN_HASH);
    name.map_or_else(|| KNOWN_NAME.to_string(), |name| name.to_string_lossy().into_owned())
}

fn failed(reason: impl ToString) -> NeuralError {
    NeuralError::Failed { reason: first_line(reason) }
}

/// The beginning of a text, at most [`TEXT_BYTES_MAX`] long and ending between two characters.
fn cut_text(text: &str) -> &str {
    // The beginning of a text is a boundary, so there is always one.
    let end = (0..=text.len().min(TEXT_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// The places of the texts, the longest first: the last batches to be handed out are then of
/// short texts and alike, and no core is left alone with a long one at the end.
fn longest_first(ids: &[Vec<u32>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|text| std::cmp::Reverse(ids[*text].len()));
    order
}

/// Cuts the texts, in this order, into batches of at most [`BATCH_TOKENS`] tokens.
fn cut_batches<'a>(order: &'a [usize], ids: &[Vec<u32>]) -> Vec<&'a [usize]> {
    let mut batches = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (place, text) in order.iter().enumerate() {
        let length = ids[*text].len();
        if tokens + length > BATCH_TOKENS && place > start {
            batches.push(&order[start..place]);
            (start, tokens) = (place, 0);
        }
        tokens += length;
    }
    if start < order.len() {
        batches.push(&order[start..]);
    }
    batches
}

/// Runs the batches, on several threads if there are several batches.
fn run_all<F>(batches: &[&[usize]], threads: usize, run: F) -> Result<Vectors, NeuralError>
where
    F: Fn(&[usize]) -> Result<Vectors, NeuralError> + Sync,
{
    let next = AtomicUsize::new(0);
    // Takes one batch after another until none is left.
    let work = || -> Result<Vectors, NeuralError> {
        let mut vectors = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            vectors.extend(guarded(|| run(batch)).map_err(failed)??);
        }
        Ok(vectors)
    };
    let threads = threads.min(batches.len());
    if threads < 2 {
        return work();
    }
    // A worker runs inside candle's own pool, where a matrix product that is split into tasks finds
    // itself among the pool's threads. From outside it would hand over each product and wait, with
    // twice as many threads as cores. The size of the pool is the limit on what runs at once.
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| with_threadpool(work))).collect();
        let mut vectors = Vec::new();
        for worker in workers {
            let joined = worker.join().map_err(|payload| failed(panic_text(payload.as_ref())))?;
            vectors.extend(joined?);
        }
        Ok(vectors)
    })
}

/// The mean of the rows, brought to length 1.
fn pool(rows: &[f32], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0_f32; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    // The number of rows falls out, as the length becomes 1 in any case.
    let norm = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
    mean.iter_mut().for_each(|x| *x /= norm);
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::OnceLock;

    /// The installed model. A test that needs it fails without it, and says how to install it.
    fn model() -> &'static MiniLm {
        static MODEL: OnceLock<Result<MiniLm, String>> = OnceLock::new();
        let model = MODEL.get_or_init(|| MiniLm::load_default().map_err(|e| e.to_string()));
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
        let ids = model().tokenize(&texts).unwrap();
        for (ids, (text, tokens, _)) in ids.iter().zip(&reference) {
            assert_eq!(ids.len(), *tokens, "{text:?}");
        }
    }

    #[test]
    fn order_is_kept_through_many_batches() {
        let texts: Vec<String> = (0..40).map(|i| "word ".repeat(1 + i * 37 % 60) + "end").collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let [one, four] = [1, 4].map(|threads| model().embed_on(threads, &texts).unwrap());
        for (i, text) in texts.iter().enumerate().step_by(7) {
            let exact: Vec<f64> =
                model().embed(&[text]).unwrap()[0].iter().map(|x| f64::from(*x)).collect();
            assert!(cosine(&one[i], &exact) > 0.999_999, "text {i} on one thread");
            assert!(cosine(&four[i], &exact) > 0.999_999, "text {i} on four threads");
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
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(cut_text(&long).len(), TEXT_BYTES_MAX);
        assert_eq!(cut_text(&format!("a{long}")).len(), TEXT_BYTES_MAX - 1);
        assert_eq!(cut_text("short"), "short");
        let ids = model().tokenize(&["word ".repeat(1 << 20).as_str()]).unwrap();
        assert_eq!(ids[0].len(), TOKENS_MAX);
    }

    #[test]
    fn the_id_names_the_model_and_its_weights() {
        assert_eq!(model().id(), "all-MiniLM-L6-v2:53aa51172d14");
        assert_eq!(model().dimensions(), 384);
        assert_eq!(name_of(Path::new("/models/other"), "00"), "other");
        assert_eq!(name_of(Path::new("/models/other"), KNOWN_HASH), KNOWN_NAME);
        assert_eq!(name_of(Path::new("/"), "00"), KNOWN_NAME);
    }

    #[test]
    fn batches_hold_whole_texts_and_all_of_them() {
        let ids: Vec<Vec<u32>> = [3, 256, 2, 256, 250, 1].map(|n| vec![0; n]).to_vec();
        let order = longest_first(&ids);
        assert_eq!(order, [1, 3, 4, 0, 2, 5]);
        let batches = cut_batches(&order, &ids);
        let tokens = |batch: &&[usize]| batch.iter().map(|text| ids[*text].len()).sum::<usize>();
        assert!(batches.iter().all(|batch| !batch.is_empty() && tokens(batch) <= BATCH_TOKENS));
        assert_eq!(batches.concat(), order);
        assert!(cut_batches(&[], &[]).is_empty());
    }

    #[test]
    fn a_failing_batch_is_an_error_on_any_number_of_threads() {
        let places = [0, 1, 2, 3];
        let batches: Vec<&[usize]> = places.chunks(1).collect();
        for threads in [1, 2] {
            let run = |batch: &[usize]| -> Result<Vectors, NeuralError> {
                assert_ne!(batch[0], 2, "a message");
                Ok(Vec::new())
            };
            let error = run_all(&batches, threads, run).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("the embedding model failed: it panicked"), "{text}");
        }
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
        let folder = folder::model_folder().unwrap();
        fs::read(folder.join(folder::TOKENIZER))
            .unwrap_or_else(|_| panic!("{}", NeuralError::Missing { folder }))
    }

    /// Loading fails and blames the file with this name.
    fn assert_damaged(folder: &Path, name: &str) -> String {
        match MiniLm::load(folder) {
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
        let error = MiniLm::load(folder.path()).err().unwrap();
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
        json["post_processor"]["single"] = vec![mark; 2 * TOKENS_MAX].into();
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
        let model = MiniLm::load(folder.path()).unwrap();
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
            assert_eq!(reason, "the embedding of text 0 is not finite");
        }
    }

    #[test]
    fn a_tokenizer_for_more_words_than_the_model_has_is_damaged() {
        let reason = assert_damaged(tiny(0.5, 30_521).path(), folder::TOKENIZER);
        assert_eq!(reason, "token 30521 is not among the 30521 of the model");
    }
}
