//! Transactions and their nodes: one method per change, each filling every family it touches. Facts
//! are in `facts`, relations in `relations`, other definitions in `define`, indexes in `indexes` and
//! `text`, the keys of concepts in `schema_keys`, embeddings that are made anew in `vectors`, those of
//! tokens in `token_codes`, turns in `buffer`, forgetting in `forget`.
//!
//! Invariant: what a transaction has not committed, no reader sees; dropping it leaves no trace.
//! Invariant: all its changes have one system time, and an intermediate state within it leaves no
//! version after.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::commit::{Counters, Durability, Pending, Writing};
use crate::engine::EngineSnapshot;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{LabelId, NodeId, NodeRecord, PropertyId, RelationId, Time, Value};
use crate::kept::KeptVector;
use crate::key;
use crate::overlay::Overlay;
use crate::reader::{ALIAS, KEY, MODEL, Reader};
use crate::record;
use crate::store::{PURGE_KEY, Store};
use crate::view::View;

/// The longest key of a node, in bytes.
pub const KEY_BYTES_MAX: usize = 4096;

/// A set of changes that will be committed together.
pub struct Transaction<'s> {
    pub(crate) store: &'s Store,
    writer: Writing<'s>,
    pub(crate) pending: Counters,
    snapshot: EngineSnapshot<'s>,
    pub(crate) overlay: Overlay,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) now: Time,
    /// Whether something was forgotten, so that its bytes must leave the files.
    pub(crate) forgotten: bool,
    /// See [`Transaction::has_overruled_own`].
    pub(crate) overruled_own: bool,
    /// How many components the embeddings have; none where that was not asked yet.
    dimensions: Option<usize>,
    /// Whether long work is to go on.
    goes_on: Option<GoesOn>,
}

/// Asked by long work.
type GoesOn = Box<dyn Fn() -> bool + Send + Sync>;

impl Store {
    /// That this thread has no transaction open, for which whatever it is about to wait for would wait.
    ///
    /// # Errors
    ///
    /// [`StorageError::OwnTransaction`] if it has.
    pub fn no_own_transaction(&self) -> Result<()> {
        if self.commits.is_own() { Err(StorageError::OwnTransaction) } else { Ok(()) }
    }

    /// Begins a transaction, once no other one is open; `wall` is what the clock on the wall says.
    pub fn begin(&self, wall: Time) -> Result<Transaction<'_>> {
        self.begin_with(wall, || self.commits.writer())
    }

    /// The same, but it waits for another one no longer than `goes_on` says.
    ///
    /// # Errors
    ///
    /// [`StorageError::Stopped`] where another one is open yet.
    pub fn begin_while(&self, wall: Time, goes_on: &dyn Fn() -> bool) -> Result<Transaction<'_>> {
        self.begin_with(wall, || self.commits.writer_while(goes_on))
    }

    fn begin_with<'s>(
        &'s self,
        wall: Time,
        writer: impl FnOnce() -> Result<Writing<'s>>,
    ) -> Result<Transaction<'s>> {
        if self.is_read_only() {
            return Err(StorageError::ReadOnly);
        }
        let writer = writer()?;
        let (catalog, now) = self.commits.begin(wall)?;
        Ok(Transaction::new(self, writer, self.engine.snapshot(), catalog, now))
    }
}

impl<'s> Transaction<'s> {
    pub(crate) fn new(
        store: &'s Store,
        writer: Writing<'s>,
        snapshot: EngineSnapshot<'s>,
        catalog: Arc<Catalog>,
        now: Time,
    ) -> Self {
        let (pending, overlay) = (writer.counters, Overlay::default());
        let (forgotten, overruled_own) = (false, false);
        Self {
            store,
            writer,
            pending,
            snapshot,
            overlay,
            catalog,
            now,
            forgotten,
            overruled_own,
            dimensions: None,
            goes_on: None,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.snapshot, Some(&self.overlay))
    }

    /// The transaction's own state: what is committed and what it has changed.
    pub fn reader(&self) -> Reader<'_> {
        self.writer.is_here();
        let kept = self.store.commits.kept();
        Reader::new(self.view(), &self.catalog, self.now).keeping(kept)
    }

    /// The instant that marks its changes until it commits.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many nodes and how many facts it has made so far, those that it took out again among them.
    pub fn made(&self) -> (u64, u64) {
        let before = &self.writer.counters;
        let nodes = self.pending.next_node.saturating_sub(before.next_node);
        (nodes, self.pending.next_fact.saturating_sub(before.next_fact))
    }

    /// Does `work`, or nothing of it if it fails; parts of it may be done so too.
    ///
    /// # Errors
    ///
    /// The error of `work`; what it changed has been taken back.
    pub fn whole<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.writer.is_here();
        self.overlay.savepoint();
        let (pending, catalog) = (self.pending, Arc::clone(&self.catalog));
        let (forgotten, overruled_own) = (self.forgotten, self.overruled_own);
        let result = work(self);
        match result.is_ok() {
            true => self.overlay.release(),
            false => {
                self.overlay.rollback();
                (self.pending, self.catalog) = (pending, catalog);
                (self.forgotten, self.overruled_own) = (forgotten, overruled_own);
                self.dimensions = None;
            }
        }
        result
    }

    /// Once `goes_on` says no, work that looks at much ends with [`StorageError::Stopped`]: an index that is made or
    /// dropped, and forgetting.
    pub fn stop_unless(&mut self, goes_on: impl Fn() -> bool + Send + Sync + 'static) {
        self.goes_on = Some(Box::new(goes_on));
    }

    /// An error if long work is not to go on.
    pub(crate) fn check_goes_on(&self) -> Result<()> {
        match self.goes_on.as_ref().is_none_or(|goes_on| goes_on()) {
            true => Ok(()),
            false => Err(StorageError::Stopped),
        }
    }

    /// Whether what it told has cut or ended another fact that it told, or took the place of what the
    /// same source said of the same fact: of these only what is left becomes history.
    pub fn has_overruled_own(&self) -> bool {
        self.overruled_own
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
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if it is new and empty, for no query could name it.
    pub fn property(&mut self, name: &str) -> Result<PropertyId> {
        match self.catalog.property(name) {
            Some(property) => Ok(property),
            None if name.is_empty() => {
                Err(StorageError::Invalid("the name of a property is empty".to_owned()))
            }
            None => Arc::make_mut(&mut self.catalog).intern_property(name, &mut self.overlay),
        }
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
            Some(node) if properties.is_empty() => return Ok(node),
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

    /// The number that the next new node gets.
    pub fn next_node(&self) -> NodeId {
        NodeId(self.pending.next_node)
    }

    pub(crate) fn current_node(&self, node: NodeId) -> Result<NodeRecord> {
        self.reader().current_node(node).map(Arc::unwrap_or_clone)
    }

    fn new_node(&mut self, label: LabelId, key: &str) -> Result<NodeId> {
        let schema_tokens = self.check_name(label, key)?;
        let node = NodeId(self.pending.next_node);
        self.pending.next_node = node.0.checked_add(1).ok_or(StorageError::Exhausted("node"))?;
        self.put_node_key(label, key, node, KEY);
        if let Some(tokens) = schema_tokens {
            self.put_schema_key(&tokens, node, self.now)?;
        }
        Ok(node)
    }

    /// The tokens of a key that a node is to have, if it is of a concept.
    pub(crate) fn check_name(&mut self, label: LabelId, key: &str) -> Result<Option<Vec<u32>>> {
        check_key(key)?;
        self.schema_tokens(label, key)
    }

    pub(crate) fn put_node_key(&mut self, label: LabelId, key: &str, node: NodeId, kind: u8) {
        let value = [&node.0.to_be_bytes()[..], &[kind]].concat();
        self.overlay.put(Family::NodeKeys, key::node_key(label, key), value);
    }

    /// Writes a node's new state; the old one goes to history unless this transaction made it.
    pub(crate) fn replace_node(
        &mut self,
        node: NodeId,
        old: Option<NodeRecord>,
        mut new: NodeRecord,
    ) -> Result<()> {
        if old.as_ref() == Some(&new) {
            return Ok(());
        }
        self.index_node(node, old.as_ref(), Some(&new))?;
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
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if the other embeddings were made by another model, or have another number of
    /// components.
    pub fn put_vector(&mut self, node: NodeId, model: &str, vector: &[f32]) -> Result<()> {
        record::check_finite(vector)?;
        match self.reader().model()? {
            Some(known) if known == model => self.check_dimensions(model, vector.len())?,
            Some(known) => {
                return Err(StorageError::Invalid(format!(
                    "the embeddings here were made by {known}, not by {model}; use that model, or \
                     let `engraph embed`, or `Engraph::reembed`, make them anew"
                )));
            }
            None => self.overlay.put(Family::Meta, MODEL, model.as_bytes().to_vec()),
        }
        let label = self.current_node(node)?.label;
        let held = self.reader().current_vector(label, node)?;
        if held.as_ref().is_none_or(|held| &*held.vector != vector) {
            self.end_vector(label, node, held)?;
            let bytes = record::encode_vector(self.now, vector);
            self.overlay.put(Family::Vectors, key::vector(label, node), bytes);
        }
        Ok(())
    }

    /// That the other embeddings have so many components; `model` is what made this one.
    fn check_dimensions(&mut self, model: &str, given: usize) -> Result<()> {
        let held = match self.dimensions {
            Some(held) => held,
            None => self.reader().dimensions()?.unwrap_or(given),
        };
        self.dimensions = Some(held);
        if held == given {
            return Ok(());
        }
        Err(StorageError::Invalid(format!(
            "{model} gives an embedding of {given} components, and those here have {held}; a model that gives \
             others needs another id, by which all can be made anew"
        )))
    }

    /// Moves an embedding to history, unless this transaction made it.
    fn end_vector(&mut self, label: LabelId, node: NodeId, held: Option<KeptVector>) -> Result<()> {
        if let Some(held) = held.filter(|held| held.system_from != self.now) {
            let past = key::vector_past(label, node, self.now);
            let bytes = record::encode_vector(held.system_from, &held.vector);
            self.overlay.put(Family::VectorsPast, past, bytes);
        }
        Ok(())
    }

    /// Takes a node's embedding away.
    pub fn delete_vector(&mut self, node: NodeId) -> Result<()> {
        let label = self.current_node(node)?.label;
        let held = self.reader().current_vector(label, node)?;
        if held.is_some() {
            self.end_vector(label, node, held)?;
            self.overlay.delete(Family::Vectors, key::vector(label, node));
        }
        self.overlay.delete(Family::TokenCodes, key::vector(label, node));
        Ok(())
    }

    /// Whether something is forgotten by it.
    pub fn forgets(&self) -> bool {
        self.forgotten
    }

    /// Makes all changes last, at once; `wall` is what the clock on the wall says. Their system
    /// time is an instant after every one that a reader was told until now.
    ///
    /// # Errors
    ///
    /// After [`StorageError::Engine`], whether the changes last is known when the database is opened
    /// again, and this store writes nothing more. After [`StorageError::StillRead`] and
    /// [`StorageError::NotPurged`] they last.
    pub fn commit(self, durability: Durability, wall: Time) -> Result<()> {
        let Self {
            store, mut writer, pending, snapshot, mut overlay, catalog, now, forgotten, ..
        } = self;
        drop(snapshot);
        if overlay.is_empty() {
            return Ok(());
        }
        let mark = now.to_be_bytes();
        if forgotten {
            overlay.put(Family::Meta, PURGE_KEY, mark.to_vec());
        }
        let pending = Pending { counters: pending, catalog, mark: now };
        let number =
            store.commits.publish(&store.engine, &mut writer, &mut overlay, pending, wall)?;
        let before = store.engine.snapshots().next();
        // Others may write while this one waits for the disk.
        drop(writer);
        if durability == Durability::Sync || forgotten {
            store.commits.sync(&store.engine, number)?;
        }
        if forgotten {
            store.purge(&mark, before)?;
        }
        Ok(())
    }
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

pub(crate) fn check_value(name: &str, value: &Value) -> Result<()> {
    match value {
        Value::Float(number) if !number.is_finite() => {
            Err(StorageError::Invalid(format!("property {name} is not a finite number")))
        }
        Value::List(items) => items.iter().try_for_each(|item| check_value(name, item)),
        Value::Map(entries) => entries.values().try_for_each(|value| check_value(name, value)),
        _ => Ok(()),
    }
}
