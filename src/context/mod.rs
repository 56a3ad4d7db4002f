//! What every operator needs: a state of the database, the models, the limits, and lookups.

mod blocks;
pub(crate) mod derived;
pub(crate) mod held;
pub(crate) mod limits;
pub(crate) mod lineage;
mod models;
mod nearest;
pub(crate) mod run;
mod sorted;
mod whole;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use engraph_grammar::ast::Span;
use engraph_grammar::closest;
use engraph_storage::graph::{
    self, Belief, Edge, FactId, Intent, Interval, LabelId, NodeId, NodeRecord, RelationId,
    SystemScope, Time, VersionRecord,
};
use engraph_storage::{Reader, StorageError};

use self::derived::{Derivation, FIRST, is_derived};
use self::held::Held;
use self::limits::narrow;
use self::run::Run;
use crate::cell::{Cell, NodeRef, PathRef};
use crate::error::{Diagnostic, Result};
use crate::indexes::{Indexes, ReadNames};
use crate::models::Models;
use crate::retrieval::anchor::Name;
use crate::retrieval::evaluate::PathText;
use crate::retrieval::rules::Derived;
use crate::rows::{Params, Value};
use crate::text;

pub(crate) use self::blocks::blocks;
pub use self::limits::Limits;

/// Shared by the operators of one statement while they make one chunk.
pub(crate) struct Context<'c> {
    pub(crate) reader: Reader<'c>,
    pub(crate) models: &'c Models,
    indexes: &'c Indexes,
    pub(crate) run: &'c Run,
    parameters: &'c Params,
}

impl<'c> Context<'c> {
    /// A state, with what its readers may ask and use.
    pub(crate) fn new(
        reader: Reader<'c>,
        (models, indexes): (&'c Models, &'c Indexes),
        run: &'c Run,
        parameters: &'c Params,
    ) -> Self {
        Self { reader: reader.metered(run.meter()), models, indexes, run, parameters }
    }

    /// The instant of the state that is read.
    pub(crate) fn now(&self) -> Time {
        self.reader.now()
    }

    /// What the statement may use.
    pub(crate) fn limits(&self) -> &Limits {
        self.run.limits()
    }

    /// The value of a parameter, if it is given one.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name)
    }

    /// The value of a parameter.
    pub(crate) fn parameter_at(&self, name: &str, span: Span) -> Result<Cell> {
        if let Some(cell) = self.run.held_parameter(name) {
            return Ok(cell);
        }
        let cell = self.converted(name, span)?;
        self.run.hold_parameter(name, cell.clone());
        Ok(cell)
    }

    fn converted(&self, name: &str, span: Span) -> Result<Cell> {
        let Some(value) = self.parameters.get(name) else {
            let error = Diagnostic::at(span, format!("the parameter ${name} has no value"));
            return Err(match closest(name, self.parameters.names()) {
                Some(known) => error.help(format!("did you mean ${known}?")),
                None => error.help(format!(
                    "give it one: --param {name}=..., .let {name} = ..., or [(\"{name}\", ...)] in Rust"
                )),
            }
            .bind());
        };
        Cell::from_parameter(value).ok_or_else(|| {
            let what = match value {
                Value::Float(_) => "no finite number",
                Value::Period(_) => "no interval from one instant to a later one",
                _ => "no scalar, list or map of finite values",
            };
            Diagnostic::at(span, format!("the parameter ${name} is {what}")).bind()
        })
    }

    /// Counts things looked at; an error once there were too many or it took too long.
    pub(crate) fn work(&self, things: usize) -> Result<()> {
        self.run.work(things)
    }

    /// An error if it took too long, or is to end.
    pub(crate) fn in_time(&self) -> Result<()> {
        self.run.in_time()
    }

    /// Bytes that are looked through or copied, which takes time; an error if it is up.
    pub(crate) fn passed(&self, bytes: usize) -> Result<()> {
        self.run.passed(bytes)
    }

    /// An error if an operator would hold too many rows.
    pub(crate) fn rows(&self, rows: usize) -> Result<()> {
        let most = self.limits().rows_max;
        if rows <= most {
            return Ok(());
        }
        Err(narrow(format!("there are more than {most} rows")))
    }

    /// A holder has so many bytes from here on, until it goes; an error if all of them have too many.
    pub(crate) fn hold(&self, held: &mut Held, bytes: usize) -> Result<()> {
        self.run.hold(held, bytes)
    }

    /// The record of a node.
    pub(crate) fn node(&self, node: NodeRef) -> Result<Arc<NodeRecord>> {
        if let Some(record) = self.run.held_node(node) {
            return Ok(record);
        }
        let record =
            self.reader.node(node.id, node.system)?.ok_or_else(|| StorageError::Corrupt {
                family: "nodes",
                key: format!("{:016x}", node.id.0),
                reason: "a fact leads to a node that does not exist".to_owned(),
            })?;
        self.run.hold_node(node, Arc::clone(&record));
        Ok(record)
    }

    /// How many nodes of a label there are now.
    pub(crate) fn count(&self, label: LabelId) -> Result<u64> {
        self.indexes.count(label, self.reader)
    }

    /// The head or the tail of a fact, as it was known when the fact was last believed: now, if it
    /// still is.
    pub(crate) fn end_of(&self, edge: &Edge, head: bool) -> Cell {
        let id = if head { edge.head } else { edge.tail };
        let system = match edge.system.to {
            Interval::MAX => SystemScope::Current,
            to => SystemScope::AsOf(to.saturating_sub(1)),
        };
        Cell::Node(NodeRef { id, system })
    }

    pub(crate) fn node_property(&self, node: NodeRef, name: &str) -> Result<Cell> {
        let record = self.node(node)?;
        let catalog = self.reader.catalog();
        Ok(match name {
            "key" => Cell::text(&record.key),
            "label" => Cell::text(catalog.label_name(record.label)),
            "aliases" => Cell::list(record.aliases.iter().map(|alias| Cell::text(alias)).collect()),
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
            "relation" => Cell::text(&self.relation_of(edge)),
            "valid" => Cell::Period(edge.valid),
            "system" => Cell::Period(edge.system),
            "valid_from" => Cell::instant(edge.valid.from),
            "valid_to" => Cell::instant(edge.valid.to),
            "system_from" => Cell::instant(edge.system.from),
            "system_to" => Cell::instant(edge.system.to),
            "confidence" => Cell::Float(edge.confidence),
            "intent" => Cell::text(edge.intent.name()),
            "uncertain" => Cell::Bool(edge.uncertain),
            "derived" => Cell::Bool(is_derived(edge.fact)),
            "rule" => self.derivation(edge.fact).map_or(Cell::Null, |why| Cell::text(&why.rule)),
            "family" if is_derived(edge.fact) => {
                let family = self.derivation(edge.fact).and_then(|why| why.family);
                family.map_or(Cell::Null, |family| Cell::text(family.name()))
            }
            "sources" => {
                let version = self.version(edge)?;
                Cell::list(version.belief.sources.iter().map(|source| Cell::text(source)).collect())
            }
            "denied_by" => {
                let version = self.version(edge)?;
                let denied: BTreeSet<&str> = version.belief.deniers().collect();
                Cell::list(denied.into_iter().map(Cell::text).collect())
            }
            name => {
                let Some(property) = catalog.property(name) else { return Ok(Cell::Null) };
                let version = self.version(edge)?;
                version.belief.properties.get(&property).map_or(Cell::Null, Cell::from)
            }
        })
    }

    /// The embedding that is stored for a node; none for anything else.
    pub(crate) fn stored_vector(&self, cell: &Cell) -> Result<Option<Arc<[f32]>>> {
        let Cell::Node(node) = cell else { return Ok(None) };
        let label = self.node(*node)?.label;
        Ok(self.reader.vector(label, node.id, node.system)?)
    }

    /// Whether the embeddings that are stored are of the model that is asked.
    pub(crate) fn stores_the_same(&self) -> Result<bool> {
        let stored = self.reader.model()?;
        let model = self.models.embedder()?;
        Ok(stored.is_none_or(|stored| stored == model.id()))
    }

    /// A text that says what the cell says, for a model to read; none for numbers and the like.
    pub(crate) fn text(&self, cell: &Cell) -> Result<Option<Arc<str>>> {
        Ok(Some(match cell {
            Cell::String(text) => Arc::clone(text),
            Cell::Node(node) => Arc::from(self.name(*node)?),
            Cell::Fact(edge) => Arc::from(self.sentence(edge, &[])?),
            Cell::Path(path) => {
                let sentence = |edge| self.sentence(edge, &path.nodes);
                let sentences: Vec<String> =
                    path.facts.iter().map(sentence).collect::<Result<_>>()?;
                match (sentences.is_empty(), path.nodes.first()) {
                    (true, Some(node)) => Arc::from(self.name(*node)?),
                    _ => Arc::from(sentences.join(" ")),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// `Nora works at Forno Studio.`, by the names of these nodes as they were found, and of others as they
    /// are now.
    fn sentence(&self, edge: &Edge, nodes: &[NodeRef]) -> Result<String> {
        let node = |id| {
            let found = nodes.iter().find(|node| node.id == id);
            self.name(found.copied().unwrap_or(self.seen_now(id)))
        };
        let relation = self.relation_of(edge);
        Ok(text::sentence(&node(edge.head)?, &relation, &node(edge.tail)?))
    }

    /// What a sentence calls a node: its text if it has one, else its key.
    pub(crate) fn name(&self, node: NodeRef) -> Result<String> {
        let record = self.node(node)?;
        let text = self.reader.catalog().property("text");
        match text.and_then(|text| record.properties.get(&text)) {
            Some(graph::Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            _ => Ok(record.key.clone()),
        }
    }

    /// What lines of evidence call a node: its key.
    pub(crate) fn called(&self, id: NodeId) -> Result<String> {
        Ok(self.node(self.seen_now(id))?.key.clone())
    }

    /// A node as it is now, or was last.
    pub(crate) fn seen_now(&self, id: NodeId) -> NodeRef {
        NodeRef { id, system: SystemScope::All }
    }

    /// A path as an evaluator sees it.
    pub(crate) fn path_text(&self, path: &Arc<PathRef>) -> Result<PathText> {
        let sentence = self.text(&Cell::Path(Arc::clone(path)))?;
        let distinct: HashSet<NodeId> = path.nodes.iter().map(|node| node.id).collect();
        let mut nodes: Vec<String> =
            path.nodes.iter().map(|node| self.name(*node)).collect::<Result<_>>()?;
        // A text of the root is no name by which a question calls it.
        if let (Some(name), Some(root)) = (nodes.first_mut(), path.nodes.first()) {
            name.clone_from(&self.node(*root)?.key);
        }
        Ok(PathText {
            nodes,
            met_again: path.nodes.len() - distinct.len(),
            relations: path.facts.iter().map(|edge| self.relation_of(edge)).collect(),
            sentence: sentence.map_or_else(String::new, |text| text.to_string()),
            valid: path.facts.iter().map(|edge| edge.valid).collect(),
            confidence: path.facts.iter().map(|edge| edge.confidence).collect(),
            vectors: path
                .nodes
                .iter()
                .map(|node| self.stored_vector(&Cell::Node(*node)))
                .collect::<Result<_>>()?,
        })
    }

    /// The names of all nodes of these labels, kept for the next time.
    pub(crate) fn names(&self, labels: &[LabelId], read: ReadNames<'_>) -> Result<Arc<Vec<Name>>> {
        self.indexes.names(labels, self.reader, read)
    }

    /// What is embedded of a node: its text with the speaker and the caption, if it has a text.
    pub(crate) fn passage(&self, node: NodeRef) -> Result<Option<Arc<str>>> {
        let record = self.node(node)?;
        let catalog = self.reader.catalog();
        let properties = text::PROPERTIES.iter().filter_map(|name| {
            let value = record.properties.get(&catalog.property(name)?)?;
            Some(((*name).to_owned(), value.clone()))
        });
        Ok(text::of_node(&properties.collect()).map(Arc::from))
    }

    /// Whether a node that is bound as it is in one state was known in another one.
    pub(crate) fn is_known(&self, node: NodeRef, system: SystemScope) -> Result<bool> {
        Ok(node.system == system || self.reader.node(node.id, system)?.is_some())
    }

    /// The step as a path holds it.
    ///
    /// # Errors
    ///
    /// If there are more of them than rows are allowed.
    pub(crate) fn derived(&self, step: Derived) -> Result<Edge> {
        let catalog = self.reader.catalog();
        let known = catalog.relation(&step.relation);
        let intent = known.map_or_else(Intent::default, |relation| catalog.rule(relation).intent);
        let (head, tail, valid, confidence) = (step.from, step.to, step.valid, step.confidence);
        let Derived { relation, rule, family, facts, .. } = step;
        let derivation = Derivation { relation, rule, family, facts };
        let place = self.run.hold_derivation(Arc::new(derivation));
        self.rows(place)?;
        Ok(Edge {
            fact: FactId(FIRST.saturating_add(place as u64)),
            version: 0,
            head,
            relation: known.unwrap_or(RelationId(u32::MAX)),
            tail,
            valid,
            system: Interval { from: self.now(), to: Interval::MAX },
            confidence,
            intent,
            uncertain: true,
            two_way: false,
        })
    }

    /// Why a step is there, if it is derived.
    pub(crate) fn derivation(&self, fact: FactId) -> Option<Arc<Derivation>> {
        let place = fact.0.checked_sub(FIRST)?;
        self.run.held_derivation(usize::try_from(place).ok()?)
    }

    /// The name of the relation of a fact or a derived step.
    pub(crate) fn relation_of(&self, edge: &Edge) -> String {
        match self.derivation(edge.fact) {
            Some(derivation) => derivation.relation.clone(),
            None => self.reader.catalog().relation_name(edge.relation).to_owned(),
        }
    }

    /// The version of a fact; of a derived step, one with the sources of what it follows from.
    pub(crate) fn version(&self, edge: &Edge) -> Result<VersionRecord> {
        let Some(derivation) = self.derivation(edge.fact) else {
            return Ok(self.reader.version(edge.fact, edge.version)?);
        };
        let mut sources: Vec<String> = Vec::new();
        for (fact, version) in &derivation.facts {
            for source in self.reader.version(*fact, *version)?.belief.sources {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        let belief = Belief {
            tail: edge.tail,
            valid: edge.valid,
            confidence: edge.confidence,
            intent: edge.intent,
            uncertain: edge.uncertain,
            sources,
            properties: Default::default(),
            evidence: Vec::new(),
        };
        let (head, relation, system) = (edge.head, edge.relation, edge.system);
        Ok(VersionRecord { head, relation, belief, system, mirror: None })
    }
}
