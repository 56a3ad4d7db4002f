//! Facts of what somebody works as, where and in what, as they come to it: promotions, new jobs, titles, fields.
//!
//! What was turned down, was for a time or is of a game tells nothing surely.

use engraph_storage::graph::{Intent, Interval};

use super::rows::is_unreal;
use super::{Finder, Group, Tail, Tense, lexicon, tails};
use crate::memory::extract::rules::kinds;
use crate::memory::extract::rules::relations::{ROWS, STATES};
use crate::memory::places;
use crate::retrieval::words::says;

impl Finder<'_> {
    /// "became a nurse", "went vegan"; whether it tells something.
    pub(super) fn of_becoming(&mut self, person: &str, at: usize, group: Group) -> bool {
        let before = self.found.len();
        if group.tense == Tense::Present && !group.is_perfect {
            return false;
        }
        self.of_being(person, at, group);
        if matches!(self.lower(at), "a" | "an")
            && let Some(tail) = tails::noun(self.text, self.words, at, person)
            && lexicon::is_occupation(&tail.last.lower)
            && !self.is_judged(at, &tail)
            && self.is_all(tail.end)
            && !self.is_given_up()
        {
            let intent = Some(Intent::Evolution);
            self.tell(person, "works_as", "Occupation", &tail, group, intent);
        }
        self.found.len() > before
    }

    /// "got promoted to manager", "got hired by Forno Labs", "got diagnosed with asthma", "got married".
    pub(super) fn of_getting(&mut self, person: &str, at: usize, group: Group) {
        match self.lower(at) {
            _ if group.tense == Tense::Present => {}
            "married" | "engaged" if self.lower(at + 1) == "to" => {
                self.of_rows(person, self.lower(at), STATES, at + 1, group);
            }
            "married" | "engaged" | "divorced" => self.of_wedding(person, at, group),
            "promoted" => self.of_promotion(person, at + 1, group),
            "hired" => self.of_hiring(person, at + 1, group),
            "diagnosed" => self.of_diagnosis(person, at + 1, group),
            _ => {}
        }
    }

    /// "promoted to senior engineer".
    pub(super) fn of_promotion(&mut self, person: &str, at: usize, group: Group) {
        if self.lower(at) != "to" || self.is_given_up() {
            return;
        }
        let Some(tail) = tails::noun(self.text, self.words, at + 1, person) else { return };
        let last = tail.last.lower.as_str();
        let is_job =
            lexicon::is_occupation(last) || kinds::is_rank(last) || kinds::title(last).is_some();
        let is_at = matches!(self.lower(tail.end), "at" | "of" | "in");
        if is_job && (self.is_all(tail.end) || is_at) && !self.is_played(tail.end) {
            self.tell(person, "works_as", "Occupation", &tail, group, Some(Intent::Evolution));
        }
    }

    /// "hired by Forno Labs", and not "hired by Anna to paint".
    pub(super) fn of_hiring(&mut self, person: &str, at: usize, group: Group) {
        let is_being = group.main.checked_sub(1).is_some_and(|at| self.lower(at) == "being");
        if !matches!(self.lower(at), "by" | "at") || is_being || self.is_given_up() {
            return;
        }
        let Some(tail) = tails::noun(self.text, self.words, at + 1, person) else { return };
        let is_person = self.is_known_as(tail.text, "Person");
        let is_job = self.lower(tail.end) == "as";
        if tail.is_name && !is_person && !is_unreal(&tail) && (is_job || self.is_all(tail.end)) {
            self.tell(person, "works_at", "Organisation", &tail, group, None);
            if is_job {
                self.of_rows(person, "work", ROWS, tail.end, group);
            }
        }
    }

    /// "started a new job as a nurse at Forno Labs"; whether it tells something.
    pub(super) fn of_new_job(&mut self, person: &str, verb: &str, at: usize, group: Group) -> bool {
        let is_taken =
            matches!(verb, "start" | "begin" | "get" | "land" | "take" | "accept" | "find");
        let is_done = group.tense != Tense::Present || group.is_perfect;
        let is_elsewhen = says(&self.statement.said, &["when", "before", "until"]);
        let is_now = self.valid.to == Interval::MAX || self.is_of_days();
        if !is_taken || !is_done || !is_now || is_elsewhen || self.is_given_up() {
            return false;
        }
        let is_before = |at: &usize| {
            lexicon::is_determiner(self.lower(*at)) || matches!(self.lower(*at), "new" | "first")
        };
        let job = at + (at..at + 3).take_while(is_before).count();
        let is_job = matches!(self.lower(job), "job" | "position");
        if !is_job || self.lower(job + 1) != "as" {
            return false;
        }
        let Some(tail) = tails::noun(self.text, self.words, job + 2, person) else { return false };
        let is_at = self.lower(tail.end) == "at";
        let firm = is_at.then(|| tails::noun(self.text, self.words, tail.end + 1, "")).flatten();
        let firm = firm.filter(|firm| firm.is_name && self.is_all(firm.end));
        let is_told =
            lexicon::is_occupation(&tail.last.lower) && (firm.is_some() || self.is_all(tail.end));
        if is_told {
            let valid = self.begun();
            let job = ("works_as", "Occupation", &tail);
            self.tell_of(person, job, valid, Intent::Evolution);
            if let Some(firm) = firm {
                let firm = ("works_at", "Organisation", &firm);
                self.tell_of(person, firm, valid, Intent::Evolution);
            }
        }
        is_told
    }

    /// Whether a sentence says that what it tells of was turned down, or is over: "but I declined".
    fn is_given_up(&self) -> bool {
        says(&self.statement.said, GIVEN_UP)
    }

    /// "joined Forno Labs as a designer".
    pub(super) fn of_joining(&mut self, person: &str, firm: &Tail<'_>, group: Group) {
        let at = firm.end + 1;
        let is_article = matches!(self.lower(at), "a" | "an" | "their");
        if self.lower(firm.end) != "as" || !firm.is_name || !is_article || self.is_given_up() {
            return;
        }
        let job = tails::noun(self.text, self.words, at, person);
        if let Some(job) = job.filter(|job| lexicon::is_occupation(&job.last.lower)) {
            self.tell(person, "works_as", "Occupation", &job, group, None);
            self.tell(person, "works_at", "Organisation", firm, group, None);
        }
    }

    /// "the CTO of Forno Labs", "founder at Forno Labs".
    pub(super) fn of_title(&mut self, person: &str, at: usize, group: Group) {
        let at = at + usize::from(matches!(self.lower(at), "the" | "a" | "an"));
        let Some((title, word)) = kinds::title(self.lower(at)).zip(self.words.get(at)) else {
            return self.of_post(person, at, group);
        };
        let is_of = matches!(self.lower(at + 1), "of" | "at");
        let firm = is_of.then(|| tails::noun(self.text, self.words, at + 2, person)).flatten();
        let firm = firm.filter(|firm| firm.is_name && self.is_all(firm.end));
        let is_alone = !is_of && self.is_all(at + 1) && !self.has_possessive(at);
        if firm.is_none() && !is_alone {
            return;
        }
        let end = firm.as_ref().map_or(at + 1, |firm| firm.end);
        let tail = Tail { end, ..Tail::word(title, word, at) };
        self.tell(person, "works_as", "Occupation", &tail, group, None);
        // Who is no longer the CTO may work there still.
        if let Some(firm) = firm.filter(|_| !group.is_ended) {
            self.tell(person, "works_at", "Organisation", &firm, group, None);
        }
    }

    /// "the tech lead at Forno Labs": a rank or an occupation that somebody has there.
    fn of_post(&mut self, person: &str, at: usize, group: Group) {
        let is_the = at.checked_sub(1).is_some_and(|before| self.lower(before) == "the");
        let Some(post) = tails::noun(self.text, self.words, at, person) else { return };
        let last = post.last.lower.as_str();
        let is_post = lexicon::is_occupation(last) || kinds::is_rank(last);
        if !is_the && !kinds::is_rank(last) || !is_post || self.is_judged(at, &post) {
            return;
        }
        let is_at = self.lower(post.end) == "at" && !self.is_played(post.end);
        let firm = is_at.then(|| tails::noun(self.text, self.words, post.end + 1, "")).flatten();
        let Some(firm) = firm.filter(|firm| firm.is_name && self.is_all(firm.end)) else { return };
        self.tell(person, "works_as", "Occupation", &Tail { end: firm.end, ..post }, group, None);
        if !group.is_ended {
            self.tell(person, "works_at", "Organisation", &firm, group, None);
        }
    }

    /// "works in finance", "works in Rome".
    pub(super) fn of_field(&mut self, person: &str, at: usize, group: Group) {
        if self.lower(at) != "in" || self.is_to_come(group) {
            return;
        }
        let at = at + 1 + usize::from(self.lower(at + 1) == "the");
        if let Some((name, tail)) = self.longest(at, kinds::field) {
            let is_kind = matches!(self.lower(tail.end), "industry" | "sector" | "field");
            let behind = tail.end + usize::from(is_kind);
            // "works in it" is no information technology.
            let is_word = name != "IT" || tail.text == "IT";
            let is_at = matches!(self.lower(behind), "at" | "for" | "in");
            if is_word && (is_at || self.is_all(behind)) {
                let tail = Tail { text: name, end: behind, ..tail };
                self.tell(person, "works_in", "Field", &tail, group, None);
                self.of_rows(person, "work", ROWS, behind, group);
            }
            return;
        }
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        let known = self.is_known_as(tail.text, "Place");
        let small = places::with_capitals(tail.text).is_some();
        let is_place = known || small || places::is_place(tail.text);
        if is_place && self.is_all(tail.end) {
            let before = self.found.len();
            self.tell(person, "works_in", "Place", &tail, group, None);
            if group.tense == Tense::Present && self.is_of_days() {
                self.doubt(before);
            }
        }
    }

    /// "drives a blue Honda Civic".
    pub(super) fn of_vehicle(&mut self, person: &str, at: usize, group: Group) {
        if !matches!(self.lower(at), "a" | "an") || group.tense != Tense::Present {
            return;
        }
        let is_colour = |at: &usize| {
            kinds::is_colour(self.lower(*at)) || lexicon::is_adjective(self.lower(*at))
        };
        let start = at + 1 + (at + 1..self.words.len()).take_while(is_colour).count();
        let tail = tails::noun(self.text, self.words, start, person);
        let is_vehicle = |tail: &Tail<'_>| tail.is_name || kinds::is_vehicle(&tail.last.lower);
        if let Some(tail) = tail.filter(|tail| is_vehicle(tail) && self.is_all(tail.end)) {
            self.tell(person, "drives", "Thing", &tail, group, None);
        }
    }
}

/// What says that a job was not taken, or not for long.
const GIVEN_UP: &[&str] = &[
    "turned it down",
    "turn it down",
    "decline",
    "declined",
    "left",
    "quit",
    "fired",
    "laid off",
    "resigned",
    "for a day",
    "in the game",
    "in my game",
];
