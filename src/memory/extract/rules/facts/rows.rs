//! Facts by the rows of the table: a verb, a link word and the tail after them.
//!
//! What a row does not fit gives no fact here; nothing is guessed of it.

mod words;

use std::ops::ControlFlow;

use engraph_storage::graph::Interval;

use super::{Finder, Group, Tense, gap};
use super::{lexicon, tails, verbs};
use crate::memory::extract::ExtractedFact;
use crate::memory::extract::rules::kinds;
use crate::memory::extract::rules::relations::{Kind, ROWS, Row};
use crate::memory::extract::rules::tails::Tail;
use crate::memory::places;
use crate::retrieval::words::Word;
use crate::time;
use words::{
    AREAS, CORRECTIONS, DETERMINERS_OF_ONE, FIELDS, FIGURATIVELY, FIGURES_OF_ALLERGY, HOMES, NONE,
    UNREAL, UNSURE,
};

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
        if self.is_exaggerated(verb, group) {
            return;
        }
        let (is_present, is_to_come) = (group.tense == Tense::Present, self.is_to_come(group));
        let fits = |row: &&Row| row.verb == verb && row.fits(is_present, is_to_come);
        for row in rows.iter().filter(fits) {
            if self.of_row(person, row, at, group).is_break() {
                return;
            }
        }
    }

    /// What a row says of what stands at a place; the next one is tried if it does not fit.
    fn of_row(&mut self, person: &str, row: &Row, at: usize, group: Group) -> ControlFlow<()> {
        let is_on = group.is_ongoing || self.is_to_come(group);
        let at = self.after_manner(row, at);
        let place = self.after_link(row.link, at);
        let place = place.or_else(|| self.after_link(row.link, self.after_how(row, at)?));
        let found = row.relation(is_on).zip(place);
        let Some((relation, start)) = found else { return ControlFlow::Continue(()) };
        // "Played a gig" tells of one evening, and nothing of what somebody plays.
        let is_once = row.verb == "play"
            && group.tense == Tense::Past
            && DETERMINERS_OF_ONE.contains(&self.lower(start));
        let tail = if is_once { None } else { self.tail(person, row, start) };
        let Some(tail) = tail else { return ControlFlow::Continue(()) };
        // "Bought Tom a watch": what is bought stands behind whom it is for.
        let is_for_one = row.relation == "bought" && tail.is_name && !self.is_end(tail.end);
        let tail = match self.lower(tail.end) {
            "a" | "an" | "some" if is_for_one => self.tail(person, row, tail.end),
            _ => Some(tail),
        };
        let Some(tail) = tail else { return ControlFlow::Break(()) };
        if !self.is_usual(row, start, &tail) {
            return ControlFlow::Break(());
        }
        let between = gap(self.text, &self.words[start - 1], &self.words[start]);
        if !between.trim_matches(['"', '“', ' ']).is_empty() {
            return ControlFlow::Continue(());
        }
        let is_place = matches!(row.relation, "lives_in" | "works_at");
        let is_nowhere = matches!(row.relation, "was_in" | "grew_up_in") && is_field(&tail);
        if is_nowhere || is_place && is_unreal(&tail) && !self.is_in_state(&tail) {
            return ControlFlow::Break(());
        }
        let meant = self.corrected(person, row, &tail);
        self.is_corrected |= meant.is_some();
        let tail = meant.unwrap_or(tail);
        let label = label(row, &tail);
        let tail = self.named_after(&tail).unwrap_or(tail);
        let before = self.found.len();
        self.tell(person, relation, label, &tail, group, row.intent());
        // "adopted a dog but gave it away", "for my mum".
        let mut behind = (tail.end..self.words.len()).map(|at| self.lower(at));
        let goes_on = behind.any(|word| matches!(word, "and" | "but" | "for" | "until"));
        if relation == "adopted" && label == "Animal" && !goes_on {
            self.tell(person, "has_pet", label, &tail, group, row.intent());
        }
        self.of_move(person, row, &tail, group);
        self.of_sale(person, row, &tail, start, group);
        self.of_list(person, row, relation, tail.end, group);
        if self.is_doubtful(row, &tail, &self.found[before..], group) {
            self.doubt(before);
        }
        if row.verb == "join" {
            self.of_joining(person, &tail, group);
        }
        self.of_further(person, row, tail.end, group);
        ControlFlow::Break(())
    }

    /// "works at Forno Labs as a designer": what a row says goes on by another one.
    fn of_further(&mut self, person: &str, row: &Row, at: usize, group: Group) {
        let goes_on = match row.relation {
            "works_at" | "works_on" => self.lower(at) == "as",
            "works_as" => matches!(self.lower(at), "at" | "for"),
            "studies" => self.lower(at) == "at",
            _ => false,
        };
        match row.verb {
            "work" if goes_on => self.of_rows(person, "work", ROWS, at, group),
            "study" | "major" if goes_on => self.of_rows(person, "study", ROWS, at, group),
            _ => {}
        }
    }

    /// Whether what somebody uses, runs or is allergic to is told wholly: "uses Anna as an example", "runs a farm in
    /// Stardew Valley", "animals with fur".
    fn is_usual(&self, row: &Row, start: usize, tail: &Tail<'_>) -> bool {
        let next = self.lower(tail.end);
        let known = |tail: &Tail<'_>| self.known_as(tail.text);
        match row.relation {
            "uses" => {
                let is_for = matches!(next, "for" | "to" | "at" | "with" | "on" | "and" | "every");
                let is_day = lexicon::is_time_noun(&tail.last.lower);
                let is_person = || known(tail).as_deref() == Some("Person");
                let is_list = self.next_listed(tail.end).is_some();
                (is_for || is_list || self.is_all(tail.end)) && !is_day && !is_person()
            }
            "runs" if next == "in" => {
                let place = tails::noun(self.text, self.words, tail.end + 1, "");
                place.is_some_and(|place| {
                    places::is_place(place.text) || known(&place).as_deref() == Some("Place")
                })
            }
            "runs" => self.is_all(tail.end) || matches!(next, "called" | "named" | "with"),
            // "Hates pizza with pineapple", "pineapple on pizza": not all of it.
            "dislikes" if next == "with" => {
                matches!(self.lower(tail.end + 1), "a" | "all" | "an" | "every")
            }
            "dislikes" => !matches!(next, "without" | "on" | "when" | "if" | "unless"),
            // "Went to see the doctor."
            "went_to" => !ERRANDS.contains(&self.lower(start)),
            // "I'm coming from Rome tomorrow."
            "comes_from" => !self.is_dated_ahead(),
            "allergic_to" => {
                let is_figure = FIGURES_OF_ALLERGY.contains(&tail.last.lower.as_str());
                let is_next = !self.is_end(tail.end);
                !(is_figure || is_next && matches!(next, "with" | "that" | "except" | "besides"))
            }
            _ => true,
        }
    }

    /// Whether what is told has a date that is not yet there when it is said.
    fn is_dated_ahead(&self) -> bool {
        self.statement.at.is_some_and(|at| self.valid.from > at)
    }

    /// Whether what was told may be otherwise: "in Rome or Oslo", and of what takes one value two at once ("in Rome
    /// and Oslo") or what is no name ("in a flat", "in fear").
    fn is_doubtful(
        &self,
        row: &Row,
        tail: &Tail<'_>,
        told: &[ExtractedFact],
        group: Group,
    ) -> bool {
        let is_told = |fact: &&ExtractedFact| fact.relation == row.relation && !is_over(fact);
        let told = told.iter().filter(is_told).count();
        let rest = self.text.get(tail.last.range.end..).unwrap_or_default();
        let clause = [" and ", ", ", " but "].iter().filter_map(|cut| rest.find(cut)).min();
        let clause = rest.get(..clause.unwrap_or(rest.len())).unwrap_or_default();
        // "I literally live in Slack", "I live in Slack all day".
        let is_literal = || self.statement.said.to_lowercase().contains("literally live");
        if row.verb == "live" && (clause.contains(" all day") || is_literal())
            || self.lower(tail.end) == "or" && told > 0
        {
            return true;
        }
        // "I married Ada and Tom last Saturday": who marries two is a registrar.
        if row.relation == "married_to" {
            return told > 1;
        }
        let known = self.known_as(tail.text);
        let is_employer = known.as_deref() == Some("Organisation");
        // "Where do you work?" "Rome".
        let is_answer = || {
            let is_of_two = self.statement.turns.len() > 1 && !self.statement.is_taken_back;
            is_of_two && !self.statement.said.to_lowercase().starts_with("at ")
        };
        let may_be_no_employer = match (row.verb, row.link) {
            // "started at Chapter Two".
            ("start", "at") => !is_employer,
            ("work", "at") => !is_employer && is_answer(),
            _ => false,
        };
        if may_be_no_employer {
            return true;
        }
        if !matches!(row.relation, "lives_in" | "works_at") {
            return false;
        }
        let is_city = row.label == "Place" && places::with_capitals(tail.text).is_some();
        let is_named = tail.is_name || known.is_some() || is_city;
        // "got a job at Forno Labs but declined it".
        let is_declined = row.verb == "get" && self.is_for_a_time(tail.end);
        // "I'm working at Starbucks today."
        let is_of_now = group.tense == Tense::Present && self.is_of_days();
        // "I also work at Forno Labs"; who also lives in Oslo does so as another does.
        let lead = self.text.get(..tail.last.range.start).unwrap_or_default();
        let is_second = row.relation == "works_at" && lead.contains(" also ");
        let is_in_part = is_second || self.is_in_part(row.relation, rest);
        !is_named || told > 1 || is_declined || is_of_now || is_in_part
    }

    /// "in Oslo, no wait, Rome": what somebody means who corrects what they say.
    fn corrected(&self, person: &str, row: &Row, tail: &Tail<'a>) -> Option<Tail<'a>> {
        let start = self.after_correction(tail.end)?;
        let start = start + usize::from(self.lower(start) == row.link);
        let is_speaker = self.speaks(start);
        let meant = self.tail(person, row, start).filter(|_| !is_speaker)?;
        // "well, Rome actually".
        let end = meant.end + usize::from(self.lower(meant.end) == "actually");
        (meant.is_name && tail.is_name && self.ends_plainly(end)).then_some(meant)
    }

    /// The place after words that take back what stands before them, if they do.
    pub(super) fn after_correction(&self, at: usize) -> Option<usize> {
        let next = at.checked_sub(1).zip(self.words.get(at));
        let is_parted = next.is_some_and(|(before, word)| {
            let mark = gap(self.text, &self.words[before], word).trim_start();
            let is_next = self.statement.is_taken_back || self.lower(at) == "scratch";
            let is_told_anew = mark.starts_with(['…', '.', '!']) && is_next;
            is_told_anew || mark.starts_with([',', '-', '('])
        });
        // "no, Rome" takes back, and "no kids" does not.
        let is_cut = |end: usize| {
            let next = self.words.get(end - 1).zip(self.words.get(end));
            next.is_some_and(|(last, next)| gap(self.text, last, next).starts_with([',', ':']))
        };
        let is_name = |at: usize| self.words.get(at).is_some_and(|word| word.is_capital);
        // "wait no, I mean Rome".
        let means = |at: usize| {
            let meant = self.speakers.iter().find_map(|speaker| self.named(at, speaker));
            meant.filter(|end| matches!(self.lower(*end), "means" | "meant")).map(|end| end + 1)
        };
        let follows = |words: &&&[&str]| {
            let is_said = words.iter().enumerate().all(|(i, word)| self.lower(at + i) == *word);
            let is_alone = is_cut(at + 1) || words[0] == "actually" && is_name(at + 1);
            is_said && (words.len() > 1 || is_alone || means(at + 1).is_some())
        };
        let longest = CORRECTIONS.iter().filter(follows).map(|words| at + words.len()).max();
        let longest = longest.map(|end| means(end).unwrap_or(end));
        // "I mean", once the speaker stands in it by name.
        longest.or_else(|| means(at)).filter(|_| is_parted)
    }

    /// "Paradise, Nevada".
    fn is_in_state(&self, tail: &Tail<'_>) -> bool {
        self.words
            .get(tail.end)
            .is_some_and(|next| next.is_capital && gap(self.text, tail.last, next) == ", ")
    }

    /// "I basically live in Starbucks".
    fn is_exaggerated(&self, verb: &str, group: Group) -> bool {
        let is_so = |at: usize| FIGURATIVELY.contains(&self.lower(at));
        let is_now = group.tense == Tense::Present && !group.is_perfect;
        verb == "live" && is_now && (group.main.saturating_sub(2)..group.main).any(is_so)
    }

    /// What a row takes as its tail at a place; of "a flat in Linz" the city.
    fn tail(&self, person: &str, row: &Row, at: usize) -> Option<Tail<'a>> {
        if NONE.contains(&self.lower(at)) {
            return None;
        }
        let words = &self.words[..self.next_speaker(at)];
        let tail = match tails::noun(self.text, words, at, person) {
            Some(tail) if self.is_bare_number(&tail) => return None,
            Some(tail) => tail,
            None if row.label == "Thing" || row.label == "Activity" => {
                tails::doing(self.text, self.words, at)?
            }
            None => return None,
        };
        let last = tail.last.lower.as_str();
        let is_of = match self.lower(tail.end) {
            "in" => HOMES.contains(&last) || AREAS.contains(&last),
            "of" => AREAS.contains(&last),
            _ => false,
        };
        if row.relation == "lives_in" && is_of {
            let place = tails::noun(self.text, words, tail.end + 1, person)?;
            return place.is_name.then_some(place);
        }
        let is_event = lexicon::is_event(&tail.last.lower) || tail.last.lower == "trip";
        let fits = match row.kind {
            Kind::Named => tail.is_name,
            Kind::Event => is_event,
            Kind::Indefinite => {
                tail.is_name
                    || matches!(self.lower(at), "a" | "an" | "some" | "new" | "two" | "three")
            }
            Kind::Enterprise => {
                kinds::is_enterprise(last) && matches!(self.lower(at), "a" | "an" | "my" | "our")
            }
            Kind::Any | Kind::Change => true,
        };
        let may_point = is_event || matches!(row.label, "Place" | "Event") || row.verb == "play";
        let is_pointed = tail.is_definite || row.is_liking() && self.is_pointed_at(at, &tail);
        let is_caused = row.verb == "make" && self.is_base(tail.end);
        (fits && !is_caused && (!is_pointed || may_point)).then_some(tail)
    }

    /// The first place after another at which the name of a speaker stands, or the end: "when Nora
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

    /// "pottery, dancing and painting": what is joined by commas and `and`, if it ends there.
    fn of_list(&mut self, person: &str, row: &Row, relation: &str, at: usize, group: Group) {
        for tail in self.list(person, row, at).unwrap_or_default() {
            self.tell(person, relation, label(row, &tail), &tail, group, row.intent());
        }
    }

    /// What a list has after its first part, which ends before a place.
    fn list(&self, person: &str, row: &Row, at: usize) -> Option<Vec<Tail<'a>>> {
        let mut found: Vec<Tail<'a>> = Vec::new();
        let mut at = at;
        matches!(row.kind, Kind::Any | Kind::Named).then_some(())?;
        loop {
            let mark = gap(self.text, &self.words[at - 1], self.words.get(at)?);
            let is_end = self.lower(at) == "and";
            let start = if is_end { at + 1 } else { at };
            let first = self.lower(start);
            let is_verb = verbs::verb(first).is_some_and(|verb| !verb.forms.gerund);
            let is_of_another = matches!(first, "his" | "her" | "its" | "their");
            let is_mark = mark == ", " || is_end && mark == " ";
            let tail = self.tail(person, row, start).filter(|_| is_mark)?;
            at = tail.end;
            if is_verb || is_of_another || self.is_clause(start, &tail) {
                return None;
            }
            found.push(tail.clone());
            if is_end {
                return self.ends_list(&tail).then_some(found);
            }
        }
    }

    /// "my lease ends": what looks like a part of a list is a clause of its own.
    fn is_clause(&self, start: usize, tail: &Tail<'_>) -> bool {
        let is_verb = verbs::verb(&tail.last.lower).is_some_and(|verb| verb.forms.third);
        let is_determined = tail.end > start + 1
            && (lexicon::is_determiner(self.lower(start)) || self.has_possessive(start));
        is_verb && (is_determined || self.is_dated(tail.end))
    }

    fn ends_list(&self, tail: &Tail<'_>) -> bool {
        let is_end = self.words.get(tail.end).is_none_or(|next| {
            !gap(self.text, tail.last, next).trim().is_empty() || next.lower == "with"
        });
        is_end || self.is_dated(tail.end)
    }

    /// The place after how or with whom somebody lives: "alone in Linz", "with my parents in Linz".
    fn after_manner(&self, row: &Row, at: usize) -> usize {
        if row.verb != "live" {
            return at;
        }
        let at = self.next_of_group(at);
        let company = (at + 1..at + 5).take_while(|place| {
            self.words
                .get(*place)
                .is_some_and(|word| !is_cut(self.text, &self.words[place - 1], word))
        });
        let company = company.take_while(|place| !self.may_have_subject(*place));
        let mut link = company.skip_while(|place| self.lower(*place) != row.link);
        if self.lower(at) == "with" { link.next().unwrap_or(at) } else { at }
    }

    /// The place after how somebody works: "remotely for Forno Labs", "part-time at Forno Labs".
    fn after_how(&self, row: &Row, at: usize) -> Option<usize> {
        if !matches!(row.verb, "work" | "study" | "teach" | "volunteer") || row.link.is_empty() {
            return None;
        }
        let is_time = matches!(self.lower(at), "part" | "full") && self.lower(at + 1) == "time";
        let is_how = |lower: &str| {
            matches!(lower, "part-time" | "full-time" | "still" | "there")
                || lower.ends_with("ly") && lexicon::is_adverb(lower) && !UNSURE.contains(&lower)
        };
        match is_time {
            true => Some(at + 2),
            false => is_how(self.lower(at)).then_some(at + 1),
        }
    }

    /// The place after the words of a link.
    fn after_link(&self, link: &str, at: usize) -> Option<usize> {
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
    pub(super) fn named_after(&self, tail: &Tail<'a>) -> Option<Tail<'a>> {
        let is_called = matches!(self.lower(tail.end), "named" | "called");
        let named =
            is_called.then(|| tails::noun(self.text, self.words, tail.end + 1, "")).flatten()?;
        named.is_name.then_some(named)
    }
}

/// Whether a mark parts two words: the possessive of a name does not.
pub(super) fn is_cut(text: &str, before: &Word, after: &Word) -> bool {
    !matches!(gap(text, before, after), " " | "'s " | "’s " | "-")
}

/// Whether nobody lives or works there: "fired at Christmas", "work at Siemens Saturdays".
pub(super) fn is_unreal(tail: &Tail<'_>) -> bool {
    let lower = tail.text.to_lowercase();
    let ends_in_days = || {
        let day = lower.rsplit(' ').next().and_then(|last| last.strip_suffix('s'));
        day.is_some_and(time::is_weekday) && !RESTAURANTS.contains(&lower.as_str())
    };
    UNREAL.contains(&lower.as_str()) || ends_in_days()
}

/// Whether somebody is in it by what they do or how they live, and not as in a place: "in HR", "in Sales".
fn is_field(tail: &Tail<'_>) -> bool {
    let is_short = tail.text.chars().all(char::is_uppercase) && !places::is_place(tail.text);
    is_short || FIELDS.contains(&tail.text.to_lowercase().as_str())
}

/// What somebody goes to do, and no place.
const ERRANDS: &[&str] = &[
    "ask",
    "buy",
    "celebrate",
    "check",
    "collect",
    "do",
    "eat",
    "fetch",
    "find",
    "get",
    "have",
    "help",
    "look",
    "make",
    "meet",
    "pick",
    "say",
    "see",
    "sleep",
    "take",
    "tell",
    "try",
    "visit",
    "watch",
];

/// Where people work, though it is called by a day.
const RESTAURANTS: &[&str] = &["tgi fridays", "ruby tuesdays"];

fn is_over(fact: &ExtractedFact) -> bool {
    fact.valid.from == Interval::MIN
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
