//! A policy that asks a language model: from a folder, or behind an HTTP endpoint. Three questions a
//! step, each about the whole state, so nothing is remembered between them.
//!
//! ```text
//!   state ──prompt.rs──▶ text ──JsonModel──▶ JSON ──answer.rs──▶ operations, places, enough
//! ```
//!
//! What a model says is believed no more than what anybody says: an operation that is none is told,
//! one that names what is not there is refused when it is run.

mod answer;
mod prompt;

use std::fmt;
use std::path::Path;
#[cfg(feature = "http")]
use std::time::Duration;

use super::by_score::ByScore;
use super::operation::Finding;
use super::policy::{Policy, Selection};
use super::state::Reconstruction;
#[cfg(feature = "http")]
use crate::neural::{Chat, TokenUsage};
use crate::neural::{JsonModel, LanguageModel, NeuralError};

/// The longest answer, in tokens.
const TOKENS_MAX: u32 = 1_024;

fn select(model: &JsonModel, state: &Reconstruction) -> Result<Selection, NeuralError> {
    let calls = state.budget().calls;
    let grammar = answer::operations_grammar(calls);
    model.ask(&prompt::select(state), &grammar, |text| answer::operations(text, calls))
}

/// What the model keeps, in its order, with the weights of [`ByScore`]; the cues, tags and topics
/// that are no content go on as [`ByScore`] says.
fn route(
    model: &JsonModel,
    state: &Reconstruction,
    findings: &[Finding],
) -> Result<Vec<(usize, f64)>, NeuralError> {
    let routed = ByScore.route(state, findings)?;
    let shown = prompt::shown(findings, &routed);
    if shown.is_empty() {
        return Ok(routed);
    }
    let (text, grammar) =
        (prompt::route(state, findings, &shown), answer::places_grammar(shown.len()));
    let kept = model.ask(&text, &grammar, |text| answer::places(text, shown.len()))?;
    let is_dropped = |place: &usize| {
        let number = shown.iter().position(|shown| shown == place);
        number.is_some_and(|number| !kept.contains(&number))
    };
    // What stands for the same node is kept or dropped together.
    let dropped: Vec<u64> = shown
        .iter()
        .filter(|place| is_dropped(place))
        .filter_map(|place| Some(findings.get(*place)?.id))
        .collect();
    let goes_on =
        |place: &usize| findings.get(*place).is_some_and(|one| !dropped.contains(&one.id));
    Ok(routed.into_iter().filter(|(place, _)| goes_on(place)).collect())
}

fn is_sufficient(model: &JsonModel, state: &Reconstruction) -> Result<bool, NeuralError> {
    model.ask(&prompt::sufficient(state), &answer::enough_grammar(), answer::enough)
}

/// A [`Policy`] with a language model of its own, on the CPU: Llama, SmolLM, Qwen2, Qwen2.5 or Qwen3.
/// What it writes is held to the form of an answer, so it always parses.
///
/// ```
/// use std::path::Path;
///
/// use engraph::reconstruct::LocalPolicy;
///
/// let error = LocalPolicy::load(Path::new("/no/such/folder")).unwrap_err();
/// assert!(error.to_string().starts_with("cannot read /no/such/folder"));
/// ```
pub struct LocalPolicy(JsonModel);

impl LocalPolicy {
    /// Loads a model from a folder, as [`LocalModel::load`](crate::memory::LocalModel::load) does.
    ///
    /// # Errors
    ///
    /// Those of [`LocalModel::load`](crate::memory::LocalModel::load), and [`NeuralError::Failed`] if a character of ASCII is not among
    /// the tokens, or the model cannot run.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        Self::with(folder, TOKENS_MAX)
    }

    fn with(folder: &Path, tokens_max: u32) -> Result<Self, NeuralError> {
        let model = LanguageModel::load(folder)?;
        Ok(Self(JsonModel::new(model, (prompt::ID, prompt::TASK), tokens_max)?))
    }
}

impl fmt::Debug for LocalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalPolicy").field("id", &self.0.id()).finish_non_exhaustive()
    }
}

impl Policy for LocalPolicy {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn select(&self, state: &Reconstruction) -> Result<Selection, NeuralError> {
        select(&self.0, state)
    }

    fn route(
        &self,
        state: &Reconstruction,
        findings: &[Finding],
    ) -> Result<Vec<(usize, f64)>, NeuralError> {
        route(&self.0, state, findings)
    }

    fn is_sufficient(&self, state: &Reconstruction) -> Result<bool, NeuralError> {
        is_sufficient(&self.0, state)
    }
}

/// A [`Policy`] behind an HTTP endpoint that speaks as OpenAI's `/v1/chat/completions` does.
///
/// A request that times out or is answered with 429 or 5xx is made four times at most, with pauses
/// between them. The key goes into the request and nowhere else.
#[cfg(feature = "http")]
pub struct HttpPolicy(JsonModel);

#[cfg(feature = "http")]
impl HttpPolicy {
    /// A policy that will ask `model`. `base_url` is what `/chat/completions` is put behind, such as
    /// `https://api.openai.com/v1`; `timeout` is for each request as a whole.
    pub fn new(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        Self::from_chat(Chat::new(base_url, model, key, timeout))
    }

    fn from_chat(chat: Chat) -> Self {
        Self(JsonModel::behind(chat, (prompt::ID, prompt::TASK)))
    }

    /// The tokens spent so far, on answers that could not be used too.
    pub fn usage(&self) -> TokenUsage {
        self.0.usage()
    }
}

#[cfg(feature = "http")]
impl fmt::Debug for HttpPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpPolicy").field("id", &self.0.id()).finish_non_exhaustive()
    }
}

#[cfg(feature = "http")]
impl Policy for HttpPolicy {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn select(&self, state: &Reconstruction) -> Result<Selection, NeuralError> {
        select(&self.0, state)
    }

    fn route(
        &self,
        state: &Reconstruction,
        findings: &[Finding],
    ) -> Result<Vec<(usize, f64)>, NeuralError> {
        route(&self.0, state, findings)
    }

    fn is_sufficient(&self, state: &Reconstruction) -> Result<bool, NeuralError> {
        is_sufficient(&self.0, state)
    }
}

#[cfg(test)]
#[cfg(feature = "models")]
mod tests;
