//! D10: who may open a database beside whom, and what a reader leaves behind.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::process::Command;

use engraph_storage::{Durability, StorageError, Store};

use crate::audit::{self, audit};
use crate::child::{self, Child, PATIENCE, say};
use crate::folder::{self, Prepared};
use crate::full::may_mount;
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::shim;
use crate::workload::{Sizes, Workload};

/// Readers beside one writer.
const READERS: u64 = 20;

/// What a child does: waits for a line, opens, says how that went, and holds until the next line.
pub(crate) fn job() {
    say("standing");
    listen();
    match folder::open(&child::folder()) {
        Ok(store) => {
            say("held");
            listen();
            drop(store);
        }
        Err(StorageError::Locked { pid, .. }) => say(&format!("locked {pid}")),
        Err(error) => say(&format!("refused {}", audit::one_line(&error))),
    }
}

fn listen() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("the parent says a line");
}

fn stand(folder: &Path, workload: &Workload) -> Child {
    let mut child = Child::start("hold", &child::settings(folder, workload));
    child.wait_for(&["standing"], PATIENCE).expect("a child begins");
    child
}

fn hold(folder: &Path, workload: &Workload) -> Child {
    let mut child = stand(folder, workload);
    child.say("go");
    child.wait_for(&["held"], PATIENCE).expect("a child can open");
    child
}

/// A small database and a place for more.
fn scene(row: &Row) -> (tempfile::TempDir, Prepared) {
    let mut rng = Rng::new(row.seed);
    let root = lane::scratch();
    let workload = Workload { seed: rng.next(), sizes: Sizes::Small };
    let prepared = Prepared::make(root.path(), "db", workload, &[20, 10]);
    (root, prepared)
}

fn found(store: engraph_storage::Result<Store>, workload: &Workload) -> String {
    match store.map_err(audit::Finding::from).and_then(|store| audit(&store, workload)) {
        Ok(last) => last.to_string(),
        Err(finding) => finding.line(),
    }
}

/// The process that a refusal names.
fn locked_by(path: &Path) -> String {
    match folder::open(path) {
        Ok(_) => "nobody".to_owned(),
        Err(StorageError::Locked { pid, .. }) => pid,
        Err(error) => error.to_string(),
    }
}

fn expect(failures: &mut Vec<String>, what: &str, found: &str, expected: &str) {
    if found != expected {
        failures.push(format!("{what}: {found} instead of {expected}"));
    }
}

#[test]
fn writers_beside_writers() {
    let mut row = Row::begin("D10_locks");
    let (root, prepared) = scene(&row);
    let (path, workload) = (&prepared.path, &prepared.workload);
    let (link, last) = (root.path().join("link"), prepared.last.to_string());
    symlink(path, &link).expect("a link can be made");
    let around = path.join("..").join("db");
    let mut failures = Vec::new();
    let holder = hold(path, workload);
    let pid = holder.id().to_string();
    for path in [path, &link, &around] {
        expect(&mut failures, "beside a process", &locked_by(path), &pid);
        let store = folder::open_read_only(path);
        expect(&mut failures, "read beside a process", &found(store, workload), &last);
    }
    // Its lock is gone with it, and the name of the process is left in the file.
    holder.kill();
    expect(&mut failures, "after a kill", &found(folder::open(path), workload), &last);
    let mine = folder::open(path).expect("nobody else has it");
    for path in [path, &link, &around] {
        expect(&mut failures, "twice", &locked_by(path), &std::process::id().to_string());
    }
    expect(&mut failures, "the first of two", &found(Ok(mine), workload), &last);
    for (name, bytes) in
        [("engraph.lock", &b"1\n"[..]), ("engraph.lock", &[0xff; 9000]), ("LOCK", b"stale")]
    {
        folder::write(&path.join(name), bytes);
        expect(&mut failures, "a stale lock", &found(folder::open(path), workload), &last);
    }
    for name in ["engraph.lock", "LOCK"] {
        fs::remove_file(path.join(name)).expect("a file can be removed");
        expect(&mut failures, "no lock", &found(folder::open(path), workload), &last);
    }
    row.figure("cases", 13);
    row.end(&failures);
}

#[test]
fn races() {
    let mut row = Row::begin("D10_races");
    let (_root, prepared) = scene(&row);
    let count = lane::count(20, 1000);
    let mut failures = Vec::new();
    for race in 0..count {
        let mut both = [(); 2].map(|()| stand(&prepared.path, &prepared.workload));
        both.iter_mut().for_each(|child| child.say("go"));
        let words = ["held", "locked", "refused"];
        let told =
            both.each_mut().map(|child| child.wait_for(&words, PATIENCE).unwrap_or_default());
        let winner = told.iter().position(|line| line == "held").unwrap_or(0);
        let pid = both[winner].id();
        // A loser that comes between the lock and the name in it cannot know the name.
        let loser = [format!("locked {pid}"), "locked unknown".to_owned()];
        if told[winner] != "held" || !loser.contains(&told[1 - winner]) {
            failures.push(format!("race {race}: {told:?}, the winner is {pid}"));
        }
        for mut child in both {
            child.say("end");
            if child.finish(PATIENCE).is_err() {
                failures.push(format!("race {race}: a child does not end"));
            }
        }
    }
    let after = found(folder::open(&prepared.path), &prepared.workload);
    expect(&mut failures, "after the races", &after, &prepared.last.to_string());
    row.figure("races", count);
    row.end(&failures);
}

/// Readers come and go beside a writer that goes on: each sees the state after some transaction,
/// none before those that were acknowledged when it came.
#[test]
fn readers_beside_a_writer() {
    let mut row = Row::begin("D10_readers");
    let count = lane::count(20, 1000);
    let (mut failures, mut readers, mut acked) = (Vec::new(), 0, 0);
    while readers < count {
        let (_root, prepared) = scene(&row);
        acked += beside_a_writer(&prepared, &mut failures);
        readers += READERS;
    }
    row.figure("readers", readers).figure("acked", acked);
    row.end(&failures);
}

fn beside_a_writer(prepared: &Prepared, failures: &mut Vec<String>) -> u64 {
    let (path, workload) = (&prepared.path, Workload { sizes: Sizes::Small, ..prepared.workload });
    let mut settings = child::settings(path, &workload);
    settings.push(child::durability_setting(Durability::Buffered));
    settings.push(("ENGRAPH_CHILD_PAUSE_MS", "4".to_owned()));
    let mut writer = Child::start("write", &settings);
    for _ in 0..READERS {
        if writer.wait_for(&["ack"], PATIENCE).is_none() {
            failures.push("the writer stopped".to_owned());
            break;
        }
        let acked = writer.latest("ack").unwrap_or(0);
        let found = found(folder::open_read_only(path), &workload);
        if !found.parse().is_ok_and(|last: u64| last >= acked) {
            failures.push(format!("{found} beside a writer that was at {acked}"));
        }
    }
    let ended = writer.kill();
    let last = ended.last("ack").unwrap_or(prepared.last);
    let after = found(folder::open(path), &workload);
    if ![last.to_string(), (last + 1).to_string()].contains(&after) {
        failures.push(format!("after the readers {after} of {last}"));
    }
    last
}

type Listing = BTreeMap<String, (u64, i64, i64, Vec<u8>)>;

fn listing(folder: &Path) -> Listing {
    let entry = |path: &Path| {
        let seen = fs::metadata(path).expect("a file can be seen");
        (seen.ino(), seen.mtime(), seen.mtime_nsec(), folder::read(path))
    };
    folder::files(folder).iter().map(|(path, _)| (folder::name(path), entry(path))).collect()
}

/// A reader changes nothing, and needs no right to.
#[test]
fn readers_leave_no_trace() {
    let mut row = Row::begin("D10_read_only");
    let (root, prepared) = scene(&row);
    let (path, last) = (&prepared.path, prepared.last.to_string());
    let mut failures = Vec::new();
    let before = listing(path);
    let store = folder::open_read_only(path);
    expect(&mut failures, "a reader", &found(store, &prepared.workload), &last);
    let after = listing(path);
    let names = before.keys().chain(after.keys());
    let mut changed: Vec<&String> = names.filter(|n| before.get(*n) != after.get(*n)).collect();
    changed.dedup();
    if !changed.is_empty() {
        failures.push(format!("a reader changed {changed:?}"));
    }
    let mut shim = shim::settings(path);
    shim.push(("ENGRAPH_SHIM_READONLY", "1".to_owned()));
    for (access, expected) in [("read", &*last), ("write", "refused Io")] {
        let found = told(child::look_at(path, &prepared.workload, access, &shim));
        if !found.starts_with(expected) {
            failures.push(format!("{access} on a disk that takes no writes: {found}"));
        }
    }
    let mounts = may_mount();
    if mounts {
        mounted_read_only(root.path(), &prepared, &mut failures);
    }
    row.figure("mounted", mounts).figure("files", before.len());
    row.end(&failures);
}

fn told(found: Result<u64, String>) -> String {
    found.map_or_else(|line| line, |last| last.to_string())
}

fn mounted_read_only(root: &Path, prepared: &Prepared, failures: &mut Vec<String>) {
    let script = "mount --bind $PLACE $PLACE && mount -o remount,bind,ro $PLACE || exit 9
        exec \"$@\"";
    for (access, expected) in
        [("read", prepared.last.to_string()), ("write", "refused Io".to_owned())]
    {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, "sh"]);
        command.arg(std::env::current_exe().expect("a test knows its binary"));
        let mut settings = child::settings(&prepared.path, &prepared.workload);
        settings.push(("ENGRAPH_CHILD_ACCESS", access.to_owned()));
        child::configure(&mut command, "look", &settings);
        command.env("PLACE", root);
        let found = told(child::told(Child::of(command)));
        if !found.starts_with(&expected) {
            failures.push(format!("{access} on a read-only mount: {found}"));
        }
    }
}
