//! The writes: single facts in transactions of their own, then facts and questions in turn.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use engraph::graph::{EdgeFilter, NodeId, Side};
use engraph::{Engraph, Prepared, Value};
use serde_json::{Value as Json, json};

use super::answer::{end, seconds, share};
use super::ask::{Asker, Way, micros};
use super::facts::{Fact, Facts, INTENTS, RELATIONS, key};
use super::questions::{Question, expected_facts};
use super::stats::Stats;
use crate::cli::Result;

/// Single writes of a round, and operations of the mixed part of it.
const OPERATIONS: u64 = 1_000;
/// Every so many operations of the mixed part, one is a write.
const WRITE_EVERY: u64 = 10;

/// Facts are written by prepared statements, one for each relation and intent.
struct Writer<'d> {
    prepared: HashMap<(u64, u64), Prepared<'d>>,
}

impl<'d> Writer<'d> {
    fn new(db: &'d Engraph) -> Result<Self> {
        let mut prepared = HashMap::new();
        for relation in 0..RELATIONS {
            for (number, intent) in INTENTS.iter().enumerate() {
                let text = format!(
                    "REMEMBER (:Entity $h)-[r{relation}]->(:Entity $t) \
                     VALID FROM $from CONFIDENCE $sure INTENT {intent}"
                );
                prepared.insert((relation, number as u64), db.prepare(&text)?);
            }
        }
        Ok(Self { prepared })
    }

    fn write(&self, fact: &Fact) -> Result<()> {
        let given = [
            ("h", Value::String(key(fact.head))),
            ("t", Value::String(key(fact.tail))),
            ("from", Value::Timestamp(micros(fact.from))),
            ("sure", Value::Float(fact.confidence as f64 / 1024.0)),
        ];
        if let Some(prepared) = self.prepared.get(&(fact.relation, fact.intent)) {
            prepared.query(given)?;
        }
        Ok(())
    }
}

/// One round of writes. `before` operations of the specification were done in earlier rounds.
pub(super) fn round(db: &Engraph, facts: &mut Facts, before: u64) -> Result<Json> {
    for number in 0..before {
        facts.written(number);
    }
    let writer = Writer::new(db)?;
    let mut single = Vec::new();
    for number in before..before + OPERATIONS {
        let fact = facts.written(number);
        let start = Instant::now();
        writer.write(&fact)?;
        single.push(start.elapsed());
    }
    let mixed: Vec<Fact> = (0..OPERATIONS / WRITE_EVERY)
        .map(|number| facts.written(before + OPERATIONS + number))
        .collect();
    let asker = Asker::new(db, facts)?;
    let (mut reads, mut writes): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    let mut next = mixed.iter();
    for number in 0..OPERATIONS {
        let is_write = number % WRITE_EVERY == WRITE_EVERY - 1;
        let start = Instant::now();
        match next.as_slice().first().filter(|_| is_write) {
            Some(fact) => {
                writer.write(fact)?;
                writes.push(start.elapsed());
                next.next();
            }
            None => {
                let asked = Question::Hop.ask(number, facts);
                asker.ask(Question::Hop, Way::Memql, &asked)?;
                reads.push(start.elapsed());
            }
        }
    }
    let per_second = OPERATIONS as f64 / begin.elapsed().as_secs_f64();
    Ok(json!({
        "w2": Stats::new(&single).json(),
        "w3": {
            "ops_per_s": per_second.round(),
            "read": Stats::new(&reads).json(),
            "write": Stats::new(&writes).json(),
        },
    }))
}

/// Reads all facts back; whether they are those of the specification, where it says so.
pub(super) fn dump(db: &Engraph, facts: &Facts, written: bool) -> Result<Json> {
    let state = db.snapshot();
    let first = state.node("Entity", &key(0))?.map_or(0, |node| node.0);
    let mut numbers = HashMap::new();
    for number in 0..RELATIONS {
        if let Some(id) = state.relation(&format!("r{number}")) {
            numbers.insert(id, number);
        }
    }
    let (mut count, mut sum) = (0_u64, 0_u64);
    for entity in 0..facts.entities {
        let node = NodeId(first + entity);
        for edge in state.edges(node, Side::Out, None, &EdgeFilter::CURRENT)? {
            let fact = Fact {
                head: entity,
                relation: numbers.get(&edge.relation).copied().unwrap_or(u64::MAX),
                tail: edge.tail.0.wrapping_sub(first),
                from: seconds(edge.valid.from),
                to: end(edge.valid.to),
                confidence: share(edge.confidence),
                intent: edge.intent as u64,
            };
            count += 1;
            sum = sum.wrapping_add(fact.hash());
        }
    }
    let expected = expected_facts(facts.rows.len() as u64, written);
    Ok(json!({
        "ok": expected.is_none_or(|expected| expected == (count, sum)),
        "facts": count,
        "checksum": format!("{sum:016x}"),
    }))
}
