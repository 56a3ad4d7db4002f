//! The best nodes for a query by their words: BM25F (Robertson and Zaragoza, "The Probabilistic
//! Relevance Framework: BM25 and Beyond", 2009).
//!
//! ```text
//! score       sum over the parts of the query of  times * idf * f / (k1 + f)
//! f           sum over the fields of  weight * frequency / (1 - b + b * length / mean length)
//! idf         ln(1 + (documents - df + 0.5) / (df + 0.5))
//! ```
//!
//! The mean length of a field is that of the nodes that have it: a caption that few turns have is not
//! long because the others have none.
//!
//! Exact: what is left out cannot be among the best (as in MaxScore, Turtle and Flood, "Query
//! evaluation: strategies and optimizations", 1995). Parts are taken in order of what they can give
//! at most. A node is scored when it is first met; once all parts that are left together give less
//! than the worst of the best, no new node is looked for.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};

use super::query::{self, Clause};
use super::read::{LOOKUP_KEYS, Scope, Seen};
use crate::error::{Result, StorageError};
use crate::graph::{IndexDefinition, LabelId, NodeId, SystemScope};
use crate::reader::Reader;

/// How soon more of a term counts less.
const K1: f64 = 1.2;
/// How much the length of a field counts.
const B: f64 = 0.75;
/// More than rounding can make of a sum.
const ROUNDING: f64 = 1.0 + 1e-9;

impl<'r> Reader<'r> {
    /// The full-text index of a label; none if this state has no such one.
    pub fn text_index(&self, label: LabelId) -> Result<Option<&'r IndexDefinition>> {
        let Some(index) = self.catalog().full_text(label) else { return Ok(None) };
        Ok(self.has_index(index)?.then_some(index))
    }

    /// The `top` best nodes for a query with their scores, the best first; of equal ones the older
    /// first. Only nodes that `accept` is true for, which is asked of a node that would be among
    /// the best. All scores are above 0.
    ///
    /// Exact in every state, and as of any instant; [`SystemScope::All`] is as now. Nothing is found
    /// unless the index is a [`Self::text_index`].
    ///
    /// # Errors
    ///
    /// Those of `accept`, and of reading.
    pub fn search_text<E: From<StorageError>>(
        &self,
        index: &IndexDefinition,
        query: &str,
        system: SystemScope,
        top: usize,
        accept: &mut dyn FnMut(NodeId) -> std::result::Result<bool, E>,
    ) -> std::result::Result<Vec<(f64, NodeId)>, E> {
        if top == 0 {
            return Ok(Vec::new());
        }
        let mut search = Search::new(*self, index, query, system)?;
        let mut best = Best { top, hits: BinaryHeap::new() };
        let mut met = HashSet::new();
        for place in 0..search.parts.len() {
            if search.rest(place) < best.threshold() {
                break;
            }
            search.read(place)?;
            let nodes = search.nodes(place);
            for node in nodes {
                // What an earlier part has, was scored there.
                if !met.insert(node) {
                    continue;
                }
                let Some(score) = search.score_from(place, node, &best)? else { continue };
                let hit = Hit { score, node };
                if best.has_room_for(&hit) && accept(node)? {
                    best.add(hit);
                }
            }
        }
        Ok(best.into_sorted())
    }

    /// The score of each of these nodes for a query, as [`Self::search_text`] has it; 0 if nothing
    /// of the query is in its texts.
    pub fn score_text(
        &self,
        index: &IndexDefinition,
        query: &str,
        system: SystemScope,
        nodes: &[NodeId],
    ) -> Result<Vec<f64>> {
        let mut search = Search::new(*self, index, query, system)?;
        let everything = Best { top: usize::MAX, hits: BinaryHeap::new() };
        let mut score =
            |node: &NodeId| Ok(search.score_from(0, *node, &everything)?.unwrap_or_default());
        nodes.iter().map(&mut score).collect()
    }
}

/// A node and its score. The greater one is the better one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hit {
    score: f64,
    node: NodeId,
}

impl Eq for Hit {}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.node.cmp(&self.node))
    }
}

/// The best nodes so far.
struct Best {
    top: usize,
    hits: BinaryHeap<Reverse<Hit>>,
}

impl Best {
    /// What a node must reach to be among them.
    fn threshold(&self) -> f64 {
        match self.hits.peek() {
            Some(Reverse(worst)) if self.hits.len() >= self.top => worst.score,
            _ => 0.0,
        }
    }

    fn has_room_for(&self, hit: &Hit) -> bool {
        self.hits.len() < self.top || self.hits.peek().is_some_and(|Reverse(worst)| hit > worst)
    }

    fn add(&mut self, hit: Hit) {
        if self.hits.len() >= self.top {
            self.hits.pop();
        }
        self.hits.push(Reverse(hit));
    }

    fn into_sorted(self) -> Vec<(f64, NodeId)> {
        let hits = self.hits.into_sorted_vec().into_iter();
        hits.map(|Reverse(hit)| (hit.score, hit.node)).collect()
    }
}

/// A part of a query, weighed.
struct Part {
    source: Source,
    /// What it gives a node that has it without end.
    weight: f64,
    /// The most that it gives any node.
    bound: f64,
}

/// Where the nodes of a part are known from.
enum Source {
    /// A term that so many nodes have, and that was looked up so often.
    Term { term: String, count: u64, looked_up: u64 },
    /// Nodes in order, with f / (k1 + f).
    Read(Vec<(NodeId, f64)>),
}

/// A search under way.
struct Search<'r> {
    scope: Scope<'r>,
    /// Weight and mean length of each field.
    fields: Vec<(f64, f64)>,
    /// The one that can give most first.
    parts: Vec<Part>,
    /// The most that a node can have that is in no part before each of them.
    rest: Vec<f64>,
}

impl<'r> Search<'r> {
    fn new(
        reader: Reader<'r>,
        index: &IndexDefinition,
        query: &str,
        system: SystemScope,
    ) -> Result<Self> {
        let weights = index.text_fields().unwrap_or_default();
        let scope = Scope::new(reader.view(), index.label, system);
        let statistics = scope.statistics(weights.len())?;
        let documents = statistics.documents as f64;
        let fields = weights.iter().zip(&statistics.fields);
        let fields = fields.map(|((_, weight), field)| (f64::from(*weight), field.mean()));
        let mut search =
            Self { scope, fields: fields.collect(), parts: Vec::new(), rest: Vec::new() };
        if statistics.documents == 0 || weights.is_empty() {
            return Ok(search);
        }
        for (clause, times) in query::parse(query) {
            let (source, df) = search.source(clause)?;
            if df == 0 {
                continue;
            }
            let df = df as f64;
            let idf = (1.0 + (documents - df + 0.5).max(0.0) / (df + 0.5)).ln();
            let weight = f64::from(times) * idf;
            let part = Part { source, weight, bound: weight };
            search.parts.push(part);
        }
        search.parts.iter_mut().for_each(Part::tighten);
        search.parts.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        search.sum_up();
        Ok(search)
    }

    /// The nodes that have a part of a query, and how many they are. A word is not read yet if how
    /// many have it is known without.
    fn source(&self, clause: Clause) -> Result<(Source, u64)> {
        let read = match clause {
            Clause::Word(term) => match self.scope.count(&term)? {
                Some(count) => return Ok((Source::Term { term, count, looked_up: 0 }, count)),
                None => self.scope.word(&term, &mut |seen| self.saturated(seen))?,
            },
            Clause::Phrase(terms) => self.scope.phrase(&terms, &mut |seen| self.saturated(seen))?,
            Clause::Prefix(word) => self.scope.prefix(&word, &mut |seen| self.saturated(seen))?,
        };
        let df = read.len() as u64;
        Ok((Source::Read(read), df))
    }

    /// f / (k1 + f) of what is seen in the fields of a node.
    fn saturated(&self, seen: &mut dyn Iterator<Item = Seen>) -> f64 {
        let mut sum = 0.0;
        for Seen { field, length, frequency } in seen {
            if let Some((weight, mean)) = self.fields.get(usize::from(field)) {
                let relative = f64::from(length) / mean;
                sum += weight * f64::from(frequency) / (1.0 - B + B * relative);
            }
        }
        sum / (K1 + sum)
    }

    /// The most that a node can have that is in no part before this one.
    fn rest(&self, place: usize) -> f64 {
        self.rest.get(place).copied().unwrap_or_default()
    }

    fn sum_up(&mut self) {
        let mut sum = 0.0;
        let sums = self.parts.iter().rev().map(|part| {
            sum += part.bound;
            sum * ROUNDING
        });
        self.rest = sums.collect();
        self.rest.reverse();
    }

    /// Reads all nodes of a part.
    fn read(&mut self, place: usize) -> Result<()> {
        let Some(Part { source: Source::Term { term, .. }, .. }) = self.parts.get(place) else {
            return Ok(());
        };
        let read = self.scope.word(term, &mut |seen| self.saturated(seen))?;
        if let Some(part) = self.parts.get_mut(place) {
            part.source = Source::Read(read);
            part.tighten();
        }
        self.sum_up();
        Ok(())
    }

    /// The nodes of a part that was read.
    fn nodes(&self, place: usize) -> Vec<NodeId> {
        match self.parts.get(place).map(|part| &part.source) {
            Some(Source::Read(read)) => read.iter().map(|(node, _)| *node).collect(),
            _ => Vec::new(),
        }
    }

    /// The score of a node that is in no part before this one; none as soon as it cannot be among
    /// the best.
    fn score_from(&mut self, first: usize, node: NodeId, best: &Best) -> Result<Option<f64>> {
        let mut score = 0.0;
        for place in first..self.parts.len() {
            if (score + self.rest(place)) * ROUNDING < best.threshold() {
                return Ok(None);
            }
            score += self.share(place, node)?;
        }
        Ok(Some(score))
    }

    /// What a part gives a node.
    fn share(&mut self, place: usize, node: NodeId) -> Result<f64> {
        // One that was looked up so often that reading it would have cost as much, is read.
        if let Some(Part { source: Source::Term { count, looked_up, .. }, .. }) =
            self.parts.get_mut(place)
        {
            *looked_up += 1;
            if looked_up.saturating_mul(LOOKUP_KEYS) > *count {
                self.read(place)?;
            }
        }
        let Some(part) = self.parts.get(place) else { return Ok(0.0) };
        let saturated = match &part.source {
            Source::Read(read) => match read.binary_search_by_key(&node, |(node, _)| *node) {
                Ok(found) => read.get(found).map_or(0.0, |(_, saturated)| *saturated),
                Err(_) => 0.0,
            },
            Source::Term { term, .. } => {
                self.scope.look_up(term, node, &mut |seen| self.saturated(seen))?.unwrap_or(0.0)
            }
        };
        Ok(part.weight * saturated)
    }
}

impl Part {
    /// Lowers the bound to what a node has that was read.
    fn tighten(&mut self) {
        if let Source::Read(read) = &self.source {
            let most = read.iter().map(|(_, saturated)| *saturated).fold(0.0, f64::max);
            self.bound = self.weight * most;
        }
    }
}
