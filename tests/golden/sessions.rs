//! Sessions and transactions of a program: what ends them, and what would wait for itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use engraph::import::CsvOptions;
use engraph::memory::{HeardTurn, Pipeline};
use engraph::{
    Durability, Engraph, Error, FixedEmbedder, Limits, Options, StorageError, Value, import,
};

use crate::{folder, open};

#[test]
fn a_script_is_ended_between_its_statements() {
    let folder = folder();
    let db = open(folder.path());
    let mut session = db.session();
    let interrupt = session.interrupt();
    let text = "REMEMBER (:P 'a'); REMEMBER (:P 'b'); REMEMBER (:P 'c')";
    let mut answers = 0;
    let ended = session.execute_each(text, &().into(), &mut |_| {
        answers += 1;
        interrupt.interrupt();
        Ok(())
    });
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    assert_eq!(answers, 1);
    // What was asked before it began is not about it.
    interrupt.interrupt();
    assert_eq!(session.execute("MATCH (p:P) RETURN p", ()).expect("goes on")[0].len(), 1);
    interrupt.interrupt();
    assert_eq!(session.query("MATCH (p:P) RETURN p", ()).expect("goes on").len(), 1);
}

#[test]
fn a_transaction_of_a_program_is_ended_by_the_program() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    for text in ["COMMIT", "ROLLBACK", "BEGIN", "REMEMBER (:P 'a'); ROLLBACK; REMEMBER (:P 'b')"] {
        let error = transaction.execute(text, ()).expect_err(text).to_string();
        assert!(error.contains("the program that began this transaction ends it"), "{error}");
    }
    transaction.query("ROLLBACK", ()).expect_err("is no statement of it");
    drop(transaction);
    assert!(db.query("MATCH (p:P) RETURN p", ()).expect("reads").is_empty());
}

#[test]
fn consolidating_beside_the_own_transaction_is_an_error_whoever_else_consolidates() {
    let folder = folder();
    let db = open(folder.path());
    db.observe("s", &HeardTurn::new("Nora", "I bake bread.").id("D1:1")).expect("observes");
    let transaction = db.begin().expect("begins");
    std::thread::scope(|scope| {
        let (begun, has_begun) = channel();
        let db = &db;
        let other = scope.spawn(move || {
            begun.send(()).expect("heard");
            db.consolidate(None)
        });
        has_begun.recv().expect("begun");
        // By then it waits for the transaction.
        std::thread::sleep(Duration::from_millis(200));
        let own = db.consolidate(None).expect_err("would wait for itself");
        assert!(matches!(own, Error::Storage(StorageError::OwnTransaction)), "{own}");
        drop(transaction);
        assert_eq!(other.join().expect("does not panic").expect("consolidates").len(), 1);
    });
}

#[test]
fn a_pipeline_beside_the_own_transaction_does_not_wait_for_ever() {
    let folder = folder();
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    let db = Arc::new(options.open(folder.path()).expect("opens"));
    let pipeline = Pipeline::start(Arc::clone(&db)).expect("starts");
    pipeline.observe("s", &HeardTurn::new("Nora", "I bake bread.").id("D1:1")).expect("observes");
    let transaction = db.begin().expect("begins");
    pipeline.end("s");
    let error = pipeline.flush().expect_err("would wait for itself");
    assert!(matches!(error, Error::Storage(StorageError::OwnTransaction)), "{error}");
    drop(pipeline);
    drop(transaction);
    db.consolidate(None).expect("whoever comes first");
    assert_eq!(db.query("MATCH (e:Episode) RETURN e", ()).expect("reads").len(), 1);
}

/// Imports a table of so many facts of two nodes of each hundred, forgets a node while it is read, and
/// gives what was stored and refused.
fn imported_beside_forget(db: &Engraph, rows: usize) -> (u64, Vec<String>) {
    let folder = folder();
    let file = folder.path().join("facts.csv");
    let mut text = String::from("head,relation,tail,valid_from\n");
    text.push_str("victim,knows,someone,2020-01-01\nsomeone,knows,victim,2020-01-01\n");
    (0..rows).for_each(|row| text.push_str(&format!("e{},knows,f{row},2020-01-01\n", row % 97)));
    std::fs::write(&file, text).expect("writes");
    let mut forgot = false;
    let progress = &mut |_, _| {
        if !forgot {
            forgot = true;
            db.query("MATCH (n {key: 'victim'}) FORGET n", ()).expect("forgets");
        }
    };
    let report = import::csv(db, &file, &CsvOptions::default(), progress);
    let report = report.expect("imports");
    assert!(forgot);
    let stored = report.stored.iter().find(|(what, _)| *what == "facts").map_or(0, |(_, n)| *n);
    (stored, report.refused.into_iter().map(|refused| refused.reason).collect())
}

#[test]
fn an_import_holds_no_fact_of_a_node_that_was_forgotten_meanwhile() {
    for rows in [300, 12_000] {
        let folder = folder();
        let db = open(folder.path());
        let (stored, refused) = imported_beside_forget(&db, rows);
        assert_eq!(stored, rows as u64);
        let gone = [
            "the head of the fact is not there any more",
            "the tail of the fact is not there any more",
        ];
        assert_eq!(refused, gone);
        let mut violations = Vec::new();
        db.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("checks");
        assert!(violations.is_empty(), "{violations:?}");
        let facts = db.query("MATCH (a)-[f:knows]->(b) RETURN count(f) AS n", ()).expect("reads");
        assert_eq!(facts.get(0, "n"), Some(&Value::Int(rows as i64)));
    }
}

/// A table of so many facts of 97 heads, in a folder.
fn table(folder: &Path, facts: usize) -> PathBuf {
    let file = folder.join("facts.csv");
    let mut text = String::from("head,relation,tail,valid_from\n");
    (0..facts).for_each(|row| text.push_str(&format!("e{},knows,f{row},2020-01-01\n", row % 97)));
    std::fs::write(&file, text).expect("writes");
    file
}

/// A hang, not a speed: all of it would take many times as long as it may.
#[test]
fn changes_heed_the_time_limit() {
    let folder = folder();
    let file = table(folder.path(), 100_000);
    let limits = Limits { timeout: Duration::from_secs(2), ..Limits::default() };
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    let db = options.limits(limits).open(folder.path().join("db")).expect("opens");
    import::csv(&db, &file, &CsvOptions::default(), &mut |_, _| {}).expect("imports");
    let ended = db.query("MATCH ()-[f:knows]->() RETRACT f", ()).expect_err("takes too long");
    assert!(ended.to_string().contains("it took more than 2s"), "{ended}");
    let count = db.query("MATCH ()-[f:knows]->() RETURN count(f) AS n", ()).expect("reads");
    assert_eq!(count.get(0, "n"), Some(&Value::Int(100_000)));
}

#[test]
fn waiting_for_another_transaction_heeds_the_time_limit_and_an_interrupt() {
    let folder = folder();
    let limits = Limits { timeout: Duration::from_millis(200), ..Limits::default() };
    let options = Options::new().limits(limits).embedder(Arc::new(FixedEmbedder));
    let db = Arc::new(options.open(folder.path()).expect("opens"));
    let pipeline = Pipeline::start(Arc::clone(&db)).expect("starts");
    db.observe("s", &HeardTurn::new("Nora", "I live in Rome.")).expect("observes");
    let mut waiting = db.session();
    let interrupt = waiting.interrupt();
    let (begun, has_begun) = channel();
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        let db = &*db;
        scope.spawn(move || {
            let mut other = db.session();
            other.execute("BEGIN; REMEMBER (:P 'a')", ()).expect("begins");
            begun.send(()).expect("is awaited");
            is_done.recv().expect("is told");
            other.execute("COMMIT", ()).expect("commits");
        });
        has_begun.recv().expect("begins");
        let error = db.begin().expect_err("waits too long").to_string();
        assert!(error.contains("others have been writing for more than 200ms"), "{error}");
        let heard = HeardTurn::new("Nora", "Hi");
        assert!(matches!(db.observe("s", &heard), Err(Error::Execute(_))));
        assert!(matches!(pipeline.observe("s", &heard), Err(Error::Execute(_))));
        for text in ["REMEMBER (:P 'b')", "BEGIN"] {
            let error = waiting.execute(text, ()).expect_err("waits too long").to_string();
            assert!(error.contains("others have been writing for more than 200ms"), "{error}");
        }
        for text in ["REMEMBER (:P 'b')", "CONSOLIDATE"] {
            let late = interrupt.clone();
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                late.interrupt();
            });
            let ended = waiting.execute(text, ());
            assert!(matches!(ended, Err(Error::Interrupted)), "{text}: {ended:?}");
        }
        done.send(()).expect("is awaited");
    });
    waiting.execute("REMEMBER (:P 'b')", ()).expect("nobody else writes");
    assert_eq!(db.query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 2);
    assert_eq!(waiting.query("CONSOLIDATE", ()).expect("nobody else writes").len(), 1);
}

#[test]
fn what_is_shown_heeds_the_time_limit() {
    let folder = folder();
    let file = table(folder.path(), 5_000);
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    let db = options.open(folder.path().join("db")).expect("opens");
    import::csv(&db, &file, &CsvOptions::default(), &mut |_, _| {}).expect("imports");
    drop(db);
    let limits = Limits { timeout: Duration::ZERO, ..Limits::default() };
    let options = Options::new().limits(limits).embedder(Arc::new(FixedEmbedder));
    let db = options.open(folder.path().join("db")).expect("opens");
    for text in ["SHOW STATS", "SHOW LABELS"] {
        let ended = db.query(text, ()).expect_err("takes too long").to_string();
        assert!(ended.contains("it took more than 0ns"), "{text}: {ended}");
    }
}

#[test]
fn putting_rows_in_order_heeds_the_time_limit() {
    let folder = folder();
    let limits = Limits { timeout: Duration::from_secs(1), ..Limits::default() };
    let options = Options::new().limits(limits).embedder(Arc::new(FixedEmbedder));
    let db = options.open(folder.path()).expect("opens");
    // Lists of a million numbers that differ nowhere and share nothing, to be compared many times.
    let doubled = "reduce(l = [1], x IN range(1, 20) | [l, l])";
    let text = format!(
        "WITH {doubled} AS a, {doubled} AS b UNWIND range(1, 20000) AS i
         WITH CASE WHEN i % 2 = 0 THEN a ELSE b END AS v, i ORDER BY v RETURN count(*)"
    );
    let ended = db.query(&text, ()).expect_err("takes too long");
    assert!(ended.to_string().contains("it took more than 1s"), "{ended}");
}

#[test]
fn a_message_quotes_no_more_than_its_beginning_and_end() {
    let folder = folder();
    let db = open(folder.path());
    let text = "WITH reduce(s = 'é', x IN range(1, 16) | s + s) AS s RETURN datetime(s)";
    let told = db.query(text, ()).expect_err("is no instant").to_string();
    assert!(told.len() < 3_000 && told.contains("é ... é"), "{told}");
}

#[test]
fn a_turn_without_a_time_has_the_clock_of_the_one_before() {
    let (home, files) = (folder(), folder());
    let db = open(home.path());
    let file = files.path().join("turns.jsonl");
    let lines = [
        r#"{"id":"a","speaker":"Nora","text":"Hi!","at":"2024-03-02T23:30:00-05:00"}"#,
        r#"{"id":"b","speaker":"Nora","text":"I moved."}"#,
        r#"{"id":"c","speaker":"Otto","text":"So did I.","utc_offset":"+09:00"}"#,
    ];
    std::fs::write(&file, lines.join("\n")).expect("writes");
    import::turns(&db, &file, &mut |_, _| ()).expect("imports");
    let told = "MATCH (t:Turn) RETURN t.key AS k, t.utc_offset AS o ORDER BY t.position";
    assert_eq!(
        db.query(told, ()).expect("reads").to_json(),
        r#"[{"k":"a","o":"-05:00"},{"k":"b","o":"-05:00"},{"k":"c","o":"+09:00"}]"#
    );
}
