//! Damaged and hostile files: each is an error that names a file, and nothing panics.

use std::fs;
use std::path::Path;

use candle_core::quantized::GgmlDType;
use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};

use super::tiny::{Tiny, tokenizer};
use crate::neural::{CausalLm, NeuralError};
use crate::random::SplitMix64;

/// The error of loading, which blames the file with this name.
fn error(folder: &Path, name: &str) -> String {
    match CausalLm::load(folder) {
        Err(error @ (NeuralError::Damaged { .. } | NeuralError::Unreadable { .. })) => {
            let text = error.to_string();
            let file = if name.is_empty() { folder.to_path_buf() } else { folder.join(name) };
            assert!(text.contains(&file.display().to_string()), "{name}: {text}");
            assert!(!text.contains('\n'), "{text}");
            text
        }
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it loads, without {name}"),
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let tiny = Tiny::new("llama", true);
    for name in ["model.safetensors", "config.json", "tokenizer.json"] {
        let folder = tiny.safetensors(DType::F32);
        fs::remove_file(folder.path().join(name)).unwrap();
        assert!(error(folder.path(), name).contains("a language model is a folder"), "{name}");
    }
    let folder = tiny.gguf(GgmlDType::F32);
    fs::copy(folder.path().join("model.gguf"), folder.path().join("other.gguf")).unwrap();
    assert!(error(folder.path(), "").contains("several"));
    assert!(error(Path::new("/no/such/folder"), "").contains("cannot read"));
    let folder = tiny.sharded();
    let shard = "model-00002-of-00002.safetensors";
    fs::remove_file(folder.path().join(shard)).unwrap();
    error(folder.path(), shard);
    fs::create_dir(folder.path().join(shard)).unwrap();
    assert!(error(folder.path(), shard).contains("not a file"));
    // An index may not lead out of the folder.
    let index = "model.safetensors.index.json";
    let map = json!({ "weight_map": { "model.norm.weight": "../model.safetensors" } });
    fs::write(folder.path().join(index), map.to_string()).unwrap();
    assert!(error(folder.path(), index).contains("not the name of a file"));
}

#[test]
fn files_that_are_cut_short_are_damaged() {
    let tiny = Tiny::new("qwen2", false);
    let folders = [tiny.safetensors(DType::F32), tiny.gguf(GgmlDType::Q8_0)];
    for (folder, name) in folders.iter().zip(["model.safetensors", "model.gguf"]) {
        let file = folder.path().join(name);
        let whole = fs::read(&file).unwrap();
        let near = (0..64).chain((1..40).map(|i| whole.len() * i / 40));
        for length in near.chain([whole.len() - 33]) {
            fs::write(&file, &whole[..length]).unwrap();
            error(folder.path(), name);
        }
    }
}

#[test]
fn files_with_wrong_bytes_never_panic() {
    let tiny = Tiny::new("qwen3", false);
    let folders = [tiny.safetensors(DType::F32), tiny.gguf(GgmlDType::Q4_0)];
    let mut random = SplitMix64::new(3);
    for (folder, name) in folders.iter().zip(["model.safetensors", "model.gguf"]) {
        let file = folder.path().join(name);
        let whole = fs::read(&file).unwrap();
        let mut damaged = 0;
        for _ in 0..150 {
            let mut bytes = whole.clone();
            for _ in 0..3 {
                // Both headers are some 3,000 bytes long.
                let place = random.next() as usize % 3_000;
                bytes[place] = random.next() as u8;
            }
            fs::write(&file, &bytes).unwrap();
            damaged += usize::from(CausalLm::load(folder.path()).is_err());
        }
        assert!(damaged > 50, "{name}: only {damaged}");
    }
}

#[test]
fn tensors_of_other_shapes_or_values_are_damaged() {
    let folder = |name: &str, tensor: Option<Tensor>| {
        let mut tiny = Tiny::new("llama", false);
        match tensor {
            Some(tensor) => tiny.weights.insert(name.to_string(), tensor),
            None => tiny.weights.remove(name),
        };
        tiny.safetensors(DType::F32)
    };
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let name = "model.layers.1.self_attn.k_proj.weight";
    for shape in [&[32, 16][..], &[16, 33], &[512], &[16, 32, 1]] {
        let folder = folder(name, Some(zeros(shape)));
        assert!(error(folder.path(), "model.safetensors").contains(name));
    }
    assert!(error(folder(name, None).path(), "model.safetensors").contains("is not there"));
    let without = folder("lm_head.weight", None);
    assert!(error(without.path(), "model.safetensors").contains("lm_head"));
    for value in [f64::NAN, f64::INFINITY] {
        let folder = folder("model.norm.weight", Some((zeros(&[32]) + value).unwrap()));
        assert!(error(folder.path(), "model.safetensors").contains("not finite"));
    }
}

#[test]
fn hostile_configs_are_damaged() {
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let good: Value =
        serde_json::from_slice(&fs::read(folder.path().join("config.json")).unwrap()).unwrap();
    for (key, value) in [
        ("hidden_size", json!(1 << 16)),
        ("vocab_size", json!(1 << 20)),
        ("vocab_size", json!(100)),
        ("num_hidden_layers", json!(512)),
        ("num_attention_heads", json!(1)),
        ("head_dim", json!(1024)),
        ("intermediate_size", json!(-1)),
        ("tie_word_embeddings", json!(false)),
        ("model_type", json!("bert")),
        ("rms_norm_eps", json!("x")),
    ] {
        let mut config = good.clone();
        config[key] = value;
        fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        assert!(CausalLm::load(folder.path()).is_err(), "{key}");
    }
    for text in ["", "null", "[]", "{}", &"[".repeat(100_000)] {
        fs::write(folder.path().join("config.json"), text).unwrap();
        error(folder.path(), "config.json");
    }
}

#[test]
fn hostile_tokenizers_are_damaged() {
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let write = |json: &Value| {
        fs::write(folder.path().join("tokenizer.json"), json.to_string()).unwrap();
    };
    for (place, value, word) in [
        ("/model/type", json!("WordPiece"), "BPE"),
        ("/model/merges", json!([["a", "zz"]]), ""),
        ("/model/vocab", json!({}), ""),
        ("/model/vocab", json!({ "a": -1 }), ""),
        ("/model/vocab/a", json!(4_000_000_000_u32), "not among the 288"),
        ("/pre_tokenizer/type", json!("Split"), "unknown way"),
        ("/post_processor/special_tokens/<s>/ids", json!([4_000_000_000_u32]), ""),
        ("/version", json!("9"), "version"),
    ] {
        let mut json = tokenizer();
        *json.pointer_mut(place).unwrap() = value;
        write(&json);
        let error = match word {
            "" => CausalLm::load(folder.path()).err().unwrap().to_string(),
            _ => error(folder.path(), "tokenizer.json"),
        };
        assert!(error.contains(word), "{place}: {error}");
    }
    // A decoder is not read, whatever it holds.
    let mut json = tokenizer();
    json["decoder"] =
        json!({ "type": "Replace", "pattern": { "Regex": "((((a+)+)+)+" }, "content": "" });
    write(&json);
    assert!(CausalLm::load(folder.path()).is_ok());
}
