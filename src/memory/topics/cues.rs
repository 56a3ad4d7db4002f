//! Words that show a contradiction or a cause.
//!
//! English only. It never judges whether something is true.

use std::collections::BTreeSet;

use super::sentence::{Sentence, content};

/// Whether one sentence denies what the other says, and how many pairs of opposite words they hold.
///
/// It does if a word of both is negated in one of them only (`likes`, `does not like`), or if the
/// one has a word and the other its opposite, both negated or both not (`loves`, `hates`).
pub(super) fn is_opposed(a: &Sentence, b: &Sentence) -> (bool, usize) {
    let is_same = |x: &str, y: &str| a.negated.contains(x) == b.negated.contains(y);
    let is_denied = a.content.intersection(&b.content).any(|word| !is_same(word, word));
    let pairs = OPPOSITES.iter().flat_map(|(x, y)| [(*x, *y), (*y, *x)]);
    let pairs: Vec<(&str, &str)> = pairs.filter(|(x, y)| holds(a, b, x, y)).collect();
    (is_denied || pairs.iter().any(|(x, y)| is_same(x, y)), pairs.len())
}

/// Whether the one has a word and the other its opposite, and neither has both.
fn holds(a: &Sentence, b: &Sentence, x: &str, y: &str) -> bool {
    let has = |sentence: &Sentence, word: &str| sentence.content.contains(word);
    has(a, x) && has(b, y) && !has(a, y) && !has(b, x)
}

/// The content words of each cause that sentences name, with two or more of them: after
/// `because`, before `led to`, and the sentence before one that begins with `so`.
pub(super) fn cause_parts(sentences: &[Sentence]) -> Vec<BTreeSet<String>> {
    let mut causes = Vec::new();
    for (place, sentence) in sentences.iter().enumerate() {
        let words = &sentence.words;
        for at in 0..words.len() {
            let begins = |cue: &&&str| begins_with(&words[at..], cue);
            if let Some(cue) = BEHIND.iter().find(begins) {
                causes.push(content(&words[at + cue.split(' ').count()..]));
            } else if BEFORE.iter().any(|cue| begins(&cue)) {
                let told = sentences[..place].last().filter(|_| at == 0);
                causes
                    .push(told.map_or_else(|| content(&words[..at]), |told| told.content.clone()));
            }
        }
    }
    causes.retain(|cause| cause.len() >= 2);
    causes
}

fn begins_with(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|part| words.next().is_some_and(|word| word == part))
}

/// What stands before a cause.
const BEHIND: &[&str] =
    &["because of", "because", "due to", "thanks to", "as a result of", "inspired by"];

/// What stands after a cause.
const BEFORE: &[&str] = &[
    "and so",
    "so he",
    "so i",
    "so it",
    "so now",
    "so she",
    "so the",
    "so they",
    "so we",
    "therefore",
    "led to",
    "resulted in",
    "caused",
    "that's why",
    "that is why",
    "which is why",
    "as a result",
];

/// Words and their opposites, as stems.
const OPPOSITES: &[(&str, &str)] = &[
    ("lov", "hat"),
    ("lik", "dislik"),
    ("lik", "hat"),
    ("enjoy", "hat"),
    ("enjoy", "dislik"),
    ("start", "stop"),
    ("start", "quit"),
    ("began", "stop"),
    ("join", "left"),
    ("join", "leav"),
    ("join", "quit"),
    ("buy", "sell"),
    ("bought", "sold"),
    ("win", "los"),
    ("won", "lost"),
    ("found", "lost"),
    ("accept", "reject"),
    ("accept", "declin"),
    ("accept", "refus"),
    ("pass", "fail"),
    ("succeed", "fail"),
    ("marri", "divorc"),
    ("marri", "singl"),
    ("aliv", "dead"),
    ("open", "clos"),
    ("increas", "decreas"),
    ("gain", "los"),
    ("happy", "sad"),
    ("happy", "upset"),
    ("calm", "stress"),
    ("agre", "disagre"),
    ("hir", "fir"),
    ("healthy", "sick"),
    ("better", "wors"),
    ("easy", "hard"),
    ("safe", "danger"),
    ("support", "oppos"),
    ("trust", "distrust"),
    ("remember", "forgot"),
    ("tru", "fals"),
];

#[cfg(test)]
mod tests {
    use super::super::sentence::{sentences, stem};
    use super::*;

    fn opposed(a: &str, b: &str) -> bool {
        is_opposed(&Sentence::of(a), &Sentence::of(b)).0
    }

    fn causes(text: &str) -> Vec<String> {
        let join = |cause: BTreeSet<String>| cause.into_iter().collect::<Vec<_>>().join(" ");
        cause_parts(&sentences(text)).into_iter().map(join).collect()
    }

    #[test]
    fn opposites_are_stems() {
        for word in OPPOSITES.iter().flat_map(|(a, b)| [a, b]) {
            let is_stem = stem(word) == *word || stem(&format!("{word}e")) == *word;
            assert!(is_stem || stem(&format!("{word}ed")) == *word, "{word}");
        }
    }

    #[test]
    fn negations_and_opposites() {
        assert!(opposed("Nora likes the tea", "Nora does not like the tea"));
        assert!(opposed("Nora loves tea", "Nora hates tea"));
        assert!(opposed("Nora isn’t at home", "Nora is home"));
        assert!(opposed("Nora no longer works at Forno", "Nora works at Forno"));
        assert!(opposed("She bought the house", "She sold the house"));
        assert!(!opposed("Nora hates tea", "Nora does not love tea"));
        assert!(!opposed("Nora never drinks tea", "Nora does not drink tea"));
        assert!(!opposed("Not only Nora likes tea", "Nora likes tea"));
        assert!(!opposed("Tom told her not to forget the tea", "Tom told her about the tea"));
        assert!(!opposed("She bought one and sold one", "She sold one"));
    }

    #[test]
    fn causes_before_and_behind_their_cues() {
        assert_eq!(causes("She moved because the flat was flooded"), ["flat flood"]);
        assert_eq!(causes("The flood in Lisbon led to a move"), ["flood lisbon"]);
        assert_eq!(causes("The flat was flooded. So she moved."), ["flat flood"]);
        assert_eq!(causes("The flat was flooded, so she moved"), ["flat flood"]);
        assert_eq!(causes("She ran a marathon in Porto and was so happy"), [""; 0]);
        assert_eq!(causes("She left due to stress"), [""; 0]);
        assert_eq!(causes("So she moved"), [""; 0]);
        assert_eq!(causes("because"), [""; 0]);
    }
}
