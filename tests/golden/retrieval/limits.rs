//! Numbers that are too large are refused, and a long statement ends when its time is up or somebody
//! ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engraph::{Durability, Engraph, Error, FixedEmbedder, Limits, Options, Params};

use super::{first_column, refused};
use crate::{folder, open};

#[test]
fn numbers_that_are_too_large_are_refused() {
    let folder = folder();
    let db = open(folder.path());
    db.execute(
        "REMEMBER (:Concept 'a')-[r]->(:Concept 'b') VALID FROM null;
         REMEMBER (:Note 'n' {text: 'bread'})",
        (),
    )
    .expect("writes");
    for (text, says, most) in [
        ("SEARCH n:Note FOR 'x' BY VECTOR TOP $n", "TOP takes a number from 1 to 10000", 10_000),
        ("MATCH (n:Note) SEARCH n FOR 'x' BY VECTOR TOP $n", "TOP takes a number from 1", 10_000),
        ("GENERATE k:Concept FOR 'x' BEAM $n", "BEAM takes a number from 1 to 10000", 10_000),
        ("ANCHOR e FOR 'a' TOP $n", "TOP takes a number from 1 to 10000", 10_000),
        ("MATCH (n:Note) RERANK n FOR 'x' TOP $n", "TOP takes a number from 1 to 10000", 10_000),
        ("MATCH (n:Note) REPRESENT r FROM n COVERAGE 1 BUDGET $n", "BUDGET takes a number", 10_000),
        ("MATCH (a:Concept) ACTIVATE c FROM a VIA r TOP $n", "TOP takes a number from", 10_000),
        ("MATCH (a:Concept) ACTIVATE c FROM a VIA r SAMPLE $n SEED 1", "SAMPLE takes a", 10_000),
        ("MATCH (a:Concept) ACTIVATE c FROM a VIA r HOPS $n TOP 1", "HOPS takes a number up", 64),
        (
            "MATCH BEAM $n p = (a:Concept)-[f:r]->{1,2}(x) SCORE BY confidence(p)",
            "BEAM takes a number from 1 to 10000",
            10_000,
        ),
        (
            "MATCH BEAM 1 p = (a:Concept)-[f:r]->{1,2}(x) EXPAND $n SCORE BY confidence(p)",
            "EXPAND takes a number from 1 to 10000",
            10_000,
        ),
    ] {
        let with = |n: i64| Params::new().with("n", n);
        db.query(text, with(most)).expect(text);
        for n in [most + 1, i64::MAX] {
            let error = refused(&db, text, with(n));
            assert!(error.contains(says), "{text} with {n}: {error}");
        }
        let error = refused(&db, text, with(-1));
        assert!(error.contains("expected a whole number that is not negative"), "{text}: {error}");
    }
    let deep = |hops: &str| {
        format!("MATCH BEAM 1 p = (a:Concept)-[f:r]->{hops}(x) SCORE BY confidence(p) RETURN x.key")
    };
    db.query(&deep("{1,64}"), ()).expect("is deep enough");
    for hops in ["{1,65}", "+", "{1,}", "{1,4294967295}"] {
        let error = refused(&db, &deep(hops), ());
        assert!(error.contains("a beam goes at most 64 hops deep"), "{hops}: {error}");
    }
    // A budget is of no such kind.
    let packed = "MATCH (n:Note) PACK n BUDGET $n TOKENS RETURN text";
    assert_eq!(first_column(&db, packed, Params::new().with("n", i64::MAX)), ["bread"]);
}

#[test]
fn the_limit_of_candidates_is_that_of_the_caller() {
    let folder = folder();
    let limits = Limits { candidates_max: 2, ..Limits::default() };
    let options = Options::new().limits(limits).embedder(Arc::new(FixedEmbedder));
    let db = options.durability(Durability::Buffered).open(folder.path()).expect("opens");
    for i in 0..4 {
        let text =
            format!("REMEMBER (:Note 'n{i}' {{text: 'bread {i}'}}); REMEMBER (:Concept 'c{i}')");
        db.execute(&text, ()).expect("writes");
    }
    let search = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 2 RETURN n.key";
    assert_eq!(first_column(&db, search, ()).len(), 2);
    assert!(refused(&db, &search.replace("TOP 2", "TOP 3"), ()).contains("from 1 to 2"));
    let generate = "GENERATE k:Concept FOR 'bread' BEAM 2 RETURN k.key";
    assert_eq!(first_column(&db, generate, ()).len(), 2);
    assert!(refused(&db, &generate.replace("BEAM 2", "BEAM 3"), ()).contains("from 1 to 2"));
}

/// Thirty nodes that all lead to each other: more paths than anybody can wait for.
fn tangle(limits: Limits) -> (tempfile::TempDir, Engraph) {
    let folder = folder();
    let options = Options::new().limits(limits).embedder(Arc::new(FixedEmbedder));
    let db = options.durability(Durability::Buffered).open(folder.path()).expect("opens");
    let mut transaction = db.begin().expect("begins");
    for i in 0..30 {
        for j in (0..30).filter(|j| *j != i) {
            let text = format!("REMEMBER (:N 'n{i}')-[r]->(:N 'n{j}') VALID FROM null");
            transaction.execute(&text, ()).expect("writes");
        }
    }
    transaction.commit().expect("commits");
    (folder, db)
}

#[test]
fn the_ways_of_the_cheapest_path_are_counted() {
    let folder = folder();
    let options = |memory_max| Options::new().limits(Limits { memory_max, ..Limits::default() });
    let db = options(8 << 20).durability(Durability::Buffered).open(folder.path()).expect("opens");
    let mut transaction = db.begin().expect("begins");
    // A long road, and at each place one that is dear: all of them wait with the whole way to them.
    for i in 0..1_000 {
        let to = i + 1;
        let text = format!(
            "REMEMBER (:C 'c{i}')-[road {{km: 1}}]->(:C 'c{to}') VALID FROM null;
             REMEMBER (:C 'c{i}')-[road {{km: 9000}}]->(:C 'd{i}') VALID FROM null"
        );
        transaction.execute(&text, ()).expect("writes");
    }
    transaction.commit().expect("commits");
    let text = "MATCH CHEAPEST 1 BY f.km p = (:C 'c0')-[f:road]->+(:C 'c1000') RETURN size(f) AS n";
    assert_eq!(db.query(text, ()).expect("is found").to_json(), r#"[{"n":1000}]"#);
    drop(db);
    let db = options(1 << 20).open_read_only(folder.path()).expect("opens");
    assert!(refused(&db, text, ()).contains("take more than 1 MiB"));
}

/// Beams with the scores of the evaluator, and with one that needs none.
const LONG: [&str; 3] = [
    "MATCH BEAM 10000 p = (a:N 'n0')-[f:r]->{1,29}(x)
     SCORE BY relevance(p, 'where is n7'), coherence(p)
     RETURN count(*) AS n",
    "MATCH BEAM 10000 p = (a:N 'n0')-[f:r]->{29,29}(x) SCORE BY confidence(p) RETURN count(*) AS n",
    "MATCH BEAM 10000 p = (a:N 'n0')-[f:r]->{1,29}(x) EXPAND 20
     SCORE BY similarity(p, 'n7') REPAIR WHEN score < 2 RETURN count(*) AS n",
];

#[test]
fn a_long_beam_ends_when_its_time_is_up() {
    let limits = Limits {
        timeout: Duration::from_millis(300),
        work_max: u64::MAX,
        memory_max: usize::MAX,
        ..Limits::default()
    };
    let (_folder, db) = tangle(limits);
    for text in LONG {
        let error = refused(&db, text, ());
        assert!(error.contains("it took more than "), "{text}: {error}");
    }
    let short = "MATCH BEAM 1 p = (a:N 'n0')-[f:r]->{1,2}(x) SCORE BY confidence(p) RETURN x.key";
    assert_eq!(first_column(&db, short, ()).len(), 1);
}

#[test]
fn a_long_beam_holds_no_more_than_it_may() {
    let limits = Limits { rows_max: 1_000, ..Limits::default() };
    let (_folder, db) = tangle(limits);
    assert!(refused(&db, LONG[1], ()).contains("there are more than 1000 rows"));
    let limits = Limits { work_max: 10_000, ..Limits::default() };
    let (_folder, db) = tangle(limits);
    for text in LONG {
        let error = refused(&db, text, ());
        assert!(error.contains("more than 10000 nodes, facts and items were looked at"), "{error}");
    }
}

#[test]
fn a_long_beam_is_ended_from_another_thread() {
    let limits = Limits {
        timeout: Duration::from_secs(3_600),
        work_max: u64::MAX,
        memory_max: usize::MAX,
        ..Limits::default()
    };
    let (_folder, db) = tangle(limits);
    let mut session = db.session();
    let interrupt = session.interrupt();
    for text in LONG {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // One that comes before the statement begins is not about it, so it is asked again.
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    interrupt.interrupt();
                    std::thread::yield_now();
                }
            });
            let error = session.execute(text, ()).expect_err("never ends by itself");
            done.store(true, Ordering::Relaxed);
            assert!(matches!(error, Error::Interrupted), "{text}: {error}");
        });
        let rows =
            session.execute("MATCH (n:N {key: 'n7'}) RETURN n.key AS k", ()).expect("goes on");
        assert_eq!(rows[0].to_json(), r#"[{"k":"n7"}]"#);
    }
}
