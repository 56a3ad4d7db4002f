//! What a query reads, holds and lets go: proved by counts of keys, by limits, and from other
//! threads.
//!
//! All tests read one database: a hub with 10,000 facts, and a chain of as many. Those that write
//! have one of their own.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engraph::{Durability, Engraph, Error, Limits, Options, Params, Value};

use crate::{folder, open};

const LEAVES: usize = 10_000;

/// The folder of the database that all read; made once.
fn large() -> PathBuf {
    static LARGE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let large = LARGE.get_or_init(|| {
        let folder = folder();
        let mut lines = String::new();
        let hub = r#"{"label":"Hub","key":"hub"}"#;
        for i in 0..LEAVES {
            let node = format!(r#"{{"label":"Leaf","key":"l{i:05}"}}"#);
            let next = format!(r#"{{"label":"Leaf","key":"l{:05}"}}"#, i + 1);
            for (head, relation, tail) in [(hub, "to", &node), (node.as_str(), "next", &next)] {
                lines.push_str(&format!(
                    r#"{{"head":{head},"relation":"{relation}","tail":{tail}}}"#
                ));
                lines.push('\n');
            }
        }
        let file = folder.path().join("facts.jsonl");
        std::fs::write(&file, lines).expect("writes");
        let db = open(&folder.path().join("db"));
        let report = engraph::import::jsonl(&db, &file, &mut |_, _| {}).expect("imports");
        assert!(report.refused.is_empty(), "{:?}", report.refused);
        folder
    });
    large.path().join("db")
}

fn read_only(options: Options) -> Engraph {
    options.open_read_only(large()).expect("opens")
}

/// The keys that a query has read, by its profile.
fn keys_read(db: &Engraph, text: &str) -> u64 {
    counted(db, text, "keys")
}

fn counted(db: &Engraph, text: &str, what: &str) -> u64 {
    let rows = db.query(&format!("PROFILE JSON {text}"), ()).expect(text);
    let Value::String(json) = &rows.rows[0][0] else { panic!("a text") };
    let profile: serde_json::Value = serde_json::from_str(json).expect("is JSON");
    profile["operators"][1][what].as_u64().expect("a count")
}

#[test]
fn a_limit_reads_no_more_than_it_must() {
    let db = read_only(Options::new());
    let texts = [
        "MATCH (n:Leaf) RETURN n.key LIMIT 10",
        "MATCH (n) RETURN n.key LIMIT 10",
        "MATCH (n:Leaf) RETURN n.key SKIP 5 LIMIT 5",
        "MATCH (h:Hub 'hub')-[:to]->(x) RETURN x.key LIMIT 10",
        "MATCH (h:Hub 'hub')-->(x) WHERE x.key <> 'l00003' RETURN x.key LIMIT 10",
        "MATCH (h:Hub 'hub')-[f:to]->(x)-[:next]->(y) RETURN f, y.key LIMIT 10",
        "MATCH (a:Leaf)-[:next]->(b)-[:next]->(c) RETURN c.key LIMIT 10",
        "MATCH (a:Leaf)-[:next]->{1,5}(b) RETURN b.key LIMIT 10",
        "MATCH p = (:Leaf 'l00000')-[:next]->+(b) RETURN b.key LIMIT 10",
        "MATCH SHORTEST 1 (:Leaf 'l00000')-[:next]->+(b) RETURN b.key LIMIT 10",
        "MATCH CHEAPEST 1 BY 1 (:Leaf 'l00000')-[f:next]->+(b) RETURN b.key LIMIT 10",
        "MATCH (n:Leaf) OPTIONAL MATCH (n)-[:next]->(m) RETURN m.key LIMIT 10",
        "MATCH (n:Leaf) CALL (n) { MATCH (n)-[:next]->(m) RETURN m } RETURN m.key LIMIT 10",
        "MATCH (n:Leaf) UNWIND [1, 2] AS i RETURN n.key, i LIMIT 10",
        "MATCH (n:Leaf) WITH n LIMIT 10 RETURN count(*) AS n",
        "CALL { MATCH (n:Leaf) RETURN n.key AS k UNION ALL MATCH (n:Hub) RETURN n.key AS k }
         RETURN k LIMIT 10",
        "MATCH (n:Leaf) WITH n.key AS k LIMIT 10 RETURN collect(k) AS keys",
        "MATCH (n:Leaf) RETURN DISTINCT n.key LIMIT 10",
    ];
    for text in texts {
        let keys = keys_read(&db, text);
        assert!(keys <= 300, "{keys} keys were read by {text}");
    }
    let all = keys_read(&db, "MATCH (h:Hub 'hub')-[:to]->(x) RETURN count(x) AS n");
    assert!(all >= 10_000, "the count is none: {all}");
}

#[test]
fn both_ends_are_looked_up_and_the_one_with_fewer_facts_is_read() {
    let db = read_only(Options::new());
    for text in [
        "MATCH (a:Leaf 'l00000')-[:next]->(m)-[:next]->(b:Leaf 'l00002') RETURN m.key",
        "MATCH (a:Leaf 'l00000')-[:next]->()-[:next]->()-[:next]->(b:Leaf 'l00003') RETURN b.key",
        "MATCH (h:Hub 'hub')-[:to]->(x:Leaf 'l09999') RETURN x.key",
        "MATCH (x:Leaf 'l09999')<-[:to]-(h:Hub 'hub') RETURN x.key LIMIT 1",
        "MATCH (h:Hub 'hub') MATCH (x:Leaf 'l09999') WHERE EXISTS { (h)-[:to]->(x) } RETURN x.key",
        "MATCH (h:Hub 'hub') MATCH (x:Leaf 'l09999') WHERE EXISTS { (x)<-[:to]-(h) } RETURN x.key",
        "MATCH (n:Leaf) WHERE 'l00001' = n.key RETURN n.key",
    ] {
        assert_eq!(db.query(text, ()).expect(text).rows.len(), 1, "{text}");
        let keys = keys_read(&db, text);
        assert!(keys <= 300, "{keys} keys were read by {text}");
    }
    let text = "MATCH (h:Hub 'hub') MATCH (x:Leaf) WHERE x.key STARTS WITH 'l0999'
                MATCH (h)-[:to]->(x) RETURN x.key";
    assert_eq!(db.query(text, ()).expect(text).rows.len(), 10);
    let text = "MATCH (x:Leaf) MATCH (h:Hub 'hub')-[:to]->(x) RETURN count(*) AS n";
    let seeks = counted(&db, text, "seeks");
    assert!(
        seeks <= 15_000,
        "{seeks} seeks: the hub is looked up once, and each leaf has one fact"
    );
    let keys = keys_read(&db, text);
    assert!(keys <= 45_000, "{keys} keys for 10,000 leaves with a fact each");
    for text in [
        "MATCH (x:Leaf) WHERE EXISTS { (x)<-[:to]-(:Hub 'hub') } RETURN count(*) AS n",
        "MATCH (x:Leaf) OPTIONAL MATCH (x)<-[f:to]-(:Hub 'hub') RETURN count(f) AS n",
    ] {
        let keys = keys_read(&db, text);
        assert!(keys <= 60_000, "{keys} keys were read by {text}");
    }
    let text = "MATCH (m:Leaf) WITH collect(m.key) AS keys MATCH (n:Leaf) WHERE n.key IN keys
                RETURN n.key LIMIT 1";
    let keys = keys_read(&db, text);
    assert!(keys <= 21_000, "{keys} keys were read, of which the list takes 20,002");
    let seeks =
        counted(&db, "MATCH (:Hub 'hub')-[f]->(b) RETURN DISTINCT type(f) LIMIT 2", "seeks");
    assert!(seeks <= 1_000, "{seeks} seeks for 10,000 facts");
}

/// Few nodes with many facts between them, as a life has: links are followed, and no pairs are made.
#[test]
fn where_links_lead_nothing_is_scanned() {
    const NODES: usize = 10;
    let folder = folder();
    let db = open(folder.path());
    let mut session = db.session();
    session.execute("BEGIN", ()).expect("begins");
    for at in 0..400 {
        let (head, tail) = (at % NODES, (at * 7 + at / NODES) % NODES);
        let (year, day) = (2000 + at / 20, 1 + at % 20);
        let text = format!(
            "REMEMBER (:N 'n{head}')-[met]->(:N 'n{tail}') VALID FROM DATE '{year}-01-{day:02}'
             TO DATE '{year}-02-{day:02}'"
        );
        session.execute(&text, ()).expect("remembers");
    }
    session.execute("COMMIT", ()).expect("commits");
    let met =
        db.query("MATCH (:N 'n3')-[f:met]->() FOR VALID_TIME ALL RETURN f", ()).expect("reads");
    let facts = met.rows.len() as u64;
    let text = "MATCH (a:N 'n3')-[f:met]->(m)-[g:met]->(b) FOR VALID_TIME ALL RETURN count(*) AS n";
    let keys = keys_read(&db, text);
    assert!(keys <= facts * 60, "{keys} keys for {facts} facts of 400");
}

#[test]
fn a_question_whether_stops_at_the_first_answer() {
    let db = read_only(Options::new());
    let texts = [
        "MATCH (h:Hub) WHERE EXISTS { (h)-[:to]->(x) } RETURN h.key",
        "MATCH (h:Hub) WHERE EXISTS { MATCH (h)-[:to]->(x) WHERE x.key <> 'none' RETURN x }
         RETURN h.key",
        "MATCH (h:Hub) WHERE (h)-[:to]->() RETURN h.key",
        "MATCH (h:Hub) RETURN EXISTS { (h)-[:to]->()-[:next]->() } AS some",
        "MATCH (h:Hub) RETURN CASE WHEN EXISTS { (n:Leaf) } THEN 1 ELSE 2 END AS some",
    ];
    for text in texts {
        let keys = keys_read(&db, text);
        assert!(keys <= 50, "{keys} keys were read by {text}");
    }
}

#[test]
fn rows_that_are_not_asked_for_are_not_read() {
    let limits = Limits { work_max: 500, ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let mut session = db.session();
    for text in [
        "MATCH (n:Leaf) RETURN n.key",
        "MATCH (:Hub 'hub')-[:to]->(x) RETURN x.key",
        "MATCH (a:Leaf)-[:next]->(b) RETURN b.key",
        "MATCH (:Leaf 'l00000')-[:next]->+(b) RETURN b.key",
    ] {
        let rows = session.stream(text, ()).expect(text);
        let ten: Vec<_> = rows.take(10).collect::<Result<_, _>>().expect("ten are few");
        assert_eq!(ten.len(), 10);
        // The cursor is dropped half-way; the same query to its end looks at too much.
        let error = session.execute(text, ()).expect_err("all are many").to_string();
        assert!(error.contains("more than 500 nodes, facts and items were looked at"), "{error}");
        let mut rows = session.stream(text, ()).expect(text);
        let end = rows.find(|row| row.is_err()).expect("an error").expect_err("is one");
        assert!(end.to_string().contains("more than 500 nodes, facts and items"), "{end}");
        assert!(rows.next().is_none(), "nothing comes behind an error");
    }
}

#[test]
fn rows_that_are_streamed_are_not_held() {
    let limits = Limits { rows_max: 3_000, ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let mut session = db.session();
    let text = "MATCH (n:Leaf) RETURN n.key";
    assert_eq!(session.stream(text, ()).expect("streams").map(Result::unwrap).count(), LEAVES + 1);
    let refused = |text: &str| db.query(text, ()).expect_err(text).to_string();
    assert!(refused(text).contains("more than 3000 rows"));
    assert!(refused("MATCH (n:Leaf) RETURN n.key ORDER BY n.key").contains("more than 3000 rows"));
    assert!(refused("MATCH (n:Leaf) RETURN DISTINCT n.key").contains("more than 3000 rows"));
    assert!(refused("MATCH (n:Leaf) RETURN n.key, count(*) AS n").contains("more than 3000 rows"));
    assert!(refused("CALL algo.components() YIELD node RETURN node").contains("more than 3000"));
    let walk = "MATCH (:Hub 'hub')-[:to]->{1,2}(x) RETURN x.key LIMIT 1";
    assert!(refused(walk).contains("a node has more than 3000 facts"));
    // What is only counted is not held, and of an order only the first rows are.
    let counted = db.query("MATCH (n:Leaf) RETURN count(*) AS n", ()).expect("counts");
    assert_eq!(counted.get(0, "n"), Some(&Value::Int(10_001)));
    let first = "MATCH (n:Leaf) RETURN n.key AS k ORDER BY k DESC LIMIT 1";
    assert_eq!(db.query(first, ()).expect("sorts").to_json(), r#"[{"k":"l10000"}]"#);
}

#[test]
fn memory_and_time_are_bounded() {
    let limits = Limits { memory_max: 1 << 20, ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let refused = |text: &str| db.query(text, ()).expect_err(text).to_string();
    for text in [
        "MATCH (n:Leaf) RETURN collect([n.key, n.key, n.key, n.key]) AS keys",
        "MATCH (n:Leaf)-[f]->(m) RETURN n, f, m ORDER BY n.key",
        "MATCH (n:Leaf) RETURN DISTINCT n.key, [n, n, n]",
        "MATCH (n:Leaf) RETURN n.key, count(*) AS n",
    ] {
        assert!(refused(text).contains("take more than 1 MiB"), "{text}: {}", refused(text));
    }
    let doubled = |first: &str, again: &str, last: &str| {
        format!("WITH {first} AS a{} RETURN {last}", format!(" WITH {again} AS a").repeat(60))
    };
    for text in [
        doubled("'text'", "a + a", "size(a)"),
        doubled("[1]", "a + a", "size(a)"),
        doubled("[0]", "[a, a]", "a"),
        doubled("[0]", "[a, a]", "a = a"),
        doubled("{a: 0}", "{a: a, b: a}", "a"),
        "RETURN reduce(t = [1], x IN range(1, 60) | [t, t]) AS t".to_owned(),
        "RETURN reduce(m = {}, x IN range(1, 60) | {a: m, b: m}) AS m".to_owned(),
        "RETURN [x IN range(1, 60) | range(1, 1000)] AS lists".to_owned(),
        "RETURN COLLECT { UNWIND range(1, 3000) AS x RETURN [x, x, x, x] } AS lists".to_owned(),
        "UNWIND range(1, 1000) AS x WITH x, range(1, 1000) AS l RETURN sum(size(l)) AS n"
            .to_owned(),
        "WITH range(1, 1000) AS l UNWIND range(1, 1000) AS x RETURN l".to_owned(),
    ] {
        let error = refused(&text);
        assert!(error.contains("more than 1 MiB"), "{text}: {error}");
    }
    // What an inner query has held is gone with it, whether it came to its end or not.
    let inner = "UNWIND range(1, 3000) AS x WITH x WHERE EXISTS {
                   UNWIND range(1, 9) AS y WITH y, 'text' + toString(y) AS s ORDER BY y DESC RETURN s
                 } RETURN count(*) AS n";
    assert_eq!(db.query(inner, ()).expect("is little").to_json(), r#"[{"n":3000}]"#);
    let inner = "UNWIND range(1, 3000) AS x
                 CALL (x) { UNWIND range(1, 9) AS y WITH x, y ORDER BY y DESC RETURN y LIMIT 1 }
                 RETURN sum(y) AS n";
    assert_eq!(db.query(inner, ()).expect("is little").to_json(), r#"[{"n":27000}]"#);
    // A map of one entry has room for more.
    let maps = "UNWIND range(1, 1000) AS x RETURN size(collect({a: x})) AS n";
    assert!(refused(maps).contains("more than 1 MiB"), "{}", refused(maps));
    let shared =
        "WITH range(1, 1000) AS l UNWIND range(1, 1000) AS x WITH l, x RETURN sum(size(l)) AS n";
    assert_eq!(db.query(shared, ()).expect("is one list").to_json(), r#"[{"n":1000000}]"#);
    drop(db);
    let limits = Limits { timeout: Duration::ZERO, ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let error = db.query("MATCH (n:Leaf) RETURN count(*) AS n", ()).expect_err("takes time");
    assert_eq!(error.limit(), Some(engraph::Limit::Time));
    assert!(error.to_string().contains("it took more than "), "{error}");
    let mut session = db.session();
    let mut rows = session.stream("MATCH (n:Leaf) RETURN n.key", ()).expect("begins");
    let error = rows.find_map(Result::err).expect("ends").report(false);
    let underlined = "RETURN n.key\n  | ^^^";
    assert!(error.contains("it took more than ") && error.contains(underlined), "{error}");
    // Within one expression, too.
    let limits = Limits { timeout: Duration::from_millis(200), ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let text = "WITH join([x IN range(1, 100000) | 'aaaaaaaaaa'], '') AS s
                RETURN size([x IN range(1, 100000) WHERE s + toString(x) =~ '(a|aa)*(a|aaa)*b']) AS n";
    let error = db.query(text, ()).expect_err("takes long").to_string();
    assert!(error.contains("it took more than 200ms"), "{error}");
}

/// Whoever asks a model about each row takes longer than the statement does.
#[test]
fn time_between_two_rows_is_not_the_statements() {
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let mut session = db.session();
    let mut rows = session.stream("MATCH (n:Leaf) RETURN n.key", ()).expect("begins");
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(400));
        rows.next().expect("a row").expect("has time");
    }
    let rest: Vec<_> = rows.collect::<Result<_, _>>().expect("has time");
    assert_eq!(rest.len(), LEAVES + 1 - 3);
}

#[test]
fn many_unknown_names_are_told_once() {
    let db = read_only(Options::new());
    let labels: Vec<String> = (0..500).map(|label| format!("L{label}")).collect();
    let rows = db.query(&format!("MATCH (n:{}) RETURN n", labels.join("|")), ()).expect("runs");
    assert_eq!(rows.warnings.len(), 21);
    assert_eq!(rows.warnings[20].message, "480 more warnings like these");
}

#[test]
fn a_limit_may_be_none() {
    let db =
        read_only(Options::new().limits(Limits { timeout: Duration::MAX, ..Limits::default() }));
    let rows = db.query("MATCH (n:Leaf) RETURN count(*) AS n", ()).expect("counts");
    assert_eq!(rows.get(0, "n"), Some(&Value::Int(10_001)));
}

/// A tree of facts, two a node, each 0.7 sure.
fn tree(options: Options) -> (tempfile::TempDir, Engraph) {
    let folder = folder();
    let db = options.durability(Durability::Buffered).open(folder.path()).expect("opens");
    let mut transaction = db.begin().expect("begins");
    for i in 1..512 {
        for child in [2 * i, 2 * i + 1] {
            let text = "REMEMBER (:T $a)-[to]->(:T $b) VALID FROM null CONFIDENCE 0.7";
            let params = Params::new().with("a", format!("t{i}")).with("b", format!("t{child}"));
            transaction.execute(text, params).expect("writes");
        }
    }
    transaction.commit().expect("commits");
    (folder, db)
}

#[test]
fn what_is_not_sure_enough_is_not_walked() {
    let (_folder, db) = tree(Options::new());
    let (_other, plain) = tree(Options::new().without_optimizer());
    for end in [
        "WHERE confidence(p) >= 0.4 RETURN x.key AS k ORDER BY k",
        "WHERE confidence(p) > 0.4 AND length(p) > 1 RETURN x.key AS k ORDER BY k",
        "RETURN confidence(p) AS c ORDER BY confidence(p) DESC LIMIT 3",
        "WHERE x.key <> 't2' RETURN confidence(p) AS c ORDER BY c DESC LIMIT 3",
    ] {
        let text = &format!("MATCH p = (:T 't1')-[:to]->+(x) {end}");
        let (with, without) = (keys_read(&db, text), keys_read(&plain, text));
        assert!(with <= 60, "{with} keys were read by {text}");
        assert!(without >= 1_000, "{without} keys without the optimizer by {text}");
        let rows = [&db, &plain].map(|db| db.query(text, ()).expect(text).to_json());
        assert_eq!(rows[0], rows[1], "{text}");
    }
}

#[test]
fn a_statement_is_ended_from_another_thread() {
    let limits =
        Limits { work_max: u64::MAX, timeout: Duration::from_secs(3_600), ..Limits::default() };
    let db = read_only(Options::new().limits(limits));
    let mut session = db.session();
    let interrupt = session.interrupt();
    let interrupted = |run: &mut dyn FnMut() -> Result<(), Error>| {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // One that comes before the statement begins is not about it, so it is asked again.
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    interrupt.interrupt();
                    std::thread::yield_now();
                }
            });
            let error = run().expect_err("never ends by itself");
            done.store(true, Ordering::Relaxed);
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert_eq!(error.to_string(), "interrupted");
        });
    };
    let texts = [
        "MATCH (a:Leaf), (b:Leaf), (c:Leaf) RETURN count(*) AS n",
        "MATCH (a:Leaf), (b:Leaf), (c:Leaf) WHERE a = b AND b = c AND a <> c RETURN a",
        "MATCH (a:Leaf)-[:next]->+(b)-[:next]->+(c) RETURN count(*) AS n",
        "MATCH SHORTEST 1 (a:Leaf)-[:next]-+(b) RETURN count(*) AS n",
    ];
    for text in texts {
        interrupted(&mut || session.execute(text, ()).map(drop));
        let rows = session.execute("MATCH (h:Hub) RETURN h.key AS k", ()).expect("goes on");
        assert_eq!(rows[0].to_json(), r#"[{"k":"hub"}]"#, "{text}");
    }
    interrupted(&mut || {
        let mut rows = session.stream(texts[1], ())?;
        rows.find_map(Result::err).map_or(Ok(()), Err)
    });
}

#[test]
fn a_write_that_is_ended_changes_nothing() {
    let folder = folder();
    let db = open(folder.path());
    let mut session = db.session();
    for i in 0..60 {
        let text = format!("REMEMBER (:P 'p{i}')-[r]->(:P 'p{}') VALID FROM null", i + 1);
        session.execute(&text, ()).expect("writes");
    }
    let (interrupt, done) = (session.interrupt(), AtomicBool::new(false));
    // No condition can be asked before the last of millions of rows is put together.
    let text =
        "MATCH (a)-[f]->(b), (c:P), (d:P), (e:P) WHERE c.key + d.key + e.key = 'p' RETRACT f";
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                interrupt.interrupt();
                std::thread::yield_now();
            }
        });
        let ended = session.execute(text, ());
        done.store(true, Ordering::Relaxed);
        ended
    });
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    let count = db.query("MATCH ()-[f]->() RETURN count(f) AS n", ()).expect("counts");
    assert_eq!(count.get(0, "n"), Some(&Value::Int(60)));
    session.execute("REMEMBER (:P 'more')", ()).expect("the session goes on");
}

#[test]
fn a_stream_keeps_its_state_while_others_write() {
    let folder = folder();
    let db = open(folder.path());
    for i in 0..300 {
        db.execute(&format!("REMEMBER (:P 'p{i:03}' {{v: 1}})"), ()).expect("writes");
    }
    let mut session = db.session();
    let mut rows = session.stream("MATCH (p:P) RETURN p.key, p.v", ()).expect("streams");
    assert_eq!(rows.columns(), ["p.key", "p.v"]);
    let first = rows.next().expect("a row").expect("reads");
    assert_eq!(first, [Value::from("p000"), Value::from(1)]);
    db.execute("REMEMBER (:P 'p150' {v: 2}); REMEMBER (:P 'p1500' {v: 2})", ()).expect("writes");
    // What somebody reads cannot be forgotten.
    let error = db.execute("MATCH (p:P {key: 'p200'}) FORGET p", ()).expect_err("is read");
    assert!(matches!(error, Error::Storage(engraph::StorageError::StillRead)), "{error}");
    db.execute("DEFINE INDEX FOR (p:P) ON p.v", ()).expect("defines");
    let rest: Vec<Vec<Value>> = rows.collect::<Result<_, _>>().expect("reads on");
    assert_eq!(rest.len(), 299);
    assert!(rest.iter().all(|row| row[1] == Value::from(1)));
    let now = session.stream("MATCH (p:P {v: 2}) RETURN p.key", ()).expect("streams");
    assert_eq!(now.map(Result::unwrap).count(), 2);
    // Within a transaction it sees what that has written.
    session.execute("BEGIN; REMEMBER (:Q 'q')", ()).expect("writes");
    let own = session.stream("MATCH (q:Q) RETURN q.key", ()).expect("streams");
    assert_eq!(own.map(Result::unwrap).collect::<Vec<_>>(), [[Value::from("q")]]);
    session.execute("ROLLBACK", ()).expect("rolls back");
    let rows = session.stream("MATCH (q:Q) RETURN q.key", ()).expect("streams");
    assert_eq!(rows.warnings().len(), 1);
}

#[test]
fn a_stream_takes_one_query_that_returns_rows() {
    let folder = folder();
    let db = open(folder.path());
    let mut session = db.session();
    for text in
        ["RETURN 1; RETURN 2", "REMEMBER (:P 'a')", "MATCH (n)-[f]->() RETRACT f", "", "BEGIN"]
    {
        let error = session.stream(text, ()).expect_err(text).to_string();
        assert!(error.starts_with("bind: stream takes one query that returns rows"), "{error}");
    }
    assert!(matches!(session.stream("RETRUN 1", ()), Err(Error::Syntax(_))));
    let error = session.stream("RETURN $x AS x", ()).expect_err("has no value").to_string();
    assert!(error.contains("the parameter $x has no value (line 1, column 8)"), "{error}");
    let mut rows = session.stream("UNWIND [1, 0] AS i RETURN 1 / i AS x", ()).expect("begins");
    assert_eq!(rows.next().expect("a row").expect("divides"), [Value::from(1)]);
    let error = rows.next().expect("an error").expect_err("divides by zero").to_string();
    assert_eq!(error, "execute: division by zero (line 1, column 27)");
    assert!(rows.next().is_none());
}

#[test]
fn prepared_statements_follow_the_catalogue() {
    let folder = folder();
    let db = open(folder.path());
    let count = |prepared: &engraph::Prepared<'_>| prepared.query(()).expect("reads").to_json();
    let late = db.prepare("MATCH (n:Late)-[:later]->(m) RETURN m.key AS k").expect("parses");
    let rows = late.query(()).expect("reads");
    assert_eq!((rows.len(), rows.warnings.len()), (0, 2));
    db.execute("REMEMBER (:Late 'a')-[later]->(:Late 'b') VALID FROM null", ()).expect("writes");
    let rows = late.query(()).expect("reads");
    assert_eq!((rows.to_json().as_str(), rows.warnings.len()), (r#"[{"k":"b"}]"#, 0));

    let by =
        db.prepare("MATCH (n:Late {size: $size}) RETURN n.key AS k ORDER BY k").expect("parses");
    let by = |size: Value| by.query([("size", size)]).expect("reads").to_json();
    assert_eq!(by(3.into()), "[]");
    db.execute("REMEMBER (:Late 'a' {size: 3}); REMEMBER (:Late 'b' {size: 'x'})", ())
        .expect("writes");
    assert_eq!(by(3.into()), r#"[{"k":"a"}]"#);
    db.execute("DEFINE INDEX sizes FOR (n:Late) ON n.size", ()).expect("defines");
    assert_eq!(by(3.into()), r#"[{"k":"a"}]"#);
    assert_eq!(by("x".into()), r#"[{"k":"b"}]"#);
    assert_eq!(by(Value::Null), "[]");
    assert_eq!(by(vec![Value::from(3)].into()), "[]");
    db.execute("REMEMBER (:Late 'c' {size: 3})", ()).expect("writes");
    assert_eq!(by(3.0.into()), r#"[{"k":"a"},{"k":"c"}]"#);
    db.execute("DROP INDEX sizes", ()).expect("drops");
    assert_eq!(by(3.into()), r#"[{"k":"a"},{"k":"c"}]"#);

    db.execute("DEFINE RECIPE r AS RETURN 1 AS x", ()).expect("defines");
    let recall = db.prepare("RECALL '' USING r RETURN x").expect("parses");
    assert_eq!(count(&recall), r#"[{"x":1}]"#);
    db.execute("DEFINE RECIPE r AS RETURN 2 AS x", ()).expect("defines");
    assert_eq!(count(&recall), r#"[{"x":2}]"#);
    db.execute("DROP RECIPE r", ()).expect("drops");
    assert!(recall.query(()).expect_err("is gone").to_string().contains("there is no recipe `r`"));
}

#[test]
fn prepared_statements_follow_the_clock_and_the_session() {
    let folder = folder();
    let db = open(folder.path());
    let now = db.prepare("RETURN now() AS t").expect("parses");
    let first = now.query(()).expect("reads").get(0, "t").cloned();
    db.execute("REMEMBER (:P 'a')-[at]->(:C 'x')", ()).expect("writes");
    let second = now.query(()).expect("reads").get(0, "t").cloned();
    assert!(
        matches!((first, second), (Some(Value::Timestamp(a)), Some(Value::Timestamp(b))) if a < b)
    );
    let at = db.prepare("MATCH (:P 'a')-[:at]->(c) RETURN c.key AS k").expect("parses");
    assert_eq!(at.query(()).expect("reads").to_json(), r#"[{"k":"x"}]"#);
    db.execute("REMEMBER (:P 'a')-[at]->(:C 'y')", ()).expect("writes");
    assert_eq!(at.query(()).expect("reads").len(), 2);
    let text = "MATCH (:P 'a')-[:at]->(c) RETURN c.key AS k";
    let mut session = db.session();
    assert_eq!(session.execute(text, ()).expect("reads")[0].len(), 2);
    session.execute("SESSION SET VALID_TIME AS OF DATE '1999-01-01'", ()).expect("sets");
    assert_eq!(session.execute(text, ()).expect("reads")[0].len(), 0);
    assert_eq!(db.query(text, ()).expect("reads").len(), 2);
    session.execute("SESSION RESET", ()).expect("resets");
    assert_eq!(session.execute(text, ()).expect("reads")[0].len(), 2);
    let as_of = db
        .prepare("MATCH (:P 'a')-[:at]->(c) FOR VALID_TIME AS OF $t RETURN c.key")
        .expect("parses");
    assert_eq!(as_of.query([("t", "1999-01-01")]).expect("reads").len(), 0);
    assert_eq!(as_of.query([("t", "2999-01-01")]).expect("reads").len(), 2);
    let error = as_of.query([("t", 5)]).expect_err("is no instant").to_string();
    assert!(error.starts_with("bind: expected an instant, found a number"), "{error}");
    assert!(
        as_of
            .query([("tt", "2999-01-01")])
            .expect_err("is missing")
            .to_string()
            .contains("did you mean $tt?")
    );
    let first = db.prepare("UNWIND [1, 2, 3] AS x RETURN x LIMIT $n").expect("parses");
    assert_eq!(first.query([("n", 2)]).expect("reads").len(), 2);
    assert_eq!(first.query([("n", 0)]).expect("reads").len(), 0);
    assert!(first.query([("n", -1)]).expect_err("is below 0").to_string().contains("not negative"));
}

/// As the embedder of tests, with vectors of another length.
struct Short;

impl engraph::Embedder for Short {
    fn id(&self) -> &str {
        "fixed-64"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, engraph::NeuralError> {
        Ok(texts.iter().map(|_| vec![0.6, 0.8]).collect())
    }
}

#[test]
fn embeddings_of_another_length_are_refused() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("DEFINE INDEX FOR (n:Note) ON (n.kind)", ()).expect("is made");
    db.execute("REMEMBER (:Note 'n' {text: 'bread', kind: 'food'})", ()).expect("embeds");
    drop(db);
    let db =
        Options::new().embedder(std::sync::Arc::new(Short)).open(folder.path()).expect("opens");
    let refused = |text: &str| db.query(text, ()).expect_err(text).to_string();
    let search = "SEARCH n:Note FOR 'x' BY VECTOR TOP 1 RETURN n.key";
    assert!(refused(search).contains("the query has 2 dimensions, and an embedding 64"));
    let listed = "SEARCH n:Note FOR 'x' BY VECTOR TOP 1 WHERE n.kind = 'food' RETURN n.key";
    assert!(refused(listed).contains("the query has 2 dimensions, and an embedding 64"));
    let among = "MATCH (n:Note) SEARCH n FOR 'x' BY VECTOR TOP 1 RETURN n.key";
    assert!(refused(among).contains("the query has 2 dimensions, and an embedding 64"));
    let similar = "MATCH (n:Note) RETURN similarity(n, 'x') AS s";
    assert!(refused(similar).contains("embeddings of 64 and 2 dimensions"));
}

#[test]
fn what_there_is_can_be_shown() {
    let folder = folder();
    let db = open(folder.path());
    let names = |text: &str| -> Vec<Value> {
        let rows = db.query(text, ()).expect(text);
        rows.rows.into_iter().map(|mut row| row.swap_remove(0)).collect()
    };
    for name in ["allen", "confidence", "count", "now", "similarity", "when"] {
        assert!(names("SHOW FUNCTIONS").contains(&name.into()), "{name}");
    }
    assert!(names("SHOW STATS").contains(&"nodes".into()));
}

#[test]
fn what_nodes_and_facts_bring_into_an_answer_counts() {
    let folder = folder();
    let limits = Limits { memory_max: 1 << 20, ..Limits::default() };
    let options = Options::new().limits(limits).durability(Durability::Buffered);
    let db = options.open(folder.path()).expect("opens");
    let text = Params::new().with("text", "word ".repeat(20_000));
    db.execute(
        "REMEMBER (:Page 'a' {body: $text})-[LINKS {body: $text}]->(:Page 'b' {n: 1}) VALID FROM null",
        text,
    )
    .expect("is written");
    let many = |returns: &str| {
        format!("MATCH p = (a:Page 'a')-[f]->(b) UNWIND range(1, 30) AS x RETURN {returns}")
    };
    for returns in ["a", "f", "p", "collect(a) AS l", "{a: a, f: [f, f]} AS m"] {
        let error = db.query(&many(returns), ()).expect_err(returns).to_string();
        assert!(error.contains("take more than 1 MiB"), "{returns}: {error}");
    }
    assert_eq!(db.query(&many("b, size(a.body) AS n"), ()).expect("is little").rows.len(), 30);
    let error = db.query(&format!("TRACE {}", many("x")), ()).expect_err("is large").to_string();
    assert!(error.contains("take more than 1 MiB"), "{error}");
    // Small ones take more than their text: maps, labels, keys.
    let small = "UNWIND range(1, 3000) AS x MATCH (b:Page 'b') RETURN b";
    let error = db.query(small, ()).expect_err("are many").to_string();
    assert!(error.contains("take more than 1 MiB"), "{error}");
    // A stream lets go of what it has given.
    let mut session = db.session();
    let rows = session.stream(&many("a, f, p"), ()).expect("begins");
    assert_eq!(rows.filter(Result::is_ok).count(), 30);
}
