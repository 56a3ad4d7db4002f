//! The database: opening it, and the two ways through it, each written out once.
//!
//! The clock on the wall is read once per statement, in this layer, and passed down as `now`.

use std::path::Path;
use std::sync::Arc;

use engraph_grammar::ast::{QueryEnd, Statement, StatementKind};
use engraph_storage::{Durability, Family, FamilyStats, Memory, Reader, Store, Torn, Violation};

use crate::bind::Binder;
use crate::error::{Diagnostic, Error, Result};
use crate::exec;
use crate::exec::context::{Context, Limits};
use crate::models::Models;
use crate::neural::Embedder;
use crate::plan::{BoundQuery, End, explain, optimize};
use crate::rows::{Params, Rows, Value};
use crate::session::{Session, Transaction};
use crate::show;
use crate::time;
use crate::write::statement::{Write, prepare};

/// How a database is opened.
///
/// ```
/// use std::sync::Arc;
/// use engraph::{Durability, FixedEmbedder, Options};
///
/// let folder = tempfile::tempdir()?;
/// let db = Options::new()
///     .durability(Durability::Buffered)
///     .embedder(Arc::new(FixedEmbedder))
///     .open(folder.path())?;
/// assert!(!db.is_read_only());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Options {
    durability: Durability,
    memory: Memory,
    limits: Limits,
    embedder: Option<Arc<dyn Embedder>>,
    unoptimized: bool,
}

impl Options {
    /// The defaults: every commit on the disk before it returns, all-MiniLM-L6-v2 when a text has
    /// to be embedded.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a commit waits.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How much memory the open database may hold on to.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// What one statement may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Another embedder. Every handle on one database has to use the same.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Runs plans as they are bound. The answers are the same and come more slowly; for tests.
    pub fn without_optimizer(mut self) -> Self {
        self.unoptimized = true;
        self
    }

    /// Opens the database in a folder for writing, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the folder cannot be used, holds something else, or is open for
    /// writing elsewhere; the text names the process.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Engraph> {
        Ok(Engraph::new(Store::open(path.as_ref(), self.memory)?, self))
    }

    /// Opens a database whose log is damaged for writing: everything behind the damage is dropped,
    /// acknowledged or not, and told by [`Engraph::torn`]. One that is whole is opened as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if there is no database, it is open for writing elsewhere, or more than the
    /// log is damaged.
    pub fn recover(self, path: impl AsRef<Path>) -> Result<Engraph> {
        Ok(Engraph::new(Store::recover(path.as_ref(), self.memory)?, self))
    }

    /// Opens the database in a folder for reading, beside a writer or not: the state as it stands.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if there is no database.
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Engraph> {
        Ok(Engraph::new(Store::open_read_only(path.as_ref(), self.memory)?, self))
    }
}

/// An open database. It can be shared between threads: readers never wait, writers take turns.
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
    pub(crate) models: Models,
    options: Options,
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
        let models = Models::new(options.embedder.clone());
        Self { store, models, options }
    }

    /// Whether it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.store.is_read_only()
    }

    /// How many keys and bytes each column family holds.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the disk cannot be read.
    pub fn stats(&self) -> Result<Vec<FamilyStats>> {
        Ok(self.store.stats()?)
    }

    /// What an unfinished write had left at the end of the log, and opening dropped.
    pub fn torn(&self) -> Option<&Torn> {
        self.store.torn()
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
    /// [`Error::Storage`] if it is too damaged to be looked at.
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
    /// [`Error::Storage`] if there is something at `path`, or this database is damaged; nothing is
    /// at `path` then.
    pub fn backup(&self, path: impl AsRef<Path>, progress: &mut dyn FnMut(Family)) -> Result<()> {
        Ok(self.store.backup(path.as_ref(), progress)?)
    }

    /// Runs one statement and gives its answer.
    ///
    /// Rows can be taken as types of your own:
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let db = engraph::Engraph::open(folder.path())?;
    /// #[derive(serde::Deserialize)]
    /// struct Home { city: String, since: Option<String> }
    ///
    /// db.query(
    ///     "REMEMBER (:Person $who)-[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14'",
    ///     [("who", "Nora")],
    /// )?;
    /// let homes: Vec<Home> = db
    ///     .query("MATCH (p:Person)-[f:lives_in]->(c) RETURN c.key AS city, f.valid_from AS since", ())?
    ///     .typed()?;
    /// assert_eq!(homes[0].city, "Porto");
    /// assert_eq!(homes[0].since.as_deref(), Some("2025-06-14T00:00:00Z"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Any [`Error`]; nothing was changed then.
    pub fn query(&self, text: &str, params: impl Into<Params>) -> Result<Rows> {
        let mut session = self.session();
        let statements = engraph_grammar::parse(text).map_err(Error::from);
        let one = match statements.map_err(|error| error.with_text(text))?.as_slice() {
            [statement] => session.run(statement, text, &params.into()),
            statements => Err(Diagnostic::new(format!(
                "query takes one statement, and the text has {}",
                statements.len()
            ))
            .help("use execute for a script")
            .bind()),
        };
        one.map_err(|error| error.with_text(text))
    }

    /// Runs a script: statements separated by `;`, each a transaction of its own unless it stands
    /// between `BEGIN` and `COMMIT`. Gives the answer of each.
    ///
    /// # Errors
    ///
    /// The first [`Error`]; the statements before it stay done, an open transaction is rolled back.
    pub fn execute(&self, text: &str, params: impl Into<Params>) -> Result<Vec<Rows>> {
        self.session().execute(text, params)
    }

    /// A session: statements in order, with transactions by `BEGIN` and `COMMIT`.
    pub fn session(&self) -> Session<'_> {
        Session::new(self)
    }

    /// Begins a transaction, once no other one is open. Until it ends, every other writer waits; so
    /// a thread that holds one must write through it and not through the database, or it waits for
    /// itself.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let db = engraph::Engraph::open(folder.path())?;
    /// let mut transaction = db.begin()?;
    /// transaction.execute("REMEMBER (:Person 'Nora' {age: 31})", ())?;
    /// drop(transaction); // without commit: no trace
    /// assert!(db.query("MATCH (p:Person) RETURN p.key", ())?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the database is open read-only.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        Ok(Transaction::new(self, self.store.begin(time::wall())?))
    }

    pub(crate) fn durability(&self) -> Durability {
        self.options.durability
    }

    /// The way of a query: the tree is bound to a plan, the plan optimised, lowered and run.
    pub(crate) fn read(
        &self,
        statement: &StatementKind,
        params: &Params,
        reader: Reader<'_>,
    ) -> Result<Rows> {
        let context = Context::new(reader, &self.models, self.options.limits);
        let (query, only_explain) = match statement {
            StatementKind::Query(query) => (query, false),
            StatementKind::Explain(query) => (query, true),
            StatementKind::ShowRelations => {
                return show::relations(reader);
            }
            _ => return Err(Diagnostic::new("the statement reads nothing").bind()),
        };
        let mut binder = Binder::new(&context, params);
        let bound = self.optimized(binder.query(query)?);
        let mut rows = match &bound.end {
            End::Return(columns) if !only_explain => {
                exec::answer(&bound, &bound.plan, columns, &context)?
            }
            _ => {
                let lines = explain::explain(&bound, reader.catalog());
                let rows = lines.into_iter().map(|line| vec![Value::String(line)]).collect();
                Rows { columns: vec!["plan".to_owned()], rows, warnings: Vec::new() }
            }
        };
        rows.warnings = binder.warnings;
        Ok(rows)
    }

    fn optimized(&self, query: BoundQuery) -> BoundQuery {
        if self.options.unoptimized {
            return query;
        }
        let (plan, rules) = optimize::optimize(query.plan);
        BoundQuery { plan, rules, ..query }
    }

    /// The way of a write: bound and embedded on a snapshot, then applied to one transaction.
    pub(crate) fn write(&self, statement: &StatementKind, params: &Params) -> Result<Rows> {
        let (write, warnings) = {
            let snapshot = self.store.snapshot(time::wall());
            self.prepared(statement, params, snapshot.reader())?
        };
        let mut transaction = self.store.begin(time::wall())?;
        let mut rows = write.apply(&mut transaction, &self.models, self.options.limits)?;
        transaction.commit(self.options.durability, time::wall())?;
        rows.warnings = warnings;
        Ok(rows)
    }

    /// A write within an open transaction: done whole, or not at all.
    pub(crate) fn write_within(
        &self,
        statement: &StatementKind,
        params: &Params,
        transaction: &mut engraph_storage::Transaction<'_>,
    ) -> Result<Rows> {
        let (write, warnings) = self.prepared(statement, params, transaction.reader())?;
        let apply = |transaction: &mut engraph_storage::Transaction<'_>| {
            write.apply(transaction, &self.models, self.options.limits)
        };
        let mut rows = transaction.whole(apply)?;
        rows.warnings = warnings;
        Ok(rows)
    }

    fn prepared(
        &self,
        statement: &StatementKind,
        params: &Params,
        reader: Reader<'_>,
    ) -> Result<(Write, Vec<Diagnostic>)> {
        if self.is_read_only() {
            return Err(engraph_storage::StorageError::ReadOnly.into());
        }
        let context = Context::new(reader, &self.models, self.options.limits);
        let (write, warnings) = prepare(statement, &context, params)?;
        Ok(match write {
            Write::Change(query) => (Write::Change(Box::new(self.optimized(*query))), warnings),
            other => (other, warnings),
        })
    }
}

/// Brings a database of an older format to [`FORMAT`](crate::FORMAT), in place. Gives the format
/// that it had.
///
/// # Errors
///
/// [`Error::Storage`]: if it is of a newer format, open for writing, or damaged. The upgrade goes on
/// from there the next time.
pub fn upgrade(path: impl AsRef<Path>) -> Result<u32> {
    Ok(engraph_storage::upgrade(path.as_ref())?)
}

/// Whether a statement only reads.
pub(crate) fn is_read(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Query(query) => matches!(query.end, QueryEnd::Return(_)),
        StatementKind::Explain(_) | StatementKind::ShowRelations => true,
        _ => false,
    }
}

/// Whether a script only reads, so that it can run beside a writer.
///
/// # Errors
///
/// [`Error::Syntax`] if the text is not MemQL.
pub fn only_reads(text: &str) -> Result<bool> {
    let statements = engraph_grammar::parse(text);
    let statements = statements.map_err(|error| Error::from(error).with_text(text))?;
    Ok(statements.iter().all(is_read))
}
