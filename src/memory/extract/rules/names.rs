//! Names in a text: runs of capitalised words, quoted titles, and names that the graph knows.
//!
//! Marks and capitals decide, and the words of the whole episode: a word that also stands in
//! lower case is no name. Nothing here knows what kind of thing bears a name.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::lexicon;
use super::sentences::{gap, is_joined};
use super::verbs;
use crate::memory::extract::KnownEntities;
use crate::retrieval::words::{Word, is_stop_word};

/// Words of a name, at most.
const NAME_WORDS_MAX: usize = 6;

/// Bytes of a name cut short, at least.
const NICKNAME_BYTES_MIN: usize = 3;

/// A name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// As it is written.
    pub(super) text: String,
    /// Its words, by place.
    pub(super) words: Range<usize>,
}

/// How the words of an episode are written, and who speaks in it.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    /// Words within a sentence, by how often with a capital and how often without.
    inner: HashMap<String, (u32, u32)>,
    speakers: HashSet<String>,
}

impl Spelling {
    pub(super) fn speaks(&mut self, speaker: &str) {
        self.speakers.extend(speaker.split_whitespace().map(str::to_lowercase));
        self.speakers.insert(speaker.to_lowercase());
    }

    /// Counts the words of a turn.
    pub(super) fn read(&mut self, text: &str, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let is_first = word.is_first || at.checked_sub(1).is_none();
            let is_quoted = text[..word.range.start].ends_with(['"', '“', ':']);
            if is_first || is_quoted {
                continue;
            }
            let counts = self.inner.entry(word.lower.clone()).or_default();
            let count = if word.is_capital { &mut counts.0 } else { &mut counts.1 };
            *count = count.saturating_add(1);
        }
    }

    /// Whether a word calls one who speaks, also by the beginning of the name: `mel`.
    pub(super) fn is_speaker(&self, lower: &str) -> bool {
        let is_short = |name: &String| name.starts_with(lower) && lower.len() >= NICKNAME_BYTES_MIN;
        // "the" is no Theo.
        let (capital, small) = self.inner.get(lower).copied().unwrap_or_default();
        self.speakers.contains(lower)
            || capital >= small && !is_stop_word(lower) && self.speakers.iter().any(is_short)
    }

    /// Whether a word with a capital at the beginning of a sentence is one by itself.
    fn is_name(&self, lower: &str) -> bool {
        let (capital, small) = self.inner.get(lower).copied().unwrap_or_default();
        capital > small
    }
}

/// The names of a text, in order; none overlap.
pub(super) fn names(
    text: &str,
    words: &[Word],
    spelling: &Spelling,
    known: &dyn KnownEntities,
) -> Vec<Name> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let end = quoted(text, words, at).or_else(|| run(text, words, at, spelling, known));
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let range = words[at].range.start..words[end - 1].range.end;
        let name = text.get(range).unwrap_or_default();
        found.push(Name { text: name.to_owned(), words: at..end });
        at = end;
    }
    found
}

/// The end of a title in quotes that begins at a word: `"The Left Hand of Darkness"`.
fn quoted(text: &str, words: &[Word], at: usize) -> Option<usize> {
    let word = &words[at];
    let is_open = text[..word.range.start].ends_with(['"', '“']);
    if !is_open || !word.is_capital {
        return None;
    }
    let close = word.range.start + text[word.range.start..].find(['"', '”'])?;
    let inside = words[at..].iter().take_while(|word| word.range.end <= close).count();
    let has_verb =
        words[at..at + inside].iter().any(|word| matches!(word.lower.as_str(), "i" | "you"));
    ((1..=NAME_WORDS_MAX + 2).contains(&inside) && !has_verb).then_some(at + inside)
}

/// The end of a run of capitalised words that begins at a word.
fn run(
    text: &str,
    words: &[Word],
    at: usize,
    spelling: &Spelling,
    known: &dyn KnownEntities,
) -> Option<usize> {
    if !words[at].is_capital || !can_be_named(text, &words[at]) {
        return None;
    }
    let mut end = at + 1;
    while end < words.len() && end - at < NAME_WORDS_MAX {
        let joined = |at: usize| is_joined(text, &words[at - 1], &words[at]);
        let is_part = |at: usize| words[at].is_capital && can_be_named(text, &words[at]);
        if !joined(end) || has_possessive(text, &words[end - 1], &words[end]) {
            break;
        }
        let link = (end..(end + 2).min(words.len() - 1))
            .take_while(|at| joined(*at) && is_link(&words[*at].lower))
            .count();
        let next = end + link;
        if next >= words.len() || !joined(next) || !is_part(next) {
            break;
        }
        // Two speakers side by side are two names.
        if spelling.is_speaker(&words[at].lower) && !spelling.is_speaker(&words[next].lower) {
            break;
        }
        end = next + 1;
    }
    let is_start = words[at].is_first || text[..words[at].range.start].ends_with(['"', '“', ':']);
    let lower = words[at].lower.as_str();
    if !is_start
        || spelling.is_speaker(lower)
        || spelling.is_name(lower)
        || is_acronym(text, &words[at])
    {
        return Some(end);
    }
    let whole = text.get(words[at].range.start..words[end - 1].range.end)?;
    if known.find(whole).is_some() {
        return Some(end);
    }
    (end - at > 1 && !is_ordinary(lower)).then_some(end)
}

/// Whether a sentence may begin with the word though no name does.
fn is_ordinary(lower: &str) -> bool {
    lexicon::is_empty(lower)
        || lexicon::is_interjection(lower)
        || lexicon::is_adjective(lower)
        || lexicon::is_time_noun(lower)
        || verbs::verb(lower).is_some()
}

/// Whether a word with a capital can be part of a name.
fn can_be_named(text: &str, word: &Word) -> bool {
    let lower = word.lower.as_str();
    let is_plain = lower.chars().count() > 1 && lower.chars().any(char::is_alphabetic);
    is_plain
        && !is_stop_word(lower)
        && (!lexicon::is_interjection(lower) || is_acronym(text, word))
        && !lexicon::is_time_noun(lower)
        && !lower.contains('\'')
        && !lexicon::is_filler(lower)
}

/// `NBA`, `LGBTQ`.
fn is_acronym(text: &str, word: &Word) -> bool {
    let written = text.get(word.range.clone()).unwrap_or_default();
    let is_upper = written.chars().all(|c| c.is_uppercase() || c.is_numeric());
    let lower = word.lower.as_str();
    is_upper
        && (2..=6).contains(&written.chars().count())
        && !lexicon::is_empty(lower)
        && !lexicon::is_adjective(lower)
        && verbs::verb(lower).is_none()
}

fn is_link(lower: &str) -> bool {
    matches!(lower, "of" | "the" | "de" | "van" | "von" | "la" | "del" | "di" | "da")
}

fn has_possessive(text: &str, before: &Word, after: &Word) -> bool {
    gap(text, before, after).starts_with(['\'', '’'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::extract::Entity;
    use crate::retrieval::words::words;

    struct Graph;

    impl KnownEntities for Graph {
        fn find(&self, name: &str) -> Option<Entity> {
            (name == "Rust").then(|| Entity { label: "Thing".into(), name: name.into() })
        }
    }

    fn found(text: &str) -> Vec<String> {
        let words = words(text);
        let mut spelling = Spelling::default();
        spelling.speaks("Nora");
        spelling.read(text, &words);
        names(text, &words, &spelling, &Graph).into_iter().map(|name| name.text).collect()
    }

    #[test]
    fn names_are_found() {
        for (text, expected) in [
            ("We went to New York with Tom.", vec!["New York", "Tom"]),
            ("Pottery is fun. Lisbon too, I love Lisbon!", vec!["Lisbon", "Lisbon"]),
            ("She works at the University of Porto now", vec!["University of Porto"]),
            ("I read \"The Left Hand of Darkness\" in May", vec!["The Left Hand of Darkness"]),
            ("Nora's NBA tickets", vec!["Nora", "NBA"]),
            ("Rust is great. Great stuff. Yes I can", vec!["Rust"]),
            ("Nora, I'm in. OK LOL", vec!["Nora"]),
            ("I met Ann's Bob", vec!["Ann", "Bob"]),
            ("", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
