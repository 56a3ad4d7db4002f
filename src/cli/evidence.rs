//! The evidence in an answer: its nodes and facts, each once.
//!
//! Nodes are sorted by label and key, facts by id and version, whatever the order of the rows. It
//! reads nothing that is not in the answer.

use std::collections::{BTreeMap, BTreeSet};

use engraph::{Fact, Node, Rows, Value};

/// A label and a key: what makes a node the same node.
pub(super) type NodeName<'r> = (&'r str, &'r str);

/// The id of a fact, with its valid and system time: what makes a version the same version.
pub(super) type Version = (u64, [i64; 4]);

/// What has been found in the rows.
#[derive(Default)]
pub(super) struct Evidence<'r> {
    pub(super) nodes: BTreeSet<NodeName<'r>>,
    pub(super) facts: BTreeMap<Version, &'r Fact>,
}

impl<'r> Evidence<'r> {
    /// All nodes, facts and paths in the rows, however deep they lie.
    pub(super) fn of(rows: &'r Rows) -> Self {
        let mut evidence = Self::default();
        rows.rows.iter().flatten().for_each(|value| evidence.value(value));
        evidence
    }

    fn value(&mut self, value: &'r Value) {
        match value {
            Value::Node(node) => self.node(node),
            Value::Fact(fact) => self.fact(fact),
            Value::Path(path) => {
                path.nodes.iter().for_each(|node| self.node(node));
                path.facts.iter().for_each(|fact| self.fact(fact));
            }
            Value::List(items) => items.iter().for_each(|item| self.value(item)),
            Value::Map(entries) => entries.values().for_each(|entry| self.value(entry)),
            _ => {}
        }
    }

    fn node(&mut self, node: &'r Node) {
        self.nodes.insert(name(node));
    }

    fn fact(&mut self, fact: &'r Fact) {
        self.node(&fact.head);
        self.node(&fact.tail);
        let times = [fact.valid.from, fact.valid.to, fact.system.from, fact.system.to];
        self.facts.insert((fact.id, times), fact);
    }
}

/// The label and key of a node.
pub(super) fn name(node: &Node) -> NodeName<'_> {
    (&node.label, &node.key)
}
