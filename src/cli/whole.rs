//! Files that a command writes at once: they are there whole, or what was there before is.
//!
//! What is no file, such as `/dev/stdout`, is written as it is.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::output::check_place;
use super::{Failure, Result};

/// Who may read and write a new file, if the process says no less.
const READABLE: u32 = 0o666;

/// Writes a file, which has its name once it is whole.
pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    // Where a link leads, so that it stays one.
    let place = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    check_place(&place)
        .and_then(|()| write_beside(&place, bytes))
        .map_err(|error| Failure::of_file(file, &error))
}

fn write_beside(place: &Path, bytes: &[u8]) -> io::Result<()> {
    if place.exists() && !place.is_file() {
        return std::fs::write(place, bytes);
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut beside = tempfile::Builder::new()
        .permissions(Permissions::from_mode(READABLE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    beside.write_all(bytes)?;
    // Or after a power cut the name may be there without what it names.
    beside.as_file().sync_all()?;
    beside.persist(place)?;
    Ok(())
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
    fn a_file_is_replaced_whole_where_a_link_leads() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("page.html"), folder.path().join("link.html"));
        write(&file, b"old").expect("writes");
        std::os::unix::fs::symlink(&file, &link).expect("links");
        write(&link, b"new").expect("writes");
        assert_eq!(std::fs::read(&file).expect("reads"), b"new");
        assert!(link.is_symlink());
        // Nothing else is left there, and it may be read by whoever may read other files.
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 2);
        let mode = |path: &Path| std::fs::metadata(path).expect("is there").permissions().mode();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").expect("writes");
        assert_eq!(mode(&file), mode(&plain));
        write(Path::new("/dev/null"), b"anything").expect("is no file");
    }

    #[test]
    fn no_link_leads_into_a_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("db");
        std::fs::create_dir(&database).expect("a folder");
        std::fs::write(database.join("engraph.lock"), "").expect("writes");
        std::fs::write(database.join("CURRENT"), "MANIFEST").expect("writes");
        let link = folder.path().join("page.html");
        std::os::unix::fs::symlink(database.join("CURRENT"), &link).expect("links");
        assert!(write(&link, b"page").is_err());
        assert_eq!(std::fs::read(database.join("CURRENT")).expect("reads"), b"MANIFEST");
    }
}
