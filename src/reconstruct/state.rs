//! The state of a reconstruction (MRAgent, eq. 7): what may be gone on from, what was found, what was
//! asked already, and a log of it all. It can be stored as JSON after any step and be gone on with.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::Time;
use serde::{Deserialize, Serialize};

use super::operation::{Finding, Kind, Mechanism, Operation};

/// How much may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The most steps of the loop.
    pub turns: usize,
    /// The most operations of one step.
    pub calls: usize,
}

impl Default for Budget {
    /// 8 turns of 10 calls, as in the paper.
    fn default() -> Self {
        Self { turns: 8, calls: 10 }
    }
}

/// Something that may be gone on from: an item of the active set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Active {
    /// What it is.
    pub kind: Kind,
    /// Its key; that of the cue, if it is a tag.
    pub key: String,
    /// The tag.
    pub tag: Option<String>,
    /// How promising it is, from 0 to 1.
    pub weight: f64,
    /// The step that found it.
    pub step: usize,
}

/// A turn that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The id of its node.
    pub id: u64,
    /// Its key.
    pub key: String,
    /// What was said, with the speaker.
    pub text: String,
    /// When, in microseconds since 1970, UTC.
    pub at: Option<Time>,
    /// Who said it.
    pub speaker: Option<String>,
    /// The cosine of its embedding and the question's.
    pub meaning: f64,
    /// How well its words fit the question (BM25).
    pub words: f64,
    /// Whether it says a time that the question asks for.
    pub timely: bool,
    /// The step that brought it, from 1 on.
    pub step: usize,
    /// The operation that brought it.
    pub action: String,
    /// How strongly each operation brought it, by name, from 0 to 1.
    pub shares: BTreeMap<String, f64>,
    /// What each operation reached it through, by name: the strongest of several. An operation that
    /// finds turns by themselves has none.
    #[serde(default)]
    pub through: BTreeMap<String, Through>,
    /// What it amounts to, after the last step: the larger, the better.
    pub score: f64,
}

/// What an operation reached a turn through: a cue, a turn, a statement, a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Through {
    /// The id of its node.
    pub id: u64,
    /// The key of the node.
    pub key: String,
    /// How strongly it led there, from 0 to 1.
    pub share: f64,
}

/// One operation of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// What was asked.
    pub operation: Operation,
    /// The keys of the turns that it gave back.
    pub turns: Vec<String>,
    /// How many other things it gave back: cues, tags, statements, topics, persons.
    pub others: usize,
    /// Why it was not run, if it was not.
    pub refused: Option<String>,
}

/// One step of the loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Who chose the operations: the id of a policy, or `outside`.
    pub policy: String,
    /// The operations, in order.
    pub calls: Vec<Call>,
    /// The keys of the turns that were kept for the first time.
    pub kept: Vec<String>,
    /// What went wrong, in words: answers of a model that could not be used.
    pub errors: Vec<String>,
    /// By how much the best of the evidence became better, as a part of it.
    pub gain: f64,
}

/// Why a reconstruction is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ended {
    /// The evidence is held to be sufficient.
    Sufficient,
    /// All turns are used up.
    Budget,
    /// There is nothing left to ask.
    Exhausted,
}

/// A reconstruction: begun with a question, gone on with step by step, stored as JSON in between if
/// that is wanted. What was stored is believed to be of the same database; what is no longer there is
/// not found again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Reconstruction {
    pub(super) question: String,
    pub(super) budget: Budget,
    pub(super) without: BTreeSet<Mechanism>,
    /// The conversations and sessions of which turns count; all if none.
    pub(super) scope: BTreeSet<String>,
    /// The instant of the state that the last step read.
    pub(super) now: Option<Time>,
    pub(super) active: Vec<Active>,
    pub(super) evidence: BTreeMap<u64, Evidence>,
    /// The pairs of cue and tag whose contents were read.
    pub(super) visited: BTreeSet<(String, String)>,
    /// What was asked already.
    pub(super) asked: BTreeSet<Operation>,
    /// Those whom the question names.
    pub(super) persons: BTreeSet<String>,
    pub(super) steps: Vec<Step>,
    pub(super) ended: Option<Ended>,
}

/// The most steps and calls that a stored state may say.
pub(super) const TURNS_MAX: usize = 1_000;
pub(super) const CALLS_MAX: usize = 1_000;

/// What is read of a stored state, before it is believed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    question: String,
    budget: Budget,
    without: BTreeSet<Mechanism>,
    #[serde(default)]
    scope: BTreeSet<String>,
    now: Option<Time>,
    active: Vec<Active>,
    evidence: BTreeMap<u64, Evidence>,
    visited: BTreeSet<(String, String)>,
    asked: BTreeSet<Operation>,
    persons: BTreeSet<String>,
    steps: Vec<Step>,
    ended: Option<Ended>,
}

impl TryFrom<Stored> for Reconstruction {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { question, budget, without, scope, now, active, evidence, .. } = stored;
        if budget.turns > TURNS_MAX || budget.calls > CALLS_MAX {
            return Err(format!("a budget is at most {TURNS_MAX} turns of {CALLS_MAX} calls"));
        }
        if stored.steps.len() > budget.turns {
            return Err("there are more steps than the budget allows".to_owned());
        }
        if evidence.iter().any(|(id, one)| *id != one.id || one.step > stored.steps.len()) {
            return Err("the evidence contradicts itself".to_owned());
        }
        let (visited, asked, persons) = (stored.visited, stored.asked, stored.persons);
        let (steps, ended) = (stored.steps, stored.ended);
        Ok(Self {
            question,
            budget,
            without,
            scope,
            now,
            active,
            evidence,
            visited,
            asked,
            persons,
            steps,
            ended,
        })
    }
}

impl Reconstruction {
    /// Begins with a question; nothing is read yet. More than 1,000 turns or calls are taken for so
    /// many.
    pub fn begin(question: impl Into<String>, budget: Budget) -> Self {
        let Budget { turns, calls } = budget;
        Self {
            question: question.into(),
            budget: Budget { turns: turns.min(TURNS_MAX), calls: calls.min(CALLS_MAX) },
            without: BTreeSet::new(),
            scope: BTreeSet::new(),
            now: None,
            active: Vec::new(),
            evidence: BTreeMap::new(),
            visited: BTreeSet::new(),
            asked: BTreeSet::new(),
            persons: BTreeSet::new(),
            steps: Vec::new(),
            ended: None,
        }
    }

    /// Does without some mechanisms, to measure what they are worth.
    pub fn without(mut self, mechanisms: impl IntoIterator<Item = Mechanism>) -> Self {
        self.without.extend(mechanisms);
        self
    }

    /// Takes turns of these conversations and sessions alone, by their names.
    pub fn within<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.scope.extend(names.into_iter().map(Into::into));
        self
    }

    /// The conversations and sessions of which turns count; all if none.
    pub fn scope(&self) -> impl Iterator<Item = &str> {
        self.scope.iter().map(String::as_str)
    }

    /// The question.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// How much may be asked in all.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Whether a mechanism is used.
    pub fn uses(&self, mechanism: Mechanism) -> bool {
        !self.without.contains(&mechanism)
    }

    /// The instant of the state that the last step read, in microseconds since 1970, UTC; none
    /// before the first.
    pub fn now(&self) -> Option<Time> {
        self.now
    }

    /// How many steps were taken.
    pub fn turn(&self) -> usize {
        self.steps.len()
    }

    /// Whether it is over.
    pub fn is_done(&self) -> bool {
        self.ended.is_some()
    }

    /// Why it is over; none while it is not.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// What may be gone on from (Z), the most promising first.
    pub fn active(&self) -> &[Active] {
        &self.active
    }

    /// Those whom the question names, by their keys.
    pub fn persons(&self) -> impl Iterator<Item = &str> {
        self.persons.iter().map(String::as_str)
    }

    /// What was found (H), best first; equals in the order of their nodes.
    pub fn evidence(&self) -> Vec<&Evidence> {
        let mut evidence: Vec<&Evidence> = self.evidence.values().collect();
        evidence.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        evidence
    }

    /// The log: what was asked in each step, what it gave back, and what was kept.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether the contents after a cue and a tag were read.
    pub fn is_visited(&self, cue: &str, tag: &str) -> bool {
        self.visited.contains(&(cue.to_owned(), tag.to_owned()))
    }

    /// Whether exactly this was asked.
    pub fn was_asked(&self, operation: &Operation) -> bool {
        self.asked.contains(operation)
    }

    /// The score of a turn as it stands; 0 if it was not found.
    pub(super) fn score_of(&self, key: &str) -> f64 {
        let of_key = self.evidence.values().find(|one| one.key == key);
        of_key.map_or(0.0, |one| one.score)
    }

    /// The share of the true evidence that was found after each step (eq. 24); 1 if there is none.
    pub fn recall_by_turn(&self, truth: &[&str]) -> Vec<f64> {
        let truth: BTreeSet<&str> = truth.iter().copied().collect();
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut recall = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            found.extend(step.kept.iter().map(String::as_str).filter(|key| truth.contains(key)));
            recall.push(part(found.len(), truth.len()));
        }
        recall
    }

    /// The share of the true evidence that each operation gave back, by name, in whatever step
    /// (eq. 24, as in table 6); 1 if there is none.
    pub fn recall_by_operation(&self, truth: &[&str]) -> BTreeMap<&'static str, f64> {
        let truth: BTreeSet<&str> = truth.iter().copied().collect();
        let mut found: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
        for call in self.steps.iter().flat_map(|step| &step.calls) {
            let turns = call.turns.iter().map(String::as_str).filter(|key| truth.contains(key));
            found.entry(call.operation.name()).or_default().extend(turns);
        }
        found.into_iter().map(|(name, found)| (name, part(found.len(), truth.len()))).collect()
    }

    /// Takes what is gone on from out of the active set.
    pub(super) fn used(&mut self, operation: &Operation) {
        let is_used = |one: &Active| match operation {
            Operation::TagsOfCue { cue } | Operation::EventsOfCue { cue } => {
                one.kind == Kind::Cue && one.key == *cue
            }
            Operation::EventsOfTag { cue, tag } => {
                one.kind == Kind::Tag && one.key == *cue && one.tag.as_ref() == Some(tag)
            }
            Operation::EventsOfTopic { topic } => one.kind == Kind::Topic && one.key == *topic,
            Operation::PersonalInformation { person, aspect: None } => {
                one.kind == Kind::Person && one.key == *person
            }
            Operation::ContextOfEvents { events } => {
                one.kind == Kind::Turn && events.contains(&one.key)
            }
            _ => false,
        };
        self.active.retain(|one| !is_used(one));
    }

    /// Puts findings that go on into the active set, each once, with the larger weight.
    pub(super) fn activate(&mut self, findings: &[(&Finding, f64)]) {
        let step = self.steps.len() + 1;
        for (found, weight) in findings {
            let weight = if weight.is_finite() { weight.clamp(0.0, 1.0) } else { 0.0 };
            let tag = found.tag.clone().filter(|_| found.kind == Kind::Tag);
            let held = self
                .active
                .iter_mut()
                .find(|one| one.kind == found.kind && one.key == found.key && one.tag == tag);
            match held {
                Some(held) => held.weight = held.weight.max(weight),
                None => {
                    let (kind, key) = (found.kind, found.key.clone());
                    self.active.push(Active { kind, key, tag, weight, step });
                }
            }
        }
        self.active.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    }
}

fn part(found: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { found as f64 / all as f64 }
}
