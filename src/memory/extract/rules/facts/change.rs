//! What a change says of what lasts: who moved to Rome lives there since, who quit a job at a place works
//! there no more.
//!
//! It says so of names alone: a bigger flat is no place to look somebody up.

use engraph_storage::graph::{Intent, Interval};

use super::{Finder, Group};
use crate::memory::extract::rules::relations::{ROWS, Row};
use crate::memory::extract::rules::tails::{self, Tail};

impl Finder<'_> {
    /// Tells where somebody lives, or has lived, who moved; and where to, behind where from.
    pub(super) fn of_move(&mut self, person: &str, row: &Row, tail: &Tail<'_>, group: Group) {
        let valid = match row.relation {
            "moved_to" => self.begun(),
            "moved_from" => {
                let begin = self.begun().from;
                Interval::new(Interval::MIN, begin).unwrap_or(self.statement.valid)
            }
            _ => return,
        };
        if group.is_ended || group.is_former {
            return;
        }
        if tail.is_name {
            self.tell_of(person, ("lives_in", "Place", tail), valid, Intent::Evolution);
        }
        let is_from = row.relation == "moved_from";
        if is_from && self.lower(tail.end) == "to" {
            self.of_rows(person, row.verb, ROWS, tail.end, group);
        }
    }

    /// "quit my job at Forno Labs", "resigned from Forno Labs", "was fired from Forno Labs".
    pub(super) fn of_leaving(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        if group.is_negated || group.is_modal {
            return;
        }
        let link = match (verb, self.lower(at)) {
            ("quit" | "leave", _) => (at..at + 5).find(|place| self.lower(*place) == "job"),
            ("be" | "get", "fired") => Some(at),
            ("be" | "get", "laid") => Some(at + 1),
            ("lay", "off") if group.is_passive => Some(at),
            ("resign", "from") => at.checked_sub(1),
            _ => None,
        };
        let Some(link) = link.map(|place| place + 1) else { return };
        if !matches!(self.lower(link), "at" | "with" | "from") {
            return;
        }
        let tail = tails::noun(self.text, self.words, link + 1, person);
        if let Some(tail) = tail.filter(|tail| tail.is_name) {
            let place = ("works_at", "Organisation", &tail);
            self.tell_of(person, place, self.over(), Intent::Evolution);
        }
    }
}
