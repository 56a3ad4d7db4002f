//! The identity file: what a folder is, to be read before RocksDB opens it.
//!
//! It is written when the database has its first commit on the disk, so a folder that has one must
//! have a log too; and again by an upgrade. It holds the format and an id that the database itself holds as well, so
//! that files of two databases are not taken for one.
//!
//! ```text
//! engraph
//! format 10
//! id 5d1f3a0c9b7e4d21a86b0c3f12e4d597
//! ```

use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::path::Path;

use crate::error::{Result, StorageError};

/// The name of the file within the folder.
pub(crate) const IDENTITY_FILE: &str = "engraph.id";
/// The most bytes that are read of it.
const BYTES_MAX: u64 = 1024;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) format: u32,
    pub(crate) id: String,
}

impl Identity {
    /// A new id: 128 random bits, in hexadecimal.
    pub(crate) fn new(format: u32) -> Self {
        // Each state is keyed at random by the system.
        let random = || RandomState::new().build_hasher().finish();
        Self { format, id: format!("{:016x}{:016x}", random(), random()) }
    }

    /// What the folder says it is; none if it does not say.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(IDENTITY_FILE);
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| {
            std::io::Read::read_to_string(&mut std::io::Read::take(file, BYTES_MAX), &mut text)
        });
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => text.clear(),
            Err(source) => return Err(StorageError::io(&path)(source)),
        }
        Self::parse(&text).map(Some).ok_or_else(|| StorageError::DamagedFile {
            file: IDENTITY_FILE.to_owned(),
            reason: "it does not name a format and an id".to_owned(),
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != "engraph" {
            return None;
        }
        let format = lines.next()?.strip_prefix("format ")?.parse().ok()?;
        let id = lines.next()?.strip_prefix("id ")?;
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self { format, id: id.to_owned() })
    }

    /// Makes the folder say it, whole or not at all.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(IDENTITY_FILE);
        let part = folder.join("engraph.id.part");
        let text = format!("engraph\nformat {}\nid {}\n", self.format, self.id);
        let write = || {
            let mut file = File::create(&part)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&part, &path)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(StorageError::io(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Identity::read(folder.path()).expect("reads"), None);
        let identity = Identity::new(2);
        identity.write(folder.path()).expect("writes");
        assert_eq!(Identity::read(folder.path()).expect("reads"), Some(identity.clone()));
        assert_ne!(identity.id, Identity::new(2).id);
    }

    #[test]
    fn other_text_is_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in [&b""[..], b"engraph\n", b"engraph\nformat x\nid 1\n", b"\xff\xff"] {
            std::fs::write(folder.path().join(IDENTITY_FILE), text).expect("writes");
            let error = Identity::read(folder.path()).expect_err("is damaged");
            assert!(matches!(error, StorageError::DamagedFile { .. }));
        }
    }
}
