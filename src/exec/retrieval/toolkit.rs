//! The toolkit over a state of the database: each operation as index scans that cost what they give
//! back.
//!
//! ```text
//! cue ──relations of its edges──▶ tags              (cue, tag) ──edges of that relation──▶ contents
//! content ──edges that lead to it──▶ (cue, tag)     person ──edges that begin in a time──▶ turns
//! ```
//!
//! It writes nothing, and decides nothing: what is worth going on with is said by a policy. Whatever
//! an operation names that is not there is told in words, not as an error of the database.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::CONCEPT;
use engraph_storage::graph::{
    Edge, EdgeFilter, Interval, LabelId, NodeId, RelationId, Side, SystemScope, Time,
};

use crate::cell::{Cell, NodeRef};
use crate::context::Context;
use crate::error::Result;
use crate::exec::retrieval::anchor;
use crate::exec::retrieval::finding::vector;
use crate::exec::scope;
use crate::graph_names::{ABOUT, CO_OCCURS, CONTAINS, DERIVED_FROM, NEXT, SEMANTIC, TOPIC, TURN};
use crate::neural::dot;
use crate::reconstruct::{Answer, Finding, KEYS_MAX, Kind, Operation, Tools};

/// What a search gives back at most, by words and by meaning.
const EVENTS_MAX: usize = 60;
const CUES_MAX: usize = 10;
const STATEMENTS_MAX: usize = 30;
const TOPICS_MAX: usize = 3;
/// What other operations give back at most.
const CONTENTS_MAX: usize = 40;
const TIMELINE_MAX: usize = 64;
/// Turns of each person that are looked at for it, the first of the time.
const TIMED_MAX: usize = 1_024;
/// Turns on either side of one that belong to its context.
const RADIUS: usize = 2;
/// Persons whose timelines are read where none is named.
const PERSONS_MAX: usize = 2_000;

/// Of more statements about a person, the nearest are searched for among all.
const HELD_MAX: usize = 2_000;

/// Relations of a concept that lead to no content.
const NO_TAGS: [&str; 2] = [CO_OCCURS, "REFERS_TO"];

/// A memory as a question sees it.
pub(crate) struct Toolkit<'m> {
    context: &'m Context<'m>,
    question: &'m str,
    vector: Arc<[f32]>,
    filter: EdgeFilter,
    /// Which turns count; all if none.
    accept: Option<&'m dyn Fn(NodeId) -> Result<bool>>,
    /// The turns among which all are that count, if they are listed.
    listed: Option<Vec<NodeId>>,
    /// The statements that were drawn from those, once they are asked for.
    drawn: OnceCell<BTreeSet<NodeId>>,
    /// What was read of nodes already; none of those that are not there.
    known: RefCell<HashMap<NodeId, Option<Finding>>>,
    /// How well the words of turns and statements fit the question, as far as that was asked.
    words: RefCell<HashMap<u64, f64>>,
}

impl<'m> Toolkit<'m> {
    /// The question is embedded, unless it is known.
    pub(crate) fn new(
        context: &'m Context<'m>,
        question: &'m str,
        filter: EdgeFilter,
        accept: Option<&'m dyn Fn(NodeId) -> Result<bool>>,
    ) -> Result<Self> {
        let vector = vector(question, context)?;
        let (known, words) = (RefCell::default(), RefCell::default());
        let (listed, drawn) = (None, OnceCell::new());
        Ok(Self { context, question, vector, filter, accept, listed, drawn, known, words })
    }

    /// No turn counts that is not among these.
    pub(crate) fn among(mut self, listed: Option<Vec<NodeId>>) -> Self {
        self.listed = listed;
        self
    }

    fn search_cues(&self, text: &str) -> Result<Vec<Finding>> {
        let asked = self.embed(text)?;
        let mut found = Vec::new();
        if let Some(label) = self.label("Person") {
            let named =
                anchor::named(text, (&[label], self.filter.system, self.now()), self.context)?;
            for entity in named.entities.iter().filter(|entity| entity.score >= 0.5) {
                let person = self.finding(Kind::Person, entity.found.node)?;
                found.extend(person.map(|person| Finding { share: entity.score, ..person }));
            }
        }
        let mut accept = |node| self.leads_to_turns(node);
        for (_, node) in self.nearest(CONCEPT, &asked, CUES_MAX, &mut accept)? {
            found.extend(self.finding(Kind::Cue, node)?);
        }
        Ok(found)
    }

    fn search_events(&self, text: &str) -> Result<Vec<Finding>> {
        let Some(label) = self.label(TURN) else { return Ok(Vec::new()) };
        let asked = self.embed(text)?;
        let mut turns: Vec<NodeId> = Vec::new();
        if let Some(index) = self.context.reader.text_index(label)? {
            let mut accept = |node| self.accepts(node);
            let (system, top) = (self.filter.system, EVENTS_MAX);
            let hits = self.context.reader.search_text(index, text, system, top, &mut accept)?;
            turns.extend(hits.into_iter().map(|(_, node)| node));
        }
        let mut accept = |node| self.accepts(node);
        let near = match &self.listed {
            Some(listed) => self.nearest_of(label, listed, (&asked, EVENTS_MAX), &mut accept)?,
            None => self.nearest(TURN, &asked, EVENTS_MAX, &mut accept)?,
        };
        // What has nothing to do with it is not found, however little there is.
        turns.extend(near.into_iter().filter(|(score, _)| *score > 0.0).map(|(_, node)| node));
        let mut met = BTreeSet::new();
        turns.retain(|turn| met.insert(*turn));
        self.findings(Kind::Turn, turns)
    }

    fn search_statements(&self, text: &str) -> Result<Vec<Finding>> {
        let asked = self.embed(text)?;
        let Some(label) = self.label(SEMANTIC) else { return Ok(Vec::new()) };
        let mut accept = |node| self.comes_from_turns(node);
        let near = match self.drawn()? {
            Some(drawn) => self.nearest_of(label, drawn, (&asked, STATEMENTS_MAX), &mut accept)?,
            None => self.nearest(SEMANTIC, &asked, STATEMENTS_MAX, &mut accept)?,
        };
        let mut found = Vec::new();
        for (share, statement) in near {
            self.statement(statement, f64::from(share), None, &mut found)?;
        }
        Ok(found)
    }

    fn search_topics(&self, text: &str) -> Result<Vec<Finding>> {
        let asked = self.embed(text)?;
        let mut accept = |node| match self.accept {
            None => Ok(true),
            Some(_) => Ok(!self.turns_of_topic(node, 1)?.is_empty()),
        };
        let near = self.nearest(TOPIC, &asked, TOPICS_MAX, &mut accept)?;
        self.findings(Kind::Topic, near.into_iter().map(|(_, node)| node))
    }

    fn tags_of_cue(&self, cue: &str) -> Result<Answer> {
        let Some(id) = self.node(CONCEPT, cue)? else { return Ok(Err(no("concept", cue))) };
        let Some(cue) = self.finding(Kind::Cue, id)? else { return Ok(Ok(Vec::new())) };
        let tag = |relation| Finding {
            kind: Kind::Tag,
            tag: Some(self.context.reader.catalog().relation_name(relation).to_owned()),
            through: Some(cue.key.clone()),
            through_id: Some(cue.id),
            ..cue.clone()
        };
        Ok(Ok(self.tags(id)?.into_iter().map(tag).collect()))
    }

    /// The relations by which a concept leads to contents.
    fn tags(&self, cue: NodeId) -> Result<Vec<RelationId>> {
        let relations = self.context.reader.relations(cue, Side::Out, &self.filter)?;
        self.context.work(relations.len() + 1)?;
        let catalog = self.context.reader.catalog();
        let is_tag = |relation: &RelationId| !NO_TAGS.contains(&catalog.relation_name(*relation));
        Ok(relations.into_iter().filter(is_tag).collect())
    }

    fn events_of_tag(&self, cue: &str, tag: &str, semantics: bool) -> Result<Answer> {
        let Some(id) = self.node(CONCEPT, cue)? else { return Ok(Err(no("concept", cue))) };
        let relation = self.context.reader.catalog().relation(tag);
        let Some(relation) = relation.filter(|_| !NO_TAGS.contains(&tag)) else {
            return Ok(Err(no("tag", tag)));
        };
        let mut found = Vec::new();
        self.contents((id, cue), relation, semantics, &mut found)?;
        Ok(Ok(found))
    }

    fn events_of_cue(&self, cue: &str, semantics: bool) -> Result<Answer> {
        let Some(id) = self.node(CONCEPT, cue)? else { return Ok(Err(no("concept", cue))) };
        let mut found = Vec::new();
        for relation in self.tags(id)? {
            self.contents((id, cue), relation, semantics, &mut found)?;
        }
        Ok(Ok(found))
    }

    /// What a concept leads to by a tag: the more it is, the less firmly each is tied to it.
    fn contents(
        &self,
        (cue, key): (NodeId, &str),
        relation: RelationId,
        semantics: bool,
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        let edges = self.edges(cue, Side::Out, Some(relation))?;
        let tag = self.context.reader.catalog().relation_name(relation);
        let share = 1.0 / (edges.len().max(1) as f64).sqrt();
        let before = found.len();
        for edge in edges.into_iter().rev() {
            if found.len() - before >= CONTENTS_MAX {
                break;
            }
            match self.label_of(edge.tail)? {
                Some(TURN) if self.accepts(edge.tail)? => {
                    found.extend(self.finding(Kind::Turn, edge.tail)?.map(|turn| Finding {
                        share,
                        tag: Some(tag.to_owned()),
                        through: Some(key.to_owned()),
                        through_id: Some(cue.0),
                        ..turn
                    }));
                }
                Some(SEMANTIC) if semantics => {
                    self.statement(edge.tail, share, Some((cue, key, tag)), found)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A statement and the turns that it was drawn from. `by` is the cue and the tag that lead to
    /// it; else its turns are reached through the statement.
    fn statement(
        &self,
        statement: NodeId,
        share: f64,
        by: Option<(NodeId, &str, &str)>,
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        let turns = self.turns_of_statement(statement)?;
        let Some(said) = self.finding(Kind::Statement, statement)? else { return Ok(()) };
        let (NodeId(through_id), through, tag) = match by {
            Some((cue, key, tag)) => (cue, key.to_owned(), Some(tag.to_owned())),
            None => (statement, said.key.clone(), None),
        };
        if turns.is_empty() {
            return Ok(());
        }
        found.push(Finding { share, tag: tag.clone(), ..said });
        for turn in self.findings(Kind::Turn, turns)? {
            let (through, tag) = (Some(through.clone()), tag.clone());
            found.push(Finding { share, tag, through, through_id: Some(through_id), ..turn });
        }
        Ok(())
    }

    fn cues_of_events(&self, events: &[String]) -> Result<Answer> {
        let concept = self.label(CONCEPT);
        let events = match self.events(events)? {
            Ok(events) => events,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut found = Vec::new();
        for (event, key) in events {
            for edge in self.edges(event, Side::In, None)? {
                let record = self.context.node(self.seen(edge.head))?;
                if Some(record.label) != concept {
                    continue;
                }
                let tag = self.context.reader.catalog().relation_name(edge.relation);
                found.extend(self.finding(Kind::Tag, edge.head)?.map(|cue| Finding {
                    tag: Some(tag.to_owned()),
                    through: Some(key.clone()),
                    through_id: Some(event.0),
                    ..cue
                }));
            }
        }
        Ok(Ok(found))
    }

    fn context_of_events(&self, events: &[String]) -> Result<Answer> {
        let events = match self.events(events)? {
            Ok(events) => events,
            Err(refused) => return Ok(Err(refused)),
        };
        let Some(next) = self.context.reader.catalog().relation(NEXT) else {
            return Ok(Ok(Vec::new()));
        };
        let mut found = Vec::new();
        for (event, key) in events {
            for (side, near) in [(Side::Out, 1.0), (Side::In, 0.5)] {
                let mut at = event;
                for distance in 1..=RADIUS {
                    let edges = self.edges(at, side, Some(next))?;
                    let Some(edge) = edges.first() else { break };
                    at = if side == Side::Out { edge.tail } else { edge.head };
                    if !self.accepts(at)? {
                        break;
                    }
                    let share = near / (distance * distance) as f64;
                    let through = Some(key.clone());
                    found.extend(self.finding(Kind::Turn, at)?.map(|turn| Finding {
                        share,
                        through,
                        through_id: Some(event.0),
                        ..turn
                    }));
                }
            }
        }
        Ok(Ok(found))
    }

    fn events_by_time(&self, from: i64, to: i64, person: Option<&str>) -> Result<Answer> {
        let Some(during) = Interval::new(from, to) else {
            return Ok(Err("the time ends before it begins".to_owned()));
        };
        let persons = match person {
            None => self.persons()?,
            Some(key) => match self.node("Person", key)? {
                Some(person) => vec![person],
                None => return Ok(Err(no("person", key))),
            },
        };
        let Some(said) = self.context.reader.catalog().relation("SAID") else {
            return Ok(Ok(Vec::new()));
        };
        let mut turns: BTreeSet<(i64, NodeId)> = BTreeSet::new();
        for person in persons {
            let own = self.said_by((person, Side::Out, said), during)?;
            turns.extend(own.into_iter().map(|edge| (edge.valid.from, edge.tail)));
        }
        if let Some(label) = self.label(TURN).filter(|_| turns.len() > TIMELINE_MAX) {
            let all = turns.iter().map(|(_, turn)| turn);
            let asked = (&*self.vector, TIMELINE_MAX);
            let near = self.nearest_of(label, all, asked, &mut |_| Ok(true))?;
            let near: BTreeSet<NodeId> = near.into_iter().map(|(_, turn)| turn).collect();
            turns.retain(|(_, turn)| near.contains(turn));
        }
        Ok(Ok(self.findings(Kind::Turn, turns.into_iter().map(|(_, turn)| turn))?))
    }

    /// The first of what was said at a time and counts.
    fn said_by(&self, place: (NodeId, Side, RelationId), during: Interval) -> Result<Vec<Edge>> {
        let mut most = TIMED_MAX;
        loop {
            let mut own: Vec<Edge> = Vec::new();
            self.context.reader.edges_begun(place, during, &self.filter, &mut |edge| {
                own.push(edge);
                match own.len() < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            self.context.work(own.len() + 1)?;
            let is_all = own.len() < most;
            let mut counted = Vec::new();
            for edge in own {
                if counted.len() < TIMED_MAX && self.accepts(edge.tail)? {
                    counted.push(edge);
                }
            }
            if is_all || counted.len() == TIMED_MAX {
                return Ok(counted);
            }
            // Others lie before; what was read is read again, a share of what is read now.
            most *= 4;
        }
    }

    fn persons(&self) -> Result<Vec<NodeId>> {
        let Some(label) = self.label("Person") else { return Ok(Vec::new()) };
        let mut persons = Vec::new();
        self.context.reader.nodes_of_label(label, None, &mut |_, node| {
            persons.push(node);
            match persons.len() < PERSONS_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        Ok(persons)
    }

    fn personal_information(&self, person: &str, aspect: Option<&str>) -> Result<Answer> {
        let Some(id) = self.node("Person", person)? else {
            return Ok(Err(no("person", person)));
        };
        let asked = self.embed(aspect.unwrap_or(self.question))?;
        let label = self.label(SEMANTIC);
        let about = self.context.reader.catalog().relation(ABOUT);
        let (Some(label), Some(about)) = (label, about) else { return Ok(Ok(Vec::new())) };
        let mut told: Vec<NodeId> =
            self.edges(id, Side::In, Some(about))?.into_iter().map(|edge| edge.head).collect();
        if let Some(drawn) = self.drawn()? {
            told.retain(|statement| drawn.contains(statement));
        }
        let mut found = Vec::new();
        for (share, statement) in self.nearest_told(label, told, &asked)? {
            if found.len() >= STATEMENTS_MAX {
                break;
            }
            self.statement(statement, f64::from(share.max(0.0)), None, &mut found)?;
        }
        Ok(Ok(found))
    }

    /// The nearest of some statements that come from turns that count: of few each is read, those without an
    /// embedding come last; of many the nearest of all are searched for.
    fn nearest_told(
        &self,
        label: LabelId,
        told: Vec<NodeId>,
        asked: &[f32],
    ) -> Result<Vec<(f32, NodeId)>> {
        let mut accept = |node| Ok(!self.turns_of_statement(node)?.is_empty());
        if told.len() > HELD_MAX {
            let told: HashSet<NodeId> = told.into_iter().collect();
            let mut accept = |node| Ok(told.contains(&node) && accept(node)?);
            return self.nearest(SEMANTIC, asked, STATEMENTS_MAX, &mut accept);
        }
        let mut near = self.nearest_of(label, &told, (asked, STATEMENTS_MAX), &mut accept)?;
        if near.len() < STATEMENTS_MAX {
            let known: HashSet<NodeId> = near.iter().map(|(_, node)| *node).collect();
            near.extend(told.iter().filter(|node| !known.contains(node)).map(|node| (0.0, *node)));
        }
        Ok(near)
    }

    fn events_of_topic(&self, topic: &str) -> Result<Answer> {
        let Some(id) = self.node(TOPIC, topic)? else { return Ok(Err(no("topic", topic))) };
        let mut turns = self.findings(Kind::Turn, self.turns_of_topic(id, usize::MAX)?)?;
        // The best of them, if there are many.
        turns.sort_by(|a, b| b.meaning.total_cmp(&a.meaning).then(a.id.cmp(&b.id)));
        turns.truncate(CONTENTS_MAX);
        let through =
            |turn| Finding { through: Some(topic.to_owned()), through_id: Some(id.0), ..turn };
        Ok(Ok(turns.into_iter().map(through).collect()))
    }

    /// The statements that come from the turns that are listed, each once, if turns are.
    fn drawn(&self) -> Result<Option<&BTreeSet<NodeId>>> {
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
    fn comes_from_turns(&self, statement: NodeId) -> Result<bool> {
        Ok(self.accept.is_none() || !self.turns_of_statement(statement)?.is_empty())
    }

    /// The turns that a statement was drawn from and that count.
    fn turns_of_statement(&self, statement: NodeId) -> Result<Vec<NodeId>> {
        self.ends(statement, DERIVED_FROM, usize::MAX)
    }

    /// The turns of the episodes that are evidence of a topic, as many as are wanted.
    fn turns_of_topic(&self, topic: NodeId, most: usize) -> Result<Vec<NodeId>> {
        let mut turns = Vec::new();
        let Some(evidence) = self.context.reader.catalog().relation("EVIDENCE") else {
            return Ok(turns);
        };
        for edge in self.edges(topic, Side::Out, Some(evidence))? {
            if self.label_of(edge.tail)? == Some(TURN) {
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

    /// Whether a concept leads to a turn that counts; any does where all turns count.
    fn leads_to_turns(&self, cue: NodeId) -> Result<bool> {
        if self.accept.is_none() {
            return Ok(true);
        }
        for relation in self.tags(cue)? {
            for edge in self.edges(cue, Side::Out, Some(relation))? {
                if self.label_of(edge.tail)? == Some(TURN) && self.accepts(edge.tail)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The turns at the ends of the facts of a relation that count, as many as are wanted.
    fn ends(&self, node: NodeId, relation: &str, most: usize) -> Result<Vec<NodeId>> {
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

    fn edges(&self, node: NodeId, side: Side, relation: Option<RelationId>) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        self.context.reader.edges(node, side, relation, &self.filter, &mut |edge| {
            edges.push(edge);
            ControlFlow::Continue(())
        })?;
        self.context.work(edges.len() + 1)?;
        Ok(edges)
    }

    fn accepts(&self, turn: NodeId) -> Result<bool> {
        self.accept.map_or(Ok(true), |accept| accept(turn))
    }

    /// The turns and statements of these keys.
    fn events(
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
            match event {
                Some(event) => events.push((event, key.clone())),
                None => return Ok(Err(no("turn or statement", key))),
            }
        }
        Ok(Ok(events))
    }

    fn label(&self, name: &str) -> Option<LabelId> {
        self.context.reader.catalog().label(name)
    }

    fn node(&self, label: &str, key: &str) -> Result<Option<NodeId>> {
        let Some(node) = self.context.reader.find(label, key)? else { return Ok(None) };
        let is_there = self.context.reader.node(node, self.filter.system)?.is_some();
        Ok(is_there.then_some(node))
    }

    fn seen(&self, id: NodeId) -> NodeRef {
        // Of all that ever was believed, a node is seen as it is now.
        let system = match self.filter.system {
            SystemScope::All => SystemScope::Current,
            system => system,
        };
        NodeRef { id, system }
    }

    fn label_of(&self, node: NodeId) -> Result<Option<&str>> {
        let label = self.context.node(self.seen(node))?.label;
        Ok(Some(self.context.reader.catalog().label_name(label)))
    }

    fn nearest(
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
    fn nearest_of<'n>(
        &self,
        label: LabelId,
        nodes: impl IntoIterator<Item = &'n NodeId>,
        (asked, top): (&[f32], usize),
        accept: &mut dyn FnMut(NodeId) -> Result<bool>,
    ) -> Result<Vec<(f32, NodeId)>> {
        let nodes = nodes.into_iter().map(|node| (*node, label));
        self.context.nearest_of(nodes, self.filter.system, asked, top, accept)
    }

    fn embed(&self, text: &str) -> Result<Arc<[f32]>> {
        match text == self.question {
            true => Ok(Arc::clone(&self.vector)),
            false => vector(text, self.context),
        }
    }

    fn findings(
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
    fn finding(&self, kind: Kind, id: NodeId) -> Result<Option<Finding>> {
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
    fn with_words(&self, mut found: Vec<Finding>) -> Result<Vec<Finding>> {
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

impl Tools for Toolkit<'_> {
    fn now(&self) -> Time {
        scope::asked_at(&self.filter, self.context)
    }

    fn run(&self, operation: &Operation, semantics: bool) -> Result<Answer> {
        let found = match operation {
            Operation::SearchCues { text } => Ok(self.search_cues(text)?),
            Operation::SearchEvents { text } => Ok(self.search_events(text)?),
            Operation::SearchStatements { text } => Ok(self.search_statements(text)?),
            Operation::SearchTopics { text } => Ok(self.search_topics(text)?),
            Operation::TagsOfCue { cue } => self.tags_of_cue(cue)?,
            Operation::EventsOfTag { cue, tag } => self.events_of_tag(cue, tag, semantics)?,
            Operation::EventsOfCue { cue } => self.events_of_cue(cue, semantics)?,
            Operation::CuesOfEvents { events } => self.cues_of_events(events)?,
            Operation::ContextOfEvents { events } => self.context_of_events(events)?,
            Operation::EventsByTime { from, to, person } => {
                let (from, to) = (from.unwrap_or(Interval::MIN), to.unwrap_or(Interval::MAX));
                self.events_by_time(from, to, person.as_deref())?
            }
            Operation::PersonalInformation { person, aspect } => {
                self.personal_information(person, aspect.as_deref())?
            }
            Operation::EventsOfTopic { topic } => self.events_of_topic(topic)?,
        };
        Ok(match found {
            Ok(found) => {
                let nodes: BTreeSet<NodeId> = found.iter().map(|one| NodeId(one.id)).collect();
                self.context.visited(&nodes);
                Ok(self.with_words(found)?)
            }
            refused => refused,
        })
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() == b.len() { f64::from(dot(a, b)) } else { 0.0 }
}

fn no(what: &str, name: &str) -> String {
    let name: String = name.chars().take(80).collect();
    format!("there is no {what} '{name}'")
}
