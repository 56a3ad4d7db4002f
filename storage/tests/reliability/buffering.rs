//! Row B1: a process that buffers turns, makes memory of some and forgets others is killed. Every
//! turn of which it said that it is held is there once: in the buffer, in an episode, or among the
//! forgotten, whose words are in no log.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use engraph_storage::graph::{SystemScope, Value};
use engraph_storage::{Buffered, BufferedTurn, Durability, Reader, Store, Transaction};

use crate::child::{self, Child, PATIENCE};
use crate::folder;
use crate::forgetting::mark;
use crate::kill::misbehaved;
use crate::lane::{Row, count, scratch};
use crate::rng::Rng;

const SESSION: &str = "talk";
/// Cycles on one folder.
const CYCLES_OF_FOLDER: u64 = 8;
/// The longest that a child works, in milliseconds.
const WORK_MS_MAX: u64 = 600;
/// Each so many turns an episode is made, of all turns but the last ones.
const EPISODE_EVERY: u64 = 7;
const EPISODE_LEAVES: usize = 2;
/// Each so many turns the oldest one in the buffer is forgotten.
const FORGET_EVERY: u64 = 30;

#[test]
fn killed_while_it_buffers() {
    let mut row = Row::begin("B1");
    let mut rng = Rng::new(row.seed);
    let (cycles, mut failures) = (count(24, 1_000), Vec::new());
    let (mut held, mut episodes, mut forgotten) = (0, 0, 0);
    let (mut folder, mut next) = (scratch(), 0);
    for cycle in 0..cycles {
        if cycle % CYCLES_OF_FOLDER == 0 {
            (folder, next) = (scratch(), 0);
        }
        let path = folder.path().join("db");
        let settings = [("ENGRAPH_CHILD_FOLDER", path.display().to_string())];
        let mut child = Child::start("buffer", &settings);
        child.wait_for(&["opening"], PATIENCE);
        std::thread::sleep(Duration::from_millis(rng.below(WORK_MS_MAX)));
        let ended = child.kill();
        let mut wrong: Vec<String> = misbehaved(&ended).into_iter().collect();
        held += ended.count("held");
        episodes += ended.count("episode");
        forgotten += ended.count("forgot");
        let acked = ended.last("held").map_or(next, |last| last + 1);
        match audit(&path, &mut wrong) {
            found if found < acked => wrong.push(format!("{found} turns, and {acked} were held")),
            found if found > acked + 1 => wrong.push(format!("{found} turns of {acked}")),
            found => next = found,
        }
        failures.extend(wrong.into_iter().map(|what| format!("cycle {cycle}: {what}")));
    }
    row.figure("cycles", cycles).figure("held", held);
    row.figure("episodes", episodes).figure("forgotten", forgotten);
    if held == 0 || episodes == 0 || forgotten == 0 {
        failures.push("too little was done in time".to_owned());
    }
    row.end(&failures);
}

/// How many turns there have been; tells what is wrong with them.
fn audit(path: &Path, wrong: &mut Vec<String>) -> u64 {
    // It may have been killed before it made anything.
    let store = match folder::open(path) {
        Ok(store) => store,
        Err(error) => {
            wrong.push(error.to_string());
            return 0;
        }
    };
    let checked = store.check(&mut |violation| wrong.push(violation.to_string()), &mut |_| {});
    checked.expect("checks");
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let turns = next(&reader);
    let buffered: BTreeMap<u64, BufferedTurn> =
        reader.buffered(SESSION).expect("reads").into_iter().collect();
    let (remembered, forgotten) = (numbers(&reader, "Episode"), numbers(&reader, "Forgotten"));
    for number in 0..turns {
        let held = buffered.get(&number);
        if held.is_some_and(|held| BufferedTurn { observed: 0, ..held.clone() } != turn(number)) {
            wrong.push(format!("turn {number} is {held:?}"));
        }
        let places = remembered.iter().chain(&forgotten).filter(|other| **other == number).count();
        if places + usize::from(held.is_some()) != 1 {
            wrong.push(format!("turn {number} is not at one place: {held:?}, {places} others"));
        }
    }
    drop(snapshot);
    drop(store);
    for entry in std::fs::read_dir(path).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Tables are compressed; a unit test looks into tables that are not.
        if name.ends_with(".log") || name.starts_with("MANIFEST") {
            let bytes = std::fs::read(entry.path()).expect("reads");
            for mark in forgotten.iter().map(|number| mark(*number)) {
                if bytes.windows(mark.len()).any(|window| window == mark.as_bytes()) {
                    wrong.push(format!("{mark} is in {name}"));
                }
            }
        }
    }
    turns
}

/// The position of the next turn.
fn next(reader: &Reader<'_>) -> u64 {
    reader.session_buffer(SESSION).expect("reads").map_or(0, |head| head.next)
}

/// The numbers of turns that the nodes of a label hold.
fn numbers(reader: &Reader<'_>, label: &str) -> Vec<u64> {
    let names = (reader.catalog().label(label), reader.catalog().property("turns"));
    let (Some(label), Some(property)) = names else { return Vec::new() };
    let mut nodes = BTreeSet::new();
    let mut visit = |_: &str, node| {
        nodes.insert(node);
        ControlFlow::Continue(())
    };
    reader.nodes_of_label(label, None, &mut visit).expect("reads");
    let mut numbers = Vec::new();
    for node in nodes {
        let record = reader.node(node, SystemScope::Current).expect("reads").expect("is there");
        let Some(Value::List(items)) = record.properties.get(&property) else { continue };
        numbers.extend(items.iter().filter_map(|item| match item {
            Value::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }));
    }
    numbers
}

fn turn(number: u64) -> BufferedTurn {
    BufferedTurn {
        key: format!("D{number}"),
        speaker: Some("Nora".to_owned()),
        at: Some(number as i64),
        text: mark(number),
        properties: BTreeMap::from([("number".to_owned(), Value::Int(number as i64))]),
        observed: 0,
    }
}

/// The process that is killed.
pub(crate) fn job() {
    child::say("opening");
    let store = folder::open(&child::folder()).expect("opens");
    loop {
        let number = next(&store.snapshot(0).reader());
        let buffered = commit(&store, |transaction| {
            transaction.buffer_turn(SESSION, turn(number), 3).expect("is buffered")
        });
        assert_eq!(buffered, Buffered::New { position: number });
        child::say(&format!("held {number}"));
        if number % EPISODE_EVERY == EPISODE_EVERY - 1 {
            commit(&store, make_episode);
            child::say(&format!("episode {number}"));
        }
        if number % FORGET_EVERY == FORGET_EVERY - 1 {
            commit(&store, forget_oldest);
            child::say(&format!("forgot {number}"));
        }
    }
}

fn commit<T>(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
    let mut transaction = store.begin(0).expect("begins");
    let done = work(&mut transaction);
    transaction.commit(Durability::Sync, 0).expect("commits");
    done
}

/// Takes turns out of the buffer and makes a node that holds them, at once.
fn make_episode(transaction: &mut Transaction<'_>) {
    let turns = transaction.reader().buffered(SESSION).expect("reads");
    let positions: Vec<u64> = turns.iter().map(|(position, _)| *position).collect();
    let positions = &positions[..positions.len().saturating_sub(EPISODE_LEAVES)];
    transaction.take_buffered(SESSION, positions).expect("takes");
    put(transaction, "Episode", positions);
}

/// Forgets the oldest turn, and says so in a node.
fn forget_oldest(transaction: &mut Transaction<'_>) {
    let turns = transaction.reader().buffered(SESSION).expect("reads");
    if let [(oldest, _), _, ..] = turns[..] {
        assert_eq!(transaction.forget_buffered(SESSION, Some(oldest)).expect("forgets"), 1);
        put(transaction, "Forgotten", &[oldest]);
    }
}

fn put(transaction: &mut Transaction<'_>, label: &str, numbers: &[u64]) {
    let items = numbers.iter().map(|number| Value::Int(*number as i64)).collect();
    let turns = BTreeMap::from([("turns".to_owned(), Value::List(items))]);
    let key = numbers.first().map_or_else(|| "none".to_owned(), u64::to_string);
    transaction.put_node(label, &key, &turns).expect("puts");
}
