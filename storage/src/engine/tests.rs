//! Filters of prefixes, merges, and no diary.

use super::*;

#[test]
fn a_filter_of_prefixes_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), Memory::default()).unwrap();
    let key = |near: u8, relation: u8| [vec![0; 7], vec![near, 0, 0, 0, relation]].concat();
    let entries: Vec<_> =
        [1, 3, 5].map(|near| ([key(near, 7), vec![0; 24]].concat(), vec![])).to_vec();
    engine.load(Family::Out, &entries).unwrap();
    engine.flush().unwrap();
    let snapshot = engine.snapshot();
    let found = |from: &[u8], to: Option<&[u8]>| {
        let mut found = Vec::new();
        let mut visit = |key: &[u8], _: &[u8]| {
            found.push(key[7]);
            Ok(ControlFlow::Continue(()))
        };
        snapshot.scan(Family::Out, from, to, &mut visit).unwrap();
        found
    };
    // No key has the prefix where most of these begin.
    assert_eq!(found(&key(2, 0), None), [3, 5]);
    assert_eq!(found(&key(2, 0), Some(&key(5, 0))), [3]);
    assert_eq!(found(&[0; 8], Some(&key(4, 0))), [1, 3]);
    assert_eq!(found(&key(3, 6), Some(&key(3, 8))), [3]);
    assert_eq!(found(&key(3, 7), Some(&key(3, 8))), [3]);
    assert_eq!(found(&key(3, 6), Some(&key(3, 7))), [] as [u8; 0]);
}

#[test]
fn no_diary_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["LOG.old.1", "LOG.old.2"] {
        std::fs::write(folder.path().join(name), "what an earlier version did").unwrap();
    }
    drop(Engine::open(folder.path(), Memory::default()).unwrap());
    drop(Engine::open(folder.path(), Memory::default()).unwrap());
    drop(Engine::open_read_only(folder.path(), Memory::default(), &Family::ALL, None).unwrap());
    let names = folder.path().read_dir().unwrap().flatten().map(|file| file.file_name());
    let diaries = names.filter(|name| name.to_string_lossy().starts_with("LOG"));
    assert_eq!(diaries.collect::<Vec<_>>(), [] as [&str; 0]);
}

#[test]
fn tables_are_merged_when_it_has_settled() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), Memory::default()).unwrap();
    for number in 0..4_u8 {
        let entries: Vec<_> = (0..100).map(|key| (vec![key], vec![number])).collect();
        engine.load(Family::Nodes, &entries).unwrap();
        // The last ones are in memory alone.
        if number < 3 {
            engine.flush().unwrap();
        }
    }
    engine.settle().unwrap();
    assert_eq!(engine.tables().unwrap().len(), 1);
}

#[test]
fn the_first_read_sets_off_no_merge_when_it_has_settled() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), Memory::default()).unwrap();
    for family in [Family::Nodes, Family::Meta] {
        engine.load(family, &[(vec![0], vec![0])]).unwrap();
    }
    engine.settle().unwrap();
    let settled = engine.tables().unwrap();
    let read_and_wait = |engine: &Engine| {
        drop(engine.snapshot());
        engine.db.wait_for_compact(&WaitForCompactOptions::default()).unwrap();
        engine.tables().unwrap()
    };
    assert_eq!(read_and_wait(&engine), settled);
    drop(engine);
    let again = Engine::open(folder.path(), Memory::default()).unwrap();
    assert_eq!(read_and_wait(&again), settled);
}
