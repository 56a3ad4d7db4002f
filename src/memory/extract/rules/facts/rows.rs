//! Facts by the rows of the table: a verb, a link word and the tail behind them.
//!
//! What a row does not fit gives no fact here; nothing is guessed of it.

use super::{Finder, Group, gap};
use super::{lexicon, tails, verbs};
use crate::memory::extract::rules::relations::{Kind, ROWS, Row};
use crate::memory::extract::rules::tails::Tail;

impl<'a> Finder<'a> {
    /// The first row that fits what stands at a place.
    pub(super) fn of_rows(
        &mut self,
        person: &str,
        verb: &str,
        rows: &[Row],
        at: usize,
        group: Group,
    ) {
        for row in rows.iter().filter(|row| row.verb == verb) {
            let is_on = group.is_ongoing || self.is_to_come(group);
            let Some(relation) = row.relation(is_on) else { continue };
            let Some(start) = self.behind_link(row.link, at) else { continue };
            let Some(tail) = self.tail(person, row, start) else { continue };
            let is_cut = !gap(self.text, &self.words[start - 1], &self.words[start])
                .trim_matches(['"', '“', ' '])
                .is_empty();
            if is_cut {
                continue;
            }
            let label = label(row, &tail);
            let tail = self.named_behind(&tail).unwrap_or(tail);
            let end = tail.end;
            self.tell(person, relation, label, &tail, group, row.intent());
            self.of_move(person, row, &tail, group);
            self.of_list(person, row, relation, end, group);
            if row.verb == "work" && self.lower(end) == "as" {
                self.of_rows(person, "work", ROWS, end, group);
            }
            return;
        }
    }

    /// What a row takes as its tail at a place.
    fn tail(&self, person: &str, row: &Row, at: usize) -> Option<Tail<'a>> {
        let words = &self.words[..self.next_speaker(at)];
        let tail = match tails::noun(self.text, words, at, person) {
            Some(tail) if self.is_bare_number(&tail) => return None,
            Some(tail) => tail,
            None if row.label == "Thing" || row.label == "Activity" => {
                tails::doing(self.text, self.words, at)?
            }
            None => return None,
        };
        let is_event = lexicon::is_event(&tail.last.lower) || tail.last.lower == "trip";
        let fits = match row.kind {
            Kind::Named => tail.is_name,
            Kind::Event => is_event,
            Kind::Indefinite => {
                tail.is_name
                    || matches!(self.lower(at), "a" | "an" | "some" | "new" | "two" | "three")
            }
            Kind::Any | Kind::Change => true,
        };
        let may_point = is_event || matches!(row.label, "Place" | "Event") || row.verb == "play";
        let is_pointed = tail.is_definite || row.is_liking() && self.is_pointed_at(at, &tail);
        let is_caused = row.verb == "make" && self.is_base(tail.end);
        (fits && !is_caused && (!is_pointed || may_point)).then_some(tail)
    }

    /// The first place behind another at which the name of a speaker stands, or the end: "when Nora
    /// worked at IBM Nora hated the food".
    fn next_speaker(&self, at: usize) -> usize {
        let is_named = |place: &usize| {
            let named = |speaker: &&str| self.named(*place, speaker);
            self.speakers.iter().find_map(named).is_some_and(|end| {
                !self.has_possessive(end - 1) && verbs::verb(self.lower(end)).is_some()
            })
        };
        (at + 1..self.words.len()).find(is_named).unwrap_or(self.words.len())
    }

    /// "9", and "95" of "95,000".
    fn is_bare_number(&self, tail: &Tail<'_>) -> bool {
        let rest = self.text.get(tail.last.range.end..).unwrap_or_default();
        let mut behind = rest.chars();
        let goes_on = matches!(behind.next(), Some(',' | '.'))
            && behind.next().is_some_and(|c| c.is_ascii_digit());
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        is_digits(tail.text) || goes_on && is_digits(&tail.last.lower)
    }

    /// "the blue vase", "all those leaves": something that is seen or was spoken of.
    fn is_pointed_at(&self, at: usize, tail: &Tail<'_>) -> bool {
        let is_pointer =
            |word: &str| matches!(word, "the" | "this" | "that" | "these" | "those" | "all");
        is_pointer(self.lower(at)) && !tail.is_name
    }

    /// "pottery and painting": what is joined by `and`, if it ends there.
    fn of_list(&mut self, person: &str, row: &Row, relation: &str, at: usize, group: Group) {
        let is_of_another = matches!(self.lower(at + 1), "his" | "her" | "its" | "their");
        if self.lower(at) != "and" || row.kind != Kind::Any || is_of_another {
            return;
        }
        let Some(tail) = self.tail(person, row, at + 1) else { return };
        let is_last = self.words.get(tail.end).is_none_or(|next| {
            !gap(self.text, tail.last, next).trim().is_empty() || next.lower == "with"
        });
        let first = self.lower(at + 1);
        let is_verb = verbs::verb(first).is_some_and(|verb| !verb.forms.gerund);
        if is_last && !is_verb {
            self.tell(person, relation, label(row, &tail), &tail, group, row.intent());
        }
    }

    /// The place behind the words of a link.
    fn behind_link(&self, link: &str, at: usize) -> Option<usize> {
        let mut place = at;
        for part in link.split(' ').filter(|part| !part.is_empty()) {
            if self.lower(place) != part {
                return None;
            }
            place += 1;
        }
        (place < self.words.len()).then_some(place)
    }

    /// "a puppy named Max": the name.
    pub(super) fn named_behind(&self, tail: &Tail<'a>) -> Option<Tail<'a>> {
        let is_called = matches!(self.lower(tail.end), "named" | "called");
        let named =
            is_called.then(|| tails::noun(self.text, self.words, tail.end + 1, "")).flatten()?;
        named.is_name.then_some(named)
    }
}

/// The label of a tail: what its words say, or else what the relation does.
fn label(row: &Row, tail: &Tail<'_>) -> &'static str {
    let is_place = row.label == "Place" || row.label == "Organisation";
    let last = tail.last.lower.as_str();
    if is_place && lexicon::is_event(last) {
        return "Event";
    }
    if lexicon::is_pet(last) && row.label == "Thing" {
        return "Animal";
    }
    let first = tail.text.split(' ').next().unwrap_or_default();
    let is_doing =
        [first, last].iter().any(|word| verbs::verb(word).is_some_and(|verb| verb.forms.gerund));
    if is_doing && row.label == "Thing" && !tail.is_name { "Activity" } else { row.label }
}
