//! Facts of what somebody is, feels and has: "is a nurse", "is 31 years old", "has two cats".
//!
//! What is only a judgement ("a terrible cook") or a manner of speaking gives no fact.

use engraph_storage::graph::Intent;

use super::possession::{ASIDES, UNENDING};
use super::profile::LOOSELY;
use super::{Finder, Group, Tail, Tense, gap, lexicon, tails, verbs};
use crate::memory::extract::rules::people;
use crate::memory::extract::rules::relations::{ROWS, STATES};
use crate::memory::extract::rules::statements::ABOUT_YOU;
use crate::retrieval::words::says;

/// Years that somebody is old, at most.
const AGE_MAX: u8 = 120;
/// Years that somebody is old who speaks, at least.
const SPEAKER_AGE_MIN: u8 = 6;
/// Words of what somebody is before another thing that they are, at most.
const STATE_WORDS_MAX: usize = 6;

impl Finder<'_> {
    /// What stands after `is`.
    pub(super) fn of_state(&mut self, person: &str, at: usize, group: Group) {
        let start = self.next_of_group(at);
        if self.lower(start).starts_with(|c: char| c.is_ascii_digit()) {
            self.of_age(person, start, group);
            self.of_height(person, start, group);
            if self.lower(start + 1) == "and" {
                self.of_being(person, start + 2, group);
            }
            return;
        }
        self.of_feeling(person, at, group);
        self.of_being(person, at, group);
        self.of_title(person, start, group);
        self.of_intolerance(person, start, group);
        if self.lower(start) == "born" {
            self.of_birth(person, start + 1);
            if (self.lower(start + 1), self.lower(start + 2)) == ("and", "raised") {
                self.of_rows(person, "born", STATES, start + 3, group);
                self.of_rows(person, "raised", STATES, start + 3, group);
            }
        }
        if self.lower(start) == "fluent" && self.lower(start + 1) == "in" {
            self.of_languages(person, start + 2, group);
        }
        let is_back = (at..=start).any(|at| matches!(self.lower(at), "back" | "home" | "just"));
        if is_back && self.lower(start) == "from" {
            return;
        }
        let fan = (start..start + 3).find(|place| self.lower(*place) == "fan").unwrap_or(start);
        self.of_rows(person, self.lower(fan), STATES, fan + 1, group);
        // "is vegetarian and allergic to nuts".
        let is_joined_to = |at: &usize| {
            self.lower(*at) == "allergic" && matches!(self.lower(at - 1), "and" | "but")
        };
        if let Some(at) = (start + 1..start + STATE_WORDS_MAX).find(is_joined_to) {
            self.of_rows(person, "allergic", STATES, at + 1, group);
        }
        if !matches!(self.lower(start), "a" | "an") {
            return;
        }
        // "a former nurse".
        let is_former = matches!(self.lower(start + 1), "former" | "retired" | "ex");
        let group = Group { is_former: group.is_former || is_former, ..group };
        let start = start + usize::from(is_former);
        let noun = start + usize::from(is_former);
        if let Some(tail) = tails::noun(self.text, self.words, noun, person)
            && lexicon::is_occupation(&tail.last.lower)
            && !self.is_judged(start, &tail)
            && (!is_former || tail.end == self.words.len() && self.named(0, person).is_some())
        {
            self.tell(person, "works_as", "Occupation", &tail, group, None);
            if self.lower(tail.end) == "at" && !group.is_ended {
                let verb = if tail.last.lower == "student" { "study" } else { "work" };
                self.of_rows(person, verb, ROWS, tail.end, group);
            }
        }
    }

    /// Whether a word of an occupation tells of none: "a terrible cook", "an artist at heart", "a nurse
    /// in the school play".
    pub(super) fn is_judged(&self, at: usize, tail: &Tail<'_>) -> bool {
        let is_praised =
            |at| lexicon::is_praise(self.lower(at)) || JUDGED.contains(&self.lower(at));
        let behind = (tail.last.lower.as_str(), self.lower(tail.end), self.lower(tail.end + 1));
        let is_loose =
            at.checked_sub(1).is_some_and(|before| LOOSELY.contains(&self.lower(before)));
        (at..tail.end).any(is_praised)
            || is_loose
            || self.lower(tail.end) == "in" && self.is_played(tail.end)
            || matches!(behind, (_, "at", "heart") | (_, "in", "training") | ("student", "of", _))
    }

    /// "is so proud": the feeling ends the clause or has its reason after.
    pub(super) fn of_feeling(&mut self, person: &str, at: usize, group: Group) {
        let place = self.next_of_group(at);
        let Some(word) = self.words.get(place).filter(|word| lexicon::is_feeling(&word.lower))
        else {
            return;
        };
        let is_polite = says(&self.statement.said, ABOUT_YOU);
        // "I'm afraid I can't come".
        let is_regret =
            word.lower == "afraid" && !matches!(self.lower(place + 1), "" | "of" | "to");
        // "I'm happy to help!"
        let is_service = self.lower(place + 1) == "to"
            && matches!(self.lower(place + 2), "help" | "assist" | "hear" | "answer");
        if is_polite || is_service || is_regret || FAINT.contains(&word.lower.as_str()) {
            return;
        }
        let Some(text) = self.text.get(word.range.clone()) else { return };
        let tail = Tail::word(text, word, place);
        self.tell(person, "feels", "Feeling", &tail, group, None);
    }

    /// "is 34 and vegan", "is 34, living in Rome".
    fn is_listed_age(&self, at: usize) -> bool {
        let next = self.words.get(at).zip(self.words.get(at + 1));
        next.is_some_and(|(age, next)| match gap(self.text, age, next) {
            " " if next.lower == "and" => !matches!(self.lower(at + 2), "a" | "half"),
            " " => matches!(next.lower.as_str(), "but" | "now"),
            mark => mark.starts_with(','),
        })
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        let lower = self.lower(at);
        (1..=3).contains(&lower.len()) && lower.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// "is 31 years old", "turned 31".
    pub(super) fn of_age(&mut self, person: &str, at: usize, group: Group) {
        // "I'm 25, no wait, 26."
        let meant = self.after_correction(at + 1);
        let meant = meant.filter(|meant| self.is_number(*meant) && self.ends_sentence(meant + 1));
        self.is_corrected |= meant.is_some();
        let at = meant.unwrap_or(at);
        let is_told =
            matches!((self.lower(at + 1), self.lower(at + 2)), ("years", "old") | ("year", "old"))
                || self.ends_sentence(at + 1)
                || ASIDES.contains(&self.lower(at + 1)) && self.ends_sentence(at + 2)
                || self.is_listed_age(at)
                || self.lower(group.main).starts_with("turn");
        let is_length = self.lower(at + 1) == "miles" || self.lower(at + 1) == "percent";
        // "when I was 8", "since I was 12".
        let is_then = group.tense == Tense::Past
            && (group.main.saturating_sub(3)..group.main)
                .any(|at| matches!(self.lower(at), "when" | "since" | "until" | "till"));
        // "BST so I'm +1 now."
        let is_signed = self
            .words
            .get(at)
            .is_some_and(|word| self.text[..word.range.start].ends_with(['+', '-']));
        let is_told =
            is_told && !is_length && !is_then && !is_signed && self.may_be_age(person, at);
        let Some(word) = self.words.get(at).filter(|_| is_told && self.is_number(at)) else {
            return;
        };
        let Some(text) = self.text.get(word.range.clone()) else { return };
        let tail = Tail::word(text, word, at);
        self.tell(person, "age", "Number", &tail, group, None);
    }

    /// Whether a number may be somebody's age: not "210" pounds, and nobody who writes is two.
    fn may_be_age(&self, person: &str, at: usize) -> bool {
        let years = self.lower(at).parse::<u8>().unwrap_or(u8::MAX);
        let least = if self.speakers.contains(&person) { SPEAKER_AGE_MIN } else { 0 };
        // "I was 300 lbs, now I'm 210."
        let is_unit = |at: usize| matches!(self.lower(at), "kg" | "kilos" | "lbs" | "pounds");
        let is_weight = (0..at).any(is_unit) && !self.lower(at + 1).starts_with("year");
        (least..=AGE_MAX).contains(&years) && !is_weight
    }

    /// "has a dog named Max", "has two cats".
    pub(super) fn of_having(&mut self, person: &str, at: usize, group: Group) {
        let at = if self.lower(at) == "got" { at + 1 } else { at };
        let is_had = !group.is_ended && !group.is_former && group.tense != Tense::Past;
        if is_had
            && verbs::lemma(self.lower(group.main)) == Some("have")
            && self.of_several_had(person, at)
        {
            return;
        }
        self.of_kin(person, at, group);
        self.of_condition(person, at, group);
        self.of_getting(person, at, group);
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        let is_other = (at..tail.end).any(|at| NO_PETS.contains(&self.lower(at)));
        // "has cats on Nora's mind".
        let is_thought = (tail.end..tail.end + 3).any(|at| self.lower(at) == "mind");
        if !lexicon::is_pet(&tail.last.lower) || tail.is_name || is_other || is_thought {
            return;
        }
        let tail = self.named_after(&tail).unwrap_or(tail);
        self.tell(person, "has_pet", "Animal", &tail, group, None);
    }

    /// "has a son named Leo".
    fn of_kin(&mut self, person: &str, at: usize, group: Group) {
        let Some((kin, place)) = people::kin_at(self.text, self.words, at) else { return };
        let is_named = matches!(self.lower(place + 1), "named" | "called");
        let name = tails::noun(self.text, self.words, place + 2, "");
        let is_had = group.is_ended || group.is_former || group.tense == Tense::Past;
        if let (true, Some(relation), Some(name)) = (is_named, kin.relation, name)
            && name.is_name
            && (!is_had || UNENDING.contains(&relation))
        {
            self.tell_of(person, (relation, "Person", &name), self.lasting(), Intent::Fact);
        }
    }
}

/// What makes of a dog none: "a hot dog", "zero pets".
const NO_PETS: &[&str] = &["hot", "stuffed", "toy", "plush", "imaginary", "zero"];

/// What says how well somebody does something, beside praise.
const JUDGED: &[&str] = &[
    "terrible",
    "awful",
    "lousy",
    "horrible",
    "decent",
    "poor",
    "fast",
    "slow",
    "amateur",
    "armchair",
    "aspiring",
    "backseat",
    "budding",
    "future",
    "hobby",
    "jobless",
    "unemployed",
    "wannabe",
];

/// Feelings that are said out of habit, or are none.
const FAINT: &[&str] = &[
    "glad",
    "ready",
    "determined",
    "passionate",
    "lucky",
    "blessed",
    "down",
    "lost",
    "curious",
    "eager",
    "confident",
    "honored",
    "honoured",
    "content",
    "pleased",
    "pumped",
    "stoked",
];
