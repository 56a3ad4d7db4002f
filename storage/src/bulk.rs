//! Many new facts at once: the plain ones among them are written as sorted tables beside the
//! database, and taken into it in one step.
//!
//! ```text
//! facts ──▶ a spool ──▶ parts by head: plain? ──▶ tables by head, of versions ┐
//!                                   │     └────▶ parts by tail ──▶ tables ────┴──▶ commit with a mark
//!                                   ├─known already: nothing is done                   │
//!                                   └─no──▶ given back, for a transaction              │
//!                                                                 taken in, mark gone ◀┘
//! ```
//!
//! How facts wait is in [`spool`] and [`parts`], what is plain in [`plan`], what says nothing new in
//! [`known`], what the tables hold in [`tables`]. The update rule itself is in none of them: [`known`] asks
//! it, and what is neither plain nor known goes to it. A part has two tables by its heads and one by its tails;
//! of what a large load has, each core has one part in memory, and decides a stretch of its heads at a time.
//!
//! Invariant: all of a load has one instant, and no reader is told that instant or a later one before
//! it sees all of it, nor an earlier one of a state that has part of it. A crash after the commit leaves
//! the mark and the tables; the next opening for writing takes them in.

mod known;
mod parts;
mod plan;
mod spool;
mod tables;
mod tails;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::Builder;

use parking_lot::Mutex;

use crate::commit::{Counters, Writer};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{BulkFact, FactId, NodeId, RelationId, SystemScope, Time};
use crate::overlay::Overlay;
use crate::pack;
use crate::place::sync_folder;
use crate::reader::Reader;
use crate::staged;
use crate::store::{BULK_KEY, Store};
use parts::{Counts, Parts, Ranges};
use plan::{Closing, Plan};
use spool::{MEMORY, Records, Row, STRETCH, Sorted, Spool};
use tables::Tables;

/// Fewer facts are asserted one by one: tables are not worth it.
const FACTS_MIN: usize = if cfg!(test) { 4 } else { 4_096 };

/// Facts on their way into a store, as if each had been asserted, in this order, in one transaction.
/// They wait in memory, or in a file if they are many; what is not finished leaves nothing.
pub struct Load<'s> {
    store: &'s Store,
    spool: Spool,
    heads: Counts,
    tails: Counts,
    count: u64,
    /// The place of the last fact.
    last: Option<u64>,
    /// Whether there are facts of each relation, by its number.
    relations: Vec<bool>,
    /// How often nodes had been taken away when it began.
    losses: u64,
}

/// What became of a load.
pub struct Loaded {
    /// How many facts are stored.
    pub stored: u64,
    /// How many say nothing that is not held already, and change nothing.
    pub known: u64,
    /// The others, which are to be asserted one by one, after these.
    pub left: Left,
}

/// Facts of a load that are to be asserted one by one, in its order.
pub struct Left {
    records: Records,
    /// None if it is all of them.
    places: Option<std::vec::IntoIter<u64>>,
    count: u64,
    folder: PathBuf,
}

/// What has become of the facts of a load when its tables are written.
struct Staged {
    /// Whether any are in tables.
    any: bool,
    /// How many say nothing new.
    known: u64,
    /// The places of the others that are not in tables, in order.
    left: Vec<u64>,
}

/// What the plans of all stretches come to.
#[derive(Default)]
struct Planned {
    /// The places of the first plain facts, as many as are worth tables.
    plain: Vec<u64>,
    closings: Vec<Closing>,
    known: u64,
    left: Vec<u64>,
}

impl Planned {
    fn add(&mut self, plan: Plan<'_>) {
        let places = plan.plain.iter().map(|row| row.place);
        self.plain.extend(places.take(FACTS_MIN - self.plain.len()));
        self.closings.extend(plan.closings);
        self.known += plan.known;
        self.left.extend(plan.left);
    }

    fn settle(self) -> (Staged, Vec<Closing>) {
        let Self { plain, closings, known, mut left } = self;
        let any = plain.len() == FACTS_MIN;
        if !any {
            left.extend(plain);
        }
        left.sort_unstable();
        (Staged { any, known, left }, closings)
    }
}

impl Store {
    /// Begins to load facts.
    ///
    /// # Errors
    ///
    /// [`StorageError::ReadOnly`].
    pub fn begin_load(&self) -> Result<Load<'_>> {
        if self.is_read_only() {
            return Err(StorageError::ReadOnly);
        }
        let spool = Spool::new(self.folder(), MEMORY);
        let (heads, tails) = (Counts::default(), Counts::default());
        let (relations, losses) = (Vec::new(), self.commits.losses());
        Ok(Load { store: self, spool, heads, tails, count: 0, last: None, relations, losses })
    }

    /// Stores the plain ones of a load, unless they are too few.
    fn load_parts(
        &self,
        parts: (Heads<'_>, Parts),
        (relations, losses): (&[bool], u64),
        wall: Time,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Staged> {
        let mut writer = self.commits.writer()?;
        let may_miss = self.commits.losses() != losses;
        self.engine.check_place()?;
        staged::begin(self.folder())?;
        let (firsts, next_fact) = numbers(writer.counters.next_fact, parts.0.ranges().sizes())
            .ok_or(StorageError::Exhausted("fact"))?;
        let commit = self.commits.begin_load(wall)?;
        let written = self.stage_all((&parts, may_miss), commit, &firsts, progress);
        let Ok(staged @ Staged { any: true, .. }) = written else {
            self.commits.drop_load();
            staged::remove(self.folder())?;
            return written;
        };
        let counters = Counters { next_fact, clock: commit, ..writer.counters };
        let is_ready = self.sync_staged().and_then(|()| self.engine.check_place());
        is_ready.inspect_err(|_| self.commits.drop_load())?;
        let has = |relation: RelationId| relations.get(relation.0 as usize) == Some(&true);
        self.changes().loaded(commit, has);
        // Nobody may read the counters of the load, which tell its commit, without its facts.
        self.commits.show_load(commit, || {
            self.commit_load(&mut writer, counters)?;
            self.take_in(&mut writer)
        })?;
        drop(writer);
        // So that the next opening has no log to read, unless that is at once.
        self.engine.begin_flush()?;
        Ok(staged)
    }

    /// Writes all tables, unless there is too little for them. The facts of each part have numbers from one on. If
    /// nodes may be missing that were there when the load began, their facts are left.
    fn stage_all(
        &self,
        ((heads, tails), may_miss): (&(Heads<'_>, Parts), bool),
        commit: Time,
        firsts: &[u64],
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Staged> {
        let folder = staged::folder(self.folder());
        let tables = Tables { engine: &self.engine, folder: &folder, tails, commit };
        let parts = heads.ranges().sizes().len();
        let total = parts + tails.ranges().sizes().len() + 1;
        let mut count = 0;
        let mut done = || {
            count += 1;
            progress(count, total as u64);
        };
        let planned = Mutex::new(Planned::default());
        let head = |part: usize| {
            let taken = heads.taken(part).map_err(StorageError::io(&folder))?;
            let rows = heads.sorted(part, &taken).map_err(StorageError::io(&folder))?;
            let snapshot = self.snapshot(commit);
            let reader = snapshot.reader();
            tables.heads(part, FactId(firsts[part]), reader, |tables| {
                for rows in rows.stretches() {
                    let mut rows = rows.map_err(StorageError::io(&folder))?;
                    let lost = match may_miss {
                        true => take_lost(&mut rows, reader)?,
                        false => Vec::new(),
                    };
                    let mut plan = Plan::of(rows, reader)?;
                    plan.left.extend(lost);
                    tables.add(&plan)?;
                    planned.lock().add(plan);
                }
                Ok(())
            })
        };
        each_part(parts, &head, &mut done)?;
        let (staged, closings) = planned.into_inner().settle();
        if !staged.any {
            return Ok(staged);
        }
        let closings = Mutex::new(closings);
        let tail = |part: usize| match part.checked_sub(1) {
            Some(part) => tables.tails(part),
            None => {
                let snapshot = self.snapshot(commit);
                let closings = std::mem::take(&mut *closings.lock());
                tables.closings(parts, closings, snapshot.reader())
            }
        };
        each_part(total - parts, &tail, &mut done)?;
        Ok(staged)
    }

    /// Brings the names of the tables of a load to the disk.
    fn sync_staged(&self) -> Result<()> {
        sync_folder(&staged::folder(self.folder()))?;
        sync_folder(self.folder())
    }

    /// Commits the mark of a load whose tables are on the disk. So is the mark then, since the engine syncs its
    /// list of tables: they may not be there without their mark, nor it without them.
    fn commit_load(&self, writer: &mut Writer, counters: Counters) -> Result<()> {
        let mut overlay = Overlay::default();
        counters.put(&mut overlay);
        overlay.put(Family::Meta, BULK_KEY, counters.clock.to_be_bytes().to_vec());
        let number = self.commits.write(&self.engine, writer, &overlay)?;
        writer.counters = counters;
        self.commits.sync(&self.engine, number)
    }

    /// Takes the tables of a load in, and its mark away. Again, if a crash came in between.
    pub(crate) fn take_in(&self, writer: &mut Writer) -> Result<()> {
        staged::take_in(&self.engine, self.folder())?;
        let mut overlay = Overlay::default();
        overlay.delete(Family::Meta, BULK_KEY);
        let number = self.commits.write(&self.engine, writer, &overlay)?;
        // A mark without its tables would be a load that is lost.
        self.commits.sync(&self.engine, number)?;
        // What cannot be removed goes when the next load begins, or the database is opened.
        staged::remove(self.folder()).ok();
        Ok(())
    }
}

impl Load<'_> {
    /// Adds a fact. Its place is what its giver knows it by. The name of its relation must be known.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if the place is not after that of the fact before;
    /// [`StorageError::Io`] if the disk refuses.
    pub fn add(&mut self, place: u64, fact: BulkFact<'_>) -> Result<()> {
        if self.last.is_some_and(|last| place <= last) {
            let message = format!("the facts of a load stand in order, and {place} comes too late");
            return Err(StorageError::Invalid(message));
        }
        self.last = Some(place);
        let relation = fact.relation.0 as usize;
        if self.relations.len() <= relation {
            self.relations.resize(relation + 1, false);
        }
        self.relations[relation] = true;
        self.heads.add(fact.head);
        self.tails.add(fact.tail);
        self.count += 1;
        self.spool.write_row(&Row { place, fact }).map_err(StorageError::io(self.store.path()))
    }

    /// Stores the plain ones, on the disk; gives back those that are neither that nor known already.
    /// `wall` is what the clock on the wall says; `progress` is called with how many parts of how many are done.
    ///
    /// # Errors
    ///
    /// As [`crate::Transaction::commit`]: after [`StorageError::Engine`] and [`StorageError::Io`],
    /// whether the load lasts is known when the database is opened again.
    pub fn finish(self, wall: Time, progress: &mut dyn FnMut(u64, u64)) -> Result<Loaded> {
        let Self { store, spool, heads, tails, count, relations, losses, .. } = self;
        let (folder, place) = (store.path(), store.folder());
        let mut records = spool.records().map_err(StorageError::io(folder))?;
        let staged = match count < FACTS_MIN as u64 {
            true => None,
            false => {
                let heads = Heads::of(&mut records, heads.ranges(), place);
                let heads = heads.map_err(StorageError::io(folder))?;
                let tails = Parts::new(tails.ranges(), place, tails::BYTES);
                Some(store.load_parts((heads, tails), (&relations, losses), wall, progress)?)
            }
        };
        records.rewind().map_err(StorageError::io(folder))?;
        let known = staged.as_ref().map_or(0, |staged| staged.known);
        let left = staged.as_ref().map_or(count, |staged| staged.left.len() as u64);
        let places = staged.map(|staged| staged.left.into_iter());
        let stored = count - known - left;
        let left = Left { records, places, count: left, folder: folder.to_owned() };
        Ok(Loaded { stored, known, left })
    }
}

impl Left {
    /// How many there are, those that were given among them.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The next fact, with its place.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`] if it cannot be read.
    pub fn next_fact(&mut self) -> Result<Option<(u64, BulkFact<'_>)>> {
        let next = self.places.as_mut().map(Iterator::next);
        if matches!(next, Some(None)) {
            return Ok(None);
        }
        let failed = StorageError::io(&self.folder);
        while self.records.advance().map_err(&failed)? {
            let place = self.records.row().map_err(&failed)?.place;
            if next.flatten().is_none_or(|next| next == place) {
                let row = self.records.row().map_err(&failed)?;
                return Ok(Some((row.place, row.fact)));
            }
        }
        Ok(None)
    }
}

/// Takes out the rows of which a node is not there any more, and gives their places.
fn take_lost(rows: &mut Vec<Row<'_>>, reader: Reader<'_>) -> Result<Vec<u64>> {
    let mut there: HashMap<NodeId, bool> = HashMap::new();
    for node in rows.iter().flat_map(|row| [row.fact.head, row.fact.tail]) {
        if let Entry::Vacant(unknown) = there.entry(node) {
            unknown.insert(reader.node(node, SystemScope::Current)?.is_some());
        }
    }
    let is_whole = |row: &Row<'_>| there[&row.fact.head] && there[&row.fact.tail];
    let lost = rows.iter().filter(|row| !is_whole(row)).map(|row| row.place).collect();
    rows.retain(is_whole);
    Ok(lost)
}

/// The first number of the facts of each part, and the next one after all, where so many have numbers already. Each
/// stretch of a part begins a pack.
fn numbers(next: u64, sizes: &[u64]) -> Option<(Vec<u64>, u64)> {
    let pack = pack::FACTS as u64;
    let (mut firsts, mut next) = (Vec::new(), next.checked_next_multiple_of(pack)?);
    for size in sizes {
        firsts.push(next);
        let stretches = size / STRETCH as u64 + 1;
        let most = size.checked_add(stretches.checked_mul(pack)?)?;
        next = next.checked_add(most)?.checked_next_multiple_of(pack)?;
    }
    Some((firsts, next))
}

/// The rows of a load in parts by their heads.
enum Heads<'r> {
    /// All are in memory, where each part looks for its own.
    Memory(&'r [Vec<u8>], Ranges),
    /// Each part has a file.
    Files(Parts),
}

impl<'r> Heads<'r> {
    fn of(records: &'r mut Records, ranges: Ranges, folder: &Path) -> std::io::Result<Self> {
        if !records.is_in_memory() {
            let parts = Parts::in_files(ranges, folder);
            let mut writer = parts.writer();
            while records.advance()? {
                writer.write(records.head()?, records.bytes())?;
            }
            writer.finish()?;
            return Ok(Self::Files(parts));
        }
        Ok(Self::Memory(records.pieces(), ranges))
    }

    fn ranges(&self) -> &Ranges {
        match self {
            Self::Memory(_, ranges) => ranges,
            Self::Files(parts) => parts.ranges(),
        }
    }

    /// What a part has in a file, which is gone then.
    fn taken(&self, part: usize) -> std::io::Result<Option<Vec<u8>>> {
        match self {
            Self::Memory(..) => Ok(None),
            Self::Files(parts) => parts.take(part).map(Some),
        }
    }

    /// The rows of a part, of which that was taken.
    fn sorted<'t>(&self, part: usize, taken: &'t Option<Vec<u8>>) -> std::io::Result<Sorted<'t>>
    where
        'r: 't,
    {
        let pieces = match self {
            Self::Memory(pieces, _) => *pieces,
            Self::Files(_) => taken.as_slice(),
        };
        let ranges = self.ranges();
        let count = ranges.sizes().get(part).map_or(0, |facts| *facts as usize);
        Sorted::of(pieces, |head| ranges.has(part, head), count)
    }
}

/// Does the work for each part, on as many threads as there are cores.
fn each_part(
    parts: usize,
    work: &(dyn Fn(usize) -> Result<()> + Sync),
    done: &mut dyn FnMut(),
) -> Result<()> {
    let next = &AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(parts);
    let (sender, receiver) = mpsc::channel();
    let work_off = |sender: mpsc::Sender<Result<()>>| {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            // Nobody listens any more after an error.
            if part >= parts || sender.send(work(part)).is_err() {
                return;
            }
        }
    };
    let work_off = &work_off;
    std::thread::scope(|scope| {
        let start = || {
            let sender = sender.clone();
            Builder::new().spawn_scoped(scope, move || work_off(sender)).is_ok()
        };
        // Where no thread can be started, this one does it.
        if (0..threads).filter(|_| start()).count() == 0 {
            work_off(sender.clone());
        }
        drop(sender);
        // Taken in, so that it is dropped after an error.
        let receiver = receiver;
        receiver.iter().try_for_each(|result| {
            done();
            result
        })
    })
}

#[cfg(test)]
mod tests;
