//! What stands before a sentence and does not belong to it, and subjects that were left out.
//!
//! `Yeah, Nora, I went` is `I went`; `Went to Rome` is `I went to Rome`.

use super::edits::Edits;
use super::names::Spelling;
use super::sentences::gap;
use super::{lexicon, verbs};
use crate::retrieval::words::{Word, words};
use crate::time;

/// A sentence without interjections, conjunctions and names called before and after it.
pub(super) fn strip<'t>(text: &'t str, spelling: &Spelling) -> &'t str {
    let words = words(text);
    let mut first = 0;
    while let Some(count) = stripped_at(text, &words, first, spelling) {
        first += count;
    }
    let mut end = words.len();
    while end > first + 1 && is_called_after(text, &words, end - 1, spelling) {
        end -= 1;
    }
    let (Some(from), Some(to)) = (words.get(first), words.get(..end).and_then(<[Word]>::last))
    else {
        return "";
    };
    let begin = if text[..from.range.start].ends_with(['"', '“']) {
        text[..from.range.start].char_indices().next_back().map_or(0, |(at, _)| at)
    } else {
        from.range.start
    };
    // What stands after the last word, such as a possessive or a plus, stays with it.
    let stop = if end == words.len() { text.len() } else { to.range.end };
    let begin = if first == 0 { 0 } else { begin };
    text.get(begin..stop).unwrap_or_default()
}

/// How many words from a place on do not belong to the sentence.
fn stripped_at(text: &str, words: &[Word], at: usize, spelling: &Spelling) -> Option<usize> {
    let word = words.get(at)?;
    let Some(next) = words.get(at + 1) else {
        let is_all = lexicon::is_interjection(&word.lower) || spelling.is_speaker(&word.lower);
        return is_all.then_some(1);
    };
    for phrase in PHRASES {
        let count = phrase.split(' ').count();
        let is_here = phrase
            .split(' ')
            .enumerate()
            .all(|(i, part)| words.get(at + i).is_some_and(|word| word.lower == part));
        let is_ended = words.get(at + count).is_none_or(|after| {
            words.get(at + count - 1).is_some_and(|last| is_cut(text, last, after))
        });
        if is_here && is_ended {
            return Some(count);
        }
    }
    // "I meant I live in Lyon."
    if word.lower == "i"
        && matches!(next.lower.as_str(), "mean" | "meant")
        && words.get(at + 2).is_some_and(|after| is_subject(&after.lower))
    {
        return Some(2);
    }
    if let Some(count) = turning_out(words, at).or_else(|| asked_to_keep(words, at)) {
        return Some(count);
    }
    let is_called = spelling.is_speaker(&word.lower) && word.is_capital;
    let is_cut = is_cut(text, word, next);
    if is_called {
        let is_greeted = at > 0 && is_subject(&next.lower);
        return (is_cut || is_greeted).then_some(1);
    }
    if !lexicon::is_interjection(&word.lower) || gap(text, word, next).starts_with('-') {
        return None;
    }
    let is_loose = match word.lower.as_str() {
        "so" => !matches!(next.lower.as_str(), "far" | "much" | "many" | "long"),
        "and" | "but" | "also" | "plus" | "oh" | "hey" | "hi" | "hello" | "wow" | "woah"
        | "yeah" | "yep" | "yup" | "btw" | "anyway" | "luckily" | "actually" | "honestly"
        | "seriously" | "haha" | "unfortunately" => true,
        "then" | "well" => is_subject(&next.lower),
        _ => spelling.is_speaker(&next.lower),
    };
    (is_cut || is_loose).then_some(1)
}

/// How many words "it turns out that" has at a place, before a subject.
fn turning_out(words: &[Word], at: usize) -> Option<usize> {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let verb = at + usize::from(lower(at) == "it");
    let is_it = matches!(lower(verb), "turns" | "turned") && lower(verb + 1) == "out";
    let end = verb + 2 + usize::from(lower(verb + 2) == "that");
    (is_it && is_subject(lower(end))).then_some(end - at)
}

/// How many words "please remember that" has at a place, before a subject.
fn asked_to_keep(words: &[Word], at: usize) -> Option<usize> {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let verb = at + usize::from(matches!(lower(at), "please" | "kindly"));
    let end = match (lower(verb), lower(verb + 1), lower(verb + 2)) {
        ("keep" | "bear", "in", "mind") | ("for", "your", "information") => verb + 3,
        ("you", "should", "know") => verb + 3,
        ("i", "must", "tell") => verb + 3 + usize::from(lower(verb + 3) == "you"),
        ("i", "should" | "must", "mention") => verb + 3,
        ("be", "advised", _) | ("write", "down", _) | ("save", "this", _) => verb + 2,
        ("don't", "forget", _) | ("just", "remember" | "note", _) => verb + 2,
        ("remember" | "note" | "fyi", _, _) => verb + 1,
        _ => return None,
    };
    let end = end + usize::from(lower(end) == "that");
    let is_own = matches!(lower(end).split('\'').next(), Some("i" | "we" | "my" | "our"));
    is_own.then_some(end - at)
}

/// Whether a mark parts two neighbouring words.
fn is_cut(text: &str, word: &Word, next: &Word) -> bool {
    gap(text, word, next).contains([',', '!', '.', ':', '~', '…']) || gap(text, word, next) == " - "
}

/// `, Nora` and `, right` at the end.
fn is_called_after(text: &str, words: &[Word], at: usize, spelling: &Spelling) -> bool {
    let word = &words[at];
    let is_called = spelling.is_speaker(&word.lower) && word.is_capital
        || matches!(
            word.lower.as_str(),
            "right" | "haha" | "lol" | "though" | "man" | "dude" | "huh"
        );
    is_called && gap(text, &words[at - 1], word).starts_with(',')
}

fn is_subject(lower: &str) -> bool {
    matches!(
        lower.split('\'').next().unwrap_or_default(),
        "i" | "you"
            | "we"
            | "he"
            | "she"
            | "it"
            | "they"
            | "my"
            | "your"
            | "our"
            | "that"
            | "this"
            | "the"
    )
}

const PHRASES: &[&str] = &[
    "by the way",
    "guess what",
    "of course",
    "for sure",
    "no worries",
    "no problem",
    "no prob",
    "no doubt",
    "i know",
    "i agree",
    "i see",
    "you know",
    "you know what",
    "you're right",
    "to be honest",
    "in fact",
    "sounds great",
    "sounds good",
    "thank you",
    "thank you so much",
    "thanks so much",
    "thanks a lot",
    "thanks a bunch",
    "not really",
    "not yet",
    "good to hear",
    "long time no see",
    "long time no talk",
    "believe me",
    "trust me",
    "oh my god",
    "yes i did",
    "yeah i did",
    "sure thing",
    "me too",
    "same here",
];

/// How a left-out subject is put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elided {
    /// `Went` is `Nora went`.
    Plain,
    /// `Love it` is `Nora loves it`; the place of the verb.
    Present(usize),
    /// `Excited` is `Nora is excited`.
    Is,
    /// `Been busy` is `Nora has been busy`.
    Has,
    /// `Made me laugh` is `It made Nora laugh`.
    It,
}

/// Whether a verb tells what its subject did or is.
fn is_done(verb: &str) -> bool {
    verbs::is_past(verb) || matches!(verb, "is" | "says" | "has")
}

/// The subject that was left out before a sentence; none if it is a command.
pub(super) fn elided(words: &[Word]) -> Option<Elided> {
    let at = words.iter().take_while(|word| is_light(&word.lower)).count();
    let lower = words.get(at)?.lower.as_str();
    let has_finite = words.iter().skip(at + 1).any(|word| {
        matches!(
            word.lower.as_str(),
            "is" | "was"
                | "are"
                | "were"
                | "helps"
                | "makes"
                | "has"
                | "sounds"
                | "takes"
                | "feels"
                | "brings"
                | "gives"
                | "keeps"
                | "means"
                | "lets"
                | "seems"
                | "can"
                | "will"
        )
    });
    let is_going = lower == "gonna";
    let next = words.get(at + 1).map_or("", |word| word.lower.as_str());
    match lower {
        "can't" | "cannot" | "couldn't" | "won't" | "didn't" | "had" | "haven't" | "would"
        | "could" => Some(Elided::Plain),
        "gonna" if next == "be" => None,
        "gonna" | "going" | "looking" | "hoping" | "planning" | "thinking" | "trying"
        | "feeling" | "loving" | "working"
            if is_going || !has_finite =>
        {
            Some(Elided::Is)
        }
        "been" if !lexicon::is_determiner(next) => Some(Elided::Has),
        // "Miss Lorraine died."
        "miss" if words.get(at + 2).is_some_and(|verb| is_done(&verb.lower)) => None,
        "love" | "hope" | "wish" | "need" | "miss" | "want" | "appreciate" | "adore" | "prefer"
        | "hate" | "doubt" | "guess"
            if !matches!(next, "is" | "was" | "and" | "are" | "can") =>
        {
            Some(Elided::Present(at))
        }
        "took" if matches!(next, "some" | "time" | "ages" | "forever") => Some(Elided::It),
        "lucky" if next.starts_with("you") => None,
        _ if verbs::is_past(lower) && next == "me" => {
            CAUSES.contains(&verbs::lemma(lower)?).then_some(Elided::It)
        }
        _ if verbs::verb(lower).is_some_and(|verb| verb.forms.past && !verb.forms.base)
            && lexicon::is_determiner(next) =>
        {
            Some(Elided::Plain)
        }
        // "Happy new year!"
        "happy"
            if words.len() <= WISH_WORDS && (WISHED.contains(&next) || time::is_weekday(next)) =>
        {
            None
        }
        _ if lexicon::is_feeling(lower) && !has_finite => Some(Elided::Is),
        _ if verbs::is_past(lower) && matches!(next, "by" | "with") => Some(Elided::Is),
        // "Verified is better than assumed."
        _ if matches!(next, "is" | "was" | "means") => None,
        _ => (verbs::is_past(lower) && !lexicon::is_adjective(lower)).then_some(Elided::Plain),
    }
}

/// Whether words go on as what a day was: "Today was fun", "Yesterday went well".
fn is_of_day(words: &[Word]) -> bool {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    verbs::lemma(lower(0)).is_some_and(|verb| OF_DAYS.contains(&verb))
        || lower(0) == "went" && lexicon::is_adverb(lower(1))
}

/// What days do, rather than somebody on one.
const OF_DAYS: &[&str] = &[
    "be", "bring", "come", "end", "feel", "give", "make", "mark", "prove", "remind", "see", "seem",
    "show", "start", "suck", "teach", "turn",
];

/// A wish alone has so many words at most: "Happy new year everyone".
const WISH_WORDS: usize = 4;
/// What people wish each other a happy one of.
const WISHED: &[&str] = &[
    "anniversary",
    "birthday",
    "christmas",
    "diwali",
    "easter",
    "halloween",
    "hanukkah",
    "holidays",
    "new",
    "thanksgiving",
    "weekend",
];

/// What something does to somebody, rather than somebody to another.
const CAUSES: &[&str] = &[
    "make", "give", "help", "remind", "teach", "keep", "bring", "take", "inspire", "get", "blow",
    "let", "show", "motivate", "push", "cost", "touch",
];

fn is_light(lower: &str) -> bool {
    lexicon::is_adverb(lower) && !lexicon::is_feeling(lower) || lower == "so"
}

impl Elided {
    /// Whether the subject may be whom the sentence before is about: "My sister is fine. Moved to Berlin", and not
    /// "Miss her so much", "Had fun with them".
    pub(super) fn may_be_anybodys(self, words: &[Word]) -> bool {
        let is_mine = |word: &Word| {
            let lower = word.lower.as_str();
            matches!(lower, "her" | "him" | "them" | "me" | "my" | "us" | "our" | "together")
        };
        matches!(self, Self::Plain | Self::Is | Self::Has) && !words.iter().any(is_mine)
    }

    /// Puts the subject back.
    pub(super) fn restore(self, me: &str, words: &[Word], edits: &mut Edits) {
        // "Yesterday adopted a cat": the time of it is written out where it stands.
        let is_time = |word: &Word| lexicon::is_time_noun(&word.lower);
        let lead =
            words.iter().position(|word| !is_time(word)).filter(|at| !is_of_day(&words[*at..]));
        let lead = lead.unwrap_or(0);
        let Some(first) = words.get(lead) else { return };
        let lower = first.lower.as_str();
        let insert = match self {
            Self::Plain | Self::Present(_) => me.to_owned(),
            Self::Is => format!("{me} is"),
            Self::Has => format!("{me} has"),
            Self::It => "it".to_owned(),
        };
        if let Self::Present(at) = self
            && at > lead
            && let Some(verb) = words.get(at)
        {
            edits.replace(verb.range.clone(), verbs::third(&verb.lower));
        }
        let first_word = match (self, lower) {
            (Self::Present(at), _) if at == lead => verbs::third(lower),
            (_, "haven't") => "hasn't".to_owned(),
            (_, "gonna") => "going to".to_owned(),
            _ => lower.to_owned(),
        };
        edits.replace(first.range.clone(), format!("{insert} {first_word}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_sentence() {
        let mut spelling = Spelling::default();
        spelling.speaks("Nora");
        spelling.speaks("Tom");
        for (text, expected) in [
            ("Yeah, Nora, I went", "I went"),
            ("Hey Tom", ""),
            ("Wow", ""),
            ("So I went, Tom", "I went"),
            ("Sorry, I meant I went", "I went"),
            ("By the way, I went there, right", "I went there"),
            ("Great news from Rome", "Great news from Rome"),
            ("Nora went home", "Nora went home"),
            ("But well-known songs", "well-known songs"),
            ("And \"Dune\" is long", "\"Dune\" is long"),
            ("", ""),
        ] {
            assert_eq!(strip(text, &spelling), expected, "{text}");
        }
    }

    #[test]
    fn subjects_that_were_left_out() {
        for (text, expected) in [
            ("went to Rome", Some(Elided::Plain)),
            ("lost my keys", Some(Elided::Plain)),
            ("haven't slept", Some(Elided::Plain)),
            ("really love it", Some(Elided::Present(1))),
            ("excited to go", Some(Elided::Is)),
            ("gonna sing", Some(Elided::Is)),
            ("been busy", Some(Elided::Has)),
            ("made me laugh", Some(Elided::It)),
            ("took some time", Some(Elided::It)),
            ("told me so", None),
            ("lucky you", None),
            ("love is blind", None),
            ("keep it up", None),
            ("", None),
        ] {
            assert_eq!(elided(&words(text)), expected, "{text}");
        }
    }
}
