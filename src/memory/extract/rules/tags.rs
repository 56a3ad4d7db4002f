//! How a concept stands to its turn, by the cue words of the sentence that it stands in.
//!
//! Few relations, so that each of them says something (the tags of MRAgent, section 3.1).

use super::{lexicon, verbs};
use crate::retrieval::words::Word;

/// The relation of a concept to its turn; the first in this order that has a cue.
pub(super) fn tag(words: &[Word], is_question: bool, is_name: bool) -> &'static str {
    let has = |cues: &[&str]| words.iter().any(|word| cues.contains(&word.lower.as_str()));
    if is_question {
        "asks_about"
    } else if has(DISLIKES) || is_negated_liking(words) {
        "dislikes"
    } else if has(LIKES) {
        "likes"
    } else if has(PLANS) || is_going_to(words) {
        "plans"
    } else if words.iter().any(|word| lexicon::is_feeling(&word.lower)) || has(FEELS) {
        "feels"
    } else if has_done(words) {
        "did"
    } else if is_name {
        "names"
    } else {
        "mentions"
    }
}

const LIKES: &[&str] = &[
    "love",
    "loves",
    "loved",
    "loving",
    "like",
    "likes",
    "liked",
    "enjoy",
    "enjoys",
    "enjoyed",
    "enjoying",
    "adore",
    "adores",
    "favorite",
    "favourite",
    "fan",
    "prefer",
    "prefers",
    "passion",
    "passionate",
];

const DISLIKES: &[&str] = &[
    "hate", "hates", "hated", "dislike", "dislikes", "disliked", "annoying", "annoys", "awful",
    "terrible",
];

const PLANS: &[&str] = &[
    "plan",
    "plans",
    "planning",
    "planned",
    "hope",
    "hopes",
    "hoping",
    "want",
    "wants",
    "wanna",
    "gonna",
    "will",
    "i'll",
    "we'll",
    "aim",
    "intend",
    "tomorrow",
    "goal",
    "goals",
    "considering",
];

const FEELS: &[&str] = &["feel", "feels", "feeling", "felt"];

/// "I don't really like it", "I can't stand it".
fn is_negated_liking(words: &[Word]) -> bool {
    let is_liking =
        |word: &Word| matches!(word.lower.as_str(), "like" | "enjoy" | "love" | "stand");
    words.iter().enumerate().any(|(at, word)| {
        let verb = words[at + 1..].iter().find(|word| !lexicon::is_adverb(&word.lower));
        lexicon::denies(&word.lower) && verb.is_some_and(is_liking)
    })
}

fn is_going_to(words: &[Word]) -> bool {
    words.windows(2).any(|pair| {
        (pair[0].lower == "going" && pair[1].lower == "to")
            || (pair[0].lower == "looking" && pair[1].lower == "forward")
    })
}

/// Whether somebody who speaks did something: "I painted", "we just went".
fn has_done(words: &[Word]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let is_we = matches!(word.lower.as_str(), "i" | "we" | "i've" | "we've");
        let verb = words[at + 1..].iter().find(|word| !lexicon::is_adverb(&word.lower));
        let is_past = |word: &Word| {
            verbs::is_past(&word.lower)
                && !matches!(word.lower.as_str(), "was" | "were" | "had" | "used")
        };
        is_we && verb.is_some_and(is_past)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::words::words;

    #[test]
    fn cue_words_tell_the_relation() {
        for (text, expected) in [
            ("I love pottery", "likes"),
            ("I don't like pottery", "dislikes"),
            ("I do not really like pottery", "dislikes"),
            ("I can't stand pottery", "dislikes"),
            ("We are going to paint", "plans"),
            ("I felt calm at the lake", "feels"),
            ("I just painted a bowl", "did"),
            ("The bowl is red", "mentions"),
        ] {
            assert_eq!(tag(&words(text), false, false), expected, "{text}");
        }
        assert_eq!(tag(&words("Lisbon is far"), false, true), "names");
        assert_eq!(tag(&words("Do you love pottery"), true, false), "asks_about");
    }
}
