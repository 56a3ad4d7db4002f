//! The numbered transactions that every row writes, and what the database is after so many.
//!
//! All that transaction `n` writes follows from the seed and `n`: ids, texts and instants too. So
//! the whole state after it is known without a record of what was done, and a recovered database
//! is right exactly if it is the state after some `n`.
//!
//! ```text
//! node  N/n       number n, a text of 8 bytes to 64 KiB
//! node  M/last    number n, so each transaction leaves a past state of it
//! fact  3(n-1)    (N/n)-[next]->(N/n-1)
//! fact  3(n-1)+1  (N/n)-[near]->(N/any earlier one); each seventh transaction retracts an older one
//! fact  3(n-1)+2  (H/n/64)-[holds]->(N/n), relation ONE: ends the fact of n-1 and so writes history
//! ```

use std::collections::BTreeMap;

use engraph_storage::graph::{
    Belief, Cardinality, Claim, Denial, Edge, Evidence, FactId, Intent, Interval, NodeId,
    RelationRule, Time, Value,
};
use engraph_storage::{Durability, Result, Store, Transaction};

use crate::rng::{Rng, mix};

/// Transactions that share a head.
pub(crate) const HEAD_SPAN: u64 = 64;
/// How sure every fact is.
pub(crate) const CONFIDENCE: f64 = 0.875;
/// A transaction with a number that this divides retracts.
const RETRACT_EVERY: u64 = 7;
/// How far back the retracted fact is.
const RETRACT_BACK: u64 = 3;

/// How long the texts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// To 2 KiB.
    Small,
    /// Mostly short, now and then 64 KiB.
    Mixed,
    /// Near 64 KiB, so that tables are written while the child lives.
    Large,
}

/// A sequence of transactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    /// What it follows from.
    pub(crate) seed: u64,
    /// How long the texts are.
    pub(crate) sizes: Sizes,
}

impl Workload {
    /// The text of node `n`.
    pub(crate) fn text(&self, n: u64) -> String {
        let mut rng = Rng::new(mix(self.seed, n));
        let length = match (self.sizes, rng.below(100)) {
            (Sizes::Large, _) => rng.between(48 << 10, 64 << 10),
            (Sizes::Small, _) | (_, 0..60) => rng.between(8, 2 << 10),
            (_, 60..90) => rng.between(8, 64),
            (_, 90..97) => rng.between(2 << 10, 16 << 10),
            _ => rng.between(16 << 10, 64 << 10),
        } as usize;
        let mut bytes = rng.bytes(length);
        for byte in &mut bytes {
            *byte = (*byte & 0x3f) + b'0';
        }
        String::from_utf8(bytes).expect("letters of ASCII")
    }

    /// The number that the fact `near` of `n` leads to.
    pub(crate) fn near(&self, n: u64) -> u64 {
        Rng::new(mix(!self.seed, n)).between(1, n)
    }

    /// Writes transaction `n`; everything before it is there.
    pub(crate) fn write(&self, store: &Store, n: u64, durability: Durability) -> Result<()> {
        let mut transaction = store.begin(wall(n))?;
        if n == 1 {
            transaction.define_relation("holds", rule())?;
        }
        let text = Value::String(self.text(n));
        let properties =
            BTreeMap::from([("number".to_owned(), number(n)), ("text".to_owned(), text)]);
        let node = transaction.put_node("N", &n.to_string(), &properties)?;
        let head = transaction.put_node("H", &head(n).to_string(), &BTreeMap::new())?;
        for (name, tail) in [("next", next(n)), ("near", self.near(n))] {
            let tail = find(&transaction, tail)?;
            let relation = transaction.relation(name)?;
            transaction.assert_fact(node, relation, &belief(n, tail))?;
        }
        let holds = transaction.relation("holds")?;
        transaction.assert_fact(head, holds, &belief(n, node))?;
        if let Some(retracted) = retracted_by(n) {
            transaction.retract(near_fact(retracted))?;
        }
        let last = BTreeMap::from([("number".to_owned(), number(n))]);
        transaction.put_node("M", "last", &last)?;
        transaction.commit(durability, wall(n))
    }
}

fn find(transaction: &Transaction<'_>, n: u64) -> Result<NodeId> {
    let reader = transaction.reader();
    let label = reader.catalog().label("N").expect("a label of this transaction or before");
    Ok(reader.find_node(label, &n.to_string())?.expect("a node of this transaction or before"))
}

/// The rule of `holds`.
pub(crate) fn rule() -> RelationRule {
    RelationRule { cardinality: Cardinality::One, ..RelationRule::default() }
}

/// The system time of transaction `n`.
pub(crate) fn wall(n: u64) -> Time {
    n as Time * 1000
}

/// What a fact of transaction `n` says.
pub(crate) fn belief(n: u64, tail: NodeId) -> Belief {
    Belief {
        tail,
        valid: Interval { from: n as Time, to: Interval::MAX },
        confidence: CONFIDENCE,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec![format!("source {n}")],
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

/// What is left of a fact of transaction `n` after the next one told another value.
pub(crate) fn ended(n: u64, edge: &Edge) -> Belief {
    let whole = belief(n, edge.tail);
    let claim = Claim {
        sources: whole.sources.clone(),
        valid: whole.valid,
        confidence: whole.confidence,
        intent: whole.intent,
        properties: BTreeMap::new(),
    };
    let valid = Interval { from: edge.valid.to, ..whole.valid };
    let denial = Denial { sources: vec![format!("source {}", n + 1)], valid, is_end: false };
    let evidence = vec![Evidence::Claim(claim), Evidence::Denied(denial)];
    Belief { valid: edge.valid, evidence, ..whole }
}

/// A number as a value.
pub(crate) fn number(n: u64) -> Value {
    Value::Int(n as i64)
}

/// The number that the fact `next` of `n` leads to.
pub(crate) fn next(n: u64) -> u64 {
    n.saturating_sub(1).max(1)
}

/// The head that holds `n`.
pub(crate) fn head(n: u64) -> u64 {
    n / HEAD_SPAN
}

/// The fact `next` of `n`.
pub(crate) fn next_fact(n: u64) -> FactId {
    FactId(3 * (n - 1))
}

/// The fact `near` of `n`.
pub(crate) fn near_fact(n: u64) -> FactId {
    FactId(3 * (n - 1) + 1)
}

/// The fact `holds` of `n`.
pub(crate) fn holds_fact(n: u64) -> FactId {
    FactId(3 * (n - 1) + 2)
}

fn retracted_by(n: u64) -> Option<u64> {
    (n.is_multiple_of(RETRACT_EVERY) && n > RETRACT_BACK).then(|| n - RETRACT_BACK)
}

/// The transaction that retracts the fact `near` of `n`, if one ever does.
pub(crate) fn retractor(n: u64) -> Option<u64> {
    (n + RETRACT_BACK).is_multiple_of(RETRACT_EVERY).then_some(n + RETRACT_BACK)
}
