//! Facts of what somebody has: relatives, pets, a birthday, a favourite.
//!
//! A relative without a name gives no fact.

use super::{Finder, Group, Tail, gap, lexicon, tails};
use crate::memory::extract::rules::people;
use crate::retrieval::words::Word;

impl<'a> Finder<'a> {
    /// What stands behind a person's name in the possessive.
    pub(super) fn of_possession(&mut self, person: &str, at: usize) {
        let group = Group::default();
        let (lower, next) = (self.lower(at), self.lower(at + 1));
        if matches!(lower, "favorite" | "favourite") {
            self.of_favourite(person, at + 1);
            return;
        }
        if lower == "birthday" && matches!(next, "is" | "was") && self.lower(at + 2) == "on" {
            self.of_birthday(person, at + 3);
            return;
        }
        let kin = people::kin_at(self.text, self.words, at);
        let (relation, label, place) = match kin {
            Some((kin, place)) => match kin.relation {
                Some(relation) => (relation, "Person", place),
                None => return,
            },
            None => match (at..at + 2).find(|place| lexicon::is_pet(self.lower(*place))) {
                Some(place) => ("has_pet", "Animal", place),
                None => return,
            },
        };
        if let Some(tail) = self.name_of(place) {
            self.tell(person, relation, label, &tail, group, None);
        }
    }

    /// "son Max", "son, Max,", "son is named Max", "friend's name is Ann".
    fn name_of(&self, place: usize) -> Option<Tail<'a>> {
        let next = self.words.get(place + 1)?;
        let between = gap(self.text, &self.words[place], next);
        let start = match (between, next.lower.as_str(), self.lower(place + 2)) {
            (" ", "is" | "was", "named" | "called") => place + 3,
            (" ", "named" | "called", _) => place + 2,
            (" " | ", ", _, _) if next.is_capital => place + 1,
            _ => return None,
        };
        let is_speaker =
            |word: &Word| self.speakers.iter().any(|name| name.to_lowercase() == word.lower);
        let name = tails::noun(self.text, self.words, start, "")?;
        let is_time = lexicon::is_time_noun(&name.last.lower);
        let is_short = name.text.split(' ').count() <= 3;
        let is_open = between != ", "
            || self
                .words
                .get(name.end)
                .is_none_or(|after| gap(self.text, name.last, after).starts_with([',', '.']));
        let is_named = name.is_name && is_short && !is_time && is_open;
        (is_named && !self.words.get(start).is_some_and(is_speaker)).then_some(name)
    }

    /// "favorite book is Dune".
    fn of_favourite(&mut self, person: &str, at: usize) {
        let is_verb = |place: &usize| matches!(self.lower(*place), "is" | "are" | "was");
        let Some(verb) = (at + 1..at + 4).find(is_verb) else { return };
        if self.is_denied_behind(verb) {
            return;
        }
        if let Some(tail) = tails::noun(self.text, self.words, verb + 1, person) {
            self.tell(person, "likes", "Thing", &tail, Group::default(), None);
        }
    }

    fn of_birthday(&mut self, person: &str, at: usize) {
        let end = (at..(at + 3).min(self.words.len()))
            .take_while(|place| {
                let lower = self.lower(*place);
                // A year is not part of a birthday.
                let is_year = lower.len() == 4 && lower.bytes().all(|byte| byte.is_ascii_digit());
                let is_day = lower.starts_with(|c: char| c.is_ascii_digit()) && !is_year;
                lexicon::is_time_noun(lower) || is_day
            })
            .count();
        let (Some(first), Some(last)) =
            (self.words.get(at), self.words.get((at + end).saturating_sub(1)))
        else {
            return;
        };
        if end > 0
            && let Some(text) = self.text.get(first.range.start..last.range.end)
        {
            let tail = Tail { end: at + end, ..Tail::word(text, last, at) };
            self.tell(person, "birthday", "Date", &tail, Group::default(), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::Rules;
    use crate::memory::extract::{Entity, Extractor, KnownEntities, SourceTurn};

    struct Graph;

    impl KnownEntities for Graph {
        fn find(&self, _: &str) -> Option<Entity> {
            None
        }
    }

    fn facts(text: &str) -> Vec<String> {
        let turn = SourceTurn {
            speaker: Some("Nora".to_owned()),
            text: text.to_owned(),
            ..SourceTurn::default()
        };
        let made = Rules.extract(&[turn], &Graph).expect("extracts");
        made.facts.iter().map(|fact| format!("{} {}", fact.relation, fact.tail.name)).collect()
    }

    #[test]
    fn what_somebody_has() {
        for (text, expected) in [
            ("My older son Ben paints walls", "has_child Ben"),
            ("My brother, Paul, sings in a choir", "has_sibling Paul"),
            ("My sister is named Eva and paints", "has_sibling Eva"),
            ("My dog Rex is in Rome", "has_pet Rex"),
            ("My favourite food is pasta", "likes pasta"),
            ("My birthday is on 3 May 1990", "birthday 3 May"),
        ] {
            assert_eq!(facts(text), [expected], "{text}");
        }
        for text in [
            "My sister paints walls",
            "My sister's friend Eva paints walls",
            "My sister, Paul paints walls",
            "My favourite is here",
            "My birthday was fun",
            "My favourite book was never Dune",
            "My favourite book is no novel",
            "I have no dog named Rex",
            "I have hardly ever had a dog named Rex",
        ] {
            assert_eq!(facts(text), <[&str; 0]>::default(), "{text}");
        }
    }
}
