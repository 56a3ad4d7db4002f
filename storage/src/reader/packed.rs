//! Facts by their heads: those that stand in packs among those that have entries of their own, in the
//! order of keys.

use std::ops::{ControlFlow, Range};

use super::Reader;
use super::edges::edge_of;
use crate::adjacency;
use crate::error::Result;
use crate::families::Family;
use crate::graph::{Edge, FactId, NodeId, Side};
use crate::pack::{self, FACTS, Pack, runs};

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
        let mut packed = Packed { reader: *self, from, to, runs: Vec::new() };
        // Else the scan meets what leads to them.
        if let Some(head) = from.first_chunk().map(|head| NodeId(u64::from_be_bytes(*head)))
            && from > runs::key(head).as_slice()
        {
            packed.begin(head, None)?;
        }
        let mut stopped = false;
        self.view.scan(Family::Out, from, to, &mut |key, value| {
            let flow = match runs::head_of(key) {
                Some(head) => {
                    let flow = packed.before(None, visit)?;
                    packed.begin(head, Some(value))?;
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

/// The facts of a head in packs that are still to be visited.
struct Packed<'r, 'k> {
    reader: Reader<'r>,
    from: &'k [u8],
    to: Option<&'k [u8]>,
    runs: Vec<Run>,
}

/// A run of which some may be read.
struct Run {
    /// Those that are not read yet.
    facts: Range<u64>,
    /// Those that are read, the last one first.
    read: Vec<(adjacency::Key, Edge)>,
}

impl Packed<'_, '_> {
    /// Goes over to a head, whose runs are these bytes or are looked for.
    fn begin(&mut self, head: NodeId, bytes: Option<&[u8]>) -> Result<()> {
        let runs = match bytes {
            Some(bytes) => runs::decode(&runs::key(head), bytes)?,
            None => self.reader.packed_runs(head)?,
        };
        self.runs.clear();
        for facts in runs {
            let mut run = Run { facts: self.reached(facts)?, read: Vec::new() };
            self.fill(&mut run)?;
            self.runs.push(run);
        }
        Ok(())
    }

    /// Calls `visit` on those before a key, or on all.
    fn before(&mut self, key: Option<&[u8]>, visit: Visit<'_>) -> Result<ControlFlow<()>> {
        loop {
            let first = |run: &Run| run.read.last().map(|(key, _)| *key);
            let firsts = self.runs.iter().enumerate();
            let firsts = firsts.filter_map(|(place, run)| Some((first(run)?, place)));
            let Some((first, place)) = firsts.min_by(|a, b| a.0.as_ref().cmp(b.0.as_ref())) else {
                return Ok(ControlFlow::Continue(()));
            };
            if key.is_some_and(|key| first.as_ref() >= key) {
                return Ok(ControlFlow::Continue(()));
            }
            let mut run = self.runs.swap_remove(place);
            let edge = run.read.pop().map(|(_, edge)| edge);
            self.fill(&mut run)?;
            self.runs.push(run);
            if let Some(edge) = edge {
                self.reader.view.count_edge()?;
                if visit(edge)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }

    /// Reads the next pack of a run, if nothing is left of what was read.
    fn fill(&self, run: &mut Run) -> Result<()> {
        while run.read.is_empty() && !run.facts.is_empty() {
            let some = in_pack(&run.facts);
            run.facts.start = some.end;
            let (key, _) = pack::place_of(FactId(some.start));
            let Some(bytes) = self.reader.view.peek(Family::Versions, &key)? else { continue };
            let pack = Pack::decode(&key, &bytes)?;
            run.read = pack.edges(&some, self.from, self.to)?;
            let is_behind = |last: adjacency::Key| self.to.is_some_and(|to| last.as_ref() >= to);
            if pack.last_key(&some)?.is_some_and(is_behind) {
                run.facts.start = run.facts.end;
            }
        }
        Ok(())
    }

    /// The facts of a run from those of the pack on in which the first one asked for may be.
    fn reached(&self, facts: Range<u64>) -> Result<Range<u64>> {
        let pack_of = |fact: u64| fact / FACTS as u64;
        let (mut begin, mut end) = (pack_of(facts.start), pack_of(facts.end - 1));
        // All before the pack `begin` are before `from`.
        while begin < end {
            let middle = begin + (end - begin) / 2;
            let some =
                facts.start.max(middle * FACTS as u64)..facts.end.min((middle + 1) * FACTS as u64);
            let (key, _) = pack::place_of(FactId(some.start));
            let last = match self.reader.view.peek(Family::Versions, &key)? {
                Some(bytes) => Pack::decode(&key, &bytes)?.last_key(&some)?,
                None => None,
            };
            match last {
                Some(last) if last.as_ref() < self.from => begin = middle + 1,
                Some(_) => end = middle,
                // Nothing is left in it to tell by.
                None => return Ok(facts.start.max(begin * FACTS as u64)..facts.end),
            }
        }
        Ok(facts.start.max(begin * FACTS as u64)..facts.end)
    }
}

/// The first facts of a run that are in one pack.
pub(crate) fn in_pack(facts: &Range<u64>) -> Range<u64> {
    let end = (facts.start / FACTS as u64 + 1) * FACTS as u64;
    facts.start..facts.end.min(end)
}
