//! Which state the clauses read: what a transaction has written, what others write meanwhile, what a
//! stream began with, and what is forgotten.

use std::sync::atomic::{AtomicBool, Ordering};

use engraph::{Engraph, Error, StorageError, Value};

use super::first_column;
use crate::{folder, open};

const SEARCHES: [(&str, &str); 5] = [
    ("by words", "SEARCH n:Note FOR 'zebra' BY TEXT TOP 9 RETURN n.key"),
    ("by meaning", "SEARCH n:Note FOR 'zebra' BY VECTOR TOP 1 RETURN n.key"),
    ("by both", "SEARCH n:Note FOR 'zebra' BY HYBRID TOP 1 RETURN n.key"),
    ("generated", "GENERATE k:Concept FOR 'zebra' BEAM 1 RETURN k.key"),
    ("anchored", "ANCHOR e:Concept FOR 'a zebra' RETURN e.key"),
];

const ZEBRA: &str = "REMEMBER (:Note 'zebra' {text: 'a zebra in the zoo'});
                     REMEMBER (:Concept 'zebra')";

fn memory(db: &Engraph) {
    db.execute(
        "DEFINE INDEX notes FOR (n:Note) ON (n.text) FULLTEXT;
         REMEMBER (:Note 'dog' {text: 'a dog on the beach'});
         REMEMBER (:Concept 'dog')",
        (),
    )
    .expect("is understood");
}

#[test]
fn what_a_transaction_wrote_is_found_inside_it_alone() {
    let folder = folder();
    let db = open(folder.path());
    memory(&db);
    let without: Vec<Vec<String>> =
        SEARCHES.iter().map(|(_, text)| first_column(&db, text, ())).collect();
    assert!(without.iter().flatten().all(|key| key != "zebra"), "{without:?}");
    for commits in [false, true] {
        let mut transaction = db.begin().expect("begins");
        transaction.execute(ZEBRA, ()).expect("writes");
        for ((how, text), without) in SEARCHES.iter().zip(&without) {
            let own = transaction.execute(text, ()).expect(how);
            assert_eq!(own[0].rows[0][0], Value::from("zebra"), "{how}");
            assert_eq!(&first_column(&db, text, ()), without, "{how}");
        }
        match commits {
            true => transaction.commit().expect("commits"),
            false => drop(transaction),
        }
        for ((how, text), without) in SEARCHES.iter().zip(&without) {
            let found = first_column(&db, text, ());
            assert_eq!(found[..] == ["zebra"], commits, "{how}: {found:?}");
            assert_eq!(&found == without, !commits, "{how}: {found:?}");
        }
    }
}

#[test]
fn what_is_forgotten_is_never_found_again() {
    let folder = folder();
    let db = open(folder.path());
    memory(&db);
    db.execute(ZEBRA, ()).expect("writes");
    let then = db.query("RETURN now() AS t", ()).expect("tells");
    let then = then.get(0, "t").cloned().expect("a row");
    for (how, text) in SEARCHES {
        assert_eq!(first_column(&db, text, ())[0], "zebra", "{how}");
    }
    db.execute("MATCH (n {key: 'zebra'}) FORGET n", ()).expect("forgets");
    for (how, text) in SEARCHES {
        let found = first_column(&db, text, ());
        assert!(!found.contains(&"zebra".to_owned()), "{how}: {found:?}");
        let past = text.replace(" RETURN", " FOR SYSTEM_TIME AS OF $then RETURN");
        let found = first_column(&db, &past, [("then", then.clone())]);
        assert!(!found.contains(&"zebra".to_owned()), "{how} as of then: {found:?}");
    }
}

#[test]
fn a_stream_of_what_was_found_keeps_its_state() {
    let folder = folder();
    let db = open(folder.path());
    memory(&db);
    let all = |count: u32, rest: &str| -> String {
        let write = |i| format!("REMEMBER (:Note 'n{i:03}' {{{rest}}});");
        format!("BEGIN; {} COMMIT", (0..count).map(write).collect::<String>())
    };
    db.execute(&all(200, "v: 1, text: 'bread'"), ()).expect("writes");
    let mut session = db.session();
    let text = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 200 WHERE n.v = 1 RETURN n.key, n.v";
    let mut rows = session.stream(text, ()).expect("streams");
    rows.next().expect("a row").expect("reads");
    db.execute(&all(100, "v: 2, text: 'ash'"), ()).expect("writes");
    // What somebody reads cannot be forgotten, and the reader goes on undisturbed.
    let forget = "MATCH (n:Note {key: 'n150'}) FORGET n";
    let error = db.execute(forget, ()).expect_err("is read");
    assert!(matches!(error, Error::Storage(StorageError::StillRead)), "{error}");
    let rest: Vec<Vec<Value>> = rows.collect::<Result<_, _>>().expect("reads on");
    assert_eq!(rest.len(), 199);
    // As it was when the stream began.
    let changed: Vec<_> = rest.iter().filter(|row| row[1] != Value::from(1)).collect();
    assert!(changed.is_empty(), "{changed:?}");
    db.execute(forget, ()).expect("nobody reads any more");
    let found = first_column(&db, text, ());
    assert!(!found.contains(&"n150".to_owned()));
}

/// Every commit writes a pair, so a search that sees one of the two has read half a commit.
#[test]
fn searches_beside_a_writer_see_whole_commits() {
    let folder = folder();
    let db = open(folder.path());
    memory(&db);
    let done = AtomicBool::new(false);
    let searching = |text: &str| {
        let mut session = db.session();
        let (mut most, mut is_last) = (0, false);
        while !is_last {
            is_last = done.load(Ordering::Relaxed);
            let answer = session.execute(text, ()).expect(text);
            let Some(Value::List(keys)) = answer[0].get(0, "keys") else { panic!("a list") };
            let keys: Vec<String> = keys.iter().map(Value::to_string).collect();
            for key in &keys {
                let other = match key.strip_prefix("left") {
                    Some(number) => format!("right{number}"),
                    None => key.replace("right", "left"),
                };
                assert!(keys.contains(&other), "{text}: {key} without {other}");
            }
            assert!(keys.len() >= most, "{text}: {} after {most}", keys.len());
            most = keys.len();
        }
        most
    };
    std::thread::scope(|scope| {
        let searches = [
            "SEARCH n:Pair FOR 'bread' BY VECTOR TOP 500 RETURN collect(n.key) AS keys",
            "GENERATE k:Concept FOR 'bread' BEAM 500 WHERE k.key <> 'dog' RETURN collect(k.key) AS keys",
        ];
        let searches = searches.map(|text| scope.spawn(move || searching(text)));
        for i in 0..60 {
            let pair = format!(
                "BEGIN; REMEMBER (:Pair 'left{i}' {{text: 'bread {i}'}}); REMEMBER (:Concept 'left{i}');
                 REMEMBER (:Concept 'right{i}'); REMEMBER (:Pair 'right{i}' {{text: 'bread {i}'}}); COMMIT"
            );
            db.execute(&pair, ()).expect("writes");
        }
        done.store(true, Ordering::Relaxed);
        for search in searches {
            assert_eq!(search.join().expect("sees whole commits"), 120);
        }
    });
}
