//! The rows of a table by the batch, read by two threads and given out in the order of the file.
//!
//! Rows are cut off the file by whoever comes first. What their fields mean is told by a function, and where what they
//! name is by the names that are known; new ones are not added here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Empty, Read};

use crossbeam::channel::{Receiver, Sender};
use parking_lot::{Mutex, RwLock};

use crate::import::Refused;
use crate::import::bulk::Row;
use crate::import::names::{self, Names, Places};
use crate::import::rows::{Fields, Rows};

/// Rows that are read together where they cannot be cut off.
const ROWS: usize = 8_192;
/// Rows whose names are looked up together.
const TOGETHER: usize = 128;
/// Batches that may wait for one before them.
const EARLY: usize = 8;

/// What the fields of a row on a line mean, or why nothing.
pub(super) type Meaning<'m> =
    dyn Fn(Fields<'_>, u64) -> std::result::Result<Row, String> + Sync + 'm;

/// Rows of a table that are handed on together.
#[derive(Default)]
pub(super) struct Batch {
    /// Its place among the batches of the table, from 0.
    number: u64,
    pub(super) rows: Vec<Row>,
    /// The tags of the heads and the tails.
    pub(super) tags: Vec<[u32; 2]>,
    /// Where what each row names is among the names, as far as these were known.
    pub(super) places: Vec<Places>,
    pub(super) refused: Vec<Refused>,
    /// How much of the file has been read with it.
    pub(super) done: u64,
}

/// A table that is being read.
pub(super) struct Reading<'r> {
    source: Mutex<Source>,
    meaning: &'r Meaning<'r>,
    names: &'r RwLock<Names>,
}

/// What is left of a table.
struct Source {
    rows: Rows<File>,
    /// How many fields a row has, once that is known.
    width: Option<usize>,
    /// How many batches were begun.
    begun: u64,
    /// There is no more, or it cannot be read.
    is_over: bool,
}

impl<'r> Reading<'r> {
    /// The rows of a table. The width is how many fields each has; if it is not known, as many as the first row that
    /// is text.
    pub(super) fn new(
        rows: Rows<File>,
        width: Option<usize>,
        meaning: &'r Meaning<'r>,
        names: &'r RwLock<Names>,
    ) -> Self {
        let source = Source { rows, width, begun: 0, is_over: false };
        Self { source: Mutex::new(source), meaning, names }
    }

    /// Reads until there is no more, or nobody takes what is read.
    pub(super) fn send_all(&self, sender: &Sender<io::Result<Batch>>) {
        while let Some(batch) = self.read().transpose() {
            if sender.send(batch).is_err() {
                return;
            }
        }
    }

    /// The next batch that nobody has begun to read; none behind an error.
    fn read(&self) -> io::Result<Option<Batch>> {
        let Some((mut batch, cut)) = self.source.lock().begin(self.meaning)? else {
            return Ok(None);
        };
        if let Some((mut rows, width)) = cut {
            batch.read(&mut rows, &mut Some(width), usize::MAX, self.meaning)?;
        }
        batch.places.reserve(batch.rows.len());
        for (rows, tags) in batch.rows.chunks(TOGETHER).zip(batch.tags.chunks(TOGETHER)) {
            self.names.read().known(rows, tags, &mut batch.places);
        }
        Ok(Some(batch))
    }
}

/// Rows that were cut off, and how many fields each has.
type Cut = (Rows<Empty>, usize);

impl Source {
    /// The next batch, with its rows to be read if they could be cut off, and else read.
    fn begin(&mut self, meaning: &Meaning<'_>) -> io::Result<Option<(Batch, Option<Cut>)>> {
        if self.is_over {
            return Ok(None);
        }
        // Unless this goes well.
        self.is_over = true;
        let mut batch = Batch { number: self.begun, ..Batch::default() };
        let cut = match self.width {
            Some(width) => self.rows.cut()?.map(|rows| (rows, width)),
            None => None,
        };
        if cut.is_none() {
            batch.read(&mut self.rows, &mut self.width, ROWS, meaning)?;
        }
        self.is_over = cut.is_none() && batch.is_empty();
        self.begun += 1;
        Ok((!self.is_over).then_some((batch, cut)))
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.refused.is_empty()
    }

    /// Reads so many rows, or as many as there are.
    fn read(
        &mut self,
        rows: &mut Rows<impl Read>,
        width: &mut Option<usize>,
        most: usize,
        meaning: &Meaning<'_>,
    ) -> io::Result<()> {
        for _ in 0..most {
            let Some(row) = rows.next()? else { return Ok(()) };
            let (line, byte) = (row.line, row.byte);
            let fields = row.fields.map_err(str::to_owned);
            let fields =
                fields.and_then(|fields| has_width(fields, *width.get_or_insert(fields.len())));
            match fields.and_then(|fields| meaning(fields, line)) {
                Ok(row) => {
                    self.tags.push([&row.head, &row.tail].map(names::tag));
                    self.rows.push(row);
                }
                Err(reason) => self.refused.push(Refused { line, reason }),
            }
            self.done = byte;
        }
        Ok(())
    }
}

/// The fields, if there are as many as in the first row.
fn has_width(fields: Fields<'_>, width: usize) -> std::result::Result<Fields<'_>, String> {
    match fields.len() == width {
        true => Ok(fields),
        false => Err(format!("the row has {} fields, and the first one {width}", fields.len())),
    }
}

/// Takes the batches of a table in their order; reads some itself where it would have to wait.
pub(super) struct InOrder<'r> {
    reading: &'r Reading<'r>,
    receiver: Receiver<io::Result<Batch>>,
    /// Those that came before their turn.
    early: BTreeMap<u64, Batch>,
    /// The number of the next one.
    next: u64,
}

impl<'r> InOrder<'r> {
    /// What `reading` reads, here and by whoever sends.
    pub(super) fn new(reading: &'r Reading<'r>, receiver: Receiver<io::Result<Batch>>) -> Self {
        Self { reading, receiver, early: BTreeMap::new(), next: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.early.remove(&self.next) {
                self.next += 1;
                return Ok(Some(batch));
            }
            let batch = match self.receiver.try_recv() {
                Ok(batch) => batch?,
                Err(_) => match self.read_here()? {
                    Some(batch) => batch,
                    // The next one is with the other thread, if there is one.
                    None => match self.receiver.recv() {
                        Ok(batch) => batch?,
                        Err(_) => return Ok(None),
                    },
                },
            };
            self.early.insert(batch.number, batch);
        }
    }
    /// A batch that is read here, unless many wait for one that is not.
    fn read_here(&self) -> io::Result<Option<Batch>> {
        if self.early.len() < EARLY { self.reading.read() } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use engraph_storage::graph::Interval;

    use super::*;

    fn row(fields: Fields<'_>, line: u64) -> std::result::Result<Row, String> {
        let name = |field| ("Entity".into(), fields.get(field).unwrap_or_default().into());
        let (head, tail) = (name(0), name(2));
        if fields.get(1) == Some("") {
            return Err("the relation is empty".to_owned());
        }
        let relation = fields.get(1).unwrap_or_default().into();
        let (valid, confidence, intent, source) = (Interval::ALL, 1.0, None, None);
        Ok(Row { line, head, relation, tail, valid, confidence, intent, source })
    }

    /// The lines of a table of three columns with what they name, and those that are refused.
    fn read(text: &str, width: Option<usize>) -> (Vec<(u64, String)>, Vec<u64>) {
        let folder = tempfile::tempdir().expect("makes a folder");
        let file = folder.path().join("table.csv");
        std::fs::write(&file, text).expect("writes");
        let rows = Rows::new(File::open(&file).expect("opens"), b',', true);
        let names = RwLock::new(Names::default());
        let reading = Reading::new(rows, width, &row, &names);
        let (sender, receiver) = crossbeam::channel::bounded(2);
        let (mut lines, mut refused) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                reading.send_all(&sender);
                drop(sender);
            });
            let mut batches = InOrder::new(&reading, receiver);
            while let Some(batch) = batches.next().expect("reads") {
                assert_eq!(batch.places.len(), batch.rows.len());
                refused.extend(batch.refused.iter().map(|refused| refused.line));
                lines.extend(batch.rows.iter().map(|row| (row.line, row.tail.1.to_string())));
            }
        });
        (lines, refused)
    }

    #[test]
    fn two_threads_give_the_rows_in_their_order() {
        let (mut text, mut expected, mut wrong) = (String::new(), Vec::new(), Vec::new());
        for line in 1..=60_000 {
            let is_odd = line / 10_000 % 2 == 1;
            match line % 1_000 {
                0 if is_odd => _ = writeln!(text, "a,\"has, \"\"all\"\"\",b{line}"),
                1 => _ = writeln!(text, "a,,b{line}"),
                2 => _ = writeln!(text, "a,b{line}"),
                _ => _ = writeln!(text, "a,has,b{line}"),
            }
            match line % 1_000 {
                1 | 2 => wrong.push(line),
                _ => expected.push((line, format!("b{line}"))),
            }
        }
        for width in [None, Some(3)] {
            let (lines, refused) = read(&text, width);
            assert!(lines == expected, "all rows, in their order");
            assert_eq!(refused, wrong);
        }
    }
}
