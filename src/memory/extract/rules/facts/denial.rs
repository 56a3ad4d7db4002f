//! What somebody does not like.

use super::group::Tense;
use super::{Finder, Group, tails};
use crate::memory::extract::rules::sentences::{gap, is_joined};

/// What says that only some of something is meant.
const QUALIFIERS: &[&str] = &[
    "in", "on", "at", "with", "without", "as", "when", "before", "after", "than", "during", "if",
    "enough", "unless", "from", "made", "that",
];

impl Finder<'_> {
    /// "doesn't like mushrooms", "isn't a fan of mushrooms".
    pub(super) fn of_denial(&mut self, person: &str, verb: &str, group: Group) {
        let is_present = group.tense == Tense::Present && !group.is_modal;
        let is_own = self.lower(group.main) == verb && is_present;
        let at = match verb {
            "like" | "enjoy" | "love" if is_own => group.main + 1,
            "stand" if group.is_modal => group.main + 1,
            "be" if is_present && self.is_plainly_denied(group.main) => {
                match self.behind_fan(group.main + 1) {
                    Some(at) => at,
                    None => return,
                }
            }
            _ => return,
        };
        // "I don't like sushi, I love it."
        let said = self.statement.said.to_lowercase();
        let is_loved = ["love it", "love them", "adore it", "adore them"]
            .iter()
            .any(|love| said.contains(love));
        if !self.is_longer(group.main)
            && !is_loved
            && !self.is_more(group.main)
            && let Some(tail) = tails::noun(self.text, self.words, at, person)
            && !self.is_qualified(tail.end)
        {
            self.tell(person, "dislikes", "Thing", &tail, group, None);
        }
    }

    /// The place after "not a big fan of".
    fn behind_fan(&self, at: usize) -> Option<usize> {
        let start = self.next_of_group(at);
        let is_twice = self.lower(at) == "not" && self.lower(at + 1) == "not";
        let fan = (start..start + 3).find(|at| self.lower(*at) == "fan")?;
        let of = self.words.get(fan).zip(self.words.get(fan + 1));
        let is_of = of.is_some_and(|(fan, of)| of.lower == "of" && gap(self.text, fan, of) == " ");
        (is_of && !is_twice).then_some(fan + 2)
    }

    /// "doesn't like coffee in the evening", "doesn't love tea as much": not all of it is disliked.
    fn is_qualified(&self, at: usize) -> bool {
        let next = at.checked_sub(1).zip(self.words.get(at));
        let goes_on =
            next.is_some_and(|(before, word)| is_joined(self.text, &self.words[before], word));
        let is_of_all = matches!(self.lower(at + 1), "general" | "any" | "all");
        goes_on && QUALIFIERS.contains(&self.lower(at)) && !is_of_all && !self.is_dated(at)
    }

    fn is_longer(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|at| self.lower(at) == "longer")
    }

    /// "doesn't just love coffee".
    fn is_more(&self, at: usize) -> bool {
        (at.saturating_sub(2)..at)
            .any(|at| matches!(self.lower(at), "just" | "only" | "merely" | "simply"))
    }
}
