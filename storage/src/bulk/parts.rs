//! A load in parts: ranges of nodes that have about as many facts each, and what waits for each of them.

use std::io::Result;
use std::path::Path;

use parking_lot::Mutex;

use super::spool::{BUFFER, MEMORY, Spool};
use crate::graph::NodeId;

/// Nodes that are counted together.
const NODES: u64 = if cfg!(test) { 1 } else { 64 };
/// There are about so many parts, if none has too few facts or too many: the memory that one has had is
/// there for the next one.
const PARTS: u64 = if cfg!(test) { 4 } else { 16 };
/// Parts have about so many facts at the least, if there are more: a table is worth them.
const FACTS_MIN: u64 = if cfg!(test) { 3 } else { 50_000 };
/// And about that at the most, if the parts are not too many: they have to be in memory. All facts of a
/// node are one part, however many they are.
const FACTS_MAX: u64 = 1 << 19;
/// There are about so many parts at the most, by heads and by tails: each may have a file that is open.
const PARTS_MAX: u64 = 64;

/// How many facts the nodes have, some nodes together.
#[derive(Default)]
pub(super) struct Counts(Vec<u64>);

impl Counts {
    pub(super) fn add(&mut self, node: NodeId) {
        let place = (node.0 / NODES) as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] += 1;
    }

    /// The parts of so many facts. Each ends after the node that fills its share of what is left.
    pub(super) fn ranges(&self) -> Ranges {
        let count: u64 = self.0.iter().sum();
        let size = (count / PARTS).clamp(FACTS_MIN, FACTS_MAX.max(count / PARTS_MAX));
        let parts = ((count + size / 2) / size).max(1);
        let (mut ends, mut sizes, mut left, mut facts) = (Vec::new(), Vec::new(), count, 0);
        for (place, here) in self.0.iter().enumerate() {
            let parts_left = parts - ends.len() as u64;
            if parts_left > 1 && facts > 0 && facts * parts_left >= left {
                ends.push(place as u64 * NODES);
                sizes.push(facts);
                (left, facts) = (left - facts, 0);
            }
            facts += here;
        }
        sizes.push(facts);
        Ranges { ends, sizes }
    }
}

/// See the module.
pub(super) struct Ranges {
    /// The node after each part but the last.
    ends: Vec<u64>,
    /// How many facts each part has.
    sizes: Vec<u64>,
}

impl Ranges {
    pub(super) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    fn part(&self, node: NodeId) -> usize {
        self.ends.partition_point(|end| *end <= node.0)
    }

    /// Whether a node is in a part.
    pub(super) fn has(&self, part: usize, node: NodeId) -> bool {
        let end = |part: usize| self.ends.get(part).copied();
        let begin = part.checked_sub(1).and_then(end);
        begin.is_none_or(|begin| begin <= node.0) && end(part).is_none_or(|end| node.0 < end)
    }
}

/// What waits for each part.
pub(super) struct Parts {
    ranges: Ranges,
    waiting: Vec<Mutex<Option<Spool>>>,
}

impl Parts {
    /// A file for each part.
    pub(super) fn in_files(ranges: Ranges, folder: &Path) -> Self {
        Self::of(ranges, |_| Spool::new(folder, 0))
    }

    /// In memory, if all records have room there, which have so many bytes each; else a file for each part. What ends
    /// beside them is not counted, which is at most as many again.
    pub(super) fn new(ranges: Ranges, folder: &Path, record_bytes: usize) -> Self {
        let bytes = |facts: u64| facts.saturating_mul(record_bytes as u64);
        match bytes(ranges.sizes.iter().sum()) <= MEMORY as u64 {
            true => Self::of(ranges, |facts| Spool::with_room(folder, bytes(facts) as usize)),
            false => Self::in_files(ranges, folder),
        }
    }

    fn of(ranges: Ranges, spool: impl Fn(u64) -> Spool) -> Self {
        let waiting = ranges.sizes.iter().map(|facts| Mutex::new(Some(spool(*facts)))).collect();
        Self { ranges, waiting }
    }

    pub(super) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Writes into the parts. There may be several of these at once.
    pub(super) fn writer(&self) -> PartsWriter<'_> {
        PartsWriter { parts: self, waiting: vec![Vec::new(); self.waiting.len()] }
    }

    /// Writes whole records into a part, and takes them from where they were.
    fn append(&self, part: usize, records: &mut Vec<u8>) -> Result<()> {
        match self.waiting.get(part).map(Mutex::lock).as_deref_mut() {
            Some(Some(spool)) => spool.write(records)?,
            _ => return Err(std::io::Error::other("a part of the load is read already")),
        }
        records.clear();
        Ok(())
    }

    /// All that was written into a part, which is gone then.
    pub(super) fn take(&self, part: usize) -> Result<Vec<u8>> {
        match self.waiting.get(part).and_then(|spool| spool.lock().take()) {
            Some(spool) => spool.bytes(),
            None => Err(std::io::Error::other("a part of the load is read already")),
        }
    }
}

/// Writes into parts from one thread: records wait until there are many, so that threads seldom wait
/// for each other.
pub(super) struct PartsWriter<'p> {
    parts: &'p Parts,
    /// Those of each part.
    waiting: Vec<Vec<u8>>,
}

impl PartsWriter<'_> {
    /// Writes a record into the part of a node.
    pub(super) fn write(&mut self, node: NodeId, record: &[u8]) -> Result<()> {
        let part = self.parts.ranges.part(node);
        let waiting = &mut self.waiting[part];
        waiting.extend_from_slice(record);
        match waiting.len() < BUFFER {
            true => Ok(()),
            false => self.parts.append(part, waiting),
        }
    }

    /// Writes what waits.
    pub(super) fn finish(mut self) -> Result<()> {
        let mut waiting = self.waiting.iter_mut().enumerate();
        waiting.try_for_each(|(part, records)| self.parts.append(part, records))
    }
}

#[cfg(test)]
mod tests;
