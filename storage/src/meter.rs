//! What reads cost, in numbers that are the same on every machine, and a gate that ends them.
//!
//! A [`Meter`] is handed to a [`Reader`](crate::Reader) and counts all that this one reads. It never
//! looks at a clock and knows nothing of why a read is to end: that is the gate's.

use std::cell::Cell;
use std::ops::Sub;

use crate::error::{Result, StorageError};

/// Seeks between two questions to the gate.
const GATE_SEEKS: u64 = 64;
/// Keys between two questions to the gate.
const GATE_KEYS: u64 = 1024;

/// What reads have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that a scan was positioned or a key was looked up.
    pub seeks: u64,
    /// Keys that were found by a look-up or visited by a scan, whether it kept them or not.
    pub keys: u64,
    /// Bytes of these keys and of their values; a fact between its nodes, which takes about as many,
    /// counts as 40.
    pub bytes: u64,
}

impl Sub for Counts {
    type Output = Self;

    /// What was read since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        Self {
            seeks: self.seeks.saturating_sub(earlier.seeks),
            keys: self.keys.saturating_sub(earlier.keys),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

/// Told what was read until now; false if no more may be read.
type Gate = Box<dyn Fn(&Counts) -> bool + Send>;

/// Counts what reads cost; for one thread.
#[derive(Default)]
pub struct Meter {
    counts: Cell<Counts>,
    gate: Option<Gate>,
}

impl Meter {
    /// Counts, and lets everything be read.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts, and asks `gate` every 1,024 keys and every 64 seeks. Once it says false, the read
    /// that is under way ends with [`StorageError::Stopped`].
    pub fn with_gate(gate: Box<dyn Fn(&Counts) -> bool + Send>) -> Self {
        Self { counts: Cell::default(), gate: Some(gate) }
    }

    /// What was read until now.
    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// Counts a seek.
    pub(crate) fn sought(&self) -> Result<()> {
        let mut counts = self.counts.get();
        counts.seeks = counts.seeks.saturating_add(1);
        self.counts.set(counts);
        if counts.seeks.is_multiple_of(GATE_SEEKS) { self.ask(&counts) } else { Ok(()) }
    }

    /// Counts a key and its value, of so many bytes.
    pub(crate) fn visited(&self, bytes: usize) -> Result<()> {
        let mut counts = self.counts.get();
        counts.keys = counts.keys.saturating_add(1);
        counts.bytes = counts.bytes.saturating_add(bytes as u64);
        self.counts.set(counts);
        if counts.keys.is_multiple_of(GATE_KEYS) { self.ask(&counts) } else { Ok(()) }
    }

    /// Counts so many keys and their values, of so many bytes each.
    pub(crate) fn visited_many(&self, keys: u64, bytes_each: u64) -> Result<()> {
        let mut counts = self.counts.get();
        let before = counts.keys / GATE_KEYS;
        counts.keys = counts.keys.saturating_add(keys);
        counts.bytes = counts.bytes.saturating_add(keys.saturating_mul(bytes_each));
        self.counts.set(counts);
        if counts.keys / GATE_KEYS > before { self.ask(&counts) } else { Ok(()) }
    }

    /// Asks the gate now.
    pub(crate) fn in_time(&self) -> Result<()> {
        self.ask(&self.counts.get())
    }

    fn ask(&self, counts: &Counts) -> Result<()> {
        match &self.gate {
            Some(gate) if !gate(counts) => Err(StorageError::Stopped),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
