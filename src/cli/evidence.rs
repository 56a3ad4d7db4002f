//! The evidence in an answer: its nodes and facts, each once. Of a trace also what led to a node, and which
//! turn a fact is of.
//!
//! Nodes are sorted by label and key, facts by id and version, whatever the order of the rows. It
//! reads nothing that is not in the answer.

use std::collections::{BTreeMap, BTreeSet};

use engraph::{Fact, Node, Rows, Value};

/// The columns that a trace begins with.
const TRACED: [&str; 7] =
    ["row", "operator", "evidence", "found", "fact", "sources", "system_time"];

/// A label and a key: what makes a node the same node.
pub(super) type NodeName<'r> = (&'r str, &'r str);

/// The id of a fact, with its valid and system time: what makes a version the same version.
pub(super) type Version = (u64, [i64; 4]);

/// That one node led to another one, which is no fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link<'r> {
    pub(super) from: NodeName<'r>,
    pub(super) to: NodeName<'r>,
    /// By what: a family of signals, an operation, or as a source.
    pub(super) by: &'r str,
}

/// What has been found in the rows.
#[derive(Default)]
pub(super) struct Evidence<'r> {
    pub(super) nodes: BTreeSet<NodeName<'r>>,
    pub(super) facts: BTreeMap<Version, &'r Fact>,
    pub(super) links: BTreeSet<Link<'r>>,
}

impl<'r> Evidence<'r> {
    /// All nodes, facts and paths in the rows, however deep they lie.
    pub(super) fn of(rows: &'r Rows) -> Self {
        let mut evidence = Self::default();
        rows.rows.iter().flatten().for_each(|value| evidence.value(value));
        if rows.columns.iter().zip(TRACED).all(|(own, known)| own == known)
            && rows.columns.len() >= TRACED.len()
        {
            rows.rows.iter().for_each(|row| evidence.led(&row[2], &row[3]));
            evidence.sources();
        }
        evidence
    }

    /// What led to a node of a trace.
    fn led(&mut self, about: &'r Value, found: &'r Value) {
        let (Value::Node(node), Value::Map(found)) = (about, found) else { return };
        let Some(Value::Map(through)) = found.get("through") else { return };
        for (by, from) in through {
            if let Value::Node(from) = from {
                self.links.insert(Link { from: name(from), to: name(node), by });
            }
        }
    }

    /// The turns of a trace that facts of it are of.
    fn sources(&mut self) {
        let turns: BTreeMap<&str, NodeName<'r>> = self
            .nodes
            .iter()
            .filter(|(label, _)| *label == "Turn")
            .map(|name| (name.1, *name))
            .collect();
        for fact in self.facts.values() {
            let (head, tail) = (name(&fact.head), name(&fact.tail));
            let turns = fact.sources.iter().filter_map(|source| turns.get(source.as_str()));
            let links = turns.filter(|turn| ![head, tail].contains(turn)).map(|turn| Link {
                from: tail,
                to: *turn,
                by: "source",
            });
            self.links.extend(links);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{dot, svg};
    use engraph::{FixedEmbedder, Options};

    /// A trace in which a statement and a concept led to a turn, and one of a fact that the turn is the source
    /// of.
    fn traces() -> [Rows; 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::new().embedder(std::sync::Arc::new(FixedEmbedder));
        let db = options.open(folder.path()).expect("opens");
        let heard = "OBSERVE SESSION 's' TURN {id: 'u1', speaker: 'Nora', at: TIMESTAMP '2025-03-01 18:40',
                     text: 'I sold my cello.'};
                     OBSERVE SESSION 's' TURN {id: 'u2', speaker: 'Otto', at: TIMESTAMP '2025-03-01 18:41',
                     text: 'Who bought it?'}; CONSOLIDATE;
                     REMEMBER (:Person 'Nora')-[owned]->(:Thing 'cello') SOURCE 'u1'";
        db.execute(heard, ()).expect("writes");
        let ask = |text: &str| db.query(text, ()).expect(text);
        [
            ask("TRACE RECALL 'Who sold a cello?' FILTER t.key = 'u1' RETURN t"),
            ask("TRACE MATCH (:Person 'Nora')-[f:owned]->(x), (t:Turn 'u1') RETURN f, t"),
        ]
    }

    #[test]
    fn a_trace_shows_what_led_to_each_turn() {
        let [recalled, matched] = traces();
        let turn = ("Turn", "u1");
        let by = |from, by| Link { from, to: turn, by };
        let led: Vec<Link<'_>> = Evidence::of(&recalled).links.into_iter().collect();
        let wanted = [by(("Concept", "cello"), "concepts"), by(("Semantic", "u1/1"), "statements")];
        assert_eq!(led, wanted);
        let sources: Vec<Link<'_>> = Evidence::of(&matched).links.into_iter().collect();
        assert_eq!(sources, [by(("Thing", "cello"), "source")]);
        let text = dot::graph(&Evidence::of(&recalled));
        assert_eq!(text.matches("dotted").count(), 2, "{text}");
        assert_eq!(
            svg::graph(&Evidence::of(&recalled)).matches("stroke-dasharray=\"2 4\"").count(),
            2
        );
        assert!(svg::graph(&Evidence::of(&matched)).contains(">source</text>"));
    }
}
