//! A text as sentences, and a sentence as words, of which some are negated.
//!
//! English only; words of other languages all count as content.

use std::collections::BTreeSet;

/// Bytes of a text that are looked at.
const TEXT_BYTES_MAX: usize = 4 << 10;
/// Sentences of a text that are looked at.
const SENTENCES_MAX: usize = 32;

/// A sentence, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sentence {
    /// All its words, in lower case and with straight apostrophes, in order.
    pub(super) words: Vec<String>,
    /// The stems of the words that say something.
    pub(super) content: BTreeSet<String>,
    /// Those of them that are the first after a negation.
    pub(super) negated: BTreeSet<String>,
}

impl Sentence {
    pub(super) fn of(text: &str) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
        let words = text.split(|c: char| !is_part(c)).map(|word| word.replace('’', "'"));
        let words = words.map(|word| word.trim_matches('\'').to_lowercase());
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        let (content, negated) = (content(&words), negated(&words));
        Self { words, content, negated }
    }
}

/// The stems of those words that say something.
pub(super) fn content(words: &[String]) -> BTreeSet<String> {
    words.iter().filter(|word| says_something(word)).map(|word| stem(word)).collect()
}

/// The stem of the first word that says something after each negation.
fn negated(words: &[String]) -> BTreeSet<String> {
    let is_negation = |at: &usize| {
        let (word, next) = (words[*at].as_str(), words.get(at + 1).map_or("", String::as_str));
        let is_one = NEGATIONS.contains(&word) || word.ends_with("n't");
        is_one && !NO_NEGATIONS.contains(&(word, next))
    };
    let behind = |at: usize| words[at..].iter().find(|word| says_something(word));
    let places = (0..words.len()).filter(is_negation);
    places.filter_map(behind).map(|word| stem(word)).collect()
}

/// The sentences of the beginning of a text: 32 of them, in 4 KiB.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let parts = text.split(['.', '!', '?', ';', '\n']);
    let sentences = parts.map(Sentence::of).filter(|sentence| !sentence.words.is_empty());
    sentences.take(SENTENCES_MAX).collect()
}

fn says_something(word: &str) -> bool {
    let is_long = word.chars().count() > 2 || word.chars().any(char::is_numeric);
    is_long && !word.contains('\'') && STOP_WORDS.binary_search(&word).is_err()
}

/// A crude stem: `love`, `loves`, `loved` and `loving` are one word.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let cut = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 3);
    if let Some(rest) = cut("ies") {
        return format!("{rest}y");
    }
    let endings = ["ing", "ed", "es", "s"].into_iter().filter(|_| !word.ends_with("ss"));
    match endings.into_iter().find_map(cut) {
        Some(rest) => undoubled(rest).to_owned(),
        None => cut("e").unwrap_or(word).to_owned(),
    }
}

/// `stopp` is `stop`, but `sell` and `class` are what they are.
fn undoubled(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && !b"aelosz".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    }
}

const NEGATIONS: &[&str] =
    &["not", "no", "never", "cannot", "without", "neither", "nor", "nobody", "nothing", "hardly"];

/// What looks like a negation and is none.
const NO_NEGATIONS: &[(&str, &str)] = &[
    ("not", "only"),
    ("not", "just"),
    ("no", "doubt"),
    ("no", "wonder"),
    ("no", "problem"),
    ("no", "matter"),
    ("nothing", "but"),
];

/// Words that say nothing by themselves, in order; negations and cues of causes among them.
const STOP_WORDS: &[&str] = &[
    "about",
    "after",
    "all",
    "also",
    "and",
    "any",
    "are",
    "because",
    "been",
    "before",
    "being",
    "but",
    "can",
    "cannot",
    "caused",
    "could",
    "did",
    "does",
    "doing",
    "due",
    "during",
    "for",
    "from",
    "had",
    "hardly",
    "has",
    "have",
    "having",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "into",
    "its",
    "just",
    "led",
    "longer",
    "may",
    "might",
    "more",
    "most",
    "much",
    "must",
    "neither",
    "never",
    "nobody",
    "nor",
    "not",
    "nothing",
    "now",
    "off",
    "one",
    "only",
    "our",
    "out",
    "over",
    "own",
    "result",
    "resulted",
    "she",
    "should",
    "since",
    "some",
    "such",
    "than",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "this",
    "those",
    "too",
    "very",
    "was",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "without",
    "would",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn content_of(text: &str) -> Vec<String> {
        Sentence::of(text).content.into_iter().collect()
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn one_stem_for_the_forms_of_a_word() {
        for words in [
            &["love", "loves", "loved", "loving"][..],
            &["stop", "stops", "stopped", "stopping"],
            &["city", "cities"],
            &["class", "classes"],
            &["paint", "painted", "painting", "paints"],
        ] {
            let stems: BTreeSet<String> = words.iter().map(|word| stem(word)).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        assert_eq!(stem("agreed"), stem("agree"));
        assert_eq!(stem("são"), "são");
        assert_eq!(stem("ing"), "ing");
    }

    #[test]
    fn sentences_and_their_content() {
        let text = "Nora’s cat isn't here! She loves the 2 cats;\nand you? ";
        let sentences = sentences(text);
        assert_eq!(sentences.len(), 3);
        assert_eq!(sentences[0].words, ["nora's", "cat", "isn't", "here"]);
        assert_eq!(content_of("She loves the 2 cats"), ["2", "cat", "lov"]);
        assert_eq!(content_of("because it was not"), [""; 0]);
    }

    #[test]
    fn only_the_beginning_is_read() {
        assert_eq!(sentences(&"é. ".repeat(100)).len(), SENTENCES_MAX);
        assert_eq!(sentences(&"é".repeat(TEXT_BYTES_MAX))[0].words[0].len(), TEXT_BYTES_MAX);
    }
}
