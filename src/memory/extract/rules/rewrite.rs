//! A sentence rewritten to stand alone: names in place of pronouns, with verbs that agree.
//!
//! `I love pottery` said by Nora is `Nora loves pottery`. English only; what is in quotes stays.

mod subject;
#[cfg(test)]
mod tests;

use engraph_storage::graph::{Interval, Time};

use super::edits::Edits;
use super::lead;
use super::people::People;
use super::{dates, kinds, lexicon, verbs};
use crate::retrieval::words::{Word, is_stop_word, possessive, words};

pub(super) use subject::{Subject, is_modal, is_preposition};

/// Words that name who stands beside a subject, at most: "my big sister Anna".
const OTHERS_MAX: usize = 4;

/// A sentence that was rewritten.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rewritten {
    /// Without a stop at its end.
    pub(super) text: String,
    /// What it is about.
    pub(super) subject: Subject,
    /// When what it says held.
    pub(super) valid: Interval,
}

/// Rewrites a sentence that has no greeting before it (see [`lead::strip`]).
pub(super) fn rewrite(text: &str, people: &People<'_>, at: Option<Time>) -> Rewritten {
    let words = words(text);
    let mut edits = Edits::default();
    let valid = dates::resolve(text, at, &mut edits);
    let mut subject = subject::subject(&words, people);
    if !matches!(subject, Subject::You | Subject::Open)
        && let Some(me) = people.me
        && let Some(head) = lead::elided(&words)
    {
        let is_open =
            head == lead::Elided::It || people.are_told_of && head.may_be_anybodys(&words);
        subject = if is_open { Subject::Open } else { Subject::Me };
        if head == lead::Elided::It || !is_open {
            head.restore(me, &words, &mut edits);
        }
    }
    Writer { text, words: &words, people, edits, is_anybody: None }.finish(subject, valid)
}

/// Collects the changes of one sentence.
struct Writer<'a> {
    text: &'a str,
    words: &'a [Word],
    people: &'a People<'a>,
    edits: Edits,
    /// Whether `you` is anybody; the first one decides for the sentence.
    is_anybody: Option<bool>,
}

impl Writer<'_> {
    fn finish(mut self, subject: Subject, valid: Interval) -> Rewritten {
        let quoted = quotes(self.text);
        let is_quoted = |word: &Word| quoted.iter().any(|range| range.contains(&word.range.start));
        let mut has_we = false;
        for at in 0..self.words.len() {
            if is_quoted(&self.words[at]) {
                continue;
            }
            self.first_person(at);
            self.second_person(at);
            has_we = self.we(at, has_we);
            self.third_person(at);
            self.informal(at);
        }
        let text = capitalised(self.edits.apply(self.text));
        Rewritten { text, subject, valid }
    }

    fn put(&mut self, at: usize, text: impl Into<String>) {
        self.edits.replace(self.words[at].range.clone(), text);
    }

    fn lower(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.lower(at))
    }

    fn first_person(&mut self, at: usize) {
        let Some(me) = self.people.me else { return };
        match self.lower(at) {
            "i" => {
                self.put(at, me);
                self.agree(at);
            }
            "i'm" => {
                self.put(at, format!("{me} is"));
                self.agree_further(at);
            }
            "i've" => self.put(at, format!("{me} has")),
            "i'll" => self.put(at, format!("{me} will")),
            "i'd" => {
                let auxiliary = self.had_or_would(at);
                self.put(at, format!("{me} {auxiliary}"));
            }
            "me" => self.put(at, me),
            "my" | "mine" => self.put(at, format!("{me}'s")),
            "myself" => self.put(at, "themself"),
            _ => {}
        }
    }

    fn second_person(&mut self, at: usize) {
        let Some(you) = self.people.you else { return };
        if !self.lower(at).starts_with("you") {
            return;
        }
        let is_anybody = self.is_anybody.unwrap_or_else(|| self.is_anybody(at));
        self.is_anybody = Some(is_anybody);
        if is_anybody {
            return;
        }
        match self.lower(at) {
            "your" | "yours" => self.put(at, format!("{you}'s")),
            "you" => {
                self.put(at, you);
                let is_object = verbs::verb(self.before(at)).is_some_and(|verb| {
                    verb.base != "be" && !matches!(verb.base, "know" | "think" | "hope")
                });
                let is_clause = matches!(self.before(at), "before" | "after" | "until" | "since");
                let next = self.lower(at + 1);
                let is_subject = matches!(next, "are" | "were" | "have")
                    || is_clause && verbs::verb(next).is_some_and(|verb| verb.forms.base);
                if is_subject || !is_object && !is_preposition(self.before(at)) {
                    self.agree(at);
                }
            }
            "you're" => self.put(at, format!("{you} is")),
            "you've" => self.put(at, format!("{you} has")),
            "you'll" => self.put(at, format!("{you} will")),
            "you'd" => {
                let auxiliary = self.had_or_would(at);
                self.put(at, format!("{you} {auxiliary}"));
            }
            "yourself" => self.put(at, "themself"),
            _ => {}
        }
    }

    /// Whether `you` is anybody: "if you want", "what lets you grow".
    fn is_anybody(&self, at: usize) -> bool {
        let before = self.before(at);
        let has_me = self.words.iter().any(|word| {
            matches!(word.lower.split('\'').next().unwrap_or_default(), "i" | "me" | "my")
        });
        let ahead = at.checked_sub(2).map_or("", |at| self.lower(at));
        match before {
            "if" | "help" | "helps" | "make" | "makes" | "lets" => return !has_me,
            "let" => return self.lower(at + 1) != "know",
            "like" => return matches!(ahead, "feel" | "feels" | "felt" | "seems" | "looks"),
            _ => {}
        }
        !self.lower(at).starts_with("your")
            && matches!(
                before,
                "when"
                    | "whenever"
                    | "where"
                    | "wherever"
                    | "once"
                    | "gives"
                    | "whatever"
                    | "whoever"
                    | "unless"
                    | "until"
                    | "takes"
                    | "teaches"
                    | "things"
                    | "everything"
            )
    }

    /// Writes who `we` are the first time, and `they` from then on.
    fn we(&mut self, at: usize, has_we: bool) -> bool {
        let Some(me) = self.people.me else { return has_we };
        let (is_subject, rest) = match self.lower(at) {
            "we" => (true, ""),
            "we're" => (true, " are"),
            "we've" => (true, " have"),
            "we'll" => (true, " will"),
            "we'd" => (true, if self.had_or_would(at) == "had" { " had" } else { " would" }),
            "us" => (false, ""),
            "our" | "ours" => {
                let both = self.is_shared(at).then(|| self.people.both()).flatten();
                let own = match both {
                    _ if has_we => "their".to_owned(),
                    Some(both) => format!("{both}'s"),
                    None => format!("{me}'s"),
                };
                self.put(at, own);
                return has_we;
            }
            "ourselves" => {
                self.put(at, "themselves");
                return has_we;
            }
            _ => return has_we,
        };
        let again = if is_subject { "they" } else { "them" };
        let both = if self.is_talk(at) { self.people.both() } else { None };
        let is_told = is_subject && self.tells_of_others(at);
        let who = match both {
            _ if has_we => Some(again.to_owned()),
            Some(both) => Some(both),
            // "My sister lives with us": she is none of those.
            None if !is_subject && self.is_named_before(at) => Some(me.to_owned()),
            None => self.people.we(is_told),
        };
        if let Some(who) = who {
            self.put(at, format!("{who}{rest}"));
        }
        true
    }

    /// Whether the sentence has named before whom "us" would have with whoever speaks.
    fn is_named_before(&self, at: usize) -> bool {
        let with = self.people.with.as_deref().unwrap_or_default().to_lowercase();
        let last = with.rsplit(' ').next().unwrap_or_default();
        !last.is_empty() && (0..at).any(|place| self.lower(place) == last)
    }

    /// Whether `our` belongs to those who speak with each other: "our friendship".
    fn is_shared(&self, at: usize) -> bool {
        let is_of = self.lower(at + 1) == "love" && self.lower(at + 2) == "of";
        is_of || (at + 1..at + 3).any(|place| SHARED.contains(&self.lower(place)))
    }

    /// Whether `we` talk with each other: "since we last spoke", "we haven't talked".
    fn is_talk(&self, at: usize) -> bool {
        let place = self.main_after(at);
        let is_talk =
            matches!(verbs::lemma(self.lower(place)), Some("talk" | "speak" | "chat" | "catch"));
        let is_last = (at..=place + 1).any(|place| self.lower(place) == "last");
        is_talk && (is_last || self.before(at) == "since" || self.lower(at + 1) == "haven't")
    }

    /// Whether what `we` did, are at or are used to do is news to who is spoken to, who then has
    /// no part in it.
    fn tells_of_others(&self, at: usize) -> bool {
        let place = self.main_after(at);
        let Some(verb) = verbs::verb(self.lower(place)) else {
            return verbs::is_past(self.lower(place));
        };
        let is_habit = matches!(self.lower(at + 1), "usually" | "often" | "sometimes" | "always");
        let is_ongoing = verb.forms.gerund && !matches!(verb.base, "feel" | "talk" | "go");
        verbs::is_past(self.lower(place)) && verb.base != "discuss" || is_ongoing || is_habit
    }

    /// The place of the main verb after a subject.
    fn main_after(&self, at: usize) -> usize {
        let is_light = |place: &usize| {
            let lower = self.lower(*place);
            let is_auxiliary = matches!(lower, "are" | "have" | "had" | "been" | "haven't");
            let is_alone = verbs::verb(self.lower(*place + 1)).is_none();
            self.is_passed(*place) || lower == "last" || is_auxiliary && !is_alone
        };
        at + 1 + (at + 1..self.words.len()).take_while(is_light).count()
    }

    /// Writes out `gonna` and `wanna`.
    fn informal(&mut self, at: usize) {
        match self.lower(at) {
            "gonna" => {
                let is_passed = |place: &usize| self.is_passed(*place);
                let subject = at.checked_sub(1 + (0..at).rev().take_while(is_passed).count());
                let text = if subject.is_some_and(|place| self.has_be(place)) {
                    "going to"
                } else {
                    "is going to"
                };
                self.put(at, text);
            }
            "wanna" => self.put(at, "want to"),
            _ => {}
        }
    }

    /// Whether a word is a form of `be`, or ends in one: `they're`, `who's`.
    fn has_be(&self, at: usize) -> bool {
        let lower = self.lower(at);
        verbs::lemma(lower) == Some("be")
            || lower.ends_with("'m")
            || lower.ends_with("'re")
            || self.words.get(at).is_some_and(|word| word.has_possessive(self.text))
    }

    /// Names whom a pronoun of the third person means, as the first word only.
    fn third_person(&mut self, at: usize) {
        if at > 0 {
            return;
        }
        let (pronoun, rest) = match self.lower(at) {
            pronoun @ ("he" | "she" | "they") => (pronoun, ""),
            "they're" => ("they", " are"),
            "they've" => ("they", " have"),
            "they'll" => ("they", " will"),
            "he'll" => ("he", " will"),
            "she'll" => ("she", " will"),
            "his" if self.lower(at + 1) != "and" => ("he", "'s"),
            "her" if self.lower(at + 1) != "and" => ("she", "'s"),
            _ => return,
        };
        let is_called =
            (at + 1..at + 4).any(|at| matches!(self.lower(at), "called" | "named" | "name"));
        if is_called && self.people.is_called(pronoun) {
            return;
        }
        let Some(who) = self.people.third(pronoun).map(str::to_owned) else { return };
        let range = self.words[at].range.clone();
        match possessive(self.text, range.end) {
            // "he's five".
            length if length > 0 && rest.is_empty() => {
                let verb = self.is_or_has(at);
                self.edits.replace(range.start..range.end + length, format!("{who}{verb}"));
            }
            _ => self.put(at, format!("{who}{rest}")),
        }
    }

    /// What `'s` stands for behind a pronoun: "he's been ill", and "he's five", "he's married".
    fn is_or_has(&self, at: usize) -> &'static str {
        let place = (at + 1..).find(|place| !self.is_passed(*place)).unwrap_or(at);
        if PERFECT.contains(&self.lower(place)) { " has" } else { " is" }
    }

    /// Whether somebody else stands before a subject: "Lukas and I love it", and not "I sing and I dance".
    fn is_joint(&self, at: usize) -> bool {
        if self.before(at) != "and" {
            return false;
        }
        let Some(others) = self.words.get(..at - 1).filter(|others| others.len() <= OTHERS_MAX)
        else {
            return false;
        };
        let is_one = |word: &Word| {
            let lower = word.lower.as_str();
            let says_little = lexicon::is_filler(lower)
                || lexicon::is_interjection(lower)
                || lexicon::is_adverb(lower)
                || lexicon::is_adjective(lower)
                || is_stop_word(lower)
                || kinds::being(lower).is_some();
            let is_kin = lexicon::is_pet(lower) || lexicon::kin(lower).is_some();
            is_kin || word.is_capital && !says_little
        };
        let belongs = |word: &Word| {
            let lower = word.lower.as_str();
            is_one(word) || lexicon::is_determiner(lower) || lexicon::is_adjective(lower)
        };
        let is_contracted = |word: &Word| word.has_possessive(self.text);
        others.last().is_some_and(is_one)
            && others.iter().all(|word| belongs(word) && !is_contracted(word))
    }

    /// Puts the verb after a subject into the third person.
    fn agree(&mut self, at: usize) {
        if self.is_joint(at) {
            if self.lower(at + 1) == "am" {
                self.put(at + 1, "are");
            }
            return;
        }
        if matches!(self.before(at), "am" | "do" | "have" | "are") {
            let auxiliary = verbs::verb(self.before(at)).map(|verb| verbs::third(verb.base));
            self.put(at - 1, auxiliary.unwrap_or_default());
            return;
        }
        if is_modal(self.before(at)) || self.before(at) == "did" {
            return;
        }
        let mut place = at + 1;
        while place < self.words.len() && self.is_passed(place) {
            place += 1;
        }
        let Some(word) = self.words.get(place) else { return };
        let between = self.text.get(self.words[place - 1].range.end..word.range.start);
        if between.is_none_or(|between| !between.trim().is_empty()) {
            return;
        }
        let Some(third) = agreed(&word.lower, place == at + 1) else { return };
        let is_present = third != "was";
        self.put(place, third);
        if is_present {
            self.agree_further(place);
        }
    }

    /// Puts the verbs joined by `and` into the third person too: "I sing and dance".
    fn agree_further(&mut self, from: usize) {
        for at in from + 1..self.words.len().saturating_sub(1) {
            let lower = self.lower(at);
            let is_clause =
                matches!(lower, "because" | "if" | "that" | "when" | "where" | "while" | "who");
            if lower == "to"
                || is_modal(lower)
                || lower.starts_with("i'")
                || lower == "i"
                || is_clause
            {
                return;
            }
            let next = self.lower(at + 1);
            let is_verb = verbs::verb(next).is_some_and(|verb| verb.forms.base);
            let is_known =
                matches!(lower, "and" | "but" | "or") && is_verb && !verbs::is_past(next);
            let after = self.lower(at + 2);
            let has_object = after.is_empty()
                || lexicon::is_determiner(after)
                || lexicon::is_pronoun(after)
                || is_preposition(after)
                || lexicon::is_adverb(after)
                || after.ends_with("ing");
            if is_known && has_object {
                let third = verbs::third(next);
                self.put(at + 1, third);
            }
        }
    }

    /// Whether a word may stand between a subject and its verb.
    fn is_passed(&self, at: usize) -> bool {
        let lower = self.lower(at);
        lexicon::is_adverb(lower) || matches!(lower, "all" | "both" | "even" | "not")
    }

    /// What `'d` stands for.
    fn had_or_would(&self, at: usize) -> &'static str {
        let mut place = at + 1;
        while self.is_passed(place) && self.lower(place) != "better" {
            place += 1;
        }
        let next = self.lower(place);
        let is_had = next == "better"
            || (verbs::is_participle(next)
                && !verbs::verb(next).is_some_and(|verb| verb.forms.base));
        if is_had { "had" } else { "would" }
    }
}

/// What somebody has done rather than is, behind `he's`.
const PERFECT: &[&str] = &[
    "become", "been", "begun", "decided", "finished", "got", "gotten", "grown", "had", "joined",
    "learned", "left", "lived", "lost", "made", "moved", "passed", "played", "quit", "seen",
    "started", "stopped", "taken", "turned", "worked",
];

/// The form for `she` of a verb as it stands after `I` or `you`; none if it stays.
fn agreed(lower: &str, is_next: bool) -> Option<String> {
    let fixed = match lower {
        "am" | "are" => "is",
        "were" => "was",
        "weren't" => "wasn't",
        "aren't" => "isn't",
        "have" => "has",
        "haven't" => "hasn't",
        "do" => "does",
        "don't" => "doesn't",
        "wanna" => "wants to",
        "gotta" => "has to",
        "gonna" => "is going to",
        _ => "",
    };
    if !fixed.is_empty() {
        return Some(fixed.to_owned());
    }
    let Some(verb) = verbs::verb(lower) else {
        // Right after `I` a word that nothing else is known of is a verb.
        let is_plain = lower.len() > 3 && lower.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_other = lexicon::is_empty(lower) || lexicon::is_feeling(lower) || is_modal(lower);
        let is_inflected = lower.ends_with('s') || lower.ends_with("ed") || lower.ends_with("ing");
        let is_verb = is_next && is_plain && !is_other && !is_inflected;
        return is_verb.then(|| verbs::third(lower));
    };
    let is_same = matches!(
        verb.base,
        "put" | "set" | "cut" | "hit" | "quit" | "read" | "hurt" | "beat" | "bet"
    );
    (verb.forms.base && !is_same).then(|| verbs::third(verb.base))
}

/// What `our` is of both who speak, if nobody else was named.
const SHARED: &[&str] = &[
    "friendship",
    "minds",
    "hearts",
    "souls",
    "selves",
    "lives",
    "dreams",
    "goals",
    "passions",
    "emotions",
    "wellbeing",
    "chat",
    "chats",
    "talk",
    "talks",
    "conversation",
    "conversations",
];

/// The bytes within double quotes.
fn quotes(text: &str) -> Vec<std::ops::Range<usize>> {
    let marks: Vec<usize> = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '"' | '“' | '”'))
        .map(|(at, _)| at)
        .collect();
    marks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

fn capitalised(text: String) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(chars).collect(),
        _ => text,
    }
}
