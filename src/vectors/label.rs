//! The embeddings of one label in memory: all that are and all that were.
//!
//! ```text
//! entry   node, from, to     one embedding and when it stood, in system time
//! codes   its components, a byte each, at the same place
//! ```
//!
//! Because every version is there, one index answers for any state and for any instant: an entry
//! counts where it stands. Entries never move, so that a graph may know them by their places. What
//! was forgotten is overwritten with zeros, and only its place is left.
//!
//! Invariant: the index holds what a reader sees whose last commit is `at`. It answers for a reader
//! whose last commit is in `since..=at`; what was forgotten up to `since` is gone from it.

use std::collections::HashMap;
use std::sync::Arc;

use engraph_storage::graph::{Interval, LabelId, NodeId, Time};
use engraph_storage::{Reader, StorageError};

use super::codes::{Codes, DIMENSIONS_MAX};
use super::graph::Graph;
use crate::error::Result;

/// Fewer entries that are gone are not worth reading all anew for.
const GONE_MIN: usize = 1_024;

/// One embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) node: NodeId,
    /// When it stands; never, once it is gone.
    system: Interval,
    /// The entry of the same node that came before.
    before: Option<u32>,
}

/// When an embedding stands that is gone.
const NEVER: Interval = Interval { from: Interval::MAX, to: Interval::MIN };

impl Entry {
    /// What it is known by in a graph: another number for each version.
    pub(super) fn name(&self) -> u64 {
        self.node.0 ^ self.system.from.cast_unsigned().rotate_left(32)
    }

    pub(super) fn stands_at(&self, time: Time) -> bool {
        self.system.contains(time)
    }
}

/// The embeddings of a label.
pub(super) struct LabelIndex {
    /// Which model made them.
    pub(super) model: Option<String>,
    pub(super) codes: Codes,
    pub(super) entries: Vec<Entry>,
    newest: HashMap<NodeId, u32>,
    pub(super) at: Time,
    since: Time,
    /// Entries that stand at `at`.
    pub(super) standing: usize,
    /// When the last of them began to.
    begun: Time,
    gone: usize,
    /// Whether all have one length and there is room for them; if not, they are read from the disk.
    pub(super) is_even: bool,
    /// Whether all have the length 1, as a graph needs it.
    pub(super) is_unit: bool,
    /// Another one for each index that was read.
    pub(super) identity: Arc<()>,
    /// Over the first entries; none while it is not worth it or not ready.
    pub(super) graph: Option<Arc<Graph>>,
}

/// What an embedding is now and was, with its components.
type History = Vec<(Interval, Vec<f32>)>;

impl LabelIndex {
    /// Reads all embeddings of a label.
    pub(super) fn read(reader: Reader<'_>, label: LabelId, model: Option<String>) -> Result<Self> {
        let at = reader.last_commit()?;
        let mut index = Self {
            model,
            codes: Codes::new(0),
            entries: Vec::new(),
            newest: HashMap::new(),
            at,
            since: at,
            standing: 0,
            begun: Time::MIN,
            gone: 0,
            is_even: true,
            is_unit: true,
            identity: Arc::default(),
            graph: None,
        };
        let mut damaged = None;
        reader.vector_histories(label, &mut |node, system, vector| match vector
            .iter()
            .all(|component| component.is_finite())
        {
            true => index.push(node, system, vector),
            false => damaged = Some(node),
        })?;
        match damaged {
            Some(node) => Err(not_finite(node).into()),
            None => Ok(index),
        }
    }

    /// Whether it answers for a reader with that last commit.
    pub(super) fn answers(&self, last_commit: Time) -> bool {
        (self.since..=self.at).contains(&last_commit)
    }

    /// Takes over what changed, as a later reader sees it.
    pub(super) fn follow(&mut self, last_commit: Time, changes: Vec<(NodeId, History)>) {
        for (node, history) in changes {
            self.replace(node, history, last_commit);
        }
        self.at = last_commit;
    }

    /// Whether every entry stands at an instant, so that none needs to be looked at.
    pub(super) fn all_stand_at(&self, time: Time) -> bool {
        self.standing == self.entries.len() && self.begun <= time
    }

    /// Whether so much of it is gone that it is better read anew.
    pub(super) fn is_hollow(&self) -> bool {
        self.gone >= GONE_MIN && self.gone > self.entries.len() / 2
    }

    /// Bytes that it takes, roughly.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let graph = self.graph.as_ref().map_or(0, |graph| graph.bytes());
        let names = self.newest.capacity() * (size_of::<(NodeId, u32)>() + 1);
        self.codes.bytes() + self.entries.capacity() * size_of::<Entry>() + names + graph
    }

    fn replace(&mut self, node: NodeId, mut history: History, last_commit: Time) {
        let mut next = self.newest.get(&node).copied();
        let mut left = 0;
        while let Some(place) = next {
            let Some(entry) = self.entries.get_mut(place as usize) else { break };
            next = entry.before;
            let same = history.iter().position(|(system, _)| system.from == entry.system.from);
            self.standing -= usize::from(entry.system.to == Interval::MAX);
            match same {
                Some(same) => {
                    entry.system = history.swap_remove(same).0;
                    self.standing += usize::from(entry.system.to == Interval::MAX);
                    left += 1;
                }
                None => {
                    *entry = Entry { node: NodeId(u64::MAX), system: NEVER, before: entry.before };
                    self.codes.erase(place as usize);
                    self.gone += 1;
                    // An older reader sees it still, and reads it from the disk.
                    self.since = last_commit;
                }
            }
        }
        if left == 0 {
            self.newest.remove(&node);
        }
        for (system, vector) in history {
            self.push(node, system, &vector);
        }
    }

    fn push(&mut self, node: NodeId, system: Interval, vector: &[f32]) {
        if self.entries.is_empty() {
            self.codes = Codes::new(vector.len().min(DIMENSIONS_MAX));
        }
        let place = u32::try_from(self.entries.len()).ok().filter(|place| *place < u32::MAX);
        let Some(place) = place.filter(|_| vector.len() == self.codes.dimensions()) else {
            self.is_even = false;
            return;
        };
        self.codes.push(vector);
        self.is_unit &= self.codes.scale(place as usize).is_unit();
        self.standing += usize::from(system.to == Interval::MAX);
        self.begun = self.begun.max(system.from);
        let before = self.newest.insert(node, place);
        self.entries.push(Entry { node, system, before });
    }
}

/// The embeddings of a node as a reader sees them.
pub(super) fn history(reader: Reader<'_>, label: LabelId, node: NodeId) -> Result<History> {
    let mut history = History::new();
    reader.vector_history(label, node, &mut |_, system, vector| {
        history.push((system, vector.to_vec()));
    })?;
    let finite = |vector: &[f32]| vector.iter().all(|component| component.is_finite());
    match history.iter().all(|(_, vector)| finite(vector)) {
        true => Ok(history),
        false => Err(not_finite(node).into()),
    }
}

fn not_finite(node: NodeId) -> StorageError {
    StorageError::Corrupt {
        family: "vectors",
        key: format!("{:016x}", node.0),
        reason: "a component of the embedding is not finite".to_owned(),
    }
}
