//! A reader elsewhere, behind an HTTP endpoint of the form that OpenAI has given it.
//!
//! ```text
//!   POST {base}/chat/completions   {"model": …, "messages": [the task, the evidence], "logprobs": true,
//!                                   "temperature": 0, "max_tokens": 8, "top_logprobs": 20}
//!                                  {"choices": [{"logprobs": {"content": [{"top_logprobs":
//!                                   [{"logprob": -0.1}, …]}, …]}}]}
//! ```
//!
//! The endpoint tells the likeliest tokens alone; all others together count as one more, so the
//! entropy is a lower bound. The key goes into the request and nowhere else.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::prompt::{ANSWER_TOKENS, TASK, prompt};
use super::{Endpoint, NeuralError, ReaderModel};

/// Tokens that the endpoint tells at each place; the most that OpenAI gives.
const TOP_LOGPROBS: u32 = 20;
/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// How far the probabilities of the likeliest tokens may be above 1 together, by rounding.
const ROUNDING: f64 = 1e-3;

/// A [`ReaderModel`] behind an HTTP endpoint that speaks as OpenAI's `/v1/chat/completions` does and
/// tells `logprobs`.
///
/// 16 KiB of evidence at most are sent, the last that is given. A request that times out or is
/// answered with 429 or 5xx is made four times at most, with longer and longer pauses of a quarter of
/// a second and more between them. It may be shared between threads.
pub struct HttpReader {
    model: String,
    endpoint: Endpoint,
}

impl HttpReader {
    /// A reader that will ask `model`. `base_url` is what `/chat/completions` is put after, such as
    /// `https://api.openai.com/v1`; `timeout` is for each request as a whole.
    pub fn new(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        let endpoint = Endpoint::new(base_url, "chat/completions", key, timeout);
        Self { model: model.to_string(), endpoint }
    }
}

impl fmt::Debug for HttpReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpReader").field("model", &self.model).finish_non_exhaustive()
    }
}

impl ReaderModel for HttpReader {
    fn id(&self) -> &str {
        &self.model
    }

    fn uncertainty(&self, question: &str, evidence: &[&str]) -> Result<f64, NeuralError> {
        let request = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": TASK.trim_end() },
                { "role": "user", "content": prompt(question, evidence) },
            ],
            "temperature": 0,
            "max_tokens": ANSWER_TOKENS,
            "logprobs": true,
            "top_logprobs": TOP_LOGPROBS,
        });
        let answer: Answer = self.endpoint.ask(&request, ANSWER_BYTES_MAX)?;
        mean_entropy(answer).map_err(|reason| self.endpoint.failed(&reason))
    }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    logprobs: Option<Logprobs>,
}

#[derive(Deserialize)]
struct Logprobs {
    content: Option<Vec<Token>>,
}

#[derive(Deserialize)]
struct Token {
    top_logprobs: Vec<Likely>,
}

#[derive(Deserialize)]
struct Likely {
    logprob: f64,
}

/// The mean entropy of the tokens of an answer, or what is wrong with it.
fn mean_entropy(answer: Answer) -> Result<f64, String> {
    let first = answer.choices.into_iter().next();
    let logprobs = first.and_then(|choice| choice.logprobs);
    let mut tokens = logprobs.and_then(|logprobs| logprobs.content).unwrap_or_default();
    tokens.truncate(ANSWER_TOKENS as usize);
    if tokens.is_empty() {
        return Err("the answer tells no logprobs".to_owned());
    }
    let count = tokens.len() as f64;
    let entropies = tokens.iter().map(entropy);
    Ok(entropies.sum::<Result<f64, String>>()? / count)
}

/// The entropy of one token, in nats.
fn entropy(token: &Token) -> Result<f64, String> {
    let mut entropy = 0.0;
    let mut rest = 1.0;
    for likely in &token.top_logprobs {
        let probability = likely.logprob.exp();
        // Some endpoints say -9999 for a token that cannot come.
        if !(likely.logprob.is_finite() && probability <= 1.0 + ROUNDING) {
            return Err(format!("{} is no logprob", likely.logprob));
        }
        entropy -= probability * likely.logprob.min(0.0);
        rest -= probability;
    }
    if token.top_logprobs.is_empty() || rest < -ROUNDING {
        return Err("the logprobs of a token are no distribution".to_owned());
    }
    let rest = rest.max(0.0);
    Ok(if rest > 0.0 { entropy - rest * rest.ln() } else { entropy })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::server::{Reply, serve};
    use super::*;

    const KEY: &str = "sk-secret-7";

    fn reader(url: &str) -> HttpReader {
        HttpReader::new(url, "tiny", Some(KEY), Duration::from_millis(500))
    }

    fn answer(tokens: &[&[f64]]) -> String {
        let likely = |logprob: &f64| json!({ "token": "x", "logprob": logprob });
        let token = |token: &&[f64]| json!({ "token": "x", "top_logprobs": token.iter().map(likely).collect::<Vec<_>>() });
        let content: Vec<Value> = tokens.iter().map(token).collect();
        json!({ "choices": [{ "logprobs": { "content": content } }] }).to_string()
    }

    #[test]
    fn entropy_is_that_of_the_likeliest_tokens_and_the_rest() {
        let half = 0.5_f64.ln();
        // Two of a half; and a half and the rest, which is as much; and one alone.
        let tokens: [&[f64]; 3] = [&[half, half, -9999.0], &[half], &[0.0]];
        let (url, asked) = serve(vec![Reply::Status(200, answer(&tokens))]);
        let reader = reader(&url);
        let uncertainty = reader.uncertainty("Who?", &["Nora bakes", "Otto sells"]).unwrap();
        assert!((uncertainty - 2.0 / 3.0 * 2_f64.ln()).abs() < 1e-9, "{uncertainty}");
        let (head, body) = asked.recv().unwrap();
        assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("authorization: bearer {KEY}\r\n")), "{head}");
        assert_eq!((&body["logprobs"], &body["max_tokens"]), (&json!(true), &json!(8)));
        let read = body["messages"][1]["content"].as_str().unwrap();
        assert!(read.contains("- Nora bakes\n- Otto sells\n\nQuestion: Who?"), "{read}");
        assert!(!format!("{reader:?}").contains(KEY));
    }

    #[test]
    fn answers_without_a_distribution_are_errors() {
        for (body, expected) in [
            (json!({ "choices": [] }).to_string(), "the answer tells no logprobs"),
            (json!({ "choices": [{}] }).to_string(), "the answer tells no logprobs"),
            (answer(&[]), "the answer tells no logprobs"),
            (answer(&[&[]]), "the logprobs of a token are no distribution"),
            (answer(&[&[-0.1, -0.1]]), "the logprobs of a token are no distribution"),
            (answer(&[&[0.5]]), "0.5 is no logprob"),
            ("[]".to_owned(), "the answer is not of its form"),
        ] {
            let (url, _asked) = serve(vec![Reply::Status(200, body)]);
            let error = reader(&url).uncertainty("Who?", &[]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
