//! Facts by patterns: a person, a verb and what stands behind it, in a sentence that was rewritten.
//!
//! Only who speaks is a head: the rules know who that is. A sentence that denies, supposes or asks
//! gives no fact, and neither does one that fits no row of the table.

mod change;
mod group;
mod held;
mod possession;
mod rows;

use engraph_storage::graph::{Intent, Interval};

use group::Group;

use super::relations::{AIMS, ROWS, STATES};
use super::sentences::gap;
use super::statements::{self, Statement};
use super::tails::{self, Tail};
use super::{lexicon, verbs};
use crate::memory::extract::{Entity, ExtractedFact, KnownEntities};
use crate::retrieval::words::{Word, words};

/// Facts of a statement, at most.
const FACTS_MAX: usize = 8;

/// The facts of a statement about those who speak.
pub(super) fn facts(
    statement: &Statement,
    speakers: &[&str],
    known: &dyn KnownEntities,
) -> Vec<ExtractedFact> {
    if is_of_another_world(&statement.said) {
        return Vec::new();
    }
    let words = words(&statement.text);
    let mut finder = Finder {
        text: &statement.text,
        words: &words,
        speakers,
        known,
        statement,
        found: Vec::new(),
    };
    for at in 0..words.len() {
        for speaker in speakers {
            if let Some(end) = finder.named(at, speaker) {
                finder.of_person(speaker, at, end);
            }
        }
    }
    let mut found = finder.found;
    let mut seen: Vec<(String, String)> = Vec::new();
    found.retain(|fact| {
        let key = (fact.relation.clone(), fact.tail.name.to_lowercase());
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    found.truncate(FACTS_MAX);
    if !found.is_empty() {
        let intent = statements::intent(&statement.said);
        found
            .iter_mut()
            .filter(|fact| fact.intent == Intent::Fact)
            .for_each(|fact| fact.intent = intent);
    }
    found
}

struct Finder<'a> {
    text: &'a str,
    words: &'a [Word],
    speakers: &'a [&'a str],
    known: &'a dyn KnownEntities,
    statement: &'a Statement,
    found: Vec<ExtractedFact>,
}

impl<'a> Finder<'a> {
    fn lower(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    /// The place behind a name that begins at a word.
    fn named(&self, at: usize, name: &str) -> Option<usize> {
        let mut place = at;
        for part in words(name) {
            if self.lower(place) != part.lower || !self.words[place].is_capital {
                return None;
            }
            place += 1;
        }
        (place > at).then_some(place)
    }

    fn has_possessive(&self, at: usize) -> bool {
        let rest = self.words.get(at).and_then(|word| self.text.get(word.range.end..));
        rest.is_some_and(|rest| rest.starts_with("'s") || rest.starts_with("’s"))
    }

    fn of_person(&mut self, person: &str, at: usize, end: usize) {
        if self.has_possessive(end - 1) {
            self.of_possession(person, end);
            return;
        }
        if !self.begins_clause(person, at) {
            return;
        }
        let verb = self.behind_company(end);
        if let Some(group) = self.group(verb) {
            self.of_clause(person, group);
        }
    }

    fn of_clause(&mut self, person: &str, mut group: Group) {
        let Some(verb) = verbs::verb(self.lower(group.main)) else { return };
        let mut after = group.main + 1;
        if group.is_ended {
            group.is_negated = false;
            after += if self.lower(after) == "no" { 2 } else { 0 };
        }
        if group.is_future {
            let is_promise = PROMISES.contains(&verb.base);
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
        self.of_leaving(person, verb.base, after, group);
        let is_thought = verb.base == "think" && matches!(self.lower(after), "of" | "about");
        if is_thought && !group.is_negated && !group.is_modal {
            if let Some(tail) = tails::doing(self.text, self.words, after + 1) {
                self.tell(person, "considers", "Activity", &tail, group, None);
            }
            return;
        }
        if verb.base == "be" && !group.is_modal && !group.is_negated {
            self.of_state(person, after, group);
            return;
        }
        if group.is_negated {
            self.of_denial(person, verb.base, group);
            return;
        }
        if group.is_passive {
            self.of_rows(person, self.lower(group.main), STATES, after, group);
        }
        if group.is_modal || group.is_passive {
            return;
        }
        match verb.base {
            "feel" => self.of_feeling(person, after, group),
            "have" | "get" => self.of_having(person, after, group),
            "stop" | "quit" => self.of_stop(person, after, group),
            "go" if self.lower(after).ends_with("ing") => self.of_outing(person, after, group),
            _ => {}
        }
        if verb.base == "turn" && self.is_number(after) {
            self.of_age(person, after, group);
        }
        self.of_rows(person, verb.base, ROWS, after, group);
    }

    /// "stopped working at Forno Labs": that is over.
    fn of_stop(&mut self, person: &str, at: usize, group: Group) {
        let is_gerund = |verb: &verbs::Verb| verb.forms.gerund;
        if let Some(verb) = verbs::verb(self.lower(at)).filter(is_gerund) {
            let over = Group { main: at, is_ended: true, ..group };
            self.of_rows(person, verb.base, ROWS, at + 1, over);
        }
    }

    /// "plans to move", "would love to go"; whether the clause was one.
    fn of_aim(&mut self, person: &str, verb: &str, group: Group) -> bool {
        let to = group.main + 1;
        let is_wish = group.is_modal && matches!(verb, "love" | "like");
        let relation = AIMS.iter().find(|aim| aim.0 == verb).map(|aim| aim.1);
        let relation = if is_wish { Some("wants_to") } else { relation };
        let (Some(relation), "to") = (relation, self.lower(to)) else { return is_wish };
        let is_over = group.is_former || group.is_ended;
        let may_tell = !group.is_negated && !is_over && (is_wish || !group.is_modal);
        let is_promise =
            verbs::lemma(self.lower(to + 1)).is_some_and(|base| PROMISES.contains(&base));
        if may_tell
            && !is_promise
            && let Some(tail) = tails::activity(self.text, self.words, to + 1)
        {
            self.tell(person, relation, "Activity", &tail, group, None);
        }
        true
    }

    /// "doesn't like mushrooms".
    fn of_denial(&mut self, person: &str, verb: &str, group: Group) {
        let is_present = self.lower(group.main) == verb;
        let dislikes = matches!(verb, "like" | "enjoy" | "love") && is_present && !group.is_modal
            || verb == "stand" && group.is_modal;
        if dislikes
            && !self.is_longer(group.main)
            && let Some(tail) = tails::noun(self.text, self.words, group.main + 1, person)
        {
            self.tell(person, "dislikes", "Thing", &tail, group, None);
        }
    }

    fn is_longer(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|at| self.lower(at) == "longer")
    }

    /// What stands behind `is`.
    fn of_state(&mut self, person: &str, at: usize, group: Group) {
        let start = self.next_of_group(at);
        if self.is_number(start) {
            self.of_age(person, start, group);
            return;
        }
        self.of_feeling(person, at, group);
        let fan = (start..start + 3).find(|place| self.lower(*place) == "fan").unwrap_or(start);
        self.of_rows(person, self.lower(fan), STATES, fan + 1, group);
        if !matches!(self.lower(start), "a" | "an") {
            return;
        }
        if let Some(tail) = tails::noun(self.text, self.words, start, person)
            && lexicon::is_occupation(&tail.last.lower)
        {
            self.tell(person, "works_as", "Occupation", &tail, group, None);
        }
    }

    /// "is so proud": the feeling ends the clause or has its reason behind.
    fn of_feeling(&mut self, person: &str, at: usize, group: Group) {
        let place = self.next_of_group(at);
        let Some(word) = self.words.get(place).filter(|word| lexicon::is_feeling(&word.lower))
        else {
            return;
        };
        let is_polite = self.statement.said.to_lowercase().contains("you");
        // "I'm afraid I can't come".
        let is_regret =
            word.lower == "afraid" && !matches!(self.lower(place + 1), "" | "of" | "to");
        if is_polite || is_regret || FAINT.contains(&word.lower.as_str()) {
            return;
        }
        let Some(text) = self.text.get(word.range.clone()) else { return };
        let tail = Tail::word(text, word, place);
        self.tell(person, "feels", "Feeling", &tail, group, None);
    }

    fn is_number(&self, at: usize) -> bool {
        let lower = self.lower(at);
        (1..=3).contains(&lower.len()) && lower.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// "is 31 years old", "turned 31".
    fn of_age(&mut self, person: &str, at: usize, group: Group) {
        let is_told = matches!(
            (self.lower(at + 1), self.lower(at + 2)),
            ("years", "old") | ("year", "old") | ("", _)
        ) || self.lower(group.main).starts_with("turn");
        let is_length = self.lower(at + 1) == "miles" || self.lower(at + 1) == "percent";
        let Some(word) = self.words.get(at).filter(|_| is_told && !is_length) else { return };
        let Some(text) = self.text.get(word.range.clone()) else { return };
        let tail = Tail::word(text, word, at);
        self.tell(person, "age", "Number", &tail, group, None);
    }

    /// "has a dog named Max", "has two cats".
    fn of_having(&mut self, person: &str, at: usize, group: Group) {
        let at = if self.lower(at) == "got" { at + 1 } else { at };
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        if !lexicon::is_pet(&tail.last.lower) || tail.is_name {
            return;
        }
        let tail = self.named_behind(&tail).unwrap_or(tail);
        self.tell(person, "has_pet", "Animal", &tail, group, None);
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
        if group.is_ended && !held::lasts(relation) {
            return;
        }
        let valid = self.held(relation, group);
        let is_over = group.is_former || group.is_ended;
        let intent = if is_over { Intent::Evolution } else { intent.unwrap_or_default() };
        self.tell_of(person, (relation, label, tail), valid, intent);
    }

    /// Tells that it held then.
    fn tell_of(
        &mut self,
        person: &str,
        (relation, label, tail): (&str, &str, &Tail<'_>),
        valid: Interval,
        intent: Intent,
    ) {
        let entity = |label: &str, name: &str| match self.known.find(name) {
            Some(entity) => entity,
            None => Entity { label: label.to_owned(), name: name.to_owned() },
        };
        let is_speaker = self.speakers.iter().any(|name| name.eq_ignore_ascii_case(tail.text));
        if is_speaker && !matches!(relation, "met" | "married_to" | "believes_in" | "misses") {
            return;
        }
        let fact = ExtractedFact {
            head: entity("Person", person),
            relation: relation.to_owned(),
            tail: entity(if is_speaker { "Person" } else { label }, tail.text),
            valid,
            confidence: self.statement.confidence,
            intent,
            turns: self.statement.turns.clone(),
        };
        if fact.head != fact.tail {
            self.found.push(fact);
        }
    }
}

/// Whether a sentence tells what somebody else said, or of a book, a game or a dream.
fn is_of_another_world(said: &str) -> bool {
    let lower = said.trim().to_lowercase();
    let told = [", said ", ", says ", ", asked ", ", shouted ", "', said", "\", said", "” said"];
    lower.starts_with(['\'', '"', '“', '‘'])
        || lower.starts_with("according to ")
        || told.iter().any(|told| lower.contains(told))
        || ["in the ", "in this ", "in a "].iter().any(|lead| {
            let work = lower.strip_prefix(lead).and_then(|rest| rest.split_whitespace().next());
            work.is_some_and(|work| FICTION.contains(&work.trim_end_matches(',')))
        })
        || ["in my dreams", "in my dream ", "in a dream"].iter().any(|dream| lower.contains(dream))
}

/// What is not told of the world.
const FICTION: &[&str] =
    &["novel", "book", "story", "movie", "film", "show", "series", "game", "play", "dream"];

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

/// What somebody is to do that says nothing of a plan: "will let them know".
const PROMISES: &[&str] = &[
    "be",
    "keep",
    "let",
    "see",
    "have",
    "do",
    "stay",
    "get",
    "know",
    "think",
    "try",
    "make",
    "remember",
    "check",
    "tell",
    "say",
    "miss",
    "need",
    "never",
    "appreciate",
    "continue",
    "show",
    "give",
    "hear",
    "help",
    "support",
    "consider",
    "look",
    "cheer",
    "mention",
    "hang",
    "love",
    "like",
    "enjoy",
    "feel",
];
