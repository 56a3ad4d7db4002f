//! Writes: what is to be stored, embedded before the lock is taken, applied under it.
//!
//! ```text
//! statement ──prepare──▶ Write ──embed──▶ vectors ──apply, one transaction──▶ what happened
//! ```
//!
//! No model runs while the writer's lock is held, except in a transaction that the caller keeps
//! open.

pub(crate) mod statement;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use engraph_storage::graph::{
    Belief, EdgeFilter, Intent, Interval, NodeId, Side, SystemScope, Time, Value,
};
use engraph_storage::update::{Effect, Resolution};
use engraph_storage::{Asserted, Reader, Transaction};

use crate::error::Result;
use crate::models::Models;
use crate::text;

/// A node to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeInput {
    pub(crate) label: String,
    pub(crate) key: String,
    pub(crate) properties: BTreeMap<String, Value>,
    /// What becomes of its embedding.
    pub(crate) embedding: Embedding,
}

/// What becomes of the embedding of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Embedding {
    /// It stays as it is: the text is the same.
    #[default]
    Keep,
    /// It is taken away: there is no text any more.
    Delete,
    /// It is this one, made by the model of that identity.
    Put(String, Vec<f32>),
}

/// A fact to be stored, with both its nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FactInput {
    pub(crate) head: NodeInput,
    pub(crate) relation: String,
    pub(crate) tail: NodeInput,
    pub(crate) valid: Interval,
    pub(crate) confidence: f64,
    /// None for the relation's own.
    pub(crate) intent: Option<Intent>,
    pub(crate) sources: Vec<String>,
    pub(crate) properties: BTreeMap<String, Value>,
}

/// A turn of a conversation to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnInput {
    pub(crate) session: String,
    /// The turn's key; none for the next number in its session.
    pub(crate) key: Option<String>,
    pub(crate) speaker: String,
    pub(crate) at: Option<Time>,
    /// The turn's own properties: its text, and whatever else was said of it.
    pub(crate) properties: BTreeMap<String, Value>,
    pub(crate) embedding: Embedding,
}

impl NodeInput {
    pub(crate) fn new(label: &str, key: &str) -> Self {
        Self {
            label: label.to_owned(),
            key: key.to_owned(),
            properties: BTreeMap::new(),
            embedding: Embedding::Keep,
        }
    }
}

impl TurnInput {
    /// The turn as a node; its key may still be missing.
    fn node(&self) -> NodeInput {
        let mut properties = self.properties.clone();
        properties.insert("speaker".to_owned(), Value::String(self.speaker.clone()));
        properties.insert("session".to_owned(), Value::String(self.session.clone()));
        if let Some(at) = self.at {
            properties.insert("at".to_owned(), Value::Timestamp(at));
        }
        NodeInput {
            label: "Turn".to_owned(),
            key: self.key.clone().unwrap_or_default(),
            properties,
            embedding: self.embedding.clone(),
        }
    }
}

/// What is to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Node(NodeInput),
    Fact(FactInput),
    Turn(TurnInput),
}

/// Embeds every node whose text changes, all in one go; later inputs see the earlier ones.
///
/// # Errors
///
/// If there is a text and no model is installed; nothing has been stored then.
pub(crate) fn embed(inputs: &mut [Input], models: &Models, reader: Reader<'_>) -> Result<()> {
    let mut known = HashMap::new();
    let mut texts = Vec::new();
    let mut targets: Vec<&mut Embedding> = Vec::new();
    let mut look = |node: &NodeInput, target| -> Result<Option<_>> {
        let change = text_change(node, &mut known, reader)?;
        Ok(change.map(|text| (text, target)))
    };
    for input in inputs {
        let changes = match input {
            Input::Node(node) => [look(&node.clone(), &mut node.embedding)?, None],
            Input::Turn(turn) => [look(&turn.node(), &mut turn.embedding)?, None],
            Input::Fact(fact) => [
                look(&fact.head.clone(), &mut fact.head.embedding)?,
                look(&fact.tail.clone(), &mut fact.tail.embedding)?,
            ],
        };
        for (text, target) in changes.into_iter().flatten() {
            match text {
                Some(text) => {
                    texts.push(text);
                    targets.push(target);
                }
                None => *target = Embedding::Delete,
            }
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let model = models.embedder()?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (target, vector) in targets.into_iter().zip(model.embed(&texts)?) {
        *target = Embedding::Put(model.id().to_owned(), vector);
    }
    Ok(())
}

/// The properties of nodes by label and key: those held, changed by the inputs so far.
type Known = HashMap<(String, String), BTreeMap<String, Value>>;

/// The text that a node has after an input, if that is another one than before.
fn text_change(
    node: &NodeInput,
    known: &mut Known,
    reader: Reader<'_>,
) -> Result<Option<Option<String>>> {
    // Most nodes have no text and are given none, so the store need not be asked.
    if !node.properties.keys().any(|name| text::PROPERTIES.contains(&name.as_str())) {
        return Ok(None);
    }
    let place = (node.label.clone(), node.key.clone());
    let properties = match known.entry(place) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(held_properties(node, reader)?),
    };
    let before = text::of_node(properties);
    for (name, value) in &node.properties {
        properties.insert(name.clone(), value.clone());
    }
    let after = text::of_node(properties);
    Ok((before != after).then_some(after))
}

fn held_properties(node: &NodeInput, reader: Reader<'_>) -> Result<BTreeMap<String, Value>> {
    let catalog = reader.catalog();
    let Some(label) = catalog.label(&node.label) else { return Ok(BTreeMap::new()) };
    let Some(id) = reader.find_node(label, &node.key)? else { return Ok(BTreeMap::new()) };
    let Some(record) = reader.node(id, SystemScope::Current)? else { return Ok(BTreeMap::new()) };
    let named = |(name, value)| (catalog.property_name(name).to_owned(), value);
    Ok(record.properties.into_iter().map(named).collect())
}

/// Stores a node with its embedding.
pub(crate) fn put_node(transaction: &mut Transaction<'_>, node: &NodeInput) -> Result<NodeId> {
    let id = transaction.put_node(&node.label, &node.key, &node.properties)?;
    match &node.embedding {
        Embedding::Keep => {}
        Embedding::Delete => transaction.delete_vector(id)?,
        Embedding::Put(model, vector) => transaction.put_vector(id, model, vector)?,
    }
    Ok(id)
}

/// Stores a fact with both its nodes, under the update rule of its relation.
pub(crate) fn put_fact(transaction: &mut Transaction<'_>, fact: &FactInput) -> Result<Asserted> {
    let head = put_node(transaction, &fact.head)?;
    let tail = put_node(transaction, &fact.tail)?;
    let relation = transaction.relation(&fact.relation)?;
    let default = transaction.reader().catalog().rule(relation).intent;
    let mut properties = BTreeMap::new();
    for (name, value) in &fact.properties {
        properties.insert(transaction.property(name)?, value.clone());
    }
    let belief = Belief {
        tail,
        valid: fact.valid,
        confidence: fact.confidence,
        intent: fact.intent.unwrap_or(default),
        uncertain: false,
        sources: fact.sources.clone(),
        properties,
    };
    Ok(transaction.assert_fact(head, relation, &belief)?)
}

/// Stores a turn: its node, its speaker, its session, and the step from the turn before it. Gives
/// its key, and whether it is new.
pub(crate) fn put_turn(
    transaction: &mut Transaction<'_>,
    turn: &TurnInput,
) -> Result<(String, bool)> {
    let session = NodeInput::new("Session", &turn.session);
    let session_id = put_node(transaction, &session)?;
    let (turns, last) = turns_of(transaction, session_id)?;
    let mut node = turn.node();
    if turn.key.is_none() {
        node.key = format!("{}:{}", turn.session, turns + 1);
    }
    let label = transaction.label(&node.label)?;
    let is_new = transaction.reader().find_node(label, &node.key)?.is_none();
    let id = put_node(transaction, &node)?;
    if is_new {
        let person = put_node(transaction, &NodeInput::new("Person", &turn.speaker))?;
        link(transaction, session_id, "CONTAINS", id, turn.at)?;
        link(transaction, person, "SAID", id, turn.at)?;
        if let Some(last) = last {
            link(transaction, last, "NEXT", id, turn.at)?;
        }
    }
    Ok((node.key, is_new))
}

/// How many turns a session has, and the last one of them.
fn turns_of(transaction: &Transaction<'_>, session: NodeId) -> Result<(usize, Option<NodeId>)> {
    let reader = transaction.reader();
    let Some(contains) = reader.catalog().relation("CONTAINS") else { return Ok((0, None)) };
    let (mut turns, mut last) = (0, None);
    let filter = EdgeFilter::CURRENT;
    reader.edges(session, Side::Out, Some(contains), &filter, &mut |edge| {
        turns += 1;
        let place = (edge.valid.from, edge.fact, edge.tail);
        last = last.max(Some(place));
        std::ops::ControlFlow::Continue(())
    })?;
    Ok((turns, last.map(|(_, _, tail)| tail)))
}

/// A fact of structure: certain, from an instant on.
pub(crate) fn link(
    transaction: &mut Transaction<'_>,
    head: NodeId,
    relation: &str,
    tail: NodeId,
    from: Option<Time>,
) -> Result<()> {
    let relation = transaction.relation(relation)?;
    let belief = Belief {
        tail,
        valid: Interval { from: from.unwrap_or(Interval::MIN), to: Interval::MAX },
        confidence: 1.0,
        intent: Intent::Fact,
        uncertain: false,
        sources: Vec::new(),
        properties: BTreeMap::new(),
    };
    transaction.assert_fact(head, relation, &belief)?;
    Ok(())
}

/// What a write did, in words: `inserted, closed 3`.
pub(crate) fn outcome(resolution: &Resolution) -> String {
    let mut words = vec![
        match resolution.effect {
            Effect::Inserted => "inserted",
            Effect::Merged => "merged",
            Effect::HeldAsUncertain => "held as uncertain",
            Effect::Unchanged => "unchanged",
        }
        .to_owned(),
    ];
    let effects = [
        ("closed", &resolution.closed),
        ("split", &resolution.split),
        ("superseded", &resolution.superseded),
        ("made uncertain", &resolution.unsettled),
    ];
    for (word, facts) in effects {
        if !facts.is_empty() {
            let ids: Vec<String> = facts.iter().map(|fact| fact.0.to_string()).collect();
            words.push(format!("{word} {}", ids.join(" ")));
        }
    }
    words.join(", ")
}
