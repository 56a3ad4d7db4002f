//! The policy without a model: what is nearest to the question by meaning and words, given what was
//! found so far, is gone on from. The same state gives the same decision.

use super::operation::{Finding, Kind, Mechanism, Operation};
use super::policy::{Policy, Selection};
use super::score::{Scale, relevance};
use super::state::{Active, Reconstruction};
use crate::neural::NeuralError;
use crate::retrieval::words::content;
use crate::time;

/// How many of each kind are gone on from in one step.
const CUES: usize = 3;
const TAGS: usize = 4;
const TOPICS: usize = 1;
const PERSONS: usize = 2;
const PERIODS: usize = 2;
const CONTEXTS: usize = 12;
const REVERSED: usize = 5;
/// What is less promising is not gone on from.
const FLOOR: f64 = 0.2;
/// The gain of a step, as a part of the evidence, below which it is held to have brought little.
const GAIN_MIN: f64 = 0.05;
/// What a tag is worth that says only that something is mentioned.
const MENTIONED: f64 = 0.8;

/// Decides by scores: deterministic, and without a model.
///
/// The first step searches for the question. Each later one looks around the best turns, leads from
/// them back to other cues, asks for the tags of the nearest cues, reads what stands after the best
/// pairs of cue and tag, and goes down from the best topic. It is enough when a step after the first
/// has brought little and nothing promising is left.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByScore;

/// What decides where nothing else does.
pub(super) const DEFAULT: ByScore = ByScore;

impl Policy for ByScore {
    fn id(&self) -> &str {
        "by_score/1"
    }

    fn select(&self, state: &Reconstruction) -> Result<Selection, NeuralError> {
        let mut operations = first(state);
        if state.turn() > 0 {
            operations.extend(further(state));
        }
        operations.retain(|operation| !state.was_asked(operation));
        operations.truncate(state.budget().calls);
        Ok(Selection { operations, refused: Vec::new() })
    }

    fn route(
        &self,
        state: &Reconstruction,
        findings: &[Finding],
    ) -> Result<Vec<(usize, f64)>, NeuralError> {
        if !state.uses(Mechanism::Route) {
            return Ok((0..findings.len()).map(|place| (place, 1.0)).collect());
        }
        let scale = Scale::of(state, findings);
        let mut routed: Vec<(usize, f64)> = findings
            .iter()
            .enumerate()
            .filter(|(_, found)| is_new(state, found))
            .map(|(place, found)| (place, promise(state, found, &scale)))
            .collect();
        routed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(routed)
    }

    fn is_sufficient(&self, state: &Reconstruction) -> Result<bool, NeuralError> {
        let [_, .., last] = state.steps() else { return Ok(false) };
        let waits = |one: &Active| matches!(one.kind, Kind::Tag | Kind::Topic | Kind::Person);
        let waiting = state.active().iter().filter(|one| waits(one));
        let best = waiting.map(|one| one.weight).fold(0.0, f64::max);
        Ok(last.gain < GAIN_MIN && best < 0.5)
    }
}

/// The questions that follow from the question alone.
fn first(state: &Reconstruction) -> Vec<Operation> {
    let text = || state.question().to_owned();
    let mut operations =
        vec![Operation::SearchEvents { text: text() }, Operation::SearchCues { text: text() }];
    if state.uses(Mechanism::Semantics) {
        operations.push(Operation::SearchStatements { text: text() });
    }
    if state.uses(Mechanism::Topics) {
        operations.push(Operation::SearchTopics { text: text() });
    }
    if state.uses(Mechanism::Time) {
        operations.extend(periods(state));
    }
    operations
}

/// The questions that follow from what is active.
fn further(state: &Reconstruction) -> Vec<Operation> {
    let adapts = state.uses(Mechanism::State);
    let weighs = state.uses(Mechanism::Route);
    let floor = if weighs { FLOOR } else { 0.0 };
    // Without a state of its own, only what the question led to is gone on from.
    let sources: Vec<&Active> = state
        .active()
        .iter()
        .filter(|one| (adapts || one.step <= 2) && one.weight >= floor)
        .collect();
    let best = |kind: Kind| sources.iter().filter(move |one| one.kind == kind).copied();
    let mut operations = Vec::new();
    let turns: Vec<String> = best(Kind::Turn).map(|one| one.key.clone()).take(CONTEXTS).collect();
    if adapts && state.uses(Mechanism::Context) && !turns.is_empty() {
        operations.push(Operation::ContextOfEvents { events: turns.clone() });
    }
    if adapts && state.uses(Mechanism::Reverse) && !turns.is_empty() {
        let events = turns.into_iter().take(REVERSED).collect();
        operations.push(Operation::CuesOfEvents { events });
    }
    if state.uses(Mechanism::Semantics) {
        operations.extend(
            best(Kind::Person).take(PERSONS).map(|one| Operation::PersonalInformation {
                person: one.key.clone(),
                aspect: None,
            }),
        );
    }
    if state.uses(Mechanism::Topics) {
        let of = |one: &Active| Operation::EventsOfTopic { topic: one.key.clone() };
        operations.extend(best(Kind::Topic).take(TOPICS).map(of));
    }
    match state.uses(Mechanism::Tags) {
        true => {
            let read = |one: &Active| {
                let (cue, tag) = (one.key.clone(), one.tag.clone()?);
                (!state.is_visited(&cue, &tag)).then_some(Operation::EventsOfTag { cue, tag })
            };
            operations.extend(best(Kind::Tag).filter_map(read).take(TAGS));
            let asked = |one: &Active| Operation::TagsOfCue { cue: one.key.clone() };
            operations.extend(best(Kind::Cue).map(asked).take(CUES));
        }
        false => {
            let mut cues: Vec<&str> = Vec::new();
            for one in sources.iter().filter(|one| matches!(one.kind, Kind::Cue | Kind::Tag)) {
                if !cues.contains(&one.key.as_str()) {
                    cues.push(&one.key);
                }
            }
            let read = |cue: &str| Operation::EventsOfCue { cue: cue.to_owned() };
            let left = cues.into_iter().map(read).filter(|one| !state.was_asked(one));
            operations.extend(left.take(TAGS));
        }
    }
    operations
}

/// What was said in the times that the question speaks of.
fn periods(state: &Reconstruction) -> Vec<Operation> {
    let Some(now) = state.now() else { return Vec::new() };
    let open = |at: i64| (at != i64::MIN && at != i64::MAX).then_some(at);
    let periods = time::find(state.question(), now).into_iter().take(PERIODS);
    let read = |period: engraph_storage::graph::Interval| {
        let (from, to) = (open(period.from), open(period.to));
        Operation::EventsByTime { from, to, person: None }
    };
    periods.map(|(_, period)| read(period)).collect()
}

/// Whether a finding can be gone on from at all.
fn is_new(state: &Reconstruction, found: &Finding) -> bool {
    match (found.kind, &found.tag) {
        (Kind::Tag, Some(tag)) => !state.is_visited(&found.key, tag),
        (Kind::Cue, _) => !state.was_asked(&Operation::TagsOfCue { cue: found.key.clone() }),
        _ => true,
    }
}

/// How promising a finding is, from 0 to 1.
fn promise(state: &Reconstruction, found: &Finding, scale: &Scale) -> f64 {
    let meaning = found.meaning.max(0.0);
    match found.kind {
        Kind::Turn => relevance(found.meaning, found.words, scale),
        Kind::Person => found.share,
        Kind::Tag => {
            let from = found.through.as_deref().map_or(0.0, |key| state.score_of(key)).min(1.0);
            let tag = found.tag.as_deref().unwrap_or_default();
            ((meaning + 0.3 * from) * affinity(state.question(), tag)).min(1.0)
        }
        Kind::Cue | Kind::Statement | Kind::Topic => meaning,
    }
}

/// How well a tag fits the question, by its words.
fn affinity(question: &str, tag: &str) -> f64 {
    let asked = content(question);
    let said = content(&tag.replace('_', " "));
    match tag {
        _ if said.iter().any(|word| asked.contains(word)) => 1.0,
        "mentions" => MENTIONED,
        _ => 0.9,
    }
}
