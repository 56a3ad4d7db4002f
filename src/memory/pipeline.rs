//! The background pipeline: a turn is on the disk as soon as it is heard, and a thread makes memory
//! of what is due.
//!
//! ```text
//! observe ──▶ buffer ──too many tokens, or a pause before it──▶ due ──worker──▶ episodes
//! end ──────────────────────────────────────────────────────────▲
//! 30 minutes without a turn, by the clock ──────────────────────┘
//! ```
//!
//! Whoever observes never waits for a model. What is due is only a note: the turns are in the
//! buffer until their episode is stored, so a crash loses none of them.

mod state;

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender};
use engraph_storage::StorageError;
use parking_lot::Mutex;

pub use self::state::Progress;
use self::state::State;
use super::boundary::{Buffered, Occasion, PAUSE};
use super::consolidate::{Workshop, consolidate};
use crate::context::limits::Patience;
use crate::error::{Error, Result};
use crate::neural::NeuralError;
use crate::time;
use crate::write::observe::{HeardTurn, Observed, observe};

/// The name of the thread.
const THREAD: &str = "engraph-memory";

/// Turns go in, and memory is made of them after one's back.
///
/// A session is consolidated when it has [ended](Self::end), when nobody has spoken for 30 minutes,
/// and when more than 2,048 tokens are buffered of it. Turns that were observed otherwise, or before
/// the pipeline was started, become memory 30 minutes after the last of them.
///
/// What fails stays in the buffer. It is tried again at the next such occasion, after another 30
/// minutes, and by [`flush`](Self::flush).
///
/// Dropped, it waits for the episode at hand; the rest stays in the buffer for the next one.
///
/// ```
/// use std::sync::Arc;
/// use engraph::memory::{HeardTurn, Pipeline};
/// use engraph::{FixedEmbedder, Options};
///
/// # let folder = tempfile::tempdir()?;
/// let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path())?;
/// let pipeline = Pipeline::start(Arc::new(db))?;
/// pipeline.observe("s1", &HeardTurn::new("Nora", "I moved to Porto in June."))?;
/// pipeline.observe("s1", &HeardTurn::new("Ben", "Congratulations!"))?;
/// assert_eq!(pipeline.progress()?.buffered_turns, 2);
///
/// pipeline.end("s1");
/// pipeline.flush()?;
/// let progress = pipeline.progress()?;
/// assert_eq!((progress.episodes, progress.turns, progress.buffered_turns), (1, 2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pipeline {
    shared: Arc<Shared>,
    messages: Sender<Message>,
    /// None once it has ended.
    worker: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").field("runs", &self.worker.is_some()).finish_non_exhaustive()
    }
}

/// Who owns the workshop of a pipeline, for as long as it runs.
pub(crate) trait Host: Send + Sync {
    /// The workshop.
    fn workshop(&self) -> Workshop<'_>;
}

impl Pipeline {
    /// Starts the worker; see `Pipeline::start`.
    pub(crate) fn begin(host: Arc<dyn Host>) -> Result<Self> {
        let shared = Arc::new(Shared { host, state: Mutex::default() });
        let (messages, received) = crossbeam::channel::unbounded();
        let own = Arc::clone(&shared);
        let worker = std::thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || work(&own, &received))
            .map_err(|source| StorageError::Io { path: THREAD.into(), source })?;
        Ok(Self { shared, messages, worker: Some(worker) })
    }

    /// Puts a turn into the buffer of a session, as [`Engraph::observe`](crate::Engraph::observe) does; it waits for the
    /// disk and for other writers, never for the models that make memory.
    ///
    /// # Errors
    ///
    /// Those of [`Engraph::observe`](crate::Engraph::observe).
    pub fn observe(&self, session: &str, turn: &HeardTurn) -> Result<Observed> {
        let workshop = self.shared.host.workshop();
        let mut transaction = workshop.patience.begin(workshop.store)?;
        let before = transaction.reader().session_buffer(session)?.unwrap_or_default();
        let observed = observe(&mut transaction, session, turn)?;
        let after = transaction.reader().session_buffer(session)?.unwrap_or_default();
        transaction.commit(workshop.durability, time::wall())?;
        let buffered = Buffered {
            tokens: usize::try_from(after.tokens).unwrap_or(usize::MAX),
            last: before.last_at.filter(|_| before.turns > 0),
            now: after.last_at,
            has_ended: false,
        };
        if buffered.occasion().is_some() {
            // After a pause as well: the episode that this turn begins is still open.
            self.mark(session, Occasion::Tokens);
        }
        Ok(observed)
    }

    /// The session is over: all that is buffered of it becomes memory. Does not wait.
    pub fn end(&self, session: &str) {
        self.mark(session, Occasion::SessionEnd);
    }

    /// How far it is.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the buffer cannot be read.
    pub fn progress(&self) -> Result<Progress> {
        let mut progress = self.shared.state.lock().progress();
        let snapshot = self.shared.host.workshop().store.snapshot(time::wall());
        for (_, buffer) in snapshot.reader().buffered_sessions()? {
            progress.buffered_turns += buffer.turns;
            progress.buffered_tokens = progress.buffered_tokens.saturating_add(buffer.tokens);
            let oldest = progress.oldest_waiting.into_iter().chain(buffer.first_observed).min();
            progress.oldest_waiting = oldest;
        }
        Ok(progress)
    }

    /// Waits until everything that is due now has become memory; what failed before is tried again.
    ///
    /// # Errors
    ///
    /// That of the first session that failed, as of [`Engraph::consolidate`](crate::Engraph::consolidate); the others were
    /// consolidated nevertheless. [`StorageError::OwnTransaction`](engraph_storage::StorageError::OwnTransaction) if this
    /// thread has a transaction open, for which the worker would wait.
    pub fn flush(&self) -> Result<()> {
        self.shared.host.workshop().store.no_own_transaction()?;
        let gone = || NeuralError::Failed { reason: format!("the thread {THREAD} has ended") };
        let (reply, outcome) = crossbeam::channel::bounded(1);
        self.messages.send(Message::Flush(reply)).map_err(|_| gone())?;
        outcome.recv().unwrap_or_else(|_| Err(gone().into()))
    }

    fn mark(&self, session: &str, occasion: Occasion) {
        let was_idle = self.shared.state.lock().mark(session, occasion);
        if was_idle {
            // Nobody hears it only if the worker has ended, and `flush` tells that.
            self.messages.send(Message::Look).ok();
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.shared.state.lock().is_stopped = true;
        self.messages.send(Message::Look).ok();
        let is_waited_for = self.shared.host.workshop().store.no_own_transaction().is_ok();
        // A worker that waits for this thread's transaction ends by itself after it.
        if let Some(worker) = self.worker.take().filter(|_| is_waited_for) {
            worker.join().ok();
        }
    }
}

/// What wakes the worker.
enum Message {
    /// Something is due, or it is to stop.
    Look,
    /// Somebody waits for what is due.
    Flush(Sender<Result<()>>),
}

/// What the worker and those who observe hold in common.
struct Shared {
    host: Arc<dyn Host>,
    state: Mutex<State>,
}

/// The life of the worker: rounds, and the wait for the next message or pause.
fn work(shared: &Shared, messages: &Receiver<Message>) {
    let mut next = Instant::now();
    loop {
        let flush = match messages.recv_deadline(next) {
            Ok(Message::Flush(reply)) => Some(reply),
            Ok(Message::Look) | Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let outcome = shared.round(&mut next, flush.is_some());
        if shared.state.lock().is_stopped {
            return;
        }
        if let Some(reply) = flush {
            // Whoever flushed waits for it.
            reply.send(outcome).ok();
        }
    }
}

impl Shared {
    /// Consolidates what is due at its beginning, and sets when the next round is to be. Gives the
    /// first error.
    fn round(&self, next: &mut Instant, is_flush: bool) -> Result<()> {
        let mut outcome = self.mark_paused().map(|wait| *next = Instant::now() + wait);
        if let Err(error) = &outcome {
            *next = Instant::now() + micros(PAUSE);
            self.state.lock().error = Some(error.to_string());
        }
        let due = self.state.lock().due(is_flush);
        for session in due {
            let Some(occasion) = self.state.lock().begin(&session) else { break };
            let done = self.consolidate(&session, occasion);
            self.state.lock().finish(&session, occasion, &done, time::wall());
            outcome = outcome.and(done);
        }
        if self.state.lock().is_due() {
            *next = Instant::now();
        }
        outcome
    }

    /// Marks the sessions in which nobody has spoken for 30 minutes; gives the time until the next
    /// one may be among them.
    fn mark_paused(&self) -> Result<Duration> {
        let now = time::wall();
        let sessions = self.host.workshop().store.snapshot(now).reader().buffered_sessions()?;
        let mut state = self.state.lock();
        // A session that is not in the buffer yet pauses no earlier than this.
        let mut wait = PAUSE;
        for (session, buffer) in sessions {
            let since = buffer.last_observed.max(state.tried(&session)).unwrap_or(now);
            match since.saturating_add(PAUSE).saturating_sub(now) {
                left @ 0.. => wait = wait.min(left.saturating_add(1)),
                _ => {
                    state.mark(&session, Occasion::Pause);
                }
            }
        }
        Ok(micros(wait))
    }

    /// Consolidates a session, until it is done or the pipeline stops.
    fn consolidate(&self, session: &str, occasion: Occasion) -> Result<()> {
        let each = &mut |episode: super::Consolidated| match self.state.lock().count(&episode) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        };
        // A transaction that is left half way changes nothing, and nothing else is left.
        let sessions = [session.to_owned()];
        let done = catch_unwind(AssertUnwindSafe(|| {
            let workshop = Workshop { patience: Patience::ENDLESS, ..self.host.workshop() };
            consolidate(workshop, &sessions, occasion, each)
        }));
        done.unwrap_or_else(
            |_| Err(NeuralError::Failed { reason: "it panicked".to_owned() }.into()),
        )
    }
}

/// A number of microseconds as a duration; negative ones are none.
fn micros(time: i64) -> Duration {
    Duration::from_micros(u64::try_from(time).unwrap_or(0))
}

#[cfg(test)]
mod tests;
