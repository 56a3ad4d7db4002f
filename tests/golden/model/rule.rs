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
    let gated = new.confidence < threshold && old.confidence >= STABLE;
    if open && new.from < old.from {
        return match new.confidence >= STABLE && old.confidence < threshold {
            true if gated => Row::Lose,
            true => Row::Unsettle,
            false => Row::Late,
        };
    }
    if gated {
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
        let rows = self.rows(&new, rule.threshold);
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
        let rule = self.rule(belief.relation);
        let held = self.believed().find(|version| version.fact == fact).cloned();
        let (mut same, first) = (held.into_iter().collect(), belief.clone());
        belief.uncertain = false;
        self.absorb(&rule, &mut belief, true, &mut same);
        let rows = self.rows(&belief, rule.threshold);
        let mut met = Met::default();
        let loses = rows.iter().any(|(_, row)| *row == Row::Lose);
        if loses {
            belief.uncertain = true;
        } else {
            self.make_room(&mut belief, rows, &mut met);
            self.absorb(&rule, &mut belief, false, &mut same);
        }
        let belief = self.along(&first, belief);
        if same.len() == 1 && same[0].belief == belief && met.is_empty() {
            return "unchanged".to_owned();
        }
        for absorbed in same {
            self.end(absorbed.fact);
        }
        self.put(fact, belief);
        met.words(if loses { "confirmed, held as uncertain" } else { "confirmed" })
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

    /// Merges with the facts that say the same and touch, in the order of their beginnings, until
    /// there is none left: what has grown may touch another.
    fn absorb(&self, rule: &Rule, new: &mut Belief, uncertain: bool, same: &mut Vec<Version>) {
        let mut left = self.same(new, uncertain);
        left.retain(|version| same.iter().all(|known| known.fact != version.fact));
        let (told, mut before) = (new.clone(), None);
        while let Some(next) = left.iter().position(|version| version.belief.touches(new)) {
            let version = left.remove(next);
            let together = match &before {
                Some(before) => merge(rule, before, &version.belief),
                None => version.belief.clone(),
            };
            *new = merge(rule, &together, &told);
            before = Some(together);
            same.push(version);
        }
    }

    /// Whether some head has two tails at once in a relation that takes one, or in its other side.
    pub(crate) fn is_crowded(&self, relation: &str) -> bool {
        let certain = self.believed().filter(|version| !version.belief.uncertain);
        let views: Vec<Belief> = certain.flat_map(|version| self.views(&version.belief)).collect();
        let sides = [Some(relation), self.turned(relation)];
        views.iter().any(|a| {
            let is_side = sides.contains(&Some(a.relation)) && self.rule(a.relation).one;
            let clashes = |b: &Belief| {
                (&a.head, a.relation) == (&b.head, b.relation) && a.tail != b.tail && a.overlaps(b)
            };
            is_side && views.iter().any(clashes)
        })
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
    fn rows(&self, new: &Belief, threshold: f64) -> Vec<(Version, Row)> {
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
                    rows.push((version.clone(), row(new, old, threshold)));
                }
            }
        }
        rows.sort_by_key(|(old, _)| (old.belief.from, old.fact));
        // Row 7 first: what begins after the end that it sets is not met at all.
        let late = rows.iter().filter(|(_, row)| *row == Row::Late);
        if let Some(end) = late.map(|(old, _)| old.belief.from).min() {
            rows.retain(|(old, row)| old.belief.from < end || *row == Row::Late);
        }
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

    /// Old keeps what is left before and after new.
    fn cut(&mut self, new: &Belief, open: bool, old: &Version, met: &mut Met) {
        let front = Belief { to: new.from, ..old.belief.clone() };
        // Row 6 leaves nothing after a new fact without an end, whatever row 7 makes of it.
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
