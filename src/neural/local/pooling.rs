//! One vector of a text from the rows of its tokens, as sentence-transformers describes it beside
//! the weights.
//!
//! `modules.json` lists what a text goes through: the encoder, the pooling, and perhaps bringing
//! the vector to length 1, which is done here in any case. Other modules would change the vector,
//! so a model that has one is refused and never run without it.

use std::path::Path;

use serde::Deserialize;

use super::NeuralError;
use super::folder::{damaged, read_json};

const MODULES: &str = "modules.json";
/// Where the pooling is described if `modules.json` does not say.
const POOLING_FOLDER: &str = "1_Pooling";
/// How long a text may be, in tokens.
const SENTENCE: &str = "sentence_bert_config.json";
/// The most tokens any model reads; attention takes the square of it.
const TOKENS_MAX: usize = 2_048;

/// How the rows of the tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Their mean.
    Mean,
    /// The first of them.
    First,
    /// The largest number at each place.
    Max,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Sentence {
    max_seq_length: Option<usize>,
}

/// One switch for each way, of which one has to be on, or its name.
#[derive(Deserialize)]
#[serde(default)]
struct Modes {
    pooling_mode: Option<String>,
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
    pooling_mode_weightedmean_tokens: bool,
    pooling_mode_lasttoken: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            pooling_mode: None,
            pooling_mode_cls_token: false,
            // The default of the reference.
            pooling_mode_mean_tokens: true,
            pooling_mode_max_tokens: false,
            pooling_mode_mean_sqrt_len_tokens: false,
            pooling_mode_weightedmean_tokens: false,
            pooling_mode_lasttoken: false,
        }
    }
}

impl Modes {
    fn pooling(&self) -> Option<Pooling> {
        if let Some(mode) = &self.pooling_mode {
            return match mode.as_str() {
                "mean" | "mean_sqrt_len_tokens" => Some(Pooling::Mean),
                "cls" => Some(Pooling::First),
                "max" => Some(Pooling::Max),
                _ => None,
            };
        }
        if self.pooling_mode_weightedmean_tokens || self.pooling_mode_lasttoken {
            return None;
        }
        // Brought to length 1, a sum is the mean whatever it was divided by.
        let mean = self.pooling_mode_mean_tokens || self.pooling_mode_mean_sqrt_len_tokens;
        match (mean, self.pooling_mode_cls_token, self.pooling_mode_max_tokens) {
            (true, false, false) => Some(Pooling::Mean),
            (false, true, false) => Some(Pooling::First),
            (false, false, true) => Some(Pooling::Max),
            _ => None,
        }
    }
}

impl Pooling {
    /// Reads how a model pools; the mean if the folder does not say.
    pub(super) fn read(folder: &Path) -> Result<Self, NeuralError> {
        let modules: Option<Vec<Module>> = read_json(&folder.join(MODULES))?;
        let pooling = match modules {
            None => POOLING_FOLDER.to_string(),
            Some(modules) => {
                pooling_folder(modules).map_err(|reason| damaged(&folder.join(MODULES), reason))?
            }
        };
        let file = folder.join(pooling).join("config.json");
        let modes: Modes = read_json(&file)?.unwrap_or_default();
        modes.pooling().ok_or_else(|| damaged(&file, "the pooling is not one of mean, cls and max"))
    }

    /// How the pooling is told apart in an id; the mean needs no word.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Mean => "",
            Self::First => ":cls",
            Self::Max => ":max",
        }
    }

    /// The vector of the rows, of length 1; none if it would not be finite.
    pub(super) fn pool(self, rows: &[f32], width: usize) -> Option<Vec<f32>> {
        let rows = rows.chunks_exact(width);
        match self {
            // The number of rows falls out, as the length becomes 1 in any case.
            Self::Mean => unit(fold(rows, 0.0, width, |sum, x| sum + x)),
            Self::First => unit(fold(rows.take(1), 0.0, width, |sum, x| sum + x)),
            // Written so that NaN stays, which `max` would hide.
            Self::Max => unit(fold(rows, f32::NEG_INFINITY, width, |max, x| {
                if x.is_nan() || x > max { x } else { max }
            })),
        }
    }
}

/// The folder of the pooling among the modules, all of which have to be known.
fn pooling_folder(modules: Vec<Module>) -> Result<String, String> {
    let mut pooling = POOLING_FOLDER.to_string();
    for module in modules {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match module.kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" if module.path.is_empty() => {}
            "Pooling" if module.path.chars().all(plain) => pooling = module.path,
            "Normalize" => {}
            _ => return Err(format!("the module {:?} is not supported", module.kind)),
        }
    }
    Ok(pooling)
}

/// How many tokens are read of a text by a model that can read `sequence_max`, and reads `default`
/// if the folder does not say.
pub(super) fn read_tokens_max(
    folder: &Path,
    sequence_max: usize,
    default: usize,
) -> Result<usize, NeuralError> {
    let sentence: Option<Sentence> = read_json(&folder.join(SENTENCE))?;
    let said = sentence.and_then(|sentence| sentence.max_seq_length);
    Ok(said.unwrap_or(default).min(sequence_max).min(TOKENS_MAX))
}

fn fold<'a>(
    rows: impl Iterator<Item = &'a [f32]>,
    start: f32,
    width: usize,
    add: impl Fn(f32, f32) -> f32,
) -> Vec<f32> {
    let mut folded = vec![start; width];
    for row in rows {
        folded.iter_mut().zip(row).for_each(|(sum, x)| *sum = add(*sum, *x));
    }
    folded
}

/// Brings a vector to length 1, if it can be.
pub(super) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    // A length beyond all numbers leaves zeros behind.
    (norm.is_finite() && vector.iter().all(|x| x.is_finite())).then_some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(modules: Option<&str>, pooling: Option<&str>) -> Result<Pooling, String> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(modules) = modules {
            fs::write(folder.path().join(MODULES), modules).unwrap();
        }
        if let Some(pooling) = pooling {
            fs::create_dir(folder.path().join(POOLING_FOLDER)).unwrap();
            fs::write(folder.path().join(POOLING_FOLDER).join("config.json"), pooling).unwrap();
        }
        Pooling::read(folder.path()).map_err(|error| match error {
            NeuralError::Damaged { reason, .. } => reason,
            error => panic!("{error}"),
        })
    }

    #[test]
    fn the_pooling_is_what_the_folder_says() {
        let only = |mode: &str| {
            format!(r#"{{"pooling_mode_mean_tokens":false,"pooling_mode_{mode}":true}}"#)
        };
        assert_eq!(read(None, None), Ok(Pooling::Mean));
        assert_eq!(read(None, Some("{}")), Ok(Pooling::Mean));
        assert_eq!(read(None, Some(&only("cls_token"))), Ok(Pooling::First));
        assert_eq!(read(None, Some(&only("max_tokens"))), Ok(Pooling::Max));
        assert_eq!(read(None, Some(&only("mean_sqrt_len_tokens"))), Ok(Pooling::Mean));
        assert_eq!(read(None, Some(r#"{"pooling_mode":"cls"}"#)), Ok(Pooling::First));
        let reason = "the pooling is not one of mean, cls and max".to_string();
        assert_eq!(read(None, Some(&only("lasttoken"))), Err(reason.clone()));
        assert_eq!(read(None, Some(r#"{"pooling_mode_cls_token":true}"#)), Err(reason));
    }

    #[test]
    fn modules_that_are_not_known_are_refused() {
        let modules = |last: &str| {
            format!(
                r#"[{{"path":"","type":"sentence_transformers.models.Transformer"}},
                    {{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}},
                    {{"path":"2_Last","type":"sentence_transformers.models.{last}"}}]"#
            )
        };
        assert_eq!(read(Some(&modules("Normalize")), None), Ok(Pooling::Mean));
        let reason = read(Some(&modules("Dense")), None).unwrap_err();
        assert_eq!(reason, r#"the module "sentence_transformers.models.Dense" is not supported"#);
        let outside = modules("Normalize").replace("1_Pooling", "../secret");
        assert!(read(Some(&outside), None).is_err());
    }

    #[test]
    fn rows_are_pooled_to_length_one() {
        let rows = [3.0, 0.0, -3.0, 4.0];
        assert_eq!(Pooling::Mean.pool(&rows, 2), Some(vec![0.0, 1.0]));
        assert_eq!(Pooling::First.pool(&rows, 2), Some(vec![1.0, 0.0]));
        assert_eq!(Pooling::Max.pool(&rows, 2), Some(vec![0.6, 0.8]));
    }

    #[test]
    fn what_is_not_finite_has_no_vector() {
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            for pooling in [Pooling::Mean, Pooling::First, Pooling::Max] {
                assert_eq!(pooling.pool(&[1.0, bad, 1.0, 1.0], 2), None, "{pooling:?} {bad}");
            }
        }
        assert_eq!(Pooling::Mean.pool(&[0.0, 0.0], 2), None);
    }
}
