//! The buffer holds what came, in its order, and nothing else of the database changes.

use std::path::Path;

use proptest::prelude::*;

use std::collections::BTreeMap;

use super::*;
use crate::commit::{COMMIT_KEY, COUNTERS_KEY, Durability};
use crate::engine::Memory;
use crate::graph::NodeId;
use crate::graph::{Time, Value};
use crate::meter::Meter;
use crate::store::Store;

fn open(folder: &Path) -> Store {
    Store::open(folder, Memory::default()).expect("opens")
}

fn commit<T>(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> Result<T>) -> T {
    let mut transaction = store.begin(0).expect("begins");
    let done = work(&mut transaction).expect("works");
    transaction.commit(Durability::Buffered, 0).expect("commits");
    done
}

fn turn(key: &str, at: Option<Time>) -> BufferedTurn {
    BufferedTurn {
        key: key.to_owned(),
        speaker: Some("Nora".to_owned()),
        at,
        text: format!("said in {key}"),
        properties: BTreeMap::from([("image".to_owned(), Value::String(format!("{key}.png")))]),
        observed: 0,
    }
}

fn buffer(store: &Store, session: &str, key: &str, at: Option<Time>) -> Buffered {
    commit(store, |transaction| transaction.buffer_turn(session, turn(key, at), 5))
}

/// Positions and keys of a session's turns.
fn held(reader: Reader<'_>, session: &str) -> Vec<(u64, String)> {
    let turns = reader.buffered(session).expect("reads");
    turns.into_iter().map(|(position, turn)| (position, turn.key)).collect()
}

fn owned(held: &[(u64, &str)]) -> Vec<(u64, String)> {
    held.iter().map(|(position, key)| (*position, (*key).to_owned())).collect()
}

fn violations(store: &Store) -> Vec<String> {
    let mut found = Vec::new();
    store.check(&mut |violation| found.push(violation.to_string()), &mut |_| {}).expect("checks");
    found
}

#[test]
fn turns_stand_as_they_came_and_are_held_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    assert_eq!(store.snapshot(0).reader().session_buffer("s").expect("reads"), None);
    assert_eq!(buffer(&store, "s", "a", Some(20)), Buffered::New { position: 0 });
    let before = store.snapshot(0);
    let first = before.reader().last_commit().expect("reads");
    assert_eq!(buffer(&store, "s", "late", Some(10)), Buffered::New { position: 1 });
    assert_eq!(buffer(&store, "other", "b", None), Buffered::New { position: 0 });
    // In the same session and in another one; what is told another time changes nothing.
    assert_eq!(buffer(&store, "s", "a", Some(99)), Buffered::HeldAlready);
    assert_eq!(buffer(&store, "other", "a", Some(99)), Buffered::HeldAlready);

    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let last = reader.last_commit().expect("reads");
    assert_eq!(held(reader, "s"), owned(&[(0, "a"), (1, "late")]));
    assert_eq!(reader.find_buffered("late").expect("reads"), Some(("s".to_owned(), 1)));
    assert_eq!(reader.find_buffered("c").expect("reads"), None);
    let turns = reader.buffered("s").expect("reads");
    assert_eq!(turns[0].1, BufferedTurn { observed: first, ..turn("a", Some(20)) });
    assert!(turns[1].1.observed > first);
    let head = SessionBuffer {
        next: 2,
        turns: 2,
        tokens: 10,
        first_observed: Some(first),
        last_observed: Some(turns[1].1.observed),
        last_at: Some(20),
    };
    assert_eq!(reader.session_buffer("s").expect("reads"), Some(head));
    let sessions = reader.buffered_sessions().expect("reads");
    assert_eq!(sessions.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["other", "s"]);
    assert_eq!(sessions[1].1, head);
    assert_eq!(sessions[0].1.last_observed, Some(last), "nothing was committed behind it");
    // Whoever began before does not see what came since.
    assert_eq!(held(before.reader(), "s"), owned(&[(0, "a")]));
    assert_eq!(before.reader().find_buffered("late").expect("reads"), None);
    assert_eq!(violations(&store), [""; 0]);
}

#[test]
fn a_transaction_reads_what_it_buffered_and_leaves_no_trace_if_it_is_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    buffer(&store, "s", "a", None);
    let mut transaction = store.begin(0).expect("begins");
    for key in ["b", "c"] {
        transaction.buffer_turn("s", turn(key, None), 1).expect("is buffered");
    }
    let again = transaction.buffer_turn("s", turn("b", None), 1).expect("is known");
    assert_eq!(again, Buffered::HeldAlready);
    transaction.take_buffered("s", &[0, 1]).expect("takes");
    let failed: Result<()> = transaction.whole(|transaction| {
        transaction.buffer_turn("s", turn("d", None), 1)?;
        transaction.take_buffered("s", &[0]).map(drop)
    });
    assert!(matches!(failed, Err(StorageError::Invalid(_))), "0 is taken already");
    assert_eq!(held(transaction.reader(), "s"), owned(&[(2, "c")]));
    let head = transaction.reader().session_buffer("s").expect("reads").expect("is there");
    assert_eq!((head.next, head.turns, head.tokens), (3, 1, 1));
    assert_eq!(transaction.reader().find_buffered("b").expect("reads"), None);
    assert_eq!(held(transaction.reader().committed(), "s"), owned(&[(0, "a")]));
    drop(transaction);
    assert_eq!(held(store.snapshot(0).reader(), "s"), owned(&[(0, "a")]));
    assert_eq!(violations(&store), [""; 0]);
}

#[test]
fn turns_are_read_from_a_position_until_it_is_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    commit(&store, |transaction| {
        for number in 0..300 {
            transaction.buffer_turn("s", turn(&number.to_string(), None), 1)?;
            transaction.buffer_turn("s\0", turn(&format!("other {number}"), None), 1)?;
        }
        Ok(())
    });
    let snapshot = store.snapshot(0);
    let mut read = Vec::new();
    let meter = Meter::new();
    let reader = snapshot.reader().metered(&meter);
    reader
        .buffered_from("s", 254, &mut |position, turn| {
            assert_eq!(turn.key, position.to_string());
            read.push(position);
            if read.len() < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .expect("reads");
    assert_eq!(read, [254, 255, 256, 257]);
    assert_eq!((meter.counts().seeks, meter.counts().keys), (1, 4), "no more was read");
    assert_eq!(held(reader, "s").len(), 300);
}

#[test]
fn appending_costs_the_same_however_many_turns_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let mut next = 0;
    for many in [1, 10, 400] {
        commit(&store, |transaction| {
            for _ in 0..many {
                transaction.buffer_turn("s", turn(&next.to_string(), None), 1)?;
                next += 1;
            }
            Ok(())
        });
        let mut transaction = store.begin(0).expect("begins");
        transaction.buffer_turn("s", turn("one more", None), 1).expect("is buffered");
        assert_eq!(transaction.overlay.iter().count(), 3, "writes beside {next} turns");
        drop(transaction);
        let (snapshot, meter) = (store.snapshot(0), Meter::new());
        let reader = snapshot.reader().metered(&meter);
        reader.session_buffer("s").expect("reads");
        reader.find_buffered("one more").expect("reads");
        assert_eq!(meter.counts().seeks, 2, "what appending reads, beside {next} turns");
        assert_eq!(meter.counts().keys, 1);
    }
}

/// Every key and value of every family but the buffer.
fn outside(store: &Store) -> BTreeMap<(Family, Vec<u8>), Vec<u8>> {
    let snapshot = store.snapshot(0);
    let mut found = BTreeMap::new();
    for family in Family::ALL.into_iter().filter(|family| *family != Family::Buffer) {
        let scanned = snapshot.view().scan(family, &[], None, &mut |key, value| {
            found.insert((family, key.to_vec()), value.to_vec());
            Ok(ControlFlow::Continue(()))
        });
        scanned.expect("scans");
    }
    found
}

#[test]
fn buffering_changes_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    commit(&store, |transaction| {
        transaction.define_text_index("words", "Turn", &[("text", 1.0)])?;
        transaction.define_index("images", "Turn", "image")?;
        let text = Value::String("said before".to_owned());
        transaction.put_node("Turn", "D0", &BTreeMap::from([("text".to_owned(), text)]))
    });
    let before = outside(&store);
    let catalog = store.snapshot(0).reader().catalog().properties().count();
    for number in 0..40 {
        // A key that is that of a node as well is no matter to the buffer.
        buffer(&store, &format!("s{}", number % 3), &format!("D{number}"), Some(number));
    }
    let after = outside(&store);
    assert_eq!(store.snapshot(0).reader().catalog().properties().count(), catalog);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let changed: Vec<_> = before.iter().filter(|(key, value)| after[*key] != **value).collect();
    let changed: Vec<_> = changed.into_iter().map(|((family, key), _)| (*family, &**key)).collect();
    // As by every commit; and of the counters the clock alone.
    assert_eq!(changed, [(Family::Meta, COMMIT_KEY), (Family::Meta, COUNTERS_KEY)]);
    let counters = |state: &BTreeMap<(Family, Vec<u8>), Vec<u8>>| {
        state[&(Family::Meta, COUNTERS_KEY.to_vec())][..16].to_vec()
    };
    assert_eq!(counters(&before), counters(&after));
    assert_eq!(store.changes().since(0).map(|changed| changed.len()), Some(1), "the node before");
    assert_eq!(violations(&store), [""; 0]);
}

#[test]
fn what_is_taken_is_gone_and_positions_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for (key, at) in [("a", 30), ("b", 20), ("c", 10), ("d", 15)] {
        buffer(&store, "s", key, Some(at));
    }
    let head = |store: &Store| {
        store.snapshot(0).reader().session_buffer("s").expect("reads").expect("is there")
    };
    let last_observed = head(&store).last_observed;
    // What makes memory of them is in the same commit.
    let (taken, node) = commit(&store, |transaction| {
        let taken = transaction.take_buffered("s", &[2, 0, 2])?;
        Ok((taken, transaction.put_node("Episode", "e", &BTreeMap::new())?))
    });
    let keys: Vec<&str> = taken.iter().map(|turn| &*turn.key).collect();
    assert_eq!((keys, node), (vec!["a", "c"], NodeId(0)));
    let snapshot = store.snapshot(0);
    assert_eq!(held(snapshot.reader(), "s"), owned(&[(1, "b"), (3, "d")]));
    let second = snapshot.reader().buffered("s").expect("reads")[0].1.observed;
    drop(snapshot);
    let now = head(&store);
    assert_eq!((now.next, now.turns, now.tokens, now.last_at), (4, 2, 10, Some(30)));
    assert_eq!((now.first_observed, now.last_observed), (Some(second), last_observed));

    let mut transaction = store.begin(0).expect("begins");
    for stale in [&[0][..], &[1, 2], &[4]] {
        let error = transaction.take_buffered("s", stale).expect_err("is not there");
        assert!(error.to_string().contains("may have been taken"), "{error}");
    }
    transaction.take_buffered("nobody", &[0]).expect_err("is not there");
    assert_eq!(transaction.take_buffered("s", &[]).expect("is nothing"), []);
    assert!(transaction.overlay.is_empty(), "an error takes nothing");
    drop(transaction);

    commit(&store, |transaction| transaction.take_buffered("s", &[1, 3]));
    let drained = head(&store);
    assert_eq!((drained.next, drained.turns, drained.tokens), (4, 0, 0));
    assert_eq!((drained.first_observed, drained.last_at), (None, Some(30)));
    assert_eq!(store.snapshot(0).reader().buffered_sessions().expect("reads"), []);
    assert_eq!(violations(&store), [""; 0]);
    assert_eq!(buffer(&store, "s", "a", None), Buffered::New { position: 4 });
    assert_eq!(violations(&store), [""; 0]);
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let mut transaction = store.begin(0).expect("begins");
    let long = "x".repeat(KEY_BYTES_MAX + 1);
    let with = |name: &str, value: Value| BufferedTurn {
        properties: BTreeMap::from([(name.to_owned(), value)]),
        ..turn("a", None)
    };
    let huge = BufferedTurn { text: "x".repeat(record::RECORD_BYTES_MAX), ..turn("a", None) };
    for (session, turn, tokens, reason) in [
        ("", turn("a", None), 1, "the name of a session is empty"),
        (&*long, turn("a", None), 1, "the name of a session has 4097 bytes"),
        ("s", turn("", None), 1, "the key of a turn is empty"),
        ("s", turn(&long, None), 1, "the key of a turn has 4097 bytes"),
        ("s", turn("a", Some(Interval::MAX)), 1, "the time of the turn 'a' is open"),
        ("s", with("n", Value::Float(f64::NAN)), 1, "property n is not a finite number"),
        ("s", huge, 1, "the record has"),
    ] {
        let error = transaction.buffer_turn(session, turn, tokens).expect_err(reason);
        assert!(matches!(error, StorageError::Invalid(_)), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert!(transaction.overlay.is_empty());
    transaction.buffer_turn("s", turn("a", None), u64::MAX).expect("is buffered");
    let error = transaction.buffer_turn("s", turn("b", None), 1).expect_err("are too many");
    assert!(error.to_string().contains("too many tokens"), "{error}");
    assert_eq!(transaction.overlay.iter().count(), 3);
}

/// The files of the folder that have these bytes.
fn files_with(folder: &Path, mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        // A flush that a write began may delete a file at any moment.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        if memchr::memmem::find(&bytes, mark.as_bytes()).is_some() {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn forgotten_turns_are_in_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let marks =
        ["mark-session", "mark-key", "mark-speaker", "mark-text", "mark-name", "mark-value"];
    let marked = BufferedTurn {
        key: "the mark-key itself".to_owned(),
        speaker: Some("mark-speaker".to_owned()),
        at: Some(50),
        text: "a mark-text".to_owned(),
        properties: BTreeMap::from([(marks[4].to_owned(), Value::String(marks[5].to_owned()))]),
        observed: 0,
    };
    buffer(&store, "mark-session", "first", Some(10));
    commit(&store, |transaction| transaction.buffer_turn("mark-session", marked.clone(), 7));
    store.engine.flush().expect("flushes");
    buffer(&store, "mark-session", "last", Some(40));
    buffer(&store, "kept", "kept", None);
    for mark in marks {
        assert!(!files_with(folder.path(), mark).is_empty(), "the search finds {mark}");
    }
    assert_eq!(commit(&store, |t| t.forget_buffered("mark-session", Some(7))), 0);
    assert_eq!(commit(&store, |t| t.forget_buffered("nobody", None)), 0);
    assert_eq!(commit(&store, |t| t.forget_buffered("mark-session", Some(1))), 1);
    for mark in &marks[1..] {
        assert_eq!(files_with(folder.path(), mark), [""; 0], "{mark}");
    }
    let snapshot = store.snapshot(0);
    assert_eq!(held(snapshot.reader(), "mark-session"), owned(&[(0, "first"), (2, "last")]));
    let head = snapshot.reader().session_buffer("mark-session").expect("reads").expect("is there");
    assert_eq!((head.next, head.turns, head.tokens, head.last_at), (3, 2, 10, Some(40)));
    drop(snapshot);
    assert_eq!(violations(&store), [""; 0]);

    // What was taken is forgotten with the rest: the session's name goes too.
    commit(&store, |transaction| transaction.take_buffered("mark-session", &[2]));
    assert_eq!(commit(&store, |t| t.forget_buffered("mark-session", None)), 1);
    assert_eq!(files_with(folder.path(), "mark-session"), [""; 0]);
    let snapshot = store.snapshot(0);
    assert_eq!(snapshot.reader().session_buffer("mark-session").expect("reads"), None);
    assert_eq!(held(snapshot.reader(), "kept"), owned(&[(0, "kept")]));
    drop(snapshot);
    assert_eq!(violations(&store), [""; 0]);
    assert_eq!(buffer(&store, "mark-session", "first", None), Buffered::New { position: 0 });
}

#[test]
fn forgetting_a_node_leaves_the_buffer_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    buffer(&store, "s", "D1", None);
    let node = commit(&store, |transaction| transaction.put_node("Turn", "D1", &BTreeMap::new()));
    let before = store.snapshot(0).reader().buffered("s").expect("reads");
    commit(&store, |transaction| transaction.forget(&[node], &[]));
    assert_eq!(store.snapshot(0).reader().buffered("s").expect("reads"), before);
    assert_eq!(violations(&store), [""; 0]);
}

#[test]
fn a_backup_has_the_buffer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("db"));
    buffer(&store, "s", "a", Some(1));
    let path = folder.path().join("backup");
    store.backup(&path, &mut |_| {}).expect("copies");
    let copy = open(&path);
    let turns = |store: &Store| store.snapshot(0).reader().buffered("s").expect("reads");
    assert_eq!(turns(&copy), turns(&store));
    assert_eq!(buffer(&copy, "s", "a", None), Buffered::HeldAlready);
}

/// Something that is done to the buffer; keys, sessions and positions are small numbers.
#[derive(Clone, Debug)]
enum Act {
    Buffer { session: u64, key: u64, tokens: u64 },
    Take { session: u64, positions: Vec<u64> },
    Forget { session: u64, position: Option<u64> },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..3u64, 0..20u64, 0..9u64)
            .prop_map(|(session, key, tokens)| Act::Buffer { session, key, tokens }),
        2 => (0..3u64, prop::collection::vec(0..6u64, 0..3))
            .prop_map(|(session, positions)| Act::Take { session, positions }),
        1 => (0..3u64, prop::option::of(0..6u64))
            .prop_map(|(session, position)| Act::Forget { session, position }),
    ]
}

/// The buffer as plain maps: by session, the next position and the turns' keys and tokens.
type Naive = BTreeMap<u64, (u64, BTreeMap<u64, (u64, u64)>)>;

/// Does the same to both, and compares what they say.
fn both(naive: &mut Naive, transaction: &mut Transaction<'_>, act: &Act) {
    match act {
        Act::Buffer { session, key, tokens } => {
            let held = naive.values().any(|(_, turns)| turns.values().any(|(k, _)| k == key));
            let turn = turn(&format!("k{key}"), Some(*key as Time));
            let name = format!("s{session}");
            let said = transaction.buffer_turn(&name, turn, *tokens).expect("is buffered");
            if held {
                assert_eq!(said, Buffered::HeldAlready);
                return;
            }
            let (next, turns) = naive.entry(*session).or_default();
            assert_eq!(said, Buffered::New { position: *next });
            turns.insert(*next, (*key, *tokens));
            *next += 1;
        }
        Act::Take { session, positions } => {
            let taken = transaction.take_buffered(&format!("s{session}"), positions);
            let turns = naive.get_mut(session).map(|(_, turns)| turns);
            let there = |position: &u64| turns.as_ref().is_some_and(|t| t.contains_key(position));
            assert_eq!(taken.is_ok(), positions.iter().all(there));
            if let (Ok(_), Some(turns)) = (taken, turns) {
                turns.retain(|position, _| !positions.contains(position));
            }
        }
        Act::Forget { session, position } => {
            let name = format!("s{session}");
            let forgotten = transaction.forget_buffered(&name, *position).expect("forgets");
            let Some((_, turns)) = naive.get_mut(session) else {
                assert_eq!(forgotten, 0);
                return;
            };
            let before = turns.len();
            turns.retain(|at, _| position.is_some_and(|position| position != *at));
            assert_eq!(forgotten, (before - turns.len()) as u64);
            if position.is_none() {
                naive.remove(session);
            }
            // The files are the matter of another test.
            transaction.forgotten = false;
        }
    }
}

fn compare(naive: &Naive, reader: Reader<'_>) {
    for session in 0..3 {
        let name = format!("s{session}");
        let head = reader.session_buffer(&name).expect("reads");
        let expected = naive.get(&session);
        assert_eq!(head.map(|head| head.next), expected.map(|(next, _)| *next));
        let Some((_, turns)) = expected else { continue };
        let found: Vec<_> = held(reader, &name);
        assert!(found.iter().map(|(at, _)| at).eq(turns.keys()), "{found:?}");
        for (position, key) in found {
            assert_eq!(key, format!("k{}", turns[&position].0));
            let place = reader.find_buffered(&key).expect("reads");
            assert_eq!(place, Some((name.clone(), position)));
        }
        let head = head.expect("is there");
        let tokens: u64 = turns.values().map(|(_, tokens)| tokens).sum();
        assert_eq!((head.turns, head.tokens), (turns.len() as u64, tokens));
    }
    let waiting = naive.iter().filter(|(_, (_, turns))| !turns.is_empty());
    let sessions = reader.buffered_sessions().expect("reads");
    assert!(sessions.into_iter().map(|(name, _)| name).eq(waiting.map(|(s, _)| format!("s{s}"))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn it_is_like_plain_maps(
        transactions in prop::collection::vec((prop::collection::vec(act(), 0..8), any::<bool>()), 1..10)
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let mut naive = Naive::new();
        for (acts, commits) in transactions {
            let (mut transaction, mut next) = (store.begin(0).expect("begins"), naive.clone());
            for act in acts {
                both(&mut next, &mut transaction, &act);
                compare(&next, transaction.reader());
            }
            if commits {
                transaction.commit(Durability::Buffered, 0).expect("commits");
                naive = next;
            }
            compare(&naive, store.snapshot(0).reader());
            prop_assert_eq!(violations(&store), [""; 0]);
        }
    }
}
