//! The nodes whose embeddings are nearest to a vector, at any instant that the database remembers.
//!
//! ```text
//! vectors, vectors_past ──first search──▶ LabelIndex: codes, and when each stood
//! commits ──Changes──▶ what changed is read again
//!
//! query ──▶ graph, or scan of the codes ──▶ candidates ──read, score exactly──▶ accepted? ──▶ found
//!
//!   codes.rs    a byte a component, and how far a score may be off
//!   label.rs    the embeddings of a label, with their times
//!   gather.rs   the best candidates by their codes
//!   graph.rs    the same by a walk, where a scan would take long
//!   build.rs    the thread that makes graphs
//!   rank.rs     from candidates to what is found
//!   disk.rs     without an index
//! ```
//!
//! What it finds is exact, unless it says [`Way::Graph`]. Scores are always exact: cosines of the
//! vectors as they are stored. An index belongs to a model, a number of dimensions and the cosine;
//! it is in memory alone, made at the first search and followed up at each. It never writes.

mod build;
mod codes;
mod disk;
mod gather;
mod graph;
mod label;
mod rank;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use engraph_storage::graph::{LabelId, NodeId, SystemScope, Time};
use engraph_storage::{Changes, Reader};
use parking_lot::{Mutex, RwLock};

use crate::error::{Diagnostic, Error, Result};
use crate::neural::dot;
use crate::threads;
use build::Builder;
use codes::Query;
use gather::{Candidate, Gathered};
use label::LabelIndex;
pub(crate) use rank::Accept;
use rank::Ranking;

/// Candidates of the first scan, beside some for each place of the answer.
const CANDIDATES: usize = if cfg!(test) { 1 } else { 64 };
/// By how many times more are gathered when that was not enough.
const WIDER: usize = if cfg!(test) { 2 } else { 16 };
/// If a walk has to keep more, it is slower than a scan.
const BREADTH_MAX: usize = 2_000;
/// No more than this part of what a walk keeps is taken: of what is further away it has missed too much.
const TAKEN_PART: usize = 4;
/// Walks before a scan, each `TAKEN_PART` times as broad as the one before: a filter that lets few
/// pass needs more than the first takes.
const WALKS: u32 = 2;
/// A walk that has looked at more than this part of a graph is given up.
const WALK_PART: usize = if cfg!(test) { 1 } else { 8 };

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Search<'s> {
    /// The state that is read.
    pub(crate) reader: Reader<'s>,
    /// Of which labels; of all if none are named.
    pub(crate) labels: Option<&'s [LabelId]>,
    /// At which instant; now for [`SystemScope::All`].
    pub(crate) system: SystemScope,
    /// What embeddings are compared with: finite numbers, of length 1.
    pub(crate) query: &'s [f32],
    /// How many nodes.
    pub(crate) top: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The best first, with their scores; ties by the older node.
    pub(crate) nodes: Vec<(f32, NodeId)>,
    /// How.
    pub(crate) way: Way,
    /// Embeddings that were looked at.
    pub(crate) looked: usize,
}

/// How nodes were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Every embedding was read from the disk: exact.
    Disk,
    /// Every embedding was scored in memory, the best were read: exact.
    Scan,
    /// By a walk of the graph, the best were read: nearly exact.
    Graph,
}

/// The indexes of a database, shared by its sessions.
pub(crate) struct VectorIndexes {
    changes: Arc<Changes>,
    labels: RwLock<HashMap<LabelId, Arc<Slot>>>,
    builder: Builder,
    /// See [`build::GRAPH_MIN`].
    graph_min: usize,
}

/// The index of one label.
#[derive(Default)]
struct Slot {
    index: RwLock<Option<LabelIndex>>,
    /// Held by the one who brings the index up to date, so that others wait and do not do it too.
    following: Mutex<()>,
}

/// Which state is asked, and at which instant.
struct Moment {
    model: Option<String>,
    last_commit: Time,
    time: Time,
}

impl VectorIndexes {
    /// No index yet; they follow the commits of that store.
    pub(crate) fn new(changes: &Arc<Changes>) -> Self {
        Self::with_graphs_from(changes, build::GRAPH_MIN)
    }

    fn with_graphs_from(changes: &Arc<Changes>, graph_min: usize) -> Self {
        let (labels, builder) = (RwLock::default(), Builder::default());
        Self { changes: Arc::clone(changes), labels, builder, graph_min }
    }

    /// The nodes nearest to the query that `accept` says yes to. It is asked about the nearest
    /// first, with the score, once about each node and about no more than it takes.
    ///
    /// # Errors
    ///
    /// [`Error::Execute`] if the query has another number of dimensions than what is stored, or is
    /// not finite; [`Error::Storage`] if the disk cannot be read, a stored vector is damaged, or the
    /// embeddings are being made anew by another model; and every error of `accept`.
    pub(crate) fn search(&self, search: &Search<'_>, accept: &mut Accept<'_>) -> Result<Found> {
        let model = search.reader.model()?;
        if !search.query.iter().all(|component| component.is_finite()) {
            return Err(Diagnostic::new("the embedding of the query is not finite").execute());
        }
        let ranking = Ranking::new(search.top);
        if search.reader.has_changes() {
            return disk::search(search, ranking, accept);
        }
        let last_commit = search.reader.last_commit()?;
        let time = match search.system {
            SystemScope::AsOf(time) => time.min(last_commit),
            SystemScope::Current | SystemScope::All => last_commit,
        };
        let moment = Moment { model, last_commit, time };
        let labels: BTreeSet<LabelId> = match search.labels {
            Some(labels) => labels.iter().copied().collect(),
            None => search.reader.catalog().labels().map(|(label, _)| label).collect(),
        };
        let mut slots = Vec::new();
        for label in labels {
            let slot = self.slot(label);
            if !self.bring_up(&slot, label, search.reader, &moment)? {
                return disk::search(search, ranking, accept);
            }
            slots.push((label, slot));
        }
        run(search, &moment, &slots, ranking, accept)
    }

    fn slot(&self, label: LabelId) -> Arc<Slot> {
        if let Some(slot) = self.labels.read().get(&label) {
            return Arc::clone(slot);
        }
        Arc::clone(self.labels.write().entry(label).or_default())
    }

    /// Brings an index up to what a reader sees. False if it cannot answer for that reader.
    fn bring_up(
        &self,
        slot: &Arc<Slot>,
        label: LabelId,
        reader: Reader<'_>,
        moment: &Moment,
    ) -> Result<bool> {
        if let Some(answers) = self.answers(slot, moment) {
            return Ok(answers);
        }
        // Another question may be reading the whole index.
        let _following = threads::locked(&slot.following, || reader.in_time())?;
        if let Some(answers) = self.answers(slot, moment) {
            return Ok(answers);
        }
        match self.changed(slot, label, moment) {
            Some(nodes) => {
                let read = |node| Ok((node, label::history(reader, label, node)?));
                let changes = nodes.into_iter().map(read).collect::<Result<Vec<_>>>()?;
                if let Some(index) = slot.index.write().as_mut() {
                    index.follow(moment.last_commit, changes);
                }
            }
            None => {
                let index = LabelIndex::read(reader, label, moment.model.clone())?;
                *slot.index.write() = Some(index);
            }
        }
        Ok(self.answers(slot, moment).unwrap_or(false))
    }

    /// Whether an index answers for a reader; none if it must be brought up first. If a graph is
    /// worth it, one is begun.
    fn answers(&self, slot: &Arc<Slot>, moment: &Moment) -> Option<bool> {
        let held = slot.index.read();
        let index = held.as_ref()?;
        if moment.last_commit > index.at {
            return None;
        }
        let answers = index.is_even && index.model == moment.model;
        if answers && build::is_worth_it(index, self.graph_min) {
            self.builder.start(slot);
        }
        Some(answers && index.answers(moment.last_commit))
    }

    /// The nodes of a label that changed between the index and a later reader; none if nobody
    /// knows, or if the index is better read anew.
    fn changed(&self, slot: &Slot, label: LabelId, moment: &Moment) -> Option<BTreeSet<NodeId>> {
        let held = slot.index.read();
        let index = held.as_ref()?;
        if index.model != moment.model || !index.is_even || index.is_hollow() {
            return None;
        }
        let changes = self.changes.since(index.at)?;
        let seen = changes.into_iter().filter(|(commit, _)| *commit <= moment.last_commit);
        let ours = seen.filter(|(_, changed)| changed.label == label);
        Some(ours.map(|(_, changed)| changed.node).collect())
    }
}

/// Searches indexes that answer for the reader.
fn run(
    search: &Search<'_>,
    moment: &Moment,
    slots: &[(LabelId, Arc<Slot>)],
    mut ranking: Ranking,
    accept: &mut Accept<'_>,
) -> Result<Found> {
    let query = Query::new(search.query);
    let mut looked = 0;
    let exact = SystemScope::AsOf(moment.time);
    let mut score = |candidate: &Candidate| -> Result<Option<f32>> {
        let vector = search.reader.vector(candidate.label, candidate.node, exact)?;
        Ok(vector.map(|vector| dot(search.query, &vector)))
    };
    let mut count = search.top.saturating_mul(4).saturating_add(CANDIDATES);
    for walk in 0..WALKS {
        let wider = TAKEN_PART.pow(walk);
        let Some(walked) = gather_by_graph(search, moment, slots, &query, wider)? else { break };
        looked += walked.looked;
        ranking.take(&walked, &mut score, accept)?;
        if ranking.len() == search.top {
            return Ok(Found { nodes: ranking.finish(), way: Way::Graph, looked });
        }
        ranking.reopen();
        count = count.max(walked.candidates.len().saturating_mul(WIDER));
    }
    loop {
        let gathered = gather_all(search, moment, slots, &query, count)?;
        let Some(gathered) = gathered else { return disk::search(search, ranking, accept) };
        looked += gathered.looked;
        if ranking.take(&gathered, &mut score, accept)? {
            return Ok(Found { nodes: ranking.finish(), way: Way::Scan, looked });
        }
        count = count.saturating_mul(WIDER);
    }
}

/// The best candidates of all labels by a walk, so many times as broad as the graph needs at least;
/// none if there is no graph, or it leads nowhere.
fn gather_by_graph(
    search: &Search<'_>,
    moment: &Moment,
    slots: &[(LabelId, Arc<Slot>)],
    query: &Query,
    wider: usize,
) -> Result<Option<Gathered>> {
    // Codes put them in another order than exact scores.
    let count = search.top.saturating_add(search.top / 2).max(build::BREADTHS[0] / TAKEN_PART);
    let count = count.saturating_mul(wider);
    let kept = count.saturating_mul(TAKEN_PART);
    if kept > BREADTH_MAX {
        return Ok(None);
    }
    let mut all = Gathered::default();
    let mut is_walked = false;
    for (label, slot) in slots {
        let held = slot.index.read();
        let Some(index) = answering(held.as_ref(), search, moment)? else { return Ok(None) };
        let graph = index.graph.as_ref().and_then(|graph| Some((graph, graph.breadth?)));
        let walked = graph.map_or(0, |(graph, _)| graph.len());
        if let Some((graph, breadth)) = graph {
            let breadth = breadth.saturating_mul(wider).max(kept);
            if wider > 1 && breadth > BREADTH_MAX {
                return Ok(None);
            }
            let all_stand = index.all_stand_at(moment.time);
            let stands = |place: u32| {
                let entry = || index.entries.get(place as usize);
                all_stand || entry().is_some_and(|entry| entry.stands_at(moment.time))
            };
            let looked_max = graph.len() / WALK_PART;
            let walk = graph.search(&index.codes, query, breadth, looked_max, &stands);
            if walk.is_cut {
                return Ok(None);
            }
            is_walked = true;
            all.looked += walk.looked;
            all.candidates.extend(walk.found.iter().filter_map(|near| {
                let place = near.place as usize;
                let bounded = query.with_error(near.score, index.codes.scale(place));
                let node = index.entries.get(place)?.node;
                Some(Candidate { most: bounded.score + bounded.error, label: *label, node })
            }));
        }
        all.add(gather::scan(index, *label, query, moment.time, walked, count));
    }
    all.keep(count);
    // What is left is not known.
    all.rest = None;
    Ok(is_walked.then_some(all))
}

/// The `count` best candidates of all labels; none if an index does not answer any more.
fn gather_all(
    search: &Search<'_>,
    moment: &Moment,
    slots: &[(LabelId, Arc<Slot>)],
    query: &Query,
    count: usize,
) -> Result<Option<Gathered>> {
    let mut all = Gathered::default();
    for (label, slot) in slots {
        let held = slot.index.read();
        let Some(index) = answering(held.as_ref(), search, moment)? else { return Ok(None) };
        all.add(gather::scan(index, *label, query, moment.time, 0, count));
    }
    all.keep(count);
    Ok(Some(all))
}

/// The index, if it answers for the reader; another search may have read it anew meanwhile. If it
/// has other dimensions, nothing in it stands then.
fn answering<'i>(
    index: Option<&'i LabelIndex>,
    search: &Search<'_>,
    moment: &Moment,
) -> Result<Option<&'i LabelIndex>> {
    let answers = |index: &&LabelIndex| {
        index.is_even && index.model == moment.model && index.answers(moment.last_commit)
    };
    let Some(index) = index.filter(answers) else { return Ok(None) };
    let stored = index.codes.dimensions();
    if stored != search.query.len()
        && index.entries.iter().any(|entry| entry.stands_at(moment.time))
    {
        check_dimensions(search.query, stored)?;
    }
    Ok(Some(index))
}

/// An error if the query and an embedding do not have the same number of dimensions.
pub(crate) fn check_dimensions(query: &[f32], stored: usize) -> Result<()> {
    if query.len() == stored {
        return Ok(());
    }
    let query = query.len();
    Err(by_another(format!("the query has {query} dimensions, and an embedding {stored}")))
}

/// An error if another model made the embeddings that are stored than the one of that id, or if
/// they are being made anew.
pub(crate) fn check_model(reader: Reader<'_>, id: &str) -> Result<()> {
    match reader.model()? {
        Some(stored) if stored != id => {
            Err(by_another(format!("the embeddings were made by {stored}, and the query by {id}")))
        }
        _ => Ok(()),
    }
}

fn by_another(message: String) -> Error {
    Diagnostic::new(message)
        .help(
            "open the database with the model that made its embeddings, or let `engraph embed`, or \
             `Engraph::reembed`, make them anew",
        )
        .execute()
}
