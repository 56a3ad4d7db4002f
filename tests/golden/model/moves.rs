//! Beliefs that end, and beliefs that grow or shrink: `RETRACT`, `CONFIRM` and `DOUBT`.

use super::oracle::{Belief, System, World};

impl World {
    /// Ends the belief in every fact between two nodes; a line for each.
    pub(crate) fn retract(
        &mut self,
        head: &str,
        relation: &str,
        tail: &str,
        past: bool,
    ) -> Vec<String> {
        let system = if past { System::All } else { System::Current };
        let mut facts: Vec<u64> = Vec::new();
        for version in self.versions(system) {
            let said = |b: &Belief| b.head == head && b.relation == relation && b.tail == tail;
            if self.views(&version.belief).iter().any(said) {
                facts.push(version.fact);
            }
        }
        facts.sort_unstable();
        facts.dedup();
        let word = |ended| if ended { "retracted" } else { "not believed any more" };
        facts.iter().map(|fact| format!("{fact} | {}", word(self.end(*fact)))).collect()
    }

    /// `CONFIRM` or `DOUBT` of what a head has at an instant; a line for each fact.
    pub(crate) fn move_confidence(
        &mut self,
        head: &str,
        relation: &str,
        at: i64,
        by: f64,
        doubt: bool,
    ) -> Vec<String> {
        let mut facts: Vec<u64> = Vec::new();
        for version in self.believed() {
            let from = |b: &Belief| b.head == head && b.relation == relation;
            let holds = version.belief.from <= at && at < version.belief.to;
            if holds && self.views(&version.belief).iter().any(from) {
                facts.push(version.fact);
            }
        }
        facts.sort_unstable();
        facts.dedup();
        let moved = |&fact: &u64| {
            let word = if doubt { self.doubt(fact, by) } else { self.confirm(fact, by) };
            format!("{fact} | {word}")
        };
        facts.iter().map(moved).collect()
    }

    /// Less sure by a share; nothing else changes.
    fn doubt(&mut self, fact: u64, by: f64) -> String {
        let Some(mut belief) = self.belief(fact).cloned() else {
            return "not believed any more".to_owned();
        };
        belief.confidence *= 1.0 - by;
        self.put(fact, belief);
        "doubted".to_owned()
    }

    /// Surer by noisy-or; an uncertain fact meets the rule again.
    fn confirm(&mut self, fact: u64, by: f64) -> String {
        let Some(mut belief) = self.belief(fact).cloned() else {
            return "not believed any more".to_owned();
        };
        let before = belief.confidence;
        belief.confidence = 1.0 - (1.0 - before) * (1.0 - by);
        if belief.uncertain {
            return self.settle(fact, belief);
        }
        if belief.confidence == before {
            return "unchanged".to_owned();
        }
        self.put(fact, belief);
        "confirmed".to_owned()
    }
}
