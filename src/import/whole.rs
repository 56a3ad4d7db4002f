//! The export of a whole database, made a database again: the same ids, names, versions and times.
//!
//! ```text
//! first line ──▶ names ──▶ Builder ◀── Item ◀── ids for names ◀── every other line
//! last line: all there? ──▶ checked ──▶ renamed to the path it was made for
//! ```
//!
//! It is all or nothing: a file that is cut off, changed or does not hold together leaves nothing
//! after. It never adds to a database that has something.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use engraph_storage::{Builder, FORMAT, Item, StorageError, Summary};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::export::LINE_BYTES_MAX;
use crate::export::line::{EXPORT, EndLine, Header, Line};
use crate::export::names::Ids;
use crate::import::rows::BYTE_ORDER_MARK;
use crate::import::{Progress, Report, failed};
use crate::{text, time};

/// How an export begins.
pub(super) const BEGINNING: &[u8] = br#"{"engraph_export""#;

/// Whether a file is the export of a whole database, and not one of facts. A pipe is none: what was
/// looked at could not be read again.
///
/// # Errors
///
/// [`Error::Import`] if it cannot be read.
pub fn is_export(file: &Path) -> Result<bool> {
    let begins_as_one = || {
        if !std::fs::metadata(file)?.is_file() {
            return Ok(false);
        }
        let mut beginning = Vec::new();
        let bytes = (BYTE_ORDER_MARK.len() + BEGINNING.len()) as u64;
        File::open(file)?.take(bytes).read_to_end(&mut beginning)?;
        Ok(beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&beginning).starts_with(BEGINNING))
    };
    begins_as_one().map_err(|error: std::io::Error| failed(file, error))
}

/// Makes a new database of an export, with everything that [`Engraph::export`] wrote.
///
/// `db` is the folder, which must not be there or be empty. `progress` is called with the bytes
/// that were read, of how many; at the end all of the database is checked.
///
/// [`Engraph::export`]: crate::Engraph::export
///
/// # Errors
///
/// [`Error::Import`] if the file cannot be read, is no export, was cut off or changed, or does not
/// hold together; [`Error::Storage`] if there is something at `db` or the disk refuses. Nothing is
/// at `db` then.
pub fn whole(db: &Path, file: &Path, progress: Progress<'_>) -> Result<Report> {
    let mut lines = Lines::open(file)?;
    let header: Header = lines.next()?.ok_or_else(|| failed(file, "it is empty"))?;
    if header.engraph_export != EXPORT || header.format > FORMAT {
        let newer = "a newer version of Engraph wrote it; import it with that version";
        return Err(failed(file, newer));
    }
    let summary = header.summary();
    check_counters(&summary).map_err(|reason| lines.wrong(&reason))?;
    let ids = Ids::new(&summary).map_err(|reason| lines.wrong(&reason))?;
    let mut builder = Builder::new(db, &summary)?;
    let counts = add_all(&mut builder, &ids, &mut lines, progress)?;
    builder.finish().map_err(|error| match error {
        StorageError::Invalid(reason) => failed(file, reason),
        other => other.into(),
    })?;
    Ok(Report { stored: counts.into_iter().collect(), refused: Vec::new() })
}

/// How far the clock of an export may be ahead of this machine's: a day, in microseconds.
const AHEAD_MAX: i64 = time::DAY;

/// An error if what an export says of its clock and its numbers would leave a database that nobody can write to: a
/// system time never goes back, and a number is given once.
fn check_counters(summary: &Summary) -> std::result::Result<(), String> {
    let wall = time::wall();
    if summary.clock > wall.saturating_add(AHEAD_MAX) {
        let clock = time::short(summary.clock);
        return Err(format!(
            "its clock is at {clock}, ahead of this machine's at {}: all that is told from now on would be told then",
            time::short(wall)
        ));
    }
    match summary.next_node.max(summary.next_fact) > NUMBERS_MAX {
        true => Err("its numbers of nodes or facts are all given away".to_owned()),
        false => Ok(()),
    }
}

/// Nodes and facts that a database may have.
const NUMBERS_MAX: u64 = 1 << 62;

/// Adds every line after the first one; gives how many of each kind.
fn add_all(
    builder: &mut Builder,
    ids: &Ids,
    lines: &mut Lines<'_>,
    progress: Progress<'_>,
) -> Result<BTreeMap<&'static str, u64>> {
    let mut counts = BTreeMap::new();
    loop {
        let Some(line) = lines.next()? else {
            return Err(failed(
                lines.file,
                format!(
                    "it ends after line {} and not with an `end`; it was cut off",
                    lines.number
                ),
            ));
        };
        let item = match line {
            Line::Rule(line) => ids.rule(line),
            Line::Definition(line) => ids.definition(line),
            Line::Node(line) => ids.node(line),
            Line::FormerName(line) => ids.former_name(line),
            Line::Fact(line) => ids.fact(*line),
            Line::Embedding(line) => ids.embedding(line),
            Line::TokenCodes(line) => ids.token_codes(line),
            Line::Session(line) => Ok(line.item()),
            Line::Buffered(line) => Ok(line.item()),
            Line::End(end) => {
                lines.check_end(&end)?;
                return Ok(counts);
            }
        };
        let item = item.map_err(|reason| lines.wrong(&reason))?;
        builder.add(&item).map_err(|error| match error {
            StorageError::Invalid(reason) => lines.wrong(&reason),
            other => other.into(),
        })?;
        *counts.entry(kind(&item)).or_default() += 1;
        progress(lines.done, lines.total);
    }
}

/// What an item counts as.
fn kind(item: &Item) -> &'static str {
    match item {
        Item::Rule(..) => "rules",
        Item::Definition(_) => "definitions",
        Item::Node(.., None) => "nodes",
        Item::Node(.., Some(_)) => "nodes of the past",
        Item::FormerName { .. } => "former names",
        Item::Version(..) => "versions of facts",
        Item::Vector { system_to: None, .. } => "embeddings",
        Item::Vector { .. } => "embeddings of the past",
        Item::TokenCodes(..) => "codes of tokens",
        Item::Session(..) => "sessions",
        Item::Buffered { .. } => "buffered turns",
    }
}

/// The lines of an export, with their number and the hash of those before.
struct Lines<'f> {
    file: &'f Path,
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
    done: u64,
    total: u64,
    /// Of all lines before this one.
    hash: Sha256,
}

impl<'f> Lines<'f> {
    fn open(file: &'f Path) -> Result<Self> {
        let opened = File::open(file).map_err(|error| failed(file, error))?;
        let total = opened.metadata().map_err(|error| failed(file, error))?.len();
        let reader = BufReader::with_capacity(1 << 20, opened);
        let (line, hash) = (Vec::new(), Sha256::new());
        Ok(Self { file, reader, line, number: 0, done: 0, total, hash })
    }

    /// Reads the next line; none at the end of the file.
    fn advance(&mut self) -> Result<bool> {
        self.hash.update(&self.line);
        self.line.clear();
        let read = (&mut self.reader)
            .take(LINE_BYTES_MAX as u64 + 1)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| failed(self.file, error))?;
        self.number += u64::from(read > 0);
        self.done += read as u64;
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        match read > LINE_BYTES_MAX {
            true => Err(self.wrong(&format!("the line is over {LINE_BYTES_MAX} bytes"))),
            false => Ok(read > 0),
        }
    }

    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        if !self.advance()? {
            return Ok(None);
        }
        // Every line is the first one to the parser.
        serde_json::from_slice(&self.line).map(Some).map_err(|error| {
            self.wrong(&error.to_string().replace(" at line 1 column", " at byte"))
        })
    }

    /// What is wrong with the line that was read last.
    fn wrong(&self, reason: &str) -> Error {
        Error::Import(format!("{}:{}: {reason}", self.file.display(), self.number))
    }

    /// The last line must be the last one and fit those before it.
    fn check_end(&mut self, end: &EndLine) -> Result<()> {
        let before = self.number - 1;
        if end.lines != before {
            return Err(self.wrong(&format!(
                "{before} lines are before it, and it says {}; the file is not whole",
                end.lines
            )));
        }
        if end.sha256.as_ref().is_some_and(|hash| *hash != text::hex(&self.hash.clone().finalize()))
        {
            return Err(failed(
                self.file,
                "it is not what was exported, for its lines have another SHA-256 than the last one \
                 says; take another copy, or, if you changed it, take `sha256` out of the last line",
            ));
        }
        match self.advance()? {
            true => Err(self.wrong("there is something after the last line")),
            false => Ok(()),
        }
    }
}
