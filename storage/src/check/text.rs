//! Full-text indexes: every node is held against its documents, and every posting against its
//! document.

use std::ops::ControlFlow;

use super::nodes::wrong;
use super::{Check, Verdict};
use crate::error::Result;
use crate::families::Family;
use crate::graph::{LabelId, NodeId, NodeRecord, Time};
use crate::key;
use crate::text::{self, DOCUMENT, Held, Posting, Spell, Statistics};

/// Called with a key and its value.
type VisitEntry<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

impl<'c> Check<'c> {
    /// Whether the index of its label has what a node says and said, and nothing else.
    pub(super) fn texts(&self, node: NodeId, record: &NodeRecord) -> Result<Verdict> {
        let Some(index) = self.catalog.full_text(record.label) else { return Ok(Ok(())) };
        let fields = index.text_fields().unwrap_or_default();
        let (mut holds, mut stands, mut past) = (true, false, 0);
        text::history(self.view, fields, node, record, &mut |spell| {
            stands = spell.until.is_none();
            past += usize::from(!stands);
            holds = holds && self.has_spell(record.label, node, &spell)?;
            Ok(())
        })?;
        let prefix = key::posting(record.label, DOCUMENT, node);
        let mut held = 0;
        self.view.scan_prefix(Family::TextPast, &prefix, &mut |_, _| {
            held += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        let has_document = self.view.get(Family::Text, &prefix)?.is_some();
        Ok(match holds && held == past && has_document == stands {
            true => Ok(()),
            false => Err(("I5", format!("the index '{}' does not hold its texts", index.name))),
        })
    }

    fn has_spell(&self, label: LabelId, node: NodeId, spell: &Spell) -> Result<bool> {
        let Spell { since, until, document } = spell;
        let whole = (DOCUMENT, document.encode(*since));
        for (term, value) in document.postings(*since).chain([whole]) {
            let (family, key) = text::place(label, term, node, *until);
            if self.view.get(family, &key)? != Some(value) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn text(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let Some((label, term, rest)) = key::term_from(key) else {
            return Ok(wrong("D", "no label and term"));
        };
        let Some(index) = self.catalog.full_text(label) else {
            return Ok(wrong("I5", "there is no such index"));
        };
        if !rest.is_empty() {
            let Some(node) = key::node_from(rest) else {
                return Ok(wrong("D", "no node id"));
            };
            return self.posting((label, term, node, None), value);
        }
        let is_right = match term {
            DOCUMENT => {
                let fields = index.text_fields().map_or(0, <[_]>::len);
                Statistics::decode(key, value)? == self.statistics(label, fields)?
            }
            term => text::count(self.view, label, term)? == self.postings(label, term)?,
        };
        Ok(match is_right {
            true => Ok(()),
            false => wrong("I5", "it does not count what is there"),
        })
    }

    pub(super) fn text_past(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let Some((label, term, rest)) = key::term_from(key) else {
            return Ok(wrong("D", "no label and term"));
        };
        if self.catalog.full_text(label).is_none() {
            return Ok(wrong("I5", "there is no such index"));
        }
        let ([node, until], []) = rest.as_chunks() else { return Ok(wrong("D", "no node id")) };
        let (node, until) = (NodeId(u64::from_be_bytes(*node)), key::time_from(*until));
        self.posting((label, term, node, Some(until)), value)
    }

    /// Whether a document has its node, or a posting its document and its count.
    fn posting(
        &self,
        (label, term, node, until): (LabelId, &str, NodeId, Option<Time>),
        value: &[u8],
    ) -> Result<Verdict> {
        let (family, place) = text::place(label, DOCUMENT, node, until);
        if term == DOCUMENT {
            let held = Held::decode(family, &place, value.to_vec())?;
            let end = until.unwrap_or(self.counters.clock.saturating_add(1));
            if held.since >= end || end > self.counters.clock.saturating_add(1) {
                return Ok(wrong("I2", "it ends before it begins, or after the last commit"));
            }
            let held = match until {
                Some(_) => self.node_ever(node)?,
                None => self.node_now(node)?,
            };
            if held.map(|record| record.label) != Some(label) {
                return Ok(wrong("I4", "the texts of a node that is not there"));
            }
        } else {
            let Some(posting) = Posting::decode(value) else { return Ok(wrong("D", "no posting")) };
            let Some(bytes) = self.view.get(family, &place)? else {
                return Ok(wrong("I5", "the node has no texts"));
            };
            let held = Held::decode(family, &place, bytes)?;
            if held.since != posting.since || !held.terms().any(|other| other == term) {
                return Ok(wrong("I5", "the node does not have that term"));
            }
        }
        let is_counted =
            until.is_some() || self.view.get(Family::Text, &key::term(label, term))?.is_some();
        Ok(match is_counted {
            true => Ok(()),
            false => wrong("I5", "it is not counted"),
        })
    }

    /// How many nodes have a term.
    fn postings(&self, label: LabelId, term: &str) -> Result<u64> {
        let mut postings = 0;
        self.each_posting(label, term, &mut |_, _| {
            postings += 1;
            Ok(())
        })?;
        Ok(postings)
    }

    fn statistics(&self, label: LabelId, fields: usize) -> Result<Statistics> {
        let mut statistics = Statistics::none(fields);
        self.each_posting(label, DOCUMENT, &mut |key, value| {
            statistics.add(&Held::decode(Family::Text, key, value.to_vec())?.lengths);
            Ok(())
        })?;
        Ok(statistics)
    }

    fn each_posting(&self, label: LabelId, term: &str, visit: VisitEntry<'_>) -> Result<()> {
        let count = key::term(label, term);
        let (from, to) = ([&count[..], &[0]].concat(), key::after_prefix(&count));
        self.view.scan(Family::Text, &from, to.as_deref(), &mut |key, value| {
            visit(key, value)?;
            Ok(ControlFlow::Continue(()))
        })
    }
}
