//! Facts by the million: rows become compact facts between known nodes, and go in together.
//!
//! Nodes and relations that are not there are made first, in a transaction of their own. What the
//! store cannot take in one step is asserted one by one, like any other fact.

use std::collections::{BTreeMap, HashMap};

use compact_str::CompactString;
use engraph_storage::graph::{Intent, Interval, NodeId, RelationId};
use engraph_storage::update::Effect;
use engraph_storage::{BulkFact, StorageError};

use crate::database::Engraph;
use crate::error::Result;
use crate::import::{Counts, Progress, Refused, Report};
use crate::time;

/// Facts that go in together.
const CHUNK: usize = 1 << 20;
/// Facts of one transaction, where they are asserted one by one.
const TRANSACTION: usize = 256;

/// A row of a file, as text where it names something.
pub(super) struct Row<'r> {
    pub(super) head: (&'r str, &'r str),
    pub(super) relation: &'r str,
    pub(super) tail: (&'r str, &'r str),
    pub(super) valid: Interval,
    pub(super) confidence: f64,
    /// None for the relation's own.
    pub(super) intent: Option<Intent>,
    pub(super) source: Box<str>,
}

/// What a file has told so far and is not stored yet.
pub(super) struct Loader<'d, 'p> {
    db: &'d Engraph,
    progress: Progress<'p>,
    total: u64,
    names: Names,
    rows: Vec<Compact>,
    counts: Counts,
    refused: Vec<Refused>,
}

/// A row with its names as places.
struct Compact {
    head: u32,
    tail: u32,
    relation: u32,
    valid: Interval,
    confidence: f64,
    intent: Option<Intent>,
    source: Box<str>,
    line: u64,
}

/// Nodes by label and key, and relations, each with its place.
#[derive(Default)]
struct Names {
    /// Keys are short, and stand in the map itself.
    labels: HashMap<String, HashMap<CompactString, u32>>,
    nodes: Vec<Option<NodeId>>,
    relations: HashMap<String, u32>,
    relation_ids: Vec<Option<RelationId>>,
}

impl<'d, 'p> Loader<'d, 'p> {
    pub(super) fn new(db: &'d Engraph, total: u64, progress: Progress<'p>) -> Self {
        let (names, rows, counts, refused) =
            (Names::default(), Vec::new(), Counts::default(), Vec::new());
        Self { db, progress, total, names, rows, counts, refused }
    }

    /// Takes a row in; `done` is how much of the file has been read with it.
    pub(super) fn add(
        &mut self,
        row: std::result::Result<Row<'_>, String>,
        line: u64,
        done: u64,
    ) -> Result<()> {
        match row {
            Ok(row) => {
                let compact = Compact {
                    head: self.names.node(row.head),
                    tail: self.names.node(row.tail),
                    relation: self.names.relation(row.relation),
                    valid: row.valid,
                    confidence: row.confidence,
                    intent: row.intent,
                    source: row.source,
                    line,
                };
                self.rows.push(compact);
            }
            Err(reason) => self.refused.push(Refused { line, reason }),
        }
        if self.rows.len() == CHUNK {
            self.store(done)?;
        }
        Ok(())
    }

    /// Stores the rest.
    pub(super) fn finish(mut self) -> Result<Report> {
        self.store(self.total)?;
        self.refused.sort_by_key(|refused| refused.line);
        Ok(Report { stored: self.counts.stored(), refused: self.refused })
    }

    fn store(&mut self, done: u64) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.names.make(self.db)?;
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        let facts = self.facts(rows);
        let bulk = self.db.store.load_facts(&facts, self.db.durability(), time::wall())?;
        self.counts.add_many("facts", bulk.stored as u64);
        self.counts.add_many("facts inserted", bulk.stored as u64);
        for places in bulk.left.chunks(TRANSACTION) {
            self.assert(places, &facts, &lines)?;
        }
        (self.progress)(done, self.total);
        Ok(())
    }

    fn facts(&self, rows: Vec<Compact>) -> Vec<BulkFact> {
        let snapshot = self.db.store.snapshot(time::wall());
        let catalog = snapshot.reader().catalog();
        let node = |place: u32| self.names.nodes[place as usize];
        let fact = |row: Compact| {
            let relation = self.names.relation_ids[row.relation as usize]?;
            Some(BulkFact {
                head: node(row.head)?,
                relation,
                tail: node(row.tail)?,
                valid: row.valid,
                confidence: row.confidence,
                intent: row.intent.unwrap_or_else(|| catalog.rule(relation).intent),
                source: row.source,
            })
        };
        rows.into_iter().filter_map(fact).collect()
    }

    /// Asserts facts one by one in a transaction; one that breaks a rule is refused alone.
    fn assert(&mut self, places: &[usize], facts: &[BulkFact], lines: &[u64]) -> Result<()> {
        let mut transaction = self.db.store.begin(time::wall())?;
        for place in places {
            let fact = &facts[*place];
            let done = transaction.whole(|transaction| {
                transaction.assert_fact(fact.head, fact.relation, &fact.belief())
            });
            match done {
                Ok(outcome) => {
                    self.counts.add("facts");
                    self.counts.add(effect(outcome.resolution.effect));
                }
                Err(StorageError::Invalid(reason)) => {
                    self.refused.push(Refused { line: lines[*place], reason });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(transaction.commit(self.db.durability(), time::wall())?)
    }
}

impl Names {
    fn node(&mut self, (label, key): (&str, &str)) -> u32 {
        if let Some(place) = self.labels.get(label).and_then(|keys| keys.get(key)) {
            return *place;
        }
        let place = self.nodes.len() as u32;
        self.nodes.push(None);
        self.labels.entry(label.to_owned()).or_default().insert(key.into(), place);
        place
    }

    fn relation(&mut self, name: &str) -> u32 {
        if let Some(place) = self.relations.get(name) {
            return *place;
        }
        let place = self.relation_ids.len() as u32;
        self.relation_ids.push(None);
        self.relations.insert(name.to_owned(), place);
        place
    }

    /// Finds the ids of the new names, and makes what is not there.
    fn make(&mut self, db: &Engraph) -> Result<()> {
        let mut missing: Vec<(&str, &str, u32)> = Vec::new();
        {
            let snapshot = db.store.snapshot(time::wall());
            let reader = snapshot.reader();
            for (label, keys) in &self.labels {
                let id = reader.catalog().label(label);
                for (key, place) in keys {
                    if self.nodes[*place as usize].is_some() {
                        continue;
                    }
                    let node = match id {
                        Some(id) => reader.find_node(id, key)?,
                        None => None,
                    };
                    match node {
                        Some(node) => self.nodes[*place as usize] = Some(node),
                        None => missing.push((label, key, *place)),
                    }
                }
            }
        }
        // In the order of the file, as one by one.
        missing.sort_unstable_by_key(|(.., place)| *place);
        let mut transaction = db.store.begin(time::wall())?;
        for (label, key, place) in missing {
            let node = transaction.put_node(label, key, &BTreeMap::new())?;
            self.nodes[place as usize] = Some(node);
        }
        for (name, place) in &self.relations {
            if self.relation_ids[*place as usize].is_none() {
                self.relation_ids[*place as usize] = Some(transaction.relation(name)?);
            }
        }
        Ok(transaction.commit(db.durability(), time::wall())?)
    }
}

/// What an assertion counts as.
pub(super) fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Merged => "facts merged",
        Effect::HeldAsUncertain => "facts held as uncertain",
        Effect::Unchanged => "facts unchanged",
        // Beside an assertion, an act on a held fact comes to one of these, and none comes here.
        _ => "facts inserted",
    }
}
