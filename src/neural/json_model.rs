//! A language model that answers texts behind one task, each with JSON of a form: from a folder, held to the form by
//! a grammar, or behind an HTTP endpoint, where what it says is read as it comes.

use std::path::Path;

use serde_json::Value;

use super::writer::{Grammar, Writer};
use super::{CausalLm, NeuralError};
#[cfg(feature = "http")]
use super::{Chat, TokenUsage};

/// A model with a task.
pub(crate) struct JsonModel {
    id: String,
    source: Source,
}

enum Source {
    Folder(Box<Writer>),
    #[cfg(feature = "http")]
    Endpoint(Chat, &'static str),
}

impl JsonModel {
    /// Loads a model from a folder that holds what [`CausalLm::load`] reads, with answers of at most so many
    /// tokens. `prompt` names the task.
    ///
    /// # Errors
    ///
    /// Those of [`CausalLm::load`], and [`NeuralError::Failed`] if a character of ASCII is not among the tokens, or
    /// the model cannot run.
    pub(crate) fn load(
        folder: &Path,
        (prompt, task): (&str, &str),
        tokens_max: u32,
    ) -> Result<Self, NeuralError> {
        let model = Writer::new(CausalLm::load(folder)?, task, tokens_max)?;
        Ok(Self {
            id: format!("{} {prompt}", model.name()),
            source: Source::Folder(Box::new(model)),
        })
    }

    /// A model behind an endpoint.
    #[cfg(feature = "http")]
    pub(crate) fn behind(chat: Chat, (prompt, task): (&str, &'static str)) -> Self {
        let id = format!("{} {prompt}", chat.model());
        Self { id, source: Source::Endpoint(chat, task) }
    }

    /// Names the model, its weights and the task.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// What is read of the answer to a text, in which there may be more than the JSON ([`json`]).
    ///
    /// # Errors
    ///
    /// Those of the model, and [`NeuralError`] with the reason why an answer is none.
    pub(crate) fn ask<T>(
        &self,
        text: &str,
        grammar: &Grammar,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, NeuralError> {
        let answer = match &self.source {
            Source::Folder(writer) => writer.write(grammar, text)?,
            #[cfg(feature = "http")]
            Source::Endpoint(chat, task) => chat.ask(task, text)?,
        };
        read(&answer).map_err(|reason| self.failed(reason))
    }

    fn failed(&self, reason: String) -> NeuralError {
        match &self.source {
            Source::Folder(_) => NeuralError::Failed { reason },
            #[cfg(feature = "http")]
            Source::Endpoint(chat, _) => chat.failed(&reason),
        }
    }

    /// The tokens spent so far; none where nothing is told of them.
    #[cfg(feature = "http")]
    pub(crate) fn usage(&self) -> TokenUsage {
        match &self.source {
            Source::Folder(_) => TokenUsage::default(),
            Source::Endpoint(chat, _) => chat.usage(),
        }
    }
}

/// The JSON of an answer, around which there may be other text, such as the marks of a block of code.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    let start = text.find(['{', '[']).ok_or("there is no JSON in the answer")?;
    let end = text.rfind(['}', ']']).map_or(text.len(), |end| end + 1);
    let text = text.get(start..end).or_else(|| text.get(start..)).unwrap_or_default();
    serde_json::from_str(text).map_err(|error| format!("the answer is no JSON: {error}"))
}
