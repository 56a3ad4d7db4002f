//! A language model that answers texts after one task, each with JSON of a form: from a folder, held to the form by
//! a grammar; behind an HTTP endpoint or a function of the caller's, what it says is read as it comes.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "http")]
use std::time::Duration;

use serde_json::Value;

use super::writer::{Grammar, Writer};
use super::{CausalLm, NeuralError};
#[cfg(feature = "http")]
use super::{Chat, TokenUsage};

/// The best of the whole numbers by which a model says how much: from 0 on.
pub(crate) const BEST: usize = 10;

/// A language model: from a folder, on the CPU, behind an HTTP endpoint, or of a function. A clone is the same
/// model: one serves as extractor, policy and evaluator without its weights being held three times.
///
/// ```
/// use std::path::Path;
///
/// use engraph::LanguageModel;
///
/// let error = LanguageModel::load(Path::new("/no/such/folder")).unwrap_err();
/// assert!(error.to_string().starts_with("cannot read /no/such/folder"));
/// ```
#[derive(Clone)]
pub struct LanguageModel(Model);

/// Asks for the answer to a text after a task.
type Ask = dyn Fn(&str, &str) -> Result<String, NeuralError> + Send + Sync;

/// A model of the caller's.
struct Own {
    name: String,
    ask: Box<Ask>,
}

#[derive(Clone)]
enum Model {
    Folder(Arc<CausalLm>),
    Own(Arc<Own>),
    #[cfg(feature = "http")]
    Endpoint(Arc<Chat>),
}

impl LanguageModel {
    /// Loads a model from a folder that holds what [`CausalLm::load`] reads: Llama, SmolLM, Qwen2, Qwen2.5 or Qwen3.
    /// What it writes is held to the form of an answer, so it always parses; what it says is as good as the model.
    ///
    /// # Errors
    ///
    /// Those of [`CausalLm::load`].
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        Ok(Arc::new(CausalLm::load(folder)?).into())
    }

    /// Any other model, by a function: of another provider, or one of a test. It is given the task, which is what a
    /// chat has as its system message, and the text, and gives the answer as it comes; what is said around the JSON of it
    /// is passed over. It may wait as long as it takes: no lock is held meanwhile, but by `FORGET` of turns and in a transaction
    /// that the caller keeps open; it must not write to the database itself. `name` and its version are kept with what the model has drawn.
    ///
    /// ```
    /// use engraph::LanguageModel;
    /// use engraph::memory::{Extractor, ModelExtractor, Rules, SourceTurn};
    ///
    /// let model = LanguageModel::from_fn("mine 1", |task, text| {
    ///     assert!(task.contains("JSON") && text.contains("I bake bread"));
    ///     Ok(r#"{"title": "Bread", "summary": "Nora bakes.", "concepts": [], "semantics": [], "facts": []}"#.to_owned())
    /// });
    /// let extractor = ModelExtractor::new(model)?;
    /// # struct Nobody;
    /// # impl engraph::memory::KnownEntities for Nobody {
    /// #     fn find(&self, _: &str) -> Option<engraph::memory::Entity> { None }
    /// # }
    /// let turn = SourceTurn { text: "I bake bread".to_owned(), ..SourceTurn::default() };
    /// assert_eq!(extractor.extract(&[turn], &Nobody)?.title, "Bread");
    /// # Ok::<(), engraph::NeuralError>(())
    /// ```
    pub fn from_fn(
        name: impl Into<String>,
        ask: impl Fn(&str, &str) -> Result<String, NeuralError> + Send + Sync + 'static,
    ) -> Self {
        Self(Model::Own(Arc::new(Own { name: name.into(), ask: Box::new(ask) })))
    }

    /// Asks `model` behind an endpoint that speaks as OpenAI's `/v1/chat/completions` does. `base_url` is what
    /// `/chat/completions` is put after, such as `https://api.openai.com/v1`; `timeout` is for each request as a whole.
    /// One that times out or is answered with 429 or 5xx is made four times at most, with pauses between them. The key
    /// goes into the request and nowhere else.
    #[cfg(feature = "http")]
    pub fn behind(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        Self::from_chat(Chat::new(base_url, model, key, timeout))
    }

    #[cfg(feature = "http")]
    pub(crate) fn from_chat(chat: Chat) -> Self {
        Self(Model::Endpoint(Arc::new(chat)))
    }
}

/// The same model as the one that writes keys.
impl From<Arc<CausalLm>> for LanguageModel {
    fn from(model: Arc<CausalLm>) -> Self {
        Self(Model::Folder(model))
    }
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.0 {
            Model::Folder(model) => model.name(),
            Model::Own(own) => own.name.as_str(),
            #[cfg(feature = "http")]
            Model::Endpoint(chat) => chat.model(),
        };
        f.debug_struct("LanguageModel").field("name", &name).finish_non_exhaustive()
    }
}

/// A model with a task.
pub(crate) struct JsonModel {
    id: String,
    source: Source,
}

enum Source {
    Folder(Box<Writer>),
    Own(Arc<Own>, &'static str),
    #[cfg(feature = "http")]
    Endpoint(Arc<Chat>, &'static str),
}

impl JsonModel {
    /// A model with a task, which `prompt` names; from a folder its answers have at most so many tokens.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if a character of ASCII is not among the tokens of a model from a folder, or it cannot run.
    pub(crate) fn new(
        model: LanguageModel,
        (prompt, task): (&str, &'static str),
        tokens_max: u32,
    ) -> Result<Self, NeuralError> {
        match model.0 {
            Model::Folder(model) => {
                let id = format!("{} {prompt}", model.name());
                let writer = Writer::new(model, task, tokens_max)?;
                Ok(Self { id, source: Source::Folder(Box::new(writer)) })
            }
            Model::Own(own) => {
                let id = format!("{} {prompt}", own.name);
                Ok(Self { id, source: Source::Own(own, task) })
            }
            #[cfg(feature = "http")]
            Model::Endpoint(chat) => {
                let id = format!("{} {prompt}", chat.model());
                Ok(Self { id, source: Source::Endpoint(chat, task) })
            }
        }
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
            Source::Own(own, task) => (own.ask)(task, text)?,
            #[cfg(feature = "http")]
            Source::Endpoint(chat, task) => chat.ask(task, text)?,
        };
        read(&answer).map_err(|reason| match &self.source {
            Source::Folder(_) => NeuralError::Failed { reason },
            Source::Own(own, _) => {
                NeuralError::Failed { reason: format!("{}: {reason}", own.name) }
            }
            #[cfg(feature = "http")]
            Source::Endpoint(chat, _) => chat.failed(&reason),
        })
    }

    /// The tokens spent so far; none where nothing is told of them.
    #[cfg(feature = "http")]
    pub(crate) fn usage(&self) -> TokenUsage {
        match &self.source {
            Source::Folder(_) | Source::Own(..) => TokenUsage::default(),
            Source::Endpoint(chat, _) => chat.usage(),
        }
    }
}

impl fmt::Debug for JsonModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonModel").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Braces and brackets of an answer with which its JSON may begin; what a model thinks aloud has some as well.
const BEGINNINGS_MAX: usize = 64;

/// The JSON of an answer, around which there may be other text, such as the marks of a block of code or what the
/// model thought before: the longest object or list that is there.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    let mut error = None;
    let mut longest = (0, Value::Null);
    let mut begun = 0;
    for _ in 0..BEGINNINGS_MAX {
        let Some(start) = text[begun..].find(['{', '[']).map(|at| begun + at) else { break };
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        begun = match values.next() {
            Some(Ok(value)) => {
                let bytes = values.byte_offset();
                if bytes > longest.0 {
                    longest = (bytes, value);
                }
                start + bytes
            }
            // What stands within an answer that is cut is none.
            Some(Err(wrong)) if wrong.is_eof() => {
                error = Some(wrong);
                break;
            }
            Some(Err(wrong)) => {
                error.get_or_insert(wrong);
                start + 1
            }
            None => break,
        };
    }
    match (longest, error) {
        ((1.., value), _) => Ok(value),
        (_, Some(error)) => Err(format!("the answer is no JSON: {error}")),
        (_, None) => Err("there is no JSON in the answer".to_owned()),
    }
}

/// What an answer has in a list, which has one item for each thing that it was asked about.
pub(crate) fn items(text: &str, list: &str, count: usize) -> Result<Vec<Value>, String> {
    let mut answer = json(text)?;
    match answer.get_mut(list).map(Value::take) {
        Some(Value::Array(items)) if items.len() == count => Ok(items),
        Some(Value::Array(items)) => {
            Err(format!("the answer has {} {list} where {count} were asked for", items.len()))
        }
        _ => Err(format!("the answer has no {list}")),
    }
}

/// How much a number of an answer says, as a share of [`BEST`].
pub(crate) fn share(number: &Value) -> Result<f64, String> {
    let best = BEST as f64;
    let number = number.as_f64().filter(|number| (0.0..=best).contains(number));
    number.map(|number| number / best).ok_or_else(|| format!("a number is from 0 to {BEST}"))
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn the_json_of_an_answer_stands_among_other_text() {
        for text in [
            "{\"a\":[1]}",
            "```json\n{\"a\":[1]}\n```",
            "<think>maybe {x}, or {}</think>{\"a\":[1]} (see {note})",
            "Sure [draft]: {\"a\":[1]}",
        ] {
            assert_eq!(json(text).expect("JSON"), serde_json::json!({ "a": [1] }), "{text}");
        }
        for (text, expected) in [
            ("", "there is no JSON in the answer"),
            ("nothing", "there is no JSON in the answer"),
            ("{\"a\":", "the answer is no JSON: EOF"),
            ("{\"a\":[{\"b\":1},{\"c\":2}],\"d\":", "the answer is no JSON: EOF"),
            (&"{".repeat(1 << 20), "the answer is no JSON: "),
        ] {
            assert!(json(text).expect_err("is none").starts_with(expected), "{text:.20}");
        }
    }
}
