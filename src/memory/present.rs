//! What a fact that holds now does to what is held, beyond the update rule of its relation.
//!
//! A date of a month mostly begins before what was told within that month; by the rule the older fact would
//! then end the newer one, so the newer one begins when it was told. A region does not end a home that may lie
//! in it. Who says to dislike something now does not love it any more. Nothing here makes a fact surer.

use engraph_storage::graph::{Cardinality, Edge, Intent, Interval, SystemScope, Time, Value};
use engraph_storage::{Reader, Transaction};

use super::past::{close_of, held};
use super::validate::UNCERTAIN;
use super::{draw, places};
use crate::error::Result;
use crate::graph_names::TURN;
use crate::models::Models;
use crate::time::DAY;
use crate::write::{self, FactInput, Input};

/// The longest month, in microseconds: a date of one may begin so long before what it means.
pub(super) const MONTH: Time = 31 * DAY;

/// Relations of what somebody likes.
pub(super) const LIKINGS: &[&str] = &["likes", "loves", "prefers"];
/// That of what they do not.
const DISLIKES: &[&str] = &["dislikes"];

/// Whether a fact says that something began and goes on.
pub(super) fn is_present(fact: &FactInput) -> bool {
    fact.valid.to == Interval::MAX && fact.valid.from != Interval::MIN
}

/// Stores such a fact.
pub(super) fn put(
    transaction: &mut Transaction<'_>,
    fact: &FactInput,
    models: &Models,
) -> Result<()> {
    let mut told = fact.clone();
    let reader = transaction.reader();
    let relation = reader.catalog().relation(&fact.relation);
    let rule = relation.map(|relation| reader.catalog().rule(relation));
    if rule.is_some_and(|rule| rule.cardinality == Cardinality::One) {
        let (_, mut others, threshold) = held(reader, fact)?;
        others.retain(|edge| edge.valid.to == Interval::MAX);
        if fact.relation == "lives_in" && is_wider(reader, fact, &others)? {
            told.confidence = told.confidence.min(UNCERTAIN);
        }
        if told.confidence >= threshold {
            told.valid.from = begin(reader, fact, &others)?;
        }
    }
    close_opposites(transaction, fact)?;
    write::put(transaction, &Input::Fact(Box::new(told)), models)
}

/// When a fact begins to hold: as it says, or when it was told, if another value was told between the two and
/// within a month of the first. What is said to have begun long before that may be of the past.
fn begin(reader: Reader<'_>, fact: &FactInput, others: &[Edge]) -> Result<Time> {
    let from = fact.valid.from;
    if !others.iter().any(|edge| edge.valid.from >= from) {
        return Ok(from);
    }
    let Some(told) = told_at(reader, &fact.sources)? else { return Ok(from) };
    let latest = from.saturating_add(MONTH).min(told);
    let is_between = |edge: &Edge| edge.valid.from >= from && edge.valid.from < latest;
    Ok(if others.iter().any(is_between) { told } else { from })
}

/// When the last of these turns was said.
pub(super) fn told_at(reader: Reader<'_>, turns: &[String]) -> Result<Option<Time>> {
    let mut last = None;
    let at = reader.catalog().property("at");
    for turn in draw::nodes(reader, TURN, turns)? {
        let Some(record) = reader.node(turn, SystemScope::Current)? else { continue };
        if let Some(Value::Timestamp(time)) = at.and_then(|at| record.properties.get(&at)) {
            last = last.max(Some(*time));
        }
    }
    Ok(last)
}

/// Whether the place of a home is a country or a part of one, and a home is held that is none: it may lie
/// there. Who says that they moved there has left it.
fn is_wider(reader: Reader<'_>, fact: &FactInput, others: &[Edge]) -> Result<bool> {
    if !places::is_region(&fact.tail.key) || fact.intent == Some(Intent::Evolution) {
        return Ok(false);
    }
    for edge in others {
        let held = reader.node(edge.tail, SystemScope::Current)?;
        if held.is_some_and(|held| !places::is_region(&held.key)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Ends that somebody loves what they say to dislike now, and the other way round. "I hate running in the
/// rain" says nothing of a change.
fn close_opposites(transaction: &mut Transaction<'_>, fact: &FactInput) -> Result<()> {
    let opposites = match fact.relation.as_str() {
        _ if fact.intent != Some(Intent::Evolution) => return Ok(()),
        relation if DISLIKES.contains(&relation) => LIKINGS,
        relation if LIKINGS.contains(&relation) => DISLIKES,
        _ => return Ok(()),
    };
    close_of(transaction, fact, opposites, fact.valid.from).map(drop)
}
