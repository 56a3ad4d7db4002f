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

mod reads;
mod search;
mod timeline;
mod told;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use engraph_storage::CONCEPT;
use engraph_storage::graph::{EdgeFilter, Interval, NodeId, RelationId, Side, Time};

use crate::context::Context;
use crate::error::Result;
use crate::exec::retrieval::finding::vector;
use crate::exec::scope;
use crate::graph_names::{CO_OCCURS, NEXT, SEMANTIC, TOPIC, TURN};
use crate::reconstruct::{Answer, Finding, Kind, Operation, Tools};

/// Statements that are given back at most.
const STATEMENTS_MAX: usize = 30;
/// What a concept, a tag or a topic leads to at most.
const CONTENTS_MAX: usize = 40;
/// Turns on either side of one that belong to its context.
const RADIUS: usize = 2;

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

    fn tags_of_cue(&self, cue: &str) -> Result<Answer> {
        let Some(id) = self.cue(cue)? else { return Ok(Err(no("concept", cue))) };
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

    /// A concept that leads to what counts.
    fn cue(&self, key: &str) -> Result<Option<NodeId>> {
        let Some(id) = self.node(CONCEPT, key)? else { return Ok(None) };
        Ok(self.leads_to_turns(id)?.then_some(id))
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
        let Some(id) = self.cue(cue)? else { return Ok(Err(no("concept", cue))) };
        let relation = self.context.reader.catalog().relation(tag);
        let Some(relation) = relation.filter(|_| !NO_TAGS.contains(&tag)) else {
            return Ok(Err(no("tag", tag)));
        };
        let mut found = Vec::new();
        self.contents((id, cue), relation, semantics, &mut found)?;
        Ok(Ok(found))
    }

    fn events_of_cue(&self, cue: &str, semantics: bool) -> Result<Answer> {
        let Some(id) = self.cue(cue)? else { return Ok(Err(no("concept", cue))) };
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
                TURN if self.accepts(edge.tail)? => {
                    found.extend(self.finding(Kind::Turn, edge.tail)?.map(|turn| Finding {
                        share,
                        tag: Some(tag.to_owned()),
                        through: Some(key.to_owned()),
                        through_id: Some(cue.0),
                        ..turn
                    }));
                }
                SEMANTIC if semantics => {
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
                    at = edge.far(side);
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
}

impl Tools for Toolkit<'_> {
    fn now(&self) -> Time {
        scope::asked_at(&self.filter, self.context)
    }

    fn in_time(&self) -> Result<()> {
        self.context.in_time()
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

fn no(what: &str, name: &str) -> String {
    let name: String = name.chars().take(80).collect();
    format!("there is no {what} '{name}'")
}
