//! The disk that a child stands on: builds the preloaded library, tells it what to do, and does to
//! the folder afterwards what a loss of power would have done.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::folder;
use crate::rng::Rng;

/// The smallest part of a file that a disk writes.
const PAGE: u64 = 4096;

/// The library, built once by the C compiler that RocksDB needs anyway.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let build = || {
        // Not in memory: such places may forbid what is run from them.
        let folder = TempDir::new().expect("a folder for temporary files can be written");
        let library = folder.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reliability/shim.c");
        let status = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status()
            .expect("there is a C compiler");
        assert!(status.success(), "shim.c compiles");
        (folder, library)
    };
    &LIBRARY.get_or_init(build).1
}

/// The settings that put the library under a child, for paths below `root`.
pub(crate) fn settings(root: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("LD_PRELOAD", library().display().to_string()),
        ("ENGRAPH_SHIM_ROOT", root.display().to_string()),
    ]
}

/// What happens to bytes that were written and not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The file is shorter.
    Cut,
    /// The file is as long as before, and the bytes are 0.
    Zeroed,
    /// The bytes are any bytes.
    Garbage,
    /// Some pages were written, and some are 0.
    HalfKept,
}

impl Tail {
    /// Each of them.
    pub(crate) const ALL: [Self; 4] = [Self::Cut, Self::Zeroed, Self::Garbage, Self::HalfKept];
}

/// The knowledge of one run: what a disk may forget when the power goes.
pub(crate) struct Journal {
    folder: PathBuf,
    database: PathBuf,
    /// Files that were there before are whole: inode to length.
    before: HashMap<u64, u64>,
}

/// What a loss of power did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Damage {
    /// Names that were made, changed or removed in vain.
    pub(crate) names: u64,
    /// Bytes that were not synced.
    pub(crate) bytes: u64,
}

enum Name {
    Made(PathBuf),
    Renamed { from: PathBuf, to: PathBuf, grave: PathBuf },
    Removed { path: PathBuf, grave: PathBuf },
}

impl Journal {
    /// Begins to keep one for a database, in a folder beside it.
    pub(crate) fn begin(folder: &Path, database: &Path) -> Self {
        // The one of the last run.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("graves")).expect("a folder can be made");
        let before = if database.exists() { lengths(database) } else { HashMap::new() };
        Self { folder: folder.to_owned(), database: database.to_owned(), before }
    }

    /// The settings of a child that keeps it.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ENGRAPH_SHIM_JOURNAL", self.folder.join("journal").display().to_string()),
            ("ENGRAPH_SHIM_GRAVES", self.folder.join("graves").display().to_string()),
        ]
    }

    /// The power goes, now that the child is gone.
    pub(crate) fn lose_power(self, tail: Tail, rng: &mut Rng) -> Damage {
        let text = fs::read_to_string(self.folder.join("journal")).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines: Vec<&str> = whole.lines().collect();
        let mut damage = Damage { names: undo_names(&lines, rng), bytes: 0 };
        if !self.database.exists() {
            return damage;
        }
        let durable = durable_lengths(&self.before, &lines);
        for (path, _) in folder::files(&self.database) {
            damage.bytes += lose_tail(&path, &durable, tail, rng);
        }
        damage
    }
}

/// Whether the folder of a database that was made in this run has been made to last in its parent.
pub(crate) fn is_folder_durable(journal: &Journal) -> bool {
    let text = fs::read_to_string(journal.folder.join("journal")).unwrap_or_default();
    let made = format!("M {}", journal.database.display());
    let made = text.lines().position(|line| line == made);
    let synced = |line: &str| line.strip_prefix("P ")?.parse().ok();
    let synced = text.lines().filter_map(synced).max().unwrap_or(0);
    made.is_some_and(|made| made < synced)
}

fn lengths(folder: &Path) -> HashMap<u64, u64> {
    let metadata = |path: &Path| fs::metadata(path).expect("a file of the database can be seen");
    folder::files(folder)
        .iter()
        .map(|(path, _)| {
            let metadata = metadata(path);
            (metadata.ino(), metadata.len())
        })
        .collect()
}

/// Takes back some of the last changes of names: a disk keeps them in order, so it forgets from the
/// end, all or none or any number of those that no sync of the folder covers.
fn undo_names(lines: &[&str], rng: &mut Rng) -> u64 {
    let covered = |line: &&str| line.strip_prefix("D ")?.parse::<usize>().ok();
    let covered = lines.iter().filter_map(covered).max().unwrap_or(0);
    let open: Vec<Name> = lines[covered.min(lines.len())..]
        .iter()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let kind = words.next()?;
            let mut path = || words.next().map(PathBuf::from);
            match kind {
                "C" => Some(Name::Made(path()?)),
                "R" => Some(Name::Renamed { from: path()?, to: path()?, grave: path()? }),
                "U" => Some(Name::Removed { path: path()?, grave: path()? }),
                _ => None,
            }
        })
        .collect();
    let kept = match rng.below(3) {
        0 => 0,
        1 => open.len(),
        _ => rng.between(0, open.len() as u64) as usize,
    };
    for name in open[kept..].iter().rev() {
        undo(name);
    }
    (open.len() - kept) as u64
}

fn undo(name: &Name) {
    let raise = |grave: &Path, path: &Path| {
        if grave.exists() && !path.exists() {
            let folder = path.parent().expect("a file is in a folder");
            fs::create_dir_all(folder).expect("a folder can be made");
            fs::hard_link(grave, path).expect("a removed file has its other name");
        }
    };
    match name {
        // It may have been noted and then not have happened, each time.
        Name::Made(path) => drop(fs::remove_file(path)),
        Name::Renamed { from, to, grave } => {
            if to.exists() && !from.exists() {
                fs::rename(to, from).expect("a file can be renamed back");
            }
            raise(grave, to);
        }
        Name::Removed { path, grave } => raise(grave, path),
    }
}

/// How much of each file is on the disk, by inode.
fn durable_lengths(before: &HashMap<u64, u64>, lines: &[&str]) -> HashMap<u64, u64> {
    let mut durable = before.clone();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind @ ("S" | "T"), inode, length] = words[..] else { continue };
        let (Ok(inode), Ok(length)) = (inode.parse(), length.parse::<u64>()) else { continue };
        let known = durable.entry(inode).or_insert(0);
        *known = if kind == "S" { length.max(*known) } else { length.min(*known) };
    }
    durable
}

fn lose_tail(path: &Path, durable: &HashMap<u64, u64>, tail: Tail, rng: &mut Rng) -> u64 {
    let metadata = fs::metadata(path).expect("a file of the database can be seen");
    let (length, kept) = (metadata.len(), durable.get(&metadata.ino()).copied().unwrap_or(0));
    if kept >= length {
        return 0;
    }
    // Hard links share their bytes, and graves are such links: nobody looks at them any more.
    let file = fs::OpenOptions::new().write(true).open(path).expect("a file can be opened");
    let put = |bytes: &[u8], at: u64| file.write_all_at(bytes, at).expect("a file can be written");
    let missing = (length - kept) as usize;
    match tail {
        Tail::Cut => {
            let end = if rng.once_in(2) { kept } else { rng.between(kept, length) };
            file.set_len(end).expect("a file can be cut");
        }
        Tail::Zeroed => put(&vec![0; missing], kept),
        Tail::Garbage => put(&rng.bytes(missing), kept),
        Tail::HalfKept => {
            let mut at = kept;
            while at < length {
                let end = ((at / PAGE + 1) * PAGE).min(length);
                if rng.once_in(2) {
                    put(&vec![0; (end - at) as usize], at);
                }
                at = end;
            }
        }
    }
    length - kept
}
