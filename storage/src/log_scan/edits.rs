//! What RocksDB's list of tables says of logs: up to which log a family has all of its changes in tables.
//!
//! A record of the list is an edit: numbers and texts after tags, as RocksDB's `VersionEdit` writes them. What
//! is not known is skipped where RocksDB says that it may be, and else ends the reading: then nothing is said.

/// Tags of an edit.
const COMPARATOR: u64 = 1;
const LOG_NUMBER: u64 = 2;
const NEXT_FILE: u64 = 3;
const LAST_SEQUENCE: u64 = 4;
const COMPACT_CURSOR: u64 = 5;
const DELETED_FILE: u64 = 6;
const PREVIOUS_LOG: u64 = 9;
const OLDEST_LOG: u64 = 10;
const NEW_FILE: u64 = 103;
const FAMILY: u64 = 200;
const FAMILY_ADDED: u64 = 201;
const FAMILY_DROPPED: u64 = 202;
const LAST_FAMILY: u64 = 203;
const IN_GROUP: u64 = 300;
/// Tags from here on have a text, and may be skipped.
const IGNORED: u64 = 1 << 13;
/// Ends what is said of a new file beside its keys.
const NO_MORE: u64 = 1;

/// Of an edit that adds tables, the first log that its family may need; none of any other edit.
pub(super) fn flushed_before(edit: &[u8]) -> Option<u64> {
    let mut edit = Edit(edit);
    let (mut log, mut has_file) = (None, false);
    while !edit.0.is_empty() {
        match edit.number()? {
            LOG_NUMBER => log = Some(edit.number()?),
            NEXT_FILE | LAST_SEQUENCE | PREVIOUS_LOG | OLDEST_LOG | FAMILY | LAST_FAMILY
            | IN_GROUP => {
                edit.number()?;
            }
            COMPARATOR | FAMILY_ADDED => edit.text()?,
            COMPACT_CURSOR => {
                edit.number()?;
                edit.text()?;
            }
            DELETED_FILE => {
                edit.number()?;
                edit.number()?;
            }
            NEW_FILE => {
                edit.file()?;
                has_file = true;
            }
            FAMILY_DROPPED => {}
            tag if tag & IGNORED != 0 => edit.text()?,
            _ => return None,
        }
    }
    log.filter(|_| has_file)
}

/// The rest of an edit.
struct Edit<'e>(&'e [u8]);

impl Edit<'_> {
    /// A number of seven bits a byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<()> {
        let length = usize::try_from(self.number()?).ok()?;
        self.0 = self.0.get(length..)?;
        Some(())
    }

    /// Level, number, bytes, first and last key, first and last sequence number, and fields.
    fn file(&mut self) -> Option<()> {
        for _ in 0..3 {
            self.number()?;
        }
        self.text()?;
        self.text()?;
        self.number()?;
        self.number()?;
        while self.number()? != NO_MORE {
            self.text()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log number, a new file with one field, a tag to be ignored, a family.
    const WHOLE: &[u8] = &[
        2, 0x96, 0x01, 103, 0, 9, 100, 1, b'a', 1, b'b', 3, 4, 5, 2, 7, 7, 1, 0x81, 0x40, 1, 0,
        200, 1, 3,
    ];

    #[test]
    fn an_edit_with_a_table_says_which_log_is_needed() {
        assert_eq!(flushed_before(WHOLE), Some(150));
        assert_eq!(flushed_before(&[2, 7, 200, 1, 3]), None, "it adds no table");
        assert_eq!(flushed_before(&[99, 1, 2, 7]), None, "an unknown tag");
        for length in 0..WHOLE.len() {
            flushed_before(&WHOLE[..length]);
        }
    }
}
