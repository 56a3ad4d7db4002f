//! What decides the steps of `RECONSTRUCT`: scores, or a model that is named, whose calls are counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::context::Context;
use crate::error::Result;
use crate::exec::retrieval::NamedModel;
use crate::exec::retrieval::toolkit::Toolkit;
use crate::neural::NeuralError;
use crate::plan::retrieval::Reconstruct;
use crate::reconstruct::{ByScore, Finding, Policy, Reconstruction, Selection};

/// A policy in a statement that runs.
pub(super) struct Decider<'c> {
    /// None decides by scores.
    model: Option<Counted>,
    context: &'c Context<'c>,
}

impl<'c> Decider<'c> {
    /// The one that a clause names.
    pub(super) fn of(clause: &Reconstruct, context: &'c Context<'c>) -> Result<Self> {
        let named = NamedModel::of(clause.model.as_ref(), context)?;
        let counted = |named: NamedModel| -> Result<Counted> {
            let policy =
                context.models.policy(&named.name).map_err(|error| named.failed(&error))?;
            Ok(Counted { policy, asked: Mutex::default() })
        };
        Ok(Self { model: named.map(counted).transpose()?, context })
    }

    /// One step.
    pub(super) fn step(&self, state: &mut Reconstruction, toolkit: &Toolkit<'_>) -> Result<()> {
        let Some(model) = &self.model else { return state.step_with(toolkit, &ByScore) };
        let done = state.step_with(toolkit, model);
        let (calls, time) = std::mem::take(&mut *model.asked.lock());
        self.context.asked(calls, time);
        done
    }
}

type Asked<T> = std::result::Result<T, NeuralError>;

/// A policy with how often it was asked, and for how long.
struct Counted {
    policy: Arc<dyn Policy>,
    asked: Mutex<(u64, Duration)>,
}

impl Counted {
    fn ask<T>(&self, ask: impl FnOnce(&dyn Policy) -> T) -> T {
        let begun = Instant::now();
        let answer = ask(&*self.policy);
        let mut asked = self.asked.lock();
        asked.0 += 1;
        asked.1 += begun.elapsed();
        answer
    }
}

impl Policy for Counted {
    fn id(&self) -> &str {
        self.policy.id()
    }

    fn select(&self, state: &Reconstruction) -> Asked<Selection> {
        self.ask(|policy| policy.select(state))
    }

    fn route(&self, state: &Reconstruction, findings: &[Finding]) -> Asked<Vec<(usize, f64)>> {
        self.ask(|policy| policy.route(state, findings))
    }

    fn is_sufficient(&self, state: &Reconstruction) -> Asked<bool> {
        self.ask(|policy| policy.is_sufficient(state))
    }
}
