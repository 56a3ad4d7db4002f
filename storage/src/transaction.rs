//! Writes: one method per change, each filling every family that the change touches.
//!
//! Invariant: what a transaction has not committed, no reader sees; dropping it leaves no trace.
//! Invariant: all its changes have one system time, and an intermediate state within it leaves no
//! version behind.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::MutexGuard;

use crate::catalog::Catalog;
use crate::engine::{Durability, EngineSnapshot};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, Edge, EdgeFilter, FactId, Interval, LabelId, NodeId, NodeRecord,
    PropertyId, RelationId, RelationRule, Side, SystemScope, Time, Value, VersionRecord,
};
use crate::key::{self, Adjacency};
use crate::overlay::{Overlay, View};
use crate::reader::{ALIAS, KEY, MODEL, Reader};
use crate::record;
use crate::store::{Counters, Store};
use crate::update::{self, Change, Held, Resolution};

/// The longest key of a node, in bytes.
pub const KEY_BYTES_MAX: usize = 4096;

/// Edges of a tail that are looked at before its head is.
const FEW_EDGES: usize = 64;

/// A set of changes that will be committed together.
pub struct Transaction<'s> {
    store: &'s Store,
    counters: MutexGuard<'s, Counters>,
    pending: Counters,
    snapshot: EngineSnapshot<'s>,
    overlay: Overlay,
    catalog: Arc<Catalog>,
    now: Time,
}

/// What an assertion did.
#[derive(Clone, Debug, PartialEq)]
pub struct Asserted {
    /// The fact that carries it.
    pub fact: FactId,
    /// What became of it and of the others.
    pub resolution: Resolution,
}

impl<'s> Transaction<'s> {
    pub(crate) fn new(
        store: &'s Store,
        counters: MutexGuard<'s, Counters>,
        snapshot: EngineSnapshot<'s>,
        catalog: Arc<Catalog>,
        now: Time,
    ) -> Self {
        let pending = *counters;
        Self { store, counters, pending, snapshot, overlay: Overlay::default(), catalog, now }
    }

    /// The transaction's own state: what is committed and what it has changed.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(View::new(&self.snapshot, Some(&self.overlay)), &self.catalog, self.now)
    }

    /// The instant that marks its changes until it commits.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Does `work`, or nothing of it if it fails.
    ///
    /// # Errors
    ///
    /// The error of `work`; what it changed has been taken back.
    pub fn whole<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.overlay.savepoint();
        let (pending, catalog) = (self.pending, Arc::clone(&self.catalog));
        let result = work(self);
        if result.is_err() {
            self.overlay.rollback();
            (self.pending, self.catalog) = (pending, catalog);
        }
        result
    }

    /// The id of a label, new or old.
    pub fn label(&mut self, name: &str) -> Result<LabelId> {
        match self.catalog.label(name) {
            Some(label) => Ok(label),
            None => Arc::make_mut(&mut self.catalog).intern_label(name, &mut self.overlay),
        }
    }

    /// The id of a relation, new or old.
    pub fn relation(&mut self, name: &str) -> Result<RelationId> {
        match self.catalog.relation(name) {
            Some(relation) => Ok(relation),
            None => Arc::make_mut(&mut self.catalog).intern_relation(name, &mut self.overlay),
        }
    }

    /// The id of a property name, new or old.
    pub fn property(&mut self, name: &str) -> Result<PropertyId> {
        match self.catalog.property(name) {
            Some(property) => Ok(property),
            None => Arc::make_mut(&mut self.catalog).intern_property(name, &mut self.overlay),
        }
    }

    /// Sets the rule of a relation. Facts that are held already stay as they are.
    pub fn define_relation(&mut self, name: &str, rule: RelationRule) -> Result<()> {
        if !(0.0..=1.0).contains(&rule.threshold) {
            return Err(StorageError::Invalid(format!(
                "threshold {} is not between 0 and 1",
                rule.threshold
            )));
        }
        let relation = self.relation(name)?;
        if self.catalog.rule(relation) == rule {
            return Ok(());
        }
        Arc::make_mut(&mut self.catalog).define(relation, rule, &mut self.overlay)
    }

    /// The node with that label and key or alias, made if there is none, with these properties
    /// set; null takes one away.
    pub fn put_node(
        &mut self,
        label: &str,
        key: &str,
        properties: &BTreeMap<String, Value>,
    ) -> Result<NodeId> {
        let label = self.label(label)?;
        let (node, old) = match self.reader().find_node(label, key)? {
            Some(node) => (node, Some(self.current_node(node)?)),
            None => (self.new_node(label, key)?, None),
        };
        let mut record = match &old {
            Some(old) => old.clone(),
            None => NodeRecord {
                label,
                key: key.to_owned(),
                aliases: Vec::new(),
                properties: BTreeMap::new(),
                created: self.now,
                system_from: self.now,
            },
        };
        for (name, value) in properties {
            check_value(name, value)?;
            let property = self.property(name)?;
            match value {
                Value::Null => drop(record.properties.remove(&property)),
                value => drop(record.properties.insert(property, value.clone())),
            }
        }
        self.replace_node(node, old, record)?;
        Ok(node)
    }

    fn current_node(&self, node: NodeId) -> Result<NodeRecord> {
        self.reader().node(node, SystemScope::Current)?.ok_or_else(|| {
            StorageError::corrupt(Family::Nodes.name(), &key::node(node), "a key leads nowhere")
        })
    }

    fn new_node(&mut self, label: LabelId, key: &str) -> Result<NodeId> {
        check_key(key)?;
        let node = NodeId(self.pending.next_node);
        self.pending.next_node = node.0.checked_add(1).ok_or(StorageError::Exhausted("node"))?;
        self.put_node_key(label, key, node, KEY);
        Ok(node)
    }

    fn put_node_key(&mut self, label: LabelId, key: &str, node: NodeId, kind: u8) {
        let value = [&node.0.to_be_bytes()[..], &[kind]].concat();
        self.overlay.put(Family::NodeKeys, key::node_key(label, key), value);
    }

    /// Writes a node's new state; the old one goes to history unless this transaction made it.
    fn replace_node(
        &mut self,
        node: NodeId,
        old: Option<NodeRecord>,
        mut new: NodeRecord,
    ) -> Result<()> {
        if old.as_ref() == Some(&new) {
            return Ok(());
        }
        if let Some(old) = old.filter(|old| old.system_from != self.now) {
            let past = key::node_past(node, self.now);
            self.overlay.put(Family::NodesPast, past, record::encode(&old)?);
        }
        new.system_from = self.now;
        self.overlay.put(Family::Nodes, key::node(node), record::encode(&new)?);
        Ok(())
    }

    /// Makes `alias` lead to the node, beside its key. False if it did already.
    pub fn put_alias(&mut self, node: NodeId, alias: &str) -> Result<bool> {
        check_key(alias)?;
        let old = self.current_node(node)?;
        match self.reader().find_node(old.label, alias)? {
            Some(other) if other == node => return Ok(false),
            Some(other) => {
                let other = self.current_node(other)?;
                return Err(StorageError::Invalid(format!(
                    "'{alias}' is already the {} '{}'",
                    self.catalog.label_name(other.label),
                    other.key
                )));
            }
            None => {}
        }
        self.put_node_key(old.label, alias, node, ALIAS);
        let mut new = old.clone();
        new.aliases.push(alias.to_owned());
        self.replace_node(node, Some(old), new)?;
        Ok(true)
    }

    /// Sets a node's embedding, made by the model of that identity.
    pub fn put_vector(&mut self, node: NodeId, model: &str, vector: &[f32]) -> Result<()> {
        if let Some(index) = vector.iter().position(|component| !component.is_finite()) {
            return Err(StorageError::Invalid(format!("component {index} is not finite")));
        }
        match self.reader().model()? {
            Some(known) if known == model => {}
            Some(known) => {
                return Err(StorageError::Invalid(format!(
                    "the embeddings here were made by {known}, not by {model}; use that model"
                )));
            }
            None => self.overlay.put(Family::Meta, MODEL, model.as_bytes().to_vec()),
        }
        let label = self.current_node(node)?.label;
        if self.reader().vector(label, node)?.as_deref() != Some(vector) {
            let bytes = record::encode_vector(vector);
            self.overlay.put(Family::Vectors, key::vector(label, node), bytes);
        }
        Ok(())
    }

    /// Takes a node's embedding away.
    pub fn delete_vector(&mut self, node: NodeId) -> Result<()> {
        let label = self.current_node(node)?.label;
        if self.reader().vector(label, node)?.is_some() {
            self.overlay.delete(Family::Vectors, key::vector(label, node));
        }
        Ok(())
    }

    /// Asserts a fact under the update rule of its relation.
    pub fn assert_fact(
        &mut self,
        head: NodeId,
        relation: RelationId,
        belief: &Belief,
    ) -> Result<Asserted> {
        check_belief(belief)?;
        let rule = self.catalog.rule(relation);
        let only = (rule.cardinality != Cardinality::One).then_some(belief.tail);
        let held = self.held(head, relation, only)?;
        let beliefs: Vec<Held> = held
            .iter()
            .map(|(edge, version)| Held { fact: edge.fact, belief: version.belief.clone() })
            .collect();
        let resolution = update::resolve(belief, &beliefs, &rule);
        let mut fact = resolution.same;
        for change in &resolution.changes {
            let (ended, next) = match change {
                Change::Insert(belief) => (None, Some(belief)),
                Change::Replace(fact, belief) => (Some(*fact), Some(belief)),
                Change::Retire(fact) => (Some(*fact), None),
            };
            let ended = ended.and_then(|fact| held.iter().find(|(edge, _)| edge.fact == fact));
            let number = match ended {
                Some((edge, version)) => self.end_version(edge, version)?,
                None => 0,
            };
            if let Some(belief) = next {
                let id = match ended {
                    Some((edge, _)) => edge.fact,
                    None => self.new_fact()?,
                };
                self.put_version(id, number, head, relation, belief)?;
                fact = Some(id);
            }
        }
        let fact = fact.ok_or_else(|| StorageError::Invalid("nothing was asserted".to_owned()))?;
        Ok(Asserted { fact, resolution })
    }

    /// The believed versions of a head and relation, of one tail or of all.
    fn held(
        &self,
        head: NodeId,
        relation: RelationId,
        tail: Option<NodeId>,
    ) -> Result<Vec<(Edge, VersionRecord)>> {
        let edges = match tail {
            Some(tail) => self.edges_between(head, relation, tail)?,
            None => self.edges_where(head, Side::Out, relation, usize::MAX, |_| true)?.0,
        };
        let reader = self.reader();
        edges.into_iter().map(|edge| Ok((edge, reader.version(edge.fact, edge.version)?))).collect()
    }

    /// The believed edges between two nodes. A node with many facts of a relation mostly has them
    /// with nodes that have few, so the tail's side is tried first.
    fn edges_between(&self, head: NodeId, relation: RelationId, tail: NodeId) -> Result<Vec<Edge>> {
        let from_head = |edge: &Edge| edge.head == head;
        match self.edges_where(tail, Side::In, relation, FEW_EDGES, from_head)? {
            (edges, true) => Ok(edges),
            (_, false) => {
                let to_tail = |edge: &Edge| edge.tail == tail;
                Ok(self.edges_where(head, Side::Out, relation, usize::MAX, to_tail)?.0)
            }
        }
    }

    /// The believed edges of a node that fit, of the first `limit` ones, and whether these are all.
    fn edges_where(
        &self,
        near: NodeId,
        side: Side,
        relation: RelationId,
        limit: usize,
        fits: impl Fn(&Edge) -> bool,
    ) -> Result<(Vec<Edge>, bool)> {
        let (mut edges, mut seen) = (Vec::new(), 0);
        let filter = EdgeFilter::CURRENT;
        self.reader().edges(near, side, Some(relation), &filter, &mut |edge| {
            seen += 1;
            if fits(&edge) {
                edges.push(edge);
            }
            if seen < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok((edges, seen < limit))
    }

    /// Ends the belief in a fact; its history stays. False if it is not believed.
    pub fn retract(&mut self, fact: FactId) -> Result<bool> {
        let Some((number, version)) = self.reader().last_version(fact)? else {
            return Ok(false);
        };
        if version.system.to != Interval::MAX {
            return Ok(false);
        }
        self.end_version(&edge(fact, number, &version), &version)?;
        Ok(true)
    }

    fn new_fact(&mut self) -> Result<FactId> {
        let fact = FactId(self.pending.next_fact);
        self.pending.next_fact = fact.0.checked_add(1).ok_or(StorageError::Exhausted("fact"))?;
        Ok(fact)
    }

    fn put_version(
        &mut self,
        fact: FactId,
        number: u32,
        head: NodeId,
        relation: RelationId,
        belief: &Belief,
    ) -> Result<()> {
        let system = Interval { from: self.now, to: Interval::MAX };
        let version = VersionRecord { head, relation, belief: belief.clone(), system };
        let edge = edge(fact, number, &version);
        self.overlay.put(Family::Versions, key::version(fact, number), record::encode(&version)?);
        for (side, family) in [(Side::Out, Family::Out), (Side::In, Family::In)] {
            let value = record::encode_edge(&edge).to_vec();
            self.overlay.put(family, adjacency(side, &edge), value);
        }
        Ok(())
    }

    /// Moves a version to history and gives the number of the next one. A version of this same
    /// transaction is taken away, for it was never believed at any instant.
    fn end_version(&mut self, edge: &Edge, version: &VersionRecord) -> Result<u32> {
        for (side, family) in [(Side::Out, Family::Out), (Side::In, Family::In)] {
            self.overlay.delete(family, adjacency(side, edge));
        }
        let record_key = key::version(edge.fact, edge.version);
        if version.system.from == self.now {
            self.overlay.delete(Family::Versions, record_key);
            return Ok(edge.version);
        }
        let system = Interval { from: version.system.from, to: self.now };
        let ended = Edge { system, ..*edge };
        let version = VersionRecord { system, ..version.clone() };
        self.overlay.put(Family::Versions, record_key, record::encode(&version)?);
        for (side, family) in [(Side::Out, Family::OutPast), (Side::In, Family::InPast)] {
            let key = [&adjacency(side, &ended)[..], &ended.version.to_be_bytes()].concat();
            debug_assert_eq!(key.len(), key::PAST);
            self.overlay.put(family, key, record::encode_edge(&ended).to_vec());
        }
        edge.version.checked_add(1).ok_or(StorageError::Exhausted("version"))
    }

    /// Makes all changes last, at once; `wall` is what the clock on the wall says. Their system
    /// time is an instant behind every one that a reader was told until now.
    pub fn commit(mut self, durability: Durability, wall: Time) -> Result<()> {
        if self.overlay.is_empty() {
            return Ok(());
        }
        let when = (durability, wall);
        let overlay = &mut self.overlay;
        let committed = self.store.publish(overlay, self.pending, &self.catalog, self.now, when);
        *self.counters = committed?;
        Ok(())
    }
}

fn edge(fact: FactId, version: u32, record: &VersionRecord) -> Edge {
    Edge {
        fact,
        version,
        head: record.head,
        relation: record.relation,
        tail: record.belief.tail,
        valid: record.belief.valid,
        system: record.system,
        confidence: record.belief.confidence,
        intent: record.belief.intent,
        uncertain: record.belief.uncertain,
    }
}

fn adjacency(side: Side, edge: &Edge) -> [u8; key::ADJACENCY] {
    Adjacency::new(side, edge.head, edge.relation, edge.valid.from, edge.tail, edge.fact).encode()
}

fn check_key(key: &str) -> Result<()> {
    match key.len() {
        0 => Err(StorageError::Invalid("a node needs a key that is not empty".to_owned())),
        length if length > KEY_BYTES_MAX => Err(StorageError::Invalid(format!(
            "a key of {length} bytes is over the limit of {KEY_BYTES_MAX}"
        ))),
        _ => Ok(()),
    }
}

fn check_value(name: &str, value: &Value) -> Result<()> {
    match value {
        Value::Float(number) if !number.is_finite() => {
            Err(StorageError::Invalid(format!("property {name} is not a finite number")))
        }
        Value::List(items) => items.iter().try_for_each(|item| check_value(name, item)),
        Value::Map(entries) => entries.values().try_for_each(|value| check_value(name, value)),
        _ => Ok(()),
    }
}

fn check_belief(belief: &Belief) -> Result<()> {
    // NaN fails this comparison, as it should.
    if !(belief.confidence > 0.0 && belief.confidence <= 1.0) {
        return Err(StorageError::Invalid(format!(
            "confidence {} is not above 0 and at most 1",
            belief.confidence
        )));
    }
    if Interval::new(belief.valid.from, belief.valid.to).is_none() {
        return Err(StorageError::Invalid("the fact ends before it begins".to_owned()));
    }
    Ok(())
}
