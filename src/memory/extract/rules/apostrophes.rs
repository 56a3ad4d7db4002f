//! Apostrophes where a chat leaves them out: `ive been` is `I've been`, `dont` is `don't`.
//!
//! Only words that are nothing else without one; `ill`, `were` and `its` stay as they are.

use std::borrow::Cow;

use super::edits::Edits;
use super::lexicon;
use super::sentences::gap;
use super::shorthand;
use crate::memory::extract::SourceTurn;
use crate::retrieval::words::{Word, is_stop_word, words};

/// The turn with its apostrophes, and its short forms written out.
pub(super) fn restored(turn: &SourceTurn) -> Cow<'_, SourceTurn> {
    let written = shorthand::written_out(&turn.text, turn.at);
    let text = match with_apostrophes(&written) {
        Cow::Owned(text) => text,
        Cow::Borrowed(_) => match written {
            Cow::Owned(text) => text,
            Cow::Borrowed(_) => return Cow::Borrowed(turn),
        },
    };
    let SourceTurn { key, speaker, at, .. } = turn;
    Cow::Owned(SourceTurn { key: key.clone(), speaker: speaker.clone(), at: *at, text })
}

fn with_apostrophes(text: &str) -> Cow<'_, str> {
    let words = words(text);
    let mut edits = Edits::default();
    let mut is_changed = false;
    for (at, word) in words.iter().enumerate() {
        let Some((_, whole)) = WHOLE.iter().find(|(bare, _)| *bare == word.lower) else { continue };
        let next = words.get(at + 1);
        // "Jony Ive" and "Im Yoon-ah" are names.
        let is_name = word.is_capital
            && (next.is_none_or(|next| next.is_capital || gap(text, word, next) != " ")
                || at.checked_sub(1).is_some_and(|before| ends_name(text, &words[before], word)));
        if !is_name {
            edits.replace(word.range.clone(), spelled(whole, word));
            is_changed = true;
        }
    }
    if is_changed { Cow::Owned(edits.apply(text)) } else { Cow::Borrowed(text) }
}

/// Whether a word before another one is a name that may go on with it: "Jony", and not "And".
fn ends_name(text: &str, before: &Word, word: &Word) -> bool {
    let is_light = is_stop_word(&before.lower)
        || lexicon::is_adverb(&before.lower)
        || lexicon::is_interjection(&before.lower);
    before.is_capital && !is_light && gap(text, before, word) == " "
}

/// The whole word as the bare one begins; `I` is always written so.
fn spelled(whole: &str, word: &Word) -> String {
    let mut letters = whole.chars();
    match letters.next() {
        Some(first) if word.is_capital || whole.starts_with("i'") => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => whole.to_owned(),
    }
}

/// Words without their apostrophe, and with it.
const WHOLE: &[(&str, &str)] = &[
    ("im", "i'm"),
    ("ive", "i've"),
    ("youre", "you're"),
    ("youve", "you've"),
    ("weve", "we've"),
    ("theyre", "they're"),
    ("theyve", "they've"),
    ("thats", "that's"),
    ("hes", "he's"),
    ("shes", "she's"),
    ("dont", "don't"),
    ("doesnt", "doesn't"),
    ("didnt", "didn't"),
    ("isnt", "isn't"),
    ("arent", "aren't"),
    ("wasnt", "wasn't"),
    ("werent", "weren't"),
    ("havent", "haven't"),
    ("hasnt", "hasn't"),
    ("hadnt", "hadn't"),
    ("cant", "can't"),
    ("couldnt", "couldn't"),
    ("wont", "won't"),
    ("wouldnt", "wouldn't"),
    ("shouldnt", "shouldn't"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apostrophes_that_are_left_out() {
        for (text, expected) in [
            ("ive been in Oslo, dont ask", "I've been in Oslo, don't ask"),
            ("Im tired. Didnt sleep", "I'm tired. Didn't sleep"),
            ("he said hes leaving", "he said he's leaving"),
            ("Yes, Im vegan. And Ive lived", "Yes, I'm vegan. And I've lived"),
            ("So Im here", "So I'm here"),
            // What is a word or a name by itself, and what has one.
            ("I met Jony Ive and Im Yoon-ah", "I met Jony Ive and Im Yoon-ah"),
            ("its ill, we were well", "its ill, we were well"),
            ("I've been. Don’t", "I've been. Don’t"),
            ("Ive, the designer", "Ive, the designer"),
        ] {
            assert_eq!(with_apostrophes(text), expected);
        }
    }
}
