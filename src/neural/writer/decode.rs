//! Writing a text of a grammar by a model's scores, token after token, always the best one that the
//! grammar allows.
//!
//! Bytes between which there is no choice are not asked for: they are put after the text at once.
//! Whatever the scores are, what comes out is a whole text of the grammar, of no more tokens than
//! allowed, and the same each time.

use super::grammar::{Grammar, State};
use super::vocabulary::Vocabulary;
use crate::neural::NeuralError;

/// Writes a text of at most `budget` tokens. `scores` is given the tokens that were put after the
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
        let left = self.budget.checked_sub(1);
        self.budget = left.ok_or_else(|| stuck("there are no tokens left"))?;
        self.bytes.extend_from_slice(self.vocabulary.bytes(id));
        self.new.push(id);
        Ok(())
    }
}

fn stuck(reason: &str) -> NeuralError {
    NeuralError::Failed { reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::vocabulary::tests::{odd_token, with_ascii};
    use super::*;
    use crate::memory::extract::json;

    /// Writes an answer about so many turns by rows of scores, one after the other and again from
    /// the first on.
    fn answer(
        more: &[Vec<u8>],
        rows: &[Vec<f32>],
        turns: usize,
        budget: u32,
    ) -> Result<String, NeuralError> {
        let more: Vec<&[u8]> = more.iter().map(Vec::as_slice).collect();
        let vocabulary = Vocabulary::new(with_ascii(&more)).unwrap();
        let mut rows = rows.iter().cycle();
        let scores = |_: &[u32]| Ok(rows.next().cloned().unwrap_or_default());
        let bytes = write(&json::grammar(turns), &vocabulary, budget, scores)?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    /// Scores of all kinds; those that are not finite often.
    fn score() -> impl Strategy<Value = f32> {
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, -0.0];
        prop_oneof![4 => -9.0_f32..9.0, 1 => prop::sample::select(odd.to_vec())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn whatever_the_scores_are_the_answer_parses_and_ends(
            more in prop::collection::vec(odd_token(), 0..24),
            mut rows in prop::collection::vec(prop::collection::vec(score(), 0..119), 1..40),
            loved in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..119), 0..40),
            turns in 1_usize..30,
            slack in prop_oneof![0_u32..100, 0_u32..6_000],
        ) {
            // Here and there all the weight is on one token, allowed or not.
            for (row, token) in loved {
                let row = row.index(rows.len());
                rows[row] = vec![f32::NEG_INFINITY; 119];
                rows[row][token] = f32::INFINITY;
            }
            let budget = json::grammar(turns).start().room() + slack;
            // A token above the budget would be an error.
            let text = answer(&more, &rows, turns, budget).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(json::tests::check(&value, turns), Ok(()), "{}", text);
            prop_assert_eq!(answer(&more, &rows, turns, budget).unwrap(), text);
        }
    }

    #[test]
    fn what_the_model_wants_comes_out_if_it_is_of_the_form() {
        let bytes: Vec<[u8; 1]> = (0x80..=0xff).map(|byte| [byte]).collect();
        let more: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        let vocabulary = Vocabulary::new(with_ascii(&more)).unwrap();
        let text = json::tests::RICH.as_bytes();
        let mut written = 0;
        let scores = |new: &[u32]| {
            // Each token is a byte.
            written += new.len();
            let next = |id: u32| vocabulary.bytes(id) == &text[written..=written];
            Ok((0..95 + 128).map(|id| if next(id) { 1.0 } else { 0.0 }).collect())
        };
        let budget = 4_000;
        let out = write(&json::grammar(12), &vocabulary, budget, scores).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), json::tests::RICH);
    }

    /// Scores that love each of the characters in turn.
    fn love(characters: &str) -> Vec<Vec<f32>> {
        let row = |byte: u8| {
            let mut row = vec![0.0; 95];
            row[usize::from(byte - b' ')] = 1.0;
            row
        };
        characters.bytes().map(row).collect()
    }

    #[test]
    fn a_model_that_never_ends_is_ended() {
        let room = json::grammar(1).start().room();
        for budget in [room, room + 1, room + 300, 3_000] {
            for love in [love("a"), love("\\"), love("\"{,a"), vec![vec![]]] {
                let text = answer(&[], &love, 1, budget).unwrap();
                let value: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(json::tests::check(&value, 1), Ok(()));
                assert!(text.len() <= budget as usize, "{text}");
            }
        }
        let error = answer(&[], &[], 1, room - 1).unwrap_err().to_string();
        assert!(error.ends_with("above the tokens allowed"), "{error}");
    }

    #[test]
    fn no_item_is_cut_short() {
        // A key of one letter would be the end of what had to be squeezed in.
        let writes = love("aaaaa\"bbbbb\"{ccccc\"ddddd\",");
        let mut items = 0;
        for budget in (70..3_000).step_by(37) {
            let text = answer(&[], &writes, 1, budget).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            for concept in value["concepts"].as_array().unwrap() {
                assert!(concept["key"].as_str().unwrap().len() >= 4, "{budget}: {text}");
                items += 1;
            }
        }
        assert!(items > 50, "{items}");
    }

    #[test]
    fn what_is_forced_is_not_asked_for() {
        let asked = std::cell::Cell::new(0);
        let vocabulary = Vocabulary::new(with_ascii(&[b"\"title\":", b"{\"ti"])).unwrap();
        let scores = |new: &[u32]| {
            if asked.replace(asked.get() + 1) == 0 {
                // The longest token first, not the one with the most bytes later.
                let new: Vec<&[u8]> = new.iter().map(|id| vocabulary.bytes(*id)).collect();
                let expected: [&[u8]; 7] = [b"{\"ti", b"t", b"l", b"e", b"\"", b":", b"\""];
                assert_eq!(new, expected);
            }
            let mut row = vec![0.0; 97];
            row[usize::from(b'"' - b' ')] = 1.0;
            row[usize::from(b']' - b' ')] = 1.0;
            Ok(row)
        };
        let text = write(&json::grammar(1), &vocabulary, 500, scores).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.ends_with("\"concepts\":[],\"semantics\":[],\"facts\":[]}"), "{text}");
        // A letter and a quote for each of the two texts, and an end for each of the three lists.
        assert_eq!(asked.get(), 7);
    }

    #[test]
    fn an_error_of_the_scores_is_that_of_the_text() {
        let vocabulary = Vocabulary::new(with_ascii(&[])).unwrap();
        let scores = |_: &[u32]| Err(stuck("no power"));
        let error = write(&json::grammar(1), &vocabulary, 500, scores).unwrap_err();
        assert!(error.to_string().ends_with("no power"), "{error}");
    }
}
