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

use super::by_score::ByScore;
use super::operation::Finding;
use super::policy::{Policy, Selection};
use super::state::Reconstruction;
#[cfg(feature = "http")]
use crate::neural::TokenUsage;
use crate::neural::{JsonModel, LanguageModel, NeuralError};

/// The longest answer, in tokens.
const TOKENS_MAX: u32 = 1_024;

/// A [`Policy`] that asks a language model.
#[derive(Debug)]
pub struct ModelPolicy(JsonModel);

impl ModelPolicy {
    /// Asks this model.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if it cannot run.
    pub fn new(model: LanguageModel) -> Result<Self, NeuralError> {
        Self::with(model, TOKENS_MAX)
    }

    fn with(model: LanguageModel, tokens_max: u32) -> Result<Self, NeuralError> {
        Ok(Self(JsonModel::new(model, (prompt::ID, prompt::TASK), tokens_max)?))
    }

    /// The tokens spent so far behind an endpoint, on answers that could not be used too.
    #[cfg(feature = "http")]
    pub fn usage(&self) -> TokenUsage {
        self.0.usage()
    }
}

impl Policy for ModelPolicy {
    fn id(&self) -> &str {
        self.0.id()
    }

    /// As many operations as the budget has calls; one at least while there is no evidence, since a
    /// small model says too soon that nothing is missing.
    fn select(&self, state: &Reconstruction) -> Result<Selection, NeuralError> {
        let calls = state.budget().calls;
        let least = usize::from(state.evidence().is_empty());
        let grammar = answer::operations_grammar(least, calls);
        self.0.ask(&prompt::select(state), &grammar, |text| answer::operations(text, least, calls))
    }

    /// What the model keeps of the contents that it is shown, in the order and with the weights of
    /// [`ByScore`]. What is not shown, and the cues, tags and topics, which are no content, go on as
    /// [`ByScore`] says.
    fn route(
        &self,
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
        let kept = self.0.ask(&text, &grammar, |text| answer::places(text, shown.len()))?;
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

    fn is_sufficient(&self, state: &Reconstruction) -> Result<bool, NeuralError> {
        self.0.ask(&prompt::sufficient(state), &answer::enough_grammar(), answer::enough)
    }
}

#[cfg(test)]
#[cfg(feature = "models")]
mod tests;
