//! The entities that the graph has, and those that were told since, as extractors ask for them.
//!
//! Nothing is written here.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use engraph_storage::graph::{LabelId, Side, SystemScope};
use engraph_storage::{Reader, Store};

use super::extract::{Entity, ExtractedFact, KnownEntities};
use super::walk::edges;
use crate::error::Result;
use crate::graph_names::{PERSON, is_entity};
use crate::time;

/// So many persons of one given name are looked at; with more of them it says nobody.
const NAMED_MAX: usize = 8;

/// Where entities are looked up.
#[derive(Clone, Copy)]
enum Graph<'r> {
    /// In this state.
    State(Reader<'r>),
    /// In the state of each moment: nothing that is forgotten waits for an extractor that takes long.
    Newest(&'r Store),
}

impl Graph<'_> {
    fn read<T>(self, read: impl FnOnce(Reader<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::State(reader) => read(reader),
            Self::Newest(store) => read(store.snapshot(time::wall()).reader()),
        }
    }
}

/// The entities of a graph: nodes of all labels but the layers; and those of facts that are not stored yet.
pub(super) struct Entities<'r> {
    graph: Graph<'r>,
    labels: Vec<(LabelId, String)>,
    told: HashMap<String, BTreeSet<Entity>>,
    /// The persons that each person was told to know, by name, since the graph was read.
    known_to: HashMap<String, BTreeSet<String>>,
    /// What was found by name since something was told.
    asked: RefCell<HashMap<String, Option<Entity>>>,
}

impl<'r> Entities<'r> {
    /// Those of a state.
    pub(super) fn new(reader: Reader<'r>) -> Self {
        Self::with(Graph::State(reader), labels(reader))
    }

    /// Those that are there when they are asked for, of the labels that there are now.
    pub(super) fn newest(store: &'r Store) -> Self {
        Self::with(Graph::Newest(store), labels(store.snapshot(time::wall()).reader()))
    }

    fn with(graph: Graph<'r>, labels: Vec<(LabelId, String)>) -> Self {
        let (told, known_to, asked) = Default::default();
        Self { graph, labels, told, known_to, asked }
    }

    /// Takes what facts tell of, as if they were stored.
    pub(super) fn hear(&mut self, facts: &[ExtractedFact]) {
        self.asked.get_mut().clear();
        for entity in facts.iter().flat_map(|fact| [&fact.head, &fact.tail]) {
            self.told.entry(entity.name.clone()).or_default().insert(entity.clone());
        }
        for fact in facts.iter().filter(|fact| fact.tail.label == PERSON) {
            let known = self.known_to.entry(fact.head.name.clone()).or_default();
            known.insert(fact.tail.name.clone());
        }
    }

    fn found(&self, reader: Reader<'_>, name: &str) -> Result<Option<Entity>> {
        let mut found = None;
        for (label, label_name) in &self.labels {
            let Some(node) = reader.find_node(*label, name)? else { continue };
            let Some(record) = reader.node(node, SystemScope::Current)? else { continue };
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
    fn with_given_name(
        &self,
        reader: Reader<'_>,
        name: &str,
        speaker: &str,
    ) -> Result<BTreeSet<String>> {
        let is_whole =
            |whole: &str| whole.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        let told = self.known_to.get(speaker).into_iter().flatten();
        let mut found: BTreeSet<String> = told.filter(|whole| is_whole(whole)).cloned().collect();
        let Some(label) = reader.catalog().label(PERSON) else { return Ok(found) };
        let mut named = Vec::new();
        reader.nodes_of_label(label, Some(name), &mut |key, node| {
            if is_whole(key) {
                named.push((key.to_owned(), node));
            }
            match key.starts_with(name) && named.len() <= NAMED_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        if named.len() > NAMED_MAX {
            return Ok(BTreeSet::new());
        }
        let speaker = reader.find_node(label, speaker)?;
        for (whole, node) in named {
            // Of whom few tell, where who speaks may have said much.
            let told = edges(reader, node, Side::In, None)?;
            if told.iter().any(|edge| Some(edge.head) == speaker) {
                found.insert(whole);
            }
        }
        Ok(found)
    }
}

/// The labels of entities.
fn labels(reader: Reader<'_>) -> Vec<(LabelId, String)> {
    let labels = reader.catalog().labels().filter(|(_, name)| is_entity(name));
    labels.map(|(label, name)| (label, name.to_owned())).collect()
}

impl KnownEntities for Entities<'_> {
    fn find(&self, name: &str) -> Option<Entity> {
        if let Some(found) = self.asked.borrow().get(name) {
            return found.clone();
        }
        // What cannot be read is not known; writing will say so.
        let found = self.graph.read(|reader| self.found(reader, name)).ok().flatten();
        self.asked.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn is_given_name(&self, name: &str, speakers: &[&str]) -> bool {
        let whole = self.graph.read(|reader| {
            let whole = speakers.iter().map(|speaker| self.with_given_name(reader, name, speaker));
            whole.collect::<Result<Vec<_>>>()
        });
        whole.is_ok_and(|whole| whole.into_iter().flatten().collect::<BTreeSet<_>>().len() == 1)
    }
}
