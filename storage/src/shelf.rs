//! Things by numbers that are given one after the other, such as those of nodes, in pages.
//!
//! A look-up there hashes nothing and takes no lock of its own, so the memory can be asked for many at
//! once. What was not asked for lately goes when there is no more room. Only so many numbers have a
//! place that places take a small part of the room; what is of later numbers is kept by a hash.
//!
//! It knows nothing of commits but instants: who puts something on a shelf has seen to it that no
//! commit comes in between, and takes out what a commit changes.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::graph::Time;

/// Places of a page.
const PAGE: usize = 256;
/// All places together take one part of so many of the room.
const PLACES_SHARE: usize = 4;
/// What has no place has one part of so many of the room.
const REST_SHARE: usize = 8;
/// Bytes of an entry that has no place, beside what it holds; and the least of all of it, which says
/// how many there may be.
const ENTRY_BYTES: (usize, usize) = (96, 256);

/// See the module.
pub(crate) struct Shelf<T> {
    pages: RwLock<Pages<T>>,
    /// What may be on the pages, with them.
    bytes_max: usize,
    /// What something takes beside its place.
    bytes_of: fn(&T) -> usize,
    rest: Cache<u64, Since<T>, Weight<T>>,
}

struct Pages<T> {
    pages: Vec<Option<Box<[Place<T>]>>>,
    /// Bytes of all of them with what is on them.
    bytes: usize,
    /// The page from which on room is made the next time.
    hand: usize,
}

struct Place<T> {
    held: Option<Since<T>>,
    /// Whether it was asked for since room was made the last time.
    is_used: AtomicBool,
}

#[derive(Clone)]
struct Since<T> {
    since: Time,
    what: T,
}

/// How much of the room something takes that has no place.
#[derive(Clone)]
struct Weight<T>(fn(&T) -> usize);

impl<T> Weighter<u64, Since<T>> for Weight<T> {
    fn weight(&self, _: &u64, held: &Since<T>) -> u64 {
        ((self.0)(&held.what) + ENTRY_BYTES.0) as u64
    }
}

impl<T: Clone> Shelf<T> {
    pub(crate) fn new(room: usize, bytes_of: fn(&T) -> usize) -> Self {
        let own = room / REST_SHARE;
        let rest = Cache::with_weighter(own / ENTRY_BYTES.1, own as u64, Weight(bytes_of));
        Self { pages: RwLock::default(), bytes_max: room - own, bytes_of, rest }
    }

    /// Whether a number has a place.
    fn has(&self, number: u64) -> bool {
        number < (self.bytes_max / PLACES_SHARE / size_of::<Place<T>>()) as u64
    }

    /// What is kept by a number, if it holds at that instant.
    pub(crate) fn get(&self, number: u64, now: Time) -> Option<T> {
        match self.has(number) {
            true => self.pages.read().get(number, now).cloned(),
            false => self.rest(number, now),
        }
    }

    fn rest(&self, number: u64, now: Time) -> Option<T> {
        self.rest.get(&number).filter(|held| held.since <= now).map(|held| held.what)
    }

    /// The same of many numbers. `touch` asks the memory for what stands in places before any of it is
    /// used.
    pub(crate) fn get_all(
        &self,
        numbers: &[u64],
        now: Time,
        touch: impl FnOnce(&[Option<&T>]),
    ) -> Vec<Option<T>> {
        let pages = self.pages.read();
        let found: Vec<Option<&T>> = numbers.iter().map(|number| pages.get(*number, now)).collect();
        touch(&found);
        let own = |(found, number): (Option<&T>, &u64)| match self.has(*number) {
            true => found.cloned(),
            false => self.rest(*number, now),
        };
        found.into_iter().zip(numbers).map(own).collect()
    }

    /// Keeps something by a number, instead of what was kept there.
    pub(crate) fn put(&self, number: u64, since: Time, what: T) {
        if !self.has(number) {
            return self.rest.insert(number, Since { since, what });
        }
        let (page, place) = place_of(number);
        let mut pages = self.pages.write();
        if page >= pages.pages.len() {
            pages.pages.resize_with((page + 1).next_power_of_two(), || None);
        }
        let Pages { pages: all, bytes, .. } = &mut *pages;
        let Some(page) = all.get_mut(page) else { return };
        let page = page.get_or_insert_with(|| {
            *bytes += Place::<T>::PAGE_BYTES;
            std::iter::repeat_with(Place::default).take(PAGE).collect()
        });
        if let Some(place) = page.get_mut(place) {
            *bytes += (self.bytes_of)(&what);
            let before = place.held.replace(Since { since, what });
            *bytes -= before.map_or(0, |before| (self.bytes_of)(&before.what));
        }
        if pages.bytes > self.bytes_max {
            self.make_room(&mut pages);
        }
    }

    /// Takes out what is kept by a number.
    pub(crate) fn take(&self, number: u64) {
        if !self.has(number) {
            self.rest.remove(&number);
            return;
        }
        let (page, place) = place_of(number);
        let mut pages = self.pages.write();
        let page = pages.pages.get_mut(page).and_then(Option::as_mut);
        if let Some(Since { what, .. }) =
            page.and_then(|page| page.get_mut(place)).and_then(|place| place.held.take())
        {
            pages.bytes -= (self.bytes_of)(&what);
        }
    }

    /// Takes everything out.
    pub(crate) fn clear(&self) {
        *self.pages.write() = Pages::default();
        self.rest.clear();
    }

    /// Takes out what was not asked for lately, page by page, until an eighth of the room is free.
    fn make_room(&self, pages: &mut Pages<T>) {
        let enough = self.bytes_max / 8 * 7;
        // In the second round nothing was asked for lately.
        for _ in 0..2 * pages.pages.len() {
            if pages.bytes <= enough {
                return;
            }
            pages.hand = (pages.hand + 1) % pages.pages.len();
            let Some(slot) = pages.pages.get_mut(pages.hand) else { return };
            let Some(page) = slot else { continue };
            let mut is_empty = true;
            for place in page {
                if std::mem::take(place.is_used.get_mut()) {
                    is_empty &= place.held.is_none();
                } else if let Some(Since { what, .. }) = place.held.take() {
                    pages.bytes -= (self.bytes_of)(&what);
                }
            }
            if is_empty {
                *slot = None;
                pages.bytes -= Place::<T>::PAGE_BYTES;
            }
        }
    }
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), bytes: 0, hand: 0 }
    }
}

impl<T> Pages<T> {
    fn get(&self, number: u64, now: Time) -> Option<&T> {
        let (page, place) = place_of(number);
        let place = self.pages.get(page)?.as_ref()?.get(place)?;
        let held = place.held.as_ref().filter(|held| held.since <= now)?;
        if !place.is_used.load(Ordering::Relaxed) {
            place.is_used.store(true, Ordering::Relaxed);
        }
        Some(&held.what)
    }
}

impl<T> Place<T> {
    /// What a page takes in memory with nothing on it.
    const PAGE_BYTES: usize = PAGE * size_of::<Self>();
}

impl<T> Default for Place<T> {
    fn default() -> Self {
        Self { held: None, is_used: AtomicBool::new(false) }
    }
}

/// The page with a number, and its place there.
fn place_of(number: u64) -> (usize, usize) {
    let page = usize::try_from(number / PAGE as u64).unwrap_or(usize::MAX);
    (page, (number % PAGE as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(bytes_max: usize) -> Shelf<String> {
        Shelf::new(bytes_max, String::len)
    }

    #[test]
    fn what_was_put_holds_from_its_instant_on_until_it_is_taken() {
        let shelf = shelf(64 << 20);
        for number in [0, 255, 256, 100_000, u64::MAX] {
            shelf.put(number, 11, "another".to_owned());
            shelf.put(number, 10, format!("of {number}"));
            assert_eq!(shelf.get(number, 9), None);
            assert_eq!(shelf.get(number, 10), Some(format!("of {number}")));
        }
        assert_eq!(shelf.get(1, 10), None);
        let bytes = shelf.pages.read().bytes;
        for number in [255, 7, 1 << 40] {
            shelf.take(number);
        }
        assert_eq!(shelf.pages.read().bytes, bytes - "of 255".len());
        assert_eq!(shelf.get(255, 10), None);
        shelf.put(255, 12, "again".to_owned());
        let mut touched = 0;
        let numbers = [255, u64::MAX, 3, 0];
        let all = shelf.get_all(&numbers, 12, |found| touched = found.iter().flatten().count());
        let last = format!("of {}", u64::MAX);
        assert_eq!(
            all,
            [Some("again"), Some(&last), None, Some("of 0")].map(|text| text.map(str::to_owned))
        );
        assert_eq!(touched, 2);
        shelf.take(u64::MAX);
        assert_eq!(shelf.get(u64::MAX, 12), None);
        shelf.put(u64::MAX, 12, "again".to_owned());
        shelf.clear();
        assert_eq!(shelf.get_all(&numbers, 12, |_| ()), [const { None }; 4]);
    }

    #[test]
    fn places_take_a_part_of_the_room_and_no_more() {
        let shelf = shelf(1 << 20);
        let last = (0..1 << 20).rfind(|number| shelf.has(*number)).unwrap();
        assert!(last < (1 << 18) / size_of::<Place<String>>() as u64);
        for number in [last, last + 1, u64::MAX] {
            shelf.put(number, 1, "a".to_owned());
            assert!(shelf.get(number, 1).is_some());
        }
        assert_eq!(shelf.pages.read().bytes, Place::<String>::PAGE_BYTES + 1);
    }

    #[test]
    fn what_was_not_asked_for_lately_goes_first_and_the_room_is_bounded() {
        let room = 64 * Place::<String>::PAGE_BYTES;
        let (shelf, text) = (shelf(room), "x".repeat(1_000));
        for round in 0..4 {
            for number in 0..16 * PAGE as u64 {
                shelf.put(number, 1, text.clone());
                // The first one is asked for all the time.
                assert!(shelf.get(0, 1).is_some(), "{round} {number}");
                assert!(shelf.pages.read().bytes <= room);
            }
        }
        let held = (0..16 * PAGE as u64).filter(|number| shelf.get(*number, 1).is_some()).count();
        assert!((room / 3_000..room / 1_000).contains(&held), "{held}");
    }
}
