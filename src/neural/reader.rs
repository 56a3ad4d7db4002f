//! Models that answer questions from evidence, and how uncertain they are of the answer.
//!
//! A reader takes evidence only while it becomes surer by it (xMemory, stage II). It is never asked
//! for the answer itself.

use super::NeuralError;

/// Tokens of an answer that are looked at: what it says is decided there.
pub(super) const ANSWER_TOKENS: u32 = 8;
/// The longest question that is read, in bytes; what lies behind is not.
const QUESTION_BYTES_MAX: usize = 2 << 10;
/// The evidence that is read, in bytes; of more the first is left out.
const EVIDENCE_BYTES_MAX: usize = 16 << 10;

/// What a reader is told to do.
pub(super) const TASK: &str =
    "Answer the question in a few words, from these memories of a conversation.\n\n";

/// A model that may be asked how uncertain it is.
pub trait ReaderModel: Send + Sync {
    /// Names the model and its weights.
    fn id(&self) -> &str;

    /// How uncertain the model is of its answer when it has read this evidence: the mean entropy of
    /// the tokens with which the answer begins, in nats. It is finite and not negative.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if the model cannot run.
    fn uncertainty(&self, question: &str, evidence: &[&str]) -> Result<f64, NeuralError>;
}

/// What stands behind the task: the evidence, a line each, the question, and the place of the
/// answer.
pub(super) fn prompt(question: &str, evidence: &[&str]) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = evidence.iter().map(|text| format!("- {}\n", line(text))).collect();
    let mut left = EVIDENCE_BYTES_MAX;
    let mut first = lines.len();
    while first > 0 && lines[first - 1].len() <= left {
        left -= lines[first - 1].len();
        first -= 1;
    }
    let read = lines[first..].concat();
    let question = line(super::cut(question, QUESTION_BYTES_MAX));
    format!("Memories:\n{read}\nQuestion: {question}\nAnswer:")
}

/// The entropy of a distribution over what comes next, given as scores, in nats.
pub(super) fn entropy(scores: &[f32]) -> f64 {
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
    use super::*;

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

    #[test]
    fn the_last_evidence_stays_in_a_prompt_that_is_too_long() {
        let prompt_of = |evidence: &[&str]| prompt("Who\nis it?", evidence);
        let short = prompt_of(&["one\ntwo", "three"]);
        assert_eq!(short, "Memories:\n- one two\n- three\n\nQuestion: Who is it?\nAnswer:");
        let long = "word ".repeat(3_000);
        let cut = prompt_of(&[&long, "in the middle", "at the end"]);
        assert!(cut.contains("in the middle") && cut.contains("at the end"));
        assert!(prompt_of(&[&long, &long, "at the end"]).len() < EVIDENCE_BYTES_MAX + 100);
    }
}
