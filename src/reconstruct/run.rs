//! The loop (MRAgent, algorithm 1): select, traverse, route, update, stop.

use std::collections::{BTreeMap, BTreeSet};

use super::by_score::DEFAULT;
use super::operation::{Finding, Kind, Mechanism, Operation, Tools};
use super::policy::{Policy, Selection};
use super::score::{Scale, asks_for_time, mass, rank, relevance, says_time};
use super::state::{Call, Ended, Evidence, Reconstruction, Step, Through};
use crate::error::Result;

/// Who chose operations that came from outside.
const OUTSIDE: &str = "outside";

/// What came of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was asked.
    pub operation: Operation,
    /// What it gave back, or in words why it was not run.
    pub found: std::result::Result<Vec<Finding>, String>,
}

impl Reconstruction {
    /// Says that the evidence is enough.
    pub fn finish(&mut self) {
        self.ended.get_or_insert(Ended::Sufficient);
    }

    /// One step with operations that were chosen outside; see `Reconstruction::apply`.
    pub(crate) fn apply_with(
        &mut self,
        tools: &dyn Tools,
        operations: &[Operation],
    ) -> Result<Vec<Outcome>> {
        self.whole(tools, |state| {
            let mut step = Step { policy: OUTSIDE.to_owned(), ..Step::default() };
            let outcomes = state.traverse(tools, operations, &mut step)?;
            state.settle(&outcomes, &DEFAULT, step);
            Ok(outcomes)
        })
    }

    /// One step over a state of the database. It changes nothing if it fails.
    pub(crate) fn step_with(&mut self, tools: &dyn Tools, policy: &dyn Policy) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        if self.turn() >= self.budget.turns || self.budget.calls == 0 {
            self.ended = Some(Ended::Budget);
            return Ok(());
        }
        self.whole(tools, |state| state.step_now(tools, policy))
    }

    /// A step at the instant of a state of the database, which stays the last one if it fails.
    fn whole<T>(
        &mut self,
        tools: &dyn Tools,
        step: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.now.replace(tools.now());
        let done = step(self);
        if done.is_err() {
            self.now = before;
        }
        done
    }

    fn step_now(&mut self, tools: &dyn Tools, policy: &dyn Policy) -> Result<()> {
        tools.in_time()?;
        let mut step = Step { policy: policy.id().to_owned(), ..Step::default() };
        let mut selection = self.selected(policy, &mut step);
        // A small model says too soon that it has enough: nothing is enough of nothing.
        let goes_on = !step.errors.is_empty() || self.evidence.is_empty();
        let mut is_default = step.policy == DEFAULT.id();
        if selection.operations.is_empty() && goes_on {
            selection = self.selected(&DEFAULT, &mut step);
            is_default = true;
        }
        if selection.operations.is_empty() {
            self.ended = Some(if is_default { Ended::Exhausted } else { Ended::Sufficient });
            // A step that asks nothing is none, but for what went wrong in it.
            self.steps.extend(Some(step).filter(|step| !step.errors.is_empty()));
            return Ok(());
        }
        let mut outcomes = self.traverse(tools, &selection.operations, &mut step)?;
        if outcomes.iter().all(|outcome| outcome.found.is_err()) {
            let selection = self.selected(&DEFAULT, &mut step);
            outcomes.extend(self.traverse(tools, &selection.operations, &mut step)?);
        }
        tools.in_time()?;
        self.settle(&outcomes, policy, step);
        if self.is_done() || self.evidence.is_empty() {
            return Ok(());
        }
        // Whoever goes on is told that the time is up.
        if tools.in_time().is_err() {
            return Ok(());
        }
        match policy.is_sufficient(self) {
            Ok(true) => self.ended = Some(Ended::Sufficient),
            Ok(false) => {}
            Err(error) => self.noted(error.to_string()),
        }
        Ok(())
    }

    /// What a policy wants to ask; nothing if it fails, which is noted.
    fn selected(&self, policy: &dyn Policy, step: &mut Step) -> Selection {
        let selection = policy.select(self).unwrap_or_else(|error| {
            step.errors.push(error.to_string());
            Selection::default()
        });
        step.errors.extend(selection.refused.iter().cloned());
        selection
    }

    /// Runs operations, within the budget of the step.
    fn traverse(
        &mut self,
        tools: &dyn Tools,
        operations: &[Operation],
        step: &mut Step,
    ) -> Result<Vec<Outcome>> {
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(operations.len());
        for operation in operations {
            let run = step.calls.iter().filter(|call| call.refused.is_none()).count();
            let again = outcomes.iter().any(|outcome| outcome.operation == *operation);
            let found = match self.refusal(operation, run, again) {
                Some(reason) => Err(reason),
                None => tools.run(operation, self.uses(Mechanism::Semantics))?,
            };
            step.calls.push(call(operation, &found));
            outcomes.push(Outcome { operation: operation.clone(), found });
        }
        Ok(outcomes)
    }

    /// Ends it where all turns are used up.
    pub(crate) fn run_out(&mut self) {
        if self.turn() >= self.budget.turns {
            self.ended.get_or_insert(Ended::Budget);
        }
    }

    /// Why an operation is not run, if it is not.
    fn refusal(&self, operation: &Operation, run: usize, again: bool) -> Option<String> {
        if run >= self.budget.calls {
            return Some(format!("a turn has {} calls at most", self.budget.calls));
        }
        let is_read = match operation {
            Operation::EventsOfTag { cue, tag } => self.is_visited(cue, tag),
            _ => false,
        };
        if is_read || again || self.was_asked(operation) {
            return Some("this was asked before".to_owned());
        }
        let without = mechanism(operation).filter(|mechanism| !self.uses(*mechanism))?;
        Some(format!("this is done without {}", without.name()))
    }

    /// Takes what was found into the state, and closes the step.
    fn settle(&mut self, outcomes: &[Outcome], policy: &dyn Policy, mut step: Step) {
        let before = mass(self);
        let weights: Vec<Vec<f64>> = outcomes.iter().map(|outcome| self.weights(outcome)).collect();
        for outcome in outcomes.iter().filter(|outcome| outcome.found.is_ok()) {
            self.used(&outcome.operation);
            self.asked.insert(outcome.operation.clone());
            if let Operation::EventsOfTag { cue, tag } = &outcome.operation {
                self.visited.insert((cue.clone(), tag.clone()));
            }
        }
        let (mut findings, mut origins) = (Vec::new(), Vec::new());
        for (outcome, weights) in outcomes.iter().zip(weights) {
            for (found, weight) in outcome.found.iter().flatten().zip(weights) {
                findings.push(found.clone());
                origins.push((outcome.operation.name(), weight));
            }
        }
        let routed = policy.route(self, &findings).or_else(|error| {
            step.errors.push(error.to_string());
            DEFAULT.route(self, &findings)
        });
        let routed = routed.unwrap_or_default();
        let asks_for_time = asks_for_time(self);
        for (place, _) in &routed {
            let (Some(found), Some((name, weight))) = (findings.get(*place), origins.get(*place))
            else {
                continue;
            };
            if found.kind == Kind::Person {
                self.persons.insert(found.key.clone());
            }
            if found.kind == Kind::Turn && self.keep(found, (name, *weight), asks_for_time) {
                step.kept.push(found.key.clone());
            }
        }
        let read = self.contexts();
        let goes_on = |found: &Finding| match found.kind {
            Kind::Statement => false,
            Kind::Turn => !read.contains(&found.key),
            _ => true,
        };
        let asked: Vec<(&Finding, f64)> = routed
            .iter()
            .filter_map(|(place, weight)| Some((findings.get(*place)?, *weight)))
            .filter(|(found, _)| goes_on(found))
            .collect();
        self.activate(&asked);
        rank(self);
        let after = mass(self);
        step.gain = if after > 0.0 { ((after - before) / after).max(0.0) } else { 0.0 };
        self.steps.push(step);
        self.run_out();
    }

    /// The turns whose context was read.
    fn contexts(&self) -> BTreeSet<String> {
        let events = |operation: &Operation| match operation {
            Operation::ContextOfEvents { events } => events.clone(),
            _ => Vec::new(),
        };
        self.asked.iter().flat_map(events).collect()
    }

    /// How much what each finding was reached through counts, as it stands before this step.
    fn weights(&self, outcome: &Outcome) -> Vec<f64> {
        let scale = Scale::of(self, &[]);
        let relevance_of = |key: &str| {
            let turn = self.evidence.values().find(|one| one.key == key);
            turn.map_or(0.0, |one| relevance(one.meaning, one.words, &scale))
        };
        let weight = |found: &Finding| match &outcome.operation {
            _ if !self.uses(Mechanism::Route) => 1.0,
            Operation::ContextOfEvents { .. } => {
                relevance_of(found.through.as_deref().unwrap_or_default()) * found.share
            }
            Operation::EventsOfTag { cue, tag } => {
                let held = self.active.iter().find(|one| {
                    one.kind == Kind::Tag && one.key == *cue && one.tag.as_ref() == Some(tag)
                });
                held.map_or(0.5, |one| one.weight) * found.share
            }
            _ => found.share,
        };
        outcome.found.iter().flatten().map(weight).collect()
    }

    /// Takes a turn as evidence; says whether it is new.
    fn keep(&mut self, found: &Finding, (action, share): (&str, f64), asks_for_time: bool) -> bool {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        // What several cues or several turns lead to is the better for each.
        let sums = matches!(action, "events_of_tag" | "events_of_cue" | "context_of_events");
        let through = found.through_id.zip(found.through.clone());
        let through = through.map(|(id, key)| Through { id, key, share });
        if let Some(held) = self.evidence.get_mut(&found.id) {
            let own = held.shares.entry(action.to_owned()).or_default();
            *own = if sums { (*own + share).min(1.0) } else { own.max(share) };
            held.reached(action, through);
            return false;
        }
        let mut evidence = Evidence {
            id: found.id,
            key: found.key.clone(),
            text: found.text.clone(),
            at: found.at,
            speaker: found.speaker.clone(),
            meaning: found.meaning,
            words: found.words,
            timely: asks_for_time && says_time(self, &found.text),
            step: self.steps.len() + 1,
            action: action.to_owned(),
            shares: [(action.to_owned(), share)].into(),
            through: BTreeMap::new(),
            score: 0.0,
        };
        evidence.reached(action, through);
        self.evidence.insert(found.id, evidence);
        true
    }

    /// Notes in the last step what went wrong.
    fn noted(&mut self, error: String) {
        if let Some(step) = self.steps.last_mut() {
            step.errors.push(error);
        }
    }
}

impl Evidence {
    /// An operation has reached it through something; the strongest stays.
    fn reached(&mut self, action: &str, through: Option<Through>) {
        let Some(through) = through else { return };
        let held = self.through.get(action);
        if held.is_none_or(|held| through.share > held.share) {
            self.through.insert(action.to_owned(), through);
        }
    }
}

/// The mechanism that an operation is of.
fn mechanism(operation: &Operation) -> Option<Mechanism> {
    match operation {
        Operation::SearchTopics { .. } | Operation::EventsOfTopic { .. } => Some(Mechanism::Topics),
        Operation::SearchStatements { .. } | Operation::PersonalInformation { .. } => {
            Some(Mechanism::Semantics)
        }
        Operation::TagsOfCue { .. } | Operation::EventsOfTag { .. } => Some(Mechanism::Tags),
        Operation::CuesOfEvents { .. } => Some(Mechanism::Reverse),
        Operation::ContextOfEvents { .. } => Some(Mechanism::Context),
        Operation::EventsByTime { .. } => Some(Mechanism::Time),
        Operation::SearchCues { .. }
        | Operation::SearchEvents { .. }
        | Operation::EventsOfCue { .. } => None,
    }
}

fn call(operation: &Operation, found: &std::result::Result<Vec<Finding>, String>) -> Call {
    let mut turns: Vec<String> = Vec::new();
    let mut others = 0;
    for one in found.iter().flatten() {
        match one.kind {
            Kind::Turn if !turns.contains(&one.key) => turns.push(one.key.clone()),
            Kind::Turn => {}
            _ => others += 1,
        }
    }
    Call { operation: operation.clone(), turns, others, refused: found.as_ref().err().cloned() }
}
