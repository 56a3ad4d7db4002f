//! Statements by themselves, parsed each time or once, and how sessions and transactions begin.

use std::sync::Arc;

use super::{Session, Transaction};
use crate::database::Engraph;
use crate::error::{Diagnostic, Result};
use crate::plans::Script;
use crate::rows::{Params, Rows};

impl Engraph {
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
    /// Any [`Error`](crate::Error). Nothing was changed then, but for three of storage: after
    /// [`StorageError::StillRead`](engraph_storage::StorageError::StillRead) and `NotPurged` what was to be forgotten is, and after
    /// `Engine`, which is the disk's, a commit may have been written.
    pub fn query(&self, text: &str, params: impl Into<Params>) -> Result<Rows> {
        self.prepare(text)?.query(params)
    }

    /// Parses one statement, to be run many times.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let db = engraph::Engraph::open(folder.path())?;
    /// let remember = db.prepare("REMEMBER (:Person $name)")?;
    /// for name in ["Nora", "Luis"] {
    ///     remember.query([("name", name)])?;
    /// }
    /// let known = db.prepare("MATCH (p:Person {key: $name}) RETURN p.key")?;
    /// assert_eq!(known.query([("name", "Luis")])?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`](crate::Error::Syntax) if the text is not MemQL, [`Error::Bind`](crate::Error::Bind) if it is not one statement.
    pub fn prepare(&self, text: &str) -> Result<Prepared<'_>> {
        Ok(Prepared { database: self, script: self.one(text)? })
    }

    /// A script of one statement.
    pub(super) fn one(&self, text: &str) -> Result<Arc<Script>> {
        let script = self.script(text)?;
        match script.statements.len() {
            1 => Ok(script),
            count => {
                Err(Diagnostic::new(format!("query takes one statement, and the text has {count}"))
                    .help("use execute for a script")
                    .bind()
                    .with_text(text))
            }
        }
    }

    /// Runs a script: statements separated by `;`, each a transaction of its own unless it stands
    /// between `BEGIN` and `COMMIT`. Gives the answer of each.
    ///
    /// # Errors
    ///
    /// The first [`Error`](crate::Error); the statements before it stay done, an open transaction is rolled back. So is
    /// one that the script does not end, which is an error too.
    pub fn execute(&self, text: &str, params: impl Into<Params>) -> Result<Vec<Rows>> {
        let mut session = self.session();
        let answers = session.execute(text, params)?;
        session.has_ended()?;
        Ok(answers)
    }

    /// A session: statements in order, with transactions by `BEGIN` and `COMMIT`.
    pub fn session(&self) -> Session<'_> {
        Session::new(self)
    }

    /// Begins a transaction, once no other one is open. Until it ends, every other writer waits; so
    /// the thread that holds it writes through it, and not through the database.
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
    /// [`Error::Storage`](crate::Error::Storage) if the database is open read-only, or if this thread has a transaction open:
    /// it would wait for itself. So would any other write beside the transaction, which is the same error.
    /// [`Error::Execute`](crate::Error::Execute) if others have the writer for longer than the database's
    /// [limits](crate::Limits::timeout) say.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        Ok(Transaction::new(self, self.begin_within(&self.limits().into())?))
    }
}

/// One statement that was parsed, and is run as often as wanted. Its plan is kept as well.
#[must_use]
pub struct Prepared<'d> {
    database: &'d Engraph,
    pub(super) script: Arc<Script>,
}

impl std::fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("text", &self.script.text).finish_non_exhaustive()
    }
}

impl Prepared<'_> {
    /// Runs it and gives its answer.
    ///
    /// # Errors
    ///
    /// Any [`Error`](crate::Error). Nothing was changed then, but for three of storage: after
    /// [`StorageError::StillRead`](engraph_storage::StorageError::StillRead) and `NotPurged` what was to be forgotten is, and after
    /// `Engine`, which is the disk's, a commit may have been written.
    pub fn query(&self, params: impl Into<Params>) -> Result<Rows> {
        let mut session = self.database.session();
        let rows = session.run(&self.script, 0, &params.into())?;
        session.has_ended()?;
        Ok(rows)
    }
}
