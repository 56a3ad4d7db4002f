//! A transaction that a program holds open.

use super::{Prepared, Session};
use crate::database::Engraph;
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Diagnostic, Result};
use crate::rows::{Params, Rows};
use crate::write::observe::{HeardTurn, Observed, observe};

/// Statements that become visible together, or not at all: dropping it without
/// [`commit`](Self::commit) leaves no trace.
#[must_use = "without commit it leaves no trace"]
pub struct Transaction<'d> {
    session: Session<'d>,
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

impl<'d> Transaction<'d> {
    pub(crate) fn new(database: &'d Engraph, open: engraph_storage::Transaction<'d>) -> Self {
        Self { session: Session { open: Some(open), is_held: true, ..Session::new(database) } }
    }

    /// Runs one statement within the transaction and gives its answer. It sees what the transaction has
    /// written.
    ///
    /// # Errors
    ///
    /// Those of [`Engraph::query`]. What the transaction wrote before stays in it.
    pub fn query(&mut self, text: &str, params: impl Into<Params>) -> Result<Rows> {
        self.session.query(text, params)
    }

    /// Runs a statement that was parsed before within the transaction.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let db = engraph::Engraph::open(folder.path())?;
    /// let remember = db.prepare("REMEMBER (:Person $name)")?;
    /// let mut transaction = db.begin()?;
    /// for name in ["Nora", "Luis"] {
    ///     transaction.query_prepared(&remember, [("name", name)])?;
    /// }
    /// transaction.commit()?;
    /// assert_eq!(db.query("MATCH (p:Person) RETURN p", ())?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`query`](Self::query).
    pub fn query_prepared(
        &mut self,
        prepared: &Prepared<'_>,
        params: impl Into<Params>,
    ) -> Result<Rows> {
        self.session.query_prepared(prepared, params)
    }

    /// Puts a turn into the buffer of a session, within the transaction.
    ///
    /// # Errors
    ///
    /// Those of [`Engraph::observe`].
    pub fn observe(&mut self, session: &str, turn: &HeardTurn) -> Result<Observed> {
        match &mut self.session.open {
            Some(open) => open.whole(|open| observe(open, session, turn)),
            None => {
                Err(Diagnostic::new("the transaction has ended").help("begin another one").bind())
            }
        }
    }

    /// Runs a script within the transaction and gives the answer of each statement. It sees what
    /// the transaction has written; `BEGIN`, `COMMIT` and `ROLLBACK` are errors in it.
    ///
    /// # Errors
    ///
    /// The first [`Error`]; the statements before it stay in the transaction.
    pub fn execute(&mut self, text: &str, params: impl Into<Params>) -> Result<Vec<Rows>> {
        self.session.execute(text, params)
    }

    /// Ends it without a trace, as dropping it does.
    pub fn rollback(self) {}

    /// Makes its writes last.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the disk refuses: as of [`Engraph::query`](crate::Engraph::query).
    pub fn commit(mut self) -> Result<()> {
        let ended = || Diagnostic::new("no transaction is open").help("begin another one").bind();
        let open = self.session.open.take().ok_or_else(ended)?;
        self.session.database.commit(open)
    }
}
