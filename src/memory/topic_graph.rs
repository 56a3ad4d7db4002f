//! Topics as the graph holds them: what recurs over episodes, and how one stands to another (GAM,
//! algorithm 3).
//!
//! ```text
//! (:Topic)-[EVIDENCE]->(:Episode), (:Topic)-[SUPPORT | CONTRADICT | CAUSAL | COREFERENCE | SEMANTIC]->(:Topic)
//! ```
//!
//! An episode is evidence of the topic nearest to it, or of a new one, which goes by the key of that
//! episode and says what it says. `topics.rs` decides how topics relate; nothing here does.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{EdgeFilter, Interval, NodeId, Side, SystemScope, Time, Value};
use engraph_storage::{Reader, Transaction};

use super::means::Means;
use super::topics::{CANDIDATES, CueLinker, Link, Topic, links};
use crate::error::Result;
use crate::graph_names::{EPISODE, TOPIC, named};
use crate::indexes::Indexes;
use crate::models::Models;
use crate::text;
use crate::vectors::Search;
use crate::write::{self, FactInput, NodeInput};

/// From a topic to the episodes that are about it.
const EVIDENCE: &str = "EVIDENCE";
/// The property that holds the concepts of a topic.
pub(super) const CONCEPTS: &str = "concepts";
/// The least cosine at which an episode is about a topic.
const SAME: f32 = 0.75;

/// An episode, as topics see it.
pub(super) struct About {
    /// Its key.
    pub(super) key: String,
    /// Its concepts, without those who speak.
    pub(super) concepts: Vec<String>,
    /// When it began.
    pub(super) at: Option<Time>,
    /// The keys of its turns.
    pub(super) turns: Vec<String>,
}

/// Makes an episode that the transaction has stored evidence of a topic.
pub(super) fn attach(
    transaction: &mut Transaction<'_>,
    about: &About,
    means: Means<'_>,
) -> Result<()> {
    let reader = transaction.reader();
    let Some((text, vector)) = said(reader, EPISODE, &about.key)? else { return Ok(()) };
    let facts = place(reader, about, (&text, &vector), means)?;
    store(transaction, &facts, means.models)
}

/// Stores the place of an episode, if the topics of it are still there; else finds it again, by cues, for the writer's
/// lock is held.
pub(super) fn put(
    transaction: &mut Transaction<'_>,
    about: &About,
    facts: &[FactInput],
    means: Means<'_>,
) -> Result<()> {
    let topics = facts.iter().flat_map(|fact| [&fact.head, &fact.tail]);
    for topic in topics.filter(|node| node.label == TOPIC && node.key != about.key) {
        if transaction.reader().find(TOPIC, &topic.key)?.is_none() {
            return attach(transaction, about, Means { linker: &CueLinker, ..means });
        }
    }
    store(transaction, facts, means.models)
}

/// The facts that give an episode its place among the topics.
pub(super) fn place(
    reader: Reader<'_>,
    about: &About,
    (text, vector): (&str, &[f32]),
    means: Means<'_>,
) -> Result<Vec<FactInput>> {
    let near = nearest(reader, vector, means.indexes)?;
    let evidence = |topic: NodeInput| {
        let episode = NodeInput::new(EPISODE, &about.key);
        structure(topic, EVIDENCE, episode, 1.0, about)
    };
    if let Some(same) = near.first().filter(|held| held.similarity >= SAME) {
        return Ok(vec![evidence(NodeInput::new(TOPIC, &same.key))]);
    }
    let new = Topic { text, vector, concepts: &about.concepts, at: about.at };
    let candidates: Vec<Topic<'_>> = near.iter().map(Held::topic).collect();
    let links = links(means.linker, &new, &candidates)?;
    let mut facts = vec![evidence(node(reader, about, (text, vector), means.models)?)];
    for link in links {
        let other = near.get(link.candidate);
        facts.extend(other.map(|other| edge(about, other, &link, means.linker.id())));
    }
    Ok(facts)
}

/// The topics that an episode is or was evidence of.
pub(super) fn of_episode(reader: Reader<'_>, episode: NodeId) -> Result<BTreeSet<NodeId>> {
    ends(reader, episode, Side::In)
}

/// The episodes that are or were evidence of a topic.
pub(super) fn episodes_of(reader: Reader<'_>, topic: NodeId) -> Result<BTreeSet<NodeId>> {
    ends(reader, topic, Side::Out)
}

fn ends(reader: Reader<'_>, node: NodeId, side: Side) -> Result<BTreeSet<NodeId>> {
    let mut found = BTreeSet::new();
    let Some(relation) = reader.catalog().relation(EVIDENCE) else { return Ok(found) };
    reader.edges(node, side, Some(relation), &EdgeFilter::EVERYTHING, &mut |edge| {
        found.insert(edge.far(side));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// A topic of the graph that is near.
struct Held {
    key: String,
    text: String,
    vector: Arc<[f32]>,
    concepts: Vec<String>,
    at: Option<Time>,
    similarity: f32,
}

impl Held {
    fn topic(&self) -> Topic<'_> {
        let (text, vector) = (self.text.as_str(), &*self.vector);
        Topic { text, vector, concepts: &self.concepts, at: self.at }
    }
}

/// The topics nearest to a vector, the nearest first.
fn nearest(reader: Reader<'_>, vector: &[f32], indexes: &Indexes) -> Result<Vec<Held>> {
    let Some(label) = reader.catalog().label(TOPIC) else { return Ok(Vec::new()) };
    let search = Search {
        reader,
        labels: Some(&[label]),
        system: SystemScope::Current,
        query: vector,
        top: CANDIDATES,
    };
    let found = indexes.vectors.search(&search, &mut |_, _| Ok(true))?;
    let mut topics = Vec::new();
    for (similarity, id) in found.nodes {
        let Some(record) = reader.node(id, SystemScope::Current)? else { continue };
        let vector = reader.vector(label, id, SystemScope::Current)?.unwrap_or_default();
        let key = record.key.clone();
        let properties = named(&record, reader);
        topics.push(Held {
            key,
            text: text::of_node(&properties).unwrap_or_default(),
            vector,
            concepts: strings(properties.get(CONCEPTS)),
            at: match properties.get("began") {
                Some(Value::Timestamp(at)) => Some(*at),
                _ => None,
            },
            similarity,
        });
    }
    Ok(topics)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let Some(Value::List(items)) = value else { return Vec::new() };
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

/// The text and the embedding of a node.
fn said(reader: Reader<'_>, label: &str, key: &str) -> Result<Option<(String, Arc<[f32]>)>> {
    let Some(label) = reader.catalog().label(label) else { return Ok(None) };
    let Some(id) = reader.find_node(label, key)? else { return Ok(None) };
    let Some(record) = reader.node(id, SystemScope::Current)? else { return Ok(None) };
    let vector = reader.vector(label, id, SystemScope::Current)?;
    Ok(text::of_node(&named(&record, reader)).zip(vector))
}

/// A new topic, which says what the episode says.
fn node(
    reader: Reader<'_>,
    about: &About,
    (text, vector): (&str, &[f32]),
    models: &Models,
) -> Result<NodeInput> {
    let mut node = NodeInput::new(TOPIC, &about.key);
    node.properties.insert("text".to_owned(), Value::String(text.to_owned()));
    let concepts = about.concepts.iter().cloned().map(Value::String).collect();
    node.properties.insert(CONCEPTS.to_owned(), Value::List(concepts));
    if let Some(at) = about.at {
        node.properties.insert("began".to_owned(), Value::Timestamp(at));
    }
    // The embedding is that of the episode, so where any is stored no model has to be there.
    let model = match reader.model()? {
        Some(stored) => stored,
        None => models.embedder()?.id().to_owned(),
    };
    node.embed(text.to_owned(), &model, vector.to_vec());
    Ok(node)
}

fn edge(about: &About, other: &Held, link: &Link, linker: &str) -> FactInput {
    let (new, old) = (NodeInput::new(TOPIC, &about.key), NodeInput::new(TOPIC, &other.key));
    let (head, tail) = if link.verdict.is_reversed { (old, new) } else { (new, old) };
    let relation = link.verdict.relation.name();
    let mut fact = structure(head, relation, tail, link.verdict.confidence, about);
    fact.properties.insert("linked_by".to_owned(), Value::String(linker.to_owned()));
    fact
}

fn structure(
    head: NodeInput,
    relation: &str,
    tail: NodeInput,
    confidence: f64,
    about: &About,
) -> FactInput {
    let valid = Interval { from: about.at.unwrap_or(Interval::MIN), to: Interval::MAX };
    let fact = FactInput::certain(head, relation, tail, valid, about.turns.clone());
    FactInput { confidence, ..fact }
}

fn store(transaction: &mut Transaction<'_>, facts: &[FactInput], models: &Models) -> Result<()> {
    facts.iter().try_for_each(|fact| write::put_fact(transaction, fact, models).map(drop))
}
