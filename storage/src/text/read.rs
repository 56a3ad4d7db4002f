//! Postings of one index as they stand in a scope: of a word, a phrase, or all words with a
//! beginning.
//!
//! As of a past instant, those that stood then are among those of now and those that were replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::document::Head;
use super::{DOCUMENT, Held, Posting, Statistics, analyze, count};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Interval, LabelId, NodeId, SystemScope, Time};
use crate::key;
use crate::view::View;

/// The most terms that a beginning stands for.
const EXPANSIONS_MAX: usize = 256;
/// Keys that a scan visits in the time of one look-up, about.
pub(super) const LOOKUP_KEYS: u64 = 8;

/// How often something is in a field, and how long that is.
pub(super) type Seen = Head;

/// Makes a number of what is seen in the fields of a node.
pub(super) type Weigh<'w> = &'w mut dyn FnMut(&mut dyn Iterator<Item = Seen>) -> f64;

/// Nodes in order, each with its number.
type Weighed = Vec<(NodeId, f64)>;

/// Called with each node and its value.
type Visit<'v> = &'v mut dyn FnMut(NodeId, &[u8]) -> Result<()>;

/// An index at an instant.
#[derive(Clone, Copy)]
pub(super) struct Scope<'r> {
    view: View<'r>,
    label: LabelId,
    /// None is now.
    past: Option<Time>,
}

impl<'r> Scope<'r> {
    pub(super) fn new(view: View<'r>, label: LabelId, system: SystemScope) -> Self {
        let past = match system {
            SystemScope::AsOf(time) => Some(time),
            SystemScope::Current | SystemScope::All => None,
        };
        Self { view, label, past }
    }

    /// What all documents are together.
    pub(super) fn statistics(&self, fields: usize) -> Result<Statistics> {
        if self.past.is_none() {
            let key = key::term(self.label, DOCUMENT);
            return match self.view.get(Family::Text, &key)? {
                Some(bytes) => Statistics::decode(&key, &bytes),
                None => Ok(Statistics::none(fields)),
            };
        }
        self.counted(fields)
    }

    /// What all documents are together, counted one by one.
    pub(super) fn counted(&self, fields: usize) -> Result<Statistics> {
        let mut statistics = Statistics::none(fields);
        self.each(DOCUMENT, &mut |node, value| {
            let key = key::posting(self.label, DOCUMENT, node);
            statistics.add(&Held::decode(Family::Text, &key, value.to_vec())?.lengths);
            Ok(())
        })?;
        Ok(statistics)
    }

    /// How many nodes have a term, if that is known without reading them.
    pub(super) fn count(&self, term: &str) -> Result<Option<u64>> {
        match self.past {
            None => count(self.view, self.label, term).map(Some),
            Some(_) => Ok(None),
        }
    }

    /// Calls `visit` on every node that has a term, with its posting.
    fn each(&self, term: &str, visit: Visit<'_>) -> Result<()> {
        let count = key::term(self.label, term);
        let (from, to) = ([&count[..], &[0]].concat(), key::after_prefix(&count));
        let past = self.past;
        self.view.scan(Family::Text, &from, to.as_deref(), &mut |key, value| {
            if past.is_none_or(|time| since(value) <= time) {
                visit(node_at(Family::Text, key, key.len().saturating_sub(8))?, value)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let Some(time) = past else { return Ok(()) };
        self.view.scan(Family::TextPast, &from, to.as_deref(), &mut |key, value| {
            let until = key.last_chunk().map_or(Interval::MIN, |until| key::time_from(*until));
            if since(value) <= time && time < until {
                visit(node_at(Family::TextPast, key, key.len().saturating_sub(16))?, value)?;
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The posting of a term and a node.
    fn posting(&self, term: &str, node: NodeId) -> Result<Option<Vec<u8>>> {
        let current = self.view.get(Family::Text, &key::posting(self.label, term, node))?;
        let Some(time) = self.past else { return Ok(current) };
        if current.as_ref().is_some_and(|value| since(value) <= time) {
            return Ok(current);
        }
        let from = key::posting_past(self.label, term, node, time.saturating_add(1));
        let to = key::after_prefix(&key::posting(self.label, term, node));
        let mut found = None;
        self.view.scan(Family::TextPast, &from, to.as_deref(), &mut |_, value| {
            found = (since(value) <= time).then(|| value.to_vec());
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Every node that has a term.
    pub(super) fn word(&self, term: &str, weigh: Weigh<'_>) -> Result<Weighed> {
        let mut found = Vec::new();
        self.each(term, &mut |node, value| {
            found.push((node, weigh(&mut self.decode(term, node, value)?.heads())));
            Ok(())
        })?;
        found.sort_unstable_by_key(|(node, _)| *node);
        Ok(found)
    }

    /// The number of one node; none if it does not have the term.
    pub(super) fn look_up(
        &self,
        term: &str,
        node: NodeId,
        weigh: Weigh<'_>,
    ) -> Result<Option<f64>> {
        let Some(value) = self.posting(term, node)? else { return Ok(None) };
        Ok(Some(weigh(&mut self.decode(term, node, &value)?.heads())))
    }

    /// Every node that has terms after each other, at these distances, in one field. The rarest
    /// term is read, and the others at those nodes.
    pub(super) fn phrase(&self, terms: &[(u32, String)], weigh: Weigh<'_>) -> Result<Weighed> {
        let mut order = Vec::with_capacity(terms.len());
        for (offset, term) in terms {
            order.push((self.count(term)?.unwrap_or(u64::MAX), *offset, term.as_str()));
        }
        order.sort_unstable();
        let mut order = order.into_iter();
        let Some((_, offset, first)) = order.next() else { return Ok(Vec::new()) };
        let mut found = BTreeMap::new();
        self.each(first, &mut |node, value| {
            let starts = starts(&self.decode(first, node, value)?, offset);
            found.insert(node, starts);
            Ok(())
        })?;
        for (count, offset, term) in order {
            if found.is_empty() {
                break;
            }
            self.narrow(&mut found, term, offset, count)?;
        }
        let found = found.into_iter().map(|(node, starts)| {
            let mut seen = starts.iter().map(|(head, starts)| Seen {
                frequency: u32::try_from(starts.len()).unwrap_or(u32::MAX),
                ..*head
            });
            (node, weigh(&mut seen))
        });
        Ok(found.collect())
    }

    /// Keeps those places where a term follows at its distance.
    fn narrow(
        &self,
        found: &mut BTreeMap<NodeId, Starts>,
        term: &str,
        offset: u32,
        count: u64,
    ) -> Result<()> {
        let mut kept = BTreeMap::new();
        let mut keep = |node: NodeId, held: &Starts, value: &[u8]| -> Result<()> {
            let left = both(held, &starts(&self.decode(term, node, value)?, offset));
            if !left.is_empty() {
                kept.insert(node, left);
            }
            Ok(())
        };
        if (found.len() as u64).saturating_mul(LOOKUP_KEYS) < count {
            for (node, held) in &*found {
                if let Some(value) = self.posting(term, *node)? {
                    keep(*node, held, &value)?;
                }
            }
        } else {
            self.each(term, &mut |node, value| match found.get(&node) {
                Some(held) => keep(node, held, value),
                None => Ok(()),
            })?;
        }
        *found = kept;
        Ok(())
    }

    /// Every node that has a term with this beginning, or the term of the beginning itself; all of
    /// them count as one term. Only the first [`EXPANSIONS_MAX`] such terms in order count.
    pub(super) fn prefix(&self, beginning: &str, weigh: Weigh<'_>) -> Result<Weighed> {
        let mut found = BTreeMap::<NodeId, BTreeMap<u8, Seen>>::new();
        let mut add = |term: &str| {
            let mut is_there = false;
            self.each(term, &mut |node, value| {
                is_there = true;
                for head in self.decode(term, node, value)?.heads() {
                    let fields = found.entry(node).or_default();
                    let seen = fields.entry(head.field).or_insert(Seen { frequency: 0, ..head });
                    seen.frequency = seen.frequency.saturating_add(head.frequency);
                }
                Ok(())
            })?;
            Ok::<bool, StorageError>(is_there)
        };
        let stem = analyze::term(beginning.to_owned());
        if let Some(stem) = stem.filter(|stem| !stem.starts_with(beginning)) {
            add(&stem)?;
        }
        let (mut terms, mut from) = (0, beginning.to_owned().into_bytes());
        while terms < EXPANSIONS_MAX
            && let Some(term) = self.next_term(beginning, &from)?
        {
            terms += usize::from(add(&term)?);
            from = [term.as_bytes(), &[1]].concat();
        }
        let found =
            found.into_iter().map(|(node, fields)| (node, weigh(&mut fields.into_values())));
        Ok(found.collect())
    }

    /// The first term with a beginning that is not before `from`.
    fn next_term(&self, beginning: &str, from: &[u8]) -> Result<Option<String>> {
        let label = self.label.0.to_be_bytes();
        let from = [&label[..], from].concat();
        let to = key::after_prefix(&[&label[..], beginning.as_bytes()].concat());
        let families: &[Family] = match self.past {
            None => &[Family::Text],
            Some(_) => &[Family::Text, Family::TextPast],
        };
        let mut first = BTreeSet::new();
        for family in families {
            self.view.scan(*family, &from, to.as_deref(), &mut |key, _| {
                let damaged = || StorageError::corrupt(family.name(), key, "no term");
                let (_, term, _) = key::term_from(key).ok_or_else(damaged)?;
                first.insert(term.to_owned());
                Ok(ControlFlow::Break(()))
            })?;
        }
        Ok(first.pop_first())
    }

    fn decode<'p>(&self, term: &str, node: NodeId, value: &'p [u8]) -> Result<Posting<'p>> {
        let posting = Posting::decode(value);
        posting.ok_or_else(|| {
            let key = key::posting(self.label, term, node);
            StorageError::corrupt(Family::Text.name(), &key, "no posting")
        })
    }
}

/// Since when a document or posting stands.
fn since(value: &[u8]) -> Time {
    value.first_chunk().map_or(Interval::MAX, |since| Time::from_le_bytes(*since))
}

/// The node in a key, at that place.
fn node_at(family: Family, key: &[u8], place: usize) -> Result<NodeId> {
    let node = key.get(place..).and_then(<[u8]>::first_chunk);
    node.map(|node| NodeId(u64::from_be_bytes(*node)))
        .ok_or_else(|| StorageError::corrupt(family.name(), key, "no term and node"))
}

/// By field, where a phrase may begin.
type Starts = Vec<(Head, Vec<u32>)>;

/// Where a phrase begins that has this term at that distance.
fn starts(posting: &Posting<'_>, offset: u32) -> Starts {
    let in_field = |(head, positions): (Head, &[[u8; 4]])| {
        let positions = positions.iter().map(|position| u32::from_le_bytes(*position));
        (head, positions.filter_map(|position| position.checked_sub(offset)).collect())
    };
    posting.places().map(in_field).collect()
}

/// Where it begins by both.
fn both(held: &Starts, other: &Starts) -> Starts {
    let mut left = Vec::new();
    for (head, starts) in held {
        let Some((_, others)) = other.iter().find(|(other, _)| other.field == head.field) else {
            continue;
        };
        let starts: Vec<u32> =
            starts.iter().copied().filter(|start| others.binary_search(start).is_ok()).collect();
        if !starts.is_empty() {
            left.push((*head, starts));
        }
    }
    left
}
