//! The sentence model: what it takes, and what comes out.

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
        let header =
            format!(r#"{{"{words}":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#);
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
