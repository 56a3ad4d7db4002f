//! Facts of what is over, of which nobody says when it began: "I used to live there".
//!
//! Such a fact says that something ended, or was at some time before. It never makes anything longer
//! than it is known to be, and takes no time from another fact.

use engraph_storage::graph::{
    Cardinality, Edge, Evidence, Intent, Interval, NodeId, Side, SystemScope, Time,
};
use engraph_storage::{Reader, Transaction};

use super::extract::Entity;
use super::present::{LIKINGS, MONTH, told_at};
use super::validate::UNCERTAIN;
use super::walk::edges;
use crate::error::Result;
use crate::models::Models;
use crate::write::{self, FactInput, Input};

/// That what is held of somebody is over, whatever it was.
pub(crate) struct Ending {
    pub(crate) head: Entity,
    pub(crate) relation: String,
    /// The name of what it was of, in any case, if that was said.
    pub(crate) tail: Option<String>,
    pub(crate) at: Time,
    pub(crate) confidence: f64,
    /// The keys of the turns that say it.
    pub(crate) sources: Vec<String>,
}

/// Ends the one fact that holds then and is meant, if whoever said it is sure enough. Of two jobs nobody has
/// said which was lost. What was told first after it is said to have ended, and soon after, ends when that is said.
pub(super) fn end(transaction: &mut Transaction<'_>, ending: &Ending) -> Result<()> {
    let reader = transaction.reader();
    let head = reader.find(&ending.head.label, &ending.head.name)?;
    let relation = reader.catalog().relation(&ending.relation);
    let (Some(head), Some(relation)) = (head, relation) else { return Ok(()) };
    let said = ending.tail.as_ref().map(|name| name.to_lowercase());
    let told = told_at(reader, &ending.sources)?;
    let mut held = Vec::new();
    for edge in edges(reader, head, Side::Out, Some(&ending.relation))? {
        let is_named = match &said {
            Some(said) => is_called(reader, edge.tail, said)?,
            None => true,
        };
        if is_named && !edge.uncertain {
            held.push(edge);
        }
    }
    // What was told first after that is meant only where nothing else can be.
    let holds_then = |edge: &&Edge| edge.valid.from < ending.at && edge.valid.to > ending.at;
    let mut meant: Vec<&Edge> = held.iter().filter(holds_then).collect();
    if meant.is_empty() {
        for edge in &held {
            if end_of(edge, ending.at, told).is_some() && begins_when_told(reader, edge)? {
                meant.push(edge);
            }
        }
    }
    let [edge] = meant.as_slice() else { return Ok(()) };
    let Some(at) = end_of(edge, ending.at, told) else { return Ok(()) };
    let threshold = reader.catalog().rule(relation).threshold;
    if ending.confidence >= threshold && !is_claimed_later(reader, edge, (at, threshold))? {
        transaction.close(edge.fact, at, &ending.sources)?;
    }
    Ok(())
}

/// When a fact that is held ends, of which it is said that it ended at an instant: then, or when that was told, if
/// the fact was told first in the month after it. None if it does not hold then.
fn end_of(edge: &Edge, at: Time, told: Option<Time>) -> Option<Time> {
    let is_soon = edge.valid.from >= at && edge.valid.from.saturating_sub(at) <= MONTH;
    let end = if is_soon { told? } else { at };
    (edge.valid.from < end && edge.valid.to > end).then_some(end)
}

/// Whether nobody has said when a fact began: it does when its first turn was said.
fn begins_when_told(reader: Reader<'_>, edge: &Edge) -> Result<bool> {
    let belief = reader.version(edge.fact, edge.version)?.belief;
    if belief.intent == Intent::Evolution
        && reader.catalog().rule(edge.relation).intent != Intent::Evolution
    {
        return Ok(false);
    }
    for source in belief.sources {
        if told_at(reader, &[source])? == Some(edge.valid.from) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a node has a name, in lower case.
fn is_called(reader: Reader<'_>, node: NodeId, name: &str) -> Result<bool> {
    let Some(record) = reader.node(node, SystemScope::Current)? else { return Ok(false) };
    Ok(record.aliases.iter().chain([&record.key]).any(|own| own.to_lowercase() == name))
}

/// Whether a fact says only up to when something held.
pub(super) fn is_over(fact: &FactInput) -> bool {
    fact.valid.from == Interval::MIN && fact.valid.to != Interval::MAX
}

/// Stores such a fact. What is held of the same two nodes ends with it, if it says that something has
/// changed; else what is held stays as it is, and has one source more.
pub(super) fn put(
    transaction: &mut Transaction<'_>,
    fact: &FactInput,
    models: &Models,
) -> Result<()> {
    let (same, others, threshold) = held(transaction.reader(), fact)?;
    // "I don't like sushi anymore" is said of what was loved too.
    if fact.relation == "likes"
        && fact.intent == Some(Intent::Evolution)
        && close_of(transaction, fact, LIKINGS, fact.valid.to)?
        && same.is_empty()
    {
        return Ok(());
    }
    let (is_changed, is_sure) =
        (fact.intent == Some(Intent::Evolution), fact.confidence >= threshold);
    if same.is_empty() && is_changed && is_sure && close_late(transaction, fact, threshold)? {
        return Ok(());
    }
    let mut told = fact.clone();
    match same.iter().max_by_key(|edge| edge.valid.from) {
        // "Maybe I no longer use Vim" bears nothing out.
        Some(_) if !is_sure => return Ok(()),
        Some(last) => {
            told.valid = Interval { from: last.valid.from, to: last.valid.to.min(fact.valid.to) };
            let ended = (fact.valid.to, threshold);
            if is_changed && !is_claimed_later(transaction.reader(), last, ended)? {
                transaction.close(last.fact, fact.valid.to, &fact.sources)?;
            }
        }
        // Where one value holds at a time, it was before the first that is known; of two that nothing
        // says the beginning of, which was first is open.
        None => match others.iter().map(|edge| edge.valid.from).min() {
            Some(Interval::MIN) => told.confidence = told.confidence.min(UNCERTAIN),
            Some(known) => told.valid.to = told.valid.to.min(known),
            None => {}
        },
    }
    match told.valid.from < told.valid.to {
        true => write::put(transaction, &Input::Fact(Box::new(told)), models),
        false => Ok(()),
    }
}

/// Ends what was told first in the month after it is said to have ended, when that is said. Whether there was any.
fn close_late(transaction: &mut Transaction<'_>, fact: &FactInput, threshold: f64) -> Result<bool> {
    let Some(told) = told_at(transaction.reader(), &fact.sources)? else { return Ok(false) };
    let valid = Interval { to: told, ..fact.valid };
    let (same, ..) = held(transaction.reader(), &FactInput { valid, ..fact.clone() })?;
    let mut any = false;
    for edge in &same {
        let Some(at) = end_of(edge, fact.valid.to, Some(told)) else { continue };
        if !begins_when_told(transaction.reader(), edge)? {
            continue;
        }
        if !is_claimed_later(transaction.reader(), edge, (at, threshold))? {
            transaction.close(edge.fact, at, &fact.sources)?;
            any = true;
        }
    }
    Ok(any)
}

/// Ends at an instant what is held of the same two nodes in other relations, if the fact is sure enough for
/// those. Whether there was any.
pub(super) fn close_of(
    transaction: &mut Transaction<'_>,
    fact: &FactInput,
    relations: &[&str],
    at: Time,
) -> Result<bool> {
    let mut any = false;
    for relation in relations.iter().filter(|relation| **relation != fact.relation) {
        let other = FactInput { relation: (*relation).to_owned(), ..fact.clone() };
        let (same, _, threshold) = held(transaction.reader(), &other)?;
        for edge in same.iter().filter(|edge| fact.confidence >= threshold && edge.valid.to > at) {
            transaction.close(edge.fact, at, &fact.sources)?;
            any = true;
        }
    }
    Ok(any)
}

/// Whether somebody has told, and surely enough, that it holds later than it is said to have ended.
fn is_claimed_later(
    reader: Reader<'_>,
    held: &Edge,
    (ended, threshold): (Time, f64),
) -> Result<bool> {
    let belief = reader.version(held.fact, held.version)?.belief;
    Ok(belief.evidence.iter().any(|part| match part {
        Evidence::Claim(claim) => claim.valid.from > ended && claim.confidence >= threshold,
        Evidence::Confirmed(_) | Evidence::Doubted(_) | Evidence::Denied(_) => false,
    }))
}

/// The certain facts that hold before its end: those between the same nodes, and the others of the head
/// where the relation takes one value. And how sure a fact of it has to be to end another.
pub(super) fn held(reader: Reader<'_>, fact: &FactInput) -> Result<(Vec<Edge>, Vec<Edge>, f64)> {
    let relation = reader.catalog().relation(&fact.relation);
    let head = reader.find(&fact.head.label, &fact.head.key)?;
    let (Some(relation), Some(head)) = (relation, head) else { return Ok(<_>::default()) };
    let tail = reader.find(&fact.tail.label, &fact.tail.key)?;
    let mut found = edges(reader, head, Side::Out, Some(&fact.relation))?;
    found.retain(|edge| !edge.uncertain && edge.valid.from < fact.valid.to);
    let (same, mut others): (Vec<Edge>, Vec<Edge>) =
        found.into_iter().partition(|edge| Some(edge.tail) == tail);
    let rule = reader.catalog().rule(relation);
    if rule.cardinality != Cardinality::One {
        others.clear();
    }
    Ok((same, others, rule.threshold))
}
