//! Facts by the million: rows become compact facts between known nodes, and go in together.
//!
//! ```text
//! one thread: rows of text ──a batch──▶ another: names become nodes ──▶ Load ──▶ stored
//! ```
//!
//! Nodes and relations that are not there are made first, each batch's in a transaction of its own. What
//! the store cannot take in with the others is asserted one by one, like any other fact.

use compact_str::ToCompactString;
use engraph_storage::{BulkFact, Left, Load, StorageError};

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::import::batch::Batch;
use crate::import::names::Names;
use crate::import::telling::Telling;
use crate::import::{Counts, Progress, Refused, Report, counted};
use crate::threads::ahead;
use crate::time;

/// Rows whose names are looked up together.
const TOGETHER: usize = 128;
/// The most nodes whose names are read before any row is.
const NODES_HELD: u64 = 1 << 18;
/// Bytes of a file for each name in it, as a guess.
const NAME_BYTES: u64 = 32;
/// Batches that wait to be handed on.
const BATCHES_WAITING: usize = 4;
/// Facts of one transaction, where they are asserted one by one.
const TRANSACTION: usize = 256;

/// Stores every row of a file of that name and of `total` bytes. `read` adds the next one to a batch, and says
/// whether there was one.
pub(super) fn load(
    db: &Engraph,
    file: &str,
    read: impl FnMut(&mut Batch) -> Result<bool> + Send,
    total: u64,
    progress: Progress<'_>,
) -> Result<Report> {
    let mut loader = Loader::new(db, file, total)?;
    ahead(BATCHES_WAITING, batches(read), |batch| {
        let done = batch.done;
        loader.add(batch)?;
        // Reading is about half of it.
        progress(done / 2, total);
        Ok(())
    })?;
    let report = loader.finish(total, progress)?;
    progress(total, total);
    Ok(report)
}

fn batches(
    mut read: impl FnMut(&mut Batch) -> Result<bool>,
) -> impl Iterator<Item = Result<Batch>> {
    std::iter::from_fn(move || {
        let mut batch = Batch::new();
        while !batch.is_full() {
            match read(&mut batch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Some(Err(error)),
            }
        }
        (!batch.is_empty()).then_some(Ok(batch))
    })
}

/// Rows on their way into a load.
struct Loader<'d> {
    db: &'d Engraph,
    load: Load<'d>,
    names: Names,
    place: Place,
    counts: Counts,
    refused: Vec<Refused>,
}

impl<'d> Loader<'d> {
    fn new(db: &'d Engraph, file: &str, total: u64) -> Result<Self> {
        // In this order: a load knows what was taken away after it began, and leaves its facts.
        let (load, place) = (db.store.begin_load()?, Place::of(file));
        let names = Names::of_all(db, NODES_HELD.min(total / NAME_BYTES))?;
        let (counts, refused) = (Counts::default(), Vec::new());
        Ok(Self { db, load, names, place, counts, refused })
    }

    fn add(&mut self, batch: Batch) -> Result<()> {
        let places = self.places(&batch);
        self.names.make(self.db)?;
        // Looked up without anything in between, so that the processor waits for many at once.
        let names = &self.names;
        let found = |[head, relation, tail]: [u32; 3]| {
            (names.found_node(head), names.found_relation(relation), names.found_node(tail))
        };
        let found: Vec<_> = places.into_iter().map(found).collect();
        for (row, (head, (relation, intent), tail)) in batch.rows().zip(found) {
            let fact = BulkFact {
                head,
                relation,
                tail,
                valid: row.valid,
                confidence: row.confidence,
                intent: row.intent.unwrap_or(intent),
                source: row.source.unwrap_or_else(|| self.place.line(row.line)),
            };
            self.load.add(row.line, fact)?;
        }
        self.refused.extend(batch.refused);
        Ok(())
    }

    /// Where the head, the relation and the tail of each row are among the names.
    fn places(&mut self, batch: &Batch) -> Vec<[u32; 3]> {
        let names = &mut self.names;
        let mut places = Vec::with_capacity(batch.tags().len());
        let mut rows = batch.rows();
        for tags in batch.tags().chunks(TOGETHER) {
            let mut guesses = [[0; 2]; TOGETHER];
            names.guess(tags.as_flattened(), guesses.as_flattened_mut());
            places.extend(tags.iter().zip(guesses).zip(&mut rows).map(|((tags, guesses), row)| {
                let head = names.node(row.head, tags[0], guesses[0]);
                let relation = names.relation(row.relation);
                [head, relation, names.node(row.tail, tags[1], guesses[1])]
            }));
        }
        places
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
        counts.add_many(counted(None), loaded.known);
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

/// Asserts the next facts one by one; one that breaks a rule is refused alone. Says whether there may be
/// more.
fn assert(
    db: &Engraph,
    left: &mut Left,
    counts: &mut Counts,
    refused: &mut Vec<Refused>,
) -> Result<bool> {
    let mut telling = Telling::new(db);
    for _ in 0..TRANSACTION {
        let Some((line, fact)) = left.next_fact()? else {
            telling.finish()?;
            return Ok(false);
        };
        let done = telling.tell(|transaction| {
            Ok(transaction.assert_new_fact(fact.head, fact.relation, &fact.belief())?)
        });
        match done {
            Ok(outcome) => {
                counts.add("facts");
                counts.add(counted(outcome.as_ref()));
            }
            Err(Error::Storage(StorageError::Invalid(reason))) => {
                refused.push(Refused { line, reason });
            }
            Err(error) => return Err(error),
        }
    }
    telling.finish()?;
    Ok(true)
}
