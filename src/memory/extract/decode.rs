//! Writing a text of a grammar by a model's scores, token after token, always the best one that the
//! grammar allows.
//!
//! Bytes between which there is no choice are not asked for: they are put behind the text at once.
//! Whatever the scores are, what comes out is a whole text of the grammar, of no more tokens than
//! allowed, and the same each time.

use super::grammar::{Grammar, State};
use super::vocabulary::Vocabulary;
use crate::neural::NeuralError;

/// Writes a text of at most `budget` tokens. `scores` is given the tokens that were put behind the
/// last ones, and says how likely each token comes next.
///
/// # Errors
///
/// Those of `scores`, and [`NeuralError::Failed`] if the shortest text has more than `budget`
/// bytes.
pub(super) fn write(
    grammar: &Grammar,
    vocabulary: &Vocabulary,
    budget: u32,
    mut scores: impl FnMut(&[u32]) -> Result<Vec<f32>, NeuralError>,
) -> Result<Vec<u8>, NeuralError> {
    let state = grammar.start();
    if state.room() > budget {
        return Err(stuck("the shortest answer is above the tokens allowed"));
    }
    let mut text = Text { grammar, vocabulary, state, budget, bytes: Vec::new(), new: Vec::new() };
    loop {
        for id in vocabulary.split(&grammar.forced(&text.state)) {
            text.push(id)?;
        }
        if text.state.is_end() {
            return Ok(text.bytes);
        }
        let scores = scores(&text.new)?;
        text.new.clear();
        let id = vocabulary.pick(&scores, grammar, &text.state, text.budget);
        text.push(id.ok_or_else(|| stuck("no token may follow"))?)?;
    }
}

/// What was written so far.
struct Text<'g> {
    grammar: &'g Grammar,
    vocabulary: &'g Vocabulary,
    state: State,
    /// The tokens that are left.
    budget: u32,
    bytes: Vec<u8>,
    /// The tokens since the last scores.
    new: Vec<u32>,
}

impl Text<'_> {
    fn push(&mut self, id: u32) -> Result<(), NeuralError> {
        let state = self.vocabulary.run(self.grammar, &self.state, id);
        self.state = state.ok_or_else(|| stuck("a token may not follow"))?;
        self.budget = self.budget.saturating_sub(1);
        self.bytes.extend_from_slice(self.vocabulary.bytes(id));
        self.new.push(id);
        Ok(())
    }
}

fn stuck(reason: &str) -> NeuralError {
    NeuralError::Failed { reason: reason.to_owned() }
}
