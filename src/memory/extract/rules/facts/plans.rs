//! What somebody plans, wants or means to do, and what is still to come.

use super::{Finder, Group, Tail, Tense, tails, verbs};
use crate::memory::extract::rules::relations::AIMS;

/// What somebody "is doing" by plan, where it is dated ahead: who "is training for May" trains by now.
const PLANNED: &[&str] = &[
    "adopt",
    "attend",
    "begin",
    "buy",
    "celebrate",
    "compete",
    "drive",
    "fly",
    "get",
    "go",
    "graduate",
    "host",
    "join",
    "launch",
    "leave",
    "marry",
    "meet",
    "move",
    "open",
    "perform",
    "quit",
    "retire",
    "return",
    "run",
    "see",
    "sell",
    "spend",
    "start",
    "stay",
    "take",
    "travel",
    "visit",
];

/// What somebody is to do that says nothing of a plan: "will let them know".
pub(super) const PROMISES: &[&str] = &[
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

impl Finder<'_> {
    /// "is moving to Rome in June": a plan, if it is dated ahead.
    pub(super) fn of_coming(&mut self, person: &str, verb: &str, group: Group) {
        let is_plan = group.is_ongoing && self.is_to_come(group) && !group.is_modal;
        if !is_plan || group.is_negated || group.is_passive || !PLANNED.contains(&verb) {
            return;
        }
        let Some(tail) = tails::doing(self.text, self.words, group.main) else { return };
        let Some((_, rest)) = tail.text.split_once(' ') else { return };
        let text = format!("{verb} {rest}");
        self.tell(person, "plans_to", "Activity", &Tail { text: &text, ..tail }, group, None);
    }

    /// "plans to move", "would love to go"; whether the clause was one.
    pub(super) fn of_aim(&mut self, person: &str, verb: &str, group: Group) -> bool {
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
            // Who decided to do something, and says no more, has yet to do it.
            let is_all = tail.end == self.words.len() && self.named(0, person).is_some();
            let is_now = verb == "decide"
                && is_all
                && self.lower(group.main.saturating_sub(1)) != "had"
                && self.statement.at == Some(self.valid.from);
            let tense = if is_now { Tense::Open } else { group.tense };
            self.tell(person, relation, "Activity", &tail, Group { tense, ..group }, None);
        }
        true
    }
}
