//! Keeping full-text indexes: with every change of a node, in its transaction, and all at once of
//! nodes that are there.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{DOCUMENT, Document, Held, Spell, Statistics, count, document, history};
use crate::definitions::Fields;
use crate::engine::{Engine, LOAD_BYTES};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Definition, IndexDefinition, IndexKind, LabelId, NodeId, NodeRecord, Time};
use crate::key;
use crate::names::ended;
use crate::record;
use crate::transaction::Transaction;
use crate::view::View;

/// The most postings that an index is made of at once, so that its transaction stays small.
const POSTINGS_MAX: u64 = if cfg!(test) { 20_000 } else { 10_000_000 };

impl Transaction<'_> {
    /// Makes a full-text index of the nodes of a label by the texts of properties, each with its
    /// weight, with the nodes that there are and their past.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if there is an index of that name or a full-text index of the
    /// label, if the properties or weights cannot be (see [`IndexKind::FullText`]), or if the label
    /// has too many nodes or words already.
    pub fn define_text_index(
        &mut self,
        name: &str,
        label: &str,
        fields: &[(&str, f32)],
    ) -> Result<()> {
        let label = self.label(label)?;
        let fields: Result<Vec<_>> =
            fields.iter().map(|(name, weight)| Ok((self.property(name)?, *weight))).collect();
        let fields = fields?;
        let kind = IndexKind::FullText { fields: fields.clone() };
        let index = IndexDefinition { name: name.to_owned(), label, kind };
        self.check_new(&index)?;
        let nodes = self.nodes_to_index(&index)?;
        let ended = ended(self.view(), label)?;
        self.define(Definition::Index(index))?;
        let mut tally = Tally::new(fields.len());
        let present = nodes.into_iter().map(|node| (node, None));
        let ended = ended.into_iter().map(|(node, record)| (node, Some(record)));
        for (node, ended) in present.chain(ended) {
            self.check_goes_on()?;
            let record = match ended {
                Some(record) => record,
                None => self.current_node(node)?,
            };
            let mut spells = Vec::new();
            history(self.view(), &fields, node, &record, &mut |spell| {
                spells.push(spell);
                Ok(())
            })?;
            for spell in spells {
                for (family, key, value) in entries(label, node, &spell) {
                    self.overlay.put(family, key, value);
                    tally.postings += 1;
                }
                tally.add(&spell);
            }
            if tally.postings > POSTINGS_MAX {
                return Err(StorageError::Invalid(format!(
                    "the texts of {} have over {POSTINGS_MAX} words already; \
                     define the index before they are stored",
                    self.catalog.label_name(label)
                )));
            }
        }
        for (key, value) in tally.entries(label) {
            self.overlay.put(Family::Text, key, value);
        }
        Ok(())
    }

    /// Keeps the index of a label when a node changes, comes or goes. One that goes leaves nothing,
    /// of its past either.
    pub(crate) fn index_text(
        &mut self,
        label: LabelId,
        fields: Fields<'_>,
        node: NodeId,
        old: Option<&NodeRecord>,
        new: Option<&NodeRecord>,
    ) -> Result<()> {
        if old.or(new).is_none_or(|record| record.label != label) {
            return Ok(());
        }
        let Some(new) = new else { return self.forget_text(label, node) };
        let same_texts = |old: &NodeRecord| {
            fields
                .iter()
                .all(|(property, _)| old.properties.get(property) == new.properties.get(property))
        };
        if old.is_some_and(same_texts) {
            return Ok(());
        }
        let held = match old {
            Some(old) => self.document_before(label, fields, node, old)?,
            None => None,
        };
        let next = Document::of(fields, new);
        if held == next {
            return Ok(());
        }
        if held.is_some() {
            self.end_document(label, node)?;
        }
        match next {
            Some(document) => self.put_document(label, node, document, self.now),
            None => Ok(()),
        }
    }

    fn put_document(
        &mut self,
        label: LabelId,
        node: NodeId,
        document: Document,
        since: Time,
    ) -> Result<()> {
        self.count_terms(label, document.terms(), document.lengths(), true)?;
        for (family, key, value) in entries(label, node, &Spell { since, until: None, document }) {
            self.overlay.put(family, key, value);
        }
        Ok(())
    }

    /// The document of a node before this transaction. What the transaction made of it is taken
    /// back, so that nothing of an intermediate state stays.
    fn document_before(
        &mut self,
        label: LabelId,
        fields: Fields<'_>,
        node: NodeId,
        old: &NodeRecord,
    ) -> Result<Option<Document>> {
        if old.system_from != self.now {
            return Ok(Document::of(fields, old));
        }
        if let Some(held) = document(self.view(), label, node)?
            && held.since == self.now
        {
            self.count_terms(label, held.terms(), &held.lengths, false)?;
            for term in all_terms(&held) {
                self.overlay.delete(Family::Text, key::posting(label, term, node));
            }
        }
        let past = key::posting_past(label, DOCUMENT, node, self.now);
        if let Some(bytes) = self.view().get(Family::TextPast, &past)? {
            let held = Held::decode(Family::TextPast, &past, bytes)?;
            self.count_terms(label, held.terms(), &held.lengths, true)?;
            for term in all_terms(&held) {
                let past = key::posting_past(label, term, node, self.now);
                self.move_entry(Family::TextPast, past, Family::Text, |key| {
                    key.truncate(key.len().saturating_sub(8));
                })?;
            }
        }
        let past = key::node_past(node, self.now);
        match self.view().get(Family::NodesPast, &past)? {
            Some(bytes) => {
                let record: NodeRecord = record::decode(Family::NodesPast, &past, &bytes)?;
                Ok(Document::of(fields, &record))
            }
            None => Ok(None),
        }
    }

    /// Moves the document of a node to the past.
    fn end_document(&mut self, label: LabelId, node: NodeId) -> Result<()> {
        let Some(held) = document(self.view(), label, node)? else { return Ok(()) };
        self.count_terms(label, held.terms(), &held.lengths, false)?;
        let until = key::time(self.now);
        for term in all_terms(&held) {
            let place = key::posting(label, term, node);
            self.move_entry(Family::Text, place, Family::TextPast, |key| key.extend(until))?;
        }
        Ok(())
    }

    fn move_entry(
        &mut self,
        from: Family,
        key: Vec<u8>,
        to: Family,
        change: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let missing = || StorageError::corrupt(from.name(), &key, "a posting is missing");
        let value = self.view().get(from, &key)?.ok_or_else(missing)?;
        let mut place = key.clone();
        change(&mut place);
        self.overlay.delete(from, key);
        self.overlay.put(to, place, value);
        Ok(())
    }

    /// Indexes a node that was never changed anew, as if its record had always said what it says.
    pub(crate) fn reindex_text(
        &mut self,
        label: LabelId,
        fields: Fields<'_>,
        node: NodeId,
        record: &NodeRecord,
    ) -> Result<()> {
        if record.label != label {
            return Ok(());
        }
        self.forget_text(label, node)?;
        match Document::of(fields, record) {
            Some(document) => self.put_document(label, node, document, record.system_from),
            None => Ok(()),
        }
    }

    /// Takes out all documents of a node.
    fn forget_text(&mut self, label: LabelId, node: NodeId) -> Result<()> {
        if let Some(held) = document(self.view(), label, node)? {
            self.count_terms(label, held.terms(), &held.lengths, false)?;
            for term in all_terms(&held) {
                self.overlay.delete(Family::Text, key::posting(label, term, node));
            }
        }
        let mut past = Vec::new();
        let prefix = key::posting(label, DOCUMENT, node);
        self.view().scan_prefix(Family::TextPast, &prefix, &mut |key, value| {
            let until = key.last_chunk().map(|until| key::time_from(*until)).unwrap_or_default();
            past.push((until, Held::decode(Family::TextPast, key, value.to_vec())?));
            Ok(ControlFlow::Continue(()))
        })?;
        for (until, held) in past {
            for term in all_terms(&held) {
                let key = key::posting_past(label, term, node, until);
                self.overlay.delete(Family::TextPast, key);
            }
        }
        Ok(())
    }

    /// Counts a document that comes or goes.
    fn count_terms<'t>(
        &mut self,
        label: LabelId,
        terms: impl Iterator<Item = &'t str>,
        lengths: &[u32],
        comes: bool,
    ) -> Result<()> {
        for term in terms {
            let held = count(self.view(), label, term)?;
            let count = if comes { held.saturating_add(1) } else { held.saturating_sub(1) };
            let key = key::term(label, term);
            match count {
                0 => self.overlay.delete(Family::Text, key),
                count => self.overlay.put(Family::Text, key, count.to_le_bytes().to_vec()),
            }
        }
        let key = key::term(label, DOCUMENT);
        let mut statistics = match self.view().get(Family::Text, &key)? {
            Some(bytes) => Statistics::decode(&key, &bytes)?,
            None => Statistics::none(lengths.len()),
        };
        match comes {
            true => statistics.add(lengths),
            false => statistics.subtract(lengths),
        }
        match statistics.documents {
            0 => self.overlay.delete(Family::Text, key),
            _ => self.overlay.put(Family::Text, key, statistics.encode()),
        }
        Ok(())
    }
}

/// The terms of a document, and that under which it stands itself.
fn all_terms(held: &Held) -> impl Iterator<Item = &str> {
    held.terms().chain([DOCUMENT])
}

/// The document and postings of a spell.
fn entries(
    label: LabelId,
    node: NodeId,
    spell: &Spell,
) -> impl Iterator<Item = (Family, Vec<u8>, Vec<u8>)> {
    let Spell { since, until, document } = spell;
    let whole = (DOCUMENT, document.encode(*since));
    document.postings(*since).chain([whole]).map(move |(term, value)| {
        let (family, key) = place(label, term, node, *until);
        (family, key, value)
    })
}

/// Where a posting or document stands.
pub(crate) fn place(
    label: LabelId,
    term: &str,
    node: NodeId,
    until: Option<Time>,
) -> (Family, Vec<u8>) {
    match until {
        Some(until) => (Family::TextPast, key::posting_past(label, term, node, until)),
        None => (Family::Text, key::posting(label, term, node)),
    }
}

/// Counts of many documents.
struct Tally {
    /// Keys that were put.
    postings: u64,
    counts: BTreeMap<String, u64>,
    statistics: Statistics,
}

impl Tally {
    fn new(fields: usize) -> Self {
        Self { postings: 0, counts: BTreeMap::new(), statistics: Statistics::none(fields) }
    }

    /// Counts a document, unless it is past.
    fn add(&mut self, spell: &Spell) {
        if spell.until.is_some() {
            return;
        }
        self.statistics.add(spell.document.lengths());
        for term in spell.document.terms() {
            match self.counts.get_mut(term) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(term.to_owned(), 1)),
            }
        }
    }

    fn entries(&self, label: LabelId) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
        let statistics = (self.statistics.documents > 0)
            .then(|| (key::term(label, DOCUMENT), self.statistics.encode()));
        let counts = self.counts.iter();
        counts
            .map(move |(term, count)| (key::term(label, term), count.to_le_bytes().to_vec()))
            .chain(statistics)
    }
}

/// Keys with their values.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Entries on their way into a new database.
struct Load<'e> {
    engine: &'e Engine,
    text: Entries,
    past: Entries,
    bytes: usize,
}

impl Load<'_> {
    fn put(&mut self, family: Family, key: Vec<u8>, value: Vec<u8>) -> Result<()> {
        self.bytes += key.len() + value.len();
        match family {
            Family::TextPast => self.past.push((key, value)),
            _ => self.text.push((key, value)),
        }
        if self.bytes >= LOAD_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.engine.load(Family::Text, &self.text)?;
        self.engine.load(Family::TextPast, &self.past)?;
        (self.text, self.past, self.bytes) = (Vec::new(), Vec::new(), 0);
        Ok(())
    }
}

/// Makes the full-text indexes among these in a new database that has all its nodes.
pub(crate) fn build(engine: &Engine, indexes: &[IndexDefinition]) -> Result<()> {
    let snapshot = engine.snapshot();
    let view = View::new(&snapshot, None);
    let mut load = Load { engine, text: Vec::new(), past: Vec::new(), bytes: 0 };
    for index in indexes {
        let Some(fields) = index.text_fields() else { continue };
        let mut tally = Tally::new(fields.len());
        for (node, record) in ended(view, index.label)? {
            history(view, fields, node, &record, &mut |spell| {
                entries(index.label, node, &spell)
                    .try_for_each(|(family, key, value)| load.put(family, key, value))
            })?;
        }
        view.scan(Family::Nodes, &[], None, &mut |key, value| {
            let record: NodeRecord = record::decode(Family::Nodes, key, value)?;
            let Some(node) = key::node_from(key) else {
                return Ok(ControlFlow::Continue(()));
            };
            if record.label == index.label {
                history(view, fields, node, &record, &mut |spell| {
                    tally.add(&spell);
                    entries(index.label, node, &spell)
                        .try_for_each(|(family, key, value)| load.put(family, key, value))
                })?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (key, value) in tally.entries(index.label) {
            load.put(Family::Text, key, value)?;
        }
    }
    load.flush()
}
