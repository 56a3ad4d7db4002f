//! Which snapshots are held, so that what was forgotten leaves the files only when nobody reads it.
//!
//! It knows nothing of the engine: it counts.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// The snapshots that are held, numbered in the order in which they were taken.
#[derive(Default)]
pub(crate) struct Snapshots {
    held: Mutex<Held>,
    ended: Condvar,
}

#[derive(Default)]
struct Held {
    next: u64,
    numbers: BTreeSet<u64>,
}

/// A snapshot is held for as long as this lives.
pub(crate) struct Pin<'s> {
    snapshots: &'s Snapshots,
    number: u64,
}

impl Snapshots {
    /// To be called before the snapshot is taken.
    pub(crate) fn pin(&self) -> Pin<'_> {
        let mut held = self.held.lock();
        let number = held.next;
        held.next += 1;
        held.numbers.insert(number);
        Pin { snapshots: self, number }
    }

    /// The number of the next snapshot.
    pub(crate) fn next(&self) -> u64 {
        self.held.lock().next
    }

    /// Waits until every snapshot with a smaller number has ended. False if one still is held when
    /// the time is over.
    pub(crate) fn wait_for(&self, number: u64, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut held = self.held.lock();
        while held.numbers.first().is_some_and(|first| *first < number) {
            if self.ended.wait_until(&mut held, deadline).timed_out() {
                return false;
            }
        }
        true
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.snapshots.held.lock().numbers.remove(&self.number);
        self.snapshots.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_older_ones_only() {
        let snapshots = Snapshots::default();
        assert!(snapshots.wait_for(snapshots.next(), Duration::ZERO));
        let old = snapshots.pin();
        let number = snapshots.next();
        assert!(!snapshots.wait_for(number, Duration::from_millis(5)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| snapshots.wait_for(number, Duration::from_secs(60)));
            std::thread::sleep(Duration::from_millis(20));
            let new = snapshots.pin();
            drop(old);
            assert!(waiting.join().expect("waits"));
            drop(new);
        });
    }
}
