//! What ends that somebody has: a dog that died, a marriage that broke up.
//!
//! It ends where a clause says so plainly; what is only supposed, thought or dreamed ends nothing.

use std::ops::Range;

use super::clause::is_supposed;
use super::group::Tense;
use super::{Finder, gap, lexicon, rewrite, verbs};
use crate::memory::extract::rules::sentences::is_joined;

/// Words before a possession that may tell that it is one no more.
const PARTING_WORDS: usize = 6;

/// Relations that end when two part.
pub(super) const PARTNERS: &[&str] = &["married_to", "engaged_to", "partner_of"];

/// What is done before one "dies" of it.
const HEARD: &[&str] =
    &["found", "heard", "noticed", "read", "realised", "realized", "saw", "told"];

/// What tells that nobody has died.
const FIGURES: &[&str] = &["cringe", "laughing", "laughter", "punchline"];

/// Whether two have such a relation by their work.
fn is_of_work(relation: &str) -> bool {
    matches!(relation, "colleague_of" | "works_for")
}

/// What somebody has, or had, and where it stands.
pub(super) struct Had<'a> {
    pub(super) person: &'a str,
    pub(super) relation: &'a str,
    /// The words of the owner's name.
    pub(super) owner: Range<usize>,
    /// The place of `dog` or `wife`.
    pub(super) place: usize,
    /// The place after the name.
    pub(super) end: usize,
}

impl Finder<'_> {
    /// Whether somebody is gone: by what stands before them ("my late husband"), between them and
    /// the name ("my dog was named"), after them ("my cat Minka died") or in front of all of it ("I
    /// sold my horse").
    pub(super) fn is_over(&self, had: &Had<'_>) -> bool {
        self.is_late(had) || self.has_gone(had)
    }

    /// Whether they were gone before, however long: "my late husband", "my dog was named Rex". A date beside it is of
    /// something else.
    pub(super) fn is_late(&self, had: &Had<'_>) -> bool {
        let is_late = |at| matches!(self.lower(at), "late" | "former" | "ex" | "childhood");
        let was_named = self.lower(had.place + 1) == "was";
        let is_old = had.relation != "has_pet" && self.is_bygone(had);
        was_named || is_old || (had.owner.end..had.place).any(is_late)
    }

    /// Whether it is told that they go, and so when.
    pub(super) fn has_gone(&self, had: &Had<'_>) -> bool {
        let is_told = !self.clause_before(had.owner.start).any(|at| self.is_open_word(at));
        is_told && (self.is_gone(had) || self.is_parted(had))
    }

    /// "my old boss Karl was mean": over, but an old dog may be one of many years, as a friend is.
    pub(super) fn is_bygone(&self, had: &Had<'_>) -> bool {
        let is_old = (had.owner.end..had.place).any(|at| self.lower(at) == "old");
        let is_past = self.group(had.end).is_some_and(|group| group.tense == Tense::Past);
        is_old && is_past && had.relation != "friend_of"
    }

    /// "would name my dog Rex".
    pub(super) fn is_only_thought_of(&self, owner: usize) -> bool {
        let verb = owner.checked_sub(1).map_or("", |at| self.lower(at));
        let mut before = self.clause_before(owner);
        matches!(verb, "name" | "call")
            && before.any(|at| matches!(self.lower(at), "would" | "could" | "might"))
    }

    /// A word after which nothing is told as true: `if`, `thinks`, `might`, `dreamed`.
    pub(super) fn is_open_word(&self, at: usize) -> bool {
        let lower = self.lower(at);
        is_supposed(lower)
            || rewrite::is_modal(lower)
            || lower == "may"
            || lower.starts_with("dream")
    }

    /// "my cat Minka died", "my wife Anna and I got divorced".
    fn is_gone(&self, had: &Had<'_>) -> bool {
        let told = self.group(self.after_company(had.end)).filter(|group| {
            let is_denied = group.is_negated || group.is_modal || group.is_future;
            !is_denied && (group.tense != Tense::Present || group.is_passive)
        });
        let Some(group) = told else { return false };
        let verb = verbs::lemma(self.lower(group.main)).unwrap_or_default();
        let at = group.main + 1;
        let after_us = |at| self.named(at, had.person);
        let end = match (verb, self.lower(at)) {
            ("die", _) => return self.is_final(at),
            ("pass", "away") => return self.is_final(at + 1),
            // "My dog Rex passed on Monday"; a person may have passed a test.
            ("pass", how) if had.relation == "has_pet" || self.is_late(had) => {
                let is_ago = (at..at + 5).any(|at| self.lower(at) == "ago");
                let is_told = is_ago || self.is_dated(at) && self.has_year(at + 1);
                let is_death = is_told || matches!(how, "peacefully" | "suddenly");
                return is_death && self.is_final(at);
            }
            ("run", "away") => Some(at + 1).filter(|end| self.lower(*end) != "when"),
            // "My dog Rex was put down on Friday."
            ("put", "down") if group.is_passive && had.relation == "has_pet" => Some(at + 1),
            ("put", "to") if group.is_passive && self.lower(at + 1) == "sleep" => Some(at + 2),
            ("move", "out") if had.relation == "roommate_of" => Some(at + 1),
            ("retire" | "quit", _) if is_of_work(had.relation) => Some(at),
            ("get", "fired") | ("leave", "us") if is_of_work(had.relation) => Some(at + 1),
            ("leave", "the") if is_of_work(had.relation) && self.lower(at + 1) == "company" => {
                Some(at + 2)
            }
            _ if !PARTNERS.contains(&had.relation) => None,
            // "left me and the kids at the ice rink".
            _ if self.lower(group.main) == "dumped" => after_us(at),
            ("end", "things" | "it") if self.lower(at + 1) == "with" => after_us(at + 2),
            ("leave", _) => after_us(at).filter(|end| {
                self.lower(*end) != "and" || !lexicon::is_determiner(self.lower(end + 1))
            }),
            _ => match self.separation(verb, at) {
                Some((relations, _)) if !relations.contains(&had.relation) => None,
                Some((_, end)) if self.lower(end) == "with" => after_us(end + 1),
                Some((_, end)) => after_us(end).or(Some(end)),
                None => None,
            },
        };
        end.is_some_and(|end| self.ends_plainly(end) && !self.comes_back(end))
    }

    /// What ends where two part, and the place after the words that say so: "broke up", "got divorced".
    pub(super) fn separation(
        &self,
        verb: &str,
        at: usize,
    ) -> Option<(&'static [&'static str], usize)> {
        match (verb, self.lower(at)) {
            // Two who split up in a crowd meet again.
            ("split", "up") if self.lower(at + 1) == "so" => None,
            ("break" | "split", "up") => Some((PARTNERS, at + 1)),
            ("get" | "be", "separated") if self.lower(at + 1) == "because" => None,
            ("get" | "be", "separated") => Some((PARTNERS, at + 1)),
            ("separate", _) => Some((PARTNERS, at)),
            ("get" | "be", "divorced") => Some((&["married_to"], at + 1)),
            ("divorce", _) => Some((&["married_to"], at)),
            ("call", "off") if matches!(self.lower(at + 2), "engagement" | "wedding") => {
                Some((&["engaged_to"], at + 3))
            }
            _ => None,
        }
    }

    /// Whether a death is meant as one: not "died laughing", "died a little".
    pub(super) fn is_final(&self, at: usize) -> bool {
        let lower = self.lower(at);
        let is_doing = verbs::verb(lower).is_some_and(|verb| verb.forms.gerund);
        let is_saying = is_doing
            || matches!(lower, "a" | "inside" | "for" | "from" | "his" | "her" | "my" | "their");
        // "died when he saw the bill", "died on level 3", "died in my arms from laughing".
        let is_told_of = lower == "when" && HEARD.contains(&self.lower(at + 2))
            || lower == "on" && self.lower(at + 1) == "level";
        let is_meant = !(at..self.words.len()).any(|at| FIGURES.contains(&self.lower(at)));
        let is_one = !is_saying && !is_told_of && is_meant;
        is_one && !self.is_played(at) && !self.comes_back(at)
    }

    /// "but came back".
    pub(super) fn comes_back(&self, at: usize) -> bool {
        (at..self.words.len()).any(|at| match self.lower(at) {
            "but" | "back" | "found" | "postponed" | "rescheduled" => true,
            "new" => self.lower(at + 1) == "date",
            _ => false,
        })
    }

    /// "gave my dog Rex away", "broke up with my boyfriend Luis".
    fn is_parted(&self, had: &Had<'_>) -> bool {
        let mut before: Vec<&str> = self
            .clause_before(had.owner.start)
            .take(PARTING_WORDS)
            .map(|at| self.lower(at))
            .collect();
        before.reverse();
        let is_denied = before.iter().any(|word| lexicon::denies(word));
        let are_partners = PARTNERS.contains(&had.relation);
        let is_away = self.lower(had.end) == "away";
        let parts = match before.as_slice() {
            [.., "broke" | "broken" | "split", "up", "with"] => are_partners,
            [.., "divorced" | "separated", "from"] | [.., "divorced"] => are_partners,
            [.., "gave" | "given", "away"] | [.., "buried" | "lost"] => true,
            [.., "sold" | "rehomed"] => had.relation == "has_pet",
            [.., "put"] => had.relation == "has_pet" && self.is_put_down(had.end),
            [.., "gave" | "given"] => is_away,
            _ => false,
        };
        let behind = self.lower(had.end);
        let goes_on = lexicon::is_determiner(behind) || matches!(behind, "for" | "in" | "at");
        let is_whole = !goes_on || self.is_dated(had.end);
        parts && !is_denied && is_whole && !self.comes_back(had.end)
    }

    /// "put my dog Rex to sleep", "put my dog Rex down", from behind the name.
    fn is_put_down(&self, at: usize) -> bool {
        let is_end = |end| self.ends_plainly(end);
        match (self.lower(at), self.lower(at + 1)) {
            ("to", "sleep") => is_end(at + 2),
            ("down", _) => is_end(at + 1),
            _ => false,
        }
    }

    /// Whether a clause that says that something ended has no more after a place than when or why:
    /// who works somewhere "on Fridays" no more may work there still.
    pub(super) fn ends_plainly(&self, at: usize) -> bool {
        match self.lower(at) {
            _ if self.is_end(at) || self.is_dated(at) => true,
            "anymore" | "and" | "or" | "because" | "since" | "so" | "when" => true,
            "any" => matches!(self.lower(at + 1), "more" | "longer"),
            "for" => self.lower(at + 1) == "good",
            "after" => self.lower(at + 1) == "all",
            "recently" | "now" | "already" | "finally" => self.ends_plainly(at + 1),
            _ => false,
        }
    }

    /// The same without a reason or what follows.
    pub(super) fn ends_barely(&self, at: usize) -> bool {
        self.is_end(at) || self.is_dated(at) || self.lower(at) == "anymore"
    }

    /// Whether a clause has ended before a place: nothing stands there, or a mark is before it.
    pub(super) fn is_end(&self, at: usize) -> bool {
        let next = at.checked_sub(1).zip(self.words.get(at));
        next.is_none_or(|(before, word)| !is_joined(self.text, &self.words[before], word))
    }

    /// Whether a sentence has ended before a place.
    pub(super) fn ends_sentence(&self, at: usize) -> bool {
        let next = at.checked_sub(1).zip(self.words.get(at));
        next.is_none_or(|(before, word)| {
            gap(self.text, &self.words[before], word).starts_with(['.', '!', '?'])
        })
    }

    /// Whether a date stands at a place, as the rewritten text has them: "in May 2023".
    pub(super) fn is_dated(&self, at: usize) -> bool {
        let is_digit = |at| self.lower(at).starts_with(|c: char| c.is_ascii_digit());
        match self.lower(at) {
            "on" => is_digit(at + 1),
            "in" | "since" | "last" | "this" | "a" | "an" | "two" | "three" => {
                (at + 1..at + 4).any(is_digit)
            }
            _ => false,
        }
    }
}
