//! What is due, what is at hand and what has failed: the notes of a pipeline, in memory only.
//!
//! It reads no clock, no disk and no buffer.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use engraph_storage::graph::Time;

use crate::error::{Error, Result};
use crate::memory::Consolidated;
use crate::memory::boundary::Occasion;

/// How far a pipeline is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Turns in the buffer, of all sessions.
    pub buffered_turns: u64,
    /// About how many tokens these have.
    pub buffered_tokens: u64,
    /// Sessions that wait for the worker, without the one at hand.
    pub due_sessions: u64,
    /// Episodes that this pipeline has made.
    pub episodes: u64,
    /// Turns that these hold.
    pub turns: u64,
    /// The session at hand.
    pub running: Option<String>,
    /// When the oldest turn in the buffer was observed, in microseconds since 1970, UTC: how far
    /// memory is after.
    pub oldest_waiting: Option<i64>,
    /// The last error, until all that failed has gone well.
    pub failed: Option<String>,
}

#[derive(Default)]
pub(super) struct State {
    due: BTreeMap<String, Occasion>,
    running: Option<String>,
    failed: BTreeMap<String, Failed>,
    /// The last error, until all that failed has gone well.
    pub(super) error: Option<String>,
    episodes: u64,
    turns: u64,
    /// Whether the worker is to end after the episode at hand.
    pub(super) is_stopped: bool,
}

/// A session that could not be consolidated.
struct Failed {
    occasion: Occasion,
    at: Time,
}

impl State {
    /// Notes that a session is due. Whether nothing was due before.
    pub(super) fn mark(&mut self, session: &str, occasion: Occasion) -> bool {
        let was_idle = self.due.is_empty();
        let held = self.due.entry(session.to_owned()).or_insert(occasion);
        // A session that is to be consolidated to its end stays so.
        if occasion != Occasion::Tokens {
            *held = occasion;
        }
        was_idle
    }

    pub(super) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The sessions that are due, and those that failed if they are to be tried again.
    pub(super) fn due(&mut self, with_failed: bool) -> Vec<String> {
        if with_failed {
            let failed: Vec<_> =
                self.failed.iter().map(|(key, failed)| (key.clone(), failed.occasion)).collect();
            for (session, occasion) in failed {
                self.mark(&session, occasion);
            }
        }
        self.due.keys().cloned().collect()
    }

    /// When a session failed.
    pub(super) fn tried(&self, session: &str) -> Option<Time> {
        self.failed.get(session).map(|failed| failed.at)
    }

    /// Takes a session that is due in hand; none if the pipeline stops.
    pub(super) fn begin(&mut self, session: &str) -> Option<Occasion> {
        if self.is_stopped {
            return None;
        }
        let occasion = self.due.remove(session)?;
        self.running = Some(session.to_owned());
        Some(occasion)
    }

    /// Counts an episode; breaks if the pipeline stops.
    pub(super) fn count(&mut self, episode: &Consolidated) -> ControlFlow<()> {
        self.episodes += 1;
        self.turns += episode.turns;
        match self.is_stopped {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Notes what came of the session at hand.
    pub(super) fn finish(
        &mut self,
        session: &str,
        occasion: Occasion,
        done: &Result<()>,
        now: Time,
    ) {
        self.running = None;
        match done {
            Ok(()) => {
                self.failed.remove(session);
                if self.failed.is_empty() {
                    self.error = None;
                }
            }
            Err(Error::Interrupted) => {}
            Err(error) => {
                self.failed.insert(session.to_owned(), Failed { occasion, at: now });
                self.error = Some(error.to_string());
            }
        }
    }

    /// How far the worker is; of the buffer it knows nothing.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            due_sessions: self.due.len() as u64,
            episodes: self.episodes,
            turns: self.turns,
            running: self.running.clone(),
            failed: self.error.clone(),
            ..Progress::default()
        }
    }
}
