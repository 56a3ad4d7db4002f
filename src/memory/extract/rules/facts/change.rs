//! What a change says of what lasts: who moved to Porto lives there since, who quit a job at a place works
//! there no more.
//!
//! It says so of names alone, and surely only of one that is known as a place: people move to Teams and to
//! Sales too. What is not sure ends nothing.

use engraph_storage::graph::{Intent, Interval};

use super::group::Tense;
use super::rows::is_unreal;
use super::{Finder, Group};
use crate::memory::extract::rules::kinds;
use crate::memory::extract::rules::relations::{ROWS, Row};
use crate::memory::extract::rules::tails::{self, Tail};
use crate::memory::places;
use crate::retrieval::words::says;
use crate::time::DAY;

/// The shortest month, in microseconds.
const MONTH: i64 = 28 * DAY;

/// What tells that a move was before another, or was none.
const ELSEWHEN: &[&str] = &[
    "when",
    "before",
    "came back",
    "and back",
    "dreamed",
    "dreamt",
    "dreaming",
    "my dream i",
    "a dream i",
];

/// Days that are told by another one, and are no other time.
const DAYS_BEFORE: &[&str] =
    &["day before yesterday", "before last", "a day before", "a week before"];

/// A relation that has ended, and the label of its tail.
type Ended = (&'static str, &'static str);

impl Finder<'_> {
    /// Tells where somebody lives, or has lived, who moved; and where to, after where from.
    pub(super) fn of_move(&mut self, person: &str, row: &Row, tail: &Tail<'_>, group: Group) {
        let begin = self.begun().from;
        let valid = match row.relation {
            "moved_to" => Some(self.begun()),
            "moved_from" => Interval::new(Interval::MIN, begin),
            _ => return,
        };
        let is_named = tail.is_name || places::with_capitals(tail.text).is_some();
        let is_told = is_named && self.has_moved(group) && !self.is_for_a_time(tail.end);
        if let Some(valid) = valid.filter(|_| is_told) {
            let is_place = match self.known_as(tail.text) {
                Some(known) => known == "Place",
                None => places::is_place(tail.text) || !tail.is_name,
            };
            let before = self.found.len();
            self.tell_of(person, ("lives_in", "Place", tail), valid, Intent::Evolution);
            if !is_place {
                self.doubt(before);
            }
        }
        if row.relation == "moved_from" && self.lower(tail.end) == "to" {
            self.of_rows(person, row.verb, ROWS, tail.end, group);
        }
    }

    /// Whether it has happened, and nothing says that it was before something else.
    fn has_moved(&self, group: Group) -> bool {
        // "When I was 20 I moved to Porto" is told as any move is.
        let said = self.statement.said.to_lowercase();
        let said = DAYS_BEFORE.iter().fold(said, |said, day| said.replace(day, ""));
        let behind = said.split_once(' ').map_or("", |(_, behind)| behind);
        let had = (group.main.saturating_sub(2)..group.main).any(|at| self.lower(at) == "had");
        group.tense != Tense::Present
            && !had
            && !group.is_ended
            && !group.is_former
            && !says(behind, ELSEWHEN)
    }

    /// "switched from Vim to Neovim": a program is used from then on, and the one before no more.
    pub(super) fn of_switch(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        let is_switch = matches!(verb, "switch" | "migrate");
        if !is_switch || group.is_negated || group.is_modal || !self.has_moved(group) {
            return;
        }
        let at = at + usize::from(matches!(self.lower(at), "back" | "over"));
        let program = |at: usize, link: &str| {
            let is_next = self.lower(at) == link;
            is_next.then(|| tails::noun(self.text, self.words, at + 1, person)).flatten()
        };
        let former = program(at, "from");
        let Some(next) = program(former.as_ref().map_or(at, |former| former.end), "to") else {
            return;
        };
        let is_any = former.iter().chain([&next]).any(|tail| kinds::is_tool(tail.text));
        if !is_any || !next.is_name || !self.ends_plainly(next.end) {
            return;
        }
        if let Some(former) = former {
            self.end(person, "uses", Some(former.text));
        }
        self.tell_of(person, ("uses", "Thing", &next), self.begun(), Intent::Evolution);
    }

    /// "for two months", "but I came back".
    pub(super) fn is_for_a_time(&self, at: usize) -> bool {
        matches!(self.lower(at), "for" | "but" | "until" | "during" | "as")
    }

    /// "quit my job at Forno Labs", "was fired from Forno Labs".
    pub(super) fn of_leaving(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        if group.is_negated || group.is_modal {
            return;
        }
        let link = self.job_lost(person, verb, at, group);
        self.of_parting(person, verb, at, group);
        let Some(link) = link.filter(|link| matches!(self.lower(*link), "at" | "from")) else {
            return;
        };
        let tail = tails::noun(self.text, self.words, link + 1, person);
        if let Some(tail) = tail.filter(|tail| tail.is_name && !is_unreal(tail)) {
            let place = ("works_at", "Organisation", &tail);
            self.tell_of(person, place, self.over(), Intent::Evolution);
        }
    }

    /// The place after what says that a job is over: "quit my job", "was fired", "got laid off", "was let go".
    pub(super) fn job_lost(
        &self,
        person: &str,
        verb: &str,
        at: usize,
        group: Group,
    ) -> Option<usize> {
        match (verb, self.lower(at), self.lower(at + 1)) {
            ("quit" | "leave" | "lose", _, _) => self.own_job(person, at),
            ("be" | "get", "fired", _) => Some(at + 1),
            ("be" | "get", "laid", "off") | ("be" | "get", "let", "go") => Some(at + 2),
            ("lay", "off", _) | ("let", "go", _) if group.is_passive => Some(at + 1),
            _ => None,
        }
    }

    /// "left Siemens", "moved out of Linz", "broke up with Luis".
    fn of_parting(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        let Some((ended, start)) = self.parting(verb, self.next_of_group(at), group) else {
            return;
        };
        let tail = tails::noun(self.text, self.words, start, person);
        let Some(tail) = tail.filter(|tail| tail.is_name && self.ends_plainly(tail.end)) else {
            return;
        };
        match ended.or_else(|| self.left(verb, &tail, group)) {
            Some((relation, label)) => {
                self.tell_of(person, (relation, label, &tail), self.over(), Intent::Evolution);
            }
            None if self.may_be_job(verb, &tail) => self.end(person, "works_at", Some(tail.text)),
            None => {}
        }
    }

    /// Whether a name that is left may be a place of work, if somebody is known to work there: "left Siemens",
    /// "left Siemens and joined Audi", but not "left Siemens and went home".
    fn may_be_job(&self, verb: &str, tail: &Tail<'_>) -> bool {
        let behind = (self.lower(tail.end), self.lower(tail.end + 1));
        let is_on_the_way = match behind {
            ("and", next) => !matches!(next, "joined" | "started"),
            ("so" | "since" | "when", _) => true,
            _ => false,
        };
        !is_on_the_way && (verb != "leave" || !self.is_of_a_day())
    }

    /// What a verb of parting ends, if it says so by itself, and where the name begins.
    fn parting(&self, verb: &str, at: usize, group: Group) -> Option<(Option<Ended>, usize)> {
        let is_done = group.tense != Tense::Present || group.is_passive;
        let works_at = ("works_at", "Organisation");
        let (ended, start) = match (verb, self.lower(at), self.lower(at + 1)) {
            ("be", "at", _) if group.is_ended => (works_at, at + 1),
            _ if !is_done || group.is_former || group.is_ended => return None,
            ("leave" | "quit", _, _) => return Some((None, at)),
            ("retire", "from", _) => return Some((None, at + 1)),
            ("resign", "from", _) => (works_at, at + 1),
            ("move", "out", "of") => (("lives_in", "Place"), at + 2),
            _ => return self.parted_from(verb, at),
        };
        Some((Some(ended), start))
    }

    /// The same of two who part: "broke up with Luis", "divorced Luis".
    fn parted_from(&self, verb: &str, at: usize) -> Option<(Option<Ended>, usize)> {
        let (relations, end) = self.separation(verb, at)?;
        let ended = match relations {
            [only] => only,
            _ => "partner_of",
        };
        let start = match self.lower(end) {
            "with" | "from" => end + 1,
            _ if verb == "divorce" => end,
            _ => return None,
        };
        Some((Some((ended, "Person")), start))
    }

    /// What ends with leaving a name, by what it is known as; a place may be left for a trip.
    fn left(&self, verb: &str, tail: &Tail<'_>, group: Group) -> Option<Ended> {
        let is_on_the_way = matches!(self.lower(tail.end), "and" | "so" | "since" | "when");
        let is_now = |at| matches!(self.lower(at), "just" | "already" | "finally");
        let is_gone = group.is_perfect && !(group.main.saturating_sub(3)..=tail.end).any(is_now);
        match self.known_as(tail.text)?.as_str() {
            _ if is_on_the_way => None,
            "Organisation" if verb != "leave" || !self.is_of_a_day() => {
                Some(("works_at", "Organisation"))
            }
            // "left Linz for good".
            "Place" if verb == "leave" && (is_gone || self.lower(tail.end) == "for") => {
                Some(("lives_in", "Place"))
            }
            _ => None,
        }
    }

    /// Whether it is dated by less than a month: "works from Rome this week".
    pub(super) fn is_of_days(&self) -> bool {
        self.is_shorter_than(MONTH)
    }

    /// Whether it is dated by a day or two: "left Forno Labs early today".
    fn is_of_a_day(&self) -> bool {
        self.is_shorter_than(3 * DAY)
    }

    fn is_shorter_than(&self, length: i64) -> bool {
        let held = self.valid.to.saturating_sub(self.valid.from);
        self.valid.to != Interval::MAX && held < length
    }

    /// Who sold what was theirs has it no more: what has a name or is known, not "my soul".
    pub(super) fn of_sale(
        &mut self,
        person: &str,
        row: &Row,
        tail: &Tail<'_>,
        start: usize,
        group: Group,
    ) {
        let is_own = self.named(start, person).is_some_and(|end| self.has_possessive(end - 1));
        let is_known = tail.is_name || self.known.find(tail.text).is_some();
        let is_whole = self.ends_plainly(tail.end);
        if row.relation == "sold" && is_own && is_known && is_whole && self.has_moved(group) {
            self.tell_of(person, ("owns", "Thing", tail), self.over(), Intent::Evolution);
        }
        // "sold the Golf": whoever drives it does so no more.
        let is_paper = matches!(self.lower(tail.end), "shares" | "stocks" | "stock" | "options");
        if row.relation == "sold" && tail.is_name && !is_paper && self.has_moved(group) {
            self.end(person, "drives", Some(tail.text));
        }
    }

    /// The place after "Nora's job" or "the job" at a place.
    pub(super) fn own_job(&self, person: &str, at: usize) -> Option<usize> {
        let own = self.named(at, person).filter(|end| self.has_possessive(end - 1));
        let job = match self.lower(at) {
            "my" | "our" | "the" => at + 1,
            _ => own?,
        };
        (self.lower(job) == "job").then_some(job + 1)
    }
}
