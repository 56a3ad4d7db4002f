//! The main verb of a clause, and what its auxiliaries say of it.
//!
//! Reads words alone: whether a clause gives a fact is decided elsewhere.

use super::{Finder, gap, lexicon, verbs};
use crate::memory::extract::rules::sentences::is_joined;

/// The main verb of a clause and what its auxiliaries say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) main: usize,
    pub(super) is_negated: bool,
    /// `can`, `would`, `might`.
    pub(super) is_modal: bool,
    /// `will`, `is going to`.
    pub(super) is_future: bool,
    /// `used to`.
    pub(super) is_former: bool,
    /// `was given`.
    pub(super) is_passive: bool,
}

impl Finder<'_> {
    /// Whether a clause that is told as true begins at a word.
    pub(super) fn begins_clause(&self, at: usize) -> bool {
        let mut place = at;
        while place > 0 && is_joined(self.text, &self.words[place - 1], &self.words[place]) {
            let lower = self.lower(place - 1);
            if SUPPOSED.contains(&lower) {
                return false;
            }
            place -= 1;
        }
        let before = at.checked_sub(1).map_or("", |at| self.lower(at));
        let is_dated = before.starts_with(|c: char| c.is_ascii_digit());
        place == at || is_dated || LINKS.contains(&before) || lexicon::is_adverb(before)
    }

    /// The place behind `and her kids`.
    pub(super) fn behind_company(&self, at: usize) -> usize {
        if self.lower(at) != "and" {
            return at;
        }
        let is_verb = |place: &usize| {
            verbs::verb(self.lower(*place)).is_some_and(|verb| {
                !verb.forms.gerund
                    && (verb.forms.past
                        || verb.base == "be"
                        || verb.base == "have"
                        || verb.forms.base)
            })
        };
        (at + 1..(at + 7).min(self.words.len())).find(is_verb).unwrap_or(at)
    }

    /// The main verb from a word on.
    pub(super) fn group(&self, at: usize) -> Option<Group> {
        let mut group = Group::default();
        let mut place = at;
        let mut is_be = false;
        while place < self.words.len() {
            if place > at
                && !gap(self.text, &self.words[place - 1], &self.words[place]).trim().is_empty()
            {
                return None;
            }
            let lower = self.lower(place);
            let next = self.next_of_group(place + 1);
            let next_forms = verbs::verb(self.lower(next)).map(|verb| verb.forms);
            match lower {
                "not" | "never" | "hardly" | "barely" => group.is_negated = true,
                "no" if self.lower(place + 1) == "longer" => group.is_negated = true,
                "will" | "gonna" | "might" | "may" => group.is_future = true,
                "can" | "could" | "would" | "should" | "must" | "cannot" => {
                    group.is_modal = true;
                }
                "used" if self.lower(place + 1) == "to" => {
                    group.is_former = true;
                    place += 1;
                }
                "going" if is_be && self.lower(place + 1) == "to" && self.is_base(place + 2) => {
                    group.is_future = true;
                    place += 1;
                }
                _ if lower.ends_with("n't") => {
                    group.is_negated = true;
                    group.is_modal |= matches!(lower, "can't" | "couldn't" | "won't" | "wouldn't");
                    is_be |= matches!(lower, "isn't" | "wasn't" | "aren't" | "weren't");
                }
                "is" | "are" | "was" | "were" | "been" | "being"
                    if next_forms.is_some_and(|f| f.gerund || f.participle)
                        && !lexicon::is_feeling(self.lower(next)) =>
                {
                    group.is_passive = next_forms.is_some_and(|f| !f.gerund);
                    is_be = true;
                }
                "is" | "are" if self.lower(next) == "gonna" => {}
                "has" | "have" | "had"
                    if self.lower(next) == "been" || next_forms.is_some_and(|f| f.participle) => {}
                "does" | "did" | "do" if next_forms.is_some_and(|f| f.base) => {}
                _ if lexicon::is_adverb(lower) || lower == "both" || lower == "all" => {}
                _ => {
                    group.main = place;
                    return Some(group);
                }
            }
            place += 1;
        }
        None
    }

    pub(super) fn next_of_group(&self, at: usize) -> usize {
        let is_light = |place: &usize| {
            lexicon::is_adverb(self.lower(*place)) || matches!(self.lower(*place), "not" | "so")
        };
        at + (at..self.words.len()).take_while(is_light).count()
    }

    fn is_base(&self, at: usize) -> bool {
        verbs::verb(self.lower(at)).is_some_and(|verb| verb.forms.base)
    }
}

/// Words before a clause that make it no fact.
const SUPPOSED: &[&str] = &[
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
];

/// Words before a name that begins a clause.
const LINKS: &[&str] = &[
    "and", "but", "because", "so", "when", "since", "while", "as", "before", "after", "where",
    "then", "though", "although", "until", "'cause", "cause", "that", "which", "plus", "whenever",
    "thinks", "guesses", "believes", "supposes",
];
