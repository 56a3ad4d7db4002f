//! A language model behind an HTTP endpoint of the form that OpenAI has given it.
//!
//! ```text
//!   POST {base}/chat/completions   {"model": …, "messages": [the task, the text],
//!                                   "temperature": 0, "response_format": {"type": "json_object"}}
//!                                  {"choices": [{"message": {"content": "{…}"}}],
//!                                   "usage": {"prompt_tokens": 900, "completion_tokens": 300}}
//! ```

use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;

use super::{Endpoint, NeuralError};

/// The largest answer that is read, in bytes.
pub(crate) const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// A model elsewhere, and what was spent on it.
pub(crate) struct Chat {
    model: String,
    endpoint: Endpoint,
    usage: Mutex<TokenUsage>,
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

impl Chat {
    /// Behind `/chat/completions` at an address such as `https://api.openai.com/v1`; `timeout` is for
    /// each request as a whole.
    pub(crate) fn new(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        Self::from_endpoint(model, Endpoint::new(base_url, "chat/completions", key, timeout))
    }

    pub(crate) fn from_endpoint(model: &str, endpoint: Endpoint) -> Self {
        Self { model: model.to_string(), endpoint, usage: Mutex::default() }
    }

    /// The name of the model.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// The tokens spent so far, on answers that could not be used too.
    pub(crate) fn usage(&self) -> TokenUsage {
        *self.usage.lock()
    }

    /// What the model answers to a text after a task.
    pub(crate) fn ask(&self, task: &str, text: &str) -> Result<String, NeuralError> {
        let request = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": task },
                { "role": "user", "content": text },
            ],
            "temperature": 0,
            "response_format": { "type": "json_object" },
        });
        let completion: Completion = self.endpoint.ask(&request, ANSWER_BYTES_MAX)?;
        self.count(completion.usage.unwrap_or_default());
        let text = completion.choices.into_iter().next().and_then(|first| first.message.content);
        text.ok_or_else(|| self.failed("the answer holds no text"))
    }

    /// The error of an answer that is none.
    pub(crate) fn failed(&self, reason: &str) -> NeuralError {
        self.endpoint.failed(reason)
    }

    fn count(&self, usage: Usage) {
        let mut sum = self.usage.lock();
        sum.calls = sum.calls.saturating_add(1);
        sum.prompt = sum.prompt.saturating_add(usage.prompt_tokens);
        sum.completion = sum.completion.saturating_add(usage.completion_tokens);
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
