//! A turn of a conversation: its node, its speaker, its session, and its place among the turns before
//! and after it.

use std::collections::BTreeMap;

use engraph_storage::graph::{
    EdgeFilter, FactId, Interval, NodeId, Side, SystemScope, Time, Value,
};
use engraph_storage::{StorageError, Transaction};

use super::{Embedding, NodeInput, held_properties, link, put_node};
use crate::error::Result;
use crate::graph_names::{CONTAINS, NEXT, SESSION, TURN};
use crate::models::Models;

/// A turn of a conversation to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnInput {
    pub(crate) session: String,
    pub(crate) key: String,
    /// The key of the turn that it follows, if that is known: its session need not be read then.
    pub(crate) behind: Option<String>,
    pub(crate) speaker: String,
    pub(crate) at: Option<Time>,
    /// The turn's own properties: its text, and whatever else was said of it.
    pub(crate) properties: BTreeMap<String, Value>,
    pub(crate) embedding: Option<Embedding>,
}

impl TurnInput {
    /// Its embedding, if it has been made.
    pub(crate) fn vector(&self) -> &[f32] {
        self.embedding.as_ref().map_or(&[], |embedding| &embedding.vector)
    }

    /// The turn as a node.
    pub(super) fn node(&self) -> NodeInput {
        let mut properties = self.properties.clone();
        properties.insert("speaker".to_owned(), Value::String(self.speaker.clone()));
        properties.insert("session".to_owned(), Value::String(self.session.clone()));
        if let Some(at) = self.at {
            properties.insert("at".to_owned(), Value::Timestamp(at));
        }
        NodeInput {
            label: TURN.to_owned(),
            key: self.key.clone(),
            properties,
            embedding: self.embedding.clone(),
        }
    }
}

/// Stores a turn: its node, its speaker, its session, and the step from the turn before it. Gives
/// whether it is new.
///
/// # Errors
///
/// If a turn with its key belongs to another session: that is another turn.
pub(crate) fn put_turn(
    transaction: &mut Transaction<'_>,
    turn: &TurnInput,
    models: &Models,
) -> Result<bool> {
    let session = put_node(transaction, &NodeInput::new(SESSION, &turn.session), models)?;
    let places = match Places::behind(transaction, turn.behind.as_deref())? {
        Some(places) => places,
        None => Places::of(transaction, session, turn.at)?,
    };
    let mut node = turn.node();
    let held = held_properties(&node, transaction.reader())?;
    if let Some(Value::String(other)) = held.get("session")
        && *other != turn.session
    {
        let message = format!("the turn '{}' belongs to the session '{other}' already", turn.key);
        return Err(StorageError::Invalid(message).into());
    }
    let is_new = !held.contains_key("session");
    if is_new {
        let position = position_after(transaction, places.count, places.last)?;
        node.properties.insert("position".to_owned(), Value::Int(position));
    }
    let id = put_node(transaction, &node, models)?;
    if is_new {
        let person = put_node(transaction, &NodeInput::new("Person", &turn.speaker), models)?;
        link(transaction, session, CONTAINS, id, turn.at)?;
        link(transaction, person, "SAID", id, turn.at)?;
        places.chain(transaction, id, turn.at)?;
    }
    Ok(is_new)
}

/// The position of a turn after so many, and after the last one: some may have been forgotten.
fn position_after(
    transaction: &Transaction<'_>,
    turns: usize,
    last: Option<NodeId>,
) -> Result<i64> {
    let reader = transaction.reader();
    let count = i64::try_from(turns).unwrap_or(i64::MAX);
    let before = match (last, reader.catalog().property("position")) {
        (Some(last), Some(position)) => reader
            .node(last, SystemScope::Current)?
            .and_then(|record| match record.properties.get(&position) {
                Some(Value::Int(position)) => Some(*position),
                _ => None,
            })
            .unwrap_or(0),
        _ => 0,
    };
    Ok(count.max(before).saturating_add(1))
}

/// Where a new turn stands among those of its session.
#[derive(Default)]
struct Places {
    count: usize,
    /// The last one in order of time.
    last: Option<NodeId>,
    /// The last one that was not said later.
    before: Option<NodeId>,
    /// The first one that was said later, and when.
    after: Option<(NodeId, Time)>,
}

impl Places {
    /// The place after a turn, if that is the last one of its session.
    fn behind(transaction: &Transaction<'_>, key: Option<&str>) -> Result<Option<Self>> {
        let Some(key) = key else { return Ok(None) };
        let Some(last) = transaction.reader().find(TURN, key)? else { return Ok(None) };
        let is_last = steps(transaction, last)?.is_empty();
        let last = Some(last);
        Ok(is_last.then_some(Self { count: 0, last, before: last, after: None }))
    }

    fn of(transaction: &Transaction<'_>, session: NodeId, at: Option<Time>) -> Result<Self> {
        let reader = transaction.reader();
        let Some(contains) = reader.catalog().relation(CONTAINS) else {
            return Ok(Self::default());
        };
        let at = at.unwrap_or(Interval::MAX);
        let (mut count, mut last, mut before, mut after) = (0, None, None, None);
        let filter = EdgeFilter::CURRENT;
        reader.edges(session, Side::Out, Some(contains), &filter, &mut |edge| {
            count += 1;
            let place = (edge.valid.from, edge.fact, edge.tail);
            last = last.max(Some(place));
            match edge.valid.from <= at {
                true => before = before.max(Some(place)),
                false => after = Some(after.map_or(place, |held: (_, _, _)| held.min(place))),
            }
            std::ops::ControlFlow::Continue(())
        })?;
        let node = |place: Option<(Time, _, NodeId)>| place.map(|(_, _, node)| node);
        let after = after.map(|(time, _, node)| (node, time));
        Ok(Self { count, last: node(last), before: node(before), after })
    }

    /// Puts a turn between those before and after it.
    fn chain(&self, transaction: &mut Transaction<'_>, id: NodeId, at: Option<Time>) -> Result<()> {
        if let Some(before) = self.before {
            for fact in steps(transaction, before)? {
                transaction.retract(fact)?;
            }
            link(transaction, before, NEXT, id, at)?;
        }
        match self.after {
            Some((after, time)) => link(transaction, id, NEXT, after, Some(time)),
            None => Ok(()),
        }
    }
}

/// The facts that lead from a turn to the next one.
fn steps(transaction: &Transaction<'_>, turn: NodeId) -> Result<Vec<FactId>> {
    let reader = transaction.reader();
    let Some(next) = reader.catalog().relation(NEXT) else { return Ok(Vec::new()) };
    let mut steps = Vec::new();
    reader.edges(turn, Side::Out, Some(next), &EdgeFilter::CURRENT, &mut |edge| {
        steps.push(edge.fact);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(steps)
}
