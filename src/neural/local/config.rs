//! The sizes of an encoder and the family it is of, as `config.json` has them.
//!
//! The families differ in names, in where positions begin and in what is added to a token; what
//! is computed with their weights is the same and stands in `encoder.rs`.

use serde::Deserialize;

/// A kind of encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Family {
    /// Positions from 0 on, and two token types.
    Bert,
    /// Positions after the id of the padding, and one token type.
    #[serde(alias = "xlm-roberta", alias = "camembert")]
    Roberta,
    /// Positions from 0 on, and no token types.
    DistilBert,
    /// Positions after the id of the padding, no token types, and a bias by distance in attention.
    MpNet,
}

/// The sizes of a model; by default those of all-MiniLM-L6-v2.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Config {
    pub(super) model_type: Family,
    pub(super) vocab_size: usize,
    #[serde(alias = "dim")]
    pub(super) hidden_size: usize,
    #[serde(alias = "n_layers")]
    pub(super) num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    pub(super) num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    pub(super) intermediate_size: usize,
    /// The rows of the table of positions, some of which a family leaves out.
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    /// Added to the variance in each layer norm.
    pub(super) layer_norm_eps: f32,
    pad_token_id: Option<usize>,
    /// How many distances attention tells apart, where it does.
    pub(super) relative_attention_num_buckets: usize,
    /// The function between the two products of a feed-forward part; only `gelu` is known here.
    #[serde(alias = "activation")]
    hidden_act: String,
    /// How places are told apart; only `absolute` is known here.
    position_embedding_type: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model_type: Family::Bert,
            vocab_size: 30_522,
            hidden_size: 384,
            num_hidden_layers: 6,
            num_attention_heads: 12,
            intermediate_size: 1_536,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            pad_token_id: None,
            relative_attention_num_buckets: 32,
            hidden_act: "gelu".to_string(),
            position_embedding_type: "absolute".to_string(),
        }
    }
}

impl Config {
    /// Says in words what keeps a model of these sizes from being built.
    pub(super) fn check(&self) -> Result<(), String> {
        /// Above every encoder there is; sums and products of such sizes cannot overflow.
        const SIZE_MAX: usize = 1 << 20;
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size),
            ("relative_attention_num_buckets", self.relative_attention_num_buckets),
        ];
        if let Some((name, size)) = sizes.iter().find(|(_, size)| !(1..=SIZE_MAX).contains(size)) {
            return Err(format!("{name} {size} is not within 1 and {SIZE_MAX}"));
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let (size, heads) = (self.hidden_size, self.num_attention_heads);
            return Err(format!("hidden_size {size} cannot be split into {heads} heads"));
        }
        if self.first_position() >= self.max_position_embeddings {
            return Err(format!("pad_token_id leaves no position of {}", sizes[5].1));
        }
        for (name, value, known) in [
            ("hidden_act", &self.hidden_act, "gelu"),
            ("position_embedding_type", &self.position_embedding_type, "absolute"),
        ] {
            if value != known {
                return Err(format!("{name} is not {known}"));
            }
        }
        Ok(())
    }

    /// The row of the table of positions that belongs to the first token.
    pub(super) fn first_position(&self) -> usize {
        match self.model_type {
            Family::Bert | Family::DistilBert => 0,
            Family::Roberta => self.pad_token_id.unwrap_or(1).saturating_add(1),
            // The reference does not read it from the file.
            Family::MpNet => 2,
        }
    }

    /// The longest sequence, in tokens.
    pub(super) fn sequence_max(&self) -> usize {
        self.max_position_embeddings.saturating_sub(self.first_position())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Config, String> {
        let config: Config = serde_json::from_str(json).map_err(|error| error.to_string())?;
        config.check().map(|()| config)
    }

    #[test]
    fn sizes_that_fit_no_model_are_refused() {
        assert_eq!(parse("{}"), Ok(Config::default()));
        for (bad, reason) in [
            (r#"{"num_attention_heads":0}"#, "num_attention_heads 0 is not within 1 and 1048576"),
            (r#"{"num_attention_heads":7}"#, "hidden_size 384 cannot be split into 7 heads"),
            (r#"{"hidden_size":1048577}"#, "hidden_size 1048577 is not within 1 and 1048576"),
            (r#"{"hidden_act":"relu"}"#, "hidden_act is not gelu"),
            (r#"{"position_embedding_type":"rope"}"#, "position_embedding_type is not absolute"),
            (
                r#"{"model_type":"roberta","pad_token_id":18446744073709551615}"#,
                "pad_token_id leaves no position of 512",
            ),
        ] {
            assert_eq!(parse(bad), Err(reason.to_string()));
        }
        let unknown = parse(r#"{"model_type":"llama"}"#).unwrap_err();
        assert!(unknown.starts_with("unknown variant `llama`, expected"), "{unknown}");
    }

    #[test]
    fn families_have_their_own_names_and_first_positions() {
        let distil = r#"{"model_type":"distilbert","dim":8,"n_heads":2,"n_layers":1,
            "hidden_dim":16,"activation":"gelu","pad_token_id":0}"#;
        let distil = parse(distil).unwrap();
        assert_eq!((distil.hidden_size, distil.intermediate_size), (8, 16));
        assert_eq!((distil.first_position(), distil.sequence_max()), (0, 512));
        for (name, first) in [("bert", 0), ("roberta", 2), ("xlm-roberta", 2), ("mpnet", 2)] {
            let json = format!(r#"{{"model_type":"{name}","max_position_embeddings":514}}"#);
            let config = parse(&json).unwrap();
            assert_eq!((config.first_position(), config.sequence_max()), (first, 514 - first));
        }
    }
}
