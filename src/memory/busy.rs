//! Which sessions are being consolidated, so that no two consolidations draw the same turns.
//!
//! Who has a session never waits for another one, so nobody waits in a circle.

use std::collections::{HashMap, VecDeque};
use std::thread::ThreadId;
use std::time::Duration;

use engraph_storage::StorageError;
use parking_lot::{Condvar, Mutex};

use crate::context::limits::Patience;
use crate::error::{Error, Result};

/// How often who waits asks whether to go on.
const ASKED_EACH: Duration = Duration::from_millis(50);

/// The sessions that are taken, and by which threads.
#[derive(Default)]
pub(super) struct Busy {
    taken: Mutex<HashMap<String, ThreadId>>,
    given_back: Condvar,
}

/// A session that one consolidation has until this goes.
pub(super) struct Taken<'b> {
    busy: &'b Busy,
    session: String,
}

impl Busy {
    /// Takes the first of these sessions that nobody has, out of them; once there is one. There must be some.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if this thread has a session already and would wait for another one: an extractor
    /// that consolidates. [`Error::Interrupted`]; no time is too long, for whoever has them may ask a slow model.
    pub(super) fn take(
        &self,
        sessions: &mut VecDeque<&str>,
        patience: Patience<'_>,
    ) -> Result<Taken<'_>> {
        let mut taken = self.taken.lock();
        loop {
            if let Some(first) = self.first(&mut taken, sessions) {
                return Ok(first);
            }
            let own = std::thread::current().id();
            // Whoever has what it wants may want what it has.
            if taken.values().any(|thread| *thread == own) {
                let message =
                    "this thread is consolidating already, and would wait for the end of that";
                return Err(StorageError::Invalid(message.to_owned()).into());
            }
            self.given_back.wait_for(&mut taken, ASKED_EACH);
            if patience.is_interrupted() {
                return Err(Error::Interrupted);
            }
        }
    }

    /// The same without waiting; none if others have all of them.
    pub(super) fn try_take(&self, sessions: &mut VecDeque<&str>) -> Option<Taken<'_>> {
        self.first(&mut self.taken.lock(), sessions)
    }

    fn first(
        &self,
        taken: &mut HashMap<String, ThreadId>,
        sessions: &mut VecDeque<&str>,
    ) -> Option<Taken<'_>> {
        let free = sessions.iter().position(|session| !taken.contains_key(*session))?;
        let session = sessions.remove(free)?.to_owned();
        taken.insert(session.clone(), std::thread::current().id());
        Some(Taken { busy: self, session })
    }
}

impl Taken<'_> {
    pub(super) fn session(&self) -> &str {
        &self.session
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.busy.taken.lock().remove(&self.session);
        self.busy.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_free_comes_first_and_the_others_once_they_are() {
        let busy = Busy::default();
        let mut sessions = VecDeque::from(["a", "b", "c"]);
        let a = busy.take(&mut sessions, Patience::ENDLESS).unwrap();
        assert_eq!((a.session(), &sessions), ("a", &VecDeque::from(["b", "c"])));
        let mut others = VecDeque::from(["a", "b"]);
        let b = busy.take(&mut others, Patience::ENDLESS).unwrap();
        assert_eq!((b.session(), &others), ("b", &VecDeque::from(["a"])));
        assert!(busy.try_take(&mut others).is_none());
        // This thread has it.
        assert!(busy.take(&mut others, Patience::ENDLESS).is_err());
        std::thread::scope(|scope| {
            let waits = scope
                .spawn(|| busy.take(&mut others, Patience::ENDLESS).unwrap().session().to_owned());
            drop(a);
            assert_eq!(waits.join().unwrap(), "a");
        });
        assert!(others.is_empty());
    }

    /// Two that want the same sessions in other orders both get all of them.
    #[test]
    fn nobody_waits_in_a_circle() {
        let busy = Busy::default();
        std::thread::scope(|scope| {
            for order in [["a", "b"], ["b", "a"]] {
                let busy = &busy;
                scope.spawn(move || {
                    for _ in 0..200 {
                        let mut sessions = VecDeque::from(order);
                        while !sessions.is_empty() {
                            let first = busy.take(&mut sessions, Patience::ENDLESS).unwrap();
                            drop((busy.try_take(&mut sessions), first));
                        }
                    }
                });
            }
        });
    }
}
