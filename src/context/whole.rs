//! Cells with everything looked up, for an answer. What the records of nodes and facts bring is counted before it is
//! copied, so that no answer outgrows what a statement may hold.

use std::collections::BTreeMap;

use engraph_storage::graph::{self, Edge, Properties, PropertyId};

use super::Context;
use super::held::Held;
use crate::cell::{Cell, NodeRef, PathRef, tree_bytes};
use crate::error::Result;
use crate::rows::{self, Value};

impl Context<'_> {
    /// The cell with everything looked up. What it holds by itself is its giver's to count
    /// ([`Cell::whole_bytes`]); `held` has what is read beside it.
    pub(crate) fn materialise(&self, cell: &Cell, held: &mut Held) -> Result<Value> {
        Ok(match cell {
            Cell::Null => Value::Null,
            Cell::Bool(value) => Value::Bool(*value),
            Cell::Int(value) => Value::Int(*value),
            Cell::Float(value) => Value::Float(*value),
            Cell::String(text) => Value::String(text.to_string()),
            Cell::Timestamp(value) => Value::Timestamp(*value),
            Cell::Duration(value) => Value::Duration(value.to_string()),
            Cell::Period(value) => Value::Period(*value),
            Cell::List(items) => {
                let items = items.iter().map(|item| self.materialise(item, held));
                Value::List(items.collect::<Result<_>>()?)
            }
            Cell::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(name, cell)| Ok((name.clone(), self.materialise(cell, held)?)));
                Value::Map(entries.collect::<Result<_>>()?)
            }
            Cell::Node(node) => Value::Node(Box::new(self.whole_node(*node, held)?)),
            Cell::Fact(edge) => Value::Fact(Box::new(self.whole_fact(edge, held)?)),
            Cell::Path(path) => Value::Path(Box::new(self.whole_path(path, held)?)),
        })
    }

    /// A node with all that is known of it.
    pub(crate) fn whole_node(&self, node: NodeRef, held: &mut Held) -> Result<rows::Node> {
        let record = self.node(node)?;
        Ok(rows::Node {
            properties: self.whole_properties(&record.properties, held)?,
            ..self.bare_node(node, held)?
        })
    }

    /// A node without its properties.
    pub(crate) fn bare_node(&self, node: NodeRef, held: &mut Held) -> Result<rows::Node> {
        let record = self.node(node)?;
        let label = self.reader.catalog().label_name(record.label);
        self.hold_more(held, size_of::<rows::Node>() + label.len() + record.key.len())?;
        let (label, key) = (label.to_owned(), record.key.clone());
        Ok(rows::Node { label, key, properties: BTreeMap::new() })
    }

    fn whole_properties(
        &self,
        properties: &Properties,
        held: &mut Held,
    ) -> Result<BTreeMap<String, Value>> {
        let catalog = self.reader.catalog();
        let name = |property: &PropertyId| catalog.property_name(*property);
        let values =
            properties.iter().map(|(property, value)| name(property).len() + beside(value));
        self.hold_more(held, tree_bytes::<Value>(properties.len()) + values.sum::<usize>())?;
        let named = properties.iter().map(|(property, value)| {
            Ok((name(property).to_owned(), self.materialise(&Cell::from(value), held)?))
        });
        named.collect()
    }

    /// A fact with all that is known of it.
    pub(crate) fn whole_fact(&self, edge: &Edge, held: &mut Held) -> Result<rows::Fact> {
        let version = self.version(edge)?;
        let sources: usize =
            version.belief.sources.iter().map(|text| size_of::<String>() + text.len()).sum();
        self.hold_more(held, size_of::<rows::Fact>() + sources)?;
        let mut node = |id| self.bare_node(self.seen_now(id), &mut *held);
        Ok(rows::Fact {
            id: edge.fact.0,
            head: node(edge.head)?,
            relation: self.relation_of(edge),
            tail: node(edge.tail)?,
            valid: edge.valid,
            system: edge.system,
            confidence: edge.confidence,
            intent: edge.intent.name().to_owned(),
            uncertain: edge.uncertain,
            sources: version.belief.sources,
            properties: self.whole_properties(&version.belief.properties, held)?,
            derived: self.derivation(edge.fact).map(|why| rows::Derivation {
                rule: why.rule.clone(),
                facts: why.facts.iter().map(|(fact, _)| fact.0).collect(),
            }),
        })
    }

    fn whole_path(&self, path: &PathRef, held: &mut Held) -> Result<rows::Path> {
        let nodes = path.nodes.iter().map(|node| self.bare_node(*node, held));
        let nodes = nodes.collect::<Result<_>>()?;
        let facts = path.facts.iter().map(|edge| self.whole_fact(edge, held));
        Ok(rows::Path { nodes, facts: facts.collect::<Result<_>>()? })
    }

    /// A holder has so many bytes more.
    pub(crate) fn hold_more(&self, held: &mut Held, bytes: usize) -> Result<()> {
        self.hold(held, held.bytes().saturating_add(bytes))
    }
}

/// Roughly what a value takes beside itself.
fn beside(value: &graph::Value) -> usize {
    match value {
        graph::Value::String(text) => text.len(),
        graph::Value::List(items) => {
            items.iter().map(|item| size_of::<Value>() + beside(item)).sum()
        }
        graph::Value::Map(entries) => {
            let entry = |(name, value): (&String, _)| name.len() + beside(value);
            tree_bytes::<Value>(entries.len()) + entries.iter().map(entry).sum::<usize>()
        }
        _ => 0,
    }
}
