//! How much the column families hold.
//!
//! It counts what is there, key by key, and keeps no count of its own.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::families::Family;
use crate::reader::Reader;

/// How much a column family holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FamilyStats {
    /// The family.
    pub family: Family,
    /// Its keys.
    pub keys: u64,
    /// Bytes of its keys and values.
    pub bytes: u64,
    /// Bytes of its tables on disk; what is still in the log is not in them.
    pub table_bytes: u64,
}

impl Reader<'_> {
    /// Counts every key of every family of this state, one scan each.
    pub fn stats(&self) -> Result<Vec<FamilyStats>> {
        let count = |family| {
            let (mut keys, mut bytes) = (0, 0);
            self.view().scan(family, &[], None, &mut |key, value| {
                keys += 1;
                bytes += (key.len() + value.len()) as u64;
                Ok(ControlFlow::Continue(()))
            })?;
            let table_bytes = self.view().table_bytes(family)?;
            Ok(FamilyStats { family, keys, bytes, table_bytes })
        };
        Family::ALL.into_iter().map(count).collect()
    }
}
