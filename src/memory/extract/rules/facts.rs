//! Facts by patterns: a person, a verb and what stands after it, in a sentence that was rewritten.
//!
//! A head is who speaks, or somebody whom they name: a relative ("my sister Anna lives in Rome"), or a person who
//! is known by that name. A sentence that denies, supposes or asks gives no fact, and neither does one that fits
//! no row of the table.

mod body;
mod bygone;
mod career;
mod change;
mod clause;
mod denial;
mod details;
mod ending;
mod gone;
mod group;
mod held;
mod last_day;
mod other_world;
mod others;
mod parting;
mod plain;
mod plans;
mod possession;
mod profile;
mod relatives;
mod rows;
mod several;
mod state;

use std::collections::BTreeSet;

use engraph_storage::graph::{Intent, Interval, Time};

use group::{Group, Tense};
use other_world::is_of_another_world;
use plans::PROMISES;

use super::relations::{ROWS, STATES};
use super::sentences::{gap, is_joined};
use super::statements::{self, Statement};
use super::tails::{self, Tail};
use super::{dates, kinds, lexicon, rewrite, verbs};
use crate::memory::extract::{Entity, ExtractedEnding, ExtractedFact, KnownEntities};
use crate::memory::places;
use crate::memory::validate::UNCERTAIN;
use crate::retrieval::hedge::hedges;
use crate::retrieval::words::{Word, says, words};
use crate::time::DAY;

/// Facts of a statement, at most, and what it says to be over.
const FACTS_MAX: usize = 8;

/// What a statement tells of those who speak.
#[derive(Default)]
pub(super) struct Told {
    pub(super) facts: Vec<ExtractedFact>,
    pub(super) endings: Vec<ExtractedEnding>,
}

/// What a statement tells of those who speak, and of those whom they name or have named.
pub(super) fn told(
    statement: &Statement,
    speakers: &[&str],
    named: &BTreeSet<String>,
    known: &dyn KnownEntities,
) -> Told {
    if statement.is_quoted || is_of_another_world(&statement.said) {
        return Told::default();
    }
    let words = words(&statement.text);
    let mut finder = Finder {
        text: &statement.text,
        words: &words,
        speakers,
        named,
        known,
        statement,
        valid: statement.valid,
        has_dates: statement.at.is_some_and(|at| dates::are_several(&statement.said, at)),
        is_corrected: false,
        found: Vec::new(),
        endings: Vec::new(),
    };
    for at in 0..words.len() {
        finder.of_death(at);
        finder.of_put_down(at);
        finder.of_dismissal(at);
        finder.of_last_day(at);
        for speaker in speakers {
            if let Some(end) = finder.named(at, speaker) {
                finder.of_person(speaker, at, end);
            } else if finder.is_meant_again(at, speaker) {
                finder.of_person(speaker, at, at + 1);
            }
        }
        finder.of_other(at);
    }
    finder.of_those_gone();
    // Of facts of several things nobody says which was meant.
    let are_several = finder.found.windows(2).any(|two| two[0].tail != two[1].tail);
    if statement.is_taken_back && (!finder.is_corrected || are_several) {
        finder.doubt(0);
    }
    // "For example, I live in Japan" may be one of oneself.
    let lead = statement.said.trim_start().to_lowercase();
    if ["as an example", "e.g. ", "for example", "for instance"]
        .iter()
        .any(|one| lead.starts_with(one))
    {
        finder.doubt(0);
        finder.endings.clear();
    }
    let (mut found, mut endings) = (finder.found, finder.endings);
    // "This day" is no date of its own.
    let is_today = |at: &Time| (0..DAY).contains(&at.saturating_sub(statement.valid.from));
    let undated = statement.at.filter(is_today);
    if let Some(at) = undated.filter(|_| bygone::is_bygone(&statement.said)) {
        bygone::soften(&mut found, &statement.said, at, UNCERTAIN);
        endings.clear();
    }
    let mut seen: Vec<(String, String, String)> = Vec::new();
    found.retain(|fact| {
        let (head, tail) = (fact.head.name.to_lowercase(), fact.tail.name.to_lowercase());
        let key = (head, fact.relation.clone(), tail);
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    found.truncate(FACTS_MAX);
    endings.truncate(FACTS_MAX);
    if !found.is_empty() {
        let intent = statements::intent(&statement.said);
        found
            .iter_mut()
            .filter(|fact| fact.intent == Intent::Fact)
            .for_each(|fact| fact.intent = intent);
    }
    Told { facts: found, endings }
}

struct Finder<'a> {
    text: &'a str,
    words: &'a [Word],
    speakers: &'a [&'a str],
    /// Persons whom what was said before has named.
    named: &'a BTreeSet<String>,
    known: &'a dyn KnownEntities,
    statement: &'a Statement,
    /// When the clause that is read holds: as its sentence, unless that has several dates.
    valid: Interval,
    has_dates: bool,
    /// Whether it says itself what is meant instead.
    is_corrected: bool,
    found: Vec<ExtractedFact>,
    endings: Vec<ExtractedEnding>,
}

impl<'a> Finder<'a> {
    fn lower(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    /// The place after a name that begins at a word.
    fn named(&self, at: usize, name: &str) -> Option<usize> {
        let mut place = at;
        for part in words(name) {
            let is_small = part.is_capital && !self.words.get(place)?.is_capital;
            if self.lower(place) != part.lower || is_small {
                return None;
            }
            place += 1;
        }
        // "user" is a name, "the user" is none.
        let before = at.checked_sub(1).map_or("", |at| self.lower(at));
        let is_common = !self.words.get(at)?.is_capital && lexicon::is_determiner(before);
        (place > at && !is_common).then_some(place)
    }

    /// Whether "they" are a person and others, of whom a sentence has told before: "we found a flat, we moved".
    fn is_meant_again(&self, at: usize, person: &str) -> bool {
        if self.lower(at) != "they" || says(&self.statement.said, &["they"]) {
            return false;
        }
        (0..at).any(|before| {
            self.named(before, person)
                .is_some_and(|end| (self.lower(end), self.lower(end + 1)) == ("and", "others"))
        })
    }

    /// Whether the name of somebody who speaks begins at a word.
    fn speaks(&self, at: usize) -> bool {
        self.speakers.iter().any(|speaker| self.named(at, speaker).is_some())
    }

    /// What a name is known as, by the labels of the rules.
    fn known_as(&self, name: &str) -> Option<String> {
        self.known.find(name).map(|known| kinds::of_label(known.label))
    }

    fn is_known_as(&self, name: &str, label: &str) -> bool {
        self.known_as(name).is_some_and(|known| known == label)
    }

    fn has_possessive(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.has_possessive(self.text))
    }

    fn of_person(&mut self, person: &str, at: usize, end: usize) {
        if self.has_possessive(end - 1) {
            self.date_clause(at);
            self.of_possession(person, at..end);
            return;
        }
        if self.begins_clause(person, at) {
            self.of_subject(person, at, end);
        }
    }

    /// What a clause tells of its subject, whose name or phrase goes from one place up to another.
    fn of_subject(&mut self, person: &str, at: usize, end: usize) {
        let verb = self.after_company(end);
        if let Some(group) = self.group(verb).filter(|group| !self.is_awaited(at, *group)) {
            self.of_dated_clause(person, at, group);
            self.of_separation(person, (at, end), group);
            let next = self.next_verb(group);
            if let Some((at, next)) = next.and_then(|at| Some((at, self.group(at)?))) {
                self.of_dated_clause(person, at, next);
            }
        }
    }

    /// What is told of the past in a sentence with several dates, none of which is its own, is uncertain.
    fn of_dated_clause(&mut self, person: &str, at: usize, group: Group) {
        let is_dated = self.date_clause(at);
        if !self.has_dates {
            self.valid = self.own_date(at, group);
        }
        let before = self.found.len();
        self.of_clause(person, group);
        if !is_dated && group.tense != Tense::Present {
            self.doubt(before);
        }
    }

    fn of_clause(&mut self, person: &str, mut group: Group) {
        let Some(verb) = verbs::verb(self.lower(group.main)) else { return };
        let mut after = group.main + 1;
        if group.is_ended {
            group.is_negated = false;
            let is_longer = self.lower(after) == "no" && self.lower(after + 1) == "longer";
            after += if is_longer { 2 } else { 0 };
        }
        if group.is_future {
            let is_promise = PROMISES.contains(&verb.base) || verb.base == "want";
            if !group.is_negated
                && !is_promise
                && let Some(tail) = tails::activity(self.text, self.words, group.main)
            {
                self.tell(person, "plans_to", "Activity", &tail, group, None);
            }
            return;
        }
        if self.of_aim(person, verb.base, group) {
            return;
        }
        self.of_coming(person, verb.base, group);
        self.of_leaving(person, verb.base, after, group);
        self.of_switch(person, verb.base, after, group);
        self.of_lost_job(person, verb.base, after, group);
        self.of_leaving_school(person, verb.base, after, group);
        let is_thought = verb.base == "think" && matches!(self.lower(after), "of" | "about");
        if is_thought && !group.is_negated && !group.is_modal {
            if let Some(tail) = tails::doing(self.text, self.words, after + 1) {
                self.tell(person, "considers", "Activity", &tail, group, None);
            }
            return;
        }
        if verb.base == "be" && !group.is_modal && !group.is_negated {
            if self.lower(after) == "on" {
                self.of_medicine(person, after + 1, group);
            }
            self.of_state(person, after, group);
            return;
        }
        self.of_avoided(person, verb.base, group);
        if group.is_negated {
            self.of_plain_denial(person, group, |finder, over| match verb.base {
                "be" => finder.of_state(person, after, over),
                base => finder.of_rows(person, base, ROWS, after, over),
            });
            self.of_denial(person, verb.base, group);
            return;
        }
        if group.is_passive {
            self.of_rows(person, self.lower(group.main), STATES, after, group);
            self.of_passive(person, after, group);
        }
        if verb.base == "speak" && !group.is_passive {
            self.of_languages(person, after, group);
        }
        if !group.is_modal && !group.is_passive {
            self.of_verb(person, verb.base, after, group);
        }
    }

    /// What a verb says that is neither denied, wished nor passive; at a place is what follows it.
    fn of_verb(&mut self, person: &str, verb: &'static str, after: usize, group: Group) {
        match verb {
            "feel" => self.of_feeling(person, after, group),
            "have" | "get" if !group.is_ongoing => self.of_having(person, after, group),
            "become" | "go" | "turn" if self.of_becoming(person, after, group) => return,
            "go" if self.lower(after) == "by" => {
                self.of_own_name(person, after + 1, group.is_ended);
            }
            "eat" | "drink" => self.of_eaten(person, group.main + 1, group),
            "start" | "begin" if matches!(self.lower(after), "eating" | "drinking") => {
                self.of_eaten(person, after + 1, Group { tense: Tense::Present, ..group });
            }
            "drive" => self.of_vehicle(person, after, group),
            "take" if group.is_ended => self.of_medicine_ended(person, after),
            "work" => self.of_field(person, after, group),
            "take" => self.of_medicine(person, after, group),
            "weigh" => self.of_weight(person, after, group),
            "suffer" if self.lower(after) == "from" => self.of_condition(person, after + 1, group),
            "stop" | "quit" => self.of_stop(person, after, group),
            "give" if self.lower(after) == "up" => self.of_giving_up(person, after + 1, group),
            "go" if self.lower(after).ends_with("ing") => self.of_outing(person, after, group),
            _ => {}
        }
        if verb == "turn" && self.is_number(after) {
            self.of_age(person, after, group);
        }
        if !self.of_new_job(person, verb, after, group) {
            self.of_rows(person, verb, ROWS, after, group);
        }
    }

    /// "stopped working at Forno Labs": that is over.
    fn of_stop(&mut self, person: &str, at: usize, group: Group) {
        let is_gerund = |verb: &verbs::Verb| verb.forms.gerund;
        if let Some(verb) = verbs::verb(self.lower(at)).filter(is_gerund) {
            let over = Group { main: at, is_ended: true, ..group };
            self.of_rows(person, verb.base, ROWS, at + 1, over);
            self.of_renounced(person, at, group);
        }
    }

    /// "is called Ann", "is married", "was diagnosed with asthma".
    fn of_passive(&mut self, person: &str, at: usize, group: Group) {
        match self.lower(group.main) {
            "called" if group.tense == Tense::Present => {
                self.of_own_name(person, at, group.is_ended);
            }
            "diagnosed" => self.of_diagnosis(person, at, group),
            "promoted" => self.of_promotion(person, at, group),
            "hired" => self.of_hiring(person, at, group),
            // "We were married in 2015."
            _ if group.tense == Tense::Past && !group.is_former => {}
            _ => self.of_being(person, group.main, group),
        }
    }

    /// "gave up playing the piano", "gave up the piano": that is over too.
    fn of_giving_up(&mut self, person: &str, at: usize, group: Group) {
        self.of_stop(person, at, group);
        let tail = tails::noun(self.text, self.words, at, person);
        if let Some(tail) = tail.filter(|tail| self.ends_plainly(tail.end)) {
            self.end(person, "plays", Some(tail.text));
        }
    }

    /// "went camping".
    fn of_outing(&mut self, person: &str, at: usize, group: Group) {
        let Some(word) = self.words.get(at) else { return };
        let Some(text) = self.text.get(word.range.clone()) else { return };
        let is_plain = verbs::lemma(&word.lower).is_none_or(|base| !verbs::is_bland(base));
        if is_plain && self.lower(at + 1) != "to" {
            let tail = Tail::word(text, word, at);
            self.tell(person, "went", "Activity", &tail, group, None);
        }
    }

    fn tell(
        &mut self,
        person: &str,
        relation: &str,
        label: &str,
        tail: &Tail<'_>,
        group: Group,
        intent: Option<Intent>,
    ) {
        if group.is_ended && !(held::lasts(relation) && self.ends_plainly(tail.end)) {
            return;
        }
        if group.is_former && self.is_otherwise_now(relation) {
            return;
        }
        let group = self.as_it_still_is(group);
        let valid = self.held(relation, group);
        let is_over = group.is_former || group.is_ended;
        // "I used to be allergic to nuts only": so it still is.
        let is_next =
            self.words.get(tail.end).is_some_and(|next| is_joined(self.text, tail.last, next));
        if is_over && is_next && self.lower(tail.end) == "only" {
            return;
        }
        let intent = if is_over { Intent::Evolution } else { intent.unwrap_or_default() };
        let is_spouse = matches!(relation, "married_to" | "engaged_to");
        if is_spouse && valid.to == Interval::MAX && self.is_plain(relation, tail) {
            let status = if relation == "married_to" { "married" } else { "engaged" };
            self.of_other_statuses(person, status);
        }
        self.tell_of(person, (relation, label, tail), valid, intent);
        if !is_over {
            self.end_ahead(person, relation, tail, valid);
        }
    }

    /// "I live in Delft until May", who may be known to live there without an end.
    fn end_ahead(&mut self, person: &str, relation: &str, tail: &Tail<'_>, valid: Interval) {
        let is_bounded = matches!(self.lower(tail.end), "until" | "till");
        let is_ahead = |told| valid.from <= told && valid.to.saturating_sub(told) > DAY;
        if is_bounded && self.statement.at.is_some_and(is_ahead) && WITH_AN_END.contains(&relation)
        {
            self.end_at(person, relation, Some(tail.text), valid.to);
        }
    }

    /// Makes what was told from a place on uncertain, so that it ends nothing.
    fn doubt(&mut self, from: usize) {
        for fact in &mut self.found[from..] {
            fact.confidence = fact.confidence.min(UNCERTAIN);
        }
    }

    /// How sure the clause around a place is: a hedge of another one doubts nothing here, unless "and" joins them.
    /// "I live in Rome but maybe I'll move" is sure of Rome.
    fn sureness(&self, place: usize) -> f64 {
        let told = self.statement.confidence;
        let left =
            |text: &str| -> f64 { hedges(text).iter().map(|hedge| 1.0 - hedge.doubt).product() };
        let whole = left(&self.statement.said);
        // "I think" is no hedge once it is "Nora thinks": nobody knows of which clause it was.
        if whole >= 1.0 || (whole - left(self.text)).abs() > f64::EPSILON {
            return told;
        }
        let clause = self.clause(place, place);
        let is_joined = clause.starts_with(" and ") || clause.starts_with(" or ");
        // "I might get a dog, I live in Turin": so it begins once who speaks stands in it by name.
        let commas = self.speakers.iter().filter_map(|name| clause.rfind(&format!(", {name} ")));
        let clause = clause.get(commas.max().unwrap_or(0)..).unwrap_or(clause);
        match is_joined || !self.tells_beside(clause) {
            true => told,
            false => (told / whole * left(clause)).min(told.max(statements::ASSERTED)),
        }
    }

    /// Whether the text tells something beside a clause of it: "but maybe I'll move", and not "but I am not sure".
    fn tells_beside(&self, clause: &str) -> bool {
        let start = clause.as_ptr() as usize - self.text.as_ptr() as usize;
        let within = start..start + clause.len();
        let beside = self.words.iter().filter(|word| !within.contains(&word.range.start));
        let mut verbs = beside.filter_map(|word| verbs::lemma(&word.lower));
        verbs.any(|verb| !["be", "believe", "guess", "know", "suppose", "think"].contains(&verb))
    }

    /// Tells that it held then.
    fn tell_of(
        &mut self,
        person: &str,
        (relation, label, tail): (&str, &str, &Tail<'_>),
        valid: Interval,
        intent: Intent,
    ) {
        let entity = |label: &str, name: &str| {
            let fits = |known: &Entity| kinds::may_be(label, &known.label);
            let known = self.known.find(name).filter(fits);
            let city = || places::with_capitals(name).filter(|_| label == "Place");
            let named = |name| Entity { label: label.to_owned(), name };
            known.unwrap_or_else(|| named(city().unwrap_or_else(|| name.to_owned())))
        };
        if NOT_OF_TOOLS.contains(&relation) && kinds::is_tool(tail.text) {
            return;
        }
        let is_speaker = self.speakers.iter().any(|name| name.eq_ignore_ascii_case(tail.text));
        if is_speaker && !matches!(relation, "met" | "married_to" | "believes_in" | "misses") {
            return;
        }
        let is_sure = valid.to != Interval::MAX || self.is_plain(relation, tail);
        let told = self.sureness(tail.end.saturating_sub(1));
        let fact = ExtractedFact {
            head: entity("Person", person),
            relation: relation.to_owned(),
            tail: entity(if is_speaker { "Person" } else { label }, tail.text),
            valid,
            confidence: if is_sure { told } else { told.min(UNCERTAIN) },
            intent,
            turns: self.statement.turns.clone(),
        };
        if fact.head != fact.tail {
            self.found.push(fact);
        }
    }
}

/// Relations that are a manner of speaking where their tail is a program: "I live in Slack", "we moved to Svelte".
const NOT_OF_TOOLS: &[&str] = &[
    "allergic_to",
    "engaged_to",
    "lives_in",
    "lives_near",
    "married_to",
    "moved_from",
    "moved_to",
    "partner_of",
];

/// Relations whose end is announced: "I live in Delft until May".
const WITH_AN_END: &[&str] = &["lives_in", "studies_at", "volunteers_at", "works_as", "works_at"];
