//! The last day of a job: "my last day at Miele was on Friday", "today was my last day at work".
//!
//! A last day without a date ends nothing.

use engraph_storage::graph::Interval;

use super::{Finder, tails};
use crate::memory::extract::rules::dates::is_month;
use crate::time::{DAY, is_weekday};

/// So many words stand at most before whose last day it was: "on Friday 9 May 2023 was".
const DATE_WORDS: usize = 6;
/// A date of more days than a month names no last one.
const DAYS_MAX: i64 = 31;

impl<'a> Finder<'a> {
    /// Reads "last day" at a word.
    pub(super) fn of_last_day(&mut self, at: usize) {
        let is_owned = at.checked_sub(1).is_some_and(|owner| self.has_possessive(owner));
        if !is_owned || (self.lower(at), self.lower(at + 1)) != ("last", "day") {
            return;
        }
        let owner = self.speakers.iter().find_map(|one| {
            let start =
                (at.saturating_sub(3)..at).find(|start| self.named(*start, one) == Some(at))?;
            Some((*one, start))
        });
        let Some(((person, start), (employer, end))) = owner.zip(self.work(at + 2)) else { return };
        let is_told = match self.lower(end) {
            "was" | "is" => self.begins_clause(person, start) && self.is_rest_of_date(end + 1),
            _ => self.is_end(end) && self.is_date_before(start),
        };
        if !is_told {
            return;
        }
        self.date_anew(start);
        let Interval { from, to } = self.valid;
        if to != Interval::MAX && to.saturating_sub(from) <= DAYS_MAX * DAY {
            self.end_at(person, "works_at", employer, to);
        }
    }

    /// The employer of "at Miele", none of "at work", and the place after it.
    fn work(&self, at: usize) -> Option<(Option<&'a str>, usize)> {
        match (self.lower(at), self.lower(at + 1), self.lower(at + 2)) {
            ("at" | "of", "work", _) => Some((None, at + 2)),
            ("at" | "on" | "of", "the", "job") => Some((None, at + 3)),
            ("at" | "with", ..) => {
                let name =
                    tails::noun(self.text, self.words, at + 1, "").filter(|name| name.is_name)?;
                Some((Some(name.text), name.end))
            }
            _ => None,
        }
    }

    /// Whether no more than a date stands from a place on up to the end of the clause.
    fn is_rest_of_date(&self, at: usize) -> bool {
        let end =
            (at + 1..self.words.len()).find(|end| self.is_end(*end)).unwrap_or(self.words.len());
        at < end && (at..end).all(|at| is_of_date(self.lower(at)))
    }

    /// Whether no more than a date and "was" stand before a place: "on 9 May 2023 was".
    fn is_date_before(&self, at: usize) -> bool {
        let before: Vec<usize> = self.clause_before(at).collect();
        let Some((verb, date)) = before.split_first() else { return false };
        matches!(self.lower(*verb), "was" | "is")
            && (1..=DATE_WORDS).contains(&date.len())
            && date.iter().all(|at| is_of_date(self.lower(*at)))
    }
}

/// Whether a date may have the word: what date it is, the clause says as a whole.
fn is_of_date(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || is_month(word)
        || is_weekday(word)
        || matches!(
            word,
            "on" | "in" | "the" | "of" | "this" | "last" | "week" | "today" | "yesterday"
        )
}
