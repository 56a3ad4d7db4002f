//! Files into the database: facts, turns, messages, LoCoMo conversations, tables; and an export,
//! which becomes a database of its own.
//!
//! One thread reads and embeds, another writes, a batch a transaction; tables of facts go by the bulk way of the
//! storage, on all cores. A line that cannot be
//! stored is refused with its number and reason; the others are stored. What a source has said
//! before is passed over, whatever has become of it, so a second import changes nothing.

mod batch;
mod bulk;
mod csv_file;
mod facts;
mod locomo;
mod messages;
mod names;
mod object;
mod partial_date;
mod rows;
mod said_at;
mod telling;
mod turns;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use engraph_storage::graph::Value;
use engraph_storage::update::Effect;
use engraph_storage::{Outcome, StorageError, Transaction};
use parking_lot::Mutex;
use serde_json::Value as Json;

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::memory::Consolidated;
use crate::memory::boundary::Occasion;
use crate::memory::consolidate::{buffered, consolidate, groups};
use crate::memory::pipeline::Host;
use crate::models::Models;
use crate::text::without_mark;
use crate::threads::ahead;
use crate::time;
use crate::write::observe::observe;
use crate::write::{self, Input};

pub use csv_file::{CsvOptions, csv};
pub use facts::jsonl;
pub(crate) use locomo::JsonTurn;
pub use locomo::locomo;
pub(crate) use locomo::{is_locomo_session, locomo_time, no_locomo_time};
pub use messages::messages;
use rows::BYTE_ORDER_MARK;
use telling::Telling;
pub use turns::turns;
pub use whole::{is_export, whole};

/// Inputs that are embedded and committed together, and about how many bytes of lines, if these are fewer.
const BATCH_INPUTS: usize = 256;
const BATCH_BYTES: u64 = 8 << 20;
/// Batches that wait for the writer.
const BATCHES_WAITING: usize = 2;
/// The longest line of a file, in bytes.
const LINE_BYTES_MAX: usize = 16 << 20;

/// How a file begins that is compressed (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];
/// Bytes of a file that are read at once.
const BUFFER: usize = 8 << 10;

pub use crate::export::Progress;

/// What is counted of turns that have none, which are told as of the import.
const UNDATED: &str = "turns without a time";
/// What is counted of messages that become no turn.
const SKIPPED: &str = "messages skipped";

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many of each kind of thing, in words.
    pub stored: Vec<(&'static str, u64)>,
    /// What was not stored.
    pub refused: Vec<Refused>,
}

impl Report {
    /// Whether anything of the file is in the database, or was already.
    pub fn has_stored(&self) -> bool {
        let of_others = [UNDATED, SKIPPED];
        self.stored.iter().any(|(what, count)| *count > 0 && !of_others.contains(what))
    }

    /// Adds to a count, which is there if it is above 0.
    fn count(&mut self, what: &'static str, count: u64) {
        match self.stored.iter_mut().find(|(known, _)| *known == what) {
            Some((_, all)) => *all += count,
            None if count > 0 => self.stored.push((what, count)),
            None => {}
        }
    }

    fn add(&mut self, other: Self) {
        for (what, count) in other.stored {
            self.count(what, count);
        }
        self.refused.extend(other.refused);
    }
}

/// A line that was not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Its number in the file, from 1; 0 if the file does not go by lines.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// What one line of a file asks to be stored.
struct Line {
    number: u64,
    /// How much of the file has been read with it.
    done: u64,
    inputs: std::result::Result<Vec<Input>, String>,
}

impl Line {
    /// One input of a file that is read whole.
    fn accepted(input: Input) -> Self {
        Self { number: 0, done: 0, inputs: Ok(vec![input]) }
    }
}

/// Inputs that have their embeddings.
struct Batch {
    inputs: Vec<Input>,
    /// The line of each input.
    lines: Vec<u64>,
    refused: Vec<Refused>,
    done: u64,
}

/// Embeds and stores every line.
fn store(
    db: &Engraph,
    lines: impl Iterator<Item = Result<Line>> + Send,
    total: u64,
    progress: Progress<'_>,
) -> Result<Report> {
    let mut counts = Counts::default();
    let mut refused = Vec::new();
    ahead(BATCHES_WAITING, batches(db, lines), |mut batch| {
        counts.write(db, &mut batch)?;
        batch.refused.sort_by_key(|refused| refused.line);
        refused.extend(batch.refused);
        progress(batch.done, total);
        Ok(())
    })?;
    Ok(Report { stored: counts.stored(), refused })
}

/// Puts turns into the buffer, and makes memory of the sessions that they belong to.
fn remember(
    db: &Engraph,
    lines: impl Iterator<Item = Result<Line>> + Send,
    total: u64,
    progress: Progress<'_>,
) -> Result<Report> {
    let named = Mutex::new(BTreeSet::new());
    let lines = lines.inspect(|line| {
        let inputs = line.iter().flat_map(|line| line.inputs.iter().flatten());
        named.lock().extend(inputs.filter_map(|input| match input {
            Input::Heard { session, .. } => Some(session.clone()),
            _ => None,
        }));
    });
    let mut report = store(db, lines, total, &mut |_, _| ())?;
    let named = named.into_inner();
    let mut sessions = buffered(db.workshop())?;
    sessions.retain(|(session, _)| named.contains(session));
    let mut made = Consolidated::default();
    let (mut episodes, mut done) = (0, 0);
    let turns: u64 = sessions.iter().map(|(_, buffer)| buffer.turns).sum();
    let sessions: Vec<String> = sessions.into_iter().map(|(session, _)| session).collect();
    consolidate(db.workshop(), &sessions, Occasion::SessionEnd, &mut |episode| {
        episodes += 1;
        done += episode.turns;
        made.add(&episode);
        progress(done, turns);
        Ok(())
    })?;
    let layers = [
        ("episodes", episodes),
        ("concepts", made.concepts_new),
        ("semantics", made.semantics),
        ("facts drawn", made.facts),
    ];
    let groups = if episodes > 0 { Some(groups(db.workshop())?) } else { None };
    let layers = layers.into_iter().chain(groups.into_iter().flatten());
    report.stored.extend(layers.filter(|(_, count)| *count > 0));
    Ok(report)
}

/// Lines in batches, each embedded on a snapshot of its own.
fn batches(
    db: &Engraph,
    lines: impl Iterator<Item = Result<Line>>,
) -> impl Iterator<Item = Result<Batch>> {
    let mut lines = lines.fuse();
    std::iter::from_fn(move || {
        let mut batch =
            Batch { inputs: Vec::new(), lines: Vec::new(), refused: Vec::new(), done: 0 };
        let mut begun = None;
        while batch.inputs.len() + batch.refused.len() < BATCH_INPUTS
            && begun.is_none_or(|begun| batch.done - begun < BATCH_BYTES)
        {
            match lines.next() {
                Some(Ok(line)) => {
                    begun.get_or_insert(line.done);
                    batch.done = line.done;
                    match line.inputs {
                        Ok(inputs) => {
                            batch.lines.extend(inputs.iter().map(|_| line.number));
                            batch.inputs.extend(inputs);
                        }
                        Err(reason) => {
                            batch.refused.push(Refused { line: line.number, reason });
                        }
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        if batch.inputs.is_empty() && batch.refused.is_empty() {
            return None;
        }
        let snapshot = db.store.snapshot(time::wall());
        let embedded = write::embed(&mut batch.inputs, &db.models, snapshot.reader());
        Some(embedded.map(|()| batch))
    })
}

/// What has been stored so far.
#[derive(Default)]
struct Counts {
    counts: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// Stores a batch in one transaction; an input that breaks a rule is refused alone.
    fn write(&mut self, db: &Engraph, batch: &mut Batch) -> Result<()> {
        let mut telling = Telling::new(db);
        for (input, line) in batch.inputs.iter().zip(&batch.lines) {
            match telling.tell(|transaction| put(transaction, input, &db.models)) {
                Ok((what, more)) => {
                    self.add(what);
                    more.iter().for_each(|more| self.add(more));
                }
                Err(Error::Storage(StorageError::Invalid(reason))) => {
                    batch.refused.push(Refused { line: *line, reason });
                }
                Err(error) => return Err(error),
            }
        }
        telling.finish()
    }

    fn add(&mut self, what: &'static str) {
        self.add_many(what, 1);
    }

    fn add_many(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.counts.entry(what).or_default() += count;
        }
    }

    fn stored(self) -> Vec<(&'static str, u64)> {
        self.counts.into_iter().collect()
    }
}

/// Stores one input, and gives what it counts as, and more exactly.
fn put(
    transaction: &mut Transaction<'_>,
    input: &Input,
    models: &Models,
) -> Result<(&'static str, Option<&'static str>)> {
    let turn =
        |is_new: bool| ("turns", Some(if is_new { "turns new" } else { "turns held already" }));
    Ok(match input {
        Input::Node(node) => {
            write::put_node(transaction, node, models)?;
            ("nodes", None)
        }
        Input::Turn(input) => turn(write::put_turn(transaction, input, models)?),
        Input::Heard { session, turn: heard } => turn(observe(transaction, session, heard)?.is_new),
        Input::Fact(fact) => {
            ("facts", Some(counted(write::put_new_fact(transaction, fact, models)?.as_ref())))
        }
    })
}

/// What an assertion counts as; none has said nothing new.
fn counted(outcome: Option<&Outcome>) -> &'static str {
    match outcome.map_or(Effect::Unchanged, |outcome| outcome.resolution.effect) {
        Effect::Merged => "facts merged",
        Effect::HeldAsUncertain => "facts held as uncertain",
        Effect::Unchanged => "facts unchanged",
        // Beside an assertion, an act on a held fact comes to one of these, and none comes here.
        _ => "facts inserted",
    }
}

/// The lines of a text file or a pipe that are not blank, with their number and the bytes read so far.
struct Lines {
    /// What was looked at and not taken: it goes before the rest.
    head: Cursor<Vec<u8>>,
    reader: BufReader<File>,
    name: String,
    number: u64,
    done: u64,
}

impl Lines {
    fn open(file: &Path) -> Result<(Self, u64)> {
        let failed = |error: std::io::Error| failed(file, error);
        let opened = File::open(file).map_err(failed)?;
        let total = opened.metadata().map_err(failed)?.len();
        let mut reader = BufReader::with_capacity(BUFFER, opened);
        let begin = reader.fill_buf().map_err(failed)?;
        let mend = match begin {
            _ if begin.starts_with(GZIP) => Some("is compressed; gunzip it first"),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                Some("is UTF-16; convert it first: iconv -f utf-16 -t utf-8")
            }
            _ => None,
        };
        if let Some(mend) = mend {
            return Err(Error::Import(format!("{} {mend}", file.display())));
        }
        let head = Cursor::default();
        let lines = Self { head, reader, name: file_name(file), number: 0, done: 0 };
        Ok((lines, total))
    }

    /// Whether the first line begins so. Nothing is taken; of a pipe, as far as it has been written.
    fn begin_with(&mut self, text: &[u8]) -> Result<bool> {
        match self.reader.fill_buf() {
            Ok(bytes) => Ok(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).starts_with(text)),
            Err(error) => Err(Error::Import(format!("{}: {error}", self.name))),
        }
    }

    /// The next line with its end. Of one that is too long, more than the most there may be; the rest is
    /// passed over.
    fn next(&mut self) -> std::io::Result<Vec<u8>> {
        let bytes = self.some()?;
        self.done += bytes.len() as u64;
        if bytes.len() > LINE_BYTES_MAX && !bytes.ends_with(b"\n") {
            let passed = self.input().skip_until(b'\n')?;
            self.done += passed as u64;
        }
        self.number += 1;
        Ok(bytes)
    }

    /// The first line as [`Self::next`] gives it, and nothing is taken.
    fn peek(&mut self) -> std::io::Result<&[u8]> {
        self.head = Cursor::new(self.some()?);
        Ok(self.head.get_ref())
    }

    /// Passes over blank lines, so that what is looked at next is text.
    fn pass_blank(&mut self) -> std::io::Result<()> {
        loop {
            let line = self.peek()?;
            let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
            if line.is_empty() || line.len() > LINE_BYTES_MAX || !text.trim_ascii().is_empty() {
                return Ok(());
            }
            self.next()?;
        }
    }

    /// What is left of the file.
    fn input(&mut self) -> impl BufRead {
        (&mut self.head).chain(&mut self.reader)
    }

    /// The next line, or the most of it that there may be and a byte.
    fn some(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.input().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
        Ok(bytes)
    }

    /// Turns each line into inputs; a line that is too long or no text is an error of that line alone.
    fn map(
        mut self,
        mut parse: impl FnMut(&str, &str, u64) -> std::result::Result<Vec<Input>, String>,
    ) -> impl Iterator<Item = Result<Line>> {
        std::iter::from_fn(move || {
            loop {
                let bytes = match self.next() {
                    Ok(bytes) if bytes.is_empty() => return None,
                    Ok(bytes) => bytes,
                    Err(error) => {
                        let message = format!("{}:{}: {error}", self.name, self.number + 1);
                        return Some(Err(Error::Import(message)));
                    }
                };
                let inputs = match std::str::from_utf8(&bytes) {
                    _ if bytes.len() > LINE_BYTES_MAX => Err("the line is over 16 MiB".to_owned()),
                    Ok(text) if text.trim().is_empty() => continue,
                    Ok(text) => {
                        let text = if self.number == 1 { without_mark(text) } else { text };
                        parse(text, &self.name, self.number)
                    }
                    Err(_) => Err("the line is no UTF-8 text; convert the file first, as by iconv -f latin1 -t utf-8".to_owned()),
                };
                return Some(Ok(Line { number: self.number, done: self.done, inputs }));
            }
        })
    }
}

/// The last part of a path, for sources and messages.
fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// A JSON value as a property.
fn property(json: &Json) -> std::result::Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            // As a float it would be another number.
            _ if number.is_u64() => {
                return Err(format!("{number} does not fit into 64 bits with a sign"));
            }
            (None, Some(value)) if value.is_finite() => Value::Float(value),
            _ => return Err(format!("{number} is too large")),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => {
            Value::List(items.iter().map(property).collect::<std::result::Result<_, _>>()?)
        }
        Json::Object(entries) => Value::Map(
            entries
                .iter()
                .map(|(name, value)| Ok((name.clone(), property(value)?)))
                .collect::<std::result::Result<_, String>>()?,
        ),
    })
}

/// A file cannot be imported.
fn failed(file: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Import(format!("{}: {reason}", file.display()))
}
