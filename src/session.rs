//! Sessions and transactions: statements in order, together or each by itself.

use engraph_grammar::ast::{Span, Statement, StatementKind};

use crate::database::{Engraph, is_read};
use crate::error::{Diagnostic, Error, Result};
use crate::rows::{Params, Rows, Value};
use crate::time;

/// Statements in order; `BEGIN`, `COMMIT` and `ROLLBACK` make transactions. Dropping it rolls an
/// open one back.
pub struct Session<'d> {
    database: &'d Engraph,
    open: Option<engraph_storage::Transaction<'d>>,
}

impl<'d> Session<'d> {
    pub(crate) fn new(database: &'d Engraph) -> Self {
        Self { database, open: None }
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.open.is_some()
    }

    /// Runs a script and gives the answer of each statement.
    ///
    /// # Errors
    ///
    /// The first [`Error`]; the statements before it stay done, or stay in the open transaction.
    pub fn execute(&mut self, text: &str, params: impl Into<Params>) -> Result<Vec<Rows>> {
        let params = params.into();
        let mut answers = Vec::new();
        self.execute_each(text, &params, &mut |rows| {
            answers.push(rows);
            Ok(())
        })?;
        Ok(answers)
    }

    /// Runs a script and calls `answer` with each answer as it comes.
    ///
    /// # Errors
    ///
    /// The first [`Error`], of a statement or of `answer`.
    pub fn execute_each(
        &mut self,
        text: &str,
        params: &Params,
        answer: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()> {
        let statements = engraph_grammar::parse(text);
        let statements = statements.map_err(|error| Error::from(error).with_text(text))?;
        for statement in &statements {
            let rows = self.run(statement, text, params).map_err(|error| error.with_text(text))?;
            answer(rows)?;
        }
        Ok(())
    }

    pub(crate) fn run(
        &mut self,
        statement: &Statement,
        text: &str,
        params: &Params,
    ) -> Result<Rows> {
        let mut rows = match (&statement.kind, &mut self.open) {
            (StatementKind::Begin, None) => {
                self.open = Some(self.database.store.begin(time::wall())?);
                done("begun")
            }
            (StatementKind::Begin, Some(_)) => {
                return Err(misplaced(
                    statement.span,
                    "a transaction is open already",
                    "COMMIT or ROLLBACK it first",
                ));
            }
            (StatementKind::Commit | StatementKind::Rollback, None) => {
                return Err(misplaced(statement.span, "no transaction is open", "BEGIN one first"));
            }
            (StatementKind::Commit, open) => {
                if let Some(transaction) = open.take() {
                    transaction.commit(self.database.durability(), time::wall())?;
                }
                done("committed")
            }
            (StatementKind::Rollback, open) => {
                *open = None;
                done("rolled back")
            }
            (kind, Some(transaction)) if is_read(statement) => {
                self.database.read(kind, params, transaction.reader())?
            }
            (kind, Some(transaction)) => self.database.write_within(kind, params, transaction)?,
            (kind, None) if is_read(statement) => {
                let snapshot = self.database.store.snapshot(time::wall());
                self.database.read(kind, params, snapshot.reader())?
            }
            (kind, None) => self.database.write(kind, params)?,
        };
        let warnings = std::mem::take(&mut rows.warnings);
        rows.warnings = warnings.into_iter().map(|warning| warning.with_text(text)).collect();
        Ok(rows)
    }
}

/// Statements that become visible together, or not at all: dropping it without
/// [`commit`](Self::commit) leaves no trace.
pub struct Transaction<'d> {
    session: Session<'d>,
}

impl<'d> Transaction<'d> {
    pub(crate) fn new(database: &'d Engraph, open: engraph_storage::Transaction<'d>) -> Self {
        Self { session: Session { database, open: Some(open) } }
    }

    /// Runs a script within the transaction and gives the answer of each statement. It sees what
    /// the transaction has written.
    ///
    /// # Errors
    ///
    /// The first [`Error`]; the statements before it stay in the transaction.
    pub fn execute(&mut self, text: &str, params: impl Into<Params>) -> Result<Vec<Rows>> {
        self.session.execute(text, params)
    }

    /// Makes its writes last.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the disk refuses; nothing was changed then. [`Error::Bind`] if a
    /// script has ended the transaction already.
    pub fn commit(mut self) -> Result<()> {
        self.session.execute("COMMIT", ()).map(drop)
    }
}

fn done(outcome: &str) -> Rows {
    Rows::single(&["outcome"], vec![Value::String(outcome.to_owned())])
}

fn misplaced(span: Span, message: &str, help: &str) -> Error {
    Diagnostic::at(span, message).help(help).bind()
}
