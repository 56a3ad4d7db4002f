//! What is kept in memory of a database beside its disk: embeddings to be searched, keys to be
//! written, and names to be found in questions. All of it is made of what is stored, and follows the
//! commits.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use engraph_storage::graph::{LabelId, NodeId, RelationId, SystemScope, Time};
use engraph_storage::{Changes, KeyTokenizer, Reader, Store, TokenizerError};
use parking_lot::Mutex;

use crate::error::Result;
use crate::graph_names::{DERIVED_FROM, SEMANTIC};
use crate::models::Models;
use crate::retrieval::anchor::{How, Name};
use crate::schema::Schemas;
use crate::signals::TurnIndex;
use crate::threads;
use crate::vectors::VectorIndexes;

/// The indexes of an open database, shared by its sessions.
pub(crate) struct Indexes {
    pub(crate) vectors: VectorIndexes,
    pub(crate) schemas: Schemas,
    changes: Arc<Changes>,
    names: Mutex<HashMap<Vec<LabelId>, Names>>,
    /// The turns of a label, as they were at a commit.
    turns: Mutex<HashMap<LabelId, Turns>>,
    /// The turns of a label as of an instant of the past, which were asked for last.
    past_turns: Mutex<Option<(LabelId, Time, Arc<TurnIndex>)>>,
    /// The last commit by which something was known to be forgotten: of a state before it nothing is kept.
    forgotten: AtomicI64,
    /// How many nodes labels had at a commit.
    counts: Mutex<HashMap<LabelId, (Time, u64)>>,
}

/// The turns of a label, as they were at a commit.
struct Turns {
    commit: Time,
    /// Up to when some are as they were later: bringing them there may have been stopped. It is done again from
    /// the commit on.
    until: Time,
    index: Arc<TurnIndex>,
}

/// The names of the nodes of some labels, as they were at a commit.
#[derive(Clone)]
struct Names {
    commit: Time,
    names: Arc<Vec<Name>>,
    /// Labels that have too many nodes for their names to be kept.
    crowded: BTreeSet<LabelId>,
}

/// Reads the names of all nodes of a label, or of one of them; none if the label has too many.
pub(crate) type ReadNames<'r> = &'r dyn Fn(LabelId, Option<NodeId>) -> Result<Option<Vec<Name>>>;

/// Nodes of a label whose names are kept; of one with more, none are.
pub(crate) const NAMES_MAX: usize = 10_000;
/// Sets of labels whose names are kept.
const NAMED_MAX: usize = 16;
/// With more changes than this, names are read anew.
const FOLLOWED_MAX: usize = 1_024;

impl Indexes {
    pub(crate) fn new(store: &Store) -> Self {
        let changes = Arc::clone(store.changes());
        let (vectors, schemas) = (VectorIndexes::new(&changes), Schemas::default());
        Self {
            vectors,
            schemas,
            changes,
            names: Mutex::default(),
            turns: Mutex::default(),
            past_turns: Mutex::default(),
            forgotten: AtomicI64::new(Time::MIN),
            counts: Mutex::default(),
        }
    }

    /// The names of all nodes of these labels in a state, from which `read` reads.
    pub(crate) fn names(
        &self,
        labels: &[LabelId],
        reader: Reader<'_>,
        read: ReadNames<'_>,
    ) -> Result<Arc<Vec<Name>>> {
        let commit = reader.last_commit()?;
        if reader.has_changes() {
            return Ok(all_names(labels, commit, read)?.names);
        }
        let held = self.names.lock().get(labels).cloned();
        let names = match held {
            Some(held) if held.commit == commit => return Ok(held.names),
            Some(held) if held.commit < commit => self.followed(labels, held, commit, read)?,
            // An older state than what is kept.
            Some(_) => return Ok(all_names(labels, commit, read)?.names),
            None => all_names(labels, commit, read)?,
        };
        let mut kept = self.names.lock();
        let held = kept.get(labels).map(|held| held.commit);
        if self.may_keep(commit) && held.is_none_or(|held| held < commit) {
            if held.is_none() && kept.len() >= NAMED_MAX {
                kept.clear();
            }
            kept.insert(labels.to_vec(), names.clone());
        }
        Ok(names.names)
    }

    /// Whether nothing of a commit has been forgotten since. It is asked under the lock of what keeps it.
    fn may_keep(&self, commit: Time) -> bool {
        commit >= self.forgotten.load(Ordering::Acquire)
    }

    /// The names as they are at a later commit.
    fn followed(
        &self,
        labels: &[LabelId],
        held: Names,
        commit: Time,
        read: ReadNames<'_>,
    ) -> Result<Names> {
        let Some(changed) = self.changed(labels, held.commit, commit) else {
            return all_names(labels, commit, read);
        };
        // A label that has become crowded stays so.
        let changed: Vec<(LabelId, NodeId)> =
            changed.into_iter().filter(|(label, _)| !held.crowded.contains(label)).collect();
        if changed.is_empty() {
            return Ok(Names { commit, ..held });
        }
        let old: HashSet<NodeId> = changed.iter().map(|(_, node)| *node).collect();
        let stays = |name: &&Name| !old.contains(&name.of.node);
        let mut names: Vec<Name> = held.names.iter().filter(stays).cloned().collect();
        for (label, node) in changed {
            names.extend(read(label, Some(node))?.unwrap_or_default());
        }
        // Which label has become crowded is seen when all are read as a whole.
        match has_crowded(&names) {
            true => all_names(labels, commit, read),
            false => Ok(Names { commit, names: Arc::new(names), crowded: held.crowded }),
        }
    }

    /// The nodes of these labels that commits after `from` and up to `to` changed, each once; none
    /// if nobody knows, or if it is faster to read all of them.
    fn changed(
        &self,
        labels: &[LabelId],
        from: Time,
        to: Time,
    ) -> Option<BTreeSet<(LabelId, NodeId)>> {
        let changed = self.changes.since(from)?.into_iter();
        let changed: BTreeSet<(LabelId, NodeId)> = changed
            .filter(|(time, changed)| *time <= to && labels.contains(&changed.label))
            .map(|(_, changed)| (changed.label, changed.node))
            .collect();
        (changed.len() <= FOLLOWED_MAX).then_some(changed)
    }

    /// The turns of a label with their words, in a state and as of an instant.
    pub(crate) fn turns(
        &self,
        label: LabelId,
        reader: Reader<'_>,
        system: SystemScope,
    ) -> Result<Arc<TurnIndex>> {
        let commit = reader.last_commit()?;
        let read = || TurnIndex::read(reader, label, system).map(Arc::new);
        match system {
            _ if reader.has_changes() => return read(),
            SystemScope::Current => {}
            // What was believed then changes no more.
            SystemScope::AsOf(time) if time <= commit => {
                let kept = self.past_turns.lock().clone();
                if let Some((_, _, index)) = kept.filter(|kept| (kept.0, kept.1) == (label, time)) {
                    return Ok(index);
                }
                let index = read()?;
                let mut kept = self.past_turns.lock();
                if self.may_keep(commit) {
                    *kept = Some((label, time, Arc::clone(&index)));
                }
                return Ok(index);
            }
            SystemScope::AsOf(_) | SystemScope::All => return read(),
        }
        let statement = reader.catalog().label(SEMANTIC);
        let source = reader.catalog().relation(DERIVED_FROM);
        source.iter().for_each(|source| self.changes.watch(*source));
        let mut kept = threads::locked(&self.turns, || reader.in_time())?;
        if let Some(turns) = kept.get_mut(&label) {
            // An older state than what is kept.
            if commit < turns.until {
                drop(kept);
                return read();
            }
            let labels: Vec<LabelId> = [Some(label), statement].into_iter().flatten().collect();
            if turns.commit == commit || self.follow_turns(turns, (&labels, source), reader)? {
                return Ok(Arc::clone(&turns.index));
            }
        }
        drop(kept);
        let index = read()?;
        let mut kept = threads::locked(&self.turns, || reader.in_time())?;
        let is_newer = kept.get(&label).is_none_or(|held| held.until <= commit);
        if is_newer && self.may_keep(commit) {
            kept.insert(label, Turns { commit, until: commit, index: Arc::clone(&index) });
        }
        Ok(index)
    }

    /// Brings an index of turns from a commit to that of a state; false, and it is as it was, if it has to be
    /// read anew. Of the labels, the first is that of the turns. What was stopped can be done again.
    fn follow_turns(
        &self,
        turns: &mut Turns,
        (labels, source): (&[LabelId], Option<RelationId>),
        reader: Reader<'_>,
    ) -> Result<bool> {
        let (at, commit) = (turns.commit, reader.last_commit()?);
        let heads = match source {
            Some(source) => self.changes.heads(source, at, commit),
            // Nothing comes from a turn yet.
            None => Some(BTreeSet::new()),
        };
        let (Some(changed), Some(heads)) = (self.changed(labels, at, commit), heads) else {
            return Ok(false);
        };
        let [label, ..] = labels else { return Ok(false) };
        let has_changed = !changed.is_empty() || !heads.is_empty();
        if has_changed {
            if heads.len() > FOLLOWED_MAX || turns.index.has_lost(reader, &changed)? {
                return Ok(false);
            }
            turns.until = commit;
            let index = Arc::make_mut(&mut turns.index);
            index.follow(reader, *label, &changed)?;
            index.follow_sources(reader, &heads)?;
        }
        (turns.commit, turns.until) = (commit, commit);
        Ok(true)
    }

    /// Drops what was made of texts; it is made anew when it is asked for, of that commit or a later one.
    pub(crate) fn forget(&self, commit: Time) {
        self.forgotten.fetch_max(commit, Ordering::AcqRel);
        self.names.lock().clear();
        self.turns.lock().clear();
        *self.past_turns.lock() = None;
    }

    /// How many nodes of a label a state has. They are counted again where one may have come or gone.
    pub(crate) fn count(&self, label: LabelId, reader: Reader<'_>) -> Result<u64> {
        let commit = reader.last_commit()?;
        let held = self.counts.lock().get(&label).copied();
        if let Some((time, count)) = held.filter(|(time, _)| *time <= commit)
            && !reader.has_changes()
            && self.changed(&[label], time, commit).is_some_and(|changed| changed.is_empty())
        {
            return Ok(count);
        }
        let mut count = 0;
        reader.nodes_of_label(label, None, &mut |_, _| {
            count += 1;
            ControlFlow::Continue(())
        })?;
        if !reader.has_changes() {
            self.counts.lock().insert(label, (commit, count));
        }
        Ok(count)
    }

    /// The concepts that commits after an instant changed, and when; none if nobody knows.
    pub(crate) fn changed_concepts(
        &self,
        label: Option<LabelId>,
        time: Time,
    ) -> Option<Vec<(Time, NodeId)>> {
        let changed = self.changes.since(time)?.into_iter();
        let of_it = changed.filter(|(_, changed)| Some(changed.label) == label);
        Some(of_it.map(|(time, changed)| (time, changed.node)).collect())
    }
}

/// Whether a label has more nodes than are kept the names of.
fn has_crowded(names: &[Name]) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().filter(|name| name.of.how == How::Key) {
        *counts.entry(&name.of.label).or_default() += 1;
    }
    counts.into_values().any(|count| count > NAMES_MAX)
}

fn all_names(labels: &[LabelId], commit: Time, read: ReadNames<'_>) -> Result<Names> {
    let (mut names, mut crowded) = (Vec::new(), BTreeSet::new());
    for label in labels {
        match read(*label, None)? {
            Some(own) => names.extend(own),
            None => drop(crowded.insert(*label)),
        }
    }
    Ok(Names { commit, names: Arc::new(names), crowded })
}

/// Takes the keys of concepts apart with the embedder's tokenizer.
pub(crate) struct KeyTokens(pub(crate) Arc<Models>);

impl KeyTokenizer for KeyTokens {
    fn id(&self) -> std::result::Result<String, TokenizerError> {
        Ok(self.0.tokenizer_id()?)
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError> {
        Ok(self.0.tokenize(key)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_names::TURN;
    use crate::retrieval::anchor::Match;
    use crate::{FixedEmbedder, Options};

    #[test]
    fn nothing_is_kept_of_a_state_from_before_something_was_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path()).unwrap();
        let write = |text| drop(db.session().execute(text, ()).unwrap());
        write("REMEMBER (:Turn 't1' {text: 'a secret'}); REMEMBER (:Turn 't2' {text: 'tea'})");
        let before = db.store.snapshot(0);
        let read_all = |snapshot: &engraph_storage::Snapshot<'_>| {
            let label = snapshot.reader().catalog().label(TURN).unwrap();
            let at = snapshot.reader().last_commit().unwrap();
            for system in [SystemScope::Current, SystemScope::AsOf(at)] {
                db.indexes.turns(label, snapshot.reader(), system).unwrap();
            }
            db.indexes.names(&[label], snapshot.reader(), &|_, _| Ok(Some(Vec::new()))).unwrap();
        };
        let is_kept = || {
            let names = !db.indexes.names.lock().is_empty();
            (names, !db.indexes.turns.lock().is_empty(), db.indexes.past_turns.lock().is_some())
        };
        read_all(&before);
        assert_eq!(is_kept(), (true, true, true));
        // As if something had been forgotten by a later commit.
        write("REMEMBER (:Turn 't3' {text: 'coffee'})");
        db.indexes.forget(db.store.snapshot(0).reader().last_commit().unwrap());
        assert_eq!(is_kept(), (false, false, false));
        read_all(&before);
        assert_eq!(is_kept(), (false, false, false));
        read_all(&db.store.snapshot(0));
        assert_eq!(is_kept(), (true, true, true));
    }

    #[test]
    fn a_label_is_crowded_by_its_own_nodes() {
        let name = |label: &str, node: u64, how| {
            let (label, key) = (label.to_owned(), node.to_string());
            Name { name: key.clone(), of: Match { node: NodeId(node), label, key, how } }
        };
        let most = NAMES_MAX as u64;
        let of = |label: &'static str| (0..most).map(move |node| (label, node));
        let mut names: Vec<Name> =
            of("A").chain(of("B")).map(|(label, node)| name(label, node, How::Key)).collect();
        names.push(name("A", 0, How::Alias));
        assert!(!has_crowded(&names));
        names.push(name("A", most, How::Key));
        assert!(has_crowded(&names));
    }
}
