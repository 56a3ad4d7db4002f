//! An extractor that asks a language model from a folder, on the CPU.
//!
//! What the model writes is held to the grammar of the answer, so it always parses; what it says is
//! as good as the model. The same turns give the same answer.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Extraction, Extractor, KnownEntities, SourceTurn, answer, json, prompt};
use crate::neural::writer::Writer;
use crate::neural::{CausalLm, NeuralError};

/// The longest answer, in tokens.
const TOKENS_MAX: u32 = 4_096;

/// An [`Extractor`] with a language model of its own: Llama, SmolLM, Qwen2, Qwen2.5 or Qwen3.
///
/// Of the turns it reads 16 KiB at most, and 4 KiB of each; longer ones are cut, the longest first.
/// It writes 4,096 tokens at most, and begins no statement that may not fit into them. It may be
/// shared between threads.
///
/// ```
/// use std::path::Path;
///
/// use engraph::memory::LocalModel;
///
/// let error = LocalModel::load(Path::new("/no/such/folder")).unwrap_err();
/// assert!(error.to_string().starts_with("cannot read /no/such/folder"));
/// ```
pub struct LocalModel {
    id: String,
    writer: Writer,
    left_out: AtomicU64,
}

impl LocalModel {
    /// Loads a model from a folder that holds what [`CausalLm::load`] reads.
    ///
    /// # Errors
    ///
    /// Those of [`CausalLm::load`], and [`NeuralError::Failed`] if a character of ASCII is not
    /// among the tokens, or the model cannot run.
    pub fn load(folder: &Path) -> Result<Self, NeuralError> {
        Self::with(CausalLm::load(folder)?, TOKENS_MAX)
    }

    fn with(model: CausalLm, tokens_max: u32) -> Result<Self, NeuralError> {
        let writer = Writer::new(model, prompt::TASK, tokens_max)?;
        let id = format!("{} {}", writer.name(), prompt::ID);
        Ok(Self { id, writer, left_out: AtomicU64::new(0) })
    }

    /// How many items of the answers so far were left out, for they named a turn that is not there,
    /// a day that no calendar has, or the like.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// The answer about these turns: JSON of the grammar's form.
    fn write(&self, turns: &[SourceTurn]) -> Result<String, NeuralError> {
        let grammar = json::grammar(turns.len().min(prompt::TURNS_MAX));
        self.writer.write(&grammar, &prompt::turns(turns))
    }
}

impl fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalModel").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Extractor for LocalModel {
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
        let answer = answer::read(&self.write(turns)?, turns, known);
        let answer = answer.map_err(|reason| NeuralError::Failed { reason })?;
        self.left_out.fetch_add(answer.left_out, Ordering::Relaxed);
        Ok(answer.extraction)
    }
}

#[cfg(test)]
#[cfg(feature = "models")]
mod tests {
    use super::super::prompt::tests::{Nobody, turn};
    use super::*;
    use crate::neural::tiny_folder;

    fn load(family: &str, tokens_max: u32) -> LocalModel {
        let folder = tiny_folder(family);
        LocalModel::with(CausalLm::load(folder.path()).unwrap(), tokens_max).unwrap()
    }

    fn check(text: &str, turns: usize) {
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(json::tests::check(&value, turns), Ok(()), "{text}");
    }

    #[test]
    fn a_model_of_any_family_writes_what_parses_and_the_same_each_time() {
        let turns = [turn("Ann", "I moved to Oslo."), turn("Ben", "Why?")];
        for family in ["llama", "qwen2", "qwen3"] {
            let model = load(family, 200);
            let text = model.write(&turns).unwrap();
            check(&text, turns.len());
            assert_eq!(model.write(&turns).unwrap(), text, "{family}");
            assert_eq!(load(family, 200).write(&turns).unwrap(), text, "{family}");
            assert!(text.len() >= 100, "{text}");
            let extraction = model.extract(&turns, &Nobody).unwrap();
            assert_eq!(extraction, model.extract(&turns, &Nobody).unwrap());
            assert!(model.id().ends_with(" prompt-1") && !model.id().starts_with(' '));
            // The turns are read.
            let scores = |turns: &[SourceTurn]| {
                let writer = &model.writer;
                let session = writer.model.session(&writer.task, &prompt::turns(turns)).unwrap();
                session.scores().to_vec()
            };
            assert_ne!(scores(&turns), scores(&turns[..1]), "{family}");
        }
    }

    #[test]
    fn hostile_turns_do_no_harm() {
        let model = load("llama", 100);
        let long = "東京 \"}]} ".repeat(1 << 17);
        for text in
            ["", "\"}]}", "\\\"", "{\"title\":\"x\"}", "\0\u{1b}[0m\u{7f}", "</s><s>", &long]
        {
            check(&model.write(&[turn(text, text)]).unwrap(), 1);
        }
        let turns = vec![SourceTurn::default(); 300];
        check(&model.write(&turns).unwrap(), prompt::TURNS_MAX);
        assert_eq!(model.extract(&[], &Nobody).unwrap(), Extraction::default());
    }

    #[test]
    fn an_answer_of_any_length_is_read() {
        let model = load("qwen2", TOKENS_MAX);
        let turns = vec![turn("Ann", "I moved to Oslo."); 12];
        let text = model.write(&turns).unwrap();
        check(&text, turns.len());
        let answer = answer::read(&text, &turns, &Nobody).unwrap();
        let extraction = model.extract(&turns, &Nobody).unwrap();
        assert_eq!((&answer.extraction, answer.left_out), (&extraction, model.left_out()));
    }
}
