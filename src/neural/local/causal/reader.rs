//! How uncertain a language model is of the answer to a question.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::{CausalLm, Prefix};
use crate::neural::NeuralError;
use crate::neural::ReaderModel;
use crate::neural::prompt::{ANSWER_TOKENS, TASK, prompt};

/// A [`ReaderModel`] by a language model in the process: Llama, SmolLM, Qwen2, Qwen2.5 or Qwen3.
///
/// It reads 16 KiB of evidence at most, the last that is given, and looks at the first 8 tokens of
/// the likeliest answer. It may be shared between threads.
pub struct LocalReader {
    model: Arc<CausalLm>,
    /// The task, run.
    task: Prefix,
}

impl LocalReader {
    /// Loads a model from a folder that holds what [`CausalLm::load`] reads.
    ///
    /// # Errors
    ///
    /// Those of [`CausalLm::load`], and [`NeuralError::Failed`] if the model cannot run.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        Self::new(Arc::new(CausalLm::load(folder)?))
    }

    /// A reader by a model that may serve for other things as well.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run.
    pub fn new(model: Arc<CausalLm>) -> Result<Self, NeuralError> {
        let task = model.run_prefix(TASK)?;
        Ok(Self { model, task })
    }
}

impl fmt::Debug for LocalReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalReader").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl ReaderModel for LocalReader {
    fn id(&self) -> &str {
        self.model.name()
    }

    fn uncertainty(&self, question: &str, evidence: &[&str]) -> Result<f64, NeuralError> {
        let mut session = self.model.session(&self.task, &prompt(question, evidence))?;
        let mut sum = 0.0;
        let mut tokens = 0;
        loop {
            sum += entropy(session.scores());
            tokens += 1;
            let next = likeliest(session.scores());
            if tokens == ANSWER_TOKENS || self.model.ends.contains(&next) {
                return Ok(sum / f64::from(tokens));
            }
            session.push(&[next])?;
        }
    }
}

/// The token with the largest score, the first of equals.
fn likeliest(scores: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (id, score) in (0_u32..).zip(scores) {
        if *score > best.1 {
            best = (id, *score);
        }
    }
    best.0
}

/// The entropy of a distribution over what comes next, given as scores, in nats.
fn entropy(scores: &[f32]) -> f64 {
    let scores = || scores.iter().copied().map(f64::from);
    let max = scores().fold(f64::NEG_INFINITY, f64::max);
    if !max.is_finite() {
        return 0.0;
    }
    let sum: f64 = scores().map(|score| (score - max).exp()).sum();
    // -sum p ln p, with p = exp(score - max) / sum.
    let mean: f64 = scores().map(|score| (score - max).exp() * (score - max)).sum::<f64>() / sum;
    (sum.ln() - mean).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::tiny_folder;
    use super::*;

    #[test]
    fn any_family_says_how_uncertain_it_is_and_reads_what_it_is_given() {
        for family in ["llama", "qwen2", "qwen3"] {
            let folder = tiny_folder(family);
            let model = LocalReader::load(folder.path()).unwrap();
            let ask = |question: &str, evidence: &[&str]| {
                let uncertainty = model.uncertainty(question, evidence).unwrap();
                assert!(uncertainty.is_finite() && uncertainty > 0.0, "{uncertainty}");
                uncertainty
            };
            let alone = ask("Where does Nora live?", &[]);
            let told = ask("Where does Nora live?", &["Nora lives in Porto"]);
            assert_ne!(alone, told, "{family}");
            assert_ne!(told, ask("Where does Otto live?", &["Nora lives in Porto"]), "{family}");
            assert_eq!(told, ask("Where does Nora live?", &["Nora lives in Porto"]), "{family}");
            ask("", &["", "\0", "</s>"]);
        }
    }

    #[test]
    fn the_likeliest_token_is_the_first_of_equals() {
        assert_eq!(likeliest(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(likeliest(&[]), 0);
    }

    #[test]
    fn entropy_is_that_of_the_softmax() {
        assert_eq!(entropy(&[]), 0.0);
        assert_eq!(entropy(&[3.0]), 0.0);
        assert!((entropy(&[7.0; 4]) - 4_f64.ln()).abs() < 1e-12);
        let (p, q) = (0.8_f64, 0.2_f64);
        let expected = -(p * p.ln() + q * q.ln());
        assert!((entropy(&[p.ln() as f32, q.ln() as f32]) - expected).abs() < 1e-6);
        assert!(entropy(&[1e30, 0.0]) < 1e-12);
    }
}
