//! Keyphrases: phrases of nouns, and which of them an episode turns on.
//!
//! Candidates are runs of words between stop words and marks, as in RAKE (Rose et al., "Automatic
//! keyword extraction from individual documents", 2010). A word's score is its degree over its
//! frequency, as there, damped by its spread over the turns, as in YAKE (Campos et al., 2020).
//! Nothing here knows of names.

use std::collections::HashMap;
use std::ops::Range;

use super::lexicon;
use super::sentences::{gap, is_joined};
use super::verbs;
use crate::retrieval::words::{Word, is_stop_word};

/// Words of a phrase, at most.
pub(super) const PHRASE_WORDS_MAX: usize = 3;

/// The letters of a word, at most: what is longer is no word.
const WORD_CHARS_MAX: usize = 24;

/// A phrase in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    /// In lower case, the last word in the singular.
    pub(super) key: String,
    /// Its words, by place.
    pub(super) words: Range<usize>,
}

/// The phrases of a text, in order. The words of `taken` belong to names already.
pub(super) fn phrases(text: &str, words: &[Word], taken: &[Range<usize>]) -> Vec<Phrase> {
    let is_taken = |at: usize| taken.iter().any(|range| range.contains(&at));
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let start = at;
        while at < words.len()
            && !is_taken(at)
            && is_content(text, words, at)
            && (at == start || is_followed(text, words, at))
        {
            at += 1;
        }
        if let Some(phrase) = phrase(text, words, start..at) {
            found.push(phrase);
        }
        at = at.max(start + 1);
    }
    found
}

/// The phrase of a run of words: without adjectives after and bland words around it, and of more
/// than three words the last three.
fn phrase(text: &str, words: &[Word], run: Range<usize>) -> Option<Phrase> {
    let mut run = run;
    while !run.is_empty() && !can_end(&words[run.end - 1].lower) {
        run.end -= 1;
    }
    run.start = run.start.max(run.end.saturating_sub(PHRASE_WORDS_MAX));
    while !run.is_empty() && !can_begin(&words[run.start].lower) {
        run.start += 1;
    }
    let (last, first) = (run.clone().next_back()?, run.start);
    let mut key = String::new();
    for at in run.clone() {
        if at > first {
            key.push_str(gap(text, &words[at - 1], &words[at]));
        }
        let word = &words[at].lower;
        if at == last { key.push_str(&singular(word)) } else { key.push_str(word) }
    }
    Some(Phrase { key, words: run })
}

/// Whether a word goes on with the phrase of the word before it; an `-ing` form begins another.
fn is_followed(text: &str, words: &[Word], at: usize) -> bool {
    let is_doing = verbs::verb(&words[at].lower).is_some_and(|verb| verb.forms.gerund);
    let between = gap(text, &words[at - 1], &words[at]);
    is_joined(text, &words[at - 1], &words[at]) && (!is_doing || between == "-")
}

/// Whether a word can be part of a phrase where it stands.
fn is_content(text: &str, words: &[Word], at: usize) -> bool {
    let lower = words[at].lower.as_str();
    let length = lower.chars().count();
    let hyphen =
        |at: usize| words.get(at + 1).is_some_and(|next| gap(text, &words[at], next) == "-");
    let is_compound = hyphen(at) || at.checked_sub(1).is_some_and(hyphen);
    if !(2..=WORD_CHARS_MAX).contains(&length)
        || !lower.chars().any(char::is_alphabetic)
        || lower.contains('\'')
        || lexicon::is_empty(lower)
    {
        return false;
    }
    let Some(verb) = verbs::verb(lower).filter(|_| !is_compound) else {
        return is_compound || !verbs::is_past(lower) || lexicon::is_adjective(lower);
    };
    let before = at.checked_sub(1).filter(|at| is_joined(text, &words[*at], &words[*at + 1]));
    let before = before.map_or("", |at| words[at].lower.as_str());
    match verb.forms {
        forms if forms.gerund => !verbs::is_bland(verb.base),
        forms if forms.base || forms.third => {
            let is_firm = lexicon::is_determiner(before) || lexicon::is_adjective(before);
            !is_never_noun(verb.base)
                && match verbs::is_bland(verb.base) || !forms.base {
                    true => is_firm || leads_to_noun(before) && !verbs::is_bland(verb.base),
                    false => is_noun_after(before),
                }
        }
        _ => false,
    }
}

/// Whether a word that can be a noun or a verb is a noun after this one.
fn is_noun_after(before: &str) -> bool {
    lexicon::is_determiner(before)
        || lexicon::is_adjective(before)
        || leads_to_noun(before)
        || before.ends_with("ing")
        || (!before.is_empty()
            && !is_stop_word(before)
            && !lexicon::is_pronoun(before)
            && !lexicon::is_adverb(before)
            && verbs::verb(before).is_none_or(|verb| verb.forms.base)
            && !before.ends_with('s'))
}

/// Whether a verb is hardly ever a noun.
pub(super) fn is_never_noun(base: &str) -> bool {
    matches!(
        base,
        "like"
            | "make"
            | "keep"
            | "look"
            | "see"
            | "come"
            | "bring"
            | "give"
            | "get"
            | "mean"
            | "go"
            | "do"
            | "be"
            | "have"
            | "take"
            | "know"
            | "think"
            | "say"
            | "tell"
            | "find"
            | "put"
            | "let"
            | "become"
            | "include"
            | "remind"
            | "seem"
            | "happen"
            | "sound"
            | "allow"
            | "enjoy"
            | "appreciate"
            | "agree"
            | "imagine"
            | "choose"
            | "decide"
            | "try"
            | "want"
            | "need"
            | "ask"
            | "have to"
            | "read"
            | "continue"
            | "believe"
            | "motivate"
            | "inspire"
            | "encourage"
            | "create"
            | "feel"
            | "hear"
            | "vary"
    )
}

/// Prepositions behind which a phrase of nouns mostly stands.
fn leads_to_noun(word: &str) -> bool {
    matches!(word, "of" | "for" | "with" | "about" | "in" | "at" | "from" | "by" | "into" | "on")
}

fn can_end(word: &str) -> bool {
    !lexicon::is_adjective(word) && !lexicon::is_bland_noun(word) && !lexicon::is_determiner(word)
}

fn can_begin(word: &str) -> bool {
    let is_vague = matches!(
        word,
        "new"
            | "old"
            | "big"
            | "little"
            | "small"
            | "whole"
            | "last"
            | "next"
            | "few"
            | "same"
            | "able"
            | "sure"
            | "own"
            | "more"
            | "different"
            | "special"
            | "important"
            | "huge"
    );
    !is_vague
        && !lexicon::is_praise(word)
        && !lexicon::is_bland_noun(word)
        && !lexicon::is_determiner(word)
}

/// A noun in the singular: `classes` is `class`, `cities` is `city`, `glass` is itself.
pub(super) fn singular(word: &str) -> String {
    let cut = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 2);
    let plain = !word.is_ascii()
        || ["ss", "us", "is", "news", "series", "species", "gps"].iter().any(|e| word.ends_with(e));
    if plain {
        return word.to_owned();
    }
    if let Some((_, one)) = PLURALS.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    if let Some(rest) = cut("ies").filter(|rest| rest.len() >= 3) {
        return format!("{rest}y");
    }
    if ["ches", "shes", "sses", "xes"].iter().any(|ending| word.ends_with(ending)) {
        return cut("es").unwrap_or(word).to_owned();
    }
    cut("s").unwrap_or(word).to_owned()
}

const PLURALS: &[(&str, &str)] = &[
    ("children", "child"),
    ("women", "woman"),
    ("men", "man"),
    ("mice", "mouse"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("lives", "life"),
    ("wives", "wife"),
    ("knives", "knife"),
    ("leaves", "leaf"),
    ("movies", "movie"),
    ("cookies", "cookie"),
    ("heroes", "hero"),
    ("potatoes", "potato"),
    ("tomatoes", "tomato"),
    ("clothes", "clothes"),
    ("shoes", "shoe"),
    ("politics", "politics"),
    ("physics", "physics"),
    ("mathematics", "mathematics"),
];

/// How much each phrase says in an episode.
pub(super) struct Scores {
    words: HashMap<String, WordCount>,
}

#[derive(Default)]
struct WordCount {
    frequency: f64,
    /// Words that it stands with in phrases, itself among them, over all its places.
    degree: f64,
    turns: f64,
    last_turn: Option<usize>,
}

impl Scores {
    /// Counts the words of the phrases, each with the place of its turn, in order.
    pub(super) fn count<'p>(phrases: impl Iterator<Item = (usize, &'p str)>) -> Self {
        let mut words: HashMap<String, WordCount> = HashMap::new();
        for (turn, key) in phrases {
            let length = key.split([' ', '-']).count() as f64;
            for word in key.split([' ', '-']) {
                let count = words.entry(word.to_owned()).or_default();
                count.frequency += 1.0;
                count.degree += length;
                if count.last_turn != Some(turn) {
                    count.turns += 1.0;
                    count.last_turn = Some(turn);
                }
            }
        }
        Self { words }
    }

    /// The score of a phrase: of each word its degree over its frequency, times one more than the
    /// logarithm of its turns.
    pub(super) fn of(&self, key: &str) -> f64 {
        let counts = key.split([' ', '-']).filter_map(|word| self.words.get(word));
        counts.map(|count| count.degree / count.frequency * (1.0 + count.turns.ln())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::words::words;

    fn keys(text: &str) -> Vec<String> {
        phrases(text, &words(text), &[]).into_iter().map(|phrase| phrase.key).collect()
    }

    #[test]
    fn phrases_are_of_nouns() {
        for (text, expected) in [
            ("I signed up for a pottery class yesterday", vec!["pottery class"]),
            ("Wow, thanks, that is really great!", vec![]),
            ("We love hiking and the local support groups", vec!["hiking", "local support group"]),
            ("She quickly painted two blue bowls", vec!["blue bowl"]),
            ("my work, going on, in the city", vec!["work", "city"]),
            ("a new self-care routine", vec!["self-care routine"]),
            ("I work hard to work", vec![]),
            ("Ich liebe Katzen sehr", vec!["liebe katzen sehr"]),
            ("東京に行く", vec!["東京に行く"]),
            ("", vec![]),
        ] {
            assert_eq!(
                keys(text).iter().map(String::as_str).take(2).collect::<Vec<_>>(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn singulars() {
        for (many, one) in [
            ("classes", "class"),
            ("cities", "city"),
            ("glass", "glass"),
            ("children", "child"),
            ("dishes", "dish"),
            ("bowls", "bowl"),
            ("houses", "house"),
            ("bus", "bus"),
        ] {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn what_is_said_in_more_turns_counts_more() {
        let said = [(0, "dance studio"), (1, "dance studio"), (1, "rain")];
        let scores = Scores::count(said.into_iter());
        assert!(scores.of("dance studio") > scores.of("rain"));
        assert!(scores.of("dance") > scores.of("rain"));
        assert_eq!(scores.of("unknown"), 0.0);
    }
}
