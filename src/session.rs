//! Sessions and transactions: statements in order, together or each by itself.

mod prepared;
mod transaction;

pub use self::prepared::Prepared;
pub use self::transaction::Transaction;

use std::sync::Arc;

use engraph_grammar::ast::{self, Span, Statement, StatementKind};
use engraph_storage::Reader;

use crate::context::Limits;
use crate::context::limits::Allowance;
use crate::context::run::{Interrupt, Run, Watch};
use crate::cursor::{Cursor, Source};
use crate::database::{Engraph, with_stack};
use crate::error::{Diagnostic, Error, Result};
use crate::plan::explain::Shown;
use crate::plan::scope::Times;
use crate::plans::{Bound, Script};
use crate::reading::reads;
use crate::rows::{Params, Rows, Value};
use crate::show;
use crate::time;

/// Statements in order; `BEGIN`, `COMMIT` and `ROLLBACK` make transactions. Dropping it rolls an
/// open one back.
pub struct Session<'d> {
    database: &'d Engraph,
    open: Option<engraph_storage::Transaction<'d>>,
    /// What holds where a statement names no time.
    times: Times,
    /// What ends a statement of it.
    allowance: Allowance,
    /// A program ends what is open, and no statement does.
    is_held: bool,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("database", &self.database)
            .field("in_transaction", &self.in_transaction())
            .finish_non_exhaustive()
    }
}

impl<'d> Session<'d> {
    pub(crate) fn new(database: &'d Engraph) -> Self {
        let allowance = database.limits().into();
        Self { database, open: None, times: Times::default(), allowance, is_held: false }
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.open.is_some()
    }

    /// An error if a transaction is open, which goes with the session.
    fn has_ended(&self) -> Result<()> {
        match self.in_transaction() {
            false => Ok(()),
            true => {
                Err(Diagnostic::new("the text ends within a transaction, which is rolled back")
                    .help("end it with COMMIT, or go on in one session: Engraph::session")
                    .bind())
            }
        }
    }

    /// What each statement of this session may use from here on, in place of [`Options::limits`](crate::Options::limits): an
    /// agent that is waited for asks with less time than one that tidies up at night.
    ///
    /// ```
    /// use std::time::Duration;
    /// use engraph::{Limit, Limits};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let db = engraph::Engraph::open(folder.path())?;
    /// let mut session = db.session();
    /// session.set_limits(Limits { timeout: Duration::from_millis(10), ..session.limits() });
    /// let slow = session.query("RETURN size([a IN range(1, 9000) | size(range(1, 9000))])", ());
    /// assert_eq!(slow.unwrap_err().limit(), Some(Limit::Time));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_limits(&mut self, limits: Limits) {
        self.allowance.limits = limits;
    }

    /// What a statement of this session may use.
    pub fn limits(&self) -> Limits {
        self.allowance.limits
    }

    /// What ends the running statement or script of this session from another thread.
    pub fn interrupt(&self) -> Interrupt {
        self.allowance.interrupt.clone()
    }

    /// Runs one statement and gives its answer.
    ///
    /// # Errors
    ///
    /// Those of [`Engraph::query`].
    pub fn query(&mut self, text: &str, params: impl Into<Params>) -> Result<Rows> {
        self.allowance.interrupt.reset();
        let script = self.database.one(text)?;
        self.run(&script, 0, &params.into())
    }

    /// Runs a statement that was parsed before and gives its answer.
    ///
    /// # Errors
    ///
    /// Those of [`Engraph::query`].
    pub fn query_prepared(
        &mut self,
        prepared: &Prepared<'_>,
        params: impl Into<Params>,
    ) -> Result<Rows> {
        self.allowance.interrupt.reset();
        self.run(&prepared.script, 0, &params.into())
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
        self.allowance.interrupt.reset();
        let script = self.database.script(text)?;
        for statement in 0..script.statements.len() {
            if self.allowance.interrupt.is_asked() {
                return Err(Error::Interrupted);
            }
            answer(self.run(&script, statement, params)?)?;
        }
        Ok(())
    }

    /// Runs one query and gives its rows as they are asked for. They are those of the state at this
    /// moment, whatever is written meanwhile.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; also if the text is not one query that returns rows.
    pub fn stream(&mut self, text: &str, params: impl Into<Params>) -> Result<Cursor<'_>> {
        self.allowance.interrupt.reset();
        let script = self.database.script(text)?;
        match script.statements.as_slice() {
            [Statement { kind: StatementKind::Query(query), .. }] if reads(query) => {
                self.cursor(&script, 0, query, params.into())
            }
            _ => Err(Diagnostic::new("stream takes one query that returns rows")
                .help("use execute for anything else")
                .bind()
                .with_text(text)),
        }
    }

    pub(crate) fn run(
        &mut self,
        script: &Arc<Script>,
        statement: usize,
        params: &Params,
    ) -> Result<Rows> {
        let one = &script.statements[statement];
        let rows = match &one.kind {
            StatementKind::Query(query) if reads(query) => {
                if let Some(rows) = self.short(script, statement, params)? {
                    return Ok(rows);
                }
                return self.cursor(script, statement, query, params.clone())?.whole();
            }
            StatementKind::Explain(explain) => {
                with_stack(script.text.len(), || self.explain(script, statement, explain, params))
            }
            StatementKind::Trace(query) => {
                with_stack(script.text.len(), || self.trace(script, statement, query, params))
            }
            _ => with_stack(script.text.len(), || self.other(one, params)),
        };
        let text = &script.text;
        let mut rows = rows.map_err(|error| error.of_statement(one.span, text))?;
        let warnings = std::mem::take(&mut rows.warnings);
        rows.warnings = warnings.into_iter().map(|warning| warning.with_text(text)).collect();
        Ok(rows)
    }

    /// The answer to a query that has been run before and can be answered in one go; none if it has to
    /// be run as any other.
    fn short(&self, script: &Script, statement: usize, params: &Params) -> Result<Option<Rows>> {
        if self.times != Times::default() || self.open.is_some() {
            return Ok(None);
        }
        let snapshot = self.database.store.snapshot(time::wall());
        let reader = snapshot.reader();
        let Some(bound) = script.plan(statement, reader.shared_catalog()) else { return Ok(None) };
        let Some(short) = &bound.short else { return Ok(None) };
        let run = Run::new(self.allowance.clone());
        let around = self.database.surroundings(&run, params);
        let rows =
            with_stack(script.text.len(), || short.rows(&bound.query, &around.context(reader)));
        let span = script.statements[statement].span;
        let told = |error| run.explained(error).of_statement(span, &script.text);
        let rows = rows.map_err(told)?;
        Ok(rows.map(|rows| {
            let columns = bound.query.columns().map(str::to_owned).collect();
            let warnings = bound.warnings.iter().cloned();
            let warnings = warnings.map(|warning| warning.with_text(&script.text)).collect();
            Rows { columns, rows, warnings }
        }))
    }

    /// The state that a statement reads: the open transaction's, or that of this moment.
    fn source(&self) -> Source<'_> {
        match &self.open {
            Some(transaction) => Source::Transaction(transaction),
            None => Source::Snapshot(Box::new(self.database.store.snapshot(time::wall()))),
        }
    }

    fn cursor(
        &self,
        script: &Arc<Script>,
        statement: usize,
        query: &ast::Query,
        params: Params,
    ) -> Result<Cursor<'_>> {
        let source = self.source();
        let bound = self
            .bound(script, statement, query, (source.reader(), &params))
            .map_err(|error| error.of_statement(script.statements[statement].span, &script.text))?;
        let run = (params, self.allowance.clone());
        let place = (Arc::clone(script), statement);
        Cursor::new(self.database, source, bound, run, place, Watch::Nothing)
    }

    /// The plan of a query: the one that is kept, or a new one.
    fn bound(
        &self,
        script: &Script,
        statement: usize,
        query: &ast::Query,
        (reader, params): (Reader<'_>, &Params),
    ) -> Result<Bound> {
        // A plan holds the times of its session.
        let may_keep = self.times == Times::default() && self.open.is_none();
        let catalog = reader.shared_catalog();
        if let Some(bound) = script.plan(statement, catalog).filter(|_| may_keep) {
            return Ok(bound);
        }
        let bound = self.database.bound(query, &self.times, (reader, params), &self.allowance)?;
        if may_keep && !bound.is_passing {
            script.keep(statement, catalog, &bound);
        }
        Ok(bound)
    }

    fn explain(
        &self,
        script: &Arc<Script>,
        statement: usize,
        explain: &ast::Explain,
        params: &Params,
    ) -> Result<Rows> {
        let source = self.source();
        let query = &explain.query;
        if explain.profile && !reads(query) {
            return Err(Diagnostic::at(query.span, "PROFILE runs a query that only reads")
                .help("EXPLAIN shows the plan of any query")
                .bind());
        }
        let bound = self.bound(script, statement, query, (source.reader(), params))?;
        let Bound { query, mut warnings, .. } = bound.clone();
        let statistics = self.database.statistics(source.reader())?;
        let catalog = Arc::clone(source.reader().shared_catalog());
        let costs = match explain.profile {
            false => None,
            true => {
                let run = (params.clone(), self.allowance.clone());
                let place = (Arc::clone(script), statement);
                let mut cursor =
                    Cursor::new(self.database, source, bound, run, place, Watch::Costs)?;
                cursor.by_ref().try_for_each(|row| row.map(drop))?;
                warnings = cursor.warnings().to_vec();
                Some(cursor.run().costs())
            }
        };
        let shown = Shown {
            query: &query,
            catalog: &catalog,
            statistics: &statistics,
            costs: costs.as_deref(),
            rules: explain.rules,
        };
        let lines = if explain.json { vec![shown.json()] } else { shown.lines() };
        let rows = lines.into_iter().map(|line| vec![Value::String(line)]).collect();
        Ok(Rows { columns: vec!["plan".to_owned()], rows, warnings })
    }

    /// What brought the rows of a query, in place of its rows.
    fn trace(
        &self,
        script: &Arc<Script>,
        statement: usize,
        query: &ast::Query,
        params: &Params,
    ) -> Result<Rows> {
        if !reads(query) {
            return Err(Diagnostic::at(query.span, "TRACE runs a query that only reads")
                .help("EXPLAIN shows the plan of any query")
                .bind());
        }
        let source = self.source();
        let bound = self.bound(script, statement, query, (source.reader(), params))?;
        let run = (params.clone(), self.allowance.clone());
        let place = (Arc::clone(script), statement);
        Cursor::new(self.database, source, bound, run, place, Watch::Lineage)?.trace()
    }

    /// Any statement that is no query for rows.
    fn other(&mut self, statement: &Statement, params: &Params) -> Result<Rows> {
        Ok(match (&statement.kind, &mut self.open) {
            (StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback, _)
                if self.is_held =>
            {
                return Err(misplaced(
                    statement.span,
                    "the program that began this transaction ends it",
                    "call Transaction::commit, or drop it",
                ));
            }
            (StatementKind::Begin, None) => {
                self.open = Some(self.database.begin_within(&self.allowance)?);
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
                    self.database.commit(transaction)?;
                }
                done("committed")
            }
            (StatementKind::Rollback, open) => {
                *open = None;
                done("rolled back")
            }
            (StatementKind::SessionSet(times), _) => self.set_times(times, params)?,
            (StatementKind::Show(show), _) => {
                let source = self.source();
                let run = Run::new(self.allowance.clone());
                show::show(show, source.reader().metered(run.meter()))
                    .map_err(|error| run.explained(error))?
            }
            (StatementKind::Consolidate(_), Some(_)) => {
                return Err(misplaced(
                    statement.span,
                    "each episode is a transaction of its own",
                    "COMMIT what is open first",
                ));
            }
            (StatementKind::Consolidate(session), None) => {
                let (times, allowance) = (&self.times, &self.allowance);
                self.database.consolidate_said(session.as_ref(), times, params, allowance)?
            }
            (kind, Some(transaction)) => {
                let (times, allowance) = (&self.times, &self.allowance);
                self.database.write_within(kind, times, params, allowance, transaction)?
            }
            (kind, None) => self.database.write(kind, &self.times, params, &self.allowance)?,
        })
    }

    /// `SESSION SET`: the times are looked at at once, so that a wrong one is told here.
    fn set_times(&mut self, times: &ast::Times, params: &Params) -> Result<Rows> {
        if *times == ast::Times::default() {
            self.times = Times::default();
            return Ok(done("reset"));
        }
        let source = self.source();
        let read = (source.reader(), params);
        let set = self.database.settled(times, &self.times, read, &self.allowance)?;
        drop(source);
        self.times = set;
        Ok(done("set"))
    }
}

fn done(outcome: &str) -> Rows {
    Rows::single(&["outcome"], vec![Value::String(outcome.to_owned())])
}

fn misplaced(span: Span, message: &str, help: &str) -> Error {
    Diagnostic::at(span, message).help(help).bind()
}
