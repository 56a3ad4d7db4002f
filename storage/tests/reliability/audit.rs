//! Reads a database whole and says which transaction it is the state after, or what is wrong.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use engraph_storage::graph::{
    Edge, EdgeFilter, FactId, Intent, Interval, NodeId, RelationId, RelationRule, Side,
    SystemScope, Time, ValidScope,
};
use engraph_storage::{Family, Reader, StorageError, Store};

use crate::rng::Rng;
use crate::workload::{self, Workload, wall};

/// Past states of `M/last` that are looked at; all of them if there are no more.
const PAST_STATES: u64 = 300;

/// What an audit ended with instead of a number.
#[derive(Debug)]
pub(crate) enum Finding {
    /// The database said that it cannot answer.
    Refused(StorageError),
    /// Its check found damage that no answer met.
    Reported(String),
    /// It answered, and the answer is not the state after any transaction.
    Wrong(String),
}

impl From<StorageError> for Finding {
    fn from(error: StorageError) -> Self {
        Self::Refused(error)
    }
}

impl Finding {
    /// `refused <variant> <text>` or `wrong <text>`, on one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Refused(error) => format!("refused {} {}", variant(error), one_line(error)),
            Self::Reported(text) => format!("refused Violation {}", one_line(text)),
            Self::Wrong(text) => format!("wrong {}", one_line(text)),
        }
    }
}

/// The name of an error's variant.
pub(crate) fn variant(error: &StorageError) -> String {
    let debug = format!("{error:?}");
    debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// A text without line ends.
pub(crate) fn one_line(text: &impl ToString) -> String {
    text.to_string().replace(['\n', '\r'], " ").chars().take(300).collect()
}

macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(Finding::Wrong(format!($($text)+)));
        }
    };
}

/// The transaction that the database is the state after, when every key of it has been read.
pub(crate) fn audit(store: &Store, workload: &Workload) -> Result<u64, Finding> {
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let Some(last) = last(&reader)? else {
        let stats = store.stats()?;
        let full = stats.iter().find(|stats| stats.family != Family::Meta && stats.keys > 0);
        ensure!(full.is_none(), "no transaction is there, and yet there is {full:?}");
        return Ok(0);
    };
    let nodes = numbered(&reader, "N")?;
    ensure!(
        nodes.keys().copied().eq(1..=last),
        "after {last} there are {} nodes, the last is {:?}",
        nodes.len(),
        nodes.keys().last()
    );
    let heads = numbered(&reader, "H")?;
    ensure!(heads.keys().copied().eq(0..=workload::head(last)), "heads are {:?}", heads.keys());
    for (n, node) in &nodes {
        audit_node(&reader, workload, *n, *node)?;
    }
    audit_edges(&reader, workload, last, &nodes, &heads)?;
    audit_past(&reader, last)?;
    audit_shape(store)?;
    Ok(last)
}

/// The product's own check of every family against every other.
fn audit_shape(store: &Store) -> Result<(), Finding> {
    let mut violations = Vec::new();
    store.check(&mut |violation| violations.push(violation), &mut |_| {})?;
    // Damage that only a check meets is an error like any other; a broken invariant is not.
    violations.sort_by_key(|violation| violation.invariant == "D");
    match violations.first() {
        None => Ok(()),
        Some(first) if first.invariant == "D" => Err(Finding::Reported(first.to_string())),
        Some(first) => Err(Finding::Wrong(format!("{} violations: {first}", violations.len()))),
    }
}

/// The number of the last transaction.
pub(crate) fn last(reader: &Reader<'_>) -> Result<Option<u64>, Finding> {
    let Some(label) = reader.catalog().label("M") else { return Ok(None) };
    let Some(node) = reader.find_node(label, "last")? else {
        return Err(Finding::Wrong("the last number is missing".to_owned()));
    };
    last_as_of(reader, node, SystemScope::Current).map(Some)
}

fn last_as_of(reader: &Reader<'_>, node: NodeId, scope: SystemScope) -> Result<u64, Finding> {
    let record = reader.node(node, scope)?;
    let property = reader.catalog().property("number");
    let number = record
        .zip(property)
        .and_then(|(record, property)| record.properties.get(&property).cloned());
    match number {
        Some(engraph_storage::graph::Value::Int(n)) if n > 0 => Ok(n as u64),
        other => Err(Finding::Wrong(format!("the last number is {other:?} in {scope:?}"))),
    }
}

fn numbered(reader: &Reader<'_>, label: &str) -> Result<BTreeMap<u64, NodeId>, Finding> {
    let Some(label) = reader.catalog().label(label) else {
        return Err(Finding::Wrong(format!("label {label} is missing")));
    };
    let (mut nodes, mut odd) = (BTreeMap::new(), None);
    reader.nodes_of_label(label, None, &mut |key, node| {
        match key.parse() {
            Ok(n) => drop(nodes.insert(n, node)),
            Err(_) => odd = Some(key.to_owned()),
        }
        ControlFlow::Continue(())
    })?;
    ensure!(odd.is_none(), "a key is {odd:?}");
    Ok(nodes)
}

fn audit_node(
    reader: &Reader<'_>,
    workload: &Workload,
    n: u64,
    node: NodeId,
) -> Result<(), Finding> {
    let Some(record) = reader.node(node, SystemScope::Current)? else {
        return Err(Finding::Wrong(format!("node {n} has a key and no record")));
    };
    ensure!(record.key == n.to_string(), "node {n} has the key {}", record.key);
    ensure!(
        (record.created, record.system_from) == (wall(n), wall(n)) && record.aliases.is_empty(),
        "node {n} came to be at {} and {}",
        record.created,
        record.system_from
    );
    let property = |name| {
        let id = reader.catalog().property(name)?;
        record.properties.get(&id)
    };
    ensure!(record.properties.len() == 2, "node {n} has {} properties", record.properties.len());
    ensure!(property("number") == Some(&workload::number(n)), "node {n} has another number");
    let text = engraph_storage::graph::Value::String(workload.text(n));
    ensure!(property("text") == Some(&text), "node {n} has another text");
    Ok(())
}

fn audit_edges(
    reader: &Reader<'_>,
    workload: &Workload,
    last: u64,
    nodes: &BTreeMap<u64, NodeId>,
    heads: &BTreeMap<u64, NodeId>,
) -> Result<(), Finding> {
    let mut relations = Vec::new();
    for name in ["next", "near", "holds"] {
        let Some(relation) = reader.catalog().relation(name) else {
            return Err(Finding::Wrong(format!("relation {name} is missing")));
        };
        relations.push(relation);
    }
    let rule = RelationRule { since: wall(1), ..workload::rule() };
    ensure!(reader.catalog().rule(relations[2]) == rule, "the rule of holds is another");
    let expected = expected_edges(workload, last, nodes, heads, &relations);
    let all: Vec<NodeId> = nodes.values().chain(heads.values()).copied().collect();
    for side in [Side::Out, Side::In] {
        let found = edges_of(reader, &all, side)?;
        let differs = expected.iter().zip(&found).find(|(expected, found)| expected != found);
        ensure!(differs.is_none(), "after {last}, side {side:?}: {differs:?}");
        ensure!(
            expected.len() == found.len(),
            "after {last}, side {side:?}: {} edges instead of {}",
            found.len(),
            expected.len()
        );
    }
    for edge in &expected {
        let record = reader.version(edge.fact, edge.version)?;
        let n = edge.fact.0 / 3 + 1;
        let told = workload::belief(n, edge.tail);
        let belief = match edge.valid == told.valid {
            true => told,
            false => workload::ended(n, edge),
        };
        let right = (record.head, record.relation, record.system)
            == (edge.head, edge.relation, edge.system)
            && record.belief == belief;
        ensure!(right, "fact {}, version {} is {record:?}", edge.fact.0, edge.version);
    }
    Ok(())
}

fn edges_of(reader: &Reader<'_>, nodes: &[NodeId], side: Side) -> Result<Vec<Edge>, Finding> {
    let filter =
        EdgeFilter { valid: ValidScope::All, system: SystemScope::All, ..EdgeFilter::CURRENT };
    let mut edges = Vec::new();
    for node in nodes {
        reader.edges(*node, side, None, &filter, &mut |edge| {
            edges.push(edge);
            ControlFlow::Continue(())
        })?;
    }
    edges.sort_by_key(|edge| (edge.fact, edge.version));
    Ok(edges)
}

/// Every version of every fact after transaction `last`, in order of fact and version.
fn expected_edges(
    workload: &Workload,
    last: u64,
    nodes: &BTreeMap<u64, NodeId>,
    heads: &BTreeMap<u64, NodeId>,
    relations: &[RelationId],
) -> Vec<Edge> {
    let mut edges = Vec::new();
    // What a transaction that is not there yet would have ended lasts.
    let until = |n: Option<u64>| n.filter(|n| *n <= last).map_or(Interval::MAX, wall);
    for (n, node) in nodes {
        let valid = Interval { from: *n as Time, to: Interval::MAX };
        let fact = |fact: FactId, head: NodeId, relation: usize, tail: NodeId, to: Time| Edge {
            fact,
            version: 0,
            head,
            relation: relations[relation],
            tail,
            valid,
            system: Interval { from: wall(*n), to },
            confidence: workload::CONFIDENCE,
            intent: Intent::Fact,
            uncertain: false,
            two_way: false,
        };
        let next = nodes[&workload::next(*n)];
        edges.push(fact(workload::next_fact(*n), *node, 0, next, Interval::MAX));
        let near = nodes[&workload.near(*n)];
        let retracted = until(workload::retractor(*n));
        edges.push(fact(workload::near_fact(*n), *node, 1, near, retracted));
        let after = Some(n + 1).filter(|after| workload::head(*after) == workload::head(*n));
        let head = heads[&workload::head(*n)];
        let held = fact(workload::holds_fact(*n), head, 2, *node, until(after));
        edges.push(held);
        if held.system.to != Interval::MAX {
            let valid = Interval { from: *n as Time, to: *n as Time + 1 };
            let system = Interval { from: held.system.to, to: Interval::MAX };
            edges.push(Edge { version: 1, valid, system, ..held });
        }
    }
    edges
}

fn audit_past(reader: &Reader<'_>, last: u64) -> Result<(), Finding> {
    let node = reader.catalog().label("M").map(|label| reader.find_node(label, "last"));
    let Some(node) = node.transpose()?.flatten() else {
        return Err(Finding::Wrong("the last number is missing".to_owned()));
    };
    let mut rng = Rng::new(last);
    for step in 1..=last.min(PAST_STATES) {
        let n = if last <= PAST_STATES { step } else { rng.between(1, last) };
        let then = last_as_of(reader, node, SystemScope::AsOf(wall(n)))?;
        ensure!(then == n, "at the instant of {n} the last number was {then}");
    }
    Ok(())
}
