//! D8: files of a database are missing, exchanged, there twice, or those of another time or another
//! database. The answer is the last state, or an error.

use std::fs;
use std::path::{Path, PathBuf};

use engraph_storage::{Durability, StorageError};

use crate::audit::{Finding, audit};
use crate::child::look_at;
use crate::folder::{self, Kind, Prepared};
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::workload::{Sizes, Workload};

/// A thing that happens to a folder.
struct Case {
    name: String,
    act: Box<dyn Fn(&Path)>,
}

fn case(name: impl Into<String>, act: impl Fn(&Path) + 'static) -> Case {
    Case { name: name.into(), act: Box::new(act) }
}

/// The three databases: as it is, as it was, and one that has nothing to do with it.
struct Scene {
    now: Prepared,
    old: Prepared,
    other: Prepared,
}

fn put(from: &Path, to: PathBuf) {
    fs::copy(from, to).expect("a file can be copied");
}

fn numbered(path: &Path, more: u64) -> String {
    let name = folder::name(path);
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().expect("the file has a number");
    name.replace(&digits, &format!("{:06}", number + more))
}

fn deletions(scene: &Scene) -> Vec<Case> {
    let mut cases = Vec::new();
    for (path, _) in folder::files(&scene.now.path) {
        let name = folder::name(&path);
        cases.push(case(format!("without {name}"), move |folder| {
            fs::remove_file(folder.join(&name)).expect("a file can be removed");
        }));
    }
    for kind in [Kind::Table, Kind::Log, Kind::Manifest, Kind::Options] {
        cases.push(case(format!("without any {kind:?}"), move |folder| {
            for path in folder::of_kind(folder, kind) {
                fs::remove_file(path).expect("a file can be removed");
            }
        }));
    }
    cases
}

fn swaps() -> Vec<Case> {
    use Kind::{Current, Identity, Log, Manifest, Options, Table};
    let pairs = [
        (Table, Table),
        (Table, Log),
        (Table, Manifest),
        (Log, Manifest),
        (Current, Identity),
        (Current, Manifest),
        (Options, Manifest),
    ];
    let swap = |(one, other): (Kind, Kind)| {
        case(format!("{one:?} and {other:?} exchanged"), move |folder| {
            let first = folder::of_kind(folder, one).remove(0);
            let last = folder::of_kind(folder, other).pop().expect("there is one");
            let between = folder.join("between");
            for (from, to) in [(&first, &between), (&last, &first), (&between, &last)] {
                fs::rename(from, to).expect("a file can be renamed");
            }
        })
    };
    pairs.into_iter().map(swap).collect()
}

fn copies() -> Vec<Case> {
    let kinds = [(Kind::Table, 1), (Kind::Table, 1000), (Kind::Log, 1), (Kind::Log, 1000)];
    let twice = |(kind, more): (Kind, u64)| {
        case(format!("{kind:?} there twice, the second {more} later"), move |folder| {
            let path = folder::of_kind(folder, kind).pop().expect("there is one");
            put(&path, folder.join(numbered(&path, more)));
        })
    };
    kinds.into_iter().chain([(Kind::Manifest, 1), (Kind::Options, 1000)]).map(twice).collect()
}

/// Files of `from` are put over those of the folder, by name.
fn mixtures(from: &Prepared, whose: &str) -> Vec<Case> {
    use Kind::{Current, Identity, Log, Manifest, Options, Table};
    let sets: [&'static [Kind]; 9] = [
        &[Current],
        &[Manifest],
        &[Current, Manifest],
        &[Table],
        &[Log],
        &[Identity],
        &[Options],
        &[Table, Log],
        &[Table, Current, Manifest],
    ];
    let mix = |kinds: &'static [Kind]| {
        let from = from.path.clone();
        case(format!("{kinds:?} of {whose}"), move |folder| {
            for (path, kind) in folder::files(&from) {
                if kinds.contains(&kind) {
                    put(&path, folder.join(folder::name(&path)));
                }
            }
        })
    };
    sets.into_iter().map(mix).collect()
}

fn strays(scene: &Scene) -> Vec<Case> {
    let mut cases = Vec::new();
    for (from, whose) in [(&scene.other, "another"), (&scene.old, "older")] {
        let log = from.path.join(&from.log);
        let (before, behind) = (log.clone(), log.clone());
        let place = scene.now.log.clone();
        cases.push(case(format!("the log of {whose} in place of the newest"), move |folder| {
            put(&before, folder.join(&place));
        }));
        for more in [1, 1000] {
            let log = behind.clone();
            cases.push(case(format!("the log of {whose}, {more} behind the newest"), move |to| {
                put(&log, to.join(numbered(&folder::newest_log(to), more)));
            }));
        }
        let tables = folder::of_kind(&from.path, Kind::Table);
        cases.push(case(format!("a table of {whose} in place of each"), move |to| {
            for (path, table) in folder::of_kind(to, Kind::Table).iter().zip(tables.iter().cycle())
            {
                put(table, path.clone());
            }
        }));
    }
    cases
}

impl Scene {
    fn make(root: &Path, rng: &mut Rng) -> Self {
        let mut workload = || Workload { seed: rng.next(), sizes: Sizes::Small };
        let (mine, theirs) = (workload(), workload());
        let old = Prepared::make(root, "old", mine, &[20, 10]);
        let now = old.later(root, "now", &[10, 10], Durability::Sync);
        let other = Prepared::make(root, "other", theirs, &[20, 10, 10, 30]);
        Self { now, old, other }
    }
}

#[test]
fn shuffled_files() {
    let mut row = Row::begin("D8");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let scene = Scene::make(root.path(), &mut rng);
    let mut cases = deletions(&scene);
    cases.extend(swaps());
    cases.extend(copies());
    cases.extend(mixtures(&scene.old, "an older copy"));
    cases.extend(mixtures(&scene.other, "another database"));
    cases.extend(strays(&scene));
    let (mut right, mut refused, mut failures) = (0, 0, Vec::new());
    let database = root.path().join("db");
    for case in &cases {
        for access in ["read", "write"] {
            folder::copy(&scene.now.path, &database);
            (case.act)(&database);
            match look_at(&database, &scene.now.workload, access, &[]) {
                Ok(last) if last == scene.now.last => right += 1,
                Err(text) if text.starts_with("refused") => refused += 1,
                Ok(last) => failures.push(format!(
                    "{} ({access}): {last} of {} without an error",
                    case.name, scene.now.last
                )),
                Err(text) => failures.push(format!("{} ({access}): {text}", case.name)),
            }
        }
    }
    row.figure("cases", cases.len()).figure("right", right).figure("refused", refused);
    if cases.len() < 40 {
        failures.push("too few cases".to_owned());
    }
    row.end(&failures);
}

/// A log that does not go with the tables is refused, and recovery drops it as a whole: what is in
/// the tables stays, and nothing of the other log is there.
#[test]
fn recovery_drops_strays() {
    let mut row = Row::begin("D8_recover");
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let scene = Scene::make(root.path(), &mut rng);
    let in_tables = scene.now.last_within(0);
    let database = root.path().join("db");
    let mut failures = Vec::new();
    for (from, whose) in [(&scene.other, "another"), (&scene.old, "older")] {
        folder::copy(&scene.now.path, &database);
        put(&from.path.join(&from.log), database.join(&scene.now.log));
        let refused = folder::open(&database).err();
        if !matches!(refused, Some(StorageError::DamagedLog { .. })) {
            failures.push(format!("the log of {whose} was met with {refused:?}"));
        }
        for open in [folder::recover, folder::open] {
            let found = open(&database).map_err(Finding::from);
            match found.and_then(|store| audit(&store, &scene.now.workload)) {
                Ok(last) if last == in_tables => {}
                Ok(last) => failures.push(format!("{whose}: {last} instead of {in_tables}")),
                Err(finding) => failures.push(format!("{whose}: {}", finding.line())),
            }
        }
    }
    row.figure("cases", 2);
    row.end(&failures);
}
