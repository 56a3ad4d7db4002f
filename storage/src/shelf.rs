//! Things by numbers that are given one after the other, such as those of nodes, in a bounded room.
//!
//! While all that is asked for fits, each number has a place of its own on a page: a look-up hashes
//! nothing and takes no lock of its own, so the memory can be asked for many at once. Once it does not
//! fit, what is here is a cache like any other, and what is asked for seldom goes.
//!
//! It knows nothing of commits but instants: who puts something on a shelf has seen to it that no
//! commit comes in between, and takes out what a commit changes.

use parking_lot::RwLock;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::graph::Time;

/// Places of a page.
const PAGE: usize = 256;
/// Bytes of an entry of the cache beside what it holds.
pub(crate) const ENTRY_BESIDE: usize = 96;
/// Entries of the cache are at least about so large, which says how many there may be.
pub(crate) const ENTRY_LEAST: usize = 256;

/// See the module.
pub(crate) struct Shelf<T> {
    things: RwLock<Things<T>>,
    /// What may be here.
    bytes_max: usize,
    /// What something takes beside its place.
    bytes_of: fn(&T) -> usize,
}

enum Things<T> {
    Paged(Pages<T>),
    Cached(Cache<u64, Held<T>, Weight<T>>),
}

struct Pages<T> {
    pages: Vec<Option<Page<T>>>,
    /// Bytes of all of them with what is on them.
    bytes: usize,
}

type Page<T> = Box<[Option<Held<T>>; PAGE]>;

#[derive(Clone)]
struct Held<T> {
    since: Time,
    what: T,
}

/// How much of the room something takes in the cache.
#[derive(Clone)]
struct Weight<T>(fn(&T) -> usize);

impl<T> Weighter<u64, Held<T>> for Weight<T> {
    fn weight(&self, _: &u64, held: &Held<T>) -> u64 {
        ((self.0)(&held.what) + ENTRY_BESIDE) as u64
    }
}

impl<T: Clone> Shelf<T> {
    pub(crate) fn new(bytes_max: usize, bytes_of: fn(&T) -> usize) -> Self {
        Self { things: RwLock::default(), bytes_max, bytes_of }
    }

    /// What is kept by a number, if it holds at that instant.
    pub(crate) fn get(&self, number: u64, now: Time) -> Option<T> {
        match &*self.things.read() {
            Things::Paged(pages) => pages.get(number, now).cloned(),
            Things::Cached(cache) => cached(cache, number, now),
        }
    }

    /// The same of many numbers. `touch` asks the memory for it before any of it is used.
    pub(crate) fn get_all(
        &self,
        numbers: &[u64],
        now: Time,
        touch: impl FnOnce(&[Option<&T>]),
    ) -> Vec<Option<T>> {
        let numbers = numbers.iter();
        match &*self.things.read() {
            Things::Paged(pages) => {
                let found: Vec<Option<&T>> =
                    numbers.map(|number| pages.get(*number, now)).collect();
                touch(&found);
                found.into_iter().map(Option::<&T>::cloned).collect()
            }
            Things::Cached(cache) => {
                let found: Vec<Option<T>> =
                    numbers.map(|number| cached(cache, *number, now)).collect();
                touch(&found.iter().map(Option::as_ref).collect::<Vec<_>>());
                found
            }
        }
    }

    /// Keeps something by a number, instead of what was kept there.
    pub(crate) fn put(&self, number: u64, since: Time, what: T) {
        let held = Held { since, what };
        if let Things::Cached(cache) = &*self.things.read() {
            return cache.insert(number, held);
        }
        let mut things = self.things.write();
        match &mut *things {
            Things::Paged(pages) if self.has_page(number) => {
                pages.put(number, held, self.bytes_of);
                if pages.bytes > self.bytes_max {
                    let cache = self.cache_of(std::mem::take(pages));
                    *things = Things::Cached(cache);
                }
            }
            Things::Paged(pages) => {
                let cache = self.cache_of(std::mem::take(pages));
                cache.insert(number, held);
                *things = Things::Cached(cache);
            }
            Things::Cached(cache) => cache.insert(number, held),
        }
    }

    /// Whether there is room for the page of a number and all before it.
    fn has_page(&self, number: u64) -> bool {
        page_of(number) < self.bytes_max / Pages::<T>::PAGE_BYTES
    }

    /// A cache with what was on pages.
    fn cache_of(&self, pages: Pages<T>) -> Cache<u64, Held<T>, Weight<T>> {
        let room = self.bytes_max;
        let cache = Cache::with_weighter(room / ENTRY_LEAST, room as u64, Weight(self.bytes_of));
        let held = pages.pages.into_iter().zip(0_u64..).flat_map(|(page, at)| {
            let places = page.into_iter().flat_map(|page| *page);
            places.zip(at * PAGE as u64..).filter_map(|(held, number)| Some((number, held?)))
        });
        held.for_each(|(number, held)| cache.insert(number, held));
        cache
    }

    /// Takes out what is kept by a number.
    pub(crate) fn take(&self, number: u64) {
        match &mut *self.things.write() {
            Things::Paged(pages) => pages.take(number, self.bytes_of),
            Things::Cached(cache) => drop(cache.remove(&number)),
        }
    }

    /// Takes everything out.
    pub(crate) fn clear(&self) {
        *self.things.write() = Things::default();
    }
}

fn cached<T: Clone>(cache: &Cache<u64, Held<T>, Weight<T>>, number: u64, now: Time) -> Option<T> {
    cache.get(&number).filter(|held| held.since <= now).map(|held| held.what)
}

impl<T> Default for Things<T> {
    fn default() -> Self {
        Self::Paged(Pages::default())
    }
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), bytes: 0 }
    }
}

impl<T> Pages<T> {
    /// What a page takes in memory with nothing on it.
    const PAGE_BYTES: usize = PAGE * size_of::<Option<Held<T>>>();

    fn get(&self, number: u64, now: Time) -> Option<&T> {
        let held = self.pages.get(page_of(number))?.as_ref()?[place_of(number)].as_ref()?;
        (held.since <= now).then_some(&held.what)
    }

    fn put(&mut self, number: u64, held: Held<T>, bytes_of: fn(&T) -> usize) {
        let page = page_of(number);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| {
            self.bytes += Self::PAGE_BYTES;
            Box::new([const { None }; PAGE])
        });
        self.bytes += bytes_of(&held.what);
        let before = page[place_of(number)].replace(held);
        self.bytes -= before.map_or(0, |before| bytes_of(&before.what));
    }

    fn take(&mut self, number: u64, bytes_of: fn(&T) -> usize) {
        let page = self.pages.get_mut(page_of(number)).and_then(Option::as_mut);
        if let Some(held) = page.and_then(|page| page[place_of(number)].take()) {
            self.bytes -= bytes_of(&held.what);
        }
    }
}

fn page_of(number: u64) -> usize {
    usize::try_from(number / PAGE as u64).unwrap_or(usize::MAX)
}

fn place_of(number: u64) -> usize {
    (number % PAGE as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(bytes_max: usize) -> Shelf<String> {
        Shelf::new(bytes_max, String::len)
    }

    fn bytes(shelf: &Shelf<String>) -> usize {
        match &*shelf.things.read() {
            Things::Paged(pages) => pages.bytes,
            Things::Cached(cache) => usize::try_from(cache.weight()).unwrap(),
        }
    }

    fn is_paged(shelf: &Shelf<String>) -> bool {
        matches!(&*shelf.things.read(), Things::Paged(_))
    }

    #[test]
    fn what_was_put_holds_from_its_instant_on_until_it_is_taken() {
        // With places for all of them, and as a cache.
        for last in [100_000, u64::MAX] {
            let shelf = shelf(64 << 20);
            for number in [0, 255, 256, last] {
                shelf.put(number, 11, "another".to_owned());
                shelf.put(number, 10, format!("of {number}"));
                assert_eq!(shelf.get(number, 9), None);
                assert_eq!(shelf.get(number, 10), Some(format!("of {number}")));
            }
            assert_eq!(is_paged(&shelf), last == 100_000);
            assert_eq!(shelf.get(1, 10), None);
            for number in [255, 7, 1 << 40] {
                shelf.take(number);
            }
            assert_eq!(shelf.get(255, 10), None);
            shelf.put(255, 12, "again".to_owned());
            let mut touched = 0;
            let numbers = [255, last, 3, 0];
            let all = shelf.get_all(&numbers, 12, |found| touched = found.iter().flatten().count());
            let texts = [Some("again".to_owned()), Some(format!("of {last}")), None];
            assert_eq!(all[..3], texts);
            assert_eq!(all[3].as_deref(), Some("of 0"));
            assert_eq!(touched, 3);
            shelf.clear();
            assert!(is_paged(&shelf));
            assert_eq!(shelf.get_all(&numbers, 12, |_| ()), [const { None }; 4]);
        }
    }

    #[test]
    fn without_room_nothing_is_kept() {
        for room in [0, 1, 100] {
            let shelf = shelf(room);
            for number in [0, 7, u64::MAX] {
                shelf.put(number, 1, "x".repeat(200));
                assert_eq!(shelf.get(number, 1), None);
                shelf.take(number);
            }
        }
    }

    #[test]
    fn what_is_on_pages_is_counted() {
        let shelf = shelf(1 << 20);
        for text in ["a", "longer", "bc"] {
            shelf.put(300, 1, text.to_owned());
            assert_eq!(bytes(&shelf), Pages::<String>::PAGE_BYTES + text.len());
        }
        shelf.take(300);
        shelf.take(300);
        assert_eq!(bytes(&shelf), Pages::<String>::PAGE_BYTES);
    }

    #[test]
    fn what_does_not_fit_becomes_a_cache_that_keeps_what_is_asked_for() {
        let room = 64 * Pages::<String>::PAGE_BYTES;
        let (shelf, text) = (shelf(room), "x".repeat(1_000));
        let mut numbers = 0..;
        while is_paged(&shelf) {
            let number = numbers.next().unwrap();
            shelf.put(number, 1, text.clone());
            assert!(bytes(&shelf) <= room && shelf.get(number, 1).is_some(), "{number}");
        }
        let held = (0..numbers.start).filter(|number| shelf.get(*number, 1).is_some());
        let held: Vec<u64> = held.collect();
        assert!((room / 2_000..=room / 1_000).contains(&held.len()), "{}", held.len());
        // Once is not all the time: the cache may drop what was asked for once.
        assert!((0..8).all(|_| shelf.get(held[0], 1).is_some()));
        for number in numbers.take(10_000) {
            shelf.put(number, 1, text.clone());
            // One of those that had a place in the cache is asked for all the time.
            assert!(bytes(&shelf) <= room && shelf.get(held[0], 1).is_some(), "{number}");
        }
    }
}
