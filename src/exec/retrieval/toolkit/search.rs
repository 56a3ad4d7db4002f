//! What is found by its words and its meaning: concepts and persons, turns, statements, topics.

use std::collections::BTreeSet;

use engraph_storage::CONCEPT;
use engraph_storage::graph::NodeId;

use super::{STATEMENTS_MAX, Toolkit};
use crate::error::Result;
use crate::exec::retrieval::anchor;
use crate::graph_names::{SEMANTIC, TOPIC, TURN};
use crate::reconstruct::{Finding, Kind, Tools};

/// What a search gives back at most, by words and by meaning.
const EVENTS_MAX: usize = 60;
const CUES_MAX: usize = 10;
const TOPICS_MAX: usize = 3;

impl Toolkit<'_> {
    pub(super) fn search_cues(&self, text: &str) -> Result<Vec<Finding>> {
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

    pub(super) fn search_events(&self, text: &str) -> Result<Vec<Finding>> {
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

    pub(super) fn search_statements(&self, text: &str) -> Result<Vec<Finding>> {
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

    pub(super) fn search_topics(&self, text: &str) -> Result<Vec<Finding>> {
        let asked = self.embed(text)?;
        let mut accept = |node| match self.accept {
            None => Ok(true),
            Some(_) => Ok(!self.turns_of_topic(node, 1)?.is_empty()),
        };
        let near = self.nearest(TOPIC, &asked, TOPICS_MAX, &mut accept)?;
        self.findings(Kind::Topic, near.into_iter().map(|(_, node)| node))
    }
}
