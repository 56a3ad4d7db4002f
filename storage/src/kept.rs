//! What was read lately, as it is used: the facts of nodes, nodes, their lists of numbers and
//! embeddings, and where keys lead.
//!
//! A read that finds what it wants here takes no seek and decodes nothing. Only committed states are
//! kept, and a commit takes out what it changes before any reader sees it; so what was forgotten does
//! not stay here either. How much is kept is bounded; what is read seldom goes first.
//!
//! Invariant: what is kept stands for every state from the instant at which it was read until a commit
//! takes it out. A reader of an older state does not use it, and one that reads while a commit is under
//! way, or later than one that it does not hold, keeps nothing.

use std::sync::Arc;

use parking_lot::RwLock;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::adjacency::Adjacency;
use crate::edges::{Near, NearEdges};
use crate::families::Family;
use crate::graph::{NodeId, NodeRecord, PropertyId, Side, Time};
use crate::key;
use crate::numbers::Numbers;
use crate::overlay::Overlay;
use crate::shelf::{ENTRY_BESIDE, ENTRY_LEAST, Shelf};

/// Bytes of the counts in front of what is shared.
const COUNTS: usize = 16;

/// A node.
#[derive(Clone)]
pub(crate) struct KeptNode {
    pub(crate) record: Arc<NodeRecord>,
    /// How long its record is on the disk.
    pub(crate) bytes: usize,
}

/// The embedding of a node.
#[derive(Clone)]
pub(crate) struct KeptVector {
    pub(crate) system_from: Time,
    pub(crate) vector: Arc<[f32]>,
    /// How long it is on the disk.
    pub(crate) bytes: usize,
}

/// Something and the instant of the state that it was read from.
#[derive(Clone)]
struct Since<T> {
    since: Time,
    bytes: u64,
    what: T,
}

/// How much of the room an entry takes.
#[derive(Clone)]
struct Weight;

impl<K, T> Weighter<K, Since<T>> for Weight {
    fn weight(&self, _: &K, kept: &Since<T>) -> u64 {
        kept.bytes.saturating_add(ENTRY_BESIDE as u64)
    }
}

type Kept<K, T> = Cache<K, Since<T>, Weight>;

/// See the module.
pub(crate) struct KeptReads {
    /// All facts of a node on one side.
    whole: Shelf<NearEdges>,
    /// Those of one relation.
    edges: Kept<Near, NearEdges>,
    nodes: Kept<NodeId, KeptNode>,
    /// Of each node the list that was asked for last.
    numbers: Shelf<(PropertyId, Numbers)>,
    vectors: Kept<NodeId, KeptVector>,
    names: Kept<Vec<u8>, NodeId>,
    /// The instant of the last commit, from before anything of it is seen.
    latest: RwLock<Time>,
}

impl KeptReads {
    /// Room for about so many bytes: more than half of it for facts, the rest for all else.
    pub(crate) fn new(bytes: usize, last_commit: Time) -> Self {
        let part = |share: usize| bytes / 32 * share;
        Self {
            whole: Shelf::new(part(16), |edges| edges.bytes() + COUNTS),
            edges: cache(part(3)),
            nodes: cache(part(3)),
            numbers: Shelf::new(part(6), |(_, numbers)| numbers.bytes() + COUNTS),
            vectors: cache(part(3)),
            names: cache(part(1)),
            latest: RwLock::new(last_commit),
        }
    }

    /// The facts of a node in a state of that instant.
    pub(crate) fn edges(&self, near: &Near, now: Time) -> Option<NearEdges> {
        match near.relation {
            None => self.whole.get(number_of(near.node, near.side), now),
            Some(_) => held(self.edges.get(near), now),
        }
    }

    /// All facts of several nodes, which are asked of the memory at once.
    pub(crate) fn all_edges(
        &self,
        nodes: &[NodeId],
        side: Side,
        now: Time,
    ) -> Vec<Option<NearEdges>> {
        let numbers: Vec<u64> = nodes.iter().map(|node| number_of(*node, side)).collect();
        self.whole.get_all(&numbers, now, |all| NearEdges::touch(all.iter().copied().flatten()))
    }

    pub(crate) fn keep_edges(&self, near: Near, now: Time, edges: NearEdges) {
        if near.relation.is_some() {
            let bytes = edges.bytes() as u64;
            return self.keep(&self.edges, near, Since { since: now, bytes, what: edges });
        }
        let latest = self.latest.read();
        if now >= *latest {
            self.whole.put(number_of(near.node, near.side), now, edges);
        }
    }

    /// A node as it is in a state of that instant.
    pub(crate) fn node(&self, node: NodeId, now: Time) -> Option<KeptNode> {
        held(self.nodes.get(&node), now)
    }

    pub(crate) fn keep_node(&self, node: NodeId, now: Time, kept: KeptNode) {
        let bytes = kept.record.bytes() as u64;
        self.keep(&self.nodes, node, Since { since: now, bytes, what: kept });
    }

    /// The numbers of a property of several nodes, which are asked of the memory at once.
    pub(crate) fn numbers(
        &self,
        nodes: &[NodeId],
        property: PropertyId,
        now: Time,
    ) -> Vec<Option<Numbers>> {
        let places: Vec<u64> = nodes.iter().map(|node| node.0).collect();
        let touch = |all: &[Option<&(PropertyId, Numbers)>]| {
            Numbers::touch(all.iter().flatten().map(|(_, numbers)| numbers));
        };
        let all = self.numbers.get_all(&places, now, touch).into_iter();
        all.map(|held| held.filter(|(of, _)| *of == property).map(|(_, numbers)| numbers)).collect()
    }

    pub(crate) fn keep_numbers(
        &self,
        node: NodeId,
        property: PropertyId,
        now: Time,
        numbers: Numbers,
    ) {
        let latest = self.latest.read();
        if now >= *latest {
            self.numbers.put(node.0, now, (property, numbers));
        }
    }

    /// The embedding of a node in a state of that instant.
    pub(crate) fn vector(&self, node: NodeId, now: Time) -> Option<KeptVector> {
        held(self.vectors.get(&node), now)
    }

    pub(crate) fn keep_vector(&self, node: NodeId, now: Time, kept: KeptVector) {
        let bytes = kept.bytes as u64;
        self.keep(&self.vectors, node, Since { since: now, bytes, what: kept });
    }

    /// Where a key of `node_keys` leads in a state of that instant.
    pub(crate) fn name(&self, key: &[u8], now: Time) -> Option<NodeId> {
        held(self.names.get(key), now)
    }

    pub(crate) fn keep_name(&self, key: Vec<u8>, now: Time, node: NodeId) {
        let bytes = key.len() as u64;
        self.keep(&self.names, key, Since { since: now, bytes, what: node });
    }

    fn keep<K: Eq + std::hash::Hash, T: Clone>(&self, cache: &Kept<K, T>, key: K, kept: Since<T>) {
        // Held while it is put in, so that no commit comes in between.
        let latest = self.latest.read();
        if kept.since >= *latest {
            cache.insert(key, kept);
        }
    }

    /// Takes out what a commit of that instant is about to change.
    pub(crate) fn commit(&self, commit: Time, changes: &Overlay) {
        let mut latest = self.latest.write();
        *latest = commit;
        for (family, key, _) in changes.iter() {
            match family {
                Family::Out => self.drop_edges(Side::Out, key),
                Family::In => self.drop_edges(Side::In, key),
                Family::Nodes => {
                    if let Some(node) = key.first_chunk() {
                        let node = NodeId(u64::from_be_bytes(*node));
                        self.nodes.remove(&node);
                        self.numbers.take(node.0);
                    }
                }
                Family::Vectors => {
                    if let Some((_, node)) = key::vector_from(key) {
                        self.vectors.remove(&node);
                    }
                }
                Family::NodeKeys => drop(self.names.remove(key)),
                _ => {}
            }
        }
    }

    /// Takes all facts out: a load of that instant is about to change many.
    pub(crate) fn clear(&self, commit: Time) {
        let mut latest = self.latest.write();
        *latest = commit;
        self.whole.clear();
        self.edges.clear();
    }

    fn drop_edges(&self, side: Side, key: &[u8]) {
        let Some((parts, _)) = Adjacency::decode(key) else { return };
        let relation = Some(parts.relation);
        self.edges.remove(&Near { node: parts.near, side, relation });
        self.whole.take(number_of(parts.near, side));
    }
}

/// By which number all facts of a node on one side are kept: the sides of a node stand together.
fn number_of(node: NodeId, side: Side) -> u64 {
    node.0.rotate_left(1) ^ u64::from(side == Side::In)
}

fn cache<K: Eq + std::hash::Hash + Clone, T: Clone>(bytes: usize) -> Kept<K, T> {
    Cache::with_weighter(bytes / ENTRY_LEAST, bytes as u64, Weight)
}

fn held<T>(kept: Option<Since<T>>, now: Time) -> Option<T> {
    kept.filter(|kept| kept.since <= now).map(|kept| kept.what)
}

#[cfg(test)]
mod tests;
