//! An answer that is pulled row by row.
//!
//! It holds one state of the database and nothing of the disk between two rows: it can be left at
//! any time, and reads no more than its rows take.

use std::sync::Arc;
use std::time::Instant;

use engraph_storage::{Reader, Snapshot};

use crate::cell::{Cell, Row};
use crate::context::held::Held;
use crate::context::limits::Allowance;
use crate::context::lineage::Lineage;
use crate::context::run::{Run, Watch};
use crate::database::{Engraph, with_stack};
use crate::error::{Diagnostic, Error, Limit, Result};
use crate::exec::lineage;
use crate::exec::{self, CHUNK_ROWS, Operator};
use crate::plan::expr::Slot;
use crate::plan::{BoundQuery, End};
use crate::plans::{Bound, Script};
use crate::rows::{Params, Rows, Value};
use crate::statement::Surroundings;

/// Rows of a stream with so many bytes are made at once.
const MADE_BYTES: usize = 1 << 20;

/// The state that a statement reads.
pub(crate) enum Source<'s> {
    Snapshot(Box<Snapshot<'s>>),
    Transaction(&'s engraph_storage::Transaction<'s>),
}

impl Source<'_> {
    pub(crate) fn reader(&self) -> Reader<'_> {
        match self {
            Self::Snapshot(snapshot) => snapshot.reader(),
            Self::Transaction(transaction) => transaction.reader(),
        }
    }
}

/// The rows of an answer, made as they are asked for.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let db = engraph::Engraph::open(folder.path())?;
/// db.execute("REMEMBER (:Person 'Nora'); REMEMBER (:Person 'Luis');", ())?;
/// let mut session = db.session();
/// let mut rows = session.stream("MATCH (p:Person) RETURN p.key AS name", ())?;
/// assert_eq!(rows.columns(), ["name"]);
/// let first = rows.next().expect("a row")?;
/// assert_eq!(first, ["Luis".into()]);
/// drop(rows); // the rest is never read
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "rows are found as they are asked for"]
pub struct Cursor<'s> {
    database: &'s Engraph,
    source: Source<'s>,
    parameters: Params,
    run: Run,
    query: Arc<BoundQuery>,
    slots: Vec<Slot>,
    columns: Vec<String>,
    operator: Box<dyn Operator>,
    /// Rows that were found and not made yet.
    found: std::vec::IntoIter<Row>,
    /// Rows that were made and not asked for yet.
    made: std::vec::IntoIter<Vec<Value>>,
    /// How many rows are asked for at once: few at first.
    ask: usize,
    /// Whether all rows are kept until the last one is made.
    keeps: bool,
    /// Since when nobody has asked for rows that were not made.
    idle: Option<Instant>,
    /// Roughly the bytes of the rows that were made last, or of all that are kept.
    held: Held,
    /// Roughly those of the rows that were found and not made.
    waiting: Held,
    done: bool,
    warnings: Vec<Diagnostic>,
    script: Arc<Script>,
    /// Its place in the script.
    statement: usize,
}

impl<'s> Cursor<'s> {
    pub(crate) fn new(
        database: &'s Engraph,
        source: Source<'s>,
        Bound { query, warnings, .. }: Bound,
        (parameters, allowance): (Params, Allowance),
        (script, statement): (Arc<Script>, usize),
        watch: Watch,
    ) -> Result<Self> {
        let End::Return(named) = &query.end else {
            return Err(Diagnostic::new("the query returns no rows").bind());
        };
        let (columns, slots) = named.iter().cloned().unzip();
        let run = Run::new(allowance);
        let run = match watch {
            Watch::Nothing => run,
            Watch::Costs => run.profiled(exec::operators(&query.plan)),
            Watch::Lineage => run.traced(Lineage::of(&query)),
        };
        let text = &script.text;
        let operator = with_stack(text.len(), || exec::start(&query, watch));
        let warnings = warnings.into_iter().map(|warning| warning.with_text(text)).collect();
        let cursor = Self {
            database,
            source,
            parameters,
            run,
            slots,
            columns,
            operator,
            found: Vec::new().into_iter(),
            made: Vec::new().into_iter(),
            ask: 1,
            keeps: false,
            idle: None,
            held: Held::default(),
            waiting: Held::default(),
            done: false,
            warnings,
            script,
            statement,
            query,
        };
        cursor.check()?;
        Ok(Self { idle: Some(Instant::now()), ..cursor })
    }

    fn check(&self) -> Result<()> {
        let context = self.surroundings().context(self.source.reader());
        let checked =
            with_stack(self.script.text.len(), || exec::check(&self.query.plan, &context));
        checked.map_err(|error| self.placed(error))
    }

    /// The error at its place, or at the statement.
    fn placed(&self, error: Error) -> Error {
        error.of_statement(self.script.statements[self.statement].span, &self.script.text)
    }

    /// The names of the columns, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What is probably not meant, such as a relation that does not exist; also of the rows so far.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// From here on, rows are made many at a time.
    pub(crate) fn whole(mut self) -> Result<Rows> {
        (self.ask, self.keeps) = (CHUNK_ROWS, true);
        let most = self.run.limits().rows_max;
        let mut rows = Vec::new();
        for row in self.by_ref() {
            rows.push(row?);
            if rows.len() > most {
                let message = format!("there are more than {most} rows");
                let error = Diagnostic::new(message)
                    .help("narrow the pattern, add LIMIT, stream the rows, or raise Options::limits in Rust")
                    .of_limit(Limit::Size);
                return Err(self.placed(error));
            }
        }
        Ok(Rows { columns: self.columns, rows, warnings: self.warnings })
    }

    /// What brought the rows of the answer, in place of it.
    pub(crate) fn trace(mut self) -> Result<Rows> {
        self.slots = self.run.lineage().map(Lineage::slot).into_iter().collect();
        (self.ask, self.keeps) = (CHUNK_ROWS, true);
        let mut ends = Vec::new();
        for row in self.by_ref() {
            ends.extend(row?);
        }
        let context = self.surroundings().context(self.source.reader());
        let table = lineage::table(&ends, &self.query, &context);
        let table = table.map_err(|error| self.run.explained(error))?;
        Ok(Rows { warnings: std::mem::take(&mut self.warnings), ..table })
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    fn surroundings(&self) -> Surroundings<'_> {
        self.database.surroundings(&self.run, &self.parameters)
    }

    /// Keeps what the rows so far warn of.
    fn take_warnings(&mut self) {
        let warnings = self.run.take_warnings().into_iter();
        self.warnings.extend(warnings.map(|warning| warning.with_text(&self.script.text)));
    }

    /// Makes the next rows; false when there are none.
    fn pull(&mut self) -> Result<bool> {
        let surroundings = self.database.surroundings(&self.run, &self.parameters);
        let context = surroundings.context(self.source.reader());
        if self.found.len() == 0 {
            let Some(chunk) = self.operator.next(&context, self.ask)? else { return Ok(false) };
            self.ask = (self.ask * 2).min(CHUNK_ROWS);
            self.found = chunk.into_iter();
        }
        let mut made = Vec::with_capacity(self.found.len());
        // What was given out is its taker's, unless it is kept here.
        if !self.keeps {
            context.hold(&mut self.held, 0)?;
        }
        let most = MADE_BYTES.min(context.limits().memory_max / 4);
        let held = &mut self.held;
        for row in self.found.by_ref() {
            let cells = self.slots.iter().map(|slot| row[*slot].whole_bytes());
            context.hold_more(held, cells.fold(0, usize::saturating_add))?;
            let values = self.slots.iter().map(|slot| context.materialise(&row[*slot], held));
            made.push(values.collect::<Result<_>>()?);
            // Large nodes are not made long before they are asked for.
            if !self.keeps && held.bytes() > most {
                break;
            }
        }
        let waiting = self.found.as_slice().iter().flatten().map(Cell::bytes);
        context.hold(&mut self.waiting, waiting.fold(0, usize::saturating_add))?;
        self.made = made.into_iter();
        Ok(true)
    }
}

impl std::fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Iterator for Cursor<'_> {
    type Item = Result<Vec<Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.made.next() {
                return Some(Ok(row));
            }
            if self.done {
                return None;
            }
            if let Some(idle) = self.idle.take() {
                self.run.put_off(idle.elapsed());
            }
            match with_stack(self.script.text.len(), || self.pull()) {
                Ok(more) => {
                    self.done = !more;
                    self.idle = (!self.keeps).then(Instant::now);
                    self.take_warnings();
                }
                Err(error) => {
                    self.done = true;
                    let error = self.run.explained(error);
                    return Some(Err(self.placed(error)));
                }
            }
        }
    }
}
