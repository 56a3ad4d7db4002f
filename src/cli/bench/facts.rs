//! The facts of the workload, and those that are written after them.
//!
//! A few heads own many facts, no (head, relation, tail) occurs twice, and a later fact of a relation
//! that takes one value at a time closes the earlier one.

use std::collections::{HashMap, HashSet};

use super::numbers::{BEGIN, NOW, OPEN, SPAN, YEAR, draw, eight, hash};

/// Relations; the first [`SINGLE`] of them take one value at a time.
pub(super) const RELATIONS: u64 = 32;
/// See [`RELATIONS`].
pub(super) const SINGLE: u64 = 8;
/// The numbers of an entity's vector.
pub(super) const DIMENSIONS: usize = 64;
/// The least confidence that counts as confident, in 1024ths.
pub(super) const CONFIDENT: u64 = 820;
/// Intents, in the order of their numbers.
pub(super) const INTENTS: [&str; 5] = ["fact", "causal", "temporal", "contrast", "evolution"];

/// A fact; times in seconds, confidence in 1024ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) head: u64,
    pub(super) relation: u64,
    pub(super) tail: u64,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) confidence: u64,
    pub(super) intent: u64,
}

impl Fact {
    /// Its part of the checksum of all facts.
    pub(super) fn hash(&self) -> u64 {
        let Self { head, relation, tail, from, to, confidence, intent } = *self;
        hash(&[head, relation, tail, from, to, confidence, intent])
    }

    fn place(&self) -> (u64, u64, u64) {
        (self.head, self.relation, self.tail)
    }
}

/// All facts of one size, in the order in which they are loaded.
pub(super) struct Facts {
    pub(super) rows: Vec<Fact>,
    pub(super) entities: u64,
    seen: HashSet<(u64, u64, u64)>,
}

impl Facts {
    pub(super) fn new(count: u64) -> Self {
        let entities = (count / 10).max(2);
        let mut facts = Self { rows: Vec::new(), entities, seen: HashSet::new() };
        let mut current: HashMap<(u64, u64), usize> = HashMap::new();
        for row in 0..count {
            let mut fact = facts.loaded(count, row);
            facts.move_on(&mut fact);
            let place = facts.rows.len();
            if fact.relation < SINGLE
                && let Some(before) = current.insert((fact.head, fact.relation), place)
            {
                facts.rows[before].to = fact.from;
            }
            facts.rows.push(fact);
        }
        facts
    }

    fn loaded(&self, count: u64, row: u64) -> Fact {
        let u = eight(1, row);
        let x = u[0] >> 43;
        let head = (self.entities * ((x * x * x) >> 31)) >> 32;
        let tail = if u[1] & 1 == 0 {
            (u[1] >> 1) % self.entities
        } else {
            let y = u[1] >> 32;
            (self.entities * ((y * y) >> 32)) >> 32
        };
        let relation = u[2] % RELATIONS;
        let step = SPAN / count;
        let from = BEGIN + row * step + u[3] % step;
        let ends = relation >= SINGLE && u[4] % 100 < 30;
        let to = if ends { from + 3600 + u[5] % (2 * YEAR) } else { OPEN };
        let (confidence, intent) = (confidence(u[6]), intent(u[7]));
        Fact { head, relation, tail, from, to, confidence, intent }
    }

    /// The fact that operation `number` of the writes inserts. Operations come in order.
    pub(super) fn written(&mut self, number: u64) -> Fact {
        let u = eight(3, number);
        let head = self.rows[(u[0] % self.loaded_count()) as usize].head;
        let relation = if number.is_multiple_of(2) {
            u[1] % SINGLE
        } else {
            SINGLE + u[1] % (RELATIONS - SINGLE)
        };
        let mut fact = Fact {
            head,
            relation,
            tail: u[2] % self.entities,
            from: NOW + 60 * (number + 1),
            to: OPEN,
            confidence: confidence(u[3]),
            intent: intent(u[4]),
        };
        self.move_on(&mut fact);
        fact
    }

    fn loaded_count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Moves the tail on past the head and past every fact that there is.
    fn move_on(&mut self, fact: &mut Fact) {
        while fact.tail == fact.head || !self.seen.insert(fact.place()) {
            fact.tail = (fact.tail + 1) % self.entities;
        }
    }

    /// The sum of the hashes of all facts.
    pub(super) fn checksum(&self) -> u64 {
        self.rows.iter().fold(0, |sum, fact| sum.wrapping_add(fact.hash()))
    }
}

/// The key of an entity.
pub(super) fn key(entity: u64) -> String {
    format!("e{entity}")
}

/// The vector of an entity.
pub(super) fn vector(entity: u64) -> Vec<f32> {
    numbers(64_001, entity)
}

/// The vector that question `instance` looks along.
pub(super) fn direction(instance: u64) -> Vec<f32> {
    numbers(64_002, instance)
}

fn numbers(seed: u64, thing: u64) -> Vec<f32> {
    let place = |a: usize| DIMENSIONS as u64 * thing + a as u64;
    (0..DIMENSIONS).map(|a| (draw(seed, place(a)) % 255) as f32 - 127.0).collect()
}

fn confidence(u: u64) -> u64 {
    let (b, c) = (u % 100, u / 100);
    if b < 70 { 820 + c % 205 } else { 1 + c % 819 }
}

fn intent(u: u64) -> u64 {
    (u % 8).saturating_sub(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_those_of_the_specification() {
        let mut facts = Facts::new(100_000);
        let row = |fact: &Fact| (fact.head, fact.relation, fact.tail, fact.from, fact.to);
        assert_eq!(row(&facts.rows[0]), (1818, 30, 5561, 1_577_838_083, OPEN));
        assert_eq!((facts.rows[1].confidence, facts.rows[1].intent), (913, 0));
        assert_eq!(facts.checksum(), 0xb994_d762_21ae_22aa);
        let written = [0, 1, 2].map(|number| facts.written(number));
        let short = written.map(|f| (f.head, f.relation, f.tail, f.confidence, f.intent));
        assert_eq!(
            short,
            [(1452, 1, 7729, 871, 3), (2297, 26, 9500, 940, 1), (40, 5, 648, 810, 0)]
        );
        assert_eq!(vector(0)[..4], [-69.0, 58.0, -102.0, -123.0]);
    }
}
