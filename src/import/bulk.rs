//! Facts by the million: rows become compact facts between known nodes, and go in together.
//!
//! ```text
//! two threads: rows of text ──▶ places of names ──a batch──▶ one of them: nodes ──▶ Load ──▶ stored
//! ```
//!
//! Nodes and relations that are not there are made first, each batch's in a transaction of its own. What
//! the store cannot take in with the others is asserted one by one, like any other fact.

use std::fs::File;
use std::io;

use compact_str::{CompactString, ToCompactString};
use engraph_storage::graph::{Intent, Interval};
use engraph_storage::update::Effect;
use engraph_storage::{BulkFact, Left, Load, StorageError};
use parking_lot::{RwLock, RwLockWriteGuard};

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::import::batches::{Batch, InOrder, Meaning, Reading};
use crate::import::names::{self, Found, Name, Names, Places};
use crate::import::rows::Rows;
use crate::import::{Counts, Progress, Refused, Report};
use crate::time;

/// Batches that wait to be handed on.
const BATCHES_WAITING: usize = 8;
/// Facts of one transaction, where they are asserted one by one.
const TRANSACTION: usize = 256;

/// A row of a file; what names something is short as a rule, and needs no memory of its own.
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) head: Name,
    pub(super) relation: CompactString,
    pub(super) tail: Name,
    pub(super) valid: Interval,
    pub(super) confidence: f64,
    /// None for the relation's own.
    pub(super) intent: Option<Intent>,
    /// None for the file and the line.
    pub(super) source: Option<CompactString>,
}

/// A table and how it is read.
pub(super) struct Table<'t> {
    /// What its facts come from, where they do not say so themselves.
    pub(super) name: &'t str,
    pub(super) rows: Rows<File>,
    /// How many fields a row has; if that is not known, as many as the first one that is text.
    pub(super) width: Option<usize>,
    /// Its bytes.
    pub(super) total: u64,
}

/// Stores every row of a table.
pub(super) fn load(
    db: &Engraph,
    table: Table<'_>,
    meaning: &Meaning<'_>,
    failed: impl Fn(io::Error) -> Error,
    progress: Progress<'_>,
) -> Result<Report> {
    let Table { name, rows, width, total } = table;
    let names = RwLock::new(Names::default());
    let reading = Reading::new(rows, width, meaning, &names);
    let (sender, receiver) = crossbeam::channel::bounded(BATCHES_WAITING);
    std::thread::scope(|scope| {
        let reading = &reading;
        scope.spawn(move || reading.send_all(&sender));
        // Dropped behind an error: then the other thread ends.
        let mut batches = InOrder::new(reading, receiver);
        let mut loader = Loader::new(db, name)?;
        while let Some(batch) = batches.next().map_err(&failed)? {
            let done = batch.done;
            loader.add(batch, &names)?;
            // Reading is about half of it.
            progress(done / 2, total);
        }
        let report = loader.finish(total, progress)?;
        progress(total, total);
        Ok(report)
    })
}

/// Rows on their way into a load.
struct Loader<'d> {
    db: &'d Engraph,
    load: Load<'d>,
    found: Found,
    place: Place,
    counts: Counts,
    refused: Vec<Refused>,
}

impl<'d> Loader<'d> {
    fn new(db: &'d Engraph, file: &str) -> Result<Self> {
        let (load, place) = (db.store.begin_load()?, Place::of(file));
        let (found, counts, refused) = (Found::default(), Counts::default(), Vec::new());
        Ok(Self { db, load, found, place, counts, refused })
    }

    fn add(&mut self, mut batch: Batch, names: &RwLock<Names>) -> Result<()> {
        if batch.places.iter().any(names::is_unknown) {
            let mut names = names.write();
            let rows = batch.rows.iter().zip(&batch.tags).zip(&mut batch.places);
            for ((row, tags), places) in rows.filter(|(_, places)| names::is_unknown(places)) {
                *places = names.added(row, *tags);
            }
            let names = RwLockWriteGuard::downgrade(names);
            self.found.follow(&names, self.db)?;
        }
        // Looked up without anything in between, so that the processor waits for many at once.
        let found = &self.found;
        let found = |[head, relation, tail]: Places| {
            (found.node(head), found.relation(relation), found.node(tail))
        };
        let found: Vec<_> = batch.places.into_iter().map(found).collect();
        for (row, (head, (relation, intent), tail)) in batch.rows.iter().zip(found) {
            let fact = BulkFact {
                head,
                relation,
                tail,
                valid: row.valid,
                confidence: row.confidence,
                intent: row.intent.unwrap_or(intent),
                source: row.source.as_deref().unwrap_or_else(|| self.place.line(row.line)),
            };
            self.load.add(row.line, fact)?;
        }
        self.refused.extend(batch.refused);
        Ok(())
    }

    /// Stores what was added; of `total`, the second half is still to be told.
    fn finish(self, total: u64, progress: Progress<'_>) -> Result<Report> {
        let Self { db, load, mut counts, mut refused, .. } = self;
        let quarter = total / 4;
        let mut tables =
            |done: u64, parts: u64| progress(2 * quarter + quarter * done / parts, total);
        let loaded = load.finish(time::wall(), &mut tables)?;
        counts.add_many("facts", loaded.stored + loaded.known);
        counts.add_many("facts inserted", loaded.stored);
        counts.add_many(effect(Effect::Unchanged), loaded.known);
        let mut left = loaded.left;
        let mut asserted = 0;
        while assert(db, &mut left, &mut counts, &mut refused)? {
            asserted += TRANSACTION as u64;
            progress(3 * quarter + quarter * asserted / left.count().max(asserted), total);
        }
        refused.sort_by_key(|refused| refused.line);
        Ok(Report { stored: counts.stored(), refused })
    }
}

/// A place in a file, as text: `facts.csv:12`.
struct Place {
    text: String,
    /// Bytes of the file and the colon.
    file: usize,
}

impl Place {
    fn of(file: &str) -> Self {
        let text = format!("{file}:");
        Self { file: text.len(), text }
    }

    /// That of a line.
    fn line(&mut self, line: u64) -> &str {
        self.text.truncate(self.file);
        self.text.push_str(&line.to_compact_string());
        &self.text
    }
}

/// Asserts the next facts one by one in a transaction; one that breaks a rule is refused alone. Says
/// whether there may be more.
fn assert(
    db: &Engraph,
    left: &mut Left,
    counts: &mut Counts,
    refused: &mut Vec<Refused>,
) -> Result<bool> {
    let mut transaction = db.store.begin(time::wall())?;
    for _ in 0..TRANSACTION {
        let Some((line, fact)) = left.next_fact()? else {
            transaction.commit(db.durability(), time::wall())?;
            return Ok(false);
        };
        let done = transaction
            .whole(|transaction| transaction.assert_fact(fact.head, fact.relation, &fact.belief()));
        match done {
            Ok(outcome) => {
                counts.add("facts");
                counts.add(effect(outcome.resolution.effect));
            }
            Err(StorageError::Invalid(reason)) => refused.push(Refused { line, reason }),
            Err(error) => return Err(error.into()),
        }
    }
    transaction.commit(db.durability(), time::wall())?;
    Ok(true)
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
