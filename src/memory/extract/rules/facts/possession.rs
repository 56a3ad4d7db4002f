//! Facts of what somebody has: relatives, pets, a birthday, a favourite.
//!
//! A relative without a name gives no fact.

use engraph_storage::graph::Intent;

use super::group::{is_denial, own_tense};
use super::{Finder, Group, Tail, gap, lexicon, tails, verbs};
use crate::memory::extract::rules::{people, sentences};
use crate::retrieval::words::Word;

/// Relations that nothing ends.
const KIN: &[&str] = &["has_child", "has_parent", "has_sibling", "has_grandparent"];

/// Words before a possession that may tell that it is one no more.
const PARTING_WORDS: usize = 6;

impl<'a> Finder<'a> {
    /// What stands behind a person's name in the possessive.
    pub(super) fn of_possession(&mut self, person: &str, at: usize) {
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
            // "my old dog", and not "my sister's dog".
            None => match (at..at + if self.has_possessive(at) { 1 } else { 2 })
                .find(|place| lexicon::is_pet(self.lower(*place)))
            {
                Some(place) => ("has_pet", "Animal", place),
                None => return,
            },
        };
        let Some(tail) = self.name_of(place) else { return };
        // Who has died is still a father.
        let is_over = !KIN.contains(&relation) && self.is_over(at, place, tail.end);
        let valid = match self.group(tail.end) {
            _ if is_over => self.over(),
            Some(group) if !group.is_negated && self.lower(group.main + 1) == "born" => {
                self.begun()
            }
            _ => self.lasting(),
        };
        let intent = if is_over { Intent::Evolution } else { Intent::Fact };
        self.tell_of(person, (relation, label, &tail), valid, intent);
    }

    /// Whether somebody is gone: by what stands before them ("my late husband"), between them and
    /// the name ("my dog was named"), behind them ("my cat Minka died") or in front of all of it ("I
    /// sold my horse").
    fn is_over(&self, at: usize, place: usize, end: usize) -> bool {
        let is_late = (at..place).any(|at| matches!(self.lower(at), "late" | "former" | "ex"));
        let was_named = self.lower(place + 1) == "was";
        let verb = self.verb_behind(end);
        let is_gone =
            verb == "die" || matches!((verb, self.behind(end)), ("pass", "away") | ("run", "away"));
        is_late || was_named || is_gone || self.is_parted(at, end)
    }

    /// The verb of the clause that goes on at a place.
    fn verb_behind(&self, at: usize) -> &'static str {
        let group = self.group(at).filter(|group| !group.is_negated && !group.is_modal);
        group.and_then(|group| verbs::lemma(self.lower(group.main))).unwrap_or_default()
    }

    /// The word behind that verb.
    fn behind(&self, at: usize) -> &'a str {
        self.group(at).map_or("", |group| self.lower(group.main + 1))
    }

    /// "gave my dog Rex away", "broke up with my boyfriend Luis".
    fn is_parted(&self, at: usize, end: usize) -> bool {
        let Some(owner) = at.checked_sub(1) else { return false };
        let clause = (0..owner).rev().take_while(|place| {
            sentences::is_joined(self.text, &self.words[*place], &self.words[place + 1])
        });
        let mut before: Vec<&str> = clause.take(PARTING_WORDS).map(|at| self.lower(at)).collect();
        before.reverse();
        let is_denied = before.iter().any(|word| word.ends_with("n't") || is_denial(word));
        let parts = |pair: &[&str]| match pair {
            ["broke" | "broken" | "split", "up"] => true,
            [.., "divorced" | "buried" | "sold" | "lost"] => true,
            [.., "gave" | "given"] => self.lower(end) == "away" || before.contains(&"away"),
            _ => false,
        };
        !is_denied && (1..=before.len()).any(|end| parts(&before[end.saturating_sub(2)..end]))
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
            let group =
                Group { main: verb, tense: own_tense(self.lower(verb)), ..Group::default() };
            self.tell(person, "likes", "Thing", &tail, group, None);
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
            self.tell_of(person, ("birthday", "Date", &tail), self.lasting(), Intent::Fact);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::{extract, interval};

    fn facts(text: &str) -> Vec<String> {
        let facts = extract(&format!("Nora: {text}")).facts.into_iter();
        facts.map(|fact| format!("{} {}", fact.relation, fact.tail.name)).collect()
    }

    #[test]
    fn who_is_gone_was_had_until_then() {
        let told = |text: &str| {
            let mut facts = extract(&format!("Nora: {text}")).facts.into_iter();
            let fact = facts.find(|fact| fact.relation != "lost").expect("a fact");
            let (valid, intent) = (interval(fact.valid), fact.intent.name());
            format!("{} {} {valid} {intent}", fact.relation, fact.tail.name)
        };
        let now = "2023-05-08T13:56:00Z";
        for (text, expected) in [
            ("My son Max was born in 2020.", "has_child Max 2020-01-01..∞ fact".to_owned()),
            ("My sister Anna came by last week.", format!("has_sibling Anna {now}..∞ fact")),
            ("My son Leo turned seven on Monday.", format!("has_child Leo {now}..∞ fact")),
            ("My birthday is on 3 June.", format!("birthday 3 June {now}..∞ fact")),
            ("My cat Minka died last month.", "has_pet Minka -∞..2023-05-01 evolution".to_owned()),
            ("My cat Minka didn't die.", format!("has_pet Minka {now}..∞ fact")),
            ("My late husband Tom loved tea.", format!("married_to Tom -∞..{now} evolution")),
            ("My late father Otto worked.", format!("has_parent Otto {now}..∞ fact")),
            ("My former boss Ann was strict.", format!("works_for Ann -∞..{now} evolution")),
            ("My dog was named Rex.", format!("has_pet Rex -∞..{now} evolution")),
            ("My dog Rex ran away in 2021.", "has_pet Rex -∞..2022-01-01 evolution".to_owned()),
            ("I gave my dog Rex away.", format!("has_pet Rex -∞..{now} evolution")),
            (
                "I broke up with my boyfriend Luis in March.",
                "partner_of Luis -∞..2023-04-01 evolution".to_owned(),
            ),
            ("I never lost my dog Rex.", format!("has_pet Rex {now}..∞ fact")),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
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
            "My sister's dog is called Rex",
            "I have hardly ever had a dog named Rex",
        ] {
            assert_eq!(facts(text), <[&str; 0]>::default(), "{text}");
        }
    }
}
