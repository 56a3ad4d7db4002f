//! Facts by their heads: those that stand in packs among those that have entries of their own, in the
//! order of keys.

use std::ops::{ControlFlow, Range};

use super::Reader;
use super::edges::edge_of;
use crate::adjacency;
use crate::error::Result;
use crate::families::Family;
use crate::graph::{Edge, FactId, NodeId, Side};
use crate::pack::{self, FACTS, Pack, in_pack, pack_of, runs};

/// Called with each edge of a scan, until it breaks.
type Visit<'v> = &'v mut dyn FnMut(Edge) -> Result<ControlFlow<()>>;

impl Reader<'_> {
    /// Calls `visit` on every edge of a family whose key is in `from..to`, in the order of the keys, until it
    /// breaks.
    pub(crate) fn scan_side(
        &self,
        (family, side): (Family, Side),
        from: &[u8],
        to: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<()> {
        if family == Family::Out {
            return self.scan_out(from, to, visit);
        }
        self.view
            .scan(family, from, to, &mut |key, value| visit(edge_of(family, side, key, value)?))
    }

    fn scan_out(&self, from: &[u8], to: Option<&[u8]>, visit: Visit<'_>) -> Result<()> {
        let asked = Asked { reader: *self, from, to };
        let mut packed = Packed { asked, runs: Vec::new(), last: None };
        // Else the scan meets what leads to them.
        if let Some(head) = from.first_chunk().map(|head| NodeId(u64::from_be_bytes(*head)))
            && from > runs::key(head).as_slice()
        {
            let runs = self.packed_runs(head)?.into_iter().map(|run| asked.reached(run));
            packed.begin(runs.collect::<Result<_>>()?)?;
        }
        let mut stopped = false;
        self.view.scan(Family::Out, from, to, &mut |key, value| {
            let flow = match runs::head_of(key) {
                Some(_) => {
                    let flow = packed.before(None, visit)?;
                    packed.begin(runs::decode(key, value)?)?;
                    flow
                }
                None => match packed.before(Some(key), visit)? {
                    ControlFlow::Continue(()) => {
                        visit(edge_of(Family::Out, Side::Out, key, value)?)?
                    }
                    stop => stop,
                },
            };
            stopped = flow.is_break();
            Ok(flow)
        })?;
        if stopped { Ok(()) } else { packed.before(None, visit).map(drop) }
    }

    /// The runs of a head, see [`runs`].
    pub(crate) fn packed_runs(&self, head: NodeId) -> Result<Vec<Range<u64>>> {
        let key = runs::key(head);
        match self.view.peek(Family::Out, &key)? {
            Some(bytes) => runs::decode(&key, &bytes),
            None => Ok(Vec::new()),
        }
    }
}

/// What is asked for, and of which state.
#[derive(Clone, Copy)]
struct Asked<'r, 'k> {
    reader: Reader<'r>,
    from: &'k [u8],
    to: Option<&'k [u8]>,
}

/// The facts of a head in packs that are still to be visited.
struct Packed<'r, 'k> {
    asked: Asked<'r, 'k>,
    runs: Vec<Run>,
    /// The last pack that was read: the facts of the next head are mostly there too.
    last: LastPack,
}

/// A pack with its key.
type LastPack = Option<(pack::Key, Vec<u8>)>;

/// A run of which some may be read.
struct Run {
    /// Those that are not read yet.
    facts: Range<u64>,
    /// Those that are read, the last one first.
    read: Vec<(adjacency::Key, Edge)>,
}

impl Packed<'_, '_> {
    /// Goes over to the facts of these runs.
    fn begin(&mut self, runs: Vec<Range<u64>>) -> Result<()> {
        let run = |facts| {
            let mut run = Run { facts, read: Vec::new() };
            run.fill(self.asked, &mut self.last)?;
            Ok(run)
        };
        self.runs = runs.into_iter().map(run).collect::<Result<_>>()?;
        Ok(())
    }

    /// Calls `visit` on those before a key, or on all.
    fn before(&mut self, key: Option<&[u8]>, visit: Visit<'_>) -> Result<ControlFlow<()>> {
        let Self { asked, runs, last } = self;
        while let Some(run) = first(runs) {
            if key.is_some_and(|key| run.first().is_some_and(|first| first >= key)) {
                break;
            }
            let Some((_, edge)) = run.read.pop() else { break };
            run.fill(*asked, last)?;
            asked.reader.view.count_edge()?;
            if visit(edge)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The run that goes on with the first key; none if none goes on.
fn first(runs: &mut [Run]) -> Option<&mut Run> {
    let going = runs.iter_mut().filter(|run| !run.read.is_empty());
    going.min_by(|a, b| a.first().cmp(&b.first()))
}

impl Run {
    /// The key of the next one; none if none is read.
    fn first(&self) -> Option<&[u8]> {
        self.read.last().map(|(key, _)| key.as_ref())
    }

    /// Reads the next pack, if nothing is left of what was read.
    fn fill(&mut self, asked: Asked<'_, '_>, last: &mut LastPack) -> Result<()> {
        while self.read.is_empty() && !self.facts.is_empty() {
            let some = in_pack(&self.facts);
            self.facts.start = some.end;
            let (key, _) = pack::place_of(FactId(some.start));
            if last.as_ref().is_none_or(|(held, _)| *held != key) {
                *last = asked.pack(some.start)?;
            }
            let Some((_, bytes)) = last else { continue };
            let pack = Pack::decode(&key, bytes)?;
            self.read = pack.edges(&some, asked.from, asked.to)?;
            let is_behind = |last: adjacency::Key| asked.to.is_some_and(|to| last.as_ref() >= to);
            if pack.last_key(&some)?.is_some_and(is_behind) {
                self.facts.start = self.facts.end;
            }
        }
        Ok(())
    }
}

impl Asked<'_, '_> {
    /// The last key of some facts of one pack, those that have left among them; none if nothing is left.
    fn last_key(&self, facts: &Range<u64>) -> Result<Option<adjacency::Key>> {
        match self.pack(facts.start)? {
            Some((key, bytes)) => Pack::decode(&key, &bytes)?.last_key(facts),
            None => Ok(None),
        }
    }

    /// The pack of a fact with its key, counted as a seek, so that reading many can be stopped.
    fn pack(&self, fact: u64) -> Result<LastPack> {
        let (key, _) = pack::place_of(FactId(fact));
        self.reader.view.count_seek()?;
        Ok(self.reader.view.peek(Family::Versions, &key)?.map(|bytes| (key, bytes)))
    }

    /// The facts of a run from those of the pack on in which the first one asked for may be.
    fn reached(&self, facts: Range<u64>) -> Result<Range<u64>> {
        let (mut begin, mut end) = (pack_of(facts.start), pack_of(facts.end - 1));
        // All before the pack `begin` are before `from`.
        while begin < end {
            let middle = begin + (end - begin) / 2;
            // What is left of a pack may be nothing; then the next one tells.
            let mut told = None;
            for number in middle..end {
                let some = in_pack(&(facts.start.max(number * FACTS as u64)..facts.end));
                told = self.last_key(&some)?.map(|last| (number, last));
                if told.is_some() {
                    break;
                }
            }
            match told {
                Some((number, last)) if last.as_ref() < self.from => begin = number + 1,
                _ => end = middle,
            }
        }
        Ok(facts.start.max(begin * FACTS as u64)..facts.end)
    }
}

#[cfg(test)]
mod tests;
