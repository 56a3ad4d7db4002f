//! What a clause says to be over without saying what it was ("quit my job", "we got divorced"), of somebody
//! who is gone ("Rex died"), and what it denies that may be held ("is not allergic to cats").
//!
//! Whether anything of it is held is found when it is stored; here nothing is told that was not said.

use engraph_storage::graph::{Interval, Time};

use super::group::Tense;
use super::parting::PARTNERS;
use super::{Finder, Group, Tail, lexicon, plain, rewrite, tails, verbs};
use crate::memory::extract::rules::sentences::is_joined;
use crate::memory::extract::{Entity, ExtractedEnding};
use crate::retrieval::words::{says, words};

/// So many words stand at most from where a name begins to its verb.
const NAME_WORDS: usize = 8;

/// Those that end when one dies.
pub(super) const LIVING: &[&str] = &["has_pet", "married_to", "engaged_to", "partner_of"];

/// With whom somebody has parted.
enum Company<'t> {
    /// Nobody is told.
    Nobody,
    Named(&'t str),
    /// "We", whoever that is.
    Others,
    /// "My wife": what ends with her.
    Kin(&'static str),
    /// "My sister".
    Another,
}

impl Finder<'_> {
    /// "lost my job", "was let go", "is unemployed": whoever it was for works there no more.
    pub(super) fn of_lost_job(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        let is_done = group.tense != Tense::Present || group.is_passive;
        let is_now = group.tense != Tense::Past;
        let state = self.next_of_group(at);
        let lost = self.job_lost(person, verb, at, group).filter(|_| is_done);
        let end = lost.or_else(|| match verb {
            "retire" | "resign" if is_done => Some(at),
            "be" if is_now && JOBLESS.contains(&self.lower(state)) => Some(state + 1),
            "be" if is_now => self.out_of_work(state),
            _ => None,
        });
        if end.is_some_and(|end| self.ends_plainly(end)) && !is_off(group) {
            self.end_job(person);
        }
    }

    /// Ends a job, but not of who "left my job early", or "got fired and rehired".
    fn end_job(&mut self, person: &str) {
        let said = words(&self.statement.said);
        if !said.iter().any(|word| BACK_AT_WORK.contains(&word.lower.as_str())) {
            self.end(person, "works_at", None);
        }
    }

    /// "graduated last year", "dropped out of college": who studied somewhere does so no more.
    pub(super) fn of_leaving_school(&mut self, person: &str, verb: &str, at: usize, group: Group) {
        let end = match (verb, self.lower(at)) {
            ("graduate", _) => at,
            ("drop", "out") if self.lower(at + 1) == "of" => at + 3,
            ("drop", "out") => at + 1,
            _ => return,
        };
        let is_school = end != at + 3 || SCHOOLS.contains(&self.lower(at + 2));
        let is_done = group.tense != Tense::Present && !is_off(group);
        // "The wifi was bad, I dropped out."
        let is_of_call = end == at + 1 && says(&self.statement.said, NO_STUDIES);
        if is_done && is_school && !is_of_call && self.ends_plainly(end) {
            self.end(person, "studies_at", None);
        }
    }

    /// "the company let Nora go", "they fired Nora".
    pub(super) fn of_dismissal(&mut self, at: usize) {
        let Some((person, end)) =
            self.speakers.iter().find_map(|one| Some((*one, self.named(at + 1, one)?)))
        else {
            return;
        };
        // "The police let me go."
        let by_work = || {
            let who = at.checked_sub(1).and_then(|who| self.words.get(who));
            who.is_some_and(|who| {
                let name = self.text.get(who.range.clone()).unwrap_or_default();
                EMPLOYERS.contains(&who.lower.as_str()) || self.is_known_as(name, "Organisation")
            })
        };
        let end = match (self.lower(at), self.lower(end)) {
            // "left my job".
            _ if self.has_possessive(end - 1) => return,
            ("dumped", _) if self.ends_barely(end) => return self.of_dumping(person, at),
            // "left me this morning" is for work.
            ("left", _) if end == self.words.len() => return self.of_dumping(person, at),
            ("fired", _) => end,
            ("let", "go") if by_work() => end + 1,
            ("laid", "off") => end + 1,
            _ => return,
        };
        // "They let me go because I had my licence": whoever they are.
        let is_let = at > 0 && self.lower(at - 1) == "they" && self.lower(at) == "let";
        let is_reason = matches!(self.lower(end), "because" | "since" | "so");
        let is_of_work = says(&self.statement.said, &["company", "job", "late", "work"]);
        if is_let && is_reason && !is_of_work && self.named(end + 1, person).is_some() {
            return;
        }
        // "They let me go early today."
        let is_for_today = plain::padded(&self.statement.said).contains(" go early ");
        let is_told = at > 0 && !is_for_today && !self.clause_before(at).any(|at| self.is_open(at));
        if is_told && self.lower(at - 1) != "to" && self.ends_plainly(end) {
            self.date_anew(at);
            self.end_job(person);
        }
    }

    /// "Dirk dumped me", "my boyfriend left me", from the verb on, if it is all that the clause tells.
    fn of_dumping(&mut self, person: &str, at: usize) {
        let Some(who) = at.checked_sub(1) else { return };
        let kin = lexicon::kin(self.lower(who)).and_then(|kin| kin.relation);
        if let Some(relation) = kin.filter(|relation| PARTNERS.contains(relation)) {
            let is_owner = |start: &usize| self.named(*start, person) == Some(who);
            let owner = (who.saturating_sub(3)..who).find(is_owner);
            let is_own = |owner| self.has_possessive(who - 1) && self.begins_clause(person, owner);
            if owner.is_some_and(is_own) {
                self.date_anew(at);
                self.end(person, relation, None);
            }
            return;
        }
        let Some(name) = self.words.get(who).filter(|name| name.is_capital) else { return };
        let name = self.text.get(name.range.clone()).unwrap_or_default();
        if name == person || !self.begins_clause(name, who) {
            return;
        }
        self.date_anew(at);
        for relation in PARTNERS {
            self.end(person, relation, Some(name));
        }
    }

    /// The place after "out of work", "between jobs".
    fn out_of_work(&self, at: usize) -> Option<usize> {
        match (self.lower(at), self.lower(at + 1), self.lower(at + 2)) {
            ("between", "jobs", _) => Some(at + 2),
            ("out", "of", "work") => Some(at + 3),
            ("out", "of", "a") if self.lower(at + 3) == "job" => Some(at + 4),
            _ => None,
        }
    }

    /// "Tom and Nora broke up", "Nora got divorced": from a person whose name stands from one place up to
    /// another.
    pub(super) fn of_separation(&mut self, person: &str, name: (usize, usize), group: Group) {
        let verb = verbs::lemma(self.lower(group.main)).unwrap_or_default();
        let Some((relations, end)) = self.separation(verb, group.main + 1) else { return };
        // "I was divorced when I met Tom."
        let is_state = verb == "be" || group.is_passive;
        let wrong = if is_state { Tense::Past } else { Tense::Present };
        let is_again = (end..self.words.len())
            .any(|at| matches!(self.lower(at), "again" | "remarried" | "married"));
        let is_done = group.tense != wrong && !is_again;
        if !is_done || is_off(group) || !self.ends_plainly(end) || self.comes_back(end) {
            return;
        }
        let (relations, other) = match self.company(name, group.main) {
            Company::Named(other) => (relations, Some(other.to_owned())),
            Company::Kin(kin) => return self.end(person, kin, None),
            Company::Others if self.lower(end - 1) != "separated" => (relations, None),
            Company::Nobody if relations.len() == 1 => (relations, None),
            _ => return,
        };
        for relation in relations {
            self.end(person, relation, other.as_deref());
        }
    }

    /// Who stands beside a name before a verb: "Tom and Nora", "Nora and others", "Nora's wife and Nora".
    fn company(&self, (start, end): (usize, usize), verb: usize) -> Company<'_> {
        let before = start.checked_sub(2).filter(|_| self.lower(start - 1) == "and");
        let behind = (self.lower(end) == "and").then_some(end + 1);
        let Some(place) = before.or(behind) else { return Company::Nobody };
        let mut words = if before.is_some() { place..place + 1 } else { place..verb };
        let name = tails::noun(self.text, self.words, place, "").filter(|name| name.is_name);
        match name {
            _ if self.lower(place) == "others" => Company::Others,
            Some(name) if !self.has_possessive(place) => Company::Named(name.text),
            _ => {
                let kin = |at| lexicon::kin(self.lower(at))?.relation;
                let partner = words.find_map(|at| kin(at).filter(|kin| PARTNERS.contains(kin)));
                partner.map_or(Company::Another, Company::Kin)
            }
        }
    }

    /// "Rex died on Sunday", of somebody whose name begins at a place: whoever had them has them no more.
    pub(super) fn of_death(&mut self, at: usize) {
        // Names are looked up only where somebody may be gone.
        let is_near = |at| matches!(verbs::lemma(self.lower(at)), Some("die" | "pass" | "run"));
        if !(at + 1..at + NAME_WORDS).any(is_near) {
            return;
        }
        let Some(name) = tails::noun(self.text, self.words, at, "") else { return };
        let is_other = !self.speakers.contains(&name.text);
        let is_named = is_other && self.is_somebodys(&name);
        // "When Rex died I'd cry", "the episode where Rex died", "the neighbour's Rex died".
        let is_of_another = at.checked_sub(1).is_some_and(|at| {
            matches!(self.lower(at), "when" | "where" | "that" | "which") || self.has_possessive(at)
        });
        if !is_named || is_of_another || !self.begins_clause(name.text, at) {
            return;
        }
        let Some(group) = self.group(name.end).filter(|group| !is_off(*group)) else { return };
        let behind = group.main + 1;
        let has_run = verbs::lemma(self.lower(group.main)) == Some("run")
            && group.tense != Tense::Present
            && self.lower(behind) == "away"
            && self.ends_barely(behind + 1)
            && !self.comes_back(behind);
        if has_run || self.has_died(group) {
            self.date_anew(at);
            self.end_with(name.text, LIVING);
        }
    }

    /// Whether a verb tells of a death: "died on Sunday", "has passed away".
    fn has_died(&self, group: Group) -> bool {
        let behind = group.main + 1;
        match (verbs::lemma(self.lower(group.main)), self.lower(behind)) {
            _ if group.tense == Tense::Present => false,
            (Some("die"), _) => self.is_final(behind) && self.ends_life(behind),
            (Some("pass"), "away") => self.is_final(behind + 1) && self.ends_life(behind + 1),
            _ => false,
        }
    }

    /// "Nora's wife died", which ends that she is married, whoever that was; at a place is the owner, and behind the
    /// relative what is told.
    pub(super) fn of_widowed(
        &mut self,
        person: &str,
        relation: &str,
        (owner, end): (usize, usize),
    ) {
        let is_of_life = matches!(relation, "engaged_to" | "married_to" | "partner_of");
        let group = self.group(end).filter(|group| !is_off(*group));
        if is_of_life && group.is_some_and(|group| self.has_died(group)) {
            self.date_anew(owner);
            self.end(person, relation, None);
        }
    }

    /// Whether a death is told with no more than when, of what and how: "died on me", "died in Fallout".
    fn ends_life(&self, at: usize) -> bool {
        let is_own = |at| matches!(self.lower(at), "his" | "her" | "their" | "its" | "my" | "our");
        match self.lower(at) {
            "of" => !NO_CAUSES_OF_DEATH.contains(&self.lower(at + 1)),
            "peacefully" | "suddenly" | "unexpectedly" => true,
            "in" => is_own(at + 1) || self.is_dated(at),
            _ => self.ends_plainly(at),
        }
    }

    /// "had to put Rex down", "put Rex to sleep".
    pub(super) fn of_put_down(&mut self, at: usize) {
        if self.lower(at) != "put" || self.clause_before(at).any(|at| self.is_open(at)) {
            return;
        }
        let before = |back: usize| at.checked_sub(back).map_or("", |at| self.lower(at));
        // "Mo had to be put to sleep", "Mo was put down".
        let subject = match (before(3), before(2), before(1)) {
            ("had", "to", "be") => at.checked_sub(4),
            (_, _, "was") => at.checked_sub(2),
            _ => None,
        };
        let end = match (self.lower(at + 1), self.lower(at + 2)) {
            ("down", _) => Some(at + 2),
            ("to", "sleep") => Some(at + 3),
            _ => None,
        };
        if let Some((word, end)) = subject.and_then(|at| self.words.get(at)).zip(end) {
            let is_end = end == self.words.len() || self.is_dated(end);
            if let Some(name) = self.text.get(word.range.clone()).filter(|_| is_end)
                && (word.is_capital || self.is_known_as(name, "Animal"))
            {
                self.date_anew(at);
                self.end_with(name, &["has_pet"]);
            }
            return;
        }
        let Some(name) = tails::noun(self.text, self.words, at + 1, "") else { return };
        let had_to = before(1) == "to" && before(2) == "had";
        let end = match (self.lower(name.end), self.lower(name.end + 1)) {
            ("down", _) if had_to => name.end + 1,
            ("to", "sleep") if had_to || before(1) != "to" => name.end + 2,
            _ => return,
        };
        let is_end = end == self.words.len() || self.is_dated(end);
        if self.is_somebodys(&name) && is_end {
            self.date_anew(at);
            self.end_with(name.text, &["has_pet"]);
        }
    }

    /// Takes the date of the clause around a place, whatever was read before.
    pub(super) fn date_anew(&mut self, at: usize) {
        self.valid = self.statement.valid;
        self.date_clause(at);
    }

    /// Whether it is the name of somebody or of an animal, who may be known by it in any case.
    fn is_somebodys(&self, name: &Tail<'_>) -> bool {
        let known = || self.known_as(name.text);
        name.is_name || matches!(known().as_deref(), Some("Animal" | "Person"))
    }

    /// A word after which nothing is told as done.
    fn is_open(&self, at: usize) -> bool {
        lexicon::denies(self.lower(at)) || self.is_open_word(at)
    }

    /// Ends that anybody who speaks has an animal or a partner of this name.
    pub(super) fn end_with(&mut self, name: &str, relations: &[&str]) {
        for person in self.speakers {
            for relation in relations {
                self.end(person, relation, Some(name));
            }
        }
    }

    /// "is not allergic to cats", "does not live in Rome": what of it is held is over. Reads the clause as if
    /// it said "any more", and tells none of it.
    pub(super) fn of_plain_denial(
        &mut self,
        person: &str,
        group: Group,
        read: impl FnOnce(&mut Self, Group),
    ) {
        let is_undated =
            self.statement.at == Some(self.valid.from) && self.valid.to == Interval::MAX;
        let is_now = group.tense == Tense::Present && !group.is_modal && !group.is_future;
        if !is_now || !is_undated || !self.is_plainly_denied(group.main) {
            return;
        }
        // "Not allergic to cats and dogs", "not at Siemens because of the money", "not when it rains".
        let behind = (group.main + 1..self.words.len())
            .take_while(|at| is_joined(self.text, &self.words[at - 1], &self.words[*at]))
            .take_while(|at| !self.begins_another(*at));
        // "Not allergic to all nuts", but "not at all", "after all".
        let is_of_all =
            |at: usize| self.lower(at) == "all" && matches!(self.lower(at - 1), "after" | "at");
        let is_in_part =
            behind.clone().any(|at| DENIED_IN_PART.contains(&self.lower(at)) && !is_of_all(at));
        let end = behind.last().map_or(group.main + 1, |last| last + 1);
        // "I don't work at Siemens, I slave there", but "I don't live in Rome, I live in Oslo".
        let next = self.named(end, person).map(|verb| verbs::lemma(self.lower(verb)));
        let is_same = next.is_some_and(|verb| verb == verbs::lemma(self.lower(group.main)));
        // "Sometimes I'm not vegan", "I'm not vegan - I'm raw vegan".
        let is_at_times =
            self.clause_before(group.main).any(|at| AT_TIMES.contains(&self.lower(at)));
        // "I don't work at the big Lidl, I work at the small one."
        let is_which = |at: usize| {
            let is_small = |at: usize| self.words.get(at).is_some_and(|word| !word.is_capital);
            self.lower(at) == "the"
                && is_small(at + 1)
                && self.words.get(at + 2).is_some_and(|word| word.is_capital)
        };
        if (group.main + 1..end).any(is_which) {
            return;
        }
        let denied: Vec<&str> = (group.main + 1..end)
            .map(|at| self.lower(at))
            .filter(|word| !lexicon::is_empty(word))
            .collect();
        let is_again = (end..self.words.len()).any(|at| denied.contains(&self.lower(at)));
        let is_all = end == self.words.len() || is_same || self.begins_another(end);
        if is_in_part || is_at_times || is_again || !is_all && !self.is_explained(end) {
            return;
        }
        let before = self.found.len();
        read(self, Group { is_negated: false, is_ended: true, ..group });
        for fact in self.found.split_off(before) {
            self.end(&fact.head.name, &fact.relation, Some(&fact.tail.name));
        }
    }

    /// Whether "and" or "but" at a place joins another clause of somebody who speaks: "not allergic to nuts and I love
    /// them", and not "but I am in spring", which limits what is denied.
    fn begins_another(&self, at: usize) -> bool {
        let verb = self.speakers.iter().find_map(|speaker| self.named(at + 1, speaker));
        let limits = |verb: usize| {
            let next = self.lower(verb + 1);
            matches!(self.lower(verb), "did" | "do" | "does" | "is" | "used" | "was" | "still")
                && (self.is_end(verb + 1) || rewrite::is_preposition(next) || next == "when")
        };
        matches!(self.lower(at), "and" | "but") && verb.is_some_and(|verb| !limits(verb))
    }

    /// Whether what stands behind a comma says how something came to be thought that is not so, or what is so instead:
    /// "not allergic to nuts, it was a mistake", "not vegan, just vegetarian", "not at Bosch, my husband does".
    fn is_explained(&self, at: usize) -> bool {
        let two = (self.lower(at), self.lower(at + 1));
        let start = at + 1 + usize::from(two.1 == "to");
        let rest = || (start..self.words.len()).map(|at| self.lower(at));
        // "Only to shellfish", and not "only on Sundays", "only to raw ones", which limit what is denied.
        let is_one_thing = matches!(two.0, "just" | "only")
            && (1..=2).contains(&rest().count())
            && !rest().any(|word| {
                rewrite::is_preposition(word) || matches!(word, "if" | "ones" | "when")
            });
        let is_told = matches!(two, ("it" | "that" | "this", "was"));
        let last = self.words.len().saturating_sub(1);
        let is_of_another = matches!(self.lower(last), "does" | "is") && self.has_possessive(at);
        is_one_thing || is_told || is_of_another
    }

    /// Whether a verb is denied by "not" and nothing more: "does not usually live" is another thing.
    pub(super) fn is_plainly_denied(&self, verb: usize) -> bool {
        let is_not = |at: usize| self.lower(at) == "not" || self.lower(at).ends_with("n't");
        let is_more =
            |at: usize| lexicon::is_adverb(self.lower(at)) && self.lower(at) != "actually";
        let before = verb.checked_sub(1).is_some_and(is_not);
        before || is_not(verb) || is_not(verb + 1) && !is_more(verb + 2)
    }

    /// Tells that what somebody has of a relation is over since then.
    pub(super) fn end(&mut self, person: &str, relation: &str, tail: Option<&str>) {
        if tail.is_none() && says(&self.statement.said, EARLIER) {
            return;
        }
        let over = self.over().to;
        // "I got fired this year" is over when it is said.
        let at = match self.statement.at {
            Some(told) if self.valid.from <= told => over.min(told),
            _ => over,
        };
        self.end_at(person, relation, tail, at);
    }

    /// The same at an instant.
    pub(super) fn end_at(&mut self, person: &str, relation: &str, tail: Option<&str>, at: Time) {
        // Of others than who speaks there may be two of one name.
        let is_sure = tail.is_some() || self.speakers.contains(&person);
        if at == Interval::MAX || !is_sure {
            return;
        }
        let person = Entity { label: "Person".to_owned(), name: person.to_owned() };
        self.endings.push(ExtractedEnding {
            head: self.known.find(&person.name).unwrap_or(person),
            relation: relation.to_owned(),
            tail: tail.map(str::to_owned),
            at,
            confidence: self.statement.confidence,
            turns: self.statement.turns.clone(),
        });
    }
}

/// Whether a verb tells of nothing that has happened.
fn is_off(group: Group) -> bool {
    group.is_negated || group.is_modal || group.is_future || group.is_former || group.is_ended
}

/// Words behind which not all of what stands before them is denied.
const DENIED_IN_PART: &[&str] = &[
    "and", "or", "because", "since", "so", "when", "whenever", "while", "if", "unless", "but",
    "only", "just", "all", "every", "most",
];

/// What is told of another job or marriage than that of now: "In my last job I worked at Bosch until I was let go".
const EARLIER: &[&str] = &[
    "in my last job",
    "in my previous job",
    "at my last job",
    "at my previous job",
    "my first husband",
    "my first wife",
    "my first marriage",
    "my previous marriage",
];

/// What says that something is denied of some times alone.
const AT_TIMES: &[&str] =
    &["sometimes", "often", "usually", "mostly", "normally", "today", "yesterday"];

/// Who lets somebody go from a job.
const EMPLOYERS: &[&str] =
    &["they", "company", "boss", "employer", "manager", "work", "firm", "school", "bank"];

/// What nobody has died of.
const NO_CAUSES_OF_DEATH: &[&str] =
    &["laughter", "boredom", "embarrassment", "shame", "fright", "envy", "happiness", "excitement"];

/// What says that a job was not lost for good, or not now.
const BACK_AT_WORK: &[&str] = &[
    "again",
    "apologise",
    "apologize",
    "back",
    "early",
    "once",
    "rehired",
    "reinstated",
    "still",
    "twice",
];

/// What else one drops out of.
const NO_STUDIES: &[&str] =
    &["call", "challenge", "connection", "game", "hackathon", "meeting", "race", "wifi", "zoom"];

/// What is left by dropping out.
const SCHOOLS: &[&str] = &["college", "university", "uni", "school"];

/// What somebody is who has no job.
const JOBLESS: &[&str] = &["unemployed", "jobless", "retired"];

#[cfg(test)]
mod tests;
