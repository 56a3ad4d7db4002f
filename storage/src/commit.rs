//! Commits: in order, numbered without a gap, and many of them synced at once.
//!
//! ```text
//! writer's lock ──restamp, seal, write to the log──▶ seen by readers ──lock released──▶ wait: synced
//! ```
//!
//! A commit is written while its transaction holds the writer's lock, and synced after the lock is
//! released: writers that come meanwhile wait for one sync together. The log keeps their order, so
//! what a later commit builds on is never less durable than the commit itself.
//!
//! When a write or a sync fails, nobody knows what the disk holds. From then on the store writes
//! nothing more: a second attempt might be told that all is well when it is not.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::catalog::Catalog;
use crate::changes::Changes;
use crate::engine::Engine;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Interval, Time};
use crate::kept::KeptReads;
use crate::log_scan::{self, Commit};
use crate::overlay::Overlay;
use crate::stamp::restamp;
use crate::view::View;

/// How long a commit waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Until the log is on the disk: survives a crash of the machine.
    #[default]
    Sync,
    /// Until the system has the log: survives a crash of the process, and may lose the last
    /// commits when the machine stops.
    Buffered,
}

/// The key of the counters in `meta`.
pub(crate) const COUNTERS_KEY: &[u8] = b"counters";
/// The key of the commit record in `meta`; the last change of every batch.
pub(crate) const COMMIT_KEY: &[u8] = b"commit";

/// Numbers that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counters {
    pub(crate) next_node: u64,
    pub(crate) next_fact: u64,
    /// The system time of the last commit.
    pub(crate) clock: Time,
}

impl Counters {
    pub(crate) fn put(&self, overlay: &mut Overlay) {
        overlay.put(Family::Meta, COUNTERS_KEY, self.encode());
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        [self.next_node.to_be_bytes(), self.next_fact.to_be_bytes(), self.clock.to_be_bytes()]
            .concat()
    }

    pub(crate) fn read(view: View<'_>) -> Result<Self> {
        let Some(bytes) = view.get(Family::Meta, COUNTERS_KEY)? else {
            return Ok(Self::default());
        };
        match bytes.as_chunks() {
            ([node, fact, clock], []) => Ok(Self {
                next_node: u64::from_be_bytes(*node),
                next_fact: u64::from_be_bytes(*fact),
                clock: Time::from_be_bytes(*clock),
            }),
            _ => Err(StorageError::corrupt(Family::Meta.name(), COUNTERS_KEY, "no counters")),
        }
    }
}

/// The last commit of a state; none in a database of format 1 and in one that is being made.
pub(crate) fn read_commit(view: View<'_>) -> Result<Option<Commit>> {
    let Some(bytes) = view.get(Family::Meta, COMMIT_KEY)? else { return Ok(None) };
    let damaged = || StorageError::corrupt(Family::Meta.name(), COMMIT_KEY, "no commit record");
    Commit::decode(&bytes).map(Some).ok_or_else(damaged)
}

/// What a writer needs, after the writer's lock.
pub(crate) struct Writer {
    pub(crate) counters: Counters,
    last: Commit,
}

/// The writer's lock while it is held.
pub(crate) struct Writing<'c> {
    writer: MutexGuard<'c, Writer>,
    holder: &'c AtomicUsize,
}

impl Writing<'_> {
    /// Says that it is this thread's: it may have come from another one.
    pub(crate) fn is_here(&self) {
        self.holder.store(this_thread(), Ordering::Release);
    }
}

impl Deref for Writing<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for Writing<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.holder.store(NOBODY, Ordering::Release);
    }
}

/// What stands for no thread.
const NOBODY: usize = 0;

/// The number of this thread, which no other one has.
fn this_thread() -> usize {
    static COUNT: AtomicUsize = AtomicUsize::new(NOBODY);
    thread_local!(static NUMBER: usize = COUNT.fetch_add(1, Ordering::Relaxed) + 1);
    NUMBER.with(|number| *number)
}

/// What readers and the writer agree on.
struct Published {
    catalog: Arc<Catalog>,
    /// The latest instant that was given to a commit or told to a reader.
    clock: Time,
    /// The instant of a commit that is being written; no reader is told it, or a later one.
    committing: Option<Time>,
}

/// How far the log has come; both count commits.
struct Log {
    written: u64,
    synced: u64,
    syncing: bool,
}

/// The commits of an open store.
pub(crate) struct Commits {
    writer: Mutex<Writer>,
    /// The thread that holds the writer's lock, and used it last.
    holder: AtomicUsize,
    published: Mutex<Published>,
    log: Mutex<Log>,
    synced: Condvar,
    poisoned: AtomicBool,
    /// How many commits have taken nodes away since the database was opened.
    losses: AtomicU64,
    /// Shared with whoever follows them.
    changes: Arc<Changes>,
    kept: KeptReads,
}

/// How long the writer's lock is waited for until it is asked whether to wait on.
const ASKED_EACH: Duration = Duration::from_millis(20);
/// The same of who has waited for long.
const ASKED_AT_LEAST: Duration = Duration::from_millis(500);

impl Commits {
    /// Goes on after the last commit, which is on the disk.
    pub(crate) fn new(
        counters: Counters,
        last: Commit,
        catalog: Catalog,
        kept_bytes: usize,
    ) -> Self {
        let commits = last.number.saturating_add(1);
        Self {
            writer: Mutex::new(Writer { counters, last }),
            holder: AtomicUsize::new(NOBODY),
            published: Mutex::new(Published {
                catalog: Arc::new(catalog),
                clock: counters.clock,
                committing: None,
            }),
            log: Mutex::new(Log { written: commits, synced: commits, syncing: false }),
            synced: Condvar::new(),
            poisoned: AtomicBool::new(false),
            losses: AtomicU64::new(0),
            changes: Arc::new(Changes::new(counters.clock)),
            kept: KeptReads::new(kept_bytes, counters.clock),
        }
    }

    /// What was read of them lately.
    pub(crate) fn kept(&self) -> &KeptReads {
        &self.kept
    }

    /// What they changed.
    pub(crate) fn changes(&self) -> &Arc<Changes> {
        &self.changes
    }

    /// How many commits have taken nodes away, because they are forgotten or are one with others: where that stays
    /// the same, every node that was there is.
    pub(crate) fn losses(&self) -> u64 {
        self.losses.load(Ordering::Acquire)
    }

    /// Whether this thread holds the writer's lock.
    pub(crate) fn is_own(&self) -> bool {
        self.holder.load(Ordering::Acquire) == this_thread()
    }

    /// The writer's lock, once nobody else holds it.
    ///
    /// # Errors
    ///
    /// [`StorageError::OwnTransaction`] if this thread holds it, which would wait for itself.
    pub(crate) fn writer(&self) -> Result<Writing<'_>> {
        self.own_writer(|| Some(self.writer.lock()))
    }

    /// The same, unless `goes_on` says no meanwhile: then [`StorageError::Stopped`].
    pub(crate) fn writer_while(&self, goes_on: &dyn Fn() -> bool) -> Result<Writing<'_>> {
        self.own_writer(|| {
            // Who asks loses its place among those that wait, so it asks the more seldom the longer it waits.
            let begun = Instant::now();
            loop {
                let part = (begun.elapsed() / 4).clamp(ASKED_EACH, ASKED_AT_LEAST);
                match self.writer.try_lock_for(part) {
                    None if goes_on() => {}
                    writer => return writer,
                }
            }
        })
    }

    /// The writer's lock as `lock` waits for it; [`StorageError::Stopped`] if it gives up.
    fn own_writer<'c>(
        &'c self,
        lock: impl FnOnce() -> Option<MutexGuard<'c, Writer>>,
    ) -> Result<Writing<'c>> {
        if self.is_own() {
            return Err(StorageError::OwnTransaction);
        }
        let writer = lock().ok_or(StorageError::Stopped)?;
        self.holder.store(this_thread(), Ordering::Release);
        let writing = Writing { writer, holder: &self.holder };
        match self.poisoned.load(Ordering::Acquire) {
            true => Err(StorageError::Poisoned),
            false => Ok(writing),
        }
    }

    /// The catalogue, and an instant after every commit and every instant that a reader was told.
    pub(crate) fn begin(&self, wall: Time) -> Result<(Arc<Catalog>, Time)> {
        let published = self.published.lock();
        Ok((Arc::clone(&published.catalog), after(published.clock, wall)?))
    }

    /// A state for a reader: what `take` takes, the catalogue, and its instant.
    ///
    /// Invariant: a commit that the state does not hold has a later instant than the state.
    pub(crate) fn observe<T>(
        &self,
        wall: Time,
        take: impl FnOnce() -> T,
    ) -> (T, Arc<Catalog>, Time) {
        let mut published = self.published.lock();
        let now = match published.committing {
            Some(commit) => wall.max(published.clock).min(commit - 1),
            None => wall.max(published.clock),
        };
        published.clock = published.clock.max(now);
        (take(), Arc::clone(&published.catalog), now)
    }

    /// Writes the changes that are marked with `mark`, so that readers see them. Gives the number of
    /// the commit.
    pub(crate) fn publish(
        &self,
        engine: &Engine,
        writer: &mut Writer,
        overlay: &mut Overlay,
        pending: Pending,
        wall: Time,
    ) -> Result<u64> {
        // Names are told before the write that uses them, so that no reader meets one unknown.
        let (before, commit) = {
            let mut published = self.published.lock();
            let commit = after(published.clock, wall)?;
            published.committing = Some(commit);
            let mut catalog = pending.catalog;
            if catalog.has_mark(pending.mark) {
                Arc::make_mut(&mut catalog).restamp(pending.mark, commit);
            }
            (std::mem::replace(&mut published.catalog, catalog), commit)
        };
        let counters = Counters { clock: commit, ..pending.counters };
        let written = restamp(overlay, pending.mark, commit).and_then(|()| {
            counters.put(overlay);
            self.changes.record(commit, overlay)?;
            self.kept.commit(commit, overlay);
            self.write(engine, writer, overlay)
        });
        let mut nodes = overlay.range(Family::Nodes, &[], None);
        let takes_nodes = nodes.any(|(_, record)| record.is_none());
        let mut published = self.published.lock();
        published.committing = None;
        match written {
            Ok(number) => {
                self.losses.fetch_add(u64::from(takes_nodes), Ordering::AcqRel);
                published.clock = commit;
                writer.counters = counters;
                Ok(number)
            }
            Err(error) => {
                published.catalog = before;
                Err(error)
            }
        }
    }

    /// Fixes the instant of a load; until [`Self::show_load`] no reader is told it, or a later one.
    pub(crate) fn begin_load(&self, wall: Time) -> Result<Time> {
        let mut published = self.published.lock();
        let commit = after(published.clock, wall)?;
        published.committing = Some(commit);
        Ok(commit)
    }

    /// Shows a load to readers: nobody can begin to read until all of it is taken in, since half of it
    /// is no state.
    pub(crate) fn show_load(
        &self,
        commit: Time,
        take_in: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut published = self.published.lock();
        // What was read before is kept no longer, nor what those still read who began before.
        self.kept.clear(commit);
        // Nobody may build on half of it before the next opening finishes it, and nobody is told its instant.
        take_in().inspect_err(|_| self.poison())?;
        published.clock = commit;
        published.committing = None;
        Ok(())
    }

    /// Gives a load up that was not committed.
    pub(crate) fn drop_load(&self) {
        self.published.lock().committing = None;
    }

    /// Writes one batch, sealed as the next commit. Gives its number.
    pub(crate) fn write(
        &self,
        engine: &Engine,
        writer: &mut Writer,
        overlay: &Overlay,
    ) -> Result<u64> {
        let number = writer.last.number.checked_add(1).ok_or(StorageError::Exhausted("commit"))?;
        let synced = self.log.lock().synced;
        let mut next = writer.last;
        let written = engine.write(overlay, |changes| {
            next = Commit { number, synced, chain: log_scan::chain(writer.last.chain, changes) };
            (Family::Meta, COMMIT_KEY, next.encode().to_vec())
        });
        // Of a folder that was moved it is known that nothing was written.
        written.inspect_err(|error| match error {
            StorageError::Moved { .. } => {}
            _ => self.poison(),
        })?;
        writer.last = next;
        self.log.lock().written = number.saturating_add(1);
        Ok(number)
    }

    /// Returns once the commit of that number is on the disk.
    pub(crate) fn sync(&self, engine: &Engine, number: u64) -> Result<()> {
        let mut log = self.log.lock();
        while log.synced <= number {
            if self.poisoned.load(Ordering::Acquire) {
                return Err(StorageError::Poisoned);
            }
            if log.syncing {
                self.synced.wait(&mut log);
                continue;
            }
            log.syncing = true;
            let written = log.written;
            let result = MutexGuard::unlocked(&mut log, || engine.sync());
            log.syncing = false;
            match result {
                Ok(()) => log.synced = log.synced.max(written),
                Err(_) => self.poison(),
            }
            self.synced.notify_all();
            result?;
        }
        Ok(())
    }

    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
    }
}

/// What a transaction hands over when it commits.
pub(crate) struct Pending {
    pub(crate) counters: Counters,
    pub(crate) catalog: Arc<Catalog>,
    /// The instant that marks its changes.
    pub(crate) mark: Time,
}

/// An instant after `clock`, by the clock on the wall unless that stood still or went back.
fn after(clock: Time, wall: Time) -> Result<Time> {
    let next = clock.checked_add(1).filter(|next| *next < Interval::MAX);
    Ok(wall.max(next.ok_or(StorageError::Exhausted("system time"))?))
}

#[cfg(test)]
mod tests;
