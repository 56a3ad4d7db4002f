//! D5: the disk is full. The commit that does not fit fails, and with space again the last one that
//! was acknowledged is there.
//!
//! A small file system in memory, in a name space of its own where the system allows that; else the
//! shim's budget of bytes.

use std::path::Path;
use std::process::{Command, Stdio};

use engraph_storage::Durability;

use crate::audit::{self, audit};
use crate::child::{self, Child, Ended, PATIENCE, say};
use crate::folder;
use crate::lane::{self, Row};
use crate::rng::Rng;
use crate::shim;
use crate::workload::{Sizes, Workload};

/// Transactions that fill any of the disks.
const TRANSACTIONS_MAX: u64 = 4000;

/// What a child does: writes until it cannot, then says whether the folder opens as it is.
pub(crate) fn job() {
    let workload = child::workload();
    {
        let Some((store, last)) = child::open(&child::folder()) else { return };
        for n in last + 1..TRANSACTIONS_MAX {
            match workload.write(&store, n, Durability::Sync) {
                Ok(()) => say(&format!("ack {n}")),
                Err(error) => {
                    let text = audit::one_line(&error);
                    say(&format!("failed {n} {} {text}", audit::variant(&error)));
                    break;
                }
            }
        }
    }
    // On the full disk: the state, or an error.
    let found = folder::open(&child::folder()).map_err(audit::Finding::from);
    say(&match found.and_then(|store| audit(&store, &workload)) {
        Ok(last) => format!("full {last}"),
        Err(finding) => format!("full {}", finding.line()),
    });
}

/// Whether this user may mount a file system for itself.
pub(crate) fn may_mount() -> bool {
    let folder = lane::scratch();
    let status = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none"])
        .arg(folder.path())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Both halves within one name space, as the file system is gone with it.
fn on_small_disk(root: &Path, workload: &Workload, megabytes: u64) -> Ended {
    let script = "mount -t tmpfs -o size=${SIZE}m none $PLACE || exit 9
        ENGRAPH_CHILD=fill \"$@\" || exit 8
        mount -o remount,size=512m $PLACE || exit 9
        ENGRAPH_CHILD=look exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, "sh"]);
    command.arg(std::env::current_exe().expect("a test knows its binary"));
    child::configure(&mut command, "fill", &child::settings(&root.join("db"), workload));
    command.env("SIZE", megabytes.to_string()).env("PLACE", root);
    command.env("ENGRAPH_CHILD_ACCESS", "write");
    Child::of(command).finish(PATIENCE).unwrap_or_else(|ended| ended)
}

fn on_budget(root: &Path, workload: &Workload, megabytes: u64) -> Ended {
    let database = root.join("db");
    let mut settings = child::settings(&database, workload);
    settings.extend(shim::settings(&database));
    settings.push(("ENGRAPH_SHIM_BUDGET", (megabytes << 20).to_string()));
    let mut ended = Child::start("fill", &settings).finish(PATIENCE).unwrap_or_else(|ended| ended);
    let mut settings = child::settings(&database, workload);
    settings.push(("ENGRAPH_CHILD_ACCESS", "write".to_owned()));
    let look = Child::start("look", &settings).finish(PATIENCE).unwrap_or_else(|ended| ended);
    ended.lines.extend(look.lines);
    ended
}

#[test]
fn full_disks() {
    let mut row = Row::begin("D5");
    let mut rng = Rng::new(row.seed);
    let (mounts, runs) = (may_mount(), lane::count(5, 500));
    let (mut acked, mut failed, mut failures) = (0, 0, Vec::new());
    for run in 0..runs {
        let root = lane::scratch();
        let sizes = *rng.pick(&[Sizes::Mixed, Sizes::Large]);
        let workload = Workload { seed: rng.next(), sizes };
        let megabytes = [3, 6, 10, 16, 24][(run % 5) as usize];
        // Both ways, if both are possible: a budget never comes back, a small disk does.
        let ended = match mounts {
            true => on_small_disk(root.path(), &workload, megabytes),
            false => on_budget(root.path(), &workload, megabytes),
        };
        let about = format!("{megabytes} MB, {sizes:?}");
        let last = ended.last("ack").unwrap_or(0);
        acked += last;
        failed += u64::from(ended.count("failed") + ended.count("unready") > 0);
        let found = ended.lines.iter().rev().find_map(|line| child::rest(line, "found"));
        let allowed = [last.to_string(), (last + 1).to_string()];
        if !ended.is_clean() {
            failures.push(format!("{about}: {}", ended.story()));
        }
        if !found.is_some_and(|found| allowed.iter().any(|allowed| allowed == found)) {
            failures.push(format!("{about}: {found:?} of {last}"));
        }
        let full = ended.lines.iter().find_map(|line| child::rest(line, "full"));
        let right = |text: &str| allowed.iter().any(|a| a == text) || text.starts_with("refused");
        if full.is_some_and(|full| !right(full)) {
            failures.push(format!("{about}: on the full disk {full:?} of {last}"));
        }
    }
    row.figure("runs", runs).figure("mounted", mounts).figure("acked", acked);
    row.figure("filled", failed);
    if failed < runs * 8 / 10 {
        failures.push("too few of the disks were full".to_owned());
    }
    row.end(&failures);
}
