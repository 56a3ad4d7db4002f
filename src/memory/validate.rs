//! Whether the turns that a fact was drawn from bear it out.
//!
//! It looks for words, and never judges whether something is true.

use std::collections::BTreeSet;

use super::extract::{ExtractedFact, Rules};
use crate::retrieval::words::content;
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
        said.extend(text::of_node(&turn.properties).iter().flat_map(|text| content(text)));
    }
    let relation = content(&fact.relation.replace('_', " "));
    let has_all = |words: Vec<String>| words.iter().all(|stem| said.contains(stem));
    has_all(content(&fact.head.name))
        && has_all(content(&fact.tail.name))
        && (relation.is_empty()
            || relation.iter().any(|stem| said.contains(stem))
            || Rules::cues(&fact.relation).any(|cue| has_all(content(cue))))
}
