//! Embeddings, which model made them, and what was before.

use std::collections::BTreeMap;

use super::*;
use crate::{Durability, Memory, Store};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    (folder, store)
}

fn write<T>(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> Result<T>) -> T {
    let mut transaction = store.begin(0).unwrap();
    let done = work(&mut transaction).unwrap();
    transaction.commit(Durability::Buffered, 0).unwrap();
    done
}

fn set(store: &Store, key: &str, component: f32) -> NodeId {
    write(store, |transaction| {
        let node = transaction.put_node("Note", key, &BTreeMap::new())?;
        transaction.put_vector(node, "old", &[component])?;
        Ok(node)
    })
}

fn all(store: &Store) -> Vec<Stored> {
    let mut all = Vec::new();
    let snapshot = store.snapshot(0);
    let visit = &mut |stored| {
        all.push(stored);
        ControlFlow::Continue(())
    };
    snapshot.reader().stored_vectors(None, visit).unwrap();
    all
}

#[test]
fn histories_hold_what_is_and_what_was() {
    let (_folder, store) = store();
    let node = set(&store, "a", 1.0);
    let since = store.snapshot(0).reader().last_commit().unwrap();
    set(&store, "a", 2.0);
    let until = store.snapshot(0).reader().last_commit().unwrap();
    set(&store, "b", 3.0);
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let label = reader.catalog().label("Note").unwrap();
    let mut seen = Vec::new();
    reader.vector_history(label, node, &mut |_, system, v| seen.push((system, v[0]))).unwrap();
    let now = Interval { from: until, to: Interval::MAX };
    assert_eq!(seen, [(now, 2.0), (Interval { from: since, to: until }, 1.0)]);
    let mut count = 0;
    reader.vector_histories(label, &mut |_, _, _| count += 1).unwrap();
    assert_eq!(count, 3);
}

#[test]
fn a_renewal_is_known_until_it_is_finished() {
    let (folder, store) = store();
    set(&store, "a", 1.0);
    set(&store, "a", 2.0);
    let model = |store: &Store| store.snapshot(0).reader().model();
    assert_eq!(model(&store).unwrap().as_deref(), Some("old"));
    let stored = all(&store);
    assert_eq!(stored.len(), 2);
    write(&store, |transaction| {
        transaction.begin_renewal("new")?;
        assert!(transaction.renew(&stored[0], Some(&[0.0, 1.0]))?);
        transaction.renewed_to(&stored[0].mark)
    });
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert!(matches!(model(&store), Err(StorageError::Unfinished(by)) if by == "new"));
    let mut refused = store.begin(0).unwrap();
    let node = stored[0].node;
    for by in ["old", "new"] {
        assert!(matches!(refused.put_vector(node, by, &[1.0]), Err(StorageError::Unfinished(_))));
    }
    drop(refused);
    store.check(&mut |violation| panic!("{violation}"), &mut |_| {}).unwrap();

    let renewal = store.snapshot(0).reader().renewal().unwrap().unwrap();
    assert_eq!(renewal.done.as_ref(), Some(&stored[0].mark));
    let mut left = Vec::new();
    let visit = &mut |stored: Stored| {
        left.push(stored);
        ControlFlow::Break(())
    };
    store.snapshot(0).reader().stored_vectors(renewal.done.as_ref(), visit).unwrap();
    assert_eq!(left, stored[1..]);
    write(&store, |transaction| {
        transaction.begin_renewal("new")?;
        assert_eq!(transaction.reader().renewal()?, Some(renewal));
        assert!(transaction.renew(&left[0], Some(&[1.0, 0.0]))?);
        transaction.finish_renewal()
    });
    assert_eq!(model(&store).unwrap().as_deref(), Some("new"));
    let times = |all: Vec<Stored>| all.into_iter().map(|s| (s.mark, s.system)).collect::<Vec<_>>();
    assert_eq!(times(all(&store)), times(stored));
    store.check(&mut |violation| panic!("{violation}"), &mut |_| {}).unwrap();
}

#[test]
fn what_moved_meanwhile_is_left_alone() {
    let (_folder, store) = store();
    let node = set(&store, "a", 1.0);
    let stored = all(&store);
    write(&store, |transaction| transaction.begin_renewal("new"));
    write(&store, |transaction| transaction.delete_vector(node));
    let [moved] = &all(&store)[..] else { panic!("one is stored") };
    assert!(moved.mark > stored[0].mark);
    write(&store, |transaction| {
        assert!(!transaction.renew(&stored[0], Some(&[9.0]))?);
        assert!(transaction.renew(moved, None)?);
        transaction.finish_renewal()
    });
    assert_eq!(all(&store), []);
}

#[test]
fn all_embeddings_have_as_many_components() {
    let (_folder, store) = store();
    let node = set(&store, "a", 1.0);
    let mut transaction = store.begin(0).unwrap();
    let refused = transaction.put_vector(node, "old", &[1.0, 0.0]).unwrap_err().to_string();
    assert!(
        refused.contains("old gives an embedding of 2 components, and those here have 1"),
        "{refused}"
    );
    drop(transaction);

    // What was taken back says nothing of those that come then.
    let (_folder, store) = self::store();
    let mut transaction = store.begin(0).unwrap();
    let node = transaction.put_node("Note", "a", &BTreeMap::new()).unwrap();
    let failed: Result<()> = transaction.whole(|transaction| {
        transaction.put_vector(node, "old", &[1.0])?;
        Err(StorageError::Stopped)
    });
    failed.unwrap_err();
    transaction.put_vector(node, "old", &[1.0, 0.0]).unwrap();
    transaction.put_vector(node, "old", &[1.0]).unwrap_err();
}
