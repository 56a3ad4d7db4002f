//! A whole database out to lines of JSON: every id, name, version, rule, definition, embedding and
//! buffered turn, both times.
//!
//! ```text
//! snapshot ──Reader::items──▶ Item ──names for ids──▶ Line ──JSON, hashed──▶ out
//! ```
//!
//! The same state gives the same bytes, and `import::whole` makes the same state of them. It reads
//! one snapshot, beside any writer, and never leaves anything out: what it cannot write is an
//! error.

mod buffer;
mod definition;
pub(crate) mod line;
pub(crate) mod names;
mod value;

use std::io::{BufWriter, Write};

use engraph_storage::{FORMAT, Item, RECORD_BYTES_MAX, StorageError, Summary};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::text;
use crate::time;
use line::{EndLine, Header, Line};
use names::Names;

/// The longest line, in bytes; the largest record has fewer.
pub(crate) const LINE_BYTES_MAX: usize = 16 * RECORD_BYTES_MAX;

/// Called with how much is done, of how much, in units of the file.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64);

impl Engraph {
    /// Writes everything that the database holds, so that [`import::whole`](crate::import::whole)
    /// makes the same database of it. Gives the number of lines.
    ///
    /// It is the state as it stands when the export begins, whatever is written meanwhile.
    /// `progress` is called with about how much is done, of how much.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let db = engraph::Engraph::open(folder.path().join("db"))?;
    /// db.query("REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto')", ())?;
    /// let file = folder.path().join("all.jsonl");
    /// db.export(std::fs::File::create(&file)?, &mut |_, _| {})?;
    ///
    /// let path = folder.path().join("copy");
    /// engraph::import::whole(&path, &file, &mut |_, _| {})?;
    /// let copy = engraph::Engraph::open(path)?;
    /// let rows = copy.query("MATCH (p:Person)-[:lives_in]->(c) RETURN c.key AS city", ())?;
    /// assert_eq!(rows.to_json(), r#"[{"city":"Porto"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Export`] if `out` cannot be written, [`Error::Storage`] if the database cannot be
    /// read or is damaged. What was written until then is no export: it has no last line.
    pub fn export(&self, out: impl Write, progress: Progress<'_>) -> Result<u64> {
        let snapshot = self.store.snapshot(time::wall());
        let reader = snapshot.reader();
        let summary = reader.summary()?;
        let names = Names(&summary);
        let mut lines = Lines::new(out);
        lines.write(&Header::new(&summary, FORMAT))?;
        let mut way = Way::new(&summary, progress);
        reader.items(&mut |item| {
            way.pass(&item);
            let line = names.line(item).map_err(unwritable)?;
            lines.write(&line)
        })?;
        way.end();
        lines.end()
    }
}

fn unwritable(reason: String) -> Error {
    StorageError::Invalid(format!("the database cannot be exported: {reason}")).into()
}

/// Lines on their way out, counted and hashed.
struct Lines<W: Write> {
    out: BufWriter<W>,
    buffer: Vec<u8>,
    hash: Sha256,
    count: u64,
}

impl<W: Write> Lines<W> {
    fn new(out: W) -> Self {
        Self { out: BufWriter::new(out), buffer: Vec::new(), hash: Sha256::new(), count: 0 }
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, line)
            .map_err(|error| unwritable(error.to_string()))?;
        self.buffer.push(b'\n');
        if self.buffer.len() > LINE_BYTES_MAX {
            return Err(unwritable(format!("a line is over {LINE_BYTES_MAX} bytes")));
        }
        self.hash.update(&self.buffer);
        self.count += 1;
        self.out.write_all(&self.buffer).map_err(Error::Export)
    }

    /// Writes the last line and gives the number of all.
    fn end(mut self) -> Result<u64> {
        let sha256 = Some(text::hex(&self.hash.clone().finalize()));
        self.write(&Line::End(EndLine { lines: self.count, sha256 }))?;
        self.out.flush().map_err(Error::Export)?;
        Ok(self.count)
    }
}

/// How far an export has come, told by the ids that it passes: nodes, then facts, then embeddings
/// of nodes.
struct Way<'p> {
    nodes: u64,
    facts: u64,
    embeddings: u64,
    done: u64,
    progress: Progress<'p>,
}

impl<'p> Way<'p> {
    fn new(summary: &Summary, progress: Progress<'p>) -> Self {
        let (nodes, facts) = (summary.next_node, summary.next_fact);
        Self { nodes, facts, embeddings: 0, done: 0, progress }
    }

    fn pass(&mut self, item: &Item) {
        let done = match item {
            Item::Node(node, _, None) => node.0,
            Item::Version(fact, ..) => self.nodes.saturating_add(fact.0),
            Item::Vector { .. } => {
                self.embeddings += 1;
                self.nodes.saturating_add(self.facts).saturating_add(self.embeddings)
            }
            Item::Rule(..) | Item::Definition(_) | Item::Node(..) | Item::FormerName { .. } => 0,
            // Few, and last.
            Item::TokenCodes(..) | Item::Session(..) | Item::Buffered { .. } => 0,
        };
        // Damaged ids may lie anywhere.
        let total = self.total();
        if done > self.done && done <= total {
            self.done = done;
            (self.progress)(done, total);
        }
    }

    fn total(&self) -> u64 {
        self.nodes.saturating_mul(2).saturating_add(self.facts)
    }

    fn end(&mut self) {
        let total = self.total();
        (self.progress)(total, total);
    }
}
