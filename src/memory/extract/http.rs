//! An extractor that asks a language model elsewhere, behind an HTTP endpoint of the form that
//! OpenAI has given it.
//!
//! ```text
//!   POST {base}/chat/completions   {"model": …, "messages": [the task, the turns],
//!                                   "temperature": 0, "response_format": {"type": "json_object"}}
//!                                  {"choices": [{"message": {"content": "{…}"}}],
//!                                   "usage": {"prompt_tokens": 900, "completion_tokens": 300}}
//! ```
//!
//! What comes back is believed no more than what any other model says: it is read item by item, and
//! what cannot be so is left out. The key goes into the request and nowhere else.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;

use super::{Extraction, Extractor, KnownEntities, SourceTurn, answer, prompt};
use crate::neural::{Endpoint, NeuralError};

/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// An [`Extractor`] behind an HTTP endpoint that speaks as OpenAI's `/v1/chat/completions` does.
///
/// Of the turns 16 KiB at most are sent, and 4 KiB of each; longer ones are cut, the longest first.
/// A request that times out or is answered with 429 or 5xx is made four times at most, with longer
/// and longer pauses of a quarter of a second and more between them. It may be shared between
/// threads.
///
/// ```
/// use std::time::Duration;
///
/// use engraph::memory::{Extractor, HttpExtractor, TokenUsage};
///
/// // Nothing is asked before there are turns.
/// let seconds = Duration::from_secs(60);
/// let extractor = HttpExtractor::new("http://localhost:11434/v1", "qwen3", Some("key"), seconds);
/// assert_eq!(extractor.usage(), TokenUsage::default());
/// assert!(extractor.id().starts_with("qwen3 "));
/// assert!(!format!("{extractor:?}").contains("key"));
/// ```
pub struct HttpExtractor {
    id: String,
    model: String,
    endpoint: Endpoint,
    usage: Mutex<TokenUsage>,
    left_out: AtomicU64,
}

/// What was spent so far, as far as the endpoint says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Requests that were answered.
    pub calls: u64,
    /// Tokens of all that was sent.
    pub prompt: u64,
    /// Tokens of all that was answered.
    pub completion: u64,
}

impl HttpExtractor {
    /// An extractor that will ask `model`. `base_url` is what `/chat/completions` is put behind,
    /// such as `https://api.openai.com/v1`; `timeout` is for each request as a whole.
    pub fn new(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        Self::from_endpoint(model, Endpoint::new(base_url, "chat/completions", key, timeout))
    }

    fn from_endpoint(model: &str, endpoint: Endpoint) -> Self {
        Self {
            id: format!("{model} {}", prompt::ID),
            model: model.to_string(),
            endpoint,
            usage: Mutex::default(),
            left_out: AtomicU64::new(0),
        }
    }

    /// The tokens spent so far, on answers that could not be used too.
    pub fn usage(&self) -> TokenUsage {
        *self.usage.lock()
    }

    /// How many items of the answers so far were left out, for they named a turn that is not there,
    /// a confidence above 1, or the like.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// What the model answers.
    fn ask(&self, turns: &[SourceTurn]) -> Result<String, NeuralError> {
        let request = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": prompt::TASK },
                { "role": "user", "content": prompt::turns(turns) },
            ],
            "temperature": 0,
            "response_format": { "type": "json_object" },
        });
        let completion: Completion = self.endpoint.ask(&request, ANSWER_BYTES_MAX)?;
        self.count(completion.usage.unwrap_or_default());
        let text = completion.choices.into_iter().next().and_then(|first| first.message.content);
        text.ok_or_else(|| self.endpoint.failed("the answer holds no text"))
    }

    fn count(&self, usage: Usage) {
        let mut sum = self.usage.lock();
        sum.calls = sum.calls.saturating_add(1);
        sum.prompt = sum.prompt.saturating_add(usage.prompt_tokens);
        sum.completion = sum.completion.saturating_add(usage.completion_tokens);
    }
}

impl fmt::Debug for HttpExtractor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExtractor").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Extractor for HttpExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        if turns.is_empty() {
            return Ok(Extraction::default());
        }
        let answer = answer::read(&self.ask(turns)?, turns, known);
        let answer = answer.map_err(|reason| self.endpoint.failed(&reason))?;
        self.left_out.fetch_add(answer.left_out, Ordering::Relaxed);
        Ok(answer.extraction)
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

#[derive(Default, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}
