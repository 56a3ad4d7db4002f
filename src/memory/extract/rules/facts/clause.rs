//! Where a clause begins that is told as true, and where the same subject has a second verb.
//!
//! Behind a word of supposing, or where another one speaks, nothing is told.

use super::group::{Group, Tense};
use super::other_world::FICTION;
use super::{Finder, gap, lexicon, rewrite, rows, verbs};
use crate::memory::extract::rules::sentences::is_joined;
use crate::retrieval::words::words;

impl Finder<'_> {
    /// Whether a clause that is told as true, by the person that it is about, begins at a word.
    pub(super) fn begins_clause(&self, person: &str, at: usize) -> bool {
        let has = |what: fn(&str) -> bool| self.clause_before(at).any(|at| what(self.lower(at)));
        if has(|word| SUPPOSING.contains(&word)) {
            return false;
        }
        let is_first = self.clause_before(at).next().is_none();
        let before = at.checked_sub(1).map_or("", |at| self.lower(at));
        if before == "that" && !self.is_known(at - 1) || is_first && self.is_cited(person, at) {
            return false;
        }
        let is_thought = THOUGHTS.contains(&before);
        if is_thought && !self.ends_name(person, at - 1)
            || (is_thought || before == "that") && has(lexicon::denies)
        {
            return false;
        }
        let is_dated = before.starts_with(|c: char| c.is_ascii_digit());
        if is_first {
            return true;
        }
        if self.is_exception(person, at) || self.is_own_object(person, at) {
            return false;
        }
        // "Ugh Nora got fired."
        let is_sigh =
            lexicon::is_interjection(before) && self.clause_before(at - 1).next().is_none();
        let is_led = is_dated || is_sigh || CLAUSE_LEADS.contains(&before);
        is_led || lexicon::is_adverb(before)
    }

    /// "All my friends but Anna are vegan": no clause begins behind what is left out of many.
    pub(super) fn is_exception(&self, person: &str, at: usize) -> bool {
        const MANY: [&str; 8] =
            ["all", "any", "anyone", "every", "everybody", "everyone", "nobody", "none"];
        let but = at.checked_sub(1).filter(|but| self.lower(*but) == "but");
        let is_many = |but| self.clause_before(but).any(|at| MANY.contains(&self.lower(at)));
        !self.speakers.contains(&person)
            && but.is_some_and(|but| is_many(but) && !self.has_told(but))
    }

    /// Whether a verb, or what leads one, stands in the same clause before a place; "Nora's brother" parts no clause.
    fn has_told(&self, at: usize) -> bool {
        let goes_on = |place: &usize| {
            let (word, next) = (&self.words[*place], &self.words[place + 1]);
            is_joined(self.text, word, next) || word.has_possessive(self.text)
        };
        (0..at).rev().take_while(goes_on).any(|at| {
            let lower = self.lower(at);
            let forms = verbs::verb(lower).map(|verb| verb.forms);
            let is_verb = forms.is_some_and(|forms| forms.past || forms.third);
            let is_told = is_verb || matches!(lower, "who" | "that" | "which");
            is_told || rewrite::is_modal(lower) || lower.ends_with("n't")
        })
    }

    /// Whether a name behind a word stands for `me`, which no clause begins with: "the owner before me had a dog", "who
    /// raised Tom and me lives here"; but "my wife and me live here".
    fn is_own_object(&self, person: &str, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |at| self.lower(at));
        let may_be = match before {
            "and" => self.has_told(at - 1),
            "but" | "before" | "after" | "than" => true,
            _ => false,
        };
        let is_said = || self.statement.said.to_lowercase().contains(" me");
        if !may_be || !self.speakers.contains(&person) || !is_said() {
            return false;
        }
        let said = words(&self.statement.said);
        let follows = |own: &[&str]| {
            said.windows(2)
                .any(|two| two[0].lower == before && own.contains(&two[1].lower.as_str()))
        };
        follows(&["me"]) && !follows(&["i", "i'm", "i've", "i'd", "i'll", "im", "ive"])
    }

    /// The words of the same clause before a place, the last one first.
    pub(super) fn clause_before(&self, at: usize) -> impl Iterator<Item = usize> {
        (0..at).rev().take_while(|place| {
            let after = &self.words[place + 1];
            is_joined(self.text, &self.words[*place], after)
        })
    }

    /// Whether what stands at a place is of a play or a game: "in the school play".
    pub(super) fn is_played(&self, at: usize) -> bool {
        (at..at + 4).any(|at| FICTION.contains(&self.lower(at)))
    }

    /// Whether what stands before "that" makes it a fact: "is glad that", "knows that".
    fn is_known(&self, that: usize) -> bool {
        let is_before =
            |at: &usize| !lexicon::is_adverb(self.lower(*at)) || self.lower(*at) == "now";
        let before = (0..that).rev().find(is_before).map_or("", |at| self.lower(at));
        let is_fact = FACTIVES.contains(&verbs::lemma(before).unwrap_or(before));
        is_fact || lexicon::is_feeling(before) && !FEARS.contains(&before)
    }

    /// Whether a mark before a word begins what somebody else said or wrote: "she wrote: Nora lives".
    fn is_cited(&self, person: &str, at: usize) -> bool {
        let Some(last) = at.checked_sub(1) else { return false };
        let mark = gap(self.text, &self.words[last], &self.words[at]);
        let is_own = self.named(0, person).is_some_and(|end| !self.has_possessive(end - 1));
        let is_saying =
            |at: usize| SAYINGS.contains(&self.lower(at)) && !self.ends_name(person, at);
        match mark.chars().find(|c| !c.is_whitespace()) {
            Some(':') => {
                !is_own && !self.ends_name(person, at) && !NEWS.contains(&self.lower(last))
            }
            Some(',') => (at.saturating_sub(4)..at).any(is_saying),
            _ => mark.ends_with(['"', '“', '\'', '‘']),
        }
    }

    /// Whether a clause that begins at a word tells what is yet to be: "when I live in Rome".
    pub(super) fn is_awaited(&self, at: usize, group: Group) -> bool {
        let before = at.checked_sub(1).map_or("", |at| self.lower(at));
        AWAITED.contains(&before) && group.tense != Tense::Past
    }

    /// Whether a person's name ends before a place, and is not the owner of what follows.
    fn ends_name(&self, person: &str, at: usize) -> bool {
        let count = words(person).len();
        at.checked_sub(count).is_some_and(|start| {
            self.named(start, person) == Some(at) && !self.has_possessive(at - 1)
        })
    }

    /// The second verb of the same subject: "lives in Rome and works at Fiat". It must agree with the
    /// first, which is not denied, and have no other subject between and a plain object after.
    pub(super) fn next_verb(&self, group: Group) -> Option<usize> {
        (!group.is_negated && !group.is_modal).then_some(())?;
        let agrees = |at: usize| match (verbs::verb(self.lower(at)), group.tense) {
            (Some(verb), Tense::Present) => verb.forms.third,
            (Some(verb), Tense::Past) => verb.forms.past && !verb.forms.base,
            _ => false,
        };
        let goes_on = |at: &usize| {
            let word = self.words.get(*at);
            word.is_some_and(|word| !rows::is_cut(self.text, &self.words[at - 1], word))
        };
        let mut clause = (group.main + 1..self.words.len())
            .take_while(goes_on)
            .take_while(|at| !self.may_have_subject(*at));
        let verb = clause.find(|at| matches!(self.lower(*at), "and" | "but"))? + 1;
        (goes_on(&verb) && agrees(verb) && self.is_object(verb + 1)).then_some(verb)
    }

    /// Whether a word is of a clause with a subject of its own: "a guy who lives in Rome".
    pub(super) fn may_have_subject(&self, at: usize) -> bool {
        let lower = self.lower(at);
        let forms = verbs::verb(lower).map(|verb| verb.forms);
        matches!(lower, "who" | "that" | "which" | "where" | "what" | "how")
            || is_supposed(lower)
            || forms.is_some_and(|forms| forms.third || forms.past)
    }

    /// Whether what may be a verb has at a place what only a verb has: "works at", "baked a cake", but
    /// "baked goods".
    fn is_object(&self, at: usize) -> bool {
        let lower = self.lower(at);
        self.words.get(at).is_some_and(|word| word.is_capital)
            || rewrite::is_preposition(lower)
            || lexicon::is_determiner(lower)
    }
}

/// Whether nothing after a word is told as true: `if`, `hopes`, `thinks`.
pub(super) fn is_supposed(word: &str) -> bool {
    SUPPOSING.contains(&word) || THOUGHTS.contains(&word)
}

/// Words before a clause that make it no fact.
const SUPPOSING: &[&str] = &[
    "if",
    "unless",
    "whether",
    "hope",
    "hopes",
    "wish",
    "wishes",
    "imagine",
    "imagines",
    "like",
    "dreams",
    "pretend",
    "suppose",
    "wondering",
    "wonders",
    "asked",
    "told",
    "wants",
    "likes",
    "doubts",
    "rumour",
    "rumor",
    "claim",
    "claims",
    "claimed",
    "wrote",
    "joked",
    "lied",
    "hopefully",
    "ideally",
    "supposedly",
    "allegedly",
    "reportedly",
    "presumably",
    "theoretically",
    "preferably",
];

/// Words of thinking before a name: what somebody thinks of another is not told as true.
const THOUGHTS: &[&str] = &["thinks", "guesses", "believes", "supposes"];

/// Words before "that" after which a fact is told.
const FACTIVES: &[&str] = &[
    "love", "hate", "know", "remember", "forget", "regret", "realise", "realize", "notice", "fact",
    "now", "sure", "certain",
];

/// Feelings before "that" that what follows may be so.
const FEARS: &[&str] =
    &["afraid", "anxious", "hopeful", "nervous", "scared", "terrified", "worried"];

/// Verbs after which, with a comma, stands what somebody said.
const SAYINGS: &[&str] =
    &["told", "said", "says", "asked", "wrote", "replied", "texted", "shouted"];

/// Words before a colon after which somebody tells of themself.
const NEWS: &[&str] = &[
    "correction",
    "edit",
    "fact",
    "important",
    "reminder",
    "warning",
    "update",
    "news",
    "note",
    "ps",
    "fyi",
    "btw",
    "truth",
    "thing",
    "summary",
    "short",
    "intro",
    "answer",
    "situation",
    "status",
    "background",
    "context",
    "bio",
    "info",
];

/// Words before a clause whose verb in the present tells of what is yet to be.
const AWAITED: &[&str] = &["when", "whenever", "once", "until", "till", "before", "after"];

/// Words before a name that begins a clause.
const CLAUSE_LEADS: &[&str] = &[
    "and", "but", "because", "so", "when", "since", "while", "as", "before", "after", "where",
    "then", "though", "although", "until", "'cause", "cause", "that", "which", "plus", "whenever",
    "thinks", "guesses", "believes", "supposes",
];
