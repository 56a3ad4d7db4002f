//! An episode as a list of inputs: its turns, what was drawn from them, and how all of it hangs
//! together. Nothing here reads or writes the database.
//!
//! ```text
//! (:Session)-[HAS_EPISODE]->(:Episode)-[CONTAINS]->(:Turn)<-[tag]-(:Concept)-[CO_OCCURS]-(:Concept)
//! (:Episode)-[YIELDS]->(:Semantic)-[DERIVED_FROM]->(:Turn), (:Concept)-[tag]->(:Semantic)
//! (head)-[relation]->(tail), with the keys of its turns as sources
//! ```
//!
//! Whatever a turn is the source of names the turn, so that `FORGET` finds it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::CONCEPT;
use engraph_storage::graph::{Intent, Interval, Value};

use super::concepts::Known;
use super::extract::{Entity, ExtractedFact, ExtractedSemantic, Extraction};
use super::past::Ending;
use super::resolve::{Merge, REFERS_TO, Resolution};
use super::split::{HEAD_AS, TAIL_AS};
use super::validate::{Said, UNCERTAIN, is_borne_out};
use crate::graph_names::{
    ABOUT, CO_OCCURS, CONTAINS, DERIVED_FROM, EPISODE, HAS_EPISODE, MENTION, PERSON, ROLE,
    SEMANTIC, SESSION, TURN, YIELDS, is_assistant, is_role_of_machine,
};
use crate::retrieval::words::has_name;
use crate::write::{FactInput, Input, NodeInput, TurnInput};

/// How a concept stands to a text if nothing more is known.
const MENTIONS: &str = "mentions";

/// What becomes an episode.
pub(crate) struct Episode<'e> {
    pub(crate) key: &'e str,
    pub(crate) session: &'e str,
    /// In order of time; each has its key.
    pub(crate) turns: &'e [TurnInput],
    pub(crate) extraction: &'e Extraction,
    /// What the graph knows of the concepts.
    pub(crate) concepts: &'e Known,
    /// The entities that the graph has under other names.
    pub(crate) entities: &'e Resolution,
    /// Who drew it.
    pub(crate) extractor: &'e str,
}

impl Episode<'_> {
    /// Its turns, concepts and statements, and how they hang together, in the order in which they are to be
    /// stored.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let mut inputs: Vec<Input> = self.turns.iter().cloned().map(Input::Turn).collect();
        self.frame(&mut inputs);
        self.concepts(&mut inputs);
        for (key, semantic) in self.semantic_keys().iter().zip(&self.extraction.semantics) {
            self.semantic(key, semantic, &mut inputs);
        }
        inputs
    }

    /// The facts that it tells, each after what its names refer to.
    pub(crate) fn facts(&self) -> Vec<Input> {
        let mut inputs = Vec::new();
        let said: Vec<OnceCell<Said>> = self.turns.iter().map(|_| OnceCell::new()).collect();
        for fact in &self.extraction.facts {
            self.fact(fact, &said, &mut inputs);
        }
        inputs
    }

    /// What it says to be over.
    pub(crate) fn endings(&self) -> Vec<Ending> {
        let endings = self.extraction.endings.iter();
        // What a machine says of somebody ends nothing.
        let endings = endings.filter(|ending| !self.is_by_assistant(&ending.turns));
        let endings = endings.map(|ending| Ending {
            head: self.entities.of(&ending.head).0.clone(),
            relation: ending.relation.clone(),
            tail: ending.tail.clone(),
            at: ending.at,
            confidence: ending.confidence,
            sources: self.sources(&ending.turns),
        });
        endings.collect()
    }

    /// The keys of the statements, in order: each is named by the first turn that says it, so that
    /// it keeps its name if another turn is forgotten.
    pub(crate) fn semantic_keys(&self) -> Vec<String> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let key = |semantic: &ExtractedSemantic| {
            let first = semantic.turns.iter().copied().find(|place| *place < self.turns.len());
            let count = counts.entry(first.unwrap_or_default()).or_default();
            *count += 1;
            let turn = first.map_or(self.key, |place| self.turns[place].key.as_str());
            format!("{turn}/{count}")
        };
        self.extraction.semantics.iter().map(key).collect()
    }

    /// Whether nobody but a machine that answers says it: it repeats, supposes and makes up.
    fn is_by_assistant(&self, places: &[usize]) -> bool {
        let by_assistant = |turn: &TurnInput| {
            let role = turn.properties.get(ROLE);
            is_assistant(&turn.speaker)
                || matches!(role, Some(Value::String(role)) if is_role_of_machine(role))
        };
        let mut turns = places.iter().filter_map(|place| self.turns.get(*place)).peekable();
        turns.peek().is_some() && turns.all(by_assistant)
    }

    /// The keys of the turns at these places.
    pub(crate) fn sources(&self, places: &[usize]) -> Vec<String> {
        let turns = places.iter().filter_map(|place| self.turns.get(*place));
        turns.map(|turn| turn.key.clone()).collect()
    }

    /// When it began: the time of its first turn that has one.
    fn began(&self) -> Interval {
        let first = self.turns.iter().find_map(|turn| turn.at);
        Interval { from: first.unwrap_or(Interval::MIN), to: Interval::MAX }
    }

    fn frame(&self, inputs: &mut Vec<Input>) {
        let mut node = NodeInput::new(EPISODE, self.key);
        let text = |text: &str| Value::String(text.to_owned());
        node.properties.insert("title".to_owned(), text(&self.extraction.title));
        node.properties.insert("text".to_owned(), text(&self.extraction.summary));
        node.properties.insert("drawn_by".to_owned(), text(self.extractor));
        let times = || self.turns.iter().filter_map(|turn| turn.at);
        for (name, time) in [("began", times().min()), ("ended", times().max())] {
            if let Some(time) = time {
                node.properties.insert(name.to_owned(), Value::Timestamp(time));
            }
        }
        let session = NodeInput::new(SESSION, self.session);
        inputs.push(link(session, HAS_EPISODE, node, self.began(), Vec::new()));
        for turn in self.turns {
            let key = &turn.key;
            let (head, tail) = (NodeInput::new(EPISODE, self.key), NodeInput::new(TURN, key));
            inputs.push(link(head, CONTAINS, tail, since(turn), vec![key.clone()]));
        }
    }

    /// Cue, tag and content (MRAgent, section 3.1), and which concepts were met in one turn.
    fn concepts(&self, inputs: &mut Vec<Input>) {
        for (place, turn) in self.turns.iter().enumerate() {
            let turn_key = &turn.key;
            let (tags, valid) = (self.tags(place), since(turn));
            let sources = vec![turn_key.clone()];
            for (key, tagged) in &tags {
                let content = NodeInput::new(TURN, turn_key);
                let tag = link(concept(key), tagged.tag, content, valid, sources.clone());
                inputs.push(called(tag, HEAD_AS, (key, tagged.said)));
                let merge = self.concepts.merges.get(tagged.said);
                inputs.extend(merge.map(|merge| reference(merge, valid, &sources)));
            }
            let tags: Vec<(&str, Tagged<'_>)> = tags.into_iter().collect();
            for (at, (a, tagged_a)) in tags.iter().enumerate() {
                for (b, tagged_b) in &tags[at + 1..] {
                    let pair = link(concept(a), CO_OCCURS, concept(b), valid, sources.clone());
                    let pair = called(pair, HEAD_AS, (a, tagged_a.said));
                    inputs.push(called(pair, TAIL_AS, (b, tagged_b.said)));
                }
            }
        }
    }

    /// The concepts of a turn by their keys in the graph, each with one tag: one that says more than
    /// that it is mentioned goes before, if several turns may have it.
    fn tags(&self, place: usize) -> BTreeMap<&str, Tagged<'_>> {
        let mut tags: BTreeMap<&str, Tagged<'_>> = BTreeMap::new();
        for drawn in self.extraction.concepts.iter().filter(|concept| concept.turn == place) {
            let Some(key) = self.concepts.keys.get(&drawn.key) else { continue };
            let tag = match self.concepts.single.contains(&drawn.tag) {
                true => MENTIONS,
                false => &drawn.tag,
            };
            let tagged = tags.entry(key).or_insert(Tagged { tag, said: &drawn.key });
            if tagged.tag == MENTIONS {
                tagged.tag = tag;
            }
        }
        tags
    }

    fn semantic(&self, key: &str, semantic: &ExtractedSemantic, inputs: &mut Vec<Input>) {
        let sources = self.sources(&semantic.turns);
        if sources.is_empty() {
            return;
        }
        let mut node = NodeInput::new(SEMANTIC, key);
        node.properties.insert("text".to_owned(), Value::String(semantic.text.clone()));
        let head = NodeInput::new(EPISODE, self.key);
        let yields = FactInput {
            head,
            relation: YIELDS.to_owned(),
            tail: node,
            valid: semantic.valid,
            confidence: semantic.confidence,
            intent: Some(semantic.intent),
            sources: sources.clone(),
            properties: BTreeMap::new(),
        };
        inputs.push(Input::Fact(Box::new(yields)));
        // Where it comes from does not end with what it says.
        let said = semantic.turns.iter().find_map(|place| self.turns.get(*place));
        let said = said.map_or(Interval::ALL, since);
        let from = |tail: NodeInput, relation: &str| {
            let head = NodeInput::new(SEMANTIC, key);
            link(head, relation, tail, said, sources.clone())
        };
        inputs.extend(sources.iter().map(|turn| from(NodeInput::new(TURN, turn), DERIVED_FROM)));
        let told = semantic.turns.iter().filter_map(|place| self.turns.get(*place));
        let speakers: BTreeSet<&str> = told.map(|turn| turn.speaker.as_str()).collect();
        let named = speakers.into_iter().filter(|name| has_name(&semantic.text, name));
        inputs.extend(named.map(|name| from(NodeInput::new(PERSON, name), ABOUT)));
        let keys = semantic.concepts.iter().filter_map(|drawn| {
            self.concepts.keys.get(drawn).map(|key| (key.as_str(), drawn.as_str()))
        });
        for (key_of, drawn) in keys.collect::<BTreeMap<_, _>>() {
            let mut tags = semantic.turns.iter().filter_map(|place| {
                self.tags(*place).get(key_of).map(|tagged| tagged.tag.to_owned())
            });
            let tag = tags.next().unwrap_or_else(|| MENTIONS.to_owned());
            let tail = NodeInput::new(SEMANTIC, key);
            let cue = link(concept(key_of), &tag, tail, said, sources.clone());
            inputs.push(called(cue, HEAD_AS, (key_of, drawn)));
            let merge = self.concepts.merges.get(drawn);
            inputs.extend(merge.map(|merge| reference(merge, said, &sources)));
        }
    }

    /// A fact, less sure if its turns do not bear it out; `said` is what each turn says, once it was asked for.
    fn fact(&self, fact: &ExtractedFact, said: &[OnceCell<Said>], inputs: &mut Vec<Input>) {
        let sources = self.sources(&fact.turns);
        if sources.is_empty() {
            return;
        }
        let said_at = |place: &usize| {
            let turn = self.turns.get(*place)?;
            Some(said.get(*place)?.get_or_init(|| Said::of(turn)))
        };
        let told: Vec<&Said> = fact.turns.iter().filter_map(said_at).collect();
        let confidence = match is_borne_out(fact, &told) && !self.is_by_assistant(&fact.turns) {
            true => fact.confidence,
            false => fact.confidence.min(UNCERTAIN),
        };
        let mut properties = BTreeMap::new();
        let mut end = |said: &Entity, property: &str| {
            let (meant, merge) = self.entities.of(said);
            if let Some(merge) = merge {
                properties.insert(property.to_owned(), Value::String(said.name.clone()));
                inputs.push(reference(merge, fact.valid, &sources));
            }
            entity(meant)
        };
        let (head, tail) = (end(&fact.head, HEAD_AS), end(&fact.tail, TAIL_AS));
        inputs.push(Input::Fact(Box::new(FactInput {
            head,
            relation: fact.relation.clone(),
            tail,
            valid: fact.valid,
            confidence,
            // What is no more than a fact has the intent of its relation.
            intent: Some(fact.intent).filter(|intent| *intent != Intent::Fact),
            sources,
            properties,
        })));
    }
}

/// How a concept stands to a turn, and by which key it was drawn.
#[derive(Clone, Copy)]
struct Tagged<'e> {
    tag: &'e str,
    said: &'e str,
}

/// Notes by which name an end of a fact was called, if that is not its key.
fn called(mut fact: Input, property: &str, (key, said): (&str, &str)) -> Input {
    if let Input::Fact(fact) = &mut fact
        && key != said
    {
        fact.properties.insert(property.to_owned(), Value::String(said.to_owned()));
    }
    fact
}

/// That a name means an entity of another name, and how that was found.
fn reference(merge: &Merge, valid: Interval, sources: &[String]) -> Input {
    let how = merge.how.iter().map(|how| ("how".to_owned(), Value::String(how.clone())));
    Input::Fact(Box::new(FactInput {
        head: NodeInput::new(MENTION, &merge.said.name),
        relation: REFERS_TO.to_owned(),
        tail: entity(&merge.into),
        valid: Interval { to: Interval::MAX, ..valid },
        confidence: merge.likeness,
        intent: Some(Intent::Fact),
        sources: sources.to_vec(),
        properties: how.collect(),
    }))
}

fn entity(entity: &Entity) -> NodeInput {
    NodeInput::new(&entity.label, &entity.name)
}

/// A concept is found by its meaning too, so its key is its text.
fn concept(key: &str) -> NodeInput {
    let mut node = NodeInput::new(CONCEPT, key);
    node.properties.insert("text".to_owned(), Value::String(key.to_owned()));
    node
}

fn since(turn: &TurnInput) -> Interval {
    Interval { from: turn.at.unwrap_or(Interval::MIN), to: Interval::MAX }
}

/// A fact of structure, which is certain.
fn link(
    head: NodeInput,
    relation: &str,
    tail: NodeInput,
    valid: Interval,
    sources: Vec<String>,
) -> Input {
    let fact = FactInput::certain(head, relation, tail, valid, sources);
    Input::Fact(Box::new(FactInput { intent: Some(Intent::Fact), ..fact }))
}
