//! Work that several threads share; where the system gives no thread, those that run do its part.
//!
//! It knows nothing of what is done. A panic of another thread goes on in this one.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// How often somebody who waits is asked whether to go on.
const ASKED_EACH: Duration = Duration::from_millis(20);

/// How many threads the machine runs at once. It reads what the system allows from files, which takes
/// longer than a small piece of work.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// What a mutex guards, once nobody else has it. An error of `goes_on`, which is asked meanwhile, ends the wait.
pub(crate) fn locked<'m, T, E>(
    mutex: &'m Mutex<T>,
    goes_on: impl Fn() -> Result<(), E>,
) -> Result<MutexGuard<'m, T>, E> {
    loop {
        match mutex.try_lock_for(ASKED_EACH) {
            Some(held) => return Ok(held),
            None => goes_on()?,
        }
    }
}

/// Does `work` on so many threads, of which this is one: each until it finds nothing left. Gives what
/// each has made, first this one.
pub(crate) fn together<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let begin = |_| thread::Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..threads).filter_map(begin).collect();
        let mut made = vec![work()];
        made.extend(
            others.into_iter().map(|one| one.join().unwrap_or_else(|why| resume_unwind(why))),
        );
        made
    })
}

/// Makes items on another thread, a few ahead of this one, which takes them in order until it fails.
pub(crate) fn ahead<T: Send, E: Send>(
    most: usize,
    items: impl Iterator<Item = Result<T, E>> + Send,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, receiver) = crossbeam::channel::bounded(most);
    let items = Mutex::new(Some(items));
    thread::scope(|scope| {
        let make = || {
            // Taken in, so that whoever takes hears the end; and it hangs up when it fails.
            let sender = sender;
            for item in items.lock().take().into_iter().flatten() {
                let failed = item.is_err();
                if sender.send(item).is_err() || failed {
                    return;
                }
            }
        };
        match thread::Builder::new().spawn_scoped(scope, make) {
            Ok(_) => {
                // Taken in, so that it is dropped after an error: else the other thread would wait for ever.
                let receiver = receiver;
                receiver.into_iter().try_for_each(|item| take(item?))
            }
            Err(_) => {
                let items = items.lock().take();
                items.into_iter().flatten().try_for_each(|item| take(item?))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn who_waits_is_asked_whether_to_go_on() {
        let mutex = Mutex::new(1);
        let held = mutex.lock();
        let asked = AtomicUsize::new(0);
        let twice = || match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err("it is up"),
        };
        assert_eq!(locked(&mutex, twice).err(), Some("it is up"));
        drop(held);
        assert_eq!(locked(&mutex, || Err("asked")).map(|held| *held), Ok(1));
    }

    #[test]
    fn each_piece_is_done_once() {
        for threads in [0, 1, 4] {
            let next = AtomicUsize::new(0);
            let work = || {
                let piece = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < 100);
                std::iter::from_fn(piece).collect::<Vec<_>>()
            };
            let mut done = together(threads, work).concat();
            done.sort_unstable();
            assert_eq!(done, Vec::from_iter(0..100));
        }
    }

    #[test]
    fn items_come_in_order_until_one_fails_or_is_not_taken() {
        let taken = |stop: usize, fails: usize| {
            let mut taken = Vec::new();
            let items = (0..1_000).map(|at| if at == fails { Err("made") } else { Ok(at) });
            let end = ahead(2, items, |at| {
                taken.push(at);
                if at == stop { Err("taken") } else { Ok(()) }
            });
            (taken.len(), end)
        };
        assert_eq!(taken(2_000, 2_000), (1_000, Ok(())));
        assert_eq!(taken(2_000, 10), (10, Err("made")));
        assert_eq!(taken(10, 2_000), (11, Err("taken")));
    }

    #[test]
    #[should_panic(expected = "of another thread")]
    fn a_panic_goes_on_here() {
        let here = thread::current().id();
        together(2, || assert!(thread::current().id() == here, "of another thread"));
    }
}
