//! What the operations read: nodes as findings, the turns that things come from, and which of them
//! count.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{Edge, LabelId, NodeId, RelationId, Side};

use super::{Toolkit, no};
use crate::cell::{Cell, NodeRef};
use crate::error::Result;
use crate::exec::retrieval::finding::vector;
use crate::graph_names::{CONTAINS, DERIVED_FROM, SEMANTIC, TURN};
use crate::neural::dot;
use crate::reconstruct::{Finding, KEYS_MAX, Kind};

impl Toolkit<'_> {
    /// The statements that come from the turns that are listed, each once, if turns are.
    pub(super) fn drawn(&self) -> Result<Option<&BTreeSet<NodeId>>> {
        let Some(listed) = &self.listed else { return Ok(None) };
        if self.drawn.get().is_none() {
            let mut drawn = BTreeSet::new();
            if let Some(from) = self.context.reader.catalog().relation(DERIVED_FROM) {
                for turn in listed {
                    let edges = self.edges(*turn, Side::In, Some(from))?;
                    drawn.extend(edges.into_iter().map(|edge| edge.head));
                }
            }
            let _ = self.drawn.set(drawn);
        }
        Ok(self.drawn.get())
    }

    /// Whether a statement was drawn from a turn that counts; where all do, from whatever it was.
    pub(super) fn comes_from_turns(&self, statement: NodeId) -> Result<bool> {
        Ok(self.accept.is_none() || !self.turns_of_statement(statement)?.is_empty())
    }

    /// The turns that a statement was drawn from and that count.
    pub(super) fn turns_of_statement(&self, statement: NodeId) -> Result<Vec<NodeId>> {
        self.ends(statement, DERIVED_FROM, usize::MAX)
    }

    /// The turns of the episodes that are evidence of a topic, as many as are wanted.
    pub(super) fn turns_of_topic(&self, topic: NodeId, most: usize) -> Result<Vec<NodeId>> {
        let mut turns = Vec::new();
        let Some(evidence) = self.context.reader.catalog().relation("EVIDENCE") else {
            return Ok(turns);
        };
        for edge in self.edges(topic, Side::Out, Some(evidence))? {
            if self.label_of(edge.tail)? == TURN {
                turns.extend(self.accepts(edge.tail)?.then_some(edge.tail));
            } else {
                turns.extend(self.ends(edge.tail, CONTAINS, most)?);
            }
            if turns.len() >= most {
                break;
            }
        }
        Ok(turns)
    }

    /// Whether a concept leads to a turn that counts or to a statement of one; any does where all turns count.
    pub(super) fn leads_to_turns(&self, cue: NodeId) -> Result<bool> {
        if self.accept.is_none() {
            return Ok(true);
        }
        for relation in self.tags(cue)? {
            for edge in self.edges(cue, Side::Out, Some(relation))? {
                let counts = match self.label_of(edge.tail)? {
                    TURN => self.accepts(edge.tail)?,
                    SEMANTIC => self.comes_from_turns(edge.tail)?,
                    _ => false,
                };
                if counts {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The turns at the ends of the facts of a relation that count, as many as are wanted.
    pub(super) fn ends(&self, node: NodeId, relation: &str, most: usize) -> Result<Vec<NodeId>> {
        let mut turns = Vec::new();
        let Some(relation) = self.context.reader.catalog().relation(relation) else {
            return Ok(turns);
        };
        for edge in self.edges(node, Side::Out, Some(relation))? {
            if turns.len() >= most {
                break;
            }
            turns.extend(self.accepts(edge.tail)?.then_some(edge.tail));
        }
        Ok(turns)
    }

    pub(super) fn edges(
        &self,
        node: NodeId,
        side: Side,
        relation: Option<RelationId>,
    ) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        self.context.reader.edges(node, side, relation, &self.filter, &mut |edge| {
            edges.push(edge);
            ControlFlow::Continue(())
        })?;
        self.context.work(edges.len() + 1)?;
        Ok(edges)
    }

    pub(super) fn accepts(&self, turn: NodeId) -> Result<bool> {
        self.accept.map_or(Ok(true), |accept| accept(turn))
    }

    /// The turns and statements of these keys.
    pub(super) fn events(
        &self,
        keys: &[String],
    ) -> Result<std::result::Result<Vec<(NodeId, String)>, String>> {
        if keys.len() > KEYS_MAX {
            return Ok(Err(format!("{} events are named, and {KEYS_MAX} may be", keys.len())));
        }
        let mut events = Vec::new();
        for key in keys {
            let turn = self.node(TURN, key)?;
            let event = if turn.is_some() { turn } else { self.node(SEMANTIC, key)? };
            // What does not count is not there.
            match event {
                Some(event) if turn.is_some() && self.accepts(event)? => {}
                Some(event) if turn.is_none() && self.comes_from_turns(event)? => {}
                _ => return Ok(Err(no("turn or statement", key))),
            }
            events.extend(event.map(|event| (event, key.clone())));
        }
        Ok(Ok(events))
    }

    pub(super) fn label(&self, name: &str) -> Option<LabelId> {
        self.context.reader.catalog().label(name)
    }

    pub(super) fn node(&self, label: &str, key: &str) -> Result<Option<NodeId>> {
        match self.label(label) {
            Some(label) => Ok(self.context.reader.find_in(label, key, self.filter.system)?),
            None => Ok(None),
        }
    }

    pub(super) fn seen(&self, id: NodeId) -> NodeRef {
        NodeRef { id, system: self.filter.system }
    }

    pub(super) fn label_of(&self, node: NodeId) -> Result<&str> {
        let label = self.context.node(self.seen(node))?.label;
        Ok(self.context.reader.catalog().label_name(label))
    }

    pub(super) fn nearest(
        &self,
        label: &str,
        asked: &[f32],
        top: usize,
        accept: &mut dyn FnMut(NodeId) -> Result<bool>,
    ) -> Result<Vec<(f32, NodeId)>> {
        let Some(label) = self.label(label) else { return Ok(Vec::new()) };
        self.context.nearest(Some(&[label]), self.filter.system, asked, top, accept)
    }

    /// The same of these nodes of a label only.
    pub(super) fn nearest_of<'n>(
        &self,
        label: LabelId,
        nodes: impl IntoIterator<Item = &'n NodeId>,
        (asked, top): (&[f32], usize),
        accept: &mut dyn FnMut(NodeId) -> Result<bool>,
    ) -> Result<Vec<(f32, NodeId)>> {
        let nodes = nodes.into_iter().map(|node| (*node, label));
        self.context.nearest_of(nodes, self.filter.system, asked, top, accept)
    }

    pub(super) fn embed(&self, text: &str) -> Result<Arc<[f32]>> {
        match text == self.question {
            true => Ok(Arc::clone(&self.vector)),
            false => vector(text, self.context),
        }
    }

    pub(super) fn findings(
        &self,
        kind: Kind,
        nodes: impl IntoIterator<Item = NodeId>,
    ) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        for node in nodes {
            found.extend(self.finding(kind, node)?);
        }
        Ok(found)
    }

    /// A node with what is known of it; none if it was not there then.
    pub(super) fn finding(&self, kind: Kind, id: NodeId) -> Result<Option<Finding>> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(known.clone().map(|found| Finding { kind, ..found }));
        }
        let found = self.read(kind, id)?;
        self.known.borrow_mut().insert(id, found.clone());
        Ok(found)
    }

    fn read(&self, kind: Kind, id: NodeId) -> Result<Option<Finding>> {
        let node = self.seen(id);
        if self.context.reader.node(id, node.system)?.is_none() {
            return Ok(None);
        }
        let record = self.context.node(node)?;
        let vector = self.context.reader.vector(record.label, id, node.system)?;
        let text = self.context.passage(node)?;
        let at = match self.context.node_property(node, "at")? {
            Cell::Timestamp(at) => Some(at),
            _ => None,
        };
        let speaker = match self.context.node_property(node, "speaker")? {
            Cell::String(speaker) => Some(speaker.to_string()),
            _ => None,
        };
        Ok(Some(Finding {
            kind,
            id: id.0,
            key: record.key.clone(),
            text: text.map_or_else(|| record.key.clone(), |text| text.to_string()),
            at,
            speaker,
            tag: None,
            through: None,
            through_id: None,
            share: 1.0,
            meaning: vector.map_or(0.0, |vector| cosine(&self.vector, &vector)),
            words: 0.0,
        }))
    }

    /// The turns and statements with how well their words fit the question, where they are indexed.
    pub(super) fn with_words(&self, mut found: Vec<Finding>) -> Result<Vec<Finding>> {
        for (kind, label) in [(Kind::Turn, TURN), (Kind::Statement, SEMANTIC)] {
            let Some(label) = self.label(label) else { continue };
            let Some(index) = self.context.reader.text_index(label)? else { continue };
            let mut words = self.words.borrow_mut();
            let of_kind =
                found.iter().filter(|one| one.kind == kind && !words.contains_key(&one.id));
            let nodes: BTreeSet<NodeId> = of_kind.map(|one| NodeId(one.id)).collect();
            let nodes: Vec<NodeId> = nodes.into_iter().collect();
            let (reader, system) = (self.context.reader, self.filter.system);
            if !nodes.is_empty() {
                let scores = reader.score_text(index, self.question, system, &nodes)?;
                words.extend(nodes.iter().map(|node| node.0).zip(scores));
            }
            for one in found.iter_mut().filter(|one| one.kind == kind) {
                one.words = words.get(&one.id).copied().unwrap_or_default();
            }
        }
        Ok(found)
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() == b.len() { f64::from(dot(a, b)) } else { 0.0 }
}
