//! Models of two layers with random weights, written as safetensors and as GGUF.

use std::collections::HashMap;
use std::fs::{self, File};

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use serde_json::json;

use crate::neural::local::causal::gguf::NAMES;
use crate::random::SplitMix64;

pub(super) const FAMILIES: [&str; 3] = ["llama", "qwen2", "qwen3"];
pub(super) const LAYERS: usize = 2;
pub(super) const HEADS: usize = 4;
pub(super) const KV_HEADS: usize = 2;
pub(super) const INNER: usize = 64;
const HIDDEN: usize = 32;
/// 256 bytes, the merges below and three marks; and some rows that no token has.
pub(super) const VOCAB: usize = 288;
pub(super) const BEGIN: u32 = 280;
pub(super) const END: u32 = 281;
pub(super) const LINE_FEED: u32 = 10;
/// Pairs that are one token.
const MERGES: [(&str, &str); 8] = [
    ("t", "h"),
    ("th", "e"),
    ("Ġ", "the"),
    ("e", "r"),
    ("Ġ", "k"),
    ("i", "n"),
    ("Ġ", "o"),
    ("o", "n"),
];

#[derive(Clone)]
pub(super) struct Tiny {
    pub(super) config: serde_json::Value,
    pub(super) weights: HashMap<String, Tensor>,
    plain: HashMap<String, Vec<f32>>,
    /// What a GGUF file divides the turns by.
    pub(super) factors: Option<Vec<f32>>,
}

impl Tiny {
    pub(super) fn new(family: &str, tied: bool) -> Self {
        // A Qwen3 says how large its heads are, for they do not follow from the rest.
        let head = if family == "qwen3" { 16 } else { HIDDEN / HEADS };
        let mut config = json!({
            "model_type": family, "vocab_size": VOCAB, "hidden_size": HIDDEN,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS, "intermediate_size": INNER, "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0, "tie_word_embeddings": tied, "eos_token_id": END,
            "hidden_act": "silu", "torch_dtype": "bfloat16"
        });
        if family == "qwen3" {
            config["head_dim"] = head.into();
        }
        let mut shapes: Vec<(String, Vec<usize>)> = vec![
            ("model.embed_tokens.weight".into(), vec![VOCAB, HIDDEN]),
            ("model.norm.weight".into(), vec![HIDDEN]),
        ];
        if !tied {
            shapes.push(("lm_head.weight".into(), vec![VOCAB, HIDDEN]));
        }
        for layer in 0..LAYERS {
            let mut push = |part: &str, shape: Vec<usize>| {
                shapes.push((format!("model.layers.{layer}.{part}"), shape));
            };
            for (part, heads) in [("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)] {
                push(&format!("self_attn.{part}_proj.weight"), vec![heads * head, HIDDEN]);
                if family == "qwen2" {
                    push(&format!("self_attn.{part}_proj.bias"), vec![heads * head]);
                }
                if family == "qwen3" && part != "v" {
                    push(&format!("self_attn.{part}_norm.weight"), vec![head]);
                }
            }
            push("self_attn.o_proj.weight", vec![HIDDEN, HEADS * head]);
            push("input_layernorm.weight", vec![HIDDEN]);
            push("post_attention_layernorm.weight", vec![HIDDEN]);
            push("mlp.gate_proj.weight", vec![INNER, HIDDEN]);
            push("mlp.up_proj.weight", vec![INNER, HIDDEN]);
            push("mlp.down_proj.weight", vec![HIDDEN, INNER]);
        }
        let mut random = SplitMix64::new(7);
        let mut weights = HashMap::new();
        for (name, shape) in shapes {
            let count = shape.iter().product();
            let mut values = random.uniform(count, 0.3);
            if name.ends_with("norm.weight") {
                values.iter_mut().for_each(|x| *x += 1.0);
            }
            weights.insert(name, Tensor::from_vec(values, shape, &Device::Cpu).unwrap());
        }
        Self::with(config, weights)
    }

    fn with(config: serde_json::Value, weights: HashMap<String, Tensor>) -> Self {
        let plain = weights.iter().map(|(name, tensor)| {
            (name.clone(), tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap())
        });
        Self { config, plain: plain.collect(), weights, factors: None }
    }

    pub(super) fn weight(&self, name: &str) -> &[f32] {
        &self.plain[name]
    }

    pub(super) fn find(&self, name: &str) -> Option<&[f32]> {
        self.plain.get(name).map(Vec::as_slice)
    }

    pub(super) fn hidden(&self) -> usize {
        HIDDEN
    }

    pub(super) fn head_size(&self) -> usize {
        self.config["head_dim"].as_u64().map_or(HIDDEN / HEADS, |size| size as usize)
    }

    pub(super) fn theta(&self) -> f32 {
        10_000.0
    }

    pub(super) fn tied(&self) -> bool {
        self.config["tie_word_embeddings"] == true
    }

    /// The same with each weight rounded to a type and back.
    pub(super) fn rounded(&self, dtype: DType) -> Self {
        let round = |tensor: &Tensor| tensor.to_dtype(dtype).unwrap().to_dtype(DType::F32).unwrap();
        let weights = self.weights.iter().map(|(name, t)| (name.clone(), round(t))).collect();
        Self::with(self.config.clone(), weights)
    }

    /// The same with each matrix quantised and back.
    pub(super) fn quantised(&self, dtype: GgmlDType) -> Self {
        let round = |tensor: &Tensor| match tensor.rank() {
            1 => tensor.clone(),
            _ => QTensor::quantize(tensor, dtype).unwrap().dequantize(&Device::Cpu).unwrap(),
        };
        let weights = self.weights.iter().map(|(name, t)| (name.clone(), round(t))).collect();
        Self::with(self.config.clone(), weights)
    }

    /// A folder with the tokenizer.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tokenizer.json"), tokenizer().to_string()).unwrap();
        folder
    }

    /// A folder with one safetensors file.
    pub(super) fn safetensors(&self, dtype: DType) -> tempfile::TempDir {
        let folder = Self::folder();
        let config = self.config.to_string();
        fs::write(folder.path().join("config.json"), config).unwrap();
        let tensors: HashMap<&str, Tensor> =
            self.weights.iter().map(|(k, t)| (k.as_str(), t.to_dtype(dtype).unwrap())).collect();
        let file = folder.path().join("model.safetensors");
        candle_core::safetensors::save(&tensors, file).unwrap();
        folder
    }

    /// A folder with two safetensors files and an index.
    pub(super) fn sharded(&self) -> tempfile::TempDir {
        let folder = self.safetensors(DType::F32);
        fs::remove_file(folder.path().join("model.safetensors")).unwrap();
        let mut map = serde_json::Map::new();
        for (number, second) in [false, true].into_iter().enumerate() {
            let file = format!("model-0000{}-of-00002.safetensors", number + 1);
            let own = |name: &str| name.contains(".1.") == second;
            let tensors: HashMap<&str, Tensor> = self
                .weights
                .iter()
                .filter(|(name, _)| own(name))
                .map(|(name, t)| (name.as_str(), t.clone()))
                .collect();
            candle_core::safetensors::save(&tensors, folder.path().join(&file)).unwrap();
            tensors.keys().for_each(|name| {
                map.insert((*name).to_string(), file.as_str().into());
            });
        }
        let index = json!({ "metadata": {}, "weight_map": map });
        let file = folder.path().join("model.safetensors.index.json");
        fs::write(file, index.to_string()).unwrap();
        folder
    }

    /// A folder with one GGUF file whose matrices are quantised.
    pub(super) fn gguf(&self, dtype: GgmlDType) -> tempfile::TempDir {
        let folder = Self::folder();
        let mut tensors = Vec::new();
        for (name, tensor) in &self.weights {
            let dtype = if tensor.rank() == 1 { GgmlDType::F32 } else { dtype };
            let tensor = QTensor::quantize(&self.as_converted(name, tensor), dtype).unwrap();
            tensors.push((gguf_name(name), tensor));
        }
        if let Some(factors) = &self.factors {
            let factors = Tensor::new(factors.as_slice(), &Device::Cpu).unwrap();
            let factors = QTensor::quantize(&factors, GgmlDType::F32).unwrap();
            tensors.push(("rope_freqs.weight".to_string(), factors));
        }
        let metadata = self.metadata();
        let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(k, v)| (k.as_str(), v)).collect();
        let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(k, t)| (k.as_str(), t)).collect();
        let mut file = File::create(folder.path().join("model.gguf")).unwrap();
        gguf_file::write(&mut file, &metadata, &tensors).unwrap();
        folder
    }

    /// What the converter of llama.cpp makes of a tensor: in a Llama the halves of each head of
    /// query and key are laced into each other.
    fn as_converted(&self, name: &str, tensor: &Tensor) -> Tensor {
        let laced = name.contains("q_proj") || name.contains("k_proj");
        if self.config["model_type"] != "llama" || !laced {
            return tensor.clone();
        }
        let (rows, width) = tensor.dims2().unwrap();
        let head = self.head_size();
        let halves = tensor.reshape((rows / head, 2, head / 2, width)).unwrap();
        let laced = halves.transpose(1, 2).unwrap().contiguous().unwrap();
        laced.reshape((rows, width)).unwrap()
    }

    fn metadata(&self) -> Vec<(String, Value)> {
        let family = self.config["model_type"].as_str().unwrap();
        let size = |size: usize| Value::U32(size as u32);
        let own = [
            ("block_count", size(LAYERS)),
            ("context_length", size(2048)),
            ("embedding_length", size(HIDDEN)),
            ("feed_forward_length", size(INNER)),
            ("attention.head_count", size(HEADS)),
            ("attention.head_count_kv", size(KV_HEADS)),
            ("attention.key_length", size(self.head_size())),
            ("attention.value_length", size(self.head_size())),
            ("attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
            ("rope.freq_base", Value::F32(self.theta())),
        ];
        let mut metadata: Vec<(String, Value)> =
            own.into_iter().map(|(key, value)| (format!("{family}.{key}"), value)).collect();
        metadata.extend([
            ("general.architecture".to_string(), text(family)),
            ("tokenizer.ggml.scores".to_string(), Value::Array(vec![Value::F32(0.5)])),
            ("tokenizer.ggml.eos_token_id".to_string(), Value::U32(END)),
        ]);
        metadata.extend(gguf_tokenizer(&tokenizer()));
        metadata
    }
}

fn text(text: &str) -> Value {
    Value::String(text.to_string())
}

/// What the converter of llama.cpp makes of [`tokenizer`].
fn gguf_tokenizer(json: &serde_json::Value) -> Vec<(String, Value)> {
    // Ids without a token have a name too, and are of the kind that is not used.
    let mut tokens: Vec<(Value, Value)> =
        (0..=END).map(|id| (text(&format!("[PAD{id}]")), Value::I32(5))).collect();
    for (token, id) in json["model"]["vocab"].as_object().unwrap() {
        let id = id.as_u64().unwrap() as u32;
        tokens[id as usize] = (text(token), Value::I32(if id >= BEGIN { 3 } else { 1 }));
    }
    let (tokens, kinds) = tokens.into_iter().unzip();
    let merges = MERGES.iter().map(|(left, right)| text(&format!("{left} {right}"))).collect();
    [
        ("model", text("gpt2")),
        ("pre", text("gpt-2")),
        ("tokens", Value::Array(tokens)),
        ("token_type", Value::Array(kinds)),
        ("merges", Value::Array(merges)),
        ("bos_token_id", Value::U32(BEGIN)),
        ("add_bos_token", Value::Bool(true)),
    ]
    .map(|(name, value)| (format!("tokenizer.ggml.{name}"), value))
    .into()
}

/// The name of a tensor in a GGUF file.
fn gguf_name(name: &str) -> String {
    let (part, kind) = name.rsplit_once('.').unwrap();
    let (layer, part) = match part.strip_prefix("model.layers.") {
        Some(rest) => {
            let (layer, part) = rest.split_once('.').unwrap();
            (format!("blk.{layer}."), part)
        }
        None => (String::new(), part),
    };
    let (gguf, _) = NAMES.iter().find(|(_, name)| *name == part).unwrap();
    format!("{layer}{gguf}.{kind}")
}

/// A byte-level tokenizer whose first 256 tokens are the bytes, in order.
pub(super) fn tokenizer() -> serde_json::Value {
    let mut vocab = serde_json::Map::new();
    let mut stand_in = 256;
    for byte in 0..=255_u8 {
        let printable = matches!(byte, 33..=126 | 161..=172 | 174..=255);
        let code = if printable { u32::from(byte) } else { stand_in };
        stand_in += u32::from(!printable);
        vocab.insert(char::from_u32(code).unwrap().to_string(), byte.into());
    }
    for (number, (left, right)) in MERGES.iter().enumerate() {
        vocab.insert(format!("{left}{right}"), (256 + number).into());
    }
    let mark = |id: u32, content: &str| {
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true })
    };
    vocab.insert("<s>".to_string(), BEGIN.into());
    vocab.insert("</s>".to_string(), END.into());
    let merges: Vec<[&str; 2]> = MERGES.iter().map(|(left, right)| [*left, *right]).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [mark(BEGIN, "<s>"), mark(END, "</s>")],
        "normalizer": null,
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                           "use_regex": true },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "<s>", "type_id": 0 } },
                       { "Sequence": { "id": "A", "type_id": 0 } }],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } },
                     { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": { "<s>": { "id": "<s>", "ids": [BEGIN], "tokens": ["<s>"] } }
        },
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                     "use_regex": true },
        "model": { "type": "BPE", "dropout": null, "unk_token": null,
                   "continuing_subword_prefix": null, "end_of_word_suffix": null,
                   "fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": merges }
    })
}
