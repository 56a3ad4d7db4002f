//! Things by numbers that are given one after the other, such as those of nodes, in pages.
//!
//! Nothing is hashed, locked or counted for a look-up, so that the memory can be asked for many at
//! once. What was not asked for lately goes when there is no more room.
//!
//! It knows nothing of commits but instants: who puts something on a shelf has seen to it that no
//! commit comes in between, and takes out what a commit changes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use crate::graph::Time;

/// Places of a page.
const PAGE: usize = 256;

/// See the module.
pub(crate) struct Shelf<T> {
    pages: RwLock<Arc<Pages<T>>>,
    /// Bytes of all pages with what is on them.
    bytes: AtomicUsize,
    bytes_max: usize,
    /// The page from which on room is made the next time.
    hand: AtomicUsize,
    /// What something on it takes beside its place.
    bytes_of: fn(&T) -> usize,
}

/// The pages at one moment; what is added to them is seen, what is taken out is not.
#[derive(Clone)]
pub(crate) struct Pages<T>(Vec<OnceLock<Arc<Page<T>>>>);

struct Page<T>([Place<T>; PAGE]);

struct Place<T> {
    held: OnceLock<Since<T>>,
    /// Whether it was asked for since room was made the last time.
    is_used: AtomicBool,
}

#[derive(Clone)]
struct Since<T> {
    since: Time,
    what: T,
}

impl<T: Clone> Shelf<T> {
    pub(crate) fn new(bytes_max: usize, bytes_of: fn(&T) -> usize) -> Self {
        let pages = RwLock::new(Arc::new(Pages(Vec::new())));
        let (bytes, hand) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { pages, bytes, bytes_max, hand, bytes_of }
    }

    /// For many look-ups.
    pub(crate) fn pages(&self) -> Arc<Pages<T>> {
        Arc::clone(&self.pages.read())
    }

    /// What is in a place, if it holds at that instant.
    pub(crate) fn get(&self, number: u64, now: Time) -> Option<T> {
        self.pages.read().get(number, now).cloned()
    }

    /// Puts something in a place, unless something is there.
    pub(crate) fn put(&self, number: u64, since: Time, what: T) {
        let Some((page, place)) = place_of(number) else { return };
        let bytes = (self.bytes_of)(&what);
        self.lengthen(page);
        // Held, so that the page is not taken away meanwhile.
        let pages = self.pages.read();
        let Some(page) = pages.0.get(page) else { return };
        let page = page.get_or_init(|| {
            self.bytes.fetch_add(Page::<T>::BYTES, Ordering::Relaxed);
            Arc::new(Page::default())
        });
        let place = page.0.get(place);
        if place.is_some_and(|place| place.held.set(Since { since, what }).is_ok()) {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        drop(pages);
        if self.bytes.load(Ordering::Relaxed) > self.bytes_max {
            self.make_room();
        }
    }

    /// Takes out what is in a place.
    pub(crate) fn take(&self, number: u64) {
        let Some((page, place)) = place_of(number) else { return };
        let mut pages = self.pages.write();
        if pages.place(number).is_none_or(|place| place.held.get().is_none()) {
            return;
        }
        let page = Arc::make_mut(&mut pages).0.get_mut(page).and_then(OnceLock::get_mut);
        let place = page.and_then(|page| Arc::make_mut(page).0.get_mut(place));
        if let Some(Since { what, .. }) = place.and_then(|place| place.held.take()) {
            self.bytes.fetch_sub((self.bytes_of)(&what), Ordering::Relaxed);
        }
    }

    /// Takes everything out.
    pub(crate) fn clear(&self) {
        let mut pages = self.pages.write();
        *pages = Arc::new(Pages(Vec::new()));
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Sees to it that there is a place for this page.
    fn lengthen(&self, page: usize) {
        if page < self.pages.read().0.len() {
            return;
        }
        let mut pages = self.pages.write();
        if page >= pages.0.len() {
            Arc::make_mut(&mut pages).0.resize_with((page + 1).next_power_of_two(), OnceLock::new);
        }
    }

    /// Takes out what was not asked for lately, page by page, until an eighth of the room is free.
    fn make_room(&self) {
        let enough = self.bytes_max / 8 * 7;
        let mut pages = self.pages.write();
        let pages = &mut Arc::make_mut(&mut pages).0;
        // In the second round nothing was asked for lately.
        for _ in 0..2 * pages.len() {
            if self.bytes.load(Ordering::Relaxed) <= enough {
                return;
            }
            let hand = self.hand.fetch_add(1, Ordering::Relaxed) % pages.len();
            let Some(page) = pages.get_mut(hand) else { return };
            if page.get_mut().is_some_and(|page| self.clear_unused(Arc::make_mut(page))) {
                page.take();
                self.bytes.fetch_sub(Page::<T>::BYTES, Ordering::Relaxed);
            }
        }
    }

    /// Takes out what was not asked for lately; whether nothing is left.
    fn clear_unused(&self, page: &mut Page<T>) -> bool {
        let mut is_empty = true;
        for place in &mut page.0 {
            if std::mem::take(place.is_used.get_mut()) {
                is_empty &= place.held.get().is_none();
            } else if let Some(Since { what, .. }) = place.held.take() {
                self.bytes.fetch_sub((self.bytes_of)(&what), Ordering::Relaxed);
            }
        }
        is_empty
    }
}

impl<T> Pages<T> {
    /// What is in a place, if it holds at that instant.
    pub(crate) fn get(&self, number: u64, now: Time) -> Option<&T> {
        let place = self.place(number)?;
        let held = place.held.get().filter(|held| held.since <= now)?;
        if !place.is_used.load(Ordering::Relaxed) {
            place.is_used.store(true, Ordering::Relaxed);
        }
        Some(&held.what)
    }

    fn place(&self, number: u64) -> Option<&Place<T>> {
        let (page, place) = place_of(number)?;
        self.0.get(page)?.get()?.0.get(place)
    }
}

impl<T> Page<T> {
    /// What it takes in memory with nothing on it.
    const BYTES: usize = size_of::<Self>();
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        let place = |_| Place { held: OnceLock::new(), is_used: AtomicBool::new(false) };
        Self(std::array::from_fn(place))
    }
}

impl<T: Clone> Clone for Page<T> {
    fn clone(&self) -> Self {
        let place = |place: &Place<T>| Place {
            held: place.held.clone(),
            is_used: AtomicBool::new(place.is_used.load(Ordering::Relaxed)),
        };
        Self(self.0.each_ref().map(place))
    }
}

/// The page with a number, and its place there.
fn place_of(number: u64) -> Option<(usize, usize)> {
    let number = usize::try_from(number).ok()?;
    Some((number / PAGE, number % PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(bytes_max: usize) -> Shelf<String> {
        Shelf::new(bytes_max, String::len)
    }

    #[test]
    fn what_was_put_holds_from_its_instant_on_until_it_is_taken() {
        let shelf = shelf(1 << 20);
        let before = shelf.pages();
        for number in [0, 255, 256, 100_000] {
            shelf.put(number, 10, format!("of {number}"));
            // What is there stays.
            shelf.put(number, 11, "another".to_owned());
            assert_eq!(shelf.get(number, 9), None);
            assert_eq!(shelf.get(number, 10), Some(format!("of {number}")));
        }
        assert_eq!(shelf.get(1, 10), None);
        assert_eq!(shelf.get(u64::MAX, 10), None);
        assert!(before.get(0, 10).is_none());
        let held = shelf.pages();
        let bytes = shelf.bytes.load(Ordering::Relaxed);
        shelf.take(255);
        shelf.take(7);
        shelf.take(1 << 40);
        assert_eq!(shelf.get(255, 10), None);
        assert_eq!(shelf.get(0, 10).as_deref(), Some("of 0"));
        assert_eq!(shelf.bytes.load(Ordering::Relaxed), bytes - "of 255".len());
        // Who holds the pages of before still reads what they had.
        assert_eq!(held.get(255, 10).map(String::as_str), Some("of 255"));
        shelf.put(255, 12, "again".to_owned());
        assert_eq!(shelf.get(255, 12).as_deref(), Some("again"));
        shelf.clear();
        assert_eq!(shelf.get(0, 12), None);
    }

    #[test]
    fn what_is_added_is_seen_by_who_holds_the_pages() {
        let shelf = shelf(1 << 20);
        shelf.put(3, 1, "a".to_owned());
        let held = shelf.pages();
        shelf.put(4, 1, "b".to_owned());
        assert_eq!(held.get(4, 1).map(String::as_str), Some("b"));
    }

    #[test]
    fn what_was_not_asked_for_lately_goes_first_and_the_room_is_bounded() {
        let room = 16 * Page::<String>::BYTES;
        let shelf = shelf(room);
        for number in 0..100_000 {
            shelf.put(number, 1, "a text".to_owned());
            // The first one is asked for all the time.
            assert!(shelf.get(0, 1).is_some(), "{number}");
            assert!(shelf.bytes.load(Ordering::Relaxed) <= room);
        }
        let held = (0..100_000).filter(|number| shelf.get(*number, 1).is_some()).count();
        assert!((10 * PAGE..16 * PAGE).contains(&held), "{held}");
    }

    #[test]
    fn many_threads_find_what_one_of_them_has_put() {
        let shelf = shelf(1 << 18);
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let shelf = &shelf;
                scope.spawn(move || {
                    for round in 0..2_000_u64 {
                        let number = (round * 7 + thread) % 5_000;
                        shelf.put(number, 1, number.to_string());
                        if round % 3 == thread % 3 {
                            shelf.take(number);
                        }
                        let found = shelf.get(number, 1);
                        assert!(found.is_none_or(|text| text == number.to_string()));
                    }
                });
            }
        });
        for number in 0..5_000 {
            shelf.take(number);
        }
        let pages = shelf.pages().0.iter().filter(|page| page.get().is_some()).count();
        assert_eq!(shelf.bytes.load(Ordering::Relaxed), pages * Page::<String>::BYTES);
    }
}
