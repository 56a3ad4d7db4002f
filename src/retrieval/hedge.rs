//! Words by which somebody says "I am not sure", in questions and in what is told.
//!
//! English only. It never judges whether something is true.

use std::ops::Range;

use super::words::{Word, begins_with, words};

/// A hedge in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hedge {
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// How much certainty it takes away, in (0, 1): 0.2 for `probably`, 0.6 for `no idea`.
    pub(crate) doubt: f64,
}

/// Whether a question asks for guesses too: then facts below the threshold of confidence are
/// looked at (REAL, section III-B2). It does if it holds a hedge, or asks for a guess ("do you
/// think", "is it possible").
pub(crate) fn hedging(question: &str) -> bool {
    let words = words(question);
    let asks_for_guess =
        (0..words.len()).any(|at| GUESSES.iter().any(|phrase| begins_with(&words[at..], phrase)));
    asks_for_guess || !hedges(question).is_empty()
}

/// The hedges of a text, in order; none overlap. `May 2023`, `in may`, `with all her might`,
/// `no doubt`, `guess what` and the like are none.
pub(crate) fn hedges(text: &str) -> Vec<Hedge> {
    let words = words(text);
    let mut hedges = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((length, doubt)) = hedge_at(&words, at, text) else {
            at += 1;
            continue;
        };
        if doubt > 0.0 {
            let range = words[at].range.start..words[at + length - 1].range.end;
            hedges.push(Hedge { range, doubt });
        }
        at += length;
    }
    hedges
}

/// The hedge, or false friend of one, that begins at a word: how many words and how much doubt.
fn hedge_at(words: &[Word], at: usize, text: &str) -> Option<(usize, f64)> {
    let rest = &words[at..];
    let longest = PHRASES
        .iter()
        .filter(|(phrase, _)| begins_with(rest, phrase))
        .map(|(phrase, doubt)| (phrase.split(' ').count(), *doubt))
        .max_by_key(|(length, _)| *length);
    longest.or_else(|| unsure(rest)).or_else(|| modal(words, at, text))
}

/// `not sure`, `isn't so certain`: a negation, and `sure` or `certain` at most three words on.
fn unsure(words: &[Word]) -> Option<(usize, f64)> {
    let [first, rest @ ..] = words else { return None };
    if first.lower != "not" && !first.lower.ends_with("n't") {
        return None;
    }
    let is_sure = |word: &Word| matches!(word.lower.as_str(), "sure" | "certain" | "positive");
    let at = rest.iter().take(3).take_while(|word| !word.is_first).position(is_sure)?;
    Some((at + 2, 0.5))
}

/// `may` and `might` as verbs. The month, the noun and the polite question are none.
fn modal(words: &[Word], at: usize, text: &str) -> Option<(usize, f64)> {
    let word = &words[at];
    let before = at.checked_sub(1).map_or("", |at| words[at].lower.as_str());
    let after = words.get(at + 1);
    match word.lower.as_str() {
        "might" => {
            let is_noun = NOUN_BEFORE.contains(&before) && !word.is_first;
            (!is_noun).then_some((1, 0.5))
        }
        "may" => {
            let after = after.filter(|after| !after.is_first)?;
            let between = text.get(word.range.end..after.range.start)?;
            let is_month = word.is_capital
                || MONTH_BEFORE.contains(&before)
                || after.lower.starts_with(|c: char| c.is_ascii_digit())
                || !between.chars().all(char::is_whitespace);
            let is_polite = word.is_first && matches!(after.lower.as_str(), "i" | "we");
            (!is_month && !is_polite).then_some((1, 0.5))
        }
        _ => None,
    }
}

/// Before a noun, `might` is strength.
const NOUN_BEFORE: &[&str] = &[
    "the", "his", "her", "its", "their", "my", "your", "our", "all", "with", "of", "military",
    "and",
];

/// Behind these, `may` is a month.
const MONTH_BEFORE: &[&str] = &[
    "in", "last", "next", "of", "by", "since", "until", "till", "before", "after", "during",
    "early", "mid", "late", "from", "to", "every", "on",
];

/// What asks for a guess in a question.
const GUESSES: &[&str] = &[
    "would likely",
    "likely to",
    "could it be",
    "do you think",
    "do you guess",
    "can you guess",
    "would you say",
    "your guess",
    "is it possible",
];

/// Hedges with the doubt that they show; what takes none away is a false friend.
const PHRASES: &[(&str, f64)] = &[
    ("maybe", 0.5),
    ("perhaps", 0.5),
    ("possibly", 0.5),
    ("probably", 0.2),
    ("most likely", 0.2),
    ("likely", 0.2),
    ("unlikely", 0.5),
    ("presumably", 0.3),
    ("supposedly", 0.5),
    ("allegedly", 0.5),
    ("apparently", 0.3),
    ("seemingly", 0.3),
    ("seems", 0.3),
    ("seemed", 0.3),
    ("appears to", 0.3),
    ("could be", 0.5),
    ("could have been", 0.5),
    ("i think", 0.3),
    ("i don't think", 0.5),
    ("i thought", 0.5),
    ("i guess", 0.5),
    ("i'd guess", 0.5),
    ("guess", 0.5),
    ("guessing", 0.5),
    ("guess what", 0.0),
    ("guess who", 0.0),
    ("i suppose", 0.5),
    ("i believe", 0.3),
    ("i believe in", 0.0),
    ("i assume", 0.5),
    ("i suspect", 0.5),
    ("i imagine", 0.5),
    ("i reckon", 0.3),
    ("i wonder", 0.5),
    ("wondering if", 0.5),
    ("wondering whether", 0.5),
    ("unsure", 0.5),
    ("uncertain", 0.5),
    ("no idea", 0.6),
    ("don't know", 0.6),
    ("don't remember", 0.5),
    ("can't remember", 0.5),
    ("don't recall", 0.5),
    ("can't recall", 0.5),
    ("if i remember", 0.3),
    ("if i recall", 0.3),
    ("as far as i know", 0.3),
    ("afaik", 0.3),
    ("rumor has it", 0.5),
    ("rumour has it", 0.5),
    ("i heard that", 0.3),
    ("i doubt", 0.6),
    ("not sure", 0.5),
    ("might as well", 0.0),
    ("may as well", 0.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<&str> {
        hedges(text).into_iter().map(|hedge| &text[hedge.range]).collect()
    }

    #[test]
    fn hedges_are_found_where_they_stand() {
        for (text, expected) in [
            ("Maybe she moved to Lisbon.", vec!["Maybe"]),
            ("I think it’s Tom, I’m not really sure.", vec!["I think", "not really sure"]),
            ("She might come, she may not.", vec!["might", "may"]),
            ("this may help", vec!["may"]),
            ("It isn't certain. I don’t know", vec!["isn't certain", "don’t know"]),
            ("Probably, or most likely, in May 2023", vec!["Probably", "most likely"]),
            ("I don't think so", vec!["I don't think"]),
            ("Do not go. Sure?", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn false_friends_are_none() {
        for text in [
            "She moved in May 2023.",
            "She moved in may.",
            "in early may, before the race",
            "we met in may 2023 and may 3",
            "May is warm",
            "It was May, you know",
            "May I ask?",
            "He pushed with all his might.",
            "the might of Rome",
            "No doubt she is.",
            "Guess what happened!",
            "We might as well go",
            "What kind of music is it?",
            "I believe in God",
            "She was supposed to come",
            "the wonderful Perhapsburg",
            "may",
            "",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn questions_that_ask_for_guesses() {
        for question in [
            "Where might Nora live?",
            "Can you guess what she likes?",
            "Do you think Nora likes tea?",
            "Would Nora likely move again?",
            "Maybe it was Tom?",
        ] {
            assert!(hedging(question), "{question}");
        }
        for question in [
            "Where did Nora live in May 2023?",
            "What does Nora think of tea?",
            "May I know her age?",
        ] {
            assert!(!hedging(question), "{question}");
        }
    }

    proptest! {
        #[test]
        fn hedges_lie_in_the_text_in_order(
            text in "(maybe|may|might|not|so|sure|I think|in|2023|[.’,é]| ){0,20}",
        ) {
            let hedges = hedges(&text);
            prop_assert!(hedges.iter().all(|hedge| text.get(hedge.range.clone()).is_some()));
            prop_assert!(hedges.is_sorted_by(|a, b| a.range.end <= b.range.start));
            prop_assert!(hedges.iter().all(|hedge| hedge.doubt > 0.0 && hedge.doubt < 1.0));
        }
    }
}
