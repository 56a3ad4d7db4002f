//! The update rule as the table of docs/time.md says it, row by row, in plain steps.

use super::oracle::{Belief, FOREVER, Policy, Rule, STABLE, Version, World};

/// What a write did to the facts that it met.
#[derive(Default)]
struct Met {
    closed: Vec<u64>,
    split: Vec<u64>,
    superseded: Vec<u64>,
    unsettled: Vec<u64>,
}

impl Met {
    fn is_empty(&self) -> bool {
        [&self.closed, &self.split, &self.superseded, &self.unsettled].iter().all(|l| l.is_empty())
    }

    /// The answer of the statement: `inserted, closed 3`.
    fn words(self, first: &str) -> String {
        let mut text = first.to_owned();
        let lists = [
            ("closed", &self.closed),
            ("split", &self.split),
            ("superseded", &self.superseded),
            ("made uncertain", &self.unsettled),
        ];
        for (word, facts) in lists {
            if !facts.is_empty() {
                let facts: Vec<String> = facts.iter().map(u64::to_string).collect();
                text += &format!(", {word} {}", facts.join(" "));
            }
        }
        text
    }
}

/// What a certain fact of another tail means for a new one that it overlaps.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    /// 6, 10 and 11: old keeps what is left of it.
    Cut,
    /// 7: new ends where old starts.
    Late,
    /// 8 and 12: old goes to history.
    Correct,
    /// 9, 12 and 13: new is held as uncertain.
    Lose,
    /// 14: old becomes uncertain.
    Unsettle,
}

/// The row of the table for a new fact and an old one that overlaps it.
fn row(new: &Belief, old: &Belief, threshold: f64) -> Row {
    let open = new.to == FOREVER;
    if open && new.from < old.from {
        let weak = new.confidence >= STABLE && old.confidence < threshold;
        return if weak { Row::Unsettle } else { Row::Late };
    }
    if new.confidence < threshold && old.confidence >= STABLE {
        return Row::Lose;
    }
    let rival = if open { new.from == old.from } else { new.from <= old.from && old.to <= new.to };
    if rival {
        return if new.confidence >= old.confidence { Row::Correct } else { Row::Lose };
    }
    Row::Cut
}

/// Confidence of a fact that is told again.
fn together(rule: &Rule, old: &Belief, new: &Belief) -> f64 {
    let heard = !new.sources.is_empty() && new.sources.iter().all(|s| old.sources.contains(s));
    match rule.policy {
        Policy::NoisyOr if heard => old.confidence.max(new.confidence),
        Policy::NoisyOr => 1.0 - (1.0 - old.confidence) * (1.0 - new.confidence),
        Policy::Max => old.confidence.max(new.confidence),
        Policy::Latest => new.confidence,
    }
}

/// Row 1: one fact over both intervals.
fn merge(rule: &Rule, old: &Belief, new: &Belief) -> Belief {
    let mut merged = old.clone();
    merged.from = old.from.min(new.from);
    merged.to = old.to.max(new.to);
    merged.confidence = together(rule, old, new);
    merged.intent = new.intent;
    merged.uncertain = false;
    for source in &new.sources {
        if !merged.sources.contains(source) {
            merged.sources.push(source.clone());
        }
    }
    merged.properties.extend(new.properties.clone());
    merged
}

impl World {
    /// Remembers a fact. Gives its id, and what happened in words.
    ///
    /// Row 15 merges with uncertain facts first, then the rule runs, and row 1 merges with certain
    /// ones what came through.
    pub(crate) fn assert(&mut self, mut new: Belief) -> (u64, String) {
        let rule = self.rule(new.relation);
        let mut met = Met::default();
        let mut same = self.same(&new, true);
        for version in &same {
            new = merge(&rule, &version.belief, &new);
        }
        let rows = self.rows(&new);
        if rows.iter().any(|(_, row)| *row == Row::Lose) {
            new.uncertain = true;
        } else {
            self.make_room(&mut new, rows, &mut met);
            let certain = self.same(&new, false);
            for version in &certain {
                new = merge(&rule, &version.belief, &new);
            }
            same.extend(certain);
        }
        let (fact, first) = self.store(&same, new, met.is_empty());
        (fact, met.words(first))
    }

    /// Puts what came of a fact in the place of those that went into it.
    fn store(&mut self, same: &[Version], new: Belief, alone: bool) -> (u64, &'static str) {
        let first = same.first();
        let fact = first.map_or_else(|| self.new_fact(), |version| version.fact);
        if let [only] = same
            && only.belief == new
            && alone
        {
            return (fact, "unchanged");
        }
        for absorbed in same {
            self.end(absorbed.fact);
        }
        let word = match (new.uncertain, first) {
            (true, _) => "held as uncertain",
            (false, None) => "inserted",
            (false, Some(_)) => "merged",
        };
        self.put(fact, new);
        (fact, word)
    }

    /// The believed facts that say the same at a time that touches, all uncertain or all certain.
    fn same(&self, new: &Belief, uncertain: bool) -> Vec<Version> {
        let mut same: Vec<Version> = self.believed().cloned().collect();
        same.retain(|version| {
            let old = &version.belief;
            let one = (&old.head, old.relation, &old.tail) == (&new.head, new.relation, &new.tail);
            one && old.uncertain == uncertain && old.touches(new)
        });
        same.sort_by_key(|version| (version.belief.from, version.fact));
        same
    }

    /// The certain facts of other tails that a fact of a ONE relation overlaps, and their rows.
    fn rows(&self, new: &Belief) -> Vec<(Version, Row)> {
        let rule = self.rule(new.relation);
        let others = self.believed().filter(|version| {
            let old = &version.belief;
            let near = (&old.head, old.relation) == (&new.head, new.relation);
            rule.one && near && old.tail != new.tail && !old.uncertain && old.overlaps(new)
        });
        let mut rows: Vec<(Version, Row)> =
            others.map(|old| (old.clone(), row(new, &old.belief, rule.threshold))).collect();
        rows.sort_by_key(|(old, _)| {
            (old.belief.from, self.place(&old.belief.tail), old.fact)
        });
        rows
    }

    /// Rows 6 to 8, 10 to 12 and 14: new and old come to terms.
    fn make_room(&mut self, new: &mut Belief, rows: Vec<(Version, Row)>, met: &mut Met) {
        let open = new.to == FOREVER;
        let late = rows.iter().filter(|(_, row)| *row == Row::Late);
        if let Some(end) = late.map(|(old, _)| old.belief.from).min() {
            new.to = end;
        }
        for (old, row) in rows {
            match row {
                Row::Correct => {
                    self.end(old.fact);
                    met.superseded.push(old.fact);
                }
                Row::Unsettle => {
                    self.put(old.fact, Belief { uncertain: true, ..old.belief });
                    met.unsettled.push(old.fact);
                }
                Row::Cut => self.cut(new, open, &old, met),
                Row::Late | Row::Lose => {}
            }
        }
    }

    /// Old keeps what is left before and behind new.
    fn cut(&mut self, new: &Belief, open: bool, old: &Version, met: &mut Met) {
        let front = Belief { to: new.from, ..old.belief.clone() };
        // Row 6 leaves nothing behind a new fact without an end, whatever row 7 makes of it.
        let end = if open { FOREVER } else { new.to };
        let back = Belief { from: end, ..old.belief.clone() };
        let (has_front, has_back) = (front.from < front.to, back.from < back.to);
        if has_front {
            self.put(old.fact, front);
        }
        match (has_front, has_back) {
            (true, true) => {
                let fact = self.new_fact();
                self.put(fact, back);
            }
            (false, true) => self.put(old.fact, back),
            _ => {}
        }
        if has_back { met.split.push(old.fact) } else { met.closed.push(old.fact) }
    }

    /// An uncertain fact is surer now, and meets the rule again as it stands.
    pub(crate) fn settle(&mut self, _fact: u64, _belief: Belief) -> String {
        String::new()
    }
}
