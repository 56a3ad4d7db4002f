//! When a fact holds, by the tense of its verb and the date of its sentence.
//!
//! A date bounds what happened. What lasts has begun by then or is over, as its verb says, and a
//! date in the past beside a verb in the present is that of something else. What is told as over
//! without a date ended when it was told, and nothing says when it began.

use std::ops::Range;

use engraph_storage::graph::{Interval, Time};

use super::group::{Group, Tense};
use super::{Finder, rewrite, verbs};
use crate::memory::extract::rules::dates;
use crate::memory::extract::rules::edits::Edits;
use crate::retrieval::words::{begins_with_name, says, words};
use crate::time::DAY;

/// How long a feeling is told of, in microseconds.
const FELT: Time = DAY;

impl Finder<'_> {
    /// When a fact of a relation holds that the verb of a clause tells.
    pub(super) fn held(&self, relation: &str, group: Group) -> Interval {
        let said = self.valid;
        let Some(at) = self.statement.at else { return said };
        let is_past_date = said.to <= at;
        let is_undated = said == since(at, said);
        let verb = verbs::lemma(self.lower(group.main)).unwrap_or_default();
        if group.is_ended {
            return self.over();
        }
        if group.is_former {
            return if is_past_date { said } else { until(at, said) };
        }
        // Nobody is excited for ever, nor just on the day that they look forward to.
        let is_during = said.contains(at) && said.from != Interval::MIN && said.to != Interval::MAX;
        if relation == "feels" && group.tense == Tense::Present && (is_undated || !is_during) {
            return Interval::new(at, at.saturating_add(FELT)).unwrap_or(said);
        }
        match group.tense {
            // "I turned 30 before I moved in 2015": by then at the latest.
            _ if begins(relation, verb, group.is_passive) => match said.from {
                Interval::MIN => since(said.to, said),
                from => since(from, said),
            },
            Tense::Past if is_undated && self.is_over_by_now(relation) => until(at, said),
            _ if group.is_perfect && is_undated && self.is_experience(relation) => until(at, said),
            Tense::Present if is_past_date => since(at, said),
            // "I bought tickets for the concert in May": the date is that of the concert.
            Tense::Past if said.from > at && !group.is_future && relation != "plans_to" => {
                since(at, said)
            }
            // "I live here until March".
            Tense::Present if said.from == Interval::MIN => {
                Interval::new(at, said.to).unwrap_or(said)
            }
            _ => said,
        }
    }

    /// Of a sentence with several dates, takes the one of the clause around a place; whether it has one.
    pub(super) fn date_clause(&mut self, at: usize) -> bool {
        let (Some(told), true) = (self.statement.at, self.has_dates) else { return true };
        self.valid = dates::resolve(self.clause(at, at), Some(told), &mut Edits::default());
        self.valid.from != told
    }

    /// When a clause around a place holds whose sentence has one date: of the present, of what was once, and
    /// where it is yet to come, the date must be its own. "I live in Rome and my course starts in August."
    pub(super) fn own_date(&self, at: usize, group: Group) -> Interval {
        // "Before I met Tom in 2015": they met then.
        let is_bound = at > 0 && matches!(self.lower(at - 1), "before" | "until" | "till");
        if let Some(told) = self.statement.at.filter(|_| is_bound) {
            let event = &self.text[self.words[at].range.start..];
            let ends = [", ", " and ", " but "].iter().filter_map(|cut| event.find(cut));
            let event = &event[..ends.min().unwrap_or(event.len())];
            let own = dates::resolve(event, Some(told), &mut Edits::default());
            if own != since(told, own) {
                return own;
            }
        }
        let ahead = self.statement.at.is_some_and(|at| self.statement.valid.from > at);
        // "I quit my job and start at Siemens on Monday."
        let is_now =
            (group.tense == Tense::Present || ahead) && !group.is_future || group.is_former;
        let clause = self.clause(at, group.main);
        let dated = |text: &str, told| {
            let own = dates::resolve(text, Some(told), &mut Edits::default());
            (own != since(told, own)).then_some(own)
        };
        let Some(told) = self.statement.at.filter(|_| clause.len() < self.text.len()) else {
            return self.statement.valid;
        };
        if !is_now {
            // "I have lived in Rome for ten years, got married last month."
            let own = group.is_perfect.then(|| dated(clause, told)).flatten();
            return own.unwrap_or(self.statement.valid);
        }
        // "Since 2010 I live in Linz and work at Siemens."
        let named =
            |at: &usize| self.speakers.iter().any(|speaker| self.named(*at, speaker).is_some());
        let first = (0..at).find(named).unwrap_or(at);
        let lead = &self.text[..self.words[first].range.start];
        match (dated(clause, told), dated(lead, told)) {
            (Some(own), _) if group.is_perfect => own,
            (None, None) => since(told, self.statement.valid),
            _ => self.statement.valid,
        }
    }

    /// The clause that begins at or before a word and goes on after another one: as far as what joins it to
    /// the next, or a comma after which the next begins.
    pub(super) fn clause(&self, at: usize, behind: usize) -> &str {
        let before = &self.text[..self.words[at].range.start];
        let place = self.words[behind].range.start;
        let behind = &self.text[place..];
        let starts = CUTS.iter().filter_map(|cut| before.rfind(cut)).max();
        let start = starts.unwrap_or(0);
        let start = match before.trim_end().ends_with(',') && self.has_verb(start..before.len()) {
            true => before.len(),
            false => start,
        };
        // "with Tom and Anna", "Rome, my favourite city": no clause begins there.
        let places =
            |cut: &'static str| behind.match_indices(cut).map(move |(at, _)| (at, cut.len()));
        let tells = |(at, length): &(usize, usize)| self.tells_after(place + at + length);
        let joined = CUTS.iter().flat_map(|cut| places(cut).find(tells));
        let subject = |(at, length): &(usize, usize)| self.begins_after(place + at + length);
        // "until we move", "until Nora and Otto move": whoever it is, something is told of them.
        let awaited = |at: &(usize, usize)| tells(at) || self.is_somebody(place + at.0 + at.1);
        let commas = places(", ").filter(subject).find(tells);
        let untils = [" until ", " till "];
        let untils = untils.into_iter().flat_map(|cut| places(cut).filter(subject).find(awaited));
        let end = joined.chain(commas).chain(untils).map(|(at, _)| at).min();
        self.text.get(start..place + end.unwrap_or(behind.len())).unwrap_or_default()
    }

    /// Whether a speaker, or somebody by a pronoun, stands at a place.
    fn is_somebody(&self, place: usize) -> bool {
        let rest = self.text.get(place..).unwrap_or_default();
        let first = rest.split(' ').next().unwrap_or_default().to_lowercase();
        self.speakers.iter().any(|speaker| begins_with_name(rest, speaker))
            || ["i", "we", "they", "you", "he", "she"].contains(&first.as_str())
    }

    /// Whether what stands from a place on, up to what joins the next, tells something by itself.
    fn tells_after(&self, place: usize) -> bool {
        let rest = self.text.get(place..).unwrap_or_default();
        let cuts = CUTS.iter().copied().chain([", "]).filter_map(|cut| rest.find(cut));
        self.has_verb(place..place + cuts.min().unwrap_or(rest.len()))
    }

    /// Whether a part of the text tells something by itself: "In 2010, " does not.
    fn has_verb(&self, part: Range<usize>) -> bool {
        let mut words = self.words.iter().filter(|word| part.contains(&word.range.start));
        let mut is_plural = false;
        words.any(|word| {
            let forms = verbs::verb(&word.lower).map(|verb| verb.forms);
            let tells = rewrite::is_modal(&word.lower)
                || matches!(word.lower.as_str(), "are" | "turning")
                || forms.is_some_and(|forms| forms.past || forms.third || forms.base && is_plural);
            is_plural = matches!(word.lower.as_str(), "they" | "others");
            tells
        })
    }

    /// Whether a clause begins at a place in the text: with a subject of its own, a verb in the past or a word of
    /// time.
    fn begins_after(&self, place: usize) -> bool {
        let rest = self.text.get(place..).unwrap_or_default();
        let first = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_of_speaker = self.speakers.iter().any(|speaker| begins_with_name(rest, speaker));
        let is_past = || {
            let verb = verbs::verb(first).map(|verb| verb.forms);
            verb.is_some_and(|forms| forms.past && !forms.base) || first == "turning"
        };
        is_of_speaker
            || SUBJECTS.contains(&first.to_lowercase().as_str())
            || is_past()
            || has_bare_subject(rest)
    }

    /// Whether a verb in the present is dated ahead: "we fly to Oslo on 5 May".
    pub(super) fn is_to_come(&self, group: Group) -> bool {
        let said = self.valid;
        group.tense == Tense::Present && self.statement.at.is_some_and(|at| said.from > at)
    }

    /// What is told of the past as of now, if the sentence says that it goes on.
    pub(super) fn as_it_still_is(&self, group: Group) -> Group {
        let is_of_past = group.is_former || group.tense == Tense::Past;
        match is_of_past && !group.is_ended && self.is_still_so(group) {
            true => Group { is_former: false, tense: Tense::Present, ..group },
            false => group,
        }
    }

    /// "I was a nurse and I still am", of who speaks.
    fn is_still_so(&self, group: Group) -> bool {
        let said = &self.statement.said;
        if !said.contains("still") {
            return false;
        }
        let wanted = match verbs::lemma(self.lower(group.main)).unwrap_or_default() {
            "be" => "am",
            "have" => "have",
            _ if group.is_passive => "am",
            _ => "do",
        };
        let words = words(said);
        let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
        let ends = |at: usize| {
            let rest = words.get(at).map_or("", |word| &said[word.range.end..]);
            words.len() == at + 1 || rest.starts_with([',', '.', '!', ';', ')'])
        };
        (1..words.len()).filter(|at| lower(*at) == "still").any(|at| {
            let is_own = matches!(lower(at - 1), "i" | "we" | "and" | "but");
            let is_them = matches!(lower(at + 2), "her" | "him" | "it" | "them");
            let end = at + 1 + usize::from(wanted == "have" && is_them);
            is_own && lower(at + 1) == wanted && ends(end)
        })
    }

    /// "used to play on Mondays, now on Thursdays": it is done otherwise, and not over.
    pub(super) fn is_otherwise_now(&self, relation: &str) -> bool {
        let said = &self.statement.said;
        let otherwise: &[&str] = match relation {
            "works_at" => &["now i'm at their", "now at their"],
            "lives_in" | "studies_at" | "works_as" => &[],
            _ => &["now on", "now only on", "now just on"],
        };
        says(said, otherwise) && !says(said, &["from now on"])
    }

    /// Whether what is told in the past without a date is over.
    fn is_over_by_now(&self, relation: &str) -> bool {
        let said = format!(" {} ", self.statement.said.to_lowercase().replace(',', ""));
        LASTING.contains(&relation)
            || TASTES.contains(&relation) && BACK_THEN.iter().any(|then| said.contains(then))
    }

    /// Whether a perfect tells what was at some time, and not what goes on: "has lived in Rome".
    fn is_experience(&self, relation: &str) -> bool {
        let text = self.statement.text.to_lowercase();
        let text = format!("{} ", text.trim_end_matches(|c: char| !c.is_alphanumeric()));
        LASTING.contains(&relation)
            && !GOING_ON.contains(&relation)
            && !STILL.iter().any(|still| text.contains(still))
            && !LONG.iter().any(|long| text.ends_with(long))
    }

    /// When something held that the sentence says is over: up to the end of its date, or to the
    /// beginning of one that is open.
    pub(super) fn over(&self) -> Interval {
        let said = self.valid;
        match self.statement.at {
            Some(_) if said.to == Interval::MAX => until(said.from, said),
            Some(_) => until(said.to, said),
            None => said,
        }
    }

    /// Until when it is told, whatever date stands beside it.
    pub(super) fn over_by_now(&self) -> Interval {
        let said = self.valid;
        self.statement.at.map_or(said, |at| until(at, said))
    }

    /// From when it is told on, whatever date stands beside it.
    pub(super) fn lasting(&self) -> Interval {
        let said = self.valid;
        self.statement.at.map_or(said, |at| since(at, said))
    }

    /// From the beginning of its date on.
    pub(super) fn begun(&self) -> Interval {
        since(self.valid.from, self.valid)
    }
}

/// What joins two clauses.
const CUTS: &[&str] = &[" and ", " but ", "; ", ", then ", " because ", " while ", " where "];

/// Words with which a clause begins after a comma.
const SUBJECTS: &[&str] = &[
    "i", "you", "he", "she", "it", "we", "they", "my", "his", "her", "our", "their", "the", "then",
    "now", "before", "later", "so", "there",
];

/// Whether a text begins in lower case with a few words and what they are: "doctor's appointment is tomorrow".
fn has_bare_subject(text: &str) -> bool {
    let segment = text.split([',', ';', '.']).next().unwrap_or_default();
    let words: Vec<&str> = segment.split(' ').take(SUBJECT_WORDS_MAX + 1).collect();
    let is_be = |word: &&str| matches!(*word, "is" | "are" | "was" | "were");
    let begins_small = segment.starts_with(char::is_lowercase);
    let verb = words.iter().position(is_be);
    let first = words.first().copied().unwrap_or_default();
    let is_relative = matches!(first, "which" | "who" | "that" | "where" | "what" | "and" | "or");
    begins_small && !is_relative && verb.is_some_and(|verb| verb > 0)
}

/// Words before the verb of a clause that has no article, at most.
const SUBJECT_WORDS_MAX: usize = 3;

fn since(from: Time, otherwise: Interval) -> Interval {
    Interval::new(from, Interval::MAX).unwrap_or(otherwise)
}

fn until(to: Time, otherwise: Interval) -> Interval {
    Interval::new(Interval::MIN, to).unwrap_or(otherwise)
}

/// Whether a verb says when something begins that lasts.
fn begins(relation: &str, verb: &str, is_passive: bool) -> bool {
    match (relation, verb) {
        ("married_to", "marry") => !is_passive,
        ("married_to" | "engaged_to", "get") => true,
        ("has_pet" | "works_at" | "works_as" | "has_condition" | "marital_status", "get")
        | ("has_pet", "adopt")
        | ("works_at", "start" | "begin")
        | ("works_at" | "works_as", "join" | "hire" | "promote" | "become")
        | ("has_condition", "diagnose")
        | ("avoids", "stop" | "quit" | "give")
        | (
            "diet" | "religion" | "nationality" | "has_trait" | "marital_status",
            "go" | "become" | "turn",
        )
        | ("age", "turn")
        | ("born_in", _) => true,
        _ => false,
    }
}

/// Whether a relation is of what lasts, so that it can be over.
pub(super) fn lasts(relation: &str) -> bool {
    LASTING.contains(&relation) || TASTES.contains(&relation)
}

/// Relations of what somebody loved or hated, which mostly is loved or hated still.
const TASTES: &[&str] = &["likes", "loves", "prefers", "dislikes"];

/// What says that it was so for a time.
const BACK_THEN: &[&str] = &[
    " until ",
    " but now ",
    " as a kid",
    " as a child",
    " before i ",
    " back then",
    " when i was ",
    " in those days",
];

/// Relations whose perfect tells of now: "has decided to move".
const GOING_ON: &[&str] = &["plans_to", "wants_to", "considers", "feels"];

/// What says beside a perfect that it goes on.
const STILL: &[&str] = &[
    " always ",
    " life",
    " for a ",
    " for ages",
    " for years",
    " for many ",
    " so long",
    " forever ",
    " all along ",
    " since ",
];

/// How long it has been, at the end: "I've worked at Fiat 14 years".
const LONG: &[&str] =
    &[" years ", " years now ", " months now ", " a long time ", " whole career "];

/// Relations of what lasts, and is over if its verb is in the past.
const LASTING: &[&str] = &[
    "lives_in",
    "lives_near",
    "works_at",
    "works_as",
    "works_on",
    "volunteers_at",
    "studies_at",
    "studies",
    "researches",
    "teaches",
    "learns",
    "practises",
    "plays",
    "collects",
    "owns",
    "has_pet",
    "fears",
    "allergic_to",
    "married_to",
    "engaged_to",
    "partner_of",
    "interested_in",
    "believes_in",
    "listens_to",
    "misses",
    "was_in",
    "wants_to",
    "plans_to",
    "considers",
    "feels",
    "age",
    "works_in",
    "diet",
    "avoids",
    "religion",
    "nationality",
    "has_condition",
    "has_trait",
    "marital_status",
    "intolerant_to",
    "weight",
    "speaks",
    "drives",
    "uses",
    "supports",
    "runs",
    "takes",
    "trains_for",
];

#[cfg(test)]
mod tests;
