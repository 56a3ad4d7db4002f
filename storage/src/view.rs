//! A state of the database as bytes: what is committed, under what is not, with every seek counted.
//!
//! It knows families and keys, and nothing of what they mean; it never writes.

use std::ops::ControlFlow;

use crate::adjacency;
use crate::engine::{EngineSnapshot, Visit};
use crate::error::Result;
use crate::families::Family;
use crate::key;
use crate::meter::Meter;
use crate::overlay::Overlay;

/// A state of the database: what is committed, under what is not.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    engine: &'v EngineSnapshot<'v>,
    overlay: Option<&'v Overlay>,
    meter: Option<&'v Meter>,
}

impl<'v> View<'v> {
    pub(crate) fn new(engine: &'v EngineSnapshot<'v>, overlay: Option<&'v Overlay>) -> Self {
        let overlay = overlay.filter(|overlay| !overlay.is_empty());
        Self { engine, overlay, meter: None }
    }

    /// The same state; what is read of it is counted.
    pub(crate) fn metered(self, meter: &'v Meter) -> Self {
        Self { meter: Some(meter), ..self }
    }

    /// Asks the gate of its meter.
    pub(crate) fn in_time(&self) -> Result<()> {
        self.meter.map_or(Ok(()), Meter::in_time)
    }

    /// The same state without what is not committed.
    pub(crate) fn committed(self) -> Self {
        Self { overlay: None, ..self }
    }

    /// What is not committed; none if nothing is.
    pub(crate) fn overlay(&self) -> Option<&'v Overlay> {
        self.overlay
    }

    /// Whether there is something that is not committed.
    pub(crate) fn has_changes(&self) -> bool {
        self.overlay.is_some()
    }

    /// Whether a key is set or deleted, and that is not committed.
    pub(crate) fn changes(&self, family: Family, key: &[u8]) -> bool {
        self.overlay.is_some_and(|overlay| overlay.get(family, key).is_some())
    }

    /// Whether any key with this prefix is.
    pub(crate) fn changes_within(&self, family: Family, prefix: &[u8]) -> bool {
        let first = self.overlay.and_then(|overlay| overlay.range(family, prefix, None).next());
        first.is_some_and(|(key, _)| key.starts_with(prefix))
    }

    /// Bytes of a family's tables on disk.
    pub(crate) fn table_bytes(&self, family: Family) -> Result<u64> {
        self.engine.table_bytes(family)
    }

    /// The value of a key.
    pub(crate) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.count_seek()?;
        let value = self.peek(family, key)?;
        if let Some(value) = &value {
            self.count_key(family, key, value)?;
        }
        Ok(value)
    }

    /// The value of a key that is no more than a part of what is counted otherwise.
    pub(crate) fn peek(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.overlay.and_then(|overlay| overlay.get(family, key)) {
            Some(value) => Ok(value.map(<[u8]>::to_vec)),
            None => self.engine.get(family, key),
        }
    }

    /// Counts a fact between its nodes that was read by other means than a scan.
    pub(crate) fn count_edge(&self) -> Result<()> {
        self.meter.map_or(Ok(()), |meter| meter.visited(adjacency::COUNTED))
    }

    /// The values of many keys.
    pub(crate) fn get_all(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>> {
        match (self.overlay, self.meter) {
            (None, None) => self.engine.get_all(family, keys),
            _ => keys.iter().map(|key| self.get(family, key)).collect(),
        }
    }

    /// Calls `visit` on every key that begins so, in order, until it breaks.
    pub(crate) fn scan_prefix(
        &self,
        family: Family,
        prefix: &[u8],
        visit: Visit<'_>,
    ) -> Result<()> {
        self.scan(family, prefix, key::after_prefix(prefix).as_deref(), visit)
    }

    /// Calls `visit` on every key in `from..to` in order, until it breaks.
    pub(crate) fn scan(
        &self,
        family: Family,
        from: &[u8],
        to: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<()> {
        self.count_seek()?;
        let Some(overlay) = self.overlay else {
            return self.scan_committed(family, from, to, visit);
        };
        let mut pending = overlay.range(family, from, to).peekable();
        let mut stopped = false;
        self.scan_committed(family, from, to, &mut |key, value| {
            while let Some((own, change)) = pending.next_if(|(own, _)| *own < key) {
                if self.visit_own((family, own), change, visit)?.is_break() {
                    stopped = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            let flow = match pending.next_if(|(own, _)| *own == key) {
                Some((_, Some(own_value))) => visit(key, own_value)?,
                Some((_, None)) => ControlFlow::Continue(()),
                None => visit(key, value)?,
            };
            stopped = flow.is_break();
            Ok(flow)
        })?;
        for (own, change) in pending {
            if stopped {
                break;
            }
            stopped = self.visit_own((family, own), change, visit)?.is_break();
        }
        Ok(())
    }

    /// Calls `visit` on every committed key in `from..to` in order, until it breaks.
    fn scan_committed(
        &self,
        family: Family,
        from: &[u8],
        to: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<()> {
        let Some(meter) = self.meter else { return self.engine.scan(family, from, to, visit) };
        self.engine.scan(family, from, to, &mut |key, value| {
            meter.visited(bytes(family, key, value))?;
            visit(key, value)
        })
    }

    /// Calls `visit` on a key of the overlay, unless it is deleted.
    fn visit_own(
        &self,
        (family, key): (Family, &[u8]),
        change: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        self.count_key(family, key, change.unwrap_or_default())?;
        change.map_or(Ok(ControlFlow::Continue(())), |value| visit(key, value))
    }

    /// The last key of a family.
    pub(crate) fn last_key(&self, family: Family) -> Result<Option<Vec<u8>>> {
        self.count_seek()?;
        let mut last =
            self.overlay.and_then(|overlay| overlay.last_key(family)).map(<[u8]>::to_vec);
        self.engine.scan_back(family, &mut |key, value| {
            self.count_key(family, key, value)?;
            let change = self.overlay.and_then(|overlay| overlay.get(family, key));
            if change == Some(None) {
                return Ok(ControlFlow::Continue(()));
            }
            last = last.take().max(Some(key.to_vec()));
            Ok(ControlFlow::Break(()))
        })?;
        Ok(last)
    }

    /// Counts a scan of so many keys that was answered without the disk.
    pub(crate) fn count_scan(&self, keys: usize, bytes_each: usize) -> Result<()> {
        self.count_seek()?;
        self.meter.map_or(Ok(()), |meter| meter.visited_many(keys as u64, bytes_each as u64))
    }

    /// Counts a look-up that was answered without the disk.
    pub(crate) fn count_look_up(&self, bytes: usize) -> Result<()> {
        self.count_scan(1, bytes)
    }

    pub(crate) fn count_seek(&self) -> Result<()> {
        self.meter.map_or(Ok(()), Meter::sought)
    }

    fn count_key(&self, family: Family, key: &[u8], value: &[u8]) -> Result<()> {
        self.meter.map_or(Ok(()), |meter| meter.visited(bytes(family, key, value)))
    }
}

/// What a key and its value count as: of facts the same wherever they are read.
fn bytes(family: Family, key: &[u8], value: &[u8]) -> usize {
    match family {
        Family::Out | Family::In | Family::OutPast | Family::InPast => adjacency::COUNTED,
        _ => key.len() + value.len(),
    }
}
