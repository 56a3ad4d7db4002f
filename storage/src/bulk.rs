//! Many new facts at once: the plain ones among them are written as sorted tables beside the
//! database, and taken into it in one step.
//!
//! ```text
//! facts ──plain?──▶ sorted tables in `bulk/`, on the disk ──commit with a mark──▶ taken in ──mark gone
//!           └─no──▶ given back, for a transaction
//! ```
//!
//! What is plain is in [`plan`], what the tables hold in [`tables`]. The update rule itself is in neither:
//! what is not plain goes to it.
//!
//! Invariant: all of a load has one instant, and no reader is told that instant or a later one before
//! it sees all of it, nor an earlier one of a state that has part of it. A crash behind the commit leaves
//! the mark and the tables; the next opening for writing takes them in.

mod plan;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use crate::commit::{Counters, Durability, Writer};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Belief, FactId, Intent, Interval, NodeId, Properties, RelationId, Time};
use crate::overlay::Overlay;
use crate::store::Store;
use plan::Plan;
use tables::Tables;

/// Set from the commit of a load until its tables are taken in.
pub(crate) const BULK_KEY: &[u8] = b"bulk";
/// Where the tables wait, in the folder of the database.
const FOLDER: &str = "bulk";
/// Fewer facts are asserted one by one: three tables are not worth it.
const FACTS_MIN: usize = if cfg!(test) { 4 } else { 4_096 };
/// The families that a load fills.
const FAMILIES: [Family; 5] =
    [Family::Versions, Family::Out, Family::In, Family::OutPast, Family::InPast];

/// A fact between nodes that are there, from one source.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkFact {
    /// The head.
    pub head: NodeId,
    /// The relation.
    pub relation: RelationId,
    /// The tail.
    pub tail: NodeId,
    /// When it holds in the world.
    pub valid: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for.
    pub intent: Intent,
    /// Where it comes from.
    pub source: Box<str>,
}

impl BulkFact {
    /// What is believed of it.
    pub fn belief(&self) -> Belief {
        Belief {
            tail: self.tail,
            valid: self.valid,
            confidence: self.confidence,
            intent: self.intent,
            uncertain: false,
            sources: vec![self.source.to_string()],
            properties: Properties::new(),
            evidence: Vec::new(),
        }
    }
}

/// What became of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bulk {
    /// Facts that are stored.
    pub stored: usize,
    /// The places of the others, in order: they are to be asserted one by one, behind these.
    pub left: Vec<usize>,
}

impl Store {
    /// Stores the plain ones of many facts, as if each had been asserted, in this order, in one
    /// transaction. The names of relations must be known. `wall` is what the clock on the wall says.
    ///
    /// # Errors
    ///
    /// As [`crate::Transaction::commit`].
    pub fn load_facts(
        &self,
        facts: &[BulkFact],
        durability: Durability,
        wall: Time,
    ) -> Result<Bulk> {
        if self.is_read_only() {
            return Err(StorageError::ReadOnly);
        }
        let mut writer = self.commits.writer()?;
        let mut plan = {
            let snapshot = self.snapshot(wall);
            Plan::of(facts, snapshot.reader())?
        };
        let stored = plan.plain.len();
        if stored < FACTS_MIN {
            return Ok(Bulk { stored: 0, left: (0..facts.len()).collect() });
        }
        let left = std::mem::take(&mut plan.left);
        self.take_in_all(&mut writer, plan, durability, wall)?;
        drop(writer);
        // So that the next opening has no long log to read.
        self.engine.flush()?;
        Ok(Bulk { stored, left })
    }

    fn take_in_all(
        &self,
        writer: &mut Writer,
        plan: Plan<'_>,
        durability: Durability,
        wall: Time,
    ) -> Result<()> {
        let folder = self.path().join(FOLDER);
        make_empty(&folder)?;
        let first = writer.counters.next_fact;
        let count = plan.plain.len() as u64;
        let next_fact = first.checked_add(count).ok_or(StorageError::Exhausted("fact"))?;
        let commit = self.commits.begin_load(wall)?;
        let written = (|| {
            Tables::new(plan, FactId(first), commit)?.stage(&self.engine, &folder)?;
            let mut overlay = Overlay::default();
            let counters = Counters { next_fact, clock: commit, ..writer.counters };
            counters.put(&mut overlay);
            overlay.put(Family::Meta, BULK_KEY, commit.to_be_bytes().to_vec());
            let number = self.commits.write(&self.engine, writer, &overlay)?;
            writer.counters = counters;
            // The tables are on the disk already: their mark is too before they go.
            match durability {
                Durability::Sync => self.commits.sync(&self.engine, number),
                Durability::Buffered => Ok(()),
            }
        })();
        written.inspect_err(|_| self.commits.drop_load())?;
        self.commits.show_load(commit, || self.take_in(writer))
    }

    /// Takes the tables of a load in, and its mark away. Again, if a crash came in between.
    pub(crate) fn take_in(&self, writer: &mut Writer) -> Result<()> {
        let folder = self.path().join(FOLDER);
        for family in FAMILIES {
            let table = table(&folder, family);
            if table.exists() {
                self.engine.take_in(family, &table)?;
            }
        }
        let mut overlay = Overlay::default();
        overlay.delete(Family::Meta, BULK_KEY);
        self.commits.write(&self.engine, writer, &overlay)?;
        remove(&folder)
    }
}

fn table(folder: &Path, family: Family) -> PathBuf {
    folder.join(format!("{}.sst", family.name()))
}

fn make_empty(folder: &Path) -> Result<()> {
    remove(folder)?;
    fs::create_dir(folder).map_err(|source| StorageError::Io { path: folder.to_owned(), source })
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(StorageError::Io { path: folder.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
