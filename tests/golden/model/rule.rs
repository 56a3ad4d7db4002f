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

/// What a belief says, without when and how surely.
fn says(belief: &Belief) -> (&str, &str, &str) {
    (&belief.head, belief.relation, &belief.tail)
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
        let mut same = Vec::new();
        self.absorb(&rule, &mut new, true, &mut same);
        let rows = self.rows(&new);
        if rows.iter().any(|(_, row)| *row == Row::Lose) {
            new.uncertain = true;
        } else {
            self.make_room(&mut new, rows, &mut met);
            self.absorb(&rule, &mut new, false, &mut same);
        }
        let (fact, first) = self.store(&same, new, met.is_empty());
        (fact, met.words(first))
    }

    /// Puts what came of a fact in the place of those that went into it.
    fn store(&mut self, same: &[Version], new: Belief, alone: bool) -> (u64, &'static str) {
        let Some(first) = same.first() else {
            let word = if new.uncertain { "held as uncertain" } else { "inserted" };
            let fact = self.new_fact();
            self.put(fact, new);
            return (fact, word);
        };
        let new = self.along(&first.belief, new);
        if same.len() == 1 && first.belief == new && alone {
            return (first.fact, "unchanged");
        }
        for absorbed in same {
            self.end(absorbed.fact);
        }
        let word = if new.uncertain { "held as uncertain" } else { "merged" };
        self.put(first.fact, new);
        (first.fact, word)
    }

    /// An uncertain fact is surer now, and meets the rule again as if it were told now.
    pub(crate) fn settle(&mut self, fact: u64, mut belief: Belief) -> String {
        let rows = self.rows(&belief);
        if rows.iter().any(|(_, row)| *row == Row::Lose) {
            self.put(fact, belief);
            return "confirmed, held as uncertain".to_owned();
        }
        let mut met = Met::default();
        belief.uncertain = false;
        self.make_room(&mut belief, rows, &mut met);
        let (mut same, first) = (Vec::new(), belief.clone());
        self.absorb(&self.rule(belief.relation), &mut belief, false, &mut same);
        for absorbed in same {
            self.end(absorbed.fact);
        }
        let belief = self.along(&first, belief);
        self.put(fact, belief);
        met.words("confirmed")
    }

    /// A belief said from the end from which another one was said first.
    fn along(&self, first: &Belief, belief: Belief) -> Belief {
        if says(&belief) == says(first) {
            return belief;
        }
        self.turn(&belief).unwrap_or(belief)
    }

    /// A belief as it is said from each end, where it can be.
    pub(crate) fn views(&self, belief: &Belief) -> Vec<Belief> {
        let mut views = vec![belief.clone()];
        views.extend(self.turn(belief).filter(|turned| says(turned) != says(belief)));
        views
    }

    /// Merges with the facts that say the same and touch, in the order of their beginnings. What
    /// has grown may touch a later one; the docs leave open whether it goes back to earlier ones.
    fn absorb(&self, rule: &Rule, new: &mut Belief, uncertain: bool, same: &mut Vec<Version>) {
        for version in self.same(new, uncertain) {
            if version.belief.touches(new) {
                *new = merge(rule, &version.belief, new);
                same.push(version);
            }
        }
    }

    /// The believed facts that say the same, all uncertain or all certain.
    fn same(&self, new: &Belief, uncertain: bool) -> Vec<Version> {
        let views = self.views(new);
        let mut same: Vec<Version> = self.believed().cloned().collect();
        same.retain(|version| {
            let old = &version.belief;
            let one = views.iter().any(|view| says(view) == says(old));
            one && old.uncertain == uncertain
        });
        same.sort_by_key(|version| (version.belief.from, version.fact));
        same
    }

    /// The certain facts that a fact of a ONE relation overlaps and does not agree with, and their
    /// rows. A fact that is found from both ends has others at both.
    fn rows(&self, new: &Belief) -> Vec<(Version, Row)> {
        let mut rows: Vec<(Version, Row)> = Vec::new();
        for view in self.views(new) {
            let rule = self.rule(view.relation);
            for version in self.believed().filter(|_| rule.one) {
                let other = |old: &Belief| {
                    (&old.head, old.relation) == (&view.head, view.relation)
                        && old.tail != view.tail
                };
                let met = self.views(&version.belief).iter().any(other);
                let known = rows.iter().any(|(old, _)| old.fact == version.fact);
                let old = &version.belief;
                if met && !known && !old.uncertain && old.overlaps(new) {
                    rows.push((version.clone(), row(new, old, rule.threshold)));
                }
            }
        }
        rows.sort_by_key(|(old, _)| (old.belief.from, self.place(&old.belief.tail), old.fact));
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
}
