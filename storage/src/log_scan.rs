//! Stand-in until the scan is there.
use std::path::Path;

use crate::error::Result;

/// The commit record at the end of every batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Commit {
    pub(crate) number: u64,
    pub(crate) synced: u64,
    pub(crate) chain: u32,
}

impl Commit {
    pub(crate) fn encode(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.number.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.synced.to_be_bytes());
        bytes[16..].copy_from_slice(&self.chain.to_be_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (number, rest) = bytes.split_first_chunk()?;
        let (synced, rest) = rest.split_first_chunk()?;
        let chain: [u8; 4] = rest.try_into().ok()?;
        Some(Self {
            number: u64::from_be_bytes(*number),
            synced: u64::from_be_bytes(*synced),
            chain: u32::from_be_bytes(chain),
        })
    }
}

pub(crate) fn chain(previous: u32, changes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&previous.to_be_bytes()), changes)
}

pub(crate) struct LogScan {
    pub(crate) last: Option<Commit>,
    pub(crate) torn: Option<Torn>,
    pub(crate) gap: Option<()>,
}

/// What recovery drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The log.
    pub file: String,
    /// Where.
    pub offset: u64,
    /// How much.
    pub bytes: u64,
}

pub(crate) fn scan(_folder: &Path) -> Result<LogScan> {
    Ok(LogScan { last: None, torn: None, gap: None })
}

pub(crate) fn has_log(folder: &Path) -> Result<bool> {
    let io = |source| crate::error::StorageError::Io { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        if entry.map_err(io)?.path().extension().is_some_and(|extension| extension == "log") {
            return Ok(true);
        }
    }
    Ok(false)
}
