//! The tail of a fact: the phrase of nouns, or of something to do, at a place in a sentence.
//!
//! A phrase that is not plain, or says too little, is none: better no fact than a wrong one.

#[cfg(test)]
mod tests;
mod words;

use super::sentences::{gap, is_joined};
use super::{lexicon, phrases, rewrite, verbs};
use crate::memory::places;
use crate::retrieval::words::{Word, is_stop_word, possessive, words as as_words};

use words::{SLANG, STOPS, VAGUE};

/// Words of a tail, at most.
const TAIL_WORDS_MAX: usize = 5;
/// Words of something to do, at most.
const ACTIVITY_WORDS_MAX: usize = 7;

/// A tail in a text.
#[derive(Clone, Debug)]
pub(super) struct Tail<'t> {
    pub(super) text: &'t str,
    /// It begins with a capital, or stands in quotes.
    pub(super) is_name: bool,
    /// One word after `the` or `this`: it was spoken of before.
    pub(super) is_definite: bool,
    /// Its last word.
    pub(super) last: &'t Word,
    /// The place after it.
    pub(super) end: usize,
}

impl<'t> Tail<'t> {
    /// A tail of one word.
    pub(super) fn word(text: &'t str, word: &'t Word, at: usize) -> Self {
        Self { text, is_name: false, is_definite: false, last: word, end: at + 1 }
    }
}

/// The phrase of nouns that begins at a word, after articles, numbers, adverbs and the name of its
/// owner.
pub(super) fn noun<'t>(
    text: &'t str,
    words: &'t [Word],
    at: usize,
    owner: &str,
) -> Option<Tail<'t>> {
    let at = at + owned(text, words, at, owner);
    words.get(at)?;
    if let Some(title) = quoted(text, words, at) {
        return Some(title);
    }
    let start = at + leading(text, words, at);
    let first = words.get(start)?;
    let is_definite = words[at..start]
        .iter()
        .any(|word| matches!(word.lower.as_str(), "the" | "this" | "that" | "these" | "those"));
    let mut end = start;
    let owner = as_words(owner);
    let is_in = |end: usize| {
        is_part(text, words, start, end) && !(end > start && begins_clause(words, end, &owner))
    };
    while end < words.len() && end - start < TAIL_WORDS_MAX && is_in(end) {
        end += 1;
    }
    // A phrase that is longer than a tail can be is not one that was understood.
    if end < words.len() && end - start == TAIL_WORDS_MAX && is_in(end) {
        return None;
    }
    while end > start + 1 && !can_end(&words[end - 1]) {
        end -= 1;
    }
    if is_cut_short(text, words, at, end) {
        return None;
    }
    let last = words.get(end.checked_sub(1)?).filter(|_| end > start)?;
    let says_something = |word: &Word| word.is_capital || !lexicon::is_empty(&word.lower);
    let is_title = matches!(last.lower.as_str(), "st" | "dr" | "mt");
    let says = can_end(last) && !is_title && words[start..end].iter().any(says_something);
    let is_described = words[start..end - 1].iter().all(|word| lexicon::is_adjective(&word.lower));
    let is_vague =
        VAGUE.contains(&last.lower.as_str()) && is_described || lexicon::kin(&last.lower).is_some();
    let written = text.get(first.range.start..last.range.end + possessive(text, last.range.end))?;
    let is_name = words[start..end].iter().all(|word| word.is_capital || is_stop_word(&word.lower))
        && first.is_capital;
    // "building up" is more than its first word.
    let is_open = goes_on(text, words, start, end);
    let is_definite = is_definite && end == start + 1 && !is_name;
    let tail = Tail { text: written, is_name, is_definite, last, end };
    (says && (is_name || !is_vague && !is_open)).then_some(tail)
}

/// Whether a phrase from one place up to another is not all of it, or another's: "the charity
/// thing", "the service-focused group", "the fantasy game Zelda", "his art".
fn is_cut_short(text: &str, words: &[Word], from: usize, end: usize) -> bool {
    let is_of_another =
        words.get(from).is_some_and(|word| matches!(word.lower.as_str(), "his" | "her" | "its"));
    let (Some(last), Some(next)) =
        (end.checked_sub(1).and_then(|at| words.get(at)), words.get(end))
    else {
        return is_of_another;
    };
    let between = gap(text, last, next);
    let is_thing = matches!(next.lower.as_str(), "thing" | "things" | "stuff" | "one" | "ones");
    let is_other_name = next.is_capital
        && !last.is_capital
        && !is_stop_word(&next.lower)
        && !lexicon::is_time_noun(&next.lower);
    // "hands-free", "CS:GO".
    let is_compound = matches!(between, "-" | ":");
    is_of_another || is_compound || between == " " && (is_thing || is_other_name)
}

/// Whether a phrase that ends in an `-ing` form has its object after it.
fn goes_on(text: &str, words: &[Word], start: usize, end: usize) -> bool {
    let (Some(last), Some(next)) = (words.get(end - 1), words.get(end)) else { return false };
    let is_doing = verbs::verb(&last.lower).is_some_and(|verb| verb.forms.gerund)
        || last.lower.len() > 5 && last.lower.ends_with("ing") && end - start == 1;
    let is_light =
        rewrite::is_preposition(&next.lower) || matches!(next.lower.as_str(), "and" | "or" | "but");
    is_doing
        && is_joined(text, last, next)
        && (!is_light || end - start > 1 && next.lower == "on")
        && !STOPS.contains(&next.lower.as_str())
}

/// A title in quotes.
fn quoted<'t>(text: &'t str, words: &'t [Word], at: usize) -> Option<Tail<'t>> {
    let start = words[at].range.start;
    if !text[..start].ends_with(['"', '“']) {
        return None;
    }
    let close = start + text[start..].find(['"', '”'])?;
    let inside = words[at..].iter().take_while(|word| word.range.end <= close).count();
    let written = text.get(start..close)?.trim_end_matches([',', '.', '!']);
    let last = words.get(at + inside.checked_sub(1)?)?;
    let is_short = inside <= TAIL_WORDS_MAX + 4;
    is_short.then_some(Tail {
        text: written,
        is_name: true,
        is_definite: false,
        last,
        end: at + inside,
    })
}

/// The words of an owner in the possessive at a place.
fn owned(text: &str, words: &[Word], at: usize, owner: &str) -> usize {
    let parts = as_words(owner);
    let Some(here) = words.get(at..at + parts.len()) else { return 0 };
    let is_here = here.iter().zip(&parts).all(|(word, part)| word.lower == part.lower);
    let is_owner = here.last().is_some_and(|last| is_here && last.has_possessive(text));
    if is_owner { parts.len() } else { 0 }
}

/// Whether what is told of an owner begins at a word: "worked at Nokia Max cycled" was "worked at Nokia I cycled".
fn begins_clause(words: &[Word], at: usize, owner: &[Word]) -> bool {
    let here = words.get(at..at + owner.len()).filter(|here| !here.is_empty());
    let is_part = |(word, part): (&Word, &Word)| {
        word.lower == part.lower && (word.is_capital || !part.is_capital)
    };
    let is_owner = here.is_some_and(|here| here.iter().zip(owner).all(is_part));
    let behind = words.get(at + owner.len()..).unwrap_or_default().iter();
    let mut behind = behind.map(|word| word.lower.as_str()).skip_while(|w| lexicon::is_adverb(w));
    let (verb, next) = (behind.next().unwrap_or_default(), behind.next().unwrap_or_default());
    let is_finite = verbs::verb(verb).is_some_and(|verb| verb.forms.third || verb.forms.past)
        || verbs::is_past(verb)
        || rewrite::is_modal(verb)
        || matches!(verb, "is" | "was" | "has" | "had" | "does" | "did");
    // "Camp Hope founded by nuns", "Studio Nora based in Linz".
    is_owner && is_finite && next != "by" && verb != "based"
}

/// The words before a phrase of nouns that are not part of it.
fn leading(text: &str, words: &[Word], at: usize) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(at + count) {
        let lower = word.lower.as_str();
        let is_cut = count > 0 && !is_joined(text, &words[at + count - 1], word);
        let is_light = lexicon::is_determiner(lower)
            || lexicon::is_adverb(lower)
            || lexicon::is_praise(lower)
            || matches!(lower, "new" | "own" | "little" | "big" | "first" | "other" | "nearby");
        // "New York", but not "The Hague".
        let is_named = word.is_capital && !word.is_first && !lexicon::is_determiner(lower)
            || lower == "new" && is_new_place(words.get(at + count + 1));
        if is_cut || !is_light || word.is_capital && count > 0 || is_named {
            break;
        }
        count += 1;
    }
    count
}

/// Whether a word is what follows "new" in the name of a place, in any case: "new york".
fn is_new_place(next: Option<&Word>) -> bool {
    next.is_some_and(|next| places::with_capitals(&format!("new {}", next.lower)).is_some())
}

fn is_part(text: &str, words: &[Word], start: usize, at: usize) -> bool {
    let word = &words[at];
    let lower = word.lower.as_str();
    if at > start && !is_joined(text, &words[at - 1], word) {
        return false;
    }
    let next = words.get(at + 1).filter(|next| is_joined(text, word, next));
    // "Utrecht 2 weeks ago".
    let is_number = lower.starts_with(|c: char| c.is_ascii_digit());
    if at > start && is_number && next.is_some_and(|next| lexicon::is_time_noun(&next.lower)) {
        return false;
    }
    let before = at.checked_sub(1).filter(|_| at > start).map(|at| &words[at]);
    let is_linked = before.is_some_and(|before| matches!(before.lower.as_str(), "of" | "the"));
    if matches!(lower, "of" | "the") && before.is_some_and(|b| b.is_capital || b.lower == "of") {
        return next.is_some_and(|next| next.is_capital || next.lower == "the");
    }
    let is_slang = at > start && !word.is_capital && SLANG.contains(&lower);
    let is_stop = STOPS.contains(&lower) || lexicon::is_determiner(lower) || is_slang;
    let is_owner = word.has_possessive(text) && !is_name_in_s(text, words, (start, at));
    if is_owner || is_stop || lower.contains('\'') {
        return false;
    }
    if word.is_capital && !is_linked && before.is_some_and(|before| !before.is_capital) {
        return false;
    }
    if at > start && gap(text, &words[at - 1], word) == "-" {
        return true;
    }
    // Behind a noun an `-ing` form is one too if the phrase ends with it: `poetry reading`.
    let is_last = next.is_none_or(|next| rewrite::is_preposition(&next.lower));
    let is_verb = match verbs::verb(lower) {
        Some(verb) if at == start => !(verb.forms.gerund || verb.forms.base),
        Some(verb) => {
            let is_base = verb.forms.base && phrases::is_never_noun(verb.base);
            // "son Ben paints".
            let is_of_name = verb.forms.third && before.is_some_and(|before| before.is_capital);
            is_base || is_of_name || verb.forms.past || verb.forms.gerund && !is_last
        }
        None => verbs::is_past(lower) && at > start,
    };
    // "Best Buy", "Nice", but "Rome Now".
    let is_named = word.is_capital && (at == start || next.is_some_and(|next| next.is_capital));
    let is_light = lexicon::is_adverb(lower) || lexicon::is_filler(lower);
    !is_stop_word(lower)
        && !lexicon::is_pronoun(lower)
        && (!is_light || is_named)
        && (!is_verb || word.is_capital)
}

/// Whether a name from one place to another ends in `'s`, where one is or works, and nothing of its own follows:
/// "works at McDonald's in Rome".
fn is_name_in_s(text: &str, words: &[Word], (start, at): (usize, usize)) -> bool {
    let word = &words[at];
    let is_there = |before: usize| matches!(words[before].lower.as_str(), "at" | "for" | "from");
    let behind = text.get(word.range.end + possessive(text, word.range.end)..).unwrap_or_default();
    let follows = match words.get(at + 1) {
        Some(next) if behind.starts_with(' ') && behind[1..].starts_with(char::is_alphanumeric) => {
            matches!(next.lower.as_str(), "in" | "as" | "since" | "because" | "when" | "anymore")
        }
        _ => !behind.trim_start().starts_with(['"', '“', '\'', '‘', '(']),
    };
    word.is_capital && follows && start.checked_sub(1).is_some_and(is_there)
}

fn can_end(word: &Word) -> bool {
    word.is_capital
        || !(lexicon::is_adjective(&word.lower)
            || lexicon::is_bland_noun(&word.lower)
            || verbs::is_past(&word.lower)
            || rewrite::is_preposition(&word.lower))
}

/// Something to do that begins at a verb in its base form: `open a dance studio`.
pub(super) fn activity<'t>(text: &'t str, words: &'t [Word], at: usize) -> Option<Tail<'t>> {
    verbs::verb(&words.get(at)?.lower).filter(|verb| verb.forms.base)?;
    clause(text, words, at)
}

/// Something that is done, from a verb in its `-ing` form on: `watching old movies`.
pub(super) fn doing<'t>(text: &'t str, words: &'t [Word], at: usize) -> Option<Tail<'t>> {
    let word = words.get(at)?;
    let verb = verbs::verb(&word.lower).filter(|verb| verb.forms.gerund)?;
    clause(text, words, at).or_else(|| {
        let is_last = words.get(at + 1).is_none_or(|next| {
            !is_joined(text, word, next)
                || rewrite::is_preposition(&next.lower) && next.lower != "into"
                || next.lower == "and"
        });
        let text = text.get(word.range.clone())?;
        (is_last && !verbs::is_bland(verb.base)).then_some(Tail::word(text, word, at))
    })
}

/// A verb and what belongs to it.
fn clause<'t>(text: &'t str, words: &'t [Word], at: usize) -> Option<Tail<'t>> {
    let mut end = at + 1;
    while end < words.len() && end - at < ACTIVITY_WORDS_MAX {
        let word = &words[end];
        let lower = word.lower.as_str();
        let next = words.get(end + 1).map_or("", |next| next.lower.as_str());
        let is_dated = rewrite::is_preposition(lower)
            && (next.starts_with(|c: char| c.is_ascii_digit()) || lexicon::is_time_noun(next));
        let is_plain = gap(text, &words[end - 1], word).trim_matches(['\'', '’', 's']).trim() == "";
        let is_end = BEHIND.contains(&lower);
        if !is_plain || is_end || is_dated {
            break;
        }
        end += 1;
    }
    if end - at == ACTIVITY_WORDS_MAX {
        let is_link = |at: &usize| rewrite::is_preposition(&words[*at].lower);
        end = (at + 3..end).rev().find(is_link)?;
    }
    while end > at + 1 && is_loose(&words[end - 1].lower) {
        end -= 1;
    }
    let says = words[at + 1..end].iter().filter(|word| !lexicon::is_empty(&word.lower)).count();
    let is_open = words[at + 1..end].iter().any(|word| OPEN.contains(&word.lower.as_str()));
    let last = &words[end - 1];
    let written = text.get(words[at].range.start..last.range.end)?;
    let is_vague = VAGUE.contains(&last.lower.as_str());
    let has_owner = words[at + 1..end].iter().any(|word| word.has_possessive(text));
    (says > 0 && !is_open && !is_vague && !has_owner).then_some(Tail {
        text: written,
        is_name: false,
        is_definite: false,
        last,
        end,
    })
}

/// Words that what belongs to a verb ends before.
const BEHIND: &[&str] = &[
    "and",
    "but",
    "or",
    "because",
    "so",
    "when",
    "if",
    "while",
    "that",
    "as",
    "soon",
    "too",
    "again",
    "where",
    "who",
    "which",
    "since",
    "before",
    "after",
    "until",
    "this",
    "next",
    "last",
    "today",
    "tonight",
    "yesterday",
    "tomorrow",
    "what",
    "how",
    "why",
    "whatever",
    "whether",
];

/// Words with which what belongs to a verb says nothing by itself: pronouns, and verbs of another clause.
const OPEN: &[&str] = &[
    "it",
    "them",
    "that",
    "him",
    "her",
    "you",
    "they",
    "its",
    "one",
    "something",
    "anything",
    "more",
    "everything",
    "these",
    "those",
    "ones",
    "are",
    "is",
    "was",
    "were",
    "can",
];

fn is_loose(lower: &str) -> bool {
    rewrite::is_preposition(lower)
        || lexicon::is_determiner(lower)
        || lexicon::is_adverb(lower)
        || lexicon::is_adjective(lower)
        || lower == "based"
}
