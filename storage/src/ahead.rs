//! Memory that is asked for before it is used, so that several reads of it wait together.
//!
//! It changes nothing but time.

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// An item of each of the first cache lines: reading it fetches the line.
pub(crate) fn lines<T>(items: &[T], most: usize) -> impl Iterator<Item = &T> {
    items.iter().step_by(LINE_BYTES / size_of::<T>()).take(most)
}
