//! The score of a turn: how relevant it is by itself, and what each operation that brought it adds.

use std::collections::{BTreeMap, BTreeSet};

use super::operation::{Finding, Kind, Mechanism};
use super::state::{Evidence, Reconstruction};
use crate::retrieval::boost;

/// The parts of meaning and words in the relevance of a turn. These and the numbers below were chosen
/// on the development conversations of LoCoMo.
const MEANING: f64 = 0.5;
const WORDS: f64 = 0.6;
/// What the share of an operation counts beside the relevance.
const WEIGHTS: [(&str, f64); 7] = [
    ("context_of_events", 0.5),
    ("search_statements", 0.45),
    ("personal_information", 0.07),
    ("events_of_tag", 0.07),
    ("events_of_cue", 0.07),
    ("events_of_topic", 0.05),
    ("events_by_time", 0.5),
];
/// Factors for a turn of somebody whom the question names, and one that says a time that is asked
/// for: those of GAM (eq. 11), which MRAgent has not.
const SPEAKER: f64 = 1.4;
const TIME: f64 = 1.4;

/// What the relevance of turns is measured by.
pub(super) struct Scale {
    words: f64,
    least: f64,
    most: f64,
}

impl Scale {
    /// The scale of what was found, with what was found right now.
    pub(super) fn of(state: &Reconstruction, findings: &[Finding]) -> Self {
        let turns = findings.iter().filter(|found| found.kind == Kind::Turn);
        let held = state.evidence.values().map(|one| (one.meaning, one.words));
        let new = turns.map(|found| (found.meaning, found.words));
        let mut scale = Self { words: 0.0, least: f64::MAX, most: f64::MIN };
        for (meaning, words) in held.chain(new) {
            scale.words = scale.words.max(words);
            scale.least = scale.least.min(meaning);
            scale.most = scale.most.max(meaning);
        }
        scale
    }
}

/// How relevant a turn is by itself, from 0 to 1.1.
pub(super) fn relevance(meaning: f64, words: f64, scale: &Scale) -> f64 {
    let span = scale.most - scale.least;
    let meaning = if span > 0.0 { (meaning - scale.least) / span } else { 1.0 };
    let words = if scale.words > 0.0 { words / scale.words } else { 0.0 };
    MEANING * meaning + WORDS * words
}

/// Scores all evidence anew.
pub(super) fn rank(state: &mut Reconstruction) {
    let scale = Scale::of(state, &[]);
    let persons: BTreeSet<&String> = match state.uses(Mechanism::Role) {
        true => state.persons.iter().collect(),
        false => BTreeSet::new(),
    };
    let weights: BTreeMap<&str, f64> = WEIGHTS.into_iter().collect();
    for one in state.evidence.values_mut() {
        let mut factor = 1.0;
        if one.speaker.as_ref().is_some_and(|speaker| persons.contains(speaker)) {
            factor *= SPEAKER;
        }
        if one.timely {
            factor *= TIME;
        }
        let added: f64 = one
            .shares
            .iter()
            .map(|(name, share)| share * weights.get(name.as_str()).copied().unwrap_or(0.0))
            .sum();
        one.score = (relevance(one.meaning, one.words, &scale) + added) * factor;
    }
}

/// Whether the question asks for a time, and that counts.
pub(super) fn asks_for_time(state: &Reconstruction) -> bool {
    let now = state.now.filter(|_| state.uses(Mechanism::Time));
    now.is_some_and(|now| boost::asks_for_time(&state.question, now))
}

/// Whether a turn says a time.
pub(super) fn says_time(state: &Reconstruction, text: &str) -> bool {
    state.now.is_some_and(|now| boost::says_time(text, now))
}

/// What the best turns amount to together.
pub(super) fn mass(state: &Reconstruction) -> f64 {
    let best = state.evidence();
    best.iter().take(20).map(|one: &&Evidence| one.score).sum()
}
