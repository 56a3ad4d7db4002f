//! What every operator needs: a state of the database, the models, the limits, and lookups.

use std::cell::{Cell as Counter, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engraph_storage::graph::{self, Edge, NodeId, NodeRecord, Properties, SystemScope};
use engraph_storage::{Reader, StorageError};

use crate::cell::{Cell, NodeRef, PathRef};
use crate::error::{Diagnostic, Result};
use crate::models::Models;
use crate::rows::{self, Value};
use crate::text;

/// Nodes kept in memory for one query.
const NODES_MAX: usize = 16_384;

/// What one statement may use; the same for every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows of an answer, and rows held by any one operator.
    pub rows_max: usize,
    /// Nodes, facts and vectors looked at.
    pub work_max: u64,
    /// Paths kept by a beam, continuations of one path, and nodes found by a search.
    pub candidates_max: usize,
    /// Time.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows_max: 1_000_000,
            work_max: 20_000_000,
            candidates_max: 10_000,
            timeout: Duration::from_secs(30),
        }
    }
}

/// Shared by the operators of one statement.
pub(crate) struct Context<'c> {
    pub(crate) reader: Reader<'c>,
    pub(crate) models: &'c Models,
    pub(crate) limits: Limits,
    deadline: Instant,
    work: Counter<u64>,
    nodes: RefCell<HashMap<NodeId, (SystemScope, Arc<NodeRecord>)>>,
}

impl<'c> Context<'c> {
    pub(crate) fn new(reader: Reader<'c>, models: &'c Models, limits: Limits) -> Self {
        Self {
            reader,
            models,
            limits,
            deadline: Instant::now() + limits.timeout,
            work: Counter::new(0),
            nodes: RefCell::new(HashMap::new()),
        }
    }

    /// Counts things looked at; an error once there were too many or it took too long.
    pub(crate) fn work(&self, things: usize) -> Result<()> {
        let before = self.work.get();
        let after = before.saturating_add(things as u64);
        self.work.set(after);
        if after > self.limits.work_max {
            let message =
                format!("more than {} nodes and facts were looked at", self.limits.work_max);
            return Err(narrow(message));
        }
        if before / 1024 == after / 1024 { Ok(()) } else { self.in_time() }
    }

    /// The embeddings of texts, unless time is up.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Arc<[f32]>>> {
        self.work(texts.len())?;
        self.in_time()?;
        Ok(self.models.embed(texts)?)
    }

    fn in_time(&self) -> Result<()> {
        if Instant::now() <= self.deadline {
            return Ok(());
        }
        Err(narrow(format!("it took more than {} s", self.limits.timeout.as_secs())))
    }

    /// An error if an operator would hold too many rows.
    pub(crate) fn rows(&self, rows: usize) -> Result<()> {
        if rows <= self.limits.rows_max {
            return Ok(());
        }
        Err(narrow(format!("there are more than {} rows", self.limits.rows_max)))
    }

    /// The record of a node.
    pub(crate) fn node(&self, node: NodeRef) -> Result<Arc<NodeRecord>> {
        if let Some((system, record)) = self.nodes.borrow().get(&node.id)
            && *system == node.system
        {
            return Ok(Arc::clone(record));
        }
        let record =
            self.reader.node(node.id, node.system)?.ok_or_else(|| StorageError::Corrupt {
                family: "nodes",
                key: format!("{:016x}", node.id.0),
                reason: "a fact leads to a node that does not exist".to_owned(),
            })?;
        let record = Arc::new(record);
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= NODES_MAX {
            nodes.clear();
        }
        nodes.insert(node.id, (node.system, Arc::clone(&record)));
        Ok(record)
    }

    pub(crate) fn node_property(&self, node: NodeRef, name: &str) -> Result<Cell> {
        let record = self.node(node)?;
        let catalog = self.reader.catalog();
        Ok(match name {
            "key" => Cell::text(&record.key),
            "label" => Cell::text(catalog.label_name(record.label)),
            "aliases" => Cell::List(record.aliases.iter().map(|alias| Cell::text(alias)).collect()),
            name => catalog
                .property(name)
                .and_then(|property| record.properties.get(&property))
                .map_or(Cell::Null, Cell::from),
        })
    }

    pub(crate) fn fact_property(&self, edge: &Edge, name: &str) -> Result<Cell> {
        let catalog = self.reader.catalog();
        Ok(match name {
            "id" => Cell::Int(edge.fact.0.cast_signed()),
            "relation" => Cell::text(catalog.relation_name(edge.relation)),
            "valid_from" => Cell::instant(edge.valid.from),
            "valid_to" => Cell::instant(edge.valid.to),
            "system_from" => Cell::instant(edge.system.from),
            "system_to" => Cell::instant(edge.system.to),
            "confidence" => Cell::Float(edge.confidence),
            "intent" => Cell::text(edge.intent.name()),
            "uncertain" => Cell::Bool(edge.uncertain),
            "sources" => {
                let version = self.reader.version(edge.fact, edge.version)?;
                Cell::List(version.belief.sources.iter().map(|source| Cell::text(source)).collect())
            }
            name => {
                let Some(property) = catalog.property(name) else { return Ok(Cell::Null) };
                let version = self.reader.version(edge.fact, edge.version)?;
                version.belief.properties.get(&property).map_or(Cell::Null, Cell::from)
            }
        })
    }

    /// The embedding that is stored for a node; none for anything else.
    pub(crate) fn stored_vector(&self, cell: &Cell) -> Result<Option<Arc<[f32]>>> {
        let Cell::Node(node) = cell else { return Ok(None) };
        let label = self.node(*node)?.label;
        Ok(self.reader.vector(label, node.id, node.system)?.map(Arc::from))
    }

    /// A text that says what the cell says, for a model to read; none for numbers and the like.
    pub(crate) fn text(&self, cell: &Cell) -> Result<Option<Arc<str>>> {
        Ok(Some(match cell {
            Cell::String(text) => Arc::clone(text),
            Cell::Node(node) => Arc::from(self.name(*node)?),
            Cell::Fact(edge) => Arc::from(self.sentence(edge)?),
            Cell::Path(path) => {
                let sentences: Vec<String> =
                    path.facts.iter().map(|edge| self.sentence(edge)).collect::<Result<_>>()?;
                match (sentences.is_empty(), path.nodes.first()) {
                    (true, Some(node)) => Arc::from(self.name(*node)?),
                    _ => Arc::from(sentences.join(" ")),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// `Nora works at Forno Studio.`
    fn sentence(&self, edge: &Edge) -> Result<String> {
        let node = |id| self.name(NodeRef { id, system: SystemScope::Current });
        let relation = self.reader.catalog().relation_name(edge.relation);
        Ok(text::sentence(&node(edge.head)?, relation, &node(edge.tail)?))
    }

    /// What a sentence calls a node: its text if it has one, else its key.
    fn name(&self, node: NodeRef) -> Result<String> {
        let record = self.node(node)?;
        let text = self.reader.catalog().property("text");
        match text.and_then(|text| record.properties.get(&text)) {
            Some(graph::Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            _ => Ok(record.key.clone()),
        }
    }

    /// The cell with everything looked up, for an answer.
    pub(crate) fn materialise(&self, cell: &Cell) -> Result<Value> {
        Ok(match cell {
            Cell::Null => Value::Null,
            Cell::Bool(value) => Value::Bool(*value),
            Cell::Int(value) => Value::Int(*value),
            Cell::Float(value) => Value::Float(*value),
            Cell::String(text) => Value::String(text.to_string()),
            Cell::Timestamp(value) => Value::Timestamp(*value),
            Cell::List(items) => {
                Value::List(items.iter().map(|item| self.materialise(item)).collect::<Result<_>>()?)
            }
            Cell::Map(entries) => Value::Map(
                entries
                    .iter()
                    .map(|(name, cell)| Ok((name.clone(), self.materialise(cell)?)))
                    .collect::<Result<_>>()?,
            ),
            Cell::Node(node) => Value::Node(Box::new(self.whole_node(*node)?)),
            Cell::Fact(edge) => Value::Fact(Box::new(self.whole_fact(edge)?)),
            Cell::Path(path) => Value::Path(Box::new(self.whole_path(path)?)),
        })
    }

    fn whole_node(&self, node: NodeRef) -> Result<rows::Node> {
        let record = self.node(node)?;
        Ok(rows::Node {
            properties: self.whole_properties(&record.properties)?,
            ..self.bare_node(node)?
        })
    }

    fn bare_node(&self, node: NodeRef) -> Result<rows::Node> {
        let record = self.node(node)?;
        Ok(rows::Node {
            label: self.reader.catalog().label_name(record.label).to_owned(),
            key: record.key.clone(),
            properties: BTreeMap::new(),
        })
    }

    fn whole_properties(&self, properties: &Properties) -> Result<BTreeMap<String, Value>> {
        let catalog = self.reader.catalog();
        properties
            .iter()
            .map(|(property, value)| {
                let name = catalog.property_name(*property).to_owned();
                Ok((name, self.materialise(&Cell::from(value))?))
            })
            .collect()
    }

    fn whole_fact(&self, edge: &Edge) -> Result<rows::Fact> {
        let version = self.reader.version(edge.fact, edge.version)?;
        let node = |id| self.bare_node(NodeRef { id, system: SystemScope::Current });
        Ok(rows::Fact {
            id: edge.fact.0,
            head: node(edge.head)?,
            relation: self.reader.catalog().relation_name(edge.relation).to_owned(),
            tail: node(edge.tail)?,
            valid: edge.valid,
            system: edge.system,
            confidence: edge.confidence,
            intent: edge.intent.name().to_owned(),
            uncertain: edge.uncertain,
            sources: version.belief.sources,
            properties: self.whole_properties(&version.belief.properties)?,
        })
    }

    fn whole_path(&self, path: &PathRef) -> Result<rows::Path> {
        Ok(rows::Path {
            nodes: path.nodes.iter().map(|node| self.bare_node(*node)).collect::<Result<_>>()?,
            facts: path.facts.iter().map(|edge| self.whole_fact(edge)).collect::<Result<_>>()?,
        })
    }
}

fn narrow(message: String) -> crate::Error {
    Diagnostic::new(message).help("narrow the pattern, or raise the limit").execute()
}
