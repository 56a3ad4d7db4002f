//! What a running statement holds in memory, by who holds it. It is a count and no memory itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that one holder has of all that a statement holds: they are given back when the holder goes.
#[derive(Debug, Default)]
pub(crate) struct Held {
    bytes: usize,
    /// Those of all holders; none as long as this one has nothing.
    all: Option<Arc<AtomicUsize>>,
}

impl Held {
    /// How many they are.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Has so many of `all` from here on; gives how many these are then.
    pub(super) fn set(&mut self, bytes: usize, all: &Arc<AtomicUsize>) -> usize {
        let others = all.load(Ordering::Relaxed).saturating_sub(self.bytes);
        let sum = others.saturating_add(bytes);
        all.store(sum, Ordering::Relaxed);
        self.bytes = bytes;
        self.all.get_or_insert_with(|| Arc::clone(all));
        sum
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(all) = self.all.take() {
            self.set(0, &all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_holder_has_goes_with_it() {
        let all = Arc::new(AtomicUsize::new(0));
        let mut one = Held::default();
        assert_eq!(one.set(10, &all), 10);
        {
            let mut other = Held::default();
            assert_eq!((other.set(5, &all), other.set(7, &all)), (15, 17));
        }
        assert_eq!((one.set(10, &all), one.bytes()), (10, 10));
        assert_eq!(one.set(usize::MAX, &all), usize::MAX);
        drop(one);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
