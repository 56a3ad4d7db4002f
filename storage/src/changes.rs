//! Which nodes changed lately, so that what is kept in memory of them can follow without reading
//! everything again.
//!
//! It is filled at each commit, before any reader can see it, and never written to the disk. It is
//! bounded: after its oldest commit nobody can say what changed, and whoever asks reads anew.

use std::collections::{BTreeSet, VecDeque};

use parking_lot::Mutex;

use crate::error::Result;
use crate::families::Family;
use crate::graph::{LabelId, NodeId, NodeRecord, RelationId, Time};
use crate::overlay::Overlay;
use crate::record;

/// The most entries that are kept.
const ENTRIES_MAX: usize = 65_536;

/// A node of which the record, a key or alias, the embedding or the existence changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Changed {
    /// Its label.
    pub label: LabelId,
    /// The node, which may be gone.
    pub node: NodeId,
}

/// The last changes of an open store.
pub struct Changes {
    kept: Mutex<Kept>,
    entries_max: usize,
}

struct Kept {
    /// In order of time.
    entries: VecDeque<(Time, Changed)>,
    /// The instant from which on every change is kept; those of the instant itself are not.
    since: Time,
    /// The last commit.
    last: Time,
    watched: Option<Watched>,
}

/// The heads of facts of a relation that come, change or go.
struct Watched {
    relation: RelationId,
    /// In order of time.
    heads: VecDeque<(Time, NodeId)>,
    /// The instant after which all of them are kept.
    since: Time,
}

impl Changes {
    /// Nothing has changed since the last commit.
    pub(crate) fn new(last_commit: Time) -> Self {
        Self::with_room(last_commit, ENTRIES_MAX)
    }

    fn with_room(last_commit: Time, entries_max: usize) -> Self {
        let entries = VecDeque::new();
        let kept = Kept { entries, since: last_commit, last: last_commit, watched: None };
        Self { kept: Mutex::new(kept), entries_max }
    }

    /// Every node that a commit after `time` changed, with the instant of the commit, in order; a
    /// node is named once a commit. None if it is not known any more.
    ///
    /// A commit that failed, and one that a reader does not see yet, may be among them.
    pub fn since(&self, time: Time) -> Option<Vec<(Time, Changed)>> {
        let kept = self.kept.lock();
        if time < kept.since {
            return None;
        }
        let from = kept.entries.partition_point(|(commit, _)| *commit <= time);
        Some(kept.entries.range(from..).copied().collect())
    }

    /// From now on the heads of facts of this relation are kept as well. One relation is watched at a time.
    pub fn watch(&self, relation: RelationId) {
        let mut kept = self.kept.lock();
        if kept.relation() != Some(relation) {
            let (heads, since) = (VecDeque::new(), kept.last);
            kept.watched = Some(Watched { relation, heads, since });
        }
    }

    /// The heads of facts of the watched relation that commits after `from` and up to `to` added, changed or took
    /// away, each once. None if it is not known, as of another relation.
    pub fn heads(&self, relation: RelationId, from: Time, to: Time) -> Option<BTreeSet<NodeId>> {
        let kept = self.kept.lock();
        let watched = kept.watched.as_ref().filter(|watched| watched.relation == relation)?;
        if from < watched.since {
            return None;
        }
        let begin = watched.heads.partition_point(|(commit, _)| *commit <= from);
        let end = watched.heads.partition_point(|(commit, _)| *commit <= to);
        Some(watched.heads.range(begin..end.max(begin)).map(|(_, head)| *head).collect())
    }

    /// A load with facts of these relations is about to be seen. Its facts are in no changes, so where one is watched
    /// nobody knows which heads changed before.
    pub(crate) fn loaded(&self, commit: Time, has: impl FnOnce(RelationId) -> bool) {
        let mut kept = self.kept.lock();
        kept.last = commit;
        if let Some(watched) = kept.watched.as_mut().filter(|watched| has(watched.relation)) {
            watched.heads.clear();
            watched.since = commit;
        }
    }

    /// Keeps what a commit is about to change.
    pub(crate) fn record(&self, commit: Time, overlay: &Overlay) -> Result<()> {
        let changed = changed(overlay)?;
        let relation = self.kept.lock().relation();
        let mut found = heads(overlay, relation);
        let mut kept = self.kept.lock();
        if kept.relation() != relation {
            found = heads(overlay, kept.relation());
        }
        kept.last = commit;
        kept.entries.extend(changed.into_iter().map(|changed| (commit, changed)));
        while kept.entries.len() > self.entries_max {
            if let Some((dropped, _)) = kept.entries.pop_front() {
                kept.since = dropped;
            }
        }
        if let Some(watched) = &mut kept.watched {
            watched.heads.extend(found.into_iter().map(|head| (commit, head)));
            while watched.heads.len() > self.entries_max {
                if let Some((dropped, _)) = watched.heads.pop_front() {
                    watched.since = dropped;
                }
            }
        }
        Ok(())
    }
}

impl Kept {
    /// The relation that is watched.
    fn relation(&self) -> Option<RelationId> {
        self.watched.as_ref().map(|watched| watched.relation)
    }
}

/// The nodes that these changes touch.
///
/// A node's names and embeddings change with its record or alone; forgetting one takes out its
/// embedding, whether it has one or not, and that names the label.
fn changed(overlay: &Overlay) -> Result<BTreeSet<Changed>> {
    let mut changed = BTreeSet::new();
    for (family, key, value) in overlay.iter() {
        let (label, node) = match (family, value) {
            (Family::Vectors | Family::VectorsPast, _) => {
                let Some((label, rest)) = key.split_first_chunk() else { continue };
                (LabelId(u32::from_be_bytes(*label)), rest)
            }
            (Family::Nodes, Some(value)) => {
                (record::decode::<NodeRecord>(family, key, value)?.label, key)
            }
            _ => continue,
        };
        if let Some(node) = node.first_chunk() {
            changed.insert(Changed { label, node: NodeId(u64::from_be_bytes(*node)) });
        }
    }
    Ok(changed)
}

/// The heads of facts of a relation that these changes touch: whatever becomes of a fact changes what stands at its
/// head, under the head and the relation.
fn heads(overlay: &Overlay, relation: Option<RelationId>) -> BTreeSet<NodeId> {
    let Some(relation) = relation else { return BTreeSet::new() };
    let at_heads = overlay.iter().filter(|(family, ..)| *family == Family::Out);
    let head = |key: &[u8]| {
        let (head, rest) = key.split_first_chunk()?;
        let of_it = rest.first_chunk() == Some(&relation.0.to_be_bytes());
        of_it.then(|| NodeId(u64::from_be_bytes(*head)))
    };
    at_heads.filter_map(|(_, key, _)| head(key)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::commit::Durability;
    use crate::graph::{BulkFact, FactId, Intent, Interval, Value};
    use crate::key;
    use crate::{Memory, Store};

    fn vector(label: u32, node: u64) -> Overlay {
        let mut overlay = Overlay::default();
        overlay.delete(Family::Vectors, key::vector(LabelId(label), NodeId(node)));
        overlay
    }

    #[test]
    fn what_was_dropped_is_not_known_any_more() {
        let changes = Changes::with_room(10, 2);
        assert_eq!(changes.since(9), None);
        assert_eq!(changes.since(10), Some(Vec::new()));
        for (commit, node) in [(11, 1), (12, 2)] {
            changes.record(commit, &vector(7, node)).unwrap();
        }
        let of = |node| Changed { label: LabelId(7), node: NodeId(node) };
        assert_eq!(changes.since(10), Some(vec![(11, of(1)), (12, of(2))]));
        assert_eq!(changes.since(11), Some(vec![(12, of(2))]));
        changes.record(13, &vector(7, 3)).unwrap();
        assert_eq!(changes.since(10), None);
        assert_eq!(changes.since(11), Some(vec![(12, of(2)), (13, of(3))]));
        assert_eq!(changes.since(13), Some(Vec::new()));
    }

    #[test]
    fn every_act_on_a_node_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Memory::default()).unwrap();
        let mut last = store.changes().kept.lock().since;
        let mut told = |act: &mut dyn FnMut(&mut crate::Transaction<'_>)| {
            let mut transaction = store.begin(0).unwrap();
            act(&mut transaction);
            transaction.commit(Durability::Buffered, 0).unwrap();
            let changed = store.changes().since(last).unwrap();
            let commit = store.snapshot(0).reader().last_commit().unwrap();
            assert!(changed.iter().all(|(time, _)| *time == commit), "{changed:?}");
            last = commit;
            changed.into_iter().map(|(_, changed)| changed.node).collect::<Vec<_>>()
        };
        let nothing = BTreeMap::new();
        let node = NodeId(0);
        let made = told(&mut |t| {
            t.put_node("Note", "a", &nothing).unwrap();
        });
        let [node_made] = made[..] else { panic!("{made:?}") };
        assert!(node_made >= node);
        let text = BTreeMap::from([("text".to_owned(), Value::String("b".to_owned()))]);
        let acts: [&mut dyn FnMut(&mut crate::Transaction<'_>); 5] = [
            &mut |t| {
                t.put_node("Note", "a", &text).unwrap();
            },
            &mut |t| {
                t.put_alias(node_made, "b").unwrap();
            },
            &mut |t| t.put_vector(node_made, "m", &[1.0]).unwrap(),
            &mut |t| t.delete_vector(node_made).unwrap(),
            &mut |t| {
                t.forget(&[node_made], &[]).unwrap();
            },
        ];
        for act in acts {
            assert_eq!(told(act), [node_made]);
        }
        assert_eq!(
            told(&mut |t| {
                t.relation("knows").unwrap();
            }),
            []
        );
    }

    #[test]
    fn what_was_dropped_of_heads_is_not_known_any_more() {
        let changes = Changes::with_room(10, 1);
        changes.watch(RelationId(3));
        for (commit, head) in [(11, 1_u64), (12, 2)] {
            let mut overlay = Overlay::default();
            let key = [&head.to_be_bytes()[..], &3_u32.to_be_bytes(), b"rest"].concat();
            overlay.delete(Family::Out, key);
            changes.record(commit, &overlay).unwrap();
        }
        assert_eq!(changes.heads(RelationId(3), 10, 12), None);
        assert_eq!(changes.heads(RelationId(3), 11, 12), Some(BTreeSet::from([NodeId(2)])));
    }

    #[test]
    fn the_heads_of_facts_of_a_watched_relation_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Memory::default()).unwrap();
        let mut setup = store.begin(0).unwrap();
        let nothing = BTreeMap::new();
        let [a, b] = ["a", "b"].map(|key| setup.put_node("Note", key, &nothing).unwrap());
        let [from, knows] = ["from", "knows"].map(|name| setup.relation(name).unwrap());
        setup.commit(Durability::Buffered, 0).unwrap();
        let belief = BulkFact {
            head: a,
            relation: from,
            tail: b,
            valid: Interval::ALL,
            confidence: 1.0,
            intent: Intent::Fact,
            source: "s",
        }
        .belief();
        let written = |act: &mut dyn FnMut(&mut crate::Transaction<'_>)| {
            let mut transaction = store.begin(0).unwrap();
            act(&mut transaction);
            transaction.commit(Durability::Buffered, 0).unwrap();
            store.snapshot(0).reader().last_commit().unwrap()
        };
        let first = written(&mut |t| drop(t.assert_fact(a, knows, &belief).unwrap()));
        let changes = store.changes();
        assert_eq!(changes.heads(from, first, first), None, "nobody watches");
        changes.watch(from);
        let mut fact = FactId(0);
        let told = written(&mut |t| fact = t.assert_fact(a, from, &belief).unwrap().fact);
        let gone = written(&mut |t| drop(t.retract(fact).unwrap()));
        let other = written(&mut |t| drop(t.assert_fact(b, knows, &belief).unwrap()));
        let heads = |after, until| changes.heads(from, after, until).map(Vec::from_iter);
        assert_eq!(heads(first, other), Some(vec![a]));
        assert_eq!((heads(told, gone), heads(gone, other)), (Some(vec![a]), Some(vec![])));
        assert_eq!(heads(first - 1, other), None);
        assert_eq!(changes.since(first), Some(Vec::new()), "no node changed");
        changes.watch(from);
        assert_eq!(heads(first, told), Some(vec![a]), "it is watched already");
        changes.watch(knows);
        assert_eq!((heads(other, other), changes.heads(knows, gone, other)), (None, None));
        assert_eq!(changes.heads(knows, other, other), Some(BTreeSet::new()));
    }
}
