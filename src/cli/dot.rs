//! The evidence in an answer as a Graphviz graph.
//!
//! Nodes are sorted by label and key, facts by id and version, so that the same evidence gives the
//! same text whatever the order of the rows. It reads nothing that is not in the answer.

use std::collections::{BTreeMap, BTreeSet};

use engraph::{Fact, Node, Rows, Value};
use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use super::output::visible;

/// The graph of all nodes, facts and paths in the rows, however deep they lie.
pub(super) fn graph(rows: &Rows) -> String {
    let mut evidence = Evidence::default();
    for value in rows.rows.iter().flatten() {
        evidence.value(value);
    }
    let graph = evidence.graph();
    let config = [Config::NodeNoLabel, Config::EdgeNoLabel];
    let node = |_: &Graph<'_>, (_, name): (NodeIndex, &NodeName<'_>)| node_attributes(name);
    let fact = |_: &Graph<'_>, edge: EdgeReference<'_, &Fact>| fact_attributes(edge.weight());
    // Nodes and facts print by their attributes alone; `Debug` is what a tuple has.
    format!("{:?}", Dot::with_attr_getters(&graph, &config, &fact, &node))
}

type Graph<'r> = DiGraph<NodeName<'r>, &'r Fact>;

/// A label and a key: what makes a node the same node.
type NodeName<'r> = (&'r str, &'r str);

/// The id of a fact, with its valid and system time: what makes a version the same version.
type Version = (u64, [i64; 4]);

/// What has been found in the rows, each once.
#[derive(Default)]
struct Evidence<'r> {
    nodes: BTreeSet<NodeName<'r>>,
    facts: BTreeMap<Version, &'r Fact>,
}

impl<'r> Evidence<'r> {
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

    fn graph(&self) -> Graph<'r> {
        let mut graph = DiGraph::new();
        let index: BTreeMap<_, _> =
            self.nodes.iter().map(|&name| (name, graph.add_node(name))).collect();
        for fact in self.facts.values() {
            // Both ends were added with the fact.
            if let (Some(&head), Some(&tail)) =
                (index.get(&name(&fact.head)), index.get(&name(&fact.tail)))
            {
                graph.add_edge(head, tail, *fact);
            }
        }
        graph
    }
}

fn name(node: &Node) -> NodeName<'_> {
    (&node.label, &node.key)
}

fn node_attributes((label, key): &NodeName<'_>) -> String {
    format!("label = \"{}\\n({})\" ", quoted(key), quoted(label))
}

fn fact_attributes(fact: &Fact) -> String {
    let label = format!(
        "{} [{}, {}) {}",
        fact.relation,
        Value::Timestamp(fact.valid.from),
        Value::Timestamp(fact.valid.to),
        Value::Float(fact.confidence)
    );
    let style = if fact.uncertain { "style = \"dashed\" " } else { "" };
    format!("label = \"{}\" {style}", quoted(&label))
}

/// The text as it stands between Graphviz's quotes, where a backslash would begin an escape.
fn quoted(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"")
}
