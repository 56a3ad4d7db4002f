//! Whether the turns that a fact was drawn from bear it out.
//!
//! It looks for words, and never judges whether something is true.

use std::collections::BTreeSet;

use super::extract::{ExtractedFact, Rules};
use crate::retrieval::words::{content, words};
use crate::text;
use crate::write::TurnInput;

/// The most confidence that is left to a fact whose words are not found: under the default threshold
/// of relations, so that it is kept beside what is believed and closes nothing.
pub(crate) const UNCERTAIN: f64 = 0.4;

/// Whether head, tail and relation are found in the turns: the head as a speaker or by its words,
/// the tail by its words, the relation by one of its words.
pub(crate) fn is_borne_out(fact: &ExtractedFact, turns: &[&TurnInput]) -> bool {
    let mut said = BTreeSet::new();
    for turn in turns {
        said.extend(content(&turn.speaker));
        if let Some(text) = text::of_node(&turn.properties) {
            said.extend(content(&text));
            said.extend(content(&Rules::written_out(&text, turn.at)));
        }
    }
    let days: Vec<String> = said.iter().filter_map(|word| day(word)).collect();
    said.extend(days);
    // What says nothing by itself must be there as it is.
    let is_said = |cue: &str| match content(cue) {
        stems if stems.is_empty() => turns.iter().any(|turn| has_words(turn, cue)),
        stems => stems.iter().all(|stem| said.contains(stem)),
    };
    let relation = content(&fact.relation.replace('_', " "));
    let has_all = |words: Vec<String>| words.iter().all(|stem| said.contains(stem));
    has_all(content(&fact.head.name))
        && has_all(content(&fact.tail.name))
        && (relation.is_empty()
            || relation.iter().any(|stem| said.contains(stem))
            || Rules::cues(&fact.relation).any(is_said))
}

/// The number of a day that is written with its ending: `3` of `3rd`.
fn day(word: &str) -> Option<String> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending))?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.to_owned())
}

/// Whether these words stand in a turn, one after the other.
fn has_words(turn: &TurnInput, cue: &str) -> bool {
    let lower = |text: &str| words(text).into_iter().map(|word| word.lower).collect::<Vec<_>>();
    let cue = lower(cue);
    let text = text::of_node(&turn.properties).map(|text| lower(&text)).unwrap_or_default();
    !cue.is_empty() && text.windows(cue.len()).any(|words| words == cue)
}
