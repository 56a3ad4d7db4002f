//! The Rust API: opening, locking, sessions, transactions, limits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engraph::memory::HeardTurn;
use engraph::{Engraph, Error, Limits, Options, Params, SentenceModel, StorageError, Value};

use crate::{folder, open};

fn keys(db: &Engraph) -> String {
    db.query("MATCH (p:Person) RETURN p.key AS k ORDER BY k", ()).expect("reads").to_json()
}

#[test]
fn what_is_written_is_there_after_reopening() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann'); REMEMBER (:Person 'Bob')", ()).expect("writes");
    drop(db);
    assert_eq!(keys(&open(folder.path())), r#"[{"k":"Ann"},{"k":"Bob"}]"#);
}

#[test]
fn a_second_writer_is_told_who_holds_the_database() {
    let folder = folder();
    let db = open(folder.path());
    let error = Engraph::open(folder.path()).expect_err("is locked");
    let pid = std::process::id();
    assert!(matches!(&error, Error::Storage(StorageError::Locked { pid: held, .. })
        if *held == pid.to_string()));
    let text = format!(
        "storage: {} is open for writing in this process already; share that handle, or open it read-only",
        folder.path().display()
    );
    assert_eq!(error.to_string(), text);
    drop(db);
    assert!(Engraph::open(folder.path()).is_ok());
}

#[test]
fn what_a_reader_is_told_of_an_instant_stays_so() {
    let folder = folder();
    let db = open(folder.path());
    let lives = |city: &str| {
        let text = "REMEMBER (:Person 'Nora')-[lives_in]->(:City $city)";
        db.query(text, [("city", city)]).expect("writes");
    };
    db.query("DEFINE RELATION lives_in CARDINALITY ONE", ()).expect("defines");
    lives("Lisbon");
    let reader = Options::new().open_read_only(folder.path()).expect("opens beside the writer");
    lives("Porto");
    let told = "MATCH (:Person 'Nora')-[:lives_in]->(c) FOR SYSTEM_TIME AS OF now()
                RETURN c.key, now()";
    let told = reader.query(told, ()).expect("reads").rows.remove(0);
    let then = "MATCH (:Person 'Nora')-[:lives_in]->(c) FOR SYSTEM_TIME AS OF $now RETURN c.key";
    let later = db.query(then, [("now", told[1].clone())]).expect("reads");
    assert_eq!(later.rows[0][0], told[0]);
}

#[test]
fn a_reader_stands_beside_a_writer() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    let reader = Options::new().open_read_only(folder.path()).expect("opens beside the writer");
    db.execute("REMEMBER (:Person 'Bob')", ()).expect("writes on");
    assert_eq!(keys(&reader), r#"[{"k":"Ann"}]"#);
    let error = reader.execute("REMEMBER (:Person 'Cem')", ()).expect_err("is read-only");
    assert_eq!(error.to_string(), "storage: the database is open read-only; open it for writing");
    assert!(reader.begin().is_err());
    let again = Options::new().open_read_only(folder.path()).expect("opens again");
    assert_eq!(keys(&again), r#"[{"k":"Ann"},{"k":"Bob"}]"#);
}

#[test]
fn folders_that_hold_something_else_are_left_alone() {
    let folder = folder();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "mine").expect("writes");
    for path in [folder.path(), &file] {
        let error = Engraph::open(path).expect_err("is no database");
        assert!(matches!(error, Error::Storage(StorageError::NotADatabase { .. })), "{error}");
    }
    let text = Engraph::open(folder.path()).expect_err("is no database").to_string();
    assert!(text.ends_with("is no Engraph database: it holds notes.txt"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    let missing = folder.path().join("missing");
    let error = Options::new().open_read_only(&missing).expect_err("is missing");
    assert!(matches!(error, Error::Storage(StorageError::Missing { .. })), "{error}");
    assert!(!missing.exists());
}

#[test]
fn a_text_without_a_model_is_refused_with_the_mend() {
    let folder = folder();
    let nowhere = folder.path().join("no-model");
    let error = SentenceModel::load(&nowhere).expect_err("no model is there");
    assert_eq!(
        Error::from(error).to_string(),
        format!(
            "model: no embedding model in {}: run `make model` in a checkout of Engraph, or set \
             ENGRAPH_MODEL_DIR to a folder that holds model.safetensors, tokenizer.json and \
             config.json",
            nowhere.display()
        )
    );
}

#[test]
fn transactions_are_whole_or_not_at_all() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    transaction.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    assert_eq!(keys(&db), "[]");
    let own = transaction.execute("MATCH (p:Person) RETURN p.key", ()).expect("reads its own");
    assert_eq!(own[0].len(), 1);
    drop(transaction);
    assert_eq!(keys(&db), "[]");
    let mut transaction = db.begin().expect("begins");
    transaction.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    transaction.commit().expect("commits");
    assert_eq!(keys(&db), r#"[{"k":"Ann"}]"#);
}

#[test]
fn what_was_seen_as_of_an_instant_stays_so() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    transaction
        .execute("REMEMBER (:Person 'Ann')-[knows]->(:Person 'Bob') VALID FROM null", ())
        .expect("writes");
    // An instant after the beginning of the transaction and before its end.
    let now = db.query("RETURN now() AS t", ()).expect("reads");
    let then = now.get(0, "t").cloned().expect("a row");
    let text = "MATCH (p:Person) FOR SYSTEM_TIME AS OF $t RETURN p.key AS k";
    let facts = "MATCH ()-[f]->() FOR SYSTEM_TIME AS OF $t RETURN f.id AS id";
    assert!(db.query(text, [("t", then.clone())]).expect("reads").is_empty());
    transaction.commit().expect("commits");
    assert!(db.query(text, [("t", then.clone())]).expect("reads").is_empty());
    assert!(db.query(facts, [("t", then)]).expect("reads").is_empty());
    assert_eq!(keys(&db), r#"[{"k":"Ann"},{"k":"Bob"}]"#);
}

#[test]
fn a_folder_whose_making_was_cut_short_can_be_opened() {
    let folder = folder();
    drop(open(folder.path()));
    // As a kill may leave it: the lock file, and nothing to open yet.
    for entry in std::fs::read_dir(folder.path()).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name != "engraph.lock" {
            std::fs::remove_file(&path).expect("removes");
        }
    }
    let error = Options::new().open_read_only(folder.path()).expect_err("nothing to read");
    assert!(error.to_string().ends_with("nothing has been stored in it yet"), "{error}");
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    assert_eq!(keys(&db), r#"[{"k":"Ann"}]"#);
}

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
fn a_failing_script_rolls_its_transaction_back() {
    let folder = folder();
    let db = open(folder.path());
    let script = "BEGIN; REMEMBER (:Person 'Ann'); RETURN 1 / 0; COMMIT";
    let error = db.execute(script, ()).expect_err("divides by zero");
    assert!(matches!(error, Error::Execute(_)), "{error}");
    assert_eq!(error.to_string(), "execute: division by zero (line 1, column 41)");
    assert_eq!(keys(&db), "[]");
}

#[test]
fn a_model_of_another_kind_is_refused() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Note 'n' {text: 'bread'})", ()).expect("embeds");
    drop(db);
    let db = Options::new().embedder(Arc::new(Other)).open(folder.path()).expect("opens");
    let search = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 1 RETURN n.key";
    let error = db.query(search, ()).expect_err("is another model");
    assert!(error.to_string().contains("made by fixed-64, and the query by other"), "{error}");
    let error = db.execute("REMEMBER (:Note 'm' {text: 'x'})", ()).expect_err("is another model");
    assert!(error.to_string().contains("made by fixed-64, not by other"), "{error}");
    assert_eq!(db.query("MATCH (n:Note) RETURN n.key", ()).expect("reads").len(), 1);
}

struct Other;

impl engraph::Embedder for Other {
    fn id(&self) -> &str {
        "other"
    }

    fn dimensions(&self) -> usize {
        1
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, engraph::NeuralError> {
        Ok(texts.iter().map(|_| vec![1.0]).collect())
    }
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
fn a_write_beside_the_own_transaction_is_an_error_and_does_not_wait_for_ever() {
    let folder = folder();
    let db = open(folder.path());
    let turn = HeardTurn::new("Nora", "I bake bread.").id("D1:1");
    let mut transaction = db.begin().expect("begins");
    transaction.query("REMEMBER (:P 'a')", ()).expect("remembers");
    let beside = [
        db.query("REMEMBER (:P 'b')", ()).expect_err("waits for itself"),
        db.observe("s", &turn).expect_err("waits for itself"),
        db.begin().expect_err("waits for itself"),
        db.session().execute("BEGIN", ()).expect_err("waits for itself"),
    ];
    for error in beside {
        assert!(matches!(error, Error::Storage(StorageError::OwnTransaction)), "{error}");
    }
    assert_eq!(db.query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 0);
    let other = std::thread::scope(|scope| {
        let other = scope.spawn(|| db.query("REMEMBER (:P 'c')", ()));
        let observed = transaction.observe("s", &turn).expect("observes");
        assert!(observed.is_new);
        let two = transaction.query("RETURN 1; RETURN 2", ()).expect_err("two");
        assert!(two.to_string().contains("query takes one statement"), "{two}");
        transaction.commit().expect("commits");
        other.join().expect("does not panic")
    });
    other.expect("waits for the other thread alone");
    assert_eq!(db.session().query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 2);
    assert_eq!(db.consolidate(None).expect("consolidates").len(), 1);
}

#[test]
fn a_transaction_that_went_to_another_thread_is_waited_for() {
    let folder = folder();
    let db = open(folder.path());
    let mut moved = db.begin().expect("begins");
    std::thread::scope(|scope| {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let other = scope.spawn(move || {
            moved.query("REMEMBER (:P 'a')", ()).expect("remembers");
            begun.send(()).expect("heard");
            std::thread::sleep(Duration::from_millis(50));
            moved.commit()
        });
        has_begun.recv().expect("begun");
        db.query("REMEMBER (:P 'b')", ()).expect("waits for the other thread");
        other.join().expect("does not panic").expect("commits");
    });
    assert_eq!(db.query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 2);
}

#[test]
fn values_of_rust_are_values_of_the_language_and_back() {
    let folder = folder();
    let db = open(folder.path());
    let at = std::time::UNIX_EPOCH + Duration::from_nanos(1_683_504_000_000_001_999);
    let name = "Nora".to_owned();
    let map = std::collections::BTreeMap::from([("n".to_owned(), Value::from(7_u8))]);
    let params = Params::new()
        .with("at", at)
        .with("name", &name)
        .with("list", ["a", "b"])
        .with("map", map.clone())
        .with("small", 40_000_u16);
    let text = "REMEMBER (:P $name)-[r]->(:P 'x') VALID FROM $at";
    db.query(text, params.clone()).expect("remembers");
    let ask = "MATCH p = (a:P $name)-[f:r]->(b) FOR VALID_TIME ALL \
               RETURN a, f, p, f.valid_from, $list, $map, $small";
    let rows = db.query(ask, params).expect("returns").rows;
    let row = &rows[0];
    assert_eq!(row[0].as_node().map(|node| node.key.as_str()), Some("Nora"));
    assert_eq!(row[1].as_fact().map(|fact| fact.relation.as_str()), Some("r"));
    assert_eq!(row[2].as_path().map(|path| path.facts.len()), Some(1));
    assert_eq!(row[3].as_timestamp(), Some(1_683_504_000_000_001));
    assert_eq!(row[4].as_list().map(<[Value]>::len), Some(2));
    assert_eq!(row[5].as_map(), Some(&map));
    assert_eq!(row[6].as_i64(), Some(40_000));
    assert!(row[0].as_fact().is_none() && row[1].as_node().is_none());
}

#[test]
fn a_turn_has_properties_and_a_time_that_a_calendar_has() {
    let folder = folder();
    let db = open(folder.path());
    let turn = HeardTurn::new("Nora", "I bake bread.").property("conversation", "nora");
    let at = std::time::UNIX_EPOCH + Duration::from_secs(1_740_940_800);
    db.observe("s", &turn.clone().at_time(at).id("a")).expect("observes");
    let nanoseconds = db.observe("s", &turn.at(1_740_940_800_000_000_000).id("b"));
    let error = nanoseconds.expect_err("is no microseconds").to_string();
    assert!(error.contains("it is in microseconds"), "{error}");
    db.consolidate(None).expect("consolidates");
    let rows = db.query("MATCH (t:Turn) RETURN t.conversation, t.at", ()).expect("reads").rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0][0].as_str(), Some("nora"));
    assert_eq!(rows[0][1].as_timestamp(), Some(1_740_940_800_000_000));
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
fn query_takes_one_statement_and_parameters_of_every_kind() {
    let folder = folder();
    let db = open(folder.path());
    let error = db.query("RETURN 1; RETURN 2", ()).expect_err("two");
    assert!(error.to_string().contains("query takes one statement, and the text has 2"), "{error}");
    let params = Params::new()
        .with("i", 5)
        .with("f", 2.5)
        .with("s", "it's")
        .with("b", true)
        .with("n", Value::Null)
        .with("l", vec![Value::from(1), Value::from("x")])
        .with("t", Value::Timestamp(1_683_504_000_000_000));
    let rows = db
        .query("RETURN $i AS i, $f AS f, $s AS s, $b AS b, $n AS n, $l AS l, $t AS t", params)
        .expect("returns");
    assert_eq!(
        rows.to_json(),
        r#"[{"i":5,"f":2.5,"s":"it's","b":true,"n":null,"l":[1,"x"],"t":"2023-05-08T00:00:00Z"}]"#
    );
    let error = db.query("RETURN $x", [("x", f64::NAN)]).expect_err("is no number");
    assert!(error.to_string().contains("the parameter $x is no finite number"), "{error}");
}

#[test]
fn typed_rows_name_the_row_that_does_not_fit() {
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "it is only read into")]
    struct Home {
        city: String,
    }
    let folder = folder();
    let db = open(folder.path());
    let error = db.query("RETURN 5 AS city", ()).expect("returns").typed::<Home>();
    let text = error.expect_err("is no string").to_string();
    assert!(text.starts_with("execute: row 0: invalid type: integer `5`"), "{text}");
    assert!(text.ends_with(r#", in {"city":5}"#), "{text}");
}

#[test]
fn rows_can_be_printed() {
    let folder = folder();
    let db = open(folder.path());
    let rows = db.query("UNWIND ['Porto', null] AS city RETURN city, [1, 'a'] AS list", ());
    let expected = "city | list\nPorto | [1, 'a']\nnull | [1, 'a']";
    assert_eq!(rows.expect("returns").to_string(), expected);
    assert_eq!(engraph::Rows::default().to_string(), "");
}

#[test]
fn readers_in_other_threads_see_whole_commits() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("DEFINE RELATION at CARDINALITY ONE", ()).expect("defines");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..50 {
                let text = format!(
                    "BEGIN; REMEMBER (:A 'a')-[at]->(:X 'x{i}') VALID FROM null;
                     REMEMBER (:B 'b')-[at]->(:X 'x{i}') VALID FROM null; COMMIT"
                );
                db.execute(&text, ()).expect("writes");
            }
        });
        for _ in 0..50 {
            let text = "MATCH (n)-[:at]->(x) RETURN collect(DISTINCT x.key) AS xs, count(n) AS n";
            let rows = db.query(text, ()).expect("reads");
            let Some(Value::List(places)) = rows.get(0, "xs") else { panic!("a list") };
            let count = rows.get(0, "n").expect("a count");
            assert!(places.len() <= 1, "half a commit was seen: {places:?}");
            assert!(matches!(count, Value::Int(0 | 2)), "{count:?}");
        }
    });
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
