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

/// The words of a turn.
pub(crate) struct Said {
    /// What tells words apart, who speaks among them.
    stems: BTreeSet<String>,
    /// All words of the text in their order, in lower case.
    words: Vec<String>,
}

impl Said {
    /// What a turn says, with its short forms written out too.
    pub(crate) fn of(turn: &TurnInput) -> Self {
        let text = text::of_node(&turn.properties).unwrap_or_default();
        let mut stems: BTreeSet<String> = content(&turn.speaker).into_iter().collect();
        stems.extend(content(&text));
        let whole = Rules::written_out(&text, turn.at);
        stems.extend(content(&whole));
        let days: Vec<String> = stems.iter().filter_map(|word| day(word)).collect();
        stems.extend(days);
        // "Nora's mother" is her mom.
        let roles =
            stems.iter().filter_map(|word| Rules::role(word)).flat_map(|role| content(role.name));
        stems.extend(roles.collect::<Vec<_>>());
        Self { stems, words: lower(&whole) }
    }

    /// Whether these words stand in it, one after the other.
    fn has(&self, cue: &[String]) -> bool {
        !cue.is_empty() && self.words.windows(cue.len()).any(|words| words == cue)
    }
}

/// Whether head, tail and relation are found in the turns: the head as a speaker or by its words,
/// the tail by its words, the relation by one of its words.
pub(crate) fn is_borne_out(fact: &ExtractedFact, turns: &[&Said]) -> bool {
    let has = |stem: &String| turns.iter().any(|turn| turn.stems.contains(stem));
    // What says nothing by itself must be there as it is.
    let is_said = |cue: &str| match content(cue) {
        stems if stems.is_empty() => {
            let cue = lower(cue);
            turns.iter().any(|turn| turn.has(&cue))
        }
        stems => stems.iter().all(has),
    };
    let relation = content(&fact.relation.replace('_', " "));
    content(&fact.head.name).iter().all(has)
        && content(&fact.tail.name).iter().all(has)
        && (relation.is_empty()
            || relation.iter().any(has)
            || Rules::cues(&fact.relation).any(is_said))
}

/// The words of a text, in lower case.
fn lower(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.lower).collect()
}

/// The number of a day that is written with its ending: `3` of `3rd`.
fn day(word: &str) -> Option<String> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending))?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.to_owned())
}
