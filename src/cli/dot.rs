//! The evidence in an answer as a Graphviz graph.
//!
//! The same evidence gives the same text, whatever the order of the rows.

use std::collections::BTreeMap;

use engraph::{Fact, Value};
use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use super::evidence::{Evidence, Link, NodeName, name};
use super::visible::visible;

/// The graph of all nodes, facts and paths in the rows, however deep they lie.
pub(super) fn graph(evidence: &Evidence<'_>) -> String {
    let graph = petgraph(evidence);
    let config = [Config::NodeNoLabel, Config::EdgeNoLabel];
    let node = |_: &Graph<'_>, (_, name): (NodeIndex, &NodeName<'_>)| node_attributes(name);
    let fact = |_: &Graph<'_>, edge: EdgeReference<'_, Drawn<'_>>| match edge.weight() {
        Drawn::Fact(fact) => fact_attributes(fact),
        Drawn::Link(link) => {
            format!("label = \"{}\" style = \"dotted\" color = \"gray\" ", quoted(link.by))
        }
    };
    // Nodes and facts print by their attributes alone; `Debug` is what a tuple has.
    format!("{:?}", Dot::with_attr_getters(&graph, &config, &fact, &node))
}

/// What joins two nodes.
#[derive(Debug)]
enum Drawn<'r> {
    Fact(&'r Fact),
    Link(Link<'r>),
}

type Graph<'r> = DiGraph<NodeName<'r>, Drawn<'r>>;

fn petgraph<'r>(evidence: &Evidence<'r>) -> Graph<'r> {
    let mut graph = DiGraph::new();
    let index: BTreeMap<_, _> =
        evidence.nodes.iter().map(|&name| (name, graph.add_node(name))).collect();
    for fact in evidence.facts.values() {
        // Both ends were added with the fact.
        if let (Some(&head), Some(&tail)) =
            (index.get(&name(&fact.head)), index.get(&name(&fact.tail)))
        {
            graph.add_edge(head, tail, Drawn::Fact(fact));
        }
    }
    for link in &evidence.links {
        if let (Some(&from), Some(&to)) = (index.get(&link.from), index.get(&link.to)) {
            graph.add_edge(from, to, Drawn::Link(*link));
        }
    }
    graph
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
