//! What a change says of what lasts: who moved to Porto lives there since, who quit a job at a place works
//! there no more.
//!
//! It says so of names alone, and surely only of one that is known as a place: people move to Teams and to
//! Sales too. What is not sure ends nothing.

use engraph_storage::graph::{Intent, Interval};

use super::group::Tense;
use super::{Finder, Group};
use crate::memory::extract::rules::relations::{ROWS, Row};
use crate::memory::extract::rules::tails::{self, Tail};
use crate::memory::validate::UNCERTAIN;

impl Finder<'_> {
    /// Tells where somebody lives, or has lived, who moved; and where to, behind where from.
    pub(super) fn of_move(&mut self, person: &str, row: &Row, tail: &Tail<'_>, group: Group) {
        let begin = self.begun().from;
        let valid = match row.relation {
            "moved_to" => Some(self.begun()),
            "moved_from" => Interval::new(Interval::MIN, begin),
            _ => return,
        };
        let is_told = tail.is_name && self.has_moved(group) && !self.is_for_a_time(tail.end);
        if let Some(valid) = valid.filter(|_| is_told) {
            let is_place = self.known.find(tail.text).is_some_and(|known| known.label == "Place");
            let before = self.found.len();
            self.tell_of(person, ("lives_in", "Place", tail), valid, Intent::Evolution);
            for fact in self.found[before..].iter_mut().filter(|_| !is_place) {
                fact.confidence = fact.confidence.min(UNCERTAIN);
            }
        }
        if row.relation == "moved_from" && self.lower(tail.end) == "to" {
            self.of_rows(person, row.verb, ROWS, tail.end, group);
        }
    }

    /// Whether it has happened, and nothing says that it was before something else.
    fn has_moved(&self, group: Group) -> bool {
        let said = self.statement.said.to_lowercase();
        let had = (group.main.saturating_sub(2)..group.main).any(|at| self.lower(at) == "had");
        group.tense != Tense::Present
            && !had
            && !group.is_ended
            && !group.is_former
            && ![" when ", "dream", " before ", " came back"].iter().any(|word| said.contains(word))
    }

    /// "for two months", "but I came back".
    fn is_for_a_time(&self, at: usize) -> bool {
        matches!(self.lower(at), "for" | "but" | "until" | "during" | "as")
    }

    /// "quit my job at Forno Labs", "was fired from Forno Labs".
    pub(super) fn of_leaving(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        if group.is_negated || group.is_modal {
            return;
        }
        let link = match (verb, self.lower(at)) {
            ("quit" | "leave", _) => self.own_job(person, at),
            ("be" | "get", "fired") => Some(at + 1),
            ("be" | "get", "laid") if self.lower(at + 1) == "off" => Some(at + 2),
            ("lay", "off") if group.is_passive => Some(at + 1),
            _ => None,
        };
        let Some(link) = link.filter(|link| matches!(self.lower(*link), "at" | "from")) else {
            return;
        };
        let tail = tails::noun(self.text, self.words, link + 1, person);
        if let Some(tail) = tail.filter(|tail| tail.is_name) {
            let place = ("works_at", "Organisation", &tail);
            self.tell_of(person, place, self.over(), Intent::Evolution);
        }
    }

    /// The place behind "Nora's job" or "the job" at a place.
    fn own_job(&self, person: &str, at: usize) -> Option<usize> {
        let own = self.named(at, person).filter(|end| self.has_possessive(end - 1));
        let job = match self.lower(at) {
            "my" | "our" | "the" => at + 1,
            _ => own?,
        };
        (self.lower(job) == "job").then_some(job + 1)
    }
}
