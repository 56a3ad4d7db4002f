//! What a model made of a text, kept by the text within a bound of bytes.
//!
//! There are two generations: what is asked for moves to the young one, and when that holds half of
//! the bound the old one is dropped and the young one grows old. So what is used stays, what was
//! not used for a while goes, and nothing has to be counted or sorted.

use std::collections::HashMap;
use std::sync::Arc;

use crate::neural::TokenVectors;

/// What an entry takes beside its text and its numbers, in bytes: about what the table needs.
const ENTRY_BYTES: usize = 96;

/// Something that can be kept.
pub(super) trait Kept: Clone {
    /// What it takes, in bytes.
    fn bytes(&self) -> usize;
}

impl Kept for Arc<[f32]> {
    fn bytes(&self) -> usize {
        size_of_val::<[f32]>(self)
    }
}

impl Kept for Arc<TokenVectors> {
    fn bytes(&self) -> usize {
        size_of_val::<[f32]>(&self.values)
    }
}

/// Values by text.
pub(super) struct Cache<V> {
    bytes_max: usize,
    young: HashMap<Box<str>, V>,
    young_bytes: usize,
    old: HashMap<Box<str>, V>,
    /// How often everything was dropped.
    clears: u64,
}

impl<V: Kept> Cache<V> {
    /// Holds at most so many bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        let (young, old) = (HashMap::new(), HashMap::new());
        Self { bytes_max, young, young_bytes: 0, old, clears: 0 }
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        *self = Self { clears: self.clears + 1, ..Self::new(self.bytes_max) };
    }

    /// How often everything was dropped.
    pub(super) fn clears(&self) -> u64 {
        self.clears
    }

    /// What is kept of a text, and how often everything was dropped.
    pub(super) fn look(&mut self, text: &str) -> (Option<V>, u64) {
        (self.get(text), self.clears)
    }

    /// Keeps a value that was looked for when everything had been dropped so often. If it was since, the text may be
    /// of what was forgotten, and is not kept.
    pub(super) fn insert_since(&mut self, clears: u64, text: &str, value: V) {
        if self.clears == clears {
            self.insert(text, value);
        }
    }

    pub(super) fn get(&mut self, text: &str) -> Option<V> {
        if let Some(value) = self.young.get(text) {
            return Some(value.clone());
        }
        let (text, value) = self.old.remove_entry(text)?;
        self.put(text, value.clone());
        Some(value)
    }

    /// Keeps a value, unless it alone would fill a generation.
    fn insert(&mut self, text: &str, value: V) {
        self.old.remove(text);
        self.put(text.into(), value);
    }

    fn put(&mut self, text: Box<str>, value: V) {
        let bytes = text.len() + value.bytes() + ENTRY_BYTES;
        let generation_max = self.bytes_max / 2;
        if bytes > generation_max {
            return;
        }
        if self.young_bytes + bytes > generation_max {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(text, value).is_none() {
            self.young_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(numbers: usize) -> Arc<[f32]> {
        vec![0.5; numbers].into()
    }

    /// A cache whose generations hold ten entries of one letter and 75 numbers.
    fn cache() -> Cache<Arc<[f32]>> {
        Cache::new(20 * (1 + 300 + ENTRY_BYTES))
    }

    fn letters(from: char, to: char) -> Vec<String> {
        (from..=to).map(String::from).collect()
    }

    #[test]
    fn what_is_used_stays_and_what_is_not_goes() {
        let mut cache = cache();
        for letter in letters('a', 'z') {
            cache.insert(&letter, value(75));
            assert_eq!(cache.get("a"), Some(value(75)), "{letter}");
        }
        assert_eq!(cache.get("b"), None);
        assert_eq!(cache.get("z"), Some(value(75)));
    }

    #[test]
    fn the_bound_holds() {
        let mut cache = cache();
        for round in 0..100 {
            for letter in letters('a', 'z') {
                cache.insert(&letter, value(75 - round % 3));
                cache.get("k");
            }
            let held = cache.young.iter().chain(&cache.old);
            let bytes: usize = held.map(|(key, v)| key.len() + v.bytes() + ENTRY_BYTES).sum();
            assert!(bytes <= cache.bytes_max, "{bytes}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_drops_nothing() {
        let mut cache = cache();
        cache.insert("a", value(75));
        cache.insert("b", value(100_000));
        assert_eq!((cache.get("b"), cache.get("a")), (None, Some(value(75))));
    }

    #[test]
    fn what_was_looked_for_before_everything_was_dropped_is_not_kept() {
        let mut cache = cache();
        let before = cache.clears();
        cache.insert_since(before, "a", value(75));
        cache.clear();
        cache.insert_since(before, "b", value(75));
        cache.insert_since(cache.clears(), "c", value(75));
        let held = ["a", "b", "c"].map(|text| cache.get(text).is_some());
        assert_eq!(held, [false, false, true]);
    }
}
