//! Logs held against tables: what goes on where the tables end, and what does not.

use super::*;

/// Four logs with two commits each, from 0 to 7.
fn four_logs(is_synced: bool) -> Logs {
    let mut logs = Logs::new();
    for number in 0..8 {
        if number > 0 && number % 2 == 0 {
            logs.begin();
        }
        logs.commit(10, if is_synced { number } else { 0 });
    }
    logs
}

/// The tables when so many of the commits are in them; each takes two sequence numbers.
fn tables(logs: &Logs, commits: usize, oldest_log: u64) -> Tables {
    let commit = commits.checked_sub(1).map(|last| logs.commits[last].0);
    Tables { commit, sequence: 2 * commits as u64, oldest_log, flushed_log: 0 }
}

#[test]
fn logs_go_on_where_the_tables_end() {
    let logs = four_logs(true);
    let whole = LogScan { last: logs.last, torn: None };
    for (commits, oldest_log) in [(0, 0), (0, 4), (2, 8), (3, 8), (4, 8), (5, 8), (8, 16), (8, 17)]
    {
        let mut logs = logs.clone();
        let tables = tables(&logs, commits, oldest_log);
        // Older ones are leftovers, whatever they hold.
        for (number, bytes) in &mut logs.files {
            if *number < oldest_log {
                bytes.fill(7);
            }
        }
        assert_eq!(logs.scan_after(&tables).unwrap(), whole, "{commits} {oldest_log}");
        logs.files.retain(|(number, _)| *number >= oldest_log);
        assert_eq!(logs.scan_after(&tables).unwrap(), whole, "{commits} {oldest_log}");
    }
}

#[test]
fn a_missing_log_is_damage() {
    let mut logs = four_logs(true);
    logs.files.remove(1);
    assert_damaged(logs.scan(), "000012.log", 0, Some((2, 6)));
    assert_damaged(logs.scan_after(&tables(&logs, 1, 4)), "000012.log", 0, Some((2, 6)));
    // The first that is needed, or tables that are older than the logs.
    logs.files.remove(0);
    for commits in 0..4 {
        assert_damaged(logs.scan_after(&tables(&logs, commits, 4)), "000012.log", 0, None);
    }
    // The order of files is that of their numbers.
    let mut logs = four_logs(true);
    logs.files[0].0 = 13;
    assert_damaged(logs.scan(), "000008.log", 0, None);
}

/// A log whose commits were not synced may end early, and the next one be whole.
#[test]
fn unsynced_commits_may_be_missing_between_logs() {
    let mut logs = four_logs(false);
    let third = logs.commits[3].2.start;
    logs.file_at(1).truncate(third);
    let found = logs.scan_after(&tables(&logs, 2, 8)).unwrap();
    assert_eq!(found, LogScan { last: Some(logs.commits[2].0), torn: logs.torn(2, 0) });
    // A whole log without its contents.
    logs.file_at(1).clear();
    let found = logs.scan_after(&tables(&logs, 2, 8)).unwrap();
    assert_eq!(found, LogScan { last: Some(logs.commits[1].0), torn: logs.torn(2, 0) });
    // Tables were made of the log, so it was whole.
    logs.files[1] = four_logs(false).files[1].clone();
    logs.file_at(1).truncate(third);
    let behind = tables(&logs, 4, 8);
    assert!(matches!(logs.scan_after(&behind), Err(StorageError::DamagedLog { .. })));
}

/// `meta` has its commits in tables up to the first log, another family up to the second: that one was synced.
#[test]
fn damage_before_what_tables_of_another_family_hold_is_no_torn_end() {
    let logs = four_logs(false);
    let mut rotten = logs.clone();
    rotten.file_at(1)[20..30].fill(0);
    let mut short = logs.clone();
    let third = logs.commits[3].2.start;
    short.file_at(1).truncate(third);
    for damaged in [rotten, short] {
        let behind = |flushed_log| Tables { flushed_log, ..tables(&logs, 2, 8) };
        assert!(damaged.scan_after(&behind(8)).unwrap().torn.is_some());
        let scan = damaged.scan_after(&behind(12));
        assert!(matches!(scan, Err(StorageError::DamagedLog { .. })), "{scan:?}");
    }
}

/// The first page of a log that was begun after the tables were made.
#[test]
fn the_beginning_of_an_unsynced_log_may_be_missing() {
    let logs = four_logs(false);
    let mut torn = logs.clone();
    torn.file_at(3)[..20].fill(0);
    let found = torn.scan_after(&tables(&logs, 6, 16)).unwrap();
    assert_eq!(found, LogScan { last: Some(logs.commits[5].0), torn: logs.torn(3, 0) });
    // It holds a commit of the tables, so it was synced.
    let behind = tables(&logs, 8, 16);
    assert!(matches!(torn.scan_after(&behind), Err(StorageError::DamagedLog { .. })));
}

#[test]
fn an_older_log_is_damage() {
    let logs = four_logs(true);
    for (commits, kept) in [(5, 1), (7, 1), (8, 2), (8, 0)] {
        let mut older = logs.clone();
        older.files = vec![(16, logs.files[kept].1.clone())];
        assert_damaged(older.scan_after(&tables(&logs, commits, 16)), "000016.log", 0, None);
    }
}

#[test]
fn logs_of_another_database_are_refused() {
    let mut logs = Logs::new();
    logs.synced_commits(&[10, 10]);
    let mut other = Logs::new();
    other.synced_commits(&[11, 11, 11, 11]);
    let record = |logs: &Logs, at: usize| {
        let (_, file, range) = logs.commits[at].clone();
        logs.files[file].1[range].to_vec()
    };
    let refused = |at: usize, is_next_file: bool, lost| {
        let mut logs = logs.clone();
        if is_next_file {
            logs.begin();
        }
        let offset = logs.file().len();
        logs.file().extend(record(&other, at));
        let name = format!("{:06}.log", logs.files.last().unwrap().0);
        assert_damaged(logs.scan(), &name, offset, lost);
    };
    for is_next_file in [false, true] {
        refused(0, is_next_file, None);
        refused(1, is_next_file, None);
        refused(2, is_next_file, None);
        refused(3, is_next_file, Some((2, 2)));
    }
}

#[test]
fn a_log_of_another_database_is_damage() {
    let logs = four_logs(true);
    let mut other = Logs::new();
    other.synced_commits(&[11; 12]);
    for commits in 1..=11 {
        let behind = Tables { commit: None, ..tables(&logs, commits.min(8), 4) };
        let commit = Commit { number: commits as u64 - 1, synced: 0, chain: 77 };
        let behind = Tables { commit: Some(commit), ..behind };
        assert_damaged(other.scan_after(&behind), "000004.log", 0, None);
    }
    // What goes with the tables is kept.
    let mut mixed = logs.clone();
    let (at, range) = (mixed.file().len(), other.commits[8].2.clone());
    mixed.file().extend(&other.files[0].1[range]);
    assert_damaged(mixed.scan_after(&tables(&logs, 7, 16)), "000016.log", at, None);
}

#[test]
fn without_commits_in_the_logs_the_tables_have_the_last() {
    let mut logs = four_logs(true);
    let behind = tables(&logs, 8, 17);
    let whole = LogScan { last: logs.last, torn: None };
    assert_eq!(logs.scan_after(&behind).unwrap(), whole);
    logs.begin();
    logs.write(b"", 0);
    assert_eq!(logs.scan_after(&behind).unwrap(), whole);
    logs.file().extend([7; 20]);
    let torn = logs.torn(4, 19);
    assert_eq!(logs.scan_after(&behind).unwrap(), LogScan { torn, ..whole });
}
