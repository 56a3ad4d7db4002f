//! Writes: nodes, facts and turns that are to be stored, embedded before the lock is taken and put
//! under it. `crate::statement` and `crate::memory` say what they are.
//!
//! No model runs while the writer's lock is held, but in the cases that `docs/architecture.md` lists, one of which
//! is here: another writer changed a text in between.

pub(crate) mod observe;
mod turn;

pub(crate) use self::turn::{TurnInput, put_turn};

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use engraph_storage::graph::{
    Belief, Intent, Interval, NodeId, PropertyId, RelationId, SystemScope, Time, Value,
};
use engraph_storage::update::{Effect, Resolution};
use engraph_storage::{CONCEPT, Outcome, Reader, TokenCodes, Transaction};

use crate::error::Result;
use crate::graph_names::{TURN, named};
use crate::models::Models;
use crate::text;
use crate::write::observe::{HeardTurn, observe};

/// A node to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeInput {
    pub(crate) label: String,
    pub(crate) key: String,
    pub(crate) properties: BTreeMap<String, Value>,
    /// The embedding of the text that it will have, made before the lock is taken.
    pub(crate) embedding: Option<Embedding>,
}

/// An embedding made ahead of the write: of which text, by which model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embedding {
    text: String,
    model: String,
    vector: Vec<f32>,
    /// The codes of its tokens, if the node is to have them.
    codes: Option<TokenCodes>,
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

impl FactInput {
    /// A fact of structure: certain, with the intent of its relation.
    pub(crate) fn certain(
        head: NodeInput,
        relation: &str,
        tail: NodeInput,
        valid: Interval,
        sources: Vec<String>,
    ) -> Self {
        Self {
            head,
            relation: relation.to_owned(),
            tail,
            valid,
            confidence: 1.0,
            intent: None,
            sources,
            properties: BTreeMap::new(),
        }
    }
}

impl NodeInput {
    pub(crate) fn new(label: &str, key: &str) -> Self {
        Self {
            label: label.to_owned(),
            key: key.to_owned(),
            properties: BTreeMap::new(),
            embedding: None,
        }
    }

    /// Gives it the embedding of the text that it will have, made by the model of that identity.
    pub(crate) fn embed(&mut self, text: String, model: &str, vector: Vec<f32>) {
        self.embedding = Some(Embedding { text, model: model.to_owned(), vector, codes: None });
    }

    /// The text that it will have, with its embedding, if that has been made.
    pub(crate) fn embedded(&self) -> Option<(&str, &[f32])> {
        self.embedding.as_ref().map(|made| (made.text.as_str(), made.vector.as_slice()))
    }

    /// Whether it says something that is part of a text.
    fn touches_text(&self) -> bool {
        self.properties.keys().any(|name| text::PROPERTIES.contains(&name.as_str()))
    }
}

/// What is to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Node(NodeInput),
    Fact(Box<FactInput>),
    Turn(TurnInput),
    /// A turn for the buffer of a session.
    Heard {
        session: String,
        turn: HeardTurn,
    },
}

/// Embeds every text that changes, all in one go, as far as can be seen before the lock is taken;
/// later inputs see the earlier ones.
///
/// # Errors
///
/// If there is a text and no model is installed; nothing has been stored then.
pub(crate) fn embed(inputs: &mut [Input], models: &Models, reader: Reader<'_>) -> Result<()> {
    let mut known = Known::new();
    let mut texts: Texts<'_> = Vec::new();
    for input in &mut *inputs {
        match input {
            Input::Heard { .. } => {}
            Input::Node(node) => {
                let text = new_text(node, &mut known, reader)?;
                add(text, &mut node.embedding, node.label == TURN, &mut texts);
            }
            Input::Turn(turn) => {
                let text = new_text(&turn.node(), &mut known, reader)?;
                add(text, &mut turn.embedding, true, &mut texts);
            }
            Input::Fact(fact) => {
                for node in [&mut fact.head, &mut fact.tail] {
                    let text = new_text(node, &mut known, reader)?;
                    add(text, &mut node.embedding, node.label == TURN, &mut texts);
                }
            }
        }
    }
    match texts.is_empty() {
        true => inputs.iter().try_for_each(|input| load_tokenizer(input, models, reader)),
        false => embed_texts(texts, models),
    }
}

/// Embeds texts, all in one go.
fn embed_texts(texts: Texts<'_>, models: &Models) -> Result<()> {
    let model = models.embedder()?;
    let made = |text: &ToEmbed<'_>, vector, codes| {
        Some(Embedding { text: text.text.clone(), model: model.id().to_owned(), vector, codes })
    };
    let (turns, others): (Texts<'_>, Texts<'_>) = texts.into_iter().partition(|text| text.is_turn);
    let read: Vec<&str> = turns.iter().map(|text| text.text.as_str()).collect();
    let coded = models.embed_with_codes(&read)?;
    for (text, (vector, codes)) in turns.into_iter().zip(coded) {
        *text.target = made(&text, vector, codes);
    }
    let read: Vec<&str> = others.iter().map(|text| text.text.as_str()).collect();
    let vectors = models.embed(&read)?;
    for (text, vector) in others.into_iter().zip(vectors) {
        *text.target = made(&text, vector.to_vec(), None);
    }
    Ok(())
}

/// The embedding of the text of a node that is not there yet, if it has one.
///
/// # Errors
///
/// If there is a text and no model is installed.
pub(crate) fn embedded_anew(node: NodeInput, models: &Models) -> Result<Option<Embedding>> {
    let Some(text) = text::of_node(&node.properties) else { return Ok(None) };
    let mut embedding = None;
    let text = ToEmbed { text, target: &mut embedding, is_turn: node.label == TURN };
    embed_texts(vec![text], models)?;
    Ok(embedding)
}

/// Sees to it that the tokenizer is loaded by when the key of a new concept is taken apart, under the lock. Where any
/// text is embedded, it is.
fn load_tokenizer(input: &Input, models: &Models, reader: Reader<'_>) -> Result<()> {
    let nodes = match input {
        Input::Node(node) => vec![node],
        Input::Fact(fact) => vec![&fact.head, &fact.tail],
        Input::Turn(_) | Input::Heard { .. } => Vec::new(),
    };
    for node in nodes.into_iter().filter(|node| node.label == CONCEPT) {
        if reader.find(CONCEPT, &node.key)?.is_none() {
            models.tokenizer_id()?;
        }
    }
    Ok(())
}

/// A text that is to be embedded, and where its embedding belongs.
struct ToEmbed<'i> {
    text: String,
    target: &'i mut Option<Embedding>,
    /// Of a turn, the tokens are read too.
    is_turn: bool,
}

type Texts<'i> = Vec<ToEmbed<'i>>;

/// Adds the text that a node will have, if it is another one, unless it is embedded already.
fn add<'i>(
    text: Option<String>,
    target: &'i mut Option<Embedding>,
    is_turn: bool,
    texts: &mut Texts<'i>,
) {
    if let Some(text) = text
        && target.as_ref().is_none_or(|made| made.text != text)
    {
        texts.push(ToEmbed { text, target, is_turn });
    }
}

/// The properties of nodes by label and key: those held, changed by the inputs so far.
type Known = HashMap<(String, String), BTreeMap<String, Value>>;

/// The text that a node has after an input, if that is another one than before.
fn new_text(node: &NodeInput, known: &mut Known, reader: Reader<'_>) -> Result<Option<String>> {
    // Most nodes have no text and are given none, so the store need not be asked.
    if !node.touches_text() {
        return Ok(None);
    }
    let properties = match known.entry((node.label.clone(), node.key.clone())) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(held_properties(node, reader)?),
    };
    let (before, after) = texts_of(node, properties);
    Ok(if after == before { None } else { after })
}

/// The text of a node before an input and after it; the properties are those after it then.
fn texts_of(
    node: &NodeInput,
    properties: &mut BTreeMap<String, Value>,
) -> (Option<String>, Option<String>) {
    let before = text::of_node(properties);
    properties.extend(node.properties.clone());
    (before, text::of_node(properties))
}

fn held_properties(node: &NodeInput, reader: Reader<'_>) -> Result<BTreeMap<String, Value>> {
    let Some(id) = reader.find(&node.label, &node.key)? else { return Ok(BTreeMap::new()) };
    let Some(record) = reader.node(id, SystemScope::Current)? else { return Ok(BTreeMap::new()) };
    Ok(named(&record, reader))
}

/// Stores an input.
pub(crate) fn put(transaction: &mut Transaction<'_>, input: &Input, models: &Models) -> Result<()> {
    match input {
        Input::Node(node) => put_node(transaction, node, models).map(drop),
        Input::Turn(turn) => put_turn(transaction, turn, models).map(drop),
        Input::Fact(fact) => put_fact(transaction, fact, models).map(drop),
        Input::Heard { session, turn } => observe(transaction, session, turn).map(drop),
    }
}

/// Stores a node, and sees to it that its embedding is of the text that it then has.
pub(crate) fn put_node(
    transaction: &mut Transaction<'_>,
    node: &NodeInput,
    models: &Models,
) -> Result<NodeId> {
    if !node.touches_text() {
        return Ok(transaction.put_node(&node.label, &node.key, &node.properties)?);
    }
    let mut properties = held_properties(node, transaction.reader())?;
    let (before, after) = texts_of(node, &mut properties);
    let id = transaction.put_node(&node.label, &node.key, &node.properties)?;
    if before == after {
        return Ok(id);
    }
    let Some(text) = after else {
        transaction.delete_vector(id)?;
        return Ok(id);
    };
    match &node.embedding {
        Some(made) if made.text == text => {
            transaction.put_vector(id, &made.model, &made.vector)?;
            if let Some(codes) = &made.codes {
                transaction.put_token_codes(id, codes)?;
            }
        }
        // Another writer changed the text since it was embedded: rare, and right all the same.
        _ => {
            let model = models.embedder()?;
            for (vector, codes) in models.embed_with_codes(&[&text])? {
                transaction.put_vector(id, model.id(), &vector)?;
                if let Some(codes) = codes.filter(|_| node.label == TURN) {
                    transaction.put_token_codes(id, &codes)?;
                }
            }
        }
    }
    Ok(id)
}

/// Stores a fact with both its nodes, under the update rule of its relation.
pub(crate) fn put_fact(
    transaction: &mut Transaction<'_>,
    fact: &FactInput,
    models: &Models,
) -> Result<Outcome> {
    let (head, relation, belief) = told(transaction, fact, models)?;
    Ok(transaction.assert_fact(head, relation, &belief)?)
}

/// The same, unless its sources have said it before. None then, and its nodes stay as they are.
pub(crate) fn put_new_fact(
    transaction: &mut Transaction<'_>,
    fact: &FactInput,
    models: &Models,
) -> Result<Option<Outcome>> {
    match has_said(transaction, fact)? {
        true => Ok(None),
        false => put_fact(transaction, fact, models).map(Some),
    }
}

/// The properties that a fact is told with: null says nothing.
fn said(fact: &FactInput) -> impl Iterator<Item = (&String, &Value)> {
    fact.properties.iter().filter(|(_, value)| **value != Value::Null)
}

/// Whether the sources of a fact have said it: not, if anything that it names is new.
fn has_said(transaction: &Transaction<'_>, fact: &FactInput) -> Result<bool> {
    let reader = transaction.reader();
    let catalog = reader.catalog();
    let node = |node: &NodeInput| reader.find(&node.label, &node.key);
    let (Some(head), Some(tail)) = (node(&fact.head)?, node(&fact.tail)?) else { return Ok(false) };
    let Some(relation) = catalog.relation(&fact.relation) else { return Ok(false) };
    let known = |(name, value): (&String, &Value)| Some((catalog.property(name)?, value.clone()));
    let properties: Option<BTreeMap<_, _>> = said(fact).map(known).collect();
    let Some(properties) = properties else { return Ok(false) };
    let belief = believed(fact, tail, catalog.rule(relation).intent, properties);
    Ok(transaction.has_said(head, relation, &belief)?)
}

/// The head and the relation of a fact, which are stored with its tail, and what it says.
fn told(
    transaction: &mut Transaction<'_>,
    fact: &FactInput,
    models: &Models,
) -> Result<(NodeId, RelationId, Belief)> {
    let head = put_node(transaction, &fact.head, models)?;
    let tail = put_node(transaction, &fact.tail, models)?;
    let relation = transaction.relation(&fact.relation)?;
    let default = transaction.reader().catalog().rule(relation).intent;
    let mut properties = BTreeMap::new();
    for (name, value) in said(fact) {
        properties.insert(transaction.property(name)?, value.clone());
    }
    Ok((head, relation, believed(fact, tail, default, properties)))
}

fn believed(
    fact: &FactInput,
    tail: NodeId,
    default: Intent,
    properties: BTreeMap<PropertyId, Value>,
) -> Belief {
    Belief {
        tail,
        valid: fact.valid,
        confidence: fact.confidence,
        intent: fact.intent.unwrap_or(default),
        uncertain: false,
        sources: fact.sources.clone(),
        properties,
        evidence: Vec::new(),
    }
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
        evidence: Vec::new(),
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
            Effect::Confirmed => "confirmed",
            Effect::ConfirmedAsUncertain => "confirmed, held as uncertain",
            Effect::Doubted => "doubted",
            Effect::Retracted => "retracted",
            Effect::Closed => "closed",
            Effect::NotBelieved => "not believed any more",
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
