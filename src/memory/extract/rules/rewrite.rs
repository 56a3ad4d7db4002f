//! A sentence rewritten to stand alone: names in place of pronouns, with verbs that agree.
//!
//! `I love pottery` said by Nora is `Nora loves pottery`. English only; what is in quotes stays.

mod subject;

use engraph_storage::graph::{Interval, Time};

use super::edits::Edits;
use super::lead;
use super::people::People;
use super::{dates, lexicon, verbs};
use crate::retrieval::words::{Word, words};

pub(super) use subject::{Subject, is_modal, is_preposition};

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
        subject = Subject::Me;
        head.restore(me, &words, &mut edits);
    }
    Writer { text, words: &words, people, edits }.finish(subject, valid)
}

/// Collects the changes of one sentence.
struct Writer<'a> {
    text: &'a str,
    words: &'a [Word],
    people: &'a People<'a>,
    edits: Edits,
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
            "i'm" | "im" => self.put(at, format!("{me} is")),
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
        let lower = self.lower(at);
        if lower == "your" || lower == "yours" {
            self.put(at, format!("{you}'s"));
            return;
        }
        if self.is_anybody(at) {
            return;
        }
        match self.lower(at) {
            "you" => {
                self.put(at, you);
                let is_object = verbs::verb(self.before(at)).is_some_and(|verb| {
                    verb.base != "be" && !matches!(verb.base, "know" | "think" | "hope")
                });
                if !is_object && !is_preposition(self.before(at)) {
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
        matches!(
            self.before(at),
            "if" | "when"
                | "whenever"
                | "where"
                | "wherever"
                | "once"
                | "lets"
                | "makes"
                | "helps"
                | "gives"
                | "whatever"
                | "whoever"
                | "unless"
                | "until"
                | "make"
                | "let"
                | "help"
                | "takes"
                | "teaches"
                | "things"
                | "everything"
                | "like"
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
                let own = if has_we { "their".to_owned() } else { format!("{me}'s") };
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
        let is_told = is_subject && self.tells_of_past(at);
        let who = if has_we { Some(again.to_owned()) } else { self.people.we(is_told) };
        if let Some(who) = who {
            self.put(at, format!("{who}{rest}"));
        }
        true
    }

    /// Whether the verb behind a subject is in the past, and no talk between those who speak.
    fn tells_of_past(&self, at: usize) -> bool {
        let mut place = at + 1;
        while place < self.words.len() && self.is_passed(place) {
            place += 1;
        }
        let lower = self.lower(place);
        let base = verbs::lemma(lower).unwrap_or_default();
        verbs::is_past(lower) && !matches!(base, "talk" | "speak" | "chat" | "meet" | "discuss")
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
            _ => return,
        };
        if let Some(who) = self.people.third(pronoun) {
            let who = who.to_owned();
            self.put(at, format!("{who}{rest}"));
        }
    }

    /// Puts the verb behind a subject into the third person.
    fn agree(&mut self, at: usize) {
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
        let is_present = verbs::lemma(&word.lower) != Some("be") && third != "was";
        self.put(place, third);
        if is_present {
            self.agree_further(place);
        }
    }

    /// Puts the verbs joined by `and` into the third person too: "I sing and dance".
    fn agree_further(&mut self, from: usize) {
        for at in from + 1..self.words.len().saturating_sub(1) {
            let lower = self.lower(at);
            if lower == "to" || is_modal(lower) || lower.starts_with("i'") || lower == "i" {
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

/// The form for `she` of a verb as it stands behind `I` or `you`; none if it stays.
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
        "gonna" => "is gonna",
        _ => "",
    };
    if !fixed.is_empty() {
        return Some(fixed.to_owned());
    }
    let Some(verb) = verbs::verb(lower) else {
        // Right behind `I` a word that nothing else is known of is a verb.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let mut people = People::new(Some("Nora"), &["Nora", "Tom"]);
        people.read(text, &words(text));
        rewrite(text, &people, None).text
    }

    #[test]
    fn names_stand_in_place_of_pronouns() {
        for (text, expected) in [
            ("I love pottery", "Nora loves pottery"),
            ("I really do love it", "Nora really does love it"),
            ("I'm happy and I've got two cats", "Nora is happy and Nora has got two cats"),
            ("I went home", "Nora went home"),
            ("I don't eat meat", "Nora doesn't eat meat"),
            ("I'd been there", "Nora had been there"),
            ("I'd love to go", "Nora would love to go"),
            ("my sister helps me", "Nora's sister helps Nora"),
            ("you are kind, your cat too", "Tom is kind, Tom's cat too"),
            ("we're moving to our house", "Nora and Tom are moving to their house"),
            ("if you want it, you can", "If you want it, Tom can"),
            ("I sing and dance with friends", "Nora sings and dances with friends"),
            ("I want to sing and dance", "Nora wants to sing and dance"),
            ("I read \"I am not you\" once", "Nora read \"I am not you\" once"),
            ("I study and I try hard", "Nora studies and Nora tries hard"),
            ("went to Rome", "Nora went to Rome"),
            ("can't wait for it", "Nora can't wait for it"),
            ("excited to see Rome", "Nora is excited to see Rome"),
            ("should I go", "Should Nora go"),
            ("", ""),
        ] {
            assert_eq!(rewritten(text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_sentence_is_about() {
        let people = People::new(Some("Nora"), &["Nora", "Tom"]);
        for (text, expected) in [
            ("last Friday, I ran", Subject::Me),
            ("my kids love it", Subject::Me),
            ("your shop is nice", Subject::You),
            ("the shop is nice", Subject::Named),
            ("it was fun", Subject::Open),
            ("keep it up", Subject::Command),
            ("took a trip", Subject::Me),
            ("hiking calms me", Subject::Named),
        ] {
            assert_eq!(rewrite(text, &people, None).subject, expected, "{text}");
        }
    }
}
