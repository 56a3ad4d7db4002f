//! How much a sentence says: its names, numbers and words with content, and whom it is of.

use engraph_storage::graph::{Interval, Time};

use crate::memory::extract::rules::rewrite::{Rewritten, Subject};
use crate::memory::extract::rules::{lexicon, verbs};
use crate::retrieval::words::Word;

/// How much the words of a sentence say.
pub(super) fn weight(words: &[Word]) -> f64 {
    let of = |(at, word): (usize, &Word)| {
        let lower = word.lower.as_str();
        let is_name = word.is_capital && at > 0 && !lexicon::is_empty(lower);
        let is_number = lower.starts_with(|c: char| c.is_ascii_digit());
        if is_name || is_number {
            1.5
        } else if lexicon::is_empty(lower) && !lexicon::is_feeling(lower) {
            0.0
        } else if lexicon::is_adjective(lower)
            || lexicon::is_bland_noun(lower)
            || verbs::verb(lower).is_some_and(|verb| verbs::is_bland(verb.base))
        {
            0.5
        } else {
            1.0
        }
    };
    words.iter().enumerate().map(of).sum::<f64>().min(8.0)
}

pub(super) fn bonus(rewritten: &Rewritten, words: &[Word], at: Option<Time>) -> f64 {
    let subject = match rewritten.subject {
        Subject::Me => 1.0,
        Subject::Named => 0.0,
        Subject::You => -1.0,
        Subject::Open | Subject::Command => -0.5,
    };
    let is_dated =
        rewritten.valid != Interval::ALL && at.is_some_and(|at| rewritten.valid.from != at);
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_polite = |at: usize| {
        matches!(
            lower(at),
            "appreciate"
                | "hope"
                | "wish"
                | "bet"
                | "agree"
                | "glad"
                | "hear"
                | "know"
                | "guess"
                | "understand"
                | "think"
                | "see"
                | "get"
                | "happy"
                | "proud"
        )
    };
    let about_you = words.iter().any(|word| ABOUT_YOU.contains(&word.lower.as_str()));
    let polite = if about_you && (0..3).any(is_polite) { -1.5 } else { 0.0 };
    let condition = if matches!(lower(0), "if" | "imagine" | "unless") { -1.0 } else { 0.0 };
    subject + if is_dated { 1.0 } else { 0.0 } + polite + condition
}

/// Words for who is spoken to.
pub(in crate::memory::extract::rules) const ABOUT_YOU: &[&str] =
    &["you", "your", "yours", "you're", "you've", "you'd", "you'll", "yourself", "ya"];
