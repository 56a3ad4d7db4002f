//! The database: opening it, and the two ways through it, each written out once.
//!
//! The clock on the wall is read once per statement, in this layer, and passed down as `now`.

mod memory;
mod options;
mod reconstruction;
mod reembed;

use std::path::Path;
use std::sync::Arc;

use engraph_grammar::ast::{self, StatementKind};
use engraph_storage::{
    Durability, Family, FamilyStats, Reader, StorageError, Store, Torn, Violation,
};
use parking_lot::Mutex;

use crate::bind::{self, Binder};
use crate::context::Limits;
use crate::context::limits::{Allowance, Patience};
use crate::context::run::{Interrupt, Run};
use crate::error::{Diagnostic, Result};
use crate::indexes::{Indexes, KeyTokens};
use crate::memory::consolidate::{self, Consolidator, Workshop};
use crate::memory::means::Means;
use crate::memory::pipeline::Host;
use crate::models::Models;
use crate::plan::estimate::Statistics;
use crate::plan::scope::Times;
use crate::plan::{BoundQuery, optimize};
use crate::plans::{Bound, Plans, Script};
use crate::rows::{Params, Rows};
use crate::statement::Surroundings;
use crate::statement::{Write, prepare};
use crate::time;

pub use options::Options;

/// A plan is hardly deeper than its text is long (that of a recipe, which it may call, is bounded): that of a
/// longer one gets a stack of its own.
const TEXT_BYTES: usize = 1 << 11;
/// The bytes of that stack.
const STACK: usize = 64 << 20;
/// Nodes that the planner looks at.
const SAMPLE_NODES: usize = 512;
/// Keys that may be written before it looks again, if that is more than a quarter of all.
const SAMPLE_AGE_MIN: u64 = 64;

/// An open database. It can be shared between threads: writers take turns, and readers do not wait for them, but
/// while a load is taken in.
///
/// ```
/// use engraph::Engraph;
///
/// let folder = tempfile::tempdir()?;
/// let db = Engraph::open(folder.path())?;
/// db.execute(
///     "DEFINE RELATION lives_in CARDINALITY ONE;
///      REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Lisbon') VALID FROM DATE '2019-09-01';
///      REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14';",
///     (),
/// )?;
/// let rows = db.query(
///     "MATCH (:Person {key: $who})-[:lives_in]->(c:City) RETURN c.key AS city",
///     [("who", "Nora")],
/// )?;
/// assert_eq!(rows.to_json(), r#"[{"city":"Porto"}]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Engraph {
    pub(crate) store: Store,
    pub(crate) models: Arc<Models>,
    pub(crate) indexes: Indexes,
    pub(crate) consolidator: Consolidator,
    options: Options,
    plans: Plans,
    /// What the planner goes by, and how much was written when it was looked at.
    statistics: Mutex<Option<(u64, Statistics)>>,
}

impl std::fmt::Debug for Engraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engraph")
            .field("path", &self.store.path())
            .field("read_only", &self.is_read_only())
            .finish_non_exhaustive()
    }
}

impl Engraph {
    /// Opens the database in a folder with the default [`Options`].
    ///
    /// # Errors
    ///
    /// See [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Options::new().open(path)
    }

    fn new(store: Store, options: Options) -> Self {
        let models = Arc::new(Models::new(options.models.clone()));
        let store = store.with_tokenizer(Arc::new(KeyTokens(Arc::clone(&models))));
        let (indexes, statistics) = (Indexes::new(&store), Mutex::new(None));
        let consolidator = Consolidator::new(
            options.extractor.clone(),
            options.boundaries.clone(),
            options.linker.clone(),
            options.construction,
        );
        let plans = Plans::default();
        Self { store, models, indexes, consolidator, options, plans, statistics }
    }

    /// What statements are run with.
    pub(crate) fn surroundings<'s>(
        &'s self,
        run: &'s Run,
        parameters: &'s Params,
    ) -> Surroundings<'s> {
        let (models, indexes) = (&*self.models, &self.indexes);
        Surroundings { models, indexes, means: self.means(), run, parameters }
    }

    /// What memory is made with.
    pub(crate) fn means(&self) -> Means<'_> {
        self.consolidator.means(&self.models, &self.indexes)
    }

    /// Whether it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.store.is_read_only()
    }

    /// How many keys and bytes each column family holds.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if the disk cannot be read.
    pub fn stats(&self) -> Result<Vec<FamilyStats>> {
        Ok(self.store.stats()?)
    }

    /// Brings what was written from the log into tables, and waits until they are merged into larger
    /// ones, which goes on after reads and writes. A program that ends at once after an import leaves
    /// that to the next one, which reads the log, and whose first answers wait for the disk meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if a table cannot be written.
    pub fn settle(&self) -> Result<()> {
        Ok(self.store.settle()?)
    }

    /// What an unfinished write had left at the end of the log: opening for writing dropped it, opening
    /// for reading passed over it. Beside a writer, which may be in the middle of it, none.
    pub fn torn(&self) -> Option<&Torn> {
        self.store.torn()
    }

    /// Why the bytes of what was forgotten are in the files yet, if they could not be taken out when it was opened:
    /// mostly there is no room to write tables anew. The next opening tries again.
    pub fn not_purged(&self) -> Option<&StorageError> {
        self.store.not_purged()
    }

    /// Whether the bytes of what was forgotten may be in the files yet, because `FORGET` was stopped before they
    /// were taken out: the next opening for writing does that. For a database that is opened for reading.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if it cannot be read.
    pub fn has_purge_left(&self) -> Result<bool> {
        Ok(self.store.has_purge_left()?)
    }

    /// Reads everything and holds it against itself: calls `report` with each violation of an
    /// invariant, and `progress` with each column family as it begins. Gives the number of keys.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let db = engraph::Engraph::open(folder.path())?;
    /// let mut violations = Vec::new();
    /// db.check(&mut |violation| violations.push(violation), &mut |_| {})?;
    /// assert_eq!(violations, []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if it is too damaged to be looked at.
    pub fn check(
        &self,
        report: &mut dyn FnMut(Violation),
        progress: &mut dyn FnMut(Family),
    ) -> Result<u64> {
        Ok(self.store.check(report, progress)?)
    }

    /// Copies the state as it stands into a new database at `path`, while others read and write.
    /// The copy has been checked when this returns. It is a database like any other, so a backup of
    /// the backup restores it.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if there is something at `path`, or this database is damaged; nothing is
    /// at `path` then.
    pub fn backup(&self, path: impl AsRef<Path>, progress: &mut dyn FnMut(Family)) -> Result<()> {
        Ok(self.store.backup(path.as_ref(), progress)?)
    }

    pub(crate) fn durability(&self) -> Durability {
        self.options.durability
    }

    pub(crate) fn limits(&self) -> Limits {
        self.options.limits
    }

    pub(crate) fn script(&self, text: &str) -> Result<Arc<Script>> {
        self.plans.script(text)
    }

    /// The way of a query: the tree is bound to a plan and the plan optimised; a cursor lowers and
    /// runs it.
    pub(crate) fn bound(
        &self,
        query: &ast::Query,
        times: &Times,
        (reader, parameters): (Reader<'_>, &Params),
        allowance: &Allowance,
    ) -> Result<Bound> {
        let run = Run::new(allowance.clone());
        let surroundings = self.surroundings(&run, parameters);
        let context = surroundings.context(reader);
        let mut binder = Binder::new(&context, times);
        let query = with_stack(query.span.end.saturating_sub(query.span.start), || {
            let query = binder.query(query)?;
            self.optimized(query, reader).map_err(|error| run.explained(error))
        })?;
        Ok(Bound::new(query, bind::first(binder.warnings), binder.is_passing))
    }

    /// The times of a session from here on: those that it has, and these.
    pub(crate) fn settled(
        &self,
        set: &ast::Times,
        held: &Times,
        (reader, parameters): (Reader<'_>, &Params),
        allowance: &Allowance,
    ) -> Result<Times> {
        let run = Run::new(allowance.clone());
        let around = self.surroundings(&run, parameters);
        let context = around.context(reader);
        Binder::new(&context, held).settled(set)
    }

    fn optimized(&self, query: BoundQuery, reader: Reader<'_>) -> Result<BoundQuery> {
        if self.options.unoptimized {
            return Ok(BoundQuery { plan: optimize::as_written(query.plan), ..query });
        }
        let (plan, has_pattern) = optimize::has_pattern(query.plan);
        let statistics = match has_pattern {
            true => self.statistics(reader)?,
            false => Statistics::default(),
        };
        let facts = optimize::Facts { catalog: reader.catalog(), statistics: &statistics };
        let (plan, rules) = optimize::optimize(plan, &facts);
        Ok(BoundQuery { plan, rules, ..query })
    }

    /// What is known of the nodes and facts: a sample, taken anew once much was written.
    pub(crate) fn statistics(&self, reader: Reader<'_>) -> Result<Statistics> {
        let written = self.store.written();
        if let Some((at, statistics)) = &*self.statistics.lock() {
            let fresh = written >= *at && written - at <= SAMPLE_AGE_MIN.max(at / 4);
            if fresh {
                return Ok(statistics.clone());
            }
        }
        let statistics = Statistics::new(reader.sample(SAMPLE_NODES)?);
        *self.statistics.lock() = Some((written, statistics.clone()));
        Ok(statistics)
    }

    /// Begins a transaction, once no other one is open; waiting for that takes no longer than a statement may.
    pub(crate) fn begin_within(
        &self,
        allowance: &Allowance,
    ) -> Result<engraph_storage::Transaction<'_>> {
        allowance.patience().begin(&self.store)
    }

    /// The way of a write: bound and embedded on a snapshot, then applied to one transaction.
    pub(crate) fn write(
        &self,
        statement: &StatementKind,
        times: &Times,
        params: &Params,
        allowance: &Allowance,
    ) -> Result<Rows> {
        let run = Run::new(allowance.clone());
        let around = self.surroundings(&run, params);
        let explained = |error| run.explained(error);
        let (write, warnings) = {
            let snapshot = self.store.snapshot(time::wall());
            self.prepared(statement, times, around, snapshot.reader()).map_err(explained)?
        };
        let mut transaction = self.begin_within(allowance)?;
        stop_on(&mut transaction, &allowance.interrupt);
        let mut rows = write.apply(&mut transaction, around).map_err(explained)?;
        self.commit(transaction)?;
        rows.warnings = warnings;
        rows.warnings.extend(run.take_warnings());
        Ok(rows)
    }

    /// Makes the changes of a transaction last. Once it has forgotten something, no text is kept in memory
    /// that may be of that: not what models and indexes were made of, and not the statements.
    pub(crate) fn commit(&self, transaction: engraph_storage::Transaction<'_>) -> Result<()> {
        let forgets = transaction.forgets();
        let committed = transaction.commit(self.options.durability, time::wall());
        if forgets {
            let commit = self.store.snapshot(time::wall()).reader().last_commit();
            self.models.forget();
            self.indexes.forget(commit.unwrap_or(time::wall()));
            self.plans.clear();
        }
        Ok(committed?)
    }

    /// `CONSOLIDATE`: a row for each episode. It can be interrupted between two of them.
    pub(crate) fn consolidate_said(
        &self,
        session: Option<&ast::Expr>,
        times: &Times,
        params: &Params,
        allowance: &Allowance,
    ) -> Result<Rows> {
        if self.is_read_only() {
            return Err(engraph_storage::StorageError::ReadOnly.into());
        }
        let run = Run::new(allowance.clone());
        let around = self.surroundings(&run, params);
        let session = {
            let snapshot = self.store.snapshot(time::wall());
            let context = around.context(snapshot.reader());
            let mut binder = Binder::new(&context, times);
            session.map(|session| binder.session(session)).transpose()?
        };
        // What a model has drawn is not lost to a clock.
        let patience = Patience::until(&allowance.interrupt);
        let workshop = Workshop { patience, ..self.workshop() };
        consolidate::said(workshop, session.as_deref())
    }

    /// A write within an open transaction: done whole, or not at all.
    pub(crate) fn write_within(
        &self,
        statement: &StatementKind,
        times: &Times,
        params: &Params,
        allowance: &Allowance,
        transaction: &mut engraph_storage::Transaction<'_>,
    ) -> Result<Rows> {
        let run = Run::new(allowance.clone());
        let around = self.surroundings(&run, params);
        let explained = |error| run.explained(error);
        let (write, warnings) =
            self.prepared(statement, times, around, transaction.reader()).map_err(explained)?;
        stop_on(transaction, &allowance.interrupt);
        let apply =
            |transaction: &mut engraph_storage::Transaction<'_>| write.apply(transaction, around);
        let mut rows = transaction.whole(apply).map_err(explained)?;
        rows.warnings = warnings;
        rows.warnings.extend(run.take_warnings());
        Ok(rows)
    }

    fn prepared(
        &self,
        statement: &StatementKind,
        times: &Times,
        around: Surroundings<'_>,
        reader: Reader<'_>,
    ) -> Result<(Write, Vec<Diagnostic>)> {
        if self.is_read_only() {
            return Err(engraph_storage::StorageError::ReadOnly.into());
        }
        prepare(statement, &around.context(reader), times, |query| self.optimized(query, reader))
    }
}

/// Ends what a transaction does at length once somebody asks for it.
fn stop_on(transaction: &mut engraph_storage::Transaction<'_>, interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    transaction.stop_unless(move || !interrupt.is_asked());
}

/// Brings a database of an older format to [`FORMAT`](crate::FORMAT), in place. Gives the format
/// that it had.
///
/// # Errors
///
/// [`Error::Storage`](crate::Error::Storage): if it is of a newer format, open for writing, or damaged. The upgrade goes on
/// from there the next time.
pub fn upgrade(path: impl AsRef<Path>) -> Result<u32> {
    Ok(engraph_storage::upgrade(path.as_ref())?)
}

/// Runs what goes as deep as a text of so many bytes may make it.
pub(crate) fn with_stack<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
    if bytes <= TEXT_BYTES { run() } else { stacker::grow(STACK, run) }
}
