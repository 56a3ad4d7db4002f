//! The sizes of a language model, from `config.json` or from the metadata of a GGUF file.
//!
//! Three families are known: Llama (SmolLM too), Qwen2 and Qwen3. Anything a file asks for that
//! would change what is computed, and is not computed here, is refused by name.

use std::f64::consts::TAU;

use serde::Deserialize;
use serde_json::Value;

use super::gguf::Metadata;

/// What tells the three families apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Family {
    /// Llama 1 to 3 and SmolLM.
    Llama,
    /// Qwen2 and Qwen2.5: query, key and value have a bias.
    Qwen2,
    /// Qwen3: each head of the query and the key is normed.
    Qwen3,
}

/// The sizes of a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Config {
    pub(super) family: Family,
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) layers: usize,
    /// How many heads the query has.
    pub(super) heads: usize,
    /// How many heads key and value have; each serves as many heads of the query.
    pub(super) kv_heads: usize,
    pub(super) head_size: usize,
    pub(super) intermediate_size: usize,
    /// Added to the mean square in each norm.
    pub(super) norm_eps: f32,
    /// How far each pair of a head turns from one place to the next, in radians.
    pub(super) turns: Vec<f64>,
    /// Whether the pairs that turn are neighbours, as in a Llama of a GGUF file; else they lie
    /// half a head apart.
    pub(super) neighbours_turn: bool,
    /// Whether the table of the tokens is the output layer too.
    pub(super) tied: bool,
    /// The tokens at which a text ends, as far as the file says.
    pub(super) ends: Vec<u32>,
}

/// `config.json` as far as it is read.
#[derive(Deserialize)]
struct Json {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    rms_norm_eps: Option<f64>,
    rope_theta: Option<f64>,
    rope_scaling: Option<RopeJson>,
    /// Newer files hold both of the above in one.
    rope_parameters: Option<RopeJson>,
    tie_word_embeddings: Option<bool>,
    hidden_act: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    use_sliding_window: Option<bool>,
    rope_interleaved: Option<bool>,
    quantization_config: Option<Value>,
    eos_token_id: Option<Value>,
}

/// How the turns are stretched for texts longer than those of the training.
#[derive(Deserialize)]
struct RopeJson {
    rope_type: Option<String>,
    /// The older name of `rope_type`; some files hold both.
    #[serde(rename = "type")]
    old_type: Option<String>,
    rope_theta: Option<f64>,
    factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<f64>,
}

impl Config {
    /// Reads `config.json`.
    pub(super) fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let json: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let family = family(&json.model_type).ok_or("model_type is not llama, qwen2 or qwen3")?;
        json.check_known(family)?;
        let heads = json.num_attention_heads;
        let head_size = json.head_dim.unwrap_or(json.hidden_size / heads.max(1));
        let rope = json.rope_parameters.as_ref().or(json.rope_scaling.as_ref());
        let theta = rope.and_then(|rope| rope.rope_theta).or(json.rope_theta).unwrap_or(10_000.0);
        let mut config = Self {
            family,
            vocab_size: json.vocab_size,
            hidden_size: json.hidden_size,
            layers: json.num_hidden_layers,
            heads,
            kv_heads: json.num_key_value_heads.unwrap_or(heads),
            head_size,
            intermediate_size: json.intermediate_size,
            norm_eps: json.rms_norm_eps.unwrap_or(1e-6) as f32,
            turns: Vec::new(),
            neighbours_turn: false,
            tied: json.tie_word_embeddings.unwrap_or(false),
            ends: token_ids(json.eos_token_id.as_ref()),
        };
        config.check()?;
        config.turns = turns(head_size, theta)?;
        if let Some(rope) = rope {
            rope.stretch(&mut config.turns)?;
        }
        Ok(config)
    }

    /// Reads the metadata of a GGUF file. The number of tokens is that of the table's rows, the
    /// output is tied if it is not there, and `factors` is what the turns are divided by.
    pub(super) fn from_gguf(
        metadata: &Metadata,
        vocab_size: usize,
        tied: bool,
        factors: Option<&[f32]>,
    ) -> Result<Self, String> {
        let name = metadata.text("general.architecture").unwrap_or_default();
        let family = family(name).ok_or("general.architecture is not llama, qwen2 or qwen3")?;
        let key = |key: &str| format!("{name}.{key}");
        let size = |end: &str| {
            metadata.size(&key(end)).ok_or_else(|| format!("{} is not a size", key(end)))
        };
        for (what, most) in [(key("expert_count"), 0), ("split.count".to_string(), 1)] {
            if metadata.size(&what).is_some_and(|count| count > most) {
                return Err(format!("{what} is above {most}"));
            }
        }
        let scaling = metadata.text(&key("rope.scaling.type")).unwrap_or("none");
        if scaling != "none" {
            return Err(format!("{} {scaling} is not known", key("rope.scaling.type")));
        }
        let (hidden_size, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let head_size = metadata.size(&key("attention.key_length"));
        let head_size = head_size.unwrap_or(hidden_size / heads.max(1));
        for end in ["attention.value_length", "rope.dimension_count"] {
            if metadata.size(&key(end)).is_some_and(|other| other != head_size) {
                return Err(format!("{} is not the size of a head, {head_size}", key(end)));
            }
        }
        let eps = metadata.number(&key("attention.layer_norm_rms_epsilon"));
        let mut config = Self {
            family,
            vocab_size,
            hidden_size,
            layers: size("block_count")?,
            heads,
            kv_heads: metadata.size(&key("attention.head_count_kv")).unwrap_or(heads),
            head_size,
            intermediate_size: size("feed_forward_length")?,
            norm_eps: eps.unwrap_or(1e-6) as f32,
            turns: Vec::new(),
            neighbours_turn: family == Family::Llama,
            tied,
            ends: metadata.token("tokenizer.ggml.eos_token_id").into_iter().collect(),
        };
        config.check()?;
        let theta = metadata.number(&key("rope.freq_base")).unwrap_or(10_000.0);
        config.turns = turns(head_size, theta)?;
        if let Some(factors) = factors {
            for (turn, factor) in config.turns.iter_mut().zip(factors) {
                *turn /= f64::from(*factor);
            }
            check_turns(&config.turns)?;
        }
        Ok(config)
    }

    /// Says in words what keeps a model of these sizes from being built.
    fn check(&self) -> Result<(), String> {
        // Above every such model there is; products of two of them cannot overflow.
        for (name, size, most) in [
            ("the number of tokens", self.vocab_size, 1 << 20),
            ("the hidden size", self.hidden_size, 1 << 16),
            ("the number of layers", self.layers, 512),
            ("the number of heads", self.heads, 1 << 10),
            ("the number of key heads", self.kv_heads, 1 << 10),
            ("the size of a head", self.head_size, 1 << 10),
            ("the intermediate size", self.intermediate_size, 1 << 20),
        ] {
            if !(1..=most).contains(&size) {
                return Err(format!("{name}, {size}, is not within 1 and {most}"));
            }
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(format!("{} heads cannot share {} key heads", self.heads, self.kv_heads));
        }
        if !self.head_size.is_multiple_of(2) {
            return Err(format!("a head of {} numbers has no pairs", self.head_size));
        }
        if !(0.0..1.0).contains(&self.norm_eps) {
            return Err(format!("the epsilon of the norms, {}, is not small", self.norm_eps));
        }
        Ok(())
    }
}

impl Json {
    /// Refuses what is not computed here.
    fn check_known(&self, family: Family) -> Result<(), String> {
        if self.hidden_act.as_deref().is_some_and(|act| act != "silu") {
            return Err("hidden_act is not silu".to_string());
        }
        let biased = family != Family::Qwen2 && self.attention_bias == Some(true);
        for (name, set) in [
            ("attention_bias", biased),
            ("mlp_bias", self.mlp_bias == Some(true)),
            ("use_sliding_window", self.use_sliding_window == Some(true)),
            ("rope_interleaved", self.rope_interleaved == Some(true)),
            ("quantization_config", self.quantization_config.is_some()),
        ] {
            if set {
                return Err(format!("{name} is not supported"));
            }
        }
        Ok(())
    }
}

impl RopeJson {
    /// Slows the slow turns down, as Llama 3.1 does; other ways are refused.
    fn stretch(&self, turns: &mut [f64]) -> Result<(), String> {
        match self.rope_type.as_deref().or(self.old_type.as_deref()).unwrap_or("default") {
            "default" => return Ok(()),
            "llama3" => {}
            name => return Err(format!("rope_scaling {name} is not known")),
        }
        let parts = (
            self.factor,
            self.low_freq_factor,
            self.high_freq_factor,
            self.original_max_position_embeddings,
        );
        let (Some(factor), Some(low), Some(high), Some(length)) = parts else {
            return Err("rope_scaling llama3 is not complete".to_string());
        };
        for turn in turns.iter_mut() {
            // How often this pair goes round within the texts of the training.
            let rounds = length * *turn / TAU;
            let kept = ((rounds - low) / (high - low)).clamp(0.0, 1.0);
            *turn *= kept + (1.0 - kept) / factor;
        }
        check_turns(turns)
    }
}

fn family(name: &str) -> Option<Family> {
    match name {
        "llama" => Some(Family::Llama),
        "qwen2" => Some(Family::Qwen2),
        "qwen3" => Some(Family::Qwen3),
        _ => None,
    }
}

/// The turns of the pairs of a head: theta to the power of -2i / size.
fn turns(head_size: usize, theta: f64) -> Result<Vec<f64>, String> {
    let power = |pair: usize| theta.powf(-((2 * pair) as f64) / head_size as f64);
    let turns: Vec<f64> = (0..head_size / 2).map(power).collect();
    check_turns(&turns)?;
    Ok(turns)
}

fn check_turns(turns: &[f64]) -> Result<(), String> {
    match turns.iter().find(|turn| !turn.is_finite()) {
        Some(turn) => Err(format!("the turns of the heads hold {turn}")),
        None => Ok(()),
    }
}

/// One token id or a list of them.
fn token_ids(value: Option<&Value>) -> Vec<u32> {
    let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    match value {
        Some(Value::Array(values)) => values.iter().filter_map(one).collect(),
        Some(value) => one(value).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn llama() -> Value {
        json!({
            "model_type": "llama", "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48,
            "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "eos_token_id": [7, 9]
        })
    }

    fn read(json: &Value) -> Result<Config, String> {
        Config::from_json(json.to_string().as_bytes())
    }

    #[test]
    fn sizes_are_read() {
        let config = read(&llama()).unwrap();
        assert_eq!((config.head_size, config.kv_heads, config.tied), (8, 2, false));
        assert_eq!(config.ends, [7, 9]);
        assert_eq!(config.turns.len(), 4);
        assert_eq!((config.turns[0], config.turns[2]), (1.0, 0.01));
    }

    #[test]
    fn the_turns_of_llama_3_are_stretched() {
        let mut json = llama();
        json["rope_scaling"] = json!({
            "rope_type": "llama3", "type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192
        });
        let turns = read(&json).unwrap().turns;
        // 1304, 130, 13 and 1.3 rounds in 8192 places.
        assert_eq!(turns[..3], [1.0, 0.1, 0.01]);
        let kept = (8192.0 * 0.001 / TAU - 1.0) / 3.0;
        assert!((turns[3] - 0.001 * (kept + (1.0 - kept) / 8.0)).abs() < 1e-12, "{turns:?}");
    }

    #[test]
    fn what_is_not_computed_is_refused_by_name() {
        for (key, value, word) in [
            ("model_type", json!("mistral"), "model_type"),
            ("hidden_act", json!("gelu"), "hidden_act"),
            ("attention_bias", json!(true), "attention_bias"),
            ("mlp_bias", json!(true), "mlp_bias"),
            ("use_sliding_window", json!(true), "use_sliding_window"),
            ("rope_interleaved", json!(true), "rope_interleaved"),
            ("quantization_config", json!({}), "quantization_config"),
            ("rope_scaling", json!({"type": "yarn"}), "rope_scaling yarn"),
            ("rope_scaling", json!({"type": "llama3"}), "not complete"),
            ("num_attention_heads", json!(0), "number of heads"),
            ("num_key_value_heads", json!(3), "cannot share"),
            ("num_hidden_layers", json!(1_000_000), "layers"),
            ("hidden_size", json!(u64::MAX), "hidden size"),
            ("head_dim", json!(7), "no pairs"),
            ("rms_norm_eps", json!(-1.0), "epsilon"),
            ("rope_theta", json!(-1.0), "turns"),
            ("rope_theta", json!(0.0), "turns"),
            ("vocab_size", json!(-1), "invalid value"),
        ] {
            let mut json = llama();
            json[key] = value;
            let error = read(&json).unwrap_err();
            assert!(error.contains(word), "{key}: {error}");
        }
    }
}
