//! What any statement may use: rows, work, memory, time and depth.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engraph::{Engraph, Error, Limit, Limits, Options, Params};

use crate::{folder, open};

#[test]
fn long_paths_and_wide_beams_stay_within_the_limits() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    for i in 0..2_000 {
        let text = format!("REMEMBER (:T 't{i}')-[next]->(:T 't{}') VALID FROM null", i + 1);
        transaction.execute(&text, ()).expect("writes");
    }
    transaction.commit().expect("commits");
    let count = "MATCH (a:T 't0')-[:next]->*(b) RETURN count(*) AS n";
    assert_eq!(db.query(count, ()).expect("needs no lists").to_json(), r#"[{"n":2001}]"#);
    let limits = Limits { rows_max: 10_000, ..Limits::default() };
    drop(db);
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    // What is only counted is not held.
    let counted = "MATCH (a:T 't0')-[f:next]->*(b) RETURN count(f) AS n";
    assert_eq!(db.query(counted, ()).expect("counts").to_json(), r#"[{"n":2001}]"#);
    drop(db);
    let limits = Limits { memory_max: 64 << 20, ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    let lists = "MATCH (a:T 't0')-[f:next]->*(b) RETURN collect(f) AS n";
    let error = db.query(lists, ()).expect_err("two million facts in lists");
    assert!(error.to_string().contains("more than 64 MiB"), "{error}");
}

#[test]
fn limits_hold_for_every_text() {
    let folder = folder();
    let limits = Limits { rows_max: 50, work_max: 5_000, ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    for i in 0..20 {
        let text =
            format!("REMEMBER (:P 'a{i}')-[r]->(:P 'a{}') VALID FROM null", (i * 7 + 1) % 20);
        db.execute(&text, ()).expect("writes");
    }
    let refused = |text: &str| {
        let error = db.query(text, ()).expect_err(text);
        assert!(matches!(error, Error::Execute(_)), "{error}");
        error.to_string()
    };
    assert!(refused("MATCH (a:P), (b:P) RETURN a.key, b.key").contains("more than 50 rows"));
    assert!(refused("MATCH (a:P)-[r]-*(b) RETURN b.key").contains("more than"));
    assert!(
        refused("MATCH (a:P), (b:P) RETURN a, b, count(*) AS n LIMIT 1")
            .contains("more than 50 rows")
    );
    assert_eq!(db.query("MATCH (a:P), (b:P) RETURN a.key LIMIT 3", ()).expect("few").len(), 3);
    let none = Limits { timeout: Duration::ZERO, work_max: u64::MAX, ..Limits::default() };
    drop(db);
    let db = Options::new().limits(none).open(folder.path()).expect("opens");
    let walk = "MATCH (a:P)-[r]-*(b)-[s]-*(c) RETURN count(*) AS n";
    assert!(db.query(walk, ()).expect_err("too long").to_string().contains("it took more than "));
}

/// What a text says once stands in a plan wherever it is used; so much of it has to be refused, not tried.
#[test]
fn what_multiplies_itself_is_refused() {
    let folder = folder();
    let db = Engraph::open(folder.path()).expect("opens");
    db.execute("REMEMBER (:P 'a'); DEFINE RECIPE r1 AS RETURN $q AS x", ()).expect("defines");
    let ten = ["$q"; 10].join(", ");
    let define = |level: usize| {
        let below = level - 1;
        db.query(&format!("DEFINE RECIPE r{level} AS RECALL [{ten}] USING r{below} RETURN x"), ())
    };
    (2..=5).for_each(|level| drop(define(level).expect("is defined")));
    let error = (6..=9).find_map(|level| define(level).err()).expect("is refused").to_string();
    assert!(error.contains("too many parts"), "{error}");
    let refused = |text: &str| db.query(text, ()).expect_err("is refused").to_string();
    assert_eq!(db.query("RECALL 'x' USING r3 RETURN size(x) AS n", ()).expect("few").len(), 1);
    let list = vec!["1"; 16_000].join(", ");
    let cases = "WHEN 1 THEN 1 ".repeat(2_300);
    let case = refused(&format!("RETURN CASE [{list}] {cases}END AS x"));
    assert!(case.contains("too many parts"), "{case}");
    let steps = "-->()".repeat(200);
    let walk = format!("MATCH (){steps} FOR VALID_TIME AS OF [now(), {list}][0] RETURN 1 AS x");
    assert!(refused(&walk).contains("too many parts"));
    // As deep as a text may go, and a recipe goes on from there.
    let not = "NOT ".repeat(120);
    db.query(&format!("DEFINE RECIPE n1 AS RETURN {not}$q AS x"), ()).expect("is defined");
    let deeper =
        |n: usize| format!("DEFINE RECIPE n{n} AS RECALL {not}$q USING n{} RETURN x", n - 1);
    db.query(&deeper(2), ()).expect("is defined");
    assert_eq!(db.query("RECALL true USING n2 RETURN x", ()).expect("is deep").len(), 1);
    let error = db.query(&deeper(3), ()).expect_err("is refused").to_string();
    assert!(error.contains("nests deeper than the limit of 128"), "{error}");
}

/// Where each was held against each, these took minutes, which no limit of a statement ends.
#[test]
fn many_columns_are_bound() {
    let folder = folder();
    let db = Engraph::open(folder.path()).expect("opens");
    let columns: Vec<String> = (0..40_000).map(|column| format!("1 AS c{column}")).collect();
    let text = format!("WITH {} RETURN c0, c39999", columns.join(", "));
    assert_eq!(db.query(&text, ()).expect("binds").len(), 1);
    let list = vec!["1"; 60_000].join(",");
    let other = vec!["2"; 60_000].join(",");
    let text = format!("RETURN [{list}] AS k, [{other}] + count(*) AS c");
    assert_eq!(db.query(&text, ()).expect("binds").len(), 1);
}

#[test]
fn limits_hold_for_a_query_whose_plan_is_kept() {
    let folder = folder();
    let hop = "MATCH (a:P {key: $k})-[f:r]->(b) RETURN id(b)";
    for limits in [
        Limits { work_max: 10, ..Limits::default() },
        Limits { rows_max: 10, ..Limits::default() },
        Limits { memory_max: 1_000, ..Limits::default() },
    ] {
        let db = Options::new().open(folder.path()).expect("opens");
        for i in 0..40 {
            let text = format!("REMEMBER (:P 'a')-[r]->(:P 'b{i}') VALID FROM null");
            db.execute(&text, ()).expect("writes");
        }
        drop(db);
        let db = Options::new().limits(limits).open(folder.path()).expect("opens");
        let ask = || db.query(hop, Params::new().with("k", "a")).expect_err("too much").to_string();
        let first = ask();
        assert!(first.contains("more than"), "{first}");
        assert_eq!([ask(), ask()], [first.clone(), first]);
    }
}

#[test]
fn queries_nest_as_deep_as_they_may_on_a_small_stack() {
    let folder = folder();
    let db = Arc::new(open(folder.path()));
    db.execute("REMEMBER (:P 'a')-[r]->(:P 'b') VALID FROM null", ()).expect("writes");
    let nested = |depth: usize| {
        let open = "EXISTS { MATCH (x:P)-[:r]->() WHERE ".repeat(depth);
        format!("RETURN {open}true{} AS n", " RETURN x }".repeat(depth))
    };
    let called = |depth: usize| {
        let open = "CALL { ".repeat(depth);
        format!("{open}MATCH (x:P){} RETURN x.key", " RETURN x }".repeat(depth))
    };
    let run = move || {
        let rows = db.query(&nested(16), ()).expect("is deep enough");
        assert_eq!(rows.to_json(), r#"[{"n":true}]"#);
        assert_eq!(db.query(&called(16), ()).expect("is deep enough").len(), 2);
        for text in [nested(17), called(17)] {
            let error = db.query(&text, ()).expect_err("is too deep");
            assert!(error.to_string().contains("queries nest deeper than"), "{error}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("spawns");
    thread.join().expect("does not overflow");
}

/// A value of `mebibytes`, by doubling.
fn large(mebibytes: u32) -> String {
    let doublings = 20 + mebibytes.ilog2();
    format!("WITH reduce(s = 'a', x IN range(1, {doublings}) | s + s) AS s")
}

#[test]
fn values_of_one_row_are_weighed_together() {
    let folder = folder();
    let limits = Limits { memory_max: 16 << 20, ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    let many = |item: &str, count: usize| {
        (0..count).map(|i| item.replace('#', &i.to_string())).collect::<Vec<_>>().join(", ")
    };
    let refused = [
        format!("{} RETURN size([{}]) AS n", large(4), many("s + '#'", 40)),
        format!("{} RETURN {}", large(4), many("s + '#' AS c#", 40)),
        format!("{} RETURN {{{}}} IS NULL AS n", large(4), many("c#: s + '#'", 40)),
        format!("{} RETURN coalesce({}) AS n", large(4), many("s + '#'", 40)),
        format!("{} RETURN size(split(s, '')) AS n", large(1)),
        format!("{} RETURN size(split(s, 'a')) AS n", large(1)),
        format!(
            "{} UNWIND range(1, 400) AS i WITH i, s ORDER BY s + toString(i) RETURN count(i) AS n",
            large(1)
        ),
        format!(
            "{} UNWIND range(1, 400) AS i RETURN count(DISTINCT s + toString(i)) AS n",
            large(1)
        ),
    ];
    for text in refused {
        let error = db.query(&text, ()).expect_err("takes too much").to_string();
        assert!(error.contains("more than 16 MiB"), "{text}: {error}");
    }
    let taken = format!("{} RETURN size([s, s, s, s, s, s]) AS n, s = s AS same", large(2));
    assert_eq!(db.query(&taken, ()).expect("is shared").to_json(), r#"[{"n":6,"same":true}]"#);
}

#[test]
fn time_is_up_also_where_each_row_takes_long() {
    let folder = folder();
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    let list = "WITH range(1, 100000) AS l UNWIND range(1, 1000000) AS i";
    let text = format!("{} UNWIND range(1, 1000000) AS i", large(8));
    for (from, what) in [
        (list, "sum(dot(l, l))"),
        (list, "sum(size(l[i..]))"),
        (list, "sum(size(tail(l)))"),
        (list, "sum(size(l + [1]))"),
        (&text, "sum(size(upper(s)))"),
        (&text, "sum(size(s))"),
        (&text, "count(CASE WHEN s CONTAINS 'ab' THEN 1 END)"),
    ] {
        let begun = Instant::now();
        let error = db.query(&format!("{from} RETURN {what} AS n"), ()).expect_err(what);
        assert!(error.to_string().contains("it took more than 300ms"), "{what}: {error}");
        // A hang, not a speed: all of it would take minutes.
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
    }
}

#[test]
fn time_is_up_also_between_clauses_that_gather_rows() {
    let folder = folder();
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    for clause in ["WITH a, a % 7 AS g ORDER BY g ", "WITH a, count(*) AS g "] {
        let text = format!("UNWIND range(1, 20000) AS a {}RETURN count(*)", clause.repeat(200));
        let error = db.query(&text, ()).expect_err("takes long");
        assert_eq!(error.limit(), Some(engraph::Limit::Time), "{clause}: {error}");
    }
}

#[test]
fn time_is_up_also_where_each_row_asks_something_else() {
    let folder = folder();
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let db = Options::new().limits(limits).open(folder.path()).expect("opens");
    db.execute("REMEMBER (:P 'a')-[k]->(:P 'b') VALID FROM DATE '2020-01-01'", ()).expect("writes");
    for text in [
        "MATCH (k:P 'a') ACTIVATE x FROM k VIA k HOPS 0
         FOR VALID_TIME AS OF DATE '2020-01-01' + DURATION 'PT1S' * i",
        "MATCH (:P 'a')-[f]->(e) REPRESENT r FROM e COVERAGE 1.0 / i",
    ] {
        let begun = Instant::now();
        let text = format!("UNWIND range(1, 150000) AS i {text} RETURN count(*)");
        let error = db.query(&text, ()).expect_err("takes long");
        assert_eq!(error.limit(), Some(Limit::Time), "{text}: {error}");
        // A hang, not a speed: all of it would take minutes.
        assert!(begun.elapsed() < Duration::from_secs(30), "{text}");
    }
}

#[test]
fn long_statements_are_bounded_on_a_small_stack() {
    let folder = folder();
    let db = Arc::new(open(folder.path()));
    db.execute("REMEMBER (:P 'a')-[r]->(:P 'a') VALID FROM null", ()).expect("writes");
    let lets = |n: usize| {
        let lets: Vec<String> = (0..n).map(|i| format!("LET x{i} = {i}")).collect();
        format!("{} RETURN 1 AS n", lets.join(" "))
    };
    let unions = |n: usize| vec!["RETURN 1 AS n"; n].join(" UNION ALL ");
    let chain = |n: usize| format!("MATCH (){} RETURN 1 AS n", "-[:r]->()".repeat(n));
    let matches = |n: usize| format!("{} RETURN 1 AS n", "MATCH (:P)-[:r]->()".repeat(n));
    let run = move || {
        for text in [lets(120), unions(250), chain(250), matches(120)] {
            db.query(&text, ()).expect("is short enough");
            let explained = db.query(&format!("EXPLAIN {text}"), ()).expect("is explained");
            assert!(explained.len() > 100);
        }
        for text in [lets(20_000), unions(20_000), chain(20_000), matches(20_000)] {
            let error = db.query(&text, ()).expect_err("is too long");
            assert!(error.to_string().contains("at most 256 clauses and relations"), "{error}");
        }
        let list = format!("RETURN size([{}]) AS n", vec!["1"; 100_000].join(","));
        assert_eq!(db.query(&list, ()).expect("is flat").to_json(), r#"[{"n":100000}]"#);
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("spawns");
    thread.join().expect("does not overflow");
}

#[test]
fn a_session_may_have_limits_of_its_own() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann'); REMEMBER (:Person 'Bob')", ()).expect("writes");
    let known = db.prepare("MATCH (p:Person) RETURN p.key").expect("parses");
    let mut session = db.session();
    assert_eq!(session.limits(), Limits::default());
    session.query_prepared(&known, ()).expect("is within them, and its plan is kept");
    session.set_limits(Limits { rows_max: 1, ..session.limits() });
    let error = session.query_prepared(&known, ()).expect_err("has two rows");
    assert_eq!(error.limit(), Some(Limit::Size), "{error}");
    let mut rows =
        session.stream("MATCH (p:Person) RETURN p.key ORDER BY p.key", ()).expect("begins");
    assert_eq!(rows.next().expect("an end").expect_err("sorts two").limit(), Some(Limit::Size));
    drop(rows);
    session.query("MATCH (p:Person) SET p.seen = true", ()).expect_err("changes two");
    // Others have theirs.
    assert_eq!(known.query(()).expect("is within them").len(), 2);
    // A writer waits for another one no longer than the session may.
    session.set_limits(Limits { timeout: Duration::from_millis(20), ..Limits::default() });
    let transaction = db.begin().expect("begins");
    let waited = std::thread::scope(|scope| {
        scope.spawn(|| session.query("REMEMBER (:Person 'Cid')", ())).join().expect("ends")
    });
    assert_eq!(waited.expect_err("another one is open").limit(), Some(Limit::Writer));
    drop(transaction);
    assert_eq!(known.query(()).expect("reads").len(), 2);
}
