//! What takes back the sentence before it: "just kidding", "Sorry, I meant Rome."

use crate::memory::extract::rules::{lexicon, verbs};
use crate::retrieval::words::{Word, begins_with, is_stop_word, words};

/// Whether a turn takes back what it says: "just kidding", "April fools!", "In the Sims, I mean."
pub(in crate::memory::extract::rules) fn is_joke(said: &[Word]) -> bool {
    let is_word = |word: &Word| matches!(word.lower.as_str(), "kidding" | "joking" | "jk");
    let is_end = |at: usize| said.get(at).is_none_or(|next| next.is_first);
    let is_date =
        |at: usize| said[at].is_first && begins_with(&said[at..], "april fools") && is_end(at + 2);
    said.iter().any(is_word) || (0..said.len()).any(|at| is_date(at) || is_of_game(&said[at..]))
}

/// Whether words are a sentence that says of which game the one before it is: "In the Sims, I mean", "From fantasy
/// football, that is".
fn is_of_game(said: &[Word]) -> bool {
    const GAMES: [&str; 6] = ["fantasy", "fortnite", "game", "minecraft", "monopoly", "sims"];
    let is_lead =
        |word: &Word| word.is_first && matches!(word.lower.as_str(), "in" | "from" | "at");
    let Some((_, rest)) = said.split_first().filter(|(first, _)| is_lead(first)) else {
        return false;
    };
    let rest = &rest[..rest.iter().position(|word| word.is_first).unwrap_or(rest.len())];
    let ends = |end: &str| rest.len() > 2 && begins_with(&rest[rest.len() - 2..], end);
    rest.iter().any(|word| GAMES.contains(&word.lower.as_str()))
        && (ends("i mean") || ends("that is"))
}

/// Whether a sentence puts another value in place of what the one before it says: "Sorry, I meant Rome."
pub(super) fn takes_back(sentence: &str, speakers: &[&str]) -> bool {
    let listed = words(sentence);
    let whole: Vec<&str> = listed.iter().map(|word| word.lower.as_str()).collect();
    if DENIALS.contains(&whole.join(" ").as_str()) {
        return true;
    }
    if is_value_alone(sentence, &listed, speakers) {
        return true;
    }
    let cue = CORRECTIONS.iter().filter(|cue| begins_with(&listed, cue));
    let Some(length) = cue.map(|cue| cue.split(' ').count()).max() else { return false };
    let rest = &listed[length..];
    let is_value = |word: &Word| {
        let is_me = word.lower == "i" || word.lower.starts_with("i'");
        word.is_capital && !is_me || word.lower.starts_with(|c: char| c.is_ascii_digit())
    };
    rest.len() <= MEANT_WORDS_MAX && rest.iter().any(is_value)
}

/// Whether a sentence says itself that it puts something right, whatever stands before it: "no wait, Hamburg", and not
/// "wait, 5 minutes", "I mean, Tom is great".
pub(super) fn is_meant_anew(sentence: &str) -> bool {
    let listed = words(sentence);
    let says = |word: &Word| matches!(word.lower.as_str(), "correction" | "meant" | "typo");
    listed.iter().take(4).any(says)
        || ["no wait", "wait no", "scratch that"].iter().any(|cue| begins_with(&listed, cue))
}

/// Whether nothing but a value stands behind a word of hesitation: "Actually Milan", "wait, 26", "No, a Polo", and not
/// "No kids", "Sorry, Tom!"
fn is_value_alone(sentence: &str, listed: &[Word], speakers: &[&str]) -> bool {
    let cue = HESITATIONS.iter().filter(|cue| begins_with(listed, cue));
    let Some(length) = cue.map(|cue| cue.split(' ').count()).max() else { return false };
    let is_light = |word: &&Word| {
        matches!(
            word.lower.as_str(),
            "it" | "its" | "it's" | "that's" | "a" | "an" | "the" | "in" | "at" | "no"
        )
    };
    let light = listed[length..].iter().take_while(is_light).count();
    let rest = &listed[length + light..];
    let Some(first) = rest.first() else { return false };
    let before = &listed[length - 1].range;
    let is_parted = sentence[before.end..first.range.start].contains([',', '-', '…', '.']);
    let is_speaker =
        |word: &Word| speakers.iter().any(|speaker| speaker.eq_ignore_ascii_case(&word.lower));
    let is_soft = listed[0].lower == "well";
    let is_value = |word: &Word| {
        let lower = word.lower.as_str();
        let is_number = lower.starts_with(|c: char| c.is_ascii_digit());
        let is_shouted = sentence[word.range.clone()].chars().all(char::is_uppercase);
        let says_something = !lexicon::is_empty(lower)
            && !lexicon::is_feeling(lower)
            && !lexicon::is_praise(lower)
            && !lexicon::is_adverb(lower)
            && !lexicon::is_filler(lower)
            && !is_stop_word(lower)
            && lexicon::kin(lower).is_none()
            && verbs::verb(lower).is_none();
        let is_name = word.is_capital && !is_soft && !is_shouted;
        is_number || says_something && (is_name || is_parted && !word.is_capital)
    };
    rest.len() <= VALUE_WORDS_MAX && rest.iter().all(is_value) && !rest.iter().any(is_speaker)
}

/// What somebody begins with who has said something else than they meant.
const HESITATIONS: &[&str] =
    &["actually", "er", "haha no", "lol no", "make that", "no", "typo", "uh", "um", "wait", "well"];

/// Words of a value that stands alone, at most.
const VALUE_WORDS_MAX: usize = 2;

/// What a sentence begins with that takes the one before it back, word by word.
const CORRECTIONS: &[&str] = &[
    "sorry i mean",
    "sorry i meant",
    "i mean",
    "i meant",
    "correction",
    "scratch that",
    "wait no",
    "no wait",
    "oops",
];

/// Sentences that take the one before them back and say nothing else.
const DENIALS: &[&str] =
    &["as if", "ha no", "i wish", "lol no", "no lol", "not", "psych", "psyche"];

/// Words behind that, at most: a value, and no story.
const MEANT_WORDS_MAX: usize = 4;
