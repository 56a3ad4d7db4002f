//! Facts of several whom somebody has by name: "two kids, Emma and Jack", "dogs named Rex and Bella".
//!
//! One name alone is left to the other patterns, and a list that is not all names tells nothing.

use engraph_storage::graph::Intent;

use super::{Finder, Tail, gap, lexicon};
use crate::memory::extract::rules::sentences::is_joined;
use crate::memory::places;

/// So many names are read of a list.
const NAMES_MAX: usize = 8;

/// Words before a noun of several: "two little kids".
const WORDS_BEFORE_MAX: usize = 3;

impl<'a> Finder<'a> {
    /// What begins at a place, if it is several and their names; whether it is.
    pub(super) fn of_several(&mut self, person: &str, at: usize) -> bool {
        let Some((relation, label, place)) = self.several_at(at) else { return false };
        let names = self.names_after(place).unwrap_or_default();
        for name in &names {
            self.tell_of(person, (relation, label, name), self.lasting(), Intent::Fact);
        }
        !names.is_empty()
    }

    /// The relation of a person to several, the label of these, and the place of the noun.
    fn several_at(&self, at: usize) -> Option<(&'static str, &'static str, usize)> {
        let is_before = |at: &usize| {
            let lower = self.lower(*at);
            lexicon::is_adjective(lower)
                || lexicon::is_determiner(lower)
                || matches!(lower, "little" | "young" | "older" | "younger" | "best")
        };
        let place = at + (at..at + WORDS_BEFORE_MAX).take_while(is_before).count();
        let noun = self.lower(place);
        match lexicon::kin_of_several(noun) {
            Some(relation) => Some((relation, "Person", place)),
            None if lexicon::is_pet(noun) && noun.ends_with('s') => {
                Some(("has_pet", "Animal", place))
            }
            None => None,
        }
    }

    /// The names after a noun, two or more: "kids, Emma and Jack", "sons are called Tim, Tom and Max".
    fn names_after(&self, place: usize) -> Option<Vec<Tail<'a>>> {
        let next = self.words.get(place + 1)?;
        let mark = gap(self.text, &self.words[place], next);
        let start = match (mark, next.lower.as_str(), self.lower(place + 2)) {
            (" ", "are", "named" | "called") => place + 3,
            (" ", "are" | "named" | "called", _) => place + 2,
            (" " | ", " | ": " | " (", _, _) if next.is_capital => place + 1,
            _ => return None,
        };
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

    /// Whether a name can be that of a person or a pet here: no place, and nobody who speaks.
    fn is_ones(&self, name: &Tail<'_>) -> bool {
        let is_speaker =
            self.speakers.iter().any(|speaker| speaker.eq_ignore_ascii_case(name.text));
        let is_short = name.text.split(' ').count() <= 3;
        is_short && !is_speaker && !places::is_place(name.text)
    }
}
