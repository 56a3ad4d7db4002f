//! Facts of several whom somebody has by name: "two kids, Emma and Jack", "dogs named Rex and Bella".
//!
//! A list that is not all names, or does not end what is said, tells nothing; one name alone is left to the other
//! patterns.

use engraph_storage::graph::Intent;

use super::parting::Had;
use super::{Finder, Tail, gap, lexicon, verbs};
use crate::memory::extract::rules::sentences::is_joined;
use crate::memory::extract::rules::{dates, kinds};
use crate::memory::places;
use crate::time;

/// So many names are read of a list.
const NAMES_MAX: usize = 8;

/// Words before a noun of several: "two little kids".
const WORDS_BEFORE_MAX: usize = 3;

/// Several, as a sentence names them.
struct Several {
    relation: &'static str,
    label: &'static str,
    /// The place of the noun.
    place: usize,
}

impl<'a> Finder<'a> {
    /// "two kids, Emma and Jack", "dogs named Rex and Bella", behind who has them; whether it is so.
    pub(super) fn of_several_had(&mut self, person: &str, at: usize) -> bool {
        let start = |several: &Several| {
            let next = self.words.get(several.place + 1)?;
            let mark = gap(self.text, &self.words[several.place], next);
            match (mark, next.lower.as_str()) {
                (" ", "named" | "called") => Some(several.place + 2),
                (", " | ": " | " (", _) => Some(several.place + 1),
                _ => None,
            }
        };
        let found = self.several_at(at).and_then(|one| Some((start(&one)?, one)));
        self.of_names(person, found)
    }

    /// "kids are called Emma and Jack", "kids are Emma and Jack", "children's names are Emma and Jack", behind a
    /// possessive; whether it is so.
    pub(super) fn of_several_called(&mut self, person: &str, at: usize) -> bool {
        let start = |several: &Several| {
            let place = several.place;
            let words = (self.lower(place + 1), self.lower(place + 2));
            match words {
                ("are", "named" | "called") => Some(place + 3),
                ("names", "are") if self.is_owner(place) => Some(place + 3),
                ("are", _) => Some(place + 2),
                _ => None,
            }
        };
        let found = self.several_at(at).and_then(|one| Some((start(&one)?, one)));
        // "My kids are Virgo and Leo."
        let is_kind = found.as_ref().is_some_and(|(start, several)| {
            let are_called = *start > several.place + 2;
            let mut names = self.words[*start..].iter();
            !are_called && names.any(|word| word.is_capital && kinds::is_trait(&word.lower))
        });
        self.of_names(person, found.filter(|_| !is_kind))
    }

    /// "two kids, Emma and Jack, love tea", "sisters Emma and Ida live in Rome", behind a possessive: who they are is
    /// told on the way. Whether it is so.
    pub(super) fn of_several_on_the_way(&mut self, person: &str, at: usize) -> bool {
        let Some(Several { relation, label, place }) = self.several_at(at) else { return false };
        let Some(next) = self.words.get(place + 1) else { return false };
        let mark = gap(self.text, &self.words[place], next);
        let names = self.names_from(place + 1).unwrap_or_default();
        let Some(last) = names.last() else { return false };
        let Some(behind) = self.words.get(last.end) else { return false };
        let is_verb = verbs::verb(&behind.lower)
            .is_some_and(|verb| verb.forms.base || verb.forms.past || verb.base == "be");
        let closes = gap(self.text, last.last, behind) == mark && matches!(mark, " " | ", ");
        let is_told = is_verb && closes && !behind.is_capital;
        for name in names.iter().filter(|_| is_told) {
            self.tell_of(person, (relation, label, name), self.lasting(), Intent::Fact);
        }
        is_told
    }

    /// "dogs Rex and Bella died", behind a possessive: each of them is had no more. Whether it is so.
    pub(super) fn of_several_gone(&mut self, person: &str, owner: std::ops::Range<usize>) -> bool {
        let Some(Several { relation, label, place }) = self.several_at(owner.end) else {
            return false;
        };
        let names = self.names_from(place + 1).unwrap_or_default();
        let Some(end) = names.last().map(|name| name.end) else { return false };
        let had = Had { person, relation, owner, place, end };
        let is_gone = label == "Animal" && self.is_over(&had);
        for name in names.iter().filter(|_| is_gone) {
            self.tell_of(person, (relation, label, name), self.over(), Intent::Evolution);
        }
        is_gone
    }

    /// Tells of the names that begin at a place, if they are all that follows.
    fn of_names(&mut self, person: &str, found: Option<(usize, Several)>) -> bool {
        let Some((start, Several { relation, label, .. })) = found else { return false };
        let names = self.names_from(start).unwrap_or_default();
        let is_all = names.last().is_some_and(|last| self.ends_sentence(last.end));
        for name in names.iter().filter(|_| is_all) {
            self.tell_of(person, (relation, label, name), self.lasting(), Intent::Fact);
        }
        is_all
    }

    /// "kids'", "children's".
    pub(super) fn is_owner(&self, at: usize) -> bool {
        let behind = self.words.get(at).and_then(|word| self.text.get(word.range.end..));
        behind.is_some_and(|behind| behind.starts_with(['\'', '’']))
    }

    /// Several that a person may have, at a place.
    fn several_at(&self, at: usize) -> Option<Several> {
        let is_before = |at: &usize| {
            let lower = self.lower(*at);
            lexicon::is_adjective(lower)
                || lexicon::is_determiner(lower)
                || matches!(lower, "little" | "young" | "older" | "younger" | "best")
        };
        let place = at + (at..at + WORDS_BEFORE_MAX).take_while(is_before).count();
        let noun = self.lower(place);
        match lexicon::kin_of_several(noun) {
            Some(relation) => Some(Several { relation, label: "Person", place }),
            None if lexicon::is_pet(noun) && noun.ends_with('s') => {
                Some(Several { relation: "has_pet", label: "Animal", place })
            }
            None => None,
        }
    }

    /// The names of a list that begins at a place, two or more: "Tim, Tom and Max".
    fn names_from(&self, start: usize) -> Option<Vec<Tail<'a>>> {
        let mut names: Vec<Tail<'a>> = Vec::new();
        let mut at = start;
        while names.len() < NAMES_MAX {
            let name = self.name_at(at).filter(|name| self.is_ones(name))?;
            at = name.end;
            names.push(name);
            let Some(next) = self.words.get(at) else { break };
            match (gap(self.text, &self.words[at - 1], next), next.lower.as_str()) {
                (" " | ", ", "and") => at += 1,
                (", ", _) if next.is_capital => {}
                _ => break,
            }
        }
        (names.len() > 1).then_some(names)
    }

    /// The words with capitals that stand together at a place.
    fn name_at(&self, at: usize) -> Option<Tail<'a>> {
        let is_of_name = |place: &usize| {
            let word = &self.words[*place];
            word.is_capital && (*place == at || is_joined(self.text, &self.words[*place - 1], word))
        };
        let end = at + (at..self.words.len()).take_while(is_of_name).count();
        let (first, last) = (self.words.get(at)?, self.words.get(end.checked_sub(1)?)?);
        let text = self.text.get(first.range.start..last.range.end).filter(|_| end > at)?;
        Some(Tail { text, is_name: true, is_definite: false, last, end })
    }

    /// Whether a name can be that of a person or a pet here: no place, day, faith or people, and nobody who speaks.
    fn is_ones(&self, name: &Tail<'_>) -> bool {
        let lower = name.text.to_lowercase();
        let is_kind = time::is_weekday(&lower)
            || dates::is_month(&lower)
            || kinds::being(&lower).is_some()
            || kinds::language(&lower).is_some()
            || lexicon::kin(&lower).is_some();
        let is_speaker =
            self.speakers.iter().any(|speaker| speaker.eq_ignore_ascii_case(name.text));
        let is_short = name.text.split(' ').count() <= 3;
        is_short && !is_kind && !is_speaker && !places::is_place(name.text)
    }
}
