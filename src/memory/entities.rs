//! The entities that the graph has, and those that were told since, as extractors ask for them.
//!
//! Nothing is written here.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use engraph_storage::Reader;
use engraph_storage::graph::{LabelId, Side, SystemScope};

use super::extract::{Entity, ExtractedFact, KnownEntities};
use super::walk::edges;
use crate::error::Result;
use crate::graph_names::{PERSON, is_entity};

/// So many persons of one given name are looked at; with more of them it says nobody.
const NAMED_MAX: usize = 8;

/// The entities of a state: nodes of all labels but the layers; and those of facts that are not stored yet.
pub(super) struct Entities<'r> {
    reader: Reader<'r>,
    labels: Vec<(LabelId, String)>,
    told: HashMap<String, BTreeSet<Entity>>,
    /// The persons that each person was told to know, by name, since the graph was read.
    known_to: HashMap<String, BTreeSet<String>>,
}

impl<'r> Entities<'r> {
    pub(super) fn new(reader: Reader<'r>) -> Self {
        let labels = reader.catalog().labels();
        let labels = labels.filter(|(_, name)| is_entity(name));
        let labels = labels.map(|(label, name)| (label, name.to_owned())).collect();
        Self { reader, labels, told: HashMap::new(), known_to: HashMap::new() }
    }

    /// Takes what facts tell of, as if they were stored.
    pub(super) fn hear(&mut self, facts: &[ExtractedFact]) {
        for entity in facts.iter().flat_map(|fact| [&fact.head, &fact.tail]) {
            self.told.entry(entity.name.clone()).or_default().insert(entity.clone());
        }
        for fact in facts.iter().filter(|fact| fact.tail.label == PERSON) {
            let known = self.known_to.entry(fact.head.name.clone()).or_default();
            known.insert(fact.tail.name.clone());
        }
    }

    fn found(&self, name: &str) -> Result<Option<Entity>> {
        let mut found = None;
        for (label, label_name) in &self.labels {
            let Some(node) = self.reader.find_node(*label, name)? else { continue };
            let Some(record) = self.reader.node(node, SystemScope::Current)? else { continue };
            if found.is_some() {
                return Ok(None);
            }
            found = Some(Entity { label: label_name.clone(), name: record.key.clone() });
        }
        for told in self.told.get(name).into_iter().flatten() {
            if found.as_ref().is_some_and(|found| found != told) {
                return Ok(None);
            }
            found = Some(told.clone());
        }
        Ok(found)
    }

    /// The persons that a speaker has told of whose names begin with one and go on.
    fn with_given_name(&self, name: &str, speaker: &str) -> Result<BTreeSet<String>> {
        let is_whole =
            |whole: &str| whole.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        let told = self.known_to.get(speaker).into_iter().flatten();
        let mut found: BTreeSet<String> = told.filter(|whole| is_whole(whole)).cloned().collect();
        let Some(label) = self.reader.catalog().label(PERSON) else { return Ok(found) };
        let mut named = Vec::new();
        self.reader.nodes_of_label(label, Some(name), &mut |key, node| {
            if is_whole(key) {
                named.push((key.to_owned(), node));
            }
            match key.starts_with(name) && named.len() <= NAMED_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        for (whole, node) in named {
            // Of whom few tell, where who speaks may have said much.
            let told = edges(self.reader, node, Side::In, None)?;
            let speaker = self.reader.find_node(label, speaker)?;
            if told.iter().any(|edge| Some(edge.head) == speaker) {
                found.insert(whole);
            }
        }
        Ok(found)
    }
}

impl KnownEntities for Entities<'_> {
    fn find(&self, name: &str) -> Option<Entity> {
        // What cannot be read is not known; writing will say so.
        self.found(name).ok().flatten()
    }

    fn is_given_name(&self, name: &str, speakers: &[&str]) -> bool {
        let whole = speakers.iter().map(|speaker| self.with_given_name(name, speaker));
        let whole: Result<Vec<_>> = whole.collect();
        whole.is_ok_and(|whole| whole.into_iter().flatten().collect::<BTreeSet<_>>().len() == 1)
    }
}
