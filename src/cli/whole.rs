//! Files that a command writes at once: they are there whole, or what was there before is.
//!
//! What is no file, such as `/dev/stdout`, is written as it is.

use std::io;
use std::path::{Path, PathBuf};

use super::output::check_place;
use super::{Failure, Result};

/// Writes a file, which has its name once it is whole.
pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    check_place(file)
        .and_then(|()| write_beside(file, bytes))
        .map_err(|error| Failure::of_file(file, &error))
}

fn write_beside(file: &Path, bytes: &[u8]) -> io::Result<()> {
    // Where a link leads, so that it stays one.
    let place = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    if place.exists() && !place.is_file() {
        return std::fs::write(place, bytes);
    }
    let part = part(&place);
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, &place));
    if written.is_err() {
        // It is of no use, and that it stays is no worse than the failure.
        std::fs::remove_file(&part).unwrap_or_default();
    }
    written
}

/// A file under its name while it is written.
pub(super) fn part(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_whole_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("page.html"), folder.path().join("link.html"));
        write(&file, b"old").expect("writes");
        std::os::unix::fs::symlink(&file, &link).expect("links");
        write(&link, b"new").expect("writes");
        assert_eq!(std::fs::read(&file).expect("reads"), b"new");
        assert!(link.is_symlink() && !part(&file).exists());

        // Something is in the way of the part.
        std::fs::create_dir(part(&file)).expect("a folder");
        assert!(write(&file, b"newer").is_err());
        assert_eq!(std::fs::read(&file).expect("reads"), b"new");
        write(Path::new("/dev/null"), b"anything").expect("is no file");
    }
}
